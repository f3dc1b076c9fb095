//! Results of a run with QUIC, as JSON for the Python package: the tables of every run, in which flows have the words of
//! QUIC, too.

use crate::driver::Driver;
use crate::peer::End;
use crate::{STACK, driver::Report};
use chappe_core::record::recorder::is_of_tcp;
use chappe_core::record::{Column, Recorder, Table};
use chappe_core::run::End as Ending;
use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_core::{RESULTS_EPOCH, VERSION};
use chappe_scenario::Scenario;
use serde_json::{Map, Value as Json, json};
use std::time::Duration;

/// Tables of every run.
const TABLES: [&str; 12] = [
    "flows",
    "short_flows",
    "nodes",
    "batches",
    "flow_batches",
    "samples",
    "packet_outcomes",
    "airtime",
    "rates",
    "batteries",
    "wired_links",
    "wired_link_batches",
];

/// Results of a run that has ended, of this scenario.
pub fn results(scenario: &Scenario, sim: &Sim, driver: &Driver) -> Json {
    let recorder = sim.recorder();
    let table = |name: &str| {
        let mut table = recorder.table(name).expect("every run has it");
        if name == "flows" {
            add_words(&mut table, scenario, driver);
        }
        (name.to_owned(), columns(recorder, name, table))
    };
    json!({
        "version": VERSION,
        "epoch": RESULTS_EPOCH,
        "end": match sim.end() {
            Some(Ending::Done) => "done",
            Some(Ending::Limit) => "limit",
            Some(Ending::Idle) => "idle",
            Some(Ending::Canceled) => "canceled",
            None => "running",
        },
        "simulated_s": sim.now().as_secs(),
        "measured_from_s": recorder.measured_period().0.as_secs(),
        "frames_sent": recorder.network().radio.frames(),
        "fastest_bps": scenario.fastest().map(|rate| rate.0),
        "tables": TABLES.into_iter().map(table).collect::<Map<_, _>>(),
    })
}

/// Columns with their types; null for what does not exist: a number that is not finite, a missing count, an empty text,
/// and columns of TCP in rows of other flows.
fn columns(recorder: &Recorder, name: &str, table: Table) -> Json {
    let by_flow = matches!(name, "flows" | "flow_batches");
    let column = |(name, values): (String, Column)| {
        let exists = |row: usize| !by_flow || !is_of_tcp(&name) || recorder.is_tcp(row % recorder.flow_count());
        let (kind, values): (_, Vec<Json>) = match values {
            Column::Float(v) => ("float", (0..).zip(v).map(|(i, x)| json!(exists(i).then_some(x))).collect()),
            Column::Int(v) => {
                let known = |(i, x)| json!((exists(i) && x != Table::MISSING).then_some(x));
                ("int", (0..).zip(v).map(known).collect())
            }
            Column::Text(v) => {
                let known = |(i, x): (_, String)| json!((exists(i) && !x.is_empty()).then_some(x));
                ("text", (0..).zip(v).map(known).collect())
            }
            Column::Bool(v) => ("bool", v.into_iter().map(|x| json!(x)).collect()),
        };
        (name, json!([kind, values]))
    };
    Json::Object(table.columns.into_iter().map(column).collect())
}

/// Adds what the library tells of the end that sends over each flow, over the whole run.
fn add_words(flows: &mut Table, scenario: &Scenario, driver: &Driver) {
    let reports: Vec<Report> = (0..driver.connections()).map(|n| driver.report(n)).collect();
    let controls = |report: &Report| {
        let flow = &scenario.layout().flows[report.flows[0].index()];
        flow.quic(scenario.config()).and_then(|quic| quic.congestion_control).map_or("", |control| control.word())
    };
    let ends: Vec<Option<(&Report, usize)>> = (0..flows.rows())
        .map(|flow| {
            let place = |r: &Report| r.flows.iter().position(|f| f.index() == flow);
            reports.iter().find_map(|r| place(r).map(|place| (r, place)))
        })
        .collect();
    let text = |of: &dyn Fn(&Report, usize) -> String| -> Vec<String> {
        ends.iter().map(|end| end.map_or_else(String::new, |(report, place)| of(report, place))).collect()
    };
    let count = |of: &dyn Fn(&End) -> u64| -> Vec<u64> {
        ends.iter().map(|at| at.map_or(Table::MISSING, |at| of(end_of(at)))).collect()
    };
    let seconds = |of: &dyn Fn(&End) -> Option<f64>| -> Vec<f64> {
        ends.iter().map(|at| at.and_then(|at| of(end_of(at))).unwrap_or(f64::NAN)).collect()
    };
    flows.text("quic_stack", text(&|_, _| STACK.to_owned()));
    flows.text("quic_congestion_control", text(&|report, _| controls(report).to_owned()));
    flows.text("quic_role", text(&|_, place| ["client", "server"][place].to_owned()));
    flows.float("quic_handshake_time_s", seconds(&|e| e.connected_at.map(|at| at.since(Time::ZERO).as_secs())));
    flows.int("quic_streams_opened", count(&|e| e.streams));
    flows.int("quic_packets_sent", count(&|e| e.stats.path.sent_packets));
    flows.int("quic_packets_lost", count(&|e| e.stats.path.lost_packets));
    flows.int("quic_pings_sent", count(&|e| e.stats.frame_tx.ping - e.stats.path.sent_plpmtud_probes));
    flows.int("quic_mtu_probes_sent", count(&|e| e.stats.path.sent_plpmtud_probes));
    flows.int("quic_congestion_events", count(&|e| e.stats.path.congestion_events));
    flows.int("quic_cwnd_bytes", count(&|e| e.stats.path.cwnd));
    flows.int("quic_mtu_bytes", count(&|e| e.stats.path.current_mtu.into()));
    // Before the handshake the library tells an assumed time.
    let measured = |e: &End, time: Duration| e.connected_at.map(|_| time.as_secs_f64());
    flows.float("quic_srtt_s", seconds(&|e| measured(e, e.stats.path.rtt)));
    flows.float("quic_min_rtt_s", seconds(&|e| measured(e, e.stats.path.min_rtt)));
    // Responses come over the flow of the server.
    let responses: Vec<Option<&[Span]>> = ends
        .iter()
        .map(|end| end.filter(|(_, place)| *place == 1).map(|(report, _)| &report.completions[..]))
        .collect();
    flows.int("quic_responses", responses.iter().map(|times| times.map_or(Table::MISSING, |t| t.len() as u64)));
    let mean = |times: &[Span]| times.iter().map(|t| t.as_secs()).sum::<f64>() / times.len() as f64;
    flows.float("quic_mean_response_time_s", responses.iter().map(|times| times.map_or(f64::NAN, mean)));
    flows.text("quic_lost_because", text(&|r, place| end_of((r, place)).lost.clone().unwrap_or_default()));
}

/// The end that sends over a flow.
fn end_of((report, place): (&Report, usize)) -> &End {
    [&report.client, &report.server][place]
}
