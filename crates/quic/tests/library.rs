//! Observations of the library in this version: another one shows where it differs.

use crate::{EACH, UPLOAD, WIRE, ms, reached, start};
use chappe_core::run::external::Event;
use chappe_core::sim::Halt;
use chappe_core::unit::{Span, Time};
use chappe_quic::quinn_proto::TransportConfig;
use chappe_quic::quinn_proto::congestion::CubicConfig;
use chappe_quic::{CongestionControl, End, Report, STACK, Traffic, transport};
use std::sync::Arc;

/// Datagram that a client sends at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sent {
    at: Time,
    datagrams: u64,
    bytes: u64,
}

/// Datagrams of an end by the instants at which it sent them, in a run with this configuration.
fn sent_by(
    end: fn(&Report) -> &End,
    overrides: &[(&str, &str)],
    traffic: Traffic,
    until: Time,
    configured: impl Fn() -> TransportConfig,
) -> (Vec<Sent>, Report) {
    let (mut sim, mut driver) = start(WIRE, overrides, 1);
    let connection = driver.connect(&mut sim, 0, traffic, configured).expect("it connects");
    let (mut sends, mut before) = (vec![], (0, 0));
    loop {
        let report = driver.report(connection);
        let tx = end(&report).stats.udp_tx;
        if tx.datagrams > before.0 {
            sends.push(Sent { at: sim.now(), datagrams: tx.datagrams - before.0, bytes: tx.bytes - before.1 });
            before = (tx.datagrams, tx.bytes);
        }
        if sim.until(until) != Halt::Events {
            return (sends, report);
        }
        let events: Vec<_> = sim.events().collect();
        driver.on_events(&mut sim, &events);
    }
}

/// All that a client sends up to a time, and the times at which datagrams arrive there.
fn sent(
    overrides: &[(&str, &str)],
    traffic: Traffic,
    controller: CongestionControl,
    until: Time,
) -> (Vec<Sent>, Vec<Time>) {
    let (mut sim, mut driver) = start(WIRE, overrides, 1);
    let connection = driver.connect(&mut sim, 0, traffic, || transport(controller)).expect("it connects");
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
    let (sends, _) = sent(&[], UPLOAD, CongestionControl::Cubic, ms(60));
    assert_eq!(sends[0], Sent { at: Time::ZERO, datagrams: 1, bytes: 1200 });
    // Nine datagrams and a probe of the MTU: packets of the handshake are still in the window.
    let flight = sends.iter().max_by_key(|s| s.datagrams).expect("it has sent");
    assert!((ms(42)..ms(46)).contains(&flight.at), "{sends:?}");
    assert_eq!((flight.datagrams, flight.bytes), (10, 9 * 1200 + 1326));
    let windows = EACH.map(|c| {
        let (mut sim, mut driver) = start(WIRE, &[], 1);
        let connection = driver.connect(&mut sim, 0, UPLOAD, || transport(c)).expect("it connects");
        driver.controller(connection).expect("the client has begun").initial_window()
    });
    assert_eq!(windows, [12_000, 12_000, 240_000]);
}

#[test]
fn mtu_discovery_probes_four_sizes_after_the_handshake() {
    let quiet = Traffic::Requests { bytes: 1, pause: Span::secs(9) };
    let (sends, _) = sent(&[], quiet, CongestionControl::Cubic, ms(600));
    let probes: Vec<u64> = sends.iter().filter(|s| s.bytes > 1200 && s.datagrams == 1).map(|s| s.bytes).collect();
    assert_eq!(probes[probes.len() - 3..], [1389, 1420, 1452]);
}

#[test]
fn without_an_answer_the_initial_round_trip_time_is_333_ms() {
    let off = [("event", r#"[{ at = "0 s", action = "node_down", node = 1 }]"#)];
    let (sends, _) = sent(&off, UPLOAD, CongestionControl::Cubic, ms(8000));
    // 333 ms and four times half of it; then twice the time.
    let times: Vec<Time> = sends.iter().map(|s| s.at).collect();
    assert_eq!(times, [ms(0), ms(999), ms(3 * 999), ms(7 * 999)]);
}

#[test]
fn a_packet_by_itself_is_acknowledged_after_25_ms() {
    let single = Traffic::Requests { bytes: 1, pause: Span::secs(1) };
    let (sends, arrivals) = sent(&[], single, CongestionControl::Cubic, ms(5000));
    let (answer, after) = (arrivals[arrivals.len() - 1], Span::ms(25));
    assert_eq!(sends.last().expect("it has sent").at, answer + after);
}

#[test]
fn every_second_packet_is_acknowledged() {
    let report = reached(WIRE, &[], UPLOAD, CongestionControl::Cubic);
    let share = report.client.stats.udp_rx.datagrams as f64 / report.server.stats.udp_rx.datagrams as f64;
    assert!((0.49..0.54).contains(&share), "{share}");
}

#[test]
fn only_bbr_grows_while_the_application_limits_it() {
    let windows = EACH.map(|controller| {
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
    for (controller, factor) in [(CongestionControl::Cubic, 0.7), (CongestionControl::NewReno, 0.5)] {
        let (mut sim, mut driver) = start(WIRE, &[("wired_link.0.queue.limit", "50")], 1);
        let connection = driver.connect(&mut sim, 0, UPLOAD, || transport(controller)).expect("it connects");
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
    let report = reached(WIRE, &[("run.stop", "3 s")], UPLOAD, CongestionControl::Cubic);
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
    let connection =
        driver.connect(&mut sim, 0, UPLOAD, || transport(CongestionControl::NewReno)).expect("it connects");
    let mut least = u64::MAX;
    for at in 100..=999 {
        driver.until(&mut sim, ms(10 * at));
        least = least.min(driver.report(connection).client.stats.path.cwnd);
    }
    assert_eq!(least, 2 * 1452);
    assert!(driver.report(connection).server.bytes_read > 3_000_000);
}

#[test]
fn the_window_of_12_000_bytes_has_8_datagrams_of_the_largest_size() {
    let configured = || {
        let mut transport = transport(CongestionControl::Cubic);
        transport.initial_mtu(1452).mtu_discovery_config(None);
        transport
    };
    let download = Traffic::Download { streams: 1 };
    let (sends, _) = sent_by(|r| &r.server, &[], download, ms(70), configured);
    // Its own packets of the handshake are acknowledged before the request comes.
    let flight = sends.last().expect("it has sent");
    assert_eq!((flight.datagrams, flight.bytes), (8, 11_616), "{sends:?}");
}

#[test]
fn lost_probes_of_the_mtu_do_not_reduce_the_window() {
    // The network takes payloads of up to 1,400 B: of the probes 1,326 and 1,389 B pass.
    let mtu = [("net.mtu", "1428 B"), ("run.stop", "3 s"), ("wired_link.0.rate", "100 Mbit/s")];
    let of = || transport(CongestionControl::Cubic);
    let (sends, report) = sent_by(|r| &r.client, &mtu, UPLOAD, Time::NEVER, of);
    let path = report.client.stats.path;
    assert_eq!((path.current_mtu, path.lost_packets, path.congestion_events), (1389, 0, 0), "{path:?}");
    assert!(path.lost_plpmtud_probes >= 2 && report.refused >= 2, "{path:?}");
    assert!(sends.len() > 1000);
}

#[test]
fn probes_of_the_mtu_follow_each_other_after_a_round_trip() {
    let quiet = Traffic::Requests { bytes: 1, pause: Span::secs(9) };
    let (sends, _) = sent(&[], quiet, CongestionControl::Cubic, ms(600));
    let is_probe = |s: &&Sent| s.datagrams == 1 && [1389, 1420, 1452].contains(&s.bytes);
    let times: Vec<Time> = sends.iter().filter(is_probe).map(|s| s.at).collect();
    // A single packet is acknowledged 25 ms later.
    let gaps: Vec<Span> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(gaps.len() == 2 && gaps.iter().all(|gap| (Span::ms(40)..Span::ms(70)).contains(gap)), "{gaps:?}");
}

#[test]
fn the_thresholds_of_losses_are_3_packets_and_nine_eighths() {
    let shown = format!("{:?}", TransportConfig::default());
    assert!(shown.contains("packet_threshold: 3,") && shown.contains("time_threshold: 1.125,"), "{shown}");
}

#[test]
fn pacing_sends_a_burst_and_then_five_quarters_of_the_window_per_round_trip() {
    let packets = 200;
    let configured = || {
        let mut transport = transport(CongestionControl::Cubic);
        let mut cubic = CubicConfig::default();
        cubic.initial_window(packets * 1452);
        transport.initial_mtu(1452).mtu_discovery_config(None);
        transport.congestion_controller_factory(Arc::new(cubic));
        transport
    };
    let wire = [("wired_link.0.rate", "10 Gbit/s")];
    // Before an acknowledgement of the data comes back.
    let (sends, report) = sent_by(|r| &r.server, &wire, Traffic::Download { streams: 1 }, ms(99), configured);
    let first = sends.iter().position(|s| s.datagrams >= 10).unwrap_or_else(|| panic!("{sends:?}"));
    let flight = &sends[first..];
    assert_eq!(flight.iter().map(|s| s.datagrams).sum::<u64>(), packets - 1, "{sends:?}");
    let bytes: u64 = flight[1..].iter().map(|s| s.bytes).sum();
    let rate = bytes as f64 / flight[flight.len() - 1].at.since(flight[0].at).as_secs();
    let expected = 1.25 * (packets * 1452) as f64 / report.server.stats.path.rtt.as_secs_f64();
    assert!((rate / expected - 1.0).abs() < 0.02, "{rate} {expected}");
    assert!((10..=256).contains(&flight[0].datagrams) && flight[1..].iter().all(|s| s.datagrams <= 10), "{sends:?}");
}

#[test]
fn the_interval_of_probes_doubles_and_each_has_two_packets_without_data() {
    let down = [("event", r#"[{ at = "9.5 s", action = "node_down", node = 1 }]"#), ("run.stop", "40 s")];
    let requests = Traffic::Requests { bytes: 1, pause: Span::ms(950) };
    let (sends, _) = sent(&down, requests, CongestionControl::Cubic, ms(39_000));
    let after: Vec<&Sent> = sends.iter().filter(|s| s.at > ms(9_500)).collect();
    let first = after[0].at;
    let probes: Vec<(f64, u64, u64)> =
        after[1..].iter().map(|s| (s.at.since(first).as_secs() * 1e3, s.datagrams, s.bytes)).collect();
    // 40 ms and 25 ms, and four times a variation that has almost faded.
    let pto = probes[0].0;
    assert!((65.0..75.0).contains(&pto), "{probes:?}");
    for (n, (at, datagrams, bytes)) in (1..).zip(&probes[..6]) {
        assert!((at - f64::from((1 << n) - 1) * pto).abs() < 0.1 * at / 100.0, "{probes:?}");
        // Headers, a PING or an acknowledgement, and the tag.
        assert!(*datagrams == 2 && (60..72).contains(bytes), "{probes:?}");
    }
}

#[test]
fn after_persistent_congestion_the_threshold_is_reduced_twice() {
    let relay = [(
        "event",
        r#"[{ at = "4 s", action = "node_down", node = 1 }, { at = "7 s", action = "node_up", node = 1 }]"#,
    )];
    let (mut sim, mut driver) = start(WIRE, &relay, 1);
    let cubic = || transport(CongestionControl::Cubic);
    // A window of 12,000 B, which an application that asks for little does not increase.
    let requests = Traffic::Requests { bytes: 1000, pause: Span::ZERO };
    let connection = driver.connect(&mut sim, 0, requests, cubic).expect("it connects");
    let mut seen = vec![];
    for at in 300..=999 {
        driver.until(&mut sim, ms(10 * at));
        let metrics = driver.controller(connection).expect("it has one").metrics();
        if seen.last() != Some(&(metrics.congestion_window, metrics.ssthresh)) {
            seen.push((metrics.congestion_window, metrics.ssthresh));
        }
    }
    assert_eq!(seen[0], (12_000, Some(u64::MAX)), "{seen:?}");
    assert!(seen.contains(&(2 * 1452, Some(5880))), "{seen:?}");
}

#[test]
fn cubic_returns_to_its_window_after_the_cube_root_of_what_fast_convergence_leaves() {
    let wire = [
        ("run.stop", "40 s"),
        ("wired_link.0.rate", "40 Mbit/s"),
        ("wired_link.0.delay", "50 ms"),
        ("wired_link.0.queue.limit", "100"),
        ("event", r#"[{ at = "14 s", action = "set", setting = "wired_link.0.rate", value = "25 Mbit/s" }]"#),
    ];
    let (mut sim, mut driver) = start(WIRE, &wire, 1);
    let cubic = || transport(CongestionControl::Cubic);
    let connection = driver.connect(&mut sim, 0, UPLOAD, cubic).expect("it connects");
    // Instants and windows at each change.
    let mut seen: Vec<(Time, f64)> = vec![];
    while sim.until(Time::NEVER) == Halt::Events {
        let events: Vec<_> = sim.events().collect();
        driver.on_events(&mut sim, &events);
        let cwnd = driver.report(connection).client.stats.path.cwnd as f64 / 1452.0;
        if seen.last().is_none_or(|last| last.1 != cwnd) {
            seen.push((sim.now(), cwnd));
        }
    }
    let cuts: Vec<usize> = (1..seen.len()).filter(|&i| seen[i].1 < seen[i - 1].1).collect();
    let mut w_max = 0.0;
    let mut checked = 0;
    for &cut in &cuts {
        let before = seen[cut - 1].1;
        let converges = before < w_max;
        w_max = if converges { before * (1.0 + 0.7) / 2.0 } else { before };
        let back = seen[cut..].iter().take_while(|s| s.1 >= seen[cut].1).find(|s| s.1 > w_max - 1.0);
        let (Some(back), true) = (back, converges) else { continue };
        let took = back.0.since(seen[cut].0).as_secs();
        // The window is one packet short of W_max cbrt(1 / C) before K, and the library looks a round trip ahead.
        let [of_library, of_rfc] =
            [0.3 * w_max, w_max - seen[cut].1].map(|below| (below / 0.4).cbrt() - (1.0 / 0.4_f64).cbrt() - 0.13);
        assert!((of_library..of_library + 0.5).contains(&took) && took > of_rfc + 1.0, "{took} {of_library} {of_rfc}");
        checked += 1;
    }
    assert_eq!(checked, 3, "{cuts:?}");
}
