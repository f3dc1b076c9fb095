//! The battery of a node: what its radios take from it, and when it is empty.
//!
//! Own frames and the signals of others are told when they begin. With continuous accounting the battery is drained
//! up to any instant, and the instant at which it will be empty is known if nothing new comes. With accounting at the
//! first bit (behaviour of `wireless-phy.cc` and `energy-model.cc` of ns-2.35) energy is taken when a frame begins: for
//! the part of it that comes after all frames before of the same radio, and for the idle time since these, of all radios.

use super::energy::{Accounting, Config};
use super::intervals::Intervals;
use crate::unit::{Span, Time};

/// A radio that takes energy from a battery.
#[derive(Clone, Debug)]
struct Load {
    powers: Config,
    /// The end of its last own frame. With accounting at the first bit: when the last listener has heard it.
    sends_until: Time,
    signals: Intervals,
    /// With accounting at the first bit: up to when its energy was taken, the end of all its frames so far.
    paid_until: Time,
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
    /// With continuous accounting: up to when that is true.
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
        let load = |powers: &Config| Load {
            powers: powers.clone(),
            sends_until: Time::ZERO,
            signals: Intervals::default(),
            paid_until: Time::ZERO,
        };
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
                let sends = &mut self.loads[load];
                sends.sends_until = now + airtime + delay;
                let power = sends.powers.transmit.0;
                self.charge(load, power, now, now, airtime);
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
                self.charge(load, power, now, from, airtime);
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
            Accounting::FirstBit => (0..self.loads.len()).for_each(|load| self.idle(load, now, now)),
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

    /// Takes what a frame costs from `from` on, and what the time before it has cost at all radios.
    fn charge(&mut self, load: usize, power: f64, now: Time, from: Time, airtime: Span) {
        if self.off || self.empty_at != Time::NEVER {
            return;
        }
        for each in 0..self.loads.len() {
            self.idle(each, if each == load { from } else { now }, now);
        }
        let paid_until = &mut self.loads[load].paid_until;
        let begins = from.max(*paid_until);
        let ends = (from + airtime).max(*paid_until);
        *paid_until = ends;
        self.take(power * (ends - begins).as_secs(), now);
    }

    /// Takes what the time since the last frame of a radio costs.
    fn idle(&mut self, load: usize, until: Time, now: Time) {
        let Load { powers, paid_until, .. } = &mut self.loads[load];
        if until > *paid_until {
            let power = if self.off { powers.sleep.0 } else { powers.idle.0 };
            let energy = power * (until - *paid_until).as_secs();
            *paid_until = until;
            self.take(energy, now);
        }
    }

    fn take(&mut self, energy: f64, now: Time) {
        self.left -= energy;
        if self.left <= 0.0 {
            self.left = 0.0;
            // What is on the air goes out whole.
            let sends_until = self.loads.iter().map(|l| l.sends_until).max();
            self.empty_at = self.empty_at.min(now.max(sends_until.unwrap_or(now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Joules, Watts};

    fn battery(joules: f64, idle: f64, radios: usize) -> Battery {
        let cfg = Config {
            transmit: Watts(2.0),
            receive: Watts(1.5),
            idle: Watts(idle),
            battery: Some(Joules(joules)),
            accounting: Accounting::FirstBit,
            ..Config::default()
        };
        Battery::new(std::iter::repeat_n(&cfg, radios)).expect("a battery")
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn every_radio_pays_for_its_own_frames_at_the_first_bit() {
        let mut b = battery(100.0, 1.0, 2);
        b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
        // Two radios idle for a second, 2 J for the frame.
        assert!((b.left(ms(1000)) - 96.0).abs() < 1e-9, "{b:?}");
        b.on_signal(1, ms(1500), ms(1500), Span::secs(1));
        // The other one idles for half a second, and pays for all of the signal: 1.5 J.
        assert!((b.left(ms(1500)) - 94.0).abs() < 1e-9, "{b:?}");
        b.on_signal(1, ms(2000), ms(2000), Span::secs(1));
        // A signal that comes while another is there: half a second of it.
        assert!((b.left(ms(2000)) - 93.25).abs() < 1e-9, "{b:?}");
        b.switch(ms(4000), true);
        // Idle from 2 s and from 3 s on.
        assert!((b.left(ms(4000)) - 90.25).abs() < 1e-9, "{b:?}");
    }

    #[test]
    fn a_frame_goes_out_whole_whatever_exhausts_the_battery() {
        for load in [0, 1] {
            let mut b = battery(3.0, 0.0, 2);
            b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
            b.on_signal(load, ms(1500), ms(1500), Span::secs(2));
            assert_eq!((b.left(ms(1500)), b.deadline()), (0.0, ms(2000) + Span(10)), "radio {load}");
        }
        // Who does not send is off at once.
        let mut b = battery(3.0, 0.0, 1);
        b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
        b.on_signal(0, ms(2500), ms(2500), Span::secs(2));
        assert_eq!(b.deadline(), ms(2500));
    }
}
