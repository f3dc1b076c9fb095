//! A split connection (I-TCP; Bakre and Badrinath, ICDCS 1995): a node on the way ends the connection of the source,
//! acknowledges segments as soon as they are in its buffer, and sends them on over a connection of its own.

use super::Out;
use super::config::Config;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::packet::{AckSegment, DataSegment, Ecn, Fin, FlowId, Seq};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use std::collections::VecDeque;

/// Both halves of a split connection, and the buffer between them.
#[derive(Clone, Debug)]
pub struct Split {
    receiver: Receiver,
    sender: Sender,
    /// Capacity of the buffer, which holds segments that are not yet acknowledged on the second half.
    room: Seq,
    /// SYNs of the two halves, by which their numbers of the same segment differ from its place in the data.
    syn: (Seq, Seq),
    /// Send times at the source of the segments that the buffer may hold, by their place in the data.
    born: Vec<Time>,
    /// Send times at the source of its SYN and its FIN, once they have arrived; their numbers are not in the data.
    born_ends: [Option<Time>; 2],
    /// Short segments that have arrived and are not yet passed on, by their place in the data.
    short: VecDeque<Seq>,
    from_receiver: Vec<Out>,
}

impl Split {
    /// Halves with these settings; the first is that of the source. `phase` is that of the clock of the second sender.
    pub fn new(first: &Config, second: &Config, room: u32, phase: Span, flow: FlowId) -> Split {
        let mut receiver = Receiver::of_relay(first);
        let syn = (Seq::from(first.starts_with_syn()), Seq::from(second.starts_with_syn()));
        receiver.open_to(room + syn.0, &mut vec![]);
        Split {
            receiver,
            sender: Sender::at_node(second, phase, flow),
            room,
            syn,
            born: vec![Time::ZERO; room as usize],
            born_ends: [None; 2],
            short: VecDeque::new(),
            from_receiver: Vec::with_capacity(4),
        }
    }

    /// Lets the congestion control of the second sender draw random times from this stream.
    pub fn draw_from(&mut self, stream: impl FnOnce() -> Stream) {
        self.sender.draw_from(stream);
    }

    /// Processes a segment from the source, with this ECN field. After the second half was given up, the first half is
    /// no longer acknowledged, so that the source gives up, too.
    pub fn on_segment(&mut self, segment: &DataSegment, hops: u8, ecn: Ecn, now: Time, out: &mut Vec<Out>) {
        if segment.is_fin_ack() {
            return self.receiver.on_segment(segment, hops, ecn, now, out);
        }
        if self.sender.gave_up().is_some() {
            return;
        }
        if segment.control.is_some() {
            // It carries no data.
        } else if segment.syn && !self.receiver.has(segment.seq) {
            self.born_ends[0] = Some(segment.born);
            // The second half opens with the first.
            self.sender.write(Some(0), now);
        } else if !self.receiver.has(segment.seq) && segment.seq < self.edge() {
            let place = segment.seq - self.syn.0;
            self.born[(place % self.room) as usize] = segment.born;
            if segment.fin != Fin::No {
                self.born_ends[1] = Some(segment.born);
            }
            if segment.missing > 0 {
                let at = self.short.partition_point(|other| *other < place);
                self.short.insert(at, place);
            }
        }
        self.receiver.on_segment(segment, hops, ecn, now, &mut self.from_receiver);
        self.pass_on(now, out);
    }

    /// Routing has found the route of the second half broken.
    pub fn on_route_lost(&mut self, now: Time) {
        self.sender.on_route_lost(now);
    }

    /// A queue on the second half has marked or dropped a segment, and tells so.
    pub fn on_source_quench(&mut self, seq: Seq, now: Time) {
        self.sender.on_source_quench(seq, now);
    }

    /// The packet of this segment of the second half has left this node, or was dropped here, perhaps by the full
    /// queue.
    pub fn on_left(&mut self, seq: Seq, refused: bool, now: Time) {
        self.sender.on_left(seq, refused, now);
    }

    /// A packet of the second half is passed to an 802.11 radio of this node.
    pub fn on_radio(&mut self) {
        self.sender.on_radio();
    }

    /// The full queue of this node has dropped a segment of the second half.
    pub fn on_local_drop(&mut self, segment: &DataSegment, now: Time) {
        self.sender.on_local_drop(segment, now);
    }

    /// The acknowledgement of the second half that arrives next was sent at this time.
    pub fn note_sent(&mut self, sent: Time) {
        self.sender.note_sent(sent);
    }

    /// An acknowledgement of the second half.
    pub fn on_ack(&mut self, ack: &AckSegment, hops: u8, now: Time, out: &mut Vec<Out>) {
        self.sender.on_ack(ack, hops, now);
        let edge = self.edge();
        self.receiver.open_to(edge, &mut self.from_receiver);
        self.pass_on(now, out);
    }

    /// One past the last segment of the source for which there is room.
    fn edge(&self) -> Seq {
        self.sender.connection().una().saturating_sub(self.syn.1) + self.room + self.syn.0
    }

    /// Time of the next call of either half.
    pub fn deadline(&self) -> Time {
        self.receiver.deadline().min(self.sender.deadline())
    }

    /// A timer of one of the halves expires.
    pub fn on_deadline(&mut self, now: Time, out: &mut Vec<Out>) {
        if self.receiver.deadline() <= now {
            self.receiver.on_deadline(now, &mut self.from_receiver);
        }
        if self.sender.deadline() <= now {
            self.sender.on_deadline(now);
        }
        self.pass_on(now, out);
    }

    /// Passes segments delivered by the first half to the second, and appends the other actions of both to `out`.
    fn pass_on(&mut self, now: Time, out: &mut Vec<Out>) {
        for said in self.from_receiver.drain(..) {
            match said {
                Out::Deliver { mut segments } => {
                    let mut written = self.sender.written().unwrap_or(0);
                    while let Some(place) = self.short.pop_front_if(|place| *place < written + segments) {
                        let whole = place + 1 - written;
                        self.sender.write_whole(Some(whole), true, now);
                        (written, segments) = (place + 1, segments - whole);
                    }
                    if segments > 0 {
                        self.sender.write(Some(segments), now);
                    }
                }
                said => out.push(said),
            }
        }
        if self.receiver.has_ended() {
            self.sender.finish(now);
        }
        let (syn, room, born, ends) = (self.syn.1, self.room, &self.born, self.born_ends);
        out.extend(self.sender.drain().map(|said| match said {
            Out::Segment(s) if !s.has_no_payload() => {
                Out::Segment(DataSegment { born: born[((s.seq - syn) % room) as usize], ..s })
            }
            // This node was the first to send segments that are not of the first half.
            Out::Segment(s) if s.control.is_none() => {
                Out::Segment(DataSegment { born: ends[usize::from(!s.syn)].unwrap_or(s.born), ..s })
            }
            said => said,
        }));
    }

    /// Segments in the buffer, those that arrived out of order not counted.
    pub fn held(&self) -> u32 {
        let received = self.receiver.next().saturating_sub(self.syn.0);
        received - self.sender.connection().una().saturating_sub(self.syn.1)
    }

    /// The sender of the second half.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SackBlocks;
    use crate::tcp::InitialWindow;
    use crate::tcp::ack::Policy;

    const ROOM: u32 = 4;

    /// Acknowledgements (next, window) and segments (with the time of birth [ms]).
    type Said = (Vec<(Seq, u32)>, Vec<(Seq, u64)>);

    struct Halves {
        split: Split,
        now: Time,
    }

    impl Halves {
        fn new() -> Halves {
            let cfg =
                Config { initial_window: InitialWindow::Segments(2), ack_policy: Policy::Every, ..Config::default() };
            Halves { split: Split::new(&cfg, &cfg, ROOM, Span::ZERO, FlowId(0)), now: Time::ZERO }
        }

        fn said(&self, out: Vec<Out>) -> Said {
            let (mut acks, mut segments) = (vec![], vec![]);
            for o in out {
                match o {
                    Out::Ack(a) => acks.push((a.next, a.window)),
                    Out::Segment(s) => segments.push((s.seq, s.born.0 / 1_000_000)),
                    Out::Deliver { .. } => panic!("what is delivered stays inside"),
                }
            }
            (acks, segments)
        }

        fn segment(&mut self, seq: Seq) -> Said {
            self.now += Span::ms(10);
            let born = Time::ZERO + Span::ms(u64::from(seq));
            let segment = DataSegment { seq, sent: born, born, syn: seq == 0, ..DataSegment::default() };
            let mut out = vec![];
            self.split.on_segment(&segment, 1, Ecn::NotEct, self.now, &mut out);
            assert!(self.split.held() <= ROOM);
            self.said(out)
        }

        fn ack(&mut self, next: Seq) -> Said {
            self.now += Span::ms(10);
            let sack = SackBlocks::default();
            let ack = AckSegment { next, echo: self.now, hops: 1, window: 64, sack, ..AckSegment::default() };
            let mut out = vec![];
            self.split.on_ack(&ack, 1, self.now, &mut out);
            self.said(out)
        }
    }

    #[test]
    fn buffered_segments_are_acknowledged_and_close_the_window() {
        let mut h = Halves::new();
        // The SYN opens both halves.
        assert_eq!(h.segment(0), (vec![(1, 4)], vec![(0, 0)]));
        assert_eq!(h.segment(1), (vec![(2, 3)], vec![]), "the second half is not yet open");
        assert_eq!(h.ack(1), (vec![], vec![(1, 1)]));
        assert_eq!(h.segment(2), (vec![(3, 2)], vec![(2, 2)]));
        assert_eq!(h.segment(3), (vec![(4, 1)], vec![]), "its window is full");
        assert_eq!(h.segment(4), (vec![(5, 0)], vec![]));
        assert_eq!(h.split.held(), 4);
        // A probe finds no room; it is not taken.
        assert_eq!(h.segment(5), (vec![(5, 0)], vec![]));
        assert_eq!(h.split.held(), 4);
        // Space is available again: the source is notified once.
        assert_eq!(h.ack(2), (vec![(5, 1)], vec![(3, 3), (4, 4)]));
        assert_eq!(h.ack(3), (vec![], vec![]));
        assert_eq!(h.segment(5), (vec![(6, 1)], vec![(5, 5)]));
    }

    #[test]
    fn a_short_segment_waits_on_the_second_half_as_it_does_on_the_first() {
        let mut h = Halves::new();
        h.segment(0);
        h.ack(1);
        let mut segment = |seq, missing| {
            let (mut out, segment) = (vec![], DataSegment { seq, missing, ..DataSegment::default() });
            h.split.on_segment(&segment, 1, Ecn::NotEct, h.now, &mut out);
            out.iter().filter_map(|o| if let Out::Segment(s) = o { Some(s.seq) } else { None }).collect::<Vec<_>>()
        };
        // The short one comes before the segment below it.
        assert_eq!(segment(2, 700), [0; 0]);
        assert_eq!(segment(1, 0), [1], "the rest waits until that is acknowledged (RFC 9293, 3.7.4)");
        assert_eq!(h.ack(2).1, [(2, 0)]);
    }

    #[test]
    fn a_duplicate_repeats_the_window() {
        let mut h = Halves::new();
        h.segment(0);
        h.ack(1);
        h.segment(1);
        assert_eq!(h.segment(3).0, [(2, 3)]);
        h.ack(2);
        assert_eq!(h.segment(4).0, [(2, 3)], "there is more room, but this is a duplicate");
        assert_eq!(h.segment(2).0, [(5, 1)]);
    }

    #[test]
    fn when_the_second_half_is_given_up_the_first_hears_nothing_more() {
        let mut h = Halves::new();
        h.segment(0);
        h.ack(1);
        assert_eq!(h.segment(1), (vec![(2, 3)], vec![(1, 1)]));
        let mut said = 0;
        while h.split.sender().gave_up().is_none() {
            h.now = h.split.deadline();
            let mut out = vec![];
            h.split.on_deadline(h.now, &mut out);
            said += out.len();
        }
        assert_eq!(said, 15, "R2 of RFC 9293");
        assert_eq!(h.split.deadline(), Time::NEVER);
        assert_eq!(h.segment(2), (vec![], vec![]));
        assert_eq!(h.ack(2), (vec![], vec![]));
    }

    #[test]
    fn what_the_second_half_sends_again_keeps_its_birth() {
        let mut h = Halves::new();
        h.segment(0);
        h.ack(1);
        assert_eq!(h.segment(1).1, [(1, 1)]);
        assert_eq!(h.segment(2).1, [(2, 2)]);
        h.now = h.split.deadline();
        let mut out = vec![];
        h.split.on_deadline(h.now, &mut out);
        assert_eq!(h.said(out).1, [(1, 1)]);
        assert_eq!(h.split.sender().timeouts(), 1);
    }
}
