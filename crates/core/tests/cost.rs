//! Estimated cost of a run compared with the actual cost.

use chappe_core::sim::Sim;
use chappe_scenario::{Files, NoFiles, Scenario};

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"))
}

/// Message about a scenario that needs too much memory.
fn refused(text: &str) -> String {
    let errors = Scenario::from_toml("test", &format!("run.stop = \"500 s\"\n{text}"), &[], &NoFiles);
    let errors = errors.err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert_eq!(errors.problems.len(), 1, "{errors}");
    let p = &errors.problems[0];
    format!("{}: {} -> {}", p.path, p.message, p.help.as_deref().unwrap_or(""))
}

/// Scenarios that need most memory for different reasons.
const NEEDY: &[&str] = &[
    "run.stop = \"1 s\"\ntopology.hops = 5000\n",
    "run.stop = \"1 s\"\ntopology = { kind = \"grid\", rows = 40, columns = 40, spacing = \"20 m\" }\nflow = [{ dst = 9 }]",
    "run = { stop = \"1 s\", batches = 5000 }\ntraffic = { flows = 100, distinct_ends = false }\n",
    "run = { stop = \"1 s\", batches = 100, airtime = true }\ntopology.hops = 1000\nflow = [{ dst = 9 }]",
    "run = { stop = \"1 s\", sample_interval = \"10 us\" }\ntraffic = { flows = 10, distinct_ends = false }\n",
    "run.stop = \"1 s\"\ntcp = { receive_window = 1000000, variant = \"vegas\" }",
    "run.stop = \"1 s\"\ntcp = { receive_window = 1000000, variant = \"sack\" }",
    "run.stop = \"1 s\"\ntopology.hops = 1\ntraffic = { flows = 10000, distinct_ends = false }",
    "run.stop = \"1 s\"\ntopology.hops = 1000\nrouting.protocol = \"shortest_path\"\n\
     traffic = { flows = 400, max_hops = 10, distinct_ends = false }",
    "run.stop = \"3 s\"\ntopology = { kind = \"random\", nodes = 300, width = \"1500 m\", height = \"1500 m\" }\n\
     routing.protocol = \"dsdv\"\ntraffic = { flows = 3, app = \"cbr\" }\nnet.mtu = \"2296 B\"",
    "run.stop = \"15 s\"\ntopology = { kind = \"random\", nodes = 100, width = \"800 m\", height = \"800 m\" }\n\
     routing.protocol = \"olsr\"\ntraffic = { flows = 3, app = \"cbr\" }",
    "run.stop = \"15 s\"\ntopology = { kind = \"random\", nodes = 60, width = \"150 m\", height = \"150 m\" }\n\
     routing = { protocol = \"olsr\", olsr = { metric = \"etx\", tc_redundancy = 2 } }",
    "run.stop = \"15 s\"\ntopology = { kind = \"random\", nodes = 60, width = \"400 m\", height = \"400 m\" }\n\
     routing.protocol = \"batman_adv\"\ntraffic = { flows = 3, app = \"cbr\" }",
    "run.stop = \"3 s\"\ntopology = { kind = \"random\", nodes = 100, width = \"800 m\", height = \"800 m\" }\n\
     routing.protocol = \"dsr\"\ntraffic = { flows = 10, app = \"cbr\" }",
    "run.stop = \"3 s\"\nqueue = { discipline = \"fq_codel\", fq_codel.queues = 65536 }",
    "run.stop = \"3 s\"\nsplit.buffer_segments = 1000000\nmiddlebox = [{ kind = \"split\", node = 1 }]\n\
     routing.protocol = \"shortest_path\"",
];

#[test]
fn memory_of_a_run_is_within_the_estimate() {
    let mut found = vec![];
    for text in NEEDY {
        let scenario = scenario(text);
        let taken = allocation_counter::measure(|| {
            let mut sim = Sim::new(&scenario.setup(None));
            sim.run();
        });
        found.push((scenario.cost().bytes / taken.bytes_max as f64, *text));
    }
    // Tables, which are made after the run, are up to ten times what they are made of.
    assert!(found.iter().all(|f| (1.0..25.0).contains(&f.0)), "{found:#?}");
}

/// Scenarios that are large themselves, each for another reason, with a file that they name as `rows`.
fn large() -> Vec<(&'static str, String, String)> {
    let many = |n: u32, row: &dyn Fn(u32) -> String| (0..n).map(row).collect::<Vec<_>>();
    let set =
        |i| format!("{{ at = \"{i} us\", action = \"set\", setting = \"flow.0.cbr.interval\", value = \"10 ms\" }}");
    let course = |i| format!("$ns_ at {}.5 \"$node_({}) setdest {}.123456 12.5 3\"\n", i / 20, i % 20, 1 + i % 900);
    let start = |n| format!("$node_({n}) set X_ 1; $node_({n}) set Y_ {n}\n");
    let link = |i| format!("{},{},-60.5\n", i / 99, (i / 99 + 1 + i % 99) % 100);
    let place = |i| format!("{}.5,{}.5\n", i % 100, i / 100);
    let fixed = "run.stop = \"1 ms\"\nrouting.protocol = \"fixed\"\nrouting.fixed.routes = [{ node = 0, dst = 1, next_hop = 1 }]\n";
    let cbr = "flow = [{ dst = 1, app = \"cbr\", start = \"event\" }]\n";
    let moves = "topology.kind = \"motion\"\nmobility = { model = \"file\", file = \"rows\" }\n";
    let links =
        "topology.hops = 99\nradio = { propagation = \"links\", reception = \"sinr\", links_file = \"rows\" }\n";
    let events = many(3000, &set).join(", ");
    let rows = |header: &str, rows: Vec<String>| format!("{header}{}", rows.concat());
    vec![
        ("events", format!("{fixed}topology.hops = 1\n{cbr}event = [{events}]\n"), String::new()),
        ("motion", format!("{fixed}{moves}{cbr}"), rows(&many(20, &start).concat(), many(10_000, &course))),
        ("links", format!("{fixed}{links}{cbr}"), rows("src,dst,signal_dbm\n", many(9900, &link))),
        (
            "places",
            format!(
                "{fixed}topology = {{ kind = \"file\", file = \"rows\" }}\nradio.range = \"2 m\"\nradio.sense_range = \"2 m\"\n{cbr}"
            ),
            rows("x_m,y_m\n", many(5000, &place)),
        ),
    ]
}

struct Rows(String);

impl Files for Rows {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.clone()))
    }
}

#[test]
fn memory_of_a_large_scenario_is_within_the_estimate() {
    let mut found = vec![];
    for (name, text, rows) in large() {
        let files = Rows(rows);
        let mut said = 0.0;
        let taken = allocation_counter::measure(|| {
            let scenario = Scenario::from_toml("test", &text, &[], &files).unwrap_or_else(|e| panic!("{name}: {e}"));
            said = scenario.cost().bytes;
            Sim::new(&scenario.setup(None)).run();
        });
        found.push((said / taken.bytes_max as f64, name));
    }
    // Python holds the text, too, and what it is made of.
    assert!(found.iter().all(|f| (1.0..25.0).contains(&f.0)), "{found:#?}");
}

#[test]
fn memory_that_grows_during_a_run_is_checked() {
    let mut found = vec![];
    for text in [
        "run = { stop = \"1000000 delivered\", sample_interval = \"1 us\" }\ntopology.hops = 1\n",
        "run.stop = \"100 s\"\ntopology.hops = 1\nqueue.limit = 1000000\ncbr.interval = \"1 us\"\n\
         flow = [{ dst = 1, app = \"cbr\" }]",
        "run.stop = \"100 s\"\ntopology.kind = \"none\"\ntopology.wired_nodes = 2\nwired = { rate = \"10 Gbit/s\", delay = \"1 h\" }\n\
         wired_link = [{ dst = 1 }]\ncbr.interval = \"1 us\"\nflow = [{ dst = 1, app = \"cbr\" }]",
        "run.stop = \"100 s\"\ntopology.kind = \"none\"\ntopology.wired_nodes = 2\nwired = { rate = \"10 Gbit/s\", delay = \"1 s\" }\n\
         wired_link = [{ dst = 1 }]\nqueue.limit = 1000000\nflow = [{ dst = 1 }]\n\
         tcp = { variant = \"fixed\", fixed.window = 200000, receive_window = 1000000 }",
    ] {
        let mut sim = Sim::new(&scenario(text).setup(None));
        let before = sim.grown();
        let taken = allocation_counter::measure(|| {
            sim.advance(1_000_000);
        });
        found.push(((sim.grown() - before) as f64 / taken.bytes_current as f64, text));
    }
    assert!(found.iter().all(|f| (1.0..10.0).contains(&f.0)), "{found:#?}");
}

#[test]
fn excessive_memory_is_rejected_at_its_setting() {
    let raise = "if you need that much, raise `run.max_memory`";
    for (text, path, said) in [
        ("run.batches = 1000000000", "run.batches", "TB of memory"),
        ("run.sample_interval = \"1 ns\"", "run.sample_interval", "TB of memory"),
        ("run.max_nodes = 1000000000\ntopology.hops = 999999999", "topology.hops", "TB of memory"),
        ("run.max_nodes = 1000000000\ntopology.wired_nodes = 999999900", "topology.wired_nodes", "TB of memory"),
        (
            "run.max_nodes = 1000000000\ntopology = { kind = \"grid\", rows = 1000000000, columns = 1 }",
            "topology.rows",
            "TB of memory",
        ),
        ("run.max_flows = 1000000000\ntraffic.flows = 1000000000", "traffic.flows", "TB of memory"),
        (
            "topology = { kind = \"grid\", rows = 141, columns = 141, spacing = \"1 m\" }\nflow = [{ dst = 9 }]",
            "topology.rows",
            "GB of memory",
        ),
        (
            "extends = \"ns2-2.35\"\ntcp = { variant = \"vegas\", receive_window = 1000000 }\n\
             traffic = { flows = 5000, distinct_ends = false }",
            "tcp.receive_window",
            "GB of memory",
        ),
        ("tcp.ap.history_samples = 1000000000", "tcp.ap.history_samples", "GB of memory"),
        (
            "topology.hops = 9999\nqueue = { discipline = \"fq_codel\", fq_codel.queues = 65536 }",
            "queue.fq_codel.queues",
            "GB of memory",
        ),
        (
            "split.buffer_segments = 1000000\nmiddlebox = [{ kind = \"split\", node = 1 }]\n\
             routing.protocol = \"shortest_path\"\ntraffic = { flows = 99, distinct_ends = false }\ntopology.hops = 2",
            "middlebox",
            "GB of memory",
        ),
    ] {
        let found = refused(text);
        assert!(found.starts_with(&format!("{path}: a run needs about ")), "{text}\n{found}");
        assert!(found.contains(said) && found.ends_with(raise), "{text}\n{found}");
    }
}

#[test]
fn memory_limit_can_be_raised() {
    let text = "run.stop = \"1 s\"\nrun.batches = 2000000";
    assert!(Scenario::from_toml("test", text, &[], &NoFiles).is_err());
    scenario(&format!("{text}\nrun.max_memory = \"400 GB\""));
    assert_eq!(
        refused("run.max_memory = \"1 kB\"\nrun.batches = 200"),
        "run.batches: a run needs about 1.9 MB of memory, and at most 1 kB are allowed \
         -> if you need that much, raise `run.max_memory`"
    );
}

#[test]
fn too_many_nodes_and_flows_are_rejected() {
    assert_eq!(
        refused("traffic.flows = 1000000000"),
        "traffic.flows: there are 1000000000 flows, and at most 20000 are allowed \
         -> if you need that many, raise `run.max_flows`"
    );
    assert_eq!(
        refused("run.max_flows = 1\nflow = [{ dst = 1 }, { dst = 2 }]"),
        "flow: there are 2 flows, and at most 1 are allowed -> if you need that many, raise `run.max_flows`"
    );
}

#[test]
fn long_runs_are_announced() {
    let said = |text: &str| -> Vec<String> {
        let long = |m: &String| m.starts_with("a run takes about ");
        scenario(text).warnings.iter().map(|w| w.message.clone()).filter(long).collect()
    };
    // Measured on a core of 2025: 23 us for a packet over seven hops, 50 ms for a second of a thousand nodes with a
    // hundred flows, 1 us for a packet over two links. A run of some hours is announced.
    let random = "topology = { kind = \"random\", nodes = 1000, width = \"7 km\", height = \"2900 m\" }\n\
                  traffic = { flows = 100, stagger = \"10 ms\" }";
    let wires = "topology = { kind = \"none\", wired_nodes = 3 }\nwired = { rate = \"100 Mbit/s\" }\n\
                 wired_link = [{ dst = 1 }, { src = 1, dst = 2 }]\nflow = [{ dst = 2 }]";
    for (text, short, long) in [
        ("", "1000000 delivered", "1000000000 delivered"),
        (random, "1000 s", "1000000 s"),
        (wires, "1000 s", "8000000 s"),
        ("run.sample_interval = \"1 us\"\nrun.max_memory = \"1000 TB\"", "1 s", "100000 s"),
        ("cbr.interval = \"1 us\"\nflow = [{ dst = 7, app = \"cbr\" }]", "100 s", "1000000 s"),
        ("routing.aodv = { hello = true, hello_interval = \"1 us\" }", "1000 delivered", "1000000 delivered"),
        ("net.neighborhood_red = { enabled = true, interval = \"1 us\" }", "1000 delivered", "1000000 delivered"),
    ] {
        let with = |stop| format!("run.stop = \"{stop}\"\nrun.time_limit = \"8640000 s\"\n{text}");
        assert_eq!(said(&with(short)), Vec::<String>::new(), "{text}");
        assert_eq!(said(&with(long)).len(), 1, "{text}");
    }
}

/// Transfers that end do not last as long as the run: 350 ns for each of their packets on a wire.
#[test]
fn transfers_that_end_are_no_long_runs() {
    let said = |flows: &str| -> bool {
        let text = format!(
            "run = {{ stop = \"8640000 s\", time_limit = \"8640000 s\", batches = 1, warmup_batches = 0 }}\n\
             topology = {{ kind = \"none\", wired_nodes = 2 }}\nwired = {{ rate = \"10 Gbit/s\", delay = \"1 us\" }}\n\
             wired_link = [{{ src = 0, dst = 1 }}]\n{flows}"
        );
        scenario(&text).warnings.iter().any(|w| w.message.starts_with("a run takes about "))
    };
    let flow = |rest: &str| format!("flow = [{{ dst = 1, {rest} }}]");
    for (short, long) in [
        ("bulk.bytes = \"5 B\"", "bulk.bytes = \"unlimited\""),
        ("bulk.segments = 1000", "bulk.segments = \"unlimited\""),
        ("stop = \"2 s\"", "stop = \"8000000 s\""),
        ("start = \"1 s\", duration = \"1 s\"", "start = \"1 s\", duration = \"8000000 s\""),
        ("app = \"requests\", requests.count = 100", "app = \"requests\", requests = { think = \"0 s\" }"),
        ("app = \"on_off\", on_off.rate = \"64 kbit/s\"", "app = \"on_off\", on_off.rate = \"100 Gbit/s\""),
        (
            "app = \"cbr\", cbr = { interval = \"10 us\", datagrams = 1000 }, stop = \"3 s\"",
            "app = \"cbr\", cbr = { interval = \"10 us\" }",
        ),
    ] {
        assert!(!said(&flow(short)), "{short}");
        assert!(said(&flow(long)), "{long}");
    }
    let short_flows = |rate: u32, size: &str| {
        said(&format!("arrival_process = [{{ dst = 1, rate = {rate}, count = 1000000, size.mean = \"{size}\" }}]"))
    };
    assert!(!short_flows(1, "20 kB"));
    // An event may start a transfer again.
    let again = "event = [{ at = \"5 s\", action = \"flow_stop\", flow = 0 }, { at = \"6 s\", action = \"flow_start\", flow = 0 }]";
    assert!(said(&format!("{}\n{again}", flow("bulk.bytes = \"5 B\""))));
}
