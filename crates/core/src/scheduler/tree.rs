//! Scheduler for many timers: keys lie in blocks of eight, the least keys of these blocks again in blocks of eight, and
//! so on until few blocks are left.
//!
//! Setting a deadline computes one minimum per level; finding the earliest scans the last level. No branch depends on
//! the deadlines, so none is mispredicted.

use super::{LEAST, NEVER, WIDTH, least, smaller};
use crate::unit::{Span, Time};

/// Largest number of blocks of a level that is scanned; a longer level gets another one above.
const TOP: usize = 8;
/// Keys below this are near deadlines; keys from here on are far ones, ordered only by the timer's number.
const FAR: u64 = 1 << 62;
/// Length of the near time that lies before the earliest deadline.
const MARGIN: Span = Span(1 << 30);

/// Block of keys that fills a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block([f64; WIDTH]);

/// Infinity at one index, zero elsewhere: the maximum of this and the keys of a block excludes one key from the search
/// for the least.
const OTHERS: [Block; WIDTH] = {
    let mut all = [Block([0.0; WIDTH]); WIDTH];
    let mut i = 0;
    while i < WIDTH {
        all[i].0[i] = NEVER;
        i += 1;
    }
    all
};

/// Deadlines of all timers.
///
/// A key has room for the timer's number and for the times of a limited period: 13 days with a thousand nodes, two
/// hours with a hundred thousand. Later deadlines have a far key, and their time is in a list. When all near deadlines
/// have passed, keys are rebuilt.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Keys, followed by the levels above.
    blocks: Vec<Block>,
    /// For each level but the last: index of the least key of each block.
    up: Vec<u32>,
    /// Start of the last level.
    top: usize,
    /// Bits of a key that hold the timer's number.
    timer_bits: u32,
    /// Offset added to a time in a key, modulo 2^64.
    shift: u64,
    /// Start of the far times.
    until: Time,
    /// Deadlines of timers with a far key.
    far: Vec<Time>,
    /// Deadline and number of the timer that is set often, which has no key.
    pub(super) often: (Time, usize),
}

impl Tree {
    pub(super) fn new(timers: usize) -> Tree {
        let (mut up, mut top, mut end) = (Vec::new(), 0, timers.div_ceil(WIDTH));
        while end - top > TOP {
            up.push((end * WIDTH - top) as u32);
            (top, end) = (end, end + (end - top).div_ceil(WIDTH));
        }
        let timer_bits = timers.next_power_of_two().trailing_zeros();
        let mut tree = Tree {
            blocks: vec![Block([NEVER; WIDTH]); end],
            up,
            top,
            timer_bits,
            shift: 0,
            until: Time::ZERO,
            far: vec![Time::NEVER; timers],
            often: (Time::NEVER, usize::MAX),
        };
        tree.begin(Time::ZERO);
        tree
    }

    /// Starts the near time at this instant.
    fn begin(&mut self, at: Time) {
        self.shift = (LEAST >> self.timer_bits).wrapping_sub(at.0);
        self.until = Time((FAR >> self.timer_bits).wrapping_sub(self.shift));
    }

    #[inline]
    pub(super) fn set(&mut self, timer: usize, at: Time) {
        let near = f64::from_bits(at.0.wrapping_add(self.shift) << self.timer_bits | timer as u64);
        let mut key = if at < self.until { near } else { NEVER };
        if (at >= self.until) & (at != Time::NEVER) {
            key = self.far_key(timer, at);
        }
        self.put(timer, key);
    }

    #[inline]
    fn put(&mut self, timer: usize, key: f64) {
        let (mut place, mut least) = (timer, key);
        for &up in &self.up {
            let block = &mut self.blocks[place / WIDTH].0;
            let least_after = smaller(least, least_of_others(block, place % WIDTH));
            block[place % WIDTH] = least;
            (place, least) = (place / WIDTH + up as usize, least_after);
        }
        self.blocks[place / WIDTH].0[place % WIDTH] = least;
    }

    #[cold]
    fn far_key(&mut self, timer: usize, at: Time) -> f64 {
        self.far[timer] = at;
        f64::from_bits(FAR | timer as u64)
    }

    pub(super) fn get(&self, timer: usize) -> Time {
        match self.blocks[timer / WIDTH].0[timer % WIDTH] {
            NEVER => Time::NEVER,
            key if key.to_bits() < FAR => self.time(key.to_bits()),
            _ => self.far[timer],
        }
    }

    #[inline]
    fn time(&self, key: u64) -> Time {
        Time((key >> self.timer_bits).wrapping_sub(self.shift))
    }

    /// The earliest timer and its deadline; one must be set.
    #[inline]
    pub(super) fn first(&mut self) -> (usize, Time) {
        let (often, mut key) = (self.often, self.least().to_bits());
        if key >= FAR {
            if key == NEVER.to_bits() || often.0 < self.until {
                return (often.1, often.0);
            }
            self.begin_anew(often.0);
            key = self.least().to_bits();
            if key >= FAR {
                return (often.1, often.0);
            }
        }
        let timer = (key & !(u64::MAX << self.timer_bits)) as usize;
        let (at, timer) = (self.time(key), timer).min(often);
        (timer, at)
    }

    /// Deadline of the earliest timer, without the one that is set often.
    pub(super) fn first_at(&self) -> Time {
        match self.least() {
            NEVER => Time::NEVER,
            key if key.to_bits() < FAR => self.time(key.to_bits()),
            _ => self.first_of_far(),
        }
    }

    #[cold]
    fn first_of_far(&self) -> Time {
        (0..self.far.len()).map(|timer| self.get(timer)).fold(Time::NEVER, Time::min)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.least() == NEVER && self.often.0 == Time::NEVER
    }

    #[inline(always)]
    fn least(&self) -> f64 {
        let mut best = [NEVER; WIDTH];
        for block in &self.blocks[self.top..] {
            for (b, &k) in best.iter_mut().zip(&block.0) {
                *b = smaller(k, *b);
            }
        }
        least(&best)
    }

    /// All deadlines are far: rebuilds keys that tell them apart. From now on no deadline is set before all of them and
    /// the other actor.
    #[cold]
    fn begin_anew(&mut self, other: Time) {
        for timer in 0..self.far.len() {
            self.far[timer] = self.get(timer);
        }
        let first = self.far.iter().fold(other, |a, &b| a.min(b));
        self.begin(Time(first.0.saturating_sub(MARGIN.0)));
        for timer in 0..self.far.len() {
            self.set(timer, self.far[timer]);
        }
    }
}

/// Smallest key of a block except one.
#[inline]
fn least_of_others(block: &[f64; WIDTH], except: usize) -> f64 {
    let mut others = OTHERS[except].0;
    for (other, &key) in others.iter_mut().zip(block) {
        *other = if key > *other { key } else { *other };
    }
    least(&others)
}
