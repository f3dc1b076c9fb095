//! Setup of a run: the part of a scenario that the engine gets.

use super::super::schema::nodes::Own;
use super::super::schema::{Arrivals, Config, Middlebox, Split};
use super::flows::Flow;
use super::interfaces;
use super::layout::Layout;
use super::mobility;
use chappe_core::app::arrivals::Process;
use chappe_core::app::{self, Application, Source, bulk::Bulk, cbr::Cbr, on_off::OnOff, requests::Requests};
use chappe_core::net::middlebox::{Kind, Settings};
use chappe_core::packet::NodeId;
use chappe_core::rng::{Purpose, Stream};
use chappe_core::run::{ArrivalsSetup, FlowSetup, MiddleboxSetup, Setup, SplitSetup, Transport};
use chappe_core::tcp;
use chappe_core::unit::Time;
use std::collections::BTreeMap;

/// Setup of a run of this layout with these names of nodes and this seed.
pub fn setup(c: &Config, layout: &Layout, names: &BTreeMap<u32, String>, seed: u64) -> Setup {
    let flow = |(i, f): (usize, &Flow)| {
        let (from, to) = (NodeId(f.src), NodeId(f.dst));
        let tcp = f.tcp.over(&c.tcp);
        let split = split_of(c, layout, i, &tcp);
        let start = f.start.unwrap_or(Time::NEVER);
        let mut breaks_links = true;
        let source = match f.app {
            app::Kind::Bulk => Source::Bulk(Bulk::new(&f.bulk.over(&c.bulk), start, tcp.mss)),
            app::Kind::Cbr => {
                let rng = Stream::new(seed, Purpose::Application, i as u64);
                Source::Cbr(Box::new(Cbr::new(&f.cbr.over(&c.cbr), start, rng)))
            }
            app::Kind::OnOff => {
                let on_off = f.on_off.over(&c.on_off);
                breaks_links = on_off.breaks_links;
                let rng = Stream::new(seed, Purpose::Application, i as u64);
                Source::OnOff(Box::new(OnOff::new(&on_off, start, tcp.mss, rng)))
            }
            app::Kind::Requests => {
                let rng = Stream::new(seed, Purpose::Application, i as u64);
                Source::Requests(Box::new(Requests::new(&f.requests.over(&c.requests), start, tcp.mss, rng)))
            }
            app::Kind::External => Source::External,
        };
        let payload = f.payload(c);
        let transport = if f.is_tcp(c) { Transport::Tcp(Box::new(tcp)) } else { Transport::Udp };
        let app = Application::new(source, f.stop.unwrap_or(Time::NEVER));
        let [name, group] = [&f.name, &f.group].map(|label| label.as_ref().map(|l| l.0.clone()));
        let start = f.start.filter(|_| f.app != app::Kind::External);
        let (app_kind, dscp) = (f.app, f.dscp);
        FlowSetup { from, to, name, group, transport, app, app_kind, start, payload, breaks_links, dscp, split }
    };
    let plan = mobility::plan(c, layout.positions.len(), seed);
    Setup {
        positions: plan.starts(&layout.positions),
        mobility: plan,
        wired: c.topology.wired_nodes,
        names: names.clone(),
        links: c.directions(),
        gateways: gateways(c),
        frame_errors: c.wlan.error.clone(),
        interfaces: interfaces::of_run(&layout.interfaces, seed),
        net: c.net.clone(),
        arp: c.arp.clone(),
        routing: c.routing.clone(),
        flows: layout.flows.iter().enumerate().map(flow).collect(),
        arrivals: arrivals(c),
        middleboxes: middleboxes(c, layout),
        seed,
        stop: c.run.stop,
        limit: Time::ZERO + c.run.time_limit,
        batches: c.run.batches,
        discard: c.run.warmup_batches,
        events: layout.events.clone(),
        sample: c.run.sample_interval,
        airtime: c.run.airtime,
        record: c.run.record.clone(),
        capture: false,
    }
}

/// Gateways that the scenario gives to nodes; a later entry applies.
fn gateways(c: &Config) -> BTreeMap<NodeId, NodeId> {
    let of = |own: &Own| own.nodes.ranges().into_iter().flat_map(|(first, last)| first..=last).collect::<Vec<_>>();
    let chosen = c.node.0.iter().filter_map(|own| Some((of(own), NodeId(own.gateway?))));
    chosen.flat_map(|(nodes, gateway)| nodes.into_iter().map(move |n| (NodeId(n), gateway))).collect()
}

/// Generators of short flows.
fn arrivals(cfg: &Config) -> Vec<ArrivalsSetup> {
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
        tcp: Box::new(a.tcp.over(&cfg.tcp)),
    };
    cfg.arrival_process.0.iter().map(setup).collect()
}

/// Settings of a middlebox; `None`: connections are split, which TCP does.
pub fn settings(m: &Middlebox, cfg: &Config) -> Option<Settings> {
    match m.kind {
        Kind::Snoop => Some(Settings::Snoop(m.snoop.over(&cfg.snoop))),
        Kind::Eln => Some(Settings::Eln(m.eln.over(&cfg.eln))),
        Kind::Split => None,
    }
}

/// The middleboxes of a run.
fn middleboxes(cfg: &Config, layout: &Layout) -> Vec<MiddleboxSetup> {
    let mut all = vec![];
    for m in &cfg.middlebox.0 {
        let Some(settings) = settings(m, cfg) else { continue };
        let serves = |f: usize| m.flows.as_ref().is_none_or(|list| list.contains(&(f as u32)));
        let serves = (0..layout.flows.len()).map(serves).collect();
        all.push(MiddleboxSetup { node: NodeId(m.node.expect("checked")), settings, serves });
    }
    all
}

/// Split of a flow with these TCP settings.
fn split_of(cfg: &Config, layout: &Layout, flow: usize, tcp: &tcp::Config) -> Option<SplitSetup> {
    let m = &cfg.middlebox.0[(*layout.split_at.get(flow)?)?];
    let Split { buffer_segments: buffer, tcp: own } = m.split.over(&cfg.split);
    let second = own.over(tcp);
    Some(SplitSetup { node: NodeId(m.node.expect("checked")), buffer, tcp: Box::new(second) })
}
