//! Properties that hold for every scenario.

use crate::outcomes;
use chappe_core::net::queue::Discipline;
use chappe_core::net::routing::Protocol;
use chappe_core::packet::Reason;
use chappe_core::record::Recorder;
use chappe_core::record::uses::flow::USES;
use chappe_core::run::{End, Setup};
use chappe_core::sim::Sim;
use chappe_core::tcp::config::variants::Variant;
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::rate::Algorithm;
use chappe_scenario::{NoFiles, Scenario, json_schema};
use proptest::prelude::*;
use serde_json::Value as Json;
use std::sync::LazyLock;

pub fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// All measurements of a run as text.
pub fn everything(r: &Recorder) -> String {
    let tables = [
        r.flows(),
        r.nodes(),
        r.batches(),
        r.flow_batches(),
        r.samples(),
        r.packet_outcomes(),
        r.airtime(),
        r.rates(),
        r.wired_links(),
        r.wired_link_batches(),
    ];
    tables.map(|t| format!("{t:?}")).join("\n")
}

pub fn run(text: &str, seed: u64) -> Sim {
    let mut sim = Sim::new(&scenario(text).setup(Some(seed)));
    sim.run();
    sim
}

/// Routing protocols that need no list of routes.
pub fn protocols() -> Vec<&'static str> {
    Protocol::WORDS.iter().map(|w| w.0).filter(|w| *w != Protocol::Fixed.word()).collect()
}

/// Time after which a protocol without route requests has found the routes of a small network \[s\]; others, and DSDV
/// with its first updates, find them when they are needed.
pub fn found_by(protocol: &str) -> u32 {
    if ["babel", "batman_adv", "olsr"].contains(&protocol) { 20 } else { 0 }
}

/// Settings of the radio, with cumulative interference in about half of all cases, and rate control. All nodes at 251 m
/// are neighbors at 11 Mbit/s, even with the worst shadowing.
pub fn noise(chance: u32) -> (String, &'static str) {
    // Without a loss at 60 m of so many decibel the ratio to the noise would be 118 dB there.
    let radio = |loss: u32, more: &str| {
        format!(
            "propagation = \"log_distance\", log_distance = {{ exponent = 3, distance = \"60 m\", loss = \"{loss} dB\" }}, \
             transmit_power = \"24.5 dBm\", reception = \"sinr\", {more}"
        )
    };
    let radio = match chance % 8 {
        0 => radio(88, "sinr.energy_detection = \"-90 dBm\""),
        1 => radio(78, "shadowing = \"2 dB\", sinr = { relock = \"3 dB\", energy_detection = \"-85 dBm\" }"),
        2 => radio(
            80,
            "sinr = { fading = \"rayleigh\", preamble_detection = \"0 dB\", relock = \"5 dB\", relock_during = \"preamble\" }",
        ),
        3 => radio(
            78,
            "shadowing = \"1 dB\", sinr = { fading = \"rayleigh\", energy_detection = \"-90 dBm\", floor = \"-3 dB\" }",
        ),
        _ => String::new(),
    };
    // Ideal rate control goes by a ratio to the noise, and Minstrel-HT by aggregates.
    let fits = |a: &&Algorithm| !a.over_aggregates() && (!radio.is_empty() || !a.knows_signals());
    let controls: Vec<_> = Algorithm::ALL.iter().filter(fits).map(|a| a.word()).collect();
    let control = controls[chance as usize / 8 % controls.len()];
    (radio, control)
}

/// Scenarios of all kinds, small enough for hundreds of runs.
pub fn scenarios() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["standard", "ns2-2.35", "ns2-2004", "ns2-2002", "linux"]);
    let variant = prop::sample::select(Variant::WORDS.iter().map(|w| w.0).collect::<Vec<_>>());
    let routing = prop::sample::select(protocols());
    let rate = prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]);
    let rts = prop::sample::select(vec!["always", "never", "500 B"]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let disciplines = Discipline::WORDS.iter().map(|w| w.0).collect::<Vec<_>>();
    let managed = (prop::sample::select(disciplines), any::<bool>());
    let sizes = (1..9u32, 1..70u32, 2..60u32, 60..251u32);
    let chance = 0..u32::MAX;
    (preset, (variant, managed), routing, rate, rts, switches, sizes, chance).prop_map(
        |(
            preset,
            (variant, (discipline, ecn)),
            routing,
            rate,
            rts,
            switches,
            (hops, window, queue, spacing),
            chance,
        )| {
            let (arp, delayed, hello, list) = switches;
            let topology = if list {
                // Three rows of nodes that are near enough to reach each other.
                let place = |i: u32| format!("[\"{} m\", \"{} m\"]", (i % 3) * spacing.min(240), (i / 3) * 170);
                let places: Vec<String> = (0..=hops).map(place).collect();
                format!("kind = \"list\", positions = [{}]", places.join(", "))
            } else {
                format!("hops = {hops}, spacing = \"{spacing} m\"")
            };
            let control_of_linux = ["reno", "cubic", "bbr"][chance as usize / 11 % 3];
            let of_linux = match preset {
                "linux" => format!(", congestion_control = \"{control_of_linux}\""),
                _ => String::new(),
            };
            let second = if chance % 2 == 0 { "tcp" } else { "cbr" };
            let flows = format!(
                "[[flow]]\nsrc = 0\ndst = {hops}\n[[flow]]\nsrc = {hops}\ndst = 0\nstart = \"{} ms\"\n{}",
                chance % 3000,
                if second == "cbr" { "app = \"cbr\"" } else { "" }
            );
            // Between the ends of both flows, where all packets pass.
            let boxes = match chance / 7 % 6 {
                _ if list || hops < 2 || spacing < 126 => vec![],
                0 => vec![("snoop", "snoop = { cache_segments = 3, free_slots = 2 }")],
                1 => vec![("eln", "eln = { knowledge = \"channel\", memory_segments = 8 }")],
                2 => vec![("snoop", ""), ("eln", "eln = { knowledge = \"forwarded\" }")],
                3 => vec![("split", "split = { buffer_segments = 3, tcp = { variant = \"sack\" } }")],
                4 => vec![("split", "")],
                _ => vec![],
            };
            let at = 1 + chance % hops.saturating_sub(1).max(1);
            let one = |(kind, more): (&str, &str)| format!("[[middlebox]]\nkind = \"{kind}\"\nnode = {at}\n{more}\n");
            // A signal passes the neighbors, and with it the middleboxes.
            let (radio, control) =
                if boxes.is_empty() { noise(chance / 252) } else { (String::new(), Algorithm::Fixed.word()) };
            let boxes: String = boxes.into_iter().map(one).collect();
            format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "4 s", batches = 3, warmup_batches = 1, sample_interval = "100 ms" }}
                topology = {{ {topology} }}
                radio = {{ {radio} }}
                wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}", rate_control.algorithm = "{control}" }}
                queue = {{ limit = {queue}, discipline = "{discipline}", ecn = true, codel = {{ target = "2 ms" }} }}
                net = {{ {early} }}
                arp = {{ enabled = {arp} }}
                routing = {{ protocol = "{routing}", aodv = {{ hello = {hello} }} }}
                tcp = {{ variant = "{variant}", receive_window = {window}, ack_policy = "{ack}", ecn = {{ enabled = {ecn} }}{own}{of_linux} }}
                cbr = {{ interval = "{interval} ms", payload = "700 B" }}
                {flows}
                {boxes}
                "#,
                ack = ["every", "delayed", "thinning"][usize::from(delayed) * (1 + chance as usize % 2)],
                own = match chance / 5 % 5 {
                    0 => ", small_queue = 1",
                    1 => ", small_queue = 3, local_drop = \"cwr\", growth_per = \"segment\"",
                    2 => ", local_drop = \"cwr\", growth_when = \"used\", rto.estimator = \"linux\"",
                    _ => "",
                },
                interval = 5 + chance % 100,
                early = match chance / 42 % 6 {
                    0 => "link_red = { enabled = true, min_threshold = 0.2, max_p = 0.5 }",
                    1 => "link_red = { enabled = true, min_threshold = 0, max_threshold = 0.5, max_p = 1, pacing = false }",
                    2 => "neighborhood_red = { enabled = true, min_threshold = 10 }",
                    3 =>
                        "link_red = { enabled = true }, neighborhood_red = { enabled = true, min_threshold = 0, max_threshold = 100, \
                         max_p = 1, weight = 1, interval = \"7 ms\", lifetime = \"90 ms\" }",
                    _ => "",
                },
            )
        },
    )
}

/// Scenarios with links: from the last node on, lossy ones to two hosts, with errors at some receivers.
pub fn wired_scenarios() -> impl Strategy<Value = String> {
    let model = prop::sample::select(vec![
        "model = \"none\"",
        "model = \"uniform\", rate = 0.05",
        "model = \"uniform\", rate = 1.0",
        "model = \"uniform\", unit = \"bit\", rate = 1e-5",
        "model = \"gilbert_elliott\"",
        "model = \"gilbert_elliott\", unit = \"byte\", gilbert_elliott = { good_to_bad = 1e-4, bad_rate = 0.01 }",
    ]);
    let place = prop::sample::select(vec!["before_queue", "after_transmitter"]);
    let layer = prop::sample::select(vec!["phy", "net"]);
    let frames = prop::sample::select(vec!["all", "data"]);
    let wire = (1..5000u32, 0..50u32, 2..20u32, any::<bool>());
    (scenarios(), model, place, layer, frames, wire, any::<bool>()).prop_map(
        |(text, model, place, layer, frames, (rate, delay, queue, shared), receiver)| {
            // The second flow goes from the host to the first node.
            let last: u32 = text.split("src = ").nth(2).and_then(|t| t.lines().next()?.parse().ok()).expect("a node");
            let (gateway, host) = (last + 1, last + 2);
            let text = text.replacen(&format!("dst = {last}\n"), &format!("dst = {host}\n"), 1);
            let text = text.replacen(&format!("src = {last}\n"), &format!("src = {host}\n"), 1);
            // With two routes to the gateway, middleboxes are there.
            let moved =
                |l: &str| if l.starts_with("node = ") && shared { format!("node = {gateway}") } else { l.into() };
            let text = text.lines().map(moved).collect::<Vec<String>>().join("\n");
            let errors = if receiver { model } else { "model = \"none\"" };
            let errors = format!("error = {{ {errors}, layer = \"{layer}\", frames = \"{frames}\" }}");
            let text = text.replacen("wlan = { ", &format!("wlan = {{ {errors}, "), 1);
            let text = text.replacen("topology = { ", "topology = { wired_nodes = 2, ", 1);
            let base = if shared { 0 } else { last };
            format!(
                r#"
                {text}
                [[wired_link]]
                src = {last}
                dst = {gateway}
                rate = "{rate} kbit/s"
                delay = "{delay} ms"
                queue = {{ limit = {queue} }}
                error = {{ {model} }}
                error_place = "{place}"
                back = {{ error = {{ model = "none" }} }}
                [[wired_link]]
                src = {gateway}
                dst = {host}
                {second}
                "#,
                second = if base == 0 && last != 0 {
                    format!("[[wired_link]]\nsrc = 0\ndst = {gateway}")
                } else {
                    String::new()
                },
            )
        },
    )
}

/// Queues of a station, some of mac80211 with limits that are reached.
pub const QUEUES: [&str; 5] = [
    "",
    "",
    "queues = \"mac80211\", ",
    "queues = \"mac80211\", mac80211 = { limit = 9, flows = 1, codel.target = \"1 ms\", codel.interval = \"2 ms\" }, ",
    "queues = \"mac80211\", mac80211 = { limit_memory = \"8000 B\", aggregates = 1, airtime_fairness = false, \
     airtime_limits = false }, ",
];

/// Scenarios of 802.11n and 802.11ac, some with noise, errors, hidden terminals and all access categories.
pub fn qos_scenarios() -> impl Strategy<Value = String> {
    let ppdu = prop::sample::select(vec![
        ("802.11n", "ppdu = { mcs = 0 }"),
        ("802.11n", "ppdu = { mcs = 7, streams = 2, guard_interval = \"400 ns\" }"),
        ("802.11n", "ppdu = { format = \"non_ht\" }"),
        ("802.11n-2.4ghz", "ppdu = { mcs = 7, streams = 2 }, rate_control.algorithm = \"minstrel_ht\""),
        ("802.11ac", "ppdu = { mcs = 4 }"),
        ("802.11ac", "ppdu = { mcs = 9, guard_interval = \"400 ns\" }, signal_extension = \"6 us\""),
    ]);
    let rts = prop::sample::select(vec!["always", "never", "3000 B"]);
    let block_ack = prop::sample::select(vec![
        "",
        "agreement = \"established\", after_missed = \"repeat\", mpdu_attempts = 2",
        "buffer_mpdus = 5, request_attempts = 1, release_after = \"3 ms\", response_timeout = \"2 ms\"",
        "lifetime = \"4 ms\", release_after = \"never\"",
    ]);
    let error = prop::sample::select(vec!["", "model = \"uniform\", rate = 0.2", "model = \"gilbert_elliott\""]);
    let routing = prop::sample::select(protocols());
    let reception = prop::sample::select(vec!["pairwise", "sinr"]);
    let sizes = (1..5u32, 1..70u32, 2..60u32, 60..251u32, 0..4u32, 1..65u32);
    let more = (any::<bool>(), any::<bool>(), 0..64u32, 0..64u32, prop::sample::select(QUEUES.to_vec()));
    (ppdu, rts, block_ack, error, (routing, reception), sizes, more).prop_map(
        |(
            (preset, ppdu),
            rts,
            block_ack,
            error,
            (routing, reception),
            (hops, window, queue, spacing, amsdu, mpdus),
            (limits, datagrams, dscp, back, queues),
        )| {
            // Over which every MCS is decoded.
            let spacing = if reception == "sinr" { 10 + spacing % 40 } else { spacing };
            let limits = if limits { "edca = { best_effort.txop_limit = \"2528 us\", held_packets = 20 }, " } else { "" };
            let limits = [queues, limits].concat();
            format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "1 s", batches = 3, warmup_batches = 1 }}
                topology = {{ hops = {hops}, spacing = "{spacing} m" }}
                radio = {{ reception = "{reception}" }}
                wlan = {{ {ppdu}, rts_threshold = "{rts}", {limits}block_ack = {{ {block_ack} }}, error = {{ {error} }}, aggregation = {{ max_mpdus = {mpdus}, amsdu_size = "{amsdu}000 B" }} }}
                queue = {{ limit = {queue} }}
                routing.protocol = "{routing}"
                tcp.receive_window = {window}
                cbr = {{ interval = "900 us", payload = "700 B" }}
                [[flow]]
                src = 0
                dst = {hops}
                dscp = {dscp}
                [[flow]]
                src = {hops}
                dst = 0
                dscp = {back}
                {app}
                "#,
                app = if datagrams { "app = \"cbr\"" } else { "" },
            )
        },
    )
}

/// Scenarios of every kind.
pub fn all_scenarios() -> impl Strategy<Value = String> {
    prop_oneof![2 => scenarios(), 2 => wired_scenarios(), 1 => qos_scenarios()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Every packet has exactly one outcome: the run itself checks the accounting and counts the packets in all layers.
    /// Here the tables must agree.
    #[test]
    fn packets_are_conserved(text in all_scenarios(), seed in any::<u32>()) {
        let sim = run(&text, u64::from(seed));
        let packet_outcomes = sim.recorder().packet_outcomes();
        let rows = packet_outcomes.rows();
        let column = |name: &str| packet_outcomes.counts(name).unwrap_or_else(|| panic!("no column {name}")).to_vec();
        let mut ended = vec![0; rows];
        let mut causes = vec![0; rows];
        for (name, _) in &packet_outcomes.columns {
            let sum = if name.starts_with("retry_limit_") { &mut causes } else { &mut ended };
            if !["packet_class", "measured", "created", "injected", "copied"].contains(&name.as_str()) {
                sum.iter_mut().zip(column(name)).for_each(|(sum, n)| *sum += n);
            }
        }
        prop_assert_eq!(causes, column("dropped_retry_limit"));
        let born: Vec<u64> =
            (0..rows).map(|k| ["created", "injected", "copied"].iter().map(|name| column(name)[k]).sum()).collect();
        prop_assert_eq!(born, ended);
        // Both parts of the run together are the whole run.
        let ledger = sim.pool().ledger();
        prop_assert_eq!(outcomes(&packet_outcomes, "created"), ledger.created);
        prop_assert_eq!(outcomes(&packet_outcomes, "inside"), ledger.inside);
    }

    /// Packets offered to a link were sent, dropped, or wait; its drops are in the accounting.
    #[test]
    fn wires_account_for_their_packets(text in wired_scenarios(), seed in any::<u32>()) {
        let sim = run(&text, u64::from(seed));
        // From the start of the run, which the measured part leaves out.
        let batches = sim.recorder().wired_link_batches();
        let sum = |name: &str| batches.counts(name).expect("a column").iter().sum::<u64>();
        let ledger = sim.pool().ledger();
        let lost_above_mac = text.contains("layer = \"net\"");
        let errors = ledger.dropped_total(Reason::LinkError);
        prop_assert!(sum("dropped_link_error") == errors || (lost_above_mac && sum("dropped_link_error") < errors));
        prop_assert!(sum("dropped_queue_full") <= ledger.dropped_total(Reason::QueueFull));
        prop_assert!(sum("dropped_aqm") <= ledger.dropped_total(Reason::Aqm));
        let sent_or_lost = sum("packets_sent") + sum("dropped_queue_full") + sum("dropped_aqm");
        prop_assert!(sent_or_lost <= sum("packets_offered"));
        for (name, most) in [("utilization", 1.0 + 1e-9), ("mean_queue_packets", 60.0)] {
            let values = batches.numbers(name).expect("a column");
            prop_assert!(values.iter().all(|u| (0.0..=most).contains(u)), "{name}: {values:?}");
        }
    }

    /// Nothing is delivered that was not sent, and nothing twice; and the origin of every arrival is known.
    #[test]
    fn flows_deliver_at_most_what_was_sent(
        text in all_scenarios(),
        seed in any::<u32>(),
    ) {
        let sim = run(&text, u64::from(seed));
        let flows = sim.recorder().flow_batches();
        let sum = |name: &str, flow: u64| -> u64 {
            let values = flows.counts(name).expect("a column").iter().zip(flows.counts("flow").expect("a column"));
            values.filter(|x| *x.1 == flow).map(|x| x.0).sum()
        };
        for flow in 0..2 {
            let sent = sum("packets_sent", flow);
            let first_time = sent - sum("retransmissions", flow);
            prop_assert!(sum("packets_delivered", flow) <= first_time);
            // A MAC also gives up what has arrived, when the ACKs for it are lost; sent another way, it comes twice.
            let twice = sim.recorder().network().radio.mac_data_given_up;
            let copies = sent + sum("local_retransmissions", flow) + twice;
            prop_assert!(sum("packets_delivered", flow) + sum("duplicates_received", flow) <= copies);
        }
    }

    /// No flow delivers more than its file, unless a deviation of ns-2 makes it send data that nobody has provided.
    #[test]
    fn files_are_delivered_and_nothing_beyond(
        text in all_scenarios(),
        seed in any::<u32>(),
        segments in 1..30u64,
    ) {
        let files = [
            ("bulk.segments", segments.to_string()),
            ("tcp.dup_acks", "\"rfc5681\"".into()),
            ("tcp.vegas.ns2.send_time_sentinels", "false".into()),
            ("run.stop", "\"20 s\"".into()),
            // A timer far too short: most segments are sent again, and arrive when the file is over.
            ("tcp.rto.min", "\"1 ms\"".into()),
            ("tcp.rto.initial", "\"50 ms\"".into()),
        ];
        let files: Vec<(String, String)> = files.map(|(name, value)| (name.to_owned(), value)).into();
        let files = Scenario::from_toml("test", &text, &files, &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let mut sim = Sim::new(&files.setup(Some(u64::from(seed))));
        sim.run();
        let flows = sim.recorder().flow_batches();
        let column = |name: &str| flows.counts(name).expect("a column").to_vec();
        let of_first = column("packets_delivered").into_iter().zip(column("flow")).filter(|x| x.1 == 0).map(|x| x.0);
        prop_assert!(of_first.sum::<u64>() <= segments);
    }

    /// Every instant of a TCP flow has exactly one use.
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

    /// Reporting every signal changes nothing, although usually most sense-only receivers learn of its end much later.
    #[test]
    fn a_trace_changes_nothing(text in all_scenarios(), seed in any::<u32>()) {
        let plain = run(&text, u64::from(seed));
        let mut traced = Sim::new(&scenario(&text).setup(Some(u64::from(seed))));
        traced.trace();
        traced.run();
        prop_assert_eq!(everything(plain.recorder()), everything(traced.recorder()));
    }

    /// Accounting for airtime changes nothing, either.
    #[test]
    fn counting_air_time_changes_nothing(text in prop_oneof![3 => scenarios(), 1 => qos_scenarios()], seed in any::<u32>()) {
        let plain = run(&text, u64::from(seed));
        let mut counted = Sim::new(&Setup { airtime: true, ..scenario(&text).setup(Some(u64::from(seed))) });
        counted.run();
        // Columns that were counted.
        let rest = |sim: &Sim| {
            let r = sim.recorder();
            let mut batches = r.batches();
            batches.columns.retain(|c| c.0 != "energy_j");
            [r.flows(), r.nodes(), batches, r.flow_batches(), r.samples(), r.packet_outcomes()].map(|t| format!("{t:?}"))
        };
        prop_assert_eq!(rest(&plain), rest(&counted));
        prop_assert_eq!(counted.recorder().airtime().rows(), counted.recorder().nodes().rows());
    }

    /// A scenario and a seed always give the same bytes, also from the file of effective settings, and also when the
    /// run is divided.
    #[test]
    fn results_are_reproduced(text in all_scenarios(), seed in any::<u32>()) {
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

/// A transfer that completes before enough is delivered ends the run when the last acknowledgement and the routes are
/// gone, not at the limit of simulated time.
#[test]
fn a_run_with_nothing_left_to_do_ends() {
    for extra in ["", "run.sample_interval = \"100 ms\"", "net.neighborhood_red.enabled = true"] {
        let text = format!("run.stop = \"1000 delivered\"\ntopology.hops = 2\nbulk.segments = 100\n{extra}");
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

/// Names of all settings, read once: writing the schema takes longer than answering a text.
static SETTINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all = vec![];
    settings(&json_schema(), "", &mut all);
    all
});

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
    fn any_text_is_a_scenario_or_problems(text in "(?s).{0,200}") {
        if let Err(errors) = Scenario::from_toml("x.toml", &text, &[], &NoFiles) {
            prop_assert!(!errors.problems.is_empty());
            errors.render(true);
            errors.to_json();
        }
    }

    /// Any value of any setting is accepted or rejected; an accepted one can be set up.
    #[test]
    fn any_value_is_accepted_or_rejected(which in any::<prop::sample::Index>(), value in values(), second in values()) {
        let all = &*SETTINGS;
        let first = which.get(all);
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
