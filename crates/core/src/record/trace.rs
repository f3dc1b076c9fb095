//! A trace of frames and of packets on wires, for tests and for looking closely. Off, it costs one test of a bit for
//! each of them.

use crate::packet::{NodeId, Packet, RadioId, Slab};
use crate::radio::Verdict;
use crate::unit::Time;
use crate::wlan::{Frame, FrameKind};

/// What happened to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It was put on the air.
    Sent,
    /// It was received by the one it was for.
    Received,
    /// It ended damaged at a node that was locked on it.
    Damaged,
}

/// A line of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// When.
    pub at: Time,
    /// At which radio.
    pub radio: RadioId,
    /// What.
    pub what: What,
    /// The type of the frame.
    pub kind: FrameKind,
    /// Transmitter and receiver address.
    pub from: RadioId,
    /// Receiver address.
    pub to: RadioId,
    /// Size of the network packet in a data frame \[B\].
    pub bytes: u32,
    /// Duration field \[us\].
    pub duration_us: u64,
}

/// A packet that arrived at the end of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// From where.
    pub from: NodeId,
    /// Where.
    pub to: NodeId,
    /// The packet.
    pub packet: Packet,
}

/// Lines in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Frames.
    pub lines: Vec<Line>,
    /// Packets that came over wires undamaged.
    pub arrivals: Vec<Arrival>,
    bytes_on_air: Vec<(RadioId, u32)>,
}

impl Trace {
    /// A frame is put on the air.
    pub fn on_transmit(&mut self, at: Time, radio: RadioId, frame: &Frame, slab: &Slab) {
        let bytes = frame.packet.map_or(0, |p| slab[p].bytes);
        self.bytes_on_air.retain(|b| b.0 != radio);
        self.bytes_on_air.push((radio, bytes));
        self.line(at, radio, What::Sent, frame, bytes);
    }

    /// A frame has ended at a radio.
    pub fn on_received(&mut self, at: Time, radio: RadioId, frame: &Frame, verdict: Verdict) {
        let bytes = self.bytes_on_air.iter().find(|b| b.0 == frame.from).map_or(0, |b| b.1);
        let mine = frame.to == radio || frame.to.is_broadcast();
        match verdict {
            Verdict::Decoded if mine => self.line(at, radio, What::Received, frame, bytes),
            Verdict::Damaged | Verdict::Noise => self.line(at, radio, What::Damaged, frame, bytes),
            Verdict::Decoded => {}
        }
    }

    /// A packet has come over a wire.
    pub fn on_arrival(&mut self, at: Time, from: NodeId, to: NodeId, packet: &Packet) {
        self.arrivals.push(Arrival { at, from, to, packet: *packet });
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
