//! Point-to-point links and radio together: base stations, routes across both, errors at receivers.

use crate::outcomes;
use crate::properties::{found_by, protocols};
use chappe_core::packet::{Kind, Reason};
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Sim {
    let mut sim = Sim::new(&scenario(text).setup(None));
    sim.run();
    sim
}

fn counts(sim: &Sim, column: &str) -> Vec<u64> {
    sim.recorder().flows().counts(column).expect("a column").to_vec()
}

#[test]
fn packet_takes_time_on_any_link() {
    // 41 B at 1 Tbit/s take 0.3 ns: rounded to nothing, time would stand still forever.
    for stop in ["20 us", "9000 delivered"] {
        let sim = run(&format!(
            "run = {{ stop = \"{stop}\", batches = 1, warmup_batches = 0 }}\ntopology = {{ kind = \"none\", wired_nodes = 2 }}\n\
             wired = {{ rate = \"1000000 Mbit/s\", delay = \"0 s\" }}\nwired_link = [{{ src = 0, dst = 1 }}]\n\
             flow = [{{ dst = 1 }}]\ntcp.mss = \"1 B\""
        ));
        let delivered = sim.recorder().delivered();
        assert!(delivered > 1000 && delivered <= sim.now().0, "{delivered} packets in {}", sim.now());
    }
}

#[test]
fn transfers_go_both_ways_through_a_chain_a_base_station_and_wires() {
    for preset in ["standard", "ns2-2.35"] {
        for protocol in protocols() {
            let begin = found_by(protocol);
            let sim = run(&format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "900 delivered", time_limit = "300 s" }}
                bulk.segments = 300
                topology = {{ hops = 3, wired_nodes = 2 }}
                wired_link = [{{ src = 3, dst = 4 }}, {{ src = 4, dst = 5, rate = "2 Mbit/s", delay = "20 ms" }}]
                routing.protocol = "{protocol}"
                tcp = {{ receive_window = 8 }}
                routing.olsr.neighbor_hold_time = "20 s"
                flow = [{{ src = 0, dst = 5, start = "{begin} s" }}, {{ src = 5, dst = 1, start = "{begin}.1 s" }},
                        {{ src = 4, dst = 3, start = "{begin} s" }}]
                "#
            ));
            assert_eq!(sim.recorder().delivered(), 900, "{preset}, {protocol}");
            // The first two transfers go over both wires, there and back.
            let sent = sim.recorder().wired_links().counts("packets_sent").expect("a column").to_vec();
            assert!(sent.iter().all(|&n| n >= 270), "{preset}, {protocol}: {sent:?}");
            assert_eq!(sim.pool().ledger().dropped_total(Reason::NoRoute), 0, "{preset}, {protocol}");
        }
    }
}

#[test]
fn the_base_station_itself_can_be_an_end() {
    for protocol in protocols() {
        let sim = run(&format!(
            r#"
            run = {{ stop = "20 s" }}
            topology = {{ hops = 2, wired_nodes = 1 }}
            wired_link = [{{ src = 2, dst = 3 }}]
            routing.protocol = "{protocol}"
            flow = [{{ src = 2, dst = 3 }}, {{ src = 0, dst = 2 }}, {{ src = 2, dst = 0 }}, {{ src = 3, dst = 2 }}]
            "#
        ));
        let delivered = counts(&sim, "packets_delivered");
        assert!(delivered.iter().all(|&n| n > 100), "{protocol}: {delivered:?}");
    }
}

#[test]
fn two_cells_are_joined_by_wires() {
    for protocol in protocols() {
        // 0 1 2 and 3 4 5 are out of each other's range; node 6 joins 2 and 3.
        let sim = run(&format!(
            r#"
            run = {{ stop = "600 delivered", time_limit = "300 s" }}
            bulk.segments = 300
            topology = {{ wired_nodes = 1, kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["400 m", "0 m"],
                          ["5000 m", "0 m"], ["5200 m", "0 m"], ["5400 m", "0 m"]] }}
            wired_link = [{{ src = 2, dst = 6 }}, {{ src = 6, dst = 3 }}]
            routing.protocol = "{protocol}"
            flow = [{{ src = 0, dst = 5 }}, {{ src = 4, dst = 1 }}]
            "#
        ));
        assert_eq!(sim.recorder().delivered(), 600, "{protocol}");
        let direct = sim.pool().ledger().dropped_total(Reason::RoutingLoop);
        assert_eq!(direct, 0, "{protocol}");
    }
}

#[test]
fn nodes_use_the_nearest_of_two_base_stations() {
    // The host 6 is joined to both ends of the chain.
    for protocol in protocols() {
        let sim = run(&format!(
            r#"
            run = {{ stop = "10 s" }}
            topology = {{ hops = 5, wired_nodes = 1 }}
            wired_link = [{{ src = 0, dst = 6 }}, {{ src = 5, dst = 6 }}]
            routing.protocol = "{protocol}"
            flow = [{{ src = 1, dst = 6 }}, {{ src = 6, dst = 4 }}]
            "#
        ));
        let sent = sim.recorder().wired_links().counts("packets_sent").expect("a column").to_vec();
        let delivered = counts(&sim, "packets_delivered");
        assert!(delivered.iter().all(|&n| n > 100), "{protocol}: {delivered:?}");
        // Data of flow 0 and acknowledgements of flow 1 come up, the others go down, each over the nearer end.
        assert!(sent.iter().all(|&n| n > 100), "{protocol}: {sent:?}");
    }
}

#[test]
fn without_errors_a_receiver_is_as_if_it_had_no_error_model() {
    let base = "run = { stop = \"20 s\", sample_interval = \"1 s\" }\ntopology = { hops = 4 }\n";
    let flows = |more: &str| format!("{:?}", run(&format!("{base}{more}")).recorder().flows());
    let plain = flows("");
    for layer in ["phy", "net"] {
        let errors = format!("wlan.error = {{ model = \"uniform\", rate = 0, layer = \"{layer}\" }}");
        assert_eq!(flows(&errors), plain, "{layer}");
    }
    assert_ne!(flows("wlan.error = { model = \"uniform\", rate = 0.1 }"), plain);
}

/// One hop over which a datagram goes every 50 ms, with errors at the receivers.
fn lossy_hop(errors: &str) -> Sim {
    run(&format!(
        r#"
        run = {{ stop = "1000 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 1 }}
        routing.protocol = "shortest_path"
        wlan = {{ rts_threshold = "never", short_retry_limit = 7, error = {{ {errors} }} }}
        cbr = {{ interval = "50 ms", payload = "472 B" }}
        flow = [{{ dst = 1, app = "cbr" }}]
        "#
    ))
}

#[test]
fn a_damaged_data_frame_is_sent_again() {
    let sim = lossy_hop("model = \"uniform\", rate = 0.3, frames = \"data\"");
    let nodes = sim.recorder().nodes();
    let first = |name: &str| nodes.counts(name).expect("a column")[0] as f64;
    // Every attempt fails with 0.3; after seven a packet is given up, 0.3^7 = 0.02 % of them.
    let (sent, failed) = (first("data_frames_sent"), first("data_frames_failed"));
    assert!((failed / sent - 0.3).abs() < 4.0 * (0.21 / sent).sqrt(), "{failed} of {sent}");
    let given_up = first("mac_data_given_up");
    let expected = 20_000.0 * 0.3f64.powi(7);
    assert!((given_up - expected).abs() < 4.0 * expected.sqrt(), "{given_up} given up");
    assert_eq!(first("mac_duplicates"), 0.0, "no acknowledgement was lost");
    let data = |name: &str| outcomes(&sim.recorder().packet_outcomes(), name)[Kind::Data as usize] as f64;
    assert_eq!((data("retry_limit_damaged"), data("dropped_link_error")), (given_up, 0.0));
}

#[test]
fn lost_acknowledgements_cause_duplicates() {
    let sim = lossy_hop("model = \"uniform\", rate = 0.2, frames = \"all\"");
    let nodes = sim.recorder().nodes();
    let (sent, failed) = (
        nodes.counts("data_frames_sent").expect("a column")[0],
        nodes.counts("data_frames_failed").expect("a column")[0],
    );
    // Data frame or acknowledgement: 1 - 0.8^2.
    let share = failed as f64 / sent as f64;
    assert!((share - 0.36).abs() < 4.0 * (0.36 * 0.64 / sent as f64).sqrt(), "{share}");
    // Of the data frames that arrive, those whose acknowledgement is lost come again.
    assert!(nodes.counts("mac_duplicates").expect("a column")[1] > 1000);
}

#[test]
fn errors_above_the_mac_are_losses() {
    let sim = lossy_hop("model = \"uniform\", rate = 0.1, layer = \"net\"");
    let nodes = sim.recorder().nodes();
    assert_eq!(nodes.counts("data_frames_failed").expect("a column")[0], 0);
    let lost = sim.pool().ledger().dropped_for(Kind::Data, Reason::LinkError) as f64;
    assert!((lost - 2000.0).abs() < 4.0 * 1800f64.sqrt(), "{lost} lost of 20,000");
}

#[test]
fn long_frames_are_damaged_more_often() {
    // 500 B of packet and 36 B of header and LLC, 14 B of acknowledgement: 8 x 550 bits.
    let sim = lossy_hop("model = \"uniform\", unit = \"bit\", rate = 1e-4, frames = \"all\"");
    let nodes = sim.recorder().nodes();
    let (sent, failed) = (
        nodes.counts("data_frames_sent").expect("a column")[0],
        nodes.counts("data_frames_failed").expect("a column")[0],
    );
    let expected = 1.0 - 0.9999f64.powi(8 * 550);
    let share = failed as f64 / sent as f64;
    assert!((share - expected).abs() < 4.0 * (expected * (1.0 - expected) / sent as f64).sqrt(), "{share}");
}

/// Two hosts and a router between them; the last link loses all data from one flow on, or none.
fn cut_off(split: &str, most: &str, stop: &str) -> Sim {
    run(&format!(
        r#"
        run = {{ stop = "{stop}", batches = 1, warmup_batches = 0 }}
        topology.kind = "none"
        topology.wired_nodes = 3
        tcp.max_timeouts = {most}
        wired_link = [{{ src = 0, dst = 1 }}, {{ src = 1, dst = 2, error = {{ model = "uniform", rate = 1.0 }},
                  back = {{ error = {{ model = "none" }} }} }}]
        flow = [{{ src = 0, dst = 2 }}]
        {split}
        "#
    ))
}

const SPLIT: &str = r#"middlebox = [{ node = 1, kind = "split" }]"#;

#[test]
fn unanswered_connection_is_given_up_at_a_recorded_time() {
    // The SYN and three more attempts: after 1 s, doubled each time (RFC 6298, 5.5).
    let sim = cut_off("", "3", "1000 s");
    let at = sim.recorder().flows().numbers("aborted_at_s").expect("a column")[0];
    let counted = counts(&sim, "timeouts");
    assert_eq!((counts(&sim, "packets_sent")[0], counted[0], at), (4, 3, 1.0 + 2.0 + 4.0 + 8.0));
    let sim = cut_off("", "\"unlimited\"", "1000 s");
    assert!(sim.recorder().flows().numbers("aborted_at_s").expect("a column")[0].is_nan());
    assert!(counts(&sim, "timeouts")[0] > 15);
}

#[test]
fn a_run_ends_when_its_only_connection_is_given_up() {
    let sim = cut_off("", "3", "100 delivered");
    assert!(sim.now().as_secs() < 60.0, "{:?}", sim.now());
}

#[test]
fn split_connection_ends_when_its_second_half_is_given_up() {
    let sim = cut_off(SPLIT, "3", "100 delivered");
    let at = sim.recorder().flows().numbers("aborted_at_s").expect("a column")[0];
    assert!((15.0..16.0).contains(&at), "{at}");
    assert_eq!(counts(&sim, "local_timeouts"), [3]);
    // The source has filled the buffer, hears nothing more, and gives up in turn: otherwise it would probe forever.
    let sent = counts(&sim, "packets_sent")[0];
    assert!((1 + 64 + 4..100).contains(&sent), "{sent}");
    assert!(sim.now().as_secs() < 400.0, "{:?}", sim.now());
}
