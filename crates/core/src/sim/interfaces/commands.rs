//! Commands, which change a run in progress. Events of a scenario are commands at their times; a driver gives further
//! commands while the run halts. Both have the same effect at the same instant.
//!
//! A command follows all other events at its instant; at 0 s it precedes them.

use crate::mobility::MobileNodes;
use crate::packet::{FlowId, NodeId};
use crate::point_to_point;
use crate::record::Recorder;
use crate::run::{Change, Command, End};
use crate::sim::Sim;
use crate::sim::flows::Ends;
use crate::sim::schedule::{Halt, Schedule};
use crate::sim::timer_numbers::{Clock, Timer};
use crate::tcp::Sender;
use crate::tcp::ack::thinning;
use crate::tcp::cc::controller::Decision;
use crate::unit::Time;

impl Sim {
    /// Advances the run by this number of steps, or fewer if the run ends or reaches the instant `at` before, or if an
    /// external flow has events. Everything due at that instant has then happened.
    pub fn advance_until(&mut self, at: Time, steps: u64) -> Option<Halt> {
        if self.watch.external.is_some() {
            return self.advance_to_events(at, steps);
        }
        self.halt_before(at).or_else(|| {
            self.schedule.horizon = at;
            self.run_steps(steps)
        })
    }

    /// Halt of a run that cannot advance to this instant: it is over, has passed the instant, or is idle.
    pub(in crate::sim) fn halt_before(&mut self, at: Time) -> Option<Halt> {
        if let Some(end) = self.schedule.end {
            return Some(Halt::End(end));
        }
        if at <= self.now {
            return Some(Halt::Reached);
        }
        let since = self.schedule.idle_since?;
        if self.watch.external.is_some() && at < self.schedule.boundary {
            // The driver may send later.
            self.now = at;
            return Some(Halt::Reached);
        }
        // No command has come, so the run ends as without a driver.
        self.schedule.idle_since = None;
        self.now = since;
        self.finish(End::Idle);
        Some(Halt::End(End::Idle))
    }

    /// Main loop: runs this number of steps, or fewer if the run halts before. The only loop over steps, so that
    /// everything it calls can be inlined.
    #[inline(never)]
    pub(in crate::sim) fn run_steps(&mut self, steps: u64) -> Option<Halt> {
        self.arm_stop();
        let mut halt = None;
        let mut left = steps;
        while left > 0 && halt.is_none() {
            left -= 1;
            halt = self.step();
        }
        if let Some(Halt::End(end)) = halt {
            self.finish(end);
        } else {
            self.watch.note_packets(&mut self.pool);
        }
        halt
    }

    /// Runs up to an instant, to events of external flows, or to the end.
    pub fn until(&mut self, at: Time) -> Halt {
        loop {
            if let Some(halt) = self.advance_until(at, 1 << 20) {
                return halt;
            }
        }
    }

    /// Ends the run at the current instant. Events of external flows stay.
    pub fn cancel(&mut self) -> End {
        self.catch_up();
        if self.schedule.end.is_none() {
            self.finish(End::Canceled);
        }
        self.schedule.end.unwrap_or(End::Canceled)
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

    /// Only a command can cause further events. If the run has to halt later, a command may come then; until then,
    /// clocks are stopped.
    #[cold]
    pub(in crate::sim) fn on_idle(&mut self, since: Time) -> Halt {
        let Schedule { horizon, boundary, .. } = self.schedule;
        if horizon >= boundary {
            self.now = since;
            return Halt::End(End::Idle);
        }
        self.schedule.idle_since = Some(since);
        (self.now, self.schedule.horizon) = (horizon, Time::NEVER);
        Halt::Reached
    }

    /// Runs the clocks that were stopped while the run waited for a command.
    pub(in crate::sim) fn catch_up(&mut self) {
        let Some(since) = self.schedule.idle_since.take() else { return };
        self.schedule.horizon = std::mem::replace(&mut self.now, since);
        self.schedule.awaits_command = true;
        // The run does not end before that instant.
        self.run_steps(u64::MAX);
        self.schedule.awaits_command = false;
    }

    /// Reason why the run is over, if it is.
    pub fn end(&self) -> Option<End> {
        self.schedule.end
    }

    pub(in crate::sim) fn note_end(&mut self, end: End) {
        self.schedule.end = Some(end);
    }

    /// Applies the events at the start, before any other event.
    pub(in crate::sim) fn begin_events(&mut self) {
        self.apply_due();
        self.arm_stop();
    }

    /// The end of a batch or of the run, a command, or the horizon is due.
    pub(in crate::sim) fn on_stop(&mut self) -> Option<Halt> {
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

    /// Kept out of line, so that the main loop stays short.
    #[inline(never)]
    fn arm_stop(&mut self) {
        self.timers.set(Timer::Clock(Clock::Stop), self.schedule.deadline().min(self.world.deadline()));
    }

    /// Applies a command now. A command without effect is allowed.
    pub fn apply(&mut self, command: &Command) {
        self.catch_up();
        match *command {
            Command::NodeDown(n) => self.switch_off(n),
            Command::NodeUp(n) => self.switch_on(n),
            Command::RadioDown(r) => self.switch_radio(r, true),
            Command::RadioUp(r) => self.switch_radio(r, false),
            Command::LinkDown(link) => self.switch_link(link, true),
            Command::LinkUp(link) => self.switch_link(link, false),
            Command::FlowStart(f) => self.begin_flow(f.index()),
            Command::FlowStop(f) => self.end_flow(f.index()),
            Command::NodePut(n, place) => self.direct(n, |mobile_nodes, now| mobile_nodes.put(n, place, now)),
            Command::NodeSend(n, to, speed) => self.direct(n, |mobile_nodes, now| mobile_nodes.send(n, to, speed, now)),
            Command::Set(change) => self.change(change),
        }
        if self.watch.external.is_some() {
            self.watch.note_packets(&mut self.pool);
        }
    }

    /// From now on nodes may move.
    pub(in crate::sim) fn begin_motion(&mut self) {
        if let Some(radios) = self.world.begin_motion() {
            self.air.channel.begin_moving(radios);
            self.net.ports.begin_moving(radios);
            // The receivers in range are recomputed before each frame.
            self.air.watch(false);
        }
    }

    /// Places a node at a position, or sends it to one.
    fn direct(&mut self, n: NodeId, command: impl FnOnce(&mut MobileNodes, Time)) {
        self.begin_motion();
        if let Some(mobile_nodes) = &mut self.world.mobile_nodes {
            command(mobile_nodes, self.now);
        }
        self.world.note_movements(self.now, Some(n), &mut self.watch);
    }

    /// Decides the window of a flow now (`tcp.congestion_control = "external"`). Returns false if the flow is not of TCP,
    /// or a rule of Chappe decides its window.
    pub fn decide(&mut self, flow: FlowId, decision: &Decision) -> bool {
        let decides = match self.flows.list.get_mut(flow.index()).map(|flow| &mut flow.ends) {
            Some(Ends::Tcp(ends)) => ends.sender.takes_decisions(),
            _ => false,
        };
        if decides {
            self.catch_up();
            self.change_sender(flow, |sender, now| sender.decide(decision, now));
        }
        decides
    }

    fn begin_flow(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        let sends = flow.transfer.began != Time::NEVER && (!flow.app.is_over() || flow.written().is_none());
        if !sends && !flow.app.is_on() {
            flow.transfer.rest();
            flow.app.begin(self.now);
            self.timers.set(Timer::App(f), flow.app.deadline());
        }
    }

    /// Time at which a flow of TCP has begun; `None` before that.
    pub fn flow_began(&self, flow: FlowId) -> Option<Time> {
        self.flows.list[flow.index()].transfer.began()
    }

    fn end_flow(&mut self, f: usize) {
        let flow = &mut self.flows.list[f];
        let out = flow.app.end();
        self.timers.set(Timer::App(f), flow.app.deadline());
        self.dispatch_application(f, out);
    }

    /// Changes the sender of a flow, which may then send.
    fn change_sender(&mut self, f: FlowId, change: impl FnOnce(&mut Sender, Time)) {
        let flow = &mut self.flows.list[f.index()];
        if let Ends::Tcp(ends) = &mut flow.ends {
            change(&mut ends.sender, self.now);
            flow.time.on_event(self.now, ends.sender.phase());
            self.dispatch_sender(f.index());
        }
    }

    /// Changes the ACK thinning of a flow; an acknowledgement that is held keeps its deadline.
    fn change_thinning(&mut self, f: FlowId, change: impl FnOnce(&mut thinning::Config)) {
        if let Ends::Tcp(ends) = &mut self.flows.list[f.index()].ends {
            ends.receiver.change_thinning(change);
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Interval(f, interval) => {
                let app = &mut self.flows.list[f.index()].app;
                app.set_interval(interval, self.now);
                self.timers.set(Timer::App(f.index()), app.deadline());
            }
            Change::Window(f, segments) => {
                let flow = &mut self.flows.list[f.index()];
                if let Ends::Tcp(ends) = &mut flow.ends {
                    ends.sender.set_window(segments);
                    ends.receiver.set_window(segments);
                }
            }
            Change::MaxCwnd(f, segments) => {
                if let Ends::Tcp(ends) = &mut self.flows.list[f.index()].ends {
                    ends.sender.set_max_cwnd(segments, self.now);
                }
            }
            Change::FixedWindow(f, segments) => {
                self.change_sender(f, |sender, now| sender.set_fixed_window(segments, now));
            }
            Change::PacingRate(f, rate) => {
                self.change_sender(f, |sender, now| sender.set_pacing_rate(rate, now));
            }
            Change::AckedSegments(f, segments) => {
                if let Ends::Tcp(ends) = &mut self.flows.list[f.index()].ends {
                    ends.receiver.set_acked_segments(segments);
                }
            }
            Change::ThinningStep(f, step, from) => {
                self.change_thinning(f, |cfg| *[&mut cfg.s1, &mut cfg.s2, &mut cfg.s3][step] = from);
            }
            Change::ThinningTimeout(f, timeout) => self.change_thinning(f, |cfg| cfg.timeout = timeout),
            Change::QueueLimit(r, packets) => {
                self.net.ports.all_of_mut(r).for_each(|queue| queue.set_limit(packets as usize));
            }
            Change::LinkQueueLimit(link, back, packets) => {
                if let Some(queue) = self.net.links.queue_mut(link, back) {
                    queue.set_limit(packets as usize);
                }
            }
            Change::LinkRate(link, back, rate) => {
                if let Some((link, _)) = self.net.links.direction_mut(link, back) {
                    link.set(point_to_point::Config { rate, ..link.config() }, self.now);
                }
            }
            Change::LinkDelay(link, back, delay) => {
                if let Some((link, _)) = self.net.links.direction_mut(link, back) {
                    link.set(point_to_point::Config { delay, ..link.config() }, self.now);
                }
            }
            Change::LinkErrorRate(link, back, rate) => {
                if let Some((_, error)) = self.net.links.direction_mut(link, back) {
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
