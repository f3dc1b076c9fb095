//! The Gilbert-Elliott channel (E. N. Gilbert 1960; E. O. Elliott 1963): a Markov chain of a good and a bad state, each
//! with its own error rate, that makes one step per unit: packet, byte or bit.

use crate::rng::Stream;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Gilbert-Elliott channel. With p = `good_to_bad` and r = `bad_to_good`, the share p / (p + r) of the time is bad,
    /// and bad periods last 1 / r units on average.
    pub struct Config {
        /// p: probability of a change from the good to the bad state after a unit.
        pub good_to_bad: f64 = 0.002_02 => range(0.0, 1.0),
        /// r: probability of a change from the bad to the good state after a unit.
        pub bad_to_good: f64 = 0.2 => range(0.0, 1.0),
        /// 1 - k: probability that a unit is damaged in the good state.
        pub good_rate: f64 = 0.0 => range(0.0, 1.0),
        /// 1 - h: probability that a unit is damaged in the bad state.
        pub bad_rate: f64 = 1.0 => range(0.0, 1.0),
    }
}

/// Transition probabilities from each state (good, bad) to each.
type Matrix = [[f64; 2]; 2];

const IDENTITY: Matrix = [[1.0, 0.0], [0.0, 1.0]];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

/// Power n of a matrix, by squaring.
fn power(mut base: Matrix, mut n: u64) -> Matrix {
    let mut result = IDENTITY;
    while n > 0 {
        if n & 1 == 1 {
            result = product(&result, &base);
        }
        base = product(&base, &base);
        n >>= 1;
    }
    result
}

/// Probabilities for a packet of one size: to end in each state, undamaged and in total.
#[derive(Clone, Copy, Debug)]
struct Chances {
    units: u64,
    undamaged: Matrix,
    all: Matrix,
}

/// A Gilbert-Elliott channel in its current state.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    bad: bool,
    /// One step, without and with damage.
    step: Matrix,
    undamaged_step: Matrix,
    /// Cache for two packet sizes: data and acknowledgements alternate.
    known: [Chances; 2],
    oldest: usize,
}

impl GilbertElliott {
    /// A channel in a state drawn from the stationary distribution.
    pub fn new(cfg: &Config, rng: &mut Stream) -> GilbertElliott {
        let (p, r) = (cfg.good_to_bad, cfg.bad_to_good);
        let step = [[1.0 - p, p], [r, 1.0 - r]];
        let intact = [1.0 - cfg.good_rate, 1.0 - cfg.bad_rate];
        let undamaged_step = std::array::from_fn(|i| step[i].map(|to| intact[i] * to));
        let none = Chances { units: 0, undamaged: IDENTITY, all: IDENTITY };
        GilbertElliott { bad: rng.uniform() * (p + r) < p, step, undamaged_step, known: [none; 2], oldest: 0 }
    }

    fn chances(&mut self, units: u64) -> Chances {
        if let Some(known) = self.known.iter().find(|k| k.units == units) {
            return *known;
        }
        let new = Chances { units, undamaged: power(self.undamaged_step, units), all: power(self.step, units) };
        self.known[self.oldest] = new;
        self.oldest = 1 - self.oldest;
        new
    }

    /// Returns true if one of the next units is damaged.
    pub fn damages(&mut self, units: u64, rng: &mut Stream) -> bool {
        let Chances { undamaged, all, .. } = self.chances(units);
        let from = usize::from(self.bad);
        // One number decides damage and state: undamaged and good, undamaged and bad, damaged and good.
        let x = rng.uniform();
        let intact = undamaged[from][0] + undamaged[from][1];
        if x < intact {
            self.bad = x >= undamaged[from][0];
            false
        } else {
            self.bad = x - intact >= all[from][0] - undamaged[from][0];
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn stream() -> Stream {
        Stream::new(5, Purpose::Errors, 3)
    }

    /// Share of damaged packets, mean length of runs of damaged packets, and number of runs.
    fn observed(cfg: &Config, units: u64, packets: u32) -> (f64, f64, u32) {
        let mut rng = stream();
        let mut channel = GilbertElliott::new(cfg, &mut rng);
        let (mut damaged, mut bursts, mut before) = (0u32, 0u32, false);
        for _ in 0..packets {
            let now = channel.damages(units, &mut rng);
            damaged += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (f64::from(damaged) / f64::from(packets), f64::from(damaged) / f64::from(bursts), bursts)
    }

    #[test]
    fn loss_and_bursts_are_those_of_the_formulas() {
        // Loss 1 %, bursts of 5 packets: r = 0.2, p = 0.2 * 0.01 / 0.99.
        let cfg = Config { good_to_bad: 0.2 * 0.01 / 0.99, ..Config::default() };
        let n = 2_000_000;
        let (loss, burst, bursts) = observed(&cfg, 1, n);
        // Burst lengths are geometric with mean 1 / r and variance (1 - r) / r^2.
        let sd = (0.8f64 / 0.04 / f64::from(bursts)).sqrt();
        assert!((burst - 5.0).abs() < 4.0 * sd, "bursts of {burst}, sd {sd}");
        // Variance of the mean of a two-state chain: pi (1 - pi) / n (1 + c) / (1 - c), c = 1 - p - r.
        let c = 1.0 - cfg.good_to_bad - cfg.bad_to_good;
        let sd = (0.01 * 0.99 / f64::from(n) * (1.0 + c) / (1.0 - c)).sqrt();
        assert!((loss - 0.01).abs() < 4.0 * sd, "loss {loss}, sd {sd}");
    }

    #[test]
    fn errors_in_both_states() {
        // (r (1 - k) + p (1 - h)) / (p + r)
        let cfg = Config { good_to_bad: 0.1, bad_to_good: 0.3, good_rate: 0.02, bad_rate: 0.6 };
        let expected = (0.3 * 0.02 + 0.1 * 0.6) / 0.4;
        let (loss, _, _) = observed(&cfg, 1, 1_000_000);
        assert!((loss - expected).abs() < 0.002, "{loss} for {expected}");
    }

    #[test]
    fn packet_equals_its_units_one_by_one() {
        let cfg = Config { good_to_bad: 0.001, bad_to_good: 0.02, good_rate: 0.000_1, bad_rate: 0.05 };
        let (units, n) = (300u64, 20_000);
        let mut rng = stream();
        let mut channel = GilbertElliott::new(&cfg, &mut rng);
        let mut after = [[0u32; 2]; 2];
        let mut before = false;
        for _ in 0..n {
            // Draws for every unit, even after a damaged one.
            let now = (0..units).filter(|_| channel.damages(1, &mut rng)).count() > 0;
            after[usize::from(before)][usize::from(now)] += 1;
            before = now;
        }
        let slow = |b: usize| f64::from(after[b][1]) / f64::from(after[b][0] + after[b][1]);
        let mut channel = GilbertElliott::new(&cfg, &mut rng);
        let mut fast = [[0u32; 2]; 2];
        for _ in 0..20 * n {
            let now = channel.damages(units, &mut rng);
            fast[usize::from(before)][usize::from(now)] += 1;
            before = now;
        }
        let fast = |b: usize| f64::from(fast[b][1]) / f64::from(fast[b][0] + fast[b][1]);
        for b in [0, 1] {
            assert!((slow(b) - fast(b)).abs() < 0.015, "{} and {}", slow(b), fast(b));
        }
        assert!(fast(1) > fast(0) + 0.02, "errors come in bursts");
    }
}
