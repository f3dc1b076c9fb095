//! Source-route headers, kept with the packet pool and reused; each packet that has a header owns it.

use super::NodeId;

/// Index of a packet's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderId(pub(super) u32);

impl HeaderId {
    /// Stands for a packet without a header.
    pub const NONE: HeaderId = HeaderId(u32::MAX);

    /// Returns true if there is a header.
    #[inline]
    pub fn is_some(self) -> bool {
        self != HeaderId::NONE
    }
}

/// A broken link from one node to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BrokenLink {
    /// Node that cannot send over the link.
    pub from: NodeId,
    /// Node that is not reached.
    pub to: NodeId,
}

/// A route error: a broken link, and the node to be notified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteError {
    /// Link that is broken.
    pub link: BrokenLink,
    /// Node to be notified: the one that chose the route over this link; `BROADCAST`: all nodes.
    pub tell: NodeId,
    /// Destination of the packet that was lost there.
    pub lost: Option<NodeId>,
}

/// Flow state of a packet (RFC 4728, section 7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FlowState {
    /// No flow state: the route is in the header.
    #[default]
    None,
    /// The route is in the header, and nodes on the route store it under this number.
    Establishes(u32),
    /// Nodes on the route know it by this number.
    Follows(u32),
    /// The packet carries no number: it follows the newest flow of its source to its destination, the default flow.
    FollowsDefault,
}

impl FlowState {
    /// Returns true if the packet does not carry its route.
    pub fn hides_route(self) -> bool {
        matches!(self, FlowState::Follows(_) | FlowState::FollowsDefault)
    }
}

/// A header of DSR: a route and what goes with it.
#[derive(Debug)]
pub struct Header {
    /// Nodes of the route, ends included; for a route request the nodes it has passed.
    pub route: Vec<NodeId>,
    /// Position in the route of the node that holds or sends the packet.
    pub at: usize,
    /// Number of times that the packet was salvaged.
    pub salvaged: u8,
    /// Route returned by a route reply.
    pub reply: Vec<NodeId>,
    /// Route errors. The last one ends at the destination of the packet; the others are forwarded from there, one by
    /// one.
    pub errors: Vec<RouteError>,
    /// Destination of a flow that is unknown on the route, with the flow's number, or `None` for the default flow.
    pub unknown_flow: Option<(NodeId, Option<u32>)>,
    /// Flow state in the header (RFC 4728, flow state extension).
    pub flow: FlowState,
    /// Originator of the packet, and its number there; copies in flight share both.
    pub made: (NodeId, u32),
}

/// Originator of an unused header.
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

    /// Reuses the memory of the lists.
    fn clone_from(&mut self, other: &Header) {
        self.route.clone_from(&other.route);
        self.reply.clone_from(&other.reply);
        self.errors.clone_from(&other.errors);
        (self.at, self.salvaged, self.flow) = (other.at, other.salvaged, other.flow);
        (self.unknown_flow, self.made) = (other.unknown_flow, other.made);
    }
}

impl Header {
    /// An empty header with room for most routes.
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

    /// Next node on the route.
    pub fn next_hop(&self) -> Option<NodeId> {
        self.route.get(self.at + 1).copied()
    }

    /// Replaces the route from the current node on.
    pub fn set_route(&mut self, route: &[NodeId]) {
        self.route.clear();
        self.route.extend_from_slice(route);
        self.at = 0;
    }
}
