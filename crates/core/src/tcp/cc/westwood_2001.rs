//! TCP Westwood as published first (Casetti, Gerla, Mascolo, Sanadidi and Wang, MobiCom 2001): each acknowledgement is
//! a sample of the rate of the path, which a low-pass filter smooths. After a loss the window is what that rate keeps
//! in transit in the smallest round trip. Counting, the coefficients of the filters and the window after duplicate
//! acknowledgements are those of the authors' agent for ns-2; bursts of acknowledgements make it overestimate the rate,
//! for which Westwood+ was made.

use super::interface::{Ack, AckKind, Congestion, Signal, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::setting::limit::{HOUR, above};
use crate::unit::{Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Filter of the rate samples.
    pub enum Filter {
        /// Constant coefficients, regardless of the time between samples: 0.9047 for the old value and 0.0476 for each
        /// of the last two samples, the default of the authors' agent.
        Constant = "constant",
        /// Coefficients from the time between samples and a time constant, the filter of the paper. Half a time
        /// constant without an acknowledgement counts as a sample of 0.
        Tustin = "tustin",
    }
}

settings! {
    /// Westwood with the filter of 2001.
    pub struct Config {
        /// Filter of the rate samples.
        pub filter: Filter = Filter::Constant,
        /// Time constant of the filter `tustin`.
        pub time_constant: Span = Span::secs(1) => above(Span::ZERO).at_most(HOUR)
            ; used when |c| c.filter == Filter::Tustin, else "the filter is not `tustin`",
    }
}

/// The window rule of Westwood: Reno's growth, another cut.
#[derive(Clone, Debug)]
pub struct Westwood2001 {
    cfg: Config,
    reno: Reno,
    /// Segments that duplicate acknowledgements have shown, and that the next cumulative one shows again.
    unaccounted: u32,
    /// Segments that acknowledgements have shown since `heard`.
    arrived: u32,
    /// Time at which an acknowledgement was last a sample.
    heard: Option<Time>,
    /// Until when the filter has been run: later than `heard` when there were samples of 0 since.
    filtered: Time,
    smallest_rtt: Option<Span>,
    /// The last sample, and the rate after the filter [segments/s].
    sample: f64,
    rate: f64,
}

impl Westwood2001 {
    pub(super) fn new(cfg: &Config) -> Westwood2001 {
        Westwood2001 {
            cfg: cfg.clone(),
            reno: Reno,
            unaccounted: 0,
            arrived: 0,
            heard: None,
            filtered: Time::ZERO,
            smallest_rtt: None,
            sample: 0.0,
            rate: 0.0,
        }
    }

    /// Segments that an acknowledgement of this many new ones has shown to have arrived: one if it is a duplicate, at
    /// most two, as with a receiver that delays acknowledgements.
    fn count(&mut self, newly: u32) -> u32 {
        match newly {
            0 => {
                self.unaccounted += 1;
                1
            }
            1 => 1,
            n if self.unaccounted >= n => {
                self.unaccounted -= n - 1;
                1
            }
            n => (n - std::mem::take(&mut self.unaccounted)).min(2),
        }
    }

    /// Each half of a time constant in which nothing was heard is a sample of 0.
    fn pass_silence(&mut self, now: Time) {
        if self.cfg.filter == Filter::Constant || self.heard.is_none() {
            return;
        }
        let half = self.cfg.time_constant / 2;
        while now.since(self.filtered) > half && self.rate > 0.0 {
            self.filter(0.0, half);
            self.filtered += half;
        }
    }

    /// Filters a sample [segments/s] taken over `span`.
    fn filter(&mut self, sample: f64, span: Span) {
        let (old, new) = match self.cfg.filter {
            Filter::Constant => (0.9047, 0.0476),
            Filter::Tustin => {
                let (tau, delta) = (2.0 * self.cfg.time_constant.as_secs(), span.as_secs());
                let old = (tau - delta) / (tau + delta);
                (old, (1.0 - old) / 2.0)
            }
        };
        self.rate = old * self.rate + new * (sample + self.sample);
        self.sample = sample;
    }
}

impl WindowRule for Westwood2001 {
    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        if !matches!(ack.kind, AckKind::NewData | AckKind::Duplicate) {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.smallest_rtt = Some(self.smallest_rtt.map_or(rtt, |old| old.min(rtt)));
        }
        let Some(heard) = self.heard else {
            // The acknowledged data were sent before anything could be measured.
            (self.heard, self.filtered) = (Some(ack.now), ack.now);
            return;
        };
        self.arrived += self.count(ack.newly);
        let span = ack.now.since(heard);
        if span > Span::ZERO {
            self.pass_silence(ack.now);
            let sample = f64::from(std::mem::take(&mut self.arrived)) / span.as_secs();
            self.filter(sample, ack.now.since(self.filtered));
            (self.heard, self.filtered) = (Some(ack.now), ack.now);
        }
    }

    fn grow(&mut self, w: &mut Window) {
        self.reno.grow(w);
    }

    /// As Reno does, as long as nothing has been measured.
    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        self.pass_silence(c.now);
        let (true, Some(rtt)) = (self.rate > 0.0, self.smallest_rtt) else {
            return self.reno.on_congestion(c, w);
        };
        w.ssthresh = (self.rate * rtt.as_secs()).floor().max(2.0);
        w.cwnd = match c.signal {
            Signal::FastRetransmit | Signal::Ecn => w.ssthresh.min(w.cwnd),
            Signal::Timeout => c.loss_window,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(filter: Filter, time_constant: Span) -> Westwood2001 {
        Westwood2001::new(&Config { filter, time_constant })
    }

    fn heard(us: u64, newly: u32) -> Ack {
        let kind = if newly == 0 { AckKind::Duplicate } else { AckKind::NewData };
        Ack { now: Time::ZERO + Span::us(us), kind, newly, rtt: Some(Span::ms(100)), ..Ack::default() }
    }

    fn after(signal: Signal, now: Time, rule: &mut Westwood2001) -> (f64, f64) {
        let mut w = Window { cwnd: 20.0, ssthresh: 64.0 };
        let congestion =
            Congestion { signal, now, in_use: 20.0, remainder: 10.0, loss_window: 1.0, whole_ssthresh: false };
        rule.on_congestion(&congestion, &mut w);
        (w.cwnd, w.ssthresh)
    }

    /// Samples of 1 and 0.5 Mbit/s with segments of 1000 B: an acknowledgement each 8 and each 16 ms.
    #[test]
    fn c85_the_filter_of_westwood_with_constant_coefficients() {
        let mut rule = rule(Filter::Constant, Span::secs(1));
        let mut at = 0;
        rule.on_every_ack(&heard(at, 1), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        let mut rates = vec![];
        for us in [8000, 8000, 8000, 16_000, 16_000] {
            at += us;
            rule.on_every_ack(&heard(at, 1), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
            rates.push((rule.rate * 8000.0 / 10.0).round() / 1e5);
        }
        assert_eq!(rates, [0.0476, 0.13826, 0.22029, 0.27069, 0.2925]);
    }

    /// The vector of the sheet: 1 Mbit/s after 8, 8 and 16 ms, 0.5 Mbit/s after 16 ms, a time constant of 0.5 s
    /// [bit/s].
    #[test]
    fn the_filter_by_the_time_between_samples() {
        let mut rule = rule(Filter::Tustin, Span::ms(500));
        let mut rates = vec![];
        for (megabits, ms) in [(1.0, 8), (1.0, 8), (1.0, 16), (0.5, 16)] {
            rule.filter(megabits * 1e6, Span::ms(ms));
            rates.push(rule.rate.round());
        }
        assert_eq!(rates, [7937.0, 23_684.0, 54_434.0, 76_341.0]);
    }

    #[test]
    fn silence_lowers_the_rate_of_the_filter_that_goes_by_time() {
        let mut rule = rule(Filter::Tustin, Span::secs(1));
        for i in 0..=1000 {
            rule.on_every_ack(&heard(10_000 * i, 1), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        }
        assert!((rule.rate - 100.0).abs() < 0.01, "{}", rule.rate);
        // After 1.2 s two samples of 0: the first with the last sample of 100 before it.
        let timeout = Time::ZERO + Span::ms(11_200);
        let keeps = (2.0 - 0.5) / (2.0 + 0.5);
        let expected = keeps * (keeps * 100.0 + (1.0 - keeps) / 2.0 * 100.0);
        let (cwnd, ssthresh) = after(Signal::Timeout, timeout, &mut rule);
        assert!((rule.rate - expected).abs() < 0.02, "{} for {expected}", rule.rate);
        // 42 segments/s in 100 ms.
        assert_eq!((cwnd, ssthresh), (1.0, 4.0));
        // The next acknowledgement is a sample of the whole silence, in what is left of it.
        rule.on_every_ack(&heard(11_200_000, 1), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        assert!((rule.sample - 1.0 / 1.2).abs() < 1e-9);
    }

    #[test]
    fn window_after_a_loss_is_rate_times_min_rtt_and_never_grows() {
        let mut rule = rule(Filter::Constant, Span::secs(1));
        assert_eq!(after(Signal::FastRetransmit, Time::ZERO, &mut rule), (10.0, 10.0), "nothing is measured: a half");
        // B = 1.2 Mbit/s, RTTmin = 100 ms, segments of 1000 B: 15.
        (rule.rate, rule.smallest_rtt) = (150.0, Some(Span::ms(100)));
        assert_eq!(after(Signal::FastRetransmit, Time::ZERO, &mut rule), (15.0, 15.0));
        assert_eq!(after(Signal::Timeout, Time::ZERO, &mut rule), (1.0, 15.0));
        rule.rate = 300.0;
        assert_eq!(after(Signal::FastRetransmit, Time::ZERO, &mut rule), (20.0, 30.0));
    }

    #[test]
    fn what_duplicates_have_shown_does_not_count_twice() {
        let mut rule = rule(Filter::Constant, Span::secs(1));
        assert_eq!([0, 0, 0].map(|n| rule.count(n)), [1, 1, 1]);
        assert_eq!(rule.count(5), 2, "of the five three were shown before");
        assert_eq!(rule.count(9), 2, "two at most");
        assert_eq!([0, 0, 0, 0].map(|n| rule.count(n)), [1, 1, 1, 1]);
        // A partial acknowledgement of fewer than were shown counts for the segment that has set it off.
        assert_eq!((rule.count(3), rule.unaccounted), (1, 2));
    }
}
