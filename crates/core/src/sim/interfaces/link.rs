//! Interface between stations and network layer: queues, address resolution, routing.

use crate::net::arp::{self, Resolution};
use crate::net::queue;
use crate::net::routing::{self, Out};
use crate::packet::{self, Body, Ecn, Fate, Happening, Kind, NodeId, Packet, PacketId, RadioId, Reason};
use crate::record::note::QueueId;
use crate::rng::mix;
use crate::sim::Sim;
use crate::sim::network::segment::Segment;
use crate::sim::network::transit::Lane;
use crate::sim::timer_numbers::{Clock, Timer};
use crate::unit::{Span, Time};
use crate::wlan::edca::AccessCategory;

impl Sim {
    // ---- from the station ----

    /// A data frame was received. The node gets its own copy of a unicast packet. It shares a broadcast packet with the
    /// sender, because most receivers only read it.
    pub(in crate::sim) fn on_data_received(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let n = self.net.ports.node(r);
        let p = &self.pool[packet];
        let (broadcast, ends_here) = (p.next_hop.is_broadcast(), Self::ends_at_neighbor(p));
        self.pool.set_context(n, at);
        let own = if broadcast {
            self.pool.share(packet);
            packet
        } else {
            let own = self.pool.copy(packet);
            self.pool[own].hops = self.pool[own].hops.saturating_add(1);
            own
        };
        self.pass_up((r, n), at, own, ends_here);
    }

    /// Returns true if a packet is a message between neighbors.
    #[inline]
    fn ends_at_neighbor(p: &Packet) -> bool {
        matches!(p.body, Body::Arp(_) | Body::Notification(_))
    }

    /// Passes a packet that a station has received to the network layer of the node, or to what `ends_here`.
    #[inline(always)]
    fn pass_up(&mut self, (r, n): (RadioId, NodeId), at: Time, own: PacketId, ends_here: bool) {
        if self.air.receivers.is_some() && self.is_lost_above_mac(r, at, own) {
            return;
        }
        if ends_here {
            self.on_link_message(r, at, own);
        } else {
            self.pass_within(Lane::Up, n, at + self.net.cfg.processing_delay, own);
        }
    }

    /// A packet has arrived ahead of its turn: the node keeps its own copy in the reordering buffer.
    #[cold]
    pub(in crate::sim) fn on_data_stored(&mut self, r: RadioId, at: Time, packet: PacketId, key: (RadioId, u8, u16)) {
        self.pool.set_context(self.net.ports.node(r), at);
        let own = self.pool.copy(packet);
        self.pool[own].hops = self.pool[own].hops.saturating_add(1);
        if let Some(qos) = &mut self.air.qos {
            qos.store(r, key, own);
        }
    }

    /// The turn of packets in the reordering buffer has come.
    #[cold]
    pub(in crate::sim) fn on_data_released(&mut self, r: RadioId, at: Time, key: (RadioId, u8, u16)) {
        while let Some(own) = self.air.qos.as_mut().and_then(|qos| qos.release(r, key)) {
            let n = self.net.ports.node(r);
            self.pool.set_context(n, at);
            self.pass_up((r, n), at, own, Self::ends_at_neighbor(&self.pool[own]));
        }
    }

    /// Drops a packet that is damaged above the MAC. Returns true if so.
    #[cold]
    fn is_lost_above_mac(&mut self, r: RadioId, at: Time, packet: PacketId) -> bool {
        let Some(receivers) = &mut self.air.receivers else { return false };
        let n = self.net.ports.node(r);
        // No random number is drawn for messages that the router ignores, because some of them are dropped earlier.
        if self.net.nodes[n.index()].router.ignores(packet, &self.pool, at + self.net.cfg.processing_delay) {
            return false;
        }
        let lost = receivers.damages_above_mac(r, &self.pool[packet], &self.air.macs[r.index()].rules.timing);
        if lost {
            self.drop_packet(n, packet, Reason::LinkError);
        }
        lost
    }

    /// A message between neighbors was received.
    #[cold]
    fn on_link_message(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let body = self.pool[packet].body;
        self.pool.end(packet, Fate::Delivered);
        match body {
            Body::Arp(message) => self.on_arp(self.net.ports.node(r), at, message),
            Body::Notification(notification) => {
                if let Some(neighborhood) = self.net.neighborhood() {
                    neighborhood.on_notification(r, at, &notification);
                }
            }
            _ => unreachable!("{body:?} is no message between neighbors"),
        }
    }

    /// A packet was acknowledged by the next hop, or its broadcast is over.
    pub(in crate::sim) fn on_packet_sent(&mut self, r: RadioId, at: Time, packet: PacketId) {
        if self.net.reports_mac {
            self.report_sent(r, packet);
        }
        let on_air = &mut self.air.on_air[r.index()];
        if !on_air.ended && on_air.frame.to.is_broadcast() {
            // Receivers still have to copy the packet.
            on_air.over = Some(packet);
        } else {
            self.end_last_frame_of(r, packet);
            self.pool.set_context(self.net.ports.node(r), at);
            self.pool.end(packet, Fate::Relayed);
        }
        self.offer(r, at);
    }

    /// The driver of a station takes a packet from its queues.
    #[cold]
    pub(in crate::sim) fn on_packet_taken(&mut self, r: RadioId, at: Time, packet: PacketId) {
        self.pool[packet].tried = true;
        self.pool.set_context(self.net.ports.node(r), at);
        self.pool.note(packet, Happening::Dequeued);
        self.note_queue(r, at);
    }

    /// A queue of a station has marked a packet.
    #[cold]
    pub(in crate::sim) fn on_packet_marked(&mut self, packet: PacketId) {
        self.pool[packet].ecn = Ecn::Ce;
        if self.flows.hears_quench {
            self.quench(Some(packet));
        }
    }

    /// A queue of a station has dropped a packet.
    #[cold]
    pub(in crate::sim) fn on_packet_dropped(&mut self, r: RadioId, at: Time, packet: PacketId, reason: Reason) {
        if self.flows.hears_quench {
            self.flows.quench(&self.pool[packet], self.now, &mut self.timers);
        }
        self.drop_packet(self.net.ports.node(r), packet, reason);
        self.note_queue(r, at);
    }

    /// Reports a packet that the station has sent to Link RED, and to the sender in this node.
    #[cold]
    fn report_sent(&mut self, r: RadioId, packet: PacketId) {
        self.on_mac_done(r, packet, false);
        if self.flows.reports_queue
            && let Some(segment) = Segment::of(&self.pool[packet])
        {
            self.flows.on_left(self.net.ports.node(r), segment, false, self.now, &mut self.timers);
        }
    }

    /// The station of a radio is done with a packet.
    #[cold]
    fn on_mac_done(&mut self, r: RadioId, packet: PacketId, gave_up: bool) {
        let Some(admission) = &mut self.net.admission else { return };
        let p = &self.pool[packet];
        if !p.next_hop.is_broadcast() && admission.on_mac_done(r, &self.air.macs[r.index()].station, gave_up) {
            let to = self.net.ports.peer(r, p.next_hop);
            self.air.prolong_backoff(r, to, p.bytes, &mut self.timers);
        }
    }

    /// Ends the last frame of a packet that the station has finished, if it has not reached every receiver.
    #[inline]
    fn end_last_frame_of(&mut self, r: RadioId, packet: PacketId) {
        let on_air = &self.air.on_air[r.index()];
        if !on_air.ended && (on_air.frame.packet == Some(packet) || self.air.qos.is_some()) {
            self.end_frame_early(r);
        }
    }

    /// The station gave a packet up.
    pub(in crate::sim) fn on_packet_given_up(&mut self, r: RadioId, at: Time, packet: PacketId) {
        if self.net.admission.is_some() {
            self.on_mac_done(r, packet, true);
        }
        self.end_last_frame_of(r, packet);
        let n = self.net.ports.node(r);
        self.net.nodes[n.index()].attempt = self.air.on_air[r.index()].attempt;
        self.pool.set_context(n, at);
        self.on_undeliverable(n, packet, Reason::RetryLimit);
        self.offer(r, at);
    }

    pub(in crate::sim) fn on_undeliverable(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        let kind = self.pool[packet].body.kind();
        let breaks_links = kind != Kind::Data || self.flows.list[self.pool[packet].flow.index()].breaks_links;
        if !self.net.nodes[n.index()].router.takes_back(kind, breaks_links) {
            if reason == Reason::RetryLimit {
                self.count_given_up(n, packet);
                if kind == Kind::Routing {
                    self.net.nodes[n.index()].router.on_message_lost(packet, &self.pool, self.now);
                }
            }
            self.flows.on_dropped_at(n, &self.pool[packet], reason, self.now, &mut self.timers);
            self.watch.drops.count(&self.pool[packet], reason);
            self.pool.end(packet, Fate::Dropped(reason));
        } else {
            self.with_router(n, |router, cx| router.on_link_failure(packet, cx));
        }
    }

    /// Counts a packet that is dropped because the last attempt to send it has failed.
    fn count_given_up(&mut self, n: NodeId, packet: PacketId) {
        let cause = self.net.nodes[n.index()].attempt;
        self.watch.count_given_up(self.now, packet, cause, &self.pool);
    }

    /// Gives a station packets of its queues while it has room.
    fn offer(&mut self, r: RadioId, at: Time) {
        if self.net.has_rare_features {
            self.offer_with_rare_features(r, at);
        } else {
            self.offer_next::<false, false>(r, AccessCategory::BestEffort, at);
        }
    }

    /// Kept out of line, so that the usual case is short.
    #[inline(never)]
    fn offer_with_rare_features(&mut self, r: RadioId, at: Time) {
        if self.air.qos.is_none() {
            self.offer_next::<true, false>(r, AccessCategory::BestEffort, at);
            return;
        }
        for category in self.net.ports.categories() {
            while self.offer_next::<true, true>(r, category, at) {}
        }
    }

    /// Gives a station the next packet of a queue. Returns false if the station has no room or the queue no packet.
    /// `RARE` must be true if `self.net.has_rare_features` is, and `QOS` where stations are QoS stations.
    #[inline(always)]
    fn offer_next<const RARE: bool, const QOS: bool>(
        &mut self,
        r: RadioId,
        category: AccessCategory,
        at: Time,
    ) -> bool {
        let mac = &self.air.macs[r.index()];
        let has_room = if QOS { mac.has_room(category) } else { mac.station.is_free() };
        if !has_room {
            return false;
        }
        let Some(id) = self.next_of_queue::<RARE, QOS>(r, category, at) else { return false };
        self.flush_deferred(r, at);
        self.pool[id].tried = true;
        let p = &self.pool[id];
        let (kind, bytes, to) = (p.body.kind(), p.bytes, self.net.ports.peer(r, p.next_hop));
        if QOS {
            let tid = self.air.macs[r.index()].priority(self.flows.dscp(p));
            self.air.call_qos(r, at, &mut self.timers, |station, cx| station.enqueue(id, kind, to, tid, bytes, cx));
        } else {
            self.air.call(r, at, &mut self.timers, |station, cx| station.enqueue(id, kind, to, bytes, cx));
        }
        if RARE && self.net.held.is_some() {
            self.release(at);
        }
        true
    }

    /// Takes the next packet that the MAC may have from a queue.
    #[inline(always)]
    fn next_of_queue<const RARE: bool, const QOS: bool>(
        &mut self,
        r: RadioId,
        category: AccessCategory,
        at: Time,
    ) -> Option<PacketId> {
        loop {
            let next = if RARE && !QOS && self.net.held.is_some() {
                self.pop_where_room(r, at)
            } else {
                self.pop(r, category, at)
            };
            if RARE && self.flows.hears_quench {
                self.quench(next);
            }
            let n = self.net.ports.node(r);
            self.end_dropped(n);
            self.note_queue(r, at);
            let id = next?;
            self.pool.set_context(n, at);
            self.pool.note(id, Happening::Dequeued);
            let Some(admission) = self.net.admission.as_mut().filter(|_| RARE) else { return Some(id) };
            if admission.admits(r, at, &mut self.pool[id]) {
                return Some(id);
            }
            self.drop_packet(n, id, Reason::Aqm);
        }
    }

    /// Takes the next packet of a queue.
    #[inline]
    fn pop(&mut self, r: RadioId, category: AccessCategory, at: Time) -> Option<PacketId> {
        let mut cx = queue::Cx { now: at, pool: &mut self.pool, dropped: &mut self.net.dropped };
        self.net.ports.of_category(r, category).pop(&mut cx)
    }

    /// Takes the first packet whose next hop has room. If there is none, records the radio as holding back.
    #[inline(never)]
    fn pop_where_room(&mut self, r: RadioId, at: Time) -> Option<PacketId> {
        let (ports, pool) = (&self.net.ports, &self.pool);
        let queue = &ports.queues[r.index()];
        if !queue.holds_back() || queue.is_empty() {
            return self.pop(r, AccessCategory::BestEffort, at);
        }
        let n = ports.node(r);
        let chosen = queue.first_that(|p| {
            let to = pool[p].next_hop;
            let ends = to.is_broadcast() || pool[p].final_destination == to;
            ends || ports.queues.get(ports.peer(r, to).index()).is_none_or(|q| q.has_room_from(n, pool))
        });
        let held = self.net.held.as_mut().expect("a queue holds back");
        let Some(packet) = chosen else {
            if !held.contains(&r) {
                held.push(r);
            }
            return None;
        };
        let cx = queue::Cx { now: at, pool: &mut self.pool, dropped: &mut self.net.dropped };
        self.net.ports.queues[r.index()].take(packet, &cx)
    }

    /// Offers those stations a packet again that held theirs back: there may be room.
    #[inline(never)]
    fn release(&mut self, at: Time) {
        let waiting = self.net.held.as_mut().map(std::mem::take).unwrap_or_default();
        waiting.into_iter().for_each(|r| self.offer(r, at));
    }

    // ---- network layer ----

    /// The timer of a router has expired.
    #[inline(never)]
    pub(in crate::sim) fn on_router(&mut self, n: NodeId) {
        self.with_router(n, |router, cx| router.on_deadline(cx));
    }

    /// Packets between the layers are due.
    pub(in crate::sim) fn on_transit(&mut self) {
        let next = loop {
            match self.net.transit.pop(self.now) {
                Ok((Lane::Up, n, packet)) => self.on_arrival(n, packet),
                Ok((Lane::Delayed, n, packet)) => self.resolve(n, packet),
                Ok((Lane::Down, n, packet)) => self.send_over_radio(n, packet),
                Err(deadline) => break deadline,
            }
        };
        self.timers.set_transit(next);
    }

    /// Passes a packet to another layer of the same node, due at an instant.
    #[inline]
    fn pass_within(&mut self, lane: Lane, n: NodeId, at: Time, packet: PacketId) {
        self.net.transit.insert(lane, at, n, packet);
        self.timers.set_transit(self.timers.transit_at.min(at));
    }

    /// A packet has come up from the MAC.
    fn on_arrival(&mut self, n: NodeId, packet: PacketId) {
        let p = &self.pool[packet];
        if p.body.kind() == Kind::Routing {
            if self.net.nodes[n.index()].router.ignores(packet, &self.pool, self.now) {
                self.pool.set_context(n, self.now);
                return self.pool.end(packet, Fate::Delivered);
            }
            self.with_router(n, |router, cx| router.on_message(packet, cx));
        } else if p.destination == n || self.net.links.is_exit(n, p.destination) {
            self.leave_route(n, packet);
            if self.pool[packet].final_destination != n {
                return self.on_end_of_radio(n, packet);
            }
            self.on_delivered_to(n, packet);
        } else if self.pass(n, packet) {
            self.with_router(n, |router, cx| router.route(packet, cx));
        }
    }

    /// Removes the headers of the routing protocol at the end of a route.
    #[inline]
    fn leave_route(&mut self, n: NodeId, packet: PacketId) {
        let p = &mut self.pool[packet];
        p.remove_overhead();
        if p.header.is_some() {
            self.end_of_route(n, packet);
        }
    }

    #[cold]
    fn end_of_route(&mut self, n: NodeId, packet: PacketId) {
        self.with_router(n, |router, cx| router.on_arrival(packet, cx));
        self.pool.free_header(packet);
    }

    /// A frame for another node was read at this one.
    pub(in crate::sim) fn on_overheard(&mut self, r: RadioId, packet: PacketId) {
        let n = self.net.ports.node(r);
        if self.pool[packet].header.is_some() && !self.net.is_off(n) {
            self.with_router(n, |router, cx| router.on_overheard(packet, cx));
        }
    }

    /// A packet of this node enters the network layer.
    pub(in crate::sim) fn route(&mut self, n: NodeId, packet: PacketId) {
        if self.net.is_off(n) {
            return self.drop_packet(n, packet, Reason::NodeOff);
        }
        if self.net.links.uses_crossings() {
            return self.forward_by_crossings(n, packet, true);
        }
        self.with_router(n, |router, cx| router.route(packet, cx));
    }

    /// Calls the router of a node and dispatches its actions.
    pub(in crate::sim) fn with_router(
        &mut self,
        n: NodeId,
        call: impl FnOnce(&mut routing::Router, &mut routing::Cx<'_>),
    ) {
        let start = self.net.actions.len();
        self.pool.set_context(n, self.now);
        let node = &mut self.net.nodes[n.index()];
        let mut cx = routing::Cx {
            now: self.now,
            node: n,
            pool: &mut self.pool,
            rng: &mut node.rng,
            out: &mut self.net.actions,
        };
        let waited = node.router.waiting();
        call(&mut node.router, &mut cx);
        if node.router.waiting() != waited {
            self.flows.on_waiting_changed(n, node, &self.pool, self.now);
        }
        if node.lacks_route {
            self.flows.look_for_routes(n, node, self.now);
        }
        let router_at = node.router.deadline();
        if router_at != node.router_at {
            node.router_at = router_at;
            self.timers.set(Timer::Router(n), router_at);
        }
        self.watch.note_routes(self.now, n, &node.router);
        // Dispatching an action may call the router again, whose new actions are dispatched first.
        let end = self.net.actions.len();
        for i in start..end {
            match self.net.actions[i] {
                Out::Send { packet, delay: Span::ZERO } => self.resolve(n, packet),
                Out::Send { packet, delay } => self.pass_within(Lane::Delayed, n, self.now + delay, packet),
                Out::Drop { packet, reason } => {
                    if reason == Reason::RetryLimit {
                        self.count_given_up(n, packet);
                    }
                    self.drop_packet(n, packet, reason);
                }
                Out::Purge { next_hop } => self.purge(n, next_hop),
                Out::Return { next_hop } => self.give_back(n, next_hop),
                Out::RouteLost { destination, anew } => self.on_route_lost(n, destination, anew),
                Out::RoutesCut => {
                    self.flows.break_routes(n, None, &mut self.net.nodes[n.index()], self.now);
                }
            }
        }
        self.net.actions.truncate(start);
    }

    /// Gives the router the packets of the queues that wait for a lost neighbor.
    fn give_back(&mut self, n: NodeId, lost: NodeId) {
        for i in 0..self.net.ports.of(n).count() {
            let Some(r) = self.net.ports.of(n).nth(i) else { return };
            if !self.net.ports.is_purged(r) {
                continue;
            }
            // Actions of the router enter the same queues: only packets that are there now are taken out.
            for category in self.net.ports.categories() {
                let waiting = self.net.ports.of_category(r, category).len();
                for _ in 0..waiting {
                    let cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
                    let Some(packet) = self.net.ports.of_category(r, category).remove_to(lost, &cx) else { break };
                    self.with_router(n, |router, cx| router.on_returned(packet, cx));
                }
            }
            for packet in self.take_waiting(r, lost) {
                self.with_router(n, |router, cx| router.on_returned(packet, cx));
            }
            self.note_queue(r, self.now);
        }
    }

    /// Drops the packets of the queues that wait for a lost neighbor.
    fn purge(&mut self, n: NodeId, lost: NodeId) {
        for r in self.net.ports.of(n) {
            if !self.net.ports.is_purged(r) {
                continue;
            }
            for category in self.net.ports.categories() {
                let cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
                while let Some(packet) = self.net.ports.of_category(r, category).remove_to(lost, &cx) {
                    cx.dropped.push((packet, Reason::RouteFailure));
                }
            }
            let waiting = self.take_waiting(r, lost);
            self.net.dropped.extend(waiting.into_iter().map(|packet| (packet, Reason::RouteFailure)));
        }
        self.end_dropped(n);
        for r in self.net.ports.of(n) {
            self.note_queue(r, self.now);
        }
    }

    /// Takes the packets out of the queues of a station that wait for a lost neighbor.
    fn take_waiting(&mut self, r: RadioId, lost: NodeId) -> Vec<PacketId> {
        let (mut taken, to) = (Vec::new(), self.net.ports.peer(r, lost));
        if let Some(station) = &mut self.air.macs[r.index()].qos {
            station.take_waiting(to, |packet| taken.push(packet));
        }
        taken
    }

    // ---- towards the station ----

    /// Sends a packet to its next hop once the address of the neighbor is known.
    fn resolve(&mut self, n: NodeId, packet: PacketId) {
        let to = self.pool[packet].next_hop;
        if let Some(link) = self.net.links.for_router(n, to) {
            return self.enqueue_on_link(link, packet);
        }
        if to.is_broadcast() || !self.net.arp.enabled {
            return self.send_down(n, packet, self.net.cfg.processing_delay);
        }
        match self.net.nodes[n.index()].arp.resolve(to, packet, &self.net.arp) {
            Resolution::Known => self.send_down(n, packet, self.net.cfg.processing_delay),
            Resolution::Ask { displaced } => {
                if let Some(old) = displaced {
                    self.drop_packet(n, old, Reason::ArpFailure);
                }
                self.send_arp(self.now, arp::request(n, to), NodeId::BROADCAST);
            }
            Resolution::Unreachable { held } => {
                for p in held.into_iter().chain([packet]) {
                    self.on_undeliverable(n, p, Reason::ArpFailure);
                }
            }
        }
    }

    pub(in crate::sim) fn send_down(&mut self, n: NodeId, packet: PacketId, delay: Span) {
        if delay == Span::ZERO {
            self.send_over_radio(n, packet);
        } else {
            self.pass_within(Lane::Down, n, self.now + delay, packet);
        }
    }

    fn send_arp(&mut self, at: Time, message: packet::Arp, to: NodeId) {
        let n = message.sender;
        self.pool.set_context(n, at);
        let id = self.pool.create(Packet::new(Body::Arp(message), self.net.arp.packet_size.0, n, to, at));
        self.pass_within(Lane::Down, n, at + self.net.arp.delay, id);
    }

    /// An ARP message was received.
    fn on_arp(&mut self, n: NodeId, at: Time, message: packet::Arp) {
        let arp::Received { released, reply } = self.net.nodes[n.index()].arp.on_message(&message, n);
        if let Some(packet) = released {
            self.pass_within(Lane::Down, n, at + self.net.arp.delay, packet);
        }
        if let Some(reply) = reply {
            self.send_arp(at, reply, reply.target);
        }
    }

    /// End of an interval of Neighborhood RED.
    pub(in crate::sim) fn on_usage_interval(&mut self) {
        let now = self.now;
        let Some(neighborhood) = self.net.neighborhood() else { return };
        let (radio, notification) = neighborhood.on_deadline(now);
        let (at, bytes) = (neighborhood.deadline(), neighborhood.bytes());
        self.timers.set(Timer::Clock(Clock::Usage), at);
        let n = self.net.ports.node(radio);
        let Some(notification) = notification.filter(|_| !self.net.is_radio_off(radio)) else { return };
        self.pool.set_context(n, now);
        let body = Body::Notification(notification);
        let packet = self.pool.create(Packet::new(body, bytes, n, NodeId::BROADCAST, now));
        self.send_down(n, packet, self.net.cfg.processing_delay);
    }

    /// Reports a change of the interface queues of a radio to observers.
    #[inline]
    pub(in crate::sim) fn note_queue(&mut self, r: RadioId, at: Time) {
        if self.watch.is_observed() {
            self.note_queues(r, at);
        }
    }

    #[cold]
    fn note_queues(&mut self, r: RadioId, at: Time) {
        for (category, queue) in self.net.ports.by_category(r) {
            let (packets, bytes) = category.map_or((0, 0), |category| self.air.macs[r.index()].waiting(category));
            let (packets, bytes) = (packets + queue.len(), bytes + queue.bytes(&self.pool));
            self.watch.note_queue_length(at, QueueId::Radio(r, category), packets, bytes);
        }
    }

    /// Sends a packet over the radio that reaches its next hop, and a broadcast over all radios of the node.
    fn send_over_radio(&mut self, n: NodeId, packet: PacketId) {
        if self.net.ports.looks_up() {
            self.look_up_radio(n, packet);
        } else {
            self.enqueue(RadioId(n.0), packet);
        }
    }

    /// Variant of [`send_over_radio`](Self::send_over_radio) for nodes with several radios, or with radios that are
    /// off.
    #[inline(never)]
    fn look_up_radio(&mut self, n: NodeId, packet: PacketId) {
        let to = self.pool[packet].next_hop;
        if !to.is_broadcast() {
            return self.enqueue(self.net.ports.to(n, to), packet);
        }
        self.pool.set_context(n, self.now);
        for r in self.net.ports.of(n).skip(1) {
            let copy = self.pool.copy(packet);
            self.enqueue(r, copy);
        }
        self.enqueue(RadioId(n.0), packet);
    }

    /// A packet arrives at the interface queue of a radio.
    #[inline(always)]
    fn enqueue(&mut self, r: RadioId, packet: PacketId) {
        let n = self.net.ports.node(r);
        self.pool.set_context(n, self.now);
        if self.net.ports.looks_up() && self.net.ports.is_down(r) {
            return self.on_radio_off(n, packet);
        }
        self.pool.note(packet, Happening::Queued);
        if self.net.has_rare_features {
            self.push_with_rare_features(r, packet);
        } else {
            self.push::<false>(r, packet);
        }
        self.end_dropped(n);
        self.offer(r, self.now);
        self.note_queue(r, self.now);
    }

    /// Kept out of line, so that the usual case is short.
    #[inline(never)]
    fn push_with_rare_features(&mut self, r: RadioId, packet: PacketId) {
        if self.air.macs[r.index()].has_queues() {
            self.queue_in_mac(r, packet);
        } else {
            self.push::<true>(r, packet);
        }
    }

    /// Gives a packet to a station with queues of its own, which may drop others.
    #[cold]
    fn queue_in_mac(&mut self, r: RadioId, id: PacketId) {
        self.pool[id].urgent = false;
        let p = &self.pool[id];
        if self.flows.reports_queue {
            self.flows.on_radio(self.net.ports.node(r), p);
        }
        let packet = (id, p.body.kind(), p.bytes);
        let tid = self.air.macs[r.index()].priority(self.flows.dscp(p));
        let stream = (self.net.ports.peer(r, p.next_hop), tid);
        let flow = (mix(p.direction()) ^ u64::from(p.flow.0), p.ecn != Ecn::NotEct);
        self.flush_deferred(r, self.now);
        // Below `start` are actions of another station, which the caller dispatches.
        let start = self.air.actions.len();
        self.air.call_qos(r, self.now, &mut self.timers, |station, cx| station.queue(packet, stream, flow, cx));
        for i in start..self.air.actions.len() {
            self.dispatch_mac_action::<true>(r, self.now, i);
        }
        self.air.actions.truncate(start);
    }

    /// Puts a packet into the queue of its category. `RARE` must be true if `self.net.has_rare_features` is.
    #[inline(always)]
    fn push<const RARE: bool>(&mut self, r: RadioId, packet: PacketId) {
        let mut category = AccessCategory::BestEffort;
        if RARE && self.air.qos.is_some() {
            let dscp = self.flows.dscp(&self.pool[packet]);
            category = AccessCategory::of(self.air.macs[r.index()].priority(dscp));
        }
        if RARE && self.flows.reports_queue {
            self.flows.on_radio(self.net.ports.node(r), &self.pool[packet]);
        }
        let mut cx = queue::Cx { now: self.now, pool: &mut self.pool, dropped: &mut self.net.dropped };
        self.net.ports.of_category(r, category).push_packet(packet, &mut cx);
        if RARE && self.flows.hears_quench {
            self.quench(Some(packet));
        }
    }

    /// Reports segments that a queue has just marked or dropped to their senders.
    #[cold]
    pub(in crate::sim) fn quench(&mut self, taken: Option<PacketId>) {
        let marked = taken.filter(|&id| self.pool[id].ecn == Ecn::Ce);
        for id in marked.into_iter().chain(self.net.dropped.iter().map(|d| d.0)) {
            self.flows.quench(&self.pool[id], self.now, &mut self.timers);
        }
    }

    /// Drops the packets that a queue of a node has given up.
    #[inline]
    pub(in crate::sim) fn end_dropped(&mut self, n: NodeId) {
        if !self.net.dropped.is_empty() {
            self.drop_all(n);
        }
    }

    fn drop_all(&mut self, n: NodeId) {
        for i in 0..self.net.dropped.len() {
            let (packet, reason) = self.net.dropped[i];
            self.drop_packet(n, packet, reason);
        }
        self.net.dropped.clear();
    }
}
