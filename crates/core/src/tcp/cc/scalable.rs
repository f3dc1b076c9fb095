//! Scalable TCP (Kelly, CCR 33(2), 2003): growth in proportion to the window, a small cut at a loss.

use super::interface::{Congestion, Signal, Window};
use super::registry::WindowRule;
use crate::setting::limit::range;
use crate::settings;

settings! {
    /// Scalable TCP.
    pub struct Config {
        /// Growth per acknowledgement \[segments\].
        pub increase: f64 = 0.01 => range(0.0, 1.0),
        /// Share by which a loss reduces the window.
        pub decrease: f64 = 0.125 => range(0.0, 1.0),
    }
}

/// The window rule of Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    cfg: Config,
}

impl Scalable {
    pub(super) fn new(cfg: &Config) -> Scalable {
        Scalable { cfg: cfg.clone() }
    }
}

impl WindowRule for Scalable {
    const READS_REMAINDER: bool = false;

    fn grow(&mut self, w: &mut Window) {
        w.cwnd += if w.cwnd < w.ssthresh { 1.0 } else { self.cfg.increase };
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        w.ssthresh = (w.cwnd * (1.0 - self.cfg.decrease)).max(2.0);
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
    use crate::unit::Time;

    #[test]
    fn a_loss_takes_an_eighth() {
        let mut rule = Scalable::new(&Config::default());
        let mut w = Window { cwnd: 16.0, ssthresh: 8.0 };
        let (now, remainder, loss_window) = (Time::ZERO, 8.0, 1.0);
        let congestion =
            |signal| Congestion { signal, now, in_use: 16.0, remainder, loss_window, whole_ssthresh: false };
        rule.on_congestion(&congestion(Signal::FastRetransmit), &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (14.0, 14.0));
        rule.grow(&mut w);
        assert_eq!(w.cwnd, 14.01);
        rule.on_congestion(&congestion(Signal::Timeout), &mut w);
        assert_eq!(w.cwnd, 1.0);
    }
}
