//! Settings: how the configuration of every room is read, written and described from one definition.
//!
//! A room declares its settings once, with [`settings!`](crate::settings) and [`keywords!`](crate::keywords). From
//! that one place come the struct, its defaults, the reader that reports *all* mistakes, the writer of effective
//! settings and the JSON Schema. The path of a field in the struct is its name in a scenario file, in Python and in
//! an error message.

use crate::unit::{Metres, Position, Quantity};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

/// Where a value stands: which source text, and its bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the source text.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value as it was written, before anything is known about its meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text, quantities with units included.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A value and where it stands; values from a Python dict stand nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub origin: Option<Origin>,
}

/// A key, where it stands, and its value.
pub type Entry = (String, Option<Origin>, Node);

/// Tables with more keys than this have an index.
const MANY: usize = 32;

/// A table: each key once, in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
    /// Where the keys of a large table stand: it is never searched through for each of its keys.
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
    /// Keys, where they stand, and values.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The same, taken out.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// The same, to be changed; keys stay as they are.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&mut Option<Origin>, &mut Node)> {
        self.entries.iter_mut().map(|e| (&mut e.1, &mut e.2))
    }

    fn position(&self, key: &str) -> Option<usize> {
        if self.entries.len() > MANY {
            self.index.get(key).copied()
        } else {
            self.entries.iter().position(|e| e.0 == key)
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).map(|i| &self.entries[i].2)
    }

    /// Where a key stands, and its value.
    pub fn entry(&mut self, key: &str) -> Option<(&mut Option<Origin>, &mut Node)> {
        self.position(key).map(|i| &mut self.entries[i]).map(|e| (&mut e.1, &mut e.2))
    }

    /// Sets a key, where it stands, and its value.
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

    /// Takes a key out of the table.
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

    /// Lays `over` over this table: tables are merged key by key, anything else is replaced.
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
    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Bool(_) => "a truth value",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as it might have been written, for messages.
    pub fn text(&self) -> String {
        match &self.value {
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::Float(f) => f.to_string(),
            Value::Text(t) => format!("\"{}\"", printable(&shortened(t))),
            Value::List(_) | Value::Table(_) => self.kind().into(),
        }
    }

    /// The node at a dotted path below this one; numbers are list indices.
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

    /// From JSON, as a Python dict arrives.
    pub fn from_json(json: &Json) -> Node {
        let value = match json {
            Json::Null => Value::Text("none".into()),
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(f64::NAN)), Value::Int),
            Json::String(s) => Value::Text(s.clone()),
            Json::Array(a) => Value::List(a.iter().map(Node::from_json).collect()),
            Json::Object(o) => Value::Table(o.iter().map(|(k, v)| (k.clone(), None, Node::from_json(v))).collect()),
        };
        Node { value, origin: None }
    }
}

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The dotted name of the setting, e.g. `tcp.vegas.alpha`; empty when there is none.
    pub path: String,
    /// Where it stands.
    pub origin: Option<Origin>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// So many problems are kept. Whoever has more has made one mistake many times.
const KEPT: usize = 1000;

/// All problems found so far.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order in which they were found; those after the first thousand are only counted.
    pub problems: Vec<Problem>,
    /// How many were only counted.
    pub more: usize,
}

impl Report {
    /// Adds a problem.
    pub fn add(&mut self, path: &str, origin: Option<Origin>, message: impl Into<String>, help: Option<String>) {
        self.push(Problem { path: path.into(), origin, message: message.into(), help });
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.problems.push(problem);
        }
    }

    /// Adds those of another report.
    pub fn append(&mut self, other: Report) {
        other.problems.into_iter().for_each(|p| self.push(p));
        self.more += other.more;
    }

    /// Whether further problems are only counted.
    fn is_full(&self) -> bool {
        self.problems.len() >= KEPT
    }

    /// The node as a table with only these keys; reports anything else.
    pub fn table<'a>(&mut self, node: &'a Node, path: &str, keys: &[&str]) -> Option<&'a Table> {
        let Value::Table(table) = &node.value else {
            let message = format!("{} must be a table, not {}", name_of(path), node.text());
            self.add(path, node.origin, message, Some(format!("its settings are: {}", keys.join(", "))));
            return None;
        };
        for (key, at, _) in table.entries() {
            if keys.contains(&key.as_str()) {
                continue;
            }
            if self.is_full() {
                self.more += 1;
            } else {
                let help = suggest(key, keys).unwrap_or_else(|| format!("known settings: {}", keys.join(", ")));
                let place = if path.is_empty() { "a scenario".to_owned() } else { format!("`{path}`") };
                self.add(&join(path, key), *at, format!("{place} has no setting `{}`", shortened(key)), Some(help));
            }
        }
        Some(table)
    }
}

/// A text with what a terminal would obey, or hide, written as `\u{1b}`: control characters, line breaks, marks of the
/// direction of writing, characters without width.
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if obeyed(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// So many things: `1 node`, `2 nodes`, `2 batches`, `2 entries`.
pub fn count(n: impl Into<u64>, thing: &str) -> String {
    let n = n.into();
    match thing.strip_suffix('y') {
        _ if n == 1 => format!("1 {thing}"),
        Some(stem) => format!("{n} {stem}ies"),
        None if thing.ends_with("ch") => format!("{n} {thing}es"),
        None => format!("{n} {thing}s"),
    }
}

/// `is` or `are`, before so many things.
pub fn is_or_are(n: impl Into<u64>) -> &'static str {
    if n.into() == 1 { "is" } else { "are" }
}

/// How a message calls the setting at this path.
fn name_of(path: &str) -> String {
    if path.is_empty() { "a scenario".into() } else { format!("`{path}`") }
}

/// `a.b` and `c` make `a.b.c`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

/// Longer words are cut in messages.
const LONG: usize = 80;

/// The beginning of a text that is too long for a message, or all of it.
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

/// "did you mean ...?", when one of the known words is close to what was written.
pub fn suggest(written: &str, known: &[&str]) -> Option<String> {
    if written.len() > LONG {
        return None;
    }
    let distance = |k: &&&str| strsim::damerau_levenshtein(&written.to_lowercase(), &k.to_lowercase());
    let best = known.iter().min_by_key(|k| distance(k))?;
    (distance(&best) <= 1 + written.chars().count() / 3).then(|| format!("did you mean `{best}`?"))
}

/// Anything that stands under a name in a scenario.
pub trait Setting {
    /// Takes over what is written at `path`; what is wrong goes into the report and leaves the value as it is.
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report);
    /// The value as it is written in a scenario.
    fn write(&self) -> Json;
    /// Its JSON Schema.
    fn schema(&self) -> Json;
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

impl Scalar for bool {
    fn read(node: &Node) -> Result<bool, String> {
        match node.value {
            Value::Bool(b) => Ok(b),
            _ => Err("expected true or false".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "boolean" })
    }
}

/// The largest whole number of TOML.
const LARGEST: u64 = i64::MAX as u64;

macro_rules! whole_number {
    ($($t:ty),*) => { $(
        impl Scalar for $t {
            fn read(node: &Node) -> Result<$t, String> {
                match node.value {
                    Value::Int(i) => <$t>::try_from(i).map_err(|_| {
                        format!("expected a whole number from 0 to {}", LARGEST.min(<$t>::MAX.into()))
                    }),
                    Value::Float(f) if f.fract() == 0.0 && f >= 0.0 && f <= <$t>::MAX as f64 => Ok(f as $t),
                    _ => Err("expected a whole number".into()),
                }
            }
            fn written(&self) -> Json {
                json!(self)
            }
            fn describe() -> Json {
                json!({ "type": "integer", "minimum": 0, "maximum": LARGEST.min(<$t>::MAX.into()) })
            }
        }
    )* };
}
whole_number!(u8, u16, u32, u64);

impl Scalar for f64 {
    fn read(node: &Node) -> Result<f64, String> {
        match node.value {
            Value::Int(i) => Ok(i as f64),
            Value::Float(f) if f.is_finite() => Ok(f),
            Value::Float(_) => Err("expected a finite number".into()),
            _ => Err("expected a number".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "number" })
    }
}

impl Scalar for String {
    fn read(node: &Node) -> Result<String, String> {
        match &node.value {
            Value::Text(t) => Ok(t.clone()),
            _ => Err("expected text".into()),
        }
    }
    fn written(&self) -> Json {
        json!(self)
    }
    fn describe() -> Json {
        json!({ "type": "string" })
    }
}

impl<Q: Quantity + Display + Clone> Scalar for Q {
    fn read(node: &Node) -> Result<Q, String> {
        let expected = || format!("expected {}", Q::EXPECTED);
        match &node.value {
            Value::Text(t) => Q::parse(t).ok_or_else(|| match t.trim().strip_prefix('-') {
                Some(positive) if Q::parse(positive).is_some() => "it must not be negative".to_owned(),
                _ => Q::meant(t).map_or_else(expected, |m| format!("did you mean \"{m}\"? {}", expected())),
            }),
            // A bare number is a quantity only where no unit is needed.
            Value::Int(i) => Q::from_parts(*i as f64, "").ok_or_else(expected),
            Value::Float(f) if f.is_finite() => Q::from_parts(*f, "").ok_or_else(expected),
            _ => Err(expected()),
        }
    }
    fn written(&self) -> Json {
        json!(self.to_string())
    }
    fn describe() -> Json {
        let bare = Q::from_parts(1.0, "").is_some();
        let kinds = if bare { json!(["string", "number"]) } else { json!("string") };
        json!({ "type": kinds, "description": Q::EXPECTED })
    }
}

impl Scalar for Position {
    fn read(node: &Node) -> Result<Position, String> {
        let expected = || "expected two lengths such as [\"200 m\", \"0 m\"]".to_owned();
        match &node.value {
            Value::List(l) => match l.as_slice() {
                [x, y] => Ok(Position { x: Metres::read(x)?.0, y: Metres::read(y)?.0 }),
                _ => Err(expected()),
            },
            _ => Err(expected()),
        }
    }
    fn written(&self) -> Json {
        json!([Metres(self.x).to_string(), Metres(self.y).to_string()])
    }
    fn describe() -> Json {
        json!({ "type": "array", "items": Metres::describe(), "minItems": 2, "maxItems": 2 })
    }
}

impl<T: Scalar> Scalar for Option<T> {
    fn read(node: &Node) -> Result<Option<T>, String> {
        match &node.value {
            Value::Text(t) if t == "none" => Ok(None),
            _ => T::read(node).map(Some).map_err(|e| format!("{e}, or \"none\"")),
        }
    }
    fn written(&self) -> Json {
        self.as_ref().map_or_else(|| json!("none"), Scalar::written)
    }
    fn describe() -> Json {
        json!({ "anyOf": [{ "const": "none" }, T::describe()] })
    }
}

impl<T: Scalar> Scalar for Vec<T> {
    fn read(node: &Node) -> Result<Vec<T>, String> {
        match &node.value {
            Value::List(l) => l
                .iter()
                .enumerate()
                .map(|(i, n)| T::read(n).map_err(|e| format!("entry {i} is {}: {e}", n.text())))
                .collect(),
            _ => Err("expected a list".into()),
        }
    }
    fn written(&self) -> Json {
        Json::Array(self.iter().map(Scalar::written).collect())
    }
    fn describe() -> Json {
        json!({ "type": "array", "items": T::describe() })
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
}

/// The schema of a field with its documentation in front of what its type says.
pub fn documented(mut schema: Json, doc: &str) -> Json {
    // Rustdoc takes a unit in brackets for a link, unless they are escaped.
    let doc = doc.trim().replace("\\[", "[").replace("\\]", "]");
    let unit = schema.get("description").and_then(Json::as_str).map(|u| format!("{doc} ({u})"));
    schema["description"] = json!(unit.unwrap_or(doc));
    schema
}

/// The schema of a group.
pub fn group_schema(doc: &str, fields: Map<String, Json>) -> Json {
    json!({ "type": "object", "description": doc.trim(), "properties": fields, "additionalProperties": false })
}

/// Declares a group of settings: a struct with documented fields and defaults.
#[macro_export]
macro_rules! settings {
    ($(#[doc = $doc:literal])* pub struct $Name:ident {
        $( $(#[doc = $fdoc:literal])* pub $field:ident : $T:ty = $default:expr, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            $( $(#[doc = $fdoc])* pub $field: $T, )*
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $( $field: $default, )* }
            }
        }

        impl $crate::setting::Setting for $Name {
            fn apply(&mut self, node: &$crate::setting::Node, path: &str, report: &mut $crate::setting::Report) {
                let Some(table) = report.table(node, path, &[$( stringify!($field), )*]) else { return };
                $( if let Some(n) = table.get(stringify!($field)) {
                    let path = $crate::setting::join(path, stringify!($field));
                    $crate::setting::Setting::apply(&mut self.$field, n, &path, report);
                } )*
            }

            fn write(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $( map.insert(stringify!($field).into(), $crate::setting::Setting::write(&self.$field)); )*
                serde_json::Value::Object(map)
            }

            fn schema(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                $( map.insert(
                    stringify!($field).into(),
                    $crate::setting::documented(
                        $crate::setting::Setting::schema(&self.$field), concat!("", $($fdoc, "\n"),*)),
                ); )*
                $crate::setting::group_schema(concat!("", $($doc, "\n"),*), map)
            }
        }
    };
}

/// Declares a setting that is one of a few words: an enum whose variants carry their word and one line of help.
#[macro_export]
macro_rules! keywords {
    ($(#[doc = $doc:literal])* pub enum $Name:ident {
        $( $(#[doc = $vdoc:literal])* $Variant:ident = $word:literal, )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name {
            $( $(#[doc = $vdoc])* $Variant, )*
        }

        impl $Name {
            /// Every word with its line of help, in the order of the registry.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[
                $( ($word, concat!("", $($vdoc, "\n"),*)), )*
            ];

            /// The word of this variant.
            pub fn word(self) -> &'static str {
                match self { $( $Name::$Variant => $word, )* }
            }
        }

        impl $crate::setting::Scalar for $Name {
            fn read(node: &$crate::setting::Node) -> Result<Self, String> {
                let known = [$( $word, )*];
                if let $crate::setting::Value::Text(t) = &node.value {
                    match t.as_str() {
                        $( $word => return Ok($Name::$Variant), )*
                        _ => {}
                    }
                    if let Some(s) = $crate::setting::suggest(t, &known) {
                        return Err(format!("{s} known: {}", known.join(", ")));
                    }
                }
                Err(format!("expected one of: {}", known.join(", ")))
            }
            fn written(&self) -> serde_json::Value {
                serde_json::json!(self.word())
            }
            fn describe() -> serde_json::Value {
                serde_json::json!({ "enum": [$( $word, )*] })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Span};

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
