//! Inputs and state of window rules.

use crate::packet::Seq;
use crate::unit::{Span, Time};

/// The congestion window \[segments\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window \[segments\].
    pub cwnd: f64,
    /// Slow-start threshold \[segments\].
    pub ssthresh: f64,
}

/// Kind of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckKind {
    /// The acknowledgement covers new data.
    NewData,
    /// The acknowledgement is a duplicate.
    Duplicate,
    /// The acknowledgement precedes or contains that of the SYN.
    Handshake,
    /// None of these: it is older than the one before, changes only the window, or answers a probe.
    Other,
}

/// An acknowledgement. The sequence variables are those after it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time of arrival.
    pub now: Time,
    /// Kind of the acknowledgement.
    pub kind: AckKind,
    /// SND.UNA: the first segment that is not acknowledged.
    pub una: Seq,
    /// SND.NXT: the next segment to be sent.
    pub nxt: Seq,
    /// Segments newly acknowledged cumulatively; 0: a duplicate, or nothing new.
    pub newly: u32,
    /// Segments that are known to have arrived since the connection began, the SYN included: those acknowledged, and
    /// one for each duplicate since.
    pub delivered: u32,
    /// Segments sent and not acknowledged (RFC 5681: FlightSize).
    pub in_flight: u32,
    /// Losses are being repaired after duplicate acknowledgements.
    pub recovering: bool,
    /// The newest round-trip time of the retransmission timer, if it is newer than the last one passed to the rule.
    pub rtt: Option<Span>,
    /// SRTT: the smoothed round-trip time of the retransmission timer; `None`: nothing was measured.
    pub srtt: Option<Span>,
    /// Round-trip time of the newest segment that it acknowledges, when that was sent only once; for a rule that
    /// [wants it](super::CongestionControl::wants_segment_rtt).
    pub segment_rtt: Option<Span>,
    /// Time since the transmission of the segment whose timestamp is echoed. Every acknowledgement has one.
    pub round_trip: Span,
    /// Hops that the acknowledgement has made.
    pub hops: u8,
    /// Send time of the first segment.
    pub first_sent: Time,
    /// ECE: echo of a congestion mark; the window does not grow (RFC 3168, 6.1.2).
    pub ece: bool,
    /// The window was in use, or may grow unused.
    pub used: bool,
}

impl Default for Ack {
    /// An acknowledgement of nothing.
    fn default() -> Ack {
        Ack {
            now: Time::ZERO,
            kind: AckKind::Other,
            una: 0,
            nxt: 0,
            newly: 0,
            delivered: 0,
            in_flight: 0,
            recovering: false,
            rtt: None,
            srtt: None,
            segment_rtt: None,
            round_trip: Span::ZERO,
            hops: 0,
            first_sent: Time::ZERO,
            ece: false,
            used: true,
        }
    }
}

/// Sign by which a sender learns of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `tcp.dup_threshold` duplicate acknowledgements have arrived.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// The receiver echoes a congestion mark (ECN).
    Ecn,
}

/// Congestion, with the quantities that the settings of the connection derive for a window rule.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Signal by which congestion was found.
    pub signal: Signal,
    /// Time of the signal.
    pub now: Time,
    /// Segments in use, by the rule of `tcp.ssthresh_base`.
    pub in_use: f64,
    /// Half of the amount in use, by the rule of `tcp.ssthresh_base`, or the share that ECN leaves \[segments\].
    pub remainder: f64,
    /// Window after a timeout: `tcp.loss_window` \[segments\].
    pub loss_window: f64,
    /// ssthresh is a whole number (ns-2).
    pub whole_ssthresh: bool,
}
