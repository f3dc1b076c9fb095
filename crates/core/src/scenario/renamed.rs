//! Former names in a scenario: replaced before the settings are read, with a warning for each.

use super::schema::to_json;
use crate::setting::renames::{former_last, former_word, generic, renamed, renamed_key, renamed_value};
use crate::setting::{Code, Entry, Node, Origin, Problem, Table, Value, join};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Suggestion of all warnings of this kind.
const HELP: &str = "the former name will be removed in the next version; `chappe fix FILE` rewrites a file";

/// Settings by dotted name under their current names, and messages about former names.
pub fn of_settings(settings: &Json) -> (Json, Vec<String>) {
    let mut renaming = Renaming::default();
    let rename = |(path, value): (&String, &Json)| {
        let (path, node) = renaming.of_value(path, Node::from_json(value));
        (path, to_json(&node))
    };
    let now = settings.as_object().into_iter().flatten().map(rename).collect();
    (Json::Object(now), renaming.warnings.into_iter().map(|p| p.message).collect())
}

/// All settings under their former names, as the previous version wrote them.
pub fn under_former_names(settings: &Json) -> Json {
    fn of_group(group: &Json, path: &str) -> Json {
        match group {
            Json::Object(fields) => {
                let former = |(key, value): (&String, &Json)| {
                    let path = join(path, key);
                    (former_last(&path).unwrap_or(key).to_owned(), of_group(value, &path))
                };
                Json::Object(fields.iter().map(former).collect())
            }
            Json::Array(items) if items.iter().any(Json::is_object) => {
                let path = join(path, "*");
                Json::Array(items.iter().map(|item| of_group(item, &path)).collect())
            }
            // A table of links is text, whose columns had former names, too.
            Json::String(text) if path == "radio.links" => json!(text.replacen("src,dst,", "from,to,", 1)),
            Json::String(word) => json!(former_word(path, word).unwrap_or(word)),
            value => value.clone(),
        }
    }
    of_group(settings, "")
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
}

impl Renaming {
    /// Gives the settings of a scenario their current names.
    pub fn of_scenario(&mut self, table: &mut Table) {
        self.of_table(table, "", "");
    }

    /// Current name and value for a value at a dotted name.
    pub fn of_value(&mut self, path: &str, mut node: Node) -> (String, Node) {
        let new = renamed(path).unwrap_or_else(|| path.to_owned());
        if new != path {
            self.warn(path, &new, node.origin);
        }
        self.of_node(&mut node, path, &new);
        (new, node)
    }

    /// Replaces former names in a value that is called `old` in the text and `new` today.
    fn of_node(&mut self, node: &mut Node, old: &str, new: &str) {
        match &mut node.value {
            Value::Table(table) => self.of_table(table, old, new),
            Value::List(list) => {
                let groups = list.iter_mut().enumerate().filter(|(_, n)| matches!(n.value, Value::Table(_)));
                groups.for_each(|(i, n)| self.of_node(n, &join(old, &i.to_string()), &join(new, &i.to_string())));
            }
            Value::Text(text) => {
                if let Some(now) = renamed_value(new, text) {
                    match former_word(new, &now) {
                        Some(_) => self.warn_of_word(new, text, &now, node.origin),
                        None => self.warn(text, &now, node.origin),
                    }
                    *text = now;
                }
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }

    fn of_table(&mut self, table: &mut Table, old: &str, new: &str) {
        for (key, at, mut node) in std::mem::take(table).into_entries() {
            let (was, today) = (join(old, &key), renamed_key(old, &key));
            let now = join(new, today.as_deref().unwrap_or(&key));
            if today.is_some() {
                self.warn(&was, &now, at);
            }
            self.of_node(&mut node, &was, &now);
            self.insert(table, &now, (today.unwrap_or(key), at, node));
        }
    }

    fn warn(&mut self, old: &str, new: &str, at: Option<Origin>) {
        if self.known.insert(generic(old)) {
            self.warnings.push(problem(old, at, format!("`{old}` is now called `{new}`"), HELP));
        }
    }

    fn warn_of_word(&mut self, setting: &str, old: &str, new: &str, at: Option<Origin>) {
        if self.known.insert(format!("{} = {old}", generic(setting))) {
            let message = format!("`{old}`, a word of `{setting}`, is now called `{new}`");
            self.warnings.push(problem(setting, at, message, HELP));
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
            (Some(_), _) => {
                let message = format!("`{path}` is set twice, by its former and its current name");
                self.twice.push(problem(path, at, message, "set it once, by its current name"));
            }
        }
    }
}

fn problem(path: &str, origin: Option<Origin>, message: String, help: &str) -> Problem {
    Problem { code: Some(Code::FormerName), path: path.to_owned(), origin, message, help: Some(help.to_owned()) }
}
