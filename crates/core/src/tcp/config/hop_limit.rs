//! Limit of the congestion window from the hop count of the path.
//!
//! Chen, Xue and Nahrstedt, "On Setting TCP's Congestion Window Limit in Mobile Ad Hoc Networks", ICC 2003: over an 802.11
//! chain no more than about a fifth of the round-trip hop count can be in flight without the packets of one flow contending
//! with each other.

use crate::setting::limit::{at_most, range};
use crate::settings;

settings! {
    /// Congestion window limit from the hop count of the path, there and back.
    pub struct Config if enabled, else "`tcp.hop_limit.enabled` is false" {
        /// Limits the congestion window by the hop count of the path.
        pub enabled: bool = false,
        /// Number of round-trip hops for which one segment may be outstanding.
        pub hops_per_segment: u32 = 5 => range(1, 1_000_000),
        /// Smallest limit \[segments\].
        pub min_segments: u32 = 2 => at_most(1_000_000),
    }
}

impl Config {
    /// The limit \[segments\] for a path of this many hops, there and back.
    pub fn segments(&self, round_trip_hops: u32) -> u32 {
        round_trip_hops.div_ceil(self.hops_per_segment).max(self.min_segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_the_round_trip_hops_and_at_least_two() {
        let limits = [2, 10, 11, 14, 16, 40].map(|hops| Config::default().segments(hops));
        assert_eq!(limits, [2, 2, 3, 3, 4, 8]);
    }
}
