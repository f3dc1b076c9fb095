//! On/off sources in whole runs: times of their packets, packet sizes, and the reaction of routing to losses.

use crate::properties::protocols;
use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};
use std::collections::BTreeSet;

fn ran(text: &str) -> Sim {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    sim
}

/// A row of the table `packets`: time \[s\], flow, kind, number, bytes.
type Packet = (f64, u32, &'static str, u32, u32);

/// Packets of flows with this event.
fn packets(sim: &mut Sim, event: &str) -> Vec<Packet> {
    let (_, table) = sim.tables().next().expect("the table of packets");
    let table: &dyn Rows = table;
    let values = table.values();
    let column = |name: &str| &values[table.columns().iter().position(|c| c.0 == name).expect("a column")];
    let int = |name: &str, i: usize| if let Values::Int(v) = column(name) { v[i] } else { unreachable!("{name}") };
    let word = |name: &str, i: usize| match column(name) {
        Values::Word(v, words) => words[usize::from(v[i])],
        _ => unreachable!("{name}"),
    };
    let time = |i: usize| if let Values::Float(v) = column("time_s") { v[i] } else { unreachable!() };
    let row = |i| (time(i), int("flow", i), word("packet_type", i), int("sequence", i), int("bytes", i));
    (0..table.len()).filter(|&i| word("event", i) == event && int("flow", i) < u32::MAX).map(row).collect()
}

fn sum(sim: &Sim, column: &str) -> u64 {
    let r = sim.recorder();
    let counts = |t: &chappe_core::record::Table| t.counts(column).map(|c| c.iter().sum());
    counts(&r.flows()).or_else(|| counts(&r.nodes())).unwrap_or_else(|| panic!("{column}"))
}

/// Two nodes, a wire, and one source of messages of 300 B, which TCP has in segments of 512 B.
fn wire(rate: &str, flow: &str, more: &str) -> Sim {
    ran(&format!(
        r#"
        run = {{ stop = "60 s", batches = 1, warmup_batches = 0, record = ["packets"] }}
        topology.kind = "none"
        topology.wired_nodes = 2
        wired = {{ rate = "{rate}", delay = "1 ms" }}
        wired_link = [{{ dst = 1 }}]
        tcp.mss = "512 B"
        on_off = {{ on = "200 ms", off = "800 ms", payload = "300 B" }}
        flow = [{{ dst = 1, app = "on_off", {flow} }}]
        {more}
        "#
    ))
}

#[test]
fn a_source_sends_between_its_start_and_its_stop() {
    let within = |sim: &mut Sim, from: f64, to: f64| {
        let sent = packets(sim, "created");
        let own: Vec<&Packet> = sent.iter().filter(|p| p.2 != "tcp_ack").collect();
        assert!(own.len() > 20, "{}", own.len());
        assert!(own.iter().all(|p| p.0 > from && p.0 < to + 0.01), "{:?}", own[own.len() - 1]);
        assert!(own[own.len() - 1].0 > to - 5.0);
    };
    for transport in ["tcp", "udp"] {
        for messages in ["stream", "whole"] {
            let kind = format!("on_off = {{ transport = \"{transport}\", framing = \"{messages}\" }}");
            let flow = format!("start = \"7 s\", stop = \"23 s\", {kind}");
            within(&mut wire("100 Mbit/s", &flow, ""), 7.0, 23.0);
            let events = "event = [{ at = \"7 s\", action = \"flow_start\", flow = 0 }, { at = \"23 s\", action = \"flow_stop\", flow = 0 }]";
            let mut sim = wire("100 Mbit/s", &format!("start = \"event\", {kind}"), events);
            within(&mut sim, 7.0, 23.0);
            // A source that starts at the same instant sends the same, and a started one does not start again.
            let again = events.replace("[{", "[{ at = \"7500 ms\", action = \"flow_start\", flow = 0 }, {");
            let mut started = wire("100 Mbit/s", &flow, "");
            let mut told = wire("100 Mbit/s", &format!("start = \"7 s\", {kind}"), &again);
            assert_eq!(packets(&mut sim, "created"), packets(&mut started, "created"), "{kind}");
            assert_eq!(packets(&mut sim, "created"), packets(&mut told, "created"), "{kind}");
            // A stream ends with whole messages; whole messages are whole segments.
            let unit = if (transport, messages) == ("tcp", "whole") { 512 } else { 300 };
            assert_eq!(sum(&sim, "bytes_delivered") % unit, 0, "{kind}");
            assert!(
                sim.recorder().flows().numbers("completion_time_s").expect("a column")[0] > 10.0,
                "all has arrived"
            );
        }
    }
}

/// Sizes of packets queued for the radio, by flow: kind and bytes.
fn sizes(sim: &mut Sim, flow: u32) -> BTreeSet<(&'static str, u32)> {
    packets(sim, "queued").iter().filter(|p| p.1 == flow).map(|p| (p.2, p.4)).collect()
}

/// ns-2.35, agent and MAC traces of the classroom: AODV adds 20 B of IP header to what it does not take for TCP or an
/// acknowledgement, DSDV and DSR add them to all; the SYN has no payload.
#[test]
fn packets_have_the_sizes_of_those_of_ns2() {
    for (protocol, more, [file, file_syn, burst, burst_syn, ack]) in [
        ("aodv", "tcp.header_size = \"60 B\"", [552, 40, 572, 60, 40]),
        ("dsdv", "", [572, 60, 572, 60, 60]),
        ("dsr", "", [572, 60, 572, 60, 60]),
    ] {
        let mut sim = ran(&format!(
            r#"
            extends = "ns2-2.35"
            run = {{ stop = "40 s", batches = 1, warmup_batches = 0, record = ["packets"] }}
            topology = {{ hops = 1 }}
            routing.protocol = "{protocol}"
            queue.discipline = "{}"
            tcp.mss = "512 B"
            on_off = {{ payload = "512 B" }}
            flow = [{{ dst = 1, start = "5 s", stop = "15 s" }}, {{ dst = 1, app = "on_off", start = "25 s", {more} }}]
            "#,
            if protocol == "dsr" { "cmu_priority" } else { "routing_first" },
        ));
        for (flow, data, syn) in [(0, file, file_syn), (1, burst, burst_syn)] {
            let expected = BTreeSet::from([("tcp_data", data), ("tcp_data", syn), ("tcp_ack", ack)]);
            // The first packets of a flow of DSR, and some later ones, carry their way.
            let without_way = |(kind, bytes): (&'static str, u32)| {
                let bare = (kind, bytes.wrapping_sub(16));
                if protocol == "dsr" && expected.contains(&bare) { bare } else { (kind, bytes) }
            };
            let found: BTreeSet<_> = sizes(&mut sim, flow).into_iter().map(without_way).collect();
            assert_eq!(found, expected, "{protocol}, flow {flow}");
        }
    }
}

/// A neighbor that is switched off.
fn lost(protocol: &str, on_off: &str) -> (u64, u64, String) {
    let sim = ran(&format!(
        r#"
        extends = "ns2-2.35"
        run = {{ stop = "60 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 1 }}
        routing.protocol = "{protocol}"
        queue.discipline = "cmu_priority"
        on_off = {{ {on_off} }}
        flow = [{{ dst = 1, app = "on_off" }}]
        event = [{{ at = "30 s", action = "node_down", node = 1 }}]
        "#
    ));
    let packet_outcomes = format!("{:?}", sim.recorder().packet_outcomes());
    (sum(&sim, "links_deleted"), sum(&sim, "mac_data_given_up"), packet_outcomes)
}

#[test]
fn aodv_can_overlook_the_loss_of_bursts() {
    for transport in ["tcp", "udp"] {
        let of = |breaks: bool| format!("transport = \"{transport}\", breaks_links = {breaks}");
        let (deleted, given_up, _) = lost("aodv", &of(true));
        assert!(deleted > 0 && given_up > 0, "{transport}: {deleted} of {given_up}");
        let (deleted, given_up, _) = lost("aodv", &of(false));
        assert!(deleted == 0 && given_up > 0, "{transport}: {deleted} of {given_up}");
        for other in protocols().into_iter().filter(|p| *p != "aodv") {
            assert_eq!(lost(other, &of(true)), lost(other, &of(false)), "{other}");
        }
    }
}

#[test]
fn late_data_of_a_given_up_connection_is_counted_once() {
    let text = r#"
        run = { stop = "100 s", batches = 1, warmup_batches = 0 }
        topology.kind = "none"
        topology.wired_nodes = 2
        wired = { rate = "1 Mbit/s", delay = "1 ms", queue.limit = 1000 }
        wired_link = [{ dst = 1 }]
        tcp = { mss = "512 B", max_timeouts = 1, rto.max = "1 s" }
        on_off = { on = "20 ms", off = "3 s", payload = "50 B", rate = "64 kbit/s" }
        flow = [{ dst = 1, app = "on_off" }]
        event = [{ at = "6 s", action = "set", setting = "wired_link.0.delay", value = "30 s" }]
    "#;
    let mut given_up = 0;
    for seed in 1..40 {
        let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(Some(seed)));
        sim.run();
        let (bytes, packets) = (sum(&sim, "bytes_delivered"), sum(&sim, "packets_delivered"));
        assert!(bytes <= 512 * packets, "seed {seed}: {bytes} B in {packets} packets");
        given_up += usize::from(sim.recorder().flows().numbers("aborted_at_s").expect("a column")[0].is_finite());
    }
    assert!(given_up > 20, "{given_up}");
}

/// The same of a file that is offered again.
#[test]
fn a_file_for_a_connection_that_was_given_up_is_counted_once() {
    let sim = ran(r#"
        run = { stop = "100 s", batches = 1, warmup_batches = 0 }
        topology.kind = "none"
        topology.wired_nodes = 2
        wired = { rate = "1 Mbit/s", delay = "1 ms", queue.limit = 1000 }
        wired_link = [{ dst = 1 }]
        tcp = { mss = "512 B", max_timeouts = 1, rto.max = "1 s", nagle = "off" }
        bulk.bytes = "2000 B"
        flow = [{ dst = 1 }]
        event = [
            { at = "1 s", action = "set", setting = "wired_link.0.delay", value = "30 s" },
            { at = "2 s", action = "flow_start", flow = 0 },
            { at = "20 s", action = "flow_start", flow = 0 },
            { at = "21 s", action = "flow_stop", flow = 0 },
            { at = "22 s", action = "flow_start", flow = 0 },
        ]
    "#);
    let gave_up = sim.recorder().flows().numbers("aborted_at_s").expect("a column")[0];
    assert!(gave_up < 20.0, "{gave_up}");
    // Two files before the connection was given up, of 4 segments each.
    assert_eq!((sum(&sim, "packets_delivered"), sum(&sim, "bytes_delivered")), (8, 4000));
}
