//! SACK blocks that a receiver of Linux remembers: four. A segment lengthens the blocks that it touches, but joins none
//! that was forgotten, so that the first block may be a part of the contiguous data that RFC 2018 asks for (a kernel
//! reports 220 alone when 219 was in a block before the last four; reproductions/docs/validation-linux.md).

use crate::packet::Seq;

/// Blocks in memory.
const BLOCKS: usize = 4;

/// The last blocks, the most recent first; each a half-open range of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct SackMemory {
    blocks: [(Seq, Seq); BLOCKS],
    len: usize,
}

impl SackMemory {
    /// Takes a segment above a hole.
    pub fn add(&mut self, seq: Seq) {
        let (mut joined, mut kept, mut len) = ((seq, seq + 1), [(0, 0); BLOCKS], 0);
        for &(left, right) in &self.blocks[..self.len] {
            if left <= joined.1 && joined.0 <= right {
                joined = (joined.0.min(left), joined.1.max(right));
            } else {
                kept[len] = (left, right);
                len += 1;
            }
        }
        // The oldest of four others is forgotten.
        self.len = (len + 1).min(BLOCKS);
        self.blocks[0] = joined;
        self.blocks[1..self.len].copy_from_slice(&kept[..self.len - 1]);
    }

    /// Forgets acknowledged segments.
    pub fn remove_below(&mut self, next: Seq) {
        let mut len = 0;
        for i in 0..self.len {
            if self.blocks[i].0 >= next {
                self.blocks[len] = self.blocks[i];
                len += 1;
            }
        }
        self.len = len;
    }

    /// The blocks, the most recent first.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.blocks[..self.len].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seqs: &[Seq]) -> Vec<(Seq, Seq)> {
        let mut memory = SackMemory::default();
        seqs.iter().for_each(|s| memory.add(*s));
        memory.iter().collect()
    }

    #[test]
    fn a_segment_joins_the_blocks_that_it_touches() {
        assert_eq!(after(&[3, 5, 4, 9]), [(9, 10), (3, 6)]);
        assert_eq!(after(&[3, 5, 7, 5]), [(5, 6), (7, 8), (3, 4)]);
    }

    #[test]
    fn a_block_before_the_last_four_is_forgotten() {
        assert_eq!(after(&[3, 5, 7, 9, 11, 4]), [(4, 6), (11, 12), (9, 10), (7, 8)]);
    }

    #[test]
    fn acknowledged_blocks_are_removed() {
        let mut memory = SackMemory::default();
        [3, 5, 7].into_iter().for_each(|s| memory.add(s));
        memory.remove_below(6);
        assert_eq!(memory.iter().collect::<Vec<_>>(), [(7, 8)]);
    }
}
