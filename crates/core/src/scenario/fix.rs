//! Rewriting of files with former names; comments, order and layout stay.

use super::Errors;
use super::source::{NoFiles, Reader, within};
use super::{former_events, former_pairs, former_values};
use crate::setting::renames::{renamed, renamed_value};
use crate::setting::{Table as ReadTable, Value as Read, join};
use std::collections::BTreeSet;
use toml_edit::{Decor, DocumentMut, Item, Key, Table, TableLike, Value};

/// Former names at the top of a study file.
const STUDY: &[(&str, &str)] = &[("stop", "precision"), ("transient", "warmup")];
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
    /// Former names that stay, with the reason.
    pub left: Vec<String>,
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
        let names_pairs = |part: &str| root.get(part).is_some_and(|item| item.to_string().contains("pairs."));
        let named = ["axes", "cases", "search"].into_iter().any(names_pairs);
        for group in ["scenario", "axes"] {
            if let Some(table) = root.get_mut(group).and_then(Item::as_table_like_mut) {
                fixer.of_scenario(table);
                fixer.of_pairs(table, named);
            }
        }
        let scenario = root.get("scenario").and_then(Item::as_table_like);
        if named && !scenario.is_some_and(|table| table.contains_key("pairs")) {
            let why = "the list is in another file: count the entries of `flow` before them";
            fixer.left.push(format!("names of entries of `pairs` stay, because {why}"));
        }
        let cases = root.get_mut("cases").and_then(Item::as_table_like_mut);
        for (_, case) in cases.into_iter().flat_map(|cases| cases.iter_mut()) {
            if let Some(table) = case.as_table_like_mut() {
                fixer.of_scenario(table);
            }
        }
        if let Some(search) = root.get_mut("search").and_then(Item::as_table_like_mut) {
            fixer.of_search(search);
        }
        fixer.of_study(root, STUDY, "");
    } else {
        fixer.of_scenario(root);
        fixer.of_pairs(root, false);
    }
    Ok(Fixed { text: document.to_string(), changes: fixer.changes, left: fixer.left })
}

/// A value that moves to another group.
struct Moved {
    path: String,
    key: Key,
    item: Item,
    /// The value is written as `group.name = value`, not below a heading.
    dotted: bool,
    /// Spaces and comments of the heading of its former group, if nothing is left in it.
    heading: Option<Decor>,
}

/// Replacement of former names, and the changes so far.
#[derive(Default)]
struct Fixer {
    changes: Vec<String>,
    left: Vec<String>,
    known: BTreeSet<String>,
    moved: Vec<Moved>,
    /// Current names of the settings that the scenario sets by both of their names.
    twice: BTreeSet<String>,
}

impl Fixer {
    /// Replaces former names in a scenario, or in the axes or a case of a study.
    fn of_scenario(&mut self, root: &mut dyn TableLike) {
        self.twice = set_twice(root);
        self.of_table(root, "", "");
        for moved in std::mem::take(&mut self.moved) {
            put(root, &moved.path.clone(), moved);
        }
    }

    /// Replaces former names in a table that is called `old` in the text and `new` today.
    fn of_table(&mut self, table: &mut dyn TableLike, old: &str, new: &str) {
        let dotted = table.is_dotted();
        let mut entries = {
            let all = names(table);
            take(table, &all)
        };
        let is_event = former_events::is_event(new);
        if is_event {
            let fixed = former_events::fix(entries, old);
            fixed.changes.into_iter().for_each(|line| self.change(line));
            self.left.extend(fixed.left);
            entries = fixed.entries;
        }
        let all: Vec<String> = entries.iter().map(|e| e.0.get().to_owned()).collect();
        for (key, mut item) in entries {
            let (was, same) = (join(old, key.get()), join(new, key.get()));
            let today = former_values::name(&was, &outline(&item)).filter(|_| !is_event);
            let now = match today {
                Some(now) if !self.is_twice(&now) => now,
                // The settings of a group are moved one by one.
                Some(now) => {
                    if self.twice.contains(&now) {
                        self.stays(&was, &now);
                    }
                    same.clone()
                }
                None => same.clone(),
            };
            // A dotted name, `"tcp.window"` in the axes of a study, is one key.
            let group_length = if key.get().contains('.') { new.len() } else { now.rfind('.').unwrap_or(0) };
            let (group, name) = (&now[..group_length], now[group_length..].trim_start_matches('.'));
            if now == same || group == new {
                let key = if now == same { key } else { self.renamed(key, name, &all, old, new) };
                if self.of_group(&mut item, &was, &join(new, key.get())) {
                    table.entry_format(&key).or_insert(item);
                }
            } else {
                self.change(format!("`{was}` -> `{now}`"));
                if self.of_group(&mut item, &was, &now) {
                    self.moved.push(Moved { key: like(name, &key), path: now, item, dotted, heading: None });
                }
            }
        }
    }

    /// Replaces former names in an item; false if it is a group and all of it has moved to other groups.
    fn of_group(&mut self, item: &mut Item, old: &str, new: &str) -> bool {
        let has_entries = |item: &Item| item.as_table_like().is_some_and(|t| !t.is_empty());
        let (had_entries, first) = (has_entries(item), self.moved.len());
        self.of_item(item, old, new);
        if !had_entries || has_entries(item) {
            return true;
        }
        let heading = item.as_table().filter(|table| !table.is_dotted()).map(|table| table.decor().clone());
        if let Some(moved) = self.moved.get_mut(first) {
            moved.heading = heading;
        }
        false
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

    /// Moves the entries of `pairs` to the end of `flow`; `named` if other parts of the file name them by their
    /// numbers.
    fn of_pairs(&mut self, table: &mut dyn TableLike, named: bool) {
        match former_pairs::fix(table, named) {
            Ok(None) => {}
            Ok(Some(change)) => self.change(change),
            Err(why) => self.left.push(format!("`pairs` stays, because {why}")),
        }
    }

    /// Replaces former names in a group of a study.
    fn of_study(&mut self, table: &mut dyn TableLike, renamed: &[(&str, &str)], group: &str) {
        let all = names(table);
        for (key, item) in take(table, &all) {
            let today = renamed.iter().find(|(old, _)| *old == key.get()).map(|(_, new)| *new);
            let key = match today {
                Some(today) if all.iter().any(|name| name == today) => {
                    self.stays(&join(group, key.get()), &join(group, today));
                    key
                }
                Some(today) => self.renamed(key, today, &all, group, group),
                None => key,
            };
            table.entry_format(&key).or_insert(item);
        }
    }

    /// Replaces former names and words in the group `search` of a study.
    fn of_search(&mut self, search: &mut dyn TableLike) {
        self.of_study(search, SEARCH, "search");
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
    fn renamed(&mut self, key: Key, today: &str, all: &[String], old: &str, new: &str) -> Key {
        if all.iter().any(|name| name == today) {
            return key;
        }
        self.change(format!("`{}` -> `{}`", join(old, key.get()), join(new, today)));
        like(today, &key)
    }

    /// Replaces the value of a setting; the spaces and comments around the value stay.
    fn replace(&mut self, value: &mut Value, setting: &str, now: String) {
        let (mut was, mut now) = (value.clone(), Value::from(now));
        was.decor_mut().clear();
        self.change(format!("`{setting}` = {was} -> {now}"));
        *now.decor_mut() = value.decor().clone();
        *value = now;
    }

    /// Returns true if a setting, a part of it, or the list that contains it, is set by both of its names.
    fn is_twice(&self, name: &str) -> bool {
        self.twice.iter().any(|twice| within(twice, name) || within(name, twice))
    }

    /// Adds a former name that stays because the current name is there, too.
    fn stays(&mut self, old: &str, new: &str) {
        self.left.push(format!("`{old}` stays, because `{new}` is set, too: set one of them"));
    }

    fn change(&mut self, line: String) {
        if self.known.insert(line.clone()) {
            self.changes.push(line);
        }
    }
}

/// Current names of the settings that a scenario sets by both of their names.
fn set_twice(root: &dyn TableLike) -> BTreeSet<String> {
    let (mut twice, mut once) = (BTreeSet::new(), BTreeSet::new());
    let mut tell = |path: &str, item: &Item| {
        let now = former_values::name(path, &outline(item)).unwrap_or_else(|| path.to_owned());
        if !once.insert(now.clone()) {
            twice.insert(now);
        }
    };
    values(root, "", &mut tell);
    twice
}

/// Reports the values in a table at `path`, and those in its lists, with their names.
fn values(table: &dyn TableLike, path: &str, tell: &mut dyn FnMut(&str, &Item)) {
    if former_events::is_event(path) {
        return;
    }
    for (key, item) in table.iter() {
        let path = join(path, key);
        if let Some(table) = item.as_table_like() {
            values(table, &path, tell);
            continue;
        }
        tell(&path, item);
        let entry = |i: usize| join(&path, &i.to_string());
        if let Some(list) = item.as_array_of_tables() {
            list.iter().enumerate().for_each(|(i, table)| values(table, &entry(i), tell));
        } else if let Some(list) = item.as_array() {
            let tables = list.iter().enumerate().filter_map(|(i, v)| Some((i, v.as_inline_table()?)));
            tables.for_each(|(i, table)| values(table, &entry(i), tell));
        }
    }
}

/// A value of a file as far as names depend on it: its text, or that it is an empty group.
fn outline(item: &Item) -> Read {
    match item.as_table_like() {
        Some(table) if table.is_empty() => Read::Table(ReadTable::default()),
        _ => item.as_str().map_or(Read::Absent, |text| Read::Text(text.to_owned())),
    }
}

fn names(table: &dyn TableLike) -> Vec<String> {
    table.iter().map(|(name, _)| name.to_owned()).collect()
}

/// A key with the spaces and comments of another one.
pub(super) fn like(name: &str, key: &Key) -> Key {
    Key::new(name).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
}

/// Takes the entries with these names out of a table.
pub(super) fn take(table: &mut dyn TableLike, names: &[String]) -> Vec<(Key, Item)> {
    let entry = |name: &String| {
        let key = table.key(name).expect("it is a key").clone();
        (key, table.remove(name).expect("it is an entry"))
    };
    names.iter().map(entry).collect()
}

/// Inserts an entry of a table; tables of the same name are merged.
fn insert(table: &mut dyn TableLike, key: &Key, mut item: Item) {
    match (table.get_mut(key.get()).and_then(Item::as_table_like_mut), item.as_table_like_mut()) {
        (Some(there), Some(more)) => {
            let all = names(more);
            take(more, &all).into_iter().for_each(|(key, item)| insert(there, &key, item));
        }
        _ => _ = table.entry_format(key).or_insert(item),
    }
}

/// Inserts a moved value at the name `rest` below a table.
fn put(table: &mut dyn TableLike, rest: &str, moved: Moved) {
    let Some((group, deeper)) = rest.split_once('.') else {
        return insert(table, &moved.key, moved.item);
    };
    if !table.contains_key(group) {
        let mut made = Table::new();
        made.set_dotted(moved.dotted);
        made.set_implicit(deeper.contains('.') || matches!(moved.item, Item::Table(_) | Item::ArrayOfTables(_)));
        if let Some(heading) = moved.heading.clone().filter(|_| !deeper.contains('.')) {
            *made.decor_mut() = heading;
        }
        table.insert(group, Item::Table(made));
    }
    let (place, after) = deeper.split_once('.').unwrap_or((deeper, ""));
    let place = place.parse::<usize>().ok();
    let (inside, deeper): (Option<&mut dyn TableLike>, &str) = match table.get_mut(group) {
        Some(Item::ArrayOfTables(list)) => {
            (place.and_then(|i| list.get_mut(i)).map(|t| t as &mut dyn TableLike), after)
        }
        Some(Item::Value(Value::Array(list))) => {
            let item = place.and_then(|i| list.get_mut(i)).and_then(Value::as_inline_table_mut);
            (item.map(|t| t as &mut dyn TableLike), after)
        }
        other => (other.and_then(Item::as_table_like_mut), deeper),
    };
    if let Some(inside) = inside {
        put(inside, deeper, moved);
    }
}
