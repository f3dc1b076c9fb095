//! A few deadlines, looked through one by one: no branch depends on them, so nothing is mispredicted.

use super::{LEAST, NEVER, WIDTH, least, smaller};
use crate::unit::Time;

/// The most slots.
pub(super) const ROOM: usize = 64;
/// Bits of a key that hold the slot.
const SLOT_BITS: u32 = ROOM.trailing_zeros();
/// What is added to a time before it becomes part of a key.
const SHIFT: u64 = LEAST >> SLOT_BITS;
/// Times from here on are "never": more than two years. The keys of all others are patterns of numbers below 2.
const LIMIT: u64 = (1 << (62 - SLOT_BITS)) - SHIFT;

/// A few slots: one key each, the deadline above the number of the slot.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    keys: [[f64; WIDTH]; ROOM / WIDTH],
    used: usize,
}

impl Flat {
    pub(super) fn new(slots: usize) -> Flat {
        Flat { keys: [[NEVER; WIDTH]; ROOM / WIDTH], used: slots.div_ceil(WIDTH) }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        let key = if at.0 < LIMIT { f64::from_bits((at.0 + SHIFT) << SLOT_BITS | slot as u64) } else { NEVER };
        self.keys[slot / WIDTH % (ROOM / WIDTH)][slot % WIDTH] = key;
    }

    pub(super) fn get(&self, slot: usize) -> Time {
        let key = self.keys[slot / WIDTH][slot % WIDTH].to_bits();
        if key < NEVER.to_bits() { Time((key >> SLOT_BITS) - SHIFT) } else { Time::NEVER }
    }

    #[inline]
    pub(super) fn next(&self) -> Option<(usize, Time)> {
        let mut best = [NEVER; WIDTH];
        for block in &self.keys[..self.used] {
            for (b, &k) in best.iter_mut().zip(block) {
                *b = smaller(k, *b);
            }
        }
        let key = least(&best).to_bits();
        (key < NEVER.to_bits()).then_some(((key % ROOM as u64) as usize, Time((key >> SLOT_BITS) - SHIFT)))
    }
}
