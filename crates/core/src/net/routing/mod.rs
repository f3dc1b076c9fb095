//! Routing protocols: choice of the next hop of a packet.

pub mod aodv;
pub mod crossing;
pub mod dsdv;
pub mod dsr;
pub mod fixed;

use crate::count::{self, Field};
use crate::packet::{Body, FlowId, HeaderId, Kind, NodeId, Packet, PacketId, Reason, Slab};
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
        /// Ad hoc on-demand distance vector (RFC 3561); the settings choose between the RFC and ns-2.
        Aodv = "aodv",
        /// Destination-sequenced distance vector (Perkins and Bhagwat 1994); the settings choose between its authors
        /// and ns-2.
        Dsdv = "dsdv",
        /// Dynamic source routing (RFC 4728); the settings choose between the RFC and ns-2.
        Dsr = "dsr",
        /// Fewest hops, known to every node from the start; no messages.
        ShortestPath = "shortest_path",
        /// Routes listed in the scenario; no messages.
        Fixed = "fixed",
    }
}

impl Protocol {
    /// Tells if routes over the radio are learnt from messages, not known from the start.
    pub fn learns_routes(self) -> bool {
        match self {
            Protocol::Aodv | Protocol::Dsdv | Protocol::Dsr => true,
            Protocol::ShortestPath | Protocol::Fixed => false,
        }
    }

    /// Reason why the report of packets given up by the MAC cannot be configured: the protocol hears of all, or ignores
    /// them. `None` if it does not hear of all.
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
    /// Settings of routing.
    pub struct Config {
        /// Routing protocol.
        pub protocol: Protocol = Protocol::Aodv,
        /// Largest number of hops of a packet (TTL).
        pub ttl: u8 = 64 => at_least(1),
        /// Makes routing messages ECN-capable, so that a queue that marks packets does not drop them; no node reacts to
        /// a mark on them.
        pub ecn: bool = false,
        /// Settings of AODV.
        pub aodv: aodv::Config = aodv::Config::default()
            ; used when |c| c.protocol == Protocol::Aodv, else "`routing.protocol` is not `aodv`",
        /// Settings of DSDV.
        pub dsdv: dsdv::Config = dsdv::Config::default()
            ; used when |c| c.protocol == Protocol::Dsdv, else "`routing.protocol` is not `dsdv`",
        /// Settings of DSR.
        pub dsr: dsr::Config = dsr::Config::default()
            ; used when |c| c.protocol == Protocol::Dsr, else "`routing.protocol` is not `dsr`",
        /// Settings of fixed routes.
        pub fixed: fixed::Config = fixed::Config::default()
            ; used when |c| c.protocol == Protocol::Fixed, else "`routing.protocol` is not `fixed`",
    }
}

impl Config {
    /// Longest radio route that can be found, in hops, and the setting that limits it.
    pub fn reach(&self) -> (&'static str, u8) {
        match self.protocol {
            Protocol::Aodv => ("routing.aodv.net_diameter", self.aodv.net_diameter),
            Protocol::Dsr if self.dsr.discovery_hop_limit <= self.ttl => {
                ("routing.dsr.discovery_hop_limit", self.dsr.discovery_hop_limit)
            }
            Protocol::Dsr | Protocol::Dsdv | Protocol::ShortestPath | Protocol::Fixed => ("routing.ttl", self.ttl),
        }
    }

    /// Settings of source routes, if packets carry their routes.
    pub fn source_routes(&self) -> Option<&dsr::Config> {
        match self.protocol {
            Protocol::Dsr => Some(&self.dsr),
            Protocol::Aodv | Protocol::Dsdv | Protocol::ShortestPath | Protocol::Fixed => None,
        }
    }

    /// Memory of the state that a router learns among this number of nodes, beyond routes in use \[B\].
    pub fn learnt_bytes(&self, nodes: f64) -> f64 {
        match self.protocol {
            Protocol::Dsdv => nodes * dsdv::ENTRY_BYTES,
            Protocol::Dsr => self.dsr.cache_bytes() as f64,
            Protocol::Aodv | Protocol::ShortestPath | Protocol::Fixed => 0.0,
        }
    }

    /// Interval at which every node advertises all nodes, if it does.
    pub fn tells_all_every(&self) -> Option<Span> {
        match self.protocol {
            Protocol::Dsdv => Some(self.dsdv.update_interval),
            Protocol::Aodv | Protocol::Dsr | Protocol::ShortestPath | Protocol::Fixed => None,
        }
    }

    /// Setting that allows routes over links that only broadcasts pass, without ACKs in return; the name of the
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

    /// Periods of the timers that run at every node with a radio.
    pub fn periods(&self) -> impl Iterator<Item = Span> {
        let of_aodv = (self.protocol == Protocol::Aodv).then(|| self.aodv.periods());
        let of_dsdv = (self.protocol == Protocol::Dsdv).then(|| self.dsdv.periods());
        of_aodv.into_iter().flatten().chain(of_dsdv.into_iter().flatten())
    }
}

/// Context of a call.
pub struct Cx<'a> {
    /// Current time.
    pub now: Time,
    /// Node of the router.
    pub node: NodeId,
    /// Packet pool.
    pub slab: &'a mut Slab,
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
    /// Drops a packet.
    Drop {
        /// Packet to drop.
        packet: PacketId,
        /// Reason for the drop.
        reason: Reason,
    },
    /// Returns the packets in the interface queue for this neighbour to the router.
    Return {
        /// Lost neighbour.
        next_hop: NodeId,
    },
    /// Drops the packets in the interface queue for this neighbour.
    Purge {
        /// Lost neighbour.
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

/// A usable route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoute {
    /// Destination of the route.
    pub destination: NodeId,
    /// Next hop.
    pub next_hop: NodeId,
    /// Hops to the destination.
    pub hops: u32,
}

counters! {
    /// Routing overhead of a node, for any protocol. Counts all packets that a router hands down, even if the queue
    /// drops them.
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
    /// Sends a packet or message, and counts its overhead.
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

/// Counters of each protocol; a name in several lists is one column.
pub const COUNTED: [(&str, &[Field]); 3] =
    [("aodv", aodv::Counters::FIELDS), ("dsdv", dsdv::Counters::FIELDS), ("dsr", dsr::Counters::FIELDS)];

const LISTS: [&[Field]; 4] = [Overhead::FIELDS, COUNTED[0].1, COUNTED[1].1, COUNTED[2].1];

/// Counters of all protocols.
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

    /// Counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Counted) -> Counted {
        Counted(std::array::from_fn(|i| self.0[i] - earlier.0[i]))
    }

    /// Adds the counters of another router.
    pub fn add(&mut self, other: &Counted) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Number of packet losses after which the routing protocol treated the neighbour as lost.
    pub fn route_failures(&self) -> u64 {
        self.get("local_repairs") + self.get("links_deleted")
    }
}

/// Creates a message of this node.
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
        tried: false,
        halfway: false,
        header: HeaderId::NONE,
    })
}

/// Settings shared by all routers of a run.
#[derive(Clone, Debug)]
pub struct Shared {
    aodv: Arc<aodv::Config>,
    dsdv: Arc<dsdv::Config>,
    dsr: Arc<dsr::Config>,
}

impl Shared {
    /// Shares the settings of routing.
    pub fn new(cfg: &Config) -> Shared {
        Shared { aodv: Arc::new(cfg.aodv.clone()), dsdv: Arc::new(cfg.dsdv.clone()), dsr: Arc::new(cfg.dsr.clone()) }
    }
}

/// Router of a node.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "in place: what a broadcast touches at each receiver is one cache line less"
)]
pub enum Router {
    /// AODV router.
    Aodv(Aodv),
    /// DSDV router.
    Dsdv(Dsdv),
    /// DSR router.
    Dsr(Box<Dsr>),
    /// Router with routes that never change.
    Static(Static),
}

impl Router {
    /// Router of a node, with its random stream; `routes` are needed by protocols that know them from the start.
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

    /// Router of a node that does not take part in routing.
    pub fn none() -> Router {
        Router::Static(Static::new(Routes::default()))
    }

    /// Routes a packet of this node, or one to be forwarded.
    pub fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.route(packet, cx),
            Router::Dsdv(r) => r.route(packet, cx),
            Router::Dsr(r) => r.route(packet, cx),
            Router::Static(r) => r.route(packet, cx),
        }
    }

    /// Next hop of packets for a destination, if that never changes.
    pub fn next_hop(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        match self {
            Router::Aodv(_) | Router::Dsdv(_) | Router::Dsr(_) => None,
            Router::Static(r) => r.next_hop(at, to),
        }
    }

    /// Tells by a quick test if this node ignores a message of the routing protocol; may return false for an ignored
    /// one.
    #[inline]
    pub fn ignores(&self, packet: PacketId, slab: &Slab, now: Time) -> bool {
        match self {
            Router::Aodv(r) => r.ignores(packet, slab, now),
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => false,
        }
    }

    /// Handles a received message of the routing protocol, which ends here or is forwarded.
    pub fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.on_message(packet, cx),
            Router::Dsdv(r) => r.on_message(packet, cx),
            Router::Dsr(r) => r.on_message(packet, cx),
            Router::Static(_) => unreachable!("static routing has no messages"),
        }
    }

    /// The MAC has given up a packet, or ARP has failed for its next hop.
    pub fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.on_link_failure(packet, cx),
            Router::Dsdv(r) => r.on_link_failure(packet, cx),
            Router::Dsr(r) => r.on_link_failure(packet, cx),
            Router::Static(_) => cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit }),
        }
    }

    /// Switches the node off: waiting packets and everything learnt from messages are lost.
    pub fn switch_off(&mut self, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.switch_off(cx),
            Router::Dsdv(r) => r.switch_off(cx),
            Router::Dsr(r) => r.switch_off(cx),
            Router::Static(_) => {}
        }
    }

    /// Switches the node on again.
    pub fn switch_on(&mut self, cx: &mut Cx<'_>) {
        match self {
            Router::Aodv(r) => r.switch_on(cx.now),
            Router::Dsdv(r) => r.switch_on(cx),
            Router::Dsr(r) => r.switch_on(cx),
            Router::Static(_) => {}
        }
    }

    /// Next timer of the router.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Router::Aodv(r) => r.deadline(),
            Router::Dsdv(r) => r.deadline(),
            Router::Dsr(r) => r.deadline(),
            Router::Static(_) => Time::NEVER,
        }
    }

    /// Handles the timer.
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

    /// Tells if packets for this destination wait for a route.
    pub fn holds(&self, to: NodeId, slab: &Slab) -> bool {
        match self {
            Router::Aodv(r) => r.holds(to, slab),
            Router::Dsdv(r) => r.holds(to, slab),
            Router::Dsr(r) => r.holds(to, slab),
            Router::Static(_) => false,
        }
    }

    /// Tells if the router needs frames for other nodes.
    pub fn is_promiscuous(&self) -> bool {
        match self {
            Router::Dsr(r) => r.is_promiscuous(),
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => false,
        }
    }

    /// A frame for another node was decoded; the packet belongs to that node.
    pub fn on_overheard(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if let Router::Dsr(r) = self {
            r.on_overheard(packet, cx);
        }
    }

    /// Tells if the router's own messages, too, are returned when the MAC gives them up.
    pub fn saves_messages(&self) -> bool {
        match self {
            Router::Dsr(_) => true,
            Router::Aodv(_) | Router::Dsdv(_) | Router::Static(_) => false,
        }
    }

    /// The MAC has given up one of the router's own messages that is not returned.
    pub fn on_message_lost(&mut self, packet: PacketId, slab: &Slab, now: Time) {
        match self {
            Router::Aodv(r) => r.on_message_lost(packet, slab, now),
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => {}
        }
    }

    /// Tells if the router is informed of all data that the MAC gives up. ns-2's AODV is not, because its list of data
    /// packet kinds is incomplete (`DATA_PACKET`).
    pub fn hears_of_all(&self) -> bool {
        match self {
            Router::Aodv(_) => false,
            Router::Dsdv(_) | Router::Dsr(_) | Router::Static(_) => true,
        }
    }

    /// Takes back a packet from the queue, as requested by [`Out::Return`].
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

    /// Tells if routes change during the run.
    pub fn learns(&self) -> bool {
        match self {
            Router::Aodv(_) | Router::Dsdv(_) | Router::Dsr(_) => true,
            Router::Static(_) => false,
        }
    }

    /// Usable routes of this node by destination.
    pub fn routes(&self, at: NodeId, now: Time, out: &mut Vec<KnownRoute>) {
        match self {
            Router::Aodv(r) => out.extend(r.routes()),
            Router::Dsdv(r) => out.extend(r.routes()),
            Router::Dsr(r) => r.routes(now, out),
            Router::Static(r) => out.extend(r.routes(at)),
        }
    }

    /// Tells if this node has a usable route to a destination.
    pub fn has_route(&self, to: NodeId, now: Time) -> bool {
        match self {
            Router::Aodv(r) => r.routes().any(|route| route.destination == to),
            Router::Dsdv(r) => r.routes().any(|route| route.destination == to),
            Router::Dsr(r) => r.has_route(to, now),
            Router::Static(_) => true,
        }
    }

    /// Approximate memory of the learnt state \[B\].
    pub fn memory(&self) -> usize {
        match self {
            Router::Aodv(r) => r.memory(),
            Router::Dsdv(r) => r.memory(),
            Router::Dsr(r) => r.memory(),
            Router::Static(_) => 0,
        }
    }

    /// Number of packets that wait for a route.
    pub fn waiting(&self) -> usize {
        match self {
            Router::Aodv(r) => r.waiting(),
            Router::Dsdv(r) => r.waiting(),
            Router::Dsr(r) => r.waiting(),
            Router::Static(_) => 0,
        }
    }
}
