//! Reception at stations: what the two loops of the channel call at each receiver in range, for the start and for the
//! end of a frame.

use super::mac::{Mac, Rules};
use crate::mobility::MobileNodes;
use crate::packet::{NodeId, PacketId, PacketPool, RadioId};
use crate::radio::{Ended, ReceptionSink, Sensed, Verdict};
use crate::record::note::Note;
use crate::sim::network::Network;
use crate::sim::network::ports::Ports;
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::sim::watch::Watch;
use crate::unit::{Span, Time};
use crate::wlan::dcf::SAME_INSTANT;
use crate::wlan::{self, Frame, Medium, Out, Signal};
use std::cmp::Ordering;

/// MAC actions deferred until every receiver has processed the end of a frame.
#[derive(Clone, Debug)]
pub struct Deferred {
    pub actions: Vec<(RadioId, Time, wlan::Out)>,
    /// Stations whose need for the end of every signal has changed, with the new state.
    pub needs_every_end: Vec<(RadioId, bool)>,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred { actions: Vec::with_capacity(64), needs_every_end: Vec::with_capacity(64) }
    }
}

/// End of a frame, with the state that the second loop of the channel reads and changes. `RARE` must be true if it
/// is `watched`.
pub struct FrameEnd<'a, const RARE: bool> {
    pub frame: &'a Frame,
    /// Packet of a broadcast frame.
    pub broadcast: Option<PacketId>,
    pub pool: &'a mut PacketPool,
    pub net: &'a Network,
    pub macs: &'a mut [Mac],
    pub timers: &'a mut Timers,
    pub watch: &'a mut Watch,
    /// Observers or airtime accounting need the end of the frame at each receiver.
    pub watched: bool,
    pub actions: &'a mut Vec<Out>,
    pub deferred: &'a mut Deferred,
    /// Verdict at the intended receiver.
    pub at_target: Option<Verdict>,
}

/// Start of a frame, with the state that the first loop of the channel changes.
pub struct FrameStart<'a> {
    pub macs: &'a mut [Mac],
    pub timers: &'a mut Timers,
}

impl ReceptionSink for FrameStart<'_> {
    #[inline(always)]
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        if station.on_busy(from, &rules.timing, &rules.dcf) {
            self.timers.set(Timer::Mac(r), station.deadline());
        }
    }

    fn captured(&mut self, r: RadioId, from: Time, until: Time) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        station.on_captured(from, until, &rules.timing, &rules.dcf);
    }
}

/// Start of a frame where motion decides ties between signals and slots (`mobility.ns2.decides_ties`).
pub struct MovingFrameStart<'a> {
    pub start: FrameStart<'a>,
    pub mobile_nodes: &'a MobileNodes,
    pub ports: &'a Ports,
    pub sender: NodeId,
    pub at: Time,
}

/// Shift by which a tie is decided \[ns\]: beyond `SAME_INSTANT`, far below a slot.
const APART: u64 = SAME_INSTANT + 1;

impl MovingFrameStart<'_> {
    /// Instant at which a signal is sensed that arrives when a slot ends.
    #[cold]
    fn decide_tie(&self, r: RadioId, from: Time) -> Time {
        match self.mobile_nodes.drift(self.sender, self.ports.node(r), self.at) {
            Ordering::Less => Time(from.0.saturating_sub(APART)),
            Ordering::Equal => from,
            Ordering::Greater => from + Span(APART),
        }
    }
}

impl ReceptionSink for MovingFrameStart<'_> {
    #[inline(always)]
    fn busy(&mut self, r: RadioId, from: Time) {
        let Mac { station, rules, .. } = &self.start.macs[r.index()];
        let tied = station.is_tied(from, &rules.timing, &rules.dcf);
        let sensed_from = if tied { self.decide_tie(r, from) } else { from };
        self.start.busy(r, sensed_from);
    }

    fn captured(&mut self, r: RadioId, from: Time, until: Time) {
        self.start.captured(r, from, until);
    }
}

impl<const RARE: bool> FrameEnd<'_, RARE> {
    /// The frame ends at a radio.
    #[inline(always)]
    pub fn on_end(&mut self, r: RadioId, ended: Ended) {
        if ended.missed > Time::ZERO {
            let Mac { station, rules, .. } = &mut self.macs[r.index()];
            // The radio was not deaf to a missed signal, because the end of a signal during deafness is always
            // reported.
            station.on_noise(true, ended.missed, &rules.timing, &rules.dcf);
        }
        if RARE && self.watched {
            self.observe(r, &ended);
        }
        if r != self.frame.to {
            let station = &self.macs[r.index()].station;
            let decoded = ended.verdict == Verdict::Decoded;
            if ended.needs_every_end && station.only_contends() {
                return self.on_end_contending(r, &ended);
            }
            let for_me = decoded && self.broadcast.is_some();
            if !(ended.needs_every_end || for_me) {
                return self.overhear(r, &ended);
            }
        }
        self.on_end_engaged(r, ended);
    }

    /// The frame ends at a station that only contends.
    #[inline]
    fn on_end_contending(&mut self, r: RadioId, ended: &Ended) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        match self.broadcast {
            Some(packet) if ended.verdict == Verdict::Decoded => {
                station.on_broadcast();
                self.deliver(r, ended.at, packet);
            }
            _ => station.on_others(signal(self.frame, ended.verdict), ended.at, timing, dcf),
        }
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        if station.resume(medium(ended.medium), ended.at, &rules.timing, &rules.dcf) {
            self.timers.set(Timer::Mac(r), station.deadline());
        }
    }

    /// The frame ends at a station on which it has no effect but a reservation of the medium.
    #[inline]
    fn overhear(&mut self, r: RadioId, ended: &Ended) {
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
        station.on_others(signal(self.frame, ended.verdict), ended.at, &rules.timing, &rules.dcf);
        if station.needs_every_end() {
            self.deferred.needs_every_end.push((r, true));
        }
    }

    /// Delivers a broadcast. The router ignores most broadcasts, because they carry routing messages that it knows.
    #[inline]
    fn deliver(&mut self, r: RadioId, at: Time, packet: PacketId) {
        let n = self.net.ports.node(r);
        if self.net.nodes[n.index()].router.ignores(packet, self.pool, at + self.net.cfg.processing_delay) {
            self.pool.note_delivery(packet, n, at);
        } else {
            self.deferred.actions.push((r, at, Out::Deliver { packet }));
        }
    }

    /// Records the end of the frame at a radio, and its airtime.
    #[cold]
    fn observe(&mut self, r: RadioId, ended: &Ended) {
        let Ended { at, verdict, .. } = *ended;
        let Mac { station, rules, .. } = &self.macs[r.index()];
        let Rules { timing, dcf } = &**rules;
        self.watch.note(at, &Note::FrameHeard { radio: r, frame: self.frame, verdict, arrived: &[] });
        if let Some(air) = &mut self.watch.airtime {
            air.book_until(r, at, station.contention(), timing);
            air.on_end(at, r, self.frame, (verdict, &[]), timing, dcf);
        }
    }

    /// The frame ends at a station that may act on it.
    #[inline(never)]
    fn on_end_engaged(&mut self, r: RadioId, ended: Ended) {
        let Ended { at, verdict, .. } = ended;
        let Mac { station, rules, .. } = &mut self.macs[r.index()];
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
        let needed_every_end = station.needs_every_end();
        let medium = medium(ended.medium);
        let mut cx = wlan::Cx { now: at, medium, timing, rules: dcf, out: self.actions };
        station.on_signal(signal(self.frame, verdict), &mut cx);
        self.timers.set(Timer::Mac(r), station.deadline());
        if station.needs_every_end() != needed_every_end {
            self.deferred.needs_every_end.push((r, station.needs_every_end()));
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
