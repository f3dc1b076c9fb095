//! TCP Vegas' window rule (Brakmo and Peterson, IEEE JSAC 13(8), 1995, 3.2 and 3.3), in the form of ns-2's agent.
//!
//! Once per round trip the sender compares the rate it expects, window / baseRTT, with the rate it sees. The
//! difference times baseRTT is the number of its own segments that wait in the network. Slow start doubles every
//! other round trip. The defects of ns-2.35's agent are switches; without them the rule is the published one.

use super::interface::{Ack, Congestion, Signal, Window};
use super::registry::WindowRule;
use crate::packet::Seq;
use crate::setting::limit::range;
use crate::unit::Time;
use crate::{keywords, settings};

keywords! {
    /// Congestion window of Vegas after an ECE.
    pub enum EcnCut {
        /// Three quarters remain, as after a loss detected by a duplicate acknowledgement.
        Quarter = "quarter",
        /// A half remains (RFC 3168, 6.1.2).
        Half = "half",
    }
}

keywords! {
    /// Growth of a congestion window that is not fully used.
    pub enum Growth {
        /// Grows the window if at most two segments of it were free before the acknowledgement.
        UsedBefore = "used_before_ack",
        /// Grows the window if at most two segments of it are free after the acknowledgement, which frees as many as it
        /// acknowledges (ns-2).
        UsedAfter = "used_after_ack",
        /// Grows the window whether it is used or not.
        Always = "always",
    }
}

settings! {
    /// TCP Vegas.
    pub struct Config {
        /// alpha: the window grows while fewer segments wait in the network \[segments\].
        pub alpha: f64 = 2.0 => range(0.0, 1e6),
        /// beta: the window shrinks while more segments wait in the network \[segments\]; studies of ad hoc networks
        /// set beta = alpha.
        pub beta: f64 = 4.0 => range(0.0, 1e6),
        /// gamma: slow start ends when more segments wait in the network \[segments\].
        pub gamma: f64 = 1.0 => range(0.0, 1e6),
        /// Growth of a congestion window that is not fully used.
        pub growth: Growth = Growth::UsedBefore,
        /// Congestion window after an ECE.
        pub ecn_cut: EcnCut = EcnCut::Quarter,
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// Defects of the Vegas agent of ns-2.35.
    pub struct Ns2 {
        /// Segments have no header and there is no SYN, because the agent overrides the code that builds them.
        pub bare_segments: bool = false,
        /// Segments are never ECN-capable, for the same reason.
        pub not_ect: bool = false,
        /// 0 and -1 mean "no send time" but are read as times: a segment that was never sent counts as overdue, and the
        /// first one is not measured.
        pub send_time_sentinels: bool = false,
        /// The window stays inflated after a fine-grained retransmission.
        pub inflation_stays: bool = false,
        /// A fast retransmission backs off the coarse timeout.
        pub backoff_on_fast_retransmit: bool = false,
        /// The coarse timer runs, and cuts the window, when nothing is outstanding.
        pub timeout_when_idle: bool = false,
        /// After an acknowledgement that wraps around the table of send times, entries are not cleared.
        pub clearing_stops_at_wrap: bool = false,
        /// baseRTT grows when at most one segment was in flight.
        pub base_rtt_grows: bool = false,
        /// The number of waiting segments is computed from the segments in flight and rounded to a whole number.
        pub rounded_difference: bool = false,
        /// After a timeout, the window is not adjusted until the old window is acknowledged.
        pub mark_survives_timeout: bool = false,
        /// The window after a timeout is two segments, regardless of `loss_window`.
        pub restart_at_two: bool = false,
    }
}

/// The window rule of TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    cfg: Config,
    /// Smallest round-trip time [ns].
    base_rtt: f64,
    /// Sum and number of the round-trip times of this round.
    sum_rtt: f64,
    samples: u32,
    /// The round ends when an acknowledgement goes beyond this segment.
    round_end: Seq,
    round_began: Time,
    /// Growth per acknowledgement in this round.
    increment: f64,
    /// In slow start the window grows in every other round.
    grows: bool,
    /// An acknowledgement has come.
    begun: bool,
}

impl Vegas {
    pub(super) fn new(cfg: &Config) -> Vegas {
        Vegas {
            cfg: cfg.clone(),
            base_rtt: f64::INFINITY,
            sum_rtt: 0.0,
            samples: 0,
            round_end: 0,
            round_began: Time::ZERO,
            increment: 0.0,
            grows: true,
            begun: false,
        }
    }

    /// Returns true if the window is used, so that it may grow. Expected is a rate only as far as there is as much in
    /// transit as the window allows: "which we assume [...] to be equal to the number of bytes in transit" (3.2).
    fn is_used(&self, ack: &Ack, w: &Window) -> bool {
        let in_use = match self.cfg.growth {
            Growth::UsedBefore => ack.nxt - ack.una + ack.newly,
            Growth::UsedAfter => ack.nxt - ack.una + 1,
            Growth::Always => return true,
        };
        w.cwnd - f64::from(in_use) <= 2.0
    }

    fn end_round(&mut self, ack: &Ack, w: &mut Window) {
        let rtt = if self.samples > 0 {
            self.sum_rtt / f64::from(self.samples)
        } else {
            ack.now.since(self.round_began).0 as f64
        };
        self.sum_rtt = 0.0;
        self.samples = 0;
        let sent = i64::from(ack.nxt) - i64::from(self.round_end);
        if rtt > 0.0 {
            if rtt < self.base_rtt || (self.cfg.ns2.base_rtt_grows && sent <= 1) {
                self.base_rtt = rtt;
            }
            self.decide(self.difference(rtt, sent as f64, ack, w), w);
        }
        self.round_end = ack.nxt;
        self.round_began = ack.now;
    }

    /// Own segments waiting in the network: (expected - actual) baseRTT.
    fn difference(&self, rtt: f64, sent: f64, ack: &Ack, w: &Window) -> f64 {
        if self.cfg.ns2.rounded_difference {
            let in_use = f64::from(ack.nxt - ack.una + 1);
            ((in_use / self.base_rtt - sent / rtt) * self.base_rtt + 0.5).trunc()
        } else {
            w.cwnd * (1.0 - self.base_rtt / rtt)
        }
    }

    fn decide(&mut self, difference: f64, w: &mut Window) {
        if w.cwnd < w.ssthresh {
            self.grows = !self.grows;
            if !self.grows {
                self.increment = 0.0;
            } else if difference > self.cfg.gamma {
                w.ssthresh = 2.0;
                w.cwnd = (w.cwnd - w.cwnd / 8.0).max(2.0);
                self.increment = 0.0;
            } else {
                self.increment = 1.0;
            }
        } else if difference > self.cfg.beta {
            w.cwnd = (w.cwnd - 1.0).max(2.0);
            self.increment = 0.0;
        } else if difference < self.cfg.alpha {
            self.increment = 1.0 / w.cwnd;
        } else {
            self.increment = 0.0;
        }
    }
}

impl WindowRule for Vegas {
    const WANTS_SEGMENT_RTT: bool = true;
    const GROWS_BY_STEPS: bool = false;
    const ASKS_FOR_USE: bool = false;

    fn on_ack(&mut self, ack: &Ack, _: u32, w: &mut Window) {
        if !self.begun {
            self.begun = true;
            self.base_rtt = ack.now.since(ack.first_sent).0 as f64;
            self.round_began = ack.first_sent;
        }
        if ack.una > self.round_end {
            self.end_round(ack, w);
        }
        // The rule is applied once per round, but slow start may end within one.
        if self.increment == 1.0 && w.cwnd >= w.ssthresh {
            self.increment = 0.0;
        }
        if self.increment > 0.0 && self.is_used(ack, w) && !ack.ece {
            w.cwnd += self.increment;
        }
        if let Some(rtt) = ack.segment_rtt {
            self.sum_rtt += rtt.0 as f64;
            self.samples += 1;
            self.base_rtt = self.base_rtt.min(rtt.0 as f64);
        }
    }

    /// Vegas' own recovery cuts the window at a loss by itself; under another one a loss takes as much as an ECE, and a
    /// slow start after it, that of Tahoe, goes so far.
    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        match (c.signal, self.cfg.ecn_cut) {
            (Signal::Timeout, _) => {
                w.ssthresh = c.remainder.floor().max(2.0);
                w.cwnd = if self.cfg.ns2.restart_at_two { 2.0 } else { c.loss_window };
            }
            (Signal::FastRetransmit | Signal::Ecn, EcnCut::Half) => {
                w.ssthresh = c.remainder.floor().max(2.0);
                w.cwnd = c.remainder.min(w.cwnd);
            }
            (Signal::FastRetransmit | Signal::Ecn, EcnCut::Quarter) => {
                w.cwnd = (w.cwnd - (w.cwnd / 4.0).floor()).max(2.0).min(w.cwnd);
                w.ssthresh = if c.signal == Signal::Ecn { 2.0 } else { w.cwnd.max(2.0) };
            }
        }
    }

    /// A window that delay lets shrink further must not be in slow start again.
    fn on_recovery_end(&mut self, w: &mut Window) {
        w.ssthresh = 2.0;
    }

    /// ssthresh says nothing of the window after a loss.
    fn after_recovery(&self, w: &Window) -> f64 {
        w.cwnd
    }

    /// After a timeout sending continues at `nxt`: the round ends there.
    fn on_rewind(&mut self, nxt: Seq) {
        if !self.cfg.ns2.mark_survives_timeout {
            self.round_end = nxt;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Span;

    #[test]
    fn the_difference_of_the_paper() {
        for (cwnd, base, rtt, expected) in [
            (8.0, 100.0, 100.0, 0.0),
            (8.0, 100.0, 120.0, 4.0 / 3.0),
            (8.0, 100.0, 160.0, 3.0),
            (12.0, 40.0, 60.0, 4.0),
        ] {
            let mut v = Vegas::new(&Config::default());
            v.base_rtt = base;
            let ack = Ack { una: 1, nxt: 9, newly: 1, ..Ack::default() };
            let d = v.difference(rtt, 8.0, &ack, &Window { cwnd, ssthresh: 2.0 });
            assert!((d - expected).abs() < 1e-9, "{d} instead of {expected}");
        }
    }

    #[test]
    fn base_rtt_is_the_smallest_unless_the_bug_is_on() {
        for (bug, expected) in [(false, 100e6), (true, 150e6)] {
            let mut v = Vegas::new(&Config { ns2: Ns2 { base_rtt_grows: bug, ..Ns2::default() }, ..Config::default() });
            let mut w = Window { cwnd: 2.0, ssthresh: 64.0 };
            let ack = |ms, una, nxt| Ack {
                now: Time::ZERO + Span::ms(ms),
                una,
                nxt,
                newly: 1,
                segment_rtt: Some(Span::ms(if ms == 100 { 100 } else { 150 })),
                ..Ack::default()
            };
            // One segment in flight: each acknowledgement ends a round.
            v.on_ack(&ack(100, 1, 1), 1, &mut w);
            v.on_ack(&ack(250, 2, 2), 1, &mut w);
            v.on_ack(&ack(400, 3, 3), 1, &mut w);
            assert_eq!(v.base_rtt, expected);
        }
    }

    #[test]
    fn an_ece_takes_a_quarter_or_a_half_and_ends_slow_start() {
        for (cut, cwnd, expected) in
            [(EcnCut::Quarter, 8.0, (6.0, 2.0)), (EcnCut::Quarter, 2.0, (2.0, 2.0)), (EcnCut::Half, 8.0, (4.0, 4.0))]
        {
            let mut v = Vegas::new(&Config { ecn_cut: cut, ..Config::default() });
            let mut w = Window { cwnd, ssthresh: 64.0 };
            let signal = Signal::Ecn;
            let now = Time::ZERO;
            let congestion = Congestion {
                signal,
                now,
                in_use: cwnd,
                remainder: cwnd / 2.0,
                loss_window: 1.0,
                whole_ssthresh: false,
            };
            v.on_congestion(&congestion, &mut w);
            assert_eq!((w.cwnd, w.ssthresh), expected, "{cut:?}");
        }
    }

    #[test]
    fn other_recoveries_take_the_same_cut_and_end_with_that_window() {
        for (ecn_cut, cwnd, after) in
            [(EcnCut::Quarter, 8.0, 6.0), (EcnCut::Quarter, 2.0, 2.0), (EcnCut::Half, 8.0, 4.0)]
        {
            let mut v = Vegas::new(&Config { ecn_cut, ..Config::default() });
            let mut w = Window { cwnd, ssthresh: 64.0 };
            let congestion = Congestion {
                signal: Signal::FastRetransmit,
                now: Time::ZERO,
                in_use: cwnd,
                remainder: cwnd / 2.0,
                loss_window: 1.0,
                whole_ssthresh: false,
            };
            v.on_congestion(&congestion, &mut w);
            assert_eq!((w.cwnd, w.ssthresh), (after, after), "{ecn_cut:?}");
            v.on_recovery_end(&mut w);
            assert_eq!((v.after_recovery(&w), w.ssthresh), (after, 2.0), "{ecn_cut:?}");
        }
    }

    #[test]
    fn a_timeout_leaves_the_loss_window_or_with_the_bug_two_segments() {
        for (restart_at_two, expected) in [(false, (1.0, 5.0)), (true, (2.0, 5.0))] {
            let mut v = Vegas::new(&Config { ns2: Ns2 { restart_at_two, ..Ns2::default() }, ..Config::default() });
            let mut w = Window { cwnd: 11.0, ssthresh: 64.0 };
            let signal = Signal::Timeout;
            let now = Time::ZERO;
            v.on_congestion(
                &Congestion { signal, now, in_use: 11.0, remainder: 5.5, loss_window: 1.0, whole_ssthresh: false },
                &mut w,
            );
            assert_eq!((w.cwnd, w.ssthresh), expected);
        }
    }
}
