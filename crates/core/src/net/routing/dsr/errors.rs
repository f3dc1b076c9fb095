//! Route maintenance (RFC 4728, section 8.3): packet salvaging, and route errors that are sent, forwarded and
//! processed.

use super::{Cx, Dsr, Out, message};
use crate::packet::{Body, BrokenLink, FlowState, Kind, NodeId, PacketId, PacketPool, Reason, RouteError};
use crate::unit::Span;

impl Dsr {
    /// The MAC has given up a packet, or its neighbor's address cannot be found.
    pub(super) fn lose_link(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        if !p.header.is_some() || p.next_hop.is_broadcast() {
            cx.out.push(Out::Drop { packet, reason: Reason::RetryLimit });
            return;
        }
        let broken = BrokenLink { from: cx.node, to: p.next_hop };
        let (destination, is_own) = (p.destination, p.source == cx.node);
        let anew = self.cache.has(broken);
        self.cut(broken);
        self.counters.links_deleted += 1;
        let header = cx.pool.header(p.header);
        let chooser = header.route[0];
        if chooser == cx.node {
            self.held = Some((broken, cx.now + self.cfg.error_hold));
        } else if header.errors.len() < usize::from(self.cfg.max_errors) {
            let error = RouteError { link: broken, tell: chooser, lost: Some(destination) };
            self.tell(packet, error, cx);
        }
        if chooser == cx.node || is_own {
            cx.out.push(Out::RouteLost { destination, anew });
        }
        self.save(packet, Reason::RetryLimit, cx);
        cx.out.push(Out::Return { next_hop: broken.to });
    }

    /// A packet was taken out of the queue because the neighbor to which it was to go is lost.
    pub(super) fn take_back(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.save(packet, Reason::RouteFailure, cx);
    }

    /// Removes all routes over this link, and the flows that end with it.
    fn cut(&mut self, link: BrokenLink) {
        self.cache.cut(link);
        self.flows.cut(link, self.cfg.passing_flows_end);
    }

    /// Lets a packet that leaves its flow carry its route again.
    fn carry_route(&self, packet: PacketId, pool: &mut PacketPool) {
        let id = pool[packet].header;
        if id.is_some() && pool.header(id).flow != FlowState::None {
            pool.header_mut(id).flow = FlowState::None;
            self.set_size(packet, pool);
        }
    }

    /// Salvages a packet if there is another route.
    pub(super) fn save(&mut self, packet: PacketId, reason: Reason, cx: &mut Cx<'_>) {
        self.carry_route(packet, cx.pool);
        let p = &cx.pool[packet];
        let (to, is_own, is_message) = (p.destination, p.source == cx.node, p.body.kind() == Kind::Routing);
        let (lost, is_error) = (BrokenLink { from: cx.node, to: p.next_hop }, matches!(p.body, Body::DsrError));
        if !p.header.is_some() {
            cx.out.push(Out::Drop { packet, reason });
            return;
        }
        if is_own && !is_message {
            return self.originate(packet, cx);
        }
        let id = p.header;
        let header = cx.pool.header(id);
        let tells_it = header.reply.windows(2).any(|w| w == [lost.from, lost.to] || w == [lost.to, lost.from]);
        let is_full = header.errors.len() >= usize::from(self.cfg.max_errors);
        if header.salvaged >= self.cfg.max_salvage || tells_it || (is_error && (is_full || !self.cfg.salvage_errors)) {
            cx.out.push(Out::Drop { packet, reason });
        } else if is_own && self.cfg.ns2.salvage_waits {
            self.originate(packet, cx);
        } else if self.find(to, true, cx.now) {
            cx.pool.header_mut(id).salvaged += 1;
            self.dispatch(packet, Span::ZERO, cx);
        } else if self.cfg.ns2.salvage_waits {
            self.keep(packet, true, cx);
        } else {
            cx.out.push(Out::Drop { packet, reason });
        }
    }

    /// Notifies the node that chose the route of a packet of the broken link, together with the errors that the packet
    /// itself carried (RFC 4728, 8.3.4).
    fn tell(&mut self, packet: PacketId, error: RouteError, cx: &mut Cx<'_>) {
        let header = cx.pool.header(cx.pool[packet].header);
        self.way.clear();
        self.way.extend(header.route[..=header.at].iter().rev());
        let mut errors = std::mem::take(&mut self.errors);
        errors.clear();
        errors.extend_from_slice(&header.errors);
        errors.push(error);
        let message = self.message(Body::DsrError, cx);
        cx.pool.header_mut(cx.pool[message].header).errors.extend_from_slice(&errors);
        self.errors = errors;
        self.set_size(message, cx.pool);
        self.send(message, Span::ZERO, cx);
    }

    /// A packet follows a flow that is unknown here: notifies its source.
    pub(super) fn on_unknown_flow(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        let (source, to) = (p.source, p.destination);
        let flow = if let FlowState::Follows(id) = cx.pool.header(p.header).flow { Some(id) } else { None };
        if self.cfg.ns2.salvage_unknown_flow {
            self.save(packet, Reason::NoRoute, cx);
        } else {
            cx.out.push(Out::Drop { packet, reason: Reason::NoRoute });
        }
        let message = message(Body::DsrError, 0, source, u8::MAX, cx);
        let id = self.new_header(message, cx);
        cx.pool.header_mut(id).unknown_flow = Some((to, flow));
        self.originate(message, cx);
    }

    /// Processes the errors that a packet carries. If it is `received`, the last one may be for this node: then those
    /// before it are sent on (RFC 4728, 8.3.5).
    pub(super) fn heed(&mut self, packet: PacketId, received: bool, cx: &mut Cx<'_>) {
        let header = cx.pool.header(cx.pool[packet].header);
        if header.errors.is_empty() {
            return;
        }
        let (mut errors, made) = (std::mem::take(&mut self.errors), header.made);
        errors.clear();
        errors.extend_from_slice(&header.errors);
        let mut anew = false;
        for error in &errors {
            if self.cache.has(error.link) {
                anew = true;
                cx.out.push(Out::RoutesCut);
            }
            self.cut(error.link);
        }
        let mut was_addressed = false;
        while let Some(error) = errors.pop_if(|e| received && e.tell == cx.node) {
            was_addressed = true;
            self.held = Some((error.link, cx.now + self.cfg.error_hold));
            if let Some(destination) = error.lost {
                cx.out.push(Out::RouteLost { destination, anew });
            }
        }
        let rest = errors.last().filter(|_| was_addressed).map(|e| e.tell);
        let message = rest.map(|to: NodeId| message(Body::DsrError, 0, to, u8::MAX, cx));
        if let Some(message) = message {
            let id = cx.pool.new_header(message);
            let header = cx.pool.header_mut(id);
            header.errors.extend_from_slice(&errors);
            // For nodes that have overheard it, this is the same packet.
            header.made = made;
        }
        self.errors = errors;
        if let Some(message) = message {
            self.originate(message, cx);
        }
    }
}
