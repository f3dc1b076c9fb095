//! BBR of the preset `linux` compared with a kernel's, state by state: a flow alone on a link of 10 Mbit/s and 40 ms,
//! and the section of `reproductions/docs/validation-linux.md` that compares the two (`data/linux_bbr.csv`).

use crate::record::record_some;
use chappe_scenario::{NoFiles, Scenario};
use std::fmt::Write;
use std::sync::LazyLock;

const THEIRS: &str = include_str!("data/linux_bbr.csv");

/// End of the comparison \[ms\].
const END: f64 = 21_500.0;

/// Text of the page before the table.
const ABOUT: &str = "\n## BBR, state by state\n\n\
    A single BBR flow: 10 Mbit/s, 40 ms, a queue of 50 packets. The kernel's window and pacing rate were sampled every 5 ms. A\n\
    pacing rate above 1.15 times the usual rate marks the probing phase, below 0.85 times the draining phase, and a window of\n\
    four segments the probe of the round-trip time. The bounds were set after the comparison, with one kernel flow. There are two\n\
    differences:\n\n\
    - The kernel's window is 2 segments larger, because its acknowledgements arrive a few tenths of a millisecond early or late, and\n\
    \u{20} BBR adds the segments that arrive together.\n\
    - Its second probe is later, because any smaller round-trip time, even by microseconds, restarts the interval of 10 s. Over the\n\
    \u{20} link of `make check-kernel`, with samples every 4 ms (`TCP_CC_INFO`), no round-trip time was smaller in the 10 s after the first\n\
    \u{20} probe, and the kernel's second probe came after 10,005 ms.\n\n\
    | | kernel | ours | bound |\n\
    |---|---|---|---|\n";

/// Time \[ms\], window \[segments\] and pacing rate \[Mbit/s\] from then on.
type Change = (f64, f64, f64);

fn theirs() -> Vec<Change> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let rows = THEIRS.lines().filter(|l| !l.starts_with('#')).skip(1).map(|l| l.split(',').map(number).collect());
    rows.map(|row: Vec<f64>| (row[0], row[1], row[2] / 1e6)).collect()
}

/// Rows of the table `cwnd` of a run, with the state and the gain of BBR.
fn ours() -> Vec<(Change, &'static str, f64)> {
    let fast = r#"rate = "1 Gbit/s", queue = { limit = 5000 }"#;
    let text = format!(
        r#"
        extends = "linux"
        run = {{ stop = "21.5 s", batches = 1, warmup_batches = 0, record = ["cwnd"] }}
        topology = {{ kind = "none", wired_nodes = 3 }}
        queue.discipline = "droptail"
        wired_link = [{{ src = 0, dst = 1, delay = "0 s", {fast} }},
            {{ src = 1, dst = 2, delay = "20 ms", rate = "10 Mbit/s", queue = {{ limit = 50 }}, back = {{ {fast} }} }}]
        tcp = {{ congestion_control = "bbr", receive_window = 100000, receive_buffer.enabled = false, delayed_ack.quick_acks = 740 }}
        flow = [{{ src = 0, dst = 2, start = "0 s" }}]
        "#
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let rows = &record_some(scenario.setup(Some(1))).tables["cwnd"];
    let rows = rows.iter().filter(|r| r["pacing_rate_bps"].int() < u64::MAX);
    rows.map(|r| {
        let rate = r["pacing_rate_bps"].int() as f64 / 1e6;
        let crate::record::Cell::Word(state) = r["bbr_state"] else { panic!("no state") };
        ((r["time_s"].float() * 1e3, r["cwnd_segments"].float(), rate), state, r["pacing_gain"].float())
    })
    .collect()
}

/// Times in which something holds: their begins and ends \[ms\], those cut off by the end left out.
fn spans(changes: &[Change], holds: impl Fn(&Change) -> bool) -> Vec<(f64, f64)> {
    let (mut found, mut begin) = (vec![], None);
    for change in changes {
        match (begin, holds(change)) {
            (None, true) => begin = Some(change.0),
            (Some(since), false) => {
                found.push((since, change.0));
                begin = None;
            }
            _ => {}
        }
    }
    found
}

/// The pacing rate in force for most of the time between two instants.
fn usual(changes: &[Change], from: f64, to: f64) -> f64 {
    let mut lengths: Vec<(f64, f64)> =
        changes.windows(2).filter(|w| (from..to).contains(&w[0].0)).map(|w| (w[0].2, w[1].0 - w[0].0)).collect();
    lengths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = lengths.iter().map(|l| l.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = lengths.iter().find(|l| {
        sum += l.1;
        sum >= half
    });
    middle.expect("changes").0
}

/// Name, value, and the largest difference allowed, of each property of a run.
fn properties(changes: &[Change]) -> Vec<(&'static str, f64, f64)> {
    let base = usual(changes, 2000.0, 10_000.0);
    let fastest = changes.iter().map(|c| c.2).fold(0.0, f64::max);
    let drain = spans(changes, |c| c.2 < 0.5 * base && c.2 > 0.0 && c.0 > 300.0)[0];
    let mean = |holds: &dyn Fn(&Change) -> bool| {
        let all = spans(changes, holds);
        let inner: Vec<f64> = all.iter().filter(|s| s.0 > 1000.0 && s.1 < 10_000.0).map(|s| s.1 - s.0).collect();
        inner.iter().sum::<f64>() / inner.len() as f64
    };
    let probes = spans(changes, |c| c.1 == 4.0);
    let windows = spans(changes, |c| c.1 > 4.0 && c.2 / base < 1.15 && c.2 / base > 0.85);
    let at = windows.iter().find(|s| s.0 > 2000.0).expect("the cycle").0;
    let window = changes.iter().rfind(|c| c.0 <= at).expect("a window").1;
    let weighted =
        changes.windows(2).map(|w| (w[0].1, w[1].0.clamp(1000.0, 21_000.0) - w[0].0.clamp(1000.0, 21_000.0)));
    let mean_window = weighted.map(|(window, span)| window * span).sum::<f64>() / 20_000.0;
    vec![
        ("largest rate of startup \\[Mbit/s\\]", fastest, 0.1),
        ("end of startup, begin of drain \\[ms\\]", drain.0, 10.0),
        ("end of drain, begin of the cycle \\[ms\\]", drain.1, 10.0),
        ("usual rate of the cycle \\[Mbit/s\\]", base, 0.1),
        ("window of the cycle \\[segments\\]", window, 4.0),
        ("mean window from 1 to 21 s \\[segments\\]", mean_window, 3.8),
        ("phase that probes, mean \\[ms\\]", mean(&|c| c.2 > 1.15 * base), 10.0),
        ("phase that drains, mean \\[ms\\]", mean(&|c| c.2 < 0.85 * base), 10.0),
        ("six phases at the usual rate, mean \\[ms\\]", mean(&|c| (0.85..=1.15).contains(&(c.2 / base))), 10.0),
        ("first probe of the round-trip time: begin \\[ms\\]", probes[0].0, 20.0),
        ("its length \\[ms\\]", probes[0].1 - probes[0].0, 10.0),
        ("from it to the second one \\[ms\\]", probes[1].0 - probes[0].1, 300.0),
    ]
}

static JUDGED: LazyLock<(String, Vec<String>)> = LazyLock::new(|| {
    let (mut page, mut wrong) = (ABOUT.to_owned(), vec![]);
    let ours: Vec<Change> = ours().into_iter().map(|o| o.0).filter(|c| c.0 < END).collect();
    for ((name, kernel, bound), (_, value, _)) in properties(&theirs()).into_iter().zip(properties(&ours)) {
        writeln!(page, "| {name} | {kernel:.1} | {value:.1} | {bound} |").expect("text");
        if (kernel - value).abs() > bound {
            wrong.push(format!("{name}: {value} for {kernel}"));
        }
    }
    (page, wrong)
});

/// The section of the page.
pub fn section() -> &'static str {
    &JUDGED.0
}

#[test]
fn states_of_bbr_begin_and_end_as_those_of_a_kernel() {
    assert!(JUDGED.1.is_empty(), "{:#?}", JUDGED.1);
}

/// Up to the cycle, window and rate at each 20 ms are those of the kernel, within 2 segments and 2 %.
#[test]
fn startup_and_drain_have_the_windows_and_rates_of_a_kernel() {
    let (theirs, ours) = (theirs(), ours());
    for k in 0..28 {
        let at = 40.6 + 20.0 * f64::from(k);
        let kernel = theirs.iter().rfind(|c| c.0 <= at).expect("a change");
        let own = ours.iter().rfind(|o| o.0.0 <= at).expect("a change").0;
        assert!((kernel.1 - own.1).abs() <= 2.0, "{at} ms: {} for {} segments", own.1, kernel.1);
        assert!((own.2 / kernel.2 - 1.0).abs() <= 0.02, "{at} ms: {} for {} Mbit/s", own.2, kernel.2);
    }
}

/// The column of states agrees with the gains that Cardwell et al. give each of them.
#[test]
fn the_recorded_states_have_their_gains() {
    let rows = ours();
    let of = |state| rows.iter().filter(move |r| r.1 == state).map(|r| r.2);
    assert!(of("startup").all(|gain| gain == 739.0 / 256.0));
    assert!(of("drain").all(|gain| gain == 88.0 / 256.0));
    let mut cycle: Vec<f64> = of("probe_bw").collect();
    cycle.dedup();
    let begin = cycle.iter().position(|g| *g == 1.25).expect("the phase that probes");
    let pairs = cycle[begin..].chunks_exact(3).filter(|c| *c == [1.25, 0.75, 1.0]).count();
    assert!(pairs > 40, "{pairs}");
    assert!(of("probe_rtt").all(|gain| gain == 1.0) && of("probe_rtt").count() > 0);
    let order: Vec<&str> = rows.iter().map(|r| r.1).collect();
    let first = |state| order.iter().position(|s| *s == state);
    assert!(first("startup") < first("drain") && first("drain") < first("probe_bw"));
}
