//! Runs a scenario with QUIC over its external flows: `chappe-quic FILE [SEED] [NAME=VALUE]... [OPTION=VALUE]...`.
//!
//! Every external flow with one back is a connection, whose client is the source of the first. For each connection the
//! program prints a line of JSON.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_quic::{Controller, Driver, STACK, Traffic};
use chappe_scenario::{NoFiles, Scenario};
use serde_json::json;
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
usage: chappe-quic FILE [SEED] [NAME=VALUE]... [OPTION]...
  NAME=VALUE             changes a setting of the scenario
  --controller=NAME      congestion control of the library: cubic (default), newreno or bbr
  --traffic=WORD         upload (default), download, or the size of the answers to requests [B]
  --streams=N            number of streams (1)
  --pause=SECONDS        from an answer to the next request (0)
  --after=SECONDS        goodput is measured from this time on (0)
  --version              prints the library and its version instead of running anything";

/// Options of the command line.
struct Options {
    controller: Controller,
    traffic: String,
    streams: u32,
    pause: Span,
    after: Time,
}

impl Options {
    fn traffic(&self) -> Result<Traffic, String> {
        let streams = self.streams;
        match self.traffic.as_str() {
            "upload" => Ok(Traffic::Upload { streams }),
            "download" => Ok(Traffic::Download { streams }),
            size => match size.parse() {
                Ok(bytes) => Ok(Traffic::Requests { bytes, pause: self.pause }),
                Err(_) => Err(format!("--traffic: {size:?} is neither upload, download nor a size")),
            },
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = || format!("--{name}: {value:?} is no such value\n{USAGE}");
        let seconds = || value.parse().ok().filter(|s| (0.0..1e6).contains(s)).map(Span::from_secs).ok_or_else(wrong);
        match name {
            "controller" => {
                self.controller = Controller::ALL.into_iter().find(|c| c.name() == value).ok_or_else(wrong)?;
            }
            "traffic" => self.traffic = value.into(),
            "streams" => self.streams = value.parse().ok().filter(|n| (1..=10_000).contains(n)).ok_or_else(wrong)?,
            "pause" => self.pause = seconds()?,
            "after" => self.after = Time::ZERO + seconds()?,
            _ => return Err(format!("there is no option --{name}\n{USAGE}")),
        }
        Ok(())
    }
}

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
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or(USAGE)?;
    if file == "--version" {
        println!("{STACK}");
        return Ok(());
    }
    let (mut seed, mut overrides) = (None, vec![]);
    let traffic = "upload".into();
    let mut options =
        Options { controller: Controller::Cubic, traffic, streams: 1, pause: Span::ZERO, after: Time::ZERO };
    for arg in args {
        match (arg.strip_prefix("--"), arg.split_once('=')) {
            (Some(option), _) => {
                let (name, value) = option.split_once('=').unwrap_or((option, ""));
                options.set(name, value)?;
            }
            (None, Some((name, value))) => overrides.push((name.to_owned(), value.to_owned())),
            (None, None) => seed = Some(arg.parse().map_err(|_| format!("{arg:?} is neither a seed nor NAME=VALUE"))?),
        }
    }
    let text = std::fs::read_to_string(&file).map_err(|e| format!("cannot read {file}: {e}"))?;
    let setup = Scenario::from_toml(&file, &text, &overrides, &NoFiles)?.setup(seed);
    let (mut sim, mut driver) = (Sim::new(&setup), Driver::new(&setup));
    let traffic = options.traffic()?;
    while let Some(flow) = driver.free() {
        driver.connect(&mut sim, flow, traffic, options.controller.transport())?;
    }
    if driver.connections() == 0 {
        return Err(format!("{file} has no two flows with `app = \"external\"`, one in each direction").into());
    }
    driver.until(&mut sim, options.after);
    let bytes = |driver: &Driver, n| driver.report(n).client.bytes_read + driver.report(n).server.bytes_read;
    let before: Vec<u64> = (0..driver.connections()).map(|n| bytes(&driver, n)).collect();
    driver.until(&mut sim, Time::NEVER);
    let seconds = sim.now().since(options.after).as_secs();
    let recorded = sim.recorder().flows();
    let goodputs = recorded.numbers("goodput_bps").unwrap_or_default();
    let of_others = goodputs.iter().zip(&setup.flows).filter(|(_, flow)| !flow.app.is_external());
    let others: Vec<f64> = of_others.map(|(goodput, _)| *goodput).collect();
    for (n, before) in before.iter().enumerate() {
        let report = driver.report(n);
        let goodput_bps = 8.0 * (bytes(&driver, n) - before) as f64 / seconds;
        let end = |end: &chappe_quic::End| {
            let path = end.stats.path;
            json!({
                "bytes_read": end.bytes_read,
                "connected_at_s": end.connected_at.map(|at| at.since(Time::ZERO).as_secs()),
                "lost": end.lost,
                "packets_sent": path.sent_packets,
                "packets_lost": path.lost_packets,
                "congestion_events": path.congestion_events,
                "datagrams_received": end.stats.udp_rx.datagrams,
                "cwnd_bytes": path.cwnd,
                "rtt_s": path.rtt.as_secs_f64(),
                "mtu_bytes": path.current_mtu,
            })
        };
        let line = json!({
            "stack": STACK,
            "controller": options.controller.name(),
            "seed": setup.seed,
            "client": report.from.0,
            "server": report.to.0,
            "goodput_bps": goodput_bps,
            "goodput_of_other_flows_bps": others,
            "completion_times_s": report.completions.iter().map(|span| span.as_secs()).collect::<Vec<_>>(),
            "at_client": end(&report.client),
            "at_server": end(&report.server),
        });
        println!("{line}");
    }
    Ok(())
}
