//! A quantity has the same value in whatever unit it is written, or is refused in each.

use chappe_core::unit::{
    BitRate, Bytes, Hertz, Joules, Memory, Meters, Quantity, SignalPower, Span, Speed, Time, Watts,
};
use proptest::prelude::*;

/// Units of a kind with the power of ten and the factor by which a number is multiplied on the way to the first one.
type Units = &'static [(&'static str, i32, i128)];

const TIMES: Units = &[("ns", 0, 1), ("us", 3, 1), ("ms", 6, 1), ("s", 9, 1), ("min", 9, 60), ("h", 9, 3600)];
const RATES: Units = &[("bit/s", 0, 1), ("kbit/s", 3, 1), ("Mbit/s", 6, 1), ("Gbit/s", 9, 1)];
const LENGTHS: Units = &[("m", 0, 1), ("km", 3, 1)];
/// 1 m/s is 3.6 km/h.
const SPEEDS: Units = &[("km/h", 0, 1), ("m/s", -1, 36)];
const POWERS: Units = &[("mW", 0, 1), ("W", 3, 1)];
const ENERGIES: Units = &[("J", 0, 1), ("kJ", 3, 1), ("Wh", 0, 3600)];
const FREQUENCIES: Units = &[("Hz", 0, 1), ("kHz", 3, 1), ("MHz", 6, 1), ("GHz", 9, 1)];
const BYTES: Units = &[
    ("B", 0, 1),
    ("kB", 3, 1),
    ("MB", 6, 1),
    ("GB", 9, 1),
    ("KiB", 0, 1 << 10),
    ("MiB", 0, 1 << 20),
    ("GiB", 0, 1 << 30),
];

/// `n` · 10^`exponent` as a text: with a point, or with an exponent.
fn written(n: i128, exponent: i32, with_point: bool) -> String {
    if !with_point || exponent > 0 {
        return format!("{n}e{exponent}");
    }
    let places = exponent.unsigned_abs() as usize;
    let digits = format!("{:0>width$}", n.unsigned_abs(), width = places + 1);
    let (whole, part) = digits.split_at(digits.len() - places);
    format!("{}{whole}.{part}", if n < 0 { "-" } else { "" })
}

/// Reads a number in a unit, and in the first one, into which it is converted here; both as `read` gives them.
fn read_twice<Q: Quantity>(units: Units, unit: usize, n: i128, exponent: i32, point: bool) -> [Option<Q>; 2] {
    let (name, tens, factor) = units[unit];
    let in_it = format!("{} {name}", written(n, exponent, point));
    let in_first = format!("{} {}", written(n * factor, exponent + tens, point), units[0].0);
    [Q::parse(&in_it), Q::parse(&in_first)]
}

fn same<Q: Quantity + PartialEq + std::fmt::Debug>(
    units: Units,
    unit: usize,
    (n, exponent, point): (i128, i32, bool),
) -> Result<(), TestCaseError> {
    let [a, b] = read_twice::<Q>(units, unit % units.len(), n, exponent, point);
    prop_assert_eq!(a, b, "{} in {}", written(n, exponent, point), units[unit % units.len()].0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn every_unit_gives_the_same_value(
        n in prop_oneof![-9i128..9_000, -1_000_000_000_000i128..1_000_000_000_000_000_000],
        exponent in -18i32..7,
        point in any::<bool>(),
        unit in 0usize..64,
    ) {
        let number = (n, exponent, point);
        same::<Span>(TIMES, unit, number)?;
        same::<Time>(TIMES, unit, number)?;
        same::<BitRate>(RATES, unit, number)?;
        same::<Meters>(LENGTHS, unit, number)?;
        same::<Speed>(SPEEDS, unit, number)?;
        same::<Watts>(POWERS, unit, number)?;
        same::<SignalPower>(POWERS, unit, number)?;
        same::<Joules>(ENERGIES, unit, number)?;
        same::<Hertz>(FREQUENCIES, unit, number)?;
        same::<Bytes>(BYTES, unit, number)?;
        same::<Memory>(BYTES, unit, number)?;
    }

    /// A level in dBW is 30 less than in dBm.
    #[test]
    fn levels_are_the_same_in_both_units(n in -3_000_000i128..3_000_000, places in 0i32..7, point in any::<bool>()) {
        let exponent = -places;
        let lower = n - 30 * 10i128.pow(places as u32);
        let dbm = SignalPower::parse(&format!("{} dBm", written(n, exponent, point)));
        let dbw = SignalPower::parse(&format!("{} dBW", written(lower, exponent, point)));
        prop_assert_eq!(dbm, dbw);
        prop_assert!(dbm.is_some());
    }

    /// Whole numbers of bytes are accepted in every unit as programs write them, with 17 digits.
    #[test]
    fn whole_numbers_of_bytes_are_read(bytes in 0u32..=u32::MAX) {
        for (unit, tens, factor) in BYTES {
            let number = f64::from(bytes) / (*factor as f64 * 10f64.powi(*tens));
            prop_assert_eq!(Bytes::parse(&format!("{number} {unit}")), Some(Bytes(bytes)), "{} {}", number, unit);
        }
    }
}

/// Powers of ten are the same number of watts in dBm.
#[test]
fn whole_levels_are_powers_of_ten() {
    for tens in -18..12 {
        let watts = Watts::parse(&format!("1e{tens} W"));
        assert_eq!(Watts::parse(&format!("{} dBm", 10 * tens + 30)), watts, "{tens}");
    }
}

/// The nearest binary64 number to what is written, which Rust reads from a decimal text without a unit.
#[test]
fn conversions_are_rounded_once() {
    for (text, meters) in [("0.3 km", "300"), ("0.0823 km", "82.3"), ("1.0051 km", "1005.1"), ("4.35 km", "4350")] {
        assert_eq!(Meters::parse(text), Some(Meters(meters.parse().unwrap())), "{text}");
    }
    assert_eq!(Hertz::parse("2.437 GHz"), Some(Hertz(2_437_000_000.0)));
    assert_eq!(Watts::parse("281.8 mW"), Some(Watts(0.2818)));
    assert_eq!(Span::parse("9007199254.740993 s"), None);
    assert_eq!(Span::parse("9007199.254740993 s"), Some(Span(9_007_199_254_740_993)));
    assert_eq!(BitRate::parse("9007199254.740993 Mbit/s"), Some(BitRate(9_007_199_254_740_993)));
}
