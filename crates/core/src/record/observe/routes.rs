//! Routing tables, at each change.

use super::columns::{table, words};
use crate::net::routing::{KnownRoute, Router};
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

words! {
    /// What has become of a route.
    pub enum Event {
        /// There was none before.
        Added = "added",
        /// It leads over another neighbour, or takes more or fewer hops.
        Changed = "changed",
        /// It is no longer used.
        Removed = "removed",
    }
}

table! {
    /// A change of a routing table.
    pub struct Row in Kept {
        /// When \[s\].
        time_s: Time,
        /// Node of the table.
        node: NodeId,
        /// Node to which the route leads.
        destination: NodeId,
        /// Neighbour over which it leads, or led when it was removed.
        next_hop: NodeId,
        /// Hops to the destination.
        hops: u32,
        /// `added`, `changed` or `removed`.
        event: Event,
    }
}

/// Writes a row whenever a route that can be used has come, changed or gone.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// The routes of each node by destination, as they were last.
    known: Vec<Vec<KnownRoute>>,
    fresh: Vec<KnownRoute>,
    pub(super) rows: Kept,
}

impl Routes {
    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        let Note::Router { node, router } = *note else { return };
        if node.index() >= self.known.len() {
            self.known.resize_with(node.index() + 1, Vec::new);
        }
        self.compare(at, node, router);
    }

    fn compare(&mut self, at: Time, node: NodeId, router: &Router) {
        self.fresh.clear();
        router.routes(node, at, &mut self.fresh);
        let known = &mut self.known[node.index()];
        if *known == self.fresh {
            return;
        }
        let mut row = |route: &KnownRoute, event| {
            self.rows.push(Row {
                time_s: at,
                node,
                destination: route.destination,
                next_hop: route.next_hop,
                hops: route.hops,
                event,
            });
        };
        // Both are in the order of the destinations.
        let (mut old, mut new) = (known.iter().peekable(), self.fresh.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(o), Some(n)) if o.destination == n.destination => {
                    if o != n {
                        row(n, Event::Changed);
                    }
                    old.next();
                    new.next();
                }
                (Some(o), n) if n.is_none_or(|n| o.destination < n.destination) => {
                    row(o, Event::Removed);
                    old.next();
                }
                (_, Some(n)) => {
                    row(n, Event::Added);
                    new.next();
                }
                (Some(_), None) => unreachable!("it was removed above"),
            }
        }
        std::mem::swap(known, &mut self.fresh);
    }
}
