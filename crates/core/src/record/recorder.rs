//! The recorder: counts deliveries, divides the run into batches, takes samples, and decides when the run ends.

use super::drops::Drops;
use super::loss::{Cause, Losses};
use super::rates::Rates;
use super::short_flows::ShortFlows;
use super::table::Table;
use super::totals::{FlowTotals, LinkTotals, LocalTotals, NodeTotals, Totals};
use super::uses::airtime::{Budget, Use};
use super::uses::flow::{Rebooking, USES};
use crate::app;
use crate::packet::{Kind, Ledger, Ledgers, NodeId, RadioId, Reason};
use crate::radio::energy;
use crate::run::{End, Setup, Stop, Transport};
use crate::tcp::{self, View};
use crate::unit::{Position, Span, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Columns of the tables of flows that apply to TCP only and are neither counters nor uses of time.
const OF_TCP: [&str; 5] = ["variant", "close_time_s", "mean_window_segments", "window_observed_s", "mean_rtt_s"];

/// Returns true if a column of the tables of flows applies to TCP only.
pub fn is_of_tcp(column: &str) -> bool {
    let counters = [tcp::Counters::OF_TCP, tcp::Sums::OF_TCP, LocalTotals::OF_TCP];
    let is_use = |time: &str| USES.iter().any(|(name, _)| *name == time);
    OF_TCP.contains(&column)
        || counters.iter().any(|list| list.contains(&column))
        || column.strip_suffix("_s").is_some_and(is_use)
}

#[derive(Clone, Debug)]
struct FlowInfo {
    from: u32,
    to: u32,
    name: Option<String>,
    group: Option<String>,
    app: app::Kind,
    /// TCP variant; `None`: the flow uses UDP.
    variant: Option<Cow<'static, str>>,
    start: Option<Time>,
}

/// One direction of a point-to-point link.
#[derive(Clone, Copy, Debug)]
struct LinkInfo {
    link: u32,
    from: u32,
    to: u32,
}

/// A radio.
#[derive(Clone, Debug)]
struct RadioInfo {
    node: NodeId,
    channel: u16,
    energy: energy::Config,
}

/// A sample of a sender.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    flow: u32,
    cwnd: f64,
    ssthresh: f64,
    rto: Span,
    srtt: Option<Span>,
    outstanding: u32,
    queued: u32,
    delivered: u64,
}

/// Measurements of a run.
#[derive(Clone, Debug)]
pub struct Recorder {
    stop: Stop,
    limit: Time,
    batches: u32,
    discard: u32,
    flows: Vec<FlowInfo>,
    positions: Vec<Position>,
    names: BTreeMap<u32, String>,
    radios: Vec<RadioInfo>,
    links: Vec<LinkInfo>,
    delivered: u64,
    next_delivery_boundary: u64,
    next_time_boundary: Time,
    /// Totals at the start, at the end of every batch, and at the end of the run.
    snapshots: Vec<Totals>,
    end: Option<Totals>,
    samples: Vec<Sample>,
    /// Completed and running short flows of the flow generators, and responses to requests.
    pub short_flows: ShortFlows,
}

impl Recorder {
    /// A recorder at the start of a run.
    pub fn new(setup: &Setup) -> Recorder {
        let flows = setup.flows.iter().map(|f| FlowInfo {
            from: f.from.0,
            to: f.to.0,
            name: f.name.clone(),
            group: f.group.clone(),
            app: f.app_kind,
            variant: match &f.transport {
                Transport::Tcp(cfg) => Some(cfg.pair()),
                Transport::Udp => None,
            },
            start: f.start,
        });
        let start = Totals {
            at: Time::ZERO,
            flows: vec![FlowTotals::default(); setup.flows.len()],
            short_flows: FlowTotals::default(),
            nodes: vec![NodeTotals::default(); setup.positions.len() + setup.wired as usize],
            air: vec![Budget::default(); if setup.airtime { setup.interfaces.radios.len() } else { 0 }],
            batteries: Vec::new(),
            gateways: Vec::new(),
            links: vec![LinkTotals::default(); setup.links.len()],
            rates: Rates::default(),
            ledgers: Ledgers::default(),
            losses: Losses::default(),
            drops: Drops::default(),
        };
        let mut snapshots = Vec::with_capacity(setup.batches as usize + 1);
        snapshots.push(start);
        let mut recorder = Recorder {
            stop: setup.stop,
            limit: setup.limit,
            batches: setup.batches,
            discard: setup.discard,
            flows: flows.collect(),
            positions: setup.positions.clone(),
            names: setup.names.clone(),
            radios: setup
                .interfaces
                .radios
                .iter()
                .map(|r| RadioInfo {
                    node: r.node,
                    channel: r.channel,
                    energy: setup.interfaces.profiles[r.profile as usize].radio.energy.clone(),
                })
                .collect(),
            links: setup.links.iter().map(|l| LinkInfo { link: l.link, from: l.from.0, to: l.to.0 }).collect(),
            delivered: 0,
            next_delivery_boundary: u64::MAX,
            next_time_boundary: Time::NEVER,
            snapshots,
            end: None,
            samples: Vec::new(),
            short_flows: ShortFlows::default(),
        };
        recorder.set_boundary();
        recorder
    }

    fn closed(&self) -> u64 {
        self.snapshots.len() as u64 - 1
    }

    /// Sets the end of the current batch.
    fn set_boundary(&mut self) {
        let (k, n) = (self.closed() + 1, u64::from(self.batches));
        let open = k <= n;
        match self.stop {
            Stop::Delivered(total) => {
                self.next_delivery_boundary = if open { total * k / n } else { u64::MAX };
            }
            Stop::At(end) => {
                let at = (u128::from(end.0) * u128::from(k) / u128::from(n)) as u64;
                self.next_time_boundary = if open { Time(at) } else { Time::NEVER };
            }
        }
    }

    /// First instant at which a batch ends.
    pub fn first_boundary(&self) -> Time {
        self.next_time_boundary
    }

    /// Counts packets delivered to a flow's destination.
    #[inline]
    pub fn on_delivered(&mut self, _flow: usize, packets: u32) {
        self.delivered += u64::from(packets);
    }

    /// Returns true if the deliveries have completed the batch.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.delivered >= self.next_delivery_boundary
    }

    /// Returns true if the deliveries have met the stop rule.
    pub fn is_done(&self) -> bool {
        matches!(self.stop, Stop::Delivered(total) if self.delivered >= total)
    }

    /// Returns true if the run ends with a delivery.
    pub fn waits_for_deliveries(&self) -> bool {
        matches!(self.stop, Stop::Delivered(_))
    }

    /// Handles the time at which a batch or the run ends. Returns the reason if the run ends, and the next such time.
    pub fn on_time(&self, now: Time) -> (Option<End>, Time) {
        let end = match self.stop {
            Stop::At(end) if now >= end => Some(End::Done),
            _ if now >= self.limit => Some(End::Limit),
            _ => None,
        };
        let next = match self.stop {
            Stop::At(end) => {
                let (k, n) = (self.closed() + 2, u64::from(self.batches));
                Time((u128::from(end.0) * u128::from(k.min(n)) / u128::from(n)) as u64)
            }
            Stop::Delivered(_) => self.limit,
        };
        (end, next.min(self.limit).max(now + Span(1)))
    }

    /// Returns true if the current batch has reached its end.
    pub fn wants_batch(&self, now: Time) -> bool {
        self.closed() < u64::from(self.batches) && (self.is_due() || now >= self.next_time_boundary)
    }

    /// Closes the current batch.
    pub fn close_batch(&mut self, totals: Totals) {
        // Rates are reported for the measured part only, so they are kept at its beginning and at the last border.
        let last = self.snapshots.len() - 1;
        self.snapshots[last].drops = Drops::default();
        if last != self.discard as usize {
            self.snapshots[last].rates = Rates::default();
        }
        self.snapshots.push(totals);
        self.set_boundary();
    }

    /// Returns true if the batch closed last belongs to the warm-up. If the run ends in the warm-up, its last batch,
    /// which is unfinished, is the measured part; so that part begins anew with each border of the warm-up.
    pub fn is_warmup_border(&self) -> bool {
        self.closed() <= u64::from(self.discard)
    }

    /// Corrects past batches: a flow has waited for a timeout, which was not known at their borders.
    #[cold]
    pub fn rebook(&mut self, flow: usize, rebooking: &Rebooking) {
        let borders = self.end.iter_mut().chain(self.snapshots.iter_mut().rev());
        for border in borders.take_while(|b| b.at > rebooking.since) {
            if let Some(totals) = border.flows.get_mut(flow) {
                rebooking.correct(border.at, &mut totals.uses_ns);
            }
        }
    }

    /// Ends the run with these totals.
    pub fn finish(&mut self, totals: Totals) {
        self.end = Some(totals);
    }

    /// Memory of the samples with their rows in the tables \[B\].
    pub fn memory_of_samples(&self) -> usize {
        // Nine columns: a Rust vector, a Python list, Python numbers, a data frame.
        self.samples.capacity() * size_of::<Sample>() + self.samples.len() * 9 * 56
    }

    /// Records the state of a sender, with the packets delivered so far.
    pub fn sample(&mut self, at: Time, flow: usize, sender: &View, queued: usize, delivered: u64) {
        self.samples.push(Sample {
            at,
            flow: flow as u32,
            cwnd: sender.cwnd,
            ssthresh: sender.ssthresh,
            rto: sender.rto,
            srtt: sender.srtt,
            outstanding: sender.outstanding,
            queued: queued as u32,
            delivered,
        });
    }

    /// Completed share of the run.
    pub fn progress(&self, now: Time) -> f64 {
        let by_time = now.0 as f64 / self.limit.0 as f64;
        let by_rule = match self.stop {
            Stop::Delivered(total) => self.delivered as f64 / total as f64,
            Stop::At(end) => now.0 as f64 / end.0 as f64,
        };
        by_rule.max(by_time).min(1.0)
    }

    /// Number of packets delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    // ---- tables ----

    /// Totals at the end of the discarded batches and at the end of the run.
    fn measured(&self) -> (&Totals, &Totals) {
        let last = self.snapshots.last().expect("there is a snapshot at the start");
        let first = self.snapshots.get(self.discard as usize).unwrap_or(last);
        (first, self.end.as_ref().unwrap_or(last))
    }

    /// Begin and end of the measured part of the run.
    pub fn measured_period(&self) -> (Time, Time) {
        let (a, b) = self.measured();
        (a.at, b.at)
    }

    /// Counters of the network over the whole run.
    pub fn network(&self) -> NodeTotals {
        self.measured().1.network()
    }

    /// Number of flows, apart from short ones.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Returns true if a flow uses TCP, so that the columns of TCP apply to the flow.
    pub fn is_tcp(&self, flow: usize) -> bool {
        self.flows[flow].variant.is_some()
    }

    /// A table by its name; `None` if there is none.
    pub fn table(&self, name: &str) -> Option<Table> {
        Some(match name {
            "flows" => self.flows(),
            "nodes" => self.nodes(),
            "batches" => self.batches(),
            "flow_batches" => self.flow_batches(),
            "samples" => self.samples(),
            "packet_outcomes" => self.packet_outcomes(),
            "airtime" => self.named(self.airtime()),
            "rates" => self.named(self.rates()),
            "short_flows" => self.named(self.short_flows()),
            "batteries" => self.named(self.batteries()),
            "wired_links" => self.named(self.wired_links()),
            "wired_link_batches" => self.named(self.wired_link_batches()),
            _ => return None,
        })
    }

    /// A table with a column of names for each of its columns of nodes, if any node has a name.
    fn named(&self, mut t: Table) -> Table {
        if self.names.is_empty() {
            return t;
        }
        for column in ["node", "next_hop", "src", "dst", "gateway"] {
            let Some(nodes) = t.counts(column) else { continue };
            let names: Vec<&str> = nodes.iter().map(|&n| self.name_of(n as u32)).collect();
            t.text(&format!("{column}_name"), names);
        }
        t
    }

    /// One row per flow, over the measured part of the run.
    pub fn flows(&self) -> Table {
        let (a, b) = self.measured();
        let seconds = b.at.since(a.at).as_secs();
        let parts: Vec<FlowTotals> = b.flows.iter().zip(&a.flows).map(|(b, a)| b.since(a)).collect();
        let mut t = Table::default();
        t.int("flow", (0..parts.len()).map(|i| i as u64));
        t.int("src", self.flows.iter().map(|f| u64::from(f.from)));
        t.int("dst", self.flows.iter().map(|f| u64::from(f.to)));
        t.text("app", self.flows.iter().map(|f| f.app.word()));
        t.text("transport", self.flows.iter().map(|f| if f.variant.is_some() { "tcp" } else { "udp" }));
        t.text("variant", self.flows.iter().map(|f| f.variant.as_deref().unwrap_or_default()));
        let start = |(f, p): (&FlowInfo, &FlowTotals)| p.began.or(f.start).map_or(f64::NAN, Time::as_secs);
        t.float("started_at_s", self.flows.iter().zip(&parts).map(start));
        t.float("completion_time_s", parts.iter().map(FlowTotals::completion));
        t.float("close_time_s", parts.iter().map(FlowTotals::closing));
        t.float("measured_s", parts.iter().map(|_| seconds));
        t.float("aborted_at_s", parts.iter().map(|p| p.gave_up.map_or(f64::NAN, Time::as_secs)));
        t.int("packets_dropped", (0..parts.len()).map(|i| b.drops.total(i)));
        let main: Vec<_> = (0..parts.len()).map(|i| b.drops.main(i)).collect();
        t.text("drop_reason", main.iter().map(|m| m.map_or("", |m| m.0.word())));
        t.text("retry_cause", main.iter().map(|m| m.and_then(|m| m.1).map_or("", Cause::word)));
        self.flow_columns(&mut t, &parts, &vec![seconds; parts.len()]);
        // Without gateways that change, and without names, the table is that of runs that know none.
        if !b.gateways.is_empty() {
            let missing = Table::MISSING;
            let float = |at: Time| if at == Time::NEVER { f64::NAN } else { at.as_secs() };
            let of_flows = || b.gateways.iter();
            t.int("gateway", of_flows().map(|u| u.map_or(missing, |u| u.gateway.0.into())));
            t.int("gateway_changes", of_flows().map(|u| u.map_or(missing, |u| u.changes)));
            t.float("gateway_changed_at_s", of_flows().map(|u| u.map_or(f64::NAN, |u| float(u.changed_at))));
            t.float("longest_handover_s", of_flows().map(|u| u.map_or(f64::NAN, |u| u.longest_handover.as_secs())));
        }
        let names: Vec<_> = self.flows.iter().map(|f| f.name.as_deref()).collect();
        let groups: Vec<_> = self.flows.iter().map(|f| f.group.as_deref()).collect();
        for (column, labels) in [("name", names), ("group", groups)] {
            if labels.iter().any(Option::is_some) {
                t.text(column, labels.into_iter().map(Option::unwrap_or_default));
            }
        }
        self.named(t)
    }

    /// Name of a node; empty if it has none.
    fn name_of(&self, node: u32) -> &str {
        self.names.get(&node).map_or("", String::as_str)
    }

    fn flow_columns(&self, t: &mut Table, parts: &[FlowTotals], seconds: &[f64]) {
        let rows = || parts.iter().zip(seconds);
        t.float("goodput_bps", rows().map(|(p, s)| p.counters.bytes_delivered as f64 * 8.0 / s));
        t.float("throughput_bps", rows().map(|(p, s)| p.received_bytes as f64 * 8.0 / s));
        t.counters(tcp::Counters::FIELDS, parts.iter().map(|p| p.counters.values()));
        t.float("mean_copy_delay_s", parts.iter().map(FlowTotals::mean_copy_delay));
        t.float("mean_hops", parts.iter().map(FlowTotals::mean_hops));
        t.counters(LocalTotals::FIELDS, parts.iter().map(|p| p.local.values()));
        mean_columns(t, parts.iter());
        for (i, (name, _)) in USES.iter().enumerate() {
            t.float(&format!("{name}_s"), parts.iter().map(|p| p.uses_ns[i] as f64 / 1e9));
        }
        t.int("route_breaks", parts.iter().map(|p| p.routes.route_breaks));
        t.float("route_available_s", parts.iter().map(|p| p.routes.route_ns as f64 / 1e9));
        t.float("no_route_s", parts.iter().map(|p| p.routes.no_route_ns as f64 / 1e9));
        t.float("mean_route_life_s", parts.iter().map(FlowTotals::mean_route_life));
    }

    /// One row per node, over the measured part of the run.
    pub fn nodes(&self) -> Table {
        let (a, b) = self.measured();
        let parts: Vec<NodeTotals> = b.nodes.iter().zip(&a.nodes).map(|(b, a)| b.since(a)).collect();
        let mut t = Table::default();
        t.int("node", (0..parts.len()).map(|i| i as u64));
        // Nodes without a radio have no position.
        let place =
            |of: fn(&Position) -> f64| (0..parts.len()).map(move |i| self.positions.get(i).map_or(f64::NAN, of));
        t.float("x_m", place(|p| p.x));
        t.float("y_m", place(|p| p.y));
        t.counters(NodeTotals::fields(), parts.iter().map(NodeTotals::values));
        t.float("link_drop_probability", parts.iter().map(|p| p.radio.link_drop_probability()));
        if !self.names.is_empty() {
            t.text("name", (0..parts.len()).map(|i| self.name_of(i as u32)));
        }
        t
    }

    /// One row per radio: its airtime and energy over the measured part of the run. Empty when airtime is not
    /// accounted.
    pub fn airtime(&self) -> Table {
        let (a, b) = self.measured();
        let parts: Vec<Budget> = b.air.iter().zip(&a.air).map(|(b, a)| b.since(a)).collect();
        let mut t = Table::default();
        let radios = &self.radios[..parts.len()];
        t.int("node", radios.iter().map(|r| u64::from(r.node.0)));
        t.int("channel", radios.iter().map(|r| u64::from(r.channel)));
        for &(used, name, _) in Use::ALL {
            t.float(&format!("{name}_s"), parts.iter().map(|p| p.get(used).as_secs()));
        }
        t.float("energy_j", parts.iter().zip(radios).map(|(p, r)| p.energy(&r.energy)));
        t
    }

    /// One row per radio, neighbor, kind of packet and rate that was used in the measured part of the run. Empty with
    /// fixed rates.
    pub fn rates(&self) -> Table {
        let (a, b) = self.measured();
        let node = |r: RadioId| u64::from(self.radios[r.index()].node.0);
        let channel = |r: RadioId| u64::from(self.radios[r.index()].channel);
        b.rates.since(&a.rates).table(node, channel)
    }

    /// One row per node with a radio: its battery at the end of the run. Empty if no node has a battery.
    pub fn batteries(&self) -> Table {
        let (_, end) = self.measured();
        let end = &end.batteries;
        let mut t = Table::default();
        t.int("node", (0..end.len()).map(|i| i as u64));
        t.float("capacity_j", end.iter().map(|b| b.capacity));
        t.float("remaining_j", end.iter().map(|b| b.left));
        let at = |t: Time| if t == Time::NEVER { f64::NAN } else { t.as_secs() };
        t.float("emptied_at_s", end.iter().map(|b| at(b.empty_at)));
        t.float("last_sent_at_s", end.iter().map(|b| at(b.last_sent)));
        t.float("last_received_at_s", end.iter().map(|b| at(b.last_received)));
        t
    }

    /// Energy of all nodes between two instants [J]; NaN when airtime is not accounted.
    fn energy(&self, a: &Totals, b: &Totals) -> f64 {
        if b.air.is_empty() {
            return f64::NAN;
        }
        let used = |(b, a): (&Budget, &Budget)| b.since(a);
        let parts = b.air.iter().zip(&a.air).map(used).zip(&self.radios);
        // Sums times as integers, so that the order of the nodes does not affect the result.
        let mut kinds: Vec<(&energy::Config, Budget)> = Vec::new();
        for (part, radio) in parts {
            match kinds.iter_mut().find(|k| k.0.draws_as(&radio.energy)) {
                Some((_, sum)) => sum.add(&part),
                None => kinds.push((&radio.energy, part)),
            }
        }
        kinds.iter().map(|(powers, sum)| sum.energy(powers)).sum()
    }

    /// One row per direction of a point-to-point link, over the measured part of the run.
    pub fn wired_links(&self) -> Table {
        let (a, b) = self.measured();
        let seconds = b.at.since(a.at).as_secs();
        let parts: Vec<LinkTotals> = b.links.iter().zip(&a.links).map(|(b, a)| b.since(a)).collect();
        let mut t = Table::default();
        t.int("link", self.links.iter().map(|l| u64::from(l.link)));
        t.int("src", self.links.iter().map(|l| u64::from(l.from)));
        t.int("dst", self.links.iter().map(|l| u64::from(l.to)));
        link_columns(&mut t, &parts, &vec![seconds; parts.len()]);
        t
    }

    /// One row per batch and direction of a point-to-point link.
    pub fn wired_link_batches(&self) -> Table {
        let n = self.links.len();
        let since = |(a, b): (&Totals, &Totals)| b.links.iter().zip(&a.links).map(|(b, a)| b.since(a)).collect();
        let parts: Vec<LinkTotals> = self.pairs().flat_map(|pair| -> Vec<LinkTotals> { since(pair) }).collect();
        let seconds: Vec<f64> =
            self.pairs().flat_map(|(a, b)| std::iter::repeat_n(b.at.since(a.at).as_secs(), n)).collect();
        let mut t = Table::default();
        t.int("batch", (0..parts.len()).map(|i| (i / n) as u64));
        t.bool("used", (0..parts.len()).map(|i| self.is_used(i / n)));
        t.int("link", (0..parts.len()).map(|i| u64::from(self.links[i % n].link)));
        t.int("src", (0..parts.len()).map(|i| u64::from(self.links[i % n].from)));
        t.int("dst", (0..parts.len()).map(|i| u64::from(self.links[i % n].to)));
        link_columns(&mut t, &parts, &seconds);
        t
    }

    /// Totals at the begin and end of each batch. The last batch is unfinished if the run ended within it.
    fn pairs(&self) -> impl Iterator<Item = (&Totals, &Totals)> {
        let last = self.snapshots.last().expect("there is a snapshot at the start");
        let unfinished = self.end.as_ref().filter(|end| end.at > last.at).map(|end| (last, end));
        self.snapshots.iter().zip(&self.snapshots[1..]).chain(unfinished)
    }

    /// Returns true if a batch belongs to the measured part of the run.
    fn is_used(&self, batch: usize) -> bool {
        batch as u64 >= u64::from(self.discard).min(self.closed())
    }

    /// One row per batch, for the whole network. Includes the unfinished batch at the end of a run: without it, the
    /// time in which a run was stuck would not be measured.
    pub fn batches(&self) -> Table {
        let rows: Vec<NetworkBatch> = self
            .pairs()
            .map(|(a, b)| {
                let parts: Vec<FlowTotals> = b.flows.iter().zip(&a.flows).map(|(b, a)| b.since(a)).collect();
                let bytes = parts.iter().map(|p| p.counters.bytes_delivered).collect();
                let mut flows = sum(&parts);
                flows.add(&b.short_flows.since(&a.short_flows));
                NetworkBatch { from: a.at, to: b.at, flows, nodes: b.network().since(&a.network()), bytes }
            })
            .collect();
        let mut t = Table::default();
        t.int("batch", (0..rows.len()).map(|i| i as u64));
        t.bool("used", (0..rows.len()).map(|i| self.is_used(i)));
        t.bool("finished", (0..rows.len()).map(|i| (i as u64) < self.closed()));
        t.float("started_at_s", rows.iter().map(|r| r.from.as_secs()));
        t.float("ended_at_s", rows.iter().map(|r| r.to.as_secs()));
        t.float("goodput_bps", rows.iter().map(|r| r.flows.counters.bytes_delivered as f64 * 8.0 / r.seconds()));
        t.float("throughput_bps", rows.iter().map(|r| r.flows.received_bytes as f64 * 8.0 / r.seconds()));
        t.float("jain_index", rows.iter().map(NetworkBatch::jain_index));
        t.counters(tcp::Counters::FIELDS, rows.iter().map(|r| r.flows.counters.values()));
        t.counters(LocalTotals::FIELDS, rows.iter().map(|r| r.flows.local.values()));
        mean_columns(&mut t, rows.iter().map(|r| &r.flows));
        t.float("link_drop_probability", rows.iter().map(|r| r.nodes.radio.link_drop_probability()));
        t.int("route_failures", rows.iter().map(|r| r.nodes.routing.route_failures()));
        t.float("energy_j", self.pairs().map(|(a, b)| self.energy(a, b)));
        t.counters(NodeTotals::fields(), rows.iter().map(|r| r.nodes.values()));
        let ledgers: Vec<(Ledger, Ledger)> =
            self.pairs().map(|(a, b)| (a.ledgers.total(), b.ledgers.total())).collect();
        for (reason, name, _) in Reason::ALL {
            let counts = ledgers.iter().map(|(a, b)| b.dropped_total(*reason) - a.dropped_total(*reason));
            t.int(&format!("dropped_{name}"), counts);
        }
        t
    }

    /// One row per batch and flow.
    pub fn flow_batches(&self) -> Table {
        let n = self.flows.len();
        let parts: Vec<FlowTotals> = self
            .pairs()
            .flat_map(|(a, b)| b.flows.iter().zip(&a.flows).map(|(b, a)| b.since(a)).collect::<Vec<_>>())
            .collect();
        let seconds: Vec<f64> =
            self.pairs().flat_map(|(a, b)| std::iter::repeat_n(b.at.since(a.at).as_secs(), n)).collect();
        let mut t = Table::default();
        t.int("batch", (0..parts.len()).map(|i| (i / n) as u64));
        t.bool("used", (0..parts.len()).map(|i| self.is_used(i / n)));
        t.int("flow", (0..parts.len()).map(|i| (i % n) as u64));
        self.flow_columns(&mut t, &parts, &seconds);
        t
    }

    /// One row per sample and TCP flow.
    pub fn samples(&self) -> Table {
        let mut t = Table::default();
        let s = &self.samples;
        t.float("time_s", s.iter().map(|x| x.at.as_secs()));
        t.int("flow", s.iter().map(|x| u64::from(x.flow)));
        t.float("cwnd_segments", s.iter().map(|x| x.cwnd));
        t.float("ssthresh_segments", s.iter().map(|x| x.ssthresh));
        t.int("outstanding_segments", s.iter().map(|x| u64::from(x.outstanding)));
        t.float("srtt_s", s.iter().map(|x| x.srtt.map_or(f64::NAN, Span::as_secs)));
        t.float("rto_s", s.iter().map(|x| x.rto.as_secs()));
        t.int("source_queue_packets", s.iter().map(|x| u64::from(x.queued)));
        t.int("packets_delivered", s.iter().map(|x| x.delivered));
        t
    }

    /// One row per short flow of the flow generators, and per response to a request.
    pub fn short_flows(&self) -> Table {
        self.short_flows.table(self.measured().0.at)
    }

    /// Outcomes at the end of the run: one row per kind of packet for those created in the measured part, and one for
    /// those of the warm-up, if there are any.
    pub fn packet_outcomes(&self) -> Table {
        let Totals { ledgers, losses, .. } = self.measured().1;
        let rows: Vec<(bool, Kind, &Ledger)> = Kind::ALL
            .iter()
            .flat_map(|&kind| [false, true].map(|measured| (measured, kind, ledgers.of(measured))))
            .filter(|(measured, kind, ledger)| *measured || !ledger.is_empty(*kind))
            .collect();
        let counts = |of: fn(&Ledger) -> &[u64]| rows.iter().map(move |(_, kind, ledger)| of(ledger)[*kind as usize]);
        let mut t = Table::default();
        t.text("packet_class", rows.iter().map(|r| r.1.name()));
        t.bool("measured", rows.iter().map(|r| r.0));
        t.int("created", counts(|l| &l.created));
        t.int("injected", counts(|l| &l.injected));
        t.int("copied", counts(|l| &l.copied));
        t.int("delivered", counts(|l| &l.delivered));
        t.int("relayed", counts(|l| &l.relayed));
        t.int("absorbed", counts(|l| &l.absorbed));
        for (reason, name, _) in Reason::ALL {
            t.int(&format!("dropped_{name}"), rows.iter().map(|(_, kind, l)| l.dropped_for(*kind, *reason)));
        }
        for (cause, name, _) in Cause::ALL {
            let given_up = rows.iter().map(|(measured, kind, _)| losses.get(*measured, *kind, *cause));
            t.int(&format!("retry_limit_{name}"), given_up);
        }
        t.int("inside", counts(|l| &l.inside));
        t
    }
}

/// Means of a sum of flows, each with its divisor, so that means of several rows can be combined.
fn mean_columns<'a>(t: &mut Table, parts: impl Iterator<Item = &'a FlowTotals> + Clone) {
    t.float("mean_window_segments", parts.clone().map(FlowTotals::mean_window));
    t.float("window_observed_s", parts.clone().map(|p| p.sums.window_ns as f64 / 1e9));
    t.float("mean_rtt_s", parts.clone().map(FlowTotals::mean_rtt));
    t.int("rtt_samples", parts.clone().map(|p| p.sums.rtt_samples));
    t.float("mean_delay_s", parts.clone().map(FlowTotals::mean_delay));
    t.int("delay_samples", parts.map(|p| p.sums.delay_samples));
}

fn link_columns(t: &mut Table, parts: &[LinkTotals], seconds: &[f64]) {
    let rows = || parts.iter().zip(seconds);
    t.int("packets_offered", parts.iter().map(|p| p.packets_offered));
    t.int("packets_sent", parts.iter().map(|p| p.packets_sent));
    t.int("bytes_sent", parts.iter().map(|p| p.bytes_sent));
    t.int("dropped_queue_full", parts.iter().map(|p| p.dropped_queue_full));
    t.int("dropped_aqm", parts.iter().map(|p| p.dropped_aqm));
    t.int("dropped_link_error", parts.iter().map(|p| p.dropped_link_error));
    t.int("ecn_marks", parts.iter().map(|p| p.ecn_marks));
    t.float("throughput_bps", rows().map(|(p, s)| p.bytes_sent as f64 * 8.0 / s));
    t.float("utilization", rows().map(|(p, &s)| p.utilization(s)));
    t.float("mean_queue_packets", rows().map(|(p, &s)| p.mean_queue(s)));
}

/// The whole network in a batch.
struct NetworkBatch {
    from: Time,
    to: Time,
    flows: FlowTotals,
    nodes: NodeTotals,
    /// Delivered payload of each flow.
    bytes: Vec<u64>,
}

impl NetworkBatch {
    fn seconds(&self) -> f64 {
        self.to.since(self.from).as_secs()
    }

    /// Jain's fairness index of the goodputs; NaN for fewer than two flows, or without deliveries.
    fn jain_index(&self) -> f64 {
        let (n, sum) = (self.bytes.len() as f64, self.bytes.iter().sum::<u64>() as f64);
        let squares: f64 = self.bytes.iter().map(|&x| x as f64 * x as f64).sum();
        if n > 1.0 { sum * sum / (n * squares) } else { f64::NAN }
    }
}

fn sum(parts: &[FlowTotals]) -> FlowTotals {
    let mut sum = FlowTotals::default();
    parts.iter().for_each(|p| sum.add(p));
    sum
}
