//! Model of the path: largest delivery rate, smallest round-trip time, aggregation of acknowledgements, and the limits
//! that losses set.

use super::{BETA, Bbr3Input, MIN_PIPE_CWND};
use crate::unit::{Span, Time};
use std::collections::VecDeque;

/// BBR.MinRTTFilterLen.
const MIN_RTT_FILTER: Span = Span::secs(10);
/// BBR.ProbeRTTInterval.
const PROBE_RTT_INTERVAL: Span = Span::secs(5);
/// BBR.ExtraAckedFilterLen \[rounds\].
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// BBR.Headroom.
const HEADROOM: f64 = 0.15;

/// The largest of the values of some rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax(VecDeque<(u64, f64)>);

impl WindowedMax {
    /// Takes a value of this round, and forgets those of more than `rounds` rounds before.
    fn take(&mut self, value: f64, round: u64, rounds: u64) {
        while self.0.back().is_some_and(|kept| kept.1 <= value) {
            self.0.pop_back();
        }
        self.0.push_back((round, value));
        while self.0.front().is_some_and(|kept| round - kept.0 > rounds) {
            self.0.pop_front();
        }
    }

    /// The largest value; 0 before one.
    pub fn max(&self) -> f64 {
        self.0.front().map_or(0.0, |kept| kept.1)
    }
}

/// RS: what an acknowledgement says of the delivery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// RS.delivery_rate; 0: it is not valid.
    pub rate: f64,
    /// RS.delivered.
    pub delivered: f64,
    /// RS.tx_in_flight.
    pub tx_in_flight: f64,
    /// RS.lost.
    pub lost: f64,
    /// RS.is_app_limited.
    pub app_limited: bool,
}

/// The model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    // ---- rounds ----
    pub round: u64,
    pub round_start: bool,
    next_round_delivered: u64,
    // ---- rate ----
    /// Largest rates of the last cycle of ProbeBW and of this one.
    max_bws: [f64; 2],
    pub bw: f64,
    pub bw_shortterm: f64,
    bw_latest: f64,
    // ---- volume ----
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
    pub inflight_latest: f64,
    // ---- losses ----
    pub loss_in_round: bool,
    pub loss_round_start: bool,
    pub loss_round_delivered: u64,
    /// Discontiguous losses of the round.
    pub events_in_round: u32,
    // ---- round-trip time ----
    pub min_rtt_us: Option<u64>,
    min_rtt_stamp: Time,
    probe_rtt_min_us: Option<u64>,
    probe_rtt_min_stamp: Time,
    // ---- aggregation ----
    interval_start: Time,
    interval_delivered: f64,
    pub extra_acked: WindowedMax,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            round: 0,
            round_start: false,
            next_round_delivered: 0,
            max_bws: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            inflight_latest: 0.0,
            loss_in_round: false,
            loss_round_start: false,
            loss_round_delivered: 0,
            events_in_round: 0,
            min_rtt_us: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_us: None,
            probe_rtt_min_stamp: Time::ZERO,
            interval_start: Time::ZERO,
            interval_delivered: 0.0,
            extra_acked: WindowedMax::default(),
        }
    }
}

/// A round-trip time \[µs\], rounded so that equal ones of a path stay equal.
fn in_us(rtt: Span) -> u64 {
    (rtt.0 + 500) / 1000
}

impl Model {
    /// Begins with the round-trip time of the SYN.
    pub fn start(&mut self, now: Time, rtt: Option<Span>, delivered: u64) {
        self.min_rtt_us = rtt.map(in_us);
        self.min_rtt_stamp = now;
        self.probe_rtt_min_stamp = now;
        self.interval_start = now;
        self.next_round_delivered = delivered;
    }

    /// BBR.max_bw.
    pub fn max_bw(&self) -> f64 {
        self.max_bws[0].max(self.max_bws[1])
    }

    /// BBR.bdp.
    pub fn bdp(&self) -> f64 {
        self.min_rtt_us.map_or(0.0, |us| self.bw * us as f64 / 1e6)
    }

    /// StartRound.
    pub fn start_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    /// UpdateLatestDeliverySignals and UpdateMaxBw.
    pub fn take_sample(&mut self, input: &Bbr3Input) -> Sample {
        let (ack, seen) = (&input.ack, input.ack.sample);
        let prior = seen.prior.unwrap_or_default();
        let per_second = |interval: Span| seen.delivered as f64 * 1e6 / (interval.0 / 1000).max(1) as f64;
        let sample = Sample {
            rate: seen.interval.map_or(0.0, per_second),
            delivered: seen.delivered as f64,
            tx_in_flight: seen.tx_in_flight(),
            lost: prior.lost_since(input.lost),
            app_limited: prior.app_limited,
        };
        self.bw_latest = self.bw_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        self.loss_round_start = prior.delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = ack.delivered.0;
        }
        self.round_start = prior.delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round(ack.delivered.0);
            self.round += 1;
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_bw() || !sample.app_limited) {
            self.max_bws[1] = self.max_bws[1].max(sample.rate);
        }
        sample
    }

    /// AdvanceMaxBwFilter.
    pub fn advance_cycle(&mut self) {
        if self.max_bws[1] > 0.0 {
            self.max_bws = [self.max_bws[1], 0.0];
        }
    }

    /// At the end of a round with a loss: the limits follow the latest deliveries (AdaptLowerBoundsFromCongestion).
    pub fn adapt_shortterm(&mut self, probing: bool, cwnd: f64) {
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !probing {
            if self.bw_shortterm == f64::INFINITY {
                self.bw_shortterm = self.max_bw();
            }
            if self.inflight_shortterm == f64::INFINITY {
                self.inflight_shortterm = cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
        }
        self.loss_in_round = false;
    }

    /// ResetShortTermModel.
    pub fn reset_shortterm(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    /// ResetCongestionSignals.
    pub fn reset_signals(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// AdvanceLatestDeliverySignals and BoundBWForModel.
    pub fn advance(&mut self, sample: &Sample) {
        if self.loss_round_start {
            self.bw_latest = sample.rate;
            self.inflight_latest = sample.delivered;
        }
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// InflightWithHeadroom.
    pub fn inflight_with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    /// Begins a new interval of aggregation.
    pub fn restart_aggregation(&mut self, now: Time) {
        self.interval_start = now;
    }

    /// UpdateACKAggregation.
    pub fn update_aggregation(&mut self, input: &Bbr3Input, cwnd: f64, full: bool) {
        let now = input.ack.now;
        let mut expected = self.bw * (now.since(self.interval_start).0 / 1000) as f64 / 1e6;
        if self.interval_delivered <= expected {
            self.interval_delivered = 0.0;
            self.interval_start = now;
            expected = 0.0;
        }
        self.interval_delivered += f64::from(input.ack.delivered.1);
        let extra = (self.interval_delivered - expected).min(cwnd);
        let rounds = if full { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.take(extra, self.round, rounds);
    }

    /// UpdateMinRTT. Returns true if it is time for ProbeRTT.
    pub fn update_min_rtt(&mut self, now: Time, rtt: Option<Span>) -> bool {
        let expired = now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        let Some(us) = rtt.map(in_us) else { return expired };
        if expired || self.probe_rtt_min_us.is_none_or(|min| us < min) {
            self.probe_rtt_min_us = Some(us);
            self.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if min_rtt_expired || self.min_rtt_us.is_none_or(|min| self.probe_rtt_min_us.is_some_and(|us| us < min)) {
            self.min_rtt_us = self.probe_rtt_min_us;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
        expired
    }

    /// The next ProbeRTT is an interval away.
    pub fn schedule_probe_rtt(&mut self, now: Time) {
        self.probe_rtt_min_stamp = now;
    }
}
