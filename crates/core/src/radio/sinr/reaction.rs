//! Decision of a receiver when a signal arrives.

use crate::radio::sinr_config::{Config, Relock};
use crate::unit::Time;

/// Signal that arrives at a receiver.
pub(super) struct Arrival {
    pub(super) from: Time,
    pub(super) power: f64,
    /// Power of the other signals that are present.
    pub(super) others: f64,
    /// The receiver does not transmit.
    pub(super) is_heard: bool,
}

/// Signal on which a receiver is locked.
pub(super) struct Locked {
    /// Begin of the signal, and of its data after preamble and header.
    pub(super) begins: Time,
    pub(super) data_from: Time,
    pub(super) power: f64,
    /// The frame is decodable so far.
    pub(super) is_clean: bool,
}

/// Reaction of a receiver to a signal that arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaction {
    /// It locks on the signal.
    Locks,
    /// It is not locked any more: the preamble of its signal is lost before it was detected.
    GivesUp,
    /// It stays as it is.
    Stays,
}

impl Reaction {
    /// Reaction of a receiver with this noise that is locked on a signal, or on none.
    #[inline(always)]
    pub(super) fn of(cfg: &Config, noise: f64, arrival: &Arrival, locked: Option<Locked>) -> Reaction {
        let &Arrival { from, power, others, is_heard } = arrival;
        let least = cfg.preamble_detection.0;
        let detected = power >= least * (noise + others) && is_heard;
        let Some(locked) = locked else {
            return if detected { Reaction::Locks } else { Reaction::Stays };
        };
        let undone = locked.is_clean
            && from < locked.begins + cfg.detection_time
            && locked.power < least * (noise + others - locked.power + power);
        let in_time = cfg.relock_during == Relock::Always || from < locked.data_from;
        let relocks = || in_time && cfg.relock.is_some_and(|margin| power >= margin.0 * locked.power);
        match undone {
            _ if detected && (undone || relocks()) => Reaction::Locks,
            true => Reaction::GivesUp,
            false => Reaction::Stays,
        }
    }
}
