//! TCP with one-way data: sender, receiver, loss recovery, window rule, acknowledgement policy.
//!
//! Segments are whole packets and are numbered from 0; with `syn` the segment 0 is the SYN. Windows are counted in
//! segments. Loss [`recovery`] and window rule ([`cc`]) are two choices; [`config::variants`] lists the pairs with
//! a name of their own, [`config::pairs`] those that cannot work.
//!
//! Files import in one direction: settings of parts, [`config`], window rules, [`connection`], loss recoveries,
//! [`sender`]. A window rule receives and returns values ([`cc::interface`]) without access to the
//! connection; a loss recovery works on the connection by its methods.

pub mod ack;
pub mod cc;
pub mod config;
pub mod connection;
pub mod counters;
pub mod door;
pub mod ecn;
pub mod receiver;
pub mod recovery;
pub mod sender;
pub mod split;

pub use config::{
    Config, DupAcks, GrowthPer, GrowthWhen, Halving, IdleRule, InitialWindow, LocalDrop, NO_FIN, SmallQueue,
};
pub use counters::{Counters, Sums};
pub use receiver::Receiver;
pub use sender::writes::{Nagle, SendBuffer};
pub use sender::{Phase, Sender, View};
pub use split::Split;

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
