//! Former names of settings: they mean the same as the current names, with a warning, and `fix` replaces them. Settings
//! that differ from the defaults.

use chappe_core::scenario::fix::fix;
use chappe_core::scenario::former::under_former_names;
use chappe_core::scenario::former_values::WORDS;
use chappe_core::scenario::presets;
use chappe_core::scenario::renamed::of_settings;
use chappe_core::scenario::{Errors, Files, NoFiles, Scenario};
use chappe_core::setting::Code;
use chappe_core::setting::renames::SETTINGS;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Files by their names.
struct Folder(&'static [(&'static str, &'static str)]);

impl Files for Folder {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        let found = self.0.iter().find(|f| f.0 == name).ok_or("no such file")?;
        Ok((found.0.to_owned(), found.1.to_owned()))
    }
}

/// A scenario in which every renamed setting has a value.
const COMPLETE: &str = r#"
    run = { stop = "2 s", airtime = true, sample_interval = "100 ms", time_limit = "900 s" }
    topology = { hops = 3, wired_nodes = 1 }
    mobility = { model = "random_waypoint", initial = "topology", width = "600 m", height = "100 m" }
    wired_link = [{ src = 0, dst = 4, back.queue.red.weight = 0.01 }]
    flow = [{ src = 0, dst = 3, bulk.segments = 9, tcp.receive_window = 7 }, { src = 4, dst = 0 }]
    arrival_process = [{ src = 1, dst = 0, tcp.mss = "500 B" }]
    node = [{ nodes = 1, mobility.model = "still" }]
    middlebox = [{ kind = "split", node = 1, split.tcp.ack_policy = "every" }]
    wlan.link_rate = [{ src = 0, dst = 1, rate = "1 Mbit/s" }]
    routing.fixed.routes = [{ node = 0, dst = 1, next_hop = 1 }]
    event = [{ at = "1 s", action = "set", setting = "wired_link.0.rate", value = "1 Mbit/s" }]
"#;

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, Errors> {
    let overrides: Vec<_> = overrides.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Scenario::from_toml("my.toml", text, &overrides, &NoFiles)
}

fn good(text: &str) -> Scenario {
    read(text, &[]).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Message of the only error, as shown with its place.
fn refused(read: Result<Scenario, Errors>) -> String {
    let errors = read.expect_err("a mistake");
    assert_eq!(errors.problems.len(), 1, "{errors}");
    errors.render(false)
}

/// Warnings about former names.
fn warned(scenario: &Scenario) -> BTreeSet<String> {
    scenario.warnings.iter().map(|p| p.message.clone()).filter(|m| m.contains("` is now called `")).collect()
}

/// Warning about a former name.
fn warning(old: &str, new: &str) -> String {
    format!("`{old}` is now called `{new}`").replace('*', "0")
}

/// A value as in a TOML text.
fn written(value: &Json) -> String {
    toml::Value::try_from(value).expect("TOML has the value").to_string()
}

/// Value of a setting; `*` is the first place in a list.
fn value<'a>(settings: &'a Json, name: &str) -> &'a Json {
    let found = settings.pointer(&format!("/{}", name.replace('*', "0").replace('.', "/")));
    found.unwrap_or_else(|| panic!("{name} has no value"))
}

#[test]
fn each_former_name_sets_what_the_name_of_today_sets() {
    let effective = good(COMPLETE).effective();
    for (old, new) in SETTINGS {
        let value = written(value(&effective, new));
        let by = |name: &str| {
            read(COMPLETE, &[(&name.replace('*', "0"), &value)]).unwrap_or_else(|e| panic!("{name} = {value}\n{e}"))
        };
        let (former, today) = (by(old), by(new));
        assert_eq!(former.effective(), today.effective(), "{old}");
        assert!(warned(&former).contains(&warning(old, new)), "{old}: {:?}", warned(&former));
        assert_eq!(warned(&today), BTreeSet::new(), "{new}");
    }
}

#[test]
fn all_former_names_together_are_the_same_scenario() {
    let today = good(COMPLETE).effective();
    let former = under_former_names(&today);
    let by_json = Scenario::from_json(&former, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let renamed = Scenario::from_json(&of_settings(&former).0, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(renamed.effective(), today);
    let text = toml::to_string(&former).expect("TOML has the settings");
    for scenario in [by_json, good(&text)] {
        assert_eq!(scenario.effective(), today);
        let warned = warned(&scenario);
        let missing: Vec<_> = SETTINGS.iter().filter(|(old, new)| !warned.contains(&warning(old, new))).collect();
        assert_eq!(missing, Vec::<&(&str, &str)>::new());
    }
    let fixed = fix("my.toml", &text).expect("it is TOML");
    assert_eq!(good(&fixed.text).effective(), today);
    assert_eq!((warned(&good(&fixed.text)), fix("my.toml", &fixed.text).expect("it is TOML").changes), <_>::default());
}

#[test]
fn names_within_other_groups_are_former_names_too() {
    let text = "run.stop = \"1 s\"\nwire.nodes = 1\nlink = [{ dst = 8, back.queue.red.q_weight = 0.5 }]\n\
                flow = [{ to = 2, tcp.window = 5 }]\nmiddlebox = [{ kind = \"snoop\", node = 1, split.tcp.segment = \"500 B\" }]\n\
                node = [{ nodes = 1, motion.kind = \"still\" }]\n\
                event = [{ at = \"10 ms\", set = \"flow.0.tcp.window\", to = 2 }]";
    let scenario = good(text);
    let expected = [
        ("wire", "wired"),
        ("wire.nodes", "topology.wired_nodes"),
        ("link", "wired_link"),
        ("link.0.back.queue.red.q_weight", "wired_link.0.back.queue.red.weight"),
        ("flow.0.to", "flow.0.dst"),
        ("flow.0.tcp.window", "flow.0.tcp.receive_window"),
        ("middlebox.0.split.tcp.segment", "middlebox.0.split.tcp.mss"),
        ("node.0.motion", "node.0.mobility"),
        ("node.0.motion.kind", "node.0.mobility.model"),
        ("event.0.to", "event.0.value"),
    ];
    let set = "`event.0.set` is now called `event.0.setting`, with `action = \"set\"`".to_owned();
    assert_eq!(warned(&scenario), expected.iter().map(|(old, new)| warning(old, new)).chain([set]).collect());
    assert_eq!(value(&scenario.effective(), "event.0.setting"), "flow.0.tcp.receive_window");
    // Each warning is at the name.
    let said = scenario.render_warnings(&[], false);
    assert!(said.contains("my.toml:3:35") && said.contains("my.toml:4:11"), "{said}");
    // A program that drives a run names settings, too.
    let command = |name: &str| {
        format!("{:?}", scenario.commands(&json!({ "action": "set", "setting": name, "value": 3 })).expect("a command"))
    };
    assert_eq!(command("flow.0.tcp.window"), command("flow.0.tcp.receive_window"));
}

#[test]
fn overrides_may_have_former_names() {
    let text = "run.stop = \"1 s\"\nflow = [{ dst = 2 }, { dst = 3 }]";
    let by_text = read(text, &[("flow.1.tcp.window", "5"), ("run.limit", "7 s")]).unwrap_or_else(|e| panic!("{e}"));
    let overrides = json!({ "flow.1.tcp.window": 5, "run": { "limit": "7 s" } });
    let by_json = good(text).with(&overrides, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    for scenario in [by_text, by_json] {
        assert_eq!(*value(&scenario.effective(), "flow.1.tcp.receive_window"), json!(5));
        assert_eq!(*value(&scenario.effective(), "run.time_limit"), json!("7 s"));
        let names = [("flow.1.tcp.window", "flow.1.tcp.receive_window"), ("run.limit", "run.time_limit")];
        assert_eq!(warned(&scenario), names.iter().map(|(old, new)| warning(old, new)).collect());
    }
    let said = refused(read(text, &[("tcp.window", "0")]));
    assert!(said.contains("`tcp.receive_window` is 0") && said.contains("--set:1:12"), "{said}");
}

#[test]
fn dicts_may_have_dotted_former_names() {
    let dict = json!({ "run.stop": "1 s", "tcp.window": 5, "flow": [{ "to": 2, "tcp.segment": "500 B" }], "motion.kind": "still" });
    let scenario = Scenario::from_json(&dict, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let today = json!({ "run": { "stop": "1 s" }, "tcp": { "receive_window": 5 }, "flow": [{ "dst": 2, "tcp": { "mss": "500 B" } }] });
    let today = Scenario::from_json(&today, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.effective(), today.effective());
    assert_eq!(warned(&scenario).len(), 4, "{:?}", warned(&scenario));
    let (settings, said) = of_settings(&json!({ "tcp.window": 3, "ftp": { "segments": 2 }, "run.stop": "1 s" }));
    assert_eq!(settings, json!({ "tcp.receive_window": 3, "bulk": { "segments": 2 }, "run.stop": "1 s" }));
    assert_eq!(
        said.into_iter().collect::<BTreeSet<_>>(),
        [warning("ftp", "bulk"), warning("tcp.window", "tcp.receive_window")].into()
    );
}

#[test]
fn a_value_by_both_names_is_an_error_at_its_place() {
    for (text, place) in [
        ("run.stop = \"1 s\"\n[tcp]\nwindow = 3\nreceive_window = 4", "my.toml:4:1"),
        ("run.stop = \"1 s\"\n[tcp]\nreceive_window = 4\nwindow = 3", "my.toml:4:1"),
        ("run.stop = \"1 s\"\n[[flow]]\nto = 1\ndst = 1", "my.toml:4:1"),
        ("run.stop = \"1 s\"\n[motion]\npause = \"1 s\"\n[mobility]\npause = \"2 s\"", "my.toml:5:1"),
        ("run.stop = \"1 s\"\n[motion]\nkind = \"still\"\n[mobility]\nmodel = \"still\"", "my.toml:5:1"),
    ] {
        let said = refused(read(text, &[]));
        assert!(said.contains("is set twice") && said.contains(place), "{text}\n{said}");
    }
    for dict in [
        json!({ "run.stop": "1 s", "tcp.window": 3, "tcp.receive_window": 4 }),
        json!({ "run.stop": "1 s", "tcp.window": 3, "tcp": { "receive_window": 4 } }),
        json!({ "run.stop": "1 s", "tcp.receive_window": 3, "tcp": { "window": 4 } }),
        json!({ "run.stop": "1 s", "tcp": { "window": 4, "receive_window": 3 } }),
    ] {
        let said = refused(Scenario::from_json(&dict, &json!({}), &NoFiles));
        assert!(said.contains("`tcp.receive_window` is set twice"), "{said}");
    }
    let base = "run.stop = \"1 s\"\nflow = [{ dst = 2 }]";
    for overrides in [
        [("tcp.window", "3"), ("tcp.receive_window", "4")],
        [("tcp.receive_window", "4"), ("tcp.window", "3")],
        [("tcp", "{ receive_window = 4 }"), ("tcp.window", "3")],
    ] {
        let said = refused(read(base, &overrides));
        assert!(said.contains("`tcp.receive_window` is set twice") && said.contains("--set:1:"), "{said}");
    }
    let changes = json!({ "wire": { "nodes": 1 }, "topology.wired_nodes": 2 });
    let said = refused(good(base).with(&changes, &NoFiles));
    assert!(said.contains("`topology.wired_nodes` is set twice"), "{said}");
    // The last value by the same name holds.
    let last =
        |name| read(base, &[(name, "3"), (name, "4")]).unwrap_or_else(|e| panic!("{e}")).config().tcp.receive_window;
    assert_eq!((last("tcp.window"), last("tcp.receive_window")), (4, 4));
    // Groups of both names are one group.
    let text = "run.stop = \"1 s\"\n[motion]\nkind = \"still\"\n[mobility]\nseed = 3";
    assert_eq!(*value(&good(text).effective(), "mobility.seed"), json!(3));
}

#[test]
fn former_links_replace_those_of_extended_files() {
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
        ("file.toml", format!("links = {}", written(-80)), -80),
        ("file.toml", format!("links_table = {}", written(-80)), -80),
        ("table.toml", "links = \"links.csv\"".to_owned(), -70),
        ("table.toml", "links_file = \"none\"".to_owned(), -60),
    ] {
        assert_eq!(links(in_file(extends, &own)), (json!("none"), json!(table(dbm))), "{extends} {own}");
    }
    // The same holds of changes, and of names with dots.
    let by_file = format!("{base}, links_file = \"links.csv\" }}");
    let given = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let changed = |overrides: &[(String, String)]| Scenario::from_toml("my.toml", &by_file, overrides, &folder);
    assert_eq!(links(changed(&given("radio.links", &written(-80)))), (json!("none"), json!(table(-80))));
    let by_table = changed(&given("radio.links_table", &written(-80))).unwrap_or_else(|e| panic!("{e}"));
    let again = by_table.with(&json!({ "radio": { "links_file": "links.csv" } }), &folder);
    assert_eq!(links(again), (json!("none"), json!(table(-70))));
    let radio = json!({ "propagation": "links", "reception": "sinr" });
    let dict = json!({ "extends": "file.toml", "run.stop": "1 s", "topology.hops": 1, "radio": radio,
        "radio.links": table(-80) });
    assert_eq!(links(Scenario::from_json(&dict, &json!({}), &folder)), (json!("none"), json!(table(-80))));
    // One layer has one of them.
    let both = format!("links_file = \"links.csv\", links_table = {}", written(-80));
    let said = refused(in_file("file.toml", &both));
    assert!(said.contains("`radio.links_file` and `radio.links_table` both say"), "{said}");
    let both = [given("radio.links_file", "links.csv"), given("radio.links", &written(-80))].concat();
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
fn former_columns_are_warned_of() {
    let folder =
        Folder(&[("flows.csv", "src,dst,start_s\n0,1,0.5\n"), ("links.csv", "from,to,loss_db\n0,1,60\n1,0,60\n")]);
    let text = "run.stop = \"1 s\"\ntopology.hops = 1\ntraffic.file = \"flows.csv\"\n\
                radio = { propagation = \"links\", reception = \"sinr\", links_file = \"links.csv\" }";
    let by_file = Scenario::from_toml("my.toml", text, &[], &folder).unwrap_or_else(|e| panic!("{e}"));
    let warning =
        |setting: &str, old: &str, new: &str| format!("the column `{old}` in `{setting}` is now called `{new}`");
    let said = |s: &Scenario| s.warnings.iter().map(|w| (w.code, w.message.clone())).collect::<Vec<_>>();
    let all = [
        ("traffic.file", "start_s", "started_at_s"),
        ("radio.links_file", "from", "src"),
        ("radio.links_file", "to", "dst"),
    ];
    let expected: Vec<_> = all.iter().map(|(of, old, new)| (Some(Code::FormerName), warning(of, old, new))).collect();
    assert_eq!(said(&by_file), expected);
    let table = json!({ "radio.links_table": "from,to,loss_db\n0,1,70\n1,0,70\n" });
    let by_table = by_file.with(&table, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let of_table = |old, new| (Some(Code::FormerName), warning("radio.links_table", old, new));
    assert_eq!(said(&by_table), [of_table("from", "src"), of_table("to", "dst")]);
    // Later changes find the columns of today.
    assert_eq!(said(&by_table.with(&json!({ "tcp.mss": "500 B" }), &NoFiles).unwrap_or_else(|e| panic!("{e}"))), []);
}

#[test]
fn extended_files_may_have_former_names() {
    let folder = Folder(&[("base.toml", "run.stop = \"1 s\"\n[tcp]\nwindow = 5\nsegment = \"500 B\"")]);
    let text = "extends = \"base.toml\"\ntcp.receive_window = 9";
    let scenario = Scenario::from_toml("my.toml", text, &[], &folder).unwrap_or_else(|e| panic!("{e}"));
    let tcp = &scenario.config().tcp;
    assert_eq!((tcp.receive_window, tcp.mss.0), (9, 500));
    let said = scenario.render_warnings(&[], false);
    assert!(said.contains("base.toml:3:1") && said.contains("base.toml:4:1"), "{said}");
}

#[test]
fn fixed_files_keep_their_comments_and_their_meaning() {
    let texts = [
        "# A chain.\nrun.stop = \"1 s\" # soon\n\n# Windows.\n[tcp]\nwindow = 5 # segments\nack = \"every\"\n\n# Two flows.\n\
         [[flow]]\nfrom = 0 # the first\nto = 3\n\n[[flow]]\n# the way back\nfrom = 3\nto = 0\ntcp.window = 2\n",
        "run = { stop = \"1 s\", limit = \"9 s\" } # limits\nflow = [\n  # there\n  { from = 0, to = 2, ftp = { segments = 3 } },\n  \
         { to = 1 }, # here\n]\nevent = [{ at = \"1 ms\", set = \"flow.0.tcp.window\", to = 3 }] # a window\n",
        "extends = \"ns2-2.35\"\nmotion.kind = \"still\" # nobody moves\nmotion.start = \"uniform\"\n# the last group\n[run]\n\
         stop = \"1 s\"\n",
    ];
    for text in texts {
        let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
        let (before, after) = (good(text), good(&fixed.text));
        assert_eq!(after.effective(), before.effective(), "{}", fixed.text);
        assert_eq!((warned(&before).is_empty(), warned(&after).is_empty()), (false, true), "{}", fixed.text);
        let comments =
            |text: &str| text.lines().filter_map(|l| Some(l.split_once('#')?.1.to_owned())).collect::<Vec<_>>();
        assert_eq!(comments(&fixed.text), comments(text));
        assert_eq!(fixed.text.lines().count(), text.lines().count());
        let again = fix("my.toml", &fixed.text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((again.text, again.changes), (fixed.text, vec![]));
    }
}

#[test]
fn a_file_with_both_names_is_not_fixed() {
    let text = "[tcp]\nwindow = 3\nreceive_window = 4\nsegment = \"500 B\"\n";
    let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(fixed.text, text.replace("segment", "mss"));
    assert_eq!(fixed.changes, ["`tcp.segment` -> `tcp.mss`"]);
    assert_eq!(fixed.left, ["`tcp.window` stays, because `tcp.receive_window` is set, too: set one of them"]);
    // Nor is a value lost that would move to another group.
    for (text, expected, left) in [
        (
            "[motion]\nkind = \"still\" # one\npause = \"1 s\"\n\n[mobility]\nmodel = \"still\" # two\n",
            "[motion]\nkind = \"still\" # one\n\n[mobility]\nmodel = \"still\" # two\npause = \"1 s\"\n",
            vec!["`motion.kind` stays, because `mobility.model` is set, too: set one of them"],
        ),
        (
            "[receiver.error]\nrate = 0.1\nmodel = \"uniform\"\n\n[wlan.error]\nrate = 0.2\n",
            "[receiver.error]\nrate = 0.1\n\n[wlan.error]\nrate = 0.2\nmodel = \"uniform\"\n",
            vec!["`receiver.error.rate` stays, because `wlan.error.rate` is set, too: set one of them"],
        ),
        (
            "link = [{ to = 1, rate = \"1 Mbit/s\" }]\nwired_link = [{ src = 0 }]\n",
            "link = [{ to = 1, rate = \"1 Mbit/s\" }]\nwired_link = [{ src = 0 }]\n",
            vec!["`link` stays, because `wired_link` is set, too: set one of them"],
        ),
        (
            "receiver.error.gilbert_elliott.p = 0.1\nwlan.error.gilbert_elliott.r = 0.2\n",
            "wlan.error.gilbert_elliott.r = 0.2\nwlan.error.gilbert_elliott.p = 0.1\n",
            vec![],
        ),
    ] {
        let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((fixed.text.as_str(), fixed.left), (expected, left.into_iter().map(String::from).collect()));
    }
    let search = "scenario = \"a.toml\"\n[search]\nfrom = 1\nlow = 2\n";
    let fixed = fix("my.toml", search).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(fixed.left, ["`search.from` stays, because `search.low` is set, too: set one of them"]);
    let said = fix("my.toml", "tcp.window = \n").err().expect("no TOML").render(false);
    assert!(said.contains("my.toml:1:14"), "{said}");
}

#[test]
fn study_files_are_fixed() {
    let text = "scenario = { extends = \"ns2-2.35\", tcp.window = 3 }\n\n[axes]\n\"flow.0.tcp.window\" = [1, 2] # two\ntcp.segment = [\"1 kB\"]\n\
                \n[cases.a]\nrun.limit = \"9 s\"\n\n[search]\nsetting = \"tcp.window\" # of all\nfrom = 1\nto = 9\nbest = \"highest\"\n";
    let fixed = fix("study.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let expected = "scenario = { extends = \"ns2-2.35\", tcp.receive_window = 3 }\n\n[axes]\n\"flow.0.tcp.receive_window\" = [1, 2] # two\n\
                    tcp.mss = [\"1 kB\"]\n\n[cases.a]\nrun.time_limit = \"9 s\"\n\n[search]\nsetting = \"tcp.receive_window\" # of all\n\
                    low = 1\nhigh = 9\ndirection = \"maximize\"\n";
    assert_eq!(fixed.text, expected);
    assert_eq!(fix("study.toml", expected).unwrap_or_else(|e| panic!("{e}")).changes, Vec::<String>::new());
}

#[test]
fn the_format_of_a_file_is_known() {
    let said = refused(read("run.stop = \"1 s\"\nformat = 2", &[]));
    assert!(said.contains("`format` is 2, and this version of Chappe reads format 1"), "{said}");
    assert!(said.contains("my.toml:2:10"), "{said}");
    let said = refused(read("format = \"new\"\nrun.stop = \"1 s\"", &[]));
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
        "[tcp]\nwindow = 5\nvariant = \"vegas\"\n[run]\nstop = \"1000 ms\"\nseed = 1",
        "extends = \"base.toml\"\ntcp.receive_window = 5",
        "run.stop = \"1 s\"\ntcp = { variant = \"vegas\", receive_window = 5 }\nflow = [{ from = 0, to = 7, app = \"ftp\", start = \"0 s\" }]",
    ];
    let read =
        |text: &&str| Scenario::from_toml("my.toml", text, &[], &folder).unwrap_or_else(|e| panic!("{text}\n{e}"));
    let changes: Vec<Json> = all.iter().map(|text| read(text).changes()).collect();
    assert_eq!(changes, vec![changes[0].clone(); all.len()]);
    assert_ne!(read(&"run.stop = \"1 s\"\ntcp.receive_window = 5").changes(), changes[0]);
}

/// Events in their former and in their current form.
const EVENTS: [(&str, &str); 6] = [
    ("node_down = 1, channel = 1", "action = \"node_down\", node = 1, channel = 1"),
    ("node_up = 1", "action = \"node_up\", node = 1"),
    (
        "node_move = 2, destination = [\"9 m\", \"0 m\"], speed = \"1 m/s\"",
        "action = \"node_move\", node = 2, destination = [\"9 m\", \"0 m\"], speed = \"1 m/s\"",
    ),
    ("flow_begin = 0", "action = \"flow_start\", flow = 0"),
    ("flow_end = 0", "action = \"flow_stop\", flow = 0"),
    ("set = \"flow.0.tcp.window\", to = 4", "action = \"set\", setting = \"flow.0.tcp.receive_window\", value = 4"),
];

fn with_event(event: &str) -> String {
    format!("run.stop = \"1 s\"\nevent = [{{ at = \"10 ms\", {event} }}]\n")
}

#[test]
fn former_events_are_events_with_actions() {
    for (old, new) in EVENTS {
        let (former, today) = (good(&with_event(old)), good(&with_event(new)));
        assert_eq!(former.effective(), today.effective(), "{old}");
        assert_eq!(former.layout().events, today.layout().events, "{old}");
        assert!(!warned(&former).is_empty() && warned(&today).is_empty(), "{old}");
        let fixed = fix("my.toml", &with_event(old)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fixed.text, with_event(new));
        let again = fix("my.toml", &fixed.text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((again.text, again.changes), (fixed.text, vec![]));
    }
    let said = good(&with_event("node_down = 1")).render_warnings(&[], false);
    assert!(said.contains("`event.0.node_down` is now called `event.0.node`, with `action = \"node_down\"`"), "{said}");
    assert!(said.contains("my.toml:2:26"), "{said}");
    let changes = fix("my.toml", &with_event("flow_end = 0")).unwrap_or_else(|e| panic!("{e}")).changes;
    assert_eq!(changes, ["`event.0.flow_end` -> `event.0.flow`, with `action = \"flow_stop\"`"]);
}

#[test]
fn comments_of_former_events_stay() {
    let text = "run.stop = \"1 s\"\n\n# The relay fails.\n[[event]]\nat = \"10 ms\" # soon\n# It is node 1.\nnode_down = 1 # of 8\n";
    let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        fixed.text,
        "run.stop = \"1 s\"\n\n# The relay fails.\n[[event]]\nat = \"10 ms\" # soon\n# It is node 1.\n\
         action = \"node_down\"\nnode = 1 # of 8\n"
    );
}

#[test]
fn comments_of_former_keys_without_a_value_stay() {
    let text = "[[event]]\n# Never.\nnode_up = \"none\" # no\n# The relay.\nnode_down = 1\nat = \"10 ms\" # soon\n\
                # Nor this.\nflow_end = \"none\"\n";
    let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        fixed.text,
        "[[event]]\n# Never.\n# no\n# The relay.\naction = \"node_down\"\nnode = 1\n# Nor this.\nat = \"10 ms\" # soon\n"
    );
}

#[test]
fn an_empty_former_group_is_the_group_of_today() {
    for text in ["[receiver]\n[run]\nstop = \"1 s\"\n", "run.stop = \"1 s\"\nreceiver = {}\nwlan.error.rate = 0.1\n"] {
        let scenario = good(text);
        assert!(warned(&scenario).contains("`receiver` is now called `wlan.error`"), "{:?}", warned(&scenario));
        let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((good(&fixed.text).effective(), warned(&good(&fixed.text))), (scenario.effective(), <_>::default()));
    }
    assert_eq!(warned(&read("run.stop = \"1 s\"", &[("receiver", "{}")]).unwrap_or_else(|e| panic!("{e}"))).len(), 1);
}

#[test]
fn a_former_event_does_one_thing() {
    let said = refused(read(&with_event("node_down = 1, flow_end = 0"), &[]));
    assert!(said.contains("`event.0` has both `node_down` and `flow_end`"), "{said}");
    assert!(said.contains("my.toml:2:41") && said.contains("write an event for each"), "{said}");
    let said = refused(read(&with_event("action = \"node_up\", node_down = 1"), &[]));
    assert!(said.contains("`event.0.action` is set twice, by its former and its current name"), "{said}");
    let both = with_event("node_down = 1, flow_end = 0");
    let mixed = with_event("action = \"node_up\", node_down = 1");
    for (text, why) in [
        (both, "it has several actions: write an event for each"),
        (mixed, "it has former and current keys: write it with current ones"),
    ] {
        let fixed = fix("my.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((fixed.text, fixed.left), (text, vec![format!("`event.0` stays, because {why}")]));
    }
}

#[test]
fn overrides_may_name_former_keys_of_events() {
    let base = with_event("node_down = 1");
    let changed = read(&base, &[("event.0.node_down", "3"), ("event.0.at", "20 ms")]).unwrap_or_else(|e| panic!("{e}"));
    let today = with_event("action = \"node_down\", node = 3").replace("10 ms", "20 ms");
    assert_eq!(changed.effective(), good(&today).effective());
    let axis = of_settings(&json!({ "event.0.set": "flow.0.tcp.window", "event.0.to": 3 }));
    let today = json!({ "event.0.action": "set", "event.0.setting": "flow.0.tcp.receive_window", "event.0.value": 3 });
    assert_eq!(axis.0, today);
    // A former key names the action, too, on an axis by one value.
    let plain = "run.stop = \"1 s\"\nevent = [{ at = \"10 ms\" }]\n";
    let today = good(&with_event("action = \"flow_stop\", flow = 0")).effective();
    let by_text = read(plain, &[("event.0.flow_end", "0")]).unwrap_or_else(|e| panic!("{e}"));
    let dict = json!({ "run.stop": "1 s", "event": [{ "at": "10 ms" }], "event.0.flow_end": 0 });
    let by_dict = Scenario::from_json(&dict, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    for changed in [by_text, by_dict] {
        assert_eq!(changed.effective(), today);
        let message = "`event.0.flow_end` is now called `event.0.flow`, with `action = \"flow_stop\"`";
        assert_eq!(warned(&changed), [message.to_owned()].into());
    }
    let axis = of_settings(&json!({ "event.0.flow_end": [0, 1] })).0;
    assert_eq!(axis, json!({ "event.0.flow": [0, 1], "event.0.action": ["flow_stop"] }));
    let moved =
        read(&base, &[("event.0.node_down", "none"), ("event.0.node_up", "2")]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(moved.effective(), good(&with_event("action = \"node_up\", node = 2")).effective());
}

#[test]
fn former_keys_without_a_value_do_nothing() {
    let event = json!({ "at": "10 ms", "node_down": null, "flow_end": 0 });
    let dict = json!({ "run.stop": "1 s", "event": [event] });
    let scenario = Scenario::from_json(&dict, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.effective(), good(&with_event("action = \"flow_stop\", flow = 0")).effective());
}

#[test]
fn commands_may_have_former_keys() {
    let scenario = good("run.stop = \"1 s\"");
    let command = |event: Json| scenario.commands(&event).map(|all| format!("{all:?}"));
    let refused = |event: Json| command(event).expect_err("a mistake").render(false);
    let today = json!({ "action": "flow_stop", "flow": 0 });
    assert_eq!(command(json!({ "flow_end": 0, "node_down": null })).ok(), command(today).ok());
    let said = refused(json!({ "node_down": 1, "flow_end": 0 }));
    assert!(said.contains("the event has both `node_down` and `flow_end`"), "{said}");
    let said = refused(json!({ "node_down": 1, "action": "node_up", "node": 2 }));
    assert!(said.contains("`action` is set twice, by its former and its current name"), "{said}");
    let said = refused(json!({ "node_down": null }));
    assert!(said.contains("no action is named"), "{said}");
}

#[test]
fn events_under_former_names_are_those_of_the_previous_version() {
    let former = |event: &str| good(&with_event(event)).as_before()["event"][0].clone();
    let event = json!({
        "at": "10 ms", "node_down": "none", "node_up": "none", "channel": "none", "node_move": "none", "position": "none",
        "destination": "none", "speed": "none", "flow_begin": "none", "flow_end": "none", "set": "none", "to": "none",
    });
    let with = |pairs: Json| {
        let mut all = event.clone();
        for (key, value) in pairs.as_object().expect("an object") {
            all[key] = value.clone();
        }
        all
    };
    assert_eq!(former("node_up = 1, channel = 1"), with(json!({ "node_up": 1, "channel": 1 })));
    assert_eq!(
        former("node_move = 2, position = [\"9 m\", \"0 m\"]"),
        with(json!({ "node_move": 2, "position": ["9 m", "0 m"] }))
    );
    assert_eq!(former("flow_begin = 0"), with(json!({ "flow_begin": 0 })));
    assert_eq!(former("set = \"flow.0.tcp.window\", to = 4"), with(json!({ "set": "flow.0.tcp.window", "to": 4 })));
    // All keys together, as the previous version wrote them beside results, are the same event.
    for (old, _) in EVENTS {
        let scenario = good(&with_event(old));
        let text = toml::to_string(&under_former_names(&scenario.effective())).expect("TOML has the settings");
        assert_eq!(good(&text).effective(), scenario.effective(), "{old}");
        let fixed = fix("my.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(warned(&good(&fixed.text)), BTreeSet::new());
        assert_eq!(good(&fixed.text).effective(), scenario.effective(), "{old}");
    }
}

/// Flows in the former list `pairs`, and as entries of `flow`.
const PAIRS: [(&str, &str); 3] = [
    (
        "[[flow]]\nfrom = 3\nto = 0\nstop = \"500 ms\"\n\n# All to one.\n[[pairs]]\nfrom = \"1-2\" # two\nto = 0\nlasts = \"200 ms\"\n\n\
         [[pairs]]\nto = \"1-2\"\nfrom = 0\napp = \"ftp\"\nftp.segments = 3\n",
        "[[flow]]\nsrc = 3\ndst = 0\nstop = \"500 ms\"\n\n# All to one.\n[[flow]]\nsrc = \"1-2\" # two\ndst = 0\nduration = \"200 ms\"\n\n\
         [[flow]]\ndst = \"1-2\"\nsrc = 0\napp = \"bulk\"\nbulk.segments = 3\n",
    ),
    (
        "pairs = [{ from = \"0-3\", to = \"0-3\", stagger = \"10 ms\" }]\n",
        "flow = [{ src = \"0-3\", dst = \"0-3\", stagger = \"10 ms\" }]\n",
    ),
    (
        "flow = [{ to = 3, tcp.window = 3 }]\npairs = [{ from = 0, to = \"1, 3\", tcp.window = 4 }]\n",
        "flow = [{ dst = 3, tcp.receive_window = 3 },{ src = 0, dst = \"1, 3\", tcp.receive_window = 4 }]\n",
    ),
];

fn four_nodes(flows: &str) -> String {
    format!("run.stop = \"1 s\"\ntopology.hops = 3\n\n{flows}")
}

#[test]
fn former_pairs_follow_the_flows() {
    for (old, new) in PAIRS {
        let (former, today) = (good(&four_nodes(old)), good(&four_nodes(new)));
        assert_eq!(former.effective(), today.effective(), "{old}");
        assert!(warned(&former).contains("`pairs` is now called `flow`"), "{:?}", warned(&former));
        assert_eq!(warned(&today), BTreeSet::new());
        let fixed = fix("my.toml", &four_nodes(old)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fixed.text, four_nodes(new));
        assert!(fixed.changes.contains(&"`pairs` -> the end of `flow`".to_owned()), "{:?}", fixed.changes);
        assert_eq!(fix("my.toml", &fixed.text).unwrap_or_else(|e| panic!("{e}")).changes, Vec::<String>::new());
    }
    let said = good(&four_nodes("[[pairs]]\nfrom = 1\nto = 2\n")).render_warnings(&[], false);
    assert!(said.contains("`pairs` is now called `flow`") && said.contains("my.toml:4:1"), "{said}");
    let said = refused(read(&four_nodes("flow = [{ to = 1 }]\npairs = [{ from = 1, to = 1 }]"), &[]));
    assert!(said.contains("`flow.1` goes from node 1 to itself") && said.contains("my.toml:5:27"), "{said}");
}

#[test]
fn pairs_of_extended_files_follow_the_flows_of_all() {
    let folder = Folder(&[("base.toml", "run.stop = \"1 s\"\npairs = [{ from = 1, to = 2 }]\nflow = [{ to = 1 }]")]);
    let ends = |text: &str| {
        let s = Scenario::from_toml("my.toml", text, &[], &folder).unwrap_or_else(|e| panic!("{e}"));
        s.layout().flows.iter().map(|f| (f.src, f.dst)).collect::<Vec<_>>()
    };
    assert_eq!(ends("extends = \"base.toml\""), [(0, 1), (1, 2)]);
    assert_eq!(ends("extends = \"base.toml\"\nflow = [{ dst = 3 }, { dst = 4 }]"), [(0, 3), (0, 4), (1, 2)]);
    assert_eq!(ends("extends = \"base.toml\"\npairs = [{ src = 5, dst = 4 }]"), [(0, 1), (5, 4)]);
    // A file that extends one with flows cannot be rewritten alone.
    let text = "extends = \"base.toml\"\npairs = [{ src = 5, dst = 4 }]\n";
    let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(fixed.text, text);
    assert_eq!(fixed.changes, Vec::<String>::new());
    assert_eq!(fixed.left, ["`pairs` stays, because the extended file may list flows: list all flows as `flow`"]);
    for (text, why) in [
        ("traffic.file = \"f.csv\"\npairs = [{ src = 5, dst = 4 }]\n", "its flows come after those of `traffic.file`"),
        ("flow = [{ dst = 1 }]\n[[pairs]]\nsrc = 5\ndst = 4\n", "`flow` is written in another form"),
        (
            "axes.\"pairs.0.start\" = [\"1 s\"]\nscenario.pairs = [{ src = 5, dst = 4 }]\n",
            "its entries are named by their numbers",
        ),
    ] {
        let fixed = fix("my.toml", text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((fixed.text.as_str(), fixed.changes.len()), (text, 0));
        assert!(fixed.left[0].starts_with(&format!("`pairs` stays, because {why}")), "{:?}", fixed.left);
    }
    let study = "scenario = \"base.toml\"\naxes.\"pairs.0.start\" = [\"1 s\"]\n";
    let fixed = fix("my.toml", study).unwrap_or_else(|e| panic!("{e}"));
    let why = "the list is in another file: count the entries of `flow` before them";
    assert_eq!(
        (fixed.text.as_str(), fixed.left),
        (study, vec![format!("names of entries of `pairs` stay, because {why}")])
    );
    let study = "scenario.pairs = [{ src = 5, dst = 4 }]\naxes.\"tcp.mss\" = [\"1 kB\"]\n";
    let fixed = fix("my.toml", study).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(fixed.text, study.replace("pairs", "flow"));
}

#[test]
fn overrides_may_name_former_pairs() {
    let text = four_nodes("flow = [{ dst = 1 }]\npairs = [{ src = 1, dst = \"2-3\" }, { src = 3, dst = 0 }]");
    let starts =
        |s: &Scenario| s.layout().flows.iter().map(|f| f.start.expect("a start").0 / 1_000_000).collect::<Vec<_>>();
    let by_text =
        read(&text, &[("pairs.0.start", "5 ms"), ("pairs.1.start", "7 ms")]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(starts(&by_text), [0, 5, 5, 7]);
    let changes = json!({ "pairs.1.start": "9 ms", "flow.0.start": "1 ms" });
    assert_eq!(starts(&by_text.with(&changes, &NoFiles).unwrap_or_else(|e| panic!("{e}"))), [1, 5, 5, 9]);
    let changes = json!({ "flow.2.start": "9 ms" });
    assert_eq!(starts(&by_text.with(&changes, &NoFiles).unwrap_or_else(|e| panic!("{e}"))), [0, 5, 5, 9]);
    let changes = json!({ "flow": [{ "dst": 1, "start": "3 ms" }, { "dst": 2 }] });
    assert_eq!(starts(&by_text.with(&changes, &NoFiles).unwrap_or_else(|e| panic!("{e}"))), [3, 0, 5, 5, 7]);
    let changes = json!({ "pairs": [{ "src": 2, "dst": 1 }] });
    assert_eq!(starts(&by_text.with(&changes, &NoFiles).unwrap_or_else(|e| panic!("{e}"))), [0, 0]);
}

#[test]
fn former_pairs_stay_pairs_after_changes() {
    let text = four_nodes("flow = [{ dst = 1 }]\npairs = [{ src = 1, dst = \"2-3\" }, { src = 3, dst = 0 }]");
    let with = |s: &Scenario, changes: Json| s.with(&changes, &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let starts =
        |s: &Scenario| s.layout().flows.iter().map(|f| f.start.expect("a start").0 / 1_000_000).collect::<Vec<_>>();
    for first in [json!({ "tcp.mss": "500 B" }), json!({ "pairs.0.start": "0 s" }), json!({ "flow": [{ "dst": 1 }] })] {
        let once = with(&good(&text), first.clone());
        assert_eq!(starts(&with(&once, json!({ "pairs.1.start": "9 ms" }))), [0, 0, 0, 9], "{first}");
        let others = json!({ "flow": [{ "dst": 1, "start": "3 ms" }, { "dst": 2 }] });
        assert_eq!(starts(&with(&once, others)), [3, 0, 0, 0, 0], "{first}");
    }
    let none = with(&good(&text), json!({ "pairs": [] }));
    assert_eq!(starts(&with(&none, json!({ "flow": [{ "dst": 1, "start": "3 ms" }] }))), [3]);
    // Flows of a file precede them, also of a file that is named later.
    let folder = Folder(&[("flows.csv", "src,dst\n2,1\n")]);
    let file = json!({ "traffic.file": "flows.csv" });
    let filed = good(&text).with(&file, &folder).unwrap_or_else(|e| panic!("{e}"));
    let ends = |s: &Scenario| s.layout().flows.iter().map(|f| (f.src, f.dst)).collect::<Vec<_>>();
    assert_eq!(ends(&filed), [(0, 1), (2, 1), (1, 2), (1, 3), (3, 0)]);
    assert_eq!(ends(&with(&filed, json!({ "pairs": [{ "src": 3, "dst": 2 }] }))), [(0, 1), (2, 1), (3, 2)]);
}

#[test]
fn flows_under_former_names_are_those_of_the_previous_version() {
    let former = |flows: &str| {
        let all = good(&four_nodes(flows)).as_before();
        (all["flow"].clone(), all["pairs"].clone())
    };
    let flow = |from: u32, to: u32| {
        json!({
            "from": from, "to": to, "app": "ftp", "start": "0 s", "stop": "none", "tcp": {}, "ftp": {}, "cbr": {}, "on_off": {},
        })
    };
    let pairs = |from: &str, to: &str, stagger: &str, lasts: &str| {
        json!({
            "from": from, "to": to, "app": "ftp", "start": "0 s", "stagger": stagger, "lasts": lasts, "tcp": {}, "ftp": {},
            "cbr": {}, "on_off": {},
        })
    };
    assert_eq!(former("flow = [{ dst = 3 }, { src = 2, dst = 1 }]"), (json!([flow(0, 3), flow(2, 1)]), json!([])));
    assert_eq!(
        former(
            "flow = [{ dst = 3 }, { src = \"1-2\", dst = 0, stagger = \"1 s\", duration = \"2 s\" }, { src = 2, dst = 1 }]"
        ),
        (json!([flow(0, 3)]), json!([pairs("1-2", "0", "1 s", "2 s"), pairs("2", "1", "0 s", "none")]))
    );
    // Flows that the previous version did not have are none of its scenarios.
    let (flow, pairs) = former("flow = [{ src = \"1-2\", dst = 0 }, { src = 2, dst = 1, stop = \"10 ms\" }]");
    assert_eq!((flow[0]["from"].clone(), flow[1]["stop"].clone(), pairs), (json!("1-2"), json!("10 ms"), Json::Null));
    // Nor do they have the settings of today.
    let all = good("run.stop = \"1 s\"").as_before();
    let keys = |group: &str| all[group].as_object().expect("a group").keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(
        keys("traffic"),
        ["flows", "min_hops", "max_hops", "distinct_ends", "file", "app", "start", "stagger"].map(String::from).into()
    );
    assert!(!keys("radio").contains("shadowing_seed"));
}

#[test]
fn settings_as_before_are_the_same_scenario() {
    let flows = PAIRS.iter().map(|(old, _)| four_nodes(old));
    let events = EVENTS.iter().map(|(old, _)| with_event(old));
    for text in flows.chain(events).chain([COMPLETE.to_owned()]) {
        let scenario = good(&text);
        let before = scenario.as_before();
        let again = Scenario::from_json(&before, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(again.effective(), scenario.effective(), "{text}");
        assert_eq!(again.as_before(), before, "{text}");
    }
    // The former word for no value, and none at all.
    for entry in [json!({ "from": "1-2", "to": 0, "lasts": "none" }), json!({ "from": "1-2", "to": 0, "lasts": null })]
    {
        let json = json!({ "run.stop": "1 s", "topology.hops": 3, "pairs": [entry] });
        let scenario = Scenario::from_json(&json, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*value(&scenario.effective(), "flow.0.duration"), json!("unlimited"));
    }
}

#[test]
fn settings_that_the_previous_version_did_not_have_stay_where_they_are_set() {
    let plain = good("run.stop = \"1 s\"\ntopology.hops = 3").as_before();
    for (name, set) in [
        ("traffic.seed", json!(7)),
        ("traffic.stop", json!("500 ms")),
        ("traffic.duration", json!("500 ms")),
        ("traffic.tcp", json!({ "mss": "500 B" })),
        ("radio.shadowing_seed", json!(7)),
        ("tcp.congestion_control", json!("vegas")),
        ("tcp.loss_recovery", json!("sack")),
        ("routing.aodv.data_ttl", json!("net_ttl")),
    ] {
        let (group, key) = name.rsplit_once('.').expect("a group");
        let keys = |all: &Json, group: &str| value(all, group).as_object().expect("a group").contains_key(key);
        let settings = json!({ "run.stop": "1 s", "topology.hops": 3, name: set });
        let scenario = Scenario::from_json(&settings, &json!({}), &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(*value(&scenario.as_before(), name), set);
        assert_eq!(keys(&plain, group), name == "routing.aodv.data_ttl", "{name}");
    }
    let ns2 = good("run.stop = \"1 s\"\nrouting.aodv.data_ttl = \"net_diameter\"").as_before();
    assert!(!value(&ns2, "routing.aodv").as_object().expect("a group").contains_key("data_ttl"));
}

#[test]
fn former_words_are_the_words_of_today() {
    let told = |s: &Scenario| {
        let former = s.warnings.iter().filter(|p| p.code == Some(Code::FormerName));
        former.map(|p| p.message.clone()).collect::<Vec<_>>()
    };
    let today = good(COMPLETE).effective();
    assert_eq!(*value(&today, "flow.0.app"), json!("bulk"));
    let words = WORDS.iter().map(|(setting, old, new)| (setting.replace('*', "0"), old, new));
    let of_pairs = words.clone().filter(|word| word.0.starts_with("flow"));
    let of_pairs = of_pairs.map(|(setting, old, new)| (setting.replace("flow", "pairs"), old, new));
    for (setting, old, new) in words.chain(of_pairs) {
        let text = if setting.starts_with("pairs") {
            COMPLETE.replace("flow = [", "pairs = [{ src = 1, dst = 2 }]\n    flow = [")
        } else {
            COMPLETE.to_owned()
        };
        let by = |word: &str| read(&text, &[(&setting, word)]).unwrap_or_else(|e| panic!("{setting} = {word}\n{e}"));
        let former = by(old);
        assert_eq!(former.effective(), by(new).effective(), "{setting}");
        let message = format!("`{setting}` = \"{old}\" is now written \"{new}\"");
        assert!(told(&former).contains(&message), "{:?}", told(&former));
        assert!(!told(&by(new)).contains(&message));
    }
    let fixed = fix("my.toml", "run.stop = \"1 s\"\nflow = [{ dst = 7, app = \"ftp\" }]").expect("it is TOML");
    assert_eq!(fixed.changes, ["`flow.0.app` = \"ftp\" -> \"bulk\""]);
}

#[test]
fn a_misspelt_former_name_suggests_the_name_of_today() {
    for (key, now) in [
        ("tcp.windw", "tcp.receive_window"),
        ("flow = [{ dst = 2, tcp.windw", "flow.0.tcp.receive_window"),
        ("motion.kimd", "mobility.model"),
        ("run.discrd", "run.warmup_batches"),
    ] {
        let end = if key.contains('{') { " }]" } else { "" };
        let errors = read(&format!("run.stop = \"1 s\"\n{key} = 3{end}"), &[]).expect_err("a mistake");
        let help = errors.problems[0].help.as_deref();
        assert_eq!(help, Some(format!("did you mean `{now}`?").as_str()), "{key}");
    }
}

#[test]
fn warnings_have_codes_and_some_can_be_ignored() {
    let scenario =
        good("run.stop = \"1 s\"\ntcp = { window = 3, vegas.alpha = 2 }\nflow = [{ dst = 2, start = \"2 s\" }]");
    let codes: Vec<_> = scenario.warnings.iter().filter_map(|p| p.code).collect();
    assert_eq!(codes, [Code::LateFlow, Code::FormerName, Code::UnusedSetting]);
    assert!(scenario.render_warnings(&codes, false).is_empty());
    let said = scenario.render_warnings(&[Code::FormerName, Code::LateFlow], false);
    assert!(said.contains("vegas.alpha") && !said.contains("is now called") && !said.contains("starts at"), "{said}");
}
