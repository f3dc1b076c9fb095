//! Real programs over a simulated network: their packets are datagrams of external flows, in real time.
//!
//! Every node with programs has a network namespace with a TUN device. [`Live`] reads what the kernel sends there, gives
//! it to the run, and writes what arrives. What entered is recorded, and [`Replay`] repeats it in virtual time.

pub mod address;
mod header;
mod record;

#[cfg(target_os = "linux")]
mod enclosure;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod lateness;
#[cfg(target_os = "linux")]
mod node;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod queue;
#[cfg(target_os = "linux")]
mod run;

pub use record::{Entry, Invalid, Record, Replay};

#[cfg(target_os = "linux")]
pub use enclosure::{Refusal, enclose, settle};
#[cfg(target_os = "linux")]
pub use lateness::Lateness;
#[cfg(target_os = "linux")]
pub use programs::Program;
#[cfg(target_os = "linux")]
pub use run::{Counts, Live, Options, Outcome, Told};
