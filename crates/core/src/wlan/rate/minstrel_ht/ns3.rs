//! Minstrel-HT as of 2012, as in ns-3.37.
//!
//! Probabilities are averaged with the latest shares, and a frame goes through a chain of the best, the second best and
//! the surest rate. One in so many frames *looks around*: it is sent once at a rate from a random table, as an aggregate
//! like any other. The longer aggregates are, the fewer look around.

use super::super::charge::Times;
use super::super::registry::{Cx, RateRule};
use super::super::{Chain, Frame};
use super::rates::{CW_MAX, CW_MIN, FRAME, MOST_TRIES, SEGMENT, SLOT, duration_of};
use super::samples::Orders;
use crate::rng::Stream;
use crate::unit::{Span, Time};
use crate::wlan::Mode;
use crate::wlan::ppdu::bits_of_symbol;

/// Interval between updates of the statistics, which wait for the next report.
const INTERVAL: Span = Span::ms(50);
/// Weight of the old value of an average.
const OLD: f64 = 0.75;
/// Frames between looks, and frames more for each MPDU of the mean aggregate.
const WAIT: f64 = 16.0;
const WAIT_PER_MPDU: f64 = 2.0;
/// Looks that need not wait after the first frame, and those of an update for each group.
const FIRST_LOOKS: u32 = 4;
const LOOKS: u32 = 8;
/// Probability above which a rate is not looked at \[%\].
const SURE: f64 = 95.0;
/// Updates without an attempt after which a slow rate is looked at, and such looks between two updates.
const MOST_SKIPPED: u32 = 20;
const SLOW_LOOKS: u32 = 2;
/// SIFS and a block acknowledgement at 6 Mbit/s \[us\].
const ANSWER: f64 = 16.0 + 68.0;

/// Statistics of a rate.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// Time of a frame with its preamble, and of a further one in an aggregate \[us\].
    first: f64,
    further: f64,
    /// MPDUs sent and acknowledged since the last update.
    attempts: u32,
    successes: u32,
    /// Any MPDU was acknowledged before the last update.
    worked: bool,
    /// Averaged probability of success \[%\].
    probability: f64,
    /// Throughput when the rate was last tried.
    throughput: f64,
    /// Updates since the last attempt.
    skipped: u32,
}

impl Rate {
    fn new(mode: Mode, first: u64) -> Rate {
        let further = duration_of(bits_of_symbol(mode), mode.has_short_guard());
        Rate {
            first: first as f64,
            further: f64::from(further) / 1000.0,
            attempts: 0,
            successes: 0,
            worked: false,
            probability: 0.0,
            throughput: 0.0,
            skipped: 0,
        }
    }

    /// Averages the share of successes since the last update.
    fn update(&mut self) {
        if self.attempts == 0 {
            self.skipped += 1;
            return;
        }
        let share = f64::from(100 * self.successes / self.attempts);
        self.probability = if self.worked { OLD * self.probability + (1.0 - OLD) * share } else { share };
        // Losses up to a tenth may be collisions.
        self.throughput = if self.probability < 10.0 { 0.0 } else { self.probability.min(90.0) / self.first };
        self.worked |= self.successes > 0;
        (self.attempts, self.successes, self.skipped) = (0, 0, 0);
    }

    /// Number of attempts with aggregates of this length: two, or as many as fit into a segment.
    fn tries(&self, mpdus: f64) -> u8 {
        if self.probability < 1.0 {
            return 1;
        }
        let data = self.first + self.further * (mpdus - 1.0);
        let (mut cw, mut time, mut tries) = (CW_MIN, 0.0, 0);
        loop {
            time += f64::from(cw / 2 * SLOT) + data + ANSWER;
            // ns-3 adds 1 before it doubles, Linux afterwards.
            cw = (2 * (cw + 1)).min(CW_MAX);
            if tries >= 2 && time >= f64::from(SEGMENT) || tries == MOST_TRIES {
                return tries;
            }
            tries += 1;
        }
    }
}

/// State of a neighbor.
#[derive(Clone, Debug)]
pub(in super::super) struct MinstrelHtNs3 {
    rates: Vec<Rate>,
    /// Number of rates in a group.
    per_group: u8,
    /// Rates with the highest and second highest throughput, and the fastest of the rates that mostly work.
    best: u8,
    second: u8,
    surest: u8,
    orders: Orders,
    /// Group of the next look.
    group: usize,
    /// Frames until the next look, looks that may then be made, and those left until the next update.
    wait: u32,
    looks: u32,
    looks_left: u32,
    /// Looks at slow rates since the last update.
    slow_looks: u32,
    mean_mpdus: f64,
    /// Aggregates and their MPDUs since the last update.
    aggregates: u32,
    mpdus: u32,
    updated: Time,
}

impl RateRule for MinstrelHtNs3 {
    const HAS_CHAIN: bool = true;
    const OVER_AGGREGATES: bool = true;

    fn plan(&mut self, _frame: &Frame, _cx: &mut Cx<'_>) -> Chain {
        let tries = |rate: u8| (rate, self.rates[usize::from(rate)].tries(self.mean_mpdus));
        let usual = [tries(self.best), tries(self.second), tries(self.surest), (0, 0)];
        let mut chain = Chain { series: usual, probe: false };
        if let Some(rate) = self.look_around() {
            chain.series[0] = (rate, 1);
        }
        chain
    }

    /// ns-3 reports an aggregate without an answer as a lost frame and as lost MPDUs, and the MPDUs again when the
    /// answer to the request that follows does not list them: each report moves along the chain.
    fn on_failure(&mut self, frame: &mut Frame, _cx: &Cx<'_>) {
        let (reports, attempts) = if frame.mpdus > 1 { (3, 2 * frame.mpdus + 1) } else { (1, 1) };
        self.rates[usize::from(frame.rate)].attempts += attempts;
        if frame.mpdus > 1 {
            (self.aggregates, self.mpdus) = (self.aggregates + 2, self.mpdus + 2 * frame.mpdus);
        }
        for _ in 0..reports {
            frame.count();
            if frame.next().is_none() {
                break;
            }
        }
    }

    fn on_success(&mut self, frame: &mut Frame, cx: &Cx<'_>) {
        frame.count();
        self.rates[usize::from(frame.rate)].attempts += frame.mpdus;
        if frame.mpdus > 1 {
            (self.aggregates, self.mpdus) = (self.aggregates + 1, self.mpdus + frame.mpdus);
        }
        self.report(frame, true, cx);
    }

    /// Evaluates a chain that is over.
    fn report(&mut self, frame: &Frame, _success: bool, cx: &Cx<'_>) {
        self.rates[usize::from(frame.rate)].successes += frame.acked;
        if self.wait == 0 && self.looks == 0 && self.looks_left > 0 {
            self.wait = (WAIT + WAIT_PER_MPDU * self.mean_mpdus) as u32;
            (self.looks, self.looks_left) = (1, self.looks_left - 1);
        }
        if cx.now >= self.updated + INTERVAL {
            self.update(cx.now);
        }
    }
}

impl MinstrelHtNs3 {
    pub(in super::super) fn new(modes: &[Mode], times: &Times, now: Time, rng: &mut Stream) -> MinstrelHtNs3 {
        let groups = modes.chunk_by(|a, b| a.streams() == b.streams()).count();
        let per_group = modes.len() / groups;
        MinstrelHtNs3 {
            rates: (0..).zip(modes).map(|(rate, &mode)| Rate::new(mode, times.frame(rate, FRAME))).collect(),
            per_group: per_group as u8,
            best: 0,
            second: 0,
            surest: 0,
            orders: Orders::new(per_group, groups, rng),
            group: 0,
            wait: 1,
            looks: FIRST_LOOKS,
            looks_left: LOOKS * groups as u32,
            slow_looks: 0,
            mean_mpdus: 1.0,
            aggregates: 0,
            mpdus: 0,
            updated: now,
        }
    }

    fn of(&self, rate: u8) -> &Rate {
        &self.rates[usize::from(rate)]
    }

    /// The rate at which a frame looks around. The next rate of the table is passed over if it is one of the chosen
    /// ones, nearly always works, or is slow and was tried of late.
    fn look_around(&mut self) -> Option<u8> {
        if self.wait > 0 {
            self.wait -= 1;
            return None;
        }
        if self.looks == 0 {
            return None;
        }
        let groups = self.rates.len() / usize::from(self.per_group);
        self.group = (self.group + 1) % groups;
        let rate = self.group as u8 * self.per_group + self.orders.next(self.group);
        let chosen = [self.best, self.second, self.surest];
        if chosen.contains(&rate) || self.of(rate).probability > SURE {
            return None;
        }
        let has_fewer_streams = rate / self.per_group < self.best / self.per_group;
        let is_faster_than = |other: u8| self.of(rate).first < self.of(other).first;
        let is_fast = is_faster_than(self.second) || has_fewer_streams && is_faster_than(self.surest);
        if !is_fast {
            self.slow_looks += 1;
            if self.of(rate).skipped < MOST_SKIPPED || self.slow_looks > SLOW_LOOKS {
                return None;
            }
        }
        self.looks -= 1;
        Some(rate)
    }

    /// Averages the statistics and chooses rates.
    fn update(&mut self, now: Time) {
        if let Some(mpdus) = self.mpdus.checked_div(self.aggregates) {
            self.mean_mpdus = OLD * self.mean_mpdus + (1.0 - OLD) * f64::from(mpdus);
            (self.aggregates, self.mpdus) = (0, 0);
        }
        self.rates.iter_mut().for_each(Rate::update);
        (self.best, self.second, self.surest) = (0, 0, 0);
        for rate in 0..self.rates.len() as u8 {
            let of = *self.of(rate);
            if of.throughput == 0.0 {
                continue;
            }
            let is_better_than = |other: u8| {
                let other = self.of(other);
                (of.throughput, of.probability) > (other.throughput, other.probability)
            };
            let surest = self.of(self.surest);
            let is_surer = if of.probability > 75.0 {
                of.throughput > surest.throughput
            } else {
                of.probability > surest.probability
            };
            let (is_best, is_second) = (is_better_than(self.best), is_better_than(self.second));
            if is_best {
                (self.best, self.second) = (rate, self.best);
            } else if is_second {
                self.second = rate;
            }
            if is_surer {
                self.surest = rate;
            }
        }
        self.slow_looks = 0;
        self.looks_left = LOOKS * (self.rates.len() / usize::from(self.per_group)) as u32;
        self.updated = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PEER, control, run, send};
    use super::*;
    use crate::packet::Kind;
    use crate::wlan::rate::Algorithm::MinstrelHtNs3 as Ns3;

    /// Rates that were tried first in each aggregate.
    fn firsts(all: &[Vec<(u8, usize, bool)>]) -> Vec<u8> {
        all.iter().map(|attempts| attempts[0].0).collect()
    }

    fn rate() -> Rate {
        Rate { first: 184.0, further: 147.75, ..Rate::new(Mode(0), 0) }
    }

    #[test]
    fn averages_keep_three_quarters() {
        let mut rate = rate();
        let averages: Vec<f64> = (0..5)
            .map(|i| {
                (rate.attempts, rate.successes) = (100, if i == 0 { 100 } else { 50 });
                rate.update();
                rate.probability
            })
            .collect();
        assert_eq!(averages, [100.0, 87.5, 78.125, 71.093_75, 65.820_312_5]);
    }

    #[test]
    fn as_many_attempts_as_fit_into_a_segment() {
        // With single frames of 184 us: backoffs of 63, 144, 297, 594, 1206 and 2448 us, and 268 us for each attempt:
        // five end after 3644 us, a sixth after 6360 us.
        for (probability, mpdus, wanted) in [(0.0, 1.0, 1), (1.0, 1.0, 5), (100.0, 1.0, 5), (100.0, 28.0, 2)] {
            assert_eq!(Rate { probability, ..rate() }.tries(mpdus), wanted, "{probability} %, {mpdus} MPDUs");
        }
    }

    #[test]
    fn every_nineteenth_single_frame_looks_around() {
        // As in ns-3's runs at 5 dB, where MCS 1 to 7 lose everything: 1 frame waits 18 others, and in a round of the
        // table MCS 0 is passed over once: 7 looks in 7 * 19 + 1 frames.
        let mut c = control(Ns3, 1);
        let all: Vec<_> = (0..20_000)
            .map(|i| send(&mut c, 1, Time::ZERO + Span::us(2100 * i), |mcs| usize::from(mcs == 0)))
            .collect();
        let tail = &all[2000..];
        let looks = tail.iter().filter(|attempts| attempts[0].0 > 0).count();
        assert!((looks as f64 / tail.len() as f64 - 7.0 / 134.0).abs() < 5e-4, "{looks}");
        // A failed look is one attempt, and then the second best rate follows, without RTS.
        let failed = tail.iter().find(|attempts| attempts[0].0 > 0).expect("some look around");
        assert!(failed.len() == 2 && failed[1] == (0, 1, false), "{failed:?}");
    }

    #[test]
    fn looks_are_aggregates_and_rarer_the_longer_these_are() {
        let mut c = control(Ns3, 1);
        let all = run(&mut c, 0, 60_000, |mcs| if mcs < 4 { 16 } else { 0 });
        let tail = &all[2000..];
        assert!(tail.iter().flatten().all(|&(_, mpdus, rts)| mpdus == 16 && !rts));
        // 16 + 2 * 16 frames wait; four of eight rates are faster than the second best, MCS 2.
        let looks = tail.iter().filter(|attempts| attempts[0].0 > 3).count();
        assert!((looks as f64 / tail.len() as f64 - 4.0 / (4.0 * 49.0 + 4.0)).abs() < 2e-3, "{looks}");
        // The lost aggregate counts three times, so that the surest rate, which is the best, follows.
        assert!(tail.iter().all(|attempts| attempts.len() == 1 || attempts[1].0 == 3));
    }

    #[test]
    fn begins_at_the_lowest_rate_and_climbs() {
        let mut c = control(Ns3, 2);
        let all = run(&mut c, 0, 5000, |_| 16);
        assert_eq!(all[0][0].0, 0);
        let reached = firsts(&all).iter().position(|&mcs| mcs == 15).expect("the fastest rate is reached");
        assert!(reached < 1000, "after {reached} aggregates");
        // Where everything works, there is nothing to be looked for.
        assert!(firsts(&all)[2000..].iter().all(|&mcs| mcs == 15));
    }

    #[test]
    fn a_lost_aggregate_ends_at_the_surest_rate() {
        let mut c = control(Ns3, 1);
        run(&mut c, 0, 20_000, |mcs| if mcs < 4 { 16 } else { 0 });
        let at = Time::ZERO + Span::ms(20_000);
        let lost: Vec<u8> = send(&mut c, 16, at, |_| 0).iter().map(|attempt| attempt.0).collect();
        // Two attempts each at MCS 3, 2 and 3, three at a time.
        assert_eq!(lost, [3, 2]);
        assert_eq!(c.begin(PEER, Kind::Data, 1538, at), control(Ns3, 1).modes[3]);
    }
}
