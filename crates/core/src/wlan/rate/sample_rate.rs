//! SampleRate (Bicket, "Bit-rate Selection in Wireless Networks", MIT 2005) as in `ath_rate/sample` of madwifi in 2006.
//!
//! The current rate is the one whose frames take the least time, retries included. Now and then a frame is a *sample*:
//! its first attempts use another rate that could be faster. Times are averaged by frame size, with a plain mean at
//! first and an exponential one later.

use super::charge::Times;
use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::setting::limit::{at_most, range};
use crate::settings;
use crate::unit::{Span, Time};

settings! {
    /// Settings of SampleRate.
    pub struct Config {
        /// Largest share of the transmission time spent on samples [%].
        pub sampling: u32 = 10 => range(1, 100),
        /// Weight of the old average when a new time is averaged [%].
        pub smoothing: u32 = 95 => range(0, 99),
        /// Number of frames at the start whose times have equal weight in the average.
        pub first_frames: u32 = 20 => range(1, 100_000),
        /// Shortest time between rate changes, unless another rate takes less than half of the time.
        pub min_switch: Span = Span::secs(1) => at_most(Span::secs(3600)),
        /// Largest number of consecutive failures that is tolerated; a rate with more is not used for
        /// `forget_failures`.
        pub max_failures: u32 = 3 => range(0, 100_000),
        /// Time for which a rate with more than `max_failures` consecutive failures is not used.
        pub forget_failures: Span = Span::secs(10) => at_most(Span::secs(3600)),
        /// Number of attempts at the chosen rate.
        pub first_tries: u32 = 2 => range(1, 15),
        /// Number of further attempts at the best rate.
        pub best_tries: u32 = 3 => range(0, 15),
        /// Number of final attempts at the slowest rate.
        pub last_tries: u32 = 3 => range(0, 15),
        /// Adds one backoff too many to the time of a frame, as madwifi does.
        pub extra_backoff: bool = true,
    }
}

/// Classes of frame size \[B\], each with its own averages.
const SIZES: [u32; 3] = [250, 1600, 3000];

/// Averages of one rate and size.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    /// Mean time of a frame [us].
    average: f64,
    perfect: f64,
    frames: u32,
    acknowledged: bool,
    failures: u32,
    failed_at: Time,
}

/// State for one frame size.
#[derive(Clone, Debug)]
struct Bin {
    rates: Vec<Rate>,
    current: Option<u8>,
    switched_at: Time,
    sent: u32,
    since_sample: u32,
    /// Time of the last sample [us], and the rate of a sample in flight.
    sample_time: f64,
    sampling: Option<u8>,
    last_sampled: u8,
}

/// State of a neighbor.
#[derive(Clone, Debug)]
pub(super) struct SampleRate {
    bins: [Bin; SIZES.len()],
}

fn size_of(bytes: u32) -> usize {
    SIZES.iter().position(|&s| bytes <= s).unwrap_or(SIZES.len() - 1)
}

impl RateRule for SampleRate {
    const HAS_CHAIN: bool = true;

    fn plan(&mut self, frame: &Frame, cx: &mut Cx<'_>) -> Chain {
        let (cfg, bytes, now) = (&cx.cfg.sample_rate, frame.bytes, cx.now);
        let bin = &mut self.bins[size_of(bytes)];
        let best = bin.best(cfg, now);
        let average = bin.rates[usize::from(best)].average;
        let budget = average * f64::from(bin.since_sample * cfg.sampling / 100);
        let sample = if bin.current.is_some() && bin.sample_time < budget { bin.pick_sample(cfg, now) } else { None };
        let first = match sample {
            Some(rate) => {
                (bin.sampling, bin.last_sampled, bin.since_sample) = (Some(rate), rate, 0);
                rate
            }
            None => {
                bin.since_sample += 1;
                bin.choose(cfg, best, now)
            }
        };
        bin.sent += 1;
        let acknowledged = bin.rates.iter().any(|r| r.acknowledged);
        let second = if acknowledged { best } else { 0 };
        let tries = |n: u32| n as u8;
        let series =
            [(first, tries(cfg.first_tries)), (second, tries(cfg.best_tries)), (0, tries(cfg.last_tries)), (0, 0)];
        Chain { series, probe: false }
    }

    fn report(&mut self, frame: &Frame, success: bool, cx: &Cx<'_>) {
        let (cfg, times, now) = (&cx.cfg.sample_rate, cx.times, cx.now);
        let (size, used) = (size_of(frame.bytes), &frame.used);
        let (first, tries) = used[0];
        let series = used.iter().filter(|u| u.1 > 0);
        let more = u8::from(cfg.extra_backoff);
        let time = series.map(|&(rate, tries)| times.series(rate, SIZES[size], tries, more)).sum::<u64>() as f64;
        let first_failed = !success || used[1..].iter().any(|u| u.1 > 0);
        let bin = &mut self.bins[size];
        let rate = &mut bin.rates[usize::from(first)];
        rate.frames += 1;
        rate.average = if rate.frames <= cfg.first_frames {
            let n = f64::from(rate.frames);
            (if rate.frames == 1 { 0.0 } else { rate.average } * (n - 1.0) + time) / n
        } else {
            let old = f64::from(cfg.smoothing) / 100.0;
            old * rate.average + (1.0 - old) * time
        };
        if bin.sampling == Some(first) {
            (bin.sample_time, bin.sampling) = (time, None);
        }
        debug_assert!(tries > 0);
        if first_failed {
            // A rate that fails for short frames also fails for longer ones.
            for larger in &mut self.bins[size..] {
                let rate = &mut larger.rates[usize::from(first)];
                (rate.failures, rate.failed_at) = (rate.failures + 1, now);
            }
        } else {
            let rate = &mut self.bins[size].rates[usize::from(first)];
            (rate.failures, rate.acknowledged) = (0, true);
        }
        if success && first_failed {
            // The frame was acknowledged at a later rate.
            let last = used.iter().rev().find(|u| u.1 > 0).map_or(first, |u| u.0);
            self.bins[size].rates[usize::from(last)].acknowledged = true;
        }
    }
}

impl SampleRate {
    pub(super) fn new(times: &Times, rates: usize) -> SampleRate {
        let bin = |bytes| Bin {
            rates: (0..rates as u8)
                .map(|r| times.perfect(r, bytes) as f64)
                .map(|perfect| Rate { average: perfect, perfect, ..Rate::default() })
                .collect(),
            current: None,
            switched_at: Time::ZERO,
            sent: 0,
            since_sample: 0,
            sample_time: 0.0,
            sampling: None,
            last_sampled: 0,
        };
        SampleRate { bins: SIZES.map(bin) }
    }
}

impl Bin {
    /// Returns true if a rate has failed too often.
    fn is_out(&self, cfg: &Config, rate: u8, now: Time) -> bool {
        let r = &self.rates[usize::from(rate)];
        r.failures > cfg.max_failures && now < r.failed_at + cfg.forget_failures
    }

    /// Rate with the least average time.
    fn best(&self, cfg: &Config, now: Time) -> u8 {
        let usable = (0..self.rates.len() as u8).filter(|&r| !self.is_out(cfg, r, now));
        let average = |r: &u8| self.rates[usize::from(*r)].average;
        usable.min_by(|a, b| average(a).total_cmp(&average(b))).unwrap_or(0)
    }

    /// Keeps the current rate, or takes the best one.
    fn choose(&mut self, cfg: &Config, best: u8, now: Time) -> u8 {
        let Some(current) = self.current else {
            // The fastest rate that has not failed yet.
            let first = (0..self.rates.len() as u8).rev().find(|&r| self.rates[usize::from(r)].failures == 0);
            let first = first.unwrap_or(0);
            (self.current, self.switched_at) = (Some(first), now);
            return first;
        };
        let average = |r: u8| self.rates[usize::from(r)].average;
        let may = self.sent < cfg.first_frames
            || now >= self.switched_at + cfg.min_switch
            || 2.0 * average(best) < average(current);
        if may && best != current {
            (self.current, self.switched_at) = (Some(best), now);
            return best;
        }
        current
    }

    /// Next rate to sample: another one that could be faster than the current rate, in turn.
    fn pick_sample(&self, cfg: &Config, now: Time) -> Option<u8> {
        let current = self.current?;
        let rates = self.rates.len() as u8;
        let limit = self.rates[usize::from(current)].average;
        (1..=rates)
            .map(|i| (self.last_sampled + i) % rates)
            .find(|&r| r != current && self.rates[usize::from(r)].perfect <= limit && !self.is_out(cfg, r, now))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{control, send};
    use super::super::{Algorithm, Config, RateControl};
    use crate::unit::{Span, Time};

    fn sample_rate() -> RateControl {
        control(Config { algorithm: Algorithm::SampleRate, ..Config::default() })
    }

    /// Sends a frame every 3 ms; returns the rate of the first attempt of each.
    fn frames(c: &mut RateControl, from: Time, n: u64, lost: impl Fn(u8, u64, usize) -> bool) -> Vec<u8> {
        (0..n).map(|i| send(c, from + Span::ms(3 * i), |rate, attempt| lost(rate, i, attempt))[0]).collect()
    }

    #[test]
    fn starts_at_the_fastest_rate_and_never_samples_slower_ones() {
        let mut c = sample_rate();
        assert!(frames(&mut c, Time::ZERO, 500, |_, _, _| false).iter().all(|&r| r == 3));
    }

    #[test]
    fn half_of_all_attempts_lost_make_the_next_rate_faster() {
        // At 11 Mbit/s every other first attempt is lost: 4.1 ms a frame instead of 1.8, and 5.5 Mbit/s takes 2.9.
        let mut c = sample_rate();
        let rates =
            frames(&mut c, Time::ZERO, 2000, |rate, i, attempt| rate == 3 && !(i + attempt as u64).is_multiple_of(5));
        let tail = &rates[1000..];
        let share = |rate| tail.iter().filter(|&&r| r == rate).count() as f64 / tail.len() as f64;
        assert!(share(2) > 0.85 && share(1) == 0.0, "{} at 5.5 Mbit/s", share(2));
        // One frame in ten lost: 2.0 ms a frame.
        let mut c = sample_rate();
        let rates =
            frames(&mut c, Time::ZERO, 2000, |rate, i, attempt| rate == 3 && attempt == 0 && i.is_multiple_of(10));
        assert!(rates[500..].iter().filter(|&&r| r == 3).count() > 1400);
    }

    #[test]
    fn rate_with_four_failures_in_a_row_is_unused_for_ten_seconds() {
        let mut c = sample_rate();
        frames(&mut c, Time::ZERO, 30, |_, _, _| false);
        let rates = frames(&mut c, Time(1_000_000_000), 3000, |rate, _, _| rate == 3);
        let tried: Vec<usize> = rates.iter().enumerate().filter(|r| *r.1 == 3).map(|r| r.0).collect();
        // The first loss makes 5.5 Mbit/s the best rate; three samples are lost, too. Nine seconds are 3,000 frames.
        assert!(tried.len() == 4 && tried[0] == 0 && tried[1] > 10, "{tried:?}");
        let later = frames(&mut c, Time(20_000_000_000), 300, |_, _, _| false);
        assert!(later.contains(&3));
        assert_eq!(later.last(), Some(&3));
    }

    #[test]
    fn a_sample_comes_after_ten_frames_at_least() {
        let mut c = sample_rate();
        // 11 Mbit/s works only now and then, so others are worth a sample.
        let rates = frames(&mut c, Time::ZERO, 1000, |rate, i, a| rate == 3 && !(i + a as u64).is_multiple_of(3));
        let changes: Vec<usize> = (1..rates.len()).filter(|&i| rates[i] != rates[i - 1]).collect();
        let samples: Vec<usize> = changes.windows(2).filter(|w| w[1] == w[0] + 1).map(|w| w[0]).collect();
        assert!(samples.len() > 10, "{samples:?}");
        assert!(samples.windows(2).all(|w| w[1] - w[0] >= 10), "{samples:?}");
    }
}
