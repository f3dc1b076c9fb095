//! Slow start and congestion avoidance (RFC 5681, 3.1), one step per acknowledgement.

use super::{Signal, Window};
use crate::tcp::{Config, Halving};

/// The window rule of Tahoe, Reno, NewReno and SACK.
#[derive(Clone, Debug)]
pub struct Reno {
    whole_ssthresh: bool,
    loss_window: f64,
}

impl Reno {
    pub(super) fn new(cfg: &Config) -> Reno {
        Reno { whole_ssthresh: cfg.halving != Halving::FlightSize, loss_window: f64::from(cfg.loss_window) }
    }

    pub(super) fn on_ack(&mut self, w: &mut Window) {
        w.cwnd += if w.cwnd < w.ssthresh { 1.0 } else { 1.0 / w.cwnd };
    }

    pub(super) fn on_congestion(&mut self, signal: Signal, rest: f64, w: &mut Window) {
        // RFC 5681 (4): "ssthresh = max (FlightSize / 2, 2*SMSS)"
        w.ssthresh = if self.whole_ssthresh { rest.floor().max(2.0) } else { rest.max(2.0) };
        w.cwnd = match signal {
            Signal::FastRetransmit if self.whole_ssthresh => rest,
            Signal::FastRetransmit => w.ssthresh,
            Signal::Timeout => self.loss_window,
            // It can fall below ssthresh, down to one segment (RFC 3168, 6.1.2).
            Signal::Ecn if self.whole_ssthresh => rest,
            Signal::Ecn => rest.min(w.cwnd),
        };
    }
}
