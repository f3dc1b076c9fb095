//! Runs a scenario file and prints what it cost: `run FILE [SEED] [NAME=VALUE]...`. The benches time this program.
#![allow(clippy::print_stdout, reason = "it is a program")]

use chappe_core::scenario::{NoFiles, Scenario};
use chappe_core::sim::Sim;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: run FILE [SEED] [NAME=VALUE]...")?;
    let (mut seed, mut overrides) = (None, vec![]);
    for arg in args {
        match arg.split_once('=') {
            Some((name, value)) => overrides.push((name.to_owned(), value.to_owned())),
            None => seed = Some(arg.parse()?),
        }
    }
    let scenario = Scenario::from_toml(&file, &std::fs::read_to_string(&file)?, &overrides, &NoFiles)?;
    let mut sim = Sim::new(&scenario.setup(seed));
    let end = sim.run();
    let recorder = sim.recorder();
    println!(
        "frames {} delivered {} seconds {:.6} end {end:?}",
        recorder.network().frames(),
        recorder.delivered(),
        sim.now().as_secs()
    );
    Ok(())
}
