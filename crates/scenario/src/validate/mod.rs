//! Validation: values that parse but contradict each other, and settings that are probably not meant as written.
//!
//! First come the settings alone, then, if they make sense, the network that is built from them.

pub mod cost;
mod events;
mod flows;
mod middleboxes;
mod network;
mod nodes;
mod radio;
mod reach;
mod sizes;
mod tcp;
pub mod unused;
mod warnings;
mod wlan;

use super::build::layout::{self, Draft, Layout};
use super::read::source::Sources;
use super::schema::Config;
use chappe_core::radio::Channel;
use chappe_core::run::Stop;
use chappe_core::setting::{Code, Node, Problem, Report, count, join};
use chappe_core::unit::Time;
use cost::{Cost, Tally};
use unused::Unused;

/// Errors that make a run meaningless, and warnings.
#[derive(Debug, Default)]
pub struct Findings {
    /// Problems that make a run meaningless.
    pub errors: Report,
    /// Problems that do not prevent a run.
    pub warnings: Report,
    /// Estimated cost of the run.
    pub cost: Cost,
    /// Settings without effect that the scenario itself sets.
    pub unused: Vec<Unused>,
    /// True if the scenario itself sets all settings.
    pub is_complete: bool,
}

/// Validator of a scenario, with its findings so far.
struct Checker<'a> {
    cfg: &'a Config,
    /// Number of nodes.
    nodes: u64,
    tree: &'a Node,
    sources: &'a Sources,
    tally: Tally,
    findings: Findings,
}

/// Validates settings, and builds the layout of a valid scenario. `tree` holds the positions of values in `sources`.
pub fn check(cfg: &Config, tree: &Node, sources: &Sources) -> (Findings, Layout) {
    let (tally, findings) = (Tally::default(), Findings::default());
    let mut c = Checker { cfg, nodes: cfg.nodes(), tree, sources, tally, findings };
    let layout = if c.settings() { c.layout() } else { None };
    let Some(mut layout) = layout else { return (c.findings, Layout::empty(cfg)) };
    c.built(&mut layout);
    (c.findings, layout)
}

impl Checker<'_> {
    /// Validates the settings alone; returns true if a network can be built from them.
    fn settings(&mut self) -> bool {
        let cfg = self.cfg;
        self.run();
        self.radio("", &cfg.radio);
        self.wlan("", &cfg.wlan);
        self.mobility("", &cfg.mobility);
        self.own_settings();
        self.network();
        self.error_model("wlan.error", &cfg.wlan.error.model());
        if cfg.wlan.error.unit == chappe_core::error_model::Unit::GsoPacket {
            self.error(
                "wlan.error.unit",
                "frames have left the node of the sender one by one, and are lost one by one",
                "use `packet`, or `wired.error` for a wire",
            );
        }
        self.wired_links();
        let few = self.flows();
        self.arrivals();
        let placed = self.topology() && few;
        let of_radio = |p: &Problem| ["radio.", "wlan.", "node.", "mobility."].iter().any(|of| p.path.starts_with(of));
        placed && !self.findings.errors.problems.iter().any(of_radio)
    }

    /// Builds the layout; `None` if the run would exceed its memory.
    fn layout(&mut self) -> Option<Layout> {
        if self.is_too_large() {
            return None;
        }
        let draft = Draft::new(self.cfg);
        self.tally.pairs_in_range = draft.pairs_in_range();
        if self.is_too_large() {
            return None;
        }
        Some(layout::layout(self.cfg, self.tree, draft, &mut self.findings.errors))
    }

    /// Validates the network that was built, adds what middleboxes and events need to its layout, and looks for
    /// anything else that is hardly intended.
    fn built(&mut self, layout: &mut Layout) {
        let cfg = self.cfg;
        if layout.flows.is_empty() && cfg.arrival_process.0.is_empty() && self.findings.errors.problems.is_empty() {
            let help = "list them as `flow`, or set `traffic.flows`";
            self.warn(Code::NoFlows, "flow", "there are no flows: nothing will be sent", help);
        }
        let channel = Channel::new(&layout.interfaces.on_air(&layout.positions));
        let graph = layout.graph(cfg, &channel);
        self.connections(layout);
        self.reachability(layout, &graph);
        self.ways_of_arrivals(layout, &graph);
        self.gateways(layout, &graph);
        self.middleboxes(layout, &graph);
        self.source_routes(layout);
        self.events(layout);
        self.cost();
        if self.findings.errors.problems.is_empty() {
            self.far(layout, &graph);
            self.heard_one_way(layout, &channel);
            self.small_windows(layout, &graph);
            self.warnings(layout);
            self.unused_settings(layout);
        }
    }

    fn problem(&self, path: &str, message: String, help: &str) -> Problem {
        let origin = self.tree.at(path).and_then(|n| n.origin);
        Problem { code: None, path: path.into(), origin, message, help: (!help.is_empty()).then(|| help.to_owned()) }
    }

    /// Returns true if the scenario or one of its presets sets this value.
    fn is_written(&self, path: &str) -> bool {
        self.tree.at(path).is_some()
    }

    /// Returns true if the scenario itself sets this value, not a preset or a file that it extends.
    fn is_own(&self, path: &str) -> bool {
        self.tree.at(path).is_some_and(|node| self.sources.is_own(node))
    }

    fn error(&mut self, path: &str, message: impl Into<String>, help: &str) {
        let p = self.problem(path, message.into(), help);
        self.findings.errors.push(p);
    }

    /// Reports a mistake of a default value at another setting that is written.
    fn error_at(&mut self, place: &str, path: &str, message: String, help: &str) {
        let origin = self.problem(place, String::new(), "").origin;
        let p = self.problem(path, message, help);
        self.findings.errors.push(Problem { origin, ..p });
    }

    fn warn(&mut self, code: Code, path: &str, message: impl Into<String>, help: &str) {
        let p = self.problem(path, message.into(), help);
        self.findings.warnings.push(Problem { code: Some(code), ..p });
    }

    fn run(&mut self) {
        let run = &self.cfg.run;
        match run.stop {
            Stop::At(Time::ZERO) => self.error(
                "run.stop",
                "`run.stop` does not say when the run ends",
                "write a number of packets such as \"110000 delivered\" or a time such as \"1000 s\"",
            ),
            Stop::Delivered(n) if n < u64::from(run.batches) => self.error(
                "run.stop",
                format!("{} cannot be divided into {}", count(n, "packet"), count(run.batches, "batch")),
                "deliver more packets, or use fewer batches (`run.batches`)",
            ),
            _ => {}
        }
        if run.warmup_batches >= run.batches {
            let message = format!("of {}, all are discarded", count(run.batches, "batch"));
            self.error("run.warmup_batches", message, "`run.warmup_batches` must be smaller than `run.batches`");
        }
    }

    /// Reports a run that would exceed its memory, and returns true if it does.
    fn is_too_large(&mut self) -> bool {
        let Some((setting, message)) = cost::too_large(self.cfg, &self.tally) else { return false };
        let group = setting.split('.').next().unwrap_or(setting);
        let place = if self.is_written(setting) { setting } else { group };
        self.error_at(place, setting, message, cost::RAISE);
        true
    }

    /// Estimates the cost of the run.
    fn cost(&mut self) {
        self.is_too_large();
        self.findings.cost = cost::cost(self.cfg, &self.tally);
        if self.findings.cost.seconds > cost::LONG {
            let message = format!("a run takes about {}", cost::in_hours(self.findings.cost.seconds));
            let help = "stop it earlier (`run.stop`, `run.time_limit`), or be patient";
            self.warn(Code::LongRun, "run.stop", message, help);
        }
    }

    /// Setting of a flow or a node if it has one, else the common setting.
    fn owner(&self, flow: &str, setting: &str) -> String {
        let flow_setting = join(flow, setting);
        if self.is_written(&flow_setting) { flow_setting } else { setting.to_owned() }
    }

    /// Adds a warning, if another flow with the same settings did not cause it.
    fn warn_once(&mut self, code: Code, path: &str, message: String, help: &str) {
        if !self.findings.warnings.problems.iter().any(|w| w.path == path && w.message == message) {
            self.warn(code, path, message, help);
        }
    }
}
