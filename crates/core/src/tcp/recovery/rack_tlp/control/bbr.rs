//! BBR, version 1 (Cardwell et al., "BBR: Congestion-based congestion control", ACM Queue 2016; draft-cardwell-iccrg-
//! bbr-congestion-control-00): the rate follows the largest delivery rate of the last ten round trips, the window that
//! rate times the smallest round-trip time of the last ten seconds.

use super::interface::Window;
use crate::tcp::recovery::rack_tlp::rate::Sample;
use crate::tcp::recovery::rack_tlp::sending::pacing::Pacing;
use crate::tcp::recovery::rack_tlp::state::State;
use crate::tcp::recovery::view::BbrState;
use crate::unit::{Span, Time};
use std::collections::VecDeque;

/// Fraction bits of rates \[segments/µs\].
const RATE_BITS: u32 = 24;

/// Gains are in units of 1/256.
const UNIT: u64 = 256;
/// 2/ln 2, rounded up.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const CWND_GAIN: u64 = 2 * UNIT;
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

/// Round trips of the filter of delivery rates.
const RATE_ROUNDS: u64 = 10;
const MIN_RTT_WINDOW: Span = Span::secs(10);
const PROBE_RTT_TIME: Span = Span::ms(200);
const MIN_CWND: u32 = 4;
/// Round trips without growth by a quarter after which the pipe is full.
const FULL_ROUNDS: u32 = 3;
/// Round trips of each of the two filters of aggregated acknowledgements.
const AGGREGATION_ROUNDS: u32 = 5;
const AGGREGATION_TIME: u64 = 100_000;

/// Information that an acknowledgement gives to BBR.
pub(in crate::tcp) struct BbrInput<'a> {
    pub now: Time,
    pub sample: &'a Sample,
    /// Segments delivered since the beginning, and newly.
    pub delivered: (u64, u32),
    /// Segments newly lost.
    pub losses: u32,
    pub rtt: Option<Span>,
    /// Segments in the network before the acknowledgement, and after.
    pub in_flight: (u32, u32),
    pub state: State,
    /// Payload of a segment \[B\].
    pub mss: u32,
}

/// State of BBR.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Bbr {
    pub mode: BbrState,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// Delivery rates with their rounds, falling.
    rates: VecDeque<(u64, u64)>,
    round: u64,
    round_start: bool,
    next_round: u64,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    full_rate: u64,
    full_rounds: u32,
    full: bool,
    phase: usize,
    phase_start: Time,
    prior_cwnd: u32,
    was: State,
    conserves: bool,
    probe_rtt_end: Option<Time>,
    probe_rtt_round: bool,
    idle_restart: bool,
    epoch: (Time, u64),
    extra: [u64; 2],
    extra_index: usize,
    extra_rounds: u32,
    segment_goal: u32,
}

impl Bbr {
    /// BBR without a sample so far.
    pub fn new() -> Bbr {
        Bbr {
            mode: BbrState::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            rates: VecDeque::with_capacity(16),
            round: 0,
            round_start: false,
            next_round: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            full_rate: 0,
            full_rounds: 0,
            full: false,
            phase: 0,
            phase_start: Time::ZERO,
            prior_cwnd: 0,
            was: State::Open,
            conserves: false,
            probe_rtt_end: None,
            probe_rtt_round: false,
            idle_restart: false,
            epoch: (Time::ZERO, 0),
            extra: [0; 2],
            extra_index: 0,
            extra_rounds: 0,
            segment_goal: 2,
        }
    }

    /// Begins with the round-trip time of the SYN.
    pub fn start(&mut self, now: Time, rtt: Option<Span>, delivered: u64, cwnd: u32, bytes: u32, pacing: &mut Pacing) {
        self.min_rtt = rtt;
        self.min_rtt_at = now;
        self.next_round = delivered;
        self.epoch.0 = now;
        let us = rtt.unwrap_or(Span::ms(1)).0 / 1000;
        pacing.rate = rate_in_bytes((u64::from(cwnd) << RATE_BITS) / us.max(1), HIGH_GAIN, bytes);
    }

    fn max_rate(&self) -> u64 {
        self.rates.front().map_or(0, |r| r.1)
    }

    /// pacing_gain.
    pub fn gain(&self) -> f64 {
        self.pacing_gain as f64 / UNIT as f64
    }

    /// Keeps the window, to return to it.
    pub fn save_cwnd(&mut self, cwnd: u32) {
        let recovering = matches!(self.was, State::Recovery | State::Loss);
        self.prior_cwnd = if !recovering && self.mode != BbrState::ProbeRtt { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// The retransmission timer expires.
    pub fn on_timeout(&mut self) {
        self.was = State::Loss;
        self.full_rate = 0;
        self.round_start = true;
    }

    /// A recovery was spurious: it says nothing about the rate.
    pub fn on_undo(&mut self) {
        self.full_rate = 0;
        self.full_rounds = 0;
    }

    /// Sending resumes after an idle time.
    pub fn on_resume(&mut self, now: Time, bytes: u32, w: &mut Window, pacing: &mut Pacing) {
        self.idle_restart = true;
        self.epoch = (now, 0);
        if self.mode == BbrState::ProbeBw {
            self.pace(UNIT, bytes, pacing);
        } else if self.mode == BbrState::ProbeRtt {
            self.end_probe_rtt(now, w);
        }
    }

    /// Sets rate and window after an acknowledgement.
    pub fn on_ack(&mut self, input: &BbrInput, w: &mut Window, pacing: &mut Pacing, limit: &mut bool) {
        self.update_rate(input);
        self.update_aggregation(input, w.cwnd);
        if self.mode == BbrState::ProbeBw && self.ends_phase(input, pacing) {
            self.next_phase(input.now);
        }
        self.update_full(input.sample.is_app_limited());
        self.update_drain(input, w, pacing);
        self.update_min_rtt(input, w, limit);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            BbrState::Startup => (HIGH_GAIN, HIGH_GAIN),
            BbrState::Drain => (DRAIN_GAIN, HIGH_GAIN),
            BbrState::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            _ => (UNIT, UNIT),
        };
        self.pace(self.pacing_gain, input.mss, pacing);
        let goal = ((pacing.rate >> 10) / u64::from(input.mss)).min(127) as u32;
        self.segment_goal = goal.max(if pacing.rate < 150_000 { 1 } else { 2 });
        self.set_cwnd(input, w);
    }

    fn pace(&self, gain: u64, bytes: u32, pacing: &mut Pacing) {
        let rate = rate_in_bytes(self.max_rate(), gain, bytes);
        if self.full || rate > pacing.rate {
            pacing.rate = rate;
        }
    }

    fn update_rate(&mut self, input: &BbrInput) {
        self.round_start = false;
        let (Some(prior), Some(interval)) = (input.sample.prior, input.sample.interval) else { return };
        if prior.delivered >= self.next_round {
            self.next_round = input.delivered.0;
            self.round += 1;
            self.round_start = true;
            self.conserves = false;
        }
        let rate = (input.sample.delivered << RATE_BITS) / (interval.0 / 1000).max(1);
        if !input.sample.is_app_limited() || rate >= self.max_rate() {
            while self.rates.back().is_some_and(|r| r.1 <= rate) {
                self.rates.pop_back();
            }
            self.rates.push_back((self.round, rate));
        }
        while self.rates.len() > 1 && self.rates.front().is_some_and(|r| self.round - r.0 > RATE_ROUNDS) {
            self.rates.pop_front();
        }
    }

    fn update_aggregation(&mut self, input: &BbrInput, cwnd: u32) {
        if input.delivered.1 == 0 || input.sample.interval.is_none() {
            return;
        }
        if self.round_start {
            self.extra_rounds += 1;
            if self.extra_rounds >= AGGREGATION_ROUNDS {
                self.extra_rounds = 0;
                self.extra_index ^= 1;
                self.extra[self.extra_index] = 0;
            }
        }
        let us = input.now.since(self.epoch.0).0 / 1000;
        let mut expected = (self.max_rate() * us) >> RATE_BITS;
        if self.epoch.1 <= expected {
            self.epoch = (input.now, 0);
            expected = 0;
        }
        self.epoch.1 += u64::from(input.delivered.1);
        let extra = (self.epoch.1 - expected.min(self.epoch.1)).min(u64::from(cwnd));
        let kept = &mut self.extra[self.extra_index];
        *kept = extra.max(*kept);
    }

    /// Segments in the network when the next one may leave.
    fn in_network(&self, in_flight: u32, now: Time, pacing: &Pacing) -> u64 {
        let us = pacing.wait(now).map_or(0, |at| at.since(now).0 / 1000);
        let leaves = (self.max_rate() * us) >> RATE_BITS;
        let more = if self.pacing_gain > UNIT { self.segment_goal } else { 0 };
        u64::from(in_flight + more).saturating_sub(leaves)
    }

    fn ends_phase(&self, input: &BbrInput, pacing: &Pacing) -> bool {
        let long = self.min_rtt.is_none_or(|min| input.now.since(self.phase_start) > min);
        if self.pacing_gain == UNIT {
            return long;
        }
        let in_flight = self.in_network(input.in_flight.0, input.now, pacing);
        if self.pacing_gain > UNIT {
            return long && (input.losses > 0 || in_flight >= self.inflight(self.pacing_gain));
        }
        long || in_flight <= self.inflight(UNIT)
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    fn update_full(&mut self, app_limited: bool) {
        if self.full || !self.round_start || app_limited {
            return;
        }
        if self.max_rate() >= self.full_rate * 5 / 4 {
            self.full_rate = self.max_rate();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn update_drain(&mut self, input: &BbrInput, w: &mut Window, pacing: &Pacing) {
        if self.mode == BbrState::Startup && self.full {
            self.mode = BbrState::Drain;
            w.ssthresh = self.inflight(UNIT) as u32;
        }
        if self.mode == BbrState::Drain && self.in_network(input.in_flight.1, input.now, pacing) <= self.inflight(UNIT)
        {
            self.probe_bw(input.now);
        }
    }

    /// Begins the cycle in a phase drawn from the time, never in the one that drains.
    fn probe_bw(&mut self, now: Time) {
        self.mode = BbrState::ProbeBw;
        let drawn = (now.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 7;
        self.phase = CYCLE.len() - 1 - drawn as usize;
        self.next_phase(now);
    }

    fn update_min_rtt(&mut self, input: &BbrInput, w: &mut Window, limit: &mut bool) {
        let expired = input.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = input.rtt
            && (expired || self.min_rtt.is_none_or(|min| rtt < min))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = input.now;
        }
        if expired && !self.idle_restart && self.mode != BbrState::ProbeRtt {
            self.mode = BbrState::ProbeRtt;
            self.save_cwnd(w.cwnd);
            self.probe_rtt_end = None;
        }
        if self.mode == BbrState::ProbeRtt {
            *limit = true;
            if self.probe_rtt_end.is_none() && input.in_flight.1 <= MIN_CWND {
                self.probe_rtt_end = Some(input.now + PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.next_round = input.delivered.0;
            } else if self.probe_rtt_end.is_some() {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.end_probe_rtt(input.now, w);
                }
            }
        }
        self.idle_restart &= input.delivered.1 == 0;
    }

    fn end_probe_rtt(&mut self, now: Time, w: &mut Window) {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return;
        }
        self.min_rtt_at = now;
        w.cwnd = w.cwnd.max(self.prior_cwnd);
        if self.full {
            self.probe_bw(now);
        } else {
            self.mode = BbrState::Startup;
        }
    }

    /// Rate times smallest round-trip time \[segments\].
    fn bdp(&self, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return 10 };
        ((self.max_rate() * (min_rtt.0 / 1000) * gain) >> 8).div_ceil(1 << RATE_BITS)
    }

    /// Adds the segments needed to keep the pipe full in spite of bursts.
    fn with_budget(&self, segments: u64) -> u64 {
        let even = (segments + 3 * u64::from(self.segment_goal) + 1) & !1;
        if self.mode == BbrState::ProbeBw && self.phase == 0 { even + 2 } else { even }
    }

    fn inflight(&self, gain: u64) -> u64 {
        self.with_budget(self.bdp(gain))
    }

    fn set_cwnd(&mut self, input: &BbrInput, w: &mut Window) {
        let acked = input.delivered.1;
        if acked > 0 {
            w.cwnd = self.next_cwnd(input, w.cwnd).min(w.clamp);
        }
        if self.mode == BbrState::ProbeRtt {
            w.cwnd = w.cwnd.min(MIN_CWND);
        }
    }

    fn next_cwnd(&mut self, input: &BbrInput, mut cwnd: u32) -> u32 {
        let (acked, in_flight) = (input.delivered.1, input.in_flight.1);
        let recovering = |s| matches!(s, State::Recovery | State::Loss);
        if input.losses > 0 {
            cwnd = cwnd.saturating_sub(input.losses).max(1);
        }
        if input.state == State::Recovery && self.was != State::Recovery {
            self.conserves = true;
            self.next_round = input.delivered.0;
            cwnd = in_flight + acked;
        } else if recovering(self.was) && !recovering(input.state) {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.was = input.state;
        if self.conserves {
            return cwnd.max(in_flight + acked);
        }
        let mut target = self.bdp(self.cwnd_gain);
        if self.full {
            let most = (self.max_rate() * AGGREGATION_TIME) >> RATE_BITS;
            target += self.extra[0].max(self.extra[1]).min(most);
        }
        let target = self.with_budget(target).min(u64::from(u32::MAX)) as u32;
        if self.full {
            cwnd = (cwnd + acked).min(target);
        } else if cwnd < target || input.delivered.0 < 10 {
            cwnd += acked;
        }
        cwnd.max(MIN_CWND)
    }
}

/// A rate with a gain, less 1 %, so that no queue is built \[B/s\].
fn rate_in_bytes(rate: u64, gain: u64, bytes: u32) -> u64 {
    let product = u128::from(rate) * u128::from(bytes) * u128::from(gain) * 990_000;
    (product >> (8 + RATE_BITS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::rack_tlp::queue::Mark;

    const RTT: Span = Span::ms(40);

    /// A sender whose acknowledgements each end a round trip.
    struct Flow {
        bbr: Bbr,
        w: Window,
        pacing: Pacing,
        now: Time,
        delivered: u64,
    }

    impl Flow {
        fn new() -> Flow {
            let (mut bbr, mut pacing) = (Bbr::new(), Pacing::default());
            bbr.start(Time::ZERO, Some(RTT), 1, 10, 1448, &mut pacing);
            let w = Window { cwnd: 10, ssthresh: 0, credit: 0, clamp: u32::MAX };
            Flow { bbr, w, pacing, now: Time::ZERO, delivered: 1 }
        }

        /// An acknowledgement after `later`, of segments delivered at this rate \[segments/ms\], with so many in flight.
        fn ack(&mut self, later: Span, per_ms: u64, in_flight: u32) -> (BbrState, u64) {
            self.now += later;
            let newly = per_ms * 40;
            let prior = Mark { delivered: self.delivered, ..Mark::default() };
            self.delivered += newly;
            let sample = Sample { prior: Some(prior), delivered: newly, interval: Some(RTT), ..Sample::default() };
            let input = BbrInput {
                now: self.now,
                sample: &sample,
                delivered: (self.delivered, newly as u32),
                losses: 0,
                rtt: Some(RTT + Span::ms(1)),
                in_flight: (in_flight, in_flight),
                state: State::Open,
                mss: 1448,
            };
            self.bbr.on_ack(&input, &mut self.w, &mut self.pacing, &mut false);
            (self.bbr.mode, self.bbr.pacing_gain)
        }

        /// A flow that has left startup at 10 segments/ms, with an empty queue.
        fn in_probe_bw() -> Flow {
            let mut flow = Flow::new();
            for _ in 0..4 {
                flow.ack(RTT, 10, 1000);
            }
            flow.ack(RTT, 10, 400);
            assert_eq!(flow.bbr.mode, BbrState::ProbeBw);
            flow
        }
    }

    /// Startup ends when in three round trips the rate has not grown by a quarter. Until then rate and window grow by 2/ln 2.
    #[test]
    fn startup_ends_after_three_round_trips_without_growth_by_a_quarter() {
        let mut flow = Flow::new();
        let rates = [8, 16, 32, 40, 49, 49, 61, 61, 61, 76];
        let states = rates.map(|rate| flow.ack(RTT, rate, 5000).0);
        let mut expected = [BbrState::Startup; 10];
        // 49 is less than 1.25 x 40, and 61 is more: the count begins anew; then 61, 61 and 76 are less than 76.25.
        expected[9] = BbrState::Drain;
        assert_eq!(states, expected);
        assert_eq!(HIGH_GAIN as f64 / UNIT as f64, (2.0 / std::f64::consts::LN_2 * 256.0).ceil() / 256.0);
    }

    /// Drain paces with the inverse of startup's gain until no more than rate times smallest round-trip time is in flight: 400
    /// segments, and three times the three of a burst, rounded up to an even number.
    #[test]
    fn drain_ends_when_the_queue_is_empty() {
        let mut flow = Flow::new();
        for _ in 0..4 {
            flow.ack(RTT, 10, 1000);
        }
        assert_eq!((flow.bbr.mode, flow.bbr.pacing_gain), (BbrState::Drain, 88));
        assert_eq!((flow.bbr.segment_goal, flow.bbr.inflight(UNIT)), (3, 410));
        assert_eq!(flow.ack(RTT, 10, 411).0, BbrState::Drain);
        assert_eq!(flow.ack(RTT, 10, 410).0, BbrState::ProbeBw);
    }

    /// The cycle begins with any gain but 0.75; then 1.25, 0.75 and six times 1 follow each other, a smallest round-trip time
    /// each.
    #[test]
    fn the_cycle_has_eight_gains() {
        let mut flow = Flow::in_probe_bw();
        while flow.bbr.phase != 0 {
            flow.ack(RTT + Span::ms(1), 10, 450);
        }
        // In flight: enough to end the phase of 1.25, and too much to end that of 0.75 early.
        let gains = [0; 16].map(|_| {
            let gain = flow.bbr.pacing_gain;
            flow.ack(RTT + Span::ms(1), 10, 600);
            gain
        });
        let cycle = [320, 192, 256, 256, 256, 256, 256, 256];
        assert_eq!((&gains[..8], &gains[8..]), (&cycle[..], &cycle[..]));
        let first: std::collections::BTreeSet<usize> = (0..100)
            .map(|k| {
                flow.bbr.probe_bw(Time(k * 1_234_567));
                flow.bbr.phase
            })
            .collect();
        assert_eq!(first.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
    }

    /// The phase of 1.25 lasts until 1.25 times the pipe is in flight; that of 0.75 ends early when the queue is empty.
    #[test]
    fn phases_follow_what_is_in_flight() {
        let mut flow = Flow::in_probe_bw();
        while flow.bbr.phase != 0 {
            flow.ack(RTT + Span::ms(1), 10, 450);
        }
        for _ in 0..3 {
            assert_eq!(flow.ack(RTT + Span::ms(1), 10, 450).1, 320, "the pipe is not yet full");
        }
        assert_eq!(flow.ack(Span::ms(1), 10, 600).1, 192);
        assert_eq!(flow.ack(Span::ms(1), 10, 600).1, 192, "the queue is not yet empty");
        assert_eq!(flow.ack(Span::ms(1), 10, 400).1, 256);
        assert_eq!(flow.ack(RTT - Span::ms(1), 10, 400).1, 256);
        assert_eq!(flow.bbr.phase, 2, "less than a round trip");
    }

    /// Ten seconds without a smaller round-trip time: four segments, for 200 ms and a round trip after they are alone in the
    /// network; then the window before.
    #[test]
    fn the_round_trip_time_is_probed_every_ten_seconds() {
        let mut flow = Flow::in_probe_bw();
        while flow.now < Time::ZERO + Span::secs(10) {
            assert_eq!(flow.ack(RTT, 10, 450).0, BbrState::ProbeBw);
        }
        let window = flow.w.cwnd;
        assert_eq!((flow.ack(RTT, 10, 450), flow.w.cwnd), ((BbrState::ProbeRtt, UNIT), 4));
        flow.ack(RTT, 10, 5);
        flow.ack(RTT, 10, 4);
        let alone = flow.now;
        while flow.ack(RTT, 10, 4).0 == BbrState::ProbeRtt {
            assert_eq!(flow.w.cwnd, 4);
        }
        assert_eq!(flow.now.since(alone), Span::ms(240), "the first acknowledgement after 200 ms");
        assert!(flow.w.cwnd >= window, "{} of {window}", flow.w.cwnd);
        let begin = flow.now;
        while flow.ack(RTT, 10, 450).0 == BbrState::ProbeBw {}
        assert_eq!((flow.bbr.mode, flow.now.since(begin)), (BbrState::ProbeRtt, Span::ms(10_040)));
    }
}
