//! Times of acknowledgements from a receiver that thins them.

use chappe_core::packet::{DataSegment, Ecn};
use chappe_core::tcp::ack::Policy;
use chappe_core::tcp::ack::thinning;
use chappe_core::tcp::{Config, Out, Receiver};
use chappe_core::unit::{Span, Time};

/// Acknowledgements of a thinning receiver for segments that arrive at these times [ms]: time [ms] and next expected
/// segment.
fn thinned(arrivals: &[(u64, u32)], silence: bool) -> Vec<(u64, u32)> {
    thinned_with(thinning::Config::default(), arrivals, silence)
}

fn thinned_with(thinning: thinning::Config, arrivals: &[(u64, u32)], silence: bool) -> Vec<(u64, u32)> {
    let cfg = Config { ack_policy: Policy::Thinning, ack_thinning: thinning, ..Config::default() };
    let mut r = Receiver::new(&cfg);
    let (mut out, mut acks) = (vec![], vec![]);
    let mut take = |out: &mut Vec<Out>, at: u64| {
        for o in out.drain(..) {
            if let Out::Ack(a) = o {
                acks.push((at, a.next));
            }
        }
    };
    for &(ms, seq) in arrivals {
        let now = Time::ZERO + Span::ms(ms);
        assert!(r.deadline() > now, "no timer is due between these arrivals");
        let segment = DataSegment { seq, sent: now, born: now, syn: seq == 0, ..DataSegment::default() };
        r.on_segment(&segment, 1, Ecn::NotEct, now, &mut out);
        take(&mut out, ms);
    }
    if silence {
        let at = r.deadline();
        r.on_deadline(at, &mut out);
        take(&mut out, at.0 / 1_000_000);
    }
    acks
}

#[test]
fn c96_thinning_in_order() {
    let arrivals: Vec<(u64, u32)> = (0..20).map(|n| (5 * u64::from(n), n)).collect();
    let acked: Vec<u32> = thinned(&arrivals, false).iter().map(|a| a.1 - 1).collect();
    assert_eq!(acked, [0, 1, 2, 4, 7, 11, 15, 19]);
}

#[test]
fn c97_thinning_at_the_end_of_a_burst() {
    let mut arrivals: Vec<(u64, u32)> = (0..12).map(|n| (u64::from(n), n)).collect();
    arrivals.extend([(200, 12), (205, 13), (210, 14)]);
    let acks = thinned(&arrivals, true);
    assert_eq!(acks[acks.len() - 2..], [(11, 12), (300, 15)]);
}

#[test]
fn c98_thinning_with_a_hole() {
    let mut arrivals: Vec<(u64, u32)> = (0..20).map(|n| (u64::from(n), n)).collect();
    arrivals.extend([(50, 21), (60, 20), (70, 22), (71, 23), (72, 24), (73, 25)]);
    let acks = thinned(&arrivals, false);
    assert_eq!(acks[acks.len() - 4..], [(19, 20), (50, 20), (60, 22), (73, 26)]);
}

#[test]
fn thinning_with_other_thresholds() {
    let arrivals: Vec<(u64, u32)> = (0..20).map(|n| (5 * u64::from(n), n)).collect();
    let acked = |cfg| thinned_with(cfg, &arrivals, false).iter().map(|a| a.1 - 1).collect::<Vec<u32>>();
    let other = thinning::Config { s1: 4, s2: 8, s3: 14, ..thinning::Config::default() };
    assert_eq!(acked(other), [0, 1, 2, 3, 4, 6, 9, 12, 16]);
}

#[test]
fn thinning_with_another_timer_and_held_duplicates() {
    let mut arrivals: Vec<(u64, u32)> = (0..12).map(|n| (u64::from(n), n)).collect();
    arrivals.push((100, 12));
    let short = thinning::Config { timeout: Span::ms(30), ..thinning::Config::default() };
    assert_eq!(thinned_with(short, &arrivals, true).last(), Some(&(130, 13)));
    // Segment 20 is missing: its duplicate acknowledgements are held like any other.
    let mut arrivals: Vec<(u64, u32)> = (0..20).map(|n| (u64::from(n), n)).collect();
    arrivals.extend([(50, 21), (60, 22), (70, 23), (71, 24), (72, 25)]);
    let at_once = thinned(&arrivals, false);
    assert_eq!(at_once[at_once.len() - 5..], [(50, 20), (60, 20), (70, 20), (71, 20), (72, 20)]);
    let held = thinning::Config { thin_dup_acks: true, ..thinning::Config::default() };
    let acks = thinned_with(held, &arrivals, false);
    assert_eq!(acks[acks.len() - 2..], [(19, 20), (71, 20)]);
}
