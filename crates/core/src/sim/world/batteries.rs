//! The batteries of the nodes: frames cost energy, and a node whose battery is empty is switched off for good, as by a
//! command.

use crate::packet::{NodeId, RadioId};
use crate::radio::Channel;
use crate::radio::energy::battery::Battery;
use crate::record::totals::BatteryTotals;
use crate::run::{RadioSetup, Setup};
use crate::sim::network::ports::Ports;
use crate::unit::{Span, Time};
use crate::wlan::{Frame, FrameKind};

/// The batteries of all nodes.
#[derive(Clone, Debug)]
pub struct Batteries {
    /// The battery of each node; `None`: unlimited energy.
    of: Vec<Option<Battery>>,
    /// The index of each radio among the radios that share its battery.
    loads: Vec<usize>,
    /// Instant at which the battery of each node was found empty; NEVER before that.
    empty: Vec<Time>,
    /// The first instant at which a battery will be empty, and its node.
    first: (Time, NodeId),
    /// Instants at which each node last sent a packet, and last received one addressed to it.
    last: Vec<(Time, Time)>,
}

impl Batteries {
    /// Creates the batteries; `None` if no node has one.
    pub fn new(setup: &Setup) -> Option<Box<Batteries>> {
        let radios = &setup.interfaces.radios;
        let powers = |n: NodeId| {
            let own = radios.iter().filter(move |r| r.node == n);
            own.map(|r| &setup.interfaces.profiles[r.profile as usize].radio.energy)
        };
        let has_battery = |r: &RadioSetup| setup.interfaces.profiles[r.profile as usize].radio.energy.battery;
        if radios.iter().all(|r| has_battery(r).is_none()) {
            return None;
        }
        let nodes = 0..setup.positions.len() as u32;
        let mut seen = vec![0; setup.positions.len()];
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

    /// Instant at which the next battery is empty, if no further frame begins.
    pub fn deadline(&self) -> Time {
        self.first.0
    }

    fn look_for_first(&mut self) {
        let dying = self.of.iter().zip(&self.empty).zip(0..).filter(|((_, empty), _)| **empty == Time::NEVER);
        let at = dying.filter_map(|((battery, _), n)| Some((battery.as_ref()?.deadline(), NodeId(n))));
        self.first = at.min().unwrap_or((Time::NEVER, NodeId(0)));
    }

    /// Changes a battery, and updates the instant at which the first battery will be empty.
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

    /// Node of the next battery that is empty by now; the battery is empty for good.
    pub fn next_empty(&mut self, now: Time) -> Option<NodeId> {
        let (at, n) = self.first;
        if at > now {
            return None;
        }
        self.empty[n.index()] = now;
        self.look_for_first();
        Some(n)
    }

    /// Energy left in the batteries of all nodes.
    pub fn totals(&self, now: Time) -> Vec<BatteryTotals> {
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

    /// Returns true if the battery of a node was found empty.
    pub fn is_empty(&self, n: NodeId) -> bool {
        self.empty.get(n.index()).is_some_and(|&at| at != Time::NEVER)
    }

    /// Charges a frame to its sender and to the receivers in range.
    pub fn on_transmit(&mut self, r: RadioId, at: Time, frame: &Frame, ports: &Ports, channel: &Channel) {
        let mut last = Span::ZERO;
        for (receiver, delay) in channel.in_range(r) {
            last = last.max(delay);
            let load = self.loads[receiver.index()];
            // Receivers that are off count, too: one that is switched on during a signal senses the rest of it.
            self.change(ports.node(receiver), |b| b.on_signal(load, at, at + delay, frame.airtime));
        }
        // A sender whose battery this frame empties is switched off when the frame has reached the last receiver.
        let (n, load) = (ports.node(r), self.loads[r.index()]);
        self.change(n, |b| b.on_transmit(load, at, frame.airtime, last));
        if frame.kind == FrameKind::Data {
            self.last[n.index()].0 = at;
        }
    }

    /// A frame was decoded by its intended receiver, which belongs to this node.
    pub fn on_read(&mut self, n: NodeId, frame: &Frame, at: Time) {
        if frame.kind == FrameKind::Data {
            self.last[n.index()].1 = at;
        }
    }

    /// A radio of a node is switched off, or on again.
    pub fn switch(&mut self, n: NodeId, r: RadioId, now: Time, off: bool) {
        let load = self.loads[r.index()];
        self.change(n, |b| b.switch(load, now, off));
    }
}
