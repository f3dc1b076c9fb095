//! The fastest rate at which hardly a bit is lost: a bound that no station knows how to keep, since it is told with what ratio
//! of signal to noise its last frame has reached the neighbour.

use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Ideal rate control.
    pub struct Config {
        /// Share of bits that may be lost.
        pub bit_errors: f64 = 1e-6 => range(1e-12, 0.1),
    }
}

/// What is known of a neighbour.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    rate: u8,
}

impl Ideal {
    /// The slowest before anything is known.
    pub(super) fn rate(&self) -> u8 {
        self.rate
    }

    /// A frame has arrived with this ratio of signal to noise. `least`: what each rate needs.
    pub(super) fn arrived(&mut self, ratio: f64, least: &[f64]) {
        self.rate = least.iter().rposition(|&l| l <= ratio).unwrap_or(0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_rate_that_the_ratio_is_enough_for() {
        let mut s = Ideal::default();
        assert_eq!(s.rate(), 0);
        // The second rate needs more than the third, as 9 Mbit/s does beside 12 Mbit/s.
        let least = [1.0, 3.0, 2.0, 8.0];
        for (ratio, rate) in [(0.5, 0), (1.0, 0), (2.0, 2), (7.9, 2), (8.0, 3), (0.1, 0)] {
            s.arrived(ratio, &least);
            assert_eq!(s.rate(), rate, "{ratio}");
        }
    }
}
