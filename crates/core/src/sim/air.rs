//! The border between radio and stations: frames on the air.

use super::ports::Ports;
use super::slots::Slot;
use super::timers::Timers;
use super::{Aftermath, Mac, Node, OnAir, Rules, Sim};
use crate::motion::Crowd;
use crate::packet::{Fate, NodeId, PacketId, RadioId, Slab};
use crate::radio::{Ears, Ended, Harm, Sensed, Verdict};
use crate::record::air_time::{AirTime, Listener};
use crate::record::loss::Cause;
use crate::record::note::Note;
use crate::record::observe::Observers;
use crate::unit::{Span, Time};
use crate::wlan::dcf::SAME_INSTANT;
use crate::wlan::{self, Frame, FrameKind, Medium, Out, Signal, Station};
use std::cmp::Ordering;
use std::mem::take;

/// The end of a frame, and what hearing it may change: the parts of the run that the second loop of the channel needs.
struct FrameEnd<'a> {
    frame: &'a Frame,
    /// The packet of a broadcast frame.
    broadcast: Option<PacketId>,
    slab: &'a mut Slab,
    link_delay: Span,
    ports: &'a Ports,
    nodes: &'a [Node],
    macs: &'a mut [Mac],
    timers: &'a mut Timers,
    observers: Option<&'a mut Observers>,
    air: Option<&'a mut AirTime>,
    /// Whether observers or air time follow each end of a frame.
    watched: bool,
    heard: &'a mut Vec<Out>,
    aftermath: &'a mut Aftermath,
    /// What became of the frame at the station that it is for.
    at_target: Option<Verdict>,
}

/// The start of a frame, and what hearing it may change: the parts of the run that the first loop of the channel needs.
struct FrameStart<'a> {
    macs: &'a mut [Mac],
    timers: &'a mut Timers,
}

impl Ears for FrameStart<'_> {
    #[inline(always)]
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        if station.on_busy(from, &rules.timing, &rules.dcf) {
            self.timers.set(Slot::Mac(r), station.deadline());
        }
    }

    fn captured(&mut self, r: RadioId, from: Time, until: Time) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        station.on_captured(from, until, &rules.timing, &rules.dcf);
    }
}

/// Start of a frame where motion decides ties between signals and slots (`motion.decides_ties`).
struct WalkingStart<'a> {
    start: FrameStart<'a>,
    crowd: &'a Crowd,
    ports: &'a Ports,
    sender: NodeId,
    at: Time,
}

/// Shift by which a tie is decided \[ns\]: beyond `SAME_INSTANT`, far below a slot.
const APART: u64 = SAME_INSTANT + 1;

impl Ears for WalkingStart<'_> {
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { station, rules } = &self.start.macs[r.index()];
        let tied = station.is_tied(from, &rules.timing, &rules.dcf);
        let drift = if tied { self.crowd.drift(self.sender, self.ports.node(r), self.at) } else { Ordering::Equal };
        let heard = match drift {
            Ordering::Less => Time(from.0.saturating_sub(APART)),
            Ordering::Equal => from,
            Ordering::Greater => from + Span(APART),
        };
        self.start.busy(r, heard);
    }

    fn captured(&mut self, r: RadioId, from: Time, until: Time) {
        self.start.captured(r, from, until);
    }
}

impl FrameEnd<'_> {
    /// The frame ends at a radio.
    #[inline]
    fn hear(&mut self, r: RadioId, ended: Ended) {
        if ended.missed > Time::ZERO {
            let Mac { station, rules } = &mut self.macs[r.index()];
            // A missed signal is never one that the radio was deaf to: the end of such a signal is always told.
            station.on_noise(true, ended.missed, &rules.timing, &rules.dcf);
        }
        if self.watched {
            self.observe(r, &ended);
        }
        // The same with observers: they do not change the order in which things happen.
        if r != self.frame.to {
            let station = &self.macs[r.index()].station;
            let decoded = ended.verdict == Verdict::Decoded;
            if ended.listens_to_all && station.only_contends() {
                return self.hear_contending(r, &ended);
            }
            let for_me = decoded && self.broadcast.is_some();
            if !(ended.listens_to_all || for_me) {
                return self.overhear(r, &ended);
            }
        }
        self.hear_closely(r, ended);
    }

    /// The frame ends at a station that waits for the medium and for nothing else.
    #[inline]
    fn hear_contending(&mut self, r: RadioId, ended: &Ended) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        match self.broadcast {
            Some(packet) if ended.verdict == Verdict::Decoded => {
                station.on_broadcast();
                self.deliver(r, ended.at, packet);
            }
            _ => station.on_others(signal(self.frame, ended.verdict), ended.at, timing, dcf),
        }
        let Mac { station, rules } = &mut self.macs[r.index()];
        if station.resume(medium(ended.medium), ended.at, &rules.timing, &rules.dcf) {
            self.timers.set(Slot::Mac(r), station.deadline());
        }
    }

    /// The frame ends at a station for which it is at most a reservation of the medium.
    #[inline]
    fn overhear(&mut self, r: RadioId, ended: &Ended) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        station.on_others(signal(self.frame, ended.verdict), ended.at, &rules.timing, &rules.dcf);
        if station.listens_to_all() {
            self.aftermath.listening.push((r, true));
        }
    }

    /// A broadcast was received. The router ignores most of them, which carry routing messages that it knows.
    #[inline]
    fn deliver(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let n = self.ports.node(r);
        if self.nodes[n.index()].router.ignores(packet, self.slab, at + self.link_delay) {
            self.slab.note_delivery(packet, n, at);
        } else {
            self.aftermath.said.push((r, at, Out::Deliver { packet }));
        }
    }

    /// Notes and books that the frame ends at a radio.
    #[cold]
    fn observe(&mut self, r: RadioId, ended: &Ended) {
        let Ended { at, verdict, .. } = *ended;
        let Mac { station, rules } = &self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        if let Some(observers) = &mut self.observers {
            observers.on(at, &Note::FrameHeard { radio: r, frame: self.frame, verdict });
        }
        if let Some(air) = &mut self.air {
            air.settle(r, at, station.contention(), timing);
            air.on_end(at, r, self.frame, verdict, timing, dcf);
        }
    }

    /// The frame ends at a station that may have to act on it.
    #[inline(never)]
    fn hear_closely(&mut self, r: RadioId, ended: Ended) {
        let Ended { at, verdict, .. } = ended;
        let Mac { station, rules } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        if self.frame.to == r {
            self.at_target = Some(verdict);
        }
        if let Some(packet) = self.broadcast
            && verdict == Verdict::Decoded
            && station.only_listens()
        {
            station.on_broadcast();
            return self.deliver(r, at, packet);
        }
        let for_me = self.frame.to == r || self.broadcast.is_some();
        if !(for_me || station.listens_to_all()) {
            return self.overhear(r, &ended);
        }
        let listened = station.listens_to_all();
        let medium = medium(ended.medium);
        let mut cx = wlan::Cx { now: at, medium, timing, rules: dcf, out: self.heard };
        station.on_signal(signal(self.frame, verdict), &mut cx);
        self.timers.set(Slot::Mac(r), station.deadline());
        if station.listens_to_all() != listened {
            self.aftermath.listening.push((r, station.listens_to_all()));
        }
        for &out in &*self.heard {
            self.aftermath.said.push((r, at, out));
        }
        self.heard.clear();
    }
}

fn medium(s: Sensed) -> Medium {
    Medium { from: s.from, until: s.until }
}

#[inline]
fn signal(frame: &Frame, verdict: Verdict) -> Signal<'_> {
    match verdict {
        Verdict::Decoded => Signal::Frame(frame),
        Verdict::Damaged => Signal::Error,
        Verdict::Noise => Signal::Energy,
    }
}

impl Sim {
    /// Tells a station what it has missed. Every call of a station comes after this.
    #[inline(always)]
    pub(super) fn settle(&mut self, n: RadioId, now: Time) {
        if let Some(at) = self.channel.settle(n, now) {
            let Mac { station, rules } = &mut self.macs[n.index()];
            station.on_noise(true, at, &rules.timing, &rules.dcf);
        }
        while let Some((r, sender, at, verdict)) = self.channel.take_verdict() {
            self.on_verdict_before_loop(r, sender, at, verdict);
        }
        if self.air.is_some() {
            self.book(n, now);
        }
    }

    /// Books what a node's time was used for, before its station is called.
    #[cold]
    pub(super) fn book(&mut self, n: RadioId, now: Time) {
        if let Some(air) = &mut self.air {
            let Mac { station, rules } = &self.macs[n.index()];
            air.settle(n, now, station.contention(), &rules.timing);
        }
    }

    /// A frame goes on the air: finds who hears it, where nodes move, notes it, books it at its sender and at all who sense
    /// it, and measures it.
    #[cold]
    fn watch(&mut self, n: RadioId, at: Time, frame: &Frame) {
        self.look_around(n, at);
        self.note_begin(at, frame);
        self.drain(n, at, frame);
        let Sim { channel, macs, slab, air, .. } = self;
        let listener = |(radio, delay): (RadioId, Span)| {
            let Mac { station, rules } = &macs[radio.index()];
            Listener {
                radio,
                from: at + delay,
                free: channel.sensed(radio).until <= at + delay,
                contention: station.contention(),
                timing: &rules.timing,
            }
        };
        if let Some(air) = air {
            air.on_transmit(at, n, frame, slab, channel.audience(n).map(listener));
        }
        self.meter_frame(n, at, frame.airtime);
    }

    /// All have heard the end of a frame: notes what became of it at the station that it was for. `at_end`: what that
    /// was told just now, if anything.
    #[cold]
    fn watch_end(&mut self, n: RadioId, at_end: Option<Verdict>) {
        let OnAir { frame, at_target, .. } = self.on_air[n.index()];
        let lost = !frame.to.is_broadcast() && at_target.or(at_end) != Some(Verdict::Decoded);
        let lost = lost.then(|| self.cause_of_loss(n));
        self.note(self.now, &Note::FrameOver { frame: &frame, lost });
        if let Some(air) = &mut self.air {
            air.on_over(n);
        }
        if at_end == Some(Verdict::Decoded) {
            let frame = &frame;
            self.meter_read(frame);
            self.note_received(frame, self.on_air[n.index()].end());
        }
    }

    /// A timer of a station is due.
    #[inline(always)]
    pub(super) fn on_station(&mut self, n: RadioId) {
        let now = self.now;
        self.settle(n, now);
        self.call(n, now, |station, cx| station.on_deadline(cx));
        self.carry_heard(n, now);
    }

    /// Calls a station, which has been settled, and keeps its deadline and whether it listens to all. What it says is
    /// in `heard`.
    #[inline(always)]
    pub(super) fn call(&mut self, r: RadioId, now: Time, input: impl FnOnce(&mut Station, &mut wlan::Cx<'_>)) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        let medium = medium(self.channel.sensed(r));
        input(station, &mut wlan::Cx { now, medium, timing, rules: dcf, out: &mut self.heard });
        self.channel.set_listens_to_all(r, station.listens_to_all());
        self.timers.set(Slot::Mac(r), station.deadline());
    }

    /// Carries what a station has just said to those it concerns.
    #[inline]
    fn carry_heard(&mut self, n: RadioId, at: Time) {
        let mut i = 0;
        while i < self.heard.len() {
            let out = self.heard[i];
            i += 1;
            self.carry(n, at, out);
        }
        self.heard.clear();
    }

    #[inline]
    fn carry(&mut self, n: RadioId, at: Time, out: Out) {
        match out {
            Out::Transmit(frame) => self.transmit(n, at, frame),
            Out::Deliver { packet } => self.on_data_received(n, at, packet),
            Out::Sent { packet } => self.on_packet_sent(n, at, packet),
            Out::GaveUp { packet } => self.on_packet_given_up(n, at, packet),
        }
    }

    /// A frame goes on the air.
    fn transmit(&mut self, n: RadioId, at: Time, frame: Frame) {
        if !self.on_air[n.index()].ended {
            self.end_frame_early(n);
        }
        if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) {
            // If the frame that it answers counts as failed from now on, this answer was lost.
            let asked = &mut self.on_air[frame.to.index()];
            (asked.attempt, asked.answered) = (Cause::ResponseLost, true);
        }
        let on_air = &mut self.on_air[n.index()];
        *on_air = OnAir { frame, began: at, ended: false, attempt: on_air.attempt, ..OnAir::NONE };
        if self.watched {
            self.watch(n, at, &frame);
        }
        let Sim { channel, macs, timers, ports, crowd, .. } = self;
        let ends = (n, frame.to);
        let farthest = match crowd.as_deref().filter(|c| c.decides_ties()) {
            None => channel.start(ends, at, frame.airtime, frame.mode.0, &mut FrameStart { macs, timers }),
            Some(crowd) => {
                let start = FrameStart { macs, timers };
                let sender = ports.node(n);
                let mut ears = WalkingStart { start, crowd, ports, sender, at };
                channel.start(ends, at, frame.airtime, frame.mode.0, &mut ears)
            }
        };
        let mut last = at + frame.airtime + farthest;
        if farthest > self.shortest_sifs {
            last = last.min(self.when_to_end(n, &frame));
        }
        self.timers.set(Slot::Radio(n), last);
        while let Some((r, sender, at, verdict)) = self.channel.take_verdict() {
            self.on_verdict_before_loop(r, sender, at, verdict);
        }
    }

    /// Latest instant of the second loop of a frame, if a listener is farther away than SIFS at the speed of
    /// light: when the station that it is for has to answer, or when others who have heard it may send.
    #[cold]
    fn when_to_end(&self, n: RadioId, frame: &Frame) -> Time {
        let end = self.on_air[n.index()].end();
        let timing = |r: RadioId| &self.macs[r.index()].rules.timing;
        let target = self.channel.audience(n).find(|listener| listener.0 == frame.to);
        target.map_or(end + timing(n).difs, |(to, delay)| end + delay + timing(to).sifs)
    }

    /// The last frame of a radio has not ended at all who hear it, and must before the radio goes on: those who are so far away
    /// are told now, each its own instant, which is still to come.
    #[cold]
    pub(super) fn end_frame_early(&mut self, n: RadioId) {
        // Callers carry what stations have said before.
        let before = (take(&mut self.heard), take(&mut self.aftermath), take(&mut self.overheard));
        self.end_frame_closely(n);
        (self.heard, self.aftermath, self.overheard) = before;
    }

    /// A frame has ended at all who hear it.
    #[inline(always)]
    pub(super) fn on_frame_end(&mut self, n: RadioId) {
        if self.closely { self.end_frame_closely(n) } else { self.end_frame::<false>(n) }
    }

    /// A function of its own, so that the usual case is short enough for the loop of the run.
    #[inline(never)]
    fn end_frame_closely(&mut self, n: RadioId) {
        self.end_frame::<true>(n);
    }

    /// `CLOSELY` is `self.closely`.
    #[inline(always)]
    fn end_frame<const CLOSELY: bool>(&mut self, n: RadioId) {
        self.timers.set(Slot::Radio(n), Time::NEVER);
        let on_air = &mut self.on_air[n.index()];
        let over = on_air.over.take();
        on_air.ended = true;
        let (frame, end) = (&on_air.frame, on_air.end());
        let mut frame_end = FrameEnd {
            frame,
            broadcast: frame.packet.filter(|_| frame.to.is_broadcast()),
            slab: &mut self.slab,
            link_delay: self.net.link_delay,
            ports: &self.ports,
            nodes: &self.nodes,
            macs: &mut self.macs,
            timers: &mut self.timers,
            watched: self.watched_closely,
            observers: self.observers.as_deref_mut(),
            air: self.air.as_deref_mut(),
            heard: &mut self.heard,
            aftermath: &mut self.aftermath,
            at_target: None,
        };
        let mut by_error = false;
        if CLOSELY {
            let timing = &frame_end.macs[n.index()].rules.timing;
            let exposed = self.receivers.as_ref().and_then(|r| r.exposed(frame, timing, frame_end.slab));
            let read = self.promiscuous && frame.kind == FrameKind::Data && !frame.to.is_broadcast();
            let (receivers, overheard) = (&mut self.receivers, &mut self.overheard);
            self.channel.finish(n, end, |r, mut ended| {
                if let (Some(bytes), Some(receivers)) = (exposed, receivers.as_mut())
                    && receivers.damages(r, bytes, ended.verdict)
                {
                    ended.verdict = Verdict::Damaged;
                    by_error |= r == frame.to;
                }
                if read && r != frame.to && ended.verdict == Verdict::Decoded {
                    overheard.push(r);
                }
                frame_end.hear(r, ended);
            });
        } else {
            self.channel.finish(n, end, |r, ended| frame_end.hear(r, ended));
        }
        let at_end = frame_end.at_target;
        if CLOSELY {
            self.on_air[n.index()].by_error |= by_error;
        }
        for &(r, wants) in &self.aftermath.listening {
            self.channel.set_listens_to_all(r, wants);
        }
        self.aftermath.listening.clear();
        if self.watched {
            self.watch_end(n, at_end);
        }
        self.note_attempt(n, at_end);
        for i in 0..self.aftermath.said.len() {
            let (r, at, out) = self.aftermath.said[i];
            match out {
                Out::Deliver { packet } => self.on_data_received(r, at, packet),
                out => self.carry(r, at, out),
            }
        }
        self.aftermath.said.clear();
        if CLOSELY {
            self.carry_overheard(n);
            let frame = &self.on_air[n.index()].frame;
            if self.knows_signals && at_end == Some(Verdict::Decoded) {
                let ratio = self.channel.signal_to_noise(frame.to);
                self.macs[n.index()].station.arrived(frame.to, ratio);
            }
        }
        if let Some(packet) = over {
            self.slab.here(self.ports.node(n), self.now);
            self.slab.end(packet, Fate::Delivered);
        }
    }

    /// Tells the nodes that have read a frame for another one.
    fn carry_overheard(&mut self, n: RadioId) {
        for i in 0..self.overheard.len() {
            if let Some(packet) = self.on_air[n.index()].frame.packet {
                self.on_overheard(self.overheard[i], packet);
            }
        }
        self.overheard.clear();
    }

    /// The same for one that has read it before all others have heard its end.
    #[cold]
    fn overhear_before_loop(&mut self, r: RadioId, frame: &Frame, verdict: Verdict) {
        let is_for_another = frame.kind == FrameKind::Data && frame.to != r && !frame.to.is_broadcast();
        if let Some(packet) = frame.packet.filter(|_| is_for_another && verdict == Verdict::Decoded) {
            self.on_overheard(r, packet);
        }
    }

    /// Keeps the fate of a frame that needs an answer, at the station that it was for, which was told `at_end` just now, if
    /// anything.
    #[inline(always)]
    fn note_attempt(&mut self, n: RadioId, at_end: Option<Verdict>) {
        let OnAir { frame: Frame { kind, to, .. }, at_target, answered, .. } = self.on_air[n.index()];
        if to.is_broadcast() || answered || matches!(kind, FrameKind::Cts | FrameKind::Ack) {
            return;
        }
        let cause = match (kind, at_target.or(at_end)) {
            (FrameKind::Rts, Some(Verdict::Decoded)) => Cause::Refused,
            (_, Some(Verdict::Decoded)) => Cause::ResponseLost,
            _ => self.cause_of_loss(n),
        };
        self.on_air[n.index()].attempt = cause;
    }

    /// Cause why the last frame of a radio was not decoded at the station that it was for: a state that excludes reception
    /// at any time, then the first harm.
    #[inline(never)]
    fn cause_of_loss(&self, n: RadioId) -> Cause {
        let on_air = &self.on_air[n.index()];
        let to = on_air.frame.to;
        if on_air.by_error {
            return Cause::Damaged;
        }
        let harm = self.channel.harm(n);
        let listens = self.channel.transmits_until(to) <= on_air.began;
        // The delay is seldom needed.
        let Some(delay) = (if listens && harm.is_some() { Some(Span::ZERO) } else { self.channel.delay(n, to) }) else {
            return Cause::OutOfRange;
        };
        // A receiver that transmits at any time during the frame loses it, and so does one that is off.
        let deaf = self.channel.transmits_until(to) > on_air.began + delay;
        let own = &self.on_air[to.index()];
        let cut = self.channel.harm(to) == Some(Harm::Cut);
        if deaf && (cut || self.is_radio_off(to) || self.channel.transmits_until(to) != own.end()) {
            return Cause::SwitchedOff;
        }
        // A transmission after the frame does not matter, but there may have been one before.
        if deaf && (own.began < on_air.end() + delay || harm.is_none()) {
            return Cause::Transmitting;
        }
        match harm {
            Some(Harm::Hidden) => Cause::HiddenTerminal,
            Some(Harm::Sensed) => Cause::SameSlot,
            Some(Harm::Captured) => Cause::Captured,
            Some(Harm::Noise) => Cause::Damaged,
            Some(Harm::Cut) => Cause::SwitchedOff,
            None => Cause::OutOfRange,
        }
    }

    /// A frame has ended at a radio, whose verdict is given before the second loop of the frame.
    fn on_verdict_before_loop(&mut self, r: RadioId, sender: RadioId, at: Time, verdict: Verdict) {
        self.settle(r, at);
        let frame = self.on_air[sender.index()].frame;
        let received = verdict;
        let verdict = self.with_errors(r, &frame, received);
        let on_air = &mut self.on_air[sender.index()];
        // Not what is left of a frame that was cut, whose sender has begun the next one.
        if frame.to == r && at >= on_air.end() {
            (on_air.at_target, on_air.by_error) = (Some(verdict), verdict != received);
        }
        self.note(at, &Note::FrameHeard { radio: r, frame: &frame, verdict });
        if let Some(air) = &mut self.air {
            let Rules { timing, dcf } = &*self.macs[r.index()].rules;
            air.on_end(at, r, &frame, verdict, timing, dcf);
        }
        if self.watched && frame.to == r && verdict == Verdict::Decoded {
            self.meter_read(&frame);
            self.note_received(&frame, at);
        }
        if self.promiscuous {
            self.overhear_before_loop(r, &frame, verdict);
        }
        // Below `start` lies what another station has said and is not carried yet.
        let start = self.heard.len();
        self.call(r, at, |station, cx| station.on_signal(signal(&frame, verdict), cx));
        for i in start..self.heard.len() {
            self.carry(r, at, self.heard[i]);
        }
        self.heard.truncate(start);
    }
}
