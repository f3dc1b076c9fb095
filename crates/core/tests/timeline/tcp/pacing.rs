//! Pacing is an output of the window rule, for any variant and loss recovery.

use super::{ack, said, variants};
use chappe_core::packet::Seq;
use chappe_core::tcp::cc::CongestionControl;
use chappe_core::tcp::cc::Rule;
use chappe_core::tcp::recovery::Recovery;
use chappe_core::tcp::{Config, InitialWindow, Sender};
use chappe_core::unit::{Span, Time};

/// TCP-AP's window rule under the loss recovery of each variant, with a window of eight segments at once.
fn paced(profile: &'static str) -> impl Iterator<Item = (&'static str, Sender)> {
    variants(profile).map(|(word, cfg)| {
        let cfg = Config { syn: false, receive_window: 20, initial_window: InitialWindow::Segments(8), ..cfg };
        let recovery = Recovery::new(cfg.variant.parts().0, &cfg);
        let rule = CongestionControl::new(Rule::AdaptivePacing, &cfg);
        (word, Sender::of_parts(&cfg, recovery, rule, Span::ZERO))
    })
}

/// Times of the next segments without acknowledgements \[ms\].
fn times(s: &mut Sender, segments: usize) -> Vec<(u64, Seq)> {
    let mut all = vec![];
    while all.len() < segments {
        let now = s.deadline();
        s.on_deadline(now);
        all.extend(said(s).into_iter().map(|seq| (now.0 / 1_000_000, seq)));
    }
    all
}

#[test]
fn every_loss_recovery_paces_a_rule_with_a_pace() {
    for profile in ["RFC", "N2"] {
        for (word, mut s) in paced(profile) {
            s.write(None, Time::ZERO + Span::ms(1));
            assert!(said(&mut s).is_empty(), "{word} of {profile}");
            // `tcp.ap.initial_interval` is 50 ms.
            let expected = [(1, 0), (51, 1), (101, 2), (151, 3)];
            assert_eq!(times(&mut s, 4), expected, "{word} of {profile}");
            // An acknowledgement releases nothing at once.
            let now = Time::ZERO + Span::ms(160);
            s.on_ack(&ack(1, 20, now), 3, now);
            assert!(said(&mut s).is_empty(), "{word} of {profile}");
            assert_eq!(times(&mut s, 1), [(201, 4)], "{word} of {profile}: it was waiting");
            // The pace is now what was measured. The segment and its acknowledgement were under way for 100 ms over three
            // hops, 33.333 ms each, of which 1000 B and twice 112 B at 2 Mbit/s are 4.896 ms on the air. Half of the rest is
            // waiting, and 1112 B take 4.448 ms: (33.333 - 4.896) / 2 + 4.448 = 18.667 ms. One sample does not vary.
            assert_eq!(times(&mut s, 2), [(219, 5), (238, 6)], "{word} of {profile}");
        }
    }
}

#[test]
fn the_window_is_observed_from_the_first_segment_on() {
    for (word, mut s) in paced("RFC") {
        s.write(None, Time::ZERO + Span::ms(1));
        assert_eq!(times(&mut s, 1), [(1, 0)], "{word}");
        // Nobody has looked in between, and nothing else has happened.
        s.counters(Time::ZERO + Span::ms(31));
        assert_eq!(s.connection().sums().window_ns, Span::ms(30).0, "{word}");
        assert_eq!(s.connection().window_integral(), 8.0 * 30e6, "{word}");
    }
}

#[test]
fn limited_transmit_does_not_break_the_pace() {
    for (word, mut s) in paced("RFC") {
        s.write(None, Time::ZERO + Span::ms(1));
        times(&mut s, 4);
        let now = Time::ZERO + Span::ms(160);
        for _ in 0..2 {
            s.on_ack(&ack(0, 20, now), 3, now);
            assert!(said(&mut s).is_empty(), "{word}");
        }
    }
}

#[test]
fn a_sender_whose_rule_answers_without_a_pace_sends_at_once() {
    for (word, cfg) in variants("RFC") {
        let cc = CongestionControl::new(cfg.variant.parts().1, &cfg);
        let mut s = Sender::new(&Config { syn: false, ..cfg }, Span::ZERO);
        s.write(None, Time::ZERO);
        assert_eq!(said(&mut s).is_empty(), cc.pace().is_some(), "{word}");
    }
}

#[test]
fn timeout_before_the_retransmission_has_left_does_not_give_up() {
    // The pace is slower than the timeout, which is not backed off. Probes have none.
    for (word, mut cfg) in variants("RFC").filter(|v| v.0 != "e_newreno") {
        cfg.syn = false;
        cfg.rto.initial = Span::ms(350);
        cfg.rto.min = Span::ms(350);
        cfg.max_timeouts = Some(3);
        cfg.ap.initial_interval = Span::secs(1);
        let recovery = Recovery::new(cfg.variant.parts().0, &cfg);
        let rule = CongestionControl::new(Rule::AdaptivePacing, &cfg);
        let mut s = Sender::of_parts(&cfg, recovery, rule, Span::ZERO);
        s.write(Some(1), Time::ZERO + Span::ms(1));
        assert_eq!(times(&mut s, 4), [(1, 0), (1001, 0), (2001, 0), (3001, 0)], "{word}");
        while s.gave_up().is_none() {
            s.on_deadline(s.deadline());
        }
        assert!(said(&mut s).is_empty(), "{word}");
        // The fourth timeout after something was sent.
        assert_eq!(s.gave_up(), Some(Time::ZERO + Span::ms(3151)), "{word}");
    }
}
