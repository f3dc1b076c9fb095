//! Window rules: how the congestion window answers acknowledgements and losses, and how fast segments follow each other.

pub mod adaptive_pacing;
pub mod few;
pub mod fixed;
pub mod interface;
pub mod linux_vegas;
pub mod linux_westwood_ns2;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod westwood_2001;

use super::config::Config;
use super::variants::Rule;
use crate::packet::Seq;
use crate::unit::Span;
use adaptive_pacing::AdaptivePacing;
use few::Few;
use fixed::Fixed;
use interface::{Ack, Congestion, Window};
use linux_vegas::LinuxVegas;
use linux_westwood_ns2::LinuxWestwoodNs2;
use reno::Reno;
use scalable::Scalable;
use vegas::Vegas;
use veno::Veno;
use westwood::Westwood;
use westwood_2001::Westwood2001;

/// The window rule of a connection.
#[derive(Clone, Debug)]
pub enum CongestionControl {
    /// Slow start and congestion avoidance.
    Reno(Reno),
    /// With a fractional increment.
    Few(Few),
    /// Delay-based.
    Vegas(Vegas),
    /// Delay-based, as in Linux.
    LinuxVegas(LinuxVegas),
    /// Growth in proportion to the window.
    Scalable(Scalable),
    /// By the rate of what arrives.
    Westwood(Westwood),
    /// The same with the filter of 2001.
    Westwood2001(Westwood2001),
    /// By an estimate that hardly acts.
    LinuxWestwoodNs2(LinuxWestwoodNs2),
    /// By the kind of each loss.
    Veno(Veno),
    /// At the rate at which the path can forward.
    AdaptivePacing(AdaptivePacing),
    /// Constant.
    Fixed(Fixed),
}

impl CongestionControl {
    /// The rule with its settings.
    pub fn new(rule: Rule, cfg: &Config) -> CongestionControl {
        match rule {
            Rule::Reno => CongestionControl::Reno(Reno),
            Rule::Few => CongestionControl::Few(Few::new(&cfg.few)),
            Rule::Vegas => CongestionControl::Vegas(Vegas::new(&cfg.vegas)),
            Rule::LinuxVegas => CongestionControl::LinuxVegas(LinuxVegas::new(&cfg.linux_vegas)),
            Rule::Scalable => CongestionControl::Scalable(Scalable::new(&cfg.scalable)),
            Rule::Westwood => CongestionControl::Westwood(Westwood::new(&cfg.westwood)),
            Rule::Westwood2001 => CongestionControl::Westwood2001(Westwood2001::new(&cfg.westwood_2001)),
            Rule::LinuxWestwoodNs2 => CongestionControl::LinuxWestwoodNs2(LinuxWestwoodNs2::new(&cfg.westwood)),
            Rule::Veno => CongestionControl::Veno(Veno::new(&cfg.veno)),
            Rule::AdaptivePacing => CongestionControl::AdaptivePacing(AdaptivePacing::new(&cfg.ap, cfg.segment)),
            Rule::Fixed => CongestionControl::Fixed(Fixed::new(&cfg.fixed)),
        }
    }

    /// The window at the start.
    pub fn start(&self, w: &mut Window) {
        if let CongestionControl::Fixed(c) = self {
            c.hold(w);
        }
    }

    /// Every acknowledgement that arrives, whatever it tells, before loss recovery sees it.
    pub fn on_every_ack(&mut self, ack: &Ack, w: &mut Window) {
        match self {
            CongestionControl::Westwood(c) => c.on_every_ack(ack),
            CongestionControl::Westwood2001(c) => c.on_every_ack(ack),
            CongestionControl::LinuxWestwoodNs2(c) => c.on_every_ack(ack, w),
            CongestionControl::Veno(c) => c.on_every_ack(ack),
            CongestionControl::AdaptivePacing(c) => c.on_round_trip(ack.round_trip, ack.hops),
            _ => {}
        }
    }

    /// New data were acknowledged outside of a recovery: the window may grow by so many steps.
    pub fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window) {
        match self {
            CongestionControl::Vegas(c) => c.on_ack(ack, w),
            _ if ack.ece => {}
            CongestionControl::LinuxVegas(c) => c.on_ack(ack, steps, w),
            _ => (0..steps).for_each(|_| self.grow(w)),
        }
    }

    /// Whether the window grows only as far as it is used, if the settings say so.
    pub fn asks_for_use(&self) -> bool {
        !matches!(self, CongestionControl::Vegas(_) | CongestionControl::LinuxVegas(_) | CongestionControl::Fixed(_))
    }

    /// One step, of a rule that asks no more of an acknowledgement.
    fn grow(&mut self, w: &mut Window) {
        match self {
            CongestionControl::Reno(c) => c.on_ack(w),
            CongestionControl::Few(c) => c.on_ack(w),
            CongestionControl::Scalable(c) => c.on_ack(w),
            CongestionControl::Westwood(c) => c.on_ack(w),
            CongestionControl::Westwood2001(c) => c.on_ack(w),
            CongestionControl::LinuxWestwoodNs2(c) => c.on_ack(w),
            CongestionControl::Veno(c) => c.on_ack(w),
            CongestionControl::AdaptivePacing(c) => c.on_ack(w),
            CongestionControl::Fixed(c) => c.hold(w),
            CongestionControl::Vegas(_) | CongestionControl::LinuxVegas(_) => {}
        }
    }

    /// A loss or a congestion mark was found.
    pub fn on_congestion(&mut self, found: &Congestion, w: &mut Window) {
        match self {
            CongestionControl::Reno(c) => c.on_congestion(found, w),
            CongestionControl::Few(c) => c.on_congestion(found, w),
            CongestionControl::Vegas(c) => c.on_congestion(found, w),
            CongestionControl::LinuxVegas(c) => c.on_congestion(found, w),
            CongestionControl::Scalable(c) => c.on_congestion(found, w),
            CongestionControl::Westwood(c) => c.on_congestion(found, w),
            CongestionControl::Westwood2001(c) => c.on_congestion(found, w),
            CongestionControl::LinuxWestwoodNs2(c) => c.on_congestion(found, w),
            CongestionControl::Veno(c) => c.on_congestion(found, w),
            CongestionControl::AdaptivePacing(c) => c.on_congestion(found, w),
            CongestionControl::Fixed(c) => c.hold(w),
        }
    }

    /// After a timeout sending goes on at this segment, as if nothing from there on had been sent.
    pub fn on_rewind(&mut self, nxt: Seq) {
        match self {
            CongestionControl::Vegas(c) => c.on_rewind(nxt),
            CongestionControl::LinuxVegas(c) => c.restart(),
            CongestionControl::Veno(c) => c.on_rewind(nxt),
            _ => {}
        }
    }

    /// A recovery after duplicate acknowledgements is over.
    pub fn on_recovery_end(&mut self, w: &mut Window) {
        match self {
            CongestionControl::LinuxWestwoodNs2(c) => c.on_recovery_end(w),
            CongestionControl::LinuxVegas(c) => c.restart(),
            _ => {}
        }
    }

    /// The time from one new segment to the next; `None`: they go out as soon as the window allows. A rule may answer with
    /// a pace, with another one each time, or with none any more. A rate is the gap 1/rate.
    pub fn pace(&self) -> Option<Span> {
        match self {
            CongestionControl::AdaptivePacing(c) => Some(c.interval()),
            _ => None,
        }
    }

    /// Whether a timeout backs the retransmission timeout off (RFC 6298, 5.5).
    pub fn backs_off_rto(&self) -> bool {
        match self {
            CongestionControl::AdaptivePacing(c) => c.backs_off_rto(),
            _ => true,
        }
    }

    /// Whether the rule wants the round-trip time of each segment, which needs a table of send times.
    pub fn wants_segment_rtt(&self) -> bool {
        matches!(self, CongestionControl::Vegas(_) | CongestionControl::Veno(_))
    }
}
