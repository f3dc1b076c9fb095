//! Former names in a scenario: replaced before the settings are read, with a warning for each.

use super::schema::to_json;
use super::source::leaves;
use super::{former_events, former_values};
use crate::setting::renames::{EventKey, generic, renamed_value};
use crate::setting::{Code, Entry, Node, Origin, Problem, Table, Value, join};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeSet, HashMap};

/// Suggestion of all warnings of this kind.
const HELP: &str = "the former name will be removed in the next version; `chappe fix FILE` rewrites a file";

/// Suggestion of warnings about values.
const VALUE_HELP: &str = "it will be an error in the next version; `chappe fix FILE` rewrites a file";

/// Settings by dotted name under their current names, and messages about former names.
pub fn of_settings(settings: &Json) -> (Json, Vec<String>) {
    let mut renaming = Renaming::default();
    let mut now = Map::new();
    for (path, value) in settings.as_object().into_iter().flatten() {
        let all = renaming.of_value(path, Node::from_json(value));
        now.extend(all.into_iter().map(|(path, node)| (path, to_json(&node))));
    }
    (Json::Object(now), renaming.warnings.into_iter().map(|p| p.message).collect())
}

/// Replacement of former names, and problems of the names that were found.
#[derive(Default)]
pub struct Renaming {
    /// Warnings about former names, one for each.
    pub warnings: Vec<Problem>,
    /// Settings given by both of their names.
    pub twice: Vec<Problem>,
    /// Former names that have a warning.
    known: BTreeSet<String>,
    /// Values that move to another group: name, position of the key, value.
    moved: Vec<(String, Option<Origin>, Node)>,
}

impl Renaming {
    /// Gives the settings of a scenario their current names.
    pub fn of_scenario(&mut self, table: &mut Table) {
        self.of_table(table, "", "");
        for (path, at, node) in std::mem::take(&mut self.moved) {
            self.put(table, "", &path, at, node);
        }
    }

    /// Current names and values for a value at a dotted name: the value itself, and parts of it that move to other
    /// groups. A former key of an event also names its action.
    pub fn of_value(&mut self, path: &str, mut node: Node) -> Vec<(String, Node)> {
        let new = former_values::name(path, &node.value).unwrap_or_else(|| path.to_owned());
        let mut all = Vec::new();
        if let Some((event, word)) = former_events::named(path) {
            self.warn_of_key(path, event, word, node.origin);
            all.extend(former_events::action_of(word, &node).map(|action| (join(event, "action"), action)));
        } else if new != path {
            self.warn(path, &new, node.origin);
        }
        let had_entries = has_entries(&node);
        self.of_node(&mut node, path, &new);
        let moved = std::mem::take(&mut self.moved).into_iter().map(|(path, _, node)| (path, node));
        let left = has_entries(&node) || !had_entries;
        all.extend(left.then_some((new, node)).into_iter().chain(moved));
        all
    }

    /// Current names and values of changes of a scenario, given one after another. A value that is changed by both of
    /// its names is an error.
    pub fn of_changes(&mut self, changes: Vec<(String, Node)>) -> Vec<(String, Node)> {
        let names = |path: &str, node: &Node| {
            let mut names = BTreeSet::new();
            leaves(node, path, &mut |name| _ = names.insert(name));
            names
        };
        let mut set: HashMap<String, bool> = HashMap::new();
        let mut now = Vec::new();
        for (path, node) in changes {
            let written = names(&path, &node);
            for (path, node) in self.of_value(&path, node) {
                for name in names(&path, &node) {
                    let is_former = !written.contains(&name);
                    if set.insert(name.clone(), is_former).is_some_and(|before| before != is_former) {
                        self.set_twice(&name, node.origin);
                    }
                }
                now.push((path, node));
            }
        }
        now
    }

    /// Gives the settings of an event their current names.
    pub fn of_single_event(&mut self, event: &mut Node) {
        self.of_node(event, "event.0", "event.0");
    }

    /// Replaces former names in a value that is called `old` in the text and `new` today.
    fn of_node(&mut self, node: &mut Node, old: &str, new: &str) {
        match &mut node.value {
            Value::Table(table) => self.of_table(table, old, new),
            Value::List(list) => {
                for (i, n) in list.iter_mut().enumerate() {
                    match n.value {
                        Value::Table(_) => self.of_node(n, &join(old, &i.to_string()), &join(new, &i.to_string())),
                        Value::Text(_) | Value::Absent => self.of_node(n, old, new),
                        _ => {}
                    }
                }
            }
            Value::Text(text) => {
                if let Some(now) = renamed_value(new, text) {
                    self.warn(text, &now, node.origin);
                    *text = now;
                } else if let Some(now) = former_values::text(new, text) {
                    self.warn_of_value(new, text, &now, node.origin);
                    // The number of decibels may be rounded: the reader still takes the ratio.
                    if text.trim().parse::<f64>().is_err() {
                        *text = now;
                    }
                }
            }
            Value::Absent => node.value = Value::Text(former_values::word(new).to_owned()),
            Value::Bool(_) | Value::Int(_) | Value::Large(_) | Value::Float(_) => {}
        }
    }

    fn of_table(&mut self, table: &mut Table, old: &str, new: &str) {
        if former_events::is_event(new) {
            self.of_event(table, old, new);
        }
        for (key, at, mut node) in std::mem::take(table).into_entries() {
            let (was, same) = (join(old, &key), join(new, &key));
            let now = former_values::name(&was, &node.value).unwrap_or_else(|| same.clone());
            if now != same {
                self.warn(&was, &now, at);
            }
            let had_entries = has_entries(&node);
            self.of_node(&mut node, &was, &now);
            if had_entries && !has_entries(&node) {
                continue;
            }
            match now.rsplit_once('.').unwrap_or(("", &now)) {
                _ if now == same => self.insert(table, &now, (key, at, node)),
                (group, name) if group == new => self.insert(table, &now, (name.to_owned(), at, node)),
                _ => self.moved.push((now, at, node)),
            }
        }
    }

    /// Replaces former keys of an event.
    fn of_event(&mut self, table: &mut Table, old: &str, new: &str) {
        let event = former_events::current(std::mem::take(table).into_entries());
        for (word, at) in event.former {
            self.warn_of_key(&join(old, word.former), new, word, at);
        }
        if let Some((first, second, at)) = event.several {
            let message = format!("`{new}` has both `{first}` and `{second}`");
            let help = "write an event for each; those at the same time come in their order";
            self.twice.push(problem(new, at, message, help));
        }
        for entry in event.entries {
            self.insert(table, &join(new, &entry.0), entry);
        }
    }

    /// Adds a warning about a former name, one for each name.
    pub fn warn(&mut self, old: &str, new: &str, at: Option<Origin>) {
        if self.known.insert(generic(old)) {
            self.warnings.push(problem(old, at, format!("`{old}` is now called `{new}`"), HELP));
        }
    }

    fn warn_of_key(&mut self, old: &str, event: &str, word: &EventKey, at: Option<Origin>) {
        if self.known.insert(generic(old)) {
            let message = format!("`{old}` is now called {}", former_events::described(event, word));
            self.warnings.push(problem(old, at, message, HELP));
        }
    }

    fn warn_of_value(&mut self, path: &str, old: &str, new: &str, at: Option<Origin>) {
        if self.known.insert(format!("{} = {old}", generic(path))) {
            self.warnings.push(problem(path, at, format!("`{path}` = \"{old}\" is now written \"{new}\""), VALUE_HELP));
        }
    }

    /// Inserts an entry of a table; tables of both names are merged.
    fn insert(&mut self, table: &mut Table, path: &str, (key, at, node): Entry) {
        match (table.entry(&key), node.value) {
            (None, value) => table.insert(key, at, Node { value, ..node }),
            (Some((_, Node { value: Value::Table(there), .. })), Value::Table(more)) => {
                for (key, at, node) in more.into_entries() {
                    self.insert(there, &join(path, &key), (key, at, node));
                }
            }
            (Some(_), _) => self.set_twice(path, at),
        }
    }

    /// Adds the error that a setting is given by both of its names.
    fn set_twice(&mut self, path: &str, at: Option<Origin>) {
        let message = format!("`{path}` is set twice, by its former and its current name");
        self.twice.push(problem(path, at, message, "set it once, by its current name"));
    }

    /// Inserts a value at the name `rest` below the table `group`; groups that are missing are made.
    fn put(&mut self, table: &mut Table, group: &str, rest: &str, at: Option<Origin>, node: Node) {
        let Some((key, deeper)) = rest.split_once('.') else {
            return self.insert(table, &join(group, rest), (rest.to_owned(), at, node));
        };
        if table.get(key).is_none() {
            table.insert(key.to_owned(), at, Node { value: Value::Table(Table::default()), origin: node.origin });
        }
        let group = join(group, key);
        let (place, after) = deeper.split_once('.').unwrap_or((deeper, ""));
        // Something else in place of a group is reported when the group is read.
        match table.entry(key).map(|(_, inner)| &mut inner.value) {
            Some(Value::Table(inner)) => self.put(inner, &group, deeper, at, node),
            Some(Value::List(list)) => {
                let item = place.parse().ok().and_then(|i: usize| list.get_mut(i));
                if let Some(Value::Table(item)) = item.map(|n| &mut n.value) {
                    self.put(item, &join(&group, place), after, at, node);
                }
            }
            _ => {}
        }
    }
}

/// Returns true if a group has settings; one whose settings have all moved to other groups is left out.
fn has_entries(node: &Node) -> bool {
    matches!(&node.value, Value::Table(table) if !table.entries().is_empty())
}

fn problem(path: &str, origin: Option<Origin>, message: String, help: &str) -> Problem {
    Problem { code: Some(Code::FormerName), path: path.to_owned(), origin, message, help: Some(help.to_owned()) }
}
