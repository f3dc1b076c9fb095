//! Packet-level simulator of TCP over wireless networks.
//!
//! A [`run::Setup`] describes a run, a [`sim::Sim`] executes it, its [`record::Recorder`] hands out tables. The crate
//! `chappe-scenario` reads and checks scenarios and turns them into setups.
//!
//! # The layers
//!
//! Each layer is a pure state machine without clock, sockets, callbacks or globals. Its inputs are values and the time;
//! its outputs are actions, and a deadline for its next call. Layers never import each other. The engine, [`sim`], is
//! the only module that knows them all: it takes the earliest timer from the scheduler ([`scheduler`]), calls one
//! layer, and carries its actions to the next.
//!
//! | layer | content | actions |
//! |---|---|---|
//! | [`app`] | applications: file transfer, constant bit rate, on/off bursts | write, send a datagram |
//! | [`tcp`] | senders, receivers, windows, recovery, acknowledgements | segments, acknowledgements, deliveries |
//! | [`net`] | routing, interface queues, address resolution | send via, wait, drop, purge |
//! | [`wlan`] | the IEEE 802.11 DCF of one station | transmit, received, sent, given up |
//! | [`point_to_point`] | point-to-point links | arrived |
//! | [`error_model`] | damage on a link or at a receiver | damaged or not |
//! | [`radio`] | propagation, carrier sense, reception, capture | begin, end and outcome of signals at each receiver |
//! | [`topology`] | chains, grids, random and listed positions | initial positions |
//! | [`mobility`] | movement patterns | positions at every instant, nodes that may be in range |
//!
//! Layers share values: [`mod@unit`] (times, rates, lengths), [`packet`] (packets and their ledger), [`rng`] (streams
//! of random numbers), [`setting`] (how settings are declared, read and documented), [`count`] (how counters are),
//! [`mod@dispatch`] (how the methods of a family of parts are called), [`codel`] (the control law of queues in two layers).

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Number of the results epoch, incremented by every change that moves results: results are comparable within one
/// epoch.
pub const RESULTS_EPOCH: u32 = 1;

pub mod app;
pub mod codel;
pub mod count;
pub mod dispatch;
pub mod error_model;
pub mod mobility;
pub mod net;
pub mod packet;
pub mod point_to_point;
pub mod radio;
pub mod record;
pub mod rng;
pub mod run;
pub mod scheduler;
pub mod setting;
pub mod sim;
pub mod tcp;
pub mod topology;
pub mod unit;
pub mod wlan;

// Unit tests run scenarios. They compile that crate as a module, because its dependency is the core without tests.
#[cfg(test)]
extern crate self as chappe_core;
#[cfg(test)]
#[path = "../../scenario/src/lib.rs"]
pub mod scenario;

// Replays of ns-2's traces need its own random numbers, which only unit tests can use.
#[cfg(test)]
#[path = "../tests/ns2/mod.rs"]
mod ns2;
