//! Distributed coordination function of one station (IEEE 802.11-2020, 10.3), with ns-2's deviations as settings.
//!
//! A station is a pure state machine with three timers: the end of its backoff (`access`), the instant of a response
//! one SIFS after a frame (`respond`), and the end of a wait (`timeout`). Its view of the medium consists of two
//! instants, start and end of the last signal, and of the NAV. A frozen backoff has no deadline.

use super::frame::{Frame, FrameKind};
use super::mode::{Mode, Modes};
use super::nav::Nav;
use super::rate::{Counts, Next, RateControl};
use super::retries::{Attempt, Retries};
use super::timing::Timing;
use super::{
    BackoffClock, BackoffRange, BoundarySlot, CapturedFrame, Config, CtsRule, DuplicateRule, EifsRule, FirstAccess,
    ResponseTimeout, RetryCounts,
};
use crate::packet::{Kind, PacketId, RadioId, Reason};
use crate::rng::Stream;
use crate::unit::{Span, Time};

/// Physical carrier sense: start and end of the last signal at this station.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// Start of the signal; it may lie in the future by the propagation delay.
    pub from: Time,
    /// End of the signal.
    pub until: Time,
}

impl Medium {
    fn busy(self, at: Time) -> bool {
        self.from <= at && at < self.until
    }
}

/// Context of a call.
pub struct Cx<'a> {
    /// Instant of the input at this station.
    pub now: Time,
    /// Physical carrier sense: the last signal at this station.
    pub medium: Medium,
    /// Times on air and interframe spaces.
    pub timing: &'a Timing,
    /// Settings of the DCF.
    pub rules: &'a Config,
    /// Actions of the station, in order.
    pub out: &'a mut Vec<Out>,
}

/// An action of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// Transmits this frame now.
    Transmit(Frame),
    /// A data frame was received that is not a duplicate.
    Deliver {
        /// The packet, still owned by the sender.
        packet: PacketId,
    },
    /// The packet was acknowledged, or its broadcast is over; the station is free for the next packet.
    Sent {
        /// The acknowledged or broadcast packet.
        packet: PacketId,
    },
    /// A packet has arrived ahead of its turn: the node keeps a copy of it.
    Store {
        /// The packet, still owned by the sender.
        packet: PacketId,
        /// Station that sent it.
        from: RadioId,
        /// Traffic identifier.
        tid: u8,
        /// Sequence number, by which it is released.
        seq: u16,
    },
    /// The turn of packets has come that were stored under this number.
    Release {
        /// Station that sent them.
        from: RadioId,
        /// Traffic identifier.
        tid: u8,
        /// Sequence number.
        seq: u16,
    },
    /// The packet was given up at the retry limit; the station is free for the next packet.
    GaveUp {
        /// The packet given up.
        packet: PacketId,
    },
    /// The driver takes a packet from a queue of the station.
    Taken {
        /// The packet taken.
        packet: PacketId,
    },
    /// A queue of the station has marked a packet: congestion experienced.
    Marked {
        /// The marked packet.
        packet: PacketId,
    },
    /// A queue of the station has dropped a packet.
    Dropped {
        /// The dropped packet.
        packet: PacketId,
        /// Reason of the drop.
        reason: Reason,
    },
}

/// A signal of another station that has ended, as the PHY reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal<'a> {
    /// A frame that was decoded.
    Frame(&'a Frame),
    /// A frame whose start was received (PHY-RXSTART) but which could not be decoded.
    Error,
    /// Energy alone: the start was missed, because this station was sending.
    Energy,
}

/// The contention state of a station between two calls, apart from the signals around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// End of the NAV, set by frames or by signals that could not be decoded.
    pub reserved: Time,
    /// EIFS follows instead of DIFS.
    pub after_error: bool,
    /// The station has something to send, to answer or to wait for.
    pub engaged: bool,
}

/// State of a station at an instant, for those who look at it from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// End of the NAV.
    pub nav_until: Time,
    /// Slots left of the pending backoff, if one is pending.
    pub slots: Option<u32>,
    /// The backoff is not frozen.
    pub counting: bool,
    /// Contention window, CW.
    pub cw: u32,
    /// Failed attempts at short frames for the packet held.
    pub short_retries: u32,
    /// Failed attempts at long frames for the packet held.
    pub long_retries: u32,
}

/// Counters of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// RTS frames transmitted, retries included.
    pub rts_frames_sent: u64,
    /// CTS frames transmitted in response to an RTS.
    pub cts_frames_sent: u64,
    /// Unicast data frames transmitted, retries included.
    pub data_frames_sent: u64,
    /// ACK frames transmitted in response to a data frame.
    pub ack_frames_sent: u64,
    /// Broadcast data frames transmitted, which get no ACK.
    pub broadcast_frames_sent: u64,
    /// RTS frames that no CTS answered.
    pub rts_frames_failed: u64,
    /// Unicast data frames that no ACK answered.
    pub data_frames_failed: u64,
    /// RTS frames received and not answered because the medium or the NAV was busy.
    pub cts_suppressed: u64,
    /// CTS frames that no data followed.
    pub cts_without_data: u64,
    /// Data frames received again.
    pub duplicates: u64,
    /// Unicast packets handed to the station, by kind.
    pub accepted: [u64; 4],
    /// Packets given up after too many RTS frames, by kind.
    pub gave_up_rts: [u64; 4],
    /// Packets given up after too many data frames, by kind.
    pub gave_up_data: [u64; 4],
}

impl Counters {
    /// Frames put on the air.
    pub fn frames(&self) -> u64 {
        self.rts_frames_sent
            + self.cts_frames_sent
            + self.data_frames_sent
            + self.ack_frames_sent
            + self.broadcast_frames_sent
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    AwaitCts,
    AwaitData,
    AwaitAck,
    /// A CTS to this station itself is on the air, which reserves the medium for the data.
    Protecting,
    /// The frame on the air is a CTS or an ACK with no frame to wait for.
    SendingResponse,
    SendingBroadcast,
}

#[derive(Clone, Copy, Debug)]
enum Response {
    Cts { to: RadioId, mode: Mode, duration: Span },
    Ack { to: RadioId, mode: Mode },
    Data,
}

/// Packet that the station is sending.
#[derive(Clone, Copy, Debug)]
struct Job {
    packet: PacketId,
    kind: Kind,
    to: RadioId,
    airtime: Span,
    /// Size of the data frame.
    bytes: u32,
    mode: Mode,
    seq: u16,
    retry: bool,
    /// The frame is longer than the RTS threshold.
    protected: bool,
    /// The next frame to send is the RTS.
    rts_pending: bool,
    /// Short and long retry count of the MPDU (SRC and LRC).
    retries: Retries,
}

impl Job {
    /// Retry count to which an attempt at the data frame belongs.
    fn attempt(&self) -> Attempt {
        if self.protected { Attempt::Long } else { Attempt::Short }
    }
}

/// Tolerance of instants \[ns\]: propagation delays are rounded to nanoseconds.
pub const SAME_INSTANT: u64 = 2;

/// Whole slots between two instants.
#[inline]
fn slots_gone(from: Time, to: Time, timing: &Timing, rule: BoundarySlot) -> u32 {
    let (elapsed, slot) = ((to - from).0, timing.slot.0);
    let gone = match rule {
        BoundarySlot::Counted => (elapsed + SAME_INSTANT) / slot,
        BoundarySlot::Lost => elapsed.saturating_sub(1) / slot,
        BoundarySlot::Rounded => {
            let gone = (elapsed + SAME_INSTANT) / slot;
            let at_boundary = gone > 0 && elapsed + SAME_INSTANT - gone * slot <= 2 * SAME_INSTANT;
            gone - u64::from(at_boundary && !survives_rounding(from, gone, timing))
        }
    };
    gone as u32
}

/// Returns true if the last of a number of slots counts in the arithmetic of ns-2: seconds in binary64.
fn survives_rounding(from: Time, slots: u64, timing: &Timing) -> bool {
    let boundary = (from + timing.slot * slots).as_secs();
    let resumed = Time(from.0 - timing.difs.0.min(from.0)).as_secs();
    let elapsed = boundary - (resumed + timing.difs.as_secs());
    (elapsed / timing.slot.as_secs()) as u64 >= slots
}

/// DCF of one station. The fields needed when frames of others are overheard fill the first cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Station {
    nav: Nav,
    /// End of a signal that was captured over.
    busy_until: Time,
    /// End of the backoff; NEVER while none runs or it is frozen.
    access: Time,
    /// Instant at which the slots of the backoff begin to count.
    counting_from: Time,
    /// Remaining backoff slots.
    slots: u32,
    /// A backoff is pending, running or frozen.
    contending: bool,
    /// The pending access needs no slots (first access to an idle medium).
    immediate: bool,
    /// EIFS follows instead of DIFS.
    after_error: bool,
    /// No response started in time, but some frame did: wait for its end.
    awaiting_end: bool,
    /// `response` is not empty; a copy in the first cache line.
    responds: bool,
    state: State,
    respond: Time,
    timeout: Time,
    response: Option<Response>,
    job: Option<Job>,
    cw: u32,
    /// Short and long retry count of the station (SSRC and SLRC).
    retries: Retries,
    seq: u16,
    /// A CTS without a timer was sent, and the data have not come.
    data_due: bool,
    me: RadioId,
    modes: Modes,
    /// Rate control; `None` where rates are fixed.
    control: Option<Box<RateControl>>,
    transmits_until: Time,
    /// End of the last frame that could not be decoded, for rules that count EIFS from it.
    error_end: Time,
    /// Last sequence number of each neighbor that sent to this station.
    seen: Vec<(RadioId, u16)>,
    rng: Stream,
    counters: Counters,
}

impl Station {
    /// Creates the station of a radio, with its rates and its backoff stream.
    pub fn new(me: RadioId, rules: &Config, modes: Modes, control: Option<Box<RateControl>>, rng: Stream) -> Station {
        Station {
            nav: Nav::default(),
            busy_until: Time::ZERO,
            access: Time::NEVER,
            counting_from: Time::ZERO,
            slots: 0,
            contending: false,
            immediate: false,
            after_error: false,
            awaiting_end: false,
            responds: false,
            state: State::Idle,
            respond: Time::NEVER,
            timeout: Time::NEVER,
            response: None,
            job: None,
            cw: rules.cw_min,
            retries: Retries::default(),
            seq: 0,
            data_due: false,
            me,
            modes,
            control,
            transmits_until: Time::ZERO,
            error_end: Time::ZERO,
            seen: Vec::with_capacity(8),
            rng,
            counters: Counters::default(),
        }
    }

    /// Resets the station after power-off and returns the packet it was holding. Counters, sequence numbers and the RNG
    /// stream are kept.
    pub fn restart(&mut self, rules: &Config) -> Option<PacketId> {
        let control = self.control.take();
        let fresh = Station::new(self.me, rules, self.modes.clone(), control, self.rng.clone());
        let old = std::mem::replace(self, fresh);
        (self.seq, self.counters) = (old.seq, old.counters);
        old.packet()
    }

    /// Keeps the station from sending and answering until this instant, as if its own frame were on the air.
    pub fn be_silent(&mut self, until: Time) {
        self.state = State::SendingResponse;
        (self.timeout, self.transmits_until) = (until, until);
    }

    /// Earliest timer of the station.
    #[inline]
    pub fn deadline(&self) -> Time {
        if self.state == State::Idle && !self.responds {
            debug_assert!(self.respond.min(self.timeout) == Time::NEVER);
            return self.access;
        }
        self.access.min(self.respond).min(self.timeout)
    }

    /// Returns true if the station can take a packet.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.job.is_none()
    }

    /// Returns true if the end of any signal may make this station act; otherwise it needs only the NAV of others'
    /// frames.
    #[inline]
    pub fn needs_every_end(&self) -> bool {
        self.contending || self.state != State::Idle || self.nav.awaits_frame()
    }

    /// Contention state of the station until its next input.
    #[inline]
    pub fn contention(&self) -> Contention {
        Contention {
            reserved: self.nav.until(),
            after_error: self.after_error,
            engaged: self.contending || self.state != State::Idle || self.response.is_some() || self.job.is_some(),
        }
    }

    /// State of the station now.
    pub fn seen(&self, now: Time, timing: &Timing, rules: &Config) -> Seen {
        let counting = self.access != Time::NEVER;
        let gone = if counting && !self.immediate && now > self.counting_from {
            slots_gone(self.counting_from, now, timing, rules.boundary_slot)
        } else {
            0
        };
        let retries = self.job.as_ref().map_or_else(Retries::default, |job| job.retries);
        Seen {
            nav_until: self.nav.until(),
            slots: self.contending.then(|| self.slots - self.slots.min(gone)),
            counting,
            cw: self.cw,
            short_retries: retries.count(Attempt::Short),
            long_retries: retries.count(Attempt::Long),
        }
    }

    /// Counters of the station.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Frames and packets sent to each neighbor, by rate and kind of packet; empty where rates are fixed.
    pub fn tallies(&self) -> impl Iterator<Item = (RadioId, Mode, Kind, Counts)> + '_ {
        self.control.iter().flat_map(|control| control.tallies())
    }

    /// Packet held by the station.
    pub fn packet(&self) -> Option<PacketId> {
        self.job.map(|j| j.packet)
    }

    /// Rate of data frames to a receiver.
    pub fn mode_to(&self, receiver: RadioId) -> Mode {
        self.modes.to(receiver)
    }

    /// Reports the signal-to-noise ratio of the station's last frame at its receiver, for ideal rate control.
    pub fn arrived(&mut self, to: RadioId, ratio: f64) {
        if let Some(control) = &mut self.control {
            control.arrived(to, ratio);
        }
    }

    /// Number of RTS frames without a CTS and data frames without an ACK.
    pub fn unanswered(&self) -> u64 {
        self.counters.rts_frames_failed + self.counters.data_frames_failed
    }

    // ---- inputs ----

    /// Takes a packet to send; the station must be free.
    pub fn enqueue(&mut self, packet: PacketId, kind: Kind, to: RadioId, bytes: u32, cx: &mut Cx<'_>) {
        debug_assert!(self.job.is_none());
        let frame_bytes = cx.timing.frame_bytes(bytes);
        let unicast = !to.is_broadcast();
        let (mode, airtime) = if unicast {
            let mode = match &mut self.control {
                None => self.modes.to(to),
                Some(control) => control.begin(to, kind, frame_bytes, cx.now),
            };
            (mode, cx.timing.data_in(mode, frame_bytes))
        } else {
            (cx.timing.basic_mode, cx.timing.broadcast(frame_bytes))
        };
        let protected = unicast && self.is_after_rts(frame_bytes, cx);
        // Retransmissions keep the number, so receivers can filter duplicates.
        self.seq = self.seq.wrapping_add(1);
        let seq = self.seq;
        let retries = Retries::default();
        self.job = Some(Job {
            packet,
            kind,
            to,
            airtime,
            bytes: frame_bytes,
            mode,
            seq,
            retry: false,
            protected,
            rts_pending: protected,
            retries,
        });
        if unicast {
            self.counters.accepted[kind as usize] += 1;
        }
        let free = !self.contending && self.is_idle(cx);
        let immediate = free
            && match cx.rules.first_access {
                // Waits for a signal still on its way, too: stations started at one instant would otherwise collide for
                // ever.
                FirstAccess::Immediate => {
                    !self.responds && self.quiet_until(cx.medium.until.max(self.transmits_until), cx.timing) <= cx.now
                }
                FirstAccess::Idle => true,
                FirstAccess::Backoff => false,
            };
        // Between a frame and its response no backoff starts: `proceed` starts it after the exchange. A running or
        // frozen backoff also serves the new packet.
        if immediate || !(self.contending || free && self.responds) {
            self.immediate = immediate;
            self.start_backoff(cx);
        }
    }

    /// The medium turns busy at this instant. Returns true if that moves the deadline.
    #[inline]
    pub fn on_busy(&mut self, at: Time, timing: &Timing, rules: &Config) -> bool {
        self.nav.on_busy(at, timing);
        // A backoff that ends before carrier sense notices the signal is not stopped. The tolerance is needed because
        // rounded delays over a station between can be shorter than the direct one.
        let stops = at + rules.cca_time + Span(SAME_INSTANT) < self.access && self.access != Time::NEVER;
        if stops {
            self.freeze(at, timing, rules);
        }
        stops
    }

    /// Returns true if a backoff slot ends at the instant at which a signal arrives.
    #[inline]
    pub fn is_tied(&self, at: Time, timing: &Timing, rules: &Config) -> bool {
        let after = (at + rules.cca_time).0 + SAME_INSTANT;
        self.access != Time::NEVER
            && after >= self.counting_from.0
            && (after - self.counting_from.0) % timing.slot.0 <= 2 * SAME_INSTANT
    }

    /// A frame between these instants was too weak to disturb the frame being received.
    pub fn on_captured(&mut self, from: Time, until: Time, timing: &Timing, rules: &Config) {
        match rules.captured_frame {
            CapturedFrame::Nav => self.nav.reserve(from + (timing.eifs + (until - from)).nearest_us()),
            CapturedFrame::Busy => self.busy_until = self.busy_until.max(until),
        }
    }

    /// A frame for another station was decoded by a station that does not need every end.
    #[inline]
    pub fn on_overheard(&mut self, frame: &Frame, now: Time, timing: &Timing, rules: &Config) {
        self.after_error = false;
        self.nav.on_frame(frame, now, timing, rules);
    }

    /// Returns true if the station has nothing to send, to answer or to wait for.
    #[inline]
    pub fn only_listens(&self) -> bool {
        !self.needs_every_end() && !self.responds && self.job.is_none()
    }

    /// A broadcast was received by a station that only listens.
    #[inline]
    pub fn on_broadcast(&mut self) {
        self.after_error = false;
    }

    /// A station that does not need every end has sensed a signal that it cannot decode. `started`: as a frame, not as
    /// energy alone.
    #[inline]
    pub fn on_noise(&mut self, started: bool, now: Time, timing: &Timing, rules: &Config) {
        match rules.eifs {
            EifsRule::Nav => self.nav.reserve(now + timing.eifs_nav),
            EifsRule::InsteadOfDifs => self.after_error |= started,
            EifsRule::Difs => {}
            EifsRule::AfterFrame => self.pass_eifs(started, now, timing),
        }
    }

    /// EIFS begins after a frame that could not be decoded, and passes while energy keeps the medium busy.
    #[cold]
    fn pass_eifs(&mut self, started: bool, now: Time, timing: &Timing) {
        let end = self.error_end + timing.eifs;
        self.after_error = started;
        if started {
            self.error_end = now;
        } else if self.error_end > Time::ZERO && now < end {
            // The rest of EIFS; DIFS follows. A received frame ends it.
            self.nav.reserve_while_silent(self.error_end + (timing.eifs - timing.difs));
        }
    }

    /// Returns true if the station only waits for the medium.
    #[inline]
    pub fn only_contends(&self) -> bool {
        self.contending && self.state == State::Idle && !self.responds
    }

    /// A signal has ended on a station on which it has no effect but a reservation of the medium.
    #[inline(always)]
    pub fn on_others(&mut self, signal: Signal<'_>, now: Time, timing: &Timing, rules: &Config) {
        match signal {
            Signal::Frame(frame) => self.on_overheard(frame, now, timing, rules),
            Signal::Error => self.on_noise(true, now, timing, rules),
            Signal::Energy => self.on_noise(false, now, timing, rules),
        }
    }

    /// Resumes the backoff of a station that [only contends](Self::only_contends). Returns true if its deadline has
    /// moved.
    #[inline]
    pub fn resume(&mut self, medium: Medium, now: Time, timing: &Timing, rules: &Config) -> bool {
        let resumes = self.access == Time::NEVER && medium.until <= now;
        if resumes {
            self.count(medium, now, timing, rules);
        }
        resumes
    }

    /// A signal has ended.
    pub fn on_signal(&mut self, signal: Signal<'_>, cx: &mut Cx<'_>) {
        match signal {
            Signal::Frame(frame) => return self.on_frame(frame, cx),
            Signal::Error => {
                self.on_noise(true, cx.now, cx.timing, cx.rules);
                self.end_wait(cx);
            }
            Signal::Energy => {
                self.on_noise(false, cx.now, cx.timing, cx.rules);
                // The signal that was taken for the response was not a frame.
                if self.awaiting_end {
                    self.end_wait(cx);
                }
            }
        }
        self.proceed(cx);
    }

    /// A frame was decoded, for this station or for another one.
    fn on_frame(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        if frame.to == self.me || frame.to.is_broadcast() {
            self.after_error = false;
            self.receive(frame, cx);
        } else {
            self.on_overheard(frame, cx.now, cx.timing, cx.rules);
            self.end_wait(cx);
        }
        self.proceed(cx);
    }

    /// One of the timers is due.
    pub fn on_deadline(&mut self, cx: &mut Cx<'_>) {
        if self.respond <= cx.now {
            self.respond = Time::NEVER;
            self.send_response(cx);
        } else if self.timeout <= cx.now {
            self.timeout = Time::NEVER;
            self.on_timeout(cx);
        } else if self.access <= cx.now {
            self.access = Time::NEVER;
            self.contending = false;
            self.immediate = false;
            self.miss_data();
            match self.job {
                Some(job) if job.rts_pending => self.send_rts(job, cx),
                Some(job) => match cx.timing.protection {
                    Some(cts) if !job.to.is_broadcast() => self.send_cts_to_self(job, cts, cx),
                    _ => self.send_data(job, cx),
                },
                None => {}
            }
        }
    }

    /// Prolongs a backoff that has just begun, by whole slots; does nothing without a backoff.
    pub fn prolong_backoff(&mut self, by: Span, timing: &Timing) {
        if !self.contending {
            return;
        }
        let slots = by.0.div_ceil(timing.slot.0);
        self.slots += slots as u32;
        if self.access != Time::NEVER {
            self.access += timing.slot * slots;
        }
    }

    // ---- reception ----

    fn receive(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        match frame.kind {
            FrameKind::Cts if self.state == State::AwaitCts => {
                // Resets only the station's count: the MPDU's count and CW stay (10.3.3).
                self.retries.succeed(Attempt::Short);
                self.leave_wait();
                self.answer(Response::Data, cx);
                self.respond = cx.now + cx.timing.sifs;
                if let Some(job) = &mut self.job {
                    job.rts_pending = false;
                }
            }
            FrameKind::Ack if self.state == State::AwaitAck => self.on_acknowledged(cx),
            _ => self.receive_unexpected(frame, cx),
        }
    }

    /// A frame was received that is not the awaited response.
    #[inline]
    fn receive_unexpected(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        self.end_wait(cx);
        match frame.kind {
            FrameKind::Rts => {
                if self.state == State::Idle && !self.responds {
                    self.answer(Response::Cts { to: frame.from, mode: frame.mode, duration: frame.duration }, cx);
                    self.respond = cx.now + cx.timing.sifs;
                }
            }
            FrameKind::Data => self.receive_data(frame, cx),
            // A station without EDCA ignores frames of block acknowledgement.
            FrameKind::Cts | FrameKind::Ack => {}
            FrameKind::BlockAck | FrameKind::BlockAckReq | FrameKind::CfEnd | FrameKind::Action => {}
        }
    }

    fn receive_data(&mut self, frame: &Frame, cx: &mut Cx<'_>) {
        let packet = frame.packet.expect("a data frame carries a packet");
        if frame.to.is_broadcast() {
            cx.out.push(Out::Deliver { packet });
            return;
        }
        if frame.protected && cx.rules.response_timeout == ResponseTimeout::Fixed {
            if self.state != State::AwaitData {
                return;
            }
            self.leave_wait();
        } else {
            if self.responds {
                return;
            }
            self.data_due &= !frame.protected;
        }
        self.answer(Response::Ack { to: frame.from, mode: frame.mode }, cx);
        if self.timeout == Time::NEVER {
            self.respond = cx.now + cx.timing.sifs;
        }
        if self.is_duplicate(frame, cx.rules) {
            self.counters.duplicates += 1;
        } else {
            cx.out.push(Out::Deliver { packet });
        }
    }

    fn is_duplicate(&mut self, frame: &Frame, rules: &Config) -> bool {
        match self.seen.iter_mut().find(|s| s.0 == frame.from) {
            Some((_, last)) => {
                let same = *last == frame.seq && (rules.duplicate_detection == DuplicateRule::Sequence || frame.retry);
                *last = frame.seq;
                same
            }
            None => {
                self.seen.push((frame.from, frame.seq));
                false
            }
        }
    }

    fn on_acknowledged(&mut self, cx: &mut Cx<'_>) {
        self.leave_wait();
        let job = self.job.take().expect("an acknowledgement is awaited for a packet");
        self.retries.succeed(job.attempt());
        self.cw = cx.rules.cw_min;
        if let Some(control) = &mut self.control {
            control.succeeded(cx.now);
        }
        self.post_backoff(cx);
        cx.out.push(Out::Sent { packet: job.packet });
    }

    /// Returns true if a frame is being received whose PHY-RXSTART.indication has come in time (10.3.2.9): after
    /// preamble and header of a signal that began at most SIFS and a slot after the station's own frame. A receiver
    /// sees no start of an earlier signal.
    fn receives_in_time(&self, cx: &Cx<'_>) -> bool {
        let latest = self.transmits_until + cx.timing.sifs + cx.timing.slot;
        cx.medium.busy(cx.now) && (self.transmits_until..=latest).contains(&cx.medium.from)
    }

    /// Ends a prolonged wait because the received frame is not the awaited one.
    #[inline]
    fn end_wait(&mut self, cx: &mut Cx<'_>) {
        let waits = matches!(self.state, State::AwaitCts | State::AwaitAck);
        if waits && cx.rules.response_timeout == ResponseTimeout::RxStart {
            match self.state {
                State::AwaitCts => self.on_no_cts(cx),
                _ => self.on_no_ack(cx),
            }
        }
    }

    // ---- waiting ----

    fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        let answer = || matches!(self.state, State::AwaitCts | State::AwaitAck);
        if cx.rules.response_timeout == ResponseTimeout::RxStart && answer() && self.receives_in_time(cx) {
            self.awaiting_end = true;
            return;
        }
        match self.state {
            State::AwaitCts => self.on_no_cts(cx),
            State::AwaitAck => self.on_no_ack(cx),
            State::SendingBroadcast => {
                self.state = State::Idle;
                let job = self.job.take().expect("a broadcast is of a packet");
                if cx.rules.retry_counts == RetryCounts::Mpdu {
                    // A group-addressed frame resets the station's counts (10.3.3).
                    self.retries = Retries::default();
                }
                self.cw = cx.rules.cw_min;
                self.post_backoff(cx);
                cx.out.push(Out::Sent { packet: job.packet });
            }
            State::Protecting => {
                self.state = State::Idle;
                self.answer(Response::Data, cx);
                self.respond = cx.now + cx.timing.sifs;
            }
            State::AwaitData => {
                self.counters.cts_without_data += 1;
                self.state = State::Idle;
            }
            State::SendingResponse | State::Idle => self.state = State::Idle,
        }
        self.proceed(cx);
    }

    /// Counts a CTS that no data followed, where no timer does.
    #[inline]
    fn miss_data(&mut self) {
        if self.data_due {
            self.data_due = false;
            self.counters.cts_without_data += 1;
        }
    }

    /// Returns true if RTS and CTS come before a frame of this size. A CTS to this station itself replaces them.
    fn is_after_rts(&self, bytes: u32, cx: &Cx<'_>) -> bool {
        let asks = |control: &RateControl| control.asks_for_rts();
        cx.timing.protection.is_none()
            && (bytes > cx.rules.rts_threshold.0 || self.control.as_deref().is_some_and(asks))
    }

    fn on_no_cts(&mut self, cx: &mut Cx<'_>) {
        self.leave_wait();
        self.counters.rts_frames_failed += 1;
        let next = self.control.as_mut().and_then(|control| control.rts_frames_failed(cx.now));
        self.fail(Attempt::Short, true, next, cx);
    }

    fn on_no_ack(&mut self, cx: &mut Cx<'_>) {
        self.leave_wait();
        self.counters.data_frames_failed += 1;
        let next = self.control.as_mut().map(|control| control.failed(cx.now));
        let mut job = self.job.expect("an acknowledgement is awaited for a packet");
        let attempt = job.attempt();
        job.retry = true;
        job.protected = self.is_after_rts(job.bytes, cx);
        job.rts_pending = job.protected;
        self.job = Some(job);
        self.fail(attempt, false, next, cx);
    }

    /// An attempt has failed. The MPDU's counts decide if another attempt follows (10.3.4.4), the station's counts if
    /// CW grows or is reset (10.3.3). `next` is the decision of rate control, whose chain of attempts may replace both.
    fn fail(&mut self, attempt: Attempt, rts: bool, next: Option<Next>, cx: &mut Cx<'_>) {
        let job = self.job.as_mut().expect("an attempt is made for a packet");
        let mpdu = job.retries.fail(attempt, cx.rules);
        let station = self.retries.fail(attempt, cx.rules);
        let (mut resets, mut over) = match cx.rules.retry_counts {
            RetryCounts::Mpdu => (station, mpdu),
            RetryCounts::Station => (station, station),
        };
        if let Some(next) = next {
            match next {
                Next::Mode(_) => {}
                Next::Chain(_) => (resets, over) = (false, false),
                Next::End => (resets, over) = (true, true),
            }
            if let Next::Mode(mode) | Next::Chain(mode) = next {
                (job.mode, job.airtime) = (mode, cx.timing.data_in(mode, job.bytes));
            }
        }
        self.cw = if resets { cx.rules.cw_min } else { self.wider(cx.rules) };
        if over {
            self.give_up(rts, cx);
        } else {
            self.start_backoff(cx);
        }
    }

    /// Next CW of the exponential series.
    fn wider(&self, rules: &Config) -> u32 {
        (2 * self.cw + 1).min(rules.cw_max)
    }

    fn give_up(&mut self, after_rts: bool, cx: &mut Cx<'_>) {
        let job = self.job.take().expect("a packet is given up");
        let counter = if after_rts { &mut self.counters.gave_up_rts } else { &mut self.counters.gave_up_data };
        counter[job.kind as usize] += 1;
        if let Some(control) = &mut self.control {
            control.gave_up();
        }
        if cx.rules.post_backoff_after_failure {
            self.post_backoff(cx);
        }
        cx.out.push(Out::GaveUp { packet: job.packet });
    }

    fn leave_wait(&mut self) {
        self.state = State::Idle;
        self.timeout = Time::NEVER;
        self.awaiting_end = false;
    }

    // ---- backoff ----

    fn draw(&mut self, rules: &Config) -> u32 {
        match rules.backoff_range {
            BackoffRange::Inclusive => self.rng.below(self.cw + 1),
            BackoffRange::Exclusive => self.rng.below(self.cw),
        }
    }

    fn post_backoff(&mut self, cx: &mut Cx<'_>) {
        self.immediate = false;
        self.start_backoff(cx);
    }

    fn start_backoff(&mut self, cx: &mut Cx<'_>) {
        self.slots = if self.immediate { 0 } else { self.draw(cx.rules) };
        self.contending = true;
        self.contend(cx);
    }

    fn freeze(&mut self, at: Time, timing: &Timing, rules: &Config) {
        if self.immediate {
            if rules.first_access == FirstAccess::Immediate {
                self.immediate = false;
                self.slots = self.draw(rules);
            }
        } else if at + rules.cca_time > self.counting_from {
            let gone = slots_gone(self.counting_from, at + rules.cca_time, timing, rules.boundary_slot);
            self.slots -= self.slots.min(gone);
        }
        self.access = Time::NEVER;
    }

    /// Returns true if neither own frames, nor signals, nor the NAV keep the station from sending.
    fn is_idle(&self, cx: &Cx<'_>) -> bool {
        self.state == State::Idle && !cx.medium.busy(cx.now) && self.virtually_busy_until() <= cx.now
    }

    #[inline]
    fn virtually_busy_until(&self) -> Time {
        self.nav.until().max(self.busy_until)
    }

    /// Lets a pending backoff run from now on, or leaves it frozen.
    fn contend(&mut self, cx: &Cx<'_>) {
        if self.state != State::Idle || self.responds || cx.medium.until > cx.now {
            self.access = Time::NEVER;
        } else {
            self.count(cx.medium, cx.now, cx.timing, cx.rules);
        }
    }

    /// Instant at which the medium, if silent from `silent` on, has been idle for DIFS, or for EIFS after an error.
    /// EIFS counts from the end of the signal, without regard to the NAV (10.3.2.3.7).
    #[inline]
    fn quiet_until(&self, silent: Time, timing: &Timing) -> Time {
        let after_difs = silent.max(self.virtually_busy_until()) + timing.difs;
        if self.after_error { after_difs.max(silent.max(self.busy_until) + timing.eifs) } else { after_difs }
    }

    /// Sets the deadline of a running backoff.
    #[inline]
    fn count(&mut self, medium: Medium, now: Time, timing: &Timing, rules: &Config) {
        self.counting_from = if rules.backoff_clock == BackoffClock::Continuous && !self.immediate {
            self.quiet_until(now, timing)
        } else {
            let first = self.quiet_until(medium.until.max(self.transmits_until), timing);
            if self.immediate {
                first.max(now)
            } else if first >= now {
                first
            } else {
                first + timing.slot * (now - first).0.div_ceil(timing.slot.0)
            }
        };
        self.access = self.counting_from + timing.slot * u64::from(self.slots);
    }

    /// Continues after anything that may have made the station idle: a waiting response first, then a frozen backoff,
    /// then a waiting packet.
    fn proceed(&mut self, cx: &mut Cx<'_>) {
        if self.state != State::Idle {
            return;
        }
        // A response has priority over a backoff, because it is due one SIFS after the frame it answers.
        if self.responds {
            if self.respond == Time::NEVER {
                self.respond = cx.now + cx.timing.sifs;
            }
        // A backoff that already runs keeps its deadline.
        } else if self.contending {
            if self.access == Time::NEVER {
                self.contend(cx);
            }
        // The packet came between a frame and its response, so its first access needs a backoff.
        } else if self.job.is_some() {
            self.immediate = false;
            self.start_backoff(cx);
        }
    }

    // ---- sending ----

    /// Schedules a response, which precedes everything else: a running backoff stops.
    fn answer(&mut self, response: Response, cx: &Cx<'_>) {
        if self.access != Time::NEVER {
            self.freeze(cx.now, cx.timing, cx.rules);
        }
        self.response = Some(response);
        self.responds = true;
    }

    fn transmit(&mut self, frame: Frame, cx: &mut Cx<'_>) {
        if self.access != Time::NEVER {
            self.freeze(cx.now, cx.timing, cx.rules);
        }
        debug_assert!(self.transmits_until <= cx.now, "two frames at once");
        self.transmits_until = cx.now + frame.airtime;
        // EIFS is over before a station sends: it has waited, or has decoded the frame it answers.
        self.after_error = false;
        cx.out.push(Out::Transmit(frame));
    }

    fn control_frame(&self, kind: FrameKind, to: RadioId, airtime: Span, duration: Span, mode: Mode) -> Frame {
        let from = self.me;
        Frame { kind, to, from, duration, airtime, mode, packet: None, seq: 0, retry: false, protected: false }
    }

    /// Time to wait for a response, from the begin of a frame of this time on air.
    #[inline(always)]
    fn wait(own: Span, answer: Span, rx_start_delay: impl FnOnce(&Timing) -> Span, cx: &Cx<'_>) -> Span {
        match cx.rules.response_timeout {
            ResponseTimeout::Fixed => own + cx.rules.max_propagation * 2 + cx.timing.sifs + answer,
            ResponseTimeout::RxStart => own + cx.timing.sifs + cx.timing.slot + rx_start_delay(cx.timing),
        }
    }

    fn send_rts(&mut self, job: Job, cx: &mut Cx<'_>) {
        self.counters.rts_frames_sent += 1;
        self.state = State::AwaitCts;
        self.timeout = cx.now + Self::wait(cx.timing.rts, cx.timing.cts, |timing| timing.rx_start_delay, cx);
        let frame = self.control_frame(
            FrameKind::Rts,
            job.to,
            cx.timing.rts,
            cx.timing.rts_duration(job.airtime, job.mode),
            cx.timing.rts_mode,
        );
        self.transmit(frame, cx);
    }

    /// Reserves the medium at a rate that stations read to which the data are noise (10.3.2.12).
    fn send_cts_to_self(&mut self, job: Job, (mode, airtime): (Mode, Span), cx: &mut Cx<'_>) {
        self.counters.cts_frames_sent += 1;
        self.state = State::Protecting;
        self.timeout = cx.now + airtime;
        let duration = cx.timing.sifs + job.airtime + cx.timing.data_duration(job.mode);
        let frame = self.control_frame(FrameKind::Cts, self.me, airtime, duration.nearest_us(), mode);
        self.transmit(frame, cx);
    }

    fn send_data(&mut self, job: Job, cx: &mut Cx<'_>) {
        let duration = if job.to.is_broadcast() {
            self.counters.broadcast_frames_sent += 1;
            self.state = State::SendingBroadcast;
            self.timeout = cx.now + job.airtime;
            Span::ZERO
        } else {
            self.counters.data_frames_sent += 1;
            if let Some(control) = &mut self.control {
                control.sent();
            }
            self.state = State::AwaitAck;
            let rx_start_delay = |timing: &Timing| timing.ack_rx_start_delay(job.mode);
            self.timeout = cx.now + Self::wait(job.airtime, cx.timing.ack_to(job.mode), rx_start_delay, cx);
            cx.timing.data_duration(job.mode)
        };
        let frame = Frame {
            kind: FrameKind::Data,
            to: job.to,
            from: self.me,
            duration,
            airtime: job.airtime,
            mode: job.mode,
            packet: Some(job.packet),
            seq: job.seq,
            retry: job.retry,
            protected: job.protected,
        };
        self.transmit(frame, cx);
    }

    fn send_response(&mut self, cx: &mut Cx<'_>) {
        self.responds = false;
        match self.response.take() {
            Some(Response::Cts { to, mode, duration }) => {
                let may = match cx.rules.cts_requires {
                    CtsRule::MediumIdle => self.is_idle(cx),
                    CtsRule::NavIdle => self.nav.until() <= cx.now,
                };
                if !may {
                    self.counters.cts_suppressed += 1;
                    self.proceed(cx);
                    return;
                }
                self.counters.cts_frames_sent += 1;
                let airtime = cx.timing.cts_in(mode);
                let duration = cx.timing.cts_duration(duration, airtime);
                if cx.rules.response_timeout == ResponseTimeout::Fixed {
                    self.state = State::AwaitData;
                    // Data follow after SIFS; the announced time less SIFS and ACK is their end.
                    let data_end = duration + cx.rules.max_propagation * 2 - cx.timing.sifs - cx.timing.shortest_ack;
                    self.timeout = cx.now + airtime + data_end;
                } else {
                    // The standard has no such timer (10.3.2.11): the medium is free again DIFS after the CTS, and data
                    // are acknowledged whenever they come.
                    self.state = State::SendingResponse;
                    self.timeout = cx.now + airtime;
                    self.miss_data();
                    self.data_due = true;
                }
                let frame = self.control_frame(FrameKind::Cts, to, airtime, duration, mode);
                self.transmit(frame, cx);
            }
            Some(Response::Ack { to, mode }) => {
                let (mode, airtime) = cx.timing.response_to(mode);
                self.counters.ack_frames_sent += 1;
                self.state = State::SendingResponse;
                self.timeout = cx.now + airtime;
                let frame = self.control_frame(FrameKind::Ack, to, airtime, Span::ZERO, mode);
                self.transmit(frame, cx);
            }
            Some(Response::Data) => {
                let job = self.job.as_mut().expect("a CTS answers for a packet");
                if cx.rules.data_needs_idle
                    && (cx.medium.busy(cx.now) || self.nav.until().max(self.busy_until) > cx.now)
                {
                    job.rts_pending = job.protected;
                    self.cw = self.wider(cx.rules);
                    self.start_backoff(cx);
                } else {
                    let job = *job;
                    self.send_data(job, cx);
                }
            }
            None => {}
        }
    }
}
