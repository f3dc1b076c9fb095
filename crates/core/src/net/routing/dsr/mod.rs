//! Dynamic source routing (RFC 4728): a packet carries its route, or follows a flow that the nodes on the route store.
//!
//! The procedures are those of the RFC with link-layer acknowledgements and bidirectional links; deviations of ns-2.35
//! are settings, collected in the preset `ns2-2.35`.

mod cache;
mod config;
mod errors;
mod flows;
mod overheard;
mod requests;
mod shorter;
mod waiting;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message};
use crate::count::Field;
use crate::counters;
use crate::packet::{
    Body, BrokenLink, Datagram, DsrRequest, Fate, FlowState, Header, HeaderId, Kind, NodeId, PacketId, PacketPool,
    Reason, RouteError,
};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use cache::Cache;
pub use config::{Config, GratReplyKey};
use flows::{Flows, Passage, Rule};
use overheard::Heard;
use requests::Requests;
use shorter::GratuitousReplies;
use std::collections::VecDeque;
use std::sync::Arc;

/// A packet that waits for a route.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: PacketId,
    until: Time,
    /// A packet of another node that lost its route here.
    salvaged: bool,
}

counters! {
    /// Counters of DSR.
    pub struct Counters {
        /// Route requests originated.
        rreq_originated,
        /// Route requests forwarded.
        rreq_forwarded,
        /// Route replies originated.
        rrep_originated,
        /// Route errors sent, including forwarded ones.
        rerr_sent,
        /// Neighbors declared lost because a packet to them was given up.
        links_deleted,
        /// Route discoveries started for packets of this node.
        route_discoveries,
    }
}

/// DSR router of a node.
#[derive(Clone, Debug)]
pub struct Dsr {
    /// Shared by all routers.
    cfg: Arc<Config>,
    cache: Cache,
    requests: Requests,
    flows: Flows,
    buffer: VecDeque<Waiting>,
    next_check: Time,
    next_id: u32,
    /// Number of packets that received a header at this node.
    made: u32,
    /// A broken link to be reported with requests until this instant.
    held: Option<(BrokenLink, Time)>,
    /// Shorter routes that were reported.
    shorter: GratuitousReplies,
    /// Packets that were overheard.
    heard: Heard,
    /// Scratch buffer for a route.
    way: Vec<NodeId>,
    reply_route: Vec<NodeId>,
    /// Scratch buffer for route errors.
    errors: Vec<RouteError>,
    counters: Counters,
    overhead: Overhead,
}

impl Config {
    /// Memory of the route cache of a node \[B\].
    pub fn cache_bytes(&self) -> usize {
        (self.own_cache_paths + self.seen_cache_paths) as usize * cache::PATH
    }

    /// Header bytes of a packet with a route of this number of hops.
    pub fn route_bytes(&self, hops: u32) -> u32 {
        let flow = if self.flow_state { FlowState::Establishes(0) } else { FlowState::None };
        let header = Header { route: vec![NodeId(0); hops as usize + 1], flow, ..Header::default() };
        self.header_bytes(&Body::Datagram(Datagram::default()), &header)
    }

    /// Size of the DSR headers \[B\]: that of flow state, and the fixed part, if there is anything, and options, padded
    /// to words.
    fn header_bytes(&self, body: &Body, header: &Header) -> u32 {
        let mut options = 0;
        if !header.flow.hides_route() {
            options += 4 * (header.route.len() as u32).saturating_sub(1);
        }
        if matches!(body, Body::DsrRequest(_)) {
            options += 8;
        }
        if !header.reply.is_empty() {
            options += 5 + 4 * header.reply.len() as u32;
        }
        options += 16 * header.errors.len() as u32;
        if header.unknown_flow.is_some() {
            options += self.unknown_flow_size.0;
        }
        if matches!(header.flow, FlowState::Establishes(_)) {
            options += 4;
        }
        let flow_header = if matches!(header.flow, FlowState::Establishes(_) | FlowState::Follows(_)) { 4 } else { 0 };
        flow_header + if options == 0 { 0 } else { (4 + options).next_multiple_of(4) }
    }
}

impl Routing for Dsr {
    const SAVES_MESSAGES: bool = true;
    const FIELDS: &'static [Field] = Counters::FIELDS;

    fn reach(cfg: &super::Config, ttl: u8) -> (&'static str, u8) {
        let limit = cfg.dsr.discovery_hop_limit;
        if limit <= ttl { ("routing.dsr.discovery_hop_limit", limit) } else { ("net.ttl", ttl) }
    }

    fn source_routes(cfg: &super::Config) -> Option<&Config> {
        Some(&cfg.dsr)
    }

    fn learned_bytes(cfg: &super::Config, _nodes: f64) -> f64 {
        cfg.dsr.cache_bytes() as f64
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, rng: &mut Stream) -> Dsr {
        let cfg = &shared.dsr;
        let (least, most) = (cfg.min_check_interval, cfg.max_check_interval);
        let more = Span((rng.uniform() * (most.max(least) - least).0 as f64) as u64);
        Dsr::new(cfg, Time::ZERO + least + more)
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        if p.header.is_some() {
            return self.forward(packet, cx);
        }
        if p.source == cx.node {
            if p.hops > 0 {
                cx.out.push(Out::Drop { packet, reason: Reason::RoutingLoop });
                return;
            }
            let added = self.added_to(&p.body);
            p.set_overhead(added);
        }
        self.originate(packet, cx);
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if let Body::DsrRequest(request) = cx.pool[packet].body {
            return self.on_request(packet, request, cx);
        }
        if cx.pool[packet].destination != cx.node {
            return self.forward(packet, cx);
        }
        self.heed(packet, true, cx);
        self.on_arrival(packet, cx);
        let header = cx.pool.header(cx.pool[packet].header);
        if let (Body::DsrReply, Some(&to)) = (cx.pool[packet].body, header.reply.last()) {
            self.cache.add(&header.reply, true, cx.now);
            self.requests.get(to).answered();
            cx.pool.end(packet, Fate::Delivered);
            return self.release(to, cx);
        }
        if let Some((to, flow)) = header.unknown_flow {
            self.flows.on_unknown(to, flow, self.cfg.default_flow_restarts);
        }
        cx.pool.end(packet, Fate::Delivered);
    }

    /// A packet has reached this node, for which it was.
    fn on_arrival(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let id = cx.pool[packet].header;
        if id.is_some() && self.cfg.learn_at_destination {
            cx.pool.header_mut(id).at += 1;
            self.learn_from(packet, cx);
        }
    }

    /// Returns true if the router reads frames for others.
    fn is_promiscuous(&self) -> bool {
        self.cfg.promiscuous
    }

    /// Resets the router, except for the numbers of its requests, flows and packets, so that new ones are not taken for
    /// old ones.
    fn switch_off(&mut self, cx: &mut Cx<'_>) {
        while let Some(waiting) = self.buffer.pop_front() {
            cx.out.push(Out::Drop { packet: waiting.packet, reason: Reason::NodeOff });
        }
        let (next_id, made, counters, overhead) = (self.next_id, self.made, self.counters, self.overhead);
        let flows = Flows::after(self.flows.last_id());
        *self = Dsr { next_id, made, counters, overhead, flows, ..Dsr::new(&self.cfg, Time::NEVER) };
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        if self.cfg.ns2.check_always {
            self.arm_check(cx);
        }
    }

    /// The shortest way to each destination, in the order of these.
    fn routes(&self, _at: NodeId, now: Time, out: &mut Vec<KnownRoute>) {
        let start = out.len();
        for way in self.cache.ways(now) {
            for (hops, &destination) in (1..).zip(&way[1.min(way.len())..]) {
                out.push(KnownRoute::by_hops(destination, way[1], hops));
            }
        }
        out[start..].sort_by_key(|r| (r.destination, r.hops));
        let mut last = None;
        let mut kept = start;
        for i in start..out.len() {
            if last != Some(out[i].destination) {
                last = Some(out[i].destination);
                out[kept] = out[i];
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Returns true if a route leads to a destination.
    fn has_route(&self, to: NodeId, now: Time) -> bool {
        self.cache.ways(now).any(|way| way.iter().skip(1).any(|&n| n == to))
    }

    fn holds(&self, to: NodeId, pool: &PacketPool) -> bool {
        self.buffer.iter().any(|w| pool[w.packet].destination == to)
    }

    fn waiting(&self) -> usize {
        self.buffer.len()
    }

    fn memory(&self) -> usize {
        self.cache.memory()
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.lose_link(packet, cx);
    }

    fn on_returned(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.take_back(packet, cx);
    }

    fn on_overheard(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.overhear(packet, cx);
    }

    fn deadline(&self) -> Time {
        self.next_look()
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.look(cx);
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl Dsr {
    /// A router with an empty cache; its first check of the waiting packets comes after `first`, if it always checks.
    pub fn new(cfg: &Arc<Config>, first: Time) -> Dsr {
        Dsr {
            cache: Cache::new(cfg.own_cache_paths as usize, cfg.seen_cache_paths as usize, cfg.cache_timeout),
            requests: Requests::default(),
            flows: Flows::default(),
            buffer: VecDeque::with_capacity(cfg.buffer_packets.min(64) as usize),
            next_check: if cfg.ns2.check_always { first } else { Time::NEVER },
            next_id: 1,
            made: 0,
            held: None,
            shorter: GratuitousReplies::default(),
            heard: Heard::default(),
            way: Vec::with_capacity(32),
            reply_route: Vec::with_capacity(32),
            errors: Vec::with_capacity(4),
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        }
    }

    // ---- packets ----

    /// Sends a packet from here on, or lets it wait.
    fn originate(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let to = cx.pool[packet].destination;
        if self.find(to, true, cx.now) {
            return self.dispatch(packet, Span::ZERO, cx);
        }
        if !self.holds(to, cx.pool) {
            self.counters.route_discoveries += 1;
        }
        self.keep(packet, false, cx);
        self.ask(to, false, cx);
    }

    /// Finds a route and stores it in `way`.
    fn find(&mut self, to: NodeId, for_own: bool, now: Time) -> bool {
        self.way.clear();
        if let Some(way) = self.cache.find(to, for_own, now) {
            self.way.extend_from_slice(way);
        }
        !self.way.is_empty()
    }

    /// Sends a packet along the route in `way`.
    fn dispatch(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        let (to, is_own) = (cx.pool[packet].destination, cx.pool[packet].source == cx.node);
        let id = cx.pool[packet].header;
        let id = if id.is_some() { id } else { self.new_header(packet, cx) };
        let header = cx.pool.header_mut(id);
        header.set_route(&self.way);
        header.flow = FlowState::None;
        // Routing messages follow flows only if they report an unknown flow.
        let may_follow = header.unknown_flow.is_some() || cx.pool[packet].body.kind() != Kind::Routing;
        if self.cfg.flow_state && is_own && may_follow {
            let flow = self.flows.send(to, &self.way, cx.pool[packet].ttl, &self.rule(), cx.now);
            cx.pool.header_mut(id).flow = flow;
        }
        self.set_size(packet, cx.pool);
        cx.pool[packet].next_hop = self.way[1];
        self.send(packet, delay, cx);
    }

    /// Hands a packet down.
    fn send(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        self.counters.rerr_sent += u64::from(matches!(cx.pool[packet].body, Body::DsrError));
        self.overhead.send(packet, delay, cx);
    }

    /// Gives a packet that enters the network here a header.
    fn new_header(&mut self, packet: PacketId, cx: &mut Cx<'_>) -> HeaderId {
        let id = cx.pool.new_header(packet);
        self.made += 1;
        cx.pool.header_mut(id).made = (cx.node, self.made);
        id
    }

    fn rule(&self) -> Rule {
        Rule { first: self.cfg.flow_packets, refresh: self.cfg.flow_refresh, timeout: self.cfg.flow_timeout }
    }

    /// Sets the size of a packet according to its header.
    fn set_size(&self, packet: PacketId, pool: &mut PacketPool) {
        let p = &pool[packet];
        let bytes = self.cfg.header_bytes(&p.body, pool.header(p.header));
        let is_message = p.body.kind() == Kind::Routing;
        let p = &mut pool[packet];
        if is_message {
            p.bytes = self.cfg.message_header_size.0 + bytes;
        } else {
            let added = self.added_to(&p.body);
            p.set_overhead(added + bytes);
        }
    }

    /// Bytes added to a packet besides its route.
    fn added_to(&self, body: &Body) -> u32 {
        if body.is_tcp() { self.cfg.ns2.packet_header_size.0 } else { 0 }
    }

    /// Forwards a packet of another node.
    fn forward(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        let ttl = p.ttl;
        if !p.spend_hop() {
            cx.out.push(Out::Drop { packet, reason: Reason::TtlExpired });
            return;
        }
        let (id, source, to) = (p.header, p.source, p.destination);
        cx.pool.header_mut(id).at += 1;
        self.heed(packet, false, cx);
        self.learn_from(packet, cx);
        let rule = self.rule();
        let header = cx.pool.header_mut(id);
        match self.flows.pass((source, to), ttl, header, &rule, cx.now) {
            Passage::Along => {}
            Passage::Instead { route, at } => {
                header.route.clear();
                header.route.extend_from_slice(route);
                header.at = at;
            }
            Passage::Unknown => return self.on_unknown_flow(packet, cx),
        }
        match header.next_hop().filter(|_| header.route[header.at] == cx.node) {
            Some(next) => {
                cx.pool[packet].next_hop = next;
                self.send(packet, Span::ZERO, cx);
            }
            None => cx.out.push(Out::Drop { packet, reason: Reason::NoRoute }),
        }
    }

    /// Learns the ways in a header that this node has received, or is in the middle of.
    fn learn_from(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let header = cx.pool.header(cx.pool[packet].header);
        if header.flow.hides_route() {
            return;
        }
        self.learn_both_ways(&header.route, header.at, cx);
        if let Some(place) = header.reply.iter().position(|&n| n == cx.node) {
            self.learn_both_ways(&header.reply, place, cx);
        }
    }

    /// Learns the rest of a route from its position on it, and the reverse.
    fn learn_both_ways(&mut self, route: &[NodeId], place: usize, cx: &Cx<'_>) {
        if route.get(place) == Some(&cx.node) {
            self.cache.add(&route[place..], false, cx.now);
            self.way.clear();
            self.way.extend(route[..=place].iter().rev());
            self.cache.add(&self.way, false, cx.now);
        }
    }

    // ---- requests ----

    /// Requests a route for a waiting packet, if a request may be sent by now. Returns `false` if the packet is given
    /// up, because it is to be salvaged and the neighbors did not reply.
    fn ask(&mut self, to: NodeId, salvaged: bool, cx: &mut Cx<'_>) -> bool {
        let sought = self.requests.get(to);
        if sought.next_at > cx.now {
            if !salvaged && sought.neighbors_are_silent(self.cfg.nonprop_request_timeout, cx.now) {
                sought.neighbors_asked = None;
                self.send_request(to, true, cx);
            }
            return true;
        }
        let in_vain = sought.cycles > 0;
        if !sought.begin(&self.cfg, cx.now) {
            self.drop_waiting(to, cx);
            return true;
        }
        if salvaged && in_vain {
            return false;
        }
        let propagates = !salvaged && !self.cfg.nonpropagating;
        self.requests.get(to).neighbors_asked = (!propagates).then_some(cx.now);
        self.send_request(to, propagates, cx);
        true
    }

    fn send_request(&mut self, target: NodeId, propagates: bool, cx: &mut Cx<'_>) {
        let request = DsrRequest { id: self.next_id, target, propagates };
        self.next_id += 1;
        self.counters.rreq_originated += 1;
        let packet = message(Body::DsrRequest(request), 0, NodeId::BROADCAST, u8::MAX, cx);
        let id = self.new_header(packet, cx);
        let header = cx.pool.header_mut(id);
        header.route.push(cx.node);
        let held = self.held.filter(|h| h.1 > cx.now).map(|h| h.0);
        header.errors.extend(held.map(|link| RouteError { link, tell: NodeId::BROADCAST, lost: None }));
        if propagates && self.cfg.error_told_once {
            self.held = None;
        }
        self.set_size(packet, cx.pool);
        let delay = between(Span::ZERO, self.cfg.broadcast_jitter, cx);
        self.overhead.send(packet, delay, cx);
    }

    fn on_request(&mut self, packet: PacketId, request: DsrRequest, cx: &mut Cx<'_>) {
        let DsrRequest { id, target, propagates } = request;
        let header = cx.pool.header(cx.pool[packet].header);
        let originator = header.route[0];
        let passed = header.route.contains(&cx.node);
        self.heed(packet, false, cx);
        if passed || (target != cx.node && self.requests.saw(originator, id)) {
            return cx.pool.end(packet, Fate::Delivered);
        }
        if target == cx.node || self.cfg.learn_from_requests {
            // The reverse route.
            self.way.clear();
            self.way.push(cx.node);
            self.way.extend(cx.pool.header(cx.pool[packet].header).route.iter().rev());
            self.cache.add(&self.way, target == cx.node, cx.now);
        }
        if target == cx.node {
            let delay = between(Span::ZERO, self.cfg.reply_jitter, cx);
            self.reply_route.clear();
            self.reply_route.push(cx.node);
            self.reply(packet, delay, cx);
            return cx.pool.end(packet, Fate::Delivered);
        }
        let header = cx.pool.header(cx.pool[packet].header);
        let hops = header.route.len();
        if self.cfg.reply_from_cache
            && let Some(rest) = self.cache.find(target, false, cx.now)
            && hops + rest.len() - 1 <= usize::from(self.cfg.discovery_hop_limit)
            && !rest.iter().any(|n| header.route.contains(n))
        {
            self.reply_route.clear();
            self.reply_route.extend_from_slice(rest);
            self.reply(packet, Span::ZERO, cx);
            return cx.pool.end(packet, Fate::Delivered);
        }
        if !propagates || hops >= usize::from(self.cfg.discovery_hop_limit) {
            return cx.pool.end(packet, Fate::Delivered);
        }
        let packet = cx.pool.own(packet);
        let before = cx.pool[packet].bytes;
        let id = cx.pool[packet].header;
        cx.pool.header_mut(id).route.push(cx.node);
        self.set_size(packet, cx.pool);
        let p = &mut cx.pool[packet];
        if self.cfg.ns2.request_grows_twice {
            p.bytes += before - self.cfg.message_header_size.0;
        }
        p.hops = p.hops.saturating_add(1);
        (p.source, p.next_hop) = (cx.node, NodeId::BROADCAST);
        self.counters.rreq_forwarded += 1;
        let delay = between(Span::ZERO, self.cfg.broadcast_jitter, cx);
        self.overhead.send(packet, delay, cx);
    }

    /// Answers a request with the path that it has taken, followed by the rest of the route in `reply_route`.
    fn reply(&mut self, request: PacketId, delay: Span, cx: &mut Cx<'_>) {
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(cx.pool.header(cx.pool[request].header).route.iter().rev());
        self.counters.rrep_originated += 1;
        let packet = self.message(Body::DsrReply, cx);
        let header = cx.pool.header_mut(cx.pool[packet].header);
        header.reply.extend(self.way[1..].iter().rev());
        header.reply.extend_from_slice(&self.reply_route);
        self.set_size(packet, cx.pool);
        self.send(packet, delay, cx);
    }

    /// Creates a message that follows the route in `way`.
    fn message(&mut self, body: Body, cx: &mut Cx<'_>) -> PacketId {
        let to = *self.way.last().expect("a way");
        let packet = message(body, 0, to, u8::MAX, cx);
        let id = self.new_header(packet, cx);
        cx.pool.header_mut(id).set_route(&self.way);
        cx.pool[packet].next_hop = self.way[1];
        packet
    }
}

/// A random time between two.
fn between(least: Span, most: Span, cx: &mut Cx<'_>) -> Span {
    if most <= least {
        return least;
    }
    least + Span((cx.rng.uniform() * (most - least).0 as f64) as u64)
}
