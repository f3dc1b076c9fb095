//! Ad hoc on-demand distance vector routing (RFC 3561).
//!
//! The procedures are those of the RFC; deviations of ns-2.35 are settings, collected in the preset `ns2-2.35`. Link
//! failures are detected by the MAC; HELLO messages are an option.

mod blacklist;
mod buffer;
mod config;
mod recent;
mod seen;
mod table;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message};
use crate::count::Field;
use crate::counters;
use crate::packet::{Body, Fate, Kind, ListId, Listed, NodeId, PacketId, PacketPool, Reason, Rrep, Rreq};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use blacklist::Blacklist;
use buffer::Buffer;
pub use config::Config;
use config::{DataTtl, ErrorSequence, FirstRing, RepairRule, RepairTimer, ReplyLifetime, SequenceRule, UseRule};
use recent::Recent;
use seen::Seen;
use std::collections::VecDeque;
use std::sync::Arc;
use table::{Entry, INFINITE_HOPS, State, Table};

/// Number of messages in the current second.
#[derive(Clone, Copy, Debug, Default)]
struct RateLimit {
    second: u64,
    sent: u32,
}

impl RateLimit {
    fn allows(&mut self, now: Time, limit: Option<u32>) -> bool {
        let second = now.0 / 1_000_000_000;
        if second != self.second {
            *self = RateLimit { second, sent: 0 };
        }
        self.sent += 1;
        limit.is_none_or(|l| self.sent <= l)
    }
}

counters! {
    /// Counters of AODV.
    pub struct Counters {
        /// Route requests originated.
        rreq_originated,
        /// Route requests forwarded.
        rreq_forwarded,
        /// Route replies originated.
        rrep_originated,
        /// Route errors sent, including forwarded ones.
        rerr_sent,
        /// Packets given up by the MAC and kept until their route is repaired.
        local_repairs,
        /// Neighbors declared lost because a packet to them was given up.
        links_deleted,
        /// Route discoveries started for packets of this node.
        route_discoveries,
    }
}

/// AODV router of a node.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Aodv {
    recent: Recent,
    /// Shared by all routers.
    cfg: Arc<Config>,
    seen: Seen,
    table: Table,
    buffer: Buffer,
    /// Own sequence number.
    sequence: u32,
    /// Number of the next own request.
    next_id: u32,
    /// Repairs in progress: end of the wait, and destination.
    repairs: VecDeque<(Time, NodeId)>,
    next_tick: Time,
    next_hello: Time,
    /// Neighbors known by HELLO, with the time at which each counts as lost.
    hello_neighbors: Vec<(NodeId, Time)>,
    blacklist: Blacklist,
    rreq_rate: RateLimit,
    rerr_rate: RateLimit,
    counters: Counters,
    overhead: Overhead,
    /// Networks to which this node is a gateway.
    served: Vec<NodeId>,
}

impl Routing for Aodv {
    const HEARS_OF_ALL: bool = false;
    const FINDS_GATEWAYS: bool = true;
    const FIELDS: &'static [Field] = Counters::FIELDS;

    fn reach(cfg: &super::Config, ttl: u8) -> (&'static str, u8) {
        let diameter = cfg.aodv.net_diameter;
        if cfg.aodv.data_ttl == DataTtl::NetDiameter || diameter <= ttl {
            ("routing.aodv.net_diameter", diameter)
        } else {
            ("net.ttl", ttl)
        }
    }

    fn trusts_broadcasts(cfg: &super::Config) -> Option<(&'static str, &'static str, &'static str)> {
        cfg.aodv.blacklist_timeout.is_none().then_some((
            "routing.aodv.blacklist_timeout",
            "AODV without a blacklist",
            "set `routing.aodv.blacklist_timeout`, e.g. to \"5600 ms\", or let the nodes hear each other",
        ))
    }

    fn periods(cfg: &super::Config) -> Vec<Span> {
        let aodv = &cfg.aodv;
        let hello = aodv.hello.then_some(aodv.hello_interval);
        [aodv.id_timer, aodv.route_timer, hello].into_iter().flatten().collect()
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, _rng: &mut Stream) -> Aodv {
        Aodv::new(&shared.aodv)
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        let is_source = p.source == cx.node;
        if is_source && p.hops > 0 {
            cx.out.push(Out::Drop { packet, reason: Reason::RoutingLoop });
            return;
        }
        if is_source {
            if self.cfg.data_ttl == DataTtl::NetDiameter {
                p.ttl = self.cfg.net_diameter;
            }
        } else if !p.spend_hop() {
            cx.out.push(Out::Drop { packet, reason: Reason::TtlExpired });
            return;
        }
        let to = p.destination;
        self.expire(to, cx);
        let entry = self.table.entry(to, cx.now, self.first_hops());
        match entry.state {
            State::Up => self.forward(packet, Span::ZERO, cx),
            _ if is_source => {
                if !self.buffer.holds(to, cx.pool) {
                    self.counters.route_discoveries += 1;
                }
                self.keep(packet, cx);
                self.request(to, None, cx);
            }
            State::InRepair => self.keep(packet, cx),
            State::Down => {
                let sequence = entry.sequence;
                let list = cx.pool.new_list();
                cx.pool.list_mut(list).push(unreachable(to, sequence));
                self.send_error(list, false, cx);
                cx.out.push(Out::Drop { packet, reason: Reason::NoRoute });
            }
        }
    }

    /// Returns true if a packet is a request that this node has already processed; may miss some such requests.
    #[inline]
    fn ignores(&self, packet: PacketId, pool: &PacketPool, now: Time) -> bool {
        match &pool[packet].body {
            Body::Rreq(rreq) => self.recent.has(rreq.originator, rreq.id, now),
            _ => false,
        }
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        match p.body {
            Body::Rreq(rreq) => self.on_request(packet, rreq, cx),
            Body::Rrep(rrep) if rrep.hello => {
                self.on_hello(rrep.destination, cx);
                cx.pool.end(packet, Fate::Delivered);
            }
            Body::Rrep(rrep) => self.on_reply(packet, rrep, cx),
            Body::Rerr(list) => {
                let from = p.source;
                self.on_error(from, list, cx);
                cx.pool.end(packet, Fate::Delivered);
            }
            _ => unreachable!("not a routing message"),
        }
    }

    /// The MAC has given up a message of this node to a neighbor.
    fn on_message_lost(&mut self, packet: PacketId, pool: &PacketPool, now: Time) {
        let p = &pool[packet];
        if let (Body::Rrep(_), Some(timeout)) = (&p.body, self.cfg.blacklist_timeout) {
            self.blacklist.add(p.next_hop, now + timeout, now);
        }
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let dropped = Out::Drop { packet, reason: Reason::RetryLimit };
        let p = cx.pool[packet];
        let data = matches!(p.body.kind(), Kind::Data | Kind::Ack);
        let Some(entry) = self.table.get_mut(p.destination).filter(|_| data && !p.next_hop.is_broadcast()) else {
            cx.out.push(dropped);
            return;
        };
        let repair = match self.cfg.local_repair {
            RepairRule::Never => false,
            RepairRule::CloserToDestination => p.hops > entry.hops,
            RepairRule::WithinRepairTtl if entry.state == State::InRepair => p.source != cx.node,
            RepairRule::WithinRepairTtl => entry.hops <= self.cfg.max_repair_ttl && p.source != cx.node,
        };
        if repair {
            self.repair(packet, cx);
        } else {
            cx.out.push(dropped);
            cx.out.push(Out::Purge { next_hop: p.next_hop });
            self.counters.links_deleted += 1;
            self.delete_neighbor(p.next_hop, cx);
        }
    }

    /// A gateway answers requests for a network in its place, and has one sequence number for itself and all networks
    /// (RFC 3561, section 7). As each raises its number to the requested one, several gateways to a network need not agree
    /// (section 8): on every path numbers rise, or hops fall. When its wires lead there no more, the gateway announces
    /// a newer number as unreachable, and looks for another gateway like any node.
    fn serve(&mut self, network: NodeId, serves: bool, cx: &mut Cx<'_>) {
        if serves {
            self.served.push(network);
            return;
        }
        self.served.retain(|n| *n != network);
        let first_hops = self.first_hops();
        let entry = self.table.entry(network, cx.now, first_hops);
        entry.sequence = entry.sequence.max(self.sequence) + 1;
        entry.sequence_known = true;
        entry.take_down(cx.now);
        let list = cx.pool.new_list();
        cx.pool.list_mut(list).push(unreachable(network, entry.sequence));
        self.send_error(list, false, cx);
        cx.out.push(Out::RouteLost { destination: network, anew: true });
    }

    /// Resets the router, except for sequence numbers, its own and those of destinations, and the number of its next
    /// request. A node keeps these over a reboot, so that no neighbor takes its messages for old ones, and it accepts
    /// no route that leads back over itself as new (by RFC 3561, 6.13 it waits for DELETE_PERIOD instead).
    fn switch_off(&mut self, cx: &mut Cx<'_>) {
        while let Some(packet) = self.buffer.pop() {
            cx.out.push(Out::Drop { packet, reason: Reason::NodeOff });
        }
        let mut table = std::mem::replace(&mut self.table, Table::new(None));
        table.switch_off(cx.now);
        let (sequence, next_id, counters, overhead) = (self.sequence, self.next_id, self.counters, self.overhead);
        *self = Aodv { table, sequence, next_id, counters, overhead, next_hello: Time::NEVER, ..Aodv::new(&self.cfg) };
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        self.next_hello = if self.cfg.hello { cx.now } else { Time::NEVER };
    }

    fn deadline(&self) -> Time {
        let repair = self.repairs.front().map_or(Time::NEVER, |r| r.0);
        let retry = if self.cfg.route_timer.is_none() && self.buffer.len() > 0 {
            self.table.iter().filter(|e| e.requested).map(|e| e.request_until).min().unwrap_or(Time::NEVER)
        } else {
            Time::NEVER
        };
        repair.min(self.next_tick).min(self.next_hello).min(retry)
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        while self.repairs.front().is_some_and(|r| r.0 <= cx.now) {
            let (_, to) = self.repairs.pop_front().expect("just seen");
            self.end_repair(to, cx);
        }
        if self.next_tick <= cx.now {
            self.next_tick = Time::NEVER;
            self.on_tick(cx);
        }
        if self.next_hello <= cx.now {
            self.send_hello(cx);
        }
        if self.cfg.route_timer.is_none() {
            while let Some(to) = self.table.take_due(cx.now) {
                if self.buffer.holds(to, cx.pool) {
                    self.request(to, None, cx);
                }
            }
        }
    }

    fn routes(&self, _at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        out.extend(self.known());
    }

    fn has_route(&self, to: NodeId, _now: Time) -> bool {
        self.served.contains(&to) || self.known().any(|route| route.destination == to)
    }

    fn holds(&self, to: NodeId, pool: &PacketPool) -> bool {
        self.buffer.holds(to, pool)
    }

    fn waiting(&self) -> usize {
        self.buffer.len()
    }

    fn memory(&self) -> usize {
        self.table.memory() + self.seen.memory()
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl Aodv {
    /// Creates a router without routes.
    pub fn new(cfg: &Arc<Config>) -> Aodv {
        Aodv {
            recent: Recent::new(),
            table: Table::new(cfg.delete_period),
            buffer: Buffer::new(cfg.buffer_packets as usize, cfg.buffer_timeout),
            seen: Seen::new(),
            sequence: match cfg.sequence_numbers {
                SequenceRule::Even => 2,
                SequenceRule::Rfc3561 => 0,
            },
            next_id: 1,
            repairs: VecDeque::new(),
            next_tick: Time::NEVER,
            next_hello: if cfg.hello { Time::ZERO } else { Time::NEVER },
            hello_neighbors: Vec::new(),
            blacklist: Blacklist::default(),
            rreq_rate: RateLimit::default(),
            rerr_rate: RateLimit::default(),
            counters: Counters::default(),
            overhead: Overhead::default(),
            served: Vec::new(),
            cfg: Arc::clone(cfg),
        }
    }

    /// The valid routes.
    fn known(&self) -> impl Iterator<Item = KnownRoute> + '_ {
        let route = |e: &Entry| KnownRoute { destination: e.destination, next_hop: e.next_hop, hops: e.hops.into() };
        self.table.in_order().filter(|e| e.state == State::Up).map(route)
    }

    // ---- packets ----

    /// Hop count of an entry without a known route; it determines the TTL of the first request.
    fn first_hops(&self) -> u8 {
        match self.cfg.first_ring {
            FirstRing::Network => INFINITE_HOPS,
            FirstRing::TtlStart => 0,
        }
    }

    /// Sends a packet along a valid route.
    fn forward(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        let (to, source) = (cx.pool[packet].destination, cx.pool[packet].source);
        let life = cx.now + self.cfg.active_route_timeout;
        let entry = self.table.get_mut(to).expect("the route is up");
        let longer = entry.expires > life && self.cfg.lifetime_of_use == UseRule::AtLeast;
        if !longer {
            entry.expires = life;
        }
        cx.pool[packet].next_hop = entry.next_hop;
        cx.out.push(Out::Send { packet, delay });
        if self.cfg.refresh_source
            && source != cx.node
            && let Some(back) = self.table.get_mut(source).filter(|e| e.state == State::Up)
        {
            back.expires = back.expires.max(life);
        }
        self.arm_tick(cx.now);
    }

    /// Queues a packet until there is a route.
    fn keep(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.drop_aged(cx);
        if let Some(oldest) = self.buffer.push(packet, cx.now) {
            cx.out.push(Out::Drop { packet: oldest, reason: Reason::RouteBufferFull });
        }
        self.arm_tick(cx.now);
    }

    fn drop_aged(&mut self, cx: &mut Cx<'_>) {
        while let Some(aged) = self.buffer.pop_aged(cx.now) {
            cx.out.push(Out::Drop { packet: aged, reason: Reason::RouteTimeout });
        }
    }

    /// Sends the packets that waited for this destination.
    fn release(&mut self, to: NodeId, spacing: Span, cx: &mut Cx<'_>) {
        self.drop_aged(cx);
        let mut delay = Span::ZERO;
        while let Some(packet) = self.buffer.take(to, cx.pool) {
            self.forward(packet, delay, cx);
            delay += spacing;
        }
    }

    fn drop_waiting(&mut self, to: NodeId, cx: &mut Cx<'_>) {
        self.drop_aged(cx);
        while let Some(packet) = self.buffer.take(to, cx.pool) {
            cx.out.push(Out::Drop { packet, reason: Reason::NoRoute });
        }
    }

    // ---- timers ----

    /// Invalidates an expired route when it is looked up, if each route has a timer of its own.
    fn expire(&mut self, to: NodeId, cx: &Cx<'_>) {
        if self.cfg.route_timer.is_none()
            && let Some(entry) = self.table.get_mut(to).filter(|e| e.state == State::Up && e.expires <= cx.now)
        {
            entry.sequence += 1;
            entry.take_down(cx.now);
        }
    }

    /// Arms the periodic timer, which runs only while there is work for it.
    fn arm_tick(&mut self, now: Time) {
        if self.next_tick != Time::NEVER {
            return;
        }
        if let Some(period) = self.cfg.route_timer {
            self.next_tick = Time((now.0 / period.0 + 1) * period.0);
        }
    }

    fn on_tick(&mut self, cx: &mut Cx<'_>) {
        if self.buffer.len() == 0 {
            if self.table.expire(cx.now) {
                self.arm_tick(cx.now);
            }
            return;
        }
        for i in 0..self.table.len() {
            let entry = self.table.nth_mut(i);
            let to = entry.destination;
            match entry.state {
                State::Up if entry.has_expired(cx.now) => {
                    entry.expire(cx.now);
                    self.drop_waiting(to, cx);
                }
                State::Up => self.release(to, self.cfg.release_spacing, cx),
                _ if self.buffer.holds(to, cx.pool) => self.request(to, None, cx),
                _ => {}
            }
        }
        if self.buffer.len() > 0 || self.table.iter().any(|e| e.state == State::Up) {
            self.arm_tick(cx.now);
        }
    }

    // ---- requests ----

    /// Requests a route, unless there is one or a request is in progress.
    fn request(&mut self, to: NodeId, repair_ttl: Option<u8>, cx: &mut Cx<'_>) {
        let entry = self.table.get_mut(to).expect("who asks has an entry");
        if entry.state == State::Up || cx.now < entry.request_until {
            return;
        }
        if entry.network_wide > self.cfg.rreq_retries {
            // Destination unreachable (RFC 3561, 6.3).
            entry.request_until = cx.now + self.cfg.hold_off;
            entry.network_wide = 0;
            entry.requested = false;
            if self.cfg.first_ring == FirstRing::TtlStart {
                entry.last_ttl = 0;
                entry.last_hops = 0;
            }
            self.drop_waiting(to, cx);
            return;
        }
        if !self.rreq_rate.allows(cx.now, self.cfg.rreq_ratelimit) {
            entry.request_until = Time((cx.now.0 / 1_000_000_000 + 1) * 1_000_000_000);
            entry.requested = true;
            return;
        }
        let last = entry.last_ttl.max(entry.last_hops);
        let ttl = match repair_ttl {
            Some(ttl) => ttl,
            None if last == 0 => self.cfg.ttl_start,
            None if last < self.cfg.ttl_threshold => last.saturating_add(self.cfg.ttl_increment),
            None => {
                entry.network_wide += 1;
                self.cfg.net_diameter
            }
        };
        let again = entry.request_until > Time::ZERO && ttl == entry.last_ttl;
        entry.last_ttl = ttl;
        let jitter = if again { self.cfg.retry_jitter } else { self.cfg.request_jitter };
        let delay = if jitter == Span::ZERO { jitter } else { up_to(jitter, cx) };
        let wait = self.cfg.wait(ttl, entry);
        entry.request_until = cx.now + delay + wait;
        entry.requested = true;
        entry.expires = Time::ZERO;
        let destination_seq = entry.sequence;
        let unknown_seq = !entry.sequence_known;
        self.sequence += match self.cfg.sequence_numbers {
            SequenceRule::Even => 2,
            SequenceRule::Rfc3561 => 1,
        };
        let rreq = Rreq {
            id: self.next_id,
            hop_count: 1,
            unknown_seq,
            originator: cx.node,
            originator_seq: self.sequence,
            destination: to,
            destination_seq,
            sent: cx.now + delay,
        };
        self.next_id += 1;
        self.counters.rreq_originated += 1;
        let message = message(Body::Rreq(rreq), self.cfg.rreq_size.0, NodeId::BROADCAST, ttl, cx);
        self.overhead.send(message, delay, cx);
    }

    fn saw(&mut self, originator: NodeId, id: u32, now: Time) -> bool {
        let forgotten = match self.cfg.id_timer {
            // The periodic timer forgets requests at multiples of its period.
            Some(period) => Time(now.0 / period.0 * period.0),
            None => now,
        };
        let until = now + self.cfg.path_discovery_time;
        let saw = self.seen.saw(originator, id, until, forgotten);
        if !saw {
            self.recent.add(originator, id, now, until, self.cfg.id_timer);
        }
        saw
    }

    fn on_request(&mut self, packet: PacketId, mut rreq: Rreq, cx: &mut Cx<'_>) {
        let delivered = Fate::Delivered;
        let previous = cx.pool[packet].source;
        // Handled as if not received: the same request from another neighbor is then new.
        let ignored = self.blacklist.has(previous, cx.now);
        if ignored || rreq.originator == cx.node || self.saw(rreq.originator, rreq.id, cx.now) {
            cx.pool.end(packet, delivered);
            return;
        }
        self.learn_reverse_route(&rreq, previous, cx);
        self.expire(rreq.destination, cx);
        if rreq.destination == cx.node || self.served.contains(&rreq.destination) {
            self.sequence = match self.cfg.sequence_numbers {
                SequenceRule::Even => {
                    let n = self.sequence.max(rreq.destination_seq) + 1;
                    n + n % 2
                }
                // RFC 3561, 6.6.1: incremented only if the result is the requested number.
                SequenceRule::Rfc3561 => self.sequence.max(rreq.destination_seq),
            };
            let life = self.cfg.my_route_timeout;
            self.reply(&rreq, 1, self.sequence, life, cx);
            cx.pool.end(packet, delivered);
            return;
        }
        let back_hop = self.table.get_mut(rreq.originator).expect("just learned").next_hop;
        if let Some(entry) = self.table.get_mut(rreq.destination) {
            let fresh = entry.sequence >= rreq.destination_seq || rreq.unknown_seq;
            if entry.hops != INFINITE_HOPS && fresh && entry.sequence_known {
                let (hops, sequence, next_hop) = (entry.hops + 1, entry.sequence, entry.next_hop);
                let left = entry.expires.since(cx.now);
                let left = match self.cfg.reply_lifetime {
                    ReplyLifetime::Milliseconds => left,
                    ReplyLifetime::WholeSeconds => Span::secs(left.0 / 1_000_000_000),
                };
                self.table.add_precursor(rreq.destination, back_hop);
                self.table.add_precursor(rreq.originator, next_hop);
                self.reply(&rreq, hops, sequence, left, cx);
                cx.pool.end(packet, delivered);
                return;
            }
            rreq.destination_seq = rreq.destination_seq.max(entry.sequence);
        }
        if cx.pool[packet].ttl <= 1 {
            cx.pool.end(packet, delivered);
            return;
        }
        rreq.hop_count += 1;
        let packet = cx.pool.own(packet);
        let p = &mut cx.pool[packet];
        p.ttl -= 1;
        p.hops = p.hops.saturating_add(1);
        p.body = Body::Rreq(rreq);
        p.source = cx.node;
        p.next_hop = NodeId::BROADCAST;
        self.counters.rreq_forwarded += 1;
        let delay = up_to(self.cfg.broadcast_jitter, cx);
        self.overhead.send(packet, delay, cx);
    }

    /// Learns the route back to the originator of a request (RFC 3561, 6.5).
    fn learn_reverse_route(&mut self, rreq: &Rreq, previous: NodeId, cx: &mut Cx<'_>) {
        let life = cx.now + self.cfg.reverse_route_life;
        let first_hops = self.first_hops();
        let entry = self.table.entry(rreq.originator, cx.now, first_hops);
        entry.expires = entry.expires.max(life);
        let newer = rreq.originator_seq > entry.sequence
            || (rreq.originator_seq == entry.sequence && rreq.hop_count < entry.hops);
        if !newer {
            return;
        }
        let expires = entry.expires;
        entry.learn(rreq.originator_seq, rreq.hop_count, previous, expires);
        if entry.request_until > Time::ZERO {
            entry.request_done(rreq.hop_count);
            entry.expires = self.cfg.used(entry.expires, cx.now);
        }
        self.release(rreq.originator, Span::ZERO, cx);
        self.arm_tick(cx.now);
    }

    // ---- replies ----

    fn reply(&mut self, rreq: &Rreq, hop_count: u8, destination_seq: u32, lifetime: Span, cx: &mut Cx<'_>) {
        let next_hop = self.table.get_mut(rreq.originator).expect("the reverse route is known").next_hop;
        let rrep = Rrep {
            hop_count,
            destination: rreq.destination,
            destination_seq,
            originator: rreq.originator,
            lifetime,
            sent: rreq.sent,
            hello: false,
        };
        self.counters.rrep_originated += 1;
        let (bytes, ttl) = (self.cfg.rrep_size.0, self.cfg.net_diameter);
        let packet = message(Body::Rrep(rrep), bytes, rreq.originator, ttl, cx);
        cx.pool[packet].next_hop = next_hop;
        self.overhead.send(packet, Span::ZERO, cx);
    }

    fn on_reply(&mut self, packet: PacketId, mut rrep: Rrep, cx: &mut Cx<'_>) {
        let first_hops = self.first_hops();
        let previous = cx.pool[packet].source;
        let mine = rrep.originator == cx.node;
        self.expire(rrep.destination, cx);
        let entry = self.table.entry(rrep.destination, cx.now, first_hops);
        let newer = entry.sequence < rrep.destination_seq
            || (entry.sequence == rrep.destination_seq && entry.hops > rrep.hop_count);
        if !newer {
            cx.pool.end(packet, Fate::Delivered);
            return;
        }
        entry.learn(rrep.destination_seq, rrep.hop_count, previous, cx.now + rrep.lifetime);
        entry.request_done(rrep.hop_count);
        if mine {
            entry.measured(cx.now.since(rrep.sent) / u64::from(rrep.hop_count.max(1)));
        }
        self.release(rrep.destination, self.cfg.release_spacing, cx);
        self.arm_tick(cx.now);
        if mine {
            cx.pool.end(packet, Fate::Delivered);
            return;
        }
        self.expire(rrep.originator, cx);
        match self.table.get_mut(rrep.originator).filter(|e| e.hops != INFINITE_HOPS) {
            Some(back) => {
                back.expires = self.cfg.used(back.expires, cx.now);
                let back_hop = back.next_hop;
                rrep.hop_count = rrep.hop_count.saturating_add(1);
                let p = &mut cx.pool[packet];
                p.ttl = p.ttl.saturating_sub(1);
                p.body = Body::Rrep(rrep);
                p.source = cx.node;
                p.next_hop = back_hop;
                self.table.add_precursor(rrep.destination, back_hop);
                self.overhead.send(packet, Span::ZERO, cx);
            }
            None => cx.out.push(Out::Drop { packet, reason: Reason::NoRoute }),
        }
    }

    // ---- failures ----

    /// Local repair (RFC 3561, 6.12).
    fn repair(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = cx.pool[packet];
        let to = p.destination;
        self.counters.local_repairs += 1;
        self.keep(packet, cx);
        let entry = self.table.get_mut(to).expect("the packet had a route");
        entry.state = State::InRepair;
        let ttl = match self.cfg.local_repair {
            RepairRule::WithinRepairTtl => {
                if entry.hops != INFINITE_HOPS {
                    // A route in repair answers no request, and any route with the new number is better.
                    entry.sequence += 1;
                    entry.last_hops = entry.hops;
                    entry.hops = INFINITE_HOPS;
                }
                let reach = entry.last_hops.max(p.hops / 2).saturating_add(self.cfg.local_add_ttl);
                Some(reach.min(self.cfg.net_diameter))
            }
            _ => None,
        };
        self.request(to, ttl, cx);
        let until = self.table.get_mut(to).expect("just seen").request_until;
        let at = match self.cfg.repair_timer {
            RepairTimer::RequestWait => until.max(cx.now),
            RepairTimer::InstantAsDelay => cx.now + Span(until.0),
        };
        let place = self.repairs.partition_point(|r| r.0 <= at);
        if self.repairs.capacity() == 0 {
            self.repairs.reserve(match self.cfg.repair_timer {
                // Timers with a delay as long as the run accumulate.
                RepairTimer::InstantAsDelay => 1024,
                RepairTimer::RequestWait => 8,
            });
        }
        self.repairs.insert(place, (at, to));
    }

    fn end_repair(&mut self, to: NodeId, cx: &mut Cx<'_>) {
        let Some(entry) = self.table.get_mut(to).filter(|e| e.state != State::Up) else { return };
        let was_in_repair = entry.state == State::InRepair;
        entry.take_down(cx.now);
        let sequence = entry.sequence;
        if self.cfg.repair_error && was_in_repair {
            self.drop_waiting(to, cx);
            let list = cx.pool.new_list();
            cx.pool.list_mut(list).push(unreachable(to, sequence));
            self.send_error(list, false, cx);
        }
    }

    /// A neighbor is lost: invalidates the routes over it and notifies their users.
    fn delete_neighbor(&mut self, lost: NodeId, cx: &mut Cx<'_>) {
        if self.cfg.sequence_numbers == SequenceRule::Even {
            self.sequence += 2;
        }
        self.hello_neighbors.retain(|n| n.0 != lost);
        let list = cx.pool.new_list();
        for i in 0..self.table.len() {
            let entry = self.table.nth_mut(i);
            if entry.hops != INFINITE_HOPS && entry.next_hop == lost {
                entry.sequence += 1;
                cx.pool.list_mut(list).push(unreachable(entry.destination, entry.sequence));
                entry.take_down(cx.now);
                cx.out.push(Out::RouteLost { destination: entry.destination, anew: true });
            }
        }
        self.table.remove_precursor(lost);
        if cx.pool.list(list).is_empty() {
            cx.pool.free_list(list);
        } else {
            self.send_error(list, false, cx);
        }
    }

    fn on_error(&mut self, from: NodeId, list: ListId, cx: &mut Cx<'_>) {
        let told = cx.pool.new_list();
        for i in 0..cx.pool.list(list).len() {
            let Listed { node: to, sequence, .. } = cx.pool.list(list)[i];
            let Some(entry) = self.table.get_mut(to) else { continue };
            if entry.hops == INFINITE_HOPS || entry.next_hop != from || entry.sequence > sequence {
                continue;
            }
            entry.sequence = match self.cfg.error_sequence {
                ErrorSequence::Raised => sequence.max(entry.sequence + 1),
                ErrorSequence::Copied => sequence,
            };
            let sequence = entry.sequence;
            entry.take_down(cx.now);
            cx.out.push(Out::Purge { next_hop: from });
            cx.out.push(Out::RouteLost { destination: to, anew: true });
            if self.table.clear_precursors(to) {
                cx.pool.list_mut(told).push(unreachable(to, sequence));
            }
        }
        if cx.pool.list(told).is_empty() {
            cx.pool.free_list(told);
        } else {
            self.send_error(told, true, cx);
        }
    }

    fn send_error(&mut self, list: ListId, jitter: bool, cx: &mut Cx<'_>) {
        if !self.rerr_rate.allows(cx.now, self.cfg.rerr_ratelimit) {
            cx.pool.free_list(list);
            return;
        }
        let destinations = cx.pool.list(list).len() as u32;
        let bytes = self.cfg.rerr_size.0 + self.cfg.rerr_destination_size.0 * destinations;
        self.counters.rerr_sent += 1;
        let packet = message(Body::Rerr(list), bytes, NodeId::BROADCAST, 1, cx);
        let delay = if jitter { up_to(self.cfg.broadcast_jitter, cx) } else { Span::ZERO };
        self.overhead.send(packet, delay, cx);
    }

    // ---- HELLO ----

    fn send_hello(&mut self, cx: &mut Cx<'_>) {
        while let Some(&(lost, _)) = self.hello_neighbors.iter().find(|n| n.1 <= cx.now) {
            self.counters.links_deleted += 1;
            cx.out.push(Out::Purge { next_hop: lost });
            self.delete_neighbor(lost, cx);
        }
        let rrep = Rrep {
            hop_count: 1,
            destination: cx.node,
            destination_seq: self.sequence,
            originator: NodeId::BROADCAST,
            lifetime: self.cfg.hello_interval * u64::from(self.cfg.allowed_hello_loss),
            sent: cx.now,
            hello: true,
        };
        let packet = message(Body::Rrep(rrep), self.cfg.rrep_size.0, NodeId::BROADCAST, 1, cx);
        self.overhead.send(packet, Span::ZERO, cx);
        // A quarter to either side, so that neighbors do not synchronize.
        let share = 0.75 + 0.5 * cx.rng.uniform();
        self.next_hello = cx.now + Span((self.cfg.hello_interval.0 as f64 * share) as u64);
    }

    fn on_hello(&mut self, from: NodeId, cx: &Cx<'_>) {
        // Half an interval more than the allowed losses, because intervals vary.
        let silence = self.cfg.hello_interval * u64::from(self.cfg.allowed_hello_loss) * 3 / 2;
        let until = cx.now + silence;
        match self.hello_neighbors.iter_mut().find(|n| n.0 == from) {
            Some(n) => n.1 = until,
            None => self.hello_neighbors.push((from, until)),
        }
    }
}

/// A random part of a duration.
fn up_to(most: Span, cx: &mut Cx<'_>) -> Span {
    Span((cx.rng.uniform() * most.0 as f64) as u64)
}

/// An entry of a route error.
fn unreachable(node: NodeId, sequence: u32) -> Listed {
    Listed { node, sequence, hops: INFINITE_HOPS }
}
