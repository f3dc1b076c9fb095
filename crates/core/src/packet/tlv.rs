//! Contents of Babel packets (RFC 8966, section 4.6).

use super::NodeId;

/// Index of a list of TLVs, kept with the packet pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TlvsId(pub(super) u32);

/// A type-length-value of a Babel packet. Intervals are in centiseconds, as on the wire. The only prefix of a node is
/// its address, and its router-id is its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tlv {
    /// Hello, multicast.
    Hello {
        /// Sequence number of the Hello.
        seqno: u16,
        /// Time until the next Hello.
        interval: u16,
    },
    /// IHU ("I heard you").
    Ihu {
        /// Neighbor that was heard.
        node: NodeId,
        /// Cost of the link from that neighbor.
        rxcost: u16,
        /// Time until the next IHU.
        interval: u16,
    },
    /// Router-id of the updates that follow.
    RouterId(NodeId),
    /// Route to a prefix, or its retraction.
    Update {
        /// Node to whose address the route leads.
        prefix: NodeId,
        /// Time until the next update.
        interval: u16,
        /// Sequence number of the origin.
        seqno: u16,
        /// Metric of the route.
        metric: u16,
        /// Hops of the route, for tables: no part of the message.
        hops: u8,
    },
    /// Retraction of all routes of the sender: an update with a wildcard address.
    RetractAll {
        /// Sequence number of the sender.
        seqno: u16,
    },
    /// Request of a route, or of the whole table.
    RouteRequest(Option<NodeId>),
    /// Request of a newer sequence number.
    SeqnoRequest {
        /// Node to whose address the route leads.
        prefix: NodeId,
        /// Requested sequence number.
        seqno: u16,
        /// Hops that the request may still make.
        hop_count: u8,
        /// Router-id of the origin.
        router: NodeId,
    },
}

impl Tlv {
    /// Size with type and length, for IPv4 prefixes and link-local addresses \[B\].
    pub fn bytes(self) -> u32 {
        match self {
            Tlv::Hello { .. } | Tlv::RouteRequest(Some(_)) => 8,
            Tlv::Ihu { .. } | Tlv::Update { .. } => 16,
            Tlv::RouterId(_) | Tlv::RetractAll { .. } => 12,
            Tlv::RouteRequest(None) => 4,
            Tlv::SeqnoRequest { .. } => 20,
        }
    }
}
