//! What a policy is told, and what it answers.

use crate::keywords;
use crate::packet::Seq;
use crate::unit::Span;

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
    /// Before this time has passed since the first segment that is not acknowledged.
    Within(Span),
}
