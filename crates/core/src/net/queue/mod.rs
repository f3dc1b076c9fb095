//! The interface queue: packets that wait for the MAC.

mod droptail;
mod routing_first;

use crate::packet::{Kind, PacketId};
use crate::{keywords, settings};
use droptail::DropTail;
use routing_first::RoutingFirst;

keywords! {
    /// Queue disciplines.
    pub enum Discipline {
        /// First in, first out; an arrival at a full queue is dropped.
        DropTail = "droptail",
        /// The same, but routing messages go to the head (ns-2's PriQueue).
        RoutingFirst = "routing_first",
    }
}

settings! {
    /// The interface queue of every node.
    pub struct Config {
        /// Queue discipline.
        pub discipline: Discipline = Discipline::RoutingFirst,
        /// Packets that may wait; one more is in the MAC.
        pub limit: u32 = 50,
        /// Whether the packet that arrives counts against the limit, so that one fewer can wait (ns-2).
        pub limit_includes_arrival: bool = false,
    }
}

impl Config {
    /// How many packets can wait.
    fn room(&self) -> usize {
        (self.limit as usize).saturating_sub(usize::from(self.limit_includes_arrival))
    }
}

/// The queue of a node.
#[derive(Clone, Debug)]
pub enum Queue {
    /// Drop-tail.
    DropTail(DropTail),
    /// Routing messages first.
    RoutingFirst(RoutingFirst),
}

impl Queue {
    /// An empty queue.
    pub fn new(cfg: &Config) -> Queue {
        match cfg.discipline {
            Discipline::DropTail => Queue::DropTail(DropTail::new(cfg.room())),
            Discipline::RoutingFirst => Queue::RoutingFirst(RoutingFirst::new(cfg.room())),
        }
    }

    /// A packet arrives. Returns the packet that is dropped for it, if one is.
    pub fn push(&mut self, packet: PacketId, kind: Kind) -> Option<PacketId> {
        match self {
            Queue::DropTail(q) => q.push(packet),
            Queue::RoutingFirst(q) => q.push(packet, kind),
        }
    }

    /// Takes the next packet.
    pub fn pop(&mut self) -> Option<PacketId> {
        self.waiting_mut().pop_front()
    }

    /// Takes out the first packet for which `matches` holds.
    pub fn remove(&mut self, mut matches: impl FnMut(PacketId) -> bool) -> Option<PacketId> {
        let waiting = self.waiting_mut();
        let i = waiting.iter().position(|&p| matches(p))?;
        waiting.remove(i)
    }

    /// How many packets wait.
    pub fn len(&self) -> usize {
        match self {
            Queue::DropTail(q) => q.waiting.len(),
            Queue::RoutingFirst(q) => q.inner.waiting.len(),
        }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn waiting_mut(&mut self) -> &mut std::collections::VecDeque<PacketId> {
        match self {
            Queue::DropTail(q) => &mut q.waiting,
            Queue::RoutingFirst(q) => &mut q.inner.waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(discipline: Discipline, limit_includes_arrival: bool) -> Queue {
        Queue::new(&Config { discipline, limit: 5, limit_includes_arrival })
    }

    fn drain(mut q: Queue) -> Vec<u32> {
        std::iter::from_fn(|| q.pop()).map(|p| p.0).collect()
    }

    #[test]
    fn an_arrival_at_a_full_queue_is_dropped() {
        let mut q = queue(Discipline::DropTail, false);
        let dropped: Vec<_> = (0..7).filter_map(|i| q.push(PacketId(i), Kind::Data)).map(|p| p.0).collect();
        assert_eq!(dropped, [5, 6]);
        assert_eq!(drain(q), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn ns2_counts_the_arrival() {
        let mut q = queue(Discipline::DropTail, true);
        let dropped: Vec<_> = (0..7).filter_map(|i| q.push(PacketId(i), Kind::Data)).map(|p| p.0).collect();
        assert_eq!(dropped, [4, 5, 6]);
    }

    #[test]
    fn routing_messages_overtake_and_push_out_the_last() {
        let mut q = queue(Discipline::RoutingFirst, true);
        for i in 0..4 {
            assert_eq!(q.push(PacketId(i), Kind::Data), None);
        }
        assert_eq!(q.push(PacketId(10), Kind::Routing), Some(PacketId(3)));
        assert_eq!(q.push(PacketId(11), Kind::Routing), Some(PacketId(2)));
        assert_eq!(drain(q), [11, 10, 0, 1]);
    }

    #[test]
    fn packets_for_a_lost_neighbour_can_be_taken_out() {
        let mut q = queue(Discipline::DropTail, false);
        for i in 0..5 {
            q.push(PacketId(i), Kind::Data);
        }
        assert_eq!(q.remove(|p| p.0 % 2 == 1), Some(PacketId(1)));
        assert_eq!(q.remove(|p| p.0 % 2 == 1), Some(PacketId(3)));
        assert_eq!(q.remove(|p| p.0 % 2 == 1), None);
        assert_eq!(drain(q), [0, 2, 4]);
    }
}
