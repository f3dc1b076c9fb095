//! Retransmission queue: one record for each outstanding segment, and the counts from which the amount in flight
//! follows. Names are those of RFC 8985, section 5.2.

use crate::packet::{SackBlocks, Seq};
use crate::unit::Time;
use std::collections::VecDeque;

/// An outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Segment.xmit_ts: time of the last transmission.
    pub sent: Time,
    /// Deliveries up to that time.
    pub mark: Mark,
    /// The receiver has reported the segment in a SACK block.
    pub sacked: bool,
    /// Segment.lost: deemed lost, by time or by a timeout.
    pub lost: bool,
    /// The last retransmission is not deemed lost.
    pub resent: bool,
    /// Segment.retransmitted: sent more than once.
    pub ever_resent: bool,
}

/// State of the delivery-rate estimator when a segment was sent (draft-cheng-iccrg-delivery-rate-estimation, 3.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// P.delivered: segments delivered.
    pub delivered: u64,
    /// P.delivered_time: time of the last delivery.
    pub delivered_time: Time,
    /// P.first_sent_time: send time of the segment that was delivered last.
    pub first_sent: Time,
    /// P.is_app_limited: the sender had less to send than the window allowed.
    pub app_limited: bool,
    /// P.tx_in_flight: segments in flight, this one included.
    pub in_flight: u32,
    /// P.lost: segments marked lost, of which the lowest bits count.
    pub lost: u32,
}

impl Mark {
    /// Segments marked lost since then; `lost`: those marked up to now.
    pub fn lost_since(&self, lost: u64) -> f64 {
        f64::from((lost as u32).wrapping_sub(self.lost))
    }
}

/// The segments from SND.UNA to SND.NXT.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    segments: VecDeque<Segment>,
    /// SND.UNA: number of the first one.
    una: Seq,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// Segments that duplicate acknowledgements without SACK have shown to have arrived.
    inferred: u32,
    /// Transmissions in their order, obsolete ones included.
    sent: VecDeque<(Time, Seq)>,
    /// Segments below need no retransmission now.
    hint: Seq,
    /// One past the highest segment that was reported in a SACK block.
    fack: Seq,
    /// Blocks of the last acknowledgement, which have been processed.
    known: SackBlocks,
    /// Segments marked lost since the congestion control was told, if it wants to know.
    told: Option<Vec<(Seq, Mark)>>,
}

impl Queue {
    /// Begins with this segment.
    pub fn start_at(&mut self, una: Seq) {
        self.una = una;
        self.hint = una;
        self.fack = una;
    }

    /// Keeps the segments that are marked lost, for a congestion control that wants to know them.
    pub fn keep_lost(&mut self) {
        self.told = Some(Vec::with_capacity(64));
    }

    /// The list of the segments marked lost, to be handed back.
    pub fn take_lost(&mut self) -> Vec<(Seq, Mark)> {
        self.told.take().unwrap_or_default()
    }

    /// Hands the list back, for the next losses.
    pub fn hand_back(&mut self, mut list: Vec<(Seq, Mark)>) {
        list.clear();
        self.told = Some(list);
    }

    /// SND.UNA: number of the first segment.
    pub fn una(&self) -> Seq {
        self.una
    }

    /// SND.NXT: one past the last segment.
    pub fn nxt(&self) -> Seq {
        self.una + self.segments.len() as u32
    }

    /// Number of outstanding segments.
    pub fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Returns true if nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Segments reported in SACK blocks.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments deemed lost, also those that have been sent again.
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Retransmissions outstanding.
    pub fn resent(&self) -> u32 {
        self.resent
    }

    /// Segments that duplicate acknowledgements without SACK have shown to have arrived.
    pub fn inferred(&self) -> u32 {
        self.inferred
    }

    /// Counts a duplicate acknowledgement without SACK, unless only missing segments are left. Returns true if it
    /// counts.
    pub fn infer(&mut self) -> bool {
        let counts = self.inferred + self.lost.max(1) < self.len();
        self.inferred += u32::from(counts);
        counts
    }

    /// Counts this many segments no longer.
    pub fn forget_inferred(&mut self, segments: u32) {
        self.inferred = self.inferred.saturating_sub(segments);
    }

    /// Pipe: segments in the network.
    pub fn in_flight(&self) -> u32 {
        (self.len() + self.resent - self.sacked - self.lost).saturating_sub(self.inferred)
    }

    /// One past the highest segment that was reported in a SACK block.
    pub fn fack(&self) -> Seq {
        self.fack.max(self.una)
    }

    /// A segment.
    pub fn get(&self, seq: Seq) -> Option<&Segment> {
        self.segments.get(seq.checked_sub(self.una)? as usize)
    }

    fn at(&mut self, seq: Seq) -> &mut Segment {
        &mut self.segments[(seq - self.una) as usize]
    }

    /// Appends a new segment.
    pub fn push(&mut self, now: Time, mark: Mark) {
        self.sent.push_back((now, self.nxt()));
        self.segments.push_back(Segment {
            sent: now,
            mark,
            sacked: false,
            lost: false,
            resent: false,
            ever_resent: false,
        });
    }

    /// Withdraws the last segments, which never left the node.
    pub fn truncate(&mut self, nxt: Seq) {
        while self.nxt() > nxt {
            let Some(last) = self.segments.pop_back() else { return };
            self.uncount(&last);
        }
        self.fack = self.fack.min(nxt);
        self.hint = self.hint.min(nxt);
    }

    /// Counts a retransmission of a lost segment, or at a timeout of the first one, whatever was reported of it.
    pub fn resend(&mut self, seq: Seq, now: Time, mark: Mark) {
        self.resent += u32::from(!self.at(seq).resent);
        self.probe(seq, now, mark);
        self.at(seq).resent = true;
    }

    /// Notes a retransmission of a segment that is not deemed lost, and counts as one segment in the network.
    pub fn probe(&mut self, seq: Seq, now: Time, mark: Mark) {
        self.sent.push_back((now, seq));
        let segment = self.at(seq);
        segment.sent = now;
        segment.mark = mark;
        segment.ever_resent = true;
    }

    fn uncount(&mut self, segment: &Segment) {
        self.sacked -= u32::from(segment.sacked);
        self.lost -= u32::from(segment.lost);
        self.resent -= u32::from(segment.resent);
    }

    /// Removes and returns the first segment, which is acknowledged.
    pub fn pop(&mut self) -> Option<Segment> {
        let segment = self.segments.pop_front()?;
        self.uncount(&segment);
        self.una += 1;
        self.hint = self.hint.max(self.una);
        if self.segments.is_empty() {
            self.sent.clear();
        }
        Some(segment)
    }

    /// Parts of the blocks that the last acknowledgement did not have, from left to right.
    pub fn news(&mut self, blocks: &SackBlocks) -> News {
        let mut news = News::default();
        for (left, right) in blocks.iter() {
            let (left, right) = (left.max(self.una), right.min(self.nxt()));
            let known = self.known.iter().find(|k| k.0 < right && left < k.1);
            let parts = known.map_or([(left, right), (0, 0)], |k| [(left, right.min(k.0)), (left.max(k.1), right)]);
            parts.into_iter().filter(|p| p.0 < p.1).for_each(|p| news.push(p));
        }
        self.known = *blocks;
        news.sort();
        news
    }

    /// Marks a segment as reported. Returns what it was, unless that was known.
    pub fn sack(&mut self, seq: Seq) -> Option<Segment> {
        let segment = self.at(seq);
        if segment.sacked {
            return None;
        }
        let was = *segment;
        segment.sacked = true;
        // A retransmission of a segment that is no longer deemed lost is believed to be on its way.
        if segment.lost {
            segment.lost = false;
            segment.resent = false;
            self.lost -= 1;
            self.resent -= u32::from(was.resent);
        }
        self.sacked += 1;
        self.fack = self.fack.max(seq + 1);
        Some(was)
    }

    /// Marks a segment as lost, or its retransmission. Returns false if that was known.
    pub fn mark_lost(&mut self, seq: Seq) -> bool {
        let segment = &mut self.segments[(seq - self.una) as usize];
        if segment.sacked || (segment.lost && !segment.resent) {
            return false;
        }
        let (was_lost, was_resent, mark) = (segment.lost, segment.resent, segment.mark);
        segment.lost = true;
        if let Some(told) = &mut self.told {
            told.push((seq, mark));
        }
        if was_lost {
            segment.resent = false;
            self.resent -= u32::from(was_resent);
        } else {
            self.lost += 1;
        }
        self.hint = self.hint.min(seq);
        true
    }

    /// No segment is deemed lost any longer.
    pub fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|s| s.lost = false);
        self.lost = 0;
    }

    /// The transmission at this place of their order, obsolete ones skipped; `place` moves on to it.
    pub fn transmission(&self, place: &mut usize) -> Option<(Time, Seq)> {
        loop {
            let entry = *self.sent.get(*place)?;
            if self.is_in_order(entry) {
                return Some(entry);
            }
            *place += 1;
        }
    }

    /// Returns true if a transmission is the last one of a segment that is neither delivered nor waits for a
    /// retransmission.
    fn is_in_order(&self, (at, seq): (Time, Seq)) -> bool {
        self.get(seq).is_some_and(|s| s.sent == at && !s.sacked && (!s.lost || s.resent))
    }

    /// Removes obsolete transmissions at the beginning of their order.
    pub fn tidy(&mut self) {
        while self.sent.front().is_some_and(|entry| !self.is_in_order(*entry)) {
            self.sent.pop_front();
        }
    }

    /// The first segment that is deemed lost and was not sent again.
    pub fn next_lost(&mut self) -> Option<Seq> {
        if self.resent >= self.lost {
            return None;
        }
        let nxt = self.nxt();
        while self.hint < nxt {
            let s = self.get(self.hint)?;
            if s.lost && !s.resent && !s.sacked {
                return Some(self.hint);
            }
            self.hint += 1;
        }
        None
    }

    /// Returns true if the first segment has a retransmission outstanding, or had.
    pub fn any_resent(&self) -> bool {
        self.resent > 0 || self.segments.front().is_some_and(|s| s.ever_resent)
    }

    /// Memory of the queue \[B\].
    pub fn memory(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>() + self.sent.capacity() * size_of::<(Time, Seq)>()
    }
}

/// Ranges of segments, at most two for each SACK block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    ranges: [(Seq, Seq); 6],
    len: usize,
}

impl News {
    fn push(&mut self, range: (Seq, Seq)) {
        self.ranges[self.len] = range;
        self.len += 1;
    }

    fn sort(&mut self) {
        self.ranges[..self.len].sort_unstable();
    }

    /// The segments in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Seq> + use<> {
        self.ranges.into_iter().take(self.len).flat_map(|(left, right)| left..right)
    }
}
