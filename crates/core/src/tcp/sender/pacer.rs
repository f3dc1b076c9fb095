//! Pacing clock of a sender: the time of its next new segment.

use crate::unit::{Span, Time};

/// Pacing clock. The clock never stops: segments are multiples of the gap apart, even after idle times.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Time at which a segment was last due.
    last: Time,
    /// Time at which the next segment is due, while there is something to send.
    due: Time,
}

impl Default for Pacer {
    /// Creates a clock that has not ticked.
    fn default() -> Pacer {
        Pacer { last: Time::ZERO, due: Time::NEVER }
    }
}

impl Pacer {
    /// Returns true if a segment waits for its time.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.due != Time::NEVER
    }

    /// Schedules the next segment at the next tick, the first one at once.
    pub fn arm(&mut self, now: Time, gap: Span) {
        if self.last == Time::ZERO {
            self.due = now;
            return;
        }
        let gap = gap.max(Span(1));
        let ticks = now.since(self.last).0.div_ceil(gap.0).max(1);
        self.due = self.last + gap * ticks;
    }

    /// Schedules the next segment at this time, whatever the ticks.
    pub fn wait_until(&mut self, at: Time) {
        self.due = at;
    }

    /// Stops sending until [`arm`](Self::arm) is called again.
    pub fn pause(&mut self) {
        self.due = Time::NEVER;
    }

    /// Time at which the next segment is due.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Records a tick of the pacing clock; none is due until the next segment.
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
