//! Admission of packets from the interface queue to the MAC: Link RED and Neighborhood RED drop or mark packets there.

use super::neighborhood::Neighborhood;
use super::ports::Ports;
use crate::net::link_red::{self, LinkRed};
use crate::net::queue::Marking;
use crate::packet::{Kind, Packet, RadioId};
use crate::record::totals::NodeTotals;
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::Time;
use crate::wlan::Station;

/// Link RED and Neighborhood RED of all radios.
#[derive(Clone, Debug)]
pub struct Admission {
    link_red: Option<LinkReds>,
    pub neighborhood: Option<Neighborhood>,
    markings: Vec<Marking>,
}

#[derive(Clone, Debug)]
struct LinkReds {
    cfg: link_red::Config,
    nodes: Vec<LinkRed>,
    /// Number of unanswered frames of each station at the end of its last packet.
    unanswered: Vec<u64>,
}

impl Admission {
    /// Creates the state; `None` if neither is enabled.
    pub fn new(setup: &Setup) -> Option<Box<Admission>> {
        let (net, radios) = (&setup.net, setup.interfaces.radios.len());
        let link_red = |key| LinkRed::new(Stream::new(setup.seed, Purpose::LinkRed, key));
        let admission = Admission {
            link_red: net.link_red.enabled.then(|| LinkReds {
                cfg: net.link_red.clone(),
                nodes: setup.interfaces.keys().into_iter().map(link_red).collect(),
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

    /// Returns true if the MAC gets a packet from the queue, perhaps marked; otherwise the packet must be dropped.
    pub fn admits(&mut self, r: RadioId, at: Time, p: &mut Packet) -> bool {
        !matches!(p.body.kind(), Kind::Data | Kind::Ack) || !self.drops(r, at) || self.markings[r.index()].mark(p)
    }

    /// The station of a radio has sent a unicast packet or given it up. Returns true if the station has to prolong its
    /// backoff (adaptive pacing of Link RED).
    pub fn on_mac_done(&mut self, r: RadioId, station: &Station, gave_up: bool) -> bool {
        let Some(red) = &mut self.link_red else { return false };
        let (node, before) = (&mut red.nodes[r.index()], &mut red.unanswered[r.index()]);
        let failed = station.unanswered() - *before;
        *before += failed;
        // No retry follows the last attempt at a packet that was given up.
        node.on_done(failed - u64::from(gave_up));
        node.paces(&red.cfg)
    }

    /// Adds the marks set here to the counters of the nodes.
    pub fn add_marks(&self, nodes: &mut [NodeTotals], ports: &Ports) {
        for (marking, radio) in self.markings.iter().zip(0..) {
            nodes[ports.node(RadioId(radio)).index()].radio.ecn_marks += marking.marks();
        }
    }
}
