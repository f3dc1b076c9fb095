//! Topologies: places of the nodes.

use crate::unit::{Metres, Position};
use crate::{keywords, settings};

keywords! {
    /// Topologies.
    pub enum Kind {
        /// Nodes on a line, the same distance apart.
        Chain = "chain",
        /// The places that the scenario lists.
        List = "list",
    }
}

settings! {
    /// Topology.
    pub struct Config {
        /// Which one.
        pub kind: Kind = Kind::Chain,
        /// Hops of a chain; it has one node more.
        pub hops: u32 = 7,
        /// Distance between neighbours of a chain.
        pub spacing: Metres = Metres(200.0),
        /// Places of a list.
        pub positions: Vec<Position> = Vec::new(),
    }
}

impl Config {
    /// How many nodes there are.
    pub fn nodes(&self) -> u64 {
        match self.kind {
            Kind::Chain => u64::from(self.hops) + 1,
            Kind::List => self.positions.len() as u64,
        }
    }

    /// The places of the nodes.
    pub fn places(&self) -> Vec<Position> {
        match self.kind {
            Kind::Chain => (0..=self.hops).map(|i| Position { x: f64::from(i) * self.spacing.0, y: 0.0 }).collect(),
            Kind::List => self.positions.clone(),
        }
    }
}
