//! Scenario files that extend each other and name other files, their format, and what differs from the defaults.

use chappe_core::setting::Code;
use chappe_scenario::presets;
use chappe_scenario::{Errors, Files, NoFiles, Scenario};
use serde_json::{Value as Json, json};

/// Files by their names.
struct Folder(&'static [(&'static str, &'static str)]);

impl Files for Folder {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

fn read(text: &str) -> Result<Scenario, Errors> {
    Scenario::from_toml("my.toml", text, &[], &NoFiles)
}

fn good(text: &str) -> Scenario {
    read(text).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Message of the only error, as shown with its place.
fn refused(read: Result<Scenario, Errors>) -> String {
    let errors = read.expect_err("a mistake");
    assert_eq!(errors.problems.len(), 1, "{errors}");
    errors.render(false)
}

/// Value of a setting.
fn value<'a>(settings: &'a Json, name: &str) -> &'a Json {
    let found = settings.pointer(&format!("/{}", name.replace('.', "/")));
    found.unwrap_or_else(|| panic!("{name} has no value"))
}

#[test]
fn links_replace_those_of_extended_files() {
    let folder = Folder(&[
        ("file.toml", "radio.links_file = \"links.csv\""),
        ("table.toml", "radio.links_table = \"src,dst,signal_dbm\\n0,1,-60\\n1,0,-60\\n\""),
        ("links.csv", "src,dst,signal_dbm\n0,1,-70\n1,0,-70\n"),
    ]);
    let base = "run.stop = \"1 s\"\ntopology.hops = 1\nradio = { propagation = \"links\", reception = \"sinr\"";
    let table = |dbm: i32| format!("src,dst,signal_dbm\n0,1,{dbm}\n1,0,{dbm}\n");
    let written = |dbm| json!(table(dbm)).to_string();
    let links = |s: Result<Scenario, Errors>| {
        let effective = s.unwrap_or_else(|e| panic!("{e}")).effective();
        (value(&effective, "radio.links_file").clone(), value(&effective, "radio.links_table").clone())
    };
    let in_file = |extends: &str, own: &str| {
        let text = format!("extends = \"{extends}\"\n{base}, {own} }}");
        Scenario::from_toml("my.toml", &text, &[], &folder)
    };
    for (extends, own, dbm) in [
        ("file.toml", format!("links_table = {}", written(-80)), -80),
        ("table.toml", "links_file = \"links.csv\"".to_owned(), -70),
        ("table.toml", "links_file = \"none\"".to_owned(), -60),
    ] {
        assert_eq!(links(in_file(extends, &own)), (json!("none"), json!(table(dbm))), "{extends} {own}");
    }
    // The same holds of changes, and of names with dots.
    let by_file = format!("{base}, links_file = \"links.csv\" }}");
    let given = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let changed = |overrides: &[(String, String)]| Scenario::from_toml("my.toml", &by_file, overrides, &folder);
    assert_eq!(links(changed(&given("radio.links_table", &written(-80)))), (json!("none"), json!(table(-80))));
    let by_table = changed(&given("radio.links_table", &written(-80))).unwrap_or_else(|e| panic!("{e}"));
    let again = by_table.with(&json!({ "radio": { "links_file": "links.csv" } }), &folder);
    assert_eq!(links(again), (json!("none"), json!(table(-70))));
    let radio = json!({ "propagation": "links", "reception": "sinr" });
    let dict = json!({ "extends": "file.toml", "run.stop": "1 s", "topology.hops": 1, "radio": radio,
        "radio.links_table": table(-80) });
    assert_eq!(links(Scenario::from_json(&dict, &json!({}), &folder)), (json!("none"), json!(table(-80))));
    // One layer has one of them.
    let both = format!("links_file = \"links.csv\", links_table = {}", written(-80));
    let said = refused(in_file("file.toml", &both));
    assert!(said.contains("`radio.links_file` and `radio.links_table` both say"), "{said}");
    let both = [given("radio.links_file", "links.csv"), given("radio.links_table", &written(-80))].concat();
    assert!(refused(changed(&both)).contains("both say"));
}

#[test]
fn a_table_of_errors_replaces_its_file_and_a_file_the_table() {
    let (table, text) = ("mcs,snr_db,bit_error_rate\n7,20,0.001\n", "mcs,snr_db,bit_error_rate\n7,20,0.002\n");
    let folder = Folder(&[
        (
            "file.toml",
            "extends = \"802.11n\"\ntopology.spacing = \"20 m\"\nradio.sinr.error_rates_file = \"errors.csv\"",
        ),
        ("errors.csv", "mcs,snr_db,bit_error_rate\n7,20,0.002\n"),
    ]);
    let found = |s: &Scenario| value(&s.effective(), "radio.sinr.error_rates_table").clone();
    let dict = json!({ "extends": "file.toml", "run.stop": "1 s" });
    let by_file = Scenario::from_json(&dict, &json!({}), &folder).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found(&by_file), json!(text));
    let own = json!({ "sinr": { "error_rates_table": table } });
    for (name, value) in
        [("radio.sinr.error_rates_table", json!(table)), ("radio", own.clone()), ("radio.sinr", own["sinr"].clone())]
    {
        let mut over = dict.clone();
        over[name] = value.clone();
        let given = Scenario::from_json(&over, &json!({}), &folder).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found(&given), json!(table), "{name}");
        let changed = by_file.with(&json!({ name: value }), &folder).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found(&changed), json!(table), "{name}");
        let back = changed.with(&json!({ "radio.sinr.error_rates_file": "errors.csv" }), &folder);
        assert_eq!(found(&back.unwrap_or_else(|e| panic!("{e}"))), json!(text), "{name}");
    }
}

#[test]
fn the_format_of_a_file_is_known() {
    let said = refused(read("run.stop = \"1 s\"\nformat = 2"));
    assert!(said.contains("`format` is 2, and this version of Chappe reads format 1"), "{said}");
    assert!(said.contains("my.toml:2:10"), "{said}");
    let said = refused(read("format = \"new\"\nrun.stop = \"1 s\""));
    assert!(said.contains("`format` is \"new\"") && said.contains("my.toml:1:10"), "{said}");
    let scenario = good("format = 1\nrun.stop = \"1 s\"");
    assert_eq!(scenario.effective(), good("run.stop = \"1 s\"").effective());
    let text = scenario.effective_toml();
    assert!(text.starts_with("format = 1\n"), "{text}");
    assert_eq!(good(&text).effective(), scenario.effective());
}

#[test]
fn changes_are_what_differs_from_the_defaults() {
    let flow = json!([{ "dst": 3 }]);
    let scenario = good(
        "run = { stop = \"1 s\", batches = 11 }\ntopology.hops = 7\ntcp.receive_window = 5\nflow = [{ src = 0, dst = 3 }]",
    );
    assert_eq!(scenario.changes(), json!({ "run": { "stop": "1 s" }, "tcp": { "receive_window": 5 }, "flow": flow }));
    // So they are a scenario, the same one.
    let again = Scenario::from_json(&scenario.changes(), &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.effective(), scenario.effective());
    for (name, _) in presets::WORDS {
        let preset = good(&format!("extends = \"{name}\"\nrun.stop = \"1 s\""));
        let again = Scenario::from_json(&preset.changes(), &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.effective(), preset.effective(), "{name}");
    }
}

#[test]
fn changes_are_equal_for_equal_scenarios() {
    let folder = Folder(&[("base.toml", "tcp = { variant = \"vegas\", receive_window = 3 }\nrun.stop = \"1000 ms\"")]);
    let all = [
        "run.stop = \"1 s\"\ntcp = { variant = \"vegas\", receive_window = 5, ecn.enabled = false }\ntopology.hops = 7",
        "[tcp]\nreceive_window = 5\nvariant = \"vegas\"\n[run]\nstop = \"1000 ms\"\nseed = 1",
        "extends = \"base.toml\"\ntcp.receive_window = 5",
        "run.stop = \"1 s\"\ntcp = { variant = \"vegas\", receive_window = 5 }\nflow = [{ src = 0, dst = 7, app = \"bulk\", start = \"0 s\" }]",
    ];
    let read =
        |text: &&str| Scenario::from_toml("my.toml", text, &[], &folder).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let changes: Vec<Json> = all.iter().map(|text| read(text).changes()).collect();
    assert_eq!(changes, vec![changes[0].clone(); all.len()]);
    assert_ne!(read(&"run.stop = \"1 s\"\ntcp.receive_window = 5").changes(), changes[0]);
}

/// `None` of Python is the word of a setting for no value.
#[test]
fn an_absent_value_is_the_word_of_the_setting() {
    let base = json!({ "run.stop": "1 s", "topology.hops": 2 });
    let written = json!({
        "tcp.max_timeouts": "unlimited", "radio.receive_threshold": "range", "wired.error.model": "none",
        "node": [{ "nodes": 1, "radio.receive_threshold": "range" }], "event": [{ "at": "9 ms", "action": "node_down",
        "node": 1, "flow": "none", "value": "none" }],
    });
    let absent = json!({
        "tcp": { "max_timeouts": null }, "radio.receive_threshold": null, "wired.error.model": null,
        "node": [{ "nodes": 1, "radio.receive_threshold": null }], "event": [{ "at": "9 ms", "action": "node_down",
        "node": 1, "flow": null, "value": null }],
    });
    let with = |over: &Json| {
        let mut whole = base.clone();
        whole.as_object_mut().expect("a table").extend(over.as_object().expect("a table").clone());
        let scenario = Scenario::from_json(&whole, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let changed = Scenario::from_json(&base, over, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(changed.effective(), scenario.effective());
        scenario.effective()
    };
    assert_eq!(with(&absent), with(&written));
    assert_eq!(value(&with(&absent), "tcp.max_timeouts"), "unlimited");
    let said = refused(Scenario::from_json(&base, &json!({ "tcp.mss": null }), &NoFiles));
    assert!(said.contains("`tcp.mss` cannot be \"none\""), "{said}");
}

#[test]
fn warnings_have_codes_and_some_can_be_ignored() {
    let scenario = good("run.stop = \"1 s\"\ntcp.vegas.alpha = 2\nflow = [{ dst = 2, start = \"2 s\" }]");
    let codes: Vec<_> = scenario.warnings.iter().filter_map(|p| p.code).collect();
    assert_eq!(codes, [Code::LateFlow, Code::UnusedSetting]);
    assert!(scenario.render_warnings(&codes, false).is_empty());
    let said = scenario.render_warnings(&[Code::LateFlow], false);
    assert!(said.contains("vegas.alpha") && !said.contains("starts at"), "{said}");
}

#[test]
fn a_window_without_a_program_or_rule_causes_a_warning() {
    let paths = |tcp: &str| -> Vec<String> {
        let scenario = good(&format!("run.stop = \"1 s\"\n{tcp}"));
        let of_window = scenario.warnings.iter().filter(|w| w.code == Some(Code::NoDriver));
        of_window.map(|w| w.path.clone()).collect()
    };
    assert_eq!(paths("tcp.congestion_control = \"external\""), ["tcp.congestion_control"]);
    let two = "flow = [{ dst = 2 }, { dst = 1, tcp.congestion_control = \"external\" }]";
    assert_eq!(paths(two), ["flow.1.tcp.congestion_control"]);
    assert!(paths("tcp.congestion_control = \"my:Rule\"").is_empty());
    assert!(paths("flow = [{ dst = 2, app = \"external\" }]").is_empty());
}
