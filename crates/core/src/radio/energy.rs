//! Energy: what the radio of a node draws, by what it does.

use crate::settings;
use crate::unit::{Span, Watts};

settings! {
    /// Power that a radio draws. The defaults are those of a WaveLAN card (Jung and Vaidya, INFOCOM 2002).
    pub struct Config {
        /// While it transmits.
        pub transmit: Watts = Watts(1.65),
        /// While it senses a signal, whether it can read it or not.
        pub receive: Watts = Watts(1.4),
        /// All other time.
        pub idle: Watts = Watts(1.15),
    }
}

impl Config {
    /// The energy drawn in these times \[J\].
    pub fn joules(&self, transmitting: Span, receiving: Span, idle: Span) -> f64 {
        self.transmit.0 * transmitting.as_secs() + self.receive.0 * receiving.as_secs() + self.idle.0 * idle.as_secs()
    }
}
