//! Transfers: what the application of a flow has written, how large the last segment is, and when all has arrived.

use super::{Ends, Flow, Sim};
use crate::packet::{DataSegment, Seq};
use crate::unit::{Bytes, Time};

/// What a flow has to carry, if that ends.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    /// When it began; NEVER before that.
    pub(super) began: Time,
    /// When the last packet was delivered.
    delivered_at: Time,
    /// When all had been delivered.
    pub(super) completed: Option<Time>,
    /// What a packet carries.
    payload: Bytes,
    /// Bytes by which the last segment of a file is shorter.
    missing: u32,
    /// Segments written up to the end of each file, whose last segment has not been delivered.
    ends: Vec<Seq>,
    /// Bytes by which delivered segments were shorter, in total.
    missed: u64,
}

impl Transfer {
    pub(super) fn new(payload: Bytes, missing: u32) -> Transfer {
        Transfer {
            began: Time::NEVER,
            delivered_at: Time::ZERO,
            completed: None,
            payload,
            missing,
            ends: Vec::with_capacity(usize::from(missing > 0)),
            missed: 0,
        }
    }

    /// The application begins, or begins again.
    pub(super) fn begin(&mut self, now: Time) {
        (self.began, self.completed) = (now, None);
    }

    /// Makes it as if it had not begun.
    pub(super) fn rest(&mut self) {
        self.begin(Time::NEVER);
    }

    /// A file has been written; this is what has been written by now.
    pub(super) fn on_written(&mut self, written: Option<Seq>) {
        if let (Some(written), true) = (written, self.missing > 0) {
            self.ends.push(written);
        }
    }

    /// Nothing beyond these segments is sent any more.
    pub(super) fn on_closed(&mut self, written: Seq) {
        self.ends.retain(|&end| end <= written);
    }

    /// When it began, if it has.
    pub(super) fn began(&self) -> Option<Time> {
        (self.began < Time::NEVER).then_some(self.began)
    }

    /// Bytes by which a segment is shorter than the others.
    #[inline]
    pub(super) fn missing_of(&self, segment: &DataSegment, with_syn: bool) -> u32 {
        if self.ends.is_empty() {
            return 0;
        }
        let number = segment.seq + 1 - Seq::from(with_syn);
        if self.ends.contains(&number) { self.missing } else { 0 }
    }

    /// `delivered` packets have been delivered by now.
    fn on_delivered(&mut self, delivered: u64, now: Time) {
        self.delivered_at = now;
        while self.ends.first().is_some_and(|&end| u64::from(end) <= delivered) {
            self.ends.remove(0);
            self.missed += u64::from(self.missing);
        }
    }

    /// Payload of all packets that have been delivered, given their number \[B\].
    pub(super) fn bytes(&self, delivered: u64) -> u64 {
        delivered * u64::from(self.payload.0) - self.missed
    }
}

impl Flow {
    /// Packets that the application has written; `None`: without end.
    pub(super) fn written(&self) -> Option<u64> {
        match &self.ends {
            Ends::Tcp(ends) => ends.0.written().map(u64::from),
            Ends::Udp(books) => Some(books.sent),
        }
    }

    fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.1.counters().delivered,
            Ends::Udp(books) => books.received,
        }
    }

    /// Whether everything has been delivered that will ever be sent.
    fn is_complete(&self) -> bool {
        let delivered = self.delivered();
        self.app.is_over() && delivered > 0 && self.written() == Some(delivered)
    }
}

impl Sim {
    /// Packets of a flow have been delivered.
    #[inline]
    pub(super) fn on_delivery(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        let delivered = flow.delivered();
        flow.transfer.on_delivered(delivered, self.now);
        if flow.transfer.completed.is_none() && flow.is_complete() {
            flow.transfer.completed = Some(self.now);
        }
    }

    /// The application of a flow has ended: what TCP has not sent by now is not sent.
    pub(super) fn on_end_of_application(&mut self, f: usize) {
        let flow = &mut self.flows[f];
        if let Ends::Tcp(ends) = &mut flow.ends {
            ends.0.close(self.now);
            flow.transfer.on_closed(ends.0.written().unwrap_or(0));
            flow.time.on_event(self.now, false, ends.0.phase());
            self.agenda.set(self.slots.sender(f), ends.0.deadline());
        }
        if flow.transfer.completed.is_none() && flow.is_complete() {
            flow.transfer.completed = Some(flow.transfer.delivered_at);
        }
    }
}
