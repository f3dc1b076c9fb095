//! One DSDV router alone: its updates and their times. A trace of ns-2.35 in which a neighbor leaves and returns is
//! replayed in `tests/ns2/routing.rs`.

use super::router::Alone;
use chappe_core::net::routing::Out;
use chappe_core::packet::{Body, Datagram, Listed, NodeId};
use chappe_core::unit::{Span, Time};

/// No route.
const INFINITE: u8 = 250;

/// A router at node 1.
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

/// Time [ms], and destination, metric and sequence number of each entry of an update.
type Update = (u64, Vec<(u32, u8, u32)>);

fn at(s: f64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

impl Bench {
    /// A router with lines of `[routing.dsdv]`, whose first full update comes at once.
    fn new(preset: &str, change: &str) -> Bench {
        let text = format!(
            "extends = \"{preset}\"\nrun.stop = \"1 s\"\nrouting.protocol = \"dsdv\"\n[routing.dsdv]\n\
             first_update = \"0 s\"\nbroadcast_jitter = \"0 s\"\nupdate_spread = 0\n{change}"
        );
        Bench(Alone::new(&text, 1))
    }

    /// An update of a neighbor arrives.
    fn hear(&mut self, s: f64, from: u32, entries: &[(u32, u8, u32)]) -> Vec<Out> {
        self.now = at(s);
        let list = self.pool.new_list();
        let listed = |&(node, hops, sequence): &(u32, u8, u32)| Listed { node: NodeId(node), sequence, hops };
        self.pool.list_mut(list).extend(entries.iter().map(listed));
        let packet = self.create(Body::Update(list), 512, NodeId(from), NodeId::BROADCAST);
        self.call(|r, cx| r.on_message(packet, cx))
    }

    /// A datagram is to be sent, of this node or of another.
    fn send(&mut self, source: u32, to: u32) -> Vec<Out> {
        let packet = self.create(Body::Datagram(Datagram::default()), 512, NodeId(source), NodeId(to));
        self.call(|r, cx| r.route(packet, cx))
    }

    /// Updates sent up to an instant.
    fn updates(&mut self, until: f64) -> Vec<Update> {
        let mut found = vec![];
        while self.router.deadline() <= at(until) {
            self.now = self.router.deadline();
            for out in self.call(|r, cx| r.on_deadline(cx)) {
                let Out::Send { packet, .. } = out else { continue };
                let Body::Update(list) = self.pool[packet].body else { panic!("an update") };
                let entries = self.pool.list(list).iter().map(|l| (l.node.0, l.hops, l.sequence)).collect();
                found.push(((self.now.as_secs() * 1e3).round() as u64, entries));
            }
        }
        self.now = at(until);
        found
    }

    fn next_hops(&self) -> Vec<(u32, u32, u32)> {
        let mut routes = vec![];
        self.router.routes(NodeId(1), self.now, &mut routes);
        routes.iter().map(|r| (r.destination.0, r.next_hop.0, r.hops)).collect()
    }
}

#[test]
fn a_neighbor_is_lost_after_45_s_in_ns2_and_comes_back() {
    let mut b = Bench::new("ns2-2.35", "");
    assert_eq!(b.updates(1.0), [(0, vec![(1, 0, 4)])], "its own entry, 20 + 12 B");
    // A new destination is kept back for 12 s and then told by itself; this router tells all it may every 15 s.
    b.hear(1.5, 0, &[(0, 0, 4)]);
    b.hear(1.6, 2, &[(2, 0, 4)]);
    assert_eq!(b.updates(13.55), [(13_500, vec![(0, 1, 4)])]);
    // The trigger for node 2 comes 0.1 s after that and waits for the second to end.
    assert_eq!(b.updates(14.6), [(14_500, vec![(0, 1, 4), (2, 1, 4)])], "the metric of 0 is still to be told");
    assert_eq!(b.updates(15.1), [(15_000, vec![(1, 0, 6), (0, 1, 4), (2, 1, 4)])]);
    // 45 s after the last update of node 2, in between heard of only from node 0.
    for (s, number) in [(16.0, 6), (30.0, 8), (44.0, 10)] {
        b.hear(s, 0, &[(0, 0, number)]);
    }
    assert_eq!(b.updates(45.1).len(), 2, "at 30 s and 45 s");
    assert_eq!(b.next_hops(), [(0, 0, 1), (2, 2, 1)]);
    assert_eq!(b.updates(46.7), [(46_600, vec![(2, INFINITE, 5)])], "VTO: 45 s after 1.6 s, an odd number");
    assert_eq!(b.next_hops(), [(0, 0, 1)]);
    // It comes back and has lost everybody: it is told that node 0 is there, and that this node is.
    b.hear(58.0, 0, &[(0, 0, 12)]);
    b.hear(58.5, 2, &[(2, 0, 24), (0, INFINITE, 5), (1, INFINITE, 5)]);
    assert_eq!(
        b.updates(58.6),
        [(58_500, vec![(0, 1, 12), (2, 1, 24)]), (58_500, vec![(1, 0, 12), (0, 1, 12), (2, 1, 24)])]
    );
}

#[test]
fn settling_of_ns2_is_averaged() {
    // Holds of 12, 10.5, 9.1875 s while nothing changes within a number: twice 6 s, 0.875 of that, ...
    let mut b = Bench::new("ns2-2.35", "update_interval = \"1000 s\"");
    b.updates(0.5);
    for (s, number, held) in [(1.0, 4, 12.0), (20.0, 6, 10.5), (40.0, 8, 9.1875)] {
        b.hear(s, 2, &[(2, 0, number)]);
        // Others are new, and their triggers come a little before the hold of node 2 ends, and a little after it.
        b.hear(s + held - 12.0 - 0.6, 0, &[(100 + number, 0, 4)]);
        b.hear(s + held - 12.0 + 0.6, 0, &[(101 + number, 0, 4)]);
        let told = b.updates(s + 19.0);
        let when = |to: u32| told.iter().find(|u| u.1.iter().any(|e| e.0 == to)).map(|u| u.0);
        let ends = ((s + held) * 1e3) as u64;
        assert!(when(100 + number) < Some(ends) && when(2) >= Some(ends) && when(2) <= Some(ends + 601), "{told:?}");
    }
    // A shorter route of the same number 4 s later: that is what it took to settle.
    b.hear(60.0, 0, &[(7, 3, 4)]);
    b.hear(64.0, 2, &[(7, 1, 4)]);
    assert_eq!(b.next_hops().iter().find(|r| r.0 == 7), Some(&(7, 2, 2)));
    let told = b.updates(77.0);
    assert_eq!(told.last().map(|u| u.0), Some(76_000), "12 s after the shorter one: {told:?}");
    // 0.875 * 6 s + 0.125 * 4 s = 5.75 s
    b.hear(80.0, 2, &[(7, 1, 6)]);
    b.hear(80.0, 0, &[(7, 0, 6)]);
    let told = b.updates(95.0);
    assert!(matches!(told.last(), Some((91_500, entries)) if entries.contains(&(7, 1, 6))), "{told:?}");
}

#[test]
fn packets_wait_for_a_route_five_for_each_destination() {
    let mut b = Bench::new("ns2-2.35", "");
    b.updates(0.5);
    for _ in 0..5 {
        assert_eq!(b.send(1, 9), [], "it waits");
    }
    assert!(matches!(b.send(1, 9)[..], [Out::Drop { .. }]), "the oldest makes room");
    b.send(0, 9);
    assert_eq!(b.router.waiting(), 5);
    let released = b.hear(1.0, 2, &[(9, 1, 4)]);
    let bytes: Vec<u32> = released
        .iter()
        .map(|o| match *o {
            Out::Send { packet, delay: Span::ZERO } => b.pool[packet].bytes,
            _ => panic!("{o:?}"),
        })
        .collect();
    assert_eq!(bytes, [532, 532, 532, 532, 512], "own datagrams have their IP header twice");
    let said = b.send(1, 9);
    assert!(matches!(said[..], [Out::Send { packet, .. }] if b.pool[packet].bytes == 512), "{said:?}");
}

#[test]
fn packets_for_unknown_destinations_bring_an_update_of_ns2_forward() {
    let mut b = Bench::new("ns2-2.35", "");
    b.updates(0.5);
    b.now = at(3.0);
    (10..13).for_each(|to| _ = b.send(1, to));
    assert_eq!(b.updates(4.0), [], "three changes, nothing to tell");
    let mut b = Bench::new("ns2-2.35", "");
    b.updates(0.5);
    b.now = at(3.0);
    (10..14).for_each(|to| _ = b.send(1, to));
    assert_eq!(b.updates(4.0), [(3000, vec![(1, 0, 6)])], "four changes of five entries: a full update");
}

#[test]
fn an_update_that_is_not_taken_releases_nothing() {
    // ns-2 loops forever here: a finite metric with an old number for a destination that is lost.
    let mut b = Bench::new("ns2-2.35", "");
    b.hear(1.0, 2, &[(2, 0, 4), (9, 1, 4)]);
    b.hear(2.0, 2, &[(9, INFINITE, 5)]);
    b.send(1, 9);
    assert_eq!(b.hear(3.0, 0, &[(9, 1, 4)]), []);
    assert_eq!(b.router.waiting(), 1);
    assert_eq!(b.hear(4.0, 0, &[(9, 1, 6)]).len(), 1);
}

#[test]
fn changes_are_advertised_at_once_and_fluctuations_held_back() {
    let mut b = Bench::new("standard", "");
    assert_eq!(b.updates(0.5).len(), 1);
    // "Newly recorded routes are scheduled for immediate advertisement."
    b.hear(2.0, 2, &[(2, 0, 4), (9, 2, 4)]);
    assert_eq!(b.updates(2.5), [(2000, vec![(2, 1, 4), (9, 3, 4)])]);
    // A fresh number with the same metric is not worth an update of its own, but is in the next full one.
    b.hear(4.0, 2, &[(2, 0, 6), (9, 2, 6)]);
    assert_eq!(b.updates(15.1), [(15_000, vec![(1, 0, 6), (2, 1, 6), (9, 3, 6)])]);
    // A longer way with a fresh number waits for twice the settling time of 0.875 * 0.875 * 6 s: a shorter one comes.
    b.hear(16.0, 0, &[(9, 3, 8)]);
    b.hear(17.0, 2, &[(9, 2, 8)]);
    assert_eq!(b.updates(29.9), [], "back where it was");
    assert_eq!(b.next_hops(), [(2, 2, 1), (9, 2, 3)]);
    // Broken links are told at once.
    let packet = b.create(Body::Datagram(Datagram::default()), 512, NodeId(1), NodeId(9));
    b.pool[packet].next_hop = NodeId(2);
    let said = b.call(|r, cx| r.on_link_failure(packet, cx));
    assert!(said.contains(&Out::Purge { next_hop: NodeId(2) }), "{said:?}");
    assert_eq!(b.updates(29.95), [(29_900, vec![(2, INFINITE, 7), (9, INFINITE, 9)])]);
    assert_eq!(b.next_hops(), []);
}

#[test]
fn a_trigger_that_comes_too_soon_waits() {
    let mut b = Bench::new("standard", "");
    b.updates(0.5);
    b.hear(2.0, 2, &[(2, 0, 4)]);
    assert_eq!(b.updates(2.2).len(), 1);
    b.hear(2.3, 0, &[(0, 0, 4)]);
    b.hear(2.6, 0, &[(8, 0, 4)]);
    assert_eq!(b.updates(4.0), [(3000, vec![(0, 1, 4), (8, 1, 4)])]);
}

#[test]
fn returning_node_accepts_no_route_from_its_users() {
    let mut b = Bench::new("standard", "");
    b.hear(2.0, 2, &[(2, 0, 4), (9, 1, 4)]);
    b.updates(3.0);
    b.call(|r, cx| r.switch_off(cx));
    assert_eq!((b.next_hops(), b.router.deadline()), (vec![], Time::NEVER));
    b.now = at(5.0);
    b.call(|r, cx| r.switch_on(cx));
    b.hear(5.1, 0, &[(9, 3, 4)]);
    assert_eq!(b.next_hops(), [], "node 0 has it from here");
    assert_eq!(b.updates(5.2), [(5000, vec![(1, 0, 6)])], "nor does it tell what it has lost");
    b.hear(6.0, 0, &[(9, 3, 6)]);
    assert_eq!(b.next_hops(), [(9, 0, 4)]);
}

#[test]
fn node_reported_lost_answers_once() {
    // Three neighbors say so, two of them before they have heard the answer, the last with an old number.
    let said = |b: &mut Bench| {
        b.updates(0.5);
        let mut told = vec![];
        for (s, from, number) in [(5.0, 0, 5), (5.2, 2, 5), (5.4, 3, 3)] {
            b.hear(s, from, &[(1, INFINITE, number)]);
            told.extend(b.updates(s + 0.1));
        }
        told.into_iter().map(|u| (u.0, u.1[0])).collect::<Vec<_>>()
    };
    assert_eq!(said(&mut Bench::new("standard", "")), [(5000, (1, 0, 6))]);
    let always = [(5000, (1, 0, 6)), (5200, (1, 0, 8)), (5400, (1, 0, 10))];
    assert_eq!(said(&mut Bench::new("standard", "ns2.answer_always = true")), always);
    assert_eq!(said(&mut Bench::new("ns2-2.35", "")), always);
    // Newer numbers, of before it was switched off, say: as far apart as triggered updates.
    let mut b = Bench::new("standard", "");
    b.updates(0.5);
    b.hear(0.6, 0, &[(1, INFINITE, 9)]);
    assert_eq!(b.updates(3.0), [(1000, vec![(1, 0, 6)])]);
    b.hear(3.0, 0, &[(1, INFINITE, 9)]);
    assert_eq!(b.updates(3.1), [(3000, vec![(1, 0, 8)])]);
    b.hear(3.1, 2, &[(1, INFINITE, 9)]);
    assert_eq!(b.updates(14.0), [(4000, vec![(1, 0, 10)])]);
}

#[test]
fn long_tables_go_in_several_messages() {
    let mut b = Bench::new("standard", "max_entries = 3");
    b.updates(0.5);
    b.hear(2.0, 2, &[(2, 0, 4), (5, 1, 4), (6, 1, 4), (7, 1, 4)]);
    let sizes: Vec<(u64, usize)> = b.updates(17.5).iter().map(|u| (u.0, u.1.len())).collect();
    assert_eq!(sizes, [(2000, 3), (2000, 2), (17_000, 3), (17_000, 2)], "four changes, and 15 s after that");
}
