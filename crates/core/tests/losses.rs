//! Causes of frame losses in known situations: stations with one attempt, and one datagram each.

use crate::properties::run;
use crate::record::{Cell, record_some};
use chappe_core::record::loss::Cause;
use chappe_core::run::RecordedTable;
use chappe_core::run::Setup;
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

/// Nodes on a line that send as soon as the medium was idle for DIFS, and give up after one attempt: causes of the
/// packets given up.
fn causes(positions: &[u32], more: &str) -> Vec<(String, u64)> {
    let mut sim = Sim::new(&setup(positions, more));
    sim.run();
    let packet_outcomes = sim.recorder().packet_outcomes();
    let named = packet_outcomes.columns.iter().filter_map(|(name, _)| Some((name, name.strip_prefix("retry_limit_")?)));
    let counted =
        named.map(|(name, cause)| (cause.to_owned(), packet_outcomes.counts(name).expect("a column").iter().sum()));
    counted.filter(|(_, packets)| *packets > 0).collect()
}

fn setup(positions: &[u32], more: &str) -> Setup {
    let positions: Vec<String> = positions.iter().map(|x| format!("[\"{x} m\", \"0 m\"]")).collect();
    let text = format!(
        r#"
        run = {{ stop = "3 s", batches = 2 }}
        wlan = {{ short_retry_limit = 1, long_retry_limit = 1, rts_threshold = "500 B",
                 first_access = "backoff", backoff_range = "exclusive", cw_min = 1, cw_max = 1 }}
        routing.protocol = "shortest_path"
        cbr.datagrams = 1
        topology = {{ kind = "list", positions = [{}] }}
        {more}
        "#,
        positions.join(", ")
    );
    Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}")).setup(None)
}

fn datagram(from: u32, to: u32, start: &str, more: &str) -> String {
    format!("[[flow]]\napp = \"cbr\"\nsrc = {from}\ndst = {to}\nstart = \"{start}\"\n{more}\n")
}

#[test]
fn two_stations_that_begin_at_once_do_not_hear_each_other() {
    let flows = datagram(0, 1, "1 s", "") + &datagram(1, 0, "1 s", "");
    assert_eq!(causes(&[0, 200], &flows), [("transmitting".to_owned(), 2)]);
}

#[test]
fn a_hidden_terminal_destroys_what_the_receiver_hears() {
    // 0 and 2 do not sense each other; 1 hears 0 and senses 2, which sends a long frame to 3 without asking.
    let flows = datagram(2, 3, "1 s", "cbr.payload = \"400 B\"") + &datagram(0, 1, "1.001 s", "");
    assert_eq!(causes(&[0, 200, 600, 800], &flows), [("hidden_terminal".to_owned(), 1)]);
}

#[test]
fn two_neighbors_that_begin_at_once_destroy_each_others_frames() {
    let flows = datagram(0, 1, "1 s", "") + &datagram(2, 1, "1 s", "");
    assert_eq!(causes(&[0, 100, 200], &flows), [("same_slot".to_owned(), 2)]);
}

#[test]
fn an_answer_is_sent_without_listening_first() {
    // 0 and 2 sense each other, 0 and 3 do not. Between the frame of 3 and the ACK of 2, 0 begins to send to 1.
    let positions = [0, 200, 240, 480];
    let radio = "radio = { propagation = \"range\", range = \"250 m\", sense_range = \"250 m\" }\n";
    let first = |flow: &str, end: bool| {
        let setup = setup(&positions, &(radio.to_owned() + flow));
        let frames = record_some(Setup { record: vec![RecordedTable::Frames], ..setup }).tables.remove("frames");
        let row = frames.expect("a table").into_iter().find(|f| f["src"] != Cell::Int(2)).expect("a frame");
        row["time_s"].float() + if end { row["airtime_s"].float() } else { 0.0 }
    };
    let long = datagram(3, 2, "1 s", "cbr.payload = \"400 B\"");
    let waits = first(&datagram(0, 1, "1 s", ""), false) - 1.0;
    let start = first(&long, true) - waits + 5e-6;
    let flows = long + &datagram(0, 1, &format!("{start} s"), "");
    assert_eq!(causes(&positions, &(radio.to_owned() + &flows)), [("same_slot".to_owned(), 1)]);
}

#[test]
fn a_receiver_that_has_gone_is_out_of_range() {
    // It is sensed at 400 m, and at 700 m it is not.
    for x in [400, 700] {
        let gone = format!(
            "event = [{{ at = \"0.9 s\", action = \"node_move\", node = 1, position = [\"{x} m\", \"0 m\"] }}]\n"
        );
        let flows = datagram(0, 1, "0.5 s", "cbr = { datagrams = 2, interval = \"500 ms\" }");
        assert_eq!(causes(&[0, 200], &(gone + &flows)), [("out_of_range".to_owned(), 1)]);
    }
}

#[test]
fn locked_receiver_does_not_decode_a_weaker_frame() {
    // All begin at once. At 1 the frame of 2, from 60 m, is 256 times as strong as that of 0, from 240 m.
    let flows = datagram(0, 1, "1 s", "") + &datagram(2, 3, "1 s", "");
    assert_eq!(causes(&[0, 240, 300, 400], &flows), [("captured".to_owned(), 1)]);
}

#[test]
fn nav_forbids_the_cts() {
    // 1 hears the CTS of 2 for the long frame of 3, which neither 0 nor 1 senses.
    let radio = "radio = { propagation = \"range\", range = \"250 m\", sense_range = \"250 m\" }\n";
    let flows = datagram(3, 2, "1 s", "") + &datagram(0, 1, "1.003 s", "");
    assert_eq!(causes(&[0, 200, 400, 600], &(radio.to_owned() + &flows)), [("refused".to_owned(), 1)]);
}

#[test]
fn the_answer_is_lost_to_a_terminal_that_the_receiver_does_not_hear() {
    // 1 and 2 begin at once; the long frame of 1, which 3 does not sense, destroys the CTS of 3.
    let flows = datagram(1, 0, "1 s", "cbr.payload = \"400 B\"") + &datagram(2, 3, "1 s", "");
    assert_eq!(causes(&[0, 200, 600, 840], &flows), [("response_lost".to_owned(), 1)]);
}

/// Two stations that send to a third without RTS, whenever they can: causes of all packets given up.
fn saturated(spacing: u32, radio: &str, seed: u64) -> Vec<(&'static str, u64)> {
    let text = format!(
        r#"
        run = {{ stop = "5 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 2, spacing = "{spacing} m" }}
        radio = {{ {radio} }}
        wlan = {{ data_rate = "11 Mbit/s", rts_threshold = "never", short_retry_limit = 1, long_retry_limit = 1 }}
        routing.protocol = "shortest_path"
        arp.enabled = false
        cbr = {{ interval = "2 ms", payload = "1000 B" }}
        flow = [{{ src = 0, dst = 1, app = "cbr" }}, {{ src = 2, dst = 1, app = "cbr" }}]
        "#
    );
    let sim = run(&text, seed);
    let packet_outcomes = sim.recorder().packet_outcomes();
    let lost = |(_, word, _): &(Cause, &'static str, &str)| {
        (*word, packet_outcomes.counts(&format!("retry_limit_{word}")).expect("a column").iter().sum())
    };
    Cause::ALL.iter().map(lost).filter(|c| c.1 > 0).collect()
}

#[test]
fn who_hears_all_others_loses_nothing_to_a_hidden_terminal() {
    let pairs = "range = \"250 m\", sense_range = \"250 m\"";
    // Over 200 m the ratio to the noise is 18 dB, over 400 m 9 dB: below what is detected.
    let sums = "propagation = \"log_distance\", log_distance = { exponent = 3, distance = \"200 m\", loss = \"94 dB\" }, \
                transmit_power = \"18 dBm\", reception = \"sinr\", sinr.preamble_detection = \"12 dB\"";
    for (seed, radio) in [(1, pairs), (2, pairs), (1, sums), (2, sums)] {
        let of = |spacing| saturated(spacing, radio, seed);
        let count = |found: &[(&str, u64)], word| found.iter().find(|c| c.0 == word).map_or(0, |c| c.1);
        let (near, far) = (of(50), of(200));
        assert!(count(&near, "same_slot") > 10 && count(&near, "hidden_terminal") == 0, "{near:?}");
        assert!(count(&far, "hidden_terminal") > 100 && count(&far, "same_slot") == 0, "{far:?}");
        // With cumulative interference, receivers lock on the frame that they detect first.
        let others = |found: &[(&'static str, u64)]| found.len() as u64 - 1 - count(found, "captured").min(1);
        assert_eq!([others(&near), others(&far)], [0, 0], "{near:?} {far:?}");
    }
}
