//! Destination-sequenced distance vector routing (Perkins and Bhagwat, SIGCOMM 1994).
//!
//! Every node periodically advertises its whole table to its neighbors, with an increasing sequence number of its own,
//! and changes in between. A route with a newer sequence number of its destination always wins, one with the same
//! number wins if it is shorter; so there are no loops. Deviations of ns-2.35 are settings, collected in the preset
//! `ns2-2.35`.

mod buffer;
mod table;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message};
use crate::count::Field;
use crate::packet::{Body, Fate, ListId, Listed, NodeId, PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, LARGEST_PACKET, at_most, range};
use crate::unit::{Bytes, Span, Time};
use crate::{counters, keywords, settings};
use buffer::Buffer;
use std::sync::Arc;
use table::{Entry, INFINITE, Table};

keywords! {
    /// Routes that are advertised only after twice their settling time.
    pub enum Hold {
        /// Routes whose metric differs from the last advertised one (Perkins and Bhagwat 1994).
        ChangedMetric = "changed_metric",
        /// Routes to new destinations and with new sequence numbers, as in ns-2: distant nodes wait long for their
        /// first route.
        EveryNumber = "every_number",
    }
}

keywords! {
    /// Cause of a triggered update.
    pub enum Trigger {
        /// A new destination, and any metric that differs from the last advertised one.
        AnyChange = "any_change",
        /// A new destination, a shorter route with the same sequence number, and a neighbor lost by this node, as in
        /// ns-2.
        Shorter = "shorter",
    }
}

settings! {
    /// Settings of DSDV.
    pub struct Config {
        /// Longest time between full updates.
        pub update_interval: Span = Span::secs(15) => range(Span::ms(1), HOUR),
        /// Largest share of `update_interval` by which a full update is sent early; the share is random.
        pub update_spread: f64 = 0.25 => range(0.0, 0.9),
        /// Longest time until the first full update of a node.
        pub first_update: Span = Span::secs(2) => at_most(HOUR),
        /// Shortest time from an update to a triggered one.
        pub trigger_interval: Span = Span::secs(1) => at_most(HOUR),
        /// Largest random delay of an update.
        pub broadcast_jitter: Span = Span::ms(10) => at_most(HOUR),
        /// Routes that are advertised only after twice their settling time.
        pub hold_back: Hold = Hold::ChangedMetric,
        /// Settling time of a destination before it is measured.
        pub settling_time: Span = Span::secs(6) => at_most(HOUR),
        /// Weight of earlier measurements in the average settling time.
        pub settling_weight: f64 = 0.875 => range(0.0, 1.0),
        /// Cause of a triggered update.
        pub trigger: Trigger = Trigger::AnyChange,
        /// Number of missed full updates after which a neighbor is declared lost.
        pub missed_updates: u32 = 3 => range(1, 1_000_000),
        /// Also declares a neighbor lost when the MAC gives up a packet to it.
        pub link_layer_detection: bool = true,
        /// Largest number of packets per destination that wait for a route.
        pub buffer_packets: u32 = 5 => range(1, 1_000_000),
        /// Size of an update with IP header, without its entries.
        pub update_size: Bytes = Bytes(28) => at_most(LARGEST_PACKET),
        /// Size of each entry of an update.
        pub entry_size: Bytes = Bytes(12) => at_most(LARGEST_PACKET),
        /// Largest number of entries per message; the others go into further messages.
        pub max_entries: Option<u32> | "unlimited" = Some(122) => range(1, 1_000_000),
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// DSDV of ns-2 where it departs from its authors.
    pub struct Ns2 {
        /// Drops a triggered update when its cause is held back again, or when another update was delayed because it
        /// came too soon.
        pub lose_triggers: bool = false,
        /// Repeats a changed metric in each triggered update until the next full one.
        pub repeat_metric: bool = false,
        /// Makes a node answer every report that it is unreachable, at once, however old the reported sequence number
        /// is.
        pub answer_always: bool = false,
        /// Triggers an update for a packet to an unknown destination. The destination counts as a change, so that the
        /// update may become a full one.
        pub unknown_triggers: bool = false,
        /// Bytes added to each TCP segment of a node: an IP header, which TCP has already counted. For datagrams it is
        /// part of `cbr.header_size` and `on_off.header_size`.
        pub packet_header_size: Bytes = Bytes(0) => at_most(Bytes(100)),
        /// Adds `packet_header_size` once more to a packet that has waited for a route, datagrams included.
        pub header_after_wait: bool = false
            ; used when |c| c.packet_header_size > Bytes(0), else "`routing.dsdv.ns2.packet_header_size` is 0 B",
    }
}

/// Memory of an entry of a table, which has one for every node \[B\].
const ENTRY_BYTES: f64 = 160.0;

counters! {
    /// Counters of DSDV.
    pub struct Counters {
        /// Full and triggered updates sent.
        route_updates_sent,
        /// Neighbors declared lost because a packet to them was given up.
        links_deleted,
    }
}

/// DSDV router of a node.
#[derive(Clone, Debug)]
pub struct Dsdv {
    /// Shared by all routers.
    cfg: Arc<Config>,
    table: Table,
    buffer: Buffer,
    /// Own sequence number, even.
    sequence: u32,
    next_full: Time,
    last_update: Option<Time>,
    /// Neighbors, with the time at which each is lost without an update.
    heard: Vec<(NodeId, Time)>,
    /// Next timer.
    wake: Time,
    counters: Counters,
    overhead: Overhead,
}

impl Routing for Dsdv {
    const FIELDS: &'static [Field] = Counters::FIELDS;

    fn learned_bytes(_cfg: &super::Config, nodes: f64) -> f64 {
        nodes * ENTRY_BYTES
    }

    fn tells_all_every(cfg: &super::Config) -> Option<Span> {
        Some(cfg.dsdv.update_interval)
    }

    fn trusts_broadcasts(_cfg: &super::Config) -> Option<(&'static str, &'static str, &'static str)> {
        Some((
            "routing.protocol",
            "DSDV",
            "choose a protocol that notices that no ACK comes, such as \"aodv\", or let the nodes hear each other",
        ))
    }

    fn periods(cfg: &super::Config) -> Vec<Span> {
        vec![cfg.dsdv.update_interval]
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, rng: &mut Stream) -> Dsdv {
        let cfg = &shared.dsdv;
        let first = Span((rng.uniform() * cfg.first_update.0 as f64) as u64);
        Dsdv::new(cfg, Time::ZERO + first)
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        if p.source == cx.node {
            if p.hops > 0 {
                cx.out.push(Out::Drop { packet, reason: Reason::RoutingLoop });
                return;
            }
            if p.body.is_tcp() {
                p.add_overhead(self.cfg.ns2.packet_header_size.0);
            }
        } else if !p.spend_hop() {
            cx.out.push(Out::Drop { packet, reason: Reason::TtlExpired });
            return;
        }
        let to = p.destination;
        match self.table.get(to).filter(|e| e.is_up()) {
            Some(entry) => {
                cx.pool[packet].next_hop = entry.next_hop;
                self.overhead.send(packet, Span::ZERO, cx);
            }
            None => self.keep(packet, to, cx),
        }
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        let Body::Update(list) = p.body else { unreachable!("not a message of DSDV") };
        let from = p.source;
        self.note_heard(from, cx.now);
        for i in 0..cx.pool.list(list).len() {
            let listed = cx.pool.list(list)[i];
            if listed.node == cx.node {
                if listed.hops == INFINITE {
                    self.answer(listed.sequence, cx.now);
                }
            } else {
                self.learn(from, listed, cx);
            }
        }
        cx.pool.end(packet, Fate::Delivered);
        self.find_deadline();
    }

    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
        if self.cfg.link_layer_detection {
            self.lose(cx.pool[packet].next_hop, cx);
            self.find_deadline();
        }
    }

    /// Keeps its own number, and those of others with routes that are lost: a neighbor that uses this node tells
    /// nothing new about them, and to take it would be a loop.
    fn switch_off(&mut self, cx: &mut Cx<'_>) {
        while let Some(packet) = self.buffer.pop() {
            cx.out.push(Out::Drop { packet, reason: Reason::NodeOff });
        }
        for entry in &mut self.table.entries {
            let lost = Entry::unknown(entry.destination, self.cfg.settling_time, cx.now);
            let sequence = entry.sequence + u32::from(entry.is_up());
            *entry = Entry { sequence, ..lost };
        }
        self.heard.clear();
        (self.next_full, self.last_update, self.wake) = (Time::NEVER, None, Time::NEVER);
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        self.next_full = cx.now + up_to(self.cfg.first_update, cx);
        self.find_deadline();
    }

    fn deadline(&self) -> Time {
        self.wake
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        while let Some(&(lost, _)) = self.heard.iter().find(|n| n.1 <= cx.now) {
            self.lose(lost, cx);
        }
        while let Some(due) = self.table.due(cx.now) {
            self.on_trigger(due, cx);
        }
        if self.next_full <= cx.now {
            self.send_full(cx);
            self.arm_full(cx);
        }
        self.find_deadline();
    }

    fn routes(&self, _at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        out.extend(self.known());
    }

    fn has_route(&self, to: NodeId, _now: Time) -> bool {
        self.known().any(|route| route.destination == to)
    }

    fn holds(&self, to: NodeId, pool: &PacketPool) -> bool {
        self.buffer.holds(to, pool)
    }

    fn waiting(&self) -> usize {
        self.buffer.len()
    }

    fn memory(&self) -> usize {
        self.table.memory()
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl Dsdv {
    /// A router that knows nothing yet; its first update comes `first` after the start.
    pub fn new(cfg: &Arc<Config>, first: Time) -> Dsdv {
        Dsdv {
            table: Table::default(),
            buffer: Buffer::new(cfg.buffer_packets as usize),
            sequence: 2,
            next_full: first,
            last_update: None,
            heard: Vec::new(),
            wake: first,
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        }
    }

    /// The routes that are up.
    fn known(&self) -> impl Iterator<Item = KnownRoute> + '_ {
        let route = |e: &Entry| KnownRoute::by_hops(e.destination, e.next_hop, e.metric.into());
        self.table.entries.iter().filter(|e| e.is_up()).map(route)
    }

    // ---- packets ----

    /// Keeps a packet until there is a route.
    fn keep(&mut self, packet: PacketId, to: NodeId, cx: &mut Cx<'_>) {
        if let Some(oldest) = self.buffer.push(packet, cx.pool) {
            cx.out.push(Out::Drop { packet: oldest, reason: Reason::RouteBufferFull });
        }
        let (entry, is_new) = self.table.entry(to, self.cfg.settling_time, cx.now);
        if is_new && self.cfg.ns2.unknown_triggers {
            entry.tell_at_once(cx.now);
            self.wake = cx.now;
        }
    }

    /// Sends the packets that waited for this destination.
    fn release(&mut self, to: NodeId, next_hop: NodeId, cx: &mut Cx<'_>) {
        while let Some(packet) = self.buffer.take(to, cx.pool) {
            let p = &mut cx.pool[packet];
            p.next_hop = next_hop;
            if self.cfg.ns2.header_after_wait && p.source == cx.node {
                p.add_overhead(self.cfg.ns2.packet_header_size.0);
            }
            self.overhead.send(packet, Span::ZERO, cx);
        }
    }

    // ---- neighbors ----

    /// Removes a neighbor, and the routes over it.
    fn lose(&mut self, neighbor: NodeId, cx: &mut Cx<'_>) {
        self.counters.links_deleted += 1;
        self.heard.retain(|n| n.0 != neighbor);
        for entry in self.table.entries.iter_mut().filter(|e| e.is_up() && e.next_hop == neighbor) {
            entry.take_down(cx.now);
            entry.tell_at_once(cx.now);
            cx.out.push(Out::RouteLost { destination: entry.destination, anew: true });
        }
        cx.out.push(Out::Purge { next_hop: neighbor });
    }

    fn note_heard(&mut self, neighbor: NodeId, now: Time) {
        let until = now + self.cfg.update_interval * u64::from(self.cfg.missed_updates);
        match self.heard.iter_mut().find(|n| n.0 == neighbor) {
            Some(n) => n.1 = until,
            None => self.heard.push((neighbor, until)),
        }
    }

    // ---- updates received ----

    /// Answers the announcement that this node is unreachable with a newer number of its own. If the node has already
    /// announced a newer number, the neighbors that received it pass it on.
    fn answer(&mut self, reported: u32, now: Time) {
        if self.cfg.ns2.answer_always {
            self.next_full = now;
        } else if reported > self.sequence {
            self.next_full = self.next_full.min(self.next_triggered().max(now));
        }
    }

    /// A neighbor advertises its route to a destination.
    fn learn(&mut self, from: NodeId, listed: Listed, cx: &mut Cx<'_>) {
        let now = cx.now;
        let metric = if listed.hops >= INFINITE - 1 { INFINITE } else { listed.hops + 1 };
        if metric == INFINITE && self.table.get(listed.node).is_none() {
            return;
        }
        let cfg = &self.cfg;
        let (entry, is_new) = self.table.entry(listed.node, cfg.settling_time, now);
        let is_newer = is_new || listed.sequence > entry.sequence;
        if !is_newer && (listed.sequence < entry.sequence || metric >= entry.metric) {
            if listed.sequence < entry.sequence && metric == INFINITE && entry.is_up() {
                // The neighbor has lost its route, and a newer one is known here.
                entry.tell_at_once(now);
            }
            return;
        }
        if listed.sequence != entry.sequence && !is_new {
            let measured = entry.changed_at.since(entry.numbered_at).0 as f64;
            let average = cfg.settling_weight * entry.settling.0 as f64 + (1.0 - cfg.settling_weight) * measured;
            entry.settling = Span(average as u64);
        }
        let settled = now + entry.settling * 2;
        let has_changed = Some(metric) != entry.advertised;
        entry.hold_until = match cfg.hold_back {
            Hold::EveryNumber if metric < INFINITE && (is_new || entry.is_up()) => settled,
            Hold::ChangedMetric if metric < INFINITE && entry.is_up() && has_changed => {
                if metric == entry.metric {
                    entry.hold_until
                } else {
                    settled
                }
            }
            _ => now,
        };
        let triggers = match cfg.trigger {
            Trigger::AnyChange => has_changed,
            Trigger::Shorter => is_new || (listed.sequence == entry.sequence && has_changed),
        };
        if triggers {
            entry.trigger_at = entry.hold_until;
        } else if !cfg.ns2.lose_triggers && entry.trigger_at != Time::NEVER {
            entry.trigger_at = if has_changed { entry.hold_until } else { Time::NEVER };
        }
        entry.metric_is_new |= is_new || metric != entry.metric;
        if is_new || listed.sequence != entry.sequence {
            entry.number_is_new = true;
            entry.numbered_at = now;
        }
        if metric == INFINITE && entry.is_up() && !is_new {
            cx.out.push(Out::RouteLost { destination: listed.node, anew: true });
        }
        (entry.metric, entry.sequence, entry.next_hop) = (metric, listed.sequence, from);
        (entry.changed_at, entry.silent) = (now, false);
        if metric < INFINITE {
            self.release(listed.node, from, cx);
        }
    }

    // ---- updates sent ----

    fn find_deadline(&mut self) {
        let trigger = self.table.entries.iter().map(|e| e.trigger_at).min().unwrap_or(Time::NEVER);
        let lost = self.heard.iter().map(|n| n.1).min().unwrap_or(Time::NEVER);
        self.wake = trigger.min(lost).min(self.next_full);
    }

    /// From when on there may be another triggered update.
    fn next_triggered(&self) -> Time {
        self.last_update.map_or(Time::ZERO, |last| last + self.cfg.trigger_interval)
    }

    /// A triggered update is due for an entry.
    fn on_trigger(&mut self, due: usize, cx: &mut Cx<'_>) {
        let next = self.next_triggered();
        let entries = &mut self.table.entries;
        entries[due].trigger_at = Time::NEVER;
        if cx.now < next {
            if self.cfg.ns2.lose_triggers {
                entries.iter_mut().filter(|e| e.trigger_at < next).for_each(|e| e.trigger_at = Time::NEVER);
            }
            entries[due].trigger_at = next;
            return;
        }
        let (all, changed) = (entries.len() + 1, entries.iter().filter(|e| e.is_changed(cx.now)).count());
        if changed > 3 && 3 * changed > all {
            self.arm_full(cx);
            self.send_full(cx);
        } else if entries.iter().any(|e| e.is_changed(cx.now) && !e.silent) {
            self.last_update = Some(cx.now);
            self.send(false, cx);
        }
    }

    fn send_full(&mut self, cx: &mut Cx<'_>) {
        self.sequence += 2;
        self.last_update = Some(cx.now);
        self.send(true, cx);
    }

    /// Schedules the next full update, an interval from now.
    fn arm_full(&mut self, cx: &mut Cx<'_>) {
        let early = cx.rng.uniform() * self.cfg.update_spread;
        let share = 1.0 - self.cfg.update_spread + early;
        self.next_full = cx.now + Span((self.cfg.update_interval.0 as f64 * share) as u64);
    }

    /// Sends the whole table, or the changes, except for routes held back.
    fn send(&mut self, full: bool, cx: &mut Cx<'_>) {
        let jitter = up_to(self.cfg.broadcast_jitter, cx);
        let most = self.cfg.max_entries.map_or(usize::MAX, |n| n as usize);
        let mut list = cx.pool.new_list();
        if full {
            cx.pool.list_mut(list).push(Listed { node: cx.node, sequence: self.sequence, hops: 0 });
        }
        for i in 0..self.table.entries.len() {
            let entry = &mut self.table.entries[i];
            if entry.hold_until > cx.now || (!full && !entry.is_changed(cx.now)) {
                continue;
            }
            entry.number_is_new = false;
            entry.metric_is_new &= !full && self.cfg.ns2.repeat_metric;
            if !self.cfg.ns2.lose_triggers {
                entry.trigger_at = Time::NEVER;
            }
            if entry.silent {
                continue;
            }
            entry.advertised = Some(entry.metric);
            let listed = Listed { node: entry.destination, sequence: entry.sequence, hops: entry.metric };
            if cx.pool.list(list).len() == most {
                self.send_message(list, jitter, cx);
                list = cx.pool.new_list();
            }
            cx.pool.list_mut(list).push(listed);
        }
        self.send_message(list, jitter, cx);
    }

    fn send_message(&mut self, list: ListId, delay: Span, cx: &mut Cx<'_>) {
        let bytes = self.cfg.update_size.0 + self.cfg.entry_size.0 * cx.pool.list(list).len() as u32;
        self.counters.route_updates_sent += 1;
        let packet = message(Body::Update(list), bytes, NodeId::BROADCAST, 1, cx);
        self.overhead.send(packet, delay, cx);
    }
}

/// A random part of a duration.
fn up_to(most: Span, cx: &mut Cx<'_>) -> Span {
    Span((cx.rng.uniform() * most.0 as f64) as u64)
}
