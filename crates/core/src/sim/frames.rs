//! Interface between radio and stations: frames on the air.

use super::Sim;
use super::air::hearing::signal;
use super::air::{Mac, OnAir, Rules};
use super::slots::{Clock, Slot};
use crate::packet::{Fate, RadioId};
use crate::radio::Verdict;
use crate::record::air_time::Listener;
use crate::record::note::Note;
use crate::unit::{Span, Time};
use crate::wlan::{Frame, FrameKind, Out};
use std::mem::take;

impl Sim {
    /// Tells a station what it has missed. Every call of a station comes after this.
    #[inline(always)]
    pub(super) fn settle(&mut self, n: RadioId, now: Time) {
        self.air.settle(n, now);
        self.take_early_verdicts();
        if self.watch.air_time.is_some() {
            self.watch.book(n, now, &self.air.macs[n.index()]);
        }
    }

    /// Verdicts that the next frame at a receiver has brought forward, before the second loop of the frame.
    #[inline(always)]
    fn take_early_verdicts(&mut self) {
        while let Some((r, sender, at, verdict)) = self.air.channel.take_verdict() {
            self.on_verdict_before_loop(r, sender, at, verdict);
        }
    }

    /// A frame goes on the air: finds who hears it, where nodes move, notes it, books it at its sender and at all who sense
    /// it, and measures it.
    #[cold]
    fn watch(&mut self, n: RadioId, at: Time, frame: &Frame) {
        let Sim { air, net, world, watch, pool, .. } = self;
        world.look_around(n, at, &net.ports, &mut air.channel);
        watch.note_begin(at, frame, &air.macs[n.index()], pool);
        if let Some(batteries) = &mut world.batteries {
            batteries.on_transmit(n, at, frame, &net.ports, &air.channel);
            self.timers.set(Slot::Clock(Clock::Battery), batteries.deadline());
        }
        let (channel, macs) = (&air.channel, &air.macs);
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
        if let Some(air_time) = &mut watch.air_time {
            air_time.on_transmit(at, n, frame, pool, channel.audience(n).map(listener));
        }
        if let Some(neighborhood) = net.neighborhood() {
            neighborhood.on_transmit(n, at, frame.airtime, channel);
        }
    }

    /// All have heard the end of a frame: notes what became of it at the station that it was for. `at_end`: what that
    /// was told just now, if anything.
    #[cold]
    fn watch_end(&mut self, n: RadioId, at_end: Option<Verdict>) {
        let OnAir { frame, at_target, .. } = self.air.on_air[n.index()];
        let lost = !frame.to.is_broadcast() && at_target.or(at_end) != Some(Verdict::Decoded);
        let lost = lost.then(|| self.air.cause_of_loss(n, &self.net));
        self.watch.note(self.now, &Note::FrameOver { frame: &frame, lost });
        if let Some(air) = &mut self.watch.air_time {
            air.on_over(n);
        }
        if at_end == Some(Verdict::Decoded) {
            self.measure_read(&frame, self.air.on_air[n.index()].end());
        }
    }

    /// A frame was read at the station that it was for: Neighborhood RED and batteries are told.
    fn measure_read(&mut self, frame: &Frame, at: Time) {
        if let Some(neighborhood) = self.net.neighborhood() {
            neighborhood.on_read(frame);
        }
        if let Some(batteries) = &mut self.world.batteries {
            batteries.on_read(self.net.ports.node(frame.to), frame, at);
        }
    }

    /// A timer of a station is due.
    #[inline(always)]
    pub(super) fn on_station(&mut self, n: RadioId) {
        let now = self.now;
        self.settle(n, now);
        self.air.call(n, now, &mut self.timers, |station, cx| station.on_deadline(cx));
        self.carry_actions(n, now);
    }

    /// Carries out the actions of the station that was called last.
    #[inline]
    fn carry_actions(&mut self, n: RadioId, at: Time) {
        let mut i = 0;
        while i < self.air.actions.len() {
            let out = self.air.actions[i];
            i += 1;
            self.carry(n, at, out);
        }
        self.air.actions.clear();
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
        if !self.air.on_air[n.index()].ended {
            self.end_frame_early(n);
        }
        self.air.begin(n, at, frame);
        if self.air.watched {
            self.watch(n, at, &frame);
        }
        let mobile_nodes = self.world.mobile_nodes.as_deref().filter(|c| c.decides_ties());
        self.air.hear_start(n, at, &frame, (mobile_nodes, &self.net.ports), &mut self.timers);
        self.take_early_verdicts();
    }

    /// The last frame of a radio has not ended at all who hear it, and must before the radio goes on: those who are so far away
    /// are told now, each its own instant, which is still to come.
    #[cold]
    pub(super) fn end_frame_early(&mut self, n: RadioId) {
        // Callers still have to carry out the actions of stations that were called before.
        let before = (take(&mut self.air.actions), take(&mut self.air.deferred), take(&mut self.air.overheard));
        self.end_frame_closely(n);
        (self.air.actions, self.air.deferred, self.air.overheard) = before;
    }

    /// A frame has ended at all who hear it.
    #[inline(always)]
    pub(super) fn on_frame_end(&mut self, n: RadioId) {
        if self.air.closely { self.end_frame_closely(n) } else { self.end_frame::<false>(n) }
    }

    /// A function of its own, so that the usual case is short enough for the loop of the run.
    #[inline(never)]
    fn end_frame_closely(&mut self, n: RadioId) {
        self.end_frame::<true>(n);
    }

    /// `CLOSELY` is `self.air.closely`.
    #[inline(always)]
    fn end_frame<const CLOSELY: bool>(&mut self, n: RadioId) {
        self.timers.set(Slot::Radio(n), Time::NEVER);
        let over = self.air.on_air[n.index()].over.take();
        let at_end = self.air.hear_end::<CLOSELY>(n, &mut self.pool, &self.net, &mut self.timers, &mut self.watch);
        if self.air.watched {
            self.watch_end(n, at_end);
        }
        // Before the actions: one of them may be the answer, and by another one the sender may begin its next frame, which
        // takes the place of this one in `on_air`.
        self.air.note_attempt(n, at_end, &self.net);
        for i in 0..self.air.deferred.actions.len() {
            let (r, at, out) = self.air.deferred.actions[i];
            match out {
                Out::Deliver { packet } => self.on_data_received(r, at, packet),
                out => self.carry(r, at, out),
            }
        }
        self.air.deferred.actions.clear();
        if CLOSELY {
            self.carry_overheard(n);
            if self.air.knows_signals && at_end == Some(Verdict::Decoded) {
                self.air.tell_signal(n);
            }
        }
        // After the actions: those who have received the broadcast share its packet, which must not end before.
        if let Some(packet) = over {
            self.pool.here(self.net.ports.node(n), self.now);
            self.pool.end(packet, Fate::Delivered);
        }
    }

    /// Tells the nodes that have read a frame for another one.
    fn carry_overheard(&mut self, n: RadioId) {
        for i in 0..self.air.overheard.len() {
            if let Some(packet) = self.air.on_air[n.index()].frame.packet {
                self.on_overheard(self.air.overheard[i], packet);
            }
        }
        self.air.overheard.clear();
    }

    /// Tells the node of a radio that has read a frame for another one before all others have heard its end.
    #[cold]
    fn overhear_before_loop(&mut self, r: RadioId, frame: &Frame, verdict: Verdict) {
        let is_for_another = frame.kind == FrameKind::Data && frame.to != r && !frame.to.is_broadcast();
        if let Some(packet) = frame.packet.filter(|_| is_for_another && verdict == Verdict::Decoded) {
            self.on_overheard(r, packet);
        }
    }

    /// A frame has ended at a radio, whose verdict is given before the second loop of the frame.
    fn on_verdict_before_loop(&mut self, r: RadioId, sender: RadioId, at: Time, verdict: Verdict) {
        self.settle(r, at);
        let frame = self.air.on_air[sender.index()].frame;
        let verdict = self.air.judge_early(r, sender, at, verdict, &self.pool);
        self.watch.note(at, &Note::FrameHeard { radio: r, frame: &frame, verdict });
        if let Some(air) = &mut self.watch.air_time {
            let Rules { timing, dcf } = &*self.air.macs[r.index()].rules;
            air.on_end(at, r, &frame, verdict, timing, dcf);
        }
        if self.air.watched && frame.to == r && verdict == Verdict::Decoded {
            self.measure_read(&frame, at);
        }
        if self.air.promiscuous {
            self.overhear_before_loop(r, &frame, verdict);
        }
        // Below `start` lie actions of another station, whose caller carries them out.
        let start = self.air.actions.len();
        self.air.call(r, at, &mut self.timers, |station, cx| station.on_signal(signal(&frame, verdict), cx));
        for i in start..self.air.actions.len() {
            self.carry(r, at, self.air.actions[i]);
        }
        self.air.actions.truncate(start);
    }
}
