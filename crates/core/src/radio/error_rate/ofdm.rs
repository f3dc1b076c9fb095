//! OFDM (802.11a, 802.11g): error rates of convolutionally coded PSK and QAM in white noise, by two published models.
//!
//! NIST: Pei and Henderson, "Validation of OFDM error rate model in ns-3", 2010, after Miller, "Validation of
//! 802.11a/UWB coexistence simulation", NIST 2003, a union bound over ten distances with soft decisions. YANS: Lacage
//! and Henderson, "Yet another network simulator", WNS2 2006, hard decisions and the first two distances. The signal to
//! noise ratio is that in 20 MHz.

use crate::keywords;
use libm::{erfc, log1p, pow, sqrt};

keywords! {
    /// Models of OFDM error rates.
    pub enum Ofdm {
        /// Union bound with soft decisions, after NIST (Miller 2003; Pei and Henderson 2010).
        Nist = "nist",
        /// Hard decisions, after YANS (Lacage and Henderson 2006); needs about 3 dB less.
        Yans = "yans",
    }
}

/// A rate: size of the constellation, code rate, and data subcarriers.
struct Coded {
    points: u32,
    code: Code,
    carriers: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

fn coded(kbps: u64) -> Option<Coded> {
    // Rates that are no rates of 802.11a stand for the MCS of HT and VHT with one stream in 20 MHz; MCS 9, which does not
    // exist there, has the carriers of 80 MHz.
    let (points, code, carriers) = match kbps {
        6000 => (2, Code::Half, 48.0),
        9000 => (2, Code::ThreeQuarters, 48.0),
        12_000 => (4, Code::Half, 48.0),
        18_000 => (4, Code::ThreeQuarters, 48.0),
        24_000 => (16, Code::Half, 48.0),
        36_000 => (16, Code::ThreeQuarters, 48.0),
        48_000 => (64, Code::TwoThirds, 48.0),
        54_000 => (64, Code::ThreeQuarters, 48.0),
        6500 => (2, Code::Half, 52.0),
        13_000 => (4, Code::Half, 52.0),
        19_500 => (4, Code::ThreeQuarters, 52.0),
        26_000 => (16, Code::Half, 52.0),
        39_000 => (16, Code::ThreeQuarters, 52.0),
        52_000 => (64, Code::TwoThirds, 52.0),
        58_500 => (64, Code::ThreeQuarters, 52.0),
        65_000 => (64, Code::FiveSixths, 52.0),
        78_000 => (256, Code::ThreeQuarters, 52.0),
        86_500 => (256, Code::FiveSixths, 58.5),
        _ => return None,
    };
    Some(Coded { points, code, carriers })
}

/// Natural logarithm of the probability that a bit survives at a rate \[kbit/s\] and a signal-to-noise ratio; `None` if
/// OFDM has no such rate.
pub(super) fn ln_success(model: Ofdm, kbps: u64, snr: f64) -> Option<f64> {
    let rate = coded(kbps)?;
    let error = match model {
        Ofdm::Nist => nist(&rate, snr),
        Ofdm::Yans => yans(&rate, snr),
    };
    // The union bound exceeds one half at low ratios, where bits are right only by chance.
    Some(log1p(-error.min(0.5)))
}

/// Probability of an error event at a bit, by the union bound.
fn nist(rate: &Coded, snr: f64) -> f64 {
    // Error probability of uncoded bits.
    let p = match rate.points {
        2 => 0.5 * erfc(sqrt(snr)),
        4 => 0.5 * erfc(sqrt(snr / 2.0)),
        16 => 3.0 / (4.0 * 2.0) * erfc(sqrt(snr / 10.0)),
        64 => 7.0 / (8.0 * 3.0) * erfc(sqrt(snr / 42.0)),
        _ => 15.0 / (16.0 * 4.0) * erfc(sqrt(snr / 170.0)),
    };
    let d = sqrt(4.0 * p * (1.0 - p));
    // Factor, free distance, increment of the distance, and number of wrong bits at each distance.
    let (factor, first, step, weights): (f64, i32, i32, &[f64]) = match rate.code {
        Code::Half => {
            let w = &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
            (0.5, 10, 2, w)
        }
        Code::TwoThirds => {
            let w = &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
            (0.25, 6, 1, w)
        }
        Code::ThreeQuarters => {
            let w = &[
                42.0,
                201.0,
                1492.0,
                10_469.0,
                62_935.0,
                379_644.0,
                2_253_373.0,
                13_073_811.0,
                75_152_755.0,
                428_005_675.0,
            ];
            (1.0 / 6.0, 5, 1, w)
        }
        Code::FiveSixths => {
            // Weights of the code punctured to 5/6 (Frenger, Orten and Ottosson 1999).
            let w = &[
                92.0,
                528.0,
                8694.0,
                79_453.0,
                792_114.0,
                7_375_573.0,
                67_884_974.0,
                610_875_423.0,
                5_427_275_376.0,
                47_664_215_639.0,
            ];
            (0.1, 4, 1, w)
        }
    };
    let term = |(i, w): (i32, &f64)| w * pow(d, f64::from(first + step * i));
    factor * (0..).zip(weights).map(term).sum::<f64>()
}

fn yans(rate: &Coded, snr: f64) -> f64 {
    let bits = f64::from(rate.points.ilog2());
    // Carriers of 0.25 Msymbol/s, in 20 MHz.
    let ebn0 = snr * 20.0 / (rate.carriers / 4.0 * bits);
    let p = if rate.points == 2 {
        0.5 * erfc(sqrt(ebn0))
    } else {
        let m = f64::from(rate.points);
        let one_way = (1.0 - 1.0 / sqrt(m)) * erfc(sqrt(1.5 * bits * ebn0 / (m - 1.0)));
        (1.0 - (1.0 - one_way) * (1.0 - one_way)) / bits
    };
    // Free distance, and number of paths at it and at the next distance. For BPSK 3/4 only the first is used.
    let (free, paths, next) = match rate.code {
        Code::Half => (10, 11.0, 0.0),
        Code::TwoThirds => (6, 1.0, 16.0),
        Code::ThreeQuarters => (5, 8.0, if rate.points == 2 { 0.0 } else { 31.0 }),
        Code::FiveSixths => (4, 14.0, 69.0),
    };
    paths * wrong_path(free, p) + next * wrong_path(free + 1, p)
}

/// Probability that a path at this distance is chosen, with bit error probability `p`.
fn wrong_path(distance: u32, p: f64) -> f64 {
    let choose = |k: u32| (0..k).map(|i| f64::from(distance - i) / f64::from(i + 1)).product::<f64>();
    let exactly = |k: u32| choose(k) * pow(p, f64::from(k)) * pow(1.0 - p, f64::from(distance - k));
    let half = distance / 2;
    let tie = if distance.is_multiple_of(2) { 0.5 * exactly(half) } else { 0.0 };
    tie + (half + 1..=distance).map(exactly).sum::<f64>()
}
