//! Former names of settings: each works for one version, with a warning that names the new one.
//!
//! A former name is never used again for anything else. `docs/generate.py` prints the list.

use super::join;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Former name and name of settings and groups; `*` is a place in a list. A renamed setting stays in its group.
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
    ("link.*.from", "link.*.src"),
    ("link.*.to", "link.*.dst"),
    ("motion", "mobility"),
    ("motion.courses", "mobility.table"),
    ("motion.kind", "mobility.model"),
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
    ("pairs.*.from", "pairs.*.src"),
    ("pairs.*.ftp", "pairs.*.bulk"),
    ("pairs.*.lasts", "pairs.*.duration"),
    ("pairs.*.to", "pairs.*.dst"),
    ("queue.pie.mean_pktsize", "queue.pie.mean_packet_size"),
    ("queue.red.bottom", "queue.red.min_max_p"),
    ("queue.red.mean_pktsize", "queue.red.mean_packet_size"),
    ("queue.red.q_weight", "queue.red.weight"),
    ("queue.red.top", "queue.red.max_max_p"),
    ("routing.aodv.rerr_bytes", "routing.aodv.rerr_size"),
    ("routing.aodv.rerr_destination_bytes", "routing.aodv.rerr_destination_size"),
    ("routing.aodv.rrep_bytes", "routing.aodv.rrep_size"),
    ("routing.aodv.rreq_bytes", "routing.aodv.rreq_size"),
    ("routing.dsdv.entry_bytes", "routing.dsdv.entry_size"),
    ("routing.dsdv.hold", "routing.dsdv.hold_back"),
    ("routing.dsdv.packet_header", "routing.dsdv.packet_header_size"),
    ("routing.dsdv.update_bytes", "routing.dsdv.update_size"),
    ("routing.dsr.cache_own", "routing.dsr.own_cache_paths"),
    ("routing.dsr.cache_seen", "routing.dsr.seen_cache_paths"),
    ("routing.dsr.message_header", "routing.dsr.message_header_size"),
    ("routing.dsr.packet_header", "routing.dsr.packet_header_size"),
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
    ("tcp.elfn.window", "tcp.elfn.cwnd"),
    ("tcp.halving", "tcp.ssthresh_base"),
    ("tcp.header", "tcp.header_size"),
    ("tcp.hop_limit.least", "tcp.hop_limit.min_segments"),
    ("tcp.idle", "tcp.after_idle"),
    ("tcp.sack_block_bytes", "tcp.sack_block_size"),
    ("tcp.segment", "tcp.mss"),
    ("tcp.thinning", "tcp.ack_thinning"),
    ("tcp.westwood.gain", "tcp.westwood.ewma_weight"),
    ("tcp.window", "tcp.receive_window"),
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

/// Setting whose value is the name of a setting.
const NAMES_A_SETTING: &str = "event.*.set";

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
    "link.*.back",
    "link.*",
];

/// Limit on the number of steps of a former name; longer names are no settings.
const MAX_STEPS: usize = 16;

/// Last names by name of settings and groups.
type Names = HashMap<&'static str, &'static str>;

/// Name of the setting or group that was called `path`; `None` if `path` has no former name.
pub fn renamed(path: &str) -> Option<String> {
    renamed_key("", path)
}

/// Current key of a setting or group whose key was `key` in a group that was called `group`; `None` if `key` has no
/// former name. The key may be dotted.
pub fn renamed_key(group: &str, key: &str) -> Option<String> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    let names = NAMES.get_or_init(|| SETTINGS.iter().map(|&(old, new)| (old, last(new))).collect());
    if group.split('.').chain(key.split('.')).nth(MAX_STEPS).is_some() {
        return None;
    }
    let (mut old, mut new) = (group.to_owned(), String::new());
    for step in key.split('.') {
        old = join(&old, step);
        new = join(&new, last_of(&old, names).unwrap_or(step));
    }
    (new != key).then_some(new)
}

/// Former last name of the setting or group that is called `path`; `None` if it had none.
pub fn former_last(path: &str) -> Option<&'static str> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    last_of(path, NAMES.get_or_init(|| SETTINGS.iter().map(|&(old, new)| (new, last(old))).collect()))
}

/// Value of a setting that names a setting by a former name; `None` for other settings and values.
pub fn renamed_value(setting: &str, value: &str) -> Option<String> {
    if generic(setting) == NAMES_A_SETTING { renamed(value) } else { None }
}

/// Name with each place in a list replaced by `*`.
pub fn generic(path: &str) -> String {
    let steps = path.split('.').map(|s| if s.parse::<usize>().is_ok() { "*" } else { s });
    steps.collect::<Vec<_>>().join(".")
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Last name for a name, or for the rest of the name within groups that contain others.
fn last_of(path: &str, names: &Names) -> Option<&'static str> {
    let path = generic(path);
    let mut rest = path.as_str();
    loop {
        if let Some(found) = names.get(rest) {
            return Some(found);
        }
        rest = HOLDERS.iter().find_map(|holder| rest.strip_prefix(holder)?.strip_prefix('.'))?;
    }
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
        assert_eq!(now("link.2.from"), "link.2.src");
        assert_eq!(now("link.2.queue.red.q_weight"), "link.2.queue.red.weight");
        assert_eq!(now("link.2.back.queue.red.q_weight"), "link.2.back.queue.red.weight");
        assert_eq!(now("arrivals.0.tcp.window"), "arrival_process.0.tcp.receive_window");
        assert_eq!(now("middlebox.1.split.tcp.segment"), "middlebox.1.split.tcp.mss");
        assert_eq!(renamed_key("flow.0", "tcp.window").as_deref(), Some("tcp.receive_window"));
        assert_eq!((renamed("mobility.kind"), renamed("queue.red"), renamed("")), (None, None, None));
        assert_eq!(renamed_value("event.7.set", "flow.3.tcp.window").as_deref(), Some("flow.3.tcp.receive_window"));
        assert_eq!(
            (renamed_value("event.7.set", "link.0.rate"), renamed_value("traffic.file", "motion")),
            (None, None)
        );
    }

    #[test]
    fn renamed_settings_stay_in_their_groups() {
        for (old, new) in SETTINGS {
            assert_eq!(renamed(old).as_deref(), Some(*new));
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
