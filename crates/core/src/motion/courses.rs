//! The ways of nodes as a file tells them.

use super::formats::csv;
use super::leg::Leg;
use crate::setting::{Node, Scalar, Value};
use crate::unit::{Position, Speed, Time};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// So many nodes are named of those that are missing.
const SHOWN: usize = 3;

/// At an instant a node is at a place and starts to move straight to another one; there it rests until its next course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// When.
    pub at: Time,
    /// Number of the node.
    pub node: u32,
    /// Where it is.
    pub from: Position,
    /// Where it goes.
    pub to: Position,
    /// How fast; 0: it stays.
    pub speed: Speed,
}

impl Course {
    /// The leg on this course.
    pub fn leg(&self) -> Leg {
        Leg::walk(self.from, self.to, self.speed, self.at)
    }

    /// Where a node is that has been on this course up to an instant.
    pub fn position(&self, at: Time) -> Position {
        let leg = self.leg();
        if leg.moves() && at >= leg.ends { self.to } else { leg.at(at) }
    }
}

/// The courses of all nodes, node by node in the order of their times. Before its first one a node is where that begins.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Courses(Arc<Vec<Course>>);

impl Courses {
    /// Puts courses in order. Of two of a node at one instant the later one counts.
    pub fn new(mut all: Vec<Course>) -> Courses {
        all.sort_by_key(|c| (c.node, c.at));
        all.reverse();
        all.dedup_by_key(|c| (c.node, c.at));
        all.reverse();
        Courses(Arc::new(all))
    }

    /// All of them.
    pub fn all(&self) -> &[Course] {
        &self.0
    }

    /// Those of a node.
    pub fn of(&self, node: u32) -> &[Course] {
        let start = self.0.partition_point(|c| c.node < node);
        let end = self.0.partition_point(|c| c.node <= node);
        &self.0[start..end]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number after that of the last node.
    pub fn nodes(&self) -> u32 {
        self.0.last().map_or(0, |c| c.node + 1)
    }

    /// Nodes of which nothing is said, although one with a higher number is there: the first ones, and how many there are.
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

    /// Where a node begins.
    pub fn start(&self, node: u32) -> Option<Position> {
        self.of(node).first().map(|c| c.from)
    }

    /// Where a node is at an instant.
    pub fn position(&self, node: u32, at: Time) -> Option<Position> {
        let own = self.of(node);
        match own.partition_point(|c| c.at <= at) {
            0 => own.first().map(|c| c.from),
            i => Some(own[i - 1].position(at)),
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
