//! Radios that differ: several channels, rates of single links, settings of single nodes.

use crate::properties::protocols;
use chappe_core::packet::{RadioId, Reason};
use chappe_core::radio::Channel;
use chappe_core::record::trace::{Line, What};
use chappe_core::sim::Sim;
use chappe_core::wlan::FrameKind;
use chappe_scenario::{NoFiles, Scenario};

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_toml("test", text, &[], &NoFiles).map_err(|e| e.to_string())
}

fn run(text: &str) -> Sim {
    let mut sim = Sim::new(&read(text).unwrap_or_else(|e| panic!("{e}")).setup(None));
    sim.run();
    sim
}

fn traced(text: &str) -> Vec<Line> {
    let mut sim = Sim::new(&read(text).unwrap_or_else(|e| panic!("{e}")).setup(None));
    sim.trace();
    sim.run();
    sim.take_trace().expect("on").lines
}

fn goodput(sim: &Sim) -> f64 {
    sim.recorder().flows().numbers("goodput_bps").expect("a column")[0]
}

fn errors(text: &str) -> String {
    read(text).expect_err("it must be refused")
}

/// Two hops, the second of them on channels that are given.
fn two_hops(protocol: &str, relay: &str, sink: &str) -> String {
    format!(
        r#"
        run = {{ stop = "60 s" }}
        topology = {{ hops = 2 }}
        routing.protocol = "{protocol}"
        radio.channels = [1]
        node = [{{ nodes = 1, radio.channels = {relay} }}, {{ nodes = 2, radio.channels = {sink} }}]
        "#
    )
}

#[test]
fn two_radios_at_the_relay_double_the_goodput() {
    for protocol in protocols() {
        let with_rts =
            |relay, sink| run(&format!("{}wlan.rts_threshold = \"always\"", two_hops(protocol, relay, sink)));
        let (one, two) = (with_rts("[1]", "[1]"), with_rts("[1, 6]", "[6]"));
        let gain = goodput(&two) / goodput(&one);
        assert!((1.7..2.1).contains(&gain), "{protocol}: {gain}");
        // Nobody is in the way of anybody else, so nothing is lost on the air.
        let collisions = two.recorder().nodes().counts("collisions").expect("a column").iter().sum::<u64>();
        assert!(
            collisions < one.recorder().nodes().counts("rts_frames_sent").expect("a column")[0] / 10,
            "{collisions}"
        );
        assert_eq!(two.recorder().nodes().rows(), 3);
    }
}

#[test]
fn a_radio_can_be_off_while_its_node_goes_on() {
    for protocol in protocols() {
        // The relay has lost its radio towards the sink from 20 s to 40 s, and goes on hearing the source.
        let events = |what: &str| {
            let text = two_hops(protocol, "[1, 6]", "[6]");
            let text = text.replace("run = {", "run = { airtime = true, batches = 6, warmup_batches = 0,");
            let up = what.replace("down", "up");
            format!("event = [{{ at = \"20 s\", {what} }}, {{ at = \"40 s\", {up} }}]\n{text}")
        };
        let sim = run(&events("action = \"node_down\", node = 1, channel = 6"));
        let batches = sim.recorder().batches();
        let counts = batches.counts("packets_delivered").expect("a column");
        assert!(counts[1] > 100 && counts[3] == 0 && counts[5] > 100, "{protocol}: {counts:?}");
        let air = sim.recorder().airtime();
        assert_eq!(air.counts("channel").expect("a column"), [1, 1, 6, 6]);
        assert_eq!(air.numbers("off_s").expect("a column"), [0.0, 0.0, 0.0, 20.0], "{protocol}");
        // A driving program receives the report, and the failure is handled like any other lost neighbor.
        let packet_outcomes = sim.recorder().packet_outcomes();
        assert!(
            packet_outcomes.counts("retry_limit_switched_off").expect("a column").iter().sum::<u64>() > 0,
            "{protocol}"
        );
        // All radios of a node, one by one, are all of them.
        let both = run(&events("action = \"node_down\", node = 1"));
        assert_eq!(both.recorder().airtime().numbers("off_s").expect("a column"), [0.0, 20.0, 0.0, 20.0]);
    }
}

#[test]
fn the_order_of_channels_makes_no_difference_to_who_is_reached() {
    for relay in ["[1, 6]", "[6, 1]", "[11, 6, 1]"] {
        let sim = run(&two_hops("shortest_path", relay, "[6]"));
        assert!(goodput(&sim) > 0.0, "{relay}");
        assert_eq!(sim.pool().ledger().dropped_total(Reason::NoRoute), 0);
    }
}

#[test]
fn nodes_on_different_channels_cannot_reach_each_other() {
    let said = errors(&two_hops("shortest_path", "[1]", "[6]"));
    assert!(said.contains("node 2 cannot be reached from node 0") && said.contains("`radio.channels`"), "{said}");
}

#[test]
fn every_radio_has_a_row_of_air_time_that_adds_up() {
    let sim = run(&format!("{}run.airtime = true\nrun.batches = 1\nrun.warmup_batches = 0", {
        let text = two_hops("aodv", "[1, 6]", "[6]");
        text.replace("run = { stop = \"60 s\" }", "run.stop = \"20 s\"\n")
    }));
    let table = sim.recorder().airtime();
    assert_eq!(table.counts("node").expect("a column"), [0, 1, 2, 1]);
    assert_eq!(table.counts("channel").expect("a column"), [1, 1, 6, 6]);
    for radio in 0..4 {
        let uses = table.columns.iter().filter(|c| c.0.ends_with("_s"));
        let sum: f64 = uses.map(|c| table.numbers(&c.0).expect("a column")[radio]).sum();
        assert!((sum - 20.0).abs() < 1e-6, "{radio}: {sum}");
    }
}

/// The data frames of a datagram of 1472 B with 28 B of headers: who sends them, and for how long [us].
fn data_frames(more: &str) -> Vec<(u32, u32, u64)> {
    let lines = traced(&format!(
        r#"
        extends = "ns2-2.35"
        run = {{ stop = "3 s" }}
        topology = {{ hops = 2 }}
        routing.protocol = "shortest_path"
        arp.enabled = false
        cbr = {{ payload = "1472 B", header_size = "28 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 2, app = "cbr", start = "1 s" }}]
        {more}
        "#
    ));
    let of = |kind: FrameKind, what: What| lines.iter().filter(move |l| l.kind == kind && l.what == what);
    let sent: Vec<&Line> = of(FrameKind::Data, What::Sent).collect();
    let received: Vec<&Line> = of(FrameKind::Data, What::Received).collect();
    assert_eq!(sent.len(), received.len(), "{lines:#?}");
    let air = |(s, r): (&&Line, &&Line)| (s.radio.0, s.to.0, (r.at.0 - s.at.0 - 667) / 1000);
    sent.iter().zip(&received).map(air).collect()
}

#[test]
fn a_link_has_a_rate_of_its_own() {
    // 192 us of preamble and 1534 B at 2 and at 11 Mbit/s.
    let (slow, fast) = (192 + 1534 * 8 / 2, 192 + 1534 * 8 / 11);
    assert_eq!(data_frames(""), [(0, 1, slow), (1, 2, slow)]);
    let one = "wlan.link_rate = [{ src = 1, dst = 2, rate = \"11 Mbit/s\" }]";
    assert_eq!(data_frames(one), [(0, 1, slow), (1, 2, fast)]);
    let other_way = "wlan.link_rate = [{ src = 2, dst = 1, rate = \"11 Mbit/s\" }]";
    assert_eq!(data_frames(other_way), [(0, 1, slow), (1, 2, slow)]);
    let at_node = "node = [{ nodes = \"1-2\", wlan.data_rate = \"11 Mbit/s\" }]";
    assert_eq!(data_frames(at_node), [(0, 1, slow), (1, 2, fast)]);
}

#[test]
fn a_rate_that_does_not_reach_is_not_used_for_a_way() {
    // Nodes 100 m apart: 200 m are within the range of 250 m, but not within that of 11 Mbit/s below.
    let text = |more: &str| {
        format!(
            r#"
            run = {{ stop = "20 s" }}
            topology = {{ hops = 2, spacing = "100 m" }}
            routing.protocol = "shortest_path"
            radio.frequency = "914 MHz"
            wlan.data_rate = "11 Mbit/s"
            wlan.rts_threshold = "always"
            {more}
            "#
        )
    };
    let forwarded = |sim: &Sim| sim.recorder().nodes().counts("data_frames_sent").expect("a column")[1] > 100;
    assert!(!forwarded(&run(&text(""))), "one hop is enough");
    let short = "radio.sensitivity = [{ rate = \"11 Mbit/s\", range = \"150 m\" }]";
    let sim = run(&text(short));
    assert!(forwarded(&sim));
    // The station two hops away receives RTS and CTS, at 1 Mbit/s, and keeps silent: no frames collide.
    assert!(goodput(&sim) > 1e6, "{}", goodput(&sim));
    let direct = format!("{short}\nwlan.link_rate = [{{ src = 0, dst = 2, rate = \"2 Mbit/s\" }}]");
    let sim = run(&text(&direct));
    // Data go directly at 2 Mbit/s; acknowledgements still make two hops.
    let acks = sim.recorder().nodes().counts("mac_tcp_acks").expect("a column").to_vec();
    let data = sim.recorder().nodes().counts("mac_data_packets").expect("a column").to_vec();
    assert!(acks[1] > 100 && data[1] == 0, "{acks:?} {data:?}");
    let weak = short.replace("range = \"150 m\"", "receive_threshold = \"2.8e-9 W\"");
    assert!(forwarded(&run(&text(&weak))), "150 m, as a power");
}

#[test]
fn a_rate_of_a_link_that_is_none_is_warned_of() {
    let text = "run.stop = \"1 s\"\ntopology.hops = 3\nwlan.link_rate = [{ src = 0, dst = 3 }, { src = 0, dst = 1 }]";
    let warnings = read(text).expect("a scenario").warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].message, "node 3 cannot decode frames of node 0 at 2 Mbit/s, or send ACKs back");
}

#[test]
fn frame_at_too_fast_a_rate_is_an_error_where_it_is_sensed() {
    let lines = traced(
        r#"
        run = { stop = "3 s" }
        topology = { kind = "list", positions = [["0 m", "0 m"], ["100 m", "0 m"], ["200 m", "0 m"]] }
        radio.sensitivity = [{ rate = "11 Mbit/s", range = "150 m" }]
        wlan = { data_rate = "11 Mbit/s", rts_threshold = "never" }
        routing.protocol = "shortest_path"
        cbr.datagrams = 1
        flow = [{ src = 0, dst = 1, app = "cbr", start = "1 s" }]
        "#,
    );
    let heard: Vec<(u32, What, FrameKind)> = lines.iter().skip(1).map(|l| (l.radio.0, l.what, l.kind)).collect();
    use {FrameKind::*, What::*};
    assert_eq!(heard, [(1, Received, Data), (2, Damaged, Data), (1, Sent, Ack), (0, Received, Ack)]);
}

#[test]
fn two_nodes_differ_in_power_queue_and_rts_threshold() {
    let text = r#"
        run = { stop = "20 s" }
        topology = { hops = 3 }
        routing.protocol = "shortest_path"
        tcp.receive_window = 32
        node = [
            { nodes = 0, radio.transmit_power = "4.50941 W", queue.limit = 3, wlan.rts_threshold = "never" },
            { nodes = 3, wlan.rts_threshold = "500 B" },
        ]
        flow = [{ src = 0, dst = 2 }, { src = 3, dst = 1 }]
        "#;
    let sim = run(text);
    let nodes = sim.recorder().nodes();
    let of = |column: &str| nodes.counts(column).expect("a column").to_vec();
    // Sixteen times the power reaches twice as far, with the fourth power of the distance: to node 2, whose ACKs do not
    // come back, so that data make two hops all the same. A window of 32 does not fit into a queue of 3.
    let scenario = read(text).expect("a scenario");
    let layout = scenario.layout();
    let channel = Channel::new(&layout.interfaces.on_air(&layout.positions));
    let reached: Vec<u32> = channel.neighbors(RadioId(0)).map(|r| r.0).collect();
    assert_eq!(reached, [1, 2]);
    assert!(of("mac_data_packets")[1] > 100);
    assert!(of("mac_tcp_acks")[1] > 100);
    assert_eq!(of("rts_frames_sent")[0], 0);
    assert!(of("rts_frames_sent")[3] > 0 && of("data_frames_sent")[3] > 0);
    assert!(sim.pool().ledger().dropped_total(Reason::QueueFull) > 0);
    let alike = run(&text.replace("queue.limit = 3, ", ""));
    assert_eq!(alike.pool().ledger().dropped_total(Reason::QueueFull), 0);
}

#[test]
fn a_profile_that_says_what_is_common_changes_nothing() {
    let text = |more: &str| {
        format!(
            r#"
            extends = "ns2-2.35"
            run = {{ stop = "400 delivered", batches = 4 }}
            topology = {{ hops = 5 }}
            {more}
            "#
        )
    };
    let tables = |sim: &Sim| {
        let r = sim.recorder();
        format!("{:?} {:?} {:?} {:?}", r.flows(), r.nodes(), r.batches(), r.packet_outcomes())
    };
    let plain = tables(&run(&text("")));
    for same in [
        r#"node = [{ nodes = "0-5", queue.limit = 50 }]"#,
        r#"node = [{ nodes = "0, 2-3", radio.transmit_power = "0.28183815 W", radio.channels = [1] }]"#,
        r#"node = [{ nodes = 4, wlan.data_rate = "11 Mbit/s" }, { nodes = 4, wlan.data_rate = "2 Mbit/s" }]"#,
        r#"wlan.link_rate = [{ src = 1, dst = 2, rate = "2 Mbit/s" }]"#,
        r#"radio.sensitivity = [{ rate = "11 Mbit/s", range = "100 m" }]"#,
        "radio.channels = [36]",
    ] {
        assert_eq!(tables(&run(&text(same))), plain, "{same}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    let all = errors(
        r#"
        run.stop = "1 s"
        topology.hops = 2
        radio.sensitivity = [{ rate = "11 Mbit/s" }, { rate = "2 Mbit/s", range = "300 m" }, { rate = "3 Mbit/s", range = "1 m" }]
        wlan.link_rate = [{ src = 0 }, { src = 0, dst = 9 }, { src = 0, dst = 1 }, { src = 0, dst = 1 }, { src = 1, dst = 2, rate = "7 Mbit/s" }]
        node = [
            { queue.limit = 3 },
            { nodes = 0, radio.range = "0 m" },
            { nodes = "1-7", radio.frequency = "2.4 GHz", wlan.link_rate = [] },
            { nodes = "2-1" },
            { nodes = 1, radio.channels = [1, 6, 1], queue.limit = 0 },
            { nodes = 1, radio.channels = [] },
        ]
        "#,
    );
    for said in [
        "`node.1.radio.range` is 0 m",
        "`node.0` does not say which nodes it is for",
        "there is no node 7 with a radio",
        "`radio.frequency` is the same for all nodes",
        "`wlan.link_rate` is the same for all nodes",
        "expected a set of nodes such as 3",
        "channel 1 is listed twice",
        "a radio has no channel",
        "`wlan.link_rate.0` has no `dst`",
        "there is no node 9 with a radio",
        "`wlan.link_rate.2` is for the same nodes",
        "`wlan.link_rate.4.rate` is 7 Mbit/s",
        "3 Mbit/s is not a rate of 802.11a or 802.11b",
        "`radio.sensitivity.0` needs one of `range` and `receive_threshold`",
        "2 Mbit/s reach 300 m, farther than any frame (250 m)",
    ] {
        assert!(all.contains(said), "{said}\n{all}");
    }
}
