//! IEEE 802.11: the distributed coordination function over the PHYs of 802.11b (DSSS, HR-DSSS) and 802.11a (OFDM).
//!
//! Each radio has one [`Station`]. Its inputs are the signals at the radio; its outputs are frames to transmit,
//! received packets and packets given up. Deviations of ns-2 from the standard are ordinary settings.

pub mod dcf;
pub mod edca;
pub mod frame;
pub mod mode;
pub mod nav;
pub mod ppdu;
pub mod rate;
pub mod retries;
pub mod timing;

pub use dcf::{Contention, Cx, Medium, Out, Seen, Signal, Station};
pub use frame::{Frame, FrameKind, Unanswered};
pub use mode::{LinkRate, Mode, Modes, RATES};
pub use timing::Timing;

use crate::error_model::FrameErrors;
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
    /// Range of the random number of a backoff.
    pub enum BackoffRange {
        /// 0..CW, as in the standard.
        Inclusive = "inclusive",
        /// 0..CW-1, as in ns-2.
        Exclusive = "exclusive",
    }
}

keywords! {
    /// Treatment of a frame that finds the medium idle and no backoff pending.
    pub enum FirstAccess {
        /// Sent at once if the medium has been idle for DIFS, or EIFS (IEEE 802.11-2020, 10.3.4.2).
        Immediate = "immediate",
        /// Sent after DIFS if the medium is idle at the instant of queueing, regardless of the frame before: a response
        /// of the station itself, or a frame of another station. A forwarded frame thus follows the ACK of its
        /// reception without a backoff, as in ns-3.
        Idle = "idle",
        /// Always sent after a backoff, as in ns-2.
        Backoff = "backoff",
    }
}

keywords! {
    /// Alignment of backoff slots.
    pub enum BackoffClock {
        /// Slot boundaries are counted from the end of the last busy period.
        Slotted = "slotted",
        /// Slots begin when the station starts to wait, as in ns-2.
        Continuous = "continuous",
    }
}

keywords! {
    /// Treatment of a backoff slot that ends at the instant when a signal arrives: the common case between neighbors
    /// that contend after the same frame.
    pub enum BoundarySlot {
        /// The slot counts.
        Counted = "counted",
        /// The slot does not count.
        Lost = "lost",
        /// The slot counts if it comes first in times rounded to binary64 seconds, as in ns-2.
        Rounded = "rounded",
    }
}

keywords! {
    /// Waiting time after a frame that could not be decoded.
    pub enum EifsRule {
        /// EIFS in place of DIFS after a frame whose start was received, until a frame is decoded or sent (IEEE
        /// 802.11-2020, 10.3.2.3.7).
        InsteadOfDifs = "instead_of_difs",
        /// EIFS from the end of that frame on, even while the medium is still busy, and DIFS from the end of the busy
        /// period, until a frame is decoded or sent, as in ns-3.
        AfterFrame = "after_frame",
        /// The NAV is set for EIFS, then DIFS follows, as in ns-2.
        Nav = "nav",
        /// DIFS, as after any other frame (the assumption of Bianchi's model).
        Difs = "difs",
    }
}

keywords! {
    /// Retry counts that decide when a packet is given up.
    pub enum RetryCounts {
        /// Counts of the MPDU; those of the station govern CW, and a CTS resets only these (IEEE 802.11-2020, 10.3.3,
        /// 10.3.4.4).
        Mpdu = "mpdu",
        /// Counts of the station, as in ns-2: a CTS resets the short count, and the long count survives a packet that
        /// was given up after an RTS.
        Station = "station",
    }
}

keywords! {
    /// Effect of a frame that is too weak to disturb the one being received.
    pub enum CapturedFrame {
        /// The NAV is set to the end of that frame plus EIFS, as in ns-2.
        Nav = "nav",
        /// The medium is busy until the end of that frame.
        Busy = "busy",
    }
}

keywords! {
    /// Timeouts for a CTS, an ACK, and data after a CTS.
    pub enum ResponseTimeout {
        /// End of the awaited frame, as in ns-2.
        Fixed = "fixed",
        /// SIFS, slot and PHY-RX-START delay; a frame whose start is indicated in that time is received to its end
        /// (10.3.2.9). Data are acknowledged whenever they come (10.3.2.11).
        RxStart = "rx_start",
    }
}

keywords! {
    /// Condition for answering an RTS with a CTS.
    pub enum CtsRule {
        /// The NAV shows idle (10.3.2.9).
        NavIdle = "nav_idle",
        /// NAV and physical carrier sense show idle, as in ns-2.
        MediumIdle = "medium_idle",
    }
}

keywords! {
    /// Criterion for a duplicate of the previous frame.
    pub enum DuplicateRule {
        /// Same sequence number, and Retry bit set (10.3.2.14).
        Retry = "retry",
        /// Same sequence number only, as in ns-2.
        Sequence = "sequence",
    }
}

keywords! {
    /// Rounding of the time on air.
    pub enum AirtimeRounding {
        /// Rounded up to a whole microsecond, as in the standard.
        Up = "up",
        /// Not rounded, as in ns-2.
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
                let meant =
                    || Bytes::meant(t).map_or_else(expected, |m| format!("did you mean \"{m}\"? {}", expected()));
                bytes.map(|b| RtsThreshold(b.0)).ok_or_else(meant)
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
        /// Method of medium access.
        pub(everyday) access: edca::Access = edca::Access::Dcf,
        /// Enhanced distributed channel access.
        pub edca: edca::Config = edca::Config::default()
            ; used when |c| !c.is_dcf(), else "`wlan.access` is `dcf`",
        /// Queues of a station.
        pub(everyday) queues: edca::Queues = edca::Queues::Fifo
            ; used when |c| !c.is_dcf(), else "`wlan.access` is `dcf`",
        /// Queues of mac80211, with the values of Linux 6.18.
        pub mac80211: edca::mac80211::Config = edca::mac80211::Config::default()
            ; used when Config::has_mac80211, else "`wlan.access` is `dcf`, or `wlan.queues` is `fifo`",
        /// Aggregation of packets in A-MPDUs and A-MSDUs.
        pub aggregation: edca::Aggregation = edca::Aggregation::default()
            ; used when |c| !c.is_dcf(), else "`wlan.access` is `dcf`",
        /// Block acknowledgement.
        pub block_ack: edca::BlockAck = edca::BlockAck::default()
            ; used when Config::has_block_ack, else "`wlan.access` is `dcf`, or there are no A-MPDUs",
        /// Other networks in the secondary channel.
        pub secondary_channel: edca::secondary::Config = edca::secondary::Config::default()
            ; used when Config::has_secondary_channel,
            else "`wlan.access` is `dcf`, or `wlan.ppdu.channel_width` is 20 MHz",
        /// Rate of unicast data frames on links that have no rate in `wlan.link_rate`.
        pub(everyday) data_rate: BitRate = BitRate::mbps(2) => one_of(&RATES)
            ; used when |c| !c.ppdu.is_ht(), else "`wlan.ppdu` sets the rate",
        /// PPDUs of unicast data: HT and VHT.
        pub ppdu: ppdu::Config = ppdu::Config::default(),
        /// Links with another rate.
        pub link_rate: Many<LinkRate> = Many::default()
            ; used when |c| !c.rate_control.algorithm.chooses_rates(),
            else "`wlan.rate_control.algorithm` chooses rates",
        /// Rate control of unicast data frames.
        pub rate_control: rate::Config = rate::Config::default(),
        /// Errors of frames at their receivers.
        pub error: FrameErrors = FrameErrors::default(),
        /// Rates of CTS and ACK. A response uses the fastest of them that is not above the rate of the answered frame,
        /// or else the slowest. Empty: `basic_rate`; with rate control, slower data are answered at a slower mandatory
        /// rate (IEEE 802.11-2020, 10.6.6.5).
        pub response_rates: Vec<BitRate> = Vec::new(),
        /// Rate of RTS, CTS, ACK and broadcast frames. Rate control without a retry chain may send RTS at a slower
        /// rate.
        pub basic_rate: BitRate = BitRate::mbps(1) => one_of(&RATES),
        /// Rate of the CTS-to-self that protects unicast data from stations that cannot decode them, such as "11 Mbit/s"
        /// for 802.11b stations (IEEE 802.11-2020, 10.27). The CTS precedes each data frame, or the first PPDU of a TXOP,
        /// and replaces RTS and CTS.
        pub protection: Option<BitRate> | "none" = None => one_of(&RATES)
            ; used when Config::has_ofdm_data, else "`wlan.data_rate` is a rate of 802.11b",
        /// PLCP preamble of all frames.
        pub preamble: Preamble = Preamble::Long
            ; used when Config::has_short_preambles, else "no frame is sent at a rate that has a short one",
        /// PLCP preamble of frames at the basic rate, where it differs; "same": as `preamble`.
        pub basic_preamble: Option<Preamble> | "same" = None
            ; used when |c| Mode::of(c.basic_rate).is_some_and(|m| m > Mode::LOWEST && !m.is_ofdm()),
            else "`wlan.basic_rate` has no short one",
        /// Signal extension: time after an OFDM frame for which the medium stays busy without a signal, 6 us in the 2.4
        /// GHz band (IEEE 802.11-2020, 19.3.20).
        pub signal_extension: Span = Span::ZERO => at_most(Span::us(100))
            ; used when |c| c.has_ofdm(), else "no frame is sent at a rate of 802.11a",
        /// MAC header and FCS of a data frame.
        pub header_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// LLC and SNAP header of a data frame.
        pub llc_size: Bytes = Bytes(8) => at_most(LARGEST_PACKET),
        /// Slot time (aSlotTime).
        pub slot_time: Span = Span::us(20) => above(Span::ZERO).at_most(Span::ms(1)),
        /// Short interframe space (aSIFSTime).
        pub sifs: Span = Span::us(10) => above(Span::ZERO).at_most(Span::ms(1)),
        /// Carrier-sense delay (aCCATime): time until a signal is detected, in which a backoff continues.
        pub cca_time: Span = Span::us(15) => at_most(Span::ms(1)),
        /// Smallest contention window (aCWmin).
        pub cw_min: u32 = 31 => range(1, 65_535)
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Largest contention window (aCWmax).
        pub cw_max: u32 = 1023 => range(1, 65_535)
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// dot11RTSThreshold: a data frame longer than this (MAC header and FCS included) is preceded by RTS and CTS.
        pub(everyday) rts_threshold: RtsThreshold = RtsThreshold(u32::MAX),
        /// Largest number of attempts to send an RTS, or a frame up to the RTS threshold (dot11ShortRetryLimit).
        pub short_retry_limit: Option<u32> | "unlimited" = Some(7) => range(1, 255),
        /// Largest number of attempts to send a frame above the RTS threshold (dot11LongRetryLimit).
        pub long_retry_limit: Option<u32> | "unlimited" = Some(4) => range(1, 255)
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Retry counts that decide when a packet is given up.
        pub retry_counts: RetryCounts = RetryCounts::Mpdu
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Range of the random number of a backoff.
        pub backoff_range: BackoffRange = BackoffRange::Inclusive
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Access of a frame that finds the medium idle and no backoff pending.
        pub first_access: FirstAccess = FirstAccess::Immediate
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Alignment of backoff slots.
        pub backoff_clock: BackoffClock = BackoffClock::Slotted
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Treatment of a backoff slot that ends at the instant when a signal arrives.
        pub boundary_slot: BoundarySlot = BoundarySlot::Counted
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Also starts a backoff after a packet is given up.
        pub post_backoff_after_failure: bool = true
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Waiting time after a frame that could not be decoded.
        pub eifs: EifsRule = EifsRule::InsteadOfDifs,
        /// Effect of a frame that is too weak to disturb the one being received.
        pub captured_frame: CapturedFrame = CapturedFrame::Busy,
        /// Timeouts for CTS and ACK.
        pub response_timeout: ResponseTimeout = ResponseTimeout::RxStart
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Condition for answering an RTS with a CTS.
        pub cts_requires: CtsRule = CtsRule::NavIdle,
        /// Sends data after a CTS only if the medium is idle (ns-2); otherwise always.
        pub data_needs_idle: bool = false
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Resets a NAV that was set by an RTS if no frame follows (IEEE 802.11-2020, 10.3.2.4).
        pub nav_reset: bool = true,
        /// Criterion for duplicate frames.
        pub duplicate_detection: DuplicateRule = DuplicateRule::Retry
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
        /// Rounding of the time on air.
        pub airtime_rounding: AirtimeRounding = AirtimeRounding::Up
            ; used when |c| !c.has_ofdm(), else "frames of 802.11a last whole symbols",
        /// One-way propagation delay that fixed timeouts allow for.
        pub max_propagation: Span = Span::us(2) => at_most(Span::ms(1))
            ; used when Config::is_dcf, else "`wlan.access` is `edca`",
    }
}

impl Config {
    /// Rates at which frames are sent.
    pub fn rates(&self) -> impl Iterator<Item = BitRate> + '_ {
        let links = self.link_rate.0.iter().map(|l| l.rate);
        [self.data_rate, self.basic_rate].into_iter().chain(links).chain(self.response_rates.iter().copied())
    }

    /// Returns true if access is by the DCF.
    pub fn is_dcf(&self) -> bool {
        self.access == edca::Access::Dcf
    }

    /// Returns true if packets wait in queues of mac80211, and none in front of the MAC.
    pub fn has_mac80211(&self) -> bool {
        !self.is_dcf() && self.queues == edca::Queues::Mac80211
    }

    /// Returns true if data are acknowledged under agreements of block acknowledgement.
    pub fn has_block_ack(&self) -> bool {
        self.access == edca::Access::Edca && self.aggregation.max_mpdus > 1 && self.ppdu.is_ht()
    }

    /// Returns true if data are sent in a channel that has a secondary channel.
    pub fn has_secondary_channel(&self) -> bool {
        !self.is_dcf() && self.ppdu.is_wide()
    }

    /// Mode of unicast data frames on links without a rate of their own.
    pub fn data_mode(&self) -> Mode {
        if self.ppdu.is_ht() { self.ppdu.data_mode() } else { Mode::checked(self.data_rate) }
    }

    /// Modes that rate control may choose for unicast data frames; empty where it chooses none.
    pub fn chosen_modes(&self) -> Vec<Mode> {
        match self.rate_control.algorithm.chooses_rates() {
            true => self.rate_control.modes(self.data_mode(), &self.ppdu),
            false => Vec::new(),
        }
    }

    /// Modes of unicast data frames on links without a rate of their own: those that rate control may choose, or else
    /// the configured one.
    pub fn data_modes(&self) -> Vec<Mode> {
        let chosen = self.chosen_modes();
        if chosen.is_empty() { vec![self.data_mode()] } else { chosen }
    }

    /// Fastest rate at which data frames are decoded by a receiver that decodes these modes, one bit for each
    /// [column](Mode::column); `None`: at no rate.
    pub fn fastest_decoded(&self, decoded: u32) -> Option<BitRate> {
        let mut modes = self.data_mode().family().rev().filter(|m| self.ppdu.has_mode(*m));
        modes.find(|m| decoded >> m.column() & 1 == 1).map(Mode::rate)
    }

    /// The slowest of the [`data_modes`](Self::data_modes).
    pub fn slowest_mode(&self) -> Mode {
        self.data_modes().into_iter().min_by_key(|mode| mode.rate()).expect("data have a mode")
    }

    /// Returns true if unicast data are sent in OFDM.
    pub fn has_ofdm_data(&self) -> bool {
        self.ppdu.is_ht() || Mode::of(self.data_rate).is_some_and(Mode::is_ofdm)
    }

    /// Returns true if frames are sent at a rate of 802.11a.
    pub fn has_ofdm(&self) -> bool {
        self.rates().filter_map(Mode::of).any(Mode::is_ofdm)
    }

    /// Returns true if frames are sent at a rate that has a short preamble.
    fn has_short_preambles(&self) -> bool {
        let chosen = self.rate_control.algorithm.chooses_rates() && !self.has_ofdm();
        chosen || self.rates().filter_map(Mode::of).any(|mode| mode > Mode::LOWEST && !mode.is_ofdm())
    }
}
