//! The channel: two loops over the receivers in range of a transmission, one at its start and one at its end.
//!
//! Reception is ns-2's pairwise capture (behavior of `mac-802_11.cc` and `wireless-phy.cc` of ns-2.35). An idle
//! receiver locks on any frame it can sense, even one that is too weak to decode. While it is locked, a newcomer that
//! is weaker than the locked frame by the capture threshold is ignored; any other newcomer destroys both frames, and
//! the one that ends later stays locked. A stronger newcomer never takes over. Powers are not added.
//!
//! Busy and idle are *timestamps*, compared with each receiver's own arrival time, so that propagation delay needs no
//! events: a station whose backoff ends before a frame arrives still transmits, as it should. The end of a frame is
//! processed once it has reached the last receiver, with the end time of each receiver.
//!
//! Four out of five receivers sense a frame but cannot decode it, and most of these have nothing to send: the end of
//! the frame does not change their state yet. The second loop skips them. The end of what they skipped is kept as a
//! timestamp, and [`flush_deferred`](Channel::flush_deferred) reports it before the next call of their station.
//!
//! A station *needs every end* while the end of any signal may make it act: during contention and frame exchanges, and
//! while it waits for a frame announced by an RTS.
//!
//! Within the propagation delay the next frame may reach a receiver before the second loop of the previous frame has
//! run. The *verdict* on the previous frame is then reported before that loop, by
//! [`take_verdict`](Channel::take_verdict).

use super::causes::{Aims, Clash, Meeting, harm, lose};
use super::in_range::find_in_range;
use super::in_range::moving::{Lists, Moving};
use super::receiver::{Counters, Ended, Incoming, Lock, Receiver, Sensed, Verdict};
use super::sinr::{self, Sinr};
use super::sites::{NARROW, Radios, Site};
use super::transmitter::{Aim, Harm, ReceiverInRange, Transmitter};
use crate::packet::RadioId;
use crate::unit::{Position, Span, Time};
use std::hint::select_unpredictable;
use std::ops::Range;

/// Receives carrier-sense events at the start of a transmission. A trait, not a closure, so that the common case
/// inlines into the loop.
pub trait ReceptionSink {
    /// The medium turns busy at this instant.
    fn busy(&mut self, radio: RadioId, from: Time);
    /// A frame with this first bit and end is too weak to disturb the one being received.
    fn captured(&mut self, radio: RadioId, from: Time, until: Time);
}

/// The medium: receivers in range of each radio, and the reception state of every radio.
#[derive(Clone, Debug)]
pub struct Channel {
    pub(super) in_range: Vec<ReceiverInRange>,
    pub(super) transmitters: Vec<Transmitter>,
    /// For each radio, from the index of its first receiver on: sense-only receivers that need the end of its frame.
    waiting: Vec<u32>,
    receivers: Vec<Receiver>,
    /// For each receiver in range, one bit for each rate that it can decode; empty if rates do not differ in range.
    pub(super) modes: Vec<u32>,
    /// Capture threshold of each receiver; empty if all are equal.
    captures: Vec<f32>,
    capture: f32,
    /// True if receivers differ neither in decodable rates nor in capture thresholds.
    alike: bool,
    /// Verdicts to report before the second loop of their frame: receiver, sender, end of the frame there, verdict.
    verdicts: Vec<(RadioId, RadioId, Time, Verdict)>,
    /// Every station needs the end of every signal.
    all_need_every_end: bool,
    /// Inputs for recomputing receivers in range; only with moving radios.
    moving: Option<Box<Moving>>,
    /// Reception state with cumulative interference; `None` with pairwise reception.
    sinr: Option<Box<Sinr>>,
    /// Overlaps of frames that are not yet judged; only with cumulative interference.
    meetings: Vec<Meeting>,
}

const NOBODY: u32 = u32::MAX;
/// Number of receivers whose state fits into the nearer caches of the processor.
const NEAR: usize = 500;

impl Channel {
    /// The channel that connects these radios.
    pub fn new(radios: &Radios) -> Channel {
        let (in_range, transmitters, modes) = find_in_range(radios);
        let capture = |s: &Site| radios.profiles[s.profile as usize].capture_threshold.0 as f32;
        let alike = radios.profiles.iter().all(|p| p.capture_threshold == radios.profiles[0].capture_threshold);
        let free = Receiver {
            from: Time::ZERO,
            until: Time::ZERO,
            transmits_until: Time::ZERO,
            missed: Time::ZERO,
            power: 0.0,
            sender: NOBODY,
            lock: Lock::Free,
            visited: false,
            needs_every_end: false,
            counters: Counters::default(),
        };
        Channel {
            waiting: vec![0; in_range.len()],
            alike: alike && modes.is_empty(),
            in_range,
            transmitters,
            receivers: vec![free; radios.sites.len()],
            modes,
            captures: if alike { Vec::new() } else { radios.sites.iter().map(capture).collect() },
            capture: radios.profiles[0].capture_threshold.0 as f32,
            verdicts: Vec::with_capacity(16),
            all_need_every_end: false,
            moving: None,
            sinr: Sinr::new(radios),
            meetings: Vec::with_capacity(16),
        }
    }

    /// Sets the random numbers of a run.
    pub fn reseed(&mut self, seed: u64) {
        if let Some(sinr) = &mut self.sinr {
            sinr.reseed(seed);
        }
    }

    /// Signal-to-noise ratio of the frame that a radio received last; 0 with pairwise reception.
    pub fn signal_to_noise(&self, radio: RadioId) -> f64 {
        self.sinr.as_ref().map_or(0.0, |s| s.signal_to_noise(radio))
    }

    /// Decides if a part of the frame that a radio received last has survived: with pairwise reception, if the frame
    /// did. The part lies between these times after the begin of the frame.
    pub fn part_survives(&mut self, radio: RadioId, from: Span, until: Span) -> bool {
        self.sinr.as_mut().is_none_or(|s| s.part_survives(radio, from, until))
    }

    /// Makes every station need the end of every signal.
    pub fn need_every_end(&mut self) {
        self.all_need_every_end = true;
    }

    /// Radios that can decode this radio's frames at the rate with the longest range, without interference.
    pub fn neighbors(&self, radio: RadioId) -> impl Iterator<Item = RadioId> + '_ {
        let a = &self.transmitters[radio.index()];
        let decodes = |i: &usize| self.sinr.is_none() || self.modes[*i] != 0;
        (a.start as usize..a.sensing as usize).filter(decodes).map(|i| RadioId(self.in_range[i].to))
    }

    /// Returns true if another radio can decode frames at this rate without interference.
    pub fn decodes(&self, radio: RadioId, neighbor: RadioId, mode: u8) -> bool {
        let a = &self.transmitters[radio.index()];
        // Receivers that decode a sender are sorted by number.
        let start = a.start as usize;
        let place = self.in_range[start..a.sensing as usize].binary_search_by_key(&neighbor.0, |r| r.to);
        place.is_ok_and(|i| self.modes.is_empty() || self.modes[start + i] >> mode & 1 == 1)
    }

    /// Probability that a radio receives a frame of another one while nothing else is on the air; `column` of its
    /// [mode](crate::wlan::Mode::column).
    pub fn delivery(&self, radio: RadioId, neighbor: RadioId, column: u8, bytes: u32) -> f64 {
        let Some(sinr) = &self.sinr else { return f64::from(u8::from(self.decodes(radio, neighbor, column))) };
        let a = &self.transmitters[radio.index()];
        let receivers = &self.in_range[a.start as usize..a.sensing as usize];
        let place = receivers.binary_search_by_key(&neighbor.0, |r| r.to);
        place.map_or(0.0, |i| sinr.delivery(receivers[i].power.into(), column, bytes))
    }

    /// Switches a radio off. It neither sends nor receives, as if it transmitted forever. No receiver can decode the
    /// frame that it has on the air; the medium stays busy for the length in its PLCP header (IEEE 802.11-2020, 15.3.6
    /// and 16.3.7: CCA is held although the carrier is lost). With cumulative interference it disturbs no receiver any
    /// more.
    pub fn switch_off(&mut self, radio: RadioId, now: Time) {
        let receiver = &mut self.receivers[radio.index()];
        if receiver.transmits_until > now {
            self.transmitters[radio.index()].aim.suffer(Harm::Cut);
        }
        receiver.transmits_until = Time::NEVER;
        receiver.needs_every_end = false;
        if receiver.lock == Lock::Clean {
            receiver.lock = Lock::Unreadable;
        }
        let a = &self.transmitters[radio.index()];
        for l in &self.in_range[a.start as usize..a.sensing as usize] {
            let r = &mut self.receivers[l.to as usize];
            if r.sender == radio.0 && r.lock == Lock::Clean {
                r.lock = Lock::Unreadable;
            }
            if let Some(sinr) = &mut self.sinr {
                sinr.cut(RadioId(l.to), radio.0, now + Span(u64::from(l.delay)));
            }
        }
    }

    /// Switches a radio on again. It only senses signals that are on the air now or begin before `deaf_until`.
    pub fn switch_on(&mut self, radio: RadioId, now: Time, deaf_until: Time) {
        let r = &mut self.receivers[radio.index()];
        (r.transmits_until, r.missed) = (deaf_until, Time::ZERO);
        if r.lock != Lock::Free && !r.visited {
            // The radio missed the begin of this signal, so it can sense but not decode it.
            if r.until > now {
                r.visited = true;
                list(&mut self.transmitters[r.sender as usize], &mut self.waiting, radio.0);
            } else {
                r.lock = Lock::Free;
            }
        }
    }

    /// Radios that sense this radio's frames, with the propagation delay to each.
    pub fn in_range(&self, radio: RadioId) -> impl Iterator<Item = (RadioId, Span)> + '_ {
        let a = &self.transmitters[radio.index()];
        self.in_range[a.start as usize..a.end as usize].iter().map(|l| (RadioId(l.to), Span(u64::from(l.delay))))
    }

    /// Radios that sense this radio's frames, with the received power \[W\] and one bit for each rate that they can
    /// decode.
    pub fn signals(&self, radio: RadioId) -> impl Iterator<Item = (RadioId, f32, u32)> + '_ {
        let a = &self.transmitters[radio.index()];
        (a.start as usize..a.end as usize).map(move |i| {
            let all = if i < a.sensing as usize { u32::MAX } else { 0 };
            let l = &self.in_range[i];
            (RadioId(l.to), l.power, self.modes.get(i).copied().unwrap_or(all))
        })
    }

    /// Time during which the medium is physically busy at a radio.
    #[inline]
    pub fn sensed(&self, radio: RadioId) -> Sensed {
        self.receivers[radio.index()].sensed()
    }

    /// End of the time in which a radio could not receive: end of its last transmission, or the instant at which it was
    /// switched on.
    pub fn transmits_until(&self, radio: RadioId) -> Time {
        self.receivers[radio.index()].transmits_until
    }

    /// Reception of a radio now, and the sender of the frame that the radio is locked on; `None`: nothing is sensed.
    pub fn incoming(&self, radio: RadioId, now: Time) -> Option<(Incoming, Option<RadioId>)> {
        let r = &self.receivers[radio.index()];
        let sender = (r.sender != NOBODY).then_some(RadioId(r.sender));
        r.sensed().busy(now).then(|| match r.lock {
            Lock::Clean if r.transmits_until <= r.from => (Incoming::Decoding, sender),
            Lock::Collided => (Incoming::Colliding, sender),
            Lock::Clean | Lock::Unreadable => (Incoming::Sensing, sender),
            Lock::Free | Lock::Energy => (Incoming::Sensing, None),
        })
    }

    /// End of the last unreadable signal that was not yet reported to this radio's station, as
    /// [`flush_deferred`](Self::flush_deferred) would report it.
    pub fn unreported(&self, radio: RadioId, now: Time) -> Option<Time> {
        let mut r = self.receivers[radio.index()];
        if r.until <= now && r.lock != Lock::Free && !r.visited {
            r.forget();
        }
        r.take_missed()
    }

    /// Counters of a radio's receiver.
    pub fn counters(&self, radio: RadioId) -> &Counters {
        &self.receivers[radio.index()].counters
    }

    /// Reports the end of the last unreadable signal that was not yet reported to this radio's station. Must be called
    /// before each call of the station. If a frame has ended here before its second loop,
    /// [`take_verdict`](Self::take_verdict) returns its verdict.
    #[inline(always)]
    pub fn flush_deferred(&mut self, radio: RadioId, now: Time) -> Option<Time> {
        let r = &mut self.receivers[radio.index()];
        if r.until <= now && r.lock != Lock::Free {
            if !r.visited {
                r.forget();
            } else if r.transmits_until <= r.until {
                let aims = Aims { transmitters: &mut self.transmitters, meetings: &mut self.meetings };
                give_verdict(&mut self.verdicts, &mut self.sinr, aims, radio, r);
            }
        }
        r.take_missed()
    }

    /// Sets if this radio's station needs the end of every signal. Must be called after each call of the station.
    #[inline]
    pub fn set_needs_every_end(&mut self, radio: RadioId, needs_every_end: bool) {
        self.call_station(radio, |_| needs_every_end);
    }

    /// Calls this radio's station with the state of the medium; `call` returns if the station needs the end of every
    /// signal from now on.
    #[inline(always)]
    pub fn call_station(&mut self, radio: RadioId, call: impl FnOnce(Sensed) -> bool) {
        let r = &mut self.receivers[radio.index()];
        let needs_every_end = call(r.sensed());
        r.needs_every_end = needs_every_end;
        if needs_every_end && r.lock != Lock::Free && !r.visited {
            r.visited = true;
            list(&mut self.transmitters[r.sender as usize], &mut self.waiting, radio.0);
        }
    }

    /// A radio starts to transmit a frame for one radio or for broadcast at rate number `mode`. Reports to `sink` the
    /// effect at receivers whose station needs every end, and returns the propagation delay to the farthest receiver:
    /// [`finish`](Self::finish) is due when the end of the frame has arrived there.
    #[inline]
    pub fn start(
        &mut self,
        (sender, to): (RadioId, RadioId),
        now: Time,
        airtime: Span,
        mode: u8,
        sink: &mut impl ReceptionSink,
    ) -> Span {
        let end = now + airtime;
        let own = &mut self.receivers[sender.index()];
        own.transmits_until = end;
        if own.lock == Lock::Clean && own.until > now {
            own.lock = Lock::Unreadable;
        }
        let transmitter = &mut self.transmitters[sender.index()];
        (transmitter.waiting, transmitter.aim) = (0, Aim::at(to));
        let Transmitter { start, sensing, end: last, farthest, .. } = *transmitter;
        if self.receivers.len() > NEAR {
            touch(&self.receivers, &self.in_range[start as usize..last as usize]);
        }
        if self.alike {
            self.arrive::<true, false>((sender, to), start..sensing, now, airtime, mode, sink);
            self.arrive::<false, false>((sender, to), sensing..last, now, airtime, mode, sink);
        } else {
            self.arrive_at_each((sender, to), now, airtime, mode, sink);
        }
        farthest
    }

    /// A signal arrives at receivers that differ in decodable rates or capture thresholds.
    #[inline(never)]
    fn arrive_at_each(
        &mut self,
        (sender, to): (RadioId, RadioId),
        now: Time,
        airtime: Span,
        mode: u8,
        sink: &mut impl ReceptionSink,
    ) {
        if self.sinr.is_some() {
            return self.add_up(sender, now, airtime, mode, sink);
        }
        let Transmitter { start, sensing, end, .. } = self.transmitters[sender.index()];
        self.arrive::<true, true>((sender, to), start..sensing, now, airtime, mode, sink);
        self.arrive::<false, true>((sender, to), sensing..end, now, airtime, mode, sink);
    }

    /// A signal arrives at receivers with cumulative interference.
    fn add_up(&mut self, sender: RadioId, now: Time, airtime: Span, mode: u8, sink: &mut impl ReceptionSink) {
        let Channel {
            sinr: Some(sinr), transmitters, in_range, receivers, verdicts, all_need_every_end, meetings, ..
        } = self
        else {
            return;
        };
        let Transmitter { start, sensing, .. } = transmitters[sender.index()];
        let aims = &mut Aims { transmitters, meetings };
        let in_range = &in_range[start as usize..sensing as usize];
        let fades = sinr.fades();
        if fades {
            // Concludes ended frames first, because all numbers of a receiver come from one stream.
            for l in in_range {
                let r = &mut receivers[l.to as usize];
                end_before(verdicts, sinr, aims, RadioId(l.to), r, now + Span(u64::from(l.delay)));
            }
            sinr.fade(in_range);
        }
        for (i, l) in in_range.iter().enumerate() {
            let from = now + Span(u64::from(l.delay));
            let radio = RadioId(l.to);
            let r = &mut receivers[l.to as usize];
            let power = if fades {
                sinr.faded(i)
            } else {
                end_before(verdicts, sinr, aims, radio, r, from);
                l.power.into()
            };
            let turns = sinr.arrive(r, (radio, sender.0), from, from + airtime, power, mode, aims);
            if turns && (r.needs_every_end || *all_need_every_end) {
                sink.busy(radio, from);
            }
        }
        self.judge_meetings();
    }

    /// A signal arrives at these receivers. `DIFFER`: the rate may decide which receivers can decode the frame, and
    /// receivers may differ in capture threshold.
    #[inline(always)]
    fn arrive<const DECODABLE: bool, const DIFFER: bool>(
        &mut self,
        (sender, to): (RadioId, RadioId),
        part: Range<u32>,
        now: Time,
        airtime: Span,
        mode: u8,
        sink: &mut impl ReceptionSink,
    ) {
        for (i, l) in self.in_range[part.start as usize..part.end as usize].iter().enumerate() {
            let decodable = DECODABLE
                && (!DIFFER || self.modes.get(part.start as usize + i).is_none_or(|m| m >> (mode % NARROW) & 1 == 1));
            let from = now + Span(u64::from(l.delay));
            let radio = RadioId(l.to);
            let r = &mut self.receivers[l.to as usize];
            let needs_every_end = r.needs_every_end || self.all_need_every_end;
            debug_assert!(!r.visited || r.lock != Lock::Free);
            // A receiver that is free, or whose previous signal has ended before this one arrives, locks on the
            // newcomer.
            if r.until <= from {
                if r.visited {
                    // The previous frame has ended here but its second loop has not run: a verdict given there would
                    // see the state of the new frame.
                    if r.transmits_until <= r.until {
                        note_verdict(&mut self.verdicts, radio, r);
                    }
                } else {
                    r.forget();
                }
                let clean = decodable && r.transmits_until <= from;
                r.lock = if clean { Lock::Clean } else { Lock::Unreadable };
                (r.from, r.until) = (from, from + airtime);
                (r.power, r.sender) = (l.power, sender.0);
                r.visited = DECODABLE || needs_every_end;
                // Only these stations need carrier sense now; others read the timestamps when they next act.
                if needs_every_end {
                    sink.busy(radio, from);
                    if !DECODABLE {
                        list(&mut self.transmitters[sender.index()], &mut self.waiting, l.to);
                    }
                }
            } else {
                // Still receiving: pairwise capture decides, and the longer survivor stays locked.
                let before = r.sender;
                let threshold = if DIFFER { self.captures.get(l.to as usize) } else { None };
                let capture = threshold.copied().unwrap_or(self.capture);
                let loser = overlap(r, l, decodable, sender, from, airtime, capture, sink);
                if r.sender != before {
                    // The second loop skips a sense-only receiver, so only the end of the signal is kept. That suffices
                    // if the radio has sensed it from its begin; a deaf radio has not.
                    let reported = needs_every_end || r.is_deaf();
                    r.visited = DECODABLE || reported;
                    if !DECODABLE && reported {
                        list(&mut self.transmitters[sender.index()], &mut self.waiting, l.to);
                    }
                }
                // Only the cause of loss at the intended receiver is recorded.
                let clash = if loser == Loser::Both { Clash::Destroys } else { Clash::Captures };
                if loser != Loser::Newcomer && self.transmitters[before as usize].aim.to == l.to {
                    lose(&mut self.transmitters, &self.in_range, before, sender.0, clash);
                }
                if loser != Loser::Locked && to.0 == l.to {
                    lose(&mut self.transmitters, &self.in_range, sender.0, before, clash);
                }
            }
        }
    }

    /// Ends a transmission that ended at its sender at `end`. Passes to `verdict` the outcome of the frame at each
    /// radio that was locked on it; skips sense-only radios whose station does not need every end.
    #[inline(always)]
    pub fn finish(&mut self, sender: RadioId, end: Time, mut verdict: impl FnMut(RadioId, Ended)) {
        let Channel { in_range, transmitters, receivers, sinr, meetings, .. } = self;
        let Transmitter { start, sensing, waiting, .. } = transmitters[sender.index()];
        let mut in_range = &in_range[start as usize..sensing as usize];
        if let Some(sinr) = sinr {
            in_range = sinr.conclude_all(sender.0, in_range, receivers, &mut Aims { transmitters, meetings });
        }
        for l in in_range {
            let r = &mut receivers[l.to as usize];
            if r.sender != sender.0 || r.lock == Lock::Free {
                continue;
            }
            let at = end + Span(u64::from(l.delay));
            // A radio that transmits when the frame ends does not notice its end.
            if r.transmits_until <= at {
                verdict(RadioId(l.to), r.end(at));
            }
            r.release();
        }
        for &to in &self.waiting[start as usize..(start + waiting) as usize] {
            let r = &mut self.receivers[to as usize];
            if r.sender != sender.0 || r.lock == Lock::Free {
                continue;
            }
            r.lock = Lock::Unreadable;
            if r.transmits_until <= r.until {
                verdict(RadioId(to), r.end(r.until));
            }
            r.release();
        }
        if let Some(sinr) = &mut self.sinr {
            sinr.stay_busy(&mut self.receivers);
        }
    }

    /// Cause of loss of a radio's last frame at its intended receiver, if any.
    pub fn harm(&self, sender: RadioId) -> Option<Harm> {
        self.transmitters[sender.index()].aim.harm
    }

    /// Judges the overlaps collected since a radio began to send; only with cumulative interference.
    fn judge_meetings(&mut self) {
        let Channel { meetings, transmitters, in_range, sinr: Some(sinr), .. } = self else { return };
        for Meeting { lost, other, radio, clash } in meetings.drain(..) {
            let harm_found = harm(clash, lost, other, transmitters, in_range, |l| sinr.senses(l.power.into()));
            match clash {
                Clash::Disturbs => sinr.note_disturbance(radio, harm_found),
                Clash::Captures | Clash::Destroys => transmitters[lost as usize].aim.suffer(harm_found),
            }
        }
    }

    /// Propagation delay from a sender to a radio that senses it; `None` out of range.
    pub fn delay(&self, sender: RadioId, radio: RadioId) -> Option<Span> {
        self.in_range(sender).find(|l| l.0 == radio).map(|l| l.1)
    }

    /// Allows radios to move: [`refill`](Self::refill) sets the receivers of each sender before it sends.
    pub fn begin_moving(&mut self, radios: &Radios) {
        let moving = Moving::new(radios, &self.transmitters);
        self.alike = self.captures.is_empty() && !moving.differs_by_rate();
        self.moving = Some(Box::new(moving));
    }

    /// A radio is about to send at a position: finds its receivers among the radios nearby with their current
    /// positions, which come in the order of their numbers; those with `false` are left out.
    pub fn refill(
        &mut self,
        radio: RadioId,
        position: Position,
        near: impl Iterator<Item = (RadioId, Position, bool)>,
    ) {
        let Channel { moving: Some(moving), in_range, waiting, modes, transmitters, .. } = self else { return };
        let transmitter = &mut transmitters[radio.index()];
        moving.refill(radio, position, near, &mut Lists { in_range, waiting, modes, transmitter });
    }

    /// Number of neighbors that had come or gone since this radio's previous frame, summed over its frames.
    pub fn neighbor_changes(&self, radio: RadioId) -> u64 {
        self.moving.as_ref().map_or(0, |m| m.changes(radio))
    }

    /// Memory of the list of receivers in range, if radios move \[B\].
    pub fn memory_of_receivers_in_range(&self) -> usize {
        let each = size_of::<ReceiverInRange>() + size_of::<u32>();
        self.moving.as_ref().map_or(0, |_| self.in_range.len() * each)
    }

    /// Next verdict on a frame that ended at a receiver before its second loop, because the next frame arrived or the
    /// station was called within the propagation delay: receiver, sender, end, verdict. Rarely any.
    pub fn take_verdict(&mut self) -> Option<(RadioId, RadioId, Time, Verdict)> {
        self.verdicts.pop()
    }
}

/// Queues the verdict on a receiver's locked frame, to be reported before the frame's second loop.
#[cold]
fn note_verdict(verdicts: &mut Vec<(RadioId, RadioId, Time, Verdict)>, radio: RadioId, r: &Receiver) {
    verdicts.push((radio, RadioId(r.sender), r.until, r.verdict()));
}

/// Queues the verdict on a receiver's locked frame and unlocks the receiver.
#[cold]
fn give_verdict(
    verdicts: &mut Vec<(RadioId, RadioId, Time, Verdict)>,
    sinr: &mut Option<Box<Sinr>>,
    mut aims: Aims<'_>,
    radio: RadioId,
    r: &mut Receiver,
) {
    match sinr {
        Some(sinr) => give_verdict_of(verdicts, sinr, &mut aims, radio, r),
        None => {
            note_verdict(verdicts, radio, r);
            r.release();
        }
    }
}

/// Queues the verdict on a receiver's locked frame with cumulative interference, and unlocks the receiver.
fn give_verdict_of(
    verdicts: &mut Vec<(RadioId, RadioId, Time, Verdict)>,
    sinr: &mut Sinr,
    aims: &mut Aims<'_>,
    radio: RadioId,
    r: &mut Receiver,
) {
    let remains = sinr.conclude(radio, r, aims);
    note_verdict(verdicts, radio, r);
    r.release();
    if let Some(remains) = remains {
        sinr::wait_for(r, remains);
    }
}

/// With cumulative interference, before a signal arrives at `from`: concludes a previous frame that has ended here but
/// whose second loop has not run.
#[inline]
fn end_before(
    verdicts: &mut Vec<(RadioId, RadioId, Time, Verdict)>,
    sinr: &mut Sinr,
    aims: &mut Aims<'_>,
    radio: RadioId,
    r: &mut Receiver,
    from: Time,
) {
    // Rarely true: one predictable branch is faster than two that are not.
    if select_unpredictable(r.lock == Lock::Free, Time::NEVER, r.until) > from {
        return;
    }
    if r.transmits_until <= r.until {
        give_verdict_of(verdicts, sinr, aims, radio, r);
    } else if let Some(remains) = sinr.conclude(radio, r, aims) {
        sinr::wait_for(r, remains);
    } else {
        r.release();
    }
}

/// Reads from each of these receivers to bring them into the caches before the loop needs them.
#[inline]
fn touch(receivers: &[Receiver], in_range: &[ReceiverInRange]) {
    let x = in_range.iter().fold(0, |x, l| x | receivers[l.to as usize].until.0);
    std::hint::black_box(x);
}

/// Lists a sense-only receiver that needs the end of the frame.
#[inline]
fn list(transmitter: &mut Transmitter, waiting: &mut [u32], radio: u32) {
    waiting[(transmitter.start + transmitter.waiting) as usize] = radio;
    transmitter.waiting += 1;
}

/// Loser of two overlapping frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loser {
    Locked,
    Newcomer,
    Both,
}

/// A frame arrives at a receiver that is locked on another one. Returns the frame that is lost.
#[allow(clippy::too_many_arguments, reason = "the two halves of one loop; only the busy case is out of line")]
#[inline(never)]
fn overlap(
    r: &mut Receiver,
    l: &ReceiverInRange,
    decodable: bool,
    sender: RadioId,
    from: Time,
    airtime: Span,
    capture: f32,
    sink: &mut impl ReceptionSink,
) -> Loser {
    let radio = RadioId(l.to);
    let (locked_from, locked_until, until) = (r.from, r.until, from + airtime);
    // The signal of a nearer sender may arrive first although it began later.
    let newcomer_first = from < locked_from;
    let (first, second) = if newcomer_first { (l.power, r.power) } else { (r.power, l.power) };
    if first >= second * capture {
        r.counters.captures += 1;
        let mut weak = (from, until);
        if newcomer_first {
            let clean = decodable && r.transmits_until <= from;
            r.lock = if clean { Lock::Clean } else { Lock::Unreadable };
            (r.from, r.until) = (from, until);
            (r.power, r.sender) = (l.power, sender.0);
            weak = (locked_from, locked_until);
        }
        sink.captured(radio, weak.0, weak.1);
        if newcomer_first { Loser::Locked } else { Loser::Newcomer }
    } else {
        r.counters.collisions += 1;
        r.lock = Lock::Collided;
        if until > locked_until {
            (r.until, r.power, r.sender) = (until, l.power, sender.0);
        }
        r.from = locked_from.min(from);
        Loser::Both
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::radio::Config;

    /// Nodes at a distance of 200 m.
    fn chain(nodes: usize) -> Channel {
        let positions: Vec<Position> = (0..nodes).map(|i| Position { x: 200.0 * i as f64, y: 0.0 }).collect();
        let mut channel = Channel::new(&Radios::alike(&Config::default(), &positions));
        channel.need_every_end();
        channel
    }

    /// Radios at which the medium turns busy.
    #[derive(Default)]
    pub(in crate::radio) struct Busy(pub(in crate::radio) Vec<u32>);

    impl ReceptionSink for Busy {
        fn busy(&mut self, radio: RadioId, _from: Time) {
            self.0.push(radio.0);
        }

        fn captured(&mut self, _radio: RadioId, _from: Time, _until: Time) {}
    }

    fn verdicts(c: &mut Channel, sender: u32, end: u64) -> Vec<(u32, Verdict)> {
        let mut v = vec![];
        c.finish(RadioId(sender), Time(end * 1000), |n, ended| v.push((n.0, ended.verdict)));
        v.sort_unstable_by_key(|x| x.0);
        v
    }

    fn start(c: &mut Channel, sender: u32, us: u64, airtime: u64) -> Vec<u32> {
        let mut busy = Busy::default();
        c.start((RadioId(sender), RadioId::BROADCAST), Time(us * 1000), Span::us(airtime), 0, &mut busy);
        busy.0.sort_unstable();
        busy.0
    }

    #[test]
    fn two_hops_away_is_sensed_and_three_hops_away_is_silent() {
        let mut c = chain(7);
        assert_eq!(start(&mut c, 3, 0, 352), [1, 2, 4, 5]);
        assert_eq!(
            verdicts(&mut c, 3, 352),
            [(1, Verdict::Damaged), (2, Verdict::Decoded), (4, Verdict::Decoded), (5, Verdict::Damaged)]
        );
        assert_eq!(c.neighbors(RadioId(3)).map(|n| n.0).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn frame_survives_a_weaker_later_hidden_terminal() {
        // Node 0 sends to 1; node 3, two hops behind the receiver, begins later: 16 times weaker at 1.
        let mut c = chain(5);
        start(&mut c, 0, 0, 6000);
        start(&mut c, 3, 3000, 6000);
        assert!(verdicts(&mut c, 0, 6000).contains(&(1, Verdict::Decoded)));
        assert_eq!(c.receivers[1].counters.captures, 1);
    }

    #[test]
    fn an_earlier_hidden_terminal_destroys_the_frame() {
        let mut c = chain(5);
        start(&mut c, 3, 0, 6000);
        start(&mut c, 0, 3000, 6000);
        // Node 4 senses only 3; at 1 the frame of 0, which ends later, is lost at its end.
        assert!(verdicts(&mut c, 3, 6000).contains(&(4, Verdict::Decoded)));
        assert!(verdicts(&mut c, 0, 9000).contains(&(1, Verdict::Damaged)));
        assert_eq!(c.receivers[1].counters.collisions, 1);
    }

    #[test]
    fn a_signal_that_arrives_first_is_locked_first() {
        // 0 starts 0.5 us before 4, but 4 is 200 m from 3 where 0 is 600 m away: use node 1 (400 m) instead.
        let mut c = chain(5);
        c.start((RadioId(1), RadioId::BROADCAST), Time(0), Span::us(352), 0, &mut Busy::default());
        c.start((RadioId(4), RadioId::BROADCAST), Time(500), Span::us(352), 0, &mut Busy::default());
        // At 3 the frame of 4 arrives at 1167 ns, that of 1 at 1333 ns: 16 times weaker and later.
        let mut v = vec![];
        c.finish(RadioId(4), Time(352_500), |n, ended| v.push((n.0, ended.verdict)));
        assert!(v.contains(&(3, Verdict::Decoded)), "{v:?}");
        assert!(!verdicts(&mut c, 1, 352).iter().any(|x| x.0 == 3));
    }

    #[test]
    fn a_node_that_transmits_does_not_receive() {
        let mut c = chain(3);
        start(&mut c, 1, 0, 1000);
        start(&mut c, 0, 500, 352);
        assert!(!verdicts(&mut c, 0, 852).iter().any(|x| x.0 == 1), "ended during the own transmission");
        let mut c = chain(3);
        start(&mut c, 0, 0, 1000);
        start(&mut c, 1, 500, 304);
        assert!(verdicts(&mut c, 0, 1000).contains(&(1, Verdict::Noise)), "an own transmission spoils it");
    }

    #[test]
    fn a_signal_is_noise_to_a_node_that_was_sending_when_it_began() {
        // Node 1 transmits until 304 us; node 2 begins meanwhile and ends later: node 1 has missed the start of that
        // frame.
        let mut c = chain(4);
        start(&mut c, 1, 0, 304);
        start(&mut c, 2, 100, 352);
        assert!(verdicts(&mut c, 2, 452).contains(&(1, Verdict::Noise)));
        // A frame that begins after the own transmission but overlaps the rest of the noise is lost.
        let mut c = chain(4);
        start(&mut c, 1, 0, 304);
        start(&mut c, 2, 100, 352);
        start(&mut c, 0, 350, 352);
        assert!(verdicts(&mut c, 0, 702).contains(&(1, Verdict::Noise)));
        // A frame that begins after both is decoded.
        let mut c = chain(4);
        start(&mut c, 1, 0, 304);
        start(&mut c, 2, 304, 352);
        assert!(verdicts(&mut c, 2, 656).contains(&(1, Verdict::Decoded)));
        assert_eq!(start(&mut c, 3, 700, 352), [1, 2]);
        assert!(verdicts(&mut c, 3, 1052).contains(&(1, Verdict::Damaged)), "too weak, from 400 m");
    }

    #[test]
    fn end_of_a_noise_reaches_a_station_that_no_longer_needs_every_end() {
        // Node 2 senses nodes 0 and 4. It has sent an ACK, and waits for nothing when the second signal meets the
        // first.
        let positions: Vec<Position> = (0..5).map(|i| Position { x: 200.0 * f64::from(i), y: 0.0 }).collect();
        let mut c = Channel::new(&Radios::alike(&Config::default(), &positions));
        c.set_needs_every_end(RadioId(2), true);
        start(&mut c, 2, 0, 304);
        start(&mut c, 0, 100, 352);
        c.set_needs_every_end(RadioId(2), false);
        start(&mut c, 4, 350, 352);
        assert!(verdicts(&mut c, 4, 702).contains(&(2, Verdict::Noise)));
        assert_eq!(c.flush_deferred(RadioId(2), Time(1_000_000)), None, "it is not taken for an error afterwards");
    }

    #[test]
    fn frame_within_propagation_delay_does_not_hide_the_previous() {
        let mut c = chain(4);
        // 0 ends at 352 us; its frame ends at 1 at 352.667. 2 starts at 352.1 and arrives at 1 at 352.767.
        c.start((RadioId(0), RadioId::BROADCAST), Time(0), Span::us(352), 0, &mut Busy::default());
        c.start((RadioId(2), RadioId::BROADCAST), Time(352_100), Span::us(352), 0, &mut Busy::default());
        assert_eq!(c.take_verdict(), Some((RadioId(1), RadioId(0), Time(352_667), Verdict::Decoded)));
    }

    #[test]
    fn idle_sensing_station_learns_of_signal_end_lazily() {
        let positions: Vec<Position> = (0..5).map(|i| Position { x: 200.0 * f64::from(i), y: 0.0 }).collect();
        let mut c = Channel::new(&Radios::alike(&Config::default(), &positions));
        c.set_needs_every_end(RadioId(2), true);
        assert_eq!(start(&mut c, 0, 0, 352), [2], "only who cares");
        assert_eq!(verdicts(&mut c, 0, 352), [(1, Verdict::Decoded), (2, Verdict::Damaged)]);
        // Node 4 senses node 2; its station is called at 1 ms, and again during the next frame.
        start(&mut c, 2, 400, 352);
        assert_eq!(c.flush_deferred(RadioId(4), Time(500_000)), None, "it has not ended");
        assert_eq!(c.flush_deferred(RadioId(4), Time(1_000_000)), Some(Time(753_333)));
        assert_eq!(c.flush_deferred(RadioId(4), Time(1_000_000)), None, "it is reported once");
    }

    #[test]
    fn station_that_needs_every_end_during_a_frame_learns_of_its_end() {
        let positions: Vec<Position> = (0..3).map(|i| Position { x: 200.0 * f64::from(i), y: 0.0 }).collect();
        let mut c = Channel::new(&Radios::alike(&Config::default(), &positions));
        start(&mut c, 0, 0, 352);
        c.set_needs_every_end(RadioId(2), true);
        c.set_needs_every_end(RadioId(2), false);
        c.set_needs_every_end(RadioId(2), true);
        assert_eq!(verdicts(&mut c, 0, 352), [(1, Verdict::Decoded), (2, Verdict::Damaged)]);
    }
}
