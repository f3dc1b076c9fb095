//! Acknowledgement policies: when the receiver acknowledges.

pub mod delayed;
pub mod thinning;

use super::Config;
use crate::keywords;
use crate::packet::Seq;
use crate::unit::Span;
use delayed::Delayed;
use thinning::Thinning;

keywords! {
    /// Acknowledgement policies.
    pub enum Policy {
        /// Every segment is acknowledged at once.
        Every = "every",
        /// Every second segment, or after a timeout (RFC 1122, 4.2.3.2; RFC 5681, 4.2).
        Delayed = "delayed",
        /// Every segment at first, then every second, third and fourth (Altman and Jimenez 2003).
        Thinning = "thinning",
    }
}

/// A segment that has arrived, seen by a policy.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Its number.
    pub seq: Seq,
    /// It was the next one expected.
    pub in_order: bool,
    /// Segments above it had arrived before.
    pub fills_gap: bool,
    /// It had arrived before.
    pub duplicate: bool,
    /// In-order segments that are not acknowledged, this one included.
    pub held: u32,
    /// Segments of any kind since the last acknowledgement, this one included.
    pub unacknowledged: u32,
    /// It is the SYN.
    pub syn: bool,
}

/// When to acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckWhen {
    /// At once.
    Now,
    /// Before so much time has passed since the first segment that is not acknowledged.
    Within(Span),
}

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
            Policy::Delayed => AckPolicy::Delayed(Delayed::new(&cfg.delayed)),
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
