//! The cycle of ProbeBW: DOWN, CRUISE, REFILL, UP, and the long-term limit of what is in flight.

use super::model::Sample;
use super::{BETA, Bbr3, Bbr3Input, DEFAULT_CWND_GAIN, is_too_high};
use crate::tcp::recovery::view::BbrState;
use crate::unit::{Span, Time};

const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
const UP_CWND_GAIN: f64 = 2.25;
/// T_reno_bound: rounds after which bandwidth is probed at the latest.
const MOST_ROUNDS: f64 = 63.0;

/// BBR.ack_phase: what the acknowledgements of now say about a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of the cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// The samples of now come from a probe that has not been answered.
    pub is_bw_probe_sample: bool,
    pub rounds_since_probe_up: u32,
    bw_probe_wait: Span,
    cycle_stamp: Time,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: f64,
    /// Acknowledged segments for which the long-term limit grows by one.
    probe_up_acked_per_inc: f64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
}

impl Bbr3 {
    pub(super) fn is_in_probe_bw(&self) -> bool {
        use BbrState::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(self.state, ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp)
    }

    fn enter(&mut self, state: BbrState, pacing_gain: f64, cwnd_gain: f64) {
        self.state = state;
        self.pacing_gain = pacing_gain;
        self.cwnd_gain = cwnd_gain;
    }

    /// The acknowledgements of the next round are the last ones of a probe.
    pub(super) fn stop_probing(&mut self, delivered: u64) {
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.model.start_round(delivered);
    }

    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.model.reset_signals();
        self.cycle.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle.cycle_stamp = now;
        self.stop_probing(delivered);
        self.enter(BbrState::ProbeBwDown, DOWN_PACING_GAIN, DEFAULT_CWND_GAIN);
    }

    /// PickProbeWait.
    fn pick_probe_wait(&mut self) {
        let (rounds, share) = match &mut self.random {
            Some(random) => (u32::from(random.uniform() < 0.5), random.uniform()),
            None => (0, 0.5),
        };
        self.cycle.rounds_since_probe_up = rounds;
        self.cycle.bw_probe_wait = Span::secs(2) + Span((share * 1e9) as u64);
    }

    /// StartProbeBW_CRUISE.
    pub(super) fn start_cruise(&mut self) {
        self.enter(BbrState::ProbeBwCruise, 1.0, DEFAULT_CWND_GAIN);
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self, delivered: u64) {
        self.model.reset_shortterm();
        self.cycle.bw_probe_up_rounds = 0;
        self.cycle.bw_probe_up_acked = 0.0;
        self.cycle.prev_probe_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.model.start_round(delivered);
        self.enter(BbrState::ProbeBwRefill, 1.0, DEFAULT_CWND_GAIN);
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, delivered: u64, sample: &Sample) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.model.start_round(delivered);
        self.reset_full_bw();
        self.full_bw = sample.rate;
        self.enter(BbrState::ProbeBwUp, UP_PACING_GAIN, UP_CWND_GAIN);
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, input: &Bbr3Input, sample: &Sample) {
        if !self.full_bw_reached || self.adapt_longterm(input, sample) || !self.is_in_probe_bw() {
            return;
        }
        let (now, delivered) = (input.ack.now, input.ack.delivered.0);
        let state = self.state;
        match state {
            BbrState::ProbeBwDown | BbrState::ProbeBwCruise if self.is_time_to_probe(now) => {
                self.start_refill(delivered);
            }
            BbrState::ProbeBwDown if self.is_time_to_cruise(input) => self.start_cruise(),
            BbrState::ProbeBwRefill if self.model.round_start => {
                self.cycle.is_bw_probe_sample = true;
                self.start_up(delivered, sample);
            }
            BbrState::ProbeBwUp if self.is_time_to_go_down(input, sample) => {
                self.cycle.prev_probe_too_high = false;
                self.start_down(now, delivered);
            }
            _ => {}
        }
    }

    /// TargetInflight.
    fn target_inflight(&self) -> f64 {
        self.model.bdp().min(self.cwnd)
    }

    /// IsTimeToProbeBW.
    fn is_time_to_probe(&self, now: Time) -> bool {
        now > self.cycle.cycle_stamp + self.cycle.bw_probe_wait
            || f64::from(self.cycle.rounds_since_probe_up) >= self.target_inflight().min(MOST_ROUNDS)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, input: &Bbr3Input) -> bool {
        let in_flight = f64::from(input.ack.in_flight.1);
        in_flight <= self.model.inflight_with_headroom() && in_flight <= self.inflight(self.model.max_bw(), 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, input: &Bbr3Input, sample: &Sample) -> bool {
        let longterm = self.model.inflight_longterm;
        if self.cycle.prev_probe_too_high && f64::from(input.ack.in_flight.1) >= longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if input.cwnd_limited && self.cwnd >= longterm {
            self.reset_full_bw();
            self.full_bw = sample.rate;
            return false;
        }
        self.full_bw_now
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.cycle.bw_probe_up_rounds);
        self.cycle.bw_probe_up_rounds = (self.cycle.bw_probe_up_rounds + 1).min(30);
        self.cycle.probe_up_acked_per_inc = (self.cwnd / growth).max(1.0);
    }

    /// ProbeInflightLongtermUpward.
    fn raise_longterm(&mut self, input: &Bbr3Input) {
        if !input.cwnd_limited || self.cwnd < self.model.inflight_longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.bw_probe_up_acked += f64::from(input.ack.delivered.1);
        if cycle.bw_probe_up_acked >= cycle.probe_up_acked_per_inc {
            let delta = (cycle.bw_probe_up_acked / cycle.probe_up_acked_per_inc).floor();
            cycle.bw_probe_up_acked -= delta * cycle.probe_up_acked_per_inc;
            self.model.inflight_longterm += delta;
        }
        if self.model.round_start {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel. Returns true if it has changed the state.
    fn adapt_longterm(&mut self, input: &Bbr3Input, sample: &Sample) -> bool {
        let round_start = self.model.round_start;
        if self.cycle.ack_phase == AckPhase::ProbeStarting && round_start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && round_start {
            self.cycle.is_bw_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !sample.app_limited {
                self.model.advance_cycle();
            }
            if self.is_in_probe_bw() && self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high {
                self.start_refill(input.ack.delivered.0);
                return true;
            }
        }
        if !is_too_high(sample.lost, sample.tx_in_flight, input.sack) && self.model.inflight_longterm < f64::INFINITY {
            self.model.inflight_longterm = self.model.inflight_longterm.max(sample.tx_in_flight);
            if self.state == BbrState::ProbeBwUp {
                self.raise_longterm(input);
            }
        }
        false
    }

    /// HandleInflightTooHigh.
    pub(super) fn lower_longterm(&mut self, tx_in_flight: f64, app_limited: bool, input: &Bbr3Input) {
        self.cycle.prev_probe_too_high = true;
        self.cycle.is_bw_probe_sample = false;
        if !app_limited {
            self.model.inflight_longterm = tx_in_flight.max(self.target_inflight() * BETA);
        }
        if self.state == BbrState::ProbeBwUp {
            self.undo.state = Some(BbrState::ProbeBwUp);
            self.start_down(input.ack.now, input.ack.delivered.0);
        }
    }
}
