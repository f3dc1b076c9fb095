//! The signals at a receiver, and what they add up to.
//!
//! Sums are kept for as long as they hold: a signal that arrives is added to them, and they are worked out anew after
//! one has ended. As signals are always added in the order of their arrival, both give the same to the last bit.

use crate::unit::Time;
use std::hint::select_unpredictable;

/// No place in a list.
const UNKNOWN: usize = usize::MAX;

/// A signal at a receiver.
#[derive(Clone, Copy, Debug)]
struct Signal {
    sender: u32,
    from: Time,
    until: Time,
    power: f64,
    /// The same, but nothing when this is the signal on which the receiver is locked.
    disturbs: f64,
}

/// A signal that keeps the medium busy when a frame has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::radio) struct Remains {
    pub(in crate::radio) sender: u32,
    pub(in crate::radio) until: Time,
}

/// The signals at a receiver in the order in which they have arrived, in which they are added.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    list: Vec<Signal>,
    /// All have begun by then, and from then on the sums hold ...
    since: Time,
    /// ... until the first signal ends, or one begins.
    pub(super) changes: Time,
    /// The place of that signal in the list; [`UNKNOWN`] where it may be another.
    first: usize,
    /// None ends later than this.
    end: Time,
    /// The power of all that is there.
    pub(super) all: f64,
    /// The same without the signal on which the receiver is locked.
    pub(super) others: f64,
}

impl Signals {
    /// There is room for so many before more is needed.
    pub(super) fn with_capacity(signals: usize) -> Signals {
        let list = Vec::with_capacity(signals);
        Signals {
            list,
            since: Time::ZERO,
            changes: Time::NEVER,
            first: UNKNOWN,
            end: Time::ZERO,
            all: 0.0,
            others: 0.0,
        }
    }

    /// The sums are to be those of this instant.
    #[inline]
    pub(super) fn go_to(&mut self, at: Time) {
        if (at < self.since) | (self.changes <= at) {
            self.renew(at);
        }
    }

    /// Something ends or begins before this instant, or it is one of the past: who is nearer may be heard first.
    #[inline(never)]
    fn renew(&mut self, at: Time) {
        if at < self.since || self.first == UNKNOWN {
            return self.add_up(at);
        }
        while self.changes <= at {
            self.forget_first();
        }
        self.since = at;
    }

    /// Forgets the signal that ends first, and adds up the rest, all of which has begun. Which signals are left cannot
    /// be predicted, so there are no branches.
    fn forget_first(&mut self) {
        let (mut all, mut others, mut changes, mut first) = (0.0, 0.0, Time::NEVER, UNKNOWN);
        let left = self.list.len() - 1;
        for i in 0..left {
            let s = self.list[i + usize::from(i >= self.first)];
            self.list[i] = s;
            all += s.power;
            others += s.disturbs;
            first = select_unpredictable(s.until < changes, i, first);
            changes = changes.min(s.until);
        }
        self.list.truncate(left);
        (self.changes, self.first, self.all, self.others) = (changes, first, all, others);
    }

    /// Forgets what has ended and adds up the rest, not all of which may have begun. It is seldom needed.
    #[cold]
    fn add_up(&mut self, at: Time) {
        self.list.retain(|s| s.until > at);
        let there = self.list.iter().filter(|s| s.from <= at);
        (self.all, self.others) = there.fold((0.0, 0.0), |sum, s| (sum.0 + s.power, sum.1 + s.disturbs));
        let changes = self.list.iter().map(|s| if s.from <= at { s.until } else { s.from });
        self.changes = changes.min().unwrap_or(Time::NEVER);
        self.first = self.list.iter().position(|s| at >= self.since && s.until == self.changes).unwrap_or(UNKNOWN);
        self.since = self.since.max(at);
    }

    /// A signal arrives at the instant of the sums.
    #[inline]
    pub(super) fn push(&mut self, sender: u32, from: Time, until: Time, power: f64) {
        self.since = self.since.max(from);
        self.first = select_unpredictable(until < self.changes, self.list.len(), self.first);
        self.changes = self.changes.min(until);
        self.end = self.end.max(until);
        self.all += power;
        self.others += power;
        self.list.push(Signal { sender, from, until, power, disturbs: power });
    }

    /// The strongest of those that were there when the last one arrived, at this instant, and its power.
    #[cold]
    pub(super) fn strongest_other(&self, at: Time) -> Option<(u32, f64)> {
        let before = &self.list[..self.list.len().saturating_sub(1)];
        let there = before.iter().filter(|s| s.from <= at && at < s.until);
        there.max_by(|a, b| a.power.total_cmp(&b.power)).map(|s| (s.sender, s.power))
    }

    /// The receiver locks on the signal that has arrived last; this is the power of all others.
    pub(super) fn lock_on_last(&mut self, others: f64) {
        for s in &mut self.list {
            s.disturbs = s.power;
        }
        if let Some(last) = self.list.last_mut() {
            last.disturbs = 0.0;
        }
        self.others = others;
    }

    /// Whether those that last longer than this certainly have less power together. That is usual, and soon found.
    #[inline]
    pub(super) fn is_weaker_after(&self, after: Time, threshold: f64) -> bool {
        // In this order the sum may differ in its last digits from that of `loud_until`.
        let together = || self.list.iter().fold(0.0, |sum, s| sum + only_after(after, s));
        self.end <= after || together() < threshold * (1.0 - 1e-9)
    }

    /// The end of the time in which all signals that are there now have this power together, if it is later than that.
    #[inline(never)]
    pub(super) fn loud_until(&self, at: Time, after: Time, threshold: f64) -> Option<Remains> {
        // Often it is the last to arrive that is loud and lasts longest.
        if let Some(&Signal { sender, from, until, power, .. }) = self.list.last()
            && (from <= at) & (after < until) & (self.end == until) & (power >= threshold)
        {
            return Some(Remains { sender, until });
        }
        // From the one that lasts longest on. Which that is cannot be predicted, so there are no branches.
        let (mut sum, mut end) = (0.0, Time::NEVER);
        loop {
            let mut next = Remains { sender: 0, until: after };
            for s in &self.list {
                // Of those that end together the last.
                let later = (s.from <= at) & (s.until < end) & (next.until <= s.until);
                next.until = select_unpredictable(later, s.until, next.until);
                next.sender = select_unpredictable(later, s.sender, next.sender);
            }
            if next.until == after {
                return None;
            }
            end = next.until;
            sum += self.list.iter().fold(0.0, |sum, s| sum + only((s.from <= at) & (s.until == end), s.power));
            if sum >= threshold {
                return Some(next);
            }
        }
    }

    /// What is left of a sender's signal ends at this instant.
    pub(super) fn cut(&mut self, sender: u32, at: Time) {
        for s in self.list.iter_mut().filter(|s| s.sender == sender) {
            s.until = s.until.min(at);
        }
        (self.changes, self.first) = (Time::ZERO, UNKNOWN);
    }
}

/// The power of a signal that ends later than this, or none. From a comparison a branch would be made.
#[inline]
fn only_after(after: Time, s: &Signal) -> f64 {
    let later = after.0.wrapping_sub(s.until.0) as i64 >> 63;
    f64::from_bits(s.power.to_bits() & later as u64)
}

/// A power that counts, or none. It is finite.
#[inline]
fn only(counts: bool, power: f64) -> f64 {
    f64::from(u8::from(counts)) * power
}
