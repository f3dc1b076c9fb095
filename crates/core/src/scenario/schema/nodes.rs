//! Settings of single nodes, and the resulting radios.

use super::{Config, Overrides};
use crate::net::queue;
use crate::packet::NodeId;
use crate::run::{Interfaces, Profile, RadioSetup};
use crate::scenario::validate::Checker;
use crate::setting::{Node, Scalar, Value, join};
use crate::topology;
use crate::wlan::Mode;
use crate::{mobility, radio, settings, wlan};
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// A set of node numbers as ranges: first and last.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NodeSet(pub Vec<(u32, u32)>);

impl NodeSet {
    /// Ranges of the set, sorted and without overlaps.
    pub fn ranges(&self) -> Vec<(u32, u32)> {
        let mut ranges = self.0.clone();
        ranges.sort_unstable();
        let mut apart: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match apart.last_mut().filter(|last| range.0 <= last.1) {
                Some(last) => last.1 = last.1.max(range.1),
                None => apart.push(range),
            }
        }
        apart
    }
}

impl Scalar for NodeSet {
    fn read(node: &Node) -> Result<NodeSet, String> {
        let expected = || "expected a set of nodes such as 3, \"3-7\", \"0, 4-9\" or [1, 4]".to_owned();
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (range.0 <= range.1).then_some(range)
        };
        match &node.value {
            Value::Int(n) => u32::try_from(*n).map(|n| NodeSet(vec![(n, n)])).map_err(|_| expected()),
            Value::Text(t) => t.split(',').map(range).collect::<Option<Vec<_>>>().map(NodeSet).ok_or_else(expected),
            Value::List(list) if !list.is_empty() => {
                let numbers = list.iter().map(|n| u32::read(n).map(|n| (n, n))).collect::<Result<_, _>>();
                numbers.map(NodeSet).map_err(|_| expected())
            }
            _ => Err(expected()),
        }
    }

    fn written(&self) -> Json {
        let range = |r: &(u32, u32)| if r.0 == r.1 { r.0.to_string() } else { format!("{}-{}", r.0, r.1) };
        json!(self.0.iter().map(range).collect::<Vec<_>>().join(", "))
    }

    fn describe() -> Json {
        let example = "a set of nodes such as 3, \"3-7\", \"0, 4-9\" or [1, 4]";
        json!({ "type": ["integer", "string", "array"], "items": { "type": "integer" }, "minItems": 1, "description": example })
    }
}

settings! {
    /// Settings of some nodes that differ from the common ones. For a node in two of these groups the later group
    /// counts.
    pub struct Own {
        /// Numbers of the nodes.
        pub nodes: NodeSet = NodeSet::default(),
        /// Radio settings of these nodes that differ from `radio`.
        pub radio: Overrides<radio::Config> = Overrides::default(),
        /// MAC settings of these nodes that differ from `wlan`.
        pub wlan: Overrides<wlan::Config> = Overrides::default(),
        /// Interface queue settings of these nodes that differ from `queue`.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Mobility settings of these nodes that differ from `mobility`.
        pub mobility: Overrides<mobility::Config> = Overrides::default(),
    }
}

/// Settings that cannot differ between nodes.
const COMMON: [(&str, &str); 24] = [
    ("radio.propagation", "signals pass from one node to another"),
    ("radio.links_file", "links name their nodes themselves"),
    ("radio.links_table", "links name their nodes themselves"),
    ("radio.links_symmetric", "there is one table of links"),
    ("radio.log_distance", "signals pass from one node to another"),
    ("radio.shadowing", "signals pass from one node to another"),
    ("radio.shadowing_seed", "signals pass from one node to another"),
    ("radio.reception", "there is one rule for all receivers"),
    ("radio.sinr", "there is one rule for all receivers"),
    ("radio.frequency", "signals pass from one node to another"),
    ("radio.system_loss", "signals pass from one node to another"),
    ("wlan.access", "stations of both kinds in one network are not simulated"),
    ("wlan.ppdu.format", "there is one channel for all"),
    ("wlan.ppdu.channel_width", "there is one channel for all"),
    ("wlan.ppdu.guard_interval", "all stations read the frames that are sent with it"),
    ("wlan.basic_rate", "all stations read the frames that are sent at it"),
    ("wlan.block_ack.agreement", "both ends have an agreement, or neither"),
    ("wlan.block_ack.buffer_mpdus", "both ends of an agreement have one window"),
    ("wlan.link_rate", "it names its nodes itself"),
    ("wlan.error", "there is one model for all receivers"),
    ("mobility.seed", "each node has separate random numbers anyway"),
    ("mobility.file", "it names its nodes itself"),
    ("mobility.table", "they name their nodes themselves"),
    ("mobility.ns2", "all senders search for receivers in the same way, and ties are between two nodes"),
];

impl Own {
    /// Returns true if only motion differs.
    fn only_moves(&self) -> bool {
        let others = self.radio.is_empty() && self.wlan.is_empty() && self.queue.is_empty();
        others && !self.mobility.is_empty()
    }

    /// Profile of these nodes, given their profile so far.
    fn over(&self, common: &Profile) -> Profile {
        Profile {
            radio: self.radio.over(&common.radio),
            wlan: self.wlan.over(&common.wlan),
            queue: self.queue.over(&common.queue),
        }
    }
}

/// Radios of a scenario whose topology has this number of nodes.
pub fn interfaces(cfg: &Config, nodes: usize) -> Interfaces {
    let common = Profile { radio: cfg.radio.clone(), wlan: cfg.wlan.clone(), queue: cfg.queue.clone() };
    let seed = cfg.radio.shadowing_seed.unwrap_or_else(|| cfg.topology_seed());
    let mut all = Interfaces { seed, ..Interfaces::alike(nodes, common) };
    // A profile is determined by the groups of a node: extends the previous profile by each group.
    let mut after: HashMap<(u32, usize), u32> = HashMap::new();
    for (row, own) in cfg.node.0.iter().enumerate().filter(|(_, own)| !own.only_moves()) {
        for &(first, last) in &own.nodes.0 {
            let end = nodes.min(last as usize + 1);
            for radio in all.radios.get_mut(first as usize..end).into_iter().flatten() {
                let profiles = &mut all.profiles;
                radio.profile = *after.entry((radio.profile, row)).or_insert_with(|| {
                    profiles.push(own.over(&profiles[radio.profile as usize]));
                    profiles.len() as u32 - 1
                });
            }
        }
    }
    for node in 0..nodes {
        let profile = all.radios[node].profile;
        let mut channels = all.profiles[profile as usize].radio.channels.iter();
        all.radios[node].channel = channels.next().copied().unwrap_or_default();
        let further = channels.map(|&channel| RadioSetup { node: NodeId(node as u32), channel, profile });
        all.radios.extend(further);
    }
    let row = |r: &crate::wlan::LinkRate| {
        let mode = match r.mcs {
            Some(mcs) => cfg.wlan.ppdu.mode(mcs, r.streams),
            None => Mode::of(r.rate)?,
        };
        Some((NodeId(r.src?), NodeId(r.dst?), mode))
    };
    all.link_modes = cfg.wlan.link_rate.0.iter().filter_map(row).collect();
    all.link_modes.sort_by_key(|m| (m.0, m.1));
    all
}

impl Checker<'_> {
    /// Validates settings of single nodes, and of single links.
    pub(in crate::scenario) fn own_settings(&mut self) {
        let cfg = self.cfg;
        let common = Profile { radio: cfg.radio.clone(), wlan: cfg.wlan.clone(), queue: cfg.queue.clone() };
        for (i, own) in cfg.node.0.iter().enumerate() {
            let at = format!("node.{i}");
            if own.nodes.0.is_empty() {
                self.error(
                    &at,
                    format!("`{at}` does not say which nodes it is for"),
                    &format!("set `{at}.nodes`, e.g. \"3-7\""),
                );
            }
            for &(_, last) in &own.nodes.0 {
                self.has_radio(&join(&at, "nodes"), last);
            }
            for (setting, why) in COMMON {
                let path = join(&at, setting);
                if self.is_written(&path) {
                    let message = format!("`{setting}` is the same for all nodes, because {why}");
                    self.error(&path, message, &format!("set `{setting}` for all of them"));
                }
            }
            let profile = own.over(&common);
            self.radio(&at, &profile.radio);
            self.wlan(&at, &profile.wlan);
            self.queue(&join(&at, "queue"), &profile.queue);
            if !own.mobility.is_empty() {
                self.mobility(&at, &own.mobility.over(&cfg.mobility));
            }
        }
        let mut seen = HashMap::new();
        for (i, row) in cfg.wlan.link_rate.0.iter().enumerate() {
            let at = format!("wlan.link_rate.{i}");
            for (end, node) in [("src", row.src), ("dst", row.dst)] {
                match node {
                    Some(node) => self.has_radio(&join(&at, end), node),
                    None => self.error(&at, format!("`{at}` has no `{end}`"), &format!("set `{at}.{end}` to a node")),
                }
            }
            if let Some(first) = seen.insert((row.src, row.dst), i) {
                self.error(&at, format!("`wlan.link_rate.{first}` is for the same nodes"), "leave one of them out");
            }
        }
    }

    /// Reports a node that does not exist, or that has no radio.
    pub(in crate::scenario) fn has_radio(&mut self, path: &str, node: u32) {
        let with_radio = self.cfg.topology.nodes();
        if u64::from(node) < with_radio {
            return;
        }
        match with_radio {
            // The file of positions could not be read.
            0 if matches!(self.cfg.topology.kind, topology::Kind::File | topology::Kind::Motion) => {}
            0 => self.error(path, "no node has a radio", "it is for nodes of the topology"),
            n => self.error(
                path,
                format!("there is no node {node} with a radio"),
                &format!("they are numbered from 0 to {}", n - 1),
            ),
        }
    }
}
