//! Decimal numbers as they are written, converted between units without a rounding.
//!
//! A number that is rounded before it is multiplied gives 0.3 km = 299.99999999999994 m: every conversion is computed
//! from the digits, and rounded once.

use std::fmt::Write as _;

/// Digits of a quotient that does not end: more than any binary64 number needs for correct rounding but in ties, which
/// a last digit of 1 breaks.
const QUOTIENT: usize = 40;

/// A decimal number: `digits` · 10^`exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// From the first that is not 0; empty for 0.
    digits: Vec<u8>,
    exponent: i64,
}

/// Ratio of two units: `times` / `over` · 10^`tens`.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    /// Multiplier, at most 2^40.
    pub times: u64,
    /// Divisor, from 1 on, at most 2^50.
    pub over: u64,
    /// Power of ten.
    pub tens: i64,
}

/// Exponents beyond this one make a number zero or infinite, however many digits it has.
const FAR: i64 = 1_000_000_000;

impl Factor {
    /// A power of ten.
    pub const fn ten_to(tens: i64) -> Factor {
        Factor { times: 1, over: 1, tens }
    }

    /// A whole number.
    pub const fn of(times: u64) -> Factor {
        Factor { times, over: 1, tens: 0 }
    }
}

impl Decimal {
    /// Reads a number such as `-1_500.25e-3`; `None` if it is none, or beyond the range of binary64.
    pub fn parse(text: &str) -> Option<Decimal> {
        let text = text.replace('_', "");
        text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        let negative = text.starts_with('-');
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, part) = number.trim_start_matches(['+', '-']).split_once('.').unwrap_or((number, ""));
        let whole = whole.trim_start_matches(['+', '-']);
        let digits = whole.bytes().chain(part.bytes()).map(|c| c - b'0').collect();
        let far = if exponent.starts_with('-') { -FAR } else { FAR };
        let exponent = exponent.parse::<i64>().unwrap_or(far).clamp(-FAR, FAR);
        Some(Decimal::new(negative, digits, exponent - part.len() as i64))
    }

    /// The number 1.
    pub fn one() -> Decimal {
        Decimal { negative: false, digits: vec![1], exponent: 0 }
    }

    fn new(negative: bool, mut digits: Vec<u8>, exponent: i64) -> Decimal {
        let zeros = digits.iter().take_while(|&&d| d == 0).count();
        digits.drain(..zeros);
        Decimal { negative, digits, exponent }
    }

    /// Returns true if it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative && !self.digits.is_empty()
    }

    /// The product with a factor.
    pub fn times(&self, factor: Factor) -> Decimal {
        let mut digits = Vec::with_capacity(self.digits.len() + 20);
        let mut carry = 0;
        for &d in self.digits.iter().rev() {
            carry += u64::from(d) * factor.times;
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        digits.reverse();
        let mut exponent = self.exponent + factor.tens;
        if factor.over > 1 {
            digits.extend([0; QUOTIENT]);
            exponent -= QUOTIENT as i64;
            let mut rest = 0;
            for d in &mut digits {
                rest = 10 * rest + u64::from(*d);
                *d = (rest / factor.over) as u8;
                rest %= factor.over;
            }
            if rest > 0 {
                digits.push(1);
                exponent -= 1;
            }
        }
        Decimal::new(self.negative, digits, exponent)
    }

    /// The sum with a whole number.
    pub fn plus(&self, n: i64) -> Decimal {
        // Numbers of decibels are short; others lose nothing that could be heard.
        let short = self.digits.len() <= 30 && (-30..=6).contains(&self.exponent);
        if !short {
            return Decimal::parse(&format!("{}", self.to_f64() + n as f64)).unwrap_or_else(|| self.clone());
        }
        let places = self.exponent.min(0);
        let scaled = |n: i128, tens: i64| n * 10_i128.pow(tens as u32);
        let mut sum = self.digits.iter().fold(0, |n: i128, &d| 10 * n + i128::from(d));
        sum = scaled(if self.negative { -sum } else { sum }, self.exponent - places) + scaled(n.into(), -places);
        Decimal::new(sum < 0, sum.unsigned_abs().to_string().bytes().map(|c| c - b'0').collect(), places)
    }

    /// The nearest binary64 number; infinite beyond its range.
    pub fn to_f64(&self) -> f64 {
        let mut text = String::with_capacity(self.digits.len() + 8);
        text.push_str(if self.negative { "-0" } else { "0" });
        text.extend(self.digits.iter().map(|d| char::from(b'0' + d)));
        _ = write!(text, "e{}", self.exponent.clamp(-100_000, 100_000));
        text.parse().unwrap_or(f64::NAN)
    }

    /// The nearest whole number, halves away from 0; `None` below 0, and where it does not fit.
    pub fn whole(&self) -> Option<u64> {
        let (whole, half_or_more) = self.parts()?;
        let whole = whole + u64::from(half_or_more);
        (whole == 0 || !self.negative).then_some(whole)
    }

    /// The whole number that it is, but for the rounding of a binary64 number; `None` for others.
    pub fn whole_only(&self) -> Option<u64> {
        let whole = self.whole()?;
        // Whole numbers of bytes in gibibytes have up to 30 decimals: programs write 17 digits.
        let near = Decimal::parse(&whole.to_string())?.is_near(self);
        near.then_some(whole)
    }

    /// Returns true if another number is this one, to 16 significant digits.
    fn is_near(&self, other: &Decimal) -> bool {
        let (a, b) = (self.to_f64(), other.to_f64());
        (a - b).abs() <= a * f64::EPSILON
    }

    /// The whole part, and if what follows is a half or more; `None` if it does not fit.
    fn parts(&self) -> Option<(u64, bool)> {
        let places = self.digits.len() as i64 + self.exponent;
        if self.digits.is_empty() || places < 0 {
            return Some((0, false));
        }
        if places > 20 {
            return None;
        }
        let at = |i: i64| self.digits.get(i as usize).copied().unwrap_or(0);
        let whole = (0..places).try_fold(0_u64, |n, i| n.checked_mul(10)?.checked_add(at(i).into()))?;
        Some((whole, at(places) >= 5)).filter(|(whole, _)| *whole < LARGEST)
    }
}

/// Whole numbers are below this.
const LARGEST: u64 = 9_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_converted_without_a_rounding() {
        let times = |text: &str, factor| Decimal::parse(text).unwrap().times(factor);
        assert_eq!(times("0.3", Factor::ten_to(3)).to_f64(), 300.0);
        assert_eq!(times("-1_000.5e-3", Factor::ten_to(3)).to_f64(), -1000.5);
        assert_eq!(times("36", Factor { times: 5, over: 18, tens: 0 }).to_f64(), 10.0);
        assert_eq!(times("1", Factor { times: 1, over: 3, tens: 0 }).to_f64(), 1.0 / 3.0);
        assert_eq!(times("4503599627370497.5", Factor::of(2)).whole(), Some(9_007_199_254_740_995));
        assert_eq!(times("1e300", Factor::ten_to(100)).to_f64(), f64::INFINITY);
        assert_eq!(Decimal::parse("-65.3").unwrap().plus(30).to_f64(), -35.3);
        assert_eq!(Decimal::parse("-30").unwrap().plus(30).to_f64(), 0.0);
        assert_eq!(Decimal::parse("1e400"), None);
        assert_eq!(Decimal::parse("1 2"), None);
    }

    #[test]
    fn whole_numbers_are_rounded_once() {
        let whole = |text: &str| Decimal::parse(text).unwrap().whole();
        let cases =
            [("0.4999999999999999999", 0), ("0.5", 1), ("1.5", 2), ("1e18", 10_u64.pow(18)), ("0", 0), ("-0.4", 0)];
        for (text, expected) in cases {
            assert_eq!(whole(text), Some(expected), "{text}");
        }
        assert_eq!(["-0.5", "9e18", "1e30"].map(whole), [None; 3]);
        assert_eq!(whole("8999999999999999999"), Some(8_999_999_999_999_999_999));
    }
}
