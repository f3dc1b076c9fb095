//! Middleboxes: what a node does with packets of connections that only pass through it.
//!
//! A middlebox sees every packet of the flows that it serves where the node passes it on, before it is routed. It may
//! let it pass, change it, take it out of the way, and make packets of its own.

pub mod eln;
pub mod snoop;

use crate::keywords;
use crate::packet::{Body, Packet};
use crate::unit::Time;

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

/// Counters of a middlebox, of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent again.
    pub retransmissions: u64,
    /// Those of them that a timer has caused.
    pub timeouts: u64,
    /// Acknowledgements kept back.
    pub suppressed_acks: u64,
    /// Acknowledgements that got a loss notification.
    pub eln_marks: u64,
}

/// What a middlebox does.
#[derive(Clone, Debug)]
pub enum Part {
    /// Snoop.
    Snoop(snoop::Snoop),
    /// Loss notifications.
    Eln(eln::Eln),
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
    pub fn new(part: Part, serves: Vec<bool>) -> Middlebox {
        Middlebox { part, serves }
    }

    /// A packet of a flow is passed on.
    pub fn on_packet(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let f = p.flow.index();
        if !self.serves.get(f).is_some_and(|&s| s) {
            return Verdict::Pass;
        }
        match (&mut self.part, p.body) {
            // It carries no data.
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

    /// When the middlebox wants to be called.
    pub fn deadline(&self) -> Time {
        match &self.part {
            Part::Snoop(s) => s.deadline(),
            Part::Eln(_) => Time::NEVER,
        }
    }

    /// Its deadline has come.
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
