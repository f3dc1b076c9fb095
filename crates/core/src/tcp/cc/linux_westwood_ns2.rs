//! Westwood+ as it results from ns-2's `Agent/TCP/Linux` with Linux' module `westwood`: the agent raises neither of the
//! two events at which the module would set ssthresh from its estimate of the rate. After a loss ssthresh is therefore
//! half of the amount in use, as with Reno. In fast recovery the window shrinks by one segment with every second
//! acknowledgement, down to rate times smallest round trip, but not below 2 segments, and afterwards it is at least
//! ssthresh. The estimate has an effect only where it exceeds half of the window: this is SACK in all but name.

use super::interface::{Ack, AckKind, Congestion, Signal, Window};
use super::registry::WindowRule;
use super::westwood::{self, Westwood};

/// The window rule: Reno's cut, and Westwood+'s estimate as the floor of the window in recovery.
#[derive(Clone, Debug)]
pub struct LinuxWestwoodNs2 {
    estimate: Westwood,
    /// The last acknowledgement in recovery has not shrunk the window.
    counted: bool,
}

impl LinuxWestwoodNs2 {
    pub(super) fn new(cfg: &westwood::Config) -> LinuxWestwoodNs2 {
        LinuxWestwoodNs2 { estimate: Westwood::new(cfg), counted: false }
    }
}

impl WindowRule for LinuxWestwoodNs2 {
    fn on_every_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.estimate.on_every_ack(ack, w);
        if !ack.recovering || !matches!(ack.kind, AckKind::NewData | AckKind::Duplicate) {
            self.counted = false;
            return;
        }
        let least = self.estimate.in_transit().unwrap_or(0.0).max(2.0);
        self.counted = !self.counted;
        if !self.counted && w.cwnd > least {
            w.cwnd = (w.cwnd - 1.0).max(least);
        }
    }

    fn grow(&mut self, w: &mut Window) {
        self.estimate.grow(w);
    }

    fn on_congestion(&mut self, c: &Congestion, w: &mut Window) {
        let before = w.cwnd;
        self.estimate.reno.on_congestion(c, w);
        if c.signal == Signal::FastRetransmit {
            w.cwnd = before;
        }
    }

    fn on_recovery_end(&mut self, w: &mut Window) {
        w.cwnd = w.cwnd.max(w.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Span, Time};

    fn after(signal: Signal, rule: &mut LinuxWestwoodNs2) -> Window {
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
        w
    }

    #[test]
    fn ssthresh_is_half_of_what_is_in_use_whatever_the_estimate() {
        let mut rule = LinuxWestwoodNs2::new(&westwood::Config::default());
        assert_eq!(after(Signal::Timeout, &mut rule), Window { cwnd: 1.0, ssthresh: 10.0 });
        assert_eq!(after(Signal::FastRetransmit, &mut rule), Window { cwnd: 20.0, ssthresh: 10.0 });
    }

    #[test]
    fn recovery_shrinks_cwnd_on_every_second_ack_down_to_estimate() {
        let ack = |recovering| Ack { kind: AckKind::Duplicate, recovering, ..Ack::default() };
        let mut rule = LinuxWestwoodNs2::new(&westwood::Config::default());
        let mut w = after(Signal::FastRetransmit, &mut rule);
        let mut windows = vec![];
        for _ in 0..5 {
            rule.on_every_ack(&ack(true), &mut w);
            windows.push(w.cwnd);
        }
        assert_eq!(windows, [20.0, 19.0, 19.0, 18.0, 18.0]);
        (0..60).for_each(|_| rule.on_every_ack(&ack(true), &mut w));
        assert_eq!(w.cwnd, 2.0, "nothing is measured");
        rule.on_recovery_end(&mut w);
        assert_eq!(w, Window { cwnd: 10.0, ssthresh: 10.0 });

        // An acknowledgement each 10 ms over a path of 150 ms: 15 segments, more than half of 20.
        let mut rule = LinuxWestwoodNs2::new(&westwood::Config::default());
        for i in 0..=40 {
            let (now, rtt) = (Time::ZERO + Span::ms(10 * i), Some(Span::ms(150)));
            rule.on_every_ack(&Ack { now, kind: AckKind::NewData, newly: 1, rtt, ..Ack::default() }, &mut w);
        }
        let mut w = after(Signal::FastRetransmit, &mut rule);
        (0..60).for_each(|_| rule.on_every_ack(&ack(true), &mut w));
        assert_eq!(w.cwnd, 15.0);
        rule.on_recovery_end(&mut w);
        assert_eq!(w, Window { cwnd: 15.0, ssthresh: 10.0 });
    }
}
