//! The agenda: who acts next.
//!
//! Every future actor of a run is known when the run is set up, so there is no queue of events: each actor has a
//! *slot* with one deadline, and the agenda is an array of deadlines under a tree of minima. Setting a deadline,
//! moving it and cancelling it are the same store; nothing is allocated and no stale entry is left behind.
//!
//! Of slots that are due at the same time the one with the lowest number comes first.

use crate::unit::Time;

/// Children of a node of the tree: eight deadlines fill one cache line.
const WIDTH: usize = 8;

/// Deadlines of all slots.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// `levels[0]` holds the deadlines, each further level the minima of the blocks below; the last has one block.
    levels: Vec<Vec<u64>>,
}

fn block_min(block: &[u64]) -> u64 {
    let b: &[u64; WIDTH] = block.try_into().expect("blocks are full");
    b[0].min(b[1]).min(b[2].min(b[3])).min(b[4].min(b[5]).min(b[6].min(b[7])))
}

impl Agenda {
    /// An agenda of so many slots, nothing due.
    pub fn new(slots: usize) -> Agenda {
        let mut levels = Vec::new();
        let mut n = slots.max(1).next_multiple_of(WIDTH);
        levels.push(vec![u64::MAX; n]);
        while n > WIDTH {
            n = (n / WIDTH).next_multiple_of(WIDTH);
            levels.push(vec![u64::MAX; n]);
        }
        Agenda { levels }
    }

    /// Sets the deadline of a slot; `Time::NEVER` clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        let mut i = slot;
        let mut new = at.0;
        let mut old = std::mem::replace(&mut self.levels[0][i], new);
        for level in 1..self.levels.len() {
            let block = i / WIDTH;
            let min = self.levels[level][block];
            let fresh = if new <= min {
                new
            } else if old > min {
                return;
            } else {
                block_min(&self.levels[level - 1][block * WIDTH..][..WIDTH])
            };
            if fresh == min {
                return;
            }
            self.levels[level][block] = fresh;
            (i, new, old) = (block, fresh, min);
        }
    }

    /// The deadline of a slot.
    #[inline]
    pub fn get(&self, slot: usize) -> Time {
        Time(self.levels[0][slot])
    }

    /// The slot that is due first and its deadline; `None` when nothing will ever happen.
    #[inline]
    pub fn next(&self) -> Option<(usize, Time)> {
        let top = self.levels.len() - 1;
        let due = block_min(&self.levels[top][..WIDTH]);
        if due == u64::MAX {
            return None;
        }
        let mut i = 0;
        for level in (0..=top).rev() {
            let block = &self.levels[level][i * WIDTH..][..WIDTH];
            let at = block.iter().position(|&t| t == due).expect("the minimum is in its block");
            i = i * WIDTH + at;
        }
        Some((i, Time(due)))
    }
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
        while let Some((slot, _)) = a.next() {
            order.push(slot);
            a.set(slot, Time::NEVER);
        }
        assert_eq!(order, [7, 8, 63, 99]);
    }

    proptest! {
        #[test]
        fn the_first_deadline_is_always_the_smallest(
            slots in 1usize..700,
            moves in prop::collection::vec((0usize..700, prop::option::of(0u64..50)), 1..400),
        ) {
            let mut a = Agenda::new(slots);
            let mut plain = vec![u64::MAX; slots];
            for (slot, at) in moves {
                let (slot, at) = (slot % slots, at.unwrap_or(u64::MAX));
                a.set(slot, Time(at));
                plain[slot] = at;
                let expected = plain.iter().enumerate().min_by_key(|&(i, &t)| (t, i)).unwrap();
                let expected = (*expected.1 != u64::MAX).then_some((expected.0, Time(*expected.1)));
                prop_assert_eq!(a.next(), expected);
                prop_assert_eq!(a.get(slot), Time(at));
            }
        }
    }
}
