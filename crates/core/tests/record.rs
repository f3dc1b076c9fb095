//! Tables of events compared with counters, and observers that change nothing.

use crate::outcomes;
use crate::properties::{everything, run, scenario, scenarios, wired_scenarios};
use chappe_core::packet::{Kind, Reason};
use chappe_core::record::loss::Cause;
use chappe_core::record::observe::columns::{Rows, Values};
use chappe_core::record::recorder::is_of_tcp;
use chappe_core::run::RecordedTable;
use chappe_core::run::Setup;
use chappe_core::sim::Sim;
use chappe_core::tcp::Counters;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    Float(f64),
    Int(u64),
    Flag(bool),
    Word(&'static str),
    Null,
}

impl PartialEq<&str> for Cell {
    fn eq(&self, word: &&str) -> bool {
        matches!(self, Cell::Word(own) if own == word)
    }
}

impl Cell {
    pub fn int(self) -> u64 {
        if let Cell::Int(n) = self { n } else { u64::MAX }
    }

    pub fn float(self) -> f64 {
        if let Cell::Float(x) = self { x } else { panic!("{self:?} is no number") }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row(&'static [(&'static str, &'static str)], pub Vec<Cell>);

impl std::ops::Index<&str> for Row {
    type Output = Cell;
    fn index(&self, name: &str) -> &Cell {
        &self.1[self.0.iter().position(|c| c.0 == name).expect("a column")]
    }
}

/// The rows of a table.
pub fn rows(table: &dyn Rows) -> Vec<Row> {
    let int = |value: u64, none: u64| if value == none { Cell::Null } else { Cell::Int(value) };
    let cell = |i: usize| {
        move |v: &Values<'_>| match v {
            Values::Float(v) => Cell::Float(v[i]),
            Values::Long(v) => int(v[i], u64::MAX),
            Values::Int(v) => int(v[i].into(), u32::MAX.into()),
            Values::Flag(v) => Cell::Flag(v[i] == 1),
            Values::Word(v, words) if v[i] < u8::MAX => Cell::Word(words[usize::from(v[i])]),
            Values::Word(..) => Cell::Null,
        }
    };
    let values = table.values();
    (0..table.len()).map(|i| Row(table.columns(), values.iter().map(cell(i)).collect())).collect()
}

/// A run with tables that are read now and then.
pub struct Recorded {
    pub sim: Sim,
    pub tables: BTreeMap<&'static str, Vec<Row>>,
}

/// With all tables.
pub fn record(setup: Setup) -> Recorded {
    record_some(Setup { record: RecordedTable::ALL.to_vec(), ..setup })
}

/// With those that are asked for.
pub fn record_some(setup: Setup) -> Recorded {
    let mut sim = Sim::new(&setup);
    let mut tables: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    loop {
        let end = sim.advance(1000);
        for (table, kept) in sim.tables() {
            tables.entry(table.word()).or_default().extend(rows(kept));
            kept.clear();
        }
        if end.is_some() {
            return Recorded { sim, tables };
        }
    }
}

fn count(rows: &[Row], wanted: impl Fn(&Row) -> bool) -> u64 {
    rows.iter().filter(|r| wanted(r)).count() as u64
}

/// Number of packets of each kind by word of a column.
fn words(packets: &[Row], column: &str) -> BTreeMap<(usize, &'static str), u64> {
    let mut found = BTreeMap::new();
    for row in packets {
        if let Cell::Word(word) = row[column] {
            *found.entry((class_of(row) as usize, word)).or_default() += 1;
        }
    }
    found
}

/// The class of a packet in `packet_outcomes`.
fn class_of(row: &Row) -> Kind {
    match row["packet_type"] {
        Cell::Word("tcp_data" | "udp") => Kind::Data,
        Cell::Word("tcp_ack") => Kind::Ack,
        Cell::Word("arp") => Kind::Arp,
        _ => Kind::Routing,
    }
}

const BIRTHS: [&str; 3] = ["created", "injected", "received"];
const ENDS: [&str; 4] = ["delivered", "relayed", "absorbed", "dropped"];

fn seconds(row: &Row) -> f64 {
    row["time_s"].float()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn tables_say_what_the_counters_say(text in prop_oneof![scenarios(), wired_scenarios()], seed in any::<u32>()) {
        let setup = scenario(&text).setup(Some(u64::from(seed)));
        let Recorded { sim, tables, .. } = record(setup);
        prop_assert_eq!(everything(run(&text, u64::from(seed)).recorder()), everything(sim.recorder()));

        // Every packet is born once, by its first row; at each node what has come has gone, or is still there.
        let (packets, ledger) = (&tables["packets"], sim.pool().ledger());
        let (mut first, mut wires) = (BTreeSet::new(), BTreeMap::new());
        let mut inside: BTreeMap<u64, BTreeMap<u64, i64>> = BTreeMap::new();
        let mut last: BTreeMap<(u64, u64), f64> = BTreeMap::new();
        for row in packets {
            let Cell::Word(event) = row["event"] else { panic!("{row:?}") };
            let (packet, node) = (row["packet"].int(), row["node"].int());
            prop_assert_eq!(first.insert(packet), event == "created" || event == "injected", "{:?}", row);
            let nodes = inside.entry(packet).or_default();
            if event == "arrived" {
                // A packet that arrives over a link has left the previous node.
                let from: &u64 = wires.get(&(packet, node)).expect("it was sent here over a wire");
                *nodes.get_mut(from).expect("it was there") -= 1;
            }
            if event == "dequeued" {
                wires.insert((packet, row["next_hop"].int()), node);
            }
            let there = nodes.entry(node).or_default();
            let begins = event == "arrived" || BIRTHS.contains(&event);
            prop_assert!(begins || *there > 0, "{:?} of a packet that is not there", row);
            *there += i64::from(begins);
            *there -= i64::from(ENDS.contains(&event));
            let before = last.insert((packet, node), seconds(row)).unwrap_or(0.0);
            prop_assert!(before <= seconds(row), "{:?} before {}", row, before);
        }
        let left: i64 = inside.values().flat_map(BTreeMap::values).sum();
        prop_assert_eq!(left, ledger.inside.iter().sum::<u64>() as i64);
        let [events, reasons, causes] = ["event", "drop_reason", "retry_cause"].map(|column| words(packets, column));
        for kind in Kind::ALL {
            let k = kind as usize;
            let of_kind = |event| events.get(&(k, event)).copied().unwrap_or(0);
            prop_assert_eq!([of_kind("created"), of_kind("injected"), of_kind("received")],
                [ledger.created[k], ledger.injected[k], ledger.copied[k]]);
            prop_assert_eq!([of_kind("delivered"), of_kind("relayed"), of_kind("absorbed")],
                [ledger.delivered[k], ledger.relayed[k], ledger.absorbed[k]]);
            for (reason, word, _) in Reason::ALL {
                let dropped = reasons.get(&(k, *word)).copied().unwrap_or(0);
                prop_assert_eq!(dropped, ledger.dropped_for(kind, *reason), "{}", word);
            }
            let packet_outcomes = sim.recorder().packet_outcomes();
            for (_, word, _) in Cause::ALL {
                let given_up = causes.get(&(k, *word)).copied().unwrap_or(0);
                prop_assert_eq!(given_up, outcomes(&packet_outcomes, &format!("retry_limit_{word}"))[k]);
            }
        }

        // Every frame has a row.
        let (frames, network) = (&tables["frames"], sim.recorder().network().radio);
        let sent = |kind: &str| count(frames, |r| r["frame_type"] == kind && r["dst"] != Cell::Null);
        prop_assert_eq!([sent("rts"), sent("cts"), sent("data"), sent("ack")],
            [network.rts_frames_sent, network.cts_frames_sent, network.data_frames_sent, network.ack_frames_sent]);
        prop_assert_eq!(count(frames, |r| r["dst"] == Cell::Null), network.broadcast_frames_sent);
        prop_assert!(count(frames, |r| r["outcome"] == Cell::Null) <= setup_nodes(&sim));
        for row in frames {
            let received = Cell::Int(u64::from(row["outcome"] == "received"));
            prop_assert!(row["dst"] == Cell::Null || row["decoded_by"] == received, "{:?}", row);
            prop_assert_eq!(row["frame_type"] == "data", row["packet"] != Cell::Null);
        }

        // Windows: every timeout has its row, those before the first batch that counts included.
        let cwnd = &tables["cwnd"];
        let (flows, node_0) = (sim.recorder().flows(), Cell::Int(0));
        let timeouts = count(cwnd, |r| r["flow"] == node_0 && r["node"] == node_0 && r["event"] == "timeout");
        prop_assert!(timeouts >= flows.counts("timeouts").expect("a column")[0]);
        prop_assert!(count(cwnd, |r| r["event"] == "start") > 0);

        // Queues and routes: each row differs from the one before.
        let mut lengths = BTreeMap::new();
        for row in &tables["queue"] {
            let length = (row["packets"].int(), row["bytes"].int());
            prop_assert_eq!(length.0 == 0, length.1 == 0);
            let category = if let Cell::Word(word) = row["access_category"] { word } else { "" };
            let queue = (row["node"].int(), row["channel"].int(), category, row["wired_dst"].int());
            let before = lengths.insert(queue, length);
            prop_assert_ne!(before.unwrap_or((0, 0)), length);
        }
        let mut routes = BTreeMap::new();
        for row in &tables["routes"] {
            let route = (row["next_hop"].int(), row["hops"].int());
            let place = (row["node"].int(), row["dst"].int());
            let before = if row["event"] == "removed" { routes.remove(&place) } else { routes.insert(place, route) };
            prop_assert_eq!(before.is_none(), row["event"] == "added", "{:?}", row);
            prop_assert!(row["event"] != "changed" || before != Some(route), "{:?}", row);
        }
    }
}

fn setup_nodes(sim: &Sim) -> u64 {
    sim.recorder().nodes().rows() as u64
}

/// Events of the packets of a datagram flow: event and node, in order.
fn events(text: &str) -> (Vec<(&'static str, u64)>, Vec<Row>, Vec<Row>) {
    let Recorded { mut tables, .. } = record(scenario(text).setup(None));
    let (mut packets, frames) = (tables.remove("packets").expect("it"), tables.remove("frames").expect("it"));
    packets.retain(|r| r["flow"] == Cell::Int(0));
    let word = |r: &Row| if let Cell::Word(word) = r["event"] { word } else { panic!("{r:?}") };
    (packets.iter().map(|r| (word(r), r["node"].int())).collect(), packets, frames)
}

const ONE_DATAGRAM: &str = r#"
    extends = "standard"
    run = { stop = "2 s", batches = 2 }
    routing.protocol = "shortest_path"
    arp.enabled = false
    cbr.datagrams = 1
"#;

#[test]
fn a_packet_is_followed_from_birth_to_fate() {
    let text = format!("{ONE_DATAGRAM}\ntopology.hops = 2\nflow = [{{ src = 0, dst = 2, app = \"cbr\" }}]");
    let (events, packets, frames) = events(&text);
    // The ACK of the MAC takes longer than the packet needs from the MAC to the next queue, or to its destination.
    let way = [("created", 0), ("queued", 0), ("dequeued", 0), ("received", 1), ("queued", 1), ("dequeued", 1)];
    assert_eq!(events, [&way[..], &[("relayed", 0), ("received", 2), ("delivered", 2), ("relayed", 1)]].concat());
    assert!(packets.iter().all(|r| r["packet"] == Cell::Int(0) && r["packet_type"] == "udp"));
    let data: Vec<_> = frames.iter().filter(|r| r["frame_type"] == "data").collect();
    let sent: Vec<_> = data.iter().map(|r| (r["src"].int(), r["dst"].int(), r["packet"].int())).collect();
    assert_eq!(sent, [(0, 1, 0), (1, 2, 0)]);
    assert!(frames.iter().all(|r| r["outcome"] == "received"));
}

/// Scenario of a hidden terminal in `losses.rs`.
#[test]
fn a_packet_that_is_lost_says_why() {
    let text = format!(
        r#"{ONE_DATAGRAM}
        wlan = {{ short_retry_limit = 1, long_retry_limit = 1, rts_threshold = "500 B", first_access = "backoff",
                 backoff_range = "exclusive", cw_min = 1, cw_max = 1 }}
        topology = {{ kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["600 m", "0 m"], ["800 m", "0 m"]] }}
        flow = [{{ src = 0, dst = 1, start = "1.001 s", app = "cbr" }},
                {{ src = 2, dst = 3, start = "1 s", app = "cbr", cbr.payload = "400 B" }}]
        "#
    );
    let (events, packets, frames) = events(&text);
    assert_eq!(events, [("created", 0), ("queued", 0), ("dequeued", 0), ("dropped", 0)]);
    let last = &packets[3];
    assert!(last["drop_reason"] == "retry_limit" && last["retry_cause"] == "hidden_terminal", "{last:?}");
    let lost: Vec<_> = frames.iter().filter(|r| r["src"] == Cell::Int(0)).collect();
    assert!(lost.len() == 1 && lost[0]["outcome"] == "hidden_terminal", "{lost:?}");
}

/// At most as many rows are held as fit into the unread chunks, for any length of the run.
#[test]
fn what_was_taken_out_takes_no_memory() {
    let text = "run = { stop = \"40 s\", batches = 2 }\ntopology.hops = 3";
    let setup = Setup { record: RecordedTable::ALL.to_vec(), ..scenario(text).setup(None) };
    let grown = |clears: bool| {
        let mut sim = Sim::new(&setup);
        let mut most = 0;
        while sim.advance(1000).is_none() {
            most = most.max(sim.grown());
            sim.tables().filter(|_| clears).for_each(|(_, rows)| rows.clear());
        }
        most
    };
    let (taken_out, kept) = (grown(true), grown(false));
    assert!(kept > 20 * taken_out, "{kept} B, {taken_out} B");
}

/// Lengths in the table of queues, in order: of a category, or of the only queue of a radio or link.
fn lengths(tables: &BTreeMap<&'static str, Vec<Row>>, node: u64, category: Option<&'static str>) -> Vec<u64> {
    let category = category.map_or(Cell::Null, Cell::Word);
    let of_queue = tables["queue"].iter().filter(|r| r["node"] == Cell::Int(node) && r["access_category"] == category);
    of_queue.map(|r| r["packets"].int()).collect()
}

/// Each codepoint belongs to a category with a queue of its own, which holds 50 packets.
#[test]
fn the_queue_of_each_category_is_recorded() {
    for (dscp, category) in [(0, "best_effort"), (8, "background"), (32, "video"), (46, "video"), (48, "voice")] {
        let text = format!(
            r#"
            extends = "802.11n"
            run = {{ stop = "200 ms", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 1, spacing = "5 m" }}
            queue = {{ discipline = "droptail", limit = 50 }}
            flow = [{{ src = 0, dst = 1, app = "cbr", dscp = {dscp}, cbr = {{ interval = "50 us", payload = "1400 B" }} }}]
            "#
        );
        let Recorded { tables, .. } = record(scenario(&text).setup(Some(1)));
        assert!(count(&tables["packets"], |r| r["drop_reason"] == "queue_full") > 0, "{dscp}");
        assert_eq!(lengths(&tables, 0, Some(category)).iter().max(), Some(&50), "{dscp}");
    }
}

/// A node that is switched off forgets its packets: nothing waits there until it is on again.
#[test]
fn the_queues_of_a_node_that_is_off_are_empty() {
    let more = r#"
        run = { stop = "1 s", batches = 1, warmup_batches = 0 }
        flow = [{ src = 0, dst = 1, app = "cbr", cbr = { interval = "100 us", payload = "1400 B" } }]
        event = [{ at = "500 ms", action = "node_down", node = 0 }]
    "#;
    let wired =
        "topology = { kind = \"none\", wired_nodes = 2 }\nwired_link = [{ src = 0, dst = 1, rate = \"1 Mbit/s\" }]";
    let air = "topology = { hops = 1, spacing = \"5 m\" }\nrouting.protocol = \"shortest_path\"";
    for (network, category) in [
        (wired.to_owned(), None),
        (format!("extends = \"standard\"\n{air}"), None),
        (format!("extends = \"802.11n\"\n{air}"), Some("best_effort")),
    ] {
        let Recorded { tables, .. } = record(scenario(&format!("{network}\n{more}")).setup(Some(1)));
        let of_node = lengths(&tables, 0, category);
        assert!(of_node.iter().max() > Some(&10), "{network}");
        assert_eq!(of_node.last(), Some(&0), "{network}");
    }
}

#[test]
fn what_routing_costs_is_what_comes_to_the_queues() {
    for (protocol, added) in
        [("aodv", ""), ("dsdv", "20 B"), ("dsr", "4 B"), ("olsr", ""), ("batman_adv", "24 B"), ("shortest_path", "")]
    {
        let header = match (protocol, added) {
            (_, "") => String::new(),
            ("batman_adv", _) => format!("batman_adv.header_size = \"{added}\""),
            _ => format!("{protocol}.ns2.packet_header_size = \"{added}\""),
        };
        // Nothing waits for an address; all is quiet in the end. A node that is switched off forgets no counter.
        let text = format!(
            r#"
            run = {{ stop = "20 s", warmup_batches = 0 }}
            topology.hops = 4
            arp.enabled = false
            routing = {{ protocol = "{protocol}", {header} }}
            flow = [{{ src = 0, dst = 4, start = "2 s", stop = "15 s" }},
                    {{ src = 3, dst = 0, app = "cbr", start = "4 s", stop = "15 s" }}]
            event = [{{ at = "6 s", action = "node_down", node = 2 }}, {{ at = "9 s", action = "node_up", node = 2 }}]
            "#
        );
        let Recorded { sim, tables } = record(scenario(&text).setup(Some(1)));
        let (mut bare, mut costs) = (BTreeMap::new(), [0; 3]);
        for row in &tables["packets"] {
            let bytes = row["bytes"].int();
            if row["event"] == "created" {
                bare.insert(row["packet"].int(), bytes);
            } else if row["event"] == "queued" && class_of(row) == Kind::Routing {
                costs = [costs[0] + 1, costs[1] + bytes, costs[2]];
            } else if row["event"] == "queued" {
                costs[2] += bytes - bare[&row["packet"].int()];
            }
        }
        let routing = sim.recorder().network().routing;
        let counted = ["routing_packets_sent", "routing_bytes_sent", "routing_header_bytes"].map(|c| routing.get(c));
        assert_eq!(counted, costs, "{protocol}");
        let learns = protocol != "shortest_path";
        assert_eq!(costs.map(|c| c > 0), [learns, learns, !added.is_empty()], "{protocol}");
        // No column of a batch goes back.
        let batches = sim.recorder().batches();
        let sum = batches.counts("routing_packets_sent").expect("a column").iter().sum::<u64>();
        assert_eq!(sum, costs[0], "{protocol}");
    }
}

/// The binding leaves out what a flow over UDP cannot have: nothing is lost by that.
#[test]
fn flow_over_udp_counts_nothing_of_tcp() {
    let text = "run.stop = \"5 s\"\ntopology.hops = 4\nflow = [{ dst = 4, app = \"cbr\" }, { dst = 4 }]\n\
                cbr.interval = \"5 ms\"\nqueue.limit = 5";
    let flows = run(text, 1).recorder().flows();
    let values = |name: &str| flows.counts(name).expect("a column").to_vec();
    let (of_tcp, of_all): (Vec<&str>, Vec<&str>) =
        Counters::FIELDS.iter().map(|field| field.0).partition(|name| is_of_tcp(name));
    assert!(of_tcp.iter().all(|name| values(name)[0] == 0), "{of_tcp:?}");
    assert!(of_tcp.iter().any(|name| values(name)[1] > 0), "{of_tcp:?}");
    assert!(of_all.iter().any(|name| values(name)[0] > 0), "{of_all:?}");
    assert!(["variant", "slow_start_s", "rtt_samples", "eln_marks"].into_iter().all(is_of_tcp));
    assert!(!["packets_delivered", "delay_samples", "mean_hops", "no_route_s"].into_iter().any(is_of_tcp));
}
