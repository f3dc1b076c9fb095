//! Scenarios: descriptions of simulations, written as TOML or as a Python dict, with one schema and one form of errors.
//!
//! ```
//! use chappe_core::sim::Sim;
//! use chappe_scenario::{NoFiles, Scenario};
//!
//! let text = "topology = { hops = 2 }\nrun = { stop = \"1000 delivered\" }";
//! let scenario = Scenario::from_toml("two_hops.toml", text, &[], &NoFiles)?;
//! let mut sim = Sim::new(&scenario.setup(Some(7)));
//! sim.run();
//! assert!(sim.recorder().flows().numbers("goodput_bps").unwrap()[0] > 0.0);
//! # Ok::<(), chappe_scenario::Errors>(())
//! ```

// Modules name each other by relative paths: the unit tests of the core compile this crate as a module.
mod build;
mod driven;
mod read;
pub mod schema;
mod survey;
mod validate;

pub use build::events::CHANGEABLE;
pub use build::flows::Flow;
pub use build::layout::Layout;
pub use read::error::Errors;
pub use read::source::{Files, NoFiles, Sources};
pub use schema::{Config, presets};
pub use validate::cost::{self, Cost};
pub use validate::unused::{Unused, no_effect};

use build::flows::connections;
use build::{mobility, setup};
use chappe_core::mobility::{Courses, Plan};
use chappe_core::packet::{NodeId, RadioId};
use chappe_core::radio::Channel;
use chappe_core::run::{Change, Command, Setup, Stop};
use chappe_core::setting::{
    Code, EVERYDAY, EXPERT, LEVEL, Node, Problem, Report, Setting, Table, Value, group_schema, join,
};
use chappe_core::topology;
use chappe_core::unit::{BitRate, Time};
use chappe_core::wlan::Mode;
use read::names::{self, Names};
use read::source::{self, Reader, within};
use read::unreadable::Unreadable;
use read::{error, file_or_text, files};
use schema::events;
use schema::flows::{Ends, FlowEntry};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use validate::unused;

/// A radio link from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Number of the sending node.
    pub from: u32,
    /// Number of the receiving node.
    pub to: u32,
    /// Received power at the receiving node \[dBm\].
    pub signal_dbm: f64,
    /// Fastest rate of the PHY at which frames are decoded without interference.
    pub rate: Option<BitRate>,
}

/// A scenario that has been read and validated.
#[derive(Clone, Debug)]
pub struct Scenario {
    config: Config,
    layout: Layout,
    cost: Cost,
    /// Tree of all values, including those of extended files.
    tree: Node,
    names: Names,
    /// Problems that do not prevent a run.
    pub warnings: Vec<Problem>,
    /// Settings without effect that the scenario itself sets.
    pub unused: Vec<Unused>,
    /// Number of further warnings.
    more_warnings: usize,
    /// Source texts of the scenario.
    pub sources: Sources,
}

impl Scenario {
    /// Reads a TOML text. `overrides` are dotted names with values as on a command line.
    ///
    /// # Errors
    /// All problems of the text at once.
    pub fn from_toml(
        name: &str,
        text: &str,
        overrides: &[(String, String)],
        files: &dyn Files,
    ) -> Result<Scenario, Errors> {
        let mut reader = Reader::new(files);
        let mut tree = reader.read(name, text);
        let changes =
            overrides.iter().map(|(path, value)| (path.clone(), reader.override_value(path, value))).collect();
        let changed = reader.set_all(&mut tree, changes);
        let before = || Scenario::from_toml(name, text, &[], files).ok().map(|s| s.unused);
        Ok(Scenario::finish(reader, tree, &changed)?.warned(&changed, before))
    }

    /// Reads JSON, as a Python dict arrives; names may be dotted. `overrides` is an object of dotted names and values.
    ///
    /// # Errors
    /// All problems at once; JSON that is not an object is one of them.
    pub fn from_json(json: &Json, overrides: &Json, files: &dyn Files) -> Result<Scenario, Errors> {
        let mut reader = Reader::new(files);
        let mut node = schema::node(json, "");
        let dotted = source::take_dotted(&mut node, "");
        let mut own = match node.value {
            Value::Table(t) => t,
            other => {
                let what = Node { value: other, origin: None };
                reader.report.add("", None, format!("a scenario must be a table, not {}", what.kind()), None);
                Table::default()
            }
        };
        reader.begin(&mut own);
        reader.report_twice(&own, &dotted);
        // Links are those of this scenario, however they are written, or else those of the files that it extends.
        let (texts, dotted): (Vec<_>, Vec<_>) = dotted.into_iter().partition(|d| file_or_text::concerns(&d.0));
        for (path, node) in texts {
            reader.set(&mut own, &path, node);
        }
        let mut tree = reader.extend(own, "scenario");
        for (path, node) in dotted {
            reader.set(&mut tree, &path, node);
        }
        let before = || Scenario::from_json(json, &Json::Null, files).ok().map(|s| s.unused);
        Scenario::lay_over(reader, tree, overrides, before)
    }

    /// A copy of the scenario with other settings; `overrides` is an object of dotted names and values.
    ///
    /// # Errors
    /// All problems of the new scenario at once.
    pub fn with(&self, overrides: &Json, files: &dyn Files) -> Result<Scenario, Errors> {
        let mut reader = Reader::new(files);
        reader.sources = self.sources.clone();
        let Value::Table(tree) = self.tree.value.clone() else { unreachable!("a scenario is a table") };
        Scenario::lay_over(reader, tree, overrides, || Some(self.unused.clone()))
    }

    /// Overlays a scenario with changes; `before` finds the settings without effect before them.
    fn lay_over(
        mut reader: Reader<'_>,
        mut tree: Table,
        overrides: &Json,
        before: impl FnOnce() -> Option<Vec<Unused>>,
    ) -> Result<Scenario, Errors> {
        let mut changes = Vec::new();
        for (path, value) in overrides.as_object().into_iter().flatten() {
            let mut node = schema::node(value, path);
            let dotted = source::take_dotted(&mut node, path);
            changes.push((path.clone(), node));
            changes.extend(dotted);
        }
        let changed = reader.set_all(&mut tree, changes);
        Ok(Scenario::finish(reader, tree, &changed)?.warned(&changed, before))
    }

    /// Builds the scenario of a tree in which settings have been `changed`, without warnings about unused settings.
    fn finish(reader: Reader<'_>, tree: Table, changed: &[String]) -> Result<Scenario, Errors> {
        let Reader { sources, mut report, files: access, .. } = reader;
        let mut tree = Node { value: Value::Table(tree), origin: None };
        let unreadable = Unreadable::of(&report);
        let mut config = Config::default();
        let names = Names::resolve(&mut tree, &sources, access);
        config.apply(&tree, "", &mut report);
        let from = files::Access { sources: &sources, files: access, names: &names };
        let mut warnings = files::read(&mut config, &mut tree, &from, &mut report);
        add_default_flow(&mut config, &tree);
        let (findings, layout) = validate::check(&config, &tree, &sources);
        unreadable.add_findings(&mut report, findings.errors);
        names.tell(&mut report);
        if !report.problems.is_empty() {
            return Err(Errors { problems: report.problems, more: report.more, sources });
        }
        warnings.append(findings.warnings);
        names.tell(&mut warnings);
        let Report { problems: warnings, more: more_warnings, .. } = warnings;
        // A scenario with all settings, as from `effective_toml`, did not choose them, so it gets no warnings.
        let unused = if findings.is_complete && changed.is_empty() { vec![] } else { findings.unused };
        Ok(Scenario { config, layout, cost: findings.cost, tree, names, warnings, unused, more_warnings, sources })
    }

    /// Adds warnings for settings without effect. Skips a setting that was not `changed` and had an effect `before` the
    /// changes: it belongs to the scenario below, or to other changes of it.
    fn warned(mut self, changed: &[String], before: impl FnOnce() -> Option<Vec<Unused>>) -> Scenario {
        let is_changed = |path: &str| changed.iter().any(|c| within(path, c));
        let all_changed = self.unused.iter().all(|(path, _)| is_changed(path));
        let before = if changed.is_empty() || all_changed { None } else { before() };
        if let Some(before) = before {
            self.unused.retain(|(path, _)| is_changed(path) || before.iter().any(|(b, _)| b == path));
        }
        for (path, message) in no_effect(&self.unused) {
            let origin = self.tree.at(path).and_then(|n| n.origin);
            self.warnings.push(Problem {
                code: Some(Code::UnusedSetting),
                path: path.to_owned(),
                origin,
                message,
                help: None,
            });
        }
        self
    }

    /// Those of these settings that are set, in the scenario or in one that it extends, and have an effect.
    pub fn used<'a>(&self, paths: &'a [String]) -> Vec<&'a String> {
        unused::used(&self.config, &self.tree, &self.layout, paths)
    }

    /// All written values, including those of extended files, as JSON for [`Scenario::from_json`]. Values without
    /// warnings are kept apart under `extends`, so that they cause none when read again.
    pub fn written(&self) -> Json {
        let Value::Table(tree) = &self.tree.value else { unreachable!("a scenario is a table") };
        let (unused, others) = self.parted(tree, "");
        let mut json = schema::to_json(&Node { value: Value::Table(unused), origin: None });
        if !others.entries().is_empty() {
            json["extends"] = schema::to_json(&Node { value: Value::Table(others), origin: None });
        }
        json
    }

    /// Splits the table at `path` into settings with a warning and others.
    fn parted(&self, table: &Table, path: &str) -> (Table, Table) {
        let (mut unused, mut others) = (Table::default(), Table::default());
        for (key, at, node) in table.entries() {
            let path = join(path, key);
            if !self.unused.iter().any(|u| within(&u.0, &path)) {
                others.insert(key.clone(), *at, node.clone());
            } else if let Value::Table(t) = &node.value {
                for (part, inner) in
                    [&mut unused, &mut others].into_iter().zip(<[Table; 2]>::from(self.parted(t, &path)))
                {
                    if !inner.entries().is_empty() {
                        part.insert(key.clone(), *at, Node { value: Value::Table(inner), origin: node.origin });
                    }
                }
            } else {
                unused.insert(key.clone(), *at, node.clone());
            }
        }
        (unused, others)
    }

    /// Warnings as text for a terminal, without those whose kinds are `ignored`.
    pub fn render_warnings(&self, ignored: &[Code], color: bool) -> String {
        let level = annotate_snippets::Level::WARNING;
        let is_shown = |p: &&Problem| p.code.is_none_or(|code| !ignored.contains(&code));
        let shown: Vec<Problem> = self.warnings.iter().filter(is_shown).cloned().collect();
        error::render(&level, &shown, self.more_warnings, &self.sources, color)
    }

    /// All settings with their values in effect.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Positions of the nodes, and flows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Names of the nodes that have one, by number.
    pub fn names(&self) -> &BTreeMap<u32, String> {
        self.names.of_nodes()
    }

    /// A text for people in which "node 17" is "node roof-17", if this is the name of the node.
    pub fn in_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.names.in_text(text)
    }

    /// Radio links at the beginning without interference: each direction once, sorted.
    pub fn links(&self) -> Vec<Link> {
        let interfaces = &self.layout.interfaces;
        let channel = Channel::new(&interfaces.on_air(&self.layout.positions));
        let node = |r: RadioId| interfaces.radios[r.index()].node.0;
        let mut links = Vec::new();
        for from in (0..interfaces.radios.len() as u32).map(RadioId) {
            let wlan = &interfaces.profiles[interfaces.radios[from.index()].profile as usize].wlan;
            let start = links.len();
            links.extend(channel.signals(from).map(|(to, power, rates)| Link {
                from: node(from),
                to: node(to),
                signal_dbm: 30.0 + 10.0 * libm::log10(f64::from(power)),
                rate: wlan.fastest_decoded(rates),
            }));
            links[start..].sort_by_key(|l| l.to);
        }
        links
    }

    /// Nodes on the path of every flow at the beginning, both ends included; `None` where a protocol finds it, or none
    /// leads there.
    pub fn paths(&self) -> Vec<Option<Vec<u32>>> {
        let (cfg, flows) = (&self.config, &self.layout.flows);
        if cfg.routing.protocol.learns_routes() {
            return vec![None; flows.len()];
        }
        let channel = Channel::new(&self.layout.interfaces.on_air(&self.layout.positions));
        let graph = self.layout.graph(cfg, &channel);
        let routes = graph.routes(&cfg.routing, flows.iter().map(|f| NodeId(f.dst)));
        let path = |f: &Flow| {
            let (src, dst) = (NodeId(f.src), NodeId(f.dst));
            routes.hops(src, dst)?;
            Some(std::iter::once(src).chain(routes.way(src, dst)).chain([dst]).map(|n| n.0).collect())
        };
        flows.iter().map(path).collect()
    }

    /// Fastest rate at which a node sends data at any time: no flow delivers more. `None` with short flows, whose number
    /// is not known.
    pub fn fastest(&self) -> Option<BitRate> {
        if !self.config.arrival_process.0.is_empty() {
            return None;
        }
        let Layout { interfaces, events, .. } = &self.layout;
        let used = interfaces.radios.iter().map(|radio| radio.profile as usize);
        let profiles: BTreeSet<usize> = used.collect();
        let radios = profiles.into_iter().flat_map(|i| interfaces.profiles[i].wlan.data_modes());
        let modes = radios.chain(interfaces.link_modes.iter().map(|&(_, _, mode)| mode));
        let wires = self.config.directions().into_iter().map(|way| way.point_to_point.rate);
        let changed = events.iter().filter_map(|(_, command)| match command {
            Command::Set(Change::LinkRate(_, _, rate)) => Some(*rate),
            _ => None,
        });
        modes.map(Mode::rate).chain(wires).chain(changed).max()
    }

    /// Transports of the flows without repetition, in the order of the flows: "TCP" with the name of the pair of loss
    /// recovery and congestion control, "QUIC" with that of its congestion control, or "UDP".
    pub fn transports(&self) -> Vec<String> {
        let (cfg, Layout { flows, entries, .. }) = (&self.config, &self.layout);
        // All flows of an entry are alike, and so are those that are drawn, which come last.
        let drawn = entries.last().map_or(0, |entry| entry.end);
        let firsts = entries.iter().map(|entry| entry.start).chain([drawn]).filter(|&first| first < flows.len());
        let back: Vec<_> = connections(cfg, flows).into_iter().filter_map(|(_, back)| back).collect();
        let mut found = Vec::new();
        for flow in firsts.filter(|first| !back.contains(first)).map(|first| &flows[first]) {
            let transport = match flow.quic(cfg).and_then(|quic| quic.congestion_control) {
                _ if flow.is_tcp(cfg) => format!("TCP {}", flow.tcp.over(&cfg.tcp).pair()),
                Some(control) => format!("QUIC {}", control.word()),
                None => "UDP".to_owned(),
            };
            if !found.contains(&transport) {
                found.push(transport);
            }
        }
        found
    }

    /// Estimated cost of a run.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Error for a run that exceeds its memory limit at this instant.
    pub fn outgrown(&self, at: Time) -> Errors {
        let limit = self.config.run.max_memory;
        let run = &self.config.run;
        let (path, help) = match (run.record.is_empty(), run.sample_interval) {
            (false, _) => (
                "run.record",
                format!("write the tables to files while the run goes on (`--out DIR`); {}", cost::RAISE),
            ),
            (true, Some(_)) => ("run.sample_interval", cost::RAISE.into()),
            (true, None) => ("run.max_memory", cost::RAISE.into()),
        };
        let problem = Problem {
            code: None,
            path: path.into(),
            origin: self.tree.at(path).and_then(|n| n.origin),
            message: format!("after {} s of simulated time the run needs more than {limit} of memory", at.as_secs()),
            help: Some(help),
        };
        Errors { problems: vec![problem], more: 0, sources: self.sources.clone() }
    }

    /// All effective settings as JSON.
    pub fn effective(&self) -> Json {
        self.config.write()
    }

    /// Effective settings that differ from the defaults, as JSON.
    pub fn changes(&self) -> Json {
        self.config.changes(&Config::default()).unwrap_or_else(|| json!({}))
    }

    /// All effective settings as a scenario file that gives the same results.
    pub fn effective_toml(&self) -> String {
        let value: toml::Value = to_toml(&self.effective());
        let settings = toml::to_string(&value).expect("settings are tables of values that TOML has");
        format!("format = {}\n\n{settings}", source::FORMAT)
    }

    /// Setup of a run with this seed; `None`: the seed of the scenario.
    pub fn setup(&self, seed: Option<u64>) -> Setup {
        setup::setup(&self.config, &self.layout, self.names(), seed.unwrap_or(self.config.run.seed))
    }

    /// Movement patterns of the nodes in a run with this seed; `None`: the seed of the scenario.
    pub fn mobility(&self, seed: Option<u64>) -> Plan {
        mobility::plan(&self.config, self.layout.positions.len(), seed.unwrap_or(self.config.run.seed))
    }

    /// Movements of the nodes up to an instant.
    pub fn courses(&self, until: Time, seed: Option<u64>) -> Courses {
        self.mobility(seed).courses_until(&self.layout.positions, until)
    }

    /// Latest end of a run; `None` if it ends with a delivery.
    pub fn end(&self) -> Option<Time> {
        let run = &self.config.run;
        match run.stop {
            Stop::At(at) => Some(at.min(Time::ZERO + run.time_limit)),
            Stop::Delivered(_) => None,
        }
    }
}

/// Adds a file transfer from end to end to a chain without flows.
fn add_default_flow(config: &mut Config, tree: &Node) {
    let none = tree.at("flow").is_none()
        && config.arrival_process.0.is_empty()
        && config.flow.0.is_empty()
        && config.traffic.flows == 0;
    // Without hops there is no transfer; the mistake is the number of hops.
    if none && config.topology.hops > 0 && config.topology.kind == topology::Kind::Chain {
        let dst = Some(Ends::one(config.topology.hops));
        config.flow.0.push(FlowEntry { dst, ..FlowEntry::default() });
    }
}

fn to_toml(json: &Json) -> toml::Value {
    match json {
        Json::Null => unreachable!("no setting is written as null"),
        Json::Bool(b) => toml::Value::Boolean(*b),
        Json::Number(n) => n
            .as_i64()
            .map_or_else(|| toml::Value::Float(n.as_f64().expect("a JSON number is one")), toml::Value::Integer),
        Json::String(s) => toml::Value::String(s.clone()),
        Json::Array(a) => toml::Value::Array(a.iter().map(to_toml).collect()),
        Json::Object(o) => toml::Value::Table(o.iter().map(|(k, v)| (k.clone(), to_toml(v))).collect()),
    }
}

/// Converts a TOML text to JSON, with the limits of length and depth of a scenario: for files that name scenarios.
///
/// # Errors
/// All problems of the text at once.
pub fn toml_to_json(name: &str, text: &str) -> Result<Json, Errors> {
    let mut reader = Reader::new(&source::NoFiles);
    let tree = Node { value: Value::Table(reader.parse(name, text)), origin: None };
    reader.refuse_large(&tree, "");
    if reader.report.problems.is_empty() {
        return Ok(schema::to_json(&tree));
    }
    Err(Errors { problems: reader.report.problems, more: reader.report.more, sources: reader.sources })
}

/// JSON Schema of scenarios.
pub fn json_schema() -> Json {
    let mut schema = Config::default().schema();
    unused::describe(&mut schema);
    events::describe(&mut schema);
    names::describe(&mut schema);
    let extends = json!({
        "description": format!("Preset ({}) or scenario file that this scenario extends, or a list of them", presets::NAMES.join(", ")),
        "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
        LEVEL: EVERYDAY,
    });
    let format = json!({ "description": "Version of the file format.", "const": source::FORMAT, LEVEL: EXPERT });
    let mut properties = serde_json::Map::new();
    properties.insert("format".into(), format);
    properties.insert("extends".into(), extends);
    if let Some(Json::Object(own)) = schema.get("properties").cloned() {
        properties.extend(own);
    }
    let mut whole = group_schema(schema["description"].take().as_str().unwrap_or(""), properties);
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    whole["title"] = json!("Chappe scenario");
    whole
}
