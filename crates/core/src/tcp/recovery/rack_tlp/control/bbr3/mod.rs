//! BBR, version 3 (draft-ietf-ccwg-bbr-06): rate and window follow the largest delivery rate and the smallest round-trip
//! time, within limits that losses set. Names are those of the draft; volumes are in segments, rates in segments/s.
//!
//! The draft leaves three points open. Here the gains of ProbeBW are those of its table, `probe_rtt_min_delay` begins
//! without a value, and an echoed mark (RFC 3168) counts as a loss: two rounds in a row with such a mark end Startup.

mod cycle;
mod model;
#[cfg(test)]
mod tests;

use super::bbr::BbrInput;
use super::interface::Window;
use crate::packet::Seq;
use crate::rng::Stream;
use crate::tcp::recovery::rack_tlp::queue::Mark;
use crate::tcp::recovery::rack_tlp::sending::pacing::Pacing;
use crate::tcp::recovery::rack_tlp::state::State;
use crate::tcp::recovery::view::BbrState;
use crate::unit::{Span, Time};
use cycle::Cycle;
use model::Model;

const STARTUP_PACING_GAIN: f64 = 2.77;
const DRAIN_PACING_GAIN: f64 = 0.5;
const DEFAULT_CWND_GAIN: f64 = 2.0;
const PROBE_RTT_CWND_GAIN: f64 = 0.5;
const PROBE_RTT_DURATION: Span = Span::ms(200);
const MIN_PIPE_CWND: f64 = 4.0;
/// BBR.PacingMarginPercent = 1.
const PACING_MARGIN: f64 = 0.99;
/// BBR.Beta.
const BETA: f64 = 0.7;
/// BBR.LossThresh.
const LOSS_THRESH: f64 = 0.02;
/// BBR.StartupFullLossCnt: discontiguous losses in a round that may end Startup.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds of Drain after which it ends.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds in a row with an echoed mark that end Startup.
const STARTUP_ECHO_ROUNDS: u32 = 2;
/// Largest send quantum \[B\].
const MOST_QUANTUM: f64 = 65_536.0;

/// Information that an acknowledgement gives to BBR version 3.
pub(in crate::tcp) struct Bbr3Input<'a> {
    /// Information that version 1 gets, too.
    pub ack: BbrInput<'a>,
    /// C.lost: segments marked lost since the beginning.
    pub lost: u64,
    /// Segments newly lost, the last of C.lost, with their state when they were sent.
    pub lost_segments: &'a [(Seq, Mark)],
    /// C.is_cwnd_limited.
    pub cwnd_limited: bool,
    /// C.has_selective_acks.
    pub sack: bool,
}

/// Limits and state before a loss, for the case that the loss proves to be none.
#[derive(Clone, Copy, Debug, Default)]
struct Undo {
    /// State that the loss has ended.
    state: Option<BbrState>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
}

/// State of BBR version 3.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Bbr3 {
    pub state: BbrState,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// C.cwnd, of which [`Window`] has the whole segments.
    cwnd: f64,
    prior_cwnd: f64,
    initial_cwnd: f64,
    /// C.pacing_rate.
    pacing_rate: f64,
    send_quantum: f64,
    model: Model,
    cycle: Cycle,
    drain_start_round: u64,
    full_bw_reached: bool,
    full_bw_now: bool,
    full_bw: f64,
    full_bw_count: u32,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// A mark has been echoed since the last acknowledgement, or in this round; rounds in a row with one.
    echoed: bool,
    echoed_in_round: bool,
    echo_rounds: u32,
    was: State,
    undo: Undo,
    /// Random numbers of the time between probes; without any, it has its mean.
    random: Option<Stream>,
}

impl Bbr3 {
    /// BBR without a sample so far.
    pub fn new() -> Bbr3 {
        Bbr3 {
            state: BbrState::Startup,
            pacing_gain: STARTUP_PACING_GAIN,
            cwnd_gain: DEFAULT_CWND_GAIN,
            cwnd: 0.0,
            prior_cwnd: 0.0,
            initial_cwnd: 0.0,
            pacing_rate: 0.0,
            send_quantum: 2.0,
            model: Model::default(),
            cycle: Cycle::default(),
            drain_start_round: 0,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            echoed: false,
            echoed_in_round: false,
            echo_rounds: 0,
            was: State::Open,
            undo: Undo::default(),
            random: None,
        }
    }

    /// Draws the time between probes from this stream.
    pub fn draw_from(&mut self, stream: Stream) {
        self.random = Some(stream);
    }

    /// Begins with the round-trip time of the SYN (OnInit).
    pub fn start(&mut self, now: Time, rtt: Option<Span>, delivered: u64, cwnd: u32, mss: u32, pacing: &mut Pacing) {
        self.cwnd = f64::from(cwnd);
        self.initial_cwnd = self.cwnd;
        self.model.start(now, rtt, delivered);
        self.pacing_rate = STARTUP_PACING_GAIN * self.cwnd / rtt.unwrap_or(Span::ms(1)).max(Span::us(1)).as_secs();
        self.hand_over_rate(mss, pacing);
    }

    /// pacing_gain.
    pub fn gain(&self) -> f64 {
        self.pacing_gain
    }

    fn is_recovering(state: State) -> bool {
        matches!(state, State::Recovery | State::Loss)
    }

    /// Keeps the window, to return to it (SaveCwnd).
    pub fn save_cwnd(&mut self, cwnd: u32) {
        self.take_window(cwnd);
        let keeps = Self::is_recovering(self.was) || self.state == BbrState::ProbeRtt;
        self.prior_cwnd = if keeps { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// A command or a timeout may have changed the window.
    fn take_window(&mut self, cwnd: u32) {
        if self.cwnd as u32 != cwnd {
            self.cwnd = f64::from(cwnd);
        }
    }

    /// The retransmission timer expires (OnEnterRTO).
    pub fn on_timeout(&mut self) {
        self.was = State::Loss;
        self.save_state();
    }

    /// The receiver has echoed a mark.
    pub fn on_echo(&mut self) {
        self.echoed = true;
    }

    /// SaveStateUponLoss.
    fn save_state(&mut self) {
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// A recovery was spurious (HandleSpuriousLossDetection).
    pub fn on_undo(&mut self, delivered: u64, w: &mut Window) {
        self.take_window(w.cwnd);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_full_bw();
        let m = &mut self.model;
        m.loss_in_round = false;
        m.bw_shortterm = m.bw_shortterm.max(self.undo.bw_shortterm);
        m.inflight_shortterm = m.inflight_shortterm.max(self.undo.inflight_shortterm);
        m.inflight_longterm = m.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.state.take() {
            Some(BbrState::Startup) if self.state != BbrState::Startup => {
                self.full_bw_reached = false;
                if self.state != BbrState::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(BbrState::ProbeBwUp) if !matches!(self.state, BbrState::ProbeBwUp | BbrState::ProbeRtt) => {
                self.start_refill(delivered);
            }
            _ => {}
        }
        w.cwnd = (self.cwnd as u32).min(w.clamp);
    }

    /// Sending resumes after an idle time (HandleRestartFromIdle).
    pub fn on_resume(&mut self, now: Time, delivered: u64, mss: u32, w: &mut Window, pacing: &mut Pacing) {
        self.idle_restart = true;
        self.model.restart_aggregation(now);
        if self.is_in_probe_bw() {
            self.set_pacing_rate(1.0);
            self.hand_over_rate(mss, pacing);
        } else if self.state == BbrState::ProbeRtt {
            self.take_window(w.cwnd);
            self.check_probe_rtt_done(now, delivered);
            w.cwnd = (self.cwnd as u32).min(w.clamp);
        }
    }

    /// Sets rate and window after an acknowledgement (UpdateOnACK).
    pub fn on_ack(&mut self, input: &Bbr3Input, w: &mut Window, pacing: &mut Pacing, limit: &mut bool) {
        self.take_window(w.cwnd);
        let ack = &input.ack;
        self.model.events_in_round += discontiguous(input.lost_segments);
        let first = input.lost - input.lost_segments.len() as u64;
        for (lost, (_, mark)) in (first + 1..).zip(input.lost_segments) {
            self.handle_lost(mark, lost, input);
        }
        if Self::is_recovering(self.was) && !Self::is_recovering(ack.state) {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.was = ack.state;
        if ack.sample.prior.is_some() {
            self.update_model(input, limit);
        }
        self.idle_restart &= ack.delivered.1 == 0;
        self.set_pacing_rate(self.pacing_gain);
        self.hand_over_rate(ack.mss, pacing);
        let quantum = (self.pacing_rate * 1e-3).min(MOST_QUANTUM / f64::from(ack.mss));
        self.send_quantum = quantum.max(2.0);
        self.set_cwnd(ack);
        self.cwnd = self.cwnd.min(f64::from(w.clamp));
        w.cwnd = self.cwnd as u32;
    }

    /// UpdateModelAndState.
    fn update_model(&mut self, input: &Bbr3Input, limit: &mut bool) {
        if std::mem::take(&mut self.echoed) {
            self.note_loss(input.ack.delivered.0);
            self.echoed_in_round = true;
            if self.cycle.is_bw_probe_sample {
                let limited = input.ack.sample.is_app_limited();
                self.lower_longterm(input.ack.sample.tx_in_flight(), limited, input);
            }
        }
        let sample = self.model.take_sample(input);
        if self.model.round_start {
            self.cycle.rounds_since_probe_up += 1;
        }
        let probing = matches!(self.state, BbrState::Startup | BbrState::ProbeBwRefill | BbrState::ProbeBwUp);
        self.model.adapt_shortterm(probing, self.cwnd);
        self.model.update_aggregation(input, self.cwnd, self.full_bw_reached);
        self.check_full_bw_reached(&sample);
        self.check_startup_done(input, &sample);
        self.check_drain_done(input);
        self.update_cycle(input, &sample);
        self.update_probe_rtt(input, limit);
        self.model.advance(&sample);
    }

    // ---- Startup, Drain ----

    fn enter_startup(&mut self) {
        self.state = BbrState::Startup;
        self.pacing_gain = STARTUP_PACING_GAIN;
        self.cwnd_gain = DEFAULT_CWND_GAIN;
    }

    fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// CheckFullBWReached.
    fn check_full_bw_reached(&mut self, sample: &model::Sample) {
        if self.full_bw_now || !self.model.round_start || sample.app_limited {
            return;
        }
        if sample.rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = sample.rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone, with CheckStartupHighLoss.
    fn check_startup_done(&mut self, input: &Bbr3Input, sample: &model::Sample) {
        if self.state == BbrState::Startup && !self.full_bw_reached && self.is_loss_high(input, sample) {
            self.undo.state = Some(BbrState::Startup);
            self.full_bw_reached = true;
            self.model.inflight_longterm = self.model.bdp().max(self.model.inflight_latest);
        }
        if self.model.loss_round_start {
            self.model.events_in_round = 0;
        }
        if self.state == BbrState::Startup && self.full_bw_reached {
            self.state = BbrState::Drain;
            self.pacing_gain = DRAIN_PACING_GAIN;
            self.cwnd_gain = DEFAULT_CWND_GAIN;
            self.drain_start_round = self.model.round;
        }
    }

    /// Returns true if losses or marks show that the pipe is full.
    fn is_loss_high(&mut self, input: &Bbr3Input, sample: &model::Sample) -> bool {
        if self.model.round_start {
            let echoed = std::mem::take(&mut self.echoed_in_round);
            self.echo_rounds = if echoed { self.echo_rounds + 1 } else { 0 };
        }
        if self.echo_rounds >= STARTUP_ECHO_ROUNDS {
            return true;
        }
        if !input.sack {
            return !input.lost_segments.is_empty();
        }
        self.model.loss_round_start
            && Self::is_recovering(input.ack.state)
            && self.model.events_in_round >= STARTUP_FULL_LOSS_COUNT
            && is_too_high(sample.lost, sample.tx_in_flight, input.sack)
    }

    /// CheckDrainDone.
    fn check_drain_done(&mut self, input: &Bbr3Input) {
        let (_, in_flight) = input.ack.in_flight;
        if self.state == BbrState::Drain
            && (f64::from(in_flight) <= self.inflight(self.model.bw, 1.0)
                || self.model.round > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(input.ack.now, input.ack.delivered.0);
        }
    }

    // ---- ProbeRTT ----

    /// UpdateMinRTT and CheckProbeRTT.
    fn update_probe_rtt(&mut self, input: &Bbr3Input, limit: &mut bool) {
        let (now, delivered) = (input.ack.now, input.ack.delivered.0);
        let expired = self.model.update_min_rtt(now, input.ack.rtt);
        if self.state != BbrState::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd(self.cwnd as u32);
            self.state = BbrState::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = PROBE_RTT_CWND_GAIN;
            self.probe_rtt_done = None;
            self.stop_probing(delivered);
        }
        if self.state != BbrState::ProbeRtt {
            return;
        }
        *limit = true;
        if self.probe_rtt_done.is_none() {
            if f64::from(input.ack.in_flight.1) <= self.probe_rtt_cwnd() {
                self.probe_rtt_done = Some(now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.model.start_round(delivered);
            }
        } else {
            self.probe_rtt_round_done |= self.model.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now, delivered);
            }
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT.
    fn check_probe_rtt_done(&mut self, now: Time, delivered: u64) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.model.schedule_probe_rtt(now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.model.reset_shortterm();
        if self.full_bw_reached {
            self.start_down(now, delivered);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.model.bw, PROBE_RTT_CWND_GAIN).max(MIN_PIPE_CWND)
    }

    // ---- losses ----

    /// NoteLoss.
    fn note_loss(&mut self, delivered: u64) {
        if !self.model.loss_in_round {
            self.model.loss_round_delivered = delivered;
            self.save_state();
        }
        self.model.loss_in_round = true;
    }

    /// HandleLostPacket; `lost`: C.lost with this segment.
    fn handle_lost(&mut self, segment: &Mark, lost: u64, input: &Bbr3Input) {
        self.note_loss(input.ack.delivered.0);
        let lost = segment.lost_since(lost);
        let tx_in_flight = f64::from(segment.in_flight);
        if self.cycle.is_bw_probe_sample && is_too_high(lost, tx_in_flight, input.sack) {
            let at_loss = inflight_at_loss(tx_in_flight, lost);
            self.lower_longterm(at_loss, segment.app_limited, input);
        }
    }

    // ---- control parameters ----

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * PACING_MARGIN;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn hand_over_rate(&self, mss: u32, pacing: &mut Pacing) {
        pacing.rate = (self.pacing_rate * f64::from(mss)) as u64;
    }

    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        self.model.min_rtt_us.map_or(self.initial_cwnd, |us| gain * bw * us as f64 / 1e6)
    }

    /// QuantizationBudget of TCP.
    fn with_budget(&self, segments: f64) -> f64 {
        let most = segments.max(3.0 * self.send_quantum).max(MIN_PIPE_CWND);
        if self.state == BbrState::ProbeBwUp { most + 2.0 } else { most }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(bw, gain))
    }

    /// SetCwnd.
    fn set_cwnd(&mut self, ack: &BbrInput) {
        let newly = f64::from(ack.delivered.1);
        let most = self.bdp_multiple(self.model.bw, self.cwnd_gain) + self.model.extra_acked.max();
        let max_inflight = self.with_budget(most);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + newly).min(max_inflight);
        } else if self.cwnd < max_inflight || (ack.delivered.0 as f64) < self.initial_cwnd {
            self.cwnd += newly;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        if self.state == BbrState::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.cap());
    }

    /// Limit of the window by losses (BoundCwndForModel).
    fn cap(&self) -> f64 {
        let longterm = match self.state {
            BbrState::ProbeBwDown | BbrState::ProbeBwRefill | BbrState::ProbeBwUp => self.model.inflight_longterm,
            BbrState::ProbeBwCruise | BbrState::ProbeRtt => self.model.inflight_with_headroom(),
            _ => f64::INFINITY,
        };
        longterm.min(self.model.inflight_shortterm).max(MIN_PIPE_CWND)
    }
}

/// Returns true if so many losses since a segment was sent say that too much was in flight (IsInflightTooHigh).
fn is_too_high(lost: f64, tx_in_flight: f64, sack: bool) -> bool {
    lost > tx_in_flight * LOSS_THRESH || (lost > 0.0 && !sack)
}

/// Segments in flight at which losses crossed the threshold (InflightAtLoss).
fn inflight_at_loss(tx_in_flight: f64, lost: f64) -> f64 {
    let (inflight_prev, lost_prev) = (tx_in_flight - 1.0, lost - 1.0);
    inflight_prev + (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH)
}

/// Number of ranges that lost segments form.
fn discontiguous(lost: &[(Seq, Mark)]) -> u32 {
    let breaks = lost.windows(2).filter(|pair| pair[0].0.wrapping_add(1) != pair[1].0).count();
    breaks as u32 + u32::from(!lost.is_empty())
}
