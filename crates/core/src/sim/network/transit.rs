//! Packets in transit between the layers of a node, each due at an instant.
//!
//! All nodes share three lanes. Two lanes have a constant delay, so a new packet is inserted at or near the end; the
//! third lane is a heap of packets that routing protocols delay for any time.

use crate::packet::{NodeId, PacketId, Reason};
use crate::unit::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Direction of a packet in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// From the MAC up to the network layer.
    Up,
    /// Delayed by the routing protocol.
    Delayed,
    /// Down to the interface queue.
    Down,
}

/// Packets with a constant delay, sorted by deadline; those before `gone` have left.
#[derive(Clone, Debug)]
struct Line {
    packets: Vec<(Time, NodeId, PacketId)>,
    gone: usize,
}

impl Line {
    fn new(room: usize) -> Line {
        Line { packets: Vec::with_capacity(2 * room), gone: 0 }
    }

    #[inline]
    fn insert(&mut self, packet: (Time, NodeId, PacketId)) {
        if self.packets.len() == self.packets.capacity() && 2 * self.gone > self.packets.len() {
            self.packets.drain(..self.gone);
            self.gone = 0;
        }
        self.packets.push(packet);
        let waiting = &mut self.packets[self.gone..];
        let mut i = waiting.len() - 1;
        while i > 0 && waiting[i - 1].0 > packet.0 {
            waiting[i] = waiting[i - 1];
            i -= 1;
        }
        waiting[i] = packet;
    }

    #[inline]
    fn due(&self) -> Time {
        self.packets.get(self.gone).map_or(Time::NEVER, |p| p.0)
    }

    #[inline]
    fn pop(&mut self) -> Option<(Time, NodeId, PacketId)> {
        let first = self.packets.get(self.gone).copied()?;
        self.gone += 1;
        if self.gone == self.packets.len() {
            self.packets.clear();
            self.gone = 0;
        }
        Some(first)
    }

    fn len(&self) -> usize {
        self.packets.len() - self.gone
    }
}

/// Packets in transit. Of packets due at the same instant, those going up precede delayed ones, and those going down
/// come last; within a lane, the order of insertion holds.
#[derive(Clone, Debug)]
pub struct Transit {
    up: Line,
    down: Line,
    delayed: BinaryHeap<Reverse<(Time, u64, u32, u32)>>,
    /// Number of packets delayed so far.
    count: u64,
}

impl Transit {
    /// Nothing is on its way; there is room for some packets per node.
    pub fn new(nodes: usize) -> Transit {
        let room = 64 + 2 * nodes;
        Transit { up: Line::new(room), down: Line::new(room), delayed: BinaryHeap::with_capacity(room), count: 0 }
    }

    /// A packet is due at an instant.
    #[inline]
    pub fn insert(&mut self, lane: Lane, at: Time, node: NodeId, packet: PacketId) {
        let list = match lane {
            Lane::Up => &mut self.up,
            Lane::Down => &mut self.down,
            Lane::Delayed => {
                self.count += 1;
                return self.delayed.push(Reverse((at, self.count, node.0, packet.0)));
            }
        };
        list.insert((at, node, packet));
    }

    /// Deadline of the next packet.
    #[inline]
    pub fn deadline(&self) -> Time {
        let delayed = self.delayed.peek().map_or(Time::NEVER, |x| x.0.0);
        self.up.due().min(self.down.due()).min(delayed)
    }

    /// Removes the next packet that is due by now, or returns the deadline of the next one.
    #[inline]
    pub fn pop(&mut self, now: Time) -> Result<(Lane, NodeId, PacketId), Time> {
        let (up, down) = (self.up.due(), self.down.due());
        let delayed = self.delayed.peek().map_or(Time::NEVER, |x| x.0.0);
        let due = up.min(down).min(delayed);
        let (lane, first) = if due > now {
            (Lane::Up, None)
        } else if up == due {
            (Lane::Up, self.up.pop())
        } else if delayed == due {
            let packet = |Reverse((at, _, node, packet))| (at, NodeId(node), PacketId(packet));
            (Lane::Delayed, self.delayed.pop().map(packet))
        } else {
            (Lane::Down, self.down.pop())
        };
        first.map(|(_, node, packet)| (lane, node, packet)).ok_or(due)
    }

    /// Removes the packets of a node that is switched off.
    pub fn clear(&mut self, node: NodeId, lost: &mut Vec<(PacketId, Reason)>) {
        let mut keeps = |n: NodeId, packet: PacketId| {
            if n == node {
                lost.push((packet, Reason::NodeOff));
            }
            n != node
        };
        for line in [&mut self.up, &mut self.down] {
            line.packets.drain(..std::mem::take(&mut line.gone));
            line.packets.retain(|&(_, n, packet)| keeps(n, packet));
        }
        // The order of the heap is arbitrary but reproducible.
        self.delayed.retain(|Reverse((_, _, n, packet))| keeps(NodeId(*n), PacketId(*packet)));
    }

    /// Number of packets in transit.
    pub fn len(&self) -> usize {
        self.up.len() + self.down.len() + self.delayed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_by_deadline_then_lane_then_order() {
        let mut t = Transit::new(1);
        let node = NodeId(0);
        for (lane, at, packet) in [
            (Lane::Down, 5, 0),
            (Lane::Up, 5, 1),
            (Lane::Delayed, 5, 2),
            (Lane::Delayed, 3, 3),
            (Lane::Up, 4, 4),
            (Lane::Up, 5, 5),
            (Lane::Delayed, 5, 6),
        ] {
            t.insert(lane, Time(at), node, PacketId(packet));
        }
        assert_eq!((t.len(), t.deadline()), (7, Time(3)));
        assert_eq!(t.pop(Time(2)), Err(Time(3)));
        let order: Vec<u32> = std::iter::from_fn(|| t.pop(Time(5)).ok()).map(|x| x.2.0).collect();
        assert_eq!(order, [3, 4, 1, 5, 2, 6, 0]);
    }
}
