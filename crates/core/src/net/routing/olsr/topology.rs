//! What a node knows of links of others: those of its neighbors from HELLOs (RFC 3626, section 4.3.2), and those of all
//! nodes from TCs (section 4.4).

use crate::packet::NodeId;
use crate::unit::Time;

/// A link from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// Node that has announced the link: N_neighbor_main_addr, T_last_addr.
    pub(super) from: NodeId,
    /// Its neighbor: N_2hop_addr, T_dest_addr.
    pub(super) to: NodeId,
    /// Cost of the link.
    pub(super) cost: u32,
    /// Sequence number of the announcement, T_seq.
    number: u16,
    until: Time,
}

/// Edges, sorted by their beginnings and ends.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    all: Vec<Edge>,
    /// No edge ends before.
    expires: Time,
}

impl Default for Edges {
    fn default() -> Edges {
        Edges { all: Vec::new(), expires: Time::NEVER }
    }
}

/// Returns true if a sequence number is newer than another (section 19).
pub(super) fn is_newer(number: u16, than: u16) -> bool {
    number != than && number.wrapping_sub(than) <= u16::MAX / 2
}

impl Edges {
    /// Edges that begin at a node.
    pub(super) fn from(&self, node: NodeId) -> &[Edge] {
        let start = self.all.partition_point(|e| e.from < node);
        let count = self.all[start..].partition_point(|e| e.from == node);
        &self.all[start..start + count]
    }

    pub(super) fn all(&self) -> &[Edge] {
        &self.all
    }

    /// Adds an edge, or extends the time of one; returns true if it is new, or its cost.
    pub(super) fn add(&mut self, (from, to): (NodeId, NodeId), cost: u32, number: u16, until: Time) -> bool {
        self.expires = self.expires.min(until);
        match self.all.binary_search_by_key(&(from, to), |e| (e.from, e.to)) {
            Ok(i) => {
                let changed = self.all[i].cost != cost;
                self.all[i] = Edge { from, to, cost, number, until };
                changed
            }
            Err(i) => {
                self.all.insert(i, Edge { from, to, cost, number, until });
                true
            }
        }
    }

    fn remove_if(&mut self, out: impl Fn(&Edge) -> bool) -> bool {
        let before = self.all.len();
        self.all.retain(|e| !out(e));
        self.all.len() < before
    }

    /// Removes an edge; returns true if there was one.
    pub(super) fn remove(&mut self, from: NodeId, to: NodeId) -> bool {
        self.remove_if(|e| (e.from, e.to) == (from, to))
    }

    /// Removes the edges that begin at a node.
    pub(super) fn remove_from(&mut self, from: NodeId) -> bool {
        self.remove_if(|e| e.from == from)
    }

    /// Removes the edges of a node that are older than its announcement with this number.
    pub(super) fn remove_older(&mut self, from: NodeId, number: u16) -> bool {
        self.remove_if(|e| e.from == from && is_newer(number, e.number))
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
        let any = self.remove_if(|e| e.until <= now);
        self.expires = self.all.iter().map(|e| e.until).min().unwrap_or(Time::NEVER);
        any
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.expires = Time::NEVER;
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.all.capacity() * size_of::<Edge>()
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
