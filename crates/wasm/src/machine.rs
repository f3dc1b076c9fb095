//! A run that a page drives: requests and answers.

use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::scenario::{Errors, NoFiles, Scenario};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::Time;
use chappe_core::{RESULTS_EPOCH, VERSION};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// A run, and copies of earlier instants to which it can return.
#[derive(Default)]
pub struct Machine {
    open: Option<(Scenario, Sim)>,
    marks: BTreeMap<u64, Sim>,
    marked: u64,
}

impl Machine {
    /// Answers a request, an object with one word: `open`, `until`, `next`, `rows`, `stations`, `links`, `table`, `mark`,
    /// `back` or `forget`.
    pub fn answer(&mut self, request: &[u8]) -> Json {
        match serde_json::from_slice::<Json>(request) {
            Err(e) => failed(&format!("the request is not JSON: {e}")),
            Ok(request) if request.get("open").is_some() => self.open(&request),
            Ok(request) => match &mut self.open {
                None => failed("no scenario is open"),
                Some((scenario, sim)) => asked(&request, scenario, sim, &mut self.marks, &mut self.marked),
            },
        }
    }

    /// Begins a run of a scenario: `{"open": SETTINGS, "changes": SETTINGS}`.
    fn open(&mut self, request: &Json) -> Json {
        self.marks.clear();
        let none = json!({});
        let changes = request.get("changes").unwrap_or(&none);
        match Scenario::from_json(&request["open"], changes, &NoFiles) {
            Err(errors) => refused(&errors),
            Ok(scenario) => {
                let sim = Sim::new(&scenario.setup(None));
                let described = described(&scenario);
                self.open = Some((scenario, sim));
                described
            }
        }
    }
}

fn asked(request: &Json, scenario: &Scenario, sim: &mut Sim, marks: &mut BTreeMap<u64, Sim>, marked: &mut u64) -> Json {
    if let Some(until) = request.get("until") {
        return advanced(scenario, sim, until.as_u64().map_or(Time::NEVER, Time), request["steps"].as_u64());
    }
    if let Some(names) = request["rows"].as_array() {
        return rows(sim, &names.iter().filter_map(Json::as_str).collect::<Vec<_>>());
    }
    if request.get("stations").is_some() {
        return of_rows(&sim.stations());
    }
    if request.get("links").is_some() {
        let links = sim.links();
        return json!(links.iter().map(|l| json!([l.0.0, l.1.0, l.2, l.3])).collect::<Vec<_>>());
    }
    if request.get("next").is_some() {
        return json!({ "next_ns": sim.next_at().map(|at| at.0) });
    }
    if let Some(name) = request["table"].as_str() {
        return sim.so_far().table(name).map_or_else(|| failed("there is no such table"), |table| table.to_json());
    }
    if request.get("mark").is_some() {
        *marked += 1;
        marks.insert(*marked, sim.clone());
        return json!({ "mark": *marked });
    }
    if let Some(mark) = request["back"].as_u64() {
        let Some(then) = marks.get(&mark) else { return failed("there is no such mark") };
        *sim = then.clone();
        return state(sim, None);
    }
    if let Some(mark) = request["forget"].as_u64() {
        marks.remove(&mark);
        return json!({});
    }
    failed("the request has none of the known words")
}

fn failed(message: &str) -> Json {
    json!({ "error": message })
}

fn refused(errors: &Errors) -> Json {
    json!({ "error": errors.render(false), "problems": errors.to_json() })
}

/// What a page needs to know of a scenario before its run.
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
    })
}

/// Runs up to an instant, to the end, or for some steps.
fn advanced(scenario: &Scenario, sim: &mut Sim, until: Time, steps: Option<u64>) -> Json {
    let halt = sim.advance_until(until, steps.unwrap_or(u64::MAX));
    if sim.grown() > scenario.config().run.max_memory.0 {
        return refused(&scenario.outgrown(sim.now()));
    }
    state(sim, halt)
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
