//! Sets of segments as sorted ranges: those that a receiver holds out of order, and those that a sender knows to have
//! arrived (the scoreboard of RFC 6675).
//!
//! A window may have thousands of holes, and RFC 6675 needs `pipe` before each segment. The counts for `pipe` are kept
//! up to date while the set changes, so that no call visits the whole set.

use crate::packet::{SackBlocks, Seq};
use std::collections::VecDeque;

/// A set of segment numbers as disjoint ranges `[left, right)` in order.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    ranges: VecDeque<(Seq, Seq)>,
    count: u32,
    #[cfg(test)]
    looks: std::cell::Cell<u64>,
}

impl Ranges {
    /// An empty set for a window of this many segments, of which every other one may be missing. Room for some ranges
    /// is set aside, so that nothing is allocated later but for windows with more holes than there ever are.
    pub fn for_window(window: u32) -> Ranges {
        Ranges::with_room((window as usize / 2 + 2).min(64))
    }

    /// Room for this many ranges is set aside.
    fn with_room(ranges: usize) -> Ranges {
        Ranges { ranges: VecDeque::with_capacity(ranges), ..Ranges::default() }
    }

    /// Tests count how many ranges are looked at.
    #[inline]
    fn look(&self) {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
    }

    /// Number of ranges read.
    #[cfg(test)]
    pub(in crate::tcp) fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// Number of ranges before the first that does not satisfy the condition.
    #[inline]
    fn search(&self, is_before: impl Fn(&(Seq, Seq)) -> bool) -> usize {
        self.ranges.partition_point(|r| {
            self.look();
            is_before(r)
        })
    }

    /// Adds `[left, right)`; returns the number of new segments.
    pub fn insert(&mut self, left: Seq, right: Seq) -> u32 {
        if left >= right {
            return 0;
        }
        // Ranges from `a` up to `b` touch the new one.
        let a = self.search(|r| r.1 < left);
        let mut joined = (left, right);
        let mut known = 0;
        let mut b = a;
        while let Some(&(l, r)) = self.ranges.get(b).filter(|r| r.0 <= right) {
            self.look();
            joined = (joined.0.min(l), joined.1.max(r));
            known += r - l;
            b += 1;
        }
        if a == b {
            self.ranges.insert(a, joined);
        } else {
            self.ranges[a] = joined;
            if b > a + 1 {
                self.ranges.drain(a + 1..b);
            }
        }
        let new = joined.1 - joined.0 - known;
        self.count += new;
        new
    }

    /// Removes all segments below `seq`; returns their number.
    pub fn remove_below(&mut self, seq: Seq) -> u32 {
        let before = self.count;
        while let Some(first) = self.ranges.front_mut().filter(|r| r.0 < seq) {
            if first.1 > seq {
                self.count -= seq - first.0;
                first.0 = seq;
                break;
            }
            self.count -= first.1 - first.0;
            self.ranges.pop_front();
            self.look();
        }
        before - self.count
    }

    /// Returns true if a segment is in the set.
    pub fn contains(&self, seq: Seq) -> bool {
        self.range_of(seq).is_some()
    }

    /// The range that holds a segment.
    pub fn range_of(&self, seq: Seq) -> Option<(Seq, Seq)> {
        let i = self.search(|r| r.1 <= seq);
        self.ranges.get(i).copied().filter(|r| r.0 <= seq)
    }

    /// One past the highest segment, 0 when empty.
    pub fn end(&self) -> Seq {
        self.ranges.back().map_or(0, |r| r.1)
    }

    /// Number of segments in the set.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Number of segments in `[from, to)`.
    fn count_within(&self, from: Seq, to: Seq) -> u32 {
        let first = self.search(|r| r.1 <= from);
        let parts = self.ranges.range(first..).take_while(|r| r.0 < to);
        parts.inspect(|_| self.look()).map(|r| r.1.min(to) - r.0.max(from)).sum()
    }

    /// The `nth` segment, counted from the highest one down.
    fn nth_highest(&self, nth: u32) -> Option<Seq> {
        let mut left = nth;
        for r in self.ranges.iter().rev() {
            self.look();
            let segments = r.1 - r.0;
            if segments >= left {
                return Some(r.1 - left);
            }
            left -= segments;
        }
        None
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Memory of the ranges \[B\].
    pub fn memory(&self) -> usize {
        self.ranges.capacity() * size_of::<(Seq, Seq)>()
    }

    /// Removes all segments and keeps the memory.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.count = 0;
    }

    /// The lowest segment that is missing, at or above `from`, below some segment of the set.
    pub fn hole(&self, from: Seq) -> Option<Seq> {
        let seq = self.range_of(from).map_or(from, |r| r.1);
        (seq < self.end()).then_some(seq)
    }
}

/// Segments known to have arrived out of order.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    sacked: Ranges,
    dup_threshold: u32,
    /// One past the highest segment retransmitted in this recovery.
    retransmitted: Seq,
    /// Segments that have arrived below that.
    below_retransmitted: u32,
    /// The highest segment that has arrived with enough others above it: segments missing below it are lost.
    lost_below: Option<Seq>,
}

impl Scoreboard {
    /// An empty scoreboard for a window of this many segments; a segment is lost when `dup_threshold` segments above it
    /// have arrived.
    pub fn for_window(window: u32, dup_threshold: u32) -> Scoreboard {
        Scoreboard {
            sacked: Ranges::for_window(window),
            dup_threshold,
            retransmitted: 0,
            below_retransmitted: 0,
            lost_below: None,
        }
    }

    /// Memory of the ranges \[B\].
    pub fn memory(&self) -> usize {
        self.sacked.memory()
    }

    /// Adds the blocks of an acknowledgement; returns true if any segment in them is new. Blocks that are reversed,
    /// empty or not between the first unacknowledged segment and the last one sent are ignored.
    pub fn update(&mut self, una: Seq, max: Seq, blocks: &SackBlocks) -> bool {
        let mut changed = 0;
        for (left, right) in blocks.iter().filter(|&(left, right)| una < left && left < right && right <= max) {
            let border = self.retransmitted.clamp(left, right);
            let below = self.sacked.insert(left, border);
            self.below_retransmitted += below;
            changed += below + self.sacked.insert(border, right);
        }
        let gone = self.sacked.remove_below(una);
        self.below_retransmitted = if una < self.retransmitted { self.below_retransmitted - gone } else { 0 };
        changed += gone;
        if changed > 0 {
            self.lost_below = self.sacked.nth_highest(self.dup_threshold);
        }
        changed > 0
    }

    /// Forgets all blocks and retransmissions.
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.retransmitted = 0;
        self.below_retransmitted = 0;
        self.lost_below = None;
    }

    /// Records a retransmission.
    pub fn mark_retransmitted(&mut self, seq: Seq) {
        if seq >= self.retransmitted {
            self.below_retransmitted += self.sacked.count_within(self.retransmitted, seq + 1);
            self.retransmitted = seq + 1;
        }
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

    /// IsLost of RFC 6675, section 4: `dup_threshold` segments, or as many ranges, have arrived above the segment.
    /// Ranges are no fewer segments, so that the segments decide.
    pub fn is_lost(&self, seq: Seq) -> bool {
        self.lost_below.is_some_and(|below| seq < below)
    }

    /// SetPipe of RFC 6675, section 4: segments from `una` up to `max` that are believed to be in the network. What is
    /// missing and not lost counts, and what is missing and was retransmitted counts, too.
    pub fn pipe(&self, una: Seq, max: Seq) -> u32 {
        let not_lost = match self.lost_below {
            Some(below) => max - below - self.dup_threshold,
            None => max - una - self.sacked.count(),
        };
        not_lost + self.retransmitted.saturating_sub(una) - self.below_retransmitted
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
                let known = set.len();
                set.extend(left..left + len);
                prop_assert_eq!(r.insert(left, left + len) as usize, set.len() - known);
            }
            let known = set.len();
            set.retain(|&s| s >= below);
            prop_assert_eq!(r.remove_below(below) as usize, known - set.len());
            prop_assert!((0..70).all(|s| r.contains(s) == set.contains(&s)));
            prop_assert_eq!(r.count() as usize, set.len());
            let hole = (from..r.end().max(from)).find(|s| !set.contains(s));
            prop_assert_eq!(r.hole(from), hole);
            prop_assert_eq!(r.count_within(below, from) as usize, set.iter().filter(|&&s| s < from).count());
            let nth = from + 1;
            prop_assert_eq!(r.nth_highest(nth), set.iter().rev().nth(from as usize).copied(), "{}", nth);
        }
    }

    /// The scoreboard as RFC 6675 describes it, walked over segment by segment.
    #[derive(Debug, Default)]
    struct Walked {
        una: Seq,
        max: Seq,
        sacked: BTreeSet<Seq>,
        /// HighRxt + 1 (RFC 6675, section 2).
        retransmitted: Seq,
    }

    impl Walked {
        /// "The routine returns true when either DupThresh discontiguous SACKed sequences have arrived above 'SeqNum'
        /// or more than (DupThresh - 1) * SMSS bytes with sequence numbers greater than 'SeqNum' have been SACKed."
        fn is_lost(&self, seq: Seq, dup_threshold: u32) -> bool {
            let above: Vec<Seq> = self.sacked.range(seq + 1..).copied().collect();
            let sequences = above.iter().filter(|&&s| s == seq + 1 || !self.sacked.contains(&(s - 1))).count();
            sequences >= dup_threshold as usize || above.len() > dup_threshold as usize - 1
        }

        /// "(a) If IsLost (S1) returns false: Pipe is incremented by 1 octet. (b) If S1 <= HighRxt: Pipe is incremented
        /// by 1 octet." For each octet that has not been SACKed between HighACK and HighData.
        fn pipe(&self, dup_threshold: u32) -> u32 {
            let mut pipe = 0;
            for s in (self.una..self.max).filter(|s| !self.sacked.contains(s)) {
                pipe += u32::from(!self.is_lost(s, dup_threshold)) + u32::from(s < self.retransmitted);
            }
            pipe
        }

        fn next_hole(&self) -> Option<Seq> {
            let highest = *self.sacked.last()?;
            (self.una.max(self.retransmitted)..highest).find(|s| !self.sacked.contains(s))
        }
    }

    /// Operation on a scoreboard.
    #[derive(Clone, Debug)]
    enum Step {
        Send(u32),
        /// A cumulative acknowledgement of this many segments, with blocks at these distances from it.
        Ack(u32, Vec<(i64, i64)>),
        /// The next hole is sent again.
        Retransmit,
        /// The first segment is sent again, as when recovery begins.
        RetransmitFirst,
        Timeout,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let blocks = prop::collection::vec((-3i64..45, 0i64..9), 0..4);
        // Some are reversed, and some reach to where nothing has been sent.
        let blocks = blocks.prop_map(|b| b.into_iter().map(|(left, n)| (left, left + n - 1)).collect());
        let step = prop_oneof![
            4 => (1u32..12).prop_map(Step::Send),
            2 => (1u32..6, blocks.clone()).prop_map(|(n, b)| Step::Ack(n, b)),
            8 => blocks.prop_map(|b| Step::Ack(0, b)),
            6 => Just(Step::Retransmit),
            1 => Just(Step::RetransmitFirst),
            1 => Just(Step::Timeout),
        ];
        prop::collection::vec(step, 0..80)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
        #[test]
        fn what_is_counted_is_what_a_walk_over_the_window_finds(steps in steps(), dup_threshold in 1u32..6) {
            let mut board = Scoreboard::for_window(12, dup_threshold);
            let mut walked = Walked::default();
            for step in steps {
                match step {
                    Step::Send(n) => walked.max += n,
                    Step::Ack(n, blocks) => {
                        let before = walked.sacked.clone();
                        walked.una = (walked.una + n).min(walked.max);
                        let at = |distance: i64| (i64::from(walked.una) + distance).max(0) as Seq;
                        let mut sack = SackBlocks::default();
                        for (left, right) in blocks.iter().map(|b| (at(b.0), at(b.1))).take(3) {
                            sack.push(left, right);
                            if walked.una < left && right <= walked.max {
                                walked.sacked.extend(left..right);
                            }
                        }
                        walked.sacked.retain(|&s| s >= walked.una);
                        prop_assert_eq!(board.update(walked.una, walked.max, &sack), walked.sacked != before);
                    }
                    Step::Retransmit => {
                        if let Some(seq) = walked.next_hole() {
                            board.mark_retransmitted(seq);
                            walked.retransmitted = seq + 1;
                        }
                    }
                    Step::RetransmitFirst if walked.una < walked.max => {
                        board.mark_retransmitted(walked.una);
                        walked.retransmitted = walked.retransmitted.max(walked.una + 1);
                    }
                    Step::RetransmitFirst => {}
                    Step::Timeout => {
                        board.clear();
                        walked.sacked.clear();
                        walked.retransmitted = 0;
                    }
                }
                prop_assert_eq!(board.pipe(walked.una, walked.max), walked.pipe(dup_threshold));
                prop_assert_eq!(board.next_hole(walked.una), walked.next_hole());
                for s in walked.una..walked.max {
                    prop_assert_eq!(board.is_lost(s), walked.is_lost(s, dup_threshold), "{}", s);
                }
            }
        }
    }

    #[test]
    fn blocks_of_what_is_not_outstanding_are_not_believed() {
        let mut board = Scoreboard::for_window(4, 3);
        for (left, right) in [(20, 25), (18, 21), (2, 4), (2, 12), (10, 12), (14, 14), (16, 12), (12, u32::MAX)] {
            let mut blocks = SackBlocks::default();
            blocks.push(left, right);
            assert!(!board.update(10, 20, &blocks), "{left} to {right}");
            assert_eq!(board.pipe(10, 20), 10, "{left} to {right}");
        }
    }

    #[test]
    fn news_is_told_from_repetition() {
        let mut board = Scoreboard::for_window(4, 3);
        let mut blocks = SackBlocks::default();
        blocks.push(5, 6);
        assert!(board.update(3, 9, &blocks));
        assert!(!board.update(3, 9, &blocks));
        assert_eq!(board.next_hole(3), Some(3));
        board.mark_retransmitted(3);
        assert_eq!(board.next_hole(3), Some(4));
        board.mark_retransmitted(4);
        assert_eq!(board.next_hole(3), None);
    }
}
