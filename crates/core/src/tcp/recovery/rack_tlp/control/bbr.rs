//! BBR, version 1 (Cardwell et al., "BBR: Congestion-based congestion control", ACM Queue 2016; draft-cardwell-iccrg-
//! bbr-congestion-control-00): the rate follows the largest delivery rate of the last ten round trips, the window that
//! rate times the smallest round-trip time of the last ten seconds.

use super::interface::Window;
use crate::tcp::recovery::rack_tlp::pacing::Pacing;
use crate::tcp::recovery::rack_tlp::rate::Sample;
use crate::tcp::recovery::rack_tlp::state::State;
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

/// Mode of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Mode {
    /// The rate doubles each round trip.
    Startup,
    /// The queue of startup drains.
    Drain,
    /// The rate is probed in cycles of eight phases.
    ProbeBw,
    /// The window is four segments, so that the smallest round-trip time shows.
    ProbeRtt,
}

/// What BBR learns with an acknowledgement.
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
    pub mode: Mode,
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
            mode: Mode::Startup,
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

    /// Keeps the window, to return to it.
    pub fn save_cwnd(&mut self, cwnd: u32) {
        let recovering = matches!(self.was, State::Recovery | State::Loss);
        self.prior_cwnd = if !recovering && self.mode != Mode::ProbeRtt { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// The retransmission timer expires.
    pub fn on_timeout(&mut self) {
        self.was = State::Loss;
        self.full_rate = 0;
        self.round_start = true;
    }

    /// A recovery proves wrong: it told nothing of the rate.
    pub fn on_undo(&mut self) {
        self.full_rate = 0;
        self.full_rounds = 0;
    }

    /// Sending resumes after an idle time.
    pub fn on_resume(&mut self, now: Time, bytes: u32, w: &mut Window, pacing: &mut Pacing) {
        self.idle_restart = true;
        self.epoch = (now, 0);
        if self.mode == Mode::ProbeBw {
            self.pace(UNIT, bytes, pacing);
        } else if self.mode == Mode::ProbeRtt {
            self.end_probe_rtt(now, w);
        }
    }

    /// Sets rate and window after an acknowledgement.
    pub fn on_ack(&mut self, input: &BbrInput, w: &mut Window, pacing: &mut Pacing, limit: &mut bool) {
        self.update_rate(input);
        self.update_aggregation(input, w.cwnd);
        if self.mode == Mode::ProbeBw && self.ends_phase(input, pacing) {
            self.next_phase(input.now);
        }
        self.update_full(input.sample.is_app_limited());
        self.update_drain(input, w, pacing);
        self.update_min_rtt(input, w, limit);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
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
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            w.ssthresh = self.inflight(UNIT) as u32;
        }
        if self.mode == Mode::Drain && self.in_network(input.in_flight.1, input.now, pacing) <= self.inflight(UNIT) {
            self.probe_bw(input.now);
        }
    }

    /// Begins the cycle in a phase drawn from the time, never in the one that drains.
    fn probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
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
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w.cwnd);
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
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
            self.mode = Mode::Startup;
        }
    }

    /// Rate times smallest round-trip time \[segments\].
    fn bdp(&self, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return 10 };
        ((self.max_rate() * (min_rtt.0 / 1000) * gain) >> 8).div_ceil(1 << RATE_BITS)
    }

    /// Adds what is needed to keep the pipe full in spite of bursts.
    fn with_budget(&self, segments: u64) -> u64 {
        let even = (segments + 3 * u64::from(self.segment_goal) + 1) & !1;
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2 } else { even }
    }

    fn inflight(&self, gain: u64) -> u64 {
        self.with_budget(self.bdp(gain))
    }

    fn set_cwnd(&mut self, input: &BbrInput, w: &mut Window) {
        let acked = input.delivered.1;
        if acked > 0 {
            w.cwnd = self.next_cwnd(input, w.cwnd).min(w.clamp);
        }
        if self.mode == Mode::ProbeRtt {
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
