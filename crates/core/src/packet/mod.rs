//! Packets: the values that travel between layers, the pool that stores them, and the accounting of their outcomes.
//!
//! No bits are simulated; a header is a struct. From its creation to its end a packet stays in the pool and only its
//! [`PacketId`] moves. The pool counts every creation and every end, so that a run can show that each packet had
//! exactly one outcome.

mod header;
mod ledger;
mod lists;
mod log;
mod messages;
pub mod ogm;
pub mod olsr;
mod pool;
mod tlv;

use crate::unit::Time;
pub use header::{BrokenLink, FlowState, Header, HeaderId, RouteError};
pub use ledger::{Fate, Ledger, Ledgers, Reason};
pub use log::{Happening, Step};
pub use messages::{
    AckSegment, Arp, Body, Control, DataSegment, Datagram, DsrRequest, Fin, Flag, Kind, ListId, Listed, Notification,
    Rrep, Rreq, SackBlocks,
};
pub use pool::PacketPool;
pub use tlv::{Tlv, TlvsId};

/// A node. Nodes are numbered from 0 in the order of the topology.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Address of all nodes in range.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// Number of the node as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns true if this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == NodeId::BROADCAST
    }
}

/// A radio and its station, which share one address. The first radio of a node has the number of the node; additional
/// radios are numbered after all first radios.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct RadioId(pub u32);

impl RadioId {
    /// Address of all stations in range.
    pub const BROADCAST: RadioId = RadioId(u32::MAX);

    /// Number of the radio as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns true if this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == RadioId::BROADCAST
    }
}

/// A flow, numbered from 0 in the order of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// Flow of the network's own packets.
    pub const NONE: FlowId = FlowId(u32::MAX);

    /// Number of the flow as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a packet in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(pub u32);

/// Segments are numbered from 0; a cumulative acknowledgement names the next one expected.
pub type Seq = u32;

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport is not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0): the transport is ECN-capable.
    Ect,
    /// CE: congestion experienced.
    Ce,
}

/// A packet of the network layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// Contents of the packet.
    pub body: Body,
    /// Time at which the source created the packet.
    pub born: Time,
    /// Size at the network layer \[B\].
    pub bytes: u32,
    /// Bytes of the size that the routing protocol has added.
    pub overhead: u16,
    /// Source node.
    pub source: NodeId,
    /// Node to which the current network layer delivers it.
    pub destination: NodeId,
    /// Final destination: `destination`, or a node beyond it where nodes with a radio and wired nodes use different
    /// routing.
    pub final_destination: NodeId,
    /// Neighbor to which it is sent next.
    pub next_hop: NodeId,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Time to live: number of further hops allowed.
    pub ttl: u8,
    /// Number of hops made.
    pub hops: u8,
    /// ECN codepoint of the IP header (RFC 3168).
    pub ecn: Ecn,
    /// True if the packet goes to the head of this node's interface queue.
    pub urgent: bool,
    /// Set once the MAC of a node has tried to send the packet, so that the next hop may have received it.
    pub tried: bool,
    /// True if the packet was created by the node that splits its connection.
    pub from_split: bool,
    /// True if the packet was created in the measured part of the run, false if in the warm-up.
    pub measured: bool,
    /// Source-route header of DSR in the pool.
    pub header: HeaderId,
}

impl Packet {
    /// Takes the hop of a forwarded packet off its TTL. Returns false when the TTL has expired.
    #[inline]
    pub fn spend_hop(&mut self) -> bool {
        self.ttl = self.ttl.saturating_sub(1);
        self.ttl > 0
    }

    /// A packet that a node makes for a neighbor, or for all of them; it makes one hop and belongs to no flow.
    #[inline]
    pub fn new(body: Body, bytes: u32, from: NodeId, to: NodeId, born: Time) -> Packet {
        Packet {
            body,
            born,
            bytes,
            overhead: 0,
            source: from,
            destination: to,
            final_destination: to,
            next_hop: to,
            flow: FlowId::NONE,
            ttl: 1,
            hops: 0,
            ecn: Ecn::NotEct,
            urgent: false,
            tried: false,
            from_split: false,
            measured: true,
            header: HeaderId::NONE,
        }
    }

    /// Tells the directions of a flow apart in a hash, and so both halves of a split connection; without a flow the ends
    /// of the packet. Numbers of the nodes of a flow are not part of it: another node must not change who shares a queue.
    pub fn direction(&self) -> u64 {
        match self.flow {
            FlowId::NONE => u64::from(self.source.0) << 32 | u64::from(self.destination.0),
            _ => u64::from(matches!(self.body, Body::Ack(_))) << 1 | u64::from(self.from_split),
        }
    }

    /// The routing protocol adds these bytes.
    pub fn add_overhead(&mut self, bytes: u32) {
        self.bytes += bytes;
        self.overhead = self.overhead.saturating_add(bytes as u16);
    }

    /// Sets the number of bytes added by the routing protocol.
    pub fn set_overhead(&mut self, bytes: u32) {
        self.remove_overhead();
        self.add_overhead(bytes);
    }

    /// Removes the bytes added by the routing protocol.
    #[inline]
    pub fn remove_overhead(&mut self) {
        self.bytes -= u32::from(std::mem::take(&mut self.overhead));
    }
}
