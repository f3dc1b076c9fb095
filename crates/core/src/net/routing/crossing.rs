//! Paths over point-to-point links and radio where radio routes are found on demand: the link that a packet takes next,
//! or the node at which it leaves the radio.
//!
//! The whole path has the fewest hops over point-to-point links and between radio neighbors as they are at the start.
//! From the node where a packet enters the radio to the node where it leaves, it travels as a packet between these two,
//! as through a tunnel (RFC 2003, without a header). Each segment brings the packet nearer to its destination, so that
//! it cannot loop.

use super::fixed::Routes;
use crate::packet::NodeId;

/// Next segment of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Point-to-point link with this number.
    Link(u32),
    /// Radio route to this node.
    Radio(NodeId),
}

/// Next segment from every node to every destination; shared by all nodes.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    /// Place of each node among the destinations, by its number; [`NONE`] of others.
    places: Vec<u32>,
    /// Next segments from all nodes to the first destination, then to the second.
    steps: Vec<Option<Step>>,
}

/// Place of a node that is no destination.
const NONE: u32 = u32::MAX;

impl Crossings {
    /// Derives the segments from the shortest paths. `link`: number of the link between two nodes.
    pub fn new(routes: &Routes, nodes: usize, link: impl Fn(NodeId, NodeId) -> Option<usize>) -> Crossings {
        let step = |at: NodeId, destination: NodeId| {
            let next = |n| routes.via(n, destination);
            let first = next(at)?;
            if let Some(link) = link(at, first) {
                return Some(Step::Link(link as u32));
            }
            let mut end = first;
            while end != destination
                && let Some(via) = next(end).filter(|&v| link(end, v).is_none())
            {
                end = via;
            }
            Some(Step::Radio(end))
        };
        let mut crossings = Crossings { places: vec![NONE; nodes], steps: vec![] };
        for (place, destination) in (0..).zip(routes.destinations()) {
            crossings.places[destination.index()] = place;
            crossings.steps.extend((0..nodes as u32).map(|n| step(NodeId(n), destination)));
        }
        crossings
    }

    /// Next segment from a node to a destination; `None` without a path.
    #[inline]
    pub fn step(&self, at: NodeId, destination: NodeId) -> Option<Step> {
        let place = *self.places.get(destination.index()).filter(|&&place| place != NONE)?;
        *self.steps.get(place as usize * self.places.len() + at.index())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Radio: 0 - 1 - 2 and 5 - 6; links: 2 - 3 - 4 - 5.
    fn neighbors(n: NodeId) -> impl Iterator<Item = NodeId> {
        [n.0.wrapping_sub(1), n.0 + 1].into_iter().filter(|&v| v < 7).map(NodeId)
    }

    #[test]
    fn segments_end_where_the_medium_changes() {
        let routes = Routes::shortest(7, [NodeId(6), NodeId(0), NodeId(3)], neighbors, neighbors);
        let links = [2, 3, 4];
        let c = Crossings::new(&routes, 7, |a, b| links.contains(&a.0.min(b.0)).then_some(b.index()));
        let steps = |destination| (0..7).map(|n| c.step(NodeId(n), NodeId(destination))).collect::<Vec<_>>();
        let (link, radio) = (|n| Some(Step::Link(n)), |n| Some(Step::Radio(NodeId(n))));
        assert_eq!(steps(6), [radio(2), radio(2), link(3), link(4), link(5), radio(6), None]);
        assert_eq!(steps(0), [None, radio(0), radio(0), link(2), link(3), link(4), radio(5)]);
        assert_eq!(steps(3)[..4], [radio(2), radio(2), link(3), None]);
        assert_eq!(c.step(NodeId(0), NodeId(5)), None, "nobody sends to 5");
    }
}
