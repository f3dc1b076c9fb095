//! Questions to the rule of the program that drives the run, in whole segments.

use super::RackTlp;
use super::control::Input;
use super::state::Facts;
use crate::tcp::cc::interface::{Ack, Signal, Window};
use crate::tcp::connection::Connection;

impl RackTlp {
    fn window(&self) -> Window {
        Window { cwnd: f64::from(self.w.cwnd), ssthresh: f64::from(self.w.ssthresh) }
    }

    fn take(&mut self, window: &Window, conn: &Connection) {
        self.w.cwnd = (window.cwnd as u32).min(self.w.clamp);
        self.w.ssthresh = window.ssthresh as u32;
        self.pacing.rate = conn.rate_of_rule();
    }

    /// ssthresh after a loss or a mark.
    pub(super) fn ssthresh_after(&mut self, signal: Signal, conn: &mut Connection) -> u32 {
        if self.control.is_external() {
            let ssthresh = conn.ask_for_ssthresh(signal, self.queue.in_flight(), self.window());
            self.pacing.rate = conn.rate_of_rule();
            return ssthresh as u32;
        }
        self.control.ssthresh(&self.w)
    }

    /// The window after an acknowledgement outside of a reduction.
    pub(super) fn ask_for_window(&mut self, input: &Input, facts: &Facts, conn: &mut Connection) {
        let bits = facts.sample.delivered as f64 * f64::from(conn.cfg().mss.0) * 8.0;
        let rate_bps = facts.sample.interval.map(|interval| bits / interval.as_secs());
        let ack = Ack {
            newly: input.delivered,
            in_flight: self.queue.in_flight(),
            srtt: conn.rto().srtt(),
            used: self.usage.allows_growth(self.w.cwnd, self.w.in_slow_start()),
            ..*conn.last_ack()
        };
        let window = conn.ask_for_window(&ack, rate_bps, self.window());
        self.take(&window, conn);
    }

    /// The window after a recovery.
    pub(super) fn ask_at_recovery_end(&mut self, conn: &mut Connection) {
        if self.control.is_external() {
            let window = conn.ask_at_recovery_end(self.window());
            self.take(&window, conn);
        }
    }
}
