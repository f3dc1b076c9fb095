//! The network layer of all nodes: routers, address resolution, interface queues, wires and middleboxes.

pub mod admission;
pub mod boxes;
pub mod neighborhood;
pub mod ports;
pub mod transit;
pub mod wires;

use crate::net::routing::crossing::Crossings;
use crate::net::routing::fixed::Routes;
use crate::net::{self, arp, queue, routing};
use crate::packet::{NodeId, PacketId, RadioId, Reason};
use crate::radio::Channel;
use crate::record::loss::Cause;
use crate::rng::{Purpose, Stream};
use crate::run::graph::Graph;
use crate::run::{ArrivalsSetup, Setup};
use crate::unit::Time;
use admission::Admission;
use boxes::Boxes;
use neighborhood::Neighborhood;
use ports::Ports;
use transit::Transit;
use wires::Wires;

/// The network layer of a node.
#[derive(Clone, Debug)]
pub struct Node {
    pub arp: arp::Table,
    pub router: routing::Router,
    /// Deadline of the router on the scheduler.
    pub router_at: Time,
    /// Outcome of the last frame of the packet that its MAC gave up last.
    pub attempt: Cause,
    pub rng: Stream,
    /// The node is switched off.
    pub off: bool,
    /// A flow that begins here is known to have no route.
    pub lacks_route: bool,
}

/// The network layer of all nodes.
#[derive(Clone, Debug)]
pub struct Network {
    pub cfg: net::Config,
    pub arp: arp::Config,
    pub ttl: u8,
    pub nodes: Vec<Node>,
    pub ports: Ports,
    pub wires: Wires,
    /// Packets between MAC, router and queue.
    pub transit: Transit,
    /// Deadline of the first packet in transit; that changes too often to be on the scheduler.
    pub transit_at: Time,
    /// Link RED and Neighborhood RED, which drop packets between queue and MAC.
    pub admission: Option<Box<Admission>>,
    pub boxes: Boxes,
    /// Somebody wants to hear that the MAC has sent a packet: a sender, or Link RED.
    pub tells_of_mac: bool,
    /// Actions of routers that are not carried out yet.
    pub actions: Vec<routing::Out>,
    /// Packets that a queue has just dropped.
    pub dropped: Vec<(PacketId, Reason)>,
}

impl Network {
    /// The network at the start of a run; `senders_ask`: senders want to hear that the MAC has sent their packets.
    pub fn new(setup: &Setup, channel: &Channel, senders_ask: bool) -> Network {
        let n = setup.positions.len() + setup.wired as usize;
        let ends = setup.links.iter().map(|l| (l.from, l.to));
        let graph = Graph::new(channel, &setup.interfaces, n, ends);
        let routes = static_routes(setup, &graph);
        let shared = routing::Shared::new(&setup.routing);
        let node = |i: usize| {
            let mut rng = Stream::new(setup.seed, Purpose::Routing, i as u64);
            let router = if i < setup.positions.len() || routes.is_some() {
                routing::Router::new(&setup.routing, &shared, routes.as_ref(), &mut rng)
            } else {
                routing::Router::none()
            };
            Node {
                arp: arp::Table::default(),
                router_at: router.deadline(),
                router,
                attempt: Cause::Refused,
                rng,
                off: false,
                lacks_route: false,
            }
        };
        Network {
            cfg: setup.net.clone(),
            arp: setup.arp.clone(),
            ttl: setup.routing.ttl,
            nodes: (0..n).map(node).collect(),
            ports: Ports::new(setup, channel),
            wires: Wires::new(setup, crossings(setup, &graph)),
            transit: Transit::new(n),
            transit_at: Time::NEVER,
            admission: Admission::new(setup),
            boxes: Boxes::new(&setup.middleboxes),
            tells_of_mac: senders_ask || setup.net.link_red.enabled,
            actions: Vec::with_capacity(128),
            dropped: Vec::with_capacity(128),
        }
    }

    /// Packets of address resolution, routers, queues, wires, and those between layers.
    pub fn packets_held(&self) -> usize {
        let in_node = |n: &Node| n.arp.held() + n.router.waiting();
        let in_nodes = self.nodes.iter().map(in_node).sum::<usize>();
        let queued = self.ports.queues.iter().map(queue::Queue::len).sum::<usize>();
        in_nodes + queued + self.transit.len() + self.wires.packets_held()
    }

    /// Packets that wait at a node for its MAC or its wires.
    pub fn queued_at(&self, n: NodeId) -> usize {
        self.ports.of(n).map(|r| self.ports.queues[r.index()].len()).sum::<usize>() + self.wires.queued_at(n)
    }

    /// Neighborhood RED, if it is used.
    pub fn neighborhood(&mut self) -> Option<&mut Neighborhood> {
        self.admission.as_mut()?.neighborhood.as_mut()
    }

    /// Tells if a node is switched off.
    #[inline]
    pub fn is_off(&self, n: NodeId) -> bool {
        self.nodes[n.index()].off
    }

    /// Tells if a radio is switched off, by itself or with its node.
    pub fn is_radio_off(&self, r: RadioId) -> bool {
        self.is_off(self.ports.node(r)) || self.ports.is_down(r)
    }
}

/// The routes of a protocol that knows them from the start.
fn static_routes(setup: &Setup, graph: &Graph<'_>) -> Option<Routes> {
    match setup.routing.protocol {
        protocol if protocol.learns_routes() => None,
        routing::Protocol::Fixed => Some(Routes::listed(graph.nodes(), &setup.routing.fixed.routes.0)),
        _ => Some(shortest_routes(setup, graph)),
    }
}

fn shortest_routes(setup: &Setup, graph: &Graph<'_>) -> Routes {
    let ends = setup.flows.iter().flat_map(|f| [f.to, f.from]);
    let of_arrivals = |a: &ArrivalsSetup| match (a.from, a.to) {
        (Some(from), Some(to)) => vec![from, to],
        _ => (0..graph.nodes() as u32).map(NodeId).collect(),
    };
    let ends = ends.chain(setup.arrivals.iter().flat_map(of_arrivals));
    let ends = ends.chain(setup.flows.iter().filter_map(|f| f.split.as_ref()).map(|s| s.node));
    Routes::shortest(graph.nodes(), ends, |v| graph.neighbours(v), |v| graph.predecessors(v))
}

/// The nodes at which packets change between wires and radio, if there are wires and the routes over the radio are found on demand.
fn crossings(setup: &Setup, graph: &Graph<'_>) -> Option<Crossings> {
    (setup.routing.protocol.learns_routes() && !setup.links.is_empty())
        .then(|| Crossings::new(&shortest_routes(setup, graph), graph.nodes(), |a, b| graph.has_wire(a, b)))
}
