//! The receiving end of a connection.

pub mod reader;
pub mod receive_buffer;
pub(super) mod sack_memory;

mod closing;
mod fin;
mod offload;
mod polls;
mod reading;

use super::ack::interface::{AckWhen, Arrived};
use super::ack::{AckPolicy, thinning};
use super::config::Config;
use super::config::handshake::SynEcho;
use super::counters::{Counters, Sums};
use super::sender::scoreboard::Ranges;
use super::{Out, ecn};
use crate::packet::{AckSegment, DataSegment, Ecn, Fin, Flag, SackBlocks, Seq};
use crate::unit::{Span, Time};
use closing::Closing;
use offload::Offload;
use reader::Reader;
use receive_buffer::ReceiveBuffer;
use sack_memory::SackMemory;

/// Buffer of a receiver, and the application that reads it.
#[derive(Clone, Debug)]
struct Room {
    buffer: ReceiveBuffer,
    reader: Reader,
    /// Time of the next read; [`Time::NEVER`]: all data are read.
    reads_at: Time,
}

impl Room {
    /// The buffer of a receiver with these settings; `None`: neither buffer nor application changes the window.
    fn of(cfg: &Config) -> Option<Box<Room>> {
        let limits = cfg.receive_buffer.enabled || cfg.reader.limits();
        limits.then(|| Box::new(Room { buffer: cfg.buffer(), reader: Reader::new(&cfg.reader), reads_at: Time::NEVER }))
    }
}

/// Receiver of a TCP connection: reassembly and acknowledgements.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// RCV.NXT: next expected segment.
    next: Seq,
    /// Segments that arrived out of order.
    ahead: Ranges,
    policy: AckPolicy,
    /// In-order segments not yet acknowledged.
    held: u32,
    /// Segments of any kind since the last acknowledgement.
    unacknowledged: u32,
    /// Deadline of the pending acknowledgement.
    timer: Time,
    /// Send time to be echoed.
    echo: Time,
    /// Hops of the last segment.
    hops: u8,
    ecn: ecn::Echo,
    sack: bool,
    /// Duplicates are reported in SACK blocks (RFC 2883).
    dsack: bool,
    /// The duplicate to report; [`Seq::MAX`]: none.
    duplicate: Seq,
    syn: bool,
    /// The answer to a SYN that came several times echoes the first one.
    echoes_first_syn: bool,
    /// The segment with the FIN; [`Seq::MAX`]: it has not arrived.
    fin: (Seq, Fin),
    /// The receiver's own end, if it is closed after that of the source.
    closing: Option<Box<Closing>>,
    /// A segment other than a SYN has arrived.
    established: bool,
    /// The next acknowledgement is a SYN-ACK.
    answering: bool,
    /// Window offered without a limit by the application.
    window: u32,
    /// One past the last segment for which there is room; [`Seq::MAX`]: room is not limited.
    edge: Seq,
    /// Buffer that limits the window, with the application that reads it; `None`: neither changes the window.
    room: Option<Box<Room>>,
    /// Segments that reach TCP together; `None`: each one by itself.
    offload: Option<Box<Offload>>,
    /// Content of the last acknowledgement: the segment expected and the window.
    last_ack: Option<(Seq, u32)>,
    /// The most recent blocks, the newest first.
    recent: SackBlocks,
    /// Blocks of a receiver that does not look them up among all segments.
    memory: Option<Box<SackMemory>>,
    counters: Counters,
    sums: Sums,
}

impl Receiver {
    /// A receiver that expects segment 0.
    pub fn new(cfg: &Config) -> Receiver {
        Receiver {
            next: 0,
            ahead: Ranges::for_window(cfg.receive_window),
            policy: AckPolicy::new(cfg),
            held: 0,
            unacknowledged: 0,
            timer: Time::NEVER,
            echo: Time::ZERO,
            hops: 0,
            ecn: ecn::Echo::new(&cfg.ecn, cfg.starts_with_syn()),
            sack: cfg.sack_permitted(),
            dsack: cfg.reports_duplicates(),
            duplicate: Seq::MAX,
            syn: cfg.starts_with_syn(),
            echoes_first_syn: cfg.handshake.echo == SynEcho::First,
            fin: (Seq::MAX, Fin::No),
            closing: Closing::of(cfg),
            established: false,
            answering: false,
            window: cfg.receive_window,
            edge: Seq::MAX,
            room: Room::of(cfg),
            offload: Offload::of(cfg),
            last_ack: None,
            recent: SackBlocks::default(),
            memory: cfg.remembers_blocks().then(Box::default),
            counters: Counters::default(),
            sums: Sums::default(),
        }
    }

    /// A segment arrives after `hops` hops, with this ECN field.
    pub fn on_segment(&mut self, segment: &DataSegment, hops: u8, ecn: Ecn, now: Time, out: &mut Vec<Out>) {
        let seq = segment.seq;
        if self.offload.is_some() {
            self.begin_segment(segment, (hops, ecn), now, out);
        }
        // A sender of data has received the answer to its SYN: a later copy of the SYN requests nothing, and its
        // acknowledgement is one like any other (RFC 9293, 3.10.7.4).
        self.established |= !segment.syn;
        self.answering = segment.syn && !self.established;
        if segment.is_probe() {
            return self.answer_probe(segment, hops, out);
        }
        if self.closing.is_some() && self.note_in_closing(segment, now) {
            return;
        }
        self.counters.marks_received += u64::from(self.ecn.on_segment(segment, ecn, self.next, self.answering));
        self.hops = hops;
        self.counters.copies_received += 1;
        self.sums.copies_hops += u64::from(hops);
        let delay = now.since(segment.born).0;
        self.sums.copies_delay_ns += delay;
        if self.is_beyond(segment) {
            // A probe for which there is no room yet.
            return self.acknowledge(seq, out);
        }
        let duplicate = self.has(seq);
        if duplicate {
            self.counters.duplicates_received += 1;
            self.duplicate = if self.dsack { seq } else { Seq::MAX };
        } else {
            self.sums.delay_ns += delay;
            self.sums.delay_samples += 1;
        }
        let keeps_echo = self.answering && duplicate && self.echoes_first_syn;
        if segment.sent >= self.echo && seq <= self.next && !keeps_echo {
            self.echo = segment.sent;
        }
        if segment.fin != Fin::No {
            self.fin = (seq, segment.fin);
        }
        let fills_gap = seq < self.ahead.end();
        let in_order = seq == self.next;
        let before = self.next;
        self.take(seq, out);
        let buffer = if self.room.is_some() { self.put_into_buffer(segment, self.next - before, now) } else { None };
        self.held += u32::from(in_order);
        self.unacknowledged += 1;
        let arrived = Arrived {
            seq,
            in_order,
            fills_gap,
            duplicate,
            last_again: seq + 1 == before,
            held: self.held,
            unacknowledged: self.unacknowledged,
            syn: segment.syn,
            fin: segment.fin,
            push: segment.push,
            buffer,
        };
        if self.offload.is_some() {
            self.join(arrived, segment, (hops, ecn), now, out);
        } else {
            self.answer(&arrived, now, out);
        }
    }

    /// Acknowledges a segment now or later; the application may read it, or close its end.
    #[inline]
    fn answer(&mut self, arrived: &Arrived, now: Time, out: &mut Vec<Out>) {
        match self.policy.on_segment(arrived) {
            AckWhen::Now => self.acknowledge(arrived.seq, out),
            AckWhen::Within(span) => self.timer = self.timer.min(now + span),
            AckWhen::WithinTicks { span, tick } => self.wait_in_ticks((span, tick), now, arrived.seq, out),
        }
        if self.room.is_some() {
            self.read(now, out);
        }
        if self.closing.is_some() {
            self.close(now, out);
        }
    }

    /// Holds an acknowledgement, by a clock with ticks.
    #[cold]
    fn wait_in_ticks(&mut self, (span, tick): (Span, Span), now: Time, seq: Seq, out: &mut Vec<Out>) {
        let (tick, ticks) = (tick.0, span.0 / tick.0);
        let at = now.0 / tick;
        if self.timer == Time::NEVER {
            self.timer = Time((at + ticks + 1) * tick);
        } else if self.timer.0 / tick <= at + ticks / 4 + 1 {
            self.acknowledge(seq, out);
        }
    }

    /// A header without data, which asks for an acknowledgement.
    #[cold]
    fn answer_probe(&mut self, probe: &DataSegment, hops: u8, out: &mut Vec<Out>) {
        self.hops = hops;
        self.echo = self.echo.max(probe.sent);
        self.acknowledge(self.next.saturating_sub(1), out);
    }

    fn take(&mut self, seq: Seq, out: &mut Vec<Out>) {
        if seq < self.next {
            return;
        }
        self.ahead.insert(seq, seq + 1);
        if let Some((_, end)) = self.ahead.range_of(self.next) {
            let syn = u32::from(self.syn && self.next == 0);
            let (fin, kind) = self.fin;
            let fin = u32::from(kind == Fin::Bare && (self.next..end).contains(&fin));
            let segments = end - self.next - syn - fin;
            self.next = end;
            self.ahead.remove_below(end);
            if self.room.is_none() {
                self.deliver(segments, out);
            }
        }
    }

    /// Hands segments to the application.
    fn deliver(&mut self, segments: u32, out: &mut Vec<Out>) {
        self.counters.packets_delivered += u64::from(segments);
        if segments > 0 {
            out.push(Out::Deliver { segments });
        }
    }

    fn acknowledge(&mut self, trigger: Seq, out: &mut Vec<Out>) {
        let flag = if std::mem::take(&mut self.answering) { Flag::Syn } else { Flag::No };
        self.acknowledge_with(flag, trigger, out);
    }

    fn acknowledge_with(&mut self, flag: Flag, trigger: Seq, out: &mut Vec<Out>) {
        self.held = 0;
        self.unacknowledged = 0;
        self.timer = Time::NEVER;
        let sack = if self.sack { self.blocks(trigger) } else { SackBlocks::default() };
        let ece = self.ecn.flag();
        let (next, window) = (self.next, self.offer());
        self.last_ack = Some((next, window));
        out.push(Out::Ack(AckSegment { next, echo: self.echo, hops: self.hops, window, eln: false, sack, flag, ece }));
    }

    /// Window to offer now. A duplicate repeats the last offer, so that the sender recognizes it (RFC 5681, 2).
    fn offer(&mut self) -> u32 {
        if let Some(room) = &mut self.room {
            return room.buffer.offer().min(self.window);
        }
        match self.last_ack {
            _ if self.edge == Seq::MAX => self.window,
            Some((next, window)) if next == self.next => window,
            _ => (self.edge - self.next).min(self.window),
        }
    }

    /// Limits the room to segments below `edge`. Sends a window update after an offer of zero.
    pub fn open_to(&mut self, edge: Seq, out: &mut Vec<Out>) {
        self.edge = edge;
        if self.last_ack == Some((self.next, 0)) && edge > self.next {
            self.last_ack = None;
            self.acknowledge(self.next, out);
        }
    }

    /// Sets the window to offer from the next acknowledgement on.
    pub fn set_window(&mut self, segments: u32) {
        self.window = segments;
        if let Some(room) = &mut self.room {
            room.buffer.set_segments(segments);
        }
    }

    /// Changes the number of segments that one delayed acknowledgement may cover.
    pub fn set_acked_segments(&mut self, segments: u32) {
        if let AckPolicy::Delayed(policy) = &mut self.policy {
            policy.set_segments(segments);
        }
    }

    /// Changes the settings of ACK thinning from the next segment on.
    pub fn change_thinning(&mut self, change: impl FnOnce(&mut thinning::Config)) {
        if let AckPolicy::Thinning(policy) = &mut self.policy {
            change(policy.config());
        }
    }

    /// Returns true if a segment has arrived.
    pub fn has(&self, seq: Seq) -> bool {
        seq < self.next || self.ahead.contains(seq)
    }

    /// Returns true if everything up to the FIN has arrived.
    pub fn has_ended(&self) -> bool {
        self.next > self.fin.0
    }

    /// RCV.NXT: the next expected segment.
    pub fn next(&self) -> Seq {
        self.next
    }

    /// RFC 2018, section 4: the first block holds the segment that triggered the acknowledgement, the others are the
    /// most recent ones.
    fn blocks(&mut self, trigger: Seq) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let duplicate = std::mem::replace(&mut self.duplicate, Seq::MAX);
        if duplicate < Seq::MAX {
            blocks.push(duplicate, duplicate + 1);
        }
        if let Some(memory) = &mut self.memory {
            if trigger > self.next && self.ahead.contains(trigger) {
                memory.add(trigger);
            }
            memory.remove_below(self.next);
            memory.iter().for_each(|(left, right)| blocks.push(left, right));
            return blocks;
        }
        if let Some((left, right)) = self.ahead.range_of(trigger) {
            blocks.push(left, right);
        }
        for (left, _) in self.recent.iter() {
            // An older block may have grown, or have been acknowledged.
            if let Some(block) = self.ahead.range_of(left.max(self.next))
                && !blocks.iter().any(|b| b == block)
            {
                blocks.push(block.0, block.1);
            }
        }
        self.recent = blocks;
        if duplicate < Seq::MAX {
            self.recent = SackBlocks::default();
            blocks.iter().skip(1).for_each(|(left, right)| self.recent.push(left, right));
        }
        blocks
    }

    /// Time of the next call of `on_deadline`.
    #[inline]
    pub fn deadline(&self) -> Time {
        let reads_at = self.room.as_ref().map_or(Time::NEVER, |room| room.reads_at);
        let closes_at = self.closing.as_ref().map_or(Time::NEVER, |closing| closing.deadline());
        let poll_ends = self.offload.as_ref().map_or(Time::NEVER, |offload| offload.deadline());
        self.timer.min(reads_at).min(closes_at).min(poll_ends)
    }

    /// Segments that were joined reach TCP, the application reads or closes its end, or the acknowledgement that was held
    /// is sent.
    pub fn on_deadline(&mut self, now: Time, out: &mut Vec<Out>) {
        if self.offload.is_some() {
            self.end_poll(now, out);
        }
        if self.room.is_some() {
            self.read(now, out);
        }
        if self.closing.is_some() {
            self.close(now, out);
        }
        if self.timer <= now {
            self.acknowledge(self.next.saturating_sub(1), out);
        }
    }

    /// Memory of the segments that arrived out of order \[B\].
    pub fn memory(&self) -> usize {
        self.ahead.memory()
    }

    /// Counters of the receiver.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Sums of delays and hops.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::ack::Policy;
    use crate::tcp::config::variants::Variant;

    fn segment(seq: Seq) -> DataSegment {
        DataSegment { seq, syn: seq == 0, ..DataSegment::default() }
    }

    fn acks(cfg: &Config, seqs: &[Seq]) -> Vec<(Seq, Vec<(Seq, Seq)>)> {
        let mut r = Receiver::new(cfg);
        let mut out = vec![];
        for &seq in seqs {
            r.on_segment(&segment(seq), 1, Ecn::NotEct, Time::ZERO, &mut out);
        }
        let ack = |o: &Out| match o {
            Out::Ack(a) => Some((a.next, a.sack.iter().collect())),
            _ => None,
        };
        out.iter().filter_map(ack).collect()
    }

    #[test]
    fn the_first_sack_block_holds_the_segment_that_triggered_it() {
        let cfg = Config { variant: Variant::Sack, ack_policy: Policy::Every, ..Config::default() };
        assert_eq!(
            acks(&cfg, &[0, 1, 3, 5, 6, 8, 10, 2]),
            [
                (1, vec![]),
                (2, vec![]),
                (2, vec![(3, 4)]),
                (2, vec![(5, 6), (3, 4)]),
                (2, vec![(5, 7), (3, 4)]),
                (2, vec![(8, 9), (5, 7), (3, 4)]),
                (2, vec![(10, 11), (8, 9), (5, 7)]),
                (4, vec![(10, 11), (8, 9), (5, 7)]),
            ]
        );
    }

    #[test]
    fn the_syn_is_not_delivered_and_duplicates_are_counted() {
        let mut r = Receiver::new(&Config { ack_policy: Policy::Every, ..Config::default() });
        let mut out = vec![];
        for seq in [0, 1, 1, 3, 2] {
            r.on_segment(&segment(seq), 1, Ecn::NotEct, Time::ZERO, &mut out);
        }
        let acks = out.iter().filter(|o| matches!(o, Out::Ack(_))).count();
        assert_eq!((r.counters().packets_delivered, r.counters().duplicates_received, acks), (3, 1, 5));
    }
}
