//! Packets that wait for a route.

use crate::packet::{NodeId, PacketId, PacketPool};
use crate::unit::{Span, Time};
use std::collections::VecDeque;

/// A FIFO buffer for all destinations together; when it is full the oldest packet is replaced.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    waiting: VecDeque<(Time, PacketId)>,
    room: usize,
    timeout: Span,
}

impl Buffer {
    pub(super) fn new(room: usize, timeout: Span) -> Buffer {
        Buffer { waiting: VecDeque::new(), room, timeout }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a packet; returns the one it replaces.
    pub(super) fn push(&mut self, packet: PacketId, now: Time) -> Option<PacketId> {
        let oldest = if self.waiting.len() == self.room { self.waiting.pop_front() } else { None };
        if self.waiting.capacity() == 0 {
            self.waiting.reserve(self.room.min(64));
        }
        self.waiting.push_back((now + self.timeout, packet));
        oldest.map(|o| o.1)
    }

    /// Takes the oldest packet.
    pub(super) fn pop(&mut self) -> Option<PacketId> {
        self.waiting.pop_front().map(|w| w.1)
    }

    /// Takes a packet that has waited too long.
    pub(super) fn pop_aged(&mut self, now: Time) -> Option<PacketId> {
        let i = self.waiting.iter().position(|w| w.0 < now)?;
        self.waiting.remove(i).map(|w| w.1)
    }

    pub(super) fn holds(&self, to: NodeId, pool: &PacketPool) -> bool {
        self.waiting.iter().any(|w| pool[w.1].destination == to)
    }

    /// Takes the oldest packet for a destination.
    pub(super) fn take(&mut self, to: NodeId, pool: &PacketPool) -> Option<PacketId> {
        let i = self.waiting.iter().position(|w| pool[w.1].destination == to)?;
        self.waiting.remove(i).map(|w| w.1)
    }
}
