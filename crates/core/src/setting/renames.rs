//! Former names of settings: each works for one version, with a warning that names the new one.
//!
//! A former name is never used again for anything else. `docs/generate.py` prints the list.

use super::join;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Former name and name of settings and groups; `*` is a place in a list.
pub const SETTINGS: &[(&str, &str)] = &[
    ("arp.bytes", "arp.packet_size"),
    ("arrivals", "arrival_process"),
    ("arrivals.*.from", "arrival_process.*.src"),
    ("arrivals.*.to", "arrival_process.*.dst"),
    ("cbr.header", "cbr.header_size"),
    ("eln.memory", "eln.memory_segments"),
    ("flow.*.from", "flow.*.src"),
    ("flow.*.ftp", "flow.*.bulk"),
    ("flow.*.to", "flow.*.dst"),
    ("ftp", "bulk"),
    ("link", "wired_link"),
    ("link.*.from", "wired_link.*.src"),
    ("link.*.to", "wired_link.*.dst"),
    ("motion", "mobility"),
    ("motion.courses", "mobility.table"),
    ("motion.decides_ties", "mobility.ns2.decides_ties"),
    ("motion.kind", "mobility.model"),
    ("motion.known_for", "mobility.ns2.neighbor_list_interval"),
    ("motion.start", "mobility.initial"),
    ("net.link_delay", "net.processing_delay"),
    ("net.link_red.max_th", "net.link_red.max_threshold"),
    ("net.link_red.min_th", "net.link_red.min_threshold"),
    ("net.neighborhood_red.max_th", "net.neighborhood_red.max_threshold"),
    ("net.neighborhood_red.mean_pktsize", "net.neighborhood_red.mean_packet_size"),
    ("net.neighborhood_red.min_th", "net.neighborhood_red.min_threshold"),
    ("net.neighborhood_red.ncn_bytes", "net.neighborhood_red.ncn_size"),
    ("net.neighborhood_red.w_q", "net.neighborhood_red.weight"),
    ("on_off.header", "on_off.header_size"),
    ("on_off.messages", "on_off.framing"),
    ("queue.pie.mean_pktsize", "queue.pie.mean_packet_size"),
    ("queue.red.bottom", "queue.red.min_max_p"),
    ("queue.red.mean_pktsize", "queue.red.mean_packet_size"),
    ("queue.red.q_weight", "queue.red.weight"),
    ("queue.red.top", "queue.red.max_max_p"),
    ("radio.links", "radio.links_file"),
    ("receiver.error", "wlan.error"),
    ("receiver.extra", "wlan.error.extra_size"),
    ("receiver.frames", "wlan.error.frames"),
    ("receiver.layer", "wlan.error.layer"),
    ("routing.aodv.rerr_bytes", "routing.aodv.rerr_size"),
    ("routing.aodv.rerr_destination_bytes", "routing.aodv.rerr_destination_size"),
    ("routing.aodv.rrep_bytes", "routing.aodv.rrep_size"),
    ("routing.aodv.rreq_bytes", "routing.aodv.rreq_size"),
    ("routing.dsdv.answer_always", "routing.dsdv.ns2.answer_always"),
    ("routing.dsdv.entry_bytes", "routing.dsdv.entry_size"),
    ("routing.dsdv.header_after_wait", "routing.dsdv.ns2.header_after_wait"),
    ("routing.dsdv.hold", "routing.dsdv.hold_back"),
    ("routing.dsdv.lose_triggers", "routing.dsdv.ns2.lose_triggers"),
    ("routing.dsdv.packet_header", "routing.dsdv.ns2.packet_header_size"),
    ("routing.dsdv.repeat_metric", "routing.dsdv.ns2.repeat_metric"),
    ("routing.dsdv.unknown_triggers", "routing.dsdv.ns2.unknown_triggers"),
    ("routing.dsdv.update_bytes", "routing.dsdv.update_size"),
    ("routing.dsr.bug_grat_reply_late", "routing.dsr.ns2.grat_reply_late"),
    ("routing.dsr.bug_overheard_errors", "routing.dsr.ns2.overheard_errors"),
    ("routing.dsr.cache_own", "routing.dsr.own_cache_paths"),
    ("routing.dsr.cache_seen", "routing.dsr.seen_cache_paths"),
    ("routing.dsr.check_always", "routing.dsr.ns2.check_always"),
    ("routing.dsr.check_max", "routing.dsr.max_check_interval"),
    ("routing.dsr.check_min", "routing.dsr.min_check_interval"),
    ("routing.dsr.message_header", "routing.dsr.message_header_size"),
    ("routing.dsr.overhear_once", "routing.dsr.ns2.overhear_once"),
    ("routing.dsr.packet_header", "routing.dsr.ns2.packet_header_size"),
    ("routing.dsr.request_grows_twice", "routing.dsr.ns2.request_grows_twice"),
    ("routing.dsr.salvage_unknown_flow", "routing.dsr.ns2.salvage_unknown_flow"),
    ("routing.dsr.salvage_waits", "routing.dsr.ns2.salvage_waits"),
    ("routing.dsr.send_buffer", "routing.dsr.buffer_packets"),
    ("routing.dsr.send_buffer_timeout", "routing.dsr.buffer_timeout"),
    ("routing.dsr.unknown_flow_bytes", "routing.dsr.unknown_flow_size"),
    ("routing.fixed.routes.*.at", "routing.fixed.routes.*.node"),
    ("routing.fixed.routes.*.to", "routing.fixed.routes.*.dst"),
    ("routing.fixed.routes.*.via", "routing.fixed.routes.*.next_hop"),
    ("routing.ttl", "net.ttl"),
    ("run.air_time", "run.airtime"),
    ("run.discard", "run.warmup_batches"),
    ("run.limit", "run.time_limit"),
    ("run.sample", "run.sample_interval"),
    ("snoop.cache", "snoop.cache_segments"),
    ("snoop.gain", "snoop.rtt_weight"),
    ("snoop.weight", "snoop.rtt_weight_of"),
    ("split.buffer", "split.buffer_segments"),
    ("tcp.ack", "tcp.ack_policy"),
    ("tcp.ack_bytes", "tcp.ack_size"),
    ("tcp.ap.gain", "tcp.ap.ewma_weight"),
    ("tcp.ap.history", "tcp.ap.history_samples"),
    ("tcp.ap.longest", "tcp.ap.max_sample"),
    ("tcp.delayed", "tcp.delayed_ack"),
    ("tcp.ecn.below_one", "tcp.ecn.ns2.below_one"),
    ("tcp.ecn.cut_after_timeout", "tcp.ecn.ns2.cut_after_timeout"),
    ("tcp.ecn.cwr_on_retransmissions", "tcp.ecn.ns2.cwr_on_retransmissions"),
    ("tcp.ecn.ect_on_retransmissions", "tcp.ecn.ns2.ect_on_retransmissions"),
    ("tcp.ecn.recover_from_cut", "tcp.ecn.ns2.recover_from_cut"),
    ("tcp.ecn.spare_ssthresh", "tcp.ecn.ns2.spare_ssthresh"),
    ("tcp.elfn.window", "tcp.elfn.cwnd"),
    ("tcp.halving", "tcp.ssthresh_base"),
    ("tcp.header", "tcp.header_size"),
    ("tcp.hop_limit.least", "tcp.hop_limit.min_segments"),
    ("tcp.idle", "tcp.after_idle"),
    ("tcp.sack_block_bytes", "tcp.sack_block_size"),
    ("tcp.segment", "tcp.mss"),
    ("tcp.thinning", "tcp.ack_thinning"),
    ("tcp.vegas.bare_segments", "tcp.vegas.ns2.bare_segments"),
    ("tcp.vegas.bug_backoff_on_fast_retransmit", "tcp.vegas.ns2.backoff_on_fast_retransmit"),
    ("tcp.vegas.bug_base_rtt_grows", "tcp.vegas.ns2.base_rtt_grows"),
    ("tcp.vegas.bug_clearing_stops_at_wrap", "tcp.vegas.ns2.clearing_stops_at_wrap"),
    ("tcp.vegas.bug_inflation_stays", "tcp.vegas.ns2.inflation_stays"),
    ("tcp.vegas.bug_mark_survives_timeout", "tcp.vegas.ns2.mark_survives_timeout"),
    ("tcp.vegas.bug_not_ect", "tcp.vegas.ns2.not_ect"),
    ("tcp.vegas.bug_restart_at_two", "tcp.vegas.ns2.restart_at_two"),
    ("tcp.vegas.bug_rounded_difference", "tcp.vegas.ns2.rounded_difference"),
    ("tcp.vegas.bug_send_time_sentinels", "tcp.vegas.ns2.send_time_sentinels"),
    ("tcp.vegas.bug_timeout_when_idle", "tcp.vegas.ns2.timeout_when_idle"),
    ("tcp.westwood.gain", "tcp.westwood.ewma_weight"),
    ("tcp.window", "tcp.receive_window"),
    ("wire", "wired"),
    ("wire.nodes", "topology.wired_nodes"),
    ("wlan.cts", "wlan.cts_requires"),
    ("wlan.duplicates", "wlan.duplicate_detection"),
    ("wlan.header", "wlan.header_size"),
    ("wlan.link_rate.*.from", "wlan.link_rate.*.src"),
    ("wlan.link_rate.*.to", "wlan.link_rate.*.dst"),
    ("wlan.llc", "wlan.llc_size"),
    ("wlan.rate_control.arf.most_successes", "wlan.rate_control.arf.max_successes"),
    ("wlan.rate_control.minstrel.segment_size", "wlan.rate_control.minstrel.max_attempt_time"),
    ("wlan.rate_control.sample_rate_thesis.most_failures", "wlan.rate_control.sample_rate_thesis.max_failures"),
];

/// Former names within the former list `pairs`, whose entries have become entries of `flow`.
pub const PAIRS: &[(&str, &str)] = &[
    ("pairs.*.from", "pairs.*.src"),
    ("pairs.*.ftp", "pairs.*.bulk"),
    ("pairs.*.lasts", "pairs.*.duration"),
    ("pairs.*.to", "pairs.*.dst"),
];

/// A former key of an event, whose name was that of the action.
#[derive(Debug, PartialEq, Eq)]
pub struct EventKey {
    /// Former key.
    pub former: &'static str,
    /// Action that the key stood for; `None` if it belonged to another one.
    pub action: Option<&'static str>,
    /// Key of today for its value.
    pub key: &'static str,
}

/// Former keys of events.
pub const EVENTS: &[EventKey] = &[
    EventKey { former: "node_down", action: Some("node_down"), key: "node" },
    EventKey { former: "node_up", action: Some("node_up"), key: "node" },
    EventKey { former: "node_move", action: Some("node_move"), key: "node" },
    EventKey { former: "flow_begin", action: Some("flow_start"), key: "flow" },
    EventKey { former: "flow_end", action: Some("flow_stop"), key: "flow" },
    EventKey { former: "set", action: Some("set"), key: "setting" },
    EventKey { former: "to", action: None, key: "value" },
];

/// Setting whose value is the name of a setting.
const NAMES_A_SETTING: &str = "event.*.setting";

/// Groups that contain settings of other groups: `flow.0.tcp.mss` is `tcp.mss` of one flow.
const HOLDERS: &[&str] = &[
    "flow.*",
    "pairs.*",
    "arrivals.*",
    "arrival_process.*",
    "node.*",
    "middlebox.*",
    "split",
    "wire",
    "wired",
    "link.*.back",
    "link.*",
    "wired_link.*.back",
    "wired_link.*",
];

/// Limit on the number of steps of a former name; longer names are no settings.
const MAX_STEPS: usize = 16;

/// Names by names of settings and groups.
type Names = HashMap<&'static str, &'static str>;

/// Returns true if a step of `path` is the last step of a former name: most names need no further search.
fn may_be_former(path: &str) -> bool {
    static LAST: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let of_settings = SETTINGS.iter().chain(PAIRS).map(|(old, _)| last(old));
    let known = LAST.get_or_init(|| of_settings.chain(EVENTS.iter().map(|word| word.former)).collect());
    path.split('.').any(|step| known.contains(step))
}

/// Name of the setting or group that was called `path`; `None` if `path` has no former name.
pub fn renamed(path: &str) -> Option<String> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    if !may_be_former(path) {
        return None;
    }
    let of_event = |(group, key): (&str, &str)| {
        let word = EVENTS.iter().find(|word| word.former == key).filter(|_| generic(group) == "event.*")?;
        Some(join(group, word.key))
    };
    path.rsplit_once('.')
        .and_then(of_event)
        .or_else(|| renamed_by(path, NAMES.get_or_init(|| SETTINGS.iter().chain(PAIRS).copied().collect())))
}

/// Former groups whose settings have all moved to other groups, each with the group of most of them.
const DISSOLVED: &[(&str, &str)] = &[("receiver", "wlan.error")];

/// Name of the group that was called `path` if it is empty; `None` if its settings have not moved away.
pub fn renamed_empty(path: &str) -> Option<&'static str> {
    DISSOLVED.iter().find(|(old, _)| *old == path).map(|(_, new)| *new)
}

/// Former name of the setting or group that is called `path`; `None` if it had none.
pub fn former(path: &str) -> Option<String> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    renamed_by(path, NAMES.get_or_init(|| SETTINGS.iter().chain(PAIRS).map(|&(old, new)| (new, old)).collect()))
}

/// Name by a list of names; the longest name in the list with which `path` begins decides.
fn renamed_by(path: &str, names: &Names) -> Option<String> {
    let mut ends: Vec<usize> = path.match_indices('.').map(|(at, _)| at).chain([path.len()]).collect();
    if ends.len() > MAX_STEPS {
        return None;
    }
    while let Some(end) = ends.pop() {
        let (group, rest) = (&path[..end], path[end..].trim_start_matches('.'));
        let of_any = generic(group);
        let deeper = || if HOLDERS.contains(&of_any.as_str()) { renamed_by(rest, names) } else { None };
        if let Some(new) = names.get(of_any.as_str()) {
            let mut places = group.split('.').filter(|step| is_place(step));
            let steps = new.split('.').map(|step| if step == "*" { places.next().unwrap_or(step) } else { step });
            let group = steps.collect::<Vec<_>>().join(".");
            let rest = deeper().unwrap_or_else(|| rest.to_owned());
            return Some(if rest.is_empty() { group } else { join(&group, &rest) });
        }
        if let Some(rest) = deeper() {
            return Some(join(&renamed_by(group, names).unwrap_or_else(|| group.to_owned()), &rest));
        }
    }
    None
}

/// Current name of the setting that is named by its former name as the value of `setting`; `None` for other settings
/// and values.
pub fn renamed_value(setting: &str, value: &str) -> Option<String> {
    if generic(setting) == NAMES_A_SETTING { renamed(value) } else { None }
}

/// Former and current last names of the settings and groups of the group that is called `group`, now or formerly.
pub fn of_group(group: &str) -> Vec<(&'static str, &'static str)> {
    let group = generic(group);
    let mut rest = group.as_str();
    loop {
        let is_there = |path: &str| path.rsplit_once('.').map_or("", |(above, _)| above) == rest;
        let found = SETTINGS.iter().filter(|(old, new)| is_there(old) || is_there(new));
        let names: Vec<_> = found.map(|&(old, new)| (last(old), last(new))).collect();
        let inner = HOLDERS.iter().find_map(|holder| rest.strip_prefix(holder)?.strip_prefix('.'));
        match inner {
            Some(inner) if names.is_empty() => rest = inner,
            _ => return names,
        }
    }
}

/// Name with each place in a list replaced by `*`.
pub fn generic(path: &str) -> String {
    let steps = path.split('.').map(|step| if is_place(step) { "*" } else { step });
    steps.collect::<Vec<_>>().join(".")
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn is_place(step: &str) -> bool {
    step.parse::<usize>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_are_replaced_within_names() {
        let now = |path| renamed(path).unwrap_or_default();
        assert_eq!(now("motion"), "mobility");
        assert_eq!(now("motion.kind"), "mobility.model");
        assert_eq!(now("motion.pause"), "mobility.pause");
        assert_eq!(now("node.3.motion.kind"), "node.3.mobility.model");
        assert_eq!(now("link.2.from"), "wired_link.2.src");
        assert_eq!(now("link.2.queue.red.q_weight"), "wired_link.2.queue.red.weight");
        assert_eq!(now("link.2.back.queue.red.q_weight"), "wired_link.2.back.queue.red.weight");
        assert_eq!(now("arrivals.0.tcp.window"), "arrival_process.0.tcp.receive_window");
        assert_eq!(now("middlebox.1.split.tcp.segment"), "middlebox.1.split.tcp.mss");
        assert_eq!(now("receiver.error.rate"), "wlan.error.rate");
        assert_eq!(now("wired.queue.red.q_weight"), "wired.queue.red.weight");
        assert_eq!(former("wired_link.2.back.queue.red.weight").as_deref(), Some("link.2.back.queue.red.q_weight"));
        assert_eq!((renamed("mobility.kind"), renamed("queue.red"), renamed("")), (None, None, None));
        assert_eq!((now("event.0.flow_end"), now("event.2.to")), ("event.0.flow".into(), "event.2.value".into()));
        assert_eq!((renamed("event.0.flow"), renamed("flow_end")), (None, None));
        assert_eq!(former("flow.0.tcp.receive_window").as_deref(), Some("flow.0.tcp.window"));
        assert_eq!(renamed_value("event.7.setting", "flow.3.tcp.window").as_deref(), Some("flow.3.tcp.receive_window"));
        assert_eq!(
            (renamed_value("event.7.setting", "wired_link.0.rate"), renamed_value("traffic.file", "motion")),
            (None, None)
        );
        let of_group = |group| of_group(group).into_iter().find(|(_, new)| ["receive_window", "model"].contains(new));
        assert_eq!(of_group("tcp"), Some(("window", "receive_window")));
        assert_eq!(of_group("flow.2.tcp"), Some(("window", "receive_window")));
        assert_eq!((of_group("mobility"), of_group("net")), (Some(("kind", "model")), None));
    }

    #[test]
    fn each_former_name_has_one_name_and_back() {
        for (old, new) in SETTINGS {
            assert_eq!((renamed(old).as_deref(), former(new).as_deref()), (Some(*new), Some(*old)));
        }
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
        for (old, new) in SETTINGS {
            assert!(exists(old).is_none(), "{old} is in use");
            assert!(exists(new).is_some(), "{new} does not exist");
        }
    }
}
