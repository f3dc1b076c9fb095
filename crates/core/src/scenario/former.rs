//! Settings of a scenario as the previous version wrote them.

use super::former_values::{self, NONE};
use super::{Scenario, former_events, former_pairs};
use crate::setting::renames::former;
use crate::setting::{Node, join};
use serde_json::{Map, Value as Json, json};

/// Settings that the previous version did not have, each with the value that changes nothing.
const NEW: [(&str, &str); 53] = [
    ("radio.shadowing_seed", "topology"),
    ("traffic.seed", "topology"),
    ("traffic.stop", "never"),
    ("traffic.duration", "unlimited"),
    ("traffic.tcp", "{}"),
    ("tcp.congestion_control", "variant"),
    ("tcp.loss_recovery", "variant"),
    ("tcp.ecn.source_quench", "false"),
    ("tcp.door.enabled", "false"),
    ("tcp.door.hold_rtts", "1.0"),
    ("tcp.door.undo_rtts", "1.0"),
    ("routing.aodv.data_ttl", "net_diameter"),
    ("queue.transmit_ring.interrupt_frames", "5"),
    ("wired.queue.transmit_ring.interrupt_frames", "5"),
    ("wlan.rate_control.cara.probe_failures", "1"),
    ("wlan.rate_control.cara.failures", "2"),
    ("wlan.rate_control.cara.successes", "10"),
    ("wlan.rate_control.cara.attempts", "15"),
    ("tcp.rack_tlp.tick", "4 ms"),
    ("tcp.rack_tlp.sack", "true"),
    ("tcp.rack_tlp.tail_loss_probe", "true"),
    ("tcp.rack_tlp.f_rto", "true"),
    ("tcp.rack_tlp.hystart", "hystart"),
    ("wlan.signal_extension", "0 s"),
    ("radio.sinr.error_rates_file", NONE),
    ("radio.sinr.error_rates_table", ""),
    ("tcp.handshake.linear_repeats", "0"),
    ("tcp.handshake.max_repeats", "max_timeouts"),
    ("tcp.handshake.lost_syn", "rfc5681"),
    ("tcp.handshake.echo", "last"),
    ("tcp.fin", "false"),
    ("tcp.close_wait", "unlimited"),
    ("tcp.delayed_ack.fin_at_once", "true"),
    ("tcp.nagle", "rfc9293"),
    ("tcp.send_buffer", "unlimited"),
    ("tcp.delayed_ack.push_at_once", "false"),
    ("bulk.write_size", "unlimited"),
    ("tcp.delayed_ack.tick", "0 s"),
    ("tcp.receive_buffer.enabled", "false"),
    ("tcp.receive_buffer.initial", "131072 B"),
    ("tcp.receive_buffer.max", "6291456 B"),
    ("tcp.receive_buffer.segment_memory", "2304 B"),
    ("tcp.reader.rate", "unlimited"),
    ("tcp.reader.read_size", "16384 B"),
    ("tcp.reader.pause_after", "0 s"),
    ("tcp.reader.pause", "0 s"),
    ("requests.size.distribution", "exponential"),
    ("requests.size.mean", "100000 B"),
    ("requests.size.shape", "1.5"),
    ("requests.size.sigma", "1.0"),
    ("requests.think", "1 s"),
    ("requests.think_distribution", "exponential"),
    ("requests.count", "unlimited"),
];

/// Groups and settings of stations with EDCA, without effect in networks of the DCF.
const NEW_OF_EDCA: [&str; 7] =
    ["access", "ppdu", "edca", "aggregation", "block_ack", "protection", "secondary_channel"];

/// Settings of the entries of `flow` that the previous version did not have, each with the value that changes nothing.
const NEW_OF_FLOWS: [(&str, &str); 4] = [("name", NONE), ("group", NONE), ("dscp", "0"), ("requests", "{}")];

/// Groups that the previous version did not have.
const NEW_GROUPS: [&str; 10] = [
    "tcp.door",
    "tcp.rack_tlp",
    "tcp.handshake",
    "tcp.receive_buffer",
    "tcp.reader",
    "queue.transmit_ring",
    "wired.queue.transmit_ring",
    "wlan.rate_control.cara",
    "requests.size",
    "requests",
];

impl Scenario {
    /// All effective settings as the previous version wrote them.
    pub fn as_before(&self) -> Json {
        let mut settings = self.effective();
        write_values(&self.tree, &mut settings, "");
        if let Some(radio) = settings["radio"].as_object_mut()
            && let Some(table) = radio.remove("links_table")
        {
            // The columns of the text had former names, too.
            let text = table.as_str().unwrap_or_default().replacen("src,dst,", "from,to,", 1);
            let file = self.config().radio.links_file.clone();
            radio.insert("links_file".to_owned(), json!(file.unwrap_or(text)));
        }
        under_former_names(&settings)
    }
}

/// Writes all texts in a value at `path` in their former way; `tree` has the values as they are given.
fn write_values(tree: &Node, value: &mut Json, path: &str) {
    match value {
        Json::Object(fields) => {
            fields.iter_mut().for_each(|(key, inner)| write_values(tree, inner, &join(path, key)));
        }
        Json::Array(items) => {
            let groups = items.iter_mut().enumerate().filter(|(_, item)| item.is_object());
            groups.for_each(|(i, item)| write_values(tree, item, &join(path, &i.to_string())));
        }
        Json::String(text) => {
            if let Some(before) = former_values::before(tree, path, text) {
                *value = json!(before);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// All settings under their former names.
pub fn under_former_names(settings: &Json) -> Json {
    let mut settings = settings.clone();
    remove_new(&mut settings);
    former_pairs::part(&mut settings);
    let mut all = json!({});
    collect(&settings, "", &mut all);
    all
}

/// Removes the settings that the previous version did not have where they change nothing.
fn remove_new(settings: &mut Json) {
    if let Some(wlan) = settings.get_mut("wlan").and_then(Json::as_object_mut)
        && wlan.get("access").and_then(Json::as_str) == Some("dcf")
    {
        NEW_OF_EDCA.iter().for_each(|key| _ = wlan.remove(*key));
        for link in wlan.get_mut("link_rate").and_then(Json::as_array_mut).into_iter().flatten() {
            link.as_object_mut().into_iter().for_each(|link| link.retain(|key, _| key != "mcs" && key != "streams"));
        }
    }
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (path, without_effect) in NEW {
        remove_if(settings, path, |value| [without_effect, NONE].contains(&text(value).as_str()));
    }
    for path in NEW_GROUPS {
        remove_if(settings, path, |value| value.as_object().is_some_and(Map::is_empty));
    }
    for flow in settings["flow"].as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        for (key, without_effect) in NEW_OF_FLOWS {
            if flow.get(key).map(text).as_deref() == Some(without_effect) {
                flow.remove(key);
            }
        }
    }
}

/// Removes the setting or group with this dotted name where `is_empty` holds.
fn remove_if(settings: &mut Json, path: &str, is_empty: impl Fn(&Json) -> bool) {
    let (group, key) = path.rsplit_once('.').unwrap_or(("", path));
    let place = if group.is_empty() { String::new() } else { format!("/{}", group.replace('.', "/")) };
    let group = settings.pointer_mut(&place).and_then(Json::as_object_mut);
    if let Some(group) = group
        && group.get(key).is_some_and(is_empty)
    {
        group.remove(key);
    }
}

/// Adds the settings in a value at `path` to `all`, each under its former name.
fn collect(value: &Json, path: &str, all: &mut Json) {
    match value {
        Json::Object(event) if former_events::is_event(path) => {
            *place(all, path) = former_events::under_former_names(event);
        }
        Json::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(key, inner)| collect(inner, &join(path, key), all));
        }
        Json::Array(items) if items.iter().any(Json::is_object) => {
            items.iter().enumerate().for_each(|(i, inner)| collect(inner, &join(path, &i.to_string()), all));
        }
        _ => *place(all, &former(path).unwrap_or_else(|| path.to_owned())) = value.clone(),
    }
}

/// Value at a dotted name, with the groups and lists around it.
fn place<'a>(all: &'a mut Json, path: &str) -> &'a mut Json {
    path.split('.').fold(all, |at, step| match step.parse::<usize>() {
        Ok(i) => {
            if !at.is_array() {
                *at = json!([]);
            }
            let items = at.as_array_mut().expect("it is a list");
            items.resize(items.len().max(i + 1), Json::Null);
            &mut items[i]
        }
        Err(_) => {
            if !at.is_object() {
                *at = json!({});
            }
            &mut at[step]
        }
    })
}
