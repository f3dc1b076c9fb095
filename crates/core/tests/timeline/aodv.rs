//! One AODV router alone, and the discovery of a route along a chain.

use super::air;
use super::router::Alone;
use chappe_core::net::routing::Out;
use chappe_core::packet::{Body, DataSegment, Kind, Listed, NodeId, PacketId, Reason, Rrep, Rreq};
use chappe_core::record::trace::What;
use chappe_core::sim::Sim;
use chappe_core::unit::{Position, Span, Time};
use chappe_scenario::{NoFiles, Scenario};

const DESTINATION: NodeId = NodeId(9);
const NEIGHBOR: NodeId = NodeId(1);

/// A router at node 0.
struct Bench(Alone);

impl std::ops::Deref for Bench {
    type Target = Alone;
    fn deref(&self) -> &Alone {
        &self.0
    }
}

impl std::ops::DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut Alone {
        &mut self.0
    }
}

impl Bench {
    fn new(preset: &str) -> Bench {
        Bench::with(preset, "")
    }

    /// A router with a line of `[routing.aodv]`.
    fn with(preset: &str, change: &str) -> Bench {
        let text = format!("extends = \"{preset}\"\nrun.stop = \"1 s\"\n[routing.aodv]\n{change}");
        Bench(Alone::new(&text, 0))
    }

    fn packet(&mut self, source: NodeId, hops: u8) -> PacketId {
        let segment = DataSegment { sent: self.now, born: self.now, ..DataSegment::default() };
        let packet = self.create(Body::Data(segment), 1500, source, DESTINATION);
        self.pool[packet].hops = hops;
        packet
    }

    fn send(&mut self) -> Vec<Out> {
        let packet = self.packet(NodeId(0), 0);
        self.call(|r, cx| r.route(packet, cx))
    }

    /// A reply that makes the destination known at this number of hops.
    fn reply(&mut self, hops: u8, sequence: u32) -> Vec<Out> {
        let rrep = Rrep {
            hop_count: hops,
            destination: DESTINATION,
            destination_seq: sequence,
            originator: NodeId(0),
            lifetime: Span::secs(10),
            sent: self.now,
            hello: false,
        };
        let packet = self.message(Body::Rrep(rrep), NEIGHBOR, NodeId(0));
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// A message from a neighbor.
    fn message(&mut self, body: Body, source: NodeId, to: NodeId) -> PacketId {
        self.create(body, 44, source, to)
    }

    /// An error of the neighbor: the destination cannot be reached, with this sequence number.
    fn error(&mut self, sequence: u32) {
        let list = self.pool.new_list();
        self.pool.list_mut(list).push(Listed { node: DESTINATION, sequence, hops: u8::MAX });
        let packet = self.message(Body::Rerr(list), NEIGHBOR, NodeId::BROADCAST);
        self.call(|r, cx| r.on_message(packet, cx));
    }

    /// The destination's sequence number in the request that is made now, if one is made.
    fn asked(&mut self) -> Option<u32> {
        let said = self.send();
        let sent = said.iter().filter_map(|o| if let Out::Send { packet, .. } = o { Some(*packet) } else { None });
        let requested = |p| if let Body::Rreq(r) = self.pool[p].body { Some(r.destination_seq) } else { None };
        sent.map(requested).next().flatten()
    }

    /// TTL of each route request among the actions.
    fn ttls(&self, said: &[Out]) -> Vec<u8> {
        let sent = said.iter().filter_map(|o| if let Out::Send { packet, .. } = o { Some(*packet) } else { None });
        sent.filter(|p| matches!(self.pool[*p].body, Body::Rreq(_))).map(|p| self.pool[p].ttl).collect()
    }

    /// Lets the router work until an instant, a packet every half second; times [s] and TTLs of its requests.
    fn requests(&mut self, until: f64) -> Vec<(f64, u8)> {
        let mut found = vec![];
        let mut next_packet = self.now;
        let end = Time::ZERO + Span::from_secs(until);
        loop {
            self.now = next_packet.min(self.router.deadline());
            if self.now >= end {
                return found;
            }
            let said = if self.now == next_packet {
                next_packet = self.now + Span::ms(500);
                self.send()
            } else {
                self.call(|r, cx| r.on_deadline(cx))
            };
            let at = (self.now.as_secs() * 1e4).round() / 1e4;
            found.extend(self.ttls(&said).into_iter().map(|ttl| (at, ttl)));
        }
    }
}

/// A router at the destination of requests of node 5.
fn asked_by(b: &mut Bench, id: u32, previous: u32) -> Vec<Out> {
    let rreq = Rreq {
        id,
        hop_count: 1,
        unknown_seq: true,
        originator: NodeId(5),
        originator_seq: id,
        destination: NodeId(0),
        destination_seq: 0,
        sent: b.now,
    };
    let packet = b.message(Body::Rreq(rreq), NodeId(previous), NodeId::BROADCAST);
    b.call(|r, cx| r.on_message(packet, cx))
}

/// Next hop of a reply, and the reply.
fn answered(b: &Bench, said: &[Out]) -> Option<(u32, PacketId)> {
    match said {
        [Out::Send { packet, .. }] => Some((b.pool[*packet].next_hop.0, *packet)),
        [] => None,
        _ => panic!("{said:?}"),
    }
}

#[test]
fn requests_over_a_link_that_lost_a_reply_are_ignored() {
    // BLACKLIST_TIMEOUT = RREQ_RETRIES * NET_TRAVERSAL_TIME = 2 * 2 * 40 ms * 35 (RFC 3561, 6.8 and 10).
    let timeout = Span::ms(2 * 2 * 40 * 35);
    for preset in ["standard", "ns2-2.35"] {
        let mut b = Bench::new(preset);
        let keeps = preset == "standard";
        let said = asked_by(&mut b, 1, 2);
        let (back, reply) = answered(&b, &said).expect("a reply");
        assert_eq!(back, 2);
        let Alone { router, pool, now, .. } = &mut b.0;
        router.on_message_lost(reply, pool, *now);
        // The next request comes over the same link first, and then another way.
        b.now += Span::ms(80);
        let first = asked_by(&mut b, 2, 2);
        assert_eq!(answered(&b, &first).map(|r| r.0), (!keeps).then_some(2), "{preset}");
        let second = asked_by(&mut b, 2, 3);
        assert_eq!(answered(&b, &second).map(|r| r.0), keeps.then_some(3), "{preset}");
        // Others are heard; and so is this one when the time is over.
        b.now = Time(timeout.0 - 1);
        let late = asked_by(&mut b, 3, 2);
        assert_eq!(answered(&b, &late).is_some(), !keeps, "{preset}");
        b.now = Time::ZERO + timeout;
        let over = asked_by(&mut b, 4, 2);
        assert_eq!(answered(&b, &over).map(|r| r.0), Some(2), "{preset}");
    }
}

/// Lifetime in the reply of an intermediate node, whose route has been known for this time and lives 10 s.
fn told(preset: &str, change: &str, age: Span) -> Span {
    let mut b = Bench::with(preset, change);
    b.reply(3, 8);
    b.now = Time::ZERO + age;
    let (asks, behind) = (NodeId(5), NodeId(2));
    let rreq = Rreq {
        id: 1,
        hop_count: 1,
        unknown_seq: true,
        originator: asks,
        originator_seq: 4,
        destination: DESTINATION,
        destination_seq: 0,
        sent: b.now,
    };
    let packet = b.message(Body::Rreq(rreq), behind, NodeId::BROADCAST);
    let said = b.call(|r, cx| r.on_message(packet, cx));
    let reply = said.iter().find_map(|o| match o {
        Out::Send { packet, .. } => match b.pool[*packet].body {
            Body::Rrep(rrep) => Some(rrep),
            _ => None,
        },
        _ => None,
    });
    reply.expect("it knows a route").lifetime
}

#[test]
fn a_node_on_the_way_tells_how_long_its_route_lives() {
    // RFC 3561, 5.2: "the time in milliseconds"; the field of ns-2 holds seconds.
    let age = Span::ms(2300);
    let seconds = "reply_lifetime = \"whole_seconds\"";
    assert_eq!(told("standard", "", age), Span::ms(7700));
    assert_eq!(told("standard", seconds, age), Span::secs(7));
    assert_eq!(told("ns2-2.35", "", age), Span::secs(7));
    assert_eq!(told("ns2-2.35", "reply_lifetime = \"milliseconds\"", age), Span::ms(7700));
}

#[test]
fn rings_of_a_destination_that_was_near_grow_by_two() {
    // After a break of a 2-hop route the requests of ns-2 have TTL 4, 6, 8, then 30; TTL_THRESHOLD is 7.
    let mut b = Bench::new("ns2-2.35");
    assert_eq!(
        {
            let said = b.send();
            b.ttls(&said)
        },
        [30],
        "a destination that was never known is sought everywhere"
    );
    b.now = Time::ZERO + Span::ms(20);
    let released = b.reply(2, 4);
    assert!(matches!(released[0], Out::Send { .. }), "the waiting packet goes");
    let Out::Send { packet, .. } = released[0] else { unreachable!() };
    b.now = Time::ZERO + Span::ms(40);
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert!(said.iter().any(|o| matches!(o, Out::Drop { reason: Reason::RetryLimit, .. })), "{said:?}");
    assert!(said.iter().any(|o| matches!(o, Out::Purge { next_hop } if *next_hop == NEIGHBOR)), "{said:?}");
    let ttls: Vec<u8> = b.requests(4.0).iter().map(|r| r.1).take(4).collect();
    assert_eq!(ttls, [4, 6, 8, 30]);
}

#[test]
fn rings_of_rfc_3561() {
    // Section 6.4: TTL_START 1, then + 2 up to TTL_THRESHOLD 7, then NET_DIAMETER 35 and RREQ_RETRIES 2 more.
    // Waits: 2 NODE_TRAVERSAL_TIME (TTL + TIMEOUT_BUFFER); then NET_TRAVERSAL_TIME 2.8 s, doubled at each retry.
    let mut b = Bench::with("standard", "retry_jitter = \"0 s\"");
    let mut found = vec![];
    let first = b.send();
    found.extend(b.ttls(&first).into_iter().map(|ttl| (0.0, ttl)));
    while found.len() < 7 {
        b.now = b.router.deadline();
        let said = b.call(|r, cx| r.on_deadline(cx));
        found.extend(b.ttls(&said).into_iter().map(|ttl| ((b.now.as_secs() * 1e4).round() / 1e4, ttl)));
    }
    let waits = [(1, 0.24), (3, 0.4), (5, 0.56), (7, 0.72), (35, 2.8), (35, 5.6)];
    let mut at = 0.0f64;
    let mut expected = vec![];
    for (ttl, wait) in waits {
        expected.push(((at * 1e4).round() / 1e4, ttl));
        at += wait;
    }
    expected.push(((at * 1e4).round() / 1e4, 35));
    assert_eq!(found, expected);
    // After the last wait the destination is unreachable and the packet is dropped.
    b.now = b.router.deadline();
    let said = b.call(|r, cx| r.on_deadline(cx));
    assert!(matches!(said[..], [Out::Drop { reason: Reason::NoRoute, .. }]), "{said:?}");
    assert!((b.now.as_secs() - (at + 11.2)).abs() < 1e-6, "{}", b.now);
}

#[test]
fn requests_are_delayed_by_chance() {
    // RFC 5148, 5.2: a delay from zero to the largest, after which the wait begins. The rings of RFC 3561 grow up to
    // the fifth request; the sixth and the seventh go as far as it.
    let delays = |preset: &str, change: &str| {
        let mut b = Bench::with(preset, change);
        let (mut said, mut waits) = (b.send(), [0.24, 0.4, 0.56, 0.72, 2.8, 5.6].into_iter());
        let mut found = vec![];
        loop {
            let delay = |o: &Out| if let Out::Send { delay, .. } = o { Some(delay.as_secs()) } else { None };
            found.push(said.iter().find_map(delay).expect("a request"));
            let Some(wait) = waits.next() else { return found };
            let due = b.router.deadline().since(b.now).as_secs();
            assert!((due - wait - found[found.len() - 1]).abs() < 1e-8, "{due}");
            b.now = b.router.deadline();
            said = b.call(|r, cx| r.on_deadline(cx));
        }
    };
    let random = |delays: &[f64]| {
        let differ = delays.windows(2).all(|d| d[0] != d[1]);
        delays.iter().all(|d| (1e-9..0.01).contains(d)) && differ
    };
    let few = delays("standard", "");
    assert!(few[..5] == [0.0; 5] && random(&few[5..]), "{few:?}");
    for preset in ["802.11n", "802.11ac"] {
        let all = delays(preset, "");
        assert!(random(&all), "{all:?}");
    }
    assert_eq!(delays("standard", "retry_jitter = \"0 s\""), [0.0; 7]);
}

#[test]
fn an_unreachable_destination_is_asked_for_as_in_ns2() {
    // As seen in ns-2.35, datagrams twice a second; those that wait at 20 s are dropped.
    let text = r#"
        extends = "ns2-2.35"
        run = { stop = "45 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 1 }
        cbr = { interval = "500 ms" }
        flow = [{ src = 0, dst = 1, app = "cbr", start = "1 s" }]
    "#;
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut setup = scenario.setup(None);
    setup.positions[1] = Position { x: 5000.0, y: 0.0 };
    let mut sim = Sim::new(&setup);
    sim.trace();
    sim.run();
    let sent = sim.take_trace().expect("it was asked for").lines;
    let requests: Vec<f64> = sent
        .iter()
        .filter(|l| l.what == What::Sent && l.bytes == 48)
        .map(|l| (l.at.as_secs() * 100.0).floor() / 100.0)
        .collect();
    assert_eq!(requests, [1.0, 3.0, 7.0, 12.5, 30.0, 32.0, 36.0, 41.5]);
    let dropped = sim.pool().ledger().dropped_for(Kind::Data, Reason::NoRoute);
    // 39 in ns-2: the datagram that comes at 20 s, when the timer fires, comes before the timer there and after it
    // here.
    assert_eq!(dropped, 38);
}

#[test]
fn a_packet_that_came_far_is_kept_for_a_repair() {
    // ns-2: more hops made than still to make. The source never repairs (0 hops made).
    for (hops_made, repaired) in [(0, false), (2, false), (3, true)] {
        let mut b = Bench::new("ns2-2.35");
        b.send();
        b.reply(2, 4);
        let packet = b.packet(NodeId(5), hops_made);
        b.pool[packet].next_hop = NEIGHBOR;
        let said = b.call(|r, cx| r.on_link_failure(packet, cx));
        let dropped = said.iter().any(|o| matches!(o, Out::Drop { packet: p, .. } if *p == packet));
        assert_eq!(!dropped, repaired, "{hops_made} hops made: {said:?}");
        assert_eq!(b.router.counted().get("local_repairs"), u64::from(repaired));
        assert_eq!(b.router.counted().get("rerr_sent"), u64::from(!repaired));
    }
}

#[test]
fn an_error_raises_the_sequence_number() {
    // A route with the number 8. Its neighbors have 8 at most: only who knows 9 may answer, or it answers over this
    // node.
    for (preset, error, asked) in [
        ("standard", 7, None),
        ("standard", 8, Some(9)),
        ("standard", 9, Some(9)),
        ("ns2-2.35", 7, None),
        ("ns2-2.35", 8, Some(8)),
        ("ns2-2.35", 9, Some(9)),
    ] {
        let mut b = Bench::new(preset);
        b.send();
        b.reply(2, 8);
        b.error(error);
        assert_eq!(b.asked(), asked, "{preset}: an error with {error}");
    }
}

#[test]
fn use_does_not_shorten_the_life_of_a_route() {
    // The reply gives it 10 s; a packet at 1 s would give it 3 s more.
    for (change, asked) in [("", false), ("lifetime_of_use = \"exactly\"", true)] {
        let mut b = Bench::with("standard", change);
        b.send();
        b.reply(2, 8);
        for (at, asks) in [(1, false), (5, asked)] {
            b.now = Time::ZERO + Span::secs(at);
            assert_eq!(b.asked().is_some(), asks, "{change} at {at} s");
        }
    }
}

#[test]
fn a_route_in_repair_answers_no_request() {
    for (preset, replies) in [("standard", 0), ("ns2-2.35", 1)] {
        let mut b = Bench::new(preset);
        b.send();
        b.reply(2, 8);
        let packet = b.packet(NodeId(5), 3);
        b.pool[packet].next_hop = NEIGHBOR;
        b.call(|r, cx| r.on_link_failure(packet, cx));
        assert_eq!(b.router.counted().get("local_repairs"), 1);
        let rreq = Rreq {
            id: 1,
            hop_count: 1,
            unknown_seq: false,
            originator: NodeId(5),
            originator_seq: 2,
            destination: DESTINATION,
            destination_seq: 8,
            sent: b.now,
        };
        let request = b.message(Body::Rreq(rreq), NodeId(5), NodeId::BROADCAST);
        let said = b.call(|r, cx| r.on_message(request, cx));
        let is_reply =
            |o: &&Out| matches!(o, Out::Send { packet, .. } if matches!(b.pool[*packet].body, Body::Rrep(_)));
        assert_eq!(said.iter().filter(is_reply).count(), replies, "{preset}: {said:?}");
    }
}

#[test]
fn sequence_numbers_of_destinations_outlive_the_node() {
    let mut b = Bench::new("standard");
    b.send();
    b.reply(2, 8);
    b.call(|r, cx| r.switch_off(cx));
    b.call(|r, cx| r.switch_on(cx));
    assert_eq!(b.asked(), Some(9));
}

#[test]
fn a_route_is_found_hop_by_hop() {
    // As in ns-2.35 without ARP: request outwards, reply back, then the SYN.
    let (_, lines) = air::run(
        r#"
        run = { stop = "1.1 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 3 }
        wlan = { rts_threshold = "always" }
        flow = [{ src = 0, dst = 3, start = "1 s" }]
        "#,
    );
    let data: Vec<(u32, u32)> = lines
        .iter()
        .filter(|l| l.what == What::Sent && l.kind.name() == "DATA")
        .map(|l| (l.radio.0, l.bytes))
        .collect();
    let (rreq, rrep, syn) = (48, 44, 40);
    assert_eq!(
        data[..9],
        [(0, rreq), (1, rreq), (2, rreq), (3, rrep), (2, rrep), (1, rrep), (0, syn), (1, syn), (2, syn)]
    );
    // The first request is on the air 25 us of link delay, DIFS and some slots after the segment.
    let first = lines[0].at.since(Time::ZERO + Span::secs(1)).0 - 75_000;
    assert!(first % 20_000 == 0 && first / 20_000 <= 30);
}
