//! Measured links: received power between pairs of nodes from a table instead of a propagation model.

use crate::rng::{Purpose, Stream};
use crate::setting::csv::{Csv, Misread, Row};
use crate::setting::foreign::Wanted;
use crate::setting::{Node, Scalar, Value};
use crate::unit::{BitRate, Ratio};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Measurement of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gain {
    /// Received power \[dBm\].
    Signal(f64),
    /// Path loss from antenna to antenna \[dB\].
    Loss(f64),
}

/// Valid received powers: from far below any noise to the strongest transmitter \[dBm\].
const SIGNALS: RangeInclusive<f64> = -250.0..=90.0;
/// Valid path losses: a path never gains \[dB\].
const LOSSES: RangeInclusive<f64> = 0.0..=400.0;

/// Valid standard deviations of received powers \[dB\].
const DEVIATIONS: RangeInclusive<f64> = 0.0..=30.0;
/// Valid shares of frames.
const SHARES: RangeInclusive<f64> = 0.0..=1.0;
/// Valid bit rates \[bit/s\].
const RATES: RangeInclusive<f64> = 1.0..=1e12;
/// Truncation of the distribution of deviations, in standard deviations.
const FARTHEST: f64 = 4.0;

/// Share of frames that a link loses while nothing else is on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameLoss {
    /// Lost frames per frame sent.
    pub share: f64,
    /// Rate of these frames; `None`: that of broadcasts.
    pub rate: Option<BitRate>,
}

/// Measurements of a link by a station, to be compared with the model; no run depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Survey {
    /// Bit rate of data frames \[bit/s\].
    pub bitrate: Option<f64>,
    /// Repeated attempts per attempt.
    pub retries: Option<f64>,
    /// Throughput that rate control expects \[bit/s\].
    pub throughput: Option<f64>,
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Number of the transmitting node.
    pub from: u32,
    /// Number of the receiving node.
    pub to: u32,
    /// Received power or path loss; `None`: they follow from `loss`.
    pub gain: Option<Gain>,
    /// Standard deviation of the received power \[dB\]; `None`: that of all links.
    pub deviation: Option<f64>,
    /// Share of lost frames.
    pub loss: Option<FrameLoss>,
    /// Other measurements.
    pub survey: Survey,
    /// Line in the text.
    pub line: u32,
}

/// The links of a network, sorted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Links(Arc<Vec<Link>>);

/// A column of the table that a link may leave empty.
#[derive(Clone)]
struct Column {
    name: &'static str,
    valid: RangeInclusive<f64>,
    of: fn(&Link) -> Option<f64>,
}

/// Optional columns, in the order in which they are written.
fn columns() -> [Column; 6] {
    let column = |name, valid, of| Column { name, valid, of };
    [
        column("sd_db", DEVIATIONS, |l| l.deviation),
        column("frame_loss", SHARES, |l| l.loss.map(|loss| loss.share)),
        column("frame_loss_bps", RATES, |l| l.loss?.rate.map(|rate| rate.0 as f64)),
        column("bitrate_bps", RATES, |l| l.survey.bitrate),
        column("retry_share", SHARES, |l| l.survey.retries),
        column("expected_throughput_bps", RATES, |l| l.survey.throughput),
    ]
}

/// Number in a field of a row, if the column exists and the field is not empty.
fn number(csv: &Csv<'_>, row: &Row<'_>, name: &str, valid: &RangeInclusive<f64>) -> Result<Option<f64>, Misread> {
    let Some(field) = csv.column(name).map(|i| row.get(i)).filter(|field| !field.is_empty()) else { return Ok(None) };
    let x = field.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| row.misses(name))?;
    if valid.contains(&x) {
        return Ok(Some(x));
    }
    let ((low, high), line) = (valid.clone().into_inner(), row.line);
    Err(format!("line {line} has {x} in column `{name}`, which must be from {low} to {high}").into())
}

impl Links {
    /// Reads the text of a CSV file with the columns `src`, `dst`, and `signal_dbm`, `loss_db` or `frame_loss`. A column
    /// `rate_bps`, which follows from the received power, is allowed, as in the table of links that a scenario writes.
    /// A link of which only lost frames are known may have a row for each rate.
    ///
    /// # Errors
    /// The problem and its line.
    pub fn read_csv(text: &str) -> Result<Links, Misread> {
        let csv = Csv::read(text, Wanted::Links)?;
        let (name, gain, range): (&str, fn(f64) -> Gain, _) = match (csv.column("signal_dbm"), csv.column("loss_db")) {
            (Some(_), Some(_)) => {
                return Err("it has the columns `signal_dbm` and `loss_db`: one of them must do".into());
            }
            (None, None) if csv.column("frame_loss").is_none() => {
                return Err("it has neither a column `signal_dbm` nor `loss_db`".into());
            }
            (None, Some(_)) => ("loss_db", Gain::Loss, LOSSES),
            _ => ("signal_dbm", Gain::Signal, SIGNALS),
        };
        let [src, dst] = ["src", "dst"].map(|c| csv.column(c).unwrap_or_default());
        let row = |row: &Row<'_>| {
            let node = |column: &str, at: usize| row.get(at).parse::<u32>().map_err(|_| row.misses(column));
            let (from, to) = (node("src", src)?, node("dst", dst)?);
            let level = number(&csv, row, name, &range)?;
            let mut others = columns().into_iter().map(|c| number(&csv, row, c.name, &c.valid));
            let mut next = || others.next().unwrap_or(Ok(None));
            let (deviation, share, rate) = (next()?, next()?, next()?);
            let survey = Survey { bitrate: next()?, retries: next()?, throughput: next()? };
            let loss = share.map(|share| FrameLoss { share, rate: rate.map(|bps| BitRate(bps.round() as u64)) });
            if level.is_none() && loss.is_none() {
                return Err(row.misses(name));
            }
            if share.is_none() && rate.is_some() {
                return Err(row.misses("frame_loss"));
            }
            if from == to {
                return Err(format!("line {} joins node {from} to itself", row.line).into());
            }
            Ok(Link { from, to, gain: level.map(gain), deviation, loss, survey, line: row.line as u32 })
        };
        let mut all = csv.rows().iter().map(row).collect::<Result<Vec<_>, Misread>>()?;
        let rate = |l: &Link| l.loss.filter(|_| l.gain.is_none()).and_then(|loss| loss.rate);
        all.sort_by_key(|l| (l.from, l.to, rate(l), l.line));
        let same = |a: &Link, b: &Link| {
            let has_gain = a.gain.is_some() || b.gain.is_some();
            (a.from, a.to) == (b.from, b.to) && (has_gain || rate(a) == rate(b))
        };
        if let Some(w) = all.windows(2).find(|w| same(&w[0], &w[1])) {
            let (first, second) = (w[0].line.min(w[1].line), w[0].line.max(w[1].line));
            return Err(format!("lines {first} and {second} list the same link").into());
        }
        Ok(Links(Arc::new(all)))
    }

    /// Returns true if there are no links.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of links, counting each direction.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Links over which a node transmits.
    pub fn of(&self, from: u32) -> &[Link] {
        let start = self.0.partition_point(|l| l.from < from);
        let end = self.0.partition_point(|l| l.from <= from);
        &self.0[start..end]
    }

    /// Links without a measurement in the reverse direction.
    pub fn one_way(&self) -> impl Iterator<Item = &Link> {
        self.0.iter().filter(|l| self.find_link(l.to, l.from).is_none())
    }

    /// A copy in which a link without a measurement takes that of the reverse direction, with a received power that
    /// differs by what `louder` says of the ends: that of the first, less that of the second \[dB\].
    #[must_use]
    pub fn symmetric(&self, louder: impl Fn(u32, u32) -> f64) -> Links {
        let gain = |l: &Link| match l.gain {
            Some(Gain::Signal(dbm)) => Some(Gain::Signal(dbm + louder(l.to, l.from))),
            other => other,
        };
        let survey = Survey::default();
        let back = self.one_way().map(|l| Link { from: l.to, to: l.from, gain: gain(l), loss: None, survey, ..*l });
        let mut all: Vec<Link> = back.chain(self.0.iter().copied()).collect();
        all.sort_by_key(|l| (l.from, l.to));
        Links(Arc::new(all))
    }

    /// A copy in which each link has a received power or a path loss. Where only lost frames are known, `signal` gives
    /// the power with which as many are lost \[dBm\]; of several rates the loss next to one half decides, because a loss
    /// near 0 or 1 says only that the signal is strong or weak.
    #[must_use]
    pub fn resolved(&self, signal: impl Fn(&Link, FrameLoss) -> f64) -> Links {
        let of_one = |rows: &[Link]| {
            let decided = |l: &Link| (l.loss.map_or(0.0, |loss| loss.share) - 0.5).abs();
            let best = rows.iter().min_by(|a, b| decided(a).total_cmp(&decided(b))).expect("a chunk has a row");
            let from_loss = || best.loss.map(|loss| Gain::Signal(signal(best, loss)));
            Link { gain: best.gain.or_else(from_loss), ..*best }
        };
        let rows = self.0.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
        Links(Arc::new(rows.map(of_one).collect()))
    }

    /// Returns true if the signals of some links are uncertain, with this deviation of links without their own.
    pub fn is_uncertain(&self, common: Ratio) -> bool {
        self.0.iter().any(|l| l.deviation.map_or(common.0 > 1.0, |db| db > 0.0))
    }

    /// A copy in which each received power deviates by a normal number of this standard deviation, or by that of the
    /// link: one draw for each pair of nodes, because both directions share the path.
    #[must_use]
    pub fn drawn(&self, common: Ratio, seed: u64) -> Links {
        let common = 10.0 * libm::log10(common.0);
        let deviate = |l: &Link| {
            let deviation = l.deviation.unwrap_or(common);
            let pair = u64::from(l.from.min(l.to)) << 32 | u64::from(l.from.max(l.to));
            let normal = Stream::new(seed, Purpose::MeasuredLinks, pair).normal();
            let more = deviation * normal.clamp(-FARTHEST, FARTHEST);
            let gain = l.gain.map(|gain| match gain {
                Gain::Signal(dbm) => Gain::Signal(dbm + more),
                Gain::Loss(db) => Gain::Loss(db - more),
            });
            Link { gain, ..*l }
        };
        Links(Arc::new(self.0.iter().map(deviate).collect()))
    }

    /// All links, sorted by their ends.
    pub fn iter(&self) -> impl Iterator<Item = &Link> {
        self.0.iter()
    }

    fn find_link(&self, from: u32, to: u32) -> Option<&Link> {
        self.0.binary_search_by_key(&(from, to), |l| (l.from, l.to)).ok().map(|i| &self.0[i])
    }

    /// Received power or path loss of a link.
    pub fn gain(&self, from: u32, to: u32) -> Option<Gain> {
        self.find_link(from, to)?.gain
    }

    /// Share of lost broadcasts that was measured on a link.
    pub fn broadcast_loss(&self, from: u32, to: u32) -> Option<f64> {
        self.find_link(from, to)?.loss.filter(|loss| loss.rate.is_none()).map(|loss| loss.share)
    }

    /// First line that names a node selected by `which`, and that node.
    pub fn find(&self, which: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let named = |l: &Link| [l.from, l.to].into_iter().find(|&node| which(node)).map(|node| (l.line, node));
        self.0.iter().filter_map(named).min()
    }

    /// Returns true if the table holds path losses instead of received powers.
    pub fn has_losses(&self) -> bool {
        self.0.iter().any(|l| matches!(l.gain, Some(Gain::Loss(_))))
    }

    /// The table without columns that are empty.
    fn write_csv(&self) -> String {
        let mut text = "src,dst".to_owned();
        let has_gain = self.0.iter().any(|l| l.gain.is_some());
        if has_gain {
            text.push_str(if self.has_losses() { ",loss_db" } else { ",signal_dbm" });
        }
        let mut columns = columns().to_vec();
        columns.retain(|c| self.0.iter().any(|l| (c.of)(l).is_some()));
        columns.iter().for_each(|c| _ = write!(text, ",{}", c.name));
        text.push('\n');
        for l in &*self.0 {
            _ = write!(text, "{},{}", l.from, l.to);
            let gain = l.gain.map(|(Gain::Signal(level) | Gain::Loss(level))| level);
            let fields = has_gain.then_some(gain).into_iter().chain(columns.iter().map(|c| (c.of)(l)));
            for field in fields {
                text.push(',');
                field.into_iter().for_each(|x| _ = write!(text, "{x}"));
            }
            text.push('\n');
        }
        text
    }
}

impl Scalar for Links {
    fn read(node: &Node) -> Result<Links, String> {
        match &node.value {
            Value::Text(t) if t.is_empty() => Ok(Links::default()),
            Value::Text(t) => Links::read_csv(t).map_err(|e| e.to_string()),
            _ => Err("expected the text of a CSV file".to_owned()),
        }
    }

    fn written(&self) -> Json {
        json!(if self.is_empty() { String::new() } else { self.write_csv() })
    }

    fn describe() -> Json {
        let description = "text of a CSV file with the columns src, dst, and signal_dbm, loss_db or frame_loss";
        json!({ "type": "string", "description": description })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_in_any_order_and_written_sorted() {
        let links = Links::read_csv("\u{feff}dst,src, signal_dbm,rate_bps\r\n1,0,-70.5,\n\n0,1,-71,1e6\n")
            .expect("it is right");
        assert_eq!((links.gain(0, 1), links.gain(0, 2)), (Some(Gain::Signal(-70.5)), None));
        let of: Vec<u32> = links.of(1).iter().map(|l| l.to).collect();
        assert_eq!((of, links.len(), links.has_losses()), (vec![0], 2, false));
        assert_eq!(links.find(|n| n >= 1), Some((2, 1)));
        assert_eq!(links.find(|n| n >= 2), None);
        assert_eq!(links.write_csv(), "src,dst,signal_dbm\n0,1,-70.5\n1,0,-71\n");
        let losses = Links::read_csv("src,dst,loss_db\n0,1,80\n").expect("it is right");
        assert_eq!(Links::read_csv(&losses.write_csv()), Ok(losses));
    }

    #[test]
    fn one_way_measurement_holds_for_both_directions() {
        let links = Links::read_csv("src,dst,signal_dbm\n0,1,-70\n1,0,-75\n2,1,-60\n0,2,-80\n").expect("it is right");
        assert_eq!(links.one_way().map(|l| (l.from, l.to)).collect::<Vec<_>>(), [(0, 2), (2, 1)]);
        let whole = links.symmetric(|_, _| 0.0);
        assert_eq!(whole.write_csv(), "src,dst,signal_dbm\n0,1,-70\n0,2,-80\n1,0,-75\n1,2,-60\n2,0,-80\n2,1,-60\n");
        assert_eq!((whole.one_way().count(), whole.symmetric(|_, _| 9.0)), (0, whole));
    }

    #[test]
    fn a_quieter_end_is_heard_less() {
        let links = Links::read_csv("src,dst,signal_dbm\n0,1,-70\n").expect("it is right");
        let whole = links.symmetric(|a, b| if (a, b) == (1, 0) { -3.0 } else { f64::NAN });
        assert_eq!(whole.write_csv(), "src,dst,signal_dbm\n0,1,-70\n1,0,-73\n");
    }

    #[test]
    fn what_was_measured_is_written_again() {
        let text = "src,dst,signal_dbm,sd_db,frame_loss,frame_loss_bps,retry_share,expected_throughput_bps\n\
                    0,1,-70.5,2,0.25,,0.1,39000000\n1,0,,,0.5,6000000,,\n1,0,,,0.9,24000000,,\n";
        let links = Links::read_csv(text).expect("it is right");
        assert_eq!(links.write_csv(), text);
        let frames = Links::read_csv("src,dst,frame_loss\n0,1,0.5\n").expect("it is right");
        assert_eq!(frames.write_csv(), "src,dst,frame_loss\n0,1,0.5\n");
    }

    #[test]
    fn the_loss_next_to_one_half_decides() {
        let text = "src,dst,signal_dbm,frame_loss,frame_loss_bps\n0,1,,0,6000000\n0,1,,0.3,24000000\n0,1,,1,54000000\n\
                    1,0,-70,0.2,\n";
        let links = Links::read_csv(text).expect("it is right");
        let whole = links.resolved(|_, loss| loss.rate.map_or(0.0, |rate| -(rate.0 as f64) / 1e6));
        assert_eq!((whole.gain(0, 1), whole.gain(1, 0)), (Some(Gain::Signal(-24.0)), Some(Gain::Signal(-70.0))));
        assert_eq!((whole.len(), links.one_way().count()), (2, 0));
    }

    #[test]
    fn signals_deviate_in_both_directions_alike() {
        let pairs: String = (1..4000).map(|n| format!("0,{n},-70,4\n{n},0,-75,2\n")).collect();
        let links = Links::read_csv(&format!("src,dst,signal_dbm,sd_db\n{pairs}")).expect("it is right");
        let of = |seed: u64| links.drawn(Ratio::db(0.0), seed);
        let level = |links: &Links, a, b| match links.gain(a, b) {
            Some(Gain::Signal(dbm)) => dbm,
            other => panic!("{other:?}"),
        };
        let drawn = of(7);
        let there: Vec<f64> = (1..4000).map(|n| level(&drawn, 0, n) + 70.0).collect();
        let twice = |n: u32| 2.0 * (level(&drawn, n, 0) + 75.0);
        assert!((1..4000).all(|n| (there[n as usize - 1] - twice(n)).abs() < 1e-9));
        let count = there.len() as f64;
        let mean = there.iter().sum::<f64>() / count;
        let deviation = (there.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        // Four standard errors: of the mean 4/sqrt(n), of the deviation 4/sqrt(2n).
        assert!(mean.abs() < 0.26 && (deviation - 4.0).abs() < 0.18, "{mean}, {deviation}");
        assert!(drawn == of(7) && drawn != of(8));
        let loss = Links::read_csv("src,dst,loss_db\n0,1,80\n").expect("it is right");
        let (by_loss, by_signal) = (loss.drawn(Ratio::db(4.0), 7), level(&drawn, 0, 1));
        assert_eq!(by_loss.gain(0, 1), Some(Gain::Loss(80.0 - (by_signal + 70.0))));
        assert!(
            loss.is_uncertain(Ratio::db(1.0))
                && !loss.is_uncertain(Ratio::db(0.0))
                && links.is_uncertain(Ratio::db(0.0))
        );
    }

    #[test]
    fn errors_name_their_line() {
        for (text, why) in [
            ("src,signal_dbm\n", "it has no column `dst`; its header is `src,signal_dbm`"),
            ("src,dst,src,loss_db\n", "line 1 has the column `src` twice"),
            ("src,dst,rate_bps\n0,1,5\n", "it has neither a column `signal_dbm` nor `loss_db`"),
            (
                "src,dst,loss_db,signal_dbm\n0,1,1,1\n",
                "it has the columns `signal_dbm` and `loss_db`: one of them must do",
            ),
            ("src,dst,loss_db,note\n0,1,80,a\n", "line 1 has a column `note`, which is not known here"),
            ("src,dst,loss_db\n", "it has no rows below its header"),
            ("src,dst,loss_db\n0,1,80\n0,-1,80\n", "line 3 has nothing that fits in column `dst`"),
            ("src,dst,loss_db\n0,1,nan\n", "line 2 has nothing that fits in column `loss_db`"),
            ("src,dst,loss_db\n0,1,-200\n", "line 2 has -200 in column `loss_db`, which must be from 0 to 400"),
            (
                "src,dst,signal_dbm\n0,1,90\n1,0,90.5\n",
                "line 3 has 90.5 in column `signal_dbm`, which must be from -250 to 90",
            ),
            ("src,dst,loss_db\n0,1\n", "line 2 has 2 fields, and the header names 3"),
            (
                "src,dst,signal_dbm,frame_loss\n0,1,,1.5\n",
                "line 2 has 1.5 in column `frame_loss`, which must be from 0 to 1",
            ),
            ("src,dst,signal_dbm,frame_loss_bps\n0,1,-70,6e6\n", "line 2 has nothing that fits in column `frame_loss`"),
            ("src,dst,frame_loss\n0,1,0.5\n0,1,0.4\n", "lines 2 and 3 list the same link"),
            ("src,dst,loss_db\n0,1,\n", "line 2 has nothing that fits in column `loss_db`"),
            ("src,dst,loss_db\n0,1,80,5\n", "line 2 has 4 fields, and the header names 3"),
            ("src,dst,loss_db\n3,3,70\n", "line 2 joins node 3 to itself"),
            ("src,dst,loss_db\n0,1,80\n1,0,80\n0,1,81\n", "lines 2 and 4 list the same link"),
        ] {
            assert_eq!(Links::read_csv(text).expect_err("it is wrong").why, why);
        }
    }
}
