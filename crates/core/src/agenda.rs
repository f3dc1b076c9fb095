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

    /// The deadline of a slot.
    pub fn get(&self, slot: usize) -> Time {
        match &self.0 {
            Body::Flat(a) => time(a.keys[slot / WIDTH][slot % WIDTH].to_bits(), SLOT_BITS),
            Body::Tree(a) => time(a.levels[0][slot / WIDTH][slot % WIDTH].to_bits(), 0),
        }
    }

    /// The slot that is due first and its deadline; `None` when nothing will ever happen.
    #[inline]
    pub fn next(&self) -> Option<(usize, Time)> {
        match &self.0 {
            Body::Flat(a) => a.next(),
            Body::Tree(a) => a.next(),
        }
    }
}

/// The deadline in a key, above so many bits that hold the slot.
fn time(key: u64, slot_bits: u32) -> Time {
    if key == NEVER.to_bits() { Time::NEVER } else { Time(key >> slot_bits) }
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

/// Many slots: a tree of minima.
#[derive(Clone, Debug)]
struct Tree {
    /// `levels[0]` holds the deadlines, each further level the minima of the blocks below; the last has one block.
    levels: Vec<Vec<[f64; WIDTH]>>,
}

impl Tree {
    fn new(slots: usize) -> Tree {
        let mut levels = Vec::new();
        let mut blocks = slots.div_ceil(WIDTH);
        levels.push(vec![[NEVER; WIDTH]; blocks]);
        while blocks > 1 {
            blocks = blocks.div_ceil(WIDTH);
            levels.push(vec![[NEVER; WIDTH]; blocks]);
        }
        Tree { levels }
    }

    #[inline]
    fn set(&mut self, slot: usize, at: Time) {
        let mut i = slot;
        let mut new = if at.0 < LIMIT { f64::from_bits(at.0) } else { NEVER };
        for level in &mut self.levels {
            let block = &mut level[i / WIDTH];
            let before = least(block);
            block[i % WIDTH] = new;
            let after = least(block);
            if after.to_bits() == before.to_bits() {
                return;
            }
            (i, new) = (i / WIDTH, after);
        }
    }

    #[inline]
    fn next(&self) -> Option<(usize, Time)> {
        let due = least(&self.levels.last()?[0]).to_bits();
        if due == NEVER.to_bits() {
            return None;
        }
        let mut i = 0;
        for level in self.levels.iter().rev() {
            let block = level[i].iter();
            i = i * WIDTH + block.map(|t| t.to_bits()).position(|t| t == due).expect("the minimum is in its block");
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
                prop_assert_eq!(a.get(slot), Time(at));
                let expected = plain.iter().enumerate().min_by_key(|&(i, &t)| (t, i)).unwrap();
                let expected = (*expected.1 != u64::MAX).then_some((expected.0, Time(*expected.1)));
                prop_assert_eq!(a.next(), expected);
            }
        }
    }
}
