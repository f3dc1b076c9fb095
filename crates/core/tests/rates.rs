//! The table `rates`: frames and packets sent at each rate.

use crate::properties::run;
use chappe_core::packet::Kind;
use chappe_core::record::{Column, Table};
use chappe_core::sim::Sim;
use chappe_core::wlan::rate::{Algorithm, Counts};

/// One hop with datagrams at 0.5 s, 1.5 s and so on; frames of these types to a station are lost.
fn dead_link(frames: &str, rts: &str, run: &str) -> String {
    format!(
        r#"
        topology.hops = 1
        wlan = {{ data_rate = "11 Mbit/s", rts_threshold = "{rts}", rate_control.algorithm = "sample_rate",
                  error = {{ frames = "{frames}", model = "uniform", rate = 1.0 }} }}
        routing.protocol = "shortest_path"
        cbr = {{ payload = "1472 B", header_size = "28 B", interval = "1 s" }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "500 ms" }}]
        run = {{ {run} }}
        "#
    )
}

/// Rates, with the counters of data packets from one node to another.
fn counts(table: &Table, from: u64, to: u64) -> Vec<(u64, Vec<u64>)> {
    let column = |name: &str| table.counts(name).unwrap_or_else(|| panic!("no column {name}"));
    let Some(Column::Text(kinds)) = table.column("packet_class") else { panic!("no kinds") };
    let rows = (0..table.rows())
        .filter(|&i| column("node")[i] == from && column("next_hop")[i] == to && kinds[i] == Kind::Data.name());
    rows.map(|i| (column("rate_bps")[i], Counts::FIELDS.iter().map(|f| column(f.0)[i]).collect())).collect()
}

#[test]
fn a_dead_link_uses_its_chains_up() {
    // Each packet makes two attempts at its first rate, three at the best one, which is the slowest while nothing was
    // acknowledged, and three at the slowest. Its first rate is the one with the least time: each that has failed takes
    // longer than any that has not.
    let found = |text: &str| counts(&run(text, 1).recorder().rates(), 0, 1);
    // Packets, acknowledged, given up, data sent, failed, RTS failed.
    let all = [
        (1_000_000, vec![0, 0, 3, 18, 18, 0]),
        (2_000_000, vec![1, 0, 0, 2, 2, 0]),
        (5_500_000, vec![1, 0, 0, 2, 2, 0]),
        (11_000_000, vec![1, 0, 0, 2, 2, 0]),
    ];
    assert_eq!(found(&dead_link("data", "never", "stop = \"3 s\", batches = 3, warmup_batches = 0")), all);
    // The measured part has the third and the fourth packet.
    let last = [(1_000_000, vec![1, 0, 2, 14, 14, 0]), (2_000_000, vec![1, 0, 0, 2, 2, 0])];
    assert_eq!(found(&dead_link("data", "never", "stop = \"4 s\", batches = 4, warmup_batches = 2")), last);
    assert_eq!(found(&dead_link("data", "never", "stop = \"4 s\", batches = 2, warmup_batches = 1")), last);
    let rts = [(1_000_000, vec![0, 0, 1, 0, 0, 6]), (11_000_000, vec![1, 0, 0, 0, 0, 2])];
    assert_eq!(found(&dead_link("all", "always", "stop = \"1 s\", batches = 1, warmup_batches = 0")), rts);
}

#[test]
fn arf_counts_all_attempts_of_a_lost_packet_at_the_slowest_rate() {
    // From 1 Mbit/s there is no way down: all seven attempts are made there.
    let arf =
        dead_link("data", "never", "stop = \"1 s\", batches = 1, warmup_batches = 0").replace("sample_rate", "arf");
    assert_eq!(counts(&run(&arf, 1).recorder().rates(), 0, 1), [(1_000_000, vec![1, 0, 1, 7, 7, 0])]);
}

#[test]
fn cara_protects_every_second_attempt_of_a_lost_packet() {
    // The first attempt has no RTS, the second has one, which is answered, and the rate falls: the next has none. Four
    // attempts behind an RTS are the long retry limit.
    let cara =
        dead_link("data", "never", "stop = \"1 s\", batches = 1, warmup_batches = 0").replace("sample_rate", "cara");
    let sim = run(&cara, 1);
    assert_eq!(counts(&sim.recorder().rates(), 0, 1), [(1_000_000, vec![1, 0, 1, 8, 8, 0])]);
    let nodes = sim.recorder().nodes();
    assert_eq!(nodes.counts("rts_frames_sent").expect("a column"), [4, 0]);
    let none = cara.replace("rate = 1.0", "rate = 0.0");
    assert_eq!(counts(&run(&none, 1).recorder().rates(), 0, 1), [(1_000_000, vec![1, 1, 0, 1, 0, 0])]);
}

/// Three hops that lose frames by noise, with TCP in one direction and datagrams in the other.
fn lossy(algorithm: &str, protocol: &str, rts: &str) -> String {
    format!(
        r#"
        topology = {{ hops = 3, spacing = "10 m" }}
        wlan = {{ data_rate = "11 Mbit/s", basic_rate = "1 Mbit/s", rts_threshold = "{rts}",
                  rate_control.algorithm = "{algorithm}" }}
        flow = [{{ src = 0, dst = 3 }}, {{ src = 2, dst = 0, app = "cbr" }}]
        cbr.interval = "20 ms"
        tcp.ack_policy = "every"
        queue.discipline = "routing_first"
        routing.protocol = "{protocol}"
        run = {{ stop = "8 s", batches = 4, warmup_batches = 1 }}
        [radio]
        propagation = "log_distance"
        log_distance = {{ exponent = 2.2, distance = "10 m", loss = "81.6 dB" }}
        transmit_power = "0 dBm"
        reception = "sinr"
        sinr = {{ fading = "rayleigh", relock = "5 dB" }}
        "#
    )
}

/// Sums of a column of `rates` at a node, of packets of some kinds.
fn sum(table: &Table, name: &str, node: u64, kinds: &[Kind]) -> u64 {
    let Some(Column::Text(of)) = table.column("packet_class") else { panic!("no kinds") };
    let values = table.counts(name).unwrap_or_else(|| panic!("no column {name}"));
    let nodes = table.counts("node").expect("a column");
    let rows = (0..table.rows()).filter(|&i| nodes[i] == node && kinds.iter().any(|k| k.name() == of[i]));
    rows.map(|i| values[i]).sum()
}

/// Checks that both tables count the same; failures of data, acknowledgements, and other packets.
fn agrees_with_the_nodes(sim: &Sim, what: &str) -> [u64; 3] {
    let (rates, nodes) = (sim.recorder().rates(), sim.recorder().nodes());
    let [data, ack, other] = [&[Kind::Data][..], &[Kind::Ack], &[Kind::Routing, Kind::Arp]];
    for node in 0..4 {
        let at = |name: &str| nodes.counts(name).unwrap_or_else(|| panic!("no column {name}"))[node as usize];
        for (column, kinds, packets, given_up) in [
            ("data", data, "mac_data_packets", "mac_data_given_up"),
            ("ack", ack, "mac_tcp_acks", "mac_tcp_acks_given_up"),
            ("other", other, "mac_other_packets", "mac_other_given_up"),
        ] {
            assert_eq!(sum(&rates, "packets", node, kinds), at(packets), "{what}, {column} of {node}");
            assert_eq!(sum(&rates, "packets_given_up", node, kinds), at(given_up), "{what}, {column} of {node}");
        }
        let all = |name| sum(&rates, name, node, &Kind::ALL);
        for name in ["data_frames_sent", "data_frames_failed", "rts_frames_failed"] {
            assert_eq!(all(name), at(name), "{what}, {name} of {node}");
        }
        // At the borders of the measured part one packet may be on its way.
        let acknowledged = all("packets_acked");
        assert!((all("data_frames_sent") - all("data_frames_failed")).abs_diff(acknowledged) <= 1, "{what}, {node}");
        assert!(all("packets").abs_diff(acknowledged + all("packets_given_up")) <= 1, "{what}, {node}");
    }
    [data, ack, other].map(|kinds| (0..4).map(|node| sum(&rates, "data_frames_failed", node, kinds)).sum())
}

#[test]
fn rates_and_nodes_count_the_same() {
    for algorithm in Algorithm::ALL.iter().filter(|a| a.chooses_rates() && !a.over_aggregates()).map(|a| a.word()) {
        let mut failed = [0; 3];
        for (protocol, rts) in [("shortest_path", "never"), ("shortest_path", "always"), ("aodv", "never")] {
            let what = format!("{algorithm}, {protocol}, RTS {rts}");
            let more = agrees_with_the_nodes(&run(&lossy(algorithm, protocol, rts), 1), &what);
            failed = std::array::from_fn(|i| failed[i] + more[i]);
        }
        // CARA protects what has failed once.
        let least = if algorithm == "cara" { 3 } else { 10 };
        assert!(
            failed.iter().all(|&n| n > least),
            "{algorithm}: data, acknowledgements, others have failed {failed:?} times"
        );
    }
}

#[test]
fn named_rates_limit_the_choice_and_count_once() {
    let named = |rates: &str| {
        let text = lossy("minstrel", "shortest_path", "never");
        run(
            &text.replace("rate_control.algorithm", &format!("rate_control.rates = {rates}, rate_control.algorithm")),
            1,
        )
    };
    let sent = |sim: &Sim| {
        let rates = sim.recorder().rates();
        let (bps, sent) =
            (rates.counts("rate_bps").expect("a column"), rates.counts("data_frames_sent").expect("a column"));
        let mut by_rate = std::collections::BTreeMap::new();
        for (rate, n) in bps.iter().zip(sent) {
            *by_rate.entry(*rate).or_insert(0) += n;
        }
        by_rate.into_iter().filter(|&(_, n)| n > 0).map(|(rate, _)| rate).collect::<Vec<_>>()
    };
    let few = named(r#"["2 Mbit/s", "11 Mbit/s"]"#);
    assert_eq!(sent(&few), [2_000_000, 11_000_000]);
    agrees_with_the_nodes(&few, "two rates");
    let once = r#""1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s""#;
    let twice = named(&format!("[{once}, {once}]"));
    assert_eq!(sent(&twice), [1_000_000, 2_000_000, 5_500_000, 11_000_000]);
    agrees_with_the_nodes(&twice, "each rate twice");
    let (a, b) = (named(&format!("[{once}]")), run(&lossy("minstrel", "shortest_path", "never"), 1));
    assert_eq!(
        a.recorder().rates().counts("data_frames_sent"),
        b.recorder().rates().counts("data_frames_sent"),
        "all of the PHY"
    );
}

#[test]
fn fixed_rates_have_no_rows() {
    let rates = run(&lossy("fixed", "aodv", "never"), 1).recorder().rates();
    assert_eq!((rates.rows(), rates.columns.len()), (0, 5 + Counts::FIELDS.len()));
}

#[test]
fn ack_shorter_than_a_cts_is_in_time_after_rts_and_cts() {
    // The receiver that has sent a CTS knows the end of the data by the Duration of the RTS, not the rate of the data.
    for (rate, response) in [("11 Mbit/s", "5.5 Mbit/s"), ("11 Mbit/s", "1 Mbit/s"), ("1 Mbit/s", "11 Mbit/s")] {
        let text = format!(
            r#"
            topology.hops = 1
            wlan = {{ data_rate = "{rate}", basic_rate = "2 Mbit/s", response_rates = ["1 Mbit/s", "{response}"] }}
            routing.protocol = "shortest_path"
            cbr.interval = "100 ms"
            flow = [{{ src = 0, dst = 1, app = "cbr" }}]
            run = {{ stop = "1 s", batches = 1, warmup_batches = 0 }}
            "#
        );
        let nodes = run(&text, 1).recorder().nodes();
        let sum = |name: &str| nodes.counts(name).unwrap_or_default().iter().sum::<u64>();
        assert!(sum("data_frames_sent") >= 9, "{} data frames", sum("data_frames_sent"));
        assert_eq!((sum("data_frames_failed"), sum("rts_frames_failed")), (0, 0), "{rate}, {response}");
    }
}
