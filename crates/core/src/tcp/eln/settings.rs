//! Settings of explicit loss notification.

use crate::{keywords, settings};

keywords! {
    /// Reaction of a sender to explicit loss notifications.
    pub enum Rule {
        /// Treats the loss like any other.
        Ignore = "ignore",
        /// The first duplicate causes a retransmission, once per loss (ns-2's tcp_eln).
        Once = "once",
        /// A retransmission per round trip until the loss is repaired, and a new segment for each duplicate.
        EachRoundTrip = "each_round_trip",
    }
}

settings! {
    /// The sender's part of explicit loss notification.
    pub struct Config {
        /// Reaction of the sender.
        pub rule: Rule = Rule::EachRoundTrip,
        /// Leaves ssthresh at a timeout as it is when the last acknowledgement carried a notification.
        pub keep_ssthresh: bool = true,
    }
}
