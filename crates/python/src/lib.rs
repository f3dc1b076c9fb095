//! Python bindings: a few functions. Scenarios come in as text or JSON, tables go out as columns, and tables
//! recorded during a run as Arrow.

mod arrow;
mod captures;
mod control;
mod controllers;
mod distributions;
#[cfg(target_os = "linux")]
mod live;
mod recorded;
mod tables;

use arrow::Rowset;
use captures::Captures;
use chappe_core::app::Kind;
use chappe_core::mobility::formats::{self, Format};
use chappe_core::record::Recorder;
use chappe_core::run::{End, RecordedTable, Setup};
use chappe_core::setting::{Code, Node, Problem, Scalar, printable};
use chappe_core::sim::Sim;
use chappe_core::unit::Time;
use chappe_core::{RESULTS_EPOCH, VERSION};
use chappe_live::{Record, Replay};
use chappe_scenario::{self as scenario, Errors, Files};
use controllers::{CongestionEvent, Controllers};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use recorded::Recorded;
use serde_json::{Value as Json, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tables::Tables;

pyo3::import_exception!(chappe.errors, ScenarioError);
pyo3::import_exception!(chappe.errors, LimitError);

/// A problem, in the order of the fields of `chappe.Problem`.
type PlainProblem = (String, String, Option<String>, Option<String>, Option<u64>, Option<u64>);

/// Arguments of exceptions of the Python package: problems, text for people, the text with colors, number of further
/// problems.
fn described(errors: &Errors) -> (Vec<PlainProblem>, String, String, usize) {
    let plain = |p: &Json| {
        let text = |name: &str| p[name].as_str().map(str::to_owned);
        let [path, message] = ["path", "message"].map(|name| text(name).unwrap_or_default());
        (path, message, text("help"), text("file"), p["line"].as_u64(), p["column"].as_u64())
    };
    let problems = errors.to_json().as_array().map_or_else(Vec::new, |list| list.iter().map(plain).collect());
    (problems, errors.render(false), errors.render(true), errors.more)
}

/// An invalid scenario or command.
fn scenario_error(errors: &Errors) -> PyErr {
    ScenarioError::new_err(described(errors))
}

/// A run that has reached a limit.
fn limit_error(errors: &Errors) -> PyErr {
    LimitError::new_err(described(errors))
}

/// Files are read in Python: `read(name, from)` returns the text and the name for messages, or raises `OSError`.
struct PyFiles<'py> {
    read: &'py Bound<'py, PyAny>,
    /// Exception that is no mistake of the scenario: Ctrl-C while a file was read.
    stopped: Cell<Option<PyErr>>,
}

impl Files for PyFiles<'_> {
    fn read(&self, name: &str, from: &str) -> Result<(String, String), String> {
        let answer = self.read.call1((name, from)).and_then(|a| a.extract());
        answer.map_err(|e| {
            let why = e.value(self.read.py()).to_string();
            if !e.is_instance_of::<PyException>(self.read.py()) {
                self.stopped.set(Some(e));
            }
            why
        })
    }
}

/// Builds a scenario whose files are read by Python.
fn made(
    read: &Bound<'_, PyAny>,
    make: impl FnOnce(&PyFiles<'_>) -> Result<scenario::Scenario, Errors>,
) -> PyResult<Scenario> {
    let files = PyFiles { read, stopped: Cell::new(None) };
    let found = make(&files);
    match files.stopped.take() {
        Some(e) => Err(e),
        None => found.map(Scenario).map_err(|e| scenario_error(&e)),
    }
}

fn parse(what: &str, text: &str) -> PyResult<Json> {
    serde_json::from_str(text).map_err(|e| PyValueError::new_err(format!("{what} is not JSON: {e}")))
}

/// A scenario that has been read and validated.
#[pyclass(frozen, module = "chappe._core")]
struct Scenario(scenario::Scenario);

impl Scenario {
    /// Numbers of the external flows, with their sources and destinations.
    fn flows_of_programs(&self) -> Vec<(u32, u32, u32)> {
        let all = (0..).zip(&self.0.layout().flows);
        all.filter(|(_, f)| f.app == Kind::External).map(|(i, f)| (i, f.src, f.dst)).collect()
    }
}

#[pymethods]
impl Scenario {
    /// Reads TOML; `overrides` are dotted names and values as written on a command line.
    #[staticmethod]
    fn from_toml(
        name: &str,
        text: &str,
        overrides: Vec<(String, String)>,
        read: &Bound<'_, PyAny>,
    ) -> PyResult<Scenario> {
        made(read, |files| scenario::Scenario::from_toml(name, text, &overrides, files))
    }

    /// Reads JSON; `overrides` is a JSON object of dotted names and values.
    #[staticmethod]
    fn from_json(text: &str, overrides: &str, read: &Bound<'_, PyAny>) -> PyResult<Scenario> {
        let (json, overrides) = (parse("the scenario", text)?, parse("the overrides", overrides)?);
        made(read, |files| scenario::Scenario::from_json(&json, &overrides, files))
    }

    /// A copy of the scenario with other settings, given as a JSON object of dotted names and values.
    fn with_json(&self, overrides: &str, read: &Bound<'_, PyAny>) -> PyResult<Scenario> {
        let overrides = parse("the overrides", overrides)?;
        made(read, |files| self.0.with(&overrides, files))
    }

    /// Positions of the nodes: x and y [m].
    fn places(&self) -> (Vec<f64>, Vec<f64>) {
        self.0.layout().positions.iter().map(|p| (p.x, p.y)).unzip()
    }

    /// Names of the nodes that have one, by number.
    fn names(&self) -> BTreeMap<u32, String> {
        self.0.names().clone()
    }

    /// A text for people in which "node 17" is "node roof-17", if this is the name of the node.
    fn in_text(&self, text: &str) -> String {
        self.0.in_text(text).into_owned()
    }

    /// Movements of the nodes in a run with this seed, up to an instant [ns], as a file in one of the formats.
    fn motion(&self, py: Python<'_>, form: &str, until: Option<u64>, seed: Option<u64>) -> PyResult<String> {
        let format = Format::read(&Node::from_json(&json!(form))).map_err(PyValueError::new_err)?;
        let until = until.map(Time).or(self.0.end()).ok_or_else(|| {
            PyValueError::new_err("the run ends with a delivery: say up to when its motion is wanted (until)")
        })?;
        py.detach(|| formats::write(&self.0.courses(until, seed), format, until)).map_err(PyValueError::new_err)
    }

    /// Source, destination and start [s] of every flow, random ones included; `None` for a flow that an event or a
    /// program begins.
    fn flows(&self) -> Vec<(u32, u32, Option<f64>)> {
        let start = |f: &scenario::Flow| f.start.filter(|_| f.app != Kind::External).map(Time::as_secs);
        let flow = |f: &scenario::Flow| (f.src, f.dst, start(f));
        self.0.layout().flows.iter().map(flow).collect()
    }

    /// Numbers of the external flows, with their sources and destinations.
    fn external(&self) -> Vec<(u32, u32, u32)> {
        self.flows_of_programs()
    }

    /// Returns true if a flow is QUIC, which the program `chappe-quic` runs.
    fn is_quic(&self) -> bool {
        self.0.layout().flows.iter().any(|f| f.quic(self.0.config()).is_some())
    }

    /// Returns true if a run records tables.
    fn is_recording(&self) -> bool {
        !self.0.config().run.record.is_empty()
    }

    /// Entry of `flow` to which every flow belongs; `None` for a random one.
    fn entries(&self) -> Vec<Option<usize>> {
        let layout = self.0.layout();
        (0..layout.flows.len()).map(|flow| layout.entry_of(flow)).collect()
    }

    /// Sender, receiver, received power [dBm] and fastest rate [bit/s] of every one-way radio link.
    fn links(&self, py: Python<'_>) -> Vec<(u32, u32, f64, Option<u64>)> {
        py.detach(|| self.0.links().iter().map(|l| (l.from, l.to, l.signal_dbm, l.rate.map(|r| r.0))).collect())
    }

    /// Rows of the survey beside the model, as JSON.
    fn survey_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.survey_json().to_string())
    }

    /// Nodes on the path of every flow at the beginning, ends included; `None` where it is not known before a run.
    fn paths(&self, py: Python<'_>) -> Vec<Option<Vec<u32>>> {
        py.detach(|| self.0.paths())
    }

    /// Rate of unicast data frames on links without a rate of their own [bit/s], and its MCS and streams with HT and VHT.
    fn data_rate(&self) -> (u64, Option<(u8, u8)>) {
        let mode = self.0.config().wlan.data_mode();
        (mode.rate().0, mode.is_ht().then(|| (mode.mcs(), mode.streams())))
    }

    /// Fastest rate at which a node sends data at any time [bit/s]; `None` with short flows.
    fn fastest_bps(&self) -> Option<u64> {
        self.0.fastest().map(|rate| rate.0)
    }

    /// Transports of the flows without repetition.
    fn transports(&self) -> Vec<String> {
        self.0.transports()
    }

    /// Estimated cost of a run: memory [B], and time on one core [s]; and the memory limit [B].
    fn cost(&self) -> (f64, f64, u64) {
        let cost = self.0.cost();
        (cost.bytes, cost.seconds, self.0.config().run.max_memory.0)
    }

    /// All written values, including those of extended files, as JSON.
    fn written_json(&self) -> String {
        self.0.written().to_string()
    }

    /// All effective settings as JSON.
    fn effective_json(&self) -> String {
        self.0.effective().to_string()
    }

    /// Effective settings that differ from the defaults, as JSON.
    fn changes_json(&self) -> String {
        self.0.changes().to_string()
    }

    /// All effective settings as a scenario file.
    fn effective_toml(&self) -> String {
        self.0.effective_toml()
    }

    /// Settings without effect that cause a warning, with the reasons.
    fn unused(&self) -> Vec<(String, &'static str)> {
        self.0.unused.clone()
    }

    /// Those of these settings that are set and have an effect.
    fn used(&self, paths: Vec<String>) -> Vec<String> {
        self.0.used(&paths).into_iter().cloned().collect()
    }

    /// Code, path and message of each warning.
    fn warnings(&self) -> Vec<(&'static str, String, String)> {
        let record = |p: &Problem| {
            let code = p.code.map_or("", Code::word);
            (code, printable(&p.path).into_owned(), printable(&p.message).into_owned())
        };
        self.0.warnings.iter().map(record).collect()
    }

    /// Warnings as one text for a terminal, without those of the ignored codes.
    fn render_warnings(&self, ignored: Vec<String>, color: bool) -> String {
        let known = Code::ALL.iter().copied();
        let ignored: Vec<Code> = known.filter(|code| ignored.iter().any(|word| word == code.word())).collect();
        self.0.render_warnings(&ignored, color)
    }
}

/// Measurements of a run.
#[pyclass(frozen, module = "chappe._core")]
struct Results {
    recorder: Recorder,
    end: &'static str,
    simulated: Time,
    /// Rows of the tables of `run.record`, in order, unless they went to a sink.
    recorded: Vec<(RecordedTable, Py<Rowset>)>,
}

#[pymethods]
impl Results {
    /// A table as a dict of columns.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        tables::dict(py, &self.recorder, name)
    }

    /// Tables with these names.
    fn tables(&self, names: Vec<String>) -> PyResult<Tables> {
        Tables::of(&self.recorder, names)
    }

    /// A table as the text of a JSON object of columns, as a page that contains the simulator makes it.
    fn table_json(&self, name: &str) -> Option<String> {
        Some(self.recorder.table(name)?.to_json().to_string())
    }

    /// Stored rows of a table of `run.record`, chunk by chunk.
    fn recorded(&self, py: Python<'_>, name: &str) -> Vec<Py<Rowset>> {
        self.recorded.iter().filter(|r| r.0.word() == name).map(|r| r.1.clone_ref(py)).collect()
    }

    /// Reason for the end of the run: "done", "limit", "idle", "canceled"; "running" before the end.
    #[getter]
    fn end(&self) -> &'static str {
        self.end
    }

    /// Simulated time [s].
    #[getter]
    fn simulated_s(&self) -> f64 {
        self.simulated.as_secs()
    }

    /// Begin of the measured part of the run [s].
    #[getter]
    fn measured_from_s(&self) -> f64 {
        self.recorder.measured_period().0.as_secs()
    }

    /// Frames put on the air by all nodes over the whole run.
    #[getter]
    fn frames_sent(&self) -> u64 {
        self.recorder.network().radio.frames()
    }
}

/// Longest time of a run between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);
/// Largest number of steps between two checks.
const MOST_STEPS: u64 = 1 << 18;

/// Runs a scenario; releases the GIL. `progress` is called with the completed share, `sink` with the name of a table of
/// `run.record` and rows of it; without a sink the rows are stored. `capture` is called with the number of a node, a
/// position in its capture and the bytes from there on, also after a run that fails or is interrupted. `rules` are the
/// classes of congestion controls in Python by their names in the scenario; a run with such rules keeps the GIL. `replay`
/// is the record of a live run, whose datagrams enter again.
#[pyfunction]
#[pyo3(signature = (scenario, progress, sink=None, capture=None, rules=None, replay=None))]
fn run<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    progress: Option<Bound<'py, PyAny>>,
    sink: Option<Bound<'py, PyAny>>,
    capture: Option<Bound<'py, PyAny>>,
    rules: Option<Bound<'py, PyDict>>,
    replay: Option<&str>,
) -> PyResult<Results> {
    let mut replay = match replay {
        Some(text) => Some(Replay::new(&read_record(text)?, &scenario.flows_of_programs())),
        None => None,
    };
    let mut captures = Captures::new(capture.map(Bound::unbind));
    let setup = Setup { capture: captures.wanted(), ..scenario.0.setup(None) };
    let mut sim = py.detach(|| Sim::new(&setup));
    let mut recorded = Recorded::new(sink.map(Bound::unbind));
    let rules = Controllers::new(rules, setup.seed);
    let advance = |sim: &mut Sim, steps| match &mut replay {
        Some(replay) => replay.advance(sim, steps),
        None => sim.advance(steps),
    };
    let end = drive(py, scenario, &mut sim, advance, (&mut recorded, &mut captures), progress.as_ref(), &rules);
    captures.take(py, &mut sim, true)?;
    let (end, simulated, recorded) = (control::word(Some(end?)), sim.now(), recorded.into_kept());
    Ok(Results { end, simulated, recorder: sim.into_recorder(), recorded })
}

/// Reads the record of a live run.
fn read_record(text: &str) -> PyResult<Record> {
    Record::read(text).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Nodes of the record of a live run.
#[pyfunction]
fn record_nodes(text: &str) -> PyResult<Vec<u32>> {
    read_record(text).map(|record| record.nodes)
}

/// Runs to the end, and passes on what the run writes.
fn drive(
    py: Python<'_>,
    scenario: &Scenario,
    sim: &mut Sim,
    mut advance: impl FnMut(&mut Sim, u64) -> Option<End> + Send,
    (recorded, captures): (&mut Recorded, &mut Captures),
    progress: Option<&Bound<'_, PyAny>>,
    rules: &Controllers,
) -> PyResult<End> {
    let limit = scenario.0.config().run.max_memory.0;
    let observed = captures.wanted() || !scenario.0.config().run.record.is_empty();
    let most = rules.most_steps(if observed { recorded::MOST_STEPS } else { MOST_STEPS });
    let mut steps = 1 << 10;
    loop {
        let begun = Instant::now();
        let end = rules.drive(py, || advance(sim, steps))?;
        recorded.take(py, sim, end.is_some())?;
        captures.take(py, sim, false)?;
        if let Some(end) = end {
            return Ok(end);
        }
        // A step takes from some nanoseconds to a millisecond, with thousands of nodes in range of each other.
        steps = if begun.elapsed() > PATIENCE { steps.div_ceil(2) } else { most.min(2 * steps) };
        py.check_signals()?;
        if sim.grown() + recorded.memory() > limit {
            return Err(limit_error(&scenario.0.outgrown(sim.now())));
        }
        if let Some(progress) = progress {
            progress.call1((sim.progress(),))?;
        }
    }
}

/// Converts a TOML text to JSON; reports mistakes like those of a scenario.
#[pyfunction]
fn toml_json(name: &str, text: &str) -> PyResult<String> {
    scenario::toml_to_json(name, text).map(|json| json.to_string()).map_err(|e| scenario_error(&e))
}

/// Codes of warnings about scenarios, each with its meaning.
#[pyfunction]
fn warning_codes() -> Vec<(&'static str, &'static str)> {
    Code::WORDS.iter().map(|(word, text)| (*word, text.trim())).collect()
}

/// JSON Schema of scenarios.
#[pyfunction]
fn json_schema() -> String {
    scenario::json_schema().to_string()
}

/// Every registry with its parts, as JSON: name, setting, and keyword and description of each part.
#[pyfunction]
fn shelves_json() -> String {
    // A description may have several lines in the source.
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let part = |p: &(&str, &str)| json!({ "keyword": p.0, "description": line(p.1) });
    let shelf = |s: &scenario::schema::Shelf| {
        let parts: Vec<Json> = s.parts.iter().map(part).collect();
        json!({ "name": s.name, "setting": s.setting, "parts": parts })
    };
    Json::Array(scenario::schema::SHELVES.iter().map(shelf).collect()).to_string()
}

/// Tables for `run.record`, as JSON: contents, columns, and words with their meanings.
#[pyfunction]
fn recorded_tables_json() -> String {
    let pair = |p: &(&str, &str)| json!([p.0, p.1.trim().replace("\\[", "[").replace("\\]", "]")]);
    let pairs = |list: &[(&str, &str)]| list.iter().map(pair).collect::<Vec<Json>>();
    let table = |t: &RecordedTable| {
        let words: Vec<Json> = t.words().iter().map(|w| json!([w.0, pairs(w.1)])).collect();
        json!({ "name": t.word(), "columns": pairs(t.columns()), "words": words })
    };
    Json::Array(RecordedTable::ALL.iter().map(table).collect()).to_string()
}

/// Readable size of memory: "4.2 GB".
#[pyfunction]
fn in_bytes(number: f64) -> String {
    scenario::cost::in_bytes(number)
}

/// Readable long duration: "5 h".
#[pyfunction]
fn in_hours(seconds: f64) -> String {
    scenario::cost::in_hours(seconds)
}

/// Messages about settings without effect, given with the reasons, each with the first setting.
#[pyfunction]
fn no_effect(unused: Vec<(String, String)>) -> Vec<(String, String)> {
    scenario::no_effect(&unused).into_iter().map(|(path, message)| (path.to_owned(), message)).collect()
}

#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("VERSION", VERSION)?;
    m.add("RESULTS_EPOCH", RESULTS_EPOCH)?;
    m.add_class::<CongestionEvent>()?;
    m.add_class::<Scenario>()?;
    m.add_class::<Results>()?;
    m.add_class::<Rowset>()?;
    m.add_class::<Tables>()?;
    m.add_class::<control::Run>()?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(control::instant_ns, m)?)?;
    m.add_function(wrap_pyfunction!(control::look_columns, m)?)?;
    m.add_function(wrap_pyfunction!(distributions::beyond_t, m)?)?;
    m.add_function(wrap_pyfunction!(distributions::quantile_beta, m)?)?;
    m.add_function(wrap_pyfunction!(distributions::quantile_gamma, m)?)?;
    m.add_function(wrap_pyfunction!(distributions::quantile_t, m)?)?;
    m.add_function(wrap_pyfunction!(in_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(in_hours, m)?)?;
    m.add_function(wrap_pyfunction!(json_schema, m)?)?;
    m.add_function(wrap_pyfunction!(no_effect, m)?)?;
    m.add_function(wrap_pyfunction!(record_nodes, m)?)?;
    m.add_function(wrap_pyfunction!(recorded_tables_json, m)?)?;
    m.add_function(wrap_pyfunction!(shelves_json, m)?)?;
    m.add_function(wrap_pyfunction!(toml_json, m)?)?;
    m.add_function(wrap_pyfunction!(warning_codes, m)?)?;
    #[cfg(target_os = "linux")]
    {
        m.add_function(wrap_pyfunction!(live::live, m)?)?;
        m.add_function(wrap_pyfunction!(live::live_enclose, m)?)?;
        m.add_function(wrap_pyfunction!(live::live_settle, m)?)?;
    }
    Ok(())
}
