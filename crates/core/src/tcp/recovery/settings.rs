//! Settings of loss recovery.

use crate::setting::limit::range;
use crate::{keywords, settings};

keywords! {
    /// When a partial acknowledgement restarts the retransmission timer (RFC 6582, section 4).
    pub enum PartialAckTimer {
        /// Only the first one does.
        Impatient = "impatient",
        /// Each one does.
        SlowButSteady = "slow_but_steady",
    }
}

settings! {
    /// Fast recovery of Reno and NewReno.
    pub struct Config {
        /// Timer at partial acknowledgements.
        pub partial_ack_timer: PartialAckTimer = PartialAckTimer::Impatient,
        /// Whether a partial acknowledgement deflates the window by what it acknowledges (RFC 6582, 3.2 step 3);
        /// otherwise the inflation starts anew.
        pub partial_window_deflation: bool = true,
        /// Segments that a duplicate or partial acknowledgement may release; "none": no limit.
        pub burst: Option<u32> = None => range(1, 1_000_000),
        /// Whether the window grows with the acknowledgement that ends recovery (ns-2).
        pub grow_at_end: bool = false,
        /// Whether the window after recovery is at most what is outstanding and one segment (RFC 6582, 3.2 step 3).
        pub limit_at_end: bool = true,
        /// Whether duplicate acknowledgements inflate the window only in recovery, not after a timeout.
        pub inflate_in_recovery_only: bool = true,
        /// Whether the first data segment may be retransmitted fast although the SYN counts as recovery point (ns-2).
        pub first_segment_exception: bool = true,
    }
}

keywords! {
    /// Rules for recovery with SACK.
    pub enum SackRule {
        /// RFC 6675.
        Rfc6675 = "rfc6675",
        /// ns-2's sack1 (Fall and Floyd 1996).
        Sack1 = "sack1",
    }
}

settings! {
    /// Loss recovery with SACK.
    pub struct SackConfig {
        /// Rules.
        pub rule: SackRule = SackRule::Rfc6675,
    }
}
