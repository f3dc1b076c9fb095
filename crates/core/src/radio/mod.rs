//! The radio: which receivers sense a transmission, when and how strongly, and whether they can decode it.
//!
//! The radio knows no 802.11: its input is the start and length of a transmission; its output is at which nodes the
//! medium turns busy, and the outcome of the frame at each of them. Pairwise reception follows ns-2: a receiver locks
//! on the first signal it can sense, and only the locked frame and the newcomer are compared ([`channel`]). With
//! cumulative interference all signals add up, and bits are lost by the ratio of signal to noise and interference
//! ([`sinr`]).

mod causes;
pub mod channel;
mod config;
pub mod energy;
pub mod error_rate;
mod in_range;
pub mod propagation;
mod receiver;
pub mod sinr;
mod sinr_config;
mod sites;
mod transmitter;

pub use channel::{Channel, ReceptionSink};
pub use config::{Config, LogDistance, Propagation, Reception, Sensitivity};
pub use in_range::most_pairs_in_range;
pub use in_range::moving::reach;
pub use receiver::{Counters, Ended, Incoming, Sensed, Verdict};
pub use sites::{NARROW, Radios, Site};
pub use transmitter::Harm;
