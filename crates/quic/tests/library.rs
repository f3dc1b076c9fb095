//! Observations of the library in this version: another one shows where it differs.

use crate::{UPLOAD, WIRE, ms, reached, start};
use chappe_core::run::external::Event;
use chappe_core::sim::Halt;
use chappe_core::unit::{Span, Time};
use chappe_quic::{Controller, STACK, Traffic};

/// Datagram that a client sends at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sent {
    at: Time,
    datagrams: u64,
    bytes: u64,
}

/// All that a client sends up to a time, and the times at which datagrams arrive there.
fn sent(overrides: &[(&str, &str)], traffic: Traffic, controller: Controller, until: Time) -> (Vec<Sent>, Vec<Time>) {
    let (mut sim, mut driver) = start(WIRE, overrides, 1);
    let connection = driver.connect(&mut sim, 0, traffic, controller.transport()).expect("it connects");
    let (mut sends, mut arrivals, mut before) = (vec![], vec![], (0, 0));
    loop {
        let tx = driver.report(connection).client.stats.udp_tx;
        if tx.datagrams > before.0 {
            sends.push(Sent { at: sim.now(), datagrams: tx.datagrams - before.0, bytes: tx.bytes - before.1 });
            before = (tx.datagrams, tx.bytes);
        }
        if sim.until(until) != Halt::Events {
            return (sends, arrivals);
        }
        let events: Vec<_> = sim.events().collect();
        driver.on_events(&mut sim, &events);
        let here = |event: &&Event| matches!(event, Event::Arrived { endpoint, .. } if endpoint.0 == 0);
        arrivals.extend(events.iter().filter(here).map(|_| sim.now()));
    }
}

#[test]
fn the_name_of_the_library_has_the_version_that_is_used() {
    let (name, version) = STACK.split_once(' ').expect("two words");
    assert!(include_str!("../Cargo.toml").contains(&format!("{name} = {{ version = \"={version}\"")));
}

#[test]
fn the_initial_window_is_12_000_bytes_and_leaves_at_once() {
    let (sends, _) = sent(&[], UPLOAD, Controller::Cubic, ms(60));
    assert_eq!(sends[0], Sent { at: Time::ZERO, datagrams: 1, bytes: 1200 });
    // Nine datagrams and a probe of the MTU: packets of the handshake are still in the window.
    let flight = sends.iter().max_by_key(|s| s.datagrams).expect("it has sent");
    assert!((ms(42)..ms(46)).contains(&flight.at), "{sends:?}");
    assert_eq!((flight.datagrams, flight.bytes), (10, 9 * 1200 + 1326));
    let windows = Controller::ALL.map(|c| {
        let (mut sim, mut driver) = start(WIRE, &[], 1);
        let connection = driver.connect(&mut sim, 0, UPLOAD, c.transport()).expect("it connects");
        driver.controller(connection).expect("the client has begun").initial_window()
    });
    assert_eq!(windows, [12_000, 12_000, 240_000]);
}

#[test]
fn mtu_discovery_probes_four_sizes_after_the_handshake() {
    let quiet = Traffic::Requests { bytes: 1, pause: Span::secs(9) };
    let (sends, _) = sent(&[], quiet, Controller::Cubic, ms(600));
    let probes: Vec<u64> = sends.iter().filter(|s| s.bytes > 1200 && s.datagrams == 1).map(|s| s.bytes).collect();
    assert_eq!(probes[probes.len() - 3..], [1389, 1420, 1452]);
}

#[test]
fn without_an_answer_the_initial_round_trip_time_is_333_ms() {
    let off = [("event", r#"[{ at = "0 s", action = "node_down", node = 1 }]"#)];
    let (sends, _) = sent(&off, UPLOAD, Controller::Cubic, ms(8000));
    // 333 ms and four times half of it; then twice the time.
    let times: Vec<Time> = sends.iter().map(|s| s.at).collect();
    assert_eq!(times, [ms(0), ms(999), ms(3 * 999), ms(7 * 999)]);
}

#[test]
fn a_packet_by_itself_is_acknowledged_after_25_ms() {
    let single = Traffic::Requests { bytes: 1, pause: Span::secs(1) };
    let (sends, arrivals) = sent(&[], single, Controller::Cubic, ms(5000));
    let (answer, after) = (arrivals[arrivals.len() - 1], Span::ms(25));
    assert_eq!(sends.last().expect("it has sent").at, answer + after);
}

#[test]
fn every_second_packet_is_acknowledged() {
    let report = reached(WIRE, &[], UPLOAD, Controller::Cubic);
    let share = report.client.stats.udp_rx.datagrams as f64 / report.server.stats.udp_rx.datagrams as f64;
    assert!((0.49..0.54).contains(&share), "{share}");
}

#[test]
fn only_bbr_grows_while_the_application_limits_it() {
    let windows = Controller::ALL.map(|controller| {
        let small = Traffic::Requests { bytes: 1000, pause: Span::ZERO };
        let report = reached(WIRE, &[("run.stop", "60 s")], small, controller);
        assert!(report.completions.len() > 1000);
        report.server.stats.path.cwnd
    });
    assert_eq!(windows[..2], [12_000, 12_000]);
    assert!(windows[2] > 500_000, "{windows:?}");
}

#[test]
fn a_loss_takes_three_tenths_or_half_of_the_window() {
    for (controller, factor) in [(Controller::Cubic, 0.7), (Controller::NewReno, 0.5)] {
        let (mut sim, mut driver) = start(WIRE, &[("wired_link.0.queue.limit", "50")], 1);
        let connection = driver.connect(&mut sim, 0, UPLOAD, controller.transport()).expect("it connects");
        let (mut factors, mut before) = (vec![], 0);
        while sim.until(Time::NEVER) == Halt::Events {
            let events: Vec<_> = sim.events().collect();
            driver.on_events(&mut sim, &events);
            let cwnd = driver.report(connection).client.stats.path.cwnd;
            if cwnd < before {
                factors.push(cwnd as f64 / before as f64);
            }
            before = cwnd;
        }
        assert!(factors.len() > 3 && factors.iter().all(|f| (f - factor).abs() < 0.01), "{controller:?} {factors:?}");
        // Each batch of lost packets counts as an event, also those of one reduction.
        let events = driver.report(connection).client.stats.path.congestion_events;
        assert!(events > 2 * factors.len() as u64, "{events} {}", factors.len());
    }
}

#[test]
fn cubic_has_no_hystart_and_fills_the_queue() {
    let report = reached(WIRE, &[("run.stop", "3 s")], UPLOAD, Controller::Cubic);
    // 1,000 packets of 1,480 B take 1.18 s.
    assert!(report.client.stats.path.rtt.as_secs_f64() > 0.9, "{:?}", report.client.stats.path);
}

#[test]
fn an_outage_is_persistent_congestion() {
    let relay = r#"
        run = { stop = "10 s", batches = 1, warmup_batches = 0 }
        topology = { kind = "none", wired_nodes = 3 }
        routing.protocol = "shortest_path"
        wired_link = [
            { src = 0, dst = 1, rate = "10 Mbit/s", delay = "10 ms", queue = { discipline = "droptail", limit = 30 } },
            { src = 1, dst = 2, rate = "10 Mbit/s", delay = "10 ms" },
        ]
        flow = [{ src = 0, dst = 2, app = "external" }, { src = 2, dst = 0, app = "external" }]
        event = [{ at = "2 s", action = "node_down", node = 1 }, { at = "5 s", action = "node_up", node = 1 }]
    "#;
    let (mut sim, mut driver) = start(relay, &[], 1);
    let connection = driver.connect(&mut sim, 0, UPLOAD, Controller::NewReno.transport()).expect("it connects");
    let mut least = u64::MAX;
    for at in 100..=999 {
        driver.until(&mut sim, ms(10 * at));
        least = least.min(driver.report(connection).client.stats.path.cwnd);
    }
    assert_eq!(least, 2 * 1452);
    assert!(driver.report(connection).server.bytes_read > 3_000_000);
}
