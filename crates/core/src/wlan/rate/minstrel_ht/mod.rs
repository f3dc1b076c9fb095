//! Minstrel-HT (Fietkau 2010) as in Linux 6.18: rate control of 802.11n and 802.11ac from the shares of acknowledged
//! MPDUs.
//!
//! Rates with equally many streams form a *group*. Twenty times a second the success probabilities are filtered, and
//! four rates with the highest throughput and the surest one are chosen. An aggregate goes through a chain of the three
//! best and the surest rate until any of it is answered; up to fifty times a second a single MPDU samples another rate.

mod ns3;
mod rates;
mod samples;

pub(super) use ns3::MinstrelHtNs3;
pub use rates::expected_throughput;

use super::registry::{Cx, RateRule};
use super::{Chain, Frame};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use crate::wlan::Mode;
use rates::{Probability, Rates, duration_of};
use samples::Samples;

/// Interval between updates of the statistics, which wait for the next report.
const INTERVAL: Span = Span::ms(50);
/// Shortest interval between samples, counted anew from each update.
const SAMPLE_INTERVAL: Span = Span::ms(20);
/// Attempts since the last update above which a rate may die suddenly.
const FEW_ATTEMPTS: u32 = 30;

/// State of a neighbor.
#[derive(Clone, Debug)]
pub(super) struct MinstrelHt {
    rates: Rates,
    samples: Samples,
    chain: Chain,
    amsdu_size: u32,
    updated: Time,
    sample_from: Time,
    /// Aggregates and their MPDUs since the last update.
    aggregates: u32,
    mpdus: u32,
}

impl RateRule for MinstrelHt {
    const HAS_CHAIN: bool = true;
    const OVER_AGGREGATES: bool = true;
    const RTS_WHEN_SLOWER: bool = true;

    fn plan(&mut self, _frame: &Frame, cx: &mut Cx<'_>) -> Chain {
        if cx.now < self.sample_from {
            return self.chain;
        }
        self.sample_from = cx.now + SAMPLE_INTERVAL;
        let mut chain = self.chain;
        if let Some(rate) = self.samples.next() {
            (chain.series[0], chain.probe) = ((rate, 1), true);
        }
        chain
    }

    fn on_failure(&mut self, frame: &mut Frame, _cx: &Cx<'_>) {
        frame.count();
        self.rates.of(frame.rate).attempts += frame.mpdus;
    }

    fn on_success(&mut self, frame: &mut Frame, cx: &Cx<'_>) {
        frame.count();
        self.rates.of(frame.rate).attempts += frame.mpdus;
        self.report(frame, true, cx);
    }

    /// Evaluates a chain that is over.
    fn report(&mut self, frame: &Frame, _success: bool, cx: &Cx<'_>) {
        self.aggregates += 1;
        self.mpdus += frame.mpdus;
        self.rates.of(frame.rate).successes += frame.acked;
        let mut changed = false;
        for place in 0..2 {
            let rate = self.rates.best[place];
            let of = self.rates.of(rate);
            if of.attempts > FEW_ATTEMPTS && of.successes < of.attempts / 4 {
                self.rates.best[place] = self.rates.in_lower_group(rate, place);
                changed = true;
            }
        }
        if cx.now > self.updated + INTERVAL {
            self.update(cx.now);
            changed = true;
        }
        if changed {
            self.choose();
        }
    }

    fn amsdu_size(&self) -> u32 {
        self.amsdu_size
    }
}

impl MinstrelHt {
    pub(super) fn new(modes: &[Mode], now: Time, rng: &mut Stream) -> MinstrelHt {
        let rates = Rates::new(modes);
        let mut new = MinstrelHt {
            samples: Samples::new(&rates, rng),
            rates,
            chain: Chain::default(),
            amsdu_size: 0,
            updated: now,
            sample_from: now,
            aggregates: 0,
            mpdus: 0,
        };
        new.update(now);
        new.choose();
        new
    }

    /// Filters the statistics and chooses rates.
    fn update(&mut self, now: Time) {
        if self.aggregates > 0 {
            self.rates.average_mpdus(self.mpdus, self.aggregates);
            (self.aggregates, self.mpdus) = (0, 0);
        }
        self.rates.update();
        self.samples.refill(&self.rates);
        (self.updated, self.sample_from) = (now, now);
    }

    /// Makes the chain of the chosen rates, and the limit of A-MSDUs.
    fn choose(&mut self) {
        let [first, second, third, _] = self.rates.best;
        let chosen = [first, second, third, self.rates.surest];
        self.chain.series = std::array::from_fn(|stage| {
            let (tries, tries_after_rts) = self.rates.tries(chosen[stage]);
            (chosen[stage], if stage == 0 { tries } else { tries_after_rts })
        });
        self.amsdu_size = self.amsdu_limit();
    }

    /// Largest A-MSDU: an A-MSDU has one FCS, so that slow or poor rates lose much with it.
    fn amsdu_limit(&self) -> u32 {
        let percent = |rate: u8, least: u32| self.rates.probability(rate) >= Probability::percent(least);
        let surest = self.rates.duration(self.rates.surest);
        let slower_than = |bits_of_symbol: u32| surest > duration_of(bits_of_symbol, false);
        match () {
            () if !percent(self.rates.surest, 50) => 0,
            () if slower_than(52) => 500,
            () if slower_than(104) => 1600,
            () if slower_than(260) || !percent(self.rates.best[0], 75) => 3200,
            // Larger MPDUs are not allowed in an A-MPDU of HT; VHT has limits of its own.
            () => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Algorithm, Config, Next, RateControl};
    use crate::packet::{Kind, RadioId};
    use crate::rng::{Purpose, Stream};
    use crate::unit::{Span, Time};
    use crate::wlan::{self, Mode, Timing, ppdu};

    pub(super) const PEER: RadioId = RadioId(7);

    pub(super) fn control(algorithm: Algorithm, streams: u32) -> RateControl {
        let ppdu = ppdu::Config { format: ppdu::Format::HtMixed, ..ppdu::Config::default() };
        let like = ppdu.mode(7, streams);
        let timing = Timing::new(&wlan::Config { ppdu, ..wlan::Config::default() });
        let cfg = Config { algorithm, ..Config::default() };
        let rng = Stream::new(1, Purpose::RateControl, 0);
        *RateControl::new(&cfg, like, &timing, |_, _| 0.0, rng).expect("not fixed")
    }

    /// MCS over all streams.
    fn mcs(mode: Mode) -> u8 {
        mode.mcs() + 8 * (mode.streams() - 1)
    }

    /// Sends an aggregate of up to `most` MPDUs until it is answered, of which as many arrive as `arrive` says. Returns
    /// each attempt: MCS, MPDUs, and if RTS comes first.
    pub(super) fn send(
        c: &mut RateControl,
        most: usize,
        at: Time,
        arrive: impl Fn(u8) -> usize,
    ) -> Vec<(u8, usize, bool)> {
        let mut all = vec![];
        loop {
            let mcs = mcs(c.begin(PEER, Kind::Data, 1538, at));
            let mpdus = c.limits().0.min(most);
            all.push((mcs, mpdus, c.falls_back()));
            c.fills(mpdus);
            c.sent();
            let arrived = arrive(mcs).min(mpdus);
            if arrived > 0 {
                c.answered(arrived, at);
                return all;
            }
            if c.failed(at) == Next::End {
                return all;
            }
        }
    }

    /// Sends an aggregate of up to 16 MPDUs every 2 ms, and returns the attempts of each aggregate.
    pub(super) fn run(
        c: &mut RateControl,
        from: u64,
        ms: u64,
        arrive: impl Fn(u8) -> usize,
    ) -> Vec<Vec<(u8, usize, bool)>> {
        (from..from + ms).step_by(2).map(|i| send(c, 16, Time::ZERO + Span::ms(i), &arrive)).collect()
    }

    #[test]
    fn begins_at_the_lowest_rate_and_climbs() {
        let mut c = control(Algorithm::MinstrelHt, 1);
        let all = run(&mut c, 0, 1000, |_| 16);
        let reached: Vec<u8> = all.iter().filter(|a| a[0].1 > 1).map(|a| a[0].0).collect();
        assert_eq!(reached[0], 0);
        assert!(reached.windows(2).all(|w| w[0] <= w[1]), "{reached:?}");
        let at_the_top = reached.iter().position(|&mcs| mcs == 7).expect("the fastest rate is reached");
        assert!(at_the_top < 250, "after {at_the_top} aggregates");
    }

    #[test]
    fn samples_are_single_mpdus_at_most_every_20_ms() {
        let mut c = control(Algorithm::MinstrelHt, 1);
        // MCS 4 and above lose everything: they are tried again and again.
        let all = run(&mut c, 0, 20_000, |mcs| if mcs < 4 { 16 } else { 0 });
        let tail = &all[1000..];
        let sampled: Vec<usize> = (0..tail.len()).filter(|&i| tail[i][0].1 == 1).collect();
        assert!(sampled.iter().all(|&i| tail[i].iter().all(|attempt| attempt.1 == 1)), "no attempt has more MPDUs");
        assert!(sampled.windows(2).all(|w| w[1] - w[0] >= 5), "10 ms, for the update between begins anew");
        assert!((100..1000).contains(&sampled.len()), "{} in 18 s", sampled.len());
        let lost = tail.iter().filter(|a| a[0].0 >= 4 && a[0].1 > 1).count();
        assert_eq!(lost, 0, "aggregates at a rate that loses all");
        // A failed sample is one attempt, and then the second rate of the chain, after RTS.
        let failed = tail.iter().find(|a| a[0].0 >= 4).expect("a sample has failed");
        assert!(failed.len() == 2 && failed[1].2, "{failed:?}");
    }

    #[test]
    fn a_lost_aggregate_goes_through_the_chain() {
        let mut c = control(Algorithm::MinstrelHt, 1);
        run(&mut c, 0, 5000, |mcs| if mcs < 4 { 16 } else { 0 });
        let lost = (0..20).map(|i| send(&mut c, 16, Time::ZERO + Span::ms(5000) + Span::us(i), |_| 0));
        let lost = lost.into_iter().find(|a| a[0].1 > 1).expect("it is no sample");
        // At MCS 3, 2 and 1 with 370, 493 and 739 us for each of 16 MPDUs: two attempts each, and two at the surest
        // rate, MCS 3; RTS before all but the first two.
        let wanted = [(3, false), (3, false), (2, true), (2, true), (1, true), (1, true), (3, true), (3, true)];
        assert_eq!(lost, wanted.map(|(mcs, rts)| (mcs, 16, rts)));
    }

    #[test]
    fn a_requested_answer_ends_the_chain() {
        let mut c = control(Algorithm::MinstrelHt, 1);
        run(&mut c, 0, 5000, |_| 16);
        let at = Time::ZERO + Span::ms(6000);
        for listed in [0, 3] {
            c.begin(PEER, Kind::Data, 1538, at);
            c.fills(16);
            c.sent();
            c.failed(at);
            c.failed(at);
            c.listed(PEER, listed, at);
            c.begin(PEER, Kind::Data, 1538, at);
            assert_eq!(c.falls_back(), listed == 0, "{listed} MPDUs have arrived");
            c.answered(16, at);
        }
    }

    #[test]
    fn two_streams_that_die_suddenly_give_way_before_the_update() {
        let mut c = control(Algorithm::MinstrelHt, 2);
        let all = run(&mut c, 0, 5000, |_| 16);
        assert_eq!(all.last().expect("sent")[0].0, 15);
        // 32 MPDUs are lost within a millisecond.
        let all: Vec<_> = (0..6)
            .map(|i| send(&mut c, 16, Time::ZERO + Span::ms(5000) + Span::us(i), |mcs| if mcs < 8 { 16 } else { 0 }))
            .collect();
        assert_eq!(all.last().expect("sent")[0].0, 7, "{all:?}");
    }

    #[test]
    fn slow_and_poor_rates_have_small_amsdus() {
        for (fastest, percent, wanted) in
            [(0, 100, 500), (1, 100, 1600), (3, 100, 3200), (7, 70, 3200), (7, 100, u32::MAX), (7, 0, 0)]
        {
            let mut c = control(Algorithm::MinstrelHt, 1);
            run(&mut c, 0, 20_000, |mcs| if mcs <= fastest { 16 * percent / 100 } else { 0 });
            c.begin(PEER, Kind::Data, 1538, Time::ZERO + Span::ms(20_000));
            assert_eq!(c.limits().1, wanted, "MCS {fastest}, {percent} %");
        }
    }
}
