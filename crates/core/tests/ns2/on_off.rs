//! On/off sources of ns-2.35, packet by packet, replayed with ns-2's own random numbers.

use crate::packet::{Happening, Kind};
use crate::rng::script;
use crate::scenario::{NoFiles, Scenario};
use crate::sim::Sim;

/// Packets sent by the source of a flow between two nodes: times \[s\] and bytes.
fn sent(transport: &str, message: u32, rate: &str) -> Vec<(f64, u32)> {
    let text = format!(
        r#"
        extends = "ns2-2.35"
        run.stop = "40 s"
        topology.kind = "none"
        topology.wired_nodes = 2
        wired = {{ rate = "{rate}", delay = "10 ms", queue.discipline = "droptail" }}
        wired_link = [{{ dst = 1 }}]
        tcp = {{ variant = "tahoe", mss = "512 B" }}
        flow = [{{ dst = 1, app = "on_off", start = "5 s", stop = "12 s" }}]

        [on_off]
        transport = "{transport}"
        on = "200 ms"
        off = "800 ms"
        payload = "{message} B"
        {}
        "#,
        // Nobody adds headers to datagrams on wires.
        if transport == "udp" { "header_size = \"0 B\"" } else { "" }
    );
    // An agent of TCP draws the phase of its clock twice.
    script::start(1, u32::from(transport == "tcp"));
    let scenario = Scenario::from_toml("golden", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.pool_mut().keep_log();
    sim.run();
    script::stop();
    let data = sim.pool_mut().take_steps().expect("the log is on");
    let data = data.filter(|s| s.happening == Happening::Created && s.packet.body.kind() == Kind::Data);
    data.map(|s| (s.at.as_secs(), s.packet.bytes)).collect()
}

/// The first message sends the SYN and is not used up by it; messages are segments of their own; what waits when the source
/// stops is sent.
#[test]
fn sources_of_ns2_are_reproduced_packet_by_packet() {
    let trace: Vec<(usize, f64, u32)> = include_str!("../data/on_off.txt")
        .lines()
        .map(|line| {
            let w: Vec<&str> = line.split_whitespace().collect();
            (w[0].parse().expect("a case"), w[1].parse().expect("a time"), w[2].parse().expect("a size"))
        })
        .collect();
    for (case, (transport, message, rate)) in
        [("tcp", 512, "10 Mbit/s"), ("tcp", 1300, "10 Mbit/s"), ("udp", 512, "10 Mbit/s"), ("tcp", 512, "20 kbit/s")]
            .into_iter()
            .enumerate()
    {
        let golden: Vec<(f64, u32)> = trace.iter().filter(|t| t.0 == case).map(|t| (t.1, t.2)).collect();
        let ours = sent(transport, message, rate);
        assert!(golden.len() > 15);
        assert_eq!(ours.len(), golden.len(), "case {case}");
        for (i, (a, b)) in ours.iter().zip(&golden).enumerate() {
            assert!((a.0 - b.0).abs() < 2e-6 && a.1 == b.1, "case {case}, packet {i}: {a:?}, in ns-2 {b:?}");
        }
    }
}
