//! Modes: the rates at which frames are sent, and the rate that a station uses for each receiver.

use crate::packet::RadioId;
use crate::setting::limit::one_of;
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

/// A rate, as an index into [`RATES`].
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

    /// Tells if the rate is one of 802.11a.
    pub fn is_ofdm(self) -> bool {
        self.0 >= FIRST_OFDM
    }

    /// Modes of the same PHY, from the slowest on.
    pub fn family(self) -> impl DoubleEndedIterator<Item = Mode> {
        let all = if self.is_ofdm() { FIRST_OFDM..RATES.len() as u8 } else { 0..FIRST_OFDM };
        all.map(Mode)
    }

    /// Bit rate of the mode.
    pub fn rate(self) -> BitRate {
        RATES[usize::from(self.0)]
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
        pub rate: BitRate = BitRate::mbps(2) => one_of(&RATES),
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
