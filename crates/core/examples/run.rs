//! Runs a scenario file and prints what it cost: `run FILE [SEED]`. The benches time this program.
#![allow(clippy::print_stdout, reason = "it is a program")]

use chappe_core::scenario::{NoFiles, Scenario};
use chappe_core::sim::Sim;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: run FILE [SEED]")?;
    let seed = args.next().map(|s| s.parse()).transpose()?;
    let scenario = Scenario::from_toml(&file, &std::fs::read_to_string(&file)?, &[], &NoFiles)?;
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
