//! The simulator compared with theory and with measured delays of a correct DCF.

use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

fn run(text: &str) -> Sim {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    sim
}

/// Goodput of all flows [bit/s].
fn goodput(sim: &Sim) -> f64 {
    sim.recorder().flows().numbers("goodput_bps").expect("a column").iter().sum()
}

/// Theoretical maximum throughput of one saturated sender (Jun, Peddabachagari, Sichitiu, NCA 2003): a, b without RTS,
/// b with RTS; TMT = 8 x / (a x + b) Mbit/s for x bytes above the MAC.
const TMT: [(&str, f64, f64, f64); 4] = [
    ("1 Mbit/s", 8.0, 1138.0, 1814.0),
    ("2 Mbit/s", 4.0, 1002.0, 1678.0),
    ("5.5 Mbit/s", 8.0 / 5.5, 915.4545, 1591.4545),
    ("11 Mbit/s", 8.0 / 11.0, 890.7273, 1566.7273),
];

#[test]
fn one_saturated_hop_reaches_the_theoretical_maximum_throughput() {
    for (rate, a, b, b_rts) in TMT {
        for (rts, b) in [("never", b), ("always", b_rts)] {
            for bytes in [512.0, 1500.0] {
                let sim = run(&format!(
                    r#"
                    run = {{ stop = "30 s" }}
                    topology = {{ hops = 1, spacing = "10 m" }}
                    wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}", header_size = "34 B", llc_size = "0 B",
                              airtime_rounding = "none" }}
                    routing = {{ protocol = "shortest_path" }}
                    cbr = {{ payload = "{bytes} B", header_size = "0 B", interval = "500 us" }}
                    flow = [{{ src = 0, dst = 1, app = "cbr" }}]
                    "#
                ));
                let expected = 8e6 * bytes / (a * bytes + b);
                let off = goodput(&sim) / expected - 1.0;
                assert!(off.abs() < 0.01, "{rate}, RTS {rts}, {bytes} B: {:+.2} % of {expected:.0} bit/s", off * 100.0);
            }
        }
    }
}

/// Bianchi's model with 802.11b's numbers, W = 32, m = 5, 1500 B: n, then Mbit/s at 11 basic, 11 RTS, 2 basic, 2 RTS.
const BIANCHI: [(u32, [f64; 4]); 5] = [
    (1, [6.0556, 4.5153, 1.7138, 1.5629]),
    (2, [6.3898, 4.7523, 1.7021, 1.5904]),
    (5, [6.3334, 4.8589, 1.6117, 1.6021]),
    (10, [6.0417, 4.8444, 1.5040, 1.6005]),
    (20, [5.6532, 4.7863, 1.3833, 1.5942]),
];

#[test]
fn saturated_stations_around_a_sink_follow_bianchi() {
    let cases = [("11 Mbit/s", "never"), ("11 Mbit/s", "always"), ("2 Mbit/s", "never"), ("2 Mbit/s", "always")];
    for (n, expected) in BIANCHI {
        let flows: String = (1..=n).map(|i| format!("[[flow]]\nsrc = {i}\ndst = 0\napp = \"cbr\"\n")).collect();
        let places: String = (0..=n).map(|i| format!("[\"{} m\", \"0 m\"],", f64::from(i) * 0.01)).collect();
        for ((rate, rts), expected) in cases.iter().zip(expected) {
            let sim = run(&format!(
                r#"
                run = {{ stop = "60 s" }}
                topology = {{ kind = "list", positions = [{places}] }}
                radio = {{ propagation = "range" }}
                wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}", header_size = "34 B", llc_size = "0 B", eifs = "difs",
                          short_retry_limit = "unlimited", long_retry_limit = "unlimited", airtime_rounding = "none" }}
                routing = {{ protocol = "shortest_path" }}
                cbr = {{ payload = "1500 B", header_size = "0 B", interval = "1 ms" }}
                {flows}
                "#
            ));
            let off = goodput(&sim) / (expected * 1e6) - 1.0;
            assert!(off.abs() < 0.03, "n = {n}, {rate}, RTS {rts}: {:+.2} % of {expected} Mbit/s", off * 100.0);
        }
    }
}

/// Delays of lone datagrams in ns-2.35: hops, rate, minimum, mean, maximum of 1998 datagrams [ms].
const LONE_DATAGRAMS: &str = include_str!("data/udp_isolated_delay.csv");

#[test]
fn lone_datagrams_take_as_long_as_in_ns2() {
    for line in LONE_DATAGRAMS.lines().skip(1) {
        let v: Vec<&str> = line.split(',').collect();
        let (hops, rate) = (v[0], v[1]);
        let [min, mean, max] = [3, 4, 6].map(|i| v[i].parse::<f64>().expect("a number"));
        let sim = run(&format!(
            r#"
            extends = "ns2-2.35"
            run = {{ stop = "400 s", batches = 2 }}
            topology = {{ hops = {hops} }}
            wlan = {{ data_rate = "{rate} Mbit/s" }}
            cbr = {{ payload = "1460 B", interval = "200 ms" }}
            flow = [{{ src = 0, dst = {hops}, app = "cbr", start = "1 s" }}]
            "#
        ));
        let ours = sim.recorder().flows().numbers("mean_delay_s").expect("a column")[0] * 1e3;
        assert!((ours / mean - 1.0).abs() < 0.01, "{hops} hops at {rate} Mbit/s: {ours:.4} ms instead of {mean} ms");
        assert!(min < ours && ours < max);
    }
}

/// Energy per delivered bit in ns-2.35 with its default powers over a chain of 7 hops at 2 Mbit/s, of each node: means
/// of five runs of 400 s [uJ].
const CHAIN_ENERGY: [(&str, [f64; 8]); 2] = [
    ("newreno", [1.1271, 1.4542, 1.6747, 1.7135, 1.7031, 1.5314, 1.2365, 0.7419]),
    ("vegas", [1.0293, 1.3381, 1.5372, 1.5713, 1.5674, 1.4315, 1.1583, 0.6938]),
];

#[test]
fn a_delivered_bit_costs_as_much_energy_as_in_ns2() {
    for (variant, expected) in CHAIN_ENERGY {
        let sim = run(&format!(
            r#"
            extends = "ns2-2.35"
            run = {{ stop = "2000 s", batches = 1, warmup_batches = 0, airtime = true }}
            topology = {{ hops = 7 }}
            wlan = {{ rts_threshold = "always" }}
            tcp = {{ variant = "{variant}", receive_window = 64, initial_window = 1, vegas = {{ alpha = 2, beta = 2, gamma = 2 }} }}
            flow = [{{ src = 0, dst = 7, start = "1 s" }}]
            "#
        ));
        let bits = goodput(&sim) * 2000.0;
        let joules = sim.recorder().airtime().numbers("energy_j").expect("a column");
        for (node, (ours, expected)) in joules.iter().zip(expected).enumerate() {
            let off = ours / bits * 1e6 / expected - 1.0;
            assert!(off.abs() < 0.02, "{variant}, node {node}: {:+.2} % of {expected} uJ/bit", off * 100.0);
        }
    }
}
