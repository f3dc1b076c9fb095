//! Behavior of every variant in the registry: lost SYNs, ends of files, closed windows.

use super::{ack, said, sent, variants, wait};
use chappe_core::tcp::config::variants::Method;
use chappe_core::tcp::{Config, InitialWindow, Sender};
use chappe_core::unit::{Span, Time};

/// Returns true if duplicates are counted by their SACK blocks.
fn recovers_with_sack(cfg: &Config) -> bool {
    cfg.variant.parts().0 == Method::Sack
}

#[test]
fn a_lost_syn_is_repeated_and_data_wait_three_seconds_or_longer() {
    // Times [s] by the number of SYNs lost. RFC 6298: 2.1 and 5.5 for the SYN, 5.7 for the data; ns-2 begins with 3 s, and the
    // backing-off ends with a measurement only.
    let rfc = ([0.0, 1.0, 3.0, 7.0, 15.0], [1.0, 3.0, 4.0, 8.0, 16.0]);
    let ns2 = ([0.0, 3.0, 9.0, 21.0, 45.0], [0.3, 6.0, 12.0, 24.0, 48.0]);
    for (profile, (syns, data)) in [("RFC", rfc), ("N2", ns2)] {
        for ((word, mut cfg), lost) in variants(profile).flat_map(|v| (0..5).map(move |lost| (v.clone(), lost))) {
            // As in the agent of its authors TCP-AP does not back off, unless it is told to.
            cfg.ap.rto_backoff = true;
            if !cfg.starts_with_syn() {
                continue;
            }
            let mut s = Sender::new(&cfg, Span::ZERO);
            let mut now = Time::ZERO;
            s.write(None, now);
            let mut sent = vec![];
            let mut out = said(&mut s);
            if out.is_empty() {
                out = wait(&mut s, &mut now);
            }
            for _ in 0..lost {
                assert_eq!(out, [0], "{word}");
                sent.push(now.as_secs());
                out = wait(&mut s, &mut now);
            }
            sent.push(now.as_secs());
            assert_eq!(sent, syns[..=lost], "{word} of {profile}");
            now += Span::ms(100);
            s.on_ack(&ack(1, cfg.receive_window, now), 3, now);
            let mut out = said(&mut s);
            if out.is_empty() {
                out = wait(&mut s, &mut now);
            }
            assert_eq!(out[0], 1, "{word}");
            let timeout = s.connection().timer().since(now).as_secs();
            assert_eq!(timeout, data[lost], "{word} of {profile} with {lost} lost");
        }
    }
}

#[test]
fn no_acknowledgement_after_the_last_one_is_a_duplicate() {
    for (word, cfg) in variants("RFC") {
        let (mut s, mut now) = sent(&cfg, 50);
        let (before, last) = (s.connection().window(), s.connection().una());
        for _ in 0..7 {
            now += Span::ms(1);
            s.on_ack(&ack(last, cfg.receive_window, now), 3, now);
            assert_eq!(said(&mut s), [0; 0], "{word}");
        }
        assert_eq!(
            (s.connection().dup_acks(), s.connection().window(), s.deadline()),
            (0, before, Time::NEVER),
            "{word}"
        );
        // And those that follow more data are counted from the first one.
        s.write(Some(20), now);
        let out = said(&mut s);
        assert_eq!(if out.is_empty() { wait(&mut s, &mut now) } else { out }[0], last, "{word}");
        s.on_ack(&ack(last, cfg.receive_window, now), 3, now);
        let sack = recovers_with_sack(&cfg);
        assert_eq!(s.connection().dup_acks(), u32::from(!sack), "{word}: without SACK blocks RFC 6675 counts none");
    }
}

#[test]
fn three_acks_after_the_last_make_ns2_send_a_segment_too_many() {
    // `output (last_ack_ + 1)` of tcp.cc does not look at `curseq_`. sack1 counts what brings news, and Vegas is C78.
    for (word, cfg) in variants("N2").filter(|v| v.0 != "vegas" && !recovers_with_sack(&v.1)) {
        let (mut s, now) = sent(&cfg, 50);
        let last = s.connection().una();
        let mut all = vec![];
        for _ in 0..3 {
            s.on_ack(&ack(last, cfg.receive_window, now), 3, now);
            all.extend(said(&mut s));
        }
        // Tahoe goes back to send what there is.
        assert_eq!(all, if word == "tahoe" { vec![] } else { vec![last] }, "{word}");
    }
}

#[test]
fn an_acknowledgement_that_changes_the_window_is_no_duplicate() {
    // RFC 5681, 2 (e). Each releases what the new window allows.
    for (word, cfg) in variants("RFC").filter(|v| v.0 != "tcp_ap" && !recovers_with_sack(&v.1)) {
        let mut s = Sender::new(&Config { syn: false, initial_window: InitialWindow::Segments(9), ..cfg }, Span::ZERO);
        s.write(None, Time::ZERO);
        said(&mut s);
        let now = Time::ZERO + Span::ms(100);
        for (window, dup_acks) in [(64, 1), (63, 1), (63, 2), (2, 2), (64, 2)] {
            s.on_ack(&ack(0, window, now), 3, now);
            assert_eq!(s.connection().dup_acks(), dup_acks, "{word} at a window of {window}");
        }
        s.on_ack(&ack(0, 64, now), 3, now);
        assert_eq!(s.connection().counters().fast_retransmits, 1, "{word}");
    }
}

#[test]
fn zero_window_is_probed_and_the_connection_lives() {
    for (profile, (word, cfg)) in ["RFC", "N2"].into_iter().flat_map(|p| variants(p).map(move |v| (p, v))) {
        let cfg = Config { receive_window: 20, initial_window: InitialWindow::Segments(8), ..cfg };
        let (mut s, mut now) = sent(&cfg, 10);
        s.write(Some(30), now);
        while s.connection().max() - s.connection().una() < 2 {
            wait(&mut s, &mut now);
        }
        said(&mut s);
        let (una, max) = (s.connection().una(), s.connection().max());
        s.on_ack(&ack(una, 0, now), 3, now);
        // 40 timeouts, each with an answer that there is still no room: RFC 9293, MUST-35 and MUST-37. Nothing else goes
        // out, however long it takes.
        for _ in 0..40 {
            assert_eq!(wait(&mut s, &mut now), [una], "{word} of {profile}");
            now += Span::ms(10);
            s.on_ack(&ack(una, 0, now), 3, now);
            assert_eq!((said(&mut s), s.connection().max()), (vec![], max), "{word} of {profile}");
        }
        assert_eq!(s.gave_up(), None, "{word} of {profile}");
        // There is room again: what found none is sent again, and then the rest.
        now += Span::ms(10);
        s.on_ack(&ack(una, 20, now), 3, now);
        let mut next = una;
        let mut released = said(&mut s);
        assert!(
            released.first() == Some(&una) || s.connection().paced_at() != Time::NEVER,
            "{word} of {profile}: {released:?}"
        );
        for _ in 0..200 {
            let mut out = std::mem::take(&mut released);
            out.extend(said(&mut s));
            if out.is_empty() && !s.is_done() {
                out = wait(&mut s, &mut now);
            }
            for seq in out {
                next += u32::from(seq == next);
                now += Span::ms(10);
                s.on_ack(&ack(next, 20, now), 3, now);
            }
        }
        assert!(s.is_done(), "{word} of {profile}: {next} of {:?}", s.connection().available());
    }
}

#[test]
fn a_receiver_without_room_that_no_longer_answers_is_given_up() {
    for (word, cfg) in variants("RFC") {
        let cfg = Config { receive_window: 20, initial_window: InitialWindow::Segments(8), ..cfg };
        let (mut s, mut now) = sent(&cfg, 10);
        s.write(Some(30), now);
        while s.connection().max() - s.connection().una() < 2 {
            wait(&mut s, &mut now);
        }
        said(&mut s);
        s.on_ack(&ack(s.connection().una(), 0, now), 3, now);
        let probes = std::iter::from_fn(|| Some(wait(&mut s, &mut now))).take_while(|out| !out.is_empty()).count();
        assert_eq!(probes, 15, "{word}: R2 of RFC 9293");
    }
}
