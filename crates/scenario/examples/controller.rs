//! Congestion control of one's own: a window that grows by a segment per round trip while the delay is below a target.
#![allow(clippy::print_stdout, reason = "it is a program")]

use chappe_core::sim::Sim;
use chappe_core::tcp::cc::controller::{Controller, Controllers, Decision, View};
use chappe_core::tcp::cc::interface::Signal;
use chappe_core::unit::Span;
use chappe_scenario::{NoFiles, Scenario};
use std::error::Error;

const TEXT: &str = r#"
    run = { stop = "60 s" }
    topology = { hops = 3 }
"#;
const TARGET: Span = Span::ms(60);

/// The rule: of each connection there is one.
struct DelayTarget;

impl Controller for DelayTarget {
    fn on_ack(&mut self, view: &View) -> Decision {
        let cwnd = view.window.cwnd;
        let step = f64::from(view.acked) / cwnd;
        let late = view.rtt.is_some_and(|rtt| rtt > TARGET);
        Decision::cwnd(if late { cwnd - step / 2.0 } else { cwnd + step })
    }

    fn on_congestion(&mut self, view: &View, _: Signal) -> Decision {
        Decision::ssthresh((view.window.cwnd * 0.7).max(2.0))
    }
}

/// Goodput and smoothed round-trip time of a flow whose window a congestion control decides.
fn measured(congestion_control: &str) -> Result<String, Box<dyn Error>> {
    let setting = ("tcp.congestion_control".to_owned(), congestion_control.to_owned());
    let scenario = Scenario::from_toml("controller.toml", TEXT, &[setting], &NoFiles)?;
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    Controllers::new(|_, _| DelayTarget).drive(|| sim.run());
    let flows = sim.recorder().flows();
    let number = |column| flows.numbers(column).map_or(0.0, |values| values[0]);
    let (mbps, ms) = (number("goodput_bps") / 1e6, number("mean_rtt_s") * 1e3);
    Ok(format!("{congestion_control}: {mbps:.3} Mbit/s, round trips of {ms:.0} ms"))
}

/// Results that the program prints.
pub fn report() -> Result<String, Box<dyn Error>> {
    Ok([measured("external")?, measured("reno")?].join("\n"))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", report()?);
    Ok(())
}
