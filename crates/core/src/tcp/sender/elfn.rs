//! Explicit link failure notification (ELFN; Holland and Vaidya, "Analysis of TCP Performance over Mobile Ad Hoc
//! Networks", MobiCom 1999): a sender that is notified of a broken route enters standby. In standby it neither times
//! out nor cuts its window, and sends the first unacknowledged segment at intervals, until an acknowledgement shows
//! that there is a route again; then it continues as before.

use crate::setting::limit::{HOUR, range};
use crate::tcp::config::recoveries::Answer;
use crate::unit::Span;
use crate::{keywords, settings};

keywords! {
    /// Value of a variable when a sender continues.
    pub enum After {
        /// Keeps the value from before the route broke.
        Kept = "kept",
        /// Resets the variable to its value after a timeout or at the start of a connection.
        Reset = "reset",
    }
}

settings! {
    /// Explicit link failure notification.
    pub struct Config if enabled, else "`tcp.elfn.enabled` is false" {
        /// Puts a sender into standby when routing reports that the route to its receiver is broken.
        pub enabled: bool = false,
        /// Time between the probes of a sender in standby.
        pub probe_interval: Span = Span::secs(2) => range(Span::ms(1), HOUR),
        /// Acknowledgement that lets the sender resume.
        pub answer: Answer = Answer::Any,
        /// Window after standby; `reset`: `tcp.loss_window`.
        pub cwnd: After = After::Kept,
        /// Retransmission timeout after standby; `reset`: `tcp.rto.initial`, as without a measurement.
        pub rto: After = After::Kept,
    }
}
