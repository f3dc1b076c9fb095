//! Nodes: validation of their places and motion, and of settings of single nodes and links.

use super::super::read::files::{follows_file, no_position};
use super::super::schema::nodes::NodeName;
use super::{Checker, cost};
use chappe_core::mobility::{self, Kind, Start};
use chappe_core::run::Profile;
use chappe_core::setting::csv::Misread;
use chappe_core::setting::{Value, count, is_or_are, join};
use chappe_core::topology;
use chappe_core::unit::{Position, Speed};
use std::collections::HashMap;

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
    ("wlan.access", "a network has stations of one kind"),
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

impl Checker<'_> {
    fn too_few(&mut self, path: &str, nodes: impl Into<u64> + Copy) {
        let message = format!("there {} {}", is_or_are(nodes), count(nodes, "node"));
        self.error(path, message, "a network has at least two nodes");
    }

    /// Returns true if the positions of the nodes can be computed.
    pub(super) fn topology(&mut self) -> bool {
        let (t, run) = (&self.cfg.topology, &self.cfg.run);
        let before = self.findings.errors.problems.len();
        match t.kind {
            topology::Kind::Grid => {
                for (i, &cell) in t.omit.iter().enumerate().filter(|(_, c)| !t.has(**c)) {
                    let message = format!("the grid has no column {} in row {}", cell.column, cell.row);
                    let help = format!("columns go from 0 to {}, rows from 0 to {}", t.columns - 1, t.rows - 1);
                    self.error(&format!("topology.omit.{i}"), message, &help);
                }
                if t.nodes() < 2 {
                    self.too_few("topology.rows", t.nodes());
                }
            }
            topology::Kind::File => {
                if t.file.is_none() {
                    let help = "set `topology.file` to a CSV file with the columns x_m, y_m";
                    self.error("topology.file", "no file is named", help);
                }
                return false;
            }
            topology::Kind::Motion => {
                self.courses();
                // The file was reported, so the number of nodes is unknown.
                if t.positions.is_empty() {
                    return false;
                }
                if t.positions.len() < 2 {
                    self.too_few("topology.kind", t.positions.len() as u64);
                }
            }
            topology::Kind::List if t.positions.len() < 2 => {
                self.too_few("topology.positions", t.positions.len() as u64);
            }
            topology::Kind::List => {
                let far = |p: &Position| !(p.x.abs() < topology::FAR.0 && p.y.abs() < topology::FAR.0);
                if let Some(i) = t.positions.iter().position(far) {
                    let message = format!("node {i} is too far away");
                    self.error("topology.positions", message, "places must be within 10000 km");
                }
            }
            topology::Kind::None if self.cfg.topology.wired_nodes < 2 => {
                let (are, without) =
                    (is_or_are(self.cfg.topology.wired_nodes), count(self.cfg.topology.wired_nodes, "node"));
                let message = format!("no node has a radio, and there {are} {without} without one");
                self.error("topology.wired_nodes", message, "a network has at least two nodes");
            }
            topology::Kind::Chain | topology::Kind::Random | topology::Kind::None => {}
        }
        if t.kind != topology::Kind::Motion {
            self.courses();
        }
        let traffic = &self.cfg.traffic;
        let (low, high) = (traffic.min_hops, traffic.max_hops.unwrap_or(u32::MAX));
        let nodes = self.nodes;
        if nodes > u64::from(run.max_nodes) {
            let wired = self.cfg.topology.wired_nodes;
            let path = cost::setting_of_nodes(self.cfg);
            let whose = match path {
                "topology.wired_nodes" => format!("there are {nodes} nodes, {wired} of them without a radio"),
                _ => format!("the topology has {nodes} nodes"),
            };
            let message = format!("{whose}, and at most {} are allowed", run.max_nodes);
            self.error(path, message, "if you need that many, raise `run.max_nodes`");
        }
        if high < low {
            let message = format!("the largest number of hops, {high}, is below the smallest, {low}");
            self.error("traffic.max_hops", message, "`traffic.max_hops` must be at least `traffic.min_hops`");
        }
        self.findings.errors.problems.len() == before
    }

    pub(super) fn node_exists(&mut self, path: &str, node: u32) {
        let nodes = self.nodes;
        if u64::from(node) >= nodes && nodes > 0 {
            let help = format!("nodes are numbered from 0 to {}", nodes - 1);
            self.error(path, format!("there is no node {node}"), &help);
        }
    }

    /// Validates the mobility of all nodes, or of those in the group at `of`.
    pub(super) fn mobility(&mut self, of: &str, m: &mobility::Config) {
        match m.model {
            Kind::Still => {}
            Kind::RandomWaypoint => self.random_waypoint(of, m),
            Kind::File => {
                // An unreadable file was reported before.
                let is_named = |path| self.tree.at(path).is_some_and(|n| n.value != Value::Text(String::new()));
                if m.table.is_empty() && !is_named("mobility.file") && !is_named("mobility.table") {
                    let help = "set `mobility.file` to a movement file of ns-2, of BonnMotion, or a CSV file";
                    self.error(&self.owner(of, "mobility.model"), "there is no movement file", help);
                }
            }
        }
    }

    fn random_waypoint(&mut self, of: &str, m: &mobility::Config) {
        if m.max_speed < m.min_speed {
            let message = format!("the fastest speed {} is below the slowest, {}", m.max_speed, m.min_speed);
            let help = "`mobility.max_speed` must be at least `mobility.min_speed`";
            self.error(&self.owner(of, "mobility.max_speed"), message, help);
        }
        if m.initial == Start::Stationary && m.min_speed == Speed(0.0) {
            let help = "let `mobility.min_speed` be above 0 m/s, or `mobility.initial` be \"uniform\"";
            let message =
                "random waypoint with speeds down to 0 m/s has no stationary state: nodes become slower forever";
            self.error(&self.owner(of, "mobility.min_speed"), message, help);
        }
        let is_random = self.cfg.topology.kind == topology::Kind::Random;
        for (name, missing) in [("mobility.width", m.width.is_none()), ("mobility.height", m.height.is_none())] {
            if missing && !is_random {
                let message =
                    format!("random waypoint has no area: `{name}` is \"topology\", and the topology is not random");
                self.error(&self.owner(of, "mobility.model"), message, &format!("set `{name}`, e.g. to \"1000 m\""));
            }
        }
    }

    /// Validates the movement file together with the topology.
    pub(super) fn courses(&mut self) {
        let cfg = self.cfg;
        if cfg.topology.kind == topology::Kind::Motion && !(follows_file(cfg) && cfg.mobility.model == Kind::File) {
            let help = "set `mobility.model = \"file\"` and `mobility.file`";
            self.error("topology.kind", "the positions are to come from a movement file, but there is none", help);
        }
        if let Some(Misread { why, help }) = no_position(cfg, &cfg.mobility.table) {
            self.error("mobility.table", why, &help.unwrap_or_default());
            return;
        }
        let (listed, there) = (u64::from(cfg.mobility.table.nodes()), cfg.topology.nodes());
        if listed > there && follows_file(cfg) && cfg.has_radios() {
            let path = if self.is_written("mobility.table") { "mobility.table" } else { "mobility.model" };
            let message = format!("the movement file moves node {}, and the topology has {there} nodes", listed - 1);
            self.error(path, message, "`topology.kind = \"motion\"` takes the nodes from the file");
        }
    }

    /// Validates settings of single nodes, and of single links.
    pub(super) fn own_settings(&mut self) {
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
                match own.is_name() {
                    true => self.node_exists(&join(&at, "nodes"), last),
                    false => self.has_radio(&join(&at, "nodes"), last),
                }
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
        self.names_of_nodes();
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

    /// Checks that a name means one node, and that a node has one name.
    fn names_of_nodes(&mut self) {
        let (mut numbers, mut names) = (HashMap::new(), HashMap::new());
        for (i, own) in self.cfg.node.0.iter().enumerate() {
            let Some(NodeName(name)) = &own.name else { continue };
            let path = format!("node.{i}.name");
            let Some(n) = own.nodes.single() else {
                self.error(
                    &path,
                    format!("`node.{i}` has several nodes, and `name` names one"),
                    "name them one by one",
                );
                continue;
            };
            if let Some(other) = numbers.insert(name, n).filter(|other| *other != n) {
                let message = format!("\"{name}\" is the name of two nodes, with the numbers {other} and {n}");
                self.error(&path, message, "choose another name for one of them");
            }
            if let Some(other) = names.insert(n, name).filter(|other| *other != name) {
                let message = format!("the node with the number {n} has two names, \"{other}\" and \"{name}\"");
                self.error(&path, message, "leave one of them out");
            }
        }
    }

    /// Reports a node that does not exist, or that has no radio.
    pub(super) fn has_radio(&mut self, path: &str, node: u32) {
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
