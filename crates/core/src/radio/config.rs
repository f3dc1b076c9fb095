//! Settings of a radio: propagation, thresholds, capture.

use super::energy;
use super::propagation::links::Links;
use super::sinr_config;
use crate::setting::Many;
use crate::setting::limit::{above, at_most, range};
use crate::unit::{BitRate, Hertz, Meters, Ratio, SignalPower};
use crate::{keywords, settings};
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
        /// Path loss at a reference distance, growing with a power of the distance: `radio.log_distance`.
        LogDistance = "log_distance",
        /// Measured received power between nodes, from a table. All other pairs are out of range.
        Links = "links",
    }
}

keywords! {
    /// Reception of overlapping signals.
    pub enum Reception {
        /// Pairwise: a locked frame survives a newcomer that is weaker by the capture threshold (ns-2).
        Pairwise = "pairwise",
        /// Cumulative: signals add up, and bits are lost by the ratio of signal to noise and interference:
        /// `radio.sinr`.
        Sinr = "sinr",
    }
}

settings! {
    /// The propagation model `log_distance`.
    pub struct LogDistance {
        /// Path-loss exponent.
        pub exponent: f64 = 3.0 => range(0.0, 20.0),
        /// Reference distance; the path loss at shorter distances is the same.
        pub distance: Meters = Meters(1.0) => above(Meters(0.0)).at_most(Meters(1e7)),
        /// Path loss at the reference distance.
        pub loss: Ratio = Ratio::db(40.0) => range(Ratio(1.0), Ratio(1e30)),
    }
}

settings! {
    /// Requirements for decoding frames at one rate, where they exceed those for all rates.
    pub struct Sensitivity {
        /// Rate of the frames.
        pub rate: BitRate = BitRate::mbps(11) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Distance up to which frames at this rate can be decoded; "unlimited": `receive_threshold` decides.
        pub range: Option<Meters> | "unlimited" = None => above(Meters(0.0)).at_most(Meters(1e7)),
        /// Weakest signal that can be decoded at this rate; "none": `range` decides.
        pub receive_threshold: Option<SignalPower> | "none" = None => at_most(SignalPower(1e6)),
    }
}

settings! {
    /// The radio: propagation, thresholds, capture.
    pub struct Config {
        /// Propagation model.
        pub(everyday) propagation: Propagation = Propagation::TwoRay,
        /// The propagation model `log_distance`.
        pub log_distance: LogDistance = LogDistance::default()
            ; used when |c| c.propagation == Propagation::LogDistance, else "`radio.propagation` is not `log_distance`",
        /// Standard deviation of log-normal shadowing. Each pair of radios has one value for both directions, of at
        /// most four standard deviations.
        pub shadowing: Ratio = Ratio::db(0.0) => range(Ratio(1.0), Ratio(1e3))
            ; used when |c| !matches!(c.propagation, Propagation::Range | Propagation::Links),
            else "`radio.propagation` is `range` or `links`",
        /// Seed of the shadowing; "topology": `topology.seed`.
        pub shadowing_seed: Option<u64> | "topology" = None
            ; used when |c| c.shadowing.0 > 1.0 && !matches!(c.propagation, Propagation::Range | Propagation::Links),
            else "there is no shadowing",
        /// CSV file with the measured received power between nodes: columns src, dst, and signal_dbm, loss_db or
        /// frame_loss.
        pub links_file: Option<String> | "none" = None
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// Measured received power between nodes as CSV text; reading a scenario converts `radio.links_file` into it.
        pub links_table: Links = Links::default()
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// Applies a value that the table has for one direction only to the other direction, too. A received power
        /// then differs by the transmission powers of the ends.
        pub links_symmetric: bool = false
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// Standard deviation of measured received powers, for links without one in the column sd_db. Each run draws
        /// one value for both directions between two nodes, of at most four standard deviations.
        pub links_sd: Ratio = Ratio::db(0.0) => range(Ratio(1.0), Ratio(1e3))
            ; used when |c| c.propagation == Propagation::Links, else "`radio.propagation` is not `links`",
        /// Reception of overlapping signals.
        pub(everyday) reception: Reception = Reception::Pairwise,
        /// Reception by the signal-to-interference-plus-noise ratio (SINR).
        pub sinr: sinr_config::Config = sinr_config::Config::default()
            ; used when |c| c.reception == Reception::Sinr, else "`radio.reception` is not `sinr`",
        /// Distance up to which a frame can be decoded; used where `receive_threshold` is "range".
        pub(everyday) range: Meters = Meters(250.0) => above(Meters(0.0)).at_most(Meters(1e7))
            ; used when |c| c.is_by_distance(c.receive_threshold),
            else "`radio.receive_threshold` is set, `radio.propagation` is `links`, or `radio.reception` is `sinr`",
        /// Distance up to which a frame is sensed and disturbs others; used where `sense_threshold` is "sense_range".
        pub(everyday) sense_range: Meters = Meters(550.0) => above(Meters(0.0)).at_most(Meters(1e7))
            ; used when |c| c.is_by_distance(c.sense_threshold),
            else "`radio.sense_threshold` is set, `radio.propagation` is `links`, or `radio.reception` is `sinr`",
        /// Weakest signal that can be decoded; "range": the signal at the distance `range`.
        pub receive_threshold: Option<SignalPower> | "range" = None => at_most(SignalPower(1e6))
            ; used when |c| c.is_pairwise() && c.propagation != Propagation::Range,
            else "`radio.propagation` is `range`, or `radio.reception` is `sinr`",
        /// Weakest signal that is sensed; "sense_range": the signal at the distance `sense_range`.
        pub sense_threshold: Option<SignalPower> | "sense_range" = None => at_most(SignalPower(1e6))
            ; used when |c| c.is_pairwise() && c.propagation != Propagation::Range,
            else "`radio.propagation` is `range`, or `radio.reception` is `sinr`",
        /// Rates at which a frame can be decoded less far.
        pub sensitivity: Many<Sensitivity> = Many::default()
            ; used when Config::is_pairwise, else "`radio.reception` is `sinr`",
        /// Channels of a node, which has one radio on each of them. Radios on different channels do not sense each
        /// other.
        pub channels: Vec<u16> = vec![1],
        /// Smallest power ratio of the frame that is being received to a later one at which its reception continues.
        pub capture_threshold: Ratio = Ratio::db(10.0) => range(Ratio(1.0), Ratio(1e9))
            ; used when Config::is_pairwise, else "`radio.reception` is `sinr`",
        /// Transmission power.
        pub(everyday) transmit_power: SignalPower = SignalPower(0.281_838_15)
            => above(SignalPower(0.0)).at_most(SignalPower(1e6))
            ; used when Config::power_counts,
            else "`radio.range` and `radio.sense_range` set the range, or `radio.links_table` sets the received power",
        /// Carrier frequency; the default is channel 1 of the 2.4 GHz band (IEEE 802.11-2020, clause 15).
        pub frequency: Hertz = Hertz(2412e6) => range(Hertz(1e6), Hertz(1e12))
            ; used when Config::frequency_counts, else "it makes no difference to how far a signal reaches",
        /// Height of the antennas above ground.
        pub antenna_height: Meters = Meters(1.5) => above(Meters(0.0)).at_most(Meters(100_000.0))
            ; used when |c| c.propagation == Propagation::TwoRay, else "`radio.propagation` is not `two_ray`",
        /// Gain of each antenna.
        pub antenna_gain: Ratio = Ratio::db(0.0) => range(Ratio(1e-30), Ratio(1e9))
            ; used when Config::power_counts,
            else "`radio.range` and `radio.sense_range` set the range, or `radio.links_table` sets the received power",
        /// System loss: attenuation in the hardware of the two radios.
        pub system_loss: Ratio = Ratio::db(0.0) => range(Ratio(1.0), Ratio(1e9))
            ; used when Config::power_counts,
            else "`radio.range` and `radio.sense_range` set the range, or `radio.links_table` sets the received power",
        /// Power that the radio draws.
        pub energy: energy::Config = energy::Config::default(),
    }
}

impl Config {
    /// Returns true if the range depends on the rate.
    pub fn differs_by_rate(&self) -> bool {
        !self.sensitivity.0.is_empty() || self.reception == Reception::Sinr
    }

    /// Returns true if signals are compared two by two.
    fn is_pairwise(&self) -> bool {
        self.reception == Reception::Pairwise
    }

    /// Returns true if this threshold is given as a distance.
    fn is_by_distance(&self, threshold: Option<SignalPower>) -> bool {
        let given = threshold.is_none() || self.propagation == Propagation::Range;
        self.is_pairwise() && given && self.propagation != Propagation::Links
    }

    /// Returns true if absolute powers matter. They do not where both thresholds are given as distances, because powers and
    /// thresholds then scale by the same factor, nor with measured received powers.
    fn power_counts(&self) -> bool {
        let of_a_rate = self.sensitivity.0.iter().any(|s| s.receive_threshold.is_some());
        let thresholds = self.receive_threshold.is_some() || self.sense_threshold.is_some();
        let absolute = thresholds || of_a_rate || self.reception == Reception::Sinr;
        match self.propagation {
            Propagation::Range => false,
            Propagation::Links => {
                let copied = self.links_symmetric && self.links_table.one_way().next().is_some();
                copied || self.links_table.has_losses()
            }
            Propagation::TwoRay | Propagation::Friis | Propagation::LogDistance => absolute,
        }
    }

    /// Measured links between nodes, if the propagation model uses them.
    pub fn measured(&self) -> Option<Cow<'_, Links>> {
        let links = match self.links_symmetric {
            true => Cow::Owned(self.links_table.symmetric(|_, _| 0.0)),
            false => Cow::Borrowed(&self.links_table),
        };
        (self.propagation == Propagation::Links).then_some(links)
    }

    /// Returns true if the frequency matters.
    fn frequency_counts(&self) -> bool {
        match self.propagation {
            Propagation::TwoRay => true,
            Propagation::Friis => self.power_counts(),
            Propagation::Range | Propagation::LogDistance | Propagation::Links => false,
        }
    }
}
