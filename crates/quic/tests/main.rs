//! Connections of the library quinn-proto over simulated networks.

mod library;
mod runs;

use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_quic::{CongestionControl, Driver, Report, Traffic, transport};
use chappe_scenario::{NoFiles, Scenario};

/// Two wired nodes, 10 Mbit/s with a round-trip time of 40 ms and a queue of 1,000 packets.
const WIRE: &str = r#"
    run = { stop = "10 s", batches = 1, warmup_batches = 0 }
    topology = { kind = "none", wired_nodes = 2 }
    wired_link = [{ src = 0, dst = 1, rate = "10 Mbit/s", delay = "20 ms", queue = { discipline = "droptail", limit = 1000 } }]
    flow = [{ src = 0, dst = 1, app = "external" }, { src = 1, dst = 0, app = "external" }]
"#;

/// Congestion controls of the library.
const EACH: [CongestionControl; 3] = [CongestionControl::Cubic, CongestionControl::NewReno, CongestionControl::Bbr];

const UPLOAD: Traffic = Traffic::Upload { streams: 1 };

fn start(text: &str, overrides: &[(&str, &str)], seed: u64) -> (Sim, Driver) {
    let overrides: Vec<_> = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let scenario = Scenario::from_toml("test.toml", text, &overrides, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let setup = scenario.setup(Some(seed));
    (Sim::new(&setup), Driver::new(&setup))
}

/// Report of a connection over flow 0 at the end of its run.
fn reached(text: &str, overrides: &[(&str, &str)], traffic: Traffic, controller: CongestionControl) -> Report {
    let (mut sim, mut driver) = start(text, overrides, 1);
    let connection = driver.connect(&mut sim, 0, traffic, || transport(controller)).unwrap_or_else(|e| panic!("{e}"));
    driver.until(&mut sim, Time::NEVER);
    driver.report(connection)
}

fn ms(at: u64) -> Time {
    Time::ZERO + Span::ms(at)
}
