//! The measured part of a run in tables that also have the warm-up.

use crate::outcomes;
use chappe_core::packet::Kind;
use chappe_core::record::{Column, Recorder, Table};
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

fn ran(text: &str) -> Sim {
    let scenario = Scenario::from_toml("my.toml", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    sim.run();
    sim
}

/// A chain with losses of all kinds of packets.
fn chain(run: &str) -> String {
    format!(
        "run = {{ {run} }}\ntopology.hops = 4\nqueue.limit = 5\narp.enabled = true\nflow = [{{ dst = 4 }}, {{ src = 4, dst = 0, app = \"cbr\" }}]"
    )
}

fn measured(table: &Table) -> &[bool] {
    let Some(Column::Bool(values)) = table.column("measured") else { panic!("no column `measured`") };
    values
}

/// Packets of a class that were created, in the warm-up and in the measured part.
fn created(r: &Recorder, class: Kind) -> (u64, u64) {
    let table = r.packet_outcomes();
    let Some(Column::Text(classes)) = table.column("packet_class") else { panic!("no classes") };
    let of = |part: bool| {
        let rows = classes.iter().zip(measured(&table)).zip(table.counts("created").expect("a column"));
        rows.filter(|((name, m), _)| *name == class.name() && **m == part).map(|(_, n)| n).sum()
    };
    (of(false), of(true))
}

#[test]
fn packets_of_the_warm_up_have_rows_of_their_own() {
    let (with, without) = (
        ran(&chain("stop = \"20 s\", batches = 4, warmup_batches = 1")),
        ran(&chain("stop = \"20 s\", batches = 4, warmup_batches = 0")),
    );
    let (parts, whole) = (with.recorder().packet_outcomes(), without.recorder().packet_outcomes());
    assert_eq!((parts.rows(), whole.rows()), (2 * Kind::ALL.len(), Kind::ALL.len()));
    assert_eq!(measured(&parts), [false, true].repeat(4));
    assert!(measured(&whole).iter().all(|m| *m));
    // The warm-up changes no packet: both rows add up to those of the run without warm-up.
    for (name, column) in &whole.columns {
        if let Column::Int(counts) = column {
            assert_eq!(outcomes(&parts, name), counts[..], "{name}");
        }
    }
    // A datagram every interval, in a quarter of the time.
    let (before, after) = created(with.recorder(), Kind::Data);
    assert!(0 < before && before < after);
    // Sent in the measured part, as the table of flows counts them.
    let sent = |sim: &Sim| sim.recorder().flows().counts("packets_sent").expect("a column").iter().sum::<u64>();
    assert_eq!((after, before + after), (sent(&with), sent(&without)));
}

#[test]
fn run_that_ends_in_its_warm_up_measures_the_last_batch() {
    let text = chain("stop = \"4000 delivered\", batches = 4, warmup_batches = 3, time_limit = \"8 s\"");
    let sim = ran(&text);
    let r = sim.recorder();
    let batches = r.batches();
    let Some(Column::Bool(used)) = batches.column("used") else { panic!("no column `used`") };
    assert_eq!(used.iter().filter(|u| **u).count(), 1, "{used:?}");
    assert!(used.len() < 4, "{used:?}");
    let sent = r.flows().counts("packets_sent").expect("a column").iter().sum::<u64>();
    assert_eq!(created(r, Kind::Data).1, sent);
    assert!(sent > 0);
}

#[test]
fn short_flows_belong_to_the_part_of_their_start() {
    let sim = ran(
        "run = { stop = \"10 s\", batches = 5, warmup_batches = 2 }\ntopology.kind = \"none\"\ntopology.wired_nodes = 2\n\
                   wired_link = [{ src = 0, dst = 1 }]\n\
                   arrival_process = [{ src = 0, dst = 1, rate = 20, size.mean = \"10 kB\" }]",
    );
    assert_eq!(sim.recorder().measured_period().0.as_secs(), 4.0);
    let table = sim.recorder().short_flows();
    let starts = table.numbers("started_at_s").expect("a column");
    assert!(starts[0] < 4.0 && starts[starts.len() - 1] > 4.0);
    assert!(starts.iter().zip(measured(&table)).all(|(start, m)| *m == (*start >= 4.0)));
}
