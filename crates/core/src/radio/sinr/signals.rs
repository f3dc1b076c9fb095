//! Signals present at a receiver, and the sums of their powers.
//!
//! Sums are cached: an arriving signal is added to them, and they are recomputed after one has ended. Signals are
//! always added in the order of their arrival, so both ways give the same sum to the last bit.

use crate::unit::{Span, Time};
use std::hint::select_unpredictable;

/// Index that stands for "not known".
const UNKNOWN: usize = usize::MAX;

/// A signal at a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    pub(super) sender: u32,
    pub(super) mode: u8,
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) power: f64,
    /// Power as interference: zero for the signal on which the receiver is locked.
    disturbs: f64,
}

/// Signal that keeps the medium busy after a frame has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::radio) struct Remains {
    pub(in crate::radio) sender: u32,
    pub(in crate::radio) until: Time,
}

/// Signals at a receiver in the order in which their senders began, in which they are added.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    pub(super) list: Vec<Signal>,
    /// All signals have begun by this instant. The sums hold from here until `changes`.
    pub(super) since: Time,
    /// First end or begin of a signal, after which the sums no longer hold.
    pub(super) changes: Time,
    /// Index of the signal that ends first; [`UNKNOWN`] where another may end earlier.
    first: usize,
    /// Latest end of all signals.
    end: Time,
    /// Total power of the signals present.
    pub(super) all: f64,
    /// Total power without the signal on which the receiver is locked.
    pub(super) others: f64,
}

impl Signals {
    /// An empty list that holds this number of signals without allocating.
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

    /// Brings the sums to this instant.
    #[inline]
    pub(super) fn go_to(&mut self, at: Time) {
        if (at < self.since) | (self.changes <= at) {
            self.renew(at);
        }
    }

    /// Brings the sums to an instant after a change, or in the past: a nearer sender may be received first.
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

    /// Drops the signal that ends first and sums the rest, all of which have begun. The surviving signals cannot be
    /// predicted, so the loop is branch-free.
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

    /// Drops ended signals and sums the rest, some of which may begin later. Rarely needed.
    #[cold]
    fn add_up(&mut self, at: Time) {
        self.list.retain(|s| s.until > at);
        let present = self.list.iter().filter(|s| s.from <= at);
        (self.all, self.others) = present.fold((0.0, 0.0), |sum, s| (sum.0 + s.power, sum.1 + s.disturbs));
        let changes = self.list.iter().map(|s| if s.from <= at { s.until } else { s.from });
        self.changes = changes.min().unwrap_or(Time::NEVER);
        self.first = self.list.iter().position(|s| at >= self.since && s.until == self.changes).unwrap_or(UNKNOWN);
        self.since = self.since.max(at);
    }

    /// Adds a signal that arrives at the instant of the sums.
    #[inline]
    pub(super) fn push(&mut self, (sender, mode): (u32, u8), from: Time, until: Time, power: f64) {
        self.since = self.since.max(from);
        self.first = select_unpredictable(until < self.changes, self.list.len(), self.first);
        self.changes = self.changes.min(until);
        self.end = self.end.max(until);
        self.all += power;
        self.others += power;
        self.list.push(Signal { sender, mode, from, until, power, disturbs: power });
    }

    /// Returns true if no signal is present at an instant or later, which is later than all sums.
    #[inline]
    pub(super) fn are_over(&self, at: Time) -> bool {
        self.end < at && self.since < at
    }

    /// Locks the receiver on a signal that arrives after all others [are over](Self::are_over).
    #[inline]
    pub(super) fn lock_on_only(&mut self, (sender, mode): (u32, u8), from: Time, until: Time, power: f64) {
        self.list.clear();
        self.list.push(Signal { sender, mode, from, until, power, disturbs: 0.0 });
        (self.since, self.changes, self.first, self.end) = (from, until, 0, until);
        (self.all, self.others) = (power, 0.0);
    }

    /// Drops the [only](Self::lock_on_only) signal at its end. Returns false if it ends later.
    #[inline]
    pub(super) fn end_only(&mut self, at: Time) -> bool {
        let ends = self.changes <= at && self.list.len() == 1;
        if ends {
            self.list.clear();
            (self.since, self.changes, self.first) = (at, Time::NEVER, UNKNOWN);
            (self.all, self.others) = (0.0, 0.0);
        }
        ends
    }

    /// Strongest signal besides the last arrival at this instant, and its power.
    #[cold]
    pub(super) fn strongest_other(&self, at: Time) -> Option<(u32, f64)> {
        let before = &self.list[..self.list.len().saturating_sub(1)];
        let present = before.iter().filter(|s| s.from <= at && at < s.until);
        present.max_by(|a, b| a.power.total_cmp(&b.power)).map(|s| (s.sender, s.power))
    }

    /// Locks the receiver on the last arrival; `others` is the power of all other signals.
    pub(super) fn lock_on_last(&mut self, others: f64) {
        for s in &mut self.list {
            s.disturbs = s.power;
        }
        if let Some(last) = self.list.last_mut() {
            last.disturbs = 0.0;
        }
        self.others = others;
    }

    /// Power of the signals that are at least this old at an instant, and still present.
    #[cold]
    pub(super) fn begun_by(&self, at: Time, age: Span) -> f64 {
        let old = self.list.iter().filter(|s| s.from + age <= at && s.from < at && at < s.until);
        old.fold(0.0, |sum, s| sum + s.power)
    }

    /// Locks the receiver on one of the signals.
    pub(super) fn lock_on(&mut self, locked: usize) {
        for (i, s) in self.list.iter_mut().enumerate() {
            s.disturbs = if i == locked { 0.0 } else { s.power };
        }
        (self.changes, self.first) = (Time::ZERO, UNKNOWN);
    }

    /// Returns true if the signals that outlast `after` are certainly weaker together than the threshold. This is the
    /// common case, and cheap to test.
    #[inline]
    pub(super) fn is_weaker_after(&self, after: Time, threshold: f64) -> bool {
        // In this order the sum may differ in its last digits from that of `loud_until`.
        let together = || self.list.iter().fold(0.0, |sum, s| sum + only_after(after, s));
        self.end <= after || together() < threshold * (1.0 - 1e-9)
    }

    /// End of the time for which the signals present now keep this power together, if it is later than `after`.
    #[inline(never)]
    pub(super) fn loud_until(&self, at: Time, after: Time, threshold: f64) -> Option<Remains> {
        // The last arrival is often loud and lasts longest.
        if let Some(&Signal { sender, from, until, power, .. }) = self.list.last()
            && (from <= at) & (after < until) & (self.end == until) & (power >= threshold)
        {
            return Some(Remains { sender, until });
        }
        // Walks back from the signal that lasts longest. Branch-free, because the order of ends cannot be predicted.
        let (mut sum, mut end) = (0.0, Time::NEVER);
        loop {
            let mut next = Remains { sender: 0, until: after };
            for s in &self.list {
                // Among signals that end together, takes the last.
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

    /// Ends the rest of a sender's signal at this instant.
    pub(super) fn cut(&mut self, sender: u32, at: Time) {
        for s in self.list.iter_mut().filter(|s| s.sender == sender) {
            s.until = s.until.min(at);
        }
        (self.changes, self.first) = (Time::ZERO, UNKNOWN);
    }
}

/// Power of a signal that outlasts `after`, else zero. Masks the bits, because a comparison would become
/// a branch.
#[inline]
fn only_after(after: Time, s: &Signal) -> f64 {
    let later = after.0.wrapping_sub(s.until.0) as i64 >> 63;
    f64::from_bits(s.power.to_bits() & later as u64)
}

/// The power if `counts`, else zero. The power is finite.
#[inline]
fn only(counts: bool, power: f64) -> f64 {
    f64::from(u8::from(counts)) * power
}
