//! Warnings: valid scenarios that are hardly intended.

mod far;
mod windows;

use super::super::build::flows::Flow;
use super::super::build::layout::Layout;
use super::super::build::mobility;
use super::Checker;
use chappe_core::app;
use chappe_core::packet::RadioId;
use chappe_core::radio::Channel;
use chappe_core::run::{Command, Stop};
use chappe_core::setting::{Code, join};
use chappe_core::unit::Time;
use chappe_core::wlan::Mode;

impl Checker<'_> {
    /// Adds the warnings of a scenario without errors.
    pub(super) fn warnings(&mut self, layout: &Layout) {
        self.equal_positions(layout);
        self.short_batches(layout);
        self.late_flows(layout);
        self.flows_without_start(layout);
    }

    /// Warns of nodes at equal positions.
    fn equal_positions(&mut self, layout: &Layout) {
        let mut positions: Vec<_> = layout.positions.iter().zip(0u32..).map(|(p, n)| (p.x, p.y, n)).collect();
        positions.sort_by(|a, b| (a.0, a.1, a.2).partial_cmp(&(b.0, b.1, b.2)).expect("places are numbers"));
        let mut pairs: Vec<_> =
            positions.windows(2).filter(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)).map(|w| (w[0].2, w[1].2)).collect();
        pairs.sort_unstable();
        let Some(&(a, b)) = pairs.first() else { return };
        let more = match pairs.len() - 1 {
            0 => String::new(),
            1 => ", and one more node is where another is".to_owned(),
            n => format!(", and {n} more nodes are where others are"),
        };
        let message = format!("nodes {a} and {b} are at the same position{more}");
        self.warn(
            Code::EqualPositions,
            "topology.positions",
            message,
            "real radios are never this close: give each node a different position",
        );
    }

    /// Warns of batches shorter than a packet, and of an end beyond `run.time_limit`.
    fn short_batches(&mut self, layout: &Layout) {
        let run = &self.cfg.run;
        let limit = Time::ZERO + run.time_limit;
        let (setting, batch) = match run.stop {
            Stop::At(end) if end <= limit => ("run.stop", end.since(Time::ZERO) / u64::from(run.batches)),
            Stop::At(end) => {
                let message = format!("the run ends at {}, before `run.stop` ({end})", run.time_limit);
                self.warn(Code::EarlyEnd, "run.stop", message, "raise `run.time_limit`");
                ("run.time_limit", self.cfg.run.time_limit / u64::from(self.cfg.run.batches))
            }
            Stop::Delivered(_) => ("run.time_limit", run.time_limit),
        };
        let radio = (!layout.positions.is_empty()).then_some(self.cfg.wlan.data_rate);
        let Some(rate) = radio.into_iter().chain(self.cfg.directions().iter().map(|d| d.point_to_point.rate)).max()
        else {
            return;
        };
        let Some(packet) = layout.flows.iter().map(|f| rate.airtime(f.payload(self.cfg).0)).min() else { return };
        if batch < packet {
            let message = format!("a batch lasts {batch}, and the shortest packet {packet}: nothing can be measured");
            self.warn(
                Code::ShortBatches,
                setting,
                message,
                "make the run longer, or use fewer batches (`run.batches`)",
            );
        }
    }

    /// Warns of events and flows that begin after the run.
    fn late_flows(&mut self, layout: &Layout) {
        let run = &self.cfg.run;
        let limit = Time::ZERO + run.time_limit;
        let end = match run.stop {
            Stop::At(at) => at.min(limit),
            Stop::Delivered(_) => limit,
        };
        self.late_events(end);
        let mut late = layout
            .flows
            .iter()
            .enumerate()
            .filter(|(_, f)| f.start.is_some_and(|start| start >= end) && f.app != app::Kind::External);
        let Some((i, flow)) = late.next() else { return };
        let more = match late.count() {
            0 => String::new(),
            1 => ", and one more flow starts too late".to_owned(),
            n => format!(", and {n} more flows start too late"),
        };
        let start = flow.start.unwrap_or(end);
        let message = format!("flow {i} starts at {start}, and the run ends at {end}{more}");
        let path = join(&layout.origin_of(i), "start");
        self.warn(Code::LateFlow, &path, message, "start it earlier, or make the run longer");
    }

    /// Warns of flows without a start that no event begins.
    fn flows_without_start(&mut self, layout: &Layout) {
        let mut begun = vec![false; layout.flows.len()];
        for (_, command) in &layout.events {
            if let Command::FlowStart(flow) = command {
                begun[flow.index()] = true;
            }
        }
        let waits = |f: &Flow, begun: bool| f.start.is_none() && f.app != app::Kind::External && !begun;
        let mut idle = layout.flows.iter().zip(begun).enumerate().filter(|(_, (f, begun))| waits(f, *begun));
        let Some((i, _)) = idle.next() else { return };
        let more = match idle.count() {
            0 => String::new(),
            1 => ", nor one more flow".to_owned(),
            n => format!(", nor {n} more flows"),
        };
        let message = format!("flow {i} has no start, and no event starts it{more}");
        let help = "let it have a start (`start`; in a file of flows `started_at_s`), or start it by an event, \
                    `action = \"flow_start\"`, or from the program that drives the run";
        self.warn(Code::UnstartedFlow, &join(&layout.origin_of(i), "start"), message, help);
    }

    /// Finds one-way links between fixed nodes, for protocols that take a received broadcast for a bidirectional link.
    pub(super) fn heard_one_way(&mut self, layout: &Layout, channel: &Channel) {
        let (cfg, radios) = (self.cfg, &layout.interfaces);
        let Some((path, protocol, help)) = cfg.routing.trusts_broadcasts() else { return };
        if radios.is_uniform() || mobility::moves(cfg) {
            return;
        }
        let node = |r: RadioId| radios.radios[r.index()].node;
        let hears = |from: RadioId, to: RadioId| {
            channel.decodes(from, to, Mode::checked(radios.profile(from).wlan.basic_rate).0)
        };
        let all = (0..radios.radios.len() as u32).map(RadioId);
        let alone = all.flat_map(|r| channel.neighbors(r).map(move |peer| (r, peer)));
        let alone = alone.filter(|&(r, peer)| hears(r, peer) && !hears(peer, r));
        let mut pairs: Vec<_> = alone.map(|(r, peer)| (node(r).0, node(peer).0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let Some(&(from, to)) = pairs.first() else { return };
        let more = match pairs.len() - 1 {
            0 => String::new(),
            1 => ", and one more link goes one way".to_owned(),
            n => format!(", and {n} more links go one way"),
        };
        let message = format!(
            "node {to} hears node {from}, which does not hear node {to}{more}: {protocol} takes such links for routes, and \
             no ACK comes back over them"
        );
        self.warn(Code::OneWayLinks, path, message, help);
    }
}
