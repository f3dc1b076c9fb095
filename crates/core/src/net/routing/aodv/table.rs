//! The routing table of AODV (RFC 3561, section 2).

use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// "No route": more hops than any route has.
pub(super) const INFINITE_HOPS: u8 = u8::MAX;

/// State of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It can be used.
    Up,
    /// It cannot.
    Down,
    /// A lost packet waits here for a new one.
    InRepair,
}

/// A route, or what is known of a destination without one.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    pub(super) sequence: u32,
    pub(super) sequence_known: bool,
    pub(super) hops: u8,
    /// Hop count when the route was last up.
    pub(super) last_hops: u8,
    pub(super) state: State,
    pub(super) next_hop: NodeId,
    pub(super) expires: Time,
    down_since: Time,
    /// Until when no further request is made.
    pub(super) request_until: Time,
    /// A request waits for its answer.
    pub(super) requested: bool,
    /// TTL of the last request.
    pub(super) last_ttl: u8,
    /// Network-wide requests made in a row.
    pub(super) network_wide: u32,
    next_latency: u8,
    /// The last measured times per hop of requests and replies [ns].
    latencies: [u32; 3],
}

impl Entry {
    pub(super) fn learn(&mut self, sequence: u32, hops: u8, next_hop: NodeId, expires: Time) {
        self.sequence = sequence;
        self.sequence_known = true;
        self.hops = hops;
        self.next_hop = next_hop;
        self.expires = expires;
        self.state = State::Up;
    }

    pub(super) fn take_down(&mut self, now: Time) {
        if self.state != State::Down {
            self.last_hops = self.hops;
            self.hops = INFINITE_HOPS;
            self.state = State::Down;
            self.expires = Time::ZERO;
            self.down_since = now;
        }
    }

    /// A request was answered.
    pub(super) fn request_done(&mut self, hops: u8) {
        self.network_wide = 0;
        self.request_until = Time::ZERO;
        self.requested = false;
        self.last_ttl = hops;
    }

    pub(super) fn measured(&mut self, per_hop: Span) {
        self.latencies[usize::from(self.next_latency)] = u32::try_from(per_hop.0).unwrap_or(u32::MAX);
        self.next_latency = (self.next_latency + 1) % self.latencies.len() as u8;
    }

    pub(super) fn time_per_hop(&self) -> Option<Span> {
        let known = self.latencies.iter().filter(|l| **l > 0);
        let (sum, n) = known.fold((0, 0), |(sum, n), l| (sum + u64::from(*l), n + 1));
        (n > 0).then(|| Span(sum / n))
    }
}

/// All entries of a node, ordered by destination.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Their destinations, close together for the search.
    destinations: Vec<NodeId>,
    entries: Vec<Entry>,
    /// Destinations, and neighbours that use this node's route to them.
    precursors: Vec<(NodeId, NodeId)>,
    delete_period: Option<Span>,
}

impl Table {
    pub(super) fn new(delete_period: Option<Span>) -> Table {
        Table {
            destinations: Vec::with_capacity(8),
            entries: Vec::with_capacity(8),
            precursors: Vec::with_capacity(8),
            delete_period,
        }
    }

    fn find(&self, to: NodeId) -> Result<usize, usize> {
        self.destinations.binary_search(&to)
    }

    pub(super) fn get_mut(&mut self, to: NodeId) -> Option<&mut Entry> {
        self.find(to).ok().map(|i| &mut self.entries[i])
    }

    /// The entry of a destination, made if there is none. What was known of a route that has been down for longer
    /// than the delete period is forgotten.
    pub(super) fn entry(&mut self, to: NodeId, now: Time, first_hops: u8) -> &mut Entry {
        let i = match self.find(to) {
            Ok(i) => {
                let old = self.delete_period.is_some_and(|p| self.entries[i].down_since + p < now);
                let entry = &mut self.entries[i];
                if old && entry.state == State::Down && !entry.requested {
                    entry.sequence_known = false;
                    entry.last_hops = first_hops;
                    entry.last_ttl = 0;
                }
                i
            }
            Err(i) => {
                let entry = Entry {
                    destination: to,
                    sequence: 0,
                    sequence_known: false,
                    hops: INFINITE_HOPS,
                    last_hops: first_hops,
                    next_hop: NodeId::BROADCAST,
                    expires: Time::ZERO,
                    down_since: now,
                    state: State::Down,
                    request_until: Time::ZERO,
                    requested: false,
                    network_wide: 0,
                    last_ttl: 0,
                    latencies: [0; 3],
                    next_latency: 0,
                };
                self.destinations.insert(i, to);
                self.entries.insert(i, entry);
                i
            }
        };
        &mut self.entries[i]
    }

    pub(super) fn add_precursor(&mut self, destination: NodeId, node: NodeId) {
        if !self.precursors.contains(&(destination, node)) {
            self.precursors.push((destination, node));
        }
    }

    /// A neighbour is lost and uses no route any more.
    pub(super) fn remove_precursor(&mut self, node: NodeId) {
        self.precursors.retain(|p| p.1 != node);
    }

    /// Forgets who uses the route to a destination; whether anybody did.
    pub(super) fn clear_precursors(&mut self, destination: NodeId) -> bool {
        let before = self.precursors.len();
        self.precursors.retain(|p| p.0 != destination);
        self.precursors.len() < before
    }

    /// The destination of a request whose wait is over; it no longer counts as under way.
    pub(super) fn take_due(&mut self, now: Time) -> Option<NodeId> {
        let entry = self.entries.iter_mut().find(|e| e.requested && e.request_until <= now)?;
        entry.requested = false;
        Some(entry.destination)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn nth_mut(&mut self, i: usize) -> &mut Entry {
        &mut self.entries[i]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut()
    }
}
