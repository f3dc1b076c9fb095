//! Time budgets of flows depend neither on the batches of a run nor on queries during it.

use crate::observers::meshes;
use crate::properties::{scenario, scenarios, wired_scenarios};
use chappe_core::record::uses::flow::USES;
use chappe_core::record::{Column, Table};
use chappe_core::run::{Setup, Stop};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;

/// The times of each flow and use, summed over rows \[ns\].
fn uses(table: &Table, used_only: bool) -> Vec<Vec<u64>> {
    let flows = table.counts("flow").expect("a column");
    let used = |row: usize| match table.column("used") {
        Some(Column::Bool(used)) if used_only => used[row],
        _ => true,
    };
    let of_use = |(name, _): &(&str, &str)| {
        let times = table.numbers(&format!("{name}_s")).expect("a column");
        let mut sums = vec![0; flows.iter().max().map_or(0, |&f| f as usize + 1)];
        for (row, (time, &flow)) in times.iter().zip(flows).enumerate().filter(|r| used(r.0)) {
            sums[flow as usize] += (time * 1e9).round() as u64;
            assert!(*time >= 0.0, "row {row}");
        }
        sums
    };
    USES.iter().map(of_use).collect()
}

fn ran(setup: &Setup) -> Sim {
    let mut sim = Sim::new(setup);
    sim.run();
    sim
}

/// Flows that are begun and ended by events, and generated transfers.
fn restless(text: &str, chance: u32) -> String {
    let (a, b, c) = (chance % 900, chance / 7 % 900, chance / 11 % 700);
    let event = |at: u32, what: &str| format!("[[event]]\nat = \"{at} ms\"\naction = \"{what}\"\nflow = 0\n");
    let events = event(100 + a, "flow_stop") + &event(1000 + b, "flow_start") + &event(1200 + b + c, "flow_stop");
    let arrivals = "[[arrival_process]]\nrate = 3.0\nsize = { mean = \"9 kB\" }\n";
    format!(
        "{text}\n{}{}",
        if chance.is_multiple_of(3) { &events } else { "" },
        if chance.is_multiple_of(5) { arrivals } else { "" }
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn budgets_do_not_depend_on_batches(
        text in prop_oneof![scenarios(), wired_scenarios(), meshes()],
        chance in any::<u32>(),
        cuts in prop::collection::vec(0..4_000_000u64, 0..4),
    ) {
        // Middleboxes serve the flows that there are.
        let text = if text.contains("[[middlebox]]") { text } else { restless(&text, chance) };
        let setup = scenario(&text).setup(Some(chance.into()));
        let of = |batches, discard| Setup { batches, discard, ..setup.clone() };
        let whole = uses(&ran(&of(1, 0)).recorder().flows(), false);
        for batches in [2, 11, 51] {
            let sim = ran(&of(batches, 0));
            prop_assert_eq!(&whole, &uses(&sim.recorder().flow_batches(), false), "{} batches", batches);
            prop_assert_eq!(&whole, &uses(&sim.recorder().flows(), false), "{} batches", batches);
        }
        // Nor do they depend on queries; the measured part consists of the batches that count.
        let mut asked = Sim::new(&of(11, 3));
        let mut cuts = cuts;
        cuts.sort_unstable();
        for us in cuts {
            if asked.until(Time::ZERO + Span::us(us)) == Halt::Reached {
                uses(&asked.so_far().flow_batches(), false);
            }
        }
        asked.run();
        prop_assert_eq!(&whole, &uses(&asked.recorder().flow_batches(), false));
        let measured = uses(&asked.recorder().flows(), false);
        prop_assert_eq!(measured, uses(&asked.recorder().flow_batches(), true));
    }
}

/// A receiver that is gone: only timeouts occur, each after twice the time, even if the run is interrupted.
#[test]
fn interrupted_run_has_the_budget_of_its_part() {
    let text = "run = { stop = \"60 s\", batches = 60, warmup_batches = 0 }\ntopology.hops = 2\n\
                routing.protocol = \"shortest_path\"\nevent = [{ at = \"1500 ms\", action = \"node_down\", node = 2 }]\n\
                wlan.rts_threshold = \"always\"\ntcp.ack_policy = \"every\"";
    let setup = scenario(text).setup(None);
    let long = ran(&setup).recorder().flow_batches();
    let waited = long.numbers("timeout_wait_s").expect("a column");
    assert!(waited[3..].iter().all(|&s| s == 1.0) && waited[0] == 0.0, "{waited:?}");
    for s in [1, 4, 7, 20, 59] {
        let cut = Setup { stop: Stop::At(Time::ZERO + Span::secs(s)), batches: 1, ..setup.clone() };
        let cut = ran(&cut).recorder().flows().numbers("timeout_wait_s").expect("a column")[0];
        let part: f64 = waited[..s as usize].iter().sum();
        assert!((cut - part).abs() < 1e-9, "{cut} s of {part} s, cut at {s} s");
    }
}
