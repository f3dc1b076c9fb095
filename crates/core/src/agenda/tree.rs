//! Many deadlines: keys lie in blocks of eight, the least keys of these blocks again in blocks of eight, and so on
//! until few blocks are left.
//!
//! To set a deadline is to work out one least key on each level, always the same way; to find the first is to go
//! through the last level. No branch depends on the deadlines, so none is mispredicted.

use super::{LEAST, NEVER, WIDTH, least, smaller};
use crate::unit::{Span, Time};

/// The most blocks of a level that are searched one by one; a longer level gets another one above.
const TOP: usize = 8;
/// Patterns below are deadlines that are near; those from here on are far ones, which only the number of the slot
/// orders.
const FAR: u64 = 1 << 62;
/// How long before the first of all deadlines the near times begin.
const MARGIN: Span = Span(1 << 30);

/// Keys that fill a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block([f64; WIDTH]);

/// Infinity at an index itself, zero elsewhere: the larger of this and the keys of a block takes one key out of the
/// search for the least.
const OTHERS: [Block; WIDTH] = {
    let mut all = [Block([0.0; WIDTH]); WIDTH];
    let mut i = 0;
    while i < WIDTH {
        all[i].0[i] = NEVER;
        i += 1;
    }
    all
};

/// Deadlines of all slots.
///
/// A key has room for a slot and for the times of some while: 13 days with a thousand nodes, two hours with a hundred
/// thousand. What is due later has a key of its own kind and its time in a list. When all that is near has come, keys
/// are made anew.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The keys, and the levels above one after the other.
    blocks: Vec<Block>,
    /// From the number of a block to the index of its least key, for each level but the last.
    up: Vec<u32>,
    /// Where the last level begins.
    top: usize,
    /// Bits of a key that hold the slot.
    slot_bits: u32,
    /// What is added to a time before it becomes part of a key, modulo 2^64.
    shift: u64,
    /// From here on deadlines are far.
    until: Time,
    /// Deadlines of slots whose key says that they are far.
    far: Vec<Time>,
}

impl Tree {
    pub(super) fn new(slots: usize) -> Tree {
        let (mut up, mut top, mut end) = (Vec::new(), 0, slots.div_ceil(WIDTH));
        while end - top > TOP {
            up.push((end * WIDTH - top) as u32);
            (top, end) = (end, end + (end - top).div_ceil(WIDTH));
        }
        let slot_bits = slots.next_power_of_two().trailing_zeros();
        let mut tree = Tree {
            blocks: vec![Block([NEVER; WIDTH]); end],
            up,
            top,
            slot_bits,
            shift: 0,
            until: Time::ZERO,
            far: vec![Time::NEVER; slots],
        };
        tree.begin(Time::ZERO);
        tree
    }

    /// Keys tell the times from here on apart.
    fn begin(&mut self, at: Time) {
        self.shift = (LEAST >> self.slot_bits).wrapping_sub(at.0);
        self.until = Time((FAR >> self.slot_bits).wrapping_sub(self.shift));
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        let near = f64::from_bits(at.0.wrapping_add(self.shift) << self.slot_bits | slot as u64);
        let mut key = if at < self.until { near } else { NEVER };
        if (at >= self.until) & (at != Time::NEVER) {
            key = self.far_key(slot, at);
        }
        self.put(slot, key);
    }

    #[inline]
    fn put(&mut self, slot: usize, key: f64) {
        let (mut place, mut least) = (slot, key);
        for &up in &self.up {
            let block = &mut self.blocks[place / WIDTH].0;
            let least_after = smaller(least, least_of_others(block, place % WIDTH));
            block[place % WIDTH] = least;
            (place, least) = (place / WIDTH + up as usize, least_after);
        }
        self.blocks[place / WIDTH].0[place % WIDTH] = least;
    }

    #[cold]
    fn far_key(&mut self, slot: usize, at: Time) -> f64 {
        self.far[slot] = at;
        f64::from_bits(FAR | slot as u64)
    }

    pub(super) fn get(&self, slot: usize) -> Time {
        match self.blocks[slot / WIDTH].0[slot % WIDTH] {
            NEVER => Time::NEVER,
            key if key.to_bits() < FAR => self.time(key.to_bits()),
            _ => self.far[slot],
        }
    }

    #[inline]
    fn time(&self, key: u64) -> Time {
        Time((key >> self.slot_bits).wrapping_sub(self.shift))
    }

    /// The slot that is due first; `None` too when that is far, and something else is due before.
    #[inline]
    pub(super) fn next(&mut self, other: Time) -> Option<(usize, Time)> {
        let mut key = self.least().to_bits();
        if key >= FAR {
            if key == NEVER.to_bits() || other < self.until {
                return None;
            }
            self.begin_anew(other);
            key = self.least().to_bits();
            if key >= FAR {
                return None;
            }
        }
        let slot = key & !(u64::MAX << self.slot_bits);
        Some((slot as usize, self.time(key)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.least() == NEVER
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

    /// All deadlines are far: makes keys that tell them apart. From now on nothing is set that is due before all of
    /// them and the other.
    #[cold]
    fn begin_anew(&mut self, other: Time) {
        for slot in 0..self.far.len() {
            self.far[slot] = self.get(slot);
        }
        let first = self.far.iter().fold(other, |a, &b| a.min(b));
        self.begin(Time(first.0.saturating_sub(MARGIN.0)));
        for slot in 0..self.far.len() {
            self.set(slot, self.far[slot]);
        }
    }
}

/// The smallest of a block but for one of its keys.
#[inline]
fn least_of_others(block: &[f64; WIDTH], except: usize) -> f64 {
    let mut others = OTHERS[except].0;
    for (other, &key) in others.iter_mut().zip(block) {
        *other = if key > *other { key } else { *other };
    }
    least(&others)
}
