//! Runs: what connections reach, that a seed repeats it, and that other drivers act in the same run.

use crate::{UPLOAD, WIRE, ms, reached, start};
use chappe_core::packet::FlowId;
use chappe_core::run::external::{Event, Injection};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_quic::{Controller, Refusal, STACK, Traffic};
use std::process::Command;

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
        let report = reached(WIRE, &[], traffic, Controller::Cubic);
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
    let report = reached(WIRE, &[], Traffic::Requests { bytes: 5000, pause }, Controller::NewReno);
    // 5,000 B in four packets at 10 Mbit/s, behind a round trip of 40 ms.
    let slow = report.completions.iter().filter(|c| !(Span::ms(43)..Span::ms(47)).contains(c)).count();
    assert_eq!((report.completions.len(), slow), (19, 0), "{:?}", report.completions);
    assert_eq!(report.client.bytes_read, 19 * 5000);
}

/// Everything that a run shows, for comparisons.
fn shown(controller: Controller, seed: u64) -> String {
    let (mut sim, mut driver) = start(CHAIN, &[], seed);
    driver.connect(&mut sim, 0, UPLOAD, controller.transport()).expect("it connects");
    driver
        .connect(&mut sim, 2, Traffic::Requests { bytes: 20_000, pause: Span::ms(5) }, controller.transport())
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
    for controller in Controller::ALL {
        let [first, again, other] = [1, 1, 2].map(|seed| shown(controller, seed));
        assert!(first == again, "{controller:?}");
        assert!(first != other);
    }
}

#[test]
fn two_processes_write_the_same_bytes() {
    let file = std::env::temp_dir().join(format!("chappe-quic-{}.toml", std::process::id()));
    std::fs::write(&file, CHAIN).expect("a file for the scenario");
    let program = |arguments: &[&str]| {
        let done =
            Command::new(env!("CARGO_BIN_EXE_chappe-quic")).arg(&file).args(arguments).output().expect("it runs");
        (
            done.status.code(),
            String::from_utf8(done.stdout).expect("text"),
            String::from_utf8(done.stderr).expect("text"),
        )
    };
    for controller in Controller::ALL {
        let option = format!("--controller={}", controller.name());
        let arguments = ["7", "run.stop=5 s", &option, "--after=1", "--traffic=upload"];
        let (code, first, err) = program(&arguments);
        assert_eq!((code, err.as_str(), first.lines().count()), (Some(0), "", 2));
        assert!(first.contains(&format!("\"stack\":\"{STACK}\"")));
        assert_eq!(program(&arguments).1, first);
    }
    for (wrong, message) in [
        ("--controller=reno", "error: --controller: \"reno\" is no such value"),
        ("--traffic=x", "error: --traffic: \"x\" is neither upload, download nor a size"),
        ("--colour=red", "error: there is no option --colour"),
        ("tcp.varient=vegas", "did you mean `variant`?"),
        ("soon", "error: \"soon\" is neither a seed nor NAME=VALUE"),
        ("flow=[]", "has no two flows with `app = \"external\"`, one in each direction"),
    ] {
        let (code, out, err) = program(&[wrong]);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains(message), "{err}");
    }
    std::fs::remove_file(file).expect("the file is there");
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
        driver.connect(&mut sim, 0, UPLOAD, Controller::Cubic.transport()).expect("it connects");
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
    let alone = reached(CHAIN, &[], UPLOAD, Controller::Cubic).server.bytes_read;
    assert!(read < alone, "they share the air");
    assert_eq!(run(), (seen, others, read));
}

#[test]
fn a_controller_of_ones_own_keeps_the_delay_short() {
    let (cubic_kbps, cubic_ms) = own_controller::reached(Controller::Cubic.transport()).expect("it runs");
    let (own_kbps, own_ms) = own_controller::reached(own_controller::own(50)).expect("it runs");
    assert!(own_ms < 0.6 * cubic_ms && own_kbps > 0.9 * cubic_kbps, "{own_kbps} {own_ms} {cubic_kbps} {cubic_ms}");
}

#[test]
fn a_connection_needs_two_free_flows() {
    let (mut sim, mut driver) = start(CHAIN, &[], 1);
    let mut connect = |flow| driver.connect(&mut sim, flow, UPLOAD, Controller::Cubic.transport());
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
    let refused = driver.connect(&mut sim, 0, UPLOAD, Controller::Cubic.transport()).expect_err("there is none");
    assert!(matches!(refused, Refusal::NoWayBack(0)), "{refused}");
    assert_eq!((driver.free(), driver.connections()), (None, 0));
    assert_eq!(sim.now(), Time::ZERO);
}
