//! The receiver of a radio: the frame on which it is locked, and the outcome of that frame.

use crate::unit::Time;
use std::hint::select_unpredictable;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lock {
    /// No frame is being received.
    Free,
    /// Locked on a frame that is decodable so far.
    Clean,
    /// Locked on a frame that is too weak, or that overlaps a transmission of this radio: see [`Receiver::is_deaf`].
    Unreadable,
    /// Locked, and disturbed by an overlapping frame.
    Collided,
    /// The medium is busy with signals of which none was detected as a frame.
    Energy,
}

/// Reception state of a radio, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Receiver {
    /// Begin of the signal.
    pub(super) from: Time,
    /// End of the signal.
    pub(super) until: Time,
    /// The end of this radio's own transmission.
    pub(super) transmits_until: Time,
    /// End of the last unreadable signal that was not reported to the station; zero if none.
    pub(super) missed: Time,
    pub(super) power: f32,
    pub(super) sender: u32,
    pub(super) lock: Lock,
    /// Locked on a frame whose second loop visits this receiver.
    pub(super) visited: bool,
    /// The station needs the end of every signal.
    pub(super) needs_every_end: bool,
    pub(super) counters: Counters,
}

impl Receiver {
    #[inline]
    pub(super) fn sensed(&self) -> Sensed {
        Sensed { from: self.from, until: self.until }
    }

    #[inline]
    pub(super) fn take_missed(&mut self) -> Option<Time> {
        (self.missed > Time::ZERO).then(|| std::mem::replace(&mut self.missed, Time::ZERO))
    }

    /// Returns true if this radio has transmitted since the signal began, or was transmitting then.
    #[inline]
    pub(super) fn is_deaf(&self) -> bool {
        self.from < self.transmits_until
    }

    /// Outcome of the locked frame.
    #[inline]
    pub(super) fn verdict(&self) -> Verdict {
        match self.lock {
            Lock::Clean => Verdict::Decoded,
            Lock::Energy => Verdict::Noise,
            _ if self.is_deaf() => Verdict::Noise,
            _ => Verdict::Damaged,
        }
    }

    /// Reports the end of the locked frame.
    #[inline]
    pub(super) fn end(&mut self, at: Time) -> Ended {
        let missed = std::mem::replace(&mut self.missed, Time::ZERO);
        Ended { at, verdict: self.verdict(), medium: self.sensed(), missed, needs_every_end: self.needs_every_end }
    }

    /// Drops a locked frame that has ended and whose second loop skips this receiver.
    #[inline]
    pub(super) fn forget(&mut self) {
        // A radio that transmits when the frame ends does not notice its end. Branch-free, because a branch would often
        // be mispredicted.
        let noticed = (self.lock != Lock::Free) & (self.transmits_until <= self.until);
        self.missed = select_unpredictable(noticed, self.until, self.missed);
        self.lock = Lock::Free;
    }

    /// Unlocks after the second loop of the locked frame, or when that loop is no longer needed.
    #[inline]
    pub(super) fn release(&mut self) {
        self.lock = Lock::Free;
        self.visited = false;
    }
}

/// Time during which the medium is physically busy at a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensed {
    /// Start of the last signal; it may lie in the future by the propagation delay.
    pub from: Time,
    /// End of the last signal.
    pub until: Time,
}

impl Sensed {
    /// Returns true if a signal is present at this instant.
    #[inline]
    pub fn busy(self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

/// Outcome of a frame at a radio that was locked on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The frame was decoded.
    Decoded,
    /// The frame was sensed but cannot be decoded.
    Damaged,
    /// Only energy was sensed: the radio transmitted at or after the begin of the signal.
    Noise,
}

/// Reception of a radio at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A frame that can be decoded so far.
    Decoding,
    /// A signal that cannot be decoded.
    Sensing,
    /// Frames that overlap, none of which can be decoded.
    Colliding,
}

/// End of a frame at a radio that was locked on it.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// End of the frame at this radio.
    pub at: Time,
    /// Outcome of the frame.
    pub verdict: Verdict,
    /// State of the medium at this radio.
    pub medium: Sensed,
    /// End of earlier signals not yet reported, as from [`flush_deferred`](super::Channel::flush_deferred); zero if none.
    pub missed: Time,
    /// The station needs the end of every signal.
    pub needs_every_end: bool,
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Newcomers too weak to disturb the frame being received.
    pub captures: u64,
    /// Overlaps in which both frames were lost.
    pub collisions: u64,
}
