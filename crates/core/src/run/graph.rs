//! Who is whose neighbour at the start of a run, over wires and over the radio.

use super::setup::Interfaces;
use crate::net::routing::fixed::Routes;
use crate::packet::{NodeId, RadioId};
use crate::radio::Channel;
use crate::wlan::Timing;

/// All nodes - those with a radio have the first numbers - and the links between them, over the air and by wire.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    channel: &'a Channel,
    /// Nodes with a radio.
    with_radio: usize,
    nodes: usize,
    /// Links over the air, where they are not simply those who can decode each other's frames: from, to; and the same
    /// the other way round. A link carries data frames and brings their ACKs back.
    air: Option<[Vec<(NodeId, NodeId)>; 2]>,
    /// Directions of wires: from, to; and the same the other way round.
    out: Vec<(NodeId, NodeId)>,
    into: Vec<(NodeId, NodeId)>,
}

/// The second of the pairs that begin with this node.
fn beginning_with(pairs: &[(NodeId, NodeId)], n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let start = pairs.partition_point(|p| p.0 < n);
    pairs[start..].iter().take_while(move |p| p.0 == n).map(|p| p.1)
}

impl<'a> Graph<'a> {
    /// `wires` are the directions of links that join nodes.
    pub fn new(
        channel: &'a Channel,
        interfaces: &Interfaces,
        nodes: usize,
        wires: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Graph<'a> {
        let [out, into] = both_ways(wires.collect());
        let with_radio = interfaces.radios.iter().map(|r| r.node.index() + 1).max().unwrap_or(0);
        let node = |r: RadioId| interfaces.radios[r.index()].node;
        let timing: Vec<Timing> = interfaces.profiles.iter().map(|p| Timing::new(&p.wlan)).collect();
        let links_of = |r: RadioId| {
            let (timing, node) = (&timing, &node);
            let works = move |peer: &RadioId| {
                let data = interfaces.mode(r, node(*peer));
                let ack = timing[interfaces.radios[peer.index()].profile as usize].response_to(data).0;
                channel.decodes(r, *peer, data.0) && channel.decodes(*peer, r, ack.0)
            };
            channel.neighbours(r).filter(works).map(move |peer| (node(r), node(peer)))
        };
        let radios = (0..interfaces.radios.len() as u32).map(RadioId);
        let air = (!interfaces.is_uniform()).then(|| both_ways(radios.flat_map(links_of).collect()));
        Graph { channel, with_radio, nodes, air, out, into }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether a wire goes from one node to another.
    pub fn has_wire(&self, from: NodeId, to: NodeId) -> bool {
        self.out.binary_search(&(from, to)).is_ok()
    }

    /// Whether any wire begins or ends at a node.
    pub fn is_wired(&self, n: NodeId) -> bool {
        [&self.out, &self.into].into_iter().any(|pairs| beginning_with(pairs, n).next().is_some())
    }

    /// The most hops in a row that the shortest way from one node to another makes over the radio; `hops` are those of
    /// the whole way.
    pub fn longest_radio_stretch(&self, from: NodeId, to: NodeId, hops: u32) -> u32 {
        if self.out.is_empty() {
            return hops;
        }
        let routes = Routes::shortest(self.nodes, [to], |v| self.neighbours(v), |v| self.predecessors(v));
        let (mut at, mut stretch, mut longest) = (from, 0, 0);
        while let Some(next) = routes.via(at, to).filter(|_| at != to) {
            stretch = if self.has_wire(at, next) { 0 } else { stretch + 1 };
            longest = longest.max(stretch);
            at = next;
        }
        longest
    }

    /// The nodes that a node can send to: over wires first.
    pub fn neighbours(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        beginning_with(&self.out, n).chain(self.over_the_air(n))
    }

    /// The nodes that can send to a node.
    pub fn predecessors(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        beginning_with(&self.into, n).chain(self.by_air(n, 1))
    }

    /// The nodes that a node can send to over the air.
    pub fn over_the_air(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.by_air(n, 0)
    }

    /// Neighbours (0) and predecessors (1) over the air.
    fn by_air(&self, n: NodeId, way: usize) -> impl Iterator<Item = NodeId> + '_ {
        let alike = (self.air.is_none() && n.index() < self.with_radio).then(|| self.channel.neighbours(RadioId(n.0)));
        let own = self.air.as_ref().map(|air| beginning_with(&air[way], n));
        alike.into_iter().flatten().map(|r| NodeId(r.0)).chain(own.into_iter().flatten())
    }
}

/// Pairs in order, and the same the other way round.
fn both_ways(mut pairs: Vec<(NodeId, NodeId)>) -> [Vec<(NodeId, NodeId)>; 2] {
    let mut back: Vec<(NodeId, NodeId)> = pairs.iter().map(|w| (w.1, w.0)).collect();
    pairs.sort_unstable();
    back.sort_unstable();
    [pairs, back]
}
