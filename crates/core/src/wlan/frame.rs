//! Frames on the air.

use super::Mode;
use crate::packet::{PacketId, RadioId};
use crate::unit::Span;

/// Types of frames (IEEE 802.11-2020, 9.2.4.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Data.
    Data,
    /// Acknowledgement.
    Ack,
}

impl FrameKind {
    /// Its name in traces.
    pub fn name(self) -> &'static str {
        ["RTS", "CTS", "DATA", "ACK"][self as usize]
    }
}

/// A frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its type.
    pub kind: FrameKind,
    /// Receiver address.
    pub to: RadioId,
    /// Transmitter address; known to the simulator for CTS and ACK, too.
    pub from: RadioId,
    /// Duration field: for how long the medium is reserved after this frame.
    pub duration: Span,
    /// Time on air.
    pub airtime: Span,
    /// The rate of its MPDU.
    pub mode: Mode,
    /// The packet in a data frame.
    pub packet: Option<PacketId>,
    /// Sequence number of a data frame.
    pub seq: u16,
    /// Retry bit.
    pub retry: bool,
    /// Whether a data frame is preceded by RTS and CTS.
    pub protected: bool,
}

impl Frame {
    /// No frame at all: before a station has sent its first.
    pub const NONE: Frame = Frame {
        kind: FrameKind::Ack,
        to: RadioId::BROADCAST,
        from: RadioId::BROADCAST,
        duration: Span::ZERO,
        airtime: Span::ZERO,
        mode: Mode::LOWEST,
        packet: None,
        seq: 0,
        retry: false,
        protected: false,
    };
}
