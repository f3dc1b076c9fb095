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

/// A route error: a link is broken, and a node is to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteError {
    /// The link.
    pub link: BrokenLink,
    /// Node that is told: the one that chose the way over this link; `BROADCAST`: everybody.
    pub tell: NodeId,
    /// The destination of the packet that was lost there.
    pub lost: Option<NodeId>,
}

/// What a packet has of flow state (RFC 4728, section 7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlowState {
    /// Nothing: the route stands in the header.
    #[default]
    None,
    /// The route stands there, and nodes on the way remember it under this number.
    Establishes(u32),
    /// The nodes on the way know it by this number.
    Follows(u32),
    /// The packet itself carries nothing: it goes with the newest flow of its source to its destination, the default flow.
    FollowsDefault,
}

impl FlowState {
    /// Tells if the packet does not carry its route.
    pub fn hides_route(self) -> bool {
        matches!(self, FlowState::Follows(_) | FlowState::FollowsDefault)
    }
}

/// A header of DSR: a route and what goes with it.
#[derive(Debug)]
pub struct Header {
    /// The nodes of the way, ends included; of a route request: those that it has passed.
    pub route: Vec<NodeId>,
    /// The place in the route of the node that has the packet, or sends it.
    pub at: usize,
    /// How often it was salvaged.
    pub salvaged: u8,
    /// The way that a route reply tells.
    pub reply: Vec<NodeId>,
    /// Route errors. The last is for the destination of the packet; those before it go on from there, one by one.
    pub errors: Vec<RouteError>,
    /// A flow to this destination is not known on its way: its number, or none of the default flow.
    pub unknown_flow: Option<(NodeId, Option<u32>)>,
    /// Flow state.
    pub flow: FlowState,
    /// Maker of the packet, and its number there; copies on its way have the same.
    pub made: (NodeId, u32),
}

/// Of a header that is not in use.
const NOBODY: (NodeId, u32) = (NodeId::BROADCAST, 0);

impl Default for Header {
    fn default() -> Header {
        Header {
            route: Vec::new(),
            at: 0,
            salvaged: 0,
            reply: Vec::new(),
            errors: Vec::new(),
            unknown_flow: None,
            flow: FlowState::None,
            made: NOBODY,
        }
    }
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
        (self.unknown_flow, self.made) = (other.unknown_flow, other.made);
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
        (self.unknown_flow, self.made) = (None, NOBODY);
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
