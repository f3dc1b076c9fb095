//! Classes with strict priority: routing messages, audio and video, TCP acknowledgements, all other packets; each first
//! in, first out, with a limit of its own (behavior of ns-2's `CMUPriQueue`, with which its DSR was written). No
//! application sends audio or video, so that class is always empty.

use super::droptail::DropTail;
use super::registry::Queueing;
use super::{Config, Cx, Outlet};
use crate::packet::{Kind, PacketId, PacketPool};
use crate::rng::Stream;

/// Queue of each class, in the order of priority.
#[derive(Clone, Debug)]
pub struct CmuPriority {
    classes: [DropTail; 3],
}

impl CmuPriority {
    fn class(&mut self, packet: PacketId, cx: &Cx<'_>) -> &mut DropTail {
        let class = match cx.pool[packet].body.kind() {
            Kind::Routing => 0,
            Kind::Ack => 1,
            Kind::Data | Kind::Arp => 2,
        };
        &mut self.classes[class]
    }
}

impl Queueing for CmuPriority {
    const MARKS_BY_LENGTH: bool = true;

    fn new(cfg: &Config, _: Outlet, _: Stream) -> CmuPriority {
        let class = || DropTail::with_limits(&Config { limit_includes_arrival: false, ..cfg.clone() });
        CmuPriority { classes: std::array::from_fn(|_| class()) }
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.class(packet, cx).push(packet, cx);
    }

    /// An urgent packet goes to the head of its class.
    fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.class(packet, cx).push_front(packet, cx);
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        self.classes.iter_mut().find_map(|class| class.pop(cx))
    }

    fn remove(&mut self, cx: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.classes.iter_mut().find_map(|class| class.remove(cx, &mut matches))
    }

    fn len(&self) -> usize {
        self.classes.iter().map(DropTail::len).sum()
    }

    fn room(&self) -> usize {
        self.classes.iter().map(DropTail::room).sum()
    }

    fn set_limit(&mut self, packets: usize) {
        self.classes.iter_mut().for_each(|class| class.set_limit(packets));
    }

    fn bytes(&self, pool: &PacketPool) -> u64 {
        self.classes.iter().map(|class| class.bytes(pool)).sum()
    }

    fn marks(&self) -> u64 {
        self.classes.iter().map(DropTail::marks).sum()
    }
}
