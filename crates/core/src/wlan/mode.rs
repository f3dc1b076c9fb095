//! Modes: the rates at which frames are sent, and the rate that a station uses for each receiver.
//!
//! Behind the rates of 802.11b and 802.11a come those of HT and VHT PPDUs: every MCS with one or two streams, in channels
//! of each width, with a long or a short guard interval. Stations of one network share width and guard interval, so
//! that their modes have few [columns](Mode::column).

use super::ppdu;
use crate::packet::RadioId;
use crate::setting::limit::{one_of, range};
use crate::settings;
use crate::unit::BitRate;

/// The rates of 802.11b (IEEE 802.11-2020, 16.2.3.3), and after them those of 802.11a (17.3.2.3).
pub const RATES: [BitRate; 12] = [
    BitRate::mbps(1),
    BitRate::mbps(2),
    BitRate(5_500_000),
    BitRate::mbps(11),
    BitRate::mbps(6),
    BitRate::mbps(9),
    BitRate::mbps(12),
    BitRate::mbps(18),
    BitRate::mbps(24),
    BitRate::mbps(36),
    BitRate::mbps(48),
    BitRate::mbps(54),
];
/// Index of the first rate of 802.11a.
const FIRST_OFDM: u8 = 4;

/// First mode of HT and VHT PPDUs.
const FIRST_HT: u8 = RATES.len() as u8;
/// Number of MCS of one stream.
pub const PER_STREAM: u8 = 10;
/// Largest number of streams.
pub const STREAMS: u8 = 2;
/// Number of widths of a channel.
const WIDTHS: u8 = 3;
/// Modes of stations with these PPDUs, one in each column.
pub fn of_channel(ppdu: &ppdu::Config) -> impl Iterator<Item = Mode> + '_ {
    let ht = (1..=STREAMS).flat_map(|streams| (0..PER_STREAM).map(move |mcs| (mcs, streams)));
    (0..FIRST_HT).map(Mode).chain(ht.map(|(mcs, streams)| ppdu.mode(mcs.into(), streams.into())))
}

/// Rates of the modes of stations with these PPDUs.
pub fn rates(ppdu: &ppdu::Config) -> impl Iterator<Item = BitRate> + '_ {
    of_channel(ppdu).map(Mode::rate)
}

/// For each column, the rate of a frame that is sent in 20 MHz of a wider channel; empty if the channel has 20 MHz.
pub fn narrow_rates(ppdu: &ppdu::Config) -> Vec<BitRate> {
    let narrow = |mode: Mode| if mode.is_ht() { mode.narrow().rate() } else { mode.rate() };
    if ppdu.is_wide() { of_channel(ppdu).map(narrow).collect() } else { Vec::new() }
}

/// For each column, the rate with the same modulation and code in a channel of 20 MHz with one stream.
pub fn codings() -> impl Iterator<Item = BitRate> {
    let ht = (0..STREAMS).flat_map(|_| (0..PER_STREAM).map(|mcs| Mode::high_throughput(mcs, 1, 0, false)));
    (0..FIRST_HT).map(Mode).chain(ht).map(Mode::coding)
}

/// Number of columns: rates of 802.11b and 802.11a, and the modes of HT and VHT PPDUs in one channel.
pub const COLUMNS: usize = (FIRST_HT + STREAMS * PER_STREAM) as usize;

/// A rate: an index into [`RATES`], or behind these a mode of HT and VHT PPDUs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mode(pub u8);

impl Mode {
    /// Rate with the longest range.
    pub const LOWEST: Mode = Mode(0);

    /// Mode of a rate; `None` if the PHY has no such rate.
    pub fn of(rate: BitRate) -> Option<Mode> {
        RATES.iter().position(|&r| r == rate).map(|i| Mode(i as u8))
    }

    /// Mode of a rate that must be one of the PHY.
    ///
    /// # Panics
    /// If the PHY has no such rate.
    pub fn checked(rate: BitRate) -> Mode {
        Mode::of(rate).expect("a scenario is refused that has another rate")
    }

    /// Returns true if the rate is one of 802.11a.
    pub fn is_ofdm(self) -> bool {
        self.0 >= FIRST_OFDM
    }

    /// Mode of an MCS with a number of streams, in a channel of this width (0: 20 MHz, 1: 40 MHz, 2: 80 MHz).
    pub fn high_throughput(mcs: u8, streams: u8, width: u8, short_guard: bool) -> Mode {
        Mode(FIRST_HT + ((u8::from(short_guard) * WIDTHS + width) * STREAMS + streams - 1) * PER_STREAM + mcs)
    }

    /// Returns true if the mode is one of HT and VHT PPDUs.
    #[inline]
    pub fn is_ht(self) -> bool {
        self.0 >= FIRST_HT
    }

    /// MCS of one stream.
    pub fn mcs(self) -> u8 {
        (self.0 - FIRST_HT) % PER_STREAM
    }

    /// Number of spatial streams.
    pub fn streams(self) -> u8 {
        (self.0 - FIRST_HT) / PER_STREAM % STREAMS + 1
    }

    /// Width of the channel (0: 20 MHz, 1: 40 MHz, 2: 80 MHz).
    pub fn width(self) -> u8 {
        (self.0 - FIRST_HT) / (PER_STREAM * STREAMS) % WIDTHS
    }

    /// Returns true if the guard interval is short.
    pub fn has_short_guard(self) -> bool {
        self.0 >= FIRST_HT + PER_STREAM * STREAMS * WIDTHS
    }

    /// Mode with the same MCS, streams and guard interval in 20 MHz, where MCS 9 does not exist.
    #[must_use]
    pub fn narrow(self) -> Mode {
        Mode::high_throughput(self.mcs().min(PER_STREAM - 2), self.streams(), 0, self.has_short_guard())
    }

    /// Rate with the same modulation and code in a channel of 20 MHz with one stream.
    pub fn coding(self) -> BitRate {
        if self.is_ht() { Mode::high_throughput(self.mcs(), 1, 0, false).rate() } else { self.rate() }
    }

    /// Number of the mode among those of one network, whose stations share width and guard interval.
    #[inline]
    pub fn column(self) -> u8 {
        if self.is_ht() { FIRST_HT + (self.0 - FIRST_HT) % (STREAMS * PER_STREAM) } else { self.0 }
    }

    /// Modes of the same PHY, from the slowest on; of HT and VHT those with as many streams.
    pub fn family(self) -> impl DoubleEndedIterator<Item = Mode> {
        let first = if self.is_ht() { self.0 - self.mcs() } else { 0 };
        let all = match self {
            _ if self.is_ht() => first..first + PER_STREAM,
            _ if self.is_ofdm() => FIRST_OFDM..FIRST_HT,
            _ => 0..FIRST_OFDM,
        };
        all.map(Mode)
    }

    /// Modes of the same PHY; of HT and VHT those with at most as many streams, one stream first.
    pub fn families(self) -> impl Iterator<Item = Mode> {
        let fewer = if self.is_ht() { self.streams() - 1 } else { 0 };
        (0..=fewer).rev().flat_map(move |n| Mode(self.0 - n * PER_STREAM).family())
    }

    /// Bit rate of the mode.
    pub fn rate(self) -> BitRate {
        if self.is_ht() { ppdu::rate(self) } else { RATES[usize::from(self.0)] }
    }
}

settings! {
    /// Rate of unicast data frames from one node to another, where it differs from `wlan.data_rate`.
    pub struct LinkRate {
        /// Number of the sending node.
        pub src: Option<u32> | "none" = None,
        /// Number of the receiving node.
        pub dst: Option<u32> | "none" = None,
        /// Rate of unicast data frames on this link.
        pub rate: BitRate = BitRate::mbps(2) => one_of(&RATES)
            ; used when |l| l.mcs.is_none(), else "`mcs` sets the rate",
        /// MCS of each spatial stream on an HT or VHT link; "none": `rate` applies.
        pub mcs: Option<u32> | "none" = None => range(0, 9),
        /// Number of spatial streams.
        pub streams: u32 = 1 => range(1, 2)
            ; used when |l| l.mcs.is_some(), else "`mcs` is \"none\"",
    }
}

/// Rates of a station's data frames, by receiver.
#[derive(Clone, Debug)]
pub struct Modes {
    common: Mode,
    /// Receivers with another rate.
    own: Vec<(RadioId, Mode)>,
}

impl Modes {
    /// One rate for all receivers except those in `own`.
    pub fn new(common: Mode, own: Vec<(RadioId, Mode)>) -> Modes {
        Modes { common, own }
    }

    /// Rate of data frames to a receiver.
    #[inline]
    pub fn to(&self, receiver: RadioId) -> Mode {
        self.own.iter().find(|m| m.0 == receiver).map_or(self.common, |m| m.1)
    }
}
