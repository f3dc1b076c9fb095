//! The scheduler: the order in which timers expire.
//!
//! Every actor that can act in a run is known when the run is set up, so there is no event queue: each actor has a
//! *timer* with one deadline, and the scheduler finds the earliest. Setting, moving and canceling a deadline are one
//! operation; nothing is allocated and no stale entry is left behind.
//!
//! Among timers due at the same time the one with the lowest number comes first.

mod flat;
mod tree;

use crate::unit::Time;
use flat::Flat;
use tree::Tree;

// A deadline is stored as a key: the time above the timer's number. The smallest key thus gives the earliest timer
// without a lookup. Keys are the bit patterns of binary64 numbers: positive floating-point numbers are ordered like
// their bits, and every processor finds the minimum of several of them with one instruction.

/// Smallest key. Smaller numbers are subnormal, and flushed to zero in some processor modes.
const LEAST: u64 = 1 << 52;
/// Key of "never": larger than that of any time.
const NEVER: f64 = f64::INFINITY;
/// Keys per block: eight fill one cache line.
const WIDTH: usize = 8;

/// Deadlines of all timers.
#[derive(Clone, Debug)]
pub struct Scheduler(Body);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run, and it is looked at for every frame")]
enum Body {
    Flat(Flat),
    Tree(Tree),
}

impl Scheduler {
    /// A scheduler with this number of timers, none of which is set. The first `busy` timers are cheaper to set than
    /// the others.
    pub fn new(busy: usize, timers: usize) -> Scheduler {
        let flat = timers <= flat::ROOM || (0 < busy && busy < flat::ROOM);
        Scheduler(if flat { Body::Flat(Flat::new(busy, timers)) } else { Body::Tree(Tree::new(timers)) })
    }

    /// Sets the deadline of a busy timer; `Time::NEVER` clears it.
    #[inline]
    pub fn set_busy(&mut self, timer: usize, at: Time) {
        match &mut self.0 {
            Body::Flat(a) => a.set_busy(timer, at),
            Body::Tree(a) => a.set(timer, at),
        }
    }

    /// Sets the deadline of any timer.
    pub fn set(&mut self, timer: usize, at: Time) {
        match &mut self.0 {
            Body::Flat(a) => a.set(timer, at),
            Body::Tree(a) => a.set(timer, at),
        }
    }

    /// Sets the deadline of the busy timer that changes as often as the earliest timer is sought.
    #[inline]
    pub fn set_often(&mut self, timer: usize, at: Time) {
        match &mut self.0 {
            Body::Flat(a) => a.set_busy(timer, at),
            Body::Tree(a) => a.often = (at, timer),
        }
    }

    /// Deadline of a timer, except of one that is [set often](Self::set_often).
    pub fn get(&self, timer: usize) -> Time {
        match &self.0 {
            Body::Flat(a) => a.get(timer),
            Body::Tree(a) => a.get(timer),
        }
    }

    /// The earliest timer and its deadline; a timer must be set. Unless the timer is busy, [`due`](Self::due) gives its
    /// number.
    #[inline(always)]
    pub fn first(&mut self) -> (usize, Time) {
        match &mut self.0 {
            Body::Flat(a) => a.first(),
            Body::Tree(a) => a.first(),
        }
    }

    /// Number of the timer that [`first`](Self::first) has found; must be called at the deadline of the timer.
    #[inline(always)]
    pub fn due(&mut self, first: usize) -> usize {
        match &mut self.0 {
            Body::Flat(a) => a.due(first),
            Body::Tree(_) => first,
        }
    }

    /// Returns true if no timer is set.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Body::Flat(a) => a.is_empty(),
            Body::Tree(a) => a.is_empty(),
        }
    }
}

#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Smallest key of a block.
#[inline]
fn least(b: &[f64; WIDTH]) -> f64 {
    let half = [smaller(b[0], b[4]), smaller(b[1], b[5]), smaller(b[2], b[6]), smaller(b[3], b[7])];
    smaller(smaller(half[0], half[2]), smaller(half[1], half[3]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn equal_deadlines_come_in_the_order_of_the_timers() {
        let mut a = Scheduler::new(100, 100);
        for timer in [63, 7, 8, 99] {
            a.set(timer, Time(5));
        }
        let mut order = vec![];
        while !a.is_empty() {
            let (next, _) = a.first();
            let timer = a.due(next);
            order.push(timer);
            a.set(timer, Time::NEVER);
        }
        assert_eq!(order, [7, 8, 63, 99]);
    }

    proptest! {
        #[test]
        fn the_first_deadline_is_always_the_smallest(
            timers in prop_oneof![1usize..700, Just(5000)],
            busy in prop_oneof![20usize..80, Just(5000)],
            // From nanoseconds to a year, so that near and far deadlines mix: a timer, its deadline, and the deadline
            // of the timer that is set often.
            moves in prop::collection::vec(
                (0usize..5000, prop::option::of((0u64..50, 0u32..50)), prop::option::of((0u64..50, 0u32..50))),
                1..400,
            ),
        ) {
            let mut a = Scheduler::new(busy.min(timers), timers + 1);
            // Deadlines in order, and by timer.
            let (mut order, mut plain) = (BTreeSet::new(), vec![u64::MAX; timers + 1]);
            let mut now = 0;
            for (timer, at, other) in moves {
                let timer = timer % timers;
                // Time never goes back, and a run lasts 100 days at most.
                let later = |x: Option<(u64, u32)>| x.map_or(u64::MAX, |(n, bits)| (now + (n << bits)).min(1 << 55));
                let often = busy.min(timers) / 2;
                for (timer, at) in [(if timer == often { timers } else { timer }, later(at)), (often, later(other))] {
                    if timer == often {
                        a.set_often(timer, Time(at));
                    } else {
                        if timer < busy.min(timers) {
                            a.set_busy(timer, Time(at));
                        } else {
                            a.set(timer, Time(at));
                        }
                        prop_assert_eq!(a.get(timer), Time(at));
                    }
                    order.remove(&(plain[timer], timer));
                    plain[timer] = at;
                    if at != u64::MAX {
                        order.insert((at, timer));
                    }
                }
                let first = order.first().map(|&(at, timer)| (timer, Time(at)));
                prop_assert_eq!(a.is_empty(), first.is_none());
                if let Some(first) = first {
                    let (next, at) = a.first();
                    prop_assert_eq!((a.due(next), at), first);
                    now = first.1.0;
                }
            }
        }
    }
}
