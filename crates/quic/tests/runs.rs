//! Runs: what connections reach, that a seed repeats it, and that other drivers act in the same run.

use crate::{EACH, UPLOAD, WIRE, ms, reached, start};
use chappe_core::packet::FlowId;
use chappe_core::run::external::{Event, Injection};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_quic::{CongestionControl, Refusal, STACK, Traffic, transport};
use std::io::Write;
use std::process::{Command, Stdio};

#[path = "../examples/own_controller.rs"]
#[allow(dead_code, reason = "its main function is that of a program")]
mod own_controller;

/// Three hops of 802.11b, with a flow of datagrams in each direction between the outer nodes and between the inner ones.
const CHAIN: &str = r#"
    run = { stop = "10 s", batches = 1, warmup_batches = 0 }
    topology.hops = 3
    flow = [
        { src = 0, dst = 3, app = "external" }, { src = 3, dst = 0, app = "external" },
        { src = 1, dst = 2, app = "external" }, { src = 2, dst = 1, app = "external" },
    ]
"#;

#[test]
fn a_wire_is_filled_in_both_directions() {
    for traffic in [UPLOAD, Traffic::Upload { streams: 7 }, Traffic::Download { streams: 3 }] {
        let report = reached(WIRE, &[], traffic, CongestionControl::Cubic);
        // Of 1,480 B a packet has 1,411 to 1,417 B of a stream.
        let read = report.client.bytes_read + report.server.bytes_read;
        assert!((0.93..0.96).contains(&(read as f64 * 8.0 / 1e8)), "{traffic:?}: {read}");
        assert_eq!((report.client.lost, report.server.lost), (None, None));
        // The handshake takes a round trip, and the last flight of the client half of one.
        let ended = [report.client.connected_at, report.server.connected_at].map(|at| at.expect("connected"));
        assert!((ms(40)..ms(46)).contains(&ended[0]) && (ms(60)..ms(70)).contains(&ended[1]), "{ended:?}");
    }
}

#[test]
fn answers_come_one_after_the_other() {
    let pause = Span::ms(500);
    let report = reached(WIRE, &[], Traffic::Requests { bytes: 5000, pause }, CongestionControl::NewReno);
    // 5,000 B in four packets at 10 Mbit/s, behind a round trip of 40 ms.
    let slow = report.completions.iter().filter(|c| !(Span::ms(43)..Span::ms(47)).contains(c)).count();
    assert_eq!((report.completions.len(), slow), (19, 0), "{:?}", report.completions);
    assert_eq!(report.client.bytes_read, 19 * 5000);
}

/// Everything that a run shows, for comparisons.
fn shown(controller: CongestionControl, seed: u64) -> String {
    let (mut sim, mut driver) = start(CHAIN, &[], seed);
    driver.connect(&mut sim, 0, UPLOAD, || transport(controller)).expect("it connects");
    driver
        .connect(&mut sim, 2, Traffic::Requests { bytes: 20_000, pause: Span::ms(5) }, || transport(controller))
        .expect("it connects");
    let mut seen = String::new();
    while sim.until(Time::NEVER) == Halt::Events {
        let events: Vec<_> = sim.events().collect();
        assert_eq!(driver.on_events(&mut sim, &events), events.len());
        seen += &format!("{:?} {events:?}\n", sim.now());
    }
    assert!(driver.report(0).server.bytes_read > 100_000 && driver.report(1).completions.len() > 10);
    seen + &format!("{:?} {:?}", driver.report(0), driver.report(1))
}

#[test]
fn a_seed_gives_the_same_run_with_every_controller() {
    for controller in EACH {
        let [first, again, other] = [1, 1, 2].map(|seed| shown(controller, seed));
        assert!(first == again, "{controller:?}");
        assert!(first != other);
    }
}

/// Answer of the program to a scenario: exit code, output, errors.
fn program(arguments: &[&str], scenario: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chappe-quic"));
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A program that refuses its arguments does not read.
    let _ = child.stdin.take().expect("a pipe").write_all(scenario.as_bytes());
    let done = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn two_processes_write_the_same_bytes() {
    for control in EACH {
        let scenario = format!("{CHAIN}\nquic.congestion_control = \"{}\"", control.word());
        let (code, first, err) = program(&[], &scenario);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        let stacks = format!(r#""quic_stack":["text",["{STACK}","{STACK}","{STACK}","{STACK}"]]"#);
        assert!(first.contains(&stacks), "{first}");
        assert_eq!(program(&[], &scenario).1, first);
    }
    let set = "quic.congestion_control = \"cubic\"\nrun.stop = \"1 s\"\ntopology.hops = 1\n";
    let one_way = format!("{set}flow = [{{ src = 0, dst = 1, app = \"external\" }}]");
    for (arguments, scenario, message) in [
        (&["--colour=red"][..], "", "error: \"--colour=red\" is no option"),
        (&[], "tcp.varient = \"vegas\"", "did you mean `variant`?"),
        (&[], CHAIN, "error: no flow is QUIC"),
        (&[], &one_way, "error: flow 0 is QUIC, and no free external flow leads back from node 1 to node 0"),
        (
            &["--qlog=/dev/null/no"],
            &format!("{CHAIN}\nquic.congestion_control = \"cubic\""),
            "error: cannot write /dev",
        ),
    ] {
        let (code, out, err) = program(arguments, scenario);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains(message), "{err}");
    }
    let (code, version, _) = program(&["--version"], "");
    assert!(code == Some(0) && version.contains(STACK), "{version}");
}

/// A driver that sends datagrams of 500 B over flow 2, one for each that has left.
fn fill(sim: &mut Sim, event: &Event) -> bool {
    let Event::Left { flow: FlowId(2), tag, .. } = *event else { return false };
    sim.inject(FlowId(2), Injection { bytes: 500, tag: tag + 1, ..Injection::default() }).is_ok()
}

#[test]
fn another_driver_sends_in_the_same_run() {
    let run = || {
        let (mut sim, mut driver) = start(CHAIN, &[], 1);
        driver.connect(&mut sim, 0, UPLOAD, || transport(CongestionControl::Cubic)).expect("it connects");
        sim.inject(FlowId(2), Injection { bytes: 500, ..Injection::default() }).expect("the flow is external");
        let (mut seen, mut others) = (vec![], 0);
        while sim.until(Time::NEVER) == Halt::Events {
            let events: Vec<_> = sim.events().collect();
            // The events of one of them are none of the other's.
            let of_other = events
                .iter()
                .filter(|e| {
                    matches!(
                        e,
                        Event::Arrived { flow: FlowId(2), .. }
                            | Event::Left { flow: FlowId(2), .. }
                            | Event::Lost { flow: FlowId(2), .. }
                    )
                })
                .count();
            assert_eq!(driver.on_events(&mut sim, &events) + of_other, events.len());
            others += events.iter().filter(|event| fill(&mut sim, event)).count();
            seen.push((sim.now(), events));
        }
        (seen, others, driver.report(0).server.bytes_read)
    };
    let (seen, others, read) = run();
    assert!(others > 300 && read > 50_000, "{others} {read}");
    let alone = reached(CHAIN, &[], UPLOAD, CongestionControl::Cubic).server.bytes_read;
    assert!(read < alone, "they share the air");
    assert_eq!(run(), (seen, others, read));
}

#[test]
fn a_controller_of_ones_own_keeps_the_delay_short() {
    let (cubic_kbps, cubic_ms) = own_controller::reached(|| transport(CongestionControl::Cubic)).expect("it runs");
    let (own_kbps, own_ms) = own_controller::reached(|| own_controller::own(50)).expect("it runs");
    assert!(own_ms < 0.6 * cubic_ms && own_kbps > 0.9 * cubic_kbps, "{own_kbps} {own_ms} {cubic_kbps} {cubic_ms}");
}

#[test]
fn a_connection_needs_two_free_flows() {
    let (mut sim, mut driver) = start(CHAIN, &[], 1);
    let mut connect = |flow| driver.connect(&mut sim, flow, UPLOAD, || transport(CongestionControl::Cubic));
    assert_eq!(connect(1).expect("flow 0 leads back"), 0);
    for (flow, message) in [
        (0, "flow 0 is no free flow with `app = \"external\"`"),
        (4, "flow 4 is no free flow with `app = \"external\"`"),
    ] {
        let refused = connect(flow).expect_err("there is none");
        assert!(matches!(refused, Refusal::NoFlow(_)) && refused.to_string() == message);
    }
    let flows = r#"[{ src = 0, dst = 1, app = "external" }]"#;
    let (mut sim, mut driver) = start(WIRE, &[("flow", flows)], 1);
    let refused =
        driver.connect(&mut sim, 0, UPLOAD, || transport(CongestionControl::Cubic)).expect_err("there is none");
    assert!(matches!(refused, Refusal::NoWayBack(0)), "{refused}");
    assert_eq!(driver.connections(), 0);
    assert_eq!(sim.now(), Time::ZERO);
}
