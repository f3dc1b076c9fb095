//! A station accepts inputs in any order: it loses no packet, sends one frame at a time, and comes to an end.

use super::dcf::{Bench, ME, PEER};
use chappe_core::packet::{PacketId, RadioId};
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::{Frame, FrameKind, Out, Signal};
use proptest::collection::vec;
use proptest::prelude::*;

/// An input of a station, with the time since the previous input.
#[derive(Clone, Debug)]
struct Step {
    after: u64,
    input: Input,
}

#[derive(Clone, Debug)]
enum Input {
    /// Hands over a packet, if the station is free.
    Packet,
    /// The medium turns busy, possibly some time from now, for this duration.
    Busy { ahead: u64, lasts: u64 },
    /// A frame is decoded, possibly reported before it ends.
    Frame { ahead: u64, kind: FrameKind, to: RadioId, protected: bool, duration: u64 },
    /// An undecodable signal ends.
    Noise { ahead: u64, started: bool },
}

const KINDS: [FrameKind; 4] = [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack];

/// Durations of protocol timers \[ns\].
fn times() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(100), Just(10_000), Just(20_000), 0..50_000_u64, 0..400_000_u64]
}

fn inputs() -> impl Strategy<Value = Input> {
    let kind = (0..KINDS.len()).prop_map(|i| KINDS[i]);
    let to = prop_oneof![4 => Just(ME), 1 => Just(RadioId(5)), 1 => Just(RadioId::BROADCAST)];
    prop_oneof![
        2 => Just(Input::Packet),
        2 => (times(), 1..400_000_u64).prop_map(|(ahead, lasts)| Input::Busy { ahead, lasts }),
        4 => (times(), kind, to, any::<bool>(), 0..7000_u64).prop_map(|(ahead, kind, to, protected, duration)| {
            // Only data are for all.
            let to = if to.is_broadcast() && kind != FrameKind::Data { ME } else { to };
            Input::Frame { ahead, kind, to, protected, duration }
        }),
        1 => (times(), any::<bool>()).prop_map(|(ahead, started)| Input::Noise { ahead, started }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec((times(), inputs()).prop_map(|(after, input)| Step { after, input }), 1..60)
}

fn rules() -> impl Strategy<Value = String> {
    let word = |words: &'static [&'static str]| (0..words.len()).prop_map(move |i| words[i]);
    (
        word(&["always", "never", "500 B"]),
        word(&["rx_start", "fixed"]),
        word(&["immediate", "idle", "backoff"]),
        word(&["slotted", "continuous"]),
        word(&["nav_idle", "medium_idle"]),
        word(&["0 s", "15 us", "400 us"]),
        word(&["20 ns", "20 us", "220 us"]),
        any::<bool>(),
    )
        .prop_map(|(rts, timeout, access, clock, cts, cca, slot, idle)| {
            format!(
                "rts_threshold = \"{rts}\", response_timeout = \"{timeout}\", first_access = \"{access}\", \
                 backoff_clock = \"{clock}\", cts_requires = \"{cts}\", cca_time = \"{cca}\", slot_time = \"{slot}\", \
                 data_needs_idle = {idle}, cw_min = 1, short_retry_limit = 3, long_retry_limit = 2"
            )
        })
}

/// Executes a step; `packets` were handed over before.
fn take(b: &mut Bench, now: Time, input: &Input, packets: &mut u32) {
    match *input {
        Input::Packet if b.station.is_free() => {
            b.enqueue(now, *packets);
            *packets += 1;
        }
        Input::Packet => {}
        Input::Busy { ahead, lasts } => b.busy(now + Span(ahead), now + Span(ahead + lasts)),
        Input::Frame { ahead, kind, to, protected, duration } => {
            let packet = (kind == FrameKind::Data).then_some(PacketId(1_000_000));
            let duration = Span::us(duration);
            b.hear(now + Span(ahead), Frame { kind, to, from: PEER, packet, protected, duration, ..Frame::NONE });
        }
        Input::Noise { ahead, started } => {
            b.signal(now + Span(ahead), if started { Signal::Error } else { Signal::Energy });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_packet_is_lost_and_no_own_frames_overlap(wlan in rules(), steps in steps(), seed in any::<u64>()) {
        let mut b = Bench::new("standard", &wlan, seed);
        let (mut now, mut packets) = (Time::ZERO, 0);
        let mut own_end = Time::ZERO;
        for step in &steps {
            now += Span(step.after);
            b.wait(now);
            // A radio that sends hears nothing: what it hears ends after its own frame.
            let own = |(at, out): &(Time, Out)| if let Out::Transmit(f) = out { Some(*at + f.airtime) } else { None };
            own_end = b.said.iter().rev().find_map(own).unwrap_or(own_end);
            let is_packet = matches!(step.input, Input::Packet | Input::Busy { .. });
            if is_packet || own_end <= now {
                take(&mut b, now, &step.input, &mut packets);
            }
        }
        // Nothing more is heard: what is left to do ends.
        let quiet = now + Span::secs(1);
        b.silence(quiet);
        b.wait(quiet + Span::secs(60));
        prop_assert_eq!(b.station.deadline(), Time::NEVER);
        prop_assert!(b.station.is_free());

        let mut ends: Vec<u32> = b.said.iter().filter_map(|(_, o)| match o {
            Out::Sent { packet } | Out::GaveUp { packet } => Some(packet.0),
            _ => None,
        }).collect();
        ends.sort_unstable();
        prop_assert_eq!(ends, (0..packets).collect::<Vec<_>>());
        let frames: Vec<_> = b.said.iter().filter_map(|(at, o)| if let Out::Transmit(f) = o { Some((*at, f)) } else { None }).collect();
        for w in frames.windows(2) {
            prop_assert!(w[0].0 + w[0].1.airtime <= w[1].0, "{:?}", w);
        }
    }
}
