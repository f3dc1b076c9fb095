//! Scalable TCP (Kelly, CCR 33(2), 2003): growth in proportion to the window, a small cut at a loss.

use super::{Signal, Window};
use crate::settings;
use crate::tcp::Config as Tcp;

settings! {
    /// Scalable TCP.
    pub struct Config {
        /// Growth per acknowledgement \[segments\].
        pub increase: f64 = 0.01,
        /// Share of the window that a loss takes away.
        pub decrease: f64 = 0.125,
    }
}

/// The window rule of Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    cfg: Config,
    loss_window: f64,
}

impl Scalable {
    pub(super) fn new(tcp: &Tcp) -> Scalable {
        Scalable { cfg: tcp.scalable.clone(), loss_window: f64::from(tcp.loss_window) }
    }

    pub(super) fn on_ack(&mut self, w: &mut Window) {
        w.cwnd += if w.cwnd < w.ssthresh { 1.0 } else { self.cfg.increase };
    }

    pub(super) fn on_congestion(&mut self, signal: Signal, w: &mut Window) {
        w.ssthresh = (w.cwnd * (1.0 - self.cfg.decrease)).max(2.0);
        w.cwnd = match signal {
            Signal::FastRetransmit => w.ssthresh,
            Signal::Timeout => self.loss_window,
            Signal::Ecn => w.ssthresh.min(w.cwnd),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_takes_an_eighth() {
        let mut rule = Scalable::new(&Tcp::default());
        let mut w = Window { cwnd: 16.0, ssthresh: 8.0 };
        rule.on_congestion(Signal::FastRetransmit, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (14.0, 14.0));
        rule.on_ack(&mut w);
        assert_eq!(w.cwnd, 14.01);
        rule.on_congestion(Signal::Timeout, &mut w);
        assert_eq!(w.cwnd, 1.0);
    }
}
