//! Energy left in batteries of ns-2.35, replayed with its own random numbers.

use crate::rng::script;
use crate::scenario::{NoFiles, Scenario};
use crate::sim::Sim;
use crate::unit::{Span, Time};

/// Datagrams from node 0 to node 1; node 2 listens. The batteries of 2 and of 1 are empty after 18 s and 42 s, and node 0
/// goes on asking for a route.
const THREE: &str = r#"
    extends = "ns2-2.35"
    run = { stop = "61 s" }
    topology = { hops = 2 }
    wlan = { data_rate = "2 Mbit/s", basic_rate = "1 Mbit/s", rts_threshold = "always" }
    radio.energy = { transmit = "0.3 W", receive = "0.5 W", idle = "0 W", accounting = "first_bit", battery = "200 J" }
    node = [{ nodes = 1, radio.energy.battery = "1.3 J" }, { nodes = 2, radio.energy.battery = "0.6 J" }]
    flow = [{ src = 0, dst = 1, app = "cbr", start = "1 s" }]
    cbr = { interval = "50 ms", payload = "512 B" }
"#;

#[test]
fn remaining_energy_equals_that_of_ns2() {
    script::start(1, 0);
    let scenario = Scenario::from_toml("golden", THREE, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    let (mut ours, mut theirs) = (vec![], vec![]);
    for line in include_str!("../data/energy3_residual.csv").lines().skip(1) {
        let at: f64 = line.split(',').next().and_then(|t| t.parse().ok()).expect("a time");
        sim.until(Time::ZERO + Span::from_secs(at));
        let left = sim.energy_left();
        ours.push(format!("{at:.1},{:.6},{:.6},{:.6}", left[0], left[1], left[2]));
        theirs.push(line);
    }
    script::stop();
    assert_eq!(ours.len(), 120);
    assert_eq!(ours, theirs);
}
