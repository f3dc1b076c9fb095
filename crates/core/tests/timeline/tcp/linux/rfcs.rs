//! Examples and formulas of RFC 8985 (RACK-TLP), with the sender of Linux.

use super::super::{ack, said, wait};
use super::settings;
use super::vectors::Script;
use chappe_core::packet::{AckSegment, Flag};
use chappe_core::tcp::recovery::view::RecoveryState;
use chappe_core::tcp::{Config, Sender};
use chappe_core::unit::{Span, Time};

/// Without timestamps, in a round-trip time of 100 ms.
fn cubic() -> Config {
    Config { timestamps: false, ..settings("cubic") }
}

/// RFC 8985, 3.4: of four segments the last three are lost. A probe sends the last one again after two round trips; its
/// report shows that the two before are lost. PRR sends one of them for the segment delivered, and the other for the next.
#[test]
fn the_report_of_a_probe_shows_what_is_lost() {
    let mut s = Script::new(&cubic(), 4);
    assert_eq!(s.ack(1, &[]), [0; 0]);
    let begin = s.now;
    assert_eq!(wait(&mut s.sender, &mut s.now), [4], "the probe");
    assert!(s.now.since(begin) >= Span::ms(200));
    s.now += Span::ms(100);
    assert_eq!(s.ack(1, &[(4, 4)]), [2]);
    assert_eq!(s.view().lost, 2);
    s.now += Span::ms(100);
    assert_eq!(s.ack(2, &[(4, 4)]), [3]);
    s.now += Span::ms(100);
    s.ack(4, &[]);
    assert!(s.sender.is_done());
    assert_eq!((s.view().state, s.sender.timeouts()), (RecoveryState::Open, 0));
}

/// Time after which a probe is sent, when the SYN had this round-trip time and so many segments follow at once. Ticks are
/// of 1 us, so that the clock rounds up by an eighth at most.
fn probe_timeout(rtt: Span, segments: u32) -> Span {
    let mut cfg = cubic();
    cfg.rack_tlp.tick = Span::us(1);
    let mut s = Sender::new(&cfg, Span::ZERO);
    s.write(Some(segments), Time::ZERO);
    said(&mut s);
    let now = Time::ZERO + rtt;
    s.on_ack(&AckSegment { flag: Flag::Syn, ..ack(1, 2000, now) }, 1, now);
    assert_eq!(said(&mut s).len() as u32, segments);
    s.connection().timer().since(now)
}

/// RFC 8985, 7.2: PTO = 2 SRTT, with TLP.max_ack_delay (200 ms) more if a single segment is outstanding, and the retransmission
/// timeout at most. That is SRTT and four deviations, 200 ms at least: 300 ms after a round-trip time of 100 ms, 900 after 300.
/// Linux adds 2 ms.
#[test]
fn a_probe_is_sent_after_two_round_trips_or_with_the_timeout() {
    for (rtt, segments, pto) in [(100, 4, 202), (100, 2, 202), (100, 1, 300), (300, 4, 602), (300, 1, 800), (20, 5, 42)]
    {
        let found = probe_timeout(Span::ms(rtt), segments);
        let pto = Span::ms(pto);
        assert!(found >= pto && found <= pto * 9 / 8, "{rtt} ms, {segments}: {} s", found.as_secs());
    }
}

/// RFC 8985, 7.3 and 7.4: a probe is a new segment if there is one. That is no retransmission, and its acknowledgement no sign
/// of congestion. One probe is sent, then the timeout is waited for.
#[test]
fn a_probe_with_new_data_leaves_the_window_alone() {
    let mut s = Script::new(&cubic(), 20);
    let before = s.window();
    assert_eq!(wait(&mut s.sender, &mut s.now), [11], "the window is full, but for the probe");
    s.now += Span::ms(1);
    s.ack(11, &[]);
    assert!(s.window().0 >= before.0 && s.window().1 == before.1);
    let mut lost = Script::new(&cubic(), 20);
    assert_eq!(wait(&mut lost.sender, &mut lost.now), [11]);
    assert_eq!(wait(&mut lost.sender, &mut lost.now), [1], "the timeout");
    assert_eq!(lost.view().state, RecoveryState::LossInDoubt);
}
