//! Window rules: how the congestion window answers acknowledgements and losses, and how fast segments follow each other.

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

/// The window rules, and how each is made of the settings `cfg` of a connection.
macro_rules! window_rules {
    ($declare:ident) => {
        $declare! { cfg:
            /// Slow start and congestion avoidance.
            Reno = Reno;
            /// With a fractional increment.
            Few = Few::new(&cfg.few);
            /// Delay-based.
            Vegas = Vegas::new(&cfg.vegas);
            /// Delay-based, as in Linux.
            LinuxVegas = LinuxVegas::new(&cfg.linux_vegas);
            /// Growth in proportion to the window.
            Scalable = Scalable::new(&cfg.scalable);
            /// By the rate of what arrives.
            Westwood = Westwood::new(&cfg.westwood);
            /// The same with the filter of 2001.
            Westwood2001 = Westwood2001::new(&cfg.westwood_2001);
            /// By an estimate that hardly acts.
            LinuxWestwoodNs2 = LinuxWestwoodNs2::new(&cfg.westwood);
            /// By the kind of each loss.
            Veno = Veno::new(&cfg.veno);
            /// At the rate at which the path can forward.
            AdaptivePacing = AdaptivePacing::new(&cfg.ap, cfg.segment);
            /// By a cubic function of the time since the last loss.
            Cubic = Cubic::new(&cfg.cubic);
            /// Constant.
            Fixed = Fixed::new(&cfg.fixed);
        }
    };
}

use window_rules;

window_rules!(declare);
