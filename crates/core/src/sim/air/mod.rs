//! The air: the channel, the stations of all radios, and the frames on the air.

mod errors;
pub mod hearing;

use crate::mobility::MobileNodes;
use crate::packet::{PacketId, PacketPool, RadioId};
use crate::radio::{Channel, Harm, Verdict, sinr};
use crate::record::loss::Cause;
use crate::rng::{Purpose, Stream};
use crate::run::{Profile, RadioSetup, Setup};
use crate::sim::network::Network;
use crate::sim::network::ports::Ports;
use crate::sim::slots::Slot;
use crate::sim::timers::Timers;
use crate::sim::watch::Watch;
use crate::unit::{Span, Time};
use crate::wlan::{self, Frame, FrameKind, Station, Timing, Unanswered};
use errors::Receivers;
use hearing::{FrameEnd, FrameStart, WalkingStart, medium};
use std::sync::Arc;

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    pub frame: Frame,
    /// Start of its transmission.
    pub began: Time,
    /// The packet of a broadcast that the sender is done with, while some listeners still have to hear its end.
    pub over: Option<PacketId>,
    /// All listeners have heard its end.
    pub ended: bool,
    /// Verdict at its target if given before the second loop, and if nothing but an error model damaged it there.
    pub at_target: Option<Verdict>,
    pub by_error: bool,
    /// The target has begun to answer.
    pub answered: bool,
    /// Cause why the last frame that needed an answer got none, as far as is known.
    pub attempt: Cause,
}

impl OnAir {
    /// Nothing has been sent.
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

    /// End of its transmission.
    pub fn end(&self) -> Time {
        self.began + self.frame.airtime
    }
}

/// The rules of the stations of a profile.
#[derive(Debug)]
pub struct Rules {
    pub timing: Timing,
    pub dcf: wlan::Config,
}

/// MAC actions deferred until every listener has processed the end of a frame.
#[derive(Clone, Debug)]
pub struct Deferred {
    pub actions: Vec<(RadioId, Time, wlan::Out)>,
    /// Stations that have been called, and whether they listen to all from now on.
    pub listening: Vec<(RadioId, bool)>,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred { actions: Vec::with_capacity(64), listening: Vec::with_capacity(64) }
    }
}

/// The MAC of a radio.
#[derive(Clone, Debug)]
pub struct Mac {
    pub station: Station,
    /// Shared by all of the same profile.
    pub rules: Arc<Rules>,
}

impl Mac {
    pub fn all(setup: &Setup) -> Vec<Mac> {
        let interfaces = &setup.interfaces;
        let rules = |p: &Profile| Arc::new(Rules { timing: Timing::new(&p.wlan), dcf: p.wlan.clone() });
        let rules: Vec<_> = interfaces.profiles.iter().map(rules).collect();
        let mac = |(i, r): (usize, &RadioSetup)| {
            let (radio, rules) = (RadioId(i as u32), Arc::clone(&rules[r.profile as usize]));
            let rng = Stream::new(setup.seed, Purpose::Backoff, i as u64);
            let reception = &interfaces.profiles[r.profile as usize].radio.sinr;
            let control = wlan::rate::RateControl::new(
                &rules.dcf.rate_control,
                rules.timing.data_mode,
                &rules.timing,
                |rate, errors| sinr::least(reception, rate, errors),
                Stream::new(setup.seed, Purpose::RateControl, i as u64),
            );
            Mac { station: Station::new(radio, &rules.dcf, interfaces.modes(radio), control, rng), rules }
        };
        interfaces.radios.iter().enumerate().map(mac).collect()
    }
}

/// The channel, the stations, and what is on the air.
#[derive(Clone, Debug)]
pub struct Air {
    pub channel: Channel,
    /// One for each radio.
    pub macs: Vec<Mac>,
    /// The shortest SIFS of all stations.
    pub shortest_sifs: Span,
    /// The last frame of each radio.
    pub on_air: Vec<OnAir>,
    /// Errors at receivers, if there are any.
    pub receivers: Option<Box<Receivers>>,
    /// Nodes read frames for others.
    pub promiscuous: bool,
    /// Rate control is told with what signal frames arrive.
    pub knows_signals: bool,
    /// Ends of frames need more than usual: error models, nodes that read frames for others, signals that rate
    /// control is told of.
    pub closely: bool,
    /// Frames are noted, booked or measured, or nodes move: for observers, for air time, for Neighborhood RED, for
    /// batteries, for motion.
    pub watched: bool,
    /// Each end of a frame is noted or booked, too: for observers of frames, for air time.
    pub watched_closely: bool,
    /// Actions of the station that was called last.
    pub actions: Vec<wlan::Out>,
    pub deferred: Deferred,
    /// Radios that have just read a frame for another one.
    pub overheard: Vec<RadioId>,
}

impl Air {
    /// Nothing is on the air. `promiscuous`: nodes read frames for others.
    pub fn new(setup: &Setup, channel: Channel, promiscuous: bool) -> Air {
        let (macs, radios) = (Mac::all(setup), setup.interfaces.radios.len());
        let receivers = Receivers::new(&setup.receiver, radios, setup.seed);
        let knows_signals = macs.iter().any(|m| m.rules.dcf.rate_control.algorithm.knows_signals());
        Air {
            channel,
            shortest_sifs: macs.iter().map(|m| m.rules.timing.sifs).min().unwrap_or_default(),
            macs,
            on_air: vec![OnAir::NONE; radios],
            closely: receivers.is_some() || promiscuous || knows_signals,
            receivers,
            promiscuous,
            knows_signals,
            watched: false,
            watched_closely: false,
            actions: Vec::with_capacity(8),
            deferred: Deferred::default(),
            overheard: Vec::with_capacity(64),
        }
    }

    /// From now on every frame on the air is watched; `closely`: the end of each at every radio, too.
    pub fn watch(&mut self, closely: bool) {
        self.watched = true;
        self.watched_closely |= closely;
    }

    /// Tells a station what it has missed. Every call of a station comes after this.
    #[inline(always)]
    pub fn settle(&mut self, r: RadioId, now: Time) {
        if let Some(at) = self.channel.settle(r, now) {
            let Mac { station, rules } = &mut self.macs[r.index()];
            station.on_noise(true, at, &rules.timing, &rules.dcf);
        }
    }

    /// Calls a station, which has been settled, and keeps its deadline and whether it listens to all. Its actions
    /// are added to `actions`.
    #[inline(always)]
    pub fn call(
        &mut self,
        r: RadioId,
        now: Time,
        timers: &mut Timers,
        input: impl FnOnce(&mut Station, &mut wlan::Cx<'_>),
    ) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        let medium = medium(self.channel.sensed(r));
        input(station, &mut wlan::Cx { now, medium, timing, rules: dcf, out: &mut self.actions });
        self.channel.set_listens_to_all(r, station.needs_every_end());
        timers.set(Slot::Mac(r), station.deadline());
    }

    /// The station of a radio begins anew; returns the packet that it held.
    pub fn restart(&mut self, r: RadioId, timers: &mut Timers) -> Option<PacketId> {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let held = station.restart(&rules.dcf);
        timers.set(Slot::Mac(r), station.deadline());
        held
    }

    /// Prolongs the back-off of a station by the time that a packet to a neighbour would take on the air.
    pub fn prolong_backoff(&mut self, r: RadioId, to: RadioId, bytes: u32, timers: &mut Timers) {
        let Mac { station, rules } = &mut self.macs[r.index()];
        let timing = &rules.timing;
        station.prolong_backoff(timing.data_in(station.mode_to(to), timing.frame_bytes(bytes)), timing);
        timers.set(Slot::Mac(r), station.deadline());
    }

    /// A radio begins to send a frame.
    #[inline]
    pub fn begin(&mut self, r: RadioId, at: Time, frame: Frame) {
        if frame.is_answer() {
            // If the frame that it answers counts as failed from now on, this answer was lost.
            let asked = &mut self.on_air[frame.to.index()];
            (asked.attempt, asked.answered) = (Cause::ResponseLost, true);
        }
        let on_air = &mut self.on_air[r.index()];
        *on_air = OnAir { frame, began: at, ended: false, attempt: on_air.attempt, ..OnAir::NONE };
    }

    /// First loop of the frame that a radio has begun to send: all who hear it sense its start. The end of the frame is
    /// told when the second loop is due. `mobile_nodes`: the nodes, where their motion decides ties.
    #[inline]
    pub fn hear_start(
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
                let mut ears = WalkingStart { start, mobile_nodes, ports, sender: ports.node(n), at };
                channel.start(ends, at, frame.airtime, frame.mode.0, &mut ears)
            }
        };
        let mut last = at + frame.airtime + farthest;
        // A station may answer after SIFS, and must have heard the end by then.
        if farthest > self.shortest_sifs {
            last = last.min(self.when_to_end(n, frame));
        }
        timers.set(Slot::Radio(n), last);
    }

    /// Second loop of the last frame of a radio: all who hear it hear its end. Their actions are kept in `deferred`,
    /// because none of them may send before all have heard. Returns the verdict at the station that the frame is for, if
    /// that is given in this loop. `CLOSELY` is `self.closely`.
    #[inline(always)]
    pub fn hear_end<const CLOSELY: bool>(
        &mut self,
        n: RadioId,
        pool: &mut PacketPool,
        net: &Network,
        timers: &mut Timers,
        watch: &mut Watch,
    ) -> Option<Verdict> {
        let on_air = &mut self.on_air[n.index()];
        on_air.ended = true;
        let (frame, end) = (&on_air.frame, on_air.end());
        let mut frame_end = FrameEnd {
            frame,
            broadcast: frame.packet.filter(|_| frame.to.is_broadcast()),
            pool,
            net,
            macs: &mut self.macs,
            timers,
            watched: self.watched_closely,
            watch,
            actions: &mut self.actions,
            deferred: &mut self.deferred,
            at_target: None,
        };
        let mut by_error = false;
        if CLOSELY {
            // The size is worked out once: it is the same at all receivers.
            let timing = &frame_end.macs[n.index()].rules.timing;
            let exposed = self.receivers.as_ref().and_then(|r| r.exposed(frame, timing, frame_end.pool));
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
        // The channel is borrowed by its loop, so it learns only now who listens to all.
        for &(r, wants) in &self.deferred.listening {
            self.channel.set_listens_to_all(r, wants);
        }
        self.deferred.listening.clear();
        at_end
    }

    /// Verdict on the frame of a sender at a receiver, before the second loop of the frame. `received`: the verdict of
    /// the channel, without error models.
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
        // Not what is left of a frame that was cut, whose sender has begun the next one.
        if on_air.frame.to == r && at >= on_air.end() {
            (on_air.at_target, on_air.by_error) = (Some(verdict), verdict != received);
        }
        verdict
    }

    /// Rate control learns with what signal the last frame of a radio has arrived.
    pub fn tell_signal(&mut self, n: RadioId) {
        let to = self.on_air[n.index()].frame.to;
        let ratio = self.channel.signal_to_noise(to);
        self.macs[n.index()].station.arrived(to, ratio);
    }

    /// Latest instant of the second loop of a frame, if a listener is farther away than SIFS at the speed of
    /// light: when the station that it is for has to answer, or when others who have heard it may send.
    #[cold]
    pub fn when_to_end(&self, n: RadioId, frame: &Frame) -> Time {
        let end = self.on_air[n.index()].end();
        let timing = |r: RadioId| &self.macs[r.index()].rules.timing;
        let target = self.channel.audience(n).find(|listener| listener.0 == frame.to);
        target.map_or(end + timing(n).difs, |(to, delay)| end + delay + timing(to).sifs)
    }

    /// Keeps the cause why a frame that needs an answer got none, if it gets none from now on. `at_end`: verdict at the
    /// station that it was for, if that was given just now.
    #[inline(always)]
    pub fn note_attempt(&mut self, n: RadioId, at_end: Option<Verdict>, net: &Network) {
        let OnAir { frame, at_target, answered, .. } = &self.on_air[n.index()];
        if *answered {
            return;
        }
        let Some(unanswered) = frame.unanswered(at_target.or(at_end) == Some(Verdict::Decoded)) else { return };
        self.on_air[n.index()].attempt = match unanswered {
            Unanswered::Refused => Cause::Refused,
            Unanswered::ResponseLost => Cause::ResponseLost,
            Unanswered::NotReceived => self.cause_of_loss(n, net),
        };
    }

    /// Cause why the last frame of a radio was not decoded at the station that it was for: a state that excludes reception
    /// at any time, then the first harm.
    #[inline(never)]
    pub fn cause_of_loss(&self, n: RadioId, net: &Network) -> Cause {
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

    /// Packets of stations, and of broadcasts whose end some listeners still have to hear.
    pub fn packets_held(&self) -> usize {
        let in_stations = self.macs.iter().filter(|m| m.station.packet().is_some()).count();
        in_stations + self.on_air.iter().filter(|f| f.over.is_some()).count()
    }
}
