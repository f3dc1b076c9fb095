//! The radio: who hears a transmission, when, how strongly, and whether a receiver can understand it.
//!
//! The radio knows no 802.11: it is told start and length of a transmission and says at which nodes the medium turns
//! busy and what became of the frame at each of them. Reception follows ns-2: a receiver locks on the first signal it
//! can sense, and only the pair of locked frame and newcomer is compared ([`channel`]).

mod audience;
pub mod channel;
pub mod energy;
pub mod propagation;

pub use audience::most_listeners;
pub use channel::{Channel, Ended, Heard, Sensed, Verdict};

use crate::setting::Many;
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
        pub rate: BitRate = BitRate::mbps(11),
        /// Distance up to which frames at this rate can be decoded; "none": see `receive_threshold`.
        pub range: Option<Metres> = None,
        /// Weakest signal that can be decoded at this rate; "none": see `range`.
        pub receive_threshold: Option<Watts> = None,
    }
}

settings! {
    /// The radio: propagation, thresholds, capture.
    pub struct Config {
        /// Propagation model.
        pub propagation: Propagation = Propagation::TwoRay,
        /// Distance up to which a frame can be decoded; used where `receive_threshold` is "none".
        pub range: Metres = Metres(250.0),
        /// Distance up to which a frame is sensed and disturbs others; used where `sense_threshold` is "none".
        pub sense_range: Metres = Metres(550.0),
        /// Weakest signal that can be decoded.
        pub receive_threshold: Option<Watts> = None,
        /// Weakest signal that is sensed.
        pub sense_threshold: Option<Watts> = None,
        /// Rates at which a frame can be decoded less far.
        pub sensitivity: Many<Sensitivity> = Many::default(),
        /// The channels (frequencies) of a node: it has a radio on each of them. Radios on different channels do not hear
        /// each other.
        pub channels: Vec<u16> = vec![1],
        /// A locked frame survives a newcomer that is weaker by this ratio.
        pub capture_threshold: Ratio = Ratio(10.0),
        /// Transmission power.
        pub transmit_power: Watts = Watts(0.281_838_15),
        /// Carrier frequency.
        pub frequency: Hertz = Hertz(914e6),
        /// Height of the antennas above ground.
        pub antenna_height: Metres = Metres(1.5),
        /// Gain of each antenna.
        pub antenna_gain: Ratio = Ratio(1.0),
        /// System loss, at least 1.
        pub system_loss: Ratio = Ratio(1.0),
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

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Later frames that were too weak to disturb the one being received.
    pub captures: u64,
    /// Overlaps in which both frames were lost.
    pub collisions: u64,
}
