//! Layouts: grids, random places and flows, files.

use chappe_core::net::routing::fixed::hops_to;
use chappe_core::packet::NodeId;
use chappe_core::radio::Channel;
use chappe_core::radio::links::Gain;
use chappe_core::scenario::{Errors, Files, Scenario};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Files that cannot be read as places or flows.
const WRONG: [(&str, &str); 12] = [
    ("torn.csv", "x_m,y_m\n0,0\n1\n"),
    ("long.csv", "x_m,y_m\n0,0\n200,0,0\n"),
    ("empty_field.csv", "x_m,y_m\n0,0,\n"),
    ("twice.csv", "x_m,y_m, x_m\n0,0,200\n"),
    ("header_again.csv", "x_m,y_m\n0,0\nx_m,y_m\n"),
    ("empty.csv", ""),
    ("header.csv", "x_m,y_m\n\n"),
    ("far.csv", "x_m,y_m\n1e9,0\n"),
    ("infinite.csv", "x_m,y_m\n0,inf\n"),
    ("half.csv", "src,dst\n0,1\n1.5,0\n"),
    ("negative.csv", "src,dst\n0,-1\n"),
    ("no_flows.csv", "src,dst\n"),
];

/// Files.
struct Folder;

impl Files for Folder {
    fn read(&self, name: &str, from: &str) -> Result<(String, String), String> {
        assert_eq!(from, "my.toml");
        let text = match name {
            "nodes.csv" => "node,x_m,y_m\n0,0,0\n1,150.5,0\n\n2,300,10\n",
            "flows.csv" => "flow, src, dst\n0, 2, 0\n1, 0, 1\n",
            "mark.csv" => "\u{feff}x_m,y_m\r\n0,0\r\n200,0\r\n",
            "links.csv" => "from,to,signal_dbm\n1,0,-61\n0,1,-60\n\n1,2,-70\n2,1,-70\n",
            "torn_links.csv" => "from,to,signal_dbm\n0,1,-60\n1,0\n",
            "mark_flows.csv" => "\u{feff}src,dst\n0,1\n",
            name if let Some((_, text)) = WRONG.iter().find(|w| w.0 == name) => text,
            _ => return Err("no such file".into()),
        };
        Ok((name.into(), text.into()))
    }
}

fn read(text: &str) -> Result<Scenario, Errors> {
    Scenario::from_toml("my.toml", &format!("run.stop = \"1 s\"\n{text}"), &[], &Folder)
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn refused(text: &str) -> String {
    let errors = read(text).expect_err(text);
    errors.problems.iter().map(|p| format!("{}: {}", p.path, p.message)).collect::<Vec<_>>().join("; ")
}

#[test]
fn nodes_and_flows_come_from_files_and_are_then_part_of_the_scenario() {
    let text = "topology = { kind = \"file\", file = \"nodes.csv\" }\n\
                traffic = { file = \"flows.csv\", start = \"2 s\", stagger = \"500 ms\" }\nrouting.ttl = 9";
    let s = good(text);
    let places: Vec<(f64, f64)> = s.layout().places.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(places, [(0.0, 0.0), (150.5, 0.0), (300.0, 10.0)]);
    let flows: Vec<_> =
        s.layout().flows.iter().map(|f| (f.from, f.to, f.start.expect("it starts by itself").as_secs())).collect();
    assert_eq!(flows, [(2, Some(0), 2.0), (0, Some(1), 2.5)]);
    // Neither the settings in effect nor what was written needs the files again.
    for json in [s.effective(), s.written()] {
        let again =
            Scenario::from_json(&json, &Json::Null, &chappe_core::scenario::NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
}

#[test]
fn measured_links_come_from_a_file_and_are_then_part_of_the_scenario() {
    let text =
        "topology = { hops = 2 }\nradio = { propagation = \"links\", reception = \"sinr\", links = \"links.csv\" }";
    let s = good(text);
    let gain = |from, to| s.config().radio.links.gain(from, to);
    assert_eq!([gain(0, 1), gain(1, 0), gain(0, 2)], [Some(Gain::Signal(-60.0)), Some(Gain::Signal(-61.0)), None]);
    for json in [s.effective(), s.written()] {
        let again =
            Scenario::from_json(&json, &Json::Null, &chappe_core::scenario::NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
    let own = |why: &str| format!("radio.links: cannot read {why}");
    assert_eq!(
        refused(&text.replace("links.csv", "torn_links.csv")),
        own("`torn_links.csv`: line 3 has nothing that fits in column `signal_dbm`")
    );
    assert_eq!(refused(&text.replace("links.csv", "none.csv")), own("`none.csv`: no such file"));
    assert_eq!(
        refused(&text.replace("hops = 2", "hops = 1")),
        own("`links.csv`: line 5 names node 2, and nodes are numbered from 0 to 1")
    );
}

#[test]
fn spreadsheets_mark_the_byte_order() {
    let s = good("topology = { kind = \"file\", file = \"mark.csv\" }\ntraffic.file = \"mark_flows.csv\"");
    assert_eq!(s.layout().places.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>(), [(0.0, 0.0), (200.0, 0.0)]);
    assert_eq!(s.layout().flows.iter().map(|f| (f.from, f.to)).collect::<Vec<_>>(), [(0, Some(1))]);
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let file = |name: &str| refused(&format!("topology = {{ kind = \"file\", file = \"{name}\" }}"));
    assert!(file("none.csv").contains("cannot read `none.csv`: no such file"), "{}", file("none.csv"));
    assert!(file("flows.csv").contains("it has no column `x_m`"));
    let flows = |name: &str| refused(&format!("traffic.file = \"{name}\""));
    let own = |kind: &str, name: &str, why: &str| format!("{kind}.file: cannot read `{name}`: {why}");
    for (name, why) in [
        ("torn.csv", "line 3 has no number in column `y_m`"),
        ("long.csv", "line 3 has 3 fields, and the header names 2"),
        ("empty_field.csv", "line 2 has 3 fields, and the header names 2"),
        ("twice.csv", "it has the column `x_m` twice"),
        ("header_again.csv", "line 3 has no number in column `x_m`"),
        ("empty.csv", "it has no column `x_m`"),
        ("header.csv", "it has no rows below its header"),
        ("far.csv", "line 2 has no number in column `x_m`"),
        ("infinite.csv", "line 2 has no number in column `y_m`"),
    ] {
        assert_eq!(file(name), own("topology", name, why));
    }
    for (name, why) in [
        ("half.csv", "line 3 has no whole number in column `src`"),
        ("negative.csv", "line 2 has no whole number in column `dst`"),
        ("no_flows.csv", "it has no rows below its header"),
    ] {
        assert_eq!(flows(name), own("traffic", name, why));
    }
    assert!(refused("topology.kind = \"file\"").contains("no file is named"));
}

#[test]
fn layouts_that_cannot_be_are_told() {
    for (text, message) in [
        ("topology = { kind = \"grid\", rows = 0 }", "`topology.rows` is 0"),
        ("topology = { kind = \"grid\", omit = [[5, 0]] }", "the grid has no column 5 in row 0"),
        ("topology = { kind = \"grid\", omit = [1] }", "`topology.omit` cannot be a list"),
        ("topology = { kind = \"grid\", rows = 1, columns = 1 }", "there is 1 node"),
        ("topology = { kind = \"random\", nodes = 1 }", "`topology.nodes` is 1"),
        ("topology = { kind = \"random\", width = \"0 m\" }", "`topology.width` is 0 m"),
        ("topology = { kind = \"random\", nodes = 12 }", "always a node that could not reach another"),
        ("topology = { kind = \"random\" }\ntraffic.flows = 61", "61 flows of this length cannot be found"),
        (
            "topology = { kind = \"random\" }\ntraffic = { flows = 1, min_hops = 60 }",
            "1 flow of this length cannot be found",
        ),
        ("traffic = { flows = 1, min_hops = 3, max_hops = 2 }", "the most hops, 2, are fewer"),
        ("traffic = { flows = 1, min_hops = 0 }", "`traffic.min_hops` is 0"),
        ("topology = { kind = \"random\", nodes = 30000 }", "at most 20000 are allowed"),
    ] {
        assert!(refused(text).contains(message), "{text}: {}", refused(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random layouts are connected, flows are as long as they should be, and the seed of the run moves nothing.
    #[test]
    fn random_layouts_are_what_was_asked_for(seed in 0u64..1000, low in 1u32..4, more in 0u32..5, distinct: bool) {
        let text = format!(
            "topology = {{ kind = \"random\", seed = {seed} }}\n\
             traffic = {{ flows = 8, min_hops = {low}, max_hops = {}, distinct_ends = {distinct} }}",
            low + more
        );
        let s = good(&text);
        let n = s.layout().places.len();
        let channel = Channel::new(&s.layout().interfaces.on_air(&s.layout().places));
        prop_assert_eq!(n, 120);
        let mut ends = vec![];
        for f in &s.layout().flows {
            let to = f.to.expect("a destination");
            let hops = hops_to(n, NodeId(to), |v| channel.neighbours(chappe_core::packet::RadioId(v.0)).map(|r| NodeId(r.0)));
            prop_assert!(hops.iter().all(|&h| h < u32::MAX));
            prop_assert!((low..=low + more).contains(&hops[f.from as usize]));
            ends.extend([f.from, to]);
        }
        prop_assert_eq!(ends.len(), 16);
        if distinct {
            ends.sort_unstable();
            ends.dedup();
            prop_assert_eq!(ends.len(), 16);
        }
        let other = good(&format!("{text}\nrun.seed = 99"));
        prop_assert_eq!(&other.layout().places, &s.layout().places);
        let elsewhere = good(&text.replace(&format!("seed = {seed} "), &format!("seed = {} ", seed + 1)));
        prop_assert_ne!(&elsewhere.layout().places, &s.layout().places);
    }
}
