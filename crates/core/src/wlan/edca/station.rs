//! A QoS station: four EDCAFs, TXOPs, aggregates and their block acknowledgements.

use super::category::{AccessCategory, Backoff, CATEGORIES};
use super::counters::QosCounters;
use super::held::{Agreed, Held, Limits, Outcome, Queue, Room};
use super::mac80211::{Queues, Waiting, expected_airtime};
use super::psdu::Psdu;
use super::recipient::{Arrival, Recipient, ahead};
use super::secondary::{Secondary, WhenBusy};
use super::{Agreement, MissedBlockAck, Parameters};
use crate::packet::{Kind, PacketId, RadioId};
use crate::rng::Stream;
use crate::unit::{Span, Time};
use crate::wlan::dcf::{Contention, Counters, Cx, Medium, Out, Seen, Signal};
use crate::wlan::frame::{Frame, FrameKind};
use crate::wlan::mode::{Mode, Modes};
use crate::wlan::nav::Nav;
use crate::wlan::rate::{Counts, RateControl};
use crate::wlan::timing::Timing;
use crate::wlan::{CapturedFrame, Config, CtsRule, EifsRule};

/// Length of a BlockAck with a bitmap of 64 bits, and of a request for one \[B\].
pub const BLOCK_ACK_BYTES: u32 = 32;
/// Length of a compressed BlockAckReq \[B\].
pub const BLOCK_ACK_REQUEST_BYTES: u32 = 24;
/// Length of an ADDBA request or response \[B\].
pub const ADDBA_BYTES: u32 = 37;
/// Length of an RTS or a CF-End \[B\].
const RTS_BYTES: u32 = 20;
/// Length of a CTS or an ACK \[B\].
const ACK_BYTES: u32 = 14;

/// A decoded frame of another station: its PSDU, and the MPDUs that have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// Contents of the frame.
    pub psdu: &'a Psdu,
    /// For each entry of its MPDUs, true if it was decoded.
    pub arrived: &'a [bool],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    AwaitCts,
    /// An ACK or a block acknowledgement is awaited.
    AwaitAnswer,
    /// A frame is on the air that nobody answers.
    Sending,
    /// A CTS to this station itself is on the air, which reserves the medium for the exchange.
    Protecting,
    SendingBroadcast,
}

impl State {
    #[inline]
    fn awaits_response(self) -> bool {
        matches!(self, State::AwaitCts | State::AwaitAnswer)
    }
}

#[derive(Clone, Copy, Debug)]
enum Response {
    Cts {
        to: RadioId,
        mode: Mode,
        duration: Span,
    },
    Ack {
        to: RadioId,
        mode: Mode,
        duration: Span,
    },
    BlockAck {
        to: RadioId,
        tid: u8,
        mode: Mode,
        duration: Span,
    },
    /// The data that an RTS has announced.
    Data,
    /// The TXOP goes on.
    Continue,
}

/// A transmit opportunity that the station holds.
#[derive(Clone, Copy, Debug)]
struct Txop {
    category: AccessCategory,
    /// End of the TXOP limit; NEVER: the TXOP is one frame exchange.
    until: Time,
    /// No exchange has succeeded yet.
    first: bool,
    /// Data are sent in 20 MHz, because the secondary channel is busy.
    narrow: bool,
}

/// The frame exchange that is going on.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    kind: FrameKind,
    to: RadioId,
    mode: Mode,
    airtime: Span,
    /// Time on air of the response.
    response: Span,
}

/// EDCA station of a radio.
#[derive(Clone, Debug)]
pub struct QosStation {
    me: RadioId,
    nav: Nav,
    busy_until: Time,
    after_error: bool,
    transmits_until: Time,
    /// Instant at which the packet came that was sent last without backoff; `None` after a backoff.
    immediate: Option<Time>,
    /// Instant from which on the medium counts as idle, for a station that has waited for a response.
    idle_from: Time,
    state: State,
    awaiting_end: bool,
    respond: Time,
    timeout: Time,
    response: Option<Response>,
    txop: Option<Txop>,
    exchange: Option<Exchange>,
    backoffs: [Backoff; 4],
    queues: [Queue; 4],
    /// Queues of mac80211 in front of a driver, which holds little; `None`: `queues` hold all packets.
    mac80211: Option<Box<Queues>>,
    /// ADDBA responses to send: receiver, TID, and failed attempts.
    responses: Vec<(RadioId, u8, u32)>,
    recipients: Vec<Recipient>,
    release_at: Time,
    /// Last sequence number of each neighbor and TID that sends without an agreement.
    seen: Vec<(RadioId, u8, u16)>,
    /// Contents of the frame that goes on the air next, or has gone last.
    pub psdu: Psdu,
    modes: Modes,
    /// Rate control; `None` where rates are fixed.
    control: Option<Box<RateControl>>,
    rng: Stream,
    /// Other networks in the secondary channel.
    secondary: Option<Box<Secondary>>,
    counters: Counters,
    qos_counters: QosCounters,
    done: Vec<(Held, Outcome)>,
    passed: Vec<(u16, bool)>,
}

impl QosStation {
    /// Creates the station of a radio, with its rates and its backoff stream.
    pub fn new(
        me: RadioId,
        rules: &Config,
        modes: Modes,
        control: Option<Box<RateControl>>,
        rng: Stream,
    ) -> QosStation {
        QosStation {
            me,
            nav: Nav::default(),
            busy_until: Time::ZERO,
            after_error: false,
            transmits_until: Time::ZERO,
            immediate: None,
            idle_from: Time::ZERO,
            state: State::Idle,
            awaiting_end: false,
            respond: Time::NEVER,
            timeout: Time::NEVER,
            response: None,
            txop: None,
            exchange: None,
            backoffs: CATEGORIES.map(|c| Backoff::new(c.parameters(&rules.edca).cw_min)),
            queues: std::array::from_fn(|_| {
                Queue::new(rules.has_block_ack() && rules.block_ack.agreement == Agreement::Established)
            }),
            mac80211: None,
            responses: Vec::new(),
            recipients: Vec::new(),
            release_at: Time::NEVER,
            seen: Vec::new(),
            psdu: Psdu::default(),
            modes,
            control,
            rng,
            secondary: None,
            counters: Counters::default(),
            qos_counters: QosCounters::default(),
            done: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Returns the station with these networks in its secondary channel.
    #[must_use]
    pub fn with_secondary(self, others: Option<Secondary>) -> QosStation {
        QosStation { secondary: others.map(Box::new), ..self }
    }

    /// Returns the station with the queues of mac80211, if there are any.
    #[must_use]
    pub fn with_mac80211(self, queues: Option<Queues>) -> QosStation {
        match queues {
            Some(queues) => {
                QosStation { queues: self.queues.map(Queue::with_driver), mac80211: Some(Box::new(queues)), ..self }
            }
            None => self,
        }
    }

    /// Resets the station after power-off; `dropped` gets the packets it was holding. Counters, sequence numbers, the
    /// windows of recipients and the RNG stream are kept; the packets in reordering buffers belong to the engine.
    pub fn restart(&mut self, rules: &Config, dropped: &mut Vec<PacketId>) {
        let control = self.control.take();
        let fresh = QosStation::new(self.me, rules, self.modes.clone(), control, self.rng.clone());
        let mut old = std::mem::replace(self, fresh);
        for queue in &mut old.queues {
            queue.clear(dropped);
            old.qos_counters.mpdus_failed += queue.take_failed();
        }
        if let Some(waiting) = &mut old.mac80211 {
            waiting.clear(|packet| dropped.push(packet));
        }
        (self.queues, self.seen, self.secondary) = (old.queues, old.seen, old.secondary);
        self.mac80211 = old.mac80211;
        (self.counters, self.qos_counters) = (old.counters, old.qos_counters);
        self.recipients = old.recipients;
        self.recipients.iter_mut().for_each(Recipient::forget_stored);
    }

    /// Keeps the station from sending and answering until this instant, as if its own frame were on the air.
    pub fn be_silent(&mut self, until: Time) {
        self.state = State::Sending;
        (self.timeout, self.transmits_until) = (until, until);
    }

    /// Earliest timer of the station.
    pub fn deadline(&self) -> Time {
        let access = self.backoffs.iter().map(|b| b.access).min().unwrap_or(Time::NEVER);
        let response = self.queues.iter().map(Queue::response_deadline).min().unwrap_or(Time::NEVER);
        access.min(self.respond).min(self.timeout).min(self.release_at).min(response)
    }

    /// Returns true if the station can take a packet of this category.
    pub fn has_room(&self, category: AccessCategory, rules: &Config) -> bool {
        let queue = &self.queues[category as usize];
        if queue.len() >= rules.edca.held_packets as usize {
            return false;
        }
        rules.edca.held_airtime.is_none_or(|most| {
            let chosen = |to| self.control.as_ref().and_then(|control| control.last_to(to));
            let (airtime, receivers) = queue.airtime(|to| chosen(to).unwrap_or(self.modes.to(to)).rate());
            airtime < most.max(rules.edca.receiver_airtime * receivers)
        })
    }

    /// Returns true if the station holds no packet.
    pub fn is_free(&self) -> bool {
        self.queues.iter().all(Queue::is_empty) && self.mac80211.as_ref().is_none_or(|waiting| waiting.is_empty())
    }

    /// Packets held by the station.
    pub fn packets(&self) -> usize {
        let waiting = self.mac80211.as_ref().map_or(0, |waiting| waiting.len());
        waiting + self.queues.iter().map(Queue::len).sum::<usize>()
    }

    /// Packets and bytes of a category that wait in the queues of mac80211.
    pub fn waiting(&self, category: AccessCategory, timing: &Timing) -> (usize, u64) {
        let (packets, bytes) = self.mac80211.as_ref().map_or((0, 0), |waiting| waiting.of(category));
        (packets, bytes - packets as u64 * u64::from(timing.llc_bytes()))
    }

    /// Packets that the queues of mac80211 have marked.
    pub fn marks(&self) -> u64 {
        self.mac80211.as_ref().map_or(0, |waiting| waiting.marks())
    }

    /// The station with the least airtime left in its category, and its deficit \[us\]; `None`: there is no airtime
    /// fairness, or no station yet.
    pub fn least_airtime(&self, rules: &Config) -> Option<(RadioId, AccessCategory, f64)> {
        self.mac80211.as_ref().filter(|_| rules.mac80211.airtime_fairness)?.least_airtime()
    }

    /// Rate of data frames to a receiver.
    pub fn mode_to(&self, receiver: RadioId) -> Mode {
        self.modes.to(receiver)
    }

    /// Instant at which the packet came that the station sent last without backoff; `None` after a backoff.
    pub fn immediate(&self) -> Option<Time> {
        self.immediate
    }

    /// Counters of the station.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counters of aggregates and of the frames around them.
    pub fn qos_counters(&self) -> &QosCounters {
        &self.qos_counters
    }

    /// Frames sent to each neighbor, by rate and kind of their first packet; empty where rates are fixed.
    pub fn tallies(&self) -> impl Iterator<Item = (RadioId, Mode, Kind, Counts)> + '_ {
        self.control.iter().flat_map(|control| control.tallies())
    }

    /// Reports the signal-to-noise ratio of the station's last frame at its receiver, for ideal rate control.
    pub fn arrived(&mut self, to: RadioId, ratio: f64) {
        if let Some(control) = &mut self.control {
            control.arrived(to, ratio);
        }
    }

    /// Contention state of the station until its next input.
    pub fn contention(&self) -> Contention {
        let contends = self.backoffs.iter().any(|b| b.contending);
        Contention {
            reserved: self.nav.until(),
            after_error: self.after_error,
            engaged: contends || self.state != State::Idle || self.response.is_some() || !self.is_free(),
        }
    }

    /// State of the station now: of the category that is nearest to an access.
    pub fn seen(&self, now: Time, timing: &Timing) -> Seen {
        let contending = self.backoffs.iter().filter(|b| b.contending);
        let next = contending.min_by_key(|b| (b.access, b.slots));
        let best_effort = &self.backoffs[AccessCategory::BestEffort as usize];
        Seen {
            nav_until: self.nav.until(),
            slots: next.map(|b| b.left(now, timing.slot)),
            counting: next.is_some_and(|b| b.access != Time::NEVER),
            cw: next.unwrap_or(best_effort).cw,
            short_retries: 0,
            long_retries: 0,
        }
    }

    // ---- inputs ----

    /// Takes a packet to send.
    pub fn enqueue(&mut self, packet: PacketId, kind: Kind, to: RadioId, tid: u8, bytes: u32, cx: &mut Cx<'_>) {
        self.accept(kind, to);
        let category = AccessCategory::of(tid);
        self.queues[category as usize].push(packet, kind, to, tid, bytes + cx.timing.llc_bytes());
        self.access(category, cx);
    }

    /// Takes a packet to send into the queues of mac80211. `flow`: hash of its flow; `ect`: it is ECN-capable.
    pub fn queue(
        &mut self,
        (packet, kind, bytes): (PacketId, Kind, u32),
        (to, tid): (RadioId, u8),
        (flow, ect): (u64, bool),
        cx: &mut Cx<'_>,
    ) {
        self.accept(kind, to);
        let w = Waiting { packet, kind, msdu: bytes + cx.timing.llc_bytes(), ect, came: cx.now };
        let waiting = self.mac80211.as_mut().expect("the station has queues of mac80211");
        waiting.push((to, tid), w, flow, (&cx.rules.mac80211, cx.timing), cx.out);
        let category = AccessCategory::of(tid);
        self.pull(category, cx);
        if self.has_work(category) {
            self.access(category, cx);
        }
    }

    /// Counts a packet that the station takes.
    fn accept(&mut self, kind: Kind, to: RadioId) {
        if !to.is_broadcast() {
            self.counters.accepted[kind as usize] += 1;
        }
    }

    /// Gives the driver of a category aggregates from the queues of mac80211, as many as it takes.
    fn pull(&mut self, category: AccessCategory, cx: &mut Cx<'_>) {
        let QosStation { mac80211: Some(waiting), queues, control, modes, .. } = self else { return };
        let (queue, rules, timing) = (&mut queues[category as usize], cx.rules, cx.timing);
        let (cfg, block_ack) = (&rules.mac80211, &rules.block_ack);
        if queue.aggregates() >= cfg.aggregates as usize {
            return;
        }
        queue.loose().for_each(|stream| waiting.put_back(stream, true, cx.now, cfg));
        while queue.aggregates() < cfg.aggregates as usize {
            let next = waiting.next(category, cfg, |to, tid| queue.next_of(to, tid, block_ack));
            let Some((to, tid)) = next else { return };
            let before = waiting.waiting(to, tid);
            let asks = !to.is_broadcast() && rules.has_block_ack() && queue.ask(to, tid, before, cx.now);
            if !asks {
                let mode = control.as_ref().and_then(|control| control.last_to(to)).unwrap_or(modes.to(to));
                let limit = category.parameters(&rules.edca).txop_limit;
                let answer = timing.sifs + timing.control_for(mode, BLOCK_ACK_BYTES).1;
                let airtime = if limit == Span::ZERO { Span(u64::MAX / 2) } else { limit - answer.min(limit) };
                let expected = |msdu| expected_airtime((to, mode), category, timing.header_bytes() + msdu, timing);
                let out = &mut *cx.out;
                queue.make_aggregate((to, tid), (mode, airtime), (&rules.aggregation, block_ack), timing, || {
                    waiting.pop((to, tid), cfg, expected, cx.now, out)
                });
            }
            waiting.put_back((to, tid), queue.loose().any(|stream| stream == (to, tid)), cx.now, cfg);
        }
    }

    /// Takes the packets out of the queues of mac80211 that wait for a station.
    pub fn take_waiting(&mut self, station: RadioId, taken: impl FnMut(PacketId)) {
        if let Some(waiting) = &mut self.mac80211 {
            waiting.clear_to(station, taken);
        }
    }

    /// A category has something to send, after it had nothing.
    fn access(&mut self, category: AccessCategory, cx: &mut Cx<'_>) {
        let c = category as usize;
        let holds = self.txop.is_some_and(|txop| txop.category == category);
        if self.backoffs[c].contending || holds {
            return;
        }
        let quiet = self.quiet_until(self.silent_from(cx.medium), category.parameters(&cx.rules.edca), cx);
        if self.is_idle(cx) && self.response.is_none() && quiet <= cx.now {
            let backoff = &mut self.backoffs[c];
            (backoff.contending, backoff.immediate, backoff.slots) = (true, Some(cx.now), 0);
            backoff.run(quiet, cx.now, cx.timing.slot);
        } else {
            self.backoffs[c].draw(&mut self.rng);
            self.proceed(cx);
        }
    }

    /// The medium turns busy at this instant. `immediate`: the instant at which the packet came that the sender sends
    /// without backoff. Returns true if that moves the deadline.
    pub fn on_busy(&mut self, at: Time, immediate: Option<Time>, timing: &Timing, rules: &Config) -> bool {
        self.nav.on_busy(at, timing);
        let sensed = at + rules.cca_time;
        let mut moved = false;
        for backoff in self.backoffs.iter_mut().filter(|b| b.access != Time::NEVER) {
            // Waits for a signal still on its way if both packets came at one instant, which no two clocks tell:
            // stations started then would otherwise collide forever. The DCF has the same rule (`FirstAccess`).
            let ties = immediate.is_some() && immediate == backoff.immediate;
            let in_time = sensed + Span(crate::wlan::dcf::SAME_INSTANT) < backoff.access;
            if in_time || ties {
                backoff.freeze(sensed, timing.slot, &mut self.rng);
                moved = true;
            }
        }
        moved
    }

    /// A frame between these instants was too weak to disturb the frame being received.
    pub fn on_captured(&mut self, from: Time, until: Time, timing: &Timing, rules: &Config) {
        match rules.captured_frame {
            CapturedFrame::Nav => self.nav.reserve(from + (timing.eifs + (until - from)).nearest_us()),
            CapturedFrame::Busy => self.busy_until = self.busy_until.max(until),
        }
    }

    /// A signal was sensed that cannot be decoded. `started`: as a frame, not as energy alone.
    pub fn on_noise(&mut self, started: bool, rules: &Config) {
        self.after_error |= started && rules.eifs == EifsRule::InsteadOfDifs;
    }

    /// Returns true if the end of a frame for another station changes no more than the NAV: the station neither contends
    /// nor awaits a response.
    #[inline]
    pub fn only_overhears(&self) -> bool {
        let contends = self.backoffs.iter().fold(false, |any, b| any | b.contending);
        !self.state.awaits_response() && !contends
    }

    /// A frame for another station has ended at one that [only overhears](Self::only_overhears).
    #[inline]
    pub fn overhear(&mut self, signal: Signal<'_>, now: Time, timing: &Timing, rules: &Config) {
        match signal {
            Signal::Frame(frame) => {
                self.after_error = false;
                self.nav.on_frame(frame, now, timing, rules);
            }
            Signal::Error => self.on_noise(true, rules),
            Signal::Energy => {}
        }
    }

    /// A signal has ended.
    pub fn on_signal(&mut self, signal: Signal<'_>, heard: Heard<'_>, cx: &mut Cx<'_>) {
        match signal {
            Signal::Frame(frame) => {
                self.after_error = false;
                if frame.to == self.me || frame.to.is_broadcast() {
                    self.receive(frame, heard, cx);
                } else {
                    self.nav.on_frame(frame, cx.now, cx.timing, cx.rules);
                    self.end_wait(cx);
                }
            }
            Signal::Error => {
                self.on_noise(true, cx.rules);
                self.end_wait(cx);
            }
            Signal::Energy => {
                if self.awaiting_end {
                    self.end_wait(cx);
                }
            }
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
        } else if self.release_at <= cx.now {
            self.release(cx);
        } else if self.backoffs.iter().any(|b| b.access <= cx.now) {
            self.on_access(cx);
        } else {
            for category in CATEGORIES {
                self.queues[category as usize].end_waits(cx.now, cx.rules.block_ack.response_timeout);
                self.wake(category, cx);
            }
        }
    }

    /// A category may have something to send, after it had nothing.
    fn wake(&mut self, category: AccessCategory, cx: &mut Cx<'_>) {
        self.pull(category, cx);
        let c = category as usize;
        let holds = self.txop.is_some_and(|txop| txop.category == category);
        if !self.backoffs[c].contending && !holds && self.has_work(category) {
            self.backoffs[c].draw(&mut self.rng);
            self.proceed(cx);
        }
    }

    /// Returns true if a category has something to send.
    fn has_work(&self, category: AccessCategory) -> bool {
        let answers = self.responses.iter().any(|r| AccessCategory::of(r.1) == category);
        answers || self.queues[category as usize].is_ready()
    }

    // ---- reception ----

    fn receive(&mut self, frame: &Frame, heard: Heard<'_>, cx: &mut Cx<'_>) {
        let expected = match frame.kind {
            FrameKind::Cts => self.state == State::AwaitCts,
            FrameKind::Ack => self.awaits(FrameKind::Action) || (self.awaits(FrameKind::Data) && !self.psdu.aggregate),
            FrameKind::BlockAck => {
                let asked = self.awaits(FrameKind::BlockAckReq);
                (asked || (self.awaits(FrameKind::Data) && self.psdu.aggregate)) && heard.psdu.tid == self.psdu.tid
            }
            _ => false,
        };
        if !expected {
            self.end_wait(cx);
        }
        match frame.kind {
            FrameKind::Rts => {
                if self.state == State::Idle && self.response.is_none() {
                    self.answer(Response::Cts { to: frame.from, mode: frame.mode, duration: frame.duration }, cx);
                }
            }
            FrameKind::Cts if expected => {
                self.leave_wait();
                self.answer(Response::Data, cx);
            }
            FrameKind::Ack if expected && self.awaits(FrameKind::Action) => {
                self.leave_wait();
                self.on_action_arrived(cx);
                self.on_success(cx);
            }
            FrameKind::Ack if expected => {
                self.leave_wait();
                self.with_queue(cx, |queue, done, _| queue.on_ack(done));
                self.note_answer(1, cx.now);
                self.on_success(cx);
            }
            FrameKind::BlockAck if expected => {
                let asked_with_data = self.awaits(FrameKind::Data);
                self.leave_wait();
                let limits = limits(cx.rules, true);
                let stream = (frame.from, heard.psdu.tid);
                let board = (heard.psdu.start, heard.psdu.bitmap);
                if asked_with_data {
                    let listed = |seq: u16| ahead(board.0, seq) < 64 && board.1 >> ahead(board.0, seq) & 1 == 1;
                    self.note_answer(self.psdu.count_that(|m| listed(m.seq)), cx.now);
                } else if let Some(control) = &mut self.control {
                    let c = self.txop.expect("a frame exchange belongs to a TXOP").category as usize;
                    control.listed(stream.0, self.queues[c].listed(stream, board), cx.now);
                }
                self.with_queue(cx, |queue, done, now| queue.on_block_ack(stream, board, &limits, now, done));
                self.on_success(cx);
            }
            FrameKind::BlockAckReq => {
                let recipient = self.recipient(frame.from, heard.psdu.tid, heard.psdu.start, cx.rules);
                let mut passed = std::mem::take(&mut self.passed);
                let recipient = &mut self.recipients[recipient];
                recipient.on_request(heard.psdu.start, &mut passed);
                let tid = recipient.tid;
                recipient.wait(!passed.is_empty(), cx.now, cx.rules.block_ack.release_after);
                pass(frame.from, tid, &passed, |_| true, cx);
                passed.clear();
                self.passed = passed;
                self.set_release();
                self.acknowledge(frame, heard.psdu.tid, true, cx);
            }
            FrameKind::Data => self.receive_data(frame, heard, cx),
            FrameKind::Action => self.receive_action(frame, heard, cx),
            FrameKind::CfEnd => self.nav = Nav::default(),
            FrameKind::Cts | FrameKind::Ack | FrameKind::BlockAck => {}
        }
    }

    /// An ADDBA request or response was received.
    fn receive_action(&mut self, frame: &Frame, heard: Heard<'_>, cx: &mut Cx<'_>) {
        let &Psdu { tid, start, responds, .. } = heard.psdu;
        let (from, category) = (frame.from, AccessCategory::of(tid));
        if responds {
            self.queues[category as usize].stream(from, tid).state = Agreed::Yes;
        } else {
            // A repeated request changes nothing but the start, before which everything was acknowledged.
            let fresh = self.fresh_recipient(from, tid, start, cx.rules);
            match self.recipients.iter_mut().find(|r| (r.from, r.tid) == (from, tid)) {
                Some(recipient) if recipient.start() == start => {}
                Some(recipient) => *recipient = fresh,
                None => self.recipients.push(fresh),
            }
            if !self.responses.iter().any(|r| (r.0, r.1) == (from, tid)) {
                self.responses.push((from, tid, 0));
            }
        }
        self.acknowledge(frame, tid, false, cx);
        self.wake(category, cx);
    }

    /// The action frame of the exchange has been acknowledged.
    fn on_action_arrived(&mut self, cx: &Cx<'_>) {
        let exchange = self.exchange.expect("an acknowledgement is awaited for a frame");
        let stream = (exchange.to, self.psdu.tid);
        if self.psdu.responds {
            self.responses.retain(|r| (r.0, r.1) != stream);
        } else {
            let c = self.holder() as usize;
            let of = self.queues[c].stream(stream.0, stream.1);
            (of.state, of.asked) = (Agreed::Asked(cx.now + cx.rules.block_ack.response_timeout), 0);
        }
    }

    /// The action frame of the exchange was not acknowledged. Returns true if it is given up.
    fn on_action_lost(&mut self, cx: &Cx<'_>) -> bool {
        let exchange = self.exchange.expect("an acknowledgement is awaited for a frame");
        let (stream, c) = ((exchange.to, self.psdu.tid), self.holder() as usize);
        let is_last = |attempts: u32| cx.rules.short_retry_limit.is_some_and(|most| attempts >= most);
        if self.psdu.responds {
            let Some(i) = self.responses.iter().position(|r| (r.0, r.1) == stream) else { return true };
            self.responses[i].2 += 1;
            let over = is_last(self.responses[i].2);
            if over {
                self.responses.remove(i);
            }
            return over;
        }
        let of = self.queues[c].stream(stream.0, stream.1);
        of.asked += 1;
        let over = is_last(of.asked);
        if over {
            (of.state, of.asked) = (Agreed::No(cx.now + cx.rules.block_ack.response_timeout), 0);
        }
        over
    }

    /// Tells rate control that the response to a data frame acknowledges this number of MPDUs.
    fn note_answer(&mut self, acked: usize, now: Time) {
        if let Some(control) = &mut self.control {
            control.answered(acked, now);
        }
    }

    fn awaits(&self, answer_to: FrameKind) -> bool {
        self.state == State::AwaitAnswer && self.exchange.is_some_and(|x| x.kind == answer_to)
    }

    fn receive_data(&mut self, frame: &Frame, heard: Heard<'_>, cx: &mut Cx<'_>) {
        if frame.to.is_broadcast() {
            cx.out.extend(heard.psdu.mpdus.iter().map(|m| Out::Deliver { packet: m.packet }));
            return;
        }
        let tid = heard.psdu.tid;
        if let Some(waiting) = &mut self.mac80211 {
            waiting.charge((frame.from, tid), frame.airtime, cx.now, &cx.rules.mac80211);
        }
        if self.response.is_some() {
            return;
        }
        let known = |r: &Recipient| (r.from, r.tid) == (frame.from, tid);
        let agreed = heard.psdu.agreed || self.recipients.iter().any(known);
        let mut i = 0;
        let mpdus = &heard.psdu.mpdus;
        for group in mpdus.chunk_by(|a, b| a.seq == b.seq) {
            let arrived = heard.arrived.get(i).copied().unwrap_or(false);
            i += group.len();
            if !arrived {
                continue;
            }
            let (seq, retry) = (group[0].seq, group[0].retry);
            if !agreed {
                if self.is_duplicate(frame.from, tid, seq, retry) {
                    self.counters.duplicates += 1;
                } else {
                    cx.out.extend(group.iter().map(|m| Out::Deliver { packet: m.packet }));
                }
                continue;
            }
            let recipient = self.recipient(frame.from, tid, 0, cx.rules);
            let mut passed = std::mem::take(&mut self.passed);
            let recipient = &mut self.recipients[recipient];
            let start = recipient.start();
            let arrival = recipient.on_mpdu(seq, &mut passed);
            recipient.wait(recipient.start() != start, cx.now, cx.rules.block_ack.release_after);
            pass(frame.from, tid, &passed, |late| !late, cx);
            match arrival {
                Arrival::Duplicate => self.counters.duplicates += 1,
                Arrival::Next => cx.out.extend(group.iter().map(|m| Out::Deliver { packet: m.packet })),
                Arrival::Stored => {
                    let from = frame.from;
                    cx.out.extend(group.iter().map(|m| Out::Store { packet: m.packet, from, tid, seq }));
                }
            }
            pass(frame.from, tid, &passed, |late| late, cx);
            passed.clear();
            self.passed = passed;
        }
        self.set_release();
        self.acknowledge(frame, tid, heard.psdu.aggregate, cx);
    }

    /// Schedules the ACK or the block acknowledgement of a frame.
    fn acknowledge(&mut self, frame: &Frame, tid: u8, block: bool, cx: &mut Cx<'_>) {
        if self.response.is_some() {
            return;
        }
        let (to, mode, duration) = (frame.from, frame.mode, frame.duration);
        let response =
            if block { Response::BlockAck { to, tid, mode, duration } } else { Response::Ack { to, mode, duration } };
        self.answer(response, cx);
    }

    fn is_duplicate(&mut self, from: RadioId, tid: u8, seq: u16, retry: bool) -> bool {
        match self.seen.iter_mut().find(|s| (s.0, s.1) == (from, tid)) {
            Some((.., last)) => std::mem::replace(last, seq) == seq && retry,
            None => {
                self.seen.push((from, tid, seq));
                false
            }
        }
    }

    /// Index of the recipient of an agreement.
    fn recipient(&mut self, from: RadioId, tid: u8, start: u16, rules: &Config) -> usize {
        let known = self.recipients.iter().position(|r| (r.from, r.tid) == (from, tid));
        known.unwrap_or_else(|| {
            self.recipients.push(self.fresh_recipient(from, tid, start, rules));
            self.recipients.len() - 1
        })
    }

    /// Recipient of an agreement whose first number is `start`.
    fn fresh_recipient(&self, from: RadioId, tid: u8, start: u16, rules: &Config) -> Recipient {
        let mut fresh = Recipient::new(from, tid, rules.block_ack.buffer_mpdus as u16, start);
        // Its first MPDU may have arrived alone before, when the ACK was lost.
        if self.seen.contains(&(from, tid, start)) {
            fresh.on_mpdu(start, &mut Vec::new());
        }
        fresh
    }

    /// Reordering buffers have waited long enough.
    fn release(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        for recipient in self.recipients.iter_mut().filter(|r| r.release_at <= now) {
            recipient.on_deadline(&mut self.passed);
            recipient.wait(true, cx.now, cx.rules.block_ack.release_after);
            pass(recipient.from, recipient.tid, &self.passed, |_| true, cx);
            self.passed.clear();
        }
        self.set_release();
    }

    fn set_release(&mut self) {
        self.release_at = self.recipients.iter().map(|r| r.release_at).min().unwrap_or(Time::NEVER);
    }

    // ---- waiting ----

    /// Returns true if a frame is being received whose start was indicated in time (10.3.2.9).
    fn receives_in_time(&self, cx: &Cx<'_>) -> bool {
        let latest = self.transmits_until + cx.timing.sifs + cx.timing.slot;
        let Medium { from, until } = cx.medium;
        from <= cx.now && cx.now < until && (self.transmits_until..=latest).contains(&from)
    }

    /// Ends a wait because the received frame is not the awaited one.
    fn end_wait(&mut self, cx: &mut Cx<'_>) {
        if self.state.awaits_response() {
            self.on_no_response(cx);
        }
    }

    fn leave_wait(&mut self) {
        self.state = State::Idle;
        self.timeout = Time::NEVER;
        self.awaiting_end = false;
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        match self.state {
            State::AwaitCts | State::AwaitAnswer if self.receives_in_time(cx) => {
                self.awaiting_end = true;
                return;
            }
            State::AwaitCts | State::AwaitAnswer => self.on_no_response(cx),
            State::SendingBroadcast => {
                self.state = State::Idle;
                let category = self.holder();
                if let Some(held) = self.queues[category as usize].pop_broadcast() {
                    if let Some(waiting) = &mut self.mac80211 {
                        waiting.give_back((held.to, held.tid), held.expected, &cx.rules.mac80211);
                    }
                    cx.out.push(Out::Sent { packet: held.packet });
                }
                self.end_txop(true, cx);
            }
            State::Protecting => {
                self.state = State::Idle;
                self.answer(Response::Data, cx);
            }
            State::Sending | State::Idle => self.state = State::Idle,
        }
        self.proceed(cx);
    }

    /// Category that holds the TXOP.
    fn holder(&self) -> AccessCategory {
        self.txop.as_ref().expect("a frame exchange belongs to a TXOP").category
    }

    /// No CTS, ACK or block acknowledgement came.
    fn on_no_response(&mut self, cx: &mut Cx<'_>) {
        let after_rts = self.state == State::AwaitCts;
        self.leave_wait();
        self.idle_from = cx.now;
        let exchange = self.exchange.expect("a response to a frame is awaited");
        let c = self.holder() as usize;
        let mut over = false;
        if exchange.kind == FrameKind::BlockAckReq && !after_rts {
            let stream = (exchange.to, self.psdu.tid);
            let of = self.queues[c].stream(stream.0, stream.1);
            of.requests += 1;
            over = cx.rules.block_ack.request_attempts.is_some_and(|most| of.requests >= most);
            if over {
                self.with_queue(cx, |queue, done, _| queue.give_up(stream, done));
            }
        } else if exchange.kind == FrameKind::Action {
            over = self.on_action_lost(cx);
        } else {
            if after_rts {
                self.counters.rts_frames_failed += 1;
                if let Some(control) = &mut self.control {
                    control.rts_frames_failed(cx.now);
                }
            } else {
                self.counters.data_frames_failed += 1;
                if let Some(control) = &mut self.control {
                    control.failed(cx.now);
                }
            }
            let agreed = self.queues[c].stream(exchange.to, self.psdu.tid).state == Agreed::Yes;
            let agreed = agreed && cx.rules.has_block_ack();
            let asks = !after_rts && self.psdu.aggregate && cx.rules.block_ack.after_missed == MissedBlockAck::Request;
            let stream = (exchange.to, self.psdu.tid);
            if asks {
                // Only the block acknowledgement that the request brings tells the MPDUs that have arrived.
                let patient = Limits { attempts: None, rts_attempts: None, lifetime: None };
                self.with_queue(cx, |queue, done, now| {
                    queue.on_failure(false, &patient, now, done);
                    queue.stream(stream.0, stream.1).request();
                });
            } else {
                let limits = limits(cx.rules, agreed);
                self.with_queue(cx, |queue, done, now| {
                    if !after_rts {
                        queue.fail_sent();
                    }
                    over = queue.on_failure(after_rts, &limits, now, done);
                });
            }
        }
        if !over && self.recovers(cx) {
            return self.send_next(cx);
        }
        let parameters = CATEGORIES[c].parameters(&cx.rules.edca);
        if over {
            self.backoffs[c].cw = parameters.cw_min;
        } else {
            self.backoffs[c].widen(parameters.cw_max);
        }
        self.end_txop(false, cx);
    }

    /// Returns true if the TXOP goes on after a failure: PIFS after the frame of one that has succeeded before, if
    /// nobody else has begun to send (10.23.2.8). The wait for the response is longer than PIFS.
    fn recovers(&self, cx: &Cx<'_>) -> bool {
        let holds = self.txop.is_some_and(|txop| !txop.first && txop.until != Time::NEVER);
        cx.rules.edca.pifs_recovery && holds && cx.medium.until.max(self.transmits_until) + cx.timing.pifs() <= cx.now
    }

    /// Calls the queue of the category that holds the TXOP, and reports the packets that are done.
    fn with_queue(&mut self, cx: &mut Cx<'_>, call: impl FnOnce(&mut Queue, &mut Vec<(Held, Outcome)>, Time)) {
        let c = self.holder() as usize;
        call(&mut self.queues[c], &mut self.done, cx.now);
        self.qos_counters.mpdus_failed += self.queues[c].take_failed();
        let limits = limits(cx.rules, cx.rules.has_block_ack());
        for (held, outcome) in self.done.drain(..) {
            let packet = held.packet;
            if let Some(waiting) = &mut self.mac80211 {
                waiting.give_back((held.to, held.tid), held.expected, &cx.rules.mac80211);
            }
            if outcome == Outcome::Acknowledged {
                cx.out.push(Out::Sent { packet });
                continue;
            }
            let after_rts = held.ended_by_rts(&limits);
            let counter = if after_rts { &mut self.counters.gave_up_rts } else { &mut self.counters.gave_up_data };
            counter[held.kind as usize] += 1;
            cx.out.push(Out::GaveUp { packet });
        }
    }

    /// A response has come. The TXOP goes on if there is time.
    fn on_success(&mut self, cx: &mut Cx<'_>) {
        let category = self.holder();
        self.backoffs[category as usize].cw = category.parameters(&cx.rules.edca).cw_min;
        let txop = self.txop.as_mut().expect("a frame exchange belongs to a TXOP");
        txop.first = false;
        if txop.until == Time::NEVER {
            self.end_txop(false, cx);
        } else {
            self.answer(Response::Continue, cx);
        }
    }

    // ---- backoff ----

    /// Returns true if neither own frames, nor signals, nor the NAV keep the station from sending.
    fn is_idle(&self, cx: &Cx<'_>) -> bool {
        let Medium { from, until } = cx.medium;
        let busy = from <= cx.now && cx.now < until;
        self.state == State::Idle && !busy && self.nav.until().max(self.busy_until) <= cx.now
    }

    /// Instant from which on this station finds the medium silent.
    fn silent_from(&self, medium: Medium) -> Time {
        medium.until.max(self.transmits_until).max(self.idle_from)
    }

    /// First slot boundary of a category: the medium has been idle for AIFS, or for EIFS less DIFS more after an error.
    fn quiet_until(&self, silent: Time, parameters: &Parameters, cx: &Cx<'_>) -> Time {
        let timing = cx.timing;
        let aifs = timing.sifs + timing.slot * u64::from(parameters.aifsn);
        let after = silent.max(self.nav.until()).max(self.busy_until) + aifs;
        if self.after_error {
            after.max(silent.max(self.busy_until) + (timing.eifs - timing.difs) + aifs)
        } else {
            after
        }
    }

    /// Continues after anything that may have made the station idle.
    fn proceed(&mut self, cx: &mut Cx<'_>) {
        if self.state != State::Idle || self.response.is_some() || self.txop.is_some() || cx.medium.until > cx.now {
            return;
        }
        let silent = self.silent_from(cx.medium);
        for category in CATEGORIES {
            let backoff = &self.backoffs[category as usize];
            if backoff.contending && backoff.access == Time::NEVER {
                let first = self.quiet_until(silent, category.parameters(&cx.rules.edca), cx);
                self.backoffs[category as usize].run(first, cx.now, cx.timing.slot);
            }
        }
    }

    /// Stops all backoffs, because this station sends or answers.
    fn freeze(&mut self, now: Time, slot: Span) {
        let QosStation { backoffs, rng, .. } = self;
        backoffs.iter_mut().for_each(|b| b.freeze(now, slot, rng));
    }

    /// Counters have reached zero: the highest category sends, and the others behave as after a collision.
    fn on_access(&mut self, cx: &mut Cx<'_>) {
        let mut sends = None;
        let mut acted = [false; 4];
        for category in CATEGORIES.into_iter().rev() {
            let c = category as usize;
            if self.backoffs[c].access > cx.now {
                continue;
            }
            let backoff = &mut self.backoffs[c];
            let immediate = backoff.immediate.take();
            (backoff.access, backoff.contending) = (Time::NEVER, false);
            if !self.has_work(category) {
                continue;
            }
            acted[c] = true;
            let backoff = &mut self.backoffs[c];
            if sends.is_some() {
                backoff.widen(category.parameters(&cx.rules.edca).cw_max);
                backoff.draw(&mut self.rng);
            } else {
                (sends, self.immediate) = (Some(category), immediate);
            }
        }
        let Some(category) = sends else { return };
        let narrow = !self.has_whole_channel(cx);
        if narrow && cx.rules.secondary_channel.when_busy == WhenBusy::BackOff {
            self.backoffs[category as usize].draw(&mut self.rng);
            // Categories that have acted at this slot boundary count down from the next boundary on.
            self.backoffs.iter_mut().zip(acted).for_each(|(backoff, acted)| backoff.slots += u32::from(acted));
            return self.proceed(cx);
        }
        self.freeze(cx.now, cx.timing.slot);
        let limit = category.parameters(&cx.rules.edca).txop_limit;
        let until = if limit == Span::ZERO { Time::NEVER } else { cx.now + limit };
        self.txop = Some(Txop { category, until, first: true, narrow });
        self.send_next(cx);
    }

    /// Returns true if the secondary channel has been idle for PIFS (10.23.2.5).
    fn has_whole_channel(&mut self, cx: &Cx<'_>) -> bool {
        let since = Time(cx.now.0.saturating_sub(cx.timing.pifs().0));
        self.secondary.as_mut().is_none_or(|others| others.is_idle(since, cx.now))
    }

    /// Lets other networks wait for a frame in the whole channel, and for what follows it.
    fn hold_secondary(&mut self, until: Time) {
        if let Some(others) = &mut self.secondary
            && self.txop.is_some_and(|txop| !txop.narrow)
        {
            others.wait(until);
        }
    }

    /// Ends the TXOP, with a new backoff; `reset`: with the smallest window.
    fn end_txop(&mut self, reset: bool, cx: &mut Cx<'_>) {
        let category = self.holder();
        (self.txop, self.exchange) = (None, None);
        let backoff = &mut self.backoffs[category as usize];
        if reset {
            backoff.cw = category.parameters(&cx.rules.edca).cw_min;
        }
        backoff.draw(&mut self.rng);
        if self.mac80211.is_some() {
            // Airtime that is no longer pending lets other categories send, too.
            CATEGORIES.into_iter().for_each(|category| self.wake(category, cx));
        }
        self.proceed(cx);
    }

    // ---- sending ----

    /// Schedules a response, SIFS from now.
    fn answer(&mut self, response: Response, cx: &Cx<'_>) {
        self.freeze(cx.now, cx.timing.slot);
        self.response = Some(response);
        self.respond = cx.now + cx.timing.sifs;
    }

    /// Begins the next frame exchange of the TXOP, or ends it.
    fn send_next(&mut self, cx: &mut Cx<'_>) {
        let txop = self.txop.expect("a TXOP has begun");
        let c = txop.category as usize;
        let limits = limits(cx.rules, cx.rules.has_block_ack());
        let mut expired = std::mem::take(&mut self.done);
        self.queues[c].expire(&limits, cx.now, &mut expired);
        self.done = expired;
        self.with_queue(cx, |_, _, _| ());
        self.pull(txop.category, cx);
        match self.plan(txop, cx) {
            Some(exchange) => {
                self.exchange = Some(exchange);
                let begins = exchange.kind == FrameKind::Data && !exchange.to.is_broadcast() && txop.first;
                match cx.timing.protection {
                    Some(cts) if begins => self.send_cts_to_self(exchange, cts, cx),
                    _ if begins && self.is_after_rts(self.psdu.bytes, cx.rules) => self.send_rts(exchange, cx),
                    _ => self.send_exchange(cx),
                }
            }
            None => self.finish_txop(txop, cx),
        }
    }

    /// Returns true if a PSDU of this size follows RTS and CTS at the begin of a TXOP.
    fn is_after_rts(&self, bytes: u32, rules: &Config) -> bool {
        bytes > rules.rts_threshold.0 || self.control.as_ref().is_some_and(|control| control.falls_back())
    }

    /// Ends a TXOP in which nothing more fits.
    fn finish_txop(&mut self, txop: Txop, cx: &mut Cx<'_>) {
        let airtime = cx.timing.at_basic_rate(RTS_BYTES);
        let ends = cx.rules.edca.cf_end && !txop.first && txop.until != Time::NEVER && cx.now + airtime <= txop.until;
        if ends {
            self.qos_counters.cf_ends_sent += 1;
            self.state = State::Sending;
            self.timeout = cx.now + airtime;
            let frame =
                self.control_frame(FrameKind::CfEnd, RadioId::BROADCAST, airtime, Span::ZERO, cx.timing.basic_mode);
            self.psdu.mpdus.clear();
            self.transmit(frame, cx);
        }
        self.end_txop(false, cx);
    }

    /// Chooses the next frame exchange and fills its PSDU; `None`: nothing is to be sent, or nothing fits.
    fn plan(&mut self, txop: Txop, cx: &Cx<'_>) -> Option<Exchange> {
        let (timing, rules) = (cx.timing, cx.rules);
        let left = if txop.until == Time::NEVER { Span(u64::MAX / 2) } else { txop.until.since(cx.now) };
        if rules.has_block_ack()
            && let Some((to, tid, start, responds)) = self.due_action(txop.category, cx.now)
        {
            let (mode, airtime) = (timing.basic_mode, timing.at_basic_rate(ADDBA_BYTES));
            let response = timing.control_for(mode, ACK_BYTES).1;
            self.psdu.mpdus.clear();
            (self.psdu.tid, self.psdu.start, self.psdu.responds) = (tid, start, responds);
            (self.psdu.aggregate, self.psdu.bytes) = (false, ADDBA_BYTES);
            let fits = txop.first || airtime + timing.sifs + response <= left;
            return fits.then_some(Exchange { kind: FrameKind::Action, to, mode, airtime, response });
        }
        let queue = &mut self.queues[txop.category as usize];
        if rules.has_block_ack()
            && let Some((to, tid, start)) = queue.due_request()
        {
            let (mode, airtime) = self.control_for(self.modes.to(to), BLOCK_ACK_REQUEST_BYTES, timing);
            let response = timing.control_for(mode, BLOCK_ACK_BYTES).1;
            self.psdu.mpdus.clear();
            (self.psdu.tid, self.psdu.start, self.psdu.bytes) = (tid, start, BLOCK_ACK_REQUEST_BYTES);
            let fits = txop.first || airtime + timing.sifs + response <= left;
            return fits.then_some(Exchange { kind: FrameKind::BlockAckReq, to, mode, airtime, response });
        }
        let to = queue.first()?.to;
        if to.is_broadcast() {
            let held = *queue.first()?;
            let bytes = timing.header_bytes() + held.msdu;
            let airtime = timing.broadcast(bytes);
            let fits = txop.first || airtime <= left;
            self.psdu.single(held.packet, bytes);
            return fits.then_some(Exchange {
                kind: FrameKind::Data,
                to,
                mode: timing.basic_mode,
                airtime,
                response: Span::ZERO,
            });
        }
        let mode = match &mut self.control {
            None => self.modes.to(to),
            Some(control) => {
                let first = queue.first()?;
                control.begin(to, first.kind, timing.header_bytes() + first.msdu, cx.now)
            }
        };
        let mode = if txop.narrow { mode.narrow() } else { mode };
        let single = timing.control_for(mode, ACK_BYTES).1;
        let block = timing.control_for(mode, BLOCK_ACK_BYTES).1;
        let most = if rules.has_block_ack() { block } else { single };
        let protected_above = self.protection(txop, mode, cx);
        let airtime = left - (timing.sifs + most).min(left);
        let rate_limits = self.control.as_ref().map_or((usize::MAX, u32::MAX), |control| control.limits());
        let room = Room { mode, airtime, protected_above, single_may_exceed: txop.first, rate_limits };
        let queue = &mut self.queues[txop.category as usize];
        let airtime = queue.fill(&mut self.psdu, room, (&rules.aggregation, &rules.block_ack), timing, cx.now)?;
        if let Some(control) = &mut self.control {
            control.fills(self.psdu.count());
        }
        let response = if self.psdu.aggregate { block } else { single };
        Some(Exchange { kind: FrameKind::Data, to, mode, airtime, response })
    }

    /// Mode of an RTS or a request for a block acknowledgement of this size, and its time on air. Its loss is no
    /// attempt for rate control, and data wait for its answer, so that a rate that is too fast must not be the reason
    /// for it: where rates are chosen it has that of such frames around data at the slowest one, which every receiver
    /// in reach can read. Any basic rate is allowed (10.6.6); ns-3 and mac80211 take the lowest, too.
    fn control_for(&self, data: Mode, bytes: u32, timing: &Timing) -> (Mode, Span) {
        timing.control_for(self.control.as_ref().map_or(data, |control| control.slowest()), bytes)
    }

    /// Size of a PSDU above which an RTS or a CTS to this station itself comes first in a TXOP, and the time until the
    /// PSDU that such frames take.
    fn protection(&self, txop: Txop, mode: Mode, cx: &Cx<'_>) -> (u32, Span) {
        let timing = cx.timing;
        match timing.protection {
            _ if !txop.first || txop.until == Time::NEVER => (u32::MAX, Span::ZERO),
            Some((_, cts)) => (0, cts + timing.sifs),
            None => {
                let (mode, rts) = self.control_for(mode, RTS_BYTES, timing);
                let above = if self.is_after_rts(0, cx.rules) { 0 } else { cx.rules.rts_threshold.0 };
                (above, rts + timing.control_for(mode, ACK_BYTES).1 + timing.sifs * 2)
            }
        }
    }

    /// Action frame that comes next: receiver, TID, first number of the agreement, and whether it is a response.
    fn due_action(&mut self, category: AccessCategory, now: Time) -> Option<(RadioId, u8, u16, bool)> {
        if let Some(&(to, tid, _)) = self.responses.iter().find(|r| AccessCategory::of(r.1) == category) {
            return Some((to, tid, 0, true));
        }
        let (to, tid, start) = self.queues[category as usize].due_agreement(now)?;
        Some((to, tid, start, false))
    }

    /// Duration field of a frame that ends at `end` and after which this much of its exchange follows.
    fn duration(&self, end: Time, follows: Span) -> Span {
        match self.txop {
            // Multiple protection (9.2.5.2): to the end of the TXOP.
            Some(txop) if txop.until != Time::NEVER => txop.until.max(end + follows).since(end),
            _ => follows,
        }
    }

    fn transmit(&mut self, frame: Frame, cx: &mut Cx<'_>) {
        debug_assert!(self.transmits_until <= cx.now, "two frames at once");
        self.transmits_until = cx.now + frame.airtime;
        self.after_error = false;
        cx.out.push(Out::Transmit(frame));
    }

    fn control_frame(&self, kind: FrameKind, to: RadioId, airtime: Span, duration: Span, mode: Mode) -> Frame {
        Frame { kind, to, from: self.me, duration: duration.ceil_us(), airtime, mode, ..Frame::NONE }
    }

    /// Waits for the response to a frame of this time on air.
    fn await_response(&mut self, state: State, airtime: Span, response: Mode, cx: &Cx<'_>) {
        self.state = state;
        self.timeout = cx.now + airtime + cx.timing.sifs + cx.timing.slot + cx.timing.rx_start_of(response);
    }

    fn send_rts(&mut self, exchange: Exchange, cx: &mut Cx<'_>) {
        self.counters.rts_frames_sent += 1;
        let (mode, airtime) = self.control_for(exchange.mode, RTS_BYTES, cx.timing);
        let cts = cx.timing.control_for(mode, ACK_BYTES).1;
        self.await_response(State::AwaitCts, airtime, mode, cx);
        let follows = cx.timing.sifs * 3 + cts + exchange.airtime + exchange.response;
        let duration = self.duration(cx.now + airtime, follows);
        self.hold_secondary(cx.now + airtime + duration);
        let frame = self.control_frame(FrameKind::Rts, exchange.to, airtime, duration, mode);
        self.transmit(frame, cx);
    }

    /// Reserves the medium at a rate that stations read to which the data are noise (10.3.2.12).
    fn send_cts_to_self(&mut self, exchange: Exchange, (mode, airtime): (Mode, Span), cx: &mut Cx<'_>) {
        self.counters.cts_frames_sent += 1;
        self.state = State::Protecting;
        self.timeout = cx.now + airtime;
        let follows = cx.timing.sifs * 2 + exchange.airtime + exchange.response;
        let duration = self.duration(cx.now + airtime, follows);
        self.hold_secondary(cx.now + airtime + duration);
        let frame = self.control_frame(FrameKind::Cts, self.me, airtime, duration, mode);
        self.transmit(frame, cx);
    }

    fn send_exchange(&mut self, cx: &mut Cx<'_>) {
        let Exchange { kind, to, mode, airtime, response } = self.exchange.expect("a frame exchange was planned");
        let c = self.holder() as usize;
        let end = cx.now + airtime;
        if to.is_broadcast() {
            self.counters.broadcast_frames_sent += 1;
            self.state = State::SendingBroadcast;
            self.timeout = end;
        } else {
            let answer = if kind == FrameKind::BlockAckReq { mode } else { cx.timing.response_to_any(mode).0 };
            self.await_response(State::AwaitAnswer, airtime, answer, cx);
        }
        let follows = if to.is_broadcast() { Span::ZERO } else { cx.timing.sifs + response };
        let duration = self.duration(end, follows);
        self.hold_secondary(end + duration);
        let mut frame = self.control_frame(kind, to, airtime, duration, mode);
        match kind {
            FrameKind::BlockAckReq => self.qos_counters.block_ack_requests_sent += 1,
            FrameKind::Action => self.qos_counters.action_frames_sent += 1,
            _ => {}
        }
        if kind == FrameKind::Data {
            if !to.is_broadcast() {
                self.counters.data_frames_sent += 1;
                self.qos_counters.aggregates_sent += u64::from(self.psdu.aggregate);
                self.qos_counters.mpdus_sent += self.psdu.count() as u64;
                if let Some(control) = &mut self.control {
                    control.sent();
                }
                self.queues[c].on_sent();
                if let Some(waiting) = &mut self.mac80211 {
                    waiting.charge((to, self.psdu.tid), airtime, cx.now, &cx.rules.mac80211);
                }
            }
            let first = self.psdu.mpdus.first();
            frame.packet = first.map(|m| m.packet);
            frame.seq = first.map_or(0, |m| m.seq);
            frame.retry = first.is_some_and(|m| m.retry);
        }
        self.transmit(frame, cx);
    }

    fn send_response(&mut self, cx: &mut Cx<'_>) {
        let Some(response) = self.response.take() else { return };
        let timing = cx.timing;
        let (kind, to, (mode, airtime), duration) = match response {
            Response::Continue => return self.send_next(cx),
            Response::Data => return self.send_exchange(cx),
            Response::Cts { to, mode, duration } => {
                let may = match cx.rules.cts_requires {
                    CtsRule::MediumIdle => self.is_idle(cx),
                    CtsRule::NavIdle => self.nav.until() <= cx.now,
                };
                if !may {
                    self.counters.cts_suppressed += 1;
                    return self.proceed(cx);
                }
                self.counters.cts_frames_sent += 1;
                (FrameKind::Cts, to, timing.control_for(mode, ACK_BYTES), duration)
            }
            Response::Ack { to, mode, duration } => {
                self.counters.ack_frames_sent += 1;
                (FrameKind::Ack, to, timing.control_for(mode, ACK_BYTES), duration)
            }
            Response::BlockAck { to, tid, mode, duration } => {
                self.counters.ack_frames_sent += 1;
                let recipient = self.recipients.iter().find(|r| (r.from, r.tid) == (to, tid));
                let (start, bitmap) = recipient.map_or((0, 0), Recipient::board);
                (self.psdu.tid, self.psdu.start, self.psdu.bitmap) = (tid, start, bitmap);
                self.psdu.bytes = BLOCK_ACK_BYTES;
                (FrameKind::BlockAck, to, timing.control_for(mode, BLOCK_ACK_BYTES), duration)
            }
        };
        self.psdu.mpdus.clear();
        self.state = State::Sending;
        self.timeout = cx.now + airtime;
        let rest = Span(duration.0.saturating_sub((timing.sifs + airtime).0));
        let frame = self.control_frame(kind, to, airtime, rest, mode);
        self.transmit(frame, cx);
    }
}

/// Limits of attempts; `agreed`: under an agreement.
fn limits(rules: &Config, agreed: bool) -> Limits {
    let (attempts, lifetime) = match agreed {
        true => (rules.block_ack.mpdu_attempts, rules.block_ack.lifetime),
        false => (rules.short_retry_limit, None),
    };
    Limits { attempts, rts_attempts: rules.short_retry_limit, lifetime }
}

/// Passes up stored MPDUs, those that `chosen` selects by whether they follow the MPDU that has arrived.
fn pass(from: RadioId, tid: u8, passed: &[(u16, bool)], chosen: impl Fn(bool) -> bool, cx: &mut Cx<'_>) {
    for &(seq, _) in passed.iter().filter(|&&(_, late)| chosen(late)) {
        cx.out.push(Out::Release { from, tid, seq });
    }
}
