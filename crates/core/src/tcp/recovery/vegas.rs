//! Vegas' retransmission (Brakmo and Peterson 1995, 3.1) in the form of ns-2's agent.
//!
//! A fine-grained timeout per segment is looked at on every duplicate acknowledgement, and on the first two new ones
//! after a retransmission. The window is cut by a quarter, and only if the lost segment was sent after the last cut.

use super::registry::LossRecovery;
use crate::packet::{AckSegment, Seq};
use crate::tcp::cc::interface::Signal;
use crate::tcp::cc::vegas::Config;
use crate::tcp::connection::{Connection, Cut};
use crate::tcp::sender::send_times::SendTimes;
use crate::unit::{Span, Time};

/// State of the loss recovery of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    cfg: Config,
    /// 8 times the mean and 4 times the deviation of the round-trip time, and the timeout \[ns\].
    mean8: f64,
    deviation4: f64,
    timeout: f64,
    /// New acknowledgements after a retransmission at which the fine-grained timeout is still looked at.
    watched: u32,
    /// The window after the last cut, without inflation; 0 after a timeout, as in ns-2.
    after_cut: f64,
    /// By how much duplicate acknowledgements have inflated the window.
    inflated_by: f64,
    last_cut_at: Option<Time>,
    /// An acknowledgement has come.
    begun: bool,
}

impl LossRecovery for Vegas {
    const COUNTS_DUPLICATES_ITSELF: bool = true;

    fn is_going_on(&self, conn: &Connection) -> bool {
        conn.dup_acks() >= conn.cfg().dup_threshold
    }

    fn send_times(&self, window: u32) -> Option<SendTimes> {
        Some(SendTimes::with_bugs(window, self.cfg.ns2.clearing_stops_at_wrap, self.cfg.ns2.send_time_sentinels))
    }

    fn times_out_when_idle(&self) -> bool {
        self.cfg.ns2.timeout_when_idle
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if !self.begun {
            self.begun = true;
            let rtt = conn.since_first_sent().0 as f64;
            self.mean8 = 8.0 * rtt;
            self.deviation4 = rtt;
            self.timeout = (self.mean8 / 4.0 + self.deviation4) / 2.0;
        }
        if conn.has_undone_cut() {
            self.inflated_by = 0.0;
            self.after_cut = conn.window().cwnd;
        }
        if ack.next > conn.una() {
            self.on_new_ack(ack, conn);
        } else {
            self.on_dup_ack(conn);
        }
        if conn.dup_acks() == 0 || conn.dup_acks() >= conn.cfg().dup_threshold {
            conn.send_allowed();
        }
    }

    fn on_timeout(&mut self, conn: &Connection) {
        self.after_cut = 0.0;
        self.inflated_by = 0.0;
        self.last_cut_at = Some(conn.now());
    }
}

impl Vegas {
    pub(super) fn new(cfg: &Config) -> Vegas {
        Vegas {
            cfg: cfg.clone(),
            mean8: 0.0,
            deviation4: 0.0,
            timeout: f64::INFINITY,
            watched: 0,
            after_cut: 0.0,
            inflated_by: 0.0,
            last_cut_at: None,
            begun: false,
        }
    }

    fn on_new_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if conn.una() == 1 && conn.cfg().syn {
            conn.open_initial_window();
        }
        self.deflate(conn);
        conn.advance(ack);
        conn.grow();
        if let Some(rtt) = conn.last_ack().segment_rtt.filter(|r| *r > Span::ZERO) {
            self.measure(rtt.0 as f64);
        }
        if self.watched > 0 {
            self.watched -= 1;
            if self.is_overdue(conn) {
                conn.set_dup_acks(conn.cfg().dup_threshold);
                conn.send(conn.una());
            } else {
                self.watched = 0;
            }
        }
    }

    /// A new acknowledgement takes the inflation back.
    fn deflate(&mut self, conn: &mut Connection) {
        let cwnd = conn.window().cwnd;
        let smaller = if self.cfg.ns2.inflation_stays {
            let inflated = conn.dup_acks() > conn.cfg().dup_threshold && cwnd > self.after_cut;
            inflated.then_some(self.after_cut)
        } else {
            (self.inflated_by > 0.0).then(|| (cwnd - self.inflated_by).max(2.0))
        };
        if let Some(cwnd) = smaller {
            conn.set_cwnd(cwnd);
            conn.set_ssthresh(2.0);
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

    /// Returns true if the first unacknowledged segment has waited longer than the fine-grained timeout.
    fn is_overdue(&self, conn: &Connection) -> bool {
        if conn.outstanding() == 0 && !self.cfg.ns2.send_time_sentinels {
            return false;
        }
        match conn.send_times().get(conn.una()).0 {
            Some(sent) => conn.now().since(sent).0 as f64 >= self.timeout,
            // ns-2 takes "not sent" for "sent one second before the connection began".
            None => self.cfg.ns2.send_time_sentinels && conn.since_first_sent().0 as f64 + 1e9 >= self.timeout,
        }
    }

    fn on_dup_ack(&mut self, conn: &mut Connection) {
        let dup_acks = conn.count_duplicate();
        let threshold = conn.cfg().dup_threshold;
        if !self.is_overdue(conn) && dup_acks != threshold {
            if dup_acks > threshold {
                conn.set_cwnd(conn.window().cwnd + 1.0);
                self.inflated_by += 1.0;
            }
            return;
        }
        let (una, last_cut) = (conn.una(), conn.last_cut());
        if una <= conn.recover() && last_cut == Cut::Timeout {
            return;
        }
        let (sent, times) = conn.send_times().get(una);
        let window = conn.usable_window();
        let cut_for_ece = last_cut == Cut::Ecn && una <= conn.recover();
        conn.begin_recovery_with_window();
        self.watched = (conn.nxt() - una + 1).min(2);
        self.timeout *= if times > 1 { 2.0 } else { 1.125 };
        let since_cut = |t: Time| self.last_cut_at.is_none_or(|cut| cut < t);
        if sent.is_some_and(since_cut) && !cut_for_ece && !conn.withholds_cut() {
            self.cut(window, times, conn);
        }
        if self.cfg.ns2.backoff_on_fast_retransmit {
            conn.back_off();
        }
        conn.restart_timer();
        conn.cancel_measurement();
        conn.send(una);
        if times == 1 {
            conn.set_dup_acks(threshold);
        }
    }

    fn cut(&mut self, window: u32, times: u32, conn: &mut Connection) {
        conn.remember_window(Signal::FastRetransmit);
        let smaller: Seq = match window {
            0..=3 => 2,
            w if times > 1 => w / 2,
            w => w - w / 4,
        };
        self.after_cut = f64::from(smaller);
        self.inflated_by = f64::from(conn.dup_acks());
        conn.cut_to(f64::from(smaller + conn.dup_acks()));
        self.last_cut_at = Some(conn.now());
    }
}
