//! Middleboxes in whole runs.

use chappe_core::packet::Kind;
use chappe_core::record::Recorder;
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

fn ran(text: &str, seed: u64) -> Sim {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    sim
}

fn run(text: &str, seed: u64) -> Recorder {
    ran(text, seed).into_recorder()
}

fn sum(r: &Recorder, column: &str) -> u64 {
    r.flows().counts(column).unwrap_or_else(|| panic!("no column {column}")).iter().sum()
}

/// Five connections over a lossy link of 2 Mbit/s, as in Zhou et al. 2004, with ns-2's TCP.
fn zhou(variant: &str, loss: f64, boxes: &str) -> String {
    let hosts: String = (0..5)
        .map(|i| {
            format!(
                "[[wired_link]]\nsrc = {i}\ndst = 5\n[[wired_link]]\nsrc = 8\ndst = {mobile}\nrate = \"100 Mbit/s\"\ndelay = \"0 s\"\n\
                 [[flow]]\nsrc = {i}\ndst = {mobile}\nstart = \"{start} ms\"\n",
                mobile = 9 + i,
                start = 100 * i,
            )
        })
        .collect();
    format!(
        r#"
        extends = "ns2-2.35"
        run = {{ stop = "100 s", batches = 1, warmup_batches = 0 }}
        topology = {{ kind = "none", wired_nodes = 14 }}
        wired = {{ rate = "10 Mbit/s", delay = "2 ms", queue = {{ limit = 1000 }} }}
        tcp = {{ variant = "{variant}", mss = "1000 B", receive_window = 10 }}
        [[wired_link]]
        src = 5
        dst = 6
        delay = "10 ms"
        [[wired_link]]
        src = 6
        dst = 7
        delay = "10 ms"
        [[wired_link]]
        src = 7
        dst = 8
        rate = "2 Mbit/s"
        delay = "4.008 ms"
        queue = {{ limit = 50 }}
        error = {{ model = "uniform", rate = {loss} }}
        back = {{ error = {{ model = "none" }} }}
        {hosts}
        {boxes}
        "#
    )
}

const SNOOP: &str = "[[middlebox]]\nkind = \"snoop\"\nnode = 7\nsnoop = { free_slots = 0 }\n";
const ELN: &str = "[[middlebox]]\nkind = \"eln\"\nnode = 8\n";

/// Mean goodput of a flow [kbit/s] in ns-2.35, ten runs each.
#[test]
fn goodput_over_a_lossy_link_is_that_of_ns2() {
    let both = format!("{SNOOP}{ELN}");
    for (variant, loss, boxes, ns2) in [
        ("newreno", 0.0, SNOOP, 380.4),
        ("newreno", 0.0, &both, 356.9),
        ("tahoe", 0.02, SNOOP, 364.2),
        ("sack", 0.06, SNOOP, 349.9),
        ("vegas", 0.1, SNOOP, 339.4),
        ("newreno", 0.02, ELN, 367.2),
        ("tahoe", 0.1, ELN, 294.3),
        ("tahoe", 0.06, &both, 328.9),
    ] {
        let text = zhou(variant, loss, boxes);
        let runs: Vec<f64> =
            (1..4).map(|seed| sum(&run(&text, seed), "packets_delivered") as f64 * 8.0 / 500.0).collect();
        let ours = runs.iter().sum::<f64>() / 3.0;
        assert!((ours / ns2 - 1.0).abs() < 0.03, "{variant}, {loss}, {boxes}: {ours} instead of {ns2}");
    }
}

/// A host, a base station with a middlebox, a lossy link.
fn last_hop(first: &str, last: &str, more: &str) -> String {
    format!(
        r#"
        run = {{ stop = "120 s", batches = 6 }}
        topology = {{ kind = "none", wired_nodes = 3 }}
        wired = {{ rate = "2 Mbit/s", delay = "20 ms" }}
        wired_link = [{{ src = 0, dst = 1, {first} }}, {{ src = 1, dst = 2, delay = "1 ms", {last} }}]
        flow = [{{ src = 0, dst = 2 }}]
        tcp.receive_window = 20
        {more}
        "#
    )
}

const LOSSY: &str = "error = { model = \"uniform\", rate = 0.03 }, back = { error = { model = \"none\" } }";

#[test]
fn losses_behind_snoop_cost_the_source_nothing() {
    let alone = run(&last_hop("", LOSSY, ""), 1);
    let sim = ran(&last_hop("", LOSSY, "middlebox = [{ kind = \"snoop\", node = 1 }]"), 1);
    let (ledger, r) = (sim.pool().ledger(), sim.into_recorder());
    assert_eq!((sum(&r, "fast_retransmits"), sum(&r, "timeouts")), (0, 0));
    assert!(sum(&r, "local_retransmissions") > 100 && sum(&r, "acks_suppressed") > 100);
    let (with, without) = (sum(&r, "packets_delivered"), sum(&alone, "packets_delivered"));
    assert!(with as f64 > 1.5 * without as f64, "{with} and {without}");
    // Packets created and consumed by the middlebox appear in the accounting of the whole run.
    assert!(ledger.injected[Kind::Data as usize] >= sum(&r, "local_retransmissions"));
    assert!(ledger.absorbed[Kind::Ack as usize] >= sum(&r, "acks_suppressed"));
}

#[test]
fn notified_losses_do_not_cut_the_window() {
    for variant in ["tahoe", "reno", "newreno", "sack", "vegas"] {
        for knowledge in ["forwarded", "channel"] {
            let more = format!("tcp.variant = \"{variant}\"\neln.knowledge = \"{knowledge}\"\n");
            let alone = run(&last_hop("", LOSSY, &more), 1);
            let r = run(&last_hop("", LOSSY, &format!("{more}middlebox = [{{ kind = \"eln\", node = 1 }}]")), 1);
            assert_eq!(sum(&r, "fast_retransmits"), 0, "{variant}, {knowledge}");
            assert!(sum(&r, "eln_marks") > 100);
            let (with, without) = (sum(&r, "packets_delivered"), sum(&alone, "packets_delivered"));
            assert!(with as f64 > 1.2 * without as f64, "{variant}, {knowledge}: {with} instead of {without}");
        }
    }
}

#[test]
fn snoop_and_notifications_stand_at_the_same_node_in_either_order() {
    let more = "snoop.pass_duplicates = 1\nmiddlebox = [{ kind = \"A\", node = 1 }, { kind = \"B\", node = 1 }]\n";
    for (a, b) in [("snoop", "eln"), ("eln", "snoop")] {
        let r = run(&last_hop("", LOSSY, &more.replace('A', a).replace('B', b)), 1);
        assert!(sum(&r, "acks_suppressed") > 100 && sum(&r, "eln_marks") > 100, "{a}, {b}");
        assert_eq!(sum(&r, "fast_retransmits"), 0, "{a}, {b}");
        // The duplicate that is let through is marked, and the source repairs the loss as well.
        assert!(sum(&r, "retransmissions") > 50, "{a}, {b}");
    }
}

#[test]
fn congestion_is_not_taken_for_a_loss_on_the_link() {
    // Only the queue before the slow link loses packets: notifications must not hide that.
    let narrow = "rate = \"500 kbit/s\", queue = { limit = 5 }";
    let more = "middlebox = [{ kind = \"eln\", node = 1 }]\n";
    for knowledge in ["forwarded", "channel"] {
        let r = run(&last_hop("", narrow, &format!("{more}eln.knowledge = \"{knowledge}\"")), 1);
        assert_eq!(sum(&r, "eln_marks"), 0, "{knowledge}");
        assert!(sum(&r, "fast_retransmits") > 10);
    }
}

#[test]
fn split_hides_losses_and_a_full_buffer_closes_its_window() {
    let split = "middlebox = [{ kind = \"split\", node = 1, split = { buffer_segments = 8 } }]";
    let r = run(&last_hop("", LOSSY, split), 1);
    assert_eq!((sum(&r, "fast_retransmits"), sum(&r, "timeouts")), (0, 0));
    assert!(sum(&r, "local_retransmissions") > 50);
    assert!(sum(&r, "packets_delivered") > sum(&run(&last_hop("", LOSSY, ""), 1), "packets_delivered"));
    // A slow second half: the source may not be more than the buffer ahead, and nothing is lost.
    let slow = "rate = \"100 kbit/s\", queue = { limit = 100 }";
    let r = run(&last_hop("", slow, split), 1);
    assert_eq!((sum(&r, "retransmissions"), sum(&r, "local_retransmissions")), (0, 0));
    let whole = r.batches();
    let last = |name: &str| *whole.counts(name).expect("a column").last().expect("a batch");
    assert!(last("packets_sent").abs_diff(last("packets_delivered")) <= 8);
    // Delays count from the source: eight segments at a time wait in the buffer or in the queue behind it.
    let delay = r.flows().numbers("mean_delay_s").expect("a column")[0];
    assert!((delay - 8.0 * 1500.0 * 8.0 / 100_000.0).abs() < 0.15, "{delay} s");
}

#[test]
fn a_source_that_is_shut_out_goes_on_even_if_nobody_tells_it() {
    // Acknowledgements and segments of the first half are lost, updates of the window among them.
    let lossy = "error = { model = \"uniform\", rate = 0.1 }";
    let slow = "rate = \"100 kbit/s\"";
    let split = "middlebox = [{ kind = \"split\", node = 1, split = { buffer_segments = 2 } }]";
    // Timers back off to 60 s, and several attempts in a row may be lost: batches of 20 s can be silent, those of 200 s
    // cannot.
    for seed in 1..6 {
        let r = run(&last_hop(lossy, slow, split).replace("120 s", "1200 s"), seed);
        let delivered = r.batches().counts("packets_delivered").expect("a column").to_vec();
        assert!(delivered.iter().all(|&d| d > 0), "seed {seed}: {delivered:?}");
    }
}
