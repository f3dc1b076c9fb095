//! One DSR router alone: requests, replies, salvage, sizes. A trace of ns-2.35 as a whole is replayed in
//! `tests/ns2/routing.rs`.

use super::router::Alone;
use chappe_core::net::routing::Out;
use chappe_core::packet::{Body, BrokenLink, Datagram, DsrRequest, FlowState, NodeId, PacketId, Reason};
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

impl Bench {
    /// A router with lines of `[routing.dsr]` that does not wait at random.
    fn new(preset: &str, change: &str) -> Bench {
        let text = format!(
            "extends = \"{preset}\"\nrun.stop = \"1 s\"\nrouting.protocol = \"dsr\"\n[routing.dsr]\n\
             broadcast_jitter = \"0 s\"\nreply_jitter = \"0 s\"\ncheck_min = \"40 ms\"\ncheck_max = \"40 ms\"\n{change}"
        );
        Bench(Alone::new(&text, 0))
    }

    /// A packet with a route, at the place in it of the node that sends it.
    fn packet(&mut self, body: Body, to: u32, route: &[u32], at: usize) -> PacketId {
        let source = NodeId(route.first().copied().unwrap_or(0));
        let packet = self.create(body, 512, source, NodeId(to));
        self.slab[packet].hops = 0;
        self.slab[packet].next_hop = NodeId(route.get(at + 1).copied().unwrap_or(u32::MAX));
        if !route.is_empty() {
            let header = self.slab.new_header(packet);
            self.slab.header_mut(header).route = ids(route);
            self.slab.header_mut(header).at = at;
        }
        packet
    }

    fn data(&mut self, to: u32, route: &[u32], at: usize) -> PacketId {
        self.packet(Body::Datagram(Datagram { seq: 0 }), to, route, at)
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
        let header = self.slab[packet].header;
        self.slab.header_mut(header).reply = ids(way);
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// A request comes that has passed these nodes.
    fn request(&mut self, id: u32, target: u32, passed: &[u32]) -> Vec<Out> {
        let request = DsrRequest { id, target: NodeId(target), propagates: true };
        let packet = self.packet(Body::DsrRequest(request), u32::MAX, passed, 0);
        self.slab[packet].bytes = 32;
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// What was sent: size, next hop, route, and what a reply says.
    fn sent(&self, said: &[Out]) -> Vec<(u32, u32, Vec<NodeId>, Vec<NodeId>)> {
        let sent = said.iter().filter_map(|o| if let Out::Send { packet, .. } = o { Some(*packet) } else { None });
        sent.map(|p| {
            let (p, header) = (&self.slab[p], self.slab.header(self.slab[p].header));
            (p.bytes, p.next_hop.0, header.route.clone(), header.reply.clone())
        })
        .collect()
    }

    /// Requests up to an instant [s], with a datagram every half second: when [ms], and whether they are passed on.
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
                    && let Body::DsrRequest(request) = self.slab[packet].body
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
    // ns-2 asks at 1, 3, 11, 21, 31 s; each time the neighbours first, and all at the first look after 30 ms.
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
    let broken = BrokenLink { from: NodeId(0), to: NodeId(2) };
    // Error: 20 + 4 + 4 + 16; data: 512 + 4 + 4 * 3.
    assert_eq!(b.sent(&said), [(44, 7, ids(&[0, 7]), vec![]), (528, 3, ids(&[0, 3, 4, 9]), vec![])]);
    let Out::Send { packet: error, .. } = said[0] else { panic!("{said:?}") };
    assert_eq!(b.slab.header(b.slab[error].header).errors, [broken]);
    assert_eq!(said.last(), Some(&Out::Return { next_hop: NodeId(2) }));
    let header = b.slab[packet].header;
    assert_eq!(b.slab.header(header).salvaged, 1);
    b.slab.header_mut(header).salvaged = 15;
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert!(said.contains(&Out::Drop { packet, reason: Reason::RetryLimit }), "{said:?}");
}

#[test]
fn where_ns2_knows_no_other_way_the_packet_waits_for_one_request() {
    let mut b = Bench::new("ns2-2.35", "check_always = false");
    let packet = b.data(9, &[7, 0, 2, 9], 1);
    b.call(|r, cx| r.on_link_failure(packet, cx));
    assert_eq!(b.router.waiting(), 1);
    let mut seen = vec![];
    while b.router.deadline() != Time::NEVER {
        b.now = b.router.deadline();
        for out in b.call(|r, cx| r.on_deadline(cx)) {
            let what = match out {
                Out::Send { packet, .. } => match b.slab[packet].body {
                    Body::DsrRequest(request) => format!("request {}", request.propagates),
                    other => format!("{other:?}"),
                },
                Out::Drop { reason, .. } => format!("{reason:?}"),
                other => format!("{other:?}"),
            };
            seen.push((b.now.0 / 1_000_000, what));
        }
    }
    assert_eq!(seen, [(40, "request false".into()), (2040, "NoRoute".to_owned())]);
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
}

#[test]
fn a_node_that_does_not_know_a_flow_says_so() {
    let mut b = Bench::new("ns2-2.35", "");
    let packet = b.data(9, &[7, 0, 2, 9], 0);
    let header = b.slab[packet].header;
    b.slab.header_mut(header).flow = FlowState::Follows(1);
    let said = b.call(|r, cx| r.route(packet, cx));
    assert!(said.contains(&Out::Drop { packet, reason: Reason::NoRoute }), "{said:?}");
    assert_eq!(b.sent(&said)[0].1, 7);
    // With the route in the packet it is known from then on, for 60 s.
    for (seconds, flow, known) in
        [(0, FlowState::Establishes(1), true), (59, FlowState::Follows(1), true), (120, FlowState::Follows(1), false)]
    {
        b.now = Time::ZERO + Span::secs(seconds);
        let packet = b.data(9, &[7, 0, 2, 9], 0);
        let header = b.slab[packet].header;
        b.slab.header_mut(header).flow = flow;
        let said = b.call(|r, cx| r.route(packet, cx));
        assert_eq!(said.contains(&Out::Send { packet, delay: Span::ZERO }), known, "at {seconds} s: {said:?}");
    }
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
    for (to, next, hops) in [(4, 2, 3), (1, 2, 2)] {
        let mut routes = vec![];
        b.router.routes(NodeId(0), b.now, &mut routes);
        let found = routes.iter().find(|r| r.destination == NodeId(to)).map(|r| (r.next_hop.0, r.hops));
        assert_eq!(found, Some((next, hops)));
    }
}
