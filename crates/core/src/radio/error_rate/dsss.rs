//! DSSS and HR-DSSS (802.11b): error rates of DBPSK, DQPSK and CCK in white noise.
//!
//! DBPSK and DQPSK after Proakis, Digital Communications; CCK as biorthogonal keying, after Pursley and Royster,
//! "Properties and performance of the IEEE 802.11b complementary-code-key signal sets", IEEE Trans. Commun. 57(2),
//! 2009. The signal to noise ratio is that in the 22 MHz of the spread signal.

use libm::{erf, erfc, exp, log1p, sqrt};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Natural logarithm of the probability that a bit survives at a rate \[kbit/s\] and a signal-to-noise ratio; `None` if
/// 802.11b has no such rate.
pub(super) fn ln_success(kbps: u64, snr: f64) -> Option<f64> {
    match kbps {
        // Ratio of bit energy to noise density: the rate is spread over 22 MHz.
        1000 => Some(log1p(-dbpsk(22.0 * snr))),
        2000 => Some(log1p(-dqpsk(11.0 * snr))),
        // Four bits are one of 16 symbols; eight bits are two such symbols.
        5500 => Some(log1p(-symbol_error(8.0 * snr)) / 4.0),
        11_000 => Some(log1p(-symbol_error(4.0 * snr)) / 4.0),
        _ => None,
    }
}

fn dbpsk(ebn0: f64) -> f64 {
    0.5 * exp(-ebn0)
}

/// Approximation for rare errors; capped at one half, where it does not apply.
fn dqpsk(ebn0: f64) -> f64 {
    let scale = (SQRT_2 + 1.0) / sqrt(8.0 * PI * SQRT_2);
    (scale / sqrt(ebn0) * exp(-(2.0 - SQRT_2) * ebn0)).min(0.5)
}

/// Probability that one of 16 biorthogonal symbols is mistaken for another, for the ratio `e` of symbol energy to noise
/// density.
fn symbol_error(e: f64) -> f64 {
    /// Standard deviations beyond which the density is negligible.
    const FAR: f64 = 9.0;
    const STEPS: u32 = 160;
    let b = sqrt(2.0 * e);
    // An error: the opposite symbol of the pair is stronger, or one of the other seven pairs is.
    let opposite = 0.5 * erfc(b * FRAC_1_SQRT_2);
    let beaten = |z: f64| {
        let p = erf((z + b) * FRAC_1_SQRT_2);
        (1.0 - p * p * p * p * p * p * p) * exp(-0.5 * z * z) / sqrt(2.0 * PI)
    };
    // Simpson's rule.
    let from = (-b).max(-FAR);
    let step = (FAR - from) / f64::from(STEPS);
    let weight = |i| match i {
        0 | STEPS => 1.0,
        _ if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|i| weight(i) * beaten(from + step * f64::from(i))).sum();
    (opposite + sum * step / 3.0).min(15.0 / 16.0)
}
