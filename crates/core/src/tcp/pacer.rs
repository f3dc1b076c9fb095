//! The clock of a paced sender: when the next new segment may be sent.

use crate::unit::{Span, Time};

/// The clock. It never stops: segments are multiples of the gap apart, however long there was nothing to send.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Time at which a segment was last due.
    last: Time,
    /// Time at which the next segment is due, while there is something to send.
    due: Time,
}

impl Default for Pacer {
    /// A clock that has not ticked.
    fn default() -> Pacer {
        Pacer { last: Time::ZERO, due: Time::NEVER }
    }
}

impl Pacer {
    /// Tells if a segment waits for its time.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.due != Time::NEVER
    }

    /// There is something to send: the next segment is due when the clock next ticks, the first at once.
    pub fn arm(&mut self, now: Time, gap: Span) {
        if self.last == Time::ZERO {
            self.due = now;
            return;
        }
        let gap = gap.max(Span(1));
        let ticks = now.since(self.last).0.div_ceil(gap.0).max(1);
        self.due = self.last + gap * ticks;
    }

    /// Nothing is sent until [`arm`](Self::arm) is called again.
    pub fn pause(&mut self) {
        self.due = Time::NEVER;
    }

    /// Time at which the next segment is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// The clock ticks.
    pub fn on_tick(&mut self, now: Time) {
        self.last = now;
        self.due = Time::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_a_gap_apart_and_the_clock_runs_on_when_there_is_none() {
        let (mut p, gap) = (Pacer::default(), Span::ms(50));
        p.arm(Time(1_000_000), gap);
        assert_eq!(p.deadline(), Time(1_000_000));
        p.on_tick(Time(1_000_000));
        p.arm(Time(2_000_000), gap);
        assert_eq!(p.deadline(), Time(51_000_000));
        p.on_tick(Time(51_000_000));
        p.arm(Time(130_000_000), gap);
        assert_eq!(p.deadline(), Time(151_000_000));
    }
}
