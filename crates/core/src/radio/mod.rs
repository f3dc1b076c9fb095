//! The radio: who hears a transmission, when, how strongly, and whether a receiver can understand it.
//!
//! The radio knows no 802.11: it is told start and length of a transmission and says at which nodes the medium turns
//! busy and what became of the frame at each of them. Reception follows ns-2: a receiver locks on the first signal it
//! can sense, and only the pair of locked frame and newcomer is compared ([`channel`]). Or it adds up all signals, and
//! loses bits as the ratio of signal to noise and interference has it ([`sinr`]).

mod aims;
mod audience;
pub mod battery;
pub mod channel;
pub mod energy;
pub mod error_rate;
pub mod intervals;
pub mod links;
mod moving;
pub mod propagation;
pub mod shadowing;
pub mod sinr;

pub use aims::Harm;
pub use audience::most_listeners;
pub use channel::{Channel, Ears, Ended, Sensed, Verdict};
pub use moving::reach;

use crate::setting::Many;
use crate::setting::limit::{above, at_most, range};
use crate::unit::{BitRate, Hertz, Metres, Position, Ratio, Span, Watts};
use crate::{keywords, settings};
use links::Links;
use std::borrow::Cow;

keywords! {
    /// Propagation models.
    pub enum Propagation {
        /// Friis near the sender, 1/d^4 beyond the crossover distance (ns-2's TwoRayGround).
        TwoRay = "two_ray",
        /// Free space, 1/d^2 (Friis 1946).
        Friis = "friis",
        /// Equal power up to the range and the carrier-sense range, nothing beyond.
        Range = "range",
        /// A loss at a reference distance, and beyond it a power of the distance: `radio.log_distance`.
        LogDistance = "log_distance",
        /// What was measured between nodes, from a table: `radio.links`. Other nodes do not hear each other.
        Links = "links",
    }
}

keywords! {
    /// What a receiver makes of signals that overlap.
    pub enum Reception {
        /// Two by two: a locked frame survives a newcomer that is weaker by the capture threshold (ns-2).
        Pairwise = "pairwise",
        /// Signals add up, and bits are lost by the ratio of signal to noise and interference: `radio.sinr`.
        Sinr = "sinr",
    }
}

settings! {
    /// The model `log_distance`.
    pub struct LogDistance {
        /// Path-loss exponent.
        pub exponent: f64 = 3.0 => range(0.0, 20.0),
        /// Reference distance; nearer than that the loss is the same.
        pub distance: Metres = Metres(1.0) => above(Metres(0.0)).at_most(Metres(1e7)),
        /// Loss at the reference distance.
        pub loss: Ratio = Ratio(1e4) => range(Ratio(1.0), Ratio(1e30)),
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
        /// The model `log_distance`.
        pub log_distance: LogDistance = LogDistance::default()
            ; used when |c| c.propagation == Propagation::LogDistance, else "`radio.propagation` is not `log_distance`",
        /// Standard deviation of log-normal shadowing, drawn once for each pair of radios, from `topology.seed`, the same in
        /// both directions; at most four of them.
        pub shadowing: Ratio = Ratio(1.0) => range(Ratio(1.0), Ratio(1e3))
            ; used when |c| !matches!(c.propagation, Propagation::Range | Propagation::Links), else "`radio.propagation` is `range` or `links`",
        /// What arrives over links between nodes, as it was measured: the name of a CSV file, or its text.
        pub links: Links = Links::default()
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// Takes a link that `radio.links` has one way only to be the same the other way round.
        pub links_symmetric: bool = false
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// What a receiver makes of signals that overlap.
        pub reception: Reception = Reception::Pairwise,
        /// Reception by the ratio of signal to noise and interference.
        pub sinr: sinr::Config = sinr::Config::default()
            ; used when |c| c.reception == Reception::Sinr, else "`radio.reception` is not `sinr`",
        /// Distance up to which a frame can be decoded; used where `receive_threshold` is "none".
        pub range: Metres = Metres(250.0) => above(Metres(0.0)).at_most(Metres(1e7))
            ; used when |c| c.is_by_distance(c.receive_threshold), else "`radio.receive_threshold` is set, `radio.propagation` is `links`, or `radio.reception` is `sinr`",
        /// Distance up to which a frame is sensed and disturbs others; used where `sense_threshold` is "none".
        pub sense_range: Metres = Metres(550.0) => above(Metres(0.0)).at_most(Metres(1e7))
            ; used when |c| c.is_by_distance(c.sense_threshold), else "`radio.sense_threshold` is set, `radio.propagation` is `links`, or `radio.reception` is `sinr`",
        /// Weakest signal that can be decoded.
        pub receive_threshold: Option<Watts> = None => at_most(Watts(1e6))
            ; used when |c| c.is_pairwise() && c.propagation != Propagation::Range, else "`radio.propagation` is `range`, or `radio.reception` is `sinr`",
        /// Weakest signal that is sensed.
        pub sense_threshold: Option<Watts> = None => at_most(Watts(1e6))
            ; used when |c| c.is_pairwise() && c.propagation != Propagation::Range, else "`radio.propagation` is `range`, or `radio.reception` is `sinr`",
        /// Rates at which a frame can be decoded less far.
        pub sensitivity: Many<Sensitivity> = Many::default()
            ; used when Config::is_pairwise, else "`radio.reception` is `sinr`",
        /// The channels (frequencies) of a node: it has a radio on each of them. Radios on different channels do not hear
        /// each other.
        pub channels: Vec<u16> = vec![1],
        /// A locked frame survives a newcomer that is weaker by this ratio.
        pub capture_threshold: Ratio = Ratio(10.0) => range(Ratio(1.0), Ratio(1e9))
            ; used when Config::is_pairwise, else "`radio.reception` is `sinr`",
        /// Transmission power.
        pub transmit_power: Watts = Watts(0.281_838_15) => above(Watts(0.0)).at_most(Watts(1e6))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches, or `radio.links` what arrives",
        /// Carrier frequency.
        pub frequency: Hertz = Hertz(914e6) => range(Hertz(1e6), Hertz(1e12))
            ; used when Config::frequency_counts, else "it makes no difference to how far a signal reaches",
        /// Height of the antennas above ground.
        pub antenna_height: Metres = Metres(1.5) => above(Metres(0.0)).at_most(Metres(100_000.0))
            ; used when |c| c.propagation == Propagation::TwoRay, else "`radio.propagation` is not `two_ray`",
        /// Gain of each antenna.
        pub antenna_gain: Ratio = Ratio(1.0) => above(Ratio(0.0)).at_most(Ratio(1e9))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches, or `radio.links` what arrives",
        /// System loss, at least 1.
        pub system_loss: Ratio = Ratio(1.0) => range(Ratio(1.0), Ratio(1e9))
            ; used when Config::power_counts, else "`radio.range` and `radio.sense_range` say how far a signal reaches, or `radio.links` what arrives",
        /// Power that the radio draws.
        pub energy: energy::Config = energy::Config::default(),
    }
}

/// A radio: where it is, on which channel, and which of the profiles it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Where it is.
    pub place: Position,
    /// Number of its node.
    pub node: u32,
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
    /// PLCP preamble and header of frames at each of these rates.
    pub plcp: Vec<Span>,
    /// Seed of what is drawn once for all runs: shadowing.
    pub seed: u64,
}

impl Radios {
    /// Whether a rate makes a difference to who can decode a frame.
    pub(crate) fn differ_by_rate(&self) -> bool {
        self.profiles.iter().any(Config::differs_by_rate)
    }

    /// One radio at each of these places, all alike and on one channel.
    pub fn alike(cfg: &Config, places: &[Position]) -> Radios {
        let site = |(node, &place): (u32, &Position)| Site { place, node, channel: 1, profile: 0 };
        Radios {
            profiles: vec![cfg.clone()],
            sites: (0..).zip(places).map(site).collect(),
            rates: Vec::new(),
            plcp: Vec::new(),
            seed: 0,
        }
    }
}

impl Config {
    /// Whether a rate makes a difference to who can decode a frame.
    pub fn differs_by_rate(&self) -> bool {
        !self.sensitivity.0.is_empty() || self.reception == Reception::Sinr
    }

    /// Whether signals are compared two by two.
    fn is_pairwise(&self) -> bool {
        self.reception == Reception::Pairwise
    }

    /// Whether it is a distance that says what is received, where this is the threshold.
    fn is_by_distance(&self, threshold: Option<Watts>) -> bool {
        let given = threshold.is_none() || self.propagation == Propagation::Range;
        self.is_pairwise() && given && self.propagation != Propagation::Links
    }

    /// Whether absolute powers count. They do not where both thresholds are given as distances: then all powers, and what
    /// is compared with them, change by the same factor. Nor where it was measured what arrives.
    fn power_counts(&self) -> bool {
        let of_a_rate = self.sensitivity.0.iter().any(|s| s.receive_threshold.is_some());
        let thresholds = self.receive_threshold.is_some() || self.sense_threshold.is_some();
        let absolute = thresholds || of_a_rate || self.reception == Reception::Sinr;
        match self.propagation {
            Propagation::Range => false,
            Propagation::Links => self.links.has_losses(),
            Propagation::TwoRay | Propagation::Friis | Propagation::LogDistance => absolute,
        }
    }

    /// Measured links between nodes, if the propagation model uses them.
    pub fn measured(&self) -> Option<Cow<'_, Links>> {
        let links = match self.links_symmetric {
            true => Cow::Owned(self.links.symmetric()),
            false => Cow::Borrowed(&self.links),
        };
        (self.propagation == Propagation::Links).then_some(links)
    }

    /// Whether the frequency does.
    fn frequency_counts(&self) -> bool {
        match self.propagation {
            Propagation::TwoRay => true,
            Propagation::Friis => self.power_counts(),
            Propagation::Range | Propagation::LogDistance | Propagation::Links => false,
        }
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
