//! Trace of frames, and of packets on point-to-point links, for tests.

use super::note::Note;
use crate::packet::{NodeId, Packet, RadioId};
use crate::radio::Verdict;
use crate::unit::Time;
use crate::wlan::{Frame, FrameKind};

/// Event of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The frame went on the air.
    Sent,
    /// The intended receiver decoded the frame.
    Received,
    /// The frame ended damaged at a node that was locked on it.
    Damaged,
}

/// A line of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Time of the event.
    pub at: Time,
    /// Radio of the event.
    pub radio: RadioId,
    /// Kind of the event.
    pub what: What,
    /// Type of the frame.
    pub kind: FrameKind,
    /// Radio that transmits the frame.
    pub from: RadioId,
    /// Radio to which the frame is addressed.
    pub to: RadioId,
    /// Size of the network packet in a data frame \[B\].
    pub bytes: u32,
    /// Duration field, which sets NAVs \[us\].
    pub duration_us: u64,
}

/// A packet that arrived over a point-to-point link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Time of the arrival.
    pub at: Time,
    /// Node that sent the packet.
    pub from: NodeId,
    /// Node that received the packet.
    pub to: NodeId,
    /// Packet that arrived.
    pub packet: Packet,
}

/// Lines in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Events of frames at radios.
    pub lines: Vec<Line>,
    /// Packets that arrived undamaged over point-to-point links.
    pub arrivals: Vec<Arrival>,
    bytes_on_air: Vec<(RadioId, u32)>,
}

impl Trace {
    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        match *note {
            Note::FrameBegins { frame, packet, .. } => {
                let bytes = packet.map_or(0, |p| p.0.bytes);
                self.bytes_on_air.retain(|b| b.0 != frame.from);
                self.bytes_on_air.push((frame.from, bytes));
                self.line(at, frame.from, What::Sent, frame, bytes);
            }
            Note::FrameHeard { radio, frame, verdict, .. } => self.on_heard(at, radio, frame, verdict),
            Note::Arrival { from, to, packet, .. } => self.arrivals.push(Arrival { at, from, to, packet: *packet }),
            _ => {}
        }
    }

    fn on_heard(&mut self, at: Time, radio: RadioId, frame: &Frame, verdict: Verdict) {
        let bytes = self.bytes_on_air.iter().find(|b| b.0 == frame.from).map_or(0, |b| b.1);
        let mine = frame.to == radio || frame.to.is_broadcast();
        match verdict {
            Verdict::Decoded if mine => self.line(at, radio, What::Received, frame, bytes),
            Verdict::Damaged | Verdict::Noise => self.line(at, radio, What::Damaged, frame, bytes),
            Verdict::Decoded => {}
        }
    }

    fn line(&mut self, at: Time, radio: RadioId, what: What, frame: &Frame, bytes: u32) {
        self.lines.push(Line {
            at,
            radio,
            what,
            kind: frame.kind,
            from: frame.from,
            to: frame.to,
            bytes,
            duration_us: frame.duration.0 / 1000,
        });
    }
}
