//! States of a sender, and the information in an acknowledgement.

use super::rate::Sample;
use crate::packet::Seq;
use crate::unit::Time;

/// State of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing unusual.
    Open,
    /// Segments are missing, none is deemed lost yet.
    Disorder,
    /// The window is being reduced without a loss.
    Reducing,
    /// Lost segments are sent again.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// Facts about an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// It acknowledges segments.
    pub advances: bool,
    /// It reports new segments in SACK blocks.
    pub sacks: bool,
    /// It reports a duplicate (DSACK).
    pub dsack: bool,
    /// That duplicate is the tail loss probe.
    pub dsack_of_probe: bool,
    /// It covers segments that were sent only once, before the recovery began.
    pub original: bool,
    /// It covers a retransmitted segment cumulatively.
    pub covers_resent: bool,
    /// The timer is to be set anew.
    pub sets_timer: bool,
    /// A retransmission was found to be lost.
    pub lost_again: bool,
    /// Segments newly acknowledged or reported.
    pub delivered: u32,
    /// Lowest segment sent only once that was delivered after later ones.
    pub reordered: Option<Seq>,
    /// Send times of the first and the last segment acknowledged that was sent once.
    pub acked_sent: Option<(Time, Time)>,
    /// The same of the segments reported.
    pub sacked_sent: Option<(Time, Time)>,
    /// Delivery rate.
    pub sample: Sample,
}

/// Segments that an acknowledgement allows to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// New ones.
    New,
    /// New ones, to see if the timeout was spurious (RFC 5682, 3.1 step 2b).
    NewFirst,
    /// Lost ones before new ones.
    Lost,
}
