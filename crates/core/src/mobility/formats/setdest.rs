//! Movement files of ns-2, as `setdest` writes them.
//!
//! `$node_(i) set X_ v` (and `Y_`) sets the initial position of a node; `$ns_ at t "$node_(i) setdest x y s"` makes it
//! go from its position to (x, y) at s m/s and stop there. `$ns_ at t "$node_(i) set X_ v"` places a node that has not
//! walked yet. In ns-2 a node that has walked would go on from there towards its old destination, in a way that no
//! position between two queries can reproduce, so this is refused. Hop counts of `$god_` are ignored; `Z_` is ignored
//! with a warning. All other commands are mistakes.

use super::tcl::{Command, commands};
use super::{Course, Courses, coordinate, instant, node, position, seconds, speed};
use crate::setting::{count, shortened};
use crate::unit::{Position, Speed, Time};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Distance between the end of a course and the begin of the next that counts as a jump [m].
const JUMP: f64 = 0.01;

/// A command to a node.
enum Order {
    /// Sets a coordinate: x, y or z.
    Set(usize, f64),
    /// Starts a course to a position at a speed.
    Go(Position, Speed),
}

/// State of a node while its file is read.
#[derive(Default)]
struct NodeState {
    /// Coordinates that have been set.
    set: [Option<f64>; 2],
    courses: Vec<Course>,
    has_moved: bool,
}

impl NodeState {
    fn position(&self) -> Option<Position> {
        Some(Position { x: self.set[0]?, y: self.set[1]? })
    }
}

/// Reads a file. Adds a warning to `warnings` for input that is valid but means less than it seems to.
///
/// # Errors
/// The mistake with its line.
pub fn read(text: &str, warnings: &mut Vec<String>) -> Result<Vec<Course>, String> {
    // Commands without a time precede all others.
    let mut all: Vec<(Option<Time>, u32, Order, usize)> = vec![];
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for command in commands(text, 1)? {
        match command.uncommented() {
            [_, "at", at, inner] => {
                let at = instant(at).ok_or_else(|| format!("line {} has no time", command.line))?;
                for inner in commands(inner, command.line)? {
                    all.extend(order(&inner)?.map(|(n, order)| (Some(at), n, order, inner.line)));
                }
            }
            _ => all.extend(order(&command)?.map(|(n, order)| (None, n, order, command.line))),
        }
    }
    all.sort_by_key(|o| o.0);
    let mut nodes: BTreeMap<u32, NodeState> = BTreeMap::new();
    let mut heights = vec![];
    for (at, n, order, line) in all {
        let state = nodes.entry(n).or_default();
        let begins = at.unwrap_or(Time::ZERO);
        match order {
            Order::Set(2, z) => heights.extend((z != 0.0).then_some((line, n, z))),
            Order::Set(..) if state.has_moved => {
                return Err(format!(
                    "line {line} sets a coordinate of node {n} after it has walked, from where ns-2 lets it go on \
                     towards its old destination; a node that has walked can only walk (`setdest`)"
                ));
            }
            Order::Set(axis, value) => {
                state.set[axis] = Some(value);
                state.courses.extend(state.position().map(|position| rest(n, position, begins)));
            }
            Order::Go(to, speed) => {
                let missing = || format!("line {line} moves node {n}, which has no place");
                let from = state.courses.last().ok_or_else(missing)?.position(begins);
                state.courses.push(Course { at: begins, node: n, from, to, speed });
                state.has_moved = true;
            }
        }
    }
    if let Some(&(line, n, z)) = heights.first() {
        let more = match heights.len() - 1 {
            0 => String::new(),
            more => format!(", and {} more", count(more as u64, "height")),
        };
        warnings.push(format!("line {line} sets node {n} {z} m high (`Z_`), which has no effect{more}"));
    }
    if let Some((n, _)) = nodes.iter().find(|(_, state)| state.courses.is_empty()) {
        return Err(format!("node {n} has no `X_` or no `Y_`"));
    }
    if let Some((n, state)) = nodes.iter().find(|(_, state)| state.courses[0].at > Time::ZERO) {
        return Err(format!("node {n} has no place before {} s", seconds(state.courses[0].at)));
    }
    Ok(nodes.into_values().flat_map(|state| state.courses).collect())
}

fn rest(node: u32, position: Position, at: Time) -> Course {
    Course { at, node, from: position, to: position, speed: Speed(0.0) }
}

impl<'a> Command<'a> {
    /// Words before a trailing comment, which ns-2 accepts without a semicolon before it.
    fn uncommented(&self) -> &[&'a str] {
        let end = self.words.iter().position(|w| w.starts_with('#')).unwrap_or(self.words.len());
        &self.words[..end]
    }
}

/// Node and order of a command; `None` for a command that is ignored.
fn order(command: &Command<'_>) -> Result<Option<(u32, Order)>, String> {
    let wrong = |what: &str| format!("line {} {what}", command.line);
    let node_of = |name: &str| {
        let number = name.strip_prefix("$node_(").and_then(|n| n.strip_suffix(')')).and_then(node);
        number.ok_or_else(|| wrong("names no node, as `$node_(0)` does"))
    };
    match command.uncommented() {
        [god, ..] if god.starts_with("$god_") => Ok(None),
        [name, "set", axis @ ("X_" | "Y_" | "Z_"), value] => {
            let axis = ["X_", "Y_", "Z_"].iter().position(|a| a == axis).unwrap_or_default();
            let value = coordinate(value).ok_or_else(|| wrong("has no coordinate"))?;
            Ok(Some((node_of(name)?, Order::Set(axis, value))))
        }
        [name, "setdest", x, y, v] => {
            let n = node_of(name)?;
            let to = position(x, y).ok_or_else(|| wrong("has no place"))?;
            Ok(Some((n, Order::Go(to, speed(v).ok_or_else(|| wrong("has no speed"))?))))
        }
        words if words.contains(&"setdest") => Err(wrong("is no `setdest` as ns-2 knows it")),
        words => Err(wrong(&format!("is no command of a movement file: `{}`", shortened(&words.join(" "))))),
    }
}

/// Writes a file.
///
/// # Errors
/// A node that has walked jumps, which no command can express.
pub fn write(courses: &Courses) -> Result<String, String> {
    let mut text = String::new();
    let mut rows = vec![];
    for n in 0..courses.nodes() {
        let node_courses = courses.of(n);
        if let Some(Position { x, y }) = node_courses.first().map(|c| c.from) {
            for (axis, value) in [("X_", x), ("Y_", y), ("Z_", 0.0)] {
                _ = writeln!(text, "$node_({n}) set {axis} {value:.12}");
            }
        }
        let mut has_moved = false;
        for (i, c) in node_courses.iter().enumerate() {
            let (at, Position { x, y }) = (seconds(c.at), c.from);
            if i > 0 && node_courses[i - 1].position(c.at).distance(c.from).0 > JUMP {
                if has_moved {
                    return Err(format!(
                        "node {n} jumps at {at} s, and movement files of ns-2 have no jumps after a walk"
                    ));
                }
                let put = format!("$ns_ at {at} \"$node_({n}) set X_ {x:.12}; $node_({n}) set Y_ {y:.12}\"");
                rows.push((c.at, n, put));
            }
            if has_moved || c.speed.0 > 0.0 {
                let Position { x, y } = c.to;
                let go = format!("$ns_ at {at} \"$node_({n}) setdest {x:.12} {y:.12} {:.12}\"", c.speed.0);
                rows.push((c.at, n, go));
                has_moved = true;
            }
        }
    }
    rows.sort_by_key(|r| (r.0, r.1));
    for (.., line) in rows {
        text += &line;
        text.push('\n');
    }
    Ok(text)
}
