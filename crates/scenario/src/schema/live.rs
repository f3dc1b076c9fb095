//! Programs over a scenario in real time. The simulator has no clock: the command `chappe live` reads these settings.

use chappe_core::setting::limit::{LONGEST, range};
use chappe_core::unit::Span;
use chappe_core::{keywords, settings};

keywords! {
    /// Reactions of a live run to late deliveries.
    pub enum WhenLate {
        /// Warns at the end, if more than 1 % of the deliveries were late.
        Warn = "warn",
        /// Ends at the first late delivery.
        Stop = "stop",
    }
}

settings! {
    /// Programs of the machine over a scenario, in real time (`chappe live`).
    pub struct Config {
        /// Lateness beyond which a delivery is late: the time from its simulated instant to its end in the kernel.
        pub late_limit: Span = Span::ms(10) => range(Span(1), LONGEST),
        /// Reaction of the run to late deliveries.
        pub when_late: WhenLate = WhenLate::Warn,
    }
}
