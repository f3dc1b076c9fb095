//! Senders of Linux with each congestion control: closed windows, marks, drops in the own node.

use super::super::{ack, said, sent, wait};
use super::{Load, Path, run, settings};
use chappe_core::packet::{AckSegment, DataSegment, Flag, Seq};
use chappe_core::tcp::config::recoveries::HyStartRule;
use chappe_core::tcp::{Config, InitialWindow, LocalDrop, Out, Sender};
use chappe_core::unit::{BitRate, Span, Time};

fn controls() -> impl Iterator<Item = (&'static str, Config)> {
    ["reno", "cubic", "bbr"].into_iter().map(|control| (control, settings(control)))
}

/// Headers without data, and segments.
fn probes_and_segments(s: &mut Sender) -> (usize, Vec<Seq>) {
    let out: Vec<DataSegment> =
        s.drain().filter_map(|o| if let Out::Segment(s) = o { Some(s) } else { None }).collect();
    (out.iter().filter(|s| s.is_probe()).count(), out.iter().filter(|s| !s.is_probe()).map(|s| s.seq).collect())
}

/// A sender with nothing outstanding and ten segments to send, whose receiver has closed its window.
fn shut_out(cfg: &Config) -> (Sender, Time) {
    let (mut s, mut now) = sent(cfg, 50);
    now += Span::ms(1);
    s.on_ack(&ack(s.connection().una(), 0, now), 3, now);
    s.write(Some(10), now);
    assert_eq!(said(&mut s), [0; 0]);
    (s, now)
}

/// Advances until the timer expires.
fn expire(s: &mut Sender, now: &mut Time) {
    let timer = s.connection().timer();
    while *now < timer {
        *now = s.deadline();
        s.on_deadline(*now);
    }
}

#[test]
fn closed_window_gets_header_probes_and_data_once_it_opens() {
    for (control, cfg) in controls() {
        let (mut s, mut now) = shut_out(&cfg);
        let una = s.connection().una();
        let mut gaps = vec![];
        for _ in 0..20 {
            let before = now;
            expire(&mut s, &mut now);
            assert_eq!(probes_and_segments(&mut s), (1, vec![]), "{control}");
            gaps.push(now.since(before));
            now += Span::ms(10);
            s.on_ack(&ack(una, 0, now), 3, now);
        }
        assert_eq!(s.gave_up(), None, "{control}: it was answered");
        assert!(gaps.windows(2).all(|g| g[1] >= g[0]) && gaps[5] > gaps[0] * 16, "{control}: {gaps:?}");
        // The window opens: all data go out, whatever was probed, and timeouts are as short as before.
        let opened = now;
        let mut next = una;
        let mut out = vec![];
        s.on_ack(&ack(una, 64, now), 3, now);
        while !s.is_done() {
            out.extend(said(&mut s));
            if out.is_empty() {
                out = wait(&mut s, &mut now);
            }
            for seq in std::mem::take(&mut out) {
                next += u32::from(seq == next);
            }
            now += Span::ms(10);
            s.on_ack(&ack(next, 64, now), 3, now);
        }
        assert!(now.since(opened) < Span::secs(1), "{control}: {} s", now.since(opened).as_secs());
    }
}

#[test]
fn a_receiver_without_room_that_does_not_answer_is_given_up() {
    for (control, cfg) in controls() {
        let (mut s, mut now) = shut_out(&cfg);
        let mut probes = 0;
        while s.gave_up().is_none() {
            expire(&mut s, &mut now);
            probes += probes_and_segments(&mut s).0;
        }
        assert_eq!(probes, 15, "{control}: R2 of RFC 9293");
    }
}

/// RFC 9937: a mark reduces the window in proportion to what is delivered, down to ssthresh after a round trip. BBR
/// takes no notice.
#[test]
fn a_mark_reduces_the_window_within_a_round_trip() {
    for (control, mut cfg) in controls() {
        cfg.ecn.enabled = true;
        cfg.initial_window = InitialWindow::Segments(20);
        let mut s = Sender::new(&cfg, Span::ZERO);
        let mut now = Time::ZERO;
        s.write(None, now);
        said(&mut s);
        now += Span::ms(100);
        s.on_ack(&AckSegment { ece: true, flag: Flag::Syn, ..ack(1, 2000, now) }, 3, now);
        let mut sent = said(&mut s).len();
        now += Span::ms(100);
        let mut windows = vec![];
        for next in 2..=21 {
            now += Span::ms(1);
            s.on_ack(&AckSegment { ece: true, ..ack(next, 2000, now) }, 3, now);
            windows.push(s.connection().window().cwnd as u32);
            sent += said(&mut s).len();
        }
        let last = *windows.last().expect("windows");
        match control {
            // Half of 20; 0.7 of 20. A segment for every second, and for every 1 / 0.7th one acknowledged.
            "reno" => assert_eq!((last, sent), (10, 30)),
            "cubic" => assert_eq!((last, sent), (14, 34)),
            _ => assert!(last >= 20, "{windows:?}"),
        }
        assert!(windows.windows(2).all(|w| control == "bbr" || w[1] + 1 >= w[0]), "{control}: {windows:?}");
        // Fewer segments of a paced sender are in a window.
        assert!(s.counters(now).ecn_cuts == 1 || control == "bbr", "{control}");
        assert_eq!(s.counters(now).retransmissions, 0, "{control}");
    }
}

/// A refused segment counts as not sent, and the window is reduced once.
#[test]
fn a_local_drop_reduces_the_window_and_delays_the_segment() {
    for (control, cfg) in controls() {
        let cfg = Config { local_drop: LocalDrop::Cwr, syn: false, ..cfg };
        let mut s = Sender::new(&cfg, Span::ZERO);
        let mut now = Time::ZERO;
        s.write(Some(30), now);
        let out: Vec<DataSegment> =
            s.drain().filter_map(|o| if let Out::Segment(s) = o { Some(s) } else { None }).collect();
        assert_eq!(out.len(), 10, "{control}");
        for segment in &out[8..] {
            s.on_local_drop(segment, now);
        }
        assert_eq!(s.connection().max(), 8, "{control}");
        let (mut next, mut seen) = (0, vec![]);
        let mut flight: Vec<Seq> = (0..8).collect();
        while !s.is_done() {
            now += Span::ms(20);
            for seq in std::mem::take(&mut flight) {
                next += u32::from(seq == next);
                s.on_ack(&ack(next, 2000, now), 3, now);
                flight.extend(said(&mut s));
            }
            if flight.is_empty() && !s.is_done() {
                flight = wait(&mut s, &mut now);
            }
            seen.extend(flight.iter().copied());
        }
        assert_eq!(seen, (8..30).collect::<Vec<_>>(), "{control}: each once, in order");
        assert_eq!(s.counters(now).retransmissions, 0, "{control}");
    }
}

/// RFC 9406 in whole transfers: at 40 ms and 10 Mbit/s the path holds 33 segments, the queue 230. Rounds of 10, 20 and
/// 40 segments leave the smallest round-trip time as it is. In that of 80 all segments wait: after eight of them the
/// window grows by a quarter per round, to 106 (88 + 72 / 4), 132, 165, 206, and slow start ends at 258. Without that
/// it goes on to 320.
#[test]
fn hystart_plus_plus_ends_slow_start_before_the_queue_overflows() {
    for control in ["reno", "cubic"] {
        let transfer = |rule| {
            let mut cfg = settings(control);
            cfg.rack_tlp.hystart = rule;
            let path =
                Path { rate: BitRate(10_000_000), delay: Span::ms(20), syn: Span::ZERO, queue: 230, lost_syns: [0; 2] };
            let start = Time::ZERO + Span::ms(41);
            let (rows, sender) = run(&cfg, &path, Load::Segments(1000), (Time::ZERO, start), &mut |_, _| false);
            (rows.iter().filter(|r| r.lost).count(), sender.connection().window().ssthresh)
        };
        assert!(transfer(HyStartRule::Off).0 > 0, "{control}");
        let found = transfer(HyStartRule::HyStartPlusPlus);
        assert_eq!(found, (0, 258.0), "{control}");
    }
}
