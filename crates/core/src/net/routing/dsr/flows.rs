//! Flow state (RFC 4728, sections 3.5, 5 and 8.6): intermediate nodes store routes, and packets need not carry them.

use crate::packet::{BrokenLink, FlowState, Header, NodeId};
use crate::unit::{Span, Time};

/// A flow that begins at this node: one for each route.
#[derive(Clone, Debug)]
struct Own {
    to: NodeId,
    id: u32,
    route: Vec<NodeId>,
    /// TTL of the packet that established the flow.
    ttl: u8,
    /// Number of packets that carried the route, and the time of the last one.
    carried: u32,
    carried_at: Time,
    expires: Time,
}

/// A flow that is forwarded.
#[derive(Clone, Debug)]
struct Passing {
    source: NodeId,
    to: NodeId,
    id: u32,
    route: Vec<NodeId>,
    /// Position of this node in the route, and the TTL of packets that arrive here.
    at: usize,
    ttl: u8,
    expires: Time,
}

/// Forwarding of a packet.
pub(super) enum Passage<'a> {
    /// Along its own route.
    Along,
    /// Along the route of the default flow, from a position in it.
    Instead { route: &'a [NodeId], at: usize },
    /// The flow is unknown.
    Unknown,
}

/// Flow state of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    own: Vec<Own>,
    passing: Vec<Passing>,
    last_id: u32,
}

/// Rules for sending the route with packets, and for its lifetime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) first: u32,
    pub(super) refresh: Span,
    pub(super) timeout: Span,
}

impl Flows {
    /// No flows; numbers continue after this one, so that a new flow is not mistaken for an old one.
    pub(super) fn after(last_id: u32) -> Flows {
        Flows { last_id, ..Flows::default() }
    }

    pub(super) fn last_id(&self) -> u32 {
        self.last_id
    }

    /// Flow state for a packet sent along a route. Intermediate nodes assign packets without a number to the newest
    /// flow, and only with the expected TTL.
    pub(super) fn send(&mut self, to: NodeId, route: &[NodeId], ttl: u8, rule: &Rule, now: Time) -> FlowState {
        let place = self.own.iter().position(|f| f.to == to && f.expires > now && f.route == route);
        let place = place.unwrap_or_else(|| self.begin(to, route, ttl, now));
        let newest = self.own.iter().filter(|f| f.to == to && f.expires > now).map(|f| f.id).max();
        let flow = &mut self.own[place];
        let is_default = newest.is_none_or(|id| id <= flow.id) && flow.ttl == ttl;
        flow.expires = now + rule.timeout;
        if flow.carried < rule.first || flow.carried_at + rule.refresh < now {
            flow.carried += 1;
            flow.carried_at = now;
            return FlowState::Establishes(flow.id);
        }
        if is_default { FlowState::FollowsDefault } else { FlowState::Follows(flow.id) }
    }

    /// Creates a flow and returns its index.
    fn begin(&mut self, to: NodeId, route: &[NodeId], ttl: u8, now: Time) -> usize {
        let place = self.own.iter().position(|f| f.expires <= now).unwrap_or_else(|| {
            let route = Vec::with_capacity(16);
            self.own.push(Own { to, id: 0, route, ttl, carried: 0, carried_at: now, expires: Time::ZERO });
            self.own.len() - 1
        });
        self.last_id += 2;
        let flow = &mut self.own[place];
        (flow.to, flow.id, flow.ttl, flow.carried) = (to, self.last_id - 1, ttl, 0);
        flow.route.clear();
        flow.route.extend_from_slice(route);
        place
    }

    /// An intermediate node does not know a flow with this number, or the default flow: the next packets carry the
    /// route again.
    pub(super) fn on_unknown(&mut self, to: NodeId, flow: Option<u32>, default_restarts: bool) {
        let newest = self.own.iter().filter(|f| f.to == to).map(|f| f.id).max();
        let id = flow.or(newest.filter(|_| default_restarts));
        self.own.iter_mut().filter(|f| f.to == to && Some(f.id) == id).for_each(|f| f.carried = 0);
    }

    /// Ends all flows that begin here and use this link, and forwarded ones if `passing`.
    pub(super) fn cut(&mut self, link: BrokenLink, passing: bool) {
        let leads = |route: &[NodeId]| route.windows(2).any(|w| w == [link.from, link.to]);
        self.own.iter_mut().filter(|f| leads(&f.route)).for_each(|f| f.expires = Time::ZERO);
        if passing {
            self.passing.iter_mut().filter(|f| leads(&f.route)).for_each(|f| f.expires = Time::ZERO);
        }
    }

    /// Forwards a packet from a source to a destination that has arrived with this TTL.
    pub(super) fn pass(
        &mut self,
        ends: (NodeId, NodeId),
        ttl: u8,
        header: &Header,
        rule: &Rule,
        now: Time,
    ) -> Passage<'_> {
        let expires = now + rule.timeout;
        if let FlowState::Establishes(id) = header.flow {
            self.remember(ends, id, ttl, header, expires, now);
        }
        let mut live = self.passing.iter_mut().filter(|f| (f.source, f.to) == ends && f.expires > now);
        match header.flow {
            FlowState::None | FlowState::Establishes(_) => Passage::Along,
            FlowState::Follows(id) => match live.find(|f| f.id == id) {
                Some(flow) => {
                    flow.expires = expires;
                    Passage::Along
                }
                None => Passage::Unknown,
            },
            FlowState::FollowsDefault => match live.max_by_key(|f| f.id) {
                Some(flow) if flow.ttl == ttl => {
                    flow.expires = expires;
                    Passage::Instead { route: &flow.route, at: flow.at }
                }
                _ => Passage::Unknown,
            },
        }
    }

    fn remember(
        &mut self,
        (source, to): (NodeId, NodeId),
        id: u32,
        ttl: u8,
        header: &Header,
        expires: Time,
        now: Time,
    ) {
        let index = self.passing.iter().position(|f| (f.source, f.id) == (source, id));
        let place = index.or_else(|| self.passing.iter().position(|f| f.expires <= now)).unwrap_or_else(|| {
            if self.passing.capacity() == 0 {
                self.passing.reserve(64);
            }
            self.passing.push(Passing { source, to, id, route: Vec::with_capacity(16), at: 0, ttl, expires });
            self.passing.len() - 1
        });
        let flow = &mut self.passing[place];
        (flow.source, flow.to, flow.id) = (source, to, id);
        (flow.at, flow.ttl, flow.expires) = (header.at, ttl, expires);
        flow.route.clear();
        flow.route.extend_from_slice(&header.route);
    }
}
