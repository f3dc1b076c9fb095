//! Reception at QoS stations, which judge a frame MPDU by MPDU.
//!
//! QoS stations need the end of every signal. The channel reports all ends of a frame first: judging its parts needs
//! the channel again.

use super::Air;
use super::mac::{Mac, Rules};
use super::qos::QosFrameStart;
use super::reception::{medium, signal};
use crate::packet::{PacketPool, RadioId};
use crate::radio::{NARROW, Verdict};
use crate::record::note::Note;
use crate::sim::timer_numbers::Timer;
use crate::sim::timers::Timers;
use crate::sim::watch::Watch;
use crate::unit::Time;
use crate::wlan::edca::{Heard, QosStation};
use crate::wlan::{self, Frame, FrameKind};
use std::mem::take;

impl Air {
    /// Calls a QoS station after [`flush_deferred`](Self::flush_deferred), and updates its timer.
    #[cold]
    pub fn call_qos(
        &mut self,
        r: RadioId,
        now: Time,
        timers: &mut Timers,
        input: impl FnOnce(&mut QosStation, &mut wlan::Cx<'_>),
    ) {
        let Mac { qos: Some(station), rules, .. } = &mut self.macs[r.index()] else { return };
        let Rules { timing, dcf } = &**rules;
        let medium = medium(self.channel.sensed(r));
        input(station, &mut wlan::Cx { now, medium, timing, rules: dcf, out: &mut self.actions });
        timers.set(Timer::Mac(r), station.deadline());
    }

    /// A radio begins to send a frame: its contents go on the air with it.
    #[cold]
    pub fn begin_qos(&mut self, n: RadioId) {
        if let (Some(qos), Some(station)) = (&mut self.qos, &self.macs[n.index()].qos) {
            qos.psdus[n.index()].clone_from(&station.psdu);
        }
    }

    /// First loop of a frame for QoS stations.
    #[inline(never)]
    pub fn on_frame_start_qos(&mut self, n: RadioId, at: Time, frame: &Frame, timers: &mut Timers) {
        let Air { channel, macs, .. } = self;
        let wide = macs[n.index()].rules.timing.data_mode;
        let is_narrow = frame.mode.is_ht() && frame.mode.width() < wide.width();
        let (ends, column) = ((n, frame.to), frame.mode.column() + if is_narrow { NARROW } else { 0 });
        let immediate = macs[n.index()].qos.as_ref().and_then(|station| station.immediate());
        let mut sink = QosFrameStart { macs, timers, immediate };
        let farthest = channel.start(ends, at, frame.airtime, column, &mut sink);
        let mut last = at + frame.airtime + farthest;
        if farthest > self.shortest_sifs {
            last = last.min(self.when_to_end(n, frame));
        }
        timers.set(Timer::Radio(n), last);
    }

    /// Second loop of the last frame of a radio for QoS stations. Returns the verdict at the intended receiver, if
    /// given in this loop.
    #[cold]
    pub fn on_frame_end_qos(
        &mut self,
        n: RadioId,
        pool: &PacketPool,
        timers: &mut Timers,
        watch: &mut Watch,
    ) -> Option<Verdict> {
        let on_air = &self.on_air[n.index()];
        let (frame, end) = (on_air.frame, on_air.end());
        let Some(qos) = &mut self.qos else { return None };
        let mut all = take(&mut qos.ended);
        self.channel.finish(n, end, |r, ended| all.push((r, ended)));
        let mut at_target = None;
        let reads_all = self.every_end_is_watched || self.promiscuous || self.receivers.is_some();
        let only_for_nav = !reads_all && !frame.to.is_broadcast();
        for &(r, ended) in &all {
            let is_overheard = only_for_nav && r != frame.to;
            let verdict = if is_overheard {
                self.overhear(r, n, &frame, ended.verdict)
            } else {
                self.hear(r, n, &frame, ended.verdict, pool)
            };
            if r == frame.to {
                at_target = Some(verdict);
            }
            if self.every_end_is_watched {
                let Mac { rules, .. } = &self.macs[r.index()];
                let contention = self.macs[r.index()].contention();
                let arrived = self.arrived();
                watch.note(ended.at, &Note::FrameHeard { radio: r, frame: &frame, verdict, arrived });
                if let Some(air) = &mut watch.airtime {
                    air.book_until(r, ended.at, contention, &rules.timing);
                    air.on_end(ended.at, r, &frame, (verdict, arrived), &rules.timing, &rules.dcf);
                }
            }
            let Air { macs, qos: Some(qos), actions, deferred, .. } = self else { break };
            let Mac { qos: Some(station), rules, .. } = &mut macs[r.index()] else { continue };
            let Rules { timing, dcf } = &**rules;
            if is_overheard && station.only_overhears() {
                station.overhear(signal(&frame, verdict), ended.at, timing, dcf);
                continue;
            }
            let mut cx =
                wlan::Cx { now: ended.at, medium: medium(ended.medium), timing, rules: dcf, out: &mut *actions };
            let heard = Heard { psdu: &qos.psdus[n.index()], arrived: &qos.arrived };
            station.on_signal(signal(&frame, verdict), heard, &mut cx);
            timers.set(Timer::Mac(r), station.deadline());
            deferred.actions.extend(actions.drain(..).map(|out| (r, ended.at, out)));
        }
        all.clear();
        if let Some(qos) = &mut self.qos {
            qos.ended = all;
        }
        at_target
    }

    /// Judges a frame at a radio that it is not for, where one MPDU is enough: for the NAV.
    fn overhear(&mut self, r: RadioId, n: RadioId, frame: &Frame, verdict: Verdict) -> Verdict {
        let Air { channel, qos: Some(qos), .. } = self else { return verdict };
        qos.arrived.clear();
        if verdict != Verdict::Decoded || frame.kind != FrameKind::Data || !frame.mode.is_ht() {
            return verdict;
        }
        let mut mpdus = qos.psdus[n.index()].mpdus.chunk_by(|a, b| a.seq == b.seq);
        let any = mpdus.any(|mpdu| channel.part_survives(r, mpdu[0].from, mpdu[0].until));
        if any { Verdict::Decoded } else { Verdict::Damaged }
    }

    /// Verdict on the frame of a sender at a radio before the second loop of the frame, and the call of the station.
    #[cold]
    pub fn hear_early(
        &mut self,
        r: RadioId,
        sender: RadioId,
        at: Time,
        verdict: Verdict,
        pool: &PacketPool,
    ) -> Verdict {
        let frame = self.on_air[sender.index()].frame;
        let verdict = self.hear(r, sender, &frame, verdict, pool);
        let on_air = &mut self.on_air[sender.index()];
        if frame.to == r && at >= on_air.end() {
            on_air.at_target = Some(verdict);
        }
        verdict
    }

    /// For each entry of the PSDU that a QoS station has judged last, true if it has arrived; empty for the DCF.
    pub fn arrived(&self) -> &[bool] {
        self.qos.as_ref().map_or(&[], |qos| &qos.arrived)
    }

    /// Passes the end of a frame, judged before, to a station.
    #[cold]
    pub fn tell_qos(&mut self, r: RadioId, sender: RadioId, at: Time, verdict: Verdict, timers: &mut Timers) {
        let frame = self.on_air[sender.index()].frame;
        let Some(qos) = self.qos.take() else { return };
        let heard = Heard { psdu: &qos.psdus[sender.index()], arrived: &qos.arrived };
        self.call_qos(r, at, timers, |station, cx| station.on_signal(signal(&frame, verdict), heard, cx));
        self.qos = Some(qos);
    }

    /// Judges a frame at a radio: which of its MPDUs have arrived. A frame of which none has is damaged.
    fn hear(&mut self, r: RadioId, n: RadioId, frame: &Frame, verdict: Verdict, pool: &PacketPool) -> Verdict {
        let Air { channel, macs, receivers, qos: Some(qos), promiscuous, on_air, .. } = self else { return verdict };
        qos.arrived.clear();
        if verdict != Verdict::Decoded {
            return verdict;
        }
        let timing = &macs[n.index()].rules.timing;
        if frame.kind != FrameKind::Data {
            let judged = receivers.as_mut().map_or(verdict, |e| e.judge(r, frame, verdict, timing, pool));
            on_air[n.index()].by_error |= judged != verdict && r == frame.to;
            return judged;
        }
        let for_me = r == frame.to || frame.to.is_broadcast();
        let (mut any, mut by_error) = (false, false);
        for group in qos.psdus[n.index()].mpdus.chunk_by(|a, b| a.seq == b.seq) {
            let first = &group[0];
            // One MPDU is enough for the NAV.
            let counts = for_me || *promiscuous || !any;
            let mut arrives = counts && (!frame.mode.is_ht() || channel.part_survives(r, first.from, first.until));
            if let Some(receivers) = receivers
                && arrives
                && receivers.exposes(frame)
            {
                arrives = !receivers.damages(r, first.bytes + receivers.extra(), Verdict::Decoded);
                by_error |= !arrives;
            }
            any |= arrives;
            qos.arrived.extend(group.iter().map(|_| arrives));
            if *promiscuous && arrives && !for_me {
                qos.overheard.extend(group.iter().map(|m| (r, m.packet)));
            }
        }
        on_air[n.index()].by_error |= by_error && !any && r == frame.to;
        if any { Verdict::Decoded } else { Verdict::Damaged }
    }
}
