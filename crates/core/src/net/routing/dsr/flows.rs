//! Flow state (RFC 4728, section 4.1 and 6): nodes on the way remember the route, and packets need not carry it.

use crate::packet::{FlowState, NodeId};
use crate::unit::{Span, Time};

/// A flow that begins here.
#[derive(Clone, Debug)]
struct Own {
    to: NodeId,
    id: u32,
    route: Vec<NodeId>,
    /// Packets that have carried the route, and when the last one did.
    told: u32,
    told_at: Time,
    expires: Time,
}

/// A flow that passes: its source, its number, until when it is remembered.
type Passing = (NodeId, u32, Time);

/// What a node knows of flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Flows {
    own: Vec<Own>,
    passing: Vec<Passing>,
    last_id: u32,
}

/// When packets carry the route, and how long it is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) first: u32,
    pub(super) refresh: Span,
    pub(super) timeout: Span,
}

impl Flows {
    /// No flows; numbers go on from this one, so that nobody takes a new flow for an old one.
    pub(super) fn after(last_id: u32) -> Flows {
        Flows { last_id, ..Flows::default() }
    }

    pub(super) fn last_id(&self) -> u32 {
        self.last_id
    }

    /// A packet goes along a route: what it carries.
    pub(super) fn send(&mut self, to: NodeId, route: &[NodeId], rule: &Rule, now: Time) -> FlowState {
        let place = self.own.iter().position(|f| f.to == to).unwrap_or_else(|| {
            let route = Vec::with_capacity(16);
            self.own.push(Own { to, id: 0, route, told: 0, told_at: now, expires: Time::ZERO });
            self.own.len() - 1
        });
        let flow = &mut self.own[place];
        if flow.route != route || flow.expires <= now {
            self.last_id += 2;
            flow.id = self.last_id - 1;
            flow.route.clear();
            flow.route.extend_from_slice(route);
            flow.told = 0;
        }
        flow.expires = now + rule.timeout;
        if flow.told < rule.first || flow.told_at + rule.refresh < now {
            flow.told += 1;
            flow.told_at = now;
            return FlowState::Establishes(flow.id);
        }
        FlowState::Follows(flow.id)
    }

    /// A node on the way does not know a flow: it is told anew.
    pub(super) fn forget(&mut self, to: NodeId) {
        for flow in self.own.iter_mut().filter(|f| f.to == to) {
            flow.route.clear();
        }
    }

    /// A packet of a flow passes; whether its way is known.
    pub(super) fn pass(&mut self, source: NodeId, flow: FlowState, rule: &Rule, now: Time) -> bool {
        let (FlowState::Establishes(id) | FlowState::Follows(id)) = flow else { return true };
        let expires = now + rule.timeout;
        if let Some(known) = self.passing.iter_mut().find(|f| (f.0, f.1) == (source, id) && f.2 > now) {
            known.2 = expires;
            return true;
        }
        if flow == FlowState::Follows(id) {
            return false;
        }
        match self.passing.iter_mut().find(|f| f.2 <= now) {
            Some(old) => *old = (source, id, expires),
            None => {
                if self.passing.capacity() == 0 {
                    self.passing.reserve(64);
                }
                self.passing.push((source, id, expires));
            }
        }
        true
    }
}
