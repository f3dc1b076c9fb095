//! End of a run: a number of delivered packets, or an instant.

use crate::setting::{Node, Scalar, Value};
use crate::unit::{Quantity, Time};
use serde_json::{Value as Json, json};

/// Stop rule of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Stops when this number of packets has been delivered, over all flows.
    Delivered(u64),
    /// Stops at this instant.
    At(Time),
}

impl Scalar for Stop {
    fn read(node: &Node) -> Result<Stop, String> {
        let expected =
            || "expected a number of packets such as \"110000 delivered\" or a time such as \"1000 s\"".to_owned();
        let Value::Text(t) = &node.value else { return Err(expected()) };
        if let Some(n) = t.trim().strip_suffix("delivered") {
            return n.trim().replace('_', "").parse().map(Stop::Delivered).map_err(|_| expected());
        }
        let meant = || Time::meant(t).map_or_else(expected, |m| format!("did you mean \"{m}\"? {}", expected()));
        Time::parse(t).map(Stop::At).ok_or_else(meant)
    }

    fn written(&self) -> Json {
        match self {
            Stop::Delivered(n) => json!(format!("{n} delivered")),
            Stop::At(at) => json!(at.to_string()),
        }
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": "such as \"110000 delivered\" or \"1000 s\"" })
    }

    fn is_missing(&self) -> bool {
        *self == Stop::At(Time::ZERO)
    }
}
