//! Packet-level simulator of TCP over wireless networks.
//!
//! A [`scenario::Scenario`] is read, checked and turned into a [`run::Setup`]; a [`sim::Sim`] runs it; its
//! [`record::Recorder`] hands out tables.
//!
//! ```
//! use chappe_core::scenario::{NoFiles, Scenario};
//! use chappe_core::sim::Sim;
//!
//! let text = "topology = { hops = 2 }\nrun = { stop = \"1000 delivered\" }";
//! let scenario = Scenario::from_toml("two_hops.toml", text, &[], &NoFiles)?;
//! let mut sim = Sim::new(&scenario.setup(Some(7)));
//! sim.run();
//! assert!(sim.recorder().flows().numbers("goodput_bps").unwrap()[0] > 0.0);
//! # Ok::<(), chappe_core::scenario::Errors>(())
//! ```
//!
//! # The rooms
//!
//! Each layer is a room: a pure state machine without clock, sockets, callbacks or globals. What comes in is a value
//! and the time; what goes out is values, and a deadline at which the room wants to be called again. Rooms never
//! import each other. The corridor, [`sim`], is the only place that knows them all: it takes what is due first off
//! the [`agenda`], calls one room, and carries what it says to the next.
//!
//! | room | what it is | what it says |
//! |---|---|---|
//! | [`app`] | applications: file transfer, constant bit rate | write, send a datagram |
//! | [`tcp`] | senders, receivers, windows, recovery, acknowledgements | segments, acknowledgements, deliveries |
//! | [`net`] | routing, interface queues, address resolution | send via, wait, drop, purge |
//! | [`wlan`] | the IEEE 802.11 DCF of one station | transmit, received, sent, given up |
//! | [`wire`] | point-to-point links | arrived |
//! | [`error_model`] | what is damaged on a wire or at a receiver | damaged or not |
//! | [`radio`] | propagation, carrier sense, reception, capture | who hears what from when until when |
//! | [`place`] | where the nodes are at the beginning | positions |
//! | [`motion`] | where they are at every instant | positions, who may be near whom |
//!
//! What rooms share are values: [`mod@unit`] (times, rates, lengths), [`packet`] (packets and their ledger), [`rng`]
//! (streams of random numbers), [`setting`] (how settings are declared, read and documented), [`count`] (how counters are),
//! [`mod@dispatch`] (how the methods of a family of parts are called).

/// The version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Goes up with every change that moves results: two results are comparable when their epochs are equal.
pub const RESULTS_EPOCH: u32 = 4;

pub mod agenda;
pub mod app;
pub mod count;
pub mod dispatch;
pub mod error_model;
pub mod motion;
pub mod net;
pub mod packet;
pub mod place;
pub mod radio;
pub mod record;
pub mod rng;
pub mod run;
pub mod scenario;
pub mod setting;
pub mod sim;
pub mod tcp;
pub mod unit;
pub mod wire;
pub mod wlan;

// Traces of ns-2 are replayed with its own random numbers, which only unit tests can do.
#[cfg(test)]
#[path = "../tests/ns2/mod.rs"]
mod ns2;
