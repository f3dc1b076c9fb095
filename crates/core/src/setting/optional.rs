//! Settings with a word in place of a value, which says what happens without one: "unlimited", "never", "auto".
//!
//! The declaration of the setting has the word: `pub stop: Option<Time> | "never" = None`. The word is "none" where
//! there is no such thing.

use super::limit::{Limit, Limited};
use super::{Node, Report, Scalar, Value};
use serde_json::{Value as Json, json};

fn read<T: Scalar>(word: &str, node: &Node) -> Result<Option<T>, String> {
    match &node.value {
        Value::Text(t) if t == word => Ok(None),
        _ => T::read(node).map(Some),
    }
}

/// End of an expectation: the word is valid, too.
fn or(word: &str) -> String {
    format!(", or \"{word}\"")
}

/// Applies the value or the word written at `path`.
pub fn apply<T: Scalar>(setting: &mut Option<T>, word: &str, node: &Node, path: &str, report: &mut Report) {
    match read(word, node) {
        Ok(value) => *setting = value,
        Err(expected) => report.unreadable(path, node, expected + &or(word)),
    }
}

/// Applies the value written at `path` if the limit allows it, or the word.
pub fn apply_within<T: Limited>(
    setting: &mut Option<T>,
    word: &str,
    limit: &Limit<T>,
    node: &Node,
    path: &str,
    report: &mut Report,
) {
    match read(word, node) {
        Ok(value) => {
            if value.as_ref().is_none_or(|value| limit.check(value, &or(word), node, path, report)) {
                *setting = value;
            }
        }
        Err(expected) => report.unreadable(path, node, limit.narrowed(expected, node) + &or(word)),
    }
}

/// Value as written in a scenario.
pub fn write<T: Scalar>(setting: &Option<T>, word: &str) -> Json {
    setting.as_ref().map_or_else(|| json!(word), Scalar::written)
}

/// Value as written in a scenario where it differs from another one.
pub fn changes<T: Scalar>(setting: &Option<T>, from: &Option<T>, word: &str) -> Option<Json> {
    let value = write(setting, word);
    (value != write(from, word)).then_some(value)
}

/// JSON Schema of the setting.
pub fn schema<T: Scalar>(setting: &Option<T>, word: &str) -> Json {
    json!({ "anyOf": [{ "const": word }, T::describe()], "default": write(setting, word) })
}

/// Schema of a setting with a limit.
pub fn schema_within<T: Limited>(setting: &Option<T>, word: &str, limit: &Limit<T>) -> Json {
    let mut schema = schema(setting, word);
    limit.describe(&mut schema["anyOf"][1]);
    schema
}
