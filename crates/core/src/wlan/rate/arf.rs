//! ARF (Kamerman and Monteban, Bell Labs Technical Journal 2(3), 1997) and AARF (Lacage, Manshaei and Turletti, MSWiM
//! 2004).
//!
//! After a number of successes in a row, or of attempts, the next frame probes the next rate. If its first attempt
//! fails, the rate falls back at once, and not again before a success; otherwise it falls after every second failure in
//! a row. AARF waits twice as long after a failed probe.

use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Settings of ARF and AARF.
    pub struct Config {
        /// Number of consecutive successes after which the rate is raised.
        pub successes: u32 = 10 => range(1, 100_000),
        /// Number of attempts after which the rate is raised in any case.
        pub attempts: u32 = 15 => range(1, 100_000),
        /// Largest number of consecutive successes that AARF requires.
        pub max_successes: u32 = 60 => range(1, 100_000),
    }
}

/// State of a neighbor.
#[derive(Clone, Debug)]
pub(super) struct Arf {
    adaptive: bool,
    rate: u8,
    /// Successes in a row, attempts since the rate has changed, failures in a row.
    successes: u32,
    attempts: u32,
    failures: u32,
    /// The rate was raised, and no frame was acknowledged since.
    probes: bool,
    wait_successes: u32,
    wait_attempts: u32,
}

impl RateRule for Arf {
    fn plan(&mut self, _frame: &Frame, _cx: &mut Cx<'_>) -> Chain {
        Chain::at(self.rate)
    }

    fn on_success(&mut self, _frame: &mut Frame, cx: &Cx<'_>) {
        (self.successes, self.attempts, self.failures) = (self.successes + 1, self.attempts + 1, 0);
        self.probes = false;
        self.raise(cx.modes.len() as u8 - 1);
    }

    fn on_failure(&mut self, frame: &mut Frame, cx: &Cx<'_>) {
        let cfg = &cx.cfg.arf;
        (self.successes, self.attempts, self.failures) = (0, self.attempts + 1, self.failures + 1);
        if self.probes {
            if self.failures == 1 {
                if self.adaptive {
                    self.wait_successes = (2 * self.wait_successes).min(cfg.max_successes.max(cfg.successes));
                    self.wait_attempts = (2 * self.wait_attempts).max(cfg.successes);
                }
                self.fall();
            }
            self.attempts = 0;
        } else if self.failures.is_multiple_of(2) {
            if self.adaptive {
                (self.wait_successes, self.wait_attempts) = (cfg.successes, cfg.attempts);
            }
            self.fall();
        }
        frame.next_rate = self.rate;
    }
}

impl Arf {
    /// Begins with the slowest rate.
    pub(super) fn new(cfg: &Config, adaptive: bool) -> Arf {
        Arf {
            adaptive,
            rate: 0,
            successes: 0,
            attempts: 0,
            failures: 0,
            probes: false,
            wait_successes: cfg.successes,
            wait_attempts: cfg.attempts,
        }
    }

    /// `most` is the fastest rate.
    fn raise(&mut self, most: u8) {
        if (self.successes >= self.wait_successes || self.attempts >= self.wait_attempts) && self.rate < most {
            self.rate += 1;
            (self.successes, self.attempts, self.probes) = (0, 0, true);
        }
    }

    fn fall(&mut self) {
        self.rate = self.rate.saturating_sub(1);
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{control, send};
    use super::super::{Algorithm, Config};
    use crate::unit::Time;

    /// Rates of the attempts at each frame; `lost` selects the attempts that fail.
    fn rates(algorithm: Algorithm, frames: usize, lost: impl Fn(u8, usize) -> bool + Copy) -> Vec<Vec<u8>> {
        let mut c = control(Config { algorithm, ..Config::default() });
        (0..frames).map(|i| send(&mut c, Time(i as u64), lost)).collect()
    }

    #[test]
    fn ten_successes_raise_the_rate() {
        let all = rates(Algorithm::Arf, 31, |_, _| false);
        let first: Vec<u8> = all.iter().map(|f| f[0]).collect();
        assert_eq!(first, [[0; 10], [1; 10], [2; 10]].concat().into_iter().chain([3]).collect::<Vec<_>>());
    }

    #[test]
    fn failed_probe_falls_back_and_doubles_the_wait_of_aarf() {
        // The fourth rate always fails.
        let probes = |algorithm| -> Vec<usize> {
            let all = rates(algorithm, 200, |rate, _| rate == 3);
            assert!(all.iter().all(|f| f.len() == 1 || f[..] == [3, 2]), "{all:?}");
            all.iter().enumerate().filter(|f| f.1[0] == 3).map(|f| f.0).collect()
        };
        let (arf, aarf) = (probes(Algorithm::Arf), probes(Algorithm::Aarf));
        // The second attempt after the probe is the first of ten successes.
        assert_eq!(arf[..4], [30, 40, 50, 60]);
        let gaps: Vec<usize> = aarf.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps[..3].windows(2).all(|w| w[1] > w[0]) && gaps.last() == Some(&60), "{gaps:?}");
    }

    #[test]
    fn every_second_failure_lowers_the_rate() {
        let mut c = control(Config { algorithm: Algorithm::Arf, ..Config::default() });
        for i in 0..25 {
            send(&mut c, Time(i), |_, _| false);
        }
        assert_eq!(send(&mut c, Time(30), |_, _| true), [2, 2, 1, 1, 0, 0, 0]);
    }
}
