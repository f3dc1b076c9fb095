//! A run driven from outside gives the same bytes as one that is not, however it is divided.

use crate::observers::meshes;
use crate::properties::{everything, scenario, scenarios, wired_scenarios};
use crate::record::{Row, rows};
use chappe_core::packet::FlowId;
use chappe_core::run::RecordedTable;
use chappe_core::run::{Command, End, Setup};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use proptest::prelude::*;

fn tables(sim: &mut Sim) -> Vec<(RecordedTable, Vec<Row>)> {
    sim.tables().map(|(table, kept)| (table, rows(kept))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn driven_and_closed_runs_end_alike(
        text in prop_oneof![scenarios(), wired_scenarios(), meshes()],
        seed in any::<u32>(),
        steps in prop::collection::vec(1..900_000u64, 1..6),
        stop in prop::sample::select(vec!["2 s", "30 delivered", "300 delivered"]),
        segments in 1..60u32,
    ) {
        let changes = [
            ("run.stop", format!("\"{stop}\"")),
            ("run.time_limit", "\"20 s\"".to_owned()),
            ("run.sample_interval", "\"70 ms\"".to_owned()),
            ("bulk.segments", segments.to_string()),
            ("cbr.datagrams", segments.to_string()),
        ];
        let changes: Vec<(String, String)> = changes.map(|(name, value)| (name.to_owned(), value)).into();
        let scenario =
            Scenario::from_toml("test", &text, &changes, &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let setup = Setup { record: RecordedTable::ALL.to_vec(), airtime: true, ..scenario.setup(Some(seed.into())) };
        let (mut closed, mut driven) = (Sim::new(&setup), Sim::new(&setup));
        let end = closed.run();
        let mut at = Time::ZERO;
        for us in steps.iter().cycle() {
            at += Span::us(*us);
            match driven.until(at) {
                Halt::Reached => drop(driven.so_far()),
                Halt::End(other) => {
                    prop_assert_eq!(other, end);
                    break;
                }
                Halt::Events => unreachable!("no flow is external"),
            }
        }
        prop_assert_eq!(driven.now(), closed.now());
        prop_assert!(everything(driven.recorder()) == everything(closed.recorder()));
        let [driven, closed] = [&mut driven, &mut closed].map(|sim| format!("{:?}", tables(sim)));
        prop_assert!(driven == closed);
    }
}

/// An idle run waits for a command; meanwhile its clocks go on.
#[test]
fn command_wakes_an_idle_run() {
    let text = "run = { stop = \"150 delivered\", sample_interval = \"100 ms\", time_limit = \"100 s\", batches = 1, warmup_batches = 0 }\n\
                topology.hops = 1\nflow = [{ src = 0, dst = 1, bulk.segments = 100 }]\n\
                radio.energy.battery = \"100 J\"";
    let event = "\nevent = [{ at = \"7 s\", action = \"flow_start\", flow = 0 }]";
    let by_event = || {
        let mut sim = Sim::new(&scenario(&format!("{text}{event}")).setup(None));
        (sim.run(), sim)
    };
    let (end, by_event) = by_event();
    let mut sim = Sim::new(&scenario(text).setup(None));
    assert_eq!(sim.until(Time::ZERO + Span::secs(7)), Halt::Reached);
    assert_eq!(sim.now(), Time::ZERO + Span::secs(7));
    assert_eq!(sim.so_far().samples().rows(), 71);
    sim.apply(&Command::FlowStart(FlowId(0)));
    assert_eq!((sim.run(), end), (End::Done, End::Done));
    assert_eq!(sim.now(), by_event.now());
    assert!(everything(sim.recorder()) == everything(by_event.recorder()));
    // A run that is driven on without a command is over, and was so when no event was left.
    let mut sim = Sim::new(&scenario(text).setup(None));
    let mut closed = Sim::new(&scenario(text).setup(None));
    closed.run();
    assert_eq!(sim.until(Time::ZERO + Span::secs(7)), Halt::Reached);
    assert_eq!(sim.until(Time::ZERO + Span::secs(8)), Halt::End(End::Idle));
    assert_eq!(sim.now(), closed.now());
}
