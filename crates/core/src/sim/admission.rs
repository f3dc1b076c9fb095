//! Admission: whether packets that have left the interface queue go on to the MAC. Link RED and Neighborhood RED drop
//! or mark them there.

use super::neighborhood::Neighborhood;
use super::ports::Ports;
use super::slots::Slot;
use super::{Mac, Sim};
use crate::net::link_red::{self, LinkRed};
use crate::net::queue::Marking;
use crate::packet::{Kind, PacketId, RadioId, Reason};
use crate::record::totals::NodeTotals;
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::Time;

/// Link RED and Neighborhood RED of all radios.
#[derive(Clone, Debug)]
pub(super) struct Admission {
    link_red: Option<LinkReds>,
    pub(super) neighborhood: Option<Neighborhood>,
    markings: Vec<Marking>,
}

#[derive(Clone, Debug)]
struct LinkReds {
    cfg: link_red::Config,
    nodes: Vec<LinkRed>,
    /// The count of unanswered frames of each station when it was last done with a packet.
    unanswered: Vec<u64>,
}

impl Admission {
    /// `None` where neither is used.
    pub(super) fn new(setup: &Setup) -> Option<Box<Admission>> {
        let (net, radios) = (&setup.net, setup.interfaces.radios.len());
        let link_red = |i| LinkRed::new(Stream::new(setup.seed, Purpose::LinkRed, i));
        let admission = Admission {
            link_red: net.link_red.enabled.then(|| LinkReds {
                cfg: net.link_red.clone(),
                nodes: (0..radios as u64).map(link_red).collect(),
                unanswered: vec![0; radios],
            }),
            neighborhood: net.neighborhood_red.enabled.then(|| Neighborhood::new(setup)),
            markings: (0..radios as u32).map(|r| Marking::new(&setup.interfaces.profile(RadioId(r)).queue)).collect(),
        };
        (admission.link_red.is_some() || admission.neighborhood.is_some()).then(|| Box::new(admission))
    }

    fn drops(&mut self, r: RadioId, at: Time) -> bool {
        let by_link = self.link_red.as_mut().is_some_and(|l| l.nodes[r.index()].drops(&l.cfg));
        by_link || self.neighborhood.as_mut().is_some_and(|x| x.drops(r, at))
    }

    /// Adds the marks that were set here to those of the nodes.
    pub(super) fn add_marks(&self, nodes: &mut [NodeTotals], ports: &Ports) {
        for (marking, radio) in self.markings.iter().zip(0..) {
            nodes[ports.node(RadioId(radio)).index()].radio.ecn_marks += marking.marks();
        }
    }
}

impl Sim {
    /// Whether a packet that has left the queue goes on to the MAC; if not, it is dropped.
    #[cold]
    pub(super) fn admits(&mut self, r: RadioId, at: Time, packet: PacketId) -> bool {
        let Some(admission) = &mut self.admission else { return true };
        let p = &mut self.slab[packet];
        if !matches!(p.body.kind(), Kind::Data | Kind::Ack) {
            return true;
        }
        let admitted = !admission.drops(r, at) || admission.markings[r.index()].mark(p);
        if !admitted {
            self.drop_packet(self.ports.node(r), packet, Reason::Aqm);
        }
        admitted
    }

    /// The MAC of a radio is done with a packet. If it gave the packet up, no retry followed the last attempt.
    #[cold]
    pub(super) fn on_mac_done(&mut self, r: RadioId, packet: PacketId, gave_up: bool) {
        let Some(red) = self.admission.as_mut().and_then(|a| a.link_red.as_mut()) else { return };
        let p = &self.slab[packet];
        if p.next_hop.is_broadcast() {
            return;
        }
        let Mac { station, rules } = &mut self.macs[r.index()];
        let (node, before) = (&mut red.nodes[r.index()], &mut red.unanswered[r.index()]);
        let failed = station.unanswered() - *before;
        *before += failed;
        node.on_done(failed - u64::from(gave_up));
        if node.paces(&red.cfg) {
            let timing = &rules.timing;
            let mode = station.mode_to(self.ports.peer(r, p.next_hop));
            station.prolong_backoff(timing.data_in(mode, timing.frame_bytes(p.bytes)), timing);
            self.timers.set(Slot::Mac(r), station.deadline());
        }
    }
}
