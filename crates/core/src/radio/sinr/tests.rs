//! Reception with cumulative interference.

use super::*;
use crate::radio::channel::tests::Busy;
use crate::radio::{Channel, Config as RadioConfig, Ended, LogDistance, Propagation, Verdict};
use crate::unit::{Meters, Position, Ratio, SignalPower};

const ELEVEN: u8 = 3;
const TWO: u8 = 1;
/// A frame of 1500 B at 11 Mbit/s [us].
const LONG_AT_11: u64 = 192 + 1091;

/// Radios at these positions on a line; SNR of 12 dB at 10 m, path-loss exponent 2.2.
fn channel(places: &[f64], sinr: Config) -> Channel {
    let log_distance = LogDistance { exponent: 2.2, distance: Meters(10.0), loss: Ratio(1.0) };
    let transmit_power = SignalPower(noise(&sinr) * Ratio::db(12.0).0);
    let cfg = RadioConfig {
        propagation: Propagation::LogDistance,
        log_distance,
        transmit_power,
        reception: Reception::Sinr,
        sinr,
        ..RadioConfig::default()
    };
    let places: Vec<Position> = places.iter().map(|&x| Position { x, y: 0.0 }).collect();
    let rates = [1_000_000, 2_000_000, 5_500_000, 11_000_000].map(BitRate).to_vec();
    let radios = Radios { codings: rates.clone(), rates, plcp: vec![Span::us(192); 4], ..Radios::alike(&cfg, &places) };
    let mut channel = Channel::new(&radios);
    channel.need_every_end();
    channel
}

/// Energy detection at the level of preamble detection, 4 dB.
fn sensitive() -> Config {
    let cfg = Config::default();
    Config { energy_detection: SignalPower(noise(&cfg) * Ratio::db(4.0).0), ..cfg }
}

fn start(c: &mut Channel, sender: u32, us: u64, airtime: u64, mode: u8) -> Vec<u32> {
    let mut busy = Busy::default();
    c.start((RadioId(sender), RadioId::BROADCAST), Time(us * 1000), Span::us(airtime), mode, &mut busy);
    busy.0.sort_unstable();
    busy.0
}

fn ended(c: &mut Channel, sender: u32, us: u64) -> Vec<(u32, Ended)> {
    let mut all = vec![];
    c.finish(RadioId(sender), Time(us * 1000), |n, e| all.push((n.0, e)));
    all
}

fn verdict(c: &mut Channel, sender: u32, us: u64, at: u32) -> Option<Verdict> {
    ended(c, sender, us).into_iter().find(|e| e.0 == at).map(|e| e.1.verdict)
}

#[test]
fn only_receivers_above_the_detection_threshold_decode() {
    let mut c = channel(&[0.0, 10.0, 20.0, 30.0, 40.0], sensitive());
    // SNR of 12, 5.4 and 1.5 dB; the detection threshold is 4 dB.
    assert_eq!(start(&mut c, 0, 0, LONG_AT_11, ELEVEN), [1, 2]);
    assert_eq!(verdict(&mut c, 0, LONG_AT_11, 1), Some(Verdict::Decoded));
    let neighbors = |mode| (0..5).map(RadioId).filter(|&r| c.decodes(RadioId(0), r, mode)).count();
    assert_eq!([neighbors(ELEVEN), neighbors(2), neighbors(0)], [1, 2, 2]);
    assert_eq!(c.neighbors(RadioId(0)).map(|r| r.0).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn frame_loss_follows_the_sinr_of_each_piece() {
    // Node 3 begins or ends in the middle of a frame of node 0: SINR of 5.5 dB instead of 12 at node 1.
    let cfg = sensitive();
    let rate = BitRate::mbps(11);
    let at = |others: f64| Curve::new(rate, cfg.ofdm).ln_success(Ratio::db(12.0).0 / (1.0 + others));
    let other = Ratio::db(12.0 - 22.0 * 2f64.log10()).0;
    for (from, until) in [(1000, 2000), (0, 1200), (1100, 1200)] {
        let disturbed = until.min(LONG_AT_11) - u64::max(from, 192);
        let bits = |us: u64| us as f64 * 11.0;
        let expected = (bits(disturbed) * at(other) + bits(1091 - disturbed) * at(0.0)).exp();
        let trials = 4000;
        let mut arrived = 0;
        let mut c = channel(&[0.0, 10.0, 20.0, 30.0], cfg.clone());
        for i in 0..trials {
            let t = i * 10_000;
            // The frame of node 0 is detected first.
            start(&mut c, 0, t, LONG_AT_11, ELEVEN);
            start(&mut c, 3, t + from.max(1), until - from.max(1), TWO);
            if until < LONG_AT_11 {
                ended(&mut c, 3, t + until);
            }
            arrived += u32::from(verdict(&mut c, 0, t + LONG_AT_11, 1) == Some(Verdict::Decoded));
            if until >= LONG_AT_11 {
                ended(&mut c, 3, t + until);
            }
        }
        let delivered = f64::from(arrived) / trials as f64;
        let sd = (expected * (1.0 - expected) / trials as f64).sqrt();
        assert!((delivered - expected).abs() < 4.0 * sd + 1e-9, "{from}: {delivered}, not {expected}");
        assert!((0.02..0.98).contains(&expected), "{expected}");
    }
}

#[test]
fn two_weak_interferers_destroy_a_frame_together() {
    // Interferers at 28 m on both sides: 7.7 dB are left with one of them, 5.4 dB with both.
    let places = [0.0, 10.0, 38.0, -18.0];
    let lost = |others: &[u32]| {
        let mut c = channel(&places, sensitive());
        (0..100)
            .filter(|i| {
                let t = i * 10_000;
                start(&mut c, 0, t, LONG_AT_11, ELEVEN);
                others.iter().for_each(|&o| drop(start(&mut c, o, t + 10, LONG_AT_11, TWO)));
                let lost = verdict(&mut c, 0, t + LONG_AT_11, 1) != Some(Verdict::Decoded);
                others.iter().for_each(|&o| drop(ended(&mut c, o, t + 10 + LONG_AT_11)));
                lost
            })
            .count()
    };
    let (one, other, both) = (lost(&[2]), lost(&[3]), lost(&[2, 3]));
    assert!(one < 20 && other < 20 && both > 50, "{one}, {other}, {both}");
}

#[test]
fn stronger_signal_takes_a_receiver_over_where_relock_allows() {
    // Node 3 began first, 40 m from node 1; node 0 is 10 m away: 13 dB stronger.
    let places = [0.0, 10.0, 100.0, 34.0];
    for (relock, during, at, wanted) in [
        (None, Relock::Always, 500, None),
        (Some(5.0), Relock::Always, 500, Some(Verdict::Decoded)),
        (Some(20.0), Relock::Always, 500, None),
        (Some(5.0), Relock::Preamble, 500, None),
        (Some(5.0), Relock::Preamble, 100, Some(Verdict::Decoded)),
    ] {
        let cfg = Config {
            relock: relock.map(Ratio::db),
            relock_during: during,
            preamble_detection: Ratio::db(-2.0),
            ..sensitive()
        };
        let mut c = channel(&places, cfg);
        start(&mut c, 3, 0, 3000, TWO);
        start(&mut c, 0, at, 1000, TWO);
        assert_eq!(verdict(&mut c, 0, at + 1000, 1), wanted, "{relock:?} {during:?} {at}");
    }
}

#[test]
fn medium_is_busy_while_energy_is_detected_and_its_end_is_reported() {
    // Node 1 receives a frame of node 0; meanwhile node 2 begins, at 5.4 dB, and lasts longer.
    let mut c = channel(&[0.0, 10.0, 30.0], sensitive());
    start(&mut c, 0, 0, 1000, TWO);
    assert!(start(&mut c, 2, 500, 2000, TWO).is_empty(), "it is busy already");
    let (who, first) = ended(&mut c, 0, 1000)[0];
    assert_eq!((who, first.verdict), (1, Verdict::Decoded));
    assert_eq!(first.medium.until.0 / 1000, 2500);
    assert!(c.sensed(RadioId(1)).busy(Time(2_000_000)));
    let (_, second) = ended(&mut c, 2, 2500)[0];
    assert_eq!(second.verdict, Verdict::Noise);
    assert!(!c.sensed(RadioId(1)).busy(Time(2_501_000)));
    // Neither signal is detected at node 1, at 1.5 dB; together they have 4.5 dB.
    let mut c = channel(&[-20.0, 10.0, 40.0], sensitive());
    assert!(start(&mut c, 0, 0, 1000, TWO).is_empty());
    assert_eq!(start(&mut c, 2, 500, 2000, TWO), [1]);
    assert_eq!(c.sensed(RadioId(1)).until.0 / 1000, 1000);
    assert_eq!(ended(&mut c, 0, 1000)[0].1.verdict, Verdict::Noise);
    assert!(ended(&mut c, 2, 2500).is_empty());
}

#[test]
fn a_verdict_is_given_before_the_next_frame_arrives() {
    let mut c = channel(&[0.0, 10.0, 20.0], sensitive());
    start(&mut c, 0, 0, 352, TWO);
    c.start((RadioId(2), RadioId::BROADCAST), Time(352_010), Span::us(352), TWO, &mut Busy::default());
    assert_eq!(c.take_verdict(), Some((RadioId(1), RadioId(0), Time(352_033), Verdict::Decoded)));
    assert_eq!(verdict(&mut c, 2, 704, 1), Some(Verdict::Decoded));
}

#[test]
fn switched_off_sender_no_longer_interferes() {
    // Node 2 is as strong at node 1 as node 0: only the first microsecond survives its interference.
    let arrived = |after: Option<u64>| {
        let mut c = channel(&[0.0, 10.0, 20.0], sensitive());
        (0..100)
            .filter(|i| {
                let t = i * 10_000;
                start(&mut c, 0, t, LONG_AT_11, ELEVEN);
                start(&mut c, 2, t + 300, LONG_AT_11, TWO);
                if let Some(us) = after {
                    c.switch_off(RadioId(2), Time((t + 300 + us) * 1000));
                }
                let arrived = verdict(&mut c, 0, t + LONG_AT_11, 1) == Some(Verdict::Decoded);
                ended(&mut c, 2, t + 300 + LONG_AT_11);
                let now = Time((t + 5000) * 1000);
                c.switch_on(RadioId(2), now, now);
                arrived
            })
            .count()
    };
    let undisturbed = {
        let mut c = channel(&[0.0, 10.0, 20.0], sensitive());
        let alone = |i: &u64| {
            start(&mut c, 0, i * 10_000, LONG_AT_11, ELEVEN);
            verdict(&mut c, 0, i * 10_000 + LONG_AT_11, 1) == Some(Verdict::Decoded)
        };
        (0..100).filter(alone).count()
    };
    assert_eq!((arrived(None), arrived(Some(500))), (0, 0));
    assert_eq!(arrived(Some(0)), undisturbed, "it has not begun");
}

#[test]
fn cut_frame_keeps_the_medium_busy_for_the_length_in_its_header() {
    let mut c = channel(&[0.0, 10.0, 20.0], sensitive());
    start(&mut c, 0, 0, 1000, TWO);
    c.switch_off(RadioId(0), Time(300_000));
    assert!(c.sensed(RadioId(1)).busy(Time(900_000)));
    assert_eq!(verdict(&mut c, 0, 1000, 1), Some(Verdict::Damaged));
    // The frame of node 2 is detected by a free receiver.
    start(&mut c, 2, 1500, 1000, TWO);
    assert_eq!(verdict(&mut c, 2, 2500, 1), Some(Verdict::Decoded));
}

#[test]
fn preamble_can_be_lost_only_during_detection() {
    const ONE: u8 = 0;
    let early = Config { detection_time: Span::us(4), ..sensitive() };
    for (cfg, after, decoded) in [(sensitive(), 1, true), (early.clone(), 1, false), (early.clone(), 5, true)] {
        // Nodes 0 and 2 are equally strong at node 1; a detected frame at 1 Mbit/s survives that.
        let mut c = channel(&[0.0, 10.0, 20.0], cfg);
        start(&mut c, 0, 0, 1000, ONE);
        start(&mut c, 2, after, 1000, ONE);
        assert_eq!(verdict(&mut c, 0, 1000, 1) == Some(Verdict::Decoded), decoded, "{after} us later");
        // Neither is detected, and the medium is busy as long as the energy lasts.
        assert_ne!(verdict(&mut c, 2, 1000 + after, 1), Some(Verdict::Decoded), "{after} us later");
    }
    // Node 3 is weaker at node 1 than node 0 by 6.6 dB, so the frame of node 0 is detected in its place.
    for (cfg, decoded) in [(sensitive(), false), (early, true)] {
        let mut c = channel(&[0.0, 10.0, 20.0, 30.0], cfg);
        start(&mut c, 3, 0, 1000, ONE);
        start(&mut c, 0, 1, 1000, ONE);
        assert_ne!(verdict(&mut c, 3, 1000, 1), Some(Verdict::Decoded));
        assert_eq!(verdict(&mut c, 0, 1001, 1) == Some(Verdict::Decoded), decoded);
    }
}

/// All orders of these senders.
fn orders(senders: &[u32]) -> Vec<Vec<u32>> {
    if senders.is_empty() {
        return vec![vec![]];
    }
    let first = |&s: &u32| {
        let rest: Vec<u32> = senders.iter().copied().filter(|&o| o != s).collect();
        orders(&rest).into_iter().map(move |o| [vec![s], o].concat())
    };
    senders.iter().flat_map(first).collect()
}

#[test]
fn frames_of_one_instant_are_received_alike_in_any_order() {
    // Nodes that begin in one slot are processed one after the other. What a receiver makes of it follows from powers
    // and times of arrival alone; on a grid of 30 cm many arrive in the same nanosecond.
    let mut rng = Stream::new(1, Purpose::Reception, 0);
    let (mut locked, mut gave_up, mut ties) = (0, 0, 0);
    for case in 0..3000 {
        let cfg = Config {
            detection_time: [Span::ZERO, Span(10), Span::us(4)][case % 3],
            relock: [None, Some(Ratio::db(5.0))][case / 3 % 2],
            relock_during: [Relock::Always, Relock::Preamble][case / 6 % 2],
            energy_detection: SignalPower(noise(&Config::default()) * Ratio::db([4.0, 12.0][case / 12 % 2]).0),
            ..Config::default()
        };
        let senders: Vec<u32> = (1..3 + rng.below(3)).collect();
        let place = |rng: &mut Stream| (f64::from(rng.below(60)) - 30.0) * 0.3;
        let places: Vec<f64> = std::iter::once(0.05).chain(senders.iter().map(|_| place(&mut rng))).collect();
        let lengths: Vec<u64> = senders.iter().map(|_| 1000 + 500 * u64::from(rng.below(3))).collect();
        let seen = |order: &[u32]| {
            let mut c = channel(&places, cfg.clone());
            for &s in order {
                start(&mut c, s, 10, lengths[s as usize - 1], TWO);
            }
            let (sensed, incoming) = (c.sensed(RadioId(0)), c.incoming(RadioId(0), Time(10_500)));
            let mut ends: Vec<(u64, u32)> = senders.iter().map(|&s| (10 + lengths[s as usize - 1], s)).collect();
            ends.sort_unstable();
            // The end of energy is reported with that of any signal that lasts as long.
            let frame = |v: &Verdict| *v != Verdict::Noise;
            let ended: Vec<_> = ends.iter().map(|&(end, s)| (s, verdict(&mut c, s, end, 0).filter(frame))).collect();
            (sensed.until, incoming, ended)
        };
        let all = orders(&senders);
        let first = seen(&all[0]);
        let delays: Vec<u64> = places[1..].iter().map(|x| ((x - 0.05).abs() / 0.3) as u64).collect();
        ties += usize::from((1..delays.len()).any(|i| delays[..i].contains(&delays[i])));
        match &first.1 {
            Some((crate::radio::Incoming::Decoding, _)) => locked += 1,
            Some(_) => gave_up += 1,
            None => {}
        }
        for order in &all[1..] {
            assert_eq!(seen(order), first, "case {case}: {order:?}, {places:?}, {lengths:?}, {cfg:?}");
        }
    }
    assert!(locked > 300 && gave_up > 300 && ties > 300, "{locked}, {gave_up}, {ties}");
}

#[test]
fn a_preamble_is_lost_to_one_that_arrives_a_little_later() {
    // Nodes 0 and 2 begin in one slot; node 2 is 3 cm or 3 m nearer to node 1, and both are equally strong within 4 dB.
    let cfg = Config { detection_time: Span::us(4), ..sensitive() };
    for nearer in [0.0, 0.03, 0.3, 2.0] {
        for order in [[0, 2], [2, 0]] {
            let mut c = channel(&[0.0, 10.0, 20.0 - nearer], cfg.clone());
            order.iter().for_each(|&s| drop(start(&mut c, s, 0, 1000, TWO)));
            for s in [0, 2] {
                // No start was indicated, so that nobody waits for EIFS (10.3.2.3.7).
                let seen = verdict(&mut c, s, 1000, 1);
                assert!(matches!(seen, None | Some(Verdict::Noise)), "{nearer} m, {order:?}: {seen:?}");
            }
        }
    }
}

#[test]
fn cached_sums_equal_fresh_sums() {
    // Signals begin and end out of order, sometimes at the same instant, and are cut.
    let mut rng = Stream::new(1, Purpose::Reception, 0);
    let (mut signals, mut all) = (Signals::with_capacity(4), Vec::<(u32, Time, Time, f64)>::new());
    let (mut now, mut locked, mut looked) = (0u64, u32::MAX, 0);
    for sender in 0..20_000 {
        now += u64::from(rng.below(400));
        let from = Time(now + 20 - u64::from(rng.below(20)));
        signals.go_to(from);
        all.retain(|s| s.2 > from);
        let there = || all.iter().filter(|s| s.1 <= from);
        let sum = |but: u32| there().filter(|s| s.0 != but).fold(0.0, |sum, s| sum + s.3);
        assert_eq!(signals.all.to_bits(), sum(u32::MAX).to_bits());
        let changes = all.iter().map(|s| if s.1 <= from { s.2 } else { s.1 }).min().unwrap_or(Time::NEVER);
        assert_eq!(signals.changes, changes);
        if all.iter().any(|s| s.0 == locked) {
            assert_eq!(signals.others.to_bits(), sum(locked).to_bits());
            looked += 1;
        }
        let threshold = 2.0 * rng.uniform();
        let loud = {
            let mut ends: Vec<Time> = there().map(|s| s.2).collect();
            ends.sort_unstable_by(|a, b| b.cmp(a));
            ends.dedup();
            let mut sum = 0.0;
            let is_loud = |end: &Time| {
                sum += there().filter(|s| s.2 == *end).fold(0.0, |sum, s| sum + s.3);
                sum >= threshold
            };
            ends.into_iter().find(is_loud)
        };
        let after = Time(from.0 + u64::from(rng.below(300)));
        let later = loud.filter(|end| *end > after);
        assert_eq!(signals.loud_until(from, after, threshold).map(|r| r.until), later);
        assert!(later.is_none() || !signals.is_weaker_after(after, threshold));
        let until = Time(from.0 + 100 * u64::from(1 + rng.below(15)) - u64::from(rng.below(2)));
        let others = signals.all;
        let power = rng.exponential();
        signals.push((sender, 0), from, until, power);
        all.push((sender, from, until, power));
        if rng.below(3) == 0 {
            signals.lock_on_last(others);
            locked = sender;
        }
        if rng.below(50) == 0 {
            let cut = sender.saturating_sub(rng.below(4));
            signals.cut(cut, Time(now + 30));
            all.iter_mut().filter(|s| s.0 == cut).for_each(|s| s.2 = s.2.min(Time(now + 30)));
        }
    }
    assert!(looked > 1000, "{looked}");
}

#[test]
fn delivery_is_the_share_of_frames_that_arrive_alone() {
    const BYTES: u32 = 1500;
    for (fading, place) in [(Fading::None, 17.0), (Fading::Rayleigh, 9.0)] {
        let mut c = channel(&[0.0, place], Config { fading, ..sensitive() });
        let expected = c.delivery(RadioId(0), RadioId(1), ELEVEN, BYTES);
        let trials = 4000;
        let arrives = |i: &u64| {
            start(&mut c, 0, i * 10_000, LONG_AT_11, ELEVEN);
            verdict(&mut c, 0, i * 10_000 + LONG_AT_11, 1) == Some(Verdict::Decoded)
        };
        let delivered = (0..trials).filter(arrives).count() as f64 / trials as f64;
        let sd = (expected * (1.0 - expected) / trials as f64).sqrt();
        assert!((delivered - expected).abs() < 4.0 * sd, "{fading:?}: {delivered}, not {expected}");
        assert!((0.02..0.98).contains(&expected), "{expected}");
    }
    let c = channel(&[0.0, 10.0, 100.0], sensitive());
    assert_eq!(c.delivery(RadioId(0), RadioId(2), ELEVEN, BYTES), 0.0);
}
