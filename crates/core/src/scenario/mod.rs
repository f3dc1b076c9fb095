//! Scenarios: descriptions of simulations, written as TOML or as a Python dict, with one schema and one form of errors.

mod build;
mod read;
pub mod schema;
mod validate;

pub use build::events::CHANGEABLE;
pub use build::layout::Layout;
pub use read::error::Errors;
pub use read::source::{Files, NoFiles};
pub use schema::{Config, flows::Flow, presets};
pub use validate::cost::{self, Cost};
pub use validate::unused::{Unused, no_effect};

use crate::app::{self, Application, Source, bulk::Bulk, cbr::Cbr, on_off::OnOff, requests::Requests};
use crate::packet::{NodeId, RadioId};
use crate::radio::Channel;
use crate::rng::{Purpose, Stream};
use crate::run::{FlowSetup, Setup, Transport};
use crate::setting::{Code, Node, Origin, Problem, Report, Setting, Table, Value, group_schema, join};
use crate::topology;
use crate::unit::{BitRate, Time};
use crate::wlan::Mode;
use build::{events, layout, mobility};
use read::source::{self, Reader, Sources, within};
use read::{error, error_rates, file_or_text};
use schema::flows::{Ends, FlowEntry};
use serde_json::{Value as Json, json};
use validate::{links, middleboxes, unused};

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
        let Reader { sources, mut report, files, .. } = reader;
        let mut tree = Node { value: Value::Table(tree), origin: None };
        let unreadable = Unreadable::of(&report);
        let mut config = Config::default();
        config.apply(&tree, "", &mut report);
        let name = sources.texts.first().map_or("scenario", |t| t.0.as_str());
        let mut warnings = read_files(&mut config, &mut tree, name, files, &mut report);
        add_default_flow(&mut config, &tree);
        let (findings, layout) = validate::check(&config, &tree, &sources);
        unreadable.add_findings(&mut report, findings.errors);
        if !report.problems.is_empty() {
            return Err(Errors { problems: report.problems, more: report.more, sources });
        }
        warnings.append(findings.warnings);
        let Report { problems: warnings, more: more_warnings, .. } = warnings;
        // A scenario with all settings, as from `effective_toml`, did not choose them, so it gets no warnings.
        let unused = if findings.is_complete && changed.is_empty() { vec![] } else { findings.unused };
        Ok(Scenario { config, layout, cost: findings.cost, tree, warnings, unused, more_warnings, sources })
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
        let is_told = |p: &&Problem| p.code.is_none_or(|code| !ignored.contains(&code));
        let told: Vec<Problem> = self.warnings.iter().filter(is_told).cloned().collect();
        error::render(&level, &told, self.more_warnings, &self.sources, color)
    }

    /// All settings with their values in effect.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Positions of the nodes, and flows.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Radio links at the beginning without interference: each direction once, sorted.
    pub fn links(&self) -> Vec<Link> {
        let interfaces = &self.layout.interfaces;
        let channel = Channel::new(&interfaces.on_air(&self.layout.positions));
        let node = |r: RadioId| interfaces.radios[r.index()].node.0;
        let (data, ppdu) = (self.config.wlan.data_mode(), &self.config.wlan.ppdu);
        let exists = |m: &Mode| !m.is_ht() || ppdu.has(m.mcs().into());
        let mut links = Vec::new();
        for from in (0..interfaces.radios.len() as u32).map(RadioId) {
            let start = links.len();
            links.extend(channel.signals(from).map(|(to, power, rates)| Link {
                from: node(from),
                to: node(to),
                signal_dbm: 30.0 + 10.0 * libm::log10(f64::from(power)),
                rate: data.family().rev().filter(exists).find(|m| rates >> m.column() & 1 == 1).map(Mode::rate),
            }));
            links[start..].sort_by_key(|l| l.to);
        }
        links
    }

    /// Transports of the flows without repetition, in the order of the flows: "TCP" with the name of the pair of loss
    /// recovery and congestion control, or "UDP".
    pub fn transports(&self) -> Vec<String> {
        let (cfg, Layout { flows, entries, .. }) = (&self.config, &self.layout);
        // All flows of an entry are alike, and so are those that are drawn, which come last.
        let drawn = entries.last().map_or(0, |entry| entry.end);
        let mut found = Vec::new();
        for flow in entries.iter().map(|entry| entry.start).chain([drawn]).filter_map(|first| flows.get(first)) {
            let transport =
                if flow.is_tcp(cfg) { format!("TCP {}", flow.tcp.over(&cfg.tcp).pair()) } else { "UDP".to_owned() };
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
        let c = &self.config;
        let seed = seed.unwrap_or(c.run.seed);
        let flow = |(i, f): (usize, &Flow)| {
            let (from, to) = (NodeId(f.src), NodeId(f.dst));
            let tcp = f.tcp.over(&c.tcp);
            let split = middleboxes::split_of(c, &self.layout, i, &tcp);
            let start = f.start.unwrap_or(Time::NEVER);
            let mut breaks_links = true;
            let source = match f.app {
                app::Kind::Bulk => Source::Bulk(Bulk::new(&f.bulk.over(&c.bulk), start, tcp.mss)),
                app::Kind::Cbr => Source::Cbr(Cbr::new(&f.cbr.over(&c.cbr), start)),
                app::Kind::OnOff => {
                    let on_off = f.on_off.over(&c.on_off);
                    breaks_links = on_off.breaks_links;
                    let rng = Stream::new(seed, Purpose::Application, i as u64);
                    Source::OnOff(Box::new(OnOff::new(&on_off, start, tcp.mss, rng)))
                }
                app::Kind::Requests => {
                    let rng = Stream::new(seed, Purpose::Application, i as u64);
                    Source::Requests(Box::new(Requests::new(&f.requests.over(&c.requests), start, tcp.mss, rng)))
                }
            };
            let payload = f.payload(c);
            let transport = if f.is_tcp(c) { Transport::Tcp(Box::new(tcp)) } else { Transport::Udp };
            let app = Application::new(source, f.stop.unwrap_or(Time::NEVER));
            let [name, group] = [&f.name, &f.group].map(|label| label.as_ref().map(|l| l.0.clone()));
            let (app_kind, start, dscp) = (f.app, f.start, f.dscp);
            FlowSetup { from, to, name, group, transport, app, app_kind, start, payload, breaks_links, dscp, split }
        };
        let mobility = self.mobility(Some(seed));
        Setup {
            positions: mobility.starts(&self.layout.positions),
            mobility,
            wired: c.topology.wired_nodes,
            links: c.directions(),
            frame_errors: c.wlan.error.clone(),
            interfaces: self.layout.interfaces.clone(),
            net: c.net.clone(),
            arp: c.arp.clone(),
            routing: c.routing.clone(),
            flows: self.layout.flows.iter().enumerate().map(flow).collect(),
            arrivals: self.arrivals(),
            middleboxes: middleboxes::setups(c, &self.layout),
            seed,
            stop: c.run.stop,
            limit: Time::ZERO + c.run.time_limit,
            batches: c.run.batches,
            discard: c.run.warmup_batches,
            events: self.layout.events.clone(),
            sample: c.run.sample_interval,
            airtime: c.run.airtime,
            record: c.run.record.clone(),
            capture: false,
        }
    }
}

/// Parts of the text that are not valid TOML: sources and places.
struct Unreadable(Vec<(usize, usize)>);

impl Unreadable {
    fn of(report: &Report) -> Unreadable {
        let of_text = report.problems.iter().filter(|p| p.path.is_empty());
        Unreadable(of_text.filter_map(|p| p.origin).map(|o| (o.source, o.start)).collect())
    }

    /// Adds what a check of the settings has found, unless it follows from what is reported already.
    fn add_findings(&self, report: &mut Report, found: Report) {
        // A default in place of an unreadable value needs no second message.
        let already_reported = |p: &Problem, report: &Report| {
            let related = |q: &Problem| !q.path.is_empty() && (within(&p.path, &q.path) || within(&q.path, &p.path));
            report.problems.iter().any(related)
        };
        for p in found.problems {
            // A missing value may be in a part that could not be read.
            let missing = p.origin.is_none() && !self.0.is_empty();
            if !missing && !already_reported(&p, report) && !report.problems.contains(&p) {
                report.push(p);
            }
        }
        report.more += found.more;
        // A cut-off text touches an unreadable part, so its value is not the intended value.
        let touched =
            |o: Origin| self.0.iter().any(|(source, at)| o.source == *source && (o.start..=o.end).contains(at));
        report.problems.retain(|p| p.path.is_empty() || !p.origin.is_some_and(touched));
        // In reading order; problems without a position come last.
        report.problems.sort_by_key(|p| p.origin.map_or((usize::MAX, 0), |o| (o.source, o.start)));
    }
}

/// Reads all files that a scenario named `from` names, and gives warnings about them.
fn read_files(config: &mut Config, tree: &mut Node, from: &str, files: &dyn Files, report: &mut Report) -> Report {
    let mut warnings = layout::read_files(config, tree, from, files, report);
    warnings.append(mobility::read_file(config, tree, from, files, report));
    links::read_file(config, tree, from, files, report);
    error_rates::read_file(config, tree, from, files, report);
    warnings
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
    let extends = json!({
        "description": format!("A preset ({}) or a scenario file, or a list of them, to build upon", presets::NAMES.join(", ")),
        "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
    });
    let format = json!({ "description": "Format of the file.", "const": source::FORMAT });
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
