//! Segments within the node that sends them, for senders that track them there.

use crate::packet::{Body, FlowId, Packet, Seq};
use crate::unit::Time;

/// A segment in the node that sends it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub flow: FlowId,
    pub born: Time,
    pub from_split: bool,
    /// Its number; [`Seq::MAX`]: it has no data, SYN or FIN.
    pub seq: Seq,
}

impl Segment {
    /// Segment of a packet; `None` if the packet is no segment, or has left its node.
    pub fn of(p: &Packet) -> Option<Segment> {
        let Body::Data(data) = p.body else { return None };
        let seq = if data.control.is_some() { Seq::MAX } else { data.seq };
        (p.hops == 0).then_some(Segment { flow: p.flow, born: p.born, from_split: p.from_split, seq })
    }
}
