//! Effects of retry counts: packets given up, and the growth of the backoff.

use super::dcf::{Bench, ME, PEER, at};
use chappe_core::packet::PacketId;
use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::{Frame, FrameKind, Out};
use chappe_scenario::{NoFiles, Scenario};

const RTS: &str = "rts_threshold = \"always\"";

/// Answers the next RTS.
fn answer(b: &mut Bench, rts: usize) {
    let sent = b.until_sent(FrameKind::Rts, rts);
    let cts = Frame { kind: FrameKind::Cts, to: ME, from: PEER, duration: Span::us(6492), ..Frame::NONE };
    b.hear(sent + Span::us(352 + 10 + 304), cts);
}

/// Frames of a station until it gives the packet up: RTS and data frames, and the time.
fn at_give_up(b: &mut Bench, packet: u32) -> (usize, usize, Time) {
    let given_up = Out::GaveUp { packet: PacketId(packet) };
    while !b.said.iter().any(|s| s.1 == given_up) {
        let next = b.station.deadline();
        assert!(next < Time::NEVER, "it is never given up");
        b.wait(next + Span(1));
    }
    let when = b.said.iter().find(|s| s.1 == given_up).expect("it is given up").0;
    (b.sent(FrameKind::Rts).len(), b.sent(FrameKind::Data).len(), when)
}

#[test]
fn cts_keeps_the_retry_count_of_the_packet() {
    // Three RTS fail, the fourth is answered, its data are not; then nothing is answered. SRC of the MPDU reaches 7
    // with the fourth RTS after that (10.3.4.4). In ns-2 the CTS resets the count: seven more.
    for (preset, rts) in [("standard", 8), ("ns2-2.35", 11)] {
        for seed in 0..20 {
            let mut b = Bench::new(preset, RTS, seed);
            b.enqueue(at(1000), 7);
            answer(&mut b, 4);
            let (found, data, _) = at_give_up(&mut b, 7);
            assert_eq!((found, data), (rts, 1), "{preset}");
            let counters = b.station.counters();
            assert_eq!((counters.gave_up_rts[0], counters.gave_up_data[0]), (1, 0), "{preset}");
        }
    }
}

/// Three data frames of the first packet are not answered, and then none of its RTS; of the second packet every RTS is
/// answered and no data frame. From the third data frame on, the most slots that were waited before each RTS.
fn after_rts(preset: &str) -> (usize, Vec<u64>) {
    let (mut data_frames, mut most) = (0, vec![]);
    for seed in 0..400 {
        let mut b = Bench::new(preset, RTS, seed);
        b.enqueue(at(1000), 1);
        (1..=3).for_each(|rts| answer(&mut b, rts));
        let (first, data, when) = at_give_up(&mut b, 1);
        assert_eq!((first, data), (3 + 7, 3));
        b.enqueue(when, 2);
        let (mut rts, mut slots) = (first, vec![]);
        while !b.said.iter().any(|s| s.1 == Out::GaveUp { packet: PacketId(2) }) {
            rts += 1;
            answer(&mut b, rts);
            let failed = b.until_sent(FrameKind::Data, b.sent(FrameKind::Data).len() + 1) + Span::us(6168);
            while b.sent(FrameKind::Rts).len() == rts && !matches!(b.said.last(), Some((_, Out::GaveUp { .. }))) {
                let next = b.station.deadline();
                b.wait(next + Span(1));
            }
            if let Some(&next) = b.sent(FrameKind::Rts).get(rts) {
                slots.push(next.since(failed).0 / 20_000);
            }
        }
        data_frames = b.sent(FrameKind::Data).len() - 3;
        most.resize(slots.len(), 0);
        most.iter_mut().zip(slots).for_each(|(most, k)| *most = k.max(*most));
    }
    (data_frames, most)
}

#[test]
fn the_count_of_long_frames_ends_with_the_packet() {
    // LRC of the second MPDU begins at 0. SLRC stands at 3 and reaches 4 with its first data frame, where CW begins
    // anew: at most 31 slots, then 63 and 127; before them 230 us (11 slots and a half) of time-out, DIFS and slot
    // boundary.
    let (data, most) = after_rts("standard");
    assert_eq!(data, 4);
    for (most, cw) in most.iter().zip([31, 63, 127]) {
        assert!((cw * 95 / 100..=cw).contains(&(most - 11)), "{} of {cw} slots", most - 11);
    }
    // In ns-2 the count decides: one data frame.
    assert_eq!(after_rts("ns2-2.35"), (1, vec![]));
}

#[test]
fn the_window_follows_the_counts_of_the_station() {
    // Three RTS fail, one is answered, its data are not. From CW 31 that makes 511. SSRC was reset by the CTS, so that
    // when the MPDU is given up after four more RTS, CW stays at 1023 for the backoff that follows (10.3.3).
    let mut most = 0;
    for seed in 0..400 {
        let mut b = Bench::new("standard", RTS, seed);
        b.enqueue(at(1000), 1);
        answer(&mut b, 4);
        let (rts, _, when) = at_give_up(&mut b, 1);
        b.enqueue(when, 2);
        let last = b.sent(FrameKind::Rts)[rts - 1];
        let next = b.until_sent(FrameKind::Rts, rts + 1);
        let wait = next.since(last + Span::us(352 + 230)).0;
        assert_eq!(wait % 20_000, 0, "whole slots");
        most = most.max(wait / 20_000);
    }
    assert!((972..=1023).contains(&most), "{most} of 1023 slots");
}

/// Packets that one node hands to another, on a link where each frame is lost with this probability.
const PACKETS: f64 = 40_000.0;

/// Shares of them that are given up after RTS and after data.
fn given_up(p: f64, counts: &str) -> [f64; 2] {
    let text = format!(
        r#"
        run = {{ stop = "100000 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 1, spacing = "10 m" }}
        wlan = {{ {RTS}, data_rate = "11 Mbit/s", retry_counts = "{counts}", error = {{ model = "uniform", rate = {p} }} }}
        routing.protocol = "shortest_path"
        queue.limit = {PACKETS}
        cbr = {{ payload = "100 B", interval = "1 ms", datagrams = {PACKETS} }}
        flow = [{{ src = 0, dst = 1, app = "cbr" }}]
        "#
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    let count = |name: &str| sim.recorder().nodes().counts(name).expect("a column")[0] as f64;
    assert_eq!(count("mac_data_packets"), PACKETS);
    let after_rts = count("given_up_after_rts");
    [after_rts / PACKETS, (count("mac_data_given_up") - after_rts) / PACKETS]
}

/// The same calculated, from the failures so far: an RTS fails when it or the CTS is lost, data when they or the ACK
/// are.
fn calculated(p: f64, short: u32, long: u32) -> [f64; 2] {
    let q = 1.0 - (1.0 - p).powi(2);
    let after_rts = if short == 6 { [1.0, 0.0] } else { calculated(p, short + 1, long) };
    let after_data = if long == 3 { [0.0, 1.0] } else { calculated(p, short, long + 1) };
    std::array::from_fn(|i| q * after_rts[i] + (1.0 - q) * q * after_data[i])
}

#[test]
fn give_up_frequency_follows_the_retry_counts() {
    let near = |found: [f64; 2], expected: [f64; 2], what: &str| {
        for (found, expected) in found.into_iter().zip(expected) {
            let sd = (expected * (1.0 - expected) / PACKETS).sqrt();
            assert!((found - expected).abs() < 4.0 * sd, "{what}: {found:.4} of {expected:.4}, sd {sd:.5}");
        }
    };
    for p in [0.1, 0.3, 0.5] {
        near(given_up(p, "mpdu"), calculated(p, 0, 0), &format!("p = {p}"));
    }
    // With the counts of ns-2: as found with another simulation of them.
    near(given_up(0.3, "station"), [0.0170, 0.0674], "counts of the station, p = 0.3");
    near(given_up(0.5, "station"), [0.295, 0.222], "counts of the station, p = 0.5");
}
