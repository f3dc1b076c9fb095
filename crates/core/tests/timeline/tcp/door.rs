//! Detection of out-of-order delivery and response: reaction of a sender to acknowledgements out of order.

use super::{ack, said, sent, settings, variants, wait};
use chappe_core::packet::AckSegment;
use chappe_core::tcp::cc::interface::Window;
use chappe_core::tcp::{Config, Sender};
use chappe_core::unit::{Span, Time};

/// A sender under DOOR with segments outstanding, after many that were acknowledged.
fn with_door(cfg: &Config) -> (Sender, Time) {
    let mut cfg = cfg.clone();
    cfg.door.enabled = true;
    let (mut s, mut now) = sent(&cfg, 30);
    s.write(Some(500), now);
    if said(&mut s).is_empty() {
        wait(&mut s, &mut now);
    }
    assert!(s.connection().outstanding() > 0);
    (s, now)
}

/// An acknowledgement of everything below `next` that echoes the time `ago`.
fn echoing(s: &mut Sender, next: u32, ago: Span, now: Time) {
    let echo = Time(now.0 - ago.0);
    let window = s.connection().cfg().receive_window;
    s.on_ack(&AckSegment { echo, ..ack(next, window, now) }, 3, now);
}

/// Three duplicate acknowledgements, 1 ms apart, each of a later segment.
fn three_duplicates(s: &mut Sender, now: &mut Time) {
    let una = s.connection().una();
    for _ in 0..3 {
        *now += Span::ms(1);
        echoing(s, una, Span::ms(100), *now);
    }
}

fn reno() -> Config {
    settings("RFC", "\"newreno\"")
}

#[test]
fn an_old_echo_undoes_a_cut_within_a_round_trip() {
    let (mut s, mut now) = with_door(&reno());
    let before = s.connection().window();
    three_duplicates(&mut s, &mut now);
    let cut = s.connection().window();
    assert!(cut.cwnd < before.cwnd && cut.ssthresh < before.cwnd, "{cut:?} {before:?}");
    // The next duplicate was triggered by a segment that had been sent before those.
    now += Span::ms(1);
    let una = s.connection().una();
    echoing(&mut s, una, Span::ms(110), now);
    assert_eq!(s.connection().window().cwnd, before.cwnd);
    assert!(s.connection().window().ssthresh >= before.cwnd);
}

#[test]
fn a_cut_of_more_than_a_round_trip_ago_stays() {
    let (mut s, mut now) = with_door(&reno());
    three_duplicates(&mut s, &mut now);
    let cut = s.connection().window();
    now += s.view().srtt.unwrap() + Span::ms(1);
    assert!(now < s.connection().timer());
    let una = s.connection().una();
    echoing(&mut s, una, Span::secs(1), now);
    assert_eq!(s.connection().window(), cut);
}

#[test]
fn losses_within_a_round_trip_after_a_detection_cut_nothing() {
    for (within, cuts) in [(true, false), (false, true)] {
        let (mut s, mut now) = with_door(&reno());
        let (before, una) = (s.connection().window(), s.connection().una());
        now += Span::ms(1);
        echoing(&mut s, una, Span::ms(50), now);
        echoing(&mut s, una, Span::ms(60), now);
        if !within {
            now += s.view().srtt.unwrap() + Span::ms(1);
        }
        assert!(now < s.connection().timer());
        said(&mut s);
        echoing(&mut s, una, Span::ms(40), now);
        assert_eq!(said(&mut s)[0], una, "it is sent again");
        assert_eq!(s.connection().window().cwnd < before.cwnd, cuts, "within {within}");
    }
}

#[test]
fn timeout_within_the_time_without_cuts_backs_nothing_off() {
    let mut cfg = reno();
    cfg.door.hold_rtts = 1000.0;
    let (mut s, mut now) = with_door(&cfg);
    let una = s.connection().una();
    echoing(&mut s, una, Span::ms(50), now);
    echoing(&mut s, una, Span::ms(60), now);
    let (Window { cwnd, .. }, rto) = (s.connection().window(), s.view().rto);
    said(&mut s);
    let segments = wait(&mut s, &mut now);
    assert_eq!((segments[0], s.timeouts()), (una, 1));
    assert_eq!((s.connection().window().cwnd, s.view().rto), (cwnd, rto));
}

#[test]
fn echoes_in_order_change_nothing_for_any_variant() {
    for (profile, (word, cfg)) in ["RFC", "N2"].into_iter().flat_map(|p| variants(p).map(move |v| (p, v))) {
        let mut with = with_door(&cfg);
        let mut cfg = cfg;
        cfg.door.enabled = false;
        let (mut without, mut now) = sent(&cfg, 30);
        without.write(Some(500), now);
        if said(&mut without).is_empty() {
            wait(&mut without, &mut now);
        }
        for (s, at) in [(&mut with.0, &mut with.1), (&mut without, &mut now)] {
            three_duplicates(s, at);
            let una = s.connection().una();
            echoing(s, una + 1, Span::ms(20), *at);
        }
        assert_eq!(with.0.connection().window(), without.connection().window(), "{word} of {profile}");
    }
}

#[test]
fn vegas_keeps_its_window_where_its_cut_is_undone() {
    for profile in ["RFC", "N2", "N2F"] {
        let (mut s, mut now) = with_door(&settings(profile, "\"vegas\""));
        let before = s.connection().window().cwnd;
        three_duplicates(&mut s, &mut now);
        now += Span::ms(1);
        let una = s.connection().una();
        echoing(&mut s, una, Span::ms(110), now);
        now += Span::ms(1);
        echoing(&mut s, una + 1, Span::ms(20), now);
        assert!(s.connection().window().cwnd >= before, "{profile}: {} {before}", s.connection().window().cwnd);
    }
}
