//! Middleboxes: validation.

use super::super::build::flows::Flow;
use super::super::build::layout::Layout;
use super::super::build::setup::settings;
use super::super::schema::{Config, Middlebox};
use super::Checker;
use chappe_core::net::middlebox::Kind;
use chappe_core::net::routing::fixed::{Routes, Search};
use chappe_core::packet::NodeId;
use chappe_core::run::graph::Graph;
use chappe_core::setting::{Code, join};

/// Limit on the total number of nodes visited by the searches for the routes of all flows past all middleboxes, which
/// take some seconds.
const MOST_NODES_PASSED: u64 = 1_000_000_000;

/// Passage of flows through a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Passes {
    Never,
    /// Depends on the routing protocol.
    Perhaps,
    Always,
}

/// Routes of packets, as far as they are known before the run.
struct Ways<'a> {
    cfg: &'a Config,
    graph: &'a Graph<'a>,
    nodes: usize,
    routes: Routes,
}

impl<'a> Ways<'a> {
    fn new(cfg: &'a Config, layout: &Layout, graph: &'a Graph<'a>) -> Ways<'a> {
        let nodes = graph.nodes();
        let ends = layout.flows.iter().map(|f| NodeId(f.dst)).filter(|n| n.index() < nodes);
        let routes = if cfg.middlebox.0.is_empty() { Routes::default() } else { graph.routes(&cfg.routing, ends) };
        Ways { cfg, graph, nodes, routes }
    }

    fn passes(&self, from: NodeId, to: NodeId, node: NodeId) -> Passes {
        if node == from || node == to || from.index().max(to.index()) >= self.nodes {
            return Passes::Never;
        }
        let on_the_way = self.routes.way(from, to).any(|n| n == node);
        if !self.cfg.routing.protocol.learns_routes() || (on_the_way && self.graph.is_wired(node)) {
            // Protocols on demand find routes over the radio only.
            return if on_the_way { Passes::Always } else { Passes::Never };
        }
        let mut search = Search::new(self.nodes);
        let mut hops = |a, b, without| search.hops(a, b, |v| self.graph.predecessors(v).filter(move |&n| n != without));
        if hops(from, to, node) == u32::MAX {
            return Passes::Always;
        }
        let nobody = NodeId::BROADCAST;
        let near = hops(from, node, nobody) < u32::MAX && hops(node, to, nobody) < u32::MAX;
        if near { Passes::Perhaps } else { Passes::Never }
    }
}

impl Checker<'_> {
    /// Validates middleboxes, and adds the splits to the layout.
    pub(super) fn middleboxes(&mut self, layout: &mut Layout, graph: &Graph<'_>) {
        let cfg = self.cfg;
        layout.split_at = vec![None; layout.flows.len()];
        let served = |m: &Middlebox| layout.flows.len().max(m.flows.as_ref().map_or(0, Vec::len)) as u64;
        let searches = cfg.middlebox.0.iter().map(served).sum::<u64>();
        if searches.saturating_mul(graph.nodes() as u64) > MOST_NODES_PASSED {
            let (boxes, flows) = (cfg.middlebox.0.len(), layout.flows.len());
            let message = format!("{boxes} middleboxes for {flows} flows between {} nodes", graph.nodes());
            self.error("middlebox", message, "too many to find out which flow passes which: use fewer of them");
            return;
        }
        let ways = Ways::new(cfg, layout, graph);
        for (i, m) in cfg.middlebox.0.iter().enumerate() {
            let at = format!("middlebox.{i}");
            self.count_kept(m, layout.flows.len());
            let Some(node) = m.node else {
                let help = format!("set `{at}.node` to a node that forwards packets");
                self.error(&at, format!("middlebox {i} is at no node"), &help);
                continue;
            };
            if node as usize >= ways.nodes {
                let help = format!("nodes are numbered from 0 to {}", ways.nodes.max(1) - 1);
                self.error(&join(&at, "node"), format!("there is no node {node}"), &help);
                continue;
            }
            self.served(&at, m, NodeId(node), &ways, layout);
            if m.kind == Kind::Split {
                self.split(i, m, &ways, layout);
            }
        }
        self.alone_at_split(layout);
    }

    /// Checks that the flows served by a middlebox pass it.
    fn served(&mut self, at: &str, m: &Middlebox, node: NodeId, ways: &Ways<'_>, layout: &Layout) {
        let passes = |f: &Flow| ways.passes(NodeId(f.src), NodeId(f.dst), node);
        for (k, &f) in m.flows.iter().flatten().enumerate() {
            let path = format!("{at}.flows.{k}");
            match layout.flows.get(f as usize) {
                None => {
                    let help = format!("flows are numbered from 0 to {}", layout.flows.len().max(1) - 1);
                    self.error(&path, format!("there is no flow {f}"), &help);
                }
                Some(flow) if !flow.is_tcp(ways.cfg) => {
                    self.error(&path, format!("flow {f} is not a TCP flow"), "middleboxes serve TCP flows");
                }
                Some(flow) if passes(flow) == Passes::Never => {
                    let message = format!("flow {f} does not pass node {} on its way", node.0);
                    self.error(&path, message, "place the middlebox at a node between source and destination");
                }
                Some(_) => {}
            }
        }
        if m.flows.is_none() && !layout.flows.iter().any(|f| f.is_tcp(ways.cfg) && passes(f) > Passes::Never) {
            let message = format!("no TCP flow passes node {} on its way", node.0);
            let help = "place the middlebox at a node between source and destination of a flow";
            self.error(&join(at, "node"), message, help);
        }
    }

    /// Finds the flows that are split at a node.
    fn split(&mut self, i: usize, m: &Middlebox, ways: &Ways<'_>, layout: &mut Layout) {
        let node = NodeId(m.node.expect("checked before"));
        for (f, flow) in layout.flows.iter().enumerate() {
            let listed = m.flows.as_ref().map(|list| list.contains(&(f as u32)));
            let to = NodeId(flow.dst);
            let passes = ways.passes(NodeId(flow.src), to, node);
            let split = listed.unwrap_or(passes == Passes::Always) && passes > Passes::Never;
            if !split || !flow.is_tcp(ways.cfg) {
                continue;
            }
            let path = format!("middlebox.{i}");
            if let Some(other) = layout.split_at[f] {
                let message = format!("flow {f} is split by middlebox {other} already");
                self.error(&path, message, "a connection can be split once");
                continue;
            }
            layout.split_at[f] = Some(i);
            if passes == Passes::Perhaps {
                let message = format!("packets of flow {f} may take a path around node {}", node.0);
                self.warn(
                    Code::BypassedSplit,
                    &path,
                    message,
                    "the destination cannot use packets that bypass the node that splits the connection",
                );
            }
            let first = flow.tcp.over(&ways.cfg.tcp);
            let second = m.split.over(&ways.cfg.split).tcp.over(&first);
            self.tcp(&format!("{path}.split"), &second);
            if second.mss != first.mss {
                let message =
                    format!("segments of {} become segments of {} where flow {f} is split", first.mss, second.mss);
                self.error(&path, message, "both halves need the same `tcp.mss`");
            }
        }
    }

    /// Checks that no other middlebox serves a flow at the node that splits it.
    fn alone_at_split(&mut self, layout: &Layout) {
        let all = &self.cfg.middlebox.0;
        for (f, i) in layout.split_at.iter().enumerate().filter_map(|(f, i)| i.map(|i| (f, i))) {
            let serves = |m: &Middlebox| m.flows.as_ref().is_none_or(|list| list.contains(&(f as u32)));
            let other = |(k, m): &(usize, &Middlebox)| *k != i && m.node == all[i].node && serves(m);
            if let Some((k, m)) = all.iter().enumerate().find(other)
                && m.kind != Kind::Split
            {
                let message = format!("flow {f} ends at this node, where middlebox {i} splits it");
                self.error(&format!("middlebox.{k}"), message, "place one of them at another node, or name its flows");
            }
        }
    }

    /// Counts the segments that a middlebox may store.
    fn count_kept(&mut self, m: &Middlebox, flows: usize) {
        let cfg = self.cfg;
        let each = settings(m, cfg).map_or_else(|| m.split.over(&cfg.split).buffer_segments, |s| s.kept());
        self.tally.kept += flows as f64 * (f64::from(each) + 4.0);
    }
}
