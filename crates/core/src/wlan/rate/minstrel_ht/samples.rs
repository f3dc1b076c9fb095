//! Rates that wait to be sampled.

use super::rates::{Probability, Rates};
use crate::rng::Stream;

/// Number of rates that wait in a list.
const ROOM: usize = 5;
/// Number of random orders of the rates of a group.
const COLUMNS: usize = 10;

/// Purpose of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The slowest rate of a group that is faster than the best.
    Increase,
    /// Any rate that is faster than the chosen ones.
    Jump,
    /// A rate between the fastest and the slowest of the chosen ones.
    Slow,
}

/// Order of the purposes.
const SEQUENCE: [Purpose; 6] = {
    use Purpose::{Increase, Jump, Slow};
    [Increase, Jump, Increase, Jump, Increase, Slow]
};

/// Rates that wait to be sampled.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    lists: [[Option<u8>; ROOM]; 3],
    place: usize,
    /// Group of the last rate that was listed as an increase, and as a jump.
    increase_group: usize,
    jump_group: usize,
    orders: Orders,
}

/// The rates of a group in random orders, as numbers in their group.
#[derive(Clone, Debug)]
pub(super) struct Orders {
    table: Vec<u8>,
    /// Place of each group in the table.
    places: Vec<usize>,
}

impl Orders {
    pub(super) fn new(per_group: usize, groups: usize, rng: &mut Stream) -> Orders {
        let mut table = Vec::with_capacity(COLUMNS * per_group);
        for column in 0..COLUMNS {
            table.extend(0..per_group as u8);
            for i in (1..per_group).rev() {
                table.swap(column * per_group + i, column * per_group + rng.below(i as u32 + 1) as usize);
            }
        }
        Orders { table, places: vec![0; groups] }
    }

    /// The next rate of a group.
    pub(super) fn next(&mut self, group: usize) -> u8 {
        let place = self.places[group];
        self.places[group] = (place + 1) % self.table.len();
        self.table[place]
    }
}

impl Samples {
    pub(super) fn new(rates: &Rates, rng: &mut Stream) -> Samples {
        Samples {
            lists: [[None; ROOM]; 3],
            place: 0,
            increase_group: 0,
            jump_group: 0,
            orders: Orders::new(rates.group(0).len(), rates.groups(), rng),
        }
    }

    fn list(&mut self, purpose: Purpose) -> &mut [Option<u8>; ROOM] {
        &mut self.lists[purpose as usize]
    }

    /// The next rate to be sampled; `None`: no rate waits whose turn it is.
    pub(super) fn next(&mut self) -> Option<u8> {
        let purpose = SEQUENCE[self.place];
        self.place = (self.place + 1) % SEQUENCE.len();
        self.list(purpose).iter_mut().find_map(Option::take)
    }

    /// Fills the lists after a choice of rates.
    pub(super) fn refill(&mut self, rates: &Rates) {
        let chosen = [rates.best[0], rates.best[1], rates.surest].map(|rate| rates.duration(rate));
        let [best, ..] = chosen;
        let fastest = chosen.into_iter().min().unwrap_or(best);
        let slowest = chosen.into_iter().max().unwrap_or(best);
        let from = self.keep(Purpose::Increase, |rate| rates.duration(rate) < fastest);
        for i in from..ROOM {
            let next = self.next_increase(rates, best);
            self.list(Purpose::Increase)[i] = next;
            if next.is_none() {
                break;
            }
        }
        let from = self.keep(Purpose::Jump, |rate| rates.duration(rate) < fastest);
        let mut slow = self.keep(Purpose::Slow, |rate| (fastest + 1..slowest).contains(&rates.duration(rate)));
        for i in from..ROOM {
            let next = self.next_jump(rates, fastest, slowest, &mut slow);
            self.list(Purpose::Jump)[i] = next;
            if next.is_none() {
                break;
            }
        }
    }

    /// Moves the rates that still serve a purpose to the front, and returns the place behind them. As in Linux, a rate
    /// that is at the front already does not count, and the next one replaces it.
    fn keep(&mut self, purpose: Purpose, serves: impl Fn(u8) -> bool) -> usize {
        let list = self.list(purpose);
        let mut kept = 0;
        for i in 0..ROOM {
            let Some(rate) = list[i] else { continue };
            if !serves(rate) {
                list[i] = None;
            } else if i != kept {
                (list[kept], list[i]) = (Some(rate), None);
                kept += 1;
            }
        }
        kept
    }

    /// Returns true if a rate is among the first ones of a list.
    fn is_listed(&mut self, purpose: Purpose, rate: u8) -> bool {
        self.list(purpose).iter().map_while(|&listed| listed).any(|listed| listed == rate)
    }

    /// The slowest rate of the next group that has one below this duration and not in the list.
    fn next_increase(&mut self, rates: &Rates, below: u32) -> Option<u8> {
        for _ in 0..rates.groups() {
            self.increase_group = (self.increase_group + 1) % rates.groups();
            let first = rates.group(self.increase_group).find(|&rate| rates.duration(rate) < below);
            if let Some(rate) = first.filter(|&rate| !self.is_listed(Purpose::Increase, rate)) {
                return Some(rate);
            }
        }
        None
    }

    /// A random rate below the duration of the fastest; those below the one of the slowest are listed as slow ones on
    /// the way, if they do not nearly always work.
    fn next_jump(&mut self, rates: &Rates, fastest: u32, slowest: u32, slow: &mut usize) -> Option<u8> {
        for _ in 0..rates.groups() {
            self.jump_group = (self.jump_group + 1) % rates.groups();
            let below = if *slow < ROOM { slowest } else { fastest };
            let Some(rate) = self.random(rates, self.jump_group, below) else { continue };
            let jumps = rates.duration(rate) < fastest;
            let purpose = if jumps { Purpose::Jump } else { Purpose::Slow };
            if self.is_listed(purpose, rate) {
                continue;
            }
            if jumps {
                return Some(rate);
            }
            let is_slow = rates.duration(rate) < slowest && rates.probability(rate) <= Probability::percent(95);
            if is_slow && *slow < ROOM {
                self.list(Purpose::Slow)[*slow] = Some(rate);
                *slow += 1;
            }
        }
        None
    }

    /// The next rate of a group in the random orders that is not slower than its first one below this duration.
    fn random(&mut self, rates: &Rates, group: usize, below: u32) -> Option<u8> {
        let mut all = rates.group(group);
        let (start, count) = (all.start, all.len());
        let first = all.find(|&rate| rates.duration(rate) < below)?;
        (0..count).find_map(|_| Some(start + self.orders.next(group)).filter(|&rate| rate >= first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::wlan::Mode;
    use crate::wlan::ppdu;

    fn fresh(streams: u32) -> (Rates, Samples) {
        let ppdu = ppdu::Config { format: ppdu::Format::HtMixed, ..ppdu::Config::default() };
        let modes: Vec<Mode> = ppdu.mode(7, streams).families().filter(|&mode| ppdu.has_mode(mode)).collect();
        let rates = Rates::new(&modes);
        let mut samples = Samples::new(&rates, &mut Stream::new(1, rng::Purpose::RateControl, 0));
        samples.refill(&rates);
        (rates, samples)
    }

    #[test]
    fn from_the_lowest_rate_the_next_ones_are_tried() {
        let (_, mut samples) = fresh(2);
        // The slowest rate of two streams, and MCS 1 of one; only these are faster than MCS 0 by one step.
        assert_eq!(samples.lists[Purpose::Increase as usize], [Some(8), Some(1), None, None, None]);
        let jumps: Vec<u8> = samples.lists[Purpose::Jump as usize].iter().flatten().copied().collect();
        assert!(!jumps.is_empty() && jumps.iter().all(|&rate| rate > 0), "{jumps:?}");
        assert_eq!(samples.lists[Purpose::Slow as usize], [None; ROOM], "nothing is slower than the best and faster");
        let order: Vec<bool> = (0..6).map(|_| samples.next().is_some_and(|rate| jumps.contains(&rate))).collect();
        assert!(order[1] && order[3], "{order:?}");
        assert_eq!(samples.next(), None, "both increases are tried");
    }

    #[test]
    fn the_fastest_rate_has_nothing_to_increase() {
        let (mut rates, mut samples) = fresh(1);
        for rate in 0..8 {
            let of = rates.of(rate);
            (of.attempts, of.successes) = (100, 100);
        }
        rates.update();
        samples.refill(&rates);
        assert_eq!((rates.best[0], rates.surest), (7, 7));
        assert!((0..6).all(|_| samples.next().is_none()), "{samples:?}");
    }

    #[test]
    fn rates_between_the_chosen_ones_are_tried_if_they_fail_at_times() {
        let (mut rates, mut samples) = fresh(1);
        // The best is MCS 7, the surest MCS 2; MCS 3 always works.
        for (rate, successes) in [(2, 80), (3, 100), (4, 40), (5, 40), (6, 40), (7, 70)] {
            let of = rates.of(rate);
            (of.attempts, of.successes) = (100, successes);
        }
        rates.update();
        rates.surest = 2;
        (0..8).for_each(|_| samples.refill(&rates));
        let slow: Vec<u8> = samples.lists[Purpose::Slow as usize].iter().flatten().copied().collect();
        assert!(!slow.is_empty() && slow.iter().all(|rate| (4..=6).contains(rate)), "{slow:?}");
    }

    #[test]
    fn what_was_not_taken_gives_way() {
        let (rates, mut samples) = fresh(1);
        let increases = |samples: &Samples| samples.lists[Purpose::Increase as usize];
        assert_eq!(increases(&samples)[0], Some(1));
        samples.refill(&rates);
        assert_eq!(increases(&samples)[0], None, "listed already when it is sought again");
        samples.refill(&rates);
        assert_eq!(increases(&samples)[0], Some(1));
    }
}
