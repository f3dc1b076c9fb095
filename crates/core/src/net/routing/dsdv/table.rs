//! The routing table of DSDV.

use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// "No route": the metric of a destination that cannot be reached.
pub(super) const INFINITE: u8 = 250;

/// What is known of a destination.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    /// Hops, or [`INFINITE`].
    pub(super) metric: u8,
    pub(super) sequence: u32,
    pub(super) next_hop: NodeId,
    /// When the present route was taken, and when its sequence number was first heard.
    pub(super) changed_at: Time,
    pub(super) numbered_at: Time,
    /// Weighted average of the time that routes of a number took to settle.
    pub(super) settling: Span,
    /// Until when it is not told to others.
    pub(super) hold_until: Time,
    /// Its metric, or its number, is to be told.
    pub(super) metric_is_new: bool,
    pub(super) number_is_new: bool,
    /// The metric that was told last.
    pub(super) told: Option<u8>,
    /// It is never told, because nobody has said anything about the destination yet.
    pub(super) silent: bool,
    /// When a triggered update is to be sent for it.
    pub(super) trigger_at: Time,
}

impl Entry {
    /// A destination of which nobody has told anything.
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
            told: None,
            silent: true,
            trigger_at: Time::NEVER,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.metric < INFINITE
    }

    /// The way is lost: an odd number, which only a newer one of the destination itself supersedes.
    pub(super) fn take_down(&mut self, now: Time) {
        self.metric = INFINITE;
        self.sequence += 1;
        (self.changed_at, self.numbered_at) = (now, now);
    }

    /// It is to be told as soon as possible.
    pub(super) fn tell_at_once(&mut self, now: Time) {
        (self.metric_is_new, self.number_is_new) = (true, true);
        (self.hold_until, self.trigger_at) = (now, now);
    }

    /// Something about it is to be told, and may be.
    pub(super) fn is_changed(&self, now: Time) -> bool {
        (self.metric_is_new || self.number_is_new) && self.hold_until <= now
    }
}

/// The entries of a node, in the order of their destinations. The node itself has none.
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

    /// The entry of a destination and whether it is new.
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

    /// The entry of which the triggered update is due first, if one is due by now.
    pub(super) fn due(&self, now: Time) -> Option<usize> {
        let at = self.entries.iter().map(|e| e.trigger_at).min().filter(|&at| at <= now)?;
        self.entries.iter().position(|e| e.trigger_at == at)
    }

    /// Memory, about [B].
    pub(super) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}
