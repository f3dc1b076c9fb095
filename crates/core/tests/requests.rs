//! Flows of requests in whole runs: times of responses, their number, and what the idle window of TCP does to them.

use chappe_core::record::{Column, Table};
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

/// A run over a link of 1 Mbit/s and 10 ms. A segment takes 12 ms, an acknowledgement or SYN 0.32 ms.
fn ran(more: &str) -> Sim {
    ran_over("rate = \"1 Mbit/s\", delay = \"10 ms\"", more)
}

fn ran_over(link: &str, more: &str) -> Sim {
    let text = format!(
        r#"
        run = {{ batches = 1, warmup_batches = 0, stop = "30 s" }}
        topology = {{ kind = "none", wired_nodes = 2 }}
        wired = {{ {link}, queue = {{ discipline = "droptail", limit = 1000 }} }}
        wired_link = [{{ src = 0, dst = 1 }}]
        {more}
        "#
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    sim
}

fn numbers(table: &Table, column: &str) -> Vec<f64> {
    table.numbers(column).expect("a column")
}

fn close(a: &[f64], b: &[f64]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} for {b:?}");
}

const FIXED: &str = r#"requests = { think = "1 s", think_distribution = "fixed", count = 3, size = { distribution = "fixed", mean = "2500 B" } }
    tcp.ack_policy = "every"
    tcp.nagle = "off""#;

#[test]
fn a_response_follows_think_time_after_the_last_acknowledgement() {
    let sim = ran(&format!("{FIXED}\nflow = [{{ src = 0, dst = 1, app = \"requests\", start = \"2 s\" }}]"));
    let table = sim.recorder().short_flows();
    assert_eq!((table.counts("flow"), table.counts("bytes")), (Some(&[0, 0, 0][..]), Some(&[2500, 2500, 2500][..])));
    assert!(numbers(&table, "arrival_process").iter().all(|n| n.is_nan()), "no flow generator");
    // The SYN and its answer, a segment of 1460 B and one of 1040 B with their headers, then the way.
    let (handshake, data, way, ack) = (0.02064, 0.012 + 0.00864, 0.01, 0.00032);
    let round = data + way + ack + way;
    let starts = [2.0, 2.0 + handshake + round + 1.0, 2.0 + handshake + 2.0 * (round + 1.0)];
    close(&numbers(&table, "started_at_s"), &starts);
    close(&numbers(&table, "completion_time_s"), &[handshake + data + way, data + way, data + way]);
    let flows = sim.recorder().flows();
    assert_eq!(
        (flows.counts("packets_delivered"), flows.counts("bytes_delivered")),
        (Some(&[6][..]), Some(&[7500][..]))
    );
    close(&numbers(&flows, "completion_time_s"), &[starts[2] + data + way - 2.0]);
}

#[test]
fn a_flow_that_stops_sends_what_it_has_written_and_answers_no_more() {
    // The second response begins at 3.07 s.
    for (stop, responses) in [("3 s", 1), ("3080 ms", 2)] {
        let flow = format!("flow = [{{ src = 0, dst = 1, app = \"requests\", start = \"2 s\", stop = \"{stop}\" }}]");
        let sim = ran(&format!("{FIXED}\n{flow}"));
        let table = sim.recorder().short_flows();
        assert_eq!((table.rows(), numbers(&table, "completion_time_s").iter().any(|t| t.is_nan())), (responses, false));
    }
}

#[test]
fn a_flow_begun_again_has_all_its_responses_again() {
    let event = r#"event = [{ at = "10 s", action = "flow_start", flow = 0 }]"#;
    let sim = ran(&format!("{FIXED}\n{event}\nflow = [{{ src = 0, dst = 1, app = \"requests\" }}]"));
    let starts = numbers(&sim.recorder().short_flows(), "started_at_s");
    assert_eq!((starts.len(), starts[3]), (6, 10.0));
}

#[test]
fn losses_count_for_the_response_that_they_meet() {
    let link = r#"rate = "1 Mbit/s", delay = "10 ms", error = { model = "uniform", rate = 0.05 }"#;
    let requests = r#"requests = { think = "10 ms", size.mean = "5 kB" }"#;
    let sim = ran_over(link, &format!("{requests}\nflow = [{{ src = 0, dst = 1, app = \"requests\" }}]"));
    let r = sim.recorder();
    let (table, flows) = (r.short_flows(), r.flows());
    let of_responses = |name: &str| table.counts(name).expect("a column").iter().sum::<u64>();
    let of_flow = |name: &str| flows.counts(name).expect("a column")[0];
    assert!(table.rows() > 20 && of_flow("retransmissions") > 5, "{} {}", table.rows(), of_flow("retransmissions"));
    // Data sent again after they have arrived, because their acknowledgement was lost, belong to no response.
    assert!(of_responses("retransmissions") <= of_flow("retransmissions"));
    assert!(of_responses("retransmissions") + 10 > of_flow("retransmissions"));
    assert!(of_responses("timeouts") > 0 && of_responses("timeouts") <= of_flow("timeouts"));
    let Some(Column::Bool(measured)) = table.column("measured") else { panic!("no column") };
    assert!(measured.iter().all(|m| *m));
}

#[test]
fn responses_take_longer_if_the_window_decays_between_them() {
    let mean = |rule: &str| {
        let more = format!(
            r#"
            extends = "linux"
            tcp.after_idle = "{rule}"
            requests = {{ think = "2 s", think_distribution = "fixed", size = {{ distribution = "fixed", mean = "100 kB" }} }}
            flow = [{{ src = 0, dst = 1, app = "requests" }}]
            "#
        );
        let sim = ran_over("rate = \"100 Mbit/s\", delay = \"50 ms\"", &more);
        let times = numbers(&sim.recorder().short_flows(), "completion_time_s");
        let (_, later) = times[..times.len() - 1].split_first().expect("a response");
        later.iter().sum::<f64>() / later.len() as f64
    };
    // 69 segments: 10, 20 and 39 in three rounds, or all at once when the window has grown.
    let (kept, decayed) = (mean("keep"), mean("decay"));
    assert!(0.05 < kept && kept < 0.1, "{kept} s");
    assert!(0.25 < decayed && decayed < 0.3, "{decayed} s");
}
