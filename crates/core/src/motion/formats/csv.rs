//! CSV: one line for each leg. At `time_s` the node is at (x, y) and starts to move straight to (`dest_x`, `dest_y`).

use super::{Course, Courses, instant, lines, node, position, seconds, speed};
use std::fmt::Write as _;

/// The columns.
pub const COLUMNS: [&str; 7] = ["time_s", "node", "x_m", "y_m", "dest_x_m", "dest_y_m", "speed_mps"];

/// Reads a file.
///
/// # Errors
/// What is wrong, and in which line.
pub fn read(text: &str) -> Result<Vec<Course>, String> {
    let mut lines = lines(text);
    let header = lines.next().map(|l| fields(l.0)).unwrap_or_default();
    let place = |c: &&str| header.iter().position(|h| h == c).ok_or_else(|| format!("it has no column `{c}`"));
    let places = COLUMNS.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    let row = |(line, number): (&str, usize)| {
        let fields = fields(line);
        let field = |i: usize| fields.get(places[i]).copied().unwrap_or_default();
        let course = || {
            Ok(Course {
                at: instant(field(0)).ok_or(0_usize)?,
                node: node(field(1)).ok_or(1_usize)?,
                from: position(field(2), field(3)).ok_or(2_usize)?,
                to: position(field(4), field(5)).ok_or(4_usize)?,
                speed: speed(field(6)).ok_or(6_usize)?,
            })
        };
        course().map_err(|i: usize| format!("line {number} has nothing that fits in column `{}`", COLUMNS[i]))
    };
    lines.map(row).collect()
}

/// The fields of a line.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').map(|f| f.trim().trim_matches('"')).collect()
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
