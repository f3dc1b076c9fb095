//! Many deadlines: keys lie in blocks of eight, the least keys of these blocks again in blocks of eight, and so on until
//! few blocks are left.
//!
//! To set a deadline is to work out one least key on each level, always the same way; to find the first is to go through
//! the last level. No branch depends on the deadlines, so none is mispredicted.

use super::{NEVER, WIDTH, least, smaller};
use crate::unit::{Span, Time};

/// A level of so many blocks is gone through; a longer one gets another level above.
const TOP: usize = 8;
/// Patterns up to here are deadlines that are near; those above are far ones, which only the number of the slot orders.
const FAR: u64 = 1 << 62;
/// How long before the first deadline the times begin that keys can tell apart.
const MARGIN: Span = Span(1 << 30);

/// Keys that fill a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block([f64; WIDTH]);

/// All bits where another key is looked for than the one in this place, none in the place itself: of a key and such a
/// number the larger one is what takes part in a search for the least of the others.
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
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The keys, and the levels above one after the other.
    blocks: Vec<Block>,
    /// From the number of a block to the place of its least key, for each level but the last.
    up: Vec<u32>,
    /// Where the last level begins.
    top: usize,
    /// Bits of a key that hold the slot.
    slot_bits: u32,
    /// What the times of keys are counted from.
    base: Time,
    /// Until when they are, so long after that.
    reach: u64,
    /// How long after that never is.
    never: u64,
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
        let reach = FAR >> slot_bits;
        Tree {
            blocks: vec![Block([NEVER; WIDTH]); end],
            up,
            top,
            slot_bits,
            base: Time::ZERO,
            reach,
            never: Time::NEVER.0 - reach,
            far: vec![Time::NEVER; slots],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        debug_assert!(at >= self.base);
        let after = at.0.wrapping_sub(self.base.0);
        let near = f64::from_bits(after << self.slot_bits | slot as u64);
        let mut key = if after < self.reach { near } else { NEVER };
        if after.wrapping_sub(self.reach) < self.never {
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
            key if key.to_bits() < FAR => self.base + Span(key.to_bits() >> self.slot_bits),
            _ => self.far[slot],
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<(usize, Time)> {
        let mut key = self.least().to_bits();
        if key >= FAR {
            if key == NEVER.to_bits() {
                return None;
            }
            self.turn_to_far();
            key = self.least().to_bits();
        }
        let slot = key & !(u64::MAX << self.slot_bits);
        Some((slot as usize, self.base + Span(key >> self.slot_bits)))
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

    /// All deadlines are far: keys count from then on.
    #[cold]
    fn turn_to_far(&mut self) {
        for slot in 0..self.far.len() {
            self.far[slot] = self.get(slot);
        }
        let first = self.far.iter().min().map_or(0, |t| t.0);
        self.base = Time(first.saturating_sub(MARGIN.0));
        self.never = Time::NEVER.0 - self.base.0 - self.reach;
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
