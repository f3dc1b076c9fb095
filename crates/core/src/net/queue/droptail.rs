//! First in, first out.

use crate::packet::PacketId;
use std::collections::VecDeque;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail {
    pub(super) waiting: VecDeque<PacketId>,
    pub(super) room: usize,
}

impl DropTail {
    pub(super) fn new(room: usize) -> DropTail {
        DropTail { waiting: VecDeque::new(), room }
    }

    /// The first packet makes room for all that can wait: most nodes of a large network never queue one.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if self.waiting.capacity() == 0 {
            self.waiting.reserve(self.room + 1);
        }
    }

    pub(super) fn push(&mut self, packet: PacketId) -> Option<PacketId> {
        if self.waiting.len() >= self.room {
            return Some(packet);
        }
        self.make_room();
        self.waiting.push_back(packet);
        None
    }
}
