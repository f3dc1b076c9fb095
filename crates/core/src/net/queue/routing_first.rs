//! Drop-tail with routing messages at the head, the latest in front; when a message makes the queue too long its last
//! packet is dropped (behavior of ns-2's `PriQueue`).

use super::droptail::DropTail;
use super::registry::Queueing;
use super::{Config, Cx, Outlet};
use crate::packet::{Kind, PacketId, PacketPool};
use crate::rng::Stream;

/// A drop-tail queue that routing messages overtake.
#[derive(Clone, Debug)]
pub struct RoutingFirst(DropTail);

impl RoutingFirst {
    /// Returns true if bytes do not count, and no packet is marked.
    pub(super) fn is_plain(&self) -> bool {
        self.0.is_plain()
    }
}

impl Queueing for RoutingFirst {
    const COUNTS_ARRIVAL: bool = true;
    const MARKS_BY_LENGTH: bool = true;

    fn new(cfg: &Config, _: Outlet, _: Stream) -> RoutingFirst {
        RoutingFirst(DropTail::with_limits(cfg))
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if cx.pool[packet].body.kind() == Kind::Routing {
            self.0.push_front(packet, cx);
        } else {
            self.0.push(packet, cx);
        }
    }

    fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.0.push_front(packet, cx);
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
}
