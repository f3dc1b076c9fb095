//! Explicit congestion notification at the two ends of a connection (RFC 3168, section 6.1).
//!
//! The sender requests ECN with its SYN, marks its segments as ECN-capable, cuts its window at most once per window
//! when the receiver echoes a mark, and confirms the cut with CWR. The receiver echoes from the first mark until CWR
//! arrives.

use crate::packet::{DataSegment, Ecn, Seq};
use crate::setting::limit::above;
use crate::settings;

settings! {
    /// Explicit congestion notification.
    pub struct Config if enabled, else "`tcp.ecn.enabled` is false" {
        /// Enables ECN at both ends, negotiated by the SYN.
        pub(everyday) enabled: bool = false,
        /// Makes acknowledgements ECN-capable, so that queues mark them instead of dropping them; the marks have no
        /// effect. RFC 3168, 6.1.4: "pure acknowledgement packets [...] MUST be sent with the not-ECT codepoint".
        pub acks: bool = false,
        /// Share of FlightSize or window (`tcp.ssthresh_base`) that remains after an ECE in congestion avoidance (RFC
        /// 8511: 0.8); "as_loss": a half, as after a loss.
        pub beta: Option<f64> | "as_loss" = None => above(0.0).below(1.0),
        /// Informs the sender at once of a segment that a queue has marked or dropped: an ideal ICMP Source Quench (RFC
        /// 792), which is never lost and takes neither time nor airtime. It is an upper bound for the effect of a real
        /// one.
        pub source_quench: bool = false,
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// ECN of ns-2 where it departs from RFC 3168.
    pub struct Ns2 {
        /// Makes retransmissions ECN-capable, and echoes a mark on data that had arrived before.
        pub ect_on_retransmissions: bool = false,
        /// Allows CWR in a retransmission; otherwise it waits for new data.
        pub cwr_on_retransmissions: bool = false,
        /// Cuts the window at an ECE after a timeout even if the marked data were sent before the timeout.
        pub cut_after_timeout: bool = false,
        /// Keeps ssthresh at a timeout as set by the last ECE, however long ago; otherwise only if the lost data were
        /// outstanding at that ECE.
        pub spare_ssthresh: bool = false,
        /// Cuts a window of less than two segments to less than one, so that nothing is sent until the retransmission
        /// timer expires; otherwise one segment remains, and only the next ECE makes the sender wait for the timer (RFC
        /// 3168, 6.1.2).
        pub below_one: bool = false,
        /// In a window reduced by an ECE, ends recovery with the data sent before the reduction; otherwise with the
        /// data sent before the loss was detected.
        pub recover_from_cut: bool = false,
    }
}

/// State of ECN at the sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sending {
    /// Both ends use ECN.
    pub on: bool,
    /// The window has been cut since the last CWR.
    pub cut: bool,
    /// The acknowledgement that is being handled has ECE.
    pub echoed: bool,
    /// Nothing is sent until the retransmission timer expires.
    pub waiting: bool,
    /// The window was one segment when the last ECE came.
    pub smallest: bool,
}

impl Sending {
    /// `syn`: the connection begins with a SYN, which asks for it.
    pub(super) fn new(cfg: &Config, syn: bool) -> Sending {
        Sending { on: cfg.enabled && !syn, ..Sending::default() }
    }

    /// Returns true if the retransmission timeout stays backed off although a round trip was measured.
    pub fn keeps_backoff(&self) -> bool {
        self.smallest && self.echoed
    }
}

/// State of ECN at the receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    able: bool,
    on: bool,
    /// The SYN asks for ECN and is to be answered.
    asked: bool,
    /// ECE is sent until CWR comes.
    echoing: bool,
    /// A marked segment has arrived since the last acknowledgement.
    marked: bool,
    counts_old: bool,
}

impl Echo {
    /// `syn`: the connection begins with a SYN, which asks for it.
    pub(super) fn new(cfg: &Config, syn: bool) -> Echo {
        let on = cfg.enabled && !syn;
        Echo { able: cfg.enabled, on, counts_old: cfg.ns2.ect_on_retransmissions, ..Echo::default() }
    }

    /// A segment has arrived; `next` is the one that was expected, and a SYN is `answered` with a SYN-ACK unless it
    /// comes late. Returns true if the mark of the segment counts.
    pub(super) fn on_segment(&mut self, segment: &DataSegment, ecn: Ecn, next: Seq, answered: bool) -> bool {
        if segment.syn {
            self.asked = answered && self.able && segment.ece && segment.cwr;
            self.on |= self.asked;
            return false;
        }
        self.echoing &= !segment.cwr;
        // RFC 3168, 6.1.5: marks of segments outside of the window are ignored.
        let marked = self.on && ecn == Ecn::Ce && (segment.seq >= next || self.counts_old);
        self.echoing |= marked;
        self.marked |= marked;
        marked
    }

    /// The ECE flag of the acknowledgement that is sent now.
    pub(super) fn flag(&mut self) -> bool {
        // RFC 3168, 6.1.3: a delayed acknowledgement has ECE if any of its segments was marked.
        std::mem::take(&mut self.marked) | self.echoing | std::mem::take(&mut self.asked)
    }
}
