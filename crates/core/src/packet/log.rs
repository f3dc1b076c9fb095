//! What happens to packets, in order. The slab keeps this list only when an observer reads it.

use super::{Fate, NodeId, Packet, PacketId};
use crate::unit::Time;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// Its source has made it.
    Created,
    /// A middlebox has made it.
    Injected,
    /// A neighbour has received it over the radio, and works on a copy of its own.
    Received,
    /// It has come over a wire.
    Arrived,
    /// It was put into a queue.
    Queued,
    /// It has left the queue: the MAC or the transmitter of a wire begins with it.
    Dequeued,
    /// The end of this copy.
    Ended(Fate),
}

/// Something that has happened to a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// When.
    pub at: Time,
    /// At which node.
    pub node: NodeId,
    /// Number of the packet, unique over the run; its copies have the same.
    pub number: u64,
    /// What.
    pub happening: Happening,
    /// The packet, as it was then.
    pub packet: Packet,
}

/// Numbers of packets, and what has happened to them since somebody last asked.
#[derive(Clone, Debug)]
pub struct Log {
    next: u64,
    /// The number of the packet in each entry of the slab.
    numbers: Vec<u64>,
    here: (NodeId, Time),
    /// The last time at each node.
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
    /// The node and the time of what happens from now on. The time of a station may lie a propagation delay before the
    /// last time at its node, whoever was called in between; then the later one is kept.
    pub(super) fn here(&mut self, node: NodeId, at: Time) {
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

    /// A packet has got its entry: a new one, which gets a number, or a copy of another, which has the same.
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
            log.here(NodeId(node), Time(at));
            log.here.1.0
        });
        assert_eq!(times, [10, 7, 10, 8, 3]);
    }
}
