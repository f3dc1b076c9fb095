//! Times during which something is there, apart from each other and in order.

use crate::unit::Time;

/// A list of intervals that do not touch.
#[derive(Debug)]
pub struct Intervals(Vec<(Time, Time)>);

impl Default for Intervals {
    fn default() -> Intervals {
        // Signals that overlap are one interval: there are seldom more than two that have not ended.
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
    /// Adds an interval; those that it meets become one with it.
    pub fn add(&mut self, mut from: Time, mut until: Time) {
        let first = self.0.partition_point(|s| s.1 < from);
        let last = self.0.partition_point(|s| s.0 <= until);
        if let [a, .., b] | [a @ b] = &self.0[first..last] {
            (from, until) = (from.min(a.0), until.max(b.1));
        }
        self.0.splice(first..last, [(from, until)]);
    }

    /// Whether an interval covers this instant, and until when that stays so. Intervals that have ended are forgotten.
    pub fn at(&mut self, at: Time) -> (bool, Time) {
        let over = self.0.partition_point(|s| s.1 <= at);
        self.0.drain(..over);
        match self.0.first() {
            Some(&(from, until)) if from <= at => (true, until),
            Some(&(from, _)) => (false, from),
            None => (false, Time::NEVER),
        }
    }

    /// The same without forgetting.
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
