//! Reception where signals add up: bits are lost by the ratio of signal to noise and interference.
//!
//! A receiver that does nothing locks on a signal that it detects: whose ratio to noise and to what else is there is high
//! enough. All others are interference. The frame is cut wherever that changes, and each piece survives with a
//! probability of its own (interference as in Lacage and Henderson, WNS2 2006). One number decides at its end whether all
//! did. A signal that is stronger by a margin may take a receiver over (*message in message*; Lee et al., Computer Networks 51,
//! 2007).
//!
//! The medium is busy during a frame that was detected, and while all power together is above the threshold of energy
//! detection (IEEE 802.11-2020, 15.4.6.5 and 16.3.9.5). There are no events: signals are kept with their begin and end, and looked at
//! when the next one arrives, or the frame ends. Those that have ended are then forgotten.

mod fading;
mod signals;

use self::fading::Faded;
pub use self::fading::Fading;
use self::signals::{Remains, Signals};
use super::aims::{Aims, Clash, Harm};
use super::audience::Listener;
use super::channel::{Lock, Receiver};
use super::error_rate::{Curve, Ofdm};
use super::{Radios, Reception};
use crate::packet::RadioId;
use crate::rng::{Purpose, Stream};
use crate::setting::limit::{above, at_most, range};
use crate::unit::{BitRate, Hertz, Ratio, Span, Time, Watts};
use crate::{keywords, settings};
use std::hint::select_unpredictable;

keywords! {
    /// When a stronger signal may take a receiver over.
    pub enum Relock {
        /// As long as the preamble of the frame lasts.
        Preamble = "preamble",
        /// At any time.
        Always = "always",
    }
}

settings! {
    /// Reception by the ratio of signal to noise and interference.
    pub struct Config {
        /// Noise figure of a receiver: how much more noise there is than that of heat, at 290 K.
        pub noise_figure: Ratio = Ratio(5.011_872_336_272_724) => range(Ratio(1.0), Ratio(1e6)),
        /// Bandwidth in which noise is received: 22 MHz with 802.11b, 20 MHz with 802.11a.
        pub bandwidth: Hertz = Hertz(22e6) => range(Hertz(1e3), Hertz(1e12)),
        /// A receiver locks on a signal whose ratio to noise and interference is at least this.
        pub preamble_detection: Ratio = Ratio(2.511_886_431_509_58) => range(Ratio(1e-3), Ratio(1e6)),
        /// For so long after its begin a preamble is still lost when other signals bring it below that ratio; one of them may be
        /// detected in its place.
        pub detection_time: Span = Span::ZERO => at_most(Span::us(100)),
        /// Energy detection: the medium is busy while all signals together have at least this power.
        pub energy_detection: Watts = Watts(6.309_573_444_801_93e-10) => above(Watts(0.0)).at_most(Watts(1e6)),
        /// A signal that is stronger than the one on which the receiver is locked by this ratio takes it over; "none": none does.
        pub relock: Option<Ratio> = None => range(Ratio(1.0), Ratio(1e9)),
        /// When it may do so.
        pub relock_during: Relock = Relock::Always
            ; used when |c| c.relock.is_some(), else "`radio.sinr.relock` is \"none\"",
        /// Signals whose mean is weaker than the noise by more than this are not there: a ratio of power to noise.
        pub floor: Ratio = Ratio(0.1) => range(Ratio(1e-6), Ratio(1e3)),
        /// Fading.
        pub fading: Fading = Fading::None,
        /// Model of the error rates of OFDM.
        pub ofdm: Ofdm = Ofdm::Nist,
    }
}

/// Boltzmann's constant [J/K], exact.
const BOLTZMANN: f64 = 1.380_649e-23;
/// Temperature to which noise figures belong [K].
const TEMPERATURE: f64 = 290.0;
/// A long data frame [bit], and which share of them arrives where radios are called neighbours.
const LONG: f64 = 8.0 * 1536.0;
const ARRIVES: f64 = 0.9;
/// Header of the PLCP, which is checked [bit]: the preamble before it is not.
const HEADER: f64 = 48.0;

/// Power of the noise at a receiver \[W\].
pub fn noise(cfg: &Config) -> f64 {
    BOLTZMANN * TEMPERATURE * cfg.bandwidth.0 * cfg.noise_figure.0
}

/// The weakest signal that is looked at \[W\].
pub fn floor(cfg: &Config) -> f64 {
    noise(cfg) * cfg.floor.0
}

/// The weakest signal at which nine of ten long frames at a rate arrive when nothing disturbs them \[W\].
pub fn weakest(cfg: &Config, rate: BitRate) -> f64 {
    let least = Curve::new(rate, cfg.ofdm).least(LONG, ARRIVES);
    noise(cfg) * least.max(cfg.preamble_detection.0)
}

/// The ratio of signal to noise at which at most this share of bits is lost.
pub fn least(cfg: &Config, rate: BitRate, errors: f64) -> f64 {
    Curve::new(rate, cfg.ofdm).least(1.0, 1.0 - errors)
}

/// What a receiver hears beside the signal on which it is locked.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Air {
    signals: Signals,
    /// Up to when the locked frame has been looked at.
    since: Time,
    /// Its preamble and header.
    begins: Time,
    data_from: Time,
    mode: u8,
    /// Logarithm of the probability that all of it has survived.
    ln_success: f64,
    power: f64,
    /// The strongest signal that has disturbed a frame for this radio, and what it is to it.
    worst: f64,
    harm: Option<Harm>,
}

/// Preamble and header of a frame, or what follows: `bits` in so many nanoseconds.
#[derive(Clone, Debug)]
struct Part {
    curve: Curve,
    bits: f64,
    in_ns: f64,
}

/// A rate: its PLCP and what follows it.
#[derive(Clone, Debug)]
struct Coding {
    parts: [Part; 2],
    plcp: Span,
}

/// Reception at all receivers of a channel.
#[derive(Clone, Debug)]
pub(super) struct Sinr {
    cfg: Config,
    noise: f64,
    codings: Vec<Coding>,
    airs: Vec<Air>,
    /// For each receiver a stream of numbers. It is seldom needed, and not among what is.
    rngs: Vec<Stream>,
    /// Those that were locked on the frame whose end is being told.
    locked: Vec<Listener>,
    faded: Faded,
    /// Receivers at which the medium stays busy after the frame whose end is being told.
    pub(super) busy_on: Vec<(RadioId, Remains)>,
}

/// How many signals a receiver has room for before it needs more.
const SIGNALS: usize = 16;

impl Sinr {
    /// `None` where signals do not add up.
    pub(super) fn new(radios: &Radios) -> Option<Box<Sinr>> {
        let common = radios.profiles.first().filter(|p| p.reception == Reception::Sinr)?;
        let cfg = common.sinr.clone();
        let coding = |(&rate, &plcp): (&BitRate, &Span)| {
            // Those of OFDM frames are short.
            let slowest = BitRate::mbps(if plcp > Span::us(30) { 1 } else { 6 });
            let header = Part { curve: Curve::new(slowest, cfg.ofdm), bits: HEADER, in_ns: plcp.0 as f64 };
            let data = Part { curve: Curve::new(rate, cfg.ofdm), bits: rate.0 as f64 / 1e9, in_ns: 1.0 };
            Coding { parts: [header, data], plcp }
        };
        let air = |_| Air {
            signals: Signals::with_capacity(SIGNALS),
            since: Time::ZERO,
            begins: Time::ZERO,
            data_from: Time::ZERO,
            mode: 0,
            ln_success: 0.0,
            power: 0.0,
            worst: 0.0,
            harm: None,
        };
        let mut sinr = Sinr {
            noise: noise(&cfg),
            codings: radios.rates.iter().zip(&radios.plcp).map(coding).collect(),
            airs: (0..radios.sites.len()).map(air).collect(),
            rngs: Vec::new(),
            locked: Vec::new(),
            faded: Faded::new(),
            busy_on: Vec::with_capacity(64),
            cfg,
        };
        sinr.reseed(0);
        Some(Box::new(sinr))
    }

    /// Random numbers of a run.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.rngs.clear();
        self.rngs.extend((0..self.airs.len() as u64).map(|i| Stream::new(seed, Purpose::Reception, i)));
    }

    /// The ratio of signal to noise of the frame that was received last.
    pub(super) fn signal_to_noise(&self, radio: RadioId) -> f64 {
        self.airs[radio.index()].power / self.noise
    }

    /// Tells if a radio that is free senses a signal of this power.
    pub(super) fn senses(&self, power: f64) -> bool {
        power >= self.cfg.energy_detection.0.min(self.cfg.preamble_detection.0 * self.noise)
    }

    /// A frame for this radio is disturbed more than before.
    pub(super) fn note_disturbance(&mut self, radio: u32, harm: Harm) {
        self.airs[radio as usize].harm = Some(harm);
    }

    /// Whether the power of a signal differs from frame to frame.
    pub(super) fn fades(&self) -> bool {
        self.cfg.fading == Fading::Rayleigh
    }

    /// Draws the powers of a signal at those who hear it.
    pub(super) fn fade(&mut self, listeners: &[Listener]) {
        self.faded.draw(listeners, &mut self.rngs);
    }

    /// What was drawn for one of them.
    pub(super) fn faded(&self, listener: usize) -> f64 {
        self.faded.powers[listener]
    }

    /// A signal with this power arrives at a receiver. Returns whether the medium turns busy.
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
        let Sinr { cfg, noise, codings, airs, .. } = self;
        let air = &mut airs[radio.index()];
        let locked = r.lock != Lock::Free;
        if r.lock == Lock::Clean {
            air.account(from, *noise, codings);
        }
        // Of its own the sender has none there, but where it was moved while it sent.
        air.signals.go_to(from);
        let others = air.signals.all;
        air.signals.push(sender, from, until, power);
        let detected = power >= cfg.preamble_detection.0 * (*noise + others) && r.transmits_until <= from;
        let undone = r.lock == Lock::Clean
            && from < air.begins + cfg.detection_time
            && air.power < cfg.preamble_detection.0 * (*noise + others - air.power + power);
        let takes = match r.lock {
            _ if !detected => false,
            Lock::Free | Lock::Energy => true,
            // Nearer, though it began to send later: it was there first.
            Lock::Clean if undone || from < air.begins => true,
            _ => {
                let in_time = cfg.relock_during == Relock::Always || from < air.data_from;
                cfg.relock.is_some_and(|margin| power >= margin.0 * air.power) && in_time
            }
        };
        if takes {
            r.counters.captures += u64::from(locked && r.lock == Lock::Clean);
            if locked && aims.is_for(r.sender, radio.0) {
                aims.meet(r.sender, sender, radio.0, Clash::Captures);
            }
            air.lock(from, power, mode, &codings[usize::from(mode)]);
            (r.lock, r.from, r.until, r.sender, r.visited) = (Lock::Clean, from, until, sender, true);
            if mine && let Some((other, power)) = air.signals.strongest_other(from) {
                air.worst = power;
                aims.meet(sender, other, radio.0, Clash::Disturbs);
            }
            air.signals.lock_on_last(others);
            return true;
        }
        if undone {
            // The medium stays busy up to its end.
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
        // Not a frame to this receiver, but perhaps too loud to send.
        if others + power < cfg.energy_detection.0 {
            return false;
        }
        // If it is loud already, only for longer.
        let after = select_unpredictable(locked, r.until, from);
        if locked && air.signals.is_weaker_after(after, cfg.energy_detection.0) {
            return false;
        }
        let Some(loud) = air.signals.loud_until(from, after, cfg.energy_detection.0) else { return false };
        let turns = !locked;
        if turns {
            r.from = from;
        }
        (r.lock, r.until, r.sender, r.visited) = (Lock::Energy, loud.until, loud.sender, true);
        turns
    }

    /// A sender is switched off: what is left of its signal at a receiver ends at this instant.
    pub(super) fn cut(&mut self, radio: RadioId, sender: u32, at: Time) {
        self.airs[radio.index()].signals.cut(sender, at);
    }

    /// The locked frame of a receiver has ended: decides whether it was lost. The medium may stay busy.
    pub(super) fn conclude(&mut self, radio: RadioId, r: &mut Receiver, aims: &mut Aims<'_>) -> Option<Remains> {
        let Sinr { cfg, noise, codings, airs, rngs, .. } = self;
        let air = &mut airs[radio.index()];
        let end = r.until;
        if r.lock == Lock::Clean {
            air.account(end, *noise, codings);
            // No number is drawn where there is no doubt.
            if air.ln_success < 0.0 && rngs[radio.index()].uniform() >= libm::exp(air.ln_success) {
                r.lock = Lock::Collided;
                if aims.is_for(r.sender, radio.0) {
                    aims.note(r.sender, air.harm.unwrap_or(Harm::Noise));
                }
            }
        }
        // It is seldom loud.
        air.signals.go_to(end);
        if air.signals.all < cfg.energy_detection.0 {
            return None;
        }
        air.signals.loud_until(end, end, cfg.energy_detection.0)
    }

    /// The same for all that are locked on a sender's frame, who are returned; where the medium stays busy is kept for
    /// [`stay_busy`](Self::stay_busy).
    #[inline(never)]
    pub(super) fn conclude_all(
        &mut self,
        sender: u32,
        listeners: &[Listener],
        receivers: &mut [Receiver],
        aims: &mut Aims<'_>,
    ) -> &[Listener] {
        self.locked.clear();
        for l in listeners {
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

    /// The ends have been told: where the medium stays busy, the receiver waits for the end of what makes it so.
    pub(super) fn stay_busy(&mut self, receivers: &mut [Receiver]) {
        for (radio, remains) in self.busy_on.drain(..) {
            wait_for(&mut receivers[radio.index()], remains);
        }
    }
}

/// A receiver waits for the end of a signal that it cannot read.
pub(super) fn wait_for(r: &mut Receiver, remains: Remains) {
    (r.lock, r.until, r.sender, r.visited) = (Lock::Energy, remains.until, remains.sender, true);
}

impl Air {
    fn lock(&mut self, from: Time, power: f64, mode: u8, coding: &Coding) {
        (self.since, self.begins, self.data_from) = (from, from, from + coding.plcp);
        (self.mode, self.power, self.ln_success) = (mode, power, 0.0);
        (self.worst, self.harm) = (0.0, None);
    }

    /// A frame for this radio is not detected; `loud`: without the others it would be.
    #[cold]
    fn miss(&self, sender: u32, radio: u32, from: Time, loud: bool, aims: &mut Aims<'_>) {
        match self.signals.strongest_other(from) {
            _ if !loud => aims.note(sender, Harm::Noise),
            Some((other, _)) => aims.meet(sender, other, radio, Clash::Destroys),
            // The radio is deaf.
            None => {}
        }
    }

    /// Takes what the locked frame has met up to an instant.
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
            self.ln_success += part.bits * time / part.in_ns * part.curve.ln_success(ratio);
            self.since = next;
        }
    }
}

#[cfg(test)]
mod tests;
