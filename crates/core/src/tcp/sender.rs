//! The sending end of a connection.

use super::cc::{CongestionControl, Heard, Signal};
use super::core::{Core, Counters, Cut};
use super::eln::Eln;
use super::recovery::Recovery;
use super::variants::Variant;
use super::{Config, IdleRule, Out, Phase};
use crate::packet::{AckSegment, Seq};
use crate::unit::{Span, Time};

/// A TCP sender. It says what to send into the outbox that [`drain`](Sender::drain) empties.
#[derive(Clone, Debug)]
pub struct Sender {
    core: Core,
    cc: CongestionControl,
    recovery: Recovery,
    eln: Eln,
}

impl Sender {
    /// A sender without data. `phase` is the phase of the clock of its retransmission timer.
    pub fn new(cfg: &Config, phase: Span) -> Sender {
        let (method, rule) = cfg.variant.parts();
        let mut core = Core::new(cfg, phase, cfg.variant == Variant::Vegas);
        let cc = CongestionControl::new(rule, cfg);
        if !cfg.starts_with_syn() {
            cc.start(&mut core.window);
        }
        Sender { core, cc, recovery: Recovery::new(method, cfg), eln: Eln::default() }
    }

    /// The application provides so many more segments; `None`: without end.
    pub fn write(&mut self, segments: Option<u32>, now: Time) {
        self.core.now = now;
        if self.core.gave_up.is_some() {
            return;
        }
        let syn = u32::from(self.core.cfg.starts_with_syn() && self.core.available == 0);
        self.core.available = match segments {
            Some(n) => self.core.available.saturating_add(n).saturating_add(syn),
            None => Seq::MAX,
        };
        self.restart_after_idle();
        self.core.send_allowed(self.core.cfg.max_burst);
        self.core.watch_window();
        self.core.integrate_window();
    }

    /// The application provides nothing more. What has not been sent by now is taken back.
    pub fn close(&mut self, now: Time) {
        let core = &mut self.core;
        core.now = now;
        let was_shut_out = core.is_shut_out();
        core.available = core.available.min(core.max);
        if was_shut_out && core.una == core.max {
            core.restart_timer_if_needed();
        }
    }

    /// Another limit of the window that the receiver may offer.
    pub fn set_window(&mut self, segments: u32) {
        let core = &mut self.core;
        core.cfg.window = segments;
        core.offered = core.offered.min(segments);
        core.sent.make_room(segments as usize, core.una, core.max);
    }

    /// Segments that the application has provided so far, the SYN not counted; `None`: without end.
    pub fn written(&self) -> Option<Seq> {
        let core = &self.core;
        let syn = Seq::from(core.cfg.starts_with_syn());
        (core.available < Seq::MAX).then(|| core.available.saturating_sub(syn))
    }

    /// RFC 5681, 4.1: after an idle time longer than the RTO the window is at most the initial window.
    fn restart_after_idle(&mut self) {
        let core = &mut self.core;
        let idle = core.una == core.max && core.max > 0 && core.now.since(core.last_sent) > core.rto.timeout();
        if idle && core.cfg.idle == IdleRule::Restart {
            core.window.cwnd = core.window.cwnd.min(core.initial_window);
        }
    }

    /// An acknowledgement arrives that has made so many hops.
    pub fn on_ack(&mut self, ack: &AckSegment, hops: u8, now: Time) {
        self.core.now = now;
        if self.core.gave_up.is_some() {
            return;
        }
        self.core.integrate_window();
        if self.core.cfg.hop_limit.enabled {
            let round_trip = u32::from(ack.hops) + u32::from(hops);
            self.core.hop_limit = Some(self.core.cfg.hop_limit.segments(round_trip));
        }
        if let Some(pacer) = &mut self.core.pacer {
            pacer.on_round_trip(now.since(ack.echo), hops);
        }
        self.core.counters.acks_received += 1;
        // An acknowledgement older than the last one says nothing; one of what was never sent is not for us, nor is any
        // before the first segment.
        if ack.next >= self.core.una && ack.next <= self.core.max && self.core.max > 0 {
            self.core.on_ece(ack, &mut self.cc);
            self.on_current_ack(ack);
        }
        self.core.integrate_window();
    }

    fn on_current_ack(&mut self, ack: &AckSegment) {
        let core = &mut self.core;
        let old = ack.next == core.una;
        let shut_out = core.is_shut_out();
        let counts = !old || (!shut_out && core.is_duplicate(ack));
        core.offered = ack.window.min(core.cfg.window);
        if !counts {
            // An update of the window, or the answer to a probe.
            if shut_out {
                core.end_probing();
            }
            core.send_allowed(core.cfg.max_burst);
            core.watch_window();
            return;
        }
        if !core.awaits_syn() {
            self.cc.on_every_ack(&Heard { now: core.now, newly: ack.next - core.una, rtt: core.sampled.take() });
        }
        if !self.eln.on_ack(ack, self.recovery.is_going_on(core), core) {
            self.recovery.on_ack(ack, core, &mut self.cc);
            self.eln.after_recovery(core);
        }
        core.watch_window();
    }

    /// When the sender wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.core.pacer {
            None => self.core.timer,
            Some(pacer) => pacer.deadline().min(self.core.timer),
        }
    }

    /// The retransmission timer expires, or a paced segment is due.
    pub fn on_deadline(&mut self, now: Time) {
        let core = &mut self.core;
        core.now = now;
        if core.pacer.as_ref().is_some_and(|p| p.deadline() <= now) {
            core.send_paced();
        }
        if now < core.timer {
            return;
        }
        core.integrate_window();
        let waits_in_vain = core.una < core.max || core.is_shut_out();
        if waits_in_vain && core.give_up() {
            return;
        }
        if core.is_shut_out() && core.max - core.una <= 1 {
            core.probe();
            return;
        }
        core.timer = Time::NEVER;
        let idle_counts = core.cfg.variant == Variant::Vegas && core.cfg.vegas.bug_timeout_when_idle;
        if core.una == core.max && !idle_counts {
            // Only where the timer restarts slow start of an idle sender, or where ECN has closed the window.
            core.recover = core.max;
            core.window.cwnd = 1.0;
            core.last_cut = Cut::Timeout;
            core.ecn.cut = true;
            core.restart_timer();
            core.ecn.waiting = false;
            core.send_allowed(core.cfg.max_burst);
            core.integrate_window();
            return;
        }
        // RFC 5681, (4): a segment that times out again does not lower ssthresh further.
        let again = core.cfg.halving == super::Halving::FlightSize && core.rto.backoff() > 1;
        let keeps_ssthresh = again || core.ssthresh_is_cut();
        core.inflation = 0;
        core.credit = 0;
        core.recover = core.max;
        core.ecn.waiting = false;
        core.counters.timeouts += 1;
        if core.una == 0 {
            // RFC 5681, 3.1: a lost SYN leaves a window of one segment.
            core.initial_window = 1.0;
        }
        let ssthresh = core.window.ssthresh;
        core.cut(Signal::Timeout, &mut self.cc);
        if core.awaits_syn() {
            // Whatever the window rule, no data go out before the SYN is acknowledged.
            core.window.cwnd = 1.0;
        }
        if keeps_ssthresh || self.eln.keeps_ssthresh(&core.cfg.eln) {
            core.window.ssthresh = ssthresh;
        }
        if core.pacer.is_none() || core.cfg.ap.rto_backoff {
            core.rto.back_off();
        }
        core.restart_timer();
        core.cancel_measurement();
        core.nxt = core.una;
        if let Some(pacer) = &mut core.pacer {
            pacer.pause();
        }
        self.recovery.on_timeout(core, &mut self.cc);
        core.send_allowed(core.cfg.max_burst);
        if core.is_shut_out() {
            core.send_first();
        }
        core.integrate_window();
    }

    /// What the sender has said since the last call.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Out> {
        self.core.out.drain(..)
    }

    /// Counters; the time average of the window is taken up to `now`.
    pub fn counters(&mut self, now: Time) -> &Counters {
        self.core.now = self.core.now.max(now);
        self.core.integrate_window();
        &self.core.counters
    }

    /// Expirations of the retransmission timer so far.
    pub fn timeouts(&self) -> u64 {
        self.core.counters.timeouts
    }

    /// When the connection was given up.
    pub fn gave_up(&self) -> Option<Time> {
        self.core.gave_up
    }

    /// Segments sent so far that had been sent before.
    pub fn retransmissions(&self) -> u64 {
        self.core.counters.retransmissions
    }

    /// What the sender is doing.
    pub fn phase(&self) -> Phase {
        let core = &self.core;
        if core.una >= core.available || core.gave_up.is_some() {
            Phase::ApplicationLimited
        } else if self.recovery.is_going_on(core) {
            Phase::Recovery
        } else if core.window.cwnd < core.window.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// Variables of the sender.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Whether everything that the application provided has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.core.available > 0 && self.core.una >= self.core.available
    }
}
