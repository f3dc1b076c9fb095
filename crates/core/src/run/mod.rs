//! Description of a run: its set-up, commands to it, the tables that it records, and why it ended. The engine carries it
//! out, `scenario` writes it, `record` measures it; none of these needs another for it.

mod command;
pub mod graph;
mod recorded;
mod setup;

pub use command::{Change, Command};
pub use recorded::RecordedTable;
pub use setup::{
    ArrivalsSetup, FlowSetup, Interfaces, LinkSetup, MiddleboxSetup, Profile, RadioSetup, Setup, SplitSetup, Stop,
    Transport,
};

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its stop rule was met.
    Done,
    /// The limit of simulated time came first.
    Limit,
    /// Nothing could happen any more.
    Idle,
    /// The program that drove it cancelled it.
    Cancelled,
}
