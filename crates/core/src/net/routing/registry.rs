//! Registry of routing protocols: each is a folder with a [`Routing`], and one line in the list of `mod.rs`.

use super::fixed::Routes;
use super::{Config, Counted, Cx, KnownRoute, Shared, dsr};
use crate::count::Field;
use crate::packet::{NodeId, PacketId, PacketPool};
use crate::rng::Stream;
use crate::unit::{Span, Time};

/// The router of a node. Its methods are called through the enum that the list declares, without virtual calls.
pub(super) trait Routing: Sized {
    /// Routes over the radio are learned from messages, and not known from the start.
    const LEARNS: bool = true;
    /// The router is notified of all data that the MAC gives up. ns-2's AODV is not, because its list of the kinds of
    /// data packets (`DATA_PACKET`) is incomplete.
    const HEARS_OF_ALL: bool = true;
    /// The router gets its own messages back, too, when the MAC gives them up.
    const SAVES_MESSAGES: bool = false;
    /// The router takes packets for a lost neighbor out of the queue.
    const PURGES: bool = Self::LEARNS;
    /// Next hops have addresses of the link layer, which need no ARP, and data have headers of the protocol below IP.
    const BELOW_IP: bool = false;
    /// Nodes find the gateways to a network, by messages or from the start.
    const FINDS_GATEWAYS: bool = false;
    /// Counters of the protocol, with their meanings.
    const FIELDS: &'static [Field] = &[];

    // ---- settings ----

    /// The most hops over the radio that data with this TTL can go on a route that is found, and the setting that says
    /// so.
    fn reach(_cfg: &Config, ttl: u8) -> (&'static str, u8) {
        ("net.ttl", ttl)
    }

    /// The settings of source routes, if packets carry their routes.
    fn source_routes(_cfg: &Config) -> Option<&dsr::Config> {
        None
    }

    /// Memory of the state that a router learns among this number of nodes, of which some are its neighbors, without the
    /// routes in use \[B\].
    fn learned_bytes(_cfg: &Config, _nodes: f64, _neighbors: f64) -> f64 {
        0.0
    }

    /// Interval at which every node announces all nodes to its neighbors, if it does.
    fn tells_all_every(_cfg: &Config) -> Option<Span> {
        None
    }

    /// The setting that lets routes use links over which broadcasts arrive but no ACK returns; the name of the
    /// protocol, and advice.
    fn trusts_broadcasts(_cfg: &Config) -> Option<(&'static str, &'static str, &'static str)> {
        None
    }

    /// Periods of the timers that every node with a radio keeps, whatever happens.
    fn periods(_cfg: &Config) -> Vec<Span> {
        Vec::new()
    }

    // ---- the router ----

    /// The router of a node, with its random numbers; `routes` are those that are known from the start.
    fn start(shared: &Shared, routes: Option<&Routes>, rng: &mut Stream) -> Self;

    /// A packet of this node, or one to be passed on.
    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>);

    /// The neighbor to which packets for a destination go, where that never changes.
    fn next_hop(&self, _at: NodeId, _to: NodeId) -> Option<NodeId> {
        None
    }

    /// Returns true if a message of the routing protocol is without effect at this node, by an inexpensive test that
    /// may miss some such messages.
    fn ignores(&self, _packet: PacketId, _pool: &PacketPool, _now: Time) -> bool {
        false
    }

    /// A message of the routing protocol was received; it ends here or is passed on.
    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>);

    /// The MAC has given up a message of this router. The router does not get the message back.
    fn on_message_lost(&mut self, _packet: PacketId, _pool: &PacketPool, _now: Time) {}

    /// The MAC has given up a packet, or its neighbor's address cannot be found.
    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>);

    /// A packet was taken out of the queue as [`Out::Return`](super::Out::Return) asks.
    fn on_returned(&mut self, _packet: PacketId, _cx: &mut Cx<'_>) {
        unreachable!("it asks for no packets")
    }

    /// A packet has reached the node to which its route leads.
    fn on_arrival(&mut self, _packet: PacketId, _cx: &mut Cx<'_>) {}

    /// The router wants to see frames for other nodes.
    fn is_promiscuous(&self) -> bool {
        false
    }

    /// A frame for another node was read; the packet is not this node's.
    fn on_overheard(&mut self, _packet: PacketId, _cx: &mut Cx<'_>) {}

    /// This node is a gateway to a network from now on, or is none any more: wires lead to a node without a radio. A
    /// node that is switched off is none.
    fn serve(&mut self, _network: NodeId, _serves: bool, _cx: &mut Cx<'_>) {
        unreachable!("it finds no gateways")
    }

    /// Gateway through which this node sends to a network now, if the protocol gives it one for all networks. `None`: it
    /// has none now, or routes lead to the network itself.
    fn gateway(&mut self, _network: NodeId, _now: Time) -> Option<NodeId> {
        None
    }

    /// The node is switched off: waiting packets and learned state are lost.
    fn switch_off(&mut self, _cx: &mut Cx<'_>) {}

    /// The node is switched on again.
    fn switch_on(&mut self, _cx: &mut Cx<'_>) {}

    /// Time of the next call.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// The deadline of the router has come.
    fn on_deadline(&mut self, _cx: &mut Cx<'_>) {}

    /// The routes that this node can use now, by destination.
    fn routes(&self, at: NodeId, now: Time, out: &mut Vec<KnownRoute>);

    /// Returns true if this node can use a route to a destination now.
    fn has_route(&self, to: NodeId, now: Time) -> bool;

    /// Metric of the route to a destination over a neighbor as this node knows it, for tables, in the unit of the
    /// protocol. `None`: there is none, or the protocol does not compare routes by such a number.
    fn metric_over(&self, _at: NodeId, _to: NodeId, _via: NodeId) -> Option<f64> {
        None
    }

    /// Packets for this destination wait for a route.
    fn holds(&self, _to: NodeId, _pool: &PacketPool) -> bool {
        false
    }

    /// Packets that wait for a route.
    fn waiting(&self) -> usize {
        0
    }

    /// Adds the counters of the protocol to a sum over nodes.
    fn count(&self, _sum: &mut Counted) {}

    /// Approximate memory of the state that the router has learned \[B\].
    fn memory(&self) -> usize {
        0
    }
}

/// Declares the protocols: the word of each in a scenario, the settings of routing with those of each protocol, what
/// its routers share, the router of a node, and the calls of its methods. A line has the router, how it is held, the
/// word, and the settings of its own (`settings aodv: aodv::Config`).
macro_rules! protocols {
    (
        settings { $($fields:tt)* }
        $(
            $(#[doc = $doc:literal])*
            $Part:ident($Held:ty): $Type:ty = $word:literal $(, settings $group:ident: $Group:ty = $about:literal)?;
        )*
    ) => {
        $crate::dispatch::parts! {
            words {
                /// Routing protocols.
                Protocol;
                /// Routes over the radio are learned from messages, and not known from the start.
                learns_routes: bool = LEARNS;
                /// Nodes find the gateways to a network, by messages or from the start.
                finds_gateways: bool = FINDS_GATEWAYS;
                /// The router is notified of all packets that the MAC gives up, or ignores such notifications.
                hears_of_all: bool = HEARS_OF_ALL;
                /// The router takes packets for a lost neighbor out of the queue.
                purges: bool = PURGES;
                /// Next hops have addresses of the link layer, which need no ARP, and data have headers of the protocol
                /// below IP.
                is_below_ip: bool = BELOW_IP;
            }
            settings {
                /// Routing.
                Config by protocol = "routing.protocol" { $($fields)* }

                /// The most hops over the radio to which a route can be found, and the setting that says so.
                pub fn reach(&self, ttl: u8) -> (&'static str, u8);

                /// The settings of source routes, if packets carry their routes.
                pub fn source_routes(&self) -> Option<&dsr::Config>;

                /// Memory of the state that a router learns among this number of nodes, of which some are its neighbors,
                /// without the routes in use \[B\].
                pub fn learned_bytes(&self, nodes: f64, neighbors: f64) -> f64;

                /// Interval at which every node announces all nodes to its neighbors, if it does.
                pub fn tells_all_every(&self) -> Option<Span>;

                /// The setting that lets routes use links over which broadcasts arrive but no ACK returns; the name of the
                /// protocol, and advice.
                pub fn trusts_broadcasts(&self) -> Option<(&'static str, &'static str, &'static str)>;

                /// Periods of the timers that every node with a radio keeps, whatever happens.
                pub fn periods(&self) -> Vec<Span>;
            }
            enum {
                /// The router of a node.
                #[derive(Clone, Debug)]
                #[allow(
                    clippy::large_enum_variant,
                    reason = "in place: what a broadcast touches at each receiver is one cache line less"
                )]
                pub Router;
                /// Routes come and go.
                learns: bool = LEARNS;
                /// The router is notified of all data that the MAC gives up.
                hears_of_all: bool = HEARS_OF_ALL;
                /// The router gets its own messages back, too, when the MAC gives them up.
                saves_messages: bool = SAVES_MESSAGES;
            }
            dispatch {
                /// A packet of this node, or one to be passed on.
                pub fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// The neighbor to which packets for a destination go, where that never changes.
                pub fn next_hop(&self, at: NodeId, to: NodeId) -> Option<NodeId>;

                /// Returns true if a message of the routing protocol is without effect at this node, by an inexpensive test that
                /// may miss some such messages.
                #[inline]
                pub fn ignores(&self, packet: PacketId, pool: &PacketPool, now: Time) -> bool;

                /// A message of the routing protocol was received; it ends here or is passed on.
                pub fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// The MAC has given up a message of this router. The router does not get the message back.
                pub fn on_message_lost(&mut self, packet: PacketId, pool: &PacketPool, now: Time);

                /// The MAC has given up a packet, or its neighbor's address cannot be found.
                pub fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// A packet was taken out of the queue as [`Out::Return`] asks.
                pub fn on_returned(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// A packet has reached the node to which its route leads.
                #[inline]
                pub fn on_arrival(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// The router wants to see frames for other nodes.
                pub fn is_promiscuous(&self) -> bool;

                /// A frame for another node was read; the packet is not this node's.
                pub fn on_overheard(&mut self, packet: PacketId, cx: &mut Cx<'_>);

                /// This node is a gateway to a network from now on, or is none any more: wires lead to a node without a
                /// radio. A node that is switched off is none.
                pub fn serve(&mut self, network: NodeId, serves: bool, cx: &mut Cx<'_>);

                /// Gateway through which this node sends to a network now, if the protocol gives it one for all networks.
                /// `None`: it has none now, or routes lead to the network itself.
                pub fn gateway(&mut self, network: NodeId, now: Time) -> Option<NodeId>;

                /// The node is switched off: waiting packets and learned state are lost.
                pub fn switch_off(&mut self, cx: &mut Cx<'_>);

                /// The node is switched on again.
                pub fn switch_on(&mut self, cx: &mut Cx<'_>);

                /// Time of the next call.
                #[inline]
                pub fn deadline(&self) -> Time;

                /// The deadline of the router has come.
                pub fn on_deadline(&mut self, cx: &mut Cx<'_>);

                /// The routes that this node can use now, by destination.
                pub fn routes(&self, at: NodeId, now: Time, out: &mut Vec<KnownRoute>);

                /// Returns true if this node can use a route to a destination now.
                pub fn has_route(&self, to: NodeId, now: Time) -> bool;

                /// Metric of the route to a destination over a neighbor as this node knows it, for tables, in the unit of the
                /// protocol. `None`: there is none, or the protocol does not compare routes by such a number.
                pub fn metric_over(&self, at: NodeId, to: NodeId, via: NodeId) -> Option<f64>;

                /// Packets for this destination wait for a route.
                pub fn holds(&self, to: NodeId, pool: &PacketPool) -> bool;

                /// Packets that wait for a route.
                pub fn waiting(&self) -> usize;

                fn count(&self, sum: &mut Counted);

                /// Approximate memory of the state that the router has learned \[B\].
                pub fn memory(&self) -> usize;
            }
            $( $(#[doc = $doc])* $Part($Held): $Type = $word $(, settings $group: $Group = $about)?; )*
        }

        /// Counters of each protocol; a name in several lists is one column.
        pub const COUNTED: [(&str, &[Field]); Protocol::ALL.len()] = [$( ($word, <$Type>::FIELDS), )*];

        const LISTS: [&[Field]; 1 + Protocol::ALL.len()] = [Overhead::FIELDS, $( <$Type>::FIELDS, )*];

        /// The settings that all routers of a run share.
        #[derive(Clone, Debug)]
        pub struct Shared { $( $( #[doc = $about] pub $group: Arc<$Group>, )? )* }

        impl Shared {
            /// From the settings of routing.
            pub fn new(cfg: &Config) -> Shared {
                Shared { $( $( $group: Arc::new(cfg.$group.clone()), )? )* }
            }
        }

        impl Router {
            /// The router of a node, with its random numbers; `routes` are needed by the protocols that know them from
            /// the start.
            pub fn new(cfg: &Config, shared: &Shared, routes: Option<&Routes>, rng: &mut Stream) -> Router {
                match cfg.protocol {
                    $( Protocol::$Part => Router::$Part(<$Held>::from(<$Type>::start(shared, routes, rng))), )*
                }
            }
        }
    };
}
pub(super) use protocols;
