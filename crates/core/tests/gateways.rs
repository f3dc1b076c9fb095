//! Gateways that change during a run: one that dies, one that loses its uplink, a walker between two, and all the same
//! for every protocol that finds gateways. Bounds of hand-overs follow from the timers of each protocol.

use crate::properties::scenario;
use chappe_core::net::routing::Protocol;
use chappe_core::packet::Reason;
use chappe_core::record::Table;
use chappe_core::sim::Sim;

/// Nodes 0 to 4 in a chain, the ends with wires to a network of three nodes; node 1 sends to the last of them, and its
/// nearest gateway is node 0.
const TWO_EXITS: &str = r#"
    run = { stop = "120 s", batches = 1, warmup_batches = 0 }
    topology = { hops = 4, wired_nodes = 3 }
    wired_link = [{ src = 0, dst = 5 }, { src = 4, dst = 6 }, { src = 5, dst = 7 }, { src = 6, dst = 7 }]
    flow = [{ src = 1, dst = 7, app = "cbr", start = "20 s" }]
    cbr = { interval = "100 ms", payload = "200 B" }
    routing.gateways = "announced"
"#;

/// Time between datagrams, with the time that one takes [s]. The MAC gives up one before the next comes.
const DATAGRAM_S: f64 = 0.15;

/// Words of the protocols that find gateways.
fn protocols() -> Vec<&'static str> {
    let finds = |p: &&Protocol| p.finds_gateways() && **p != Protocol::Fixed;
    Protocol::ALL.iter().filter(finds).map(|p| p.word()).collect()
}

/// Settings of a protocol with which gateways change within these runs.
fn settings(protocol: &str) -> String {
    let hasty = match protocol {
        // A host keeps its gateway until its lease ends, and Linux keeps a silent one selected for 200 s.
        "batman_adv" => "routing.batman_adv = { dhcp_lease = \"20 s\", purge_timeout = \"10 s\" }",
        _ => "",
    };
    format!("routing.protocol = \"{protocol}\"\n{hasty}")
}

fn run(protocol: &str, more: &str) -> Sim {
    let text = format!("{TWO_EXITS}\n{}\n{more}", settings(protocol));
    let mut sim = Sim::new(&scenario(&text).setup(Some(1)));
    sim.run();
    sim
}

/// Gateway, changes and longest hand-over of a flow.
fn used(sim: &Sim, flow: usize) -> (u64, u64, f64) {
    let flows = sim.recorder().flows();
    let count = |name| flows.counts(name).expect("a column")[flow];
    (count("gateway"), count("gateway_changes"), flows.numbers("longest_handover_s").expect("a column")[flow])
}

/// Longest time until another gateway is used when one dies [s].
fn until_dead(protocol: &str) -> f64 {
    match protocol {
        // Known at once; the MAC still repeats the frame at hand.
        "shortest_path" => 0.2,
        // Ring searches with TTL 1, 3, 5 and 7, and one of the whole network: RING_TRAVERSAL_TIME is
        // 2 x 40 ms (TTL + 2), NET_TRAVERSAL_TIME 2 x 40 ms x 35.
        "aodv" => 0.08 * f64::from(3 + 5 + 7 + 9 + 35),
        // Infinite after nine lost Hellos: the first is missed after 1.7 intervals, and neighbors are examined every 1.5
        // intervals, up to a quarter later.
        "babel" => 4.0 * (1.7 + 8.0 + 1.5 * 1.25),
        // NEIGHB_HOLD_TIME, and as long again, at most, until the next node does not take the neighbor for one that reaches
        // the gateway.
        "olsr" => 2.0 * 6.0,
        // The gateway answers a last renewal for five more intervals, and another one seven eighths of the lease later.
        "batman_adv" => 5.0 + 20.0 * 7.0 / 8.0,
        other => panic!("what are the timers of {other}?"),
    }
}

/// Longest time until another gateway is used when one has lost its uplink [s].
fn until_cut(protocol: &str) -> f64 {
    match protocol {
        // An urgent retraction and the answer to it wait for up to 0.1 s each, a quarter more or less, and the packet for
        // 0.01 s; one of them may be lost, and comes again after 2 s.
        "babel" => 2.0 * 1.25 * (0.1 + 0.01) + 2.5,
        // HNA_HOLD_TIME.
        "olsr" => 15.0,
        other => until_dead(other),
    }
}

#[test]
fn a_gateway_that_dies_hands_over() {
    let off = "event = [{ at = \"60 s\", action = \"node_down\", node = 0 }]";
    for protocol in protocols() {
        let sim = run(protocol, off);
        let (gateway, changes, handover) = used(&sim, 0);
        assert_eq!((gateway, changes), (4, 1), "{protocol}");
        assert!(handover <= until_dead(protocol) + DATAGRAM_S, "{protocol}: {handover} s");
    }
}

#[test]
fn a_gateway_that_loses_its_uplink_hands_over() {
    // Its own wire, and one behind it.
    for link in [0, 2] {
        let cut = format!("event = [{{ at = \"60 s\", action = \"wired_link_down\", wired_link = {link} }}]");
        for protocol in protocols() {
            let sim = run(protocol, &cut);
            let (gateway, changes, handover) = used(&sim, 0);
            assert_eq!((gateway, changes), (4, 1), "{protocol}");
            assert!(handover <= until_cut(protocol) + DATAGRAM_S, "{protocol}: {handover} s");
        }
    }
}

#[test]
fn a_gateway_that_returns_is_used_again() {
    let events = "event = [{ at = \"40 s\", action = \"wired_link_down\", wired_link = 0 }, \
                  { at = \"70 s\", action = \"wired_link_up\", wired_link = 0 }]";
    for protocol in protocols() {
        // AODV keeps a route that works.
        let expected = if protocol == "aodv" { (4, 1) } else { (0, 2) };
        let (gateway, changes, _) = used(&run(protocol, events), 0);
        assert_eq!((gateway, changes), expected, "{protocol}");
    }
}

#[test]
fn a_gateway_that_returns_without_its_uplink_is_none() {
    let events = "event = [{ at = \"40 s\", action = \"node_down\", node = 0 }, \
                  { at = \"50 s\", action = \"wired_link_down\", wired_link = 0 }, \
                  { at = \"70 s\", action = \"node_up\", node = 0 }]";
    for protocol in protocols() {
        let sim = run(protocol, events);
        assert_eq!((used(&sim, 0).0, used(&sim, 0).1), (4, 1), "{protocol}");
        // No packet is lost after the hand-over.
        let delivered = sim.recorder().delivered();
        let most = 1000.0 - 10.0 * (until_dead(protocol) + DATAGRAM_S);
        assert!(delivered as f64 >= most, "{protocol}: {delivered}");
    }
}

#[test]
fn without_any_gateway_nothing_is_delivered_and_every_packet_says_why() {
    let events = "event = [{ at = \"60 s\", action = \"wired_link_down\", wired_link = 0 }, \
                  { at = \"60 s\", action = \"wired_link_down\", wired_link = 1 }]";
    for protocol in protocols() {
        let sim = run(protocol, events);
        let delivered = sim.recorder().delivered();
        assert!((360..=400).contains(&delivered), "{protocol}: {delivered} of 400 in 40 s");
        let ledger = sim.pool().ledger();
        // Nodes that know different gateways send packets of OLSR in circles; up to 64 packets wait in the buffer of AODV.
        let lost =
            [Reason::NoRoute, Reason::TtlExpired, Reason::RouteTimeout, Reason::RouteBufferFull, Reason::RoutingLoop];
        let lost: u64 = lost.into_iter().map(|reason| ledger.dropped_total(reason)).sum();
        assert!(lost >= 600 - 64, "{protocol}: {lost} of 600 in 60 s");
    }
}

#[test]
fn downloads_follow_the_gateway_of_their_acknowledgements() {
    let more = "event = [{ at = \"60 s\", action = \"node_down\", node = 0 }]\n\
                flow = [{ src = 7, dst = 1, start = \"20 s\" }]\ntcp.receive_window = 4\nwired.rate = \"200 kbit/s\"";
    for protocol in protocols() {
        let text = TWO_EXITS.replace("flow = [{ src = 1, dst = 7, app = \"cbr\", start = \"20 s\" }]", "");
        let text = format!("{text}\n{}\n{more}", settings(protocol));
        let mut sim = Sim::new(&scenario(&text).setup(Some(1)));
        sim.run();
        let (gateway, changes, _) = used(&sim, 0);
        assert_eq!((gateway, changes), (4, 1), "{protocol}");
        let flows = sim.recorder().flows();
        let changed = flows.numbers("gateway_changed_at_s").expect("a column")[0];
        // While the sender waits, its timeouts double.
        let latest = 60.0 + 3.0 * until_dead(protocol) + 3.0;
        assert!((60.0..=latest).contains(&changed), "{protocol}: {changed} s");
    }
}

#[test]
fn a_node_keeps_the_gateway_that_the_scenario_gives_it() {
    for protocol in protocols() {
        let sim = run(protocol, "node = [{ nodes = 1, gateway = 4 }]");
        assert_eq!(used(&sim, 0).0, 4, "{protocol}");
        assert!(sim.recorder().delivered() > 800, "{protocol}");
    }
}

#[test]
fn a_walker_passes_from_one_gateway_to_the_other() {
    let text = r#"
        run = { stop = "150 s", batches = 1, warmup_batches = 0 }
        topology = { kind = "list", positions = [["0 m", "0 m"], ["400 m", "0 m"], ["50 m", "50 m"]], wired_nodes = 1 }
        wired_link = [{ src = 0, dst = 3 }, { src = 1, dst = 3 }]
        flow = [{ src = 2, dst = 3, app = "cbr", start = "20 s" }]
        cbr = { interval = "100 ms", payload = "200 B" }
        routing.gateways = "announced"
        event = [{ at = "30 s", action = "node_move", node = 2, destination = ["350 m", "50 m"], speed = "3 m/s" }]
    "#;
    for protocol in protocols().into_iter().filter(|p| *p != "shortest_path") {
        let mut sim = Sim::new(&scenario(&format!("{text}\n{}", settings(protocol))).setup(Some(1)));
        sim.run();
        let (gateway, changes, handover) = used(&sim, 0);
        assert!(gateway == 1 && changes % 2 == 1, "{protocol}: {changes} changes");
        assert!(handover <= until_dead(protocol) + DATAGRAM_S, "{protocol}: {handover} s");
    }
}

/// Values of all columns but numbers of links.
fn rows(table: &Table) -> Vec<String> {
    table.columns.iter().map(|c| format!("{c:?}")).collect()
}

#[test]
fn the_order_of_wires_changes_nothing() {
    let off = "event = [{ at = \"60 s\", action = \"node_down\", node = 0 }]";
    let wires = "[{ src = 0, dst = 5 }, { src = 4, dst = 6 }, { src = 5, dst = 7 }, { src = 6, dst = 7 }]";
    let other = "[{ src = 6, dst = 7 }, { src = 7, dst = 5 }, { src = 4, dst = 6 }, { src = 5, dst = 0 }]";
    assert!(TWO_EXITS.contains(wires));
    for protocol in protocols() {
        let of = |text: &str| {
            let text = format!("{text}\n{}\n{off}", settings(protocol));
            let mut sim = Sim::new(&scenario(&text).setup(Some(1)));
            sim.run();
            [rows(&sim.recorder().flows()), rows(&sim.recorder().nodes())]
        };
        assert_eq!(of(TWO_EXITS), of(&TWO_EXITS.replace(wires, other)), "{protocol}");
    }
}

#[test]
fn a_node_without_wires_sends_through_a_mesh_between_two_wired_networks() {
    // Wires lead from node 5 to the mesh, and from the mesh to node 6, and nowhere else.
    let text = r#"
        run = { stop = "60 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 3, wired_nodes = 2 }
        wired_link = [{ src = 0, dst = 4 }, { src = 3, dst = 5 }]
        flow = [{ src = 4, dst = 5, app = "cbr", start = "30 s" }]
        cbr = { interval = "100 ms", payload = "200 B" }
        routing.gateways = "announced"
    "#;
    for protocol in protocols() {
        let mut sim = Sim::new(&scenario(&format!("{text}\n{}", settings(protocol))).setup(Some(1)));
        sim.run();
        assert_eq!(used(&sim, 0), (3, 0, 0.0), "{protocol}");
        assert!(sim.recorder().delivered() >= 296, "{protocol}: {}", sim.recorder().delivered());
    }
}

#[test]
fn a_wire_that_is_cut_loses_what_is_on_it() {
    let wires = r#"
        run = { stop = "10 s", batches = 1, warmup_batches = 0 }
        topology = { kind = "none", wired_nodes = 2 }
        wired_link = [{ src = 0, dst = 1 }]
        wired = { rate = "1 Mbit/s", delay = "100 ms" }
        flow = [{ src = 0, dst = 1, app = "cbr" }]
        cbr = { interval = "10 ms", payload = "72 B" }
        event = [{ at = "4.005 s", action = "wired_link_down", wired_link = 0 }, { at = "6.005 s", action = "wired_link_up", wired_link = 0 }]
    "#;
    let mut sim = Sim::new(&scenario(wires).setup(None));
    sim.run();
    // 400 packets had begun by 3.99 s and one at 4 s; each takes 0.8 ms and 100 ms; 200 more were sent while it was cut.
    let lost = sim.pool().ledger().dropped_total(Reason::LinkError);
    assert_eq!(lost, 10 + 200);
    let links = sim.recorder().wired_links();
    assert_eq!(links.counts("dropped_link_error").expect("a column")[0], lost);
}
