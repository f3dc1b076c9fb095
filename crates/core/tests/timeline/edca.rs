//! A QoS station alone. Medium and other stations are scripted; all times in microseconds.

use chappe_core::packet::{Kind, PacketId, RadioId};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::edca::mac80211::Queues;
use chappe_core::wlan::edca::{AccessCategory, Heard, Mpdu, Psdu, QosStation, Secondary};
use chappe_core::wlan::rate::RateControl;
use chappe_core::wlan::{Config, Cx, Frame, FrameKind, Medium, Modes, Out, Signal, Timing};
use chappe_scenario::{NoFiles, Scenario};

const ME: RadioId = RadioId(0);
const PEER: RadioId = RadioId(1);
/// TIDs of the categories.
const BE: u8 = 0;
const VI: u8 = 5;
const VO: u8 = 6;
/// A packet of 1500 B, in an MPDU of 1538 B.
const BYTES: u32 = 1500;

/// A station, its rules, its medium, and its actions with their times.
struct Bench {
    station: QosStation,
    rules: Config,
    timing: Timing,
    medium: Medium,
    out: Vec<Out>,
    said: Vec<(u64, Out)>,
    next: u32,
}

/// A frame on the air: begin, kind, end, Duration field, and the sequence numbers that it carries.
type Sent = (u64, FrameKind, u64, u64, Vec<u16>);

impl Bench {
    fn new(wlan: &str, seed: u64) -> Bench {
        let agreement = if wlan.contains("agreement") { "" } else { "block_ack.agreement = \"established\", " };
        let width = if wlan.contains("40 MHz") { "40 MHz" } else { "20 MHz" };
        let text = format!(
            "extends = \"802.11n\"\nrun.stop = \"1 s\"\ntopology.spacing = \"20 m\"\nradio.sinr.bandwidth = \"{width}\"\n\
             wlan = {{ {agreement}{wlan} }}"
        );
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let rules = scenario.config().wlan.clone();
        let modes = Modes::new(rules.data_mode(), vec![]);
        let station = QosStation::new(ME, &rules, modes, None, Stream::new(seed, Purpose::Backoff, 0));
        let medium = Medium { from: Time::ZERO, until: Time::ZERO };
        let timing = Timing::new(&rules);
        Bench { station, timing, rules, medium, out: vec![], said: vec![], next: 0 }
    }

    fn call(&mut self, us: u64, input: impl FnOnce(&mut QosStation, &mut Cx<'_>)) {
        let now = Time(us * 1000);
        let mut cx = Cx { now, medium: self.medium, timing: &self.timing, rules: &self.rules, out: &mut self.out };
        input(&mut self.station, &mut cx);
        self.said.extend(self.out.drain(..).map(|o| (us, o)));
    }

    /// Hands over a number of packets.
    fn enqueue(&mut self, us: u64, tid: u8, packets: u32) {
        for _ in 0..packets {
            let packet = PacketId(self.next);
            self.next += 1;
            self.call(us, |s, cx| s.enqueue(packet, Kind::Data, PEER, tid, BYTES, cx));
        }
    }

    /// Lets time pass without anything on the air from others; returns the frames sent.
    fn wait(&mut self, until: u64) -> Vec<Sent> {
        let mut sent = vec![];
        while self.station.deadline() < Time(until * 1000) {
            let now = self.station.deadline();
            assert_eq!(now.0 % 1000, 0, "{now} is between two microseconds");
            let before = self.said.len();
            self.call(now.0 / 1000, |s, cx| s.on_deadline(cx));
            for (us, out) in &self.said[before..] {
                if let Out::Transmit(f) = out {
                    let seqs = match f.kind {
                        FrameKind::Data => self.station.psdu.mpdus.iter().map(|m| m.seq).collect(),
                        FrameKind::BlockAckReq | FrameKind::BlockAck => vec![self.station.psdu.start],
                        _ => vec![],
                    };
                    sent.push((*us, f.kind, us + f.airtime.0 / 1000, f.duration.0 / 1000, seqs));
                }
            }
        }
        sent
    }

    /// Advances to the next frame that the station sends.
    fn next_frame(&mut self) -> Sent {
        loop {
            let next = self.station.deadline();
            assert!(next < Time::NEVER, "it sends no more");
            if let Some(sent) = self.wait(next.0 / 1000 + 1).pop() {
                return sent;
            }
        }
    }

    /// A frame of the peer, with these contents; the medium is busy while it lasts.
    fn hear(&mut self, from: u64, until: u64, frame: &Frame, psdu: &Psdu, arrived: &[bool]) {
        self.busy(from, until);
        let heard = Heard { psdu, arrived };
        self.call(until, |s, cx| s.on_signal(Signal::Frame(frame), heard, cx));
    }

    fn busy(&mut self, from: u64, until: u64) {
        self.medium = Medium { from: Time(from * 1000), until: Time(until * 1000) };
        self.station.on_busy(Time(from * 1000), None, &self.timing, &self.rules);
    }

    /// A frame between others that could not be read.
    fn noise(&mut self, from: u64, until: u64) {
        self.busy(from, until);
        let psdu = Psdu::default();
        self.call(until, |s, cx| s.on_signal(Signal::Energy, Heard { psdu: &psdu, arrived: &[] }, cx));
    }

    /// An ACK SIFS after a frame that ended at this time; returns its own end.
    fn ack(&mut self, end: u64) -> u64 {
        let frame = Frame { kind: FrameKind::Ack, to: ME, from: PEER, ..Frame::NONE };
        self.hear(end + 16, end + 44, &frame, &Psdu::default(), &[]);
        end + 44
    }

    /// A block acknowledgement SIFS after a frame that ended at this time; returns its own end.
    fn block_ack(&mut self, end: u64, tid: u8, start: u16, bitmap: u64) -> u64 {
        let frame = Frame { kind: FrameKind::BlockAck, to: ME, from: PEER, ..Frame::NONE };
        self.hear(end + 16, end + 48, &frame, &Psdu { tid, start, bitmap, ..Psdu::default() }, &[]);
        end + 48
    }

    fn count(&self, wanted: fn(&Out) -> bool) -> usize {
        self.said.iter().filter(|s| wanted(&s.1)).count()
    }
}

fn is_sent(out: &Out) -> bool {
    matches!(out, Out::Sent { .. })
}

fn is_given_up(out: &Out) -> bool {
    matches!(out, Out::GaveUp { .. })
}

#[test]
fn station_waits_for_a_frame_of_the_same_instant() {
    // Both go at the boundary 1006, where neither senses the other; without a rule they would do so forever.
    for (came, waits) in [(Some(1_000_000), true), (Some(1_000_500), false), (None, false)] {
        let mut b = Bench::new("", 1);
        b.enqueue(1000, BE, 1);
        b.medium = Medium { from: Time(1_006_010), until: Time(1_300_000) };
        b.station.on_busy(Time(1_006_010), came.map(Time), &b.timing, &b.rules);
        assert_eq!(b.station.deadline() == Time::NEVER, waits, "{came:?}");
        if waits {
            let psdu = Psdu::default();
            b.call(1300, |s, cx| s.on_signal(Signal::Energy, Heard { psdu: &psdu, arrived: &[] }, cx));
            let (next, ..) = b.next_frame();
            assert!(slots(next - 1300 - 43) <= 15, "it draws a backoff");
        }
    }
}

/// Number of slots of 9 us in a time, which must be whole.
fn slots(us: u64) -> u64 {
    assert_eq!(us % 9, 0, "{us} us are no whole slots");
    us / 9
}

#[test]
fn a_single_frame_as_in_timeline_1() {
    for seed in 0..20 {
        let mut b = Bench::new("aggregation.max_mpdus = 1", seed);
        b.enqueue(1000, BE, 2);
        // Boundaries are 43 + 9 k from the start: 1006.
        assert_eq!(b.next_frame(), (1006, FrameKind::Data, 1234, 44, vec![0]));
        let end = b.ack(1234);
        let (next, ..) = b.next_frame();
        assert!(slots(next - end - 43) <= 15);
    }
}

#[test]
fn an_aggregate_of_eight_as_in_timeline_2() {
    let mut b = Bench::new("aggregation.max_mpdus = 8", 1);
    b.enqueue(43, BE, 1);
    b.enqueue(43, BE, 15);
    assert_eq!(b.next_frame().2, 43 + 1560);
    let end = b.block_ack(1603, BE, 0, 0xff);
    assert_eq!(b.count(is_sent), 8);
    let (next, _, until, duration, seqs) = b.next_frame();
    assert!(slots(next - end - 43) <= 15);
    assert_eq!((until - next, duration), (1560, 48));
    assert_eq!(seqs, (8..16).collect::<Vec<_>>());
}

#[test]
fn rts_before_an_aggregate_as_in_timeline_3() {
    let mut b = Bench::new("aggregation.max_mpdus = 2, rts_threshold = \"always\"", 1);
    b.enqueue(43, BE, 2);
    assert_eq!(b.next_frame(), (43, FrameKind::Rts, 71, 528, vec![]));
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, ..Frame::NONE };
    b.hear(71 + 16, 71 + 44, &cts, &Psdu::default(), &[]);
    assert_eq!(b.next_frame(), (131, FrameKind::Data, 551, 48, vec![0, 1]));
}

#[test]
fn time_and_bytes_limit_an_aggregate_as_in_timelines_4_and_5() {
    for (mcs, frames, airtime) in [(7, 28, 5360), (0, 2, 3840)] {
        let mut b = Bench::new(&format!("ppdu.mcs = {mcs}"), 1);
        b.enqueue(43, BE, 64);
        let (_, _, end, _, seqs) = b.next_frame();
        assert_eq!((seqs.len(), end - 43), (frames, airtime));
    }
}

#[test]
fn a_txop_goes_on_while_it_fits_as_in_timeline_7() {
    let mut b = Bench::new("aggregation.max_mpdus = 2", 1);
    b.enqueue(34, VI, 32);
    let start = 34;
    for j in 0..8 {
        let (at, kind, end, duration, _) = b.next_frame();
        assert_eq!((at, kind), (start + 484 * j, FrameKind::Data), "{j}");
        assert_eq!((end, duration), (at + 420, 3676 - 484 * j));
        b.block_ack(end, VI, 2 * j as u16, 0b11);
    }
    assert_eq!(b.next_frame(), (start + 3872, FrameKind::CfEnd, start + 3924, 0, vec![]));
    let (next, ..) = b.next_frame();
    assert!(slots(next - start - 3924 - 34) <= 7);
}

#[test]
fn frames_in_a_txop_of_best_effort_as_in_timeline_8() {
    let mut b = Bench::new("aggregation.max_mpdus = 1, edca.best_effort.txop_limit = \"2528 us\"", 1);
    b.enqueue(43, BE, 20);
    for j in 0..8 {
        let (at, kind, end, duration, _) = b.next_frame();
        assert_eq!((at, kind, duration), (43 + 288 * j, FrameKind::Data, 2300 - 288 * j));
        b.ack(end);
    }
    assert_eq!(b.next_frame().1, FrameKind::CfEnd, "a ninth would end at 2576");
}

#[test]
fn a_missed_block_ack_is_asked_for_as_in_timeline_9() {
    let mut windows = vec![];
    for seed in 0..40 {
        let mut b = Bench::new("aggregation.max_mpdus = 2", seed);
        b.enqueue(43, BE, 4);
        let (_, _, end, ..) = b.next_frame();
        let (at, kind, until, duration, start) = b.next_frame();
        assert_eq!((kind, until - at, duration, start), (FrameKind::BlockAckReq, 32, 48, vec![0]));
        windows.push(slots(at - end - 45 - 43));
        let end = b.block_ack(until, BE, 0, 0b10);
        assert_eq!(b.count(is_sent), 1, "the second MPDU had arrived");
        // The first is sent again, with the next one behind it, from the smallest window.
        let (at, _, _, _, seqs) = b.next_frame();
        assert_eq!(seqs, [0, 2]);
        assert!(b.station.psdu.mpdus[0].retry && !b.station.psdu.mpdus[1].retry);
        assert!(slots(at - end - 43) <= 15);
    }
    assert!(windows.iter().max() > Some(&25) && windows.iter().all(|&w| w <= 31), "{windows:?}");
}

#[test]
fn a_peer_that_is_gone_costs_seven_requests() {
    let mut b = Bench::new("aggregation.max_mpdus = 2", 3);
    b.enqueue(43, BE, 2);
    let sent = b.wait(1_000_000);
    let kinds: Vec<_> = sent.iter().map(|s| s.1).collect();
    assert_eq!(kinds[0], FrameKind::Data);
    assert!(kinds[1..].iter().all(|&k| k == FrameKind::BlockAckReq));
    assert_eq!(kinds.len(), 8);
    let gaps: Vec<u64> = sent.windows(2).map(|w| slots(w[1].0 - w[0].2 - 45 - 43)).collect();
    for (gap, cw) in gaps.iter().zip([31, 63, 127, 255, 511, 1023, 1023]) {
        assert!(gap <= &cw, "{gaps:?}");
    }
    assert_eq!(b.count(is_given_up), 2);
    // The next packet has the ten attempts of an MPDU, and is then given up, which seven requests report.
    b.enqueue(1_000_000, BE, 1);
    let kinds: Vec<_> = b.wait(2_000_000).iter().map(|s| (s.1, s.4[0])).collect();
    assert_eq!(kinds, [[(FrameKind::Data, 2); 10].as_slice(), &[(FrameKind::BlockAckReq, 3); 7]].concat());
    assert_eq!(b.count(is_given_up), 3);
}

/// A station whose peer has answered neither two MPDUs nor the seven requests for them.
fn after_requests_in_vain(wlan: &str) -> Bench {
    let mut b = Bench::new(wlan, 3);
    b.enqueue(43, BE, 2);
    b.wait(1_000_000);
    assert_eq!(b.count(is_given_up), 2);
    b
}

#[test]
fn data_follow_failed_requests_and_the_first_answer_renews_them() {
    // As `bar_pending` of mac80211: a request that has failed is sent again when a frame to the station is
    // acknowledged.
    let mut b = after_requests_in_vain("aggregation.max_mpdus = 2");
    b.enqueue(1_000_000, BE, 4);
    let (_, kind, end, _, seqs) = b.next_frame();
    assert_eq!((kind, &seqs[..]), (FrameKind::Data, &[2, 3][..]));
    b.block_ack(end, BE, 0, 0b1111);
    assert_eq!(b.count(is_sent), 2);
    // The recipient may wait for numbers that were given up.
    let (_, kind, end, _, start) = b.next_frame();
    assert_eq!((kind, start), (FrameKind::BlockAckReq, vec![4]));
    b.block_ack(end, BE, 4, 0);
    let (_, kind, end, _, seqs) = b.next_frame();
    assert_eq!((kind, &seqs[..]), (FrameKind::Data, &[4, 5][..]));
    b.block_ack(end, BE, 4, 0b11);
    assert_eq!((b.count(is_sent), b.wait(2_000_000)), (4, vec![]));
}

#[test]
fn an_ack_after_requests_in_vain_is_confirmed_by_a_block_ack() {
    // A recipient acknowledges an MPDU behind its window, too, and does not pass it up (10.25.6.6).
    let mut b = after_requests_in_vain("aggregation.max_mpdus = 2");
    b.enqueue(1_000_000, BE, 1);
    let (_, kind, end, _, seqs) = b.next_frame();
    assert_eq!((kind, &seqs[..]), (FrameKind::Data, &[2][..]));
    b.ack(end);
    let (_, kind, end, _, start) = b.next_frame();
    assert_eq!((kind, start, b.count(is_sent)), (FrameKind::BlockAckReq, vec![2], 0));
    b.block_ack(end, BE, 2, 0b1);
    assert_eq!((b.count(is_sent), b.wait(2_000_000)), (1, vec![]));
}

#[test]
fn requests_catch_up_with_a_window_that_was_left_behind() {
    // The peer is gone while 75 times 28 MPDUs are given up. Its window still begins with 0: 2100 and the numbers
    // behind it are older for it, and so is a request with one of them. One with 2047 is not (10.25.6.5: less than 2^11
    // ahead).
    let mut b = Bench::new("", 1);
    let mut at = 43;
    for _ in 0..75 {
        b.enqueue(at, BE, 28);
        at += 1_000_000;
        b.wait(at);
    }
    assert_eq!(b.count(is_given_up), 2100);
    b.enqueue(at, BE, 2);
    let (_, kind, end, _, seqs) = b.next_frame();
    assert_eq!((kind, &seqs[..]), (FrameKind::Data, &[2100, 2101][..]));
    b.block_ack(end, BE, 0, 0);
    for start in [2047, 2100] {
        let (_, kind, end, _, asked) = b.next_frame();
        assert_eq!((kind, asked), (FrameKind::BlockAckReq, vec![start]));
        b.block_ack(end, BE, start, 0);
    }
    let (_, kind, end, _, seqs) = b.next_frame();
    assert_eq!((kind, &seqs[..]), (FrameKind::Data, &[2100, 2101][..]));
    b.block_ack(end, BE, 2100, 0b11);
    assert_eq!((b.count(is_sent), b.count(is_given_up)), (2, 2100));
}

#[test]
fn rts_and_requests_have_the_slowest_rate_where_the_rate_is_chosen() {
    // MCS 7 for the data, 6 Mbit/s around them (10.6.6): RTS 52 us, CTS 44 us, an A-MPDU of 2 420 us, block
    // acknowledgement at 24 Mbit/s 32 us; request 56 us, and the answer to it 68 us.
    let mut b =
        Bench::new("aggregation.max_mpdus = 2, rts_threshold = \"always\", rate_control.algorithm = \"ideal\"", 1);
    let (rng, mode) = (Stream::new(1, Purpose::RateControl, 0), b.rules.data_mode());
    let control = RateControl::new(&b.rules.rate_control, mode, &b.timing, |_, _| 1.0, rng);
    let modes = Modes::new(mode, vec![]);
    b.station = QosStation::new(ME, &b.rules, modes, control, Stream::new(1, Purpose::Backoff, 0));
    b.enqueue(43, BE, 1);
    let rts = b.next_frame();
    assert_eq!((rts.1, rts.2 - rts.0), (FrameKind::Rts, 52));
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, ..Frame::NONE };
    b.hear(rts.2 + 16, rts.2 + 60, &cts, &Psdu::default(), &[]);
    let data = b.next_frame();
    assert_eq!(data.2 - data.0, 1936, "MCS 0, before a frame has arrived");
    b.call(data.2, |s, _| s.arrived(PEER, 10.0));
    b.ack(data.2);
    b.enqueue(data.2 + 44, BE, 2);
    let rts = b.next_frame();
    assert_eq!((rts.1, rts.2 - rts.0, rts.3), (FrameKind::Rts, 52, 16 + 44 + 16 + 420 + 16 + 32));
    b.hear(rts.2 + 16, rts.2 + 60, &cts, &Psdu::default(), &[]);
    let data = b.next_frame();
    assert_eq!((data.2 - data.0, data.3), (420, 48));
    let request = b.next_frame();
    assert_eq!((request.1, request.2 - request.0, request.3), (FrameKind::BlockAckReq, 56, 16 + 68));
}

#[test]
fn minstrel_ht_samples_with_one_mpdu_and_falls_back_after_rts() {
    // It begins with a sample of MCS 1, 988 us, with one MPDU though two wait. Without an answer the same MPDU follows at
    // MCS 0, 1936 us, after an RTS; then both are free for an aggregate at MCS 0.
    let mut b = Bench::new(
        "aggregation.max_mpdus = 2, block_ack.agreement = \"established\", rate_control.algorithm = \"minstrel_ht\"",
        1,
    );
    let (rng, mode) = (Stream::new(1, Purpose::RateControl, 0), b.rules.data_mode());
    let control = RateControl::new(&b.rules.rate_control, mode, &b.timing, |_, _| 1.0, rng);
    b.station = QosStation::new(ME, &b.rules, Modes::new(mode, vec![]), control, Stream::new(1, Purpose::Backoff, 0));
    b.enqueue(43, BE, 3);
    let sample = b.next_frame();
    assert_eq!((sample.1, sample.2 - sample.0, sample.4.len()), (FrameKind::Data, 988, 1));
    let rts = b.next_frame();
    assert_eq!((rts.1, rts.2 - rts.0, rts.3), (FrameKind::Rts, 52, 16 + 44 + 16 + 1936 + 16 + 44));
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, ..Frame::NONE };
    b.hear(rts.2 + 16, rts.2 + 60, &cts, &Psdu::default(), &[]);
    let again = b.next_frame();
    assert_eq!((again.1, again.2 - again.0, &again.4), (FrameKind::Data, 1936, &sample.4));
    b.ack(again.2);
    let pair = b.next_frame();
    assert_eq!((pair.1, pair.2 - pair.0, pair.4.len()), (FrameKind::Data, 3840, 2));
}

#[test]
fn a_txop_has_room_for_the_frames_that_protect_it() {
    // 2080 us at MCS 1: an A-MPDU of 2 takes 1940 us, with SIFS and its block acknowledgement 2000. RTS and CTS at 12
    // Mbit/s with two SIFS take 100 us more, a CTS at 11 Mbit/s and SIFS 219 us: a single MPDU of 988 us has room. At
    // MCS 7 ten MPDUs take 1940 us, 2076 with RTS and all; nine take 1748 us, 2015 behind the CTS, where ten would take
    // 2207.
    let rts = "rts_threshold = \"always\"";
    let cts = "protection = \"11 Mbit/s\"";
    for (mcs, protection, first, before, mpdus, airtime) in [
        (1, "rts_threshold = \"never\"", FrameKind::Data, 0, 2, 1940),
        (1, rts, FrameKind::Rts, 36 + 16 + 32 + 16, 1, 988),
        (1, cts, FrameKind::Cts, 203 + 16, 1, 988),
        // A single MPDU is below the threshold and needs no RTS; two would, and then end too late.
        (1, "rts_threshold = \"2000 B\"", FrameKind::Data, 0, 1, 988),
        (7, rts, FrameKind::Rts, 28 + 16 + 28 + 16, 10, 1940),
        (7, cts, FrameKind::Cts, 203 + 16, 9, 1748),
    ] {
        let wlan = format!("ppdu.mcs = {mcs}, edca.video.txop_limit = \"2080 us\", {protection}");
        let mut b = Bench::new(&wlan, 1);
        b.enqueue(34, VI, 20);
        let frame = b.next_frame();
        assert_eq!((frame.0, frame.1), (34, first), "{wlan}");
        let mut data = frame.clone();
        if first == FrameKind::Rts {
            let answer = Frame { kind: FrameKind::Cts, to: ME, from: PEER, ..Frame::NONE };
            let until = 34 + before - 16;
            b.hear(frame.2 + 16, until, &answer, &Psdu::default(), &[]);
        }
        if first != FrameKind::Data {
            assert_eq!(frame.2 + frame.3, 34 + 2080, "{wlan}: the NAV ends with the limit");
            data = b.next_frame();
        }
        assert_eq!((data.0, data.4.len(), data.2 - data.0), (34 + before, mpdus, airtime), "{wlan}");
        assert_eq!(data.2 + data.3, 34 + 2080, "{wlan}: the NAV ends with the limit");
    }
}

#[test]
fn established_agreement_covers_the_first_frame() {
    let (mut b, mut peer) = (Bench::new("", 1), Bench::new("", 2));
    b.enqueue(43, BE, 1);
    let frame = Frame { kind: FrameKind::Data, to: ME, from: PEER, mode: b.rules.data_mode(), ..Frame::NONE };
    let (at, _, end, ..) = b.next_frame();
    peer.hear(at, end, &frame, &b.station.psdu, &[true]);
    peer.wait(end + 45);
    b.ack(end);
    b.enqueue(end + 45, BE, 2);
    let (at, _, end, _, seqs) = b.next_frame();
    assert_eq!(seqs, [1, 2]);
    peer.hear(at, end, &frame, &b.station.psdu, &[true, true]);
    assert_eq!(peer.count(|o| matches!(o, Out::Deliver { .. })), 3, "nothing is missing in front of them");
}

#[test]
fn without_an_agreement_seven_attempts_as_in_timeline_10() {
    let mut b = Bench::new("aggregation.max_mpdus = 1", 5);
    b.enqueue(43, BE, 1);
    let sent = b.wait(1_000_000);
    assert_eq!(sent.len(), 7);
    for (w, cw) in sent.windows(2).zip([31, 63, 127, 255, 511, 1023]) {
        assert!(slots(w[1].0 - w[0].0 - 228 - 45 - 43) <= cw);
    }
    let given_up = b.said.iter().find(|s| is_given_up(&s.1)).map(|s| s.0);
    assert_eq!(given_up, Some(sent[6].0 + 273));
}

#[test]
fn a_partial_block_ack_repeats_what_is_missing_as_in_timeline_11() {
    let mut b = Bench::new("aggregation.max_mpdus = 8", 1);
    b.enqueue(43, BE, 32);
    let (_, _, end, ..) = b.next_frame();
    b.block_ack(end, BE, 0, 0xff);
    let (_, _, end, ..) = b.next_frame();
    b.block_ack(end, BE, 8, 0b1111_1001);
    assert_eq!(b.next_frame().4, [9, 10, 16, 17, 18, 19, 20, 21]);
}

#[test]
fn a_lost_number_stalls_the_window_as_in_timeline_12() {
    let mut b = Bench::new("aggregation.max_mpdus = 32, ppdu.streams = 2", 1);
    b.enqueue(43, BE, 128);
    let (_, _, end, _, seqs) = b.next_frame();
    assert_eq!(seqs, (0..32).collect::<Vec<_>>());
    b.block_ack(end, BE, 0, 0xffff_fffe);
    let (_, _, end, _, seqs) = b.next_frame();
    assert_eq!((seqs[0], seqs[31]), (0, 62));
    b.block_ack(end, BE, 0, !1 >> 1 & !1);
    let (_, _, end, _, seqs) = b.next_frame();
    assert_eq!(seqs, [0, 63]);
    b.block_ack(end, BE, 0, !1);
    assert_eq!(b.next_frame().4, [0], "nothing new until it gets through");
}

#[test]
fn an_mpdu_is_given_up_after_ten_attempts_and_the_window_moves() {
    let mut b = Bench::new("aggregation.max_mpdus = 2", 1);
    b.enqueue(43, BE, 30);
    for attempt in 0..10 {
        let (_, kind, end, _, seqs) = b.next_frame();
        assert_eq!((kind, seqs[0]), (FrameKind::Data, 0), "{attempt}");
        let bits = (1u64 << (attempt + 2)) - 2;
        b.block_ack(end, BE, 0, bits);
    }
    assert_eq!(b.count(is_given_up), 1);
    let (_, kind, end, _, start) = b.next_frame();
    assert_eq!((kind, start), (FrameKind::BlockAckReq, vec![11]));
    b.block_ack(end, BE, 11, 0);
    assert_eq!(b.next_frame().4, [11, 12]);
}

#[test]
fn the_higher_category_wins_an_internal_collision_as_in_timeline_17() {
    let (mut collisions, mut later) = (0, 0);
    for seed in 0..400 {
        let mut b = Bench::new("aggregation.max_mpdus = 1, edca.voice.txop_limit = \"0 us\"", seed);
        // The medium is busy when the packets come, so both draw.
        b.noise(0, 100);
        b.busy(100, 200);
        b.enqueue(150, VO, 1);
        b.enqueue(150, BE, 1);
        let psdu = Psdu::default();
        b.call(200, |s, cx| s.on_signal(Signal::Energy, Heard { psdu: &psdu, arrived: &[] }, cx));
        let (at, ..) = b.next_frame();
        let first = b.station.psdu.tid;
        let voice = slots(at.saturating_sub(200 + 34));
        if first == VO && voice > 3 {
            panic!("VO draws 0 to 3 slots");
        }
        let end = b.ack(at + 228);
        let (second, ..) = b.next_frame();
        if b.station.psdu.tid == BE {
            // Slots from AIFS on: up to 15, or up to 31 after an internal collision.
            let wait = slots(second - end - 43);
            later = later.max(wait);
            collisions += usize::from(wait > 15);
        }
    }
    assert!(collisions > 0 && later <= 31, "{collisions}, {later}");
}

#[test]
fn an_interruption_at_a_boundary_costs_a_slot_more_than_in_the_dcf() {
    // A counter of n is interrupted at the boundary m, its own m-th after AIFS: n - m - 1 are left.
    for seed in 0..30 {
        let mut alone = Bench::new("aggregation.max_mpdus = 1", seed);
        let mut disturbed = Bench::new("aggregation.max_mpdus = 1", seed);
        for b in [&mut alone, &mut disturbed] {
            b.busy(0, 100);
            b.enqueue(50, BE, 1);
            let psdu = Psdu::default();
            b.call(100, |s, cx| s.on_signal(Signal::Energy, Heard { psdu: &psdu, arrived: &[] }, cx));
        }
        let drawn = slots(alone.next_frame().0 - 100 - 43);
        let m = 3;
        if drawn <= m {
            continue;
        }
        let busy = 100 + 43 + 9 * m;
        assert_eq!(disturbed.wait(busy), []);
        disturbed.noise(busy, busy + 300);
        assert_eq!(slots(disturbed.next_frame().0 - busy - 300 - 43), drawn - m - 1);
    }
}

#[test]
fn all_categories_wait_for_the_timeout_of_one() {
    for seed in 0..20 {
        let mut b = Bench::new("aggregation.max_mpdus = 1, edca.voice.txop_limit = \"0 us\"", seed);
        b.enqueue(34, VO, 1);
        b.enqueue(34, BE, 1);
        let (_, _, end, ..) = b.next_frame();
        assert_eq!(b.station.psdu.tid, VO);
        let (at, ..) = b.next_frame();
        let aifs = if b.station.psdu.tid == VO { 34 } else { 43 };
        assert!(at >= end + 45 + aifs, "{at}");
        slots(at - end - 45 - aifs);
    }
}

/// MPDUs with these numbers.
fn psdu(tid: u8, seqs: &[u16]) -> Psdu {
    let mpdu = |&seq: &u16| {
        let packet = PacketId(100 + u32::from(seq));
        Mpdu { packet, seq, retry: false, bytes: 1538, from: Span::ZERO, until: Span::ZERO }
    };
    Psdu { tid, mpdus: seqs.iter().map(mpdu).collect(), aggregate: true, agreed: true, ..Psdu::default() }
}

#[test]
fn a_recipient_answers_and_delivers_in_order() {
    let mut b = Bench::new("aggregation.max_mpdus = 8", 1);
    let data = |b: &Bench| Frame {
        kind: FrameKind::Data,
        to: ME,
        from: PEER,
        mode: b.rules.data_mode(),
        duration: Span::us(48),
        ..Frame::NONE
    };
    let frame = data(&b);
    b.hear(0, 1560, &frame, &psdu(BE, &[0, 1, 2, 3]), &[true, false, false, true]);
    assert_eq!(b.wait(2000), [(1576, FrameKind::BlockAck, 1608, 0, vec![0])]);
    assert_eq!(b.station.psdu.bitmap, 0b1001);
    b.hear(3000, 4560, &frame, &psdu(BE, &[1, 2]), &[true, true]);
    b.wait(5000);
    let passed: Vec<_> = b.said.iter().filter(|s| !matches!(s.1, Out::Transmit(_))).map(|s| s.1).collect();
    let (from, tid, seq) = (PEER, BE, 3);
    assert_eq!(
        passed,
        [
            Out::Deliver { packet: PacketId(100) },
            Out::Store { packet: PacketId(103), from, tid, seq },
            Out::Deliver { packet: PacketId(101) },
            Out::Deliver { packet: PacketId(102) },
            Out::Release { from, tid, seq },
        ]
    );
}

#[test]
fn the_reordering_buffer_is_released_after_100_ms() {
    let mut b = Bench::new("aggregation.max_mpdus = 8", 1);
    let mode = b.rules.data_mode();
    let frame = Frame { kind: FrameKind::Data, to: ME, from: PEER, mode, ..Frame::NONE };
    b.hear(0, 500, &frame, &psdu(BE, &[0, 1]), &[false, true]);
    b.wait(100_500);
    assert_eq!(b.count(|o| matches!(o, Out::Release { .. })), 0);
    b.wait(100_501);
    assert_eq!(b.count(|o| matches!(o, Out::Release { seq: 1, .. })), 1);
}

#[test]
fn an_agreement_is_asked_for_as_in_timeline_16() {
    let mut b = Bench::new("aggregation.max_mpdus = 8, block_ack.agreement = \"requested\"", 1);
    b.enqueue(1000, BE, 1);
    let (at, kind, end, duration, _) = b.next_frame();
    assert_eq!((at, kind, end, duration), (1006, FrameKind::Data, 1234, 44), "one packet alone");
    b.enqueue(1100, BE, 7);
    b.ack(end);
    let (at, kind, end, duration, _) = b.next_frame();
    assert_eq!((kind, end - at, duration), (FrameKind::Action, 76, 60));
    assert_eq!(b.station.psdu.start, 1, "what was sent before does not belong to it");
    // The ACK at 6 Mbit/s; then everything is held until the response comes.
    let ack = Frame { kind: FrameKind::Ack, to: ME, from: PEER, ..Frame::NONE };
    b.hear(end + 16, end + 60, &ack, &Psdu::default(), &[]);
    assert_eq!(b.wait(end + 5000), []);
    let mode = b.timing.basic_mode;
    let response = Frame { kind: FrameKind::Action, to: ME, from: PEER, mode, duration: Span::us(60), ..Frame::NONE };
    let contents = Psdu { responds: true, ..Psdu::default() };
    b.hear(end + 5000, end + 5076, &response, &contents, &[]);
    assert_eq!(b.next_frame(), (end + 5092, FrameKind::Ack, end + 5136, 0, vec![]));
    assert_eq!(b.next_frame().4, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn switched_off_station_loses_unacknowledged_packets() {
    let mut b = Bench::new("aggregation.max_mpdus = 4", 1);
    b.enqueue(43, BE, 5);
    assert_eq!(b.next_frame().4, [0, 1, 2, 3]);
    let mut dropped = vec![];
    b.station.restart(&b.rules, &mut dropped);
    let counted = b.station.qos_counters();
    assert_eq!((dropped.len(), counted.mpdus_sent, counted.mpdus_failed), (5, 4, 4));
}

#[test]
fn a_late_response_does_no_harm() {
    // The response comes after the wait is over and single frames have been sent: the agreement of the peer has the old
    // start, and what it misses has been acknowledged before.
    let wlan = "aggregation.max_mpdus = 8, block_ack = { agreement = \"requested\", response_timeout = \"1 ms\" }";
    let mut b = Bench::new(wlan, 1);
    let mode = b.rules.data_mode();
    let request = Frame { kind: FrameKind::Action, to: ME, from: PEER, mode: b.timing.basic_mode, ..Frame::NONE };
    b.hear(0, 76, &request, &Psdu { start: 8, ..Psdu::default() }, &[]);
    b.wait(1000);
    let frame = Frame { kind: FrameKind::Data, to: ME, from: PEER, mode, ..Frame::NONE };
    for (i, seq) in [8, 9, 10].into_iter().enumerate() {
        let from = 2000 + 1000 * i as u64;
        b.hear(from, from + 228, &frame, &Psdu { aggregate: false, ..psdu(BE, &[seq]) }, &[true]);
        b.wait(from + 1000);
    }
    assert_eq!(b.count(|o| matches!(o, Out::Deliver { .. })), 3, "single frames count in the agreement");
}

#[test]
fn a_cts_to_self_protects_an_aggregate_from_stations_of_802_11b() {
    // At 11 Mbit/s with a long preamble: 192 + ceil(14 * 8 / 11) = 203 us, then SIFS and the data of timeline 1. The
    // NAV covers 16 + 228 + 16 + 28 us (10.27).
    let mut b = Bench::new("ppdu.mcs = 7, protection = \"11 Mbit/s\"", 1);
    b.enqueue(0, BE, 1);
    let cts = b.next_frame();
    assert_eq!((cts.1, cts.2 - cts.0, cts.3), (FrameKind::Cts, 203, 16 + 228 + 16 + 28));
    let data = b.next_frame();
    assert_eq!((data.0 - cts.2, data.1, data.2 - data.0, data.3), (16, FrameKind::Data, 228, 44));
    b.ack(data.2);
    assert_eq!(b.count(is_sent), 1);
}

#[test]
fn each_broadcast_is_an_aggregate_of_its_own() {
    // The driver holds two of them: the one on the air, and the next one.
    let mut b = Bench::new("queues = \"mac80211\", aggregation.amsdu_size = \"3800 B\"", 1);
    b.station = b.station.clone().with_mac80211(Some(Queues::new(Stream::new(1, Purpose::Queue, 0))));
    for i in 0..6 {
        let broadcast = (PacketId(i), Kind::Data, 100);
        b.call(0, |s, cx| s.queue(broadcast, (RadioId::BROADCAST, BE), (1, false), cx));
    }
    for frame in 1..=5 {
        b.next_frame();
        assert_eq!(b.count(|out| matches!(out, Out::Taken { .. })), frame + 1);
    }
}

#[test]
fn signal_extension_delays_the_response_as_in_timeline_14() {
    let band = "slot_time = \"20 us\", sifs = \"10 us\", signal_extension = \"6 us\"";
    let mut b = Bench::new(&format!("ppdu.mcs = 7, {band}"), 1);
    b.enqueue(0, BE, 2);
    // The first one came to an idle medium, and goes with the other one at the next boundary.
    let data = b.next_frame();
    assert_eq!((data.1, data.2 - data.0, &data.4[..]), (FrameKind::Data, 426, &[0, 1][..]));
    assert_eq!(data.3, 10 + 38, "SIFS and a block acknowledgement of 32 us, extended");
    assert_eq!((data.0 - 70) % 20, 0, "AIFS is 10 + 3 * 20 us");
}

#[test]
fn a_hidden_terminal_costs_an_rts_and_not_an_aggregate() {
    // RTS 28 us at 24 Mbit/s; no CTS comes because another one's frame covers it at the receiver: the station waits
    // 16 + 9 + 20 us, draws from CW 31, and asks again with the same numbers, none of which was on the air.
    let mut b = Bench::new("ppdu.mcs = 7, rts_threshold = \"2000 B\"", 1);
    b.enqueue(0, BE, 4);
    let first = b.next_frame();
    assert_eq!((first.1, first.2 - first.0), (FrameKind::Rts, 28));
    let second = b.next_frame();
    let gap = second.0 - first.2 - 45 - 43;
    assert!(second.1 == FrameKind::Rts && gap.is_multiple_of(9) && gap / 9 <= 31, "{second:?}");
    assert_eq!(b.station.counters().rts_frames_failed, 1);
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, ..Frame::NONE };
    b.hear(second.2 + 16, second.2 + 44, &cts, &Psdu::default(), &[]);
    let data = b.next_frame();
    assert_eq!((data.0, data.1, &data.4[..]), (second.2 + 60, FrameKind::Data, &[0, 1, 2, 3][..]));
    assert!(b.station.psdu.mpdus.iter().all(|m| !m.retry), "they were not on the air before");
}

#[test]
fn nav_of_a_cts_covers_the_aggregate_of_a_hidden_terminal() {
    // The CTS of the peer to a third station ends at 144 and reserves 484 us, as in timeline 3.
    let mut b = Bench::new("ppdu.mcs = 7", 1);
    let cts = Frame { kind: FrameKind::Cts, to: RadioId(2), from: PEER, duration: Span::us(484), ..Frame::NONE };
    b.hear(116, 144, &cts, &Psdu::default(), &[]);
    b.enqueue(150, BE, 2);
    let data = b.next_frame();
    let gap = data.0 - (144 + 484) - 43;
    assert!(gap.is_multiple_of(9) && gap / 9 <= 15, "{data:?}");
}

/// A station with a channel of 40 MHz and other networks in its secondary channel, and for each microsecond true if
/// these send in it.
fn beside_others(when_busy: &str, seed: u64) -> (Bench, Vec<bool>) {
    let others = format!("gap = \"300 us\", frame_time = \"200 us\", when_busy = \"{when_busy}\"");
    let others = format!("secondary_channel = {{ {others} }}, aggregation.max_mpdus = 1");
    let mut b = Bench::new(&format!("ppdu = {{ mcs = 7, channel_width = \"40 MHz\" }}, {others}"), seed);
    let rng = Stream::new(seed, Purpose::SecondaryChannel, 0);
    let others = Secondary::new(&b.rules.secondary_channel, rng).expect("there are others");
    let mut asked = others.clone();
    let busy = (0..6000).map(|us| !asked.is_idle(Time(us * 1000), Time((us + 1) * 1000))).collect();
    b.station = b.station.clone().with_secondary(Some(others));
    (b, busy)
}

/// Returns true if the secondary channel is idle for PIFS, 25 us, before an access.
fn is_idle_for_pifs(busy: &[bool], at: u64) -> bool {
    !busy[at as usize - 25..at as usize].contains(&true)
}

#[test]
fn secondary_channel_busy_within_pifs_makes_a_txop_narrow() {
    // 1538 B at MCS 7 last 128 us in 40 MHz and 228 us in 20 MHz (10.23.2.5); the ACK has 24 Mbit/s after both.
    let mut widths = [0; 2];
    for seed in 0..80 {
        let (mut b, busy) = beside_others("narrow", seed);
        b.enqueue(100 + 37 * seed, BE, 1);
        let (at, kind, end, duration, _) = b.next_frame();
        let is_idle = is_idle_for_pifs(&busy, at);
        assert_eq!((kind, end - at, duration), (FrameKind::Data, if is_idle { 128 } else { 228 }, 44), "seed {seed}");
        widths[usize::from(is_idle)] += 1;
    }
    assert!(widths.iter().all(|&n| n > 20), "{widths:?}");
}

#[test]
fn a_static_station_waits_for_its_secondary_channel() {
    // It draws again from the same window, and counts from the next boundary on, as after a busy medium.
    let mut waits = vec![];
    for seed in 0..80 {
        let (mut b, busy) = beside_others("back_off", seed);
        b.enqueue(100 + 37 * seed, BE, 1);
        let first = b.station.deadline().0 / 1000;
        let (at, _, end, ..) = b.next_frame();
        assert!(is_idle_for_pifs(&busy, at) && end - at == 128, "seed {seed}: {at}");
        assert_eq!(at == first, is_idle_for_pifs(&busy, first), "seed {seed}");
        assert_eq!(b.station.seen(Time(at * 1000), &b.timing).cw, 15, "nothing was lost");
        waits.push(slots(at - first));
    }
    assert!(waits.contains(&0) && waits.iter().any(|&w| w > 16), "{waits:?}");
}

#[test]
fn other_networks_wait_for_a_wide_exchange() {
    // Data of 128 us, SIFS and an ACK of 28 us: a frame of others that would begin in them comes a gap later.
    let postponed = (0..200).filter(|&seed| {
        let (mut b, busy) = beside_others("narrow", seed);
        b.enqueue(100 + 17 * seed, BE, 2);
        let (at, _, end, ..) = b.next_frame();
        let until = b.ack(end);
        let would_begin = is_idle_for_pifs(&busy, at) && busy[at as usize..until as usize].contains(&true);
        let (next, _, after, ..) = b.next_frame();
        would_begin && !is_idle_for_pifs(&busy, next) && after - next == 128
    });
    assert!(postponed.count() > 5);
}

#[test]
fn a_txop_goes_on_after_pifs() {
    // Two frames of VI; the second one gets no ACK. Its holder may go on PIFS after it (10.23.2.8), and knows of the
    // failure 45 us after it.
    for (recovers, wanted) in [(true, Some(45)), (false, None)] {
        let wlan = format!("ppdu.mcs = 7, aggregation.max_mpdus = 1, edca.pifs_recovery = {recovers}");
        let mut b = Bench::new(&wlan, 1);
        b.enqueue(0, VI, 3);
        let first = b.next_frame();
        let end = b.ack(first.2);
        let second = b.next_frame();
        assert_eq!(second.0, end + 16);
        let third = b.next_frame();
        let gap = third.0 - second.2;
        assert_eq!((third.1, &third.4), (FrameKind::Data, &second.4));
        match wanted {
            Some(wanted) => assert_eq!(gap, wanted),
            None => assert!(gap >= 45 + 34 && (gap - 45 - 34).is_multiple_of(9), "{gap}"),
        }
    }
}

#[test]
fn a_retry_of_the_first_mpdu_of_an_agreement_is_delivered_once() {
    // Number 0 arrives alone and its ACK is lost; the agreement begins with it, and it comes again in an aggregate.
    let mut b = Bench::new("ppdu.mcs = 7, block_ack.agreement = \"requested\"", 1);
    let data = Frame { kind: FrameKind::Data, to: ME, from: PEER, ..Frame::NONE };
    b.hear(100, 328, &data, &Psdu { aggregate: false, agreed: false, ..psdu(BE, &[0]) }, &[true]);
    b.wait(499);
    let request = Frame { kind: FrameKind::Action, to: ME, from: PEER, ..Frame::NONE };
    b.hear(500, 576, &request, &Psdu { tid: BE, start: 0, ..Psdu::default() }, &[]);
    b.wait(599);
    b.hear(2000, 2500, &data, &psdu(BE, &[0, 1]), &[true, true]);
    let delivered: Vec<_> =
        b.said.iter().filter_map(|s| if let Out::Deliver { packet } = s.1 { Some(packet.0) } else { None }).collect();
    assert_eq!(delivered, [100, 101]);
}

/// A packet of 1508 B with LLC takes 185.6 us at 65 Mbit/s: with 64 the station holds 11.88 ms, with 65 12.06 ms; with
/// three receivers 15 ms count, which 80 packets do not reach (14.85 ms).
#[test]
fn a_station_holds_packets_by_their_time_on_air() {
    for (receivers, most) in [(1, 65), (2, 65), (3, 81)] {
        let mut b = Bench::new("edca = { held_airtime = \"12 ms\", receiver_airtime = \"5 ms\" }", 1);
        let mut held = 0;
        while b.station.has_room(AccessCategory::BestEffort, &b.rules) {
            let (packet, to) = (PacketId(held), RadioId(1 + held % receivers));
            b.call(0, |s, cx| s.enqueue(packet, Kind::Data, to, BE, BYTES, cx));
            held += 1;
        }
        assert_eq!(held, most, "{receivers} receivers");
        assert!(b.station.has_room(AccessCategory::Voice, &b.rules), "each category holds its own");
    }
}
