//! Names of the tables that a run can record.

use crate::keywords;

keywords! {
    /// Tables that are written while a run goes on.
    pub enum RecordedTable {
        /// Every frame on the air, and what became of it.
        Frames = "frames",
        /// What happens to every packet, from its birth to its fate.
        Packets = "packets",
        /// Windows and timers of the TCP senders, at each change.
        Cwnd = "cwnd",
        /// Lengths of the queues, at each change.
        Queue = "queue",
        /// Routing tables, at each change.
        Routes = "routes",
        /// Energy left in the batteries, at each `run.sample` and when a battery is empty.
        Energy = "energy",
        /// Where nodes are: the legs of their ways.
        Positions = "positions",
    }
}
