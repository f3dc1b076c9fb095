//! What a node learns from frames for others (RFC 4728, section 3.4): ways, broken links, detours to itself.

use super::{Cx, Dsr, cut_all};
use crate::packet::{Body, FlowState, Header, NodeId, PacketId};
use crate::unit::Span;

impl Dsr {
    /// A frame for another node was read.
    pub(in crate::net::routing) fn on_overheard(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.slab[packet];
        if !p.header.is_some() {
            return;
        }
        let header = cx.slab.header(p.header);
        if matches!(header.flow, FlowState::Follows(_)) {
            return;
        }
        cut_all(&mut self.cache, &header.errors, cx.out);
        let Header { route, at, reply, .. } = header;
        let sender = route.get(*at);
        if let Some(index) = reply.iter().position(|n| Some(n) == sender)
            && !reply.contains(&cx.node)
        {
            self.learn_beside(reply, index, cx);
        }
        match route.iter().position(|&n| n == cx.node) {
            None => self.learn_beside(route, *at, cx),
            Some(index) if index > at + 1 => self.tell_shorter(packet, index, cx),
            Some(_) => {}
        }
    }

    /// Learns the ways over a neighbour that stands in a route.
    fn learn_beside(&mut self, route: &[NodeId], index: usize, cx: &Cx<'_>) {
        if index >= route.len() {
            return;
        }
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend_from_slice(&route[index..]);
        self.cache.add(&self.way, false, cx.now);
        self.way.truncate(1);
        self.way.extend(route[..=index].iter().rev());
        self.cache.add(&self.way, false, cx.now);
    }

    /// A packet is on a detour to this node: its source is told the shorter way (RFC 4728, section 3.4.3).
    fn tell_shorter(&mut self, packet: PacketId, index: usize, cx: &mut Cx<'_>) {
        let header = cx.slab.header(cx.slab[packet].header);
        let at = header.at;
        let (from, to) = (header.route[0], *header.route.last().expect("a way"));
        self.shortened.retain(|s| s.2 > cx.now);
        if self.shortened.iter().any(|s| (s.0, s.1) == (from, to)) {
            return;
        }
        self.shortened.push((from, to, cx.now + self.cfg.grat_reply_holdoff));
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(header.route[..=at].iter().rev());
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        told.extend_from_slice(&header.route[..=at]);
        told.extend_from_slice(&header.route[index..]);
        self.counters.rrep_originated += 1;
        let reply = self.message(Body::DsrReply, cx);
        cx.slab.header_mut(cx.slab[reply].header).reply.extend_from_slice(&told);
        self.told = told;
        self.set_size(reply, cx.slab);
        self.overhead.send(reply, Span::ZERO, cx);
    }
}
