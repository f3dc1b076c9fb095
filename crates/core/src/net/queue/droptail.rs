//! Drop-tail: first in, first out, with a limit in packets and optionally in bytes.

use super::registry::Queueing;
use super::{Config, Cx, Outlet, mark};
use crate::packet::{PacketId, PacketPool, Reason};
use crate::rng::Stream;
use std::collections::VecDeque;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail {
    waiting: VecDeque<PacketId>,
    /// Limit in packets.
    room: usize,
    /// Limit in bytes, and waiting bytes, which are counted only with a limit.
    room_bytes: u64,
    bytes: u64,
    /// Waiting packets from which an arrival is dropped or marked, from which it is marked, and number of marked
    /// packets.
    free: usize,
    mark_from: usize,
    marks: u32,
    /// The arrival counts against the limits.
    counts_arrival: bool,
}

/// Stands for no limit in bytes.
const ANY: u64 = u64::MAX;

impl DropTail {
    pub(super) fn with_limits(cfg: &Config) -> DropTail {
        let arrival = u32::from(cfg.limit_includes_arrival);
        let room = cfg.limit.saturating_sub(arrival) as usize;
        let mark_from = cfg.mark_threshold.filter(|_| cfg.ecn).map_or(usize::MAX, |n| n as usize);
        DropTail {
            waiting: VecDeque::new(),
            room,
            free: room.min(mark_from),
            mark_from,
            counts_arrival: cfg.limit_includes_arrival,
            room_bytes: cfg.limit_bytes.map_or(ANY, |b| u64::from(b.0.saturating_sub(arrival))),
            bytes: 0,
            marks: 0,
        }
    }

    /// A queue with the limits alone: no arrival counts against them, and none is marked.
    pub(super) fn plain(cfg: &Config) -> DropTail {
        DropTail::with_limits(&Config { limit_includes_arrival: false, mark_threshold: None, ..cfg.clone() })
    }

    /// Returns true if bytes do not count, and no packet is marked.
    pub(super) fn is_plain(&self) -> bool {
        self.room_bytes == ANY && self.mark_from == usize::MAX
    }

    #[inline]
    fn has_no_bytes_for(&self, packet: PacketId, cx: &Cx<'_>) -> bool {
        self.room_bytes != ANY && self.bytes + cx.size(packet) > self.room_bytes
    }

    /// Drops or marks an arrival at its limit.
    #[cold]
    fn push_into_long(&mut self, packet: PacketId, cx: &mut Cx<'_>) {
        if self.waiting.len() >= self.room || self.has_no_bytes_for(packet, cx) {
            return cx.discard(packet, Reason::QueueFull);
        }
        self.marks += u32::from(mark(&mut cx.pool[packet]));
        self.count_in(packet, cx);
        self.waiting.push_back(packet);
    }

    #[inline]
    fn count_in(&mut self, packet: PacketId, cx: &Cx<'_>) {
        // Allocates once for all packets: in large networks many nodes never queue one.
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

    /// Adds a packet at the head; if the queue then exceeds its limit its last packets are dropped.
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

    fn set_limit(&mut self, packets: usize) {
        self.room = packets - usize::from(self.counts_arrival);
        self.free = self.room.min(self.mark_from);
    }

    fn bytes(&self, pool: &PacketPool) -> u64 {
        self.waiting.iter().map(|&p| u64::from(pool[p].bytes)).sum()
    }

    fn marks(&self) -> u64 {
        self.marks.into()
    }

    fn find(&self, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        self.waiting.iter().copied().find(|&p| matches(p))
    }

    fn count(&self, mut matches: impl FnMut(PacketId) -> bool) -> usize {
        self.waiting.iter().filter(|&&p| matches(p)).count()
    }
}
