//! Tails and quantiles of Student's t, the beta and the gamma distribution.
//!
//! `scipy.special` has them, but loading it takes longer than most runs, and as much memory as all other packages. The
//! functions of `libm` give the same bits on every platform.

use libm::{exp, lgamma, log, log1p};
use pyo3::prelude::*;

/// Relative size of a term that changes nothing.
const EPSILON: f64 = f64::EPSILON / 4.0;

/// Divisor in place of 0 in a continued fraction.
const TINY: f64 = 1e-300;

/// More terms than the largest count of events needs, which is about the root of it.
const TERMS: u32 = 1_000_000;

/// Value of a continued fraction a1 / (b1 + a2 / (b2 + ...)) by the modified method of Lentz (Thompson and Barnett 1986).
fn continued_fraction(part: impl Fn(f64) -> (f64, f64)) -> f64 {
    let or_tiny = |x: f64| if x.abs() < TINY { TINY } else { x };
    let (mut value, mut c, mut d) = (TINY, TINY, 0.0);
    for i in 1..TERMS {
        let (a, b) = part(f64::from(i));
        d = 1.0 / or_tiny(b + a * d);
        c = or_tiny(b + a / c);
        value *= c * d;
        let change = (c * d - 1.0).abs();
        if change <= f64::EPSILON || change.is_nan() {
            break;
        }
    }
    value
}

/// Density of a distribution along a stretched axis, and its lower and upper tail.
struct At {
    density: f64,
    lower: f64,
    upper: f64,
}

/// The gamma distribution of scale 1 at exp(u), along u (NIST, *Digital library of mathematical functions*, 8.7, 8.9).
fn gamma(shape: f64, u: f64) -> At {
    let x = exp(u);
    let density = exp(shape * u - x - lgamma(shape));
    if x < shape + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
        while term > sum * EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let lower = density * sum;
        return At { density, lower, upper: 1.0 - lower };
    }
    let upper = density
        * continued_fraction(|i| {
            (if i == 1.0 { 1.0 } else { (i - 1.0) * (shape + 1.0 - i) }, x - shape - 1.0 + 2.0 * i)
        });
    At { density, lower: 1.0 - upper, upper }
}

/// The beta distribution at the share of odds exp(u), along u (DLMF, 8.17).
fn beta(a: f64, b: f64, u: f64) -> At {
    let (x, y) = (1.0 / (1.0 + exp(-u)), 1.0 / (1.0 + exp(u)));
    let density = exp(lgamma(a + b) - lgamma(a) - lgamma(b) - a * log1p(exp(-u)) - b * log1p(exp(u)));
    let fraction = |a: f64, b: f64, x: f64| {
        continued_fraction(|i| {
            if i == 1.0 {
                return (1.0, 1.0);
            }
            let m = ((i - 1.0) / 2.0).floor();
            let over = if i % 2.0 == 0.0 { -(a + m) * (a + b + m) } else { m * (b - m) };
            (over * x / ((a + i - 2.0) * (a + i - 1.0)), 1.0)
        })
    };
    if x * (a + b + 2.0) < a + 1.0 {
        let lower = density / a * fraction(a, b, x);
        return At { density, lower, upper: 1.0 - lower };
    }
    let upper = density / b * fraction(b, a, y);
    At { density, lower: 1.0 - upper, upper }
}

/// The place with a tail of `p`, by Newton's method for the logarithm of the tail. This is concave, so that all steps but
/// the first go towards the place and none beyond it.
fn place(of: impl Fn(f64) -> At, p: f64, upper: bool, start: f64) -> f64 {
    let tail = |at: &At| if upper { (at.upper, -at.density) } else { (at.lower, at.density) };
    let mut u = start;
    let mut at = of(u);
    for _ in 0..100 {
        let (probability, slope) = tail(&at);
        let mut step = probability / slope * log(p / probability);
        at = of(u + step);
        while tail(&at).0 <= 0.0 && step.abs() > f64::EPSILON {
            step /= 2.0;
            at = of(u + step);
        }
        u += step;
        if step.abs() <= 4.0 * f64::EPSILON * u.abs().max(1.0) {
            break;
        }
    }
    u
}

/// Value of the gamma distribution of scale 1 that has the probability `p` below it, or above it.
#[pyfunction]
pub fn quantile_gamma(shape: f64, p: f64, above: bool) -> f64 {
    exp(place(|u| gamma(shape, u), p, above, log(shape)))
}

/// Value of the beta distribution that has the probability `p` below it, or above it.
#[pyfunction]
pub fn quantile_beta(a: f64, b: f64, p: f64, above: bool) -> f64 {
    1.0 / (1.0 + exp(-place(|u| beta(a, b, u), p, above, log(a / b))))
}

/// Value of Student's t that has the probability `p`, below one half, above it: t^2 / df are odds of a beta distribution.
#[pyfunction]
pub fn quantile_t(df: f64, p: f64) -> f64 {
    (df * exp(place(|u| beta(0.5, df / 2.0, u), 2.0 * p, true, -log(df)))).sqrt()
}

/// Probability that Student's t is above `t`.
#[pyfunction]
pub fn beyond_t(t: f64, df: f64) -> f64 {
    if t == 0.0 {
        return 0.5;
    }
    let half = beta(0.5, df / 2.0, log(t * t / df)).upper / 2.0;
    if t > 0.0 { half } else { 1.0 - half }
}
