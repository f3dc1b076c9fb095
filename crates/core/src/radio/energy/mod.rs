//! Energy: power drawn by a radio in each state, and the battery of its node.

pub mod battery;
pub mod intervals;

use crate::setting::limit::{above, at_most};
use crate::unit::{Joules, Span, Watts};
use crate::{keywords, settings};

keywords! {
    /// Time at which energy is taken from the battery.
    pub enum Accounting {
        /// Continuously: a node dies at the instant at which its battery is empty, even in the middle of a frame.
        Continuous = "continuous",
        /// At the first bit of a frame, for the whole frame and for the time without frames before it, as in ns-2: a
        /// node exhausted by this frame still sends it to its end, but does not receive it.
        FirstBit = "first_bit",
    }
}

settings! {
    /// Power drawn by a radio, and the battery of its node. The defaults are those of a WaveLAN card (Jung and Vaidya,
    /// INFOCOM 2002).
    pub struct Config {
        /// Power drawn while the radio transmits.
        pub transmit: Watts = Watts(1.65) => at_most(Watts(1e6)),
        /// Power drawn while the radio senses a signal, decodable or not.
        pub receive: Watts = Watts(1.4) => at_most(Watts(1e6)),
        /// Power drawn at all other times while the node is switched on.
        pub idle: Watts = Watts(1.15) => at_most(Watts(1e6)),
        /// Power drawn while the node is switched off (asleep: 0.045 W for a WaveLAN card).
        pub sleep: Watts = Watts(0.0) => at_most(Watts(1e6)),
        /// Energy in the battery of a node at the start. A node with several radios has the battery of its first radio.
        /// A node with an empty battery is switched off for the rest of the run. "unlimited": the battery never
        /// empties.
        pub battery: Option<Joules> | "unlimited" = None => above(Joules(0.0)).at_most(Joules(1e12)),
        /// Time at which energy is taken from the battery.
        pub accounting: Accounting = Accounting::Continuous
            ; used when |c| c.battery.is_some(), else "`radio.energy.battery` is \"unlimited\"",
    }
}

impl Config {
    /// Returns true if two radios draw the same power in all states.
    pub fn draws_as(&self, other: &Config) -> bool {
        let powers = |c: &Config| (c.transmit, c.receive, c.idle, c.sleep);
        powers(self) == powers(other)
    }

    /// Energy drawn in these durations \[J\].
    pub fn joules(&self, transmitting: Span, receiving: Span, idle: Span, asleep: Span) -> f64 {
        self.transmit.0 * transmitting.as_secs()
            + self.receive.0 * receiving.as_secs()
            + self.idle.0 * idle.as_secs()
            + self.sleep.0 * asleep.as_secs()
    }
}
