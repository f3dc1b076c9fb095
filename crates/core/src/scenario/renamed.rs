//! Former names in a scenario: replaced before the settings are read, with a warning for each.

use super::schema::to_json;
use crate::setting::renames::{converted, former, generic, renamed};
use crate::setting::{Entry, Node, Origin, Problem, Table, Value, join};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// Suggestion of all warnings of this kind.
const HELP: &str = "the former name goes with the next version; `chappe fix FILE` rewrites a file";

/// Settings by dotted name under their names of today, and messages about former names.
pub fn of_settings(settings: &Json) -> (Json, Vec<String>) {
    let mut renaming = Renaming::default();
    let mut now = Map::new();
    for (path, value) in settings.as_object().into_iter().flatten() {
        let all = renaming.of_value(path, Node::from_json(value));
        now.extend(all.into_iter().map(|(path, node)| (path, to_json(&node))));
    }
    (Json::Object(now), renaming.warnings.into_iter().map(|p| p.message).collect())
}

/// All settings under their former names, as the version before wrote them.
pub fn under_former_names(settings: &Json) -> Json {
    fn collect(value: &Json, path: &str, all: &mut Json) {
        match value {
            Json::Object(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(key, inner)| collect(inner, &join(path, key), all));
            }
            Json::Array(items) if items.iter().any(Json::is_object) => {
                items.iter().zip(0..).for_each(|(inner, i): (_, u32)| collect(inner, &join(path, &i.to_string()), all));
            }
            _ => {
                let path = former(path).unwrap_or_else(|| path.to_owned());
                *path.split('.').fold(all, |at, step| place(at, step)) = value.clone();
            }
        }
    }
    /// Field of an object or item of a list; made if it is missing.
    fn place<'a>(at: &'a mut Json, step: &str) -> &'a mut Json {
        match step.parse::<usize>() {
            Ok(i) => {
                if !at.is_array() {
                    *at = Json::Array(vec![]);
                }
                let items = at.as_array_mut().expect("just made");
                items.resize(items.len().max(i + 1), Json::Null);
                &mut items[i]
            }
            Err(_) => {
                if !at.is_object() {
                    *at = Json::Object(Map::new());
                }
                at.as_object_mut().expect("just made").entry(step).or_insert(Json::Null)
            }
        }
    }
    let mut all = Json::Object(Map::new());
    collect(settings, "", &mut all);
    all
}

/// Replacement of former names, and what it met.
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
    /// Gives the settings of a scenario their names of today.
    pub fn of_scenario(&mut self, table: &mut Table) {
        let mut root = Node { value: Value::Table(std::mem::take(table)), origin: None };
        self.of_node(&mut root, "", "");
        let moved = std::mem::take(&mut self.moved);
        let Value::Table(root) = root.value else { unreachable!("it is a table") };
        *table = root;
        for (path, at, node) in moved {
            self.put(table, &path, &path, at, node);
        }
    }

    /// Names of today for a value at a dotted name: the value itself, and parts of it that move to another group.
    pub fn of_value(&mut self, path: &str, mut node: Node) -> Vec<(String, Node)> {
        let new = renamed(path).unwrap_or_else(|| path.to_owned());
        if new != path {
            self.warn(path, &new, node.origin);
        }
        self.of_node(&mut node, path, &new);
        let moved = std::mem::take(&mut self.moved).into_iter().map(|(path, _, node)| (path, node));
        std::iter::once((new, node)).chain(moved).collect()
    }

    /// Renames what is inside of a node that is called `old` in the text and `new` today.
    fn of_node(&mut self, node: &mut Node, old: &str, new: &str) {
        match &mut node.value {
            Value::Table(table) => {
                let entries = std::mem::take(table).into_entries();
                for (key, at, mut inner) in entries {
                    let (was, same) = (join(old, &key), join(new, &key));
                    let now = renamed(&was).unwrap_or_else(|| same.clone());
                    if now != same {
                        self.warn(&was, &now, at);
                    }
                    self.of_node(&mut inner, &was, &now);
                    let (group, name) = now.rsplit_once('.').unwrap_or(("", &now));
                    if group == new {
                        self.insert(table, &now, (name.to_owned(), at, inner));
                    } else {
                        self.moved.push((now, at, inner));
                    }
                }
            }
            Value::List(list) => {
                for (i, inner) in list.iter_mut().enumerate() {
                    match inner.value {
                        Value::Table(_) => self.of_node(inner, &join(old, &i.to_string()), &join(new, &i.to_string())),
                        Value::List(_) => {}
                        _ => self.of_node(inner, old, new),
                    }
                }
            }
            value => {
                if let Some(now) = converted(old, new, value) {
                    let now = Node { value: now, origin: node.origin };
                    if self.known.insert(format!("{} = {}", generic(new), node.text())) {
                        let message = format!("`{new}` = {} is written {} today", node.text(), now.text());
                        self.warnings.push(problem(new, node.origin, message, HELP));
                    }
                    *node = now;
                }
            }
        }
    }

    fn warn(&mut self, old: &str, new: &str, at: Option<Origin>) {
        if self.known.insert(generic(old)) {
            self.warnings.push(problem(old, at, format!("`{old}` is called `{new}` today"), HELP));
        }
    }

    /// Inserts an entry of a table; tables of both names are merged.
    fn insert(&mut self, table: &mut Table, path: &str, (key, at, node): Entry) {
        match (table.entry(&key), node.value) {
            (None, value) => table.insert(key, at, Node { value, ..node }),
            (Some((_, Node { value: Value::Table(there), .. })), Value::Table(more)) => there.merge(more),
            (Some(_), _) => {
                let message = format!("`{path}` is set twice, by its former name and by that of today");
                self.twice.push(problem(path, at, message, "set it once, by its name of today"));
            }
        }
    }

    /// Inserts a value at the name `rest` below a table; groups that are missing are made.
    fn put(&mut self, table: &mut Table, path: &str, rest: &str, at: Option<Origin>, node: Node) {
        let Some((key, deeper)) = rest.split_once('.') else {
            return self.insert(table, path, (rest.to_owned(), at, node));
        };
        if table.get(key).is_none() {
            let group = Node { value: Value::Table(Table::default()), origin: node.origin };
            table.insert(key.to_owned(), at, group);
        }
        let inside = match table.entry(key).map(|(_, inner)| &mut inner.value) {
            Some(Value::List(list)) => {
                let (place, deeper) = deeper.split_once('.').unwrap_or((deeper, ""));
                place.parse().ok().and_then(|i: usize| list.get_mut(i)).map(|n| (&mut n.value, deeper))
            }
            other => other.map(|value| (value, deeper)),
        };
        // Something else in the place of the group is reported when the group is read.
        if let Some((Value::Table(inner), deeper)) = inside {
            self.put(inner, path, deeper, at, node);
        }
    }
}

fn problem(path: &str, origin: Option<Origin>, message: String, help: &str) -> Problem {
    Problem { path: path.to_owned(), origin, message, help: Some(help.to_owned()) }
}
