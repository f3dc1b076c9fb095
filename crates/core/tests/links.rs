//! Measured links: networks with received powers from a table.

use super::properties::{everything, protocols, scenario};
use chappe_core::packet::RadioId;
use chappe_core::radio::Channel;
use chappe_core::radio::propagation::Model;
use chappe_core::sim::Sim;
use chappe_core::unit::Meters;
use chappe_scenario::Scenario;
use std::fmt::Write as _;

/// Two kinds of reception over log-distance: 12 dB over one hop, and thresholds.
const RECEPTIONS: [&str; 2] = [
    "reception = \"sinr\", sinr = { energy_detection = \"-89.6 dBm\", fading = \"rayleigh\", relock = \"5 dB\" }",
    "receive_threshold = \"-82 dBm\", sense_threshold = \"-89.6 dBm\"",
];
const HOPS: u32 = 4;

/// A chain with these settings of the radio.
fn chain(radio: &str) -> Scenario {
    scenario(&format!(
        r#"
        run = {{ stop = "10 s", batches = 3 }}
        topology = {{ hops = {HOPS}, spacing = "10 m" }}
        wlan = {{ data_rate = "11 Mbit/s", rts_threshold = "never" }}
        routing.protocol = "shortest_path"
        flow = [{{ src = 0, dst = {HOPS} }}, {{ src = {HOPS}, dst = 0 }}]
        radio = {{ transmit_power = "0 dBm", {radio} }}
        "#
    ))
}

/// Table of links in a chain over log-distance: received power [dBm], or path loss [dB].
fn table(of: &Scenario, losses: bool) -> String {
    let radio = &of.config().radio;
    let model = Model::new(radio);
    let mut text = format!("src,dst,{}\n", if losses { "loss_db" } else { "signal_dbm" });
    for (from, to) in (0..=HOPS).flat_map(|from| (0..=HOPS).map(move |to| (from, to))).filter(|(a, b)| a != b) {
        let power = model.power(Meters(10.0 * f64::from(from.abs_diff(to))));
        let level = if losses { radio.transmit_power.0 / power } else { power / 1e-3 };
        _ = writeln!(text, "{from},{to},{}", 10.0 * level.log10());
    }
    text
}

fn run(scenario: &Scenario) -> String {
    let mut sim = Sim::new(&scenario.setup(Some(3)));
    sim.run();
    assert!(sim.recorder().delivered() > 100, "{}", sim.recorder().delivered());
    everything(sim.recorder())
}

#[test]
fn chain_of_measured_links_gives_the_bytes_of_its_model() {
    for reception in RECEPTIONS {
        let log_distance =
            r#"propagation = "log_distance", log_distance = { exponent = 2.2, distance = "10 m", loss = "81.6 dB" }"#;
        let by_model = chain(&format!("{log_distance}, {reception}"));
        let results = run(&by_model);
        for losses in [false, true] {
            let links = table(&by_model, losses).replace('\n', "\\n");
            // Shadowing belongs to models of propagation.
            let own = format!("propagation = \"links\", links_table = \"{links}\", shadowing = \"6 dB\", {reception}");
            assert_eq!(run(&chain(&own)), results, "{reception}, losses: {losses}");
        }
    }
}

/// Nodes that can decode the frames of each node.
fn neighbors(of: &Scenario) -> Vec<Vec<u32>> {
    let (interfaces, positions) = (&of.layout().interfaces, &of.layout().positions);
    let channel = Channel::new(&interfaces.on_air(positions));
    (0..interfaces.radios.len() as u32).map(|r| channel.neighbors(RadioId(r)).map(|n| n.0).collect()).collect()
}

#[test]
fn links_go_one_way_and_who_has_none_hears_nobody() {
    let text = |radio: &str| {
        format!(
            "run.stop = \"1 s\"\ntopology = {{ hops = 4, spacing = \"5 km\" }}\nflow = [{{ src = 0, dst = 1 }}]\n\
             radio.propagation = \"links\"\n\
             radio.links_table = \"src,dst,signal_dbm\\n0,1,-60\\n1,0,-60\\n2,1,-70\\n3,1,-85\\n\"\n{radio}"
        )
    };
    let thresholds = "radio.receive_threshold = \"-80 dBm\"\nradio.sense_threshold = \"-90 dBm\"\n";
    for radio in [thresholds, "radio.reception = \"sinr\"\nwlan.data_rate = \"11 Mbit/s\"\n"] {
        let there = scenario(&text(radio));
        let weak: Vec<u32> = if radio == thresholds { vec![] } else { vec![1] };
        assert_eq!(neighbors(&there), [vec![1], vec![0], vec![1], weak, vec![]], "whatever the distance is");
    }
    // Radios of one channel hear each other; the further radio of node 1 is number 5.
    let channels = "node = [{ nodes = 1, radio.channels = [1, 6] }, { nodes = 2, radio.channels = [6] }]\n";
    let there = scenario(&text(&format!("{thresholds}{channels}")));
    assert_eq!(neighbors(&there), [vec![1], vec![0], vec![5], vec![], vec![], vec![]]);
}

/// Of 295 packets, those delivered over three nodes: 1 receives 0 but not the other way round, and node 2 receives
/// both.
fn around(protocol: &str, more: &str) -> u64 {
    let text = format!(
        r#"
        run = {{ stop = "60 s", batches = 1, warmup_batches = 0 }}
        topology = {{ kind = "list", positions = [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "100 m"]] }}
        routing.protocol = "{protocol}"
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "1 s", cbr = {{ interval = "200 ms", payload = "100 B" }} }}]
        {more}
        "#
    );
    let mut sim = Sim::new(&scenario(&text).setup(Some(1)));
    sim.run();
    sim.recorder().delivered()
}

#[test]
fn a_link_without_acknowledgements_is_none() {
    let thresholds = "receive_threshold = \"-64 dBm\", sense_threshold = \"-78 dBm\"";
    let rows = "0,1,-55\\n0,2,-55\\n2,0,-55\\n1,2,-55\\n2,1,-55\\n";
    let table =
        format!("radio = {{ propagation = \"links\", links_table = \"src,dst,signal_dbm\\n{rows}\", {thresholds} }}");
    let adding_up = table.replace(thresholds, "reception = \"sinr\"");
    // The radio of node 0 is louder by 10 dB: it reaches 230 m, the others 130 m.
    let louder = "radio = { frequency = \"914 MHz\", receive_threshold = \"5e-9 W\", sense_threshold = \"1e-11 W\" }\n                  node = [{ nodes = 0, radio.transmit_power = \"2.8 W\" }]";
    // Node 0 decodes less well than the others.
    let rates = "wlan = { data_rate = \"11 Mbit/s\", basic_rate = \"11 Mbit/s\" }\n                 radio = { range = \"250 m\", sense_range = \"550 m\" }\n                 node = [{ nodes = 0, radio.sensitivity = [{ rate = \"11 Mbit/s\", range = \"140 m\" }] }]";
    for (what, more) in [("a table", &*table), ("signals add up", &*adding_up), ("louder", louder), ("rates", rates)] {
        for protocol in protocols() {
            let delivered = around(protocol, more);
            // DSDV begins with updates of 2 s, AODV with replies that get lost.
            assert!(delivered > 280, "{what}: {delivered} of 295 with {protocol}");
        }
    }
}

/// Nodes over which packets go from node 0 to node 4, by this metric: over a weak link, over two that are stronger, or
/// over three strong ones.
fn way(metric: &str, links: [i32; 3]) -> Vec<u32> {
    let [one, two, three] = links;
    let links = [(0, 4, one), (0, 1, two), (1, 4, two), (0, 2, three), (2, 3, three), (3, 4, three)];
    let mut rows = "src,dst,signal_dbm".to_owned();
    links.iter().flat_map(|&(a, b, s)| [(a, b, s), (b, a, s)]).for_each(|(a, b, s)| _ = write!(rows, "\\n{a},{b},{s}"));
    let there = scenario(&format!(
        r#"
        extends = "802.11n"
        run.stop = "1 s"
        topology = {{ hops = 4, spacing = "100 m" }}
        flow = [{{ src = 0, dst = 4 }}]
        routing = {{ protocol = "shortest_path", metric = "{metric}" }}
        radio = {{ propagation = "links", links_table = "{rows}" }}
        wlan = {{ ppdu.mcs = 0, rate_control.algorithm = "minstrel_ht" }}
        "#
    ));
    let mut sim = Sim::new(&there.setup(Some(1)));
    sim.run();
    assert!(sim.recorder().delivered() > 50, "{metric}");
    let hops = |n: u32| sim.recorder().nodes().counts("data_frames_sent").expect("a column")[n as usize];
    (1..4).filter(|&n| hops(n) > 50).collect()
}

#[test]
fn metrics_choose_between_weak_and_strong_links() {
    let best = [
        ("hops", vec![]),
        ("etx", vec![]),
        ("babel", vec![]),
        ("tq", vec![]),
        ("ett", vec![1]),
        ("airtime", vec![1]),
        ("linux_airtime", vec![1]),
    ];
    for (metric, expected) in best {
        assert_eq!(way(metric, [-86, -70, -68]), expected, "{metric}");
    }
    // Two links lose a third of the probes: no other link does.
    assert_eq!(way("etx", [-90, -70, -68]), [1]);
}

#[test]
fn a_metric_without_an_effect_causes_a_warning() {
    let warned = |more: &str| {
        let routing = "routing = { protocol = \"shortest_path\", metric = \"ett\" }";
        let text = format!("run.stop = \"1 s\"\ntopology.hops = 3\nflow = [{{ dst = 3 }}]\n{routing}\n{more}");
        scenario(&text).warnings.iter().any(|w| w.path == "routing.metric" && w.message.contains("all links are equal"))
    };
    assert!(warned(""));
    assert!(!warned("wlan.link_rate = [{ src = 0, dst = 1, rate = \"1 Mbit/s\" }]"));
}
