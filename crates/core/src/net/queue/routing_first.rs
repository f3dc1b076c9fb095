//! Drop-tail with routing messages at the head, the one that came last in front; when that makes the queue too long
//! its last packet is dropped (behaviour of ns-2's `PriQueue`).

use super::droptail::DropTail;
use crate::packet::{Kind, PacketId};

/// A drop-tail queue that routing messages overtake.
#[derive(Clone, Debug)]
pub struct RoutingFirst {
    pub(super) inner: DropTail,
}

impl RoutingFirst {
    pub(super) fn new(room: usize) -> RoutingFirst {
        RoutingFirst { inner: DropTail::new(room) }
    }

    pub(super) fn push(&mut self, packet: PacketId, kind: Kind) -> Option<PacketId> {
        if kind != Kind::Routing {
            return self.inner.push(packet);
        }
        self.inner.make_room();
        self.inner.waiting.push_front(packet);
        if self.inner.waiting.len() > self.inner.room { self.inner.waiting.pop_back() } else { None }
    }
}
