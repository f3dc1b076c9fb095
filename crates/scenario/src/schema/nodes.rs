//! Sets of nodes, and settings of single nodes.

use super::Overrides;
use chappe_core::net::queue;
use chappe_core::setting::{Node, Scalar, Value};
use chappe_core::{mobility, radio, settings, wlan};
use serde_json::{Value as Json, json};

/// A set of node numbers as ranges: first and last.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NodeSet(pub Vec<(u32, u32)>);

impl NodeSet {
    /// Ranges of the set, sorted and without overlaps.
    pub fn ranges(&self) -> Vec<(u32, u32)> {
        let mut ranges = self.0.clone();
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match apart.last_mut().filter(|last| range.0 <= last.1) {
                Some(last) => last.1 = last.1.max(range.1),
                None => apart.push(range),
            }
        }
        apart
    }
}

impl Scalar for NodeSet {
    fn read(node: &Node) -> Result<NodeSet, String> {
        let expected = || "expected a set of nodes such as 3, \"3-7\", \"0, 4-9\" or [1, 4]".to_owned();
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        match &node.value {
            Value::Int(n) => u32::try_from(*n).map(|n| NodeSet(vec![(n, n)])).map_err(|_| expected()),
            Value::Text(t) => t.split(',').map(range).collect::<Option<Vec<_>>>().map(NodeSet).ok_or_else(expected),
            Value::List(list) if !list.is_empty() => {
                let numbers = list.iter().map(|n| u32::read(n).map(|n| (n, n))).collect::<Result<_, _>>();
                numbers.map(NodeSet).map_err(|_| expected())
            }
            _ => Err(expected()),
        }
    }

    fn written(&self) -> Json {
        let range = |r: &(u32, u32)| if r.0 == r.1 { r.0.to_string() } else { format!("{}-{}", r.0, r.1) };
        json!(self.0.iter().map(range).collect::<Vec<_>>().join(", "))
    }

    fn describe() -> Json {
        let example = "a set of nodes such as 3, \"3-7\", \"0, 4-9\" or [1, 4]";
        json!({ "type": ["integer", "string", "array"], "items": { "type": "integer" }, "minItems": 1, "description": example })
    }
}

/// Name of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeName(pub String);

impl NodeName {
    /// Longest name, in characters.
    const LONGEST: usize = 60;

    /// Returns true for a word that stands for no node, or for any.
    pub fn is_taken(text: &str) -> bool {
        ["none", "random", "all", "inherit", "nearest"].contains(&text)
    }

    /// Returns true for a text that looks like a number or a range.
    pub fn is_number(text: &str) -> bool {
        let is_sign = |c: char| c.is_ascii_digit() || ['-', '.', '_', ' ', '+'].contains(&c);
        text.chars().all(is_sign) || text.parse::<f64>().is_ok()
    }
}

impl Scalar for NodeName {
    fn read(node: &Node) -> Result<NodeName, String> {
        let Value::Text(text) = &node.value else { return Err("expected text, such as \"roof-17\"".into()) };
        let is_part = |c: char| c.is_alphanumeric() || ['_', '-', '.'].contains(&c);
        if NodeName::is_taken(text) {
            return Err(format!("\"{text}\" has a meaning where nodes are named, expected another name"));
        }
        if !text.is_empty() && NodeName::is_number(text) {
            return Err("it looks like a number or a range, expected a name such as \"roof-17\"".into());
        }
        if text.is_empty() || !text.chars().all(is_part) || text.chars().count() > NodeName::LONGEST {
            let most = NodeName::LONGEST;
            return Err(format!(
                "expected a name of letters, digits, `_`, `-` and `.`, up to {most}, such as \"roof-17\""
            ));
        }
        Ok(NodeName(text.clone()))
    }

    fn written(&self) -> Json {
        json!(self.0)
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": "such as \"roof-17\"" })
    }
}

settings! {
    /// Settings of some nodes that differ from the common ones. For a node in two of these groups, the later group
    /// applies.
    pub struct Own {
        /// Numbers or names of the nodes.
        pub nodes: NodeSet = NodeSet::default(),
        /// Name of the node, by which settings and tables may call it and outputs do. The column `name` of
        /// `topology.file` gives names, too.
        pub name: Option<NodeName> | "none" = None,
        /// Gateway through which packets of these nodes leave the radio; "nearest": any. Only with
        /// `routing.gateways = "announced"`.
        pub gateway: Option<u32> | "nearest" = None,
        /// Radio settings of these nodes that differ from `radio`.
        pub radio: Overrides<radio::Config> = Overrides::default(),
        /// MAC settings of these nodes that differ from `wlan`.
        pub wlan: Overrides<wlan::Config> = Overrides::default(),
        /// Interface queue settings of these nodes that differ from `queue`.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Mobility settings of these nodes that differ from `mobility`.
        pub mobility: Overrides<mobility::Config> = Overrides::default(),
    }
}
