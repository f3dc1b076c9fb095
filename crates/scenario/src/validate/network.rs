//! Queues, and point-to-point links: validation of their settings.

use super::super::schema::{Config, Direction};
use super::Checker;
use chappe_core::error_model;
use chappe_core::net::{link_red, neighborhood_red, queue};
use chappe_core::packet::NodeId;
use chappe_core::run::graph::Graph;
use chappe_core::setting::{Code, join};
use std::collections::HashMap;

/// Message about two thresholds.
const NOT_ABOVE: &str = "the maximum threshold is not above the minimum";

impl Checker<'_> {
    pub(super) fn network(&mut self) {
        let cfg = self.cfg;
        self.queue("queue", &cfg.queue);
        self.link_red(&cfg.net.link_red);
        self.neighborhood_red(&cfg.net.neighborhood_red);
    }

    /// Validates the queue settings at `at`.
    pub(super) fn queue(&mut self, at: &str, q: &queue::Config) {
        let path = |setting| join(at, setting);
        let limit = path("limit");
        if q.discipline == queue::Discipline::FlowControlled && !self.cfg.wlan.is_dcf() && !at.starts_with("wired") {
            self.error(
                &path("discipline"),
                "it holds back the one packet of a station with the DCF; a station with EDCA takes many",
                "choose another discipline, such as `droptail`, or set `wlan.access = \"dcf\"`",
            );
        }
        if q.limit == 1 && q.limit_includes_arrival {
            self.error(&limit, "no packet can wait, because the arriving one counts", "it must be at least 2");
        }
        if let Some(bytes) = q.limit_bytes
            && bytes.0 < self.cfg.net.mtu.0
        {
            let message = format!("a queue of {bytes} holds no packet of {}", self.cfg.net.mtu);
            self.error(&path("limit_bytes"), message, "it must be at least `net.mtu`");
        }
        if let Some(from) = q.mark_threshold.filter(|&from| from >= q.limit) {
            let message = format!("nothing is marked, because {from} packets never wait when another one arrives");
            self.error(&path("mark_threshold"), message, &format!("it must be below `{limit}`"));
        }
        let red = &q.red;
        let min = red.min_threshold.unwrap_or(5.0);
        if red.max_threshold.is_some_and(|max| max <= min) {
            let path = path("red.max_threshold");
            self.error(&path, NOT_ABOVE, &format!("`{path}` must be above the minimum"));
        }
    }

    /// Validates Link RED.
    pub(super) fn link_red(&mut self, red: &link_red::Config) {
        self.thresholds("net.link_red", red.min_threshold, red.max_threshold);
    }

    /// Validates Neighborhood RED.
    pub(super) fn neighborhood_red(&mut self, red: &neighborhood_red::Config) {
        let at = "net.neighborhood_red";
        self.thresholds(at, red.min_threshold, red.max_threshold);
        for (setting, size) in [("mean_packet_size", red.mean_packet_size), ("ncn_size", red.ncn_size)] {
            if size.0 > self.cfg.net.mtu.0 {
                let message = format!("a packet of {size} is larger than the MTU of {}", self.cfg.net.mtu);
                self.error(&join(at, setting), message, "it must be at most `net.mtu`");
            }
        }
    }

    /// Checks that a lower threshold is below an upper one.
    fn thresholds(&mut self, at: &str, min: f64, max: f64) {
        if max <= min {
            let help = format!("`{at}.max_threshold` must be above `{at}.min_threshold`");
            self.error(&join(at, "max_threshold"), NOT_ABOVE, &help);
        }
    }

    /// Validates links, and nodes without a radio.
    pub(super) fn wired_links(&mut self) {
        let cfg = self.cfg;
        let common = cfg.common_direction();
        let interface = Direction { queue: cfg.queue.clone(), ..Direction::default() };
        self.direction("wired", &common, &interface);
        let mut seen: HashMap<(u32, u32), usize> = HashMap::new();
        for (i, link) in cfg.wired_link.0.iter().enumerate() {
            let at = format!("wired_link.{i}");
            let [there, back] = Config::directions_of(link, &common);
            self.tally.buckets += there.queue.buckets() + back.queue.buckets();
            self.direction(&at, &there, &common);
            self.direction(&join(&at, "back"), &back, &there);
            if !link.duplex && !link.back.is_empty() {
                let message = format!("link {i} goes one way, and `{at}.back` is set");
                self.error(&join(&at, "back"), message, &format!("set `{at}.duplex = true`, or leave `back` out"));
            }
            let Some(to) = link.dst else {
                self.error(&at, format!("link {i} has no end"), &format!("set `{at}.dst` to a node"));
                continue;
            };
            self.node_exists(&join(&at, "src"), link.src);
            self.node_exists(&join(&at, "dst"), to);
            if link.src == to {
                self.error(&join(&at, "dst"), format!("link {i} joins node {to} to itself"), "choose another node");
                continue;
            }
            let ends = [(link.src, to), (to, link.src)];
            for &(from, to) in &ends[..1 + usize::from(link.duplex)] {
                if let Some(other) = seen.get(&(from, to)) {
                    let message = format!("link {i} goes from node {from} to node {to}, as link {other} does");
                    self.error(&at, message, "two nodes are joined by at most one link in each direction");
                    break;
                }
            }
            for &way in &ends[..1 + usize::from(link.duplex)] {
                seen.entry(way).or_insert(i);
            }
        }
    }

    /// Validates a direction that differs from validated settings.
    fn direction(&mut self, at: &str, d: &Direction, known: &Direction) {
        if d.queue != known.queue {
            self.queue(&join(at, "queue"), &d.queue);
        }
        if d.error != known.error {
            self.error_model(&join(at, "error"), &d.error);
        }
    }

    pub(super) fn error_model(&mut self, at: &str, e: &error_model::Config) {
        let g = &e.gilbert_elliott;
        if e.model == error_model::Kind::GilbertElliott && g.good_to_bad == 0.0 && g.bad_to_good == 0.0 {
            let path = join(at, "gilbert_elliott.good_to_bad");
            self.error(&path, "the state never changes", "use the model `uniform`, or let it change");
        }
    }

    /// Nodes that no link leads to.
    pub(super) fn unwired(&mut self, graph: &Graph<'_>) {
        let first = self.cfg.topology.nodes();
        let alone = (first..self.cfg.nodes()).map(|n| NodeId(n as u32)).find(|&n| !graph.is_wired(n));
        if let Some(n) = alone {
            let message = format!("node {} has no radio, and no link leads there", n.0);
            self.warn(
                Code::UnwiredNode,
                "topology.wired_nodes",
                message,
                "list its links as `wired_link`, or use fewer nodes",
            );
        }
    }
}
