//! Window rules: how the congestion window answers acknowledgements and losses, and how fast segments follow each
//! other.

pub mod adaptive_pacing;
pub mod cubic;
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
use cubic::Cubic;
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

/// The window rules: how each is made of the settings `cfg` of a connection, and the group of settings of its own, with
/// the reason why that has no effect under another variant.
macro_rules! window_rules {
    ($declare:ident $($more:tt)*) => {
        $declare! { $($more)* cfg:
            /// Slow start and congestion avoidance.
            Reno = Reno;
            /// Delay-based.
            Vegas = Vegas::new(&cfg.vegas),
                settings vegas: vegas = " TCP Vegas.", else "`tcp.variant` is not `vegas`";
            /// Delay-based, as in Linux.
            LinuxVegas = LinuxVegas::new(&cfg.linux_vegas),
                settings linux_vegas: linux_vegas = " Vegas of Linux.", else "`tcp.variant` is not `linux_vegas`";
            /// With a fractional increment.
            Few = Few::new(&cfg.few),
                settings few: few = " Fractional window increment.", else "`tcp.variant` is not `few`";
            /// Growth in proportion to the window.
            Scalable = Scalable::new(&cfg.scalable),
                settings scalable: scalable = " Scalable TCP.", else "`tcp.variant` is not `scalable`";
            /// By the rate of what arrives.
            Westwood = Westwood::new(&cfg.westwood),
                settings westwood: westwood = " Westwood+.", shared with LinuxWestwoodNs2,
                else "`tcp.variant` is neither `westwood` nor `linux_westwood_ns2`";
            /// By the rate of what arrives, with the filter of 2001.
            Westwood2001 = Westwood2001::new(&cfg.westwood_2001),
                settings westwood_2001: westwood_2001 = " Westwood with the filter of 2001.",
                else "`tcp.variant` is not `westwood_2001`";
            /// By an estimate that hardly acts.
            LinuxWestwoodNs2 = LinuxWestwoodNs2::new(&cfg.westwood);
            /// By a cubic function of the time since the last loss.
            Cubic = Cubic::new(&cfg.cubic),
                settings cubic: cubic = " CUBIC.", else "`tcp.variant` is not `cubic`";
            /// By the kind of each loss.
            Veno = Veno::new(&cfg.veno),
                settings veno: veno = " TCP Veno.", else "`tcp.variant` is not `veno`";
            /// At the rate at which the path can forward.
            AdaptivePacing = AdaptivePacing::new(&cfg.ap, cfg.mss),
                settings ap: adaptive_pacing = " Adaptive pacing (TCP-AP).", else "`tcp.variant` is not `tcp_ap`";
            /// Constant.
            Fixed = Fixed::new(&cfg.fixed),
                settings fixed: fixed = " A window that never changes.", else "`tcp.variant` is not `fixed`";
        }
    };
}
pub(super) use window_rules;

window_rules!(declare);
