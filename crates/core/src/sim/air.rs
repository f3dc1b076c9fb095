//! The border between radio and stations: frames on the air.

use super::{OnAir, Sim};
use crate::packet::{Fate, NodeId};
use crate::radio::{Heard, Sensed, Verdict};
use crate::record::loss::Cause;
use crate::unit::Time;
use crate::wlan::{self, Frame, FrameKind, Medium, Out};

fn medium(s: Sensed) -> Medium {
    Medium { from: s.from, until: s.until }
}

impl Sim {
    /// Tells a station what it has missed; to be done before it is called.
    #[inline(always)]
    pub(super) fn settle(&mut self, n: NodeId, now: Time) {
        if let Some(at) = self.channel.settle(n, now) {
            self.stations[n.index()].on_noise(at, &self.timing, &self.rules);
        }
        while let Some((r, sender, at, verdict)) = self.channel.take_early() {
            self.on_heard_early(r, sender, at, verdict);
        }
    }

    /// A timer of a station is due.
    pub(super) fn on_station(&mut self, n: NodeId) {
        let now = self.now;
        self.settle(n, now);
        let station = &mut self.stations[n.index()];
        let mut cx = wlan::Cx {
            now,
            medium: medium(self.channel.sensed(n)),
            timing: &self.timing,
            rules: &self.rules,
            out: &mut self.heard,
        };
        station.on_deadline(&mut cx);
        self.channel.attend(n, station.is_attentive());
        self.agenda.set(self.slots.mac(n), station.deadline());
        self.carry_heard(n, now);
    }

    /// Carries what a station has just said to whom it concerns.
    #[inline]
    fn carry_heard(&mut self, n: NodeId, at: Time) {
        let mut i = 0;
        while i < self.heard.len() {
            let out = self.heard[i];
            i += 1;
            self.carry(n, at, out);
        }
        self.heard.clear();
    }

    #[inline]
    fn carry(&mut self, n: NodeId, at: Time, out: Out) {
        match out {
            Out::Transmit(frame) => self.transmit(n, at, frame),
            Out::Deliver { packet } => self.on_data_received(n, at, packet),
            Out::Sent { packet } => self.on_packet_sent(n, at, packet),
            Out::GaveUp { packet } => self.on_packet_given_up(n, at, packet),
        }
    }

    /// A frame goes on the air.
    fn transmit(&mut self, n: NodeId, at: Time, frame: Frame) {
        let end = at + frame.airtime;
        let attempt = self.on_air[n.index()].attempt;
        self.on_air[n.index()] = OnAir { frame, end, over: None, ended: false, attempt };
        if let Some(trace) = &mut self.trace {
            trace.on_transmit(at, n, &frame, &self.slab);
        }
        let Sim { channel, stations, agenda, timing, rules, slots, .. } = self;
        let last = channel.start(n, at, frame.airtime, |r, heard| {
            let station = &mut stations[r.index()];
            match heard {
                Heard::Busy { from } => {
                    if station.on_busy(from, timing, rules) {
                        agenda.set(slots.mac(r), station.deadline());
                    }
                }
                Heard::Captured { from, until } => station.on_captured(from, until, timing, rules),
            }
        });
        self.agenda.set(self.slots.radio(n), last);
        while let Some((r, sender, at, verdict)) = self.channel.take_early() {
            self.on_heard_early(r, sender, at, verdict);
        }
    }

    /// A frame has ended at all who hear it.
    pub(super) fn on_frame_end(&mut self, n: NodeId) {
        self.agenda.set(self.slots.radio(n), Time::NEVER);
        let Sim { channel, stations, agenda, timing, rules, slots, heard, said, attention, trace, on_air, .. } = self;
        let on_air = &mut on_air[n.index()];
        let over = on_air.over.take();
        on_air.ended = true;
        let frame = &on_air.frame;
        let broadcast = frame.packet.filter(|_| frame.to.is_broadcast());
        let mut attentive = std::mem::take(attention);
        let mut at_target = None;
        channel.finish(n, on_air.end, |r, at, verdict, sensed, missed| {
            let station = &mut stations[r.index()];
            if let Some(missed) = missed {
                station.on_noise(missed, timing, rules);
            }
            if let Some(trace) = trace {
                trace.on_received(at, r, frame, verdict);
            }
            if frame.to == r {
                at_target = Some(verdict);
            }
            if let Some(packet) = broadcast
                && verdict == Verdict::Decoded
                && station.only_listens()
            {
                station.on_broadcast();
                said.push((r, at, Out::Deliver { packet }));
                return;
            }
            let mine = frame.to == r || frame.to.is_broadcast();
            if !mine && !station.is_attentive() {
                match verdict {
                    Verdict::Decoded => station.on_overheard(frame, at, timing, rules),
                    Verdict::Damaged => station.on_noise(at, timing, rules),
                }
                if station.is_attentive() {
                    attentive.push((r, true));
                }
                return;
            }
            let before = (station.deadline(), station.is_attentive());
            let mut cx = wlan::Cx { now: at, medium: medium(sensed), timing, rules, out: heard };
            match verdict {
                Verdict::Decoded => station.on_frame(frame, &mut cx),
                Verdict::Damaged => station.on_damaged(&mut cx),
            }
            if station.deadline() != before.0 {
                agenda.set(slots.mac(r), station.deadline());
            }
            if station.is_attentive() != before.1 {
                attentive.push((r, station.is_attentive()));
            }
            if !heard.is_empty() {
                said.extend(heard.drain(..).map(|out| (r, at, out)));
            }
        });
        for (r, wants) in attentive.drain(..) {
            channel.attend(r, wants);
        }
        *attention = attentive;
        self.note_attempt(n, at_target);
        for i in 0..self.said.len() {
            let (r, at, out) = self.said[i];
            match out {
                Out::Deliver { packet } => self.on_data_received(r, at, packet),
                out => self.carry(r, at, out),
            }
        }
        self.said.clear();
        if let Some(packet) = over {
            self.slab.end(packet, Fate::Delivered);
        }
    }

    /// Notes what became of a frame that is to be answered, or of an answer, at the station it was for.
    #[inline]
    fn note_attempt(&mut self, n: NodeId, at_target: Option<Verdict>) {
        let Frame { kind, to, .. } = self.on_air[n.index()].frame;
        if to.is_broadcast() {
            return;
        }
        let end = self.on_air[n.index()].end;
        let (who, cause) = match (kind, at_target) {
            (FrameKind::Cts | FrameKind::Ack, _) => (to, Cause::ResponseLost),
            (FrameKind::Rts, Some(Verdict::Decoded)) => (n, Cause::Refused),
            (FrameKind::Data, Some(Verdict::Decoded)) => (n, Cause::ResponseLost),
            (_, Some(Verdict::Damaged)) => (n, Cause::Collision),
            (_, None) if self.channel.is_transmitting(to, end) => (n, Cause::Transmitting),
            (_, None) if self.channel.is_collision(to, end) => (n, Cause::Collision),
            (_, None) => (n, Cause::Captured),
        };
        self.on_air[who.index()].attempt = cause;
    }

    /// A frame has ended at a node before all others have heard its end.
    fn on_heard_early(&mut self, r: NodeId, sender: NodeId, at: Time, verdict: Verdict) {
        self.settle(r, at);
        let frame = self.on_air[sender.index()].frame;
        let station = &mut self.stations[r.index()];
        if let Some(trace) = &mut self.trace {
            trace.on_received(at, r, &frame, verdict);
        }
        // What another station has said may still be waiting below.
        let start = self.heard.len();
        let mut cx = wlan::Cx {
            now: at,
            medium: medium(self.channel.sensed(r)),
            timing: &self.timing,
            rules: &self.rules,
            out: &mut self.heard,
        };
        match verdict {
            Verdict::Decoded => station.on_frame(&frame, &mut cx),
            Verdict::Damaged => station.on_damaged(&mut cx),
        }
        self.channel.attend(r, station.is_attentive());
        self.agenda.set(self.slots.mac(r), station.deadline());
        for i in start..self.heard.len() {
            self.carry(r, at, self.heard[i]);
        }
        self.heard.truncate(start);
    }
}
