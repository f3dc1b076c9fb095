//! One station alone: retries, give-up, backoff, duplicates. Medium and other stations are scripted.

use chappe_core::packet::{Kind, PacketId, RadioId};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::rate::RateControl;
use chappe_core::wlan::{Config, Cx, Frame, FrameKind, Medium, Mode, Modes, Out, Signal, Station, Timing};
use chappe_scenario::{NoFiles, Scenario};

pub const ME: RadioId = RadioId(0);
pub const PEER: RadioId = RadioId(1);

/// A station, its rules, its medium, and its actions with their times.
pub struct Bench {
    pub station: Station,
    rules: Config,
    timing: Timing,
    medium: Medium,
    out: Vec<Out>,
    pub said: Vec<(Time, Out)>,
}

const SILENT: Medium = Medium { from: Time::ZERO, until: Time::ZERO };

impl Bench {
    pub fn new(preset: &str, wlan: &str, seed: u64) -> Bench {
        let text = format!("extends = \"{preset}\"\nrun.stop = \"1 s\"\nwlan = {{ {wlan} }}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let rules = scenario.config().wlan.clone();
        let (mode, timing) = (Mode::checked(rules.data_rate), Timing::new(&rules));
        let rng = Stream::new(seed, Purpose::RateControl, 0);
        let control = RateControl::new(&rules.rate_control, mode, &timing, |_, _| 1.0, rng);
        let backoff = Stream::new(seed, Purpose::Backoff, 0);
        let station = Station::new(ME, &rules, Modes::new(mode, vec![]), control, backoff);
        Bench { station, timing, rules, medium: SILENT, out: vec![], said: vec![] }
    }

    fn call(&mut self, now: Time, input: impl FnOnce(&mut Station, &mut Cx<'_>)) {
        let mut cx = Cx { now, medium: self.medium, timing: &self.timing, rules: &self.rules, out: &mut self.out };
        input(&mut self.station, &mut cx);
        self.said.extend(self.out.drain(..).map(|o| (now, o)));
    }

    pub fn enqueue(&mut self, now: Time, packet: u32) {
        self.call(now, |s, cx| s.enqueue(PacketId(packet), Kind::Data, PEER, 1460, cx));
    }

    /// Lets time pass without anything on the air from others.
    pub fn wait(&mut self, until: Time) {
        while self.station.deadline() < until {
            let now = self.station.deadline();
            self.call(now, |s, cx| s.on_deadline(cx));
        }
    }

    pub fn hear(&mut self, now: Time, frame: Frame) {
        self.signal(now, Signal::Frame(&frame));
    }

    pub fn signal(&mut self, now: Time, signal: Signal<'_>) {
        self.call(now, |s, cx| s.on_signal(signal, cx));
    }

    /// The medium is busy from one instant to another; the station is notified at once.
    pub fn busy(&mut self, from: Time, until: Time) {
        self.medium = Medium { from, until };
        self.station.on_busy(from, &self.timing, &self.rules);
    }

    /// All signals have ended at this instant, and no others follow.
    pub fn silence(&mut self, now: Time) {
        self.wait(now);
        self.medium = SILENT;
        self.signal(now, Signal::Energy);
    }

    /// A signal of others that is there from one instant to another.
    pub fn sense(&mut self, from: Time, until: Time, signal: Signal<'_>) {
        self.wait(from);
        self.busy(from, until);
        self.wait(until);
        self.signal(until, signal);
    }

    /// Advances until this number of frames of a kind was sent; returns the time of the last one.
    pub fn until_sent(&mut self, kind: FrameKind, frames: usize) -> Time {
        while self.sent(kind).len() < frames {
            let next = self.station.deadline();
            assert!(next < Time::NEVER, "it sends no more");
            self.wait(next + Span(1));
        }
        self.sent(kind)[frames - 1]
    }

    pub fn sent(&self, kind: FrameKind) -> Vec<Time> {
        let sent = self.said.iter().filter(|(_, o)| matches!(o, Out::Transmit(f) if f.kind == kind));
        sent.map(|s| s.0).collect()
    }
}

pub fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// Slots between unanswered attempts: the rest of each interval after `fixed`.
fn slots(attempts: &[Time], fixed: Span) -> Vec<u64> {
    let gaps = attempts.windows(2).map(|w| w[1].since(w[0]).0 - fixed.0);
    gaps.inspect(|g| assert_eq!(g % 20_000, 0, "whole slots")).map(|g| g / 20_000).collect()
}

#[test]
fn seven_rts_then_the_packet_is_given_up() {
    // ns-2: RTS timeout 670 us after its start, then DIFS and 0 to CW - 1 slots.
    let mut largest = [0; 6];
    for seed in 0..300 {
        let mut b = Bench::new("ns2-2.35", "rts_threshold = \"always\"", seed);
        b.enqueue(at(1000), 7);
        b.wait(Time::ZERO + Span::secs(1));
        let rts = b.sent(FrameKind::Rts);
        assert_eq!((rts.len(), b.sent(FrameKind::Data).len()), (7, 0));
        let (when, last) = *b.said.last().expect("it said something");
        assert_eq!((last, when), (Out::GaveUp { packet: PacketId(7) }, rts[6] + Span::us(670)));
        let k = slots(&rts, Span::us(670 + 50));
        for (largest, k) in largest.iter_mut().zip(k) {
            *largest = k.max(*largest);
        }
    }
    for (largest, cw) in largest.into_iter().zip([63, 127, 255, 511, 1023, 1023]) {
        assert!(largest < cw && largest * 100 > cw * 95, "at most {largest} of {cw} slots");
    }
}

/// A CTS to the station itself, and data of 1460 B at 54 Mbit/s: 20 + 4 ceil((16 + 8 * 1496 + 6) / 216) + 6 us.
const CTS_TO_SELF: Span = Span::us(192 + 11);
const OFDM_DATA: Span = Span::us(20 + 4 * 56 + 6);

impl Bench {
    /// The frames sent so far: time, kind, Duration field, and whether they are retransmissions.
    fn frames(&self) -> Vec<(Time, FrameKind, Span, bool)> {
        let frame = |(at, out): &(Time, Out)| match out {
            Out::Transmit(f) => Some((*at, f.kind, f.duration, f.retry)),
            _ => None,
        };
        self.said.iter().filter_map(frame).collect()
    }
}

#[test]
fn a_cts_to_self_precedes_each_attempt() {
    // At 11 Mbit/s with a long preamble; its NAV covers SIFS, the data, SIFS and an ACK of 28 + 6 us.
    let mut largest = 0;
    for seed in 0..100 {
        let mut b = Bench::new("802.11g", "protection = \"11 Mbit/s\"", seed);
        b.enqueue(at(1000), 7);
        let second = b.until_sent(FrameKind::Data, 2);
        let again = b.sent(FrameKind::Cts)[1];
        let (nav, answer) = (Span::us(10) + OFDM_DATA + Span::us(44), Span::us(44));
        let first = at(1000) + CTS_TO_SELF + Span::us(10);
        assert_eq!(
            b.frames(),
            [
                (at(1000), FrameKind::Cts, nav, false),
                (first, FrameKind::Data, answer, false),
                (again, FrameKind::Cts, nav, false),
                (again + CTS_TO_SELF + Span::us(10), FrameKind::Data, answer, true),
            ]
        );
        // No ACK begins within SIFS, a slot and 20 us; the backoff from CW 31 starts at the next boundary, DIFS and two
        // slots after the data.
        let slots = again.since(first + OFDM_DATA + Span::us(28 + 2 * 9)).0;
        assert_eq!(slots % 9000, 0, "whole slots");
        largest = largest.max(slots / 9000);
        let ack = Frame { kind: FrameKind::Ack, to: ME, from: PEER, ..Frame::NONE };
        b.hear(second + OFDM_DATA + Span::us(44), ack);
        assert_eq!(b.said.last().map(|s| s.1), Some(Out::Sent { packet: PacketId(7) }));
    }
    assert!((29..=31).contains(&largest), "at most {largest} slots");
}

#[test]
fn a_cts_to_self_replaces_the_rts_of_cara() {
    let mut b = Bench::new("802.11g", "protection = \"11 Mbit/s\", rate_control.algorithm = \"cara\"", 1);
    b.enqueue(at(1000), 7);
    b.until_sent(FrameKind::Data, 2);
    assert_eq!((b.sent(FrameKind::Cts).len(), b.sent(FrameKind::Rts).len()), (2, 0));
}

#[test]
fn after_a_cts_to_self_data_may_need_an_idle_medium() {
    // Another signal begins during the CTS, and lasts beyond SIFS.
    for (needs_idle, cw, data) in [(false, 15, 1), (true, 31, 0)] {
        let wlan = format!("protection = \"11 Mbit/s\", data_needs_idle = {needs_idle}");
        let mut b = Bench::new("802.11g", &wlan, 1);
        b.enqueue(at(1000), 7);
        b.until_sent(FrameKind::Cts, 1);
        b.busy(at(1100), at(1300));
        b.wait(at(1250));
        assert_eq!(b.sent(FrameKind::Data).len(), data);
        assert_eq!(b.station.seen(at(1250), &b.timing, &b.rules).cw, cw);
        if needs_idle {
            b.silence(at(1300));
            assert!(b.until_sent(FrameKind::Cts, 2) >= at(1300 + 28), "a CTS comes before the next attempt, too");
            b.until_sent(FrameKind::Data, 1);
        }
    }
}

#[test]
fn four_data_frames_then_the_packet_is_given_up() {
    // Every RTS is answered, no data frame is. 1460 + 34 B at 2 Mbit/s: 6168 us, timeout 318 us later.
    let mut b = Bench::new("ns2-2.35", "rts_threshold = \"always\"", 1);
    b.enqueue(at(0), 7);
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, duration: Span::us(6492), ..Frame::NONE };
    for attempt in 1..=4 {
        let rts = b.until_sent(FrameKind::Rts, attempt);
        b.hear(rts + Span::us(352 + 10 + 304), cts);
        b.until_sent(FrameKind::Data, attempt);
    }
    b.wait(Time::ZERO + Span::secs(1));
    let data = b.sent(FrameKind::Data);
    assert_eq!(data.len(), 4);
    let (when, last) = *b.said.last().expect("it said something");
    assert_eq!((last, when), (Out::GaveUp { packet: PacketId(7) }, data[3] + Span::us(6168 + 318)));
    // The frames after the first carry the Retry bit.
    let retry = |o: &Out| match o {
        Out::Transmit(f) if f.kind == FrameKind::Data => Some(f.retry),
        _ => None,
    };
    assert_eq!(b.said.iter().filter_map(|s| retry(&s.1)).collect::<Vec<_>>(), [false, true, true, true]);
}

#[test]
fn an_idle_medium_is_used_at_once_or_after_a_back_off() {
    // IEEE 802.11-2020, 10.3.4.2: at once when the medium has been idle for DIFS. ns-2 always draws a backoff.
    let first = |preset: &str, seed| {
        let mut b = Bench::new(preset, "rts_threshold = \"never\"", seed);
        b.enqueue(at(5000), 1);
        b.wait(at(10_000));
        b.sent(FrameKind::Data)[0].since(at(5000)).0 / 1000
    };
    assert!((0..20).all(|seed| first("standard", seed) == 0));
    let ns2: Vec<u64> = (0..200).map(|seed| first("ns2-2.35", seed)).collect();
    assert!(ns2.iter().all(|t| *t >= 50 && (t - 50) % 20 == 0 && (t - 50) / 20 <= 30));
    assert!(ns2.contains(&50) && ns2.contains(&650), "0 and 30 slots are drawn");
}

#[test]
fn forwarded_packet_follows_its_ack_with_or_without_back_off() {
    // It is queued as its reception ends: the medium is idle then, and the ACK begins SIFS later. ns-3 draws no backoff, and
    // sends DIFS after the ACK, or DIFS after a frame of others that comes before.
    let after = |rule: &str, disturbed: bool, seed| {
        let wlan = format!("rts_threshold = \"never\", first_access = \"{rule}\"");
        let mut b = Bench::new("standard", &wlan, seed);
        let end = at(5000);
        let data = Frame { kind: FrameKind::Data, to: ME, from: PEER, packet: Some(PacketId(9)), ..Frame::NONE };
        b.hear(end, data);
        b.enqueue(end, 1);
        let mut free = end + Span::us(10 + 304);
        b.wait(free + Span::us(1));
        assert_eq!(b.sent(FrameKind::Ack), [end + Span::us(10)]);
        if disturbed {
            let others = Frame { kind: FrameKind::Data, to: RadioId(5), from: RadioId(6), ..Frame::NONE };
            (free, _) =
                (free + Span::us(900), b.sense(free + Span::us(20), free + Span::us(900), Signal::Frame(&others)));
        }
        b.wait(at(20_000));
        b.sent(FrameKind::Data)[0].since(free).0 / 1000
    };
    for disturbed in [false, true] {
        assert!((0..20).all(|seed| after("idle", disturbed, seed) == 50), "{disturbed}");
        let drawn: Vec<u64> = (0..200).map(|seed| after("immediate", disturbed, seed)).collect();
        assert!(drawn.iter().all(|t| *t >= 50 && (t - 50) % 20 == 0) && drawn.iter().any(|t| *t > 50), "{disturbed}");
    }
}

#[test]
fn ack_timeout_is_prolonged_to_the_end_of_the_busy_signal() {
    // Data from 0 on: 192 + 6000 us on air, then SIFS, a slot, and 192 us of the beginning of a response. Something begins before
    // that is over, and ends later as what it is: then the frame has failed, and is sent again.
    let others = Frame { kind: FrameKind::Data, to: RadioId(5), from: RadioId(6), ..Frame::NONE };
    for signal in [Signal::Frame(&others), Signal::Error, Signal::Energy] {
        let mut b = Bench::new("standard", "rts_threshold = \"never\"", 1);
        b.enqueue(at(1000), 7);
        let first = b.until_sent(FrameKind::Data, 1);
        let end = first + Span::us(9000);
        b.sense(first + Span::us(6250), end, signal);
        assert_eq!(b.sent(FrameKind::Data), [first], "it waits as long as the medium is busy");
        b.wait(end + Span::us(2000));
        assert_eq!(b.sent(FrameKind::Data).len(), 2);
        assert_eq!(b.station.counters().data_frames_failed, 1);
    }
}

#[test]
fn a_prolonged_back_off_waits_whole_slots_more_and_freezes_like_any() {
    // Data from 5050 us on, or later by what is drawn; 6168 us on air, the ACK ends 314 us after them.
    let packet_time = Span::us(6168);
    let after_one = |seed, prolong| {
        let mut b = Bench::new("ns2-2.35", "rts_threshold = \"never\"", seed);
        b.enqueue(at(5000), 1);
        b.until_sent(FrameKind::Data, 1);
        let ack = Frame { kind: FrameKind::Ack, to: ME, from: PEER, ..Frame::NONE };
        let end = b.sent(FrameKind::Data)[0] + packet_time + Span::us(314);
        b.hear(end, ack);
        if prolong {
            b.station.prolong_backoff(packet_time, &b.timing);
        }
        b.enqueue(end, 2);
        (b, end)
    };
    for seed in 0..20 {
        let ((usual, end), (mut longer, _)) = (after_one(seed, false), after_one(seed, true));
        let access = usual.station.deadline();
        // 308.4 slots are 309.
        assert_eq!(longer.station.deadline(), access + Span::us(309 * 20));
        // A signal from others after 100 slots: the rest is left, and goes on after DIFS.
        let (busy, free) = (end + Span::us(50 + 100 * 20), end + Span::us(9000));
        assert!(longer.station.on_busy(busy, &longer.timing, &longer.rules));
        assert_eq!(longer.station.deadline(), Time::NEVER);
        longer.hear(free, Frame { kind: FrameKind::Ack, to: RadioId(5), from: RadioId(6), ..Frame::NONE });
        let slots = access.since(end + Span::us(50)).0 / 20_000;
        let rest = longer.station.deadline().since(free + Span::us(50)).0 / 20_000;
        // ns-2 loses some of the slots that end as the signal comes.
        assert!((slots + 309 - 100..=slots + 309 - 99).contains(&rest), "{rest} of {slots} + 309");
    }
    // Nothing to prolong: ns-2 draws no backoff after a packet that it gave up.
    let mut b = Bench::new("ns2-2.35", "rts_threshold = \"always\"", 1);
    b.enqueue(at(0), 1);
    b.wait(Time::ZERO + Span::secs(1));
    b.station.prolong_backoff(packet_time, &b.timing);
    assert_eq!(b.station.deadline(), Time::NEVER);
}

#[test]
fn the_standard_draws_from_0_to_cw() {
    // IEEE 802.11-2020, 10.3.3: CW inclusive. After an unanswered frame, CW is 63.
    let mut seen = vec![];
    for seed in 0..600 {
        let mut b = Bench::new("standard", "rts_threshold = \"never\"", seed);
        b.enqueue(at(0), 1);
        b.wait(at(30_000));
        let data = b.sent(FrameKind::Data);
        // Timeout: SIFS, a slot and the start of a reception after the end of the frame (10.3.2.11).
        let gap = data[1].since(data[0]);
        seen.push(gap.0);
    }
    let (least, most) = (seen.iter().min().expect("some"), seen.iter().max().expect("some"));
    assert_eq!(most - least, 63 * 20_000);
}

#[test]
fn a_duplicate_is_acknowledged_and_not_delivered() {
    for (preset, retry, delivered) in [("ns2-2.35", true, 1), ("ns2-2.35", false, 1), ("standard", true, 1)] {
        let mut b = Bench::new(preset, "rts_threshold = \"never\"", 1);
        let packet = Some(PacketId(9));
        let first = Frame { kind: FrameKind::Data, to: ME, from: PEER, seq: 4, packet, ..Frame::NONE };
        b.hear(at(1000), first);
        b.wait(at(3000));
        b.hear(at(9000), Frame { retry, ..first });
        b.wait(at(12_000));
        let handed_up = b.said.iter().filter(|s| matches!(s.1, Out::Deliver { .. })).count();
        assert_eq!((b.sent(FrameKind::Ack), handed_up), (vec![at(1010), at(9010)], delivered), "{preset}");
    }
    // The standard's receiver looks at the Retry bit: without it, the same number is a new frame (10.3.2.14).
    let mut b = Bench::new("standard", "rts_threshold = \"never\"", 1);
    let packet = Some(PacketId(9));
    let frame = Frame { kind: FrameKind::Data, to: ME, from: PEER, seq: 4, packet, ..Frame::NONE };
    b.hear(at(1000), frame);
    b.wait(at(3000));
    b.hear(at(9000), frame);
    b.wait(at(12_000));
    assert_eq!(b.said.iter().filter(|s| matches!(s.1, Out::Deliver { .. })).count(), 2);
}

#[test]
fn an_rts_is_answered_only_when_the_nav_is_over() {
    let rts = Frame { kind: FrameKind::Rts, to: ME, from: PEER, duration: Span::us(6806), ..Frame::NONE };
    let foreign =
        Frame { kind: FrameKind::Cts, to: RadioId(5), from: RadioId(6), duration: Span::us(3000), ..Frame::NONE };
    for preset in ["ns2-2.35", "standard"] {
        let mut b = Bench::new(preset, "rts_threshold = \"always\"", 1);
        b.hear(at(1000), foreign);
        b.hear(at(3900), rts);
        b.wait(at(3950));
        assert_eq!(b.sent(FrameKind::Cts), [], "{preset}: reserved until 4000 us");
        b.hear(at(4100), rts);
        b.wait(at(4150));
        assert_eq!(b.sent(FrameKind::Cts), [at(4110)], "{preset}");
        assert_eq!(b.station.counters().cts_suppressed, 1);
    }
}

#[test]
fn a_signal_that_precedes_a_slot_by_rounding_stops_no_access() {
    // Delays are rounded one by one: the way over a station between is up to 2 ns shorter than the straight one.
    let access = |early: Option<u64>| {
        let mut b = Bench::new("ns2-2.35", "rts_threshold = \"always\"", 1);
        b.enqueue(at(1000), 7);
        let access = b.station.deadline();
        if let Some(ns) = early {
            let from = Time(access.0 - ns);
            b.sense(from, from + Span::us(352), Signal::Energy);
        }
        (b.until_sent(FrameKind::Rts, 1), access)
    };
    let undisturbed = access(None);
    assert_eq!(undisturbed.0, undisturbed.1);
    assert_eq!(access(Some(2)), undisturbed);
    assert!(access(Some(3)).0 > undisturbed.0 + Span::us(352));
}
