//! Captures change nothing, and contain every frame, and every packet of a flow, once, in order of time.

use crate::observers::{all_kinds, measured, ns};
use crate::properties::scenario;
use crate::record::{Cell, Recorded, Row, record_some, rows};
use chappe_core::packet::FlowId;
use chappe_core::run::external::Injection;
use chappe_core::run::{RecordedTable, Setup};
use chappe_core::sim::Sim;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A packet block: interface, time \[ns\], direction, contents.
struct Packet<'a> {
    interface: usize,
    at: u64,
    direction: u32,
    bytes: &'a [u8],
    comment: &'a str,
}

/// The names of the interfaces of a file, and its packets.
fn parse(file: &[u8]) -> (Vec<String>, Vec<Packet<'_>>) {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
    let (mut names, mut packets, mut at) = (vec![], vec![], 0);
    while at < file.len() {
        let length = word(at + 4) as usize;
        let end = at + length - 4;
        assert_eq!(word(end) as usize, length, "the length stands at both ends of a block");
        let mut options = BTreeMap::new();
        let mut read = |mut option: usize| {
            while option < end && half(option) != 0 {
                let (code, size) = (half(option), half(option + 2));
                options.insert(code, &file[option + 4..option + 4 + size]);
                option += 4 + size.next_multiple_of(4);
            }
        };
        match word(at) {
            0x0a0d_0d0a => assert_eq!((at, word(8)), (0, 0x1a2b_3c4d)),
            1 => {
                read(at + 16);
                names.push(String::from_utf8(options[&2].to_vec()).expect("a name"));
            }
            6 => {
                let size = word(at + 20) as usize;
                assert_eq!(word(at + 24) as usize, size, "no packet is cut");
                read(at + 28 + size.next_multiple_of(4));
                let flags = options.get(&2).map_or(0, |v| u32::from(v[0]));
                packets.push(Packet {
                    interface: word(at + 8) as usize,
                    at: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                    direction: flags,
                    bytes: &file[at + 28..at + 28 + size],
                    comment: options.get(&1).map_or("", |v| std::str::from_utf8(v).expect("a text")),
                });
            }
            other => panic!("a block of type {other}"),
        }
        at += length;
    }
    (names, packets)
}

/// A run with captures, taken out as it goes on.
fn captured(setup: &Setup) -> (Recorded, BTreeMap<u32, Vec<u8>>) {
    let mut sim = Sim::new(&Setup { capture: true, ..setup.clone() });
    let (mut tables, mut files): (BTreeMap<_, Vec<Row>>, BTreeMap<_, Vec<u8>>) = <_>::default();
    loop {
        let end = sim.advance(500);
        for (table, kept) in sim.tables() {
            tables.entry(table.word()).or_default().extend(rows(kept));
            kept.clear();
        }
        for (node, bytes) in sim.captures().expect("captures").output() {
            files.entry(node.0).or_default().append(bytes);
        }
        if end.is_some() {
            return (Recorded { sim, tables }, files);
        }
    }
}

const OUTBOUND: u32 = 2;
const INBOUND: u32 = 1;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn captures_change_nothing_and_miss_nothing(text in all_kinds(), seed in any::<u32>(), records in any::<bool>()) {
        let setup = scenario(&text).setup(Some(seed.into()));
        let record = if records { RecordedTable::ALL.to_vec() } else { vec![] };
        let setup = Setup { record, ..setup };
        let (with, files) = captured(&setup);
        let without = record_some(setup.clone());
        prop_assert!(measured(&with) == measured(&without));
        for (table, rows) in &with.tables {
            let others = &without.tables[table];
            prop_assert_eq!(rows.len(), others.len(), "{}", table);
            let differs = rows.iter().zip(others).find(|(a, b)| format!("{a:?}") != format!("{b:?}"));
            prop_assert!(differs.is_none(), "{}: {:?}", table, differs.map(|(a, b)| (&a.1, &b.1)));
        }
        let mut sent = BTreeMap::new();
        let (mut created, mut ended, mut dropped) = (0, 0, 0);
        for (node, file) in &files {
            let (names, packets) = parse(file);
            prop_assert_eq!(names[0].as_str(), "ip");
            prop_assert!(packets.is_sorted_by_key(|p| p.at), "node {}", node);
            for p in &packets {
                let name = names[p.interface].as_str();
                let is_out = p.direction == OUTBOUND;
                match name {
                    "ip" if is_out => created += 1,
                    "ip" => ended += u64::from(p.direction == INBOUND),
                    "drop" => dropped += 1,
                    _ if name.starts_with("radio") && is_out => {
                        // Type of the frame, behind a radiotap header of 22 bytes.
                        *sent.entry((*node, p.at, p.bytes[22])).or_insert(0) += 1;
                    }
                    _ => {}
                }
                if p.comment.starts_with("lost at") {
                    prop_assert!(name.starts_with("radio"), "{}", name);
                }
            }
        }
        if !records {
            return Ok(());
        }
        let mut expected = BTreeMap::new();
        for row in &with.tables["frames"] {
            let Cell::Word(kind) = row["frame_type"] else { panic!("{row:?}") };
            let kind = match kind { "rts" => 0xb4, "cts" => 0xc4, "ack" => 0xd4, _ => 0x08 };
            *expected.entry((row["src"].int() as u32, ns(row["time_s"]), kind)).or_insert(0) += 1;
        }
        prop_assert!(sent == expected, "{} frames, {} in captures", expected.len(), sent.len());
        let flow_events = |events: &[&str]| {
            let is = |row: &&Row| row["flow"] != Cell::Null && events.iter().any(|event| row["event"] == *event);
            with.tables["packets"].iter().filter(is).count() as u64
        };
        prop_assert_eq!(created, flow_events(&["created", "injected"]));
        prop_assert_eq!(ended, flow_events(&["delivered", "absorbed"]));
        prop_assert_eq!(dropped, flow_events(&["dropped"]));
    }
}

#[test]
fn datagrams_of_a_driver_have_their_own_sizes() {
    let text = r#"
        run = { stop = "1 s" }
        topology = { kind = "none", wired_nodes = 2 }
        wired_link = [{ src = 0, dst = 1 }]
        flow = [{ src = 0, dst = 1, app = "external" }]
    "#;
    let mut sim = Sim::new(&Setup { capture: true, ..scenario(text).setup(None) });
    let sizes = [0, 10, 700, 1472];
    for bytes in sizes {
        sim.inject(FlowId(0), Injection { bytes, ..Injection::default() }).expect("accepted");
    }
    sim.run();
    let file = sim.captures().expect("captures").output().find(|file| file.0.0 == 1).expect("a file").1.clone();
    let (_, packets) = parse(&file);
    let at_link = packets.iter().filter(|p| p.interface == 0);
    let lengths: Vec<u32> = at_link.map(|p| p.bytes.len() as u32).collect();
    assert_eq!(lengths.iter().map(|n| n - lengths[0]).collect::<Vec<_>>(), sizes);
}
