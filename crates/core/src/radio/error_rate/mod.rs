//! Bit error rates as a function of the ratio of signal to noise and interference.
//!
//! Bit errors are independent, so a piece of a frame survives with a power of the probability of one bit, and a frame
//! with the product over its pieces. A table for each rate holds the logarithm of that probability, at 128 ratios per
//! octave.

mod dsss;
mod ofdm;
mod table;

pub use ofdm::Ofdm;
pub use table::ErrorRates;

use crate::unit::BitRate;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Natural logarithm of the probability that a bit survives, at a rate and a linear signal-to-noise ratio.
///
/// # Panics
/// If 802.11a and 802.11b have no such rate.
pub fn ln_success(rate: BitRate, ofdm: Ofdm, snr: f64) -> f64 {
    let kbps = rate.0 / 1000;
    let ln_success = dsss::ln_success(kbps, snr).or_else(|| ofdm::ln_success(ofdm, kbps, snr));
    ln_success.expect("a scenario is refused that has another rate")
}

/// Bits of a binary64 number below those that select its octave and the step within it.
const SHIFT: u32 = 52 - 7;
/// The table begins at -12 dB and ends at 36 dB.
const LEAST: u64 = (0.0625f64).to_bits() >> SHIFT;
const MOST: u64 = (4096.0f64).to_bits() >> SHIFT;
const UNKNOWN: u32 = f32::NAN.to_bits();

/// Lookup table of [`ln_success`] for one rate.
///
/// A value of a formula is computed when it is first asked for: a run meets few ratios, and all values of all rates take
/// as long as a short run.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Bits of binary32 numbers; NaN stands for a value that nobody has asked for.
    values: Arc<[AtomicU32]>,
    /// Rate of the formula; of a table, all values are known.
    rate: BitRate,
    ofdm: Ofdm,
}

impl Curve {
    /// Curve of a rate.
    pub fn new(rate: BitRate, ofdm: Ofdm) -> Curve {
        /// Runs of a process share what they have computed.
        static KNOWN: Mutex<BTreeMap<(u64, bool), Curve>> = Mutex::new(BTreeMap::new());
        let none = || Curve { values: (LEAST..=MOST).map(|_| AtomicU32::new(UNKNOWN)).collect(), rate, ofdm };
        let mut curves = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        curves.entry((rate.0, ofdm == Ofdm::Yans)).or_insert_with(none).clone()
    }

    /// Curve of known values, by the number of the ratio from [`LEAST`] to [`MOST`].
    fn known(value: impl Fn(u64) -> f64) -> Curve {
        let values = (LEAST..=MOST).map(|i| AtomicU32::new((value(i) as f32).to_bits())).collect();
        Curve { values, rate: BitRate(0), ofdm: Ofdm::Nist }
    }

    /// Natural logarithm of the probability that a bit survives at a linear signal-to-noise ratio.
    #[inline]
    pub fn ln_success(&self, snr: f64) -> f64 {
        let bits = snr.to_bits();
        let step = bits >> SHIFT;
        if step < LEAST {
            return f64::from(self.at(0));
        }
        let i = (step - LEAST) as usize;
        if i + 1 >= self.values.len() {
            return 0.0;
        }
        let (low, high) = (self.at(i), self.at(i + 1));
        let share = (bits & ((1 << SHIFT) - 1)) as f64 / (1u64 << SHIFT) as f64;
        f64::from(low) + share * f64::from(high - low)
    }

    /// A value of the table.
    #[inline]
    fn at(&self, i: usize) -> f32 {
        // Threads that compute a value at once find the same.
        let known = f32::from_bits(self.values[i].load(Ordering::Relaxed));
        if known.is_nan() { self.compute(i) } else { known }
    }

    #[cold]
    fn compute(&self, i: usize) -> f32 {
        let value = ln_success(self.rate, self.ofdm, f64::from_bits((LEAST + i as u64) << SHIFT)) as f32;
        self.values[i].store(value.to_bits(), Ordering::Relaxed);
        value
    }

    /// Smallest linear ratio at which this number of bits survives with this probability; accurate to 0.01 %.
    pub fn least(&self, bits: f64, probability: f64) -> f64 {
        let wanted = libm::log(probability) / bits;
        let (mut low, mut high) = (f64::from_bits(LEAST << SHIFT), f64::from_bits(MOST << SHIFT));
        while high > low * 1.0001 {
            let mid = libm::sqrt(low * high);
            if self.ln_success(mid) >= wanted { high = mid } else { low = mid }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Ratio;

    /// Frame error rates of ns-3.37: model, rate [Mbit/s], length [B], SNR [dB], frame error rate.
    const NS3: &str = include_str!("../../../tests/data/frame_error.csv");

    #[test]
    fn frame_errors_are_those_of_the_formulas_to_three_digits() {
        let mut rows = 0;
        for line in NS3.lines().skip(1) {
            let cell: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cell[i].parse::<f64>().expect("a number");
            let (rate, bits, wanted) = (BitRate((number(1) * 1e6) as u64), 8.0 * number(2), number(4));
            let ofdm = if cell[0] == "yans" { Ofdm::Yans } else { Ofdm::Nist };
            let snr = Ratio::db(number(3)).0;
            let exact = -libm::expm1(bits * ln_success(rate, ofdm, snr));
            // The reference evaluates an integral for CCK symbols that is known to 1e-10.
            let close = 6e-4 * wanted + 1e-8;
            assert!((exact - wanted).abs() < close, "{line}: {exact}");
            let looked_up = -libm::expm1(bits * Curve::new(rate, ofdm).ln_success(snr));
            assert!((looked_up - exact).abs() < 0.005 * exact + 1e-9, "{line}: {looked_up}, not {exact}");
            rows += 1;
        }
        assert!(rows > 300, "{rows}");
    }

    #[test]
    fn errors_of_ht_and_vht_are_those_of_ns3() {
        /// Rate of each MCS with one stream in 20 MHz [kbit/s].
        const MCS: [u64; 10] = [6500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000, 78_000, 86_500];
        let mut rows = 0;
        for line in include_str!("../../../tests/data/mpdu_error.csv").lines().skip(1) {
            let cell: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cell[i].parse::<f64>().expect("a number");
            let ofdm = match cell[0] {
                "nist" => Ofdm::Nist,
                "yans" => Ofdm::Yans,
                _ => continue,
            };
            let (rate, bits, wanted) = (BitRate(MCS[number(2) as usize] * 1000), 8.0 * number(3), number(5));
            let exact = -libm::expm1(bits * ln_success(rate, ofdm, Ratio::db(number(4)).0));
            assert!((exact - wanted).abs() < 6e-4 * wanted + 1e-6, "{line}: {exact}");
            rows += 1;
        }
        assert!(rows > 500, "{rows}");
    }

    #[test]
    fn less_signal_never_helps() {
        for mbps in [1.0, 2.0, 5.5, 11.0, 6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0] {
            for ofdm in [Ofdm::Nist, Ofdm::Yans] {
                let curve = Curve::new(BitRate((mbps * 1e6) as u64), ofdm);
                let at = |db: i32| curve.ln_success(Ratio::db(f64::from(db) / 10.0).0);
                assert!((-200..500).all(|db| at(db) <= at(db + 1)), "{mbps} Mbit/s");
                assert!(at(500) == 0.0 && at(-200) < -0.1);
                let least = curve.least(8.0 * 1500.0, 0.9);
                assert!((libm::exp(8.0 * 1500.0 * curve.ln_success(least)) - 0.9).abs() < 0.01);
            }
        }
    }
}
