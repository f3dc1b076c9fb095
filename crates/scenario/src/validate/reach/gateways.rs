//! Gateways that change during a run: a protocol that finds them, paths that need wires only at their ends, and those that
//! the scenario gives to nodes.

use super::super::super::build::layout::Layout;
use super::super::super::build::mobility;
use super::Checker;
use chappe_core::net::routing::Protocol;
use chappe_core::net::routing::fixed::Search;
use chappe_core::net::routing::gateways::Choice;
use chappe_core::packet::NodeId;
use chappe_core::run::graph::Graph;
use chappe_core::setting::join;

impl Checker<'_> {
    /// Validates the choice of gateways.
    pub(in super::super) fn gateways(&mut self, layout: &Layout, graph: &Graph<'_>) {
        self.chosen_gateways(graph);
        if self.cfg.routing.gateways == Choice::AtStart {
            return;
        }
        let protocol = self.cfg.routing.protocol;
        let finds = |p: &&Protocol| p.finds_gateways() && **p != Protocol::Fixed;
        let all: Vec<&str> = Protocol::ALL.iter().filter(finds).map(|p| p.word()).collect();
        if !all.contains(&protocol.word()) {
            let message = match protocol {
                Protocol::Fixed => "`fixed` has the listed routes, and looks for no gateways".to_owned(),
                other => format!("`{}` does not announce gateways", other.word()),
            };
            let help = format!("choose a `routing.protocol` that does: {}; or use \"at_start\"", all.join(", "));
            self.error("routing.gateways", message, &help);
        }
        self.wires_between_radios(layout, graph);
    }

    /// Checks the gateways that the scenario gives to nodes.
    fn chosen_gateways(&mut self, graph: &Graph<'_>) {
        let with_radio = self.cfg.topology.nodes();
        let is_gateway = |n: u32| u64::from(n) < with_radio && graph.is_wired(NodeId(n));
        for (i, own) in self.cfg.node.0.iter().enumerate() {
            let (Some(gateway), at) = (own.gateway, format!("node.{i}")) else { continue };
            let path = join(&at, "gateway");
            for &(_, last) in &own.nodes.0 {
                self.has_radio(&join(&at, "nodes"), last);
            }
            if self.cfg.routing.gateways == Choice::AtStart {
                let help = "set `routing.gateways = \"announced\"`, or leave it out";
                self.error(&path, format!("`{path}` needs gateways that are announced"), help);
            } else if !is_gateway(gateway) {
                let what = if u64::from(gateway) < with_radio { "wire" } else { "radio" };
                let known: Vec<String> =
                    (0..with_radio as u32).filter(|n| is_gateway(*n)).map(|n| format!("node {n}")).collect();
                let help = match known.len() {
                    0 => "no node has both a radio and a wire".to_owned(),
                    1..10 => format!("gateways are {}", known.join(", ")),
                    n => format!("there are {n} gateways, such as {}", known[..3].join(", ")),
                };
                self.error(&path, format!("node {gateway} is no gateway: it has no {what}"), &help);
            }
        }
    }

    /// Refuses flows between nodes with a radio that need wires on the way.
    fn wires_between_radios(&mut self, layout: &Layout, graph: &Graph<'_>) {
        if mobility::moves(self.cfg) {
            return;
        }
        let has_radio = |n: NodeId| n.index() < layout.positions.len();
        let mut search = Search::new(graph.nodes());
        for (i, flow) in layout.flows.iter().enumerate() {
            let (from, to) = (NodeId(flow.src), NodeId(flow.dst));
            if !has_radio(from) || !has_radio(to) || search.hops(from, to, |n| graph.heard_by(n)) < u32::MAX {
                continue;
            }
            if search.hops(from, to, |n| graph.predecessors(n)) < u32::MAX {
                let path = layout.entry_of(i).map_or("traffic.flows".to_owned(), |entry| format!("flow.{entry}.dst"));
                let message = format!(
                    "node {} is reached from node {} over wires only, and gateways lead only to nodes without a radio",
                    to.0, from.0
                );
                self.error(&path, message, "use `routing.gateways = \"at_start\"`");
            }
        }
    }
}
