//! Routing protocols: which neighbour a packet goes to next.

pub mod aodv;
pub mod crossing;
pub mod dsdv;
pub mod dsr;
pub mod fixed;

use crate::count::{self, Field};
use crate::packet::{Body, Kind, NodeId, Packet, PacketId, Reason, Slab};
use crate::rng::Stream;
use crate::setting::limit::at_least;
use crate::unit::{Span, Time};
use crate::{counters, keywords, settings};
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

    /// Why no setting can say that it hears of packets that the MAC gives up: it hears of all, or makes nothing of it.
    /// `None`: it does not hear of all.
    pub fn hears_of_all(self) -> Option<&'static str> {
        match self {
            Protocol::Aodv => None,
            Protocol::Dsdv | Protocol::Dsr | Protocol::ShortestPath | Protocol::Fixed => {
                Some("`routing.protocol` is not `aodv`")
            }
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

    /// The settings of source routes, if packets carry their routes.
    pub fn source_routes(&self) -> Option<&dsr::Config> {
        match self.protocol {
            Protocol::Dsr => Some(&self.dsr),
            Protocol::Aodv | Protocol::Dsdv | Protocol::ShortestPath | Protocol::Fixed => None,
        }
    }

    /// Memory of what a router learns among this number of nodes, beyond the routes that are in use \[B\].
    pub fn learnt_bytes(&self, nodes: f64) -> f64 {
        match self.protocol {
            Protocol::Dsdv => nodes * dsdv::ENTRY_BYTES,
            Protocol::Dsr => self.dsr.cache_bytes() as f64,
            Protocol::Aodv | Protocol::ShortestPath | Protocol::Fixed => 0.0,
        }
    }

    /// How often every node tells its neighbours of all nodes, if it does.
    pub fn tells_all_every(&self) -> Option<Span> {
        match self.protocol {
            Protocol::Dsdv => Some(self.dsdv.update_interval),
            Protocol::Aodv | Protocol::Dsr | Protocol::ShortestPath | Protocol::Fixed => None,
        }
    }

    /// The setting by which routes go over links that only broadcasts pass, and no ACK comes back over; the name of the
    /// protocol, and advice.
    pub fn trusts_broadcasts(&self) -> Option<(&'static str, &'static str, &'static str)> {
        match self.protocol {
            Protocol::Aodv if self.aodv.blacklist_timeout.is_none() => Some((
                "routing.aodv.blacklist_timeout",
                "AODV without a blacklist",
                "set `routing.aodv.blacklist_timeout`, e.g. to \"5600 ms\", or let the nodes hear each other",
            )),
            Protocol::Dsdv => Some((
                "routing.protocol",
                "DSDV",
                "choose a protocol that notices that no ACK comes, such as \"aodv\", or let the nodes hear each other",
            )),
            Protocol::Aodv | Protocol::Dsr | Protocol::ShortestPath | Protocol::Fixed => None,
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

/// What each protocol counts; a name in several lists is one column.
pub const COUNTED: [(&str, &[Field]); 3] =
    [("aodv", aodv::Counters::FIELDS), ("dsdv", dsdv::Counters::FIELDS), ("dsr", dsr::Counters::FIELDS)];

const LISTS: [&[Field]; 4] = [Overhead::FIELDS, COUNTED[0].1, COUNTED[1].1, COUNTED[2].1];

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

    /// Counters of the router.
    pub fn counted(&self) -> Counted {
        let mut all = Counted::default();
        let mut count = |overhead: &Overhead, fields: &[Field], values: &[u64]| {
            all.count(Overhead::FIELDS, &overhead.values());
            all.count(fields, values);
        };
        match self {
            Router::Aodv(r) => count(r.overhead(), aodv::Counters::FIELDS, &r.counters().values()),
            Router::Dsdv(r) => count(r.overhead(), dsdv::Counters::FIELDS, &r.counters().values()),
            Router::Dsr(r) => count(r.overhead(), dsr::Counters::FIELDS, &r.counters().values()),
            Router::Static(_) => {}
        }
        all
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

    /// Whether its own messages, too, are given back when the MAC gives them up.
    fn saves_messages(&self) -> bool {
        match self {
            Router::Dsr(_) => true,
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => false,
        }
    }

    /// One of its own messages, which it does not get back, was given up by the MAC.
    pub fn on_message_lost(&mut self, packet: PacketId, slab: &Slab, now: Time) {
        match self {
            Router::Aodv(r) => r.on_message_lost(packet, slab, now),
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => {}
        }
    }

    /// Whether it hears of all data that the MAC gives up. ns-2's AODV does not, because it has a list of the kinds of packets
    /// that are data, and some are missing (`DATA_PACKET`).
    fn hears_of_all(&self) -> bool {
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

    /// Whether this node can use a route to a destination now.
    pub fn has_route(&self, to: NodeId, now: Time) -> bool {
        match self {
            Router::Aodv(r) => r.routes().any(|route| route.destination == to),
            Router::Dsdv(r) => r.routes().any(|route| route.destination == to),
            Router::Dsr(r) => r.has_route(to, now),
            Router::Static(_) => true,
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
