//! Fractional window increment (Nahm, Helmy and Kuo, "TCP over Multihop 802.11 Networks: Issues and Performance
//! Enhancement", MobiHoc 2005): congestion avoidance adds a fraction of a segment per round trip, so that the window
//! does not overshoot the few packets that a wireless path can hold.

use super::interface::{Congestion, Window};
use super::registry::WindowRule;
use super::reno::Reno;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Fractional window increment.
    pub struct Config {
        /// Growth of the window per round trip \[segments\].
        pub alpha: f64 = 0.01 => range(0.0, 100.0),
        /// Uses `alpha` in slow start, too, as the growth per acknowledgement; otherwise it is one segment.
        pub fractional_slow_start: bool = false,
    }
}

/// Reno's window rule with a fractional increment.
#[derive(Clone, Debug)]
pub struct Few {
    cfg: Config,
    reno: Reno,
}

impl Few {
    pub(super) fn new(cfg: &Config) -> Few {
        Few { cfg: cfg.clone(), reno: Reno }
    }
}

impl WindowRule for Few {
    fn grow(&mut self, w: &mut Window) {
        let slow_start = w.cwnd < w.ssthresh;
        w.cwnd += match (slow_start, self.cfg.fractional_slow_start) {
            (true, false) => 1.0,
            (true, true) => self.cfg.alpha,
            (false, _) => self.cfg.alpha / w.cwnd,
        };
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        self.reno.on_congestion(c, w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_adds_alpha() {
        let mut few = Few::new(&Config::default());
        let mut w = Window { cwnd: 4.0, ssthresh: 2.0 };
        for _ in 0..4 {
            few.grow(&mut w);
        }
        assert!((w.cwnd - 4.01).abs() < 1e-4, "{w:?}");
        let mut w = Window { cwnd: 1.0, ssthresh: 2.0 };
        few.grow(&mut w);
        assert_eq!(w.cwnd, 2.0, "slow start as ever");
    }
}
