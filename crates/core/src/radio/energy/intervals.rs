//! Busy intervals of a medium: disjoint and in order of time.

use crate::unit::Time;

/// A sorted list of disjoint intervals.
#[derive(Debug)]
pub struct Intervals(Vec<(Time, Time)>);

impl Default for Intervals {
    fn default() -> Intervals {
        // Overlapping signals merge into one interval, so more than two open intervals are rare.
        Intervals(Vec::with_capacity(4))
    }
}

impl Clone for Intervals {
    fn clone(&self) -> Intervals {
        let mut copy = Intervals::default();
        copy.0.extend_from_slice(&self.0);
        copy
    }
}

impl Intervals {
    /// Adds an interval and merges it with those that it overlaps or touches.
    pub fn add(&mut self, mut from: Time, mut until: Time) {
        let first = self.0.partition_point(|s| s.1 < from);
        let last = self.0.partition_point(|s| s.0 <= until);
        if let [a, .., b] | [a @ b] = &self.0[first..last] {
            (from, until) = (from.min(a.0), until.max(b.1));
        }
        self.0.splice(first..last, [(from, until)]);
    }

    /// Returns true if an interval covers this instant, with the end of that state. Drops intervals that have ended.
    pub fn at(&mut self, at: Time) -> (bool, Time) {
        let over = self.0.partition_point(|s| s.1 <= at);
        self.0.drain(..over);
        match self.0.first() {
            Some(&(from, until)) if from <= at => (true, until),
            Some(&(from, _)) => (false, from),
            None => (false, Time::NEVER),
        }
    }

    /// Same as [`at`](Self::at), but drops nothing.
    pub fn look(&self, at: Time) -> (bool, Time) {
        match self.0.iter().find(|s| s.1 > at) {
            Some(&(from, until)) if from <= at => (true, until),
            Some(&(from, _)) => (false, from),
            None => (false, Time::NEVER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_meet_become_one() {
        let mut i = Intervals::default();
        for (from, until) in [(50, 60), (10, 20), (70, 80), (20, 30), (55, 72), (90, 95)] {
            i.add(Time(from), Time(until));
        }
        assert_eq!(i.0, [(10, 30), (50, 80), (90, 95)].map(|s| (Time(s.0), Time(s.1))));
        assert_eq!(i.look(Time(30)), (false, Time(50)));
        assert_eq!(i.at(Time(40)), (false, Time(50)));
        assert_eq!(i.at(Time(50)), (true, Time(80)));
        assert_eq!(i.at(Time(95)), (false, Time::NEVER));
        assert!(i.0.is_empty());
    }
}
