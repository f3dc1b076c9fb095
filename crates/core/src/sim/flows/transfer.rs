//! Transfers: amount of data written by the application of a flow, sizes of short segments, messages, and time of
//! completion.

use super::{Ends, Flow};
use crate::packet::{DataSegment, Seq};
use crate::record::short_flows::ShortFlows;
use crate::unit::{Bytes, Time};
use std::collections::VecDeque;

/// An undelivered message.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Number of segments written up to and including its last one.
    written: Seq,
    /// Number of its record.
    record: u32,
    /// Retransmissions and timeouts of the sender before it was written.
    before: (u64, u64),
}

/// Progress of the data that a flow has to carry.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Start of the transfer; NEVER before that.
    pub began: Time,
    /// Delivery of the last packet.
    delivered_at: Time,
    /// Delivery of all data; NEVER before that.
    completed: Time,
    /// Payload of a packet.
    payload: Bytes,
    /// Segments that are shorter than the others and may still be sent: number of segments written up to and including
    /// each, and the bytes by which it is shorter.
    short: VecDeque<(Seq, u32)>,
    /// Number of those that have been delivered, the first ones.
    passed: usize,
    /// Undelivered messages; boxed, because most flows have none.
    messages: Option<Box<Messages>>,
    /// Short segments or messages are not delivered yet.
    looks: bool,
    /// Bytes by which delivered segments were shorter, in total.
    missed: u64,
}

/// Undelivered messages in the order in which they were written.
#[derive(Clone, Debug, Default)]
struct Messages(VecDeque<Message>);

impl Transfer {
    pub fn new(payload: Bytes) -> Transfer {
        Transfer {
            began: Time::NEVER,
            delivered_at: Time::ZERO,
            completed: Time::NEVER,
            payload,
            short: VecDeque::new(),
            passed: 0,
            messages: None,
            looks: false,
            missed: 0,
        }
    }

    fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().flat_map(|messages| &messages.0)
    }

    /// Takes the first message, if it is among the packets that have been delivered.
    fn next_message(&mut self, delivered: u64) -> Option<Message> {
        self.messages.as_mut()?.0.pop_front_if(|m| u64::from(m.written) <= delivered)
    }

    /// The application begins, or begins again.
    pub fn begin(&mut self, now: Time) {
        (self.began, self.completed) = (now, Time::NEVER);
    }

    /// Resets the transfer to the state before its start.
    pub fn rest(&mut self) {
        self.begin(Time::NEVER);
    }

    /// Segments have been written, of which the last one is shorter by `missing` bytes; `written` is the number of all
    /// written by now.
    pub fn on_written(&mut self, written: Option<Seq>, missing: u32) {
        if let (Some(written), true) = (written, missing > 0) {
            self.short.push_back((written, missing));
            self.looks = true;
        }
    }

    /// A message has been written, whose record has this number, after these retransmissions and timeouts of the
    /// sender.
    pub fn on_message(&mut self, written: Option<Seq>, record: u32, before: (u64, u64)) {
        if let Some(written) = written {
            self.messages.get_or_insert_default().0.push_back(Message { written, record, before });
            self.looks = true;
        }
    }

    /// The sender is closed and will send only these segments.
    pub fn on_closed(&mut self, written: Seq) {
        self.short.retain(|s| s.0 <= written);
        if let Some(messages) = &mut self.messages {
            messages.0.retain(|m| m.written <= written);
        }
    }

    /// Start of the transfer, if it has begun.
    pub fn began(&self) -> Option<Time> {
        (self.began < Time::NEVER).then_some(self.began)
    }

    /// Time of completion, if complete.
    pub fn completed(&self) -> Option<Time> {
        (self.completed < Time::NEVER).then_some(self.completed)
    }

    /// Bytes by which a segment is shorter than the others.
    #[inline]
    pub fn missing_of(&mut self, segment: &DataSegment, with_syn: bool) -> u32 {
        let number = segment.seq + 1 - Seq::from(with_syn);
        if segment.missing > 0 {
            self.note_cut(number, segment);
            return segment.missing;
        }
        if self.short.is_empty() { 0 } else { self.missing_of_number(number) }
    }

    /// Notes a short segment of a source that writes in pieces, when it is sent for the first time.
    #[cold]
    fn note_cut(&mut self, number: Seq, segment: &DataSegment) {
        if !segment.retransmission && self.short.back().is_none_or(|s| s.0 < number) {
            self.on_written(Some(number), segment.missing);
        }
    }

    #[cold]
    fn missing_of_number(&self, number: Seq) -> u32 {
        self.short.binary_search_by_key(&number, |s| s.0).map_or(0, |i| self.short[i].1)
    }

    /// Accounts for short segments among the delivered ones, and forgets those that are acknowledged: until then they
    /// may be sent again.
    fn pass_short(&mut self, delivered: u64, acknowledged: u64) {
        while let Some(&(_, missing)) = self.short.get(self.passed).filter(|s| u64::from(s.0) <= delivered) {
            self.missed += u64::from(missing);
            self.passed += 1;
        }
        while self.passed > 0 && self.short.pop_front_if(|s| u64::from(s.0) <= acknowledged).is_some() {
            self.passed -= 1;
        }
    }

    /// Payload of all packets that have been delivered, given their number \[B\].
    pub fn bytes(&self, delivered: u64) -> u64 {
        delivered * u64::from(self.payload.0) - self.missed
    }
}

impl Flow {
    /// Number of packets that the application has written; `None` if unlimited.
    pub fn written(&self) -> Option<u64> {
        match &self.ends {
            Ends::Tcp(ends) => ends.sender.written().map(u64::from),
            Ends::Udp { sent, .. } => Some(*sent),
        }
    }

    fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.receiver.counters().packets_delivered,
            Ends::Udp { sink, .. } => sink.counters().delivered,
        }
    }

    /// Tells if all data that the flow will ever send have been delivered.
    fn is_complete(&self) -> bool {
        let delivered = self.delivered();
        self.app.is_over() && delivered > 0 && self.written() == Some(delivered)
    }

    /// Packets have been delivered.
    #[inline]
    pub fn on_delivery(&mut self, now: Time, records: &mut ShortFlows) {
        let delivered = self.delivered();
        self.transfer.delivered_at = now;
        if self.transfer.looks {
            self.pass(delivered, now, records);
        }
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = now;
            self.routes.end(now);
        }
    }

    /// Accounts for short segments and messages among the packets that have been delivered by now.
    #[cold]
    fn pass(&mut self, delivered: u64, now: Time, records: &mut ShortFlows) {
        let acknowledged = match &self.ends {
            Ends::Tcp(ends) => {
                let second = self.split.as_ref().map_or(u64::MAX, |s| s.halves.sender().connection().acknowledged());
                ends.sender.connection().acknowledged().min(second)
            }
            Ends::Udp { .. } => u64::MAX,
        };
        self.transfer.pass_short(delivered, acknowledged);
        while let Some(message) = self.transfer.next_message(delivered) {
            records.get_mut(message.record).completed = Some(now);
            self.note_message(&message, records);
        }
        self.transfer.looks =
            self.transfer.passed < self.transfer.short.len() || self.transfer.messages().next().is_some();
    }

    /// Counts retransmissions and timeouts in the records of messages that are under way.
    pub fn note_messages(&self, records: &mut ShortFlows) {
        self.transfer.messages().for_each(|message| self.note_message(message, records));
    }

    fn note_message(&self, message: &Message, records: &mut ShortFlows) {
        let Ends::Tcp(ends) = &self.ends else { return };
        let (record, before) = (records.get_mut(message.record), message.before);
        record.retransmissions = (ends.sender.retransmissions() - before.0) as u32;
        record.timeouts = (ends.sender.timeouts() - before.1) as u32;
    }

    /// The application has ended. With `takes_back`, TCP discards the data that it has not sent.
    pub fn on_end_of_application(&mut self, takes_back: bool, now: Time) {
        if let (Ends::Tcp(ends), true) = (&mut self.ends, takes_back) {
            ends.sender.close(now);
            self.transfer.on_closed(ends.sender.written().unwrap_or(0));
            self.time.on_event(now, ends.sender.phase());
        }
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = self.transfer.delivered_at;
            self.routes.end(now);
        }
    }
}
