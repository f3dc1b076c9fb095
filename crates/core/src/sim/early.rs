//! What is done to packets between the interface queue and the MAC: Link RED.

use super::{Setup, Sim};
use crate::net::link_red::{self, LinkRed};
use crate::net::queue::Marking;
use crate::packet::{Kind, NodeId, PacketId, Reason};
use crate::record::totals::NodeTotals;
use crate::rng::{Purpose, Stream};

/// What every node with a radio knows.
#[derive(Clone, Debug)]
pub(super) struct Early {
    cfg: link_red::Config,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    link_red: LinkRed,
    /// Frames of the station that nobody had answered when it was last done with a packet.
    unanswered: u64,
    marking: Marking,
}

impl Early {
    /// `None` where nothing is done.
    pub(super) fn new(setup: &Setup) -> Option<Box<Early>> {
        let cfg = setup.net.link_red.clone();
        let node = |i| Node {
            link_red: LinkRed::new(Stream::new(setup.seed, Purpose::LinkRed, i)),
            unanswered: 0,
            marking: Marking::new(&setup.queue),
        };
        let nodes = 0..setup.places.len() as u64;
        cfg.enabled.then(|| Box::new(Early { nodes: nodes.map(node).collect(), cfg }))
    }

    /// Counts marks before the MAC as those of the node.
    pub(super) fn add_marks(&self, nodes: &mut [NodeTotals]) {
        for (totals, node) in nodes.iter_mut().zip(&self.nodes) {
            totals.ecn_marks += node.marking.marks();
        }
    }
}

impl Sim {
    /// Whether a packet that has left the queue goes to the MAC; if not, this was its end.
    #[cold]
    pub(super) fn admits(&mut self, n: NodeId, packet: PacketId) -> bool {
        let Some(early) = &mut self.early else { return true };
        let p = &mut self.slab[packet];
        if !matches!(p.body.kind(), Kind::Data | Kind::Ack) {
            return true;
        }
        let node = &mut early.nodes[n.index()];
        let admitted = !node.link_red.drops(&early.cfg) || node.marking.mark(p);
        if !admitted {
            self.drop_packet(n, packet, Reason::Aqm);
        }
        admitted
    }

    /// The MAC of a node is done with a packet. What it has not delivered it has not tried again after the last attempt.
    #[cold]
    pub(super) fn on_mac_done(&mut self, n: NodeId, packet: PacketId, gave_up: bool) {
        let Some(early) = &mut self.early else { return };
        let p = &self.slab[packet];
        if p.next_hop.is_broadcast() {
            return;
        }
        let node = &mut early.nodes[n.index()];
        let station = &mut self.stations[n.index()];
        let failed = station.unanswered() - node.unanswered;
        node.unanswered += failed;
        node.link_red.on_done(failed - u64::from(gave_up));
        if node.link_red.paces(&early.cfg) {
            station.prolong_backoff(self.timing.data(self.timing.frame_bytes(p.bytes)), &self.timing);
            self.agenda.set(self.slots.mac(n), station.deadline());
        }
    }
}
