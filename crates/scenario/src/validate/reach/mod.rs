//! Destinations that cannot be reached from their sources, or only over too many hops.

mod carried;
mod gateways;

use super::super::build::layout::Layout;
use super::super::build::mobility;
use super::super::schema::nodes::Own;
use super::Checker;
use carried::{Reason, Slower, name};
use chappe_core::net::routing::fixed::{Routes, Search};
use chappe_core::net::routing::gateways::Choice;
use chappe_core::net::routing::{self, Protocol};
use chappe_core::packet::NodeId;
use chappe_core::radio;
use chappe_core::radio::propagation::Model;
use chappe_core::radio::propagation::links::Gain;
use chappe_core::run::graph::Graph;
use chappe_core::setting::{Code, join};
use chappe_core::topology;
use chappe_core::wlan::Mode;

impl Checker<'_> {
    /// Returns true if interference is cumulative and the only differences in range are those between rates.
    fn one_range_for_all(&self) -> bool {
        let cfg = self.cfg;
        let one_rate = cfg.wlan.link_rate.0.is_empty() && cfg.node.0.iter().all(Own::is_name);
        cfg.radio.reception == radio::Reception::Sinr && one_rate && cfg.radio.channels.len() < 2
    }

    /// Decoding range of the default radio [m], and the rate of data frames that reach as far.
    fn reach(&self) -> (f64, Mode) {
        let (radio, wlan) = (&self.cfg.radio, &self.cfg.wlan);
        let model = Model::new(radio);
        let range = |mode: Mode| match radio.reception {
            radio::Reception::Sinr => model.range_of_power(radio::sinr::weakest(&radio.sinr, mode.coding())).0,
            radio::Reception::Pairwise => model.decode_range().0,
        };
        let modes = wlan.data_modes().into_iter().map(|mode| (range(mode), mode));
        modes.max_by(|a, b| a.0.total_cmp(&b.0)).expect("data have a mode")
    }

    /// Returns true if neighbors of a chain or a grid are out of decoding range.
    fn too_far_apart(&self) -> bool {
        let t = &self.cfg.topology;
        let spaced = matches!(t.kind, topology::Kind::Chain | topology::Kind::Grid);
        spaced && self.cfg.radio.propagation != radio::Propagation::Links && t.spacing.0 > self.reach().0
    }

    /// Decoding range as text.
    fn how_far(&self) -> String {
        let (radio, (reach, mode)) = (&self.cfg.radio, self.reach());
        let apart = match self.too_far_apart() {
            true => format!(", and neighbors are {} apart", self.cfg.topology.spacing),
            false => String::new(),
        };
        if radio.reception != radio::Reception::Sinr {
            return format!("frames are decoded up to {reach:.0} m{apart}");
        }
        let shadowing = if radio.shadowing.0 > 1.0 { "without shadowing " } else { "" };
        let chosen = self.cfg.wlan.rate_control.algorithm.chooses_rates();
        let slowest = if chosen { ", the slowest rate that may be chosen," } else { "" };
        format!("{shadowing}frames at {}{slowest} are decoded up to {reach:.0} m{apart}", name(mode))
    }

    /// Setting that explains an unreachable destination: the destination itself or, if that is a default, the setting
    /// that keeps neighbors too far apart.
    fn cause<'p>(&self, destination: &'p str) -> &'p str {
        if self.is_written(destination) || !self.too_far_apart() {
            return destination;
        }
        let causes = ["topology.spacing", "radio.range", "radio.receive_threshold"];
        causes.into_iter().find(|path| self.is_written(path)).unwrap_or(destination)
    }

    /// Rejects rates of links over which no frame at that rate can be decoded.
    fn link_rates(&mut self, graph: &Graph<'_>) {
        for (i, row) in self.cfg.wlan.link_rate.0.iter().enumerate() {
            let (Some(from), Some(to)) = (row.src, row.dst) else { continue };
            if !graph.over_the_air(NodeId(from)).any(|n| n.0 == to) {
                let set = row.mcs.map(|mcs| self.cfg.wlan.ppdu.mode(mcs, row.streams)).or_else(|| Mode::of(row.rate));
                let rate = set.map_or_else(|| row.rate.to_string(), name);
                let message = format!("node {to} cannot decode frames of node {from} at {rate}, or send ACKs back");
                let help = "they are too far apart, or on different channels";
                self.warn(Code::UndecodableRate, &format!("wlan.link_rate.{i}"), message, help);
            }
        }
    }

    /// Checks that each destination can be reached from its source.
    pub(super) fn reachability(&mut self, layout: &Layout, graph: &Graph<'_>) {
        let cfg = self.cfg;
        let positions = &layout.positions;
        self.unwired(graph);
        self.link_rates(graph);
        let n = graph.nodes();
        let moves = mobility::moves(cfg);
        if moves && !cfg.routing.protocol.learns_routes() {
            let message = format!("nodes move, and `{}` keeps the initial routes", cfg.routing.protocol.word());
            self.warn(
                Code::StaticRoutes,
                "routing.protocol",
                message,
                "choose a protocol that finds routes during the run, such as `aodv`",
            );
        }
        if graph.has_equal_links(&cfg.routing) {
            let metric = cfg.routing.metric.word();
            let message = format!("by `{metric}` all links are equal: routes have the fewest hops");
            let help = "links differ by errors with `radio.reception = \"sinr\"`, and by rates with `wlan.rate_control` or \
                        `wlan.link_rate`; or leave `routing.metric` out";
            self.warn(Code::EqualLinks, "routing.metric", message, help);
        }
        let by_table = cfg.routing.protocol == Protocol::Fixed || cfg.routing.is_by_metric();
        let ends = layout.flows.iter().map(|f| NodeId(f.dst)).filter(|to| to.index() < n);
        let routes = if by_table { graph.routes(&cfg.routing, ends) } else { Routes::default() };
        let (mut search, mut slower) = (Search::new(n), None);
        for (i, flow) in layout.flows.iter().enumerate() {
            let (from, to) = (NodeId(flow.src), NodeId(flow.dst));
            if from == to || from.index().max(to.index()) >= n {
                continue;
            }
            let path = layout.entry_of(i).map_or("traffic.flows".to_owned(), |entry| format!("flow.{entry}.dst"));
            let hops = match by_table {
                true => routes.hops(from, to).unwrap_or(u32::MAX),
                false => search.hops(from, to, |v| graph.predecessors(v)),
            };
            // Routes between moving nodes change, unless the way to a point-to-point link is that of the beginning.
            let changes = cfg.wired_link.0.is_empty() || cfg.routing.gateways == Choice::Announced;
            if moves && changes && cfg.routing.protocol != Protocol::Fixed {
                self.tally.hops += u64::from(if hops == u32::MAX { 1 } else { hops });
                continue;
            }
            if hops == u32::MAX {
                let bare = |n: NodeId| n.index() >= positions.len();
                let alone = [("src", from), ("dst", to)].into_iter().find(|(_, n)| bare(*n) && !graph.is_wired(*n));
                if let Some((end, n)) = alone {
                    let message = format!("node {} has no radio, and no link leads there", n.0);
                    let path = join(&layout.origin_of(i), end);
                    self.error(&path, message, "list its links as `wired_link`, or choose another node");
                    continue;
                }
                let slower = slower.get_or_insert_with(|| Slower::new(&cfg.wlan, &layout.interfaces, graph));
                let reason = self.unreached(layout, graph, slower, (from, to));
                let message = format!("node {} cannot be reached from node {}{}", to.0, from.0, reason.message);
                self.error_at(self.cause(&path), &path, message, &reason.help);
                continue;
            }
            let needs_way_back = flow.is_tcp(cfg) && cfg.routing.protocol != Protocol::Fixed;
            if needs_way_back && search.hops(to, from, |v| graph.predecessors(v)) == u32::MAX {
                let slower = slower.get_or_insert_with(|| Slower::new(&cfg.wlan, &layout.interfaces, graph));
                let help = "a link on the path works in one direction only; TCP needs both directions";
                let (rate, help) = match slower.reason(graph, to, from) {
                    Some(reason) => (reason.message, format!("{help}; {}", reason.help)),
                    None => (String::new(), help.to_owned()),
                };
                let message = format!("acknowledgements cannot return from node {} to node {}{rate}", to.0, from.0);
                self.error(&path, message, &help);
                continue;
            }
            self.tally.hops += u64::from(hops);
            let (setting, limit) = cfg.routing.reach(cfg.net.ttl);
            let mut hops = hops;
            if hops > u32::from(limit) && cfg.routing.protocol.learns_routes() {
                hops = graph.longest_radio_stretch(from, to, hops);
            }
            if hops > u32::from(limit) {
                let (why, help) = if setting.ends_with("hop_penalty") {
                    (format!("qualities of routes fall to 0 after {limit}"), format!("lower `{setting}`"))
                } else {
                    (format!("packets live for {limit}"), format!("set `{setting}` to at least {hops}"))
                };
                let message = format!("flow {i} needs {hops} hops but {why}: nothing will be delivered");
                self.warn(Code::TooManyHops, &path, message, &help);
            }
        }
        if cfg.routing.protocol == routing::Protocol::Fixed {
            for (i, r) in cfg.routing.fixed.routes.0.iter().enumerate() {
                // With cumulative interference a link that loses most frames still counts.
                let any = moves || cfg.radio.reception == radio::Reception::Sinr;
                let near = |via: u32| any || graph.carries(NodeId(r.node), NodeId(via));
                if u64::from(r.node) >= n as u64 || u64::from(r.next_hop) >= n as u64 || !near(r.next_hop) {
                    let message =
                        format!("route {i} goes from node {} to {}, which is no neighbor", r.node, r.next_hop);
                    self.error(&format!("routing.fixed.routes.{i}"), message, "");
                }
            }
        }
    }

    /// Reason for which a destination cannot be reached, and the change that mends it.
    fn unreached(
        &self,
        layout: &Layout,
        graph: &Graph<'_>,
        slower: &Slower<'_>,
        (from, to): (NodeId, NodeId),
    ) -> Reason {
        let cfg = self.cfg;
        let because = |help: &str| Reason { message: String::new(), help: help.to_owned() };
        if cfg.routing.protocol == Protocol::Fixed {
            return because("`routing.fixed.routes` do not lead there");
        }
        if let Some(reason) = self.one_way_reason(layout, graph, slower, (from, to)) {
            return reason;
        }
        let measured = cfg.radio.propagation == radio::Propagation::Links;
        if let Some(reason) = slower.reason(graph, from, to) {
            let help = match measured {
                true => reason.help,
                false => format!("{}; {}, or move nodes closer", self.how_far(), reason.help),
            };
            return Reason { help, ..reason };
        }
        if from.index().max(to.index()) >= layout.positions.len() {
            return because("no links lead there; list more of them, or choose another destination");
        }
        if measured {
            let chosen = cfg.wlan.rate_control.algorithm.chooses_rates();
            let rate = if chosen { "a rate that may be chosen" } else { "their rate" };
            return because(&format!(
                "no links in `radio.links_table` lead there over which data frames can be decoded at {rate}, and ACKs \
                 come back{}",
                self.strongest(layout, to)
            ));
        }
        if !(layout.interfaces.is_uniform() || self.one_range_for_all()) {
            return because(
                "a neighbor has a radio on the same channel, decodes data frames at the rate of the link, and its ACKs \
                 are decoded: look at `radio.channels`, `radio.sensitivity`, `wlan.link_rate` and `node`",
            );
        }
        because(&format!("{}; move nodes closer or choose another destination", self.how_far()))
    }

    /// The strongest measured signal at a node beside the weakest that is decoded, where signals decide.
    fn strongest(&self, layout: &Layout, to: NodeId) -> String {
        let (radio, mode) = (&self.cfg.radio, self.cfg.wlan.slowest_mode());
        let links = &layout.interfaces.profiles[0].radio.links_table;
        let signal = |gain: Option<Gain>| if let Some(Gain::Signal(dbm)) = gain { Some(dbm) } else { None };
        let strongest = links.iter().filter(|l| l.to == to.0).filter_map(|l| signal(l.gain)).max_by(f64::total_cmp);
        let needed = 30.0 + 10.0 * libm::log10(radio::sinr::weakest(&radio.sinr, mode.coding()));
        match strongest {
            Some(dbm) if radio.reception == radio::Reception::Sinr && dbm < needed => {
                format!(
                    "; the strongest signal at node {} is {dbm:.1} dBm, and {} needs {needed:.1} dBm",
                    to.0,
                    name(mode)
                )
            }
            _ => String::new(),
        }
    }

    /// Checks that short flows have routes in both directions.
    pub(super) fn ways_of_arrivals(&mut self, layout: &Layout, graph: &Graph<'_>) {
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
