//! Acknowledgement policies: when the receiver acknowledges.

pub mod delayed;
pub mod interface;
pub mod thinning;

use super::config::Config;
use delayed::Delayed;
use interface::{AckWhen, Arrived, Policy};
use thinning::Thinning;

/// The policy of a receiver.
#[derive(Clone, Debug)]
pub enum AckPolicy {
    /// Every segment.
    Every,
    /// Delayed acknowledgements.
    Delayed(Delayed),
    /// Dynamic ACK thinning.
    Thinning(Thinning),
}

impl AckPolicy {
    /// The policy with its settings.
    pub fn new(cfg: &Config) -> AckPolicy {
        match cfg.ack {
            Policy::Every => AckPolicy::Every,
            Policy::Delayed => AckPolicy::Delayed(Delayed::new(&cfg.delayed, cfg.window)),
            Policy::Thinning => AckPolicy::Thinning(Thinning::new(&cfg.thinning)),
        }
    }

    /// A segment has arrived.
    pub fn on_segment(&mut self, arrived: &Arrived) -> AckWhen {
        match self {
            AckPolicy::Every => AckWhen::Now,
            AckPolicy::Delayed(p) => p.on_segment(arrived),
            AckPolicy::Thinning(p) => p.on_segment(arrived),
        }
    }
}
