//! The radio: who hears a transmission, when, how strongly, and whether a receiver can understand it.
//!
//! The radio knows no 802.11: it is told start and length of a transmission and says at which nodes the medium turns
//! busy and what became of the frame at each of them. Reception follows ns-2: a receiver locks on the first signal it
//! can sense, and only the pair of locked frame and newcomer is compared ([`channel`]).

mod audience;
pub mod battery;
pub mod channel;
pub mod energy;
pub mod intervals;
mod moving;
pub mod propagation;

pub use audience::most_listeners;
pub use channel::{Channel, Ears, Ended, Sensed, Verdict};
pub use moving::reach;

use crate::setting::Many;
use crate::setting::limit::{above, at_most, range};
use crate::unit::{BitRate, Hertz, Metres, Position, Ratio, Watts};
use crate::{keywords, settings};

keywords! {
    /// Propagation models.
    pub enum Propagation {
        /// Friis near the sender, 1/d^4 beyond the crossover distance (ns-2's TwoRayGround).
        TwoRay = "two_ray",
        /// Free space, 1/d^2 (Friis 1946).
        Friis = "friis",
        /// Equal power up to the range and the carrier-sense range, nothing beyond.
        Range = "range",
    }
}

settings! {
    /// What a receiver needs to decode frames at one rate, where it needs more than for frames at any rate.
    pub struct Sensitivity {
        /// The rate.
        pub rate: BitRate = BitRate::mbps(11) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Distance up to which frames at this rate can be decoded; "none": see `receive_threshold`.
        pub range: Option<Metres> = None => above(Metres(0.0)).at_most(Metres(1e7)),
        /// Weakest signal that can be decoded at this rate; "none": see `range`.
        pub receive_threshold: Option<Watts> = None => at_most(Watts(1e6)),
    }
}

settings! {
    /// The radio: propagation, thresholds, capture.
    pub struct Config {
        /// Propagation model.
        pub propagation: Propagation = Propagation::TwoRay,
        /// Distance up to which a frame can be decoded; used where `receive_threshold` is "none".
        pub range: Metres = Metres(250.0) => above(Metres(0.0)).at_most(Metres(1e7))
            ; used when |c| c.receive_threshold.is_none() || c.propagation == Propagation::Range, else "`radio.receive_threshold` is set",
        /// Distance up to which a frame is sensed and disturbs others; used where `sense_threshold` is "none".
        pub sense_range: Metres = Metres(550.0) => above(Metres(0.0)).at_most(Metres(1e7))
            ; used when |c| c.sense_threshold.is_none() || c.propagation == Propagation::Range, else "`radio.sense_threshold` is set",
        /// Weakest signal that can be decoded.
        pub receive_threshold: Option<Watts> = None => at_most(Watts(1e6))
            ; used when |c| c.propagation != Propagation::Range, else "`radio.propagation` is `range`",
        /// Weakest signal that is sensed.
        pub sense_threshold: Option<Watts> = None => at_most(Watts(1e6))
            ; used when |c| c.propagation != Propagation::Range, else "`radio.propagation` is `range`",
        /// Rates at which a frame can be decoded less far.
        pub sensitivity: Many<Sensitivity> = Many::default(),
        /// The channels (frequencies) of a node: it has a radio on each of them. Radios on different channels do not hear
        /// each other.
        pub channels: Vec<u16> = vec![1],
        /// A locked frame survives a newcomer that is weaker by this ratio.
        pub capture_threshold: Ratio = Ratio(10.0) => range(Ratio(1.0), Ratio(1e9)),
        /// Transmission power.
        pub transmit_power: Watts = Watts(0.281_838_15) => above(Watts(0.0)).at_most(Watts(1e6))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches",
        /// Carrier frequency.
        pub frequency: Hertz = Hertz(914e6) => range(Hertz(1e6), Hertz(1e12))
            ; used when |c| c.power_counts() || c.propagation == Propagation::TwoRay, else "`radio.range` and `radio.sense_range` say how far a signal reaches",
        /// Height of the antennas above ground.
        pub antenna_height: Metres = Metres(1.5) => above(Metres(0.0)).at_most(Metres(100_000.0))
            ; used when |c| c.propagation == Propagation::TwoRay, else "`radio.propagation` is not `two_ray`",
        /// Gain of each antenna.
        pub antenna_gain: Ratio = Ratio(1.0) => above(Ratio(0.0)).at_most(Ratio(1e9))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches",
        /// System loss, at least 1.
        pub system_loss: Ratio = Ratio(1.0) => range(Ratio(1.0), Ratio(1e9))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches",
        /// Power that the radio draws.
        pub energy: energy::Config = energy::Config::default(),
    }
}

/// A radio: where it is, on which channel, and which of the profiles it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Where it is.
    pub place: Position,
    /// Its channel.
    pub channel: u16,
    /// Number of its profile.
    pub profile: u32,
}

/// All radios of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Radios {
    /// What radios can be like; the first says what is the same for all: propagation, frequency, losses.
    pub profiles: Vec<Config>,
    /// The radios.
    pub sites: Vec<Site>,
    /// The rates at which frames are sent.
    pub rates: Vec<BitRate>,
}

impl Radios {
    /// One radio at each of these places, all alike and on one channel.
    pub fn alike(cfg: &Config, places: &[Position]) -> Radios {
        let site = |&place: &Position| Site { place, channel: 1, profile: 0 };
        Radios { profiles: vec![cfg.clone()], sites: places.iter().map(site).collect(), rates: Vec::new() }
    }
}

impl Config {
    /// Whether absolute powers count. They do not where both thresholds are given as distances: then all powers, and what
    /// is compared with them, change by the same factor.
    fn power_counts(&self) -> bool {
        let of_a_rate = self.sensitivity.0.iter().any(|s| s.receive_threshold.is_some());
        let thresholds = self.receive_threshold.is_some() || self.sense_threshold.is_some();
        (thresholds || of_a_rate) && self.propagation != Propagation::Range
    }
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Later frames that were too weak to disturb the one being received.
    pub captures: u64,
    /// Overlaps in which both frames were lost.
    pub collisions: u64,
}
