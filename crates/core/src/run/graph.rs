//! Connectivity graph at the start of a run: links over the radio and point-to-point links.

use super::quality::Qualities;
use super::setup::Interfaces;
use crate::net::routing::fixed::Routes;
use crate::net::routing::metric::{Link, Links};
use crate::net::routing::{self, Protocol};
use crate::packet::{NodeId, RadioId};
use crate::radio::Channel;
use crate::unit::BitRate;
use crate::wlan::{Mode, Timing};

/// All nodes - those with a radio have the first numbers - and the radio and point-to-point links between them.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    channel: &'a Channel,
    /// Number of nodes with a radio.
    with_radio: usize,
    nodes: usize,
    /// Radio links as pairs from, to, and reversed; `None` if they are simply the pairs that can decode each other's
    /// frames. A link carries data frames in one direction and their ACKs in the other.
    air: Option<[Vec<(NodeId, NodeId)>; 2]>,
    /// Radio links that carry only frames slower than the configured rate, sorted; rate control chooses such rates.
    slow: Vec<(NodeId, NodeId)>,
    /// Directions of point-to-point links as pairs from, to; and reversed.
    out: Vec<(NodeId, NodeId)>,
    into: Vec<(NodeId, NodeId)>,
    /// Qualities of all links, where a metric needs them.
    links: Links,
}

/// Second nodes of the pairs that begin with this node.
fn beginning_with(pairs: &[(NodeId, NodeId)], n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let start = pairs.partition_point(|p| p.0 < n);
    pairs[start..].iter().take_while(move |p| p.0 == n).map(|p| p.1)
}

impl<'a> Graph<'a> {
    /// Graph of the nodes of a channel, with `links` as the directions of point-to-point links.
    ///
    /// Links carry data frames at the configured rate. Where rate control may choose slower rates, links that carry
    /// only these join the parts of the network that the others leave apart.
    pub fn new(
        channel: &'a Channel,
        interfaces: &Interfaces,
        nodes: usize,
        links: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Graph<'a> {
        // A scenario with mistakes may have links of nodes that do not exist.
        let exists = |&(from, to): &(NodeId, NodeId)| from.index().max(to.index()) < nodes;
        let [out, into] = both_ways(links.filter(exists).collect());
        let with_radio = interfaces.radios.iter().map(|r| r.node.index() + 1).max().unwrap_or(0);
        let node = |r: RadioId| interfaces.radios[r.index()].node;
        let profile = |r: RadioId| interfaces.radios[r.index()].profile as usize;
        let timing: Vec<Timing> = interfaces.profiles.iter().map(|p| Timing::new(&p.wlan)).collect();
        let chosen: Vec<Vec<Mode>> = interfaces.profiles.iter().map(|p| p.wlan.chosen_modes()).collect();
        let carries = |r: RadioId, peer: RadioId, data: Mode| {
            let ack = timing[profile(peer)].response_to_any(data).0;
            channel.decodes(r, peer, data.column()) && channel.decodes(peer, r, ack.0)
        };
        let adapts = |r: RadioId, peer: RadioId| chosen[profile(r)].iter().any(|&mode| carries(r, peer, mode));
        let is_fast = |r: RadioId, peer: RadioId| {
            let configured = carries(r, peer, interfaces.mode(r, node(peer)));
            configured && (chosen[profile(r)].is_empty() || adapts(r, peer))
        };
        let radios = || (0..interfaces.radios.len() as u32).map(RadioId);
        let pairs = || radios().flat_map(|r| channel.neighbors(r).map(move |peer| (r, peer)));
        let nodes_of = |(r, peer): (RadioId, RadioId)| (node(r), node(peer));
        let mut air = (!interfaces.is_uniform())
            .then(|| both_ways(pairs().filter(|&(r, peer)| is_fast(r, peer)).map(nodes_of).collect()));
        let mut slow = Vec::new();
        if let Some(fast) = &mut air
            && chosen.iter().any(|modes| !modes.is_empty())
        {
            let is_slow = |&(r, peer): &(RadioId, RadioId)| !is_fast(r, peer) && adapts(r, peer);
            slow = pairs().filter(is_slow).map(nodes_of).collect();
            slow.sort_unstable();
            let part = parts(nodes, fast[0].iter().chain(&out), |&(from, to)| {
                fast[0].binary_search(&(to, from)).or_else(|_| out.binary_search(&(to, from))).is_ok()
            });
            let joins = slow.iter().filter(|(from, to)| part[from.index()] != part[to.index()]);
            *fast = both_ways(fast[0].iter().chain(joins).copied().collect());
        }
        Graph { channel, with_radio, nodes, air, slow, out, into, links: Links::default() }
    }

    /// The same graph with the qualities of all links, if routes are compared by more than their hops. `wires` are the
    /// directions of point-to-point links.
    #[must_use]
    pub fn measured(
        mut self,
        routing: &routing::Config,
        interfaces: &Interfaces,
        wires: impl Iterator<Item = (NodeId, NodeId, BitRate)>,
    ) -> Graph<'a> {
        if !routing.is_by_metric() {
            return self;
        }
        let qualities = Qualities::new(self.channel, interfaces);
        let quality = |r: RadioId, peer: RadioId| {
            let (mode, arrives) = qualities.best(r, peer)?;
            let [forward, backward] = [(r, peer), (peer, r)].map(|(a, b)| qualities.broadcast(a, b));
            Some(Link { forward, backward, rate: mode.rate(), failing: 1.0 - arrives, is_wire: false })
        };
        let node = |r: RadioId| interfaces.radios[r.index()].node;
        let radios = (0..interfaces.radios.len() as u32).map(RadioId);
        let pairs = radios.flat_map(|r| self.channel.neighbors(r).map(move |peer| (r, peer)));
        let air = pairs.filter_map(|(r, peer)| Some((node(r), node(peer), quality(r, peer)?)));
        let wires = wires.filter(|(from, to, _)| from.index().max(to.index()) < self.nodes);
        self.links = Links::new(air.chain(wires.map(|(from, to, rate)| (from, to, Link::wire(rate)))));
        self
    }

    /// Returns true if there is a metric, by which all links are equal.
    pub fn has_equal_links(&self, routing: &routing::Config) -> bool {
        routing.is_by_metric() && self.links.are_equal(routing.metric)
    }

    /// Routes to these destinations: those that the scenario lists, or the best ones by its metric.
    pub fn routes(&self, routing: &routing::Config, to: impl IntoIterator<Item = NodeId>) -> Routes {
        match routing.protocol {
            Protocol::Fixed => Routes::listed(self.nodes, &routing.fixed.routes.0),
            _ if routing.is_by_metric() => self.links.routes(routing.metric, self.nodes, to, |_, _, _, _| true),
            _ => Routes::shortest(self.nodes, to, |v| self.neighbors(v), |v| self.predecessors(v)),
        }
    }

    /// Links over the radio and point-to-point links with their qualities; all alike where routes have the fewest hops.
    pub fn links(&self) -> Links {
        if !self.links.is_empty() {
            return self.links.clone();
        }
        let wire = Link::wire(BitRate(1));
        let alone = |n| self.over_the_air(n).map(move |to| (n, to, Link { is_wire: false, ..wire }));
        let air = (0..self.nodes as u32).map(NodeId).flat_map(alone);
        Links::new(air.chain(self.out.iter().map(|w| (w.0, w.1, wire))))
    }

    /// Graph of the same nodes and point-to-point links with other settings of the radios.
    pub fn with(&self, interfaces: &Interfaces) -> Graph<'a> {
        Graph::new(self.channel, interfaces, self.nodes, self.out.iter().copied())
    }

    /// Returns true if frames of one node are decoded by the other at a rate that the node may use, and are
    /// acknowledged.
    pub fn carries(&self, from: NodeId, to: NodeId) -> bool {
        self.neighbors(from).any(|n| n == to) || self.slow.binary_search(&(from, to)).is_ok()
    }

    /// Number of nodes, with and without a radio.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns true if a point-to-point link leads from one node to another.
    pub fn has_link(&self, from: NodeId, to: NodeId) -> bool {
        self.out.binary_search(&(from, to)).is_ok()
    }

    /// Returns true if any point-to-point link begins or ends at a node.
    pub fn is_wired(&self, n: NodeId) -> bool {
        [&self.out, &self.into].into_iter().any(|pairs| beginning_with(pairs, n).next().is_some())
    }

    /// Largest number of consecutive radio hops on the shortest path between two nodes, which has `hops` hops in total.
    pub fn longest_radio_stretch(&self, from: NodeId, to: NodeId, hops: u32) -> u32 {
        if self.out.is_empty() {
            return hops;
        }
        let routes = Routes::shortest(self.nodes, [to], |v| self.neighbors(v), |v| self.predecessors(v));
        let (mut at, mut stretch, mut longest) = (from, 0, 0);
        while let Some(next) = routes.via(at, to).filter(|_| at != to) {
            stretch = if self.has_link(at, next) { 0 } else { stretch + 1 };
            longest = longest.max(stretch);
            at = next;
        }
        longest
    }

    /// Next hops of a node: those over point-to-point links first.
    pub fn neighbors(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        beginning_with(&self.out, n).chain(self.over_the_air(n))
    }

    /// Nodes that can send to a node.
    pub fn predecessors(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        beginning_with(&self.into, n).chain(self.by_air(n, 1))
    }

    /// Next hops of a node over the radio.
    pub fn over_the_air(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.by_air(n, 0)
    }

    /// Nodes that can send to a node over the radio.
    pub fn heard_by(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.by_air(n, 1)
    }

    /// Radio neighbors: next hops (0) or predecessors (1).
    fn by_air(&self, n: NodeId, way: usize) -> impl Iterator<Item = NodeId> + '_ {
        let alike = (self.air.is_none() && n.index() < self.with_radio).then(|| self.channel.neighbors(RadioId(n.0)));
        let air_links = self.air.as_ref().map(|air| beginning_with(&air[way], n));
        alike.into_iter().flatten().map(|r| NodeId(r.0)).chain(air_links.into_iter().flatten())
    }
}

/// Sorted pairs, and the sorted reversed pairs.
fn both_ways(mut pairs: Vec<(NodeId, NodeId)>) -> [Vec<(NodeId, NodeId)>; 2] {
    let mut back: Vec<(NodeId, NodeId)> = pairs.iter().map(|w| (w.1, w.0)).collect();
    pairs.sort_unstable();
    back.sort_unstable();
    [pairs, back]
}

/// For each node, the number of its part of the network: nodes joined by links that go both ways.
fn parts<'l>(
    nodes: usize,
    links: impl Iterator<Item = &'l (NodeId, NodeId)>,
    goes_back: impl Fn(&(NodeId, NodeId)) -> bool,
) -> Vec<usize> {
    let mut above: Vec<usize> = (0..nodes).collect();
    let top = |above: &mut Vec<usize>, mut n: usize| {
        while above[n] != n {
            above[n] = above[above[n]];
            n = above[n];
        }
        n
    };
    for (from, to) in links.filter(|link| goes_back(link)) {
        let (a, b) = (top(&mut above, from.index()), top(&mut above, to.index()));
        above[a.max(b)] = a.min(b);
    }
    (0..nodes).map(|n| top(&mut above, n)).collect()
}
