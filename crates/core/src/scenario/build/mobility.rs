//! Mobility of a scenario: plan, movement file, and validation.

use super::layout;
use crate::mobility::{self, Courses, Kind, Plan, Start, formats};
use crate::run::Stop;
use crate::scenario::Scenario;
use crate::scenario::read::source::Files;
use crate::scenario::schema::Config;
use crate::scenario::validate::Checker;
use crate::setting::csv::Misread;
use crate::setting::{Code, Node, Report, Setting, Value, is_or_are};
use crate::topology;
use crate::unit::{Speed, Time};
use std::collections::HashMap;

/// Movement patterns of the nodes of a topology of this size.
pub fn plan(cfg: &Config, nodes: usize, seed: u64) -> Plan {
    let (profiles, profile_of) = (vec![cfg.mobility.clone()], vec![0; nodes]);
    let area = (cfg.topology.width, cfg.topology.height);
    let mut plan = Plan { profiles, profile_of, area, seed: cfg.mobility.seed.unwrap_or(seed) };
    let mut after: HashMap<(u32, usize), u32> = HashMap::new();
    for (row, own) in cfg.node.0.iter().enumerate().filter(|(_, own)| !own.mobility.is_empty()) {
        for &(first, last) in &own.nodes.0 {
            let end = nodes.min(last as usize + 1);
            for profile in plan.profile_of.get_mut(first as usize..end).into_iter().flatten() {
                let profiles = &mut plan.profiles;
                *profile = *after.entry((*profile, row)).or_insert_with(|| {
                    profiles.push(own.mobility.over(&profiles[*profile as usize]));
                    profiles.len() as u32 - 1
                });
            }
        }
    }
    plan
}

/// Returns true if nodes move, by themselves or by an event.
pub fn moves(cfg: &Config) -> bool {
    let by_itself = cfg.mobility.model != Kind::Still
        || cfg.node.0.iter().any(|own| own.mobility.over(&cfg.mobility).model != Kind::Still);
    cfg.has_radios() && (by_itself || cfg.event.0.iter().any(|e| e.moves()))
}

/// Returns true if any node follows a movement file.
fn follows_file(cfg: &Config) -> bool {
    cfg.mobility.model == Kind::File
        || cfg.node.0.iter().any(|own| own.mobility.over(&cfg.mobility).model == Kind::File)
}

/// Reads the movement file into the scenario, which then no longer depends on it. Returns warnings about the file.
pub fn read_file(cfg: &mut Config, tree: &mut Node, from: &str, files: &dyn Files, report: &mut Report) -> Report {
    let mut warnings = Report::default();
    if follows_file(cfg)
        && let Some(name) = cfg.mobility.file.clone()
    {
        let mut messages = vec![];
        let origin = tree.at("mobility.file").and_then(|n| n.origin);
        let read = |text: &str| {
            let courses = formats::read(text, &mut messages)?;
            no_position(cfg, &courses).map_or(Ok(courses), Err)
        };
        if let Some(courses) = layout::read_file(tree, "mobility.file", &name, from, files, report, read) {
            (cfg.mobility.table, cfg.mobility.file) = (courses, None);
            layout::put(tree, "mobility", "table", Node::from_json(&cfg.mobility.table.write()));
            if let Value::Table(t) = &mut tree.value
                && let Some((_, Node { value: Value::Table(mobility), .. })) = t.entry("mobility")
            {
                mobility.remove("file");
            }
            for message in messages {
                let message = format!("`{name}`: {message}");
                warnings.warn(Code::UnusedSetting, "mobility.file", origin, message, None);
            }
        }
    }
    if cfg.topology.kind == topology::Kind::Motion && no_position(cfg, &cfg.mobility.table).is_none() {
        let courses = &cfg.mobility.table;
        cfg.topology.positions = (0..courses.nodes()).filter_map(|n| courses.start(n)).collect();
    }
    warnings
}

/// Error message about nodes without an initial position in the courses.
fn no_position(cfg: &Config, courses: &Courses) -> Option<Misread> {
    let (first, all) = courses.missing();
    if all == 0 || cfg.topology.kind != topology::Kind::Motion {
        return None;
    }
    let named: Vec<String> = first.iter().map(u32::to_string).collect();
    let who = match all - first.len() as u64 {
        0 if all == 1 => format!("node {}", named[0]),
        0 => format!("nodes {}", named.join(", ")),
        more => format!("nodes {} and {more} more", named.join(", ")),
    };
    let why = format!("it does not say where {who} {}, and goes up to node {}", is_or_are(all), courses.nodes() - 1);
    let help = "give each node a place, or number them from 0 without gaps".to_owned();
    Some(Misread { why, help: Some(help) })
}

impl Scenario {
    /// Movement patterns of the nodes in a run with this seed; `None`: the seed of the scenario.
    pub fn mobility(&self, seed: Option<u64>) -> Plan {
        plan(self.config(), self.layout().positions.len(), seed.unwrap_or(self.config().run.seed))
    }

    /// Movements of the nodes up to an instant.
    pub fn courses(&self, until: Time, seed: Option<u64>) -> Courses {
        self.mobility(seed).courses_until(&self.layout().positions, until)
    }

    /// Latest end of a run; `None` if it ends with a delivery.
    pub fn end(&self) -> Option<Time> {
        let run = &self.config().run;
        match run.stop {
            Stop::At(at) => Some(at.min(Time::ZERO + run.time_limit)),
            Stop::Delivered(_) => None,
        }
    }
}

impl Checker<'_> {
    /// Validates the mobility of all nodes, or of those in the group at `of`.
    pub(in crate::scenario) fn mobility(&mut self, of: &str, m: &mobility::Config) {
        match m.model {
            Kind::Still => {}
            Kind::RandomWaypoint => self.random_waypoint(of, m),
            Kind::File => {
                // An unreadable file was reported before.
                let is_named = |path| self.tree.at(path).is_some_and(|n| n.value != Value::Text(String::new()));
                if m.table.is_empty() && !is_named("mobility.file") && !is_named("mobility.table") {
                    let help = "set `mobility.file` to a movement file of ns-2, of BonnMotion, or a CSV file";
                    self.error(&self.owner(of, "mobility.model"), "there is no movement file", help);
                }
            }
        }
    }

    fn random_waypoint(&mut self, of: &str, m: &mobility::Config) {
        if m.max_speed < m.min_speed {
            let message = format!("the fastest speed {} is below the slowest, {}", m.max_speed, m.min_speed);
            let help = "`mobility.max_speed` must be at least `mobility.min_speed`";
            self.error(&self.owner(of, "mobility.max_speed"), message, help);
        }
        if m.initial == Start::Stationary && m.min_speed == Speed(0.0) {
            let help = "let `mobility.min_speed` be above 0 m/s, or `mobility.initial` be \"uniform\"";
            let message =
                "random waypoint with speeds from 0 m/s on has no stationary state: nodes become slower for ever";
            self.error(&self.owner(of, "mobility.min_speed"), message, help);
        }
        let is_random = self.cfg.topology.kind == topology::Kind::Random;
        for (name, missing) in [("mobility.width", m.width.is_none()), ("mobility.height", m.height.is_none())] {
            if missing && !is_random {
                let message =
                    format!("random waypoint has no area: `{name}` is \"topology\", and the topology is not random");
                self.error(&self.owner(of, "mobility.model"), message, &format!("set `{name}`, e.g. to \"1000 m\""));
            }
        }
    }

    /// Validates the movement file together with the topology.
    pub(in crate::scenario) fn courses(&mut self) {
        let cfg = self.cfg;
        if cfg.topology.kind == topology::Kind::Motion && !(follows_file(cfg) && cfg.mobility.model == Kind::File) {
            let help = "set `mobility.model = \"file\"` and `mobility.file`";
            self.error("topology.kind", "the positions are to come from a movement file, but there is none", help);
        }
        if let Some(Misread { why, help }) = no_position(cfg, &cfg.mobility.table) {
            self.error("mobility.table", why, &help.unwrap_or_default());
            return;
        }
        let (listed, there) = (u64::from(cfg.mobility.table.nodes()), cfg.topology.nodes());
        if listed > there && follows_file(cfg) && cfg.has_radios() {
            let path = if self.is_written("mobility.table") { "mobility.table" } else { "mobility.model" };
            let message = format!("the movement file moves node {}, and the topology has {there} nodes", listed - 1);
            self.error(path, message, "`topology.kind = \"motion\"` takes the nodes from the file");
        }
    }
}
