//! Runs a scenario file and prints its memory and time: `run FILE [SEED] [NAME=VALUE]...`. The benches time this
//! program.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{}", e.to_string().trim_end());
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: run FILE [SEED] [NAME=VALUE]...")?;
    let (mut seed, mut overrides) = (None, vec![]);
    for arg in args {
        match arg.split_once('=') {
            Some((name, value)) => overrides.push((name.to_owned(), value.to_owned())),
            None => seed = Some(arg.parse().map_err(|_| format!("error: {arg:?} is neither a seed nor NAME=VALUE"))?),
        }
    }
    let text = std::fs::read_to_string(&file).map_err(|e| format!("error: cannot read {file}: {e}"))?;
    let scenario = Scenario::from_toml(&file, &text, &overrides, &NoFiles)?;
    let mut sim = Sim::new(&scenario.setup(seed));
    let end = sim.run();
    let recorder = sim.recorder();
    let radio = &recorder.network().radio;
    println!(
        "frames {} delivered {} seconds {:.6} end {end:?} aggregates {} mpdus {}",
        radio.frames(),
        recorder.delivered(),
        sim.now().as_secs(),
        radio.aggregates_sent,
        radio.mpdus_sent
    );
    Ok(())
}
