//! Window rules: how the congestion window answers acknowledgements and losses.

pub mod few;
pub mod fixed;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod westwood;

use super::Config;
use crate::packet::Seq;
use crate::unit::{Span, Time};
use few::Few;
use fixed::Fixed;
use reno::Reno;
use scalable::Scalable;
use vegas::Vegas;
use westwood::Westwood;

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

/// Any acknowledgement that counts: of new data or a duplicate, within a recovery or not.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When it arrived.
    pub now: Time,
    /// How many segments it is the first to acknowledge cumulatively; 0: a duplicate.
    pub newly: u32,
    /// The newest round-trip time that the sender has measured since the last one.
    pub rtt: Option<Span>,
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
    /// Growth in proportion to the window.
    Scalable,
    /// By the rate of what arrives.
    Westwood,
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
    /// Growth in proportion to the window.
    Scalable(Scalable),
    /// By the rate of what arrives.
    Westwood(Westwood),
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
            Rule::Scalable => CongestionControl::Scalable(Scalable::new(cfg)),
            Rule::Westwood => CongestionControl::Westwood(Westwood::new(cfg)),
            Rule::Fixed => CongestionControl::Fixed(Fixed::new(&cfg.fixed)),
        }
    }

    /// The window at the start.
    pub fn start(&self, w: &mut Window) {
        if let CongestionControl::Fixed(f) = self {
            f.hold(w);
        }
    }

    /// Any acknowledgement that counts, before loss recovery sees it.
    pub fn on_every_ack(&mut self, heard: &Heard) {
        if let CongestionControl::Westwood(c) = self {
            c.on_every_ack(heard);
        }
    }

    /// New data were acknowledged outside of a recovery.
    pub fn on_ack(&mut self, ack: &Acked, w: &mut Window) {
        match self {
            CongestionControl::Vegas(c) => c.on_ack(ack, w),
            _ if ack.ece => {}
            CongestionControl::Reno(c) => c.on_ack(w),
            CongestionControl::Few(c) => c.on_ack(w),
            CongestionControl::Scalable(c) => c.on_ack(w),
            CongestionControl::Westwood(c) => c.on_ack(w),
            CongestionControl::Fixed(c) => c.hold(w),
        }
    }

    /// A loss or a mark was found; `rest` is half of what was in use, or the share that ECN leaves of it.
    pub fn on_congestion(&mut self, signal: Signal, rest: f64, w: &mut Window) {
        match self {
            CongestionControl::Reno(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Few(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Vegas(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Scalable(c) => c.on_congestion(signal, w),
            CongestionControl::Westwood(c) => c.on_congestion(signal, rest, w),
            CongestionControl::Fixed(c) => c.hold(w),
        }
    }
}
