//! Gateways: nodes with a radio through which packets leave the radio for nodes without one, and come back.
//!
//! Every node without a radio that is an end of a flow is a network of its own, and a node with a radio is a gateway to it
//! while wires lead there. Routers bring packets to a gateway of the network, and wires take them from there. On the way
//! back they come through the gateway by which the packets of their destination went last, as the end of a tunnel would
//! send them. So packets change from wires to the radio and back at most once each, and cannot loop between gateways.

use super::crossing::Step;
use super::fixed::Routes;
use super::metric::{Links, Metric};
use crate::keywords;
use crate::packet::{FlowId, NodeId};
use crate::unit::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

keywords! {
    /// Choice of gateways.
    pub enum Choice {
        /// Paths over wires keep the gateways of the start, those with the fewest hops.
        AtStart = "at_start",
        /// Gateways announce the nodes without a radio to which their wires lead, and nodes take the nearest one.
        Announced = "announced",
    }
}

/// Gateways through which the data of a flow went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The last one.
    pub gateway: NodeId,
    /// Number of changes from one to another.
    pub changes: u64,
    /// Time of the last change; `NEVER` without one.
    pub changed_at: Time,
    /// Longest time from the last packet through a gateway to the first one through the next.
    pub longest_handover: Span,
    /// Time of the last packet.
    last: Time,
}

impl Use {
    fn new(gateway: NodeId, now: Time) -> Use {
        Use { gateway, changes: 0, changed_at: Time::NEVER, longest_handover: Span::ZERO, last: now }
    }

    fn note(&mut self, gateway: NodeId, now: Time) {
        if gateway != self.gateway {
            self.longest_handover = self.longest_handover.max(now.since(self.last));
            (self.gateway, self.changed_at) = (gateway, now);
            self.changes += 1;
        }
        self.last = now;
    }
}

/// A gateway has begun or ceased to lead to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The gateway.
    pub gateway: NodeId,
    /// The network.
    pub network: NodeId,
    /// True if wires lead there now.
    pub serves: bool,
}

/// The nodes of a run and their wires.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of nodes with a radio, which have the first numbers.
    pub with_radio: usize,
    /// Number of all nodes.
    pub nodes: usize,
    /// Nodes between which packets go.
    pub ends: BTreeSet<NodeId>,
    /// Directions of wires: from, to.
    pub wires: Vec<(NodeId, NodeId)>,
    /// Gateways that the scenario gives to nodes with a radio.
    pub chosen: BTreeMap<NodeId, NodeId>,
    /// Number of flows whose gateways are noted.
    pub flows: usize,
}

/// Gateways, and the ways over wires; one for the whole network.
#[derive(Clone, Debug)]
pub struct Gateways {
    plan: Plan,
    /// Nodes with a radio and a wire, sorted.
    gateways: Vec<NodeId>,
    /// Wires that carry packets now, and reversed; sorted.
    out: Vec<(NodeId, NodeId)>,
    into: Vec<(NodeId, NodeId)>,
    /// Ways over wires to networks and gateways.
    wires: Routes,
    /// Gateways with the networks to which they lead now.
    serving: BTreeSet<(NodeId, NodeId)>,
    /// Gateways in the order of their hops over the radio at the start, for each node with a radio that is an end.
    near: BTreeMap<NodeId, Vec<NodeId>>,
    /// Gateway by which the packets of each node with a radio went last.
    last: Vec<Option<NodeId>>,
    /// Links over the radio and wires, where routes are computed and not learned.
    links: Option<(Metric, Links)>,
    uses: Vec<Option<Use>>,
}

/// Second nodes of the pairs that begin with this node.
fn beginning_with(pairs: &[(NodeId, NodeId)], n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let start = pairs.partition_point(|p| p.0 < n);
    pairs[start..].iter().take_while(move |p| p.0 == n).map(|p| p.1)
}

impl Gateways {
    /// Gateways of which none leads anywhere before [`update`](Self::update). `links`: those over the radio at the
    /// start, and wires; `computes`: routes are computed from them.
    pub fn new(plan: Plan, metric: Metric, links: Links, computes: bool) -> Gateways {
        let has_radio = |n: &NodeId| n.index() < plan.with_radio;
        let all: BTreeSet<NodeId> = plan.wires.iter().flat_map(|w| [w.0, w.1]).filter(has_radio).collect();
        let gateways: Vec<NodeId> = all.into_iter().collect();
        let ends: Vec<NodeId> = plan.ends.iter().copied().filter(has_radio).collect();
        let by_air = links.routes(metric, plan.nodes, ends.iter().copied(), |_, _, is_wire, _| !is_wire);
        let sorted = |to: NodeId| {
            let mut near = gateways.clone();
            near.sort_by_key(|&g| (by_air.hops(g, to).unwrap_or(u32::MAX), g));
            near
        };
        Gateways {
            near: ends.into_iter().map(|end| (end, sorted(end))).collect(),
            gateways,
            out: Vec::new(),
            into: Vec::new(),
            wires: Routes::default(),
            serving: BTreeSet::new(),
            last: vec![None; plan.with_radio],
            links: computes.then_some((metric, links)),
            uses: vec![None; plan.flows],
            plan,
        }
    }

    /// Returns true if a node has a radio.
    pub fn has_radio(&self, n: NodeId) -> bool {
        n.index() < self.plan.with_radio
    }

    /// Finds anew where wires lead, after nodes or wires have gone off or come back. Returns what has changed at
    /// gateways.
    pub fn update(&mut self, is_on: impl Fn(NodeId) -> bool, is_up: impl Fn(NodeId, NodeId) -> bool) -> Vec<Turn> {
        let carries = |w: &&(NodeId, NodeId)| is_on(w.0) && is_on(w.1) && is_up(w.0, w.1);
        self.out = self.plan.wires.iter().filter(carries).copied().collect();
        self.out.sort_unstable();
        self.into = self.out.iter().map(|w| (w.1, w.0)).collect();
        self.into.sort_unstable();
        let networks: Vec<NodeId> = self.plan.ends.iter().copied().filter(|&n| !self.has_radio(n)).collect();
        let ends = networks.iter().chain(&self.gateways).copied();
        let (next, before) = (|n| beginning_with(&self.out, n), |n| beginning_with(&self.into, n));
        self.wires = Routes::shortest(self.plan.nodes, ends, next, before);
        let leads = |g: &NodeId, to: &NodeId| self.wires.via(*g, *to).is_some();
        let pairs = self.gateways.iter().flat_map(|g| networks.iter().map(move |to| (*g, *to)));
        let serving: BTreeSet<_> = pairs.filter(|(g, to)| leads(g, to)).collect();
        let turn = |&(gateway, network): &(NodeId, NodeId), serves| Turn { gateway, network, serves };
        let lost = self.serving.difference(&serving).map(|pair| turn(pair, false));
        let turns = lost.chain(serving.difference(&self.serving).map(|pair| turn(pair, true))).collect();
        self.serving = serving;
        turns
    }

    /// Routes of the nodes with a radio to all ends, the best ones by the metric, where routes are computed.
    /// `has_air`: a radio of the node is on.
    pub fn routes(&self, has_air: impl Fn(NodeId) -> bool) -> Option<Routes> {
        let (metric, links) = self.links.as_ref()?;
        let ends: BTreeSet<NodeId> = self.plan.ends.iter().chain(self.plan.chosen.values()).copied().collect();
        let leads = |from, to| from == to || self.wires.via(from, to).is_some();
        Some(links.routes(*metric, self.plan.nodes, ends, |from, at, is_wire, to| match is_wire {
            true => {
                !self.has_radio(to) && leads(from, to) && leads(at, to) && self.out.binary_search(&(from, at)).is_ok()
            }
            false => has_air(from) && has_air(at),
        }))
    }

    /// Returns true if a packet for this destination leaves the radio at this node.
    pub fn is_exit(&self, at: NodeId, to: NodeId) -> bool {
        self.has_radio(at) && !self.has_radio(to) && self.wires.via(at, to).is_some()
    }

    /// Node to which the router of `from` sends packets for another node.
    pub fn end_of_radio(&self, from: NodeId, to: NodeId) -> NodeId {
        let chosen = self.plan.chosen.get(&from).filter(|&&g| g != from && !self.has_radio(to));
        chosen.copied().unwrap_or(to)
    }

    /// Next segment of the way of a packet; `None` without one. `is_own`: the way begins here; `link`: number of the
    /// link between two nodes.
    pub fn step(
        &self,
        at: NodeId,
        to: NodeId,
        is_own: bool,
        link: impl Fn(NodeId, NodeId) -> Option<usize>,
    ) -> Option<Step> {
        let by_wire = |end| Some(Step::Link(link(at, self.wires.via(at, end)?)? as u32));
        match (self.has_radio(at), self.has_radio(to)) {
            (true, true) => Some(Step::Radio(to)),
            (true, false) => {
                by_wire(to).or_else(|| Some(Step::Radio(if is_own { self.end_of_radio(at, to) } else { to })))
            }
            // Through the network of the radios, if no wires lead there.
            (false, false) => by_wire(to).or_else(|| by_wire(self.nearest_by_wire(at)?)),
            (false, true) => by_wire(self.way_back(at, to)?),
        }
    }

    fn nearest_by_wire(&self, at: NodeId) -> Option<NodeId> {
        let reached = self.gateways.iter().filter_map(|&g| Some((self.wires.hops(at, g)?, g)));
        reached.min().map(|(_, g)| g)
    }

    /// Gateway through which a node without a radio sends to one with a radio: the one by which that node's packets
    /// went last, or else the nearest one at the start; wires must lead there.
    fn way_back(&self, at: NodeId, to: NodeId) -> Option<NodeId> {
        let near = self.near.get(&to).unwrap_or(&self.gateways);
        let all = self.last[to.index()].into_iter().chain(near.iter().copied());
        all.into_iter().find(|&g| self.wires.via(at, g).is_some())
    }

    /// A packet of a node leaves the radio at a gateway.
    pub fn note_exit(&mut self, source: NodeId, gateway: NodeId) {
        if let Some(last) = self.last.get_mut(source.index()) {
            *last = Some(gateway);
        }
    }

    /// Data of a flow go through a gateway.
    pub fn note_data(&mut self, flow: FlowId, gateway: NodeId, now: Time) {
        if let Some(of_flow) = self.uses.get_mut(flow.index()) {
            of_flow.get_or_insert_with(|| Use::new(gateway, now)).note(gateway, now);
        }
    }

    /// Gateways of each flow; `None`: its data went through none.
    pub fn uses(&self) -> &[Option<Use>] {
        &self.uses
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::Link;
    use super::*;
    use crate::unit::BitRate;

    /// Radio: 0 - 1 - 2 - 3; wires: 0 - 4, 3 - 5, 4 - 6, 5 - 6.
    const AIR: [(u32, u32); 3] = [(0, 1), (1, 2), (2, 3)];
    const WIRES: [(u32, u32); 4] = [(0, 4), (3, 5), (4, 6), (5, 6)];

    fn both_ways(pairs: &[(u32, u32)]) -> Vec<(NodeId, NodeId)> {
        pairs.iter().flat_map(|&(a, b)| [(NodeId(a), NodeId(b)), (NodeId(b), NodeId(a))]).collect()
    }

    fn gateways(chosen: &[(u32, u32)]) -> Gateways {
        let plan = Plan {
            with_radio: 4,
            nodes: 7,
            ends: [1, 2, 6].map(NodeId).into(),
            wires: both_ways(&WIRES),
            chosen: chosen.iter().map(|&(n, g)| (NodeId(n), NodeId(g))).collect(),
            flows: 1,
        };
        let wire = Link::wire(BitRate(1));
        let air = both_ways(&AIR).into_iter().map(|(a, b)| (a, b, Link { is_wire: false, ..wire }));
        let wires = both_ways(&WIRES).into_iter().map(|(a, b)| (a, b, wire));
        let mut all = Gateways::new(plan, Metric::Hops, Links::new(air.chain(wires)), true);
        all.update(|_| true, |_, _| true);
        all
    }

    /// The step of a packet of `at`, or of another node. Links are numbered by the nodes to which they lead.
    fn step_of(g: &Gateways, at: u32, to: u32, is_own: bool) -> Option<Step> {
        g.step(NodeId(at), NodeId(to), is_own, |_, next| Some(next.index()))
    }

    fn step(g: &Gateways, at: u32, to: u32) -> Option<Step> {
        step_of(g, at, to, true)
    }

    fn radio(n: u32) -> Option<Step> {
        Some(Step::Radio(NodeId(n)))
    }

    fn link(n: u32) -> Option<Step> {
        Some(Step::Link(n))
    }

    #[test]
    fn packets_leave_the_radio_where_wires_lead_on() {
        let g = gateways(&[]);
        assert_eq!([0, 1, 2, 3, 4].map(|n| step(&g, n, 6)), [link(4), radio(6), radio(6), link(5), link(6)]);
        assert!(
            g.is_exit(NodeId(0), NodeId(6)) && !g.is_exit(NodeId(1), NodeId(6)) && !g.is_exit(NodeId(4), NodeId(6))
        );
        let routes = g.routes(|_| true).expect("they are computed");
        assert_eq!([1, 2].map(|n| routes.via(NodeId(n), NodeId(6))), [Some(NodeId(0)), Some(NodeId(3))]);
        assert_eq!(routes.via(NodeId(0), NodeId(1)), Some(NodeId(1)), "between radios no wire is used");
    }

    #[test]
    fn a_gateway_without_an_uplink_hands_over() {
        let mut g = gateways(&[]);
        let up = |a: NodeId, b: NodeId| (a.0.min(b.0), a.0.max(b.0)) != (4, 6);
        let lost = Turn { gateway: NodeId(0), network: NodeId(6), serves: false };
        assert_eq!(g.update(|_| true, up), [lost]);
        assert_eq!([step(&g, 0, 6), step(&g, 3, 6)], [radio(6), link(5)]);
        let routes = g.routes(|_| true).expect("they are computed");
        assert_eq!([0, 1, 2].map(|n| routes.via(NodeId(n), NodeId(6))), [1, 2, 3].map(|n| Some(NodeId(n))));
        // A node behind the cut sends through the radios.
        assert_eq!(step(&g, 4, 6), link(0));
        assert_eq!(g.update(|_| true, |_, _| true), [Turn { serves: true, ..lost }]);
        // A node that is off carries nothing, over wires or over the radio.
        assert_eq!(g.update(|n| n.0 != 3, |_, _| true).len(), 1);
        let routes = g.routes(|n| n.0 != 3).expect("they are computed");
        assert_eq!(routes.via(NodeId(2), NodeId(6)), Some(NodeId(1)));
        assert_eq!(step(&g, 5, 6), link(6));
    }

    #[test]
    fn packets_come_back_by_the_gateway_used_last() {
        let mut g = gateways(&[]);
        assert_eq!([step(&g, 6, 1), step(&g, 6, 2)], [link(4), link(5)], "the nearest ones at the start");
        g.note_exit(NodeId(1), NodeId(3));
        assert_eq!(step(&g, 6, 1), link(5));
        g.update(|n| n.0 != 3, |_, _| true);
        assert_eq!(step(&g, 6, 1), link(4));
    }

    #[test]
    fn a_node_keeps_the_gateway_that_the_scenario_gives_it() {
        let g = gateways(&[(1, 3)]);
        assert_eq!([step(&g, 1, 6), step(&g, 2, 6)], [radio(3), radio(6)]);
        assert_eq!(step_of(&g, 1, 6, false), radio(6), "only its own packets");
        assert_eq!(step(&g, 1, 2), radio(2));
    }

    #[test]
    fn changes_of_a_flow_are_counted() {
        let mut g = gateways(&[]);
        for (gateway, s) in [(0, 1), (0, 2), (3, 5), (3, 6), (0, 7)] {
            g.note_data(FlowId(0), NodeId(gateway), Time::ZERO + Span::secs(s));
        }
        g.note_data(FlowId(1), NodeId(0), Time::ZERO);
        let used = g.uses()[0].expect("it is noted");
        assert_eq!((used.gateway, used.changes, used.longest_handover), (NodeId(0), 2, Span::secs(3)));
        assert_eq!(used.changed_at, Time::ZERO + Span::secs(7));
    }
}
