//! CARA (Kim, Kim, Choi and Qiao, *CARA: Collision-Aware Rate Adaptation for IEEE 802.11 WLANs*, INFOCOM 2006), without
//! its detection of collisions by carrier sense.
//!
//! After a failure the next attempt is preceded by RTS and CTS, which take a collision in place of the frame. Only data
//! frames that fail count against the rate: with the second in a row it falls, so that the one behind a CTS decides.
//! The rate rises as that of ARF does.

use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Settings of CARA.
    pub struct Config {
        /// Number of consecutive failures after which an attempt is preceded by RTS and CTS.
        pub probe_failures: u32 = 1 => range(1, 100_000),
        /// Number of consecutive failures after which the rate is lowered.
        pub failures: u32 = 2 => range(1, 100_000),
        /// Number of consecutive successes after which the rate is raised.
        pub successes: u32 = 10 => range(1, 100_000),
        /// Number of attempts after which the rate is raised in any case.
        pub attempts: u32 = 15 => range(1, 100_000),
    }
}

/// State of a neighbor.
#[derive(Clone, Debug, Default)]
pub(super) struct Cara {
    rate: u8,
    /// Successes in a row, attempts since the rate has changed, failures in a row.
    successes: u32,
    attempts: u32,
    failures: u32,
    probes: bool,
}

impl RateRule for Cara {
    fn plan(&mut self, _frame: &Frame, _cx: &mut Cx<'_>) -> Chain {
        Chain::at(self.rate)
    }

    fn on_success(&mut self, _frame: &mut Frame, cx: &Cx<'_>) {
        let cfg = &cx.cfg.cara;
        (self.successes, self.attempts, self.failures) = (self.successes + 1, self.attempts + 1, 0);
        if (self.successes >= cfg.successes || self.attempts >= cfg.attempts)
            && usize::from(self.rate) + 1 < cx.modes.len()
        {
            self.rate += 1;
            (self.successes, self.attempts) = (0, 0);
        }
        self.probes = false;
    }

    fn on_failure(&mut self, frame: &mut Frame, cx: &Cx<'_>) {
        let cfg = &cx.cfg.cara;
        (self.successes, self.attempts, self.failures) = (0, self.attempts + 1, self.failures + 1);
        if self.failures >= cfg.failures {
            self.rate = self.rate.saturating_sub(1);
            (self.attempts, self.failures) = (0, 0);
        }
        self.probes = self.failures >= cfg.probe_failures;
        frame.next_rate = self.rate;
    }

    fn asks_for_rts(&self) -> bool {
        self.probes
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{control, send};
    use super::super::{Algorithm, Config, Next, RateControl};
    use crate::packet::{Kind, RadioId};
    use crate::unit::Time;
    use crate::wlan::Mode;

    /// CARA at the fastest rate of 802.11b.
    fn fastest() -> RateControl {
        let mut c = control(Config { algorithm: Algorithm::Cara, ..Config::default() });
        for i in 0..30 {
            assert_eq!(send(&mut c, Time(i), |_, _| false), [(i / 10) as u8]);
        }
        c
    }

    #[test]
    fn a_failure_asks_for_rts_and_the_second_in_a_row_lowers_the_rate() {
        let mut c = fastest();
        assert_eq!(c.begin(RadioId(7), Kind::Data, 1536, Time(40)), Mode(3));
        assert!(!c.asks_for_rts(), "no failure, no RTS");
        let mut timeline = vec![];
        for _ in 0..5 {
            c.sent();
            let next = c.failed(Time(41));
            timeline.push((next, c.asks_for_rts()));
        }
        let at = |rate| Next::Mode(Mode(rate));
        // A rate is new: its first failure is probed again.
        assert_eq!(timeline, [(at(3), true), (at(2), false), (at(2), true), (at(1), false), (at(1), true)]);
    }

    #[test]
    fn an_unanswered_rts_counts_for_nothing_and_a_success_ends_the_probe() {
        let mut c = fastest();
        c.begin(RadioId(7), Kind::Data, 1536, Time(40));
        c.sent();
        assert_eq!((c.failed(Time(41)), c.asks_for_rts()), (Next::Mode(Mode(3)), true));
        for _ in 0..9 {
            assert_eq!((c.rts_frames_failed(Time(42)), c.asks_for_rts()), (None, true));
        }
        c.sent();
        c.succeeded(Time(43));
        assert_eq!((c.begin(RadioId(7), Kind::Data, 1536, Time(44)), c.asks_for_rts()), (Mode(3), false));
    }

    #[test]
    fn a_frame_begins_with_rts_where_the_last_one_ended_with_a_failure() {
        let mut c = fastest();
        c.begin(RadioId(7), Kind::Data, 1536, Time(40));
        c.sent();
        c.failed(Time(41));
        c.gave_up();
        c.begin(RadioId(7), Kind::Data, 1536, Time(42));
        assert!(c.asks_for_rts());
        // Another neighbor has done nothing wrong.
        c.begin(RadioId(8), Kind::Data, 1536, Time(43));
        assert!(!c.asks_for_rts());
    }

    #[test]
    fn fifteen_attempts_raise_a_rate_that_fails_now_and_then() {
        let mut c = control(Config { algorithm: Algorithm::Cara, ..Config::default() });
        // The first attempt at every fourth frame is lost: no ten successes follow each other.
        let sent: Vec<Vec<u8>> = (0..14).map(|i| send(&mut c, Time(i), |_, n| i % 4 == 3 && n == 0)).collect();
        let attempts: Vec<u8> = sent.concat();
        assert_eq!(attempts, [[0; 15].as_slice(), &[1; 2]].concat());
    }
}
