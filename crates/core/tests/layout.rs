//! Layouts: grids, random positions and flows, files.

use chappe_core::net::routing::fixed::hops_to;
use chappe_core::packet::NodeId;
use chappe_core::radio::Channel;
use chappe_core::radio::propagation::links::Gain;
use chappe_core::unit::Time;
use chappe_scenario::{Errors, Files, NoFiles, Scenario};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Files that cannot be read as places or flows.
const WRONG: [(&str, &str); 17] = [
    ("torn.csv", "x_m,y_m\n0,0\n1\n"),
    ("long.csv", "x_m,y_m\n0,0\n200,0,0\n"),
    ("empty_field.csv", "x_m,y_m\n0,0,\n"),
    ("twice.csv", "x_m,y_m, x_m\n0,0,200\n"),
    ("label.csv", "label,x_m,y_m\na,0,0\n"),
    ("same_node.csv", "node,x_m,y_m\n0,0,0\n0,9,0\n"),
    ("node_gap.csv", "node,x_m,y_m\n0,0,0\n2,9,0\n"),
    ("header_again.csv", "x_m,y_m\n0,0\nx_m,y_m\n"),
    ("empty.csv", ""),
    ("header.csv", "x_m,y_m\n\n"),
    ("far.csv", "x_m,y_m\n1e9,0\n"),
    ("infinite.csv", "x_m,y_m\n0,inf\n"),
    ("half.csv", "src,dst\n0,1\n1.5,0\n"),
    ("negative.csv", "src,dst\n0,-1\n"),
    ("no_flows.csv", "src,dst\n"),
    ("early.csv", "src,dst,started_at_s\n0,1,0\n0,1,-1\n"),
    ("flow_gap.csv", "flow,src,dst\n1,0,1\n"),
];

/// Files.
struct Folder;

impl Files for Folder {
    fn read(&self, name: &str, from: &str) -> Result<(String, String), String> {
        assert_eq!(from, "my.toml");
        let text = match name {
            "nodes.csv" => "node,x_m,y_m\n0,0,0\n1,150.5,0\n\n2,300,10\n",
            "flows.csv" => "flow, src, dst\n0, 2, 0\n1, 0, 1\n",
            "unordered.csv" => "node,x_m,y_m\n2,300,10\n0,0,0\n1,150.5,0\n",
            "timed.csv" => "flow,src,dst,started_at_s\n1,2,0,0.5\n0,0,2,3.25\n2,1,0,\n",
            "gap.mv" => "$node_(1) set X_ 1\n$node_(1) set Y_ 1\n$node_(4) set X_ 1\n$node_(4) set Y_ 1\n",
            "high.mv" => {
                "$node_(0) set X_ 1; $node_(0) set Y_ 1; $node_(0) set Z_ 9; $node_(1) set X_ 9; $node_(1) set Y_ 1"
            }
            "bad.mv" => "$node_(0) set X_ 1; $node_(0) set Y_ 1\n$node_(0) label home\n",
            "mark.csv" => "\u{feff}x_m,y_m\r\n0,0\r\n200,0\r\n",
            "links.csv" => "src,dst,signal_dbm\n1,0,-61\n0,1,-60\n\n1,2,-70\n2,1,-70\n",
            "torn_links.csv" => "src,dst,signal_dbm\n0,1,-60\n1,0\n",
            "errors.csv" => "mcs,snr_db,bytes,frame_error_rate\n0,2,1500,0.1\n0,1,1500,0.9\n",
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
                traffic = { file = \"flows.csv\", start = \"2 s\", stagger = \"500 ms\" }\nnet.ttl = 9";
    let s = good(text);
    let positions: Vec<(f64, f64)> = s.layout().positions.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(positions, [(0.0, 0.0), (150.5, 0.0), (300.0, 10.0)]);
    let flows: Vec<_> =
        s.layout().flows.iter().map(|f| (f.src, f.dst, f.start.expect("it starts by itself").as_secs())).collect();
    assert_eq!(flows, [(2, 0, 2.0), (0, 1, 2.5)]);
    // Neither the settings in effect nor what was written needs the files again.
    for json in [s.effective(), s.written()] {
        let again = Scenario::from_json(&json, &Json::Null, &NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
}

#[test]
fn measured_links_come_from_a_file_and_are_then_part_of_the_scenario() {
    let text = "topology = { hops = 2 }\nradio = { propagation = \"links\", reception = \"sinr\", links_file = \"links.csv\" }";
    let s = good(text);
    let gain = |from, to| s.config().radio.links_table.gain(from, to);
    assert_eq!([gain(0, 1), gain(1, 0), gain(0, 2)], [Some(Gain::Signal(-60.0)), Some(Gain::Signal(-61.0)), None]);
    for json in [s.effective(), s.written()] {
        let again = Scenario::from_json(&json, &Json::Null, &NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
    let own = |why: &str| format!("radio.links_file: cannot read {why}");
    assert_eq!(
        refused(&text.replace("links.csv", "torn_links.csv")),
        own("`torn_links.csv`: line 3 has 2 fields, and the header names 3")
    );
    assert_eq!(refused(&text.replace("links.csv", "none.csv")), own("`none.csv`: no such file"));
    assert_eq!(
        refused(&text.replace("hops = 2", "hops = 1")),
        own("`links.csv`: line 5 names node 2, and nodes are numbered from 0 to 1")
    );
}

#[test]
fn error_rates_come_from_a_file_and_are_then_part_of_the_scenario() {
    let text = "extends = \"802.11n\"\ntopology.hops = 2\nradio.sinr.error_rates_file = \"errors.csv\"";
    let s = good(text);
    let written = "mcs,snr_db,bytes,frame_error_rate\n0,1,1500,0.9\n0,2,1500,0.1\n";
    let sinr = |s: &Scenario| s.effective()["radio"]["sinr"].clone();
    assert_eq!(sinr(&s)["error_rates_file"], "none");
    assert_eq!(sinr(&s)["error_rates_table"], written);
    for json in [s.effective(), s.written()] {
        let again = Scenario::from_json(&json, &Json::Null, &NoFiles).expect("no file is needed");
        assert_eq!(again.effective(), s.effective());
    }
    let own = |why: &str| format!("radio.sinr.error_rates_file: cannot read {why}");
    let wrong = |file: &str| refused(&text.replace("errors.csv", file));
    assert_eq!(wrong("none.csv"), own("`none.csv`: no such file"));
    assert_eq!(wrong("links.csv"), own("`links.csv`: it is a table of links"));
    let both = format!("{text}\nradio.sinr.error_rates_table = \"mcs,snr_db,bit_error_rate\\n7,20,0.001\\n\"");
    assert_eq!(
        refused(&both),
        "radio.sinr.error_rates_table: `radio.sinr.error_rates_file` and `radio.sinr.error_rates_table` both say which \
         errors frames have"
    );
    // Without frames of OFDM it has no effect.
    let unused = good("topology.hops = 2\nradio = { reception = \"sinr\", sinr.error_rates_file = \"errors.csv\" }");
    assert!(unused.warnings.iter().any(|w| w.message.contains("no frame is sent at a rate of 802.11a")));
}

#[test]
fn numbers_and_times_in_files_count() {
    let s = good("topology = { kind = \"file\", file = \"unordered.csv\" }\ntraffic.file = \"timed.csv\"");
    let positions: Vec<(f64, f64)> = s.layout().positions.iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(positions, [(0.0, 0.0), (150.5, 0.0), (300.0, 10.0)]);
    let flows: Vec<_> = s.layout().flows.iter().map(|f| (f.src, f.dst, f.start.map(|t| t.as_secs()))).collect();
    assert_eq!(flows, [(0, 2, Some(3.25)), (2, 0, Some(0.5)), (1, 0, None)]);
    // A mistake in the settings of all flows is one mistake.
    let twice = "topology.hops = 2\ntraffic = { file = \"flows.csv\", stop = \"9 s\", duration = \"1 s\" }";
    assert_eq!(
        refused(twice),
        "traffic.duration: `traffic.stop` and `traffic.duration` both say when the application stops"
    );
    // Other settings of start times have no effect on these flows.
    let both = good("topology.hops = 2\ntraffic = { file = \"timed.csv\", start = \"1 s\" }");
    let said: Vec<&str> = both.warnings.iter().map(|w| w.message.as_str()).collect();
    let expected =
        "`traffic.start` has no effect on the flows of `timed.csv`: its column `started_at_s` says when they start";
    assert_eq!(said[0], expected);
}

#[test]
fn flows_without_a_begin_cause_a_warning() {
    let said = |text: &str| {
        let s = good(&format!("topology.hops = 2\n{text}"));
        let own = s.warnings.iter().filter(|w| w.message.contains("no start"));
        own.map(|w| format!("{}: {}", w.path, w.message)).collect::<Vec<_>>()
    };
    let never = |path: &str, flow: u32, more: &str| {
        vec![format!("{path}: flow {flow} has no start, and no event starts it{more}")]
    };
    let begun = |flows: &[u32]| {
        let events: Vec<String> =
            flows.iter().map(|f| format!("{{ at = \"500 ms\", action = \"flow_start\", flow = {f} }}")).collect();
        format!("\nevent = [{}]", events.join(", "))
    };
    let none = Vec::<String>::new();
    let listed = "flow = [{ dst = 1 }, { dst = 2, start = \"event\" }]";
    let of_file = "traffic.file = \"timed.csv\"";
    let of_sets = "flow = [{ src = 0, dst = \"1-2\" }, { src = 2, dst = \"0-1\", start = \"event\" }]";
    assert_eq!(said(listed), never("flow.1.start", 1, ""));
    assert_eq!(said(&format!("{listed}{}", begun(&[0]))), never("flow.1.start", 1, ""));
    assert_eq!(said(&format!("{listed}{}", begun(&[1]))), none);
    assert_eq!(said(of_file), never("flow.2.start", 2, ""));
    assert_eq!(said(&format!("{of_file}{}", begun(&[2]))), none);
    assert_eq!(said(of_sets), never("flow.1.start", 2, ", nor one more flow"));
    assert_eq!(said(&format!("{of_sets}{}", begun(&[2]))), never("flow.1.start", 3, ""));
    assert_eq!(said(&format!("{of_sets}{}", begun(&[3, 2]))), none);
    // Flows of a file come after those that are listed.
    let all = "flow = [{ dst = 1, start = \"event\" }, { dst = 2, start = \"event\" }, { src = 0, dst = \"1-2\" }, \
               { src = 2, dst = \"0-1\", start = \"event\" }]\ntraffic.file = \"timed.csv\"";
    assert_eq!(said(all), never("flow.0.start", 0, ", nor 4 more flows"));
    assert_eq!(said(&format!("{all}{}", begun(&[0, 1, 4]))), never("flow.3.start", 5, ", nor one more flow"));
}

#[test]
fn flows_are_numbered_entry_by_entry() {
    let s = good(
        "topology.hops = 3\nflow = [{ src = [3, 1], dst = \"0-1\", stagger = \"2 s\" }, { src = 2, dst = 0 }, { src = 0, dst = \"2-3\", start = \"1 s\", duration = \"3 s\" }]",
    );
    let flows: Vec<_> = s.layout().flows.iter().map(|f| (f.src, f.dst)).collect();
    assert_eq!(flows, [(1, 0), (3, 0), (3, 1), (2, 0), (0, 2), (0, 3)]);
    let times = |t: Option<Time>| t.map(|t| t.as_secs());
    let starts: Vec<_> = s.layout().flows.iter().map(|f| times(f.start)).collect();
    assert_eq!(starts, [0.0, 2.0, 4.0, 0.0, 1.0, 1.0].map(Some));
    let stops: Vec<_> = s.layout().flows.iter().map(|f| times(f.stop)).collect();
    assert_eq!(stops, [None, None, None, None, Some(4.0), Some(4.0)]);
    // An override names an entry, an event a flow.
    let text = "topology.hops = 3\nflow = [{ src = \"1-2\", dst = 0 }, { src = 3, dst = 0, app = \"cbr\" }]\n\
                event = [{ at = \"1 ms\", action = \"set\", setting = \"flow.2.cbr.interval\", value = \"1 s\" }]";
    let later = Scenario::from_toml(
        "my.toml",
        &format!("run.stop = \"1 s\"\n{text}"),
        &[("flow.1.start".into(), "5 ms".into())],
        &NoFiles,
    );
    let starts: Vec<_> = later.expect("it is good").layout().flows.iter().map(|f| f.start).collect();
    assert_eq!(starts, [Time::ZERO, Time::ZERO, Time(5_000_000)].map(Some));
}

#[test]
fn random_flows_and_shadowing_may_have_seeds_of_their_own() {
    let text = |more: &str| {
        format!(
            "topology = {{ kind = \"random\", nodes = 40, width = \"900 m\", height = \"900 m\", seed = 2 }}\ntraffic.flows = 3\n{more}"
        )
    };
    let parts = |more: &str| {
        let s = good(&text(more));
        let positions: Vec<_> = s.layout().positions.iter().map(|p| (p.x, p.y)).collect();
        let flows: Vec<_> = s.layout().flows.iter().map(|f| (f.src, f.dst)).collect();
        let links: Vec<_> = s.links().iter().map(|l| l.signal_dbm).collect();
        (positions, flows, links)
    };
    let plain = parts("");
    assert_eq!(parts("traffic.seed = 2"), plain);
    let drawn = parts("traffic.seed = 3");
    assert_eq!((&drawn.0, &drawn.2), (&plain.0, &plain.2));
    assert_ne!(drawn.1, plain.1);
    let shadowed = "radio = { propagation = \"log_distance\", shadowing = \"3 dB\" }\n";
    let plain = parts(shadowed);
    assert_eq!(parts(&shadowed.replace(" }", ", shadowing_seed = 2 }")), plain);
    let drawn = parts(&shadowed.replace(" }", ", shadowing_seed = 3 }"));
    assert_eq!(drawn.0, plain.0);
    assert_ne!(drawn.2, plain.2);
}

#[test]
fn unreadable_movement_file_is_the_only_problem() {
    let file = |name: &str| {
        format!(
            "topology.kind = \"motion\"\nmobility = {{ model = \"file\", file = \"{name}\" }}\nflow = [{{ dst = 1 }}]\n\
             node = [{{ nodes = 1, queue.limit = 3 }}]"
        )
    };
    let own = |why: &str| format!("mobility.file: cannot read {why}");
    assert_eq!(refused(&file("none.mv")), own("`none.mv`: no such file"));
    let label = "`bad.mv`: line 2 is no command of a movement file: `$node_(0) label home`";
    assert_eq!(refused(&file("bad.mv")), own(label));
    let gap = "`gap.mv`: it has no position of nodes 0, 2, 3, and goes up to node 4";
    assert_eq!(refused(&file("gap.mv")), own(gap));
    let high = good(&file("high.mv"));
    let said: Vec<&str> = high.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(said, ["`high.mv`: line 1 sets node 0 9 m high (`Z_`), which has no effect"]);
    // Nodes missing in a file may stay at their positions in the topology.
    good(&file("gap.mv").replace("topology.kind = \"motion\"", "topology.hops = 4"));
    // The same holds for movements written in the scenario.
    let ways = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\\n0,1,0,0,0,0,0\\n";
    let inline = |ways: &str| {
        refused(&format!("topology.kind = \"motion\"\nmobility = {{ model = \"file\", table = \"{ways}\" }}"))
    };
    assert_eq!(inline(ways), "mobility.table: it has no position of node 0, and goes up to node 1");
    assert_eq!(inline("x\\n"), "mobility.table: `mobility.table` cannot be \"x\\u{a}\"");
}

#[test]
fn spreadsheets_mark_the_byte_order() {
    let s = good("topology = { kind = \"file\", file = \"mark.csv\" }\ntraffic.file = \"mark_flows.csv\"");
    assert_eq!(s.layout().positions.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>(), [(0.0, 0.0), (200.0, 0.0)]);
    assert_eq!(s.layout().flows.iter().map(|f| (f.src, f.dst)).collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn unreadable_files_are_reported() {
    let file = |name: &str| refused(&format!("topology = {{ kind = \"file\", file = \"{name}\" }}"));
    assert!(file("none.csv").contains("cannot read `none.csv`: no such file"), "{}", file("none.csv"));
    assert!(file("flows.csv").contains("it is a table of flows"));
    let flows = |name: &str| refused(&format!("traffic.file = \"{name}\""));
    let own = |kind: &str, name: &str, why: &str| format!("{kind}.file: cannot read `{name}`: {why}");
    for (name, why) in [
        ("torn.csv", "line 3 has 1 field, and the header names 2"),
        ("long.csv", "line 3 has 3 fields, and the header names 2"),
        ("empty_field.csv", "line 2 has 3 fields, and the header names 2"),
        ("twice.csv", "line 1 has the column `x_m` twice"),
        ("label.csv", "line 1 has a column `label`, which is not known here"),
        ("same_node.csv", "lines 2 and 3 have the same `node`, 0"),
        ("node_gap.csv", "line 3 has `node` 2, and there are 2 rows"),
        ("header_again.csv", "line 3 has nothing that fits in column `x_m`"),
        ("empty.csv", "it is empty"),
        ("header.csv", "it has no rows below its header"),
        ("far.csv", "line 2 has nothing that fits in column `x_m`"),
        ("infinite.csv", "line 2 has nothing that fits in column `y_m`"),
    ] {
        assert_eq!(file(name), own("topology", name, why));
    }
    for (name, why) in [
        ("half.csv", "line 3 has nothing that fits in column `src`"),
        ("negative.csv", "line 2 has nothing that fits in column `dst`"),
        ("early.csv", "line 3 has nothing that fits in column `started_at_s`"),
        ("flow_gap.csv", "line 2 has `flow` 1, and there is 1 row"),
        ("no_flows.csv", "it has no rows below its header"),
    ] {
        assert_eq!(flows(name), own("traffic", name, why));
    }
    assert!(refused("topology.kind = \"file\"").contains("no file is named"));
}

/// Files of other programs, given as `setting`: message and advice.
const FOREIGN: [(&str, &str, &str, &str); 41] = [
    (
        "traffic.file",
        "$ns_ connect $udp_(0) $null_(0)\n",
        "a script of ns-2 with traffic",
        "its 1 connection as a CSV file",
    ),
    (
        "traffic.file",
        "#\nset udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(1) $udp_(0)\nset c [new Application/Traffic/CBR]\n",
        "a script of ns-2 with traffic, as cbrgen writes it",
        "`cbr.interval` (interval_)",
    ),
    ("topology.file", "{\"type\":\"NetworkGraph\",\"links\":[]}", "it is NetJSON", "but no places; write a CSV file"),
    ("radio.links_file", "{\"type\":\n\"NetworkGraph\"}", "it is NetJSON", "do not tell how strong a signal arrives"),
    ("topology.file", "{\"type\":\"FeatureCollection\"}", "it is GeoJSON", "project its degrees to meters"),
    ("mobility.file", "[[0, 1, 2]]", "it is JSON", "a movement file of ns-2"),
    ("mobility.file", "<?xml version=\"1.0\"?>\n<fcd-export>", "a trace of SUMO", "traceExporter.py"),
    ("topology.file", "$node_(0) set X_ 1\n", "a movement file of ns-2", "`mobility.file`"),
    ("topology.file", "x_m;y_m\n0;0\n", "separated by semicolons", "by commas"),
    ("topology.file", "id,lat,lon\n0,48,9\n", "it has no column `x_m`", "project degrees to meters"),
    ("radio.links_file", "src,dst,loss\n0,1,0.3\n", "column `loss`", "a share that is lost whatever arrives"),
    ("radio.links_file", "src,dst,etx\n0,1,1.3\n", "column `etx`", "write signal_dbm or loss_db"),
    ("radio.links_file", "src,dst,rssi\n0,1,-60\n", "column `rssi`", "did you mean `signal_dbm`?"),
    ("radio.links_file", "from,to,signal_dbm\n0,1,-60\n", "it has no column `src`", "did you mean `src`?"),
    ("traffic.file", "from,to\n0,1\n", "it has no column `src`", "did you mean `src`?"),
    ("radio.links_file", "src,dst,snr_db\n0,1,30\n", "column `snr_db`", "by adding the noise"),
    ("radio.links_file", "src,dst,loss_db,noise_dbm\n0,1,80,-95\n", "column `noise_dbm`", "`radio.sinr.noise_figure`"),
    (
        "radio.links_file",
        "src,dst,signal_dbm,rx_dbm\n0,1,-60,-60\n",
        "column `rx_dbm`",
        "its columns are src, dst, signal_dbm",
    ),
    ("radio.links_file", "src,dst,distance_m\n0,1,200\n", "column `distance_m`", "distances follow from places"),
    (
        "radio.links_file",
        "src,dst,delay,capacity\n0,1,3,11\n",
        "column `delay`",
        "are wired links: list them as `wired_link`",
    ),
    (
        "radio.links_file",
        "Table: Links\nLocal IP\tRemote IP\tETX\n",
        "a table of olsrd",
        "do not tell how strong a signal arrives",
    ),
    (
        "traffic.file",
        "set tcp_(0) [$ns_ create-connection  TCP $node_(1) TCPSink $node_(2) 0]\n$tcp_(0) set window_ 32\n\
         set ftp_(0) [$tcp_(0) attach-source FTP]\n",
        "a script of ns-2 with traffic, as cbrgen writes it",
        "its 1 connection as a CSV file with the columns src, dst, started_at_s, which `traffic.file` names, and set `tcp.",
    ),
    (
        "mobility.file",
        "set tcp_(0) [$ns_ create-connection TCP $node_(1) TCPSink $node_(2) 0]\n",
        "a script of ns-2 with traffic",
        "`traffic.file`",
    ),
    ("topology.file", "set ns [new Simulator]\nset n0 [$ns node]\n", "it is a script of ns-2", "one node per line"),
    ("topology.file", "set terminal png\nplot sin(x)\n", "it has no column `x_m`", "its columns are x_m, y_m"),
    ("topology.file", "[General]\nnetwork = Net\n", "it has no column `x_m`", "its columns are x_m, y_m"),
    ("topology.file", "[\n{}]\n", "it is JSON", "one node per line"),
    ("topology.file", "x_m y_m\n0 0\n", "separated by blanks", "by commas"),
    ("topology.file", "x_m\ty_m\n0\t0\n", "separated by tabs", "by commas"),
    ("mobility.file", "time_s\tnode\n0\t0\n", "separated by tabs", "by commas"),
    ("radio.links_file", "from;to;signal_dbm\n0;1;-60,5\n", "separated by semicolons", "decimals with a point"),
    ("topology.file", "0,0\n200,0\n", "numbers, and not the names of its columns", "a first line that names them"),
    ("traffic.file", "0,1,2.5\n", "numbers, and not the names of its columns", "the columns src, dst"),
    ("mobility.file", "0,0,0,0,5,5,1\n", "numbers, and not the names of its columns", "a first line that names them"),
    (
        "topology.file",
        "0.0 1.0 2.0 10.0 5.0 5.0\n0.0 3.0 4.0\n",
        "a `.movements` file of BonnMotion",
        "`mobility.file`",
    ),
    ("traffic.file", "0 1\n1 2\n", "its numbers are separated by blanks", "one flow per line"),
    ("topology.file", "src,dst\n0,1\n", "it is a table of flows", "name it as `traffic.file`"),
    ("traffic.file", "node,x_m,y_m\n0,0,0\n", "it is a table of places", "name it as `topology.file`"),
    ("traffic.file", "src,dst,loss_db\n0,1,80\n", "it is a table of links", "name it as `radio.links_file`"),
    (
        "radio.links_file",
        "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\n0,0,0,0,0,0,0\n",
        "it is a table of ways",
        "name it as `mobility.file`",
    ),
    ("mobility.file", "x_m,y_m\n0,0\n", "it is a table of places", "name it as `topology.file`"),
];

#[test]
fn files_of_other_programs_are_recognized() {
    for (setting, text, why, help) in FOREIGN {
        let kind = match setting {
            "topology.file" => "topology.kind = \"file\"",
            "radio.links_file" => "radio.propagation = \"links\"\nradio.reception = \"sinr\"\ntopology.hops = 1",
            "mobility.file" => "mobility.model = \"file\"\ntopology.kind = \"motion\"",
            _ => "topology.hops = 2",
        };
        let scenario = format!("run.stop = \"1 s\"\n{setting} = \"theirs\"\n{kind}");
        let errors = Scenario::from_toml("my.toml", &scenario, &[], &Theirs(text)).expect_err(text);
        assert_eq!(errors.problems.len(), 1, "{errors}");
        let p = &errors.problems[0];
        assert!(p.message.starts_with("cannot read `theirs`: ") && p.message.contains(why), "{errors}");
        assert!(p.help.as_ref().is_some_and(|h| h.contains(help)), "{errors}");
    }
    // The noise that is named is that of the defaults.
    let errors = Scenario::from_toml(
        "my.toml",
        "run.stop = \"1 s\"\ntopology.hops = 1\nradio = { propagation = \"links\", reception = \"sinr\", links_file = \"x\" }",
        &[],
        &Theirs("src,dst,snr_db\n0,1,30\n"),
    )
    .expect_err("it is a ratio");
    let noise = 30.0 + 10.0 * chappe_core::radio::sinr::noise(&chappe_core::radio::sinr::Config::default()).log10();
    assert!(errors.problems[0].help.as_ref().is_some_and(|h| h.contains(&format!("{noise:.1} dBm"))), "{errors}");
}

/// A folder in which every file has this text.
struct Theirs(&'static str);

impl Files for Theirs {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.to_owned()))
    }
}

#[test]
fn impossible_layouts_are_reported() {
    for (text, message) in [
        ("topology = { kind = \"grid\", rows = 0 }", "`topology.rows` is 0"),
        ("topology = { kind = \"grid\", omit = [[5, 0]] }", "the grid has no column 5 in row 0"),
        ("topology = { kind = \"grid\", omit = [1] }", "`topology.omit` has an entry that cannot be read"),
        ("topology = { kind = \"grid\", rows = 1, columns = 1 }", "there is 1 node"),
        ("topology = { kind = \"random\", nodes = 1 }", "`topology.nodes` is 1"),
        ("topology = { kind = \"random\", width = \"0 m\" }", "`topology.width` is 0 m"),
        ("topology = { kind = \"random\", nodes = 12 }", "some node could never reach another"),
        (
            "topology = { kind = \"random\" }\ntraffic.flows = 61",
            "61 flows of this length cannot be found between different nodes, only ",
        ),
        (
            "topology = { kind = \"random\" }\ntraffic = { flows = 1, min_hops = 60 }",
            "1 flow of this length cannot be found between different nodes, only 0",
        ),
        ("traffic = { flows = 1, min_hops = 3, max_hops = 2 }", "the largest number of hops, 2, is below"),
        ("traffic = { flows = 1, min_hops = 0 }", "`traffic.min_hops` is 0"),
        ("topology = { kind = \"random\", nodes = 30000 }", "at most 20000 are allowed"),
    ] {
        assert!(refused(text).contains(message), "{text}: {}", refused(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random layouts are connected, flows have the required length, and the seed of the run changes neither.
    #[test]
    fn random_layouts_meet_their_settings(seed in 0u64..1000, low in 1u32..4, more in 0u32..5, distinct: bool) {
        let text = format!(
            "topology = {{ kind = \"random\", seed = {seed} }}\n\
             traffic = {{ flows = 8, min_hops = {low}, max_hops = {}, distinct_ends = {distinct} }}",
            low + more
        );
        let s = good(&text);
        let n = s.layout().positions.len();
        let channel = Channel::new(&s.layout().interfaces.on_air(&s.layout().positions));
        prop_assert_eq!(n, 120);
        let mut ends = vec![];
        for f in &s.layout().flows {
            let to = f.dst;
            let hops = hops_to(n, NodeId(to), |v| channel.neighbors(chappe_core::packet::RadioId(v.0)).map(|r| NodeId(r.0)));
            prop_assert!(hops.iter().all(|&h| h < u32::MAX));
            prop_assert!((low..=low + more).contains(&hops[f.src as usize]));
            ends.extend([f.src, to]);
        }
        prop_assert_eq!(ends.len(), 16);
        if distinct {
            ends.sort_unstable();
            ends.dedup();
            prop_assert_eq!(ends.len(), 16);
        }
        let other = good(&format!("{text}\nrun.seed = 99"));
        prop_assert_eq!(&other.layout().positions, &s.layout().positions);
        let elsewhere = good(&text.replace(&format!("seed = {seed} "), &format!("seed = {} ", seed + 1)));
        prop_assert_ne!(&elsewhere.layout().positions, &s.layout().positions);
    }
}
