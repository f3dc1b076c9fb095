//! Files of motion: ns-2's movement files, BonnMotion's waypoints, CSV.

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
    /// Forms of files of motion.
    pub enum Format {
        /// A movement file of ns-2: places, and `setdest` lines.
        Setdest = "setdest",
        /// BonnMotion's `.movements`: one line of waypoints for each node.
        BonnMotion = "bonnmotion",
        /// One line for each leg.
        Csv = "csv",
    }
}

/// The form of a text.
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

/// Reads a file of motion, whichever of the forms it has. What can be read, and means less than it seems to, is added to
/// the doubts.
///
/// # Errors
/// What is wrong, and in which line.
pub fn read(text: &str, doubts: &mut Vec<String>) -> Result<Courses, Misread> {
    if let Some(foreign) = foreign::recognised(text, Wanted::Motion) {
        return Err(foreign);
    }
    let courses = match format_of(text) {
        Format::Setdest => setdest::read(text, doubts)?,
        Format::BonnMotion => bonnmotion::read(text)?,
        Format::Csv => csv::read(text)?,
    };
    if courses.is_empty() { Err("it says of no node where it is".into()) } else { Ok(Courses::new(courses)) }
}

/// Writes courses in a form. BonnMotion's says where each node is up to `until`.
///
/// # Errors
/// The form cannot say what the courses are.
pub fn write(courses: &Courses, format: Format, until: Time) -> Result<String, String> {
    match format {
        Format::Setdest => setdest::write(courses),
        Format::BonnMotion => Ok(bonnmotion::write(courses, until)),
        Format::Csv => Ok(csv::write(courses)),
    }
}

/// A coordinate [m].
fn coordinate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.abs() < 1e7)
}

fn position(x: &str, y: &str) -> Option<Position> {
    Some(Position { x: coordinate(x)?, y: coordinate(y)? })
}

/// An instant [s]: at most the longest run.
fn instant(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=100.0 * 86_400.0).contains(&s).then(|| Time((s * 1e9).round() as u64))
}

fn speed(text: &str) -> Option<Speed> {
    text.parse().ok().filter(|v| (0.0..=FASTEST.0).contains(v)).map(Speed)
}

/// Numbers of nodes beyond this are taken for a mistake.
fn node(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&n| n < 10_000_000)
}

/// An instant as all of these write it [s].
fn seconds(at: Time) -> String {
    let text = format!("{}.{:09}", at.0 / 1_000_000_000, at.0 % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
