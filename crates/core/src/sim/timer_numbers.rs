//! Numbers of the timers in the scheduler.

use crate::packet::{NodeId, RadioId};

/// Ranges of timer numbers. Of timers due at the same time the one with the lowest number expires first.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimerNumbers {
    radios: usize,
    pub(super) flows: usize,
    /// Number of the timer of packets between layers. Middleboxes follow and precede point-to-point links: a middlebox
    /// timer that expires when a packet arrives over a link expires first, as in ns-2.
    transit: usize,
    /// First numbers of links, of split connections, of senders.
    links: usize,
    splits: usize,
    senders: usize,
    /// Number of flow generators.
    origins: usize,
    /// Nodes measure the use of the medium at intervals (Neighborhood RED).
    measures_usage: bool,
    /// Some nodes have a battery.
    batteries: bool,
}

/// Timer of a component, which has one deadline.
#[derive(Clone, Copy)]
pub(super) enum Timer {
    Radio(RadioId),
    Mac(RadioId),
    Router(NodeId),
    Transit,
    Link(usize),
    Middlebox(usize),
    Split(usize),
    Sender(usize),
    Receiver(usize),
    App(usize),
    Arrivals(usize),
    Clock(Clock),
}

/// Timers that expire even if nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Sample,
    Stop,
    Usage,
    Battery,
}

/// Clocks of every run, in their order; those of Neighborhood RED and of batteries follow.
const CLOCKS: [Clock; 2] = [Clock::Sample, Clock::Stop];

impl TimerNumbers {
    /// Largest number of clocks.
    pub(super) const CLOCKS: usize = CLOCKS.len() + 2;

    pub(super) fn new(
        radios: usize,
        nodes: usize,
        links: usize,
        [boxes, splits, origins]: [usize; 3],
        flows: usize,
        (measures_usage, batteries): (bool, bool),
    ) -> TimerNumbers {
        let transit = 2 * radios + nodes;
        let link = transit + 1 + boxes;
        let split = link + links;
        TimerNumbers {
            radios,
            flows,
            transit,
            links: link,
            splits: split,
            senders: split + splits,
            origins,
            measures_usage,
            batteries,
        }
    }

    /// Numbers for this number of flows instead.
    pub(super) fn with_flows(self, flows: usize) -> TimerNumbers {
        TimerNumbers { flows, ..self }
    }

    pub(super) fn count(self) -> usize {
        self.clocks().end
    }

    /// Number of the timers that most frames set: of radios, MACs, routers, and of packets in transit. Without radios
    /// there are none.
    pub(super) fn busy(self) -> usize {
        if self.radios == 0 { 0 } else { self.transit + 1 }
    }

    /// Numbers of the clocks, which are set as long as the run lasts.
    pub(super) fn clocks(self) -> std::ops::Range<usize> {
        let first = self.arrivals(self.origins);
        first..first + CLOCKS.len() + usize::from(self.measures_usage) + usize::from(self.batteries)
    }

    #[inline]
    pub(super) fn radio(self, r: RadioId) -> usize {
        r.index()
    }

    #[inline]
    pub(super) fn mac(self, r: RadioId) -> usize {
        self.radios + r.index()
    }

    #[inline]
    pub(super) fn router(self, n: NodeId) -> usize {
        2 * self.radios + n.index()
    }

    #[inline]
    pub(super) fn transit(self) -> usize {
        self.transit
    }

    #[inline]
    pub(super) fn link(self, w: usize) -> usize {
        self.links + w
    }

    pub(super) fn middlebox(self, i: usize) -> usize {
        self.transit + 1 + i
    }

    pub(super) fn split(self, f: usize) -> usize {
        self.splits + f
    }

    /// Returns true if a connection is split.
    #[inline]
    pub(super) fn has_splits(self) -> bool {
        self.splits < self.senders
    }

    pub(super) fn sender(self, f: usize) -> usize {
        self.senders + f
    }

    pub(super) fn receiver(self, f: usize) -> usize {
        self.sender(self.flows) + f
    }

    pub(super) fn app(self, f: usize) -> usize {
        self.receiver(self.flows) + f
    }

    pub(super) fn arrivals(self, k: usize) -> usize {
        self.app(self.flows) + k
    }

    /// Number of a timer.
    #[inline(always)]
    pub(super) fn of(self, timer: Timer) -> usize {
        match timer {
            Timer::Radio(n) => self.radio(n),
            Timer::Mac(n) => self.mac(n),
            Timer::Router(n) => self.router(n),
            Timer::Transit => self.transit(),
            Timer::Link(w) => self.link(w),
            Timer::Middlebox(i) => self.middlebox(i),
            Timer::Split(f) => self.split(f),
            Timer::Sender(f) => self.sender(f),
            Timer::Receiver(f) => self.receiver(f),
            Timer::App(f) => self.app(f),
            Timer::Arrivals(k) => self.arrivals(k),
            Timer::Clock(Clock::Sample) => self.sample(),
            Timer::Clock(Clock::Stop) => self.stop(),
            Timer::Clock(Clock::Usage) => self.usage(),
            Timer::Clock(Clock::Battery) => self.battery(),
        }
    }

    /// Number of the clock of Neighborhood RED, if used.
    pub(super) fn usage(self) -> usize {
        self.clocks().start + CLOCKS.len()
    }

    /// Number of the clock of batteries, if any.
    pub(super) fn battery(self) -> usize {
        self.clocks().start + CLOCKS.len() + usize::from(self.measures_usage)
    }

    pub(super) fn sample(self) -> usize {
        self.clocks().start
    }

    pub(super) fn stop(self) -> usize {
        self.clocks().start + 1
    }

    /// Timer of one of the [`busy`](Self::busy) numbers.
    #[inline(always)]
    pub(super) fn busy_timer(self, number: usize) -> Option<Timer> {
        let r = self.radios;
        if number < r {
            Some(Timer::Radio(RadioId(number as u32)))
        } else if number < 2 * r {
            Some(Timer::Mac(RadioId((number - r) as u32)))
        } else if number < self.transit {
            Some(Timer::Router(NodeId((number - 2 * r) as u32)))
        } else {
            (number == self.transit).then_some(Timer::Transit)
        }
    }

    /// Timer of a number: the inverse of [`of`](Self::of).
    #[inline]
    pub(super) fn timer(self, number: usize) -> Timer {
        let f = self.flows;
        if let Some(timer) = self.busy_timer(number) {
            timer
        } else if number < self.links {
            Timer::Middlebox(number - self.middlebox(0))
        } else if number < self.splits {
            Timer::Link(number - self.links)
        } else if number < self.senders {
            Timer::Split(number - self.splits)
        } else {
            match number - self.senders {
                i if i < f => Timer::Sender(i),
                i if i < 2 * f => Timer::Receiver(i - f),
                i if i < 3 * f => Timer::App(i - 2 * f),
                i if i < 3 * f + self.origins => Timer::Arrivals(i - 3 * f),
                i => Timer::Clock(self.clock(i - 3 * f - self.origins)),
            }
        }
    }

    #[cold]
    fn clock(self, i: usize) -> Clock {
        match CLOCKS.get(i) {
            Some(&clock) => clock,
            None if i == CLOCKS.len() && self.measures_usage => Clock::Usage,
            None => Clock::Battery,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_belongs_to_one_timer() {
        for (measures_usage, batteries) in [(false, false), (true, false), (false, true), (true, true)] {
            let numbers = TimerNumbers::new(3, 5, 4, [2, 3, 2], 3, (measures_usage, batteries));
            for number in 0..numbers.count() {
                assert_eq!(numbers.of(numbers.timer(number)), number);
            }
            let last = match (measures_usage, batteries) {
                (_, true) => numbers.battery(),
                (true, false) => numbers.usage(),
                (false, false) => numbers.stop(),
            };
            assert_eq!(last, numbers.count() - 1);
        }
    }
}
