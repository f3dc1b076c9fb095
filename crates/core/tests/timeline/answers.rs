//! Timeouts of responses at a station of the standard and one of ns-2, to the nanosecond.

use super::dcf::{Bench, ME, PEER, at};
use crate::properties::scenario;
use chappe_core::packet::{PacketId, RadioId};
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::{Frame, FrameKind, Mode, Out, Signal, Timing};

/// Air times of a bench that sends 1460 + 36 B with RTS and CTS or without [us].
struct Case {
    preset: &'static str,
    wlan: &'static str,
    sifs: u64,
    slot: u64,
    rts: u64,
    data: u64,
    /// Preamble and header of a CTS and of an ACK (IEEE 802.11-2020, 15.2.3, 16.2.2, 17.3.2).
    start: (u64, u64),
}

const CASES: [Case; 4] = [
    Case { preset: "standard", wlan: "", sifs: 10, slot: 20, rts: 352, data: 192 + 5984, start: (192, 192) },
    Case {
        preset: "standard",
        wlan: "preamble = \"short\", basic_rate = \"2 Mbit/s\"",
        sifs: 10,
        slot: 20,
        rts: 96 + 80,
        data: 96 + 5984,
        start: (96, 96),
    },
    // 1 Mbit/s has no short preamble; an ACK at 2 Mbit/s has.
    Case {
        preset: "standard",
        wlan: "preamble = \"short\", response_rates = [\"1 Mbit/s\", \"2 Mbit/s\"]",
        sifs: 10,
        slot: 20,
        rts: 352,
        data: 96 + 5984,
        start: (192, 96),
    },
    // 22 bits of SERVICE and tail and 8 x 1496 in symbols of 216 bits, 4 us each.
    Case { preset: "802.11a", wlan: "", sifs: 16, slot: 9, rts: 28, data: 20 + 4 * 56, start: (20, 20) },
];

/// Rate of RTS and CTS of the preset `802.11a`.
const OFDM_24: Mode = Mode(8);

fn for_me(kind: FrameKind) -> Frame {
    Frame { kind, to: ME, from: PEER, ..Frame::NONE }
}

fn bench(case: &Case, rts: &str) -> Bench {
    let more = if case.wlan.is_empty() { String::new() } else { format!(", {}", case.wlan) };
    Bench::new(case.preset, &format!("rts_threshold = \"{rts}\"{more}"), 1)
}

#[test]
fn response_counts_if_its_start_is_indicated_in_time() {
    // 10.3.2.9, 10.3.2.11: PHY-RXSTART within SIFS, a slot and aRxPHYStartDelay after the own frame; the delay is the
    // answer's preamble and header, so its signal must begin within SIFS and a slot.
    for case in &CASES {
        for (rts, own, answer, start) in
            [("always", case.rts, FrameKind::Cts, case.start.0), ("never", case.data, FrameKind::Ack, case.start.1)]
        {
            let sends = if rts == "always" { FrameKind::Rts } else { FrameKind::Data };
            let after = |late: u64, signal: Signal<'_>| {
                let mut b = bench(case, rts);
                b.enqueue(at(5000), 7);
                let own_end = b.until_sent(sends, 1) + Span::us(own);
                let latest = own_end + Span::us(case.sifs + case.slot);
                let deadline = b.station.deadline();
                assert_eq!(deadline, latest + Span::us(start), "{} {} {rts}", case.preset, case.wlan);
                let from = latest + Span(late);
                b.sense(from, from + Span::us(1000), signal);
                (b, deadline)
            };
            let frame = for_me(answer);
            let (b, _) = after(0, Signal::Frame(&frame));
            assert_eq!(b.station.unanswered(), 0, "{} {} {rts}", case.preset, case.wlan);
            let (b, _) = after(1, Signal::Frame(&frame));
            assert_eq!(b.station.unanswered(), 1, "{} {} {rts}", case.preset, case.wlan);
            // A signal that begins in time and is no answer is heard to its end, and the attempt fails then.
            let foreign = Frame { to: RadioId(5), from: RadioId(6), ..frame };
            for signal in [Signal::Frame(&foreign), Signal::Error, Signal::Energy] {
                let (b, _) = after(0, signal);
                assert_eq!(b.station.unanswered(), 1, "{} {} {rts}", case.preset, case.wlan);
            }
        }
    }
}

/// An RTS for the station, which announces data of 6168 us and an ACK, and these.
fn exchange() -> (Frame, Frame) {
    let rts = Frame { duration: Span::us(3 * 10 + 304 + 6168 + 304), ..for_me(FrameKind::Rts) };
    let data = Frame { packet: Some(PacketId(9)), protected: true, ..for_me(FrameKind::Data) };
    (rts, data)
}

/// End of data that follow a CTS at once, without propagation delay.
const CTS: u64 = 1010;
const DATA_END: u64 = CTS + 304 + 10 + 6168;

/// A station that has sent a CTS and received data, with this delay after the earliest time.
fn answered(preset: &str, late: Span) -> Bench {
    let (rts, data) = exchange();
    let mut b = Bench::new(preset, "rts_threshold = \"always\"", 1);
    b.hear(at(1000), rts);
    let end = at(DATA_END) + late;
    b.wait(end);
    assert_eq!(b.sent(FrameKind::Cts), [at(CTS)]);
    b.hear(end, data);
    b.wait(end + Span::us(1000));
    b
}

#[test]
fn late_data_after_a_cts_are_acknowledged() {
    // The standard has no timer there. That of ns-2 allows for 2 us each way.
    for (preset, late, taken) in [
        ("standard", Span::ZERO, true),
        ("standard", Span(4_001), true),
        ("standard", Span::us(200), true),
        ("ns2-2.35", Span::ZERO, true),
        ("ns2-2.35", Span(4_000), true),
        ("ns2-2.35", Span(4_001), false),
        ("ns2-2.35", Span::us(200), false),
    ] {
        let b = answered(preset, late);
        let ack = at(DATA_END) + late + Span::us(10);
        let expected: &[Time] = if taken { &[ack] } else { &[] };
        assert_eq!(b.sent(FrameKind::Ack), expected, "{preset} {late}");
        let delivered = b.said.iter().filter(|s| matches!(s.1, Out::Deliver { .. })).count();
        assert_eq!(delivered, usize::from(taken), "{preset} {late}");
        assert_eq!(b.station.counters().cts_without_data, u64::from(!taken), "{preset} {late}");
    }
}

#[test]
fn a_cts_that_no_data_follow_reserves_nothing_for_its_sender() {
    // The NAV is set by frames for others (10.3.2.4): the medium is idle from the end of the CTS on, and a backoff of
    // no slots ends DIFS later. ns-2 waits until the data would have ended, and then DIFS.
    let fixed = "rts_threshold = \"always\", backoff_range = \"exclusive\", cw_min = 1, cw_max = 1";
    for (preset, own_rts) in
        [("standard", at(CTS + 304 + 50)), ("ns2-2.35", at(DATA_END + 4 + 50)), ("802.11a", at(1016 + 28 + 34))]
    {
        for queued in [1000, 1100, 1200] {
            let mut b = Bench::new(preset, fixed, 1);
            let mode = if preset == "802.11a" { OFDM_24 } else { Mode::LOWEST };
            b.hear(at(1000), Frame { mode, ..exchange().0 });
            b.wait(at(queued) + Span(1));
            b.enqueue(at(queued) + Span(1), 7);
            let own = b.until_sent(FrameKind::Rts, 1);
            if queued > 1100 && preset == "802.11a" {
                // It finds the medium idle for DIFS.
                assert_eq!(own, at(queued) + Span(1));
            } else {
                assert_eq!(own, own_rts.max(at(queued) + Span(1)), "{preset}, queued at {queued} us");
            }
            assert_eq!(b.station.counters().cts_without_data, 1, "{preset}");
        }
    }
}

#[test]
fn station_that_sent_a_cts_answers_the_next_rts() {
    // A second RTS, from somebody who has not heard the first: the NAV of this station is idle.
    let (rts, data) = exchange();
    let mut b = Bench::new("standard", "rts_threshold = \"always\"", 1);
    b.hear(at(1000), rts);
    b.wait(at(2000));
    b.hear(at(2000), rts);
    b.wait(at(3000));
    assert_eq!(b.sent(FrameKind::Cts), [at(1010), at(2010)]);
    assert_eq!(b.station.counters().cts_without_data, 1);
    b.hear(at(9000), data);
    b.wait(at(10_000));
    assert_eq!(b.sent(FrameKind::Ack), [at(9010)]);
    assert_eq!(b.station.counters().cts_without_data, 1);
}

#[test]
fn control_frames_can_be_read_where_a_chosen_rate_can() {
    // 802.11a with its basic rate of 24 Mbit/s. Data at 6 to 54 Mbit/s are answered at the fastest mandatory rate that
    // is not faster (10.6.6.5); RTS and CTS, whose loss does not lower the rate, last 20 + 4 * 8 and 20 + 4 * 6 us at 6
    // Mbit/s. A chain of attempts takes an unanswered RTS for one.
    let (basic, answers) = ([24; 8], [6, 6, 12, 12, 24, 24, 24, 24]);
    for (algorithm, rts, cts, acks) in
        [("fixed", 28, 28, basic), ("aarf", 52, 44, answers), ("cara", 52, 44, answers), ("minstrel", 28, 28, answers)]
    {
        let text = format!(
            "extends = \"802.11a\"\nrun.stop = \"1 s\"\ntopology.spacing = \"9 m\"\nwlan.rate_control.algorithm = \"{algorithm}\""
        );
        let timing = Timing::new(&scenario(&text).config().wlan);
        assert_eq!((timing.rts, timing.cts), (Span::us(rts), Span::us(cts)), "{algorithm}");
        let found = Mode(4).family().map(|data| timing.response_to_any(data).0.rate().0 / 1_000_000);
        assert_eq!(found.collect::<Vec<_>>(), acks, "{algorithm}");
    }
}

#[test]
fn a_response_goes_before_an_access_that_is_due() {
    // A signal is noticed after aCCATime. Where that is longer than the frame, the backoff would end between frame and
    // answer.
    let wlan =
        "rts_threshold = \"always\", cca_time = \"40 us\", backoff_range = \"exclusive\", cw_min = 1, cw_max = 1";
    let mut b =
        Bench::new("802.11a", &format!("{wlan}, first_access = \"backoff\", backoff_clock = \"continuous\""), 1);
    let rts = Frame { mode: OFDM_24, ..for_me(FrameKind::Rts) };
    b.enqueue(at(1000), 7);
    assert_eq!(b.station.deadline(), at(1034));
    b.sense(at(1000), at(1028), Signal::Frame(&rts));
    b.wait(at(1060));
    assert_eq!((b.sent(FrameKind::Cts), b.sent(FrameKind::Rts)), (vec![at(1044)], vec![]));
    assert_eq!(b.until_sent(FrameKind::Rts, 1), at(1044 + 28 + 34));
}
