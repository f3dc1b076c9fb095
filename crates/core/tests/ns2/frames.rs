//! Golden traces: the first half second of chains in ns-2.35, frame by frame, replayed with ns-2's own random numbers.

use crate::record::trace::{Line, What};
use crate::rng::script;
use crate::scenario::{NoFiles, Scenario};
use crate::sim::Sim;
use crate::wlan::FrameKind;

/// A frame in a trace of ns-2: time [s], sent or received, node, type.
#[derive(Debug, Clone, PartialEq)]
struct Golden {
    at: f64,
    sent: bool,
    node: u32,
    kind: String,
}

fn golden(text: &str) -> Vec<Golden> {
    let frame = |line: &str| {
        let w: Vec<&str> = line.split_whitespace().collect();
        let mac = w.len() > 7 && w[3] == "MAC" && (w[0] == "s" || w[0] == "r");
        mac.then(|| Golden {
            at: w[1].parse().expect("a time"),
            sent: w[0] == "s",
            node: w[2].trim_matches('_').parse().expect("a node"),
            kind: if ["RTS", "CTS", "ACK"].contains(&w[6]) { w[6].into() } else { "DATA".into() },
        })
    };
    text.lines().filter_map(frame).collect()
}

fn ours(lines: &[Line]) -> Vec<Golden> {
    let frame = |l: &Line| {
        (l.what != What::Damaged).then(|| Golden {
            at: l.at.as_secs(),
            sent: l.what == What::Sent,
            node: l.radio.0,
            kind: match l.kind {
                FrameKind::Data => "DATA".into(),
                k => k.name().into(),
            },
        })
    };
    let mut all: Vec<Golden> = lines.iter().filter_map(frame).collect();
    all.sort_by(|a, b| a.at.total_cmp(&b.at));
    all
}

/// The chains of the traces. In the first seconds of a run the rounding of ns-2 loses nearly every boundary slot.
fn chain(hops: u32, rate: f64, variant: &str, ms: u64) -> Scenario {
    let text = format!(
        r#"
        extends = "ns2-2.35"
        run = {{ stop = "{ms} ms" }}
        topology = {{ hops = {hops} }}
        wlan = {{ data_rate = "{rate} Mbit/s", boundary_slot = "lost" }}
        tcp = {{ variant = "{variant}", receive_window = 64, initial_window = 1, vegas = {{ alpha = 2, beta = 2, gamma = 2 }} }}
        flow = [{{ src = 0, dst = {hops}, start = "1 s" }}]
        "#
    );
    Scenario::from_toml("golden", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

fn replay(hops: u32, rate: f64, variant: &str, text: &str, skip: u32, seed: i64, ms: u64) -> (usize, usize, String) {
    script::start(seed, skip);
    let mut sim = Sim::new(&chain(hops, rate, variant, ms).setup(None));
    sim.trace();
    sim.run();
    script::stop();
    let (a, b) = (ours(&sim.take_trace().expect("on").lines), golden(text));
    let same =
        |x: &Golden, y: &Golden| x.sent == y.sent && x.node == y.node && x.kind == y.kind && (x.at - y.at).abs() < 1e-6;
    let n = a.iter().zip(&b).take_while(|(x, y)| same(x, y)).count();
    let context = format!(
        "ours {:#?}\nns-2 {:#?}",
        &a[n.saturating_sub(3)..(n + 4).min(a.len())],
        &b[n.saturating_sub(3)..(n + 4).min(b.len())]
    );
    (n, b.len(), context)
}

#[test]
fn traces_of_ns2_are_reproduced_frame_by_frame() {
    for (hops, rate, variant, skip, text) in [
        (1, 2.0, "newreno", 0, include_str!("../data/chain_h1_r2_newreno_s1.tr")),
        (4, 2.0, "newreno", 0, include_str!("../data/chain_h4_r2_newreno_s1.tr")),
        // The agent of Vegas draws its clock phase twice.
        (4, 11.0, "vegas", 1, include_str!("../data/chain_h4_r11_vegas_s1.tr")),
    ] {
        let (same, all, context) = replay(hops, rate, variant, text, skip, 1, 1500);
        assert_eq!(same, all, "{hops} hops, {variant}: the first difference\n{context}");
    }
}
