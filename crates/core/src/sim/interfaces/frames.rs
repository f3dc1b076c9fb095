//! Interface between radio and stations: frames on the air.

use crate::packet::{Fate, RadioId};
use crate::radio::Verdict;
use crate::record::note::Note;
use crate::record::uses::airtime::Receiver;
use crate::sim::Sim;
use crate::sim::air::OnAir;
use crate::sim::air::mac::Rules;
use crate::sim::air::reception::signal;
use crate::sim::timer_numbers::{Clock, Timer};
use crate::unit::{Span, Time};
use crate::wlan::{Frame, Out};
use std::mem::take;

impl Sim {
    /// Reports deferred ends of signals to a station. Must precede every call of the station.
    #[inline(always)]
    pub(in crate::sim) fn flush_deferred(&mut self, n: RadioId, now: Time) {
        self.air.flush_deferred(n, now);
        self.take_early_verdicts();
        if self.watch.airtime.is_some() {
            let mac = &self.air.macs[n.index()];
            self.watch.book(n, now, mac.contention(), &mac.rules.timing);
        }
    }

    /// Processes early verdicts: those given before the second loop of their frame, because the next frame has reached
    /// the receiver.
    #[inline(always)]
    fn take_early_verdicts(&mut self) {
        while let Some((r, sender, at, verdict)) = self.air.channel.take_verdict() {
            self.on_verdict_before_loop(r, sender, at, verdict);
        }
    }

    /// Updates the receivers in range of a frame where nodes move, and reports its start to observers, batteries,
    /// airtime accounting and Neighborhood RED.
    #[cold]
    fn observe_start(&mut self, n: RadioId, at: Time, frame: &Frame) {
        let Sim { air, net, world, watch, pool, .. } = self;
        world.look_around(n, at, &net.ports, &mut air.channel);
        let mac = &air.macs[n.index()];
        let psdu = mac.qos.as_ref().map(|qos| &qos.psdu);
        watch.note_begin(at, (frame, psdu), &mac.rules.timing, pool);
        if let Some(batteries) = &mut world.batteries {
            batteries.on_transmit(n, at, frame, &net.ports, &air.channel);
            self.timers.set(Timer::Clock(Clock::Battery), batteries.deadline());
        }
        let (channel, macs) = (&air.channel, &air.macs);
        let receiver = |(radio, delay): (RadioId, Span)| {
            let mac = &macs[radio.index()];
            Receiver {
                radio,
                from: at + delay,
                free: channel.sensed(radio).until <= at + delay,
                contention: mac.contention(),
                timing: &mac.rules.timing,
            }
        };
        if let Some(airtime) = &mut watch.airtime {
            airtime.on_transmit(at, n, (frame, psdu), pool, channel.in_range(n).map(receiver));
        }
        if let Some(neighborhood) = net.neighborhood() {
            neighborhood.on_transmit(n, at, frame.airtime, channel);
        }
    }

    /// Reports the end of a frame, after all receivers have processed it, with the outcome at the intended receiver.
    /// `at_end`: verdict there, if given just now.
    #[cold]
    fn observe_end(&mut self, n: RadioId, at_end: Option<Verdict>) {
        let OnAir { frame, at_target, .. } = self.air.on_air[n.index()];
        let lost = !frame.to.is_broadcast() && at_target.or(at_end) != Some(Verdict::Decoded);
        let lost = lost.then(|| self.air.cause_of_loss(n, &self.net));
        self.watch.note(self.now, &Note::FrameOver { frame: &frame, lost, channel: &self.air.channel });
        if let Some(air) = &mut self.watch.airtime {
            air.on_over(n);
        }
        if at_end == Some(Verdict::Decoded) {
            self.measure_read(&frame, self.air.on_air[n.index()].end());
        }
    }

    /// Reports a frame decoded at its intended receiver to Neighborhood RED and to batteries.
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
    pub(in crate::sim) fn on_station(&mut self, n: RadioId) {
        if self.air.qos.is_some() {
            return self.on_qos_station(n);
        }
        let now = self.now;
        self.flush_deferred(n, now);
        self.air.call(n, now, &mut self.timers, |station, cx| station.on_deadline(cx));
        self.dispatch_mac::<false>(n, now);
    }

    /// A timer of a QoS station is due.
    #[inline(never)]
    fn on_qos_station(&mut self, n: RadioId) {
        let now = self.now;
        self.flush_deferred(n, now);
        self.air.call_qos(n, now, &mut self.timers, |station, cx| station.on_deadline(cx));
        self.dispatch_mac::<true>(n, now);
    }

    /// Dispatches the actions of the station whose timer has expired. `QOS`: it is a QoS station.
    #[inline]
    fn dispatch_mac<const QOS: bool>(&mut self, n: RadioId, at: Time) {
        let mut i = 0;
        while i < self.air.actions.len() {
            self.dispatch_mac_action::<QOS>(n, at, i);
            i += 1;
        }
        self.air.actions.clear();
    }

    /// Dispatches one of the actions in `air.actions`.
    #[inline(always)]
    pub(in crate::sim) fn dispatch_mac_action<const QOS: bool>(&mut self, n: RadioId, at: Time, action: usize) {
        match self.air.actions[action] {
            Out::Transmit(frame) => self.transmit::<QOS>(n, at, frame),
            out => self.dispatch_packet(n, at, out),
        }
    }

    /// Dispatches the actions of a station other than transmissions.
    #[inline(never)]
    fn dispatch_packet(&mut self, n: RadioId, at: Time, out: Out) {
        match out {
            Out::Transmit(_) => {}
            Out::Deliver { packet } => self.on_data_received(n, at, packet),
            Out::Sent { packet } => self.on_packet_sent(n, at, packet),
            Out::GaveUp { packet } => self.on_packet_given_up(n, at, packet),
            Out::Store { packet, from, tid, seq } => self.on_data_stored(n, at, packet, (from, tid, seq)),
            Out::Release { from, tid, seq } => self.on_data_released(n, at, (from, tid, seq)),
            Out::Taken { packet } => self.on_packet_taken(n, at, packet),
            Out::Marked { packet } => self.on_packet_marked(packet),
            Out::Dropped { packet, reason } => self.on_packet_dropped(n, at, packet, reason),
        }
    }

    /// A frame goes on the air.
    #[inline(never)]
    fn transmit<const QOS: bool>(&mut self, n: RadioId, at: Time, frame: Frame) {
        if !self.air.on_air[n.index()].ended {
            self.end_frame_early(n);
        }
        self.air.begin(n, at, frame);
        if QOS {
            self.air.begin_qos(n);
        }
        if self.air.watched {
            self.observe_start(n, at, &frame);
        }
        if QOS {
            self.air.on_frame_start_qos(n, at, &frame, &mut self.timers);
        } else {
            let mobile_nodes = self.world.mobile_nodes.as_deref().filter(|c| c.decides_ties());
            self.air.on_frame_start(n, at, &frame, (mobile_nodes, &self.net.ports), &mut self.timers);
        }
        self.take_early_verdicts();
    }

    /// Ends the last frame of a radio before it has reached the farthest receivers, because the radio continues. Each
    /// of these receivers gets the instant of the end there, which lies in the future.
    #[cold]
    pub(in crate::sim) fn end_frame_early(&mut self, n: RadioId) {
        // Callers still have to dispatch the actions of stations that were called before.
        let before = (take(&mut self.air.actions), take(&mut self.air.deferred), take(&mut self.air.overheard));
        self.end_frame_with_rare_features(n);
        (self.air.actions, self.air.deferred, self.air.overheard) = before;
    }

    /// The end of a frame has reached every receiver in range.
    #[inline(always)]
    pub(in crate::sim) fn on_frame_end(&mut self, n: RadioId) {
        if self.air.has_rare_features {
            self.end_frame_with_rare_features(n)
        } else {
            self.end_frame::<false, false>(n)
        }
    }

    /// Kept out of line, so that the usual case is short enough for the main loop.
    #[inline(never)]
    fn end_frame_with_rare_features(&mut self, n: RadioId) {
        if self.air.qos.is_some() {
            self.end_frame::<true, true>(n);
        } else {
            self.end_frame::<true, false>(n);
        }
    }

    /// Second loop of a frame, and the actions that follow. `RARE` must be true if `self.air.has_rare_features` is, and `QOS`
    /// where stations are QoS stations.
    #[inline(always)]
    fn end_frame<const RARE: bool, const QOS: bool>(&mut self, n: RadioId) {
        self.timers.set(Timer::Radio(n), Time::NEVER);
        let over = self.air.end(n);
        let at_end = if QOS {
            self.air.on_frame_end_qos(n, &self.pool, &mut self.timers, &mut self.watch)
        } else {
            self.air.on_frame_end::<RARE>(n, &mut self.pool, &self.net, &mut self.timers, &mut self.watch)
        };
        if self.air.watched {
            self.observe_end(n, at_end);
        }
        // Precedes the actions: one of them may be the response, and another one may start the sender's next frame,
        // which replaces this one in `on_air`.
        self.air.note_attempt(n, at_end, &self.net);
        for i in 0..self.air.deferred.actions.len() {
            // Most actions are deliveries: this match keeps them inlined.
            match self.air.deferred.actions[i] {
                (r, at, Out::Deliver { packet }) => self.on_data_received(r, at, packet),
                (r, at, Out::Transmit(frame)) => self.transmit::<QOS>(r, at, frame),
                (r, at, out) => self.dispatch_packet(r, at, out),
            }
        }
        self.air.deferred.actions.clear();
        if RARE {
            self.dispatch_overheard(n);
            if at_end == Some(Verdict::Decoded) {
                self.air.report_signal(n);
            }
        }
        // Follows the actions: receivers of the broadcast share its packet, which must not end before.
        if let Some(packet) = over {
            self.pool.set_context(self.net.ports.node(n), self.now);
            self.pool.end(packet, Fate::Delivered);
        }
    }

    /// Passes a radio's last frame to the nodes that have read it for another node.
    fn dispatch_overheard(&mut self, n: RadioId) {
        self.dispatch_overheard_mpdus();
        for i in 0..self.air.overheard.len() {
            if let Some(packet) = self.air.on_air[n.index()].frame.packet {
                self.on_overheard(self.air.overheard[i], packet);
            }
        }
        self.air.overheard.clear();
    }

    /// Passes MPDUs to the nodes that have read them for another node.
    fn dispatch_overheard_mpdus(&mut self) {
        while let Some((r, packet)) = self.air.qos.as_mut().and_then(|qos| qos.overheard.pop()) {
            self.on_overheard(r, packet);
        }
    }

    /// Passes a frame to a node that has read it for another node, before the second loop of the frame.
    #[cold]
    fn overhear_before_loop(&mut self, r: RadioId, frame: &Frame, verdict: Verdict) {
        let is_for_another = frame.is_unicast_data() && frame.to != r;
        if let Some(packet) = frame.packet.filter(|_| is_for_another && verdict == Verdict::Decoded) {
            self.on_overheard(r, packet);
        }
    }

    /// A frame has ended at a radio before the second loop of the frame.
    fn on_verdict_before_loop(&mut self, r: RadioId, sender: RadioId, at: Time, verdict: Verdict) {
        self.flush_deferred(r, at);
        let frame = self.air.on_air[sender.index()].frame;
        let qos = self.air.qos.is_some();
        let verdict = if qos {
            self.air.hear_early(r, sender, at, verdict, &self.pool)
        } else {
            self.air.judge_early(r, sender, at, verdict, &self.pool)
        };
        let arrived = self.air.arrived();
        self.watch.note(at, &Note::FrameHeard { radio: r, frame: &frame, verdict, arrived });
        if let Some(air) = &mut self.watch.airtime {
            let Rules { timing, dcf } = &*self.air.macs[r.index()].rules;
            air.on_end(at, r, &frame, (verdict, arrived), timing, dcf);
        }
        if self.air.watched && frame.to == r && verdict == Verdict::Decoded {
            self.measure_read(&frame, at);
        }
        if self.air.promiscuous && !qos {
            self.overhear_before_loop(r, &frame, verdict);
        }
        // Below `start` are actions of another station, which the caller dispatches.
        let start = self.air.actions.len();
        if qos {
            self.air.tell_qos(r, sender, at, verdict, &mut self.timers);
        } else {
            self.air.call(r, at, &mut self.timers, |station, cx| station.on_signal(signal(&frame, verdict), cx));
        }
        for i in start..self.air.actions.len() {
            if qos {
                self.dispatch_mac_action::<true>(r, at, i);
            } else {
                self.dispatch_mac_action::<false>(r, at, i);
            }
        }
        self.air.actions.truncate(start);
        if qos {
            self.dispatch_overheard_mpdus();
        }
    }
}
