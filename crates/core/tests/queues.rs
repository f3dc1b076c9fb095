//! Active queue management and ECN in whole runs.

use crate::outcomes;
use chappe_core::net::queue::Discipline;
use chappe_core::record::Recorder;
use chappe_core::sim::Sim;
use chappe_core::tcp::config::variants::Variant;
use chappe_scenario::{NoFiles, Scenario};

/// One saturated hop at 2 Mbit/s, whose bottleneck is the interface queue of the source.
fn hop(discipline: &str, variant: &str, ecn: bool) -> Recorder {
    let text = format!(
        r#"
        run = {{ stop = "60 s" }}
        topology = {{ hops = 1 }}
        routing = {{ protocol = "shortest_path" }}
        queue = {{ discipline = "{discipline}", limit = 100, red = {{ max_threshold = 70 }}, pie = {{ mark_threshold = 1 }} }}
        tcp = {{ variant = "{variant}", receive_window = 60, ecn = {{ enabled = {ecn} }} }}
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

/// Disciplines that drop or mark packets before the queue is full.
fn managed() -> impl Iterator<Item = &'static str> {
    Discipline::ALL.iter().filter(|d| d.is_managed()).map(|d| d.word())
}

#[test]
fn every_mark_is_received_and_answered_once_per_window() {
    for &(variant, _) in Variant::WORDS {
        for discipline in managed() {
            let r = hop(discipline, variant, true);
            let (marks, received, cuts) = (nodes(&r, "ecn_marks"), whole(&r, "marks_received"), whole(&r, "ecn_cuts"));
            let seen = format!("{variant}, {discipline}: {marks} marked, {received} received, {cuts} cuts");
            // A few are on their way when the run ends.
            assert!(received <= marks && marks - received <= 3 && cuts <= received, "{seen}");
            // Vegas, a pace and a small window keep the queue short themselves, FeW takes long to fill it again, and Veno
            // twice as long as Reno where segments wait.
            let least = [("vegas", 0), ("linux_vegas", 0), ("few", 1), ("tcp_ap", 0), ("fixed", 0), ("veno", 10)]
                .iter()
                .find(|v| v.0 == variant)
                .map_or(20, |v| v.1);
            assert!(cuts >= least, "{seen}");
            let dropped = outcomes(&r.packet_outcomes(), "dropped_aqm")[0];
            assert!(dropped <= 1 && whole(&r, "retransmissions") <= dropped, "{seen}, {dropped} dropped");
        }
    }
}

#[test]
fn without_ecn_the_same_queues_drop() {
    for discipline in managed() {
        let r = hop(discipline, "newreno", false);
        assert_eq!((nodes(&r, "ecn_marks"), whole(&r, "ecn_cuts")), (0, 0), "{discipline}");
        assert!(nodes(&r, "dropped_aqm") > 20 && whole(&r, "fast_retransmits") > 20, "{discipline}");
    }
}

#[test]
fn the_delay_is_kept_low_and_the_link_busy() {
    let mean = |r: &Recorder, column: &str| r.flows().numbers(column).expect("a column")[0];
    let tail = hop("droptail", "newreno", true);
    // A packet takes about 8 ms: drop-tail holds a window of 60, the others the few that their target allows.
    assert!(mean(&tail, "mean_delay_s") > 0.3, "{}", mean(&tail, "mean_delay_s"));
    // RED aims at a length, and not at a delay.
    for discipline in managed().filter(|&d| d != Discipline::Red.word()) {
        let r = hop(discipline, "newreno", true);
        assert!(mean(&r, "mean_delay_s") < 0.1, "{discipline}: {}", mean(&r, "mean_delay_s"));
        assert!(mean(&r, "goodput_bps") > 0.95 * mean(&tail, "goodput_bps"), "{discipline}");
    }
}

/// NewReno over a 7-hop chain at 2 Mbit/s as in ns-2, with losses by contention and no full queue.
const CHAIN: &str = r#"
    extends = "ns2-2.35"
    run = { stop = "300 s" }
    topology = { hops = 7 }
    tcp = { receive_window = 64 }
    "#;
/// Three pairs side by side. The middle pair senses both others, which do not sense each other, and rarely gets the
/// medium.
const PAIRS: &str = r#"
    extends = "ns2-2.35"
    run = { stop = "60 s" }
    topology = { kind = "list", positions = [["0 m", "0 m"], ["0 m", "100 m"], ["240 m", "0 m"], ["240 m", "100 m"],
                                             ["480 m", "0 m"], ["480 m", "100 m"]] }
    radio = { sense_range = "300 m", sense_threshold = "sense_range" }
    routing = { protocol = "shortest_path" }
    tcp = { receive_window = 32 }
    flow = [{ src = 0, dst = 1 }, { src = 2, dst = 3 }, { src = 4, dst = 5 }]
    "#;

fn run(text: &str, seed: u64, change: &[(&str, &str)]) -> Recorder {
    let change: Vec<(String, String)> = change.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let scenario = Scenario::from_toml("test", text, &change, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    sim.into_recorder()
}

const SEEDS: u64 = 10;
const LINK_RED: (&str, &str) = ("net.link_red.enabled", "true");
const NEIGHBORHOOD_RED: (&str, &str) = ("net.neighborhood_red.enabled", "true");

/// Mean change of a measure, and half-width of its 95 % interval by Student's t, over `SEEDS` seeds.
fn adds(change: &[Recorder], usual: &[Recorder], measure: impl Fn(&Recorder) -> f64) -> (f64, f64) {
    let n = SEEDS as f64;
    let differences: Vec<f64> = change.iter().zip(usual).map(|(a, b)| measure(a) - measure(b)).collect();
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // The 97.5 % quantile with 9 degrees of freedom.
    (mean, 2.262 * (variance / n).sqrt())
}

fn runs(text: &str, change: &[(&str, &str)]) -> Vec<Recorder> {
    (1..=SEEDS).map(|seed| run(text, seed, change)).collect()
}

/// Share of the data packets handed to a MAC that it gave up.
fn given_up(r: &Recorder) -> f64 {
    nodes(r, "mac_data_given_up") as f64 / nodes(r, "mac_data_packets") as f64
}

fn goodput(r: &Recorder) -> f64 {
    r.flows().numbers("goodput_bps").expect("a column")[0]
}

#[test]
fn link_red_drops_before_contention_does() {
    let usual = runs(CHAIN, &[]);
    let red = runs(CHAIN, &[LINK_RED, ("net.link_red.pacing", "false")]);
    let both = runs(CHAIN, &[LINK_RED]);
    assert!(usual.iter().all(|r| nodes(r, "dropped_aqm") == 0));
    assert!(red.iter().all(|r| nodes(r, "dropped_aqm") > 10));
    for (what, change) in [("Link RED", &red), ("with pacing", &both)] {
        let (mean, half) = adds(change, &usual, given_up);
        assert!(mean + half < 0.0, "{what}: packets given up, {mean} +- {half}");
        let (mean, half) = adds(change, &usual, goodput);
        assert!(mean - half > 0.0, "{what}: goodput [bit/s], {mean} +- {half}");
    }
    let window = |r: &Recorder| r.flows().numbers("mean_window_segments").expect("a column")[0];
    let (mean, half) = adds(&red, &usual, window);
    assert!(mean + half < 0.0, "window {mean} +- {half}");
}

#[test]
fn pacing_alone_drops_nothing_and_loses_less_to_contention() {
    let usual = runs(CHAIN, &[]);
    let paced = runs(CHAIN, &[LINK_RED, ("net.link_red.max_p", "0")]);
    assert!(paced.iter().all(|r| nodes(r, "dropped_aqm") == 0));
    let (mean, half) = adds(&paced, &usual, given_up);
    assert!(mean + half < 0.0, "packets given up, {mean} +- {half}");
}

#[test]
fn link_red_marks_ecn_capable_packets() {
    let r = run(CHAIN, 1, &[LINK_RED, ("queue.ecn", "true"), ("tcp.ecn.enabled", "true")]);
    let (marks, received, cuts) = (nodes(&r, "ecn_marks"), whole(&r, "marks_received"), whole(&r, "ecn_cuts"));
    assert!(0 < cuts && cuts <= received && received <= marks, "{marks} marked, {received} received, {cuts} cuts");
    // Those of data packets are retransmissions.
    let dropped = outcomes(&r.packet_outcomes(), "dropped_aqm")[0];
    assert!(dropped <= whole(&r, "retransmissions"), "{dropped} dropped");
}

#[test]
fn neighborhood_red_unlike_red_lets_the_middle_pair_send() {
    let usual = runs(PAIRS, &[]);
    let shared = runs(PAIRS, &[NEIGHBORHOOD_RED]);
    let red = runs(PAIRS, &[("queue.discipline", "red")]);
    // Its part of what all three deliver.
    let middle = |r: &Recorder| {
        let flows = r.flows();
        let goodput = flows.numbers("goodput_bps").expect("a column");
        goodput[1] / goodput.iter().sum::<f64>()
    };
    let (by_all, half) = adds(&shared, &usual, middle);
    assert!(by_all - half > 0.0, "{by_all} +- {half}");
    // Its authors: RED in each node for itself does not work, because the queue is spread over all.
    let (more, half) = adds(&shared, &red, middle);
    assert!(more - half > 0.0, "{more} +- {half}");
    // The outer pairs drop: each has more of the medium than the middle one.
    let dropped = |r: &Recorder| nodes(r, "dropped_aqm");
    assert!(usual.iter().all(|r| dropped(r) == 0) && shared.iter().all(|r| dropped(r) > 50));
}

#[test]
fn no_notification_below_the_minimum_threshold() {
    // One datagram of 1000 B at 2 Mbit/s every 20 ms: 50 packets and their overhead in a second, of 100.
    let text = r#"
        run = { stop = "20 s" }
        topology = { hops = 1 }
        routing = { protocol = "shortest_path" }
        arp = { enabled = false }
        flow = [{ src = 0, dst = 1, app = "cbr" }]
        cbr = { payload = "1000 B", interval = "20 ms" }
        "#;
    let sent = |interval| {
        let r = run(text, 1, &[NEIGHBORHOOD_RED, ("cbr.interval", interval)]);
        (nodes(&r, "broadcast_frames_sent"), nodes(&r, "dropped_aqm"))
    };
    assert_eq!(sent("20 ms"), (0, 0));
    // Both stations find it busy for more than half of the time.
    let (notifications, dropped) = sent("6 ms");
    assert!(notifications > 100 && dropped > 0, "{notifications} notifications, {dropped} dropped");
}

#[test]
fn neighborhood_red_marks_ecn_capable_packets() {
    let r = run(PAIRS, 1, &[NEIGHBORHOOD_RED, ("queue.ecn", "true"), ("tcp.ecn.enabled", "true")]);
    let (marks, received, cuts) = (nodes(&r, "ecn_marks"), whole(&r, "marks_received"), whole(&r, "ecn_cuts"));
    assert!(50 < cuts && cuts <= received && received <= marks, "{marks} marked, {received} received, {cuts} cuts");
}

/// Datagrams along four hops, and back if `both`, more than they carry: packets that arrive, by flow, and those that the
/// first station has sent and that neither the last relay has sent nor any station has given up.
fn overloaded(discipline: &str, both: bool) -> (Vec<u64>, u64) {
    let back = if both { r#", { src = 4, dst = 0, app = "cbr" }"# } else { "" };
    let text = format!(
        r#"
        run = {{ stop = "20 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 4 }}
        routing = {{ protocol = "shortest_path" }}
        queue = {{ discipline = "{discipline}", limit = 2 }}
        cbr = {{ payload = "1000 B", interval = "20 ms" }}
        flow = [{{ src = 0, dst = 4, app = "cbr" }}{back}]
        "#
    );
    let scenario = Scenario::from_toml("chain", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(1)));
    sim.run();
    let (flows, nodes) = (sim.recorder().flows(), sim.recorder().nodes());
    let of_node = |name: &str| nodes.counts(name).expect("a column").to_vec();
    let (sent, given_up) = (of_node("mac_data_packets"), of_node("mac_data_given_up"));
    let lost = if both { 0 } else { sent[0] - sent[3] - given_up[..3].iter().sum::<u64>() };
    (flows.counts("packets_delivered").expect("a column").to_vec(), lost)
}

#[test]
fn flow_control_of_links_leaves_drops_to_the_sources() {
    let (free, controlled) = (overloaded("droptail", false), overloaded("flow_controlled", false));
    assert!(free.1 > 20, "{free:?}");
    // Two wait at each of three relays, and one is with the MAC.
    assert!(controlled.1 <= 9, "{controlled:?}");
}

#[test]
fn two_directions_with_flow_control_do_not_wait_for_each_other() {
    let (delivered, _) = overloaded("flow_controlled", true);
    assert!(delivered.iter().all(|&n| n > 100), "{delivered:?}");
}
