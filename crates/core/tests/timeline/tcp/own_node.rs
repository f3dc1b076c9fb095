//! Reaction of a sender to the queue of its own node, and the first acknowledgements of Linux' receiver.

use super::{ack, said, settings};
use chappe_core::packet::{DataSegment, Ecn, FlowId, SackBlocks, Seq};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::{Config, InitialWindow, LocalDrop, Out, Phase, Receiver, Sender, SmallQueue};
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

/// A sender with a window of eight segments, of which it has sent 0 to 7.
fn sender(cfg: Config) -> (Sender, Vec<DataSegment>) {
    let cfg = Config { syn: false, receive_window: 64, initial_window: InitialWindow::Segments(8), ..cfg };
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(None, ms(0));
    let sent: Vec<_> = s.drain().map(|o| if let Out::Segment(s) = o { s } else { panic!("a segment") }).collect();
    assert_eq!(sent.len(), 8);
    (s, sent)
}

/// Windows and sequence numbers: cwnd, ssthresh, SND.UNA, one past the highest segment sent.
fn state(s: &Sender) -> (f64, f64, Seq, Seq) {
    let (c, w) = (s.connection(), s.connection().window());
    (w.cwnd, w.ssthresh, c.una(), c.max())
}

fn cwr() -> Config {
    Config { local_drop: LocalDrop::Cwr, ..settings("L26", "\"sack\"") }
}

#[test]
fn a_local_drop_halves_the_window_once_and_withdraws_segments() {
    let (mut s, sent) = sender(cwr());
    for segment in &sent[5..] {
        s.on_local_drop(segment, ms(1));
        assert!(said(&mut s).is_empty(), "nothing is sent for it");
    }
    // event           cwnd ssthresh una max
    assert_eq!(state(&s), (4.0, 4.0, 0, 5));
    assert_eq!(s.phase(), Phase::CongestionAvoidance, "no recovery");
    // The window is closed until two of five are acknowledged, and then what was taken back is sent for the first time.
    let mut new = vec![];
    for next in 1..=4 {
        s.on_ack(&ack(next, 64, ms(100)), 1, ms(100));
        new.extend(s.drain().map(|o| match o {
            Out::Segment(s) => (next, s.seq, s.retransmission),
            other => panic!("{other:?}"),
        }));
    }
    assert_eq!(new, [(2, 5, false), (3, 6, false), (4, 7, false)]);
    let counters = s.counters(ms(100));
    assert_eq!((counters.retransmissions, counters.timeouts, counters.fast_retransmits), (0, 0, 0));
}

#[test]
fn a_drop_in_the_next_window_halves_it_again() {
    let (mut s, sent) = sender(cwr());
    s.on_local_drop(&sent[7], ms(1));
    assert_eq!(state(&s), (4.0, 4.0, 0, 7));
    // 7 is dropped once more, in the same window: until something beyond it is acknowledged nothing more is cut.
    s.on_ack(&ack(4, 64, ms(100)), 1, ms(100));
    assert_eq!(said(&mut s), [7]);
    let before = state(&s).0;
    s.on_local_drop(&sent[7], ms(101));
    assert_eq!(state(&s), (before, 4.0, 4, 7));
    s.on_ack(&ack(8, 64, ms(110)), 1, ms(110));
    assert_eq!(state(&s).2, 4, "it was never sent, so nobody can acknowledge it");
    s.on_ack(&ack(7, 64, ms(200)), 1, ms(200));
    assert_eq!(said(&mut s), [7, 8, 9, 10, 11]);
    s.on_ack(&ack(9, 64, ms(300)), 1, ms(300));
    let before = state(&s).0;
    let last = DataSegment { seq: *said(&mut s).last().expect("new segments"), ..DataSegment::default() };
    s.on_local_drop(&last, ms(300));
    assert_eq!((before.floor(), state(&s).0), (5.0, 2.0), "half of five whole segments");
}

#[test]
fn a_loss_after_a_drop_in_the_same_window_causes_no_second_cut() {
    let (mut s, sent) = sender(cwr());
    s.on_local_drop(&sent[7], ms(1));
    for right in 2..=4 {
        let mut sack = SackBlocks::default();
        sack.push(1, right);
        s.on_ack(&chappe_core::packet::AckSegment { sack, ..ack(0, 64, ms(100)) }, 1, ms(100));
    }
    assert_eq!((state(&s).0, state(&s).1), (4.0, 4.0));
    assert_eq!(said(&mut s)[0], 0);
    assert_eq!(s.counters(ms(100)).fast_retransmits, 1);
}

#[test]
fn the_timer_resends_withdrawn_segments_without_a_cut() {
    let (mut s, sent) = sender(cwr());
    sent.iter().for_each(|segment| s.on_local_drop(segment, ms(1)));
    assert_eq!(state(&s), (4.0, 4.0, 0, 0));
    let at = s.deadline();
    assert_eq!(at, ms(1000), "the initial timeout");
    s.on_deadline(at);
    assert_eq!(said(&mut s), [0, 1, 2, 3]);
    assert_eq!((s.timeouts(), s.retransmissions(), state(&s).0), (0, 0, 4.0));
}

#[test]
fn a_drop_that_is_a_loss_changes_nothing() {
    let (mut s, sent) = sender(Config { local_drop: LocalDrop::Lost, ..cwr() });
    s.on_local_drop(&sent[7], ms(1));
    assert_eq!(state(&s), (8.0, 1e6, 0, 8));
}

#[test]
fn a_small_queue_holds_the_sender_back_until_a_packet_leaves() {
    let cfg = Config {
        syn: false,
        initial_window: InitialWindow::Segments(8),
        small_queue: Some(SmallQueue::Packets(2)),
        ..settings("L26", "\"sack\"")
    };
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(Some(6), ms(0));
    assert_eq!((said(&mut s), s.connection().queued()), (vec![0, 1], 2));
    // One leaves: the deadline is now, and one is sent.
    s.on_left(0, false, ms(1));
    assert_eq!(s.deadline(), ms(1));
    s.on_deadline(ms(1));
    assert_eq!((said(&mut s), s.connection().queued()), (vec![2], 2));
    // Two leave at once.
    s.on_left(1, false, ms(2));
    s.on_left(2, false, ms(2));
    s.on_deadline(ms(2));
    assert_eq!((said(&mut s), s.connection().queued()), (vec![3, 4], 2));
    // An acknowledgement opens the window, not the queue.
    s.on_ack(&ack(2, 64, ms(100)), 1, ms(100));
    assert_eq!((said(&mut s), s.connection().queued()), (vec![], 2));
    // One that the full queue has dropped makes room, but nothing is sent for it at once.
    s.on_left(3, true, ms(110));
    assert_ne!(s.deadline(), ms(110));
    s.on_ack(&ack(3, 64, ms(120)), 1, ms(120));
    assert_eq!(said(&mut s), [5]);
    // Nothing is left to send: nobody is held back.
    s.on_left(4, false, ms(130));
    s.on_deadline(ms(130));
    assert_eq!((said(&mut s), s.connection().queued()), (vec![], 1));
}

/// Packets that a sender of Linux puts into its node at once, with a window of 1,000 segments in slow start and a
/// round-trip time of 100 ms, so that its rate is 2 x 1000 x 1448 B in 100 ms: 28.96 MB/s.
fn put_into_node(by_radio: bool, limit: &str) -> u32 {
    let text = "extends = \"linux\"\nrun.stop = \"1 s\"\ntcp.initial_window = 1000\ntcp.receive_window = 5000";
    let text = format!("{text}\ntcp.small_queue = \"{limit}\"");
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut s = Sender::at_node(&scenario.config().tcp, Span::ZERO, FlowId(0));
    s.write(None, ms(0));
    assert_eq!(said(&mut s), [0]);
    if by_radio {
        s.on_radio();
    }
    s.on_left(0, false, ms(0));
    s.on_ack(&ack(1, 5000, ms(100)), 1, ms(100));
    s.connection().queued()
}

#[test]
fn small_queues_hold_a_millisecond_and_more_with_a_radio() {
    // 28,281 B and 226,250 B; a packet takes 2,280 B, and is added while what is there takes less.
    assert_eq!((put_into_node(false, "auto"), put_into_node(true, "auto")), (13, 100));
    assert_eq!((put_into_node(false, "any_device"), put_into_node(true, "any_device")), (13, 13));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    // Segments outstanding of a window of ten, acknowledgements of two, and the windows.
    for (out, expected) in [(5, vec![10.0; 3]), (6, vec![12.0; 3]), (9, vec![12.0, 14.0, 16.0, 18.0, 18.0])] {
        let cfg = Config { syn: false, initial_window: InitialWindow::Segments(10), ..settings("L26", "\"sack\"") };
        let mut s = Sender::new(&cfg, Span::ZERO);
        s.write(Some(out), ms(0));
        let windows = (1..=out.div_ceil(2)).map(|n| {
            s.on_ack(&ack((2 * n).min(out), 89, ms(100)), 1, ms(100));
            state(&s).0
        });
        assert_eq!(windows.collect::<Vec<_>>(), expected, "{out} outstanding");
    }
    let cfg = Config { initial_ssthresh: Some(4), ..settings("L26", "\"sack\"") };
    let cfg = Config { syn: false, initial_window: InitialWindow::Segments(4), ..cfg };
    for (out, expected) in [(3, 4.0), (4, 4.25)] {
        let mut s = Sender::new(&cfg, Span::ZERO);
        s.write(Some(out), ms(0));
        s.on_ack(&ack(1, 89, ms(100)), 1, ms(100));
        assert_eq!(state(&s).0, expected, "{out} outstanding, congestion avoidance");
    }
}

/// One past the segments that are acknowledged, when this many arrive 1 ms apart, and when \[ms\].
fn acks(cfg: &Config, segments: u32) -> Vec<(u64, Seq)> {
    let mut r = Receiver::new(cfg);
    let mut all = vec![];
    let mut out = vec![];
    for seq in 0..segments {
        let now = ms(u64::from(seq));
        let segment = DataSegment { seq, syn: cfg.syn && seq == 0, sent: now, born: now, ..DataSegment::default() };
        r.on_segment(&segment, 1, Ecn::NotEct, now, &mut out);
        all.extend(
            out.drain(..).filter_map(|o| if let Out::Ack(a) = o { Some((u64::from(seq), a.next)) } else { None }),
        );
    }
    let at = r.deadline();
    if at != Time::NEVER {
        r.on_deadline(at, &mut out);
        all.extend(
            out.drain(..).filter_map(|o| if let Out::Ack(a) = o { Some((at.0 / 1_000_000, a.next)) } else { None }),
        );
    }
    all
}

#[test]
fn the_first_segments_are_acknowledged_one_by_one_then_every_second() {
    let cfg = settings("L26", "\"sack\"");
    // The SYN, 16 segments, pairs; the last one waits for 40 ms.
    let mut expected: Vec<(u64, Seq)> = (0..=16).map(|n| (n, n as u32 + 1)).collect();
    expected.extend([(18, 19), (20, 21), (61, 22)]);
    assert_eq!(acks(&cfg, 22), expected);
    // Half the window at most.
    let small = Config { receive_window: 5, ..cfg.clone() };
    assert_eq!(acks(&small, 6), [(0, 1), (1, 2), (2, 3), (4, 5), (45, 6)]);
    let mut late = cfg;
    late.delayed_ack.quick_acks = 0;
    assert_eq!(acks(&late, 5), [(0, 1), (2, 3), (4, 5)]);
    late.ack_policy = Policy::Every;
    assert_eq!(acks(&late, 3), [(0, 1), (1, 2), (2, 3)]);
}
