//! The border between stations and network layer: queues, address resolution, routing.

use super::slots::Slot;
use super::transit::Lane;
use super::{Flow, Node, Sim};
use crate::net::arp::Resolution;
use crate::net::queue;
use crate::net::routing::{self, Out};
use crate::packet::{
    self, Body, Ecn, Fate, FlowId, Happening, HeaderId, Kind, NodeId, Packet, PacketId, RadioId, Reason,
};
use crate::unit::{Span, Time};

/// Lists a flow that has just lost its route, or has begun without one.
fn list_if_routeless(flow: &Flow, f: u32, node: &mut Node, routeless: &mut Vec<u32>) {
    if flow.routes.lacks_route() {
        node.lacks_route = true;
        routeless.push(f);
    }
}

impl Sim {
    // ---- from the station ----

    /// A data frame was received. From here on this node works on a copy of its own. A broadcast it holds together with
    /// the sender, because most receivers only look at it.
    pub(super) fn on_data_received(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let n = self.ports.node(r);
        let p = &self.slab[packet];
        let ends_here = matches!(p.body, Body::Arp(_) | Body::Notification(_));
        let broadcast = p.next_hop.is_broadcast();
        self.slab.here(n, at);
        let own = if broadcast {
            self.slab.share(packet);
            packet
        } else {
            let own = self.slab.copy(packet);
            self.slab[own].hops = self.slab[own].hops.saturating_add(1);
            own
        };
        if self.is_lost_above_mac(r, at, own) {
            return;
        }
        if ends_here {
            self.on_link_message(r, at, own);
        } else {
            self.carry_within(Lane::Up, n, at + self.net.link_delay, own);
        }
    }

    /// A message between neighbours was received.
    #[cold]
    fn on_link_message(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let body = self.slab[packet].body;
        self.slab.end(packet, Fate::Delivered);
        match body {
            Body::Arp(message) => self.on_arp(self.ports.node(r), at, message),
            Body::Notification(notification) => self.on_notification(r, at, &notification),
            _ => unreachable!("{body:?} goes on"),
        }
    }

    /// A packet was acknowledged by the next hop, or its broadcast is over.
    pub(super) fn on_packet_sent(&mut self, r: RadioId, at: Time, packet: PacketId) {
        if self.tells_of_mac {
            self.on_sent_by_mac(r, packet);
        }
        let on_air = &mut self.on_air[r.index()];
        if !on_air.ended && on_air.frame.to.is_broadcast() {
            // Those who hear it still have to copy the packet.
            on_air.over = Some(packet);
        } else {
            self.end_last_frame_of(r, packet);
            self.slab.here(self.ports.node(r), at);
            self.slab.end(packet, Fate::Relayed);
        }
        self.offer(r, at);
    }

    /// A station is done with a packet, which may have its last frame still on the way to somebody far away.
    #[inline]
    fn end_last_frame_of(&mut self, r: RadioId, packet: PacketId) {
        let on_air = &self.on_air[r.index()];
        if !on_air.ended && on_air.frame.packet == Some(packet) {
            self.end_frame_early(r);
        }
    }

    /// The station gave a packet up.
    pub(super) fn on_packet_given_up(&mut self, r: RadioId, at: Time, packet: PacketId) {
        if self.admission.is_some() {
            self.on_mac_done(r, packet, true);
        }
        self.end_last_frame_of(r, packet);
        let n = self.ports.node(r);
        self.nodes[n.index()].attempt = self.on_air[r.index()].attempt;
        self.slab.here(n, at);
        self.on_undeliverable(n, packet, Reason::RetryLimit);
        self.offer(r, at);
    }

    pub(super) fn on_undeliverable(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        let kind = self.slab[packet].body.kind();
        let router = &self.nodes[n.index()].router;
        let ends = match kind {
            Kind::Arp => true,
            Kind::Routing => !router.saves_messages(),
            Kind::Data => !router.hears_of_all() && !self.flows[self.slab[packet].flow.index()].breaks_links,
            Kind::Ack => false,
        };
        if ends {
            if reason == Reason::RetryLimit {
                self.count_given_up(n, packet);
                if kind == Kind::Routing {
                    self.nodes[n.index()].router.on_message_lost(packet, &self.slab, self.now);
                }
            }
            if self.tells_of_queue {
                self.on_dropped_at(n, packet, reason);
            }
            self.slab.end(packet, Fate::Dropped(reason));
        } else {
            self.with_router(n, |router, cx| router.on_link_failure(packet, cx));
        }
    }

    /// Counts a packet that is dropped because the last attempt to send it has failed.
    fn count_given_up(&mut self, n: NodeId, packet: PacketId) {
        let cause = self.nodes[n.index()].attempt;
        self.losses.count(self.slab[packet].body.kind(), cause);
        self.note_given_up(packet, cause);
    }

    /// Gives a free station the next packet of its queue.
    fn offer(&mut self, r: RadioId, at: Time) {
        if !self.macs[r.index()].station.is_free() {
            return;
        }
        let id = loop {
            let mut cx = queue::Cx { now: at, slab: &mut self.slab, dropped: &mut self.dropped };
            let next = self.ports.queues[r.index()].pop(&mut cx);
            let n = self.ports.node(r);
            self.end_dropped(n);
            self.note_queue(r, at);
            let Some(id) = next else { return };
            self.slab.here(n, at);
            self.slab.note(id, Happening::Dequeued);
            if self.admission.is_none() || self.admits(r, at, id) {
                break id;
            }
        };
        self.settle(r, at);
        self.slab[id].tried = true;
        let p = &self.slab[id];
        let (kind, bytes, to) = (p.body.kind(), p.bytes, self.ports.peer(r, p.next_hop));
        self.call(r, at, |station, cx| station.enqueue(id, kind, to, bytes, cx));
    }

    // ---- network layer ----

    /// A router is due.
    #[inline(never)]
    pub(super) fn on_router(&mut self, n: NodeId) {
        self.with_router(n, |router, cx| router.on_deadline(cx));
    }

    /// Packets between the layers are due.
    pub(super) fn on_transit(&mut self) {
        while let Some((lane, n, packet)) = self.transit.pop(self.now) {
            match lane {
                Lane::Up => self.on_arrival(n, packet),
                Lane::Delayed => self.resolve(n, packet),
                Lane::Down => self.enqueue(n, packet),
            }
        }
        self.transit_at = self.transit.deadline();
    }

    /// A packet is on its way to another layer of the same node.
    #[inline]
    fn carry_within(&mut self, lane: Lane, n: NodeId, at: Time, packet: PacketId) {
        self.transit.insert(lane, at, n, packet);
        self.transit_at = self.transit_at.min(at);
    }

    /// A packet has come up from the MAC.
    fn on_arrival(&mut self, n: NodeId, packet: PacketId) {
        let p = &self.slab[packet];
        if p.body.kind() == Kind::Routing {
            if self.nodes[n.index()].router.ignores(packet, &self.slab, self.now) {
                self.slab.here(n, self.now);
                return self.slab.end(packet, Fate::Delivered);
            }
            self.with_router(n, |router, cx| router.on_message(packet, cx));
        } else if p.destination == n {
            self.leave_route(n, packet);
            if self.slab[packet].goal != n {
                return self.on_end_of_radio(n, packet);
            }
            self.on_delivered_to(n, packet);
        } else if self.pass(n, packet) {
            self.with_router(n, |router, cx| router.route(packet, cx));
        }
    }

    /// A packet is where its route ends: what the routing protocol has added is taken off.
    #[inline]
    fn leave_route(&mut self, n: NodeId, packet: PacketId) {
        let p = &mut self.slab[packet];
        p.remove_overhead();
        if p.header.is_some() {
            self.end_of_route(n, packet);
        }
    }

    #[cold]
    fn end_of_route(&mut self, n: NodeId, packet: PacketId) {
        self.with_router(n, |router, cx| router.on_arrival(packet, cx));
        self.slab.free_header(packet);
    }

    /// A frame for another node was read at this one.
    pub(super) fn on_overheard(&mut self, r: RadioId, packet: PacketId) {
        let n = self.ports.node(r);
        if self.slab[packet].header.is_some() && !self.is_off(n) {
            self.with_router(n, |router, cx| router.on_overheard(packet, cx));
        }
    }

    /// A packet of this node enters the network layer.
    pub(super) fn route(&mut self, n: NodeId, packet: PacketId) {
        if self.is_off(n) {
            return self.drop_packet(n, packet, Reason::NodeOff);
        }
        if self.wires.lead() {
            return self.lead(n, packet, true);
        }
        self.with_router(n, |router, cx| router.route(packet, cx));
    }

    /// Calls the router of a node and carries out what it says.
    pub(super) fn with_router(&mut self, n: NodeId, call: impl FnOnce(&mut routing::Router, &mut routing::Cx<'_>)) {
        let start = self.routed.len();
        self.slab.here(n, self.now);
        let node = &mut self.nodes[n.index()];
        let mut cx =
            routing::Cx { now: self.now, node: n, slab: &mut self.slab, rng: &mut node.rng, out: &mut self.routed };
        let waited = node.router.waiting();
        call(&mut node.router, &mut cx);
        if node.router.waiting() != waited {
            self.look_who_waits(n);
        }
        if self.nodes[n.index()].lacks_route {
            self.look_for_routes(n);
        }
        let node = &mut self.nodes[n.index()];
        let router_at = node.router.deadline();
        if router_at != node.router_at {
            node.router_at = router_at;
            self.timers.set(Slot::Router(n), router_at);
        }
        self.note_routes(n);
        // Carrying out one thing may make the router say more, which is carried out first.
        let end = self.routed.len();
        for i in start..end {
            match self.routed[i] {
                Out::Send { packet, delay: Span::ZERO } => self.resolve(n, packet),
                Out::Send { packet, delay } => self.carry_within(Lane::Delayed, n, self.now + delay, packet),
                Out::Drop { packet, reason } => {
                    if reason == Reason::RetryLimit {
                        self.count_given_up(n, packet);
                    }
                    self.drop_packet(n, packet, reason);
                }
                Out::Purge { next_hop } => self.purge(n, next_hop),
                Out::Return { next_hop } => self.give_back(n, next_hop),
                Out::RouteLost { destination, anew } => self.on_route_lost(n, destination, anew),
                Out::RoutesCut => self.break_routes(n, None),
            }
        }
        self.routed.truncate(start);
    }

    /// Packets have begun to wait for a route at their source, or wait no more.
    fn look_who_waits(&mut self, n: NodeId) {
        let Sim { nodes, flows, routeless, slab, now, .. } = self;
        let node = &mut nodes[n.index()];
        for (flow, f) in flows.iter_mut().zip(0..).filter(|(flow, _)| flow.from == n) {
            let waits = node.router.holds(flow.first_to, slab);
            flow.time.on_route(*now, waits);
            if waits && !flow.routes.lacks_route() {
                flow.routes.on_look(*now, false);
                list_if_routeless(flow, f, node, routeless);
            }
        }
    }

    /// A node at which flows begin that have no route: there may be one now.
    #[cold]
    fn look_for_routes(&mut self, n: NodeId) {
        let Sim { nodes, flows, routeless, now, .. } = self;
        let node = &mut nodes[n.index()];
        node.lacks_route = false;
        routeless.retain(|&f| {
            let flow = &mut flows[f as usize];
            if flow.from == n {
                flow.routes.on_look(*now, node.router.has_route(flow.first_to, *now));
                node.lacks_route |= flow.routes.lacks_route();
            }
            flow.routes.lacks_route()
        });
    }

    /// A flow begins, or begins again.
    pub(super) fn begin_routes(&mut self, f: usize) {
        let Sim { nodes, flows, routeless, now, .. } = self;
        let flow = &mut flows[f];
        let node = &mut nodes[flow.from.index()];
        flow.routes.begin(*now, node.router.has_route(flow.first_to, *now));
        list_if_routeless(flow, f as u32, node, routeless);
    }

    /// The source of flows learns that their route to a destination is broken, and may have another one; `None`: that some
    /// routes are gone, of which only those count here without which there is none.
    pub(super) fn break_routes(&mut self, n: NodeId, to: Option<NodeId>) {
        let Sim { nodes, flows, routeless, now, .. } = self;
        let node = &mut nodes[n.index()];
        let of_route = |f: &Flow| f.from == n && to.is_none_or(|to| f.first_to == to) && !f.routes.lacks_route();
        for (flow, f) in flows.iter_mut().zip(0..).filter(|(f, _)| of_route(f)) {
            let has_other = node.router.has_route(flow.first_to, *now);
            if to.is_some() || !has_other {
                flow.routes.on_break(*now, has_other);
                list_if_routeless(flow, f, node, routeless);
            }
        }
    }

    /// Gives the router the packets of the queues that wait for a lost neighbour.
    fn give_back(&mut self, n: NodeId, lost: NodeId) {
        for i in 0..self.ports.of(n).count() {
            let Some(r) = self.ports.of(n).nth(i) else { return };
            if !self.ports.is_purged(r) {
                continue;
            }
            // What the router says goes into the same queues: those that are there now are taken out, no more.
            let waiting = self.ports.queues[r.index()].len();
            for _ in 0..waiting {
                let cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
                let Some(packet) = self.ports.queues[r.index()].remove_to(lost, &cx) else { break };
                self.with_router(n, |router, cx| router.on_returned(packet, cx));
            }
            self.note_queue(r, self.now);
        }
    }

    /// Drops the packets of the queues that wait for a lost neighbour.
    fn purge(&mut self, n: NodeId, lost: NodeId) {
        for r in self.ports.of(n) {
            if !self.ports.is_purged(r) {
                continue;
            }
            let queue = &mut self.ports.queues[r.index()];
            let cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
            while let Some(packet) = queue.remove_to(lost, &cx) {
                cx.dropped.push((packet, Reason::RouteFailure));
            }
        }
        self.end_dropped(n);
        for r in self.ports.of(n) {
            self.note_queue(r, self.now);
        }
    }

    // ---- towards the station ----

    /// A packet with its next hop goes down, as soon as the neighbour's address is known.
    fn resolve(&mut self, n: NodeId, packet: PacketId) {
        let to = self.slab[packet].next_hop;
        if let Some(wire) = self.wires.for_router(n, to) {
            return self.enqueue_on_wire(wire, packet);
        }
        if to.is_broadcast() || !self.arp.enabled {
            return self.send_down(n, packet, self.net.link_delay);
        }
        match self.nodes[n.index()].arp.resolve(to, packet, &self.arp) {
            Resolution::Known => self.send_down(n, packet, self.net.link_delay),
            Resolution::Ask { displaced } => {
                if let Some(old) = displaced {
                    self.drop_packet(n, old, Reason::ArpFailure);
                }
                let request = packet::Arp { sender: n, target: to, request: true };
                self.send_arp(n, self.now, request, NodeId::BROADCAST);
            }
            Resolution::Unreachable { held } => {
                for p in held.into_iter().chain([packet]) {
                    self.on_undeliverable(n, p, Reason::ArpFailure);
                }
            }
        }
    }

    pub(super) fn send_down(&mut self, n: NodeId, packet: PacketId, delay: Span) {
        if delay == Span::ZERO {
            self.enqueue(n, packet);
        } else {
            self.carry_within(Lane::Down, n, self.now + delay, packet);
        }
    }

    fn send_arp(&mut self, n: NodeId, at: Time, message: packet::Arp, to: NodeId) {
        self.slab.here(n, at);
        let id = self.slab.create(Packet {
            body: Body::Arp(message),
            born: at,
            bytes: self.arp.bytes.0,
            overhead: 0,
            source: n,
            destination: to,
            goal: to,
            next_hop: to,
            flow: FlowId::NONE,
            ttl: 1,
            hops: 0,
            ecn: Ecn::NotEct,
            urgent: false,
            tried: false,
            halfway: false,
            header: HeaderId::NONE,
        });
        self.carry_within(Lane::Down, n, at + self.arp.delay, id);
    }

    /// An ARP message was received.
    fn on_arp(&mut self, n: NodeId, at: Time, message: packet::Arp) {
        if let Some(held) = self.nodes[n.index()].arp.on_message(&message) {
            self.carry_within(Lane::Down, n, at + self.arp.delay, held);
        }
        if message.request && message.target == n {
            let reply = packet::Arp { sender: n, target: message.sender, request: false };
            self.send_arp(n, at, reply, message.sender);
        }
    }

    /// A packet arrives at the interface queue of the radio that reaches its next hop.
    fn enqueue(&mut self, n: NodeId, packet: PacketId) {
        if self.ports.looks_up() {
            self.enqueue_by_way(n, packet);
        } else {
            self.enqueue_at(RadioId(n.0), packet);
        }
    }

    /// The same where nodes have more than one radio, or radios are off: a broadcast goes out over all of them.
    #[inline(never)]
    fn enqueue_by_way(&mut self, n: NodeId, packet: PacketId) {
        let to = self.slab[packet].next_hop;
        if !to.is_broadcast() {
            return self.enqueue_over(self.ports.to(n, to), packet);
        }
        self.slab.here(n, self.now);
        for r in self.ports.of(n).skip(1) {
            let copy = self.slab.copy(packet);
            self.enqueue_over(r, copy);
        }
        self.enqueue_over(RadioId(n.0), packet);
    }

    fn enqueue_over(&mut self, r: RadioId, packet: PacketId) {
        if self.ports.is_down(r) {
            self.slab.here(self.ports.node(r), self.now);
            return self.on_radio_off(self.ports.node(r), packet);
        }
        self.enqueue_at(r, packet);
    }

    #[inline(always)]
    fn enqueue_at(&mut self, r: RadioId, packet: PacketId) {
        let n = self.ports.node(r);
        self.slab.here(n, self.now);
        self.slab.note(packet, Happening::Queued);
        let mut cx = queue::Cx { now: self.now, slab: &mut self.slab, dropped: &mut self.dropped };
        self.ports.queues[r.index()].push_packet(packet, &mut cx);
        self.end_dropped(n);
        self.offer(r, self.now);
        self.note_queue(r, self.now);
    }

    /// The end of the packets that a queue of a node has dropped.
    #[inline]
    pub(super) fn end_dropped(&mut self, n: NodeId) {
        for i in 0..self.dropped.len() {
            let (packet, reason) = self.dropped[i];
            self.drop_packet(n, packet, reason);
        }
        self.dropped.clear();
    }
}
