//! Constant bit rate: datagrams at equal intervals ("paced UDP").

use super::Out;
use crate::setting::limit::{LARGEST_PACKET, LONGEST, above, at_most, range};
use crate::settings;
use crate::unit::{Bytes, Span, Time};

settings! {
    /// Constant bit rate over UDP.
    pub struct Config {
        /// Interval from one datagram to the next.
        pub(everyday) interval: Span = Span::ms(100) => above(Span::ZERO).at_most(LONGEST),
        /// Payload of a datagram.
        pub(everyday) payload: Bytes = Bytes(1460) => range(Bytes(1), LARGEST_PACKET),
        /// UDP and IP header of a datagram.
        pub header_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// Number of datagrams to send.
        pub datagrams: Option<u32> | "unlimited" = None => range(1, 1_000_000_000),
    }
}

/// A source of datagrams.
#[derive(Clone, Debug)]
pub struct Cbr {
    cfg: Config,
    next: Time,
    seq: u32,
    /// Datagrams since the last start.
    sent: u32,
}

impl Cbr {
    /// A source that begins at `start`.
    pub fn new(cfg: &Config, start: Time) -> Cbr {
        Cbr { cfg: cfg.clone(), next: start, seq: 0, sent: 0 }
    }

    pub(super) fn deadline(&self) -> Time {
        self.next
    }

    /// Changes the interval between datagrams, counted from the last datagram.
    pub(super) fn set_interval(&mut self, interval: Span, now: Time) {
        if self.sent > 0 && self.next != Time::NEVER {
            let last = Time(self.next.0 - self.cfg.interval.0);
            self.next = now.max(last + interval);
        }
        self.cfg.interval = interval;
    }

    pub(super) fn begin(&mut self, at: Time) {
        (self.next, self.sent) = (at, 0);
    }

    pub(super) fn on_deadline(&mut self) -> Out {
        let seq = self.seq;
        self.seq += 1;
        self.sent += 1;
        let last = self.cfg.datagrams.is_some_and(|n| self.sent >= n);
        self.next = if last { Time::NEVER } else { self.next + self.cfg.interval };
        Out::Datagram { seq, bytes: self.cfg.payload.0 + self.cfg.header_size.0 }
    }
}
