//! The border between radio and stations: frames on the air.

use super::{OnAir, Sim};
use crate::packet::{Fate, NodeId};
use crate::radio::{Heard, Sensed, Verdict};
use crate::unit::Time;
use crate::wlan::{self, Frame, Medium, Out};

fn medium(s: Sensed) -> Medium {
    Medium { from: s.from, until: s.until }
}

impl Sim {
    /// A timer of a station is due.
    pub(super) fn on_station(&mut self, n: NodeId) {
        let now = self.now;
        let station = &mut self.stations[n.index()];
        let mut cx = wlan::Cx {
            now,
            medium: medium(self.channel.sensed(n)),
            timing: &self.timing,
            rules: &self.rules,
            out: &mut self.heard,
        };
        station.on_deadline(&mut cx);
        self.agenda.set(self.slots.mac(n), station.deadline());
        self.collect(n, now);
        self.carry_said();
    }

    /// Moves what a station said to what has to be carried.
    #[inline]
    fn collect(&mut self, n: NodeId, at: Time) {
        for out in self.heard.drain(..) {
            self.said.push((n, at, out));
        }
    }

    /// Carries what stations said to whom it concerns.
    #[inline]
    pub(super) fn carry_said(&mut self) {
        let mut i = 0;
        while i < self.said.len() {
            let (n, at, out) = self.said[i];
            i += 1;
            match out {
                Out::Transmit(frame) => self.transmit(n, at, frame),
                Out::Deliver { packet } => self.on_data_received(n, at, packet),
                Out::Sent { packet } => self.on_packet_sent(n, at, packet),
                Out::GaveUp { packet } => self.on_packet_given_up(n, at, packet),
            }
        }
        self.said.clear();
    }

    /// A frame goes on the air.
    fn transmit(&mut self, n: NodeId, at: Time, frame: Frame) {
        let end = at + frame.airtime;
        self.on_air[n.index()] = Some(OnAir { frame, end, over: None });
        if let Some(trace) = &mut self.trace {
            trace.on_transmit(at, n, &frame, &self.slab);
        }
        let Sim { channel, stations, agenda, timing, rules, slots, .. } = self;
        let last = channel.start(n, at, frame.airtime, |r, heard| {
            let station = &mut stations[r.index()];
            match heard {
                Heard::Busy { from } => {
                    if station.is_attentive() {
                        station.on_busy(from, timing, rules);
                        agenda.set(slots.mac(r), station.deadline());
                    } else {
                        station.on_busy_idle(from);
                    }
                }
                Heard::Captured { from, until } => station.on_captured(from, until, timing, rules),
            }
        });
        self.agenda.set(self.slots.radio(n), last);
        while let Some((r, sender, at, verdict)) = self.channel.take_early() {
            let sensed = self.channel.sensed(r);
            // `carry_said`, which called this, goes on with what is said now.
            self.on_heard(r, sender, at, verdict, sensed);
        }
    }

    /// A frame has ended at all who hear it.
    pub(super) fn on_frame_end(&mut self, n: NodeId) {
        self.agenda.set(self.slots.radio(n), Time::NEVER);
        let OnAir { frame, end, over } = self.on_air[n.index()].take().expect("a frame ends that is on the air");
        let Sim { channel, stations, agenda, timing, rules, slots, heard, said, trace, .. } = self;
        channel.finish(n, end, |r, at, verdict, sensed| {
            let station = &mut stations[r.index()];
            if let Some(trace) = trace {
                trace.on_received(at, r, &frame, verdict);
            }
            let mine = frame.to == r || frame.to.is_broadcast();
            if !mine && !station.is_attentive() {
                match verdict {
                    Verdict::Decoded => station.on_overheard(&frame, at, timing, rules),
                    Verdict::Damaged => station.on_noise(at, timing, rules),
                }
                return;
            }
            let mut cx = wlan::Cx { now: at, medium: medium(sensed), timing, rules, out: heard };
            match verdict {
                Verdict::Decoded => station.on_frame(&frame, &mut cx),
                Verdict::Damaged => station.on_damaged(&mut cx),
            }
            agenda.set(slots.mac(r), station.deadline());
            for out in heard.drain(..) {
                said.push((r, at, out));
            }
        });
        self.carry_said();
        if let Some(packet) = over {
            self.slab.end(packet, Fate::Delivered);
        }
    }

    /// What became of one frame at one node, outside of the loop over all.
    fn on_heard(&mut self, r: NodeId, sender: NodeId, at: Time, verdict: Verdict, sensed: Sensed) {
        let frame = self.on_air[sender.index()].expect("a frame is on the air until all have heard its end").frame;
        let station = &mut self.stations[r.index()];
        if let Some(trace) = &mut self.trace {
            trace.on_received(at, r, &frame, verdict);
        }
        let mut cx = wlan::Cx {
            now: at,
            medium: medium(sensed),
            timing: &self.timing,
            rules: &self.rules,
            out: &mut self.heard,
        };
        match verdict {
            Verdict::Decoded => station.on_frame(&frame, &mut cx),
            Verdict::Damaged => station.on_damaged(&mut cx),
        }
        self.agenda.set(self.slots.mac(r), station.deadline());
        self.collect(r, at);
    }
}
