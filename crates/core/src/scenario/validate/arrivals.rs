//! Flow generators: validation.

use super::Checker;
use super::carried::Slower;
use super::cost;
use crate::app::arrivals::Process;
use crate::net::routing::Protocol;
use crate::net::routing::fixed::{Routes, Search};
use crate::packet::NodeId;
use crate::run::graph::Graph;
use crate::run::{ArrivalsSetup, Stop};
use crate::scenario::Scenario;
use crate::scenario::build::layout::Layout;
use crate::scenario::schema::{Arrivals, Config};
use crate::setting::join;
use crate::unit::Time;

/// Upper bound of the end of the run.
fn end(cfg: &Config) -> Time {
    let limit = Time::ZERO + cfg.run.time_limit;
    match cfg.run.stop {
        Stop::At(at) => at.min(limit),
        Stop::Delivered(_) => limit,
    }
}

/// Approximate upper bound of the number of short flows.
pub(in crate::scenario) fn expected(cfg: &Config, a: &Arrivals) -> f64 {
    let last = a.stop.unwrap_or(Time::NEVER).min(end(cfg));
    let by_time = if last > a.start { last.since(a.start).as_secs() * a.rate } else { 0.0 };
    a.count.map_or(by_time, |count| by_time.min(f64::from(count)))
}

impl Checker<'_> {
    /// Validates flow generators, except for their routes.
    pub(in crate::scenario) fn arrivals(&mut self) {
        let cfg = self.cfg;
        for (i, a) in cfg.arrival_process.0.iter().enumerate() {
            let at = format!("arrival_process.{i}");
            for (end, node) in [("src", a.src), ("dst", a.dst)] {
                if let Some(node) = node {
                    self.node_exists(&join(&at, end), node);
                }
            }
            if a.src.is_some() && a.src == a.dst {
                let message = format!("short flows go from node {} to itself", a.src.unwrap_or_default());
                self.error(&join(&at, "dst"), message, "choose another node, or \"random\"");
            }
            if let Some(stop) = a.stop.filter(|&stop| stop <= a.start) {
                let message = format!("arrivals stop at {stop}, and start at {}", a.start);
                self.error(&join(&at, "stop"), message, "they stop after they have started");
            }
            let tcp = a.tcp.over(&cfg.tcp);
            self.tcp(&at, &tcp);
            self.tally.tcp(&tcp, 1);
            self.tally.active = cost::longest(cfg);
            self.tally.short(a.size.mean, tcp.mss, expected(cfg, a));
        }
    }

    /// Checks that short flows have routes in both directions.
    pub(in crate::scenario) fn ways_of_arrivals(&mut self, layout: &Layout, graph: &Graph<'_>) {
        let cfg = self.cfg;
        let n = graph.nodes();
        let listed = Routes::listed(n, &cfg.routing.fixed.routes.0);
        let (mut search, mut slower) = (Search::new(n), None);
        let listed_only = cfg.routing.protocol == Protocol::Fixed;
        let all = || (0..n as u32).map(NodeId);
        let mut has_way = |from: NodeId, to: NodeId| match cfg.routing.protocol {
            Protocol::Fixed => listed.hops(from, to).is_some(),
            _ => search.hops(from, to, |v| graph.predecessors(v)) < u32::MAX,
        };
        for (i, a) in cfg.arrival_process.0.iter().enumerate() {
            let exists = |end: Option<u32>| end.is_none_or(|e| (e as usize) < n);
            if n < 2 || !exists(a.src) || !exists(a.dst) {
                continue;
            }
            // Without listed routes, all ends can reach each other if each can reach the first.
            let hub = a.src.or(a.dst).map_or(NodeId(0), NodeId);
            let froms: Vec<NodeId> = match (a.src, a.dst, cfg.routing.protocol) {
                (None, None, Protocol::Fixed) => all().collect(),
                _ => vec![hub],
            };
            let others: Vec<NodeId> = match (a.src, a.dst) {
                (Some(_), Some(to)) => vec![NodeId(to)],
                _ => all().collect(),
            };
            let pairs = froms.iter().flat_map(|&f| others.iter().map(move |&t| (f, t))).filter(|(f, t)| f != t);
            let ways = pairs.flat_map(|(f, t)| [(f, t), (t, f)]);
            if let Some((from, to)) = ways.into_iter().find(|&(from, to)| !has_way(from, to)) {
                let slower = slower.get_or_insert_with(|| Slower::new(&cfg.wlan, &layout.interfaces, graph));
                let help =
                    "short flows need paths in both directions between all their possible sources and destinations";
                let (rate, help) = match slower.reason(graph, from, to).filter(|_| !listed_only) {
                    Some(reason) => (reason.message, format!("{help}; {}", reason.help)),
                    None => (String::new(), help.to_owned()),
                };
                let message =
                    format!("arrival process {i}: node {} cannot be reached from node {}{rate}", to.0, from.0);
                self.error(&format!("arrival_process.{i}"), message, &help);
            }
        }
    }
}

impl Scenario {
    pub(in crate::scenario) fn arrivals(&self) -> Vec<ArrivalsSetup> {
        let setup = |a: &Arrivals| ArrivalsSetup {
            from: a.src.map(NodeId),
            to: a.dst.map(NodeId),
            process: Process {
                rate: a.rate,
                start: a.start,
                stop: a.stop.unwrap_or(Time::NEVER),
                count: a.count.map_or(u64::MAX, u64::from),
            },
            size: a.size.clone(),
            tcp: Box::new(a.tcp.over(&self.config().tcp)),
        };
        self.config().arrival_process.0.iter().map(setup).collect()
    }
}
