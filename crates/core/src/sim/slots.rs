//! Numbers of the slots of the scheduler. They have nothing to do with the slots of a back-off (802.11).

use crate::packet::{NodeId, RadioId};

/// The numbers of the slots of the scheduler; at equal times the lower number comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    pub(super) radios: usize,
    pub(super) flows: usize,
    /// The slot of packets between layers; middleboxes come after it and before wires. A timer of a middlebox that
    /// expires when a packet arrives over a wire expires first, as in ns-2.
    pub(super) transit: usize,
    /// The first slots of wires, of split connections, of senders.
    pub(super) wires: usize,
    pub(super) splits: usize,
    pub(super) senders: usize,
    /// Sources of transfers.
    pub(super) origins: usize,
    /// Nodes with a radio measure at intervals how the medium is used (Neighborhood RED).
    pub(super) measures_usage: bool,
    /// There are batteries.
    pub(super) batteries: bool,
}

/// The part to which a deadline belongs.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    Radio(RadioId),
    Mac(RadioId),
    Router(NodeId),
    Transit,
    Wire(usize),
    Middlebox(usize),
    Split(usize),
    Sender(usize),
    Receiver(usize),
    App(usize),
    Arrivals(usize),
    Clock(Clock),
}

/// Parts that come due even if nothing else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Sample,
    Stop,
    Usage,
    Battery,
}

/// The clocks that are always there, in their order; those of Neighborhood RED and of batteries come after them.
const CLOCKS: [Clock; 2] = [Clock::Sample, Clock::Stop];

impl Slots {
    /// The most clocks that there are.
    pub(super) const CLOCKS: usize = CLOCKS.len() + 2;

    pub(super) fn new(
        radios: usize,
        nodes: usize,
        wires: usize,
        [boxes, splits, origins]: [usize; 3],
        flows: usize,
        (measures_usage, batteries): (bool, bool),
    ) -> Slots {
        let transit = 2 * radios + nodes;
        let wire = transit + 1 + boxes;
        let split = wire + wires;
        Slots {
            radios,
            flows,
            transit,
            wires: wire,
            splits: split,
            senders: split + splits,
            origins,
            measures_usage,
            batteries,
        }
    }

    pub(super) fn count(self) -> usize {
        self.clocks().end
    }

    /// The slots of the clocks, which go on as long as the run, whatever happens in it.
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
    pub(super) fn wire(self, w: usize) -> usize {
        self.wires + w
    }

    pub(super) fn middlebox(self, i: usize) -> usize {
        self.transit + 1 + i
    }

    pub(super) fn split(self, f: usize) -> usize {
        self.splits + f
    }

    /// Tells if a connection is split.
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

    /// The slot of a source of transfers.
    pub(super) fn arrivals(self, k: usize) -> usize {
        self.app(self.flows) + k
    }

    /// The number of a slot.
    #[inline(always)]
    pub(super) fn of(self, slot: Slot) -> usize {
        match slot {
            Slot::Radio(n) => self.radio(n),
            Slot::Mac(n) => self.mac(n),
            Slot::Router(n) => self.router(n),
            Slot::Transit => self.transit(),
            Slot::Wire(w) => self.wire(w),
            Slot::Middlebox(i) => self.middlebox(i),
            Slot::Split(f) => self.split(f),
            Slot::Sender(f) => self.sender(f),
            Slot::Receiver(f) => self.receiver(f),
            Slot::App(f) => self.app(f),
            Slot::Arrivals(k) => self.arrivals(k),
            Slot::Clock(Clock::Sample) => self.sample(),
            Slot::Clock(Clock::Stop) => self.stop(),
            Slot::Clock(Clock::Usage) => self.usage(),
            Slot::Clock(Clock::Battery) => self.battery(),
        }
    }

    /// The slot of the intervals of Neighborhood RED; only where it is used.
    pub(super) fn usage(self) -> usize {
        self.clocks().start + CLOCKS.len()
    }

    /// The slot of batteries; only where there are some.
    pub(super) fn battery(self) -> usize {
        self.clocks().start + CLOCKS.len() + usize::from(self.measures_usage)
    }

    pub(super) fn sample(self) -> usize {
        self.clocks().start
    }

    pub(super) fn stop(self) -> usize {
        self.clocks().start + 1
    }

    #[inline]
    pub(super) fn whose(self, slot: usize) -> Slot {
        let (r, f) = (self.radios, self.flows);
        if slot < r {
            Slot::Radio(RadioId(slot as u32))
        } else if slot < 2 * r {
            Slot::Mac(RadioId((slot - r) as u32))
        } else if slot < self.transit {
            Slot::Router(NodeId((slot - 2 * r) as u32))
        } else if slot == self.transit {
            Slot::Transit
        } else if slot < self.wires {
            Slot::Middlebox(slot - self.middlebox(0))
        } else if slot < self.splits {
            Slot::Wire(slot - self.wires)
        } else if slot < self.senders {
            Slot::Split(slot - self.splits)
        } else {
            match slot - self.senders {
                i if i < f => Slot::Sender(i),
                i if i < 2 * f => Slot::Receiver(i - f),
                i if i < 3 * f => Slot::App(i - 2 * f),
                i if i < 3 * f + self.origins => Slot::Arrivals(i - 3 * f),
                i => Slot::Clock(self.clock(i - 3 * f - self.origins)),
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
    fn every_slot_is_somebodys() {
        for (measures_usage, batteries) in [(false, false), (true, false), (false, true), (true, true)] {
            let slots = Slots::new(3, 5, 4, [2, 3, 2], 3, (measures_usage, batteries));
            for slot in 0..slots.count() {
                assert_eq!(slots.of(slots.whose(slot)), slot);
            }
            let last = match (measures_usage, batteries) {
                (_, true) => slots.battery(),
                (true, false) => slots.usage(),
                (false, false) => slots.stop(),
            };
            assert_eq!(last, slots.count() - 1);
        }
    }
}
