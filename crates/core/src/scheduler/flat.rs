//! Scheduler for a few timers: deadlines are compared one by one without branches, so nothing is mispredicted.

use super::{LEAST, NEVER, WIDTH, least, smaller};
use crate::unit::Time;

/// Largest number of timers.
pub(super) const ROOM: usize = 64;
/// Bits of a key that hold the timer's number.
const TIMER_BITS: u32 = ROOM.trailing_zeros();
/// Offset added to a time in a key.
const SHIFT: u64 = LEAST >> TIMER_BITS;
/// Times from here on count as "never": more than two years.
const LIMIT: u64 = (1 << (62 - TIMER_BITS)) - SHIFT;
/// Smallest key of a timer that is never due: the bit pattern of 2.
const LATEST: u64 = 1 << 62;

/// Keys of a few timers: the deadline above the timer's number. Blocks are cache lines, so that a comparing instruction
/// can read them in place.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Flat {
    keys: [f64; ROOM],
    /// Number of blocks in use after the first.
    further: usize,
}

/// Key of a timer that is due at an instant, as bits.
#[inline]
fn key(timer: usize, at: Time) -> u64 {
    (at.0.min(LIMIT) << TIMER_BITS) + (LEAST + timer as u64)
}

impl Flat {
    pub(super) fn new(timers: usize) -> Flat {
        Flat { keys: [NEVER; ROOM], further: timers.saturating_sub(1) / WIDTH }
    }

    #[inline]
    pub(super) fn set(&mut self, timer: usize, at: Time) {
        self.keys[timer % ROOM] = f64::from_bits(key(timer, at));
    }

    pub(super) fn get(&self, timer: usize) -> Time {
        let key = self.keys[timer].to_bits();
        if key < LATEST { Time((key >> TIMER_BITS) - SHIFT) } else { Time::NEVER }
    }

    /// The earliest timer and its deadline; one must be set.
    #[inline]
    pub(super) fn next(&self) -> (usize, Time) {
        let least = self.least().to_bits();
        debug_assert!(least < LATEST, "no timer is set");
        ((least % ROOM as u64) as usize, Time((least >> TIMER_BITS) - SHIFT))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.least().to_bits() >= LATEST
    }

    #[inline(always)]
    fn least(&self) -> f64 {
        let (blocks, _) = self.keys.as_chunks::<WIDTH>();
        let mut best = blocks[0];
        for block in blocks[1..].iter().take(self.further) {
            for (b, &k) in best.iter_mut().zip(block) {
                *b = smaller(*b, k);
            }
        }
        least(&best)
    }
}
