//! Frames at their receivers (table `heard`), and the state of all stations at an instant. Whoever looks changes nothing.

use crate::observers::all_kinds;
use crate::properties::{everything, scenario};
use crate::record::{Cell, Row, record_some, rows};
use chappe_core::run::{RecordedTable, Setup};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Two datagrams, one of them lost: nodes 0 and 2 do not sense each other, and node 1 decodes the first.
const HIDDEN: &str = r#"
    extends = "standard"
    run = { stop = "2 s", batches = 2 }
    routing.protocol = "shortest_path"
    arp.enabled = false
    cbr.datagrams = 1
    wlan = { short_retry_limit = 1, long_retry_limit = 1, rts_threshold = "never", first_access = "backoff",
             backoff_range = "exclusive", cw_min = 1, cw_max = 1 }
    topology = { kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["600 m", "0 m"], ["800 m", "0 m"]] }
    flow = [{ src = 0, dst = 1, start = "1.001 s", app = "cbr" },
            { src = 2, dst = 3, start = "1 s", app = "cbr" }]
"#;

#[test]
fn a_frame_is_decoded_sensed_or_lost_where_the_distances_say() {
    let setup = Setup { record: vec![RecordedTable::Heard, RecordedTable::Frames], ..scenario(HIDDEN).setup(None) };
    let mut tables = record_some(setup).tables;
    let (heard, frames) = (tables.remove("heard").expect("it"), tables.remove("frames").expect("it"));
    let verdicts: Vec<_> = heard.iter().map(|r| (r["node"].int(), r["src"].int(), r["verdict"])).collect();
    // The data of node 2 reach node 3 (200 m); node 1 (400 m) senses them until the data of node 0 meet them there:
    // those end later, so that node 1 stays locked on them. Node 3 answers node 2; the ACK is out of range of 0 and 1.
    let word = Cell::Word;
    assert_eq!(verdicts, [(3, 2, word("decoded")), (2, 3, word("decoded")), (1, 0, word("collided"))]);
    for row in &heard {
        let frame = frames.iter().find(|f| f["src"] == row["src"] && f["time_s"] == row["started_at_s"]);
        let frame = frame.expect("every row belongs to a frame");
        let delay = row["time_s"].float() - frame["time_s"].float() - frame["airtime_s"].float();
        assert!((0.6e-6..0.7e-6).contains(&delay), "200 m: {delay}");
    }
}

fn at(sim: &Sim, column: &str) -> Vec<Cell> {
    rows(&sim.stations()).iter().map(|row| row[column]).collect()
}

#[test]
fn stations_are_seen_as_the_standard_says() {
    let text = r#"
        extends = "standard"
        run = { stop = "2 s", batches = 2 }
        routing.protocol = "shortest_path"
        arp.enabled = false
        cbr.datagrams = 2
        wlan = { rts_threshold = "always", cw_min = 7, cw_max = 7 }
        topology.hops = 3
        radio.energy.battery = "100 J"
        flow = [{ src = 1, dst = 2, start = "1 s", app = "cbr" }]
    "#;
    let mut sim = Sim::new(&scenario(text).setup(None));
    let none = Cell::Null;
    assert_eq!(at(&sim, "backoff_slots"), [none; 4]);
    assert_eq!(at(&sim, "state"), [Cell::Word("idle"); 4]);
    assert_eq!(at(&sim, "remaining_j"), [Cell::Float(100.0); 4]);
    assert_eq!(at(&sim, "x_m"), [0.0, 200.0, 400.0, 600.0].map(Cell::Float));
    assert_eq!(at(&sim, "airtime_neighbor"), [none; 4], "there are no queues of mac80211");
    assert_eq!(at(&sim, "airtime_category"), [none; 4]);
    assert!(at(&sim, "airtime_deficit_us").iter().all(|us| us.float().is_nan()));
    assert_eq!(sim.until(Time(1_000_000_000)), Halt::Reached);
    // An idle medium: the RTS follows at once, and lasts 352 us with a preamble of 192 us.
    assert_eq!(at(&sim, "state")[1], Cell::Word("transmitting"));
    sim.until(sim.now() + Span::us(100));
    let word = Cell::Word;
    assert_eq!(at(&sim, "state"), [word("decoding"), word("transmitting"), word("decoding"), word("sensing")]);
    assert_eq!(at(&sim, "src"), [Cell::Int(1), none, Cell::Int(1), Cell::Int(1)]);
    assert_eq!(at(&sim, "holding")[1], Cell::Flag(true));
    assert_eq!(at(&sim, "cw"), [Cell::Int(7); 4]);
    // After the RTS node 0 keeps the NAV of its duration field, and node 2 answers with a CTS.
    let begun = sim.now();
    sim.until(begun + Span::us(300));
    let Cell::Float(first) = at(&sim, "nav_time_s")[0] else { panic!("a number") };
    assert!(first > 1e-3, "CTS, data and ACK are to come: {first}");
    assert_eq!(at(&sim, "state")[2], word("transmitting"));
    sim.until(begun + Span::us(400));
    let Cell::Float(second) = at(&sim, "nav_time_s")[0] else { panic!("a number") };
    assert!((first - second - 100e-6).abs() < 1e-12, "{first} {second}");
    assert_eq!(at(&sim, "nav_time_s")[2], Cell::Float(0.0), "the NAV is for others");
    sim.until(Time(1_900_000_000));
    assert!(at(&sim, "remaining_j").iter().all(|left| left.float() < 100.0));
}

/// A station begins with 256 us. Two datagrams of 1,500 B at MCS 7, MPDUs of 1,538 B, last 36 + 48 * 4 us each. The sender
/// charges them to the receiver; the receiver, where nothing waits for the sender, charges nothing.
#[test]
fn deficits_are_those_of_airtime_fairness() {
    for fair in [true, false] {
        let text = format!(
            r#"
            extends = "802.11n"
            run = {{ stop = "2 s", batches = 2 }}
            topology = {{ hops = 1, spacing = "20 m" }}
            routing.protocol = "shortest_path"
            arp.enabled = false
            cbr = {{ datagrams = 2, payload = "1472 B", interval = "1 ms" }}
            wlan = {{ queues = "mac80211", mac80211.airtime_fairness = {fair}, aggregation.max_mpdus = 1 }}
            flow = [{{ src = 0, dst = 1, start = "1 s", app = "cbr" }}]
        "#
        );
        let mut sim = Sim::new(&scenario(&text).setup(None));
        assert!(at(&sim, "airtime_deficit_us").iter().all(|us| us.float().is_nan()));
        sim.until(Time(1_000_900_000));
        let first = at(&sim, "airtime_deficit_us");
        sim.until(Time(1_900_000_000));
        if !fair {
            assert!(first.iter().chain(&at(&sim, "airtime_deficit_us")).all(|us| us.float().is_nan()));
            assert_eq!(at(&sim, "airtime_neighbor"), [Cell::Null; 2]);
            continue;
        }
        assert_eq!(first, [28.0, 256.0].map(Cell::Float));
        // A turn gives the receiver another 256 us.
        assert_eq!(at(&sim, "airtime_deficit_us"), [56.0, 256.0].map(Cell::Float));
        assert_eq!(at(&sim, "airtime_neighbor"), [1, 0].map(Cell::Int));
        assert_eq!(at(&sim, "airtime_category"), [Cell::Word("best_effort"); 2]);
    }
}

/// Seen at the beginning and in the middle of each slot, a backoff counts down by one.
#[test]
fn a_backoff_counts_down() {
    let text = r#"
        extends = "standard"
        run = { stop = "2 s", batches = 2 }
        wlan.first_access = "backoff"
        topology.hops = 1
    "#;
    let mut sim = Sim::new(&scenario(text).setup(Some(3)));
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    for us in (0..400_000).step_by(10) {
        sim.until(Time(us * 1000 + 1));
        for row in rows(&sim.stations()) {
            if let (Cell::Int(left), Cell::Flag(true)) = (row["backoff_slots"], row["counting"]) {
                *seen.entry(left).or_default() += 1;
                assert!(left <= row["cw"].int());
            }
        }
    }
    // A slot of 20 us has two looks, but for the last slot, whose end is the transmission.
    assert!(seen[&1] > 20 && seen[&5] > 20, "{seen:?}");
    assert!(seen[&1] >= seen[&5] && seen[&5] >= seen[&20], "a smaller number is passed by more backoffs: {seen:?}");
}

fn key(row: &Row, time: &str) -> (u64, u64, u64) {
    (row["src"].int(), row["channel"].int(), (row[time].float() * 1e9).round() as u64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Looking at the stations between steps, and recording who heard what, changes no byte.
    #[test]
    fn looking_changes_nothing(
        text in all_kinds(),
        seed in any::<u32>(),
        steps in prop::collection::vec(1..400_000u64, 1..6),
    ) {
        let setup = Setup { airtime: true, ..scenario(&text).setup(Some(seed.into())) };
        let (mut alone, mut watched) =
            (Sim::new(&setup), Sim::new(&Setup { record: vec![RecordedTable::Heard], ..setup.clone() }));
        let mut driven = alone.clone();
        let end = alone.run();
        let mut until = Time::ZERO;
        for us in steps.iter().cycle() {
            until += Span::us(*us);
            let halt = watched.until(until);
            let stations = rows(&watched.stations());
            driven.until(until);
            let others = rows(&driven.stations());
            for (row, other) in stations.iter().zip(&others) {
                prop_assert!(format!("{row:?}") == format!("{other:?}"), "{:?}\n{:?}", row.1, other.1);
            }
            prop_assert_eq!(stations.len(), setup.interfaces.radios.len());
            for row in &stations {
                let sends = row["state"] == "transmitting" || row["state"] == "off";
                prop_assert!(!(sends && row["src"] != Cell::Null), "{:?}", row);
                prop_assert!(row["nav_time_s"].float() >= 0.0);
            }
            match halt {
                Halt::Reached => prop_assert!(watched.next_at().is_none_or(|at| at >= watched.now())),
                Halt::End(other) => {
                    prop_assert_eq!(other, end);
                    break;
                }
                Halt::Events => unreachable!("no flow is external"),
            }
        }
        prop_assert_eq!(watched.now(), alone.now());
        prop_assert!(everything(watched.recorder()) == everything(alone.recorder()));
    }

    /// As many receivers decoded a frame as its row in `frames` counts, and no node hears its own frame.
    #[test]
    fn heard_frames_are_those_on_the_air(text in all_kinds(), seed in any::<u32>()) {
        let record = vec![RecordedTable::Frames, RecordedTable::Heard];
        let tables = record_some(Setup { record, ..scenario(&text).setup(Some(seed.into())) }).tables;
        let mut decoded: BTreeMap<(u64, u64, u64), Vec<u64>> = BTreeMap::new();
        for row in &tables["heard"] {
            prop_assert_ne!(row["node"], row["src"]);
            prop_assert!(row["time_s"].float() > row["started_at_s"].float());
            if row["verdict"] == "decoded" {
                decoded.entry(key(row, "started_at_s")).or_default().push(row["node"].int());
            }
        }
        for frame in tables["frames"].iter().filter(|f| f["outcome"] != Cell::Null) {
            let by = decoded.get(&key(frame, "time_s")).map_or(&[][..], Vec::as_slice);
            let dst = frame["dst"];
            let intended = by.iter().filter(|n| dst == Cell::Null || dst == Cell::Int(**n)).count() as u64;
            prop_assert_eq!(Cell::Int(intended), frame["decoded_by"], "{:?}", frame);
        }
    }
}

/// The rest of a signal, noticed at the next frame, which comes after more silence than any signal lasts.
#[test]
fn a_signal_noticed_after_a_long_silence_has_the_begin_of_its_frame() {
    let text = r#"
        extends = "standard"
        run = { stop = "2 s", batches = 3, warmup_batches = 1 }
        topology = { kind = "random", nodes = 12, width = "600 m", height = "400 m", seed = 24 }
        wlan = { data_rate = "1 Mbit/s", rts_threshold = "always" }
        routing.protocol = "dsdv"
        cbr = { interval = "7 ms", payload = "700 B" }
        flow = [{ src = 4, dst = 8, start = "8 ms", app = "cbr" }]

        [radio]
        propagation = "log_distance"
        log_distance = { exponent = 3, distance = "60 m", loss = "78 dB" }
        transmit_power = "24.5 dBm"
        reception = "sinr"
        shadowing = "2 dB"
        sinr = { relock = "3 dB", energy_detection = "-85 dBm" }
    "#;
    let record = vec![RecordedTable::Heard];
    let tables = record_some(Setup { record, ..scenario(text).setup(Some(885_498_875)) }).tables;
    let airtimes = tables["heard"].iter().map(|row| row["time_s"].float() - row["started_at_s"].float());
    assert!(airtimes.fold(f64::INFINITY, f64::min) > 300e-6, "no frame is shorter than an ACK at 1 Mbit/s");
}

/// Links follow motion: at first a node is decoded, then only sensed, then neither.
#[test]
fn links_are_those_of_the_current_positions() {
    let text = r#"
        run = { stop = "60 s", batches = 2 }
        topology.hops = 1
        event = [{ at = "1 s", action = "node_move", node = 1, destination = ["1200 m", "0 m"], speed = "20 m/s" }]
    "#;
    let mut sim = Sim::new(&scenario(text).setup(None));
    // At 200 m; at 400 m, between range and carrier-sense range; at 600 m, beyond both.
    let mut links = |at: u64| {
        sim.until(Time(at * 1_000_000_000));
        sim.links().iter().map(|l| (l.0.0, l.1.0, l.2, l.3.map(|rate| rate.0))).collect::<Vec<_>>()
    };
    assert_eq!(links(1), [(0, 1, 1, Some(11_000_000)), (1, 0, 1, Some(11_000_000))]);
    assert_eq!(links(11), [(0, 1, 1, None), (1, 0, 1, None)]);
    assert_eq!(links(21), []);
}
