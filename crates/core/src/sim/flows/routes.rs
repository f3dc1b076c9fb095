//! Routes of flows at their sources: times during which each flow has a route.

use super::Flows;
use super::flow::Flow;
use crate::packet::{NodeId, PacketPool};
use crate::sim::network::Node;
use crate::unit::Time;

/// Lists a flow that has just lost its route, or has begun without one.
fn list_if_routeless(flow: &Flow, f: u32, node: &mut Node, routeless: &mut Vec<u32>) {
    if flow.routes.lacks_route() {
        node.lacks_route = true;
        routeless.push(f);
    }
}

impl Flows {
    /// The set of packets that wait for a route at node `n` has changed.
    pub fn on_waiting_changed(&mut self, n: NodeId, node: &mut Node, pool: &PacketPool, now: Time) {
        for (flow, f) in self.list.iter_mut().zip(0..).filter(|(flow, _)| flow.from == n) {
            let waits = node.router.holds(flow.first_to, pool);
            flow.time.on_route(now, waits);
            if waits && !flow.routes.lacks_route() {
                flow.routes.on_look(now, false);
                list_if_routeless(flow, f, node, &mut self.routeless);
            }
        }
    }

    /// Checks if flows of node `n` that lacked a route have one now.
    #[cold]
    pub fn look_for_routes(&mut self, n: NodeId, node: &mut Node, now: Time) {
        node.lacks_route = false;
        self.routeless.retain(|&f| {
            let flow = &mut self.list[f as usize];
            if flow.from == n {
                flow.routes.on_look(now, node.router.has_route(flow.first_to, now));
                node.lacks_route |= flow.routes.lacks_route();
            }
            flow.routes.lacks_route()
        });
    }

    /// A flow starts, or starts again. `nodes`: all nodes of the network.
    pub fn begin_routes(&mut self, f: usize, nodes: &mut [Node], now: Time) {
        let flow = &mut self.list[f];
        let node = &mut nodes[flow.from.index()];
        flow.routes.begin(now, node.router.has_route(flow.first_to, now));
        list_if_routeless(flow, f as u32, node, &mut self.routeless);
    }

    /// Node `n` has lost its route to a destination, and may have another route. `to` is `None` if several routes are
    /// lost; then only flows without another route count.
    pub fn break_routes(&mut self, n: NodeId, to: Option<NodeId>, node: &mut Node, now: Time) {
        let of_route = |f: &Flow| f.from == n && to.is_none_or(|to| f.first_to == to) && !f.routes.lacks_route();
        for (flow, f) in self.list.iter_mut().zip(0..).filter(|(f, _)| of_route(f)) {
            let has_other = node.router.has_route(flow.first_to, now);
            if to.is_some() || !has_other {
                flow.routes.on_break(now, has_other);
                list_if_routeless(flow, f, node, &mut self.routeless);
            }
        }
    }
}
