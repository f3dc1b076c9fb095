//! Flow generator: short flows that arrive as a Poisson process, with random sizes.

use crate::rng::{Purpose, Stream};
use crate::setting::limit::{above, range};
use crate::unit::{Bytes, Time};
use crate::{keywords, settings};

keywords! {
    /// Distributions of flow sizes.
    pub enum Distribution {
        /// Constant: all sizes equal the mean.
        Fixed = "fixed",
        /// Exponential distribution.
        Exponential = "exponential",
        /// Pareto: P(X > x) = (x_min / x)^shape, most small and a few very large.
        Pareto = "pareto",
        /// Lognormal: the logarithm is normal with standard deviation sigma.
        Lognormal = "lognormal",
    }
}

settings! {
    /// Sizes of the short flows.
    pub struct Size {
        /// Distribution of the sizes.
        pub distribution: Distribution = Distribution::Exponential,
        /// Mean size of a short flow, or of a response.
        pub mean: Bytes = Bytes(100_000) => range(Bytes(1), Bytes(1_000_000_000)),
        /// Shape of the Pareto distribution. Its mean is finite above 1, its variance above 2.
        pub shape: f64 = 1.5 => above(1.0).at_most(100.0)
            ; used when |c| c.distribution == Distribution::Pareto, else "the distribution is not `pareto`",
        /// Standard deviation of the logarithm of a lognormal size.
        pub sigma: f64 = 1.0 => range(0.0, 10.0)
            ; used when |c| c.distribution == Distribution::Lognormal, else "the distribution is not `lognormal`",
    }
}

impl Size {
    /// Draws a size in whole bytes, at least 1 \[B\].
    pub fn draw(&self, rng: &mut Stream) -> u32 {
        let mean = f64::from(self.mean.0);
        // From (0, 1], so that logarithms and powers are finite.
        let mut uniform = || 1.0 - rng.uniform();
        let x = match self.distribution {
            Distribution::Fixed => mean,
            Distribution::Exponential => -mean * libm::log(uniform()),
            Distribution::Pareto => {
                let least = mean * (self.shape - 1.0) / self.shape;
                least / libm::pow(uniform(), 1.0 / self.shape)
            }
            Distribution::Lognormal => {
                // Box and Muller, Ann. Math. Stat. 29(2), 1958.
                let radius = libm::sqrt(-2.0 * libm::log(uniform()));
                let normal = radius * libm::cos(2.0 * std::f64::consts::PI * uniform());
                mean * libm::exp(self.sigma * normal - self.sigma * self.sigma / 2.0)
            }
        };
        // The conversion saturates at the largest number.
        (libm::ceil(x) as u32).max(1)
    }
}

/// Arrival times of the short flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Mean number of short flows per second.
    pub rate: f64,
    /// Start of the arrivals.
    pub start: Time,
    /// End of the arrivals.
    pub stop: Time,
    /// Largest number of short flows.
    pub count: u64,
}

/// Flow generator: draws the arrival times and sizes of short flows.
#[derive(Clone, Debug)]
pub struct Arrivals {
    process: Process,
    size: Size,
    next: Time,
    made: u64,
    times: Stream,
    sizes: Stream,
}

impl Arrivals {
    /// A generator with random streams of its own, keyed by the seed of the run and a number.
    pub fn new(process: &Process, size: &Size, seed: u64, index: u64) -> Arrivals {
        let mut arrivals = Arrivals {
            process: process.clone(),
            size: size.clone(),
            next: process.start,
            made: 0,
            times: Stream::new(seed, Purpose::Arrivals, index),
            sizes: Stream::new(seed, Purpose::Sizes, index),
        };
        arrivals.schedule();
        arrivals
    }

    /// Schedules the next arrival after an exponential time.
    fn schedule(&mut self) {
        let wait = self.times.exponential() / self.process.rate;
        let next = Time(self.next.0.saturating_add((wait * 1e9) as u64));
        let goes_on = self.made < self.process.count && next < self.process.stop;
        self.next = if goes_on { next } else { Time::NEVER };
    }

    /// Start of the next short flow.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Starts a short flow and returns its size \[B\].
    pub fn on_deadline(&mut self) -> u32 {
        self.made += 1;
        self.schedule();
        self.size.draw(&mut self.sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(size: &Size, n: usize) -> Vec<f64> {
        let mut rng = Stream::new(1, Purpose::Sizes, 0);
        (0..n).map(|_| f64::from(size.draw(&mut rng))).collect()
    }

    /// Share of sizes above `x`.
    fn above(sizes: &[f64], x: f64) -> f64 {
        sizes.iter().filter(|&&s| s > x).count() as f64 / sizes.len() as f64
    }

    #[test]
    fn sizes_follow_their_distributions() {
        let n = 200_000;
        let of = |distribution| Size { distribution, mean: Bytes(100_000), ..Size::default() };
        assert!(sizes(&of(Distribution::Fixed), 10).iter().all(|&s| s == 1e5));
        // Five standard errors of a share p: 5 sqrt(p (1 - p) / n).
        let check = |size: Size, x: f64, p: f64| {
            let (found, bound) = (above(&sizes(&size, n), x), 5.0 * (p * (1.0 - p) / n as f64).sqrt());
            assert!((found - p).abs() <= bound, "{size:?}: {found} above {x} instead of {p}");
        };
        for x in [1e4, 1e5, 3e5] {
            check(of(Distribution::Exponential), x, (-x / 1e5_f64).exp());
            // The minimum is a third of the mean for shape 1.5.
            check(of(Distribution::Pareto), x, (1e5 / 3.0 / x).min(1.0).powf(1.5));
        }
        // The median is exp(mu) = mean exp(-sigma^2 / 2); 15.866 % exceed it by one sigma.
        let median = 1e5 * (-0.5_f64).exp();
        check(of(Distribution::Lognormal), median, 0.5);
        check(of(Distribution::Lognormal), median * 1_f64.exp(), 0.158_655);
        let mean = |d| sizes(&of(d), n).iter().sum::<f64>() / n as f64;
        // Standard errors: the mean over sqrt(n), and sqrt(e - 1) times that.
        assert!((mean(Distribution::Exponential) / 1e5 - 1.0).abs() < 5.0 / (n as f64).sqrt());
        assert!((mean(Distribution::Lognormal) / 1e5 - 1.0).abs() < 5.0 * 1.311 / (n as f64).sqrt());
    }

    #[test]
    fn arrivals_are_a_poisson_process_within_its_bounds() {
        let process = Process { rate: 50.0, start: Time(3_000_000_000), stop: Time(203_000_000_000), count: u64::MAX };
        let times = |process: &Process| {
            let mut arrivals = Arrivals::new(process, &Size::default(), 7, 0);
            let mut times = vec![];
            while arrivals.deadline() != Time::NEVER {
                times.push(arrivals.deadline().as_secs());
                arrivals.on_deadline();
            }
            times
        };
        let all = times(&process);
        // 10,000 are expected, with the standard deviation 100.
        assert!((all.len() as f64 - 10_000.0).abs() < 500.0, "{}", all.len());
        assert!(all[0] > 3.0 && all[all.len() - 1] < 203.0);
        let gaps: Vec<f64> = all.windows(2).map(|w| w[1] - w[0]).collect();
        let longer = above(&gaps, 0.02);
        assert!((longer - (-1.0_f64).exp()).abs() < 5.0 * 0.4822 / 100.0, "{longer}");
        assert_eq!(times(&Process { count: 12, ..process.clone() }), all[..12]);
    }
}
