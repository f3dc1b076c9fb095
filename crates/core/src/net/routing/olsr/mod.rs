//! Optimized link state routing (RFC 3626), by hops, or by link qualities as olsrd has them.
//!
//! Every node sends HELLOs to its neighbors, with all its links, and chooses multipoint relays (MPRs), neighbors over
//! which it reaches all nodes two hops away. Nodes chosen as relays flood the network with TCs, which announce those
//! that chose them; only relays forward a TC. From these links every node computes its routes. A node has one address,
//! so that no message announces several interfaces (MID). Gateways announce the networks behind them (HNA).

mod config;
mod duplicates;
mod links;
mod mpr;
mod quality;
mod table;
mod topology;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message, pass_on, up_to};
use crate::count::Field;
use crate::counters;
use crate::packet::olsr::{
    Announced, Content, Message, OlsrPacket, PACKET_HEADER, decode_time, encode_time, first_length, messages,
};
use crate::packet::{Body, Fate, Listed, NodeId, PacketId, Reason};
use crate::rng::Stream;
use crate::unit::{Span, Time};
pub use config::Config;
use duplicates::Duplicates;
use links::{Links, MPR_NEIGH, SYM_NEIGH};
use mpr::{Neighbor, Selection};
use std::sync::Arc;
use table::{Route, Table, View};
use topology::Edges;

/// TTLs of successive TCs with `fisheye`.
const FISHEYE: [u8; 8] = [2, 8, 2, 16, 2, 8, 2, 255];

/// Entries of packets for which there is room from the start.
const ROOM: usize = 64;

/// Memory of the route to a node and of its last messages, of a link, and of a link of another node \[B\].
const NODE_BYTES: f64 = 400.0;
const LINK_BYTES: f64 = 400.0;
const EDGE_BYTES: f64 = 60.0;
/// Nodes that choose the same relay in a dense network, at most.
const MOST_SELECTORS: f64 = 10.0;

counters! {
    /// Counters of OLSR.
    pub struct Counters {
        /// HELLO messages originated.
        hello_originated,
        /// TC messages originated.
        tc_originated,
        /// TC messages forwarded.
        tc_forwarded,
        /// Neighbors declared lost because a packet to them was given up.
        links_deleted,
    }
}

/// OLSR router of a node.
#[derive(Clone, Debug)]
pub struct Olsr {
    /// Shared by all routers.
    cfg: Arc<Config>,
    links: Links,
    /// Links of neighbors, from their HELLOs.
    two_hop: Edges,
    /// Links from TCs.
    topology: Edges,
    /// Networks of gateways, from HNAs.
    networks: Edges,
    /// Networks to which this node is a gateway, sorted.
    served: Vec<NodeId>,
    seen: Duplicates,
    table: Table,
    selection: Selection,
    /// Neighbors that TCs announce, sorted, and working memory of the same kind.
    advertised: Vec<NodeId>,
    fresh: Vec<NodeId>,
    /// Links of the message that is being written.
    announced: Vec<Announced>,
    /// Messages that wait for the next packet, which leaves at `flush_at` at the latest.
    waiting: Vec<Listed>,
    flush_at: Time,
    next_hello: Time,
    next_tc: Time,
    /// End of the slot of link qualities.
    next_slot: Time,
    /// End of the time in which a TC without neighbors is sent, because others still have those of an earlier one.
    empty_until: Time,
    /// Next call.
    wake: Time,
    /// Sequence numbers of packets, of messages, and of the advertised neighbors (ANSN).
    packet_number: u16,
    message_number: u16,
    ansn: u16,
    /// TCs originated, for `fisheye`.
    turn: usize,
    /// Links or the links of neighbors have changed: relays are to be chosen anew.
    neighborhood_changed: bool,
    /// Links have changed: routes are to be found anew.
    links_changed: bool,
    counters: Counters,
    overhead: Overhead,
}

impl Routing for Olsr {
    const FINDS_GATEWAYS: bool = true;
    const FIELDS: &'static [Field] = Counters::FIELDS;

    fn learned_bytes(cfg: &super::Config, nodes: f64, neighbors: f64) -> f64 {
        let announced = if cfg.olsr.tc_redundancy == 0 { neighbors.min(MOST_SELECTORS) } else { neighbors };
        nodes * (NODE_BYTES + announced * EDGE_BYTES) + neighbors * (LINK_BYTES + neighbors * EDGE_BYTES)
    }

    fn tells_all_every(cfg: &super::Config) -> Option<Span> {
        Some(cfg.olsr.tc_interval)
    }

    fn periods(cfg: &super::Config) -> Vec<Span> {
        let slot = cfg.olsr.has_quality().then_some(quality::SLOT);
        [Some(cfg.olsr.hello_interval), Some(cfg.olsr.tc_interval), slot].into_iter().flatten().collect()
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, rng: &mut Stream) -> Olsr {
        let mut router = Olsr::new(&shared.olsr);
        router.begin(Time::ZERO, rng);
        router
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        pass_on(packet, |to| self.table.get(to).map(|r| r.next_hop), &mut self.overhead, cx);
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        let Body::Olsr(OlsrPacket { number, list }) = p.body else { unreachable!("not a message of OLSR") };
        let (from, now) = (p.source, cx.now);
        if let Some(link) = self.links.get_mut(from) {
            link.on_packet(number, &self.cfg.hysteresis, self.cfg.neighbor_hold_time, now);
        }
        for (message, links) in messages(cx.pool.list(list)) {
            if message.originator == cx.node || message.ttl == 0 {
                continue;
            }
            match message.content {
                Content::Hello { interval, willingness } => {
                    let times = (decode_time(message.validity), decode_time(interval));
                    self.on_hello((from, number), cx.node, times, willingness, links, now);
                    self.look_at_links(now);
                }
                Content::Tc { .. } | Content::Hna => {
                    if self.seen.has(message.originator, message.number, now) || !self.links.is_symmetric(from) {
                        continue;
                    }
                    match message.content {
                        Content::Tc { ansn } => self.on_tc(&message, ansn, links.clone(), now),
                        _ => self.on_hna(&message, links.clone(), now),
                    }
                    self.forward(&message, from, links, now, cx.rng);
                }
            }
        }
        cx.pool.end(packet, Fate::Delivered);
        self.settle(cx);
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
        let lost = cx.pool[packet].next_hop;
        let hold = self.cfg.neighbor_hold_time;
        if self.cfg.link_layer_detection
            && let Some(link) = self.links.get_mut(lost).filter(|l| l.is_symmetric)
        {
            link.lose(hold, cx.now);
            self.counters.links_deleted += 1;
            cx.out.push(Out::Purge { next_hop: lost });
            self.settle(cx);
        }
    }

    fn serve(&mut self, network: NodeId, serves: bool, _cx: &mut Cx<'_>) {
        match self.served.binary_search(&network) {
            Err(i) if serves => self.served.insert(i, network),
            Ok(i) if !serves => _ = self.served.remove(i),
            _ => {}
        }
    }

    /// Keeps only its numbers, so that no other node takes its messages for old ones.
    fn switch_off(&mut self, _cx: &mut Cx<'_>) {
        self.links.0.clear();
        self.two_hop.clear();
        self.topology.clear();
        self.networks.clear();
        self.served.clear();
        self.seen.clear();
        self.table.clear();
        self.advertised.clear();
        self.waiting.clear();
        for time in [&mut self.flush_at, &mut self.next_hello, &mut self.next_tc, &mut self.next_slot, &mut self.wake] {
            *time = Time::NEVER;
        }
        self.empty_until = Time::ZERO;
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        self.begin(cx.now, cx.rng);
    }

    fn deadline(&self) -> Time {
        self.wake
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        if self.cfg.hysteresis.enabled {
            for link in &mut self.links.0 {
                link.count_missed(&self.cfg.hysteresis, self.cfg.neighbor_hold_time, now);
            }
        }
        if self.next_slot <= now {
            self.next_slot += quality::SLOT;
            let changed = self.links.0.iter_mut().fold(false, |any, link| link.end_slot(now) | any);
            self.neighborhood_changed |= changed;
            self.links_changed |= changed;
        }
        self.settle(cx);
        if self.next_hello <= now {
            self.write_hello(cx.node, now);
            self.next_hello = now + self.early(self.cfg.hello_interval, cx.rng);
            self.flush_at = now;
        }
        if self.next_tc <= now {
            self.next_tc = now + self.early(self.cfg.tc_interval, cx.rng);
            if !self.advertised.is_empty() || self.empty_until > now {
                self.write_tc(cx.node, now);
                self.flush_at = now;
            }
            if !self.served.is_empty() {
                self.write_hna(cx.node);
                self.flush_at = now;
            }
        }
        if self.flush_at <= now {
            self.flush(cx);
        }
        self.find_deadline(now);
    }

    fn routes(&self, _at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        out.extend(self.table.all().iter().map(|r| KnownRoute {
            destination: r.destination,
            next_hop: r.next_hop,
            hops: r.hops,
        }));
    }

    fn has_route(&self, to: NodeId, _now: Time) -> bool {
        self.table.get(to).is_some() || self.served.contains(&to)
    }

    fn metric_over(&self, at: NodeId, to: NodeId, via: NodeId) -> Option<f64> {
        let metric = |route: &Route| f64::from(route.cost) / f64::from(quality::UNIT);
        if let Some(route) = self.table.get(to).filter(|r| r.next_hop == via) {
            return Some(metric(route));
        }
        let mut over = Table::default();
        over.find(&self.view(at, Some(via)), |_| {});
        over.get(to).map(metric)
    }

    fn memory(&self) -> usize {
        let edges = self.two_hop.memory() + self.topology.memory() + self.networks.memory();
        let links = self.links.0.capacity() * size_of::<links::Link>();
        edges + links + self.seen.memory() + self.table.memory() + self.selection.memory()
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl Olsr {
    /// A router that is switched off.
    fn new(cfg: &Arc<Config>) -> Olsr {
        Olsr {
            links: Links::default(),
            two_hop: Edges::default(),
            topology: Edges::default(),
            networks: Edges::default(),
            served: Vec::new(),
            seen: Duplicates::default(),
            table: Table::default(),
            selection: Selection::default(),
            advertised: Vec::new(),
            fresh: Vec::new(),
            announced: Vec::new(),
            waiting: Vec::with_capacity(ROOM),
            flush_at: Time::NEVER,
            next_hello: Time::NEVER,
            next_tc: Time::NEVER,
            next_slot: Time::NEVER,
            empty_until: Time::ZERO,
            wake: Time::NEVER,
            packet_number: 0,
            message_number: 0,
            ansn: 0,
            turn: 0,
            neighborhood_changed: false,
            links_changed: false,
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        }
    }

    /// Starts the timers; the first HELLO and TC come within an interval, so that nodes are not synchronized.
    fn begin(&mut self, now: Time, rng: &mut Stream) {
        self.next_hello = now + up_to(self.cfg.hello_interval, rng);
        self.next_tc = now + up_to(self.cfg.tc_interval, rng);
        self.next_slot = if self.cfg.has_quality() { now + quality::SLOT } else { Time::NEVER };
        self.find_deadline(now);
    }

    /// An interval that is early by a random time (RFC 3626, section 3.5).
    fn early(&self, interval: Span, rng: &mut Stream) -> Span {
        interval - up_to(self.cfg.max_jitter.min(interval / 2), rng)
    }

    // ---- messages received ----

    /// Link sensing, neighbors, links of neighbors, and MPR selectors (RFC 3626, sections 7.1.1, 8.1.1, 8.2.1, 8.4.1).
    fn on_hello(
        &mut self,
        (from, number): (NodeId, u16),
        node: NodeId,
        (validity, interval): (Span, Span),
        willingness: u8,
        links: impl Iterator<Item = Announced> + Clone,
        now: Time,
    ) {
        let has_quality = self.cfg.has_quality();
        let (hysteresis, hold) = (&self.cfg.hysteresis, self.cfg.neighbor_hold_time);
        let link = self.links.entry(from, number, hysteresis, has_quality);
        let mine = links.clone().find(|l| l.node == node && links::types(l.code).is_some());
        link.on_hello(mine.map(|l| l.code), (validity, interval), hold, now);
        if link.willingness != willingness {
            link.willingness = willingness;
            (self.neighborhood_changed, self.links_changed) = (true, true);
        }
        if has_quality && let Some(mine) = mine {
            let changed = link.on_report(mine.lq);
            self.neighborhood_changed |= changed;
            self.links_changed |= changed;
        }
        if !link.goes_both_ways(now) {
            return;
        }
        if mine.is_some_and(|l| l.code >> 2 == MPR_NEIGH) {
            link.selector_until = now + validity;
        }
        for l in links.filter(|l| l.node != node) {
            let changed = match links::types(l.code) {
                Some((_, SYM_NEIGH | MPR_NEIGH)) => self.two_hop.add((from, l.node), self.cost(&l), 0, now + validity),
                Some(_) => self.two_hop.remove(from, l.node),
                None => false,
            };
            self.neighborhood_changed |= changed;
            self.links_changed |= changed;
        }
    }

    /// Cost of a link that another node announces.
    fn cost(&self, link: &Announced) -> u32 {
        if self.cfg.has_quality() { quality::cost(link.lq, link.nlq) } else { quality::UNIT }
    }

    /// Topology of the network (RFC 3626, section 9.5).
    fn on_tc(&mut self, message: &Message, ansn: u16, links: impl Iterator<Item = Announced>, now: Time) {
        let last = message.originator;
        if self.topology.is_outdated(last, ansn) {
            return;
        }
        let until = now + decode_time(message.validity);
        for l in links {
            let cost = self.cost(&l);
            self.links_changed |= self.topology.add((last, l.node), cost, ansn, until);
        }
        self.links_changed |= self.topology.remove_older(last, ansn);
    }

    /// Networks of a gateway (RFC 3626, section 12.5).
    fn on_hna(&mut self, message: &Message, networks: impl Iterator<Item = Announced>, now: Time) {
        let until = now + decode_time(message.validity);
        for network in networks {
            self.links_changed |= self.networks.add((message.originator, network.node), 0, 0, until);
        }
    }

    /// The default forwarding algorithm (RFC 3626, section 3.4.1), for a message that is not known and comes from a
    /// symmetric neighbor.
    fn forward(
        &mut self,
        message: &Message,
        from: NodeId,
        links: impl Iterator<Item = Announced>,
        now: Time,
        rng: &mut Stream,
    ) {
        self.seen.add(message.originator, message.number, now + self.cfg.duplicate_hold_time, now);
        if message.ttl > 1 && self.links.get(from).is_some_and(|l| l.selector_until > now) {
            let next = Message { ttl: message.ttl - 1, hop_count: message.hop_count.saturating_add(1), ..*message };
            next.write(links, &mut self.waiting);
            self.counters.tc_forwarded += u64::from(message.content != Content::Hna);
            if self.flush_at == Time::NEVER {
                self.flush_at = now + up_to(self.cfg.max_jitter, rng);
            }
        }
    }

    // ---- state ----

    /// Notes which links go both ways and which neighbors are MPR selectors now; forgets what neighbors that are lost
    /// have said (RFC 3626, section 8.5).
    fn look_at_links(&mut self, now: Time) {
        for link in &mut self.links.0 {
            let goes_both_ways = link.goes_both_ways(now);
            if goes_both_ways != link.is_symmetric {
                link.is_symmetric = goes_both_ways;
                (self.neighborhood_changed, self.links_changed) = (true, true);
                if !goes_both_ways {
                    (link.is_mpr, link.selector_until) = (false, Time::ZERO);
                    self.two_hop.remove_from(link.neighbor);
                }
            }
            let is_selector = link.selector_until > now;
            self.links_changed |= is_selector != link.is_selector;
            link.is_selector = is_selector;
        }
        self.links.0.retain(|l| l.until > now);
    }

    /// Removes what has expired, and computes relays, advertised neighbors and routes anew if anything has changed.
    fn settle(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        self.look_at_links(now);
        if self.two_hop.expire(now) {
            (self.neighborhood_changed, self.links_changed) = (true, true);
        }
        self.links_changed |= self.topology.expire(now);
        self.links_changed |= self.networks.expire(now);
        if std::mem::take(&mut self.neighborhood_changed) {
            self.choose_relays();
            self.links_changed = true;
        }
        if std::mem::take(&mut self.links_changed) {
            self.find_advertised();
            let mut table = std::mem::take(&mut self.table);
            let lost = |destination| cx.out.push(Out::RouteLost { destination, anew: true });
            table.find(&self.view(cx.node, None), lost);
            self.table = table;
        }
        self.find_deadline(now);
    }

    /// Links that the node knows, for routes over any neighbor or over one.
    fn view(&self, node: NodeId, via: Option<NodeId>) -> View<'_> {
        let Olsr { links, two_hop, topology, networks, .. } = self;
        View { node, links, two_hop, topology, networks, by_cost: self.cfg.has_quality(), via }
    }

    /// Chooses the multipoint relays.
    fn choose_relays(&mut self) {
        self.selection.begin(self.links.symmetric().map(|l| Neighbor::new(l.neighbor, l.willingness, l.cost)));
        for (from, edge) in self.two_hop.all() {
            self.selection.add(from, edge.to, edge.cost);
        }
        let coverage = self.cfg.mpr_coverage as usize;
        if self.cfg.has_quality() {
            self.selection.by_cost(coverage);
        } else {
            self.selection.by_coverage(coverage);
        }
        for (link, chosen) in self.links.0.iter_mut().filter(|l| l.is_symmetric).zip(&self.selection.neighbors) {
            link.is_mpr = chosen.is_mpr;
        }
    }

    /// Finds the neighbors that TCs announce (RFC 3626, section 15.1).
    fn find_advertised(&mut self) {
        let redundancy = if self.cfg.willingness == mpr::WILL_NEVER { 0 } else { self.cfg.tc_redundancy };
        self.fresh.clear();
        let told = self.links.symmetric().filter(|l| match redundancy {
            0 => l.is_selector,
            1 => l.is_selector || l.is_mpr,
            _ => true,
        });
        self.fresh.extend(told.map(|l| l.neighbor));
        if self.fresh != self.advertised {
            self.ansn = self.ansn.wrapping_add(1);
            std::mem::swap(&mut self.fresh, &mut self.advertised);
        }
    }

    fn find_deadline(&mut self, now: Time) {
        let links = self.links.0.iter().map(|l| l.changes_at(&self.cfg.hysteresis, now)).min().unwrap_or(Time::NEVER);
        let timers = self.next_hello.min(self.next_tc).min(self.next_slot).min(self.flush_at);
        let edges = [&self.two_hop, &self.topology, &self.networks].map(Edges::expires);
        self.wake = edges.into_iter().fold(links.min(timers), Time::min);
    }

    // ---- messages sent ----

    fn next_message(&mut self, node: NodeId, ttl: u8, validity: Span, content: Content) -> Message {
        self.message_number = self.message_number.wrapping_add(1);
        Message {
            originator: node,
            number: self.message_number,
            ttl,
            hop_count: 0,
            validity: encode_time(validity),
            has_quality: self.cfg.has_quality() && content != Content::Hna,
            content,
        }
    }

    /// Writes the announced links into as many messages as the size of a packet demands.
    fn write(&mut self, node: NodeId, ttl: u8, validity: Span, content: Content) -> u64 {
        let links = std::mem::take(&mut self.announced);
        let (mut rest, mut count) = (&links[..], 0);
        loop {
            let message = self.next_message(node, ttl, validity, content);
            let room = self.cfg.max_packet_size.0 - PACKET_HEADER;
            let fits = |&n: &usize| message.bytes(rest[..n].iter().copied()) <= room;
            let (now, later) = rest.split_at((1..=rest.len()).rev().find(fits).unwrap_or(0));
            message.write(now.iter().copied(), &mut self.waiting);
            count += 1;
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        self.announced = links;
        count
    }

    fn write_hello(&mut self, node: NodeId, now: Time) {
        self.announced.clear();
        let announced = self
            .links
            .0
            .iter()
            .filter_map(|l| Some(Announced { code: l.code(now)?, node: l.neighbor, lq: l.lq, nlq: l.nlq }));
        self.announced.extend(announced);
        self.announced.sort_unstable();
        let interval = encode_time(self.cfg.hello_interval);
        let content = Content::Hello { interval, willingness: self.cfg.willingness };
        self.counters.hello_originated += self.write(node, 1, self.cfg.neighbor_hold_time, content);
    }

    fn write_tc(&mut self, node: NodeId, now: Time) {
        self.announced.clear();
        for &neighbor in &self.advertised {
            let link = self.links.get(neighbor).expect("a neighbor that is announced has a link");
            self.announced.push(Announced { code: 0, node: neighbor, lq: link.lq, nlq: link.nlq });
        }
        let hold = self.cfg.topology_hold_time;
        if !self.advertised.is_empty() {
            self.empty_until = now + hold;
        }
        let ttl = if self.cfg.fisheye { FISHEYE[self.turn % FISHEYE.len()] } else { u8::MAX };
        self.turn += 1;
        self.counters.tc_originated += self.write(node, ttl, hold, Content::Tc { ansn: self.ansn });
    }

    /// HNA_INTERVAL is TC_INTERVAL, and HNA_HOLD_TIME TOP_HOLD_TIME (RFC 3626, section 18).
    fn write_hna(&mut self, node: NodeId) {
        self.announced.clear();
        self.announced.extend(self.served.iter().map(|&node| Announced { code: 0, node, lq: 0, nlq: 0 }));
        self.write(node, u8::MAX, self.cfg.topology_hold_time, Content::Hna);
    }

    /// Sends the messages that wait, in as few packets as their size allows.
    fn flush(&mut self, cx: &mut Cx<'_>) {
        self.flush_at = Time::NEVER;
        let mut begin = 0;
        while begin < self.waiting.len() {
            let (mut end, mut bytes) = (begin, PACKET_HEADER);
            while end < self.waiting.len() {
                let length = first_length(&self.waiting[end..]);
                let one = &self.waiting[end..end + length];
                let size = messages(one).map(|(m, links)| m.bytes(links)).sum::<u32>();
                if end > begin && bytes + size > self.cfg.max_packet_size.0 {
                    break;
                }
                (end, bytes) = (end + length, bytes + size);
            }
            let list = cx.pool.new_list();
            // Once for all packets that the list will have.
            cx.pool.list_mut(list).reserve(ROOM.max(end - begin));
            cx.pool.list_mut(list).extend_from_slice(&self.waiting[begin..end]);
            self.packet_number = self.packet_number.wrapping_add(1);
            let body = Body::Olsr(OlsrPacket { number: self.packet_number, list });
            let packet = message(body, bytes, NodeId::BROADCAST, 1, cx);
            self.overhead.send(packet, Span::ZERO, cx);
            begin = end;
        }
        self.waiting.clear();
    }
}
