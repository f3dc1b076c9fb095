//! The routing table of DSDV.

use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// Metric of an unreachable destination.
pub(super) const INFINITE: u8 = 250;

/// Entry of a destination.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    /// Hops, or [`INFINITE`].
    pub(super) metric: u8,
    pub(super) sequence: u32,
    pub(super) next_hop: NodeId,
    /// Time at which the present route was accepted, and at which its sequence number was first received.
    pub(super) changed_at: Time,
    pub(super) numbered_at: Time,
    /// Weighted average of the settling times of routes.
    pub(super) settling: Span,
    /// End of the time in which the route is held back.
    pub(super) hold_until: Time,
    /// The metric, or the sequence number, is to be advertised.
    pub(super) metric_is_new: bool,
    pub(super) number_is_new: bool,
    /// Metric that was last advertised.
    pub(super) advertised: Option<u8>,
    /// Never advertised, because no node has reported the destination yet.
    pub(super) silent: bool,
    /// Time of the triggered update for the entry.
    pub(super) trigger_at: Time,
}

impl Entry {
    /// Entry of a destination that no node has reported.
    pub(super) fn unknown(destination: NodeId, settling: Span, now: Time) -> Entry {
        Entry {
            destination,
            metric: INFINITE,
            sequence: 0,
            next_hop: destination,
            changed_at: now,
            numbered_at: now,
            settling,
            hold_until: now,
            metric_is_new: false,
            number_is_new: false,
            advertised: None,
            silent: true,
            trigger_at: Time::NEVER,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.metric < INFINITE
    }

    /// Marks the route as lost: an odd sequence number, which only a newer one of the destination supersedes.
    pub(super) fn take_down(&mut self, now: Time) {
        self.metric = INFINITE;
        self.sequence += 1;
        (self.changed_at, self.numbered_at) = (now, now);
    }

    /// Schedules an update as soon as possible.
    pub(super) fn tell_at_once(&mut self, now: Time) {
        (self.metric_is_new, self.number_is_new) = (true, true);
        (self.hold_until, self.trigger_at) = (now, now);
    }

    /// Returns true if a change of the entry is to be advertised now.
    pub(super) fn is_changed(&self, now: Time) -> bool {
        (self.metric_is_new || self.number_is_new) && self.hold_until <= now
    }
}

/// Entries of a node, sorted by destination. The node itself has none.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
}

impl Table {
    fn index(&self, to: NodeId) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&to, |e| e.destination)
    }

    pub(super) fn get(&self, to: NodeId) -> Option<&Entry> {
        self.index(to).ok().map(|i| &self.entries[i])
    }

    /// Entry of a destination; true if it is new.
    pub(super) fn entry(&mut self, to: NodeId, settling: Span, now: Time) -> (&mut Entry, bool) {
        let (i, is_new) = match self.index(to) {
            Ok(i) => (i, false),
            Err(i) => {
                self.entries.insert(i, Entry::unknown(to, settling, now));
                (i, true)
            }
        };
        (&mut self.entries[i], is_new)
    }

    /// Index of the entry whose triggered update is due first, if one is due by now.
    pub(super) fn due(&self, now: Time) -> Option<usize> {
        let at = self.entries.iter().map(|e| e.trigger_at).min().filter(|&at| at <= now)?;
        self.entries.iter().position(|e| e.trigger_at == at)
    }

    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}
