//! Energy: what the radio of a node draws, by what it does, and what its battery holds.

use crate::setting::limit::{above, at_most};
use crate::unit::{Joules, Span, Watts};
use crate::{keywords, settings};

keywords! {
    /// When energy is taken from the battery.
    pub enum Accounting {
        /// As time passes: a node dies at the instant at which its battery is empty, in the middle of a frame, too.
        Continuous = "continuous",
        /// For the whole frame at its first bit, and for the time without frames before it, as in ns-2: a node that this
        /// frame exhausts still sends it whole, but does not receive it.
        FirstBit = "first_bit",
    }
}

settings! {
    /// Power that a radio draws, and the battery of its node. The defaults are those of a WaveLAN card (Jung and Vaidya,
    /// INFOCOM 2002).
    pub struct Config {
        /// While it transmits.
        pub transmit: Watts = Watts(1.65) => at_most(Watts(1e6)),
        /// While it senses a signal, whether it can read it or not.
        pub receive: Watts = Watts(1.4) => at_most(Watts(1e6)),
        /// All other time in which its node is switched on.
        pub idle: Watts = Watts(1.15) => at_most(Watts(1e6)),
        /// While its node is switched off: asleep (0.045 W of a WaveLAN card).
        pub sleep: Watts = Watts(0.0) => at_most(Watts(1e6)),
        /// Energy in the battery of a node at the start; of a node with several radios the first one says it. A node whose
        /// battery is empty is switched off for good. "none": the battery never empties.
        pub battery: Option<Joules> = None => above(Joules(0.0)).at_most(Joules(1e12)),
        /// When energy is taken from the battery.
        pub accounting: Accounting = Accounting::Continuous
            ; used when |c| c.battery.is_some(), else "`radio.energy.battery` is \"none\"",
    }
}

impl Config {
    /// Whether the powers are the same.
    pub fn draws_as(&self, other: &Config) -> bool {
        let powers = |c: &Config| (c.transmit, c.receive, c.idle, c.sleep);
        powers(self) == powers(other)
    }

    /// The energy drawn in these times \[J\].
    pub fn joules(&self, transmitting: Span, receiving: Span, idle: Span, asleep: Span) -> f64 {
        self.transmit.0 * transmitting.as_secs()
            + self.receive.0 * receiving.as_secs()
            + self.idle.0 * idle.as_secs()
            + self.sleep.0 * asleep.as_secs()
    }
}
