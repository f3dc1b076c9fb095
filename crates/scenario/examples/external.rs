//! Drives external flows: requests of node 0 and answers of node 3 over a chain, with a timer for lost ones.
#![allow(clippy::print_stdout, reason = "it is a program")]

use chappe_core::packet::{FlowId, NodeId};
use chappe_core::run::external::{Event, Injection, Refused};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use std::error::Error;

const TEXT: &str = r#"
    run = { stop = "10 s" }
    topology = { hops = 3 }
    flow = [{ src = 0, dst = 3, app = "external" }, { src = 3, dst = 0, app = "external" }]
"#;
const CLIENT: NodeId = NodeId(0);
const TIMEOUT: Span = Span::ms(500);

/// Sends the next request, and sets the timer.
fn ask(sim: &mut Sim, tag: u64) -> Result<(), Refused> {
    sim.inject(FlowId(0), Injection { bytes: 100, tag, ..Injection::default() })?;
    sim.wake(CLIENT, sim.now() + TIMEOUT);
    Ok(())
}

/// Counts of datagrams that the program prints.
pub fn report() -> Result<String, Box<dyn Error>> {
    let scenario = Scenario::from_toml("external.toml", TEXT, &[], &NoFiles)?;
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    let (mut tag, mut answers, mut waited) = (0, 0, Span::ZERO);
    ask(&mut sim, tag)?;
    let mut asked = sim.now();
    while sim.until(Time::NEVER) == Halt::Events {
        for event in sim.events().collect::<Vec<_>>() {
            match event {
                Event::Arrived { copy: true, .. } | Event::Left { .. } | Event::Lost { .. } => continue,
                Event::Arrived { flow: FlowId(0), tag, .. } => {
                    sim.inject(FlowId(1), Injection { bytes: 1000, tag, ..Injection::default() })?;
                    continue;
                }
                // An answer that is too late.
                Event::Arrived { tag: of, .. } if of != tag => continue,
                Event::Arrived { .. } => {
                    answers += 1;
                    waited += sim.now().since(asked);
                }
                Event::Wake { .. } => {}
            }
            tag += 1;
            ask(&mut sim, tag)?;
            asked = sim.now();
        }
    }
    let mean_ms = waited.as_secs() * 1e3 / f64::from(answers);
    Ok(format!("{answers} answers to {} requests, after {mean_ms:.1} ms on average", tag + 1))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", report()?);
    Ok(())
}
