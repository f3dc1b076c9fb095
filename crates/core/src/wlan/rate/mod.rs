//! Rate control: the rate of each attempt to send a frame.
//!
//! A station asks for a rate when it gets a frame, and reports the outcome of each attempt. State is kept per
//! neighbor. Algorithms with a *chain* plan all attempts when the frame begins, some at each of up to four rates, like
//! a card with multi-rate retry; the others choose from attempt to attempt.

mod arf;
mod cara;
mod charge;
mod fixed;
mod ideal;
mod minstrel;
mod minstrel_ht;
mod registry;
mod sample_rate;
mod tally;

pub use tally::Counts;

use super::{Mode, Timing, ppdu};
use crate::packet::{Kind, RadioId};
use crate::rng::Stream;
use crate::unit::{BitRate, Time};
use arf::Arf;
use cara::Cara;
use charge::Times;
use fixed::Fixed;
use ideal::Ideal;
use minstrel::Minstrel;
pub use minstrel_ht::expected_throughput;
use minstrel_ht::{MinstrelHt, MinstrelHtNs3};
use registry::{Cx, RateRule, algorithms};
use sample_rate::SampleRate;
use tally::Tally;

algorithms! { cx:
    settings {
        /// Algorithm of rate control.
        pub(everyday) algorithm: Algorithm = Algorithm::Fixed,
        /// Rates that the algorithm may choose, the slowest first; a rate may occur twice, and the order is that of
        /// assumed speed. Empty: all rates of the PHY.
        pub rates: Vec<BitRate> = Vec::new()
            ; used when |c| c.algorithm.chooses_rates(), else "`wlan.rate_control.algorithm` is `fixed`",
        /// Counts an unanswered RTS as an attempt of the retry chain, as in cards with multi-rate retry; otherwise RTS
        /// frames have their own limit.
        pub rts_uses_chain: bool = true
            ; used when |c| c.algorithm.has_chain(), else "`wlan.rate_control.algorithm` has no chain",
    }

    /// Always `wlan.data_rate`, or the rate of the link.
    Fixed(Fixed): Fixed = "fixed": Fixed;
    /// Automatic rate fallback (Kamerman and Monteban 1997).
    Arf(Arf): Arf = "arf": Arf::new(&cx.cfg.arf, false),
        settings arf: arf::Config = " ARF and AARF.", shared with "aarf";
    /// Adaptive automatic rate fallback (Lacage, Manshaei and Turletti 2004).
    Aarf(Arf): Arf = "aarf": Arf::new(&cx.cfg.arf, true);
    /// Collision-aware rate adaptation (Kim, Kim, Choi and Qiao 2006), which detects collisions with RTS and CTS.
    Cara(Cara): Cara = "cara": Cara::default(),
        settings cara: cara::Config = " CARA.";
    /// SampleRate (Bicket 2005) as in the madwifi driver of 2006.
    SampleRate(Box<SampleRate>): SampleRate = "sample_rate": SampleRate::new(cx.times, cx.modes.len()),
        settings sample_rate: sample_rate::Config = " SampleRate.";
    /// Minstrel (Smithies 2006), as in madwifi and Linux.
    Minstrel(Box<Minstrel>): Minstrel = "minstrel": Minstrel::new(&cx.cfg.minstrel, cx.times, cx.now, cx.rng),
        settings minstrel: minstrel::Config = " Minstrel.";
    /// Minstrel-HT as in Linux 6.18, for 802.11n and 802.11ac. It counts the MPDUs of aggregates.
    MinstrelHt(Box<MinstrelHt>): MinstrelHt = "minstrel_ht": MinstrelHt::new(cx.modes, cx.now, cx.rng);
    /// Minstrel-HT of 2012 as in ns-3.37, for 802.11n and 802.11ac: one in some twenty to seventy frames samples a random
    /// rate, as a whole aggregate.
    MinstrelHtNs3(Box<MinstrelHtNs3>): MinstrelHtNs3 = "minstrel_ht_ns3":
        MinstrelHtNs3::new(cx.modes, cx.times, cx.now, cx.rng);
    /// The fastest rate with hardly any bit errors, known without trials.
    Ideal(Ideal): Ideal = "ideal": Ideal::default(),
        settings ideal: ideal::Config = " Ideal rate control.";
}

impl Config {
    /// Rates to choose from: those that are named, or else those of the PHY of `like`.
    pub fn modes(&self, like: Mode, ppdu: &ppdu::Config) -> Vec<Mode> {
        match self.rates.is_empty() {
            true if self.algorithm.over_aggregates() => like.families().filter(|&mode| ppdu.has_mode(mode)).collect(),
            true => like.family().filter(|&mode| ppdu.has_mode(mode)).collect(),
            false => self.rates.iter().map(|&rate| Mode::checked(rate)).collect(),
        }
    }
}

/// Limit on the number of rates to choose from; no PHY has as many.
pub const MOST_RATES: usize = 32;
/// Number of series in a chain.
const SERIES: usize = 4;

/// Planned attempts at up to four rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Chain {
    /// Series of attempts: index of the rate, and number of attempts.
    series: [(u8, u8); SERIES],
    /// The first series is a single attempt that samples its rate: the frame has no more than one MPDU.
    probe: bool,
}

impl Chain {
    /// No chain: a rate, at which the first attempt is made.
    fn at(rate: u8) -> Chain {
        Chain { series: [(rate, 0), (0, 0), (0, 0), (0, 0)], probe: false }
    }
}

/// Attempts of a chain that were used.
type Used = [(u8, u8); SERIES];

/// A neighbor: the estimates for it, and the frames sent to it.
#[derive(Clone, Debug)]
struct Neighbor {
    radio: RadioId,
    state: State,
    tally: Tally,
    /// Index of the rate at which its last frame began.
    rate: u8,
    /// The last aggregate, whose chain goes on because no answer has come.
    unanswered: Option<Frame>,
}

/// Continuation after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Retry limits decide if another attempt follows, at this rate.
    Mode(Mode),
    /// Another attempt follows, at this rate.
    Chain(Mode),
    /// No attempt follows.
    End,
}

/// Attempts at the frame being sent.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Index of the neighbor.
    neighbor: usize,
    kind: Kind,
    bytes: u32,
    /// Index of the rate of the last or current attempt.
    rate: u8,
    /// Index of the rate of the next attempt.
    next_rate: u8,
    chain: Chain,
    used: Used,
    at: usize,
    /// MPDUs of an aggregate, and those of them that were acknowledged.
    mpdus: u32,
    acked: u32,
}

/// The rate control of a station.
#[derive(Clone, Debug)]
pub struct RateControl {
    cfg: Config,
    modes: Vec<Mode>,
    times: Times,
    /// The ratio of signal to noise that ideal rate control asks for at each rate.
    least: Vec<f64>,
    neighbors: Vec<Neighbor>,
    frame: Frame,
    rng: Stream,
}

impl RateControl {
    /// Rate control of a station; `None` for a fixed rate. The rates are those of the PHY of `like`, unless some are
    /// named. `least`: signal-to-noise ratio at which a rate has at most this bit error rate.
    pub fn new(
        cfg: &Config,
        like: Mode,
        timing: &Timing,
        least: impl Fn(BitRate, f64) -> f64,
        rng: Stream,
    ) -> Option<Box<RateControl>> {
        let modes = cfg.modes(like, &timing.ppdu);
        let control = || {
            let least = |errors: f64| modes.iter().map(|m| least(m.coding(), errors)).collect();
            Box::new(RateControl {
                cfg: cfg.clone(),
                times: Times::new(&modes, timing),
                least: cfg.bit_errors().map_or_else(Vec::new, least),
                modes,
                neighbors: Vec::with_capacity(8),
                frame: Frame::new(0, Kind::Data, 0),
                rng,
            })
        };
        cfg.algorithm.chooses_rates().then(control)
    }

    /// The slowest of the rates to choose from.
    pub fn slowest(&self) -> Mode {
        *self.modes.iter().min_by_key(|mode| mode.rate()).expect("there are rates to choose from")
    }

    /// The rate at which the last frame to a neighbor began.
    pub fn last_to(&self, to: RadioId) -> Option<Mode> {
        self.neighbors.iter().find(|n| n.radio == to).map(|n| self.modes[usize::from(n.rate)])
    }

    /// The frame that is being sent, the estimates for its neighbor, and the rates that the algorithm may use.
    fn parts(&mut self, now: Time) -> (&mut Frame, &mut State, Cx<'_>) {
        let RateControl { cfg, modes, times, neighbors, frame, rng, .. } = self;
        let state = &mut neighbors[frame.neighbor].state;
        (frame, state, Cx { cfg, modes, times, rng, now })
    }

    /// Begins a frame to a neighbor and returns the rate of its first attempt.
    pub fn begin(&mut self, to: RadioId, kind: Kind, bytes: u32, now: Time) -> Mode {
        let known = self.neighbors.iter().position(|n| n.radio == to);
        let neighbor = known.unwrap_or_else(|| {
            let mut cx = Cx { cfg: &self.cfg, modes: &self.modes, times: &self.times, rng: &mut self.rng, now };
            let state = State::new(&mut cx);
            let tally = Tally::new(self.modes.len());
            self.neighbors.push(Neighbor { radio: to, state, tally, rate: 0, unanswered: None });
            self.neighbors.len() - 1
        });
        let first = match self.neighbors[neighbor].unanswered {
            Some(frame) => {
                self.frame = Frame { kind, bytes, ..frame };
                frame.next_rate
            }
            None => {
                self.frame = Frame::new(neighbor, kind, bytes);
                let (frame, state, mut cx) = self.parts(now);
                frame.chain = state.plan(frame, &mut cx);
                frame.chain.series[0].0
            }
        };
        (self.frame.rate, self.frame.next_rate) = (first, first);
        self.neighbors[neighbor].rate = first;
        self.counts().packets += 1;
        self.modes[usize::from(first)]
    }

    /// The frame goes on the air.
    pub fn sent(&mut self) {
        self.frame.rate = self.frame.next_rate;
        self.counts().data_frames_sent += 1;
    }

    /// An attempt has failed without an ACK.
    pub fn failed(&mut self, now: Time) -> Next {
        self.counts().data_frames_failed += 1;
        self.after_failure(now)
    }

    /// An RTS was not answered.
    pub fn rts_frames_failed(&mut self, now: Time) -> Option<Next> {
        self.frame.rate = self.frame.next_rate;
        self.counts().rts_frames_failed += 1;
        let chained = self.cfg.algorithm.has_chain() && self.cfg.rts_uses_chain;
        chained.then(|| self.after_failure(now))
    }

    /// The next attempt is to be preceded by RTS and CTS, whatever the size of the frame.
    pub fn asks_for_rts(&self) -> bool {
        self.neighbors[self.frame.neighbor].state.asks_for_rts()
    }

    /// Largest number of MPDUs in the aggregate, and largest A-MSDU \[B\].
    pub fn limits(&self) -> (usize, u32) {
        let most = if self.frame.chain.probe { 1 } else { usize::MAX };
        (most, self.neighbors[self.frame.neighbor].state.amsdu_size())
    }

    /// The frame is an aggregate of this number of MPDUs.
    pub fn fills(&mut self, mpdus: usize) {
        self.frame.mpdus = mpdus as u32;
    }

    /// The next attempt is at a later rate of a chain of aggregates, and is to be preceded by RTS and CTS.
    pub fn falls_back(&self) -> bool {
        self.frame.at > 0 && self.cfg.algorithm.sends_rts_when_slower()
    }

    /// Reports the number of acknowledged MPDUs. If rates are not chosen by MPDUs, the rate was right if half of the
    /// aggregate has arrived.
    pub fn answered(&mut self, acked: usize, now: Time) {
        self.frame.acked = acked as u32;
        let arrived = 2 * self.frame.acked >= self.frame.mpdus;
        if !self.cfg.algorithm.over_aggregates() {
            return if arrived { self.succeeded(now) } else { _ = self.failed(now) };
        }
        self.neighbors[self.frame.neighbor].unanswered = None;
        if arrived {
            return self.succeeded(now);
        }
        self.counts().data_frames_failed += 1;
        let (frame, state, cx) = self.parts(now);
        state.on_success(frame, &cx);
    }

    /// A block acknowledgement that was requested lists this number of the MPDUs of the last aggregate, which was not
    /// answered.
    pub fn listed(&mut self, to: RadioId, acked: usize, now: Time) {
        let known = self.neighbors.iter_mut().find(|n| n.radio == to && acked > 0);
        if let Some(frame) = known.and_then(|n| n.unanswered.take()) {
            self.frame = Frame { acked: acked as u32, ..frame };
            self.report(true, now);
        }
    }

    /// The packet was given up.
    pub fn gave_up(&mut self) {
        self.counts().packets_given_up += 1;
    }

    /// A frame has arrived at a neighbor with this signal-to-noise ratio.
    pub fn arrived(&mut self, to: RadioId, ratio: f64) {
        let known = self.neighbors.iter_mut().find(|n| n.radio == to);
        if let Some(n) = known {
            n.state.arrived(ratio, &self.least);
        }
    }

    fn after_failure(&mut self, now: Time) -> Next {
        let (frame, state, cx) = self.parts(now);
        state.on_failure(frame, &cx);
        let next_rate = frame.next_rate;
        if !self.cfg.algorithm.has_chain() {
            return Next::Mode(self.modes[usize::from(next_rate)]);
        }
        let next = self.frame.next();
        self.frame.next_rate = next.unwrap_or(next_rate);
        if self.cfg.algorithm.over_aggregates() {
            self.neighbors[self.frame.neighbor].unanswered = next.map(|_| self.frame);
        }
        match next {
            Some(rate) => Next::Chain(self.modes[usize::from(rate)]),
            None => {
                self.report(false, now);
                Next::End
            }
        }
    }

    /// The frame was acknowledged.
    pub fn succeeded(&mut self, now: Time) {
        self.counts().packets_acked += 1;
        let (frame, state, cx) = self.parts(now);
        state.on_success(frame, &cx);
    }

    fn report(&mut self, success: bool, now: Time) {
        let (frame, state, cx) = self.parts(now);
        state.report(frame, success, &cx);
    }

    /// Counts of the last attempt's neighbor, rate and kind.
    fn counts(&mut self) -> &mut Counts {
        let rate = self.known_as(usize::from(self.frame.rate));
        self.neighbors[self.frame.neighbor].tally.at(rate, self.frame.kind)
    }

    /// Index at which a rate occurs first.
    fn known_as(&self, rate: usize) -> usize {
        self.modes.iter().position(|&mode| mode == self.modes[rate]).unwrap_or(rate)
    }

    /// Frames and packets sent to each neighbor, by rate and kind of packet.
    pub fn tallies(&self) -> impl Iterator<Item = (RadioId, Mode, Kind, Counts)> + '_ {
        self.neighbors.iter().flat_map(move |n| {
            let own = n.tally.all().filter(|&(rate, ..)| self.known_as(rate) == rate);
            own.map(move |(rate, kind, counts)| (n.radio, self.modes[rate], kind, *counts))
        })
    }
}

impl Frame {
    fn new(neighbor: usize, kind: Kind, bytes: u32) -> Frame {
        Frame {
            neighbor,
            kind,
            bytes,
            rate: 0,
            next_rate: 0,
            chain: Chain::default(),
            used: Used::default(),
            at: 0,
            mpdus: 1,
            acked: 0,
        }
    }

    /// Counts an attempt.
    fn count(&mut self) {
        let (rate, _) = self.chain.series[self.at];
        self.used[self.at] = (rate, self.used[self.at].1.saturating_add(1));
    }

    /// Rate of the next attempt, if any.
    fn next(&mut self) -> Option<u8> {
        while self.at < SERIES && self.used[self.at].1 >= self.chain.series[self.at].1 {
            self.at += 1;
        }
        (self.at < SERIES).then(|| self.chain.series[self.at].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::unit::Span;
    use crate::wlan;

    /// Rate control over 802.11b.
    pub(super) fn control(cfg: Config) -> RateControl {
        let timing = Timing::new(&wlan::Config::default());
        *RateControl::new(&cfg, Mode(0), &timing, |_, _| 0.0, Stream::new(1, Purpose::RateControl, 0))
            .expect("not fixed")
    }

    /// Rates of the attempts at one frame; `lost` selects the attempts that fail.
    pub(super) fn send(c: &mut RateControl, at: Time, lost: impl Fn(u8, usize) -> bool) -> Vec<u8> {
        let mut mode = c.begin(RadioId(7), Kind::Data, 1536, at);
        let mut all = vec![];
        loop {
            all.push(mode.0);
            c.sent();
            if !lost(mode.0, all.len() - 1) {
                c.succeeded(at + Span::ms(2));
                return all;
            }
            match c.failed(at + Span::ms(2)) {
                Next::Chain(next) => mode = next,
                Next::Mode(next) if all.len() < 7 => mode = next,
                Next::Mode(_) | Next::End => {
                    c.gave_up();
                    return all;
                }
            }
        }
    }

    #[test]
    fn a_dead_neighbor_gets_the_attempts_of_the_chain() {
        let mut c = control(Config { algorithm: Algorithm::SampleRate, ..Config::default() });
        // Without any ACK the best rate so far is the slowest.
        assert_eq!(send(&mut c, Time::ZERO, |_, _| true), [3, 3, 0, 0, 0, 0, 0, 0]);
        let mut c = control(Config { algorithm: Algorithm::SampleRate, ..Config::default() });
        send(&mut c, Time::ZERO, |_, _| false);
        assert_eq!(send(&mut c, Time(1), |_, _| true), [3, 3, 3, 3, 3, 0, 0, 0]);
    }

    #[test]
    fn a_packet_counts_at_its_first_rate_and_is_given_up_at_its_last() {
        let mut c = control(Config { algorithm: Algorithm::Arf, ..Config::default() });
        for i in 0..25 {
            send(&mut c, Time(i), |_, _| false);
        }
        assert_eq!(send(&mut c, Time(30), |_, _| true), [2, 2, 1, 1, 0, 0, 0]);
        // Data frames sent and lost, packets begun and given up, of data at each rate.
        let of = |c: &Counts| (c.data_frames_sent, c.data_frames_failed, c.packets, c.packets_given_up);
        let found: Vec<_> = c.tallies().filter(|t| t.2 == Kind::Data).map(|t| (t.1.0, of(&t.3))).collect();
        assert_eq!(found, [(0, (13, 3, 10, 1)), (1, (12, 2, 10, 0)), (2, (7, 2, 6, 0)), (3, (0, 0, 0, 0))]);
    }

    #[test]
    fn failed_rts_uses_up_an_attempt_where_configured() {
        let mut c = control(Config { algorithm: Algorithm::SampleRate, ..Config::default() });
        c.begin(RadioId(7), Kind::Data, 1536, Time::ZERO);
        assert_eq!(c.rts_frames_failed(Time(1)), Some(Next::Chain(Mode(3))));
        assert_eq!(c.rts_frames_failed(Time(1)), Some(Next::Chain(Mode(0))));
        let own = Config { algorithm: Algorithm::SampleRate, rts_uses_chain: false, ..Config::default() };
        let mut c = control(own);
        c.begin(RadioId(7), Kind::Data, 1536, Time::ZERO);
        assert_eq!(c.rts_frames_failed(Time(1)), None);
        let mut c = control(Config { algorithm: Algorithm::Arf, ..Config::default() });
        c.begin(RadioId(7), Kind::Data, 1536, Time::ZERO);
        assert_eq!(c.rts_frames_failed(Time(1)), None, "it has no chain");
    }
}
