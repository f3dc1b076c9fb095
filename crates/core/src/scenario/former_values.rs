//! Former ways to write values: former words, "none" where a word says today what happens, power ratios without their
//! unit, and one setting for the name of a file or its text.
//!
//! They work for one version, with a warning. The words in place of "none" are those of the declarations of the
//! settings.

use super::schema::Config;
use crate::setting::renames::{generic, renamed, renamed_empty};
use crate::setting::{Node, Setting, Shown, Value, join};
use crate::unit::{Quantity, Ratio, SignalPower, Watts};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Setting, former word and word.
pub const WORDS: &[(&str, &str, &str)] = &[("flow.*.app", "ftp", "bulk"), ("traffic.app", "ftp", "bulk")];

/// Former word of all settings without a value.
pub const NONE: &str = "none";

/// Default that the previous version wrote with another last digit.
const NOISE_FIGURE: (&str, &str) = ("radio.sinr.noise_figure", "5.011872336272724");

/// Setting that was the name of a file or its text.
const LINKS: &str = "radio.links";

/// Quantities that the previous version wrote in another unit.
#[derive(Clone, Copy, PartialEq)]
enum Former {
    Ratio,
    SignalPower,
}

/// Properties of a setting that its values had in the previous version.
struct Place {
    /// Word for no value.
    word: Option<&'static str>,
    quantity: Option<Former>,
    /// True for common settings, false for those of one node, flow or link, which are kept as they are written.
    is_common: bool,
}

/// Name of a setting by which its values are listed; those in `pairs` are those in `flow`.
fn listed(path: &str) -> String {
    let path = generic(path);
    path.strip_prefix("pairs.").map(|of_flow| join("flow", of_flow)).unwrap_or(path)
}

/// Properties that the values of the setting at `path` had.
fn place(path: &str) -> Option<&'static Place> {
    places().get(&listed(path))
}

/// Settings with former ways to write their values, by dotted name; `*` is a place in a list.
fn places() -> &'static HashMap<String, Place> {
    static PLACES: OnceLock<HashMap<String, Place>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places = HashMap::new();
        Config::default().show("", &mut |path, Shown { word, quantity, has_default }| {
            let quantity = match quantity {
                Ratio::EXPECTED => Some(Former::Ratio),
                SignalPower::EXPECTED => Some(Former::SignalPower),
                _ => None,
            };
            if word.is_some() || quantity.is_some() {
                places.insert(path.to_owned(), Place { word, quantity, is_common: has_default });
            }
        });
        places
    })
}

/// Word of the setting at `path` for no value.
pub fn word(path: &str) -> &'static str {
    place(path).and_then(|p| p.word).unwrap_or(NONE)
}

/// Text that is written today for a text that was written in a former way as the value of the setting at `path`.
pub fn text(path: &str, written: &str) -> Option<String> {
    if written == NONE {
        return Some(word(path)).filter(|word| *word != NONE).map(str::to_owned);
    }
    let setting = listed(path);
    if let Some((.., new)) = WORDS.iter().find(|(of, old, _)| *of == setting && *old == written) {
        return Some((*new).to_owned());
    }
    let is_ratio = |p: &Place| p.quantity == Some(Former::Ratio);
    let number: f64 = written.trim().parse().ok()?;
    places().get(&setting).filter(|p| is_ratio(p))?;
    let exact = Ratio::parse(written).map(|ratio| ratio.to_string()).filter(|text| text.ends_with("dB"));
    Some(exact.unwrap_or_else(|| format!("{} dB", 10.0 * libm::log10(number))))
}

/// Current name of the setting or group that was called `path` and has this value; `None` if it has no former name.
pub fn name(path: &str, value: &Value) -> Option<String> {
    let is_empty = matches!(value, Value::Table(table) if table.entries().is_empty());
    let new = renamed(path).or_else(|| renamed_empty(path).filter(|_| is_empty).map(str::to_owned))?;
    Some(match value {
        Value::Text(text) if generic(path).ends_with(LINKS) && is_table(text) => {
            new.replace("links_file", "links_table")
        }
        _ => new,
    })
}

/// Returns true if the value of `radio.links` was a text and not the name of a file.
fn is_table(text: &str) -> bool {
    text.is_empty() || text.contains('\n')
}

/// Text that the previous version wrote in place of `text`, the value of the setting at `path`; `tree` has the values
/// as they are given.
pub fn before(tree: &Node, path: &str, text: &str) -> Option<String> {
    let setting = listed(path);
    if let Some((_, old, _)) = WORDS.iter().find(|(of, _, new)| *of == setting && *new == text) {
        return Some((*old).to_owned());
    }
    let place = places().get(&setting)?;
    if place.word == Some(text) {
        return Some(NONE.to_owned());
    }
    match place.quantity.filter(|_| place.is_common)? {
        Former::SignalPower => SignalPower::parse(text).map(|power| Watts(power.0).to_string()),
        Former::Ratio => {
            let given = match tree.at(path) {
                Some(Node { value: Value::Text(given), .. }) => given.as_str(),
                _ if path == NOISE_FIGURE.0 => NOISE_FIGURE.1,
                _ => text,
            };
            let linear: Option<f64> = given.trim().parse().ok();
            linear.or_else(|| Ratio::parse(given).map(|ratio| ratio.0)).map(|ratio| ratio.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{NoFiles, Scenario};
    use serde_json::{Value as Json, json};

    #[test]
    fn shown_settings_are_those_of_the_schema() {
        fn collect(schema: &Json, path: &str, all: &mut Vec<(String, Option<String>, bool)>) {
            match (schema["properties"].as_object(), schema.get("items")) {
                (Some(fields), _) => fields.iter().for_each(|(name, field)| collect(field, &join(path, name), all)),
                (None, Some(items)) if items.get("properties").is_some() => collect(items, &join(path, "*"), all),
                _ => {
                    let word = schema["anyOf"][0]["const"].as_str().map(str::to_owned);
                    all.push((path.to_owned(), word, schema.get("default").is_some()));
                }
            }
        }
        let (mut of_schema, mut shown) = (vec![], vec![]);
        collect(&Config::default().schema(), "", &mut of_schema);
        Config::default()
            .show("", &mut |path, s| shown.push((path.to_owned(), s.word.map(str::to_owned), s.has_default)));
        assert_eq!(shown, of_schema);
    }

    #[test]
    fn former_values_have_a_text_of_today() {
        let today = |path, written| text(path, written).unwrap_or_default();
        assert_eq!(today("tcp.max_cwnd", "none"), "unlimited");
        assert_eq!(today("flow.3.tcp.max_cwnd", "none"), "unlimited");
        assert_eq!(today("node.0.radio.receive_threshold", "none"), "range");
        assert_eq!(today("radio.sinr.noise_figure", "5.011872336272724"), "7 dB");
        assert_eq!(today("node.0.radio.shadowing", "2"), "3.010299956639812 dB");
        assert_eq!((today("flow.3.app", "ftp"), today("pairs.3.app", "ftp")), ("bulk".to_owned(), "bulk".to_owned()));
        for (path, written) in [
            ("flow.3.app", "cbr"),
            ("flow.3.src", "ftp"),
            ("topology.file", "none"),
            ("topology.kind", "none"),
            ("tcp.max_cwnd", "3"),
            ("radio.shadowing", "7 dB"),
            ("radio.range", "2"),
            ("no.such.setting", "none"),
        ] {
            assert_eq!(text(path, written), None, "{path}");
        }
    }

    #[test]
    fn links_were_the_name_of_a_file_or_its_text() {
        let table = "from,to,signal_dbm\n0,1,-60\n1,0,-60\n";
        for written in [json!({ "links": table }), json!({ "links_table": table })] {
            let mut radio = json!({ "propagation": "links", "reception": "sinr" });
            radio.as_object_mut().expect("an object").extend(written.as_object().expect("an object").clone());
            let json = json!({ "run.stop": "1 s", "topology.hops": 1, "radio": radio });
            let s = Scenario::from_json(&json, &Json::Null, &NoFiles).expect("a valid scenario");
            assert_eq!(s.effective()["radio"]["links_table"], "src,dst,signal_dbm\n0,1,-60\n1,0,-60\n");
            assert_eq!(s.as_before()["radio"]["links"], table);
            assert_eq!(s.as_before()["radio"].get("links_table"), None);
        }
        let name = |value: &str| name("radio.links", &Value::Text(value.to_owned())).unwrap_or_default();
        assert_eq!(["", "a\n", "links.csv"].map(name), ["radio.links_table", "radio.links_table", "radio.links_file"]);
        let fixed = crate::scenario::fix::fix("my.toml", "[radio]\nlinks = \"\"\"\nsrc,dst\n\"\"\"\n");
        let text = fixed.map(|fixed| fixed.text).unwrap_or_default();
        assert_eq!(text, "[radio]\nlinks_table = \"\"\"\nsrc,dst\n\"\"\"\n");
        let fixed = crate::scenario::fix::fix("my.toml", "radio.links = \"links.csv\"\n");
        assert_eq!(fixed.map(|fixed| fixed.text).unwrap_or_default(), "radio.links_file = \"links.csv\"\n");
    }

    #[test]
    fn settings_are_written_as_before() {
        let scenario = |json| Scenario::from_json(&json, &json!({}), &NoFiles).expect("a valid scenario");
        let before = |more: Json| {
            let s = scenario(json!({ "run.stop": "1 s", "topology.hops": 2 }));
            s.with(&more, &NoFiles).expect("a valid scenario").as_before()
        };
        let all = before(json!({ "radio.transmit_power": "24.5 dBm", "tcp.max_cwnd": null }));
        assert_eq!(all["radio"]["transmit_power"], "0.2818382931264455 W");
        assert_eq!(all["radio"]["shadowing"], "1");
        assert_eq!(all["radio"]["sinr"]["noise_figure"], "5.011872336272724");
        assert_eq!(all["radio"]["sinr"]["energy_detection"], "6.30957344480193e-10 W");
        assert_eq!(all["radio"]["receive_threshold"], "none");
        assert_eq!((&all["tcp"]["max_cwnd"], &all["tcp"]["max_timeouts"]), (&json!("none"), &json!(15)));
        // One with the default in figures, and one with the decibels, whose last digit differs.
        for (given, written) in [("5.011872336272724", "5.011872336272724"), ("7 dB", "5.011872336272722")] {
            let all = before(json!({ "radio.sinr.noise_figure": given }));
            assert_eq!(all["radio"]["sinr"]["noise_figure"], written);
        }
        // Settings of one node are kept as they are written.
        let own = json!([{ "nodes": 0, "radio.transmit_power": "24.5 dBm", "radio.receive_threshold": "range" }]);
        let all = before(json!({ "node": own }));
        assert_eq!(all["node"][0]["radio"], json!({ "transmit_power": "24.5 dBm", "receive_threshold": "none" }));
    }
}
