//! Waiting time before the backoff at a station of the standard: DIFS or EIFS, and its begin (10.3.2.3.7, 10.3.4.2).
//! Times are those of a data frame of 1460 + 36 B at 2 Mbit/s: 6176 us on the air.

use super::dcf::{Bench, ME, PEER, at};
use chappe_core::packet::{PacketId, RadioId};
use chappe_core::record::trace::{Line, What};
use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::{Frame, FrameKind, Signal};
use chappe_scenario::{NoFiles, Scenario};

const DATA: u64 = 6176;
const DIFS: u64 = 50;
const EIFS: u64 = 364;
/// SIFS, slot and PHY-RX-START delay after a frame nothing has come (10.3.2.9): 222 us. Slots are counted from DIFS
/// after the frame on, the next one begins 9 slots after that.
const UNANSWERED: u64 = 230;

/// A station that waits for at most this number of slots.
fn bench(slots: u32, seed: u64) -> Bench {
    bench_with(slots, seed, "instead_of_difs")
}

/// The same with a rule of `wlan.eifs`.
fn bench_with(slots: u32, seed: u64, eifs: &str) -> Bench {
    let cw = slots + 1;
    let range = format!("backoff_range = \"exclusive\", cw_min = {cw}, cw_max = {cw}");
    Bench::new("standard", &format!("rts_threshold = \"never\", eifs = \"{eifs}\", {range}"), seed)
}

fn foreign(duration: u64) -> Frame {
    Frame { kind: FrameKind::Cts, to: RadioId(5), from: RadioId(6), duration: Span::us(duration), ..Frame::NONE }
}

/// Time at which a station sends that had a packet before these signals, with a backoff of no slots.
fn sends_after(signals: &[(u64, u64, Signal<'_>)]) -> u64 {
    sends_after_with("instead_of_difs", signals)
}

/// The same with a rule of `wlan.eifs`.
fn sends_after_with(eifs: &str, signals: &[(u64, u64, Signal<'_>)]) -> u64 {
    let mut b = bench_with(0, 1, eifs);
    b.sense(at(0), at(500), Signal::Frame(&foreign(0)));
    b.enqueue(at(500), 1);
    for &(from, until, signal) in signals {
        b.sense(at(from), at(until), signal);
    }
    b.until_sent(FrameKind::Data, 1).0 / 1000
}

#[test]
fn eifs_follows_a_frame_whose_start_was_received_and_nothing_else() {
    let frame = foreign(0);
    let read = Signal::Frame(&frame);
    for (signals, expected) in [
        (vec![(510, 1000, read)], 1000 + DIFS),
        (vec![(510, 1000, Signal::Error)], 1000 + EIFS),
        (vec![(510, 1000, Signal::Energy)], 1000 + DIFS),
        // A frame that is read ends it, energy alone does not.
        (vec![(510, 1000, Signal::Error), (1100, 1200, read)], 1200 + DIFS),
        (vec![(510, 1000, Signal::Error), (1100, 1200, Signal::Energy)], 1200 + EIFS),
        (vec![(510, 1000, Signal::Energy), (1020, 1200, Signal::Error)], 1200 + EIFS),
    ] {
        assert_eq!(sends_after(&signals), expected, "{signals:?}");
    }
}

#[test]
fn ns3_counts_eifs_from_the_frame_not_the_busy_period() {
    let frame = foreign(0);
    let read = Signal::Frame(&frame);
    let error = (510, 1000, Signal::Error);
    for (signals, expected) in [
        (vec![error], 1000 + EIFS),
        (vec![error, (1020, 1100, Signal::Energy)], 1000 + EIFS),
        (vec![error, (1020, 1200, Signal::Energy)], 1000 + EIFS),
        (vec![error, (1020, 1320, Signal::Energy)], 1320 + DIFS),
        (vec![error, (1020, 1100, Signal::Error)], 1100 + EIFS),
        (vec![error, (1020, 1100, read)], 1100 + DIFS),
        // The rest of EIFS during energy ends with a decoded frame, but not with more energy.
        (vec![error, (1020, 1100, Signal::Energy), (1110, 1200, read)], 1200 + DIFS),
        (vec![error, (1010, 1030, Signal::Energy), (1040, 1100, Signal::Energy)], 1000 + EIFS),
        (vec![(510, 1000, Signal::Energy)], 1000 + DIFS),
    ] {
        assert_eq!(sends_after_with("after_frame", &signals), expected, "{signals:?}");
    }
}

#[test]
fn an_rts_is_answered_during_eifs() {
    let rts = Frame { kind: FrameKind::Rts, to: ME, from: PEER, duration: Span::us(2000), ..Frame::NONE };
    for eifs in ["instead_of_difs", "after_frame"] {
        let mut b = bench_with(0, 1, eifs);
        for (from, until, signal) in
            [(510, 1000, Signal::Error), (1002, 1010, Signal::Energy), (1015, 1287, Signal::Frame(&rts))]
        {
            b.sense(at(from), at(until), signal);
        }
        assert_eq!(b.until_sent(FrameKind::Cts, 1), at(1297), "{eifs}");
    }
}

#[test]
fn eifs_is_counted_from_the_signal_and_not_from_the_nav() {
    // The NAV ends at 1100 us: EIFS after the error is later. It ends at 3000 us: DIFS after that is later.
    for (duration, expected) in [(500, 1000 + EIFS), (2400, 3000 + DIFS)] {
        let frame = foreign(duration);
        let signals = [(510, 600, Signal::Frame(&frame)), (700, 1000, Signal::Error)];
        assert_eq!(sends_after(&signals), expected, "NAV of {duration} us");
    }
}

#[test]
fn the_own_frame_ends_eifs() {
    // A frame that cannot be read, then DIFS less than EIFS after it a packet, which has to wait for EIFS.
    for seed in 0..50 {
        let mut b = bench(31, seed);
        b.sense(at(100), at(1000), Signal::Error);
        b.enqueue(at(1060), 1);
        let first = b.until_sent(FrameKind::Data, 1).0 / 1000;
        assert_eq!((first - 1000 - EIFS) % 20, 0);
        assert!(first <= 1000 + EIFS + 31 * 20);
        // Nobody answers.
        let second = b.until_sent(FrameKind::Data, 2).0 / 1000;
        let slots = (second - first - DATA - UNANSWERED) as f64 / 20.0;
        assert!(slots.fract() == 0.0 && (0.0..=31.0).contains(&slots), "{slots} slots");
    }
    let least = (0..200).map(|seed| {
        let mut b = bench(31, seed);
        b.sense(at(100), at(1000), Signal::Error);
        b.enqueue(at(1060), 1);
        let first = b.until_sent(FrameKind::Data, 1);
        b.until_sent(FrameKind::Data, 2).since(first).0 / 1000 - DATA
    });
    assert_eq!(least.min(), Some(UNANSWERED), "no slots at all: so long");
}

#[test]
fn a_collider_waits_for_difs() {
    // Both frames begin in one slot. The other one ends 100 us before the own one, with it, 100 us later, where slots
    // are counted from there on, or after the time-out.
    for (longer, expected) in [(-100, UNANSWERED), (0, UNANSWERED), (100, 100 + DIFS + 80), (1000, 1000 + DIFS)] {
        let mut b = bench(0, 1);
        b.enqueue(at(1000), 1);
        assert_eq!(b.until_sent(FrameKind::Data, 1), at(1000));
        b.sense(at(1000), at((1000 + DATA).checked_add_signed(longer).expect("later")), Signal::Energy);
        assert_eq!(b.until_sent(FrameKind::Data, 2).0 / 1000 - 1000 - DATA, expected, "{longer} us longer");
    }
}

#[test]
fn packet_draws_a_backoff_if_the_medium_is_idle_less_than_difs() {
    let frame = foreign(0);
    for (signal, space) in [(Signal::Frame(&frame), DIFS), (Signal::Energy, DIFS), (Signal::Error, EIFS)] {
        let first = |after: u64, seed| {
            let mut b = bench(31, seed);
            b.sense(at(100), at(1000), signal);
            b.enqueue(at(1000 + after), 1);
            b.until_sent(FrameKind::Data, 1).0 / 1000 - 1000
        };
        for after in [0, 1, space - 1] {
            let waits: Vec<u64> = (0..300).map(|seed| first(after, seed)).collect();
            assert!(waits.iter().all(|w| (w - space) % 20 == 0), "{signal:?}, {after} us");
            let (least, most) = (waits.iter().min(), waits.iter().max());
            assert_eq!((least, most), (Some(&space), Some(&(space + 31 * 20))), "{signal:?}, {after} us");
        }
        assert!((0..20).all(|seed| first(space, seed) == space), "{signal:?}: idle for long enough");
        assert!((0..20).all(|seed| first(space + 7, seed) == space + 7), "{signal:?}: at once");
    }
}

#[test]
fn a_packet_that_is_queued_while_an_answer_is_due_draws_a_back_off() {
    // Data end at 1000 us, a packet is queued at once; the ACK ends at 1314 us, and DIFS after it the slots begin.
    let frame = Frame { kind: FrameKind::Data, to: ME, from: PEER, packet: Some(PacketId(9)), ..Frame::NONE };
    let waits = (0..300).map(|seed| {
        let mut b = bench(31, seed);
        b.sense(at(100), at(1000), Signal::Frame(&frame));
        b.enqueue(at(1000), 1);
        b.until_sent(FrameKind::Data, 1).0 / 1000 - 1314 - DIFS
    });
    let waits: Vec<u64> = waits.collect();
    assert!(waits.iter().all(|w| w % 20 == 0) && waits.contains(&0) && waits.contains(&(31 * 20)));
}

/// Stations in one place send to node 0 without pause and without RTS: what is on the air.
fn saturated(senders: u32, more: &str) -> Vec<Line> {
    let places: String = (0..=senders).map(|i| format!("[\"{} m\", \"0 m\"],", f64::from(i) * 0.03)).collect();
    let flows: String = (1..=senders).map(|i| format!("[[flow]]\nsrc = {i}\ndst = 0\napp = \"cbr\"\n")).collect();
    let text = format!(
        r#"
        run = {{ stop = "60 s" }}
        topology = {{ kind = "list", positions = [{places}] }}
        radio.propagation = "range"
        wlan.rts_threshold = "never"
        routing.protocol = "shortest_path"
        cbr = {{ payload = "1460 B", header_size = "0 B", interval = "2 ms" }}
        {more}
        {flows}
        "#
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.trace();
    sim.run();
    sim.take_trace().expect("it was asked for").lines
}

fn sent(lines: &[Line], kind: FrameKind) -> Vec<(RadioId, Time)> {
    lines.iter().filter(|l| l.what == What::Sent && l.kind == kind).map(|l| (l.radio, l.at)).collect()
}

/// Waiting times [ns], less a number of whole slots: the shortest one. Propagation takes some nanoseconds.
fn without_slots(waits: &[u64]) -> u64 {
    let least = *waits.iter().min().expect("some");
    for wait in waits {
        let beyond = (wait - least + 10) % 20_000;
        assert!(beyond < 20, "{wait} ns is no number of slots more than {least} ns");
    }
    (least + 10) / 1000
}

#[test]
fn after_a_collision_senders_wait_difs_and_receivers_eifs() {
    let waits = |senders: u32, collided: bool| {
        let data = sent(&saturated(senders, ""), FrameKind::Data);
        let slots: Vec<&[(RadioId, Time)]> = data.chunk_by(|a, b| b.1.since(a.1) < Span::us(1)).collect();
        let mut waits = vec![];
        // Some begin in one slot; who is the next?
        for w in slots.windows(2) {
            let (&(_, last), (next, at)) = (w[0].last().expect("one"), w[1][0]);
            if w[0].len() > 1 && w[0].iter().any(|s| s.0 == next) == collided {
                waits.push(at.since(last + Span::us(DATA)).0);
            }
        }
        assert!(waits.len() > 100, "{} collisions", waits.len());
        waits
    };
    assert_eq!(without_slots(&waits(2, true)), UNANSWERED);
    assert_eq!(without_slots(&waits(3, true)), UNANSWERED);
    // The third one, which has not sent in that slot, has at least another one to wait.
    assert_eq!(without_slots(&waits(3, false)), EIFS + 20);
}

#[test]
fn after_each_frame_that_fails_the_wait_is_that_of_the_standard() {
    // Of all frames of one sender, data and ACK, three of ten are lost.
    let lines = saturated(1, "wlan.error = { model = \"uniform\", rate = 0.3 }");
    let (mut answered, mut unread, mut unanswered) = (vec![], vec![], vec![]);
    for w in sent(&lines, FrameKind::Data).windows(2) {
        let (from, next) = (w[0].1, w[1].1);
        let seen = |l: &&Line| l.kind == FrameKind::Ack && l.at > from && l.at < next;
        let acks: Vec<(What, Time)> = lines.iter().filter(seen).map(|l| (l.what, l.at)).collect();
        match acks.as_slice() {
            [] => unanswered.push(next.since(from + Span::us(DATA)).0),
            [(What::Sent, _), (What::Received, end)] => answered.push(next.since(*end).0),
            [(What::Sent, _), (What::Damaged, end)] => unread.push(next.since(*end).0),
            other => panic!("{other:?}"),
        }
    }
    assert!([&answered, &unread, &unanswered].iter().all(|w| w.len() > 500));
    assert_eq!(without_slots(&answered), DIFS);
    assert_eq!(without_slots(&unread), EIFS);
    assert_eq!(without_slots(&unanswered), UNANSWERED);
}
