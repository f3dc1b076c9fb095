//! Inputs and answers of an acknowledgement policy.

use crate::packet::{Fin, Seq};
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
    /// It had arrived before, as the last one in order.
    pub last_again: bool,
    /// In-order segments that are not acknowledged, this one included.
    pub held: u32,
    /// Segments of any kind since the last acknowledgement, this one included.
    pub unacknowledged: u32,
    /// It is the SYN.
    pub syn: bool,
    /// FIN flag of the segment.
    pub fin: Fin,
    /// PSH flag of the segment.
    pub push: bool,
    /// State of the buffer, if it is one in bytes of memory (`tcp.receive_buffer`).
    pub buffer: Option<BufferState>,
}

/// State of a receiver's buffer after a segment has arrived.
#[derive(Clone, Copy, Debug)]
pub struct BufferState {
    /// The window grows with the segment.
    pub grows: bool,
    /// Less than half of the buffer is free.
    pub scarce: bool,
    /// The window is at least the last advertised window.
    pub keeps_window: bool,
    /// Last advertised window \[segments\], if no data had come for longer than a retransmission timeout.
    pub after_idle: Option<u32>,
}

/// Time of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckWhen {
    /// Send the acknowledgement at once.
    Now,
    /// Before this time has passed since the first segment that is not acknowledged.
    Within(Span),
    /// Before this time has passed, by a clock with ticks.
    WithinTicks {
        /// Length of the time.
        span: Span,
        /// Time between two ticks.
        tick: Span,
    },
}
