//! Runs a scenario with QUIC over its external flows, and prints its results for the Python package.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use chappe_core::sim::Sim;
use chappe_core::unit::Time;
use chappe_core::{RESULTS_EPOCH, VERSION};
use chappe_quic::{Driver, STACK, results};
use chappe_scenario::{NoFiles, Scenario};
use std::error::Error;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: chappe-quic [--qlog=DIR] < SCENARIO
  reads a scenario (TOML) and prints the tables of its run as JSON, with flows of QUIC (settings `quic`)
  --qlog=DIR   writes a qlog of each end into a folder, which exists
  --version    prints versions of Chappe and of the library, and the results epoch";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {}", e.to_string().trim_end().trim_start_matches("error: "));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut qlog = None;
    for arg in std::env::args().skip(1) {
        match arg.split_once('=') {
            None if arg == "--version" => {
                println!("chappe {VERSION}, epoch {RESULTS_EPOCH}, {STACK}");
                return Ok(());
            }
            Some(("--qlog", folder)) if !folder.is_empty() => qlog = Some(PathBuf::from(folder)),
            _ => return Err(format!("{arg:?} is no option\n{USAGE}").into()),
        }
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("cannot read the scenario: {e}"))?;
    let scenario = Scenario::from_toml("scenario", &text, &[], &NoFiles)?;
    let setup = scenario.setup(None);
    let (mut sim, mut driver) = (Sim::new(&setup), Driver::new(&setup));
    driver.log_to(qlog);
    driver.connect_all(&mut sim, &scenario)?;
    if driver.connections() == 0 {
        return Err("no flow is QUIC: set `quic.congestion_control` and `app = \"external\"`".into());
    }
    driver.until(&mut sim, Time::NEVER);
    println!("{}", results(&scenario, &sim, &driver));
    Ok(())
}
