//! Routing protocols: which neighbour a packet goes to next.

pub mod aodv;
pub mod crossing;
pub mod dsdv;
pub mod dsr;
pub mod fixed;
mod registry;

use crate::count::{self, Field};
use crate::counters;
use crate::packet::{Body, Kind, NodeId, Packet, PacketId, Reason, Slab};
use crate::rng::Stream;
use crate::setting::limit::at_least;
use crate::unit::{Span, Time};
use aodv::Aodv;
use dsdv::Dsdv;
use dsr::Dsr;
use fixed::{Routes, Static};
use registry::{Routing, protocols};
use std::sync::Arc;

protocols! {
    settings {
        /// Routing protocol.
        pub protocol: Protocol = Protocol::Aodv,
        /// Hops a packet may make (TTL).
        pub ttl: u8 = 64 => at_least(1),
        /// Whether messages of routing are ECN-capable, so that a queue that marks them does not drop them; nobody reacts to
        /// a mark on them.
        pub ecn: bool = false,
    }

    /// Ad hoc on-demand distance vector (RFC 3561), after ns-2 or after the RFC by its settings.
    Aodv(Aodv): Aodv = "aodv", settings aodv: aodv::Config = " AODV.";
    /// Destination-sequenced distance vector (Perkins and Bhagwat 1994), after its authors or after ns-2.
    Dsdv(Dsdv): Dsdv = "dsdv", settings dsdv: dsdv::Config = " DSDV.";
    /// Dynamic source routing (RFC 4728), after the RFC or after ns-2.
    Dsr(Box<Dsr>): Dsr = "dsr", settings dsr: dsr::Config = " DSR.";
    /// Fewest hops, known to every node from the start; no messages.
    ShortestPath(Static): Static = "shortest_path";
    /// The routes that the scenario lists; no messages.
    Fixed(Static): Static = "fixed", settings fixed: fixed::Config = " Fixed routes.";
}

/// What a router may use.
pub struct Cx<'a> {
    /// Now.
    pub now: Time,
    /// Whose router it is.
    pub node: NodeId,
    /// The packets.
    pub slab: &'a mut Slab,
    /// Its random numbers.
    pub rng: &'a mut Stream,
    /// What it says.
    pub out: &'a mut Vec<Out>,
}

/// What a router says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Send the packet to its next hop, after a while.
    Send {
        /// The packet; its next hop is set.
        packet: PacketId,
        /// How long to wait before.
        delay: Span,
    },
    /// Drop the packet.
    Drop {
        /// The packet.
        packet: PacketId,
        /// Why.
        reason: Reason,
    },
    /// Give back the packets in the interface queue that wait for this neighbour.
    Return {
        /// The neighbour.
        next_hop: NodeId,
    },
    /// Drop the packets in the interface queue that wait for this neighbour.
    Purge {
        /// The neighbour.
        next_hop: NodeId,
    },
    /// Tell the senders of this node that the route to a destination is broken.
    RouteLost {
        /// The destination.
        destination: NodeId,
        /// This node thought until now that the route was there; otherwise more packets were lost on one that it knew to be
        /// broken.
        anew: bool,
    },
    /// This node has learnt from others that a link is broken: routes over it are gone, and there may be none left.
    RoutesCut,
}

/// A route that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoute {
    /// Where it leads.
    pub destination: NodeId,
    /// Over which neighbour.
    pub next_hop: NodeId,
    /// Hops to the destination.
    pub hops: u32,
}

counters! {
    /// What routing costs at a node, whatever the protocol. Counted is what a router hands down, whether or not it gets past
    /// the queue.
    pub struct Overhead {
        /// Messages of the routing protocol sent, those passed on included.
        routing_packets_sent,
        /// Their bytes at the network layer \[B\].
        routing_bytes_sent,
        /// Bytes that the routing protocol has added to the packets of others, at each hop: source routes \[B\].
        routing_header_bytes,
    }
}

impl Overhead {
    /// Sends a packet or message, and counts what it costs.
    fn send(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        let p = &cx.slab[packet];
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

/// Counters of a router, in the order of [`COLUMNS`]; what its protocol does not count is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted([u64; COLUMNS.len()]);

impl Default for Counted {
    fn default() -> Counted {
        Counted([0; COLUMNS.len()])
    }
}

impl Counted {
    /// Adds counters of one list.
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

    /// The counter of this name; 0 where no protocol counts it.
    pub fn get(&self, name: &str) -> u64 {
        COLUMNS.iter().zip(self.0).find(|(c, _)| c.0 == name).map_or(0, |(_, value)| value)
    }

    /// What was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Counted) -> Counted {
        Counted(std::array::from_fn(|i| self.0[i] - earlier.0[i]))
    }

    /// Adds the counters of another.
    pub fn add(&mut self, other: &Counted) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Losses of a packet on which the routing protocol acted as if the neighbour were gone.
    pub fn route_failures(&self) -> u64 {
        self.get("local_repairs") + self.get("links_deleted")
    }
}

/// A message of this node.
fn message(body: Body, bytes: u32, destination: NodeId, ttl: u8, cx: &mut Cx<'_>) -> PacketId {
    cx.slab.create(Packet {
        next_hop: NodeId::BROADCAST,
        ttl,
        ecn: cx.slab.message_ecn,
        ..Packet::new(body, bytes, cx.node, destination, cx.now)
    })
}

impl Router {
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

    /// Tells if the router is given back a packet of this kind when the MAC gives the packet up. `breaks_links`: setting
    /// of the flow of data.
    pub fn takes_back(&self, kind: Kind, breaks_links: bool) -> bool {
        match kind {
            Kind::Arp => false,
            Kind::Routing => self.saves_messages(),
            Kind::Data => breaks_links || self.hears_of_all(),
            Kind::Ack => true,
        }
    }
}
