//! Packets that wait for a route (RFC 4728, section 4.2, "Send Buffer").

use super::{Cx, Dsr, Out, Waiting, between};
use crate::packet::{NodeId, PacketId, Reason};
use crate::unit::{Span, Time};

impl Dsr {
    /// Lets a packet wait; `salvaged`: a packet of another node that lost its route here.
    pub(super) fn keep(&mut self, packet: PacketId, salvaged: bool, cx: &mut Cx<'_>) {
        if self.buffer.len() == self.cfg.buffer_packets as usize
            && let Some(oldest) = self.buffer.pop_front()
        {
            cx.out.push(Out::Drop { packet: oldest.packet, reason: Reason::RouteBufferFull });
        }
        let until = cx.now + self.cfg.buffer_timeout;
        self.buffer.push_back(Waiting { packet, until, salvaged });
        if self.next_check == Time::NEVER {
            self.arm_check(cx);
        }
    }

    pub(super) fn arm_check(&mut self, cx: &mut Cx<'_>) {
        self.next_check = cx.now + between(self.cfg.min_check_interval, self.cfg.max_check_interval, cx);
    }

    /// Sends the packets that waited for this destination, to which a reply contained a route.
    pub(super) fn release(&mut self, to: NodeId, cx: &mut Cx<'_>) {
        let mut delay = Span::ZERO;
        let mut i = 0;
        while i < self.buffer.len() {
            let packet = self.buffer[i].packet;
            if cx.pool[packet].destination == to && self.find(to, true, cx.now) {
                self.buffer.remove(i);
                self.dispatch(packet, delay, cx);
                delay += self.cfg.release_spacing;
            } else {
                i += 1;
            }
        }
    }

    /// Drops the packets that wait for a destination, after too many requests.
    pub(super) fn drop_waiting(&mut self, to: NodeId, cx: &mut Cx<'_>) {
        self.buffer.retain(|w| {
            let goes = cx.pool[w.packet].destination == to;
            if goes {
                cx.out.push(Out::Drop { packet: w.packet, reason: Reason::NoRoute });
            }
            !goes
        });
    }

    pub(super) fn next_look(&self) -> Time {
        self.next_check
    }

    /// Looks at the packets that wait, one after the other. Those to whose destinations there is a way by now leave at
    /// once.
    pub(super) fn look(&mut self, cx: &mut Cx<'_>) {
        self.next_check = Time::NEVER;
        self.buffer.retain(|w| {
            let aged = w.until <= cx.now;
            if aged {
                cx.out.push(Out::Drop { packet: w.packet, reason: Reason::RouteTimeout });
            }
            !aged
        });
        let mut i = 0;
        while i < self.buffer.len() {
            let Waiting { packet, salvaged, .. } = self.buffer[i];
            let to = cx.pool[packet].destination;
            let before = self.buffer.len();
            if self.find(to, true, cx.now) {
                self.buffer.remove(i);
                self.dispatch(packet, Span::ZERO, cx);
            } else if !self.ask(to, salvaged, cx) {
                self.buffer.remove(i);
                cx.out.push(Out::Drop { packet, reason: Reason::NoRoute });
            }
            i += usize::from(self.buffer.len() == before);
        }
        if self.cfg.ns2.check_always || !self.buffer.is_empty() {
            self.arm_check(cx);
        }
    }
}
