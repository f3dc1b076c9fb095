//! Receivers whose application reads slowly: acknowledgements and goodput in whole runs.

use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

/// Acknowledgements for each segment, and goodput [Mbit/s], of a reader of 1 Mbit/s behind a link of 10 Mbit/s.
fn ran(tcp: &str, mss: u32, window: u32, read: u32) -> (f64, f64) {
    let text = format!(
        r#"
        run = {{ stop = "8 s", batches = 4 }}
        topology = {{ kind = "none", wired_nodes = 2 }}
        wired = {{ rate = "10 Mbit/s", delay = "10 ms", queue.limit = 2000 }}
        wired_link = [{{ src = 0, dst = 1 }}]
        tcp = {{ mss = "{mss} B", receive_window = {window}, reader = {{ rate = "1 Mbit/s", read_size = "{read} B" }}, {tcp} }}
        flow = [{{ src = 0, dst = 1 }}]
        "#
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    let flows = sim.recorder().flows();
    let value = |name: &str| flows.numbers(name).expect("a column")[0];
    (value("tcp_acks_received") / value("packets_delivered"), value("goodput_bps") / 1e6)
}

/// RFC 9293, 3.8.6.3: "a receiver SHOULD send an ACK for at least every second full-sized segment", however much of the
/// window is left.
#[test]
fn every_second_segment_is_acknowledged_at_any_reading_rate() {
    for mss in [100, 536, 1460] {
        for window in [8, 64, 300, 1000] {
            for read in [500, 4096, 16_384, 65_536] {
                // Several reads must fit into the window, in addition to a round trip at the reader's rate.
                if window * mss < 4 * read + 5000 {
                    continue;
                }
                let policies = ["variant = \"sack\"", "ack_policy = \"every\"", "ack_policy = \"thinning\""];
                for (tcp, least) in policies.into_iter().zip([0.48, 0.98, 0.2]) {
                    let (share, goodput) = ran(tcp, mss, window, read);
                    let what = format!("{tcp}, {window} segments of {mss} B, reads of {read} B: {share}, {goodput}");
                    assert!(share > least && (0.95..1.05).contains(&goodput), "{what}");
                }
            }
        }
    }
}
