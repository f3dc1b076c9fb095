//! Time of the last transmission of each outstanding segment, and number of its transmissions.

use crate::packet::Seq;
use crate::unit::{Span, Time};

/// A table with a place for each outstanding segment, up to the window.
#[derive(Clone, Debug, Default)]
pub struct SendTimes {
    entries: Vec<(Option<Time>, u32)>,
    clearing_stops_at_wrap: bool,
    first_is_unmeasured: bool,
}

impl SendTimes {
    /// Creates a table for a window of this many segments. It is small at first, and grows with outstanding segments.
    pub fn new(window: u32) -> SendTimes {
        SendTimes { entries: vec![(None, 0); window.clamp(1, 16) as usize], ..SendTimes::default() }
    }

    /// The table with the defects of ns-2's Vegas: clearing stops where the table of the whole window wraps round, and
    /// segments sent at the same time as the first one count as not sent.
    pub fn with_bugs(window: u32, clearing_stops_at_wrap: bool, first_is_unmeasured: bool) -> SendTimes {
        let mut table = SendTimes { clearing_stops_at_wrap, first_is_unmeasured, ..SendTimes::new(window) };
        if clearing_stops_at_wrap {
            table.entries.resize(window.max(1) as usize, (None, 0));
        }
        table
    }

    /// Returns true if the table has the size of the window, whatever is outstanding.
    pub fn is_of_window(&self) -> bool {
        self.clearing_stops_at_wrap
    }

    /// Returns true if send times are kept.
    #[inline]
    pub fn is_on(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Makes room before a new segment is sent; those from `una` to `max` are outstanding. A table that is of the size
    /// of the window stays so.
    #[inline]
    pub fn make_room_for_next(&mut self, una: Seq, max: Seq) {
        if (max - una) as usize == self.entries.len() && !self.clearing_stops_at_wrap {
            self.make_room(2 * self.entries.len(), una, max);
        }
    }

    /// Memory of the table \[B\].
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<(Option<Time>, u32)>()
    }

    /// Makes room for this many outstanding segments; those from `una` to `max` are outstanding.
    #[cold]
    pub fn make_room(&mut self, segments: usize, una: Seq, max: Seq) {
        if !self.is_on() || segments <= self.entries.len() {
            return;
        }
        let mut grown = SendTimes { entries: vec![(None, 0); segments], ..*self };
        for seq in una..max {
            let i = grown.index(seq);
            grown.entries[i] = self.get(seq);
        }
        *self = grown;
    }

    fn index(&self, seq: Seq) -> usize {
        seq as usize % self.entries.len()
    }

    /// Notes that a segment is sent.
    pub fn note(&mut self, seq: Seq, now: Time) {
        let i = self.index(seq);
        let entry = &mut self.entries[i];
        *entry = (Some(now), entry.1 + 1);
    }

    /// Time of the last transmission of a segment and number of its transmissions; none if it was acknowledged.
    pub fn get(&self, seq: Seq) -> (Option<Time>, u32) {
        self.entries[self.index(seq)]
    }

    /// The round-trip time of a segment that is acknowledged now, if it was sent only once.
    pub fn round_trip(&self, seq: Seq, now: Time, first_sent: Time) -> Option<Span> {
        let (sent, times) = self.get(seq);
        let unmeasured = |t: Time| self.first_is_unmeasured && t == first_sent;
        sent.filter(|&t| times == 1 && !unmeasured(t)).map(|t| now.since(t))
    }

    /// Clears the entries of segments `from..to`.
    pub fn clear(&mut self, from: Seq, to: Seq) {
        let n = self.entries.len() as Seq;
        let last = to.wrapping_sub(1) % n;
        for seq in from..to {
            if self.clearing_stops_at_wrap && seq % n > last {
                return;
            }
            self.entries[(seq % n) as usize] = (None, 0);
        }
    }
}
