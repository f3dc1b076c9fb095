//! CUBIC (RFC 9438): after a loss the window follows a cubic function of time, flat where the loss was; it is never
//! below that of an AIMD sender (the Reno-friendly region). Times in which the application or the receiver keeps the
//! sender from using the window do not count (5.8). Not in it: HyStart.

use super::interface::{Ack, Congestion, Signal, Window};
use super::registry::WindowRule;
use crate::setting::limit::{above, range};
use crate::settings;
use crate::unit::{Span, Time};

settings! {
    /// CUBIC, with the constants of RFC 9438.
    pub struct Config {
        /// C: factor of the cubic growth \[segments/s^3\].
        pub c: f64 = 0.4 => above(0.0).at_most(1000.0),
        /// beta_cubic: share of FlightSize or window (`tcp.ssthresh_base`) that remains after a loss.
        pub beta: f64 = 0.7 => range(0.0, 1.0),
        /// Releases bandwidth for other flows when the window at a loss is smaller than at the loss before (RFC 9438,
        /// 4.7).
        pub fast_convergence: bool = true,
        /// Keeps the window at least at that of an AIMD sender with the same mean (RFC 9438, 4.3).
        pub reno_friendly: bool = true,
    }
}

/// A stage of congestion avoidance. Variables have the names of RFC 9438.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch: when it began, put off by the times in which the window was not used.
    start: Time,
    /// K: time from its begin until the window is `w_max` again \[s\].
    k: f64,
    /// W_est: the window of an AIMD sender.
    w_est: f64,
}

/// The window rule of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    cfg: Config,
    epoch: Option<Epoch>,
    /// W_max: the window at the last loss, or less with fast convergence.
    w_max: f64,
    /// cwnd_prior: the window at the last loss.
    cwnd_prior: f64,
    /// The last sign of congestion was a timeout.
    timed_out: bool,
    srtt: Span,
}

impl Cubic {
    /// The rule without a loss so far.
    pub(super) fn new(cfg: &Config) -> Cubic {
        let cfg = cfg.clone();
        Cubic { cfg, epoch: None, w_max: 0.0, cwnd_prior: 0.0, timed_out: false, srtt: Span::ZERO }
    }

    /// Begins congestion avoidance (RFC 9438, 4.2; after a timeout 4.8; without a loss before 4.10).
    fn begin(&mut self, now: Time, cwnd: f64) -> Epoch {
        if self.timed_out || self.w_max < cwnd {
            self.w_max = cwnd;
        }
        Epoch { start: now, k: libm::cbrt((self.w_max - cwnd) / self.cfg.c), w_est: cwnd }
    }

    /// W_cubic(t) (RFC 9438, figure 1), `k` after which it is `w_max` \[s\].
    fn w_cubic(&self, t: f64, k: f64) -> f64 {
        self.cfg.c * (t - k).powi(3) + self.w_max
    }

    /// Grows the window for segments acknowledged in congestion avoidance (RFC 9438, 4.2 to 4.5).
    fn avoid(&mut self, acked: f64, now: Time, w: &mut Window) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, w.cwnd));
        let beta = self.cfg.beta;
        // An AIMD sender that has caught up with the window at the last loss grows as Reno.
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.w_est += alpha * acked / w.cwnd;
        self.epoch = Some(epoch);
        let t = now.since(epoch.start).as_secs();
        if self.cfg.reno_friendly && self.w_cubic(t, epoch.k) < epoch.w_est {
            w.cwnd = epoch.w_est;
            return;
        }
        let target = self.w_cubic(t + self.srtt.as_secs(), epoch.k).clamp(w.cwnd, 1.5 * w.cwnd);
        w.cwnd += (target - w.cwnd) / w.cwnd * acked;
    }
}

impl WindowRule for Cubic {
    const READS_REMAINDER: bool = false;
    const HEEDS_UNUSED: bool = true;

    fn on_every_ack(&mut self, ack: &Ack, _: &mut Window) {
        self.srtt = ack.srtt.unwrap_or(self.srtt);
    }

    fn on_ack(&mut self, ack: &Ack, steps: u32, w: &mut Window) {
        if ack.ece {
            return;
        }
        for _ in 0..steps {
            if w.cwnd < w.ssthresh {
                w.cwnd += 1.0;
                // Slow start after an idle time (`tcp.after_idle`) ends the stage.
                self.epoch = None;
            } else {
                self.avoid(1.0, ack.now, w);
            }
        }
    }

    /// "The elapsed time MUST NOT include periods during which cwnd has not been updated due to application-limited
    /// behavior" (RFC 9438, 4.2).
    fn on_unused(&mut self, span: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += span;
        }
    }

    /// RFC 9438, 4.6 to 4.8.
    fn on_congestion(&mut self, congestion: &Congestion, w: &mut Window) {
        let beta = self.cfg.beta;
        let gives_way = self.cfg.fast_convergence && w.cwnd < self.w_max;
        self.w_max = if gives_way { w.cwnd * (1.0 + beta) / 2.0 } else { w.cwnd };
        self.cwnd_prior = w.cwnd;
        self.epoch = None;
        self.timed_out = congestion.signal == Signal::Timeout;
        let share = congestion.in_use * beta;
        w.ssthresh = if congestion.whole_ssthresh { share.floor() } else { share }.max(2.0);
        w.cwnd = match congestion.signal {
            Signal::FastRetransmit => w.ssthresh,
            Signal::Timeout => congestion.loss_window,
            Signal::Ecn => w.ssthresh.min(w.cwnd),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss at a window of 100 segments, all of them in use.
    fn after_loss(signal: Signal) -> (Cubic, Window) {
        let mut rule = Cubic::new(&Config::default());
        let mut w = Window { cwnd: 100.0, ssthresh: 50.0 };
        rule.on_congestion(&congestion(signal, 100.0), &mut w);
        (rule, w)
    }

    fn congestion(signal: Signal, in_use: f64) -> Congestion {
        let (now, remainder) = (Time::ZERO, in_use / 2.0);
        Congestion { signal, now, in_use, remainder, loss_window: 1.0, whole_ssthresh: false }
    }

    /// The curves after a loss at 100 segments and round-trip times of 0.04, 0.1 and 0.3 s, round by round: W_cubic,
    /// W_est and the window. `cubic_curve.csv` was worked out by others from the text of RFC 9438, when every segment
    /// of a round is acknowledged at its begin, and printed with four decimals: half of the last, and 1e-6.
    #[test]
    fn the_window_follows_the_curve_of_the_rfc_in_each_region() {
        let near = |name: &str, ours: f64, theirs: f64| {
            assert!((ours - theirs).abs() <= 0.5e-4 + 1e-6, "{name}: {ours} for {theirs}");
        };
        let rows: Vec<Vec<f64>> = include_str!("../../../tests/data/cubic_curve.csv")
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect())
            .collect();
        assert_eq!(rows.len(), 313);
        // Rows in the Reno-friendly region, below the plateau (concave), and above (convex).
        for (rtt, regions) in [(0.04, [127, 24, 0]), (0.1, [23, 43, 55]), (0.3, [0, 15, 26])] {
            let (mut rule, mut w) = after_loss(Signal::FastRetransmit);
            assert_eq!((w.cwnd, w.ssthresh), (70.0, 70.0));
            rule.srtt = Span::from_secs(rtt);
            let (mut rounds, mut seen) = (0, [0; 3]);
            for row in rows.iter().filter(|r| r[0] == rtt) {
                let round = (row[1] / rtt).round() as u32;
                while rounds < round {
                    // Every segment of a round is acknowledged at its begin.
                    let now = Time::ZERO + Span::from_secs(f64::from(rounds) * rtt);
                    rule.avoid(w.cwnd, now, &mut w);
                    rounds += 1;
                }
                let at = format!("{rtt} s, {} s", row[1]);
                let (k, w_est) = rule.epoch.map_or((4.217_163, 70.0), |e| (e.k, e.w_est));
                let w_cubic = rule.w_cubic(row[1], k);
                near(&at, w_cubic, row[2]);
                near(&at, w_est, row[3]);
                near(&at, w.cwnd, row[4]);
                seen[if w_cubic < w_est { 0 } else { 1 + usize::from(w_cubic > 100.0) }] += 1;
            }
            assert_eq!(seen, regions, "{rtt} s");
        }
    }

    /// K = cbrt(100 (1 - 0.7) / 0.4), and W_cubic below and above the plateau.
    #[test]
    fn c82_the_curve_after_a_loss_at_a_hundred_segments() {
        let (mut rule, w) = after_loss(Signal::FastRetransmit);
        let k = rule.begin(Time::ZERO, w.cwnd).k;
        let found = [k, rule.w_cubic(1.0, k), rule.w_cubic(4.0, k), rule.w_cubic(8.0, k)];
        let expected = [4.217_163_327, 86.680_763_835, 99.995_903_439, 121.652_735_140];
        assert!(found.iter().zip(expected).all(|(ours, theirs)| (ours - theirs).abs() < 1e-6), "{found:?}");
    }

    /// RFC 9438, 4.7: a loss at 80 segments, below 100, sets W_max to 80 (1 + 0.7) / 2 = 68.
    #[test]
    fn a_flow_that_lost_ground_gives_way() {
        for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
            let (mut rule, mut w) = after_loss(Signal::FastRetransmit);
            rule.cfg.fast_convergence = fast_convergence;
            w.cwnd = 80.0;
            rule.on_congestion(&congestion(Signal::FastRetransmit, 80.0), &mut w);
            assert!((rule.w_max - w_max).abs() < 1e-12);
            assert!((w.cwnd - 56.0).abs() < 1e-12);
        }
    }

    /// RFC 9438, 4.8: after a timeout slow start up to 0.7 of the amount in use, and then a curve that begins flat.
    #[test]
    fn after_a_timeout_the_curve_begins_where_slow_start_ends() {
        let (mut rule, mut w) = after_loss(Signal::Timeout);
        assert_eq!((w.cwnd, w.ssthresh), (1.0, 70.0));
        rule.on_every_ack(&Ack { srtt: Some(Span::ms(100)), ..Ack::default() }, &mut w);
        let ack = Ack { now: Time::ZERO + Span::secs(2), ..Ack::default() };
        rule.on_ack(&ack, 69, &mut w);
        assert_eq!((w.cwnd, rule.epoch.is_none()), (70.0, true));
        rule.on_ack(&ack, 1, &mut w);
        let epoch = rule.epoch.expect("congestion avoidance");
        assert_eq!((rule.w_max, epoch.k, epoch.start), (70.0, 0.0, ack.now));
    }

    #[test]
    fn mark_leaves_two_segments_and_never_raises_the_window() {
        let (mut rule, mut w) = after_loss(Signal::Ecn);
        w.cwnd = 1.5;
        rule.on_congestion(&congestion(Signal::Ecn, 1.5), &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (1.5, 2.0));
        let echo = Ack { ece: true, ..Ack::default() };
        rule.on_ack(&echo, 1, &mut w);
        assert_eq!(w.cwnd, 1.5, "the window does not grow with an ECE");
    }
}
