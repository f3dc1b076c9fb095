//! Settings: one definition from which the configuration of every layer is read, written and described.
//!
//! A layer declares its settings once, with [`settings!`](crate::settings) and [`keywords!`](crate::keywords). This
//! declaration gives the struct, its defaults, the reader that reports *all* mistakes, the writer of effective settings
//! and the JSON Schema. The path of a field in the struct is its name in a scenario file, in Python and in an error
//! message. A setting is declared with its range ([`limit`]) and the condition under which it has an effect.

pub mod absent;
mod code;
pub mod csv;
mod declare;
pub mod foreign;
pub mod limit;
pub mod optional;
mod report;
mod scalar;
mod shared;
mod tree;

pub use code::Code;
pub use report::{Problem, Report, and_known, count, is_or_are, join, printable, shortened, suggest};
pub use shared::Shared;
pub use tree::{Entry, LARGE, Node, Origin, Table, Value};

use serde_json::{Map, Value as Json, json};
use std::any::Any;
use std::borrow::Cow;

/// Key of the level of a setting in its schema: [`EVERYDAY`] or [`EXPERT`].
pub const LEVEL: &str = "x-level";

/// Level of settings that most users need.
pub const EVERYDAY: &str = "everyday";

/// Level of all other settings.
pub const EXPERT: &str = "expert";

/// True if this build has the schema of a scenario.
pub const HAS_SCHEMA: bool = cfg!(feature = "schema");

/// A value or group with a name in a scenario.
pub trait Setting {
    /// Applies the value written at `path`; a mistake goes into the report and leaves the setting as it is.
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report);
    /// Value as written in a scenario.
    fn write(&self) -> Json;
    /// Value as written in a scenario where it differs from another one; `None` if it does not differ.
    fn changes(&self, from: &Self) -> Option<Json>
    where
        Self: Sized,
    {
        let value = self.write();
        (value != from.write()).then_some(value)
    }
    /// JSON Schema of the setting; null without the feature `schema`.
    fn schema(&self) -> Json;
    /// Shows the name of the setting, or of all settings of the group, at `path`, each with its word for no value; none
    /// without the feature `schema`.
    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>));
    /// Reason why the setting at this path below has no effect, as far as this group can tell; `None` if it may have an
    /// effect.
    fn unused(&self, path: &str) -> Option<&'static str> {
        self.unused_within(path, &())
    }
    /// The same for a group within the group `above`.
    fn unused_within(&self, _path: &str, _above: &dyn Any) -> Option<&'static str> {
        None
    }
}

/// A value written as one word, number or text.
pub trait Scalar: Sized + Clone {
    /// Reads the value, or returns the expected form.
    fn read(node: &Node) -> Result<Self, String>;
    /// Value as written in a scenario.
    fn written(&self) -> Json;
    /// JSON Schema of the type.
    fn describe() -> Json;
    /// Returns true if the value stands for none, so that a scenario must give one.
    fn is_missing(&self) -> bool {
        false
    }
}

/// A value of which settings are lists.
pub trait Listed: Scalar {
    /// An entry as written in a scenario, for the message that a list is expected.
    fn example() -> Json;
}

impl<T: Scalar> Setting for T {
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report) {
        match T::read(node) {
            Ok(v) => *self = v,
            Err(expected) => report.unreadable(path, node, expected),
        }
    }

    fn write(&self) -> Json {
        self.written()
    }

    fn schema(&self) -> Json {
        let mut s = T::describe();
        if self.is_missing() {
            // JSON Schema would refuse a file that extends one with the value.
            s["x-required"] = json!(true);
        } else {
            s["default"] = self.written();
        }
        s
    }

    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        to(path, None);
    }
}

/// A list of groups of settings, such as the flows.
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
    fn changes(&self, from: &Self) -> Option<Json> {
        let items = || self.0.iter().map(|item| item.changes(&T::default()).unwrap_or_else(|| json!({}))).collect();
        (self.write() != from.write()).then(|| Json::Array(items()))
    }
    fn schema(&self) -> Json {
        json!({ "type": "array", "items": T::default().schema() })
    }
    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        T::default().show(&join(path, "*"), to);
    }
    fn unused_within(&self, path: &str, above: &dyn Any) -> Option<&'static str> {
        let (number, rest) = path.split_once('.').unwrap_or((path, ""));
        self.0.get(number.parse::<usize>().ok()?)?.unused_within(rest, above)
    }
}

/// Returns true if the group `above` meets a condition, or is of another type than that of the condition.
pub fn is_used_within<P: 'static>(above: &dyn Any, used: fn(&P) -> bool) -> bool {
    above.downcast_ref().is_none_or(used)
}

/// Adds the documentation of a field to its schema, before the description of its type, and the level of a setting.
pub fn documented(mut schema: Json, doc: &str, level: &str) -> Json {
    // Rustdoc reads an unescaped unit in brackets as a link.
    let doc = doc.trim().replace("\\[", "[").replace("\\]", "]");
    let unit = schema.get("description").and_then(Json::as_str).map(|u| format!("{doc} ({u})"));
    schema["description"] = json!(unit.unwrap_or(doc));
    let is_group = schema.get("properties").or(schema.pointer("/items/properties")).is_some();
    if !is_group {
        schema[LEVEL] = json!(level);
    }
    schema
}

/// Documentation of a setting with the condition under which it has no effect.
pub fn without_effect(doc: &str, why: &str) -> Cow<'static, str> {
    format!("{} No effect if {why}.", doc.trim()).into()
}

/// Adds to a schema the reason why the setting at this path has no effect, between its documentation and its type.
pub fn add_reason(schema: &mut Json, path: &str, why: &str) {
    let at = path.split('.').map(|step| format!("/properties/{step}")).collect::<String>();
    let Some(Json::String(text)) = schema.pointer_mut(&format!("{at}/description")) else {
        panic!("{path} is no setting");
    };
    let end = text.find(". (").map_or(text.len(), |i| i + 1);
    text.insert_str(end, &format!(" No effect if {why}."));
}

/// Documentation of a group with the setting that switches it off.
pub fn switched(doc: &str, switch: &str, why: &str) -> Cow<'static, str> {
    format!("{} Only `{switch}` has an effect if {why}.", doc.trim()).into()
}

/// Schema of a group: everyday settings come first.
pub fn group_schema(doc: &str, fields: Map<String, Json>) -> Json {
    let is_everyday = |(_, schema): &(String, Json)| schema.get(LEVEL).is_some_and(|level| level == EVERYDAY);
    let (mut fields, others): (Map<_, _>, Map<_, _>) = fields.into_iter().partition(is_everyday);
    fields.extend(others);
    json!({ "type": "object", "description": doc.trim(), "properties": fields, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Span};
    use crate::{keywords, settings};

    keywords! {
        /// Test words.
        pub enum Mode {
            /// First word.
            This = "this",
            /// Second word.
            That = "that",
        }
    }

    settings! {
        /// Inner test group.
        pub struct Inner {
            /// Waiting time.
            pub wait: Span = Span::us(20),
            /// Test word.
            pub(everyday) mode: Mode = Mode::This,
            /// Upper limit.
            pub limit: Option<u32> | "unlimited" = Some(7)
                ; used when |c| c.mode == Mode::This, else "`mode` is not `this`"
                ; used within |outer: &Outer| outer.size.0 > 1, else "`size` is 1",
        }
    }

    settings! {
        /// Outer test group.
        pub struct Outer {
            /// A size.
            pub size: Bytes = Bytes(40),
            /// An inner group.
            pub inner: Inner = Inner::default()
                ; used when |c| c.size.0 > 0, else "`size` is 0",
            /// A list of groups.
            pub several: Many<Inner> = Many::default(),
        } where {
            "inner.wait" used when |c| c.size.0 < 100, else "`size` is not below 100 B";
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
    fn written_values_are_read_back() {
        let (o, problems) = read(json!({
            "size": "1 kB", "inner": { "mode": "that", "limit": "unlimited" }, "several": [{ "wait": "1 ms" }, {}],
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
                "size: `size` cannot be \"40 m\" (expected a number of bytes such as \"1460 B\", \"20 kB\" or \"64 KiB\")",
                "inner.wait: `inner.wait` cannot be 20 (expected a duration such as \"20 us\", \"100 ms\" or \"1.5 s\")",
                "inner.mode: `inner.mode` cannot be \"thta\" (did you mean `that`? known: this, that)",
                "inner.limit: `inner.limit` cannot be -1 (expected a whole number from 0 to 4294967295, or \"unlimited\")",
                "several.0.x: `several.0` has no setting `x` (known settings: wait, mode, limit)",
            ]
        );
        assert_eq!(o.inner.limit, Some(7));
    }

    #[test]
    fn conditions_look_at_the_group_above() {
        let of = |size, mode| {
            let mut outer = Outer { size: Bytes(size), ..Outer::default() };
            outer.inner.mode = mode;
            outer.unused("inner.limit")
        };
        assert_eq!(of(2, Mode::This), None);
        assert_eq!(of(1, Mode::This), Some("`size` is 1"));
        assert_eq!(of(1, Mode::That), Some("`mode` is not `this`"));
        assert_eq!(of(0, Mode::That), Some("`size` is 0"));
        // Alone, the inner group cannot tell.
        assert_eq!(Inner::default().unused("limit"), None);
    }

    #[test]
    fn a_group_tells_of_settings_of_its_subgroups() {
        let of = |size| Outer { size: Bytes(size), ..Outer::default() }.unused("inner.wait");
        assert_eq!([99, 100].map(of), [None, Some("`size` is not below 100 B")]);
        // Conditions of the group for the whole subgroup come first.
        assert_eq!(of(0), Some("`size` is 0"));
        let about =
            |name| Outer::default().schema()["properties"]["inner"]["properties"][name]["description"].to_string();
        assert!(
            about("wait").starts_with("\"Waiting time. No effect if `size` is not below 100 B."),
            "{}",
            about("wait")
        );
        assert!(!about("mode").contains("No effect"));
    }

    #[test]
    fn keywords_carry_their_documentation() {
        assert_eq!(
            Mode::WORDS.iter().map(|(word, doc)| (*word, doc.trim())).collect::<Vec<_>>(),
            [("this", "First word."), ("that", "Second word."),]
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
            json!("Upper limit. No effect if `mode` is not `this`. No effect if `size` is 1.")
        );
        assert_eq!(s["properties"]["size"]["default"], json!("40 B"));
    }

    #[test]
    fn schema_begins_with_the_settings_of_every_day() {
        let s = Outer::default().schema();
        let fields = s["properties"]["inner"]["properties"].as_object().expect("a group");
        let levels: Vec<_> = fields.iter().map(|(name, field)| (name.as_str(), field[LEVEL].as_str())).collect();
        assert_eq!(levels, [("mode", Some(EVERYDAY)), ("wait", Some(EXPERT)), ("limit", Some(EXPERT))]);
        assert!(s["properties"]["inner"].get(LEVEL).is_none() && s["properties"]["several"].get(LEVEL).is_none());
    }
}
