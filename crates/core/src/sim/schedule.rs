//! Instants at which a run halts: commands, ends of batches, the end.

use crate::run::{Command, End};
use crate::unit::Time;

/// Reason why a run halts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The run has ended.
    End(End),
    /// The run has reached the requested instant.
    Reached,
    /// Something has happened to an external flow or to an endpoint: see [`Sim::events`](super::Sim::events).
    Events,
}

/// Events of a run, and the instants at which it halts.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// Sorted by time; events at the same time keep the order of the scenario.
    events: Vec<(Time, Command)>,
    next: usize,
    /// Next instant at which a batch or the run ends.
    pub(super) boundary: Time,
    /// Instant at which the run halts for its driver.
    pub(super) horizon: Time,
    /// Instant since which only a command could cause an event, while the run halts for one.
    pub(super) idle_since: Option<Time>,
    /// A command will be given at the horizon.
    pub(super) awaits_command: bool,
    /// Reason why the run is over.
    pub(super) end: Option<End>,
}

impl Schedule {
    pub(super) fn new(events: &[(Time, Command)], boundary: Time) -> Schedule {
        let mut events = events.to_vec();
        events.sort_by_key(|e| e.0);
        Schedule { events, next: 0, boundary, horizon: Time::NEVER, idle_since: None, awaits_command: false, end: None }
    }

    /// Removes the next command that is due by now.
    pub(super) fn due(&mut self, now: Time) -> Option<Command> {
        let (_, command) = self.events.get(self.next).filter(|e| e.0 <= now)?;
        self.next += 1;
        Some(*command)
    }

    pub(super) fn deadline(&self) -> Time {
        let event = self.events.get(self.next).map_or(Time::NEVER, |e| e.0);
        self.boundary.min(event).min(self.horizon)
    }

    /// Returns true if further commands will come.
    pub(super) fn expects_commands(&self) -> bool {
        self.next < self.events.len() || self.awaits_command
    }
}
