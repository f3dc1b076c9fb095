//! Acknowledgement policies: when the receiver acknowledges.

pub mod delayed;
mod every;
pub mod interface;
mod new;
mod registry;
pub mod thinning;

use delayed::Delayed;
use every::Every;
use interface::{AckWhen, Arrived};
use registry::{Acknowledging, declare};
use thinning::Thinning;

/// Acknowledgement policies: the word of each, its construction from the settings `cfg` of a connection, and the group
/// of settings of its own with the module that declares the group.
macro_rules! policies {
    ($declare:ident $($more:tt)*) => {
        $declare! { $($more)* cfg:
            /// Every segment is acknowledged at once.
            Every = "every": Every;
            /// Every second segment, or after a timeout (RFC 1122, 4.2.3.2; RFC 5681, 4.2).
            Delayed = "delayed": Delayed::new(&cfg.delayed_ack, cfg.first_offer()),
                settings delayed_ack: delayed = " Delayed acknowledgements.";
            /// Every segment at first, then every second, third and fourth (Altman and Jimenez 2003).
            Thinning = "thinning": Thinning::new(&cfg.ack_thinning),
                settings ack_thinning: thinning = " Dynamic ACK thinning.";
        }
    };
}

pub(super) use policies;

policies!(declare);
