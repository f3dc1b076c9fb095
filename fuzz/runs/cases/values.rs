//! Values of settings, as described by the schema: words, numbers near the default, sometimes a limit of the valid
//! range.

use super::chance::Chance;
use chappe_scenario::json_schema;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Groups that are drawn as a whole, because they set the size of the scenario.
const GROUPS: [&str; 5] = ["extends", "run", "topology", "traffic", "event"];
/// Settings that name a file or a part of the network, or are valid only together with others.
const NAMES: [&str; 16] = [
    "src",
    "dst",
    "next_hop",
    "node",
    "nodes",
    "file",
    "links",
    "app",
    "kind",
    "mobility.model",
    "mobility.initial",
    "mobility.table",
    "data_rate",
    "basic_rate",
    "start",
    "stop",
];

/// One setting in this number is at a limit of its range.
const AN_END: usize = 12;

impl Setting {
    /// Returns true if the setting is a word or a switch.
    pub fn is_choice(&self) -> bool {
        self.schema["enum"].is_array() || self.schema["type"] == "boolean"
    }
}

/// A setting of one value.
pub struct Setting {
    /// Path of the name; `N` stands for an index of a list.
    pub path: Vec<String>,
    schema: Json,
}

/// All settings that may be changed in a scenario that is valid without them.
pub struct Settings {
    schema: Json,
    all: Vec<Setting>,
    /// The defaults, by name.
    defaults: HashMap<String, Json>,
}

impl Settings {
    /// All settings of the schema.
    pub fn new() -> Settings {
        let schema = json_schema();
        let mut settings = Settings { schema: Json::Null, all: vec![], defaults: HashMap::new() };
        settings.look(&schema, &mut vec![]);
        Settings { schema, ..settings }
    }

    fn look(&mut self, schema: &Json, path: &mut Vec<String>) {
        let list = schema["items"]["properties"].is_object();
        let inner = if list { &schema["items"] } else { schema };
        let Some(properties) = inner["properties"].as_object() else {
            if let Some(default) = schema.get("default") {
                self.defaults.insert(path.join("."), default.clone());
            }
            let name = format!(".{}", path.join("."));
            let is_drawn =
                !GROUPS.contains(&path[0].as_str()) && !NAMES.iter().any(|n| name.ends_with(&format!(".{n}")));
            if is_drawn && schema["type"] != "array" {
                self.all.push(Setting { path: path.clone(), schema: schema.clone() });
            }
            return;
        };
        if list {
            path.push("N".into());
        }
        for (key, schema) in properties {
            path.push(key.clone());
            self.look(schema, path);
            path.pop();
        }
        if list {
            path.pop();
        }
    }

    /// Settings of a group of the scenario.
    pub fn of<'a>(&'a self, group: &'a str) -> Vec<&'a Setting> {
        self.all.iter().filter(|s| s.path[0] == group).collect()
    }

    /// Random value for a setting; `None` if it has no value that can be drawn.
    pub fn value(&self, setting: &Setting, chance: &mut Chance) -> Option<Json> {
        // An overlay has the defaults of the setting below.
        let default = (0..setting.path.len()).find_map(|i| self.defaults.get(&setting.path[i..].join(".")));
        let end = chance.one_in(AN_END);
        value(&setting.schema, default, end, chance)
    }

    /// Words of a setting.
    pub fn words(&self, name: &str) -> Vec<String> {
        let schema = name.split('.').fold(&self.schema, |schema, step| match step {
            "N" => &schema["items"],
            step => &schema["properties"][step],
        });
        let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
        let words = schema["enum"].as_array().unwrap_or_else(|| panic!("{name} is no word"));
        words.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    }
}

fn value(schema: &Json, default: Option<&Json>, end: bool, chance: &mut Chance) -> Option<Json> {
    if let Some(words) = schema["enum"].as_array() {
        return Some(chance.pick(words).clone());
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        return match chance.pick(kinds) {
            kind if kind.get("const").is_some() => kind.get("const").cloned(),
            kind => value(kind, default.filter(|d| kinds.iter().all(|k| k.get("const") != Some(*d))), end, chance),
        };
    }
    let bound = |one: &str, other: &str| schema[one].as_f64().or(schema[other].as_f64());
    let (least, most) = (bound("minimum", "exclusiveMinimum"), bound("maximum", "exclusiveMaximum"));
    match schema["type"].as_str() {
        Some("boolean") => Some(json!(chance.one_in(2))),
        Some("integer") => {
            let (least, most) = (least? as u64, most? as u64);
            let near = default.and_then(Json::as_u64).unwrap_or(3);
            let drawn = match chance.below(6) {
                _ if end => *chance.pick(&[least, most]),
                0 => near / 2,
                1 => near.saturating_mul(2),
                2 => near + 1,
                3 => near.saturating_sub(1),
                _ => chance.from(0, 9) as u64,
            };
            Some(json!(drawn.clamp(least, most)))
        }
        Some("number") => {
            let (least, most) = (least?, most?);
            let near = default.and_then(Json::as_f64).unwrap_or(0.5);
            let drawn = match chance.below(4) {
                _ if end => *chance.pick(&[least, most]),
                0 => chance.share(),
                1 => *chance.pick(&[0.5, 1.0, 2.0]),
                _ => near * factor(chance),
            };
            Some(json!(drawn.clamp(least, most)))
        }
        // Value with a unit.
        _ => quantity(schema["description"].as_str()?, default.and_then(Json::as_str), end, chance),
    }
}

/// A power of two, usually close to 1.
fn factor(chance: &mut Chance) -> f64 {
    let far = if chance.one_in(4) { 6.0 } else { 1.5 };
    f64::exp2((chance.share() * 2.0 - 1.0) * far)
}

/// A quantity described by examples, and after a semicolon by its limits.
fn quantity(description: &str, default: Option<&str>, end: bool, chance: &mut Chance) -> Option<Json> {
    let range = description.rsplit_once("; ").map_or("", |r| r.1).trim_end_matches(')');
    let ends: Vec<String> = range
        .split(" and ")
        .flat_map(|r| r.split(" to "))
        .flat_map(|r| r.split(", "))
        .flat_map(|r| r.split(" or "))
        .map(|r| ["from ", "above ", "below ", "at most ", "at least "].iter().fold(r, |r, w| r.trim_start_matches(w)))
        .map(str::to_owned)
        .filter(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    if end && !ends.is_empty() {
        return Some(json!(chance.pick(&ends)));
    }
    let examples: Vec<&str> = description.split('"').skip(1).step_by(2).filter(|e| e.contains(' ')).collect();
    let near = match default {
        Some(default) if !chance.one_in(4) => default,
        _ if examples.is_empty() => return None,
        _ => chance.pick(&examples),
    };
    let (number, unit) = near.split_once(' ').unwrap_or((near, ""));
    let scaled = number.parse::<f64>().ok()? * factor(chance);
    // Bytes and nanoseconds are integers.
    let rounded = if scaled >= 3.0 { scaled.round() } else { (scaled * 1000.0).round() / 1000.0 };
    let written = match unit {
        "B" => scaled.round(),
        _ if scaled < 0.001 => scaled,
        _ => rounded,
    };
    Some(json!(format!("{written} {unit}").trim()))
}
