//! Packets that wait for a route.

use crate::packet::{NodeId, PacketId, PacketPool};
use std::collections::VecDeque;

/// Waiting packets, oldest first; beyond a limit per destination the oldest is replaced.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<PacketId>,
    /// Limit of packets per destination.
    room: usize,
}

impl Buffer {
    pub(super) fn new(room: usize) -> Buffer {
        Buffer { waiting: VecDeque::new(), room }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a packet; returns the one it replaces.
    pub(super) fn push(&mut self, packet: PacketId, pool: &PacketPool) -> Option<PacketId> {
        let to = pool[packet].destination;
        let same = self.waiting.iter().filter(|&&p| pool[p].destination == to).count();
        let oldest = if same == self.room { self.take(to, pool) } else { None };
        self.waiting.push_back(packet);
        oldest
    }

    /// Takes the oldest packet.
    pub(super) fn pop(&mut self) -> Option<PacketId> {
        self.waiting.pop_front()
    }

    pub(super) fn holds(&self, to: NodeId, pool: &PacketPool) -> bool {
        self.waiting.iter().any(|&p| pool[p].destination == to)
    }

    /// Takes the oldest packet for a destination.
    pub(super) fn take(&mut self, to: NodeId, pool: &PacketPool) -> Option<PacketId> {
        let i = self.waiting.iter().position(|&p| pool[p].destination == to)?;
        self.waiting.remove(i)
    }
}
