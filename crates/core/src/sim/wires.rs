//! Interface between network layer and point-to-point links, and routes that cross from links to radio and back.

use super::Sim;
use super::flows::own_queue::Segment;
use super::timer_numbers::Timer;
use crate::error_model::Place;
use crate::net::queue::{self, Queue};
use crate::net::routing::crossing::Step;
use crate::packet::{Happening, NodeId, PacketId, RadioId, Reason};
use crate::record::note::{Note, QueueId};

impl Sim {
    /// Leads a packet on from a node at which it enters the network, leaves a wire, or leaves the radio.
    pub(super) fn lead(&mut self, n: NodeId, packet: PacketId, is_own: bool) {
        let p = &mut self.pool[packet];
        if !is_own {
            p.ttl = p.ttl.saturating_sub(1);
            if p.ttl == 0 {
                return self.drop_packet(n, packet, Reason::TtlExpired);
            }
        }
        let step = self.net.wires.crossings.as_ref().and_then(|c| c.step(n, p.goal));
        match step {
            Some(Step::Wire(next)) => {
                p.next_hop = next;
                let wire = self.net.wires.between(n, next).expect("the way leads along a wire");
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
        let p = &mut self.pool[packet];
        let d = &mut self.net.wires.directions[wire];
        let from = d.from;
        d.offered += 1;
        if d.error_place == Place::BeforeQueue && d.error.damages(p.bytes) {
            d.damaged += 1;
            return self.drop_packet(from, packet, Reason::LinkError);
        }
        d.note_queue(self.now);
        self.pool.here(from, self.now);
        self.pool.note(packet, Happening::Queued);
        d.queue.push_packet(
            packet,
            &mut queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped },
        );
        d.note_dropped(&self.net.dropped);
        self.end_dropped(from);
        self.feed(wire);
    }

    /// Gives a free transmitter the next packet of its queue.
    fn feed(&mut self, wire: usize) {
        let d = &mut self.net.wires.directions[wire];
        if d.link.is_free(self.now) {
            if let Some(segment) = d.sending.take() {
                let from = d.from;
                self.flows.on_left(from, segment, false, self.now, &mut self.timers);
            }
            let d = &mut self.net.wires.directions[wire];
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
            if let Some(packet) = d.queue.pop(&mut cx) {
                self.pool.here(d.from, self.now);
                self.pool.note(packet, Happening::Dequeued);
                if self.flows.tells_of_queue {
                    d.sending = Segment::of(&self.pool[packet]);
                }
                d.link.transmit(packet, self.pool[packet].bytes, self.now);
            }
            d.note_dropped(&self.net.dropped);
            let from = d.from;
            self.end_dropped(from);
        }
        let d = &self.net.wires.directions[wire];
        let id = QueueId::Wire { from: d.from, to: d.to };
        self.watch.note_queue(self.now, id, &d.queue, &self.pool);
        self.timers.set(Timer::Wire(wire), d.link.deadline());
    }

    /// A packet arrives at the end of a wire, or the transmitter is free for the next.
    #[inline(never)]
    pub(super) fn on_wire(&mut self, wire: usize) {
        while let Some(packet) = self.net.wires.directions[wire].link.arrived(self.now) {
            let d = &mut self.net.wires.directions[wire];
            let (from, to) = (d.from, d.to);
            if self.net.nodes[to.index()].off {
                self.drop_packet(to, packet, Reason::NodeOff);
            } else if d.error_place == Place::AfterTransmitter && d.error.damages(self.pool[packet].bytes) {
                d.damaged += 1;
                self.lose_packet(from, packet, Reason::LinkError);
            } else {
                self.watch.note(self.now, &Note::Arrival { from, to, packet: &self.pool[packet] });
                self.pool.here(to, self.now);
                self.pool.note(packet, Happening::Arrived);
                self.on_arrival_by_wire(to, packet);
            }
        }
        self.feed(wire);
    }

    /// A node is switched off: what waits for its wires is lost, and what is being sent.
    pub(super) fn cut_wires(&mut self, n: NodeId) {
        for wire in self.net.wires.leaving(n) {
            let d = &mut self.net.wires.directions[wire];
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
            d.queue.clear(&mut cx);
            d.sending = None;
            self.net.dropped.extend(d.link.cut(self.now).map(|packet| (packet, Reason::NodeOff)));
            self.timers.set(Timer::Wire(wire), d.link.deadline());
            self.end_dropped(n);
        }
    }

    fn on_arrival_by_wire(&mut self, n: NodeId, packet: PacketId) {
        if self.pool[packet].goal == n {
            self.on_delivered_to(n, packet);
        } else if self.pass(n, packet) {
            self.forward(n, packet);
        }
    }

    /// Sends a packet on that is not of this node.
    pub(super) fn forward(&mut self, n: NodeId, packet: PacketId) {
        if self.net.is_off(n) {
            // It comes from a middlebox, whose timers go on.
            self.drop_packet(n, packet, Reason::NodeOff);
        } else if self.net.wires.lead() {
            self.lead(n, packet, false);
        } else {
            self.with_router(n, |router, cx| router.route(packet, cx));
        }
    }

    /// Packets for which there is room in the queue in which this node would put packets for a destination.
    pub(super) fn free_slots(&self, n: NodeId, goal: NodeId) -> usize {
        let next = match &self.net.wires.crossings {
            Some(crossings) => crossings.step(n, goal).and_then(|s| if let Step::Wire(v) = s { Some(v) } else { None }),
            None => self.net.nodes[n.index()].router.next_hop(n, goal),
        };
        match next.and_then(|next| self.net.wires.between(n, next)) {
            Some(wire) => self.net.wires.directions[wire].queue.free_slots(),
            None => {
                let radio = next.map_or(RadioId(n.0), |next| self.net.ports.to(n, next));
                self.net.ports.queues.get(radio.index()).map_or(usize::MAX, Queue::free_slots)
            }
        }
    }

    /// A packet has left the radio at the node where its way goes on.
    pub(super) fn on_end_of_radio(&mut self, n: NodeId, packet: PacketId) {
        // The routing protocol of the radio has counted hops of its own.
        self.pool[packet].ttl = self.net.ttl;
        if self.pass(n, packet) {
            self.lead(n, packet, false);
        }
    }
}
