//! Scheduler for a few busy timers: all keys are compared without branches, so no branch is mispredicted. If there are
//! more timers than keys, the other timers share one key, that of the earliest of them.

use super::tree::Tree;
use super::{LEAST, NEVER, WIDTH, least, smaller};
use crate::unit::Time;

/// Largest number of keys.
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
#[repr(C, align(64))]
pub(super) struct Flat {
    keys: [f64; ROOM],
    /// Number of blocks in use after the first.
    further: usize,
    /// Number of timers with a key of their own.
    own: usize,
    /// The other timers, the earliest of which has the next key.
    others: Option<Box<Tree>>,
}

/// Key of a timer that is due at an instant, as bits.
#[inline]
fn key(timer: usize, at: Time) -> u64 {
    (at.0.min(LIMIT) << TIMER_BITS) + (LEAST + timer as u64)
}

impl Flat {
    /// The busy timers come first.
    pub(super) fn new(busy: usize, timers: usize) -> Flat {
        let all = timers <= ROOM;
        let own = if all { timers } else { busy };
        let others = (!all).then(|| Box::new(Tree::new(timers - busy)));
        Flat { keys: [NEVER; ROOM], further: (own + usize::from(!all)).saturating_sub(1) / WIDTH, own, others }
    }

    /// Sets a busy timer.
    #[inline]
    pub(super) fn set_busy(&mut self, timer: usize, at: Time) {
        self.keys[timer % ROOM] = f64::from_bits(key(timer, at));
    }

    /// Sets any timer.
    pub(super) fn set(&mut self, timer: usize, at: Time) {
        match &mut self.others {
            Some(others) if timer >= self.own => {
                others.set(timer - self.own, at);
                let first = others.first_at();
                self.set_busy(self.own, first);
            }
            _ => self.set_busy(timer, at),
        }
    }

    /// Timer of the earliest key.
    #[inline(always)]
    pub(super) fn due(&mut self, key: usize) -> usize {
        match &mut self.others {
            Some(others) if key == self.own => key + others.first().0,
            _ => key,
        }
    }

    pub(super) fn get(&self, timer: usize) -> Time {
        if let Some(others) = self.others.as_ref().filter(|_| timer >= self.own) {
            return others.get(timer - self.own);
        }
        let key = self.keys[timer].to_bits();
        if key < LATEST { Time((key >> TIMER_BITS) - SHIFT) } else { Time::NEVER }
    }

    /// The earliest key, whose timer [`due`](Self::due) gives, and its deadline; a timer must be set.
    #[inline]
    pub(super) fn first(&self) -> (usize, Time) {
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
