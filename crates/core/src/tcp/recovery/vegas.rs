//! Vegas' retransmission (Brakmo and Peterson 1995, 3.1) in the form of ns-2's agent.
//!
//! A fine-grained timeout per segment is looked at on every duplicate acknowledgement, and on the first two new ones
//! after a retransmission. The window is cut by a quarter, and only if the lost segment was sent after the last cut.

use crate::packet::{AckSegment, Seq};
use crate::tcp::cc::CongestionControl;
use crate::tcp::cc::vegas::Config;
use crate::tcp::core::{Core, Cut};
use crate::unit::{Span, Time};

/// Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    cfg: Config,
    loss_window: f64,
    /// 8 mean and 4 deviation of the round-trip time, and the timeout [ns].
    mean8: f64,
    deviation4: f64,
    timeout: f64,
    /// New acknowledgements that are still to be looked at after a retransmission.
    worried: u32,
    /// The window after the last cut, without inflation; 0 after a timeout, as in ns-2.
    after_cut: f64,
    /// By how much duplicate acknowledgements have inflated the window.
    inflated_by: f64,
    last_cut_at: Option<Time>,
    heard: bool,
}

impl Vegas {
    pub(super) fn new(cfg: &crate::tcp::Config) -> Vegas {
        Vegas {
            cfg: cfg.vegas.clone(),
            loss_window: f64::from(cfg.loss_window),
            mean8: 0.0,
            deviation4: 0.0,
            timeout: f64::INFINITY,
            worried: 0,
            after_cut: 0.0,
            inflated_by: 0.0,
            last_cut_at: None,
            heard: false,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        if !self.heard {
            self.heard = true;
            let rtt = core.now.since(core.since).0 as f64;
            self.mean8 = 8.0 * rtt;
            self.deviation4 = rtt;
            self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
        }
        if ack.next > core.una {
            self.on_new_ack(ack, core, cc);
        } else {
            self.on_dup_ack(core);
        }
        if core.dup_acks == 0 || core.dup_acks >= core.cfg.dup_threshold {
            core.send_allowed(core.cfg.max_burst);
        }
    }

    fn on_new_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        if core.una == 1 && core.cfg.syn {
            core.open_initial_window(cc);
        }
        self.deflate(core);
        let old = core.una;
        core.advance(ack.next, ack.echo);
        let (sent, times) = core.sent.get(ack.next - 1);
        let unmeasured = |t: Time| self.cfg.bug_send_time_sentinels && t == core.since;
        let rtt = sent.filter(|&t| times == 1 && !unmeasured(t)).map(|t| core.now.since(t));
        core.sent.clear(old, ack.next, self.cfg.bug_clearing_stops_at_wrap);
        core.grow(rtt, cc);
        if let Some(rtt) = rtt.filter(|r| *r > Span::ZERO) {
            self.measure(rtt.0 as f64);
        }
        if self.worried > 0 {
            self.worried -= 1;
            if self.is_overdue(core) {
                core.dup_acks = core.cfg.dup_threshold;
                core.send(core.una);
            } else {
                self.worried = 0;
            }
        }
    }

    /// A new acknowledgement takes the inflation back.
    fn deflate(&mut self, core: &mut Core) {
        let window = if self.cfg.bug_inflation_stays {
            let inflated = core.dup_acks > core.cfg.dup_threshold && core.window.cwnd > self.after_cut;
            inflated.then_some(self.after_cut)
        } else {
            (self.inflated_by > 0.0).then(|| (core.window.cwnd - self.inflated_by).max(2.0))
        };
        if let Some(window) = window {
            core.window.cwnd = window;
            core.window.ssthresh = 2.0;
        }
        self.inflated_by = 0.0;
    }

    fn measure(&mut self, rtt: f64) {
        let error = rtt - self.mean8 / 8.0;
        self.mean8 += error;
        self.deviation4 += error.abs() - self.deviation4 / 4.0;
        self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
        self.timeout += self.timeout / 16.0;
    }

    /// Whether the first unacknowledged segment has waited longer than the fine-grained timeout.
    fn is_overdue(&self, core: &Core) -> bool {
        if core.una == core.max && !self.cfg.bug_send_time_sentinels {
            return false;
        }
        match core.sent.get(core.una).0 {
            Some(sent) => core.now.since(sent).0 as f64 >= self.timeout,
            // ns-2 takes "not sent" for "sent one second before the connection began".
            None => self.cfg.bug_send_time_sentinels && core.now.since(core.since).0 as f64 + 1e9 >= self.timeout,
        }
    }

    fn on_dup_ack(&mut self, core: &mut Core) {
        core.dup_acks += 1;
        let threshold = core.cfg.dup_threshold;
        if !self.is_overdue(core) && core.dup_acks != threshold {
            if core.dup_acks > threshold {
                core.window.cwnd += 1.0;
                self.inflated_by += 1.0;
            }
            return;
        }
        if core.una <= core.recover && core.last_cut == Cut::Timeout {
            return;
        }
        let (sent, times) = core.sent.get(core.una);
        let window = core.usable_window();
        let cut_by_mark = core.last_cut == Cut::Ecn && core.una <= core.recover;
        core.last_cut = Cut::DupAcks;
        core.recover = core.max;
        core.counters.fast_retransmits += 1;
        self.worried = (core.nxt - core.una + 1).min(2);
        self.timeout *= if times > 1 { 2.0 } else { 1.125 };
        let since_cut = |t: Time| self.last_cut_at.is_none_or(|cut| cut < t);
        if sent.is_some_and(since_cut) && !cut_by_mark {
            self.cut(window, times, core);
        }
        if self.cfg.bug_backoff_on_fast_retransmit {
            core.rto.back_off();
        }
        core.restart_timer();
        core.cancel_measurement();
        core.send(core.una);
        if times == 1 {
            core.dup_acks = threshold;
        }
    }

    fn cut(&mut self, window: u32, times: u32, core: &mut Core) {
        let smaller: Seq = match window {
            0..=3 => 2,
            w if times > 1 => w / 2,
            w => w - w / 4,
        };
        self.after_cut = f64::from(smaller);
        self.inflated_by = f64::from(core.dup_acks);
        core.window.cwnd = f64::from(smaller + core.dup_acks);
        core.ecn.cut = true;
        self.last_cut_at = Some(core.now);
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core, cc: &mut CongestionControl) {
        core.window.cwnd = if self.cfg.bug_restart_at_two { 2.0 } else { self.loss_window };
        self.after_cut = 0.0;
        self.inflated_by = 0.0;
        self.last_cut_at = Some(core.now);
        if let CongestionControl::Vegas(rule) = cc {
            rule.on_rewind(core.nxt);
        }
    }
}
