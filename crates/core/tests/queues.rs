//! Active queue management and ECN in whole runs.

use chappe_core::record::Recorder;
use chappe_core::scenario::{NoFiles, Scenario};
use chappe_core::sim::Sim;

/// One saturated hop at 2 Mbit/s, whose bottleneck is the interface queue of the source.
fn hop(discipline: &str, variant: &str, ecn: bool) -> Recorder {
    let text = format!(
        r#"
        run = {{ stop = "60 s" }}
        topology = {{ hops = 1 }}
        routing = {{ protocol = "shortest_path" }}
        queue = {{ discipline = "{discipline}", limit = 100, red = {{ max_threshold = 70 }} }}
        tcp = {{ variant = "{variant}", window = 60, ecn = {{ enabled = {ecn} }} }}
        "#
    );
    let scenario = Scenario::from_toml("hop", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    sim.run();
    sim.into_recorder()
}

fn whole(r: &Recorder, column: &str) -> u64 {
    r.flow_batches().counts(column).expect("a column").iter().sum()
}

fn nodes(r: &Recorder, column: &str) -> u64 {
    r.batches().counts(column).expect("a column").iter().sum()
}

#[test]
fn every_mark_is_received_and_answered_once_per_window() {
    for variant in ["tahoe", "reno", "newreno", "sack", "vegas", "few"] {
        for discipline in ["red", "codel", "fq_codel"] {
            let r = hop(discipline, variant, true);
            let (marks, received, cuts) = (nodes(&r, "ecn_marks"), whole(&r, "marks_received"), whole(&r, "ecn_cuts"));
            let seen = format!("{variant}, {discipline}: {marks} marked, {received} received, {cuts} cuts");
            // A few are on their way when the run ends.
            assert!(received <= marks && marks - received <= 3 && cuts <= received, "{seen}");
            // Vegas keeps the queue short itself, and FeW takes long to fill it again.
            let least = [("vegas", 0), ("few", 1)].iter().find(|v| v.0 == variant).map_or(20, |v| v.1);
            assert!(cuts >= least, "{seen}");
            let fates = r.fates();
            let dropped = fates.counts("dropped_aqm").expect("a column")[0];
            assert!(dropped <= 1 && whole(&r, "retransmissions") <= dropped, "{seen}, {dropped} dropped");
        }
    }
}

#[test]
fn without_ecn_the_same_queues_drop() {
    for discipline in ["red", "codel", "fq_codel"] {
        let r = hop(discipline, "newreno", false);
        assert_eq!((nodes(&r, "ecn_marks"), whole(&r, "ecn_cuts")), (0, 0), "{discipline}");
        assert!(nodes(&r, "dropped_aqm") > 20 && whole(&r, "fast_retransmits") > 20, "{discipline}");
    }
}

#[test]
fn codel_keeps_the_delay_low_and_the_link_busy() {
    let mean = |r: &Recorder, column: &str| r.flows().numbers(column).expect("a column")[0];
    let tail = hop("droptail", "newreno", true);
    // A packet takes about 8 ms: drop-tail holds a window of 60, CoDel the few that the target allows.
    assert!(mean(&tail, "mean_delay_s") > 0.3, "{}", mean(&tail, "mean_delay_s"));
    for discipline in ["codel", "fq_codel"] {
        let r = hop(discipline, "newreno", true);
        assert!(mean(&r, "mean_delay_s") < 0.1, "{discipline}: {}", mean(&r, "mean_delay_s"));
        assert!(mean(&r, "goodput_bps") > 0.95 * mean(&tail, "goodput_bps"), "{discipline}");
    }
}
