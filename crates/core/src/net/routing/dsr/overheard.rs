//! Learning from overheard frames (RFC 4728, section 3.4): routes, broken links, and automatic route shortening.

use super::{Cx, Dsr};
use crate::packet::{Body, Header, NodeId, PacketId};
use crate::unit::Span;

/// Packets that were overheard, by originator: the highest number, and a record of the numbers up to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    of: Vec<(NodeId, u32, [u64; Heard::SPAN as usize / 64])>,
}

impl Heard {
    /// Size of the record for each originator; older packets count as overheard.
    const SPAN: u32 = 1024;

    /// Records an overheard packet; returns true if it was overheard before.
    fn saw(&mut self, (maker, number): (NodeId, u32)) -> bool {
        let index = self.of.iter().position(|h| h.0 == maker).unwrap_or_else(|| {
            self.of.push((maker, 0, [0; Heard::SPAN as usize / 64]));
            self.of.len() - 1
        });
        let (_, highest, heard) = &mut self.of[index];
        for n in number.saturating_sub(Heard::SPAN - 1).max(*highest + 1)..=number {
            heard[(n % Heard::SPAN) as usize / 64] &= !(1 << (n % 64));
        }
        *highest = number.max(*highest);
        let (word, bit) = (&mut heard[(number % Heard::SPAN) as usize / 64], 1 << (number % 64));
        let was = *highest - number >= Heard::SPAN || *word & bit != 0;
        if *highest - number < Heard::SPAN {
            *word |= bit;
        }
        was
    }
}

impl Dsr {
    /// A frame for another node was read.
    pub(super) fn overhear(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        let p = &cx.pool[packet];
        if !p.header.is_some() {
            return;
        }
        let header = cx.pool.header(p.header);
        if header.flow.hides_route() {
            return;
        }
        if self.cfg.ns2.overhear_once && self.heard.saw(header.made) {
            return;
        }
        self.heed(packet, self.cfg.ns2.overheard_errors, cx);
        let header = cx.pool.header(cx.pool[packet].header);
        let Header { route, at, reply, .. } = header;
        let sender = route.get(*at);
        if let Some(index) = reply.iter().position(|n| Some(n) == sender)
            && !reply.contains(&cx.node)
        {
            self.learn_beside(reply, index, cx);
        }
        match route.iter().position(|&n| n == cx.node) {
            None => self.learn_beside(route, *at, cx),
            Some(index) if index > at + 1 => {
                self.learn_back(route, *at, cx);
                self.tell_shorter(packet, index, cx);
            }
            Some(_) => {}
        }
    }

    /// Learns the routes over a neighbor on an overheard route.
    fn learn_beside(&mut self, route: &[NodeId], index: usize, cx: &Cx<'_>) {
        if index >= route.len() {
            return;
        }
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend_from_slice(&route[index..]);
        self.cache.add(&self.way, false, cx.now);
        self.learn_back(route, index, cx);
    }

    /// Learns the route over a neighbor to the beginning of an overheard route.
    fn learn_back(&mut self, route: &[NodeId], index: usize, cx: &Cx<'_>) {
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(route[..=index].iter().rev());
        self.cache.add(&self.way, false, cx.now);
    }

    /// A packet takes a detour to this node: reports the shorter route to its source (RFC 4728, section 3.4.3).
    fn tell_shorter(&mut self, packet: PacketId, index: usize, cx: &mut Cx<'_>) {
        let header = cx.pool.header(cx.pool[packet].header);
        let at = header.at;
        if !self.shorter.may(&header.route, at, &self.cfg, cx.now) {
            return;
        }
        self.way.clear();
        self.way.push(cx.node);
        self.way.extend(header.route[..=at].iter().rev());
        let mut reply_route = std::mem::take(&mut self.reply_route);
        reply_route.clear();
        reply_route.extend_from_slice(&header.route[..=at]);
        reply_route.extend_from_slice(&header.route[index..]);
        self.counters.rrep_originated += 1;
        let reply = self.message(Body::DsrReply, cx);
        cx.pool.header_mut(cx.pool[reply].header).reply.extend_from_slice(&reply_route);
        self.reply_route = reply_route;
        self.set_size(reply, cx.pool);
        self.send(reply, Span::ZERO, cx);
    }
}
