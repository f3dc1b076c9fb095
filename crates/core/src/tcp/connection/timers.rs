//! The retransmission timer, and the round-trip times that it needs.

use super::{Connection, Cut, NO_SAMPLE};
use crate::tcp::cc::interface::Signal;
use crate::tcp::config::{Halving, IdleRule};
use crate::tcp::sender::elfn::After;
use crate::unit::{Span, Time};

impl Connection {
    // ---- measurements ----

    /// Ends the measurement of a round trip if its segment is acknowledged.
    pub(super) fn end_measurement(&mut self) {
        if let Some((_, at)) = self.timed.filter(|t| self.una > t.0) {
            self.timed = None;
            self.measure(at);
        }
    }

    pub(super) fn measure(&mut self, sent: Time) {
        let backoff = self.rto.backoff();
        self.rto.sample(sent, self.now);
        self.take_measurement(sent, backoff);
    }

    /// Measures a round trip for a recovery that says when a round ends.
    pub(in crate::tcp) fn measure_in_round(&mut self, sent: Time, ends_round: bool) {
        let backoff = self.rto.backoff();
        self.rto.sample_in_round(sent, self.now, ends_round);
        self.take_measurement(sent, backoff);
    }

    #[inline]
    fn take_measurement(&mut self, sent: Time, backoff: u32) {
        if self.ecn.keeps_backoff() {
            self.rto.restore_backoff(backoff);
        }
        let rtt = self.now.since(sent);
        self.sampled = rtt;
        self.min_rtt = self.min_rtt.min(rtt);
        self.sums.rtt_samples += 1;
        self.sums.rtt_ns += rtt.0;
    }

    /// Takes the round-trip time measured since the last call.
    #[inline]
    pub(super) fn take_sample(&mut self) -> Option<Span> {
        let sampled = std::mem::replace(&mut self.sampled, NO_SAMPLE);
        (sampled != NO_SAMPLE).then_some(sampled)
    }

    /// After a partial acknowledgement: ends the measurement without a result, and the backoff of the timeout.
    pub fn skip_measurement(&mut self) {
        if self.timed.is_some_and(|t| self.una > t.0) {
            self.timed = None;
            self.rto.clear_backoff();
        }
    }

    /// Abandons the measurement in progress (Karn's rule).
    pub fn cancel_measurement(&mut self) {
        self.timed = None;
    }

    /// The next retransmission timeout is twice as long.
    pub fn back_off(&mut self) {
        self.rto.back_off();
    }

    /// The retransmission timeout is no longer backed off.
    pub fn end_backoff(&mut self) {
        self.rto.clear_backoff();
    }

    // ---- timer ----

    /// Restarts the retransmission timer.
    pub fn restart_timer(&mut self) {
        self.timer = self.now + self.rto.timeout();
    }

    /// Sets the timer of a recovery that has timers of its own.
    pub(in crate::tcp) fn set_timer(&mut self, at: Time) {
        self.timer = at;
    }

    /// Counts an expiration of the retransmission timer in such a recovery.
    pub(in crate::tcp) fn note_timeout(&mut self) {
        self.counters.timeouts += 1;
        self.last_cut = Cut::Timeout;
        self.recover = self.max;
        self.ecn.cut = true;
        self.rto.back_off();
        self.cancel_measurement();
    }

    /// Stops the retransmission timer.
    pub(in crate::tcp) fn stop_timer(&mut self) {
        self.timer = Time::NEVER;
    }

    /// After a new acknowledgement (RFC 6298 5.2, 5.3).
    pub(super) fn restart_timer_if_needed(&mut self) {
        // ns-2's timer runs on when nothing is outstanding, and restarts slow start. A window that an ECE has closed
        // opens when it expires.
        if self.una < self.max || self.cfg.after_idle == IdleRule::Timer || self.is_closed_by_ece() {
            self.restart_timer();
        } else {
            self.timer = Time::NEVER;
        }
    }

    /// Time of the next call: the timer expires, a paced segment is due, or the node has room again.
    #[inline]
    pub(in crate::tcp) fn deadline(&self) -> Time {
        self.pacer.deadline().min(self.timer).min(self.resumes_at)
    }

    /// Returns true if an expiration of the timer means that no answer has arrived.
    pub(in crate::tcp) fn awaits_answer(&self) -> bool {
        self.una < self.max || self.is_shut_out()
    }

    /// Counts an expiration of the timer without an answer. Returns true if the connection is given up. Does not count
    /// while retransmissions since the last expiration still wait for their pace: nothing was sent that could be
    /// answered.
    pub(in crate::tcp) fn give_up(&mut self) -> bool {
        let sent = self.counters.packets_sent + self.counters.probes_sent;
        let waits_for_pace = self.pacer.is_armed() && sent == self.sent_before;
        self.sent_before = sent;
        if waits_for_pace {
            return false;
        }
        let of_syn = self.cfg.handshake.max_repeats.filter(|_| self.awaits_syn());
        let gives_up = of_syn.or(self.cfg.max_timeouts).is_some_and(|most| self.unanswered >= most);
        self.unanswered += 1;
        if gives_up {
            self.gave_up = self.now;
            self.timer = Time::NEVER;
            self.pacer.pause();
        }
        gives_up
    }

    /// Common beginning of all timeouts.
    fn begin_timeout(&mut self) {
        self.inflation = 0;
        self.credit = 0;
        self.recover = self.max;
        self.ecn.waiting = false;
        self.counters.timeouts += 1;
    }

    /// The timer expires with data outstanding, and a probe is sent: the window is not cut before the probe is
    /// answered. The timer expires again after `again_after`, or after twice the timeout.
    pub(in crate::tcp) fn time_out_with_probe(&mut self, again_after: Option<Span>) {
        self.begin_timeout();
        self.last_cut = Cut::Timeout;
        self.rto.back_off();
        self.timer = self.now + again_after.unwrap_or(self.rto.timeout());
        self.cancel_measurement();
        self.pacer.pause();
    }

    /// Returns true if the sender stands by.
    pub(in crate::tcp) fn stands_by(&self) -> bool {
        self.standby.is_some()
    }

    /// Time of the first probe in a standby.
    pub(in crate::tcp) fn first_probe(&self) -> Option<Time> {
        self.standby
    }

    /// Begins the standby: the timer expires after `span`, which is no timeout.
    pub(in crate::tcp) fn stand_by(&mut self, span: Span) {
        self.standby.get_or_insert(Time::NEVER);
        self.timer = self.now + span;
        self.cancel_measurement();
        self.pacer.pause();
    }

    /// Sends the first outstanding segment as a probe, and waits for its answer in standby.
    pub(in crate::tcp) fn probe_in_standby(&mut self) {
        self.standby = self.standby.map(|first| first.min(self.now));
        self.send_as_probe(self.una);
        self.stand_by(self.cfg.elfn.probe_interval);
    }

    /// Ends the standby of the sender.
    pub(in crate::tcp) fn end_standby(&mut self) {
        self.standby = None;
        if self.cfg.elfn.cwnd == After::Reset {
            self.window.cwnd = f64::from(self.cfg.loss_window);
        }
        if self.cfg.elfn.rto == After::Reset {
            self.rto.forget();
        }
        self.unanswered = 0;
        self.restart_timer();
    }

    /// The timer expires with data outstanding: the window is cut, and sending continues at the first hole.
    pub(in crate::tcp) fn time_out(&mut self, keeps_ssthresh: bool) {
        // RFC 5681, (4): a segment that times out again does not lower ssthresh further.
        let again = self.cfg.ssthresh_base == Halving::FlightSize && self.rto.backoff() > 1;
        let is_cut = self.ssthresh_is_cut();
        self.counters.timeouts_after_ecn_cut += u64::from(is_cut);
        let keeps_ssthresh = keeps_ssthresh || again || is_cut || self.forgives_lost_syn();
        self.begin_timeout();
        if self.una == 0 {
            self.note_lost_first();
        }
        let ssthresh = self.window.ssthresh;
        let held = self.withholds_cut();
        self.cut(Signal::Timeout);
        if self.awaits_syn() {
            // No data are sent before the SYN is acknowledged, whatever the window rule.
            self.window.cwnd = 1.0;
        }
        if keeps_ssthresh {
            self.window.ssthresh = ssthresh;
        }
        if self.cc.backs_off_rto() && !held && !self.repeats_syn_linearly() {
            self.rto.back_off();
        }
        self.restart_timer();
        self.cancel_measurement();
        self.nxt = self.una;
        self.pacer.pause();
        self.cc.on_rewind(self.nxt);
    }

    /// The timer expires with nothing outstanding. It runs then only if it restarts slow start of an idle sender, or if
    /// ECN has closed the window.
    pub(in crate::tcp) fn collapse_when_idle(&mut self) {
        self.recover = self.max;
        self.cut_to(1.0);
        self.last_cut = Cut::Timeout;
        self.restart_timer();
        self.ecn.waiting = false;
    }

    /// Returns true if the sender has been idle for longer than the timeout.
    pub(in crate::tcp) fn was_idle(&self) -> bool {
        self.una == self.max && self.max > 0 && self.now.since(self.last_sent) > self.rto.timeout()
    }

    // ---- the receiver's window ----

    /// Starts the timer of a sender that faces a closed window; the sender probes when the timer expires.
    pub(in crate::tcp) fn watch_window(&mut self) {
        if self.timer == Time::NEVER && self.is_shut_out() {
            self.restart_timer();
        }
    }

    /// Sends a probe into a closed window; the next one follows after twice the time.
    pub(in crate::tcp) fn probe(&mut self) {
        self.rto.back_off();
        self.send_first();
        self.cancel_measurement();
        self.restart_timer();
    }

    /// A receiver without buffer space has answered, so that the connection is alive. The probe is sent again when
    /// space is available.
    pub(in crate::tcp) fn end_probing(&mut self) {
        self.unanswered = 0;
        if self.nxt == self.una + 1 {
            self.nxt = self.una;
        }
    }
}
