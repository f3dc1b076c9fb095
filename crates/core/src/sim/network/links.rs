//! Point-to-point links of all nodes: queues, transmitters, errors, and routes that cross from links to radio and back.

use super::segment::Segment;
use crate::error_model::{ErrorModel, Place};
use crate::net::queue::{Outlet, Queue};
use crate::net::routing::crossing::{Crossings, Step};
use crate::net::routing::gateways::Gateways;
use crate::packet::{NodeId, PacketId, Reason};
use crate::point_to_point::Link;
use crate::record::totals::{LinkTotals, NodeTotals};
use crate::rng::{Purpose, Stream};
use crate::run::{LinkSetup, Setup};
use crate::tcp;
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
    /// Packets are scheduled on the link when they come, among which are no routing messages. The queue, which has the
    /// limit, stays empty.
    pub schedules: bool,
    pub error: ErrorModel,
    pub error_place: Place,
    /// The link is down: whatever it gets is lost.
    pub is_down: bool,
    /// Segment in the transmitter, if its sender tracks its segments within the node.
    pub sending: Option<Segment>,
    /// Integral of the queue length over time [packets ns].
    queue_ns: u64,
    /// End of that integral.
    noted: Time,
    /// Packets handed to the link.
    pub offered: u64,
    /// Packets lost to the error model, or because the link was down.
    pub damaged: u64,
    /// Packets dropped by a full queue.
    dropped_full: u64,
    /// Packets dropped by active queue management.
    dropped_aqm: u64,
}

impl Direction {
    /// `key`: key of its random streams.
    fn new(setup: &LinkSetup, seed: u64, key: u64) -> Direction {
        let outlet = Outlet { rate: setup.point_to_point.rate, delay: setup.point_to_point.delay };
        Direction {
            number: setup.link,
            back: setup.back,
            from: setup.from,
            to: setup.to,
            queue: Queue::new(&setup.queue, outlet, Stream::new(seed, Purpose::LinkQueue, key)),
            link: Link::new(setup.point_to_point),
            schedules: false,
            error: ErrorModel::new(&setup.error, Stream::new(seed, Purpose::Errors, key)),
            error_place: setup.error_place,
            is_down: false,
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

    /// Number of waiting packets.
    fn waiting_at(&self, now: Time) -> usize {
        if self.schedules { self.link.waiting_at(now) } else { self.queue.len() }
    }

    /// Schedules a packet on the link, if fewer wait than the queue has room for. Returns true if it is the only one
    /// that is carried; `None`: there is no room.
    #[inline]
    pub fn schedule(&mut self, packet: PacketId, bytes: u32, now: Time) -> Option<bool> {
        let room = self.queue.room();
        if self.link.len() >= room && self.link.waiting(now) >= room {
            self.dropped_full += 1;
            return None;
        }
        Some(self.link.schedule(packet, bytes, now))
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
            queue_ns: self.queue_ns + self.link.waited_ns(now),
        }
    }
}

/// Ways of packets between links and radio.
#[derive(Clone, Debug)]
pub enum Ways {
    /// Nodes at which packets change between links and radio, as at the start.
    AtStart(Crossings),
    /// Gateways, which change during the run.
    Announced(Box<Gateways>),
}

/// All point-to-point links, with the routes across them.
#[derive(Clone, Debug)]
pub struct Links {
    /// Sorted by their ends: what happens on several links at one instant happens in this order, wherever the links
    /// stand in the scenario.
    pub directions: Vec<Direction>,
    /// Far end of each direction.
    to: Vec<NodeId>,
    /// Number of directions that leave the nodes before each node, and of all; empty without any.
    before: Vec<u32>,
    /// Ways of packets between links and radio, if the routers do not know them.
    pub ways: Option<Ways>,
}

impl Links {
    /// Links whose packets the routers know how to send, as long as there are no `ways`.
    pub fn new(setup: &Setup) -> Links {
        let mut sorted: Vec<&LinkSetup> = setup.links.iter().collect();
        sorted.sort_unstable_by_key(|l| (l.from, l.to));
        let key = |l: &LinkSetup| setup.key(l.from) << 32 | setup.key(l.to);
        let may_schedule = nobody_asks(setup);
        let direction = |l: &&LinkSetup| {
            let mut d = Direction::new(l, setup.seed, key(l));
            d.schedules = may_schedule && d.queue.is_plain() && !watches_queues(setup, l.from);
            d
        };
        let nodes = (setup.positions.len() + setup.wired as usize) as u32;
        let all = if sorted.is_empty() { 0..0 } else { 0..nodes + 1 };
        let before = all.map(|n| sorted.partition_point(|l| l.from.0 < n) as u32).collect();
        Links {
            directions: sorted.iter().map(direction).collect(),
            to: sorted.iter().map(|l| l.to).collect(),
            before,
            ways: None,
        }
    }

    /// Directions that leave a node.
    #[inline]
    pub fn leaving(&self, n: NodeId) -> std::ops::Range<usize> {
        match self.before.get(n.index()..n.index() + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }

    /// Far end of a direction.
    #[inline]
    pub fn to(&self, link: usize) -> NodeId {
        self.to[link]
    }

    /// Direction of a link, by the number of the link.
    pub fn direction_mut(&mut self, link: u32, back: bool) -> Option<(&mut Link, &mut ErrorModel)> {
        let d = self.directions.iter_mut().find(|d| (d.number, d.back) == (link, back))?;
        Some((&mut d.link, &mut d.error))
    }

    /// Queue in front of a direction of a link, by the number of the link.
    pub fn queue_mut(&mut self, link: u32, back: bool) -> Option<&mut Queue> {
        let direction = self.directions.iter_mut().find(|d| (d.number, d.back) == (link, back));
        direction.map(|d| &mut d.queue)
    }

    /// Number of packets in queues, in transmitters and in flight.
    pub fn packets_held(&self) -> usize {
        self.directions.iter().map(|d| d.queue.len() + d.link.len()).sum()
    }

    /// Number of packets in the queues in front of the links of a node.
    pub fn queued_at(&self, n: NodeId, now: Time) -> usize {
        self.directions[self.leaving(n)].iter().map(|d| d.waiting_at(now)).sum()
    }

    /// Adds the marks of each queue to the counters of its node.
    pub fn add_marks(&self, nodes: &mut [NodeTotals]) {
        for d in &self.directions {
            nodes[d.from.index()].radio.ecn_marks += d.queue.marks();
        }
    }

    /// Totals of each direction, in the order of the scenario.
    pub fn totals(&mut self, now: Time) -> Vec<LinkTotals> {
        let mut all: Vec<_> = self.directions.iter_mut().map(|d| ((d.number, d.back), d.totals(now))).collect();
        all.sort_unstable_by_key(|d| d.0);
        all.into_iter().map(|d| d.1).collect()
    }

    /// Places of the directions of the link with this number.
    pub fn numbered(&self, link: u32) -> impl Iterator<Item = usize> + use<> {
        let places: Vec<usize> = (0..self.directions.len()).filter(|&i| self.directions[i].number == link).collect();
        places.into_iter()
    }

    /// Returns true if packets are routed across links and radio by `ways`, not by the routers.
    pub fn uses_crossings(&self) -> bool {
        self.ways.is_some()
    }

    /// Gateways, if they change during the run.
    pub fn gateways(&self) -> Option<&Gateways> {
        if let Some(Ways::Announced(gateways)) = &self.ways { Some(gateways) } else { None }
    }

    /// The same, to be changed.
    pub fn gateways_mut(&mut self) -> Option<&mut Gateways> {
        if let Some(Ways::Announced(gateways)) = &mut self.ways { Some(gateways) } else { None }
    }

    /// Next segment of the way of a packet across links and radio; `is_own`: the way begins here.
    pub fn step(&self, at: NodeId, to: NodeId, is_own: bool) -> Option<Step> {
        match self.ways.as_ref()? {
            Ways::AtStart(crossings) => crossings.step(at, to),
            Ways::Announced(gateways) => gateways.step(at, to, is_own, |from, to| self.between(from, to)),
        }
    }

    /// Returns true if a packet for this destination leaves the radio at a gateway.
    #[inline]
    pub fn is_exit(&self, at: NodeId, to: NodeId) -> bool {
        self.gateways().is_some_and(|gateways| gateways.is_exit(at, to))
    }

    /// Node at which packets between two nodes leave the radio, or that stands for any gateway there.
    pub fn end_of_radio(&self, from: NodeId, to: NodeId) -> NodeId {
        match self.step(from, to, true) {
            Some(Step::Radio(end)) => end,
            _ => to,
        }
    }

    /// Link over which a router sends to a neighbor.
    #[inline]
    pub fn for_router(&self, from: NodeId, to: NodeId) -> Option<usize> {
        if self.directions.is_empty() || self.uses_crossings() { None } else { self.between(from, to) }
    }

    /// Direction between two nodes.
    #[inline]
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let leaving = self.leaving(from);
        self.to[leaving.clone()].binary_search(&to).ok().map(|place| leaving.start + place)
    }
}

/// Returns true if nobody needs the instants at which links take packets from their queues, nor their order: no
/// observer, driver, middlebox, or source quench.
fn nobody_asks(setup: &Setup) -> bool {
    let is_seen = setup.capture || !setup.record.is_empty() || setup.flows.iter().any(|f| f.app.is_external());
    let is_split = setup.flows.iter().any(|f| f.split.is_some());
    let hears_quench = setup.senders().any(|tcp| tcp.ecn.enabled && tcp.ecn.source_quench);
    !is_seen && !is_split && !hears_quench && setup.middleboxes.is_empty()
}

/// Returns true if a sender at a node follows its segments through the queues of the node.
fn watches_queues(setup: &Setup, n: NodeId) -> bool {
    let is_source =
        setup.flows.iter().any(|f| f.from == n) || setup.arrivals.iter().any(|a| a.from.is_none_or(|from| from == n));
    is_source && setup.senders().any(tcp::Config::watches_own_queue)
}
