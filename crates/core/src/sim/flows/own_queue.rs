//! Reports to TCP senders on their packets within their own node: packets that have left the node, and local drops.

use super::Flows;
use super::flow::{Ends, Flow};
use crate::packet::{Body, FlowId, NodeId, Packet, Reason};
use crate::sim::network::segment::Segment;
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::unit::Time;

impl Flows {
    /// Flow of a segment; `None` if a later flow has its number.
    fn flow_of(&mut self, segment: Segment) -> Option<&mut Flow> {
        self.list.get_mut(segment.flow.index()).filter(|flow| segment.born >= flow.since)
    }

    /// Number of segments that the TCP sender of a flow hands over at once, in one GSO packet of Linux.
    pub fn segments_at_once(&self, flow: FlowId) -> u32 {
        match self.list.get(flow.index()) {
            Some(Flow { ends: Ends::Tcp(ends), .. }) => ends.sender.connection().segments_at_once(),
            _ => 1,
        }
    }

    /// A segment has left a node, or was dropped there. Notifies its sender if that is in the same node. `refused`: a
    /// full queue dropped the segment.
    pub fn on_left(&mut self, n: NodeId, segment: Segment, refused: bool, now: Time, timers: &mut Timers) {
        let f = segment.flow.index();
        let Some(flow) = self.flow_of(segment) else { return };
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.from_split => {
                ends.sender.on_left(segment.seq, refused, now);
                timers.set(Timer::Sender(f), ends.sender.deadline());
            }
            Flow { split: Some(split), .. } if split.node == n && segment.from_split => {
                split.halves.on_left(segment.seq, refused, now);
                timers.set(Timer::Split(f), split.halves.deadline());
            }
            _ => {}
        }
    }

    /// A packet is passed to an 802.11 radio of a node, which may be the node of its sender.
    pub fn on_radio(&mut self, n: NodeId, p: &Packet) {
        match Segment::of(p).and_then(|segment| Some((self.flow_of(segment)?, segment.from_split))) {
            Some((Flow { from, ends: Ends::Tcp(ends), .. }, false)) if *from == n => ends.sender.on_radio(),
            Some((Flow { split: Some(split), .. }, true)) if split.node == n => split.halves.on_radio(),
            _ => {}
        }
    }

    /// A packet is dropped at a node, which may be the node of its sender.
    #[inline]
    pub fn on_dropped_at(&mut self, n: NodeId, p: &Packet, reason: Reason, now: Time, timers: &mut Timers) {
        if self.reports_queue {
            self.report_dropped(n, p, reason, now, timers);
        }
    }

    #[cold]
    fn report_dropped(&mut self, n: NodeId, p: &Packet, reason: Reason, now: Time, timers: &mut Timers) {
        let Some(segment) = Segment::of(p) else { return };
        // A segment that the MAC has returned may have arrived nevertheless.
        let refused = reason == Reason::QueueFull && !p.tried;
        self.on_left(n, segment, refused, now, timers);
        let Body::Data(data) = p.body else { return };
        let Some(flow) = self.flow_of(segment).filter(|_| refused) else { return };
        match flow {
            Flow { from, ends: Ends::Tcp(ends), .. } if *from == n && !segment.from_split => {
                ends.sender.on_local_drop(&data, now);
            }
            Flow { split: Some(split), .. } if split.node == n && segment.from_split => {
                split.halves.on_local_drop(&data, now);
            }
            _ => {}
        }
    }
}
