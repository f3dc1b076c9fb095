//! Who is whose neighbour at the start of a run, over wires and over the radio.

use crate::net::routing::fixed::Routes;
use crate::packet::NodeId;
use crate::radio::Channel;

/// Nodes with a radio, numbered first, nodes without, and the wires between all of them.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    channel: &'a Channel,
    radios: usize,
    nodes: usize,
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
        radios: usize,
        wired: usize,
        wires: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Graph<'a> {
        let mut out: Vec<(NodeId, NodeId)> = wires.collect();
        let mut into: Vec<(NodeId, NodeId)> = out.iter().map(|w| (w.1, w.0)).collect();
        out.sort_unstable();
        into.sort_unstable();
        Graph { channel, radios, nodes: radios + wired, out, into }
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
        beginning_with(&self.into, n).chain(self.over_the_air(n))
    }

    fn over_the_air(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        (n.index() < self.radios).then(|| self.channel.neighbours(n)).into_iter().flatten()
    }
}
