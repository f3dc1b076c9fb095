//! Every number in a scenario has a lower and an upper limit, declared with it, or a reason to have none.

use chappe_scenario::json_schema;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Settings that may be any number of their type, by the last part of their name, and why.
const ANY: [(&str, &str); 12] = [
    ("seed", "any seed is as good as another"),
    ("shadowing_seed", "a seed, too"),
    ("node", "a node: the scenario says how many there are"),
    ("src", "a node"),
    ("dst", "a node"),
    ("next_hop", "a node"),
    ("gateway", "a node"),
    ("wired_link", "of an event: the scenario says how many there are"),
    ("value", "of an event: what its setting may be"),
    ("flow", "a flow: the scenario says how many there are"),
    ("nodes", "of a profile: a list of nodes"),
    ("max_memory", "what the machine has"),
];

/// Returns `Some(true)` if both limits of a number are described; `None` for other settings.
fn has_ends(schema: &Json) -> Option<bool> {
    if let Some(kinds) = schema["anyOf"].as_array() {
        let ends: Vec<bool> = kinds.iter().filter_map(has_ends).collect();
        return (!ends.is_empty()).then(|| ends.iter().all(|e| *e));
    }
    let may_be =
        |kind: &str| schema["type"] == kind || schema["type"].as_array().is_some_and(|t| t.contains(&kind.into()));
    if may_be("integer") || may_be("number") && schema["type"].is_string() {
        let end = |one: &str, other: &str| schema[one].as_f64().or(schema[other].as_f64());
        let largest = end("maximum", "exclusiveMaximum");
        return Some(
            end("minimum", "exclusiveMinimum").is_some() && largest.is_some_and(|most| most < f64::from(u32::MAX)),
        );
    }
    // A quantity with a unit: none is negative, so its largest value is what has to be said.
    let text = schema["description"].as_str().unwrap_or("");
    (may_be("string") && text.contains(" such as \"")).then(|| {
        let said = text.rsplit_once("; ").map_or("", |s| s.1);
        said.contains(" to ") || said.contains("at most ") || said.contains("below ") || said.contains(" or ")
    })
}

/// Settings without both ends below a group, and how many settings are numbers.
fn look(name: &str, schema: &Json, open: &mut BTreeSet<String>) -> usize {
    let inner = if schema["items"]["properties"].is_object() { &schema["items"] } else { schema };
    let Some(properties) = inner["properties"].as_object() else {
        return has_ends(schema).map_or(0, |ends| {
            if !ends {
                open.insert(name.to_owned());
            }
            1
        });
    };
    properties.iter().map(|(key, s)| look(&format!("{name}.{key}"), s, open)).sum()
}

#[test]
fn numbers_have_a_least_and_a_largest_value() {
    let mut open = BTreeSet::new();
    let numbers = look("", &json_schema(), &mut open);
    assert!(numbers > 300, "only {numbers} settings are numbers: the schema has changed");
    let last = |name: &str| name.rsplit('.').next().expect("a name").to_owned();
    let unnamed: Vec<_> = open.iter().filter(|name| !ANY.iter().any(|a| a.0 == last(name))).collect();
    assert!(unnamed.is_empty(), "give these settings a range: {unnamed:#?}");
    let unneeded: Vec<_> = ANY.iter().filter(|a| !open.iter().any(|name| last(name) == a.0)).collect();
    assert!(unneeded.is_empty(), "these have a range, or are none: {unneeded:?}");
}
