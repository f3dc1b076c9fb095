//! Nodes that cannot be reached because links do not carry the rate of data frames.

use super::super::super::build::layout::Layout;
use super::super::super::validate::Checker;
use super::super::super::validate::radio::no_row_back;
use chappe_core::net::routing::fixed::Search;
use chappe_core::packet::NodeId;
use chappe_core::radio::{self, Channel};
use chappe_core::run::Interfaces;
use chappe_core::run::graph::Graph;
use chappe_core::wlan::{self, Mode};

/// The network at each rate that data frames do not have yet, from the fastest on.
pub struct Slower<'a> {
    wlan: &'a wlan::Config,
    /// Setting that has the rates of single links or nodes, if there are any.
    own: Option<&'static str>,
    graphs: Vec<(Mode, Graph<'a>)>,
}

/// Obstacle between two nodes, and the way out.
pub struct Reason {
    /// Continues "node 1 cannot be reached from node 0".
    pub message: String,
    /// Setting that mends it.
    pub help: String,
}

/// Name of a rate in messages.
pub fn name(mode: Mode) -> String {
    match mode.is_ht() {
        true => format!("MCS {} ({})", mode.mcs(), mode.rate()),
        false => mode.rate().to_string(),
    }
}

impl<'a> Slower<'a> {
    /// The networks; empty where all rates reach equally far.
    pub fn new(wlan: &'a wlan::Config, interfaces: &Interfaces, graph: &Graph<'a>) -> Slower<'a> {
        let of_links = interfaces.link_modes.iter().map(|m| m.2);
        let own = match (interfaces.link_modes.is_empty(), interfaces.profiles.len()) {
            (false, _) => Some("`wlan.link_rate`"),
            (true, 2..) => Some("`node`"),
            _ => None,
        };
        let used = interfaces.profiles.iter().flat_map(|p| p.wlan.data_modes()).chain(of_links);
        let fastest = used.max_by_key(|mode| mode.rate()).unwrap_or_else(|| wlan.data_mode());
        let chosen = wlan.chosen_modes();
        let modes = fastest.family().rev().filter(|&mode| mode.rate() < fastest.rate() && wlan.ppdu.has_mode(mode));
        let modes = modes.filter(|mode| !interfaces.is_uniform() && !chosen.contains(mode));
        Slower { wlan, own, graphs: modes.map(|mode| (mode, graph.with(&interfaces.at(mode)))).collect() }
    }

    /// Fastest rate at which one node reaches another.
    fn rate(&self, from: NodeId, to: NodeId) -> Option<Mode> {
        let reaches =
            |graph: &Graph<'_>| Search::new(graph.nodes()).hops(from, to, |n| graph.predecessors(n)) < u32::MAX;
        self.graphs.iter().find(|(_, graph)| reaches(graph)).map(|(mode, _)| *mode)
    }

    /// Reason for which one node does not reach another at the rate of data frames, if a slower rate mends it.
    pub fn reason(&self, graph: &Graph<'_>, from: NodeId, to: NodeId) -> Option<Reason> {
        let rate = self.rate(from, to)?;
        let reached = |graph: &Graph<'_>| graph.predecessors(to).next().is_some();
        let reaches = |graph: &Graph<'_>| graph.neighbors(from).next().is_some();
        let rate_of = |has_link: &dyn Fn(&Graph<'_>) -> bool| {
            self.graphs.iter().find(|(_, graph)| has_link(graph)).map(|(mode, _)| *mode)
        };
        let end = match (reached(graph), reaches(graph)) {
            (false, _) => rate_of(&reached).map(|mode| (to, mode)),
            (true, false) => rate_of(&reaches).map(|mode| (from, mode)),
            (true, true) => None,
        };
        let best = end.map(|(n, mode)| format!("the best link of node {} carries {}", n.0, name(mode)));
        let best = best.unwrap_or_else(|| format!("the best path carries {}", name(rate)));
        let chosen = self.wlan.chosen_modes();
        let at = if self.own.is_some() { String::new() } else { format!(" at {}", name(self.wlan.slowest_mode())) };
        let message = format!("{at}; {best}");
        let help = match (chosen.is_empty(), rate.is_ht()) {
            _ if let Some(own) = self.own => format!("lower the rates in {own}{LET_CHOOSE}"),
            (false, _) => format!("add \"{}\" to `wlan.rate_control.rates`", rate.rate()),
            (true, true) => format!("set `wlan.ppdu.mcs = {}`{LET_CHOOSE}", rate.mcs()),
            (true, false) => format!("set `wlan.data_rate = \"{}\"`{LET_CHOOSE}", rate.rate()),
        };
        Some(Reason { message, help })
    }
}

/// The other way out of a rate that is too fast.
const LET_CHOOSE: &str = ", or let stations choose rates, e.g. `wlan.rate_control.algorithm = \"aarf\"`";

impl Checker<'_> {
    /// Reason for which a node is not reached over measured links of which some have no row back: the rate, the missing
    /// rows, or both.
    pub fn one_way_reason(
        &self,
        layout: &Layout,
        graph: &Graph<'_>,
        slower: &Slower<'_>,
        (from, to): (NodeId, NodeId),
    ) -> Option<Reason> {
        let rows = self.one_way_links();
        if rows == 0 || self.cfg.radio.propagation != radio::Propagation::Links {
            return None;
        }
        let mut both_ways = layout.interfaces.clone();
        both_ways.profiles.iter_mut().for_each(|p| p.radio.links_symmetric = true);
        let channel = Channel::new(&both_ways.on_air(&layout.positions));
        let wires = self.cfg.wired_links().into_iter().map(|w| (w.0, w.1));
        let whole = Graph::new(&channel, &both_ways, graph.nodes(), wires);
        let missing = format!(
            "{}; if they are the same in both directions, set `radio.links_symmetric = true`",
            no_row_back(rows)
        );
        if Search::new(graph.nodes()).hops(from, to, |n| whole.predecessors(n)) < u32::MAX {
            return Some(Reason { message: String::new(), help: missing });
        }
        if let Some(reason) = slower.reason(graph, from, to) {
            return Some(reason);
        }
        let reason = Slower::new(&self.cfg.wlan, &both_ways, &whole).reason(&whole, from, to)?;
        Some(Reason { help: format!("{missing}; and {}", reason.help), ..reason })
    }
}
