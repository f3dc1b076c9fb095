//! What packets carry: segments, datagrams, messages of the protocols.

use super::{NodeId, Seq};
use crate::unit::{Span, Time};

/// A TCP segment that carries data, or the SYN.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DataSegment {
    /// Number of the segment.
    pub seq: Seq,
    /// When this copy was sent.
    pub sent: Time,
    /// When the source of the flow sent it; earlier than `sent` where a connection is split.
    pub born: Time,
    /// Whether it had been sent before.
    pub retransmission: bool,
    /// Whether it is the SYN, which carries no data.
    pub syn: bool,
    /// Whether it is a header without data, to which the receiver answers at once.
    pub probe: bool,
    /// Whether it is sent as ECN-capable.
    pub ect: bool,
    /// ECE; on the SYN it offers ECN, together with CWR.
    pub ece: bool,
    /// CWR: the window has been cut since the last segment.
    pub cwr: bool,
}

/// At most three SACK blocks, the most recent first; each from a segment up to before another (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 3],
    len: u8,
}

impl SackBlocks {
    /// Adds a block at the end; a fourth one is left out.
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(block) = self.blocks.get_mut(self.len as usize) {
            *block = (left, right);
            self.len += 1;
        }
    }

    /// The blocks, the most recent first.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.blocks[..self.len as usize].iter().copied()
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP acknowledgement without data.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckSegment {
    /// The next segment expected.
    pub next: Seq,
    /// When the segment that caused it had been sent (RFC 7323 timestamp echo).
    pub echo: Time,
    /// Hops that this segment had made.
    pub hops: u8,
    /// Segments from `next` on that the receiver is ready to take.
    pub window: u32,
    /// Explicit loss notification: the segment expected next was lost by a link, not by congestion.
    pub eln: bool,
    /// Selectively acknowledged segments.
    pub sack: SackBlocks,
    /// SYN: it answers a SYN, as the first acknowledgement of a connection.
    pub syn: bool,
    /// ECE: a segment has arrived with CE; on the acknowledgement of a SYN: ECN is accepted.
    pub ece: bool,
}

/// A UDP datagram.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Datagram {
    /// Number of the datagram.
    pub seq: Seq,
}

/// An ARP message: request or reply (RFC 826).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// Who sends it.
    pub sender: NodeId,
    /// Who is asked, or who asked.
    pub target: NodeId,
    /// Whether it is a request.
    pub request: bool,
}

/// A notification of Neighborhood RED: the queue that its sender shares with its neighbours is long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Notification {
    /// The probability of a drop for each packet that the receiver has in that queue.
    pub probability: f64,
    /// How long it holds.
    pub lifetime: Span,
}

/// Route request (RFC 3561, section 5.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rreq {
    /// Number of the request, unique with its originator.
    pub id: u32,
    /// Hops from the originator, this one included.
    pub hop_count: u8,
    /// Whether the destination sequence number is unknown.
    pub unknown_seq: bool,
    /// Who asks.
    pub originator: NodeId,
    /// Its sequence number.
    pub originator_seq: u32,
    /// Where to.
    pub destination: NodeId,
    /// The newest sequence number of the destination known on the way.
    pub destination_seq: u32,
    /// When it was first sent.
    pub sent: Time,
}

/// Route reply (RFC 3561, section 5.2); a HELLO is one with TTL 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rrep {
    /// Hops to the destination, this one included.
    pub hop_count: u8,
    /// Whose route it is.
    pub destination: NodeId,
    /// Its sequence number.
    pub destination_seq: u32,
    /// Who asked.
    pub originator: NodeId,
    /// How long the route may be used.
    pub lifetime: Span,
    /// When the request was first sent.
    pub sent: Time,
    /// Whether it is a HELLO.
    pub hello: bool,
}

/// A destination that a message of a routing protocol lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The destination.
    pub node: NodeId,
    /// Its sequence number.
    pub sequence: u32,
    /// Hops to it, as the protocol counts them; in a route error none are meant.
    pub hops: u8,
}

/// A list of destinations, kept beside the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListId(pub(super) u32);

/// Route request of DSR (RFC 4728, section 6.2); its way is in the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DsrRequest {
    /// Number of the request; those of its originator grow.
    pub id: u32,
    /// Where to.
    pub target: NodeId,
    /// Whether it is passed on.
    pub propagates: bool,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// TCP data.
    Data(DataSegment),
    /// TCP acknowledgement.
    Ack(AckSegment),
    /// UDP.
    Datagram(Datagram),
    /// AODV route request.
    Rreq(Rreq),
    /// AODV route reply or HELLO.
    Rrep(Rrep),
    /// AODV route error: the unreachable destinations.
    Rerr(ListId),
    /// DSDV update: destinations and how far they are.
    Update(ListId),
    /// Route request of DSR.
    DsrRequest(DsrRequest),
    /// Route reply of DSR; what it says is in the header.
    DsrReply,
    /// Route error of DSR; what it says is in the header.
    DsrError,
    /// ARP.
    Arp(Arp),
    /// Neighborhood congestion notification.
    Notification(Notification),
}

/// Kinds of packets that are counted apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// TCP data and UDP.
    Data,
    /// TCP acknowledgements.
    Ack,
    /// Routing messages, and notifications of congestion.
    Routing,
    /// ARP messages.
    Arp,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Data, Kind::Ack, Kind::Routing, Kind::Arp];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        ["data", "ack", "routing", "arp"][self as usize]
    }
}

impl Body {
    /// The list that belongs to it.
    #[inline]
    pub(super) fn list(&self) -> Option<ListId> {
        match self {
            Body::Rerr(list) | Body::Update(list) => Some(*list),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn list_mut(&mut self) -> Option<&mut ListId> {
        match self {
            Body::Rerr(list) | Body::Update(list) => Some(list),
            _ => None,
        }
    }

    /// The kind of a packet with this body.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Body::Data(_) | Body::Datagram(_) => Kind::Data,
            Body::Ack(_) => Kind::Ack,
            Body::Rreq(_)
            | Body::Rrep(_)
            | Body::Rerr(_)
            | Body::Update(_)
            | Body::DsrRequest(_)
            | Body::DsrReply
            | Body::DsrError
            | Body::Notification(_) => Kind::Routing,
            Body::Arp(_) => Kind::Arp,
        }
    }

    /// Tells if the packet belongs to a TCP connection.
    pub fn is_tcp(&self) -> bool {
        matches!(self, Body::Data(_) | Body::Ack(_))
    }
}
