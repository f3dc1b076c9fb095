//! Movement files: ns-2's, BonnMotion's, and CSV.

pub mod bonnmotion;
pub mod csv;
pub mod setdest;
mod tcl;

use super::FASTEST;
use super::courses::{Course, Courses};
use crate::keywords;
use crate::setting::csv::{Misread, lines};
use crate::setting::foreign::{self, Wanted};
use crate::unit::{Position, Speed, Time};

keywords! {
    /// Formats of movement files.
    pub enum Format {
        /// Movement file of ns-2: initial positions, and `setdest` lines.
        Setdest = "setdest",
        /// BonnMotion's `.movements`: one line of waypoints per node.
        BonnMotion = "bonnmotion",
        /// CSV: one line per course.
        Csv = "csv",
    }
}

/// Format of a text.
pub fn format_of(text: &str) -> Format {
    let first = lines(text).next().map_or("", |l| l.0);
    if first.starts_with('$') || text.contains("$node_") {
        Format::Setdest
    } else if first.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
        Format::BonnMotion
    } else {
        Format::Csv
    }
}

/// Reads a movement file in any of the formats. Adds a warning to `warnings` for input that is valid but means less
/// than it seems to.
///
/// # Errors
/// The mistake with its line.
pub fn read(text: &str, warnings: &mut Vec<String>) -> Result<Courses, Misread> {
    if let Some(foreign) = foreign::recognized(text, Wanted::Movements) {
        return Err(foreign);
    }
    let courses = match format_of(text) {
        Format::Setdest => setdest::read(text, warnings)?,
        Format::BonnMotion => bonnmotion::read(text)?,
        Format::Csv => csv::read(text)?,
    };
    if courses.is_empty() { Err("it says of no node where it is".into()) } else { Ok(Courses::new(courses)) }
}

/// Writes courses in a format. BonnMotion's covers the time up to `until`.
///
/// # Errors
/// The format cannot express the courses.
pub fn write(courses: &Courses, format: Format, until: Time) -> Result<String, String> {
    match format {
        Format::Setdest => setdest::write(courses),
        Format::BonnMotion => Ok(bonnmotion::write(courses, until)),
        Format::Csv => Ok(csv::write(courses)),
    }
}

/// Parses a coordinate [m].
fn coordinate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.abs() < 1e7)
}

fn position(x: &str, y: &str) -> Option<Position> {
    Some(Position { x: coordinate(x)?, y: coordinate(y)? })
}

/// Parses an instant [s], at most the longest run.
fn instant(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=100.0 * 86_400.0).contains(&s).then(|| Time((s * 1e9).round() as u64))
}

fn speed(text: &str) -> Option<Speed> {
    text.parse().ok().filter(|v| (0.0..=FASTEST.0).contains(v)).map(Speed)
}

/// Parses a node number; rejects numbers that are too large to be meant.
fn node(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&n| n < 10_000_000)
}

/// Formats an instant as in all movement files [s].
fn seconds(at: Time) -> String {
    let text = format!("{}.{:09}", at.0 / 1_000_000_000, at.0 % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
