//! The border of radios and batteries: frames cost energy, and a node whose battery is empty is switched off for good, as
//! by a command.

use super::Sim;
use super::slots::{Clock, Slot};
use crate::packet::{NodeId, RadioId};
use crate::radio::battery::Battery;
use crate::record::note::Note;
use crate::record::totals::BatteryTotals;
use crate::run::{RadioSetup, Setup};
use crate::unit::{Span, Time};
use crate::wlan::{Frame, FrameKind};

/// The batteries of all nodes.
#[derive(Clone, Debug)]
pub(super) struct Batteries {
    /// The battery of each node; `None`: its energy does not end.
    of: Vec<Option<Battery>>,
    /// The number of each radio among those of its battery.
    loads: Vec<usize>,
    /// When a battery was found empty.
    empty: Vec<Time>,
    /// The first instant at which a battery will be empty, and its node.
    first: (Time, NodeId),
    /// When each node last sent a packet, and last received one that was for it.
    last: Vec<(Time, Time)>,
}

impl Batteries {
    /// `None` if no node has one.
    pub(super) fn new(setup: &Setup) -> Option<Box<Batteries>> {
        let radios = &setup.interfaces.radios;
        let powers = |n: NodeId| {
            let own = radios.iter().filter(move |r| r.node == n);
            own.map(|r| &setup.interfaces.profiles[r.profile as usize].radio.energy)
        };
        let has_battery = |r: &RadioSetup| setup.interfaces.profiles[r.profile as usize].radio.energy.battery;
        if radios.iter().all(|r| has_battery(r).is_none()) {
            return None;
        }
        let nodes = 0..setup.places.len() as u32;
        let mut seen = vec![0; setup.places.len()];
        let load = |r: &RadioSetup| {
            let load = &mut seen[r.node.index()];
            *load += 1;
            *load - 1
        };
        let mut batteries = Batteries {
            of: nodes.clone().map(|n| Battery::new(powers(NodeId(n)))).collect(),
            loads: radios.iter().map(load).collect(),
            empty: vec![Time::NEVER; nodes.len()],
            first: (Time::NEVER, NodeId(0)),
            last: vec![(Time::NEVER, Time::NEVER); nodes.len()],
        };
        batteries.look_for_first();
        Some(Box::new(batteries))
    }

    /// When the next battery is empty, if nothing new comes.
    pub(super) fn deadline(&self) -> Time {
        self.first.0
    }

    fn look_for_first(&mut self) {
        let dying = self.of.iter().zip(&self.empty).zip(0..).filter(|((_, empty), _)| **empty == Time::NEVER);
        let at = dying.filter_map(|((battery, _), n)| Some((battery.as_ref()?.deadline(), NodeId(n))));
        self.first = at.min().unwrap_or((Time::NEVER, NodeId(0)));
    }

    /// Changes a battery, and keeps track of when it will be empty.
    fn change(&mut self, n: NodeId, change: impl FnOnce(&mut Battery)) {
        let Some(battery) = &mut self.of[n.index()] else { return };
        if self.empty[n.index()] != Time::NEVER {
            return;
        }
        change(battery);
        let at = battery.deadline();
        if at < self.first.0 {
            self.first = (at, n);
        } else if self.first.1 == n && at > self.first.0 {
            self.look_for_first();
        }
    }

    /// The next battery that is empty by now; it stays so.
    fn next_empty(&mut self, now: Time) -> Option<NodeId> {
        let (at, n) = self.first;
        if at > now {
            return None;
        }
        self.empty[n.index()] = now;
        self.look_for_first();
        Some(n)
    }

    /// What all nodes have left.
    pub(super) fn totals(&self, now: Time) -> Vec<BatteryTotals> {
        let of = |((battery, &empty_at), &(last_sent, last_received)): ((&Option<Battery>, &Time), &(Time, Time))| {
            let (capacity, left) = match battery {
                Some(b) if empty_at == Time::NEVER => (b.capacity(), b.left(now)),
                Some(b) => (b.capacity(), 0.0),
                None => (f64::INFINITY, f64::INFINITY),
            };
            BatteryTotals { capacity, left, empty_at, last_sent, last_received }
        };
        self.of.iter().zip(&self.empty).zip(&self.last).map(of).collect()
    }
}

impl Sim {
    /// A frame goes on the air, which takes energy from its sender and from all who sense it.
    pub(super) fn drain(&mut self, r: RadioId, at: Time, frame: &Frame) {
        let Sim { batteries: Some(batteries), ports, channel, .. } = self else { return };
        let loads = std::mem::take(&mut batteries.loads);
        let mut last = Span::ZERO;
        for (listener, delay) in channel.audience(r) {
            last = last.max(delay);
            let load = loads[listener.index()];
            // Of those that are off, too: who is switched on in the middle of a signal senses the rest of it.
            batteries.change(ports.node(listener), |b| b.on_signal(load, at, at + delay, frame.airtime));
        }
        // A sender whose battery this frame empties is switched off when the last listener has heard the frame.
        batteries.change(ports.node(r), |b| b.on_transmit(loads[r.index()], at, frame.airtime, last));
        if frame.kind == FrameKind::Data {
            batteries.last[ports.node(r).index()].0 = at;
        }
        batteries.loads = loads;
        self.arm_battery();
    }

    /// A frame was read at the station that it was for.
    pub(super) fn note_received(&mut self, frame: &Frame, at: Time) {
        if let Some(batteries) = &mut self.batteries
            && frame.kind == FrameKind::Data
        {
            batteries.last[self.ports.node(frame.to).index()].1 = at;
        }
    }

    /// A radio is switched off, or on again.
    pub(super) fn switch_battery(&mut self, r: RadioId, off: bool) {
        let now = self.now;
        if let Some(batteries) = &mut self.batteries {
            let load = batteries.loads[r.index()];
            batteries.change(self.ports.node(r), |b| b.switch(load, now, off));
            self.arm_battery();
        }
    }

    /// Whether the battery of a node was found empty.
    pub(super) fn has_run_down(&self, n: NodeId) -> bool {
        let empty = |b: &Batteries| b.empty.get(n.index()).is_some_and(|&at| at != Time::NEVER);
        self.batteries.as_deref().is_some_and(empty)
    }

    fn arm_battery(&mut self) {
        if let Some(batteries) = &self.batteries {
            self.timers.set(Slot::Clock(Clock::Battery), batteries.deadline());
        }
    }

    /// A battery is empty.
    pub(super) fn on_battery(&mut self) {
        while let Some(n) = self.batteries.as_mut().and_then(|b| b.next_empty(self.now)) {
            self.note(self.now, &Note::Battery { node: n, left: 0.0 });
            self.switch_off(n);
            for r in self.ports.of(n) {
                self.book(r, self.now);
                if let Some(air) = &mut self.air {
                    air.on_empty(r);
                }
            }
        }
        self.arm_battery();
    }

    /// Notes what is left in the batteries, for observers that sample it.
    pub(super) fn note_batteries(&mut self) {
        if self.observers.is_none() {
            return;
        }
        let Some(batteries) = &self.batteries else { return };
        for (battery, n) in batteries.totals(self.now).iter().zip(0..) {
            self.note(self.now, &Note::Battery { node: NodeId(n), left: battery.left });
        }
    }
}
