//! Deadlines of a run: the scheduler with the number of each timer.

use super::timer_numbers::{Timer, TimerNumbers};
use crate::scheduler::Scheduler;
use crate::unit::Time;

/// The scheduler with the numbers of its timers.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    scheduler: Scheduler,
    numbers: TimerNumbers,
    /// Deadline of the first packet in transit between layers.
    pub(super) transit_at: Time,
}

impl Timers {
    pub(super) fn new(numbers: TimerNumbers) -> Timers {
        Timers { scheduler: Scheduler::new(numbers.busy(), numbers.count()), numbers, transit_at: Time::NEVER }
    }

    /// Sets the deadline of a timer; `Time::NEVER` clears it.
    #[inline(always)]
    pub(super) fn set(&mut self, timer: Timer, at: Time) {
        let number = self.numbers.of(timer);
        match timer {
            Timer::Radio(_) | Timer::Mac(_) | Timer::Router(_) => self.scheduler.set_busy(number, at),
            _ => self.scheduler.set(number, at),
        }
    }

    /// Sets the deadline of packets in transit between layers.
    #[inline]
    pub(super) fn set_transit(&mut self, at: Time) {
        self.transit_at = at;
        self.scheduler.set_often(self.numbers.transit(), at);
    }

    /// Earliest timer and its deadline; one must be set.
    #[inline(always)]
    pub(super) fn next(&mut self) -> (Timer, Time) {
        let (number, at) = self.scheduler.first();
        match self.numbers.busy_timer(number) {
            Some(timer) => (timer, at),
            None => (self.other_timer(number), at),
        }
    }

    #[inline(never)]
    fn other_timer(&mut self, number: usize) -> Timer {
        self.numbers.timer(self.scheduler.due(number))
    }

    /// The earliest deadline; one timer must be set.
    pub(super) fn next_at(&mut self) -> Time {
        self.scheduler.first().1
    }

    /// Returns true if no timer is set.
    pub(super) fn is_empty(&self) -> bool {
        self.scheduler.is_empty()
    }

    /// Returns true if a connection is split.
    #[inline]
    pub(super) fn has_splits(&self) -> bool {
        self.numbers.has_splits()
    }

    /// Returns true if no timer is set except clocks.
    pub(super) fn only_clocks_are_set(&mut self) -> bool {
        let mut deadlines = [Time::NEVER; TimerNumbers::CLOCKS];
        for (number, at) in self.numbers.clocks().zip(&mut deadlines) {
            *at = self.scheduler.get(number);
            self.scheduler.set(number, Time::NEVER);
        }
        let idle = self.scheduler.is_empty();
        for (number, at) in self.numbers.clocks().zip(deadlines) {
            self.scheduler.set(number, at);
        }
        idle
    }

    /// Makes room for this number of flows, growing by half. Timers due at the same time keep their order.
    pub(super) fn make_room(&mut self, flows: usize) {
        if flows <= self.numbers.flows {
            return;
        }
        let flows = self.numbers.flows + (self.numbers.flows / 2).max(8);
        let (old, new) = (self.numbers, self.numbers.with_flows(flows));
        let mut scheduler = Scheduler::new(new.busy(), new.count());
        // The deadline of packets in transit is set below: a scheduler may keep it apart.
        for number in (0..old.count()).filter(|&number| number != old.transit()) {
            scheduler.set(new.of(old.timer(number)), self.scheduler.get(number));
        }
        (self.numbers, self.scheduler) = (new, scheduler);
        self.set_transit(self.transit_at);
    }
}
