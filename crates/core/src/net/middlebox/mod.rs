//! Middleboxes: processing of connections by a node that only forwards their packets.
//!
//! A middlebox sees every packet of the flows that it serves where the node forwards it, before routing. It may pass
//! the packet, change it, consume it, and create packets of its own.

pub mod eln;
pub mod snoop;

use crate::keywords;
use crate::packet::{Body, Packet};
use crate::unit::Time;

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

/// Counters of a middlebox for one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Local retransmissions.
    pub retransmissions: u64,
    /// Local retransmissions due to a timer.
    pub timeouts: u64,
    /// Acknowledgements that were filtered.
    pub suppressed_acks: u64,
    /// Acknowledgements that were marked with a loss notification.
    pub eln_marks: u64,
}

/// Function of a middlebox.
#[derive(Clone, Debug)]
pub enum Part {
    /// Snoop agent.
    Snoop(snoop::Snoop),
    /// Explicit loss notification.
    Eln(eln::Eln),
}

/// A middlebox of a node.
#[derive(Clone, Debug)]
pub struct Middlebox {
    part: Part,
    /// For each flow: true if it is served.
    serves: Vec<bool>,
}

impl Middlebox {
    /// A middlebox that serves the flows with a `true`.
    pub fn new(part: Part, serves: Vec<bool>) -> Middlebox {
        Middlebox { part, serves }
    }

    /// Handles a packet of a flow before it is forwarded.
    pub fn on_packet(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let f = p.flow.index();
        if !self.serves.get(f).is_some_and(|&s| s) {
            return Verdict::Pass;
        }
        match (&mut self.part, p.body) {
            // A probe carries no data.
            (_, Body::Data(segment)) if segment.probe => Verdict::Pass,
            (Part::Snoop(s), Body::Data(segment)) => s.on_data(f, p, segment.seq, cx),
            (Part::Snoop(s), Body::Ack(ack)) => s.on_ack(f, p, ack.next, cx),
            (Part::Eln(e), Body::Data(segment)) => {
                e.on_data(f, segment.seq);
                Verdict::Pass
            }
            (Part::Eln(e), Body::Ack(_)) => {
                if let Body::Ack(ack) = &mut p.body {
                    ack.eln |= e.marks(f, ack.next);
                }
                Verdict::Pass
            }
            _ => Verdict::Pass,
        }
    }

    /// A packet was dropped: `here`, by this node, or farther on; by a `link`, or because of congestion.
    pub fn on_dropped(&mut self, p: &Packet, here: bool, by_link: bool) {
        let f = p.flow.index();
        if let (Part::Eln(e), Body::Data(segment), Some(true)) = (&mut self.part, p.body, self.serves.get(f))
            && !segment.probe
        {
            e.on_dropped(f, segment.seq, here, by_link);
        }
    }

    /// Next timer of the middlebox.
    pub fn deadline(&self) -> Time {
        match &self.part {
            Part::Snoop(s) => s.deadline(),
            Part::Eln(_) => Time::NEVER,
        }
    }

    /// Handles the timer.
    pub fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        if let Part::Snoop(s) = &mut self.part {
            s.on_deadline(cx);
        }
    }

    /// Counters of a flow.
    pub fn counters(&self, flow: usize) -> Counters {
        if flow >= self.serves.len() {
            return Counters::default();
        }
        match &self.part {
            Part::Snoop(s) => s.counters(flow),
            Part::Eln(e) => e.counters(flow),
        }
    }
}
