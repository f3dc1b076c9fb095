//! Middleboxes: processing of connections by a node that only forwards their packets.
//!
//! A middlebox sees every packet of the flows that it serves where the node forwards it, before routing. It may pass
//! the packet, change it, consume it, and create packets of its own.

pub mod eln;
mod registry;
pub mod snoop;

use crate::packet::{Body, Flag, Packet, Seq};
use crate::unit::Time;
use crate::{counters, keywords};
use eln::Eln;
pub use registry::OnPath;
use registry::middleboxes;
use snoop::Snoop;

keywords! {
    /// Kinds of middleboxes.
    pub enum Kind {
        /// Retransmits lost segments locally and filters duplicate acknowledgements (Balakrishnan, Seshan and Katz
        /// 1995).
        Snoop = "snoop",
        /// Notifies the sender of losses that are not due to congestion (Balakrishnan and Katz 1998).
        Eln = "eln",
        /// Terminates the connection and forwards its data over a second one (I-TCP, Bakre and Badrinath 1995).
        Split = "split",
    }
}

/// Context of a call.
pub struct Cx<'a> {
    /// Current time.
    pub now: Time,
    /// Free places in the interface queue \[packets\].
    pub free_slots: usize,
    /// Packets created by the middlebox. They are routed like the packets of their flow, past the middleboxes that
    /// follow this one.
    pub made: &'a mut Vec<Packet>,
}

/// Decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet is forwarded.
    Pass,
    /// The packet is consumed.
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
        acks_suppressed,
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
    /// For each flow: true if it is served.
    serves: Vec<bool>,
}

impl Middlebox {
    /// A middlebox that serves the flows for which there is a `true`.
    pub fn new(settings: &Settings, serves: Vec<bool>) -> Middlebox {
        Middlebox { part: Part::new(settings, serves.len()), serves }
    }

    /// Handles a packet of a flow before it is forwarded.
    pub fn on_packet(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let f = p.flow.index();
        if !self.serves.get(f).is_some_and(|&s| s) {
            return Verdict::Pass;
        }
        match p.body {
            // A header carries no data.
            Body::Data(segment) if segment.control.is_none() => self.part.on_data(f, p, segment.seq, cx),
            // A FIN passes, also with an acknowledgement that is a duplicate.
            Body::Ack(ack) if ack.flag == Flag::Fin => {
                self.part.on_ack(f, p, ack.next, cx);
                Verdict::Pass
            }
            Body::Ack(ack) => self.part.on_ack(f, p, ack.next, cx),
            _ => Verdict::Pass,
        }
    }

    /// A packet was dropped: `here`, by this node, or farther on; by a `link`, or because of congestion.
    pub fn on_dropped(&mut self, p: &Packet, here: bool, by_link: bool) {
        let f = p.flow.index();
        if let (Body::Data(segment), Some(true)) = (p.body, self.serves.get(f))
            && segment.control.is_none()
        {
            self.part.on_dropped(f, segment.seq, here, by_link);
        }
    }

    /// Next timer of the middlebox.
    pub fn deadline(&self) -> Time {
        self.part.deadline()
    }

    /// Handles the timer that is due.
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
