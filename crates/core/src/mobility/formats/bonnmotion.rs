//! BonnMotion's `.movements`: for each node a line of waypoints, each a time, x and y. Between two of them the node
//! moves straight and at one speed.

use super::{Course, Courses, FASTEST, instant, lines, position, seconds};
use crate::setting::count;
use crate::unit::{Position, Speed, Time};
use std::fmt::Write as _;

/// Numbers per waypoint in two dimensions: time, x, y.
const FLAT: usize = 3;
/// Numbers per waypoint in three dimensions: time, x, y, z.
const SPATIAL: usize = 4;

/// Reads a file. Its first line is that of node 0.
///
/// # Errors
/// The mistake with its line; or a message that the file has, or may have, three dimensions.
pub fn read(text: &str) -> Result<Vec<Course>, String> {
    if says(text, "3d") {
        return Err(format!("it says that it has three dimensions; {FLATTEN}"));
    }
    let flat = in_two_dimensions(text);
    if says(text, "2d") || !may_have(text, SPATIAL) {
        return flat;
    }
    match flat {
        Ok(_) => Err(format!(
            "its waypoints may have two dimensions (time, x, y) or three (time, x, y, z), for times never go back \
             either way; begin it with a line `#2D` if they have two; {FLATTEN}"
        )),
        Err(_) => Err(format!("its waypoints have three dimensions (time, x, y, z); {FLATTEN}")),
    }
}

const FLATTEN: &str = "of waypoints in three dimensions leave the fourth number of each out, the height";

/// Returns true if a comment of the file names these dimensions.
fn says(text: &str, dimensions: &str) -> bool {
    let comments = text.lines().filter_map(|l| l.trim_start_matches('\u{feff}').trim().strip_prefix('#'));
    comments.flat_map(str::split_whitespace).any(|word| word.eq_ignore_ascii_case(dimensions))
}

/// Returns true if all lines can be waypoints of this many numbers, with times that never go back.
fn may_have(text: &str, numbers: usize) -> bool {
    lines(text).all(|(line, _)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let times: Option<Vec<Time>> = words.iter().step_by(numbers).map(|w| instant(w)).collect();
        words.len().is_multiple_of(numbers) && times.is_some_and(|t| t.is_sorted())
    })
}

fn in_two_dimensions(text: &str) -> Result<Vec<Course>, String> {
    let mut courses = vec![];
    for ((line, number), n) in lines(text).zip(0..) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.len().is_multiple_of(FLAT) {
            let numbers = count(words.len() as u64, "number");
            return Err(format!("line {number} has {numbers}, and a waypoint has three: time, x, y"));
        }
        let point = |w: &[&str]| Some((instant(w[0])?, position(w[1], w[2])?));
        let points: Option<Vec<(Time, Position)>> = words.chunks_exact(FLAT).map(point).collect();
        let points = points.ok_or_else(|| format!("line {number} has something that is no waypoint"))?;
        let (Some(&last), false) = (points.last(), points.windows(2).any(|w| w[1].0 < w[0].0)) else {
            return Err(format!("the times in line {number} go back"));
        };
        let rest = |(at, position)| Course { at, node: n, from: position, to: position, speed: Speed(0.0) };
        for w in points.windows(2).filter(|w| w[1].0 > w[0].0) {
            let distance = w[0].1.distance(w[1].1).0;
            let speed = Speed(distance / w[1].0.since(w[0].0).as_secs());
            if speed > FASTEST {
                return Err(format!("line {number} has a node that goes faster than {FASTEST}"));
            }
            courses.push(Course { to: w[1].1, speed, ..rest(w[0]) });
        }
        courses.push(rest(last));
    }
    Ok(courses)
}

/// Writes the movements of all nodes up to an instant.
pub fn write(courses: &Courses, until: Time) -> String {
    let text = waypoints(courses, until, false);
    // A text that could be read as three-dimensional gets a duplicate waypoint, which changes nothing.
    if may_have(&text, SPATIAL) { waypoints(courses, until, true) } else { text }
}

/// Lines of all nodes; `twice` repeats the last waypoint of the first node.
fn waypoints(courses: &Courses, until: Time, twice: bool) -> String {
    let mut text = String::new();
    for n in 0..courses.nodes() {
        let node_courses: Vec<&Course> = courses.of(n).iter().filter(|c| c.at <= until).collect();
        let mut points: Vec<(Time, Position)> = vec![];
        for (i, c) in node_courses.iter().enumerate() {
            let end = node_courses.get(i + 1).map_or(until, |next| next.at);
            let segment = c.segment();
            points.push((c.at, c.from));
            if segment.moves() && segment.ends < end {
                points.push((segment.ends, c.to));
            }
            points.push((end, c.position(end)));
        }
        if let Some(first) = points.first().copied().filter(|p| p.0 > Time::ZERO) {
            points.insert(0, (Time::ZERO, first.1));
        }
        points.dedup();
        if twice && n == 0 {
            points.extend(points.last().copied());
        }
        let words = points.iter().map(|(at, p)| format!("{} {} {}", seconds(*at), p.x, p.y));
        _ = writeln!(text, "{}", words.collect::<Vec<_>>().join(" "));
    }
    text
}
