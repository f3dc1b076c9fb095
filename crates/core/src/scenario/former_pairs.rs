//! The list `pairs` of the previous version, whose entries follow those of `flow` now.

use super::fix::{like, take};
use super::flows::FlowEntry;
use super::former_values::NONE;
use super::presets;
use super::renamed::Renaming;
use crate::setting::{Node, Setting, Table, Value};
use serde_json::{Map, Value as Json, json};
use toml_edit::{Item, TableLike};

/// Moves the entries of `pairs` to the end of `flow`. Returns the number of moved entries.
pub fn append(tree: &mut Table, renaming: &mut Renaming) -> usize {
    let Some(pairs) = tree.remove("pairs") else { return 0 };
    renaming.warn("pairs", "flow", pairs.origin);
    let Value::List(mut moved) = pairs.value else {
        // A mistake that is reported for the list of today.
        tree.insert("flow".to_owned(), pairs.origin, pairs);
        return 0;
    };
    let count = moved.len();
    match tree.entry("flow") {
        Some((_, Node { value: Value::List(flow), .. })) => flow.append(&mut moved),
        Some(_) => return 0,
        None if count == 0 => {}
        None => tree.insert("flow".to_owned(), pairs.origin, Node { value: Value::List(moved), origin: pairs.origin }),
    }
    count
}

/// Moves the last entries of `flow` back, for changes that name `pairs`, or all of `flow`.
pub fn split_off(tree: &mut Table, last: usize) {
    if let Some((_, Node { value: Value::List(flow), origin })) = tree.entry("flow") {
        let pairs = Node { value: Value::List(flow.split_off(flow.len().saturating_sub(last))), origin: *origin };
        tree.insert("pairs".to_owned(), None, pairs);
    }
}

/// Returns true if a change is one of `pairs`, or of `flow` as a whole.
pub fn is_meant(path: &str) -> bool {
    path == "flow" || path == "pairs" || path.starts_with("pairs.")
}

/// Parts the entries of `flow` as the previous version did: those between several nodes, and those after them, are
/// `pairs`. Flows in an order that the previous version did not have stay as they are.
pub fn part(settings: &mut Json) {
    let Some(Json::Array(flow)) = settings.get("flow") else { return };
    let plain = FlowEntry::default().write();
    let none = json!(NONE);
    let has_default = |entry: &Json, key: &str| entry.get(key) == plain.get(key) || entry.get(key) == Some(&none);
    let is_node = |entry: &Json, key: &str| entry[key].as_str().is_none_or(|set| set == NONE);
    let is_flow = |entry: &Json| {
        is_node(entry, "src")
            && is_node(entry, "dst")
            && has_default(entry, "stagger")
            && has_default(entry, "duration")
    };
    let first = flow.iter().position(|entry| !is_flow(entry)).unwrap_or(flow.len());
    let (flows, pairs) = flow.split_at(first);
    if !pairs.iter().all(|entry| has_default(entry, "stop")) {
        return;
    }
    let without = |entry: &Json, keys: &[&str]| {
        let kept = entry.as_object().into_iter().flatten().filter(|(key, _)| !keys.contains(&key.as_str()));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>()
    };
    let of_pairs = |entry: &Json| {
        let mut pairs = without(entry, &["stop"]);
        for end in ["src", "dst"] {
            // A set was text, also that of one node.
            if let Some(node) = pairs[end].as_u64() {
                pairs[end] = json!(node.to_string());
            }
        }
        Json::Object(pairs)
    };
    let flows: Vec<Json> = flows.iter().map(|entry| Json::Object(without(entry, &["stagger", "duration"]))).collect();
    let pairs: Vec<Json> = pairs.iter().map(of_pairs).collect();
    settings["flow"] = flows.into();
    settings["pairs"] = pairs.into();
}

/// Moves the entries of `pairs` in a file to the end of `flow`; comments stay. Returns the change if there is one;
/// `named` if other parts of the file name entries of `pairs` by their numbers.
///
/// # Errors
/// The reason why the list stays.
pub fn fix(table: &mut dyn TableLike, named: bool) -> Result<Option<String>, &'static str> {
    let Some(pairs) = table.get("pairs") else { return Ok(None) };
    let moved = Ok(Some("`pairs` -> the end of `flow`".to_owned()));
    if pairs.as_array().is_some_and(toml_edit::Array::is_empty) {
        table.remove("pairs");
        return moved;
    }
    let extended: Vec<&str> = match table.get("extends") {
        Some(item) => {
            item.as_str().into_iter().chain(item.as_array().into_iter().flatten().filter_map(|v| v.as_str())).collect()
        }
        None => Vec::new(),
    };
    if extended.iter().any(|name| presets::text(name).is_none()) {
        return Err("the extended file may list flows: list all flows as `flow`");
    }
    let traffic = table.get("traffic").and_then(Item::as_table_like);
    if traffic.and_then(|t| t.get("file")).is_some_and(|file| file.as_str() != Some("none")) {
        return Err(
            "its flows come after those of `traffic.file`, which come after `flow`: list all of them as `flow`",
        );
    }
    if named {
        return Err("its entries are named by their numbers: list them as `flow`, and count those before them");
    }
    match (table.get("flow"), pairs) {
        (None, _) => {
            let all: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
            for (key, item) in take(table, &all) {
                let key = if key.get() == "pairs" { like("flow", &key) } else { key };
                table.entry_format(&key).or_insert(item);
            }
        }
        (Some(Item::ArrayOfTables(_)), Item::ArrayOfTables(_)) => {
            let Some(Item::ArrayOfTables(pairs)) = table.remove("pairs") else { unreachable!("it is there") };
            let Some(Item::ArrayOfTables(flow)) = table.get_mut("flow") else { unreachable!("it is there") };
            pairs.into_iter().for_each(|entry| flow.push(entry));
        }
        (Some(flow), pairs) if flow.is_array() && pairs.is_array() => {
            let Some(Item::Value(toml_edit::Value::Array(pairs))) = table.remove("pairs") else {
                unreachable!("it is there")
            };
            let Some(flow) = table.get_mut("flow").and_then(Item::as_array_mut) else { unreachable!("it is there") };
            pairs.into_iter().for_each(|entry| flow.push_formatted(entry));
        }
        _ => return Err("`flow` is written in another form: write both as `[[..]]`"),
    }
    moved
}
