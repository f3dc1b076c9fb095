//! A drop-tail queue with flow control of the link layer: a packet is held back while the queue of its next hop has its
//! limit of packets that go on from there.
//!
//! Small buffers then fill upstream to the source, which alone drops (Dousse, SECON 2007; Lim, Luo and Choi, ICNP 2006).
//! The state of a queue is known to its neighbors at once and for nothing: an upper bound of what signaling achieves.
//! Packets that go back are not counted, so that the two directions of a path do not wait for each other.

use super::droptail::DropTail;
use super::registry::Queueing;
use super::{Config, Cx, Outlet};
use crate::packet::{PacketId, PacketPool};
use crate::rng::Stream;

/// A drop-tail queue that sends a packet only where there is room.
#[derive(Clone, Debug)]
pub struct FlowControlled(DropTail);

impl Queueing for FlowControlled {
    fn new(cfg: &Config, _: Outlet, _: Stream) -> FlowControlled {
        FlowControlled(DropTail::plain(cfg))
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.0.push(packet, cx);
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        self.0.pop(cx)
    }

    fn remove(&mut self, cx: &Cx<'_>, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.0.remove(cx, matches)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn room(&self) -> usize {
        self.0.room()
    }

    fn set_limit(&mut self, packets: usize) {
        self.0.set_limit(packets);
    }

    fn bytes(&self, pool: &PacketPool) -> u64 {
        self.0.bytes(pool)
    }

    fn marks(&self) -> u64 {
        self.0.marks()
    }

    fn find(&self, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.0.find(matches)
    }

    fn count(&self, matches: impl FnMut(PacketId) -> bool) -> usize {
        self.0.count(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::super::{Config, Discipline};
    use crate::packet::{Ecn, NodeId};
    use crate::unit::BitRate;

    #[test]
    fn packets_that_go_back_do_not_count_against_those_that_go_on() {
        let cfg = Config { discipline: Discipline::FlowControlled, limit: 2, ..Config::default() };
        let mut b = Bench::new(&cfg, BitRate::mbps(2));
        // The next hop of flow 0 is node 0, that of flow 1 node 1.
        b.push(0, 100, Ecn::NotEct);
        b.push(1, 100, Ecn::NotEct);
        let room = |b: &Bench| [0, 1, 2].map(|n| b.queue.has_room_from(NodeId(n), &b.pool));
        assert_eq!(room(&b), [true, true, false]);
        assert_eq!(b.pop().map(|p| p.1), Some(0));
        assert_eq!(room(&b), [true, true, true]);
    }

    #[test]
    fn the_first_packet_that_may_go_overtakes_those_held_back() {
        let cfg = Config { discipline: Discipline::FlowControlled, limit: 5, ..Config::default() };
        let mut b = Bench::new(&cfg, BitRate::mbps(2));
        [0, 0, 1, 1].into_iter().for_each(|flow| b.push(flow, 100, Ecn::NotEct));
        let to = |n| b.queue.first_that(|p| b.pool[p].next_hop == NodeId(n)).map(|p| b.seq_of(p));
        assert_eq!([0, 1, 2].map(to), [Some(0), Some(2), None]);
    }
}
