//! The air: the channel, the stations of all radios, and the frames on the air.

mod errors;
pub mod mac;
pub mod qos;
mod qos_reception;
pub mod reception;

use crate::mobility::MobileNodes;
use crate::packet::{PacketId, PacketPool, RadioId};
use crate::radio::{Channel, Harm, Verdict};
use crate::record::loss::Cause;
use crate::run::Setup;
use crate::sim::network::Network;
use crate::sim::network::ports::Ports;
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::sim::watch::Watch;
use crate::unit::{Span, Time};
use crate::wlan::{self, Frame, Station, Unanswered};
use errors::Receivers;
use mac::{Mac, Rules};
use qos::Qos;
use reception::{Deferred, FrameEnd, FrameStart, MovingFrameStart, medium};

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    pub frame: Frame,
    /// Start of the transmission.
    pub began: Time,
    /// Packet of a broadcast that the sender has finished, until its end has reached every receiver.
    pub over: Option<PacketId>,
    /// The end of the frame has been processed at every receiver.
    pub ended: bool,
    /// Verdict at the intended receiver, if given before the second loop.
    pub at_target: Option<Verdict>,
    /// An error model alone damaged the frame at the intended receiver.
    by_error: bool,
    /// The intended receiver has begun to send the response.
    answered: bool,
    /// Known cause why the last frame that needed a response got none.
    pub attempt: Cause,
}

impl OnAir {
    /// State of a radio that has sent no frame.
    pub const NONE: OnAir = OnAir {
        frame: Frame::NONE,
        began: Time::ZERO,
        over: None,
        ended: true,
        at_target: None,
        by_error: false,
        answered: false,
        attempt: Cause::Refused,
    };

    /// End of the transmission.
    pub fn end(&self) -> Time {
        self.began + self.frame.airtime
    }
}

/// The channel, the stations, and the frames on the air.
#[derive(Clone, Debug)]
pub struct Air {
    pub channel: Channel,
    /// Station of each radio.
    pub macs: Vec<Mac>,
    /// Shortest SIFS of all stations.
    shortest_sifs: Span,
    /// The last frame of each radio.
    pub on_air: Vec<OnAir>,
    /// Error models of receivers, if any.
    pub receivers: Option<Box<Receivers>>,
    /// Nodes read frames for other nodes.
    pub promiscuous: bool,
    /// Rate control knows the signal-to-noise ratio of received frames.
    pub knows_signals: bool,
    /// Ends of frames serve features that few runs use, which `rare_features` lists.
    pub has_rare_features: bool,
    /// Starts of frames need more than usual: for observers, airtime accounting, Neighborhood RED, batteries or motion.
    pub watched: bool,
    /// Observers of frames or airtime accounting need the end of each frame at every receiver.
    pub every_end_is_watched: bool,
    /// Actions of stations that are not dispatched yet.
    pub actions: Vec<wlan::Out>,
    pub deferred: Deferred,
    /// Radios that have just read a frame for another radio.
    pub overheard: Vec<RadioId>,
    /// State for QoS stations; `None` where access is by the DCF.
    pub qos: Option<Box<Qos>>,
}

impl Air {
    /// State at the start of a run. `promiscuous`: nodes read frames for other nodes.
    pub fn new(setup: &Setup, channel: Channel, promiscuous: bool) -> Air {
        let (macs, radios) = (Mac::all(setup), setup.interfaces.radios.len());
        let receivers = Receivers::new(&setup.frame_errors, &setup.interfaces.keys(), setup.seed);
        let knows_signals = macs.iter().any(|m| m.rules.dcf.rate_control.algorithm.knows_signals());
        let qos = macs.iter().any(|m| m.qos.is_some()).then(|| Qos::new(radios));
        Air {
            channel,
            shortest_sifs: macs.iter().map(|m| m.rules.timing.sifs).min().unwrap_or_default(),
            macs,
            on_air: vec![OnAir::NONE; radios],
            has_rare_features: false,
            receivers,
            promiscuous,
            knows_signals,
            watched: false,
            every_end_is_watched: false,
            actions: Vec::with_capacity(8),
            deferred: Deferred::default(),
            overheard: Vec::with_capacity(64),
            qos,
        }
    }

    /// Makes the start of every frame observed from now on; `every_end`: and its end at every receiver.
    pub fn watch(&mut self, every_end: bool) {
        self.watched = true;
        self.every_end_is_watched |= every_end;
    }

    /// Reports deferred ends of signals to a station. Must precede every call of the station.
    #[inline(always)]
    pub fn flush_deferred(&mut self, r: RadioId, now: Time) {
        if let Some(at) = self.channel.flush_deferred(r, now) {
            let Mac { station, rules, .. } = &mut self.macs[r.index()];
            station.on_noise(true, at, &rules.timing, &rules.dcf);
        }
    }

    /// Calls a station after [`flush_deferred`](Self::flush_deferred); updates its timer and its need for the end of
    /// every signal. Its actions are appended to `actions`.
    #[inline(always)]
    pub fn call(
        &mut self,
        r: RadioId,
        now: Time,
        timers: &mut Timers,
        input: impl FnOnce(&mut Station, &mut wlan::Cx<'_>),
    ) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        self.channel.call_station(r, |sensed| {
            let medium = medium(sensed);
            input(station, &mut wlan::Cx { now, medium, timing, rules: dcf, out: &mut self.actions });
            station.needs_every_end()
        });
        timers.set(Timer::Mac(r), station.deadline());
    }

    /// Resets the station of a radio after power-off; `dropped` gets the packets it held.
    pub fn restart(&mut self, r: RadioId, timers: &mut Timers, dropped: &mut Vec<PacketId>) {
        let Mac { station, rules, qos } = &mut self.macs[r.index()];
        if let Some(station) = qos {
            station.restart(&rules.dcf, dropped);
            dropped.extend(self.qos.iter_mut().flat_map(|qos| qos.clear(r)));
            return timers.set(Timer::Mac(r), station.deadline());
        }
        dropped.extend(station.restart(&rules.dcf));
        timers.set(Timer::Mac(r), station.deadline());
    }

    /// Prolongs the backoff of a station by the airtime of a packet to a neighbor.
    pub fn prolong_backoff(&mut self, r: RadioId, to: RadioId, bytes: u32, timers: &mut Timers) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        let timing = &rules.timing;
        station.prolong_backoff(timing.data_in(station.mode_to(to), timing.frame_bytes(bytes)), timing);
        timers.set(Timer::Mac(r), station.deadline());
    }

    /// A radio begins to send a frame.
    #[inline]
    pub fn begin(&mut self, r: RadioId, at: Time, frame: Frame) {
        if frame.is_answer() {
            // If the frame that is answered fails from now on, this response was lost.
            let asked = &mut self.on_air[frame.to.index()];
            (asked.attempt, asked.answered) = (Cause::ResponseLost, true);
        }
        let on_air = &mut self.on_air[r.index()];
        *on_air = OnAir { frame, began: at, ended: false, attempt: on_air.attempt, ..OnAir::NONE };
    }

    /// First loop of the frame that a radio has begun to send: every receiver in range senses its start. Sets the timer
    /// of the second loop. `mobile_nodes`: the nodes, where their motion decides ties.
    #[inline]
    pub fn on_frame_start(
        &mut self,
        n: RadioId,
        at: Time,
        frame: &Frame,
        (mobile_nodes, ports): (Option<&MobileNodes>, &Ports),
        timers: &mut Timers,
    ) {
        let Air { channel, macs, .. } = self;
        let ends = (n, frame.to);
        let farthest = match mobile_nodes {
            None => channel.start(ends, at, frame.airtime, frame.mode.0, &mut FrameStart { macs, timers }),
            Some(mobile_nodes) => {
                let start = FrameStart { macs, timers };
                let mut sink = MovingFrameStart { start, mobile_nodes, ports, sender: ports.node(n), at };
                channel.start(ends, at, frame.airtime, frame.mode.0, &mut sink)
            }
        };
        let mut last = at + frame.airtime + farthest;
        // A station may respond after SIFS, and the end must have been processed there by then.
        if farthest > self.shortest_sifs {
            last = last.min(self.when_to_end(n, frame));
        }
        timers.set(Timer::Radio(n), last);
    }

    /// The last frame of a radio has ended; returns the packet of a broadcast that the sender has finished.
    #[inline(always)]
    pub fn end(&mut self, n: RadioId) -> Option<PacketId> {
        let on_air = &mut self.on_air[n.index()];
        on_air.ended = true;
        on_air.over.take()
    }

    /// Second loop of the last frame of a radio: processes its end at every receiver in range. Actions are deferred,
    /// because no station may send before every receiver has processed the end. Returns the verdict at the intended
    /// receiver, if given in this loop. `RARE` must be true if `self.has_rare_features` is.
    #[inline(always)]
    pub fn on_frame_end<const RARE: bool>(
        &mut self,
        n: RadioId,
        pool: &mut PacketPool,
        net: &Network,
        timers: &mut Timers,
        watch: &mut Watch,
    ) -> Option<Verdict> {
        let on_air = &self.on_air[n.index()];
        let (frame, end) = (&on_air.frame, on_air.end());
        let mut frame_end = FrameEnd::<RARE> {
            frame,
            broadcast: frame.packet.filter(|_| frame.to.is_broadcast()),
            pool,
            net,
            macs: &mut self.macs,
            timers,
            watched: self.every_end_is_watched,
            watch,
            actions: &mut self.actions,
            deferred: &mut self.deferred,
            at_target: None,
        };
        let mut by_error = false;
        if RARE {
            // The size is the same at all receivers, so it is computed once.
            let timing = &frame_end.macs[n.index()].rules.timing;
            let exposed = self.receivers.as_ref().and_then(|r| r.exposed(frame, timing, frame_end.pool));
            let read = self.promiscuous && frame.is_unicast_data();
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
                frame_end.on_end(r, ended);
            });
        } else {
            self.channel.finish(n, end, |r, ended| frame_end.on_end(r, ended));
        }
        let at_end = frame_end.at_target;
        if RARE {
            self.on_air[n.index()].by_error |= by_error;
        }
        // The loop borrows the channel, so the channel is updated only now.
        for &(r, needs) in &self.deferred.needs_every_end {
            self.channel.set_needs_every_end(r, needs);
        }
        self.deferred.needs_every_end.clear();
        at_end
    }

    /// Verdict on the frame of a sender at a receiver before the second loop of the frame, given the verdict of the
    /// channel without error models.
    pub fn judge_early(
        &mut self,
        r: RadioId,
        sender: RadioId,
        at: Time,
        received: Verdict,
        pool: &PacketPool,
    ) -> Verdict {
        let frame = &self.on_air[sender.index()].frame;
        let timing = &self.macs[frame.from.index()].rules.timing;
        let verdict = self.receivers.as_mut().map_or(received, |e| e.judge(r, frame, received, timing, pool));
        let on_air = &mut self.on_air[sender.index()];
        // Excludes the rest of a cut frame, whose sender has begun the next one.
        if on_air.frame.to == r && at >= on_air.end() {
            (on_air.at_target, on_air.by_error) = (Some(verdict), verdict != received);
        }
        verdict
    }

    /// Reports the signal-to-noise ratio of a radio's last frame to its rate control, if it needs that.
    pub fn report_signal(&mut self, n: RadioId) {
        if !self.knows_signals {
            return;
        }
        let to = self.on_air[n.index()].frame.to;
        let ratio = self.channel.signal_to_noise(to);
        let mac = &mut self.macs[n.index()];
        match &mut mac.qos {
            Some(station) => station.arrived(to, ratio),
            None => mac.station.arrived(to, ratio),
        }
    }

    /// Latest instant of the second loop of a frame, if a receiver is farther away than SIFS at the speed of light: the
    /// instant at which the intended receiver has to respond, or at which other receivers may send.
    #[cold]
    pub fn when_to_end(&self, n: RadioId, frame: &Frame) -> Time {
        let end = self.on_air[n.index()].end();
        let timing = |r: RadioId| &self.macs[r.index()].rules.timing;
        let target = self.channel.in_range(n).find(|receiver| receiver.0 == frame.to);
        target.map_or(end + timing(n).difs, |(to, delay)| end + delay + timing(to).sifs)
    }

    /// Records the cause of failure of a frame that needs a response, in case no response follows. `at_end`: verdict at
    /// the intended receiver, if given just now.
    #[inline(always)]
    pub fn note_attempt(&mut self, n: RadioId, at_end: Option<Verdict>, net: &Network) {
        let on_air = &mut self.on_air[n.index()];
        if on_air.answered {
            return;
        }
        match on_air.frame.unanswered(on_air.at_target.or(at_end) == Some(Verdict::Decoded)) {
            None => {}
            Some(Unanswered::Refused) => on_air.attempt = Cause::Refused,
            Some(Unanswered::ResponseLost) => on_air.attempt = Cause::ResponseLost,
            Some(Unanswered::NotReceived) => self.on_air[n.index()].attempt = self.cause_of_loss(n, net),
        }
    }

    /// Cause why the last frame of a radio was not decoded at its intended receiver: a state that excludes reception
    /// altogether, or the first harm.
    #[inline(never)]
    pub fn cause_of_loss(&self, n: RadioId, net: &Network) -> Cause {
        let on_air = &self.on_air[n.index()];
        let to = on_air.frame.to;
        if on_air.by_error {
            return Cause::Damaged;
        }
        let harm = self.channel.harm(n);
        let listens = self.channel.transmits_until(to) <= on_air.began;
        // The delay is rarely needed.
        let Some(delay) = (if listens && harm.is_some() { Some(Span::ZERO) } else { self.channel.delay(n, to) }) else {
            return Cause::OutOfRange;
        };
        // A receiver that transmits at any time during the frame loses it, and so does one that is off.
        let deaf = self.channel.transmits_until(to) > on_air.began + delay;
        let own = &self.on_air[to.index()];
        let cut = self.channel.harm(to) == Some(Harm::Cut);
        if deaf && (cut || net.is_radio_off(to) || self.channel.transmits_until(to) != own.end()) {
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

    /// Number of packets held by stations, and by broadcasts whose end has not reached every receiver.
    pub fn packets_held(&self) -> usize {
        let held = |m: &Mac| m.qos.as_ref().map_or(usize::from(m.station.packet().is_some()), |qos| qos.packets());
        let in_stations: usize = self.macs.iter().map(held).sum();
        let in_buffers = self.qos.as_ref().map_or(0, |qos| qos.packets_held());
        in_stations + in_buffers + self.on_air.iter().filter(|f| f.over.is_some()).count()
    }
}
