//! Airtime of every node, to the nanosecond.

use super::air::run;
use chappe_core::record::trace::{Line, What};
use chappe_core::sim::Sim;
use chappe_core::unit::Time;

const RTS: u64 = 352_000;
const CTS: u64 = 304_000;
const ACK: u64 = 304_000;
/// 1494 B at 2 Mbit/s.
const DATA: u64 = 6_168_000;
const SIFS: u64 = 10_000;
const EIFS: u64 = 364_000;
/// Propagation delays over 200, 400 and 600 m.
const D: [u64; 4] = [0, 667, 1_333, 2_000];
const SECOND: u64 = 1_000_000_000;

/// Times of a node [ns]; those not listed are zero.
fn budget(sim: &Sim, node: usize) -> Vec<(String, u64)> {
    let table = sim.recorder().airtime();
    let uses = table.columns.iter().filter(|c| c.0.ends_with("_s"));
    let ns = |name: &str| (table.numbers(name).expect("a column")[node] * 1e9).round() as u64;
    uses.map(|(name, _)| (name.trim_end_matches("_s").to_owned(), ns(name))).filter(|u| u.1 > 0).collect()
}

fn time(sim: &Sim, node: usize, used: &str) -> u64 {
    budget(sim, node).iter().find(|u| u.0 == used).map_or(0, |u| u.1)
}

fn assert_uses(sim: &Sim, node: usize, expected: &[(&str, u64)]) {
    let found = budget(sim, node);
    let found: Vec<(&str, u64)> = found.iter().map(|u| (u.0.as_str(), u.1)).collect();
    assert_eq!(found, expected, "node {node}");
}

/// One datagram from node 0 to node 1 of a chain, with three seconds to do it.
fn exchange(hops: u32, wlan: &str) -> (Sim, Time) {
    let (sim, lines) = run(&format!(
        r#"
        run = {{ stop = "3 s", batches = 1, warmup_batches = 0, airtime = true }}
        topology = {{ hops = {hops} }}
        routing = {{ protocol = "shortest_path" }}
        wlan = {{ {wlan} }}
        cbr = {{ payload = "1460 B", header_size = "0 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "1 s" }}]
        "#
    ));
    let start = lines.iter().find(|l| l.what == What::Sent).expect("something is sent").at;
    (sim, start)
}

#[test]
fn two_stations_and_an_exchange() {
    let (sim, start) = exchange(1, "");
    // Node 1 waits SIFS twice, and once for the data that follow its CTS.
    let between = SIFS + (D[1] + SIFS + D[1]) + SIFS;
    assert_uses(
        &sim,
        1,
        &[
            ("control", CTS + ACK),
            ("reception", RTS + DATA),
            ("backoff", between),
            ("idle", 3 * SECOND - RTS - CTS - DATA - ACK - between),
        ],
    );
    // Node 0 waits for CTS and ACK, SIFS before the data, before the RTS from the arrival of the datagram on, and at
    // last for DIFS and some slots after the ACK.
    let before = start.0 - (SECOND + 25_000);
    let between = 2 * (D[1] + SIFS + D[1]) + SIFS;
    let backoff = time(&sim, 0, "backoff");
    let slots = backoff - before - between - 50_000;
    assert!(slots.is_multiple_of(20_000) && slots <= 30 * 20_000, "{slots} ns of slots");
    assert_uses(
        &sim,
        0,
        &[
            ("data", DATA),
            ("control", RTS),
            ("reception", CTS + ACK),
            ("backoff", backoff),
            ("idle", 3 * SECOND - RTS - CTS - DATA - ACK - backoff),
        ],
    );
}

#[test]
fn a_third_station_defers_to_the_cts() {
    // Node 2 senses RTS and data of node 0, and reads CTS and ACK of node 1. From the start of the RTS on:
    let rts_ends = D[2] + RTS;
    let cts_comes = D[1] + RTS + SIFS + D[1];
    let data_come = D[1] + RTS + SIFS + D[1] + CTS + SIFS + D[2];
    let ack_comes = data_come - D[2] + D[1] + DATA + SIFS + D[1];
    let (cts_ends, data_end, ack_ends) = (cts_comes + CTS, data_come + DATA, ack_comes + ACK);
    // The CTS announces the data, the ACK and two SIFS, in whole microseconds.
    assert!((data_end..ack_ends).contains(&(cts_ends + DATA + ACK + 2 * SIFS)), "the NAV ends during the ACK");
    let nav = (data_come - cts_ends) + (ack_comes - data_end);
    for (eifs, expected) in [
        // After the RTS until the CTS comes, and after the data for what the ACK leaves of it.
        ("nav", (cts_comes - rts_ends) + (data_end + EIFS - ack_ends)),
        // The ACK, which was read, ends it.
        ("instead_of_difs", cts_comes - rts_ends),
        ("after_frame", cts_comes - rts_ends),
        ("difs", 0),
    ] {
        let (sim, _) = exchange(2, &format!("eifs = \"{eifs}\""));
        let uses = [
            ("reception", CTS + ACK),
            ("carrier_sense", RTS + DATA),
            ("nav", nav),
            ("eifs", expected),
            ("idle", 3 * SECOND - RTS - CTS - DATA - ACK - nav - expected),
        ];
        let uses: Vec<(&str, u64)> = uses.into_iter().filter(|u| u.1 > 0).collect();
        assert_uses(&sim, 2, &uses);
    }
}

#[test]
fn a_station_that_only_senses_defers_and_waits_for_eifs() {
    // Node 3 senses node 1 and nobody else.
    for (eifs, expected) in [("nav", 2 * EIFS), ("instead_of_difs", 2 * EIFS), ("after_frame", 2 * EIFS), ("difs", 0)] {
        let (sim, _) = exchange(3, &format!("eifs = \"{eifs}\""));
        let uses = [("carrier_sense", CTS + ACK), ("eifs", expected), ("idle", 3 * SECOND - CTS - ACK - expected)];
        let uses: Vec<(&str, u64)> = uses.into_iter().filter(|u| u.1 > 0).collect();
        assert_uses(&sim, 3, &uses);
    }
}

#[test]
fn a_station_out_of_range_is_idle() {
    let (sim, _) = exchange(4, "");
    assert_uses(&sim, 4, &[("idle", 3 * SECOND)]);
}

/// Datagrams of two pairs whose senders do not hear each other: 0 to 1, and 3 to 4.
fn hidden(zero: &str, three: &str, rules: &str) -> (Sim, Vec<Line>) {
    run(&format!(
        r#"
        run = {{ stop = "3 s", batches = 1, warmup_batches = 0, airtime = true }}
        topology = {{ hops = 4 }}
        routing = {{ protocol = "shortest_path" }}
        wlan = {{ rts_threshold = "never", {rules} }}
        cbr = {{ payload = "1460 B", header_size = "0 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "{zero}" }},
                {{ src = 3, dst = 4, app = "cbr", start = "{three}" }}]
        "#
    ))
}

fn sent(lines: &[Line], node: u32, kind: &str) -> Vec<u64> {
    let mine = lines.iter().filter(|l| l.radio.0 == node && l.what == What::Sent && l.kind.name() == kind);
    mine.map(|l| l.at.0).collect()
}

#[test]
fn collided_frame_is_lost_time_and_its_repeat_a_retransmission() {
    let (sim, lines) = hidden("1.0029 s", "1 s", "");
    let (zero, three) = (sent(&lines, 0, "DATA"), sent(&lines, 3, "DATA"));
    assert_eq!((zero.len(), three.len()), (2, 1));
    assert_eq!(
        (time(&sim, 0, "collided"), time(&sim, 0, "retransmitted_data"), time(&sim, 0, "data")),
        (DATA, DATA, 0)
    );
    assert_eq!((time(&sim, 3, "collided"), time(&sim, 3, "data")), (0, DATA));
    // Node 1 senses the frame of 3 and, without a gap, the rest of the frame of 0 that it spoils; then the ACK of 4,
    // 600 m away, is not there; the second frame of 0 can be read.
    assert_eq!(time(&sim, 1, "carrier_sense"), (zero[0] + D[1] + DATA) - (three[0] + D[2]));
    assert_eq!(time(&sim, 1, "reception"), DATA);
}

#[test]
fn captured_over_frame_counts_as_carrier_sense() {
    for (rule, reserved) in [("nav", true), ("busy", false)] {
        let (sim, lines) = hidden("1 s", "1.0029 s", &format!("captured_frame = \"{rule}\""));
        let (zero, three) = (sent(&lines, 0, "DATA")[0], sent(&lines, 3, "DATA")[0]);
        assert_eq!((time(&sim, 0, "data"), time(&sim, 3, "data"), time(&sim, 0, "collided")), (DATA, DATA, 0));
        assert_eq!(time(&sim, 1, "reception"), DATA);
        // Node 1 answers in the middle of the frame of 3, which goes on without it.
        let ack_ends = zero + D[1] + DATA + SIFS + ACK;
        let weak_ends = three + D[2] + DATA;
        assert!(weak_ends > ack_ends);
        assert_eq!(time(&sim, 1, "carrier_sense"), SIFS + (weak_ends - ack_ends));
        assert_eq!(time(&sim, 1, "eifs"), if reserved { EIFS } else { 0 });
    }
}

#[test]
fn unfinished_frame_is_booked_up_to_the_end_of_the_run() {
    // The run ends in the middle of the data frame.
    let (_, start) = exchange(1, "");
    let stop = start.0 + RTS + CTS + 1_000_000;
    let (sim, _) = run(&format!(
        r#"
        run = {{ stop = "{stop} ns", batches = 1, warmup_batches = 0, airtime = true }}
        topology = {{ hops = 1 }}
        routing = {{ protocol = "shortest_path" }}
        cbr = {{ payload = "1460 B", header_size = "0 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "1 s" }}]
        "#
    ));
    let data_start = D[1] + RTS + SIFS + D[1] + CTS + SIFS;
    assert_eq!(time(&sim, 0, "data"), stop - start.0 - data_start);
    // The outcome of the frame is not known yet.
    assert_eq!(time(&sim, 1, "carrier_sense"), stop - start.0 - data_start - D[1]);
    for node in 0..2 {
        assert_eq!(budget(&sim, node).iter().map(|u| u.1).sum::<u64>(), stop);
    }
}

#[test]
fn energy_as_ns2_subtracts_it() {
    // ns-2.35, 0.3 W and 0.5 W: a datagram of 500 B costs its sender 1.108 mJ; who senses all four frames pays for each.
    let (sim, _) = run(r#"
        run = { stop = "3 s", batches = 1, warmup_batches = 0, airtime = true }
        topology = { kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["100 m", "400 m"]] }
        routing = { protocol = "shortest_path" }
        radio = { energy = { transmit = "0.3 W", receive = "0.5 W", idle = "0 W" } }
        cbr = { payload = "500 B", header_size = "0 B", datagrams = 1 }
        flow = [{ src = 0, dst = 1, app = "cbr", start = "1 s" }]
        "#);
    let joules = sim.recorder().airtime().numbers("energy_j").expect("a column");
    let expected =
        [0.3 * 2680e-6 + 0.5 * 608e-6, 0.3 * 608e-6 + 0.5 * 2680e-6, 0.5 * (352e-6 + 304e-6 + 2328e-6 + 304e-6)];
    assert!((expected[0] - 1.108e-3_f64).abs() < 1e-12);
    for (found, expected) in joules.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} J instead of {expected} J");
    }
    let all = sim.recorder().batches().numbers("energy_j").expect("a column");
    assert!((all[0] / expected.iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn air_time_is_off_by_default() {
    let (sim, _) = run("run = { stop = \"2 s\" }\ntopology = { hops = 1 }");
    assert_eq!(sim.recorder().airtime().rows(), 0);
    assert!(sim.recorder().batches().numbers("energy_j").expect("a column").iter().all(|j| j.is_nan()));
}
