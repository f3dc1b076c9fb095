//! Every setting is changed in many small scenarios: a setting has no effect exactly where there is a warning.
//!
//! With a warning the results stay the same to the byte. Without a warning the effect may depend on chance - a limit
//! that the short run never reaches - so the change must affect the results of at least one scenario.

use chappe_core::record::Recorder;
use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::sim::Sim;
use chappe_core::tcp::config::variants::Variant;
use chappe_scenario::{Errors, Files, Scenario, json_schema, toml_to_json};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Settings for which no scenario shows an effect, with the reasons.
const HIDDEN: &[(&str, &str)] = &[
    ("run.max_nodes", "a limit of what is accepted"),
    ("run.max_flows", "a limit of what is accepted"),
    ("run.max_memory", "a limit of what is accepted"),
    ("net.mtu", "a limit of what is accepted"),
    ("snoop.drop_old_acks", "acknowledgements overtake each other only where routes change beyond the middlebox"),
    ("tcp.dup_acks", "an acknowledgement of nothing new comes here only while data are outstanding"),
    ("wlan.duplicate_detection", "a station sets the retry bit whenever it repeats a number, until numbers wrap round"),
];

/// Movements of nodes.
const WAYS: &str =
    "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n0,0,0,0,0,90,50\n0,1,180,0,180,0,0\n0,2,360,0,700,0,100\n";
const OTHER_WAYS: &str = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n0.2,0,0,0,0,90,90\n0,1,150,0,150,0,0\n\
                          0,2,300,0,600,0,150\n0,3,90,0,90,0,0\n";

/// Links between nodes.
const OTHER_LINKS: &str = "src,dst,signal_dbm\n0,1,-60\n1,0,-62\n1,2,-65\n2,1,-66\n0,2,-95\n2,0,-75\n";

/// Error rates of frames at 12 Mbit/s.
const ERRORS: &str = "mcs,snr_db,bytes,frame_error_rate\n1,5,1500,0.9\n1,12,1500,0.05\n";

/// Files with positions, movements, links, error rates and flows.
struct Folder;

impl Files for Folder {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let text = match name {
            "nodes.csv" => "x_m,y_m\n0,0\n150,0\n300,0\n",
            "other_nodes.csv" => "x_m,y_m\n0,0\n160,0\n320,0\n500,0\n",
            "motion.csv" => WAYS,
            "other_motion.csv" => OTHER_WAYS,
            "other_links.csv" => OTHER_LINKS,
            "errors.csv" => ERRORS,
            "flows.csv" => "src,dst\n2,0\n0,1\n",
            "other_flows.csv" => "src,dst\n0,2\n1,0\n",
            _ => return Err("no such file".into()),
        };
        Ok((name.into(), text.into()))
    }
}

/// Overlays one scenario with another.
fn lay_over(base: &mut Json, over: &Json) {
    match (base, over) {
        (Json::Object(base), Json::Object(over)) => {
            over.iter().for_each(|(key, value)| lay_over(base.entry(key).or_insert(Json::Null), value));
        }
        (base, over) => *base = over.clone(),
    }
}

/// One of the scenarios of `effects.toml`.
fn scenario(all: &Json, name: &str) -> Json {
    let mut own = all[name].clone();
    let on = own.as_object_mut().and_then(|o| o.remove("on"));
    let mut whole = on.map_or_else(|| json!({}), |on| scenario(all, on.as_str().expect("a name")));
    lay_over(&mut whole, &own);
    whole
}

/// All scenarios, with their names.
fn bases() -> Vec<Base> {
    let path = std::path::Path::new(crate::CORE).join("tests/effects.toml");
    let text = std::fs::read_to_string(path).expect("the scenarios");
    let all = toml_to_json("effects.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let mut found = vec![];
    for preset in ["standard", "ns2-2.35"] {
        for name in all.as_object().expect("scenarios").keys() {
            let mut base = scenario(&all, name);
            let mut take = |key: &str| base.as_object_mut().and_then(|o| o.remove(key)).unwrap_or_default();
            let (shows, presets) = (take("shows"), take("presets"));
            if presets.as_array().is_some_and(|p| !p.contains(&json!(preset))) {
                continue;
            }
            let shows: Vec<String> = serde_json::from_value(shows).unwrap_or_default();
            base["extends"] = json!(preset);
            let variants = if name == "variants" { Variant::WORDS } else { &[("", "")] };
            for (variant, _) in variants {
                if !variant.is_empty() {
                    base["tcp"]["variant"] = json!(variant);
                }
                let name = format!("{preset}, {name} {variant}");
                let read = Scenario::from_json(&base, &json!({}), &Folder);
                let scenario = read.unwrap_or_else(|e| panic!("{name}\n{e}"));
                let (now, results) = (scenario.effective(), results(&scenario));
                found.push(Base { name, json: base.clone(), scenario, now, results, shows: shows.clone() });
            }
        }
    }
    found
}

/// Hash of the values of a table.
fn digest(table: &dyn Rows) -> u64 {
    let mut hasher = DefaultHasher::new();
    for values in table.values() {
        match values {
            Values::Float(v) => v.iter().for_each(|x| x.to_bits().hash(&mut hasher)),
            Values::Long(v) => v.hash(&mut hasher),
            Values::Int(v) => v.hash(&mut hasher),
            Values::Flag(v) => v.hash(&mut hasher),
            Values::Word(v, words) => (v, words).hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// All measurements of a run.
pub fn results(scenario: &Scenario) -> String {
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    let recorded: Vec<String> =
        sim.tables().map(|(table, rows)| format!("{table:?} {} {:x}", rows.len(), digest(rows))).collect();
    let r: Recorder = sim.into_recorder();
    let tables = [
        r.flows(),
        r.nodes(),
        r.batches(),
        r.flow_batches(),
        r.samples(),
        r.packet_outcomes(),
        r.airtime(),
        r.rates(),
        r.batteries(),
        r.short_flows(),
        r.wired_links(),
        r.wired_link_batches(),
    ];
    tables.map(|t| format!("{t:?}")).join("\n") + &recorded.join("\n")
}

/// Every setting with the schema of its type; overrides have the schema of the settings that they override.
fn settings(path: &str, schema: &Json, found: &mut BTreeMap<String, Json>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (key, inner) in properties {
            settings(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, inner, found);
        }
    } else if schema["items"]["properties"].is_object() {
        settings(&format!("{path}.0"), &schema["items"], found);
    } else if !["extends", "format"].contains(&path) {
        found.insert(path.to_owned(), schema.clone());
    }
}

/// Other candidate values of a setting, some of which are not allowed.
fn others(path: &str, schema: &Json, now: &Json) -> Vec<Json> {
    match path {
        "topology.file" => return vec![json!("other_nodes.csv")],
        "mobility.file" => return vec![json!("other_motion.csv")],
        "mobility.table" => return vec![json!(OTHER_WAYS)],
        "radio.links_file" => return vec![json!("other_links.csv")],
        "radio.links_table" => return vec![json!(OTHER_LINKS)],
        "radio.sinr.error_rates_file" => return vec![json!("errors.csv")],
        "radio.sinr.error_rates_table" => return vec![json!(ERRORS)],
        "event.0.position" => return vec![json!(["200 m", "300 m"])],
        "event.0.destination" => return vec![json!(["200 m", "900 m"])],
        "event.0.speed" => return vec![json!("700 m/s")],
        "traffic.file" => return vec![json!("other_flows.csv")],
        "topology.positions" => {
            return vec![json!([["0 m", "0 m"], ["190 m", "20 m"], ["380 m", "0 m"], ["570 m", "5 m"]])];
        }
        "topology.omit" => return vec![json!([[1, 1]]), json!([])],
        "run.time_limit" => return vec![json!("700 ms")],
        "run.stop" => return vec![json!("1300 ms"), json!("70 delivered")],
        "flow.0.src" | "flow.0.dst" => return vec![json!(1), json!(2), json!(3), json!("0-2")],
        "node.0.nodes" => return vec![json!(1)],
        "event.0.setting" => return vec![json!("flow.1.tcp.receive_window")],
        "event.0.value" => return vec![json!(2)],
        "wlan.response_rates" | "node.0.wlan.response_rates" => return vec![json!(["2 Mbit/s"]), json!(["1 Mbit/s"])],
        "wlan.rate_control.rates" | "node.0.wlan.rate_control.rates" => return vec![json!(["2 Mbit/s", "11 Mbit/s"])],
        "run.record" => return vec![json!(["cwnd", "packets"])],
        "middlebox.0.flows" => return vec![json!([0]), json!("all")],
        _ => {}
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter(|w| *w != now).cloned().collect();
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        return kinds
            .iter()
            .flat_map(|k| match k.get("const") {
                Some(word) => vec![word.clone()],
                None => others(path, k, now),
            })
            .filter(|v| v != now)
            .collect();
    }
    match now {
        Json::Bool(b) => return vec![json!(!b)],
        Json::Number(n) if n.is_f64() => {
            let x = n.as_f64().expect("a float");
            return vec![json!(x * 2.0), json!(x / 2.0), json!(x + 0.25), json!(0.5), json!(0.05), json!(3.0)];
        }
        Json::Number(n) => {
            let x = n.as_u64().expect("a whole number");
            return vec![json!(x + 1), json!(x.saturating_sub(1)), json!(0), json!(1), json!(2), json!(x * 3)];
        }
        Json::String(text) => {
            if let Some((number, unit)) = text.split_once(' ')
                && let Ok(x) = number.parse::<f64>()
            {
                let scaled = [2.0, 0.5, 1.1, 0.01, 20.0].map(|f| format!("{} {unit}", x * f));
                let round = [2.0, 0.5, 1.1, 0.01, 20.0].map(|f| format!("{} {unit}", (x * f).floor()));
                let more = ["Mbit/s", "s", "us", "ms", "B", "m", "dB", "dBm"]
                    .iter()
                    .find(|u| **u == unit)
                    .map_or("", |_| unit);
                let some = [5.0, 50.0, 1000.0, 5.5].map(|v| format!("{v} {more}"));
                return [&scaled[..], &round[..], &some[..]].concat().into_iter().map(Json::String).collect();
            }
        }
        _ => {}
    }
    // A setting that has no value yet.
    match schema["type"].as_str() {
        Some("integer") => vec![json!(0), json!(1), json!(2), json!(4)],
        Some("number") => vec![json!(0.05), json!(0.5), json!(8.0)],
        Some("boolean") => vec![json!(true), json!(false)],
        Some("array") => vec![json!([0])],
        _ => ["1 ms", "30 ms", "2 s", "1500 B", "4000 B", "500 B", "1e-10 W", "2e-11 W", "1 Mbit/s", "50 m", "8 dB"]
            .map(Json::from)
            .to_vec(),
    }
}

/// Source of the value of an override that is not written.
fn below(path: &str) -> Option<String> {
    [
        ("flow.0.tcp.", "tcp."),
        ("flow.0.bulk.", "bulk."),
        ("flow.0.cbr.", "cbr."),
        ("flow.0.on_off.", "on_off."),
        ("flow.0.requests.", "requests."),
        ("traffic.tcp.", "tcp."),
        ("wired.queue.", "queue."),
        ("arrival_process.0.tcp.", "tcp."),
        ("node.0.radio.", "radio."),
        ("node.0.wlan.", "wlan."),
        ("node.0.queue.", "queue."),
        ("node.0.mobility.", "mobility."),
        ("wired_link.0.back.queue.", "wired_link.0.queue."),
        ("wired_link.0.back.error.", "wired_link.0.error."),
        ("wired_link.0.back.", "wired_link.0."),
        ("wired_link.0.rate", "wired.rate"),
        ("wired_link.0.delay", "wired.delay"),
        ("wired_link.0.error_place", "wired.error_place"),
        ("wired_link.0.queue.", "wired.queue."),
        ("wired_link.0.error.", "wired.error."),
        ("middlebox.0.split.tcp.", "split.tcp."),
        ("middlebox.0.snoop.", "snoop."),
        ("middlebox.0.eln.", "eln."),
        ("middlebox.0.split.", "split."),
        ("split.tcp.", "tcp."),
    ]
    .iter()
    .find_map(|(over, common)| Some(format!("{common}{}", path.strip_prefix(over)?)))
}

/// Places of settings that lie over others.
const LAYERS: [&str; 9] = [
    "flow.",
    "traffic.",
    "arrival_process.",
    "node.",
    "wired.queue.",
    "wired_link.0.back.",
    "wired_link.0.",
    "split.",
    "middlebox.",
];

/// A scenario in which settings are changed.
struct Base {
    name: String,
    /// Settings that it writes.
    json: Json,
    scenario: Scenario,
    /// Settings in effect.
    now: Json,
    results: String,
    /// Groups of settings with an effect to be shown.
    shows: Vec<String>,
}

impl Base {
    /// Value of a setting; `None` if the scenario does not have the setting.
    fn value(&self, path: &str) -> Option<Json> {
        let at = |json: &Json, path: &str| json.pointer(&format!("/{}", path.replace('.', "/"))).cloned();
        for (i, _) in path.match_indices(".0.") {
            at(&self.json, &path[..i + 2])?;
        }
        let value = at(&self.json, path).or_else(|| at(&self.now, path));
        match (value, path) {
            // Values not set by a link are those of `wire`.
            (Some(none), "wired_link.0.rate" | "wired_link.0.delay" | "wired_link.0.error_place")
                if none == "inherit" =>
            {
                at(&self.now, &path.replace("wired_link.0.", "wired."))
            }
            (None, _) => self.value(&below(path)?),
            (value, _) => value,
        }
    }

    fn with(&self, changes: impl IntoIterator<Item = (String, Json)>) -> Result<Scenario, Errors> {
        Scenario::from_json(&self.json, &Json::Object(changes.into_iter().collect()), &Folder)
    }

    /// These settings with the values that they have, as far as they can be written, and the scenario that writes them.
    fn written(&self, mut now: Vec<(String, Json)>) -> (Vec<(String, Json)>, Scenario) {
        loop {
            match self.with(now.clone()) {
                Ok(written) => return (now, written),
                // Some settings of all nodes, and groups of them, cannot be those of one.
                Err(errors) => {
                    let before = now.len();
                    let is_of = |path: &str, group: &str| {
                        path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    };
                    now.retain(|(path, _)| !errors.problems.iter().any(|p| is_of(path, &p.path)));
                    assert!(now.len() < before, "{}: {errors}", self.name);
                }
            }
        }
    }

    /// Problems when all of these settings without effect get other values.
    fn unused(&self, all: &BTreeMap<String, Json>, now: &[(String, Json)], written: &Scenario) -> Vec<String> {
        let unused: BTreeSet<&String> = written.unused.iter().map(|u| &u.0).collect();
        let mut left: BTreeMap<String, Vec<Json>> = now
            .iter()
            .filter(|(path, _)| unused.contains(path))
            .map(|(path, value)| (path.clone(), others(path, &all[path], value)))
            .collect();
        // The first value of each that is allowed.
        let changed = loop {
            let first = left.iter().filter_map(|(path, values)| Some((path.clone(), values.first()?.clone())));
            match self.with(first) {
                Ok(changed) => break changed,
                Err(errors) => {
                    for p in errors.problems {
                        // A value may be refused for that of another setting of the group.
                        let group = p.path.rsplit('.').nth(1).map_or(String::new(), |g| format!(".{g}."));
                        let is_refused = |path: &&String| p.path == **path || path.starts_with(&format!("{}.", p.path));
                        let refused = left.keys().find(is_refused).or_else(|| left.keys().find(|k| k.contains(&group)));
                        let refused =
                            refused.cloned().unwrap_or_else(|| panic!("{}: {}: {}", self.name, p.path, p.message));
                        let values = left.get_mut(&refused).expect("it is one of them");
                        if values.is_empty() {
                            left.remove(&refused);
                        } else {
                            values.remove(0);
                        }
                    }
                }
            }
        };
        let changes: Vec<_> =
            left.into_iter().filter_map(|(path, values)| Some((path, values.into_iter().next()?))).collect();
        if changes.is_empty() || results(&changed) == self.results { vec![] } else { self.culprits(&changes) }
    }

    /// Changes that have an effect by themselves. Two settings that each make the other unused may have an effect
    /// together.
    fn culprits(&self, changes: &[(String, Json)]) -> Vec<String> {
        if let [(path, value)] = changes {
            return vec![format!("{}: {path} = {value} has an effect", self.name)];
        }
        let (one, other) = changes.split_at(changes.len() / 2);
        let differ = |half: &&[(String, Json)]| {
            // A value may be refused without that of another setting.
            !half.is_empty() && self.with(half.iter().cloned()).map_or(half.len() > 1, |s| results(&s) != self.results)
        };
        [one, other].into_iter().filter(differ).flat_map(|half| self.culprits(half)).collect()
    }

    /// Returns true if a change of this setting changes the results here without a warning.
    fn has_effect(&self, path: &str, schema: &Json) -> bool {
        let Some(value) = self.value(path) else { return false };
        others(path, schema, &value).into_iter().any(|other| match self.with([(path.to_owned(), other)]) {
            Ok(changed) => !changed.unused.iter().any(|u| u.0 == path) && results(&changed) != self.results,
            Err(_) => false,
        })
    }
}

#[test]
fn a_setting_has_no_effect_exactly_where_the_warning_says_so() {
    let mut all = BTreeMap::new();
    settings("", &json_schema(), &mut all);
    let is_overlay = |path: &str| below(path).is_some();
    let mut to_show: BTreeSet<&String> = all.keys().filter(|p| !is_overlay(p)).collect();
    assert!(to_show.len() > 250, "{}", to_show.len());
    let mut wrong = vec![];
    for base in bases() {
        wrong.extend(base.scenario.unused.iter().map(|u| format!("{}: {} is not used: {}", base.name, u.0, u.1)));
        // One layer after the other: what lies over a setting makes it idle.
        let layer_of = |path: &str| is_overlay(path).then(|| LAYERS.iter().position(|l| path.starts_with(l)));
        let mut layers: BTreeMap<Option<Option<usize>>, Vec<(String, Json)>> = BTreeMap::new();
        for path in all.keys() {
            if let Some(value) = base.value(path) {
                layers.entry(layer_of(path)).or_default().push((path.clone(), value));
            }
        }
        let mut everything = vec![];
        for now in layers.into_values() {
            let (now, written) = base.written(now);
            wrong.extend(base.unused(&all, &now, &written));
            everything.extend(now);
        }
        if results(&base.written(everything).1) != base.results {
            wrong.push(format!("{}: to write out what is so changes the results", base.name));
        }
        let is_shown = |path: &&&String| base.shows.iter().any(|s| **path == s || path.starts_with(&format!("{s}.")));
        let shown: Vec<&String> = to_show.iter().filter(is_shown).copied().collect();
        for path in shown {
            if base.has_effect(path, &all[path]) {
                match HIDDEN.iter().find(|g| g.0 == path) {
                    Some((_, why)) => wrong.push(format!("{path} has an effect, against \"{why}\"")),
                    None => _ = to_show.remove(path),
                }
            }
        }
    }
    // The program `chappe-quic` and the command `chappe live` read them.
    to_show.retain(|path| !path.split('.').any(|group| group == "quic" || group == "live"));
    for (path, _) in HIDDEN {
        assert!(to_show.remove(&path.to_string()), "{path} is no setting");
    }
    wrong.extend(to_show.iter().map(|path| format!("no scenario shows an effect of {path}")));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
