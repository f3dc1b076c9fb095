//! Neighborhood RED: each node measures how the medium is used, evaluates that at the end of each interval, and may
//! notify its neighbours.

use super::Sim;
use super::slots::{Clock, Slot};
use crate::net::neighborhood_red::{Config, Meter, NeighborhoodRed};
use crate::packet::{Body, Ecn, FlowId, HeaderId, NodeId, Notification, Packet, RadioId};
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::{Span, Time};
use crate::wlan::{Frame, Timing};

/// Neighborhood RED of all nodes with a radio.
#[derive(Clone, Debug)]
pub(super) struct Neighborhood {
    cfg: Config,
    /// Time on air of a packet of the mean size.
    packet: Span,
    nodes: Vec<NeighborhoodRed>,
    meters: Vec<Meter>,
    /// How long after the beginning of a round the interval of each radio ends, in that order.
    intervals: Vec<(Span, RadioId)>,
    /// The index of the interval that ends next, and when the round began.
    next: usize,
    round: Time,
}

impl Neighborhood {
    pub(super) fn new(setup: &Setup) -> Neighborhood {
        let (cfg, radios) = (setup.net.neighborhood_red.clone(), setup.interfaces.radios.len());
        let timing = Timing::new(&setup.interfaces.profiles[0].wlan);
        let node = |i| NeighborhoodRed::new(Stream::new(setup.seed, Purpose::NeighborhoodRed, i));
        let mut nodes: Vec<NeighborhoodRed> = (0..radios as u64).map(node).collect();
        let mut intervals: Vec<(Span, RadioId)> =
            nodes.iter_mut().zip(0..).map(|(node, i)| (node.phase(&cfg), RadioId(i))).collect();
        intervals.sort_unstable();
        Neighborhood {
            packet: timing.data(timing.frame_bytes(cfg.mean_pktsize.0)),
            nodes,
            meters: vec![Meter::default(); radios],
            intervals,
            next: 0,
            round: Time::ZERO,
            cfg,
        }
    }

    /// When the next interval of a node ends.
    pub(super) fn deadline(&self) -> Time {
        self.intervals.get(self.next).map_or(Time::NEVER, |interval| self.round + interval.0)
    }

    /// The interval of a radio is over: which radio, and what it notifies its neighbours of.
    fn on_deadline(&mut self, now: Time) -> (RadioId, Option<Notification>) {
        let n = self.intervals[self.next].1;
        self.next += 1;
        if self.next == self.intervals.len() {
            (self.next, self.round) = (0, self.round + self.cfg.interval);
        }
        let usage = self.meters[n.index()].take(now);
        (n, self.nodes[n.index()].on_interval(usage, self.packet, &self.cfg, now))
    }

    pub(super) fn drops(&mut self, n: RadioId, at: Time) -> bool {
        self.nodes[n.index()].drops(at)
    }
}

impl Sim {
    fn neighborhood(&mut self) -> Option<&mut Neighborhood> {
        self.admission.as_mut()?.neighborhood.as_mut()
    }

    /// The interval of a node is over.
    pub(super) fn on_usage_interval(&mut self) {
        let now = self.now;
        let Some(neighborhood) = self.neighborhood() else { return };
        let (radio, notification) = neighborhood.on_deadline(now);
        let (at, bytes) = (neighborhood.deadline(), neighborhood.cfg.ncn_bytes.0);
        self.timers.set(Slot::Clock(Clock::Usage), at);
        let n = self.ports.node(radio);
        let Some(notification) = notification.filter(|_| !self.is_radio_off(radio)) else { return };
        self.slab.here(n, now);
        let packet = self.slab.create(Packet {
            body: Body::Notification(notification),
            born: now,
            bytes,
            overhead: 0,
            source: n,
            destination: NodeId::BROADCAST,
            goal: NodeId::BROADCAST,
            next_hop: NodeId::BROADCAST,
            flow: FlowId::NONE,
            ttl: 1,
            hops: 0,
            ecn: Ecn::NotEct,
            urgent: false,
            tried: false,
            halfway: false,
            header: HeaderId::NONE,
        });
        self.send_down(n, packet, self.net.link_delay);
    }

    /// A notification was received.
    pub(super) fn on_notification(&mut self, n: RadioId, at: Time, notification: &Notification) {
        if let Some(neighborhood) = self.neighborhood() {
            neighborhood.nodes[n.index()].on_notification(notification, at);
        }
    }

    /// Measures a frame that goes on the air, at its sender and at all who sense it.
    pub(super) fn meter_frame(&mut self, n: RadioId, at: Time, airtime: Span) {
        let Some(neighborhood) = self.admission.as_mut().and_then(|a| a.neighborhood.as_mut()) else { return };
        neighborhood.meters[n.index()].on_sent(at, at + airtime);
        for (node, delay) in self.channel.audience(n) {
            neighborhood.meters[node.index()].on_signal(at + delay, at + delay + airtime);
        }
    }

    /// Measures a frame that was read by the node that it was for.
    pub(super) fn meter_read(&mut self, frame: &Frame) {
        if let Some(neighborhood) = self.neighborhood() {
            neighborhood.meters[frame.to.index()].on_read(frame.airtime);
        }
    }
}
