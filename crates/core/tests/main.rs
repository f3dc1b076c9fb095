//! Tests of the public interface of the simulator, in one program, because each program would be linked anew.

mod adversary;
mod airtime;
mod batteries;
mod broken_routes;
mod budgets;
mod captures;
mod controllers;
mod corpus;
mod cost;
mod coverage;
mod driven;
mod drivers;
mod duplicates;
mod effects;
mod errors;
mod events;
mod external;
mod far;
mod gateways;
mod hostile;
mod interfaces;
mod layout;
mod limits;
mod links;
mod linux_bbr;
mod linux_flows;
mod looked_at;
mod losses;
mod mac80211;
mod measured;
mod middleboxes;
mod mobility;
mod names;
mod no_alloc;
mod observers;
mod on_off;
mod own_queue;
mod physics;
mod properties;
mod qos;
mod queues;
mod rates;
mod reached;
mod readers;
mod record;
mod requests;
mod rooms;
mod routing;
mod runs;
mod same_instant;
mod scenario_files;
mod silence;
mod sinr;
mod tags;
mod tcp_pairs;
mod timeline;
mod transfers;
mod units;
mod windows;
mod wires;

use chappe_core::packet::Kind;
use chappe_core::record::{Column, Table};

/// The folder of the package that is tested.
const CORE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Values of a column of `packet_outcomes` by kind of packet, over the whole run.
fn outcomes(table: &Table, column: &str) -> [u64; Kind::ALL.len()] {
    let Some(Column::Text(kinds)) = table.column("packet_class") else { panic!("no kinds of packets") };
    let rows = || kinds.iter().zip(table.counts(column).expect("a column"));
    std::array::from_fn(|k| rows().filter(|(kind, _)| *kind == Kind::ALL[k].name()).map(|(_, n)| n).sum())
}

#[test]
fn every_file_of_tests_is_named_above() {
    let folder = std::path::Path::new(CORE).join("tests");
    for entry in std::fs::read_dir(folder).expect("the tests") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "rs") && stem != "main" {
            assert!(include_str!("main.rs").contains(&format!("\nmod {stem};\n")), "{stem}.rs is not run");
        }
    }
}
