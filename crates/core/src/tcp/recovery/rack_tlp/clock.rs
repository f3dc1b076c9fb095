//! Clock of the timers, with ticks.

use crate::unit::{Span, Time};

/// Purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The retransmission timeout.
    Timeout,
    /// A tail loss probe.
    Probe,
    /// Losses are sought again.
    Reordering,
}

/// Clock of the timers. The farther away an expiration, the coarser: a wheel of levels, each with ticks eight times as
/// long.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Clock {
    tick: Span,
}

impl Clock {
    /// A clock with this tick.
    pub fn new(tick: Span) -> Clock {
        Clock { tick }
    }

    /// Time at which a timer expires that is set now.
    pub fn expiry(&self, now: Time, span: Span) -> Time {
        let ticks = span.0.div_ceil(self.tick.0).max(1);
        let (mut level, mut start) = (0, 63);
        while ticks >= start && level < 8 {
            level += 1;
            start *= 8;
        }
        let shift = 3 * level;
        let expires = now.0 / self.tick.0 + ticks;
        Time((((expires >> shift) + 1) << shift) * self.tick.0)
    }
}
