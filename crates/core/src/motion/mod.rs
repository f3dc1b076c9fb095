//! Motion: where nodes are at every instant.
//!
//! The way of a node is a chain of legs ([`leg`]), each a linear function of time, so a place is exact at every instant.
//! Legs are drawn ([`waypoint`]), come from a file ([`courses`], [`formats`]) or from a command. [`crowd`] has the legs of
//! all nodes, and knows who may be near whom.

pub mod courses;
pub mod crowd;
pub mod formats;
pub mod leg;
pub mod waypoint;

mod cells;
mod near;

pub use courses::{Course, Courses};
pub use crowd::{Crowd, Plan};

use crate::setting::limit::{HOUR, above, at_least, at_most};
use crate::unit::{Metres, Span, Speed};
use crate::{keywords, settings};

keywords! {
    /// How a node moves.
    pub enum Kind {
        /// It stays where it is.
        Still = "still",
        /// It walks from one random point to the next.
        RandomWaypoint = "random_waypoint",
        /// As a file says.
        File = "file",
    }
}

keywords! {
    /// Where a random walk begins.
    pub enum Start {
        /// In the stationary state, drawn anew for each run: speeds, pauses and places are distributed at the beginning as
        /// ever after (Navidi and Camp 2004).
        Stationary = "stationary",
        /// At a point drawn uniformly for each run, with a pause (ns-2's setdest, version 1).
        Uniform = "uniform",
        /// At the place of the topology, with a pause.
        Topology = "topology",
    }
}

/// Nothing is faster.
pub const FASTEST: Speed = Speed(1e4);
/// Nothing is as far away.
const FAR: Metres = Metres(1e7);

settings! {
    /// Motion of the nodes that have a radio.
    pub struct Config {
        /// How they move.
        pub kind: Kind = Kind::Still,
        /// The slowest speed at which a walk is made; 0: any above 0.
        pub min_speed: Speed = Speed(1.0) => at_most(FASTEST)
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// The fastest one.
        pub max_speed: Speed = Speed(20.0) => above(Speed(0.0)).at_most(FASTEST)
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// Pause at each destination.
        pub pause: Span = Span::ZERO => at_most(HOUR)
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// Width of the area in which destinations lie, from x = 0 on; "none": that of a random topology.
        pub width: Option<Metres> = None => at_least(Metres(1.0)).below(FAR)
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// Height of that area, from y = 0 on; "none": that of a random topology.
        pub height: Option<Metres> = None => at_least(Metres(1.0)).below(FAR)
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// Where walks begin.
        pub start: Start = Start::Stationary
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// Seed of random walks; "none": that of the run. With one of its own, other runs have the same walks.
        pub seed: Option<u64> = None
            ; used when |c| c.kind == Kind::RandomWaypoint, else "`motion.kind` is not `random_waypoint`",
        /// A file with the ways of the nodes: lines of ns-2's `setdest`, BonnMotion's waypoints, or CSV.
        pub file: Option<String> = None
            ; used when |c| c.kind == Kind::File, else "`motion.kind` is not `file`",
        /// The ways of the nodes as the text of a CSV file, which is what a scenario keeps of `motion.file`.
        pub courses: Courses = Courses::default()
            ; used when |c| c.kind == Kind::File, else "`motion.kind` is not `file`",
        /// How old the positions may be by which it is decided who may sense a frame at all; its power and delay always go
        /// by the exact ones (1 s in ns-2).
        pub known_for: Span = Span::ZERO => at_most(HOUR),
        /// Decides ties by motion, as in ns-2: where a slot of a back-off ends in the nanosecond in which a signal arrives, the
        /// signal comes first if its sender approaches, and the slot if its sender departs. Most ties are with the station that
        /// sent last, whose two signals exact times tell apart.
        pub decides_ties: bool = false,
    }
}
