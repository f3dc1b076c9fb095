//! The middleboxes of all nodes.

use crate::net::middlebox::{Counters, Middlebox};
use crate::packet::{NodeId, Packet};
use crate::run::MiddleboxSetup;
use crate::unit::Time;

/// All middleboxes, in the order of the scenario.
#[derive(Clone, Debug)]
pub struct Boxes {
    pub list: Vec<Placed>,
    /// Packets that middleboxes have created and that are not sent yet.
    pub made: Vec<Packet>,
}

#[derive(Clone, Debug)]
pub struct Placed {
    pub node: NodeId,
    pub middlebox: Middlebox,
    /// Deadline of the middlebox in the scheduler.
    pub at: Time,
}

impl Boxes {
    pub fn new(setups: &[MiddleboxSetup]) -> Boxes {
        let placed = |s: &MiddleboxSetup| {
            let middlebox = Middlebox::new(&s.settings, s.serves.clone());
            Placed { node: s.node, middlebox, at: Time::NEVER }
        };
        Boxes { list: setups.iter().map(placed).collect(), made: Vec::with_capacity(8) }
    }

    /// Returns true if the scenario has no middlebox.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if no middlebox has a timer set.
    pub fn are_quiet(&self) -> bool {
        self.list.iter().all(|b| b.at == Time::NEVER)
    }

    /// Next middlebox of a node for a packet. Data pass middleboxes in the order of the scenario, acknowledgements in
    /// the reverse order.
    pub fn next(&self, node: NodeId, is_ack: bool, after: Option<usize>) -> Option<usize> {
        let here = |&i: &usize| self.list[i].node == node;
        if is_ack {
            (0..after.unwrap_or(self.list.len())).rev().find(here)
        } else {
            (after.map_or(0, |i| i + 1)..self.list.len()).find(here)
        }
    }

    /// Counters of all middleboxes for a flow.
    pub fn counters(&self, flow: usize) -> Counters {
        let mut sum = Counters::default();
        for c in self.list.iter().map(|b| b.middlebox.counters(flow)) {
            sum.add(&c);
        }
        sum
    }
}
