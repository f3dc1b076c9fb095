//! Nodes that are switched off and on.
//!
//! What a node holds dies with it, each packet with a fate of its own; the frame that it is sending is cut. While it is
//! off, nothing reaches it, and what the ends of flows there send dies at once. When it is switched on again its station,
//! queues and router begin anew; applications and the ends of connections have gone on.

use super::Sim;
use crate::net::queue;
use crate::packet::{NodeId, Reason};

impl Sim {
    /// Whether a node is switched off.
    #[inline]
    pub(super) fn is_off(&self, n: NodeId) -> bool {
        self.nodes[n.index()].off
    }

    /// Switches a node off; one that is off stays so.
    pub(super) fn switch_off(&mut self, n: NodeId) {
        if self.is_off(n) {
            return;
        }
        if self.has_radio(n) {
            self.switch_radio_off(n);
        }
        self.with_router(n, |router, cx| router.switch_off(cx));
        self.nodes[n.index()].off = true;
        let node = &mut self.nodes[n.index()];
        let mut cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
        node.queue.clear(&mut cx);
        let table = std::mem::take(&mut node.arp);
        self.dropped.extend(table.into_held().map(|packet| (packet, Reason::NodeOff)));
        self.transit.clear(n, &mut self.dropped);
        self.transit_at = self.transit.deadline();
        self.end_dropped(n);
        self.cut_wires(n);
    }

    /// Switches a node on; one that is on stays so.
    pub(super) fn switch_on(&mut self, n: NodeId) {
        if !self.is_off(n) {
            return;
        }
        self.nodes[n.index()].off = false;
        if self.has_radio(n) {
            self.book(n, self.now);
            self.channel.switch_on(n, self.now);
            // It has heard what it should not while it was off.
            self.stations[n.index()].restart(&self.rules);
            if let Some(air) = &mut self.air {
                air.switch(n, self.now, false);
            }
        }
        self.with_router(n, |router, cx| router.switch_on(cx));
    }

    fn has_radio(&self, n: NodeId) -> bool {
        n.index() < self.stations.len()
    }

    fn switch_radio_off(&mut self, n: NodeId) {
        self.settle(n, self.now);
        if let Some(air) = &mut self.air {
            air.switch(n, self.now, true);
        }
        self.channel.switch_off(n);
        // Nobody can read what is still on the air, so nobody asks for its packet.
        let frame = &mut self.on_air[n.index()];
        if !frame.ended && frame.over.is_none() {
            frame.frame.packet = None;
        }
        let held = self.stations[n.index()].restart(&self.rules);
        self.agenda.set(self.slots.mac(n), self.stations[n.index()].deadline());
        if let Some(packet) = held {
            self.drop_packet(n, packet, Reason::NodeOff);
        }
    }
}
