//! Layout of a scenario: positions of its nodes, and its flows, listed or drawn at random.

use super::super::schema::Config;
use super::super::schema::flows::{Ends, FlowEntry};
use super::flows::Flow;
use super::{interfaces, mobility};
use chappe_core::net::routing::fixed::{Search, hops_to};
use chappe_core::packet::NodeId;
use chappe_core::radio::{Channel, most_pairs_in_range};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::run::graph::Graph;
use chappe_core::run::{Command, Interfaces};
use chappe_core::setting::{Node, Report, count};
use chappe_core::topology::{self, Kind};
use chappe_core::unit::{Meters, Position, Time};
use std::ops::Range;

/// Limit on draws of a random topology in the search for a connected one, and on draws of a random flow.
const ATTEMPTS: u64 = 1000;
/// Limits of the search for a denser topology in a message: number of draws, of nodes, and of pairs of radios. The
/// number of pairs is quadratic where all radios sense but cannot decode each other.
const FEW_ATTEMPTS: u64 = 10;
const MOST_NODES_PLACED: u64 = 200_000;
const MOST_PAIRS: u64 = 5_000_000;
/// Limit on the total number of nodes visited by the searches for the routes of random flows, which take some seconds.
const MOST_NODES_PASSED: usize = 100_000_000;

/// Positions of the nodes, and flows.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Positions of the nodes.
    pub positions: Vec<Position>,
    /// Radios of the nodes.
    pub interfaces: Interfaces,
    /// All flows: listed ones, then random ones.
    pub flows: Vec<Flow>,
    /// Range of flows of each entry of `flow`.
    pub entries: Vec<Range<usize>>,
    /// Middlebox that splits each flow.
    pub split_at: Vec<Option<usize>>,
    /// Commands of events, with their times.
    pub events: Vec<(Time, Command)>,
}

impl Layout {
    /// Layout of a network without nodes.
    pub fn empty(cfg: &Config) -> Layout {
        let interfaces = interfaces::interfaces(cfg, 0);
        let (positions, flows, entries) = (Vec::new(), Vec::new(), Vec::new());
        Layout { positions, interfaces, flows, entries, split_at: Vec::new(), events: Vec::new() }
    }

    /// Links of the network at the beginning, with their qualities if routes are compared by them.
    pub fn graph<'a>(&self, cfg: &Config, channel: &'a Channel) -> Graph<'a> {
        let nodes = self.positions.len() + cfg.topology.wired_nodes as usize;
        let wires = cfg.wired_links();
        let graph = Graph::new(channel, &self.interfaces, nodes, wires.iter().map(|w| (w.0, w.1)));
        graph.measured(&cfg.routing, &self.interfaces, wires.into_iter())
    }

    /// Entry of `flow` to which a flow belongs; `None` for a random one.
    pub fn entry_of(&self, flow: usize) -> Option<usize> {
        let entry = self.entries.partition_point(|range| range.end <= flow);
        (entry < self.entries.len()).then_some(entry)
    }

    /// Group in which a flow is set.
    pub fn origin_of(&self, flow: usize) -> String {
        self.entry_of(flow).map_or_else(|| "traffic".to_owned(), |i| format!("flow.{i}"))
    }
}

/// Positions as first drawn, which may leave nodes unconnected.
pub struct Draft {
    positions: Vec<Position>,
    interfaces: Interfaces,
}

impl Draft {
    /// Draws the positions of the nodes.
    pub fn new(cfg: &Config) -> Draft {
        let positions = draw(cfg, 0);
        Draft { interfaces: interfaces::interfaces(cfg, positions.len()), positions }
    }

    /// Number of pairs of radios in which one senses the other.
    pub fn pairs_in_range(&self) -> u64 {
        most_pairs_in_range(&self.interfaces.on_air(&self.positions))
    }
}

/// Positions of the nodes in this attempt to draw them.
fn draw(cfg: &Config, attempt: u64) -> Vec<Position> {
    cfg.topology.node_positions(&mut Stream::new(cfg.topology_seed(), Purpose::Topology, attempt))
}

/// Builds the layout of a scenario that is valid otherwise; reports random parts that cannot be drawn.
pub fn layout(cfg: &Config, tree: &Node, draft: Draft, report: &mut Report) -> Layout {
    let mut error = |path: &str, message: String, help: &str| {
        let origin = tree.at(path).or_else(|| tree.at(path.split('.').next()?)).and_then(|n| n.origin);
        report.add(path, origin, message, Some(help.to_owned()));
    };
    let t = &cfg.topology;
    // Moving nodes can become neighbors later.
    let moves = mobility::moves(cfg);
    let must_connect = t.kind == Kind::Random && t.connected && !moves;
    let attempts = if must_connect { ATTEMPTS.min(2_000_000 / t.nodes().max(1)).max(1) } else { 1 };
    let Draft { positions: first, interfaces } = draft;
    let fits = |positions: &Vec<Position>| !must_connect || is_connected(&interfaces, positions);
    let Some(positions) = std::iter::once(first).chain((1..attempts).map(|attempt| draw(cfg, attempt))).find(fits)
    else {
        let message = format!("in {}, some node could never reach another", count(attempts, "attempt"));
        let help = match (denser(cfg, more_nodes), denser(cfg, smaller_area)) {
            (None, None) => "use more nodes, a smaller area, or `topology.connected = false`".to_owned(),
            (nodes, area) => {
                let nodes = nodes.map(|t| format!("with {} nodes", t.nodes));
                let area = area.map(|t| format!("on {} x {}", t.width, t.height));
                let denser_settings: Vec<String> = nodes.into_iter().chain(area).collect();
                format!("it is connected {}; or set `topology.connected = false`", denser_settings.join(" or "))
            }
        };
        error("topology.connected", message, &help);
        return Layout::empty(cfg);
    };
    let positions = mobility::plan(cfg, positions.len(), cfg.run.seed).starts(&positions);
    let (mut flows, mut entries) = (Vec::new(), Vec::with_capacity(cfg.flow.0.len()));
    for entry in &cfg.flow.0 {
        let first = flows.len();
        flows.extend(entry.flows());
        entries.push(first..flows.len());
    }
    if cfg.traffic.flows > 0 {
        match random_flows(cfg, &interfaces, &positions) {
            Ok(drawn) => flows.extend(drawn),
            Err(drawn) => error(
                "traffic.flows",
                format!(
                    "{} of this length cannot be found between different nodes, only {drawn}",
                    count(cfg.traffic.flows, "flow")
                ),
                "ask for fewer flows or other numbers of hops, or set `traffic.distinct_ends = false`",
            ),
        }
    }
    Layout { positions, interfaces, flows, entries, split_at: Vec::new(), events: Vec::new() }
}

/// First of denser and denser random topologies that is connected after few draws; `None` if none is found soon.
fn denser(cfg: &Config, step: impl Fn(&mut topology::Config)) -> Option<topology::Config> {
    let mut t = cfg.topology.clone();
    let (mut placed, mut pairs) = (0, 0);
    loop {
        step(&mut t);
        if t.nodes > cfg.run.max_nodes || t.width.0 < 1.0 || t.height.0 < 1.0 {
            return None;
        }
        let interfaces = interfaces::interfaces(cfg, t.nodes as usize);
        // Each rate that may be chosen needs its own search for the stations that decode each other.
        let looks = interfaces.profiles.iter().map(|p| 1 + p.wlan.chosen_modes().len() as u64).max().unwrap_or(1);
        for attempt in 0..FEW_ATTEMPTS {
            placed += u64::from(t.nodes);
            let positions = t.node_positions(&mut Stream::new(cfg.topology_seed(), Purpose::Topology, attempt));
            pairs += most_pairs_in_range(&interfaces.on_air(&positions)) * looks;
            if placed > MOST_NODES_PLACED || pairs > MOST_PAIRS {
                return None;
            }
            if is_connected(&interfaces, &positions) {
                return Some(t);
            }
        }
    }
}

fn more_nodes(t: &mut topology::Config) {
    t.nodes += t.nodes.div_ceil(10);
}

/// Shortens each side by a twentieth, rounded to two digits.
fn smaller_area(t: &mut topology::Config) {
    let shorter = |side: Meters| {
        let digit = libm::pow(10.0, libm::floor(libm::log10(side.0)) - 1.0);
        Meters(libm::floor(0.95 * side.0 / digit + 1e-9) * digit)
    };
    (t.width, t.height) = (shorter(t.width), shorter(t.height));
}

fn is_connected(interfaces: &Interfaces, positions: &[Position]) -> bool {
    let channel = Channel::new(&interfaces.on_air(positions));
    let graph = Graph::new(&channel, interfaces, positions.len(), std::iter::empty());
    hops_to(positions.len(), NodeId(0), |v| graph.neighbors(v)).iter().all(|&h| h < u32::MAX)
}

/// Flows between random nodes.
///
/// # Errors
/// Number of flows found before the limit of draws was reached.
fn random_flows(cfg: &Config, interfaces: &Interfaces, positions: &[Position]) -> Result<Vec<Flow>, usize> {
    let (t, n) = (&cfg.traffic, positions.len());
    if n == 0 {
        return Err(0);
    }
    let most = t.max_hops.unwrap_or(u32::MAX - 1);
    let channel = Channel::new(&interfaces.on_air(positions));
    let graph = Graph::new(&channel, interfaces, n, std::iter::empty());
    let mut rng = Stream::new(t.seed.unwrap_or_else(|| cfg.topology_seed()), Purpose::Flows, 0);
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
            if mobility::moves(cfg) {
                return Some((from, to));
            }
            let hops = search.hops_within(most, NodeId(from), NodeId(to), |v| graph.neighbors(v));
            passed += search.passed();
            (t.min_hops..=most).contains(&hops).then_some((from, to))
        });
        let Some((from, to)) = drawn else { return Err(flows.len()) };
        (used[from as usize], used[to as usize]) = (true, true);
        let (src, dst) = (Ends::one(from), Some(Ends::one(to)));
        flows.extend(FlowEntry { src, dst, start: Some(t.start_of(i)), ..t.entry() }.flows());
    }
    Ok(flows)
}
