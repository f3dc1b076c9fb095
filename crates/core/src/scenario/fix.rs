//! Rewriting of files with former names; comments, order and layout stay.

use super::Errors;
use super::former_values;
use super::source::{NoFiles, Reader};
use crate::setting::renames::{renamed, renamed_key, renamed_value};
use crate::setting::{Value as Read, join};
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item, Key, TableLike, Value};

/// Former names in the group `search` of a study file.
const SEARCH: &[(&str, &str)] = &[("from", "low"), ("to", "high"), ("best", "direction")];
/// Former words of `search.direction`.
const DIRECTIONS: &[(&str, &str)] = &[("highest", "maximize"), ("lowest", "minimize")];

/// A file with the current names.
pub struct Fixed {
    /// Text of the file.
    pub text: String,
    /// Changes, one line each: `motion.kind` -> `mobility.model`.
    pub changes: Vec<String>,
}

/// Rewrites a scenario, or a study file, which has the key `scenario`.
///
/// # Errors
/// The problems of a text that is not valid TOML.
pub fn fix(name: &str, text: &str) -> Result<Fixed, Errors> {
    let mut reader = Reader::new(&NoFiles);
    reader.parse(name, text);
    let parsed = text.parse::<DocumentMut>();
    let Reader { report, sources, .. } = reader;
    let (Ok(mut document), true) = (parsed, report.problems.is_empty()) else {
        return Err(Errors { problems: report.problems, more: report.more, sources });
    };
    let mut fixer = Fixer::default();
    let root = document.as_table_mut();
    if root.contains_key("scenario") {
        for group in ["scenario", "axes"] {
            if let Some(table) = root.get_mut(group).and_then(Item::as_table_like_mut) {
                fixer.of_table(table, "", "");
            }
        }
        let cases = root.get_mut("cases").and_then(Item::as_table_like_mut);
        for (_, case) in cases.into_iter().flat_map(|cases| cases.iter_mut()) {
            if let Some(table) = case.as_table_like_mut() {
                fixer.of_table(table, "", "");
            }
        }
        if let Some(search) = root.get_mut("search").and_then(Item::as_table_like_mut) {
            fixer.of_search(search);
        }
    } else {
        fixer.of_table(root, "", "");
    }
    Ok(Fixed { text: document.to_string(), changes: fixer.changes })
}

/// Replacement of former names, and the changes so far.
#[derive(Default)]
struct Fixer {
    changes: Vec<String>,
    known: BTreeSet<String>,
}

impl Fixer {
    /// Replaces former names in a table that is called `old` in the text and `new` today.
    fn of_table(&mut self, table: &mut dyn TableLike, old: &str, new: &str) {
        let all = names(table);
        for (key, mut item) in take(table, &all) {
            let was = join(old, key.get());
            let value = item.as_str().map_or(Read::Absent, |text| Read::Text(text.to_owned()));
            let today = renamed_key(old, key.get()).map(|new| former_values::setting_of(&was, &value, new));
            let key = self.renamed(key, today.as_deref(), &all, old, new);
            self.of_item(&mut item, &was, &join(new, key.get()));
            table.entry_format(&key).or_insert(item);
        }
    }

    fn of_item(&mut self, item: &mut Item, old: &str, new: &str) {
        match item {
            Item::Value(value) => self.of_value(value, old, new),
            Item::Table(table) => self.of_table(table, old, new),
            Item::ArrayOfTables(list) => {
                let tables = list.iter_mut().enumerate();
                tables.for_each(|(i, t)| self.of_table(t, &join(old, &i.to_string()), &join(new, &i.to_string())));
            }
            Item::None => {}
        }
    }

    fn of_value(&mut self, value: &mut Value, old: &str, new: &str) {
        match value {
            Value::InlineTable(table) => self.of_table(table, old, new),
            Value::Array(list) => {
                for (i, inner) in list.iter_mut().enumerate() {
                    match inner {
                        Value::InlineTable(_) => {
                            self.of_value(inner, &join(old, &i.to_string()), &join(new, &i.to_string()));
                        }
                        Value::String(_) => self.of_value(inner, old, new),
                        _ => {}
                    }
                }
            }
            value => {
                let today = |text: &str| renamed_value(new, text).or_else(|| former_values::text(new, text));
                if let Some(now) = value.as_str().and_then(today) {
                    self.replace(value, new, now);
                }
            }
        }
    }

    /// Replaces former names and words in the group `search` of a study.
    fn of_search(&mut self, search: &mut dyn TableLike) {
        let all = names(search);
        for (key, item) in take(search, &all) {
            let today = SEARCH.iter().find(|(old, _)| *old == key.get()).map(|(_, new)| *new);
            let key = self.renamed(key, today, &all, "search", "search");
            search.entry_format(&key).or_insert(item);
        }
        if let Some(Item::Value(setting)) = search.get_mut("setting")
            && let Some(now) = setting.as_str().and_then(renamed)
        {
            self.replace(setting, "search.setting", now);
        }
        if let Some(Item::Value(direction)) = search.get_mut("direction")
            && let Some((_, now)) = DIRECTIONS.iter().find(|(old, _)| direction.as_str() == Some(old))
        {
            self.replace(direction, "search.direction", (*now).to_owned());
        }
    }

    /// The key with its current name, if that is not one of `all` names of the table; spaces and comments stay.
    fn renamed(&mut self, key: Key, today: Option<&str>, all: &[String], old: &str, new: &str) -> Key {
        let Some(today) = today.filter(|today| !all.iter().any(|name| name == today)) else { return key };
        self.change(format!("`{}` -> `{}`", join(old, key.get()), join(new, today)));
        Key::new(today).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
    }

    /// Replaces the value of a setting; the spaces and comments around the value stay.
    fn replace(&mut self, value: &mut Value, setting: &str, now: String) {
        let (mut was, mut now) = (value.clone(), Value::from(now));
        was.decor_mut().clear();
        self.change(format!("`{setting}` = {was} -> {now}"));
        *now.decor_mut() = value.decor().clone();
        *value = now;
    }

    fn change(&mut self, line: String) {
        if self.known.insert(line.clone()) {
            self.changes.push(line);
        }
    }
}

fn names(table: &dyn TableLike) -> Vec<String> {
    table.iter().map(|(name, _)| name.to_owned()).collect()
}

/// Takes the entries with these names out of a table.
fn take(table: &mut dyn TableLike, names: &[String]) -> Vec<(Key, Item)> {
    let entry = |name: &String| {
        let key = table.key(name).expect("it is a key").clone();
        (key, table.remove(name).expect("it is an entry"))
    };
    names.iter().map(entry).collect()
}
