//! Interface between the network layer and middleboxes, and the nodes at which connections are split.

use crate::net::middlebox::{Cx, Middlebox, Verdict};
use crate::packet::{AckSegment, Body, Fate, NodeId, PacketId, PacketPool, Reason};
use crate::sim::Sim;
use crate::sim::flows::Flow;
use crate::sim::timer_numbers::Timer;
use crate::unit::Time;

impl Sim {
    /// Passes a packet to the middleboxes of a node that forwards it. Returns false if the packet ends there.
    #[inline]
    pub(in crate::sim) fn pass(&mut self, n: NodeId, packet: PacketId) -> bool {
        (!self.timers.has_splits() || !self.ends_at_split(n, packet))
            && (self.net.boxes.is_empty() || self.pass_boxes(n, packet, None))
    }

    fn pass_boxes(&mut self, n: NodeId, packet: PacketId, mut after: Option<usize>) -> bool {
        let is_ack = matches!(self.pool[packet].body, Body::Ack(_));
        while let Some(i) = self.net.boxes.next(n, is_ack, after) {
            let mut verdict = Verdict::Pass;
            let free_slots = if is_ack { 0 } else { self.free_slots(n, packet) };
            self.with_box(i, free_slots, |b, pool, cx| verdict = b.on_packet(&mut pool[packet], cx));
            if verdict == Verdict::Absorb {
                self.pool.set_context(n, self.now);
                self.pool.end(packet, Fate::Absorbed);
                return false;
            }
            after = Some(i);
        }
        true
    }

    /// Calls a middlebox and sends the packets that it creates.
    fn with_box(
        &mut self,
        i: usize,
        free_slots: usize,
        call: impl FnOnce(&mut Middlebox, &mut PacketPool, &mut Cx<'_>),
    ) {
        let placed = &mut self.net.boxes.list[i];
        let n = placed.node;
        let start = self.net.boxes.made.len();
        let mut cx = Cx { now: self.now, free_slots, made: &mut self.net.boxes.made };
        call(&mut placed.middlebox, &mut self.pool, &mut cx);
        let at = placed.middlebox.deadline();
        if at != placed.at {
            placed.at = at;
            self.timers.set(Timer::Middlebox(i), at);
        }
        // Sending a packet may call other middleboxes, whose new packets are sent first.
        let end = self.net.boxes.made.len();
        for k in start..end {
            self.pool.set_context(n, self.now);
            let made = self.pool.inject(self.net.boxes.made[k]);
            if self.pass_boxes(n, made, Some(i)) {
                self.forward(n, made);
            }
        }
        self.net.boxes.made.truncate(start);
    }

    /// The timer of a middlebox has expired.
    #[inline(never)]
    pub(in crate::sim) fn on_middlebox(&mut self, i: usize) {
        self.with_box(i, 0, |b, _, cx| b.on_deadline(cx));
    }

    /// Drops a packet at a node.
    pub(in crate::sim) fn drop_packet(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        self.flows.on_dropped_at(n, &self.pool[packet], reason, self.now, &mut self.timers);
        self.lose_packet(n, packet, reason);
    }

    /// Drops a packet that has left its node.
    pub(in crate::sim) fn lose_packet(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        if !self.net.boxes.is_empty() {
            let by_link = matches!(reason, Reason::RetryLimit | Reason::LinkError);
            for placed in &mut self.net.boxes.list {
                placed.middlebox.on_dropped(&self.pool[packet], placed.node == n, by_link);
            }
        }
        self.watch.drops.count(&self.pool[packet], reason);
        self.pool.set_context(n, self.now);
        self.pool.end(packet, Fate::Dropped(reason));
    }

    // ---- split connections ----

    /// Ends a segment at a node that splits its connection. Returns true if so.
    fn ends_at_split(&mut self, n: NodeId, packet: PacketId) -> bool {
        let p = &self.pool[packet];
        let f = p.flow.index();
        let Some(Flow { split: Some(split), .. }) = self.flows.list.get_mut(f) else { return false };
        let Body::Data(segment) = p.body else { return false };
        if split.node != n || p.from_split {
            return false;
        }
        split.halves.on_segment(&segment, p.hops, p.ecn, self.now, &mut self.flows.actions);
        self.pool.set_context(n, self.now);
        self.pool.end(packet, Fate::Absorbed);
        self.dispatch_split(f);
        true
    }

    /// An acknowledgement of the second half of a split connection has arrived.
    pub(in crate::sim) fn on_split_ack(&mut self, f: usize, ack: &AckSegment, hops: u8, sent: Time) {
        if let Some(split) = &mut self.flows.list[f].split {
            split.halves.note_sent(sent);
            split.halves.on_ack(ack, hops, self.now, &mut self.flows.actions);
        }
        self.dispatch_split(f);
    }

    /// The timer of a split connection has expired.
    #[inline(never)]
    pub(in crate::sim) fn on_split(&mut self, f: usize) {
        if let Some(split) = &mut self.flows.list[f].split {
            split.halves.on_deadline(self.now, &mut self.flows.actions);
        }
        self.dispatch_split(f);
    }

    /// Dispatches the actions of a node that splits a connection, towards both sides.
    fn dispatch_split(&mut self, f: usize) {
        let flow = &self.flows.list[f];
        let Some(split) = &flow.split else { return };
        self.watch.note_sender(self.now, f, flow, true);
        let at = split.node;
        self.timers.set(Timer::Split(f), split.halves.deadline());
        self.dispatch_tcp(f, at);
    }
}
