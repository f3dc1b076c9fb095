//! Reception with cumulative interference: bits are lost by the ratio of signal to noise and interference (SINR).
//!
//! A free receiver locks on a signal whose SINR is high enough for preamble detection. All other signals are
//! interference. The frame is cut wherever the interference changes, and each piece survives with a probability of its
//! own (interference as in Lacage and Henderson, WNS2 2006). One random number at the end of the frame decides whether
//! all pieces did. A signal that is stronger by a margin may take a receiver over (*message in message*; Lee et al.,
//! Computer Networks 51, 2007).
//!
//! The medium is busy during a detected frame, and while the total power is above the energy-detection threshold (IEEE
//! 802.11-2020, 15.4.6.5 and 16.3.9.5). This needs no events: signals are kept with their begin and end, and evaluated
//! when the next signal arrives or the frame ends. Signals that have ended are then dropped.

mod fading;
mod order;
mod reaction;
mod signals;

pub use super::sinr_config::{Config, Fading, Relock, floor, least, noise, weakest};

use self::fading::Faded;
use self::reaction::{Arrival, Locked, Reaction};
use self::signals::{Remains, Signals};
use super::causes::{Aims, Clash};
use super::config::Reception;
use super::error_rate::Curve;
use super::receiver::{Lock, Receiver};
use super::sinr_config::curve;
use super::sites::{NARROW, Radios};
use super::transmitter::{Harm, ReceiverInRange};
use crate::packet::RadioId;
use crate::rng::{Purpose, Stream};
use crate::unit::{BitRate, Span, Time};
use std::hint::select_unpredictable;

/// Length of the PLCP header, which is checked [bit]; the preamble before it is not.
const HEADER: f64 = 48.0;

/// Signals at a receiver, and the state of the frame on which it is locked.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Air {
    signals: Signals,
    /// Instant up to which interference with the locked frame has been accounted for.
    since: Time,
    /// Begin of the locked frame, and of its data after preamble and header.
    begins: Time,
    data_from: Time,
    mode: u8,
    /// Sender and begin of the locked frame from which this one has taken the receiver over.
    before: Option<(u32, Time)>,
    /// Logarithm of the probability that all bits so far have survived.
    ln_success: f64,
    power: f64,
    /// The locked frame began when no other signal was present, and none has arrived since.
    is_alone: bool,
    /// Effect of noise alone on the last frame that was alone, among those judged as a whole and among those judged MPDU
    /// by MPDU: data and responses alternate.
    by_noise: [ByNoise; 2],
    /// Data of the locked frame, and of the last one that was judged, where MPDUs are judged.
    pieces: Vec<Piece>,
    judged: Vec<Piece>,
    judged_from: Time,
    /// Strongest interference with a frame for this radio, and its kind.
    worst: f64,
    harm: Option<Harm>,
}

/// Preamble and header of a frame, or its data: `bits` in `in_ns` nanoseconds.
#[derive(Clone, Debug)]
struct Part {
    curve: Curve,
    bits: f64,
    in_ns: f64,
}

/// A rate: its PLCP header and its data.
#[derive(Clone, Debug)]
struct Coding {
    parts: [Part; 2],
    plcp: Span,
    /// The data are judged in parts, MPDU by MPDU.
    by_mpdu: bool,
}

/// Logarithms of the probability that a bit survives noise alone, for a power and a mode: header and data.
#[derive(Clone, Copy, Debug)]
struct ByNoise {
    power: f64,
    mode: u8,
    ln_success: [f64; 2],
}

/// Logarithm of the probability that a nanosecond of data survives, up to an instant.
#[derive(Clone, Copy, Debug)]
struct Piece {
    until: Time,
    ln_success: f64,
}

/// Reception state of all receivers of a channel.
#[derive(Clone, Debug)]
pub(super) struct Sinr {
    cfg: Config,
    noise: f64,
    codings: Vec<Coding>,
    airs: Vec<Air>,
    /// Keys of the random streams of the receivers.
    keys: Vec<u64>,
    /// Random stream of each receiver. Kept apart from the hot state because it is rarely needed.
    rngs: Vec<Stream>,
    /// Receivers locked on the frame whose end is being reported.
    locked: Vec<ReceiverInRange>,
    /// Signals that a receiver is being decided on, in the order of arrival.
    later: Vec<usize>,
    faded: Faded,
    /// Receivers at which the medium stays busy after the frame whose end is being reported.
    pub(super) busy_on: Vec<(RadioId, Remains)>,
}

/// Number of signals that a receiver holds without allocating.
const SIGNALS: usize = 16;

/// Mean power with which a share of frames is received while nothing else is on the air \[W\]; `None` with pairwise
/// reception. `column` is that of the frames' [mode](crate::wlan::Mode::column).
pub fn power_of_delivery(radios: &Radios) -> Option<impl Fn(u8, u32, f64) -> f64 + use<>> {
    let sinr = Sinr::new(radios)?;
    Some(move |column, bytes, share| {
        let (mut weak, mut strong) = (sinr.noise * 1e-2, sinr.noise * 1e8);
        while strong > weak * 1.0001 {
            let mid = libm::sqrt(weak * strong);
            if sinr.delivery(mid, column, bytes) < share { weak = mid } else { strong = mid }
        }
        strong
    })
}

impl Sinr {
    /// Reception state for these radios; `None` with pairwise reception.
    pub(super) fn new(radios: &Radios) -> Option<Box<Sinr>> {
        let common = radios.profiles.first().filter(|p| p.reception == Reception::Sinr)?;
        let cfg = common.sinr.clone();
        let coding = |(i, ((&rate, &code), &plcp)): (usize, ((&BitRate, &BitRate), &Span))| {
            // OFDM has short preambles.
            let slowest = BitRate::mbps(if plcp > Span::us(30) { 1 } else { 6 });
            let header = Part { curve: curve(&cfg, slowest), bits: HEADER, in_ns: plcp.0 as f64 };
            let data = Part { curve: curve(&cfg, code), bits: rate.0 as f64 / 1e9, in_ns: 1.0 };
            Coding { parts: [header, data], plcp, by_mpdu: i >= radios.whole }
        };
        let of = |rates| {
            let rates: &[BitRate] = rates;
            rates.iter().zip(&radios.codings).zip(&radios.plcp).enumerate()
        };
        debug_assert!(radios.narrow_rates.is_empty() || radios.rates.len() == usize::from(NARROW));
        let air = |_| Air {
            signals: Signals::with_capacity(SIGNALS),
            since: Time::ZERO,
            begins: Time::ZERO,
            data_from: Time::ZERO,
            mode: 0,
            before: None,
            ln_success: 0.0,
            power: 0.0,
            is_alone: false,
            by_noise: [ByNoise { power: f64::NAN, mode: 0, ln_success: [0.0; 2] }; 2],
            pieces: Vec::new(),
            judged: Vec::new(),
            judged_from: Time::ZERO,
            worst: 0.0,
            harm: None,
        };
        let mut sinr = Sinr {
            noise: noise(&cfg),
            codings: of(&radios.rates).chain(of(&radios.narrow_rates)).map(coding).collect(),
            airs: (0..radios.sites.len()).map(air).collect(),
            keys: radios.sites.iter().map(|s| s.key).collect(),
            rngs: Vec::new(),
            locked: Vec::new(),
            later: Vec::with_capacity(SIGNALS),
            faded: Faded::new(),
            busy_on: Vec::with_capacity(64),
            cfg,
        };
        sinr.reseed(0);
        Some(Box::new(sinr))
    }

    /// Sets the random streams of a run.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.rngs.clear();
        self.rngs.extend(self.keys.iter().map(|&key| Stream::new(seed, Purpose::Reception, key)));
    }

    /// Signal-to-noise ratio of the last received frame.
    pub(super) fn signal_to_noise(&self, radio: RadioId) -> f64 {
        self.airs[radio.index()].power / self.noise
    }

    /// Returns true if a free radio senses a signal of this power.
    pub(super) fn senses(&self, power: f64) -> bool {
        power >= self.cfg.energy_detection.0.min(self.cfg.preamble_detection.0 * self.noise)
    }

    /// Probability that a frame with this mean power is received while nothing else is on the air.
    pub(super) fn delivery(&self, power: f64, column: u8, bytes: u32) -> f64 {
        /// Number of powers of equal probability that stand for their exponential distribution.
        const POWERS: u32 = 256;
        let [header, data] = &self.codings[usize::from(column)].parts;
        let survives = |ratio: f64| {
            let bits = 8.0 * f64::from(bytes);
            let ln_success = header.bits * header.curve.ln_success(ratio) + bits * data.curve.ln_success(ratio);
            if ratio < self.cfg.preamble_detection.0 { 0.0 } else { libm::exp(ln_success) }
        };
        let ratio = power / self.noise;
        if !self.fades() {
            return survives(ratio);
        }
        let of_one = |i: u32| survives(-ratio * libm::log1p(-(f64::from(i) + 0.5) / f64::from(POWERS)));
        (0..POWERS).map(of_one).sum::<f64>() / f64::from(POWERS)
    }

    /// Records stronger interference with a frame for this radio.
    pub(super) fn note_disturbance(&mut self, radio: u32, harm: Harm) {
        self.airs[radio as usize].harm = Some(harm);
    }

    /// Returns true if the power of a signal differs from frame to frame.
    pub(super) fn fades(&self) -> bool {
        self.cfg.fading == Fading::Rayleigh
    }

    /// Draws the power of a signal at each receiver.
    pub(super) fn fade(&mut self, in_range: &[ReceiverInRange]) {
        self.faded.draw(in_range, &mut self.rngs);
    }

    /// Power drawn for one receiver.
    pub(super) fn faded(&self, receiver: usize) -> f64 {
        self.faded.powers[receiver]
    }

    /// A signal arrives at a receiver. Returns true if the medium turns busy.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "half of a loop, as the other way of reception")]
    pub(super) fn arrive(
        &mut self,
        r: &mut Receiver,
        signal: (RadioId, u32),
        from: Time,
        until: Time,
        power: f64,
        mode: u8,
        aims: &mut Aims<'_>,
    ) -> bool {
        let (radio, sender) = signal;
        let mine = aims.is_for(sender, radio.0);
        let Sinr { cfg, noise, codings, airs, later, .. } = self;
        let air = &mut airs[radio.index()];
        // Most signals arrive alone.
        if r.lock == Lock::Free
            && air.signals.are_over(from)
            && r.transmits_until <= from
            && power >= cfg.preamble_detection.0 * *noise
        {
            air.lock(from, power, mode, &codings[usize::from(mode)]);
            (air.before, air.is_alone) = (None, true);
            (r.lock, r.from, r.until, r.sender, r.visited) = (Lock::Clean, from, until, sender, true);
            air.signals.lock_on_only((sender, mode), from, until, power);
            return true;
        }
        air.is_alone = false;
        let locked = r.lock != Lock::Free;
        if r.lock == Lock::Clean {
            air.account(from, *noise, codings);
        }
        let is_first = from <= air.signals.since;
        // A sender has no signal of its own here, except if it moved while it sent.
        air.signals.go_to(from);
        let others = air.signals.all;
        air.signals.push((sender, mode), from, until, power);
        if is_first && r.transmits_until <= from && air.precedes(from, r.lock) {
            return air.settle(r, radio.0, from, (cfg, *noise, codings), (later, aims));
        }
        let on = (!matches!(r.lock, Lock::Free | Lock::Energy)).then_some(Locked {
            begins: air.begins,
            data_from: air.data_from,
            power: air.power,
            is_clean: r.lock == Lock::Clean,
        });
        let arrival = Arrival { from, power, others, is_heard: r.transmits_until <= from };
        let reaction = Reaction::of(cfg, *noise, &arrival, on);
        if reaction == Reaction::Locks {
            r.counters.captures += u64::from(locked && r.lock == Lock::Clean);
            if locked && aims.is_for(r.sender, radio.0) {
                aims.meet(r.sender, sender, radio.0, Clash::Captures);
            }
            air.before = (r.lock == Lock::Clean).then_some((r.sender, air.begins));
            air.lock(from, power, mode, &codings[usize::from(mode)]);
            (r.lock, r.from, r.until, r.sender, r.visited) = (Lock::Clean, from, until, sender, true);
            if mine && let Some((other, power)) = air.signals.strongest_other(from) {
                air.worst = power;
                aims.meet(sender, other, radio.0, Clash::Disturbs);
            }
            air.signals.lock_on_last(others);
            return true;
        }
        // Lost to signals that began during the detection of its preamble, or just before.
        let noticed = || {
            cfg.detection_time > Span::ZERO
                && power >= cfg.preamble_detection.0 * *noise
                && r.transmits_until <= from
                && power >= cfg.preamble_detection.0 * (*noise + air.signals.begun_by(from, cfg.detection_time))
        };
        if reaction == Reaction::GivesUp {
            // The receiver gives up; the medium stays busy up to the end of the signals that it has noticed.
            if noticed() && until > r.until {
                (r.until, r.sender) = (until, sender);
            }
            r.counters.collisions += 1;
            for (lost, other) in [(r.sender, sender), (sender, r.sender)] {
                if aims.is_for(lost, radio.0) {
                    aims.meet(lost, other, radio.0, Clash::Destroys);
                }
            }
            r.lock = Lock::Energy;
            return false;
        }
        if !matches!(r.lock, Lock::Free | Lock::Energy) {
            r.counters.collisions += u64::from(r.lock == Lock::Clean);
            if aims.is_for(r.sender, radio.0) && power > air.worst {
                air.worst = power;
                aims.meet(r.sender, sender, radio.0, Clash::Disturbs);
            }
            if mine {
                aims.meet(sender, r.sender, radio.0, Clash::Captures);
            }
            return false;
        }
        if mine {
            air.miss(sender, radio.0, from, cfg.preamble_detection.0 * *noise <= power, aims);
        }
        let noticed = noticed();
        if noticed && (!locked || until > r.until) {
            let from = select_unpredictable(locked, r.from, from);
            (r.lock, r.from, r.until, r.sender, r.visited) = (Lock::Energy, from, until, sender, true);
        }
        // Not detected as a frame, but its energy may still make the medium busy.
        let turns = !locked;
        let locked = locked || noticed;
        if others + power < cfg.energy_detection.0 {
            return turns && noticed;
        }
        // An already busy medium can only stay busy for longer.
        let after = select_unpredictable(locked, r.until, from);
        if locked && air.signals.is_weaker_after(after, cfg.energy_detection.0) {
            return turns && noticed;
        }
        let Some(loud) = air.signals.loud_until(from, after, cfg.energy_detection.0) else { return turns && noticed };
        if turns {
            r.from = from;
        }
        (r.lock, r.until, r.sender, r.visited) = (Lock::Energy, loud.until, loud.sender, true);
        turns
    }

    /// Decides if a part of the frame that a radio received last has survived. The part lies between these times after
    /// the begin of the frame.
    pub(super) fn part_survives(&mut self, radio: RadioId, from: Span, until: Span) -> bool {
        let air = &self.airs[radio.index()];
        let (from, until) = (air.judged_from + from, air.judged_from + until);
        let (mut ln_success, mut since) = (0.0, from);
        for piece in air.judged.iter().filter(|piece| piece.until > from) {
            let next = piece.until.min(until);
            if next > since {
                ln_success += piece.ln_success * next.since(since).0 as f64;
                since = next;
            }
        }
        // Draws no number where the outcome is certain.
        ln_success == 0.0 || self.rngs[radio.index()].uniform() < libm::exp(ln_success)
    }

    /// A sender is switched off: the rest of its signal at a receiver ends at this instant.
    pub(super) fn cut(&mut self, radio: RadioId, sender: u32, at: Time) {
        let air = &mut self.airs[radio.index()];
        air.signals.cut(sender, at);
        air.is_alone = false;
    }

    /// Decides at the end of a receiver's locked frame whether it was lost. Returns the signal that keeps the medium
    /// busy, if any.
    pub(super) fn conclude(&mut self, radio: RadioId, r: &mut Receiver, aims: &mut Aims<'_>) -> Option<Remains> {
        let Sinr { cfg, noise, codings, airs, rngs, .. } = self;
        let air = &mut airs[radio.index()];
        let end = r.until;
        if r.lock == Lock::Clean {
            if air.is_alone {
                air.account_alone(end, *noise, codings);
            } else {
                air.account(end, *noise, codings);
            }
            if codings[usize::from(air.mode)].by_mpdu {
                std::mem::swap(&mut air.pieces, &mut air.judged);
                air.judged_from = air.begins;
            }
            // Draws no number where the outcome is certain.
            if air.ln_success < 0.0 && rngs[radio.index()].uniform() >= libm::exp(air.ln_success) {
                r.lock = Lock::Collided;
                if aims.is_for(r.sender, radio.0) {
                    aims.note(r.sender, air.harm.unwrap_or(Harm::Noise));
                }
            }
        }
        if air.is_alone && air.signals.end_only(end) {
            return None;
        }
        // The rest is rarely above the energy-detection threshold.
        air.signals.go_to(end);
        if air.signals.all < cfg.energy_detection.0 {
            return None;
        }
        air.signals.loud_until(end, end, cfg.energy_detection.0)
    }

    /// Concludes the frame at all receivers locked on the sender, and returns these. Signals that keep the medium busy
    /// are stored for [`stay_busy`](Self::stay_busy).
    #[inline(never)]
    pub(super) fn conclude_all(
        &mut self,
        sender: u32,
        in_range: &[ReceiverInRange],
        receivers: &mut [Receiver],
        aims: &mut Aims<'_>,
    ) -> &[ReceiverInRange] {
        self.locked.clear();
        for l in in_range {
            let r = &mut receivers[l.to as usize];
            if r.sender == sender && r.lock != Lock::Free {
                self.locked.push(*l);
                if let Some(remains) = self.conclude(RadioId(l.to), r, aims) {
                    r.until = remains.until;
                    self.busy_on.push((RadioId(l.to), remains));
                }
            }
        }
        &self.locked
    }

    /// After the end of a frame has been reported: receivers with a busy medium wait for its end.
    pub(super) fn stay_busy(&mut self, receivers: &mut [Receiver]) {
        for (radio, remains) in self.busy_on.drain(..) {
            wait_for(&mut receivers[radio.index()], remains);
        }
    }
}

/// Makes a receiver wait for the end of a signal that it cannot decode.
pub(super) fn wait_for(r: &mut Receiver, remains: Remains) {
    (r.lock, r.until, r.sender, r.visited) = (Lock::Energy, remains.until, remains.sender, true);
}

impl Air {
    fn lock(&mut self, from: Time, power: f64, mode: u8, coding: &Coding) {
        (self.since, self.begins, self.data_from) = (from, from, from + coding.plcp);
        (self.mode, self.power, self.ln_success) = (mode, power, 0.0);
        (self.worst, self.harm) = (0.0, None);
        self.pieces.clear();
    }

    /// Records a frame for this radio that was not detected; `loud`: it would be without interference.
    #[cold]
    fn miss(&self, sender: u32, radio: u32, from: Time, loud: bool, aims: &mut Aims<'_>) {
        match self.signals.strongest_other(from) {
            _ if !loud => aims.note(sender, Harm::Noise),
            Some((other, _)) => aims.meet(sender, other, radio, Clash::Destroys),
            // The radio itself was transmitting.
            None => {}
        }
    }

    /// Accounts for the noise during the locked frame, which is alone, up to its end. The sums are those of
    /// [`account`](Self::account).
    fn account_alone(&mut self, end: Time, noise: f64, codings: &[Coding]) {
        let coding = &codings[usize::from(self.mode)];
        let by_noise = &mut self.by_noise[usize::from(coding.by_mpdu)];
        if (by_noise.power, by_noise.mode) != (self.power, self.mode) {
            let ratio = self.power / noise;
            let ln_success = [&coding.parts[0], &coding.parts[1]].map(|part| part.curve.ln_success(ratio));
            *by_noise = ByNoise { power: self.power, mode: self.mode, ln_success };
        }
        let [header, data] = by_noise.ln_success;
        let data_from = self.data_from.min(end);
        let survives = |part: &Part, from: Time, until: Time, ln_success: f64| {
            let time = until.since(from).0 as f64;
            (time, part.bits * time / part.in_ns * ln_success)
        };
        self.ln_success += survives(&coding.parts[0], self.begins, data_from, header).1;
        if data_from < end {
            let (time, ln_success) = survives(&coding.parts[1], data_from, end, data);
            if coding.by_mpdu {
                self.pieces.push(Piece { until: end, ln_success: ln_success / time });
            } else {
                self.ln_success += ln_success;
            }
        }
        self.since = end;
    }

    /// Accounts for the interference with the locked frame up to an instant.
    fn account(&mut self, to: Time, noise: f64, codings: &[Coding]) {
        let coding = &codings[usize::from(self.mode)];
        while self.since < to {
            self.signals.go_to(self.since);
            let in_data = self.since >= self.data_from;
            let part = &coding.parts[usize::from(in_data)];
            let next = to.min(self.signals.changes);
            let next = next.min(select_unpredictable(in_data, next, self.data_from));
            let ratio = self.power / (noise + self.signals.others);
            let time = next.since(self.since).0 as f64;
            let ln_success = part.bits * time / part.in_ns * part.curve.ln_success(ratio);
            if in_data && coding.by_mpdu {
                self.pieces.push(Piece { until: next, ln_success: ln_success / time });
            } else {
                self.ln_success += ln_success;
            }
            self.since = next;
        }
    }
}

#[cfg(test)]
mod tests;
