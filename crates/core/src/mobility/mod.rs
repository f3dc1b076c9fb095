//! Mobility: the positions of nodes at every instant.
//!
//! The path of a node is a chain of segments ([`segment`]), each a linear function of time, so positions are exact at
//! every instant. Segments are drawn ([`waypoint`]), come from a file ([`courses`], [`formats`]) or from a command.
//! [`mobile_nodes`] holds the segments of all nodes, and finds the nodes that may be in range of each other.

pub mod courses;
pub mod formats;
pub mod mobile_nodes;
pub mod segment;
pub mod waypoint;

mod cells;
mod near;
mod track;

pub use courses::{Course, Courses};
pub use mobile_nodes::{MobileNodes, Plan};

use crate::setting::limit::{HOUR, above, at_least, at_most};
use crate::unit::{Meters, Span, Speed};
use crate::{keywords, settings};

keywords! {
    /// Mobility models.
    pub enum Kind {
        /// Fixed: nodes keep their positions.
        Still = "still",
        /// Random waypoint: nodes move from one random point to the next.
        RandomWaypoint = "random_waypoint",
        /// Movements from a file.
        File = "file",
    }
}

keywords! {
    /// Initial state of random waypoint mobility.
    pub enum Start {
        /// Stationary state, drawn anew for each run: speeds, pauses and positions have the same distribution at the
        /// beginning as at any later time (Navidi and Camp 2004).
        Stationary = "stationary",
        /// At a point drawn uniformly for each run, with a pause (ns-2's setdest, version 1).
        Uniform = "uniform",
        /// At the node's position in the topology, with a pause.
        Topology = "topology",
    }
}

/// Upper limit of all speeds.
pub const FASTEST: Speed = Speed(1e4);
/// Upper limit of all lengths.
const FAR: Meters = Meters(1e7);

settings! {
    /// Mobility of the nodes that have a radio.
    pub struct Config {
        /// Mobility model of the nodes that have a radio.
        pub(everyday) model: Kind = Kind::Still,
        /// Lower limit of the speed between two waypoints; 0: any speed above 0.
        pub(everyday) min_speed: Speed = Speed(1.0) => at_most(FASTEST)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Upper limit of the speed between two waypoints.
        pub(everyday) max_speed: Speed = Speed(20.0) => above(Speed(0.0)).at_most(FASTEST)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Pause at each destination.
        pub(everyday) pause: Span = Span::ZERO => at_most(HOUR)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Width of the area of destinations, from x = 0 on; "topology": that of a random topology.
        pub(everyday) width: Option<Meters> | "topology" = None => at_least(Meters(1.0)).below(FAR)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Height of the area of destinations, from y = 0 on; "topology": that of a random topology.
        pub(everyday) height: Option<Meters> | "topology" = None => at_least(Meters(1.0)).below(FAR)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Initial state of random waypoint mobility.
        pub initial: Start = Start::Stationary
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Seed of random waypoint mobility; "run": that of the run. With a seed of its own, the movements are the
        /// same in all runs.
        pub seed: Option<u64> | "run" = None
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// A file with the movements of the nodes: ns-2's `setdest`, BonnMotion's waypoints, or CSV.
        pub(everyday) file: Option<String> | "none" = None
            ; used when |c| c.model == Kind::File, else "`mobility.model` is not `file`",
        /// Movements of the nodes as the text of a CSV file, into which a scenario converts `mobility.file`.
        pub table: Courses = Courses::default()
            ; used when |c| c.model == Kind::File, else "`mobility.model` is not `file`",
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// Mobility of ns-2.
    pub struct Ns2 {
        /// Age up to which recorded positions decide which nodes may sense a frame; its power and delay always use
        /// exact positions (1 s in ns-2).
        pub neighbor_list_interval: Span = Span::ZERO => at_most(HOUR),
        /// Decides ties by movement: where a backoff slot ends in the nanosecond in which a signal
        /// arrives, the signal comes first if its sender approaches, and the slot if its sender departs. Most ties are
        /// with the station that sent last, whose two signals exact times tell apart.
        pub decides_ties: bool = false,
    }
}
