//! The harm that a frame meets at the radio that it is for: the first thing that makes it unreadable.
//!
//! It is noted when it happens, so that it does not depend on when somebody asks. The loops over listeners only keep which
//! frames have met where; a clash is judged when they are through.

use super::audience::{Audience, Listener};
use super::channel::Channel;
use crate::packet::RadioId;

/// Reason why a frame is unreadable at the radio that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Another frame, whose sender its own sender cannot sense.
    Hidden,
    /// Another frame, whose sender its own sender can sense.
    Sensed,
    /// The radio was locked on another frame, which was the stronger one.
    Captured,
    /// Nothing but noise.
    Noise,
    /// Its sender was switched off before its end.
    Cut,
}

/// Effect of one frame on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Clash {
    /// The radio is locked on the other one, or turns to it.
    Captures,
    /// It makes it unreadable.
    Destroys,
    /// It disturbs it more than any before, and may turn out to have made it unreadable.
    Disturbs,
}

/// Two frames have met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// The senders of the frame that suffers and of the other one.
    lost: u32,
    other: u32,
    /// The radio that the first one is for.
    radio: u32,
    clash: Clash,
}

/// The last frame of a radio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    /// The radio that the frame is for.
    pub(super) to: u32,
    harm: Option<Harm>,
}

impl Aim {
    /// Nothing has been sent.
    pub(super) const NONE: Aim = Aim::at(RadioId(u32::MAX));

    /// A frame for a radio, or for all, begins.
    #[inline]
    pub(super) const fn at(to: RadioId) -> Aim {
        Aim { to: to.0, harm: None }
    }

    /// The first harm counts.
    pub(super) fn suffer(&mut self, harm: Harm) {
        self.harm.get_or_insert(harm);
    }
}

/// The last frames of all radios, and where signals add up the meetings that are still to be judged.
pub(super) struct Aims<'a> {
    pub(super) audiences: &'a mut [Audience],
    pub(super) meetings: &'a mut Vec<Meeting>,
}

impl Aims<'_> {
    /// Tells if the last frame of a sender is for this radio.
    pub(super) fn is_for(&self, sender: u32, radio: u32) -> bool {
        self.audiences[sender as usize].aim.to == radio
    }

    /// Keeps that a frame for this radio has met another one there.
    #[cold]
    pub(super) fn meet(&mut self, lost: u32, other: u32, radio: u32, clash: Clash) {
        self.meetings.push(Meeting { lost, other, radio, clash });
    }

    /// Something makes the frame of a sender unreadable.
    #[cold]
    pub(super) fn note(&mut self, sender: u32, harm: Harm) {
        self.audiences[sender as usize].aim.suffer(harm);
    }
}

impl Channel {
    /// The harm that the last frame of a radio has met at the radio that it is for, if any.
    pub fn harm(&self, sender: RadioId) -> Option<Harm> {
        self.audiences[sender.index()].aim.harm
    }

    /// Judges the meetings of frames since a radio began to send, where signals add up.
    pub(super) fn judge_meetings(&mut self) {
        let Channel { meetings, audiences, listeners, sinr: Some(sinr), .. } = self else { return };
        for Meeting { lost, other, radio, clash } in meetings.drain(..) {
            let found = harm(clash, lost, other, audiences, listeners, |l| sinr.senses(l.power.into()));
            match clash {
                Clash::Disturbs => sinr.note_disturbance(radio, found),
                Clash::Captures | Clash::Destroys => audiences[lost as usize].aim.suffer(found),
            }
        }
    }

    /// After which delay a radio hears another one, if it does at all.
    pub fn delay(&self, sender: RadioId, radio: RadioId) -> Option<crate::unit::Span> {
        self.audience(sender).find(|l| l.0 == radio).map(|l| l.1)
    }
}

/// The frame of a sender is lost to that of another one, where signals do not add up.
#[cold]
pub(super) fn lose(audiences: &mut [Audience], listeners: &[Listener], lost: u32, other: u32, clash: Clash) {
    if audiences[lost as usize].aim.harm.is_none() {
        let found = harm(clash, lost, other, audiences, listeners, |_| true);
        audiences[lost as usize].aim.suffer(found);
    }
}

/// Names the harm that the frame of one sender takes from that of another one.
fn harm(
    clash: Clash,
    lost: u32,
    other: u32,
    audiences: &[Audience],
    listeners: &[Listener],
    senses: impl Fn(&Listener) -> bool,
) -> Harm {
    match clash {
        Clash::Captures => Harm::Captured,
        Clash::Destroys | Clash::Disturbs => {
            let a = &audiences[other as usize];
            let heard_by = &listeners[a.start as usize..a.end as usize];
            if heard_by.iter().any(|l| l.to == lost && senses(l)) { Harm::Sensed } else { Harm::Hidden }
        }
    }
}
