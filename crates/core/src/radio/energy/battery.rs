//! Battery of a node: energy drawn by its radios, and the instant of depletion.
//!
//! The radios report their own transmissions and the signals of others when these begin. With continuous accounting the
//! battery is drained up to any instant, and the instant of depletion is known as long as nothing new begins. With
//! accounting at the first bit (behavior of `wireless-phy.cc` and `energy-model.cc` of ns-2.35) energy is taken when a
//! frame begins: for the part of the frame that comes after all earlier frames of the same radio, and for the idle time
//! of all radios since then.

use super::intervals::Intervals;
use super::{Accounting, Config};
use crate::unit::{Span, Time};

/// A radio that draws energy from a battery.
#[derive(Clone, Debug)]
struct Load {
    powers: Config,
    off: bool,
    /// End of the radio's last transmission. With accounting at the first bit: end at the farthest receiver.
    sends_until: Time,
    signals: Intervals,
    /// With accounting at the first bit: end of the time already charged, which is the end of all frames so far.
    paid_until: Time,
}

impl Load {
    /// Power drawn at an instant \[W\], and the end of the time for which that holds.
    fn draws(&self, at: Time) -> (f64, Time) {
        if self.off {
            return (self.powers.sleep.0, Time::NEVER);
        }
        let (senses, until) = self.signals.look(at);
        match () {
            () if at < self.sends_until => (self.powers.transmit.0, self.sends_until),
            () if senses => (self.powers.receive.0, until),
            () => (self.powers.idle.0, until),
        }
    }
}

/// Battery of a node.
#[derive(Clone, Debug)]
pub struct Battery {
    capacity: f64,
    /// Energy left \[J\].
    left: f64,
    /// With continuous accounting: instant at which `left` is exact.
    at: Time,
    loads: Vec<Load>,
    accounting: Accounting,
    /// Instant of depletion, known or predicted.
    empty_at: Time,
}

impl Battery {
    /// A full battery for these radios; `None` if the first radio has no battery.
    pub fn new<'a>(radios: impl Iterator<Item = &'a Config>) -> Option<Battery> {
        let load = |powers: &Config| Load {
            powers: powers.clone(),
            off: false,
            sends_until: Time::ZERO,
            signals: Intervals::default(),
            paid_until: Time::ZERO,
        };
        let loads: Vec<Load> = radios.map(load).collect();
        let first = &loads.first()?.powers;
        let capacity = first.battery?.0;
        let accounting = first.accounting;
        let mut battery =
            Battery { capacity, left: capacity, at: Time::ZERO, loads, accounting, empty_at: Time::NEVER };
        battery.foresee();
        Some(battery)
    }

    /// Energy at the start \[J\].
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Instant of depletion, as predicted from the present state.
    pub fn deadline(&self) -> Time {
        self.empty_at
    }

    /// Returns true if the battery is empty.
    pub fn is_empty(&self, now: Time) -> bool {
        self.empty_at <= now
    }

    /// Energy left at an instant not before the last reported event \[J\]. With accounting at the first bit: energy
    /// after the last frame that was charged.
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

    /// A radio begins to transmit; the frame reaches the farthest receiver after `delay`.
    pub fn on_transmit(&mut self, load: usize, now: Time, airtime: Span, delay: Span) {
        match self.accounting {
            Accounting::Continuous => {
                self.drain_until(now);
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

    /// A radio senses a signal that begins at `from`.
    pub fn on_signal(&mut self, load: usize, now: Time, from: Time, airtime: Span) {
        match self.accounting {
            Accounting::Continuous => {
                self.drain_until(now);
                self.loads[load].signals.add(from, from + airtime);
                self.foresee();
            }
            Accounting::FirstBit => {
                let power = self.loads[load].powers.receive.0;
                self.charge(load, power, now, from, airtime);
            }
        }
    }

    /// A radio is switched off, or on again.
    pub fn switch(&mut self, load: usize, now: Time, off: bool) {
        if self.is_empty(now) {
            return;
        }
        match self.accounting {
            Accounting::Continuous => self.drain_until(now),
            Accounting::FirstBit => self.idle(load, now, now),
        }
        let load = &mut self.loads[load];
        load.off = off;
        load.sends_until = load.sends_until.min(now);
        self.foresee();
    }

    // ---- continuous accounting ----

    /// Total power drawn at an instant \[W\], and the end of the time for which that holds.
    fn draws(&self, at: Time) -> (f64, Time) {
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

    fn drain_until(&mut self, now: Time) {
        let mut state = (self.left, self.at);
        self.drain(&mut state, now);
        (self.left, self.at) = state;
        for load in &mut self.loads {
            load.signals.at(now);
        }
    }

    /// Predicts the instant of depletion.
    fn foresee(&mut self) {
        if self.accounting == Accounting::FirstBit || self.is_empty(self.at) {
            return;
        }
        let (mut left, mut at) = (self.left, self.at);
        self.empty_at = loop {
            let (power, until) = self.draws(at);
            let lasts = left / power * 1e9;
            // Rounded up: the battery is empty after the nanosecond in which its energy runs out.
            let ends = if lasts < 1e18 { at + Span(libm::ceil(lasts.max(0.0)) as u64) } else { Time::NEVER };
            if ends <= until {
                break ends;
            }
            left -= power * (until - at).as_secs();
            at = until;
        };
    }

    // ---- accounting at the first bit ----

    /// Takes the energy of a frame that begins at `from`, and of the time before it at all radios.
    fn charge(&mut self, load: usize, power: f64, now: Time, from: Time, airtime: Span) {
        if self.loads[load].off || self.empty_at != Time::NEVER {
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

    /// Takes the energy of the time since the last frame of a radio.
    fn idle(&mut self, load: usize, until: Time, now: Time) {
        let Load { powers, off, paid_until, .. } = &mut self.loads[load];
        if until > *paid_until {
            let power = if *off { powers.sleep.0 } else { powers.idle.0 };
            let energy = power * (until - *paid_until).as_secs();
            *paid_until = until;
            self.take(energy, now);
        }
    }

    fn take(&mut self, energy: f64, now: Time) {
        self.left -= energy;
        if self.left <= 0.0 {
            self.left = 0.0;
            // A frame on the air is sent to its end.
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
    fn each_radio_is_charged_for_its_own_frames_at_the_first_bit() {
        let mut b = battery(100.0, 1.0, 2);
        b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
        // Two radios idle for a second, and 2 J for the frame.
        assert!((b.left(ms(1000)) - 96.0).abs() < 1e-9, "{b:?}");
        b.on_signal(1, ms(1500), ms(1500), Span::secs(1));
        // The second radio idles for half a second, then pays for the whole signal: 1.5 J.
        assert!((b.left(ms(1500)) - 94.0).abs() < 1e-9, "{b:?}");
        b.on_signal(1, ms(2000), ms(2000), Span::secs(1));
        // A signal that overlaps an earlier one: half a second is charged.
        assert!((b.left(ms(2000)) - 93.25).abs() < 1e-9, "{b:?}");
        (0..2).for_each(|load| b.switch(load, ms(4000), true));
        // Idle since 2 s and since 3 s.
        assert!((b.left(ms(4000)) - 90.25).abs() < 1e-9, "{b:?}");
    }

    #[test]
    fn frame_on_the_air_is_finished_when_the_battery_empties() {
        for load in [0, 1] {
            let mut b = battery(3.0, 0.0, 2);
            b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
            b.on_signal(load, ms(1500), ms(1500), Span::secs(2));
            assert_eq!((b.left(ms(1500)), b.deadline()), (0.0, ms(2000) + Span(10)), "radio {load}");
        }
        // A node that does not transmit is off at once.
        let mut b = battery(3.0, 0.0, 1);
        b.on_transmit(0, ms(1000), Span::secs(1), Span(10));
        b.on_signal(0, ms(2500), ms(2500), Span::secs(2));
        assert_eq!(b.deadline(), ms(2500));
    }
}
