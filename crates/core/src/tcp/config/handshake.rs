//! Repeats of the SYN, and what follows if it was lost.

use crate::setting::limit::{at_most, range};
use crate::{keywords, settings};

keywords! {
    /// Window and timeout after a retransmitted SYN.
    pub enum LostSyn {
        /// The initial window is one segment, and ssthresh is cut (RFC 5681, 3.1). A timeout without a measured
        /// round-trip time remains backed off, and is at least 3 s (RFC 6298, 5.7).
        Rfc5681 = "rfc5681",
        /// The initial window is one segment if the SYN was sent three times or more, and the answer does not echo the
        /// first one; ssthresh stays. A timeout without a measured round-trip time is 3 s.
        Linux = "linux",
    }
}

keywords! {
    /// Time that the answer echoes to a SYN that was sent several times.
    pub enum SynEcho {
        /// That of the last SYN.
        Last = "last",
        /// That of the first SYN, so that the source measures its round-trip time from there (Linux).
        First = "first",
    }
}

settings! {
    /// Connection setup.
    pub struct Config {
        /// Number of retransmissions of the SYN before its timeout doubles (Linux: `tcp_syn_linear_timeouts`).
        pub linear_repeats: u32 = 0 => at_most(1000),
        /// Number of retransmissions of the SYN after which the connection is given up (Linux: `tcp_syn_retries` and
        /// `tcp_syn_linear_timeouts`); "max_timeouts": as in `tcp.max_timeouts`.
        pub max_repeats: Option<u32> | "max_timeouts" = None => range(1, 1000),
        /// Window and timeout after a retransmitted SYN.
        pub lost_syn: LostSyn = LostSyn::Rfc5681,
        /// Time that the answer echoes to a SYN that was sent several times.
        pub echo: SynEcho = SynEcho::Last,
    }
}
