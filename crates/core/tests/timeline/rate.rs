//! Decisions of SampleRate and Minstrel, frame by frame: rates of all attempts, by the rules of madwifi. The comments
//! between the rows derive them by hand, in the words of those rules.

use chappe_core::packet::{Kind, RadioId};
use chappe_core::rng::{Purpose, Stream};
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::rate::{Algorithm, Config, Next, RateControl};
use chappe_core::wlan::{self, Mode, Timing};

const PEER: RadioId = RadioId(1);
/// All attempts are lost.
const ALL: usize = usize::MAX;

/// Consecutive frames, every 10 ms: begin of the first one \[ms\], number, bytes, and number of first attempts of each
/// that are lost; and the rates of the attempts at each \[Mbit/s\].
type Row = (u64, u64, u32, usize, &'static str);

fn control(cfg: Config) -> RateControl {
    let timing = Timing::new(&wlan::Config::default());
    let rng = Stream::new(1, Purpose::RateControl, 0);
    *RateControl::new(&cfg, Mode::LOWEST, &timing, |_, _| 0.0, rng).expect("not fixed")
}

/// The rates of all attempts at a frame \[Mbit/s\].
fn attempts(control: &mut RateControl, at: Time, bytes: u32, lost: usize) -> String {
    let mut mode = control.begin(PEER, Kind::Data, bytes, at);
    let mut made: Vec<String> = vec![];
    loop {
        made.push((mode.rate().0 as f64 / 1e6).to_string());
        control.sent();
        if made.len() > lost {
            control.succeeded(at);
            break;
        }
        match control.failed(at) {
            Next::Chain(next) => mode = next,
            Next::Mode(_) => panic!("both plan a chain"),
            Next::End => {
                control.gave_up();
                break;
            }
        }
    }
    made.join(" ")
}

fn check(name: &str, mut control: RateControl, rows: &[Row]) {
    for &(ms, frames, bytes, lost, expected) in rows {
        for i in 0..frames {
            let at = ms + 10 * i;
            assert_eq!(attempts(&mut control, Time::ZERO + Span::ms(at), bytes, lost), expected, "{name}, {at} ms");
        }
    }
}

#[test]
fn sample_rate_decides_by_the_time_that_frames_took() {
    let sample_rate = || control(Config { algorithm: Algorithm::SampleRate, ..Config::default() });
    // Nothing arrives. Two attempts at the rate whose frames took the least time, then, while nothing was acknowledged,
    // at the slowest. A rate at which none was sent counts with the time of a frame without loss, so that each gets its
    // turn; then 11 Mbit/s has lost the least.
    let dead: &[Row] = &[
        (0, 1, 1536, ALL, "11 11 1 1 1 1 1 1"),
        (10, 1, 1536, ALL, "5.5 5.5 1 1 1 1 1 1"),
        (20, 1, 1536, ALL, "2 2 1 1 1 1 1 1"),
        (30, 1, 1536, ALL, "1 1 1 1 1 1 1 1"),
        (40, 1, 1536, 0, "11"),
        // Now there is a best rate, which has three attempts.
        (50, 1, 1536, 3, "11 11 11 11"),
        (60, 1, 1536, ALL, "11 11 11 11 11 1 1 1"),
    ];
    check("a dead link", sample_rate(), dead);
    // 20 frames of 1782 us, reckoned 2412 with a round of backoff too many: nothing slower is worth a sample, since
    // one of 5.5 Mbit/s takes 2946 without loss. One that is lost at all rates takes 3834 + 1270, 6526 + 2550 and 42178
    // + 2550 us, and one in twenty of that counts: 5237 us, more than that, but less than twice as much, and the rate
    // has held for less than a second. So 5.5 Mbit/s is only sampled; it takes 3576 us. A second after the beginning it
    // becomes the rate.
    let clean: &[Row] = &[
        (0, 20, 1536, 0, "11"),
        (200, 1, 1536, ALL, "11 11 11 11 11 1 1 1"),
        (210, 1, 1536, 0, "5.5"),
        (220, 1, 1536, 0, "11"),
        (1000, 1, 1536, 0, "5.5"),
    ];
    check("a clean link that loses a frame", sample_rate(), clean);
    // Frames of up to 250 B have averages of their own, but what these do not survive, longer ones do not: after four
    // failures in a row at 11 Mbit/s it is left alone by all for ten seconds.
    let short: &[Row] = &[(0, 1, 1536, 0, "11"), (10, 1, 100, ALL, "11 11 1 1 1 1 1 1"), (20, 1, 1536, 0, "11")];
    check("short frames and long ones", sample_rate(), short);
}

#[test]
fn minstrel_decides_by_averaged_probabilities() {
    // One frame in a hundred looks around, the first one among them, which arrives at 11 Mbit/s in any case.
    let mut cfg = Config { algorithm: Algorithm::Minstrel, ..Config::default() };
    cfg.minstrel.lookaround_rate = 1;
    let rows: &[Row] = &[
        (0, 1, 1536, 0, "11"),
        // Two attempts at each: the fastest, the next, the slowest twice.
        (10, 1, 1536, 4, "11 11 5.5 5.5 1"),
        // 11 Mbit/s: 1 of 3, 5.5: 0 of 2, 1: 1 of 1. A third at 11 Mbit/s is more than all at 1; of 11 Mbit/s three
        // attempts fit into 6 ms. Second, and surest, is 1 Mbit/s: nothing else has succeeded.
        (110, 1, 1536, ALL, "11 11 11 1 1 1 1 1 1"),
        // A quarter of 0 of 3 counts: 11 Mbit/s 25 %, 1 Mbit/s 75 %.
        (220, 1, 1536, 0, "11"),
        // 11 Mbit/s 44 %.
        (330, 1, 1536, 3, "11 11 11 1"),
    ];
    check("losses", control(cfg.clone()), rows);
    // At 11 Mbit/s nearly all succeed, so that it is the surest, too, and has no more than two attempts.
    let clean: &[Row] = &[(0, 30, 1536, 0, "11"), (310, 1, 1536, ALL, "11 11 1 1 11 11 1 1")];
    check("a clean link", control(cfg), clean);
}

#[test]
fn ideal_rate_control_begins_anew_when_nothing_arrives() {
    let mut control = control(Config { algorithm: Algorithm::Ideal, ..Config::default() });
    control.begin(PEER, Kind::Data, 1536, Time::ZERO);
    for _ in 0..2 {
        // The neighbor is near, moves away while nothing is sent, and is found again at the slowest rate.
        control.arrived(PEER, 1.0);
        let tried = (0..9).map(|_| {
            let mode = control.begin(PEER, Kind::Data, 1536, Time::ZERO);
            control.sent();
            control.failed(Time::ZERO);
            mode.0
        });
        assert_eq!(tried.collect::<Vec<_>>(), [3, 3, 3, 3, 3, 3, 3, 0, 0]);
    }
}
