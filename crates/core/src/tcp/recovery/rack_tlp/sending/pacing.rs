//! Pacing in the sender: the time before which no segment is sent.

use crate::unit::{Span, Time};

/// Segments at the beginning of a connection that are not paced.
const UNPACED: u64 = 10;

/// Pacing clock.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp::recovery::rack_tlp) struct Pacing {
    /// Pacing rate \[B/s\]; 0: segments are not paced.
    pub rate: u64,
    /// Earliest time of the next segment.
    next: Time,
    sent: u64,
}

impl Pacing {
    /// Counts a segment of this many bytes that is sent now. A segment sent late shortens the next gap, by at most
    /// half.
    pub fn count_sent(&mut self, now: Time, bytes: u32) {
        if self.rate == 0 {
            return;
        }
        let late = if self.sent > 0 { now.since(self.next.min(now)) } else { Span::ZERO };
        self.next = self.next.max(now);
        self.sent += 1;
        if self.sent >= UNPACED {
            let gap = Span(u64::from(bytes) * 1_000_000_000 / self.rate);
            self.next += gap - late.min(gap / 2);
        }
    }

    /// Time until which segments wait.
    pub fn wait(&self, now: Time) -> Option<Time> {
        (self.rate > 0 && self.next > now).then_some(self.next)
    }
}
