//! Point-to-point links of all nodes: queues, transmitters, errors, and routes that cross from links to radio and back.

use crate::error_model::{ErrorModel, Place};
use crate::net::queue::{Outlet, Queue};
use crate::net::routing::crossing::{Crossings, Step};
use crate::packet::{NodeId, PacketId, Reason};
use crate::point_to_point::Link;
use crate::record::totals::{LinkTotals, NodeTotals};
use crate::rng::{Purpose, Stream};
use crate::run::{LinkSetup, Setup};
use crate::sim::flows::own_queue::Segment;
use crate::unit::Time;

/// One direction of a link, with the queue in front of it.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Number of the link.
    number: u32,
    /// True for the second direction of the link.
    back: bool,
    pub from: NodeId,
    pub to: NodeId,
    pub queue: Queue,
    pub link: Link,
    pub error: ErrorModel,
    pub error_place: Place,
    /// Segment in the transmitter, if its sender tracks its segments within the node.
    pub sending: Option<Segment>,
    /// Integral of the queue length over time [packets ns].
    queue_ns: u64,
    /// End of that integral.
    noted: Time,
    /// Packets handed to the link.
    pub offered: u64,
    /// Packets lost to the error model.
    pub damaged: u64,
    /// Packets dropped by a full queue.
    dropped_full: u64,
    /// Packets dropped by active queue management.
    dropped_aqm: u64,
}

impl Direction {
    fn new(setup: &LinkSetup, seed: u64) -> Direction {
        let number = 2 * u64::from(setup.link) + u64::from(setup.back);
        let outlet = Outlet { rate: setup.point_to_point.rate, delay: setup.point_to_point.delay };
        Direction {
            number: setup.link,
            back: setup.back,
            from: setup.from,
            to: setup.to,
            queue: Queue::new(&setup.queue, outlet, Stream::new(seed, Purpose::Queue, (1 << 32) + number)),
            link: Link::new(setup.point_to_point),
            error: ErrorModel::new(&setup.error, Stream::new(seed, Purpose::Errors, number)),
            error_place: setup.error_place,
            sending: None,
            queue_ns: 0,
            noted: Time::ZERO,
            offered: 0,
            damaged: 0,
            dropped_full: 0,
            dropped_aqm: 0,
        }
    }

    /// Extends the integral of the queue length up to now. Must be called before each change of the queue.
    pub fn note_queue(&mut self, now: Time) {
        self.queue_ns += self.queue.len() as u64 * now.since(self.noted).0;
        self.noted = now;
    }

    /// Counts packets that the queue has dropped.
    pub fn note_dropped(&mut self, dropped: &[(PacketId, Reason)]) {
        for (_, reason) in dropped {
            match reason {
                Reason::QueueFull => self.dropped_full += 1,
                _ => self.dropped_aqm += 1,
            }
        }
    }

    fn totals(&mut self, now: Time) -> LinkTotals {
        self.note_queue(now);
        let sent = self.link.counters(now);
        LinkTotals {
            packets_offered: self.offered,
            packets_sent: sent.packets,
            bytes_sent: sent.bytes,
            dropped_queue_full: self.dropped_full,
            dropped_aqm: self.dropped_aqm,
            dropped_link_error: self.damaged,
            ecn_marks: self.queue.marks(),
            busy_ns: sent.busy_ns,
            queue_ns: self.queue_ns,
        }
    }
}

/// All point-to-point links, with the routes across them.
#[derive(Clone, Debug)]
pub struct Links {
    pub directions: Vec<Direction>,
    /// Ends of the directions in order, with their numbers.
    by_ends: Vec<(NodeId, NodeId, usize)>,
    /// Nodes at which packets change between links and radio, if routes over the radio are found on demand.
    pub crossings: Option<Crossings>,
}

impl Links {
    pub fn new(setup: &Setup, crossings: Option<Crossings>) -> Links {
        let mut by_ends: Vec<_> = setup.links.iter().zip(0..).map(|(l, i)| (l.from, l.to, i)).collect();
        by_ends.sort_unstable();
        Links { directions: setup.links.iter().map(|l| Direction::new(l, setup.seed)).collect(), by_ends, crossings }
    }

    /// Directions that leave a node.
    pub fn leaving(&self, n: NodeId) -> Vec<usize> {
        (0..self.directions.len()).filter(|&i| self.directions[i].from == n).collect()
    }

    /// Direction of a link, by the number of the link.
    pub fn direction_mut(&mut self, link: u32, back: bool) -> Option<(&mut Link, &mut ErrorModel)> {
        let d = self.directions.iter_mut().find(|d| (d.number, d.back) == (link, back))?;
        Some((&mut d.link, &mut d.error))
    }

    /// Number of packets in queues, in transmitters and in flight.
    pub fn packets_held(&self) -> usize {
        self.directions.iter().map(|d| d.queue.len() + d.link.len()).sum()
    }

    /// Number of packets in the queues in front of the links of a node.
    pub fn queued_at(&self, n: NodeId) -> usize {
        let of_node = self.by_ends.iter().filter(|e| e.0 == n);
        of_node.map(|e| self.directions[e.2].queue.len()).sum()
    }

    /// Adds the marks of each queue to the counters of its node.
    pub fn add_marks(&self, nodes: &mut [NodeTotals]) {
        for d in &self.directions {
            nodes[d.from.index()].radio.ecn_marks += d.queue.marks();
        }
    }

    pub fn totals(&mut self, now: Time) -> Vec<LinkTotals> {
        self.directions.iter_mut().map(|d| d.totals(now)).collect()
    }

    /// Tells if packets are routed across links and radio by `crossings`, not by the routers.
    pub fn lead(&self) -> bool {
        self.crossings.is_some()
    }

    /// Node at which packets between two nodes leave the radio.
    pub fn end_of_radio(&self, from: NodeId, to: NodeId) -> NodeId {
        match self.crossings.as_ref().and_then(|c| c.step(from, to)) {
            Some(Step::Radio(end)) => end,
            _ => to,
        }
    }

    /// Link over which a router sends to a neighbour.
    #[inline]
    pub fn for_router(&self, from: NodeId, to: NodeId) -> Option<usize> {
        if self.directions.is_empty() || self.lead() { None } else { self.between(from, to) }
    }

    pub fn between(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let i = self.by_ends.binary_search_by_key(&(from, to), |e| (e.0, e.1)).ok()?;
        Some(self.by_ends[i].2)
    }
}
