//! FQ-CoDel (RFC 8290): flows are hashed to queues, each under CoDel, which are served by deficit round robin; a new
//! flow goes first. When the limit is reached, the queue with most bytes loses packets.

use super::codel::{UnderCoDel, Waiting};
use super::registry::Queueing;
use super::{Cx, Marking, Outlet};
use crate::codel::Control;
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::{Stream, mix};
use crate::setting::limit::{LARGEST_PACKET, range};
use crate::settings;
use crate::unit::{Bytes, Time};

settings! {
    /// FQ-CoDel. Each queue has the settings of `codel`; RFC 8290 gives a `limit` of 10240 packets.
    pub struct Config {
        /// Number of queues into which flows are hashed.
        pub queues: u32 = 1024 => range(1, 65_536),
        /// Number of bytes that a queue may send per round.
        pub quantum: Bytes = Bytes(1514) => range(Bytes(1), LARGEST_PACKET),
        /// Largest number of packets dropped at once when the limit is reached: from the queue with the most bytes,
        /// until it has lost half of them.
        pub drop_batch: u32 = 64 => range(1, 1_000_000),
    }
}

const NONE: u32 = u32::MAX;

/// A waiting packet, or a free entry.
#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: PacketId,
    came: Time,
    next: u32,
}

/// All waiting packets, as linked lists.
#[derive(Clone, Debug)]
struct Entries {
    entries: Vec<Entry>,
    free: u32,
}

impl Entries {
    fn take(&mut self, packet: PacketId, came: Time) -> u32 {
        let entry = Entry { packet, came, next: NONE };
        if self.free == NONE {
            self.entries.push(entry);
            return self.entries.len() as u32 - 1;
        }
        let i = self.free;
        self.free = self.entries[i as usize].next;
        self.entries[i as usize] = entry;
        i
    }

    fn release(&mut self, i: u32) {
        self.entries[i as usize].next = self.free;
        self.free = i;
    }
}

/// A queue of flows.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    head: u32,
    tail: u32,
    bytes: u64,
    packets: u32,
    /// Bytes left in this round.
    credits: i64,
    control: Control,
    /// Next queue in its list.
    next: u32,
    listed: bool,
}

impl Bucket {
    const EMPTY: Bucket = Bucket {
        head: NONE,
        tail: NONE,
        bytes: 0,
        packets: 0,
        credits: 0,
        control: Control::NEW,
        next: NONE,
        listed: false,
    };
}

/// A list of queues in the order of service.
#[derive(Clone, Copy, Debug)]
struct Turns {
    head: u32,
    tail: u32,
}

impl Turns {
    const EMPTY: Turns = Turns { head: NONE, tail: NONE };

    fn push(&mut self, b: u32, buckets: &mut [Bucket]) {
        buckets[b as usize].next = NONE;
        match self.tail {
            NONE => self.head = b,
            tail => buckets[tail as usize].next = b,
        }
        self.tail = b;
    }

    fn pop(&mut self, buckets: &[Bucket]) -> Option<u32> {
        let b = self.head;
        if b == NONE {
            return None;
        }
        self.head = buckets[b as usize].next;
        if self.head == NONE {
            self.tail = NONE;
        }
        Some(b)
    }
}

/// A queue as the source of CoDel.
struct Backlog<'a> {
    bucket: &'a mut Bucket,
    entries: &'a mut Entries,
}

impl Waiting for Backlog<'_> {
    fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)> {
        let i = self.bucket.head;
        if i == NONE {
            return None;
        }
        let Entry { packet, came, next } = self.entries.entries[i as usize];
        self.bucket.head = next;
        if next == NONE {
            self.bucket.tail = NONE;
        }
        self.bucket.bytes -= cx.size(packet);
        self.bucket.packets -= 1;
        self.entries.release(i);
        Some((packet, came))
    }

    fn bytes(&self) -> u64 {
        self.bucket.bytes
    }
}

/// A queue per flow, each with the state of CoDel.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    cfg: Config,
    codel: crate::codel::Config,
    marking: Marking,
    room: usize,
    room_bytes: u64,
    /// Queues, allocated when the first packet arrives.
    buckets: Vec<Bucket>,
    entries: Entries,
    new: Turns,
    old: Turns,
    packets: usize,
    bytes: u64,
    /// Salt of the hash, different for each queue.
    perturbation: u64,
}

impl FqCoDel {
    /// Queue of a packet's flow. Acknowledgements are a flow of their own, and so are both halves of a split connection.
    fn bucket_of(&self, packet: PacketId, cx: &Cx<'_>) -> u32 {
        let p = &cx.pool[packet];
        let hash = mix(mix(self.perturbation ^ p.direction()) ^ u64::from(p.flow.0));
        ((u128::from(hash) * u128::from(self.cfg.queues)) >> 64) as u32
    }

    /// RFC 8290, 4.1: "packets are dropped from the head of the queue with the largest current byte count".
    fn drop_from_fattest(&mut self, cx: &mut Cx<'_>) {
        let fattest = (0..self.buckets.len()).rev().max_by_key(|&b| self.buckets[b].bytes);
        let Some(bucket) = fattest.map(|b| &mut self.buckets[b]) else { return };
        let half = bucket.bytes / 2;
        let mut backlog = Backlog { bucket, entries: &mut self.entries };
        let mut lost = 0;
        for _ in 0..self.cfg.drop_batch {
            let Some((packet, _)) = backlog.pop(cx) else { return };
            let size = cx.size(packet);
            lost += size;
            self.packets -= 1;
            self.bytes -= size;
            cx.discard(packet, Reason::QueueFull);
            if lost >= half {
                return;
            }
        }
    }
}

impl Queueing for FqCoDel {
    const MANAGED: bool = true;

    fn new(queue: &super::Config, _: Outlet, mut rng: Stream) -> FqCoDel {
        FqCoDel {
            cfg: queue.fq_codel.clone(),
            codel: queue.codel.clone(),
            marking: Marking::new(queue),
            room: queue.limit as usize,
            room_bytes: queue.limit_bytes.map_or(u64::MAX, |b| u64::from(b.0)),
            buckets: Vec::new(),
            entries: Entries { entries: Vec::new(), free: NONE },
            new: Turns::EMPTY,
            old: Turns::EMPTY,
            packets: 0,
            bytes: 0,
            perturbation: u64::from(rng.below(u32::MAX)),
        }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.buckets.is_empty() {
            self.buckets = vec![Bucket::EMPTY; self.cfg.queues as usize];
            self.entries.entries.reserve(self.room.min(256) + 1);
        }
        let b = self.bucket_of(packet, cx);
        let size = cx.size(packet);
        let i = self.entries.take(packet, cx.now);
        let bucket = &mut self.buckets[b as usize];
        match bucket.tail {
            NONE => bucket.head = i,
            tail => self.entries.entries[tail as usize].next = i,
        }
        bucket.tail = i;
        bucket.bytes += size;
        bucket.packets += 1;
        self.packets += 1;
        self.bytes += size;
        if !bucket.listed {
            bucket.listed = true;
            bucket.credits = i64::from(self.cfg.quantum.0);
            self.new.push(b, &mut self.buckets);
        }
        while self.packets > self.room || self.bytes > self.room_bytes {
            self.drop_from_fattest(cx);
        }
    }

    /// RFC 8290, 4.2: the first of the new queues, or else of the old ones, that has credits.
    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        loop {
            let is_new = self.new.head != NONE;
            let turns = if is_new { &mut self.new } else { &mut self.old };
            let b = turns.head;
            if b == NONE {
                return None;
            }
            let bucket = &mut self.buckets[b as usize];
            if bucket.credits <= 0 {
                bucket.credits += i64::from(self.cfg.quantum.0);
                turns.pop(&self.buckets);
                self.old.push(b, &mut self.buckets);
                continue;
            }
            let before = (bucket.packets, bucket.bytes);
            let mut control = bucket.control;
            let mut backlog = Backlog { bucket, entries: &mut self.entries };
            let now = cx.now;
            let mut queue = UnderCoDel { waiting: &mut backlog, marking: &mut self.marking, cx };
            let packet = control.pop(&mut queue, &self.codel, now);
            bucket.control = control;
            self.packets -= (before.0 - bucket.packets) as usize;
            self.bytes -= before.1 - bucket.bytes;
            if let Some(packet) = packet {
                bucket.credits -= cx.size(packet) as i64;
                return Some(packet);
            }
            // An empty new queue moves to the old ones, so that its next packet does not make it new again.
            turns.pop(&self.buckets);
            if is_new {
                self.old.push(b, &mut self.buckets);
            } else {
                self.buckets[b as usize].listed = false;
            }
        }
    }

    fn remove(&mut self, cx: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        for bucket in self.buckets.iter_mut().filter(|b| b.packets > 0) {
            let (mut before, mut i) = (NONE, bucket.head);
            while i != NONE {
                let Entry { packet, next, .. } = self.entries.entries[i as usize];
                if !matches(packet) {
                    (before, i) = (i, next);
                    continue;
                }
                match before {
                    NONE => bucket.head = next,
                    before => self.entries.entries[before as usize].next = next,
                }
                if next == NONE {
                    bucket.tail = before;
                }
                self.entries.release(i);
                let size = cx.size(packet);
                bucket.packets -= 1;
                bucket.bytes -= size;
                self.packets -= 1;
                self.bytes -= size;
                return Some(packet);
            }
        }
        None
    }

    fn len(&self) -> usize {
        self.packets
    }

    fn bytes(&self, _: &PacketPool) -> u64 {
        self.bytes
    }

    fn room(&self) -> usize {
        self.room
    }

    fn set_limit(&mut self, packets: usize) {
        self.room = packets;
    }

    fn marks(&self) -> u64 {
        self.marking.marks()
    }

    fn buckets(cfg: &super::Config) -> u64 {
        cfg.fq_codel.queues.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config as Queue, Discipline};
    use super::*;
    use crate::packet::{Ecn, NodeId};
    use crate::unit::{BitRate, Span};

    fn bench(limit: u32, fq_codel: Config) -> Bench {
        let cfg = Queue { discipline: Discipline::FqCoDel, limit, fq_codel, ..Queue::default() };
        Bench::new(&cfg, BitRate::mbps(10))
    }

    fn flows(b: &mut Bench, packets: usize) -> Vec<u32> {
        (0..packets).map(|_| b.pop().expect("something waits").1).collect()
    }

    /// RFC 8290, 3 and 4.2: new flows go first, for one quantum.
    #[test]
    fn a_new_flow_goes_first() {
        let mut b = bench(1000, Config::default());
        (0..20).for_each(|_| b.push(1, 1500, Ecn::NotEct));
        assert_eq!(flows(&mut b, 3), [1, 1, 1]);
        b.push(2, 100, Ecn::NotEct);
        assert_eq!(flows(&mut b, 3), [2, 1, 1]);
    }

    /// Another node moves the numbers of those after it.
    #[test]
    fn numbers_of_nodes_do_not_decide_who_shares_a_queue() {
        let order = |ends: [u32; 2]| {
            let mut b = bench(1000, Config { queues: 4, ..Config::default() });
            for flow in 0..40 {
                let packet = b.packet(flow, 1500, Ecn::NotEct);
                [b.pool[packet].source, b.pool[packet].destination] = ends.map(NodeId);
                b.put(packet);
            }
            flows(&mut b, 40)
        };
        assert_eq!(order([0, 1]), order([0, 2]));
        assert_eq!(order([0, 1]), order([3, 2]));
        assert_ne!(order([0, 1]), (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn both_halves_of_a_split_connection_have_queues_of_their_own() {
        let mut b = bench(100, Config::default());
        for is_second in [false, false, true] {
            let packet = b.packet(1, 2000, Ecn::NotEct);
            b.pool[packet].from_split = is_second;
            b.put(packet);
        }
        assert_eq!(b.drain(), [0, 2, 1]);
    }

    /// RFC 8290, 4.2: a flow that sends whenever its last packet has left is not new each time, and cannot starve the
    /// others.
    #[test]
    fn a_flow_is_not_new_again_at_once() {
        let mut b = bench(1000, Config::default());
        (0..30).for_each(|_| b.push(1, 1500, Ecn::NotEct));
        let mut order = vec![];
        for _ in 0..40 {
            let waiting = b.seq as usize - 30 - order.iter().filter(|f| **f == 2).count();
            if waiting == 0 {
                b.push(2, 1500, Ecn::NotEct);
            }
            order.extend(flows(&mut b, 1));
        }
        let first = order.iter().filter(|f| **f == 1).count();
        assert!((19..=21).contains(&first), "{order:?}");
    }

    /// Deficit round robin: bytes are shared, not packets.
    #[test]
    fn long_and_short_packets_get_the_same_bytes() {
        let mut b = bench(4000, Config::default());
        (0..100).for_each(|_| b.push(1, 1500, Ecn::NotEct));
        (0..500).for_each(|_| b.push(2, 300, Ecn::NotEct));
        let mut bytes = [0, 0];
        for (i, flow) in flows(&mut b, 240).into_iter().enumerate() {
            bytes[flow as usize - 1] += if flow == 1 { 1500 } else { 300 };
            // RFC 8290, 4.2: never more than a quantum and a packet apart.
            let apart: i32 = bytes[0] - bytes[1];
            assert!(apart.abs() <= 1514 + 1500, "{apart} B after {i} packets");
        }
    }

    /// RFC 8290, 4.1: a full queue drops from the head of the flow with most bytes, half of them or 64 packets.
    #[test]
    fn flow_with_most_bytes_loses_packets_at_the_limit() {
        let mut b = bench(40, Config::default());
        (0..10).for_each(|_| b.push(2, 100, Ecn::NotEct));
        (0..30).for_each(|_| b.push(1, 1000, Ecn::NotEct));
        assert!(b.drops().is_empty());
        b.push(2, 100, Ecn::NotEct);
        // The first 15 of 30 packets.
        assert_eq!(b.drops(), (10..25).collect::<Vec<_>>());
        assert!(b.dropped.iter().all(|d| d.2 == Reason::QueueFull));
        // A flow of 300 loses 64.
        let mut b = bench(300, Config::default());
        (0..301).for_each(|_| b.push(1, 1000, Ecn::NotEct));
        assert_eq!(b.drops(), (0..64).collect::<Vec<_>>());
        // With a batch of 1, one packet at a time.
        let mut b = bench(300, Config { drop_batch: 1, ..Config::default() });
        (0..303).for_each(|_| b.push(1, 1000, Ecn::NotEct));
        assert_eq!(b.drops(), [0, 1, 2]);
    }

    /// Rates of two datagram flows over 10 Mbit/s in 20 s [bit/s], and the longest wait of the second.
    fn share(rates: [u64; 2], bytes: [u32; 2]) -> ([f64; 2], f64) {
        let mut b = bench(1000, Config::default());
        let interval = |i: usize| Span(u64::from(bytes[i]) * 8_000_000_000 / rates[i]);
        let mut next = [Time::ZERO, Time(777)];
        let (mut free, mut got, mut longest) = (Time::ZERO, [0.0, 0.0], Span::ZERO);
        let mut sent = vec![];
        let end = Time::ZERO + Span::secs(20);
        loop {
            let i = usize::from(next[1] < next[0]);
            if next[i] <= free || b.queue.is_empty() {
                b.now = next[i];
                free = free.max(b.now);
                b.push(i as u32, bytes[i], Ecn::NotEct);
                sent.push(b.now);
                next[i] += interval(i);
                continue;
            }
            b.now = free;
            if b.now >= end {
                return (got.map(|bits| bits / 20.0), longest.as_secs());
            }
            let Some((seq, flow, _)) = b.pop() else { continue };
            let size = bytes[flow as usize];
            got[flow as usize] += f64::from(size) * 8.0;
            if flow == 1 {
                longest = longest.max(b.now.since(sent[seq as usize]));
            }
            free = b.now + BitRate::mbps(10).airtime(size);
        }
    }

    #[test]
    fn two_greedy_flows_share_the_link_equally() {
        for rates in [[20_000_000, 20_000_000], [8_000_000, 30_000_000]] {
            let (got, _) = share(rates, [1500, 500]);
            assert!(got.iter().all(|g| (g - 5e6).abs() < 0.01 * 5e6), "{got:?}");
        }
    }

    #[test]
    fn sparse_flow_gets_its_rate_and_hardly_waits() {
        let (got, longest) = share([20_000_000, 100_000], [1500, 200]);
        assert!((got[1] - 1e5).abs() < 0.01 * 1e5, "{got:?}");
        // At most the packets of two quanta of the other flow go before it.
        assert!(longest <= 2.0 * 1514.0 * 8.0 / 10e6, "{longest} s");
    }

    #[test]
    fn each_queue_has_a_control_of_its_own() {
        let mut b = bench(10_000, Config::default());
        (0..200).for_each(|_| b.push(1, 1500, Ecn::NotEct));
        b.now += Span::ms(5);
        let (mut popped, mut waited) = (0, Span::ZERO);
        while b.now < Time::ZERO + Span::ms(300) {
            b.push(2, 100, Ecn::Ect);
            while b.pop().expect("flow 1 stands").1 == 1 {
                popped += 1;
            }
            b.push(1, 1500, Ecn::NotEct);
            waited += Span::ms(1);
            b.now += Span::ms(1);
        }
        assert!(popped > 0 && waited > Span::ZERO);
        assert!(!b.dropped.is_empty() && b.dropped.iter().all(|d| d.2 == Reason::Aqm));
        assert_eq!(b.queue.marks(), 0, "the flow of single packets waits for nobody");
    }
}
