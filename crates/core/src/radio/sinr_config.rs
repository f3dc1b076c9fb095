//! Settings of reception with cumulative interference, and the weakest signals that follow from them.

use super::error_rate::{Curve, ErrorRates, Ofdm};
use crate::setting::limit::{above, at_most, range};
use crate::unit::{BitRate, Hertz, Ratio, SignalPower, Span};
use crate::{keywords, settings};

keywords! {
    /// Fading: variation of the received power from frame to frame.
    pub enum Fading {
        /// No fading.
        None = "none",
        /// Rayleigh: exponentially distributed power, drawn for each frame and receiver.
        Rayleigh = "rayleigh",
    }
}

keywords! {
    /// Part of a frame during which a stronger signal may take over its receiver.
    pub enum Relock {
        /// During the preamble of the frame.
        Preamble = "preamble",
        /// During the whole frame.
        Always = "always",
    }
}

settings! {
    /// Reception by the signal-to-interference-plus-noise ratio (SINR).
    pub struct Config {
        /// Noise figure of a receiver: ratio of its noise to thermal noise at 290 K.
        pub noise_figure: Ratio = Ratio::db(7.0) => range(Ratio(1.0), Ratio(1e6)),
        /// Noise bandwidth of a receiver: 22 MHz with 802.11b, 20 MHz with 802.11a.
        pub bandwidth: Hertz = Hertz(22e6) => range(Hertz(1e3), Hertz(1e12)),
        /// Smallest SINR at which a receiver locks on a signal.
        pub preamble_detection: Ratio = Ratio::db(4.0) => range(Ratio(1e-3), Ratio(1e6)),
        /// Time that the detection of a preamble takes. If other signals reduce its SINR below `preamble_detection` in
        /// this time, the preamble is lost, and one of the other signals may be detected instead.
        pub detection_time: Span = Span::ZERO => at_most(Span::us(100)),
        /// Threshold of energy detection: the medium is busy while the total power of all signals reaches it.
        pub energy_detection: SignalPower = SignalPower::dbm(-62.0)
            => above(SignalPower(0.0)).at_most(SignalPower(1e6)),
        /// Power ratio to the locked signal at which a later signal takes over the receiver; "never": it never does.
        pub relock: Option<Ratio> | "never" = None => range(Ratio(1.0), Ratio(1e9)),
        /// Part of a frame during which a stronger signal may take over its receiver.
        pub relock_during: Relock = Relock::Always
            ; used when |c| c.relock.is_some(), else "`radio.sinr.relock` is \"never\"",
        /// Smallest ratio of mean signal power to noise; weaker signals are ignored.
        pub floor: Ratio = Ratio::db(-10.0) => range(Ratio(1e-6), Ratio(1e3)),
        /// Fading: variation of the received power from frame to frame.
        pub fading: Fading = Fading::None,
        /// Model of OFDM error rates.
        pub ofdm: Ofdm = Ofdm::Nist,
        /// CSV file with OFDM error rates, which replace the model `ofdm` for the modulations in the file. Columns:
        /// mcs, snr_db, and either bytes and frame_error_rate, or bit_error_rate.
        pub error_rates_file: Option<String> | "none" = None,
        /// OFDM error rates as CSV text; reading a scenario converts `error_rates_file` into it.
        pub error_rates_table: ErrorRates = ErrorRates::default(),
    }
}

/// Boltzmann's constant [J/K], exact.
const BOLTZMANN: f64 = 1.380_649e-23;
/// Reference temperature of noise figures [K].
const TEMPERATURE: f64 = 290.0;
/// Length of a long data frame [bit], whose delivery ratio defines neighbors.
const LONG: f64 = 8.0 * 1536.0;
const ARRIVES: f64 = 0.9;
/// Noise power at a receiver \[W\].
pub fn noise(cfg: &Config) -> f64 {
    BOLTZMANN * TEMPERATURE * cfg.bandwidth.0 * cfg.noise_figure.0
}

/// Weakest signal that is not ignored \[W\].
pub fn floor(cfg: &Config) -> f64 {
    noise(cfg) * cfg.floor.0
}

/// Error rates of a rate: those of the table, or else of the model.
pub(super) fn curve(cfg: &Config, rate: BitRate) -> Curve {
    cfg.error_rates_table.curve(rate).unwrap_or_else(|| Curve::new(rate, cfg.ofdm))
}

/// Weakest signal with which nine of ten long frames at a rate survive noise alone \[W\].
pub fn weakest(cfg: &Config, rate: BitRate) -> f64 {
    let least = curve(cfg, rate).least(LONG, ARRIVES);
    noise(cfg) * least.max(cfg.preamble_detection.0)
}

/// Smallest signal-to-noise ratio with a bit error rate of at most `errors`.
pub fn least(cfg: &Config, rate: BitRate, errors: f64) -> f64 {
    curve(cfg, rate).least(1.0, 1.0 - errors)
}
