//! Selection of multipoint relays.

use super::quality::BROKEN;
use crate::packet::NodeId;

/// Willingness to forward the traffic of others (RFC 3626, section 18.8).
pub(super) const WILL_NEVER: u8 = 0;
pub(super) const WILL_ALWAYS: u8 = 7;

/// A symmetric neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbor {
    pub(super) node: NodeId,
    pub(super) willingness: u8,
    /// Cost of the link to it.
    pub(super) cost: u32,
    /// Nodes two hops away that it reaches, D(y).
    degree: u32,
    /// Nodes to be covered that it reaches.
    reach: u32,
    pub(super) is_mpr: bool,
}

impl Neighbor {
    pub(super) fn new(node: NodeId, willingness: u8, cost: u32) -> Neighbor {
        Neighbor { node, willingness, cost, degree: 0, reach: 0, is_mpr: false }
    }
}

/// A path over a neighbor to a node two hops away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) to: NodeId,
    /// Index of the neighbor.
    via: u32,
    /// Cost of the path.
    cost: u32,
}

/// Working memory and result of a selection.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    /// Symmetric neighbors, by number.
    pub(super) neighbors: Vec<Neighbor>,
    /// Paths, sorted by their ends.
    paths: Vec<Path>,
}

/// Paths with the same end.
fn ends(paths: &[Path]) -> impl Iterator<Item = &[Path]> {
    paths.chunk_by(|a, b| a.to == b.to)
}

impl Selection {
    /// Begins with these symmetric neighbors, sorted by number.
    pub(super) fn begin(&mut self, neighbors: impl Iterator<Item = Neighbor>) {
        self.neighbors.clear();
        self.neighbors.extend(neighbors);
        self.paths.clear();
    }

    fn index(&self, node: NodeId) -> Option<usize> {
        self.neighbors.binary_search_by_key(&node, |n| n.node).ok()
    }

    /// Adds a symmetric link of a neighbor with its cost. Links to this node itself are not part of it.
    pub(super) fn add(&mut self, via: NodeId, to: NodeId, cost: u32) {
        if let Some(i) = self.index(via) {
            let cost = self.neighbors[i].cost.saturating_add(cost);
            self.paths.push(Path { to, via: i as u32, cost });
        }
    }

    /// Returns true if a relay is the neighbor of a path.
    fn is_mpr(&self, path: &Path) -> bool {
        self.neighbors[path.via as usize].is_mpr
    }

    /// The heuristic of RFC 3626, sections 8.3.1 and 16.2: few relays, such that each node two hops away has `coverage`
    /// of them, if there are as many.
    pub(super) fn by_coverage(&mut self, coverage: usize) {
        let (neighbors, mut paths) = (&self.neighbors, std::mem::take(&mut self.paths));
        let is_neighbor = |to: NodeId| neighbors.binary_search_by_key(&to, |n| n.node).is_ok();
        paths.retain(|p| neighbors[p.via as usize].willingness != WILL_NEVER && !is_neighbor(p.to));
        paths.sort_unstable_by_key(|p| (p.to, p.via));
        self.paths = paths;
        // 1: nodes that always relay. 2: D(y).
        for n in &mut self.neighbors {
            n.is_mpr = n.willingness == WILL_ALWAYS;
        }
        for p in &self.paths {
            self.neighbors[p.via as usize].degree += 1;
        }
        // 3: all relays of nodes that have no more than they need.
        for end in ends(&self.paths).filter(|end| end.len() <= coverage) {
            end.iter().for_each(|p| self.neighbors[p.via as usize].is_mpr = true);
        }
        // 4: the neighbor with the highest willingness, then reachability, then degree, then the lowest number.
        loop {
            self.neighbors.iter_mut().for_each(|n| n.reach = 0);
            for end in ends(&self.paths) {
                if end.iter().filter(|p| self.neighbors[p.via as usize].is_mpr).count() < coverage.min(end.len()) {
                    end.iter().for_each(|p| self.neighbors[p.via as usize].reach += 1);
                }
            }
            let candidates = self.neighbors.iter_mut().rev().filter(|n| n.reach > 0 && !n.is_mpr);
            let Some(best) = candidates.max_by_key(|n| (n.willingness, n.reach, n.degree)) else { break };
            best.is_mpr = true;
        }
        // 5: relays without which all nodes are still covered, in increasing order of willingness.
        for willingness in 1..WILL_ALWAYS {
            for i in 0..self.neighbors.len() {
                let n = self.neighbors[i];
                if n.is_mpr && n.willingness == willingness && !self.needs(i, coverage) {
                    self.neighbors[i].is_mpr = false;
                }
            }
        }
    }

    /// Returns true if a node two hops away would have too few relays without this one.
    fn needs(&self, relay: usize, coverage: usize) -> bool {
        ends(&self.paths).any(|end| {
            end.iter().any(|p| p.via as usize == relay)
                && end.iter().filter(|p| self.is_mpr(p)).count() <= coverage.min(end.len())
        })
    }

    /// The rule of olsrd with link qualities: for each node two hops away the `coverage` neighbors with the cheapest
    /// paths, where these are cheaper than its own link.
    pub(super) fn by_cost(&mut self, coverage: usize) {
        let direct = |neighbors: &[Neighbor], to: NodeId| {
            neighbors.binary_search_by_key(&to, |n| n.node).map_or(BROKEN, |i| neighbors[i].cost)
        };
        self.paths.retain(|p| {
            self.neighbors[p.via as usize].willingness != WILL_NEVER && p.cost < direct(&self.neighbors, p.to)
        });
        self.paths.sort_unstable_by_key(|p| (p.to, p.cost, p.via));
        for n in &mut self.neighbors {
            n.is_mpr = n.willingness == WILL_ALWAYS;
        }
        for end in ends(&self.paths) {
            end.iter().take(coverage).for_each(|p| self.neighbors[p.via as usize].is_mpr = true);
        }
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.neighbors.capacity() * size_of::<Neighbor>() + self.paths.capacity() * size_of::<Path>()
    }
}
