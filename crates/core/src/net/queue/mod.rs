//! Queues of packets that wait for a MAC or a link: disciplines, and active queue management that drops or marks.

mod cmu_priority;
mod codel;
mod droptail;
mod fifo;
mod flow_controlled;
mod fq_codel;
mod pie;
mod red;
mod registry;
mod routing_first;
mod transmit_ring;

use crate::packet::{Ecn, NodeId, Packet, PacketId, PacketPool, Reason};
use crate::rng::Stream;
use crate::setting::limit::{at_most, range};
use crate::unit::{BitRate, Bytes, Span, Time};
use cmu_priority::CmuPriority;
use codel::CoDel;
use droptail::DropTail;
use flow_controlled::FlowControlled;
use fq_codel::FqCoDel;
use pie::Pie;
use red::Red;
use registry::{Queueing, disciplines};
use routing_first::RoutingFirst;
use transmit_ring::TransmitRing;

disciplines! {
    settings {
        /// Discipline of the interface queue.
        pub(everyday) discipline: Discipline = Discipline::DropTail,
        /// Largest number of waiting packets, per class with `cmu_priority`. The packet in the MAC or in transmission
        /// does not count, except with `transmit_ring`.
        pub(everyday) limit: u32 = 50 => range(1, 1_000_000),
        /// Largest number of waiting bytes, in addition to `limit`.
        pub limit_bytes: Option<Bytes> | "unlimited" = None => at_most(Bytes(4_000_000_000)),
        /// Counts the arriving packet against the limits of `droptail` and `routing_first`, so that one packet fewer
        /// can wait (ns-2).
        pub limit_includes_arrival: bool = false
            ; used when |c| c.discipline.counts_arrival(),
            else "`queue.discipline` is neither `droptail` nor `routing_first`",
        /// Marks ECN-capable packets, where active queue management would drop them or at `mark_threshold`.
        pub(everyday) ecn: bool = true,
        /// Number of waiting packets at which arrivals are marked, per class with `cmu_priority`; "never": no marks.
        /// Routing messages that overtake other packets are not marked.
        pub mark_threshold: Option<u32> | "never" = None => at_most(1_000_000)
            ; used when |c| c.ecn, else "`queue.ecn` is false"
            ; used when |c| c.discipline.marks_by_length(), else "`queue.discipline` has its own rule for marks",
        /// Removes packets for a lost neighbor from the queue on demand of the routing protocol. ns-2's RED keeps them,
        /// and the MAC tries to send each of them.
        pub purge: bool = true,
    }

    /// First in, first out; an arrival at a full queue is dropped.
    DropTail(DropTail) = "droptail";
    /// First in, first out; routing messages go to the head (ns-2's PriQueue).
    RoutingFirst(RoutingFirst) = "routing_first";
    /// Routing messages before TCP acknowledgements before other packets, each class with its own limit (ns-2's
    /// CMUPriQueue).
    CmuPriority(Box<CmuPriority>) = "cmu_priority";
    /// Random early detection: arrivals are dropped with a probability that grows with the average length.
    Red(Box<Red>) = "red", settings red: red::Config = " Random early detection.";
    /// Controlled delay: packets are dropped at the head when all have waited too long (RFC 8289).
    CoDel(Box<CoDel>) = "codel", settings codel: crate::codel::Config = " CoDel.", shared with "fq_codel";
    /// A queue with CoDel for each flow, served in turn (RFC 8290).
    FqCoDel(Box<FqCoDel>) = "fq_codel", settings fq_codel: fq_codel::Config = " FQ-CoDel.";
    /// Arrivals are dropped with a probability that a controller adjusts, so that packets wait for about a target delay
    /// (RFC 8033).
    Pie(Box<Pie>) = "pie", settings pie: pie::Config = " PIE.";
    /// First in, first out, with link-layer flow control: a packet waits while the queue of its next hop has no room
    /// for it. Neighbors know this immediately and without messages.
    FlowControlled(FlowControlled) = "flow_controlled";
    /// First in, first out, in the buffers of the driver. They also hold the packet in transmission, and transmitted
    /// packets until the card interrupts.
    TransmitRing(TransmitRing) = "transmit_ring", settings transmit_ring: transmit_ring::Config = " Transmit ring.";
}

/// Outlet of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    /// Rate at which packets leave.
    pub rate: BitRate,
    /// Propagation delay of the outlet.
    pub delay: Span,
}

/// Context of a call.
pub struct Cx<'a> {
    /// Current time.
    pub now: Time,
    /// Pool of the packets in the queue.
    pub pool: &'a mut PacketPool,
    /// Dropped packets with the reasons.
    pub dropped: &'a mut Vec<(PacketId, Reason)>,
}

impl Cx<'_> {
    #[inline]
    fn size(&self, packet: PacketId) -> u64 {
        u64::from(self.pool[packet].bytes)
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
    /// Marking according to the settings of a queue.
    pub fn new(cfg: &Config) -> Marking {
        Marking { enabled: cfg.ecn, marks: 0 }
    }

    /// Marks a packet if it is ECN-capable; returns false if the packet is to be dropped.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let marked = self.enabled && mark(packet);
        self.marks += u64::from(marked);
        marked
    }

    /// Number of marked packets.
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

impl Queue {
    /// A packet arrives; an urgent one overtakes all others in a queue without active management, and only in this
    /// queue.
    #[inline]
    pub fn push_packet(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if std::mem::take(&mut cx.pool[packet].urgent) {
            return self.push_front(packet, cx);
        }
        self.push(packet, cx);
    }

    /// Number of free places.
    pub fn free_slots(&self) -> usize {
        self.room().saturating_sub(self.len())
    }

    /// Removes the first packet with this next hop.
    pub fn remove_to(&mut self, next_hop: NodeId, cx: &Cx<'_>) -> Option<PacketId> {
        self.remove(cx, |p| cx.pool[p].next_hop == next_hop)
    }

    /// Drops all packets, because the node is switched off or the link is cut.
    pub fn clear(&mut self, reason: Reason, cx: &mut Cx<'_>) {
        while let Some(packet) = self.remove(cx, |_| true) {
            cx.discard(packet, reason);
        }
        let none = self.pop(cx);
        debug_assert!(none.is_none(), "it is empty, and takes note of that");
    }

    /// Returns true if packets other than routing messages leave in the order of their arrival, and the number of those
    /// that wait decides alone which arrivals are dropped.
    pub fn is_plain(&self) -> bool {
        match self {
            Queue::DropTail(queue) => queue.is_plain(),
            Queue::RoutingFirst(queue) => queue.is_plain(),
            _ => false,
        }
    }

    /// Returns true if packets wait for room at their next hops.
    pub fn holds_back(&self) -> bool {
        matches!(self, Queue::FlowControlled(_))
    }

    /// Returns true if there is room for a packet that comes from a node and goes on: those that go back do not count.
    pub fn has_room_from(&self, n: NodeId, pool: &PacketPool) -> bool {
        self.count(|p| pool[p].next_hop != n) < self.room()
    }

    /// The first packet that `may_go`, of a queue that holds back.
    pub fn first_that(&self, may_go: impl Fn(PacketId) -> bool) -> Option<PacketId> {
        self.find(may_go)
    }

    /// Takes a packet out of its turn.
    pub fn take(&mut self, packet: PacketId, cx: &Cx<'_>) -> Option<PacketId> {
        self.remove(cx, |p| p == packet)
    }

    /// Returns true if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests;
