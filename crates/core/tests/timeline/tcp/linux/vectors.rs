//! Conformance vectors of profile LX: scripts of a sender of Linux with CUBIC, an initial window of ten and a round-trip
//! time of 100 ms. Segments are numbered from 1, the SYN is 0.

use super::super::{ack, said, wait};
use super::settings;
use chappe_core::packet::{AckSegment, Flag, SackBlocks, Seq};
use chappe_core::tcp::config::recoveries::HyStartRule;
use chappe_core::tcp::recovery::view::{RackView, RecoveryState};
use chappe_core::tcp::{Config, Sender};
use chappe_core::unit::{Span, Time};

/// A sender and the acknowledgements that a script sends it.
pub struct Script {
    pub sender: Sender,
    pub now: Time,
}

impl Script {
    /// A connection whose SYN was answered after 100 ms, and which has sent `segments` 100 ms ago.
    pub fn new(cfg: &Config, segments: u32) -> Script {
        let mut script = Script { sender: Sender::new(cfg, Span::ZERO), now: Time::ZERO };
        script.sender.write(Some(0), script.now);
        assert_eq!(said(&mut script.sender), [0]);
        script.now += Span::ms(100);
        assert_eq!(script.syn_ack(false), [0; 0]);
        assert_eq!(script.write(segments), (1..=segments.min(10)).collect::<Vec<_>>());
        script.now += Span::ms(100);
        script
    }

    fn syn_ack(&mut self, ece: bool) -> Vec<Seq> {
        let answer = AckSegment { flag: Flag::Syn, ece, ..ack(1, 2000, self.now) };
        self.sender.on_ack(&answer, 1, self.now);
        said(&mut self.sender)
    }

    /// The application writes segments; returns those that are sent.
    pub fn write(&mut self, segments: u32) -> Vec<Seq> {
        self.sender.write(Some(segments), self.now);
        said(&mut self.sender)
    }

    /// An acknowledgement of all segments up to this one, with SACK blocks from first to last segment; returns the
    /// segments that are sent.
    pub fn ack(&mut self, up_to: Seq, blocks: &[(Seq, Seq)]) -> Vec<Seq> {
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(first, last)| sack.push(*first, last + 1));
        self.sender.on_ack(&AckSegment { sack, ..ack(up_to + 1, 2000, self.now) }, 1, self.now);
        said(&mut self.sender)
    }

    pub fn view(&self) -> RackView {
        self.sender.rack_view().expect("a sender of Linux")
    }

    /// cwnd and ssthresh.
    pub fn window(&self) -> (f64, f64) {
        let window = self.sender.connection().window();
        (window.cwnd, window.ssthresh)
    }
}

/// CUBIC without timestamps, as in the scripts.
fn cubic() -> Config {
    Config { timestamps: false, ..settings("cubic") }
}

/// A connection whose receiver has no SACK.
fn without_sack(segments: u32) -> Script {
    let mut cfg = cubic();
    cfg.rack_tlp.sack = false;
    Script::new(&cfg, segments)
}

#[test]
fn c48_the_third_duplicate_without_sack_sends_the_first_segment_again() {
    let mut s = without_sack(4);
    assert_eq!([(); 3].map(|()| s.ack(0, &[])), [vec![], vec![], vec![1]]);
    assert_eq!(s.view().state, RecoveryState::ByCount);
    // Until something above the recovery point is acknowledged, duplicates mean nothing.
    assert_eq!(s.ack(4, &[]), [0; 0]);
    assert_eq!(s.view().state, RecoveryState::ByCount);
    let sent = s.write(5);
    assert_eq!(sent[0], 5);
    s.ack(5, &[]);
    assert_eq!(s.view().state, RecoveryState::Open);
}

#[test]
fn c50_two_duplicates_without_sack_release_two_segments() {
    let mut s = without_sack(10);
    assert_eq!(s.write(5), [0; 0]);
    assert_eq!([0, 0, 3, 5].map(|up_to| s.ack(up_to, &[])), [vec![11], vec![12], vec![13, 14], vec![15]]);
}

#[test]
fn partial_ack_without_sack_retransmits_the_next_segment() {
    let mut s = without_sack(10);
    // Segments 1 and 3 are lost.
    let sent: Vec<_> = (0..8).flat_map(|_| s.ack(0, &[])).collect();
    assert_eq!(sent, [1]);
    assert_eq!(s.ack(2, &[]), [3]);
    assert_eq!((s.view().state, s.ack(10, &[])), (RecoveryState::ByCount, vec![]));
}

/// The vector says that HyStart ends slow start at 48; here it ends it at 36, so that the threshold is given.
#[test]
fn c84_cubic_grows_with_time_after_slow_start() {
    let mut cfg = Config { initial_ssthresh: Some(48), ..cubic() };
    cfg.rack_tlp.hystart = HyStartRule::Off;
    let mut s = Script::new(&cfg, 400);
    let mut cwnd = vec![];
    for acked in (2..=130).step_by(2) {
        s.ack(acked, &[]);
        s.now += Span::ms(100);
        cwnd.push(s.window().0);
    }
    let after = |acked: usize| cwnd[acked / 2 - 1];
    assert_eq!([10, 20, 30, 38, 60, 80, 100, 120].map(after), [20.0, 30.0, 40.0, 48.0, 49.0, 50.0, 52.0, 58.0]);
    assert_eq!([122, 124, 126, 128, 130].map(after), [59.0, 60.0, 61.0, 62.0, 63.0]);
}

#[test]
fn c14_an_acknowledgement_of_two_segments_releases_four() {
    let mut s = Script::new(&cubic(), 100);
    for k in 0..5 {
        let first = 11 + 4 * k;
        assert_eq!(s.ack(2 * (k + 1), &[]), (first..first + 4).collect::<Vec<_>>());
    }
    assert_eq!(s.window().0, 20.0);
}

#[test]
fn c15_acknowledgements_of_four_and_two_segments_release_twice_as_many() {
    let mut s = Script::new(&cubic(), 100);
    let sent = [4, 8, 10].map(|up_to| s.ack(up_to, &[]).len());
    assert_eq!((sent, s.window().0), ([8, 8, 4], 20.0));
}

#[test]
fn c49_the_third_segment_reported_makes_the_first_one_lost() {
    let mut s = Script::new(&cubic(), 4);
    let sent = [2, 3, 4].map(|last| s.ack(0, &[(2, last)]));
    assert_eq!(sent, [vec![], vec![], vec![1]]);
}

#[test]
fn c51_two_segments_reported_release_one_each() {
    let mut s = Script::new(&cubic(), 15);
    assert_eq!(s.ack(0, &[(2, 2)]), [11]);
    assert_eq!(s.ack(0, &[(2, 3)]), [12]);
    assert_eq!(s.ack(3, &[]), [13, 14]);
    assert_eq!(s.ack(5, &[]), [15]);
}

#[test]
fn c52_a_recovery_sends_a_segment_for_each_one_delivered() {
    let mut s = Script::new(&cubic(), 10);
    let sent = [2, 3, 4].map(|last| s.ack(0, &[(2, last)]));
    assert_eq!(sent, [vec![], vec![], vec![1]]);
    assert_eq!((s.view().state, s.window()), (RecoveryState::ByCount, (7.0, 7.0)));
    assert_eq!(s.write(7), [0; 0]);
    for last in 5..=10 {
        assert_eq!(s.ack(0, &[(2, last)]), [last + 6]);
    }
    assert_eq!(s.ack(10, &[]), [17]);
    assert_eq!((s.view().state, s.window()), (RecoveryState::Open, (7.0, 7.0)));
}

#[test]
fn c53_four_losses_are_repaired_one_for_each_segment_delivered() {
    let mut s = Script::new(&cubic(), 10);
    let sent: Vec<Vec<Seq>> = (5..=10).map(|last| s.ack(0, &[(5, last)])).collect();
    assert_eq!(sent, [vec![], vec![], vec![1], vec![2], vec![3], vec![4]]);
    s.now += Span::ms(100);
    for up_to in [1, 2, 3, 10] {
        assert_eq!(s.ack(up_to, &[(5, 10)][..usize::from(up_to < 4)]), [0; 0]);
    }
    assert_eq!((s.window().0, s.write(10).len()), (7.0, 7));
}

#[test]
fn c54_a_late_segment_is_lost_no_longer_and_shows_reordering() {
    let mut s = Script::new(&cubic(), 10);
    let sent = [s.ack(0, &[(3, 3)]), s.ack(0, &[(7, 7), (3, 3)]), s.ack(0, &[(9, 9), (7, 7), (3, 3)])];
    assert_eq!(sent, [vec![], vec![], vec![1]]);
    assert_eq!((s.view().state, s.view().lost), (RecoveryState::ByCount, 6));
    assert_eq!(s.ack(0, &[(3, 4), (9, 9), (7, 7)]), [2]);
    assert_eq!((s.view().lost, s.view().reordering), (5, 6));
    s.ack(0, &[(9, 10), (3, 4), (7, 7)]);
    assert_eq!(s.view().lost, 5);
}

#[test]
fn c55_one_sacked_segment_marks_others_lost_after_reordering() {
    let mut s = Script::new(&cubic(), 4);
    assert_eq!(s.ack(0, &[(4, 4)]), [0; 0]);
    let begin = s.now;
    assert_eq!(wait(&mut s.sender, &mut s.now)[0], 1);
    let waited = s.now.since(begin);
    assert!(waited >= Span::ms(25) && waited <= Span::ms(40), "{} s", waited.as_secs());
    assert_eq!(s.view().state, RecoveryState::ByTime);
}

#[test]
fn c56_a_segment_above_a_hole_is_disorder() {
    let mut s = Script::new(&cubic(), 4);
    assert_eq!(s.ack(0, &[(2, 2)]), [0; 0]);
    assert_eq!((s.view().state, s.window().0), (RecoveryState::Disorder, 10.0));
}

/// A round of ten segments with a round-trip time of 200 ms, then one of 20 with 240 ms; each acknowledgement is of two.
#[test]
fn c83_hystart_ends_slow_start_at_the_ninth_round_trip_time_of_a_round() {
    let mut s = Script::new(&cubic(), 1000);
    s.now += Span::ms(100);
    for up_to in [2, 4, 6, 8, 10] {
        s.ack(up_to, &[]);
    }
    assert_eq!(s.window().0, 20.0);
    s.now += Span::ms(240);
    let mut windows = vec![];
    for k in 1..=9 {
        s.ack(10 + 2 * k, &[]);
        windows.push(s.window());
    }
    assert!(windows[..8].iter().all(|w| w.1 > 1000.0), "{windows:?}");
    assert_eq!(windows[7].0, 36.0);
    assert_eq!(windows[8].1, 36.0);
}

/// The vector has a window of 4, in flight and one more, as older kernels. Linux 6.18, asked with a link that marks the first of
/// four segments, has 5: the acknowledgement is safe in the sense of RFC 9937.
#[test]
fn c91_a_mark_reduces_the_window_to_what_is_in_flight_and_two() {
    let mut cfg = cubic();
    cfg.ecn.enabled = true;
    let mut s = Script { sender: Sender::new(&cfg, Span::ZERO), now: Time::ZERO };
    s.sender.write(Some(4), s.now);
    said(&mut s.sender);
    s.now += Span::ms(100);
    assert_eq!(s.syn_ack(true), [1, 2, 3, 4]);
    s.now += Span::ms(100);
    s.sender.on_ack(&AckSegment { ece: true, ..ack(2, 2000, s.now) }, 1, s.now);
    assert_eq!((s.view().state, s.window()), (RecoveryState::Cwr, (5.0, 7.0)));
}
