//! Measured links: received power between pairs of nodes from a table instead of a propagation model.

use crate::setting::csv::{Csv, Misread, Row};
use crate::setting::foreign::Wanted;
use crate::setting::{Node, Scalar, Value};
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

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Number of the transmitting node.
    pub from: u32,
    /// Number of the receiving node.
    pub to: u32,
    /// Received power or path loss.
    pub gain: Gain,
    /// Line in the text.
    line: u32,
}

/// The links of a network, sorted.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Links(Arc<Vec<Link>>);

impl Links {
    /// Reads the text of a CSV file with the columns `src`, `dst`, and either `signal_dbm` or `loss_db`. A column
    /// `rate_bps`, which follows from the received power, is allowed, as in the table of links that a scenario writes.
    ///
    /// # Errors
    /// The problem and its line.
    pub fn read_csv(text: &str) -> Result<Links, Misread> {
        let csv = Csv::read(text, Wanted::Links)?;
        let (name, gain, range): (&str, fn(f64) -> Gain, _) = match (csv.column("signal_dbm"), csv.column("loss_db")) {
            (Some(_), None) => ("signal_dbm", Gain::Signal, SIGNALS),
            (None, Some(_)) => ("loss_db", Gain::Loss, LOSSES),
            (Some(_), Some(_)) => {
                return Err("it has the columns `signal_dbm` and `loss_db`: one of them must do".into());
            }
            (None, None) => return Err("it has neither a column `signal_dbm` nor `loss_db`".into()),
        };
        let columns = ["src", "dst", name].map(|c| csv.column(c).unwrap_or_default());
        let row = |row: &Row<'_>| {
            let fields = row.fields();
            let [from, to, level] = columns.map(|i| fields[i]);
            let node = |column: &str, field: &str| field.parse::<u32>().map_err(|_| row.misses(column));
            let (from, to) = (node("src", from)?, node("dst", to)?);
            let level = level.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| row.misses(name))?;
            if !range.contains(&level) {
                let ((low, high), line) = (range.clone().into_inner(), row.line);
                let why = format!("line {line} has {level} in column `{name}`, which must be from {low} to {high}");
                return Err(why.into());
            }
            if from == to {
                return Err(format!("line {} joins node {from} to itself", row.line).into());
            }
            Ok(Link { from, to, gain: gain(level), line: row.line as u32 })
        };
        let mut all = csv.rows().iter().map(row).collect::<Result<Vec<_>, Misread>>()?;
        all.sort_by_key(|l| (l.from, l.to, l.line));
        if let Some(w) = all.windows(2).find(|w| (w[0].from, w[0].to) == (w[1].from, w[1].to)) {
            return Err(format!("lines {} and {} list the same link", w[0].line, w[1].line).into());
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
        self.0.iter().filter(|l| self.gain(l.to, l.from).is_none())
    }

    /// A copy in which a link without a measurement takes that of the reverse direction.
    #[must_use]
    pub fn symmetric(&self) -> Links {
        let back = self.one_way().map(|&l| Link { from: l.to, to: l.from, ..l });
        let mut all: Vec<Link> = back.chain(self.0.iter().copied()).collect();
        all.sort_by_key(|l| (l.from, l.to));
        Links(Arc::new(all))
    }

    /// Measurement of a link.
    pub fn gain(&self, from: u32, to: u32) -> Option<Gain> {
        self.0.binary_search_by_key(&(from, to), |l| (l.from, l.to)).ok().map(|i| self.0[i].gain)
    }

    /// First line that names a node selected by `which`, and that node.
    pub fn find(&self, which: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let named = |l: &Link| [l.from, l.to].into_iter().find(|&node| which(node)).map(|node| (l.line, node));
        self.0.iter().filter_map(named).min()
    }

    /// Returns true if the table holds path losses instead of received powers.
    pub fn has_losses(&self) -> bool {
        self.0.first().is_some_and(|l| matches!(l.gain, Gain::Loss(_)))
    }

    fn write_csv(&self) -> String {
        let mut text = format!("src,dst,{}\n", if self.has_losses() { "loss_db" } else { "signal_dbm" });
        for Link { from, to, gain: Gain::Signal(level) | Gain::Loss(level), .. } in &*self.0 {
            _ = writeln!(text, "{from},{to},{level}");
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
        let description = "text of a CSV file with the columns src, dst, and signal_dbm or loss_db";
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
        let whole = links.symmetric();
        assert_eq!(whole.write_csv(), "src,dst,signal_dbm\n0,1,-70\n0,2,-80\n1,0,-75\n1,2,-60\n2,0,-80\n2,1,-60\n");
        assert_eq!((whole.one_way().count(), whole.symmetric()), (0, whole));
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
            ("src,dst,loss_db\n0,1,\n", "line 2 has nothing that fits in column `loss_db`"),
            ("src,dst,loss_db\n0,1,80,5\n", "line 2 has 4 fields, and the header names 3"),
            ("src,dst,loss_db\n3,3,70\n", "line 2 joins node 3 to itself"),
            ("src,dst,loss_db\n0,1,80\n1,0,80\n0,1,81\n", "lines 2 and 4 list the same link"),
        ] {
            assert_eq!(Links::read_csv(text).expect_err("it is wrong").why, why);
        }
    }
}
