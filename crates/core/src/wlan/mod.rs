//! IEEE 802.11: the distributed coordination function over the PHYs of 802.11b (DSSS, HR-DSSS) and 802.11a (OFDM).
//!
//! One [`Station`] per radio. It is told what the radio heard and when, and says what to transmit, what
//! was received and what was given up. The habits in which ns-2 differs from the standard are ordinary settings.

pub mod dcf;
pub mod frame;
pub mod mode;
pub mod nav;
pub mod rate;
pub mod retries;
pub mod timing;

pub use dcf::{Contention, Cx, Medium, Out, Signal, Station};
pub use frame::{Frame, FrameKind, Unanswered};
pub use mode::{LinkRate, Mode, Modes, RATES};
pub use timing::Timing;

use crate::setting::limit::{LARGEST_PACKET, above, at_most, one_of, range};
use crate::setting::{Many, Node, Scalar, Value};
use crate::unit::{BitRate, Bytes, Quantity, Span};
use crate::{keywords, settings};
use serde_json::{Value as Json, json};

keywords! {
    /// PLCP preamble and header (IEEE 802.11-2020, 16.2.2).
    pub enum Preamble {
        /// 192 us at 1 Mbit/s.
        Long = "long",
        /// 96 us; frames at 1 Mbit/s keep the long one.
        Short = "short",
    }
}

keywords! {
    /// From which numbers a back-off is drawn.
    pub enum BackoffRange {
        /// 0..CW, as in the standard.
        Inclusive = "inclusive",
        /// 0..CW-1, as in ns-2.
        Exclusive = "exclusive",
    }
}

keywords! {
    /// What a station does with a frame that finds the medium idle and no back-off pending.
    pub enum FirstAccess {
        /// When the medium has been idle for DIFS, or EIFS, it is sent at once (IEEE 802.11-2020, 10.3.4.2).
        Immediate = "immediate",
        /// When the medium is idle at the instant at which it is queued, it is sent after DIFS, whatever comes before: an
        /// own response, or the frame of another. So a frame that is passed on follows the ACK of its reception without a
        /// back-off, as in ns-3.
        Idle = "idle",
        /// It always draws a back-off, as in ns-2.
        Backoff = "backoff",
    }
}

keywords! {
    /// Where the slots of a back-off begin.
    pub enum BackoffClock {
        /// On slot boundaries counted from the end of the last busy period.
        Slotted = "slotted",
        /// When the station starts to wait, as in ns-2.
        Continuous = "continuous",
    }
}

keywords! {
    /// Whether a back-off slot counts that ends at the very moment when a signal arrives. Between neighbours that
    /// contend after the same frame this is the rule, not the exception.
    pub enum BoundarySlot {
        /// It counts.
        Counted = "counted",
        /// It does not.
        Lost = "lost",
        /// As the rounding of seconds in binary64 has it, as in ns-2: sometimes.
        Rounded = "rounded",
    }
}

keywords! {
    /// How a station waits after a frame it could not read.
    pub enum EifsRule {
        /// EIFS in place of DIFS after a frame whose start was received, until one is read or sent (IEEE 802.11-2020,
        /// 10.3.2.3.7).
        InsteadOfDifs = "instead_of_difs",
        /// EIFS from the end of that frame on, also when the medium is still busy then, and DIFS from the end of what
        /// keeps it busy, until a frame is read or sent, as in ns-3.
        AfterFrame = "after_frame",
        /// The NAV is set for EIFS, and DIFS follows, as in ns-2.
        Nav = "nav",
        /// As after any other frame: DIFS (the assumption of Bianchi's model).
        Difs = "difs",
    }
}

keywords! {
    /// Which counts of failed attempts decide that a packet is given up.
    pub enum RetryCounts {
        /// Those of the MPDU; the station's govern CW, and a CTS resets only these (IEEE 802.11-2020, 10.3.3,
        /// 10.3.4.4).
        Mpdu = "mpdu",
        /// Those of the station, as in ns-2: a CTS resets the short one, and the long one outlives a packet that was
        /// given up after an RTS.
        Station = "station",
    }
}

keywords! {
    /// What a frame means that was too weak to disturb the one being received.
    pub enum CapturedFrame {
        /// The NAV is set to its end plus EIFS, as in ns-2.
        Nav = "nav",
        /// The medium is busy until its end.
        Busy = "busy",
    }
}

keywords! {
    /// Waits for a CTS, for an ACK, and for data after a CTS.
    pub enum ResponseTimeout {
        /// Until they would have ended, as in ns-2.
        Fixed = "fixed",
        /// SIFS, slot and PHY-RX-START delay; a frame whose start is indicated meanwhile is heard to its end (10.3.2.9). Data
        /// are acknowledged whenever they come (10.3.2.11).
        RxStart = "rx_start",
    }
}

keywords! {
    /// When a station answers an RTS.
    pub enum CtsRule {
        /// When the NAV shows idle (10.3.2.9).
        NavIdle = "nav_idle",
        /// When NAV and physical carrier sense show idle, as in ns-2.
        MediumIdle = "medium_idle",
    }
}

keywords! {
    /// Which frames count as duplicates of the one before.
    pub enum DuplicateRule {
        /// Same sequence number and Retry bit (10.3.2.14).
        Retry = "retry",
        /// Same sequence number, as in ns-2.
        Sequence = "sequence",
    }
}

keywords! {
    /// How the time on air is rounded.
    pub enum AirtimeRounding {
        /// Up to a whole microsecond, as in the standard.
        Up = "up",
        /// Not at all, as in ns-2.
        None = "none",
    }
}

/// Frames longer than this number of bytes are preceded by RTS and CTS (dot11RTSThreshold).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtsThreshold(pub u32);

impl Scalar for RtsThreshold {
    fn read(node: &Node) -> Result<Self, String> {
        let expected = || format!("expected \"always\", \"never\" or a number of bytes up to {LARGEST_PACKET}");
        match &node.value {
            Value::Text(t) if t == "always" => Ok(RtsThreshold(0)),
            Value::Text(t) if t == "never" => Ok(RtsThreshold(u32::MAX)),
            Value::Text(t) => {
                let bytes = Bytes::parse(t).filter(|b| *b <= LARGEST_PACKET);
                bytes.map(|b| RtsThreshold(b.0)).ok_or_else(expected)
            }
            _ => Err(expected()),
        }
    }

    fn written(&self) -> Json {
        match self.0 {
            0 => json!("always"),
            u32::MAX => json!("never"),
            n => json!(Bytes(n).to_string()),
        }
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": "\"always\", \"never\" or a number of bytes such as \"500 B\"; at most 65535 B" })
    }
}

settings! {
    /// IEEE 802.11 DCF.
    pub struct Config {
        /// Rate of unicast data frames.
        pub data_rate: BitRate = BitRate::mbps(2) => one_of(&RATES),
        /// Pairs of nodes with another rate.
        pub link_rate: Many<LinkRate> = Many::default()
            ; used when |c| !c.rate_control.algorithm.chooses_rates(), else "`wlan.rate_control.algorithm` chooses rates",
        /// Rate control: at which rates unicast data frames are sent.
        pub rate_control: rate::Config = rate::Config::default(),
        /// Rates of CTS and ACK: the fastest of these that is not above the rate of the frame that is answered, or the
        /// slowest; none: `basic_rate` (IEEE 802.11-2020, 10.6.6.5).
        pub response_rates: Vec<BitRate> = Vec::new(),
        /// Rate of RTS, CTS, ACK and broadcast frames.
        pub basic_rate: BitRate = BitRate::mbps(1) => one_of(&RATES),
        /// PLCP preamble.
        pub preamble: Preamble = Preamble::Long
            ; used when Config::has_short_preambles, else "no frame is sent at a rate that has a short one",
        /// PLCP preamble of frames at the basic rate, where it is not the same; "none": it is.
        pub basic_preamble: Option<Preamble> = None
            ; used when |c| Mode::of(c.basic_rate).is_some_and(|m| m > Mode::LOWEST && !m.is_ofdm()), else "`wlan.basic_rate` has no short one",
        /// MAC header and FCS of a data frame.
        pub header: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// LLC and SNAP header of a data frame.
        pub llc: Bytes = Bytes(8) => at_most(LARGEST_PACKET),
        /// aSlotTime.
        pub slot_time: Span = Span::us(20) => above(Span::ZERO).at_most(Span::ms(1)),
        /// aSIFSTime.
        pub sifs: Span = Span::us(10) => above(Span::ZERO).at_most(Span::ms(1)),
        /// aCCATime: a signal is noticed when it has lasted so long; until then a back-off goes on.
        pub cca_time: Span = Span::us(15) => at_most(Span::ms(1)),
        /// Smallest contention window, aCWmin.
        pub cw_min: u32 = 31 => range(1, 65_535),
        /// Largest contention window, aCWmax.
        pub cw_max: u32 = 1023 => range(1, 65_535),
        /// dot11RTSThreshold: a data frame longer than this (MAC header and FCS included) is preceded by RTS and CTS.
        pub rts_threshold: RtsThreshold = RtsThreshold(0),
        /// Attempts of an RTS or of a frame not above the RTS threshold, dot11ShortRetryLimit; "none": unlimited.
        pub short_retry_limit: Option<u32> = Some(7) => range(1, 255),
        /// Attempts of a frame above the RTS threshold, dot11LongRetryLimit; "none": unlimited.
        pub long_retry_limit: Option<u32> = Some(4) => range(1, 255),
        /// Which counts decide that a packet is given up.
        pub retry_counts: RetryCounts = RetryCounts::Mpdu,
        /// From which numbers a back-off is drawn.
        pub backoff_range: BackoffRange = BackoffRange::Inclusive,
        /// Access to an idle medium without a back-off pending.
        pub first_access: FirstAccess = FirstAccess::Immediate,
        /// Where slots begin.
        pub backoff_clock: BackoffClock = BackoffClock::Slotted,
        /// A slot that ends when a signal arrives.
        pub boundary_slot: BoundarySlot = BoundarySlot::Counted,
        /// Whether a back-off follows a frame that was given up, too.
        pub post_backoff_after_failure: bool = true,
        /// Waiting after an unreadable frame.
        pub eifs: EifsRule = EifsRule::InsteadOfDifs,
        /// What a frame means that was captured over.
        pub captured_frame: CapturedFrame = CapturedFrame::Busy,
        /// Waiting for CTS and ACK.
        pub response_timeout: ResponseTimeout = ResponseTimeout::RxStart,
        /// When an RTS is answered.
        pub cts: CtsRule = CtsRule::NavIdle,
        /// Whether data follow a CTS only when the medium is idle (ns-2); else always.
        pub data_needs_idle: bool = false,
        /// Whether a NAV set by an RTS is reset when no frame follows (10.3.2.4).
        pub nav_reset: bool = true,
        /// Which frames are duplicates.
        pub duplicates: DuplicateRule = DuplicateRule::Retry,
        /// Rounding of the time on air.
        pub airtime_rounding: AirtimeRounding = AirtimeRounding::Up
            ; used when |c| !c.has_ofdm(), else "frames of 802.11a last whole symbols",
        /// Propagation delay that the fixed timeouts allow for, each way.
        pub max_propagation: Span = Span::us(2) => at_most(Span::ms(1)),
    }
}

impl Config {
    /// The rates at which frames are sent.
    pub fn rates(&self) -> impl Iterator<Item = BitRate> + '_ {
        let links = self.link_rate.0.iter().map(|l| l.rate);
        [self.data_rate, self.basic_rate].into_iter().chain(links).chain(self.response_rates.iter().copied())
    }

    /// Whether frames are sent at a rate of 802.11a.
    pub fn has_ofdm(&self) -> bool {
        self.rates().filter_map(Mode::of).any(Mode::is_ofdm)
    }

    /// Whether frames are sent at a rate that has a short preamble.
    fn has_short_preambles(&self) -> bool {
        let chosen = self.rate_control.algorithm.chooses_rates() && !self.has_ofdm();
        chosen || self.rates().filter_map(Mode::of).any(|mode| mode > Mode::LOWEST && !mode.is_ofdm())
    }
}
