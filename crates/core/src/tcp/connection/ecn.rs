//! Reaction of a connection to an ECE (RFC 3168, 6.1.2), and the flags of its segments.

use super::{Connection, Cut};
use crate::packet::{AckSegment, DataSegment, Flag, Seq};
use crate::tcp::cc::interface::Signal;
use crate::unit::Time;

impl Connection {
    /// Processes the ECE flag of an acknowledgement. Must precede all other processing of it. Returns true if the
    /// window is to be cut.
    pub fn on_ece(&mut self, ack: &AckSegment) -> bool {
        if !self.cfg.ecn.enabled {
            return false;
        }
        if self.awaits_syn() {
            self.ecn.on |= ack.ece && ack.next > 0;
            return false;
        }
        // The ECE of a SYN-ACK accepts ECN, however often it comes, and echoes nothing (RFC 3168, 6.1.1).
        self.ecn.echoed = self.ecn.on && ack.ece && ack.flag != Flag::Syn;
        if !self.ecn.echoed {
            if ack.next > self.una {
                self.ecn.smallest = false;
                self.ecn.waiting = false;
            }
            return false;
        }
        let after_timeout = self.last_cut == Cut::Timeout && self.cfg.ecn.ns2.cut_after_timeout;
        self.last_cut == Cut::Never || ack.next > self.recover || after_timeout
    }

    /// A queue has reported that it marked or dropped this segment (`tcp.ecn.source_quench`). Returns true if the
    /// window is to be cut: once for a window of data, as for an ECE; the ECE for the same mark then cuts nothing.
    pub(in crate::tcp) fn on_source_quench(&self, seq: Seq) -> bool {
        let is_told = self.ecn.on && self.cfg.ecn.source_quench && self.last_cut != Cut::DupAcks;
        is_told && (self.last_cut == Cut::Never || seq >= self.recover)
    }

    /// Counts a cut by a recovery that reduces the window itself.
    pub(in crate::tcp) fn note_reduction(&mut self, echoed: bool) {
        self.recover = self.max;
        self.ecn.cut = true;
        self.counters.ecn_cuts += u64::from(echoed);
        self.last_cut = Cut::Ecn;
    }

    /// RFC 3168, 6.1.2: "The indication of congestion should be treated just as a congestion loss", without sending
    /// anything again.
    pub(in crate::tcp) fn cut_for_ece(&mut self) {
        let at_one = self.window.cwnd <= 1.0;
        if at_one && self.ecn.smallest {
            self.rto.back_off();
        }
        self.ecn.smallest = at_one;
        self.recover = self.max;
        self.counters.ecn_cuts += 1;
        self.cut(Signal::Ecn);
        // "the sending TCP MUST reset the retransmit timer on receiving the ECN-Echo packet when the congestion window
        // is one. The sending TCP will then be able to send a new packet only when the retransmit timer expires."
        if !self.cfg.ecn.ns2.below_one {
            self.window.cwnd = self.window.cwnd.max(1.0);
            self.ecn.waiting = at_one;
        }
        if self.ecn.waiting || (self.is_closed_by_ece() && self.timer == Time::NEVER) {
            self.restart_timer();
        }
    }

    /// Returns true if an ECE has closed the window, so that the next segment is sent when the retransmission timer
    /// expires.
    pub fn is_closed_by_ece(&self) -> bool {
        self.ecn.waiting || self.window.cwnd < 1.0
    }

    /// Share of the data in use that remains after a cut.
    pub fn share_after(&self, signal: Signal) -> f64 {
        // RFC 8511: only in congestion avoidance.
        match self.cfg.ecn.beta {
            Some(beta) if signal == Signal::Ecn && self.window.cwnd >= self.window.ssthresh => beta,
            _ => 0.5,
        }
    }

    /// Returns true if a timeout now leaves ssthresh alone, because an ECE has cut it in the same window (RFC 3168,
    /// 6.1.2).
    pub fn ssthresh_is_cut(&self) -> bool {
        self.last_cut == Cut::Ecn && (self.cfg.ecn.ns2.spare_ssthresh || self.una <= self.recover)
    }

    /// Flags of a segment that is about to be sent.
    pub fn flag(&mut self, segment: &mut DataSegment) {
        let cfg = &self.cfg.ecn;
        if segment.syn {
            // RFC 3168, 6.1.1: an ECN-setup SYN has both flags.
            segment.ece = true;
            segment.cwr = true;
        } else if self.ecn.on {
            let new = !segment.retransmission;
            segment.cwr = self.ecn.cut && (new || cfg.ns2.cwr_on_retransmissions);
            self.ecn.cut &= !segment.cwr;
            // RFC 3168, 6.1.5: retransmissions are not ECN-capable.
            segment.ect = (new || cfg.ns2.ect_on_retransmissions) && !self.never_ect;
        }
    }
}
