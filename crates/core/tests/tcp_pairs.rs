//! Pairs of a congestion control and a loss recovery, as the settings name them.

use crate::effects::results;
use chappe_core::record::{Column, Recorder};
use chappe_core::setting::Setting;
use chappe_core::sim::Sim;
use chappe_core::tcp;
use chappe_core::tcp::cc::Rule;
use chappe_core::tcp::config::control::Control;
use chappe_core::tcp::config::pairs;
use chappe_core::tcp::config::pairs::conflict;
use chappe_core::tcp::config::variants::{Method, Variant};
use chappe_scenario::{Errors, NoFiles, Scenario};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Every pair, with its words.
fn all_pairs() -> impl Iterator<Item = (Method, Rule)> {
    Method::ALL.iter().flat_map(|&method| Rule::ALL.iter().map(move |&rule| (method, rule)))
}

/// A file over two lossy hops, with these settings of TCP.
fn lossy(preset: &str, tcp: &Json) -> Result<Scenario, Errors> {
    let base = json!({
        "extends": preset,
        "run": { "stop": "120 s", "batches": 1, "warmup_batches": 0, "record": ["cwnd"] },
        "topology.hops": 2,
        "routing.protocol": "shortest_path",
        "wlan": { "rts_threshold": "always", "long_retry_limit": 2, "error": { "model": "uniform", "rate": 0.2, "frames": "data" } },
        "bulk.segments": 120,
        "tcp.receive_window": 12,
    });
    let settings = tcp.as_object().expect("settings").iter();
    let changes: serde_json::Map<_, _> = settings.map(|(name, value)| (format!("tcp.{name}"), value.clone())).collect();
    Scenario::from_json(&base, &Json::Object(changes), &NoFiles)
}

fn pair(method: Method, rule: Rule) -> Json {
    json!({ "congestion_control": rule.word(), "loss_recovery": method.word() })
}

fn valid(read: Result<Scenario, Errors>) -> Scenario {
    read.unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario) -> Recorder {
    let mut sim = Sim::new(&scenario.setup(None));
    sim.run();
    sim.into_recorder()
}

/// Words of the column `variant` of flows.
fn variants_of(r: &Recorder) -> Vec<String> {
    let Some(Column::Text(words)) = r.flows().column("variant").cloned() else { panic!("no variants") };
    words
}

#[test]
fn every_pair_that_is_not_refused_delivers_a_file_over_a_lossy_chain() {
    for preset in ["standard", "ns2-2.35"] {
        let mut allowed = 0;
        for rule in Rule::ALL {
            let recoveries = pairs::recoveries_of(*rule);
            let mut times = BTreeSet::new();
            for method in &recoveries {
                let r = run(&valid(lossy(preset, &pair(*method, *rule))));
                let flows = r.flows();
                let count = |column: &str| flows.counts(column).expect("a column")[0];
                let what = format!("{rule:?} with {method:?} of {preset}");
                assert_eq!(count("packets_delivered"), 120, "{what}");
                assert!(count("retransmissions") > 0, "{what}");
                times.insert(format!("{:?}", flows.numbers("completion_time_s")));
            }
            assert!(times.len() > 1 || recoveries.len() == 1, "{rule:?} of {preset}: the recovery makes no difference");
            allowed += recoveries.len();
        }
        assert_eq!(allowed, 64);
    }
}

#[test]
fn every_variant_is_the_same_as_its_pair_to_the_bit() {
    for preset in ["standard", "ns2-2.35"] {
        for variant in Variant::ALL {
            let (method, rule) = variant.parts();
            let short = results(&valid(lossy(preset, &json!({ "variant": variant.word() }))));
            // Both parts by their own settings, and each in place of that of another variant.
            let others = Variant::ALL.iter().map(|other| (other, other.parts()));
            let of_rule = others.clone().find(|o| o.1.1 == rule).expect("a variant").0;
            let of_method = others.clone().find(|o| o.1.0 == method).expect("a variant").0;
            for written in [
                pair(method, rule),
                json!({ "variant": of_rule.word(), "loss_recovery": method.word() }),
                json!({ "variant": of_method.word(), "congestion_control": rule.word() }),
                json!({ "variant": variant.word(), "congestion_control": "variant", "loss_recovery": "variant" }),
            ] {
                assert!(results(&valid(lossy(preset, &written))) == short, "{written} of {preset}");
            }
        }
    }
}

#[test]
fn a_pair_has_the_name_of_its_variant_or_those_of_both_parts() {
    for (tcp, name) in [
        (json!({}), "newreno"),
        (json!({ "variant": "cubic" }), "cubic"),
        (json!({ "congestion_control": "cubic", "loss_recovery": "sack" }), "cubic"),
        (json!({ "congestion_control": "cubic" }), "cubic+newreno"),
        (json!({ "loss_recovery": "sack" }), "sack"),
        (json!({ "variant": "westwood", "loss_recovery": "sack" }), "westwood+sack"),
        (json!({ "variant": "vegas", "loss_recovery": "newreno" }), "vegas+newreno"),
    ] {
        let scenario = valid(lossy("standard", &tcp));
        assert_eq!(variants_of(&run(&scenario)), [name]);
        assert_eq!(scenario.transports(), [format!("TCP {name}")]);
    }
}

/// Messages of the problems of a scenario, each with place and help.
fn problems(text: &str) -> Vec<String> {
    let text = format!("run.stop = \"1 s\"\n{text}");
    let errors = Scenario::from_toml("my.toml", &text, &[], &NoFiles).expect_err("the scenario is wrong");
    errors
        .problems
        .iter()
        .map(|p| format!("{}: {} -> {}", p.path, p.message, p.help.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn pairs_that_cannot_work_are_refused() {
    for (method, rule) in all_pairs() {
        let refused = lossy("standard", &pair(method, rule)).err().map(|e| e.problems[0].message.clone());
        let reason = conflict(method, rule).map(|reason| {
            let (rule, method) = (rule.word(), method.word());
            format!("the congestion control `{rule}` does not work with the loss recovery `{method}`: {reason}")
        });
        assert_eq!(refused, reason);
    }
    assert_eq!(
        problems("tcp = { congestion_control = \"cubic\", loss_recovery = \"vegas\" }"),
        ["tcp.congestion_control: the congestion control `cubic` does not work with the loss recovery `vegas`: this \
             loss recovery cuts the window itself, by the rule of `vegas` -> `cubic` works with `tcp.loss_recovery` = \
             \"tahoe\", \"reno\", \"newreno\", \"sack\", \"rack_tlp\"; the word \"variant\" takes a part from `tcp.variant`"]
    );
}

#[test]
fn error_is_shown_at_the_overriding_setting() {
    let split = "topology.hops = 2\n[[middlebox]]\nkind = \"split\"\nnode = 1\n";
    for (text, place) in [
        ("tcp.loss_recovery = \"vegas\"".to_owned(), "tcp.loss_recovery"),
        ("tcp.congestion_control = \"cubic\"\ntcp.variant = \"vegas\"".to_owned(), "tcp.congestion_control"),
        (
            "tcp.congestion_control = \"cubic\"\nflow = [{ dst = 1 }, { dst = 2, tcp.variant = \"vegas\" }]".to_owned(),
            "flow.1.tcp.variant",
        ),
        ("split.tcp.loss_recovery = \"vegas\"\n".to_owned() + split, "split.tcp.loss_recovery"),
        (
            split.to_owned() + "split.tcp.variant = \"e_newreno\"\n[tcp]\ncongestion_control = \"cubic\"",
            "middlebox.0.split.tcp.variant",
        ),
    ] {
        let found = problems(&text);
        assert!(found.len() == 1 && found[0].starts_with(&format!("{place}: the congestion control")), "{found:?}");
    }
}

#[test]
fn settings_of_parts_ask_for_the_pair_in_effect() {
    let unused = |tcp: Json| {
        let mut found: Vec<_> = valid(lossy("standard", &tcp)).unused;
        found.sort();
        found
    };
    let why = |name: &str, why: &'static str| (format!("tcp.{name}"), why);
    assert_eq!(unused(json!({ "variant": "vegas", "loss_recovery": "sack", "vegas.alpha": 3 })), []);
    assert_eq!(
        unused(json!({ "congestion_control": "cubic", "cubic.c": 1, "sack.rule": "sack1", "loss_recovery": "sack" })),
        []
    );
    assert_eq!(
        unused(json!({ "variant": "vegas", "congestion_control": "reno", "loss_recovery": "reno", "vegas.alpha": 3 })),
        [
            why("variant", "`tcp.loss_recovery` and `tcp.congestion_control` are both set"),
            why("vegas.alpha", "the congestion control is not `vegas`")
        ]
    );
    assert_eq!(
        unused(json!({ "variant": "sack", "loss_recovery": "newreno", "sack.rule": "sack1" })),
        [why("sack.rule", "the loss recovery is not `sack`")]
    );
    // Defects of Vegas' agent belong to its recovery or to its window.
    assert_eq!(
        unused(json!({
            "variant": "vegas", "loss_recovery": "newreno",
            "vegas.ns2": { "bare_segments": true, "base_rtt_grows": true },
        })),
        [why("vegas.ns2.bare_segments", "the loss recovery is not `vegas`")]
    );
}

#[test]
fn some_congestion_controls_do_not_read_some_settings() {
    let of = |congestion_control: Rule, loss_recovery: Method| tcp::Config {
        congestion_control: Some(Control::of(congestion_control)),
        loss_recovery: Some(loss_recovery),
        ecn: tcp::ecn::Config { enabled: true, ..Default::default() },
        ..tcp::Config::default()
    };
    for rule in Rule::ALL.iter().filter(|rule| conflict(Method::Sack, **rule).is_none()) {
        let beta = match rule {
            Rule::Cubic | Rule::Scalable | Rule::Fixed | Rule::External => {
                Some("the congestion control has its own rule for it")
            }
            Rule::Vegas => Some("the congestion control is `vegas`, and `tcp.vegas.ecn_cut` is `quarter`"),
            _ => None,
        };
        assert_eq!(of(*rule, Method::Sack).unused("ecn.beta"), beta, "{}", rule.word());
    }
    let mut vegas = of(Rule::Vegas, Method::Vegas);
    vegas.vegas.ecn_cut = tcp::cc::vegas::EcnCut::Half;
    assert_eq!(vegas.unused("ecn.beta"), None);

    let mut fixed = of(Rule::Fixed, Method::NewReno);
    let both = |cfg: &tcp::Config| ["loss_window", "ssthresh_base"].map(|name| cfg.unused(name));
    let no_reset = "the congestion control is `fixed`, and ELFN does not reset the window";
    assert_eq!(both(&fixed), [Some(no_reset), Some("the congestion control is `fixed`")]);
    fixed.elfn.enabled = true;
    fixed.elfn.cwnd = tcp::sender::elfn::After::Reset;
    assert_eq!(both(&fixed), [None, Some("the congestion control is `fixed`")]);
    fixed.door.enabled = true;
    assert_eq!(both(&fixed), [None, None]);

    let mut reno = of(Rule::Reno, Method::RackTlp);
    assert_eq!(reno.unused("rack_tlp.hystart"), Some("the congestion control is `reno` and the rule is `hystart`"));
    reno.rack_tlp.hystart = tcp::config::recoveries::HyStartRule::HyStartPlusPlus;
    assert_eq!(reno.unused("rack_tlp.hystart"), None);
    assert_eq!(of(Rule::Cubic, Method::RackTlp).unused("rack_tlp.hystart"), None);
}

#[test]
fn defects_of_the_recovery_of_vegas_have_no_effect_with_another_one() {
    let defects = |on: bool| {
        let all = json!({
            "bare_segments": on, "not_ect": on, "send_time_sentinels": on, "inflation_stays": on,
            "backoff_on_fast_retransmit": on, "timeout_when_idle": on, "clearing_stops_at_wrap": on,
        });
        let scenario =
            valid(lossy("standard", &json!({ "variant": "vegas", "loss_recovery": "newreno", "vegas.ns2": all })));
        assert_eq!(scenario.unused.len(), 7, "{:?}", scenario.unused);
        results(&scenario)
    };
    assert!(defects(false) == defects(true));
}

/// Settings that know a word, of which one is given: some words are those of variants, too.
fn of_settings(setting: &str, word: &str) -> String {
    let variant = Variant::WORDS.iter().any(|v| v.0 == word);
    if variant { format!("{setting} and `tcp.variant`") } else { setting.to_owned() }
}

#[test]
fn a_word_of_one_part_is_no_word_of_the_other() {
    for method in Method::ALL.iter().filter(|m| Rule::WORDS.iter().all(|rule| rule.0 != m.word())) {
        let found = problems(&format!("tcp.congestion_control = \"{}\"", method.word()));
        let words = of_settings("`tcp.loss_recovery`", method.word());
        assert!(found[0].contains(&format!(" -> it is a word of {words}; known: reno, ")), "{found:?}");
        assert!(
            found[0].ends_with(", external, or \"module:Class\" for a rule in Python, or \"variant\""),
            "{found:?}"
        );
    }
    // `fixed` is also a routing protocol, and `external` an application.
    for rule in Rule::ALL
        .iter()
        .filter(|r| ![Rule::Fixed, Rule::External].contains(r) && Method::WORDS.iter().all(|m| m.0 != r.word()))
    {
        let found = problems(&format!("tcp.loss_recovery = \"{}\"", rule.word()));
        let with = if matches!(rule, Rule::Bbr | Rule::Bbr3) { ", with `extends = \"linux\"`" } else { "" };
        let words = of_settings("`tcp.congestion_control`", rule.word()) + with;
        assert!(found[0].contains(&format!(" -> it is a word of {words}; known: tahoe, ")), "{found:?}");
    }
}
