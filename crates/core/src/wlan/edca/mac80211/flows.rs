//! Flows of the queues of mac80211 (Linux 6.18, `include/net/fq_impl.h`): hashed to buckets that all queues of a device
//! share, each under CoDel, served by deficit round robin; a new flow goes first.

use super::Config;
use crate::codel::{Control, Managed};
use crate::packet::{Kind, PacketId, Reason};
use crate::rng::mix;
use crate::unit::Time;
use crate::wlan::Out;
use std::collections::{BTreeMap, VecDeque};

/// Memory of a packet on top of its MSDU \[B\]: a kernel takes 2280 B for 1448 B of payload, whose MSDU has
/// 1448 + 32 (TCP) + 20 (IP) + 8 (LLC, SNAP) = 1508 B.
const OVERHEAD: u64 = 772;
/// Most packets that are dropped at once when a limit is reached.
const DROP_BATCH: usize = 32;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: PacketId,
    /// Its kind.
    pub kind: Kind,
    /// Size of the MSDU, with LLC and SNAP \[B\].
    pub msdu: u32,
    /// The packet is ECN-capable.
    pub ect: bool,
    /// Time of the packet's arrival.
    pub came: Time,
}

impl Waiting {
    fn memory(&self) -> u64 {
        u64::from(self.msdu) + OVERHEAD
    }
}

/// A flow: a bucket, or the flow of a queue for packets whose bucket another queue uses.
#[derive(Clone, Debug)]
struct Flow {
    packets: VecDeque<Waiting>,
    /// Bytes that wait.
    backlog: u64,
    /// Bytes left in this round.
    deficit: i64,
    control: Control,
    /// Queue that uses the flow, and has the flow in one of its rounds.
    queue: Option<usize>,
}

/// Rounds of a queue, with the number of each flow.
#[derive(Clone, Debug)]
pub struct Rounds {
    default_flow: usize,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// Packets that wait.
    pub packets: usize,
}

/// All flows of a device.
#[derive(Clone, Debug)]
pub struct Flows {
    flows: Vec<Flow>,
    /// Flow of each bucket that was ever used.
    buckets: BTreeMap<u32, usize>,
    packets: usize,
    /// Bytes of memory.
    memory: u64,
    /// Salt of the hash.
    perturbation: u64,
    /// Packets marked by CoDel.
    pub marks: u64,
}

/// A flow under CoDel, which marks and drops by the actions of the station.
struct UnderCoDel<'a> {
    flow: &'a mut Flow,
    taken: Option<Waiting>,
    /// Packets and memory that have left.
    left: (usize, u64),
    marks: Option<&'a mut u64>,
    out: &'a mut Vec<Out>,
}

impl Managed for UnderCoDel<'_> {
    fn pop(&mut self) -> Option<(PacketId, Time)> {
        let first = self.flow.packets.pop_front()?;
        self.flow.backlog -= u64::from(first.msdu);
        self.left = (self.left.0 + 1, self.left.1 + first.memory());
        self.taken = Some(first);
        Some((first.packet, first.came))
    }

    fn bytes(&self) -> u64 {
        self.flow.backlog
    }

    fn mark(&mut self, packet: PacketId) -> bool {
        let Some(marks) = self.marks.as_mut().filter(|_| self.taken.is_some_and(|w| w.ect)) else { return false };
        **marks += 1;
        self.out.push(Out::Marked { packet });
        true
    }

    fn discard(&mut self, packet: PacketId) {
        self.out.push(Out::Dropped { packet, reason: Reason::MacAqm });
    }
}

impl Flows {
    /// No flows; `perturbation` salts their hash.
    pub fn new(perturbation: u64) -> Flows {
        Flows { flows: Vec::new(), buckets: BTreeMap::new(), packets: 0, memory: 0, perturbation, marks: 0 }
    }

    /// Rounds of a new queue.
    pub fn rounds(&mut self) -> Rounds {
        Rounds { default_flow: self.add(), new: VecDeque::new(), old: VecDeque::new(), packets: 0 }
    }

    fn add(&mut self) -> usize {
        let flow = Flow { packets: VecDeque::new(), backlog: 0, deficit: 0, control: Control::NEW, queue: None };
        self.flows.push(flow);
        self.flows.len() - 1
    }

    /// Number of packets that wait.
    pub fn len(&self) -> usize {
        self.packets
    }

    /// Bytes that wait in a queue.
    pub fn bytes(&self, rounds: &Rounds) -> u64 {
        rounds.new.iter().chain(&rounds.old).map(|&f| self.flows[f].backlog).sum()
    }

    /// Returns true if more packets or bytes wait than a device may hold.
    pub fn exceeds(&self, cfg: &Config, memory: u64) -> bool {
        self.packets > cfg.limit as usize || self.memory > memory
    }

    /// A packet of the flow with this hash comes to queue `q`.
    pub fn push(&mut self, q: usize, rounds: &mut Rounds, w: Waiting, hash: u64, cfg: &Config) {
        let bucket = ((u128::from(mix(self.perturbation ^ hash)) * u128::from(cfg.flows)) >> 64) as u32;
        let known = self.buckets.get(&bucket).copied();
        let of_bucket = known.unwrap_or_else(|| {
            let flow = self.add();
            self.buckets.insert(bucket, flow);
            flow
        });
        let is_taken = self.flows[of_bucket].queue.is_some_and(|other| other != q);
        let f = if is_taken { rounds.default_flow } else { of_bucket };
        let flow = &mut self.flows[f];
        if flow.queue.replace(q).is_none() {
            flow.deficit = i64::from(cfg.quantum.0);
            rounds.new.push_back(f);
        }
        flow.backlog += u64::from(w.msdu);
        flow.packets.push_back(w);
        rounds.packets += 1;
        self.packets += 1;
        self.memory += w.memory();
    }

    /// Drops packets from the head of the flow with the most bytes: half of them, but no more than 32. Returns the
    /// queue that has lost them and their number.
    pub fn drop_from_fattest(&mut self, out: &mut Vec<Out>) -> (usize, usize) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|f| f.backlog).expect("a flow has packets");
        let count = (fattest.packets.len() / 2).clamp(1, DROP_BATCH);
        for w in fattest.packets.drain(..count) {
            fattest.backlog -= u64::from(w.msdu);
            self.memory -= w.memory();
            out.push(Out::Dropped { packet: w.packet, reason: Reason::MacQueueFull });
        }
        self.packets -= count;
        (fattest.queue.expect("a flow with packets is in a round"), count)
    }

    /// Takes the next packet of a queue: of the first new flow, or else of the first old one, that has bytes left.
    pub fn pop(&mut self, rounds: &mut Rounds, cfg: &Config, now: Time, out: &mut Vec<Out>) -> Option<Waiting> {
        loop {
            let is_new = !rounds.new.is_empty();
            let turns = if is_new { &mut rounds.new } else { &mut rounds.old };
            let f = *turns.front()?;
            let Flows { flows, marks, .. } = self;
            let flow = &mut flows[f];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(cfg.quantum.0);
                turns.pop_front();
                rounds.old.push_back(f);
                continue;
            }
            let mut control = flow.control;
            let marks = cfg.ecn.then_some(marks);
            let mut queue = UnderCoDel { flow, taken: None, left: (0, 0), marks, out: &mut *out };
            let packet = control.pop(&mut queue, &cfg.codel.law(), now);
            let UnderCoDel { taken, left, .. } = queue;
            self.packets -= left.0;
            self.memory -= left.1;
            rounds.packets -= left.0;
            let flow = &mut self.flows[f];
            flow.control = control;
            if let Some(w) = taken.filter(|_| packet.is_some()) {
                flow.deficit -= i64::from(w.msdu);
                return Some(w);
            }
            // An empty new flow goes through the old ones, so that its next packet does not make it new again.
            turns.pop_front();
            if is_new && !rounds.old.is_empty() {
                rounds.old.push_back(f);
            } else {
                flow.queue = None;
            }
        }
    }

    /// Takes all packets out of a queue, for which CoDel begins anew.
    pub fn clear(&mut self, rounds: &mut Rounds, mut taken: impl FnMut(PacketId)) {
        for f in rounds.new.drain(..).chain(rounds.old.drain(..)) {
            let flow = &mut self.flows[f];
            (flow.queue, flow.backlog, flow.control) = (None, 0, Control::NEW);
            for w in flow.packets.drain(..) {
                self.packets -= 1;
                self.memory -= w.memory();
                taken(w.packet);
            }
        }
        rounds.packets = 0;
    }
}
