//! Warnings about receive windows that are too small for the path of a flow.

use super::super::super::build::layout::Layout;
use super::super::super::schema::Config;
use super::super::super::validate::Checker;
use chappe_core::app;
use chappe_core::net::routing::Protocol;
use chappe_core::net::routing::fixed::Routes;
use chappe_core::packet::NodeId;
use chappe_core::point_to_point;
use chappe_core::run::graph::Graph;
use chappe_core::setting::Code;
use chappe_core::tcp;
use chappe_core::unit::{BitRate, Bytes, Span};
use std::collections::HashMap;

/// Limit on the entries of the routes that are searched.
const MOST_ENTRIES: usize = 10_000_000;

/// A path that leads over wires alone.
struct WiredPath {
    /// Slowest link, and its rate.
    slowest: (NodeId, NodeId),
    rate: BitRate,
    /// Round-trip time of a segment and its acknowledgement without other packets.
    rtt: Span,
}

/// Largest window that the receiver can advertise \[segments\], and the setting that limits it.
fn largest_window(t: &tcp::Config) -> (u32, &'static str) {
    let buffer = &t.receive_buffer;
    let size = buffer.initial.max(buffer.max).0;
    let held = if buffer.enabled { (size / buffer.segment_memory.max(t.mss).0).max(1) } else { u32::MAX };
    if held < t.receive_window { (held, "tcp.receive_buffer.max") } else { (t.receive_window, "tcp.receive_window") }
}

impl Checker<'_> {
    /// Warns of flows whose receive window is smaller than the rate of their path times its delay, so that they leave a
    /// link idle. Only paths over wires are known: nothing is said of others, nor of links over which something else is
    /// sent, unless its rate is known.
    pub fn small_windows(&mut self, layout: &Layout, graph: &Graph<'_>) {
        let cfg = self.cfg;
        // Without radios nothing is learned.
        let learns = cfg.routing.protocol.learns_routes() && !layout.positions.is_empty();
        let known = !learns && cfg.arrival_process.0.is_empty();
        let changes = cfg.event.0.iter().any(|e| e.setting.is_some());
        if cfg.wired_link.0.is_empty() || !known || changes {
            return;
        }
        let Some(routes) = self.routes_of(layout, graph) else { return };
        let links: HashMap<_, _> = cfg.directions().into_iter().map(|d| ((d.from, d.to), d.point_to_point)).collect();
        let paths: Vec<Option<WiredPath>> =
            (0..layout.flows.len()).map(|i| wired_path(cfg, layout, &routes, &links, i)).collect();
        // Highest rate at which the flows over a link can send [bit/s].
        let mut demand: HashMap<(NodeId, NodeId), f64> = HashMap::new();
        for (flow, path) in layout.flows.iter().zip(&paths) {
            let (from, to) = (NodeId(flow.src), NodeId(flow.dst));
            let most = match (path, flow.app) {
                (Some(path), _) if flow.is_tcp(cfg) => {
                    let t = flow.tcp.over(&cfg.tcp);
                    f64::from(largest_window(&t).0) * f64::from(t.segment_bytes(false)) * 8.0 / path.rtt.as_secs()
                }
                (_, app::Kind::Cbr) => {
                    let cbr = flow.cbr.over(&cfg.cbr);
                    f64::from(cbr.payload.0 + cbr.header_size.0) * 8.0 / cbr.interval.as_secs().max(1e-9)
                }
                _ => f64::INFINITY,
            };
            let mut at = from;
            for next in routes.way(from, to).chain([to]) {
                *demand.entry((at, next)).or_default() += most;
                at = next;
            }
        }
        for (i, path) in paths.iter().enumerate() {
            if let Some(path) = path.as_ref().filter(|path| demand[&path.slowest] < path.rate.0 as f64) {
                self.small_window(layout, i, path, demand[&path.slowest]);
            }
        }
    }

    /// Routes of all flows, there and back; `None` if a search would take too long.
    fn routes_of(&self, layout: &Layout, graph: &Graph<'_>) -> Option<Routes> {
        let mut ends: Vec<u32> = layout.flows.iter().flat_map(|f| [f.src, f.dst]).collect();
        ends.sort_unstable();
        ends.dedup();
        let few = ends.len().saturating_mul(graph.nodes()) <= MOST_ENTRIES;
        let known = few || self.cfg.routing.protocol == Protocol::Fixed;
        known.then(|| graph.routes(&self.cfg.routing, ends.into_iter().map(NodeId)))
    }

    fn small_window(&mut self, layout: &Layout, i: usize, path: &WiredPath, demand: f64) {
        let (cfg, flow) = (self.cfg, &layout.flows[i]);
        let t = flow.tcp.over(&cfg.tcp);
        let bulk = flow.bulk.over(&cfg.bulk);
        let product = path.rate.0 as f64 / 8.0 * path.rtt.as_secs();
        let bytes = bulk.bytes.map(|b| u64::from(b.0)).or(bulk.segments.map(|n| u64::from(n) * u64::from(t.mss.0)));
        // A transfer that ends before the path is full needs no larger window.
        let is_short = bytes.is_some_and(|bytes| bytes as f64 <= product);
        if flow.app != app::Kind::Bulk || is_short {
            return;
        }
        let (window, setting) = largest_window(&t);
        let needed = (product / f64::from(t.segment_bytes(false))).ceil();
        let place = self.owner(&layout.origin_of(i), setting);
        let unit = if demand < 1e7 { 1e3 } else { 1e5 };
        let most = BitRate(((demand / unit).round() * unit).max(1.0) as u64);
        let message = format!(
            "the receive window of {window} segments of {} is less than the rate times the delay of the path from node {} \
             to node {}, {needed:.0} segments: the link of {} carries at most {most}",
            t.mss, flow.src, flow.dst, path.rate
        );
        let help = match setting {
            "tcp.receive_window" => format!("set `tcp.receive_window` to {needed:.0} or more, unless it is meant so"),
            _ => {
                let memory = needed * f64::from(t.receive_buffer.segment_memory.max(t.mss).0);
                format!("set `{setting}` to {} or more, unless it is meant so", Bytes(memory.min(1e9) as u32))
            }
        };
        self.warn_once(Code::SmallWindow, &place, message, &help);
    }
}

/// Path of a flow over TCP, if it leads over wires alone.
fn wired_path(
    cfg: &Config,
    layout: &Layout,
    routes: &Routes,
    links: &HashMap<(NodeId, NodeId), point_to_point::Config>,
    i: usize,
) -> Option<WiredPath> {
    let flow = &layout.flows[i];
    if !flow.is_tcp(cfg) || layout.split_at[i].is_some() {
        return None;
    }
    let t = flow.tcp.over(&cfg.tcp);
    let (from, to) = (NodeId(flow.src), NodeId(flow.dst));
    let mut path: Option<WiredPath> = None;
    let mut rtt = Span::ZERO;
    for (from, to, bytes) in [(from, to, t.segment_bytes(false)), (to, from, t.ack_size.0)] {
        routes.via(from, to)?;
        let mut at = from;
        for next in routes.way(from, to).chain([to]) {
            let link = links.get(&(at, next))?;
            rtt = rtt + link.delay + link.rate.airtime(bytes);
            let slower = path.as_ref().is_none_or(|p| link.rate < p.rate);
            if from.0 == flow.src && slower {
                path = Some(WiredPath { slowest: (at, next), rate: link.rate, rtt });
            }
            at = next;
        }
    }
    path.map(|p| WiredPath { rtt, ..p })
}
