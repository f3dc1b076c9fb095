//! Dynamic source routing (RFC 4728): a packet carries its way, or follows one that the nodes on it remember.
//!
//! The procedures are those of the RFC with acknowledgements of the link layer and links that go both ways; the points in
//! which ns-2.35 differs are settings, and the preset `ns2-2.35` gathers them.

mod cache;
mod config;
mod flows;
mod overheard;
mod requests;
mod waiting;

use super::{Cx, KnownRoute, Out, Overhead, message};
use crate::counters;
use crate::packet::{
    Body, BrokenLink, Datagram, DsrRequest, Fate, FlowState, Header, Kind, NodeId, PacketId, Reason, Slab,
};
use crate::unit::{Span, Time};
use cache::Cache;
pub use config::Config;
use flows::{Flows, Rule};
use requests::Requests;
use std::collections::VecDeque;
use std::sync::Arc;

/// A packet that waits for a route.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: PacketId,
    until: Time,
    /// It is of another node, and has lost its way here.
    salvaged: bool,
}

counters! {
    /// What DSR counts.
    pub struct Counters {
        /// Route requests made.
        rreq_originated,
        /// Route requests passed on.
        rreq_forwarded,
        /// Route replies made.
        rrep_originated,
        /// Route errors sent, those passed on included.
        rerr_sent,
        /// Neighbours declared lost because a packet to them was given up.
        links_deleted,
        /// Searches for a route that a packet of this node began.
        route_discoveries,
    }
}

/// The DSR router of a node.
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
    /// A link that was told to be broken, to be told with requests until this instant.
    held: Option<(BrokenLink, Time)>,
    /// Pairs of nodes that were told of a shorter way, and when they may be told again.
    shortened: Vec<(NodeId, NodeId, Time)>,
    /// A way at work.
    way: Vec<NodeId>,
    told: Vec<NodeId>,
    counters: Counters,
    overhead: Overhead,
}

impl Config {
    /// Memory of the cache of a node \[B\].
    pub fn cache_bytes(&self) -> usize {
        (self.cache_own + self.cache_seen) as usize * cache::PATH
    }
}

impl Dsr {
    /// A router that knows nothing yet; its first look at the packets that wait comes after so long, if it looks always.
    pub fn new(cfg: &Arc<Config>, first: Time) -> Dsr {
        Dsr {
            cache: Cache::new(cfg.cache_own as usize, cfg.cache_seen as usize, cfg.cache_timeout),
            requests: Requests::default(),
            flows: Flows::default(),
            buffer: VecDeque::with_capacity(cfg.send_buffer.min(64) as usize),
            next_check: if cfg.check_always { first } else { Time::NEVER },
            next_id: 1,
            held: None,
            shortened: Vec::with_capacity(16),
            way: Vec::with_capacity(32),
            told: Vec::with_capacity(32),
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    pub(super) fn holds(&self, to: NodeId, slab: &Slab) -> bool {
        self.buffer.iter().any(|w| slab[w.packet].destination == to)
    }

    pub(super) fn waiting(&self) -> usize {
        self.buffer.len()
    }

    pub(super) fn memory(&self) -> usize {
        self.cache.memory()
    }

    /// Whether it wants to see frames for others.
    pub(super) fn is_promiscuous(&self) -> bool {
        self.cfg.promiscuous
    }

    /// The shortest way to each destination, in the order of these.
    pub(super) fn routes(&self, now: Time, out: &mut Vec<KnownRoute>) {
        let start = out.len();
        for way in self.cache.ways(now) {
            for (hops, &destination) in (1..).zip(&way[1.min(way.len())..]) {
                out.push(KnownRoute { destination, next_hop: way[1], hops });
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

    /// Whether a way leads to a destination.
    pub(super) fn has_route(&self, to: NodeId, now: Time) -> bool {
        self.cache.ways(now).any(|way| way.iter().skip(1).any(|&n| n == to))
    }

    // ---- the node ----

    /// Forgets all but the numbers of its requests and flows, so that nobody takes new ones for old ones.
    pub(super) fn switch_off(&mut self, cx: &mut Cx<'_>) {
        while let Some(waiting) = self.buffer.pop_front() {
            cx.out.push(Out::Drop { packet: waiting.packet, reason: Reason::NodeOff });
        }
        let (next_id, counters, overhead) = (self.next_id, self.counters, self.overhead);
        let flows = Flows::after(self.flows.last_id());
        *self = Dsr { next_id, counters, overhead, flows, ..Dsr::new(&self.cfg, Time::NEVER) };
    }

    pub(super) fn switch_on(&mut self, cx: &mut Cx<'_>) {
        if self.cfg.check_always {
            self.arm_check(cx);
        }
    }

    // ---- packets ----

    pub(super) fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.slab[packet];
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

    /// Sends a packet from here on, or lets it wait.
    fn originate(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let to = cx.slab[packet].destination;
        if self.find(to, true, cx.now) {
            return self.dispatch(packet, Span::ZERO, cx);
        }
        if !self.holds(to, cx.slab) {
            self.counters.route_discoveries += 1;
        }
        self.keep(packet, false, cx);
        self.ask(to, false, cx);
    }

    /// Looks for a way, which is then in `way`.
    fn find(&mut self, to: NodeId, for_own: bool, now: Time) -> bool {
        self.way.clear();
        if let Some(way) = self.cache.find(to, for_own, now) {
            self.way.extend_from_slice(way);
        }
        !self.way.is_empty()
    }

    /// Sends a packet along the way that was found.
    fn dispatch(&mut self, packet: PacketId, delay: Span, cx: &mut Cx<'_>) {
        let (to, is_own) = (cx.slab[packet].destination, cx.slab[packet].source == cx.node);
        let id = cx.slab[packet].header;
        let id = if id.is_some() { id } else { cx.slab.new_header(packet) };
        let header = cx.slab.header_mut(id);
        header.set_route(&self.way);
        header.flow = FlowState::None;
        if self.cfg.flow_state && is_own && cx.slab[packet].body.kind() != Kind::Routing {
            let flow = self.flows.send(to, &self.way, &self.rule(), cx.now);
            cx.slab.header_mut(id).flow = flow;
        }
        self.set_size(packet, cx.slab);
        cx.slab[packet].next_hop = self.way[1];
        self.overhead.send(packet, delay, cx);
    }

    fn rule(&self) -> Rule {
        Rule { first: self.cfg.flow_packets, refresh: self.cfg.flow_refresh, timeout: self.cfg.flow_timeout }
    }

    /// A packet has its size by its header.
    fn set_size(&self, packet: PacketId, slab: &mut Slab) {
        let p = &slab[packet];
        let bytes = header_bytes(&p.body, slab.header(p.header));
        let is_message = p.body.kind() == Kind::Routing;
        let p = &mut slab[packet];
        if is_message {
            p.bytes = self.cfg.message_header.0 + bytes;
        } else {
            let added = self.added_to(&p.body);
            p.set_overhead(added + bytes);
        }
    }

    /// Bytes that a packet gets besides its route.
    fn added_to(&self, body: &Body) -> u32 {
        if body.is_tcp() { self.cfg.packet_header.0 } else { 0 }
    }

    /// A packet of another node is passed on.
    fn forward(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.slab[packet];
        p.ttl = p.ttl.saturating_sub(1);
        if p.ttl == 0 {
            cx.out.push(Out::Drop { packet, reason: Reason::TtlExpired });
            return;
        }
        let (id, source, to) = (p.header, p.source, p.destination);
        cx.slab.header_mut(id).at += 1;
        self.learn_from(packet, cx);
        let rule = self.rule();
        let header = cx.slab.header(id);
        if !self.flows.pass(source, header.flow, &rule, cx.now) {
            return self.on_unknown_flow(packet, to, cx);
        }
        match header.next_hop().filter(|_| header.route[header.at] == cx.node) {
            Some(next) => {
                cx.slab[packet].next_hop = next;
                self.overhead.send(packet, Span::ZERO, cx);
            }
            None => cx.out.push(Out::Drop { packet, reason: Reason::NoRoute }),
        }
    }

    /// A packet follows a flow that this node does not know.
    fn on_unknown_flow(&mut self, packet: PacketId, to: NodeId, cx: &mut Cx<'_>) {
        let header = cx.slab.header(cx.slab[packet].header);
        let back: Vec<NodeId> = header.route[..=header.at].iter().rev().copied().collect();
        if self.cfg.salvage_unknown_flow {
            self.save(packet, Reason::NoRoute, cx);
        } else {
            cx.out.push(Out::Drop { packet, reason: Reason::NoRoute });
        }
        self.way.clear();
        self.way.extend(back);
        self.send_error(None, Some(to), None, cx);
    }

    /// A packet has reached this node, for which it was.
    pub(super) fn on_arrival(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let id = cx.slab[packet].header;
        if id.is_some() {
            cx.slab.header_mut(id).at += 1;
            self.learn_from(packet, cx);
        }
    }

    /// Learns the ways in a header that this node has received, or is in the middle of.
    fn learn_from(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let header = cx.slab.header(cx.slab[packet].header);
        if matches!(header.flow, FlowState::Follows(_)) {
            return;
        }
        cut_all(&mut self.cache, &header.errors, cx.out);
        self.learn_both_ways(&header.route, header.at, cx);
        if let Some(place) = header.reply.iter().position(|&n| n == cx.node) {
            self.learn_both_ways(&header.reply, place, cx);
        }
    }

    /// Learns the rest of a way from its place on it, and the way back.
    fn learn_both_ways(&mut self, route: &[NodeId], place: usize, cx: &Cx<'_>) {
        if route.get(place) == Some(&cx.node) {
            self.cache.add(&route[place..], false, cx.now);
            self.way.clear();
            self.way.extend(route[..=place].iter().rev());
            self.cache.add(&self.way, false, cx.now);
        }
    }

    // ---- requests ----

    /// Asks for a way for a packet that waits, if that may be done by now. `false`: the packet is given up, because it is to
    /// be salvaged and the neighbours have been asked in vain.
    fn ask(&mut self, to: NodeId, salvaged: bool, cx: &mut Cx<'_>) -> bool {
        let sought = self.requests.get(to);
        if sought.next_at > cx.now {
            if !salvaged && sought.neighbours_are_silent(self.cfg.nonprop_request_timeout, cx.now) {
                sought.neighbours_asked = None;
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
        self.requests.get(to).neighbours_asked = (!propagates).then_some(cx.now);
        self.send_request(to, propagates, cx);
        true
    }

    fn send_request(&mut self, target: NodeId, propagates: bool, cx: &mut Cx<'_>) {
        let request = DsrRequest { id: self.next_id, target, propagates };
        self.next_id += 1;
        self.counters.rreq_originated += 1;
        let packet = message(Body::DsrRequest(request), 0, NodeId::BROADCAST, u8::MAX, cx);
        let id = cx.slab.new_header(packet);
        let header = cx.slab.header_mut(id);
        header.route.push(cx.node);
        header.errors.extend(self.held.filter(|h| h.1 > cx.now).map(|h| h.0));
        self.set_size(packet, cx.slab);
        let delay = between(Span::ZERO, self.cfg.broadcast_jitter, cx);
        self.overhead.send(packet, delay, cx);
    }

    pub(super) fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if let Body::DsrRequest(request) = cx.slab[packet].body {
            return self.on_request(packet, request, cx);
        }
        if cx.slab[packet].destination != cx.node {
            return self.forward(packet, cx);
        }
        let anew = cx.slab.header(cx.slab[packet].header).errors.iter().any(|&link| self.cache.has(link));
        self.on_arrival(packet, cx);
        let header = cx.slab.header(cx.slab[packet].header);
        if let (Body::DsrReply, Some(&to)) = (cx.slab[packet].body, header.reply.last()) {
            self.cache.add(&header.reply, true, cx.now);
            self.requests.get(to).answered();
            cx.slab.end(packet, Fate::Delivered);
            return self.release(to, cx);
        }
        if let Some(&broken) = header.errors.last() {
            self.held = Some((broken, cx.now + self.cfg.error_hold));
        }
        if let Some(destination) = header.lost {
            cx.out.push(Out::RouteLost { destination, anew });
        }
        if let Some(to) = header.unknown_flow {
            self.flows.forget(to);
        }
        cx.slab.end(packet, Fate::Delivered);
    }

    fn on_request(&mut self, packet: PacketId, request: DsrRequest, cx: &mut Cx<'_>) {
        let DsrRequest { id, target, propagates } = request;
        let header = cx.slab.header(cx.slab[packet].header);
        let originator = header.route[0];
        cut_all(&mut self.cache, &header.errors, cx.out);
        let passed = header.route.contains(&cx.node);
        if passed || (target != cx.node && self.requests.saw(originator, id)) {
            return cx.slab.end(packet, Fate::Delivered);
        }
        // The way back.
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(header.route.iter().rev());
        self.cache.add(&self.way, target == cx.node, cx.now);
        if target == cx.node {
            let delay = between(Span::ZERO, self.cfg.reply_jitter, cx);
            self.told.clear();
            self.told.push(cx.node);
            self.reply(packet, delay, cx);
            return cx.slab.end(packet, Fate::Delivered);
        }
        let header = cx.slab.header(cx.slab[packet].header);
        let hops = header.route.len();
        if self.cfg.reply_from_cache
            && let Some(rest) = self.cache.find(target, false, cx.now)
            && hops + rest.len() - 1 <= usize::from(self.cfg.discovery_hop_limit)
            && !rest.iter().any(|n| header.route.contains(n))
        {
            self.told.clear();
            self.told.extend_from_slice(rest);
            self.reply(packet, Span::ZERO, cx);
            return cx.slab.end(packet, Fate::Delivered);
        }
        if !propagates || hops >= usize::from(self.cfg.discovery_hop_limit) {
            return cx.slab.end(packet, Fate::Delivered);
        }
        let packet = cx.slab.own(packet);
        let before = cx.slab[packet].bytes;
        let id = cx.slab[packet].header;
        cx.slab.header_mut(id).route.push(cx.node);
        self.set_size(packet, cx.slab);
        let p = &mut cx.slab[packet];
        if self.cfg.request_grows_twice {
            p.bytes += before - self.cfg.message_header.0;
        }
        p.hops = p.hops.saturating_add(1);
        (p.source, p.next_hop) = (cx.node, NodeId::BROADCAST);
        self.counters.rreq_forwarded += 1;
        let delay = between(Span::ZERO, self.cfg.broadcast_jitter, cx);
        self.overhead.send(packet, delay, cx);
    }

    /// Answers a request: the way that it has come, and the rest of it, which is in `told`.
    fn reply(&mut self, request: PacketId, delay: Span, cx: &mut Cx<'_>) {
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(cx.slab.header(cx.slab[request].header).route.iter().rev());
        self.counters.rrep_originated += 1;
        let packet = self.message(Body::DsrReply, cx);
        let header = cx.slab.header_mut(cx.slab[packet].header);
        header.reply.extend(self.way[1..].iter().rev());
        header.reply.extend_from_slice(&self.told);
        self.set_size(packet, cx.slab);
        self.overhead.send(packet, delay, cx);
    }

    /// A message that goes along `way`.
    fn message(&self, body: Body, cx: &mut Cx<'_>) -> PacketId {
        let to = *self.way.last().expect("a way");
        let packet = message(body, 0, to, u8::MAX, cx);
        let id = cx.slab.new_header(packet);
        cx.slab.header_mut(id).set_route(&self.way);
        cx.slab[packet].next_hop = self.way[1];
        packet
    }

    // ---- failures ----

    /// The MAC has given up a packet, or its neighbour's address cannot be found.
    pub(super) fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.slab[packet];
        if !p.header.is_some() || p.next_hop.is_broadcast() {
            cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
            return;
        }
        let broken = BrokenLink { from: cx.node, to: p.next_hop };
        let anew = self.cache.has(broken);
        self.cache.cut(broken);
        self.counters.links_deleted += 1;
        let header = cx.slab.header(p.header);
        if p.source == cx.node || matches!(p.body, Body::DsrError) || header.at == 0 {
            self.held = Some((broken, cx.now + self.cfg.error_hold));
            cx.out.push(Out::RouteLost { destination: p.destination, anew });
        } else {
            self.way.clear();
            self.way.extend(header.route[..=header.at].iter().rev());
            self.send_error(Some(broken), None, Some(p.destination), cx);
        }
        self.save(packet, Reason::RetryLimit, cx);
        cx.out.push(Out::Return { next_hop: broken.to });
    }

    /// A packet was taken out of the queue because the neighbour to which it was to go is lost.
    pub(super) fn on_returned(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.save(packet, Reason::RouteFailure, cx);
    }

    /// A packet that leaves its flow carries its route again.
    fn carry_route(&self, packet: PacketId, slab: &mut Slab) {
        let id = slab[packet].header;
        if id.is_some() && slab.header(id).flow != FlowState::None {
            slab.header_mut(id).flow = FlowState::None;
            self.set_size(packet, slab);
        }
    }

    /// Sends a packet another way, if there is one.
    fn save(&mut self, packet: PacketId, reason: Reason, cx: &mut Cx<'_>) {
        self.carry_route(packet, cx.slab);
        let p = &cx.slab[packet];
        let (to, is_own, is_message) = (p.destination, p.source == cx.node, p.body.kind() == Kind::Routing);
        let lost = BrokenLink { from: cx.node, to: p.next_hop };
        if !p.header.is_some() {
            cx.out.push(Out::Drop { packet, reason });
            return;
        }
        let header = cx.slab.header(p.header);
        let tells_it = header.reply.windows(2).any(|w| w == [lost.from, lost.to] || w == [lost.to, lost.from]);
        if is_own && !is_message {
            return self.originate(packet, cx);
        }
        if header.salvaged >= self.cfg.max_salvage || tells_it || matches!(p.body, Body::DsrError) {
            cx.out.push(Out::Drop { packet, reason });
            return;
        }
        let id = p.header;
        if self.find(to, true, cx.now) {
            cx.slab.header_mut(id).salvaged += 1;
            self.dispatch(packet, Span::ZERO, cx);
        } else if self.cfg.salvage_waits && !is_message {
            self.keep(packet, true, cx);
        } else {
            cx.out.push(Out::Drop { packet, reason });
        }
    }

    /// Tells the node at the end of `way` that a link is broken, with the destination of the packet that was lost, or that a
    /// flow is not known here.
    fn send_error(
        &mut self,
        broken: Option<BrokenLink>,
        unknown_flow: Option<NodeId>,
        lost: Option<NodeId>,
        cx: &mut Cx<'_>,
    ) {
        if self.way.len() < 2 {
            return;
        }
        self.counters.rerr_sent += 1;
        let packet = self.message(Body::DsrError, cx);
        let header = cx.slab.header_mut(cx.slab[packet].header);
        header.errors.extend(broken);
        (header.unknown_flow, header.lost) = (unknown_flow, lost);
        self.set_size(packet, cx.slab);
        self.overhead.send(packet, Span::ZERO, cx);
    }
}

/// Size of the header of a packet of others that carries a route, and perhaps makes nodes remember it [B].
fn route_bytes(hops: u32, establishes: bool) -> u32 {
    let flow = if establishes { FlowState::Establishes(0) } else { FlowState::None };
    let header = Header { route: vec![NodeId(0); hops as usize + 1], flow, ..Header::default() };
    header_bytes(&Body::Datagram(Datagram { seq: 0 }), &header)
}

/// Size of the header of DSR [B]: its fixed part, if there is anything, and its options, filled up to words.
fn header_bytes(body: &Body, header: &Header) -> u32 {
    let mut options = 0;
    if !matches!(header.flow, FlowState::Follows(_)) {
        options += 4 * (header.route.len() as u32).saturating_sub(1);
    }
    if matches!(body, Body::DsrRequest(_)) {
        options += 8;
    }
    if !header.reply.is_empty() {
        options += 5 + 4 * header.reply.len() as u32;
    }
    options += 16 * (header.errors.len() as u32 + u32::from(header.unknown_flow.is_some()));
    if matches!(header.flow, FlowState::Establishes(_)) {
        options += 8;
    }
    if options == 0 { 0 } else { (4 + options).next_multiple_of(4) }
}

/// A random time between two.
fn between(least: Span, most: Span, cx: &mut Cx<'_>) -> Span {
    if most <= least {
        return least;
    }
    least + Span((cx.rng.uniform() * (most - least).0 as f64) as u64)
}

/// Takes ways over these links out of a cache, and says so where there were any.
fn cut_all(cache: &mut Cache, broken: &[BrokenLink], out: &mut Vec<Out>) {
    for &link in broken {
        if cache.has(link) {
            cache.cut(link);
            out.push(Out::RoutesCut);
        }
    }
}
