//! Tests common to all disciplines, and a test bench for each.

use super::*;
use crate::packet::{AckSegment, Body, DataSegment, Fate, FlowId, Packet, Rrep};
use crate::rng::Purpose;
use proptest::prelude::*;

/// A queue with a packet pool.
pub(super) struct Bench {
    pub queue: Queue,
    pub pool: PacketPool,
    pub now: Time,
    /// Dropped packets as sequence numbers, with time and reason.
    pub dropped: Vec<(Time, u32, Reason)>,
    pub seq: u32,
}

impl Bench {
    pub fn new(cfg: &Config, rate: BitRate) -> Bench {
        let outlet = Outlet { rate, delay: Span::ZERO };
        let queue = Queue::new(cfg, outlet, Stream::new(1, Purpose::Queue, 0));
        Bench { queue, pool: PacketPool::default(), now: Time::ZERO, dropped: vec![], seq: 0 }
    }

    pub fn packet(&mut self, flow: u32, bytes: u32, ecn: Ecn) -> PacketId {
        let segment = DataSegment { seq: self.seq, ..DataSegment::default() };
        self.seq += 1;
        self.pool.create(Packet {
            next_hop: NodeId(flow % 3),
            flow: FlowId(flow),
            ttl: 30,
            ecn,
            ..Packet::new(Body::Data(segment), bytes, NodeId(0), NodeId(1), self.now)
        })
    }

    fn routing_message(&mut self) -> PacketId {
        let packet = self.packet(0, 44, Ecn::NotEct);
        let zero = Time::ZERO;
        let message = Rrep {
            hop_count: 0,
            destination: NodeId(1),
            destination_seq: self.seq,
            originator: NodeId(0),
            lifetime: Span::ZERO,
            sent: zero,
            hello: false,
        };
        self.pool.end(packet, Fate::Delivered);
        let packet = Packet { body: Body::Rrep(message), ..self.pool[packet] };
        self.pool.create(packet)
    }

    pub fn seq_of(&self, packet: PacketId) -> u32 {
        match self.pool[packet].body {
            Body::Data(s) => s.seq,
            Body::Rrep(r) => r.destination_seq - 1,
            Body::Ack(a) => a.next,
            _ => unreachable!("the bench makes no others"),
        }
    }

    fn call<T>(&mut self, input: impl FnOnce(&mut Queue, &mut Cx<'_>) -> T) -> T {
        let mut dropped = vec![];
        let mut cx = Cx { now: self.now, pool: &mut self.pool, dropped: &mut dropped };
        let out = input(&mut self.queue, &mut cx);
        for (packet, reason) in dropped {
            self.dropped.push((self.now, self.seq_of(packet), reason));
            self.pool.end(packet, Fate::Dropped(reason));
        }
        out
    }

    pub fn put(&mut self, packet: PacketId) {
        self.call(|q, cx| q.push(packet, cx));
    }

    pub fn push(&mut self, flow: u32, bytes: u32, ecn: Ecn) {
        let packet = self.packet(flow, bytes, ecn);
        self.put(packet);
    }

    /// Takes the next packet out and ends it: its number, flow and ECN field.
    pub fn pop(&mut self) -> Option<(u32, u32, Ecn)> {
        let packet = self.call(|q, cx| q.pop(cx))?;
        let p = self.pool[packet];
        let seq = self.seq_of(packet);
        self.pool.end(packet, Fate::Delivered);
        Some((seq, p.flow.0, p.ecn))
    }

    pub fn drain(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.pop()).map(|p| p.0).collect()
    }

    pub fn drops(&self) -> Vec<u32> {
        self.dropped.iter().map(|d| d.1).collect()
    }
}

fn bench(discipline: Discipline, limit_includes_arrival: bool) -> Bench {
    let cfg = Config { discipline, limit: 5, limit_includes_arrival, ..Config::default() };
    Bench::new(&cfg, BitRate::mbps(2))
}

#[test]
fn arrival_at_the_mark_threshold_is_marked_if_ecn_capable() {
    for discipline in [Discipline::DropTail, Discipline::RoutingFirst, Discipline::CmuPriority] {
        let cfg = Config { discipline, limit: 5, mark_threshold: Some(2), ..Config::default() };
        let mut b = Bench::new(&cfg, BitRate::mbps(2));
        for ecn in [Ecn::Ect, Ecn::Ect, Ecn::Ect, Ecn::NotEct, Ecn::Ce, Ecn::Ect] {
            b.push(0, 100, ecn);
        }
        assert_eq!((b.queue.marks(), b.drops()), (2, vec![5]), "a full queue drops");
        let fields: Vec<Ecn> = std::iter::from_fn(|| b.pop()).map(|p| p.2).collect();
        assert_eq!(fields, [Ecn::Ect, Ecn::Ect, Ecn::Ce, Ecn::NotEct, Ecn::Ce]);
        // Without `queue.ecn` no packet is marked.
        let mut b = Bench::new(&Config { ecn: false, ..cfg }, BitRate::mbps(2));
        (0..4).for_each(|_| b.push(0, 100, Ecn::Ect));
        assert_eq!(b.queue.marks(), 0);
    }
}

#[test]
fn an_arrival_at_a_full_queue_is_dropped() {
    let mut b = bench(Discipline::DropTail, false);
    (0..7).for_each(|_| b.push(0, 100, Ecn::NotEct));
    assert_eq!(b.drops(), [5, 6]);
    assert_eq!(b.drain(), [0, 1, 2, 3, 4]);
}

#[test]
fn ns2_counts_the_arrival() {
    let mut b = bench(Discipline::DropTail, true);
    (0..7).for_each(|_| b.push(0, 100, Ecn::NotEct));
    assert_eq!(b.drops(), [4, 5, 6]);
}

#[test]
fn routing_messages_overtake_and_displace_the_last() {
    let mut b = bench(Discipline::RoutingFirst, true);
    (0..4).for_each(|_| b.push(0, 100, Ecn::NotEct));
    for _ in 0..2 {
        let message = b.routing_message();
        b.put(message);
    }
    assert_eq!(b.drops(), [3, 2]);
    assert_eq!(b.drain(), [5, 4, 0, 1]);
}

#[test]
fn a_limit_in_bytes() {
    let cfg = Config { discipline: Discipline::DropTail, limit_bytes: Some(Bytes(2500)), ..Config::default() };
    let mut b = Bench::new(&cfg, BitRate::mbps(2));
    for bytes in [1000, 1000, 1000, 400, 200, 100] {
        b.push(0, bytes, Ecn::NotEct);
    }
    assert_eq!(b.drops(), [2, 4], "2000 + 1000 and 2400 + 200 are too much");
    b.pop();
    b.push(0, 1000, Ecn::NotEct);
    assert_eq!(b.drops(), [2, 4], "one has gone");
    // A routing message takes the place of as many packets as it needs.
    let cfg = Config { discipline: Discipline::RoutingFirst, ..cfg };
    let mut b = Bench::new(&cfg, BitRate::mbps(2));
    for bytes in [1000, 1480, 20] {
        b.push(0, bytes, Ecn::NotEct);
    }
    let message = b.routing_message();
    b.put(message);
    assert_eq!((b.drops(), b.drain()), (vec![2, 1], vec![3, 0]));
}

#[test]
fn packets_for_a_lost_neighbor_can_be_removed() {
    for &discipline in Discipline::ALL {
        let mut b = bench(discipline, false);
        for flow in [0, 1, 2, 1, 0] {
            b.push(flow, 100, Ecn::NotEct);
        }
        let taken = |b: &mut Bench| {
            let packet = b.call(|q, cx| q.remove_to(NodeId(1), cx));
            packet.map(|p| {
                let seq = b.seq_of(p);
                b.pool.end(p, Fate::Dropped(Reason::RouteFailure));
                seq
            })
        };
        assert_eq!([taken(&mut b), taken(&mut b), taken(&mut b)], [Some(1), Some(3), None], "{discipline:?}");
        let mut rest = b.drain();
        rest.sort_unstable();
        assert_eq!(rest, [0, 2, 4], "{discipline:?}");
    }
}

/// Settings of all disciplines.
fn settings() -> impl Strategy<Value = Config> {
    let red =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(0.01..1.0f64));
    let limits = (1..60u32, prop::option::of(500..20_000u32));
    (prop::sample::select(Discipline::ALL), red, limits, any::<bool>(), 1..9u32, 1..70u32).prop_map(
        |(
            discipline,
            (gentle, wait, queue_in_bytes, lenient, adaptive, mark_p),
            (limit, bytes),
            ecn,
            queues,
            batch,
        )| {
            let red = red::Config {
                gentle,
                wait,
                queue_in_bytes,
                lenient,
                adaptive,
                mark_p,
                weight: Some(0.3),
                max_p: 0.1,
                ..red::Config::default()
            };
            let fq_codel = fq_codel::Config { queues, drop_batch: batch, ..fq_codel::Config::default() };
            let limit_bytes = bytes.map(Bytes);
            Config { discipline, limit, limit_bytes, ecn, red, fq_codel, ..Config::default() }
        },
    )
}

/// An input of a queue.
#[derive(Clone, Debug)]
enum Input {
    Push { flow: u32, bytes: u32, ect: bool },
    Message,
    Pop,
    Remove { next_hop: u32 },
}

fn inputs() -> impl Strategy<Value = Vec<(u32, Input)>> {
    let input = prop_oneof![
        5 => (0..6u32, 40..1500u32, any::<bool>()).prop_map(|(flow, bytes, ect)| Input::Push { flow, bytes, ect }),
        1 => Just(Input::Message),
        4 => Just(Input::Pop),
        1 => (0..3u32).prop_map(|next_hop| Input::Remove { next_hop }),
    ];
    prop::collection::vec((0..20_000u32, input), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// For any inputs: each packet comes out once, is dropped once, or waits; the queue keeps its limits; only
    /// ECN-capable packets are marked, and only by active queue management; a flow stays in order.
    #[test]
    fn every_packet_is_accounted_for(cfg in settings(), inputs in inputs()) {
        let mut b = Bench::new(&cfg, BitRate::mbps(2));
        let (mut out, mut removed, mut marks) = (0, 0, 0);
        let mut last = [None; 6];
        for (wait, input) in inputs {
            b.now += Span::us(u64::from(wait));
            match input {
                Input::Push { flow, bytes, ect } => b.push(flow, bytes, if ect { Ecn::Ect } else { Ecn::NotEct }),
                Input::Message => {
                    let message = b.routing_message();
                    b.put(message);
                }
                Input::Pop => {
                    let was_empty = b.queue.is_empty();
                    let popped = b.call(|q, cx| q.pop(cx));
                    prop_assert!(!(was_empty && popped.is_some()));
                    if let Some(packet) = popped {
                        out += 1;
                        let p = b.pool[packet];
                        marks += u64::from(p.ecn == Ecn::Ce);
                        if let Body::Data(segment) = p.body {
                            let last = &mut last[p.flow.index()];
                            prop_assert!(last.is_none_or(|l| l < segment.seq), "a flow is out of order");
                            *last = Some(segment.seq);
                        }
                        b.pool.end(packet, Fate::Delivered);
                    }
                }
                Input::Remove { next_hop } => {
                    let packet = b.call(|q, cx| q.remove_to(NodeId(next_hop), cx));
                    if let Some(packet) = packet {
                        removed += 1;
                        prop_assert_eq!(b.pool[packet].next_hop, NodeId(next_hop));
                        b.pool.end(packet, Fate::Dropped(Reason::RouteFailure));
                    }
                }
            }
            prop_assert!(b.pool.ledger().balances());
            prop_assert_eq!(b.pool.live(), b.queue.len() as u64);
            // Each class has limits of its own.
            let classes = if cfg.discipline == Discipline::CmuPriority { 3 } else { 1 };
            let in_packets = !(cfg.discipline == Discipline::Red && cfg.red.queue_in_bytes);
            prop_assert!(!in_packets || b.queue.len() <= classes * cfg.limit as usize);
            if let Some(limit) = cfg.limit_bytes {
                prop_assert!(b.waiting_bytes() <= classes as u64 * u64::from(limit.0));
            }
            prop_assert!(marks <= b.queue.marks(), "a mark that was not counted");
        }
        prop_assert!(cfg.ecn || b.queue.marks() == 0);
        prop_assert!(cfg.discipline.is_managed() || b.dropped.iter().all(|d| d.2 == Reason::QueueFull));
        let born = b.pool.ledger().created.iter().sum::<u64>() - b.messages();
        prop_assert_eq!(born, out + removed + b.dropped.len() as u64 + b.queue.len() as u64);
    }
}

impl Bench {
    /// Number of waiting bytes: those of all live packets in the pool.
    fn waiting_bytes(&mut self) -> u64 {
        let mut copy = self.queue.clone();
        let mut sum = 0;
        for next_hop in 0..3 {
            while let Some(packet) = self.call(|_, cx| copy.remove_to(NodeId(next_hop), cx)) {
                sum += u64::from(self.pool[packet].bytes);
            }
        }
        sum
    }

    /// Number of routing messages; these are created from a packet that has ended.
    fn messages(&self) -> u64 {
        self.pool.ledger().created[crate::packet::Kind::Routing as usize]
    }
}

#[test]
fn classes_of_ns2_have_strict_priority_and_a_limit_each() {
    let mut b = bench(Discipline::CmuPriority, true);
    for n in 0..6 {
        b.push(0, 100, Ecn::NotEct);
        let ack = b.packet(0, 40, Ecn::NotEct);
        b.pool.end(ack, Fate::Delivered);
        let ack = Packet { body: Body::Ack(AckSegment { next: 3 * n + 1, ..AckSegment::default() }), ..b.pool[ack] };
        let ack = b.pool.create(ack);
        b.put(ack);
        let message = b.routing_message();
        b.put(message);
    }
    assert_eq!(b.queue.len(), 15);
    assert_eq!(b.drops(), [15, 16, 17], "the sixth of each");
    assert_eq!(b.drain(), [2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12]);
}
