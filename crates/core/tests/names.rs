//! Names of nodes: they stand for numbers wherever a scenario has nodes, and in messages.

use super::properties::everything;
use chappe_core::sim::Sim;
use chappe_scenario::{Files, NoFiles, Scenario};
use serde_json::json;

/// Two radios, a wire behind the second, and everything that names nodes. `N0` to `N2` stand for the nodes.
const NETWORK: &str = r#"
    run = { stop = "2 s", batches = 3, airtime = true }
    topology = { hops = 1, wired_nodes = 1 }
    radio = { propagation = "links", links_table = "src,dst,signal_dbm\nN0,N1,-60\nN1,N0,-61\n", receive_threshold = "-80 dBm", sense_threshold = "-85 dBm" }
    wlan.rts_threshold = "never"
    routing = { protocol = "fixed", fixed.routes = [
        { node = N0, dst = N2, next_hop = N1 }, { node = N1, dst = N2, next_hop = N2 },
        { node = N2, dst = N0, next_hop = N1 }, { node = N1, dst = N0, next_hop = N0 },
        { node = N0, dst = N1, next_hop = N1 }, { node = N2, dst = N1, next_hop = N1 },
    ] }
    wired_link = [{ src = N1, dst = N2 }]
    wlan.link_rate = [{ src = N0, dst = N1, rate = "1 Mbit/s" }]
    flow = [{ src = N0, dst = N2 }, { src = [N1, N2], dst = "N0", app = "cbr" }]
    arrival_process = [{ src = N2, dst = N0, rate = 2.0 }]
    middlebox = [{ node = N1, kind = "snoop" }]
    event = [{ at = "1 s", action = "node_down", node = N0 }, { at = "1100 ms", action = "node_up", node = N0 }]
    node = [
        { nodes = 0, name = "roof-3-7" }, { nodes = 1, name = "mill.example" }, { nodes = 2, name = "Gäste" },
        { nodes = N1, queue.limit = 20 },
    ]
"#;

/// The network, with these words for its nodes; those in texts have no quotes.
fn network(words: [&str; 3]) -> String {
    let mut text = NETWORK.to_owned();
    for (i, word) in words.into_iter().enumerate() {
        let n = format!("N{i}");
        text = text.replace(&format!("\"{n}\""), &format!("\"{word}\""));
        // In the table of links.
        text = text.replace(&format!("{n},"), &format!("{word},")).replace(&format!(",{n}"), &format!(",{word}"));
        let quoted = if word.parse::<u32>().is_ok() { word.to_owned() } else { format!("\"{word}\"") };
        for end in [" ", "}", "]"] {
            text = text.replace(&format!("{n}{end}"), &format!("{quoted}{end}"));
        }
        text = text.replace(&format!("= {word},"), &format!("= {quoted},"));
        text = text.replace(&format!("[{word},"), &format!("[{quoted},"));
    }
    text
}

fn read(text: &str) -> Scenario {
    Scenario::from_toml("my.toml", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn run(scenario: &Scenario) -> Sim {
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    sim
}

#[test]
fn names_stand_for_numbers_everywhere() {
    let [by_number, by_name] =
        [["0", "1", "2"], ["roof-3-7", "mill.example", "Gäste"]].map(|words| read(&network(words)));
    assert!(network(["roof-3-7", "mill.example", "Gäste"]).contains("[\"mill.example\", \"Gäste\"]"));
    assert_eq!(by_number.effective(), by_name.effective());
    assert_eq!(everything(run(&by_number).recorder()), everything(run(&by_name).recorder()));
    // The written scenario and all settings in effect give the same again.
    for json in [by_name.written(), by_name.effective()] {
        let again = Scenario::from_json(&json, &json!({}), &NoFiles).expect("it was written");
        assert_eq!(again.effective(), by_name.effective());
    }
}

#[test]
fn only_names_add_columns() {
    let named = read(&network(["0", "1", "2"]));
    let text = network(["0", "1", "2"]);
    let names = text.lines().find(|line| line.contains("roof-3-7")).expect("a line of names");
    let unnamed = read(&text.replace(names, ""));
    let [named, unnamed] = [named, unnamed].map(|s| run(&s));
    for (table, columns) in [("nodes", vec!["name"]), ("flows", vec!["src_name", "dst_name"])] {
        let [with, without] = [&named, &unnamed].map(|sim| sim.recorder().table(table).expect("a table"));
        let (same, new) = with.columns.split_at(without.columns.len());
        // NaN is no number, and stands where there is none.
        assert_eq!(format!("{same:?}"), format!("{:?}", without.columns), "{table}");
        assert_eq!(new.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(), columns);
    }
    let flows = named.recorder().flows().to_json();
    assert_eq!(flows["src_name"], json!(["roof-3-7", "mill.example", "Gäste"]));
    assert_eq!(flows["dst_name"], json!(["Gäste", "roof-3-7", "roof-3-7"]));
}

/// Messages and advice about a scenario of four nodes, of which the first two are `mill` and `roof-17`.
fn problems(text: &str) -> Vec<String> {
    let node = "node = [{ nodes = 0, name = \"mill\" }, { nodes = 1, name = \"roof-17\" }]\n";
    let base = "topology.hops = 3\nrun.stop = \"1 s\"\n";
    let text = format!("{base}{}{text}", if text.contains("node =") { "" } else { node });
    let errors = Scenario::from_toml("my.toml", &text, &[], &NoFiles).expect_err("it is wrong");
    let said = |p: &chappe_core::setting::Problem| {
        format!("{}{}", p.message, p.help.as_ref().map_or(String::new(), |h| format!(" -> {h}")))
    };
    errors.problems.iter().map(said).collect()
}

#[test]
fn mistakes_in_names_are_told() {
    for (text, said) in [
        (
            "flow = [{ src = \"rof-17\", dst = 3 }]",
            "`flow.0.src`: no node is named \"rof-17\" -> did you mean `roof-17`?",
        ),
        ("flow = [{ src = \"xyz\", dst = 3 }]", "`flow.0.src`: no node is named \"xyz\" -> names are mill, roof-17"),
        (
            "flow = [{ src = [0, \"roof-71\"], dst = 3 }]",
            "`flow.0.src`: no node is named \"roof-71\" -> did you mean `roof-17`?",
        ),
        (
            "flow = [{ src = 0, dst = 3 }]\nwired_link = [{ src = 0, dst = \"Mill\" }]",
            "`wired_link.0.dst`: no node is named \"Mill\" -> did you mean `mill`?",
        ),
        (
            "flow = [{ src = \"mill\", dst = 3 }]\nradio = { propagation = \"links\", links_table = \"src,dst,loss_db\\nmill,a,80\", receive_threshold = \"-80 dBm\", sense_threshold = \"-80 dBm\" }",
            "`radio.links_table`: line 2: no node is named \"a\" -> names are mill, roof-17",
        ),
        (
            "flow = [{ src = 3, dst = \"roof-17\" }]\ntopology.spacing = \"300 m\"",
            "node roof-17 cannot be reached from node 3 \
             -> frames are decoded up to 250 m, and neighbors are 300 m apart; move nodes closer or choose another destination",
        ),
        (
            "node = [{ nodes = 0, name = \"a\" }, { nodes = 1, name = \"a\" }]",
            "\"a\" is the name of two nodes, with the numbers 0 and 1 -> choose another name for one of them",
        ),
        (
            "node = [{ nodes = 0, name = \"a\" }, { nodes = 0, name = \"b\" }]",
            "the node with the number 0 has two names, \"a\" and \"b\" -> leave one of them out",
        ),
        (
            "node = [{ nodes = \"0-1\", name = \"a\" }]",
            "`node.0` has several nodes, and `name` names one -> name them one by one",
        ),
        ("node = [{ nodes = 7, name = \"a\" }]", "there is no node 7 -> nodes are numbered from 0 to 3"),
    ] {
        assert_eq!(problems(text), [said]);
    }
}

#[test]
fn a_name_looks_like_no_number_and_like_no_word_of_a_setting() {
    for (name, said) in [
        ("17", "it looks like a number or a range"),
        ("3-7", "it looks like a number or a range"),
        ("1e5", "it looks like a number or a range"),
        ("-.5", "it looks like a number or a range"),
        ("inf", "it looks like a number or a range"),
        ("random", "\"random\" has a meaning where nodes are named"),
        ("a b", "expected a name of letters, digits"),
        ("a,b", "expected a name of letters, digits"),
        ("", "expected a name of letters, digits"),
    ] {
        let all = problems(&format!("node = [{{ nodes = 0, name = \"{name}\" }}]"));
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].contains(&format!("-> {said}")), "{}", all[0]);
    }
}

/// Files of a network with names.
struct Named;

impl Files for Named {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let text = match name {
            "nodes.csv" => "node,name,x_m,y_m\n1,mill,0,0\n0,roof-17,100,0\n2,,200,0\n",
            "links.csv" => {
                "# measured\nsrc,dst,signal_dbm\nmill,roof-17,-60\nroof-17,mill,-61\n2,mill,-70\nmill,2,-70\n"
            }
            "flows.csv" => "src,dst\nmill,2\n2,roof-17\n",
            _ => return Err("it does not exist".into()),
        };
        Ok((name.into(), text.into()))
    }
}

#[test]
fn files_have_names() {
    let text = r#"
        run.stop = "1 s"
        topology = { kind = "file", file = "nodes.csv" }
        radio = { propagation = "links", links_file = "links.csv", receive_threshold = "-80 dBm", sense_threshold = "-80 dBm" }
        traffic.file = "flows.csv"
    "#;
    let scenario = Scenario::from_toml("my.toml", text, &[], &Named).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        scenario.names().iter().map(|(n, name)| (*n, name.as_str())).collect::<Vec<_>>(),
        [(0, "roof-17"), (1, "mill")]
    );
    let flows: Vec<(u32, u32)> = scenario.layout().flows.iter().map(|f| (f.src, f.dst)).collect();
    assert_eq!(flows, [(1, 2), (2, 0)]);
    // It no longer depends on the files.
    let again = Scenario::from_json(&scenario.written(), &json!({}), &NoFiles).expect("it was written");
    assert_eq!(again.effective(), scenario.effective());
    assert_eq!(again.names(), scenario.names());
}

#[test]
fn captures_have_the_names_of_hosts() {
    let mut setup = read(&network(["0", "1", "2"])).setup(None);
    setup.capture = true;
    let mut sim = Sim::new(&setup);
    sim.run();
    let mut files: Vec<(u32, Vec<u8>)> = vec![];
    for (node, out) in sim.captures().expect("it captures").output() {
        files.push((node.0, std::mem::take(out)));
    }
    let has = |of: usize, text: &[u8]| files[of].1.windows(text.len()).any(|w| w == text);
    assert!(has(0, b"Capture of node roof-3-7."));
    // The address 10.0.0.1 and the name of the second node, in all files.
    assert!((0..3).all(|of| has(of, b"\x0a\x00\x00\x01mill.example\0")));
    assert!(has(1, b"wire to G\xc3\xa4ste"));
}
