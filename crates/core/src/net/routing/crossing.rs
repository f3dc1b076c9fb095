//! Ways through wires and radio where the routes over the radio are found on demand: where a packet takes a wire, and
//! to which node the routing protocol of the radio takes it before it does.
//!
//! The way as a whole is the one with the fewest hops over wires and between neighbours on the radio as they are at
//! the start. From the node where a packet enters the radio to the one where it leaves, it travels as a packet from
//! the one to the other, as through a tunnel (RFC 2003, without a header). Each stretch brings it nearer to its goal,
//! so that it cannot go in circles.

use super::fixed::Routes;
use crate::packet::NodeId;
use std::collections::BTreeMap;

/// What the next stretch of the way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The wire to this neighbour.
    Wire(NodeId),
    /// The radio, up to this node.
    Radio(NodeId),
}

/// The next stretch from every node to every goal; shared by all nodes.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    steps: BTreeMap<NodeId, Vec<Option<Step>>>,
}

impl Crossings {
    /// From the shortest ways through wires and radio.
    pub fn new(routes: &Routes, nodes: usize, is_wire: impl Fn(NodeId, NodeId) -> bool) -> Crossings {
        let step = |at: NodeId, goal: NodeId| {
            let next = |n| routes.via(n, goal);
            let first = next(at)?;
            if is_wire(at, first) {
                return Some(Step::Wire(first));
            }
            let mut end = first;
            while end != goal
                && let Some(via) = next(end).filter(|&v| !is_wire(end, v))
            {
                end = via;
            }
            Some(Step::Radio(end))
        };
        let goals = routes.destinations();
        let steps = goals.map(|goal| (goal, (0..nodes as u32).map(|n| step(NodeId(n), goal)).collect())).collect();
        Crossings { steps }
    }

    /// The next stretch from a node to a goal; `None` when there is no way.
    pub fn step(&self, at: NodeId, goal: NodeId) -> Option<Step> {
        *self.steps.get(&goal)?.get(at.index())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Radio: 0 - 1 - 2 and 5 - 6; wires: 2 - 3 - 4 - 5.
    fn neighbours(n: NodeId) -> impl Iterator<Item = NodeId> {
        [n.0.wrapping_sub(1), n.0 + 1].into_iter().filter(|&v| v < 7).map(NodeId)
    }

    #[test]
    fn stretches_end_where_the_medium_changes() {
        let routes = Routes::shortest(7, [NodeId(6), NodeId(0), NodeId(3)], neighbours, neighbours);
        let wires = [2, 3, 4];
        let c = Crossings::new(&routes, 7, |a, b| wires.contains(&a.0.min(b.0)));
        let steps = |goal| (0..7).map(|n| c.step(NodeId(n), NodeId(goal))).collect::<Vec<_>>();
        let (wire, radio) = (|n| Some(Step::Wire(NodeId(n))), |n| Some(Step::Radio(NodeId(n))));
        assert_eq!(steps(6), [radio(2), radio(2), wire(3), wire(4), wire(5), radio(6), None]);
        assert_eq!(steps(0), [None, radio(0), radio(0), wire(2), wire(3), wire(4), radio(5)]);
        assert_eq!(steps(3)[..4], [radio(2), radio(2), wire(3), None]);
        assert_eq!(c.step(NodeId(0), NodeId(5)), None, "nobody sends to 5");
    }
}
