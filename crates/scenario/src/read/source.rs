//! Source texts of a scenario: TOML with positions, files that extend each other, overrides.

use super::super::schema;
use super::super::schema::presets;
use super::file_or_text;
use chappe_core::setting::{Entry, Node, Origin, Report, Table, Value, absent, count, join, shortened, suggest};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Format of scenario files.
pub const FORMAT: i64 = 1;
/// Limit on nested tables and lists; no setting is nested deeper than five.
const MAX_DEPTH: usize = 32;
/// Longest text [B]: hundreds of thousands of positions or flows.
const MAX_TEXT: usize = 10_000_000;
/// Limit on the number of files that extend each other.
const MAX_LAYERS: usize = 1000;

/// Access to the files that a scenario extends. The core itself opens no file.
pub trait Files {
    /// Text of the file `name` as meant in a scenario named `from`, and its name in messages.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn read(&self, name: &str, from: &str) -> Result<(String, String), String>;
}

/// No files: only presets can be extended.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        Err(format!("there is no preset `{name}`"))
    }
}

/// Names and texts of all sources in reading order.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Name and text of each source.
    pub texts: Vec<(String, String)>,
    /// Numbers of the sources that others extend: presets and files.
    extended: Vec<usize>,
}

impl Sources {
    /// Name of the scenario or file that sets a value, in whose folder the files lie that the value names.
    pub fn named_by(&self, node: Option<&Node>) -> &str {
        let extended = node.and_then(|n| n.origin).map(|o| o.source).filter(|source| self.extended.contains(source));
        let own = || Some(0).filter(|source| !self.extended.contains(source));
        extended.or_else(own).and_then(|source| self.texts.get(source)).map_or("scenario", |text| &text.0)
    }

    /// Returns true if the scenario itself sets this value, not a preset or a file that it extends.
    pub fn is_own(&self, node: &Node) -> bool {
        !node.origin.is_some_and(|o| self.extended.contains(&o.source))
    }
}

/// Reads a scenario and all files that it extends into one tree.
pub struct Reader<'a> {
    /// Files that the scenario names.
    pub files: &'a dyn Files,
    /// Texts that have been read.
    pub sources: Sources,
    /// Problems found so far.
    pub report: Report,
    /// Names of the scenarios being read, to detect cycles.
    open: Vec<String>,
    /// Number of files read because others extend them.
    layers: usize,
}

impl<'a> Reader<'a> {
    /// A reader without texts.
    pub fn new(files: &'a dyn Files) -> Reader<'a> {
        let report = Report { named: Some(schema::named), ..Report::default() };
        Reader { files, sources: Sources::default(), report, open: Vec::new(), layers: 0 }
    }

    /// Reads a TOML text and all files that it extends.
    pub fn read(&mut self, name: &str, text: &str) -> Table {
        let mut table = self.parse(name, text);
        self.begin(&mut table);
        self.extend_as(name, table)
    }

    /// Overlays the files that a scenario of this name extends with its table.
    fn extend_as(&mut self, name: &str, table: Table) -> Table {
        self.open.push(name.to_owned());
        let merged = self.extend(table, name);
        self.open.pop();
        merged
    }

    /// Checks the format of a scenario.
    pub fn begin(&mut self, table: &mut Table) {
        if let Some(format) = table.remove("format")
            && format.value != Value::Int(FORMAT)
        {
            let message = format!("`format` is {}, and this version of Chappe reads format {FORMAT}", format.text());
            let help = "leave it out, or use the version of Chappe that wrote the file".to_owned();
            self.report.add("format", format.origin, message, Some(help));
        }
    }

    /// Overlays the extended files with a table.
    pub fn extend(&mut self, mut own: Table, name: &str) -> Table {
        let mut base = Table::default();
        let Some(mut extends) = own.remove("extends") else {
            self.overlay(&mut base, own);
            return base;
        };
        if let (Value::Table(_), None) = (&extends.value, extends.origin) {
            return self.over_table(&mut extends, own);
        }
        let names = match &extends.value {
            Value::Text(_) => vec![extends.clone()],
            Value::List(l) => l.clone(),
            _ => vec![],
        };
        if names.is_empty() {
            let help = "expected a preset, a file, or a list of them".to_owned();
            self.report.add("extends", extends.origin, format!("`extends` cannot be {}", extends.text()), Some(help));
        }
        for node in names {
            let Value::Text(wanted) = &node.value else {
                self.report.add("extends", node.origin, format!("`extends` cannot name {}", node.text()), None);
                continue;
            };
            let layer = self.layer(wanted, name, node.origin);
            self.overlay(&mut base, layer);
        }
        self.overlay(&mut base, own);
        base
    }

    fn overlay(&mut self, base: &mut Table, over: Table) {
        file_or_text::replace(base, &over, &mut self.report);
        base.merge(over);
    }

    /// Overlays a table kept apart by [`Scenario::written`](crate::Scenario::written).
    fn over_table(&mut self, extends: &mut Node, own: Table) -> Table {
        let source = self.sources.texts.len();
        self.sources.extended.push(source);
        self.sources.texts.push(("extends".to_owned(), String::new()));
        set_origin(extends, Some(Origin { source, start: 0, end: 0 }));
        let Value::Table(base) = &mut extends.value else { return own };
        base.merge(own);
        std::mem::take(base)
    }

    /// Reports values that are set twice, by a dotted name and by `own` or another dotted name.
    pub fn report_twice(&mut self, own: &Table, dotted: &[(String, Node)]) {
        if dotted.is_empty() {
            return;
        }
        let mut set_before = BTreeSet::new();
        let whole = Node { value: Value::Table(own.clone()), origin: None };
        leaves(&whole, "", &mut |name| _ = set_before.insert(name));
        for (path, node) in dotted {
            leaves(node, path, &mut |name| {
                let within = format!("{name}.");
                let deeper = set_before.range(within.clone()..).next().is_some_and(|n| n.starts_with(&within));
                if deeper || set_before.contains(&name) {
                    let help = "set it once, by its dotted name or within its group".to_owned();
                    self.report.add(&name, None, format!("`{name}` is set twice"), Some(help));
                }
                set_before.insert(name);
            });
        }
    }

    fn layer(&mut self, wanted: &str, from: &str, origin: Option<Origin>) -> Table {
        self.layers += 1;
        if self.layers > MAX_LAYERS {
            if self.layers == MAX_LAYERS + 1 {
                let message = format!("more than {MAX_LAYERS} scenarios are extended");
                self.report.add("extends", origin, message, None);
            }
            return Table::default();
        }
        if self.open.iter().any(|n| n == wanted) {
            let message = format!("`{}` extends itself", shortened(wanted));
            self.report.add("extends", origin, message, None);
            return Table::default();
        }
        if let Some(text) = presets::text(wanted) {
            let source = self.sources.texts.len();
            self.sources.extended.push(source);
            self.sources.texts.push((wanted.to_owned(), text.to_owned()));
            let mut table = preset(wanted, text).clone();
            move_to(&mut table, source);
            return self.extend_as(wanted, table);
        }
        match self.files.read(wanted, from) {
            Ok((name, _)) if self.open.contains(&name) => {
                self.report.add("extends", origin, format!("`{name}` extends itself"), None);
                Table::default()
            }
            Ok((name, text)) => {
                self.sources.extended.push(self.sources.texts.len());
                self.read(&name, &text)
            }
            Err(why) => {
                let help = suggest(wanted, presets::NAMES)
                    .unwrap_or_else(|| format!("presets: {}", presets::NAMES.join(", ")));
                self.report.add("extends", origin, format!("cannot extend `{}`: {why}", shortened(wanted)), Some(help));
                Table::default()
            }
        }
    }

    /// Parses a TOML text into a tree; reports syntax errors, and keeps the readable parts.
    pub fn parse(&mut self, name: &str, text: &str) -> Table {
        let source = self.sources.texts.len();
        if text.len() > MAX_TEXT {
            self.sources.texts.push((name.to_owned(), String::new()));
            let message = format!("{:.1} MB of text; a scenario has at most 10 MB", text.len() as f64 / 1e6);
            let help = "places and flows can be kept as CSV files: `topology.file`, `traffic.file`".to_owned();
            self.report.add("", Some(Origin { source, start: 0, end: 0 }), message, Some(help));
            return Table::default();
        }
        self.sources.texts.push((name.to_owned(), text.to_owned()));
        let (table, errors) = DeTable::parse_recoverable(text);
        let cut_off = errors.iter().filter(|e| e.message().contains("unclosed table"));
        let cut_at = cut_off.filter_map(|e| e.span()).map(|span| span.start).min();
        for e in errors {
            // The parser has no position for values nested too deep.
            let (start, end) = e.span().map_or((0, 0), |s| (s.start, s.end));
            let message = match e.message() {
                m if m.contains("recurs") => format!("more than {MAX_DEPTH} nested tables and lists"),
                m => format!("not valid TOML: {m}"),
            };
            self.report.add("", Some(Origin { source, start, end }), message, None);
        }
        let read = self.table(table.get_ref(), source, "", 0);
        // Entries after a truncated heading belong to an unknown table, not to the scenario itself.
        let stands = |(_, at, _): &Entry| {
            let is_heading = |start: usize| text[..start].trim_end().ends_with('[');
            at.zip(cut_at).is_none_or(|(at, cut)| at.start < cut || is_heading(at.start))
        };
        read.into_entries().into_iter().filter(stands).collect()
    }

    fn table(&mut self, table: &DeTable<'_>, source: usize, path: &str, depth: usize) -> Table {
        let mut entries = Table::default();
        for (key, value) in table {
            let span = key.span();
            let at = Origin { source, start: span.start, end: span.end };
            let node = self.node(value, source, &join(path, key.get_ref()), depth + 1);
            entries.insert(key.get_ref().to_string(), Some(at), node);
        }
        entries
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, source: usize, path: &str, depth: usize) -> Node {
        let span = value.span();
        let origin = Some(Origin { source, start: span.start, end: span.end });
        let value = match value.get_ref() {
            DeValue::Array(_) | DeValue::Table(_) if depth > MAX_DEPTH => {
                self.report.add(path, origin, format!("more than {MAX_DEPTH} nested tables and lists"), None);
                Value::Table(Table::default())
            }
            DeValue::String(s) => Value::Text(s.to_string()),
            DeValue::Integer(i) => match i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()) {
                Ok(n) => Value::Int(n),
                Err(_) if i.radix() == 10 => Value::Large(i.as_str().replace('_', "")),
                // With its prefix.
                Err(_) => Value::Large(i.to_string().replace('_', "")),
            },
            DeValue::Float(f) => Value::Float(f.as_str().replace('_', "").parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Datetime(d) => Value::Text(d.to_string()),
            DeValue::Array(a) => {
                let items = a.iter().enumerate();
                Value::List(items.map(|(i, v)| self.node(v, source, &join(path, &i.to_string()), depth + 1)).collect())
            }
            DeValue::Table(t) => Value::Table(self.table(t, source, path, depth)),
        };
        Node { value, origin }
    }

    /// Refuses integers that do not fit, where no setting says its range.
    pub fn refuse_large(&mut self, node: &Node, path: &str) {
        match &node.value {
            Value::Large(digits) => {
                let help = format!("whole numbers are at most {}", i64::MAX);
                self.report.add(path, node.origin, format!("{} is too large", shortened(digits)), Some(help));
            }
            Value::List(entries) => {
                entries.iter().enumerate().for_each(|(i, n)| self.refuse_large(n, &join(path, &i.to_string())));
            }
            Value::Table(table) => table.entries().iter().for_each(|(k, _, n)| self.refuse_large(n, &join(path, k))),
            _ => {}
        }
    }

    /// Value of a dotted override from a command line: TOML if it parses, text otherwise.
    pub fn override_value(&mut self, key: &str, written: &str) -> Node {
        let source = self.sources.texts.len();
        let text = format!("{key}={written}");
        let start = key.len() + 1;
        let origin = Some(Origin { source, start, end: text.len() });
        let value = match DeValue::parse(written) {
            Ok(v) => self.node(&v, source, key, 0).value,
            Err(_) => Value::Text(written.to_owned()),
        };
        self.sources.texts.push(("--set".into(), text));
        let mut node = Node { value, origin: None };
        set_origin(&mut node, origin);
        node
    }

    /// Sets values at dotted names; returns the names of all that is set.
    pub fn set_all(&mut self, tree: &mut Table, changes: Vec<(String, Node)>) -> Vec<String> {
        let mut over = Table::default();
        for (path, node) in changes.iter().filter(|change| file_or_text::concerns(&change.0)) {
            self.set(&mut over, path, node.clone());
        }
        file_or_text::replace(tree, &over, &mut self.report);
        let mut changed = Vec::new();
        for (path, node) in changes {
            leaves(&node, &path, &mut |name| changed.push(name));
            self.set(tree, &path, node);
        }
        changed
    }

    /// Sets a value at a dotted path, creating tables as needed.
    pub fn set(&mut self, tree: &mut Table, path: &str, node: Node) {
        if path.split('.').count() > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} names in a row: `{}`", shortened(path));
            self.report.add(path, node.origin, message, None);
            return;
        }
        if path == "extends" {
            let absent = match &node.value {
                Value::Text(word) => absent::absent(word, presets::NAMES),
                _ => None,
            };
            let help = absent.unwrap_or_else(|| "write a file that extends another, or has these lines".to_owned());
            self.report.add(path, node.origin, "`extends` cannot be changed from outside", Some(help));
            return;
        }
        let (key, rest) = path.split_once('.').map_or((path, None), |(k, r)| (k, Some(r)));
        let origin = node.origin;
        // On a command line the path precedes the value, as `path=value`.
        let start = |o: Origin| o.start.saturating_sub(1 + path.len());
        let name = origin.map(|o| Origin { start: start(o), end: start(o) + key.len(), ..o });
        let Some(rest) = rest else {
            match tree.entry(key) {
                Some((place, old)) => {
                    *place = name;
                    match (&mut old.value, node.value) {
                        (Value::Table(old), Value::Table(new)) => old.merge(new),
                        (_, value) => *old = Node { value, origin },
                    }
                }
                None => tree.insert(key.to_owned(), name, node),
            }
            return;
        };
        if tree.get(key).is_none() {
            let (number, deeper) = rest.split_once('.').unwrap_or((rest, ""));
            if number.parse::<usize>().is_ok() {
                let every = match key {
                    "flow" if ["tcp", "bulk", "cbr"].contains(&deeper.split('.').next().unwrap_or_default()) => {
                        format!("; `{deeper}` sets it for all flows")
                    }
                    _ => String::new(),
                };
                let help = format!("`{path}` changes one that is listed: {key} = [{{ ... }}]{every}");
                self.report.add(
                    path,
                    origin,
                    format!("no `{key}` is listed: there is no `{key}.{number}`"),
                    Some(help),
                );
                return;
            }
            let empty = Node { value: Value::Table(Table::default()), origin };
            tree.insert(key.to_owned(), name, empty);
        }
        let (_, entry) = tree.entry(key).expect("just made");
        match &mut entry.value {
            Value::Table(t) => self.set(t, rest, node),
            Value::List(l) => {
                let (index, deeper) = rest.split_once('.').map_or((rest, None), |(k, r)| (k, Some(r)));
                let entries = l.len() as u64;
                match (index.parse::<usize>().ok().and_then(|i| l.get_mut(i)), deeper) {
                    (Some(item), Some(deeper)) => match &mut item.value {
                        Value::Table(t) => self.set(t, deeper, node),
                        _ => {
                            self.report.add(path, origin, format!("`{key}.{}` has no settings", shortened(index)), None)
                        }
                    },
                    (Some(item), None) => *item = node,
                    (None, _) => {
                        let there = count(entries, "entry");
                        let numbered = match key {
                            "flow" => "entries are numbered from 0; flows between several nodes are one entry",
                            _ => "entries are numbered from 0",
                        };
                        let message = format!("`{key}` has {there}, there is no `{key}.{}`", shortened(index));
                        self.report.add(path, origin, message, Some(numbered.to_owned()));
                    }
                }
            }
            _ => {
                self.report.add(
                    path,
                    origin,
                    format!("`{key}` is a value and has no setting `{}`", shortened(rest)),
                    None,
                );
            }
        }
    }
}

/// Removes the entries with dotted names from the tables in a node at `path`; returns full names and values.
pub fn take_dotted(node: &mut Node, path: &str) -> Vec<(String, Node)> {
    let mut entries = Vec::new();
    match &mut node.value {
        Value::Table(t) => {
            let (dotted, mut plain): (Vec<_>, Vec<_>) =
                std::mem::take(t).into_entries().into_iter().partition(|e| e.0.contains('.'));
            for (key, _, inner) in &mut plain {
                entries.append(&mut take_dotted(inner, &join(path, key)));
            }
            *t = plain.into_iter().collect();
            for (key, _, mut inner) in dotted {
                let path = join(path, &key);
                let deeper = take_dotted(&mut inner, &path);
                entries.push((path, inner));
                entries.extend(deeper);
            }
        }
        Value::List(l) => {
            for (i, inner) in l.iter_mut().enumerate() {
                entries.append(&mut take_dotted(inner, &join(path, &i.to_string())));
            }
        }
        _ => {}
    }
    entries
}

/// Reports the names of all values in a node at `path`. An empty list is a value; an empty table sets nothing.
pub fn leaves(node: &Node, path: &str, tell: &mut dyn FnMut(String)) {
    match &node.value {
        Value::Table(t) => t.entries().iter().for_each(|(key, _, inner)| leaves(inner, &join(path, key), tell)),
        Value::List(l) if !l.is_empty() => {
            l.iter().enumerate().for_each(|(i, inner)| leaves(inner, &join(path, &i.to_string()), tell));
        }
        _ => tell(path.to_owned()),
    }
}

/// Returns true if the name `a` is `b`, or a setting in the group `b`.
pub fn within(a: &str, b: &str) -> bool {
    a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Tree of a preset, with positions in source 0. To parse one takes longer than to read a small scenario, so each is
/// parsed once.
fn preset(name: &str, text: &str) -> &'static Table {
    const COUNT: usize = presets::WORDS.len();
    static TREES: [OnceLock<Table>; COUNT] = [const { OnceLock::new() }; COUNT];
    let number = presets::WORDS.iter().position(|word| word.0 == name).expect("it has a text");
    TREES[number].get_or_init(|| {
        let mut reader = Reader::new(&NoFiles);
        let mut table = reader.parse(name, text);
        reader.begin(&mut table);
        table
    })
}

/// Moves the positions of a tree to another source.
fn move_to(table: &mut Table, source: usize) {
    fn node(inner: &mut Node, source: usize) {
        inner.origin = inner.origin.map(|o| Origin { source, ..o });
        match &mut inner.value {
            Value::List(l) => l.iter_mut().for_each(|n| node(n, source)),
            Value::Table(t) => move_to(t, source),
            _ => {}
        }
    }
    table.entries_mut().for_each(|(_, place, inner)| {
        *place = place.map(|o| Origin { source, ..o });
        node(inner, source);
    });
}

/// Gives all values of an override the position of the override.
fn set_origin(node: &mut Node, origin: Option<Origin>) {
    node.origin = origin;
    match &mut node.value {
        Value::List(l) => l.iter_mut().for_each(|n| set_origin(n, origin)),
        Value::Table(t) => t.entries_mut().for_each(|(_, place, inner)| {
            *place = origin;
            set_origin(inner, origin);
        }),
        _ => {}
    }
}
