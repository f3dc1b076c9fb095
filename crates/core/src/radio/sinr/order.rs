//! Signals that arrive in another order than that in which their senders were processed.
//!
//! Frames begin at their senders one after the other, also those that begin in one instant, and a signal may reach a
//! receiver before one that was processed earlier. What the receiver does must not depend on that: it is then decided
//! anew, signal by signal in the order of arrival. Of signals that arrive in the same nanosecond the stronger is first,
//! and of equal ones the longer.

use super::reaction::{Arrival, Locked, Reaction};
use super::signals::Signal;
use super::{Air, Coding, Config};
use crate::radio::causes::{Aims, Clash};
use crate::radio::receiver::{Lock, Receiver};
use crate::unit::Time;

/// State of a receiver between two arrivals.
#[derive(Clone, Copy)]
struct State {
    /// Index of the signal on which the receiver is locked.
    locked: Option<usize>,
    /// Sender and end of the signal on which it has given up.
    gave_up: Option<(u32, Time)>,
}

impl Air {
    /// Returns true if the last signal, which arrives at `from`, precedes one that was processed earlier, at a receiver
    /// that may still lock on any of them.
    #[cold]
    pub(super) fn precedes(&self, from: Time, lock: Lock) -> bool {
        let (_, processed) = self.signals.list.split_last().expect("a signal was added");
        matches!(lock, Lock::Free | Lock::Energy | Lock::Clean) && processed.iter().any(|s| s.from >= from)
    }

    /// Determines the state of the receiver again, from the arrival of the last signal on. Returns true if the
    /// medium turns busy.
    #[cold]
    pub(super) fn settle(
        &mut self,
        r: &mut Receiver,
        radio: u32,
        from: Time,
        (cfg, noise, codings): (&Config, f64, &[Coding]),
        (later, aims): (&mut Vec<usize>, &mut Aims<'_>),
    ) -> bool {
        let list = &self.signals.list;
        let newest = list[list.len() - 1];
        later.clear();
        later.extend((0..list.len()).filter(|&i| list[i].from >= from));
        later.sort_unstable_by(|&a, &b| list[a].arrival(&list[b]));
        let place = |sender: u32, begins: Time| {
            let is_there = |s: &Signal| s.sender == sender && s.from == begins && begins < from;
            list.iter().position(is_there)
        };
        let was_clean = r.lock == Lock::Clean;
        let now_locked = was_clean.then(|| list.iter().position(|s| s.sender == r.sender && s.from == self.begins));
        let now_locked = now_locked.flatten();
        // Before the arrival: locked, waiting for the end of energy, or free.
        let over = self.before.and_then(|(sender, begins)| place(sender, begins));
        let locked = if was_clean { place(r.sender, self.begins).or(over) } else { None };
        let waits = r.lock == Lock::Energy && r.from < from;
        let mut state = State { locked, gave_up: waits.then_some((r.sender, r.until)) };
        let mut turns = false;
        for (i, &at) in later.iter().enumerate() {
            let present = |s: &&Signal| s.until > list[at].from;
            let before = list.iter().filter(|s| s.from < from).chain(later[..i].iter().map(|&j| &list[j]));
            let others = before.filter(present).fold(0.0, |sum, s| sum + s.power);
            let older = self.signals.begun_by(list[at].from, cfg.detection_time);
            let after = state.after(list, at, (others, older), (cfg, noise, codings));
            turns |= at == list.len() - 1 && after.locked == Some(at);
            state = after;
        }
        if let Some(locked) = state.locked {
            if now_locked == Some(locked) {
                // Only interference is added.
                r.counters.collisions += 1;
                if aims.is_for(r.sender, radio) && newest.power > self.worst {
                    self.worst = newest.power;
                    aims.meet(r.sender, newest.sender, radio, Clash::Disturbs);
                }
                if aims.is_for(newest.sender, radio) {
                    aims.meet(newest.sender, r.sender, radio, Clash::Captures);
                }
                return turns;
            }
            let Signal { sender, mode, from: begins, until, power, .. } = list[locked];
            r.counters.captures += u64::from(was_clean);
            if was_clean && aims.is_for(r.sender, radio) {
                aims.meet(r.sender, sender, radio, Clash::Captures);
            }
            let is_back = begins < from;
            self.before = over.filter(|_| !is_back).map(|i| (list[i].sender, list[i].from));
            self.lock(begins, power, mode, &codings[usize::from(mode)]);
            self.signals.lock_on(locked);
            // A frame is lost from which another one had taken the receiver over.
            let lock = if is_back { Lock::Collided } else { Lock::Clean };
            (r.lock, r.from, r.until, r.sender, r.visited) = (lock, begins, until, sender, true);
            let others = self.signals.list.iter().filter(|s| s.sender != sender && s.until > from);
            if aims.is_for(sender, radio)
                && let Some(other) = others.max_by(|a, b| a.power.total_cmp(&b.power))
            {
                self.worst = other.power;
                aims.meet(sender, other.sender, radio, Clash::Disturbs);
            }
            return true;
        }
        let other = later.iter().map(|&i| list[i].sender).find(|&sender| sender != newest.sender);
        if let Some(other) = other {
            for (lost, other) in [(other, newest.sender), (newest.sender, other)] {
                if aims.is_for(lost, radio) {
                    aims.meet(lost, other, radio, Clash::Destroys);
                }
            }
        }
        r.counters.collisions += u64::from(was_clean);
        // The station knows the signal that was detected before this one came.
        let gave_up = state.gave_up.or(was_clean.then_some((r.sender, r.until)));
        self.wait(r, from, later, gave_up, cfg) || turns
    }

    /// The receiver is not locked: it waits for the end of the signal on which it has given up, and of energy. Returns
    /// true if the medium turns busy.
    fn wait(
        &mut self,
        r: &mut Receiver,
        from: Time,
        later: &[usize],
        gave_up: Option<(u32, Time)>,
        cfg: &Config,
    ) -> bool {
        let was_busy = r.lock != Lock::Free;
        let list = &self.signals.list;
        let last = later.iter().map(|&i| list[i].from).max().unwrap_or(from);
        let after = gave_up.map_or(last, |(_, until)| until);
        let loud = self.signals.loud_until(last, after, cfg.energy_detection.0);
        let Some((sender, until)) = loud.map(|l| (l.sender, l.until)).or(gave_up) else { return false };
        (r.lock, r.until, r.sender, r.visited) = (Lock::Energy, until, sender, true);
        if !was_busy || from < r.from {
            r.from = from;
        }
        !was_busy
    }
}

impl Signal {
    /// Order of arrival.
    fn arrival(&self, other: &Signal) -> std::cmp::Ordering {
        let longer = || other.until.cmp(&self.until).then(self.sender.cmp(&other.sender));
        self.from.cmp(&other.from).then_with(|| other.power.total_cmp(&self.power)).then_with(longer)
    }
}

impl State {
    /// State after the arrival of a signal. `others` and `older` are the power of all other signals, and of those that
    /// began longer ago than the detection of a preamble takes.
    fn after(
        self,
        list: &[Signal],
        arrives: usize,
        (others, older): (f64, f64),
        (cfg, noise, codings): (&Config, f64, &[Coding]),
    ) -> State {
        let s = &list[arrives];
        let noticed = s.power >= cfg.preamble_detection.0 * (noise + older);
        let locked = self.locked.map(|i| &list[i]);
        let on = locked.map(|l| Locked {
            begins: l.from,
            data_from: l.from + codings[usize::from(l.mode)].plcp,
            power: l.power,
            is_clean: true,
        });
        let arrival = Arrival { from: s.from, power: s.power, others, is_heard: true };
        match (Reaction::of(cfg, noise, &arrival, on), locked) {
            (Reaction::Locks, _) => State { locked: Some(arrives), gave_up: None },
            (Reaction::GivesUp, Some(l)) => {
                State { locked: None, gave_up: Some((l.sender, l.until)) }.give_up(noticed, s)
            }
            (_, Some(_)) => self,
            (_, None) => self.give_up(noticed, s),
        }
    }

    /// State after a signal that is lost to the signals that began with it.
    fn give_up(self, noticed: bool, s: &Signal) -> State {
        let longer = noticed && self.gave_up.is_none_or(|(_, until)| s.until > until);
        if longer { State { gave_up: Some((s.sender, s.until)), ..self } } else { self }
    }
}
