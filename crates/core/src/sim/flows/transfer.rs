//! Transfers: amount of data written by the application of a flow, sizes of short segments, messages, and time of
//! completion.

use crate::packet::{DataSegment, Seq};
use crate::unit::{Bytes, Time};
use std::collections::VecDeque;

/// An undelivered message.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Number of segments written up to and including its last one.
    written: Seq,
    /// Number of its record.
    pub record: u32,
    /// Retransmissions and timeouts of the sender before it was written.
    pub before: (u64, u64),
}

/// Progress of the data that a flow has to carry.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Start of the transfer; NEVER before that.
    pub began: Time,
    /// Delivery of the last packet.
    pub delivered_at: Time,
    /// Delivery of all data; NEVER before that.
    pub completed: Time,
    /// Payload of a packet.
    payload: Bytes,
    /// Segments that are shorter than the others and may still be sent: number of segments written up to and including
    /// each, and the bytes by which it is shorter.
    pub short: VecDeque<(Seq, u32)>,
    /// Number of those that have been delivered, the first ones.
    pub passed: usize,
    /// Undelivered messages; boxed, because most flows have none.
    messages: Option<Box<Messages>>,
    /// Short segments or messages are not delivered yet.
    pub looks: bool,
    /// Bytes by which delivered segments were shorter, in total. Where the driver of an external flow tells what the
    /// application has read, payloads count 0 and these bytes less than 0: a flow needs no memory for it.
    missed: i64,
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

    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().flat_map(|messages| &messages.0)
    }

    /// Takes the first message, if it is among the packets that have been delivered.
    pub fn next_message(&mut self, delivered: u64) -> Option<Message> {
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
    pub fn pass_short(&mut self, delivered: u64, acknowledged: u64) {
        while let Some(&(_, missing)) = self.short.get(self.passed).filter(|s| u64::from(s.0) <= delivered) {
            self.missed += i64::from(missing);
            self.passed += 1;
        }
        while self.passed > 0 && self.short.pop_front_if(|s| u64::from(s.0) <= acknowledged).is_some() {
            self.passed -= 1;
        }
    }

    /// Accounts for a datagram that has been delivered and may be shorter than others.
    pub fn pass_datagram(&mut self, payload: u32) {
        self.missed += i64::from(self.payload.0.saturating_sub(payload));
    }

    /// The application has read bytes, which count from the first call on.
    pub fn read(&mut self, bytes: u64) {
        if self.payload != Bytes(0) {
            (self.payload, self.missed) = (Bytes(0), 0);
        }
        self.missed -= bytes as i64;
    }

    /// Payload of all packets that have been delivered, given their number, or what the application has read \[B\].
    pub fn bytes(&self, delivered: u64) -> u64 {
        (delivered * u64::from(self.payload.0)).wrapping_sub(self.missed as u64)
    }
}
