//! Timers of the sender: retransmission timeout, tail loss probe (RFC 8985, 7), reordering (RFC 8985, 6.3). One of
//! them runs at a time, on a clock with ticks.

use super::RackTlp;
use super::clock::Kind;
use super::state::State;
use crate::tcp::cc::interface::Signal;
use crate::tcp::config::IdleRule;
use crate::tcp::connection::Connection;
use crate::unit::{Span, Time};

/// Added to the times after which segments may be lost, or a probe is sent.
const SLACK: Span = Span::ms(2);

impl RackTlp {
    fn set(&mut self, kind: Kind, span: Span, conn: &mut Connection) {
        self.pending = kind;
        conn.set_timer(self.clock.expiry(conn.now(), span));
    }

    fn timeout(&self, conn: &Connection) -> Span {
        conn.rto().timeout_in_ticks(self.cfg.tick)
    }

    /// Time left of the timeout of the first segment.
    fn timeout_left(&self, conn: &Connection) -> Span {
        let sent = self.queue.get(self.queue.una()).map_or(conn.now(), |s| s.sent);
        (sent + self.timeout(conn)).since(conn.now())
    }

    /// Sets the retransmission timer.
    pub(super) fn set_timeout(&mut self, conn: &mut Connection) {
        self.set(Kind::Timeout, self.timeout(conn), conn);
    }

    /// Sets the retransmission timer; the time since the first segment was sent counts if another timer was running.
    pub(super) fn rearm_timeout(&mut self, conn: &mut Connection) {
        if self.queue.is_empty() {
            self.pending = Kind::Timeout;
            return conn.stop_timer();
        }
        let span = if self.pending == Kind::Timeout { self.timeout(conn) } else { self.timeout_left(conn) };
        self.set(Kind::Timeout, span, conn);
    }

    /// Sets the timer after an acknowledgement.
    pub(super) fn set_timer(&mut self, conn: &mut Connection) {
        if !self.schedule_probe(true, conn) {
            self.rearm_timeout(conn);
        }
    }

    /// Waits until more segments may be lost.
    pub(super) fn wait_for_reordering(&mut self, wait: Span, conn: &mut Connection) {
        self.set(Kind::Reordering, wait + SLACK, conn);
    }

    /// Schedules a tail loss probe (RFC 8985, 7.2). `acked`: after an acknowledgement, so that the timeout starts anew.
    pub(super) fn schedule_probe(&mut self, acked: bool, conn: &mut Connection) -> bool {
        if !self.may_probe(conn) {
            return false;
        }
        let span = if self.queue.len() == 1 {
            conn.rto().probe_timeout()
        } else {
            conn.rto().srtt().map(|srtt| srtt * 2 + SLACK)
        };
        let mut span = span.unwrap_or(Span::secs(1));
        let left = if acked { self.timeout(conn) } else { self.timeout_left(conn) };
        if left > Span::ZERO {
            span = span.min(left);
        }
        self.set(Kind::Probe, span, conn);
        true
    }

    /// The timer expires.
    pub(super) fn expire(&mut self, conn: &mut Connection) {
        if self.queue.is_empty() {
            return self.probe_window(conn);
        }
        match self.pending {
            Kind::Timeout => self.time_out(conn),
            Kind::Probe => self.send_probe(conn),
            Kind::Reordering => self.seek_losses(conn),
        }
    }

    /// Asks with a header if the closed window has opened (RFC 9293, 3.8.6.1); data follow when it has.
    fn probe_window(&mut self, conn: &mut Connection) {
        self.pending = Kind::Timeout;
        if !conn.give_up() {
            conn.back_off();
            conn.send_header();
            self.set_timeout(conn);
        }
    }

    /// Starts the timer of a sender that faces a closed window with nothing outstanding.
    pub(super) fn watch_window(&mut self, conn: &mut Connection) {
        if conn.timer() == Time::NEVER && self.queue.is_empty() && conn.is_shut_out() && conn.gave_up().is_none() {
            self.set_timeout(conn);
        }
    }

    /// The receiver has answered a sender with nothing outstanding: a closed window is probed later.
    pub(super) fn take_window(&mut self, conn: &mut Connection) {
        conn.note_answer();
        if conn.offered() > 0 {
            conn.end_backoff();
            conn.stop_timer();
            if conn.una() < conn.available() && conn.cfg().after_idle == IdleRule::Decay && conn.was_idle() {
                conn.decay_window();
                self.begin(conn);
            }
        } else if conn.is_shut_out() {
            self.set_timeout(conn);
        }
    }

    fn seek_losses(&mut self, conn: &mut Connection) {
        let (in_flight, lost) = (self.queue.in_flight(), self.lost);
        self.mark_lost(conn);
        if self.queue.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(conn);
                let in_flight = self.queue.in_flight();
                if !self.control.is_bbr()
                    && let Some(cwnd) = self.prr.cwnd(1, self.lost == lost, in_flight, self.w.ssthresh)
                {
                    self.w.cwnd = cwnd;
                }
            }
            self.resend_lost(conn);
        }
        self.rearm_timeout(conn);
    }

    /// A tail loss probe: a new segment, or the last one again (RFC 8985, 7.3). A node whose queue of the connection is
    /// full, or in whose queue the last segment still waits, sends none.
    fn send_probe(&mut self, conn: &mut Connection) {
        let (new, last) = (self.has_new(conn), self.queue.nxt() - 1);
        if self.probe.is_none() && if new { conn.has_room_at_node() } else { !conn.holds_copy(last) } {
            self.pending = Kind::Timeout;
            if new {
                self.send_new(conn);
            } else {
                conn.send_out_of_turn(last);
                let mark = self.mark(last, conn);
                self.queue.probe(last, conn.now(), mark);
            }
            conn.note_probe();
            self.probe = Some((self.queue.nxt(), !new));
        }
        self.rearm_timeout(conn);
    }

    /// The retransmission timeout: segments not delivered in time are deemed lost, and the first segment is sent again.
    fn time_out(&mut self, conn: &mut Connection) {
        if conn.give_up() {
            return;
        }
        let (now, una, nxt) = (conn.now(), self.queue.una(), self.queue.nxt());
        let new_recovery = !matches!(self.state, State::Recovery | State::Loss);
        for seq in una..nxt {
            let overdue = self.queue.get(seq).is_some_and(|s| self.rack.is_overdue(s.sent, now));
            if seq == una || overdue {
                self.lost += u64::from(self.queue.mark_lost(seq));
            }
        }
        let open = matches!(self.state, State::Open | State::Disorder);
        if open || una >= self.high || (self.state == State::Loss && self.timeouts == 0) {
            self.undo.arm(una, self.queue.resent());
            self.undo.keep_ssthresh(self.ssthresh_to_keep());
            self.undo.keep_cwnd(self.w.cwnd);
            self.w.ssthresh = self.ssthresh_after(Signal::Timeout, conn);
        }
        self.control.on_timeout(now, nxt);
        if open && self.queue.sacked() >= self.dup_threshold {
            self.rack.reordering = self.rack.reordering.min(self.dup_threshold);
        }
        self.queue.forget_inferred(u32::MAX);
        self.w.cwnd = self.queue.in_flight() + 1;
        self.w.credit = 0;
        self.state = State::Loss;
        self.high = nxt;
        self.probe = None;
        self.frto = self.cfg.f_rto && (new_recovery || self.timeouts > 0);
        self.timeouts += 1;
        conn.note_timeout();
        self.resend(una, conn);
        self.set_timeout(conn);
    }
}
