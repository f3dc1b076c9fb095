//! Point-to-point links of a scenario: directions and validation.

use crate::error_model;
use crate::packet::NodeId;
use crate::point_to_point;
use crate::run::LinkSetup;
use crate::run::graph::Graph;
use crate::scenario::schema::{Config, Direction, Link};
use crate::scenario::validate::Checker;
use crate::setting::{Code, join};
use std::collections::HashMap;

impl Config {
    /// Number of nodes, with or without a radio.
    pub fn nodes(&self) -> u64 {
        self.topology.nodes() + u64::from(self.topology.wired_nodes)
    }

    /// Settings common to all links.
    pub(in crate::scenario) fn common_direction(&self) -> Direction {
        let w = &self.wired;
        Direction {
            rate: w.rate,
            delay: w.delay,
            queue: w.queue.over(&self.queue),
            error: w.error.clone(),
            error_place: w.error_place,
        }
    }

    /// Settings of a link in its two directions.
    pub(in crate::scenario) fn directions_of(link: &Link, common: &Direction) -> [Direction; 2] {
        let forward = Direction {
            rate: link.rate.unwrap_or(common.rate),
            delay: link.delay.unwrap_or(common.delay),
            queue: link.queue.over(&common.queue),
            error: link.error.over(&common.error),
            error_place: link.error_place.unwrap_or(common.error_place),
        };
        let back = link.back.over(&forward);
        [forward, back]
    }

    /// Setup of every direction of every link.
    pub fn directions(&self) -> Vec<LinkSetup> {
        let common = self.common_direction();
        let mut all = Vec::new();
        for (link, number) in self.wired_link.0.iter().zip(0..) {
            let [there, back] = Config::directions_of(link, &common);
            let (from, to) = (NodeId(link.src), NodeId(link.dst.expect("checked")));
            let setup = |back, from, to, d: Direction| LinkSetup {
                link: number,
                back,
                from,
                to,
                point_to_point: point_to_point::Config { rate: d.rate, delay: d.delay },
                queue: d.queue,
                error: d.error,
                error_place: d.error_place,
            };
            all.push(setup(false, from, to, there));
            if link.duplex {
                all.push(setup(true, to, from, back));
            }
        }
        all
    }

    /// Directions of links between existing nodes: sender and receiver.
    pub fn wired_links(&self) -> Vec<(NodeId, NodeId)> {
        let nodes = self.nodes();
        let mut all = Vec::new();
        for link in &self.wired_link.0 {
            let Some(to) = link.dst.filter(|&to| u64::from(to.max(link.src)) < nodes) else { continue };
            all.push((NodeId(link.src), NodeId(to)));
            if link.duplex {
                all.push((NodeId(to), NodeId(link.src)));
            }
        }
        all
    }
}

impl Checker<'_> {
    /// Validates links, and nodes without a radio.
    pub(in crate::scenario) fn wired_links(&mut self) {
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

    pub(in crate::scenario) fn error_model(&mut self, at: &str, e: &error_model::Config) {
        let g = &e.gilbert_elliott;
        if e.model == error_model::Kind::GilbertElliott && g.good_to_bad == 0.0 && g.bad_to_good == 0.0 {
            let path = join(at, "gilbert_elliott.good_to_bad");
            self.error(&path, "the state never changes", "use the model `uniform`, or let it change");
        }
    }

    /// Nodes that no link leads to.
    pub(in crate::scenario) fn unwired(&mut self, graph: &Graph<'_>) {
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
