//! Silences: times in which the application, the receiver or a broken route keeps a sender from using its window are no
//! time of CUBIC's curve (RFC 9438, 4.2 and 5.8), so that the window does not depend on how long they last.

use crate::record::{Cell, record_some};
use chappe_core::tcp::cc::Rule;
use chappe_core::tcp::config::pairs;
use chappe_core::tcp::config::variants::Method;
use chappe_scenario::{NoFiles, Scenario};

/// Time at which a silence begins, and how long it is at least [s].
const BEGIN: u32 = 9;

/// Settings of TCP, and other lines, of a silence of so many seconds.
type Silence = dyn Fn(u32) -> (String, String);

/// cwnd before a silence of so many seconds, and the largest within two seconds after it. The flow has a loss at 4 s.
fn windows(method: Method, silence: &Silence, seconds: u32) -> (f64, f64) {
    let (tcp, more) = silence(seconds);
    let text = format!(
        r#"
        run = {{ stop = "{} s", batches = 1, warmup_batches = 0, record = ["cwnd"], seed = 1 }}
        topology = {{ kind = "none", wired_nodes = 2 }}
        wired = {{ rate = "100 Mbit/s", delay = "40 ms", queue.limit = 3000, error = {{ model = "uniform", rate = 0.0 }} }}
        wired_link = [{{ src = 0, dst = 1 }}]
        flow = [{{ src = 0, dst = 1 }}]
        [tcp]
        congestion_control = "cubic"
        loss_recovery = "{}"
        timestamps = true
        initial_ssthresh = 300
        receive_window = 5000
        {tcp}
        {more}
        "#,
        BEGIN + seconds + 3,
        method.word(),
    );
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let rows = &record_some(scenario.setup(None)).tables["cwnd"];
    let number = |cell: &Cell| if let Cell::Float(x) = cell { *x } else { panic!("{cell:?}") };
    let of = |from: u32, to: u32| {
        let within = rows.iter().filter(move |r| (f64::from(from)..f64::from(to)).contains(&number(&r["time_s"])));
        within.map(|r| number(&r["cwnd_segments"])).collect::<Vec<_>>()
    };
    let after = of(BEGIN + seconds, BEGIN + seconds + 2).into_iter().fold(0.0, f64::max);
    (*of(0, BEGIN).last().expect("a window"), after)
}

/// A change of a setting at this time.
fn set(at: &str, setting: &str, value: &str) -> String {
    format!("[[event]]\nat = \"{at}\"\naction = \"set\"\nsetting = \"{setting}\"\nvalue = {value}\n")
}

/// Events: a loss of some segments at 4 s, in a slice of time, and others.
fn events(more: &str) -> String {
    let error = "wired_link.0.error.rate";
    set("4 s", error, "0.05") + &set("4020 ms", error, "0.0") + more
}

/// The flow stops and starts again.
fn stopped(seconds: u32) -> String {
    let at = |at: u32, action: &str| format!("[[event]]\nat = \"{at} s\"\naction = \"{action}\"\nflow = 0\n");
    events(&(at(BEGIN, "flow_stop") + &at(BEGIN + seconds, "flow_start")))
}

/// Kinds of silence.
fn silences() -> [(&'static str, Box<Silence>); 4] {
    let window = |at: u32, value: &str| set(&format!("{at} s"), "flow.0.tcp.receive_window", value);
    [
        ("stopped", Box::new(|s| (String::new(), stopped(s)))),
        ("stopped, window kept", Box::new(|s| ("after_idle = \"keep\"".into(), stopped(s)))),
        (
            "window of one segment",
            Box::new(move |s| (String::new(), events(&(window(BEGIN, "1") + &window(BEGIN + s, "5000"))))),
        ),
        (
            // The receiver's buffer is full within 2 s, and is read again after the pause.
            "receiver that does not read",
            Box::new(|s| {
                let pause = format!("{{ pause_after = \"{} s\", pause = \"{} s\" }}", BEGIN - 2, s + 2);
                (format!("reader = {pause}"), events(""))
            }),
        ),
    ]
}

#[test]
fn a_longer_silence_leaves_the_window_of_cubic_as_a_short_one() {
    for method in pairs::recoveries_of(Rule::Cubic) {
        // Linux leaves out the times in which nothing is outstanding, and no others.
        let kinds = if method == Method::RackTlp { 2 } else { 4 };
        for (name, silence) in silences().iter().take(kinds) {
            let [(before, short), (_, long)] = [4, 34].map(|seconds| windows(method, silence, seconds));
            let what = format!("{name}, {}: {before} segments, {short} after 4 s, {long} after 34 s", method.word());
            assert!(short < 1.3 * before, "{what}");
            // In a window of one segment each acknowledgement lets it grow a little (`tcp.growth_when`).
            assert!((long / short - 1.0).abs() < 0.05, "{what}");
        }
    }
}
