//! Explicit congestion notification at the two ends of a connection (RFC 3168, section 6.1).
//!
//! The sender asks for it with its SYN, marks its segments as ECN-capable, cuts its window at most once per window when
//! the receiver echoes a mark, and tells so with CWR. The receiver echoes from the first mark until CWR comes.

use super::cc::{CongestionControl, Signal};
use super::core::{Core, Cut};
use crate::packet::{AckSegment, DataSegment, Ecn, Seq};
use crate::settings;
use crate::unit::Time;

settings! {
    /// Explicit congestion notification.
    pub struct Config {
        /// Whether both ends use it, once the SYN has asked for it.
        pub enabled: bool = false,
        /// Share of what is in use that remains after an ECE in congestion avoidance, 0.8 with RFC 8511; "none": a half,
        /// as after a loss.
        pub beta: Option<f64> = None,
        /// Whether retransmissions are ECN-capable, too, and a mark on data that had arrived before is echoed (ns-2).
        pub ect_on_retransmissions: bool = false,
        /// Whether CWR may go with a retransmission (ns-2); otherwise it waits for new data.
        pub cwr_on_retransmissions: bool = false,
        /// Whether an ECE after a timeout cuts the window although the marked data were sent before it (ns-2).
        pub cut_after_timeout: bool = false,
        /// Whether a timeout leaves ssthresh as the last ECE has set it, however long ago (ns-2); otherwise only when what
        /// is lost was outstanding then.
        pub spare_ssthresh: bool = false,
        /// Whether a window below two segments is cut below one, so that nothing is sent until the retransmission timer
        /// expires (ns-2); otherwise one segment remains, and the timer is waited for at the next ECE (RFC 3168, 6.1.2).
        pub below_one: bool = false,
        /// Whether a loss in a window that an ECE has cut is repaired up to what had been sent at the cut (ns-2);
        /// otherwise up to what had been sent when it was found.
        pub recover_from_cut: bool = false,
    }
}

/// What a sender knows of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sending {
    /// Both ends use it.
    pub on: bool,
    /// The window has been cut since the last CWR.
    pub cut: bool,
    /// The acknowledgement that is being handled has ECE.
    pub echoed: bool,
    /// Nothing is sent until the retransmission timer expires.
    pub waiting: bool,
    /// The window was one segment when the last ECE came.
    smallest: bool,
}

impl Sending {
    pub(super) fn new(cfg: &super::Config) -> Sending {
        Sending { on: cfg.ecn.enabled && !cfg.starts_with_syn(), ..Sending::default() }
    }

    /// Whether the retransmission timeout stays backed off although a round trip was measured.
    pub fn keeps_backoff(&self) -> bool {
        self.smallest && self.echoed
    }
}

impl Core {
    /// Takes in the ECE flag of an acknowledgement, before anything else of it.
    pub fn on_ece(&mut self, ack: &AckSegment, cc: &mut CongestionControl) {
        if !self.cfg.ecn.enabled {
            return;
        }
        if self.awaits_syn() {
            self.ecn.on |= ack.ece && ack.next > 0;
            return;
        }
        self.ecn.echoed = self.ecn.on && ack.ece;
        if !self.ecn.echoed {
            if ack.next > self.una {
                self.ecn.smallest = false;
                self.ecn.waiting = false;
            }
            return;
        }
        let after_timeout = self.last_cut == Cut::Timeout && self.cfg.ecn.cut_after_timeout;
        if self.last_cut == Cut::Never || ack.next > self.recover || after_timeout {
            self.cut_for_mark(cc);
        }
    }

    /// RFC 3168, 6.1.2: "The indication of congestion should be treated just as a congestion loss", without sending
    /// anything again.
    fn cut_for_mark(&mut self, cc: &mut CongestionControl) {
        let at_one = self.window.cwnd <= 1.0;
        if at_one && self.ecn.smallest {
            self.rto.back_off();
        }
        self.ecn.smallest = at_one;
        self.recover = self.max;
        self.counters.ecn_cuts += 1;
        self.cut(Signal::Ecn, cc);
        // "the sending TCP MUST reset the retransmit timer on receiving the ECN-Echo packet when the congestion window
        // is one. The sending TCP will then be able to send a new packet only when the retransmit timer expires."
        if !self.cfg.ecn.below_one {
            self.window.cwnd = self.window.cwnd.max(1.0);
            self.ecn.waiting = at_one;
        }
        if self.ecn.waiting || (self.is_closed_by_mark() && self.timer == Time::NEVER) {
            self.restart_timer();
        }
    }

    /// Whether an ECE has closed the window, so that the next segment is sent when the retransmission timer expires.
    pub fn is_closed_by_mark(&self) -> bool {
        self.ecn.waiting || self.window.cwnd < 1.0
    }

    /// What share of what is in use remains after a cut.
    pub fn share_after(&self, signal: Signal) -> f64 {
        // RFC 8511: only in congestion avoidance.
        match self.cfg.ecn.beta {
            Some(beta) if signal == Signal::Ecn && self.window.cwnd >= self.window.ssthresh => beta,
            _ => 0.5,
        }
    }

    /// Whether a timeout now leaves ssthresh alone, because an ECE has cut it in the same window (RFC 3168, 6.1.2).
    pub fn ssthresh_is_cut(&self) -> bool {
        self.last_cut == Cut::Ecn && (self.cfg.ecn.spare_ssthresh || self.una <= self.recover)
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
            segment.cwr = self.ecn.cut && (new || cfg.cwr_on_retransmissions);
            self.ecn.cut &= !segment.cwr;
            // RFC 3168, 6.1.5: retransmissions are not ECN-capable.
            segment.ect = (new || cfg.ect_on_retransmissions) && !self.cfg.never_ect();
        }
    }
}

/// What a receiver knows of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    able: bool,
    on: bool,
    /// The SYN asks for ECN and is to be answered.
    asked: bool,
    /// ECE is sent until CWR comes.
    echoing: bool,
    /// A segment came marked since the last acknowledgement.
    marked: bool,
    counts_old: bool,
}

impl Echo {
    pub(super) fn new(cfg: &super::Config) -> Echo {
        Echo {
            able: cfg.ecn.enabled,
            on: cfg.ecn.enabled && !cfg.starts_with_syn(),
            counts_old: cfg.ecn.ect_on_retransmissions,
            ..Echo::default()
        }
    }

    /// A segment has arrived; `next` is the one that was expected. Returns whether its mark counts.
    pub(super) fn on_segment(&mut self, segment: &DataSegment, ecn: Ecn, next: Seq) -> bool {
        if segment.syn {
            self.asked = self.able && segment.ece && segment.cwr;
            self.on = self.asked;
            return false;
        }
        self.echoing &= !segment.cwr;
        // RFC 3168, 6.1.5: what is outside of the window says nothing.
        let marked = self.on && ecn == Ecn::Ce && (segment.seq >= next || self.counts_old);
        self.echoing |= marked;
        self.marked |= marked;
        marked
    }

    /// The ECE flag of the acknowledgement that is sent now.
    pub(super) fn flag(&mut self) -> bool {
        // RFC 3168, 6.1.3: of a delayed acknowledgement it is set if any of the segments came marked.
        std::mem::take(&mut self.marked) | self.echoing | std::mem::take(&mut self.asked)
    }
}
