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
    /// DATA: data frame, which carries a packet.
    Data,
    /// ACK: acknowledgement.
    Ack,
    /// BlockAck: acknowledgement of the MPDUs of an aggregate.
    BlockAck,
    /// BlockAckReq: request for a block acknowledgement.
    BlockAckReq,
    /// CF-End: the rest of a TXOP is free.
    CfEnd,
    /// Action frame: a request for an agreement of block acknowledgement, or the response (ADDBA).
    Action,
}

impl FrameKind {
    /// Name of the type in traces.
    pub fn name(self) -> &'static str {
        ["RTS", "CTS", "DATA", "ACK", "BA", "BAR", "CF-END", "ACTION"][self as usize]
    }
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Type of the frame.
    pub kind: FrameKind,
    /// Receiver address (RA); may be the broadcast address.
    pub to: RadioId,
    /// Transmitter address; known to the simulator even for CTS and ACK.
    pub from: RadioId,
    /// Duration field: time for which the medium is reserved after this frame.
    pub duration: Span,
    /// Time on air, including preamble and PLCP header.
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

    /// Returns true if the frame is a data frame for one receiver.
    #[inline]
    pub fn is_unicast_data(&self) -> bool {
        self.kind == FrameKind::Data && !self.to.is_broadcast()
    }

    /// Returns true if the frame answers another one: a CTS or an ACK.
    #[inline]
    pub fn is_answer(&self) -> bool {
        matches!(self.kind, FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck)
    }

    /// Reason for a missing response; `None` if no response is due. `received`: the intended receiver decoded the
    /// frame.
    #[inline]
    pub fn unanswered(&self, received: bool) -> Option<Unanswered> {
        match self.kind {
            _ if self.to.is_broadcast() => None,
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck | FrameKind::CfEnd => None,
            FrameKind::Rts | FrameKind::Data | FrameKind::BlockAckReq | FrameKind::Action if !received => {
                Some(Unanswered::NotReceived)
            }
            // A CTS on the air would have marked this frame as answered, so the station has sent none.
            FrameKind::Rts => Some(Unanswered::Refused),
            FrameKind::Data | FrameKind::BlockAckReq | FrameKind::Action => Some(Unanswered::ResponseLost),
        }
    }
}

/// Reason why no CTS answers an RTS, or no ACK a unicast data frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unanswered {
    /// The intended receiver did not decode the frame.
    NotReceived,
    /// The intended receiver decoded the RTS, but NAV or carrier sense forbade the CTS.
    Refused,
    /// The intended receiver decoded the frame and responds, but the response does not arrive.
    ResponseLost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unicast_rts_and_data_ask_for_an_answer() {
        let frame = |kind, to| Frame { kind, to, ..Frame::NONE };
        let to = RadioId(1);
        let (rts, data) = (frame(FrameKind::Rts, to), frame(FrameKind::Data, to));
        assert_eq!([true, false].map(|r| rts.unanswered(r)), [Unanswered::Refused, Unanswered::NotReceived].map(Some));
        assert_eq!(
            [true, false].map(|r| data.unanswered(r)),
            [Unanswered::ResponseLost, Unanswered::NotReceived].map(Some)
        );
        for frame in [frame(FrameKind::Cts, to), frame(FrameKind::Ack, to), frame(FrameKind::Data, RadioId::BROADCAST)]
        {
            assert_eq!(frame.unanswered(false), None, "{frame:?}");
        }
    }
}
