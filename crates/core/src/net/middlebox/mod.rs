//! Middleboxes: what a node does with packets of connections that only pass through it.
//!
//! A middlebox sees every packet of the flows that it serves where the node passes it on, before it is routed. It may
//! let it pass, change it, take it out of the way, and make packets of its own.

pub mod eln;
mod registry;
pub mod snoop;

use crate::packet::{Body, Packet, Seq};
use crate::unit::Time;
use crate::{counters, keywords};
use eln::Eln;
pub use registry::OnPath;
use registry::middleboxes;
use snoop::Snoop;

keywords! {
    /// Middleboxes.
    pub enum Kind {
        /// Sends lost segments again and keeps duplicate acknowledgements back (Balakrishnan, Seshan and Katz 1995).
        Snoop = "snoop",
        /// Tells the sender which losses are not due to congestion (Balakrishnan and Katz 1998).
        Eln = "eln",
        /// Ends the connection and sends its data on over another one (I-TCP, Bakre and Badrinath 1995).
        Split = "split",
    }
}

/// What a middlebox may use.
pub struct Cx<'a> {
    /// Now.
    pub now: Time,
    /// Packets for which there is room in the interface queue.
    pub free_slots: usize,
    /// Packets that it makes. They go the way of the packets of their flow, past the middleboxes that come after this one.
    pub made: &'a mut Vec<Packet>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It ends here.
    Absorb,
}

counters! {
    /// Counters of a middlebox, of one flow.
    pub struct Counters {
        /// Segments sent again.
        retransmissions,
        /// Segments sent again that a timer has caused.
        timeouts,
        /// Acknowledgements kept back.
        suppressed_acks,
        /// Acknowledgements that got a loss notification.
        eln_marks,
    }
}

middleboxes! {
    /// Snoop.
    Snoop: snoop::Config;
    /// Explicit loss notification.
    Eln: eln::Config;
}

/// A middlebox of a node.
#[derive(Clone, Debug)]
pub struct Middlebox {
    part: Part,
    /// Which flows it serves.
    serves: Vec<bool>,
}

impl Middlebox {
    /// A middlebox that serves the flows for which there is a `true`.
    pub fn new(settings: &Settings, serves: Vec<bool>) -> Middlebox {
        Middlebox { part: Part::new(settings, serves.len()), serves }
    }

    /// A packet of a flow is passed on.
    pub fn on_packet(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let f = p.flow.index();
        if !self.serves.get(f).is_some_and(|&s| s) {
            return Verdict::Pass;
        }
        match p.body {
            // A probe carries no data.
            Body::Data(segment) if !segment.probe => self.part.on_data(f, p, segment.seq, cx),
            Body::Ack(ack) => self.part.on_ack(f, p, ack.next, cx),
            _ => Verdict::Pass,
        }
    }

    /// A packet was dropped: `here`, by this node, or farther on; by a `link`, or because of congestion.
    pub fn on_dropped(&mut self, p: &Packet, here: bool, by_link: bool) {
        let f = p.flow.index();
        if let (Body::Data(segment), Some(true)) = (p.body, self.serves.get(f))
            && !segment.probe
        {
            self.part.on_dropped(f, segment.seq, here, by_link);
        }
    }

    /// When the middlebox wants to be called.
    pub fn deadline(&self) -> Time {
        self.part.deadline()
    }

    /// Its deadline has come.
    pub fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        self.part.on_deadline(cx);
    }

    /// Counters of a flow.
    pub fn counters(&self, flow: usize) -> Counters {
        if flow >= self.serves.len() {
            return Counters::default();
        }
        self.part.counters(flow)
    }
}
