//! Syntax tree of a scenario: values and tables with their positions, before their meaning is known.

use super::report::{printable, shortened};
use serde_json::Value as Json;
use std::collections::HashMap;

/// Key of a JSON object that stands for an integer that does not fit; its value is the digits.
pub const LARGE: &str = "\0integer";

/// Position of a value: source text and byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the source text.
    pub source: usize,
    /// Offset of the first byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

/// A value as it was written, before its meaning is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: `None` of Python.
    Absent,
    /// Boolean.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Digits of an integer that does not fit, as they were written.
    Large(String),
    /// Number with a fraction.
    Float(f64),
    /// Text, including quantities with units.
    Text(String),
    /// List of values.
    List(Vec<Node>),
    /// Table of entries.
    Table(Table),
}

/// A value and its position; values from a Python dict have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Value before its type is checked.
    pub value: Value,
    /// Position in the source text.
    pub origin: Option<Origin>,
}

/// A key, its position, and its value.
pub type Entry = (String, Option<Origin>, Node);

/// Tables with more keys than this get an index.
const MANY: usize = 32;

/// A table: each key once, in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
    /// Index of the keys of a large table, which avoids a linear search for each key.
    index: HashMap<String, usize>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.entries == other.entries
    }
}

impl FromIterator<Entry> for Table {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Table {
        let mut table = Table::default();
        entries.into_iter().for_each(|(key, at, node)| table.insert(key, at, node));
        table
    }
}

impl Table {
    /// Keys, positions and values.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Takes the entries out of the table.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Keys, and positions and values for writing.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&str, &mut Option<Origin>, &mut Node)> {
        self.entries.iter_mut().map(|e| (e.0.as_str(), &mut e.1, &mut e.2))
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.entries.len() > MANY {
            self.index.get(key).copied()
        } else {
            self.entries.iter().position(|e| e.0 == key)
        }
    }

    /// Value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).map(|i| &self.entries[i].2)
    }

    /// Position and value of a key, for writing.
    pub fn entry(&mut self, key: &str) -> Option<(&mut Option<Origin>, &mut Node)> {
        self.position(key).map(|i| &mut self.entries[i]).map(|e| (&mut e.1, &mut e.2))
    }

    /// Sets a key, its position, and its value.
    pub fn insert(&mut self, key: String, at: Option<Origin>, node: Node) {
        match self.position(&key) {
            Some(i) => self.entries[i] = (key, at, node),
            None => {
                if self.entries.len() > MANY {
                    self.index.insert(key.clone(), self.entries.len());
                }
                self.entries.push((key, at, node));
                if self.entries.len() == MANY + 1 {
                    self.number();
                }
            }
        }
    }

    /// Removes a key from the table.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let i = self.position(key)?;
        let (.., node) = self.entries.remove(i);
        self.number();
        Some(node)
    }

    fn number(&mut self) {
        self.index.clear();
        if self.entries.len() > MANY {
            self.index.extend(self.entries.iter().enumerate().map(|(i, e)| (e.0.clone(), i)));
        }
    }

    /// Overlays this table with `over`: tables are merged key by key, other values are replaced.
    pub fn merge(&mut self, over: Table) {
        for (key, at, node) in over.entries {
            let Some((place, old)) = self.entry(&key) else {
                self.insert(key, at, node);
                continue;
            };
            *place = at;
            match (&mut old.value, node.value) {
                (Value::Table(a), Value::Table(b)) => {
                    a.merge(b);
                    old.origin = node.origin;
                }
                (_, value) => *old = Node { value, origin: node.origin },
            }
        }
    }
}

impl Node {
    /// Kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Absent => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Int(_) | Value::Large(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Value as text, for messages.
    pub fn text(&self) -> String {
        match &self.value {
            Value::Absent => "none".into(),
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Large(digits) => shortened(digits).into_owned(),
            Value::Float(f) => f.to_string(),
            Value::Text(t) => format!("\"{}\"", printable(&shortened(t))),
            Value::List(_) | Value::Table(_) => self.kind().into(),
        }
    }

    /// Node at a dotted path below this one; numbers are list indices.
    pub fn at(&self, path: &str) -> Option<&Node> {
        let mut node = self;
        for step in path.split('.').filter(|s| !s.is_empty()) {
            node = match &node.value {
                Value::Table(t) => t.get(step)?,
                Value::List(l) => l.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// Converts JSON, the form in which a Python dict arrives.
    pub fn from_json(json: &Json) -> Node {
        let value = match json {
            Json::Null => Value::Absent,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(f64::NAN)), Value::Int),
            Json::String(s) => Value::Text(s.clone()),
            Json::Array(a) => Value::List(a.iter().map(Node::from_json).collect()),
            Json::Object(o) if o.len() == 1 && o.contains_key(LARGE) => {
                Value::Large(o[LARGE].as_str().unwrap_or_default().to_owned())
            }
            Json::Object(o) => Value::Table(o.iter().map(|(k, v)| (k.clone(), None, Node::from_json(v))).collect()),
        };
        Node { value, origin: None }
    }
}
