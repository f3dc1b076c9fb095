//! Courses: the movements of nodes as read from a file.

use super::formats::csv;
use super::segment::MovementSegment;
use crate::setting::{Node, Scalar, Value};
use crate::unit::{Position, Speed, Time};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Number of missing nodes that a message names.
const SHOWN: usize = 3;

/// At an instant a node is at a position and starts to move straight to another one, where it rests until its next
/// course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Instant of the start.
    pub at: Time,
    /// Number of the node.
    pub node: u32,
    /// Position at the start.
    pub from: Position,
    /// Destination of the course.
    pub to: Position,
    /// Speed on the course; 0: the node stays.
    pub speed: Speed,
}

impl Course {
    /// Movement segment of this course.
    pub fn segment(&self) -> MovementSegment {
        MovementSegment::straight(self.from, self.to, self.speed, self.at)
    }

    /// Position of a node that is on this course.
    pub fn position(&self, at: Time) -> Position {
        let segment = self.segment();
        if segment.moves() && at >= segment.ends { self.to } else { segment.at(at) }
    }
}

/// Courses of all nodes, node by node in the order of time. Before its first course a node rests at its start.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Courses(Arc<Vec<Course>>);

impl Courses {
    /// Sorts courses. Of two courses of a node at one instant the later one in the list counts.
    pub fn new(mut all: Vec<Course>) -> Courses {
        all.sort_by_key(|c| (c.node, c.at));
        all.reverse();
        all.dedup_by_key(|c| (c.node, c.at));
        all.reverse();
        Courses(Arc::new(all))
    }

    /// All courses, sorted by node and time.
    pub fn all(&self) -> &[Course] {
        &self.0
    }

    /// Courses of a node.
    pub fn of(&self, node: u32) -> &[Course] {
        let start = self.0.partition_point(|c| c.node < node);
        let end = self.0.partition_point(|c| c.node <= node);
        &self.0[start..end]
    }

    /// Returns true if there are no courses.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of nodes: one above the highest node number.
    pub fn nodes(&self) -> u32 {
        self.0.last().map_or(0, |c| c.node + 1)
    }

    /// Nodes without a course below the highest node number: the first ones, and their number.
    pub fn missing(&self) -> (Vec<u32>, u64) {
        let (mut first, mut all, mut next) = (vec![], 0_u64, 0_u32);
        for c in self.0.iter() {
            if c.node > next {
                all += u64::from(c.node - next);
                first.extend((next..c.node).take(SHOWN.saturating_sub(first.len())));
            }
            next = c.node + 1;
        }
        (first, all)
    }

    /// Initial position of a node.
    pub fn start(&self, node: u32) -> Option<Position> {
        self.of(node).first().map(|c| c.from)
    }

    /// Position of a node at an instant.
    pub fn position(&self, node: u32, at: Time) -> Option<Position> {
        let node_courses = self.of(node);
        match node_courses.partition_point(|c| c.at <= at) {
            0 => node_courses.first().map(|c| c.from),
            i => Some(node_courses[i - 1].position(at)),
        }
    }
}

impl Scalar for Courses {
    fn read(node: &Node) -> Result<Courses, String> {
        match &node.value {
            Value::Text(t) if t.is_empty() => Ok(Courses::default()),
            Value::Text(t) => csv::read(t).map(Courses::new).map_err(|e| e.to_string()),
            _ => Err(format!("expected the text of a CSV file with the columns {}", csv::COLUMNS.join(", "))),
        }
    }

    fn written(&self) -> Json {
        if self.is_empty() { json!("") } else { json!(csv::write(self)) }
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": format!("CSV text with the columns {}", csv::COLUMNS.join(", ")) })
    }
}
