//! FIFO of packets with their arrival times and total size, on which active queue management works.

use super::{Config, Cx};
use crate::packet::PacketId;
use crate::unit::Time;
use std::collections::VecDeque;

/// A list of waiting packets.
#[derive(Clone, Debug)]
pub(super) struct Fifo {
    waiting: VecDeque<(PacketId, Time)>,
    bytes: u64,
    pub(super) room: usize,
    room_bytes: u64,
}

impl Fifo {
    pub(super) fn new(cfg: &Config) -> Fifo {
        let room_bytes = cfg.limit_bytes.map_or(u64::MAX, |b| u64::from(b.0));
        Fifo { waiting: VecDeque::new(), bytes: 0, room: cfg.limit as usize, room_bytes }
    }

    /// Removes the limit in packets.
    pub(super) fn with_any_number(self) -> Fifo {
        Fifo { room: usize::MAX, ..self }
    }

    /// Returns true if a packet of this size \[B\] fits.
    pub(super) fn has_room(&self, size: u64) -> bool {
        self.waiting.len() < self.room && self.bytes + size <= self.room_bytes
    }

    pub(super) fn push(&mut self, packet: PacketId, cx: &Cx<'_>) {
        if self.waiting.capacity() == 0 {
            self.waiting.reserve(self.room.min(256) + 1);
        }
        self.bytes += cx.size(packet);
        self.waiting.push_back((packet, cx.now));
    }

    /// Takes the oldest packet, with its arrival time.
    pub(super) fn pop(&mut self, cx: &Cx<'_>) -> Option<(PacketId, Time)> {
        let first = self.waiting.pop_front()?;
        self.bytes -= cx.size(first.0);
        Some(first)
    }

    pub(super) fn remove(&mut self, cx: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        let i = self.waiting.iter().position(|&(p, _)| matches(p))?;
        let (packet, _) = self.waiting.remove(i)?;
        self.bytes -= cx.size(packet);
        Some(packet)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Methods of a discipline whose packets all wait in its `fifo`, and whose marks `marking` counts; `@state`: without
/// `remove`.
macro_rules! over_fifo {
    () => {
        fn remove(&mut self, cx: &Cx<'_>, matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
            self.fifo.remove(cx, matches)
        }

        over_fifo!(@state);
    };
    (@state) => {
        fn len(&self) -> usize {
            self.fifo.len()
        }

        fn room(&self) -> usize {
            self.fifo.room
        }

        fn bytes(&self, _: &PacketPool) -> u64 {
            self.fifo.bytes()
        }

        fn marks(&self) -> u64 {
            self.marking.marks()
        }
    };
}
pub(super) use over_fifo;
