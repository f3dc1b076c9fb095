//! What a frame meets at the radio that it is for: the first thing there that makes it unreadable.
//!
//! It is noted when it happens, so that it does not depend on when somebody asks. The loops over listeners only keep which
//! frames have met where; a clash is judged when they are through.

use super::audience::{Audience, Listener};
use super::channel::Channel;
use crate::packet::RadioId;

/// What has made a frame unreadable at the radio that it is for.
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

/// What one frame does to another.
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
struct Meeting {
    /// The senders of the frame that suffers and of the other one.
    lost: u32,
    other: u32,
    /// The radio that the first one is for.
    radio: u32,
    clash: Clash,
}

/// The last frame of a radio.
#[derive(Clone, Copy, Debug)]
struct Aim {
    /// The radio that the frame is for.
    to: u32,
    harm: Option<Harm>,
}

/// The last frame of each radio.
#[derive(Clone, Debug)]
pub(super) struct Aims {
    all: Vec<Aim>,
    meetings: Vec<Meeting>,
}

impl Aims {
    pub(super) fn new(radios: usize) -> Aims {
        Aims { all: vec![Aim { to: u32::MAX, harm: None }; radios], meetings: Vec::with_capacity(16) }
    }

    /// A radio begins to send a frame for another one, or for all.
    #[inline]
    pub(super) fn begin(&mut self, sender: RadioId, to: RadioId) {
        self.all[sender.index()] = Aim { to: to.0, harm: None };
    }

    /// Whether the last frame of a sender is for this radio.
    #[inline]
    pub(super) fn is_for(&self, sender: u32, radio: u32) -> bool {
        self.all[sender as usize].to == radio
    }

    /// Keeps that a frame for this radio has met another one there.
    #[cold]
    pub(super) fn meet(&mut self, lost: u32, other: u32, radio: u32, clash: Clash) {
        self.meetings.push(Meeting { lost, other, radio, clash });
    }

    /// Something makes the frame of a sender unreadable.
    #[cold]
    pub(super) fn note(&mut self, sender: u32, harm: Harm) {
        self.all[sender as usize].harm.get_or_insert(harm);
    }
}

impl Channel {
    /// What has made the last frame of a radio unreadable at the one that it is for, if anything has.
    pub fn harm(&self, sender: RadioId) -> Option<Harm> {
        self.aims.all[sender.index()].harm
    }

    /// Judges what frames have met since a radio began to send.
    #[inline]
    pub(super) fn judge(&mut self) {
        if !self.aims.meetings.is_empty() {
            self.judge_meetings();
        }
    }

    #[cold]
    fn judge_meetings(&mut self) {
        let Channel { aims, audiences, listeners, sinr, .. } = self;
        let Aims { all, meetings } = aims;
        for Meeting { lost, other, radio, clash } in meetings.drain(..) {
            let found = match clash {
                Clash::Captures => Harm::Captured,
                // What was left of a frame that was cut.
                _ if lost == other => Harm::Cut,
                _ => {
                    let senses = |l: &Listener| l.to == lost && sinr.as_ref().is_none_or(|s| s.senses(l.power.into()));
                    if heard_by(audiences, listeners, other).iter().any(senses) { Harm::Sensed } else { Harm::Hidden }
                }
            };
            match (clash, &mut *sinr) {
                (Clash::Disturbs, Some(sinr)) => sinr.note_disturbance(radio, found),
                _ => _ = all[lost as usize].harm.get_or_insert(found),
            }
        }
    }

    /// After which delay a radio hears another one, if it does at all.
    pub fn delay(&self, sender: RadioId, radio: RadioId) -> Option<crate::unit::Span> {
        self.audience(sender).find(|l| l.0 == radio).map(|l| l.1)
    }
}

/// Those who hear a radio.
fn heard_by<'a>(audiences: &[Audience], listeners: &'a [Listener], radio: u32) -> &'a [Listener] {
    let a = &audiences[radio as usize];
    &listeners[a.start as usize..a.end as usize]
}
