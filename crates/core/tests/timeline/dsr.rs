//! One DSR router alone: requests, replies, salvage, sizes. A trace of ns-2.35 as a whole is replayed in
//! `tests/ns2/routing.rs`.

use super::router::Alone;
use chappe_core::net::routing::Out;
use chappe_core::packet::{Body, BrokenLink, Datagram, DsrRequest, FlowState, NodeId, PacketId, Reason, RouteError};
use chappe_core::unit::{Span, Time};

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

fn ids(nodes: &[u32]) -> Vec<NodeId> {
    nodes.iter().map(|&n| NodeId(n)).collect()
}

/// A link that is broken, from one node to another, and who is told.
type Broken = (u32, u32, u32);

fn broken((from, to, tell): Broken) -> RouteError {
    RouteError { link: BrokenLink { from: NodeId(from), to: NodeId(to) }, tell: NodeId(tell), lost: None }
}

impl Bench {
    /// A router with lines of `[routing.dsr]` that does not wait at random.
    fn new(preset: &str, change: &str) -> Bench {
        let text = format!(
            "extends = \"{preset}\"\nrun.stop = \"1 s\"\nrouting.protocol = \"dsr\"\n[routing.dsr]\n\
             broadcast_jitter = \"0 s\"\nreply_jitter = \"0 s\"\nmin_check_interval = \"40 ms\"\nmax_check_interval = \"40 ms\"\n{change}"
        );
        Bench(Alone::new(&text, 0))
    }

    /// A packet with a route, at the place in it of the node that sends it.
    fn packet(&mut self, body: Body, to: u32, route: &[u32], at: usize) -> PacketId {
        let source = NodeId(route.first().copied().unwrap_or(0));
        let packet = self.create(body, 512, source, NodeId(to));
        self.pool[packet].hops = 0;
        self.pool[packet].next_hop = NodeId(route.get(at + 1).copied().unwrap_or(u32::MAX));
        if !route.is_empty() {
            let header = self.pool.new_header(packet);
            self.pool.header_mut(header).route = ids(route);
            self.pool.header_mut(header).at = at;
        }
        packet
    }

    fn data(&mut self, to: u32, route: &[u32], at: usize) -> PacketId {
        self.packet(Body::Datagram(Datagram::default()), to, route, at)
    }

    /// A route error with these errors.
    fn error(&mut self, to: u32, route: &[u32], at: usize, errors: &[Broken]) -> PacketId {
        let packet = self.packet(Body::DsrError, to, route, at);
        let header = self.pool[packet].header;
        self.pool.header_mut(header).errors = errors.iter().map(|&e| broken(e)).collect();
        packet
    }

    /// Errors that are sent, and their receivers.
    fn told(&self, said: &[Out]) -> Vec<(u32, Vec<Broken>)> {
        let sent = said.iter().filter_map(|o| if let Out::Send { packet, .. } = o { Some(*packet) } else { None });
        sent.filter(|&p| matches!(self.pool[p].body, Body::DsrError))
            .map(|p| {
                let errors = &self.pool.header(self.pool[p].header).errors;
                (self.pool[p].destination.0, errors.iter().map(|e| (e.link.from.0, e.link.to.0, e.tell.0)).collect())
            })
            .collect()
    }

    /// Route known to a node.
    fn way(&self, to: u32) -> Option<(u32, u32)> {
        let mut routes = vec![];
        self.router.routes(NodeId(0), self.now, &mut routes);
        routes.iter().find(|r| r.destination == NodeId(to)).map(|r| (r.next_hop.0, r.hops))
    }

    /// A datagram of this node.
    fn send(&mut self, to: u32) -> Vec<Out> {
        let packet = self.data(to, &[], 0);
        self.call(|r, cx| r.route(packet, cx))
    }

    /// A reply to this node along the reversed way.
    fn learn(&mut self, way: &[u32]) -> Vec<Out> {
        let back: Vec<u32> = way.iter().rev().copied().collect();
        let packet = self.packet(Body::DsrReply, 0, &back, back.len() - 2);
        let header = self.pool[packet].header;
        self.pool.header_mut(header).reply = ids(way);
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// A request comes that has passed these nodes.
    fn request(&mut self, id: u32, target: u32, passed: &[u32]) -> Vec<Out> {
        let request = DsrRequest { id, target: NodeId(target), propagates: true };
        let packet = self.packet(Body::DsrRequest(request), u32::MAX, passed, 0);
        self.pool[packet].bytes = 32;
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// Packets sent: size, next hop, route, and route in a reply.
    fn sent(&self, said: &[Out]) -> Vec<(u32, u32, Vec<NodeId>, Vec<NodeId>)> {
        let sent = said.iter().filter_map(|o| if let Out::Send { packet, .. } = o { Some(*packet) } else { None });
        sent.map(|p| {
            let (p, header) = (&self.pool[p], self.pool.header(self.pool[p].header));
            (p.bytes, p.next_hop.0, header.route.clone(), header.reply.clone())
        })
        .collect()
    }

    /// Outcome of waiting packets: time [ms] and event.
    fn until_nothing_waits(&mut self) -> Vec<(u64, String)> {
        let mut seen = vec![];
        while self.router.deadline() != Time::NEVER {
            self.now = self.router.deadline();
            for out in self.call(|r, cx| r.on_deadline(cx)) {
                let what = match out {
                    Out::Send { packet, .. } => match self.pool[packet].body {
                        Body::DsrRequest(request) => format!("request {}", request.propagates),
                        other => format!("{other:?}"),
                    },
                    Out::Drop { reason, .. } => format!("{reason:?}"),
                    other => format!("{other:?}"),
                };
                seen.push((self.now.0 / 1_000_000, what));
            }
        }
        seen
    }

    /// A packet of a flow arrives at this node on the route from 7 over 0 and 2 to 9.
    fn follow(&mut self, flow: FlowState) -> (PacketId, Vec<Out>) {
        let packet = self.data(9, &[7, 0, 2, 9], 0);
        let header = self.pool[packet].header;
        self.pool.header_mut(header).flow = flow;
        (packet, self.call(|r, cx| r.route(packet, cx)))
    }

    /// Requests up to an instant [s], with a datagram every half second: time [ms], and true if they propagate.
    fn requests(&mut self, until: f64) -> Vec<(u64, bool)> {
        let mut found = vec![];
        let mut next = Time::ZERO + Span::secs(1);
        while next.min(self.router.deadline()) < Time::ZERO + Span::from_secs(until) {
            self.now = next.min(self.router.deadline());
            let said = if self.now == next {
                next += Span::ms(500);
                self.send(4)
            } else {
                self.call(|r, cx| r.on_deadline(cx))
            };
            for out in said {
                if let Out::Send { packet, .. } = out
                    && let Body::DsrRequest(request) = self.pool[packet].body
                {
                    found.push((self.now.0 / 1_000_000, request.propagates));
                }
            }
        }
        found
    }
}

#[test]
fn waits_between_requests_grow() {
    // ns-2 asks at 1, 3, 11, 21, 31 s; each time the neighbors first, and all at the first look after 30 ms.
    let mut b = Bench::new("ns2-2.35", "");
    let all = b.requests(31.5);
    let cycles: Vec<u64> = all.iter().filter(|r| !r.1).map(|r| r.0).collect();
    assert_eq!(cycles, [1000, 3000, 11_000, 21_000, 31_000]);
    assert!(all.windows(2).all(|w| w[0].1 || (w[1].1 && (31..=80).contains(&(w[1].0 - w[0].0)))), "{all:?}");
    // RequestPeriod 0.5 s, doubled up to MaxRequestPeriod 10 s; looks every 40 ms may come a little late.
    let mut b = Bench::new("standard", "nonpropagating = false");
    let times: Vec<u64> = b.requests(20.0).iter().map(|r| r.0).collect();
    let expected = [1000, 1500, 2500, 4500, 8500, 16_500];
    assert_eq!(times.len(), expected.len(), "{times:?}");
    assert!(times.iter().zip(expected).all(|(&t, e)| (e..e + 200).contains(&t)), "{times:?}");
}

#[test]
fn requests_are_as_large_as_their_way_is_long() {
    for (preset, sizes) in [("standard", [36, 40]), ("ns2-2.35", [48, 52])] {
        let mut b = Bench::new(preset, "reply_from_cache = false");
        let one = b.request(1, 9, &[5]);
        assert_eq!(b.sent(&one), [(sizes[0], u32::MAX, ids(&[5, 0]), vec![])], "{preset}");
        let two = b.request(2, 9, &[5, 6]);
        assert_eq!(b.sent(&two)[0].0, sizes[1], "{preset}");
        assert_eq!(b.request(2, 9, &[5, 7]), [], "seen before");
        assert_eq!(b.request(3, 9, &[5, 0, 7]), [], "it has passed here");
    }
}

#[test]
fn the_target_answers_every_copy_and_others_from_their_caches() {
    let mut b = Bench::new("standard", "");
    for passed in [&[5, 6][..], &[5, 7]] {
        let said = b.request(1, 0, passed);
        let back: Vec<u32> = [0].into_iter().chain(passed.iter().rev().copied()).collect();
        let there: Vec<u32> = back.iter().rev().copied().collect();
        // 20 + 4 + 4 * 2 for the way + 5 + 4 * 3 for what it says, in whole words.
        assert_eq!(b.sent(&said), [(52, passed[1], ids(&back), ids(&there))]);
    }
    b.learn(&[0, 3, 9]);
    let said = b.request(2, 9, &[5, 6]);
    assert_eq!(b.sent(&said), [(60, 6, ids(&[0, 6, 5]), ids(&[5, 6, 0, 3, 9]))]);
    let said = b.request(3, 9, &[5, 3]);
    assert_eq!(b.sent(&said)[0].3, vec![], "the cached way goes back over node 3: the request is passed on");
}

#[test]
fn a_lost_packet_goes_another_way_and_its_source_is_told() {
    let mut b = Bench::new("standard", "");
    b.learn(&[0, 2, 9]);
    b.learn(&[0, 3, 4, 9]);
    let packet = b.data(9, &[7, 0, 2, 9], 1);
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    let link = BrokenLink { from: NodeId(0), to: NodeId(2) };
    let broken = RouteError { link, tell: NodeId(7), lost: Some(NodeId(9)) };
    // Error: 20 + 4 + 4 + 16; data: 512 + 4 + 4 * 3.
    assert_eq!(b.sent(&said), [(44, 7, ids(&[0, 7]), vec![]), (528, 3, ids(&[0, 3, 4, 9]), vec![])]);
    let Out::Send { packet: error, .. } = said[0] else { panic!("{said:?}") };
    assert_eq!(b.pool.header(b.pool[error].header).errors, [broken]);
    assert_eq!(said.last(), Some(&Out::Return { next_hop: NodeId(2) }));
    let header = b.pool[packet].header;
    assert_eq!(b.pool.header(header).salvaged, 1);
    b.pool.header_mut(header).salvaged = 15;
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert!(said.contains(&Out::Drop { packet, reason: Reason::RetryLimit }), "{said:?}");
}

#[test]
fn one_salvaged_packet_is_dropped_whenever_a_request_is_due() {
    // ns-2: the neighbors are asked once; 2, 8 and 10 s later one packet is dropped each, the rest after 30 s.
    let mut b = Bench::new("ns2-2.35", "ns2.check_always = false");
    let packets: Vec<PacketId> = (0..5).map(|_| b.data(9, &[7, 0, 2, 9], 1)).collect();
    b.call(|r, cx| r.on_link_failure(packets[0], cx));
    packets[1..].iter().for_each(|&p| drop(b.call(|r, cx| r.on_returned(p, cx))));
    assert_eq!(b.router.waiting(), 5);
    let expected = [
        (40, "request false"),
        (2040, "NoRoute"),
        (10_040, "NoRoute"),
        (20_040, "NoRoute"),
        (30_000, "RouteTimeout"),
        (30_000, "RouteTimeout"),
    ];
    assert_eq!(b.until_nothing_waits(), expected.map(|(ms, what)| (ms, what.to_owned())));
}

#[test]
fn a_salvage_counts_on_another_route_but_not_while_waiting() {
    let mut b = Bench::new("ns2-2.35", "");
    let packet = b.data(9, &[7, 0, 2, 9], 1);
    b.call(|r, cx| r.on_link_failure(packet, cx));
    let salvaged = |b: &Bench| b.pool.header(b.pool[packet].header).salvaged;
    assert_eq!((b.router.waiting(), salvaged(&b)), (1, 0));
    let said = b.learn(&[0, 4, 9]);
    assert_eq!(b.sent(&said)[0].2, ids(&[0, 4, 9]));
    assert_eq!(salvaged(&b), 0);
    b.learn(&[0, 5, 9]);
    b.call(|r, cx| r.on_link_failure(packet, cx));
    assert_eq!((b.router.waiting(), salvaged(&b)), (0, 1));
}

#[test]
fn flow_state_takes_the_route_out_of_packets() {
    let mut b = Bench::new("ns2-2.35", "");
    b.learn(&[0, 1, 2, 3, 4]);
    let sizes: Vec<u32> = (0..5)
        .map(|_| {
            let said = b.send(4);
            b.sent(&said)[0].0
        })
        .collect();
    assert_eq!(sizes, [540, 540, 540, 512, 512]);
    b.now += Span::ms(5001);
    let said = b.send(4);
    assert_eq!(b.sent(&said)[0].0, 540, "again after 5 s");
    b.learn(&[0, 6, 4]);
    let said = b.send(4);
    assert_eq!(b.sent(&said)[0].0, 512 + 12 + 4 * 2, "another way is another flow");
    // The first way again: its flow has not ended, and is the newest after that of the broken link.
    let packet = b.data(4, &[0, 6, 4], 0);
    b.pool[packet].hops = 1;
    b.call(|r, cx| r.on_link_failure(packet, cx));
    let said = b.send(4);
    assert_eq!((b.sent(&said)[0].0, b.sent(&said)[0].1), (512, 1));
    // A packet with another TTL than its nodes expect carries the number of the flow.
    let packet = b.data(4, &[], 0);
    b.pool[packet].ttl = 31;
    let said = b.call(|r, cx| r.route(packet, cx));
    assert_eq!(b.sent(&said)[0].0, 512 + 4);
}

#[test]
fn plain_packets_take_the_newest_flow_if_their_ttl_matches() {
    let mut b = Bench::new("ns2-2.35", "");
    b.follow(FlowState::Establishes(1));
    let (packet, said) = b.follow(FlowState::FollowsDefault);
    assert_eq!((said.len(), b.pool[packet].next_hop), (1, NodeId(2)));
    // A newer flow over node 3, whose packets have made a hop more.
    let newer = b.data(9, &[7, 8, 0, 3, 9], 1);
    let header = b.pool[newer].header;
    b.pool.header_mut(header).flow = FlowState::Establishes(3);
    b.pool[newer].ttl = 31;
    b.call(|r, cx| r.route(newer, cx));
    assert_eq!(b.follow(FlowState::Follows(1)).1.len(), 1, "it has a number");
    let told = b.follow(FlowState::FollowsDefault).1;
    assert_eq!(b.told(&told), [(7, vec![])], "it has come with a TTL of 32");
    let packet = b.data(9, &[7, 0, 2, 9], 0);
    let header = b.pool[packet].header;
    b.pool.header_mut(header).flow = FlowState::FollowsDefault;
    b.pool[packet].ttl = 31;
    b.call(|r, cx| r.route(packet, cx));
    assert_eq!((b.pool[packet].next_hop, &b.pool.header(header).route), (NodeId(3), &ids(&[7, 8, 0, 3, 9])));
}

#[test]
fn what_a_source_does_about_an_unknown_flow() {
    for (preset, default, own) in [("standard", true, true), ("ns2-2.35", false, true)] {
        for (flow, begins_anew) in [(None, default), (Some(1), own)] {
            let mut b = Bench::new(preset, "flow_state = true");
            b.learn(&[0, 1, 9]);
            (0..4).for_each(|_| drop(b.send(9)));
            let packet = b.error(0, &[1, 0], 0, &[]);
            let header = b.pool[packet].header;
            b.pool.header_mut(header).unknown_flow = Some((NodeId(9), flow));
            b.call(|r, cx| r.on_message(packet, cx));
            let said = b.send(9);
            assert_eq!(b.sent(&said)[0].0 > 512, begins_anew, "{preset}, {flow:?}");
        }
    }
}

#[test]
fn own_flows_end_with_their_links_and_passing_ones_by_setting() {
    for (preset, known) in [("standard", false), ("ns2-2.35", true)] {
        let mut b = Bench::new(preset, "flow_state = true");
        b.follow(FlowState::Establishes(1));
        let error = b.error(5, &[9, 0, 5], 1, &[(2, 9, 5)]);
        b.call(|r, cx| r.on_overheard(error, cx));
        let (packet, said) = b.follow(FlowState::FollowsDefault);
        assert_eq!(said.contains(&Out::Send { packet, delay: Span::ZERO }), known, "{preset}: {said:?}");
    }
    let mut b = Bench::new("ns2-2.35", "");
    b.learn(&[0, 1, 2, 9]);
    (0..4).for_each(|_| drop(b.send(9)));
    let error = b.error(5, &[1, 3, 5], 0, &[(1, 2, 5)]);
    b.call(|r, cx| r.on_overheard(error, cx));
    b.learn(&[0, 1, 2, 9]);
    let said = b.send(9);
    let Out::Send { packet, .. } = said[0] else { panic!("{said:?}") };
    assert_eq!(b.pool.header(b.pool[packet].header).flow, FlowState::Establishes(3), "a new one");
}

#[test]
fn a_node_that_does_not_know_a_flow_says_so() {
    let mut b = Bench::new("standard", "flow_state = true");
    b.learn(&[0, 7]);
    let (packet, said) = b.follow(FlowState::Follows(1));
    assert!(said.contains(&Out::Drop { packet, reason: Reason::NoRoute }), "{said:?}");
    assert_eq!(b.sent(&said)[0].1, 7);
    // With the route in the packet it is known from then on, for 60 s.
    for (seconds, flow, known) in
        [(0, FlowState::Establishes(1), true), (59, FlowState::Follows(1), true), (120, FlowState::Follows(1), false)]
    {
        b.now = Time::ZERO + Span::secs(seconds);
        let (packet, said) = b.follow(flow);
        assert_eq!(said.contains(&Out::Send { packet, delay: Span::ZERO }), known, "at {seconds} s: {said:?}");
    }
}

#[test]
fn packet_of_an_unknown_flow_is_salvaged_before_the_error() {
    let mut b = Bench::new("ns2-2.35", "");
    b.learn(&[0, 7]);
    b.learn(&[0, 3, 9]);
    let (packet, said) = b.follow(FlowState::Follows(1));
    assert_eq!(said[0], Out::Send { packet, delay: Span::ZERO });
    let sent = b.sent(&said);
    assert_eq!((sent[0].1, &sent[0].2, sent[1].1), (3, &ids(&[0, 3, 9]), 7));
    assert_eq!(b.pool.header(b.pool[packet].header).salvaged, 1);
    // 20 + 4 + 4 + 12 bytes, and 8 of a flow that begins.
    assert_eq!(sent[1].0, 48);
    // Without another way it waits, and so does the error without a way to the source, for which all are asked.
    let mut b = Bench::new("ns2-2.35", "");
    let (_, said) = b.follow(FlowState::Follows(1));
    assert_eq!((b.router.waiting(), b.sent(&said)[0].1), (2, u32::MAX));
}

#[test]
fn who_overhears_a_detour_tells_of_it_once_a_second() {
    let mut b = Bench::new("standard", "");
    let said: Vec<usize> = [0, 900, 1001]
        .into_iter()
        .map(|ms| {
            b.now = Time::ZERO + Span::ms(ms);
            let packet = b.data(9, &[5, 6, 7, 0, 9], 1);
            let said = b.call(|r, cx| r.on_overheard(packet, cx));
            if let Some(sent) = b.sent(&said).first() {
                assert_eq!((sent.1, &sent.2, &sent.3), (6, &ids(&[0, 6, 5]), &ids(&[5, 6, 0, 9])));
            }
            said.len()
        })
        .collect();
    assert_eq!(said, [1, 0, 1]);
    // From one that is for others altogether it learns both directions.
    let packet = b.data(4, &[1, 2, 3, 4], 1);
    b.call(|r, cx| r.on_overheard(packet, cx));
    assert_eq!([4, 1].map(|to| b.way(to)), [Some((2, 3)), Some((2, 2))]);
}

#[test]
fn who_overhears_a_detour_learns_the_way_back() {
    let mut b = Bench::new("standard", "");
    let packet = b.data(9, &[5, 6, 7, 0, 9], 1);
    b.call(|r, cx| r.on_overheard(packet, cx));
    assert_eq!(b.way(5), Some((6, 2)));
}

#[test]
fn ns2_tells_of_a_detour_twice_and_each_path_for_itself() {
    // Its table has the time of a reply in the entry after that of the path.
    let mut b = Bench::new("ns2-2.35", "");
    let mut replies = |route: &[u32], ms: u64| {
        b.now = Time::ZERO + Span::ms(ms);
        let packet = b.data(9, route, 1);
        let header = b.pool[packet].header;
        b.pool.header_mut(header).made = (NodeId(5), ms as u32);
        b.call(|r, cx| r.on_overheard(packet, cx)).len()
    };
    assert_eq!([2000, 2010, 2020, 2030].map(|ms| replies(&[5, 6, 7, 0, 9], ms)), [1, 1, 0, 0]);
    assert_eq!(replies(&[5, 6, 8, 7, 0, 9], 2040), 1);
    assert_eq!(replies(&[5, 6, 7, 0, 9], 3011), 1);
    // RFC 4728: by the source and the node from which it was heard.
    let mut b = Bench::new("standard", "");
    for (route, replies) in [([5, 6, 7, 0, 9], 1), ([5, 6, 8, 0, 9], 0), ([5, 4, 8, 0, 9], 1)] {
        let packet = b.data(9, &route, 1);
        assert_eq!(b.call(|r, cx| r.on_overheard(packet, cx)).len(), replies, "{route:?}");
    }
}

#[test]
fn a_packet_that_is_overheard_again_teaches_nothing_more_in_ns2() {
    for (preset, hops) in [("standard", 2), ("ns2-2.35", 4)] {
        let mut b = Bench::new(preset, "");
        for at in [0, 2] {
            let packet = b.data(4, &[1, 2, 3, 4], at);
            let header = b.pool[packet].header;
            b.pool.header_mut(header).made = (NodeId(1), 1);
            b.call(|r, cx| r.on_overheard(packet, cx));
        }
        assert_eq!(b.way(4).map(|w| w.1), Some(hops), "{preset}");
        // The next one, and one that comes 2000 packets late.
        for (number, route) in [(2001, [1, 2, 8]), (2, [1, 2, 7])] {
            let packet = b.data(route[2], &route, 0);
            let header = b.pool[packet].header;
            b.pool.header_mut(header).made = (NodeId(1), number);
            b.call(|r, cx| r.on_overheard(packet, cx));
            assert_eq!(b.way(route[2]).is_some(), preset == "standard" || number > 2, "{preset}, {number}");
        }
    }
}

#[test]
fn who_learns_from_requests_and_from_packets_for_itself() {
    for (preset, learns) in [("standard", true), ("ns2-2.35", false)] {
        let mut b = Bench::new(preset, "");
        b.request(1, 9, &[5, 6]);
        assert_eq!(b.way(5), learns.then_some((6, 2)), "{preset}");
        b.request(2, 0, &[4, 6]);
        assert_eq!(b.way(4), Some((6, 2)), "the target of a request needs the way back");
        let packet = b.data(0, &[3, 2, 0], 1);
        b.call(|r, cx| r.on_arrival(packet, cx));
        assert_eq!(b.way(3), learns.then_some((2, 2)), "{preset}");
    }
}

#[test]
fn lost_route_error_is_salvaged_with_the_new_route_error() {
    for preset in ["standard", "ns2-2.35"] {
        let mut b = Bench::new(preset, "");
        b.learn(&[0, 3, 9]);
        let packet = b.error(9, &[7, 0, 2, 9], 1, &[(5, 6, 9)]);
        let said = b.call(|r, cx| r.on_link_failure(packet, cx));
        assert_eq!(b.told(&said), [(7, vec![(5, 6, 9), (0, 2, 7)]), (9, vec![(5, 6, 9)])], "{preset}");
        // 20 + 4 + 4 + 2 * 16.
        assert_eq!((b.sent(&said)[0].0, &b.sent(&said)[1].2), (60, &ids(&[0, 3, 9])));
    }
    // One that is full is dropped, and nobody is told.
    let mut b = Bench::new("ns2-2.35", "");
    b.learn(&[0, 3, 9]);
    let packet = b.error(9, &[7, 0, 2, 9], 1, &[(5, 6, 9), (6, 4, 9), (4, 3, 9)]);
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert_eq!(said[0], Out::Drop { packet, reason: Reason::RetryLimit });
    assert_eq!(b.told(&said), []);
    // Without salvaging of errors only the new one is sent.
    let mut b = Bench::new("standard", "salvage_errors = false");
    b.learn(&[0, 3, 9]);
    let packet = b.error(9, &[7, 0, 2, 9], 1, &[(5, 6, 9)]);
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert_eq!(b.told(&said).len(), 1);
    assert!(said.contains(&Out::Drop { packet, reason: Reason::RetryLimit }), "{said:?}");
}

#[test]
fn a_message_without_a_way_waits_as_data_do_in_ns2() {
    for (preset, waiting) in [("standard", 0), ("ns2-2.35", 1)] {
        // Of another node, and of this one, which asks all.
        for (route, at, asks_all) in [(&[7, 0, 2, 9][..], 1, false), (&[0, 2, 9], 0, true)] {
            let mut b = Bench::new(preset, "ns2.check_always = false");
            let packet = b.error(9, route, at, &[(0, 6, 9)]);
            b.call(|r, cx| r.on_link_failure(packet, cx));
            assert_eq!(b.router.waiting(), waiting, "{preset}");
            let asked = b.until_nothing_waits().iter().any(|s| s.1 == "request true");
            assert_eq!(asked, asks_all && waiting > 0, "{preset}");
        }
    }
}

#[test]
fn who_gets_an_error_sends_on_those_that_came_with_it() {
    for preset in ["standard", "ns2-2.35"] {
        let mut b = Bench::new(preset, "");
        b.learn(&[0, 3, 9]);
        b.learn(&[0, 8, 5, 6]);
        let packet = b.error(0, &[7, 0], 0, &[(5, 6, 9), (7, 2, 0)]);
        let said = b.call(|r, cx| r.on_message(packet, cx));
        assert_eq!(b.told(&said), [(9, vec![(5, 6, 9)])], "{preset}");
        assert_eq!(b.way(6), None, "all of them are heeded");
        // An error for itself that it overhears it takes as received in ns-2.
        let packet = b.error(0, &[7, 4, 0], 0, &[(5, 6, 9), (7, 2, 0)]);
        let header = b.pool[packet].header;
        b.pool.header_mut(header).made = (NodeId(7), 9);
        let said = b.call(|r, cx| r.on_overheard(packet, cx));
        assert_eq!(b.told(&said).len(), usize::from(preset == "ns2-2.35"), "{preset}");
    }
}

#[test]
fn an_error_goes_with_requests_until_one_is_passed_on() {
    for (once, expected) in [(true, [true, true, false]), (false, [true; 3])] {
        let change = format!("request_period = \"200 ms\"\nrequest_growth = 1\nerror_told_once = {once}");
        let mut b = Bench::new("ns2-2.35", &change);
        let packet = b.error(0, &[7, 0], 0, &[(7, 2, 0)]);
        b.call(|r, cx| r.on_message(packet, cx));
        let mut said = b.send(9);
        let mut carried = vec![];
        while carried.len() < 3 {
            for out in said {
                if let Out::Send { packet, .. } = out {
                    carried.push(!b.pool.header(b.pool[packet].header).errors.is_empty());
                }
            }
            b.now = b.router.deadline();
            said = b.call(|r, cx| r.on_deadline(cx));
        }
        assert!(b.now < Time::ZERO + Span::secs(1), "it is held so long");
        assert_eq!(carried[..3], expected);
    }
}

#[test]
fn a_reply_releases_packets_one_by_one_and_a_look_all_at_once() {
    let delays = |said: &[Out]| -> Vec<u64> {
        said.iter()
            .filter_map(|o| if let Out::Send { delay, .. } = o { Some(delay.0 / 1_000_000) } else { None })
            .collect()
    };
    let mut b = Bench::new("ns2-2.35", "");
    (0..3).for_each(|_| drop(b.send(9)));
    let said = b.learn(&[0, 3, 9]);
    assert_eq!(delays(&said), [0, 30, 60]);
    let mut b = Bench::new("ns2-2.35", "");
    (0..3).for_each(|_| drop(b.send(9)));
    let packet = b.data(9, &[1, 2, 3, 9], 1);
    b.call(|r, cx| r.on_overheard(packet, cx));
    b.now = Time::ZERO + Span::ms(40);
    let said = b.call(|r, cx| r.on_deadline(cx));
    assert_eq!(delays(&said), [0, 0, 0]);
}
