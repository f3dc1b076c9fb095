//! Movement files of ns-2, as `setdest` writes them.
//!
//! `$node_(i) set X_ v` (and `Y_`) says where a node begins, `$ns_ at t "$node_(i) setdest x y s"` that from then on it
//! goes from where it is to (x, y) at s m/s and stops there. Other lines - `Z_`, hop counts of `$god_`, comments - mean
//! nothing here.

use super::{Course, Courses, coordinate, instant, lines, node, position, seconds, speed};
use crate::unit::{Position, Speed, Time};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Reads a file.
///
/// # Errors
/// What is wrong, and in which line.
pub fn read(text: &str) -> Result<Vec<Course>, String> {
    let mut starts: BTreeMap<u32, [Option<f64>; 2]> = BTreeMap::new();
    let mut commands = vec![];
    for (line, number) in lines(text) {
        let wrong = |what: &str| format!("line {number} {what}");
        // Tcl separates words by blanks, and the quoted command is one of them.
        let words: Vec<&str> = line.split([' ', '\t', '"']).filter(|w| !w.is_empty()).collect();
        match words.as_slice() {
            [name, "set", axis @ ("X_" | "Y_"), value] => {
                let n = number_of(name).ok_or_else(|| wrong("names no node"))?;
                let value = coordinate(value).ok_or_else(|| wrong("has no coordinate"))?;
                starts.entry(n).or_default()[usize::from(*axis == "Y_")] = Some(value);
            }
            [_, "at", at, name, "setdest", x, y, v, ..] => {
                let n = number_of(name).ok_or_else(|| wrong("names no node"))?;
                let at = instant(at).ok_or_else(|| wrong("has no time"))?;
                let to = position(x, y).ok_or_else(|| wrong("has no place"))?;
                let speed = speed(v).ok_or_else(|| wrong("has no speed"))?;
                commands.push((Course { at, node: n, from: to, to, speed }, number));
            }
            words if words.contains(&"setdest") => return Err(wrong("is no `setdest` as ns-2 knows it")),
            _ => {}
        }
    }
    let mut own: BTreeMap<u32, Vec<Course>> = BTreeMap::new();
    for (n, [x, y]) in starts {
        let (Some(x), Some(y)) = (x, y) else { return Err(format!("node {n} has no `X_` or no `Y_`")) };
        let place = Position { x, y };
        own.insert(n, vec![Course { at: Time::ZERO, node: n, from: place, to: place, speed: Speed(0.0) }]);
    }
    commands.sort_by_key(|c| c.0.at);
    for (command, number) in commands {
        let n = command.node;
        let own = own.get_mut(&n).ok_or_else(|| format!("line {number} moves node {n}, which has no place"))?;
        let before = own[own.len() - 1];
        own.push(Course { from: before.position(command.at), ..command });
    }
    Ok(own.into_values().flatten().collect())
}

/// The number in `$node_(7)`.
fn number_of(name: &str) -> Option<u32> {
    node(name.strip_prefix("$node_(")?.strip_suffix(')')?)
}

/// Writes a file.
pub fn write(courses: &Courses) -> String {
    let mut text = String::new();
    for (c, axis, value) in
        courses.all().iter().flat_map(|c| [(c, "X_", c.from.x), (c, "Y_", c.from.y), (c, "Z_", 0.0)])
    {
        if courses.of(c.node).first().is_some_and(|first| std::ptr::eq(first, c)) {
            _ = writeln!(text, "$node_({}) set {axis} {value:.12}", c.node);
        }
    }
    let mut rows: Vec<&Course> = courses.all().iter().filter(|c| c.at > Time::ZERO || c.speed.0 > 0.0).collect();
    rows.sort_by_key(|c| (c.at, c.node));
    for c in rows {
        let (at, Position { x, y }) = (seconds(c.at), c.to);
        _ = writeln!(text, "$ns_ at {at} \"$node_({}) setdest {x:.12} {y:.12} {:.12}\"", c.node, c.speed.0);
    }
    text
}
