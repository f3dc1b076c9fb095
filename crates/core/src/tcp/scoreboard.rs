//! Sets of segments as sorted ranges: what a receiver holds out of order, and what a sender knows to have arrived
//! (the scoreboard of RFC 6675).

use crate::packet::{SackBlocks, Seq};

/// A set of segment numbers as disjoint ranges `[left, right)` in order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    ranges: Vec<(Seq, Seq)>,
}

impl Ranges {
    /// Room for so many ranges is set aside, so that nothing is allocated later.
    pub fn with_room(ranges: usize) -> Ranges {
        Ranges { ranges: Vec::with_capacity(ranges) }
    }

    /// Adds `[left, right)`.
    pub fn insert(&mut self, left: Seq, right: Seq) {
        if left >= right {
            return;
        }
        // Ranges from `a` up to `b` touch the new one.
        let a = self.ranges.partition_point(|r| r.1 < left);
        let b = self.ranges.partition_point(|r| r.0 <= right);
        if a == b {
            self.ranges.insert(a, (left, right));
        } else {
            let joined = (left.min(self.ranges[a].0), right.max(self.ranges[b - 1].1));
            self.ranges[a] = joined;
            self.ranges.drain(a + 1..b);
        }
    }

    /// Forgets everything below `seq`.
    pub fn remove_below(&mut self, seq: Seq) {
        let gone = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.0 = first.0.max(seq);
        }
    }

    /// Whether a segment is in the set.
    pub fn contains(&self, seq: Seq) -> bool {
        self.range_of(seq).is_some()
    }

    /// The range that holds a segment.
    pub fn range_of(&self, seq: Seq) -> Option<(Seq, Seq)> {
        let i = self.ranges.partition_point(|r| r.1 <= seq);
        self.ranges.get(i).copied().filter(|r| r.0 <= seq)
    }

    /// One past the highest segment, 0 when empty.
    pub fn end(&self) -> Seq {
        self.ranges.last().map_or(0, |r| r.1)
    }

    /// How many segments there are.
    pub fn count(&self) -> u32 {
        self.ranges.iter().map(|r| r.1 - r.0).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The lowest segment that is missing, at or above `from`, below some segment of the set.
    pub fn hole(&self, from: Seq) -> Option<Seq> {
        let seq = self.range_of(from).map_or(from, |r| r.1);
        (seq < self.end()).then_some(seq)
    }

    /// How many segments of the set, and in how many ranges, lie above `seq`.
    pub fn above(&self, seq: Seq) -> (u32, u32) {
        let parts = self.ranges.iter().filter(|r| r.1 > seq + 1).map(|r| r.1 - r.0.max(seq + 1));
        parts.fold((0, 0), |(n, k), part| (n + part, k + 1))
    }
}

/// What a sender knows to have arrived out of order.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: Ranges,
    /// One past the highest segment retransmitted in this recovery.
    retransmitted: Seq,
}

impl Scoreboard {
    /// An empty scoreboard with room for so many ranges.
    pub fn with_room(ranges: usize) -> Scoreboard {
        Scoreboard { sacked: Ranges::with_room(ranges), retransmitted: 0 }
    }

    /// Takes in the blocks of an acknowledgement; whether they told anything new.
    pub fn update(&mut self, una: Seq, blocks: &SackBlocks) -> bool {
        let before = self.sacked.count();
        for (left, right) in blocks.iter() {
            self.sacked.insert(left.max(una), right);
        }
        let added = self.sacked.count() != before;
        let known = self.sacked.count();
        self.sacked.remove_below(una);
        added || self.sacked.count() != known
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.retransmitted = 0;
    }

    /// A segment was retransmitted.
    pub fn mark_retransmitted(&mut self, seq: Seq) {
        self.retransmitted = self.retransmitted.max(seq + 1);
    }

    /// One past HighRxt of RFC 6675.
    pub fn retransmitted(&self) -> Seq {
        self.retransmitted
    }

    /// The lowest segment that is missing and not yet retransmitted, if something above it has arrived.
    pub fn next_hole(&self, una: Seq) -> Option<Seq> {
        self.sacked.hole(self.retransmitted.max(una))
    }

    /// The set of segments that have arrived.
    pub fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// IsLost of RFC 6675, section 4: enough has arrived above the segment.
    pub fn is_lost(&self, seq: Seq, dup_threshold: u32) -> bool {
        let (segments, ranges) = self.sacked.above(seq);
        ranges >= dup_threshold || segments >= dup_threshold
    }

    /// SetPipe of RFC 6675, section 4: segments from `una` up to `max` that are believed to be in the network.
    pub fn pipe(&self, una: Seq, max: Seq, dup_threshold: u32) -> u32 {
        let outstanding = (una..max).filter(|&s| !self.sacked.contains(s));
        outstanding.map(|s| u32::from(!self.is_lost(s, dup_threshold)) + u32::from(s < self.retransmitted)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_a_set(
            inserts in prop::collection::vec((0u32..60, 0u32..8), 0..30), below in 0u32..40, from in 0u32..70,
        ) {
            let mut r = Ranges::default();
            let mut set = BTreeSet::new();
            for (left, len) in inserts {
                r.insert(left, left + len);
                set.extend(left..left + len);
            }
            r.remove_below(below);
            set.retain(|&s| s >= below);
            prop_assert!((0..70).all(|s| r.contains(s) == set.contains(&s)));
            prop_assert_eq!(r.count() as usize, set.len());
            let hole = (from..r.end().max(from)).find(|s| !set.contains(s));
            prop_assert_eq!(r.hole(from), hole);
            prop_assert_eq!(r.above(from).0 as usize, set.range(from + 1..).count());
        }
    }

    #[test]
    fn news_is_told_from_repetition() {
        let mut board = Scoreboard::default();
        let mut blocks = SackBlocks::default();
        blocks.push(5, 6);
        assert!(board.update(3, &blocks));
        assert!(!board.update(3, &blocks));
        assert_eq!(board.next_hole(3), Some(3));
        board.mark_retransmitted(3);
        assert_eq!(board.next_hole(3), Some(4));
        board.mark_retransmitted(4);
        assert_eq!(board.next_hole(3), None);
    }
}
