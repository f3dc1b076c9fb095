//! Ideal rate control: the fastest rate with a negligible bit error rate. An upper bound that no real station reaches,
//! because it knows the signal-to-noise ratio of its last frame at the neighbour.

use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Ideal rate control.
    pub struct Config {
        /// Bit error rate that is tolerated.
        pub bit_errors: f64 = 1e-6 => range(1e-12, 0.1),
    }
}

/// State of a neighbour.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    rate: u8,
}

impl Ideal {
    /// Current rate; the slowest until a frame has arrived.
    pub(super) fn rate(&self) -> u8 {
        self.rate
    }

    /// A frame has arrived with this signal-to-noise ratio; `least` is the ratio that each rate needs.
    pub(super) fn arrived(&mut self, ratio: f64, least: &[f64]) {
        self.rate = least.iter().rposition(|&l| l <= ratio).unwrap_or(0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_the_fastest_rate_that_the_ratio_allows() {
        let mut s = Ideal::default();
        assert_eq!(s.rate(), 0);
        // The second rate needs a higher ratio than the third, like 9 Mbit/s compared with 12 Mbit/s.
        let least = [1.0, 3.0, 2.0, 8.0];
        for (ratio, rate) in [(0.5, 0), (1.0, 0), (2.0, 2), (7.9, 2), (8.0, 3), (0.1, 0)] {
            s.arrived(ratio, &least);
            assert_eq!(s.rate(), rate, "{ratio}");
        }
    }
}
