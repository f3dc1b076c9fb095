//! The battery of a node: what its radios take from it, and when it is empty.
//!
//! Own frames and the signals of others are told when they begin. With continuous accounting the battery is drained
//! up to any instant, and the instant at which it will be empty is known if nothing new comes. With accounting at the
//! first bit (behaviour of `wireless-phy.cc` and `energy-model.cc` of ns-2.35) energy is taken when a frame begins: for
//! the part of it that comes after all frames before, and for the idle time since these.

use super::energy::{Accounting, Config};
use super::intervals::Intervals;
use crate::unit::{Span, Time};

/// A radio that takes energy from a battery.
#[derive(Clone, Debug)]
struct Load {
    powers: Config,
    sends_until: Time,
    signals: Intervals,
}

impl Load {
    /// The power that it draws at an instant \[W\], and until when.
    fn draws(&self, at: Time) -> (f64, Time) {
        let (senses, until) = self.signals.look(at);
        match () {
            () if at < self.sends_until => (self.powers.transmit.0, self.sends_until),
            () if senses => (self.powers.receive.0, until),
            () => (self.powers.idle.0, until),
        }
    }
}

/// The battery of a node.
#[derive(Clone, Debug)]
pub struct Battery {
    capacity: f64,
    /// What is left \[J\].
    left: f64,
    /// Up to when that is true. With accounting at the first bit: the end of all frames so far.
    at: Time,
    loads: Vec<Load>,
    accounting: Accounting,
    off: bool,
    /// When it is known to be empty, or will be if nothing new comes.
    empty_at: Time,
}

impl Battery {
    /// A full battery that these radios drain; `None` if the first of them has none.
    pub fn new<'a>(radios: impl Iterator<Item = &'a Config>) -> Option<Battery> {
        let load =
            |powers: &Config| Load { powers: powers.clone(), sends_until: Time::ZERO, signals: Intervals::default() };
        let loads: Vec<Load> = radios.map(load).collect();
        let first = &loads.first()?.powers;
        let capacity = first.battery?.0;
        let accounting = first.accounting;
        let mut battery =
            Battery { capacity, left: capacity, at: Time::ZERO, loads, accounting, off: false, empty_at: Time::NEVER };
        battery.foresee();
        Some(battery)
    }

    /// Energy at the start \[J\].
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// When the battery is empty, as far as is known now.
    pub fn deadline(&self) -> Time {
        self.empty_at
    }

    /// Whether it is empty.
    pub fn is_empty(&self, now: Time) -> bool {
        self.empty_at <= now
    }

    /// What is left at an instant that is not before anything that was told \[J\]. With accounting at the first bit: after
    /// the last frame that was charged.
    pub fn left(&self, now: Time) -> f64 {
        if self.is_empty(now) {
            return 0.0;
        }
        let mut copy = (self.left, self.at);
        if self.accounting == Accounting::Continuous {
            self.drain(&mut copy, now);
        }
        copy.0
    }

    /// One of its radios begins to send; the last of those who sense the frame do so after this delay.
    pub fn on_transmit(&mut self, load: usize, now: Time, airtime: Span, delay: Span) {
        match self.accounting {
            Accounting::Continuous => {
                self.settle(now);
                self.loads[load].sends_until = now + airtime;
                self.foresee();
            }
            Accounting::FirstBit => {
                let power = self.loads[load].powers.transmit.0;
                // The frame that exhausts the battery goes out whole.
                self.charge(load, power, now, airtime, now + airtime + delay);
            }
        }
    }

    /// A signal that one of its radios senses begins at `from`.
    pub fn on_signal(&mut self, load: usize, now: Time, from: Time, airtime: Span) {
        match self.accounting {
            Accounting::Continuous => {
                self.settle(now);
                self.loads[load].signals.add(from, from + airtime);
                self.foresee();
            }
            Accounting::FirstBit => {
                let power = self.loads[load].powers.receive.0;
                self.charge(load, power, from, airtime, now);
            }
        }
    }

    /// The node is switched off, or on again.
    pub fn switch(&mut self, now: Time, off: bool) {
        if self.is_empty(now) {
            return;
        }
        match self.accounting {
            Accounting::Continuous => self.settle(now),
            Accounting::FirstBit => self.idle_up_to(now, now),
        }
        self.off = off;
        for load in &mut self.loads {
            load.sends_until = load.sends_until.min(now);
        }
        self.foresee();
    }

    // ---- as time passes ----

    /// The power that is drawn at an instant \[W\], and until when.
    fn draws(&self, at: Time) -> (f64, Time) {
        if self.off {
            return (self.loads.iter().map(|l| l.powers.sleep.0).sum(), Time::NEVER);
        }
        let each = self.loads.iter().map(|l| l.draws(at));
        each.fold((0.0, Time::NEVER), |sum, (power, until)| (sum.0 + power, sum.1.min(until)))
    }

    fn drain(&self, (left, at): &mut (f64, Time), to: Time) {
        while *at < to {
            let (power, until) = self.draws(*at);
            let until = until.min(to);
            *left -= power * (until - *at).as_secs();
            *at = until;
        }
    }

    fn settle(&mut self, now: Time) {
        let mut state = (self.left, self.at);
        self.drain(&mut state, now);
        (self.left, self.at) = state;
        for load in &mut self.loads {
            load.signals.at(now);
        }
    }

    /// Works out when the battery will be empty.
    fn foresee(&mut self) {
        if self.accounting == Accounting::FirstBit || self.is_empty(self.at) {
            return;
        }
        let (mut left, mut at) = (self.left, self.at);
        self.empty_at = loop {
            let (power, until) = self.draws(at);
            let lasts = left / power * 1e9;
            // The nanosecond in which it is empty has to be over.
            let ends = if lasts < 1e18 { at + Span(libm::ceil(lasts.max(0.0)) as u64) } else { Time::NEVER };
            if ends <= until {
                break ends;
            }
            left -= power * (until - at).as_secs();
            at = until;
        };
    }

    // ---- at the first bit ----

    /// Takes what a frame costs from `from` on; if the battery is empty then, its node dies at `dies`.
    fn charge(&mut self, load: usize, power: f64, from: Time, airtime: Span, dies: Time) {
        if self.off || self.empty_at != Time::NEVER {
            return;
        }
        self.idle_up_to(from, dies);
        let begins = from.max(self.at);
        let ends = (from + airtime).max(self.at);
        self.take(power * (ends - begins).as_secs(), dies);
        self.at = ends;
        self.loads[load].sends_until = ends;
    }

    /// Takes what the time since the last frame costs.
    fn idle_up_to(&mut self, now: Time, dies: Time) {
        if now > self.at {
            let (power, _) = self.draws(now);
            self.take(power * (now - self.at).as_secs(), dies);
            self.at = now;
        }
    }

    fn take(&mut self, energy: f64, dies: Time) {
        self.left -= energy;
        if self.left <= 0.0 {
            self.left = 0.0;
            self.empty_at = self.empty_at.min(dies);
        }
    }
}
