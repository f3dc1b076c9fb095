//! Packet events in order of time. The packet pool keeps this list only when an observer reads it.

use super::{Fate, NodeId, Packet, PacketId};
use crate::unit::Time;

/// An event in the life of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// A source has created the packet.
    Created,
    /// A middlebox has created the packet.
    Injected,
    /// A neighbor has received the packet over the radio, and works on a copy of its own.
    Received,
    /// The packet has arrived over a point-to-point link.
    Arrived,
    /// The packet was enqueued.
    Queued,
    /// The packet has left the queue: the MAC or the transmitter of a link begins with it.
    Dequeued,
    /// This copy has ended.
    Ended(Fate),
}

/// A logged event of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// Time of the event.
    pub at: Time,
    /// Node at which it occurred.
    pub node: NodeId,
    /// Number of the packet, unique over the run and shared by its copies.
    pub number: u64,
    /// Kind of the event.
    pub happening: Happening,
    /// State of the packet at the event.
    pub packet: Packet,
}

/// Numbers of packets, and the events since the last read.
#[derive(Clone, Debug)]
pub struct Log {
    next: u64,
    /// Number of the packet in each entry of the pool.
    numbers: Vec<u64>,
    here: (NodeId, Time),
    /// Time of the last event at each node.
    latest: Vec<Time>,
    pub(super) steps: Vec<Step>,
}

impl Default for Log {
    fn default() -> Log {
        Log {
            next: 0,
            numbers: Vec::new(),
            here: (NodeId::BROADCAST, Time::ZERO),
            latest: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Log {
    /// Sets the node and the time of the events that follow. The time of a station may precede the last time at its
    /// node by a propagation delay, because other stations were called in between; the later time is then kept.
    pub(super) fn set_context(&mut self, node: NodeId, at: Time) {
        if node.index() >= self.latest.len() {
            self.latest.resize(node.index() + 1, Time::ZERO);
        }
        let latest = &mut self.latest[node.index()];
        *latest = at.max(*latest);
        self.here = (node, *latest);
    }

    pub(super) fn number(&self, id: PacketId) -> u64 {
        self.numbers[id.0 as usize]
    }

    /// Numbers a packet: a new one gets the next number, a copy shares that of the original.
    pub(super) fn give_number(&mut self, id: PacketId, original: Option<PacketId>) {
        let number = match original {
            Some(original) => self.number(original),
            None => {
                self.next += 1;
                self.next - 1
            }
        };
        let index = id.0 as usize;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        self.numbers[index] = number;
    }

    pub(super) fn step(&mut self, id: PacketId, packet: &Packet, happening: Happening) {
        let ((node, at), number) = (self.here, self.number(id));
        self.steps.push(Step { at, node, number, happening, packet: *packet });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_go_back_at_a_node() {
        let mut log = Log::default();
        let times = [(1, 10), (2, 7), (1, 9), (2, 8), (0, 3)].map(|(node, at)| {
            log.set_context(NodeId(node), Time(at));
            log.here.1.0
        });
        assert_eq!(times, [10, 7, 10, 8, 3]);
    }
}
