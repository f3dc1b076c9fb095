//! Contents of a PSDU: the MPDUs of an aggregate, or the information of a control frame about them.

use crate::packet::PacketId;
use crate::unit::Span;

/// A packet in a PSDU: an MPDU, or an MSDU of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// The packet.
    pub packet: PacketId,
    /// Sequence number; the MSDUs of an A-MSDU share it.
    pub seq: u16,
    /// Retry bit.
    pub retry: bool,
    /// Size of the MPDU, header and FCS included \[B\].
    pub bytes: u32,
    /// Begin and end of the MPDU after the begin of the frame.
    pub from: Span,
    /// End of the MPDU after the begin of the frame.
    pub until: Span,
}

/// Content of a frame besides its header: filled by the station that sends it, read by those that receive it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Psdu {
    /// Traffic identifier.
    pub tid: u8,
    /// Data, in order.
    pub mpdus: Vec<Mpdu>,
    /// Several MPDUs, to which a block acknowledgement answers; else an ACK does.
    pub aggregate: bool,
    /// The MPDUs are sent under an agreement: the recipient puts them in order.
    pub agreed: bool,
    /// Starting sequence number of a block acknowledgement or of a request for one.
    pub start: u16,
    /// Acknowledged numbers from `start` on.
    pub bitmap: u64,
    /// An action frame is the response to a request.
    pub responds: bool,
    /// Size of the PSDU \[B\].
    pub bytes: u32,
}

impl Psdu {
    /// Fills it with one packet, to which no aggregate belongs.
    pub fn single(&mut self, packet: PacketId, bytes: u32) {
        self.mpdus.clear();
        self.mpdus.push(Mpdu { packet, seq: 0, retry: false, bytes, from: Span::ZERO, until: Span::ZERO });
        (self.tid, self.bytes, self.aggregate, self.agreed) = (0, bytes, false, false);
    }

    /// Number of MPDUs.
    pub fn count(&self) -> usize {
        self.count_that(|_| true)
    }

    /// Number of MPDUs for which a condition holds.
    pub fn count_that(&self, wanted: impl Fn(&Mpdu) -> bool) -> usize {
        self.mpdus.chunk_by(|a, b| a.seq == b.seq).filter(|mpdu| wanted(&mpdu[0])).count()
    }
}
