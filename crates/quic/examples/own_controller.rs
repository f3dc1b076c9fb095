//! A congestion control of one's own over the loss recovery of the library: a window that keeps the queueing delay near
//! a target, by additive increase and multiplicative decrease. Compares it with those of the library over a chain.
#![allow(clippy::print_stdout, reason = "it is a program")]

use chappe_core::sim::Sim;
use chappe_core::unit::Time;
use chappe_quic::quinn_proto::congestion::{Controller, ControllerFactory};
use chappe_quic::quinn_proto::{RttEstimator, TransportConfig};
use chappe_quic::{CongestionControl as OfLibrary, Driver, Traffic};
use chappe_scenario::{NoFiles, Scenario};
use std::any::Any;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TEXT: &str = r#"
    run.stop = "20 s"
    topology.hops = 3
    routing.protocol = "shortest_path"
    flow = [{ src = 0, dst = 3, app = "external" }, { src = 3, dst = 0, app = "external" }]
"#;

/// The rule.
#[derive(Clone)]
struct DelayTarget {
    target: Duration,
    mtu: u64,
    /// Window \[B\].
    window: f64,
    /// Time of the last reduction: what was sent before says nothing about the new window.
    reduced: Instant,
}

impl DelayTarget {
    fn reduce(&mut self, factor: f64, sent: Instant, now: Instant) {
        if sent >= self.reduced {
            self.window = (self.window * factor).max(2.0 * self.mtu as f64);
            self.reduced = now;
        }
    }
}

impl Controller for DelayTarget {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if rtt.get().saturating_sub(rtt.min()) > self.target {
            self.reduce(0.85, sent, now);
        } else if !app_limited {
            self.window += bytes as f64 * self.mtu as f64 / self.window;
        }
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, _: bool, _: u64) {
        self.reduce(0.5, sent, now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        12_000
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Makes the rule for a connection.
struct Target(Duration);

impl ControllerFactory for Target {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(DelayTarget { target: self.0, mtu: current_mtu.into(), window: 12_000.0, reduced: now })
    }
}

/// Goodput \[kbit/s\] and smoothed round-trip time at the end \[ms\].
pub fn reached(transport: impl Fn() -> TransportConfig) -> Result<(f64, f64), Box<dyn Error>> {
    let setup = Scenario::from_toml("own_controller.toml", TEXT, &[], &NoFiles)?.setup(Some(1));
    let (mut sim, mut driver) = (Sim::new(&setup), Driver::new(&setup));
    let connection = driver.connect(&mut sim, 0, Traffic::Upload { streams: 1 }, transport)?;
    driver.until(&mut sim, Time::NEVER);
    let report = driver.report(connection);
    let goodput = 8.0 * report.server.bytes_read as f64 / sim.now().as_secs() / 1e3;
    Ok((goodput, report.client.stats.path.rtt.as_secs_f64() * 1e3))
}

/// The rule with a target.
pub fn own(target_ms: u64) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(Target(Duration::from_millis(target_ms))));
    transport
}

fn main() -> Result<(), Box<dyn Error>> {
    for controller in OfLibrary::ALL {
        let (goodput, rtt) = reached(|| chappe_quic::transport(*controller))?;
        println!("{:12} {goodput:6.0} kbit/s, {rtt:4.0} ms", controller.word());
    }
    let (goodput, rtt) = reached(|| own(50))?;
    println!("{:12} {goodput:6.0} kbit/s, {rtt:4.0} ms", "delay target");
    Ok(())
}
