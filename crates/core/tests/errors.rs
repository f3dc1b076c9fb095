//! Messages about invalid scenarios.

use chappe_core::wlan::rate::Algorithm;
use chappe_scenario::{Errors, Files, NoFiles, Scenario};
use serde_json::json;

fn read(text: &str) -> Result<Scenario, Errors> {
    Scenario::from_toml("my.toml", text, &[], &NoFiles)
}

/// Position, path, message and help of every problem.
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

/// The only problem of a scenario that runs for a second, otherwise as written.
fn problem(text: &str) -> String {
    let mut all = problems(&format!("run.stop = \"1 s\"\n{text}"));
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn an_unreachable_destination() {
    assert_eq!(
        problem("topology = { hops = 3, spacing = \"300 m\" }\nflow = [{ src = 0, dst = 3 }]"),
        "my.toml:3:26 node 3 cannot be reached from node 0 \
         -> frames are decoded up to 250 m, and neighbors are 300 m apart; move nodes closer or choose another destination"
    );
    assert_eq!(
        problem("routing = { protocol = \"fixed\" }\nflow = [{ src = 0, dst = 1 }]"),
        "my.toml:3:26 node 1 cannot be reached from node 0 -> `routing.fixed.routes` do not lead there"
    );
}

#[test]
fn mistake_is_shown_at_the_written_value() {
    // The flow of a chain is a default; the mistake is shown at the setting that separates it from its end.
    let apart = "node 7 cannot be reached from node 0 -> frames are decoded up to 250 m, and neighbors are 300 m apart; \
                 move nodes closer or choose another destination";
    assert_eq!(problem("topology.spacing = \"300 m\""), format!("my.toml:2:20 {apart}"));
    // So it is with rates of which one is a default, or that of a preset.
    let rates = "my.toml:3:18 `wlan.data_rate` is 54 Mbit/s, of 802.11a, and `wlan.basic_rate` has 1 Mbit/s, of 802.11b \
                 -> take all rates from one of them; `extends = \"802.11a\"` has the times and the other rates of 802.11a";
    for text in ["", "extends = \"standard\""] {
        let found = problems(&format!("{text}\nrun.stop = \"1 s\"\nwlan.data_rate = \"54 Mbit/s\""));
        assert_eq!(found, [rates]);
    }
    let found = problem("wlan.data_rate = \"54 Mbit/s\"\nwlan.basic_rate = \"2 Mbit/s\"");
    assert!(
        found.starts_with("my.toml:3:19 `wlan.data_rate` is 54 Mbit/s, of 802.11a, and `wlan.basic_rate` has 2 Mbit/s")
    );
    let link = problem("wlan.link_rate = [{ src = 0, dst = 1, rate = \"6 Mbit/s\" }]");
    assert!(
        link.starts_with("my.toml:2:46 `wlan.data_rate` is 2 Mbit/s, of 802.11b, and `wlan.link_rate.0.rate` has 6")
    );
}

#[test]
fn sparse_topology_error_names_a_sufficient_density() {
    for more in ["", "radio.range = \"200 m\"\n", "topology.seed = 7\n"] {
        let text = format!("{more}topology.kind = \"random\"\ntopology.nodes = 25\ntopology.width = \"3000 m\"\n");
        let said = problem(&text);
        let (_, help) = said.split_once(" some node could never reach another -> ").expect(&said);
        let words: Vec<&str> = help.split([' ', ',', ';']).collect();
        // The numbers are right: "it is connected with N nodes or on W m x H m".
        let at = |i: usize| words[i];
        assert_eq!((at(3), at(5), at(7), at(10)), ("with", "nodes", "on", "x"), "{help}");
        let run = "run.stop = \"1 s\"\ntraffic.flows = 1\n";
        read(&format!("{run}{}", text.replace("= 25", &format!("= {}", at(4)))))
            .unwrap_or_else(|e| panic!("{help}\n{e}"));
        let area = format!("topology.height = \"{} m\"\n", at(11));
        let smaller = text.replace("3000 m", &format!("{} m", at(8)));
        read(&format!("{run}{smaller}{area}")).unwrap_or_else(|e| panic!("{help}\n{e}"));
    }
}

/// Without positions there are no nodes, and links of nodes that are none.
#[test]
fn sparse_topology_error_does_not_need_the_nodes_of_links() {
    let text = "extends = \"ivynet\"\ntopology.kind = \"random\"\ntopology.nodes = 5\ntopology.width = \"1 km\"\n\
                wired_link = [{ src = 0, dst = 4 }]";
    let said = problem(text);
    assert!(said.contains(" some node could never reach another"), "{said}");
}

#[test]
fn similar_settings_of_other_groups_are_suggested() {
    for (text, said) in [
        ("stop = \"10 s\"", "`run.stop`?"),
        ("mobility.speed = \"3 m/s\"", "`mobility.min_speed` or `mobility.max_speed`?"),
        ("run.duration = \"10 s\"", "`run.stop`?"),
        ("variant = \"reno\"", "`tcp.variant`?"),
        ("tcp.varient = \"reno\"", "`variant`?"),
        ("radio.tx_power = \"3 dBm\"", "`radio.transmit_power`?"),
        ("tcp.segment_size = \"1460 B\"", "`tcp.mss`?"),
        ("window = 3", "did you mean `tcp.receive_window` or "),
        ("topology.motion = \"file\"", "`mobility.model`?"),
        ("cbr.packet_size = \"1 kB\"", "`cbr.payload` or `arp.packet_size`?"),
    ] {
        let found = problem(text);
        assert!(found.contains("did you mean ") && found.contains(said), "{found}");
    }
}

#[test]
fn gateways_that_cannot_be() {
    let announced = "topology.wired_nodes = 1\nwired_link = [{ src = 0, dst = 8 }]\nflow = [{ src = 1, dst = 8 }]\n\
                     routing.gateways = \"announced\"";
    let all =
        "choose a `routing.protocol` that does: aodv, babel, batman_adv, olsr, shortest_path; or use \"at_start\"";
    assert_eq!(
        problem(&format!("{announced}\nrouting.protocol = \"dsdv\"")),
        format!("my.toml:5:20 `dsdv` does not announce gateways -> {all}")
    );
    assert_eq!(
        problem(&format!("{announced}\nnode = [{{ nodes = 1, gateway = 2 }}]")),
        "my.toml:6:32 node 2 is no gateway: it has no wire -> gateways are node 0"
    );
    assert_eq!(
        problem(&format!("{announced}\nnode = [{{ nodes = 1, name = \"hall\", gateway = \"hall\" }}]")),
        "my.toml:6:47 node hall is no gateway: it has no wire -> gateways are node 0"
    );
    assert_eq!(
        problem(&format!("{announced}\nnode = [{{ nodes = 1, gateway = 8 }}]")),
        "my.toml:6:32 node 8 is no gateway: it has no radio -> gateways are node 0"
    );
    assert_eq!(
        problem("node = [{ nodes = 1, gateway = 0 }]\nflow = [{ dst = 1 }]"),
        "my.toml:2:32 `node.0.gateway` needs gateways that are announced -> set `routing.gateways = \"announced\"`, or \
         leave it out"
    );
    let islands = "topology = { kind = \"list\", positions = [[\"0 m\", \"0 m\"], [\"9 km\", \"0 m\"]] }\n\
                   wired_link = [{ src = 0, dst = 1 }]\nflow = [{ src = 0, dst = 1 }]\nrouting.gateways = \"announced\"";
    assert_eq!(
        problem(islands),
        "my.toml:4:26 node 1 is reached from node 0 over wires only, and gateways lead only to nodes without a radio -> \
         use `routing.gateways = \"at_start\"`"
    );
    assert_eq!(
        problem("event = [{ at = \"1 ms\", action = \"wired_link_down\", wired_link = 0 }]\nflow = [{ dst = 1 }]"),
        "my.toml:2:66 event 0: there is no wired link 0 -> no `wired_link` is listed"
    );
}

#[test]
fn unmodeled_parts_are_named() {
    let all = |text: &str| problem(text).split_once(" -> ").expect("help").1.to_owned();
    assert_eq!(
        all("routing.protocol = \"olsrv2\""),
        "OLSRv2 is not modeled: the nearest is `routing.protocol = \"olsr\"`, version 1; \
         known: aodv, babel, batman_adv, dsdv, dsr, olsr, shortest_path, fixed"
    );
    for (text, said) in [
        ("tcp.variant = \"htcp\"", "htcp is not modeled: the nearest is `tcp.variant = \"cubic\"`"),
        ("tcp.variant = \"TCP-BBRv2\"", "TCP-BBRv2 is not modeled: the nearest is `tcp.variant = \"vegas\"`"),
        (
            "routing.protocol = \"batman-v\"",
            "batman-v is not modeled: the nearest is `routing.protocol = \"batman_adv\"`",
        ),
        ("routing.protocol = \"batman\"", "it is called `batman_adv` here; known: aodv, "),
        ("queue.discipline = \"dualpi2\"", "dualpi2 is not modeled"),
        ("radio.sinr.fading = \"nakagami\"", "nakagami is not modeled"),
        ("mobility.model = \"gauss-markov\"", "gauss-markov is not modeled"),
        ("extends = \"802.11ax\"", "this PHY is not modeled: the nearest are `extends = \"802.11n\"`"),
        ("extends = \"802.11b\"", "the preset `standard` is 802.11b"),
        ("wlan.pcf = true", "pcf is not modeled"),
        ("radio.propagation = \"free_space\"", "it is called `friis` here; known: "),
    ] {
        let text = if text.starts_with("extends") {
            format!("{text}\nrun.stop = \"1 s\"")
        } else {
            format!("run.stop = \"1 s\"\n{text}")
        };
        let found = problems(&text).remove(0);
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn advice_on_parts_is_given_where_they_would_be() {
    for (text, said) in [
        ("tcp.nagle = \"fast\"", "expected one of: off, rfc9293, minshall"),
        ("wlan.access = \"fast\"", "expected one of: dcf, edca"),
        ("queue.discipline = \"fast\"", "expected one of: droptail, "),
        ("wlan.ap = true", "known settings: "),
        ("cbr.web = true", "known settings: "),
        ("requests.think_distribution = \"lognormal\"", "expected one of: fixed, exponential"),
        ("routing.protocol = \"static\"", "it is called `fixed` here; known: aodv, "),
        ("mobility.model = \"static\"", "it is called `still` here; known: still, "),
        ("mobility.static = true", "known settings: "),
        ("tcp.sack.rule = \"newreno_sack\"", "expected one of: rfc6675, sack1"),
        ("tcp.bbr2.gain = 2", "bbr2 is not modeled: the nearest is `tcp.variant = \"vegas\"`"),
        ("olsrv2.interval = \"2 s\"", "OLSRv2 is not modeled: "),
        ("flow = [{ dst = 1, app = \"http\" }]", "http is not modeled: the nearest are `on_off` "),
        ("arrival_process = [{ size.distribution = \"constant\" }]", "it is called `fixed` here; known: fixed, "),
        ("arrival_process = [{ size.distribution = \"poisson\" }]", "expected one of: fixed, "),
    ] {
        let found = problem(text);
        assert!(found.contains(&format!(" -> {said}")), "{text}: {found}");
    }
}

#[test]
fn a_list_is_expected_with_an_example() {
    for (text, example) in [
        ("run.record = \"cwnd\"", "[\"cwnd\"]"),
        ("run.record = true", "[\"frames\"]"),
        ("wlan.response_rates = \"1 Mbit/s\"", "[\"1 Mbit/s\"]"),
        ("wlan.rate_control = { algorithm = \"arf\", rates = 11 }", "[\"2 Mbit/s\"]"),
        ("radio.channels = 6", "[6]"),
        ("topology = { kind = \"list\", positions = \"200 m\" }", "[[\"200 m\", \"0 m\"]]"),
        ("topology = { kind = \"grid\", omit = 3 }", "[[1, 3]]"),
        ("middlebox = [{ node = 1, flows = 2 }]", "[2], or \"all\""),
    ] {
        let found = problems(&format!("run.stop = \"1 s\"\n{text}"));
        assert!(found[0].ends_with(&format!("expected a list, such as {example}")), "{text}: {found:?}");
    }
}

#[test]
fn suggested_parts_exist() {
    use chappe_core::setting::absent;
    use chappe_scenario::schema;
    let names = schema::names();
    let is_group = |name: &str| names.iter().any(|n| n.starts_with(&format!("{name}.")));
    let known = |name: &str| names.iter().any(|n| n == name) || is_group(name);
    for name in absent::settings() {
        assert!(known(name), "{name}");
    }
    let parts = || schema::SHELVES.iter().flat_map(|s| s.parts).map(|p| p.0);
    for word in absent::words() {
        assert!(!parts().chain(Algorithm::WORDS.iter().map(|w| w.0)).any(|p| p == word), "{word} is modeled");
        let said = absent::absent(word, &["run"]).expect("it is told");
        for quoted in said.split('`').skip(1).step_by(2) {
            let (name, value) = quoted.split_once(" = ").unwrap_or((quoted, ""));
            let value = value.trim_matches('"');
            let alone = name.starts_with('"');
            assert!(alone || name == "extends" || known(name), "{word}: {quoted}");
            let is_part =
                |v: &str| parts().chain(Algorithm::WORDS.iter().map(|w| w.0)).any(|p| p == v) || v == "rayleigh";
            assert!(value.is_empty() || is_part(value), "{word}: {quoted}");
        }
    }
    // Parts that docs/index.md lists as not modeled and that a scenario could name.
    let page = include_str!("../../../docs/index.md");
    for name in ["OLSRv2", "DualPI2"] {
        assert!(
            page.contains(name) && absent::absent(name, &["run"]).is_some_and(|s| s.contains("is not modeled")),
            "{name}"
        );
    }
}

#[test]
fn unreachable_destination_with_cumulative_interference() {
    // 12 dB over 10 m, of which 9 in 10 long frames at 11 Mbit/s need 6.9: the rest is a factor of 1.7.
    let radio = |more: &str| {
        format!(
            "topology = {{ hops = 2, spacing = \"20 m\" }}\nwlan.data_rate = \"11 Mbit/s\"\nflow = [{{ src = 0, dst = 2 }}]\n\
             [radio]\nreception = \"sinr\"\npropagation = \"log_distance\"\ntransmit_power = \"0 dBm\"\n\
             log_distance = {{ exponent = 2.2, distance = \"10 m\", loss = \"81.6 dB\" }}\n{more}"
        )
    };
    let said = "frames at 11 Mbit/s are decoded up to 17 m, and neighbors are 20 m apart; \
                set `wlan.data_rate = \"5.5 Mbit/s\"`, or let stations choose rates, e.g. \
                `wlan.rate_control.algorithm = \"aarf\"`, or move nodes closer";
    let wrong = "my.toml:4:26 node 2 cannot be reached from node 0 at 11 Mbit/s; \
                 the best link of node 2 carries 5.5 Mbit/s ->";
    assert_eq!(problem(&radio("")), format!("{wrong} {said}"));
    assert_eq!(problem(&radio("shadowing = \"1 dB\"")), format!("{wrong} without shadowing {said}"));
}

#[test]
fn a_rate_that_links_do_not_carry_is_named() {
    // The noise is -94 dBm in 20 MHz; by the bound of NIST a tenth of the MPDUs is lost at 9.9 dB with MCS 2, 16.6 with
    // MCS 4, 21.4 with MCS 5 and 23.8 with MCS 7.
    let links = |rows: &str, more: &str| {
        format!(
            "extends = \"802.11n\"\ntopology.hops = 2\nrouting.protocol = \"shortest_path\"\n\
             flow = [{{ src = 0, dst = 2 }}]\nradio.propagation = \"links\"\n{more}\n\
             radio.links_table = \"src,dst,signal_dbm\\n{rows}\""
        )
    };
    let both = |a: u32, b: u32, dbm: i32| format!("{a},{b},{dbm}\\n{b},{a},{dbm}\\n");
    let to_choose = "or let stations choose rates, e.g. `wlan.rate_control.algorithm = \"aarf\"`";
    let weak_end = both(0, 1, -60) + &both(1, 2, -72);
    assert_eq!(
        problem(&links(&weak_end, "")),
        format!(
            "my.toml:5:26 node 2 cannot be reached from node 0 at MCS 7 (65 Mbit/s); the best link of node 2 carries MCS 5 \
             (52 Mbit/s) -> set `wlan.ppdu.mcs = 5`, {to_choose}"
        )
    );
    let weak_start = both(0, 1, -83) + &both(1, 2, -60);
    let said = problem(&links(&weak_start, ""));
    assert!(said.contains("the best link of node 0 carries MCS 2 (19.5 Mbit/s) -> set `wlan.ppdu.mcs = 2`"), "{said}");
    // Whatever the path, the way out that is named is one.
    for rows in [&weak_end, &weak_start] {
        for way_out in ["wlan.ppdu.mcs = 2", "wlan.rate_control.algorithm = \"aarf\""] {
            read(&format!("run.stop = \"1 s\"\n{}", links(rows, way_out))).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    // A row that is missing elsewhere is not the reason; where it is, or both are, the message says so.
    let one_way = "1,0,-60\\n";
    let said = problem(&links(&(weak_end.clone() + "2,0,-90\\n"), ""));
    assert!(said.contains("carries MCS 5") && !said.contains("symmetric"), "{said}");
    let said = problem(&links(&(one_way.to_owned() + &both(1, 2, -60)), ""));
    assert!(said.contains("cannot be reached from node 0 -> 1 link has no row back"), "{said}");
    let said = problem(&links(&(one_way.to_owned() + &both(1, 2, -72)), ""));
    assert!(
        said.contains("1 link has no row back") && said.ends_with(&format!("and set `wlan.ppdu.mcs = 5`, {to_choose}"))
    );
    // Rates that are named may all be too fast. 24 Mbit/s, which ACKs have, need 13.5 dB, and 36 Mbit/s 16.6.
    let said = problem(
        &links(
            &(both(0, 1, -79) + &both(1, 2, -60)),
            "wlan.rate_control = { algorithm = \"arf\", rates = [\"48 Mbit/s\", \"54 Mbit/s\"] }",
        )
        .replace("802.11n", "802.11a")
        .replace("radio.propagation", "radio.reception = \"sinr\"\nradio.propagation"),
    );
    assert!(said.contains("at 48 Mbit/s; the best link of node 0 carries 24 Mbit/s"), "{said}");
    assert!(said.ends_with("add \"24 Mbit/s\" to `wlan.rate_control.rates`"), "{said}");
    // Rates of single links or nodes are named by where they are set; signals that carry nothing by what is needed.
    for (more, own) in [
        ("wlan.link_rate = [{ src = 1, dst = 2, mcs = 7 }]", "`wlan.link_rate`"),
        ("node = [{ nodes = 2, wlan.ppdu.mcs = 6 }]", "`node`"),
    ] {
        let said = problem(&links(&weak_end, more));
        let carried = "cannot be reached from node 0; the best link of node 2 carries MCS 5 (52 Mbit/s)";
        assert!(said.ends_with(&format!("{carried} -> lower the rates in {own}, {to_choose}")), "{said}");
    }
    let weakest = both(0, 1, -60) + &both(1, 2, -95);
    let said = problem(&links(&weakest, "wlan.rate_control.algorithm = \"minstrel_ht\""));
    assert!(said.contains("cannot be reached from node 0 -> no links in `radio.links_table` lead there"), "{said}");
    assert!(said.contains("strongest signal at node 2 is -95.0 dBm, and MCS 0 (6.5 Mbit/s) needs -90.0 dBm"), "{said}");
    // The way back of TCP needs a rate, too.
    let said = problem(&links("0,1,-60\\n1,0,-72\\n", "").replace("dst = 2", "dst = 1"));
    assert!(said.contains("acknowledgements cannot return from node 1 to node 0 at MCS 7 (65 Mbit/s)"), "{said}");
    assert!(said.contains("set `wlan.ppdu.mcs = 5`"), "{said}");
}

#[test]
fn ideal_rate_control_without_a_ratio_to_the_noise() {
    assert_eq!(
        problem("wlan.rate_control.algorithm = \"ideal\""),
        "my.toml:2:31 ideal rate control needs the signal-to-noise ratio of SINR reception \
         -> add `radio.reception = \"sinr\"`"
    );
}

#[test]
fn rate_control_of_other_frames() {
    assert_eq!(
        problem("wlan.rate_control.algorithm = \"minstrel_ht\""),
        "my.toml:2:31 Minstrel-HT chooses from the MCS of 802.11n and 802.11ac, and `wlan.ppdu.format` is `non_ht` -> \
         extend `802.11n` or `802.11ac`, or choose `minstrel`"
    );
    assert_eq!(
        problem("extends = \"802.11n\"\ntopology.spacing = \"20 m\"\nwlan.rate_control.algorithm = \"minstrel\""),
        "my.toml:4:31 it plans the attempts at single frames, not at aggregates -> \
         choose `fixed`, `arf`, `aarf`, `ideal`, `minstrel_ht` or `minstrel_ht_ns3`"
    );
    assert_eq!(
        problem("extends = \"802.11g\"\nwlan = { protection = \"11 Mbit/s\", rts_threshold = \"always\" }"),
        "my.toml:3:23 the CTS-to-self replaces RTS and CTS, which `wlan.rts_threshold` requires -> \
         set `wlan.rts_threshold` to \"never\" or `wlan.protection` to \"none\""
    );
}

#[test]
fn invalid_rates_to_choose_from() {
    let arf = "wlan.rate_control.algorithm = \"arf\"\nwlan.rate_control.rates";
    assert_eq!(
        problem(&format!("{arf} = [\"2 Mbit/s\", \"6 Mbit/s\"]")),
        "my.toml:3:27 `wlan.data_rate` is 2 Mbit/s, of 802.11b, and `wlan.rate_control.rates` has 6 Mbit/s, of 802.11a -> \
         take all rates from one of them; `extends = \"802.11a\"` has the times and the other rates of 802.11a"
    );
    assert_eq!(
        problem(&format!("{arf} = [\"3 Mbit/s\"]")),
        "my.toml:3:28 3 Mbit/s is not a rate of 802.11a or 802.11b -> these are 1, 2, 5.5 and 11 Mbit/s, and 6, 9, 12, 18, \
         24, 36, 48 and 54 Mbit/s"
    );
    let many = vec!["\"1 Mbit/s\""; 33].join(", ");
    assert_eq!(problem(&format!("{arf} = [{many}]")), "my.toml:3:27 33 rates to choose from -> name at most 32");
}

#[test]
fn a_carrier_sense_range_below_the_reception_range() {
    let said = "the carrier-sense range of 200 m is below the reception range of 250 m \
                -> a station must sense every frame that it can decode; raise `radio.sense_range` or lower `radio.range`";
    assert_eq!(problem("radio.sense_range = \"200 m\""), format!("my.toml:2:21 {said}"));
    let range = "radio = { propagation = \"range\", sense_range = \"200 m\" }";
    assert_eq!(problem(range), format!("my.toml:2:48 {said}"));
}

#[test]
fn links_need_a_table_thresholds_and_nodes_that_stay() {
    let links = |more: &str| {
        format!(
            "topology.hops = 1\nradio.propagation = \"links\"\n\
             radio.links_table = \"src,dst,loss_db\\n0,1,60\\n1,0,60\\n\"\n{more}"
        )
    };
    let sinr = |more: &str| links(&format!("radio.reception = \"sinr\"\n{more}"));
    assert_eq!(
        problem("radio = { propagation = \"links\", reception = \"sinr\" }"),
        "there is no table of links \
         -> set `radio.links_file` to a CSV file with the columns src, dst, and signal_dbm, loss_db or frame_loss"
    );
    assert_eq!(
        problem("radio = { propagation = \"links\", reception = \"sinr\", links_file = \"links.csv\" }"),
        "my.toml:2:67 cannot read `links.csv`: there is no preset `links.csv`"
    );
    assert_eq!(
        problem(&sinr("").replace("1,0,60", "1,2,60")),
        "my.toml:4:21 in `radio.links_table` line 3 names node 2, and nodes are numbered from 0 to 1"
    );
    assert_eq!(
        problem(&sinr("").replace("1,0,60", "1,0")),
        "my.toml:4:21 `radio.links_table` cannot be \"src,dst,loss_db\\u{a}0,1,60\\u{a}1,0\\u{a}\" \
         -> line 3 has 2 fields, and the header names 3"
    );
    let stay = "-> keep all nodes static, or choose another `radio.propagation`";
    for moving in [
        "mobility = { model = \"random_waypoint\", width = \"1 km\", height = \"1 km\" }",
        "event = [{ at = \"1 s\", action = \"node_move\", node = 1, position = [\"0 m\", \"0 m\"] }]",
    ] {
        assert_eq!(
            problem(&sinr(moving)),
            format!("my.toml:3:21 measured links are valid for static nodes only, and a node moves {stay}")
        );
    }
    let s = read(&format!("run.stop = \"1 s\"\n{}", sinr(""))).expect("it can be run");
    let event = serde_json::json!({ "action": "node_move", "node": 1, "position": ["0 m", "0 m"] });
    let refused = s.commands(&event).expect_err("nodes stay").problems.remove(0);
    assert!(refused.message.contains("a node moves"), "{refused:?}");
    let both = "radio.receive_threshold = \"-60 dBm\"\nradio.sense_threshold = ";
    assert_eq!(
        problem(&links("radio.receive_threshold = \"-60 dBm\"")),
        "`radio.sense_threshold` is \"sense_range\", and links have no range \
         -> a measured signal is compared with a power: set it, e.g. to \"-64 dBm\""
    );
    assert_eq!(
        problem(&links(&format!("{both}\"-50 dBm\""))),
        "my.toml:6:25 a signal that can be decoded is not even sensed \
         -> `radio.sense_threshold` must be at most `radio.receive_threshold`"
    );
    assert_eq!(
        problem(&links(&format!(
            "{both}\"-70 dBm\"\nradio.sensitivity = [{{ rate = \"2 Mbit/s\", range = \"50 m\" }}]"
        ))),
        "my.toml:7:22 links have no range -> set `receive_threshold` instead of `range`"
    );
    assert_eq!(
        problem(&links(&format!("{both}\"-70 dBm\"\nradio.transmit_power = \"-10 dBm\""))),
        "node 1 cannot be reached from node 0 \
         -> no links in `radio.links_table` lead there over which data frames can be decoded at their rate, and ACKs come back"
    );
    assert_eq!(
        problem(&sinr("[[node]]\nnodes = 1\nradio.links_file = \"own.csv\"")),
        "my.toml:8:20 `radio.links_file` is the same for all nodes, because links name their nodes themselves \
         -> set `radio.links_file` for all of them"
    );
}

#[test]
fn losses_without_fading_cause_a_warning() {
    let text = |more: &str| {
        format!(
            "run.stop = \"1 s\"\ntopology.hops = 1\nflow = [{{ dst = 1 }}]\n[radio]\npropagation = \"links\"\n\
             reception = \"sinr\"\n{more}\nlinks_symmetric = true\n"
        )
    };
    let codes = |more: &str| {
        let s = read(&text(more)).expect("it can be run");
        s.warnings.iter().filter_map(|p| p.code.map(|c| c.word())).collect::<Vec<_>>()
    };
    let losses = "links_table = \"src,dst,frame_loss\\n0,1,0.2\\n\"";
    assert_eq!(codes(losses), ["losses_without_fading"]);
    assert_eq!(codes(&format!("{losses}\nsinr.fading = \"rayleigh\"")), [""; 0]);
    assert_eq!(codes("links_table = \"src,dst,signal_dbm,frame_loss\\n0,1,-70,0.2\\n\""), [""; 0]);
}

#[test]
fn one_way_links_of_a_table_cause_a_warning() {
    let text = |rows: &str, more: &str| {
        format!(
            "topology.hops = 2\nradio.propagation = \"links\"\nradio.reception = \"sinr\"\nflow = [{{ dst = 1 }}]\n\
             radio.links_table = \"src,dst,loss_db\\n{rows}\"\n{more}"
        )
    };
    let said = |rows: &str, more: &str| {
        let s = read(&format!("run.stop = \"1 s\"\n{}", text(rows, more))).expect("it can be run");
        let line = |p: &chappe_core::setting::Problem| {
            (p.path.clone(), format!("{} -> {}", p.message, p.help.as_deref().unwrap_or_default()))
        };
        s.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let warned = |message: String| [("radio.links_table".to_owned(), message)];
    let add = "-> add their rows, or set `radio.links_symmetric = true` if they are the same in both directions";
    let (there, back) = ("0,1,60\\n1,0,60\\n", "2,1,60\\n");
    let one = said(&format!("{there}1,2,60\\n"), "");
    assert_eq!(one, warned(format!("1 link has no row back: no ACK can return over it {add}")));
    let two = said(&format!("{there}1,2,60\\n0,2,70\\n"), "");
    assert_eq!(two, warned(format!("2 links have no row back: no ACK can return over them {add}")));
    assert_eq!(said(&format!("{there}1,2,60\\n{back}"), ""), []);
    assert_eq!(said("0,1,60\\n1,2,60\\n", "radio.links_symmetric = true"), []);
    // A way that goes one way only is none.
    let p = problem(&text("0,1,60\\n1,2,60\\n", ""));
    assert!(
        p.ends_with(
            "node 1 cannot be reached from node 0 -> 2 links have no row back: no ACK can return over them; \
             if they are the same in both directions, set `radio.links_symmetric = true`"
        ),
        "{p}"
    );
}

#[test]
fn receivers_that_cannot_do_as_told_cause_warnings() {
    let said = |more: &str| {
        let s = read(&format!("run.stop = \"1 s\"\ntopology.hops = 1\n{more}")).expect("it can be run");
        let line = |p: &chappe_core::setting::Problem| {
            let code = p.code.expect("a warning").word();
            format!("{code} {} {} -> {}", p.path, p.message, p.help.as_deref().unwrap_or_default())
        };
        s.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let buffer = |more: &str| format!("tcp.receive_window = 100\ntcp.receive_buffer = {{ enabled = true{more} }}");
    assert_eq!(
        said(&buffer(", segment_memory = \"1000 B\"")),
        ["small_memory tcp.receive_buffer.segment_memory a segment of 1460 B has only 1000 B of buffer memory: it \
             counts as 1460 B -> set `tcp.receive_buffer.segment_memory` to more than `tcp.mss`: it is the memory of the \
             payload and of the bookkeeping"]
    );
    assert_eq!(said(&buffer(", segment_memory = \"1460 B\"")), [""; 0]);
    // Without the buffer of memory the setting has no effect, which another warning says.
    assert!(said("tcp.receive_buffer.segment_memory = \"1 kB\"")[0].starts_with("unused_setting"));
    let reader = |size: &str| format!("tcp.reader = {{ rate = \"1 Mbit/s\", read_size = \"{size}\" }}");
    let window = |size: &str| format!("tcp.receive_window = 10\n{}", reader(size));
    let large = |read: &str, most: &str, path: &str, limit: &str| {
        format!(
            "large_reads {path} a read of {read} is larger than the receive window, at most {most}: the application reads \
             below 1 Mbit/s -> set `tcp.reader.read_size` to at most {most}, or raise `tcp.{limit}`"
        )
    };
    assert_eq!(said(&window("14601 B")), [large("14601 B", "14600 B", "tcp.reader.read_size", "receive_window")]);
    assert_eq!(said(&window("14600 B")), [""; 0]);
    // A buffer of twice its payload.
    let of_memory = |size: &str| {
        format!(
            "{}\n{}",
            buffer(", initial = \"29200 B\", max = \"2304 B\", segment_memory = \"2920 B\""),
            reader(size)
        )
    };
    assert_eq!(
        said(&of_memory("14601 B")),
        [large("14601 B", "14600 B", "tcp.reader.read_size", "receive_buffer.max")]
    );
    assert_eq!(said(&of_memory("14600 B")), [""; 0]);
    // At the flow that has the setting, and once for flows that share it.
    let flows = "flow = [{ dst = 1 }, { dst = 1 }, { dst = 1, tcp.reader.read_size = \"20 kB\" }]";
    assert_eq!(
        said(&format!("{}\n{flows}", window("15 kB"))),
        [
            large("15000 B", "14600 B", "tcp.reader.read_size", "receive_window"),
            large("20000 B", "14600 B", "flow.2.tcp.reader.read_size", "receive_window")
        ]
    );
}

#[test]
fn asymmetric_radio_causes_a_warning_under_affected_protocols() {
    let said = |more: &str| {
        let s = read(&format!(
            "run.stop = \"1 s\"\ntopology = {{ hops = 2, spacing = \"1100 m\" }}\n\
             radio = {{ propagation = \"friis\", reception = \"sinr\", shadowing = \"0 dB\", transmit_power = \"5 dBm\", \
             frequency = \"914 MHz\" }}\n{more}"
        ))
        .expect("it can be run");
        let heard = s.warnings.iter().filter(|p| p.message.contains(" hears "));
        heard.map(|p| format!("{}: {}", p.path, p.message)).collect::<Vec<_>>()
    };
    let louder = "node = [{ nodes = 0, radio.transmit_power = \"30 dBm\" }]";
    let fall = "takes such links for routes, and no ACK comes back over them";
    let aodv = format!(
        "routing.aodv.blacklist_timeout: node 2 hears node 0, which does not hear node 2: AODV without a blacklist {fall}"
    );
    assert_eq!(said(&format!("{louder}\nrouting.aodv.blacklist_timeout = \"none\"")), [aodv]);
    let dsdv = format!("routing.protocol: node 2 hears node 0, which does not hear node 2: DSDV {fall}");
    assert_eq!(said(&format!("{louder}\nrouting.protocol = \"dsdv\"")), [dsdv]);
    for fine in [
        louder.to_owned(),
        "routing.protocol = \"dsdv\"".to_owned(),
        format!("{louder}\nrouting.protocol = \"dsr\""),
        "node = [{ nodes = \"0-2\", radio.transmit_power = \"30 dBm\" }]\nrouting.protocol = \"dsdv\"".to_owned(),
    ] {
        assert_eq!(said(&fine), Vec::<String>::new(), "{fine}");
    }
}

#[test]
fn settings_without_effect_cause_one_warning_per_reason() {
    let said = |text: &str| {
        let s = read(&format!("run.stop = \"1 s\"\n{text}")).expect("it can be run");
        let line = |p: &chappe_core::setting::Problem| (p.path.clone(), p.message.clone());
        s.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let one = |text: &str| match said(text).as_slice() {
        [(path, message)] => format!("{path}: {message}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        one("extends = \"ns2-2.35\"\nradio.range = \"100 m\""),
        "radio.range: `radio.range` has no effect, because `radio.receive_threshold` is set, \
         `radio.propagation` is `links`, or `radio.reception` is `sinr`"
    );
    assert_eq!(
        one("radio.transmit_power = \"100 mW\""),
        "radio.transmit_power: `radio.transmit_power` has no effect, because `radio.range` and `radio.sense_range` set \
         the range, or `radio.links_table` sets the received power"
    );
    assert_eq!(
        one("tcp.vegas = { alpha = 1, beta = 1, gamma = 1, growth = \"always\" }"),
        "tcp.vegas.alpha: `tcp.vegas.alpha`, `tcp.vegas.beta`, `tcp.vegas.gamma` and 1 more have no effect, because \
         the congestion control is not `vegas`"
    );
    let nagle = "tcp.nagle = \"minshall\"";
    assert_eq!(one(nagle), "tcp.nagle: `tcp.nagle` has no effect, because no flow sends a short segment");
    assert_eq!(said(&format!("{nagle}\nbulk.write_size = \"100 B\"")), []);
    assert_eq!(said("extends = \"linux\""), []);
    assert_eq!(
        one("tcp.variant = \"newreno\"\ntcp.sack_block_size = \"12 B\""),
        "tcp.sack_block_size: `tcp.sack_block_size` has no effect, because the receiver sends no SACK blocks"
    );
    for (recovery, setting, why) in [
        ("rack_tlp", "limited_transmit", "the loss recovery is `rack_tlp` or `vegas`"),
        ("vegas", "limited_transmit", "the loss recovery is `rack_tlp` or `vegas`"),
        ("rack_tlp", "max_burst", "the loss recovery is `rack_tlp`"),
        ("rack_tlp", "growth_per", "the loss recovery is `rack_tlp`"),
        ("rack_tlp", "ssthresh_base", "the loss recovery is `rack_tlp`"),
        ("rack_tlp", "loss_window", "the loss recovery is `rack_tlp`, and ELFN does not reset the window"),
    ] {
        let value = match setting {
            "limited_transmit" => "false",
            "growth_per" => "\"segment\"",
            "ssthresh_base" => "\"window\"",
            _ => "2",
        };
        let rule = if recovery == "vegas" { "vegas" } else { "reno" };
        let pair = |recovery: &str, rule: &str| {
            format!("tcp = {{ loss_recovery = \"{recovery}\", congestion_control = \"{rule}\", {setting} = {value} }}")
        };
        let message = format!("tcp.{setting}: `tcp.{setting}` has no effect, because {why}");
        assert_eq!(one(&pair(recovery, rule)), message);
        assert_eq!(said(&pair("newreno", "reno")), []);
    }
    let resets = "routing.protocol = \"aodv\"\ntcp.elfn = { enabled = true, cwnd = \"reset\" }";
    assert_eq!(said(&format!("extends = \"linux\"\n{resets}\ntcp.loss_window = 2")), []);
    let marks = "queue = { discipline = \"red\", ecn = true }\ntcp.ecn = { enabled = true, beta = 0.8 }";
    assert_eq!(said(marks), []);
    assert_eq!(
        one(&format!("extends = \"linux\"\n{marks}")),
        "tcp.ecn.beta: `tcp.ecn.beta` has no effect, because the loss recovery is `rack_tlp`"
    );
    // One flow of several uses it; one has its own; one has it for nothing.
    let flows = "tcp.vegas.alpha = 1\nflow = [{ dst = 1 }, { dst = 2, tcp = { variant = \"vegas\"";
    assert_eq!(said(&format!("{flows} }} }}]")), []);
    assert_eq!(
        one(&format!("{flows}, vegas = {{ alpha = 1 }} }} }}]")),
        "tcp.vegas.alpha: `tcp.vegas.alpha` has no effect, because the congestion control is not `vegas`"
    );
    assert_eq!(
        one("flow = [{ dst = 1, tcp.vegas.alpha = 2 }, { dst = 2, app = \"cbr\" }]"),
        "flow.0.tcp.vegas.alpha: `flow.0.tcp.vegas.alpha` has no effect, because the congestion control is not `vegas`"
    );
    let bursts = "flow = [{ dst = 1, app = \"on_off\"";
    assert_eq!(
        one(&format!("on_off.header_size = \"20 B\"\n{bursts} }}]")),
        "on_off.header_size: `on_off.header_size` has no effect, because the messages go over TCP"
    );
    assert_eq!(
        one(&format!("{bursts}, on_off.transport = \"udp\", tcp.receive_window = 9 }}, {{ dst = 1 }}]")),
        "flow.0.tcp.receive_window: `flow.0.tcp.receive_window` has no effect, because the flow is not over TCP"
    );
    assert_eq!(
        one(&format!("routing.protocol = \"dsr\"\ntcp.mss = \"1 kB\"\n{bursts}, on_off.breaks_links = false }}]")),
        "flow.0.on_off.breaks_links: `flow.0.on_off.breaks_links` has no effect, because `routing.protocol` is not `aodv`"
    );
    // Values of presets are meant for many scenarios; values that are all written out were not chosen.
    let ns2 = read("extends = \"ns2-2.35\"\nrun.stop = \"1 s\"").expect("a scenario");
    assert_eq!(ns2.warnings, []);
    let whole = Scenario::from_toml("my.toml", &ns2.effective_toml(), &[], &NoFiles).expect("the same");
    assert_eq!((whole.warnings.as_slice(), whole.unused.as_slice()), (&[][..], &[][..]));
    let few = "`tcp.few.alpha` has no effect, because the congestion control is not `few`";
    let changed = whole.with(&json!({ "tcp.few.alpha": 1 }), &NoFiles).expect("a scenario");
    assert_eq!(changed.warnings.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [few]);
    // As much is known of it when it comes from elsewhere.
    let again = Scenario::from_json(&ns2.written(), &json!({}), &NoFiles).expect("the same");
    assert_eq!((again.unused.len(), again.effective()), (0, ns2.effective()));
    let changed = again.with(&json!({ "tcp.few.alpha": 1 }), &NoFiles).expect("a scenario");
    assert_eq!(changed.unused, [("tcp.few.alpha".to_owned(), "the congestion control is not `few`")]);
}

#[test]
fn scenario_is_warned_of_its_own_settings_only() {
    let shelf = Shelf(&[("base.toml", "run.stop = \"1 s\"\ntcp.vegas = { alpha = 2, beta = 2 }")]);
    let said = |s: &Scenario| s.unused.iter().map(|u| u.0.clone()).collect::<Vec<_>>();
    let read = |text: &str, sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        Scenario::from_toml("my.toml", text, &sets, &shelf).expect("a scenario")
    };
    // A file that is extended is meant for many scenarios.
    assert_eq!(said(&read("extends = \"base.toml\"", &[])), [""; 0]);
    assert_eq!(said(&read("extends = \"base.toml\"\ntcp.vegas.beta = 3", &[])), ["tcp.vegas.beta"]);
    let own = "run.stop = \"1 s\"\ntcp.variant = \"vegas\"\ntcp.vegas.alpha = 2\ntcp.few.alpha = 1";
    let vegas = read(own, &[]);
    assert_eq!(said(&vegas), ["tcp.few.alpha"]);
    // Settings that changes leave unused had an effect before; new ones and others did not.
    let changes = json!({ "tcp.variant": "reno", "tcp": { "vegas.beta": 3 }, "tcp.receive_window": 9 });
    let reno = vegas.with(&changes, &shelf).expect("a scenario");
    assert_eq!(said(&reno), ["tcp.vegas.beta", "tcp.few.alpha"]);
    assert_eq!(reno.warnings.len(), 2, "{:?}", reno.warnings);
    let sets = [("tcp.variant", "reno"), ("tcp.vegas.beta", "3"), ("tcp.receive_window", "9")];
    assert_eq!(said(&read(own, &sets)), said(&reno));
    let dict = json!({ "run.stop": "1 s", "tcp": { "variant": "vegas", "vegas.alpha": 2, "few.alpha": 1 } });
    let both = Scenario::from_json(&dict, &changes, &shelf).expect("a scenario");
    assert_eq!((said(&both), both.effective()), (said(&reno), reno.effective()));
    // Nor is more or less known of it when it comes from elsewhere.
    for s in [vegas, reno.clone()] {
        let again = Scenario::from_json(&s.written(), &json!({}), &NoFiles).expect("the same");
        assert_eq!((&again.unused, again.effective()), (&s.unused, s.effective()));
    }
    assert_eq!(said(&reno.with(&json!({ "tcp.variant": "few" }), &shelf).expect("a scenario")), ["tcp.vegas.beta"]);
    // A scenario that is invalid without its changes has no settings with an effect before them.
    let broken = read("tcp.vegas.alpha = 2", &[("run.stop", "1 s")]);
    assert_eq!(said(&broken), ["tcp.vegas.alpha"]);
}

/// The only problem of a scenario with three wired nodes and the given links.
fn wired_problem(links: &str) -> String {
    problem(&format!("topology.kind = \"none\"\ntopology.wired_nodes = 3\nwired_link = [{links}]"))
}

#[test]
fn invalid_links() {
    assert_eq!(
        wired_problem("{ src = 0, dst = 3 }"),
        "my.toml:4:32 there is no node 3 -> nodes are numbered from 0 to 2"
    );
    assert_eq!(wired_problem("{ src = 1 }"), "my.toml:4:15 link 0 has no end -> set `wired_link.0.dst` to a node");
    assert_eq!(
        wired_problem("{ src = 1, dst = 1 }"),
        "my.toml:4:32 link 0 joins node 1 to itself -> choose another node"
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1 }, { src = 1, dst = 2 }, { src = 1, dst = 0, duplex = false }"),
        "my.toml:4:59 link 2 goes from node 1 to node 0, as link 0 does \
         -> two nodes are joined by at most one link in each direction"
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, duplex = false, back = { delay = \"1 s\" } }"),
        "my.toml:4:58 link 0 goes one way, and `wired_link.0.back` is set \
         -> set `wired_link.0.duplex = true`, or leave `back` out"
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, rate = \"2 MBit/s\" }"),
        "my.toml:4:42 `wired_link.0.rate` cannot be \"2 MBit/s\" \
         -> did you mean \"2 Mbit/s\"? expected a bit rate such as \"2 Mbit/s\" or \"64 kbit/s\", or \"inherit\""
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, delay = \"2 h\" }"),
        "my.toml:4:43 `wired_link.0.delay` is 7200 s -> it must be at most 3600 s, or \"inherit\""
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, back = { queue = { limit = 0 } } }"),
        "my.toml:4:62 `wired_link.0.back.queue.limit` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, back = { dealy = \"1 s\" } }"),
        "my.toml:4:44 `wired_link.0.back` has no setting `dealy` -> did you mean `delay`?"
    );
    assert_eq!(
        problem("topology.kind = \"none\"\ntopology.wired_nodes = 1"),
        "my.toml:3:24 no node has a radio, and there is 1 node without one -> a network has at least two nodes"
    );
}

#[test]
fn invalid_error_models() {
    assert_eq!(
        wired_problem("{ dst = 1, error = { model = \"uniform\", rate = 1.5 } }"),
        "my.toml:4:62 `wired_link.0.error.rate` is 1.5 -> it must be from 0 to 1"
    );
    assert_eq!(
        wired_problem("{ dst = 1, error = { model = \"unifrm\" } }"),
        "my.toml:4:44 `wired_link.0.error.model` cannot be \"unifrm\" \
         -> did you mean `uniform`? known: none, uniform, gilbert_elliott"
    );
    assert_eq!(
        problem("wlan.error = { model = \"gilbert_elliott\", gilbert_elliott = { good_to_bad = 0, bad_to_good = 0 } }"),
        "my.toml:2:77 the state never changes -> use the model `uniform`, or let it change"
    );
    assert_eq!(
        problem("wlan.error = { model = \"uniform\", rate = 0.1, unit = \"gso_packet\" }"),
        "my.toml:2:54 frames have left the node of the sender one by one, and are lost one by one \
         -> use `packet`, or `wired.error` for a wire"
    );
}

#[test]
fn missing_paths_over_links() {
    assert_eq!(
        wired_problem("{ src = 0, dst = 1 }]\nflow = [{ dst = 2 }"),
        "my.toml:5:17 node 2 has no radio, and no link leads there -> list its links as `wired_link`, or choose another node"
    );
    assert_eq!(
        wired_problem("{ src = 0, dst = 1, duplex = false }, { src = 1, dst = 2 }]\nflow = [{ dst = 2 }"),
        "my.toml:5:17 acknowledgements cannot return from node 2 to node 0 \
         -> a link on the path works in one direction only; TCP needs both directions"
    );
    let routes = "routes = [{ node = 0, dst = 1, next_hop = 1 }, { node = 2, dst = 1, next_hop = 1 }]";
    assert_eq!(
        problem(&format!(
            "topology.kind = \"none\"\ntopology.wired_nodes = 3\nwired_link = [{{ dst = 1 }}]\nflow = [{{ dst = 1 }}]\n\
             routing = {{ protocol = \"fixed\", fixed = {{ {routes} }} }}"
        )),
        "my.toml:6:90 route 1 goes from node 2 to 1, which is no neighbor"
    );
    let routes = "routing = { protocol = \"fixed\", fixed = { routes = [{ node = 0, dst = 1, next_hop = 9 }] } }";
    assert_eq!(
        problems(&format!("run.stop = \"1 s\"\ntopology.hops = 1\n{routes}")),
        [
            "my.toml:3:53 route 0 goes from node 0 to 9, which is no neighbor",
            "node 1 cannot be reached from node 0 -> `routing.fixed.routes` do not lead there",
        ]
    );
    assert_eq!(
        problem("topology.kind = \"none\"\ntopology.wired_nodes = 2\ntraffic.flows = 1"),
        "my.toml:4:17 1 flow of this length cannot be found between different nodes, only 0 \
         -> ask for fewer flows or other numbers of hops, or set `traffic.distinct_ends = false`"
    );
}

#[test]
fn links_with_warnings() {
    let said = |text: &str| {
        let s = read(&format!("run.stop = \"1 s\"\n{text}")).expect("it can be run");
        s.warnings.iter().map(|p| p.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(said("topology.hops = 2\ntopology.wired_nodes = 1"), ["node 3 has no radio, and no link leads there"]);
    assert_eq!(
        said("wlan.error.rate = 0.1"),
        ["`wlan.error.rate` has no effect, because the error model is not `uniform`"]
    );
    // Of 33 hops 31 are over the radio, and AODV begins anew behind the wires.
    let far =
        "topology.hops = 31\ntopology.wired_nodes = 2\nwired_link = [{ src = 31, dst = 32 }, { src = 32, dst = 33 }]\n";
    assert_eq!(said(&format!("{far}extends = \"ns2-2.35\"\nflow = [{{ src = 1, dst = 33 }}]")), [""; 0]);
    assert_eq!(
        said(&format!("{far}extends = \"ns2-2.35\"\nflow = [{{ src = 0, dst = 33 }}]")),
        ["flow 0 needs 31 hops but packets live for 30: nothing will be delivered"]
    );
    // Requests of DSR go far, but packets live for the smaller of two limits.
    let dsr = "topology.hops = 70\nrouting.protocol = \"dsr\"\ntcp.mss = \"1 kB\"\n";
    let warning = |limit: &str| {
        let s = Scenario::from_toml("my.toml", &format!("run.stop = \"1 s\"\n{dsr}{limit}"), &[], &NoFiles);
        let s = s.expect("it can be run");
        s.warnings.iter().map(|p| format!("{} -> {}", p.message, p.help.as_deref().unwrap_or(""))).collect::<Vec<_>>()
    };
    let needs = "flow 0 needs 70 hops but packets live for";
    assert_eq!(warning(""), [format!("{needs} 64: nothing will be delivered -> set `net.ttl` to at least 70")]);
    assert_eq!(
        warning("net.ttl = 70\nrouting.dsr.discovery_hop_limit = 69"),
        [format!("{needs} 69: nothing will be delivered -> set `routing.dsr.discovery_hop_limit` to at least 70")]
    );
    assert_eq!(warning("net.ttl = 70"), [""; 0]);
    // 225/255 twice for each hop leave nothing of 255 after 16 hops.
    let batman = |hops: u32, more: &str| {
        said(&format!("topology.hops = {hops}\nrouting.protocol = \"batman_adv\"\nflow = [{{ dst = {hops} }}]\n{more}"))
    };
    assert_eq!(batman(16, ""), [""; 0]);
    assert_eq!(
        batman(17, ""),
        ["flow 0 needs 17 hops but qualities of routes fall to 0 after 16: nothing will be delivered"]
    );
    assert_eq!(batman(17, "routing.batman_adv.hop_penalty = 15"), [""; 0]);
    // Data of AODV, too, unless they take the TTL of its requests.
    let short = "topology.hops = 7\nnet.ttl = 3\n";
    assert_eq!(said(short), ["flow 0 needs 7 hops but packets live for 3: nothing will be delivered"]);
    assert_eq!(said(&format!("{short}routing.aodv.data_ttl = \"net_diameter\"")), [""; 0]);
}

#[test]
fn error_names_the_wrong_setting() {
    assert_eq!(problem("topology.hops = 0"), "my.toml:2:17 `topology.hops` is 0 -> it must be from 1 to 1000000000");
    assert_eq!(
        problem("topology.wired_nodes = 1000000000"),
        "my.toml:2:24 there are 1000000008 nodes, 1000000000 of them without a radio, and at most 20000 are allowed \
         -> if you need that many, raise `run.max_nodes`"
    );
    assert_eq!(
        problem("topology.wired_nodes = 1\nflow = [{ dst = 8 }]"),
        "my.toml:3:17 node 8 has no radio, and no link leads there -> list its links as `wired_link`, or choose another node"
    );
    assert_eq!(
        problem("topology.wired_nodes = 2\nwired_link = [{ src = 0, dst = 8 }]\nflow = [{ src = 9, dst = 8 }]"),
        "my.toml:4:17 node 9 has no radio, and no link leads there -> list its links as `wired_link`, or choose another node"
    );
    assert_eq!(
        problem("topology.wired_nodes = 2\nwired_link = [{ src = 8, dst = 9 }]\nflow = [{ src = 0, dst = 8 }]"),
        "my.toml:4:26 node 8 cannot be reached from node 0 \
         -> no links lead there; list more of them, or choose another destination"
    );
    let set = |text: &str, key: &str| {
        let overrides = [(key.to_owned(), "vegas".to_owned())];
        let errors = Scenario::from_toml("my.toml", text, &overrides, &NoFiles).expect_err("a mistake");
        let lines = errors.problems.iter().map(|p| format!("{} -> {}", p.message, p.help.as_deref().unwrap_or("")));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(
        set("run.stop = \"1 s\"", "flow.0.tcp.variant"),
        ["no `flow` is listed: there is no `flow.0` -> `flow.0.tcp.variant` changes one that is listed: \
          flow = [{ ... }]; `tcp.variant` sets it for all flows"]
    );
    assert_eq!(
        set("run.stop = \"1 s\"", "wired_link.1.rate"),
        [
            "no `wired_link` is listed: there is no `wired_link.1` -> `wired_link.1.rate` changes one that is listed: wired_link = [{ ... }]"
        ]
    );
}

#[test]
fn units_in_other_spellings() {
    for (setting, written, meant) in [
        ("wlan.data_rate", "2 Mbps", "2 Mbit/s"),
        ("wlan.data_rate", "5.5mbit/s", "5.5 Mbit/s"),
        ("wlan.data_rate", "11 Mb/s", "11 Mbit/s"),
        ("wlan.basic_rate", "1000 kbps", "1000 kbit/s"),
        ("wlan.slot_time", "20 \u{3bc}s", "20 us"),
        ("run.time_limit", "10 sec", "10 s"),
        ("run.time_limit", "1e1 Seconds", ""),
        ("run.time_limit", "2 hours", "2 h"),
        ("topology.spacing", "200 meters", "200 m"),
        ("topology.spacing", "0.2 KM", "0.2 km"),
        ("radio.frequency", "914 mhz", "914 MHz"),
        ("radio.transmit_power", "24.5 dbm", "24.5 dBm"),
        ("radio.transmit_power", "281.8 MW", ""),
        ("radio.capture_threshold", "10 db", "10 dB"),
        ("tcp.mss", "1460 bytes", "1460 B"),
        ("tcp.mss", "1 MB", ""),
        ("bulk.bytes", "20 mb", "20 MB"),
        ("bulk.bytes", "20 Kb", "20 kB"),
        ("bulk.bytes", "1.5 gb", "1.5 GB"),
        ("bulk.bytes", "20 megabytes", "20 MB"),
        ("bulk.bytes", "20 mib", "20 MiB"),
        ("tcp.receive_buffer.max", "64 kib", "64 KiB"),
        ("tcp.receive_buffer.max", "64 Ki", "64 KiB"),
        ("run.max_memory", "1 tib", "1 TiB"),
        ("wlan.rts_threshold", "500 bytes", "500 B"),
        ("wlan.data_rate", "2 MB/s", ""),
        ("wlan.data_rate", "-2 Mbps", ""),
        ("run.stop", "10 seconds", "10 s"),
    ] {
        let text = format!("run.stop = \"1 s\"\n{setting} = \"{written}\"");
        let text = text.trim_start_matches(if setting == "run.stop" { "run.stop = \"1 s\"" } else { "" });
        let said = problems(text);
        assert_eq!(said.len(), 1, "{said:?}");
        match meant {
            "" => assert!(!said[0].contains("did you mean"), "{said:?}"),
            meant => assert!(said[0].contains(&format!("did you mean \"{meant}\"? expected ")), "{said:?}"),
        }
    }
}

#[test]
fn a_ratio_without_its_unit() {
    assert_eq!(
        problem("radio.shadowing = 2"),
        "my.toml:2:19 `radio.shadowing` cannot be 2 -> write \"2 dB\", or \"3.0103 dB\" for a factor of 2"
    );
    assert_eq!(
        problem("radio.sinr.relock = 3.5"),
        "my.toml:2:21 `radio.sinr.relock` cannot be 3.5 -> write \"3.5 dB\", or \"5.4407 dB\" for a factor of 3.5, or \"never\""
    );
    assert_eq!(
        problem("radio.antenna_gain = \"-400 dB\""),
        "my.toml:2:22 `radio.antenna_gain` is -400 dB -> it must be from -300 dB to 90 dB"
    );
}

/// Control characters in names of files and settings and in values.
#[test]
fn terminal_control_characters_are_escaped() {
    let obeyed = |c: char| {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
        (c.is_control() && c != '\n')
            || marks.contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    let all = ('\0'..=char::MAX).filter(|&c| obeyed(c) || c == '\n');
    let mut tried = 0;
    for c in all {
        let (code, evil) = (format!("\\U{:08X}", c as u32), format!("a{c}b"));
        // Written in TOML as an escape, and as it is where TOML allows it.
        let raw = if c.is_control() && c < '\u{80}' { code.clone() } else { c.to_string() };
        for c in [code, raw] {
            let text = format!(
                "run = {{ stop = \"1 s\" }}\n\"k{c}\" = 1 # {}\ntcp = {{ variant = \"v{c}\", \"w{c}\" = 1, rto = {{ min = \"{c} s\" }} }}\n\
                 topology = {{ kind = \"file\", file = \"f{c}\" }}\nextends = \"e{c}\"\nmiddlebox = [{{ kind = \"m{c}\" }}]",
                if c.starts_with('\\') { "" } else { c.as_str() },
            );
            let overrides = [(format!("tcp.{evil}"), evil.clone()), (format!("flow.0.{evil}"), evil.clone())];
            let errors = Scenario::from_toml(&evil, &text, &overrides, &NoFiles).expect_err("mistakes");
            assert!(errors.problems.len() >= 8, "{errors}");
            for color in [false, true] {
                let said = errors.render(color);
                // Colors begin with ESC [ and end with m.
                let plain: String = if color {
                    said.split('\u{1b}').map(|s| s.split_once('m').map_or(s, |x| x.1)).collect()
                } else {
                    said
                };
                assert!(!plain.contains(obeyed), "{c}: {plain:?}");
            }
            let data = errors.to_json();
            for p in data.as_array().expect("a list") {
                for text in ["message", "help"].iter().filter_map(|k| p[k].as_str()) {
                    assert!(!text.contains(|c| obeyed(c) || c == '\n'), "{text:?}");
                }
            }
            tried += 1;
        }
    }
    assert_eq!(tried, 2 * (65 + 5 + 5 + 4));
}

#[test]
fn runs_with_warnings() {
    let said = |text: &str| {
        let s = read(text).expect("it can be run");
        s.warnings.iter().map(|p| p.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        said("run.stop = \"1 ns\""),
        ["a batch lasts 0 s, and the shortest packet 5840 us: nothing can be measured"]
    );
    // 11 batches of 5.84 ms: a packet fits into each.
    assert_eq!(said("run.stop = \"64240 us\""), [""; 0]);
    assert_eq!(said("run.stop = \"64229 us\"").len(), 1);
    assert_eq!(said("run.stop = \"64229 us\"\nrun.batches = 10"), [""; 0]);
    // Over wires of 10 Mbit/s five times as many.
    let wires = |stop: &str, rate: &str| {
        said(&format!(
            "run.stop = \"{stop}\"\ntopology.kind = \"none\"\ntopology.wired_nodes = 2\n\
             wired_link = [{{ dst = 1, rate = \"{rate}\" }}]\nflow = [{{ dst = 1 }}]"
        ))
    };
    assert_eq!(wires("12848 us", "10 Mbit/s"), [""; 0]);
    assert_eq!(wires("12847 us", "10 Mbit/s").len(), 1);
    assert_eq!(wires("12847 us", "11 Mbit/s"), [""; 0]);
    // Datagrams are shorter.
    let cbr = "flow = [{ dst = 1, app = \"cbr\", cbr = { payload = \"100 B\" } }]";
    assert_eq!(said(&format!("run.stop = \"4400 us\"\n{cbr}")), [""; 0]);
    assert_eq!(
        said("run.stop = \"20 s\"\nrun.time_limit = \"10 s\""),
        ["the run ends at 10 s, before `run.stop` (20 s)"]
    );
    let late = |stop: &str| {
        let flows = "flow = [{ dst = 1 }, { dst = 2, start = \"9 s\" }, { dst = 3, start = \"10 s\" }]";
        said(&format!("run.stop = \"{stop}\"\nrun.time_limit = \"10 s\"\n{flows}"))
    };
    assert_eq!(late("8 s"), ["flow 1 starts at 9 s, and the run ends at 8 s, and one more flow starts too late"]);
    assert_eq!(late("9500 ms"), ["flow 2 starts at 10 s, and the run ends at 9500 ms"]);
    assert_eq!(late("100 delivered"), ["flow 2 starts at 10 s, and the run ends at 10 s"]);
}

#[test]
fn nodes_at_one_place() {
    let said = |places: &str| {
        let s = read(&format!(
            "run.stop = \"1 s\"\ntopology = {{ kind = \"list\", positions = [{places}] }}\nflow = [{{ dst = 1 }}]"
        ));
        s.expect("it can be run").warnings.iter().map(|p| p.message.clone()).collect::<Vec<_>>()
    };
    let (a, b) = ("[\"0 m\", \"0 m\"]", "[\"200 m\", \"0 m\"]");
    assert_eq!(said(&format!("{a}, {b}")), [""; 0]);
    assert_eq!(said(&format!("{a}, {b}, [\"-0 m\", \"0 km\"]")), ["nodes 0 and 2 are at the same position"]);
    assert_eq!(
        said(&format!("{b}, {b}, {a}, {a}, {b}")),
        ["nodes 0 and 1 are at the same position, and 2 more nodes are where others are"]
    );
    assert_eq!(said(&format!("{a}, [\"0 m\", \"0.001 m\"]")), [""; 0]);
}

#[test]
fn a_flow_to_itself() {
    assert_eq!(
        problem("flow = [{ src = 1, dst = 1 }]"),
        "my.toml:2:26 `flow.0` goes from node 1 to itself -> choose another node"
    );
}

#[test]
fn a_node_that_does_not_exist() {
    assert_eq!(
        problem("topology.hops = 4\nflow = [{ src = 0, dst = 5 }]"),
        "my.toml:3:26 there is no node 5 -> nodes are numbered from 0 to 4"
    );
}

#[test]
fn a_window_of_zero() {
    assert_eq!(
        problem("tcp.receive_window = 0"),
        "my.toml:2:22 `tcp.receive_window` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        problem("flow = [{ src = 0, dst = 1, tcp = { receive_window = 0 } }]"),
        "my.toml:2:54 `flow.0.tcp.receive_window` is 0 -> it must be from 1 to 1000000"
    );
}

#[test]
fn a_segment_larger_than_the_mtu() {
    assert_eq!(
        problem("tcp.mss = \"1461 B\""),
        "my.toml:2:11 a packet of 1461 + 40 B is larger than the MTU of 1500 B -> at most 1460 B fit, or raise `net.mtu`"
    );
    assert_eq!(
        problem("cbr.payload = \"1500 B\"\nflow = [{ src = 0, dst = 1, app = \"cbr\" }]"),
        "my.toml:2:15 a packet of 1500 + 28 B is larger than the MTU of 1500 B -> at most 1472 B fit, or raise `net.mtu`"
    );
    // TCP cuts a message into segments.
    let bursts = "flow = [{ dst = 1, app = \"on_off\", on_off.payload = \"2 kB\" }]";
    assert!(read(&format!("run.stop = \"1 s\"\n{bursts}")).is_ok());
    assert_eq!(
        problem(&format!("on_off.transport = \"udp\"\n{bursts}")),
        "my.toml:3:53 a packet of 2000 + 28 B is larger than the MTU of 1500 B -> at most 1472 B fit, or raise `net.mtu`"
    );
}

/// Timers that would expire again and again at the same time.
#[test]
fn timers_of_a_nanosecond() {
    for (name, least, most) in [
        ("routing.dsr.min_check_interval", "1 ms", "3600 s"),
        ("routing.dsr.max_check_interval", "1 ms", "3600 s"),
        ("routing.dsr.request_period", "1 ms", "3600 s"),
        ("routing.dsr.max_request_period", "1 ms", "3600 s"),
        ("routing.dsdv.update_interval", "1 ms", "3600 s"),
        ("routing.aodv.route_timer", "1 ms", "8640000 s, or \"exact\""),
        ("routing.aodv.id_timer", "1 ms", "8640000 s, or \"exact\""),
        ("routing.aodv.hello_interval", "1 us", "3600 s"),
        ("net.neighborhood_red.interval", "1 us", "3600 s"),
        ("tcp.rto.max", "1 ms", "8640000 s"),
        ("tcp.rto.initial", "1 ms", "3600 s"),
        ("tcp.elfn.probe_interval", "1 ms", "3600 s"),
        ("wlan.rate_control.minstrel.interval", "1 ms", "3600 s"),
        ("snoop.min_timeout", "1 us", "3600 s"),
    ] {
        let column = name.len() + 4;
        let said = format!("my.toml:2:{column} `{name}` is 1 ns -> it must be from {least} to {most}");
        assert_eq!(problem(&format!("{name} = \"1 ns\"")), said);
    }
}

#[test]
fn a_signal_is_noticed_within_its_slot() {
    assert_eq!(
        problem("wlan.cca_time = \"3600 s\""),
        "my.toml:2:17 `wlan.cca_time` is 3600 s -> it must be at most 1 ms"
    );
    let said = |text: &str| {
        let s = read(&format!("run.stop = \"1 s\"\nflow = [{{ dst = 7 }}]\n{text}")).expect("it can be run");
        let line = |p: &chappe_core::setting::Problem| {
            format!("{} {} -> {}", p.path, p.message, p.help.as_deref().unwrap_or(""))
        };
        s.warnings.iter().map(line).collect::<Vec<_>>()
    };
    let help = "aCCATime is a part of aSlotTime: set `wlan.cca_time` to less than `wlan.slot_time`";
    assert_eq!(
        said("extends = \"802.11a\"\nwlan.cca_time = \"40 us\""),
        [format!(
            "wlan.cca_time a signal is noticed after 40 us, more than a slot of 9 us: stations send into it -> {help}"
        )]
    );
    assert_eq!(
        said("node = [{ nodes = 2, wlan.cca_time = \"25 us\" }]"),
        [format!(
            "node.0.wlan.cca_time a signal is noticed after 25 us, more than a slot of 20 us: stations send into it -> {help}"
        )]
    );
    assert_eq!(said("wlan.cca_time = \"20 us\""), Vec::<String>::new());
}

#[test]
fn excessive_powers() {
    let links =
        |row: &str| format!("radio.propagation = \"links\"\nradio.reception = \"sinr\"\nradio.links_table = \"{row}\"");
    for (row, said) in [
        ("src,dst,signal_dbm\\n0,1,1000\\n", "line 2 has 1000 in column `signal_dbm`, which must be from -250 to 90"),
        ("src,dst,loss_db\\n0,1,-200\\n", "line 2 has -200 in column `loss_db`, which must be from 0 to 400"),
    ] {
        let said_all = problem(&links(row));
        assert!(said_all.starts_with("my.toml:4:21 ") && said_all.contains(said), "{said_all}");
    }
}

/// Times that a run adds up or multiplies.
#[test]
fn excessive_times() {
    let hour = 3600;
    for (name, most) in
        [("on_off.off", 2400 * hour), ("routing.aodv.release_spacing", hour), ("routing.dsr.release_spacing", hour)]
    {
        let said = format!("my.toml:2:{} `{name}` is 7200000000 s -> it must be at most {most} s", name.len() + 4);
        assert_eq!(problem(&format!("{name} = \"2000000 h\"")), said);
    }
    assert_eq!(
        problem("routing.dsdv.update_interval = \"2 h\""),
        "my.toml:2:32 `routing.dsdv.update_interval` is 7200 s -> it must be from 1 ms to 3600 s"
    );
    assert_eq!(
        problem("routing.dsdv.missed_updates = 4000000000"),
        "my.toml:2:31 `routing.dsdv.missed_updates` is 4000000000 -> it must be from 1 to 1000000"
    );
}

#[test]
fn bursts_of_no_length() {
    assert_eq!(problem("on_off.on = \"0 s\""), "my.toml:2:13 `on_off.on` is 0 s -> it must be from 1 us to 8640000 s");
    assert_eq!(
        problem("on_off.payload = \"0 B\""),
        "my.toml:2:18 `on_off.payload` is 0 B -> it must be from 1 B to 1000000000 B"
    );
}

#[test]
fn invalid_middleboxes() {
    let all = |boxes: &str| problem(&format!("topology.hops = 3\n{boxes}"));
    assert_eq!(
        all("middlebox = [{ kind = \"snoop\", node = 3 }]"),
        "my.toml:3:39 no TCP flow passes node 3 on its way \
         -> place the middlebox at a node between source and destination of a flow"
    );
    assert_eq!(all("middlebox = [{ node = 9 }]"), "my.toml:3:23 there is no node 9 -> nodes are numbered from 0 to 3");
    assert_eq!(
        all("middlebox = [{ kind = \"eln\" }]"),
        "my.toml:3:14 middlebox 0 is at no node -> set `middlebox.0.node` to a node that forwards packets"
    );
    assert_eq!(
        all("middlebox = [{ node = 1, flows = [0, 4] }]"),
        "my.toml:3:38 there is no flow 4 -> flows are numbered from 0 to 0"
    );
    assert_eq!(
        all("middlebox = [{ node = 1, snoop = { cache_segments = 0 } }]"),
        "my.toml:3:53 `middlebox.0.snoop.cache_segments` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        all("snoop.rtt_weight = 1.5\nmiddlebox = [{ node = 1 }]"),
        "my.toml:3:20 `snoop.rtt_weight` is 1.5 -> it must be above 0 and below 1"
    );
    assert_eq!(
        all("middlebox = [{ kind = \"split\", node = 1 }, { kind = \"split\", node = 2 }]"),
        "my.toml:3:44 flow 0 is split by middlebox 0 already -> a connection can be split once"
    );
    assert_eq!(
        all("middlebox = [{ node = 1 }, { kind = \"split\", node = 1 }]"),
        "my.toml:3:14 flow 0 ends at this node, where middlebox 1 splits it \
         -> place one of them at another node, or name its flows"
    );
    assert_eq!(
        all("middlebox = [{ kind = \"split\", node = 1, split = { tcp = { mss = \"500 B\" } } }]"),
        "my.toml:3:14 segments of 1460 B become segments of 500 B where flow 0 is split \
         -> both halves need the same `tcp.mss`"
    );
    assert_eq!(
        all("middlebox = [{ kind = \"split\", node = 1, split = { tcp = { receive_window = 0 } } }]"),
        "my.toml:3:77 `middlebox.0.split.tcp.receive_window` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        all(
            "flow = [{ src = 0, dst = 3 }, { src = 3, dst = 0, app = \"cbr\" }]\nmiddlebox = [{ node = 1, flows = [1] }]"
        ),
        "my.toml:4:35 flow 1 is not a TCP flow -> middleboxes serve TCP flows"
    );
}

#[test]
fn a_negative_time() {
    for (text, said) in [
        ("wlan.sifs = \"-10 us\"", "above 0 s and at most 1 ms"),
        ("wired.delay = \"-1 ms\"", "0 or more"),
        ("wlan.basic_rate = \"-1 Mbit/s\"", "above 0"),
        ("queue.limit_bytes = \"-1 kB\"", "0 or more, or \"unlimited\""),
        ("bulk.bytes = \"-1 kB\"", "from 1 B to 4000000000 B, or \"unlimited\""),
        ("topology.hops = -1", "from 1 to 1000000000"),
        ("arrival_process = [{ count = -1 }]", "from 1 to 1000000000, or \"unlimited\""),
        ("flow = [{ src = 0, dst = 1, start = \"-1 s\" }]", "0 or more, or \"event\""),
    ] {
        let found = problem(text);
        assert!(found.ends_with(&format!(" -> it must be {said}")), "{found}");
    }
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
         -> if you need that many, raise `run.max_nodes`"
    );
    assert_eq!(
        problem("run.max_nodes = 3\ntopology.hops = 7"),
        "my.toml:3:17 the topology has 8 nodes, and at most 3 are allowed -> if you need that many, raise `run.max_nodes`"
    );
}

#[test]
fn a_run_of_half_a_year() {
    assert_eq!(
        problem("run.time_limit = \"20000000 s\""),
        "my.toml:2:18 `run.time_limit` is 20000000 s -> it must be above 0 s and at most 8640000 s"
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
fn all_mistakes_are_reported_with_positions() {
    let text = "
[run]
stop = \"soon\"
[tcp]
varient = \"reno\"
receive_window = 0
ack_policy = \"evry\"
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
            "my.toml:6:18 `tcp.receive_window` is 0 -> it must be from 1 to 1000000",
            "my.toml:7:14 `tcp.ack_policy` cannot be \"evry\" -> did you mean `every`? known: every, delayed, thinning",
            "my.toml:9:13 `wlan.data_rate` is 3 Mbit/s -> it must be 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s, 6 Mbit/s, 9 Mbit/s, 12 Mbit/s, 18 Mbit/s, 24 Mbit/s, 36 Mbit/s, 48 Mbit/s or 54 Mbit/s",
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
  = help: did you mean `vegas`? known: tahoe, reno, newreno, sack, vegas, linux_vegas, few, scalable, westwood, westwood_2001, linux_westwood_ns2, veno, e_newreno, tcp_ap, cubic, fixed"#
    );
}

#[test]
fn not_toml() {
    let all = problems("run = { stop = \"1 s\"\ntcp = 3");
    assert!(all[0].starts_with("my.toml:"), "{all:?}");
    assert!(all[0].contains("not valid TOML"), "{all:?}");
}

#[test]
fn truncated_file_has_one_mistake() {
    let whole = "tcp.windw = 7\n[topology]\nkind = \"chain\"\n[[flow]]\nsrc = 0\ndst = ";
    let all = problems(whole);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("`tcp` has no setting `windw`"), "what can be read is checked: {all:?}");
    assert!(all[1].contains("not valid TOML"), "and nothing is said of what cannot: {all:?}");
    let all = problems("tcp.windw = 7\n[tcp]\nvariant = \"newr");
    assert!(all.iter().all(|p| !p.contains("cannot be \"newr\"")), "a text that is cut off has no value: {all:?}");
}

#[test]
fn entries_after_a_truncated_heading_are_no_mistakes() {
    let all =
        problems("run.stop = \"1 s\"\nnonsense = 1\n[topology]\nhops = 3\n[tcp\nvariant = \"newreno\"\nwindow = 3\n");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].contains("unclosed table") || all[1].contains("unclosed table"), "{all:?}");
    assert!(all.iter().any(|p| p.contains("`nonsense`")), "what stands before is checked: {all:?}");
    let all = problems("run.stop = \"1 s\"\n[tcp\nwindow = 3\n[topology]\nhopps = 3\n");
    assert!(
        all.len() == 2 && all[1].contains("`topology` has no setting `hopps`"),
        "and under whole headings: {all:?}"
    );
}

#[test]
fn overrides_are_checked_like_the_file() {
    let set = |key: &str, value: &str| {
        let overrides = [(key.to_owned(), value.to_owned())];
        Scenario::from_toml("my.toml", "run.stop = \"1 s\"", &overrides, &NoFiles)
    };
    assert_eq!(set("tcp.receive_window", "7").expect("a good override").config().tcp.receive_window, 7);
    assert_eq!(set("tcp.variant", "sack").expect("words need no quotes").config().tcp.variant.word(), "sack");
    let said = set("tcp.windw", "7").expect_err("a mistake").render(false);
    assert!(said.contains("`tcp` has no setting `windw`") && said.contains("--set"), "{said}");
    let said = set("flow.3.src", "7").expect_err("a mistake").render(false);
    assert!(said.contains("flow"), "{said}");
    let said = set("extends", "802.11ax").expect_err("a mistake").render(false);
    assert!(said.contains("`extends` cannot be changed from outside") && said.contains("is not modeled"), "{said}");
}

#[test]
fn a_dict_is_checked_like_a_file() {
    let bad = json!({ "run": { "stop": "1 s" }, "tcp": { "receive_window": 0, "varient": 1 } });
    let errors = Scenario::from_json(&bad, &json!({}), &NoFiles).expect_err("two mistakes");
    let paths: Vec<&str> = errors.problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["tcp.varient", "tcp.receive_window"]);
    let errors = Scenario::from_json(&json!([1]), &json!({}), &NoFiles).expect_err("not a table");
    assert!(errors.to_string().contains("a scenario must be a table"), "{errors}");
}

#[test]
fn names_in_a_dict_may_be_dotted() {
    let read = |dict: serde_json::Value, changes: serde_json::Value| Scenario::from_json(&dict, &changes, &NoFiles);
    let nested = json!({
        "run": { "stop": "1 s" }, "tcp": { "receive_window": 3, "vegas": { "alpha": 1, "beta": 2 } },
        "flow": [{ "dst": 1, "tcp": { "variant": "vegas" } }],
    });
    let whole = read(nested, json!({})).expect("a scenario").effective();
    for dict in [
        json!({
            "run.stop": "1 s", "tcp.receive_window": 3, "tcp.vegas.alpha": 1, "tcp.vegas": { "beta": 2 },
            "flow": [{ "dst": 1, "tcp.variant": "vegas" }],
        }),
        json!({
            "tcp.vegas.alpha": 1, "run": { "stop": "1 s" }, "tcp": { "vegas.beta": 2, "receive_window": 3 },
            "flow": [{ "dst": 1 }], "flow.0.tcp.variant": "vegas",
        }),
        json!({ "tcp": { "vegas": { "alpha": 1 } }, "tcp.vegas": { "beta": 2 }, "run.stop": "1 s", "tcp.receive_window": 3,
                "flow": [{}], "flow.0": { "dst": 1, "tcp.variant": "vegas" } }),
    ] {
        assert_eq!(
            read(dict.clone(), json!({})).map(|s| s.effective()).map_err(|e| e.to_string()),
            Ok(whole.clone()),
            "{dict}"
        );
    }
    // Changes come later and may change anything.
    let changed = read(
        json!({ "run.stop": "1 s", "tcp.receive_window": 3 }),
        json!({ "tcp.receive_window": 4, "tcp": { "vegas.alpha": 0 } }),
    );
    let changed = changed.expect("a scenario");
    assert_eq!((changed.config().tcp.receive_window, changed.config().tcp.vegas.alpha), (4, 0.0));
    for (dict, said) in [
        (json!({ "tcp": { "receive_window": 3 }, "tcp.receive_window": 3 }), "`tcp.receive_window` is set twice"),
        (json!({ "tcp.receive_window": 3, "tcp": { "receive_window": 4 } }), "`tcp.receive_window` is set twice"),
        (json!({ "tcp.vegas": { "alpha": 1 }, "tcp.vegas.alpha": 2 }), "`tcp.vegas.alpha` is set twice"),
        (json!({ "tcp": { "vegas.alpha": 1 }, "tcp.vegas.alpha": 2 }), "`tcp.vegas.alpha` is set twice"),
        (json!({ "flow": [{ "dst": 1 }], "flow.0.dst": 1 }), "`flow.0.dst` is set twice"),
        (json!({ "tcp.windw": 4 }), "`tcp` has no setting `windw`"),
        (json!({ "tcp.receive_window": "4" }), "`tcp.receive_window` cannot be \"4\""),
        (json!({ "tcp.": 4 }), "`tcp` has no setting ``"),
    ] {
        let mut dict = dict;
        dict["run"] = json!({ "stop": "1 s" });
        let all = read(dict, json!({})).expect_err(said).problems;
        assert_eq!(all.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [said]);
    }
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
        ("base.toml", "extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\ntcp.receive_window = 0"),
        ("loop.toml", "extends = \"loop.toml\""),
    ]);
    let read = |text: &str| Scenario::from_toml("my.toml", text, &[], &shelf);
    let s = read("extends = \"base.toml\"\ntcp.receive_window = 9").expect("the window is put right");
    assert_eq!((s.config().tcp.receive_window, s.config().queue.limit_includes_arrival), (9, true));
    // A mistake in a file that is extended is shown there.
    let said = read("extends = \"base.toml\"").expect_err("a window of 0").render(false);
    assert!(said.contains("base.toml:3:22"), "{said}");
    let said = read("extends = \"loop.toml\"").expect_err("a loop").render(false);
    assert!(said.contains("`loop.toml` extends itself"), "{said}");
    let said = read("extends = \"ns2-2.53\"").expect_err("no such preset").render(false);
    assert!(said.contains("did you mean `ns2-2.35`?"), "{said}");
}

#[test]
fn unlikely_scenarios_run_with_a_warning() {
    let s = read("extends = \"ns2-2.35\"\nrun.stop = \"1 s\"\ntopology.hops = 32").expect("it can be run");
    let said: Vec<&str> = s.warnings.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(said, ["flow 0 needs 32 hops but packets live for 30: nothing will be delivered"]);
}

#[test]
fn invalid_window_rules() {
    for (setting, said) in [
        ("tcp.ap.ewma_weight = 2", "my.toml:2:22 `tcp.ap.ewma_weight` is 2 -> it must be from 0 to 1"),
        ("tcp.veno.random_share = 2", "my.toml:2:25 `tcp.veno.random_share` is 2 -> it must be from 0 to 1"),
        (
            "tcp.elfn.probe_interval = \"0 s\"",
            "my.toml:2:27 `tcp.elfn.probe_interval` is 0 s -> it must be from 1 ms to 3600 s",
        ),
        (
            "tcp.e_newreno.probe_interval = \"0 s\"",
            "my.toml:2:32 `tcp.e_newreno.probe_interval` is 0 s -> it must be from 1 ms to 3600 s, or \"rto\"",
        ),
        ("tcp.westwood.ewma_weight = -1", "my.toml:2:28 `tcp.westwood.ewma_weight` is -1 -> it must be from 0 to 1"),
        ("tcp.scalable.decrease = 3", "my.toml:2:25 `tcp.scalable.decrease` is 3 -> it must be from 0 to 1"),
        ("tcp.scalable.increase = -1", "my.toml:2:25 `tcp.scalable.increase` is -1 -> it must be from 0 to 1"),
    ] {
        assert_eq!(problem(setting), said);
    }
}

#[test]
fn invalid_queue_management() {
    assert_eq!(
        problem("queue.red = { min_threshold = 20 }"),
        "the maximum threshold is not above the minimum \
         -> `queue.red.max_threshold` must be above the minimum"
    );
    assert_eq!(
        problem("queue.red.weight = 0"),
        "my.toml:2:20 `queue.red.weight` is 0 -> it must be above 0 and at most 1, or \"auto\""
    );
    assert_eq!(
        problem("queue = { limit = 5, mark_threshold = 5 }"),
        "my.toml:2:39 nothing is marked, because 5 packets never wait when another one arrives \
         -> it must be below `queue.limit`"
    );
    assert_eq!(
        problem("queue.limit_bytes = \"1000 B\""),
        "my.toml:2:21 a queue of 1000 B holds no packet of 1500 B -> it must be at least `net.mtu`"
    );
    assert_eq!(
        problem("net.link_red = { min_threshold = 4 }"),
        "the maximum threshold is not above the minimum \
         -> `net.link_red.max_threshold` must be above `net.link_red.min_threshold`"
    );
    assert_eq!(
        problem("net.link_red.max_p = 1.5"),
        "my.toml:2:22 `net.link_red.max_p` is 1.5 -> it must be from 0 to 1"
    );
    assert_eq!(
        problem("net.neighborhood_red = { max_threshold = 100 }"),
        "my.toml:2:42 the maximum threshold is not above the minimum \
         -> `net.neighborhood_red.max_threshold` must be above `net.neighborhood_red.min_threshold`"
    );
    assert_eq!(
        problem("net.neighborhood_red.weight = 0"),
        "my.toml:2:31 `net.neighborhood_red.weight` is 0 -> it must be above 0 and at most 1"
    );
    assert_eq!(
        problem("net.neighborhood_red.ncn_size = \"2 kB\""),
        "my.toml:2:33 a packet of 2000 B is larger than the MTU of 1500 B -> it must be at most `net.mtu`"
    );
    assert_eq!(
        problem("tcp.ecn.beta = 1.5"),
        "my.toml:2:16 `tcp.ecn.beta` is 1.5 -> it must be above 0 and below 1, or \"as_loss\""
    );
}

/// Output and result of the program in `examples`; `cargo test` builds it.
fn example(arguments: &[&str]) -> (Option<i32>, String) {
    let tests = std::env::current_exe().expect("this program has a path");
    let program = tests.parent().and_then(|deps| deps.parent()).expect("a folder").join("examples").join("run");
    let done = std::process::Command::new(program).args(arguments).output().expect("cargo build --example run");
    assert_eq!(String::from_utf8_lossy(&done.stdout), "");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn the_example_says_the_same() {
    let file = std::env::temp_dir().join(format!("chappe-errors-{}.toml", std::process::id()));
    let text = "run.stop = \"soon\"\ntcp.varient = \"reno\"";
    std::fs::write(&file, text).expect("the file can be written");
    let name = file.to_str().expect("a name");
    let found = example(&[name]);
    let missing = example(&[&format!("{name}.not")]);
    std::fs::remove_file(&file).expect("the file is there");
    let expected = Scenario::from_toml(name, text, &[], &NoFiles).expect_err("two mistakes").render(false);
    assert_eq!(found, (Some(2), format!("{}\n", expected.trim_end())));
    assert_eq!(missing.0, Some(2));
    assert!(missing.1.starts_with(&format!("error: cannot read {name}.not: ")), "{}", missing.1);
    assert_eq!(example(&[]), (Some(2), "usage: run FILE [SEED] [NAME=VALUE]...\n".to_owned()));
}

#[test]
fn no_event_starts_a_flow_again_after_its_fin() {
    let with = |more: &str, event: &str| {
        let event = format!("{{ at = \"500 ms\", action = \"flow_start\", flow = 0 }}{event}");
        format!("tcp.fin = true\n{more}\nevent = [{event}]\n")
    };
    let said = problem(&with("bulk.segments = 5", ""));
    assert!(
        said.ends_with(
            "event 0: flow 0 has started at 0 s; its connection ends with a FIN (`tcp.fin`) and takes no data after the \
             FIN -> list another flow that starts at 500 ms, or set `flow.0.tcp.fin = false`"
        ),
        "{said}"
    );
    let bare = "tcp.syn = false\nflow = [{ dst = 1 }]\nrun.stop = \"2 s\"\ntopology.hops = 1";
    assert!(read(&with(bare, "")).is_ok(), "without a SYN there is no FIN");
    let late = "flow = [{ dst = 1, start = \"event\" }]\nrun.stop = \"2 s\"\ntopology.hops = 1";
    let again = ", { at = \"1 s\", action = \"flow_start\", flow = 0 }";
    assert!(read(&with(late, "")).is_ok(), "the event starts the flow for the first time");
    let said = read(&with(late, again)).expect_err("it starts twice").to_string();
    assert!(said.contains("event 1: flow 0 has started at 500 ms"), "{said}");
}

#[test]
fn invalid_events() {
    let event = |event: &str| problem(&format!("cbr.interval = \"1 s\"\nevent = [{{ {event} }}]"));
    let at = |what: &str| event(&format!("at = \"500 ms\", {what}"));
    assert_eq!(
        event("action = \"node_down\", node = 1"),
        "my.toml:3:10 event 0 has no time -> set `event.0.at`, such as \"3 s\""
    );
    assert_eq!(
        event("at = \"500 ms\""),
        "my.toml:3:10 event 0: no action is named \
         -> set `action` to one of node_down, node_up, wired_link_down, wired_link_up, node_move, flow_start, flow_stop, set"
    );
    let typo = at("action = \"node_dwon\", node = 1");
    assert!(
        typo.starts_with("my.toml:3:36 `event.0.action` cannot be \"node_dwon\" -> did you mean `node_down`?"),
        "{typo}"
    );
    assert_eq!(
        at("action = \"node_up\", node = 8"),
        "my.toml:3:54 event 0: there is no node 8 -> nodes are numbered from 0 to 7"
    );
    assert_eq!(
        at("action = \"node_up\", node = 1, channel = 6"),
        "my.toml:3:67 event 0: node 1 has no radio on channel 6 -> it is on 1"
    );
    assert_eq!(
        at("action = \"flow_stop\", flow = 0, channel = 1"),
        "my.toml:3:69 event 0: `channel` does not belong to `flow_stop` -> `flow_stop` takes `flow`"
    );
    assert_eq!(
        at("action = \"node_up\", node = 1, value = 3"),
        "my.toml:3:65 event 0: `value` does not belong to `node_up` -> `node_up` takes `node`, `channel`"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.receive_window\", value = 3, node = 1"),
        "my.toml:3:100 event 0: `node` does not belong to `set` -> `set` takes `setting`, `value`"
    );
    assert_eq!(
        at("action = \"flow_start\", flow = 1"),
        "my.toml:3:57 event 0: there is no flow 1 -> flows are numbered from 0 to 0"
    );
    assert_eq!(
        at("action = \"node_down\""),
        "my.toml:3:10 event 0: `node_down` needs `node` -> set `node` to the number of a node"
    );
    assert_eq!(
        at("action = \"flow_stop\""),
        "my.toml:3:10 event 0: `flow_stop` needs `flow` -> set `flow` to the number of a flow"
    );
    assert_eq!(
        at("action = \"set\", value = 3"),
        "my.toml:3:10 event 0: `set` needs `setting` -> set `setting` to the name of a setting"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.receive_window\""),
        "my.toml:3:53 event 0: `flow.0.tcp.receive_window` gets no value -> write it as `value`"
    );
    let may = "flow.N.cbr.interval, flow.N.tcp.receive_window, flow.N.tcp.max_cwnd, flow.N.tcp.fixed.window, flow.N.tcp.fixed.pacing_rate, \
               flow.N.tcp.delayed_ack.segments, flow.N.tcp.ack_thinning.s1, flow.N.tcp.ack_thinning.s2, flow.N.tcp.ack_thinning.s3, \
               flow.N.tcp.ack_thinning.timeout, queue.limit, node.N.queue.limit, wired_link.N.rate, wired_link.N.delay, wired_link.N.error.rate, \
               wired_link.N.queue.limit, wired_link.N.back.rate, wired_link.N.back.delay, wired_link.N.back.error.rate, wired_link.N.back.queue.limit, \
               wlan.error.rate";
    assert_eq!(
        at("action = \"set\", setting = \"tcp.receive_window\", value = 3"),
        format!(
            "my.toml:3:53 event 0: `tcp.receive_window` cannot change during a run -> did you mean `flow.N.tcp.receive_window`? these may: {may}"
        )
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.receive_windw\", value = 3"),
        format!(
            "my.toml:3:53 event 0: `flow.0.tcp.receive_windw` cannot change during a run -> did you mean `flow.N.tcp.receive_window`? these may: {may}"
        )
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.3.tcp.receive_window\", value = 3"),
        "my.toml:3:53 event 0: there is no flow 3 -> they are numbered from 0 to 0"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.receive_window\", value = 0"),
        "my.toml:3:90 event 0: `flow.0.tcp.receive_window` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.receive_window\", value = \"many\""),
        "my.toml:3:90 event 0: `value` cannot be \"many\" -> expected a whole number"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.cbr.interval\", value = \"1 ms\""),
        "my.toml:3:53 event 0: `flow.0.cbr.interval` has no effect: flow 0 is `bulk` -> choose a flow that is `cbr`"
    );
    for udp in ["app = \"cbr\"", "app = \"on_off\", on_off.transport = \"udp\""] {
        let window =
            "event = [{ at = \"10 ms\", action = \"set\", setting = \"flow.0.tcp.receive_window\", value = 3 }]";
        assert_eq!(
            problem(&format!("flow = [{{ dst = 1, {udp} }}]\n{window}")),
            "my.toml:3:52 event 0: `flow.0.tcp.receive_window` has no effect: flow 0 goes over UDP -> choose a flow over TCP"
        );
    }
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.max_cwnd\", value = 0"),
        "my.toml:3:84 event 0: `flow.0.tcp.max_cwnd` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        problem(
            "flow = [{ dst = 1, app = \"cbr\" }]\nevent = [{ at = \"10 ms\", action = \"set\", setting = \"flow.0.tcp.max_cwnd\", value = 3 }]"
        ),
        "my.toml:3:52 event 0: `flow.0.tcp.max_cwnd` has no effect: flow 0 goes over UDP -> choose a flow over TCP"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.fixed.window\", value = 3"),
        "my.toml:3:53 event 0: `flow.0.tcp.fixed.window` has no effect: the window of flow 0 follows `reno` \
         -> set `tcp.congestion_control = \"fixed\"`: only such a window is set from outside"
    );
    assert_eq!(
        problem(
            "tcp.ack_policy = \"every\"\nevent = [{ at = \"10 ms\", action = \"set\", setting = \"flow.0.tcp.delayed_ack.segments\", value = 3 }]"
        ),
        "my.toml:3:52 event 0: `flow.0.tcp.delayed_ack.segments` has no effect: the receiver of flow 0 is `every` \
         -> only a receiver that is `delayed` counts segments"
    );
    assert_eq!(
        at("action = \"set\", setting = \"flow.0.tcp.ack_thinning.s3\", value = 3"),
        "my.toml:3:53 event 0: `flow.0.tcp.ack_thinning.s3` has no effect: the receiver of flow 0 is `delayed` \
         -> only a receiver that is `thinning` has it"
    );
    let thinning = |setting: &str, value: &str| {
        problem(&format!(
            "tcp.ack_policy = \"thinning\"\nevent = [{{ at = \"10 ms\", action = \"set\", setting = \"flow.0.tcp.ack_thinning.{setting}\", value = {value} }}]"
        ))
    };
    assert_eq!(
        thinning("s1", "1000001"),
        "my.toml:3:90 event 0: `flow.0.tcp.ack_thinning.s1` is 1000001 -> it must be at most 1000000"
    );
    assert_eq!(
        thinning("timeout", "\"2 h\""),
        "my.toml:3:95 event 0: `flow.0.tcp.ack_thinning.timeout` is 7200 s -> it must be at most 3600 s"
    );
    assert_eq!(
        at("action = \"set\", setting = \"queue.limit\", value = 0"),
        "my.toml:3:76 event 0: `queue.limit` is 0 -> it must be from 1 to 1000000"
    );
    assert_eq!(
        problem(
            "node = [{ nodes = \"0-7\", queue.limit = 9 }]\nevent = [{ at = \"10 ms\", action = \"set\", setting = \"queue.limit\", value = 3 }]"
        ),
        "my.toml:3:52 event 0: `queue.limit` has no effect: no queue has this limit -> other settings apply to all queues"
    );
    assert_eq!(
        at("action = \"set\", setting = \"node.0.queue.limit\", value = 3"),
        "my.toml:3:53 event 0: there is no node 0 -> no `node` is listed"
    );
    assert_eq!(
        at("action = \"set\", setting = \"wired_link.0.rate\", value = \"1 Mbit/s\""),
        "my.toml:3:53 event 0: there is no wired link 0 -> no `wired_link` is listed"
    );
    assert_eq!(
        at("action = \"set\", setting = \"wlan.error.rate\", value = 0.5"),
        "my.toml:3:53 event 0: `wlan.error.rate` has no effect: the error model is `none` \
         -> only the model `uniform` has a rate"
    );
    let late = read("run.stop = \"1 s\"\nevent = [{ at = \"1 s\", action = \"node_down\", node = 1 }]")
        .expect("it can be run");
    let warnings: Vec<&str> = late.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(warnings, ["event 0 comes at 1 s, and the run ends at 1 s"]);
}

#[test]
fn invalid_motion() {
    let walk = |more: &str| problem(&format!("mobility = {{ model = \"random_waypoint\", {more} }}"));
    let area = "width = \"500 m\", height = \"500 m\"";
    assert_eq!(
        walk("width = \"500 m\""),
        "my.toml:2:22 random waypoint has no area: `mobility.height` is \"topology\", and the topology is not random \
         -> set `mobility.height`, e.g. to \"1000 m\""
    );
    assert_eq!(
        walk(&format!("{area}, min_speed = \"5 m/s\", max_speed = \"4 m/s\"")),
        "my.toml:2:109 the fastest speed 4 m/s is below the slowest, 5 m/s \
         -> `mobility.max_speed` must be at least `mobility.min_speed`"
    );
    assert_eq!(
        walk(&format!("{area}, min_speed = \"0 m/s\"")),
        "my.toml:2:88 random waypoint with speeds down to 0 m/s has no stationary state: nodes become slower forever \
         -> let `mobility.min_speed` be above 0 m/s, or `mobility.initial` be \"uniform\""
    );
    assert_eq!(
        walk(&format!("{area}, max_speed = \"9\"")),
        "my.toml:2:88 `mobility.max_speed` cannot be \"9\" -> expected a speed such as \"10 m/s\" or \"36 km/h\""
    );
    assert_eq!(
        problem("mobility.model = \"file\""),
        "my.toml:2:18 there is no movement file \
         -> set `mobility.file` to a movement file of ns-2, of BonnMotion, or a CSV file"
    );
    assert_eq!(
        problem("topology.kind = \"motion\"\nflow = [{ src = 0, dst = 1 }]"),
        "my.toml:2:17 the positions are to come from a movement file, but there is none \
         -> set `mobility.model = \"file\"` and `mobility.file`"
    );
    assert_eq!(
        problem("mobility = { model = \"file\", file = \"a.mv\" }"),
        "my.toml:2:37 cannot read `a.mv`: there is no preset `a.mv`"
    );
    let courses = "time_s,node,x_m,y_m,dest_x_m,dest_y_m,speed_mps\\n0,8,0,0,9,9,1\\n";
    assert_eq!(
        problem(&format!("mobility = {{ model = \"file\", table = \"{courses}\" }}")),
        "my.toml:2:38 the movement file moves node 8, and the topology has 8 nodes \
         -> `topology.kind = \"motion\"` takes the nodes from the file"
    );
    assert_eq!(
        problem("mobility = { model = \"file\", table = \"time_s\" }"),
        "my.toml:2:38 `mobility.table` cannot be \"time_s\" -> it has no column `node`; its header is `time_s`; \
         its columns are time_s, node, x_m, y_m, dest_x_m, dest_y_m, speed_mps"
    );
    assert_eq!(
        problem("node = [{ nodes = 1, mobility.seed = 3 }]"),
        "my.toml:2:38 `mobility.seed` is the same for all nodes, because each node has separate random numbers anyway \
         -> set `mobility.seed` for all of them"
    );
    assert_eq!(
        problem("node = [{ nodes = 1, mobility.model = \"random_waypoint\" }]\nmobility.height = \"9 m\""),
        "my.toml:2:39 random waypoint has no area: `mobility.width` is \"topology\", and the topology is not random \
         -> set `mobility.width`, e.g. to \"1000 m\""
    );
    let moved =
        |what: &str| problem(&format!("event = [{{ at = \"1 ms\", action = \"node_move\", node = 1, {what} }}]"));
    let either = "set `position`, or `destination` and `speed`";
    assert_eq!(
        moved("speed = \"1 m/s\""),
        format!("my.toml:2:10 event 0: the position or destination is missing -> {either}")
    );
    assert_eq!(
        moved("destination = [\"1 m\", \"1 m\"]"),
        format!("my.toml:2:71 event 0: the speed is missing -> {either}")
    );
    assert_eq!(
        moved("position = [\"1 m\", \"1 m\"], speed = \"1 m/s\""),
        format!("my.toml:2:68 event 0: a node that `position` moves at once has no destination or speed -> {either}")
    );
    assert_eq!(
        moved("position = [\"1 m\", \"1e8 m\"]"),
        "my.toml:2:68 event 0: the place is too far away -> places must be within 10000 km"
    );
    assert_eq!(
        problem("event = [{ at = \"1 ms\", action = \"node_move\", node = 8, position = [\"0 m\", \"0 m\"] }]"),
        "my.toml:2:54 event 0: there is no node 8 with a radio -> those with a radio are numbered from 0 to 7"
    );
}

#[test]
fn moving_nodes_need_no_initial_route() {
    let far = "run.stop = \"1 s\"\ntopology = { hops = 2, spacing = \"300 m\" }\nflow = [{ src = 0, dst = 2 }]\n";
    assert!(read(far).is_err());
    let walks = "mobility = { model = \"random_waypoint\", width = \"900 m\", height = \"500 m\" }\n";
    let warned = |text: &str| {
        let scenario = read(&format!("{far}{text}")).expect("it can be run");
        scenario.warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(warned(walks), Vec::<String>::new());
    assert_eq!(
        warned(&format!("{walks}routing.protocol = \"shortest_path\"")),
        ["nodes move, and `shortest_path` keeps the initial routes"]
    );
    let led = "event = [{ at = \"1 ms\", action = \"node_move\", node = 1, position = [\"1 m\", \"0 m\"] }]";
    assert_eq!(warned(led), Vec::<String>::new());
}

#[test]
fn flows_that_stop_and_files_of_so_many_bytes() {
    assert_eq!(
        problem("flow = [{ src = 0, dst = 1, start = \"500 ms\", stop = \"500 ms\" }]"),
        "my.toml:2:54 `flow.0` stops at 500 ms, and starts at 500 ms -> a flow stops after it has started"
    );
    assert_eq!(
        problem("bulk = { segments = 5, bytes = \"4 kB\" }"),
        "my.toml:2:32 `bulk.segments` and `bulk.bytes` both say how much is sent \
         -> leave one of them out, or set it to \"unlimited\""
    );
    assert_eq!(
        problem("bulk.bytes = \"0 B\""),
        "my.toml:2:14 `bulk.bytes` is 0 B -> it must be from 1 B to 4000000000 B, or \"unlimited\""
    );
}

#[test]
fn external_commands_are_validated_like_events() {
    let scenario = read("run.stop = \"1 s\"").expect("it is good");
    let said = |event: serde_json::Value| {
        let errors = scenario.commands(&event).expect_err("it is wrong").to_json();
        let problem = &errors.as_array().expect("a list")[0];
        let text = |key: &str| problem[key].as_str().unwrap_or("").to_owned();
        format!("{}: {} -> {}", text("path"), text("message"), text("help"))
    };
    assert_eq!(
        said(json!({ "action": "node_down", "node": 9 })),
        "node: there is no node 9 -> nodes are numbered from 0 to 7"
    );
    assert_eq!(
        said(json!({ "at": "3 s", "action": "node_down", "node": 1 })),
        "at: `apply` acts at the present time and takes no `at` -> call `run_until` first to advance to another time"
    );
    assert_eq!(
        said(json!({ "action": "node_down", "nod": 9 })),
        "nod: a scenario has no setting `nod` -> did you mean `node`?"
    );
    assert_eq!(
        said(json!([1])),
        ": a scenario must be a table, not a list -> its settings are: at, action, node, channel, wired_link, position, destination, speed, \
         flow, setting, value"
    );
}

#[test]
fn invalid_flows_between_several_nodes() {
    let flow = |fields: &str| problem(&format!("flow = [{{ {fields} }}]"));
    assert_eq!(
        flow("src = \"3-5\""),
        "my.toml:2:9 `flow.0` has no destination -> set `flow.0.dst` to a node, or to several nodes, e.g. \"3-7\""
    );
    assert_eq!(flow("src = \"1-9\", dst = 0"), "my.toml:2:17 there is no node 9 -> nodes are numbered from 0 to 7");
    assert_eq!(flow("src = [1, 9], dst = 0"), "my.toml:2:17 there is no node 9 -> nodes are numbered from 0 to 7");
    for (src, column) in [("3", 26), ("[3]", 28), ("\"3, 3-3\"", 33)] {
        assert_eq!(
            flow(&format!("src = {src}, dst = 3")),
            format!("my.toml:2:{column} `flow.0` goes from node 3 to itself -> choose another node")
        );
    }
    for src in ["\"3-1\"", "\"1 to 3\"", "[]", "[\"1-3\"]", "1.5", "-1"] {
        let said = flow(&format!("src = {src}, dst = 7"));
        assert!(said.starts_with("my.toml:2:17 `flow.0.src` cannot be "), "{said}");
        assert!(said.ends_with("-> expected a set of nodes such as 3, \"3-7\", \"0, 4-9\" or [1, 4]"), "{said}");
    }
    assert_eq!(
        flow("src = \"0-7\", dst = \"0-7\" }, { src = \"0-300\", dst = \"0-300\""),
        "my.toml:2:8 there are 90356 flows, and at most 20000 are allowed -> if you need that many, raise `run.max_flows`"
    );
    assert_eq!(
        flow("src = \"0-2\", dst = 3, tcp.mss = \"1500 B\""),
        "my.toml:2:43 a packet of 1500 + 40 B is larger than the MTU of 1500 B -> at most 1460 B fit, or raise `net.mtu`"
    );
    // A mistake of one of the flows is reported at their entry.
    assert_eq!(
        flow(
            "src = 0, dst = \"1-3\" }]\nrouting.protocol = \"fixed\"\nrouting.fixed.routes = [{ node = 0, dst = 1, next_hop = 1 }, { node = 0, dst = 2, next_hop = 1 }, { node = 1, dst = 2, next_hop = 2"
        ),
        "my.toml:2:26 node 3 cannot be reached from node 0 -> `routing.fixed.routes` do not lead there"
    );
    assert_eq!(
        flow("src = \"0-2\", dst = 3, stagger = \"1 s\", stop = \"2 s\""),
        "my.toml:2:57 the last flow of `flow.0` stops at 2 s, and starts at 2 s -> a flow stops after it has started"
    );
    assert_eq!(
        flow("dst = 3, stop = \"2 s\", duration = \"1 s\""),
        "my.toml:2:45 `flow.0.stop` and `flow.0.duration` both say when the application stops \
         -> leave one of them out, or set the stop time to \"never\" or the duration to \"unlimited\""
    );
    assert_eq!(
        problem("traffic = { flows = 3, stop = \"2 s\" }"),
        "my.toml:2:31 the last flow of `traffic` stops at 2 s, and starts at 2 s -> a flow stops after it has started"
    );
    let text = "run.stop = \"1 s\"\nflow = [{ src = \"0-2\", dst = 3 }]";
    let beyond = Scenario::from_toml("my.toml", text, &[("flow.1.start".into(), "1 s".into())], &NoFiles);
    let said = beyond.expect_err("there is one entry").render(false);
    assert!(said.contains("`flow` has 1 entry, there is no `flow.1`"), "{said}");
    assert!(said.contains("entries are numbered from 0; flows between several nodes are one entry"), "{said}");
}

#[test]
fn invalid_names_of_flows() {
    let flows = |text: &str| problem(&format!("flow = [{text}]"));
    assert_eq!(
        flows("{ dst = 1, name = \"voice\" }, { dst = 2, name = \"voice\" }"),
        "my.toml:2:56 `flow.1` has the name of `flow.0`: \"voice\" \
         -> choose another name, or give both flows the same group"
    );
    assert_eq!(
        flows("{ dst = 1, name = \"web\" }, { dst = 2, group = \"web\" }"),
        "my.toml:2:27 `flow.0` has the name of the group of `flow.1`: \"web\" \
         -> choose another name, or leave it out if the flow belongs to the group"
    );
    assert_eq!(
        flows("{ src = \"0-2\", dst = 3, name = \"web\" }"),
        "my.toml:2:40 `flow.0` has 3 flows, and `name` names one -> give all of them a group: group = \"web\""
    );
    for taken in ["tcp", "udp", "vegas", "cbr", "on_off", "worst", "each", "all"] {
        let said = flows(&format!("{{ dst = 1, group = \"{taken}\" }}"));
        assert!(said.starts_with("my.toml:2:28 `flow.0.group` cannot be "), "{said}");
        assert!(said.contains("already stands for a choice of flows"), "{said}");
    }
    for written in ["7", "\"7\"", "\"my voice\"", "\"a,b\"", "\"src=0\"", "\"\"", "true"] {
        let said = flows(&format!("{{ dst = 1, name = {written} }}"));
        assert!(said.starts_with("my.toml:2:27 `flow.0.name` cannot be "), "{said}");
        assert!(said.contains("expected a name that begins with a letter"), "{said}");
    }
}

#[test]
fn invalid_arrivals() {
    let arrivals = |fields: &str| problem(&format!("arrival_process = [{{ {fields} }}]"));
    assert_eq!(arrivals("src = 8"), "my.toml:2:28 there is no node 8 -> nodes are numbered from 0 to 7");
    assert_eq!(
        arrivals("src = 1, dst = 1"),
        "my.toml:2:37 short flows go from node 1 to itself -> choose another node, or \"random\""
    );
    assert_eq!(
        arrivals("rate = 0"),
        "my.toml:2:29 `arrival_process.0.rate` is 0 -> it must be above 0 and at most 1000000"
    );
    assert_eq!(
        arrivals("start = \"1 s\", stop = \"1 s\""),
        "my.toml:2:44 arrivals stop at 1 s, and start at 1 s -> they stop after they have started"
    );
    assert_eq!(
        arrivals("count = 0"),
        "my.toml:2:30 `arrival_process.0.count` is 0 -> it must be from 1 to 1000000000, or \"unlimited\""
    );
    assert_eq!(
        arrivals("size = { mean = \"0 B\" }"),
        "my.toml:2:38 `arrival_process.0.size.mean` is 0 B -> it must be from 1 B to 1000000000 B"
    );
    assert_eq!(
        arrivals("size = { distribution = \"pareto\", shape = 1 }"),
        "my.toml:2:64 `arrival_process.0.size.shape` is 1 -> it must be above 1 and at most 100"
    );
    assert_eq!(
        arrivals("size = { distribution = \"lognormal\", sigma = -1 }"),
        "my.toml:2:67 `arrival_process.0.size.sigma` is -1 -> it must be from 0 to 10"
    );
    assert_eq!(
        arrivals("tcp = { receive_windw = 3 }"),
        "my.toml:2:30 `arrival_process.0.tcp` has no setting `receive_windw` -> did you mean `receive_window`?"
    );
    assert_eq!(
        problem("topology = { hops = 3, spacing = \"300 m\" }\narrival_process = [{ rate = 2 }]"),
        "my.toml:3:20 arrival process 0: node 1 cannot be reached from node 0 \
         -> short flows need paths in both directions between all their possible sources and destinations"
    );
    assert_eq!(
        problem("arrival_process = [{ rate = 1e6 }]\nrun.max_memory = \"100 kB\"\n"),
        "my.toml:2:19 a run needs about 560 MB of memory, and at most 100 kB are allowed \
         -> if you need that much, raise `run.max_memory`"
    );
}

#[test]
fn packets_that_do_not_fit_into_frames() {
    // The MSDU of 802.11 has 2304 B, LLC included.
    assert_eq!(
        problem("net.mtu = \"2300 B\""),
        "my.toml:2:11 a packet of 2300 B with 8 B of LLC is larger than an MSDU, 2304 B \
         -> set `net.mtu` to at most 2296 B"
    );
    assert_eq!(
        problem("net.mtu = \"2200 B\"\nwlan.llc_size = \"200 B\""),
        "my.toml:3:17 a packet of 2200 B with 200 B of LLC is larger than an MSDU, 2304 B \
         -> set `net.mtu` to at most 2104 B"
    );
    for fits in [
        "net.mtu = \"2296 B\"",
        "net.mtu = \"2304 B\"\nwlan.llc_size = \"0 B\"",
        "net.mtu = \"2304 B\"\ntopology.kind = \"none\"\ntopology.wired_nodes = 2\nwired_link = [{ dst = 1 }]",
    ] {
        assert!(read(&format!("run.stop = \"1 s\"\n{fits}")).is_ok(), "{fits}");
    }
    // Raising the MTU does not help where no frame is large enough.
    assert_eq!(
        problem("cbr.payload = \"60000 B\"\nflow = [{ src = 0, dst = 1, app = \"cbr\" }]"),
        "my.toml:2:15 a packet of 60000 + 28 B is larger than the MTU of 1500 B -> at most 1472 B fit"
    );
}

#[test]
fn source_routes_make_packets_longer() {
    // RFC 4728: 4 B, an option of 4 B, and 4 B for each node between the ends.
    let header = |hops: u32| 4 + 4 + 4 * (hops - 1);
    let text = |hops: u32, segment: u32, more: &str| {
        format!(
            "run.stop = \"1 s\"\nrouting.protocol = \"dsr\"\ntopology.hops = {hops}\ntcp.mss = \"{segment} B\"\n\
             flow = [{{ dst = {hops} }}]\n{more}"
        )
    };
    let said = |text: &str| {
        let found = read(text).expect("it can be run").warnings;
        found.into_iter().map(|p| (p.path, p.message, p.help.unwrap_or_default())).collect::<Vec<_>>()
    };
    let warned = said(&text(14, 1460, ""));
    let grown = 1500 + header(14);
    assert_eq!(
        warned,
        [(
            "tcp.mss".to_owned(),
            format!("with a route of 14 hops a packet of 1460 + 40 B has {grown} B, more than the MTU of 1500 B"),
            format!(
                "routes of DSR travel in packets: set `tcp.mss` to at most {} B, or `net.mtu` to {grown} B",
                1460 - header(14)
            ),
        )]
    );
    for fits in [
        text(14, 1460 - header(14), ""),
        text(14, 1460, &format!("net.mtu = \"{grown} B\"")),
        text(14, 1460, "").replace("dsr", "aodv"),
        // Nobody has chosen either size.
        text(14, 1460, "").replace("tcp.mss = \"1460 B\"", ""),
        // No route is longer than the protocol finds.
        text(14, 1460 - header(3), "routing.dsr.discovery_hop_limit = 3").replace("dst = 14", "dst = 3"),
    ] {
        assert_eq!(said(&fits), [], "{fits}");
    }
    assert_eq!(said(&text(14, 1461 - header(14), "")).len(), 1);
    // Not even the shortest route fits into a frame.
    let p = problems(&text(2, 2256, "net.mtu = \"2296 B\""));
    assert_eq!(
        p,
        [
            "my.toml:4:11 a packet of 2256 + 40 B has 2304 B with a route of one hop: more than fit into a frame, 2296 B \
          -> set `tcp.mss` to at most 2244 B"
        ]
    );
    assert_eq!(said(&text(2, 2248, "net.mtu = \"2296 B\"")).len(), 1);
}

/// A file that is read under every name.
struct One<'a>(&'a str);

impl Files for One<'_> {
    fn read(&self, name: &str, _: &str) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.to_owned()))
    }
}

/// Problems and advice of a scenario with a file of movements.
fn of_movements(text: &str) -> String {
    let scenario = "run.stop = \"9 s\"\ntopology.kind = \"motion\"\nmobility = { model = \"file\", file = \"m\" }\n\
                    flow = [{ src = 0, dst = 1 }]";
    match Scenario::from_toml("test", scenario, &[], &One(text)) {
        Ok(_) => "read".to_owned(),
        Err(e) => e.problems.iter().map(|p| format!("{} -> {}", p.message, p.help.as_deref().unwrap_or(""))).collect(),
    }
}

/// Formats after their descriptions: GPS tracks, the external movement of The ONE, Tcl as ns-2 users write it.
#[test]
fn files_of_movements_are_called_what_they_are() {
    let one = "0 100 0 500 0 500 0 0\n0 0 10.5 20\n0 1 30 40\n10 0 15 20\n10 1 35 40\n";
    for (text, said) in [
        ("0 0 0\n1 5 0\n2 10 0\n", "it is the track of one node"),
        ("# t x y\n12.5 3.5 0\n13.5 3.75 0\n", "it is the track of one node"),
        ("0 1.5 2.5 9\n1 2.5 2.5 9\n2 3.5 2.5 9\n", "it is the track of one node"),
        (one, "it is a trace of The ONE"),
        (&one.replace("0 100 0 500 0 500 0 0", "0 100 0 500 0 500"), "it is a trace of The ONE"),
        ("0 9 0 5 0 5\n0 p1 1 2\n0 p2 3 4\n5 p1 2 2\n", "it is a trace of The ONE"),
        ("0 0 10 20\n0 1 30 40\n10 0 15 20\n10 1 35 40\n", "it has a time, a node and its place in each line"),
        ("0 a 10 20\n0 b 30 40\n10 a 15 20\n", "it has a time, a node and its place in each line"),
        ("0 0 10 20\n0 1 15 20\n1 0 30 40\n1 1 35 40\n", "it has a"),
        ("for {set i 0} {$i < 2} {incr i} {\n  $node_($i) set X_ [expr $i * 100]\n}\n", "it is a script of Tcl"),
        ("set n(0) [$ns node]\n$n(0) set X_ 5\n", "it is a script of Tcl"),
        ("set val(nn) 2\nproc place {n} { global val }\n", "it is a script of Tcl"),
        ("foreach n {0 1} { $node_($n) set X_ 5 }\n", "it is a script of Tcl"),
    ] {
        let found = of_movements(text);
        assert!(found.contains(said) && found.contains(" -> "), "{text}{found}");
        assert!(
            !found.contains("semicolon") && !found.contains("three dimensions") && !found.contains("time_s`"),
            "{found}"
        );
    }
    // Nodes that stand still, as BonnMotion and our own writer write them.
    for text in ["0 0 0\n0 5 0\n", "0 1 2 10 3 4\n0 5 6 10 7 8\n", "#2D\n0 0 0\n1 5 0\n2 10 0\n"] {
        assert_eq!(of_movements(text), "read", "{text}");
    }
    let traffic = "for {set i 0} {$i < 2} {incr i} {\n set tcp_($i) [new Agent/TCP]\n $ns_ attach-agent $node_($i) $tcp_($i)\n}\n";
    let text = "run.stop = \"1 s\"\ntraffic.file = \"f\"\n";
    for (file, said) in [(traffic, "it is a script of ns-2 with traffic"), ("set n(0) 5\n", "it is a script")] {
        let found = Scenario::from_toml("test", text, &[], &One(file)).expect_err("it is no table").to_string();
        assert!(found.contains(said), "{found}");
    }
}

/// 802.11-2020, 19.5: MCS 8 to 15 of HT are 0 to 7 with two streams, and so on.
#[test]
fn mcs_of_several_streams_are_explained() {
    let of = |rest: &str| {
        let text = format!("run.stop = \"1 s\"\ntopology = {{ hops = 1, spacing = \"5 m\" }}\n{rest}");
        let e = Scenario::from_toml("test", &text, &[], &NoFiles).err().unwrap_or_else(|| panic!("{rest}"));
        e.to_string()
    };
    for mcs in 8..32 {
        let said = match (mcs % 8, mcs / 8 + 1) {
            (low, 2) => format!("MCS {mcs} of 802.11n is MCS {low} with two streams, `mcs = {low}` and `streams = 2`"),
            (low, n) => format!("MCS {mcs} of 802.11n is MCS {low} with {n} streams, and here are at most two"),
        };
        let found = of(&format!("extends = \"802.11n\"\nwlan.ppdu.mcs = {mcs}"));
        assert!(found.contains(&said), "{found}");
    }
    assert!(of("extends = \"802.11ac\"\nwlan.ppdu.mcs = 15").contains("MCS 7 with two streams"));
    assert!(!of("extends = \"802.11n\"\nwlan.ppdu.mcs = 32").contains("streams"));
}

#[test]
fn whole_numbers_that_fit_nowhere_are_named_as_they_are_written() {
    let of = |text: &str, changes: &[(String, String)]| {
        let e = Scenario::from_toml("test", text, changes, &NoFiles).expect_err("it is too large");
        e.problems.iter().map(|p| format!("{} -> {}", p.message, p.help.as_deref().unwrap_or(""))).collect::<Vec<_>>()
    };
    for digits in ["9223372036854775808", "18446744073709551615", "18446744073709551617", "99999999999999999999999"] {
        let seed = format!("`run.seed` cannot be {digits} -> expected a whole number from 0 to {}", i64::MAX);
        assert_eq!(of(&format!("run = {{ stop = \"1 s\", seed = {digits} }}"), &[]), std::slice::from_ref(&seed));
        let set = [("run.seed".to_owned(), digits.to_owned())];
        assert_eq!(of("run.stop = \"1 s\"", &set), [seed]);
        let hops = format!("`topology.hops` cannot be {digits} -> it must be from 1 to 1000000000");
        assert_eq!(of(&format!("run.stop = \"1 s\"\ntopology.hops = {digits}"), &[]), [hops]);
    }
}
