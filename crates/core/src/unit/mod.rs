//! Physical quantities as types: time, rates, lengths, powers, byte counts.
//!
//! Every quantity is read from text with its unit (`"2 Mbit/s"`, `"20 us"`, `"250 m"`) and printed so that reading
//! it back gives the same value. Instants and durations are whole nanoseconds, so that a run is the same on every
//! platform.

mod decimal;

use decimal::{Decimal, Factor};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Time(pub u64);

/// A duration \[ns\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Span(pub u64);

/// A bit rate [bit/s].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct BitRate(pub u64);

/// A length \[m\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Meters(pub f64);

/// A speed \[m/s\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Speed(pub f64);

/// A power that is consumed \[W\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Watts(pub f64);

/// A power that is radiated or received \[W\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct SignalPower(pub f64);

/// An energy \[J\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Joules(pub f64);

/// A power ratio, linear (10 dB = 10).
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Ratio(pub f64);

/// A frequency \[Hz\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Hertz(pub f64);

/// A position in the plane \[m\], written as `["200 m", "0 m"]`.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Position {
    /// Coordinate to the right.
    pub x: f64,
    /// Coordinate upwards.
    pub y: f64,
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Bytes(pub u32);

/// A size of memory \[B\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Memory(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Deadline of an idle actor, later than every instant of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start of the run, for results and messages.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The duration since `earlier`, zero when `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero duration.
    pub const ZERO: Span = Span(0);

    /// `n` microseconds.
    pub const fn us(n: u64) -> Span {
        Span(n * 1_000)
    }

    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// `n` seconds.
    pub const fn secs(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// The nearest whole number of nanoseconds; negative or not a number gives zero.
    pub fn from_secs(s: f64) -> Span {
        Span((s * 1e9).round() as u64)
    }

    /// Duration in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Rounded to the nearest whole microsecond, halves up.
    pub const fn nearest_us(self) -> Span {
        Span((self.0 + 500) / 1_000 * 1_000)
    }

    /// Rounded up to a whole microsecond.
    pub const fn ceil_us(self) -> Span {
        Span(self.0.div_ceil(1_000) * 1_000)
    }
}

impl BitRate {
    /// `n` Mbit/s.
    pub const fn mbps(n: u64) -> BitRate {
        BitRate(n * 1_000_000)
    }

    /// Time on air of a number of bytes, to the nearest nanosecond.
    ///
    /// ```
    /// use chappe_core::unit::{BitRate, Span};
    /// assert_eq!(BitRate::mbps(2).airtime(1500), Span::us(6000));
    /// ```
    pub const fn airtime(self, bytes: u32) -> Span {
        let bits = bytes as u64 * 8;
        Span((bits * 1_000_000_000 + self.0 / 2) / self.0)
    }
}

impl Meters {
    /// Propagation time over this length at the speed of light in ns-2, 3e8 m/s.
    pub fn light_delay(self) -> Span {
        Span(self.rounded_light_delay() as u64)
    }

    /// Propagation time \[ns\] plus one half: rounding down gives the nearest integer.
    #[inline]
    pub fn rounded_light_delay(self) -> f64 {
        // Rounds to the nearest; `round` would be a library call on processors without such an instruction.
        self.0 / 0.3 + 0.5
    }
}

impl Position {
    /// Square of the distance to another position \[m²\].
    #[inline]
    pub fn squared_distance(self, other: Position) -> f64 {
        let (x, y) = (self.x - other.x, self.y - other.y);
        x * x + y * y
    }

    /// Distance to another position.
    #[inline]
    pub fn distance(self, other: Position) -> Meters {
        Meters(self.squared_distance(other).sqrt())
    }
}

impl Ratio {
    /// Ratio from decibels.
    pub fn db(db: f64) -> Ratio {
        Ratio(libm::pow(10.0, db / 10.0))
    }
}

impl SignalPower {
    /// Power from dBm.
    pub fn dbm(dbm: f64) -> SignalPower {
        // Whole powers of ten are those that are written in watts; others have no end.
        if dbm % 10.0 == 0.0 && dbm.abs() < 1000.0 {
            let power = finite(&Decimal::one(), Factor::ten_to((dbm / 10.0) as i64 - 3));
            return SignalPower(power.expect("it is in range"));
        }
        SignalPower(Ratio::db(dbm).0 * 1e-3)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, s: Span) -> Time {
        Time(self.0 + s.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, s: Span) {
        *self = *self + s;
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, s: Span) -> Span {
        Span(self.0 + s.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, s: Span) {
        *self = *self + s;
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, s: Span) -> Span {
        Span(self.0.saturating_sub(s.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

/// A quantity written as a number and a unit.
pub trait Quantity: Sized {
    /// Expected form in error messages, e.g. `a duration such as "20 us"`.
    const EXPECTED: &'static str;

    /// Converts a number and a unit; `None` for a unit of another quantity or a value out of range. A quantity has the
    /// same value in whatever unit it is written.
    fn from_parts(number: &Decimal, unit: &str) -> Option<Self>;

    /// Units as they are written.
    const UNITS: &'static [&'static str];

    /// Advice on a number without a unit.
    fn without_unit(_number: f64) -> String {
        format!("expected {}", Self::EXPECTED)
    }

    /// Reads `"<number> <unit>"`; the space may be left out.
    fn parse(text: &str) -> Option<Self> {
        let (written, unit) = split(text);
        Self::from_parts(&Decimal::parse(written)?, unit)
    }

    /// Range of a quantity that was written with a minus and cannot be negative: "0 or more", or "above 0".
    fn raised(text: &str) -> Option<&'static str> {
        let (written, unit) = split(text);
        Self::parse(&format!("{} {unit}", written.strip_prefix('-')?))?;
        Some(if Self::parse(&format!("0 {unit}")).is_some() { "0 or more" } else { "above 0" })
    }

    /// Correction of a text whose unit is misspelled.
    fn meant(text: &str) -> Option<String> {
        let (written, unit) = split(text);
        let alias = |u: &str| ALIASES.iter().any(|(known, others)| *known == u && others.contains(&unit));
        // Capital M means mega, small m milli.
        let same = |u: &str| u.eq_ignore_ascii_case(unit) && !(unit.starts_with('M') && u.starts_with('m'));
        let meant_unit = Self::UNITS.iter().find(|u| alias(u) || same(u))?;
        let meant = format!("{written} {meant_unit}");
        Self::parse(&meant).map(|_| meant)
    }
}

/// Other spellings of units.
const ALIASES: &[(&str, &[&str])] = &[
    ("bit/s", &["bps", "b/s", "bits/s", "bit/sec"]),
    ("kbit/s", &["kbps", "Kbps", "kb/s", "Kb/s", "kbits/s", "Kbits/s"]),
    ("Mbit/s", &["Mbps", "mbps", "MBPS", "Mb/s", "mb/s", "Mbits/s", "mbits/s"]),
    ("Gbit/s", &["Gbps", "gbps", "Gb/s", "gb/s", "Gbits/s"]),
    ("ns", &["nsec", "nanosecond", "nanoseconds"]),
    ("us", &["usec", "microsecond", "microseconds", "\u{3bc}s"]),
    ("ms", &["msec", "millisecond", "milliseconds"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("m", &["meter", "meters", "meter", "meters"]),
    ("km", &["kilometer", "kilometers", "kilometre", "kilometres"]),
    ("B", &["byte", "bytes", "Byte", "Bytes", "octets"]),
    ("kB", &["kilobyte", "kilobytes"]),
    ("MB", &["megabyte", "megabytes"]),
    ("GB", &["gigabyte", "gigabytes"]),
    ("KiB", &["Ki", "kibibyte", "kibibytes"]),
    ("MiB", &["Mi", "mebibyte", "mebibytes"]),
    ("GiB", &["Gi", "gibibyte", "gibibytes"]),
    ("m/s", &["mps", "m/sec", "ms-1"]),
    ("km/h", &["kmh", "kph", "km/hr"]),
    ("W", &["watt", "watts", "Watt"]),
];

/// Splits a text into a number and a unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_');
    let mut end = text.find(|c: char| !digits(c)).unwrap_or(text.len());
    // An exponent belongs to the number: "1.559e-11 W".
    let rest = &text[end..];
    if let Some(exp) = rest.strip_prefix(['e', 'E']) {
        let len = exp.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+').unwrap_or(exp.len());
        if exp[..len].parse::<i32>().is_ok() {
            end += 1 + len;
        }
    }
    (&text[..end], text[end..].trim())
}

/// The nearest number to a product, if it is finite.
fn finite(number: &Decimal, factor: Factor) -> Option<f64> {
    Some(number.times(factor).to_f64()).filter(|v| v.is_finite())
}

/// Shortest number near `near` that `gives` the value.
fn decibels(near: f64, gives: impl Fn(f64) -> bool) -> Option<f64> {
    if !near.is_finite() {
        return None;
    }
    let rounded = (0..=17).map(|decimals| number_with(near, decimals));
    // The logarithm may be off by a rounding.
    rounded.chain([near.next_up(), near.next_down()]).find(|&db| gives(db))
}

/// A number rounded to this many decimals, without a minus in front of 0.
fn number_with(number: f64, decimals: usize) -> f64 {
    format!("{number:.decimals$}").parse().unwrap_or(number) + 0.0
}

/// Number of significant digits of a number with a unit.
fn significant_digits(text: &str) -> usize {
    let (number, _) = split(text);
    let digits: String = number.split('e').next().unwrap_or("").chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

const TIMES: &[&str] = &["ns", "us", "ms", "s", "min", "h"];

fn span_ns(number: &Decimal, unit: &str) -> Option<u64> {
    let ns = match unit {
        "ns" => Factor::of(1),
        "us" | "µs" => Factor::ten_to(3),
        "ms" => Factor::ten_to(6),
        "s" => Factor::ten_to(9),
        "min" => Factor { times: 60, over: 1, tens: 9 },
        "h" => Factor { times: 3600, over: 1, tens: 9 },
        _ => return None,
    };
    number.times(ns).whole()
}

fn print_ns(ns: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ns {
        0 => write!(f, "0 s"),
        n if n % 1_000_000_000 == 0 => write!(f, "{} s", n / 1_000_000_000),
        n if n % 1_000_000 == 0 => write!(f, "{} ms", n / 1_000_000),
        n if n % 1_000 == 0 => write!(f, "{} us", n / 1_000),
        n => write!(f, "{n} ns"),
    }
}

impl Quantity for Span {
    const UNITS: &'static [&'static str] = TIMES;
    const EXPECTED: &'static str = "a duration such as \"20 us\", \"100 ms\" or \"1.5 s\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Span> {
        span_ns(number, unit).map(Span)
    }
}

impl Quantity for Time {
    const UNITS: &'static [&'static str] = TIMES;
    const EXPECTED: &'static str = "a point in time such as \"1 s\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Time> {
        span_ns(number, unit).map(Time)
    }
}

impl Quantity for BitRate {
    const UNITS: &'static [&'static str] = &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"];
    const EXPECTED: &'static str = "a bit rate such as \"2 Mbit/s\" or \"64 kbit/s\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<BitRate> {
        let tens = match unit {
            "bit/s" => 0,
            "kbit/s" => 3,
            "Mbit/s" => 6,
            "Gbit/s" => 9,
            _ => return None,
        };
        number.times(Factor::ten_to(tens)).whole().filter(|&v| v > 0).map(BitRate)
    }
}

impl Quantity for Meters {
    const UNITS: &'static [&'static str] = &["m", "km"];
    const EXPECTED: &'static str = "a length such as \"200 m\" or \"1.5 km\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Meters> {
        let tens = match unit {
            "m" => 0,
            "km" => 3,
            _ => return None,
        };
        finite(number, Factor::ten_to(tens)).map(Meters)
    }
}

impl Quantity for Speed {
    const UNITS: &'static [&'static str] = &["m/s", "km/h"];
    const EXPECTED: &'static str = "a speed such as \"10 m/s\" or \"36 km/h\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Speed> {
        let factor = match unit {
            "m/s" => Factor::of(1),
            "km/h" => Factor { times: 5, over: 18, tens: 0 },
            _ => return None,
        };
        finite(number, factor).filter(|&v| v >= 0.0).map(Speed)
    }
}

impl Quantity for Watts {
    const UNITS: &'static [&'static str] = &["W", "mW", "dBm", "dBW"];
    const EXPECTED: &'static str = "a power such as \"1.65 W\" or \"900 mW\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Watts> {
        let linear = |tens| finite(number, Factor::ten_to(tens)).filter(|&v| v >= 0.0).map(Watts);
        match unit {
            "W" => linear(0),
            "mW" => linear(-3),
            "dBm" => Some(Watts(SignalPower::dbm(number.to_f64()).0)),
            "dBW" => Some(Watts(SignalPower::dbm(number.plus(30).to_f64()).0)),
            _ => None,
        }
    }
}

impl Quantity for SignalPower {
    const UNITS: &'static [&'static str] = Watts::UNITS;
    const EXPECTED: &'static str = "a signal power such as \"24.5 dBm\", \"281.8 mW\" or \"3.652e-10 W\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<SignalPower> {
        Watts::from_parts(number, unit).map(|w| SignalPower(w.0))
    }
}

impl Quantity for Joules {
    const UNITS: &'static [&'static str] = &["J", "kJ", "Wh"];
    const EXPECTED: &'static str = "an energy such as \"200 J\" or \"5 Wh\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Joules> {
        let factor = match unit {
            "J" => Factor::of(1),
            "kJ" => Factor::ten_to(3),
            "Wh" => Factor::of(3600),
            _ => return None,
        };
        finite(number, factor).filter(|&v| v >= 0.0).map(Joules)
    }
}

impl Quantity for Ratio {
    const UNITS: &'static [&'static str] = &["dB"];
    const EXPECTED: &'static str = "a power ratio such as \"10 dB\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Ratio> {
        match unit {
            "dB" => Some(Ratio::db(number.to_f64())),
            _ => None,
        }
    }
    fn without_unit(number: f64) -> String {
        let decibels = format!("write \"{number} dB\"");
        if number > 0.0 {
            format!("{decibels}, or \"{} dB\" for a factor of {number}", number_with(10.0 * libm::log10(number), 4))
        } else {
            decibels
        }
    }
}

impl Quantity for Hertz {
    const UNITS: &'static [&'static str] = &["Hz", "kHz", "MHz", "GHz"];
    const EXPECTED: &'static str = "a frequency such as \"914 MHz\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Hertz> {
        let tens = match unit {
            "Hz" => 0,
            "kHz" => 3,
            "MHz" => 6,
            "GHz" => 9,
            _ => return None,
        };
        finite(number, Factor::ten_to(tens)).filter(|&v| v > 0.0).map(Hertz)
    }
}

impl Quantity for Bytes {
    const UNITS: &'static [&'static str] = &["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"];
    const EXPECTED: &'static str = "a number of bytes such as \"1460 B\", \"20 kB\" or \"64 KiB\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Bytes> {
        // Whole numbers of bytes only: 1.001 MB is 1,001,000 B.
        number.times(bytes_in(unit)?).whole_only().and_then(|v| u32::try_from(v).ok()).map(Bytes)
    }
}

impl Quantity for Memory {
    const UNITS: &'static [&'static str] = &["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
    const EXPECTED: &'static str = "a size of memory such as \"4 GB\" or \"500 MB\"";
    fn from_parts(number: &Decimal, unit: &str) -> Option<Memory> {
        number.times(bytes_in(unit)?).whole().map(Memory)
    }
}

/// Bytes in a unit: powers of 1000 (SI), or of 1024 (IEC 80000-13).
fn bytes_in(unit: &str) -> Option<Factor> {
    Some(match unit {
        "B" => Factor::of(1),
        "kB" => Factor::ten_to(3),
        "MB" => Factor::ten_to(6),
        "GB" => Factor::ten_to(9),
        "TB" => Factor::ten_to(12),
        "KiB" => Factor::of(1 << 10),
        "MiB" => Factor::of(1 << 20),
        "GiB" => Factor::of(1 << 30),
        "TiB" => Factor::of(1 << 40),
        _ => return None,
    })
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_ns(self.0, f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_ns(self.0, f)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b if b % 1_000_000 == 0 => write!(f, "{} Mbit/s", b / 1_000_000),
            b if b >= 1_000_000 && b % 100_000 == 0 => write!(f, "{} Mbit/s", b as f64 / 1e6),
            b if b % 1_000 == 0 => write!(f, "{} kbit/s", b / 1_000),
            b => write!(f, "{b} bit/s"),
        }
    }
}

impl fmt::Display for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s", self.0)
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0 == 0.0 || (1e-3..=1e6).contains(&self.0);
        if plain { write!(f, "{} W", self.0) } else { write!(f, "{:e} W", self.0) }
    }
}

impl fmt::Display for SignalPower {
    /// Writes dBm, unless the number of watts is shorter: powers of ns-2 are whole numbers of other units.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watts = Watts(self.0).to_string();
        let dbm = decibels(30.0 + 10.0 * libm::log10(self.0), |dbm| SignalPower::dbm(dbm).0 == self.0);
        match dbm.map(|dbm| format!("{dbm} dBm")) {
            Some(dbm) if significant_digits(&dbm) <= significant_digits(&watts) => f.write_str(&dbm),
            _ => f.write_str(&watts),
        }
    }
}

impl fmt::Display for Joules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} J", self.0)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let db = 10.0 * libm::log10(self.0);
        write!(f, "{} dB", decibels(db, |db| Ratio::db(db).0 == self.0).unwrap_or(db))
    }
}

impl fmt::Display for Hertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            h if h % 1e9 == 0.0 => write!(f, "{} GHz", h / 1e9),
            h if h % 1e6 == 0.0 => write!(f, "{} MHz", h / 1e6),
            h => write!(f, "{h} Hz"),
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0 B"),
            b if b % 1_000_000_000 == 0 => write!(f, "{} GB", b / 1_000_000_000),
            b if b % 1_000_000 == 0 => write!(f, "{} MB", b / 1_000_000),
            b if b % 1_000 == 0 => write!(f, "{} kB", b / 1_000),
            b => write!(f, "{b} B"),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(Span::parse("20 us"), Some(Span::us(20)));
        assert_eq!(Span::parse("1.5s"), Some(Span::ms(1500)));
        assert_eq!(Meters::parse("0.3 km"), Some(Meters(300.0)));
        assert_eq!(Span::parse("-1 s"), None);
        assert_eq!(Span::parse("nan s"), None);
        assert_eq!(Span::parse("20"), None);
        assert_eq!(BitRate::parse("5.5 Mbit/s"), Some(BitRate(5_500_000)));
        assert_eq!(BitRate::parse("0 bit/s"), None);
        assert_eq!(Watts::parse("3.652e-10 W"), Some(Watts(3.652e-10)));
        assert_eq!(Bytes::parse("1460 B"), Some(Bytes(1460)));
        assert_eq!(Bytes::parse("0.5 B"), None);
        assert_eq!(Bytes::parse("1.5 kB"), Some(Bytes(1_500)));
        assert_eq!(Bytes::parse("1.001 MB"), Some(Bytes(1_001_000)));
        assert_eq!(Bytes::parse("1.0000001 MB"), None);
        assert_eq!(Bytes::parse("4GB"), Some(Bytes(4_000_000_000)));
        assert_eq!(Bytes::parse("5 GB"), None);
        assert_eq!(Bytes::parse("64 KiB"), Some(Bytes(65_536)));
        assert_eq!(Bytes::parse("0.5 MiB"), Some(Bytes(524_288)));
        assert_eq!(Bytes::parse("3 GiB"), Some(Bytes(3_221_225_472)));
        assert_eq!(Bytes::parse("64 KiB").map(|b| b.to_string()), Some("65536 B".to_owned()));
        assert_eq!(Memory::parse("2 TiB"), Some(Memory(2_199_023_255_552)));
        assert_eq!(Memory::parse("1.5 GB"), Some(Memory(1_500_000_000)));
        assert_eq!(Joules::parse("5 Wh"), Some(Joules(18_000.0)));
        assert!((Watts::parse("24.5 dBm").unwrap().0 - 0.281838).abs() < 1e-6);
        assert_eq!(Ratio::parse("10 dB"), Some(Ratio(10.0)));
        assert_eq!(Hertz::parse("914 MHz"), Some(Hertz(914e6)));
        assert_eq!(Speed::parse("36 km/h"), Some(Speed(10.0)));
        assert_eq!(Speed::parse("-1 m/s"), None);
    }

    #[test]
    fn printing_and_reading_back_gives_the_same_value() {
        for s in [0, 1, 999, 1_000, 20_000, 364_000, 1_500_000_000, 3_600_000_000_000, 123_456_789] {
            assert_eq!(Span::parse(&Span(s).to_string()), Some(Span(s)));
        }
        for w in [0.281_838_15, 3.652e-10, 1.559e-11, 0.5, 0.0, 1e97, 1.5e6] {
            assert_eq!(Watts::parse(&Watts(w).to_string()), Some(Watts(w)));
        }
        for text in
            ["24.5 dBm", "20 dBm", "0 dBm", "-62 dBm", "-95.25 dBm", "3.652e-10 W", "0.28183815 W", "0 W", "2 W"]
        {
            let power = SignalPower::parse(text).unwrap();
            assert_eq!((power.to_string().as_str(), SignalPower::parse(&power.to_string())), (text, Some(power)));
        }
        for text in ["7 dB", "0 dB", "-10 dB", "3.0103 dB", "12.345678901234 dB", "300 dB", "-0.1 dB"] {
            let ratio = Ratio::parse(text).unwrap();
            assert_eq!((ratio.to_string().as_str(), Ratio::parse(&ratio.to_string())), (text, Some(ratio)));
        }
        for b in [0, 1, 1_000, 1_001, 4_000_000_000, 1_500_000_000] {
            assert_eq!(Memory::parse(&Memory(b).to_string()), Some(Memory(b)));
        }
        for b in [1, 64_000, 2_000_000, 5_500_000, 11_000_000, 1_234_567] {
            assert_eq!(BitRate::parse(&BitRate(b).to_string()), Some(BitRate(b)));
        }
    }

    #[test]
    fn every_number_of_decibels_is_read_back() {
        let mut rng = Stream::new(1, Purpose::Topology, 0);
        for _ in 0..20_000 {
            let db = 200.0 * rng.uniform() - 100.0;
            let (ratio, power) = (Ratio::db(db), SignalPower::dbm(db));
            assert!(ratio.to_string().ends_with(" dB"), "{db}");
            assert_eq!(Ratio::parse(&ratio.to_string()), Some(ratio), "{db}");
            assert_eq!(SignalPower::parse(&power.to_string()), Some(power), "{db}");
        }
    }

    #[test]
    fn a_ratio_without_a_unit_may_be_decibels_or_a_factor() {
        assert_eq!(Ratio::parse("2"), None);
        assert_eq!(Ratio::without_unit(2.0), "write \"2 dB\", or \"3.0103 dB\" for a factor of 2");
        assert_eq!(Ratio::without_unit(-3.5), "write \"-3.5 dB\"");
    }

    #[test]
    fn airtimes_of_the_dsss_phy() {
        assert_eq!(BitRate::mbps(1).airtime(20), Span::us(160));
        assert_eq!(BitRate(5_500_000).airtime(1534), Span(2_231_273));
    }

    #[test]
    fn light_takes_two_thirds_of_a_microsecond_over_200_m() {
        assert_eq!(Meters(200.0).light_delay(), Span(667));
    }
}
