//! A receiver with receive offload.

use super::Receiver;
use crate::packet::{DataSegment, Ecn};
use crate::tcp::Out;
use crate::tcp::ack::interface::Arrived;
use crate::unit::Time;

impl Receiver {
    /// Passes the segments that were joined to TCP if this one does not follow them.
    #[cold]
    pub(super) fn begin_segment(&mut self, segment: &DataSegment, of_packet: (u8, Ecn), now: Time, out: &mut Vec<Out>) {
        let in_order = segment.seq == self.next;
        let precedes = |offload: &super::Offload| offload.precedes(segment, of_packet, in_order, now);
        let follows = self.offload.as_deref().is_some_and(precedes);
        if !follows || self.has(segment.seq) || self.is_beyond(segment) {
            self.end_poll(now, out);
        }
    }

    /// Joins a segment to those before it.
    #[cold]
    pub(super) fn join(
        &mut self,
        arrived: Arrived,
        segment: &DataSegment,
        of_packet: (u8, Ecn),
        now: Time,
        out: &mut Vec<Out>,
    ) {
        // Blocks are those of the segments.
        if let Some(memory) = &mut self.memory
            && self.ahead.contains(segment.seq)
        {
            memory.add(segment.seq);
        }
        if self.offload.as_mut().is_some_and(|offload| offload.join(arrived, segment, of_packet, now)) {
            self.end_poll(now, out);
        }
    }

    /// The segments that were joined reach TCP.
    pub(super) fn end_poll(&mut self, now: Time, out: &mut Vec<Out>) {
        if let Some(arrived) = self.offload.as_mut().and_then(|offload| offload.take()) {
            self.answer(&arrived, now, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Seq;
    use crate::tcp::config::Config;
    use crate::unit::{Bytes, Span};

    const MSS: Bytes = Bytes(1448);

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    fn segment(seq: Seq, sent: Time) -> DataSegment {
        DataSegment { seq, sent, born: sent, syn: seq == 0, ..DataSegment::default() }
    }

    /// An acknowledgement: its instant [us], the next segment expected, and the SACK blocks.
    type Acked = (u64, Seq, Vec<(Seq, Seq)>);

    /// Acknowledgements of segments that arrive at these instants [us] after a SYN.
    fn acks(segments: &[(u64, DataSegment, Ecn)]) -> Vec<Acked> {
        let loss_recovery = Some(crate::tcp::config::variants::Method::RackTlp);
        let (mss, header_size) = (MSS, Bytes(52));
        let cfg = Config { gro: true, timestamps: true, loss_recovery, mss, header_size, ..Config::default() };
        let (mut r, mut out, mut acks) = (Receiver::new(&cfg), vec![], vec![]);
        let mut say = |now: Time, out: &mut Vec<Out>| {
            acks.extend(out.drain(..).filter_map(|o| match o {
                Out::Ack(a) => Some((now.0 / 1000, a.next, a.sack.iter().collect())),
                _ => None,
            }));
        };
        let syn = (0, segment(0, Time::ZERO), Ecn::NotEct);
        for &(us, ref segment, ecn) in std::iter::once(&syn).chain(segments) {
            while r.deadline() < at(us) {
                let now = r.deadline();
                r.on_deadline(now, &mut out);
                say(now, &mut out);
            }
            r.on_segment(segment, 1, ecn, at(us), &mut out);
            say(at(us), &mut out);
        }
        while r.deadline() < Time::NEVER {
            let now = r.deadline();
            r.on_deadline(now, &mut out);
            say(now, &mut out);
        }
        acks.remove(0);
        acks
    }

    /// Segments that arrive at an instant.
    fn poll(us: u64, seqs: impl Iterator<Item = Seq>) -> Vec<(u64, DataSegment, Ecn)> {
        seqs.map(|seq| (us, segment(seq, at(500)), Ecn::NotEct)).collect()
    }

    #[test]
    fn segments_of_an_aggregate_have_one_acknowledgement() {
        assert_eq!(acks(&poll(1000, 1..29)), [(1000, 29, vec![])]);
        // Two polls; a single segment waits 200 ms for another one.
        assert_eq!(acks(&[poll(1000, 1..6), poll(1500, 6..7)].concat()), [(1000, 6, vec![]), (201_500, 7, vec![])]);
        // 45 * 1448 + 52 B are less than 64 KiB.
        assert_eq!(acks(&poll(1000, 1..48)), [(1000, 46, vec![]), (1000, 48, vec![])]);
    }

    #[test]
    fn different_headers_are_not_joined() {
        let mut segments = poll(1000, 1..13);
        segments[1].1.push = true;
        // Sent in the next millisecond, and answering a later acknowledgement.
        segments[4..].iter_mut().for_each(|s| s.1.sent = at(1000));
        segments[6..].iter_mut().for_each(|s| s.1.echo = at(1200));
        segments[8..].iter_mut().for_each(|s| s.2 = Ecn::Ect);
        segments[11].1.missing = 100;
        let next = [3, 5, 7, 9, 13].map(|next| (1000, next, vec![]));
        assert_eq!(acks(&segments), next);
    }

    #[test]
    fn a_run_above_a_hole_has_one_duplicate_acknowledgement() {
        let holes = [poll(1000, 1..3), poll(2000, 5..9), poll(3000, 3..5), poll(4000, 12..14)].concat();
        let expected = [(1000, 3, vec![]), (2000, 3, vec![(5, 9)]), (3000, 9, vec![]), (4000, 9, vec![(12, 14)])];
        assert_eq!(acks(&holes), expected);
    }
}
