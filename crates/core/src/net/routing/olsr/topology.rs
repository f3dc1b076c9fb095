//! Links of other nodes: those of the neighbors from HELLOs (RFC 3626, section 4.3.2), and those of all nodes from TCs
//! (section 4.4). Networks and their gateways, from HNAs (section 12.2), are edges, too.

use crate::packet::NodeId;
use crate::unit::Time;
use std::ops::Range;

/// A link that a node has announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The node: N_neighbor_main_addr, T_last_addr.
    from: NodeId,
    /// Its neighbor: N_2hop_addr, T_dest_addr.
    pub(super) to: NodeId,
    /// Cost of the link.
    pub(super) cost: u32,
    /// Sequence number of the announcement, T_seq.
    number: u16,
    until: Time,
}

/// Edges, sorted by both ends.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    edges: Vec<Edge>,
    /// No edge ends before.
    expires: Time,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { edges: Vec::new(), expires: Time::NEVER }
    }
}

/// Returns true if a sequence number is newer than another (section 19).
pub(super) fn is_newer(number: u16, than: u16) -> bool {
    number != than && number.wrapping_sub(than) <= u16::MAX / 2
}

impl Edges {
    /// Places of the edges that begin at a node.
    fn places(&self, from: NodeId) -> Range<usize> {
        let begin = self.edges.partition_point(|e| e.from < from);
        begin..begin + self.edges[begin..].partition_point(|e| e.from == from)
    }

    /// Edges that begin at a node.
    pub(super) fn from(&self, node: NodeId) -> &[Edge] {
        &self.edges[self.places(node)]
    }

    /// All edges with their beginnings.
    pub(super) fn all(&self) -> impl Iterator<Item = (NodeId, &Edge)> {
        self.edges.iter().map(|e| (e.from, e))
    }

    /// Adds an edge, or extends the time of one; returns true if it is new, or its cost.
    pub(super) fn add(&mut self, (from, to): (NodeId, NodeId), cost: u32, number: u16, until: Time) -> bool {
        self.expires = self.expires.min(until);
        let edge = Edge { from, to, cost, number, until };
        match self.edges.binary_search_by_key(&(from, to), |e| (e.from, e.to)) {
            Ok(i) => std::mem::replace(&mut self.edges[i], edge).cost != cost,
            Err(i) => {
                self.edges.insert(i, edge);
                true
            }
        }
    }

    /// Keeps some of the edges that begin at a node; returns true if any are removed.
    fn keep(&mut self, from: NodeId, stays: impl Fn(&Edge) -> bool) -> bool {
        let places = self.places(from);
        let mut end = places.start;
        for i in places.clone() {
            if stays(&self.edges[i]) {
                self.edges[end] = self.edges[i];
                end += 1;
            }
        }
        self.edges.drain(end..places.end).len() > 0
    }

    /// Removes an edge; returns true if there was one.
    pub(super) fn remove(&mut self, from: NodeId, to: NodeId) -> bool {
        self.keep(from, |e| e.to != to)
    }

    /// Removes the edges that begin at a node.
    pub(super) fn remove_from(&mut self, from: NodeId) {
        self.keep(from, |_| false);
    }

    /// Removes the edges of a node that are older than its announcement with this number.
    pub(super) fn remove_older(&mut self, from: NodeId, number: u16) -> bool {
        self.keep(from, |e| !is_newer(number, e.number))
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
        let before = self.edges.len();
        self.edges.retain(|e| e.until > now);
        self.expires = self.edges.iter().map(|e| e.until).min().unwrap_or(Time::NEVER);
        self.edges.len() < before
    }

    pub(super) fn clear(&mut self) {
        self.edges.clear();
        self.expires = Time::NEVER;
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>()
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
