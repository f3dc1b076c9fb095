//! Queues of packets that wait for a MAC or a link: disciplines, and active queue management that drops or marks.

mod cmu_priority;
mod codel;
mod droptail;
mod fifo;
mod fq_codel;
mod red;
mod routing_first;

use crate::packet::{Ecn, NodeId, Packet, PacketId, Reason, Slab};
use crate::rng::Stream;
use crate::setting::limit::{at_most, range};
use crate::unit::{BitRate, Bytes, Span, Time};
use crate::{keywords, settings};
use cmu_priority::CmuPriority;
use codel::CoDel;
use droptail::DropTail;
use fq_codel::FqCoDel;
use red::Red;
use routing_first::RoutingFirst;

keywords! {
    /// Queue disciplines.
    pub enum Discipline {
        /// First in, first out; an arrival at a full queue is dropped.
        DropTail = "droptail",
        /// The same, but routing messages go to the head (ns-2's PriQueue).
        RoutingFirst = "routing_first",
        /// Routing messages before TCP acknowledgements before all else, each with a limit of its own (ns-2's CMUPriQueue).
        CmuPriority = "cmu_priority",
        /// Random early detection: arrivals are dropped with a probability that grows with the average length.
        Red = "red",
        /// Controlled delay: packets are dropped at the head when all have waited too long (RFC 8289).
        CoDel = "codel",
        /// A queue with CoDel for each flow, served in turn (RFC 8290).
        FqCoDel = "fq_codel",
    }
}

settings! {
    /// The queue of every node in front of its MAC, and in front of each of its wires.
    pub struct Config {
        /// Queue discipline.
        pub discipline: Discipline = Discipline::RoutingFirst,
        /// Packets that may wait, of `cmu_priority` in each class; one more is in the MAC, or being sent.
        pub limit: u32 = 50 => range(1, 1_000_000),
        /// Bytes that may wait, besides; "none": any number.
        pub limit_bytes: Option<Bytes> = None => at_most(Bytes(4_000_000_000)),
        /// Whether the packet that arrives counts against the limits of `droptail` and `routing_first`, so that one fewer
        /// can wait (ns-2).
        pub limit_includes_arrival: bool = false
            ; used when |c| matches!(c.discipline, Discipline::DropTail | Discipline::RoutingFirst), else "`queue.discipline` is neither `droptail` nor `routing_first`",
        /// Whether packets that are ECN-capable are marked: instead of being dropped by active queue management, or at
        /// `mark_threshold`.
        pub ecn: bool = true,
        /// Packets that must wait for an arrival to be marked, of `cmu_priority` in its class; "none": none is. Routing
        /// messages that overtake others are not marked.
        pub mark_threshold: Option<u32> = None => at_most(1_000_000)
            ; used when |c| matches!(c.discipline, Discipline::DropTail | Discipline::RoutingFirst | Discipline::CmuPriority), else "`queue.discipline` has its own rule for marks",
        /// Whether packets that wait for a lost neighbour leave the queue when routing says so. ns-2's RED keeps them, and the
        /// MAC tries to send each.
        pub purge: bool = true,
        /// Random early detection.
        pub red: red::Config = red::Config::default()
            ; used when |c| c.discipline == Discipline::Red, else "`queue.discipline` is not `red`",
        /// CoDel.
        pub codel: codel::Config = codel::Config::default()
            ; used when |c| matches!(c.discipline, Discipline::CoDel | Discipline::FqCoDel), else "`queue.discipline` is neither `codel` nor `fq_codel`",
        /// FQ-CoDel.
        pub fq_codel: fq_codel::Config = fq_codel::Config::default()
            ; used when |c| c.discipline == Discipline::FqCoDel, else "`queue.discipline` is not `fq_codel`",
    }
}

/// Where the packets of a queue go.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    /// Rate at which packets leave.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
}

/// What a queue may use while it handles one input.
pub struct Cx<'a> {
    /// Now.
    pub now: Time,
    /// All packets.
    pub slab: &'a mut Slab,
    /// Packets that the queue drops, and why.
    pub dropped: &'a mut Vec<(PacketId, Reason)>,
}

impl Cx<'_> {
    #[inline]
    fn size(&self, packet: PacketId) -> u64 {
        u64::from(self.slab[packet].bytes)
    }

    fn discard(&mut self, packet: PacketId, reason: Reason) {
        self.dropped.push((packet, reason));
    }
}

/// Marks packets in place of dropping them (RFC 3168, section 5).
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    enabled: bool,
    marks: u64,
}

impl Marking {
    /// As the settings of a queue say.
    pub fn new(cfg: &Config) -> Marking {
        Marking { enabled: cfg.ecn, marks: 0 }
    }

    /// Marks a packet if it is ECN-capable; otherwise it is to be dropped.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let marked = self.enabled && mark(packet);
        self.marks += u64::from(marked);
        marked
    }

    /// Packets that were marked.
    pub fn marks(&self) -> u64 {
        self.marks
    }
}

/// Marks a packet if it is ECN-capable.
fn mark(packet: &mut Packet) -> bool {
    let able = packet.ecn != Ecn::NotEct;
    if able {
        packet.ecn = Ecn::Ce;
    }
    able
}

/// A queue.
#[derive(Clone, Debug)]
pub enum Queue {
    /// Drop-tail.
    DropTail(DropTail),
    /// Routing messages first.
    RoutingFirst(RoutingFirst),
    /// Classes with strict priority.
    CmuPriority(Box<CmuPriority>),
    /// RED.
    Red(Box<Red>),
    /// CoDel.
    CoDel(Box<CoDel>),
    /// FQ-CoDel.
    FqCoDel(Box<FqCoDel>),
}

impl Queue {
    /// An empty queue in front of an outlet, with random numbers of its own.
    pub fn new(cfg: &Config, outlet: Outlet, rng: Stream) -> Queue {
        match cfg.discipline {
            Discipline::DropTail => Queue::DropTail(DropTail::new(cfg)),
            Discipline::RoutingFirst => Queue::RoutingFirst(RoutingFirst::new(cfg)),
            Discipline::CmuPriority => Queue::CmuPriority(Box::new(CmuPriority::new(cfg))),
            Discipline::Red => Queue::Red(Box::new(Red::new(cfg, outlet, rng))),
            Discipline::CoDel => Queue::CoDel(Box::new(CoDel::new(cfg))),
            Discipline::FqCoDel => Queue::FqCoDel(Box::new(FqCoDel::new(cfg, rng))),
        }
    }

    /// A packet arrives.
    #[inline]
    pub fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        match self {
            Queue::DropTail(q) => q.push(packet, cx),
            Queue::RoutingFirst(q) => q.push(packet, cx),
            Queue::CmuPriority(q) => q.push(packet, cx),
            Queue::Red(q) => q.push(packet, cx),
            Queue::CoDel(q) => q.push(packet, cx),
            Queue::FqCoDel(q) => q.push(packet, cx),
        }
    }

    /// A packet arrives; an urgent one overtakes all others in a queue without active management, and only here.
    #[inline]
    pub fn push_packet(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if std::mem::take(&mut cx.slab[packet].urgent) {
            match self {
                Queue::DropTail(q) => return q.push_front(packet, cx),
                Queue::RoutingFirst(q) => return q.inner.push_front(packet, cx),
                Queue::CmuPriority(q) => return q.push_front(packet, cx),
                Queue::Red(_) | Queue::CoDel(_) | Queue::FqCoDel(_) => {}
            }
        }
        self.push(packet, cx);
    }

    /// Packets for which there is room.
    pub fn free_slots(&self) -> usize {
        let room = match self {
            Queue::DropTail(q) => q.room,
            Queue::RoutingFirst(q) => q.inner.room,
            Queue::CmuPriority(q) => q.room(),
            Queue::Red(q) => q.fifo.room,
            Queue::CoDel(q) => q.fifo.room,
            Queue::FqCoDel(q) => q.room,
        };
        room.saturating_sub(self.len())
    }

    /// Takes the next packet. To be called whenever the outlet is free: an empty queue takes note that it is idle.
    #[inline]
    pub fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        match self {
            Queue::DropTail(q) => q.pop(cx),
            Queue::RoutingFirst(q) => q.inner.pop(cx),
            Queue::CmuPriority(q) => q.pop(cx),
            Queue::Red(q) => q.pop(cx),
            Queue::CoDel(q) => q.pop(cx),
            Queue::FqCoDel(q) => q.pop(cx),
        }
    }

    /// Takes out the first packet that goes to this neighbour next.
    pub fn remove_to(&mut self, next_hop: NodeId, cx: &Cx<'_>) -> Option<PacketId> {
        self.remove(cx, |p| cx.slab[p].next_hop == next_hop)
    }

    /// The node is switched off: all packets are lost.
    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        while let Some(packet) = self.remove(cx, |_| true) {
            cx.discard(packet, Reason::NodeOff);
        }
        let none = self.pop(cx);
        debug_assert!(none.is_none(), "it is empty, and takes note of that");
    }

    /// Takes out the first packet of which this holds.
    fn remove(&mut self, cx: &Cx<'_>, matches: impl Fn(PacketId) -> bool) -> Option<PacketId> {
        match self {
            Queue::DropTail(q) => q.remove(cx, matches),
            Queue::RoutingFirst(q) => q.inner.remove(cx, matches),
            Queue::CmuPriority(q) => q.remove(cx, matches),
            Queue::Red(q) => q.fifo.remove(cx, matches),
            Queue::CoDel(q) => q.fifo.remove(cx, matches),
            Queue::FqCoDel(q) => q.remove(cx, matches),
        }
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        match self {
            Queue::DropTail(q) => q.waiting.len(),
            Queue::RoutingFirst(q) => q.inner.waiting.len(),
            Queue::CmuPriority(q) => q.len(),
            Queue::Red(q) => q.fifo.len(),
            Queue::CoDel(q) => q.fifo.len(),
            Queue::FqCoDel(q) => q.len(),
        }
    }

    /// Bytes of the packets that wait.
    pub fn bytes(&self, slab: &Slab) -> u64 {
        let sum = |q: &DropTail| q.waiting.iter().map(|&p| u64::from(slab[p].bytes)).sum();
        match self {
            Queue::DropTail(q) => sum(q),
            Queue::RoutingFirst(q) => sum(&q.inner),
            Queue::CmuPriority(q) => q.classes.iter().map(sum).sum(),
            Queue::Red(q) => q.fifo.bytes(),
            Queue::CoDel(q) => q.fifo.bytes(),
            Queue::FqCoDel(q) => q.bytes(),
        }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets that were marked.
    pub fn marks(&self) -> u64 {
        match self {
            Queue::DropTail(q) => q.marks.into(),
            Queue::RoutingFirst(q) => q.inner.marks.into(),
            Queue::CmuPriority(q) => q.classes.iter().map(|class| u64::from(class.marks)).sum(),
            Queue::Red(q) => q.marking.marks,
            Queue::CoDel(q) => q.marking.marks,
            Queue::FqCoDel(q) => q.marking.marks,
        }
    }
}

#[cfg(test)]
mod tests;
