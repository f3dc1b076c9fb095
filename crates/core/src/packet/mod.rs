//! Packets: the values that travel between the rooms, the slab they live in, and the ledger of their fates.
//!
//! Nothing about the bits is simulated; a header is a struct. From its creation to its end a packet stays in the
//! slab and only its [`PacketId`] moves. The slab books every birth and every death, so that a run can show at its end
//! that each packet had exactly one fate.

mod header;
mod ledger;
mod log;
mod messages;
mod slab;

use crate::unit::Time;
pub use header::{BrokenLink, FlowState, Header, HeaderId, RouteError};
pub use ledger::{Fate, Ledger, Reason};
pub use log::{Happening, Step};
pub use messages::{
    AckSegment, Arp, Body, DataSegment, Datagram, DsrRequest, Kind, ListId, Listed, Notification, Rrep, Rreq,
    SackBlocks,
};
pub use slab::Slab;

/// A node. Nodes are numbered from 0 in the order of the topology.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// All nodes in range.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == NodeId::BROADCAST
    }
}

/// A radio, and the station that uses it: their address. The first radio of a node has the number of the node; further
/// radios are numbered after all of those.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RadioId(pub u32);

impl RadioId {
    /// All stations in range.
    pub const BROADCAST: RadioId = RadioId(u32::MAX);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == RadioId::BROADCAST
    }
}

/// A flow, numbered from 0 in the order of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// Packets of the network itself belong to no flow.
    pub const NONE: FlowId = FlowId(u32::MAX);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A packet in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(pub u32);

/// Segments are numbered from 0; a cumulative acknowledgement names the next one expected.
pub type Seq = u32;

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport does not understand ECN.
    #[default]
    NotEct,
    /// ECT(0): it does.
    Ect,
    /// CE: congestion was experienced on the way.
    Ce,
}

/// A packet of the network layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// What it carries.
    pub body: Body,
    /// When its source made it.
    pub born: Time,
    /// Size at the network layer \[B\].
    pub bytes: u32,
    /// Bytes of these that the routing protocol has added.
    pub overhead: u16,
    /// Where it comes from.
    pub source: NodeId,
    /// The node to which its network layer takes it.
    pub destination: NodeId,
    /// The node that it is for: the destination, or one behind it where nodes with a radio and nodes on wires use
    /// routes of different kinds.
    pub goal: NodeId,
    /// The neighbour it is sent to next.
    pub next_hop: NodeId,
    /// Its flow.
    pub flow: FlowId,
    /// Hops it may still make.
    pub ttl: u8,
    /// Hops it has made.
    pub hops: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Whether it goes to the head of the interface queue of this node.
    pub urgent: bool,
    /// Set once the MAC of a node has tried to send it, so that a next hop may have received it.
    pub tried: bool,
    /// Whether it was made by the node that splits its connection.
    pub halfway: bool,
    /// Its header of source routing.
    pub header: HeaderId,
}

impl Packet {
    /// A packet that a node makes for a neighbour, or for all of them; it makes one hop and belongs to no flow.
    #[inline]
    pub fn new(body: Body, bytes: u32, from: NodeId, to: NodeId, born: Time) -> Packet {
        Packet {
            body,
            born,
            bytes,
            overhead: 0,
            source: from,
            destination: to,
            goal: to,
            next_hop: to,
            flow: FlowId::NONE,
            ttl: 1,
            hops: 0,
            ecn: Ecn::NotEct,
            urgent: false,
            tried: false,
            halfway: false,
            header: HeaderId::NONE,
        }
    }

    /// The routing protocol adds these bytes.
    pub fn add_overhead(&mut self, bytes: u32) {
        self.bytes += bytes;
        self.overhead = self.overhead.saturating_add(bytes as u16);
    }

    /// What the routing protocol has added are these bytes from now on, in place of those before.
    pub fn set_overhead(&mut self, bytes: u32) {
        self.remove_overhead();
        self.add_overhead(bytes);
    }

    /// What the routing protocol has added is taken off again.
    #[inline]
    pub fn remove_overhead(&mut self) {
        self.bytes -= u32::from(std::mem::take(&mut self.overhead));
    }
}
