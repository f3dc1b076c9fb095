//! A tree of minima over many deadlines.

use super::{NEVER, WIDTH, least};
use crate::unit::Time;

/// Times from here on are "never": nine years.
const LIMIT: u64 = 1 << 58;

/// The levels of the tree lie one after the other.
///
/// A block knows its minimum before a change: it is written in the block above. Most changes leave it as it is, because
/// neither the old nor the new deadline is the least of its block, and end at the first level without looking at the
/// rest of the block.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    blocks: Vec<[f64; WIDTH]>,
    /// Where each level begins: first the deadlines, then the minima of the blocks below; the last is one number.
    levels: Vec<u32>,
}

impl Tree {
    pub(super) fn new(slots: usize) -> Tree {
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
    pub(super) fn set(&mut self, slot: usize, at: Time) {
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
    pub(super) fn next_until(&self, at: Time) -> Option<(usize, Time)> {
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
