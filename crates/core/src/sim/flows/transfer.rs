//! Transfers: amount of data written by the application of a flow, size of the last segment, and time of completion.

use super::{Ends, Flow};
use crate::packet::{DataSegment, Seq};
use crate::unit::{Bytes, Time};
use std::collections::VecDeque;

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
    /// Undelivered segments that are shorter than the others: number of segments written up to and including each, and
    /// the bytes by which it is shorter.
    short: VecDeque<(Seq, u32)>,
    /// Bytes by which delivered segments were shorter, in total.
    missed: u64,
}

impl Transfer {
    pub fn new(payload: Bytes) -> Transfer {
        Transfer {
            began: Time::NEVER,
            delivered_at: Time::ZERO,
            completed: Time::NEVER,
            payload,
            short: VecDeque::new(),
            missed: 0,
        }
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
        }
    }

    /// The sender is closed and will send only these segments.
    pub fn on_closed(&mut self, written: Seq) {
        self.short.retain(|s| s.0 <= written);
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
    pub fn missing_of(&self, segment: &DataSegment, with_syn: bool) -> u32 {
        if self.short.is_empty() { 0 } else { self.missing_of_number(segment.seq + 1 - Seq::from(with_syn)) }
    }

    #[cold]
    fn missing_of_number(&self, number: Seq) -> u32 {
        self.short.binary_search_by_key(&number, |s| s.0).map_or(0, |i| self.short[i].1)
    }

    /// Records that `delivered` packets have been delivered by now.
    fn on_delivered(&mut self, delivered: u64, now: Time) {
        self.delivered_at = now;
        if !self.short.is_empty() {
            self.pass_short(delivered);
        }
    }

    /// Accounts for short segments among the delivered ones.
    #[cold]
    fn pass_short(&mut self, delivered: u64) {
        while let Some((_, missing)) = self.short.pop_front_if(|s| u64::from(s.0) <= delivered) {
            self.missed += u64::from(missing);
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
            Ends::Tcp(ends) => ends.0.written().map(u64::from),
            Ends::Udp { sent, .. } => Some(*sent),
        }
    }

    fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.1.counters().packets_delivered,
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
    pub fn on_delivery(&mut self, now: Time) {
        let delivered = self.delivered();
        self.transfer.on_delivered(delivered, now);
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = now;
            self.routes.end(now);
        }
    }

    /// The application has ended. With `takes_back`, TCP discards the data that it has not sent.
    pub fn on_end_of_application(&mut self, takes_back: bool, now: Time) {
        if let (Ends::Tcp(ends), true) = (&mut self.ends, takes_back) {
            ends.0.close(now);
            self.transfer.on_closed(ends.0.written().unwrap_or(0));
            self.time.on_event(now, ends.0.phase());
        }
        if self.transfer.completed == Time::NEVER && self.is_complete() {
            self.transfer.completed = self.transfer.delivered_at;
            self.routes.end(now);
        }
    }
}
