//! Commands: what is done to a run while it goes on. The events of a scenario are commands at their times; whoever
//! drives a run from outside gives others when it stands still. Both do the same at the same instant.
//!
//! A command at an instant comes after everything else that is due then; at 0 s it comes before anything happens.

use super::Sim;
use super::flows::Ends;
use super::slots::{Clock, Slot};
use crate::mobility::MobileNodes;
use crate::packet::NodeId;
use crate::record::Recorder;
use crate::run::{Change, Command, End};
use crate::unit::Time;
use crate::wire;

/// Reason why a run stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It is over.
    End(End),
    /// The instant has come that was waited for.
    Reached,
}

/// The events of a run, and up to where it is to go.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// In the order of their times; those at the same time as they are listed.
    events: Vec<(Time, Command)>,
    next: usize,
    /// The next instant at which a batch or the run ends.
    boundary: Time,
    /// The instant at which the run stands still.
    horizon: Time,
    /// Since when nothing could happen but by a command, while the run stands still for one.
    idle_since: Option<Time>,
    /// A command comes at the horizon.
    awaits_command: bool,
    /// Reason why the run is over.
    end: Option<End>,
}

impl Schedule {
    pub(super) fn new(events: &[(Time, Command)], boundary: Time) -> Schedule {
        let mut events = events.to_vec();
        events.sort_by_key(|e| e.0);
        Schedule { events, next: 0, boundary, horizon: Time::NEVER, idle_since: None, awaits_command: false, end: None }
    }

    /// The next command that is due by now.
    fn due(&mut self, now: Time) -> Option<Command> {
        let (_, command) = self.events.get(self.next).filter(|e| e.0 <= now)?;
        self.next += 1;
        Some(*command)
    }

    fn deadline(&self) -> Time {
        let event = self.events.get(self.next).map_or(Time::NEVER, |e| e.0);
        self.boundary.min(event).min(self.horizon)
    }

    /// Tells if further commands are known to come.
    pub(super) fn expects_commands(&self) -> bool {
        self.next < self.events.len() || self.awaits_command
    }
}

impl Sim {
    /// Lets a number of slots come due, or fewer if the run ends or reaches the instant `at` before; all that is due at
    /// that instant has then happened.
    pub fn advance_until(&mut self, at: Time, slots: u64) -> Option<Halt> {
        if let Some(end) = self.schedule.end {
            return Some(Halt::End(end));
        }
        if at <= self.now {
            return Some(Halt::Reached);
        }
        if let Some(since) = self.schedule.idle_since.take() {
            // No command has come, so that it ends as a run that nobody drives.
            self.now = since;
            self.finish(End::Idle);
            return Some(Halt::End(End::Idle));
        }
        self.schedule.horizon = at;
        self.go_on(slots)
    }

    /// Lets a number of slots come due, or fewer up to where the run stands still. The loop of a run is here, and only here:
    /// so all that it calls can be a part of it.
    #[inline(never)]
    fn go_on(&mut self, slots: u64) -> Option<Halt> {
        self.arm_stop();
        for _ in 0..slots {
            match self.step() {
                None => {}
                Some(Halt::Reached) => {
                    self.watch.note_packets(&mut self.pool);
                    return Some(Halt::Reached);
                }
                Some(Halt::End(end)) => {
                    self.finish(end);
                    return Some(Halt::End(end));
                }
            }
        }
        self.watch.note_packets(&mut self.pool);
        None
    }

    /// Goes on up to an instant, or to the end.
    pub fn until(&mut self, at: Time) -> Halt {
        loop {
            if let Some(halt) = self.advance_until(at, 1 << 20) {
                return halt;
            }
        }
    }

    /// Ends a run where it stands.
    pub fn cancel(&mut self) -> End {
        self.catch_up();
        if self.schedule.end.is_none() {
            self.finish(End::Cancelled);
        }
        self.schedule.end.unwrap_or(End::Cancelled)
    }

    /// Measurements of the run so far, as if it ended here.
    pub fn so_far(&self) -> Recorder {
        let mut copy = self.clone();
        copy.catch_up();
        let totals = copy.totals();
        copy.watch.recorder.finish(totals);
        copy.book_open_waits();
        copy.watch.recorder
    }

    /// Nothing can happen any more but by a command. Where the run is to stand still, one may come then: until it does, the
    /// clocks stand.
    #[cold]
    pub(super) fn on_idle(&mut self, since: Time) -> Halt {
        let Schedule { horizon, boundary, .. } = self.schedule;
        if horizon >= boundary {
            self.now = since;
            return Halt::End(End::Idle);
        }
        self.schedule.idle_since = Some(since);
        (self.now, self.schedule.horizon) = (horizon, Time::NEVER);
        Halt::Reached
    }

    /// Lets the clocks do what they would have done while the run stood still with nothing else to happen.
    fn catch_up(&mut self) {
        let Some(since) = self.schedule.idle_since.take() else { return };
        self.schedule.horizon = std::mem::replace(&mut self.now, since);
        self.schedule.awaits_command = true;
        // The end of the run does not come before that instant.
        self.go_on(u64::MAX);
        self.schedule.awaits_command = false;
    }

    /// Reason why the run is over, if it is.
    pub fn end(&self) -> Option<End> {
        self.schedule.end
    }

    pub(super) fn note_end(&mut self, end: End) {
        self.schedule.end = Some(end);
    }

    /// The events of the beginning come before anything happens.
    pub(super) fn begin_events(&mut self) {
        self.apply_due();
        self.arm_stop();
    }

    /// An instant at which a batch or the run ends, a command is due, or the run is to stand still.
    pub(super) fn on_stop(&mut self) -> Option<Halt> {
        if self.now >= self.schedule.boundary {
            let (end, next) = self.watch.recorder.on_time(self.now);
            self.schedule.boundary = next;
            self.close_batches();
            if let Some(end) = end {
                return Some(Halt::End(end));
            }
        }
        self.world.on_deadline(self.now, &mut self.watch);
        self.apply_due();
        let reached = self.now >= self.schedule.horizon;
        if reached {
            self.schedule.horizon = Time::NEVER;
        }
        self.arm_stop();
        reached.then_some(Halt::Reached)
    }

    fn apply_due(&mut self) {
        while let Some(command) = self.schedule.due(self.now) {
            self.apply(&command);
        }
    }

    /// A function of its own, as what it asks is nothing for the loop of a run.
    #[inline(never)]
    fn arm_stop(&mut self) {
        self.timers.set(Slot::Clock(Clock::Stop), self.schedule.deadline().min(self.world.deadline()));
    }

    /// Carries out a command now. A command that changes nothing is allowed.
    pub fn apply(&mut self, command: &Command) {
        self.catch_up();
        match *command {
            Command::NodeDown(n) => self.switch_off(n),
            Command::NodeUp(n) => self.switch_on(n),
            Command::RadioDown(r) => self.switch_radio(r, true),
            Command::RadioUp(r) => self.switch_radio(r, false),
            Command::FlowBegin(f) => self.begin_flow(f.index()),
            Command::FlowEnd(f) => self.end_flow(f.index()),
            Command::NodePut(n, place) => self.direct(n, |mobile_nodes, now| mobile_nodes.put(n, place, now)),
            Command::NodeSend(n, to, speed) => self.direct(n, |mobile_nodes, now| mobile_nodes.send(n, to, speed, now)),
            Command::Set(change) => self.change(change),
        }
    }

    /// From now on nodes may move.
    pub(super) fn begin_motion(&mut self) {
        if let Some(radios) = self.world.begin_motion() {
            self.air.channel.begin_moving(radios);
            self.net.ports.begin_moving(radios);
            // Before each frame its audience has to be worked out.
            self.air.watch(false);
        }
    }

    /// A node is put at a place, or sent to one.
    fn direct(&mut self, n: NodeId, command: impl FnOnce(&mut MobileNodes, Time)) {
        self.begin_motion();
        if let Some(mobile_nodes) = &mut self.world.mobile_nodes {
            command(mobile_nodes, self.now);
        }
        self.world.note_movements(self.now, Some(n), &mut self.watch);
    }

    fn begin_flow(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        let sends = flow.transfer.began != Time::NEVER && (!flow.app.is_over() || flow.written().is_none());
        if !sends && !flow.app.is_on() {
            flow.transfer.rest();
            flow.app.begin(self.now);
            self.timers.set(Slot::App(f), flow.app.deadline());
        }
    }

    fn end_flow(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        let out = flow.app.end();
        self.timers.set(Slot::App(f), flow.app.deadline());
        self.carry_application(f, out);
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Interval(f, interval) => {
                let app = &mut self.flows.list[f.index()].app;
                app.set_interval(interval, self.now);
                self.timers.set(Slot::App(f.index()), app.deadline());
            }
            Change::Window(f, segments) => {
                let flow = &mut self.flows.list[f.index()];
                if let Ends::Tcp(ends) = &mut flow.ends {
                    ends.0.set_window(segments);
                    ends.1.set_window(segments);
                }
            }
            Change::MaxCwnd(f, segments) => {
                if let Ends::Tcp(ends) = &mut self.flows.list[f.index()].ends {
                    ends.0.set_max_cwnd(segments, self.now);
                }
            }
            Change::LinkRate(link, back, rate) => {
                if let Some((link, _)) = self.net.wires.direction_mut(link, back) {
                    link.set(wire::Config { rate, ..link.config() });
                }
            }
            Change::LinkDelay(link, back, delay) => {
                if let Some((link, _)) = self.net.wires.direction_mut(link, back) {
                    link.set(wire::Config { delay, ..link.config() });
                }
            }
            Change::LinkErrorRate(link, back, rate) => {
                if let Some((_, error)) = self.net.wires.direction_mut(link, back) {
                    error.set_rate(rate);
                }
            }
            Change::ReceiverErrorRate(rate) => {
                if let Some(receivers) = &mut self.air.receivers {
                    receivers.set_rate(rate);
                }
            }
        }
    }
}
