//! Ideal rate control: the fastest rate with a negligible bit error rate. An upper bound that no real station reaches,
//! because it knows the signal-to-noise ratio of its last frame at the neighbor.

use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Ideal rate control.
    pub struct Config {
        /// Largest bit error rate that is tolerated.
        pub bit_errors: f64 = 1e-6 => range(1e-12, 0.1),
    }
}

/// Consecutive failures after which the estimate for a neighbor is out of date: the attempts at a packet,
/// dot11ShortRetryLimit.
const MOST_FAILURES: u32 = 7;

/// State of a neighbor.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    rate: u8,
    /// Attempts that have failed since a frame has arrived.
    failures: u32,
}

impl RateRule for Ideal {
    const KNOWS_SIGNALS: bool = true;

    fn bit_errors(cfg: &super::Config) -> Option<f64> {
        Some(cfg.ideal.bit_errors)
    }

    /// The slowest before anything is known.
    fn plan(&mut self, _frame: &Frame, _cx: &mut Cx<'_>) -> Chain {
        Chain::at(self.rate)
    }

    /// A neighbor that has moved away since its last frame would never get another one.
    fn on_failure(&mut self, frame: &mut Frame, _cx: &Cx<'_>) {
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.rate = 0;
        }
        frame.next_rate = self.rate;
    }

    fn on_success(&mut self, _frame: &mut Frame, _cx: &Cx<'_>) {}

    fn arrived(&mut self, ratio: f64, least: &[f64]) {
        self.rate = least.iter().rposition(|&l| l <= ratio).unwrap_or(0) as u8;
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_the_fastest_rate_that_the_ratio_allows() {
        let mut s = Ideal::default();
        assert_eq!(s.rate, 0);
        // The second rate needs more than the third, as 9 Mbit/s compared with 12 Mbit/s.
        let least = [1.0, 3.0, 2.0, 8.0];
        for (ratio, rate) in [(0.5, 0), (1.0, 0), (2.0, 2), (7.9, 2), (8.0, 3), (0.1, 0)] {
            s.arrived(ratio, &least);
            assert_eq!(s.rate, rate, "{ratio}");
        }
    }
}
