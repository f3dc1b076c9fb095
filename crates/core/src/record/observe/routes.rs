//! Routing tables, at each change.

use super::columns::{table, words};
use crate::net::routing::{KnownRoute, Router};
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::unit::Time;

words! {
    /// Change of a route.
    pub enum Event {
        /// The node has a route to a destination to which it had none.
        Added = "added",
        /// The next hop or the number of hops has changed.
        Changed = "changed",
        /// The route is no longer usable.
        Removed = "removed",
    }
}

table! {
    /// A change of a routing table.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Node of the table.
        node: NodeId,
        /// Destination of the route.
        dst: NodeId,
        /// Next hop of the route, or the last one of a removed route.
        next_hop: NodeId,
        /// Number of hops to the destination.
        hops: u32,
        /// Change of the route: `added`, `changed` or `removed`.
        event: Event,
        /// Metric of the route by which Babel (256: a link without losses) and OLSR (hops, or ETX) compare routes, less
        /// is better; TQ of batman-adv (0 to 255), more is better. Null for a removed route and with other protocols.
        metric: Option<f64>,
        /// Metric at this time of the route over the previous next hop, if the next hop has changed; null if there is no
        /// route over it any more.
        previous_metric: Option<f64>,
    }
}

/// Writes a row whenever a usable route was added, changed or removed.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// Last routes of each node, by destination.
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
        let mut row = |route: &KnownRoute, event, previous: Option<&KnownRoute>| {
            let over = |via| router.metric_over(node, route.destination, via);
            let left = previous.map(|p| p.next_hop).filter(|&via| via != route.next_hop);
            self.rows.push(Row {
                time_s: at,
                node,
                dst: route.destination,
                next_hop: route.next_hop,
                hops: route.hops,
                event,
                metric: if event == Event::Removed { None } else { over(route.next_hop) },
                previous_metric: left.and_then(over),
            });
        };
        // Both lists are sorted by destination.
        let (mut old, mut new) = (known.iter().peekable(), self.fresh.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(o), Some(n)) if o.destination == n.destination => {
                    if o != n {
                        row(n, Event::Changed, Some(o));
                    }
                    old.next();
                    new.next();
                }
                (Some(o), n) if n.is_none_or(|n| o.destination < n.destination) => {
                    row(o, Event::Removed, None);
                    old.next();
                }
                (_, Some(n)) => {
                    row(n, Event::Added, None);
                    new.next();
                }
                (Some(_), None) => unreachable!("it was removed above"),
            }
        }
        std::mem::swap(known, &mut self.fresh);
    }
}
