//! Begin and growth of windows.

use super::{Vector, run, said, settings};
use chappe_core::packet::{AckSegment, Seq};
use chappe_core::tcp::cc::{CongestionControl, Rule};
use chappe_core::tcp::config::variants::Method;
use chappe_core::tcp::recovery::Recovery;
use chappe_core::tcp::{Config, InitialWindow, Sender};
use chappe_core::unit::{Bytes, Span, Time};
use std::collections::VecDeque;

#[test]
fn c03_initial_windows() {
    let rfc5681: Vec<u32> =
        [500, 1095, 1096, 2190, 2191].iter().map(|&b| InitialWindow::Rfc5681.segments(Bytes(b))).collect();
    assert_eq!(rfc5681, [4, 4, 3, 3, 2]);
    assert_eq!(InitialWindow::Rfc6928.segments(Bytes(1460)), 10);
    assert_eq!(InitialWindow::Rfc6928.segments(Bytes(9000)), 2);
    // A lost SYN leaves a window of one segment.
    let mut s = Sender::new(&Config::default(), Span::ZERO);
    s.write(None, Time::ZERO);
    s.on_deadline(Time::ZERO + Span::secs(1));
    let ack = AckSegment { next: 1, hops: 1, window: 64, ..AckSegment::default() };
    s.on_ack(&ack, 1, Time::ZERO + Span::ms(1100));
    assert_eq!(s.connection().window().cwnd, 1.0);
}

/// Vegas' window after 10 and 60 s, and what has arrived, over a path that holds 97 segments, with a receiver's window
/// of 40: nothing ever waits in a queue.
fn vegas_on_a_clean_path(ack: &str, growth: &str) -> (f64, f64, Seq) {
    let header = format!("RFC vegas window=40 path=p3 until=60 ack={ack} growth={growth}");
    let (events, sender) = run(&Vector { id: "vegas", header: &header, lines: vec![] });
    let window = |at: f64| events.iter().rev().find(|e| e.time <= at).expect("an event").cwnd;
    (window(10.0), window(60.0), sender.connection().una())
}

#[test]
fn vegas_grows_on_an_ack_of_four_segments_unless_ns2_forbids() {
    // An acknowledgement of four leaves three free, more than the two that the test of ns-2 allows, so that growth ends as
    // soon as the receiver acknowledges by fours.
    let (early, late, stuck) = vegas_on_a_clean_path("thinning", "used_after_ack");
    assert!(early == late && (4.0..6.0).contains(&late), "{early} {late}");
    for growth in ["used_before_ack", "always"] {
        let (_, late, arrived) = vegas_on_a_clean_path("thinning", growth);
        assert!(late >= 40.0 && arrived > 5 * stuck, "{growth}: {late}, {arrived} instead of {stuck}");
    }
    // One by one the two tests are the same.
    assert_eq!(vegas_on_a_clean_path("every", "used_before_ack"), vegas_on_a_clean_path("every", "used_after_ack"));
}

#[test]
fn receiver_limit_stops_the_growth_of_the_vegas_window() {
    let (_, tested, arrived) = vegas_on_a_clean_path("every", "used_before_ack");
    assert!((40.0..=43.0).contains(&tested), "{tested}: two may be free, and one more after the last growth");
    let (_, untested, all) = vegas_on_a_clean_path("every", "always");
    assert!(untested > 100.0 && arrived.abs_diff(all) < all / 50, "{untested}: {arrived} and {all}");
}

/// cwnd after each acknowledgement of Vegas' window rule under a loss recovery. A segment takes 50 ms there and back, and
/// one leaves the path each 5 ms.
fn vegas_under(method: Method) -> Vec<f64> {
    let cfg = Config { syn: false, ..settings("RFC", "\"vegas\"") };
    let rule = CongestionControl::new(Rule::Vegas, &cfg);
    let mut s = Sender::of_parts(&cfg, Recovery::new(method, &cfg), rule, Span::ZERO);
    let (mut now, mut under_way, mut windows) = (Time::ZERO, VecDeque::new(), vec![]);
    s.write(None, now);
    for next in 1..600 {
        under_way.extend(said(&mut s).into_iter().map(|_| now + Span::ms(50)));
        now = (now + Span::ms(5)).max(under_way.pop_front().expect("a segment is under way"));
        let ack = AckSegment { next, hops: 1, window: cfg.receive_window, echo: now, ..AckSegment::default() };
        s.on_ack(&ack, 1, now);
        windows.push(s.view().cwnd);
    }
    windows
}

#[test]
fn every_loss_recovery_gives_vegas_its_round_trip_times() {
    let windows = vegas_under(Method::Vegas);
    // Ten segments fill the path, and alpha to beta, 2 to 4, wait in it.
    let late = windows[500..].iter().copied().reduce(f64::max).expect("many");
    assert!((12.0..=14.0).contains(&late), "{late}");
    for method in [Method::Tahoe, Method::Reno, Method::NewReno, Method::Sack] {
        assert_eq!(vegas_under(method), windows, "{method:?}: nothing is lost");
    }
}
