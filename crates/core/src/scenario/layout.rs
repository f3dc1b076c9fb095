//! The layout of a scenario: where its nodes are and which flows they have, read from files and drawn at random where
//! the scenario says so.

use super::cost::{self, Tally};
use super::schema::{Config, Flow, Traffic};
use super::source::Files;
use super::{motion, nodes};
use crate::net::routing::fixed::{Search, hops_to};
use crate::packet::NodeId;
use crate::place::topology::{self, Kind};
use crate::radio::{Channel, most_listeners};
use crate::rng::{Purpose, Stream};
use crate::run::graph::Graph;
use crate::run::{Command, Interfaces};
use crate::setting::csv::{Csv, Misread, Row};
use crate::setting::foreign::Wanted;
use crate::setting::limit::LONGEST;
use crate::setting::{Node, Report, Setting, Value, count};
use crate::unit::{Metres, Position, Time};
use serde_json::{Value as Json, json};
use std::ops::Range;

/// How often a random topology is drawn before the search for a connected one is given up, and how often a random flow
/// is.
const ATTEMPTS: u64 = 1000;
/// How often a denser one is drawn for a message, how many nodes are placed for that at most, and how many pairs of radios
/// are looked at: where all hear each other and cannot decode, they are the square of the nodes.
const FEW_ATTEMPTS: u64 = 10;
const MOST_NODES_PLACED: u64 = 200_000;
const MOST_PAIRS: u64 = 5_000_000;
/// The most nodes by which all searches for the ways of random flows may go together, which takes some seconds.
const MOST_NODES_PASSED: usize = 100_000_000;

/// Numbers in tables of places are smaller \[m\].
const FARTHEST: f64 = 1e9;

/// Where the nodes are and what flows there are.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Places of the nodes.
    pub places: Vec<Position>,
    /// Their radios.
    pub interfaces: Interfaces,
    /// The flows: those that are listed, those of `pairs`, those drawn at random.
    pub flows: Vec<Flow>,
    /// Which of them are those of each entry of `pairs`.
    pub pairs: Vec<Range<usize>>,
    /// The middlebox that splits each flow.
    pub split_at: Vec<Option<usize>>,
    /// What is done to the run, and when.
    pub events: Vec<(Time, Command)>,
}

impl Layout {
    /// A network without nodes.
    pub fn empty(cfg: &Config) -> Layout {
        let interfaces = nodes::interfaces(cfg, 0);
        let (places, flows, pairs) = (Vec::new(), Vec::new(), Vec::new());
        Layout { places, interfaces, flows, pairs, split_at: Vec::new(), events: Vec::new() }
    }

    /// The entry of `pairs` to which a flow belongs.
    pub fn pairs_of(&self, flow: usize) -> Option<usize> {
        self.pairs.iter().position(|range| range.contains(&flow))
    }

    /// The group in which a flow stands, as far as it stands anywhere.
    pub fn origin_of(&self, flow: usize) -> String {
        self.pairs_of(flow).map_or_else(|| format!("flow.{flow}"), |i| format!("pairs.{i}"))
    }
}

/// Reads the files that a scenario names for nodes and flows into the scenario itself, so that it needs them no more.
pub fn read_files(cfg: &mut Config, tree: &mut Node, from: &str, files: &dyn Files, report: &mut Report) -> Report {
    let mut doubts = Report::default();
    if cfg.topology.kind == Kind::File
        && let Some(name) = cfg.topology.file.clone()
        && let Some(places) = read_file(tree, "topology.file", &name, from, files, report, read_places)
    {
        cfg.topology.positions = places;
        (cfg.topology.kind, cfg.topology.file) = (Kind::List, None);
        put(tree, "topology", "kind", &json!("list"));
        put(tree, "topology", "positions", &cfg.topology.positions.write());
        if let Value::Table(t) = &mut tree.value
            && let Some((_, Node { value: Value::Table(topology), .. })) = t.entry("topology")
        {
            topology.remove("file");
        }
    }
    if let Some(name) = cfg.traffic.file.clone()
        && let Some((flows, timed)) =
            read_file(tree, "traffic.file", &name, from, files, report, |t| read_flows(t, &cfg.traffic))
    {
        for path in ["traffic.start", "traffic.stagger"] {
            if timed && let Some(node) = tree.at(path) {
                let message = format!(
                    "`{path}` has no effect on the flows of `{name}`: its column `start_s` says when they start"
                );
                doubts.add(path, node.origin, message, Some("leave one of them out".to_owned()));
            }
        }
        cfg.flow.0.extend(flows);
        cfg.traffic.file = None;
        if let Value::Table(t) = &mut tree.value {
            t.insert("flow".to_owned(), None, Node::from_json(&cfg.flow.write()));
        }
        put(tree, "traffic", "file", &json!("none"));
    }
    doubts
}

/// Content of the file that a setting names; `None`: it cannot be read, and that is reported.
pub(super) fn read_file<T>(
    tree: &Node,
    path: &str,
    name: &str,
    from: &str,
    files: &dyn Files,
    report: &mut Report,
    read: impl FnOnce(&str) -> Result<T, Misread>,
) -> Option<T> {
    match files.read(name, from).map_err(Misread::from).and_then(|(_, text)| read(&text)) {
        Ok(found) => Some(found),
        Err(Misread { why, help }) => {
            let origin = tree.at(path).and_then(|n| n.origin);
            report.add(path, origin, format!("cannot read `{name}`: {why}"), help);
            None
        }
    }
}

/// The places in a CSV text, in the order of `node` where there is such a column.
fn read_places(text: &str) -> Result<Vec<Position>, Misread> {
    let csv = Csv::read(text, Wanted::Places)?;
    let number = |row: &Row<'_>, name: &str| {
        let field = row.get(csv.column(name).unwrap_or_default());
        let fits = field.parse().ok().filter(|x: &f64| x.abs() < FARTHEST);
        fits.ok_or_else(|| row.misses(name))
    };
    let place = |row: &Row<'_>| Ok(Position { x: number(row, "x_m")?, y: number(row, "y_m")? });
    let places = csv.rows().iter().map(place).collect::<Result<_, Misread>>()?;
    csv.in_order("node", places)
}

/// The flows in a CSV text, in the order of `flow` where there is such a column, and whether it says when they start.
/// `min_hops`, how long their shortest paths are, may stand beside them for people.
fn read_flows(text: &str, traffic: &Traffic) -> Result<(Vec<Flow>, bool), Misread> {
    let csv = Csv::read(text, Wanted::Flows)?;
    let timed = csv.column("start_s");
    let node = |row: &Row<'_>, name: &str| {
        let field = row.get(csv.column(name).unwrap_or_default());
        field.parse::<u32>().map_err(|_| row.misses(name))
    };
    let flow = |row: &Row<'_>| {
        let start = match timed.map(|column| row.get(column)) {
            // A flow that an event begins.
            Some("") => None,
            Some(s) => Some(seconds(s).ok_or_else(|| row.misses("start_s"))?),
            None => Some(Time::ZERO),
        };
        Ok(Flow { from: node(row, "src")?, to: Some(node(row, "dst")?), app: traffic.app, start, ..Flow::default() })
    };
    let flows = csv.rows().iter().map(flow).collect::<Result<_, Misread>>()?;
    let mut flows: Vec<Flow> = csv.in_order("flow", flows)?;
    if timed.is_none() {
        for (flow, i) in flows.iter_mut().zip(0u64..) {
            flow.start = Some(traffic.start + traffic.stagger * i);
        }
    }
    Ok((flows, timed.is_some()))
}

/// An instant that a table has in seconds.
fn seconds(text: &str) -> Option<Time> {
    let s: f64 = text.parse().ok()?;
    (0.0..=LONGEST.as_secs()).contains(&s).then(|| Time((s * 1e9).round() as u64))
}

/// Sets a value in a group of the tree.
pub(super) fn put(tree: &mut Node, group: &str, key: &str, value: &Json) {
    if let Value::Table(t) = &mut tree.value
        && let Some((_, Node { value: Value::Table(group), .. })) = t.entry(group)
    {
        group.insert(key.to_owned(), None, Node::from_json(value));
    }
}

/// The layout of a scenario that makes sense otherwise; what cannot be drawn is reported. `None`: there is no room for
/// it.
pub fn layout(cfg: &Config, tree: &Node, tally: &mut Tally, report: &mut Report) -> Option<Layout> {
    let mut error = |path: &str, message: String, help: &str| {
        let origin = tree.at(path).or_else(|| tree.at(path.split('.').next()?)).and_then(|n| n.origin);
        report.add(path, origin, message, Some(help.to_owned()));
    };
    let t = &cfg.topology;
    if let Some((setting, message)) = cost::too_large(cfg, tally) {
        error(setting, message, cost::RAISE);
        return None;
    }
    // Where nodes move, those are neighbours for a while who were not before.
    let moves = motion::moves(cfg);
    let must_connect = t.kind == Kind::Random && t.connected && !moves;
    let attempts = if must_connect { ATTEMPTS.min(2_000_000 / t.nodes().max(1)).max(1) } else { 1 };
    let draw = |attempt| t.places(&mut Stream::new(t.seed, Purpose::Topology, attempt));
    let first = draw(0);
    let interfaces = nodes::interfaces(cfg, first.len());
    tally.listeners = most_listeners(&interfaces.on_air(&first));
    if let Some((setting, message)) = cost::too_large(cfg, tally) {
        error(setting, message, cost::RAISE);
        return None;
    }
    let fits = |places: &Vec<Position>| !must_connect || is_connected(&interfaces, places);
    let Some(places) = std::iter::once(first).chain((1..attempts).map(draw)).find(fits) else {
        let message = format!("in {} there was always a node that could not reach another", count(attempts, "attempt"));
        let help = match (denser(cfg, more_nodes), denser(cfg, smaller_area)) {
            (None, None) => "use more nodes, a smaller area, or `topology.connected = false`".to_owned(),
            (nodes, area) => {
                let nodes = nodes.map(|t| format!("with {} nodes it is connected", t.nodes));
                let area = area.map(|t| format!("on {} x {} it is", t.width, t.height));
                let found: Vec<String> = nodes.into_iter().chain(area).collect();
                format!("{}; or set `topology.connected = false`", found.join(", "))
            }
        };
        error("topology.connected", message, &help);
        return Some(Layout::empty(cfg));
    };
    let places = motion::plan(cfg, places.len(), cfg.run.seed).starts(&places);
    let mut flows = cfg.flow.0.clone();
    let mut pairs = Vec::with_capacity(cfg.pairs.0.len());
    for of_pairs in &cfg.pairs.0 {
        let first = flows.len();
        flows.extend(of_pairs.flows());
        pairs.push(first..flows.len());
    }
    if cfg.traffic.flows > 0 {
        match random_flows(cfg, &interfaces, &places) {
            Ok(drawn) => flows.extend(drawn),
            Err(found) => error(
                "traffic.flows",
                format!(
                    "{} of this length cannot be found between different nodes, only {found}",
                    count(cfg.traffic.flows, "flow")
                ),
                "ask for fewer flows or other numbers of hops, or set `traffic.distinct_ends = false`",
            ),
        }
    }
    Some(Layout { places, interfaces, flows, pairs, split_at: Vec::new(), events: Vec::new() })
}

/// The first of denser and denser random topologies that is connected after few attempts; `None`: it is not found soon.
fn denser(cfg: &Config, step: impl Fn(&mut topology::Config)) -> Option<topology::Config> {
    let mut t = cfg.topology.clone();
    let (mut placed, mut pairs) = (0, 0);
    loop {
        step(&mut t);
        if t.nodes > cfg.run.max_nodes || t.width.0 < 1.0 || t.height.0 < 1.0 {
            return None;
        }
        let interfaces = nodes::interfaces(cfg, t.nodes as usize);
        for attempt in 0..FEW_ATTEMPTS {
            placed += u64::from(t.nodes);
            let places = t.places(&mut Stream::new(t.seed, Purpose::Topology, attempt));
            pairs += most_listeners(&interfaces.on_air(&places));
            if placed > MOST_NODES_PLACED || pairs > MOST_PAIRS {
                return None;
            }
            if is_connected(&interfaces, &places) {
                return Some(t);
            }
        }
    }
}

fn more_nodes(t: &mut topology::Config) {
    t.nodes += t.nodes.div_ceil(10);
}

/// Each side by a twentieth, to two digits.
fn smaller_area(t: &mut topology::Config) {
    let shorter = |side: Metres| {
        let digit = libm::pow(10.0, libm::floor(libm::log10(side.0)) - 1.0);
        Metres(libm::floor(0.95 * side.0 / digit + 1e-9) * digit)
    };
    (t.width, t.height) = (shorter(t.width), shorter(t.height));
}

fn is_connected(interfaces: &Interfaces, places: &[Position]) -> bool {
    let channel = Channel::new(&interfaces.on_air(places));
    let graph = Graph::new(&channel, interfaces, places.len(), std::iter::empty());
    hops_to(places.len(), NodeId(0), |v| graph.neighbours(v)).iter().all(|&h| h < u32::MAX)
}

/// Flows between nodes drawn at random.
///
/// # Errors
/// Number of flows that were found when too many draws do not fit.
fn random_flows(cfg: &Config, interfaces: &Interfaces, places: &[Position]) -> Result<Vec<Flow>, usize> {
    let (t, n) = (&cfg.traffic, places.len());
    if n == 0 {
        return Err(0);
    }
    let most = t.max_hops.unwrap_or(u32::MAX - 1);
    let channel = Channel::new(&interfaces.on_air(places));
    let graph = Graph::new(&channel, interfaces, n, std::iter::empty());
    let mut rng = Stream::new(cfg.topology.seed, Purpose::Flows, 0);
    let (mut used, mut search) = (vec![false; n], Search::new(n));
    let (mut flows, mut passed) = (Vec::with_capacity(t.flows as usize), 0);
    for i in 0..u64::from(t.flows) {
        let drawn = (0..ATTEMPTS).find_map(|_| {
            let (from, to) = (rng.below(n as u32), rng.below(n as u32));
            if from == to || (t.distinct_ends && (used[from as usize] || used[to as usize])) {
                return None;
            }
            if passed > MOST_NODES_PASSED {
                return None;
            }
            if motion::moves(cfg) {
                return Some((from, to));
            }
            let hops = search.hops_within(most, NodeId(from), NodeId(to), |v| graph.neighbours(v));
            passed += search.passed();
            (t.min_hops..=most).contains(&hops).then_some((from, to))
        });
        let Some((from, to)) = drawn else { return Err(flows.len()) };
        (used[from as usize], used[to as usize]) = (true, true);
        flows.push(Flow { from, to: Some(to), app: t.app, start: Some(t.start + t.stagger * i), ..Flow::default() });
    }
    Ok(flows)
}
