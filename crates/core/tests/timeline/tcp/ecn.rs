//! ECN at the two ends.

use chappe_core::packet::{AckSegment, DataSegment, Ecn, Flag, Seq};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::{Config, Out, Receiver, Sender};
use chappe_core::unit::{Span, Time};

/// The ECE flags of the acknowledgements of segments: number, CE, CWR.
fn echoed(cfg: &Config, arrivals: &[(Seq, bool, bool)]) -> Vec<(Seq, bool)> {
    let mut r = Receiver::new(cfg);
    let mut out = vec![];
    for (i, &(seq, ce, cwr)) in arrivals.iter().enumerate() {
        let now = Time::ZERO + Span::ms(i as u64);
        let syn = seq == 0;
        let segment =
            DataSegment { seq, sent: now, syn, ece: syn, cwr: cwr || syn, ect: !syn, ..DataSegment::default() };
        let ecn = if ce { Ecn::Ce } else { Ecn::Ect };
        r.on_segment(&segment, 1, if syn { Ecn::NotEct } else { ecn }, now, &mut out);
    }
    let ack = |o: &Out| if let Out::Ack(a) = o { Some((a.next, a.ece)) } else { None };
    out.iter().filter_map(ack).collect()
}

/// Settings with ECN and an acknowledgement of every segment.
fn with_ecn() -> Config {
    let mut cfg = without_ecn();
    cfg.ecn.enabled = true;
    cfg
}

fn without_ecn() -> Config {
    Config { ack_policy: Policy::Every, ..Config::default() }
}

/// The first segments of a sender whose SYN is answered with or without ECE.
fn first_segments(answer: bool) -> Vec<DataSegment> {
    let mut s = Sender::new(&with_ecn(), Span::ZERO);
    s.write(None, Time::ZERO);
    let ack = AckSegment { next: 1, hops: 1, window: 64, ece: answer, ..AckSegment::default() };
    let segments = |s: &mut Sender| -> Vec<DataSegment> {
        s.drain().map(|o| if let Out::Segment(s) = o { s } else { panic!("a sender sends segments") }).collect()
    };
    let mut all = segments(&mut s);
    s.on_ack(&ack, 1, Time::ZERO + Span::ms(100));
    all.extend(segments(&mut s));
    all
}

#[test]
fn c92_ecn_is_negotiated_on_the_syn() {
    for answer in [true, false] {
        let all = first_segments(answer);
        // RFC 3168, 6.1.1: ECE and CWR on the SYN, which is not ECN-capable itself.
        assert!(all[0].syn && all[0].ece && all[0].cwr && !all[0].ect);
        assert!(all.len() > 2 && all[1..].iter().all(|s| s.ect == answer && !s.ece && !s.cwr));
    }
    // ECE on the answer of a receiver that is able, nothing from one that is not, or that was not asked.
    assert_eq!(echoed(&with_ecn(), &[(0, false, false), (1, false, false)]), [(1, true), (2, false)]);
    assert_eq!(echoed(&without_ecn(), &[(0, false, false), (1, true, false)]), [(1, false), (2, false)]);
    let mut r = Receiver::new(&with_ecn());
    let mut out = vec![];
    r.on_segment(&DataSegment { syn: true, ..DataSegment::default() }, 1, Ecn::NotEct, Time::ZERO, &mut out);
    assert!(matches!(out[0], Out::Ack(a) if !a.ece && a.flag == Flag::Syn), "a SYN without the flags does not ask");
}

#[test]
fn a_syn_that_comes_again_cuts_no_window() {
    // The SYN-ACK was lost: its copy accepts ECN, too. A copy of the SYN that comes after data asks for nothing.
    let arrivals = [(0, false, false), (0, false, false), (1, false, false), (0, false, false), (2, true, false)];
    assert_eq!(echoed(&with_ecn(), &arrivals), [(1, true), (1, true), (2, false), (2, false), (3, true)]);
    // At the sender the second SYN-ACK echoes nothing, but an acknowledgement of the same segment does.
    for (syn, cuts) in [(true, 0), (false, 1)] {
        let mut s = Sender::new(&with_ecn(), Span::ZERO);
        s.write(None, Time::ZERO);
        let ack = AckSegment { next: 1, hops: 1, window: 64, flag: Flag::Syn, ece: true, ..AckSegment::default() };
        s.on_ack(&ack, 1, Time::ZERO + Span::ms(100));
        s.on_ack(&AckSegment { flag: if syn { Flag::Syn } else { Flag::No }, ..ack }, 1, Time::ZERO + Span::ms(110));
        assert_eq!(s.counters(Time::ZERO + Span::ms(110)).ecn_cuts, cuts);
    }
}

#[test]
fn c93_ece_is_sent_until_cwr_comes() {
    // CE on the first and third; the fourth has CWR, the fifth CWR and CE, the eighth CWR.
    let arrivals = [
        (0, false, false),
        (1, true, false),
        (2, false, false),
        (3, true, false),
        (4, false, true),
        (5, true, true),
        (6, false, false),
        (7, false, false),
        (8, false, true),
        (9, false, false),
    ];
    let flags: Vec<bool> = echoed(&with_ecn(), &arrivals)[1..].iter().map(|a| a.1).collect();
    assert_eq!(flags, [true, true, true, false, true, true, true, false, false]);
}

#[test]
fn an_acknowledgement_of_several_segments_echoes_the_mark_of_any() {
    // RFC 3168, 6.1.3, also when CWR has come since.
    let mut cfg = Config { ack_policy: Policy::Delayed, ..with_ecn() };
    let arrivals = [(0, false, false), (1, true, false), (2, false, true), (3, false, false), (4, false, false)];
    assert_eq!(echoed(&cfg, &arrivals), [(1, true), (3, true), (5, false)]);
    cfg.ack_policy = Policy::Thinning;
    let arrivals: Vec<_> = (0..16).map(|n| (n, n == 9, n == 10)).collect();
    assert_eq!(echoed(&cfg, &arrivals)[4..], [(8, false), (12, true), (16, false)]);
}

#[test]
fn a_mark_on_data_that_has_arrived_before_says_nothing() {
    let arrivals = [(0, false, false), (1, false, false), (1, true, false), (2, false, false)];
    let flags = |cfg: &Config| echoed(cfg, &arrivals)[1..].iter().map(|a| a.1).collect::<Vec<bool>>();
    assert_eq!(flags(&with_ecn()), [false, false, false]);
    let mut ns2 = with_ecn();
    ns2.ecn.ns2.ect_on_retransmissions = true;
    assert_eq!(flags(&ns2), [false, true, true]);
}

#[test]
fn the_first_timeout_after_a_cut_is_counted_apart() {
    // A mark, then silence: the window was cut for the mark, and the first timeout leaves ssthresh alone.
    for (ece, apart) in [(true, 1), (false, 0)] {
        let mut s = Sender::new(&with_ecn(), Span::ZERO);
        s.write(None, Time::ZERO);
        let ack = AckSegment { next: 1, hops: 1, window: 64, flag: Flag::Syn, ece: true, ..AckSegment::default() };
        s.on_ack(&ack, 1, Time::ZERO + Span::ms(100));
        s.on_ack(&AckSegment { next: 2, flag: Flag::No, ece, ..ack }, 1, Time::ZERO + Span::ms(200));
        for timeouts in 1..=3 {
            let now = s.deadline();
            s.on_deadline(now);
            let c = s.counters(now);
            assert_eq!((c.timeouts, c.timeouts_after_ecn_cut), (timeouts, apart), "{ece}");
        }
    }
}

#[test]
fn source_quench_cuts_once_for_a_window_and_its_ece_cuts_nothing() {
    let mut cfg = with_ecn();
    cfg.ecn.source_quench = true;
    let at = |ms| Time::ZERO + Span::ms(ms);
    let ack = |next, ece| AckSegment { next, hops: 1, window: 64, ece, echo: at(0), ..AckSegment::default() };
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(None, Time::ZERO);
    s.on_ack(&AckSegment { flag: Flag::Syn, ..ack(1, true) }, 1, at(100));
    for next in 2..=8 {
        s.on_ack(&ack(next, false), 1, at(200));
    }
    let (window, max) = (s.connection().window().cwnd, s.connection().max());
    s.on_source_quench(8, at(210));
    let cut = s.connection().window().cwnd;
    assert!(cut < window, "{cut} {window}");
    // Another segment of the same window, and the echo of the mark.
    s.on_source_quench(9, at(220));
    s.on_ack(&ack(9, true), 1, at(230));
    assert_eq!((s.counters(at(230)).ecn_cuts, s.connection().recover()), (1, max));
    // A segment that was sent after the cut.
    s.on_ack(&ack(max, false), 1, at(240));
    s.on_source_quench(max, at(250));
    assert_eq!(s.counters(at(250)).ecn_cuts, 2);
    // Unless it is set, nothing is told.
    let mut s = Sender::new(&with_ecn(), Span::ZERO);
    s.write(None, Time::ZERO);
    s.on_ack(&AckSegment { flag: Flag::Syn, ..ack(1, true) }, 1, at(100));
    s.on_source_quench(1, at(110));
    assert_eq!(s.counters(at(110)).ecn_cuts, 0);
}
