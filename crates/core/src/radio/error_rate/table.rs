//! Error rates from a table, such as those of link simulations or of measurements, in place of the published bounds.

use super::Curve;
use crate::setting::csv::{Csv, Misread, Row};
use crate::setting::foreign::Wanted;
use crate::setting::limit::LARGEST_PACKET;
use crate::setting::{Node, Scalar, Value};
use crate::unit::BitRate;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Valid ratios, those for which a [`Curve`] has values \[dB\].
const RATIOS: RangeInclusive<f64> = -12.0..=36.0;
/// MCS of one stream.
const MCS: usize = 10;

/// Error rate of frames of a length, or of bits, at a ratio of signal to noise and interference.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    mcs: u8,
    snr_db: f64,
    /// Length of the frames \[B\]; 0: the rate is that of bits.
    bytes: u32,
    error_rate: f64,
    /// Line in the text.
    line: u32,
}

/// A table of error rates: rows sorted by MCS and ratio, and a curve of each MCS that has rows.
#[derive(Clone, Debug, Default)]
pub struct ErrorRates {
    points: Arc<Vec<Point>>,
    curves: [Option<Curve>; MCS],
}

impl PartialEq for ErrorRates {
    fn eq(&self, other: &ErrorRates) -> bool {
        self.write_csv() == other.write_csv()
    }
}

impl ErrorRates {
    /// Reads the text of a CSV file with the columns `mcs`, `snr_db`, and either `frame_error_rate` with `bytes`, the
    /// length of the frames, or `bit_error_rate`.
    ///
    /// # Errors
    /// The problem and its line.
    pub fn read_csv(text: &str) -> Result<ErrorRates, Misread> {
        let csv = Csv::read(text, Wanted::ErrorRates)?;
        let (name, bytes) = match (csv.column("frame_error_rate"), csv.column("bytes"), csv.column("bit_error_rate")) {
            (Some(_), None, None) => return Err("it has no column `bytes`, the length of the frames".into()),
            (Some(_), bytes, None) => ("frame_error_rate", bytes),
            (None, None, Some(_)) => ("bit_error_rate", None),
            (None, Some(_), Some(_)) => {
                return Err("it has a column `bytes`, and bits have no length: leave the column out".into());
            }
            (Some(_), _, Some(_)) => {
                let why = "it has the columns `frame_error_rate` and `bit_error_rate`: one of them must do";
                return Err(why.into());
            }
            (None, _, None) => {
                return Err("it has neither a column `frame_error_rate` nor `bit_error_rate`".into());
            }
        };
        let point = |row: &Row<'_>| {
            let number = |column: &str, range: RangeInclusive<f64>| {
                let field = row.get(csv.column(column).unwrap_or_default());
                let number: f64 = field.parse().map_err(|_| row.misses(column))?;
                if range.contains(&number) {
                    return Ok(number);
                }
                let ((low, high), line) = (range.into_inner(), row.line);
                let why = format!("line {line} has {field} in column `{column}`, which must be from {low} to {high}");
                Err(Misread::from(why))
            };
            let whole = |column: &str, range: RangeInclusive<f64>| match number(column, range)? {
                n if n.fract() == 0.0 => Ok(n as u32),
                _ => Err(row.misses(column)),
            };
            Ok(Point {
                mcs: whole("mcs", 0.0..=9.0)? as u8,
                snr_db: number("snr_db", RATIOS)?,
                bytes: if bytes.is_some() { whole("bytes", 1.0..=f64::from(LARGEST_PACKET.0))? } else { 0 },
                error_rate: number(name, 0.0..=1.0)?,
                line: row.line as u32,
            })
        };
        let mut points = csv.rows().iter().map(point).collect::<Result<Vec<_>, Misread>>()?;
        points.sort_by(|a, b| a.mcs.cmp(&b.mcs).then(a.snr_db.total_cmp(&b.snr_db)).then(a.line.cmp(&b.line)));
        for pair in points.chunk_by(|a, b| a.mcs == b.mcs).flat_map(|of_mcs| of_mcs.windows(2)) {
            let (low, high) = (&pair[0], &pair[1]);
            let (first, second) = (low.line.min(high.line), low.line.max(high.line));
            if low.snr_db == high.snr_db {
                return Err(format!("lines {first} and {second} have the same MCS and ratio").into());
            }
            if low.bytes != high.bytes {
                let why = format!("lines {first} and {second} are of one MCS, and of frames of different lengths");
                let help = "frames of other lengths follow from one length: give that of most frames".to_owned();
                return Err(Misread { why, help: Some(help) });
            }
            if high.error_rate > low.error_rate {
                let why = format!("line {} has more errors than line {}, at a higher ratio", high.line, low.line);
                return Err(Misread { why, help: Some("smooth the rates of a measurement".to_owned()) });
            }
        }
        let curve = |mcs| {
            let of_mcs: Vec<Point> = points.iter().copied().filter(|p| usize::from(p.mcs) == mcs).collect();
            (!of_mcs.is_empty()).then(|| Curve::known(|i| ln_success(&of_mcs, i)))
        };
        Ok(ErrorRates { curves: std::array::from_fn(curve), points: Arc::new(points) })
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Curve of a rate of OFDM, that of the MCS with the same modulation and code; `None` if it has no rows, or if there
    /// is no such MCS, as for 9 Mbit/s.
    pub fn curve(&self, rate: BitRate) -> Option<Curve> {
        let mcs = match rate.0 / 1000 {
            6000 | 6500 => 0,
            12_000 | 13_000 => 1,
            18_000 | 19_500 => 2,
            24_000 | 26_000 => 3,
            36_000 | 39_000 => 4,
            48_000 | 52_000 => 5,
            54_000 | 58_500 => 6,
            65_000 => 7,
            78_000 => 8,
            86_500 => 9,
            _ => return None,
        };
        self.curves[mcs].clone()
    }

    fn write_csv(&self) -> String {
        let of_bits = self.points.first().is_some_and(|p| p.bytes == 0);
        let columns = if of_bits { "bit_error_rate" } else { "bytes,frame_error_rate" };
        let mut text = format!("mcs,snr_db,{columns}\n");
        for &Point { mcs, snr_db, bytes, error_rate, .. } in &*self.points {
            let bytes = if of_bits { String::new() } else { format!("{bytes},") };
            _ = writeln!(text, "{mcs},{snr_db},{bytes}{error_rate}");
        }
        text
    }
}

/// Natural logarithm of the probability that a bit survives, at step `i` of a curve. Between two rows the error rate is a
/// linear function of the ratio in dB; before the first and after the last row it is that of the row.
fn ln_success(points: &[Point], i: u64) -> f64 {
    let snr_db = 10.0 * libm::log10(f64::from_bits(i << super::SHIFT));
    let above = points.partition_point(|p| p.snr_db <= snr_db);
    let (low, high) = (&points[above.saturating_sub(1)], &points[above.min(points.len() - 1)]);
    let share = if high.snr_db > low.snr_db { (snr_db - low.snr_db) / (high.snr_db - low.snr_db) } else { 0.0 };
    let error_rate = low.error_rate + share * (high.error_rate - low.error_rate);
    let bits = if low.bytes == 0 { 1.0 } else { 8.0 * f64::from(low.bytes) };
    // A bit is right by chance at least.
    (libm::log1p(-error_rate) / bits).max(libm::log(0.5))
}

impl Scalar for ErrorRates {
    fn read(node: &Node) -> Result<ErrorRates, String> {
        match &node.value {
            Value::Text(t) if t.is_empty() => Ok(ErrorRates::default()),
            Value::Text(t) => ErrorRates::read_csv(t).map_err(|e| e.to_string()),
            _ => Err("expected the text of a CSV file".to_owned()),
        }
    }

    fn written(&self) -> Json {
        json!(if self.is_empty() { String::new() } else { self.write_csv() })
    }

    fn describe() -> Json {
        let description = "text of a CSV file with the columns mcs, snr_db, and bytes with frame_error_rate or \
                           bit_error_rate";
        json!({ "type": "string", "description": description })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ofdm, ln_success};
    use super::*;
    use crate::unit::Ratio;

    /// Rates of MCS 0 to 9 with one stream in 20 MHz [kbit/s].
    const RATES: [u64; MCS] = [6500, 13_000, 19_500, 26_000, 39_000, 52_000, 58_500, 65_000, 78_000, 86_500];

    fn read(text: &str) -> Result<ErrorRates, Misread> {
        ErrorRates::read_csv(text)
    }

    #[test]
    fn a_bound_written_as_a_table_is_the_bound() {
        const BYTES: f64 = 1538.0;
        for ofdm in [Ofdm::Nist, Ofdm::Yans] {
            let mut text = "mcs,snr_db,bytes,frame_error_rate\n".to_owned();
            let mut bits = "mcs,snr_db,bit_error_rate\n".to_owned();
            let bound = |kbps: u64, db: f64| ln_success(BitRate(kbps * 1000), ofdm, Ratio::db(db).0);
            for (mcs, kbps) in RATES.iter().enumerate() {
                for tenth in -60..=320 {
                    let db = f64::from(tenth) / 10.0;
                    let ln = bound(*kbps, db);
                    _ = writeln!(text, "{mcs},{db},{BYTES},{:e}", -libm::expm1(8.0 * BYTES * ln));
                    _ = writeln!(bits, "{mcs},{db},{:e}", -libm::expm1(ln));
                }
            }
            let (frames, bits) = (read(&text).expect("it is right"), read(&bits).expect("it is right"));
            assert_eq!(read(&frames.write_csv()).as_ref(), Ok(&frames));
            for kbps in RATES {
                let rate = BitRate(kbps * 1000);
                let exact = Curve::new(rate, ofdm);
                let (frames, bits) = (frames.curve(rate).expect("rows"), bits.curve(rate).expect("rows"));
                for hundredth in -590..3190 {
                    let snr = Ratio::db(f64::from(hundredth) / 100.0).0;
                    let lost = |curve: &Curve, bytes: f64| -libm::expm1(8.0 * bytes * curve.ln_success(snr));
                    for bytes in [100.0, BYTES] {
                        let (wanted, by_frames, by_bits) =
                            (lost(&exact, bytes), lost(&frames, bytes), lost(&bits, bytes));
                        let at = format!("{kbps} kbit/s, {hundredth} hundredths of a dB, {bytes} B: {wanted}");
                        assert!((by_bits - wanted).abs() < 0.006, "{at}, {by_bits}");
                        // Long frames tell little of short ones where almost all of them are lost.
                        if bytes == BYTES || lost(&exact, BYTES) < 0.9 {
                            assert!((by_frames - wanted).abs() < 0.006, "{at}, {by_frames}");
                        }
                    }
                }
                // Nine of ten frames arrive at the same ratio, to 0.02 dB.
                let least = |curve: &Curve| 10.0 * libm::log10(curve.least(8.0 * BYTES, 0.9));
                assert!((least(&frames) - least(&exact)).abs() < 0.02 && (least(&bits) - least(&exact)).abs() < 0.02);
            }
        }
    }

    #[test]
    fn rates_lie_on_lines_between_rows() {
        let table =
            read("mcs,snr_db,bytes,frame_error_rate\n3,12,1000,0\n3,10,1000,0.8\n3,11,1000,0.2\n").expect("right");
        let curve = table.curve(BitRate::mbps(26)).expect("MCS 3 has rows");
        for (db, wanted) in
            [(5.0, 0.8), (10.0, 0.8), (10.25, 0.65), (10.5, 0.5), (11.0, 0.2), (11.75, 0.05), (20.0, 0.0)]
        {
            let lost = |bytes: f64| -libm::expm1(8.0 * bytes * curve.ln_success(Ratio::db(db).0));
            // A curve has steps of 0.024 dB, which cut the corners off.
            assert!((lost(1000.0) - wanted).abs() < 3e-3, "{db} dB: {}", lost(1000.0));
            // Twice as many bits: both halves must survive.
            assert!((1.0 - lost(2000.0) - (1.0 - wanted).powi(2)).abs() < 6e-3, "{db} dB: {}", lost(2000.0));
        }
        // Frames at 24 Mbit/s have the modulation and code of MCS 3; others have no rows.
        assert!(table.curve(BitRate::mbps(24)).is_some_and(|c| c.ln_success(10.0) == curve.ln_success(10.0)));
        assert!([9, 36, 1].iter().all(|&mbps| table.curve(BitRate::mbps(mbps)).is_none()));
        // A frame is never lost for certain, because its bits may be right by chance.
        let lost = read("mcs,snr_db,bit_error_rate\n0,3,1\n").expect("right").curve(BitRate::mbps(6)).expect("MCS 0");
        assert!((lost.ln_success(1.0) - libm::log(0.5)).abs() < 1e-6);
    }

    #[test]
    fn errors_name_their_line() {
        let (frames, bits) = ("mcs,snr_db,bytes,frame_error_rate\n", "mcs,snr_db,bit_error_rate\n");
        for (text, why) in [
            ("mcs,snr_db\n0,1\n".to_owned(), "it has neither a column `frame_error_rate` nor `bit_error_rate`"),
            (
                "snr_db,bit_error_rate\n0,1\n".to_owned(),
                "it has no column `mcs`; its header is `snr_db,bit_error_rate`",
            ),
            ("mcs,snr_db,frame_error_rate\n0,1,1\n".to_owned(), "it has no column `bytes`, the length of the frames"),
            (
                "mcs,snr_db,bytes,bit_error_rate\n0,1,1,1\n".to_owned(),
                "it has a column `bytes`, and bits have no length: leave the column out",
            ),
            (
                "mcs,snr_db,bytes,bit_error_rate,frame_error_rate\n0,1,1,1,1\n".to_owned(),
                "it has the columns `frame_error_rate` and `bit_error_rate`: one of them must do",
            ),
            (format!("{bits}10,1,0.1\n"), "line 2 has 10 in column `mcs`, which must be from 0 to 9"),
            (format!("{bits}1.5,1,0.1\n"), "line 2 has nothing that fits in column `mcs`"),
            (format!("{bits}0,40,0.1\n"), "line 2 has 40 in column `snr_db`, which must be from -12 to 36"),
            (format!("{bits}0,nan,0.1\n"), "line 2 has nan in column `snr_db`, which must be from -12 to 36"),
            (format!("{bits}0,1,1.5\n"), "line 2 has 1.5 in column `bit_error_rate`, which must be from 0 to 1"),
            (format!("{bits}0,1,\n"), "line 2 has nothing that fits in column `bit_error_rate`"),
            (format!("{frames}0,1,0,1\n"), "line 2 has 0 in column `bytes`, which must be from 1 to 65535"),
            (format!("{bits}0,1,0.1\n1,1,0.2\n0,1,0.1\n"), "lines 2 and 4 have the same MCS and ratio"),
            (
                format!("{frames}0,1,100,0.2\n0,2,200,0.1\n"),
                "lines 2 and 3 are of one MCS, and of frames of different lengths",
            ),
            (format!("{bits}0,2,0.3\n0,1,0.2\n"), "line 2 has more errors than line 3, at a higher ratio"),
        ] {
            assert_eq!(read(&text).expect_err("it is wrong").why, why, "{text}");
        }
    }
}
