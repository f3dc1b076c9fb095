//! Babel routers in the network in which babeld 1.12.1 was recorded: five nodes of ideal links, two ways in the middle.
//! The numbers of the recordings are in `data/babeld_costs.csv` and below.

use super::router::Alone;
use chappe_core::net::routing::{KnownRoute, Out, Router, Shared};
use chappe_core::packet::{Body, Fate, NodeId, PacketId, Tlv};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use std::collections::{BTreeSet, VecDeque};

/// No route, and a link that is down.
const INFINITE: u16 = u16::MAX;
/// Links: a chain of four nodes, and node 4 beside the link in its middle.
const LINKS: [(u32, u32); 5] = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2)];
/// IPv6 and UDP headers, which the recorded sizes do not have.
const HEADERS: u32 = 48;
/// Settings of babeld for wires.
const WIRED: &str = "link_quality = \"two_out_of_three\"\nrxcost = 96";

fn at(s: f64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// A packet that was sent.
#[derive(Clone, Debug)]
struct Sent {
    s: f64,
    node: u32,
    /// Payload of UDP [B].
    bytes: u32,
    tlvs: Vec<Tlv>,
}

impl Sent {
    fn has(&self, which: impl Fn(&Tlv) -> bool) -> bool {
        self.tlvs.iter().any(which)
    }

    fn updates(&self) -> usize {
        self.tlvs.iter().filter(|t| matches!(t, Tlv::Update { .. })).count()
    }

    fn is_hello(tlv: &Tlv) -> bool {
        matches!(tlv, Tlv::Hello { .. })
    }

    fn is_ihu(tlv: &Tlv) -> bool {
        matches!(tlv, Tlv::Ihu { .. })
    }
}

/// Routers and their links.
struct Network {
    nodes: Vec<Alone>,
    now: f64,
    sent: Vec<Sent>,
    /// Share of packets that are lost on each link.
    loss: [f64; 5],
    losses: Stream,
    /// A node that does not receive what another one sends.
    deaf: Option<(u32, u32)>,
}

impl Network {
    fn new(settings: &str, seed: u64) -> Network {
        let text = format!("run.stop = \"1 s\"\nrouting.protocol = \"babel\"\n[routing.babel]\n{settings}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let routing = &scenario.config().routing;
        let node = |n| {
            let mut rng = Stream::new(seed, Purpose::Routing, n);
            let router = Router::new(routing, &Shared::new(routing), None, &mut rng);
            Alone { router, rng, ..Alone::new(&text, n as u32) }
        };
        let losses = Stream::new(seed, Purpose::FrameErrors, 0);
        Network { nodes: (0..5).map(node).collect(), now: 0.0, sent: vec![], loss: [0.0; 5], losses, deaf: None }
    }

    /// Runs until an instant, or until something is true.
    fn run(&mut self, until: f64, is_there: impl Fn(&Network) -> bool) -> Option<f64> {
        loop {
            if is_there(self) {
                return Some(self.now);
            }
            let next = (0..self.nodes.len()).min_by_key(|&n| self.nodes[n].router.deadline()).expect("nodes");
            let time = self.nodes[next].router.deadline();
            if time > at(until) {
                self.now = until;
                return None;
            }
            self.now = time.as_secs();
            self.nodes.iter_mut().for_each(|n| n.now = time);
            let said = self.nodes[next].call(|r, cx| r.on_deadline(cx));
            let mut on_the_way: VecDeque<(usize, Vec<Out>)> = [(next, said)].into();
            while let Some((from, said)) = on_the_way.pop_front() {
                for out in said {
                    let Out::Send { packet, delay: Span::ZERO } = out else { continue };
                    for (to, tlvs) in self.receivers(from, packet) {
                        let node = &mut self.nodes[to];
                        let list = node.pool.new_tlvs();
                        node.pool.tlvs_mut(list).extend(tlvs);
                        let packet = node.create(Body::Babel(list), 0, NodeId(from as u32), NodeId(to as u32));
                        let answers = node.call(|r, cx| r.on_message(packet, cx));
                        on_the_way.push_back((to, answers));
                    }
                }
            }
        }
    }

    /// Notes a packet, ends it, and draws who receives it.
    fn receivers(&mut self, from: usize, packet: PacketId) -> Vec<(usize, Vec<Tlv>)> {
        let pool = &mut self.nodes[from].pool;
        let p = pool[packet];
        let Body::Babel(list) = p.body else { panic!("a packet of Babel") };
        let tlvs = pool.tlvs(list).to_vec();
        let (s, node, is_multicast) = (self.now, from as u32, p.next_hop.is_broadcast());
        self.sent.push(Sent { s, node, bytes: p.bytes - HEADERS, tlvs: tlvs.clone() });
        pool.end(packet, Fate::Delivered);
        let mut receivers = vec![];
        for ((a, b), loss) in LINKS.into_iter().zip(self.loss) {
            let Some(to) = [(a, b), (b, a)].into_iter().find(|l| l.0 == node).map(|l| l.1) else { continue };
            let hears = self.deaf != Some((to, node)) && self.losses.uniform() >= loss;
            if hears && (is_multicast || p.next_hop == NodeId(to)) {
                receivers.push((to as usize, tlvs.clone()));
            }
        }
        receivers
    }

    fn routes(&self, node: u32) -> Vec<KnownRoute> {
        let mut routes = vec![];
        self.nodes[node as usize].router.routes(NodeId(node), at(self.now), &mut routes);
        routes
    }

    fn route(&self, node: u32, to: u32) -> Option<KnownRoute> {
        self.routes(node).into_iter().find(|r| r.destination == NodeId(to))
    }

    /// Packets of a node from 20 to 99 s.
    fn steady(&self, node: u32) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(move |p| p.node == node && p.s > 20.0 && p.s < 99.0)
    }

    /// The same network, which goes its own way from here.
    fn copy(&self) -> Network {
        let node = |n: &Alone| Alone { router: n.router.clone(), pool: n.pool.clone(), rng: n.rng.clone(), ..*n };
        Network { nodes: self.nodes.iter().map(node).collect(), sent: vec![], losses: self.losses.clone(), ..*self }
    }

    fn goes_over(&self, node: u32, to: u32, next_hop: u32) -> bool {
        self.route(node, to).is_some_and(|r| r.next_hop == NodeId(next_hop))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Asserts that a mean of runs here is that of a recording of `n` values with this mean, at three standard errors.
fn agrees(what: &str, values: &[f64], recorded: f64, n: f64) {
    let here = mean(values);
    let variance = values.iter().map(|v| (v - here).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0);
    let error = 3.0 * (variance / n).sqrt();
    assert!((here - recorded).abs() <= error, "{what}: {here:.2} here, {recorded} +- {error:.2} recorded");
}

/// Times between packets of a node with something, from 20 to 99 s.
fn gaps(n: &Network, node: u32, which: impl Fn(&Sent) -> bool) -> Vec<f64> {
    let times: Vec<f64> = n.steady(node).filter(|p| which(p)).map(|p| p.s).collect();
    times.windows(2).map(|w| w[1] - w[0]).collect()
}

#[test]
fn links_cost_what_babeld_says() {
    for row in include_str!("../data/babeld_costs.csv").lines().skip(1) {
        let (reach, costs) = row.split_once(',').expect("columns");
        let reach = u16::from_str_radix(reach, 16).expect("a history");
        let [rxcost, txcost, cost] = costs.split(',').map(|c| c.parse().expect("a cost")).collect::<Vec<u16>>()[..]
        else {
            panic!("three costs")
        };
        let mut b = Alone::new("run.stop = \"1 s\"\nrouting.protocol = \"babel\"", 1);
        b.call(|r, cx| r.on_deadline(cx));
        // Hellos whose numbers leave gaps give the history; those missed since the last one are shown by silence.
        let heard = (0..16u16).filter(|bit| reach >> bit & 1 == 1);
        let mut tlvs: Vec<Tlv> = heard.map(|bit| Tlv::Hello { seqno: 100 + bit, interval: 400 }).collect();
        tlvs.push(Tlv::Ihu { node: NodeId(1), rxcost: txcost, interval: 60_000 });
        tlvs.extend(update(9, 1, 0));
        // A neighbor that makes this node look every 0.1 s.
        hear(
            &mut b,
            3,
            vec![Tlv::Hello { seqno: 1, interval: 0 }, Tlv::Ihu { node: NodeId(1), rxcost: 256, interval: 10 }],
        );
        hear(&mut b, 2, tlvs);
        if reach == 0 {
            continue;
        }
        if let missed @ 1.. = reach.leading_zeros() {
            later(&mut b, 3.1 + 4.0 * f64::from(missed));
        }
        let mut routes = vec![];
        b.router.routes(NodeId(1), b.now, &mut routes);
        let metric = routes.first().and_then(|r| b.router.metric_over(NodeId(1), r.destination, r.next_hop));
        assert_eq!(metric.unwrap_or(f64::from(INFINITE)), f64::from(cost), "{row}");
        hear(&mut b, 2, vec![Tlv::RouteRequest(None)]);
        let said = later(&mut b, 3.0);
        let ihu = said.iter().find_map(|t| if let Tlv::Ihu { rxcost, .. } = *t { Some(rxcost) } else { None });
        assert_eq!(ihu, Some(rxcost), "{row}");
    }
}

#[test]
fn times_and_sizes_are_those_of_babeld() {
    // Means and numbers of recorded intervals; payload of nodes with one neighbor [B/s], and of all interfaces.
    for (settings, hello, ihu, full, rate) in [
        (WIRED, (4.04, 184.0), (12.09, 54.0), (15.61, 38.0), 12.77),
        ("", (3.95, 192.0), (11.80, 58.0), (16.48, 40.0), 13.36),
    ] {
        let (mut hellos, mut ihus, mut fulls, mut rates) = (vec![], vec![], vec![], vec![]);
        let mut sizes = BTreeSet::new();
        for seed in 0..12 {
            let mut n = Network::new(settings, seed);
            n.run(100.0, |_| false);
            for node in 0..5 {
                hellos.extend(gaps(&n, node, |p| p.has(Sent::is_hello)));
                fulls.extend(gaps(&n, node, |p| p.updates() > 2));
            }
            for node in [0, 3] {
                ihus.extend(gaps(&n, node, |p| p.has(Sent::is_ihu)));
                rates.push(f64::from(n.steady(node).map(|p| p.bytes).sum::<u32>()) / 79.0);
                // From then on the costs of wireless links, too, are those of links without losses.
                let late = n.steady(node).filter(|p| p.s > 45.0);
                sizes.extend(late.map(|p| (p.has(Sent::is_hello), p.has(Sent::is_ihu), p.updates(), p.bytes)));
            }
        }
        agrees("Hello", &hellos, hello.0, hello.1);
        agrees("IHU", &ihus, ihu.0, ihu.1);
        agrees("full update", &fulls, full.0, full.1);
        agrees("payload", &rates, rate, 10.0);
        let full = [(true, false, 5, 152), (true, true, 5, 168), (false, false, 5, 144)];
        let others = [(true, false, 0, 12), (true, true, 0, 28)];
        assert!(full[..2].iter().chain(&others).all(|s| sizes.contains(s)), "{sizes:?}");
        assert!(sizes.iter().all(|s| full.contains(s) || others.contains(s)), "{sizes:?}");
    }
}

#[test]
fn first_packets_are_those_of_babeld() {
    let mut n = Network::new(WIRED, 1);
    n.run(0.15, |_| false);
    // Of the node that begins, before it hears of others.
    let first: Vec<&Sent> = n.sent.iter().filter(|p| p.node == n.sent[0].node).collect();
    assert_eq!(first.iter().map(|p| p.bytes).take(2).collect::<Vec<_>>(), [16, 24]);
    assert!(first[2].has(|t| *t == Tlv::RouteRequest(None)) && first[2].bytes >= 56, "{:?}", first[2]);
    let all = n.run(10.0, |n| (0..5).all(|i| n.routes(i).len() == 4)).expect("all 20 routes");
    // Recorded: 0.5 and 0.7 s, and once 11.8 s. Here a node may announce a route before it can use it.
    assert!(all < 6.0, "{all}");
}

#[test]
fn metrics_of_a_chain_are_those_of_babeld() {
    for (settings, cost) in [(WIRED, 96), ("", 256)] {
        let mut n = Network::new(settings, 3);
        n.run(100.0, |_| false);
        let metric = |node: u32, to, via| n.nodes[node as usize].router.metric_over(NodeId(node), to, via);
        let route = |to, hops: u32| (NodeId(to), NodeId(1), hops, Some(f64::from(hops * cost)));
        let of = |r: &KnownRoute| (r.destination, r.next_hop, r.hops, metric(0, r.destination, r.next_hop));
        let found: Vec<_> = n.routes(0).iter().map(of).collect();
        assert_eq!(found, [route(1, 1), route(2, 2), route(3, 3), route(4, 2)]);
        // The detour is the other route of node 1.
        assert_eq!(metric(1, NodeId(2), NodeId(4)), Some(f64::from(2 * cost)));
    }
}

/// Times of a silent loss of all packets between nodes 1 and 2: until the route goes, until the other way is used, and,
/// after the repair, until the short way is used again.
fn interrupt(n: &mut Network) -> [Vec<f64>; 3] {
    const USERS: [(u32, u32, u32); 4] = [(1, 2, 2), (1, 3, 2), (2, 1, 1), (2, 0, 1)];
    let mut found = [vec![], vec![], vec![]];
    let begin = n.now;
    n.loss[1] = 1.0;
    let mut times = [[None; 2]; 4];
    while n.run(begin + 34.0, |n| changed(n, &times)).is_some() {
        for ((node, to, next_hop), t) in USERS.into_iter().zip(&mut times) {
            let since = n.now - begin;
            if !n.goes_over(node, to, next_hop) {
                t[0].get_or_insert(since);
            }
            if n.goes_over(node, to, 4) {
                t[1].get_or_insert(since);
            }
        }
    }
    found[0].extend(times.iter().map(|t| t[0].expect("it notices")));
    found[1].extend(times.iter().map(|t| t[1].expect("it finds the other way")));
    let begin = n.now;
    n.loss[1] = 0.0;
    for (node, to, next_hop) in USERS {
        let mut copy = n.copy();
        found[2].extend(copy.run(begin + 77.0, |n| n.goes_over(node, to, next_hop)).map(|t| t - begin));
    }
    n.run(begin + 77.0, |_| false);
    return found;

    fn changed(n: &Network, times: &[[Option<f64>; 2]; 4]) -> bool {
        USERS.into_iter().zip(times).any(|((node, to, next_hop), t)| {
            (t[0].is_none() && !n.goes_over(node, to, next_hop)) || (t[1].is_none() && n.goes_over(node, to, 4))
        })
    }
}

#[test]
fn silent_losses_take_as_long_as_with_babeld() {
    // Recorded in 18 losses over wires and one over wireless links, with up to four routes each.
    for (settings, [gone, used, back], losses) in [(WIRED, [11.19, 15.29, 48.13], 18.0), ("", [19.9, 19.9, 40.5], 1.0)]
    {
        let mut found = [vec![], vec![], vec![]];
        for seed in 0..12 {
            let mut n = Network::new(settings, seed);
            n.run(60.0, |_| false);
            for _ in 0..2 {
                found.iter_mut().zip(interrupt(&mut n)).for_each(|(all, more)| all.extend(more));
            }
        }
        agrees("gone", &found[0], gone, losses);
        agrees("other way", &found[1], used, losses);
        agrees("back", &found[2], back, losses);
        let dark: Vec<f64> = found[1].iter().zip(&found[0]).map(|(u, g)| u - g).collect();
        if settings == WIRED {
            agrees("without a route", &dark, 4.10, losses);
        } else {
            assert_eq!(mean(&dark), 0.0, "the costs rise until the other way is better");
        }
    }
}

#[test]
fn one_deaf_end_tells_the_other() {
    let mut n = Network::new(WIRED, 5);
    n.run(60.0, |_| false);
    n.deaf = Some((2, 1));
    let begin = n.now;
    let deaf = n.run(begin + 30.0, |n| !n.goes_over(2, 1, 1)).expect("it notices") - begin;
    // Three Hellos less than the third of an interval, and the time until it looks: recorded 9.6 s.
    assert!((6.8..17.1).contains(&deaf), "{deaf}");
    // With the next Hello goes an IHU: recorded 0.1 s later, because the Hello waited already.
    let other = n.run(begin + 40.0, |n| !n.goes_over(1, 2, 2)).expect("it is told") - begin;
    assert!((deaf..deaf + 6.3).contains(&other), "{deaf}, {other}");
}

#[test]
fn random_losses_cost_what_they_do_with_babeld() {
    // IHUs of the second minute, whose number shows marginal links, and their mean cost.
    for (loss, count, cost) in [(0.1, 76, 294.6), (0.25, 116, 352.2), (0.4, 141, 458.0)] {
        let (mut counts, mut costs) = (vec![], vec![]);
        for seed in 0..30 {
            let mut n = Network::new("", seed);
            n.run(100.0, |_| false);
            n.loss = [loss; 5];
            n.run(220.0, |_| false);
            let late = n.sent.iter().filter(|p| p.s > 160.0).flat_map(|p| &p.tlvs);
            let ihus: Vec<f64> = late
                .filter_map(|t| if let Tlv::Ihu { rxcost, .. } = *t { Some(rxcost.into()) } else { None })
                .collect();
            counts.push(ihus.len() as f64);
            costs.push(mean(&ihus));
        }
        agrees("IHUs", &counts, f64::from(count), 1.0);
        agrees("their cost", &costs, cost, 1.0);
    }
}

// ---- a router alone ----

/// A route of a neighbor, with the router-id that precedes it.
fn update(prefix: u32, seqno: u16, metric: u16) -> [Tlv; 2] {
    let prefix = NodeId(prefix);
    [Tlv::RouterId(prefix), Tlv::Update { prefix, interval: 1600, seqno, metric, hops: 1 }]
}

fn hear(b: &mut Alone, from: u32, tlvs: Vec<Tlv>) {
    let list = b.pool.new_tlvs();
    b.pool.tlvs_mut(list).extend(tlvs);
    let packet = b.create(Body::Babel(list), 0, NodeId(from), NodeId::BROADCAST);
    b.call(|r, cx| r.on_message(packet, cx));
}

/// TLVs sent within a time, those to one neighbor alone, too.
fn later(b: &mut Alone, s: f64) -> Vec<Tlv> {
    let end = b.now + Span::from_secs(s);
    let mut said = vec![];
    while b.router.deadline() <= end {
        b.now = b.now.max(b.router.deadline());
        for out in b.call(|r, cx| r.on_deadline(cx)) {
            let Out::Send { packet, .. } = out else { continue };
            let Body::Babel(list) = b.pool[packet].body else { panic!("a packet of Babel") };
            assert!(b.pool[packet].bytes <= 1488, "{} B", b.pool[packet].bytes);
            said.extend_from_slice(b.pool.tlvs(list));
            b.pool.end(packet, Fate::Delivered);
        }
    }
    b.now = end;
    said
}

/// A router at node 1 whose links to nodes 2 and 3 are without losses.
fn between() -> Alone {
    let mut b =
        Alone::new("run.stop = \"1 s\"\nrouting.protocol = \"babel\"\nrouting.babel.update_interval = \"600 s\"", 1);
    later(&mut b, 0.5);
    for from in [2, 3] {
        let mut tlvs: Vec<Tlv> = (0..16).map(|seqno| Tlv::Hello { seqno, interval: 6000 }).collect();
        tlvs.push(Tlv::Ihu { node: NodeId(1), rxcost: 256, interval: 18_000 });
        hear(&mut b, from, tlvs);
    }
    b
}

fn next_hop(b: &Alone, to: u32) -> Option<u32> {
    let mut routes = vec![];
    b.router.routes(NodeId(1), b.now, &mut routes);
    routes.iter().find(|r| r.destination == NodeId(to)).map(|r| r.next_hop.0)
}

fn request(tlvs: &[Tlv]) -> Option<(u32, u16, u8)> {
    tlvs.iter().find_map(|t| match *t {
        Tlv::SeqnoRequest { prefix, seqno, hop_count, .. } => Some((prefix.0, seqno, hop_count)),
        _ => None,
    })
}

#[test]
fn a_route_that_is_not_feasible_is_asked_for_and_not_used() {
    let mut b = between();
    hear(&mut b, 2, update(9, 7, 100).to_vec());
    later(&mut b, 1.0);
    assert_eq!(next_hop(&b, 9), Some(2));
    // This node has announced 356 itself, so that 400 could be its own route; 300 could not.
    hear(&mut b, 3, update(9, 7, 400).to_vec());
    hear(&mut b, 2, update(9, 7, INFINITE).to_vec());
    assert_eq!(next_hop(&b, 9), None);
    let said = later(&mut b, 1.0);
    assert!(said.contains(&Tlv::RouteRequest(Some(NodeId(9)))), "{said:?}");
    hear(&mut b, 3, update(9, 7, 400).to_vec());
    assert_eq!(next_hop(&b, 9), None);
    assert_eq!(request(&later(&mut b, 1.3)), Some((9, 8, 127)));
    hear(&mut b, 3, update(9, 8, 400).to_vec());
    assert_eq!(next_hop(&b, 9), Some(3), "with the new number");
}

#[test]
fn requests_of_numbers_are_answered_or_passed_on_once() {
    let mut b = between();
    hear(&mut b, 2, update(9, 7, 100).to_vec());
    let own = later(&mut b, 40.0).iter().find_map(|t| match *t {
        Tlv::Update { prefix: NodeId(1), seqno, .. } => Some(seqno),
        _ => None,
    });
    let ask =
        |prefix, seqno| vec![Tlv::SeqnoRequest { prefix: NodeId(prefix), seqno, hop_count: 5, router: NodeId(prefix) }];
    let answers = |said: &[Tlv], to: u32| -> Vec<u16> {
        let of = |t: &Tlv| match *t {
            Tlv::Update { prefix, seqno, .. } if prefix == NodeId(to) => Some(seqno),
            _ => None,
        };
        said.iter().filter_map(of).collect()
    };
    hear(&mut b, 3, ask(9, 8));
    hear(&mut b, 3, ask(9, 8));
    let said = later(&mut b, 1.3);
    let asked: Vec<&Tlv> = said.iter().filter(|t| matches!(t, Tlv::SeqnoRequest { .. })).collect();
    assert_eq!((asked.len(), request(&said)), (1, Some((9, 8, 4))));
    hear(&mut b, 3, ask(9, 7));
    assert_eq!(answers(&later(&mut b, 0.2), 9), [7], "known here");
    let own = own.unwrap_or_else(|| {
        hear(&mut b, 3, vec![Tlv::RouteRequest(Some(NodeId(1)))]);
        answers(&later(&mut b, 5.5), 1)[0]
    });
    hear(&mut b, 3, ask(1, own.wrapping_add(1)));
    assert_eq!(answers(&later(&mut b, 0.2), 1), [own.wrapping_add(1)]);
}

#[test]
fn a_better_route_is_used_after_some_seconds() {
    let mut b = between();
    hear(&mut b, 2, update(9, 7, 344).to_vec());
    let mut seqno = 15;
    let mut pass = |b: &mut Alone, of_3: &[Tlv]| {
        seqno += 1;
        let hello = Tlv::Hello { seqno, interval: 200 };
        hear(b, 2, vec![hello]);
        hear(b, 3, [&[hello], of_3].concat());
        later(b, 2.0);
    };
    (0..30).for_each(|_| pass(&mut b, &[]));
    let begin = b.now;
    // 400 against 600: recorded 25.7 s after it was known.
    while next_hop(&b, 9) == Some(2) && b.now < begin + Span::secs(60) {
        pass(&mut b, &update(9, 7, 144));
    }
    let took = b.now.since(begin).as_secs();
    assert!((22.0..=32.0).contains(&took), "{took}");
}

#[test]
fn long_tables_go_in_several_packets() {
    let mut b = between();
    for to in 10..110 {
        hear(&mut b, 2, update(to, 7, 100).to_vec());
    }
    let said = later(&mut b, 1.0);
    let router_ids = said.iter().filter(|t| matches!(t, Tlv::RouterId(_))).count();
    let updates = said.iter().filter(|t| matches!(t, Tlv::Update { .. })).count();
    assert!(updates >= 100 && router_ids >= updates - 1, "{updates}, {router_ids}");
}
