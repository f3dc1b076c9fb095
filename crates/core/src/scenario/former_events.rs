//! Events of the previous version, in which the name of the action was a key: `node_down = 2`.

use super::fix::like;
use super::former_values::NONE;
use crate::setting::renames::{self, EVENTS, EventKey, generic};
use crate::setting::{Entry, Node, Origin, Value, join};
use serde_json::{Map, Value as Json, json};
use toml_edit::{Item, Key};

/// Former key at the end of the dotted name of a setting, and the name of the event.
pub fn named(path: &str) -> Option<(&str, &'static EventKey)> {
    let (event, key) = path.rsplit_once('.')?;
    former_key(key).filter(|_| is_event(event)).map(|word| (event, word))
}

/// Tells if a value of a former key sets nothing.
fn sets_nothing(node: &Node) -> bool {
    node.value == Value::Absent || node.value == Value::Text(NONE.into())
}

/// Action of an event whose former key has this value, or these values on an axis.
pub fn action_of(word: &EventKey, node: &Node) -> Option<Node> {
    let action = word.action.filter(|_| !sets_nothing(node))?;
    let value = Node { value: Value::Text(action.into()), origin: node.origin };
    let is_axis = matches!(node.value, Value::List(_));
    Some(if is_axis { Node { value: Value::List(vec![value]), origin: node.origin } } else { value })
}

/// Tells if a group is an event.
pub fn is_event(path: &str) -> bool {
    generic(path) == "event.*"
}

/// Key and its replacement of a former key in an event.
fn former_key(key: &str) -> Option<&'static EventKey> {
    EVENTS.iter().find(|word| word.former == key)
}

/// Replacement of a former key, for messages: "`event.0.node`, with `action = "node_down"`".
pub fn described(event: &str, word: &EventKey) -> String {
    let name = format!("`{}`", join(event, word.key));
    word.action.map_or_else(|| name.clone(), |action| format!("{name}, with `action = \"{action}\"`"))
}

/// Entries of an event with current keys.
#[derive(Default)]
pub struct Current {
    /// Keys, positions and values.
    pub entries: Vec<Entry>,
    /// Former keys, with their positions.
    pub former: Vec<(&'static EventKey, Option<Origin>)>,
    /// First action and a further one, with its position.
    pub several: Option<(&'static str, &'static str, Option<Origin>)>,
}

/// Replaces the former keys of an event. A former key without a value gives no entry.
pub fn current(entries: Vec<Entry>) -> Current {
    let (mut all, mut first) = (Current::default(), None);
    for (key, at, node) in entries {
        let Some(word) = former_key(&key) else {
            all.entries.push((key, at, node));
            continue;
        };
        all.former.push((word, at));
        if sets_nothing(&node) {
            continue;
        }
        if let Some(action) = word.action {
            if let Some(first) = first {
                all.several = Some((first, word.former, at));
                continue;
            }
            first = Some(word.former);
            all.entries.push(("action".into(), at, Node { value: Value::Text(action.into()), origin: at }));
        }
        all.entries.push((word.key.into(), at, node));
    }
    all
}

/// An event as the previous version wrote it.
pub fn under_former_names(event: &Map<String, Json>) -> Json {
    let absent = json!(NONE);
    let value = |key: &str| event.get(key).unwrap_or(&absent).clone();
    let mut former: Map<String, Json> = ["at", "channel", "position", "destination", "speed"]
        .map(|key| (key.to_owned(), value(key)))
        .into_iter()
        .collect();
    for word in EVENTS {
        let is_done = word.action.is_none_or(|action| event.get("action") == Some(&json!(action)));
        let value = match value(word.key) {
            _ if !is_done => absent.clone(),
            Json::String(name) if word.key == "setting" => json!(renames::former(&name).unwrap_or(name)),
            value => value,
        };
        former.insert(word.former.to_owned(), value);
    }
    Json::Object(former)
}

/// Replaces the former keys in the entries of an event in a file; comments stay. Returns the changes, one line each.
/// An event with several actions, or with both forms, is left as it is.
pub fn fix(entries: Vec<(Key, Item)>, path: &str) -> (Vec<(Key, Item)>, Vec<String>) {
    let has_value = |item: &Item| item.as_str() != Some(NONE);
    let actions = |e: &&(Key, Item)| has_value(&e.1) && former_key(e.0.get()).is_some_and(|word| word.action.is_some());
    let is_current = |e: &(Key, Item)| EVENTS.iter().any(|word| word.key == e.0.get()) || e.0.get() == "action";
    if entries.iter().filter(actions).count() > 1 || entries.iter().any(is_current) {
        return (entries, Vec::new());
    }
    let (mut now, mut changes) = (Vec::with_capacity(entries.len() + 1), Vec::new());
    for (key, item) in entries {
        let Some(word) = former_key(key.get()) else {
            now.push((key, item));
            continue;
        };
        changes.push(format!("`{}` -> {}", join(path, word.former), described(path, word)));
        match word.action.filter(|_| has_value(&item)) {
            // Comments above the former key stay above both.
            Some(action) => {
                now.push((like("action", &key), toml_edit::value(action)));
                now.push((Key::new(word.key), item));
            }
            None if has_value(&item) => now.push((like(word.key, &key), item)),
            None => {}
        }
    }
    (now, changes)
}
