//! Reaction of a connection to delivery out of order (`tcp.door`).

use super::Connection;
use crate::packet::AckSegment;
use crate::tcp::cc::interface::{Signal, Window};
use crate::unit::Span;

impl Connection {
    /// Looks if an acknowledgement shows delivery out of order. If so, losses do not cut the window for some time, and
    /// the last cut is undone unless it is too old: window and timeout are those of before.
    pub(in crate::tcp) fn detect_reordering(&mut self, ack: &AckSegment) {
        let (srtt, now) = (self.smoothed(), self.now);
        let Some(door) = self.door.as_mut().and_then(|door| door.is_out_of_order(ack.echo).then_some(door)) else {
            return;
        };
        if let Some(Window { cwnd, ssthresh }) = door.respond(&self.cfg.door, srtt, now) {
            self.window.cwnd = self.window.cwnd.max(cwnd);
            // A recovery that is going on ends with ssthresh.
            self.window.ssthresh = ssthresh.max(cwnd);
            self.rto.clear_backoff();
        }
    }

    /// Returns true if a loss does not cut the window now, because of delivery out of order.
    pub fn withholds_cut(&self) -> bool {
        self.door.as_ref().is_some_and(|door| door.holds(self.now))
    }

    /// Returns true if the acknowledgement that is being processed has undone a cut.
    pub fn has_undone_cut(&self) -> bool {
        self.door.as_ref().is_some_and(|door| door.has_undone(self.now))
    }

    /// Keeps the window before a cut for a loss, which may be undone; one for a congestion mark never is.
    pub fn remember_window(&mut self, signal: Signal) {
        let srtt = self.smoothed();
        match &mut self.door {
            Some(door) if signal == Signal::Ecn => door.forget(),
            Some(door) => door.remember(self.window, &self.cfg.door, srtt, self.now),
            None => {}
        }
    }

    /// The smoothed round-trip time; the timeout before the first measurement.
    fn smoothed(&self) -> Span {
        self.rto.smoothed().unwrap_or(self.rto.timeout())
    }
}
