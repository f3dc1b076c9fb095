//! SampleRate as in Bicket's thesis ("Bit-rate Selection in Wireless Networks", MIT 2005).
//!
//! The average of a rate is the time of all frames sent at it in the last ten seconds, divided by the number of them
//! that were acknowledged. The rate with the least average is used; every tenth frame tries another one, drawn from
//! those that would take less time without loss. All attempts at a frame use one rate.

use super::charge::Times;
use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::setting::limit::{above, range};
use crate::settings;
use crate::unit::{Span, Time};
use crate::wlan::{Mode, Timing};

settings! {
    /// Settings of SampleRate as in the thesis.
    pub struct Config {
        /// Length of the averaging window, in steps of 1/100.
        pub window: Span = Span::secs(10) => above(Span::ms(1)).at_most(Span::secs(3600)),
        /// Number of frames of which one tries another rate.
        pub sample_every: u32 = 10 => range(2, 100_000),
        /// Number of frames given up in a row after which a rate is not used until the window has passed.
        pub max_failures: u32 = 4 => range(1, 100_000),
    }
}

/// Number of parts of the window.
const PARTS: usize = 100;

/// Frames sent at a rate in a part of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    acknowledged: u32,
    /// Total time of the frames [us].
    time: u64,
}

#[derive(Clone, Debug)]
struct Rate {
    parts: [Part; PARTS],
    sum: Part,
    /// Frames given up in a row, and the instant of the last one.
    failures: u32,
    failed_at: Time,
}

/// State of a neighbor.
#[derive(Clone, Debug)]
pub(super) struct SampleRateThesis {
    rates: Vec<Rate>,
    frames: u32,
    /// Current part of the window, counted from the start of the run.
    part: u64,
}

impl Rate {
    fn average(&self) -> Option<f64> {
        (self.sum.acknowledged > 0).then(|| self.sum.time as f64 / f64::from(self.sum.acknowledged))
    }

    fn forget(&mut self, part: usize) {
        let old = std::mem::take(&mut self.parts[part]);
        self.sum.acknowledged -= old.acknowledged;
        self.sum.time -= old.time;
    }

    fn is_out(&self, cfg: &Config, now: Time) -> bool {
        self.failures >= cfg.max_failures && now < self.failed_at + cfg.window
    }
}

impl RateRule for SampleRateThesis {
    fn times(modes: &[Mode], _timing: &Timing) -> Times {
        Times::of_thesis(modes)
    }

    fn plan(&mut self, frame: &Frame, cx: &mut Cx<'_>) -> Chain {
        Chain::at(self.choose(frame.bytes, cx))
    }

    fn report(&mut self, frame: &Frame, success: bool, cx: &Cx<'_>) {
        let (cfg, times, now) = (&cx.cfg.sample_rate_thesis, cx.times, cx.now);
        self.advance(cfg, now);
        let (rate, tries, bytes) = (frame.rate, frame.used[0].1, frame.bytes);
        let time = times.series(rate, bytes, tries, 0);
        let r = &mut self.rates[usize::from(rate)];
        for sum in [&mut r.sum, &mut r.parts[(self.part % PARTS as u64) as usize]] {
            sum.acknowledged += u32::from(success);
            sum.time += time;
        }
        if success {
            r.failures = 0;
        } else {
            let recent = now < r.failed_at + cfg.window;
            (r.failures, r.failed_at) = (if recent { r.failures + 1 } else { 1 }, now);
        }
    }
}

impl SampleRateThesis {
    pub(super) fn new(rates: usize) -> SampleRateThesis {
        let rate = Rate { parts: [Part::default(); PARTS], sum: Part::default(), failures: 0, failed_at: Time::ZERO };
        SampleRateThesis { rates: vec![rate; rates], frames: 0, part: 0 }
    }

    /// Drops everything older than the window.
    fn advance(&mut self, cfg: &Config, now: Time) {
        let part = now.0 / (cfg.window.0 / PARTS as u64);
        for old in (self.part + 1..=part).take(PARTS) {
            self.rates.iter_mut().for_each(|r| r.forget((old % PARTS as u64) as usize));
        }
        self.part = part;
    }

    /// The rate of the attempts at a frame.
    fn choose(&mut self, bytes: u32, cx: &mut Cx<'_>) -> u8 {
        let (cfg, times, now) = (&cx.cfg.sample_rate_thesis, cx.times, cx.now);
        self.advance(cfg, now);
        self.frames += 1;
        let rate = |r: u8| &self.rates[usize::from(r)];
        let usable = || (0..self.rates.len() as u8).filter(|&r| !rate(r).is_out(cfg, now));
        let known = usable().filter_map(|r| rate(r).average().map(|a| (r, a)));
        let Some((best, average)) = known.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return usable().next_back().unwrap_or(0);
        };
        if !self.frames.is_multiple_of(cfg.sample_every) {
            return best;
        }
        let samples = || usable().filter(|&r| r != best && (times.perfect(r, bytes) as f64) < average);
        match samples().count() as u32 {
            0 => best,
            n => samples().nth(cx.rng.below(n) as usize).unwrap_or(best),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{control, send};
    use super::super::{Algorithm, Config, RateControl};
    use crate::unit::{Span, Time};

    fn thesis() -> RateControl {
        control(Config { algorithm: Algorithm::SampleRateThesis, ..Config::default() })
    }

    /// Sends a frame every 10 ms; returns the rate of each.
    fn frames(c: &mut RateControl, from: Time, n: u64, lost: impl Fn(u8, u64, usize) -> bool) -> Vec<u8> {
        (0..n)
            .map(|i| {
                let rates = send(c, from + Span::ms(10 * i), |rate, attempt| lost(rate, i, attempt));
                assert!(rates.iter().all(|&r| r == rates[0]), "a frame has one rate");
                rates[0]
            })
            .collect()
    }

    #[test]
    fn it_begins_with_the_fastest_rate_and_goes_down_after_four_failures() {
        let rates = frames(&mut thesis(), Time::ZERO, 12, |rate, _, _| rate > 0);
        assert_eq!(rates, [3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1]);
    }

    #[test]
    fn clean_link_stays_at_the_fastest_rate() {
        assert!(frames(&mut thesis(), Time::ZERO, 3000, |_, _, _| false).iter().all(|&r| r == 3));
    }

    #[test]
    fn every_tenth_frame_is_a_sample_of_what_could_be_faster() {
        // One retry at 11 Mbit/s: 4.0 ms a frame, and 5.5 Mbit/s would take 3.0 ms. At 5.5 Mbit/s frames also need a
        // retry.
        let mut c = thesis();
        let rates = frames(&mut c, Time::ZERO, 30, |rate, _, attempt| rate >= 2 && attempt < 1);
        let mut expected = vec![3; 30];
        (expected[9], expected[19], expected[29]) = (2, 2, 2);
        assert_eq!(rates, expected);
        // Without losses at 5.5 Mbit/s it becomes the rate, and samples use 11 Mbit/s.
        let rates = frames(&mut c, Time(20_000_000_000), 40, |rate, _, attempt| rate == 3 && attempt < 1);
        assert_eq!(rates[..9], [3; 9], "nothing is known any more");
        assert_eq!(rates[9], 2);
        assert_eq!(rates[10..19], [2; 9]);
        assert_eq!(rates[19], 3);
    }

    #[test]
    fn failed_rate_is_eligible_again_after_the_window() {
        let mut c = thesis();
        frames(&mut c, Time::ZERO, 10, |rate, _, _| rate == 3);
        let at = |s: u64| Time(s * 1_000_000_000);
        assert!(!frames(&mut c, at(1), 500, |_, _, _| false).contains(&3));
        // The last failure was at 30 ms; the next sample succeeds.
        let rates = frames(&mut c, at(10) + Span::ms(100), 20, |_, _, _| false);
        assert_eq!(rates.iter().position(|&r| r == 3), rates.iter().position(|&r| r != 2));
        assert!(rates.contains(&3) && rates.last() == Some(&3));
    }
}
