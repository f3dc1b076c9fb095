//! The agenda: who acts next.
//!
//! Every future actor of a run is known when the run is set up, so there is no queue of events: each actor has a
//! *slot* with one deadline, and the agenda is an array of deadlines under a tree of minima. Setting a deadline,
//! moving it and cancelling it are the same store; nothing is allocated and no stale entry is left behind.
//!
//! Of slots that are due at the same time the one with the lowest number comes first.

use crate::unit::Time;

// Deadlines are kept as the binary64 numbers with their bit patterns: positive floating-point numbers are ordered as
// their bits are, and every processor finds the smaller of several of them with one instruction.

/// The pattern of "never": larger than that of any time.
const NEVER: f64 = f64::INFINITY;
/// Times from here on are "never": nine years.
const LIMIT: u64 = 1 << (64 - SLOT_BITS);
/// Up to so many slots are looked through one by one: no branch depends on the deadlines, so nothing is mispredicted.
const FLAT: usize = 64;
/// Bits of a key that hold the slot.
const SLOT_BITS: u32 = FLAT.trailing_zeros();
/// Children of a node of the tree: eight deadlines fill one cache line.
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
    /// An agenda of so many slots, nothing due.
    pub fn new(slots: usize) -> Agenda {
        Agenda(if slots <= FLAT { Body::Flat(Flat::new(slots)) } else { Body::Tree(Tree::new(slots)) })
    }

    /// Sets the deadline of a slot; `Time::NEVER` clears it.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        match &mut self.0 {
            Body::Flat(a) => a.set(slot, at),
            Body::Tree(a) => a.set(slot, at),
        }
    }

    /// The slot that is due first and its deadline, if it is due before another actor that is not on the agenda: one
    /// that is due at `at` and would have this slot. `None` too when nothing will ever happen.
    #[inline]
    pub fn next_before(&self, slot: usize, at: Time) -> Option<(usize, Time)> {
        let next = match &self.0 {
            Body::Flat(a) => a.next(),
            Body::Tree(a) => a.next_until(at),
        };
        next.filter(|&(s, t)| t < at || t == at && s < slot)
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

/// A few slots: one key each, the deadline above the number of the slot.
#[derive(Clone, Debug)]
struct Flat {
    keys: [[f64; WIDTH]; FLAT / WIDTH],
    used: usize,
}

impl Flat {
    fn new(slots: usize) -> Flat {
        Flat { keys: [[NEVER; WIDTH]; FLAT / WIDTH], used: slots.div_ceil(WIDTH) }
    }

    #[inline]
    fn set(&mut self, slot: usize, at: Time) {
        let key = if at.0 < LIMIT { f64::from_bits(at.0 << SLOT_BITS | slot as u64) } else { NEVER };
        self.keys[slot / WIDTH % (FLAT / WIDTH)][slot % WIDTH] = key;
    }

    #[inline]
    fn next(&self) -> Option<(usize, Time)> {
        let mut best = [NEVER; WIDTH];
        for block in &self.keys[..self.used] {
            for (b, &k) in best.iter_mut().zip(block) {
                *b = smaller(k, *b);
            }
        }
        let key = least(&best).to_bits();
        (key < NEVER.to_bits()).then_some(((key % FLAT as u64) as usize, Time(key >> SLOT_BITS)))
    }
}

/// Many slots: a tree of minima, its levels one after the other.
///
/// A block knows its minimum before a change: it is written in the block above. Most changes leave it as it is, because
/// neither the old nor the new deadline is the least of its block, and end at the first level without looking at the
/// rest of the block.
#[derive(Clone, Debug)]
struct Tree {
    blocks: Vec<[f64; WIDTH]>,
    /// Where each level begins: first the deadlines, then the minima of the blocks below; the last is one number.
    levels: Vec<u32>,
}

impl Tree {
    fn new(slots: usize) -> Tree {
        let (mut levels, mut end, mut entries) = (Vec::new(), 0, slots);
        loop {
            let blocks = entries.div_ceil(WIDTH);
            levels.push(end as u32);
            end += blocks;
            if entries == 1 {
                return Tree { blocks: vec![[NEVER; WIDTH]; end], levels };
            }
            entries = blocks;
        }
    }

    #[inline]
    fn set(&mut self, slot: usize, at: Time) {
        let mut i = slot;
        let mut new = if at.0 < LIMIT { f64::from_bits(at.0) } else { NEVER };
        let mut levels = self.levels.iter().map(|l| *l as usize);
        let mut block = levels.next().unwrap_or(0) + i / WIDTH;
        let mut old = std::mem::replace(&mut self.blocks[block][i % WIDTH], new);
        for level in levels {
            i /= WIDTH;
            let above = level + i / WIDTH;
            let least_before = self.blocks[above][i % WIDTH];
            if new >= least_before {
                if old > least_before {
                    return;
                }
                new = least(&self.blocks[block]);
                if new.to_bits() == least_before.to_bits() {
                    return;
                }
            }
            old = least_before;
            self.blocks[above][i % WIDTH] = new;
            block = above;
        }
    }

    /// The slot that is due first, if it is due by then.
    #[inline]
    fn next_until(&self, at: Time) -> Option<(usize, Time)> {
        let (&top, below) = self.levels.split_last()?;
        let due = self.blocks[top as usize][0];
        if due.to_bits() > at.0.min(LIMIT) {
            return None;
        }
        let mut i = 0;
        for &level in below.iter().rev() {
            let block = &self.blocks[level as usize + i];
            // No branch depends on which of them it is.
            let mut which = 0;
            for (j, t) in block.iter().enumerate() {
                which |= usize::from(t.to_bits() == due.to_bits()) << j;
            }
            i = i * WIDTH + which.trailing_zeros() as usize;
        }
        Some((i, Time(due.to_bits())))
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
        while let Some((slot, _)) = a.next_before(0, Time::NEVER) {
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
                prop_assert_eq!(a.next_before(0, Time::NEVER), expected);
                let other = (slots / 2, Time(25));
                let first = expected.filter(|e| (e.1, e.0) < (other.1, other.0));
                prop_assert_eq!(a.next_before(other.0, other.1), first);
            }
        }
    }
}
