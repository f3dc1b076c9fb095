//! Point-to-point links of a scenario, one direction after the other.

use super::super::schema::{Config, Direction, Link};
use chappe_core::packet::NodeId;
use chappe_core::point_to_point;
use chappe_core::run::LinkSetup;
use chappe_core::unit::BitRate;

impl Config {
    /// Number of nodes, with or without a radio.
    pub fn nodes(&self) -> u64 {
        self.topology.nodes() + u64::from(self.topology.wired_nodes)
    }

    /// Settings common to all links.
    pub fn common_direction(&self) -> Direction {
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
    pub fn directions_of(link: &Link, common: &Direction) -> [Direction; 2] {
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

    /// Directions of links between existing nodes: sender, receiver, and rate.
    pub fn wired_links(&self) -> Vec<(NodeId, NodeId, BitRate)> {
        let (nodes, common) = (self.nodes(), self.common_direction());
        let mut all = Vec::new();
        for link in &self.wired_link.0 {
            let Some(to) = link.dst.filter(|&to| u64::from(to.max(link.src)) < nodes) else { continue };
            let [there, back] = Config::directions_of(link, &common);
            all.push((NodeId(link.src), NodeId(to), there.rate));
            if link.duplex {
                all.push((NodeId(to), NodeId(link.src), back.rate));
            }
        }
        all
    }
}
