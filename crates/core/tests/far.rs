//! Long hops: the longest distance between two nodes, the message beyond it, and correct packet accounting for any
//! distance and slot time.

use crate::airtime;
use crate::properties::protocols;
use chappe_core::run::End;
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario, presets};

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("far.toml", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario, seed: u64) -> Sim {
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    assert!(matches!(sim.run(), End::Done | End::Limit | End::Idle));
    sim
}

/// The sum of a column over all nodes.
fn sum(sim: &Sim, column: &str) -> u64 {
    sim.recorder().nodes().counts(column).expect("a column").iter().sum()
}

/// Returns true if a radio has two frames of its own on the air at once.
fn overlaps(scenario: &Scenario, seed: u64) -> bool {
    let setup = scenario.setup(Some(seed));
    let mut sim = Sim::new(&setup);
    sim.trace();
    sim.run();
    let mut frames = airtime::frames(&setup, &sim.take_trace().expect("on").lines);
    frames.sort_unstable();
    frames.windows(2).any(|w| w[0].0 == w[1].0 && w[0].2 > w[1].1)
}

/// Warnings about long hops.
fn warning(scenario: &Scenario) -> Option<String> {
    let mut said = scenario.warnings.iter().filter(|p| p.message.contains("an answer comes in time"));
    let first = said.next().map(|p| format!("{}: {} -> {}", p.path, p.message, p.help.as_deref().unwrap_or("")));
    assert!(said.next().is_none());
    first
}

/// Signals with equal power up to their range, and signals that fall with distance, with cumulative interference.
const RADIOS: [&str; 2] = [
    "radio = { reception = \"pairwise\", propagation = \"range\", range = \"40 km\", sense_range = \"40 km\", receive_threshold = \"range\", \
               sense_threshold = \"sense_range\" }",
    "radio = { propagation = \"friis\", reception = \"sinr\", transmit_power = \"70 dBm\", shadowing = \"0 dB\" }",
];

/// Two nodes, one of which sends datagrams to the other.
fn two_nodes(preset: &str, radio: &str, meters: f64, wlan: &str) -> Scenario {
    scenario(&format!(
        "extends = \"{preset}\"\nrun = {{ stop = \"1 s\", batches = 1, warmup_batches = 0 }}\n\
         topology = {{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"{meters} m\", \"0 m\"]] }}\n{radio}\n\
         routing.protocol = \"shortest_path\"\narp.enabled = false\ncbr = {{ interval = \"50 ms\", payload = \"1000 B\" }}\n\
         wlan = {{ {wlan} }}\nflow = [{{ dst = 1, app = \"cbr\" }}]"
    ))
}

#[test]
fn hop_works_within_the_timers_and_a_warning_says_so_beyond() {
    for &(preset, _) in presets::WORDS {
        let fixed = preset.starts_with("ns2");
        // ns-2's timers allow for 2 us each way, those of the standard for a slot: 20 us, or 9 us at 5 GHz and where
        // short slots are known (10.3.2.9).
        let (round, setting) = match preset {
            _ if fixed => (4.0, "wlan.max_propagation"),
            "802.11a" | "802.11g" | "802.11n" | "802.11ac" | "linux-mesh" => (9.0, "wlan.slot_time"),
            _ => (20.0, "wlan.slot_time"),
        };
        let limit = round * 300.0 / 2.0;
        for radio in RADIOS {
            for rts in ["always", "never"] {
                let wlan = format!("rts_threshold = \"{rts}\"");
                for (meters, works) in
                    [(200.0, true), (limit - 1.0, true), (limit + 1.0, false), (10_000.0, false), (30_000.0, false)]
                {
                    let name = format!("{preset}, {radio}, RTS {rts}, {meters} m");
                    let s = two_nodes(preset, radio, meters, &wlan);
                    let sim = run(&s, 1);
                    let failed = sum(&sim, "rts_frames_failed") + sum(&sim, "data_frames_failed");
                    assert_eq!(failed == 0, works, "{name}: {failed}");
                    assert_eq!(warning(&s).is_none(), works, "{name}: {:?}", warning(&s));
                    let sent = sum(&sim, "rts_frames_sent") + sum(&sim, "data_frames_sent");
                    if !works {
                        // The last frame has no verdict yet. An ACK that comes too late may meet the wait for that of the
                        // next attempt, and count for it: 2 of 128 frames of 802.11ac over 30 km.
                        assert!(20 * failed >= 19 * sent, "{name}: {failed} of {sent}");
                        continue;
                    }
                    let delivered = sim.recorder().flows().counts("packets_delivered").expect("a column")[0];
                    assert!(delivered >= 19, "{name}: {delivered} of 20");
                }
                let wlan = format!("{wlan}, slot_time = \"201 us\", max_propagation = \"101 us\"");
                let s = two_nodes(preset, radio, 30_000.0, &wlan);
                let sim = run(&s, 1);
                assert_eq!(
                    sum(&sim, "rts_frames_failed") + sum(&sim, "data_frames_failed"),
                    0,
                    "{preset}, {radio}, RTS {rts}"
                );
                assert_eq!(warning(&s), None);
                let said = warning(&two_nodes(preset, radio, 30_000.0, "")).expect("a warning");
                let needed = if fixed { "100 us" } else { "200 us" };
                assert!(said.starts_with(&format!("{setting}: nodes 0 and 1 are 30000 m apart; with")), "{said}");
                assert!(said.ends_with(&format!("-> set `{setting}` to at least {needed}")), "{said}");
            }
        }
    }
}

#[test]
fn a_near_station_answers_in_time_whoever_else_listens() {
    // Node 2 senses what the others send, 100 us later: longer than SIFS and a slot.
    for preset in ["standard", "802.11a", "ns2-2.35"] {
        for rts in ["always", "never"] {
            let s = scenario(&format!(
                "extends = \"{preset}\"\nrun = {{ stop = \"1 s\", batches = 1, warmup_batches = 0 }}\n\
                 topology = {{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"200 m\", \"0 m\"], [\"30 km\", \"0 m\"]] }}\n\
                 radio = {{ propagation = \"range\", range = \"250 m\", sense_range = \"40 km\", receive_threshold = \"range\", \
                            sense_threshold = \"sense_range\" }}\n\
                 routing.protocol = \"shortest_path\"\nwlan.rts_threshold = \"{rts}\"\nflow = [{{ dst = 1 }}]"
            ));
            assert_eq!(warning(&s), None);
            let sim = run(&s, 1);
            assert!(sim.recorder().delivered() > 100);
            // Two stations that begin in one slot fail sometimes.
            let (sent, failed) =
                (sum(&sim, "data_frames_sent"), sum(&sim, "data_frames_failed") + sum(&sim, "rts_frames_failed"));
            assert!(failed * 5 < sent, "{preset}, RTS {rts}: {failed} of {sent}");
        }
    }
}

#[test]
fn long_hops_count_where_packets_go() {
    let chain = |more: &str| {
        scenario(&format!(
            "run.stop = \"1 s\"\ntopology = {{ kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"2 km\", \"0 m\"], \
             [\"3.5 km\", \"0 m\"], [\"7 km\", \"0 m\"]] }}\nradio = {{ range = \"4 km\", sense_range = \"9 km\" }}\n{more}"
        ))
    };
    let said = |more: &str| warning(&chain(more));
    // Node 0 decodes node 2, 3.5 km away, and the shortest way to it is that hop; the one to node 1 is short.
    assert_eq!(said("flow = [{ dst = 1 }]"), None);
    assert_eq!(
        said("flow = [{ dst = 2 }]").expect("a warning"),
        "wlan.slot_time: nodes 0 and 2 are 3500 m apart; with `wlan.slot_time` = 20 us an answer comes in time from up to \
         3000 m, and no frame from one to the other is acknowledged in time -> set `wlan.slot_time` to at least 24 us"
    );
    assert!(said("flow = [{ dst = 3 }]").expect("a warning").contains("acknowledged in time (and on one more hop)"));
    // Listed routes avoid it.
    let listed = "routing.protocol = \"fixed\"\nrouting.fixed.routes = [{ node = 0, dst = 2, next_hop = 1 }, \
                  { node = 1, dst = 2, next_hop = 2 }, { node = 2, dst = 0, next_hop = 1 }, { node = 1, dst = 0, next_hop = 0 }]";
    assert_eq!(said(&format!("{listed}\nflow = [{{ dst = 2 }}]")), None);
    // Transfers between any two nodes go over any hop.
    assert!(said("arrival_process = [{ rate = 1.0 }]").is_some());
    assert_eq!(said("wlan.slot_time = \"24 us\"\nflow = [{ dst = 3 }]"), None);
    // The settings of one end are enough to fail.
    assert!(
        said("wlan.slot_time = \"24 us\"\nnode = [{ nodes = 2, wlan.slot_time = \"20 us\" }]\nflow = [{ dst = 3 }]")
            .is_some()
    );
    let far = "extends = \"standard\"\nradio = { range = \"400 km\", sense_range = \"400 km\" }\nrun.stop = \"1 s\"\n\
               topology.spacing = \"300 km\"\ntopology.hops = 1\nflow = [{ dst = 1 }]";
    assert!(warning(&scenario(far)).expect("a warning").ends_with("-> no setting waits so long: move nodes closer"));
}

#[test]
fn nodes_that_move_come_as_far_apart_as_they_are_heard() {
    let walkers = |more: &str, width: &str| {
        let s = scenario(&format!(
            "extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\nmobility.model = \"random_waypoint\"\n\
             topology = {{ kind = \"random\", nodes = 20, width = \"{width}\", height = \"100 m\", connected = false }}\n\
             {more}\nflow = [{{ dst = 1 }}]"
        ));
        warning(&s)
    };
    let loud = "radio.transmit_power = \"20 W\"";
    assert_eq!(walkers("", "2000 m"), None);
    assert_eq!(walkers(loud, "500 m"), None, "they cannot be that far apart");
    // Two-ray: the fourth root of 20 / 0.28183815 times 250 m.
    let said = walkers(loud, "2000 m").expect("a warning");
    assert!(said.contains("nodes that move can be up to 726 m apart"), "{said}");
    assert!(said.ends_with("-> set `wlan.max_propagation` to at least 3 us"), "{said}");
}

/// Scenarios that once broke the packet accounting: a frame was in flight to a distant node when its sender sent the
/// next one.
const ONCE_LOST: [&str; 3] = [
    "extends = \"standard\"\nrun = { stop = \"3 s\", batches = 2, warmup_batches = 0, seed = 0 }\n\
     topology = { hops = 1, spacing = \"30 km\" }\n\
     radio = { propagation = \"range\", range = \"36.0 km\", sense_range = \"72.0 km\" }\n\
     wlan = { max_propagation = \"400 us\" }\nflow = [{ src = 0, dst = 1 }, { src = 1, dst = 0 }]",
    "extends = \"802.11a\"\nrun = { stop = \"3 s\", batches = 2, warmup_batches = 0, seed = 0 }\n\
     topology = { hops = 1, spacing = \"15 km\" }\n\
     radio = { propagation = \"range\", range = \"18.0 km\", sense_range = \"36.0 km\" }\n\
     wlan = { max_propagation = \"400 us\" }\nflow = [{ src = 0, dst = 1 }, { src = 1, dst = 0 }]",
    "run = { stop = \"0.5 s\", batches = 2, warmup_batches = 0 }\ntopology.hops = 1\n\
     wlan = { slot_time = \"20 ns\", sifs = \"100 ns\" }\nflow = [{ src = 0, dst = 1 }, { src = 1, dst = 0 }]",
];

#[test]
fn a_frame_that_is_still_on_its_way_is_not_forgotten() {
    for text in ONCE_LOST {
        // The run itself checks the accounting of all packets.
        run(&scenario(text), 0);
    }
}

#[test]
fn radio_sends_one_frame_at_a_time_even_if_it_senses_late() {
    for cca in ["4 us", "40 us", "400 us", "1 ms"] {
        let s = scenario(&format!(
            "extends = \"802.11a\"\nrun = {{ stop = \"2 s\", batches = 2, warmup_batches = 0 }}\ntopology.hops = 4\n\
             wlan.cca_time = \"{cca}\"\nflow = [{{ src = 0, dst = 4 }}, {{ src = 4, dst = 0 }}]"
        ));
        for seed in 0..3 {
            assert!(!overlaps(&s, seed), "{cca}, seed {seed}");
        }
    }
}

/// A number below `n`, drawn from a sequence.
fn below(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % n
}

#[test]
fn every_packet_is_accounted_for_at_any_distance_and_slot_time() {
    let mut draw = 1;
    for case in 0..150 {
        let mut pick = |list: &[&'static str]| list[below(&mut draw, list.len())];
        let (preset, spacing) = (pick(&["standard", "802.11a", "ns2-2.35"]), pick(&["1", "10", "30", "100", "1000"]));
        let text = format!(
            "extends = \"{preset}\"\nrun = {{ stop = \"0.4 s\", batches = 4, warmup_batches = 0, airtime = {} }}\n\
             topology = {{ hops = {}, spacing = \"{spacing} km\" }}\n\
             radio = {{ propagation = \"range\", range = \"{spacing}.2 km\", sense_range = \"{} km\", \
                        receive_threshold = \"range\", sense_threshold = \"sense_range\" }}\n\
             wlan = {{ slot_time = \"{}\", sifs = \"{}\", cca_time = \"{}\", max_propagation = \"{}\", \
                       rts_threshold = \"{}\", first_access = \"{}\", backoff_clock = \"{}\", cts_requires = \"{}\", \
                       response_timeout = \"{}\", long_retry_limit = {} }}\n\
             routing.protocol = \"{}\"\nqueue.limit = 5\n\
             flow = [{{ dst = 1 }}, {{ src = 1, dst = 0, app = \"cbr\" }}]\ncbr.interval = \"2 ms\"",
            pick(&["true", "false"]),
            pick(&["1", "2", "4"]),
            pick(&["1001", "2500"]),
            pick(&["20 ns", "500 ns", "9 us", "220 us", "1 ms"]),
            pick(&["1 ns", "100 ns", "10 us", "1 ms"]),
            pick(&["0 s", "20 ns", "15 us", "300 us"]),
            pick(&["0 s", "2 us", "400 us", "1 ms"]),
            pick(&["always", "never", "500 B"]),
            pick(&["immediate", "idle", "backoff"]),
            pick(&["slotted", "continuous"]),
            pick(&["nav_idle", "medium_idle"]),
            pick(&["rx_start", "fixed"]),
            pick(&["1", "4", "\"unlimited\""]),
            pick(&protocols()),
        );
        let s = Scenario::from_toml("far.toml", &text, &[], &NoFiles);
        let s = s.unwrap_or_else(|e| panic!("{case}: {e}\n{text}"));
        run(&s, case);
        assert!(!overlaps(&s, case), "{case}: two frames of a radio at once\n{text}");
    }
}
