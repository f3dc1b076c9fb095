//! Generators of short flows: when each begins, between which nodes, and the entries that are free.

use crate::app::arrivals::Arrivals;
use crate::packet::NodeId;
use crate::record::totals::FlowTotals;
use crate::rng::{Purpose, Stream};
use crate::run::{ArrivalsSetup, Setup};
use crate::tcp::Config;
use crate::unit::Time;

/// A flow generator: arrival process, ends and TCP settings of its short flows.
#[derive(Clone, Debug)]
pub struct Origin {
    pub arrivals: Arrivals,
    from: Option<NodeId>,
    to: Option<NodeId>,
    pub tcp: Box<Config>,
    /// Random numbers for ends that the scenario leaves open.
    ends: Stream,
}

impl Origin {
    /// Ends of a short flow; ends that the scenario leaves open are drawn among all nodes.
    pub fn draw_ends(&mut self, nodes: u32) -> (NodeId, NodeId) {
        let other = |rng: &mut Stream, than: NodeId| {
            let n = rng.below(nodes - 1);
            NodeId(n + u32::from(n >= than.0))
        };
        match (self.from, self.to) {
            (Some(from), Some(to)) => (from, to),
            (Some(from), None) => (from, other(&mut self.ends, from)),
            (None, Some(to)) => (other(&mut self.ends, to), to),
            (None, None) => {
                let from = NodeId(self.ends.below(nodes));
                (from, other(&mut self.ends, from))
            }
        }
    }
}

/// Flow generators, and the entries of their short flows in the list of flows.
#[derive(Clone, Debug)]
pub struct Generator {
    pub origins: Vec<Origin>,
    /// Index of the first entry of a short flow, after the flows of the scenario.
    pub first: usize,
    /// Number of the record of each entry's current or last short flow.
    pub records: Vec<u32>,
    /// Free entries, each with the instant since which it is free.
    pub free: Vec<(u32, Time)>,
    /// Sum of the counters of finished short flows.
    pub over: FlowTotals,
    pub seed: u64,
}

impl Generator {
    pub fn new(setup: &Setup) -> Generator {
        let origin = |(a, k): (&ArrivalsSetup, u64)| Origin {
            arrivals: Arrivals::new(&a.process, &a.size, setup.seed, k),
            from: a.from,
            to: a.to,
            tcp: a.tcp.clone(),
            ends: Stream::new(setup.seed, Purpose::TransferEnds, k),
        };
        Generator {
            origins: setup.arrivals.iter().zip(0..).map(origin).collect(),
            first: setup.flows.len(),
            records: Vec::new(),
            free: Vec::new(),
            over: FlowTotals::default(),
            seed: setup.seed,
        }
    }

    /// Start of the next short flow of each origin.
    pub fn deadlines(&self) -> impl Iterator<Item = Time> {
        self.origins.iter().map(|o| o.arrivals.deadline())
    }

    /// Start of the next short flow of an origin.
    pub fn deadline(&self, k: usize) -> Time {
        self.origins[k].arrivals.deadline()
    }

    /// Removes an entry that became free before now. Packets of its previous short flow are older than its next one, so
    /// they can be distinguished.
    pub fn take_free(&mut self, now: Time) -> Option<usize> {
        let i = self.free.iter().rposition(|f| f.1 < now)?;
        Some(self.free.swap_remove(i).0 as usize)
    }

    /// Approximate memory of entries and records \[B\].
    pub fn memory(&self) -> usize {
        self.records.capacity() * 16 * 1024
    }
}
