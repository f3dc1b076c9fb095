//! Measured links: networks with received powers from a table.

use super::properties::{everything, found_by, protocols, scenario};
use chappe_core::packet::RadioId;
use chappe_core::radio::Channel;
use chappe_core::radio::propagation::Model;
use chappe_core::run::Interfaces;
use chappe_core::sim::Sim;
use chappe_core::unit::{Meters, Position};
use chappe_core::wlan::Mode;
use chappe_scenario::{NoFiles, Scenario};
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

/// A scenario of two nodes with this table of links, and these settings.
fn pair(rows: &str, more: &str) -> Result<Scenario, String> {
    let text = format!(
        "extends = \"802.11n\"\nrun.stop = \"1 s\"\ntopology = {{ hops = 1, spacing = \"10 m\" }}\nwlan.ppdu.mcs = 0\n\
         flow = [{{ src = 0, dst = 1 }}]\nradio.propagation = \"links\"\nradio.links_table = \"src,dst,{}\"\n{more}",
        rows.replace('\n', "\\n")
    );
    Scenario::from_toml("test", &text, &[], &NoFiles).map_err(|e| e.to_string())
}

/// Received power of each direction in a run [dBm].
fn signals(of: &Interfaces) -> Vec<f64> {
    let channel = Channel::new(&of.on_air(&[Position::default(); 2]));
    let of = |r: u32| channel.signals(RadioId(r)).map(|s| 30.0 + 10.0 * f64::from(s.1).log10()).collect::<Vec<_>>();
    [of(0), of(1)].concat()
}

#[test]
fn as_many_frames_are_lost_as_were_measured() {
    let table = "frame_loss,frame_loss_bps\n0,1,0.25,\n1,0,0.4,13000000";
    for fading in ["", "radio.sinr.fading = \"rayleigh\""] {
        // A broadcast of 134 B at the basic rate, and data of 1,024 B at MCS 1; headers and LLC.
        let there = pair(table, fading).expect("it is right");
        let interfaces = &there.layout().interfaces;
        let channel = Channel::new(&interfaces.on_air(&there.layout().positions));
        let wlan = &there.config().wlan;
        let headers = wlan.header_size.0 + wlan.llc_size.0;
        let basic = Mode::of(wlan.basic_rate).expect("a rate").column();
        let lost = 1.0 - channel.delivery(RadioId(0), RadioId(1), basic, 134 + headers);
        let of_data = 1.0 - channel.delivery(RadioId(1), RadioId(0), wlan.ppdu.mode(1, 1).column(), 1024 + headers);
        // Fading has 256 powers. Without it the preamble of a short frame at the slowest rate is lost first, of all frames or none.
        assert!((lost - 0.25).abs() < 1.0 / 256.0 || (fading.is_empty() && lost < 0.02), "{lost}");
        assert!((of_data - 0.4).abs() < 2e-3, "{of_data}");
    }
    for (rows, more, wanted) in [
        ("frame_loss\n0,1,0.5\n1,0,0.5", "radio.reception = \"pairwise\"", "line 2 has lost frames and no signal"),
        ("frame_loss,frame_loss_bps\n0,1,0.5,7000000\n1,0,0.5,", "", "line 2 has frames at 7 Mbit/s, at which no"),
    ] {
        let found = pair(rows, more).expect_err("it is wrong");
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn uncertain_signals_are_drawn_for_each_run() {
    let rows = "signal_dbm,sd_db\n0,1,-60,2\n1,0,-62,";
    let there = pair(rows, "").expect("it is right");
    let of = |seed| signals(&there.setup(Some(seed)).interfaces);
    assert_eq!(of(3), of(3));
    assert!((of(3)[0] - of(4)[0]).abs() > 0.01, "{:?}", of(3));
    // No deviation of the other direction is known.
    assert!((of(3)[1] + 62.0).abs() < 1e-4);
    // Both directions deviate alike; a column has priority.
    let both = pair(rows, "radio.links_sd = \"4 dB\"").expect("it is right");
    let (one, two) = (of(3)[0] + 60.0, signals(&both.setup(Some(3)).interfaces));
    assert!((two[0] + 60.0 - one).abs() < 1e-4 && (two[1] + 62.0 - 2.0 * one).abs() < 1e-4, "{one}, {two:?}");
    // Nothing is drawn of what is certain.
    let certain = pair("signal_dbm\n0,1,-60\n1,0,-62", "").expect("it is right");
    assert_eq!(certain.setup(Some(3)).interfaces, certain.layout().interfaces);
}

#[test]
fn a_direction_that_was_not_measured_knows_the_powers_of_both_ends() {
    let quiet = "node = [{ nodes = 1, radio.transmit_power = \"10 mW\" }]\nradio.transmit_power = \"100 mW\"\n";
    let there = pair("signal_dbm\n0,1,-60", &format!("{quiet}radio.links_symmetric = true")).expect("it is right");
    let found = signals(&there.layout().interfaces);
    assert!((found[0] + 60.0).abs() < 1e-4 && (found[1] + 70.0).abs() < 1e-4, "{found:?}");
    assert!(there.warnings.is_empty(), "{:?}", there.warnings);
}

#[test]
fn a_survey_stands_beside_the_model() {
    let rows = "signal_dbm,frame_loss,bitrate_bps,retry_share,expected_throughput_bps\n\
                0,1,-60,0.1,58500000,0.09,30000000\n1,0,-60,,,,";
    let there = pair(rows, "wlan.rate_control.algorithm = \"minstrel_ht\"").expect("it is right");
    let found = there.survey_json();
    let row = &found[0];
    assert_eq!(found.as_array().map(Vec::len), Some(1), "of the other direction nothing is known but its signal");
    let of = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    assert_eq!(
        [of("measured_bitrate_bps"), of("measured_retry_share"), of("measured_frame_loss")],
        [58.5e6, 0.09, 0.1]
    );
    // At -60 dBm the fastest rate carries most. Minstrel-HT: 16 frames of 1,200 B in 591 symbols of 260 bit, and 108 us.
    assert_eq!([of("modeled_bitrate_bps"), of("modeled_frame_loss")], [65e6, 0.0]);
    let us = (591.0 * 4.0 + 108.0) / 16.0;
    assert!((of("modeled_throughput_bps") / (0.9 * 9600.0 / us * 1e6) - 1.0).abs() < 1e-3, "{row}");
    assert!(of("modeled_retry_share") < 1e-3);
}

/// Of 295 packets, those delivered over three nodes: 1 receives 0 but not the other way round, and node 2 receives
/// both.
fn around(protocol: &str, more: &str) -> u64 {
    let begin = 1 + found_by(protocol);
    let end = begin + 59;
    let text = format!(
        r#"
        run = {{ stop = "{end} s", batches = 1, warmup_batches = 0 }}
        topology = {{ kind = "list", positions = [["0 m", "0 m"], ["150 m", "0 m"], ["75 m", "100 m"]] }}
        routing.protocol = "{protocol}"
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "{begin} s", cbr = {{ interval = "200 ms", payload = "100 B" }} }}]
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
/// over three strong ones; with the losses of broadcasts that were measured on these links, if any.
fn way(metric: &str, links: [i32; 3], losses: [&str; 3]) -> Vec<u32> {
    let [one, two, three] = [0, 1, 2].map(|i| (links[i], losses[i]));
    let links = [(0, 4, one), (0, 1, two), (1, 4, two), (0, 2, three), (2, 3, three), (3, 4, three)];
    let mut rows = "src,dst,signal_dbm,frame_loss".to_owned();
    let both = links.iter().flat_map(|&(a, b, measured)| [(a, b, measured), (b, a, measured)]);
    both.for_each(|(a, b, (signal, loss))| _ = write!(rows, "\\n{a},{b},{signal},{loss}"));
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
        assert_eq!(way(metric, [-86, -70, -68], [""; 3]), expected, "{metric}");
    }
    // Two links lose a third of the probes: no other link does.
    assert_eq!(way("etx", [-90, -70, -68], [""; 3]), [1]);
    // Measured losses have priority: ETX of 1/0.45^2, twice 1/0.99^2, and three times 1/0.95^2.
    assert_eq!(way("etx", [-60; 3], ["0.55", "0.01", "0.05"]), [1]);
    assert_eq!(way("etx", [-60; 3], ["0.55", "0.4", "0.05"]), [2, 3]);
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
