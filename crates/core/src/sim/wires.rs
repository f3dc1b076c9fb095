//! The border between network layer and wires: queues, links, errors on the way, and ways that cross from wires to
//! radio and back.

use super::own_queue::Segment;
use super::slots::Slot;
use super::{Sim, queue};
use crate::error_model::{ErrorModel, Place};
use crate::net::queue::Queue;
use crate::net::routing::crossing::{Crossings, Step};
use crate::packet::{Happening, NodeId, PacketId, RadioId, Reason};
use crate::record::note::{Note, QueueId};
use crate::record::totals::{LinkTotals, NodeTotals};
use crate::rng::{Purpose, Stream};
use crate::run::{LinkSetup, Setup};
use crate::unit::Time;
use crate::wire::Link;

/// One direction of a wire, with the queue in front of it.
#[derive(Clone, Debug)]
struct Direction {
    /// The link, and whether this is its second direction.
    number: u32,
    back: bool,
    from: NodeId,
    to: NodeId,
    queue: queue::Queue,
    link: Link,
    error: ErrorModel,
    error_place: Place,
    /// The segment in the transmitter, where senders want to hear of them.
    sending: Option<Segment>,
    /// Integral of the waiting packets over time [packets ns], and until when it has been taken.
    queue_ns: u64,
    noted: Time,
    offered: u64,
    damaged: u64,
    /// Packets that the queue has dropped because it was full, and those that it could have kept.
    dropped_full: u64,
    dropped_aqm: u64,
}

impl Direction {
    fn new(setup: &LinkSetup, seed: u64) -> Direction {
        let number = 2 * u64::from(setup.link) + u64::from(setup.back);
        let outlet = queue::Outlet { rate: setup.wire.rate, delay: setup.wire.delay };
        Direction {
            number: setup.link,
            back: setup.back,
            from: setup.from,
            to: setup.to,
            queue: queue::Queue::new(&setup.queue, outlet, Stream::new(seed, Purpose::Queue, (1 << 32) + number)),
            link: Link::new(setup.wire),
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

    /// Takes the packets that have waited since the last call into the integral; before their number changes.
    fn note_queue(&mut self, now: Time) {
        self.queue_ns += self.queue.len() as u64 * now.since(self.noted).0;
        self.noted = now;
    }

    /// Counts what the queue has dropped.
    fn note_dropped(&mut self, dropped: &[(PacketId, Reason)]) {
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

/// All wires, and the ways across them.
#[derive(Clone, Debug)]
pub(super) struct Wires {
    directions: Vec<Direction>,
    /// Ends of the directions in order, with their numbers.
    by_ends: Vec<(NodeId, NodeId, usize)>,
    /// Where the routes over the radio are found on demand.
    crossings: Option<Crossings>,
}

impl Wires {
    pub(super) fn new(setup: &Setup, crossings: Option<Crossings>) -> Wires {
        let mut by_ends: Vec<_> = setup.links.iter().zip(0..).map(|(l, i)| (l.from, l.to, i)).collect();
        by_ends.sort_unstable();
        Wires { directions: setup.links.iter().map(|l| Direction::new(l, setup.seed)).collect(), by_ends, crossings }
    }

    /// The directions that leave a node.
    fn leaving(&self, n: NodeId) -> Vec<usize> {
        (0..self.directions.len()).filter(|&i| self.directions[i].from == n).collect()
    }

    /// A direction by the number of its link.
    pub(super) fn direction_mut(&mut self, link: u32, back: bool) -> Option<(&mut Link, &mut ErrorModel)> {
        let d = self.directions.iter_mut().find(|d| (d.number, d.back) == (link, back))?;
        Some((&mut d.link, &mut d.error))
    }

    /// Packets in queues and on the way.
    pub(super) fn packets_held(&self) -> usize {
        self.directions.iter().map(|d| d.queue.len() + d.link.len()).sum()
    }

    /// Packets in the queues in front of the wires of a node.
    pub(super) fn queued_at(&self, n: NodeId) -> usize {
        let of_node = self.by_ends.iter().filter(|e| e.0 == n);
        of_node.map(|e| self.directions[e.2].queue.len()).sum()
    }

    /// Counts marks in front of a wire as those of the node there.
    pub(super) fn add_marks(&self, nodes: &mut [NodeTotals]) {
        for d in &self.directions {
            nodes[d.from.index()].radio.ecn_marks += d.queue.marks();
        }
    }

    pub(super) fn totals(&mut self, now: Time) -> Vec<LinkTotals> {
        self.directions.iter_mut().map(|d| d.totals(now)).collect()
    }

    /// Whether packets are led across wires and radio here, and not by the routers.
    pub(super) fn lead(&self) -> bool {
        self.crossings.is_some()
    }

    /// To which node the routing protocol of the radio takes packets from one node to another: there the radio ends.
    pub(super) fn end_of_radio(&self, from: NodeId, to: NodeId) -> NodeId {
        match self.crossings.as_ref().and_then(|c| c.step(from, to)) {
            Some(Step::Radio(end)) => end,
            _ => to,
        }
    }

    /// The wire on which a router sends to a neighbour.
    #[inline]
    pub(super) fn for_router(&self, from: NodeId, to: NodeId) -> Option<usize> {
        if self.directions.is_empty() || self.lead() { None } else { self.between(from, to) }
    }

    fn between(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let i = self.by_ends.binary_search_by_key(&(from, to), |e| (e.0, e.1)).ok()?;
        Some(self.by_ends[i].2)
    }
}

impl Sim {
    /// Leads a packet on from a node at which it enters the network, leaves a wire, or leaves the radio.
    pub(super) fn lead(&mut self, n: NodeId, packet: PacketId, is_own: bool) {
        let p = &mut self.slab[packet];
        if !is_own {
            p.ttl = p.ttl.saturating_sub(1);
            if p.ttl == 0 {
                return self.drop_packet(n, packet, Reason::TtlExpired);
            }
        }
        let step = self.wires.crossings.as_ref().and_then(|c| c.step(n, p.goal));
        match step {
            Some(Step::Wire(next)) => {
                p.next_hop = next;
                let wire = self.wires.between(n, next).expect("the way leads along a wire");
                self.enqueue_on_wire(wire, packet);
            }
            Some(Step::Radio(end)) => {
                (p.source, p.destination, p.hops) = (n, end, 0);
                self.with_router(n, |router, cx| router.route(packet, cx));
            }
            None => self.drop_packet(n, packet, Reason::NoRoute),
        }
    }

    /// A packet arrives at the queue in front of a wire.
    pub(super) fn enqueue_on_wire(&mut self, wire: usize, packet: PacketId) {
        let p = &mut self.slab[packet];
        let d = &mut self.wires.directions[wire];
        let from = d.from;
        d.offered += 1;
        if d.error_place == Place::BeforeQueue && d.error.damages(p.bytes) {
            d.damaged += 1;
            return self.drop_packet(from, packet, Reason::LinkError);
        }
        d.note_queue(self.now);
        self.slab.here(from, self.now);
        self.slab.note(packet, Happening::Queued);
        d.queue.push_packet(packet, &mut queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped });
        d.note_dropped(&self.dropped);
        self.end_dropped(from);
        self.feed(wire);
    }

    /// Gives a free transmitter the next packet of its queue.
    fn feed(&mut self, wire: usize) {
        let d = &mut self.wires.directions[wire];
        if d.link.is_free(self.now) {
            if let Some(segment) = d.sending.take() {
                let from = d.from;
                self.on_left(from, segment, false);
            }
            let d = &mut self.wires.directions[wire];
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
            if let Some(packet) = d.queue.pop(&mut cx) {
                self.slab.here(d.from, self.now);
                self.slab.note(packet, Happening::Dequeued);
                if self.tells_of_queue {
                    d.sending = Segment::of(&self.slab[packet]);
                }
                d.link.transmit(packet, self.slab[packet].bytes, self.now);
            }
            d.note_dropped(&self.dropped);
            let from = d.from;
            self.end_dropped(from);
        }
        let d = &self.wires.directions[wire];
        if let Some(observers) = &mut self.observers {
            let id = QueueId::Wire { from: d.from, to: d.to };
            observers.on(self.now, &Note::Queue { id, queue: &d.queue, bytes: d.queue.bytes(&self.slab) });
        }
        self.timers.set(Slot::Wire(wire), d.link.deadline());
    }

    /// A packet arrives at the end of a wire, or the transmitter is free for the next.
    #[inline(never)]
    pub(super) fn on_wire(&mut self, wire: usize) {
        while let Some(packet) = self.wires.directions[wire].link.arrived(self.now) {
            let d = &mut self.wires.directions[wire];
            let (from, to) = (d.from, d.to);
            if self.nodes[to.index()].off {
                self.drop_packet(to, packet, Reason::NodeOff);
            } else if d.error_place == Place::AfterTransmitter && d.error.damages(self.slab[packet].bytes) {
                d.damaged += 1;
                self.lose_packet(from, packet, Reason::LinkError);
            } else {
                if let Some(observers) = &mut self.observers {
                    observers.on(self.now, &Note::Arrival { from, to, packet: &self.slab[packet] });
                }
                self.slab.here(to, self.now);
                self.slab.note(packet, Happening::Arrived);
                self.on_arrival_by_wire(to, packet);
            }
        }
        self.feed(wire);
    }

    /// A node is switched off: what waits for its wires is lost, and what is being sent.
    pub(super) fn cut_wires(&mut self, n: NodeId) {
        for wire in self.wires.leaving(n) {
            let d = &mut self.wires.directions[wire];
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
            d.queue.clear(&mut cx);
            d.sending = None;
            self.dropped.extend(d.link.cut(self.now).map(|packet| (packet, Reason::NodeOff)));
            self.timers.set(Slot::Wire(wire), d.link.deadline());
            self.end_dropped(n);
        }
    }

    fn on_arrival_by_wire(&mut self, n: NodeId, packet: PacketId) {
        if self.slab[packet].goal == n {
            self.on_delivered_to(n, packet);
        } else if self.pass(n, packet) {
            self.forward(n, packet);
        }
    }

    /// Sends a packet on that is not of this node.
    pub(super) fn forward(&mut self, n: NodeId, packet: PacketId) {
        if self.is_off(n) {
            // It comes from a middlebox, whose timers go on.
            self.drop_packet(n, packet, Reason::NodeOff);
        } else if self.wires.lead() {
            self.lead(n, packet, false);
        } else {
            self.with_router(n, |router, cx| router.route(packet, cx));
        }
    }

    /// Packets for which there is room in the queue in which this node would put packets for a destination.
    pub(super) fn free_slots(&self, n: NodeId, goal: NodeId) -> usize {
        let next = match &self.wires.crossings {
            Some(crossings) => crossings.step(n, goal).and_then(|s| if let Step::Wire(v) = s { Some(v) } else { None }),
            None => self.nodes[n.index()].router.next_hop(n, goal),
        };
        match next.and_then(|next| self.wires.between(n, next)) {
            Some(wire) => self.wires.directions[wire].queue.free_slots(),
            None => {
                let radio = next.map_or(RadioId(n.0), |next| self.ports.to(n, next));
                self.ports.queues.get(radio.index()).map_or(usize::MAX, Queue::free_slots)
            }
        }
    }

    /// A packet has left the radio at the node where its way goes on.
    pub(super) fn on_end_of_radio(&mut self, n: NodeId, packet: PacketId) {
        // The routing protocol of the radio has counted hops of its own.
        self.slab[packet].ttl = self.ttl;
        if self.pass(n, packet) {
            self.lead(n, packet, false);
        }
    }

    /// Packets that wait at a node for its MAC or its wires.
    pub(super) fn queued_at(&self, n: NodeId) -> usize {
        self.ports.of(n).map(|r| self.ports.queues[r.index()].len()).sum::<usize>() + self.wires.queued_at(n)
    }
}
