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
        /// Width of the area of destinations, which begins at x = 0; "topology": width of the random topology.
        pub(everyday) width: Option<Meters> | "topology" = None => at_least(Meters(1.0)).below(FAR)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Height of the area of destinations, which begins at y = 0; "topology": height of the random topology.
        pub(everyday) height: Option<Meters> | "topology" = None => at_least(Meters(1.0)).below(FAR)
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Initial state of random waypoint mobility.
        pub initial: Start = Start::Stationary
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// Seed of random waypoint mobility. "run": each run draws its own movements from its seed; a number: all runs
        /// share the same movements.
        pub seed: Option<u64> | "run" = None
            ; used when |c| c.model == Kind::RandomWaypoint, else "`mobility.model` is not `random_waypoint`",
        /// File with the movements of the nodes: ns-2's `setdest`, BonnMotion's waypoints, or CSV.
        pub(everyday) file: Option<String> | "none" = None
            ; used when |c| c.model == Kind::File, else "`mobility.model` is not `file`",
        /// Movements of the nodes as CSV text; reading a scenario converts `mobility.file` into it.
        pub table: Courses = Courses::default()
            ; used when |c| c.model == Kind::File, else "`mobility.model` is not `file`",
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// Mobility of ns-2.
    pub struct Ns2 {
        /// Largest age of the positions that decide which nodes may sense a frame (ns-2: 1 s). Power and delay of the
        /// frame always follow from exact positions.
        pub neighbor_list_interval: Span = Span::ZERO => at_most(HOUR),
        /// Lets movement decide which comes first when a backoff slot ends in the nanosecond in which a signal arrives:
        /// the signal if its sender approaches, the slot if its sender departs. Most of these ties are with the station
        /// that sent last, whose two signals are apart in exact time.
        pub decides_ties: bool = false,
    }
}
