//! Layouts: grids, random places and flows, files.

use chappe_core::net::routing::fixed::hops_to;
use chappe_core::packet::NodeId;
use chappe_core::radio::Channel;
use chappe_core::scenario::{Errors, Files, Scenario};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Two files.
struct Folder;

impl Files for Folder {
    fn read(&self, name: &str, from: &str) -> Result<(String, String), String> {
        assert_eq!(from, "my.toml");
        let text = match name {
            "nodes.csv" => "node,x_m,y_m\n0,0,0\n1,150.5,0\n\n2,300,10\n",
            "flows.csv" => "flow, src, dst\n0, 2, 0\n1, 0, 1\n",
            "torn.csv" => "x_m,y_m\n0,0\n1\n",
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
    let flows: Vec<_> = s.layout().flows.iter().map(|f| (f.from, f.to, f.start.as_secs())).collect();
    assert_eq!(flows, [(2, Some(0), 2.0), (0, Some(1), 2.5)]);
    // Neither the settings in effect nor what was written needs the files again.
    for json in [s.effective(), s.written()] {
        let again =
            Scenario::from_json(&json, &Json::Null, &chappe_core::scenario::NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let file = |name: &str| refused(&format!("topology = {{ kind = \"file\", file = \"{name}\" }}"));
    assert!(file("none.csv").contains("cannot read `none.csv`: no such file"), "{}", file("none.csv"));
    assert!(file("flows.csv").contains("it has no column `x_m`"));
    assert!(file("torn.csv").contains("line 3 has no number in column `y_m`"));
    assert!(refused("topology.kind = \"file\"").contains("no file is named"));
}

#[test]
fn layouts_that_cannot_be_are_told() {
    for (text, message) in [
        ("topology = { kind = \"grid\", rows = 0 }", "`topology.rows` is 0"),
        ("topology = { kind = \"grid\", omit = [[5, 0]] }", "the grid has no column 5 in row 0"),
        ("topology = { kind = \"grid\", omit = [1] }", "`topology.omit` cannot be a list"),
        ("topology = { kind = \"grid\", rows = 1, columns = 1 }", "there are 1 nodes"),
        ("topology = { kind = \"random\", nodes = 1 }", "there are 1 nodes"),
        ("topology = { kind = \"random\", width = \"0 m\" }", "the area has no sensible size"),
        ("topology = { kind = \"random\", nodes = 12 }", "always a node that could not reach another"),
        ("topology = { kind = \"random\" }\ntraffic.flows = 61", "there are no 61 flows of this length"),
        ("topology = { kind = \"random\" }\ntraffic = { flows = 1, min_hops = 60 }", "there are no 1 flows"),
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
        let channel = Channel::new(&s.config().radio, &s.layout().places);
        prop_assert_eq!(n, 120);
        let mut ends = vec![];
        for f in &s.layout().flows {
            let to = f.to.expect("a destination");
            let hops = hops_to(n, NodeId(to), |v| channel.neighbours(v));
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
