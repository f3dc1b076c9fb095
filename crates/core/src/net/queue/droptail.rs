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

    pub(super) fn push(&mut self, packet: PacketId) -> Option<PacketId> {
        if self.waiting.len() >= self.room {
            return Some(packet);
        }
        self.waiting.push_back(packet);
        None
    }
}
