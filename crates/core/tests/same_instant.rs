//! Route requests that begin at the same instant do not collide forever.

use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};
use proptest::prelude::*;

/// Number of flows that are not over when the run ends, and the largest share of their packets that ones without end
/// lose.
fn outcome(text: &str, seed: u64) -> (usize, f64) {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    let flows = sim.recorder().flows();
    let column = |name| flows.numbers(name).expect("a column");
    let lost =
        column("packets_delivered").into_iter().zip(column("packets_sent")).map(|(came, sent)| 1.0 - came / sent);
    let without_end: Vec<f64> =
        lost.zip(column("completion_time_s")).filter(|(_, ends)| ends.is_nan()).map(|(lost, _)| lost).collect();
    (without_end.len(), without_end.into_iter().fold(0.0, f64::max))
}

/// Transfers of 20 kB to node 0 that begin `apart` [us] after each other, and datagrams between the nodes `talks`.
fn scenario(preset: &str, more: &str, positions: &[(f64, f64)], apart: u32, talks: &[(u32, u32)]) -> String {
    let at: Vec<String> = positions.iter().map(|(x, y)| format!("[\"{x} m\", \"{y} m\"]")).collect();
    let mut flows: Vec<String> = (1..positions.len() as u32)
        .filter(|n| talks.iter().all(|t| t.0 != *n))
        .map(|n| format!("{{ src = {n}, dst = 0, start = \"{} us\", bulk.bytes = \"20 kB\" }}", 2_000_000 + n * apart))
        .collect();
    flows.extend(talks.iter().map(|(n, ms)| {
        format!("{{ src = {n}, dst = 0, app = \"cbr\", dscp = 48, start = \"1 s\", cbr.interval = \"{ms} ms\" }}")
    }));
    format!(
        "extends = \"{preset}\"\nrun = {{ stop = \"60 s\", batches = 1, warmup_batches = 0 }}\n{more}\n\
         topology = {{ kind = \"list\", positions = [{}] }}\nflow = [{}]",
        at.join(", "),
        flows.join(", ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// In one cell: 802.11n, 802.11ac and 802.11a, with and without jitter, a first request at a slot of others.
    #[test]
    fn transfers_of_one_cell_all_find_routes(
        preset in prop::sample::select(vec!["802.11n", "802.11ac", "802.11a", "standard"]),
        protocol in prop::sample::select(vec!["aodv", "dsr"]),
        places in prop::collection::vec((-8.0..8.0f64, -8.0..8.0f64), 2..6),
        apart in prop::sample::select(vec![0u32, 0, 3, 8, 9]),
        talks in prop::option::of(prop::sample::select(vec![10u32, 20, 40])),
        jitter in prop::bool::ANY,
        seed in 1..1000u64,
    ) {
        let positions = [vec![(0.0, 0.0)], places].concat();
        let talks: Vec<(u32, u32)> = talks.filter(|_| preset.contains("11n") || preset.contains("11ac")).map(|ms| (1, ms)).into_iter().collect();
        let mut more = format!("routing.protocol = \"{protocol}\"");
        if !jitter && protocol == "aodv" {
            more += "\nrouting.aodv.request_jitter = \"0 s\"";
        }
        let text = scenario(preset, &more, &positions, apart, &talks);
        let (unfinished, lost) = outcome(&text, seed);
        prop_assert_eq!(unfinished, talks.len(), "{}", text);
        // Of more than a thousand datagrams, those that wait for the first route and those under way at the end.
        prop_assert!(lost < 0.01, "{} lost: {}", lost, text);
    }

    /// Around node 0, and out of each other's range.
    #[test]
    fn transfers_of_hidden_terminals_all_find_routes(
        preset in prop::sample::select(vec!["standard", "802.11a"]),
        protocol in prop::sample::select(vec!["aodv", "dsr"]),
        turn in 0.0..6.2f64,
        senders in 2..4u32,
        seed in 1..1000u64,
    ) {
        let around = |i: u32| {
            let angle = turn + f64::from(i) * std::f64::consts::TAU / f64::from(senders);
            (200.0 * angle.cos(), 200.0 * angle.sin())
        };
        let positions: Vec<(f64, f64)> = std::iter::once((0.0, 0.0)).chain((0..senders).map(around)).collect();
        let more = format!("radio.sense_range = \"250 m\"\nrouting.protocol = \"{protocol}\"\nwlan.rts_threshold = \"always\"");
        let text = scenario(preset, &more, &positions, 0, &[]);
        prop_assert_eq!(outcome(&text, seed).0, 0, "{}", text);
    }
}
