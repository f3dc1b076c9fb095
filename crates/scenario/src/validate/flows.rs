//! Flows, and generators of short flows: validation.

use super::super::build::flows::{Flow, connections};
use super::super::build::layout::Layout;
use super::super::read::files::{STOP_ONCE, stops_twice};
use super::super::schema::flows::{FlowEntry, Label, end_of};
use super::super::schema::{Arrivals, Config};
use super::{Checker, cost};
use chappe_core::app;
use chappe_core::run::Stop;
use chappe_core::run::external::HEADER;
use chappe_core::setting::join;
use chappe_core::unit::{Bytes, Span, Time};
use std::collections::BTreeMap;

/// Smallest MTU with QUIC, whose first datagrams have 1,200 B.
const SMALLEST_MTU: Bytes = Bytes(1_200 + HEADER.0);

/// Upper bound of the end of the run.
fn end(cfg: &Config) -> Time {
    let limit = Time::ZERO + cfg.run.time_limit;
    match cfg.run.stop {
        Stop::At(at) => at.min(limit),
        Stop::Delivered(_) => limit,
    }
}

/// Approximate upper bound of the number of short flows.
fn expected(cfg: &Config, a: &Arrivals) -> f64 {
    let last = a.stop.unwrap_or(Time::NEVER).min(end(cfg));
    let by_time = if last > a.start { last.since(a.start).as_secs() * a.rate } else { 0.0 };
    a.count.map_or(by_time, |count| by_time.min(f64::from(count)))
}

impl Checker<'_> {
    /// Validates the flows; returns false if there are too many.
    pub(super) fn flows(&mut self) -> bool {
        let cfg = self.cfg;
        let (listed, drawn) = (cfg.listed_flows(), u64::from(cfg.traffic.flows));
        let (all, limit) = (listed.saturating_add(drawn), cfg.run.max_flows);
        if all > u64::from(limit) {
            let path = if drawn > listed { "traffic.flows" } else { "flow" };
            let message = format!("there are {all} flows, and at most {limit} are allowed");
            self.error(path, message, "if you need that many, raise `run.max_flows`");
            return false;
        }
        for (i, entry) in cfg.flow.0.iter().enumerate() {
            self.entry(i, entry);
        }
        self.names();
        self.traffic(drawn);
        true
    }

    /// Checks that a name means one flow, and is the name of no group.
    fn names(&mut self) {
        let entries = &self.cfg.flow.0;
        let groups: BTreeMap<&str, usize> =
            entries.iter().enumerate().rev().filter_map(|(i, e)| Some((e.group.as_ref()?.0.as_str(), i))).collect();
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, entry) in entries.iter().enumerate() {
            let Some(Label(name)) = &entry.name else { continue };
            let path = format!("flow.{i}.name");
            if entry.count() > 1 {
                let message = format!("`flow.{i}` has {} flows, and `name` names one", entry.count());
                self.error(&path, message, &format!("give all of them a group: group = \"{name}\""));
            }
            if let Some(first) = named.get(name.as_str()) {
                let message = format!("`flow.{i}` has the name of `flow.{first}`: \"{name}\"");
                self.error(&path, message, "choose another name, or give both flows the same group");
            } else if let Some(first) = groups.get(name.as_str()) {
                let message = format!("`flow.{i}` has the name of the group of `flow.{first}`: \"{name}\"");
                self.error(&path, message, "choose another name, or leave it out if the flow belongs to the group");
            }
            named.entry(name).or_insert(i);
        }
    }

    /// Validates an entry of `flow`.
    fn entry(&mut self, i: usize, entry: &FlowEntry) {
        let at = format!("flow.{i}");
        let Some(dst) = &entry.dst else {
            let help = format!("set `{at}.dst` to a node, or to several nodes, e.g. \"3-7\"");
            self.error(&at, format!("`{at}` has no destination"), &help);
            return;
        };
        self.node_exists(&join(&at, "src"), entry.src.last());
        self.node_exists(&join(&at, "dst"), dst.last());
        if entry.count() == 0 {
            let message = format!("`{at}` goes from node {} to itself", entry.src.last());
            self.error(&join(&at, "dst"), message, "choose another node");
        }
        let name = if entry.count() > 1 { format!("the last flow of `{at}`") } else { format!("`{at}`") };
        self.times(&at, &name, entry.last_start(), entry.stop, entry.duration);
        let flow = entry.common();
        self.application(&at, &flow);
        let stop = entry.stop.or(end_of(entry.last_start(), entry.duration));
        self.count(&Flow { stop, ..flow }, entry.count());
    }

    /// Validates flows that are drawn, and adds their number to the cost.
    fn traffic(&mut self, drawn: u64) {
        let traffic = &self.cfg.traffic;
        let flow = traffic.entry().common();
        if drawn > 0 {
            let last = traffic.start_of(drawn - 1);
            self.times("traffic", "the last flow of `traffic`", Some(last), traffic.stop, traffic.duration);
            self.application("traffic", &flow);
            let stop = traffic.stop.or(end_of(Some(last), traffic.duration));
            self.count(&Flow { stop, ..flow }, drawn);
        }
    }

    /// Validates the times of the flows in the group at `at`, the last of which is called `name`.
    fn times(&mut self, at: &str, name: &str, last: Option<Time>, stop: Option<Time>, duration: Option<Span>) {
        let Some(stop) = stop else { return };
        if duration.is_some() {
            self.error(&join(at, "duration"), stops_twice(at), STOP_ONCE);
        }
        if let Some(start) = last.filter(|&start| stop <= start) {
            let message = format!("{name} stops at {stop}, and starts at {start}");
            self.error(&join(at, "stop"), message, "a flow stops after it has started");
        }
    }

    /// Checks that each connection of QUIC has a flow back of its own, and that its handshake fits into packets.
    pub(super) fn connections(&mut self, layout: &Layout) {
        if self.cfg.net.mtu < SMALLEST_MTU && layout.flows.iter().any(|f| f.quic(self.cfg).is_some()) {
            let message = format!("QUIC begins with datagrams of 1,200 B (RFC 9000, 14.1), packets of {SMALLEST_MTU}");
            self.error("net.mtu", message, &format!("give at least {SMALLEST_MTU}"));
        }
        for (i, _) in connections(self.cfg, &layout.flows).into_iter().filter(|(_, back)| back.is_none()) {
            let (from, to) = (layout.flows[i].src, layout.flows[i].dst);
            let message =
                format!("flow {i} is QUIC, and no free external flow leads back from node {to} to node {from}");
            let help = format!("add `{{ src = {to}, dst = {from}, app = \"external\" }}` to `flow`");
            self.error(&layout.origin_of(i), message, &help);
        }
    }

    /// Validates the application of a flow, or of the flows in the group at `at`.
    fn application(&mut self, at: &str, flow: &Flow) {
        let cfg = self.cfg;
        if flow.is_tcp(cfg) {
            self.tcp(at, &flow.tcp.over(&cfg.tcp));
        }
        match flow.app {
            app::Kind::Bulk => {
                let bulk = flow.bulk.over(&cfg.bulk);
                if bulk.segments.is_some() && bulk.bytes.is_some() {
                    let path = self.owner(at, "bulk.bytes");
                    let message = "`bulk.segments` and `bulk.bytes` both say how much is sent";
                    self.error(&path, message, "leave one of them out, or set it to \"unlimited\"");
                }
            }
            app::Kind::Cbr => {
                let cbr = flow.cbr.over(&cfg.cbr);
                self.fits(&self.owner(at, "cbr.payload"), cbr.payload.0, cbr.header_size.0);
            }
            app::Kind::OnOff if flow.is_tcp(cfg) => {}
            app::Kind::Requests | app::Kind::External => {}
            app::Kind::OnOff => {
                let on_off = flow.on_off.over(&cfg.on_off);
                self.fits(&self.owner(at, "on_off.payload"), on_off.payload.0, on_off.header_size.0);
            }
        }
    }

    /// Adds a number of such flows to the cost.
    fn count(&mut self, flow: &Flow, flows: u64) {
        let cfg = self.cfg;
        let tcp = flow.tcp.over(&cfg.tcp);
        let end = flow.stop.map_or(Span(u64::MAX), |stop| stop.since(Time::ZERO));
        // An event starts a flow again, or sends more.
        let has_end = cfg.event.0.is_empty();
        let time = if has_end { end.min(cost::longest(cfg)) } else { cost::longest(cfg) };
        self.tally.active = self.tally.active.max(time);
        match flow.app {
            app::Kind::Bulk => {
                self.tally.tcp(&tcp, flows);
                self.tally.bulk(&flow.bulk.over(&cfg.bulk), tcp.mss, flows);
            }
            app::Kind::Cbr => self.tally.cbr(&flow.cbr.over(&cfg.cbr), flows, time),
            app::Kind::Requests => self.tally.requests(&flow.requests.over(&cfg.requests), &tcp, flows, time),
            app::Kind::OnOff => self.tally.on_off(&flow.on_off.over(&cfg.on_off), &tcp, flows, time),
            app::Kind::External => self.tally.external(flows),
        }
        if !has_end {
            self.tally.has_no_end();
        }
    }

    /// Validates flow generators, except for their routes.
    pub(super) fn arrivals(&mut self) {
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
}
