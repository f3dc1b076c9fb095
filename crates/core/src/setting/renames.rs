//! Former names of settings and words: each works for one version, with a warning that names the new one.
//!
//! A former name is never used again for anything else. `docs/generate.py` prints the lists.

use super::{Value, join};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A setting or group with a former name.
pub struct Rename {
    /// Former name; `*` is a place in a list.
    pub old: &'static str,
    /// Name.
    pub new: &'static str,
    /// Value of today for a value under the former name, where they differ.
    pub convert: Option<Convert>,
}

/// Value of today for a former value; `None` if the value stays.
pub type Convert = fn(&Value) -> Option<Value>;

/// Former names of settings and groups.
pub const SETTINGS: &[Rename] = &[];

/// Former words: name of the setting, the former word, the word.
pub const WORDS: &[(&str, &str, &str)] = &[];

/// Former ways to write the value of a setting that kept its name.
pub const VALUES: &[(&str, Convert)] = &[];

/// Groups that contain settings of other groups: `flow.0.tcp.window` is `tcp.window` of one flow.
const HOLDERS: &[&str] =
    &["flow.*", "pairs.*", "arrivals.*", "node.*", "middlebox.*", "split", "wire", "link.*", "link.*.back"];

/// Name with each place in a list replaced by `*`.
fn generic(path: &str) -> String {
    let steps = path.split('.').map(|s| if s.parse::<usize>().is_ok() { "*" } else { s });
    steps.collect::<Vec<_>>().join(".")
}

/// Name of a setting or group that was called `path`; `None` if `path` is no former name.
pub fn renamed(path: &str) -> Option<String> {
    renamed_by(path, &|generic| {
        static NAMES: OnceLock<HashMap<&str, &str>> = OnceLock::new();
        NAMES.get_or_init(|| SETTINGS.iter().map(|r| (r.old, r.new)).collect()).get(generic).copied()
    })
}

/// Value of the setting `new` for a value written in a former way, under the name `old`.
pub fn converted(old: &str, new: &str, value: &Value) -> Option<Value> {
    if let (Value::Text(text), new) = (value, generic(new)) {
        if let Some(word) = of_holders(&new, |name| word(name, text)) {
            return Some(Value::Text(word.to_owned()));
        }
    }
    let renamed = of_holders(&generic(old), |name| SETTINGS.iter().find(|r| r.old == name)?.convert);
    if let Some(value) = renamed.and_then(|convert| convert(value)) {
        return Some(value);
    }
    of_holders(&generic(new), |name| VALUES.iter().find(|v| v.0 == name)?.1(value))
}

/// Name of a setting by a list of names; the longest former name that `path` begins with decides.
fn renamed_by(path: &str, list: &dyn Fn(&str) -> Option<&'static str>) -> Option<String> {
    let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
    for end in ends.collect::<Vec<_>>().into_iter().rev() {
        let (group, rest) = (&path[..end], path[end..].trim_start_matches('.'));
        let of_any = generic(group);
        let deeper = || if HOLDERS.contains(&of_any.as_str()) { renamed_by(rest, list) } else { None };
        if let Some(new) = list(&of_any) {
            let mut places = group.split('.').filter(|s| s.parse::<usize>().is_ok());
            let steps = new.split('.').map(|s| if s == "*" { places.next().unwrap_or("0") } else { s });
            let group = steps.collect::<Vec<_>>().join(".");
            let rest = deeper().unwrap_or_else(|| rest.to_owned());
            return Some(if rest.is_empty() { group } else { join(&group, &rest) });
        }
        if let Some(rest) = deeper() {
            return Some(join(group, &rest));
        }
    }
    None
}

fn word(setting: &str, written: &str) -> Option<&'static str> {
    static WORDS_OF: OnceLock<HashMap<(&str, &str), &str>> = OnceLock::new();
    let words = WORDS_OF.get_or_init(|| WORDS.iter().map(|&(setting, old, new)| ((setting, old), new)).collect());
    words.get(&(setting, written)).copied()
}

/// Result of `find` for a name, or for the rest of the name within the groups that hold other groups:
/// `flow.*.tcp.max_cwnd` has the words of `tcp.max_cwnd`.
fn of_holders<T>(name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut rest = name;
    loop {
        if let Some(found) = find(rest) {
            return Some(found);
        }
        rest = HOLDERS.iter().find_map(|holder| rest.strip_prefix(holder)?.strip_prefix('.'))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_former_name_decides_and_places_in_lists_stay() {
        let list = |generic: &str| match generic {
            "motion" => Some("mobility"),
            "motion.kind" => Some("mobility.model"),
            "link.*" => Some("wired.link.*"),
            "link.*.from" => Some("wired.link.*.src"),
            "queue.red.q_weight" => Some("queue.red.weight"),
            _ => None,
        };
        let now = |path| renamed_by(path, &list);
        assert_eq!(now("motion").as_deref(), Some("mobility"));
        assert_eq!(now("motion.kind").as_deref(), Some("mobility.model"));
        assert_eq!(now("motion.pause").as_deref(), Some("mobility.pause"));
        assert_eq!(now("node.3.motion.kind").as_deref(), Some("node.3.mobility.model"));
        assert_eq!(now("link.2.from").as_deref(), Some("wired.link.2.src"));
        assert_eq!(now("link.2.queue.red.q_weight").as_deref(), Some("wired.link.2.queue.red.weight"));
        assert_eq!(now("link.2.back.queue.red.q_weight").as_deref(), Some("wired.link.2.back.queue.red.weight"));
        assert_eq!(now("mobility.kind"), None);
        assert_eq!(now("queue.red"), None);
    }

    #[test]
    fn no_former_name_is_in_use() {
        let schema = crate::scenario::json_schema();
        let exists = |name: &str| {
            name.split('.').try_fold(&schema, |at, step| match step {
                "*" => at.get("items"),
                step => at.get("properties")?.get(step),
            })
        };
        for Rename { old, new, .. } in SETTINGS {
            assert!(exists(old).is_none(), "{old} is in use");
            assert!(exists(new).is_some(), "{new} does not exist");
        }
        for (setting, old, new) in WORDS {
            let of = exists(setting).unwrap_or_else(|| panic!("{setting} does not exist")).to_string();
            assert!(of.contains(&format!("\"{new}\"")), "{setting} has no word {new}");
            assert!(!of.contains(&format!("\"{old}\"")), "{setting} has the former word {old}");
        }
    }
}
