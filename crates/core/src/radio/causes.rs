//! Causes of frame loss at the intended receiver: the first event that makes a frame unreadable.
//!
//! A cause is recorded when it occurs, so that it does not depend on the time of the query. The loops over receivers
//! only collect which frames overlap where; the overlaps are judged after the loops.

use super::transmitter::{Harm, ReceiverInRange, Transmitter};

/// Effect of one frame on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Clash {
    /// The receiver stays locked on the other frame, or switches to it.
    Captures,
    /// The other frame makes this one unreadable.
    Destroys,
    /// The strongest interference so far; decides only later whether the frame was lost.
    Disturbs,
}

/// Overlap of two frames at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Senders of the frame that suffers and of the other frame.
    pub(super) lost: u32,
    pub(super) other: u32,
    /// Intended receiver of the first frame.
    pub(super) radio: u32,
    pub(super) clash: Clash,
}

/// Last frames of all radios and, with cumulative interference, the overlaps that are not yet judged.
pub(super) struct Aims<'a> {
    pub(super) transmitters: &'a mut [Transmitter],
    pub(super) meetings: &'a mut Vec<Meeting>,
}

impl Aims<'_> {
    /// Returns true if the last frame of a sender is addressed to this radio.
    pub(super) fn is_for(&self, sender: u32, radio: u32) -> bool {
        self.transmitters[sender as usize].aim.to == radio
    }

    /// Records that a frame for this radio overlaps another one there.
    #[cold]
    pub(super) fn meet(&mut self, lost: u32, other: u32, radio: u32, clash: Clash) {
        self.meetings.push(Meeting { lost, other, radio, clash });
    }

    /// Records that the frame of a sender becomes unreadable.
    #[cold]
    pub(super) fn note(&mut self, sender: u32, harm: Harm) {
        self.transmitters[sender as usize].aim.suffer(harm);
    }
}

/// The frame of one sender is lost to that of another; only with pairwise reception.
#[cold]
pub(super) fn lose(
    transmitters: &mut [Transmitter],
    in_range: &[ReceiverInRange],
    lost: u32,
    other: u32,
    clash: Clash,
) {
    if transmitters[lost as usize].aim.harm.is_none() {
        let found = harm(clash, lost, other, transmitters, in_range, |_| true);
        transmitters[lost as usize].aim.suffer(found);
    }
}

/// Names the harm that the frame of one sender suffers from that of another.
pub(super) fn harm(
    clash: Clash,
    lost: u32,
    other: u32,
    transmitters: &[Transmitter],
    in_range: &[ReceiverInRange],
    senses: impl Fn(&ReceiverInRange) -> bool,
) -> Harm {
    match clash {
        Clash::Captures => Harm::Captured,
        Clash::Destroys | Clash::Disturbs => {
            let a = &transmitters[other as usize];
            let sensed_by = &in_range[a.start as usize..a.end as usize];
            if sensed_by.iter().any(|l| l.to == lost && senses(l)) { Harm::Sensed } else { Harm::Hidden }
        }
    }
}
