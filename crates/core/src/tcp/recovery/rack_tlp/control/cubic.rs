//! CUBIC in whole segments (RFC 9438): the window grows by one segment for each so many acknowledged segments, a number
//! that follows from the cubic function once per tick of the sender's clock.

use super::hystart::HyStart;
use super::interface::{Input, Window};
use crate::packet::Seq;
use crate::tcp::cc::cubic::Config;
use crate::tcp::config::recoveries::{HyStartRule, RackTlpConfig};
use crate::unit::{Span, Time};

/// Time after the start of an epoch in which round-trip times say nothing: the queue is still that of the loss.
const AFTER_LOSS: Span = Span::secs(1);

/// Longest time for which the growth of an unchanged window is kept.
const KEPT: Span = Span(1_000_000_000 / 32);

/// A stage of congestion avoidance. Variables have the names of RFC 9438.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch: when it began.
    start: Time,
    /// K: time from its begin until the window is `origin` again \[s\].
    k: f64,
    /// The window at the plateau \[segments\].
    origin: f64,
    /// W_est: the window of an AIMD sender \[segments\].
    w_est: u32,
    /// Segments acknowledged that are not yet in `w_est`.
    acked: u32,
}

/// The window rule of CUBIC.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Cubic {
    cfg: Config,
    tick: Span,
    epoch: Option<Epoch>,
    /// W_max: the window at the last loss, or less with fast convergence; 0 before a loss.
    w_max: u32,
    /// Acknowledged segments for each segment of growth.
    per: u32,
    /// Window and time of the last computation of `per`.
    computed: (u32, Time),
    /// Smallest round-trip time.
    min_rtt: Option<Span>,
    /// End of slow start by delays; `None`: slow start ends with a loss.
    hystart: Option<HyStart>,
}

impl Cubic {
    /// The rule without a loss so far.
    pub fn new(cfg: &Config, sender: &RackTlpConfig) -> Cubic {
        let hystart = (sender.hystart == HyStartRule::HyStart).then(HyStart::default);
        let computed = (0, Time::ZERO);
        let (tick, cfg) = (sender.tick, cfg.clone());
        Cubic { cfg, tick, epoch: None, w_max: 0, per: 1, computed, min_rtt: None, hystart }
    }

    /// Forgets everything at a timeout.
    pub fn reset(&mut self, now: Time, nxt: Seq) {
        self.epoch = None;
        self.w_max = 0;
        self.per = 1;
        self.computed = (0, Time::ZERO);
        self.min_rtt = None;
        if let Some(hystart) = &mut self.hystart {
            *hystart = HyStart::default();
            hystart.begin_round(now, nxt);
        }
    }

    /// Idle time does not count as time of the epoch (RFC 9438, 5.8).
    pub fn on_resume(&mut self, now: Time, last_sent: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = now.min(epoch.start + now.since(last_sent));
        }
    }

    /// Takes a round-trip time.
    pub fn on_acked(&mut self, input: &Input, w: &mut Window) {
        let Some(rtt) = input.rtt else { return };
        if self.epoch.is_some_and(|e| self.ticks(input.now) - self.ticks(e.start) < AFTER_LOSS.0 / self.tick.0) {
            return;
        }
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if let Some(hystart) = &mut self.hystart
            && w.in_slow_start()
            && hystart.ends_slow_start(input, rtt, min_rtt, w.cwnd)
        {
            w.ssthresh = w.cwnd;
        }
    }

    /// beta_cubic of the window (RFC 9438, 4.6), with fast convergence (4.7).
    pub fn ssthresh(&mut self, w: &Window) -> u32 {
        self.epoch = None;
        let gives_way = self.cfg.fast_convergence && w.cwnd < self.w_max;
        let share = if gives_way { (1.0 + self.cfg.beta) / 2.0 } else { 1.0 };
        self.w_max = (f64::from(w.cwnd) * share) as u32;
        ((f64::from(w.cwnd) * self.cfg.beta) as u32).max(2)
    }

    /// Grows the window in congestion avoidance.
    pub fn avoid(&mut self, acked: u32, now: Time, w: &mut Window) {
        self.compute(w.cwnd, acked, now);
        w.grow_one_per(self.per, acked);
    }

    fn ticks(&self, at: Time) -> u64 {
        at.0 / self.tick.0
    }

    /// Computes how many acknowledged segments make the window grow by one.
    fn compute(&mut self, cwnd: u32, acked: u32, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        let (last_cwnd, last) = self.computed;
        if last_cwnd == cwnd && self.ticks(now) - self.ticks(last) <= KEPT.0 / self.tick.0 {
            return;
        }
        if self.epoch.is_none() || self.ticks(now) != self.ticks(last) {
            self.computed = (cwnd, now);
            self.follow_curve(cwnd, acked, now);
        }
        if self.cfg.reno_friendly {
            self.keep_up(cwnd);
        }
        // The window grows by half of itself per round trip at most (RFC 9438, 4.2).
        self.per = self.per.max(2);
    }

    /// Follows W_cubic one round trip ahead (RFC 9438, 4.2, 4.4, 4.5).
    fn follow_curve(&mut self, cwnd: u32, acked: u32, now: Time) {
        let (w, w_max) = (f64::from(cwnd), f64::from(self.w_max));
        let c = self.cfg.c;
        let epoch = *self.epoch.get_or_insert_with(|| {
            let below = (w_max - w).max(0.0);
            Epoch { start: now, k: libm::cbrt(below / c), origin: w_max.max(w), w_est: cwnd, acked }
        });
        let ahead = self.min_rtt.unwrap_or(Span::ZERO).0.div_ceil(self.tick.0);
        let ticks = self.ticks(now) - self.ticks(epoch.start) + ahead;
        let t = (self.tick * ticks).as_secs();
        let away = (c * (t - epoch.k).abs().powi(3)).floor();
        let target = if t < epoch.k { epoch.origin - away } else { epoch.origin + away } as u32;
        self.per = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.w_max == 0 {
            // Without a loss so far, nothing is known of the path.
            self.per = self.per.min(20);
        }
    }

    /// Keeps up with an AIMD sender (RFC 9438, 4.3).
    fn keep_up(&mut self, cwnd: u32) {
        let Some(epoch) = &mut self.epoch else { return };
        let beta = self.cfg.beta;
        // 1 / alpha_cubic in eighths.
        let eighths = (8.0 * (1.0 + beta) / (3.0 * (1.0 - beta))) as u32;
        let per = (cwnd * eighths) >> 3;
        while epoch.acked > per {
            epoch.acked -= per;
            epoch.w_est += 1;
        }
        if epoch.w_est > cwnd {
            self.per = self.per.min(cwnd / (epoch.w_est - cwnd));
        }
    }
}
