//! The routing table of AODV (RFC 3561, section 2).

use crate::packet::NodeId;
use crate::unit::{Span, Time};

/// Hop count of an unreachable destination.
pub(super) const INFINITE_HOPS: u8 = u8::MAX;

/// State of a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// The route is valid.
    Up,
    /// The route is invalid.
    Down,
    /// A lost packet waits here for a new route.
    InRepair,
}

/// A route, or the state of a destination without one.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) destination: NodeId,
    pub(super) sequence: u32,
    pub(super) sequence_known: bool,
    pub(super) hops: u8,
    /// Hop count when the route was last valid.
    pub(super) last_hops: u8,
    pub(super) state: State,
    pub(super) next_hop: NodeId,
    pub(super) expires: Time,
    down_since: Time,
    /// End of the time in which no further request is made.
    pub(super) request_until: Time,
    /// A request waits for a reply.
    pub(super) requested: bool,
    /// TTL of the last request.
    pub(super) last_ttl: u8,
    /// Network-wide requests made in a row.
    pub(super) network_wide: u32,
    next_latency: u8,
    /// Last measured times per hop of requests and replies [ns].
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
            if self.hops != INFINITE_HOPS {
                self.last_hops = self.hops;
                self.hops = INFINITE_HOPS;
            }
            self.state = State::Down;
            self.expires = Time::ZERO;
            self.down_since = now;
        }
    }

    pub(super) fn has_expired(&self, now: Time) -> bool {
        self.state == State::Up && self.expires < now
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.sequence += 1;
        self.take_down(now);
    }

    /// Resets the request state after a reply.
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
        let measured = self.latencies.iter().filter(|l| **l > 0);
        let (sum, n) = measured.fold((0, 0), |(sum, n), l| (sum + u64::from(*l), n + 1));
        (n > 0).then(|| Span(sum / n))
    }
}

/// Entries of a node. Large networks have many, mostly unused, so the data of frequent scans are kept apart from them,
/// in compact arrays.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Sorted destinations, for the search.
    destinations: Vec<NodeId>,
    /// Index into `entries` of each destination.
    index: Vec<u32>,
    /// Entries in the order of their creation.
    entries: Vec<Entry>,
    /// For each entry, the next time to check its expiry: zero if it may have changed, NEVER while the route is
    /// invalid.
    look_at: Vec<Time>,
    /// Destinations, and neighbors that use this node's route to them (precursors).
    precursors: Vec<(NodeId, NodeId)>,
    delete_period: Option<Span>,
}

impl Table {
    /// Approximate memory [B].
    pub(super) fn memory(&self) -> usize {
        self.entries.capacity() * (size_of::<Entry>() + 16) + self.precursors.capacity() * 8
    }

    pub(super) fn new(delete_period: Option<Span>) -> Table {
        Table {
            destinations: Vec::new(),
            index: Vec::new(),
            entries: Vec::new(),
            look_at: Vec::new(),
            precursors: Vec::new(),
            delete_period,
        }
    }

    pub(super) fn get_mut(&mut self, to: NodeId) -> Option<&mut Entry> {
        let i = self.destinations.binary_search(&to).ok()?;
        Some(self.nth_mut(i))
    }

    /// Entry of a destination, created if there is none. Resets a route that has been invalid for longer than the
    /// delete period.
    pub(super) fn entry(&mut self, to: NodeId, now: Time, first_hops: u8) -> &mut Entry {
        let i = match self.destinations.binary_search(&to) {
            Ok(i) => {
                let delete_period = self.delete_period;
                let entry = self.nth_mut(i);
                let old = delete_period.is_some_and(|p| entry.down_since + p < now);
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
                self.index.insert(i, self.entries.len() as u32);
                self.entries.push(entry);
                self.look_at.push(Time::ZERO);
                i
            }
        };
        self.nth_mut(i)
    }

    /// Invalidates expired routes; returns true if another may still be valid.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        let mut any_up = false;
        for (look_at, entry) in self.look_at.iter_mut().zip(&mut self.entries) {
            if *look_at < now {
                if entry.has_expired(now) {
                    entry.expire(now);
                }
                *look_at = if entry.state == State::Up { entry.expires } else { Time::NEVER };
            }
            any_up |= *look_at != Time::NEVER;
        }
        any_up
    }

    /// Switches the node off: keeps only the sequence number of each route, incremented if the route was valid.
    pub(super) fn switch_off(&mut self, now: Time) {
        self.precursors.clear();
        for (look_at, entry) in self.look_at.iter_mut().zip(&mut self.entries) {
            if entry.state == State::Up {
                entry.sequence += 1;
            }
            entry.take_down(now);
            (entry.requested, entry.request_until, entry.network_wide) = (false, Time::ZERO, 0);
            *look_at = Time::NEVER;
        }
    }

    pub(super) fn add_precursor(&mut self, destination: NodeId, node: NodeId) {
        if !self.precursors.contains(&(destination, node)) {
            if self.precursors.capacity() == 0 {
                self.precursors.reserve(16);
            }
            self.precursors.push((destination, node));
        }
    }

    /// Removes a lost neighbor from all precursor lists.
    pub(super) fn remove_precursor(&mut self, node: NodeId) {
        self.precursors.retain(|p| p.1 != node);
    }

    /// Removes the precursors of a destination; returns true if there were any.
    pub(super) fn clear_precursors(&mut self, destination: NodeId) -> bool {
        let before = self.precursors.len();
        self.precursors.retain(|p| p.0 != destination);
        self.precursors.len() < before
    }

    /// Destination of a request whose wait is over; the request no longer counts as in progress.
    pub(super) fn take_due(&mut self, now: Time) -> Option<NodeId> {
        let is_due = |e: &Entry| e.requested && e.request_until <= now;
        let index = self.index.iter().find(|&&p| is_due(&self.entries[p as usize]))?;
        let entry = &mut self.entries[*index as usize];
        entry.requested = false;
        Some(entry.destination)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entry by position in the order of the destinations.
    pub(super) fn nth_mut(&mut self, i: usize) -> &mut Entry {
        let index = self.index[i] as usize;
        self.look_at[index] = Time::ZERO;
        &mut self.entries[index]
    }

    /// Entries sorted by destination.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Entry> {
        self.index.iter().map(|&i| &self.entries[i as usize])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}
