//! TCP senders are told of their packets in their own node: that one has left it, and that its queue has dropped one.

use super::{Ends, Flow, Flows};
use crate::packet::{Body, FlowId, NodeId, Packet, Reason};
use crate::run::{Setup, Transport};
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::tcp::{Config, LocalDrop};
use crate::unit::Time;

/// Tells if a sender wants to hear of its packets in its own node.
pub fn is_wanted(setup: &Setup) -> bool {
    let wants = |cfg: &Config| cfg.small_queue.is_some() || cfg.local_drop != LocalDrop::Lost;
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if wants(cfg));
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| wants(&s.tcp)))
        || setup.arrivals.iter().any(|a| wants(&a.tcp))
}

/// A segment in the node that sends it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    flow: FlowId,
    born: Time,
    halfway: bool,
}

impl Segment {
    /// `None`: it is no segment, or has made a hop.
    pub fn of(p: &Packet) -> Option<Segment> {
        (matches!(p.body, Body::Data(_)) && p.hops == 0).then_some(Segment {
            flow: p.flow,
            born: p.born,
            halfway: p.halfway,
        })
    }
}

impl Flows {
    /// A segment has left a node, or was dropped there, perhaps by a full queue. Its sender is told in its own node.
    pub fn on_left(&mut self, n: NodeId, segment: Segment, refused: bool, now: Time, timers: &mut Timers) {
        let f = segment.flow.index();
        let Some(flow) = self.list.get_mut(f).filter(|flow| segment.born >= flow.since) else { return };
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.halfway => {
                ends.0.on_left(refused, now);
                timers.set(Timer::Sender(f), ends.0.deadline());
            }
            Flow { split: Some(split), .. } if split.node == n && segment.halfway => {
                split.halves.on_left(refused, now);
                timers.set(Timer::Split(f), split.halves.deadline());
            }
            _ => {}
        }
    }

    /// A packet is dropped at a node, which may be that of its sender.
    #[inline]
    pub fn on_dropped_at(&mut self, n: NodeId, p: &Packet, reason: Reason, now: Time, timers: &mut Timers) {
        if self.tells_of_queue {
            self.tell_dropped(n, p, reason, now, timers);
        }
    }

    #[cold]
    fn tell_dropped(&mut self, n: NodeId, p: &Packet, reason: Reason, now: Time, timers: &mut Timers) {
        let Some(segment) = Segment::of(p) else { return };
        // One that has come back from the MAC to go another way may have arrived all the same.
        let refused = reason == Reason::QueueFull && !p.tried;
        self.on_left(n, segment, refused, now, timers);
        let Body::Data(data) = p.body else { return };
        let f = segment.flow.index();
        let Some(flow) = self.list.get_mut(f).filter(|flow| segment.born >= flow.since) else { return };
        if !refused {
            return;
        }
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.halfway => {
                ends.0.on_local_drop(&data, now);
            }
            Flow { split: Some(split), .. } if split.node == n && segment.halfway => {
                split.halves.on_local_drop(&data, now);
            }
            _ => {}
        }
    }
}
