//! Routing protocols: choice of the next hop of a packet.

pub mod aodv;
pub mod babel;
pub mod batman_adv;
pub mod crossing;
pub mod dsdv;
pub mod dsr;
pub mod fixed;
pub mod gateways;
pub mod metric;
pub mod olsr;
mod registry;

use crate::count::{self, Field};
use crate::counters;
use crate::packet::{Body, Kind, NodeId, Packet, PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use aodv::Aodv;
use babel::Babel;
use batman_adv::BatmanAdv;
use dsdv::Dsdv;
use dsr::Dsr;
use fixed::{Routes, Static};
use metric::Metric;
use olsr::Olsr;
use registry::{Routing, protocols};
use std::sync::Arc;

protocols! {
    settings {
        /// Routing protocol of all nodes.
        pub(everyday) protocol: Protocol = Protocol::Aodv,
        /// Makes routing messages ECN-capable, so that queues mark them instead of dropping them; no node reacts to
        /// these marks.
        pub ecn: bool = false
            ; used when |c| c.protocol.learns_routes(), else "`routing.protocol` has no messages",
        /// Metric by which `shortest_path` compares routes, from the qualities that the radio model gives to links at
        /// the start.
        pub metric: Metric = Metric::Hops
            ; used when |c| c.protocol == Protocol::ShortestPath, else "`routing.protocol` is not `shortest_path`",
        /// Choice of the gateway through which packets leave the radio for a node without one.
        pub gateways: gateways::Choice = gateways::Choice::AtStart,
    }

    /// Ad hoc on-demand distance vector (RFC 3561), after ns-2 or after the RFC by its settings.
    Aodv(Aodv): Aodv = "aodv", settings aodv: aodv::Config = " AODV.";
    /// Babel (RFC 8966), with the choices of babeld.
    Babel(Box<Babel>): Babel = "babel", settings babel: babel::Config = " Babel.";
    /// B.A.T.M.A.N. advanced with its algorithm IV, as in Linux.
    BatmanAdv(Box<BatmanAdv>): BatmanAdv = "batman_adv", settings batman_adv: batman_adv::Config = " batman-adv.";
    /// Destination-sequenced distance vector (Perkins and Bhagwat 1994), after its authors or after ns-2.
    Dsdv(Dsdv): Dsdv = "dsdv", settings dsdv: dsdv::Config = " DSDV.";
    /// Dynamic source routing (RFC 4728), after the RFC or after ns-2.
    Dsr(Box<Dsr>): Dsr = "dsr", settings dsr: dsr::Config = " DSR.";
    /// Optimized link state routing (RFC 3626), or with link qualities as olsrd has them.
    Olsr(Box<Olsr>): Olsr = "olsr", settings olsr: olsr::Config = " OLSR.";
    /// Best routes by `routing.metric`, known to every node from the start; no messages.
    ShortestPath(Static): Static = "shortest_path";
    /// The routes that the scenario lists; no messages.
    Fixed(Static): Static = "fixed", settings fixed: fixed::Config = " Fixed routes.";
}

impl Config {
    /// Routes are computed at the start and compared by more than their hops.
    pub fn is_by_metric(&self) -> bool {
        self.protocol == Protocol::ShortestPath && self.metric != Metric::Hops
    }
}

/// Context of a call.
pub struct Cx<'a> {
    /// Current time.
    pub now: Time,
    /// Node of the router.
    pub node: NodeId,
    /// Pool of all packets of the run.
    pub pool: &'a mut PacketPool,
    /// Random stream of the router.
    pub rng: &'a mut Stream,
    /// Actions of the router, in order.
    pub out: &'a mut Vec<Out>,
}

/// An action of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Sends the packet to its next hop after a delay.
    Send {
        /// Packet with its next hop set.
        packet: PacketId,
        /// Time before it is sent.
        delay: Span,
    },
    /// Drops a packet for a reason that tables count.
    Drop {
        /// Index of the packet.
        packet: PacketId,
        /// Reason for the drop.
        reason: Reason,
    },
    /// Returns the packets in the interface queue for this neighbor to the router.
    Return {
        /// Neighbor whose packets go back to routing.
        next_hop: NodeId,
    },
    /// Drops the packets in the interface queue for this neighbor.
    Purge {
        /// Neighbor that is not reachable any more.
        next_hop: NodeId,
    },
    /// Notifies the senders of this node that the route to a destination is broken.
    RouteLost {
        /// Destination of the route.
        destination: NodeId,
        /// True if this node knew of a route until now; otherwise more packets were lost on a route known to be broken.
        anew: bool,
    },
    /// Other nodes have reported a broken link: routes over it are removed, and no route may be left.
    RoutesCut,
}

/// A usable route, as `routes` tables show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoute {
    /// Destination of the route.
    pub destination: NodeId,
    /// Neighbor to which packets go.
    pub next_hop: NodeId,
    /// Hops to the destination.
    pub hops: u32,
}

counters! {
    /// Routing overhead of a node, for any protocol. Counts all packets that a router hands down, even if the queue
    /// drops them.
    pub struct Overhead {
        /// Messages of the routing protocol sent, including forwarded messages.
        routing_packets_sent,
        /// Their bytes at the network layer \[B\].
        routing_bytes_sent,
        /// Bytes that the routing protocol has added to the packets of others, at each hop: source routes, headers of
        /// batman-adv \[B\].
        routing_header_bytes,
    }
}

impl Overhead {
    /// Sends a packet or message, and counts its overhead.
    fn send(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        if p.body.kind() == Kind::Routing {
            self.routing_packets_sent += 1;
            self.routing_bytes_sent += u64::from(p.bytes);
        } else {
            self.routing_header_bytes += u64::from(p.overhead);
        }
        cx.out.push(Out::Send { packet, delay });
    }
}

/// The counters of all protocols.
pub const COLUMNS: [Field; count::distinct(&LISTS)] = count::union(&LISTS);

/// Counters of a router, in the order of [`COLUMNS`]; counters of other protocols are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted([u64; COLUMNS.len()]);

impl Default for Counted {
    fn default() -> Counted {
        Counted([0; COLUMNS.len()])
    }
}

impl Counted {
    /// Adds the counters of one list.
    fn count(&mut self, fields: &[Field], values: &[u64]) {
        for (field, value) in fields.iter().zip(values) {
            let column = COLUMNS.iter().position(|c| c.0 == field.0).expect("every list is among the columns");
            self.0[column] += value;
        }
    }

    /// All values, in the order of [`COLUMNS`].
    pub fn values(&self) -> [u64; COLUMNS.len()] {
        self.0
    }

    /// Counter with this name; 0 if no protocol has it.
    pub fn get(&self, name: &str) -> u64 {
        COLUMNS.iter().zip(self.0).find(|(c, _)| c.0 == name).map_or(0, |(_, value)| value)
    }

    /// Differences from counts taken earlier.
    #[must_use]
    pub fn since(&self, earlier: &Counted) -> Counted {
        Counted(std::array::from_fn(|i| self.0[i] - earlier.0[i]))
    }

    /// Adds the counters of another router.
    pub fn add(&mut self, other: &Counted) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Number of packet losses after which the routing protocol treated the neighbor as lost.
    pub fn route_failures(&self) -> u64 {
        self.get("local_repairs") + self.get("links_deleted")
    }
}

/// A random part of a duration.
fn up_to(most: Span, rng: &mut Stream) -> Span {
    Span((rng.uniform() * most.0 as f64) as u64)
}

/// Creates a message of this node.
fn message(body: Body, bytes: u32, destination: NodeId, ttl: u8, cx: &mut Cx<'_>) -> PacketId {
    cx.pool.create(Packet {
        next_hop: NodeId::BROADCAST,
        ttl,
        ecn: cx.pool.message_ecn,
        ..Packet::new(body, bytes, cx.node, destination, cx.now)
    })
}

/// Sends a packet of this node, or one to be passed on, over the next hop to its destination; drops a packet without a
/// route, and one that has come too far.
fn pass_on(
    packet: PacketId,
    next_hop: impl FnOnce(NodeId) -> Option<NodeId>,
    overhead: &mut Overhead,
    cx: &mut Cx<'_>,
) {
    let p = &mut cx.pool[packet];
    let is_own = p.source == cx.node;
    let reason = if is_own && p.hops > 0 {
        Reason::RoutingLoop
    } else if !is_own && !p.spend_hop() {
        Reason::TtlExpired
    } else if let Some(neighbor) = next_hop(p.destination) {
        p.next_hop = neighbor;
        return overhead.send(packet, Span::ZERO, cx);
    } else {
        Reason::NoRoute
    };
    cx.out.push(Out::Drop { packet, reason });
}

impl Router {
    /// Replaces the routes of a protocol that computes them.
    pub fn replace(&mut self, routes: &Routes) {
        if let Router::ShortestPath(router) = self {
            *router = Static::new(routes.clone());
        }
    }

    /// The router of a node that has no part in the routing protocol.
    pub fn none() -> Router {
        Router::Fixed(Static::new(Routes::default()))
    }

    /// Counters of the router.
    pub fn counted(&self) -> Counted {
        let mut all = Counted::default();
        self.count(&mut all);
        all
    }

    /// Returns true if the router is given back a packet of this kind when the MAC gives the packet up. `breaks_links`:
    /// setting of the flow of data.
    pub fn takes_back(&self, kind: Kind, breaks_links: bool) -> bool {
        match kind {
            Kind::Arp => false,
            Kind::Routing => self.saves_messages(),
            Kind::Data => breaks_links || self.hears_of_all(),
            Kind::Ack => true,
        }
    }
}
