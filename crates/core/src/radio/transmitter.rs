//! A radio as a sender: the receivers in range, and its last frame.

use crate::packet::RadioId;
use crate::unit::Span;

/// Reason why a frame is unreadable at its intended receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// An overlapping frame from a hidden terminal: the sender of the lost frame cannot sense it.
    Hidden,
    /// An overlapping frame whose sender is within carrier-sense range of the sender of the lost frame.
    Sensed,
    /// The receiver was locked on another, stronger frame.
    Captured,
    /// Noise alone, without interference.
    Noise,
    /// The sender was switched off before the end of the frame.
    Cut,
}

/// Last frame of a radio: intended receiver and first cause of loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// Intended receiver of the frame.
    pub(super) to: u32,
    pub(super) harm: Option<Harm>,
}

impl Aim {
    /// No frame sent yet.
    pub(super) const NONE: Aim = Aim::at(RadioId(u32::MAX));

    /// A new frame, for one radio or for broadcast.
    #[inline]
    pub(super) const fn at(to: RadioId) -> Aim {
        Aim { to: to.0, harm: None }
    }

    /// Records a cause of loss; only the first counts.
    pub(super) fn suffer(&mut self, harm: Harm) {
        self.harm.get_or_insert(harm);
    }
}

/// A receiver in range of a radio.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverInRange {
    /// Number of the receiving radio.
    pub(super) to: u32,
    /// Propagation delay [ns].
    pub(super) delay: u32,
    /// Received power \[W\].
    pub(super) power: f32,
}

/// A radio as a sender: its part of the list of all receivers in range, and its last frame. In the list, receivers that
/// can decode its frames precede those that only sense them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmitter {
    /// Index of the first receiver in range.
    pub(super) start: u32,
    /// Index of the first receiver that can only sense the frames.
    pub(super) sensing: u32,
    /// Index after the last receiver in range.
    pub(super) end: u32,
    /// Number of sense-only receivers that need the end of the frame on the air; they are listed in `waiting`.
    pub(super) waiting: u32,
    /// Longest propagation delay.
    pub(super) farthest: Span,
    /// Last frame sent to these receivers.
    pub(super) aim: Aim,
}
