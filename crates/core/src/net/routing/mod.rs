//! Routing protocols: which neighbour a packet goes to next.

pub mod aodv;
pub mod crossing;
pub mod dsdv;
pub mod dsr;
pub mod fixed;

use crate::packet::{Body, FlowId, HeaderId, NodeId, Packet, PacketId, Reason, Slab};
use crate::rng::Stream;
use crate::setting::limit::at_least;
use crate::unit::{Span, Time};
use crate::{keywords, settings};
use aodv::Aodv;
use dsdv::Dsdv;
use dsr::Dsr;
use fixed::{Routes, Static};
use std::sync::Arc;

keywords! {
    /// Routing protocols.
    pub enum Protocol {
        /// Ad hoc on-demand distance vector (RFC 3561), after ns-2 or after the RFC by its settings.
        Aodv = "aodv",
        /// Destination-sequenced distance vector (Perkins and Bhagwat 1994), after its authors or after ns-2.
        Dsdv = "dsdv",
        /// Dynamic source routing (RFC 4728), after the RFC or after ns-2.
        Dsr = "dsr",
        /// Fewest hops, known to every node from the start; no messages.
        ShortestPath = "shortest_path",
        /// The routes that the scenario lists; no messages.
        Fixed = "fixed",
    }
}

impl Protocol {
    /// Whether routes over the radio are learnt from messages, and not known from the start.
    pub fn learns_routes(self) -> bool {
        match self {
            Protocol::Aodv | Protocol::Dsdv | Protocol::Dsr => true,
            Protocol::ShortestPath | Protocol::Fixed => false,
        }
    }
}

settings! {
    /// Routing.
    pub struct Config {
        /// Routing protocol.
        pub protocol: Protocol = Protocol::Aodv,
        /// Hops a packet may make (TTL).
        pub ttl: u8 = 64 => at_least(1),
        /// Whether messages of routing are ECN-capable, so that a queue that marks them does not drop them; nobody reacts to
        /// a mark on them.
        pub ecn: bool = false,
        /// AODV.
        pub aodv: aodv::Config = aodv::Config::default()
            ; used when |c| c.protocol == Protocol::Aodv, else "`routing.protocol` is not `aodv`",
        /// DSDV.
        pub dsdv: dsdv::Config = dsdv::Config::default()
            ; used when |c| c.protocol == Protocol::Dsdv, else "`routing.protocol` is not `dsdv`",
        /// DSR.
        pub dsr: dsr::Config = dsr::Config::default()
            ; used when |c| c.protocol == Protocol::Dsr, else "`routing.protocol` is not `dsr`",
        /// Fixed routes.
        pub fixed: fixed::Config = fixed::Config::default()
            ; used when |c| c.protocol == Protocol::Fixed, else "`routing.protocol` is not `fixed`",
    }
}

impl Config {
    /// The most hops over the radio to which a route can be found, and the setting that says so.
    pub fn reach(&self) -> (&'static str, u8) {
        match self.protocol {
            Protocol::Aodv => ("routing.aodv.net_diameter", self.aodv.net_diameter),
            Protocol::Dsr if self.dsr.discovery_hop_limit <= self.ttl => {
                ("routing.dsr.discovery_hop_limit", self.dsr.discovery_hop_limit)
            }
            Protocol::Dsr | Protocol::Dsdv | Protocol::ShortestPath | Protocol::Fixed => ("routing.ttl", self.ttl),
        }
    }

    /// Periods of the timers that every node with a radio keeps, whatever happens.
    pub fn periods(&self) -> impl Iterator<Item = Span> {
        let of_aodv = (self.protocol == Protocol::Aodv).then(|| self.aodv.periods());
        let of_dsdv = (self.protocol == Protocol::Dsdv).then(|| self.dsdv.periods());
        of_aodv.into_iter().flatten().chain(of_dsdv.into_iter().flatten())
    }
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
    },
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

/// Counters of a router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Route requests made.
    pub rreq_originated: u64,
    /// Route requests passed on.
    pub rreq_forwarded: u64,
    /// Route replies made.
    pub rrep_originated: u64,
    /// Route errors sent, those passed on included.
    pub rerr_sent: u64,
    /// Updates of DSDV sent.
    pub updates_sent: u64,
    /// Lost packets that were kept for a repair of their route.
    pub local_repairs: u64,
    /// Neighbours declared lost because a packet to them was given up.
    pub links_deleted: u64,
    /// Route searches that began with a packet for which there was no route.
    pub discoveries: u64,
}

/// A message of this node.
fn message(body: Body, bytes: u32, destination: NodeId, ttl: u8, cx: &mut Cx<'_>) -> PacketId {
    cx.slab.create(Packet {
        body,
        born: cx.now,
        bytes,
        overhead: 0,
        source: cx.node,
        destination,
        goal: destination,
        next_hop: NodeId::BROADCAST,
        flow: FlowId::NONE,
        ttl,
        hops: 0,
        ecn: cx.slab.message_ecn,
        urgent: false,
        halfway: false,
        header: HeaderId::NONE,
    })
}

/// The settings that all routers of a run share.
#[derive(Clone, Debug)]
pub struct Shared {
    aodv: Arc<aodv::Config>,
    dsdv: Arc<dsdv::Config>,
    dsr: Arc<dsr::Config>,
}

impl Shared {
    /// From the settings of routing.
    pub fn new(cfg: &Config) -> Shared {
        Shared { aodv: Arc::new(cfg.aodv.clone()), dsdv: Arc::new(cfg.dsdv.clone()), dsr: Arc::new(cfg.dsr.clone()) }
    }
}

/// The router of a node.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "in place: what a broadcast touches at each receiver is one cache line less"
)]
pub enum Router {
    /// AODV.
    Aodv(Aodv),
    /// DSDV.
    Dsdv(Dsdv),
    /// DSR.
    Dsr(Box<Dsr>),
    /// Routes that never change.
    Static(Static),
}

impl Router {
    /// The router of a node, with its random numbers; `routes` are needed by the protocols that know them from the start.
    pub fn new(cfg: &Config, shared: &Shared, routes: Option<&Routes>, rng: &mut Stream) -> Router {
        match cfg.protocol {
            Protocol::Aodv => Router::Aodv(Aodv::new(&shared.aodv)),
            Protocol::Dsdv => {
                let first = Span((rng.uniform() * cfg.dsdv.first_update.0 as f64) as u64);
                Router::Dsdv(Dsdv::new(&shared.dsdv, Time::ZERO + first))
            }
            Protocol::Dsr => {
                let (least, most) = (cfg.dsr.check_min, cfg.dsr.check_max);
                let more = Span((rng.uniform() * (most.max(least) - least).0 as f64) as u64);
                Router::Dsr(Box::new(Dsr::new(&shared.dsr, Time::ZERO + least + more)))
            }
            Protocol::ShortestPath | Protocol::Fixed => {
                Router::Static(Static::new(routes.expect("static routes are computed at set-up").clone()))
            }
        }
    }

    /// The router of a node that has no part in the routing protocol.
    pub fn none() -> Router {
        Router::Static(Static::new(Routes::default()))
    }

    /// A packet of this node, or one to be passed on.
    pub fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.route(packet, cx),
            Router::Dsdv(r) => r.route(packet, cx),
            Router::Dsr(r) => r.route(packet, cx),
            Router::Static(r) => r.route(packet, cx),
        }
    }

    /// The neighbour to which packets for a destination go, where that never changes.
    pub fn next_hop(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        match self {
            Router::Aodv(_) | Router::Dsdv(_) | Router::Dsr(_) => None,
            Router::Static(r) => r.next_hop(at, to),
        }
    }

    /// Whether a message of the routing protocol means nothing to this node, as far as can be told at a glance.
    #[inline]
    pub fn ignores(&self, packet: PacketId, slab: &Slab, now: Time) -> bool {
        match self {
            Router::Aodv(r) => r.ignores(packet, slab, now),
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => false,
        }
    }

    /// A message of the routing protocol was received; it ends here or is passed on.
    pub fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.on_message(packet, cx),
            Router::Dsdv(r) => r.on_message(packet, cx),
            Router::Dsr(r) => r.on_message(packet, cx),
            Router::Static(_) => unreachable!("static routing has no messages"),
        }
    }

    /// The MAC has given up a packet, or its neighbour's address cannot be found.
    pub fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.on_link_failure(packet, cx),
            Router::Dsdv(r) => r.on_link_failure(packet, cx),
            Router::Dsr(r) => r.on_link_failure(packet, cx),
            Router::Static(_) => cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit }),
        }
    }

    /// The node is switched off: packets that wait are lost, and what has been learnt by messages.
    pub fn switch_off(&mut self, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.switch_off(cx),
            Router::Dsdv(r) => r.switch_off(cx),
            Router::Dsr(r) => r.switch_off(cx),
            Router::Static(_) => {}
        }
    }

    /// The node is switched on again.
    pub fn switch_on(&mut self, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.switch_on(cx.now),
            Router::Dsdv(r) => r.switch_on(cx),
            Router::Dsr(r) => r.switch_on(cx),
            Router::Static(_) => {}
        }
    }

    /// When the router wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Router::Aodv(r) => r.deadline(),
            Router::Dsdv(r) => r.deadline(),
            Router::Dsr(r) => r.deadline(),
            Router::Static(_) => Time::NEVER,
        }
    }

    /// Its deadline has come.
    pub fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.on_deadline(cx),
            Router::Dsdv(r) => r.on_deadline(cx),
            Router::Dsr(r) => r.on_deadline(cx),
            Router::Static(_) => {}
        }
    }

    /// Counters.
    pub fn counters(&self) -> Counters {
        match self {
            Router::Aodv(r) => *r.counters(),
            Router::Dsdv(r) => *r.counters(),
            Router::Dsr(r) => *r.counters(),
            Router::Static(_) => Counters::default(),
        }
    }

    /// Whether packets for this destination wait for a route.
    pub fn holds(&self, to: NodeId, slab: &Slab) -> bool {
        match self {
            Router::Aodv(r) => r.holds(to, slab),
            Router::Dsdv(r) => r.holds(to, slab),
            Router::Dsr(r) => r.holds(to, slab),
            Router::Static(_) => false,
        }
    }

    /// Whether it wants to see frames for other nodes.
    pub fn is_promiscuous(&self) -> bool {
        match self {
            Router::Dsr(r) => r.is_promiscuous(),
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => false,
        }
    }

    /// A frame for another node was read; the packet is not this node's.
    pub fn on_overheard(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if let Router::Dsr(r) = self {
            r.on_overheard(packet, cx);
        }
    }

    /// Whether its own messages, too, are given back when the MAC gives them up.
    pub fn saves_messages(&self) -> bool {
        match self {
            Router::Dsr(_) => true,
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => false,
        }
    }

    /// Whether it hears of all data that the MAC gives up. ns-2's AODV does not, because it has a list of the kinds of packets
    /// that are data, and some are missing (`DATA_PACKET`).
    pub fn hears_of_all(&self) -> bool {
        match self {
            Router::Aodv(_) => false,
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => true,
        }
    }

    /// A packet was taken out of the queue as [`Out::Return`] asks.
    pub fn on_returned(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Dsr(r) => r.on_returned(packet, cx),
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => unreachable!("it asks for no packets"),
        }
    }

    /// A packet has reached the node to which its route leads.
    #[inline]
    pub fn on_arrival(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if let Router::Dsr(r) = self {
            r.on_arrival(packet, cx);
        }
    }

    /// Whether its routes come and go.
    pub fn learns(&self) -> bool {
        match self {
            Router::Aodv(_) | Router::Dsdv(_) | Router::Dsr(_) => true,
            Router::Static(_) => false,
        }
    }

    /// The routes that this node can use now, by destination.
    pub fn routes(&self, at: NodeId, now: Time, out: &mut Vec<KnownRoute>) {
        match self {
            Router::Aodv(r) => out.extend(r.routes()),
            Router::Dsdv(r) => out.extend(r.routes()),
            Router::Dsr(r) => r.routes(now, out),
            Router::Static(r) => out.extend(r.routes(at)),
        }
    }

    /// Memory of what the router has learnt, about \[B\].
    pub fn memory(&self) -> usize {
        match self {
            Router::Aodv(r) => r.memory(),
            Router::Dsdv(r) => r.memory(),
            Router::Dsr(r) => r.memory(),
            Router::Static(_) => 0,
        }
    }

    /// Packets that wait for a route.
    pub fn waiting(&self) -> usize {
        match self {
            Router::Aodv(r) => r.waiting(),
            Router::Dsdv(r) => r.waiting(),
            Router::Dsr(r) => r.waiting(),
            Router::Static(_) => 0,
        }
    }
}
