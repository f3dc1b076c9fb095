//! A run driven from Python: it advances on request, and takes commands in between.

use crate::arrow::Rowset;
use crate::controllers::Controllers;
use crate::recorded::{self, Recorded};
use crate::{MOST_STEPS, PATIENCE, Results, Scenario, limit_error, parse, scenario_error};
use chappe_core::packet::{Ecn, FlowId, NodeId, Reason};
use chappe_core::record::look::{self, State};
use chappe_core::run::End;
use chappe_core::run::external::{Event, Injection, Refused};
use chappe_core::setting::{Node, Scalar};
use chappe_core::sim::{Halt, Sim};
use chappe_core::tcp::cc::controller::Decision;
use chappe_core::unit::Time;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

pyo3::import_exception!(chappe.errors, RunError);

/// State of the thread that drives a run.
struct Driven {
    sim: Sim,
    recorded: Recorded,
    /// Events of external flows that the program has not taken.
    events: Vec<PlainEvent>,
    /// Number of halts for events.
    halts: u64,
    /// State at the last look.
    seen: State,
    rules: Controllers,
}

/// Number of halts for events between two checks of the memory, which looks at every node.
const CHECKED: u64 = 1024;

/// An event of an external flow, in the order of the fields of `chappe.Event`: endpoint, time [ns]; flow and tag of a
/// datagram; time of sending [ns], ECN field, hops, whether it is a copy; node and reason of a loss.
type PlainEvent =
    ((u32, u64), Option<(u32, u64)>, Option<(u64, &'static str, u8, bool)>, Option<(u32, Option<&'static str>)>);

/// ECN fields, with their words.
const ECN: [(Ecn, &str); 3] = [(Ecn::NotEct, "not_ect"), (Ecn::Ect, "ect"), (Ecn::Ce, "ce")];

fn plain(event: Event, now: Time) -> PlainEvent {
    let at = (event.endpoint().0, now.0);
    match event {
        Event::Arrived { flow, tag, sent, ecn, hops, copy, .. } => {
            let word = ECN.iter().find(|e| e.0 == ecn).map_or("", |e| e.1);
            (at, Some((flow.0, tag)), Some((sent.0, word, hops, copy)), None)
        }
        Event::Left { flow, tag, .. } => (at, Some((flow.0, tag)), None, None),
        Event::Lost { flow, tag, node, reason, .. } => {
            (at, Some((flow.0, tag)), None, Some((node.0, reason.map(Reason::word))))
        }
        Event::Wake { .. } => (at, None, None, None),
    }
}

/// A run that one thread drives at a time; other threads may query its progress, and cancel it.
#[pyclass(frozen, module = "chappe._core")]
pub struct Run {
    scenario: Py<Scenario>,
    driven: Mutex<Driven>,
    now: AtomicU64,
    /// Completed share of the run, by its bits.
    progress: AtomicU64,
    canceled: AtomicBool,
}

impl Run {
    fn driven(&self) -> PyResult<MutexGuard<'_, Driven>> {
        self.driven.try_lock().map_err(|_| PyRuntimeError::new_err("the run is being driven"))
    }

    fn note(&self, sim: &Sim) {
        self.now.store(sim.now().0, Ordering::Relaxed);
        self.progress.store(sim.progress().to_bits(), Ordering::Relaxed);
    }
}

fn numbers(py: Python<'_>, values: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &values.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>())
}

/// Columns of the rows of flows and of radios that a look returns.
#[pyfunction]
pub fn look_columns() -> (Vec<&'static str>, Vec<&'static str>) {
    (look::FLOW_COLUMNS.to_vec(), look::RADIO_COLUMNS.to_vec())
}

/// Word for the reason of the end.
pub fn word(end: Option<End>) -> &'static str {
    match end {
        Some(End::Done) => "done",
        Some(End::Limit) => "limit",
        Some(End::Idle) => "idle",
        Some(End::Canceled) => "canceled",
        None => "running",
    }
}

#[pymethods]
impl Run {
    /// A run at its start; `rules` are the classes of congestion controls in Python by their names in the scenario.
    #[new]
    #[pyo3(signature = (scenario, rules=None))]
    fn new(py: Python<'_>, scenario: Py<Scenario>, rules: Option<Bound<'_, PyDict>>) -> Run {
        let setup = scenario.get().0.setup(None);
        let sim = py.detach(|| Sim::new(&setup));
        Run {
            scenario,
            now: AtomicU64::new(0),
            progress: AtomicU64::new(sim.progress().to_bits()),
            driven: Mutex::new(Driven {
                sim,
                recorded: Recorded::default(),
                events: Vec::new(),
                halts: 0,
                seen: State::default(),
                rules: Controllers::new(rules, setup.seed),
            }),
            canceled: AtomicBool::new(false),
        }
    }

    /// A copy of the run, which goes on independently.
    fn copy(&self, py: Python<'_>) -> PyResult<Run> {
        let Driven { sim, recorded, events, halts, seen, rules } = &*self.driven()?;
        let driven = Driven {
            sim: sim.clone(),
            recorded: recorded.copy(py),
            events: events.clone(),
            halts: *halts,
            seen: seen.clone(),
            rules: rules.copy(py)?,
        };
        Ok(Run {
            scenario: self.scenario.clone_ref(py),
            now: AtomicU64::new(sim.now().0),
            progress: AtomicU64::new(sim.progress().to_bits()),
            driven: Mutex::new(driven),
            canceled: AtomicBool::new(self.canceled.load(Ordering::Relaxed)),
        })
    }

    /// Advances to an instant [ns], or to the end, with `halts` also to events of external flows; releases the GIL.
    /// `progress` is called with the completed share of the run. Events are kept until they are taken.
    fn until(&self, py: Python<'_>, at: Option<u64>, progress: Option<Bound<'_, PyAny>>, halts: bool) -> PyResult<()> {
        let mut guard = self.driven()?;
        let Driven { sim, recorded, events, halts: told, rules, .. } = &mut *guard;
        let at = at.map_or(Time::NEVER, Time);
        let limit = self.scenario.get().0.config().run.max_memory.0;
        let most = if sim.tables().next().is_some() { recorded::MOST_STEPS } else { MOST_STEPS };
        let most = rules.most_steps(most);
        let mut steps = 1 << 10;
        loop {
            if self.canceled.load(Ordering::Relaxed) {
                sim.cancel();
                return Ok(());
            }
            let begun = Instant::now();
            let halt: Option<Halt> = rules.drive(py, || sim.advance_until(at, steps))?;
            self.note(sim);
            recorded.take(py, sim, false)?;
            let is_event = halt == Some(Halt::Events);
            let now = sim.now();
            events.extend(sim.events().map(|event| plain(event, now)));
            *told += u64::from(is_event);
            let returns = halt.is_some() && (halts || !is_event);
            if returns && !(is_event && told.is_multiple_of(CHECKED)) {
                return Ok(());
            }
            steps = if begun.elapsed() > PATIENCE { steps.div_ceil(2) } else { most.min(2 * steps) };
            py.check_signals()?;
            if sim.grown() + recorded.memory() > limit {
                return Err(limit_error(&self.scenario.get().0.outgrown(sim.now())));
            }
            if returns {
                return Ok(());
            }
            if let Some(progress) = &progress {
                progress.call1((f64::from_bits(self.progress.load(Ordering::Relaxed)),))?;
            }
        }
    }

    /// Executes a command on the run: a JSON object like an event of a scenario.
    fn apply(&self, py: Python<'_>, event: &str) -> PyResult<()> {
        let mut driven = self.driven()?;
        let scenario = &self.scenario.get().0;
        let commands = scenario.commands(&parse("the command", event)?).map_err(|e| scenario_error(&e))?;
        scenario.check_start(&commands, |flow| driven.sim.flow_began(flow)).map_err(|e| scenario_error(&e))?;
        let Driven { sim, rules, .. } = &mut *driven;
        rules.drive(py, || commands.iter().for_each(|command| sim.apply(command)))
    }

    /// Events of external flows that have not been taken.
    fn events(&self) -> PyResult<Vec<PlainEvent>> {
        Ok(std::mem::take(&mut self.driven()?.events))
    }

    /// Sends a datagram of an external flow now: payload [B], tag, word of the ECN field, codepoint.
    fn inject(&self, flow: u32, payload: u32, tag: u64, ecn: &str, dscp: Option<u8>) -> PyResult<()> {
        let sim = &mut self.driven()?.sim;
        let known = || PyValueError::new_err(format!("there is no ECN field {ecn:?}; known: not_ect, ect, ce"));
        let ecn = ECN.iter().find(|e| e.1 == ecn).ok_or_else(known)?.0;
        sim.inject(FlowId(flow), Injection { bytes: payload, ecn, dscp, tag }).map_err(|refused| {
            let text = format!("flow {flow} at {}: {refused}", sim.now());
            match refused {
                Refused::RunOver | Refused::NodeOff(_) | Refused::TooMany(_) => RunError::new_err(text),
                _ => PyValueError::new_err(text),
            }
        })
    }

    /// Sets the timer of an endpoint [ns]; `None` clears it.
    fn wake(&self, endpoint: u32, at: Option<u64>) -> PyResult<()> {
        self.driven()?.sim.wake(NodeId(endpoint), at.map_or(Time::NEVER, Time));
        Ok(())
    }

    /// Decides the window of a flow now: window and ssthresh [segments], pacing rate [bit/s]. Returns false if a rule of
    /// Chappe decides it.
    fn decide(
        &self,
        py: Python<'_>,
        flow: u32,
        cwnd: Option<f64>,
        ssthresh: Option<f64>,
        pacing_bps: Option<f64>,
    ) -> PyResult<bool> {
        let mut driven = self.driven()?;
        let Driven { sim, rules, .. } = &mut *driven;
        rules.drive(py, || sim.decide(FlowId(flow), &Decision { cwnd, ssthresh, pacing_bps }))
    }

    /// Measurements so far.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        let mut guard = self.driven()?;
        let Driven { sim, recorded, .. } = &mut *guard;
        recorded.take(py, sim, true)?;
        let sim: &Sim = sim;
        let recorder = py.detach(|| sim.so_far());
        Ok(Results { recorder, end: word(sim.end()), simulated: sim.now(), recorded: recorded.kept(py) })
    }

    /// Begin and end of the interval since the last look [ns], and rows of flows and of radios as numbers of 8 bytes, in
    /// the order of `look_columns`.
    fn look<'py>(&self, py: Python<'py>) -> PyResult<(u64, u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let Driven { sim, seen, .. } = &mut *self.driven()?;
        let before = std::mem::replace(seen, sim.look());
        let flows = numbers(py, seen.flow_rows(&before).flatten());
        let radios = numbers(py, seen.radio_rows(&before).flatten());
        Ok((before.at.0, seen.at.0, flows, radios))
    }

    /// State of every radio and its station now.
    fn stations(&self) -> PyResult<Rowset> {
        Rowset::of(&self.driven()?.sim.stations())
    }

    /// Cancels the run: now, or at the next check of the thread that drives it.
    fn cancel(&self) {
        self.canceled.store(true, Ordering::Relaxed);
        if let Ok(mut driven) = self.driven.try_lock() {
            driven.sim.cancel();
        }
    }

    /// Simulated time [s].
    #[getter]
    fn now_s(&self) -> f64 {
        Time(self.now.load(Ordering::Relaxed)).as_secs()
    }

    /// Simulated time [ns].
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Completed share of the run.
    #[getter]
    fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// Reason for the end of the run: "done", "limit", "idle", "canceled"; "running" before the end.
    #[getter]
    fn end(&self) -> PyResult<&'static str> {
        Ok(word(self.driven()?.sim.end()))
    }
}

/// Parses an instant in the form of scenarios, such as "3 s" [ns].
#[pyfunction]
pub fn instant_ns(text: &str) -> PyResult<u64> {
    Time::read(&Node::from_json(&json!(text))).map(|t| t.0).map_err(PyValueError::new_err)
}
