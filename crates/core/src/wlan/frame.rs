//! Frames on the air.

use super::Mode;
use crate::packet::{PacketId, RadioId};
use crate::unit::Span;

/// Types of frames (IEEE 802.11-2020, 9.2.4.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// RTS: request to send.
    Rts,
    /// CTS: clear to send.
    Cts,
    /// Data frame.
    Data,
    /// ACK: acknowledgement.
    Ack,
}

impl FrameKind {
    /// Name of the type in traces.
    pub fn name(self) -> &'static str {
        ["RTS", "CTS", "DATA", "ACK"][self as usize]
    }
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Type of the frame.
    pub kind: FrameKind,
    /// Receiver address.
    pub to: RadioId,
    /// Transmitter address; known to the simulator even for CTS and ACK.
    pub from: RadioId,
    /// Duration field: time for which the medium is reserved after this frame.
    pub duration: Span,
    /// Time on air.
    pub airtime: Span,
    /// Rate of the MPDU.
    pub mode: Mode,
    /// Packet in a data frame.
    pub packet: Option<PacketId>,
    /// Sequence number of a data frame.
    pub seq: u16,
    /// Retry bit of a data frame.
    pub retry: bool,
    /// True for a data frame preceded by RTS and CTS.
    pub protected: bool,
}

impl Frame {
    /// Placeholder before a station has sent its first frame.
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
