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

/// Returns true if a value of a former key sets nothing.
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

/// Returns true if a group is an event.
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

/// Entries of an event in a file with current keys.
pub struct Fixed {
    /// Keys and values.
    pub entries: Vec<(Key, Item)>,
    /// Changes, one line each.
    pub changes: Vec<String>,
    /// Reason why the former keys stay.
    pub left: Option<String>,
}

/// Replaces the former keys in the entries of an event in a file; comments stay. An event with several actions, or with
/// both forms, is left as it is.
pub fn fix(entries: Vec<(Key, Item)>, path: &str) -> Fixed {
    let has_value = |item: &Item| item.as_str() != Some(NONE);
    let actions = |e: &&(Key, Item)| has_value(&e.1) && former_key(e.0.get()).is_some_and(|word| word.action.is_some());
    let is_current = |e: &(Key, Item)| EVENTS.iter().any(|word| word.key == e.0.get()) || e.0.get() == "action";
    let stays = if !entries.iter().any(|e| former_key(e.0.get()).is_some()) {
        return Fixed { entries, changes: Vec::new(), left: None };
    } else if entries.iter().filter(actions).count() > 1 {
        Some("it has several actions: write an event for each")
    } else {
        entries.iter().any(is_current).then_some("it has former and current keys: write it with current ones")
    };
    if let Some(why) = stays {
        return Fixed { entries, changes: Vec::new(), left: Some(format!("`{path}` stays, because {why}")) };
    }
    let (mut now, mut changes) = (Vec::with_capacity(entries.len() + 1), Vec::new());
    // Comments of keys that are left out.
    let mut comments = String::new();
    for (key, item) in entries {
        let word = former_key(key.get());
        if let Some(word) = word {
            changes.push(format!("`{}` -> {}", join(path, word.former), described(path, word)));
            if !has_value(&item) {
                comments.push_str(&comments_of(&key, &item));
                continue;
            }
        }
        // Comments above the former key stay above all keys in its place.
        let mut first = word.map_or_else(|| key.clone(), |word| like(word.action.map_or(word.key, |_| "action"), &key));
        add_above(&mut first, &std::mem::take(&mut comments));
        if let Some(EventKey { action: Some(action), key, .. }) = word {
            now.push((first, toml_edit::value(*action)));
            now.push((Key::new(*key), item));
        } else {
            now.push((first, item));
        }
    }
    if let Some((last, _)) = now.last_mut() {
        add_above(last, &comments);
    }
    Fixed { entries: now, changes, left: None }
}

/// Comments above an entry and after it, a line each.
fn comments_of(key: &Key, item: &Item) -> String {
    let above = key.leaf_decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
    let after = item.as_value().and_then(|v| v.decor().suffix()).and_then(|text| text.as_str()).unwrap_or_default();
    let lines = above.lines().chain(after.lines()).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Adds lines above those that are above a key.
fn add_above(key: &mut Key, lines: &str) {
    if !lines.is_empty() {
        let above = key.leaf_decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
        let all = format!("{lines}{above}");
        key.leaf_decor_mut().set_prefix(all);
    }
}
