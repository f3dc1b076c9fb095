//! Log-normal shadowing: obstacles make the signal between two radios stronger or weaker than their distance implies,
//! by a constant factor that is drawn once for each pair.

use crate::radio::config::Config;
use crate::rng::{Purpose, Stream};

/// Truncation of the distribution, in standard deviations.
const FARTHEST: f64 = 4.0;

/// Log-normal shadowing.
#[derive(Clone, Copy, Debug)]
pub struct Shadowing {
    /// Standard deviation [dB].
    sigma: f64,
    seed: u64,
}

impl Shadowing {
    /// Shadowing of a network.
    pub fn new(cfg: &Config, seed: u64) -> Shadowing {
        Shadowing { sigma: 10.0 * libm::log10(cfg.shadowing.0), seed }
    }

    /// Power gain between two radios with these keys, the same in both directions.
    pub fn gain(&self, a: u64, b: u64) -> f64 {
        if self.sigma == 0.0 {
            return 1.0;
        }
        // The place of a radio among those of its node stands above its node's number.
        let [a, b] = [a, b].map(|key| ((key >> 32 << 24) | key) & 0xffff_ffff);
        let pair = a.min(b) << 32 | a.max(b);
        let mut rng = Stream::new(self.seed, Purpose::Shadowing, pair);
        self.factor(rng.normal().clamp(-FARTHEST, FARTHEST))
    }

    /// Upper bound of the gain of any pair, as a power ratio.
    pub fn most(&self) -> f64 {
        self.factor(FARTHEST)
    }

    fn factor(&self, deviations: f64) -> f64 {
        libm::pow(10.0, self.sigma * deviations / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Ratio;

    #[test]
    fn gains_are_log_normal_symmetric_and_fixed_per_pair() {
        let shadowing = Shadowing::new(&Config { shadowing: Ratio::db(4.0), ..Config::default() }, 7);
        let n = 20_000_u32;
        let db: Vec<f64> = (0..n).map(|i| 10.0 * shadowing.gain(i.into(), (3 * i + 1).into()).log10()).collect();
        let mean = db.iter().sum::<f64>() / f64::from(n);
        let variance = db.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n - 1);
        // Tolerance: four standard errors of the mean and of the deviation.
        assert!(mean.abs() < 4.0 * 4.0 / f64::from(n).sqrt(), "{mean}");
        assert!((variance.sqrt() - 4.0).abs() < 4.0 * 4.0 / f64::from(2 * n).sqrt(), "{variance}");
        assert!((0..100).all(|i| shadowing.gain(i, 200) == shadowing.gain(200, i)));
        assert!(shadowing.gain(1, 2) != shadowing.gain(1, 3));
        assert!(shadowing.gain(1, 2) != shadowing.gain(1, 1 << 32 | 2));
        let other = Shadowing { seed: 8, ..shadowing };
        assert!(shadowing.gain(1, 2) != other.gain(1, 2));
        assert_eq!(Shadowing::new(&Config::default(), 7).gain(1, 2), 1.0);
    }
}
