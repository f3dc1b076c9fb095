//! Settings of loss recoveries, and of the reaction to explicit loss notifications.

use crate::setting::limit::{HOUR, at_most, range};
use crate::unit::Span;
use crate::{keywords, settings};

keywords! {
    /// Partial acknowledgements that restart the retransmission timer (RFC 6582, section 4).
    pub enum PartialAckTimer {
        /// Only the first partial acknowledgement restarts the timer.
        Impatient = "impatient",
        /// Each partial acknowledgement restarts the timer.
        SlowButSteady = "slow_but_steady",
    }
}

settings! {
    /// Fast recovery of Reno and NewReno.
    pub struct FastRecoveryConfig {
        /// Partial acknowledgements that restart the retransmission timer (RFC 6582, section 4).
        pub partial_ack_timer: PartialAckTimer = PartialAckTimer::Impatient,
        /// Deflates the window at a partial acknowledgement by the amount of new data acknowledged (RFC 6582, 3.2 step
        /// 3); otherwise the inflation starts anew.
        pub partial_window_deflation: bool = true,
        /// Largest number of segments that a duplicate or partial acknowledgement may release.
        pub burst: Option<u32> | "unlimited" = None => range(1, 1_000_000),
        /// Grows the window with the acknowledgement that ends recovery (ns-2).
        pub grow_at_end: bool = false,
        /// Limits the window after recovery to the outstanding segments and one more (RFC 6582, 3.2 step 3).
        pub limit_at_end: bool = true,
        /// Inflates the window by duplicate acknowledgements only in recovery, not after a timeout.
        pub inflate_in_recovery_only: bool = true,
        /// Allows a fast retransmission of the first data segment, although the SYN counts as recovery point (ns-2).
        pub first_segment_exception: bool = true,
    }
}

keywords! {
    /// Probe that an Enhanced NewReno sender sends after a timeout.
    pub enum Probe {
        /// A header of `tcp.header_size` with the number of an acknowledged segment: the receiver answers it at once.
        Header = "header",
        /// The first unacknowledged segment.
        FirstSegment = "first_segment",
    }
}

keywords! {
    /// Time at which FlightSize is taken to set ssthresh to half of it.
    pub enum FlightSizeAt {
        /// At the first of the timeouts.
        FirstTimeout = "first_timeout",
        /// At the answer to a probe.
        Answer = "answer",
    }
}

keywords! {
    /// Acknowledgement that ends the probing.
    pub enum Answer {
        /// The next acknowledgement, even if it was already under way.
        Any = "any",
        /// The first acknowledgement that echoes the timestamp of a probe, or that acknowledges everything.
        Probe = "probe",
    }
}

keywords! {
    /// Segments that an Enhanced NewReno sender sends again when it resumes.
    pub enum Resend {
        /// Everything from the first unacknowledged segment on, as far as the window reaches.
        All = "all",
        /// One hole after the other, in a fast recovery of all outstanding data.
        Holes = "holes",
    }
}

settings! {
    /// Enhanced NewReno.
    pub struct ENewRenoConfig {
        /// Probe sent after a timeout.
        pub probe: Probe = Probe::Header,
        /// Time from one probe to the next; "rto": the retransmission timeout, which doubles each time.
        pub probe_interval: Option<Span> | "rto" = None => range(Span::ms(1), HOUR),
        /// Acknowledgement that lets the sender resume.
        pub answer: Answer = Answer::Any,
        /// Time at which FlightSize is taken to set ssthresh to half of it.
        pub flight_size: FlightSizeAt = FlightSizeAt::FirstTimeout,
        /// Excess of the window over ssthresh when the sender resumes \[segments\].
        pub extra: u32 = 3 => at_most(1_000_000),
        /// Segments that are sent again when the sender resumes.
        pub resend: Resend = Resend::All,
        /// Ends the backoff of the retransmission timeout when the sender resumes; otherwise the backoff lasts until
        /// the next measurement.
        pub answer_ends_backoff: bool = false,
    }
}

keywords! {
    /// Rules for recovery with SACK.
    pub enum SackRule {
        /// Scoreboard and pipe of RFC 6675.
        Rfc6675 = "rfc6675",
        /// ns-2's sack1 (Fall and Floyd 1996).
        Sack1 = "sack1",
    }
}

settings! {
    /// Loss recovery with SACK.
    pub struct SackConfig {
        /// Rules for the scoreboard and for retransmissions.
        pub rule: SackRule = SackRule::Rfc6675,
    }
}

keywords! {
    /// Rules by which slow start ends before a loss.
    pub enum HyStartRule {
        /// Slow start ends with a loss.
        Off = "off",
        /// HyStart: a long train of acknowledgements, or a growing round-trip time (Ha and Rhee 2011).
        HyStart = "hystart",
        /// HyStart++: after a growth of the round-trip time, five round trips of slower growth (RFC 9406).
        HyStartPlusPlus = "hystart_plus_plus",
    }
}

settings! {
    /// RACK-TLP as in Linux.
    pub struct RackTlpConfig {
        /// Tick of the timer clock (HZ of Linux). A timer expires up to two ticks late, and a long one up to an eighth
        /// of its time late.
        pub tick: Span = Span::ms(4) => range(Span::us(1), Span::secs(1)),
        /// Lets the receiver send SACK blocks. Without them, three duplicate acknowledgements indicate a loss and
        /// partial acknowledgements further ones (RFC 6582), and there are no tail loss probes.
        pub sack: bool = true,
        /// Tail loss probes (RFC 8985, 7).
        pub tail_loss_probe: bool = true
            ; used when |c| c.sack, else "`tcp.rack_tlp.sack` is false",
        /// Detection of spurious timeouts (RFC 5682).
        pub f_rto: bool = true,
        /// Rule that ends slow start before a loss, with `cubic`; HyStart++ also with `reno`.
        pub hystart: HyStartRule = HyStartRule::HyStart,
    }
}

keywords! {
    /// Reaction of the sender to an explicit loss notification.
    pub enum ElnRule {
        /// Treats the loss like any other.
        Ignore = "ignore",
        /// Retransmits the segment on the first duplicate acknowledgement, once per loss (ns-2's tcp_eln).
        Once = "once",
        /// Retransmits the segment once per round trip until the loss is repaired, and sends a new segment for each
        /// duplicate acknowledgement.
        EachRoundTrip = "each_round_trip",
    }
}

settings! {
    /// The sender's part of explicit loss notification.
    pub struct ElnConfig {
        /// Reaction of the sender to an explicit loss notification.
        pub rule: ElnRule = ElnRule::EachRoundTrip,
        /// Keeps ssthresh at a timeout if the last acknowledgement carried a notification.
        pub keep_ssthresh: bool = true,
    }
}
