//! Deadlines of a run: the scheduler, and the slot of each part in it.

use super::slots::{Slot, Slots};
use crate::scheduler::Scheduler;
use crate::unit::Time;

/// The scheduler with the numbers of its slots.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    scheduler: Scheduler,
    slots: Slots,
}

impl Timers {
    /// No deadline is set.
    pub(super) fn new(slots: Slots) -> Timers {
        Timers { scheduler: Scheduler::new(slots.count()), slots }
    }

    /// Sets the deadline of a part; `Time::NEVER` clears it.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: Slot, at: Time) {
        self.scheduler.set(self.slots.of(slot), at);
    }

    /// First part that is due, and its deadline; `None`: packets between layers, which are due at `transit_at`, come first.
    #[inline(always)]
    pub(super) fn next_before(&mut self, transit_at: Time) -> Option<(Slot, Time)> {
        let (slot, at) = self.scheduler.next_before(self.slots.transit(), transit_at)?;
        Some((self.slots.whose(slot), at))
    }

    /// Tells if a connection is split.
    #[inline]
    pub(super) fn has_splits(&self) -> bool {
        self.slots.has_splits()
    }

    /// Tells if no deadline is set but those of clocks.
    pub(super) fn only_clocks_are_set(&mut self) -> bool {
        let mut deadlines = [Time::NEVER; Slots::CLOCKS];
        for (slot, at) in self.slots.clocks().zip(&mut deadlines) {
            *at = self.scheduler.get(slot);
            self.scheduler.set(slot, Time::NEVER);
        }
        let idle = self.scheduler.is_empty();
        for (slot, at) in self.slots.clocks().zip(deadlines) {
            self.scheduler.set(slot, at);
        }
        idle
    }

    /// Makes room for this number of flows: for half as many again if there is none. Deadlines at the same time keep
    /// their order.
    pub(super) fn make_room(&mut self, flows: usize) {
        if flows <= self.slots.flows {
            return;
        }
        let flows = self.slots.flows + (self.slots.flows / 2).max(8);
        let (old, new) = (self.slots, Slots { flows, ..self.slots });
        let mut scheduler = Scheduler::new(new.count());
        for slot in 0..old.count() {
            scheduler.set(new.of(old.whose(slot)), self.scheduler.get(slot));
        }
        (self.slots, self.scheduler) = (new, scheduler);
    }
}
