//! Observers change nothing: counters and tables are the same to the byte with any other observers. Tables of frames
//! contain the outcome of each frame.

use crate::properties::{everything, noise, protocols, scenario, scenarios, wired_scenarios};
use crate::record::{Cell, Recorded, Row, record_some};
use chappe_core::run::RecordedTable;
use chappe_core::run::Setup;
use chappe_core::unit::{Position, Span};
use proptest::prelude::*;

/// Number of nodes in a mesh.
const NODES: u32 = 12;

/// Meshes with many losses: nodes with one radio or two, some of them moving, that are switched off and on, often
/// during a frame of their own.
pub fn meshes() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["standard", "ns2-2.35"]);
    let protocol = prop::sample::select(protocols());
    let rts = prop::sample::select(vec!["always", "never", "500 B"]);
    let rate = prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "11 Mbit/s"]);
    let outages = prop::collection::vec((0..2_000_000u32, 1..9000u32, 0..NODES), 0..12);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    (preset, protocol, rts, rate, outages, switches, any::<u32>(), 1..6u32).prop_map(
        |(preset, protocol, rts, rate, outages, (walk, two, wired), chance, flows)| {
            let (radio, control) = noise(chance / 8);
            let walk = if walk {
                "mobility = { model = \"random_waypoint\", min_speed = \"20 m/s\", max_speed = \"200 m/s\" }"
            } else {
                ""
            };
            let node = |i: u32| {
                let channels = ["[1]", "[1, 6]", "[1, 6]"][((chance >> i) & 3) as usize % 3];
                format!("[[node]]\nnodes = {i}\nradio.channels = {channels}\n")
            };
            let nodes: String = if two { (0..NODES).map(node).collect() } else { String::new() };
            let flow = |i: u32| {
                let (from, to) = ((chance >> i) % NODES, (chance >> (i + 4)) % NODES);
                let to = if to == from { (to + 1) % NODES } else { to };
                let to = if wired && i == 0 { NODES } else { to };
                let from = if wired && i == 0 { 1 } else { from };
                let more = if i.is_multiple_of(2) { "" } else { "app = \"cbr\"" };
                format!("[[flow]]\nsrc = {from}\ndst = {to}\nstart = \"{} ms\"\n{more}\n", (chance >> i) & 255)
            };
            let flows: String = (0..flows).map(flow).collect();
            let wire = if wired {
                format!("[[wired_link]]\nsrc = 0\ndst = {NODES}\nrate = \"1 Mbit/s\"\n")
            } else {
                String::new()
            };
            let outage = |(at, lasts, n): (u32, u32, u32)| {
                format!(
                    "[[event]]\nat = \"{at} us\"\naction = \"node_down\"\nnode = {n}\n[[event]]\nat = \"{} us\"\naction = \"node_up\"\nnode = {n}\n",
                    at + lasts
                )
            };
            let events: String = outages.into_iter().map(outage).collect();
            format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "2 s", batches = 3, warmup_batches = 1 }}
                topology = {{ kind = "random", nodes = {NODES}, width = "600 m", height = "400 m", seed = {seed},
                              wired_nodes = {hosts} }}
                radio = {{ {radio} }}
                wlan = {{ data_rate = "{rate}", rts_threshold = "{rts}", rate_control.algorithm = "{control}" }}
                routing.protocol = "{protocol}"
                cbr = {{ interval = "7 ms", payload = "700 B" }}
                {walk}
                {flows}
                {nodes}
                {wire}
                {events}
                "#,
                seed = chance % 50,
                hosts = u8::from(wired),
            )
        },
    )
}

/// The same of all kinds.
pub fn all_kinds() -> impl Strategy<Value = String> {
    prop_oneof![1 => scenarios(), 1 => wired_scenarios(), 3 => meshes()]
}

/// All measurements of a run except airtime and its consequences.
pub fn measured(run: &Recorded) -> String {
    let r = run.sim.recorder();
    let mut batches = r.batches();
    batches.columns.retain(|c| c.0 != "energy_j");
    let tables = [
        r.flows(),
        r.nodes(),
        batches,
        r.flow_batches(),
        r.packet_outcomes(),
        r.rates(),
        r.wired_links(),
        r.wired_link_batches(),
    ];
    tables.map(|t| format!("{t:?}")).join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn who_looks_changes_nothing(
        text in all_kinds(),
        seed in any::<u32>(),
        asked in any::<[bool; RecordedTable::ALL.len()]>(),
        airtime in any::<bool>(),
        sampled in any::<bool>(),
    ) {
        let setup = scenario(&text).setup(Some(u64::from(seed)));
        let asked = RecordedTable::ALL.iter().zip(asked).filter(|t| t.1).map(|t| *t.0).collect();
        let sample = sampled.then_some(Span::ms(30));
        let setup = |record, airtime, sample| Setup { record, airtime, sample, ..setup.clone() };
        let plain = record_some(setup(vec![], false, None));
        let some = record_some(setup(asked, airtime, sample));
        let all = record_some(setup(RecordedTable::ALL.to_vec(), true, sample));
        prop_assert!(measured(&plain) == measured(&some));
        prop_assert!(measured(&plain) == measured(&all));
        for (table, rows) in &some.tables {
            let others = &all.tables[table];
            prop_assert_eq!(rows.len(), others.len(), "{}", table);
            let differs = rows.iter().zip(others).find(|(a, b)| format!("{a:?}") != format!("{b:?}"));
            prop_assert!(differs.is_none(), "{}: {:?}", table, differs.map(|(a, b)| (&a.1, &b.1)));
        }
        if airtime {
            prop_assert!(everything(some.sim.recorder()) == everything(all.sim.recorder()));
        }
    }
}

/// A frame between two instants [ns] at its sender.
struct Sent<'a> {
    row: &'a Row,
    from: u64,
    until: u64,
}

pub fn ns(cell: Cell) -> u64 {
    (cell.float() * 1e9).round() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Every frame reported as destroyed by another one overlaps a frame at its receiver whose sender is sensed by its
    /// own sender, or hidden from it, as reported; a frame that was captured or met no other is reported differently.
    #[test]
    fn collisions_are_what_the_frames_say(
        steps in prop::collection::vec((60..240u32, 0..60u32), 2..8),
        seed in any::<u32>(),
        rts in prop::sample::select(vec!["always", "never"]),
    ) {
        // Each is a neighbor of the one before.
        let mut positions = vec![(0, 0)];
        for (x, y) in steps {
            let last = positions[positions.len() - 1].0;
            positions.push(((last + x) % 900, y));
            if last + x >= 900 {
                break;
            }
        }
        positions.pop();
        let listed: Vec<String> = positions.iter().map(|(x, y)| format!("[\"{x} m\", \"{y} m\"]")).collect();
        let flow = |i: usize| {
            format!("[[flow]]\nsrc = {i}\ndst = {}\napp = \"cbr\"\n", (i + 1) % positions.len())
        };
        let flows: String = (0..positions.len()).map(flow).collect();
        let text = format!(
            r#"
            run = {{ stop = "1 s", batches = 1, warmup_batches = 0, record = ["frames"] }}
            topology = {{ kind = "list", positions = [{}] }}
            routing.protocol = "aodv"
            wlan.rts_threshold = "{rts}"
            cbr = {{ interval = "11 ms", payload = "600 B" }}
            {flows}
            "#,
            listed.join(", ")
        );
        let frames = &record_some(scenario(&text).setup(Some(seed.into()))).tables["frames"];
        let sent: Vec<Sent<'_>> = frames
            .iter()
            .map(|row| Sent { row, from: ns(row["time_s"]), until: ns(row["time_s"]) + ns(row["airtime_s"]) })
            .collect();
        let place = |node: Cell| {
            let (x, y) = positions[node.int() as usize];
            Position { x: x.into(), y: y.into() }
        };
        // The ranges of the default are 250 and 550 m; where rounding decides, both are right.
        let senses = |a: Cell, b: Cell, rounding: f64| place(a).distance(place(b)).0 < 550.0 + rounding;
        for frame in sent.iter().filter(|f| f.row["dst"] != Cell::Null && f.row["outcome"] != Cell::Null) {
            let (sender, receiver) = (frame.row["src"], frame.row["dst"]);
            // A microsecond is 300 m.
            let meets = |other: &&Sent<'_>| {
                let (from, until) = (other.from, other.until + 3000);
                other.row["src"] != sender && from < frame.until + 3000 && frame.from < until
                    && senses(other.row["src"], receiver, 1e-6)
            };
            let met: Vec<_> = sent.iter().filter(meets).collect();
            let of_sensed = |s: bool| {
                met.iter().any(|o| {
                    let rounding = if s { 1e-6 } else { -1e-6 };
                    o.row["src"] != receiver && senses(o.row["src"], sender, rounding) == s
                })
            };
            let Cell::Word(outcome) = frame.row["outcome"] else { panic!("{:?}", frame.row) };
            match outcome {
                "hidden_terminal" => prop_assert!(of_sensed(false), "{:?}", frame.row),
                "same_slot" => prop_assert!(of_sensed(true), "{:?}", frame.row),
                "captured" => prop_assert!(of_sensed(true) || of_sensed(false), "{:?}", frame.row),
                "transmitting" => prop_assert!(met.iter().any(|o| o.row["src"] == receiver), "{:?}", frame.row),
                "received" => prop_assert_eq!(frame.row["decoded_by"].int(), 1),
                other => prop_assert!(false, "nothing in this scenario is {}: {:?}", other, frame.row),
            }
        }
    }

    /// Nodes are switched off and on, often during frames of their own. Each row has the outcome of its own frame: no
    /// node has decoded a cut frame, and before the end every row has an outcome.
    #[test]
    fn each_row_of_frames_is_of_its_own_frame(
        outages in prop::collection::vec((0..1_000_000u32, 1..3000u32, 0..4u32), 1..40),
        two in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let flows: String =
            (0..4).map(|i| format!("[[flow]]\nsrc = {i}\ndst = {}\napp = \"cbr\"\n", (i + 1) % 4)).collect();
        // One after the other.
        let mut outages = outages;
        outages.sort_unstable();
        let mut back = [0; 4];
        outages.retain(|&(at, lasts, n)| {
            let apart = at > back[n as usize];
            back[n as usize] = if apart { at + lasts } else { back[n as usize] };
            apart
        });
        let outage = |(at, lasts, n): &(u32, u32, u32)| {
            format!("[[event]]\nat = \"{at} us\"\naction = \"node_down\"\nnode = {n}\n[[event]]\nat = \"{} us\"\naction = \"node_up\"\nnode = {n}\n", at + lasts)
        };
        let events: String = outages.iter().map(outage).collect();
        let text = format!(
            r#"
            run = {{ stop = "1 s", batches = 1, warmup_batches = 0, record = ["frames"] }}
            topology = {{ hops = 3, spacing = "100 m" }}
            radio.channels = {}
            routing.protocol = "shortest_path"
            wlan = {{ data_rate = "1 Mbit/s", rts_threshold = "never" }}
            cbr = {{ interval = "9 ms", payload = "600 B" }}
            {flows}
            {events}
            "#,
            if two { "[1, 6]" } else { "[1]" },
        );
        let frames = &record_some(scenario(&text).setup(Some(seed.into()))).tables["frames"];
        for row in frames {
            let (from, sender) = (ns(row["time_s"]), row["src"].int());
            let until = from + ns(row["airtime_s"]);
            prop_assert_eq!(row["outcome"] == Cell::Null, until + 1000 > 1_000_000_000, "{:?}", row);
            prop_assert_eq!(row["outcome"] == "broadcast", row["dst"] == Cell::Null, "{:?}", row);
            let cut = outages.iter().any(|o| {
                u64::from(o.2) == sender && (from..until).contains(&(u64::from(o.0) * 1000))
            });
            prop_assert!(!cut || row["decoded_by"].int() == 0, "{:?}", row);
            if row["outcome"] == "received" {
                prop_assert_eq!(row["decoded_by"].int(), 1, "{:?}", row);
            }
        }
    }

    /// A node is switched off and on during a frame of its own, which occupies the medium to its end. Its neighbors
    /// have noticed that end, and continue to send.
    #[test]
    fn neighbors_of_a_node_that_cuts_its_frame_send_on(
        outages in prop::collection::vec((100_000..1_900_000u32, 1..3000u32), 1..6),
        preset in prop::sample::select(vec!["standard", "ns2-2.35"]),
        sinr in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let mut outages = outages;
        outages.sort_unstable();
        outages.dedup_by_key(|o| o.0 / 10_000);
        let outage = |(at, lasts): &(u32, u32)| {
            format!("[[event]]\nat = \"{at} us\"\naction = \"node_down\"\nnode = 0\n[[event]]\nat = \"{} us\"\naction = \"node_up\"\nnode = 0\n", at + lasts)
        };
        let events: String = outages.iter().map(outage).collect();
        let reception = if sinr { "sinr" } else { "pairwise" };
        let text = format!(
            r#"
            extends = "{preset}"
            run = {{ stop = "2 s", batches = 1, warmup_batches = 0, record = ["frames"] }}
            topology = {{ hops = 2, spacing = "100 m" }}
            routing.protocol = "aodv"
            radio.reception = "{reception}"
            wlan = {{ data_rate = "1 Mbit/s", rts_threshold = "never" }}
            flow = [
                {{ src = 2, dst = 1, app = "cbr", cbr = {{ payload = "1000 B", interval = "8 ms" }} }},
                {{ src = 0, dst = 1, app = "cbr", start = "50 ms", cbr = {{ payload = "1400 B", interval = "30 ms" }} }},
                {{ src = 0, dst = 1, app = "cbr", start = "50 ms", cbr = {{ payload = "20 B", interval = "1 ms" }} }},
            ]
            {events}
            "#,
        );
        let frames = &record_some(scenario(&text).setup(Some(seed.into()))).tables["frames"];
        let mut sent: Vec<u64> = frames.iter().map(|row| ns(row["time_s"])).collect();
        sent.push(2_000_000_000);
        sent.sort_unstable();
        // Node 2 has its route before node 0 asks for one. The longest frame, EIFS and the longest backoff at the first attempts are 12, 0.4 and 5 ms; node 2 always has
        // something to send.
        let silent = sent.windows(2).map(|w| w[1] - w[0]).max().expect("frames");
        prop_assert!(silent < 40_000_000, "{silent} ns: {text}");
    }
}
