//! The border between the network layer and middleboxes, and the nodes at which connections are split.

use super::slots::Slot;
use super::{Flow, Sim};
use crate::net::middlebox::eln::Eln;
use crate::net::middlebox::snoop::Snoop;
use crate::net::middlebox::{Counters, Cx, Middlebox, Part, Verdict};
use crate::packet::{AckSegment, Body, Fate, NodeId, Packet, PacketId, Reason, Slab};
use crate::run::{MiddleboxPart, MiddleboxSetup};
use crate::tcp::{self, Split};
use crate::unit::Time;

/// All middleboxes, in the order of the scenario.
#[derive(Clone, Debug)]
pub(super) struct Boxes {
    list: Vec<Placed>,
    /// What they have made and the corridor still has to carry.
    made: Vec<Packet>,
}

/// Where a connection is split, and its halves there.
#[derive(Clone, Debug)]
pub(super) struct SplitAt {
    pub(super) node: NodeId,
    pub(super) halves: Split,
    /// Settings of the second half.
    pub(super) tcp: Box<tcp::Config>,
}

#[derive(Clone, Debug)]
struct Placed {
    node: NodeId,
    middlebox: Middlebox,
    /// When it wants to be called: the deadline that is on the agenda.
    at: Time,
}

impl Boxes {
    pub(super) fn new(setups: &[MiddleboxSetup]) -> Boxes {
        let placed = |s: &MiddleboxSetup| {
            let part = match &s.part {
                MiddleboxPart::Snoop(cfg) => Part::Snoop(Snoop::new(cfg, s.serves.len())),
                MiddleboxPart::Eln(cfg) => Part::Eln(Eln::new(cfg, s.serves.len())),
            };
            Placed { node: s.node, middlebox: Middlebox::new(part, s.serves.clone()), at: Time::NEVER }
        };
        Boxes { list: setups.iter().map(placed).collect(), made: Vec::with_capacity(8) }
    }

    /// Whether there are none: the usual case.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Tells that no middlebox will act by itself.
    pub(super) fn are_quiet(&self) -> bool {
        self.list.iter().all(|b| b.at == Time::NEVER)
    }

    /// The next middlebox of a node on the way of a packet: data pass them in the order of the scenario,
    /// acknowledgements in the opposite one.
    fn next(&self, node: NodeId, is_ack: bool, after: Option<usize>) -> Option<usize> {
        let here = |&i: &usize| self.list[i].node == node;
        if is_ack {
            (0..after.unwrap_or(self.list.len())).rev().find(here)
        } else {
            (after.map_or(0, |i| i + 1)..self.list.len()).find(here)
        }
    }

    /// Counters of all middleboxes for a flow.
    pub(super) fn counters(&self, flow: usize) -> Counters {
        let mut sum = Counters::default();
        for c in self.list.iter().map(|b| b.middlebox.counters(flow)) {
            sum.retransmissions += c.retransmissions;
            sum.timeouts += c.timeouts;
            sum.suppressed_acks += c.suppressed_acks;
            sum.eln_marks += c.eln_marks;
        }
        sum
    }
}

impl Sim {
    /// Shows a packet that this node is to pass on to the middleboxes of the node; whether it still goes on.
    #[inline]
    pub(super) fn pass(&mut self, n: NodeId, packet: PacketId) -> bool {
        (!self.timers.has_splits() || !self.ends_at_split(n, packet))
            && (self.boxes.is_empty() || self.pass_boxes(n, packet, None))
    }

    fn pass_boxes(&mut self, n: NodeId, packet: PacketId, mut after: Option<usize>) -> bool {
        let is_ack = matches!(self.slab[packet].body, Body::Ack(_));
        while let Some(i) = self.boxes.next(n, is_ack, after) {
            let mut verdict = Verdict::Pass;
            let free_slots = if is_ack { 0 } else { self.free_slots(n, self.slab[packet].goal) };
            self.with_box(i, free_slots, |b, slab, cx| verdict = b.on_packet(&mut slab[packet], cx));
            if verdict == Verdict::Absorb {
                self.slab.here(n, self.now);
                self.slab.end(packet, Fate::Absorbed);
                return false;
            }
            after = Some(i);
        }
        true
    }

    /// Calls a middlebox and sends what it makes.
    fn with_box(&mut self, i: usize, free_slots: usize, call: impl FnOnce(&mut Middlebox, &mut Slab, &mut Cx<'_>)) {
        let placed = &mut self.boxes.list[i];
        let n = placed.node;
        let start = self.boxes.made.len();
        let mut cx = Cx { now: self.now, free_slots, made: &mut self.boxes.made };
        call(&mut placed.middlebox, &mut self.slab, &mut cx);
        let at = placed.middlebox.deadline();
        if at != placed.at {
            placed.at = at;
            self.timers.set(Slot::Middlebox(i), at);
        }
        // A packet that it makes may lead to further packets of other middleboxes; these are carried first.
        let end = self.boxes.made.len();
        for k in start..end {
            self.slab.here(n, self.now);
            let made = self.slab.inject(self.boxes.made[k]);
            if self.pass_boxes(n, made, Some(i)) {
                self.forward(n, made);
            }
        }
        self.boxes.made.truncate(start);
    }

    /// A middlebox is due.
    #[inline(never)]
    pub(super) fn on_middlebox(&mut self, i: usize) {
        self.with_box(i, 0, |b, _, cx| b.on_deadline(cx));
    }

    /// A packet is dropped at a node.
    pub(super) fn drop_packet(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        if self.tells_of_queue {
            self.on_dropped_at(n, packet, reason);
        }
        self.lose_packet(n, packet, reason);
    }

    /// A packet is dropped that has left its node, or is at none.
    pub(super) fn lose_packet(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        if !self.boxes.is_empty() {
            let by_link = matches!(reason, Reason::RetryLimit | Reason::LinkError);
            for placed in &mut self.boxes.list {
                placed.middlebox.on_dropped(&self.slab[packet], placed.node == n, by_link);
            }
        }
        self.slab.here(n, self.now);
        self.slab.end(packet, Fate::Dropped(reason));
    }

    // ---- split connections ----

    /// Whether a packet on its way ends at this node, because its connection is split here.
    fn ends_at_split(&mut self, n: NodeId, packet: PacketId) -> bool {
        let p = &self.slab[packet];
        let f = p.flow.index();
        let Some(Flow { split: Some(split), .. }) = self.flows.get_mut(f) else { return false };
        let Body::Data(segment) = p.body else { return false };
        if split.node != n || p.halfway {
            return false;
        }
        split.halves.on_segment(&segment, p.hops, p.ecn, self.now, &mut self.tcp_said);
        self.slab.here(n, self.now);
        self.slab.end(packet, Fate::Absorbed);
        self.carry_split(f);
        true
    }

    /// An acknowledgement of the second half of a split connection has arrived.
    pub(super) fn on_split_ack(&mut self, f: usize, ack: &AckSegment, hops: u8) {
        if let Some(split) = &mut self.flows[f].split {
            split.halves.on_ack(ack, hops, self.now, &mut self.tcp_said);
        }
        self.carry_split(f);
    }

    /// A timer of the node that splits a connection is due.
    #[inline(never)]
    pub(super) fn on_split(&mut self, f: usize) {
        if let Some(split) = &mut self.flows[f].split {
            split.halves.on_deadline(self.now, &mut self.tcp_said);
        }
        self.carry_split(f);
    }

    /// Sends what the node that splits a connection has said, to both sides.
    fn carry_split(&mut self, f: usize) {
        let Some(split) = &self.flows[f].split else { return };
        let at = split.node;
        self.note_sender(f, true);
        let Some(split) = &self.flows[f].split else { return };
        self.timers.set(Slot::Split(f), split.halves.deadline());
        self.carry_tcp(f, at);
    }
}
