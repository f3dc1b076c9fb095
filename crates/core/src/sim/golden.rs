//! Golden traces: the first half second of chains in ns-2.35, frame by frame, replayed with ns-2's own random numbers.

use super::tests_setup::ns2;
use super::{Sim, Stop};
use crate::record::trace::{Line, What};
use crate::rng::script;
use crate::unit::{Span, Time};
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
            node: l.node.0,
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

fn replay(hops: u32, rate: f64, variant: &str, text: &str, skip: u32, seed: i64, ms: u64) -> (usize, usize, String) {
    script::start(seed, skip);
    let mut sim = Sim::new(&ns2(hops, rate, variant, Stop::At(Time::ZERO + Span::ms(ms)), 1));
    sim.trace();
    sim.run();
    script::stop();
    let (a, b) = (ours(&sim.take_trace().expect("on").lines), golden(text));
    let same = |x: &Golden, y: &Golden| {
        x.sent == y.sent && x.node == y.node && x.kind == y.kind && (x.at - y.at).abs() < 1e-6
    };
    let n = a.iter().zip(&b).take_while(|(x, y)| same(x, y)).count();
    let context = format!("ours {:#?}\nns-2 {:#?}", &a[n.saturating_sub(3)..(n + 4).min(a.len())], &b[n.saturating_sub(3)..(n + 4).min(b.len())]);
    (n, b.len(), context)
}


#[test]
fn adhoc() {
    let Ok(list) = std::env::var("TRACES") else { return };
    for f in list.split(',') {
        let text = std::fs::read_to_string(f).unwrap();
        let name = f.rsplit('/').next().unwrap().trim_end_matches(".tr");
        let p: Vec<&str> = name.split('_').collect();
        let v = p[1].to_lowercase();
        let (n, all, context) = replay(p[0].parse().unwrap(), 2.0, &v, &text, u32::from(v == "vegas"), p[2].parse().unwrap(), 2000);
        eprintln!("{name}: {n} of {all}");
        if n < all - 1 && std::env::var("CTX").is_ok() { eprintln!("{context}"); }
    }
}

#[test]
fn traces_of_ns2_are_reproduced_frame_by_frame() {
    for (hops, rate, variant, skip, text) in [
        (1, 2.0, "newreno", 0, include_str!("../../tests/data/chain_h1_r2_newreno_s1.tr")),
        (4, 2.0, "newreno", 0, include_str!("../../tests/data/chain_h4_r2_newreno_s1.tr")),
        // The agent of Vegas draws its clock phase twice.
        (4, 11.0, "vegas", 1, include_str!("../../tests/data/chain_h4_r11_vegas_s1.tr")),
    ] {
        let (same, all, context) = replay(hops, rate, variant, text, skip, 1, 1500);
        assert_eq!(same, all, "{hops} hops, {variant}: the first difference\n{context}");
    }
}
