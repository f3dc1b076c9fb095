//! Flows: validation.

use super::check::Checker;
use super::schema::Flow;
use crate::app;
use crate::setting::join;

impl Checker<'_> {
    /// Validates the flows; returns false if there are too many.
    pub(super) fn flows(&mut self) -> bool {
        let cfg = self.cfg;
        let (listed, drawn) = (cfg.flow.0.len() as u64, u64::from(cfg.traffic.flows));
        let of_pairs = cfg.pairs.0.iter().map(|p| p.count()).sum::<u64>();
        let (all, limit) = (listed.saturating_add(of_pairs).saturating_add(drawn), cfg.run.max_flows);
        if all > u64::from(limit) {
            let most = [("flow", listed), ("traffic.flows", drawn), ("pairs", of_pairs)];
            let path = most.iter().max_by_key(|m| m.1).map_or("flow", |m| m.0);
            let message = format!("there are {all} flows, and at most {limit} are allowed");
            self.error(path, message, "if you need that many, raise `run.max_flows`");
            return false;
        }
        for (i, flow) in cfg.flow.0.iter().enumerate() {
            self.flow(i, flow);
        }
        for (i, pairs) in cfg.pairs.0.iter().enumerate() {
            self.pairs(i, pairs);
        }
        let of_traffic = Flow { app: cfg.traffic.app, ..Flow::default() };
        self.count(&of_traffic, drawn);
        true
    }

    fn flow(&mut self, i: usize, flow: &Flow) {
        let at = format!("flow.{i}");
        let to = match flow.dst {
            Some(to) => to,
            None => {
                self.error(&at, format!("flow {i} has no destination"), &format!("set `{at}.dst` to a node"));
                return;
            }
        };
        self.node_exists(&join(&at, "src"), flow.src);
        self.node_exists(&join(&at, "dst"), to);
        if flow.src == to {
            self.error(&join(&at, "dst"), format!("flow {i} goes from node {to} to itself"), "choose another node");
        }
        if let (Some(start), Some(stop)) = (flow.start, flow.stop)
            && stop <= start
        {
            let message = format!("flow {i} stops at {stop}, and starts at {start}");
            self.error(&join(&at, "stop"), message, "a flow stops after it has started");
        }
        self.application(&at, flow);
        self.count(flow, 1);
    }

    /// Validates the application of a flow, or of the flows in the group at `at`.
    pub(super) fn application(&mut self, at: &str, flow: &Flow) {
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
                    self.error(&path, message, "leave one of them out, or set it to \"none\"");
                }
            }
            app::Kind::Cbr => {
                let cbr = flow.cbr.over(&cfg.cbr);
                self.fits(&self.owner(at, "cbr.payload"), cbr.payload.0, cbr.header_size.0);
            }
            app::Kind::OnOff if flow.is_tcp(cfg) => {}
            app::Kind::OnOff => {
                let on_off = flow.on_off.over(&cfg.on_off);
                self.fits(&self.owner(at, "on_off.payload"), on_off.payload.0, on_off.header_size.0);
            }
        }
    }

    /// Adds a number of such flows to the cost.
    pub(super) fn count(&mut self, flow: &Flow, flows: u64) {
        let cfg = self.cfg;
        let tcp = flow.tcp.over(&cfg.tcp);
        match flow.app {
            app::Kind::Bulk => self.tally.tcp(&tcp, flows),
            app::Kind::Cbr => self.tally.cbr(&flow.cbr.over(&cfg.cbr), flows),
            app::Kind::OnOff => self.tally.on_off(&flow.on_off.over(&cfg.on_off), &tcp, flows),
        }
    }
}
