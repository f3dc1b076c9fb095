//! Drop-tail with routing messages at the head, the one that came last in front; when that makes the queue too long
//! its last packet is dropped (behaviour of ns-2's `PriQueue`).

use super::droptail::DropTail;
use super::{Config, Cx};
use crate::packet::{Kind, PacketId};

/// A drop-tail queue that routing messages overtake.
#[derive(Clone, Debug)]
pub struct RoutingFirst {
    pub(super) inner: DropTail,
}

impl RoutingFirst {
    pub(super) fn new(cfg: &Config) -> RoutingFirst {
        RoutingFirst { inner: DropTail::new(cfg) }
    }

    pub(super) fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if cx.slab[packet].body.kind() == Kind::Routing {
            self.inner.push_front(packet, cx);
        } else {
            self.inner.push(packet, cx);
        }
    }
}
