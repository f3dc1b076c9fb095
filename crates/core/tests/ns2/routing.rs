//! Golden traces of routing protocols: runs of ns-2.35, packet by packet at the network layer, replayed with ns-2's own
//! random numbers.

use crate::packet::{Fate, Happening, Kind, NodeId, RadioId, Step};
use crate::rng::script;
use crate::scenario::{NoFiles, Scenario};
use crate::sim::Sim;
use crate::unit::{Span, Time};

/// A line of a trace: time [s], node, event, bytes.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    at: f64,
    node: u32,
    what: String,
    bytes: u32,
}

/// Routing messages sent and received, data received, data dropped.
fn golden(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let w: Vec<&str> = line.split_whitespace().collect();
        if w.len() < 9 || !["s", "f", "r", "D"].contains(&w[0]) || !w[2].starts_with('_') {
            return None;
        }
        // Broken prints of tables have the fields of lines without a reason one place to the left.
        let (layer, what) = (w[3], w[6]);
        let what = match (w[0], layer, what) {
            // Of messages for one neighbor it is not seen here when they are handed over, because ARP comes before the queue.
            ("s" | "f", "RTR", "message") => "s message".into(),
            ("s" | "f", "RTR", "DSR") if w.get(18) == Some(&"[1") => "s message".into(),
            ("r", "RTR", "message" | "DSR") => "r message".into(),
            // The router of DSR has also what is for its node, and no layer has received what it made itself.
            ("r", "RTR", "cbr") if w[8] != "[0" => "r data".into(),
            ("r", "AGT", "cbr") if !text.contains(" DSR ") => "r data".into(),
            ("D", _, "cbr") => "D data".into(),
            _ => return None,
        };
        Some(Line {
            at: w[1].parse().ok()?,
            node: w[2].trim_matches('_').parse().ok()?,
            what,
            bytes: w[7].parse().ok()?,
        })
    };
    text.lines().filter_map(line).collect()
}

/// The same of a run; times are those of ns-2's network layer.
fn ours(steps: &[Step], link_delay: Span) -> Vec<Line> {
    let line = |s: &Step| {
        let kind = s.packet.body.kind();
        let (what, later) = match (s.happening, kind) {
            (Happening::Queued, Kind::Routing) if s.packet.next_hop.is_broadcast() => {
                ("s message", -link_delay.as_secs())
            }
            (Happening::Received, Kind::Routing) => ("r message", link_delay.as_secs()),
            (Happening::Received, Kind::Data) => ("r data", link_delay.as_secs()),
            (Happening::Ended(Fate::Dropped(_)), Kind::Data) => ("D data", 0.0),
            _ => return None,
        };
        let at = s.at.as_secs() + later;
        Some(Line { at, node: s.node.0, what: what.into(), bytes: s.packet.bytes })
    };
    steps.iter().filter_map(line).collect()
}

/// Steps of a run; at some times [s] the radio of a node leaves the range of all others, or returns.
fn steps(text: &str, seed: i64, until: Time, moves: &[(f64, u32, bool)]) -> (Vec<Step>, Span) {
    script::start(seed, 0);
    let scenario = Scenario::from_toml("golden", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.pool_mut().keep_log();
    let mut steps = vec![];
    let mut moves = moves.iter().peekable();
    let mut away = vec![];
    while sim.now() < until && sim.advance(1).is_none() {
        let now = sim.now();
        if let Some(&(_, node, is_near)) = moves.next_if(|m| m.0 <= now.as_secs()) {
            away.retain(|&n| n != node);
            match is_near {
                true => sim.channel_mut().switch_on(RadioId(node), now, now),
                false => away.push(node),
            }
        }
        // Whatever it has begun to send is read by nobody.
        away.iter().for_each(|&n| sim.channel_mut().switch_off(RadioId(n), now));
        steps.extend(sim.pool_mut().take_steps().expect("the log is on"));
    }
    script::stop();
    (steps, sim.link_delay())
}

/// Lines in the order of time, and at equal times in that of nodes.
fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by(|a, b| {
        (a.at * 1e5).round().total_cmp(&(b.at * 1e5).round()).then_with(|| (a.node, &a.what).cmp(&(b.node, &b.what)))
    });
    lines
}

fn compare(text: &str, trace: &str, seed: i64, until: f64, moves: &[(f64, u32, bool)]) {
    let (steps, link_delay) = steps(text, seed, Time::ZERO + Span::from_secs(until), moves);
    let (a, b) = (sorted(ours(&steps, link_delay)), sorted(golden(trace)));
    let b: Vec<Line> = b.into_iter().filter(|l| l.at < until).collect();
    // Data: three slots, because the rounding of ns-2's clock now and then decides whether one counts.
    let near = |what: &str| if what.ends_with("message") { 2e-6 } else { 65e-6 };
    let same = |x: &Line, y: &Line| {
        (x.node, &x.what, x.bytes) == (y.node, &y.what, y.bytes) && (x.at - y.at).abs() < near(&x.what)
    };
    let n = a.iter().zip(&b).take_while(|(x, y)| same(x, y)).count();
    assert!(
        n == b.len() && n <= a.len(),
        "{n} of {} lines agree\nours {:#?}\nns-2 {:#?}",
        b.len(),
        &a[n.saturating_sub(3)..(n + 4).min(a.len())],
        &b[n.saturating_sub(3)..(n + 4).min(b.len())]
    );
}

/// The chain of the traces of DSDV.
const DSDV: &str = r#"
    extends = "ns2-2.35"
    run = { stop = "301 s" }
    topology.hops = 4
    net.ttl = 32
    routing.protocol = "dsdv"
    cbr = { interval = "1 s", payload = "512 B" }
    flow = [{ src = 0, dst = 4, app = "cbr", start = "5 s" }]
    "#;

#[test]
fn dsdv_on_a_chain() {
    compare(DSDV, include_str!("../data/dsdv_chain_s23.tr"), 23, 60.0, &[]);
}

/// A node at the end of three goes, is lost after 45 s, and comes back.
#[test]
fn dsdv_loses_a_neighbor_that_goes() {
    let text = DSDV.replace("hops = 4", "hops = 2").replace("dst = 4", "dst = 2").replace("\"5 s\"", "\"30 s\"");
    let trace = include_str!("../data/dsdv_break_s1.tr");
    // At 100 m/s it leaves the reach of its neighbor, and the other way round. The trace goes on; at 126.58 s five packets
    // are released at once, and slots that the rounding of ns-2's clock decides put them into another order.
    compare(&text, trace, 1, 126.58, &[(40.5, 2, false), (119.5, 2, true)]);
}

#[test]
fn dsdv_finds_its_first_routes_when_ns2_does() {
    // Seed, hops, when node 0 has got its first route of this number of hops to the node there.
    let rows = include_str!("../data/dsdv_convergence.csv").lines().skip(1);
    let rows: Vec<Vec<f64>> = rows.map(|l| l.split(',').map(|w| w.parse().expect("a number")).collect()).collect();
    let mut wrong = vec![];
    for seed in 1..=24 {
        script::start(seed, 0);
        let scenario = Scenario::from_toml("golden", DSDV, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(None));
        let mut first = [Time::NEVER; 5];
        while first[2..].contains(&Time::NEVER) && sim.advance(1).is_none() {
            for r in sim.routes_at(NodeId(0)).iter().filter(|r| r.destination.0 == r.hops) {
                first[r.hops as usize] = first[r.hops as usize].min(sim.now());
            }
        }
        script::stop();
        for row in rows.iter().filter(|r| r[0] == seed as f64) {
            let found = first[row[1] as usize].as_secs();
            if (found - row[2]).abs() > 0.0051 {
                wrong.push(format!("seed {seed}, {} hops: {found} s, in ns-2 {} s", row[1], row[2]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn dsr_on_a_chain() {
    let text = r#"
        extends = "ns2-2.35"
        run = { stop = "61 s" }
        topology = { kind = "list", positions = [["1000 m", "1000 m"], ["1200 m", "1000 m"], ["1400 m", "1000 m"],
                     ["1600 m", "1000 m"], ["1800 m", "1000 m"], ["1600 m", "1100 m"]] }
        net.ttl = 32
        routing.protocol = "dsr"
        queue.discipline = "cmu_priority"
        cbr = { interval = "500 ms", payload = "512 B" }
        flow = [{ src = 0, dst = 4, app = "cbr", start = "1 s" }]
        "#;
    compare(
        text,
        include_str!("../data/dsr_chain_s6.tr"),
        6,
        60.0,
        &[(11.2, 3, false), (30.2, 5, false), (47.5, 3, true)],
    );
}
