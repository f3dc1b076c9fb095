//! Window rules: how the congestion window answers acknowledgements and losses, and how fast segments follow each
//! other.

pub mod adaptive_pacing;
mod bbr;
pub mod controller;
pub mod cubic;
mod external;
pub mod few;
pub mod fixed;
pub mod interface;
pub mod linux_vegas;
pub mod linux_westwood_ns2;
mod new;
mod registry;
pub mod reno;
pub mod scalable;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod westwood_2001;

use crate::packet::Seq;
use crate::unit::Span;
use adaptive_pacing::AdaptivePacing;
use bbr::{Bbr, Bbr as Bbr3};
use cubic::Cubic;
use external::External;
use few::Few;
use fixed::Fixed;
use interface::{Ack, Congestion, Window};
use linux_vegas::LinuxVegas;
use linux_westwood_ns2::LinuxWestwoodNs2;
use registry::{WindowRule, declare};
use reno::Reno;
use scalable::Scalable;
use vegas::Vegas;
use veno::Veno;
use westwood::Westwood;
use westwood_2001::Westwood2001;

/// The window rules: the word of each, how it is made of the settings `cfg` of a connection, and the group of settings
/// of its own, with the reason why that has no effect under another one.
macro_rules! window_rules {
    ($declare:ident $($more:tt)*) => {
        $declare! { $($more)* cfg:
            /// Slow start, then one segment per round trip; half of the amount in use after a loss (RFC 5681).
            Reno = "reno": Reno;
            /// Growth and reduction by the number of segments queued in the network (Brakmo and Peterson 1995).
            Vegas = "vegas": Vegas::new(&cfg.vegas),
                settings vegas: vegas = " TCP Vegas.", else "the congestion control is not `vegas`";
            /// The Vegas rule of Linux, with the reductions of Reno.
            LinuxVegas = "linux_vegas": LinuxVegas::new(&cfg.linux_vegas),
                settings linux_vegas: linux_vegas = " Vegas of Linux.",
                else "the congestion control is not `linux_vegas`";
            /// Growth by a fraction of a segment per round trip (FeW, Nahm et al. 2005).
            Few = "few": Few::new(&cfg.few),
                settings few: few = " Fractional window increment.", else "the congestion control is not `few`";
            /// Growth in proportion to the window (Scalable TCP, Kelly 2003).
            Scalable = "scalable": Scalable::new(&cfg.scalable),
                settings scalable: scalable = " Scalable TCP.", else "the congestion control is not `scalable`";
            /// Reduction to the estimated bandwidth-delay product (Westwood+, Grieco and Mascolo 2004).
            Westwood = "westwood": Westwood::new(&cfg.westwood),
                settings westwood: westwood = " Westwood+.", shared with LinuxWestwoodNs2,
                else "the congestion control is neither `westwood` nor `linux_westwood_ns2`";
            /// The same with the bandwidth filter of 2001 (TCP Westwood, Casetti et al.).
            Westwood2001 = "westwood_2001": Westwood2001::new(&cfg.westwood_2001),
                settings westwood_2001: westwood_2001 = " Westwood with the filter of 2001.",
                else "the congestion control is not `westwood_2001`";
            /// Westwood+ as in ns-2's `Agent/TCP/Linux`, where the estimate has almost no effect; with SACK only.
            LinuxWestwoodNs2 = "linux_westwood_ns2": LinuxWestwoodNs2::new(&cfg.westwood);
            /// A cubic function of the time since the last loss (RFC 9438).
            Cubic = "cubic": Cubic::new(&cfg.cubic),
                settings cubic: cubic = " CUBIC.", else "the congestion control is not `cubic`";
            /// The largest delivery rate and the smallest round-trip time (BBR version 1, Cardwell et al. 2016).
            Bbr = "bbr": Bbr;
            /// The same within limits that losses set (BBR version 3, draft-ietf-ccwg-bbr-06).
            Bbr3 = "bbr3": Bbr3;
            /// A smaller reduction for a loss that appears random (Fu and Liew 2003).
            Veno = "veno": Veno::new(&cfg.veno),
                settings veno: veno = " TCP Veno.", else "the congestion control is not `veno`";
            /// Reno's window, with pacing at the rate at which the path can forward (TCP-AP, ElRakabawy et al. 2005).
            AdaptivePacing = "tcp_ap": AdaptivePacing::new(&cfg.ap, cfg.mss),
                settings ap: adaptive_pacing = " Adaptive pacing (TCP-AP).",
                else "the congestion control is not `tcp_ap`";
            /// A constant window.
            Fixed = "fixed": Fixed::new(&cfg.fixed, cfg.mss),
                settings fixed: fixed = " A constant window.", else "the congestion control is not `fixed`";
            /// The window that the program decides which drives the run.
            External = "external": External::new(cfg.name_of_rule(), cfg.mss);
        }
    };
}
pub(super) use window_rules;

window_rules!(declare);

impl CongestionControl {
    /// The rule of the program that drives the run, if it is one.
    pub(in crate::tcp) fn external(&mut self) -> Option<&mut External> {
        match self {
            CongestionControl::External(rule) => Some(rule),
            _ => None,
        }
    }
}
