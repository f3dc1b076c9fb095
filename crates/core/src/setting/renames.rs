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
pub const SETTINGS: &[Rename] = &[
    same("arp.bytes", "arp.packet_size"),
    same("arrivals", "arrival_process"),
    same("arrivals.*.from", "arrival_process.*.src"),
    same("arrivals.*.to", "arrival_process.*.dst"),
    same("cbr.header", "cbr.header_size"),
    same("eln.memory", "eln.memory_segments"),
    same("flow.*.from", "flow.*.src"),
    same("flow.*.ftp", "flow.*.bulk"),
    same("flow.*.to", "flow.*.dst"),
    same("ftp", "bulk"),
    same("link.*.from", "link.*.src"),
    same("link.*.to", "link.*.dst"),
    same("motion", "mobility"),
    same("motion.courses", "mobility.table"),
    same("motion.kind", "mobility.model"),
    same("motion.start", "mobility.initial"),
    same("net.link_delay", "net.processing_delay"),
    same("net.link_red.max_th", "net.link_red.max_threshold"),
    same("net.link_red.min_th", "net.link_red.min_threshold"),
    same("net.neighborhood_red.max_th", "net.neighborhood_red.max_threshold"),
    same("net.neighborhood_red.mean_pktsize", "net.neighborhood_red.mean_packet_size"),
    same("net.neighborhood_red.min_th", "net.neighborhood_red.min_threshold"),
    same("net.neighborhood_red.ncn_bytes", "net.neighborhood_red.ncn_size"),
    same("net.neighborhood_red.w_q", "net.neighborhood_red.weight"),
    same("on_off.header", "on_off.header_size"),
    same("on_off.messages", "on_off.framing"),
    same("pairs.*.from", "pairs.*.src"),
    same("pairs.*.ftp", "pairs.*.bulk"),
    same("pairs.*.lasts", "pairs.*.duration"),
    same("pairs.*.to", "pairs.*.dst"),
    same("queue.pie.mean_pktsize", "queue.pie.mean_packet_size"),
    same("queue.red.bottom", "queue.red.min_max_p"),
    same("queue.red.mean_pktsize", "queue.red.mean_packet_size"),
    same("queue.red.q_weight", "queue.red.weight"),
    same("queue.red.top", "queue.red.max_max_p"),
    same("routing.aodv.rerr_bytes", "routing.aodv.rerr_size"),
    same("routing.aodv.rerr_destination_bytes", "routing.aodv.rerr_destination_size"),
    same("routing.aodv.rrep_bytes", "routing.aodv.rrep_size"),
    same("routing.aodv.rreq_bytes", "routing.aodv.rreq_size"),
    same("routing.dsdv.entry_bytes", "routing.dsdv.entry_size"),
    same("routing.dsdv.hold", "routing.dsdv.hold_back"),
    same("routing.dsdv.packet_header", "routing.dsdv.packet_header_size"),
    same("routing.dsdv.update_bytes", "routing.dsdv.update_size"),
    same("routing.dsr.cache_own", "routing.dsr.own_cache_paths"),
    same("routing.dsr.cache_seen", "routing.dsr.seen_cache_paths"),
    same("routing.dsr.message_header", "routing.dsr.message_header_size"),
    same("routing.dsr.packet_header", "routing.dsr.packet_header_size"),
    same("routing.dsr.send_buffer", "routing.dsr.buffer_packets"),
    same("routing.dsr.send_buffer_timeout", "routing.dsr.buffer_timeout"),
    same("routing.dsr.unknown_flow_bytes", "routing.dsr.unknown_flow_size"),
    same("routing.fixed.routes.*.at", "routing.fixed.routes.*.node"),
    same("routing.fixed.routes.*.to", "routing.fixed.routes.*.dst"),
    same("routing.fixed.routes.*.via", "routing.fixed.routes.*.next_hop"),
    same("run.air_time", "run.airtime"),
    same("run.discard", "run.warmup_batches"),
    same("run.limit", "run.time_limit"),
    same("run.sample", "run.sample_interval"),
    same("snoop.cache", "snoop.cache_segments"),
    same("snoop.gain", "snoop.rtt_weight"),
    same("snoop.weight", "snoop.rtt_weight_of"),
    same("split.buffer", "split.buffer_segments"),
    same("tcp.ack", "tcp.ack_policy"),
    same("tcp.ack_bytes", "tcp.ack_size"),
    same("tcp.ap.gain", "tcp.ap.ewma_weight"),
    same("tcp.ap.history", "tcp.ap.history_samples"),
    same("tcp.ap.longest", "tcp.ap.max_sample"),
    same("tcp.delayed", "tcp.delayed_ack"),
    same("tcp.elfn.window", "tcp.elfn.cwnd"),
    same("tcp.halving", "tcp.ssthresh_base"),
    same("tcp.header", "tcp.header_size"),
    same("tcp.hop_limit.least", "tcp.hop_limit.min_segments"),
    same("tcp.idle", "tcp.after_idle"),
    same("tcp.sack_block_bytes", "tcp.sack_block_size"),
    same("tcp.segment", "tcp.mss"),
    same("tcp.thinning", "tcp.ack_thinning"),
    same("tcp.westwood.gain", "tcp.westwood.ewma_weight"),
    same("tcp.window", "tcp.receive_window"),
    same("wlan.cts", "wlan.cts_requires"),
    same("wlan.duplicates", "wlan.duplicate_detection"),
    same("wlan.header", "wlan.header_size"),
    same("wlan.link_rate.*.from", "wlan.link_rate.*.src"),
    same("wlan.link_rate.*.to", "wlan.link_rate.*.dst"),
    same("wlan.llc", "wlan.llc_size"),
    same("wlan.rate_control.arf.most_successes", "wlan.rate_control.arf.max_successes"),
    same("wlan.rate_control.minstrel.segment_size", "wlan.rate_control.minstrel.max_attempt_time"),
    same("wlan.rate_control.sample_rate_thesis.most_failures", "wlan.rate_control.sample_rate_thesis.max_failures"),
];

/// A former name whose values are written as before.
const fn same(old: &'static str, new: &'static str) -> Rename {
    Rename { old, new, convert: None }
}

/// Former words: name of the setting, the former word, the word.
pub const WORDS: &[(&str, &str, &str)] = &[];

/// Former ways to write the value of a setting that kept its name.
pub const VALUES: &[(&str, Convert)] = &[];

/// Groups that contain settings of other groups: `flow.0.tcp.window` is `tcp.window` of one flow.
const HOLDERS: &[&str] = &[
    "flow.*",
    "pairs.*",
    "arrivals.*",
    "arrival_process.*",
    "node.*",
    "middlebox.*",
    "split",
    "wire",
    "link.*",
    "link.*.back",
];

/// Name with each place in a list replaced by `*`.
pub fn generic(path: &str) -> String {
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

/// Former name of a setting that is called `path`; `None` if `path` is no new name.
pub fn former(path: &str) -> Option<String> {
    renamed_by(path, &|generic| {
        static NAMES: OnceLock<HashMap<&str, &str>> = OnceLock::new();
        NAMES.get_or_init(|| SETTINGS.iter().map(|r| (r.new, r.old)).collect()).get(generic).copied()
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
