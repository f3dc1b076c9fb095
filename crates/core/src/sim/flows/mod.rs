//! Flows: their applications, the ends of their connections, and short flows of generators.

mod flow;
mod generator;
mod own_queue;
mod quench;
mod routes;
mod short_flows;
mod totals;
mod transfer;

use crate::packet::{Body, Packet};
use crate::run::{FlowSetup, Setup};
use crate::sim::network::links::Links;
use crate::tcp;
pub use flow::{Ends, Flow};
use generator::Generator;

/// Flows of the scenario, followed by short flows of generators.
#[derive(Clone, Debug)]
pub struct Flows {
    pub list: Vec<Flow>,
    pub generator: Generator,
    /// Flows that lack a route.
    routeless: Vec<u32>,
    /// A sender needs notifications of broken routes (ELFN).
    pub reports_routes: bool,
    /// A sender tracks its packets within its own node.
    pub reports_queue: bool,
    /// A sender needs notifications of segments that queues mark or drop.
    pub hears_quench: bool,
    /// Actions of the end of a connection that are not dispatched yet.
    pub actions: Vec<tcp::Out>,
}

impl Flows {
    /// The flows of the scenario, none of which has begun.
    pub fn new(setup: &Setup, links: &Links) -> Flows {
        let flow = |(i, f): (usize, &FlowSetup)| Flow::new(f, links.end_of_radio(f.from, f.to), setup.seed, i);
        Flows {
            list: setup.flows.iter().enumerate().map(flow).collect(),
            generator: Generator::new(setup),
            routeless: Vec::with_capacity(setup.flows.len()),
            reports_routes: setup.senders().any(|tcp| tcp.elfn.enabled),
            reports_queue: setup.senders().any(tcp::Config::watches_own_queue),
            hears_quench: setup.senders().any(|tcp| tcp.ecn.enabled && tcp.ecn.source_quench),
            actions: Vec::with_capacity(64),
        }
    }

    /// Differentiated services codepoint of a packet.
    pub fn dscp(&self, p: &Packet) -> u8 {
        match p.body {
            Body::Datagram(datagram) => datagram.dscp,
            _ => self.list.get(p.flow.index()).map_or(0, |f| f.dscp),
        }
    }

    /// Memory that flows have taken since the run began, about \[B\].
    pub fn memory(&self) -> usize {
        let actions = self.actions.capacity() * size_of::<tcp::Out>();
        self.generator.memory() + actions + self.list.iter().map(Flow::memory_of_window).sum::<usize>()
    }
}
