//! Slow start and congestion avoidance (RFC 5681, 3.1), one step per acknowledgement.

use super::interface::{Congestion, Signal, Window};
use super::registry::WindowRule;

/// The window rule of Tahoe, Reno, NewReno and SACK.
#[derive(Clone, Debug)]
pub struct Reno;

impl WindowRule for Reno {
    fn grow(&mut self, w: &mut Window) {
        w.cwnd += if w.cwnd < w.ssthresh { 1.0 } else { 1.0 / w.cwnd };
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        // RFC 5681 (4): "ssthresh = max (FlightSize / 2, 2*SMSS)"
        w.ssthresh = if c.whole_ssthresh { c.remainder.floor().max(2.0) } else { c.remainder.max(2.0) };
        w.cwnd = match c.signal {
            Signal::FastRetransmit if c.whole_ssthresh => c.remainder,
            Signal::FastRetransmit => w.ssthresh,
            Signal::Timeout => c.loss_window,
            // It can fall below ssthresh, down to one segment (RFC 3168, 6.1.2).
            Signal::Ecn if c.whole_ssthresh => c.remainder,
            Signal::Ecn => c.remainder.min(w.cwnd),
        };
    }
}
