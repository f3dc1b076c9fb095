//! Who may be near each node: a list that holds for a while, because nobody is faster than the fastest.

use crate::packet::{NodeId, RadioId};
use crate::unit::Time;

/// The list of a node: those who can come within reach of it until they, and it, have come nearer by some slack.
#[derive(Clone, Copy, Debug)]
struct Own {
    start: usize,
    len: usize,
    /// Entries from `start` on that belong to it.
    capacity: usize,
    made: Time,
    /// The length of all jumps before it was made [m].
    jumped: f64,
    /// Whether it was ever made.
    exists: bool,
}

/// The lists of all nodes.
#[derive(Clone, Debug)]
pub struct Lists {
    own: Vec<Own>,
    members: Vec<NodeId>,
    /// How much nearer somebody may have come since a list was made [m].
    slack: f64,
    /// For each radio, until when nobody moves that was near when its audience was last worked out, and the length of all
    /// jumps until then.
    quiet: Vec<(Time, f64)>,
}

impl Lists {
    pub fn new(nodes: usize, radios: usize, slack: f64) -> Lists {
        let own = Own { start: 0, len: 0, capacity: 0, made: Time::ZERO, jumped: 0.0, exists: false };
        Lists { own: vec![own; nodes], members: Vec::new(), slack, quiet: vec![(Time::ZERO, 0.0); radios] }
    }

    /// Whether the list of a node still has all who may be near it. Two nodes come nearer by at most twice the speed of the
    /// `fastest`, and by all that has been `jumped`.
    #[inline]
    pub fn holds(&self, n: NodeId, at: Time, fastest: f64, jumped: f64) -> bool {
        let own = &self.own[n.index()];
        own.exists && 2.0 * fastest * at.since(own.made).as_secs() + (jumped - own.jumped) <= self.slack
    }

    /// Whether nothing near a radio has moved since its audience was last worked out.
    #[inline]
    pub fn is_quiet(&self, r: RadioId, at: Time, jumped: f64) -> bool {
        let (until, before) = self.quiet[r.index()];
        at < until && jumped == before
    }

    /// Nobody near a radio moves until then; zero: somebody moves.
    pub fn note_quiet(&mut self, r: RadioId, until: Time, jumped: f64) {
        self.quiet[r.index()] = (until, jumped);
    }

    /// A list is made anew, with room for twice as many where it has become too long; whether there are others in it.
    pub fn renew(&mut self, n: NodeId, found: &[NodeId], at: Time, jumped: f64) -> bool {
        let own = &mut self.own[n.index()];
        if own.exists && self.members[own.start..own.start + own.len] == *found {
            (own.made, own.jumped) = (at, jumped);
            return false;
        }
        if found.len() > own.capacity {
            let capacity = 2 * found.len() + 8;
            (own.start, own.capacity) = (self.members.len(), capacity);
            self.members.resize(own.start + capacity, NodeId(0));
        }
        (own.len, own.made, own.jumped, own.exists) = (found.len(), at, jumped, true);
        self.members[own.start..own.start + own.len].copy_from_slice(found);
        true
    }

    /// The list of a node, in the order of numbers.
    #[inline]
    pub fn of(&self, n: NodeId) -> &[NodeId] {
        let own = &self.own[n.index()];
        &self.members[own.start..own.start + own.len]
    }

    /// Memory \[B\].
    pub fn memory(&self) -> usize {
        self.members.capacity() * size_of::<NodeId>()
    }
}
