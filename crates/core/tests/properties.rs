//! Properties that hold for every scenario.

use chappe_core::packet::Kind;
use chappe_core::record::Recorder;
use chappe_core::record::flow_time::USES;
use chappe_core::scenario::{NoFiles, Scenario, json_schema};
use chappe_core::sim::{End, Sim};
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;
use serde_json::Value as Json;

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Everything that a run measures, as text.
fn everything(r: &Recorder) -> String {
    let tables = [r.flows(), r.nodes(), r.batches(), r.flow_batches(), r.series(), r.fates()];
    tables.map(|t| format!("{t:?}")).join("\n")
}

fn run(text: &str, seed: u64) -> Sim {
    let mut sim = Sim::new(&scenario(text).setup(Some(seed)));
    sim.run();
    sim
}

/// Scenarios of all kinds, small enough to run hundreds of them.
fn scenarios() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["standard", "ns2-2.35", "ns2-2004", "ns2-2002"]);
    let variant = prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "vegas", "few", "tcp_ap", "fixed"]);
    let routing = prop::sample::select(vec!["aodv", "shortest_path"]);
    let rate = prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]);
    let rts = prop::sample::select(vec!["always", "never", "500 B"]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1..9u32, 1..70u32, 2..60u32, 60..251u32);
    let chance = 0..u32::MAX;
    (preset, variant, routing, rate, rts, switches, sizes, chance).prop_map(
        |(preset, variant, routing, rate, rts, (arp, delayed, hello, list), (hops, window, queue, spacing), chance)| {
            let topology = if list {
                // Three rows of nodes that are near enough to reach each other.
                let place = |i: u32| format!("[\"{} m\", \"{} m\"]", (i % 3) * spacing.min(240), (i / 3) * 170);
                let places: Vec<String> = (0..=hops).map(place).collect();
                format!("kind = \"list\", positions = [{}]", places.join(", "))
            } else {
                format!("hops = {hops}, spacing = \"{spacing} m\"")
            };
            let second = if chance % 2 == 0 { "tcp" } else { "cbr" };
            let flows = format!(
                "[[flow]]\nfrom = 0\nto = {hops}\n[[flow]]\nfrom = {hops}\nto = 0\nstart = \"{} ms\"\n{}",
                chance % 3000,
                if second == "cbr" { "app = \"cbr\"" } else { "" }
            );
            format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "4 s", batches = 3, discard = 1, sample = "100 ms" }}
                topology = {{ {topology} }}
                wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}" }}
                queue = {{ limit = {queue} }}
                arp = {{ enabled = {arp} }}
                routing = {{ protocol = "{routing}", aodv = {{ hello = {hello} }} }}
                tcp = {{ variant = "{variant}", window = {window}, ack = "{ack}" }}
                cbr = {{ interval = "{interval} ms", payload = "700 B" }}
                {flows}
                "#,
                ack = ["every", "delayed", "thinning"][usize::from(delayed) * (1 + chance as usize % 2)],
                interval = 5 + chance % 100,
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Every packet has exactly one fate: the run itself checks the ledger and counts what the rooms hold. Here the
    /// tables must say the same.
    #[test]
    fn packets_are_conserved(text in scenarios(), seed in any::<u32>()) {
        let sim = run(&text, u64::from(seed));
        let fates = sim.recorder().fates();
        let rows = Kind::ALL.len();
        let column = |name: &str| fates.counts(name).unwrap_or_else(|| panic!("no column {name}")).to_vec();
        let mut ended = vec![0; rows];
        let mut causes = vec![0; rows];
        for (name, _) in &fates.columns {
            let sum = if name.starts_with("retry_limit_") { &mut causes } else { &mut ended };
            if !["kind", "created", "copied"].contains(&name.as_str()) {
                sum.iter_mut().zip(column(name)).for_each(|(sum, n)| *sum += n);
            }
        }
        prop_assert_eq!(causes, column("dropped_retry_limit"));
        let born: Vec<u64> = column("created").iter().zip(column("copied")).map(|(a, b)| a + b).collect();
        prop_assert_eq!(born, ended);
    }

    /// Nothing is delivered that was not sent, and nothing twice.
    #[test]
    fn flows_deliver_at_most_what_was_sent(text in scenarios(), seed in any::<u32>()) {
        let sim = run(&text, u64::from(seed));
        let flows = sim.recorder().flow_batches();
        let sum = |name: &str, flow: u64| -> u64 {
            let values = flows.counts(name).expect("a column").iter().zip(flows.counts("flow").expect("a column"));
            values.filter(|x| *x.1 == flow).map(|x| x.0).sum()
        };
        for flow in 0..2 {
            let sent = sum("packets_sent", flow);
            let first_time = sent - sum("retransmissions", flow);
            prop_assert!(sum("delivered_packets", flow) <= first_time);
            prop_assert!(sum("delivered_packets", flow) + sum("duplicates_received", flow) <= sent);
        }
    }

    /// Every instant of a TCP flow is used for exactly one thing.
    #[test]
    fn the_uses_of_time_sum_to_the_measured_time(text in scenarios(), seed in any::<u32>()) {
        let sim = run(&text, u64::from(seed));
        for table in [sim.recorder().flows(), sim.recorder().flow_batches()] {
            let column = |name: &str| table.numbers(name).expect("a column");
            let uses: Vec<Vec<f64>> = USES.iter().map(|u| column(&format!("{}_s", u.0))).collect();
            // The flow over TCP is the first; batches are as long as the run divided by three.
            let used: f64 = uses.iter().map(|u| u[0]).sum();
            let lasts = if table.column("measured_s").is_some() { column("measured_s")[0] } else { 4.0 / 3.0 };
            prop_assert!((used - lasts).abs() < 1e-6, "{used} s of {lasts} s");
        }
    }

    /// Looking at every signal changes nothing, although without a look most of those who only sense a frame are told
    /// of its end much later.
    #[test]
    fn a_trace_changes_nothing(text in scenarios(), seed in any::<u32>()) {
        let plain = run(&text, u64::from(seed));
        let mut traced = Sim::new(&scenario(&text).setup(Some(u64::from(seed))));
        traced.trace();
        traced.run();
        prop_assert_eq!(everything(plain.recorder()), everything(traced.recorder()));
    }

    /// The same scenario and seed give the same bytes, also from the file of settings in effect, also when the run is
    /// cut into pieces.
    #[test]
    fn results_are_reproduced(text in scenarios(), seed in any::<u32>()) {
        let first = scenario(&text);
        let again = scenario(&first.effective_toml());
        prop_assert_eq!(first.effective(), again.effective());
        let json = Scenario::from_json(&first.effective(), &Json::Null, &NoFiles).expect("what is written is read");
        prop_assert_eq!(first.effective(), json.effective());
        let whole = run(&text, u64::from(seed));
        let mut pieces = Sim::new(&again.setup(Some(u64::from(seed))));
        let end = loop {
            if let Some(end) = pieces.advance(997) {
                break end;
            }
        };
        prop_assert_eq!(end, End::Done);
        prop_assert_eq!(everything(whole.recorder()), everything(pieces.recorder()));
    }
}

/// A transfer that is over before enough is delivered ends the run when the last acknowledgement and the routes are
/// gone, not at the limit of simulated time.
#[test]
fn a_run_with_nothing_left_to_do_ends() {
    for extra in ["", "run.sample = \"100 ms\""] {
        let text = format!("run.stop = \"1000 delivered\"\ntopology.hops = 2\nftp.segments = 100\n{extra}");
        let mut sim = Sim::new(&scenario(&text).setup(None));
        assert_eq!(sim.run(), End::Idle);
        assert!(sim.recorder().delivered() == 100 && sim.now() < Time::ZERO + Span::secs(60), "{:?}", sim.now());
    }
}

#[test]
fn another_seed_gives_another_run() {
    let text = "run = { stop = \"5 s\" }\ntopology = { hops = 4 }";
    assert_ne!(everything(run(text, 1).recorder()), everything(run(text, 2).recorder()));
}

#[test]
fn runs_in_parallel_are_the_same() {
    let text = "extends = \"ns2-2.35\"\nrun = { stop = \"20 s\" }\ntopology = { hops = 5 }";
    let alone = everything(run(text, 3).recorder());
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| everything(run(text, 3).recorder()))).collect();
        threads.into_iter().map(|t| t.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(together.iter().all(|r| *r == alone));
}

// ---- texts ----

/// Dotted names of all settings with a value, from the schema.
fn settings(schema: &Json, path: &str, found: &mut Vec<String>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if inner["properties"].is_object() { settings(inner, &path, found) } else { found.push(path) }
    }
}

/// Values of all sorts, most of them wrong for most settings.
fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|i| i.to_string()),
        any::<f64>().prop_map(|f| format!("{f:?}")),
        prop::sample::select(vec![
            "true",
            "\"none\"",
            "\"always\"",
            "0",
            "-1",
            "nan",
            "inf",
            "\"\"",
            "[]",
            "{}",
            "\"1 s\"",
            "\"-5 m\"",
            "\"1e400 W\"",
            "[[1,2],[3]]",
            "1979-05-27",
            "\"2 Mbit/s\"",
            "\"aodv\"",
            "18446744073709551616",
        ])
        .prop_map(str::to_owned),
        "\"[0-9.e+-]{0,6} ?(s|ms|m|B|W|dB|Hz|Mbit/s|delivered)?\"",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Any text is either a scenario or a list of problems, never a panic.
    #[test]
    fn any_text_is_answered(text in "(?s).{0,200}") {
        if let Err(errors) = Scenario::from_toml("x.toml", &text, &[], &NoFiles) {
            prop_assert!(!errors.problems.is_empty());
            errors.render(true);
            errors.to_json();
        }
    }

    /// So is any value for any setting; what is accepted can be set up.
    #[test]
    fn any_value_is_answered(which in any::<prop::sample::Index>(), value in values(), second in values()) {
        let mut all = vec![];
        settings(&json_schema(), "", &mut all);
        let first = which.get(&all);
        let text = format!("run.stop = \"1 s\"\ntopology.hops = 2\n{first} = {value}\n");
        let other = all[(which.index(all.len()) * 7 + 3) % all.len()].clone();
        match Scenario::from_toml("x.toml", &text, &[(other, second)], &NoFiles) {
            Err(errors) => prop_assert!(!errors.render(false).is_empty()),
            Ok(s) => {
                let nodes = s.config().topology.nodes();
                if nodes < 200 && s.config().run.batches < 1000 {
                    let mut sim = Sim::new(&s.setup(None));
                    sim.advance(2000);
                }
            }
        }
    }
}
