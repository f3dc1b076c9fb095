//! The agenda: who acts next.
//!
//! Every future actor of a run is known when the run is set up, so there is no queue of events: each actor has a
//! *slot* with one deadline, and the agenda knows which is the first. (The slots of 802.11 are lengths of time and known
//! to `wlan` only.) Setting a deadline, moving it and cancelling it
//! are the same; nothing is allocated and no stale entry is left behind.
//!
//! Of slots that are due at the same time the one with the lowest number comes first.

mod flat;
mod tree;

use crate::unit::Time;
use flat::Flat;
use tree::Tree;

// A deadline is kept as a key: the time above the number of its slot. The least key so tells who is due first, and
// nothing has to be looked up. Keys are binary64 numbers by their bit patterns: positive floating-point numbers are
// ordered as their bits are, and every processor finds the smaller of several of them with one instruction.

/// The least key. Smaller numbers are taken for zero if a program has set the processor so.
const LEAST: u64 = 1 << 52;
/// The key of "never": larger than that of any time.
const NEVER: f64 = f64::INFINITY;
/// Keys of a block: eight fill one cache line.
const WIDTH: usize = 8;

/// Deadlines of all slots.
#[derive(Clone, Debug)]
pub struct Agenda(Body);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run, and it is looked at for every frame")]
enum Body {
    Flat(Flat),
    Tree(Tree),
}

impl Agenda {
    /// An agenda with this number of slots, nothing due.
    pub fn new(slots: usize) -> Agenda {
        Agenda(if slots <= flat::ROOM { Body::Flat(Flat::new(slots)) } else { Body::Tree(Tree::new(slots)) })
    }

    /// Sets the deadline of a slot; `Time::NEVER` clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        match &mut self.0 {
            Body::Flat(a) => a.set(slot, at),
            Body::Tree(a) => a.set(slot, at),
        }
    }

    /// The deadline of a slot.
    pub fn get(&self, slot: usize) -> Time {
        match &self.0 {
            Body::Flat(a) => a.get(slot),
            Body::Tree(a) => a.get(slot),
        }
    }

    /// The slot that is due first and its deadline, if it is due before another actor that is not on the agenda: one
    /// that is due at `at` and would have this slot. `None` too when nothing will ever happen.
    #[inline(always)]
    pub fn next_before(&mut self, slot: usize, at: Time) -> Option<(usize, Time)> {
        match &mut self.0 {
            Body::Flat(a) => a.next_before(slot, at),
            Body::Tree(a) => a.next(at).filter(|&(s, t)| (t, s) < (at, slot)),
        }
    }

    /// Whether nothing is due.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Body::Flat(a) => a.next_before(0, Time::NEVER).is_none(),
            Body::Tree(a) => a.is_empty(),
        }
    }
}

#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The smallest of a block.
#[inline]
fn least(b: &[f64; WIDTH]) -> f64 {
    let half = [smaller(b[0], b[4]), smaller(b[1], b[5]), smaller(b[2], b[6]), smaller(b[3], b[7])];
    smaller(smaller(half[0], half[2]), smaller(half[1], half[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_come_in_the_order_of_the_slots() {
        let mut a = Agenda::new(100);
        for slot in [63, 7, 8, 99] {
            a.set(slot, Time(5));
        }
        let mut order = vec![];
        while let Some((slot, _)) = a.next_before(0, Time::NEVER) {
            order.push(slot);
            a.set(slot, Time::NEVER);
        }
        assert_eq!(order, [7, 8, 63, 99]);
    }

    proptest! {
        #[test]
        fn the_first_deadline_is_always_the_smallest(
            slots in prop_oneof![1usize..700, Just(5000)],
            // Between nanoseconds and a year, so that what is near and what is far meet: a slot, its deadline, and when
            // an actor that is not on the agenda is due.
            moves in prop::collection::vec(
                (0usize..5000, prop::option::of((0u64..50, 0u32..50)), prop::option::of((0u64..50, 0u32..50))),
                1..400,
            ),
        ) {
            let mut a = Agenda::new(slots);
            let mut plain = vec![u64::MAX; slots];
            let mut now = 0;
            for (slot, at, other) in moves {
                let slot = slot % slots;
                // Time never goes back, and runs take 100 days at most.
                let later = |x: Option<(u64, u32)>| x.map_or(u64::MAX, |(n, bits)| (now + (n << bits)).min(1 << 55));
                let (at, other) = (later(at), (slots / 2, Time(later(other))));
                a.set(slot, Time(at));
                plain[slot] = at;
                prop_assert_eq!(a.get(slot), Time(at));
                let first = plain.iter().enumerate().min_by_key(|&(i, &t)| (t, i)).unwrap();
                let first = (*first.1 != u64::MAX).then_some((first.0, Time(*first.1)));
                prop_assert_eq!(a.is_empty(), first.is_none());
                let first = first.filter(|e| (e.1, e.0) < (other.1, other.0));
                prop_assert_eq!(a.next_before(other.0, other.1), first);
                now = match (first, other.1) {
                    (Some((_, at)), _) => at.0,
                    (None, Time::NEVER) => now,
                    (None, at) => at.0,
                };
            }
        }
    }
}
