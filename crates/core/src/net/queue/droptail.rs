//! First in, first out, with a limit in packets and perhaps one in bytes.

use super::registry::Queueing;
use super::{Config, Cx, Outlet, mark};
use crate::packet::{PacketId, Reason, Slab};
use crate::rng::Stream;
use std::collections::VecDeque;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail {
    waiting: VecDeque<PacketId>,
    /// Packets that can wait.
    room: usize,
    /// Bytes that can, and that do: these are only counted when there is a limit.
    room_bytes: u64,
    bytes: u64,
    /// Packets that can wait before an arrival is dropped or marked, and how many were marked.
    free: usize,
    marks: u32,
}

/// No limit in bytes.
const ANY: u64 = u64::MAX;

impl DropTail {
    pub(super) fn with_limits(cfg: &Config) -> DropTail {
        let arrival = u32::from(cfg.limit_includes_arrival);
        let room = cfg.limit.saturating_sub(arrival) as usize;
        let mark_from = cfg.mark_threshold.filter(|_| cfg.ecn).map_or(room, |n| n as usize);
        DropTail {
            waiting: VecDeque::new(),
            room,
            free: room.min(mark_from),
            room_bytes: cfg.limit_bytes.map_or(ANY, |b| u64::from(b.0.saturating_sub(arrival))),
            bytes: 0,
            marks: 0,
        }
    }

    #[inline]
    fn has_no_bytes_for(&self, packet: PacketId, cx: &Cx<'_>) -> bool {
        self.room_bytes != ANY && self.bytes + cx.size(packet) > self.room_bytes
    }

    /// The same where an arrival is dropped or marked.
    #[cold]
    fn push_into_long(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.waiting.len() >= self.room || self.has_no_bytes_for(packet, cx) {
            return cx.discard(packet, Reason::QueueFull);
        }
        self.marks += u32::from(mark(&mut cx.slab[packet]));
        self.count_in(packet, cx);
        self.waiting.push_back(packet);
    }

    #[inline]
    fn count_in(&mut self, packet: PacketId, cx: &Cx<'_>) {
        // Room is made once, for all that may wait: of thousands of nodes many never queue anything.
        if self.waiting.capacity() == 0 {
            self.waiting.reserve(self.room.min(256) + 1);
        }
        if self.room_bytes != ANY {
            self.bytes += cx.size(packet);
        }
    }

    #[inline]
    fn count_out(&mut self, packet: PacketId, cx: &Cx<'_>) {
        if self.room_bytes != ANY {
            self.bytes -= cx.size(packet);
        }
    }
}

impl Queueing for DropTail {
    const COUNTS_ARRIVAL: bool = true;
    const MARKS_BY_LENGTH: bool = true;

    fn new(cfg: &Config, _: Outlet, _: Stream) -> DropTail {
        DropTail::with_limits(cfg)
    }

    fn push(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.waiting.len() >= self.free || self.has_no_bytes_for(packet, cx) {
            self.push_into_long(packet, cx);
            return;
        }
        self.count_in(packet, cx);
        self.waiting.push_back(packet);
    }

    /// A packet goes to the head; if the queue is then too long its last packets are dropped.
    fn push_front(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        self.count_in(packet, cx);
        self.waiting.push_front(packet);
        while self.waiting.len() > self.room || (self.room_bytes != ANY && self.bytes > self.room_bytes) {
            let Some(last) = self.waiting.pop_back() else { return };
            self.count_out(last, cx);
            cx.discard(last, Reason::QueueFull);
        }
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<PacketId> {
        let packet = self.waiting.pop_front()?;
        self.count_out(packet, cx);
        Some(packet)
    }

    fn remove(&mut self, cx: &Cx<'_>, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        let i = self.waiting.iter().position(|&p| matches(p))?;
        let packet = self.waiting.remove(i)?;
        self.count_out(packet, cx);
        Some(packet)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn room(&self) -> usize {
        self.room
    }

    fn bytes(&self, slab: &Slab) -> u64 {
        self.waiting.iter().map(|&p| u64::from(slab[p].bytes)).sum()
    }

    fn marks(&self) -> u64 {
        self.marks.into()
    }
}
