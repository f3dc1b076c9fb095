//! What TCP senders are told of their packets in their own node: that one has left it, and that its queue has dropped one.

use super::slots::Slot;
use super::{Ends, Flow, Sim};
use crate::packet::{Body, FlowId, NodeId, Packet, PacketId, RadioId, Reason};
use crate::run::{Setup, Transport};
use crate::tcp::{Config, LocalDrop};
use crate::unit::Time;

/// Whether a sender wants to hear of its packets in its own node.
pub(super) fn is_wanted(setup: &Setup) -> bool {
    let wants = |cfg: &Config| cfg.small_queue.is_some() || cfg.local_drop != LocalDrop::Lost;
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if wants(cfg));
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| wants(&s.tcp)))
        || setup.arrivals.iter().any(|a| wants(&a.tcp))
}

/// A segment in the node that sends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    flow: FlowId,
    born: Time,
    halfway: bool,
}

impl Segment {
    /// `None`: it is no segment, or has made a hop.
    pub(super) fn of(p: &Packet) -> Option<Segment> {
        (matches!(p.body, Body::Data(_)) && p.hops == 0).then_some(Segment {
            flow: p.flow,
            born: p.born,
            halfway: p.halfway,
        })
    }
}

impl Sim {
    /// The MAC of a radio is done with a packet that has been acknowledged.
    #[cold]
    pub(super) fn on_sent_by_mac(&mut self, r: RadioId, packet: PacketId) {
        self.on_mac_done(r, packet, false);
        if self.tells_of_queue
            && let Some(segment) = Segment::of(&self.slab[packet])
        {
            self.on_left(self.ports.node(r), segment, false);
        }
    }

    /// A segment has left a node, or was dropped there, perhaps by a full queue. If it is the node of its sender that is told.
    pub(super) fn on_left(&mut self, n: NodeId, segment: Segment, refused: bool) {
        let f = segment.flow.index();
        let Some(flow) = self.flows.get_mut(f).filter(|flow| segment.born >= flow.since) else { return };
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.halfway => {
                ends.0.on_left(refused, self.now);
                self.timers.set(Slot::Sender(f), ends.0.deadline());
            }
            Flow { split: Some(split), .. } if split.node == n && segment.halfway => {
                split.halves.on_left(refused, self.now);
                self.timers.set(Slot::Split(f), split.halves.deadline());
            }
            _ => {}
        }
    }

    /// A packet is dropped at a node, which may be that of its sender.
    #[cold]
    pub(super) fn on_dropped_at(&mut self, n: NodeId, packet: PacketId, reason: Reason) {
        let Some(segment) = Segment::of(&self.slab[packet]) else { return };
        // One that has come back from the MAC to go another way may have arrived all the same.
        let refused = reason == Reason::QueueFull && !self.slab[packet].tried;
        self.on_left(n, segment, refused);
        let Body::Data(data) = self.slab[packet].body else { return };
        let f = segment.flow.index();
        let Some(flow) = self.flows.get_mut(f).filter(|flow| segment.born >= flow.since) else { return };
        if !refused {
            return;
        }
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.halfway => {
                ends.0.on_local_drop(&data, self.now);
            }
            Flow { split: Some(split), .. } if split.node == n && segment.halfway => {
                split.halves.on_local_drop(&data, self.now);
            }
            _ => {}
        }
    }
}
