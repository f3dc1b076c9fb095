//! Candidates near each node: lists that hold for a while because speeds are limited.

use crate::packet::{NodeId, RadioId};
use crate::unit::Time;

/// Candidate list of a node: nodes that can come within its reach before the distance has shrunk by the slack.
#[derive(Clone, Copy, Debug)]
struct NodeList {
    start: usize,
    len: usize,
    /// Capacity of the node's part of the common list, from `start` on.
    capacity: usize,
    built: Time,
    /// Total length of all jumps when the list was built [m].
    jumped: f64,
    /// True once the list was built.
    exists: bool,
}

/// Candidate lists of all nodes.
#[derive(Clone, Debug)]
pub struct Lists {
    of_node: Vec<NodeList>,
    members: Vec<NodeId>,
    /// Distance by which two nodes may have come nearer since a list was built [m].
    slack: f64,
    /// For each radio: end of the time in which no candidate of its last query moves, and the total length of jumps at
    /// that query.
    quiet: Vec<(Time, f64)>,
}

impl Lists {
    pub fn new(nodes: usize, radios: usize, slack: f64) -> Lists {
        let empty = NodeList { start: 0, len: 0, capacity: 0, built: Time::ZERO, jumped: 0.0, exists: false };
        Lists { of_node: vec![empty; nodes], members: Vec::new(), slack, quiet: vec![(Time::ZERO, 0.0); radios] }
    }

    /// Returns true if the list of a node still has all candidates. Two nodes approach by at most twice the speed of
    /// the `fastest`, and by all that has been `jumped`.
    #[inline]
    pub fn holds(&self, n: NodeId, at: Time, fastest: f64, jumped: f64) -> bool {
        let list = &self.of_node[n.index()];
        list.exists && 2.0 * fastest * at.since(list.built).as_secs() + (jumped - list.jumped) <= self.slack
    }

    /// Returns true if no candidate near a radio has moved since the last query.
    #[inline]
    pub fn is_quiet(&self, r: RadioId, at: Time, jumped: f64) -> bool {
        let (until, before) = self.quiet[r.index()];
        at < until && jumped == before
    }

    /// Records that no candidate near a radio moves until `until`; zero: some move.
    pub fn note_quiet(&mut self, r: RadioId, until: Time, jumped: f64) {
        self.quiet[r.index()] = (until, jumped);
    }

    /// Replaces the list of a node, with room for twice as many nodes if it has grown too long; returns true if its
    /// members have changed.
    pub fn renew(&mut self, n: NodeId, candidates: &[NodeId], at: Time, jumped: f64) -> bool {
        let list = &mut self.of_node[n.index()];
        if list.exists && self.members[list.start..list.start + list.len] == *candidates {
            (list.built, list.jumped) = (at, jumped);
            return false;
        }
        if candidates.len() > list.capacity {
            let capacity = 2 * candidates.len() + 8;
            (list.start, list.capacity) = (self.members.len(), capacity);
            self.members.resize(list.start + capacity, NodeId(0));
        }
        (list.len, list.built, list.jumped, list.exists) = (candidates.len(), at, jumped, true);
        self.members[list.start..list.start + list.len].copy_from_slice(candidates);
        true
    }

    /// Candidate list of a node, in the order of numbers.
    #[inline]
    pub fn of(&self, n: NodeId) -> &[NodeId] {
        let list = &self.of_node[n.index()];
        &self.members[list.start..list.start + list.len]
    }

    /// Memory of all lists \[B\].
    pub fn memory(&self) -> usize {
        self.members.capacity() * size_of::<NodeId>()
    }
}
