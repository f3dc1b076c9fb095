//! Headers of source routing, kept beside the slab and used again: of packets that have one, each has its own.

use super::NodeId;

/// The header of a packet, in a list beside the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderId(pub(super) u32);

impl HeaderId {
    /// No header.
    pub const NONE: HeaderId = HeaderId(u32::MAX);

    /// Whether there is one.
    #[inline]
    pub fn is_some(self) -> bool {
        self != HeaderId::NONE
    }
}

/// A link that is broken: from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BrokenLink {
    /// Who cannot send.
    pub from: NodeId,
    /// Who does not receive.
    pub to: NodeId,
}

/// What a packet has of flow state (RFC 4728, section 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlowState {
    /// Nothing: the route stands in the header.
    #[default]
    None,
    /// The route stands there, and nodes on the way remember it under this number.
    Establishes(u32),
    /// The nodes on the way know it by this number; the packet itself carries nothing.
    Follows(u32),
}

/// A header of DSR: a route and what goes with it.
#[derive(Debug, Default)]
pub struct Header {
    /// The nodes of the way, ends included; of a route request: those that it has passed.
    pub route: Vec<NodeId>,
    /// The place in the route of the node that has the packet, or sends it.
    pub at: usize,
    /// How often it was salvaged.
    pub salvaged: u8,
    /// The way that a route reply tells.
    pub reply: Vec<NodeId>,
    /// Route errors.
    pub errors: Vec<BrokenLink>,
    /// A flow to this destination is not known on its way.
    pub unknown_flow: Option<NodeId>,
    /// The destination of the packet that a route error tells of.
    pub lost: Option<NodeId>,
    /// Flow state.
    pub flow: FlowState,
}

impl Clone for Header {
    fn clone(&self) -> Header {
        let mut copy = Header::with_room();
        copy.clone_from(self);
        copy
    }

    /// Keeps the room of its lists.
    fn clone_from(&mut self, other: &Header) {
        self.route.clone_from(&other.route);
        self.reply.clone_from(&other.reply);
        self.errors.clone_from(&other.errors);
        (self.at, self.salvaged, self.flow) = (other.at, other.salvaged, other.flow);
        (self.unknown_flow, self.lost) = (other.unknown_flow, other.lost);
    }
}

impl Header {
    /// An empty header with room for most ways.
    pub(super) fn with_room() -> Header {
        let room = || Vec::with_capacity(16);
        Header { route: room(), reply: room(), errors: Vec::with_capacity(2), ..Header::default() }
    }

    pub(super) fn clear(&mut self) {
        self.route.clear();
        self.reply.clear();
        self.errors.clear();
        (self.at, self.salvaged, self.flow) = (0, 0, FlowState::None);
        (self.unknown_flow, self.lost) = (None, None);
    }

    /// The neighbour to which the packet goes from where it is.
    pub fn next_hop(&self) -> Option<NodeId> {
        self.route.get(self.at + 1).copied()
    }

    /// The packet is to go another way from here.
    pub fn set_route(&mut self, route: &[NodeId]) {
        self.route.clear();
        self.route.extend_from_slice(route);
        self.at = 0;
    }
}
