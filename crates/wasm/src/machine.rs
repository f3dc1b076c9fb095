//! A run that a page drives: requests and answers.

use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::run::Setup;
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::Time;
use chappe_core::{RESULTS_EPOCH, VERSION};
use chappe_scenario::{Errors, NoFiles, Scenario};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A run, and copies of earlier instants to which it can return.
#[derive(Default)]
pub struct Machine {
    open: Option<Run>,
}

struct Run {
    scenario: Scenario,
    sim: Sim,
    marks: BTreeMap<u64, Sim>,
    marked: u64,
    /// Copy of the run at the instant that was looked at last, behind the run itself.
    present: Option<Sim>,
    /// Node whose capture is written.
    captured: u64,
}

impl Machine {
    /// Answers a request, an object with one word: `open`, `toml`, `until`, `next`, `rows`, `stations`, `links`, `table`,
    /// `sha256`, `capture`, `mark`, `back` or `forget`. The answer is JSON, except for a capture.
    pub fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let answer = match serde_json::from_slice::<Json>(request) {
            Err(e) => failed(&format!("the request is not JSON: {e}")),
            Ok(request) if request.get("open").or(request.get("toml")).is_some() => self.open(&request),
            Ok(request) => match &mut self.open {
                None => failed("no scenario is open"),
                Some(run) if request.get("capture").is_some() => return run.capture(),
                Some(run) => run.asked(&request),
            },
        };
        answer.to_string().into_bytes()
    }

    /// Begins a run of a scenario: `{"open": SETTINGS, "changes": SETTINGS, "captured": NODE}`, or, instead of settings,
    /// `{"toml": TEXT, "name": NAME}`.
    fn open(&mut self, request: &Json) -> Json {
        let none = json!({});
        let changes = request.get("changes").unwrap_or(&none);
        let read = match request["toml"].as_str() {
            Some(text) => Scenario::from_toml(request["name"].as_str().unwrap_or("scenario.toml"), text, &[], &NoFiles)
                .and_then(|s| if changes == &none { Ok(s) } else { s.with(changes, &NoFiles) }),
            None => Scenario::from_json(&request["open"], changes, &NoFiles),
        };
        match read {
            Err(errors) => refused(&errors),
            Ok(scenario) => {
                let captured = request["captured"].as_u64();
                let sim = Sim::new(&Setup { capture: captured.is_some(), ..scenario.setup(None) });
                let described = described(&scenario);
                let (marks, captured) = (BTreeMap::new(), captured.unwrap_or_default());
                self.open = Some(Run { scenario, sim, marks, marked: 0, present: None, captured });
                described
            }
        }
    }
}

impl Run {
    fn asked(&mut self, request: &Json) -> Json {
        if let Some(until) = request.get("until") {
            return self.advanced(until.as_u64().map_or(Time::NEVER, Time), request["steps"].as_u64());
        }
        if let Some(names) = request["rows"].as_array() {
            return rows(&mut self.sim, &names.iter().filter_map(Json::as_str).collect::<Vec<_>>());
        }
        if let Some(at) = request["stations"].as_u64() {
            return of_rows(&self.at(Time(at)).stations());
        }
        if let Some(at) = request["links"].as_u64() {
            let links = self.at(Time(at)).links();
            return json!(links.iter().map(|l| json!([l.0.0, l.1.0, l.2, l.3.map(|rate| rate.0)])).collect::<Vec<_>>());
        }
        if request.get("next").is_some() {
            return json!({ "next_ns": self.sim.next_at().map(|at| at.0) });
        }
        if let Some(name) = request["table"].as_str() {
            let table = self.sim.so_far().table(name);
            return table.map_or_else(|| failed("there is no such table"), |table| table.to_json());
        }
        if let Some(name) = request["sha256"].as_str() {
            // Browsers have a digest only for pages from disk and over https.
            let table = self.sim.so_far().table(name).map(|table| Sha256::digest(table.to_json().to_string()));
            return table
                .map_or_else(|| failed("there is no such table"), |hash| json!({ "sha256": format!("{hash:x}") }));
        }
        if request.get("mark").is_some() {
            self.marked += 1;
            self.marks.insert(self.marked, self.sim.clone());
            return json!({ "mark": self.marked });
        }
        if let Some(mark) = request["back"].as_u64() {
            let Some(then) = self.marks.get(&mark) else { return failed("there is no such mark") };
            self.sim = then.clone();
            return state(&self.sim, None);
        }
        if let Some(mark) = request["forget"].as_u64() {
            self.marks.remove(&mark);
            return json!({});
        }
        failed("the request has none of the known words")
    }

    /// The run at an instant, which it may have passed: a copy goes on from the last one before it.
    fn at(&mut self, at: Time) -> &Sim {
        let copies = self.marks.values().chain([&self.sim]);
        let nearest = copies.filter(|sim| sim.now() <= at).max_by_key(|sim| sim.now());
        let kept = self.present.take().filter(|sim| sim.now() <= at);
        let kept = kept.filter(|sim| nearest.is_none_or(|other| other.now() <= sim.now()));
        let mut present = kept.or_else(|| nearest.cloned()).unwrap_or_else(|| Sim::new(&self.scenario.setup(None)));
        present.until(at);
        present.tables().for_each(|(_, rows)| rows.clear());
        self.present.insert(present)
    }

    /// Runs up to an instant, to the end, or for some steps.
    fn advanced(&mut self, until: Time, steps: Option<u64>) -> Json {
        let halt = self.sim.advance_until(until, steps.unwrap_or(u64::MAX));
        if self.sim.grown() > self.scenario.config().run.max_memory.0 {
            return refused(&self.scenario.outgrown(self.sim.now()));
        }
        state(&self.sim, halt)
    }

    /// The capture of a node, up to now; what was taken out is not repeated.
    fn capture(&mut self) -> Vec<u8> {
        let mut found = Vec::new();
        for (node, bytes) in self.sim.captures().into_iter().flat_map(|c| c.output()) {
            if u64::from(node.0) == self.captured {
                found.append(bytes);
            }
            bytes.clear();
        }
        found
    }
}

fn failed(message: &str) -> Json {
    json!({ "error": message })
}

fn refused(errors: &Errors) -> Json {
    json!({ "error": errors.render(false), "problems": errors.to_json() })
}

/// Description of a scenario for a page, before its run.
fn described(scenario: &Scenario) -> Json {
    let layout = scenario.layout();
    let cost = scenario.cost();
    let setup = scenario.setup(None);
    json!({
        "version": VERSION,
        "epoch": RESULTS_EPOCH,
        "x_m": layout.positions.iter().map(|p| p.x).collect::<Vec<_>>(),
        "y_m": layout.positions.iter().map(|p| p.y).collect::<Vec<_>>(),
        "flows": layout.flows.iter().map(|f| json!([f.src, f.dst])).collect::<Vec<_>>(),
        "radios": setup.interfaces.radios.iter().map(|r| json!([r.node.0, r.channel])).collect::<Vec<_>>(),
        "wired_nodes": setup.wired,
        "wires": setup.links.iter().map(|l| json!([l.from.0, l.to.0])).collect::<Vec<_>>(),
        "end_ns": scenario.end().map(|at| at.0),
        "seconds": cost.seconds,
        "warnings": scenario.render_warnings(&[], false),
        // As text: numbers of JavaScript are whole up to 2^53.
        "seed": scenario.config().run.seed.to_string(),
        "fastest_bps": scenario.fastest().map(|rate| rate.0),
    })
}

fn state(sim: &Sim, halt: Option<Halt>) -> Json {
    let reached = matches!(halt, Some(Halt::Reached));
    json!({ "now_ns": sim.now().0, "reached": reached, "ended": sim.end().is_some(), "progress": sim.progress() })
}

/// Recorded rows by table and column, which are taken out of the run.
fn rows(sim: &mut Sim, names: &[&str]) -> Json {
    let mut tables = Map::new();
    for (table, rows) in sim.tables() {
        if names.contains(&table.word()) {
            tables.insert(table.word().into(), of_rows(rows));
        }
        rows.clear();
    }
    Json::Object(tables)
}

fn of_rows(rows: &dyn Rows) -> Json {
    let mut columns = Map::new();
    for ((name, _), values) in rows.columns().iter().zip(rows.values()) {
        let values: Vec<Json> = match values {
            Values::Float(v) => v.iter().map(|&x| json!(x)).collect(),
            Values::Long(v) => v.iter().map(|&n| if n == u64::MAX { Json::Null } else { json!(n) }).collect(),
            Values::Int(v) => v.iter().map(|&n| if n == u32::MAX { Json::Null } else { json!(n) }).collect(),
            Values::Flag(v) => v.iter().map(|&flag| json!(flag == 1)).collect(),
            Values::Word(v, words) => v.iter().map(|&code| json!(words.get(usize::from(code)))).collect(),
        };
        columns.insert((*name).into(), Json::Array(values));
    }
    Json::Object(columns)
}
