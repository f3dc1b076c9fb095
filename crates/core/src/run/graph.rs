//! Connectivity graph at the start of a run: links over the radio and point-to-point links.

use super::setup::Interfaces;
use crate::net::routing::fixed::Routes;
use crate::packet::{NodeId, RadioId};
use crate::radio::Channel;
use crate::wlan::Timing;

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
    /// Directions of point-to-point links as pairs from, to; and reversed.
    out: Vec<(NodeId, NodeId)>,
    into: Vec<(NodeId, NodeId)>,
}

/// Second nodes of the pairs that begin with this node.
fn beginning_with(pairs: &[(NodeId, NodeId)], n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    let start = pairs.partition_point(|p| p.0 < n);
    pairs[start..].iter().take_while(move |p| p.0 == n).map(|p| p.1)
}

impl<'a> Graph<'a> {
    /// Graph of the nodes of a channel, with `links` as the directions of point-to-point links.
    pub fn new(
        channel: &'a Channel,
        interfaces: &Interfaces,
        nodes: usize,
        links: impl Iterator<Item = (NodeId, NodeId)>,
    ) -> Graph<'a> {
        let [out, into] = both_ways(links.collect());
        let with_radio = interfaces.radios.iter().map(|r| r.node.index() + 1).max().unwrap_or(0);
        let node = |r: RadioId| interfaces.radios[r.index()].node;
        let timing: Vec<Timing> = interfaces.profiles.iter().map(|p| Timing::new(&p.wlan)).collect();
        let links_of = |r: RadioId| {
            let (timing, node) = (&timing, &node);
            let works = move |peer: &RadioId| {
                let data = interfaces.mode(r, node(*peer));
                let ack = timing[interfaces.radios[peer.index()].profile as usize].response_to_any(data).0;
                channel.decodes(r, *peer, data.column()) && channel.decodes(*peer, r, ack.0)
            };
            channel.neighbours(r).filter(works).map(move |peer| (node(r), node(peer)))
        };
        let radios = (0..interfaces.radios.len() as u32).map(RadioId);
        let air = (!interfaces.is_uniform()).then(|| both_ways(radios.flat_map(links_of).collect()));
        Graph { channel, with_radio, nodes, air, out, into }
    }

    /// Number of nodes, with and without a radio.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Tells if a point-to-point link leads from one node to another.
    pub fn has_link(&self, from: NodeId, to: NodeId) -> bool {
        self.out.binary_search(&(from, to)).is_ok()
    }

    /// Tells if any point-to-point link begins or ends at a node.
    pub fn is_wired(&self, n: NodeId) -> bool {
        [&self.out, &self.into].into_iter().any(|pairs| beginning_with(pairs, n).next().is_some())
    }

    /// Largest number of consecutive radio hops on the shortest path between two nodes, which has `hops` hops in total.
    pub fn longest_radio_stretch(&self, from: NodeId, to: NodeId, hops: u32) -> u32 {
        if self.out.is_empty() {
            return hops;
        }
        let routes = Routes::shortest(self.nodes, [to], |v| self.neighbours(v), |v| self.predecessors(v));
        let (mut at, mut stretch, mut longest) = (from, 0, 0);
        while let Some(next) = routes.via(at, to).filter(|_| at != to) {
            stretch = if self.has_link(at, next) { 0 } else { stretch + 1 };
            longest = longest.max(stretch);
            at = next;
        }
        longest
    }

    /// Next hops of a node: those over point-to-point links first.
    pub fn neighbours(&self, n: NodeId) -> impl Iterator<Item = NodeId> + '_ {
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

    /// Radio neighbours: next hops (0) or predecessors (1).
    fn by_air(&self, n: NodeId, way: usize) -> impl Iterator<Item = NodeId> + '_ {
        let alike = (self.air.is_none() && n.index() < self.with_radio).then(|| self.channel.neighbours(RadioId(n.0)));
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
