//! Neighborhood RED: each node measures the use of the medium, evaluates it at the end of each interval, and may notify
//! its neighbors.

use crate::net::neighborhood_red::{Config, Meter, NeighborhoodRed};
use crate::packet::{Notification, RadioId};
use crate::radio::Channel;
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::{Span, Time};
use crate::wlan::{Frame, Timing};

/// Neighborhood RED of all nodes with a radio.
#[derive(Clone, Debug)]
pub struct Neighborhood {
    cfg: Config,
    /// Time on air of a packet of the mean size.
    packet: Span,
    nodes: Vec<NeighborhoodRed>,
    meters: Vec<Meter>,
    /// Time from the start of a round to the end of the interval of each radio, sorted.
    intervals: Vec<(Span, RadioId)>,
    /// Index of the interval that ends next.
    next: usize,
    /// Start of the round.
    round: Time,
}

impl Neighborhood {
    pub fn new(setup: &Setup) -> Neighborhood {
        let (cfg, radios) = (setup.net.neighborhood_red.clone(), setup.interfaces.radios.len());
        let timing = Timing::new(&setup.interfaces.profiles[0].wlan);
        let node = |key| NeighborhoodRed::new(Stream::new(setup.seed, Purpose::NeighborhoodRed, key));
        let mut nodes: Vec<NeighborhoodRed> = setup.interfaces.keys().into_iter().map(node).collect();
        let mut intervals: Vec<(Span, RadioId)> =
            nodes.iter_mut().zip(0..).map(|(node, i)| (node.phase(&cfg), RadioId(i))).collect();
        intervals.sort_unstable();
        Neighborhood {
            packet: timing.data(timing.frame_bytes(cfg.mean_packet_size.0)),
            nodes,
            meters: vec![Meter::default(); radios],
            intervals,
            next: 0,
            round: Time::ZERO,
            cfg,
        }
    }

    /// End of the next interval of a node.
    pub fn deadline(&self) -> Time {
        self.intervals.get(self.next).map_or(Time::NEVER, |interval| self.round + interval.0)
    }

    /// Ends the interval of a radio. Returns the radio and a notification for its neighbors, if any.
    pub fn on_deadline(&mut self, now: Time) -> (RadioId, Option<Notification>) {
        let n = self.intervals[self.next].1;
        self.next += 1;
        if self.next == self.intervals.len() {
            (self.next, self.round) = (0, self.round + self.cfg.interval);
        }
        let usage = self.meters[n.index()].take(now);
        (n, self.nodes[n.index()].on_interval(usage, self.packet, &self.cfg, now))
    }

    pub fn drops(&mut self, n: RadioId, at: Time) -> bool {
        self.nodes[n.index()].drops(at)
    }

    /// Size of a notification \[B\].
    pub fn bytes(&self) -> u32 {
        self.cfg.ncn_size.0
    }

    /// A notification was received.
    pub fn on_notification(&mut self, r: RadioId, at: Time, notification: &Notification) {
        self.nodes[r.index()].on_notification(notification, at);
    }

    /// Measures a frame at its sender and at the receivers in range.
    pub fn on_transmit(&mut self, r: RadioId, at: Time, airtime: Span, channel: &Channel) {
        self.meters[r.index()].on_sent(at, at + airtime);
        for (receiver, delay) in channel.in_range(r) {
            self.meters[receiver.index()].on_signal(at + delay, at + delay + airtime);
        }
    }

    /// Measures a frame decoded at its intended receiver.
    pub fn on_read(&mut self, frame: &Frame) {
        self.meters[frame.to.index()].on_read(frame.airtime);
    }
}
