//! Packets that wait for a route.

use crate::packet::{NodeId, PacketId, Slab};
use std::collections::VecDeque;

/// All that wait, the oldest first; of each destination up to a limit, at which the oldest makes room.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<PacketId>,
    /// Packets for a destination that can wait.
    room: usize,
}

impl Buffer {
    pub(super) fn new(room: usize) -> Buffer {
        Buffer { waiting: VecDeque::new(), room }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps a packet; returns the one that must go for it.
    pub(super) fn push(&mut self, packet: PacketId, slab: &Slab) -> Option<PacketId> {
        let to = slab[packet].destination;
        let same = self.waiting.iter().filter(|&&p| slab[p].destination == to).count();
        let oldest = if same == self.room { self.take(to, slab) } else { None };
        self.waiting.push_back(packet);
        oldest
    }

    /// Takes the oldest packet.
    pub(super) fn pop(&mut self) -> Option<PacketId> {
        self.waiting.pop_front()
    }

    pub(super) fn holds(&self, to: NodeId, slab: &Slab) -> bool {
        self.waiting.iter().any(|&p| slab[p].destination == to)
    }

    /// Takes the oldest packet for a destination.
    pub(super) fn take(&mut self, to: NodeId, slab: &Slab) -> Option<PacketId> {
        let i = self.waiting.iter().position(|&p| slab[p].destination == to)?;
        self.waiting.remove(i)
    }
}
