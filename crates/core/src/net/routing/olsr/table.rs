//! The routing table (RFC 3626, section 10), and the same by costs of links.

use super::links::{Link, Links};
use super::mpr::WILL_NEVER;
use super::quality::{BROKEN, UNIT};
use super::topology::{Edge, Edges};
use crate::packet::NodeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) destination: NodeId,
    pub(super) next_hop: NodeId,
    pub(super) hops: u32,
    /// Sum of the costs of its links.
    pub(super) cost: u32,
}

/// Order of paths: cost, hops, preference of the first hop, and the end.
type Key = (u32, u32, Reverse<(u8, bool)>, NodeId, NodeId);

/// Routes, sorted by destination, with the working memory of their computation.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    routes: Vec<Route>,
    /// Paths to nodes that are not reached yet, by their order.
    open: BinaryHeap<Reverse<Key>>,
    /// Nodes that are reached, sorted.
    reached: Vec<Route>,
}

/// Links that a node knows.
pub(super) struct View<'a> {
    pub(super) node: NodeId,
    pub(super) links: &'a Links,
    /// Links of the neighbors, from HELLOs.
    pub(super) two_hop: &'a Edges,
    /// Links of all nodes, from TCs.
    pub(super) topology: &'a Edges,
    /// Networks of gateways, from HNAs.
    pub(super) networks: &'a Edges,
    /// Routes are compared by costs, and not by hops.
    pub(super) by_cost: bool,
    /// Neighbor over which all routes go; `None`: any.
    pub(super) via: Option<NodeId>,
}

impl View<'_> {
    fn cost(&self, cost: u32) -> u32 {
        if self.by_cost { cost } else { UNIT }
    }

    /// Links over which a path goes on from a node that it reaches with these hops.
    ///
    /// By hops, links of neighbors are those of their HELLOs, and those of others are from TCs; olsrd with link
    /// qualities takes all from TCs.
    fn onward(&self, at: NodeId, hops: u32) -> &[Edge] {
        if self.by_cost {
            return self.topology.from(at);
        }
        match hops {
            1 if self.links.get(at).is_none_or(|l| l.willingness == WILL_NEVER) => &[],
            1 => self.two_hop.from(at),
            _ => self.topology.from(at),
        }
    }

    /// The first hops of all paths.
    fn first(&self) -> impl Iterator<Item = &Link> {
        let is_used = |l: &&Link| !self.by_cost || l.cost < BROKEN;
        self.links.symmetric().filter(|l| self.via.is_none_or(|via| via == l.neighbor)).filter(is_used)
    }
}

impl Table {
    fn index(routes: &[Route], to: NodeId) -> Result<usize, usize> {
        routes.binary_search_by_key(&to, |r| r.destination)
    }

    pub(super) fn get(&self, to: NodeId) -> Option<&Route> {
        Table::index(&self.routes, to).ok().map(|i| &self.routes[i])
    }

    pub(super) fn all(&self) -> &[Route] {
        &self.routes
    }

    pub(super) fn clear(&mut self) {
        self.routes.clear();
    }

    /// Finds all routes anew; calls `lost` with each destination that had a route and has none any more.
    pub(super) fn find(&mut self, view: &View<'_>, mut lost: impl FnMut(NodeId)) {
        let mut found = std::mem::take(&mut self.reached);
        found.clear();
        self.open.clear();
        self.open.extend(view.first().map(|l| {
            // Ties go to the highest willingness, then to MPR selectors, then to the lowest number.
            let preference = Reverse((l.willingness, l.is_selector));
            Reverse((view.cost(l.cost), 1, preference, l.neighbor, l.neighbor))
        }));
        while let Some(Reverse((cost, hops, preference, next_hop, destination))) = self.open.pop() {
            let Err(i) = Table::index(&found, destination) else { continue };
            found.insert(i, Route { destination, next_hop, hops, cost });
            for edge in view.onward(destination, hops) {
                if edge.to != view.node && edge.cost < BROKEN && Table::index(&found, edge.to).is_err() {
                    self.open.push(Reverse((cost + view.cost(edge.cost), hops + 1, preference, next_hop, edge.to)));
                }
            }
        }
        // The nearest gateway to each network (section 12.6).
        for (gateway, edge) in view.networks.all() {
            let Ok(i) = Table::index(&found, gateway) else { continue };
            let route = Route { destination: edge.to, ..found[i] };
            match Table::index(&found, edge.to) {
                Err(at) => found.insert(at, route),
                Ok(at) if (route.cost, route.hops) < (found[at].cost, found[at].hops) => found[at] = route,
                Ok(_) => {}
            }
        }
        for route in self.routes.iter().filter(|r| Table::index(&found, r.destination).is_err()) {
            lost(route.destination);
        }
        self.reached = std::mem::replace(&mut self.routes, found);
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        let routes = self.routes.capacity() + self.reached.capacity();
        routes * size_of::<Route>() + self.open.capacity() * size_of::<Key>()
    }
}
