//! Classes with strict priority: routing messages, audio and video, TCP acknowledgements, all else; each first in, first
//! out, with a limit of its own (behaviour of ns-2's `CMUPriQueue`, with which its DSR was written). Nothing here sends
//! audio or video, so that class is always empty.

use super::droptail::DropTail;
use super::{Config, Cx};
use crate::packet::{Kind, PacketId};

/// The queue of each class that has packets, the one that goes first in front.
#[derive(Clone, Debug)]
pub struct CmuPriority {
    pub(super) classes: [DropTail; 3],
}

impl CmuPriority {
    pub(super) fn new(cfg: &Config) -> CmuPriority {
        let class = || DropTail::new(&Config { limit_includes_arrival: false, ..cfg.clone() });
        CmuPriority { classes: std::array::from_fn(|_| class()) }
    }

    fn class(&mut self, packet: PacketId, cx: &Cx<'_>) -> &mut DropTail {
        let class = match cx.slab[packet].body.kind() {
            Kind::Routing => 0,
            Kind::Ack => 1,
            Kind::Data | Kind::Arp => 2,
        };
        &mut self.classes[class]
    }

    pub(super) fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.class(packet, cx).push(packet, cx);
    }

    /// An urgent packet goes to the head of its class.
    pub(super) fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.class(packet, cx).push_front(packet, cx);
    }

    pub(super) fn pop(&mut self, cx: &Cx<'_>) -> Option<PacketId> {
        self.classes.iter_mut().find_map(|class| class.pop(cx))
    }

    pub(super) fn remove(&mut self, cx: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.classes.iter_mut().find_map(|class| class.remove(cx, &mut matches))
    }

    pub(super) fn len(&self) -> usize {
        self.classes.iter().map(|class| class.waiting.len()).sum()
    }

    /// Packets of all classes that can wait.
    pub(super) fn room(&self) -> usize {
        self.classes.iter().map(|class| class.room).sum()
    }
}
