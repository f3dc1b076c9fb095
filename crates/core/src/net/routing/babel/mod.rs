//! Babel (RFC 8966) with the choices of babeld 1.12.
//!
//! Neighbors count each other's Hellos and tell each other what they count (IHU), which gives the cost of a link. Every
//! node announces its routes with their metrics and the sequence number of the origin. An update is accepted only if it
//! is feasible: better than all that the node itself has announced under the same number. So there are no loops, and a
//! node without a feasible route asks the origin for a new number. Each node has one prefix, its address; a gateway has
//! those of the networks behind it, too.

mod neighbor;
mod outbox;
mod requests;
mod table;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message, pass_on};
use crate::count::Field;
use crate::packet::{Body, Fate, NodeId, PacketId, Reason, Tlv};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, at_most, range};
use crate::unit::{Bytes, Span, Time};
use crate::{counters, keywords, settings};
use neighbor::Neighbor;
use outbox::Outbox;
use requests::{Requests, What, is_newer};
use std::sync::Arc;
use table::{Route, Table, metric};

/// Metric of a route that is not usable, and cost of a link that is not.
const INFINITE: u16 = u16::MAX;

keywords! {
    /// Estimation of the quality of links.
    pub enum LinkQuality {
        /// Costs by the history of 16 Hellos, both directions multiplied, for wireless links (RFC 8966, appendix A.2.2).
        Etx = "etx",
        /// A link has its nominal cost if two of the last three Hellos were received, for wires (appendix A.2.1).
        TwoOutOfThree = "two_out_of_three",
    }
}

settings! {
    /// Settings of Babel.
    pub struct Config {
        /// Mean time between Hellos. An IHU follows with every third one, and for links of changing cost with each.
        pub hello_interval: Span = Span::secs(4) => range(Span::ms(10), Span::secs(600)),
        /// Mean time between updates of the whole table. Routes are kept for six times as long, at least 15 s.
        pub update_interval: Span = Span::secs(16) => range(Span::ms(10), Span::secs(600)),
        /// Longest time until the first packets of a node.
        pub first_hello: Span = Span::ms(100) => at_most(HOUR),
        /// Estimation of the quality of links.
        pub link_quality: LinkQuality = LinkQuality::Etx,
        /// Cost of a link without losses; babeld has 256 for wireless links and 96 for wires.
        pub rxcost: u32 = 256 => range(1, 65_534),
        /// Time in which the smoothed metric of a route makes half of the way to the real one; another route is used
        /// once both its metrics are better.
        pub smoothing_half_life: Span = Span::secs(4) => at_most(HOUR),
        /// Size of a packet with IP and UDP headers, without its TLVs.
        pub header_size: Bytes = Bytes(52) => at_most(Bytes(200)),
        /// Largest size of a packet; other TLVs go into further packets.
        pub max_packet_size: Bytes = Bytes(1488) => range(Bytes(256), LARGEST_PACKET),
    }
}

counters! {
    /// Counters of Babel.
    pub struct Counters {
        /// Hellos sent.
        hellos_sent,
        /// IHUs sent.
        ihus_sent,
        /// Updates of single prefixes sent, retractions included.
        updates_sent,
        /// Updates of single prefixes sent that say that the node has no route.
        retractions_sent,
        /// Requests of routes sent.
        route_requests_sent,
        /// Requests of sequence numbers sent, including forwarded ones.
        seqno_requests_sent,
        /// Updates received that were not feasible: from them a loop could come.
        infeasible_updates,
    }
}

/// Hops that a request of a sequence number may make.
const REQUEST_HOPS: u8 = 127;
/// Largest distance of sequence numbers that is not taken for that of a node that lost its own.
const LOST_SEQNO: u16 = 100;
/// Memory of a neighbor's route and of a source \[B\], and neighbors of a node in a dense network.
const ENTRY_BYTES: f64 = 80.0;
const NEIGHBORS: f64 = 6.0;
/// Time between looks at old routes.
const EXPIRY: Span = Span::secs(30);

/// The first packets of a node, which let its neighbors hear several Hellos at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Hellos,
    Announcement,
    Over,
}

/// Babel router of a node.
#[derive(Clone, Debug)]
pub struct Babel {
    /// Shared by all routers.
    cfg: Arc<Config>,
    /// Own sequence number.
    seqno: u16,
    hello_seqno: u16,
    /// Networks to which this node is a gateway, sorted.
    served: Vec<NodeId>,
    /// Sorted by node.
    neighbors: Vec<Neighbor>,
    /// Outboxes of neighbors that are gone, whose memory is used again.
    spare: Vec<Outbox>,
    table: Table,
    /// Packet for all neighbors.
    outbox: Outbox,
    /// Prefixes of the updates to be sent, sorted, and the time of that.
    updates: Vec<NodeId>,
    updates_due: Time,
    requests: Requests,
    /// Prefixes to which a route in use was lost in this call.
    fallen: Vec<NodeId>,
    beginning: Beginning,
    /// Next Hello, update of the whole table, look at the neighbors and at old routes.
    hello_due: Time,
    full_due: Time,
    check_due: Time,
    expiry_due: Time,
    /// Next timer.
    wake: Time,
    counters: Counters,
    overhead: Overhead,
}

impl Routing for Babel {
    /// The queue is the kernel's.
    const PURGES: bool = false;
    const FINDS_GATEWAYS: bool = true;
    const FIELDS: &'static [Field] = Counters::FIELDS;

    fn learned_bytes(_cfg: &super::Config, nodes: f64, _neighbors: f64) -> f64 {
        nodes * NEIGHBORS * ENTRY_BYTES
    }

    fn tells_all_every(cfg: &super::Config) -> Option<Span> {
        Some(cfg.babel.update_interval)
    }

    fn periods(cfg: &super::Config) -> Vec<Span> {
        vec![cfg.babel.hello_interval, cfg.babel.update_interval]
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, rng: &mut Stream) -> Babel {
        let cfg = &shared.babel;
        let first = Span((rng.uniform() * cfg.first_hello.0 as f64) as u64);
        Babel::new(cfg, Time::ZERO + first, rng)
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        pass_on(packet, |to| self.table.up(to).map(|r| r.via), &mut self.overhead, cx);
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        let Body::Babel(tlvs) = p.body else { unreachable!("not a message of Babel") };
        let from = p.source;
        if let Err(i) = self.place(from) {
            let outbox = self.spare.pop().unwrap_or_else(|| Outbox::new(from));
            self.neighbors.insert(i, Neighbor::new(from, outbox, cx.now));
        }
        let mut router = None;
        for i in 0..cx.pool.tlvs(tlvs).len() {
            let tlv = cx.pool.tlvs(tlvs)[i];
            if let Tlv::RouterId(id) = tlv {
                router = Some(id);
            } else {
                self.on_tlv(from, router, tlv, cx);
            }
        }
        cx.pool.end(packet, Fate::Delivered);
        self.conclude(cx);
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
    }

    fn serve(&mut self, network: NodeId, serves: bool, cx: &mut Cx<'_>) {
        match self.served.binary_search(&network) {
            Err(i) if serves => self.served.insert(i, network),
            Ok(i) if !serves => _ = self.served.remove(i),
            _ => return,
        }
        if self.beginning == Beginning::Over {
            match serves {
                true => self.update(network, true, cx),
                false => self.update_again(network, cx),
            }
        }
        if !serves {
            self.fallen.push(network);
        }
        self.conclude(cx);
    }

    fn switch_off(&mut self, _cx: &mut Cx<'_>) {
        self.served.clear();
        self.neighbors.clear();
        // Sources are kept: without them a node that returns could take a route that leads over itself.
        self.table.routes.clear();
        self.outbox.clear();
        self.updates.clear();
        self.requests.clear();
        for due in [&mut self.hello_due, &mut self.full_due, &mut self.check_due, &mut self.expiry_due] {
            *due = Time::NEVER;
        }
        (self.updates_due, self.wake) = (Time::NEVER, Time::NEVER);
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        self.seqno = self.seqno.wrapping_add(1);
        self.begin(cx.now + Span((cx.rng.uniform() * self.cfg.first_hello.0 as f64) as u64));
    }

    fn deadline(&self) -> Time {
        self.wake
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        if self.hello_due <= now {
            match self.beginning {
                Beginning::Hellos => self.begin_with_hellos(cx),
                Beginning::Announcement => self.announce_itself(cx),
                Beginning::Over => self.hello(cx),
            }
        }
        if self.check_due <= now {
            self.check_neighbors(cx);
        }
        if self.expiry_due <= now {
            self.expire(cx);
        }
        while let Some((prefix, what)) = self.requests.take_due(now) {
            match what {
                What::Update => self.update(prefix, true, cx),
                What::Request { router, seqno } => self.request_from_all(prefix, router, seqno, cx),
            }
        }
        if self.full_due <= now {
            self.update_all(cx);
        }
        if self.updates_due <= now {
            self.write_updates(cx);
        }
        if self.outbox.due <= now {
            self.send_all(cx);
        }
        for i in 0..self.neighbors.len() {
            if self.neighbors[i].outbox.due <= now {
                self.send_one(i, cx);
            }
        }
        self.conclude(cx);
    }

    fn routes(&self, _at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        let mut i = 0;
        while i < self.table.routes.len() {
            let all = self.table.to(self.table.routes[i].prefix);
            i = all.end;
            let routes = &self.table.routes[all];
            let Some(r) = routes.iter().find(|r| r.installed && r.metric() < INFINITE) else { continue };
            out.push(KnownRoute { destination: r.prefix, next_hop: r.via, hops: r.hops.into() });
        }
    }

    fn metric_over(&self, _at: NodeId, to: NodeId, via: NodeId) -> Option<f64> {
        let route = &self.table.routes[self.table.find(to, via).ok()?];
        (route.metric() < INFINITE).then(|| route.metric().into())
    }

    fn has_route(&self, to: NodeId, _now: Time) -> bool {
        self.table.up(to).is_some() || self.served.contains(&to)
    }

    fn memory(&self) -> usize {
        self.table.memory() + self.neighbors.capacity() * size_of::<Neighbor>()
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl Babel {
    /// A router that knows nothing yet; its first packets come at `first`.
    fn new(cfg: &Arc<Config>, first: Time, rng: &mut Stream) -> Babel {
        let mut router = Babel {
            seqno: rng.below(1 << 16) as u16,
            hello_seqno: rng.below(1 << 16) as u16,
            served: Vec::new(),
            neighbors: Vec::new(),
            spare: Vec::new(),
            table: Table::default(),
            outbox: Outbox::new(NodeId::BROADCAST),
            updates: Vec::with_capacity(32),
            updates_due: Time::NEVER,
            requests: Requests::default(),
            fallen: Vec::with_capacity(32),
            beginning: Beginning::Hellos,
            hello_due: Time::NEVER,
            full_due: Time::NEVER,
            check_due: Time::NEVER,
            expiry_due: Time::NEVER,
            wake: Time::NEVER,
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        };
        router.begin(first);
        router
    }

    fn begin(&mut self, first: Time) {
        self.beginning = Beginning::Hellos;
        (self.hello_due, self.wake) = (first, first);
        self.expiry_due = first + EXPIRY;
    }

    /// Returns true if this node is the origin of a prefix.
    fn is_own(&self, prefix: NodeId, node: NodeId) -> bool {
        prefix == node || self.served.contains(&prefix)
    }

    /// Place of a neighbor, or the place at which it would be.
    fn place(&self, node: NodeId) -> Result<usize, usize> {
        self.neighbors.binary_search_by_key(&node, |n| n.node)
    }

    /// Finds the next timer, and tells the senders of this node of the routes that were lost.
    fn conclude(&mut self, cx: &mut Cx<'_>) {
        for destination in self.fallen.drain(..) {
            if self.table.up(destination).is_none() {
                cx.out.push(Out::RouteLost { destination, anew: true });
            }
        }
        let timers =
            [self.hello_due, self.full_due, self.check_due, self.expiry_due, self.updates_due, self.outbox.due];
        let unicast = self.neighbors.iter().map(|n| n.outbox.due);
        let first = timers.into_iter().chain(unicast).min().unwrap_or(Time::NEVER);
        self.wake = first.min(self.requests.due());
    }

    /// A random time around an interval, from now on.
    fn after(&self, interval: Span, cx: &mut Cx<'_>) -> Time {
        cx.now + Span(roughly(interval.0 as f64, cx.rng) as u64)
    }

    /// Longest time for which TLVs wait for others.
    fn patience(&self) -> Span {
        self.cfg.hello_interval.min(Span::secs(4))
    }

    // ---- packets received ----

    fn on_tlv(&mut self, from: NodeId, router: Option<NodeId>, tlv: Tlv, cx: &mut Cx<'_>) {
        let Ok(place) = self.place(from) else { unreachable!("it was added before") };
        let neighbor = &mut self.neighbors[place];
        match tlv {
            Tlv::Hello { seqno, interval } => {
                let interval = from_centiseconds(interval);
                neighbor.on_hello(seqno, interval, cx.now);
                self.update_costs(from, cx);
                let check = self.after(interval * 3 / 2, cx);
                self.check_due = self.check_due.min(check);
            }
            Tlv::Ihu { node, rxcost, interval } if node == cx.node => {
                if neighbor.on_ihu(rxcost, from_centiseconds(interval), cx.now) {
                    self.update_costs(from, cx);
                }
            }
            Tlv::Update { prefix, interval, seqno, metric, hops } if prefix != cx.node => {
                let router = router.expect("the router-id precedes the update");
                // A network of this node that comes back from a neighbor leads nowhere else.
                let metric = if router == cx.node { INFINITE } else { metric };
                let announced =
                    Announced { prefix, router, seqno, metric, hops, interval: from_centiseconds(interval) };
                self.on_update(from, &announced, cx);
            }
            Tlv::RetractAll { .. } => {
                for i in 0..self.table.routes.len() {
                    if self.table.routes[i].via == from && self.table.routes[i].refmetric < INFINITE {
                        self.change(i, INFINITE, self.table.routes[i].cost, cx);
                    }
                }
            }
            Tlv::RouteRequest(None) => {
                self.ihu(place, cx);
                self.update_all(cx);
            }
            Tlv::RouteRequest(Some(prefix)) => self.update(prefix, false, cx),
            Tlv::SeqnoRequest { prefix, seqno, hop_count, router } => {
                self.on_seqno_request(from, (prefix, router), seqno, hop_count, cx);
            }
            Tlv::Ihu { .. } | Tlv::Update { .. } | Tlv::RouterId(_) => {}
        }
    }

    /// A neighbor announces a route (RFC 8966, section 3.5.3).
    fn on_update(&mut self, from: NodeId, new: &Announced, cx: &mut Cx<'_>) {
        let Announced { prefix, router, seqno, metric: refmetric, .. } = *new;
        let is_feasible = self.table.is_feasible((prefix, router), seqno, refmetric, cx.now);
        if !is_feasible {
            self.counters.infeasible_updates += 1;
        }
        let cost = self.cost_to(from, cx.now);
        let hold = (new.interval * 6).max(Span::secs(15));
        match self.table.find(prefix, from) {
            Ok(i) => {
                let (old_router, old) = (self.table.routes[i].router, self.table.routes[i].metric());
                let mut is_lost = false;
                if !is_feasible && self.table.routes[i].installed {
                    if old_router == router {
                        self.request_if_needed(from, new, true, metric(refmetric, cost), cx);
                        return;
                    }
                    self.uninstall(i);
                    is_lost = true;
                }
                let was_installed = self.table.routes[i].installed;
                let r = &mut self.table.routes[i];
                if refmetric < INFINITE {
                    (r.heard_at, r.hold) = (cx.now, hold);
                }
                (r.seqno, r.router, r.hops) = (seqno, router, new.hops.saturating_add(1));
                self.set_metric(i, refmetric, cost, cx);
                self.changed(i, old_router, old, cx);
                if is_lost || (was_installed && self.table.installed(prefix).is_none()) {
                    self.lost(prefix, old_router, old, cx);
                } else if !is_feasible {
                    self.request_if_needed(from, new, false, metric(refmetric, cost), cx);
                }
            }
            Err(_) if refmetric == INFINITE => {}
            Err(i) => {
                let metric = metric(refmetric, cost);
                self.table.routes.insert(
                    i,
                    Route {
                        prefix,
                        via: from,
                        router,
                        seqno,
                        refmetric,
                        cost,
                        hops: new.hops.saturating_add(1),
                        heard_at: cx.now,
                        hold,
                        smoothed: metric.max(INFINITE / 2),
                        smoothed_at: cx.now,
                        installed: false,
                    },
                );
                if !is_feasible {
                    self.request_if_needed(from, new, false, metric, cx);
                }
                self.consider(i, cx);
            }
        }
    }

    /// Asks for a newer number, if the route that is not feasible would be much better than the one in use.
    fn request_if_needed(&mut self, from: NodeId, new: &Announced, surely: bool, metric: u16, cx: &mut Cx<'_>) {
        let Some(source) = self.table.source(new.prefix, new.router) else { return };
        if is_newer(source.seqno, new.seqno.wrapping_add(LOST_SEQNO)) {
            return;
        }
        let in_use = self.table.installed(new.prefix).map(|i| self.table.routes[i].metric());
        if surely || in_use.is_none_or(|m| u32::from(m) >= u32::from(metric) + 512) {
            let seqno = self.next_seqno(new.prefix, new.router, new.seqno);
            self.request_from(from, (new.prefix, new.router), seqno, REQUEST_HOPS, cx);
        }
    }

    /// Number that makes any route to a source feasible.
    fn next_seqno(&self, prefix: NodeId, router: NodeId, otherwise: u16) -> u16 {
        self.table.source(prefix, router).map_or(otherwise, |s| s.seqno.wrapping_add(1))
    }

    /// A request of a newer number arrives (RFC 8966, section 3.8.1.2).
    fn on_seqno_request(
        &mut self,
        from: NodeId,
        (prefix, router): (NodeId, NodeId),
        seqno: u16,
        hop_count: u8,
        cx: &mut Cx<'_>,
    ) {
        if self.is_own(prefix, cx.node) {
            if router == cx.node && is_newer(seqno, self.seqno) && seqno.wrapping_sub(self.seqno) <= LOST_SEQNO {
                self.seqno = self.seqno.wrapping_add(1);
            }
            self.update(prefix, true, cx);
            return;
        }
        let installed = self.table.installed(prefix).map(|i| &self.table.routes[i]);
        if installed.is_some_and(|r| r.router != router || !is_newer(seqno, r.seqno)) {
            self.update(prefix, true, cx);
            return;
        }
        let is_old = installed.is_some_and(|r| seqno.wrapping_sub(r.seqno) > LOST_SEQNO);
        if hop_count <= 1 || is_old || self.requests.is_redundant(prefix, router, seqno) {
            return;
        }
        let along = installed.filter(|r| r.metric() < INFINITE && r.via != from).map(|r| r.via);
        let others = &self.table.routes[self.table.to(prefix)];
        let usable = others.iter().filter(|r| r.via != from && r.metric() < INFINITE);
        let Some(to) = along.or_else(|| usable.min_by_key(|r| r.metric()).map(|r| r.via)) else { return };
        self.requests.record(prefix, What::Request { router, seqno }, false, cx.now);
        self.request_from(to, (prefix, router), seqno, hop_count - 1, cx);
    }

    // ---- neighbors ----

    fn cost_to(&self, node: NodeId, now: Time) -> u16 {
        self.place(node).map_or(INFINITE, |i| self.neighbors[i].cost(&self.cfg, now))
    }

    /// The cost of the link to a neighbor may have changed.
    fn update_costs(&mut self, node: NodeId, cx: &mut Cx<'_>) {
        let cost = self.cost_to(node, cx.now);
        for i in 0..self.table.routes.len() {
            if self.table.routes[i].via == node {
                self.change(i, self.table.routes[i].refmetric, cost, cx);
            }
        }
    }

    fn check_neighbors(&mut self, cx: &mut Cx<'_>) {
        let mut i = 0;
        let mut within: Option<Span> = None;
        while i < self.neighbors.len() {
            let neighbor = &mut self.neighbors[i];
            let node = neighbor.node;
            let has_changed = neighbor.miss(cx.now);
            if neighbor.is_gone(cx.now) {
                let mut outbox = self.neighbors.remove(i).outbox;
                outbox.clear();
                self.spare.push(outbox);
                self.forget_routes(|r| r.via == node, cx);
                continue;
            }
            if neighbor.forget_txcost(cx.now) || has_changed {
                self.update_costs(node, cx);
            }
            within = within.into_iter().chain(self.neighbors[i].check_within()).min();
            i += 1;
        }
        self.check_due = within.map_or(Time::NEVER, |interval| self.after(interval, cx));
    }

    /// Removes routes.
    fn forget_routes(&mut self, which: impl Fn(&Route) -> bool, cx: &mut Cx<'_>) {
        let mut i = 0;
        while i < self.table.routes.len() {
            if !which(&self.table.routes[i]) {
                i += 1;
                continue;
            }
            if self.table.routes[i].installed {
                self.uninstall(i);
                let r = self.table.routes.remove(i);
                self.lost(r.prefix, r.router, r.metric(), cx);
            } else {
                self.table.routes.remove(i);
            }
        }
    }

    /// Retracts routes that no update has confirmed, and removes them after as long again.
    fn expire(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        self.forget_routes(|r| now.since(r.heard_at) > r.hold && r.refmetric == INFINITE, cx);
        for i in 0..self.table.routes.len() {
            let r = &mut self.table.routes[i];
            let silent = now.since(r.heard_at);
            if r.refmetric < INFINITE && silent > r.hold {
                r.heard_at = now;
                let cost = r.cost;
                self.change(i, INFINITE, cost, cx);
                continue;
            }
            let (prefix, via, is_old) = (r.prefix, r.via, silent > r.hold * 7 / 8);
            let ask = r.installed && r.refmetric < INFINITE && is_old;
            // Smoothed metrics have come nearer, so that another route may be better now.
            let (router, refmetric, old) = (r.router, r.refmetric, r.metric());
            self.set_metric(i, refmetric, self.cost_to(via, now), cx);
            self.changed(i, router, old, cx);
            if ask && let Ok(place) = self.place(via) {
                self.counters.route_requests_sent += 1;
                self.put(Some(place), Tlv::RouteRequest(Some(prefix)), cx);
            }
        }
        self.table.forget_sources(now);
        self.requests.forget(now);
        self.expiry_due = self.after(EXPIRY, cx);
    }

    // ---- choice of routes ----

    /// Sets the metric of a route, and acts on it if it is another one.
    fn change(&mut self, at: usize, refmetric: u16, cost: u16, cx: &mut Cx<'_>) {
        let (router, old) = (self.table.routes[at].router, self.table.routes[at].metric());
        self.set_metric(at, refmetric, cost, cx);
        if self.table.routes[at].metric() != old {
            self.changed(at, router, old, cx);
        }
    }

    fn set_metric(&mut self, at: usize, refmetric: u16, cost: u16, cx: &mut Cx<'_>) {
        let r = &mut self.table.routes[at];
        let old = r.metric();
        r.smooth(self.cfg.smoothing_half_life, cx.now, cx.rng);
        (r.refmetric, r.cost) = (refmetric, cost);
        if self.cfg.smoothing_half_life == Span::ZERO {
            r.smoothed = r.metric();
        }
        if r.installed && old < INFINITE && r.metric() == INFINITE {
            self.fallen.push(r.prefix);
        }
    }

    /// A route has got a metric, perhaps the same again.
    fn changed(&mut self, at: usize, old_router: NodeId, old: u16, cx: &mut Cx<'_>) {
        if !self.table.routes[at].installed {
            self.consider(at, cx);
            return;
        }
        let best = self.best(self.table.routes[at].prefix, cx);
        if let Some(best) = best.filter(|&b| self.table.routes[b].metric() < self.table.routes[at].metric()) {
            self.consider(best, cx);
        }
        if self.table.routes[at].installed {
            self.trigger(at, old_router, old, cx);
        }
    }

    /// The feasible route to a prefix with the best smoothed metric.
    fn best(&mut self, prefix: NodeId, cx: &mut Cx<'_>) -> Option<usize> {
        let mut best: Option<(u16, usize)> = None;
        for i in self.table.to(prefix) {
            if self.table.is_route_feasible(i, cx.now) {
                let smoothed = self.table.routes[i].smooth(self.cfg.smoothing_half_life, cx.now, cx.rng);
                if best.is_none_or(|b| smoothed < b.0) {
                    best = Some((smoothed, i));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// Uses a route instead of the one in use if it is better by both metrics, or if there is no other.
    fn consider(&mut self, at: usize, cx: &mut Cx<'_>) {
        let r = &self.table.routes[at];
        if r.installed || !self.table.is_route_feasible(at, cx.now) {
            return;
        }
        let (prefix, new) = (r.prefix, r.metric());
        let Some(in_use) = self.table.installed(prefix) else {
            self.table.routes[at].installed = true;
            self.update(prefix, true, cx);
            return;
        };
        let (router, old) = (self.table.routes[in_use].router, self.table.routes[in_use].metric());
        if new == INFINITE {
            return;
        }
        if old < INFINITE {
            let half_life = self.cfg.smoothing_half_life;
            let smoothed = self.table.routes[at].smooth(half_life, cx.now, cx.rng);
            if new > old || smoothed >= self.table.routes[in_use].smooth(half_life, cx.now, cx.rng) {
                return;
            }
        }
        self.table.routes[in_use].installed = false;
        self.table.routes[at].installed = true;
        self.trigger(at, router, old, cx);
    }

    fn uninstall(&mut self, at: usize) {
        let r = &mut self.table.routes[at];
        if r.metric() < INFINITE {
            self.fallen.push(r.prefix);
        }
        r.installed = false;
    }

    /// The route in use is gone: another one, or a retraction and a request.
    fn lost(&mut self, prefix: NodeId, router: NodeId, old: u16, cx: &mut Cx<'_>) {
        if let Some(best) = self.best(prefix, cx) {
            self.consider(best, cx);
        } else if old < INFINITE {
            self.update_again(prefix, cx);
            if old <= INFINITE / 2 {
                let Some(seqno) = self.table.source(prefix, router).map(|s| s.seqno.wrapping_add(1)) else { return };
                self.requests.record(prefix, What::Request { router, seqno }, true, cx.now);
                self.request_from_all(prefix, router, seqno, cx);
            }
        }
    }

    /// Announces a change of the route in use, if it matters to others (RFC 8966, section 3.7.2).
    fn trigger(&mut self, at: usize, old_router: NodeId, old: u16, cx: &mut Cx<'_>) {
        let r = &self.table.routes[at];
        let (prefix, router, new) = (r.prefix, r.router, r.metric());
        let (worse, change) = (new.saturating_sub(old), new.abs_diff(old));
        if router != old_router || (old < INFINITE && new == INFINITE) {
            self.update_again(prefix, cx);
        } else if (worse >= 512 && old < 6 * 256) || self.requests.waits_for(prefix, router, r.seqno) {
            self.update(prefix, true, cx);
        } else if (old == INFINITE && new < INFINITE) || (change >= 384 && (new > old || change >= 1024)) {
            self.update(prefix, false, cx);
        }
        if old < INFINITE && worse >= 288 {
            self.write_updates(cx);
            self.counters.route_requests_sent += 1;
            self.put(None, Tlv::RouteRequest(Some(prefix)), cx);
        }
    }

    // ---- packets sent ----

    /// The first packets: several Hellos, so that neighbors have a history at once.
    fn begin_with_hellos(&mut self, cx: &mut Cx<'_>) {
        self.put_hello(cx);
        self.put_request_for_all(cx);
        self.send_all(cx);
        self.put_hello(cx);
        self.put(None, Tlv::RetractAll { seqno: self.seqno }, cx);
        self.send_all(cx);
        self.beginning = Beginning::Announcement;
        self.hello_due = self.after(Span::ms(10), cx);
    }

    /// The announcement of the own prefixes.
    fn announce_itself(&mut self, cx: &mut Cx<'_>) {
        self.put_hello(cx);
        self.put(None, Tlv::RetractAll { seqno: self.seqno }, cx);
        self.add_own_updates(cx.node);
        self.write_updates(cx);
        self.put_request_for_all(cx);
        self.send_all(cx);
        self.beginning = Beginning::Over;
        self.hello_due = self.after(self.cfg.hello_interval, cx);
        self.full_due = self.after(self.cfg.update_interval, cx);
    }

    fn put_request_for_all(&mut self, cx: &mut Cx<'_>) {
        self.counters.route_requests_sent += 1;
        self.put(None, Tlv::RouteRequest(None), cx);
    }

    fn put_hello(&mut self, cx: &mut Cx<'_>) {
        self.hello_seqno = self.hello_seqno.wrapping_add(1);
        self.counters.hellos_sent += 1;
        let interval = centiseconds(self.cfg.hello_interval);
        self.put(None, Tlv::Hello { seqno: self.hello_seqno, interval }, cx);
    }

    /// A Hello and IHUs; one packet has at most one Hello, because a lost packet counts as one.
    fn hello(&mut self, cx: &mut Cx<'_>) {
        if self.outbox.tlvs.iter().any(|tlv| matches!(tlv, Tlv::Hello { .. })) {
            self.send_all(cx);
        }
        self.put_hello(cx);
        self.hello_due = self.after(self.cfg.hello_interval, cx);
        let is_third = self.hello_seqno.is_multiple_of(3);
        for i in 0..self.neighbors.len() {
            if is_third || self.neighbors[i].is_marginal(&self.cfg) {
                self.ihu(i, cx);
            }
        }
    }

    /// Tells a neighbor the cost of its link, with a packet for it alone if one waits.
    fn ihu(&mut self, place: usize, cx: &mut Cx<'_>) {
        self.counters.ihus_sent += 1;
        let neighbor = &self.neighbors[place];
        let alone = (!neighbor.outbox.tlvs.is_empty()).then_some(place);
        let interval = centiseconds(self.cfg.hello_interval * 3);
        self.put(alone, Tlv::Ihu { node: neighbor.node, rxcost: neighbor.rxcost(&self.cfg, cx.now), interval }, cx);
    }

    /// Announces the route to a prefix, soon if it is urgent.
    fn update(&mut self, prefix: NodeId, is_urgent: bool, cx: &mut Cx<'_>) {
        self.add_update(prefix);
        let wait = if is_urgent { self.patience().min(Span::ms(100)) } else { self.patience() };
        self.updates_due = self.updates_due.min(self.after(wait, cx));
    }

    fn add_update(&mut self, prefix: NodeId) {
        if let Err(i) = self.updates.binary_search(&prefix) {
            self.updates.insert(i, prefix);
        }
    }

    fn add_own_updates(&mut self, node: NodeId) {
        self.add_update(node);
        for i in 0..self.served.len() {
            self.add_update(self.served[i]);
        }
    }

    /// Announces the route to a prefix several times, because it matters.
    fn update_again(&mut self, prefix: NodeId, cx: &mut Cx<'_>) {
        self.update(prefix, true, cx);
        self.requests.record(prefix, What::Update, true, cx.now);
    }

    /// Announces all routes.
    fn update_all(&mut self, cx: &mut Cx<'_>) {
        self.update(cx.node, false, cx);
        self.add_own_updates(cx.node);
        for i in 0..self.table.routes.len() {
            if self.table.routes[i].installed {
                self.add_update(self.table.routes[i].prefix);
            }
        }
        self.full_due = self.after(self.cfg.update_interval, cx);
    }

    /// Writes the updates that wait, which are then sent almost at once.
    fn write_updates(&mut self, cx: &mut Cx<'_>) {
        self.updates_due = Time::NEVER;
        let interval = centiseconds(self.cfg.update_interval);
        let updates = std::mem::take(&mut self.updates);
        for &prefix in &updates {
            let is_own = self.is_own(prefix, cx.node);
            let (router, seqno, metric, hops) = match self.table.installed(prefix).map(|i| &self.table.routes[i]) {
                _ if is_own => (cx.node, self.seqno, 0, 0),
                Some(r) => (r.router, r.seqno, r.metric(), r.hops),
                None => (cx.node, self.seqno, INFINITE, 0),
            };
            // Both fit into one packet, so that the router-id stays in force.
            let pair = Tlv::RouterId(router).bytes() + Tlv::Update { prefix, interval, seqno, metric, hops }.bytes();
            self.make_room(pair, cx);
            if self.outbox.router != Some(router) {
                self.put(None, Tlv::RouterId(router), cx);
                self.outbox.router = Some(router);
            }
            self.counters.updates_sent += 1;
            self.counters.retractions_sent += u64::from(metric == INFINITE);
            self.put(None, Tlv::Update { prefix, interval, seqno, metric, hops }, cx);
            if !is_own && metric < INFINITE {
                self.requests.satisfy(prefix, router, seqno);
                self.table.announce(prefix, router, seqno, metric, cx.now);
            }
        }
        if !updates.is_empty() {
            let soon = self.after(Span::ms(10), cx);
            self.outbox.send_by(soon);
        }
        self.updates = updates;
        self.updates.clear();
    }

    /// Asks a neighbor for a newer number.
    fn request_from(
        &mut self,
        to: NodeId,
        (prefix, router): (NodeId, NodeId),
        seqno: u16,
        hop_count: u8,
        cx: &mut Cx<'_>,
    ) {
        let Ok(place) = self.place(to) else { return };
        self.counters.seqno_requests_sent += 1;
        self.put(Some(place), Tlv::SeqnoRequest { prefix, seqno, hop_count, router }, cx);
    }

    /// Asks all neighbors for a newer number.
    fn request_from_all(&mut self, prefix: NodeId, router: NodeId, seqno: u16, cx: &mut Cx<'_>) {
        self.write_updates(cx);
        self.counters.seqno_requests_sent += 1;
        self.put(None, Tlv::SeqnoRequest { prefix, seqno, hop_count: REQUEST_HOPS, router }, cx);
    }

    /// Adds a TLV to the packet for all neighbors, or for one.
    fn put(&mut self, to: Option<usize>, tlv: Tlv, cx: &mut Cx<'_>) {
        let most = self.cfg.max_packet_size.0 - self.cfg.header_size.0;
        match to {
            None => self.make_room(tlv.bytes(), cx),
            Some(place) if self.neighbors[place].outbox.bytes() + tlv.bytes() > most => self.send_one(place, cx),
            Some(_) => {}
        }
        let by = self.after(self.patience() / 4, cx);
        let outbox = to.map_or(&mut self.outbox, |place| &mut self.neighbors[place].outbox);
        outbox.tlvs.push(tlv);
        outbox.send_by(by);
    }

    /// Sends the packet for all neighbors if there is no room for as many bytes.
    fn make_room(&mut self, bytes: u32, cx: &mut Cx<'_>) {
        if self.cfg.header_size.0 + self.outbox.bytes() + bytes > self.cfg.max_packet_size.0 {
            send(&mut self.outbox, &self.cfg, &mut self.overhead, cx);
        }
    }

    /// Sends the packet for all neighbors, with the updates that wait.
    fn send_all(&mut self, cx: &mut Cx<'_>) {
        self.write_updates(cx);
        send(&mut self.outbox, &self.cfg, &mut self.overhead, cx);
    }

    fn send_one(&mut self, place: usize, cx: &mut Cx<'_>) {
        send(&mut self.neighbors[place].outbox, &self.cfg, &mut self.overhead, cx);
    }
}

/// An update with its router-id.
struct Announced {
    prefix: NodeId,
    router: NodeId,
    seqno: u16,
    metric: u16,
    hops: u8,
    interval: Span,
}

fn send(outbox: &mut Outbox, cfg: &Config, overhead: &mut Overhead, cx: &mut Cx<'_>) {
    let tlvs = cx.pool.new_tlvs();
    cx.pool.tlvs_mut(tlvs).extend_from_slice(&outbox.tlvs);
    let packet = message(Body::Babel(tlvs), cfg.header_size.0 + outbox.bytes(), outbox.to, 1, cx);
    cx.pool[packet].next_hop = outbox.to;
    overhead.send(packet, Span::ZERO, cx);
    outbox.clear();
}

/// A random value from three quarters to five quarters of another.
fn roughly(value: f64, rng: &mut Stream) -> f64 {
    value * (0.75 + 0.5 * rng.uniform())
}

fn centiseconds(span: Span) -> u16 {
    (span.0 / 10_000_000).min(u16::MAX.into()) as u16
}

fn from_centiseconds(n: u16) -> Span {
    Span::ms(10) * u64::from(n)
}
