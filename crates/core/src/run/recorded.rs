//! Names of the tables that a run can record.

use crate::keywords;

keywords! {
    /// Tables written during a run.
    pub enum RecordedTable {
        /// Every frame on the air, with its outcome.
        Frames = "frames",
        /// Every packet in a data frame of a QoS station, with its MPDU and its outcome.
        Mpdus = "mpdus",
        /// Every frame at every radio that was locked on it, with its outcome there.
        Heard = "heard",
        /// Events of every packet, from its creation to its outcome.
        Packets = "packets",
        /// Windows and timers of the TCP senders, at each change.
        Cwnd = "cwnd",
        /// Lengths of the queues, at each change.
        Queue = "queue",
        /// Routing tables, at each change.
        Routes = "routes",
        /// Energy left in the batteries, at each `run.sample_interval` and when a battery is empty.
        Energy = "energy",
        /// Positions of nodes: the segments of their paths.
        Positions = "positions",
    }
}
