//! Contents of packets: segments, datagrams, messages of protocols.

use super::olsr::OlsrPacket;
use super::{NodeId, Seq, TlvsId};
use crate::unit::{Span, Time};

/// End of a connection, as a segment knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fin {
    /// There is no FIN.
    #[default]
    No,
    /// The last segment with data has the FIN flag.
    WithData,
    /// The FIN is a segment without data.
    Bare,
}

/// SYN or FIN flag of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flag {
    /// Neither flag.
    #[default]
    No,
    /// SYN: acknowledges a SYN, as the first acknowledgement of a connection.
    Syn,
    /// FIN: the receiver closes its end of the connection, too.
    Fin,
}

/// Purpose of a header of the source that takes no sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Probe that the receiver acknowledges at once.
    Probe,
    /// Acknowledgement of the receiver's FIN.
    FinAck,
}

/// A TCP segment with data, the SYN, or the FIN.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DataSegment {
    /// Number of the segment.
    pub seq: Seq,
    /// Bytes by which the payload is shorter than that of a full segment.
    pub missing: u32,
    /// Time at which this copy was sent.
    pub sent: Time,
    /// Time at which the last acknowledgement that had arrived was sent (RFC 7323 timestamp echo).
    pub echo: Time,
    /// Time at which the source of the flow sent the segment; earlier than `sent` where a connection is split.
    pub born: Time,
    /// True if the segment was sent before.
    pub retransmission: bool,
    /// True for the SYN, which carries no data.
    pub syn: bool,
    /// Purpose of a header without data that takes no sequence number.
    pub control: Option<Control>,
    /// FIN flag: the source has no more data.
    pub fin: Fin,
    /// PSH flag: a write of the application ends with the segment.
    pub push: bool,
    /// True for a segment sent as ECN-capable.
    pub ect: bool,
    /// ECE flag; on the SYN it offers ECN, together with CWR.
    pub ece: bool,
    /// CWR flag: the window was reduced since the last segment.
    pub cwr: bool,
}

impl DataSegment {
    /// Returns true if the segment is a probe without data.
    pub fn is_probe(&self) -> bool {
        self.control == Some(Control::Probe)
    }

    /// Returns true if the segment is nothing but the acknowledgement of the receiver's FIN.
    pub fn is_fin_ack(&self) -> bool {
        self.control == Some(Control::FinAck)
    }

    /// Returns true if the segment has no payload.
    pub fn has_no_payload(&self) -> bool {
        self.syn || self.control.is_some() || self.fin == Fin::Bare
    }
}

/// At most three SACK blocks, the most recent first; each a half-open range of segments (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 3],
    len: u8,
}

impl SackBlocks {
    /// Appends a block; ignores a fourth one.
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(block) = self.blocks.get_mut(self.len as usize) {
            *block = (left, right);
            self.len += 1;
        }
    }

    /// Blocks, the most recent first.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.blocks[..self.len as usize].iter().copied()
    }

    /// Number of blocks in the acknowledgement.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns true if there is no block.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP acknowledgement without data.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckSegment {
    /// RCV.NXT: number of the next expected segment.
    pub next: Seq,
    /// Send time of the segment that triggered it (RFC 7323 timestamp echo).
    pub echo: Time,
    /// Hops made by that segment.
    pub hops: u8,
    /// Receive window, in segments from `next` on.
    pub window: u32,
    /// Explicit loss notification: the next expected segment was lost on a link, not by congestion.
    pub eln: bool,
    /// Blocks of segments received above `next` (RFC 2018).
    pub sack: SackBlocks,
    /// SYN or FIN flag.
    pub flag: Flag,
    /// ECE flag: a segment has arrived with CE; on the acknowledgement of a SYN: ECN is accepted.
    pub ece: bool,
}

/// A UDP datagram.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Datagram {
    /// Sequence number of the datagram.
    pub seq: Seq,
    /// Differentiated services codepoint.
    pub dscp: u8,
}

/// An ARP message: request or reply (RFC 826).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// Sender of the message.
    pub sender: NodeId,
    /// Node whose address a request asks for, or to which a reply goes.
    pub target: NodeId,
    /// True for a request.
    pub request: bool,
}

/// A congestion notification of Neighborhood RED: the distributed queue of the sender's neighborhood is long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Notification {
    /// Drop probability for each packet that the receiver has in that queue.
    pub probability: f64,
    /// Time for which the notification holds.
    pub lifetime: Span,
}

/// Route request (RFC 3561, section 5.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rreq {
    /// Number of the request, unique for its originator.
    pub id: u32,
    /// Hops from the originator, including the last.
    pub hop_count: u8,
    /// True if the destination sequence number is unknown.
    pub unknown_seq: bool,
    /// Originator of the request.
    pub originator: NodeId,
    /// Sequence number of the originator.
    pub originator_seq: u32,
    /// Destination of the route.
    pub destination: NodeId,
    /// Latest sequence number of the destination known on the route.
    pub destination_seq: u32,
    /// Time at which the request was first sent.
    pub sent: Time,
}

/// Route reply (RFC 3561, section 5.2); a HELLO is one with TTL 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rrep {
    /// Hops to the destination, including the last.
    pub hop_count: u8,
    /// Destination of the route.
    pub destination: NodeId,
    /// Sequence number of the destination.
    pub destination_seq: u32,
    /// Originator of the request.
    pub originator: NodeId,
    /// Lifetime of the route.
    pub lifetime: Span,
    /// Time at which the request was first sent.
    pub sent: Time,
    /// True for a HELLO.
    pub hello: bool,
}

/// A destination listed in a routing message; OLSR and batman-adv pack their messages into such entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Destination node.
    pub node: NodeId,
    /// Sequence number of the destination.
    pub sequence: u32,
    /// Hops to the destination, as counted by the protocol; unused in a route error.
    pub hops: u8,
}

/// Index of a list of destinations, kept with the packet pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListId(pub(super) u32);

/// Route request of DSR (RFC 4728, section 6.2); its recorded route is in the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DsrRequest {
    /// Number of the request, ascending for its originator.
    pub id: u32,
    /// Destination of the route.
    pub target: NodeId,
    /// True if other nodes forward the request.
    pub propagates: bool,
}

/// Contents of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// a TCP data segment
    Data(DataSegment),
    /// a TCP acknowledgement
    Ack(AckSegment),
    /// a UDP datagram
    Datagram(Datagram),
    /// an AODV route request
    Rreq(Rreq),
    /// AODV route reply or HELLO.
    Rrep(Rrep),
    /// AODV route error: the unreachable destinations.
    Rerr(ListId),
    /// DSDV update: destinations and their distances.
    Update(ListId),
    /// Babel packet: its TLVs.
    Babel(TlvsId),
    /// an OLSR packet
    Olsr(OlsrPacket),
    /// Originator messages of batman-adv.
    Ogm(ListId),
    /// a DSR route request
    DsrRequest(DsrRequest),
    /// DSR route reply; its contents are in the header.
    DsrReply,
    /// DSR route error; its contents are in the header.
    DsrError,
    /// an ARP request or reply
    Arp(Arp),
    /// a congestion notification of Neighborhood RED
    Notification(Notification),
}

/// Kinds of packets that are counted separately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// TCP data and UDP datagrams.
    Data,
    /// TCP acknowledgements.
    Ack,
    /// Routing messages and congestion notifications.
    Routing,
    /// ARP messages.
    Arp,
}

impl Kind {
    /// All kinds, in the order of the rows of tables.
    pub const ALL: [Kind; 4] = [Kind::Data, Kind::Ack, Kind::Routing, Kind::Arp];

    /// Name of the kind in tables.
    pub fn name(self) -> &'static str {
        ["data", "ack", "routing", "arp"][self as usize]
    }
}

impl Body {
    /// Returns true if the message has a list, which is kept with the packet pool.
    #[inline]
    pub(super) fn has_list(&self) -> bool {
        matches!(self, Body::Rerr(_) | Body::Update(_) | Body::Olsr(_) | Body::Ogm(_) | Body::Babel(_))
    }

    /// Kind of a packet with this body.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Body::Data(_) | Body::Datagram(_) => Kind::Data,
            Body::Ack(_) => Kind::Ack,
            Body::Rreq(_)
            | Body::Rrep(_)
            | Body::Rerr(_)
            | Body::Update(_)
            | Body::Babel(_)
            | Body::Olsr(_)
            | Body::Ogm(_)
            | Body::DsrRequest(_)
            | Body::DsrReply
            | Body::DsrError
            | Body::Notification(_) => Kind::Routing,
            Body::Arp(_) => Kind::Arp,
        }
    }

    /// Returns true if the packet belongs to a TCP connection.
    pub fn is_tcp(&self) -> bool {
        matches!(self, Body::Data(_) | Body::Ack(_))
    }
}
