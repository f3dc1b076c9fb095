//! One router of batman-adv alone: its messages, their times, qualities and routes.

use super::router::Alone;
use chappe_core::net::routing::Out;
use chappe_core::packet::ogm::{Ogm, TTL, ogms};
use chappe_core::packet::{Body, Datagram, NodeId, Reason};
use chappe_core::unit::{Span, Time};
use std::collections::BTreeMap;

/// A router at node 0, and the number of the next message of each other node.
struct Bench {
    alone: Alone,
    numbers: BTreeMap<u32, u32>,
}

/// Messages of a packet, with its size and the time at which it was sent \[ms\].
struct Sent {
    ms: f64,
    bytes: u32,
    ogms: Vec<Ogm>,
}

impl Sent {
    fn own(&self) -> Option<&Ogm> {
        self.ogms.iter().find(|ogm| ogm.originator == NodeId(0))
    }
}

impl Bench {
    /// A router with lines of `[routing.batman_adv]`.
    fn new(change: &str) -> Bench {
        let text = format!("run.stop = \"1 s\"\nrouting.protocol = \"batman_adv\"\n[routing.batman_adv]\n{change}");
        Bench { alone: Alone::new(&text, 0), numbers: BTreeMap::new() }
    }

    /// A message of a node, as the node itself sends it.
    fn next(&mut self, node: u32) -> Ogm {
        let number = self.numbers.entry(node).or_insert(1000 * node);
        *number += 1;
        Ogm {
            originator: NodeId(node),
            seqno: *number,
            ttl: TTL,
            tq: 255,
            prev_sender: NodeId(node),
            direct_link: false,
            not_best_next_hop: false,
            is_gateway: false,
        }
    }

    /// A message arrives now from a neighbor.
    fn hear(&mut self, from: u32, ogm: Ogm) {
        let list = self.alone.pool.new_list();
        ogm.write(self.alone.pool.list_mut(list));
        let packet = self.alone.create(Body::Ogm(list), 52, NodeId(from), NodeId::BROADCAST);
        assert_eq!(self.alone.call(|r, cx| r.on_message(packet, cx)), []);
    }

    /// Waits for the next timer; returns the packets that are sent, and the destinations that are lost.
    fn step(&mut self) -> (Vec<Sent>, Vec<u32>) {
        self.alone.now = self.alone.router.deadline();
        let ms = self.alone.now.as_secs() * 1e3;
        let (mut sent, mut lost) = (vec![], vec![]);
        for out in self.alone.call(|r, cx| r.on_deadline(cx)) {
            match out {
                Out::Send { packet, delay: Span::ZERO } => {
                    let Body::Ogm(list) = self.alone.pool[packet].body else { panic!("originator messages") };
                    let bytes = self.alone.pool[packet].bytes;
                    sent.push(Sent { ms, bytes, ogms: ogms(self.alone.pool.list(list)).collect() });
                }
                Out::RouteLost { destination, anew: true } => lost.push(destination.0),
                other => panic!("{other:?}"),
            }
        }
        (sent, lost)
    }

    /// Packets sent up to an instant.
    fn sent(&mut self, until: f64) -> Vec<Sent> {
        let mut found = vec![];
        let end = Time::ZERO + Span::from_secs(until);
        while self.alone.router.deadline() <= end {
            found.append(&mut self.step().0);
        }
        self.alone.now = end;
        found
    }

    /// Until the next message of this node is sent; returns that.
    fn own(&mut self) -> Ogm {
        loop {
            if let Some(own) = self.step().0.iter().find_map(|s| s.own().copied()) {
                return own;
            }
        }
    }

    /// Until the next message of this node is sent, which some neighbors repeat; of others a message is heard.
    fn round(&mut self, echoing: &[u32], heard: &[u32]) {
        let own = self.own();
        for &from in echoing {
            let echo = Ogm { ttl: TTL - 1, tq: 0, direct_link: true, not_best_next_hop: true, ..own };
            self.hear(from, echo);
        }
        // Messages that are not heard have numbers, too.
        for node in [7, 8] {
            let ogm = self.next(node);
            if heard.contains(&node) {
                self.hear(node, ogm);
            }
        }
    }

    /// Neighbors 7 and 8, whose links lose nothing.
    fn between_perfect_links(change: &str) -> Bench {
        let mut b = Bench::new(change);
        (0..80).for_each(|_| b.round(&[7, 8], &[7, 8]));
        assert_eq!(b.table(), [(7, 7, 1), (8, 8, 1)]);
        b
    }

    /// A message of node 9, forwarded by neighbors with these qualities.
    fn of_nine(&mut self, copies: &[(u32, u8)]) {
        let ogm = self.next(9);
        for &(from, tq) in copies {
            self.hear(from, Ogm { ttl: TTL - 1, tq, ..ogm });
        }
    }

    fn tq(&self, to: u32, via: u32) -> Option<f64> {
        self.alone.router.metric_over(NodeId(0), NodeId(to), NodeId(via))
    }

    /// Destination, next hop and hops.
    fn table(&self) -> Vec<(u32, u32, u32)> {
        let mut routes = vec![];
        self.alone.router.routes(NodeId(0), self.alone.now, &mut routes);
        routes.iter().map(|r| (r.destination.0, r.next_hop.0, r.hops)).collect()
    }

    fn counted(&self, name: &str) -> u64 {
        self.alone.router.counted().get(name)
    }
}

#[test]
fn own_messages_come_every_second_with_a_jitter() {
    let mut b = Bench::new("");
    let sent = b.sent(400.0);
    assert!(sent[0].ms < 1000.0);
    for pair in sent.windows(2) {
        let gap = pair[1].ms - pair[0].ms;
        assert!((980.0..=1020.0).contains(&gap), "{gap} ms");
        let [last, next] = [&pair[0], &pair[1]].map(|s| s.own().expect("an own message"));
        assert_eq!(*next, Ogm { seqno: last.seqno.wrapping_add(1), ..*last });
        assert_eq!((pair[1].bytes, next.ttl, next.tq, next.prev_sender), (52, 50, 255, NodeId(0)));
    }
    let mean = (sent.last().expect("a message").ms - sent[0].ms) / (sent.len() - 1) as f64;
    assert!((mean - 1000.0).abs() < 3.0, "{mean} ms");
    assert_eq!(b.counted("routing_bytes_sent"), 52 * sent.len() as u64);
}

#[test]
fn qualities_of_links_are_those_of_linux() {
    // Of 64 messages: those of the neighbor that are heard, and own ones that come back.
    let quality = |heard_every: u32, echoed_every: u32| {
        let mut b = Bench::new("");
        for i in 0..300 {
            let heard: &[u32] = if i % heard_every == 0 { &[7] } else { &[] };
            let echoed: &[u32] = if i % echoed_every == 0 { &[7] } else { &[] };
            b.round(echoed, heard);
        }
        b.tq(7, 7).expect("a link")
    };
    assert_eq!(quality(1, 1), 255.0);
    assert_eq!(quality(1, 2), 127.0); // 32, 64
    assert_eq!(quality(2, 2), 224.0); // 32, 32
    assert_eq!(quality(2, 4), 111.0); // 16, 32
    assert_eq!(quality(8, 8), 85.0); // 8, 8
}

#[test]
fn a_new_link_grows_with_its_windows() {
    let mut b = Bench::new("");
    b.round(&[], &[7]);
    b.round(&[], &[7]);
    assert_eq!((b.table(), b.tq(7, 7)), (vec![], None), "nothing was echoed");
    b.round(&[7], &[7]);
    // One echo, and two messages heard after the first one: 127, and 1 - (62/64)^3 of that.
    assert_eq!((b.table(), b.tq(7, 7)), (vec![(7, 7, 1)], Some(11.0)));
    let grown: Vec<f64> = (0..70).map(|_| (b.round(&[7], &[7]), b.tq(7, 7).expect("a link")).1).collect();
    assert!(grown.windows(2).all(|w| w[0] <= w[1]), "{grown:?}");
    assert_eq!(*grown.last().expect("it grows"), 255.0);
}

#[test]
fn messages_of_neighbors_are_repeated_alone_and_with_a_mark_if_they_are_no_way() {
    let mut b = Bench::new("");
    b.sent(10.0);
    let ogm = b.next(7);
    b.hear(7, ogm);
    let sent: Vec<Sent> = b.sent(10.2).into_iter().filter(|s| s.own().is_none()).collect();
    assert_eq!(sent.len(), 1);
    assert!((10_100.0..=10_110.0).contains(&sent[0].ms), "{} ms", sent[0].ms);
    let echo = Ogm { ttl: 49, tq: 0, prev_sender: NodeId(7), direct_link: true, not_best_next_hop: true, ..ogm };
    assert_eq!((sent[0].bytes, &sent[0].ogms[..]), (52, &[echo][..]));
    assert_eq!((b.counted("ogm_echoed"), b.counted("ogm_forwarded")), (1, 0));
    // Over a link that is in use the quality is that of the link, with the penalties of hop and radio.
    let mut b = Bench::between_perfect_links("");
    let ogm = b.next(7);
    b.hear(7, ogm);
    let until = b.alone.now.as_secs() + 0.2;
    let repeated: Vec<Ogm> = b.sent(until).into_iter().flat_map(|s| s.ogms).filter(|o| o.seqno == ogm.seqno).collect();
    assert_eq!(repeated, [Ogm { ttl: 49, tq: 198, prev_sender: NodeId(7), direct_link: true, ..ogm }]);
}

#[test]
fn the_way_with_the_best_average_is_taken_and_missing_messages_end_it() {
    let mut b = Bench::between_perfect_links("");
    b.of_nine(&[(7, 200), (8, 240)]);
    assert_eq!((b.table()[2], b.tq(9, 7), b.tq(9, 8)), ((9, 8, 2), Some(200.0), Some(240.0)));
    // Averages of five messages without those that did not come.
    b.of_nine(&[(7, 255), (8, 200)]);
    assert_eq!((b.tq(9, 7), b.tq(9, 8)), (Some(227.0), Some(220.0)));
    assert_eq!(b.table()[2].1, 8, "a way is looked at when a message comes over it");
    b.of_nine(&[(7, 255)]);
    assert_eq!((b.tq(9, 7), b.table()[2].1), (Some(236.0), 7));
    for _ in 0..10 {
        b.of_nine(&[(8, 240), (7, 200)]);
    }
    assert_eq!(b.table()[2], (9, 8, 2));
    // Node 8 falls silent: four messages over node 7 alone change nothing, the fifth does.
    for _ in 0..4 {
        b.of_nine(&[(7, 200)]);
        assert_eq!((b.tq(9, 8), b.table()[2].1), (Some(240.0), 8));
    }
    b.of_nine(&[(7, 200)]);
    assert_eq!((b.tq(9, 8), b.table()[2].1), (None, 7));
}

#[test]
fn a_packet_that_the_mac_gives_up_changes_no_route() {
    let mut b = Bench::between_perfect_links("");
    let packet = b.alone.create(Body::Datagram(Datagram::default()), 100, NodeId(0), NodeId(7));
    b.alone.call(|r, cx| r.route(packet, cx));
    let out = b.alone.call(|r, cx| r.on_link_failure(packet, cx));
    assert_eq!(out, [Out::Drop { packet, reason: Reason::RetryLimit }]);
    assert_eq!(b.table(), [(7, 7, 1), (8, 8, 1)]);
}

#[test]
fn messages_of_others_are_forwarded_from_the_next_hop_only_with_two_penalties() {
    let mut b = Bench::between_perfect_links("");
    b.of_nine(&[(7, 200), (8, 240)]);
    let until = b.alone.now.as_secs() + 0.2;
    let of_nine = |sent: Vec<Sent>| -> Vec<Ogm> {
        sent.into_iter().flat_map(|s| s.ogms).filter(|o| o.originator == NodeId(9)).collect()
    };
    assert_eq!(of_nine(b.sent(until)), [], "there was no route before");
    b.of_nine(&[(7, 200), (8, 240)]);
    let until = b.alone.now.as_secs() + 0.2;
    let seqno = b.numbers[&9];
    // 240 225/255 = 211, and 211 225/255 = 186.
    let expected = Ogm { ttl: 48, tq: 186, prev_sender: NodeId(8), seqno, ..b.next(9) };
    assert_eq!(of_nine(b.sent(until)), [expected]);
    // The last hop of a TTL, and a quality that is too low.
    let last = Ogm { ttl: 1, ..b.next(9) };
    b.hear(8, last);
    b.of_nine(&[(8, 1)]);
    let until = b.alone.now.as_secs() + 0.2;
    assert_eq!(of_nine(b.sent(until)), []);
}

#[test]
fn messages_that_could_lead_in_circles_are_ignored() {
    let mut b = Bench::between_perfect_links("");
    b.of_nine(&[(8, 240)]);
    b.of_nine(&[(8, 240)]);
    let ogm = Ogm { ttl: TTL - 2, tq: 250, ..b.next(9) };
    b.hear(7, Ogm { prev_sender: NodeId(8), ..ogm });
    b.hear(7, Ogm { prev_sender: NodeId(0), ..ogm });
    b.hear(7, Ogm { not_best_next_hop: true, ..ogm });
    b.hear(7, Ogm { tq: 0, ..ogm });
    // From a node to which there is no route.
    b.hear(5, ogm);
    assert_eq!((b.tq(9, 7), b.tq(9, 5), b.table()[2].1), (None, None, 8));
    b.hear(7, Ogm { prev_sender: NodeId(6), seqno: ogm.seqno + 1, ..ogm });
    assert_eq!(b.tq(9, 7), Some(250.0));
}

#[test]
fn messages_of_distant_nodes_leave_together() {
    let far = |change: &str| {
        let mut b = Bench::between_perfect_links(change);
        let begin = b.alone.now.as_secs();
        let mut sent = vec![];
        for (i, node) in [20, 21, 22].into_iter().enumerate() {
            for _ in 0..2 {
                let ogm = Ogm { ttl: TTL - 1, tq: 200, ..b.next(node) };
                b.hear(7, ogm);
            }
            // Longer than the jitter.
            sent.extend(b.sent(begin + 0.011 * (i + 1) as f64));
        }
        sent.extend(b.sent(begin + 0.3));
        let far = sent.iter().filter(|s| s.ogms.iter().any(|o| o.originator.0 >= 20));
        far.map(|s| (s.ogms.len(), s.bytes)).collect::<Vec<_>>()
    };
    // Their first messages were not forwarded.
    assert_eq!(far(""), [(3, 156)]);
    assert_eq!(far("aggregation = false"), [(1, 52); 3]);
    assert_eq!(far("ogm_size = \"200 B\""), [(2, 400), (1, 200)]);
}

#[test]
fn an_own_message_takes_others_with_it() {
    let mut b = Bench::between_perfect_links("");
    b.of_nine(&[(7, 200)]);
    let until = b.alone.now.as_secs() + 0.95;
    b.sent(until);
    b.of_nine(&[(7, 200)]);
    let sent = loop {
        let found = b.step().0;
        if let Some(sent) = found.into_iter().find(|s| s.own().is_some()) {
            break sent;
        }
    };
    assert_eq!(sent.ogms.iter().map(|o| o.originator.0).collect::<Vec<_>>(), [0, 9]);
}

#[test]
fn a_node_that_restarts_is_believed_once_in_thirty_seconds() {
    let mut b = Bench::between_perfect_links("");
    let jump = |b: &mut Bench| {
        *b.numbers.get_mut(&7).expect("a number") += 1_000_000;
        b.round(&[7, 8], &[7, 8]);
        b.tq(7, 7).expect("a link")
    };
    // The window begins anew: one message of 64, 12 of 255, in an average of five.
    assert_eq!(jump(&mut b), f64::from((4 * 255 + 12) / 5));
    let after = jump(&mut b);
    assert_eq!(after, f64::from((4 * 255 + 12) / 5), "the number is not believed");
    (0..31).for_each(|_| b.round(&[7, 8], &[8]));
    assert!(jump(&mut b) < 207.0);
}

#[test]
fn a_silent_node_is_forgotten_after_200_seconds() {
    let mut b = Bench::between_perfect_links("");
    let last = b.alone.now.as_secs();
    let mut lost = vec![];
    for _ in 0..210 {
        loop {
            let (sent, gone) = b.step();
            lost.extend(gone.into_iter().map(|node| (node, b.alone.now.as_secs() - last)));
            if sent.iter().any(|s| s.own().is_some()) {
                break;
            }
        }
        let ogm = b.next(8);
        b.hear(8, ogm);
    }
    assert_eq!(lost.iter().map(|l| l.0).collect::<Vec<_>>(), [7]);
    assert!((200.0..202.0).contains(&lost[0].1), "{lost:?}");
    assert_eq!(b.table(), [(8, 8, 1)]);
}

#[test]
fn data_have_headers_of_24_bytes_at_every_hop() {
    let mut b = Bench::between_perfect_links("");
    let own = b.alone.create(Body::Datagram(Datagram::default()), 100, NodeId(0), NodeId(7));
    assert_eq!(b.alone.call(|r, cx| r.route(own, cx)), [Out::Send { packet: own, delay: Span::ZERO }]);
    assert_eq!((b.alone.pool[own].bytes, b.alone.pool[own].next_hop), (124, NodeId(7)));
    // Of another node, which has added them.
    let passing = b.alone.create(Body::Datagram(Datagram::default()), 100, NodeId(7), NodeId(8));
    b.alone.pool[passing].add_overhead(24);
    b.alone.call(|r, cx| r.route(passing, cx));
    let p = &b.alone.pool[passing];
    assert_eq!((p.bytes, p.next_hop, p.ttl), (124, NodeId(8), 31));
    assert_eq!(b.counted("routing_header_bytes"), 48);
    let lost = b.alone.create(Body::Datagram(Datagram::default()), 100, NodeId(0), NodeId(30));
    let out = b.alone.call(|r, cx| r.route(lost, cx));
    assert_eq!(out, [Out::Drop { packet: lost, reason: Reason::NoRoute }]);
}

#[test]
fn a_node_that_is_off_knows_and_says_nothing() {
    let mut b = Bench::between_perfect_links("");
    let before = b.own().seqno;
    b.alone.call(|r, cx| r.switch_off(cx));
    assert_eq!((b.table(), b.alone.router.deadline()), (vec![], Time::NEVER));
    b.alone.call(|r, cx| r.switch_on(cx));
    assert!(b.own().seqno.wrapping_sub(before) > 1, "the number is a random one");
}
