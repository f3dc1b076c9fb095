//! B.A.T.M.A.N. advanced with the algorithm BATMAN_IV, as in Linux.
//!
//! Every node floods the network with originator messages (OGMs). The neighbors of a node repeat all of its messages, so
//! that it can count what arrives at them; over more hops a node repeats only what comes from its best next hop. The
//! quality of the links is multiplied into each message on its way: whoever receives one over several neighbors knows
//! which way is the best, and nothing more. Data have a header of batman-adv and an Ethernet header at every hop, below
//! IP. A node has one interface, and no clients besides itself.

mod gateway;
mod outbox;
pub(super) mod quality;
mod table;

use super::fixed::Routes;
use super::registry::Routing;
use super::{Counted, Cx, KnownRoute, Out, Overhead, Shared, message, pass_on, up_to};
use crate::count::Field;
use crate::packet::ogm::{HEADER, Ogm, TTL, ogms};
use crate::packet::{Body, Fate, NodeId, PacketId, Reason};
use crate::rng::Stream;
use crate::setting::limit::{HOUR, at_most, range};
use crate::unit::{Bytes, Span, Time};
use crate::{counters, settings};
use gateway::Client;
use outbox::Outbox;
use std::collections::BTreeSet;
use std::sync::Arc;
use table::{Copy, Table};

settings! {
    /// batman-adv. Names are those of `batctl`, and values those of Linux.
    pub struct Config {
        /// Mean time between two originator messages of a node; each is up to 20 ms earlier or later.
        pub orig_interval: Span = Span::secs(1) => range(Span::ms(40), HOUR),
        /// Penalty of a hop, in 255ths of the quality of the way. There is another one for a hop that leaves by the radio
        /// by which it came, that is, for all hops but the first.
        pub hop_penalty: u8 = 30,
        /// Lets messages of other nodes wait for up to 100 ms, so that several leave in one packet.
        pub aggregation: bool = true,
        /// Time without messages after which the way over a neighbor is forgotten.
        pub purge_timeout: Span = Span::secs(200) => range(Span::ms(100), HOUR),
        /// Size of an originator message, with its containers (TVLVs): 24 B, clients of one VLAN 16 B, multicast 8 B,
        /// distributed ARP table 4 B.
        pub ogm_size: Bytes = Bytes(52) => range(Bytes(HEADER), Bytes(512)),
        /// Selection of a gateway (`gw_sel_class` of Linux): 2 keeps it while it is there, 3 takes the best one at once, and
        /// a larger number one whose quality is better by as much. Bandwidths are not compared.
        pub gw_sel_class: u8 = 20 => range(2, 255),
        /// Lease of a host by DHCP: its gateway renews the lease after a half of this time; after seven eighths the
        /// selected gateway gives a new lease.
        pub dhcp_lease: Span = Span::secs(3600) => range(Span::secs(1), HOUR * 24 * 7),
        /// Size of the headers before the IP header of data: that of batman-adv, 10 B, and Ethernet, 14 B.
        pub header_size: Bytes = Bytes(24) => at_most(Bytes(200)),
    }
}

counters! {
    /// Counters of batman-adv.
    pub struct Counters {
        /// Originator messages (OGMs) originated.
        ogm_originated,
        /// OGMs of neighbors repeated to them, and not for others.
        ogm_echoed,
        /// OGMs forwarded.
        ogm_forwarded,
    }
}

/// Largest time by which an own message is early or late.
const JITTER: Span = Span::ms(20);
/// Largest time for which a message waits before it is forwarded.
const FORWARD_JITTER: Span = Span::ms(10);

/// Memory of an originator, and of a way to it \[B\].
const ORIGINATOR_BYTES: f64 = 150.0;
const WAY_BYTES: f64 = 120.0;

/// batman-adv at a node.
#[derive(Clone, Debug)]
pub struct BatmanAdv {
    /// Shared by all routers.
    cfg: Arc<Config>,
    /// Number of the next own message.
    seqno: u32,
    table: Table,
    outbox: Outbox,
    client: Client,
    /// Networks to which this node leads.
    serves: BTreeSet<NodeId>,
    /// Time of the first message, until that is sent.
    first: Time,
    /// Next call.
    wake: Time,
    counters: Counters,
    overhead: Overhead,
}

impl Routing for BatmanAdv {
    const BELOW_IP: bool = true;
    /// The queue is the kernel's.
    const PURGES: bool = false;
    const FINDS_GATEWAYS: bool = true;
    const FIELDS: &'static [Field] = Counters::FIELDS;

    /// Hops over which the quality of a way without losses is not 0.
    fn reach(cfg: &super::Config, ttl: u8) -> (&'static str, u8) {
        let penalty = cfg.batman_adv.hop_penalty;
        let told = |&tq: &u8| Some(quality::lowered(quality::lowered(tq, penalty), penalty)).filter(|&tq| tq > 0);
        let hops = std::iter::successors(Some(quality::MAX), told).take(usize::from(ttl.min(TTL))).count() as u8;
        if hops < ttl { ("routing.batman_adv.hop_penalty", hops) } else { ("net.ttl", ttl) }
    }

    fn learned_bytes(_cfg: &super::Config, nodes: f64, neighbors: f64) -> f64 {
        nodes * (ORIGINATOR_BYTES + neighbors * WAY_BYTES)
    }

    fn tells_all_every(cfg: &super::Config) -> Option<Span> {
        Some(cfg.batman_adv.orig_interval)
    }

    fn periods(cfg: &super::Config) -> Vec<Span> {
        vec![cfg.batman_adv.orig_interval]
    }

    fn start(shared: &Shared, _routes: Option<&Routes>, rng: &mut Stream) -> BatmanAdv {
        let cfg = &shared.batman_adv;
        let mut router = BatmanAdv {
            seqno: 0,
            table: Table::default(),
            outbox: Outbox::new(cfg.ogm_size.0, cfg.aggregation),
            client: Client::default(),
            serves: BTreeSet::new(),
            first: Time::NEVER,
            wake: Time::NEVER,
            counters: Counters::default(),
            overhead: Overhead::default(),
            cfg: Arc::clone(cfg),
        };
        router.begin(Time::ZERO, rng);
        router
    }

    fn route(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &mut cx.pool[packet];
        if p.overhead == 0 {
            p.add_overhead(self.cfg.header_size.0);
        }
        pass_on(packet, |to| self.table.router(to), &mut self.overhead, cx);
    }

    fn on_message(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        let Body::Ogm(list) = p.body else { unreachable!("not a message of batman-adv") };
        let from = p.source;
        for ogm in ogms(cx.pool.list(list)) {
            self.on_ogm(&ogm, from, (cx.node, cx.now), cx.rng);
        }
        cx.pool.end(packet, Fate::Delivered);
        self.find_deadline();
    }

    /// batman-adv does not hear of it: only missing messages end the use of a way.
    fn on_link_failure(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
    }

    /// A node announces itself while it leads to a network.
    fn serve(&mut self, network: NodeId, serves: bool, _cx: &mut Cx<'_>) {
        if serves {
            self.serves.insert(network);
        } else {
            self.serves.remove(&network);
        }
    }

    fn gateway(&mut self, network: NodeId, now: Time) -> Option<NodeId> {
        self.client.gateway(network, now, &self.table, &self.cfg)
    }

    fn switch_off(&mut self, _cx: &mut Cx<'_>) {
        self.table.clear();
        self.outbox.clear();
        self.client = Client::default();
        self.serves.clear();
        (self.first, self.wake) = (Time::NEVER, Time::NEVER);
    }

    fn switch_on(&mut self, cx: &mut Cx<'_>) {
        self.begin(cx.now, cx.rng);
    }

    fn deadline(&self) -> Time {
        self.wake
    }

    fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        if self.first <= cx.now {
            self.first = Time::NEVER;
            self.announce(cx.node, cx.now);
        }
        while let Some(due) = self.outbox.take_due(cx.now) {
            let list = cx.pool.new_list();
            self.outbox.write(due, cx.pool.list_mut(list));
            let packet = message(Body::Ogm(list), due.bytes, NodeId::BROADCAST, 1, cx);
            self.overhead.send(packet, Span::ZERO, cx);
            if due.is_own {
                let lost = |destination| cx.out.push(Out::RouteLost { destination, anew: true });
                self.table.purge(self.cfg.purge_timeout, cx.now, lost);
                let shortest = self.cfg.orig_interval - JITTER;
                self.announce(cx.node, cx.now + shortest + up_to(JITTER * 2, cx.rng));
            }
        }
        self.find_deadline();
    }

    fn routes(&self, _at: NodeId, _now: Time, out: &mut Vec<KnownRoute>) {
        out.extend(self.table.routes().map(|r| KnownRoute {
            destination: r.destination,
            next_hop: r.next_hop,
            hops: r.hops,
        }));
    }

    fn has_route(&self, to: NodeId, _now: Time) -> bool {
        self.table.router(to).is_some() || self.client.leads_to(to)
    }

    fn metric_over(&self, _at: NodeId, to: NodeId, via: NodeId) -> Option<f64> {
        Some(self.table.quality(to, via)).filter(|&tq| tq > 0).map(f64::from)
    }

    fn memory(&self) -> usize {
        self.table.memory() + self.outbox.memory()
    }

    fn count(&self, sum: &mut Counted) {
        sum.count(Overhead::FIELDS, &self.overhead.values());
        sum.count(Counters::FIELDS, &self.counters.values());
    }
}

impl BatmanAdv {
    /// Begins with a random number, and with a first message within an interval, so that nodes are not synchronized.
    fn begin(&mut self, now: Time, rng: &mut Stream) {
        self.seqno = rng.below(1 << 16) << 16 | rng.below(1 << 16);
        self.first = now + up_to(self.cfg.orig_interval, rng);
        self.find_deadline();
    }

    fn find_deadline(&mut self) {
        self.wake = self.first.min(self.outbox.due());
    }

    /// Makes the next own message, to be sent at an instant; messages of others may leave with it.
    fn announce(&mut self, node: NodeId, at: Time) {
        let own = Ogm {
            originator: node,
            seqno: self.seqno,
            ttl: TTL,
            tq: quality::MAX,
            prev_sender: node,
            direct_link: false,
            not_best_next_hop: false,
            is_gateway: !self.serves.is_empty(),
        };
        self.seqno = self.seqno.wrapping_add(1);
        self.table.slide();
        self.outbox.add_own(own, at);
        self.counters.ogm_originated += 1;
    }

    fn on_ogm(&mut self, ogm: &Ogm, from: NodeId, (node, now): (NodeId, Time), rng: &mut Stream) {
        if ogm.originator == node {
            if ogm.direct_link {
                // The last message that was sent is two before the next one: one waits.
                self.table.on_echo(from, self.seqno.wrapping_sub(2).wrapping_sub(ogm.seqno));
            }
            return;
        }
        if ogm.prev_sender == node || ogm.not_best_next_hop {
            return;
        }
        let Some(copy) = self.table.count(ogm, from, now) else { return };
        let is_neighbor = from == ogm.originator;
        // A neighbor with several radios is heard over each.
        if ogm.tq == 0 || (is_neighbor && copy == Copy::Same) {
            return;
        }
        let router = self.table.router(ogm.originator);
        if router == Some(ogm.prev_sender)
            && ogm.prev_sender != ogm.originator
            && self.table.router(ogm.prev_sender) == router
        {
            return; // The sender has the message from this node's next hop, a neighbor: a loop could come of it.
        }
        if !is_neighbor && self.table.router(from).is_none() {
            return;
        }
        let is_best = router == Some(from) && self.table.quality(ogm.originator, from) > 0;
        let (echoed, heard) = self.table.link(from, ogm.originator, now);
        let tq = quality::over(ogm.tq, echoed, heard, 0);
        if tq > 0 && self.table.may_rank(ogm, copy) {
            self.table.rank(ogm, (from, tq), copy, now);
            self.client.on_ogm(ogm, &self.table, &self.cfg);
        }
        let told = quality::over(ogm.tq, echoed, heard, self.cfg.hop_penalty);
        if is_neighbor || (is_best && told > 0 && copy != Copy::Same) {
            self.forward(ogm, from, told, is_best, now, rng);
        }
    }

    /// Repeats a message of a neighbor, or forwards one of another node.
    fn forward(&mut self, ogm: &Ogm, from: NodeId, tq: u8, is_best: bool, now: Time, rng: &mut Stream) {
        if ogm.ttl <= 1 {
            return;
        }
        let next = Ogm {
            ttl: ogm.ttl - 1,
            tq: quality::lowered(tq, self.cfg.hop_penalty),
            prev_sender: from,
            direct_link: from == ogm.originator,
            not_best_next_hop: !is_best,
            ..*ogm
        };
        if is_best {
            self.counters.ogm_forwarded += 1;
        } else {
            self.counters.ogm_echoed += 1;
        }
        self.outbox.add(next, now + up_to(FORWARD_JITTER, rng));
    }
}
