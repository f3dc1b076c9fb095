//! What is done to packets between the interface queue and the MAC: Link RED and Neighborhood RED.

use super::Sim;
use super::neighborhood::Neighborhood;
use crate::net::link_red::{self, LinkRed};
use crate::net::queue::Marking;
use crate::packet::{Kind, NodeId, PacketId, Reason};
use crate::record::totals::NodeTotals;
use crate::rng::{Purpose, Stream};
use crate::sim::Setup;
use crate::unit::Time;

/// What is done, and what every node with a radio knows.
#[derive(Clone, Debug)]
pub(super) struct Early {
    link_red: Option<LinkReds>,
    pub(super) neighborhood: Option<Neighborhood>,
    markings: Vec<Marking>,
}

#[derive(Clone, Debug)]
struct LinkReds {
    cfg: link_red::Config,
    nodes: Vec<LinkRed>,
    /// Frames of each station that nobody had answered when it was last done with a packet.
    unanswered: Vec<u64>,
}

impl Early {
    /// `None` where nothing is done.
    pub(super) fn new(setup: &Setup) -> Option<Box<Early>> {
        let (net, radios) = (&setup.net, setup.places.len());
        let link_red = |i| LinkRed::new(Stream::new(setup.seed, Purpose::LinkRed, i));
        let early = Early {
            link_red: net.link_red.enabled.then(|| LinkReds {
                cfg: net.link_red.clone(),
                nodes: (0..radios as u64).map(link_red).collect(),
                unanswered: vec![0; radios],
            }),
            neighborhood: net.neighborhood_red.enabled.then(|| Neighborhood::new(setup)),
            markings: vec![Marking::new(&setup.queue); radios],
        };
        (early.link_red.is_some() || early.neighborhood.is_some()).then(|| Box::new(early))
    }

    fn drops(&mut self, n: NodeId, at: Time) -> bool {
        let by_link = self.link_red.as_mut().is_some_and(|l| l.nodes[n.index()].drops(&l.cfg));
        by_link || self.neighborhood.as_mut().is_some_and(|x| x.drops(n, at))
    }

    /// Counts marks before the MAC as those of the node.
    pub(super) fn add_marks(&self, nodes: &mut [NodeTotals]) {
        for (totals, marking) in nodes.iter_mut().zip(&self.markings) {
            totals.ecn_marks += marking.marks();
        }
    }
}

impl Sim {
    /// Whether a packet that has left the queue goes to the MAC; if not, this was its end.
    #[cold]
    pub(super) fn admits(&mut self, n: NodeId, at: Time, packet: PacketId) -> bool {
        let Some(early) = &mut self.early else { return true };
        let p = &mut self.slab[packet];
        if !matches!(p.body.kind(), Kind::Data | Kind::Ack) {
            return true;
        }
        let admitted = !early.drops(n, at) || early.markings[n.index()].mark(p);
        if !admitted {
            self.drop_packet(n, packet, Reason::Aqm);
        }
        admitted
    }

    /// The MAC of a node is done with a packet. What it has not delivered it has not tried again after the last attempt.
    #[cold]
    pub(super) fn on_mac_done(&mut self, n: NodeId, packet: PacketId, gave_up: bool) {
        let Some(red) = self.early.as_mut().and_then(|e| e.link_red.as_mut()) else { return };
        let p = &self.slab[packet];
        if p.next_hop.is_broadcast() {
            return;
        }
        let station = &mut self.stations[n.index()];
        let (node, before) = (&mut red.nodes[n.index()], &mut red.unanswered[n.index()]);
        let failed = station.unanswered() - *before;
        *before += failed;
        node.on_done(failed - u64::from(gave_up));
        if node.paces(&red.cfg) {
            station.prolong_backoff(self.timing.data(self.timing.frame_bytes(p.bytes)), &self.timing);
            self.agenda.set(self.slots.mac(n), station.deadline());
        }
    }
}
