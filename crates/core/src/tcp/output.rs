//! Actions of the two ends of a connection.

use crate::packet::{AckSegment, DataSegment};

/// Actions of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Out {
    /// The sender sends this segment.
    Segment(DataSegment),
    /// The receiver sends this acknowledgement.
    Ack(AckSegment),
    /// The receiver hands new segments to the application, in order.
    Deliver {
        /// Number of segments, the SYN not counted.
        segments: u32,
    },
}
