//! Interface between network layer and point-to-point links, and routes that cross from links to radio and back.

use crate::error_model::Place;
use crate::net::queue;
use crate::net::routing::crossing::Step;
use crate::net::routing::gateways::Turn;
use crate::packet::{Happening, Kind, NodeId, PacketId, RadioId, Reason};
use crate::record::note::QueueId;
use crate::sim::Sim;
use crate::sim::network::links::Ways;
use crate::sim::network::segment::Segment;
use crate::sim::timer_numbers::Timer;
use crate::wlan::edca::AccessCategory;

impl Sim {
    /// Forwards a packet at a node where it enters the network, arrives over a point-to-point link, or ends its way
    /// over the radio.
    pub(in crate::sim) fn forward_by_crossings(&mut self, n: NodeId, packet: PacketId, is_own: bool) {
        let p = &mut self.pool[packet];
        if !is_own {
            p.ttl = p.ttl.saturating_sub(1);
            if p.ttl == 0 {
                return self.drop_packet(n, packet, Reason::TtlExpired);
            }
        }
        let to = p.final_destination;
        match self.net.links.step(n, to, is_own) {
            Some(Step::Link(link)) => {
                let link = link as usize;
                p.next_hop = self.net.links.to(link);
                self.enqueue_on_link(link, packet);
            }
            Some(Step::Radio(mut end)) => {
                // A packet that was sent to this node as to a gateway is not sent to another one.
                if p.destination != n
                    && self.net.links.gateways().is_some_and(|g| !g.has_radio(end))
                    && let Some(gateway) = self.net.nodes[n.index()].router.gateway(to, self.now)
                {
                    end = gateway;
                }
                (p.source, p.destination, p.hops) = (n, end, 0);
                if let Some(gateways) = self.net.links.gateways_mut().filter(|g| !is_own && g.has_radio(to))
                    && p.body.kind() == Kind::Data
                {
                    gateways.note_data(p.flow, n, self.now);
                }
                self.with_router(n, |router, cx| router.route(packet, cx));
            }
            None => self.drop_packet(n, packet, Reason::NoRoute),
        }
    }

    /// Puts a packet into the queue in front of a link.
    pub(in crate::sim) fn enqueue_on_link(&mut self, link: usize, packet: PacketId) {
        self.settle(link);
        let d = &mut self.net.links.directions[link];
        let from = d.from;
        d.offered += 1;
        let at_once = |flow| self.flows.segments_at_once(flow);
        if d.is_down || (d.error_place == Place::BeforeQueue && d.error.damages_packet(&self.pool[packet], at_once)) {
            d.damaged += 1;
            return self.drop_packet(from, packet, Reason::LinkError);
        }
        if d.schedules {
            return match d.schedule(packet, self.pool[packet].bytes, self.now) {
                Some(true) => self.timers.set(Timer::Link(link), d.link.deadline()),
                Some(false) => {}
                None => self.drop_packet(from, packet, Reason::QueueFull),
            };
        }
        d.note_queue(self.now);
        self.pool.set_context(from, self.now);
        self.pool.note(packet, Happening::Queued);
        d.queue.push_packet(
            packet,
            &mut queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped },
        );
        d.note_dropped(&self.net.dropped);
        if self.flows.hears_quench {
            self.quench(Some(packet));
        }
        self.end_dropped(from);
        let d = &self.net.links.directions[link];
        if d.link.is_free() {
            self.transmit_next(link);
            self.timers.set(Timer::Link(link), self.net.links.directions[link].link.deadline());
        } else {
            self.note_link_queue(link);
        }
    }

    /// Frees the transmitter of a link if its transmission ends now. A packet that comes to the queue at this instant
    /// finds the transmitter free, as in ns-2 and ns-3, whichever of the two timers expires first; so does a middlebox
    /// that asks for room.
    #[inline]
    fn settle(&mut self, link: usize) {
        if self.net.links.directions[link].link.finish(self.now) {
            self.transmit_next(link);
            self.timers.set(Timer::Link(link), self.net.links.directions[link].link.deadline());
        }
    }

    /// Starts to transmit the next packet of the queue. The transmitter must be free.
    fn transmit_next(&mut self, link: usize) {
        let d = &mut self.net.links.directions[link];
        if let Some(segment) = d.sending.take() {
            let from = d.from;
            self.flows.on_left(from, segment, false, self.now, &mut self.timers);
        }
        let d = &mut self.net.links.directions[link];
        d.note_queue(self.now);
        let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
        let next = d.queue.pop(&mut cx);
        if let Some(packet) = next {
            self.pool.set_context(d.from, self.now);
            self.pool.note(packet, Happening::Dequeued);
            if self.flows.reports_queue {
                d.sending = Segment::of(&self.pool[packet]);
            }
            d.link.transmit(packet, self.pool[packet].bytes, self.now);
            self.watch.note_departure(self.now, (d.from, d.to), packet, &mut self.pool);
        }
        d.note_dropped(&self.net.dropped);
        let from = d.from;
        if self.flows.hears_quench {
            self.quench(next);
        }
        self.end_dropped(from);
        self.note_link_queue(link);
    }

    /// Reports a change of the queue in front of a link to observers.
    #[inline]
    fn note_link_queue(&mut self, link: usize) {
        let d = &self.net.links.directions[link];
        let id = QueueId::Link { from: d.from, to: d.to };
        self.watch.note_queue(self.now, id, &d.queue, &self.pool);
    }

    /// Timer of a link: the transmitter becomes free, or a packet arrives at its end.
    #[inline(never)]
    pub(in crate::sim) fn on_link(&mut self, link: usize) {
        if self.net.links.directions[link].link.finish(self.now) {
            self.transmit_next(link);
        }
        while let Some(packet) = self.net.links.directions[link].link.arrived(self.now) {
            let d = &mut self.net.links.directions[link];
            let (from, to) = (d.from, d.to);
            let at_once = |flow| self.flows.segments_at_once(flow);
            if self.net.nodes[to.index()].off {
                self.drop_packet(to, packet, Reason::NodeOff);
            } else if d.error_place == Place::AfterTransmitter && d.error.damages_packet(&self.pool[packet], at_once) {
                d.damaged += 1;
                self.lose_packet(from, packet, Reason::LinkError);
            } else {
                self.watch.note_arrival(self.now, (from, to), packet, &mut self.pool);
                self.pool.set_context(to, self.now);
                self.pool.note(packet, Happening::Arrived);
                self.on_arrival_by_link(to, packet);
            }
        }
        self.timers.set(Timer::Link(link), self.net.links.directions[link].link.deadline());
    }

    /// Drops the packets in front of the links of a node that is switched off, and those being transmitted.
    pub(in crate::sim) fn cut_links(&mut self, n: NodeId) {
        for link in self.net.links.leaving(n) {
            let d = &mut self.net.links.directions[link];
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
            d.queue.clear(Reason::NodeOff, &mut cx);
            d.sending = None;
            let dropped = &mut self.net.dropped;
            d.link.cut(self.now, |packet| dropped.push((packet, Reason::NodeOff)));
            self.timers.set(Timer::Link(link), d.link.deadline());
            self.end_dropped(n);
            self.note_link_queue(link);
        }
    }

    /// Cuts a link, or joins it again. Packets that wait for the link, that are being sent or are in flight are lost.
    pub(in crate::sim) fn switch_link(&mut self, number: u32, is_down: bool) {
        for link in self.net.links.numbered(number) {
            let d = &mut self.net.links.directions[link];
            if d.is_down == is_down {
                continue;
            }
            d.is_down = is_down;
            d.note_queue(self.now);
            let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
            d.queue.clear(Reason::LinkError, &mut cx);
            d.sending = None;
            let dropped = &mut self.net.dropped;
            d.link.cut(self.now, |packet| dropped.push((packet, Reason::LinkError)));
            let in_flight = d.link.take_in_flight();
            d.damaged += (self.net.dropped.len() + in_flight.len()) as u64;
            let from = d.from;
            self.timers.set(Timer::Link(link), d.link.deadline());
            self.end_dropped(from);
            in_flight.into_iter().for_each(|packet| self.lose_packet(from, packet, Reason::LinkError));
            self.note_link_queue(link);
        }
        self.find_gateways();
    }

    /// Finds the gateways anew, after nodes, radios or links have gone off or come back.
    #[cold]
    pub(in crate::sim) fn find_gateways(&mut self) {
        let changing = |ways: &mut Ways| matches!(ways, Ways::Announced(_));
        let Some(Ways::Announced(mut gateways)) = self.net.links.ways.take_if(changing) else { return };
        let net = &self.net;
        let is_up = |from, to| net.links.between(from, to).is_some_and(|link| !net.links.directions[link].is_down);
        let turns = gateways.update(|n| !net.is_off(n), is_up);
        let has_air = |n| !net.is_off(n) && net.ports.of(n).any(|r| !net.ports.is_down(r));
        let routes = gateways.routes(has_air);
        self.net.links.ways = Some(Ways::Announced(gateways));
        if let Some(routes) = routes {
            for n in (0..self.net.nodes.len() as u32).map(NodeId) {
                self.with_router(n, |router, _| router.replace(&routes));
            }
        }
        for Turn { gateway, network, serves } in turns {
            if !self.net.is_off(gateway) {
                self.with_router(gateway, |router, cx| router.serve(network, serves, cx));
            }
        }
    }

    fn on_arrival_by_link(&mut self, n: NodeId, packet: PacketId) {
        if self.pool[packet].final_destination == n {
            self.on_delivered_to(n, packet);
        } else if self.pass(n, packet) {
            self.forward(n, packet);
        }
    }

    /// Forwards a packet of another node.
    pub(in crate::sim) fn forward(&mut self, n: NodeId, packet: PacketId) {
        if self.net.is_off(n) {
            // The packet comes from a middlebox, whose timers run while the node is off.
            self.drop_packet(n, packet, Reason::NodeOff);
        } else if self.net.links.uses_crossings() {
            self.forward_by_crossings(n, packet, false);
        } else {
            self.with_router(n, |router, cx| router.route(packet, cx));
        }
    }

    /// Free room [packets] in the queue that this node uses for a packet.
    pub(in crate::sim) fn free_slots(&mut self, n: NodeId, packet: PacketId) -> usize {
        let final_destination = self.pool[packet].final_destination;
        let (link, next) = match self.net.links.uses_crossings() {
            true => match self.net.links.step(n, final_destination, false) {
                Some(Step::Link(link)) => (Some(link as usize), None),
                _ => (None, None),
            },
            false => {
                let next = self.net.nodes[n.index()].router.next_hop(n, final_destination);
                (next.and_then(|next| self.net.links.between(n, next)), next)
            }
        };
        match link {
            Some(link) => {
                self.settle(link);
                self.net.links.directions[link].queue.free_slots()
            }
            None => {
                let radio = next.map_or(RadioId(n.0), |next| self.net.ports.to(n, next));
                if radio.index() >= self.net.ports.queues.len() {
                    return usize::MAX;
                }
                let mac = &self.air.macs[radio.index()];
                if mac.has_queues() {
                    return usize::MAX;
                }
                let category = AccessCategory::of(mac.priority(self.flows.dscp(&self.pool[packet])));
                let mut queues = self.net.ports.by_category(radio);
                queues.find(|(of, _)| of.is_none_or(|c| c == category)).map_or(usize::MAX, |(_, q)| q.free_slots())
            }
        }
    }

    /// A packet has reached the end of its way over the radio, where it continues over a link.
    pub(in crate::sim) fn on_end_of_radio(&mut self, n: NodeId, packet: PacketId) {
        // The routing protocol of the radio has counted its own hops.
        let p = &mut self.pool[packet];
        p.ttl = self.net.cfg.ttl;
        if let Some(gateways) = self.net.links.gateways_mut().filter(|g| g.is_exit(n, p.final_destination)) {
            gateways.note_exit(p.source, n);
            if p.body.kind() == Kind::Data {
                gateways.note_data(p.flow, n, self.now);
            }
        }
        if self.pass(n, packet) {
            self.forward_by_crossings(n, packet, false);
        }
    }
}
