//! Settings: how the configuration of every room is read, written and described from one definition.
//!
//! A room declares its settings once, with [`settings!`](crate::settings) and [`keywords!`](crate::keywords). From
//! that one place come the struct, its defaults, the reader that reports *all* mistakes, the writer of effective
//! settings and the JSON Schema. The path of a field in the struct is its name in a scenario file, in Python and in
//! an error message. With a setting stand its range ([`limit`]) and when it has no effect.

pub mod absent;
pub mod csv;
mod declare;
pub mod foreign;
pub mod limit;
mod report;
mod scalar;
mod tree;

pub use report::{Problem, Report, and_known, count, is_or_are, join, printable, shortened, suggest};
pub use tree::{Entry, Node, Origin, Table, Value};

use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Anything that stands under a name in a scenario.
pub trait Setting {
    /// Takes over what is written at `path`; what is wrong goes into the report and leaves the value as it is.
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report);
    /// The value as it is written in a scenario.
    fn write(&self) -> Json;
    /// Its JSON Schema.
    fn schema(&self) -> Json;
    /// Why the setting at this path below has no effect, as far as this group alone can tell; `None`: it may have one.
    fn unused(&self, _path: &str) -> Option<&'static str> {
        None
    }
}

/// A value that is written as one word, number or text.
pub trait Scalar: Sized + Clone {
    /// The value, or what was expected instead.
    fn read(node: &Node) -> Result<Self, String>;
    /// The value as it is written.
    fn written(&self) -> Json;
    /// JSON Schema of the type.
    fn describe() -> Json;
}

impl<T: Scalar> Setting for T {
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report) {
        match T::read(node) {
            Ok(v) => *self = v,
            Err(expected) => {
                report.add(path, node.origin, format!("`{path}` cannot be {}", node.text()), Some(expected));
            }
        }
    }

    fn write(&self) -> Json {
        self.written()
    }

    fn schema(&self) -> Json {
        let mut s = T::describe();
        s["default"] = self.written();
        s
    }
}

/// A list of groups of settings, e.g. the flows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Many<T>(pub Vec<T>);

impl<T: Setting + Default> Setting for Many<T> {
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report) {
        let Value::List(list) = &node.value else {
            let help = format!("list them: {path} = [{{ ... }}]; `{path}.0` changes one that is listed");
            report.add(path, node.origin, format!("`{path}` must be a list, not {}", node.text()), Some(help));
            return;
        };
        self.0.clear();
        for (i, n) in list.iter().enumerate() {
            let mut item = T::default();
            item.apply(n, &join(path, &i.to_string()), report);
            self.0.push(item);
        }
    }
    fn write(&self) -> Json {
        Json::Array(self.0.iter().map(Setting::write).collect())
    }
    fn schema(&self) -> Json {
        json!({ "type": "array", "items": T::default().schema() })
    }
    fn unused(&self, path: &str) -> Option<&'static str> {
        let (number, rest) = path.split_once('.').unwrap_or((path, ""));
        self.0.get(number.parse::<usize>().ok()?)?.unused(rest)
    }
}

/// The schema of a field with its documentation in front of what its type says.
pub fn documented(mut schema: Json, doc: &str) -> Json {
    // Rustdoc takes a unit in brackets for a link, unless they are escaped.
    let doc = doc.trim().replace("\\[", "[").replace("\\]", "]");
    let unit = schema.get("description").and_then(Json::as_str).map(|u| format!("{doc} ({u})"));
    schema["description"] = json!(unit.unwrap_or(doc));
    schema
}

/// The documentation of a setting that has no effect when this is so.
pub fn without_effect(doc: &str, why: &str) -> Cow<'static, str> {
    format!("{} No effect if {why}.", doc.trim()).into()
}

/// The documentation of a group that one of its settings switches off.
pub fn switched(doc: &str, switch: &str, why: &str) -> Cow<'static, str> {
    format!("{} None but `{switch}` has an effect if {why}.", doc.trim()).into()
}

/// The schema of a group.
pub fn group_schema(doc: &str, fields: Map<String, Json>) -> Json {
    json!({ "type": "object", "description": doc.trim(), "properties": fields, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Span};
    use crate::{keywords, settings};

    keywords! {
        /// How.
        pub enum Mode {
            /// One way.
            This = "this",
            /// Another.
            That = "that",
        }
    }

    settings! {
        /// A group.
        pub struct Inner {
            /// How long.
            pub wait: Span = Span::us(20),
            /// How.
            pub mode: Mode = Mode::This,
            /// At most; none for no limit.
            pub limit: Option<u32> = Some(7),
        }
    }

    settings! {
        /// The whole.
        pub struct Outer {
            /// Sizes.
            pub size: Bytes = Bytes(40),
            /// The inner group.
            pub inner: Inner = Inner::default(),
            /// Several.
            pub several: Many<Inner> = Many::default(),
        }
    }

    fn read(json: Json) -> (Outer, Vec<String>) {
        let mut outer = Outer::default();
        let mut report = Report::default();
        outer.apply(&Node::from_json(&json), "", &mut report);
        let lines = report.problems.iter();
        (outer, lines.map(|p| format!("{}: {} ({})", p.path, p.message, p.help.as_deref().unwrap_or(""))).collect())
    }

    #[test]
    fn what_is_written_is_read() {
        let (o, problems) = read(json!({
            "size": "1 kB", "inner": { "mode": "that", "limit": "none" }, "several": [{ "wait": "1 ms" }, {}],
        }));
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!((o.size, o.inner.mode, o.inner.limit), (Bytes(1000), Mode::That, None));
        assert_eq!(o.several.0.iter().map(|i| i.wait).collect::<Vec<_>>(), [Span::ms(1), Span::us(20)]);
        assert_eq!(read(o.write()).0, o);
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let (o, problems) = read(json!({
            "sise": 3, "size": "40 m", "inner": { "mode": "thta", "wait": 20, "limit": -1 }, "several": [{ "x": 1 }],
        }));
        assert_eq!(
            problems,
            [
                "sise: a scenario has no setting `sise` (did you mean `size`?)",
                "size: `size` cannot be \"40 m\" (expected a number of bytes such as \"1460 B\")",
                "inner.wait: `inner.wait` cannot be 20 (expected a duration such as \"20 us\", \"100 ms\" or \"1.5 s\")",
                "inner.mode: `inner.mode` cannot be \"thta\" (did you mean `that`? known: this, that)",
                "inner.limit: `inner.limit` cannot be -1 (expected a whole number from 0 to 4294967295, or \"none\")",
                "several.0.x: `several.0` has no setting `x` (known settings: wait, mode, limit)",
            ]
        );
        assert_eq!(o.inner.limit, Some(7));
    }

    #[test]
    fn keywords_carry_their_documentation() {
        assert_eq!(
            Mode::WORDS.iter().map(|(word, doc)| (*word, doc.trim())).collect::<Vec<_>>(),
            [("this", "One way."), ("that", "Another."),]
        );
        assert_eq!(Mode::ALL.iter().map(|m| m.word()).collect::<Vec<_>>(), ["this", "that"]);
    }

    #[test]
    fn tables_merge_key_by_key() {
        let table = |j| match Node::from_json(&j).value {
            Value::Table(t) => t,
            _ => unreachable!(),
        };
        let mut a = table(json!({ "tcp": { "window": 64, "ack": "every" }, "flow": [1, 2] }));
        a.merge(table(json!({ "tcp": { "window": 3 }, "flow": [3] })));
        assert_eq!(a, table(json!({ "tcp": { "window": 3, "ack": "every" }, "flow": [3] })));
    }

    #[test]
    fn the_schema_carries_the_documentation() {
        let s = Outer::default().schema();
        assert_eq!(s["properties"]["inner"]["properties"]["mode"]["enum"], json!(["this", "that"]));
        assert_eq!(
            s["properties"]["inner"]["properties"]["limit"]["description"],
            json!("At most; none for no limit.")
        );
        assert_eq!(s["properties"]["size"]["default"], json!("40 B"));
    }
}
