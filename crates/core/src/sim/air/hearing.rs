//! Stations hear the start and the end of a frame: the loops of the channel over all who hear a radio.

use super::{Deferred, Mac, Rules};
use crate::mobility::MobileNodes;
use crate::packet::{NodeId, PacketId, PacketPool, RadioId};
use crate::radio::{Ended, ReceptionSink, Sensed, Verdict};
use crate::record::note::Note;
use crate::sim::network::Network;
use crate::sim::network::ports::Ports;
use crate::sim::slots::Slot;
use crate::sim::timers::Timers;
use crate::sim::watch::Watch;
use crate::unit::{Span, Time};
use crate::wlan::dcf::SAME_INSTANT;
use crate::wlan::{self, Frame, Medium, Out, Signal};
use std::cmp::Ordering;

/// The end of a frame with the parts of the run that the second loop of the channel reads and changes.
pub struct FrameEnd<'a> {
    pub frame: &'a Frame,
    /// The packet of a broadcast frame.
    pub broadcast: Option<PacketId>,
    pub pool: &'a mut PacketPool,
    pub net: &'a Network,
    pub macs: &'a mut [Mac],
    pub timers: &'a mut Timers,
    pub watch: &'a mut Watch,
    /// Observers or air time follow each end of a frame.
    pub watched: bool,
    pub actions: &'a mut Vec<Out>,
    pub deferred: &'a mut Deferred,
    /// Verdict at the station that the frame is for.
    pub at_target: Option<Verdict>,
}

/// The parts of the run that the first loop of the channel changes at the start of a frame.
pub struct FrameStart<'a> {
    pub macs: &'a mut [Mac],
    pub timers: &'a mut Timers,
}

impl ReceptionSink for FrameStart<'_> {
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
pub struct WalkingStart<'a> {
    pub start: FrameStart<'a>,
    pub mobile_nodes: &'a MobileNodes,
    pub ports: &'a Ports,
    pub sender: NodeId,
    pub at: Time,
}

/// Shift by which a tie is decided \[ns\]: beyond `SAME_INSTANT`, far below a slot.
const APART: u64 = SAME_INSTANT + 1;

impl ReceptionSink for WalkingStart<'_> {
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { station, rules } = &self.start.macs[r.index()];
        let tied = station.is_tied(from, &rules.timing, &rules.dcf);
        let drift =
            if tied { self.mobile_nodes.drift(self.sender, self.ports.node(r), self.at) } else { Ordering::Equal };
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
    pub fn hear(&mut self, r: RadioId, ended: Ended) {
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
            if ended.needs_every_end && station.only_contends() {
                return self.hear_contending(r, &ended);
            }
            let for_me = decoded && self.broadcast.is_some();
            if !(ended.needs_every_end || for_me) {
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
        if station.needs_every_end() {
            self.deferred.listening.push((r, true));
        }
    }

    /// A broadcast was received. The router ignores most of them, which carry routing messages that it knows.
    #[inline]
    fn deliver(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let n = self.net.ports.node(r);
        if self.net.nodes[n.index()].router.ignores(packet, self.pool, at + self.net.cfg.link_delay) {
            self.pool.note_delivery(packet, n, at);
        } else {
            self.deferred.actions.push((r, at, Out::Deliver { packet }));
        }
    }

    /// Notes and books that the frame ends at a radio.
    #[cold]
    fn observe(&mut self, r: RadioId, ended: &Ended) {
        let Ended { at, verdict, .. } = *ended;
        let Mac { station, rules } = &self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        self.watch.note(at, &Note::FrameHeard { radio: r, frame: self.frame, verdict });
        if let Some(air) = &mut self.watch.air_time {
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
        if !(for_me || station.needs_every_end()) {
            return self.overhear(r, &ended);
        }
        let listened = station.needs_every_end();
        let medium = medium(ended.medium);
        let mut cx = wlan::Cx { now: at, medium, timing, rules: dcf, out: self.actions };
        station.on_signal(signal(self.frame, verdict), &mut cx);
        self.timers.set(Slot::Mac(r), station.deadline());
        if station.needs_every_end() != listened {
            self.deferred.listening.push((r, station.needs_every_end()));
        }
        for &out in &*self.actions {
            self.deferred.actions.push((r, at, out));
        }
        self.actions.clear();
    }
}

pub fn medium(s: Sensed) -> Medium {
    Medium { from: s.from, until: s.until }
}

#[inline]
pub fn signal(frame: &Frame, verdict: Verdict) -> Signal<'_> {
    match verdict {
        Verdict::Decoded => Signal::Frame(frame),
        Verdict::Damaged => Signal::Error,
        Verdict::Noise => Signal::Energy,
    }
}
