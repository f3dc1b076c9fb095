//! Reaction of the window to losses, and the common parts of loss recoveries.

use super::{Connection, Cut, Usage};
use crate::packet::FlowId;
use crate::tcp::cc::CongestionControl;
use crate::tcp::cc::controller::Decision;
use crate::tcp::cc::fixed::Fixed;
use crate::tcp::cc::interface::{Ack, Congestion, Signal, Window};
use crate::tcp::config::{GrowthPer, GrowthWhen, Halving};

impl Connection {
    /// A share of the amount in use, by `tcp.ssthresh_base`.
    fn in_use(&self, share: f64) -> f64 {
        match self.cfg.ssthresh_base {
            Halving::FlightSize => f64::from(self.flight_size()) * share,
            Halving::Window => (self.window.cwnd + f64::from(self.inflation)).min(f64::from(self.offered)) * share,
            Halving::WholeWindow => (f64::from(self.usable_window()) * share).floor(),
        }
    }

    /// Lets the window rule cut the window.
    pub(super) fn cut(&mut self, signal: Signal) {
        self.cut_to_share(signal, self.share_after(signal));
    }

    /// Lets the window rule cut the window, with this share of the amount in use as the remainder.
    pub(super) fn cut_to_share(&mut self, signal: Signal, share: f64) {
        let congestion = Congestion {
            signal,
            now: self.now,
            in_use: self.in_use(1.0),
            remainder: self.in_use(share),
            loss_window: f64::from(self.cfg.loss_window),
            whole_ssthresh: self.cfg.ssthresh_base != Halving::FlightSize,
        };
        if signal != Signal::Ecn && self.withholds_cut() {
            // A recovery ends with ssthresh. A window that an ECE has closed opens after a timeout, as ever.
            self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd);
            self.window.cwnd = self.window.cwnd.max(congestion.loss_window);
        } else {
            self.remember_window(signal);
            self.cc.on_congestion(&congestion, &mut self.window);
            self.ecn.cut = true;
        }
        self.last_cut = match signal {
            Signal::FastRetransmit => Cut::DupAcks,
            Signal::Timeout => Cut::Timeout,
            Signal::Ecn => Cut::Ecn,
        };
    }

    /// Lets the window rule grow the window with the last acknowledgement.
    pub fn grow(&mut self) {
        if self.cfg.growth_when == GrowthWhen::Used && !self.uses_window() {
            if !self.cc.grows_unused() {
                return;
            }
            self.last_ack.used = false;
        }
        let steps = if self.cfg.growth_per == GrowthPer::Segment { self.last_ack.newly } else { 1 };
        self.cc.on_ack(&self.last_ack, steps, &mut self.window);
        self.limit_cwnd();
    }

    /// Names the flow of the connection to the program that decides its window.
    pub(in crate::tcp) fn belong_to(&mut self, flow: FlowId) {
        if let Some(rule) = self.cc.external() {
            rule.belong_to(flow);
        }
    }

    /// Sets the window that the program has decided.
    pub(in crate::tcp) fn decide(&mut self, decision: &Decision) {
        if let Some(rule) = self.cc.external() {
            rule.take(decision, &mut self.window);
            self.limit_cwnd();
        }
    }

    /// Returns true if a program decides the window.
    pub(in crate::tcp) fn takes_decisions(&mut self) -> bool {
        self.cc.external().is_some()
    }

    /// Lets the rule of a program answer an acknowledgement, for a recovery that sets the window itself and measures the
    /// delivery rate \[bit/s\].
    pub fn ask_for_window(&mut self, ack: &Ack, rate_bps: Option<f64>, mut window: Window) -> Window {
        if let Some(rule) = self.cc.external() {
            rule.note_rate(rate_bps);
            window.cwnd = rule.fractional(window.cwnd);
        }
        self.cc.on_ack(ack, 0, &mut window);
        window
    }

    /// The same for a congestion signal, with this many segments in flight.
    pub fn ask_for_ssthresh(&mut self, signal: Signal, in_flight: u32, mut window: Window) -> f64 {
        if let Some(rule) = self.cc.external() {
            rule.drop_fraction();
        }
        let congestion = Congestion {
            signal,
            now: self.now,
            in_use: f64::from(in_flight),
            remainder: window.cwnd,
            loss_window: f64::from(self.cfg.loss_window),
            whole_ssthresh: false,
        };
        self.cc.on_congestion(&congestion, &mut window);
        window.ssthresh
    }

    /// The same for the end of a recovery.
    pub fn ask_at_recovery_end(&mut self, mut window: Window) -> Window {
        self.cc.on_recovery_end(&mut window);
        window
    }

    /// Pacing rate of the window rule \[B/s\]; 0: segments are not paced.
    pub fn rate_of_rule(&self) -> u64 {
        self.cc.pace().map_or(0, |gap| u64::from(self.cfg.mss.0) * 1_000_000_000 / gap.0.max(1))
    }

    /// Returns true if the window was in use when the last acknowledgement arrived, so that it may grow.
    fn uses_window(&mut self) -> bool {
        if !self.cc.asks_for_use() {
            return true;
        }
        let Ack { una, nxt, newly, in_flight, .. } = self.last_ack;
        let out = in_flight + newly;
        let full = out >= self.window.cwnd as u32;
        if una - newly >= self.usage.end || full || (!self.usage.full && out > self.usage.most) {
            self.usage = Usage { most: out, full, end: nxt };
        }
        let slow_start = self.window.cwnd < self.window.ssthresh;
        if slow_start { self.window.cwnd < 2.0 * f64::from(self.usage.most) } else { self.usage.full }
    }

    /// Changes the limit of the congestion window; a larger window shrinks to the limit.
    pub(in crate::tcp) fn set_max_cwnd(&mut self, segments: u32) {
        self.cfg.max_cwnd = Some(segments);
        self.limit_cwnd();
    }

    /// Changes the rule of a constant window; the window follows at once when the SYN is acknowledged.
    pub(in crate::tcp) fn change_fixed(&mut self, change: impl FnOnce(&mut Fixed)) {
        if let CongestionControl::Fixed(rule) = &mut self.cc {
            change(rule);
        }
        if !self.awaits_syn() {
            self.cc.start(&mut self.window);
            self.limit_cwnd();
        }
        // A segment that waits for its time has a new one.
        self.pacer.pause();
    }

    fn limit_cwnd(&mut self) {
        if let Some(max) = self.cfg.max_cwnd.into_iter().chain(self.hop_limit).min()
            && self.window.cwnd.floor() > f64::from(max)
        {
            self.window.cwnd = f64::from(max);
        }
    }

    /// The first acknowledgement opens the initial window.
    pub fn open_initial_window(&mut self) {
        self.window.cwnd = self.initial_window;
        self.cc.start(&mut self.window);
    }

    /// RFC 5681, 4.1: after an idle time longer than the RTO the window is at most the initial window.
    pub(in crate::tcp) fn limit_to_initial_window(&mut self) {
        self.window.cwnd = self.window.cwnd.min(self.initial_window);
    }

    /// RFC 2861, 3.2: after an idle time longer than the RTO the window is half as large for each RTO that has passed
    /// since, but not below the initial window; slow start leads back to three quarters of it.
    pub(in crate::tcp) fn decay_window(&mut self) {
        if self.cc.keeps_window_when_idle() {
            return;
        }
        let before = self.window.cwnd;
        let least = before.min(self.initial_window);
        let timeouts = self.now.since(self.last_sent).0.div_ceil(self.rto.timeout().0.max(1)) - 1;
        let halved = before / 2f64.powi(timeouts.min(64) as i32);
        self.window.ssthresh = self.window.ssthresh.max((before / 2.0).floor() + (before / 4.0).floor());
        self.window.cwnd = halved.max(least);
    }

    /// Sets cwnd without a congestion signal.
    pub fn set_cwnd(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
    }

    /// Sets the slow-start threshold \[segments\].
    pub fn set_ssthresh(&mut self, ssthresh: f64) {
        self.window.ssthresh = ssthresh;
    }

    /// Cuts cwnd to this value, whatever the window rule; the next new segment carries CWR.
    pub fn cut_to(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
        self.ecn.cut = true;
    }

    // ---- after a probe ----

    /// A probe was answered: all unacknowledged segments are sent again, with this window.
    pub fn resume_from_una(&mut self, ssthresh: f64, cwnd: f64) {
        self.begin_again(Window { cwnd, ssthresh });
        self.nxt = self.una;
        self.cc.on_rewind(self.nxt);
    }

    /// A probe was answered: outstanding segments are repaired in a fast recovery, whose window is inflated by
    /// `inflation` segments.
    pub fn resume_with_recovery(&mut self, ssthresh: f64, inflation: u32) {
        self.begin_again(Window { cwnd: ssthresh, ssthresh });
        self.last_cut = Cut::DupAcks;
        self.inflation = inflation;
    }

    fn begin_again(&mut self, window: Window) {
        self.window = window;
        self.ecn.cut = true;
        self.recover = self.max;
        self.dup_acks = 0;
        self.unanswered = 0;
        self.restart_timer_if_needed();
    }

    // ---- recovery ----

    /// Returns true if duplicate acknowledgements may begin a recovery: the last one must be over (RFC 6582, 3.2 step
    /// 2).
    pub fn may_begin_recovery(&self) -> bool {
        self.is_new_loss() || self.last_cut == Cut::Ecn
    }

    fn is_new_loss(&self) -> bool {
        self.last_cut == Cut::Never
            || self.una > self.recover
            || (self.cfg.fast_recovery.first_segment_exception && self.una == 1)
    }

    /// Begins a recovery: cuts the window, abandons the measurement of the round trip, restarts the timer.
    pub fn begin_recovery(&mut self) {
        // RFC 3168, 6.1.2: only once for all drops and marks of a window of data.
        let cut_for_ece = self.last_cut == Cut::Ecn && !self.is_new_loss();
        if cut_for_ece {
            self.last_cut = Cut::DupAcks;
        } else {
            self.cut(Signal::FastRetransmit);
        }
        if !(cut_for_ece && self.cfg.ecn.ns2.recover_from_cut) {
            self.recover = self.max;
        }
        self.counters.fast_retransmits += 1;
        self.restart_timer();
        self.cancel_measurement();
        // New segments of a paced sender wait for the next acknowledgement.
        self.pacer.pause();
    }

    /// Limit of the congestion window \[segments\].
    pub(in crate::tcp) fn cwnd_limit(&self) -> u32 {
        self.cfg.max_cwnd.into_iter().chain(self.hop_limit).min().unwrap_or(u32::MAX)
    }

    /// Begins a recovery that cuts the window itself.
    pub fn begin_recovery_with_window(&mut self) {
        self.last_cut = Cut::DupAcks;
        self.recover = self.max;
        self.counters.fast_retransmits += 1;
    }

    /// Ends the recovery, if there is one.
    pub fn end_recovery(&mut self) {
        if self.last_cut == Cut::DupAcks {
            self.last_cut = Cut::Recovered;
            self.cc.on_recovery_end(&mut self.window);
        }
    }

    /// Sets the window with which a recovery ends: that of the window rule, but at most this many segments.
    pub fn limit_after_recovery(&mut self, segments: f64) {
        self.window.cwnd = self.cc.after_recovery(&self.window).min(segments);
    }

    /// Ends the recovery, and moves the recovery point before every segment but the first (ns-2's sack1).
    pub fn forget_recovery_point(&mut self) {
        self.recover = 1;
        self.cc.on_recovery_end(&mut self.window);
    }

    /// Returns true if duplicate acknowledgements inflate the window now.
    pub fn may_inflate(&self) -> bool {
        !self.cfg.fast_recovery.inflate_in_recovery_only || self.last_cut == Cut::DupAcks
    }

    /// Inflates the window by one segment, for a duplicate acknowledgement.
    pub fn inflate(&mut self) {
        self.inflation += 1;
    }

    /// Sets the inflation of the window to this number of segments.
    pub fn inflate_to(&mut self, segments: u32) {
        self.inflation = segments;
    }

    /// Ends the inflation of the window.
    pub fn deflate(&mut self) {
        self.inflation = 0;
    }

    /// Reduces the window by the segments of a partial acknowledgement, and adds one segment (RFC 6582, 3.2 step 3).
    pub fn deflate_by(&mut self, acked: u32) {
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.window.cwnd = (self.window.cwnd - f64::from(acked - self.inflation)).max(1.0);
            self.inflation = 1;
        }
    }
}
