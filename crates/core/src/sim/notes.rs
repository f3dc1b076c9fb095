//! Notes for observers. Each call costs one test when there are none.

use super::Sim;
use crate::packet::{NodeId, PacketId, RadioId};
use crate::record::loss::Cause;
use crate::record::note::{Note, QueueId};
use crate::tcp::Sender;
use crate::unit::Time;
use crate::wlan::Frame;

impl Sim {
    #[inline]
    pub(super) fn note(&mut self, at: Time, note: &Note<'_>) {
        if let Some(observers) = &mut self.observers {
            observers.on(at, note);
        }
    }

    /// A frame goes on the air.
    pub(super) fn note_begin(&mut self, at: Time, frame: &Frame) {
        let Some(observers) = &mut self.observers else { return };
        let packet = frame.packet.map(|id| (&self.slab[id], self.slab.number(id)));
        let timing = &self.macs[frame.from.index()].rules.timing;
        let bytes = timing.bytes_of(frame.kind, packet.map_or(0, |p| p.0.bytes));
        observers.on(at, &Note::FrameBegins { frame, bytes, packet });
    }

    /// What has happened to packets since this was last called.
    pub(super) fn note_packets(&mut self) {
        let Some(observers) = &mut self.observers else { return };
        for step in self.slab.take_steps().into_iter().flatten() {
            observers.on(step.at, &Note::Packet(&step));
        }
    }

    /// The last attempt to send a packet has failed, and it is given up.
    #[inline]
    pub(super) fn note_given_up(&mut self, packet: PacketId, cause: Cause) {
        if self.observers.is_some() {
            self.note(self.now, &Note::GivenUp { number: self.slab.number(packet), cause });
        }
    }

    /// A sender of a flow has acted: that of the source, or that of the node that splits the connection.
    #[inline]
    pub(super) fn note_sender(&mut self, flow: usize, at_split: bool) {
        if self.observers.is_some() {
            self.tell_sender(flow, at_split);
        }
    }

    #[cold]
    fn tell_sender(&mut self, f: usize, at_split: bool) {
        let Some(observers) = &mut self.observers else { return };
        let flow = &self.flows[f];
        let mut tell = |node: NodeId, sender: &Sender| {
            observers.on(self.now, &Note::Sender { flow: f as u32, node, sender });
        };
        match (&flow.ends, &flow.split) {
            (_, Some(split)) if at_split => tell(split.node, split.halves.sender()),
            (super::Ends::Tcp(ends), _) if !at_split => tell(flow.from, &ends.0),
            _ => {}
        }
    }

    /// The interface queue of a radio has changed.
    #[inline]
    pub(super) fn note_queue(&mut self, radio: RadioId, at: Time) {
        if self.observers.is_some() {
            self.tell_queue(radio, at);
        }
    }

    #[cold]
    fn tell_queue(&mut self, radio: RadioId, at: Time) {
        let Some(observers) = &mut self.observers else { return };
        let (queue, id) = (&self.ports.queues[radio.index()], QueueId::Radio(radio));
        observers.on(at, &Note::Queue { id, queue, bytes: queue.bytes(&self.slab) });
    }

    /// The routes of a node may have changed, where the protocol finds routes during the run.
    #[inline]
    pub(super) fn note_routes(&mut self, node: NodeId) {
        if self.observers.is_some() {
            self.tell_routes(node);
        }
    }

    #[cold]
    pub(super) fn tell_routes(&mut self, node: NodeId) {
        let Some(observers) = &mut self.observers else { return };
        let router = &self.nodes[node.index()].router;
        if router.learns() || self.now == Time::ZERO {
            observers.on(self.now, &Note::Router { node, router });
        }
    }
}
