//! Window and inputs of the window rules in whole segments.

use crate::packet::Seq;
use crate::unit::{Span, Time};

/// Window in whole segments.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Window {
    /// Congestion window \[segments\].
    pub cwnd: u32,
    /// Slow-start threshold \[segments\].
    pub ssthresh: u32,
    /// Segments acknowledged towards the next growth by one segment.
    pub credit: u32,
    /// Largest window \[segments\].
    pub clamp: u32,
}

impl Window {
    /// Returns true if the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows up to ssthresh by the acknowledged segments; returns those left over.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// Grows by one segment for each `per` acknowledged segments.
    pub fn grow_one_per(&mut self, per: u32, acked: u32) {
        // Credit collected for slower growth counts once.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        let steps = self.credit / per;
        self.credit -= steps * per;
        self.cwnd = (self.cwnd + steps).min(self.clamp);
    }
}

/// Information that an acknowledgement gives to a window rule.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Input {
    /// Time of arrival.
    pub now: Time,
    /// SND.UNA and SND.NXT.
    pub range: (Seq, Seq),
    /// Segments newly acknowledged or reported in SACK blocks.
    pub delivered: u32,
    /// Round-trip time of the last of these that was sent only once.
    pub rtt: Option<Span>,
}
