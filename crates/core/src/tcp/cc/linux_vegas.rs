//! Vegas as Linux has it (`tcp_vegas.c`): once per round trip the number of own segments that wait on the path decides,
//! by the smallest round-trip time of the round; slow start doubles every round; losses are those of Reno.

use super::interface::{Ack, Congestion, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::packet::Seq;
use crate::setting::limit::range;
use crate::unit::Span;
use crate::{keywords, settings};

keywords! {
    /// Integer arithmetic for the number of waiting segments.
    pub enum Difference {
        /// 2 W - floor(2 W baseRTT / RTT) half segments (Linux 2.6).
        HalfSegments = "half_segments",
        /// W - floor(W baseRTT / RTT) segments (ns-3).
        Segments = "segments",
        /// floor(W (RTT - baseRTT) / baseRTT) segments (Linux today).
        OverBase = "over_base",
    }
}

settings! {
    /// Vegas of Linux.
    pub struct Config {
        /// alpha: the window grows while fewer segments wait in the network \[segments\].
        pub alpha: f64 = 2.0 => range(0.0, 1e6),
        /// beta: the window shrinks while more segments wait in the network \[segments\].
        pub beta: f64 = 4.0 => range(0.0, 1e6),
        /// gamma: slow start ends when more segments wait in the network \[segments\].
        pub gamma: f64 = 1.0 => range(0.0, 1e6),
        /// Integer arithmetic for the number of waiting segments.
        pub difference: Difference = Difference::OverBase,
    }
}

/// Round-trip times in a round up to which delay decides nothing.
const FEW_SAMPLES: u32 = 2;

/// The window rule of Linux' Vegas.
#[derive(Clone, Debug)]
pub struct LinuxVegas {
    cfg: Config,
    reno: Reno,
    /// The smallest round-trip time of the connection, and that of this round.
    base_rtt: Span,
    rtt: Span,
    /// Round-trip times in this round.
    samples: u32,
    /// The round is over when an acknowledgement goes beyond this segment; `None`: the next one begins a round.
    round_end: Option<Seq>,
}

impl LinuxVegas {
    pub(super) fn new(cfg: &Config) -> LinuxVegas {
        LinuxVegas {
            cfg: cfg.clone(),
            reno: Reno,
            base_rtt: Span(u64::MAX),
            rtt: Span(u64::MAX),
            samples: 0,
            round_end: None,
        }
    }

    /// Losses have been repaired, or the timer has expired: a new round begins.
    pub(super) fn restart(&mut self) {
        self.round_end = None;
    }

    fn sample(&mut self, rtt: Span) {
        self.base_rtt = self.base_rtt.min(rtt);
        self.rtt = self.rtt.min(rtt);
        self.samples += 1;
    }

    fn begin_round(&mut self, ack: &Ack) {
        self.round_end = Some(ack.nxt);
        self.rtt = Span(u64::MAX);
        self.samples = 0;
    }

    /// Between two rounds only slow start lets the window grow.
    fn slow_start(&mut self, steps: u32, w: &mut Window) {
        for _ in 0..steps {
            if w.cwnd < w.ssthresh {
                self.reno.grow(w);
            }
        }
    }

    /// Segments of a window of this size that wait on the path.
    fn waiting(&self, cwnd: u64) -> f64 {
        let (base, rtt) = (u128::from(self.base_rtt.0), u128::from(self.rtt.0.max(1)));
        let w = u128::from(cwnd);
        match self.cfg.difference {
            Difference::HalfSegments => (2 * w - 2 * w * base / rtt) as f64 / 2.0,
            Difference::Segments => (w - w * base / rtt) as f64,
            Difference::OverBase => (w * (rtt - base) / base.max(1)) as f64,
        }
    }

    fn decide(&mut self, steps: u32, w: &mut Window) {
        let cwnd = w.cwnd as u64;
        let waiting = self.waiting(cwnd);
        if w.cwnd < w.ssthresh {
            if waiting > self.cfg.gamma {
                let target = u128::from(cwnd) * u128::from(self.base_rtt.0) / u128::from(self.rtt.0.max(1));
                w.cwnd = w.cwnd.min(target as f64 + 1.0);
                w.ssthresh = w.ssthresh.min(w.cwnd - 1.0);
            } else {
                self.slow_start(steps, w);
            }
        } else if waiting > self.cfg.beta {
            w.cwnd -= 1.0;
            w.ssthresh = w.ssthresh.min(w.cwnd - 1.0);
        } else if waiting < self.cfg.alpha {
            w.cwnd += 1.0;
        }
        w.cwnd = w.cwnd.max(2.0);
        w.ssthresh = w.ssthresh.max((0.75 * w.cwnd).floor());
    }
}

impl WindowRule for LinuxVegas {
    const ASKS_FOR_USE: bool = false;

    fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window) {
        if ack.ece {
            return;
        }
        let Some(round_end) = self.round_end else {
            self.begin_round(ack);
            self.sample(ack.round_trip);
            return self.slow_start(steps, w);
        };
        self.sample(ack.round_trip);
        if ack.una <= round_end {
            return self.slow_start(steps, w);
        }
        if self.samples <= FEW_SAMPLES {
            (0..steps).for_each(|_| self.reno.grow(w));
        } else {
            self.decide(steps, w);
        }
        self.begin_round(ack);
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        self.restart();
        self.reno.on_congestion(c, w);
    }

    fn on_rewind(&mut self, _: Seq) {
        self.restart();
    }

    fn on_recovery_end(&mut self, _: &mut Window) {
        self.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::cc::interface::AckKind;

    /// The window after a round of this round-trip time \[ms\], the smallest being 100 ms.
    fn after(difference: Difference, (cwnd, ssthresh): (f64, f64), ms: u64) -> (f64, f64) {
        let mut rule = LinuxVegas::new(&Config { difference, ..Config::default() });
        rule.base_rtt = Span::ms(100);
        let mut w = Window { cwnd, ssthresh };
        rule.round_end = Some(10);
        rule.samples = FEW_SAMPLES;
        let ack =
            Ack { kind: AckKind::NewData, una: 11, nxt: 30, newly: 1, round_trip: Span::ms(ms), ..Ack::default() };
        rule.on_ack(&ack, 1, &mut w);
        assert_eq!((rule.round_end, rule.samples), (Some(30), 0));
        (w.cwnd, w.ssthresh)
    }

    #[test]
    fn the_vectors_of_ns3() {
        let ns3 = |window, ms| after(Difference::Segments, window, ms);
        assert_eq!(ns3((38.0, 40.0), 106), (36.0, 35.0));
        assert_eq!(ns3((15.0, 10.0), 106), (16.0, 12.0));
        assert_eq!(ns3((20.0, 10.0), 109), (20.0, 15.0));
    }

    #[test]
    fn the_three_ways_to_round() {
        // W (1 - 100/109) = 1.65, W 9/100 = 1.8.
        assert_eq!(after(Difference::HalfSegments, (20.0, 10.0), 109), (20.0, 15.0), "2: 40 - 36 halves");
        assert_eq!(after(Difference::OverBase, (20.0, 10.0), 109), (21.0, 15.0), "1");
        assert_eq!(after(Difference::HalfSegments, (20.0, 10.0), 108), (21.0, 15.0), "1.5: 40 - 37 halves");
        assert_eq!(after(Difference::Segments, (20.0, 10.0), 108), (20.0, 15.0), "2: 20 - 18");
        for difference in [Difference::HalfSegments, Difference::Segments, Difference::OverBase] {
            assert_eq!(after(difference, (20.0, 10.0), 140), (19.0, 14.0), "more than beta");
            assert_eq!(after(difference, (20.0, 64.0), 100), (21.0, 64.0), "slow start");
        }
    }

    #[test]
    fn a_round_of_two_samples_is_one_of_reno() {
        let mut rule = LinuxVegas::new(&Config::default());
        let mut w = Window { cwnd: 4.0, ssthresh: 2.0 };
        let hear = |rule: &mut LinuxVegas, w: &mut Window, una, ms| {
            rule.on_ack(&Ack { una, nxt: una + 2, newly: 1, round_trip: Span::ms(ms), ..Ack::default() }, 1, w);
            w.cwnd
        };
        assert_eq!(hear(&mut rule, &mut w, 1, 100), 4.0, "the first begins a round");
        assert_eq!(hear(&mut rule, &mut w, 4, 300), 4.25, "two samples, Reno's step");
        assert_eq!([5, 6].map(|una| hear(&mut rule, &mut w, una, 300)), [4.25; 2]);
        assert_eq!(hear(&mut rule, &mut w, 7, 300), 3.25, "three: of four segments eight would wait");
    }
}
