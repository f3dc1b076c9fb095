//! Effect of route losses on TCP, and of mesh queues on acknowledgements and routing messages.

use crate::outcomes;
use crate::routing::hop_by_hop;
use chappe_core::net::queue::Discipline;
use chappe_core::net::routing::Protocol;
use chappe_core::record::Recorder;
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

fn run(text: &str) -> Recorder {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    sim.run();
    sim.into_recorder()
}

fn flow(r: &Recorder, column: &str) -> u64 {
    r.flow_batches().counts(column).expect("a column").iter().sum()
}

/// Settings with which a node reacts to the first packet that its MAC gives up, without local repair.
fn at_once(protocol: &str) -> &'static str {
    match protocol {
        "aodv" => "routing.aodv.local_repair = \"never\"",
        // Babel notices missing Hellos, and no packets that are given up.
        "babel" => "routing.babel.hello_interval = \"200 ms\"",
        // No route is forgotten before messages are missing for long.
        "batman_adv" => "routing.batman_adv = { orig_interval = \"100 ms\", purge_timeout = \"1 s\" }",
        "olsr" => "routing.olsr = { link_layer_detection = true, tc_interval = \"2 s\" }",
        _ => "",
    }
}

/// A chain of three hops in which the node next to the destination is off from 20 to 40 s. The previous node notifies the
/// source at once.
fn interrupted(protocol: &str, tcp: &str) -> Recorder {
    let repair = at_once(protocol);
    run(&format!(
        "run.stop = \"70 s\"\ntopology.hops = 3\nrouting.protocol = \"{protocol}\"\n{repair}\ntcp.receive_window = 2\n{tcp}\n\
         flow = [{{ dst = 3, start = \"8 s\" }}]\n\
         event = [{{ at = \"20 s\", action = \"node_down\", node = 2 }}, {{ at = \"40 s\", action = \"node_up\", node = 2 }}]"
    ))
}

#[test]
fn elfn_sends_probes_without_a_route_and_hardly_times_out() {
    for protocol in Protocol::ALL.iter().filter(|p| p.learns_routes()).map(|p| p.word()) {
        let plain = interrupted(protocol, "");
        // With timeouts of 1, 2, 4 and 8 s at least.
        assert!(flow(&plain, "timeouts") >= 4, "{protocol}: {} timeouts", flow(&plain, "timeouts"));
        assert_eq!(flow(&plain, "probes_sent"), 0);
        for (interval, each_s) in [("500 ms", 0.5), ("2 s", 2.0), ("4 s", 4.0)] {
            let tcp = format!("tcp.elfn = {{ enabled = true, probe_interval = \"{interval}\" }}");
            let elfn = interrupted(protocol, &tcp);
            let (probes, timeouts) = (flow(&elfn, "probes_sent") as f64, flow(&elfn, "timeouts"));
            // For 20 s, and until there is a route again, which takes up to 15 s.
            assert!((18.0..=35.0).contains(&(probes * each_s + 2.0)), "{protocol}, {interval}: {probes} probes");
            assert!(timeouts <= 2, "{protocol}, {interval}: {timeouts} timeouts");
        }
    }
}

#[test]
fn senders_without_backoff_soon_notice_a_new_route() {
    let delivered = |tcp: &str| flow(&interrupted("aodv", tcp), "packets_delivered") as f64;
    let (plain, elfn) = (delivered(""), delivered("tcp.elfn.enabled = true"));
    assert!(elfn > 1.1 * plain, "{elfn} with, {plain} without");
}

#[test]
fn enhanced_newreno_loses_probes_and_no_data_while_there_is_no_route() {
    let newreno = interrupted("aodv", "");
    let enhanced = interrupted("aodv", "tcp.variant = \"e_newreno\"");
    let (probes, timeouts) = (flow(&enhanced, "probes_sent"), flow(&enhanced, "timeouts"));
    assert!(probes >= 4 && probes == timeouts, "{probes} probes, {timeouts} timeouts");
    let again = |r: &Recorder| flow(r, "retransmissions");
    assert!(again(&newreno) >= 4 && again(&enhanced) <= 2, "{} and {}", again(&newreno), again(&enhanced));
}

/// Two connections over four hops whose nodes mark or drop, and lose neighbors now and then. Every neighbor is needed, so
/// that none of them is put on a blacklist.
fn mesh(queue: &str, more: &str) -> Recorder {
    run(&format!(
        "run.stop = \"180 s\"\ntopology.hops = 4\nwlan.long_retry_limit = 2\ntcp.receive_window = 20\ntcp.ecn.enabled = true\n\
         routing.aodv.blacklist_timeout = \"none\"\nflow = [{{ dst = 4 }}, {{ src = 4, dst = 0 }}]\n{more}\n[queue]\n{queue}\n[wlan.error]\nframes = \"data\"\n\
         model = \"uniform\"\nrate = 0.15"
    ))
}

/// Packets of each kind dropped for this reason: data, acknowledgements, routing messages.
fn dropped(r: &Recorder, column: &str) -> [u64; 3] {
    let [data, acks, messages, _] = outcomes(&r.packet_outcomes(), column);
    [data, acks, messages]
}

const RED: &str = "discipline = \"red\"\n\
                   red = { weight = 0.1, min_threshold = 1, max_threshold = 12, max_p = 0.3, gentle = true }";

#[test]
fn red_in_the_mesh_drops_what_is_not_ecn_capable() {
    let [data, acks, messages] = dropped(&mesh(RED, "tcp.ecn.ns2.ect_on_retransmissions = true"), "dropped_aqm");
    assert!(acks > 0 && messages > 0 && data < acks, "{data} {acks} {messages}");
    let able = "tcp.ecn.acks = true\ntcp.ecn.ns2.ect_on_retransmissions = true";
    let [_, acks, messages] = dropped(&mesh(RED, able), "dropped_aqm");
    assert!(acks == 0 && messages > 0, "{acks} {messages}");
    let all = format!("{able}\nrouting.ecn = true");
    let [_, acks, messages] = dropped(&mesh(RED, &all), "dropped_aqm");
    assert_eq!((acks, messages), (0, 0));
}

#[test]
fn queue_without_purge_keeps_packets_for_a_lost_neighbor() {
    for protocol in Protocol::ALL.iter().filter(|p| p.purges() && hop_by_hop().contains(&p.word())).map(|p| p.word()) {
        let detection = if protocol == "olsr" { at_once(protocol) } else { "" };
        let routing = format!("routing.protocol = \"{protocol}\"\n{detection}");
        let lost = |queue: &str| dropped(&mesh(queue, &routing), "dropped_route_failure").iter().sum::<u64>();
        assert!(lost(RED) > 0, "{protocol}");
        assert_eq!(lost(&format!("{RED}\npurge = false")), 0, "{protocol}");
    }
}

#[test]
fn a_threshold_marks_and_drops_nothing() {
    for discipline in Discipline::ALL.iter().filter(|d| d.marks_by_length()).map(|d| d.word()) {
        let marks = |threshold: &str| {
            let r = mesh(&format!("discipline = \"{discipline}\"\nmark_threshold = {threshold}"), "");
            assert_eq!(dropped(&r, "dropped_aqm"), [0; 3]);
            let marks = r.batches().counts("ecn_marks").expect("a column").iter().sum::<u64>();
            assert!((flow(&r, "ecn_cuts") > 0) == (marks > 0), "{discipline}: {marks}");
            marks
        };
        assert_eq!(marks("\"never\""), 0);
        assert!(marks("2") > marks("5"), "{discipline}");
    }
}
