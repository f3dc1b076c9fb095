//! External flows: the datagrams that a driver gives to a run, and the events that tell what became of them.

use crate::packet::{Ecn, FlowId, NodeId, Reason};
use crate::unit::{Bytes, Time};
use std::fmt;

/// UDP and IP header of a datagram.
pub const HEADER: Bytes = Bytes(28);

/// Datagrams of a flow from the oldest that is under way to the newest, at most. Within them the receiver tells first
/// deliveries from further ones.
pub const MOST_UNDER_WAY: u32 = crate::app::sink::KNOWN;

/// A datagram of an external flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injection {
    /// Payload \[B\]; the packet also has a [`HEADER`].
    pub bytes: u32,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Differentiated services codepoint, at most 63; `None`: that of the flow.
    pub dscp: Option<u8>,
    /// Number by which events name the datagram. The run only hands it back.
    pub tag: u64,
}

/// Event of an external flow. It happened at the present time of the run, which halts for it.
///
/// Of each datagram the run tells once that it has left its node, and either that it has arrived or that it is lost. A
/// datagram that is under way when the run ends has neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A datagram has reached the destination of its flow.
    Arrived {
        /// Flow of the datagram.
        flow: FlowId,
        /// Destination of the flow.
        endpoint: NodeId,
        /// Tag of the datagram.
        tag: u64,
        /// Time at which it was injected.
        sent: Time,
        /// ECN field with which it has arrived.
        ecn: Ecn,
        /// Number of hops over radios that it has made.
        hops: u8,
        /// True if it has arrived before: after lost ACKs the MAC or the routing protocol sends a frame again.
        copy: bool,
    },
    /// The source holds a datagram no longer: the next hop has it, a link transmits it, or it was dropped there.
    Left {
        /// Flow of the datagram.
        flow: FlowId,
        /// Source of the flow.
        endpoint: NodeId,
        /// Tag of the datagram.
        tag: u64,
    },
    /// A datagram was dropped, and no node holds a copy of it.
    Lost {
        /// Flow of the datagram.
        flow: FlowId,
        /// Source of the flow.
        endpoint: NodeId,
        /// Tag of the datagram.
        tag: u64,
        /// Node that has dropped the last copy.
        node: NodeId,
        /// Reason for which it has. `None`: its MAC has acknowledged the frame and discarded it, because the reordering
        /// buffer no longer waited for its number.
        reason: Option<Reason>,
    },
    /// The timer of an endpoint has expired.
    Wake {
        /// Node of the endpoint.
        endpoint: NodeId,
    },
}

impl Event {
    /// Node at which a driver is told of the event.
    pub fn endpoint(&self) -> NodeId {
        match *self {
            Event::Arrived { endpoint, .. }
            | Event::Left { endpoint, .. }
            | Event::Lost { endpoint, .. }
            | Event::Wake { endpoint } => endpoint,
        }
    }
}

/// Reason why a datagram was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No flow with this number has the application `external`.
    NotExternal(FlowId),
    /// With its header the datagram would be larger than `net.mtu`.
    TooLarge {
        /// Payload of the datagram.
        bytes: u32,
        /// Largest payload.
        most: Bytes,
    },
    /// The codepoint is larger than 63.
    NoCodepoint(u8),
    /// The run is over.
    RunOver,
    /// The source of the flow is switched off, or its battery is empty.
    NodeOff(NodeId),
    /// [`MOST_UNDER_WAY`] datagrams have been injected from the oldest that is under way on.
    TooMany(FlowId),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NotExternal(flow) => write!(f, "there is no flow {} with the application `external`", flow.0),
            Refused::TooLarge { bytes, most } => {
                write!(f, "a datagram of {bytes} + {HEADER} is larger than `net.mtu`; at most {most} fit")
            }
            Refused::NoCodepoint(dscp) => write!(f, "{dscp} is no codepoint; the largest is 63"),
            Refused::RunOver => write!(f, "the run is over"),
            Refused::NodeOff(node) => write!(f, "node {} is off", node.0),
            Refused::TooMany(flow) => write!(
                f,
                "flow {} has sent {MOST_UNDER_WAY} datagrams since one that is still under way; wait until it ends",
                flow.0
            ),
        }
    }
}

impl std::error::Error for Refused {}
