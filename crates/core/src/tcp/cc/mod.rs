//! Window rules: how the congestion window answers acknowledgements and losses.

pub mod few;
pub mod fixed;
pub mod reno;
pub mod vegas;

use super::Config;
use crate::packet::Seq;
use crate::unit::{Span, Time};
use few::Few;
use fixed::Fixed;
use reno::Reno;
use vegas::Vegas;

/// The congestion window \[segments\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// cwnd.
    pub cwnd: f64,
    /// ssthresh.
    pub ssthresh: f64,
}

/// A new cumulative acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it arrived.
    pub now: Time,
    /// The first unacknowledged segment from now on.
    pub una: Seq,
    /// The next segment to be sent.
    pub nxt: Seq,
    /// How many segments it acknowledges.
    pub acked: u32,
    /// Round-trip time of the newest acknowledged segment, when it was sent only once.
    pub rtt: Option<Span>,
    /// Since when the connection exists.
    pub since: Time,
    /// It echoes a mark: the window does not grow with it (RFC 3168, 6.1.2).
    pub ece: bool,
}

/// Signs of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Duplicate acknowledgements.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoes a mark of ECN.
    Ecn,
}

/// Which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Slow start and congestion avoidance.
    Reno,
    /// With a fractional increment.
    Few,
    /// Delay-based.
    Vegas,
    /// Constant.
    Fixed,
}

/// The window rule of a connection.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// Slow start and congestion avoidance.
    Reno(Reno),
    /// With a fractional increment.
    Few(Few),
    /// Delay-based.
    Vegas(Vegas),
    /// Constant.
    Fixed(Fixed),
}

impl CongestionControl {
    /// The rule with its settings.
    pub fn new(rule: Rule, cfg: &Config) -> CongestionControl {
        match rule {
            Rule::Reno => CongestionControl::Reno(Reno::new(cfg)),
            Rule::Few => CongestionControl::Few(Few::new(cfg)),
            Rule::Vegas => CongestionControl::Vegas(Vegas::new(&cfg.vegas)),
            Rule::Fixed => CongestionControl::Fixed(Fixed::new(&cfg.fixed)),
        }
    }

    /// The window at the start.
    pub fn start(&self, w: &mut Window) {
        if let CongestionControl::Fixed(f) = self {
            f.hold(w);
        }
    }

    /// New data were acknowledged.
    pub fn on_ack(&mut self, ack: &Acked, w: &mut Window) {
        match self {
            CongestionControl::Vegas(c) => c.on_ack(ack, w),
            _ if ack.ece => {}
            CongestionControl::Reno(c) => c.on_ack(w),
            CongestionControl::Few(c) => c.on_ack(w),
            CongestionControl::Fixed(c) => c.hold(w),
        }
    }

    /// A loss or a mark was found; `rest` is half of what was in use, or the share that ECN leaves of it.
    pub fn on_congestion(&mut self, signal: Signal, rest: f64, w: &mut Window) {
        match self {
            CongestionControl::Reno(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Few(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Vegas(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Fixed(c) => c.hold(w),
        }
    }
}
