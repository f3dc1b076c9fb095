//! The network layer of all nodes: routers, address resolution, interface queues, links and middleboxes.

pub mod admission;
pub mod boxes;
pub mod links;
pub mod neighborhood;
pub mod ports;
pub mod segment;
pub mod transit;

use crate::net::routing::crossing::Crossings;
use crate::net::routing::fixed::Routes;
use crate::net::routing::gateways::{Choice, Gateways, Plan};
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
use links::{Links, Ways};
use neighborhood::Neighborhood;
use ports::Ports;
use transit::Transit;

/// The network layer of a node.
#[derive(Clone, Debug)]
pub struct Node {
    pub arp: arp::Table,
    pub router: routing::Router,
    /// Deadline of the router in the scheduler.
    pub router_at: Time,
    /// Cause of failure of the last attempt at the packet that the MAC gave up last.
    pub attempt: Cause,
    pub rng: Stream,
    /// The node is switched off.
    pub off: bool,
    /// A flow of this source lacks a route.
    pub lacks_route: bool,
}

/// The network layer of all nodes.
#[derive(Clone, Debug)]
pub struct Network {
    pub cfg: net::Config,
    pub arp: arp::Config,
    pub nodes: Vec<Node>,
    pub ports: Ports,
    pub links: Links,
    /// Packets between MAC, router and queue.
    pub transit: Transit,
    /// Link RED and Neighborhood RED, which drop packets between queue and MAC.
    pub admission: Option<Box<Admission>>,
    pub boxes: Boxes,
    /// Radios that hold packets back until their next hops have room, if any queue has flow control.
    pub held: Option<Vec<RadioId>>,
    /// Interface queues serve features that few runs use, which `rare_features` lists.
    pub has_rare_features: bool,
    /// A sender or Link RED needs the transmissions of the MAC.
    pub reports_mac: bool,
    /// Actions of routers that are not dispatched yet: a stack, as dispatching one may call another router.
    pub actions: Vec<routing::Out>,
    /// Packets just dropped by a queue.
    pub dropped: Vec<(PacketId, Reason)>,
}

impl Network {
    /// Creates the network; `senders_ask`: senders need the transmissions of the MAC.
    pub fn new(setup: &Setup, channel: &Channel, senders_ask: bool) -> Network {
        let n = setup.positions.len() + setup.wired as usize;
        let ends = setup.links.iter().map(|l| (l.from, l.to));
        let wires = setup.links.iter().map(|l| (l.from, l.to, l.point_to_point.rate));
        let graph = Graph::new(channel, &setup.interfaces, n, ends).measured(&setup.routing, &setup.interfaces, wires);
        let gateways = gateways(setup, &graph);
        let routes = match &gateways {
            Some(gateways) => gateways.routes(|_| true),
            None => static_routes(setup, &graph),
        };
        let shared = routing::Shared::new(&setup.routing);
        let node = |i: usize| {
            let mut rng = Stream::new(setup.seed, Purpose::Routing, setup.key(NodeId(i as u32)));
            let router = if i < setup.positions.len() || (routes.is_some() && gateways.is_none()) {
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
        let ports = Ports::new(setup, channel);
        let nodes = (0..n).map(node).collect();
        let mut links = Links::new(setup);
        let announced = gateways.map(|gateways| Ways::Announced(Box::new(gateways)));
        links.ways = announced.or_else(|| crossings(setup, &graph, &links).map(Ways::AtStart));
        Network {
            cfg: setup.net.clone(),
            arp: arp::Config {
                enabled: setup.arp.enabled && !setup.routing.protocol.is_below_ip(),
                ..setup.arp.clone()
            },
            nodes,
            held: ports.queues.iter().any(queue::Queue::holds_back).then(Vec::new),
            ports,
            links,
            transit: Transit::new(n),
            admission: Admission::new(setup),
            boxes: Boxes::new(&setup.middleboxes),
            has_rare_features: false,
            reports_mac: senders_ask || setup.net.link_red.enabled,
            actions: Vec::with_capacity(128),
            dropped: Vec::with_capacity(128),
        }
    }

    /// Number of packets held by address resolution, routers, queues and links, and of packets in transit between
    /// layers.
    pub fn packets_held(&self) -> usize {
        let in_node = |n: &Node| n.arp.held() + n.router.waiting();
        let in_nodes = self.nodes.iter().map(in_node).sum::<usize>();
        let queued = self.ports.all().map(queue::Queue::len).sum::<usize>();
        in_nodes + queued + self.transit.len() + self.links.packets_held()
    }

    /// Number of packets in the queues of a node.
    pub fn queued_at(&self, n: NodeId, now: Time) -> usize {
        self.ports.of(n).flat_map(|r| self.ports.all_of(r)).map(queue::Queue::len).sum::<usize>()
            + self.links.queued_at(n, now)
    }

    /// Neighborhood RED, if it is used.
    pub fn neighborhood(&mut self) -> Option<&mut Neighborhood> {
        self.admission.as_mut()?.neighborhood.as_mut()
    }

    /// Returns true if a node is switched off.
    #[inline]
    pub fn is_off(&self, n: NodeId) -> bool {
        self.nodes[n.index()].off
    }

    /// Returns true if a radio is switched off, by itself or with its node.
    pub fn is_radio_off(&self, r: RadioId) -> bool {
        self.is_off(self.ports.node(r)) || self.ports.is_down(r)
    }
}

/// Routes of a protocol that does not learn them during the run.
fn static_routes(setup: &Setup, graph: &Graph<'_>) -> Option<Routes> {
    (!setup.routing.protocol.learns_routes()).then(|| routes(setup, graph))
}

/// All ends of flows.
fn ends(setup: &Setup, nodes: usize) -> impl Iterator<Item = NodeId> + '_ {
    let ends = setup.flows.iter().flat_map(|f| [f.to, f.from]);
    let of_arrivals = move |a: &ArrivalsSetup| match (a.from, a.to) {
        (Some(from), Some(to)) => vec![from, to],
        _ => (0..nodes as u32).map(NodeId).collect(),
    };
    let ends = ends.chain(setup.arrivals.iter().flat_map(of_arrivals));
    ends.chain(setup.flows.iter().filter_map(|f| f.split.as_ref()).map(|s| s.node))
}

/// Routes to all ends of flows.
fn routes(setup: &Setup, graph: &Graph<'_>) -> Routes {
    graph.routes(&setup.routing, ends(setup, graph.nodes()))
}

/// Gateways, if they change during the run and there are any.
fn gateways(setup: &Setup, graph: &Graph<'_>) -> Option<Gateways> {
    let (with_radio, nodes) = (setup.positions.len(), graph.nodes());
    let meets = setup.links.iter().any(|l| l.from.index().min(l.to.index()) < with_radio);
    (setup.routing.gateways == Choice::Announced && meets).then(|| {
        let plan = Plan {
            with_radio,
            nodes,
            ends: ends(setup, nodes).collect(),
            wires: setup.links.iter().map(|l| (l.from, l.to)).collect(),
            chosen: setup.gateways.clone(),
            flows: setup.flows.len(),
        };
        let computes = !setup.routing.protocol.learns_routes();
        let mut gateways = Gateways::new(plan, setup.routing.metric, graph.links(), computes);
        if computes {
            gateways.update(|_| true, |_, _| true);
        }
        gateways
    })
}

/// Nodes at which packets change between point-to-point links and radio, if routes over the radio are found on demand.
fn crossings(setup: &Setup, graph: &Graph<'_>, links: &Links) -> Option<Crossings> {
    (setup.routing.protocol.learns_routes() && !setup.links.is_empty())
        .then(|| Crossings::new(&routes(setup, graph), graph.nodes(), |a, b| links.between(a, b)))
}
