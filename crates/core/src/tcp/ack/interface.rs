//! Inputs and answers of an acknowledgement policy.

use crate::packet::Seq;
use crate::unit::Span;

/// A segment that has arrived, seen by a policy.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Number of the segment.
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
    /// It has the PSH flag.
    pub push: bool,
}

/// Time of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckWhen {
    /// Send the acknowledgement at once.
    Now,
    /// Before this time has passed since the first segment that is not acknowledged.
    Within(Span),
}
