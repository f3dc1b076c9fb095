//! The sender of Linux since 4.18: losses by time and tail loss probes (RACK-TLP, RFC 8985), proportional rate reduction
//! (RFC 9937), detection of spurious timeouts and recoveries (F-RTO, RFC 5682; timestamps and DSACK, RFC 3522 and 3708).
//! Windows are whole segments. Sources: the RFCs, published descriptions of the design of Linux, and the behavior of a
//! kernel over an exact link.
//!
//! [`queue`] keeps the outstanding segments; [`rack`], [`prr`], [`undo`], [`usage`] and [`control`] have no access to
//! the connection. Only this file, [`timers`] and [`sending`] have it.

pub(in crate::tcp) mod clock;
mod control;
mod external;
mod no_sack;
mod prr;
mod queue;
mod rack;
mod rate;
mod sending;
mod state;
mod timers;
mod undo;
mod view;

use super::registry::LossRecovery;
use super::view::RackView;
use crate::packet::{AckSegment, SackBlocks, Seq};
use crate::rng::Stream;
use crate::tcp::cc::interface::{AckKind, Signal};
use crate::tcp::config::Config;
use crate::tcp::config::recoveries::RackTlpConfig;
use crate::tcp::connection::Connection;
use crate::unit::{Span, Time};
use clock::{Clock, Kind};
use control::{Bbr3Input, BbrInput, Control, Input, Window};
use prr::Prr;
use queue::Queue;
use rack::Rack;
use rate::Rate;
use sending::pacing::Pacing;
use sending::usage::Usage;
use state::{Facts, Next, State};
use undo::Undo;

/// Loss recovery and window of a Linux sender.
#[derive(Clone, Debug)]
pub struct RackTlp {
    cfg: RackTlpConfig,
    dup_threshold: u32,
    /// In a box, so that connections with another recovery stay small.
    queue: Box<Queue>,
    state: State,
    w: Window,
    control: Control,
    usage: Usage,
    rack: Rack,
    prr: Prr,
    /// State before the last reduction; boxed, so that connections with another recovery stay small.
    undo: Box<Undo>,
    clock: Clock,
    /// Purpose of the timer.
    pending: Kind,
    /// RecoveryPoint: SND.NXT when the last reduction began.
    high: Seq,
    /// TLP.end_seq: SND.NXT after a tail loss probe, and whether the probe was a retransmission.
    probe: Option<(Seq, bool)>,
    /// A timeout may prove spurious (RFC 5682).
    frto: bool,
    /// Timeouts in a row.
    timeouts: u32,
    /// Deliveries and their rate.
    rate: Rate,
    pacing: Pacing,
    /// Segments marked lost since the beginning.
    lost: u64,
    /// The recovery began because segments were overdue, not because of the number of later ones.
    by_time: bool,
    /// End of the round trip in which the deviation of round-trip times is sought.
    round_end: Seq,
}

impl RackTlp {
    pub(super) fn new(cfg: &Config) -> RackTlp {
        let own = cfg.rack_tlp.clone();
        RackTlp {
            queue: Box::default(),
            state: State::Open,
            w: Window { cwnd: 1, ssthresh: 0, credit: 0, clamp: u32::MAX },
            control: Control::new(cfg),
            usage: Usage::default(),
            rack: Rack::new(cfg.dup_threshold),
            prr: Prr::default(),
            undo: Box::new(Undo::new(cfg.timestamps)),
            clock: Clock::new(own.tick),
            pending: Kind::Timeout,
            high: 0,
            probe: None,
            frto: false,
            timeouts: 0,
            rate: Rate::default(),
            pacing: Pacing::default(),
            lost: 0,
            by_time: false,
            round_end: 0,
            cfg: own,
            dup_threshold: cfg.dup_threshold,
        }
    }

    /// A congestion control that probes at random times draws them from this stream.
    pub fn draw_from(&mut self, stream: impl FnOnce() -> Stream) {
        if let Some(bbr) = self.control.bbr3() {
            bbr.draw_from(stream());
        }
    }

    /// Takes the window over from the connection, where commands may have changed it.
    fn begin(&mut self, conn: &Connection) {
        self.queue.truncate(conn.max());
        let window = conn.window();
        self.w.cwnd = (window.cwnd as u32).max(1);
        self.w.ssthresh = window.ssthresh as u32;
        self.w.clamp = conn.cwnd_limit();
        if self.control.is_external() {
            self.pacing.rate = conn.rate_of_rule();
        }
    }

    /// Hands the window back to the connection.
    fn end(&mut self, conn: &mut Connection) {
        conn.set_pacing_rate(self.pacing.rate);
        self.watch_window(conn);
        conn.set_cwnd(f64::from(self.w.cwnd));
        conn.set_ssthresh(f64::from(self.w.ssthresh));
    }

    fn srtt(conn: &Connection) -> Span {
        conn.rto().srtt().unwrap_or(Span::ZERO)
    }

    fn reduces(&self) -> bool {
        matches!(self.state, State::Reducing | State::Recovery)
    }

    // ---- deliveries ----

    /// Takes the SACK blocks (RFC 2018; RFC 2883 for duplicates), but for impossible ones.
    fn take_blocks(&mut self, ack: &AckSegment, now: Time, facts: &mut Facts) {
        let nxt = self.queue.nxt();
        let mut valid = SackBlocks::default();
        ack.sack.iter().filter(|b| b.0 < b.1 && b.1 <= nxt).for_each(|b| valid.push(b.0, b.1));
        let mut blocks = valid.iter();
        let (first, second) = (blocks.next(), blocks.next());
        if let Some((left, right)) = first
            && (left < ack.next || second.is_some_and(|(l, r)| l <= left && right <= r))
        {
            facts.dsack = true;
            facts.dsack_of_probe = self.probe.is_some_and(|(end, resent)| resent && right == end);
            self.rack.dsack = true;
            self.undo.take_dsack(left, right);
        }
        for seq in self.queue.news(&valid).iter() {
            let fack = self.queue.fack();
            let Some(was) = self.queue.sack(seq) else { continue };
            self.rate.deliver(seq, &was, &mut facts.sample);
            self.rack.deliver(seq, was.sent, was.ever_resent, now);
            facts.sacks = true;
            facts.delivered += 1;
            if !was.ever_resent {
                facts.original |= seq < self.high;
                if seq < fack {
                    facts.reordered = Some(facts.reordered.map_or(seq, |r| r.min(seq)));
                }
                facts.sacked_sent = Some((facts.sacked_sent.map_or(was.sent, |s| s.0), was.sent));
            }
        }
    }

    /// Removes acknowledged segments from the queue.
    fn take_acked(&mut self, next: Seq, now: Time, facts: &mut Facts) {
        while self.queue.una() < next {
            let seq = self.queue.una();
            let Some(was) = self.queue.pop() else { break };
            facts.advances = true;
            if was.ever_resent {
                facts.covers_resent = true;
            } else if !was.sacked {
                facts.acked_sent = Some((facts.acked_sent.map_or(was.sent, |s| s.0), was.sent));
                facts.reordered = Some(facts.reordered.map_or(seq, |r| r.min(seq)));
                facts.original |= seq < self.high;
            }
            if !was.sacked {
                facts.delivered += 1;
                self.rate.deliver(seq, &was, &mut facts.sample);
                if !self.rack.is_spurious(was.sent, was.ever_resent, now) {
                    self.rack.deliver(seq, was.sent, was.ever_resent, now);
                }
            }
        }
    }

    /// Measures the round-trip time. Returns that of the last segment, for the window rule.
    fn measure(&mut self, ack: &AckSegment, facts: &Facts, conn: &mut Connection) -> Option<Span> {
        let now = conn.now();
        let acked = facts.acked_sent.filter(|_| !facts.covers_resent);
        let stamped = || {
            // Timestamps count milliseconds.
            let ms = (now.0 / 1_000_000).saturating_sub(ack.echo.0 / 1_000_000).max(1);
            Time(now.0.saturating_sub(ms * 1_000_000))
        };
        let first = acked.or(facts.sacked_sent).map(|s| s.0);
        let first = first.or_else(|| (facts.advances && conn.cfg().timestamps).then(stamped))?;
        let last = facts.sacked_sent.or(acked).map_or(first, |s| s.1);
        // A round trip ends when what was sent at its begin is acknowledged, and not in a recovery before.
        let ends_round = self.queue.una() > self.round_end;
        if ends_round {
            self.round_end = self.queue.nxt();
        }
        conn.measure_in_round(first, ends_round);
        let rtt = now.since(last);
        self.rack.take_rtt(rtt);
        Some(rtt)
    }

    fn see_reordering(&mut self, low: Seq, fack: Seq) {
        if low < fack {
            self.rack.see_reordering(fack - low);
        }
    }

    // ---- states ----

    fn mark_lost(&mut self, conn: &Connection) -> Option<Span> {
        let recovering = matches!(self.state, State::Recovery | State::Loss);
        let (wait, marked) = self.rack.detect(&mut self.queue, recovering, Self::srtt(conn), conn.now());
        self.lost += u64::from(marked);
        wait
    }

    /// Seeks losses after a delivery. If more segments may be lost soon, the timer waits for that.
    fn identify_losses(&mut self, conn: &mut Connection, facts: &mut Facts) {
        if !self.cfg.sack {
            return self.mark_first_lost(facts);
        }
        if self.queue.is_empty() || !self.rack.advanced {
            return;
        }
        let resent = self.queue.resent();
        if let Some(wait) = self.mark_lost(conn) {
            facts.sets_timer = false;
            self.wait_for_reordering(wait, conn);
        }
        facts.lost_again |= self.queue.resent() < resent;
    }

    /// Begins a reduction of the window (RFC 9937).
    fn begin_reduction(&mut self, signal: Signal, conn: &mut Connection) {
        self.high = self.queue.nxt();
        self.probe = None;
        self.w.credit = 0;
        self.prr = Prr::begin(self.w.cwnd);
        self.undo.keep_cwnd(self.w.cwnd);
        self.w.ssthresh = self.ssthresh_after(signal, conn);
    }

    fn end_reduction(&mut self) {
        if self.control.is_bbr() {
            return;
        }
        if self.state == State::Reducing || self.undo.is_armed() {
            self.w.cwnd = self.w.ssthresh;
        }
    }

    /// ssthresh to return to if the reduction that begins proves wrong.
    fn ssthresh_to_keep(&self) -> u32 {
        if self.reduces() { self.w.ssthresh } else { self.w.ssthresh.max(self.w.cwnd / 2 + self.w.cwnd / 4) }
    }

    fn enter_recovery(&mut self, conn: &mut Connection) {
        self.undo.arm(self.queue.una(), self.queue.resent());
        if !self.reduces() {
            self.undo.keep_ssthresh(self.ssthresh_to_keep());
            self.begin_reduction(Signal::FastRetransmit, conn);
        }
        self.rack.count_recovery();
        self.by_time = self.rack.window.is_some_and(|w| w > Span::ZERO);
        self.state = State::Recovery;
        conn.begin_recovery_with_window();
    }

    /// Goes back to the window before the last reduction.
    fn undo(&mut self, unmark: bool) {
        if unmark {
            self.queue.unmark_lost();
        }
        let kept = self.undo.take();
        if let Some(bbr) = self.control.bbr() {
            bbr.on_undo();
        } else if let Some(bbr) = self.control.bbr3() {
            bbr.on_undo(self.rate.delivered, &mut self.w);
        } else if let Some((cwnd, ssthresh)) = kept {
            self.w.cwnd = self.w.cwnd.max(cwnd);
            self.w.ssthresh = self.w.ssthresh.max(ssthresh);
        }
        self.rack.advanced = true;
    }

    /// Open, or Disorder while segments are missing.
    fn keep_open(&mut self) {
        let left_out = self.queue.sacked() + self.queue.inferred() + self.queue.lost() > 0;
        let state = if left_out || self.queue.any_resent() { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = self.queue.nxt();
        }
    }

    fn try_to_open(&mut self) {
        if !self.queue.any_resent() {
            self.undo.end_episode();
        }
        if self.state != State::Reducing {
            self.keep_open();
        }
    }

    /// Everything sent before the recovery began is acknowledged.
    fn end_recovery(&mut self, ack: &AckSegment) {
        if self.undo.may_undo(ack.echo) {
            self.undo(false);
        }
        self.state = State::Open;
    }

    /// Reacts to an acknowledgement that is not ordinary. Returns what may be sent.
    fn react(&mut self, ack: &AckSegment, facts: &mut Facts, conn: &mut Connection) -> Next {
        let una = self.queue.una();
        if self.state == State::Open {
            self.undo.end_episode();
        } else if una >= self.high {
            match self.state {
                State::Reducing if una != self.high => {
                    self.end_reduction();
                    self.state = State::Open;
                }
                State::Recovery if !self.cfg.sack && una == self.high => {
                    self.queue.forget_inferred(u32::MAX);
                    return Next::New;
                }
                State::Recovery => {
                    self.end_recovery(ack);
                    self.end_reduction();
                    self.ask_at_recovery_end(conn);
                }
                _ => {}
            }
        }
        match self.state {
            State::Recovery => {
                if facts.advances && self.undo.is_delayed(ack.echo) && self.undo.is_armed() {
                    // The hole was filled by a delayed segment and not by its retransmission.
                    if self.queue.resent() > 0 {
                        return Next::New;
                    }
                    if !self.queue.any_resent() {
                        self.undo.end_episode();
                    }
                    self.undo(true);
                    self.keep_open();
                }
                if self.undo.by_dsack() {
                    self.undo(false);
                    self.try_to_open();
                }
                self.identify_losses(conn, facts);
                if self.state != State::Recovery {
                    if self.queue.lost() == 0 {
                        return Next::New;
                    }
                    self.enter_recovery(conn);
                }
            }
            State::Loss => {
                let next = self.react_in_loss(ack, facts, conn);
                self.identify_losses(conn, facts);
                if self.state != State::Open && !facts.lost_again {
                    return next;
                }
                return self.react_when_open(facts, conn);
            }
            _ => {
                if matches!(self.state, State::Open | State::Disorder) && self.undo.by_dsack() {
                    self.undo(false);
                }
                return self.react_when_open(facts, conn);
            }
        }
        Next::Lost
    }

    fn react_when_open(&mut self, facts: &mut Facts, conn: &mut Connection) -> Next {
        self.identify_losses(conn, facts);
        if self.queue.lost() == 0 {
            self.try_to_open();
            return Next::New;
        }
        self.enter_recovery(conn);
        Next::Lost
    }

    /// After a timeout (RFC 5682, 3.1).
    fn react_in_loss(&mut self, ack: &AckSegment, facts: &Facts, conn: &Connection) -> Next {
        let recovered = self.queue.una() >= self.high;
        if facts.advances && self.undo.may_undo(ack.echo) {
            return self.undo_timeout();
        }
        if self.frto {
            // Step 3b: data sent once, before the timeout, have arrived.
            if facts.original {
                return self.undo_timeout();
            }
            if self.queue.nxt() > self.high {
                self.frto &= !(facts.sacks || (!facts.advances && !facts.dsack));
            } else if facts.advances && !recovered {
                self.high = self.queue.nxt();
                if self.has_new(conn) {
                    return Next::NewFirst;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.end_recovery(ack);
            return Next::New;
        }
        Next::Lost
    }

    fn undo_timeout(&mut self) -> Next {
        self.undo(true);
        self.timeouts = 0;
        self.state = State::Open;
        Next::New
    }

    /// An acknowledgement at or above a tail loss probe (RFC 8985, 7.4).
    fn end_probe(&mut self, next: Seq, facts: &Facts, conn: &mut Connection) {
        let Some((end, resent)) = self.probe.filter(|p| next >= p.0) else { return };
        if !resent || facts.dsack_of_probe {
            self.probe = None;
        } else if next > end {
            // The probe has repaired a loss.
            self.begin_reduction(Signal::FastRetransmit, conn);
            self.state = State::Reducing;
            self.end_reduction();
            self.keep_open();
        } else if !(facts.advances || facts.sacks) {
            self.probe = None;
        }
    }

    /// Adapts the window: a reduction, or growth.
    fn control(&mut self, input: &Input, facts: &Facts, prior_lost: u64, prior_in_flight: u32, conn: &mut Connection) {
        if self.control.is_bbr() {
            let mut limited = false;
            let bbr_input = BbrInput {
                now: input.now,
                sample: &facts.sample,
                delivered: (self.rate.delivered, input.delivered),
                losses: (self.lost - prior_lost) as u32,
                rtt: input.rtt,
                in_flight: (prior_in_flight, self.queue.in_flight()),
                state: self.state,
                mss: conn.cfg().mss.0,
            };
            if let Some(bbr) = self.control.bbr() {
                bbr.on_ack(&bbr_input, &mut self.w, &mut self.pacing, &mut limited);
            } else if let Some(bbr) = self.control.bbr3() {
                let lost_segments = self.queue.take_lost();
                let bbr_input = Bbr3Input {
                    ack: bbr_input,
                    lost: self.lost,
                    lost_segments: &lost_segments,
                    cwnd_limited: self.usage.is_limited(),
                    sack: self.cfg.sack,
                };
                bbr.on_ack(&bbr_input, &mut self.w, &mut self.pacing, &mut limited);
                self.queue.hand_back(lost_segments);
            }
            if limited {
                self.rate.limit_by_application(self.queue.in_flight());
            }
            return;
        }
        if self.reduces() {
            let safe = facts.advances && self.lost == prior_lost;
            let in_flight = self.queue.in_flight();
            if let Some(cwnd) = self.prr.cwnd(input.delivered, safe, in_flight, self.w.ssthresh) {
                self.w.cwnd = cwnd;
            }
        } else if facts.advances || (facts.sacks && self.rack.reordering > self.dup_threshold) {
            if self.control.is_external() {
                return self.ask_for_window(input, facts, conn);
            }
            self.control.grow(input, &self.usage, &mut self.w);
        }
    }

    /// The first acknowledgement of a connection, that of its SYN.
    fn open(&mut self, ack: &AckSegment, conn: &mut Connection) {
        conn.take_new_data(ack);
        self.queue.start_at(conn.una());
        self.high = conn.una();
        self.round_end = conn.una();
        if let Some(rtt) = conn.rto().srtt() {
            self.rack.take_rtt(rtt);
        }
        self.begin(conn);
        self.rate.delivered = 1;
        if let Some(bbr) = self.control.bbr() {
            bbr.start(conn.now(), conn.rto().srtt(), 1, self.w.cwnd, conn.cfg().mss.0, &mut self.pacing);
        } else if let Some(bbr) = self.control.bbr3() {
            bbr.start(conn.now(), conn.rto().srtt(), 1, self.w.cwnd, conn.cfg().mss.0, &mut self.pacing);
            self.queue.keep_lost();
        }
        self.push(conn);
        self.end(conn);
    }

    fn process(&mut self, ack: &AckSegment, conn: &mut Connection) {
        let now = conn.now();
        let (prior_lost, prior_delivered, fack) = (self.lost, self.rate.delivered, self.queue.fack());
        let (una, prior_in_flight) = (self.queue.una(), self.queue.in_flight());
        let had_segments = !self.queue.is_empty();
        let mut facts = Facts::default();
        if !ack.sack.is_empty() {
            self.take_blocks(ack, now, &mut facts);
        }
        if ack.next > self.queue.una() {
            conn.take_partial(ack);
            conn.note_answer();
            self.timeouts = 0;
            self.take_acked(ack.next, now, &mut facts);
        }
        if !self.cfg.sack {
            self.infer(self.queue.una() - una, conn.last_ack().kind == AckKind::Duplicate, &mut facts);
        }
        if !had_segments {
            self.take_window(conn);
        }
        let rtt = self.measure(ack, &facts, conn);
        if facts.advances {
            facts.sets_timer = true;
        } else if let (Some((_, sent)), Some(head)) = (facts.sacked_sent, self.queue.get(self.queue.una())) {
            // The timer is not extended by what was sent after the first segment.
            facts.sets_timer = sent < head.sent;
        }
        if let Some(low) = facts.reordered {
            self.see_reordering(low, fack);
        }
        let input = Input { now, range: (self.queue.una(), self.queue.nxt()), delivered: facts.delivered, rtt };
        if facts.delivered > 0 {
            self.control.on_acked(&input, &mut self.w);
        }
        self.rack.adapt(prior_delivered, self.rate.delivered);
        self.end_probe(ack.next, &facts, conn);
        let ordinary = facts.advances && !facts.sacks && !facts.dsack && self.state == State::Open;
        let next = if !ordinary && had_segments { self.react(ack, &mut facts, conn) } else { Next::New };
        if facts.sets_timer {
            self.set_timer(conn);
        }
        self.rate.complete(&mut facts.sample, self.rack.min_rtt, now);
        self.control(&input, &facts, prior_lost, prior_in_flight, conn);
        self.send(next, conn);
    }
}

impl LossRecovery for RackTlp {
    const TAKES_EVERY_ACK: bool = true;
    const OWNS_TIMER: bool = true;

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if conn.awaits_syn() {
            if ack.next > conn.una() {
                self.open(ack, conn);
            }
            return;
        }
        self.begin(conn);
        self.process(ack, conn);
        self.end(conn);
    }

    fn reduces_window(&mut self, echoed: bool, conn: &mut Connection) -> bool {
        self.begin(conn);
        if matches!(self.state, State::Open | State::Disorder) {
            self.undo.disarm();
            self.begin_reduction(Signal::Ecn, conn);
            self.state = State::Reducing;
        }
        if let Some(bbr) = self.control.bbr3().filter(|_| echoed) {
            bbr.on_echo();
        }
        conn.note_reduction(echoed);
        self.end(conn);
        true
    }

    fn go_on(&mut self, conn: &mut Connection) {
        if conn.awaits_syn() {
            return conn.send_allowed();
        }
        self.begin(conn);
        let next = if self.reduces() || self.state == State::Loss { Next::Lost } else { Next::New };
        self.send(next, conn);
        self.end(conn);
    }

    fn on_write(&mut self, conn: &mut Connection) {
        // All earlier data have been sent.
        if self.queue.nxt() == conn.max()
            && self.queue.in_flight() < self.w.cwnd
            && self.queue.lost() <= self.queue.resent()
        {
            self.rate.limit_by_application(self.queue.in_flight());
        }
        self.go_on(conn);
    }

    fn on_pace(&mut self, conn: &mut Connection) {
        conn.wait_until(Time::NEVER);
        self.go_on(conn);
    }

    fn is_going_on(&self, _conn: &Connection) -> bool {
        matches!(self.state, State::Recovery | State::Loss)
    }

    fn on_timer(&mut self, conn: &mut Connection) {
        self.begin(conn);
        self.expire(conn);
        self.end(conn);
    }

    fn awaits_timeout(&self) -> bool {
        self.pending == Kind::Timeout
    }

    fn memory(&self) -> usize {
        self.queue.memory()
    }

    fn view(&self) -> Option<RackView> {
        Some(self.seen())
    }
}
