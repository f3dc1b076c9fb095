//! Path loss: the power that arrives over a distance.

pub mod links;
pub mod shadowing;

use super::config::{Config, Propagation, Reception};
use super::sinr_config;
use crate::unit::{BitRate, Meters};
use links::Gain;
use std::f64::consts::PI;

/// Speed of light as in ns-2 [m/s].
const SPEED_OF_LIGHT: f64 = 3e8;

/// A signal as it arrives at a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// Received power \[W\].
    pub power: f64,
    /// True if a frame can be decoded in the absence of interference.
    pub decodable: bool,
}

/// Properties of a radio that decide which radios it can reach and receive.
#[derive(Clone, Debug)]
pub struct End {
    power: f64,
    gain: f64,
    height: f64,
    range: f64,
    sense_range: f64,
    receive_threshold: f64,
    sense_threshold: f64,
    /// Rates with stricter needs: the weakest decodable signal and the longest distance.
    sensitivity: Vec<(BitRate, f64, f64)>,
    /// The same for each rate that decides who can decode a frame.
    needs: Vec<(f64, f64)>,
}

impl End {
    /// Properties of a configured radio. A threshold given as a distance becomes the power received over it from a
    /// radio with the `common` settings.
    pub fn new(cfg: &Config, common: &Config) -> End {
        let end = |cfg: &Config| End {
            power: cfg.transmit_power.0,
            gain: cfg.antenna_gain.0,
            height: cfg.antenna_height.0,
            range: cfg.range.0,
            sense_range: cfg.sense_range.0,
            receive_threshold: 0.0,
            sense_threshold: 0.0,
            sensitivity: Vec::new(),
            needs: Vec::new(),
        };
        let mut result = end(cfg);
        if cfg.reception == Reception::Sinr {
            result.sense_threshold = sinr_config::floor(&cfg.sinr);
            return result;
        }
        let from_common = Model::between(common, &end(common), &result);
        result.receive_threshold = cfg.receive_threshold.map_or_else(|| from_common.power(cfg.range), |w| w.0);
        result.sense_threshold = cfg.sense_threshold.map_or_else(|| from_common.power(cfg.sense_range), |w| w.0);
        result.sensitivity = cfg
            .sensitivity
            .0
            .iter()
            .map(|s| {
                let weakest = s.receive_threshold.map(|w| w.0).or_else(|| s.range.map(|d| from_common.power(d)));
                (s.rate, weakest.unwrap_or(0.0), s.range.map_or(f64::INFINITY, |d| d.0))
            })
            .collect();
        result
    }

    /// Sets the needs of each of these rates. With cumulative interference, nine of ten long frames survive noise alone.
    #[must_use]
    pub fn with_needs(mut self, cfg: &Config, rates: &[BitRate]) -> End {
        let of = |&rate: &BitRate| {
            if cfg.reception == Reception::Sinr {
                return (sinr_config::weakest(&cfg.sinr, rate), f64::INFINITY);
            }
            let stricter = self.sensitivity.iter().filter(|s| s.0 == rate);
            stricter.fold((0.0, f64::INFINITY), |(weakest, range), s| (s.1.max(weakest), s.2.min(range)))
        };
        self.needs = rates.iter().map(of).collect();
        self
    }

    /// For a frame that is decodable at some rate, one bit for each of the rates at which it is.
    pub fn modes(&self, power: f64, distance: Meters, kind: Propagation) -> u32 {
        let far = |range: f64| kind == Propagation::Range && distance.0 > range;
        let bit = |(&(weakest, range), mode)| u32::from(power >= weakest && !far(range)) << mode;
        self.needs.iter().zip(0..).map(bit).fold(0, |all, bit| all | bit)
    }

    /// A radio whose range, as a sender and a receiver, is that of the best of these.
    pub fn best(ends: &[End]) -> End {
        let all =
            |f: fn(f64, f64) -> f64, of: fn(&End) -> f64| ends.iter().map(of).reduce(f).expect("there is a profile");
        End {
            power: all(f64::max, |e| e.power),
            gain: all(f64::max, |e| e.gain),
            height: all(f64::max, |e| e.height),
            range: all(f64::max, |e| e.range),
            sense_range: all(f64::max, |e| e.sense_range),
            receive_threshold: all(f64::min, |e| e.receive_threshold),
            sense_threshold: all(f64::min, |e| e.sense_threshold),
            sensitivity: Vec::new(),
            needs: Vec::new(),
        }
    }
}

/// A propagation model from one radio to another, ready to compute.
#[derive(Clone, Debug)]
pub struct Model {
    kind: Propagation,
    range: f64,
    sense_range: f64,
    receive_threshold: f64,
    sense_threshold: f64,
    /// Pt Gt Gr / L [W].
    radiated: f64,
    wavelength: f64,
    /// Distance beyond which the two-ray model falls with the fourth power: 4 pi ht hr / lambda [m].
    crossover: f64,
    /// The same with the squares of the antenna heights, Pt Gt Gr ht² hr² / L \[W m⁴\]: the two-ray model beyond the
    /// crossover.
    two_ray: f64,
    /// Log-distance model: reference distance [m], exponent, and loss at that distance.
    reference: f64,
    exponent: f64,
    loss: f64,
}

impl Model {
    /// Model between two radios with this configuration.
    pub fn new(cfg: &Config) -> Model {
        let end = End::new(cfg, cfg);
        Model::between(cfg, &end, &end)
    }

    /// Model from a sender to a receiver; `common` sets the properties of all radios.
    pub fn between(common: &Config, sender: &End, receiver: &End) -> Model {
        let radiated = sender.power * sender.gain * receiver.gain / common.system_loss.0;
        let wavelength = SPEED_OF_LIGHT / common.frequency.0;
        let [squared_sender, squared_receiver] = [sender.height, receiver.height].map(|h| h * h);
        Model {
            kind: common.propagation,
            range: receiver.range,
            sense_range: receiver.sense_range,
            receive_threshold: receiver.receive_threshold,
            sense_threshold: receiver.sense_threshold,
            radiated,
            wavelength,
            crossover: 4.0 * PI * sender.height * receiver.height / wavelength,
            two_ray: radiated * squared_sender * squared_receiver,
            reference: common.log_distance.distance.0,
            exponent: common.log_distance.exponent,
            loss: common.log_distance.loss.0,
        }
    }

    /// Powers at distances beyond the crossover; the model must be two-ray ground. The loop has no branches.
    pub(super) fn two_ray(&self, distances: &[f64], powers: &mut [f64]) {
        debug_assert!(self.kind == Propagation::TwoRay);
        for (d, power) in distances.iter().zip(powers) {
            *power = self.two_ray / (d * d * d * d);
        }
    }

    /// Distance up to which the two-ray model falls with the square [m].
    pub(super) fn crossover(&self) -> f64 {
        self.crossover
    }

    /// Received power at one of the few distances within the crossover \[W\].
    #[cold]
    #[inline(never)]
    pub(super) fn near_power(&self, distance: f64) -> f64 {
        self.power(Meters(distance))
    }

    /// Weakest signals that are decoded and sensed \[W\].
    pub(super) fn thresholds(&self) -> (f64, f64) {
        (self.receive_threshold, self.sense_threshold)
    }

    /// Received power at a distance \[W\]; for measured links the power before path loss.
    pub fn power(&self, distance: Meters) -> f64 {
        let d = distance.0;
        let friis = |d: f64| {
            let x = self.wavelength / (4.0 * PI * d);
            self.radiated * x * x
        };
        match self.kind {
            Propagation::Range | Propagation::Links => self.radiated,
            Propagation::LogDistance if d <= self.reference => self.radiated / self.loss,
            Propagation::LogDistance => self.radiated / self.loss * libm::pow(self.reference / d, self.exponent),
            _ if d == 0.0 => self.radiated,
            Propagation::TwoRay if d > self.crossover => self.two_ray / (d * d * d * d),
            Propagation::TwoRay | Propagation::Friis => friis(d),
        }
    }

    /// Signal at this distance; `None` below the carrier-sense threshold.
    #[inline]
    pub fn signal(&self, distance: Meters) -> Option<Signal> {
        let power = self.power(distance);
        let sensed = match self.kind {
            Propagation::Range => distance.0 <= self.sense_range,
            _ => power >= self.sense_threshold,
        };
        sensed.then(|| Signal { power, decodable: self.decodable(power, distance) })
    }

    /// Signal at this distance with the power scaled by `gain`; `None` below the carrier-sense threshold.
    #[inline]
    pub fn shadowed(&self, distance: Meters, gain: f64) -> Option<Signal> {
        if gain == 1.0 || self.kind == Propagation::Range {
            return self.signal(distance);
        }
        let power = gain * self.power(distance);
        (power >= self.sense_threshold).then(|| Signal { power, decodable: self.decodable(power, distance) })
    }

    /// Signal over a measured link; `None` below the carrier-sense threshold.
    pub fn measured(&self, gain: Gain, distance: Meters) -> Option<Signal> {
        let power = match gain {
            Gain::Signal(dbm) => 1e-3 * libm::pow(10.0, dbm / 10.0),
            Gain::Loss(db) => self.radiated * libm::pow(10.0, -db / 10.0),
        };
        (power >= self.sense_threshold).then(|| Signal { power, decodable: self.decodable(power, distance) })
    }

    /// Carrier-sense range of a signal whose power is scaled by `gain`.
    pub fn range_of(&self, gain: f64) -> Meters {
        self.reach(|d| self.shadowed(d, gain).is_some())
    }

    /// Returns true if a frame of this power can be decoded over this distance in the absence of interference.
    fn decodable(&self, power: f64, distance: Meters) -> bool {
        match self.kind {
            Propagation::Range => distance.0 <= self.range,
            _ => power >= self.receive_threshold,
        }
    }

    /// Longest distance for which `reached` holds, for a quantity that falls with distance; to the millimeter.
    fn reach(&self, reached: impl Fn(Meters) -> bool) -> Meters {
        let (mut near, mut far) = (0.0, 1.0);
        while reached(Meters(far)) && far < 1e9 {
            far *= 2.0;
        }
        while far - near > 1e-3 {
            let mid = f64::midpoint(near, far);
            if reached(Meters(mid)) { near = mid } else { far = mid }
        }
        Meters(near)
    }

    /// Range within which a frame can be decoded.
    pub fn decode_range(&self) -> Meters {
        self.reach(|d| self.decodable(self.power(d), d))
    }

    /// Distance at which a signal has this power \[W\], without shadowing.
    pub fn range_of_power(&self, watts: f64) -> Meters {
        self.reach(|d| self.power(d) >= watts)
    }

    /// Carrier-sense range.
    pub fn audible_range(&self) -> Meters {
        self.reach(|d| self.signal(d).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::LogDistance;
    use crate::unit::{Hertz, Ratio, SignalPower};

    fn wavelan() -> Model {
        Model::new(&Config {
            receive_threshold: Some(SignalPower(3.652e-10)),
            sense_threshold: Some(SignalPower(1.559e-11)),
            frequency: Hertz(914e6),
            ..Config::default()
        })
    }

    #[test]
    fn two_ray_ground_gives_the_powers_of_ns2() {
        // Distance [m], power [W] of ns-2's default radio (914 MHz WaveLAN).
        for (d, watts) in [
            (1.0, 1.922_78e-4),
            (10.0, 1.922_78e-6),
            (50.0, 7.691_13e-8),
            (86.0, 2.599_76e-8),
            (100.0, 1.426_81e-8),
            (200.0, 8.917_54e-10),
            (250.0, 3.652_62e-10),
            (400.0, 5.573_46e-11),
            (550.0, 1.559_24e-11),
            (800.0, 3.483_41e-12),
        ] {
            let p = wavelan().power(Meters(d));
            assert!((p / watts - 1.0).abs() < 1e-5, "{d} m: {p:e} W instead of {watts:e} W");
        }
        assert!((wavelan().crossover - 86.14).abs() < 0.01);
    }

    #[test]
    fn the_ranges_are_250_and_550_m() {
        assert!((wavelan().decode_range().0 - 250.01).abs() < 0.01);
        assert!((wavelan().audible_range().0 - 550.02).abs() < 0.01);
        let by_range = Model::new(&Config::default());
        assert!((by_range.decode_range().0 - 250.0).abs() < 0.01);
        assert!((by_range.audible_range().0 - 550.0).abs() < 0.01);
    }

    #[test]
    fn within_a_fixed_range_all_signals_are_equal() {
        let m = Model::new(&Config { propagation: Propagation::Range, ..Config::default() });
        assert_eq!(m.signal(Meters(10.0)), m.signal(Meters(250.0)));
        assert_eq!(m.signal(Meters(251.0)).map(|s| s.decodable), Some(false));
        assert_eq!(m.signal(Meters(551.0)), None);
    }

    #[test]
    fn log_distance_loss_grows_with_a_power_of_the_distance() {
        let log_distance = LogDistance { exponent: 2.2, distance: Meters(10.0), loss: Ratio::db(60.0) };
        let m = Model::new(&Config { propagation: Propagation::LogDistance, log_distance, ..Config::default() });
        let loss = |d: f64| -10.0 * (m.power(Meters(d)) / Config::default().transmit_power.0).log10();
        for (d, db) in [(0.0, 60.0), (10.0, 60.0), (20.0, 66.62), (30.0, 70.50), (100.0, 82.0)] {
            assert!((loss(d) - db).abs() < 0.01, "{d} m: {} dB", loss(d));
        }
    }

    #[test]
    fn friis_falls_with_the_square() {
        let m = Model::new(&Config { propagation: Propagation::Friis, ..Config::default() });
        assert!((m.power(Meters(100.0)) / m.power(Meters(200.0)) - 4.0).abs() < 1e-9);
    }
}
