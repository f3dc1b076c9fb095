//! What a node knows of links of others: those of its neighbors from HELLOs (RFC 3626, section 4.3.2), and those of all
//! nodes from TCs (section 4.4).

use crate::packet::NodeId;
use crate::unit::Time;

/// A link that a node has announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// Its neighbor: N_2hop_addr, T_dest_addr.
    pub(super) to: NodeId,
    /// Cost of the link.
    pub(super) cost: u32,
    /// Sequence number of the announcement, T_seq.
    number: u16,
    until: Time,
}

/// Edges by the node that has announced them (N_neighbor_main_addr, T_last_addr), sorted, and by their ends, sorted.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    /// Nodes stay when they have no edges any more.
    groups: Vec<(NodeId, Vec<Edge>)>,
    /// No edge ends before.
    expires: Time,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { groups: Vec::new(), expires: Time::NEVER }
    }
}

/// Returns true if a sequence number is newer than another (section 19).
pub(super) fn is_newer(number: u16, than: u16) -> bool {
    number != than && number.wrapping_sub(than) <= u16::MAX / 2
}

/// Keeps some edges; returns true if any are removed.
fn keep(edges: &mut Vec<Edge>, stays: impl Fn(&Edge) -> bool) -> bool {
    let before = edges.len();
    edges.retain(stays);
    edges.len() < before
}

impl Edges {
    fn index(&self, node: NodeId) -> Result<usize, usize> {
        self.groups.binary_search_by_key(&node, |g| g.0)
    }

    /// Edges that begin at a node.
    pub(super) fn from(&self, node: NodeId) -> &[Edge] {
        self.index(node).map_or(&[], |i| &self.groups[i].1)
    }

    fn edges_of(&mut self, node: NodeId) -> Option<&mut Vec<Edge>> {
        self.index(node).ok().map(|i| &mut self.groups[i].1)
    }

    /// All edges with their beginnings.
    pub(super) fn all(&self) -> impl Iterator<Item = (NodeId, &Edge)> {
        self.groups.iter().flat_map(|(from, edges)| edges.iter().map(|e| (*from, e)))
    }

    /// Adds an edge, or extends the time of one; returns true if it is new, or its cost.
    pub(super) fn add(&mut self, (from, to): (NodeId, NodeId), cost: u32, number: u16, until: Time) -> bool {
        self.expires = self.expires.min(until);
        let i = self.index(from).unwrap_or_else(|i| {
            self.groups.insert(i, (from, Vec::with_capacity(8)));
            i
        });
        let edges = &mut self.groups[i].1;
        let edge = Edge { to, cost, number, until };
        match edges.binary_search_by_key(&to, |e| e.to) {
            Ok(i) => std::mem::replace(&mut edges[i], edge).cost != cost,
            Err(i) => {
                edges.insert(i, edge);
                true
            }
        }
    }

    /// Removes an edge; returns true if there was one.
    pub(super) fn remove(&mut self, from: NodeId, to: NodeId) -> bool {
        self.edges_of(from).is_some_and(|edges| keep(edges, |e| e.to != to))
    }

    /// Removes the edges that begin at a node.
    pub(super) fn remove_from(&mut self, from: NodeId) {
        if let Some(edges) = self.edges_of(from) {
            edges.clear();
        }
    }

    /// Removes the edges of a node that are older than its announcement with this number.
    pub(super) fn remove_older(&mut self, from: NodeId, number: u16) -> bool {
        self.edges_of(from).is_some_and(|edges| keep(edges, |e| !is_newer(number, e.number)))
    }

    /// Returns true if an announcement of a node is older than one that is known.
    pub(super) fn is_outdated(&self, from: NodeId, number: u16) -> bool {
        self.from(from).iter().any(|e| is_newer(e.number, number))
    }

    /// Time before which no edge ends.
    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    /// Removes the edges whose time is over; returns true if there were any.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        if self.expires > now {
            return false;
        }
        let groups = self.groups.iter_mut();
        let any = groups.fold(false, |any, (_, edges)| keep(edges, |e| e.until > now) | any);
        self.expires = self.all().map(|(_, e)| e.until).min().unwrap_or(Time::NEVER);
        any
    }

    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.expires = Time::NEVER;
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        let edges: usize = self.groups.iter().map(|g| g.1.capacity()).sum();
        self.groups.capacity() * size_of::<(NodeId, Vec<Edge>)>() + edges * size_of::<Edge>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        assert!(is_newer(1, 0) && is_newer(0, u16::MAX) && is_newer(32_767, 0));
        assert!(!is_newer(0, 0) && !is_newer(0, 1) && !is_newer(32_768, 0));
    }
}
