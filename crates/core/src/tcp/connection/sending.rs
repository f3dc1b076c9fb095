//! Transmission of segments, at once or paced.

use super::Connection;
use crate::packet::{Control, DataSegment, Fin, Seq};
use crate::tcp::Out;
use crate::tcp::sender::writes::Written;
use crate::unit::Time;

impl Connection {
    /// The application provides more segments; `None`: without end.
    pub(in crate::tcp) fn provide(&mut self, segments: Option<u32>) {
        if self.out.capacity() == 0 {
            self.out.reserve(2 * self.cfg.receive_window.min(64) as usize + 8);
        }
        let syn = u32::from(self.syn && self.available == 0);
        self.available = match segments {
            Some(n) => self.available.saturating_add(n).saturating_add(syn),
            None => Seq::MAX,
        };
    }

    /// The application provides no more data. Segments that have not been sent by now are withdrawn.
    pub(in crate::tcp) fn close(&mut self) {
        let was_shut_out = self.is_shut_out();
        if let Some(writes) = self.pieces_mut() {
            writes.stop();
        }
        self.available = self.available.min(self.max);
        if let Some(Written::Whole(ends)) = self.written.as_deref_mut() {
            ends.withdraw(self.available);
        }
        if self.fin.1 != Fin::No && self.fin.0 >= self.available {
            // The FIN is among the withdrawn segments: the application closes its end anew.
            self.fin = (Seq::MAX, Fin::No);
        }
        if was_shut_out && self.una == self.max {
            self.restart_timer_if_needed();
        }
    }

    /// Segments that the application has provided so far, the SYN not counted; `None`: without end, or not yet known.
    pub(in crate::tcp) fn provided(&self) -> Option<Seq> {
        let others = Seq::from(self.syn) + Seq::from(self.fin.1 == Fin::Bare);
        (self.available < Seq::MAX && !self.writes_more()).then(|| self.available.saturating_sub(others))
    }

    /// The application has closed its end. The FIN goes with the last segment if that has not been sent, or else alone;
    /// an application writes, and closes, when the SYN is acknowledged. Returns true if a FIN is to be sent now.
    pub(in crate::tcp) fn finish(&mut self) -> bool {
        if !self.cfg.fin || !self.syn || self.fin.1 != Fin::No || [0, Seq::MAX].contains(&self.available) {
            return false;
        }
        self.to_finish = self.una == 0 || self.writes_more();
        if self.to_finish {
            return false;
        }
        if self.max < self.available {
            self.fin = (self.available - 1, Fin::WithData);
        } else {
            self.fin = (self.available, Fin::Bare);
            self.available += 1;
        }
        true
    }

    /// Returns true if the application has closed its end, and the FIN can be sent now that the SYN is acknowledged and
    /// all data are written.
    #[inline]
    pub(in crate::tcp) fn is_to_finish(&self) -> bool {
        self.to_finish && self.una > 0 && !self.writes_more()
    }

    /// Returns true if the application has closed its end, so that it writes no more.
    pub(in crate::tcp) fn is_finished(&self) -> bool {
        self.to_finish || self.fin.1 != Fin::No
    }

    /// Segments that are acknowledged, all up to the first that is not; SYN and FIN not counted.
    pub fn acknowledged(&self) -> u64 {
        let (fin, kind) = self.fin;
        let others = Seq::from(self.syn) + Seq::from(kind == Fin::Bare && self.una > fin);
        u64::from(self.una.saturating_sub(others))
    }

    /// Notes the time at which the connection is closed.
    #[inline]
    pub(in crate::tcp) fn note_end(&mut self) {
        if self.una > self.fin.0 && self.closed == Time::NEVER {
            self.note_close();
        }
    }

    /// Stores the time at which an acknowledgement that arrives now was sent; segments echo the latest such time, also
    /// after an old acknowledgement (RFC 7323, 4.3).
    #[inline]
    pub(in crate::tcp) fn note_sent(&mut self, sent: Time) {
        self.last_ack_sent = self.last_ack_sent.max(sent);
    }

    /// Changes the limit of the window that the receiver may offer.
    pub(in crate::tcp) fn set_window_limit(&mut self, segments: u32) {
        self.cfg.receive_window = segments;
        self.offered = self.offered.min(segments);
        if self.send_times.is_of_window() {
            self.send_times.make_room(segments as usize, self.una, self.max);
        }
    }

    /// Sends a segment, new or again, and counts it.
    pub fn send(&mut self, seq: Seq) {
        let nothing_outstanding = self.una == self.max;
        let retransmission = seq < self.max;
        let syn = seq == 0 && self.syn;
        let mut segment = DataSegment {
            seq,
            sent: self.now,
            echo: self.last_ack_sent,
            born: self.now,
            retransmission,
            syn,
            ..DataSegment::default()
        };
        if seq == self.fin.0 {
            segment.fin = self.fin.1;
        }
        segment.push = if retransmission {
            self.was_pushed(seq)
        } else {
            // Nothing that was written follows.
            let push = seq + 1 == self.available && !syn && segment.fin != Fin::Bare;
            self.pushed = self.pushed << 1 | u64::from(push);
            push
        };
        if let Some(writes) = self.pieces_mut().filter(|_| !syn && segment.fin != Fin::Bare) {
            (segment.missing, segment.push) = writes.cut(seq);
        }
        if self.cfg.ecn.enabled {
            self.flag(&mut segment);
        }
        self.out.push(Out::Segment(segment));
        self.count_queued(seq);
        self.counters.packets_sent += 1;
        self.last_sent = self.now;
        if self.send_times.is_on() {
            if !retransmission {
                self.send_times.make_room_for_next(self.una, self.max);
            }
            self.send_times.note(seq, self.now);
        }
        if retransmission {
            self.counters.retransmissions += 1;
            self.resent = (seq, self.now);
        } else {
            self.max = seq + 1;
            if let Some(Written::Whole(ends)) = self.written.as_deref_mut() {
                ends.note_sent(seq);
            }
            if self.timed.is_none() && !self.cfg.timestamps {
                self.timed = Some((seq, self.now));
            }
        }
        if self.timer == Time::NEVER || nothing_outstanding {
            self.restart_timer();
        }
    }

    /// Returns true if a segment had the PSH flag when it was first sent; the flags of the last 64 segments are known.
    fn was_pushed(&self, seq: Seq) -> bool {
        let later = self.max - 1 - seq;
        later < u64::BITS && self.pushed >> later & 1 == 1
    }

    /// Sends a header without data, with the number of a segment that is acknowledged: the receiver answers at once.
    pub fn send_header(&mut self) {
        let seq = self.una.saturating_sub(1);
        let probe = DataSegment {
            seq,
            sent: self.now,
            born: self.now,
            control: Some(Control::Probe),
            ..DataSegment::default()
        };
        self.out.push(Out::Segment(probe));
        self.count_queued(Seq::MAX);
        self.counters.probes_sent += 1;
    }

    #[cold]
    fn note_close(&mut self) {
        if self.receiver_closed || self.cfg.close_wait.is_none() {
            self.closed = self.now;
        }
    }

    /// Acknowledges the FIN of the receiver with a header (RFC 9293, 3.10.7.4).
    #[cold]
    pub(in crate::tcp) fn acknowledge_fin(&mut self) {
        self.receiver_closed = true;
        self.note_end();
        let (seq, echo) = (self.una.saturating_sub(1), self.last_ack_sent);
        let ack = DataSegment {
            seq,
            sent: self.now,
            echo,
            born: self.now,
            control: Some(Control::FinAck),
            ..DataSegment::default()
        };
        self.out.push(Out::Segment(ack));
        self.count_queued(Seq::MAX);
    }

    /// Counts the segment that was just sent as a probe.
    pub(in crate::tcp) fn note_probe(&mut self) {
        self.counters.probes_sent += 1;
    }

    /// Time of the last transmission.
    pub(in crate::tcp) fn last_sent(&self) -> Time {
        self.last_sent
    }

    /// Sends a segment as a probe, and counts it as such.
    pub fn send_as_probe(&mut self, seq: Seq) {
        self.send(seq);
        self.counters.probes_sent += 1;
    }

    /// Sends a segment that a recovery has chosen: a hole, or the next new segment. SND.NXT is then beyond it.
    pub fn send_out_of_turn(&mut self, seq: Seq) {
        self.send(seq);
        self.nxt = self.nxt.max(seq + 1);
    }

    /// Sends the first unacknowledged segment whatever the receiver's window, which may have shrunk below the
    /// outstanding data (RFC 9293, 3.8.6: "If the window shrinks to zero, the TCP implementation MUST probe it").
    pub(in crate::tcp) fn send_first(&mut self) {
        self.send(self.una);
        self.nxt = self.una + 1;
    }

    /// Sets SND.NXT back to SND.UNA: all unacknowledged segments are sent again.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// Returns true if the window allows another segment.
    fn may_send(&self) -> bool {
        let open = self.nxt < self.una.saturating_add(self.usable_window()) && self.nxt < self.available;
        open && !self.ecn.waiting && self.has_room_at_node() && !self.holds_small(self.nxt)
    }

    fn send_next(&mut self) {
        self.send(self.nxt);
        self.nxt += 1;
    }

    /// Sends the segments that the window allows, at most `tcp.max_burst`.
    pub fn send_allowed(&mut self) {
        self.send_at_most(self.cfg.max_burst);
    }

    /// Sends the segments that the window allows, at most `burst`. A paced sender sends them later, one by one.
    pub fn send_at_most(&mut self, burst: Option<u32>) {
        if self.nxt == 0 {
            if self.holds_copy(0) {
                // The SYN has not left the node: the timer sends the next one.
                self.nxt = self.max;
                return;
            }
            self.first_sent = self.now;
            if self.max == 0 {
                self.first_syn_sent = self.now;
            }
        }
        if !self.may_send() || self.waits_for_pace() {
            return;
        }
        let mut left = burst.unwrap_or(u32::MAX);
        while left > 0 && self.may_send() {
            self.send_next();
            left -= 1;
        }
    }

    /// Returns true if the next new segment waits for its time, because the window rule paces segments.
    fn waits_for_pace(&mut self) -> bool {
        if !self.pacer.is_armed() {
            let Some(gap) = self.cc.pace() else { return false };
            self.pacer.arm(self.now, gap);
        }
        true
    }

    /// Returns true if a paced segment is due.
    pub(in crate::tcp) fn is_paced_due(&self) -> bool {
        self.pacer.deadline() <= self.now
    }

    /// A paced segment is due: it is sent, and the next one waits.
    pub(in crate::tcp) fn send_paced(&mut self) {
        self.pacer.on_tick(self.now);
        if self.may_send() {
            self.send_next();
        }
        self.send_allowed();
    }

    /// Lets the segments of a recovery that paces them itself wait until this time.
    pub(in crate::tcp) fn wait_until(&mut self, at: Time) {
        self.pacer.wait_until(at);
    }

    /// Time at which the next paced segment is due; [`Time::NEVER`]: none waits.
    pub fn paced_at(&self) -> Time {
        self.pacer.deadline()
    }

    /// Limited transmit (RFC 3042): a new segment on the first and second duplicate acknowledgement.
    pub fn send_limited(&mut self) {
        if !self.cfg.limited_transmit || self.nxt >= self.available || self.cc.pace().is_some() {
            return;
        }
        let beyond_una = f64::from(self.nxt - self.una);
        let allowed = self.window.cwnd + f64::from(self.dup_acks) - 1.0;
        if self.nxt - self.una < self.offered
            && beyond_una <= allowed
            && self.has_room_at_node()
            && !self.holds_small(self.nxt)
        {
            if self.nxt >= self.max {
                self.limited += 1;
            }
            self.send_next();
        }
    }
}
