//! Statistics of rates, and the choice from them.

use crate::wlan::Mode;
use crate::wlan::ppdu::bits_of_symbol;
use std::ops::Range;

/// Size of a frame for comparing rates \[B\], and number of such frames in an aggregate.
pub(super) const FRAME: u32 = 1200;
const FRAMES: u32 = 16;
/// Time of an attempt besides its data: an ACK and the preamble at 6 Mbit/s, and with RTS two more frames \[us\].
const OVERHEAD: u32 = 108;
const OVERHEAD_WITH_RTS: u32 = 228;
/// Time for the attempts at one rate \[us\], and their largest number.
pub(super) const SEGMENT: u32 = 6000;
pub(super) const MOST_TRIES: u8 = 7;
pub(super) const SLOT: u32 = 9;
pub(super) const CW_MIN: u32 = 15;
pub(super) const CW_MAX: u32 = 1023;
/// Bits after the point of probabilities and of the mean length of aggregates.
const SCALE: u32 = 12;
/// Coefficients of the filter of probabilities: a low pass with a period of 16 updates.
const NEW: i32 = (1 << SCALE) - LAST - BEFORE;
const LAST: i32 = 5273;
const BEFORE: i32 = -2350;

/// Filtered probability of success, in units of 1/4096.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Probability(u32);

impl Probability {
    /// Returns the probability of a percentage.
    pub(super) const fn percent(percent: u32) -> Probability {
        Probability((percent << SCALE) / 100)
    }
}

/// Statistics of a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Time of a frame without its preamble \[ns\].
    duration: u32,
    /// MPDUs sent and acknowledged since the last update.
    pub(super) attempts: u32,
    pub(super) successes: u32,
    /// The rate was tried before the last update.
    tried: bool,
    probability: Probability,
    /// Output of the filter before `probability`.
    before: Probability,
}

impl Rate {
    /// Filters the share of successes since the last update.
    fn update(&mut self) {
        if self.attempts == 0 {
            return;
        }
        let share = (((self.successes << SCALE) / self.attempts) as i32).max(1);
        let (last, before) = (self.probability.0 as i32, self.before.0 as i32);
        (self.before, self.probability) = if last == 0 {
            (Probability(share as u32), Probability(share as u32))
        } else {
            let filtered = (NEW * share + LAST * last + BEFORE * before) >> SCALE;
            let filtered = if filtered < 0 { 1 } else { filtered.min(1 << SCALE) };
            (self.probability, Probability(filtered as u32))
        };
        (self.attempts, self.successes, self.tried) = (0, 0, true);
    }
}

/// Time of a frame without its preamble \[ns\], of the data bits of a symbol.
pub(super) fn duration_of(bits_of_symbol: u32, short_guard: bool) -> u32 {
    let symbols = (8 * FRAME * FRAMES).div_ceil(bits_of_symbol);
    symbols * if short_guard { 3600 } else { 4000 } / FRAMES
}

/// Throughput that Linux expects of a mode \[bit/s\], with frames of 1,200 B in the longest aggregates, if a share of
/// frames `arrives` by their size. Losses up to a tenth may be collisions, and nothing is expected of a rate with which
/// less than a tenth arrives.
pub fn expected_throughput(mode: Mode, max_mpdus: u32, arrives: impl Fn(u32) -> f64) -> f64 {
    let share = arrives(FRAME);
    let mpdus = f64::from(max_mpdus.clamp(1, FRAMES));
    let ns =
        1000.0 * f64::from(OVERHEAD) / mpdus + f64::from(duration_of(bits_of_symbol(mode), mode.has_short_guard()));
    if share < 0.1 { 0.0 } else { share.min(0.9) * f64::from(8 * FRAME) * 1e9 / ns }
}

/// Rates of a neighbor, in groups by number of streams, and the chosen ones.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    all: Vec<Rate>,
    /// Number of rates in a group.
    per_group: u8,
    /// The rates with the highest throughput, the best first.
    pub(super) best: [u8; 4],
    /// The fastest of the rates that nearly always work.
    pub(super) surest: u8,
    /// Rates chosen in each group.
    groups: Vec<Chosen>,
    /// Mean number of MPDUs in an aggregate, in units of 1/4096.
    mean_mpdus: u32,
}

/// Rates chosen in a group.
#[derive(Clone, Copy, Debug, Default)]
struct Chosen {
    best: [u8; 4],
    surest: u8,
}

impl Rates {
    pub(super) fn new(modes: &[Mode]) -> Rates {
        let rate = |&mode: &Mode| Rate {
            duration: duration_of(bits_of_symbol(mode), mode.has_short_guard()),
            attempts: 0,
            successes: 0,
            tried: false,
            probability: Probability(0),
            before: Probability(0),
        };
        let groups = modes.chunk_by(|a, b| a.streams() == b.streams()).count();
        Rates {
            all: modes.iter().map(rate).collect(),
            per_group: (modes.len() / groups) as u8,
            best: [0; 4],
            surest: 0,
            groups: vec![Chosen::default(); groups],
            mean_mpdus: 1 << SCALE,
        }
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Rates of a group, the slowest first.
    pub(super) fn group(&self, group: usize) -> Range<u8> {
        let first = group as u8 * self.per_group;
        first..first + self.per_group
    }

    fn group_of(&self, rate: u8) -> usize {
        usize::from(rate / self.per_group)
    }

    /// Statistics of a rate.
    pub(super) fn of(&mut self, rate: u8) -> &mut Rate {
        &mut self.all[usize::from(rate)]
    }

    /// Time of a frame without its preamble \[ns\].
    pub(super) fn duration(&self, rate: u8) -> u32 {
        self.all[usize::from(rate)].duration
    }

    /// Probability of success.
    pub(super) fn probability(&self, rate: u8) -> Probability {
        self.all[usize::from(rate)].probability
    }

    /// Throughput, as Linux computes it in integers: several rates may have the same.
    fn throughput(&self, rate: u8) -> u32 {
        let probability = self.probability(rate);
        if probability < Probability::percent(10) {
            return 0;
        }
        // Losses up to a tenth may be collisions.
        let probability = probability.min(Probability::percent(90)).0;
        let time = 1000 * OVERHEAD / (self.mean_mpdus >> SCALE) + self.duration(rate);
        (100 * (probability * 1_000_000 / time)) >> SCALE
    }

    /// Averages the length of aggregates.
    pub(super) fn average_mpdus(&mut self, mpdus: u32, aggregates: u32) {
        let (old, new) = (self.mean_mpdus as i32, ((mpdus << SCALE) / aggregates) as i32);
        self.mean_mpdus = (old + (new - old) / 4) as u32;
    }

    /// Filters the statistics, and chooses rates anew.
    pub(super) fn update(&mut self) {
        let mut best = [0; 4];
        for group in 0..self.groups() {
            let mut best_of_group = [self.group(group).start; 4];
            let mut faster = Probability(0);
            for rate in self.group(group).rev() {
                let of = self.of(rate);
                of.update();
                // An untried rate works at least as well as a faster one.
                if of.tried {
                    faster = faster.max(of.probability);
                } else {
                    of.probability = of.probability.max(faster);
                }
                if self.throughput(rate) > 0 {
                    self.rank(rate, &mut best);
                    self.rank(rate, &mut best_of_group);
                }
            }
            self.groups[group] = Chosen { best: best_of_group, surest: self.group(group).start };
        }
        (self.best, self.surest) = (best, 0);
        for rate in 0..self.all.len() as u8 {
            self.consider_as_surest(rate);
        }
        self.save_streams();
    }

    /// Puts a rate into a list of the best ones; of equal throughputs the surer one is better.
    fn rank(&self, rate: u8, list: &mut [u8; 4]) {
        let worth = |rate: u8| (self.throughput(rate), self.probability(rate));
        let place = list.iter().rposition(|&other| worth(rate) <= worth(other)).map_or(0, |worse| worse + 1);
        if place < list.len() {
            list[place..].rotate_right(1);
            list[place] = rate;
        }
    }

    /// Takes a rate as the surest if it is surer, or fast enough and hardly ever fails.
    fn consider_as_surest(&mut self, rate: u8) {
        let (best, probability) = (self.best[0], self.probability(rate));
        if self.duration(best) > self.duration(rate) && probability < self.probability(best) {
            return;
        }
        let group = self.group_of(rate);
        let is_better = |than: u8| match probability > Probability::percent(75) {
            true => self.throughput(rate) > self.throughput(than),
            false => probability > self.probability(than),
        };
        let (of_all, of_group) = (is_better(self.surest), is_better(self.groups[group].surest));
        if of_all {
            self.surest = rate;
        }
        if of_group {
            self.groups[group].surest = rate;
        }
    }

    /// Prefers rates with fewer streams than the best one as the surest.
    fn save_streams(&mut self) {
        let mut highest = 0;
        for group in 0..self.group_of(self.best[0]) {
            let surest = self.groups[group].surest;
            if self.throughput(surest) > highest {
                (highest, self.surest) = (self.throughput(surest), surest);
            }
        }
    }

    /// The rate at this place of the best in the next lower group; the rate itself if there is none.
    pub(super) fn in_lower_group(&self, rate: u8, place: usize) -> u8 {
        self.group_of(rate).checked_sub(1).map_or(rate, |lower| self.groups[lower].best[place])
    }

    /// Attempts at a rate in a chain, without and with RTS.
    pub(super) fn tries(&self, rate: u8) -> (u8, u8) {
        let mut tries = (2, 2);
        if self.probability(rate) < Probability::percent(20) {
            return tries;
        }
        let data = self.duration(rate) * (self.mean_mpdus >> SCALE) / 1000;
        let mut cw = CW_MIN;
        let mut wait = || {
            let mean = SLOT * cw / 2;
            cw = (2 * cw + 1).min(CW_MAX);
            mean
        };
        let first = wait() + wait();
        let (mut time, mut time_with_rts) = (first + 2 * (OVERHEAD + data), first + 2 * (OVERHEAD_WITH_RTS + data));
        loop {
            let wait = wait();
            time += wait + OVERHEAD + data;
            time_with_rts += wait + OVERHEAD_WITH_RTS + data;
            tries.1 += u8::from(time_with_rts < SEGMENT);
            if time >= SEGMENT {
                return tries;
            }
            tries.0 += 1;
            if tries.0 >= MOST_TRIES {
                return tries;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wlan::ppdu;

    fn modes(streams: u32) -> Vec<Mode> {
        let ppdu = ppdu::Config { format: ppdu::Format::HtMixed, ..ppdu::Config::default() };
        ppdu.mode(7, streams).families().filter(|&mode| ppdu.has_mode(mode)).collect()
    }

    fn rates(streams: u32) -> Rates {
        Rates::new(&modes(streams))
    }

    /// Lets a share of 100 MPDUs at a rate succeed.
    fn try_at(rates: &mut Rates, rate: u8, percent: u32) {
        let of = rates.of(rate);
        (of.attempts, of.successes) = (of.attempts + 100, of.successes + percent);
    }

    #[test]
    fn the_filter_overshoots_and_settles() {
        let mut rates = rates(1);
        let outputs: Vec<f64> = (0..9)
            .map(|i| {
                try_at(&mut rates, 0, if i == 0 { 100 } else { 50 });
                rates.update();
                f64::from(rates.probability(0).0) / 4096.0
            })
            .collect();
        let wanted = [1.0, 0.8567, 0.6721, 0.5168, 0.4229, 0.3909, 0.4036, 0.4382, 0.4756];
        assert!(outputs.iter().zip(wanted).all(|(o, w)| (o - w).abs() < 0.001), "{outputs:?}");
    }

    #[test]
    fn without_attempts_nothing_is_forgotten() {
        let mut rates = rates(1);
        try_at(&mut rates, 3, 40);
        (0..5).for_each(|_| rates.update());
        assert_eq!(rates.probability(3).0, (40 << SCALE) / 100);
    }

    #[test]
    fn durations_are_those_of_frames_in_long_aggregates() {
        // A frame of 1200 B alone: 1480, 740, 496, 372, 248, 188, 168, 148 us; one of 16 shares their last symbol.
        let us: Vec<u32> = (0..8).map(|rate| rates(1).duration(rate).div_ceil(1000)).collect();
        assert_eq!(us, [1477, 739, 493, 370, 247, 185, 165, 148]);
        assert_eq!(duration_of(26, true), 5908 * 3600 / 16);
    }

    #[test]
    fn as_many_attempts_as_fit_into_a_segment() {
        for (mpdus, wanted) in [(1, 5), (8, 3), (16, 2)] {
            let mut rates = rates(1);
            try_at(&mut rates, 7, 100);
            rates.update();
            rates.mean_mpdus = mpdus << SCALE;
            assert_eq!(rates.tries(7).0, wanted, "{mpdus} MPDUs");
        }
        // With RTS two attempts take 67 + 139 + 2 x (228 + 147) us = 956, five 4081, and a sixth would end after 6755.
        let mut rates = rates(1);
        try_at(&mut rates, 7, 100);
        rates.update();
        assert_eq!(rates.tries(7), (5, 5));
    }

    #[test]
    fn what_hardly_ever_works_is_tried_twice() {
        for (percent, wanted) in [(0, 2), (19, 2), (21, 5)] {
            let mut rates = rates(1);
            try_at(&mut rates, 7, percent);
            rates.update();
            assert_eq!(rates.tries(7).0, wanted, "{percent} %");
        }
    }

    #[test]
    fn the_best_rates_are_those_with_the_highest_throughput() {
        let mut rates = rates(1);
        rates.mean_mpdus = 16 << SCALE;
        // MCS 3 was never tried, and is thought to work as well as MCS 4. Frames per second at MCS 3 to 7: 2394 and 3549
        // at 90 % each, 2872 at 55 %, 2337 at 40 %, none at 5 %.
        for (rate, percent) in [(4, 100), (5, 55), (6, 40), (7, 5)] {
            try_at(&mut rates, rate, percent);
        }
        rates.update();
        assert_eq!(rates.best, [4, 5, 3, 6]);
        assert_eq!((rates.surest, rates.probability(0)), (4, Probability(1 << SCALE)));
    }

    #[test]
    fn the_surest_rate_has_fewer_streams() {
        let mut rates = rates(2);
        rates.mean_mpdus = 16 << SCALE;
        for (rate, percent) in [(3, 96), (6, 60), (12, 90), (15, 70)] {
            try_at(&mut rates, rate, percent);
        }
        rates.update();
        assert_eq!((rates.best[0], rates.surest), (15, 3));
        // The next lower group has rates of its own at each place, and the lowest has no lower one.
        assert_eq!([rates.in_lower_group(15, 0), rates.in_lower_group(15, 1), rates.in_lower_group(3, 0)], [6, 5, 3]);
    }

    #[test]
    fn below_three_quarters_the_probability_alone_counts() {
        let mut rates = rates(1);
        for (rate, percent) in [(0, 70), (1, 60), (2, 50), (7, 1)] {
            try_at(&mut rates, rate, percent);
        }
        rates.update();
        assert_eq!((rates.best[0], rates.surest), (2, 0));
    }

    #[test]
    fn lengths_are_averaged_with_a_quarter_for_the_new_one() {
        let mut rates = rates(1);
        let lengths: Vec<u32> = (0..3)
            .map(|_| {
                rates.average_mpdus(90, 10);
                rates.mean_mpdus
            })
            .collect();
        assert_eq!(lengths, [12_288, 18_432, 23_040], "3, 4.5 and 5.625");
    }
}
