//! Causes of frame loss at the intended receiver: the first event that makes a frame unreadable.
//!
//! A cause is recorded when it occurs, so that it does not depend on the time of the query. The loops over receivers
//! only collect which frames overlap where; the overlaps are judged after the loops.

use super::channel::Channel;
use super::in_range::{ReceiverInRange, Transmitter};
use crate::packet::RadioId;

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
    lost: u32,
    other: u32,
    /// Intended receiver of the first frame.
    radio: u32,
    clash: Clash,
}

/// Last frame of a radio: intended receiver and first cause of loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// Intended receiver of the frame.
    pub(super) to: u32,
    harm: Option<Harm>,
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

impl Channel {
    /// Cause of loss of a radio's last frame at its intended receiver, if any.
    pub fn harm(&self, sender: RadioId) -> Option<Harm> {
        self.transmitters[sender.index()].aim.harm
    }

    /// Judges the overlaps collected since a radio began to send; only with cumulative interference.
    pub(super) fn judge_meetings(&mut self) {
        let Channel { meetings, transmitters, in_range, sinr: Some(sinr), .. } = self else { return };
        for Meeting { lost, other, radio, clash } in meetings.drain(..) {
            let harm_found = harm(clash, lost, other, transmitters, in_range, |l| sinr.senses(l.power.into()));
            match clash {
                Clash::Disturbs => sinr.note_disturbance(radio, harm_found),
                Clash::Captures | Clash::Destroys => transmitters[lost as usize].aim.suffer(harm_found),
            }
        }
    }

    /// Propagation delay from a sender to a radio that senses it; `None` out of range.
    pub fn delay(&self, sender: RadioId, radio: RadioId) -> Option<crate::unit::Span> {
        self.in_range(sender).find(|l| l.0 == radio).map(|l| l.1)
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
fn harm(
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
