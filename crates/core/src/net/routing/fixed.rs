//! Routes that never change: listed in the scenario, or with the fewest hops.

use super::registry::Routing;
use super::{Cx, KnownRoute, Out, Shared};
use crate::packet::{NodeId, PacketId, Reason};
use crate::rng::Stream;
use crate::setting::Many;
use crate::settings;
use crate::unit::{Span, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

settings! {
    /// One entry of a routing table.
    pub struct Route {
        /// Number of the node that holds the entry.
        pub node: u32 = 0,
        /// Number of the destination.
        pub dst: u32 = 0,
        /// Number of the next hop.
        pub next_hop: u32 = 0,
    }
}

settings! {
    /// Routes of the protocol `fixed`.
    pub struct Config {
        /// Entries of the routing tables.
        pub routes: Many<Route> = Many::default(),
    }
}

/// Next hop from every node to each destination; shared by all nodes.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    next: Arc<BTreeMap<NodeId, Vec<NodeId>>>,
}

impl Routes {
    /// Routes from the next hop of every node to each destination; [`NodeId::BROADCAST`] where there is none.
    pub(super) fn new(next: BTreeMap<NodeId, Vec<NodeId>>) -> Routes {
        Routes { next: Arc::new(next) }
    }

    /// Builds routing tables from listed routes.
    pub fn listed(nodes: usize, routes: &[Route]) -> Routes {
        let mut next = BTreeMap::new();
        for r in routes {
            let table = next.entry(NodeId(r.dst)).or_insert_with(|| vec![NodeId::BROADCAST; nodes]);
            // Ignores a route over a node that does not exist.
            if let Some(entry) = table.get_mut(r.node as usize).filter(|_| (r.next_hop as usize) < nodes) {
                *entry = NodeId(r.next_hop);
            }
        }
        Routes { next: Arc::new(next) }
    }

    /// Routes with the fewest hops to these destinations; among equal next hops the first neighbor counts. Links may
    /// be one-way: `predecessors` are the nodes that can send to a node.
    pub fn shortest<I: Iterator<Item = NodeId>, J: Iterator<Item = NodeId>>(
        nodes: usize,
        destinations: impl IntoIterator<Item = NodeId>,
        neighbors: impl Fn(NodeId) -> I,
        predecessors: impl Fn(NodeId) -> J,
    ) -> Routes {
        let mut next = BTreeMap::new();
        for to in destinations {
            next.entry(to).or_insert_with(|| {
                let hops = hops_to(nodes, to, &predecessors);
                (0..nodes as u32)
                    .map(|n| {
                        let own = hops[n as usize];
                        let mut via = neighbors(NodeId(n)).filter(|v| hops[v.index()] < own);
                        if own == u32::MAX { NodeId::BROADCAST } else { via.next().unwrap_or(NodeId::BROADCAST) }
                    })
                    .collect()
            });
        }
        Routes { next: Arc::new(next) }
    }

    /// Destinations to which the node has a route.
    pub fn destinations(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.next.keys().copied()
    }

    /// Next hop from a node to a destination.
    pub fn via(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        self.next.get(&to).map(|t| t[at.index()]).filter(|n| !n.is_broadcast())
    }

    /// Nodes on the path between two nodes, excluding both; ends at a loop.
    pub fn way(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let nodes = self.next.get(&to).map_or(0, Vec::len);
        let next = move |at: &NodeId| self.via(*at, to).filter(|&n| n != to);
        std::iter::successors(next(&from), next).take(nodes)
    }

    /// Number of hops along the routes between two nodes; `None` if they do not lead there.
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let (mut at, mut hops) = (from, 0);
        while at != to {
            at = self.via(at, to)?;
            hops += 1;
            if hops > self.next.get(&to)?.len() as u32 {
                return None;
            }
        }
        Some(hops)
    }
}

/// Number of hops from every node to this one, `u32::MAX` without a path; `predecessors` are the nodes that can send to
/// a node.
pub fn hops_to<I: Iterator<Item = NodeId>>(nodes: usize, to: NodeId, predecessors: impl Fn(NodeId) -> I) -> Vec<u32> {
    let mut hops = vec![u32::MAX; nodes];
    hops[to.index()] = 0;
    let mut queue = VecDeque::from([to]);
    while let Some(n) = queue.pop_front() {
        for v in predecessors(n) {
            if hops[v.index()] == u32::MAX {
                hops[v.index()] = hops[n.index()] + 1;
                queue.push_back(v);
            }
        }
    }
    hops
}

/// Searches the shortest path between two nodes; the cost depends on their distance, not on the number
/// of nodes.
pub struct Search {
    hops: Vec<u32>,
    reached: Vec<NodeId>,
}

impl Search {
    /// A search among this number of nodes.
    pub fn new(nodes: usize) -> Search {
        Search { hops: vec![u32::MAX; nodes], reached: Vec::new() }
    }

    /// Number of nodes visited by the last search.
    pub fn passed(&self) -> usize {
        self.reached.len()
    }

    /// Number of hops from one node to another, `u32::MAX` without a path; `predecessors` are the nodes that can send
    /// to a node.
    pub fn hops<I: Iterator<Item = NodeId>>(
        &mut self,
        from: NodeId,
        to: NodeId,
        predecessors: impl Fn(NodeId) -> I,
    ) -> u32 {
        self.hops_within(u32::MAX, from, to, predecessors)
    }

    /// Number of hops between two nodes, up to a limit: `u32::MAX` if there is no such path. Visits no nodes beyond the
    /// limit.
    pub fn hops_within<I: Iterator<Item = NodeId>>(
        &mut self,
        most: u32,
        from: NodeId,
        to: NodeId,
        predecessors: impl Fn(NodeId) -> I,
    ) -> u32 {
        for n in self.reached.drain(..) {
            self.hops[n.index()] = u32::MAX;
        }
        self.hops[to.index()] = 0;
        self.reached.push(to);
        let mut next = 0;
        while self.hops[from.index()] == u32::MAX && next < self.reached.len() {
            let n = self.reached[next];
            next += 1;
            if self.hops[n.index()] >= most {
                break;
            }
            for v in predecessors(n) {
                if self.hops[v.index()] == u32::MAX {
                    self.hops[v.index()] = self.hops[n.index()] + 1;
                    self.reached.push(v);
                }
            }
        }
        self.hops[from.index()]
    }
}

/// A router with a fixed table.
#[derive(Clone, Debug)]
pub struct Static {
    routes: Routes,
}

impl Routing for Static {
    const LEARNS: bool = false;
    const FINDS_GATEWAYS: bool = true;

    fn start(_shared: &Shared, routes: Option<&Routes>, _rng: &mut Stream) -> Static {
        Static::new(routes.expect("static routes are computed at setup").clone())
    }

    fn on_message(&mut self, _packet: PacketId, _cx: &mut Cx<'_>) {
        unreachable!("static routing has no messages")
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
    }

    /// The routes are computed anew for all nodes.
    fn serve(&mut self, _network: NodeId, _serves: bool, _cx: &mut Cx<'_>) {}

    fn has_route(&self, _to: NodeId, _now: Time) -> bool {
        true
    }

    fn next_hop(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        self.routes.via(at, to)
    }

    fn routes(&self, at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        out.extend(self.routes.destinations().filter_map(move |destination| {
            let next_hop = self.routes.via(at, destination)?;
            Some(KnownRoute { destination, next_hop, hops: self.routes.hops(at, destination)? })
        }));
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        if (p.source != cx.node || p.hops > 0) && !p.spend_hop() {
            cx.out.push(Out::Drop { packet, reason: Reason::TtlExpired });
            return;
        }
        match self.routes.via(cx.node, p.destination) {
            Some(via) => {
                p.next_hop = via;
                cx.out.push(Out::Send { packet, delay: Span::ZERO });
            }
            None => cx.out.push(Out::Drop { packet, reason: Reason::NoRoute }),
        }
    }
}

impl Static {
    pub(super) fn new(routes: Routes) -> Static {
        Static { routes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: NodeId) -> impl Iterator<Item = NodeId> {
        [n.0.wrapping_sub(1), n.0 + 1].into_iter().filter(|&v| v < 5).map(NodeId)
    }

    #[test]
    fn the_shortest_path_along_a_line() {
        let r = Routes::shortest(5, [NodeId(4)], line, line);
        assert_eq!(r.hops(NodeId(0), NodeId(4)), Some(4));
        assert_eq!(r.via(NodeId(1), NodeId(4)), Some(NodeId(2)));
        assert_eq!(r.via(NodeId(1), NodeId(0)), None, "nobody sends to 0");
    }

    #[test]
    fn a_link_can_go_one_way() {
        let on = |n: NodeId| (n.0 < 4).then_some(NodeId(n.0 + 1)).into_iter();
        let back = |n: NodeId| n.0.checked_sub(1).map(NodeId).into_iter();
        let r = Routes::shortest(5, [NodeId(4), NodeId(0)], on, back);
        assert_eq!(r.hops(NodeId(1), NodeId(4)), Some(3));
        assert_eq!(r.hops(NodeId(1), NodeId(0)), None);
        assert_eq!(Search::new(5).hops(NodeId(1), NodeId(4), back), 3);
        assert_eq!(Search::new(5).hops(NodeId(1), NodeId(0), back), u32::MAX);
        let within = |most| Search::new(5).hops_within(most, NodeId(1), NodeId(4), back);
        assert_eq!([1, 2, 3, 4].map(within), [u32::MAX, u32::MAX, 3, 3]);
    }

    #[test]
    fn listed_routes_that_lead_nowhere_are_found() {
        let route = |at, via| Route { node: at, dst: 4, next_hop: via };
        let r = Routes::listed(5, &[route(0, 1), route(1, 2), route(2, 1)]);
        assert_eq!(r.hops(NodeId(0), NodeId(4)), None);
        let r = Routes::listed(5, &[route(0, 1), route(1, 4)]);
        assert_eq!(r.hops(NodeId(0), NodeId(4)), Some(2));
    }
}
