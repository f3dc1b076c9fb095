//! Congestion control in Python: an object for each connection, which the run asks while it is advanced.
//!
//! Such a run holds the GIL: an acknowledgement takes less time than to release it and to take it again. A live run, which
//! sleeps most of the time, does not.

use chappe_core::packet::FlowId;
use chappe_core::tcp::cc::controller::{self, Controller, Decision, View};
use chappe_core::tcp::cc::interface::Signal;
use chappe_core::unit::Span;
use pyo3::exceptions::{PyException, PySystemExit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

pyo3::import_exception!(chappe.errors, RunError);

/// An acknowledgement or a congestion signal, as the rule of a connection sees it.
#[pyclass(frozen, module = "chappe._core")]
pub struct CongestionEvent {
    view: View,
    kind: Kind,
    seed: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    Ack,
    Congestion(Signal),
    RecoveryEnd,
}

#[pymethods]
impl CongestionEvent {
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.kind {
            Kind::Ack => intern!(py, "ack"),
            Kind::Congestion(Signal::FastRetransmit) => intern!(py, "fast_retransmit"),
            Kind::Congestion(Signal::Timeout) => intern!(py, "timeout"),
            Kind::Congestion(Signal::Ecn) => intern!(py, "ecn"),
            Kind::RecoveryEnd => intern!(py, "recovery_end"),
        }
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    #[getter]
    fn flow(&self) -> u32 {
        self.view.flow.0
    }

    #[getter]
    fn time_ns(&self) -> u64 {
        self.view.now.0
    }

    #[getter]
    fn acked(&self) -> u32 {
        self.view.acked
    }

    #[getter]
    fn acked_bytes(&self) -> u64 {
        u64::from(self.view.acked) * u64::from(self.view.mss)
    }

    #[getter]
    fn delivered(&self) -> u32 {
        self.view.delivered
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.view.window.cwnd
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.view.window.ssthresh
    }

    #[getter]
    fn in_flight(&self) -> u32 {
        self.view.in_flight
    }

    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.view.rtt.map(|span: Span| span.0)
    }

    #[getter]
    fn srtt_ns(&self) -> Option<u64> {
        self.view.srtt.map(|span| span.0)
    }

    #[getter]
    fn min_rtt_ns(&self) -> Option<u64> {
        self.view.min_rtt.map(|span| span.0)
    }

    #[getter]
    fn delivery_rate_bps(&self) -> Option<f64> {
        self.view.delivery_rate_bps
    }

    #[getter]
    fn window_used(&self) -> bool {
        self.view.used
    }

    #[getter]
    fn mss_bytes(&self) -> u32 {
        self.view.mss
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let View { flow, now, window, .. } = self.view;
        format!("<CongestionEvent: {} of flow {} at {now}, cwnd {:.4}>", self.kind(py), flow.0, window.cwnd)
    }
}

/// First error of a rule of a run.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// The methods of an object in Python.
struct Methods {
    on_ack: Py<PyAny>,
    on_congestion: Py<PyAny>,
    on_recovery_end: Option<Py<PyAny>>,
}

impl Methods {
    /// The methods of a new object of a class.
    fn new(class: &Bound<'_, PyAny>) -> PyResult<Methods> {
        let (py, object) = (class.py(), class.call0()?);
        let on_recovery_end = object.getattr_opt(intern!(py, "on_recovery_end"))?;
        Ok(Methods {
            on_ack: object.getattr(intern!(py, "on_ack"))?.unbind(),
            on_congestion: object.getattr(intern!(py, "on_congestion"))?.unbind(),
            on_recovery_end: on_recovery_end.map(Bound::unbind),
        })
    }

    /// The methods of a copy of the object.
    fn copy(&self, py: Python<'_>) -> PyResult<Methods> {
        let deepcopy = py.import("copy")?.getattr("deepcopy")?;
        // One call for all three, so that they remain those of one object.
        let copied = deepcopy.call1(((&self.on_ack, &self.on_congestion, &self.on_recovery_end),))?;
        let (on_ack, on_congestion, on_recovery_end) = copied.extract()?;
        Ok(Methods { on_ack, on_congestion, on_recovery_end })
    }
}

/// The rule of a connection. After the first error of the run no rule is asked any more.
pub struct Rule {
    name: String,
    methods: Option<Methods>,
    seed: u64,
    failure: Failure,
}

/// An error of the code of a rule: what failed, the error, and its place.
fn caused(py: Python<'_>, what: &str, error: PyErr) -> PyErr {
    let name = error.to_string();
    let place = place(py, &error).unwrap_or_default();
    let told = RunError::new_err(format!("{what} {}{place}", name.trim_end_matches(": ")));
    told.set_cause(py, Some(error));
    told
}

/// File and line that raised an error; `None`: no line of Python did.
fn place(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut trace = error.traceback(py)?.into_any();
    while let Some(inner) = trace.getattr("tb_next").ok().filter(|inner| !inner.is_none()) {
        trace = inner;
    }
    let file = trace.getattr("tb_frame").and_then(|frame| frame.getattr("f_code")?.getattr("co_filename")).ok()?;
    Some(format!(" ({file}, line {})", trace.getattr("tb_lineno").ok()?))
}

/// An error of a rule, with its flow and time; an interrupt remains what it is.
fn failed(py: Python<'_>, name: &str, view: &View, error: PyErr, what: &str) -> PyErr {
    if !error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PySystemExit>(py) {
        return error;
    }
    let (flow, at_s) = (view.flow.0, view.now.as_secs());
    caused(py, &format!("flow {flow} at {at_s} s: {what} of the congestion control `{name}` raised"), error)
}

impl Rule {
    /// A copy with an object of its own, whose failures go to `failure`; also those of the copying.
    fn copy(&self, py: Python<'_>, failure: &Failure) -> Rule {
        let methods = self.methods.as_ref().and_then(|methods| {
            methods
                .copy(py)
                .map_err(|error| {
                    let text = format!("an object of the congestion control `{}` cannot be copied:", self.name);
                    let told = caused(py, &text, error);
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
                })
                .ok()
        });
        Rule { name: self.name.clone(), methods, seed: self.seed, failure: failure.clone() }
    }

    /// Calls a method, and reads its answer: `window` makes a decision of a number.
    fn ask(&mut self, view: &View, kind: Kind, window: fn(f64) -> Decision) -> Decision {
        let Some(methods) = &self.methods else { return Decision::KEEP };
        let (method, what) = match kind {
            Kind::Ack => (Some(&methods.on_ack), "on_ack"),
            Kind::Congestion(_) => (Some(&methods.on_congestion), "on_congestion"),
            Kind::RecoveryEnd => (methods.on_recovery_end.as_ref(), "on_recovery_end"),
        };
        let Some(method) = method else { return Decision::KEEP };
        let answer = Python::attach(|py| {
            let answer = method
                .bind(py)
                .call1((CongestionEvent { view: *view, kind, seed: self.seed },))
                .map_err(|e| failed(py, &self.name, view, e, what))?;
            decision(&answer, window).ok_or_else(|| {
                RunError::new_err(format!(
                    "flow {} at {} s: {what} of the congestion control `{}` returned {}; it returns a window in segments, \
                     a pair of a window and a pacing rate in bit/s, a chappe.Decision, or None; windows are finite and \
                     not negative, rates are above 0",
                    view.flow.0,
                    view.now.as_secs(),
                    self.name,
                    answer.repr().map_or_else(|_| "no number".to_owned(), |text| short(&text.to_string())),
                ))
            })
        });
        answer.unwrap_or_else(|error| {
            self.methods = None;
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Decision::KEEP
        })
    }
}

/// The first characters of a long text.
fn short(text: &str) -> String {
    if text.chars().count() > 80 { text.chars().take(77).collect::<String>() + "..." } else { text.to_owned() }
}

/// A number that a window can be; `None`: it cannot.
fn segments(value: &Bound<'_, PyAny>) -> Option<Option<f64>> {
    if value.is_none() {
        return Some(None);
    }
    let number: f64 = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() }?;
    (number >= 0.0 && number.is_finite()).then_some(Some(number))
}

/// A pacing rate [bit/s], which may be infinite.
fn rate(value: &Bound<'_, PyAny>) -> Option<Option<f64>> {
    if value.is_none() {
        return Some(None);
    }
    let number: f64 = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() }?;
    (number > 0.0).then_some(Some(number))
}

/// Reads the answer of a rule; `None`: it is none.
fn decision(answer: &Bound<'_, PyAny>, window: fn(f64) -> Decision) -> Option<Decision> {
    let Ok(parts) = answer.cast::<PyTuple>() else {
        return Some(segments(answer)?.map_or(Decision::KEEP, window));
    };
    let part = |index| parts.get_item(index).ok();
    match parts.len() {
        2 => {
            let decided = segments(&part(0)?)?.map_or(Decision::KEEP, window);
            Some(Decision { pacing_bps: rate(&part(1)?)?, ..decided })
        }
        // Decision of the package, whose parts have names: of a plain tuple the third one would be a guess.
        3 if !parts.is_exact_instance_of::<PyTuple>() => {
            Some(Decision { cwnd: segments(&part(0)?)?, ssthresh: segments(&part(1)?)?, pacing_bps: rate(&part(2)?)? })
        }
        _ => None,
    }
}

impl Controller for Rule {
    fn on_ack(&mut self, view: &View) -> Decision {
        self.ask(view, Kind::Ack, Decision::cwnd)
    }

    fn on_congestion(&mut self, view: &View, signal: Signal) -> Decision {
        self.ask(view, Kind::Congestion(signal), Decision::ssthresh)
    }

    fn on_recovery_end(&mut self, view: &View) -> Decision {
        self.ask(view, Kind::RecoveryEnd, Decision::cwnd)
    }
}

type Make = Box<dyn FnMut(FlowId, &str) -> Rule + Send>;

/// The classes by their names in the scenario, and the rules of the connections.
struct Named {
    classes: Arc<Py<PyDict>>,
    seed: u64,
    rules: controller::Controllers<Rule, Make>,
}

/// The rules in Python of a run, if its scenario names any.
pub struct Controllers {
    named: Option<Named>,
    failure: Failure,
}

/// Makes the rules of connections: classes without arguments by their names, and the seed of the run.
fn maker(classes: Arc<Py<PyDict>>, seed: u64, failure: Failure) -> Make {
    Box::new(move |flow, name| {
        Python::attach(|py| {
            let class = classes.bind(py).get_item(name).ok().flatten();
            let mut rule = Rule { name: name.to_owned(), methods: None, seed, failure: failure.clone() };
            let Some(class) = class else { return rule };
            rule.methods = Methods::new(&class).map(Some).unwrap_or_else(|error| {
                let text = format!("flow {}: the congestion control `{name}` cannot be created:", flow.0);
                let told = caused(py, &text, error);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(told);
                None
            });
            rule
        })
    })
}

impl Controllers {
    /// Rules by their names in the scenario: classes without arguments; the seed of the run.
    pub fn new(classes: Option<Bound<'_, PyDict>>, seed: u64) -> Controllers {
        let failure = Failure::default();
        let classes = classes.filter(|classes| !classes.is_empty()).map(|classes| Arc::new(classes.unbind()));
        let named = classes.map(|classes| {
            let rules = controller::Controllers::new(maker(classes.clone(), seed, failure.clone()));
            Named { classes, seed, rules }
        });
        Controllers { named, failure }
    }

    /// Rules for a copy of the run: `copy.deepcopy` copies the objects of its connections.
    pub fn copy(&self, py: Python<'_>) -> PyResult<Controllers> {
        let failure = Failure::default();
        let named = self.named.as_ref().map(|Named { classes, seed, rules }| {
            let make = maker(classes.clone(), *seed, failure.clone());
            let rules = rules.copied(make, |rule| rule.copy(py, &failure));
            Named { classes: classes.clone(), seed: *seed, rules }
        });
        match failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => Ok(Controllers { named, failure: failure.clone() }),
        }
    }

    /// Does something with a run: with rules in Python under the GIL, otherwise without it.
    pub fn drive<T: Send>(&self, py: Python<'_>, advance: impl FnOnce() -> T + Send) -> PyResult<T> {
        let Some(Named { rules, .. }) = &self.named else { return Ok(py.detach(advance)) };
        let done = rules.drive(advance);
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// Accompanies all of a run that waits between its steps: rules in Python take the GIL for each answer. The run asks
    /// for their `failure` itself.
    pub fn accompany<T: Send>(&self, py: Python<'_>, run: impl FnOnce() -> T + Send) -> T {
        py.detach(|| match &self.named {
            Some(Named { rules, .. }) => rules.drive(run),
            None => run(),
        })
    }

    /// Takes the first error of a rule.
    pub fn failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Limit of the steps between two looks for errors, each of which then wastes less than a millisecond.
    pub fn most_steps(&self, most: u64) -> u64 {
        if self.named.is_some() { most.min(1 << 12) } else { most }
    }
}
