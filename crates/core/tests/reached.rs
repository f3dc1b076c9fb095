//! Rate control reaches the nodes that can be reached at the slowest of its rates.

use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};
use proptest::prelude::*;

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_toml("test", text, &[], &NoFiles).map_err(|e| e.to_string())
}

/// Preset, word of the algorithm, and settings of the slowest rate, with acknowledgements at that rate, as rate control
/// has them (10.6.6.5).
const PHYS: [(&str, &str, &str); 10] = [
    ("802.11n", "aarf", "wlan.ppdu.mcs = 0"),
    ("802.11n", "arf", "wlan.ppdu.mcs = 0"),
    ("802.11n", "ideal", "wlan.ppdu.mcs = 0"),
    ("802.11ac", "aarf", "wlan.ppdu.mcs = 0"),
    ("802.11ac", "minstrel_ht", "wlan.ppdu.mcs = 0"),
    ("802.11n", "minstrel_ht_ns3", "wlan.ppdu.mcs = 0"),
    ("802.11a", "aarf", "wlan.data_rate = \"6 Mbit/s\"\nwlan.response_rates = [\"6 Mbit/s\"]"),
    ("802.11a", "ideal", "wlan.data_rate = \"6 Mbit/s\"\nwlan.response_rates = [\"6 Mbit/s\"]"),
    ("standard", "minstrel", "wlan.data_rate = \"1 Mbit/s\""),
    ("standard", "sample_rate", "wlan.data_rate = \"1 Mbit/s\""),
];

/// A network without its rates.
fn network(preset: &str, protocol: &str, of_map: &str) -> String {
    let fast = if preset == "standard" { "radio.frequency = \"2.4 GHz\"\n" } else { "" };
    format!(
        "extends = \"{preset}\"\nrun = {{ stop = \"2 s\", batches = 1, warmup_batches = 0 }}\n{fast}\
         routing.protocol = \"{protocol}\"\nradio.reception = \"sinr\"\n{of_map}\n"
    )
}

const LOG_DISTANCE: &str =
    "radio.propagation = \"log_distance\"\nradio.log_distance = { exponent = 3, loss = \"47 dB\" }\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn rate_control_reaches_whom_its_slowest_rate_reaches(
        (preset, algorithm, slowest) in prop::sample::select(PHYS.to_vec()),
        protocol in prop::sample::select(vec!["shortest_path", "aodv", "dsdv", "dsr", "olsr", "batman_adv"]),
        nodes in 3..8u32,
        side in 20..600u32,
        map in 0..1000u32,
    ) {
        let last = nodes - 1;
        let text = network(preset, protocol, &format!(
            "{LOG_DISTANCE}topology = {{ kind = \"random\", nodes = {nodes}, width = \"{side} m\", height = \"{side} m\", \
             seed = {map}, connected = false }}\nflow = [{{ src = 0, dst = {last} }}]"
        ));
        let faster = if preset == "standard" { "wlan.data_rate = \"11 Mbit/s\"\n" } else { "" };
        let chosen = read(&format!("{text}{faster}wlan.rate_control.algorithm = \"{algorithm}\""));
        let fixed = read(&format!("{text}{slowest}"));
        prop_assert_eq!(chosen.is_ok(), fixed.is_ok(), "{:?}\n{:?}\n{}", chosen.err(), fixed.err(), text);
    }

    /// Tables, also with rows in one direction only.
    #[test]
    fn so_it_is_over_measured_links(
        (preset, algorithm, slowest) in prop::sample::select(PHYS.to_vec()),
        links in prop::collection::btree_map((0..5u32, 0..5u32), -98..-60i32, 4..16),
    ) {
        let rows: String = links.iter().filter(|((a, b), _)| a != b).map(|((a, b), dbm)| format!("{a},{b},{dbm}\\n")).collect();
        let text = network(preset, "shortest_path", &format!(
            "topology.hops = 4\nradio.propagation = \"links\"\nradio.links_table = \"src,dst,signal_dbm\\n{rows}\"\n\
             flow = [{{ src = 0, dst = 4 }}]"
        ));
        let faster = if preset == "standard" { "wlan.data_rate = \"11 Mbit/s\"\n" } else { "" };
        let chosen = read(&format!("{text}{faster}wlan.rate_control.algorithm = \"{algorithm}\""));
        let fixed = read(&format!("{text}{slowest}"));
        prop_assert_eq!(chosen.is_ok(), fixed.is_ok(), "{:?}\n{:?}\n{}", chosen.err(), fixed.err(), text);
    }
}

/// Packets delivered in two seconds over a hop of this length.
fn delivered(preset: &str, protocol: &str, algorithm: &str, meters: u32, seed: u64) -> u64 {
    let routes = match protocol {
        "fixed" => {
            "routing.fixed.routes = [{ node = 0, dst = 1, next_hop = 1 }, { node = 1, dst = 0, next_hop = 0 }]\n"
        }
        _ => "",
    };
    let faster = if preset == "standard" { "wlan.data_rate = \"11 Mbit/s\"\n" } else { "" };
    let text = network(
        preset,
        protocol,
        &format!(
            "{LOG_DISTANCE}{routes}{faster}topology = {{ hops = 1, spacing = \"{meters} m\" }}\nqueue.limit = 300\n\
         wlan.rate_control.algorithm = \"{algorithm}\"\ncbr = {{ interval = \"1 ms\", payload = \"1400 B\" }}\n\
         flow = [{{ src = 0, dst = 1, app = \"cbr\" }}]"
        ),
    );
    let scenario = read(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    sim.recorder().delivered()
}

#[test]
fn link_of_slow_rates_only_carries_as_much_as_listed_routes() {
    for (preset, algorithm, meters) in [("802.11n", "aarf", 60), ("802.11a", "arf", 60), ("standard", "minstrel", 25)] {
        let listed = delivered(preset, "fixed", algorithm, meters, 1);
        assert!(listed > 200, "{preset}: {listed}");
        assert_eq!(delivered(preset, "shortest_path", algorithm, meters, 1), listed, "{preset}");
        let found = delivered(preset, "aodv", algorithm, meters, 1);
        assert!(found.abs_diff(listed) * 20 < listed, "{preset}: {found}, {listed}");
    }
}

#[test]
fn routes_prefer_links_that_carry_the_configured_rate() {
    // Hops of 30 m carry MCS 7, which is decoded up to 39 m; 155 m carry MCS 0, and 185 m nothing.
    let text = |places: &str, to: u32| {
        let of_map = format!(
            "{LOG_DISTANCE}topology = {{ kind = \"list\", positions = [{places}] }}\n\
             wlan.rate_control.algorithm = \"aarf\"\ncbr = {{ interval = \"10 ms\" }}\n\
             flow = [{{ src = 0, dst = {to}, app = \"cbr\" }}]"
        );
        network("802.11n", "shortest_path", &of_map)
    };
    let hops = |text: &str| {
        let scenario = read(text).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(Some(1)));
        sim.run();
        sim.recorder().flows().numbers("mean_hops").expect("a column")[0]
    };
    let at = |x: u32| format!("[\"{x} m\", \"0 m\"]");
    assert_eq!(hops(&text(&[at(0), at(30), at(60)].join(", "), 2)), 2.0);
    assert_eq!(hops(&text(&[at(0), at(30), at(60), at(215)].join(", "), 3)), 3.0);
}
