//! Description of a run: its setup, commands to it, the tables it records, and the reason for its end. The engine
//! executes it, `scenario` creates it, `record` measures it; none of these depends on another for this.

mod command;
pub mod external;
pub mod graph;
pub mod quality;
mod recorded;
mod setup;
mod stop;

pub use command::{Change, Command};
pub use recorded::RecordedTable;
pub use setup::{
    ArrivalsSetup, FlowSetup, Interfaces, LinkSetup, MiddleboxSetup, Profile, RadioSetup, Setup, SplitSetup, Transport,
};
pub use stop::Stop;

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The stop rule was met.
    Done,
    /// The limit of simulated time came first.
    Limit,
    /// No event was left.
    Idle,
    /// The driving program canceled the run.
    Canceled,
}
