//! Hops that are longer than the MAC timers allow: no frame over them is acknowledged in time.

use super::super::super::build::layout::Layout;
use super::super::super::build::mobility;
use super::super::super::validate::Checker;
use chappe_core::mobility::Kind;
use chappe_core::net::routing::Protocol;
use chappe_core::net::routing::fixed::hops_to;
use chappe_core::packet::NodeId;
use chappe_core::radio::propagation::Model;
use chappe_core::radio::{self, sinr};
use chappe_core::run::graph::Graph;
use chappe_core::setting::Code;
use chappe_core::topology::FAR;
use chappe_core::unit::{Meters, Position, Span};
use chappe_core::wlan::{self, Mode, ResponseTimeout};
use std::collections::BTreeSet;

/// Longest slot and longest delay that can be set.
const LONGEST: Span = Span::ms(1);
/// Limit on the total number of nodes visited by the searches for the routes of flows.
const MOST_NODES_PASSED: usize = 100_000_000;

/// Distance that a signal covers in both directions in this time \[m\].
fn there_and_back(time: Span) -> f64 {
    time.0 as f64 * 0.3 / 2.0
}

/// Time for the propagation of a frame and its answer (IEEE 802.11-2020, 10.3.2.9: a slot).
fn way_and_back(w: &wlan::Config) -> Span {
    match w.response_timeout {
        ResponseTimeout::Fixed => w.max_propagation * 2,
        ResponseTimeout::RxStart => w.slot_time,
    }
}

/// Decoding range of data frames, without shadowing.
fn reach_of_data(r: &radio::Config, w: &wlan::Config) -> Meters {
    if r.reception == radio::Reception::Sinr {
        let reach = |mode: &Mode| Model::new(r).range_of_power(sinr::weakest(&r.sinr, mode.coding())).0;
        return Meters(w.data_modes().iter().map(reach).fold(0.0, f64::max));
    }
    let rate = if w.ppdu.is_ht() { w.data_rate } else { w.slowest_mode().rate() };
    let row = r.sensitivity.0.iter().find(|row| row.rate == rate);
    let own = row.map_or_else(
        || r.clone(),
        |row| radio::Config {
            receive_threshold: row.receive_threshold,
            range: row.range.unwrap_or(r.range),
            ..r.clone()
        },
    );
    Model::new(&own).decode_range()
}

impl Checker<'_> {
    /// Finds hops over which no frame is acknowledged.
    pub fn far(&mut self, layout: &Layout, graph: &Graph<'_>) {
        if layout.positions.is_empty() {
            return;
        }
        match mobility::moves(self.cfg) {
            true => self.far_in_motion(layout),
            false => self.far_hops(layout, graph),
        }
    }

    /// Hops between fixed nodes.
    fn far_hops(&mut self, layout: &Layout, graph: &Graph<'_>) {
        let radios = &layout.interfaces;
        // For a node with several radios the shortest timer counts.
        let mut allowed = vec![LONGEST * 2; layout.positions.len()];
        for radio in &radios.radios {
            let allowed = &mut allowed[radio.node.index()];
            *allowed = way_and_back(&radios.profiles[radio.profile as usize].wlan).min(*allowed);
        }
        let is_far = |u: NodeId, v: NodeId| {
            let delay = layout.positions[u.index()].distance(layout.positions[v.index()]).light_delay();
            delay * 2 > allowed[u.index()].min(allowed[v.index()])
        };
        let nodes = || (0..layout.positions.len() as u32).map(NodeId);
        let all = || nodes().flat_map(|u| graph.over_the_air(u).map(move |v| (u, v))).filter(|&(u, v)| is_far(u, v));
        if all().next().is_none() {
            return;
        }
        let used = self.hops_of_flows(layout, graph).filter(|_| self.cfg.arrival_process.0.is_empty());
        let mut far: Vec<(NodeId, NodeId)> = match used {
            Some(hops) => hops.into_iter().filter(|&(u, v)| !graph.has_link(u, v) && is_far(u, v)).collect(),
            None => all().collect(),
        };
        // Counts the two directions of a hop once.
        far.iter_mut().for_each(|hop| *hop = (hop.0.min(hop.1), hop.0.max(hop.1)));
        far.sort_unstable();
        far.dedup();
        let length = |&(u, v): &(NodeId, NodeId)| layout.positions[u.index()].distance(layout.positions[v.index()]).0;
        let Some(&(u, v)) = far.iter().max_by(|a, b| length(a).total_cmp(&length(b))) else { return };
        let (distance, least) = (length(&(u, v)), if allowed[v.index()] < allowed[u.index()] { v } else { u });
        let radio = radios.radios.iter().find(|r| r.node == least).expect("the node has a radio");
        let more = match far.len() - 1 {
            0 => String::new(),
            1 => " (and on one more hop)".to_owned(),
            n => format!(" (and on {n} more hops)"),
        };
        let what = format!("nodes {} and {} are {distance:.0} m apart", u.0, v.0);
        let wlan = &radios.profiles[radio.profile as usize].wlan;
        self.warn_of_far(what, "no frame from one to the other is acknowledged in time", &more, wlan, Meters(distance));
    }

    /// Hops on the shortest paths of all flows in both directions; `None` if a search would take too long.
    fn hops_of_flows(&self, layout: &Layout, graph: &Graph<'_>) -> Option<BTreeSet<(NodeId, NodeId)>> {
        let (cfg, n) = (self.cfg, graph.nodes());
        let ends = layout.flows.iter().map(|f| (NodeId(f.src), NodeId(f.dst)));
        let ends: BTreeSet<_> = ends.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let mut hops = BTreeSet::new();
        let is_fixed = cfg.routing.protocol == Protocol::Fixed;
        if !is_fixed && ends.len().saturating_mul(n) > MOST_NODES_PASSED {
            return None;
        }
        if is_fixed || cfg.routing.is_by_metric() {
            let routes = graph.routes(&cfg.routing, ends.iter().map(|e| e.1));
            for (from, to) in ends {
                let mut at = from;
                for next in routes.way(from, to).chain([to]) {
                    hops.insert((at, next));
                    at = next;
                }
            }
            return Some(hops);
        }
        for (from, to) in ends {
            let left = hops_to(n, to, |v| graph.predecessors(v));
            let mut at = BTreeSet::from([from]);
            while let Some(u) = at.pop_first() {
                let nearer = graph.neighbors(u).filter(|v| left[v.index()] < left[u.index()]);
                at.extend(nearer.filter(|&v| hops.insert((u, v))));
            }
        }
        Some(hops)
    }

    /// Longest distance at which moving nodes decode each other's frames.
    fn far_in_motion(&mut self, layout: &Layout) {
        let profiles = &layout.interfaces.profiles;
        let Some(least) = profiles.iter().map(|p| &p.wlan).min_by_key(|w| way_and_back(w)) else { return };
        let reach = profiles.iter().map(|p| reach_of_data(&p.radio, &p.wlan).0).fold(0.0, f64::max);
        let apart = reach.min(self.farthest_apart(layout));
        if Meters(apart).light_delay() * 2 > way_and_back(least) {
            let what = format!("nodes that move can be up to {apart:.0} m apart and decode each other's frames");
            let least = least.clone();
            self.warn_of_far(what, "no frame over more is acknowledged in time", "", &least, Meters(apart));
        }
    }

    /// Longest distance between two nodes.
    fn farthest_apart(&self, layout: &Layout) -> f64 {
        let cfg = self.cfg;
        let own = cfg.node.0.iter().map(|own| own.mobility.over(&cfg.mobility));
        let plans: Vec<_> = own.chain([cfg.mobility.clone()]).collect();
        if plans.iter().any(|m| m.model == Kind::File) || cfg.event.0.iter().any(|e| e.moves()) {
            return 2.0 * FAR.0;
        }
        let areas = plans.iter().map(|m| Position {
            x: m.width.unwrap_or(cfg.topology.width).0,
            y: m.height.unwrap_or(cfg.topology.height).0,
        });
        let corners = areas.chain([Position { x: 0.0, y: 0.0 }]).chain(layout.positions.iter().copied());
        let (low, high) = corners.fold((Position { x: 0.0, y: 0.0 }, Position { x: 0.0, y: 0.0 }), |(low, high), p| {
            let (x, y) = (low.x.min(p.x), low.y.min(p.y));
            (Position { x, y }, Position { x: high.x.max(p.x), y: high.y.max(p.y) })
        });
        low.distance(high).0
    }

    fn warn_of_far(&mut self, what: String, fails: &str, more: &str, wlan: &wlan::Config, distance: Meters) {
        let allowed = way_and_back(wlan);
        let (setting, value, needed) = match wlan.response_timeout {
            ResponseTimeout::Fixed => ("wlan.max_propagation", wlan.max_propagation, distance.light_delay()),
            ResponseTimeout::RxStart => ("wlan.slot_time", wlan.slot_time, distance.light_delay() * 2),
        };
        let (limit, needed) = (there_and_back(allowed), needed.ceil_us());
        let message = format!(
            "{what}; with `{setting}` = {value} an answer comes in time from up to {limit:.0} m, and {fails}{more}"
        );
        let help = match needed > LONGEST {
            true => "no setting waits so long: move nodes closer".to_owned(),
            false => format!("set `{setting}` to at least {needed}"),
        };
        self.warn(Code::LateAnswers, setting, message, &help);
    }
}
