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

/// A few slots: one key each, the deadline above the number of the slot. Blocks are cache lines, so that an instruction
/// that compares can read them where they are.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Flat {
    keys: [f64; ROOM],
    /// Blocks in use after the first.
    further: usize,
}

/// The key of a slot that is due at an instant.
#[inline]
fn key(slot: usize, at: Time) -> f64 {
    if at.0 < LIMIT { f64::from_bits((at.0 + SHIFT) << SLOT_BITS | slot as u64) } else { NEVER }
}

impl Flat {
    pub(super) fn new(slots: usize) -> Flat {
        Flat { keys: [NEVER; ROOM], further: slots.saturating_sub(1) / WIDTH }
    }

    #[inline]
    pub(super) fn set(&mut self, slot: usize, at: Time) {
        self.keys[slot % ROOM] = key(slot, at);
    }

    pub(super) fn get(&self, slot: usize) -> Time {
        let key = self.keys[slot].to_bits();
        if key < NEVER.to_bits() { Time((key >> SLOT_BITS) - SHIFT) } else { Time::NEVER }
    }

    /// The slot that is due first and its deadline, if that is before the deadline that this slot would have.
    #[inline]
    pub(super) fn next_before(&self, slot: usize, at: Time) -> Option<(usize, Time)> {
        let (blocks, _) = self.keys.as_chunks::<WIDTH>();
        let mut best = blocks[0];
        for block in blocks[1..].iter().take(self.further) {
            for (b, &k) in best.iter_mut().zip(block) {
                *b = smaller(*b, k);
            }
        }
        let least = least(&best).to_bits();
        let before = least < key(slot, at).to_bits();
        before.then_some(((least % ROOM as u64) as usize, Time((least >> SLOT_BITS) - SHIFT)))
    }
}
