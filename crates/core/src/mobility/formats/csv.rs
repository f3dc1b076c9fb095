//! CSV: one line per course. At `time_s` the node is at (x, y) and starts to move straight to (`dest_x`, `dest_y`).

use super::{Course, Courses, instant, node, position, seconds, speed};
use crate::setting::csv::{Csv, Misread, Row};
pub use crate::setting::foreign::MOVEMENT_COLUMNS as COLUMNS;
use crate::setting::foreign::Wanted;
use std::fmt::Write as _;

/// Reads a file.
///
/// # Errors
/// The mistake with its line.
pub fn read(text: &str) -> Result<Vec<Course>, Misread> {
    let csv = Csv::read(text, Wanted::Movements)?;
    let indices = COLUMNS.map(|c| csv.column(c).unwrap_or_default());
    let row = |row: &Row<'_>| {
        let fields = row.fields();
        let field = |i: usize| fields[indices[i]];
        let course = || {
            Ok(Course {
                at: instant(field(0)).ok_or(0_usize)?,
                node: node(field(1)).ok_or(1_usize)?,
                from: position(field(2), field(3)).ok_or(2_usize)?,
                to: position(field(4), field(5)).ok_or(4_usize)?,
                speed: speed(field(6)).ok_or(6_usize)?,
            })
        };
        course().map_err(|i: usize| row.misses(COLUMNS[i]))
    };
    csv.rows().iter().map(row).collect()
}

/// Writes a file, in the order of time.
pub fn write(courses: &Courses) -> String {
    let mut rows: Vec<&Course> = courses.all().iter().collect();
    rows.sort_by_key(|c| (c.at, c.node));
    let mut text = COLUMNS.join(",") + "\n";
    for c in rows {
        let at = seconds(c.at);
        _ = writeln!(text, "{at},{},{},{},{},{},{}", c.node, c.from.x, c.from.y, c.to.x, c.to.y, c.speed.0);
    }
    text
}
