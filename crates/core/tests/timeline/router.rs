//! A router alone with its packets, for the timelines of routing protocols.

use chappe_core::net::routing::{Cx, Out, Router, Shared};
use chappe_core::packet::{Body, FlowId, NodeId, Packet, PacketId, PacketPool};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::unit::Time;
use chappe_scenario::{NoFiles, Scenario};

/// The router of a node.
pub struct Alone {
    pub router: Router,
    pub pool: PacketPool,
    pub rng: Stream,
    pub now: Time,
    pub node: NodeId,
}

impl Alone {
    /// A router with the settings of a scenario.
    pub fn new(scenario: &str, node: u32) -> Alone {
        let scenario = Scenario::from_toml("test", scenario, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let routing = &scenario.config().routing;
        let mut rng = Stream::new(1, Purpose::Routing, 0);
        let router = Router::new(routing, &Shared::new(routing), None, &mut rng);
        Alone { router, pool: PacketPool::default(), rng, now: Time::ZERO, node: NodeId(node) }
    }

    /// Calls the router; returns its actions.
    pub fn call(&mut self, input: impl FnOnce(&mut Router, &mut Cx<'_>)) -> Vec<Out> {
        let mut out = vec![];
        let cx = &mut Cx { now: self.now, node: self.node, pool: &mut self.pool, rng: &mut self.rng, out: &mut out };
        input(&mut self.router, cx);
        out
    }

    /// A packet of a flow that is made now, for the node to which it goes next.
    pub fn create(&mut self, body: Body, bytes: u32, source: NodeId, to: NodeId) -> PacketId {
        self.pool.create(Packet {
            flow: FlowId(0),
            ttl: 32,
            hops: u8::from(source != self.node),
            ..Packet::new(body, bytes, source, to, self.now)
        })
    }
}
