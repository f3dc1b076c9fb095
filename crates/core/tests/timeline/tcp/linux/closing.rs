//! Ends of a connection with the preset `linux`: the FIN of the source, and that of the receiver.

use super::super::{ack, said};
use super::settings;
use chappe_core::packet::{AckSegment, Control, DataSegment, Ecn, Fin, Flag, Seq};
use chappe_core::tcp::{Config, Out, Receiver, Sender};
use chappe_core::unit::{Span, Time};

fn ms(ms: f64) -> Time {
    Time::ZERO + Span::from_secs(ms / 1e3)
}

/// Settings with `tcp.fin`, and this wait of the receiver.
fn closing_settings(close_wait: Option<Span>) -> Config {
    Config { fin: true, close_wait, ..settings("cubic") }
}

/// A sender with `tcp.fin` that has sent three segments and a FIN.
fn closing() -> Sender {
    let mut s = Sender::new(&closing_settings(None), Span::ZERO);
    s.write(Some(3), ms(0.0));
    s.finish(ms(0.0));
    assert_eq!(said(&mut s), [0]);
    s.on_ack(&ack(1, 2172, ms(100.0)), 1, ms(100.0));
    let sent: Vec<_> =
        s.drain().map(|o| if let Out::Segment(s) = o { (s.seq, s.fin) } else { panic!("{o:?}") }).collect();
    // As the kernel does with data that the window allows at once.
    assert_eq!(sent, [(1, Fin::No), (2, Fin::No), (3, Fin::No), (4, Fin::Bare)]);
    s
}

#[test]
fn a_lost_fin_is_sent_again_until_it_is_acknowledged() {
    let mut s = closing();
    s.on_ack(&ack(4, 2172, ms(200.0)), 1, ms(200.0));
    assert_eq!((s.acknowledged(), s.is_done(), s.closed()), (3, false, None));
    let mut now = ms(200.0);
    for _ in 0..3 {
        now = s.deadline();
        s.on_deadline(now);
        let sent: Vec<_> = s.drain().collect();
        let [Out::Segment(fin)] = sent[..] else { panic!("{sent:?}") };
        assert_eq!((fin.seq, fin.fin, fin.retransmission), (4, Fin::Bare, true));
    }
    now += Span::ms(100);
    s.on_ack(&ack(5, 2172, now), 1, now);
    assert_eq!((s.acknowledged(), s.is_done(), s.closed()), (3, true, Some(now)));
    s.write(Some(7), now);
    assert!(said(&mut s).is_empty() && s.written() == Some(3), "a closed connection takes no more data");
}

#[test]
fn a_receiver_acknowledges_a_fin_at_once_and_counts_no_packet() {
    let (mut r, mut out) = (Receiver::new(&closing_settings(None)), vec![]);
    let segment = |seq, fin| DataSegment { seq, syn: seq == 0, fin, ..DataSegment::default() };
    for (seq, fin) in [(0, Fin::No), (2, Fin::Bare), (1, Fin::No)] {
        r.on_segment(&segment(seq, fin), 1, Ecn::NotEct, ms(0.0), &mut out);
    }
    let acks: Vec<_> = out.iter().filter_map(|o| if let Out::Ack(a) = o { Some(a.next) } else { None }).collect();
    assert_eq!(acks, [1, 1, 3]);
    assert_eq!((r.counters().packets_delivered, r.has_ended()), (1, true));
}

#[test]
fn a_fin_is_placed_anew_where_a_stop_withdraws_its_data() {
    let mut s = Sender::new(&closing_settings(None), Span::ZERO);
    s.write(Some(30), ms(0.0));
    assert_eq!(said(&mut s), [0]);
    s.on_ack(&ack(1, 2172, ms(100.0)), 1, ms(100.0));
    assert_eq!(said(&mut s).len(), 10);
    // With the thirtieth segment, which the stop withdraws.
    assert!(s.finish(ms(110.0)));
    s.close(ms(120.0));
    assert!(s.finish(ms(120.0)));
    let sent: Vec<_> =
        s.drain().map(|o| if let Out::Segment(s) = o { (s.seq, s.fin) } else { panic!("{o:?}") }).collect();
    assert!(sent.is_empty(), "the window of ten is full: {sent:?}");
    s.on_ack(&ack(11, 2172, ms(200.0)), 1, ms(200.0));
    let sent: Vec<_> =
        s.drain().map(|o| if let Out::Segment(s) = o { (s.seq, s.fin) } else { panic!("{o:?}") }).collect();
    assert_eq!(sent, [(11, Fin::Bare)]);
    s.on_ack(&ack(12, 2172, ms(300.0)), 1, ms(300.0));
    assert_eq!((s.written(), s.closed()), (Some(10), Some(ms(300.0))));
}

/// Acknowledgements of a receiver: the number expected, and the flag.
fn acks(out: &mut Vec<Out>) -> Vec<(Seq, Flag)> {
    out.drain(..).filter_map(|o| if let Out::Ack(a) = o { Some((a.next, a.flag)) } else { None }).collect()
}

#[test]
fn a_receivers_fin_is_repeated_until_acknowledged_or_given_up() {
    for answered in [true, false] {
        let cfg = Config { max_timeouts: Some(5), ..closing_settings(Some(Span::ZERO)) };
        let (mut r, mut out) = (Receiver::new(&cfg), vec![]);
        for (seq, fin, at) in [(0, Fin::No, 0.0), (1, Fin::No, 40.0), (2, Fin::Bare, 41.0)] {
            let segment = DataSegment { seq, syn: seq == 0, fin, ..DataSegment::default() };
            r.on_segment(&segment, 1, Ecn::NotEct, ms(at), &mut out);
        }
        // The FIN of the source waits for the timer of acknowledgements, and the application closes its end first.
        assert_eq!(acks(&mut out), [(1, Flag::Syn), (2, Flag::No), (3, Flag::Fin)]);
        // As the kernel's (`fin-reno-5-0-4`): a tail loss probe, a timeout, and then twice the time each.
        let (mut last, mut gaps) = (ms(41.0), vec![]);
        while gaps.len() < if answered { 3 } else { 5 } {
            let at = r.deadline();
            r.on_deadline(at, &mut out);
            assert_eq!(acks(&mut out), [(3, Flag::Fin)]);
            gaps.push(at.since(last).as_secs());
            last = at;
        }
        let expected = [0.24, 0.24, 0.48, 0.96, 1.92];
        assert!(gaps.iter().zip(expected).all(|(gap, least)| (least..1.13 * least).contains(gap)), "{gaps:?}");
        assert!(r.is_closing());
        if answered {
            // The source has received a FIN. An old segment of it may arrive later.
            let answer = DataSegment { seq: 2, control: Some(Control::FinAck), ..DataSegment::default() };
            r.on_segment(&answer, 1, Ecn::NotEct, last, &mut out);
            assert!(out.is_empty());
            let old = DataSegment { seq: 2, fin: Fin::Bare, retransmission: true, ..DataSegment::default() };
            r.on_segment(&old, 1, Ecn::NotEct, last, &mut out);
            assert_eq!(acks(&mut out), [(3, Flag::No)]);
        } else {
            r.on_deadline(r.deadline(), &mut out);
            assert!(out.is_empty());
        }
        assert_eq!((r.is_closing(), r.deadline()), (false, Time::NEVER));
    }
}

#[test]
fn a_fin_is_probed_for_before_the_timeout_of_a_long_path() {
    let (mut r, mut out) = (Receiver::new(&closing_settings(Some(Span::ZERO))), vec![]);
    for (seq, fin, at) in [(0, Fin::No, 0.0), (1, Fin::WithData, 900.0)] {
        let segment = DataSegment { seq, syn: seq == 0, fin, ..DataSegment::default() };
        r.on_segment(&segment, 1, Ecn::NotEct, ms(at), &mut out);
    }
    // Two round-trip times of 0.9 s and the smallest timeout of 0.2 s; a timeout takes three round-trip times.
    let waited = r.deadline().since(ms(900.0)).as_secs();
    assert!((2.0..2.3).contains(&waited), "{waited} s");
}

#[test]
fn a_segment_that_ended_a_write_is_pushed_again() {
    let mut s = Sender::new(&closing_settings(None), Span::ZERO);
    s.write(Some(1), ms(0.0));
    s.finish(ms(0.0));
    s.on_ack(&ack(1, 2172, ms(100.0)), 1, ms(100.0));
    let pushed = |s: &mut Sender| {
        let of = |o| if let Out::Segment(s) = o { (s.seq, s.push) } else { panic!("{o:?}") };
        s.drain().map(of).collect::<Vec<_>>()
    };
    assert_eq!(pushed(&mut s), [(0, false), (1, true), (2, false)]);
    // The FIN, which follows, is not acknowledged either; the first segment comes again with its flag.
    let mut again = vec![];
    while again.iter().all(|sent: &(Seq, bool)| sent.0 != 1) {
        let at = s.deadline();
        s.on_deadline(at);
        again.extend(pushed(&mut s));
    }
    assert_eq!(again.last(), Some(&(1, true)));
}

#[test]
fn each_fin_of_the_receiver_is_acknowledged() {
    let mut s = Sender::new(&closing_settings(Some(Span::ms(300))), Span::ZERO);
    s.write(Some(1), ms(0.0));
    s.finish(ms(0.0));
    s.on_ack(&ack(1, 2172, ms(100.0)), 1, ms(100.0));
    s.on_ack(&ack(3, 2172, ms(200.0)), 1, ms(200.0));
    s.drain();
    assert_eq!((s.is_done(), s.closed()), (true, None), "the other end is open");
    // The acknowledgement may be lost, and the FIN comes again.
    for at in [500.0, 750.0, 1000.0] {
        s.on_ack(&AckSegment { flag: Flag::Fin, ..ack(3, 2172, ms(at)) }, 1, ms(at));
        let sent: Vec<_> = s.drain().collect();
        let [Out::Segment(answer)] = sent[..] else { panic!("{sent:?}") };
        assert!(answer.is_fin_ack() && answer.has_no_payload());
    }
    assert_eq!((s.closed(), s.deadline()), (Some(ms(500.0)), Time::NEVER));
}
