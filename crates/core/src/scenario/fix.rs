//! Rewriting of files with former names; comments, order and layout stay.

use super::Errors;
use super::source::{NoFiles, Reader};
use crate::setting::renames::{converted, renamed};
use crate::setting::{Node, Value, join};
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value as Toml};

/// Former names in the groups of a study file itself.
const STUDY: &[(&str, &str)] =
    &[("search.from", "search.low"), ("search.to", "search.high"), ("search.best", "search.direction")];
/// Former words of a study file.
const STUDY_WORDS: &[(&str, &str, &str)] =
    &[("search.direction", "highest", "maximize"), ("search.direction", "lowest", "minimize")];

/// A file with the names of today.
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
                fixer.of_root(table);
            }
        }
        let cases = root.get_mut("cases").and_then(Item::as_table_like_mut);
        for (_, case) in cases.into_iter().flat_map(|cases| cases.iter_mut()) {
            if let Some(table) = case.as_table_like_mut() {
                fixer.of_root(table);
            }
        }
        fixer.of_study(root);
    } else {
        fixer.of_root(root);
    }
    Ok(Fixed { text: document.to_string(), changes: fixer.changes })
}

/// A value that moves to another group.
struct Moved {
    path: String,
    key: Key,
    item: Item,
    /// Written as `group.name = value`, not below a heading.
    dotted: bool,
}

#[derive(Default)]
struct Fixer {
    changes: Vec<String>,
    known: BTreeSet<String>,
    moved: Vec<Moved>,
}

impl Fixer {
    fn of_root(&mut self, root: &mut dyn TableLike) {
        self.of_table(root, "", "");
        for moved in std::mem::take(&mut self.moved) {
            put(root, &moved.path.clone(), moved);
        }
    }

    fn of_study(&mut self, root: &mut Table) {
        for (old, new) in STUDY {
            let (group, name) = old.rsplit_once('.').unwrap_or(("", old));
            let now = new.rsplit_once('.').map_or(*new, |(_, name)| name);
            let table: Option<&mut dyn TableLike> =
                if group.is_empty() { Some(&mut *root) } else { root.get_mut(group).and_then(Item::as_table_like_mut) };
            if let Some(table) = table.filter(|t| t.contains_key(name)) {
                self.change(format!("`{old}` -> `{new}`"));
                rebuild(table, |key, item| Some((if key.get() == name { with_name(&key, now) } else { key }, item)));
            }
        }
        let Some(search) = root.get_mut("search").and_then(Item::as_table_like_mut) else { return };
        if let Some(Item::Value(setting)) = search.get_mut("setting")
            && let Some(now) = setting.as_str().and_then(renamed)
        {
            self.change(format!("`search.setting` = {} -> \"{now}\"", setting.to_string().trim()));
            replace(setting, now.into());
        }
        for (key, old, new) in STUDY_WORDS {
            if let Some(Item::Value(value)) = key.strip_prefix("search.").and_then(|key| search.get_mut(key))
                && value.as_str() == Some(old)
            {
                self.change(format!("`{key}` = \"{old}\" -> \"{new}\""));
                replace(value, (*new).into());
            }
        }
    }

    fn change(&mut self, line: String) {
        if self.known.insert(line.clone()) {
            self.changes.push(line);
        }
    }

    fn of_table(&mut self, table: &mut dyn TableLike, old: &str, new: &str) {
        let dotted = table.is_dotted();
        rebuild(table, |key, mut item| {
            let (was, same) = (join(old, key.get()), join(new, key.get()));
            let now = renamed(&was).unwrap_or_else(|| same.clone());
            if now != same {
                self.change(format!("`{was}` -> `{now}`"));
            }
            self.of_item(&mut item, &was, &now);
            let (group, name) = now.rsplit_once('.').unwrap_or(("", &now));
            let key = with_name(&key, name);
            if group == new {
                return Some((key, item));
            }
            self.moved.push(Moved { path: now.clone(), key, item, dotted });
            None
        });
    }

    fn of_item(&mut self, item: &mut Item, old: &str, new: &str) {
        match item {
            Item::Value(value) => self.of_value(value, old, new),
            Item::Table(table) => self.of_table(table, old, new),
            Item::ArrayOfTables(list) => {
                for (i, table) in list.iter_mut().enumerate() {
                    self.of_table(table, &join(old, &i.to_string()), &join(new, &i.to_string()));
                }
            }
            Item::None => {}
        }
    }

    fn of_value(&mut self, value: &mut Toml, old: &str, new: &str) {
        match value {
            Toml::InlineTable(table) => self.of_table(table, old, new),
            Toml::Array(list) => {
                for (i, inner) in list.iter_mut().enumerate() {
                    match inner {
                        Toml::InlineTable(_) => {
                            self.of_value(inner, &join(old, &i.to_string()), &join(new, &i.to_string()));
                        }
                        Toml::Array(_) => {}
                        _ => self.of_value(inner, old, new),
                    }
                }
            }
            _ => {
                let was = plain(value);
                if let Some(now) = was.as_ref().and_then(|was| converted(old, new, was)).and_then(|v| toml(&v)) {
                    self.change(format!("`{new}` = {} -> {}", value.to_string().trim(), now.to_string().trim()));
                    replace(value, now);
                }
            }
        }
    }
}

/// Replaces a value; the spaces and comments around it stay.
fn replace(value: &mut Toml, mut now: Toml) {
    *now.decor_mut() = value.decor().clone();
    *value = now;
}

/// Takes all entries out of a table and puts those back that `change` returns.
fn rebuild(table: &mut dyn TableLike, mut change: impl FnMut(Key, Item) -> Option<(Key, Item)>) {
    let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let key = table.key(&name).expect("it is a key").clone();
        let item = table.remove(&name).expect("it is an entry");
        if let Some((key, item)) = change(key, item) {
            table.entry_format(&key).or_insert(item);
        }
    }
}

/// A key with the spaces and comments of another.
fn with_name(key: &Key, name: &str) -> Key {
    if key.get() == name {
        return key.clone();
    }
    Key::new(name).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
}

/// Inserts a moved value at the name `rest` below a table.
fn put(table: &mut dyn TableLike, rest: &str, moved: Moved) {
    let Some((group, deeper)) = rest.split_once('.') else {
        match (table.get_mut(rest), moved.item) {
            (Some(Item::Table(there)), Item::Table(mut more)) => {
                rebuild(&mut more, |key, item| {
                    there.entry_format(&key).or_insert(item);
                    None
                });
            }
            (_, item) => _ = table.entry_format(&moved.key).or_insert(item),
        }
        return;
    };
    if !table.contains_key(group) {
        let mut made = Table::new();
        made.set_dotted(moved.dotted);
        made.set_implicit(matches!(moved.item, Item::Table(_) | Item::ArrayOfTables(_)));
        table.insert(group, Item::Table(made));
    }
    let inner = table.get_mut(group).expect("just made");
    let (place, after) = deeper.split_once('.').unwrap_or((deeper, ""));
    let index = place.parse::<usize>().unwrap_or(0);
    let (inside, deeper): (Option<&mut dyn TableLike>, &str) = match inner {
        Item::ArrayOfTables(list) => (list.get_mut(index).map(|t| t as &mut dyn TableLike), after),
        Item::Value(Toml::Array(list)) => {
            let table = list.get_mut(index).and_then(Toml::as_inline_table_mut);
            (table.map(|t| t as &mut dyn TableLike), after)
        }
        other => (other.as_table_like_mut(), deeper),
    };
    if let Some(inside) = inside {
        put(inside, deeper, moved);
    }
}

fn plain(value: &Toml) -> Option<Value> {
    Some(match value {
        Toml::String(s) => Value::Text(s.value().clone()),
        Toml::Integer(i) => Value::Int(*i.value()),
        Toml::Float(f) => Value::Float(*f.value()),
        Toml::Boolean(b) => Value::Bool(*b.value()),
        _ => return None,
    })
}

fn toml(value: &Value) -> Option<Toml> {
    Some(match value {
        Value::Text(t) => t.as_str().into(),
        Value::Int(i) => (*i).into(),
        Value::Float(f) => (*f).into(),
        Value::Bool(b) => (*b).into(),
        Value::List(list) => {
            let items: Option<Vec<Toml>> = list.iter().map(|Node { value, .. }| toml(value)).collect();
            Toml::Array(items?.into_iter().collect())
        }
        Value::Table(table) => {
            let mut inline = toml_edit::InlineTable::new();
            for (key, _, node) in table.entries() {
                inline.insert(key, toml(&node.value)?);
            }
            Toml::InlineTable(inline)
        }
    })
}
