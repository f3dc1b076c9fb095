//! Explicit link failure notification: reaction of a sender to a broken route.

use super::{ack, said, sent, settings, variants, wait};
use chappe_core::packet::AckSegment;
use chappe_core::tcp::config::recoveries::Answer;
use chappe_core::tcp::sender::elfn::After;
use chappe_core::tcp::{Config, Sender};
use chappe_core::unit::{Span, Time};

/// A sender under ELFN with segments outstanding, after many that were acknowledged.
fn with_elfn(cfg: &Config) -> (Sender, Time) {
    let mut cfg = cfg.clone();
    cfg.elfn.enabled = true;
    let (mut s, mut now) = sent(&cfg, 30);
    s.write(Some(500), now);
    if said(&mut s).is_empty() {
        wait(&mut s, &mut now);
    }
    assert!(s.connection().outstanding() > 0);
    (s, now)
}

#[test]
fn standby_probes_every_two_seconds_and_keeps_window_and_rto() {
    for (profile, (word, cfg)) in ["RFC", "N2"].into_iter().flat_map(|p| variants(p).map(move |v| (p, v))) {
        let (mut s, mut now) = with_elfn(&cfg);
        let (window, rto, una) = (s.connection().window(), s.view().rto, s.connection().una());
        let before = *s.counters(now);
        now += Span::ms(20);
        s.on_route_lost(now);
        let broken = now;
        for k in 1..=20 {
            assert_eq!(wait(&mut s, &mut now), [una], "{word} of {profile}");
            assert_eq!(now.since(broken), Span::secs(2 * k), "{word} of {profile}");
            // Another broken route on the way tells nothing new, and what is written waits.
            s.on_route_lost(now);
            s.write(Some(1), now);
            assert_eq!(said(&mut s), [0; 0], "{word} of {profile}");
        }
        let counters = *s.counters(now);
        assert_eq!((counters.probes_sent, counters.timeouts), (20, before.timeouts), "{word} of {profile}");
        assert_eq!((s.connection().window(), s.view().rto), (window, rto), "{word} of {profile}");
        // The first acknowledgement ends it: the timer runs as before.
        s.on_ack(&ack(una + 1, cfg.receive_window, now), 3, now);
        assert!(s.connection().window().cwnd >= window.cwnd, "{word} of {profile}");
        if s.connection().outstanding() > 0 {
            let timer = s.connection().timer().since(now);
            assert!(timer <= s.view().rto && timer > Span::ZERO, "{word} of {profile}: {timer:?}");
        }
    }
}

#[test]
fn the_window_and_the_timeout_may_be_those_of_a_new_connection() {
    let after = |window, rto| {
        let mut cfg = settings("RFC", "\"newreno\"");
        (cfg.elfn.cwnd, cfg.elfn.rto, cfg.rto.min, cfg.rto.initial) = (window, rto, Span::ms(200), Span::secs(6));
        let (mut s, mut now) = with_elfn(&cfg);
        let una = s.connection().una();
        s.on_route_lost(now);
        wait(&mut s, &mut now);
        // A duplicate: it lets nothing grow.
        s.on_ack(&ack(una, cfg.receive_window, now), 3, now);
        (s.connection().window().cwnd, s.connection().timer().since(now).as_secs())
    };
    let (kept, timer) = after(After::Kept, After::Kept);
    assert!(kept > 2.0 && timer < 1.0, "{kept} {timer}");
    assert_eq!(after(After::Reset, After::Kept), (1.0, timer));
    assert_eq!(after(After::Kept, After::Reset), (kept, 6.0));
}

#[test]
fn an_acknowledgement_that_was_under_way_may_be_no_answer() {
    for (answer, ends) in [(Answer::Any, true), (Answer::Probe, false)] {
        let mut cfg = settings("RFC", "\"newreno\"");
        cfg.elfn.answer = answer;
        let (mut s, mut now) = with_elfn(&cfg);
        let una = s.connection().una();
        assert!(s.connection().outstanding() > 4);
        let broken = now;
        s.on_route_lost(now);
        now += Span::ms(10);
        // It echoes what was sent 100 ms ago.
        s.on_ack(&ack(una + 1, cfg.receive_window, now), 3, now);
        assert_eq!((s.connection().una(), said(&mut s).is_empty()), (una + 1, !ends), "{answer:?}");
        if !ends {
            assert_eq!(wait(&mut s, &mut now), [una + 1]);
            assert_eq!(now.since(broken), Span::secs(2));
            let sent = now;
            now += Span::ms(10);
            s.on_ack(&AckSegment { echo: sent, ..ack(una + 2, cfg.receive_window, now) }, 3, now);
            assert!(!said(&mut s).is_empty());
        }
    }
}

#[test]
fn sender_without_outstanding_data_or_elfn_does_not_stand_by() {
    let cfg = settings("RFC", "\"newreno\"");
    let (mut s, now) = sent(&cfg, 30);
    s.write(Some(5), now);
    let timer = s.deadline();
    s.on_route_lost(now + Span::ms(1));
    assert_eq!(s.deadline(), timer, "`tcp.elfn.enabled` is false");
    let mut cfg = cfg;
    cfg.elfn.enabled = true;
    let (mut s, now) = sent(&cfg, 30);
    s.on_route_lost(now + Span::ms(1));
    assert_eq!(s.deadline(), Time::NEVER, "nothing is outstanding");
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(None, Time::ZERO);
    let timer = s.deadline();
    s.on_route_lost(Time::ZERO + Span::ms(1));
    assert_eq!(s.deadline(), timer, "the SYN is sent again as ever");
}
