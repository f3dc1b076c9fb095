//! Live runs, on Linux.

use crate::captures::Captures;
use crate::controllers::Controllers;
use crate::recorded::Recorded;
use crate::{Results, Scenario, control, limit_error};
use chappe_core::run::Setup;
use chappe_core::sim::Sim;
use chappe_live::{Counts, Lateness, Live, Options, Program, Refusal};
use chappe_scenario::schema::live::WhenLate;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;

pyo3::import_exception!(chappe.errors, RunError);

fn refused(refusal: &Refusal) -> PyErr {
    RunError::new_err(refusal.to_string())
}

/// Error of the loop of a live run.
enum Failure {
    /// A program or a file.
    System(io::Error),
    /// An exception.
    Python(PyErr),
}

impl Failure {
    /// The exception, in which nodes have the names of their scenario.
    fn about(self, scenario: &Scenario) -> PyErr {
        match self {
            Failure::System(e) => PyOSError::new_err(scenario.0.in_text(&e.to_string()).into_owned()),
            Failure::Python(e) => e,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure::System(e)
    }
}

impl From<PyErr> for Failure {
    fn from(e: PyErr) -> Failure {
        Failure::Python(e)
    }
}

/// Leaves the namespaces of the caller; the next child is process 1 of a PID namespace.
#[pyfunction]
pub fn live_enclose() -> PyResult<()> {
    chappe_live::enclose().map_err(|refusal| refused(&refusal))
}

/// Prepares process 1: it dies with its parent, and nodes have names.
#[pyfunction]
pub fn live_settle(scenario: &Scenario, nodes: Vec<u32>) -> PyResult<()> {
    chappe_live::settle(&nodes, scenario.0.names()).map_err(|refusal| refused(&refusal))
}

/// Results, counts, exit code of the main program, and two flags: interrupted, stopped because late.
type Outcome<'py> = (Results, Bound<'py, PyDict>, Option<i32>, bool, bool);

fn told<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    numbers.set_item("entered", counts.entered)?;
    numbers.set_item("entered_bytes", counts.entered_bytes)?;
    numbers.set_item("delivered", counts.delivered)?;
    numbers.set_item("delivered_bytes", counts.delivered_bytes)?;
    numbers.set_item("lost", counts.lost)?;
    numbers.set_item("astray", counts.astray)?;
    numbers.set_item("refused", counts.refused)?;
    numbers.set_item("late", counts.late)?;
    numbers.set_item("behind_s", counts.behind.as_secs())?;
    Ok(numbers)
}

fn lateness<'py>(py: Python<'py>, lateness: &Lateness) -> PyResult<Bound<'py, PyDict>> {
    let numbers = PyDict::new(py);
    numbers.set_item("late_median_s", lateness.quantile(0.5).as_secs())?;
    numbers.set_item("late_p99_s", lateness.quantile(0.99).as_secs())?;
    numbers.set_item("late_largest_s", lateness.largest().as_secs())?;
    Ok(numbers)
}

/// Runs a scenario in real time, with programs on its nodes: node, words, and whether the run ends with it. `progress` is
/// called with the time [s], numbers as in the result, and the lateness of 99 % of the deliveries [s]; `rules` and
/// `capture` as in `run`. Returns the results, the numbers of packets with their lateness, and the exit code: that of the main program,
/// or `None` if the run has ended the programs; the last two words say whether it was interrupted, and ended for lateness.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python passes them by name")]
#[pyo3(signature = (
    scenario, nodes, programs, *, holds, quiet, real_time, rules, record, progress, sink, capture
))]
pub fn live<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    nodes: Vec<u32>,
    programs: Vec<(u32, Vec<OsString>, bool)>,
    holds: bool,
    quiet: bool,
    real_time: bool,
    rules: Option<Bound<'py, PyDict>>,
    record: Option<PathBuf>,
    progress: Option<Bound<'py, PyAny>>,
    sink: Option<Bound<'py, PyAny>>,
    capture: Option<Bound<'py, PyAny>>,
) -> PyResult<Outcome<'py>> {
    let mut captures = Captures::new(capture.map(Bound::unbind));
    let mut recorded = Recorded::new(sink.map(Bound::unbind));
    let setup = Setup { capture: captures.wanted(), ..scenario.0.setup(None) };
    let mut sim = py.detach(|| Sim::new(&setup));
    let record = match record {
        Some(path) => {
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
            Some(Box::new(File::create(&path).map_err(named)?) as Box<dyn io::Write + Send>)
        }
        None => None,
    };
    let programs = programs.into_iter().map(|(node, words, is_main)| Program { node, words, is_main }).collect();
    let mtu = setup.net.mtu.0;
    let live = &scenario.0.config().live;
    let (limit, ends_late) = (live.late_limit, live.when_late == WhenLate::Stop);
    let options = Options { mtu, holds, limit, ends_late, quiet, record };
    let live = Live::new(&nodes, &scenario.flows_of_programs(), programs, options).map_err(|r| refused(&r))?;
    let max_memory = scenario.0.config().run.max_memory.0;
    let progress = progress.map(Bound::unbind);
    let mut was_interrupted = false;
    let rules = Controllers::new(rules, setup.seed);
    let outcome = rules.accompany(py, || {
        live.run(&mut sim, real_time, |sim, so_far| {
            Python::attach(|py| -> Result<bool, Failure> {
                recorded.take(py, sim, false)?;
                captures.take(py, sim, false)?;
                if sim.grown() + recorded.memory() > max_memory {
                    return Err(limit_error(&scenario.0.outgrown(sim.now())).into());
                }
                if let Some(error) = rules.failure() {
                    return Err(error.into());
                }
                let signal = py.check_signals().and_then(|()| match &progress {
                    Some(progress) => {
                        let numbers = told(py, &so_far.counts)?;
                        progress.call1(py, (so_far.at.as_secs(), numbers, so_far.late_p99.as_secs())).map(drop)
                    }
                    None => Ok(()),
                });
                match signal {
                    Err(e) if e.is_instance_of::<PyKeyboardInterrupt>(py) => was_interrupted = true,
                    other => other?,
                }
                Ok(!was_interrupted)
            })
        })
    });
    let outcome = outcome.map_err(|failure| failure.about(scenario))?;
    recorded.take(py, &mut sim, true)?;
    captures.take(py, &mut sim, true)?;
    let (end, simulated, recorded) = (control::word(sim.end()), sim.now(), recorded.into_kept());
    let results = Results { end, simulated, recorder: sim.into_recorder(), recorded };
    let numbers = told(py, &outcome.counts)?;
    numbers.update(lateness(py, &outcome.lateness)?.as_mapping())?;
    numbers.set_item("late_limit_s", limit.as_secs())?;
    numbers.set_item("real_time", outcome.is_real_time)?;
    Ok((results, numbers, outcome.code, was_interrupted, outcome.was_too_late))
}
