//! Access to the state of a run, for tests that replay traces of ns-2 and examine the state after every event.
#![cfg(test)]

use super::Sim;
use crate::net::routing::KnownRoute;
use crate::packet::{NodeId, PacketPool};
use crate::radio::Channel;
use crate::unit::Span;

impl Sim {
    /// The packets, to keep and take their log.
    pub(crate) fn pool_mut(&mut self) -> &mut PacketPool {
        &mut self.pool
    }

    /// The channel, to switch radios off and on.
    pub(crate) fn channel_mut(&mut self) -> &mut Channel {
        &mut self.air.channel
    }

    /// Energy left in the battery of each node \[J\].
    pub(crate) fn energy_left(&self) -> Vec<f64> {
        let batteries = self.world.batteries.as_ref().expect("the nodes have batteries");
        batteries.totals(self.now).iter().map(|b| b.left).collect()
    }

    /// Time from the network layer of a node to its MAC.
    pub(crate) fn link_delay(&self) -> Span {
        self.net.cfg.processing_delay
    }

    /// Routing table of a node.
    pub(crate) fn routes_at(&self, node: NodeId) -> Vec<KnownRoute> {
        let mut routes = vec![];
        self.net.nodes[node.index()].router.routes(node, self.now, &mut routes);
        routes
    }
}
