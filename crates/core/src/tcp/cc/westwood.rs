//! Westwood+ (Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
//! Congestion Control", CCR 34(2), 2004), in the form of Linux: what arrives in a round trip, smoothed twice, is the
//! rate of the path. After a loss the window is what that rate keeps in transit while no queue adds to the round trip.

use super::interface::{Ack, AckKind, Congestion, Signal, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::setting::limit::{HOUR, at_most, range};
use crate::settings;
use crate::unit::{Span, Time};

settings! {
    /// Westwood+.
    pub struct Config {
        /// Shortest interval in which the rate is measured; a longer round-trip time takes its place.
        pub min_interval: Span = Span::ms(50) => at_most(HOUR),
        /// Weight of a new value in each of the two filters, which begin with the first value.
        pub ewma_weight: f64 = 0.125 => range(0.0, 1.0),
    }
}

/// The window rule of Westwood+: Reno's growth, another cut.
#[derive(Clone, Debug)]
pub struct Westwood {
    cfg: Config,
    pub(super) reno: Reno,
    /// Segments that have arrived since `began`.
    arrived: u32,
    began: Option<Time>,
    /// Segments that duplicate acknowledgements have shown, and that the next cumulative one shows again.
    accounted: u32,
    rtt: Option<Span>,
    smallest_rtt: Option<Span>,
    /// The rate after the first and after the second filter [segments/s].
    rate: Option<(f64, f64)>,
}

impl Westwood {
    pub(super) fn new(cfg: &Config) -> Westwood {
        Westwood {
            cfg: cfg.clone(),
            reno: Reno,
            arrived: 0,
            began: None,
            accounted: 0,
            rtt: None,
            smallest_rtt: None,
            rate: None,
        }
    }

    /// Adds a sample of the delivery rate, if the interval since the last one is long enough.
    fn take_rate(&mut self, now: Time) {
        let began = *self.began.get_or_insert(now);
        let Some(rtt) = self.rtt else { return };
        let span = now.since(began);
        if span <= rtt.max(self.cfg.min_interval) {
            return;
        }
        let sample = f64::from(self.arrived) / span.as_secs();
        let smoothed = |old: f64, new: f64| (1.0 - self.cfg.ewma_weight) * old + self.cfg.ewma_weight * new;
        self.rate = Some(self.rate.map_or((sample, sample), |(once, twice)| {
            let once = smoothed(once, sample);
            (once, smoothed(twice, once))
        }));
        (self.arrived, self.began) = (0, Some(now));
    }

    /// Whole segments that the path keeps in transit while no queue adds to the round trip, once that is measured.
    pub(super) fn in_transit(&self) -> Option<f64> {
        let ((_, rate), rtt) = (self.rate?, self.smallest_rtt?);
        Some((rate * rtt.as_secs()).floor())
    }
}

impl WindowRule for Westwood {
    /// A duplicate acknowledgement shows one segment more; a cumulative one shows those again, and perhaps others.
    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        if !matches!(ack.kind, AckKind::NewData | AckKind::Duplicate) {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.rtt = Some(rtt);
            self.smallest_rtt = Some(self.smallest_rtt.map_or(rtt, |old| old.min(rtt)));
        }
        self.take_rate(ack.now);
        self.arrived += match ack.newly {
            0 => {
                self.accounted += 1;
                1
            }
            1 => 1,
            n if self.accounted >= n => {
                self.accounted -= n;
                1
            }
            n => n - std::mem::take(&mut self.accounted),
        };
    }

    fn grow(&mut self, w: &mut Window) {
        self.reno.grow(w);
    }

    /// As Reno does, as long as nothing has been measured.
    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        let Some(in_transit) = self.in_transit() else {
            return self.reno.on_congestion(c, w);
        };
        w.ssthresh = in_transit.max(2.0);
        w.cwnd = match c.signal {
            Signal::FastRetransmit => w.ssthresh,
            Signal::Timeout => c.loss_window,
            Signal::Ecn => w.ssthresh.min(w.cwnd),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(ms: u64, newly: u32, rtt: Option<u64>) -> Ack {
        let kind = if newly == 0 { AckKind::Duplicate } else { AckKind::NewData };
        Ack { now: Time::ZERO + Span::ms(ms), kind, newly, rtt: rtt.map(Span::ms), ..Ack::default() }
    }

    fn after(signal: Signal, rule: &mut Westwood) -> (f64, f64) {
        let mut w = Window { cwnd: 20.0, ssthresh: 64.0 };
        let congestion = Congestion {
            signal,
            now: Time::ZERO,
            in_use: 20.0,
            remainder: 10.0,
            loss_window: 1.0,
            whole_ssthresh: false,
        };
        rule.on_congestion(&congestion, &mut w);
        (w.cwnd, w.ssthresh)
    }

    #[test]
    fn the_window_after_a_loss_is_rate_times_smallest_round_trip() {
        let mut rule = Westwood::new(&Config::default());
        assert_eq!(after(Signal::FastRetransmit, &mut rule), (10.0, 10.0), "nothing is measured: a half");
        // An acknowledgement each 10 ms over a path of 100 ms: 11 segments in the first 110 ms.
        for i in 0..=11 {
            rule.on_every_ack(&heard(10 * i, 1, Some(100)), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        }
        assert_eq!(rule.rate, Some((100.0, 100.0)));
        // 150 segments/s for 110 ms and a longer round trip: both filters take an eighth of what is new.
        rule.rtt = Some(Span::ms(100));
        (rule.arrived, rule.began) = (18, Some(Time::ZERO + Span::ms(110)));
        rule.on_every_ack(&heard(230, 1, None), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        let (once, twice) = rule.rate.unwrap();
        assert!((once - 106.25).abs() < 1e-9 && (twice - 100.78125).abs() < 1e-9, "{once} {twice}");
        rule.on_every_ack(&heard(231, 1, Some(200)), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        // 100.8 segments/s in the smallest round trip of 100 ms: 10.
        assert_eq!(after(Signal::FastRetransmit, &mut rule), (10.0, 10.0));
        assert_eq!(after(Signal::Timeout, &mut rule), (1.0, 10.0));
        assert_eq!(after(Signal::Ecn, &mut rule), (10.0, 10.0));
    }

    #[test]
    fn what_duplicates_have_shown_does_not_count_twice() {
        let mut rule = Westwood::new(&Config::default());
        for _ in 0..3 {
            rule.on_every_ack(&heard(0, 0, None), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        }
        assert_eq!((rule.arrived, rule.accounted), (3, 3));
        // Of the five that are acknowledged three were shown by the duplicates.
        rule.on_every_ack(&heard(0, 5, None), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        assert_eq!((rule.arrived, rule.accounted), (5, 0));
        // A partial acknowledgement of fewer than were shown counts for the segment that has set it off.
        for _ in 0..4 {
            rule.on_every_ack(&heard(0, 0, None), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        }
        rule.on_every_ack(&heard(0, 3, None), &mut Window { cwnd: 2.0, ssthresh: 2.0 });
        assert_eq!((rule.arrived, rule.accounted), (10, 1));
    }
}
