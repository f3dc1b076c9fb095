//! TCP Veno (Fu and Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE JSAC 21(2),
//! 2003): Vegas' estimate of the segments that wait on the path tells losses by congestion from random ones. A random
//! one costs a fifth of the window and not a half; and where many segments wait, the window grows half as fast.

use super::interface::{Ack, Congestion, Signal, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::packet::Seq;
use crate::setting::limit::range;
use crate::settings;
use crate::unit::Span;

settings! {
    /// TCP Veno.
    pub struct Config {
        /// Number of segments waiting on the path below which a loss counts as random, and from which on the window
        /// grows more slowly \[segments\].
        pub beta: f64 = 3.0 => range(0.0, 1e6),
        /// Share of FlightSize or window (`tcp.ssthresh_base`) that remains after a random loss.
        pub random_share: f64 = 0.8 => range(0.0, 1.0),
    }
}

/// The window rule of Veno: Reno's, changed by the number of segments queued on the path.
#[derive(Clone, Debug)]
pub struct Veno {
    cfg: Config,
    reno: Reno,
    /// The smallest round-trip time of the connection.
    base_rtt: Option<Span>,
    /// The smallest one of the last round, and of the present one so far.
    rtt: Option<Span>,
    this_round: Option<Span>,
    /// The present round is over when this is acknowledged.
    round_ends: Seq,
    /// The last acknowledgement has let the window grow although many segments wait, so that the next one does not.
    skips: bool,
}

impl Veno {
    pub(super) fn new(cfg: &Config) -> Veno {
        Veno { cfg: cfg.clone(), reno: Reno, base_rtt: None, rtt: None, this_round: None, round_ends: 0, skips: false }
    }

    /// N: how many segments of a window of this size wait on the path; nothing is known before the first round.
    fn waiting(&self, cwnd: f64) -> Option<f64> {
        let (base, rtt) = (self.base_rtt?, self.rtt?);
        Some(cwnd * (1.0 - base.as_secs() / rtt.as_secs()))
    }
}

impl WindowRule for Veno {
    const WANTS_SEGMENT_RTT: bool = true;

    /// Measures, whatever else the acknowledgement tells.
    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        let smaller = |old: Option<Span>, new: Span| Some(old.map_or(new, |old| old.min(new)));
        if let Some(rtt) = ack.segment_rtt {
            self.base_rtt = smaller(self.base_rtt, rtt);
            self.this_round = smaller(self.this_round, rtt);
        }
        if ack.newly > 0 && ack.una >= self.round_ends {
            self.rtt = self.this_round.take().or(self.rtt);
            self.round_ends = ack.nxt;
        }
    }

    /// After a timeout sending continues at this segment: rounds end with segments that are sent again.
    fn on_rewind(&mut self, nxt: Seq) {
        self.round_ends = self.round_ends.min(nxt);
    }

    fn grow(&mut self, w: &mut Window) {
        let slowly = w.cwnd >= w.ssthresh && self.waiting(w.cwnd).is_some_and(|n| n >= self.cfg.beta);
        self.skips = slowly && !self.skips;
        // "increase cwnd by one every two round-trip times": with every other acknowledgement.
        if !slowly || self.skips {
            self.reno.grow(w);
        }
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        let random = self.waiting(w.cwnd).is_some_and(|n| n < self.cfg.beta);
        let mut congestion = *c;
        if random && c.signal == Signal::FastRetransmit {
            congestion.remainder = 2.0 * c.remainder * self.cfg.random_share;
        }
        self.reno.on_congestion(&congestion, w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::cc::interface::AckKind;
    use crate::unit::Time;

    /// A rule that has measured 100 ms, and this since.
    fn rule(ms: u64) -> Veno {
        let mut rule = Veno::new(&Config::default());
        for (una, nxt, rtt) in [(1, 2, 100), (2, 3, 100), (3, 4, ms), (4, 5, ms)] {
            let segment_rtt = Some(Span::ms(rtt));
            rule.on_every_ack(
                &Ack { kind: AckKind::NewData, una, nxt, newly: 1, segment_rtt, ..Ack::default() },
                &mut Window { cwnd: 2.0, ssthresh: 2.0 },
            );
        }
        rule
    }

    fn after(signal: Signal, rule: &mut Veno, cwnd: f64) -> (f64, f64) {
        let mut w = Window { cwnd, ssthresh: 10.0 };
        let remainder = cwnd / 2.0;
        let congestion =
            Congestion { signal, now: Time::ZERO, in_use: cwnd, remainder, loss_window: 1.0, whole_ssthresh: false };
        rule.on_congestion(&congestion, &mut w);
        (w.cwnd, w.ssthresh)
    }

    #[test]
    fn c88_with_veno_a_random_loss_costs_a_fifth() {
        for (ms, waiting, ssthresh) in [(105, 0.95, 16.0), (120, 3.33, 10.0), (130, 4.62, 10.0)] {
            let mut rule = rule(ms);
            assert!((rule.waiting(20.0).expect("measured") - waiting).abs() < 0.005);
            assert_eq!(after(Signal::FastRetransmit, &mut rule, 20.0), (ssthresh, ssthresh), "{ms} ms");
            assert_eq!(after(Signal::Timeout, &mut rule, 20.0), (1.0, 10.0));
            assert_eq!(after(Signal::Ecn, &mut rule, 20.0), (10.0, 10.0), "a mark is congestion");
        }
        let mut untold = Veno::new(&Config::default());
        assert_eq!(after(Signal::FastRetransmit, &mut untold, 20.0), (10.0, 10.0), "nothing is measured");
    }

    #[test]
    fn window_grows_on_every_second_ack_while_many_segments_wait() {
        let grown = |ms, ssthresh, acks| {
            let mut rule = rule(ms);
            let mut w = Window { cwnd: 20.0, ssthresh };
            (0..acks).for_each(|_| rule.grow(&mut w));
            w.cwnd
        };
        assert_eq!(grown(120, 10.0, 1), 20.05);
        assert_eq!(grown(120, 10.0, 2), 20.05);
        assert_eq!(grown(120, 10.0, 3), 20.05 + 1.0 / 20.05);
        assert_eq!(grown(105, 10.0, 2), 20.05 + 1.0 / 20.05);
        assert_eq!(grown(120, 64.0, 2), 22.0, "slow start as ever");
    }

    #[test]
    fn the_round_trip_time_is_the_smallest_of_the_last_round() {
        let mut rule = rule(100);
        let mut hear = |una, nxt, ms| {
            let segment_rtt = Some(Span::ms(ms));
            rule.on_every_ack(
                &Ack { kind: AckKind::NewData, una, nxt, newly: 1, segment_rtt, ..Ack::default() },
                &mut Window { cwnd: 2.0, ssthresh: 2.0 },
            );
            rule.rtt.expect("measured").0 / 1_000_000
        };
        assert_eq!(hear(5, 9, 200), 200);
        assert_eq!([hear(6, 10, 170), hear(7, 11, 150), hear(8, 12, 180)], [200; 3]);
        assert_eq!(hear(9, 13, 190), 150);
    }
}
