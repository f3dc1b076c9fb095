//! What people read when a scenario is wrong.

use chappe_core::scenario::{Errors, Files, NoFiles, Scenario};
use serde_json::json;

fn read(text: &str) -> Result<Scenario, Errors> {
    Scenario::from_toml("my.toml", text, &[], &NoFiles)
}

/// Place, path, message and help of every problem.
fn problems(text: &str) -> Vec<String> {
    let errors = read(text).expect_err("the scenario is wrong").to_json();
    let line = |p: &serde_json::Value| {
        let place = match p["line"].as_u64() {
            Some(line) => format!("{}:{line}:{} ", p["file"].as_str().unwrap_or(""), p["column"]),
            None => String::new(),
        };
        let help = p["help"].as_str().map_or(String::new(), |h| format!(" -> {h}"));
        format!("{place}{}{help}", p["message"].as_str().unwrap_or(""))
    };
    errors.as_array().expect("a list").iter().map(line).collect()
}

/// The one problem of a scenario that runs for a second, otherwise as written.
fn problem(text: &str) -> String {
    let mut all = problems(&format!("run.stop = \"1 s\"\n{text}"));
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn an_unreachable_destination() {
    assert_eq!(
        problem("topology = { hops = 3, spacing = \"300 m\" }\nflow = [{ from = 0, to = 3 }]"),
        "my.toml:3:26 node 3 cannot be reached from node 0 \
         -> frames are decoded up to 250 m; move nodes closer or choose another"
    );
    assert_eq!(
        problem("routing = { protocol = \"fixed\" }\nflow = [{ from = 0, to = 1 }]"),
        "my.toml:3:26 node 1 cannot be reached from node 0 -> `routing.fixed.routes` do not lead there"
    );
}

#[test]
fn a_carrier_sense_range_below_the_reception_range() {
    let said = "the carrier-sense range of 200 m is below the reception range of 250 m \
                -> a station senses at least what it can decode; raise `radio.sense_range` or lower `radio.range`";
    assert_eq!(problem("radio.sense_range = \"200 m\""), format!("my.toml:2:21 {said}"));
    let range = "radio = { propagation = \"range\", sense_range = \"200 m\" }";
    assert_eq!(problem(range), format!("my.toml:2:48 {said}"));
}

#[test]
fn a_range_that_a_threshold_overrules() {
    assert_eq!(
        problem("extends = \"ns2-2.35\"\nradio.range = \"100 m\""),
        "my.toml:3:15 `radio.range` has no effect, because `radio.receive_threshold` is set \
         -> set `radio.receive_threshold = \"none\"`, or leave `radio.range` out"
    );
}

#[test]
fn a_flow_to_itself() {
    assert_eq!(
        problem("flow = [{ from = 1, to = 1 }]"),
        "my.toml:2:26 flow 0 goes from node 1 to itself -> choose another node"
    );
}

#[test]
fn a_node_that_does_not_exist() {
    assert_eq!(
        problem("topology.hops = 4\nflow = [{ from = 0, to = 5 }]"),
        "my.toml:3:26 there is no node 5 -> nodes are numbered from 0 to 4"
    );
}

#[test]
fn a_window_of_zero() {
    assert_eq!(problem("tcp.window = 0"), "my.toml:2:14 `tcp.window` is 0 -> it must be at least 1");
    assert_eq!(
        problem("flow = [{ from = 0, to = 1, tcp = { window = 0 } }]"),
        "my.toml:2:46 `flow.0.tcp.window` is 0 -> it must be at least 1"
    );
}

#[test]
fn a_segment_larger_than_the_mtu() {
    assert_eq!(
        problem("tcp.segment = \"1461 B\""),
        "my.toml:2:15 a packet of 1461 + 40 B is larger than the MTU of 1500 B -> at most 1460 B fit, or raise `net.mtu`"
    );
    assert_eq!(
        problem("cbr.payload = \"1500 B\"\nflow = [{ from = 0, to = 1, app = \"cbr\" }]"),
        "my.toml:2:15 a packet of 1500 + 28 B is larger than the MTU of 1500 B -> at most 1472 B fit, or raise `net.mtu`"
    );
}

#[test]
fn a_negative_time() {
    assert_eq!(
        problem("wlan.sifs = \"-10 us\""),
        "my.toml:2:13 `wlan.sifs` cannot be \"-10 us\" -> it must not be negative"
    );
    assert_eq!(
        problem("flow = [{ from = 0, to = 1, start = \"-1 s\" }]"),
        "my.toml:2:37 `flow.0.start` cannot be \"-1 s\" -> it must not be negative"
    );
}

#[test]
fn not_a_number() {
    assert_eq!(
        problem("tcp.vegas.alpha = nan"),
        "my.toml:2:19 `tcp.vegas.alpha` cannot be NaN -> expected a finite number"
    );
    assert_eq!(
        problem("radio.range = \"nan m\""),
        "my.toml:2:15 `radio.range` cannot be \"nan m\" -> expected a length such as \"200 m\" or \"1.5 km\""
    );
}

#[test]
fn more_nodes_than_are_allowed() {
    assert_eq!(
        problem("topology.hops = 20000"),
        "my.toml:2:17 the topology has 20001 nodes, and at most 20000 are allowed \
         -> if that many are meant, raise `run.max_nodes`"
    );
    assert_eq!(
        problem("run.max_nodes = 3\ntopology.hops = 7"),
        "my.toml:3:17 the topology has 8 nodes, and at most 3 are allowed -> if that many are meant, raise `run.max_nodes`"
    );
}

#[test]
fn no_end() {
    assert_eq!(
        problems("topology.hops = 2"),
        ["`run.stop` does not say when the run ends \
          -> write a number of packets such as \"110000 delivered\" or a time such as \"1000 s\""]
    );
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = "
[run]
stop = \"soon\"
[tcp]
varient = \"reno\"
window = 0
ack = \"evry\"
[wlan]
data_rate = \"3 Mbit/s\"
[topologi]
hops = 3
";
    assert_eq!(
        problems(text),
        [
            "my.toml:3:8 `run.stop` cannot be \"soon\" \
         -> expected a number of packets such as \"110000 delivered\" or a time such as \"1000 s\"",
            "my.toml:5:1 `tcp` has no setting `varient` -> did you mean `variant`?",
            "my.toml:6:10 `tcp.window` is 0 -> it must be at least 1",
            "my.toml:7:7 `tcp.ack` cannot be \"evry\" -> did you mean `every`? known: every, delayed, thinning",
            "my.toml:9:13 3 Mbit/s is not a rate of 802.11b -> its rates are 1, 2, 5.5 and 11 Mbit/s",
            "my.toml:10:2 a scenario has no setting `topologi` -> did you mean `topology`?",
        ]
    );
}

#[test]
fn a_problem_is_shown_where_it_stands() {
    let errors = read("run.stop = \"1 s\"\ntcp.variant = \"vega\"\n").expect_err("a mistake");
    assert_eq!(
        errors.render(false),
        r#"error: `tcp.variant` cannot be "vega"
 --> my.toml:2:15
  |
2 | tcp.variant = "vega"
  |               ^^^^^^ tcp.variant
  |
  = help: did you mean `vegas`? known: tahoe, reno, newreno, sack, vegas, few, tcp_ap, fixed"#
    );
}

#[test]
fn not_toml() {
    let all = problems("run = { stop = \"1 s\"\ntcp = 3");
    assert!(all[0].starts_with("my.toml:"), "{all:?}");
    assert!(all[0].contains("not valid TOML"), "{all:?}");
}

#[test]
fn overrides_are_checked_like_the_file() {
    let set = |key: &str, value: &str| {
        let overrides = [(key.to_owned(), value.to_owned())];
        Scenario::from_toml("my.toml", "run.stop = \"1 s\"", &overrides, &NoFiles)
    };
    assert_eq!(set("tcp.window", "7").expect("a good override").config().tcp.window, 7);
    assert_eq!(set("tcp.variant", "sack").expect("words need no quotes").config().tcp.variant.word(), "sack");
    let said = set("tcp.windw", "7").expect_err("a mistake").render(false);
    assert!(said.contains("`tcp` has no setting `windw`") && said.contains("--set"), "{said}");
    let said = set("flow.3.from", "7").expect_err("a mistake").render(false);
    assert!(said.contains("flow"), "{said}");
}

#[test]
fn a_dict_is_checked_like_a_file() {
    let bad = json!({ "run": { "stop": "1 s" }, "tcp": { "window": 0, "varient": 1 } });
    let errors = Scenario::from_json(&bad, &json!({}), &NoFiles).expect_err("two mistakes");
    let paths: Vec<&str> = errors.problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["tcp.varient", "tcp.window"]);
    let errors = Scenario::from_json(&json!([1]), &json!({}), &NoFiles).expect_err("not a table");
    assert!(errors.to_string().contains("a scenario must be a table"), "{errors}");
}

struct Shelf(&'static [(&'static str, &'static str)]);

impl Files for Shelf {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

#[test]
fn files_extend_files() {
    let shelf = Shelf(&[
        ("base.toml", "extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\ntcp.window = 0"),
        ("loop.toml", "extends = \"loop.toml\""),
    ]);
    let read = |text: &str| Scenario::from_toml("my.toml", text, &[], &shelf);
    let s = read("extends = \"base.toml\"\ntcp.window = 9").expect("the window is put right");
    assert_eq!((s.config().tcp.window, s.config().queue.limit_includes_arrival), (9, true));
    // A mistake in a file that is extended is shown there.
    let said = read("extends = \"base.toml\"").expect_err("a window of 0").render(false);
    assert!(said.contains("base.toml:3:14"), "{said}");
    let said = read("extends = \"loop.toml\"").expect_err("a loop").render(false);
    assert!(said.contains("`loop.toml` extends itself"), "{said}");
    let said = read("extends = \"ns2-2.53\"").expect_err("no such preset").render(false);
    assert!(said.contains("did you mean `ns2-2.35`?"), "{said}");
}

#[test]
fn doubtful_scenarios_are_run_with_a_warning() {
    let s = read("extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\ntopology.hops = 32").expect("it can be run");
    let said: Vec<&str> = s.warnings.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(said, ["flow 0 needs 32 hops but packets live for 30: nothing will be delivered"]);
}
