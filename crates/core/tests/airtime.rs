//! Airtime of every node, compared with the frames on the air: own frames and signals of others, taken one by one from
//! a trace.

use chappe_core::packet::RadioId;
use chappe_core::radio::propagation::Model;
use chappe_core::record::Table;
use chappe_core::record::trace::{Line, What};
use chappe_core::record::uses::airtime::Use;
use chappe_core::run::Setup;
use chappe_core::sim::Sim;
use chappe_core::unit::{Position, Span};
use chappe_core::wlan::{CapturedFrame, EifsRule, FrameKind, Timing};
use chappe_scenario::{NoFiles, Scenario};
use proptest::prelude::*;

/// Random positions, flows and rules.
fn scenarios() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["standard", "ns2-2.35"]);
    let rate = prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "11 Mbit/s"]);
    let rts = prop::sample::select(vec!["always", "never", "500 B"]);
    let eifs = prop::sample::select(vec!["nav", "instead_of_difs", "after_frame", "difs"]);
    let captured = prop::sample::select(vec!["nav", "busy"]);
    let propagation = prop::sample::select(vec!["two_ray", "friis", "range"]);
    let chance = (0..u32::MAX, 2..14u32, 200..1200u32, any::<bool>(), any::<bool>());
    (preset, rate, rts, eifs, captured, propagation, chance).prop_map(
        |(preset, rate, rts, eifs, captured, propagation, (seed, nodes, width, nav_reset, cbr))| {
            let app = if cbr { "cbr" } else { "bulk" };
            format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "1500 ms", batches = 3, warmup_batches = 0 }}
                topology = {{ kind = "random", nodes = {nodes}, width = "{width} m", height = "300 m", seed = {seed} }}
                radio = {{ propagation = "{propagation}", receive_threshold = "range", sense_threshold = "sense_range" }}
                wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}", eifs = "{eifs}", nav_reset = {nav_reset},
                          captured_frame = "{captured}" }}
                traffic = {{ flows = {flows}, distinct_ends = false, stagger = "50 ms", app = "{app}" }}
                cbr = {{ interval = "7 ms", payload = "700 B" }}
                "#,
                flows = 1 + seed % 4,
            )
        },
    )
}

fn setup(text: &str, seed: u32) -> Setup {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
    Setup { airtime: true, ..scenario.setup(Some(u64::from(seed))) }
}

/// A time of every node [ns].
fn column(table: &Table, used: Use) -> Vec<u64> {
    let name = Use::ALL.iter().find(|u| u.0 == used).expect("a use").1;
    let seconds = table.numbers(&format!("{name}_s")).expect("a column");
    seconds.into_iter().map(|s| (s * 1e9).round() as u64).collect()
}

fn sum(table: &Table, uses: impl Fn(Use) -> bool) -> Vec<u64> {
    let mut sums = vec![0; table.rows()];
    for (used, ..) in Use::ALL.iter().filter(|u| uses(u.0)) {
        sums.iter_mut().zip(column(table, *used)).for_each(|(sum, own)| *sum += own);
    }
    sums
}

/// Frames sent by a node: begin and end [ns].
pub fn frames(setup: &Setup, lines: &[Line]) -> Vec<(RadioId, u64, u64)> {
    let timing = Timing::new(&setup.interfaces.profiles[0].wlan);
    let airtime = |l: &Line| match l.kind {
        FrameKind::Rts => timing.rts,
        FrameKind::Cts => timing.cts,
        FrameKind::Ack => timing.ack,
        FrameKind::Data if l.to.is_broadcast() => timing.broadcast(timing.frame_bytes(l.bytes)),
        FrameKind::Data => timing.data(timing.frame_bytes(l.bytes)),
        FrameKind::BlockAck | FrameKind::BlockAckReq | FrameKind::CfEnd | FrameKind::Action => {
            unreachable!("frames of EDCA")
        }
    };
    let sent = lines.iter().filter(|l| l.what == What::Sent);
    sent.map(|l| (l.radio, l.at.0, l.at.0 + airtime(l).0)).collect()
}

/// Total length of the union of intervals before an instant.
fn covered(mut intervals: Vec<(u64, u64)>, end: u64) -> u64 {
    intervals.sort_unstable();
    let (mut length, mut until) = (0, 0);
    for (from, to) in intervals {
        length += to.min(end).saturating_sub(from.max(until).min(end));
        until = until.max(to);
    }
    length
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn uses_sum_to_the_run_and_match_the_trace(text in scenarios(), seed in any::<u32>()) {
        let setup = setup(&text, seed);
        let mut sim = Sim::new(&setup);
        sim.trace();
        sim.run();
        let end = sim.now().0;
        let table = sim.recorder().airtime();
        let positions: &[Position] = &setup.positions;
        prop_assert_eq!(sum(&table, |_| true), vec![end; positions.len()]);

        // Nothing but frames sets the NAV.
        if setup.interfaces.profiles[0].wlan.eifs == EifsRule::Difs && setup.interfaces.profiles[0].wlan.captured_frame == CapturedFrame::Busy {
            prop_assert_eq!(column(&table, Use::Eifs), vec![0; positions.len()]);
        }

        let sent = frames(&setup, &sim.take_trace().expect("on").lines);
        let model = Model::new(&setup.interfaces.profiles[0].radio);
        let transmitting = sum(&table, |u| u <= Use::Collided);
        let busy = sum(&table, |u| u <= Use::CarrierSense);
        for n in 0..positions.len() {
            let mine = |f: &&(RadioId, u64, u64)| f.0.index() == n;
            let own: Vec<(u64, u64)> = sent.iter().filter(mine).map(|f| (f.1, f.2)).collect();
            prop_assert_eq!(transmitting[n], covered(own.clone(), end), "node {} transmits", n);
            let heard = sent.iter().filter(|f| !mine(f)).filter_map(|f| {
                let distance = positions[f.0.index()].distance(positions[n]);
                let Span(delay) = distance.light_delay();
                model.signal(distance).map(|_| (f.1 + delay, f.2 + delay))
            });
            let all = own.into_iter().chain(heard).collect();
            prop_assert_eq!(busy[n], covered(all, end), "node {} senses", n);
        }
    }
}

/// Batch borders cut frames, but every instant counts exactly once.
#[test]
fn batches_sum_to_the_run() {
    let text =
        "extends = \"ns2-2.35\"\nrun = { stop = \"3 s\", batches = 1000, warmup_batches = DISCARD }\ntopology.hops = 5";
    let parts = |discard: u32| {
        let mut sim = Sim::new(&setup(&text.replace("DISCARD", &discard.to_string()), 1));
        sim.run();
        let (from, to) = sim.recorder().measured_period();
        assert_eq!(sum(&sim.recorder().airtime(), |_| true), [(to - from).0; 6]);
        sim.recorder().airtime()
    };
    let whole = parts(0);
    assert!(Use::ALL.iter().filter(|u| column(&whole, u.0).iter().any(|&t| t > 0)).count() > 9, "{whole:?}");
    // Of the whole, a later part is never more.
    for discard in [1, 700, 999] {
        let part = parts(discard);
        for (used, ..) in Use::ALL {
            let both = column(&part, *used).into_iter().zip(column(&whole, *used));
            assert!(both.into_iter().all(|(part, whole)| part <= whole), "{used:?} after {discard} ms");
        }
    }
}
