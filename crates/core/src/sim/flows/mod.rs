//! The flows: their applications, the ends of their connections, and transfers that come and go.

pub mod generator;
pub mod own_queue;
mod routes;
mod totals;
pub mod transfer;

use crate::app::Application;
use crate::app::sink::Sink;
use crate::packet::NodeId;
use crate::record::flow_time::FlowTime;
use crate::record::route_time::RouteTime;
use crate::rng::{Purpose, Stream};
use crate::run::{FlowSetup, Setup, Transport};
use crate::sim::network::wires::Wires;
use crate::tcp::{self, Receiver, Sender, Split};
use crate::unit::{Span, Time};
use generator::Generator;
use transfer::Transfer;

/// The node at which a connection is split, and the halves there.
#[derive(Clone, Debug)]
pub struct SplitAt {
    pub node: NodeId,
    pub halves: Split,
    /// Settings of the second half.
    pub tcp: Box<tcp::Config>,
}

/// The two ends of a flow.
#[derive(Clone, Debug)]
pub enum Ends {
    Tcp(Box<(Sender, Receiver)>),
    Udp {
        /// Datagrams sent.
        sent: u64,
        sink: Box<Sink>,
    },
}

#[derive(Clone, Debug)]
pub struct Flow {
    pub from: NodeId,
    pub to: NodeId,
    /// The node to which the routing protocol of the source's radio takes its packets.
    pub first_to: NodeId,
    pub ends: Ends,
    pub app: Application,
    /// The node that splits the connection, if one does.
    pub split: Option<Box<SplitAt>>,
    pub transfer: Transfer,
    /// Packets that were born before belong to a flow that had this entry of the list earlier.
    pub since: Time,
    pub time: FlowTime,
    pub routes: RouteTime,
    /// Bytes of data packets that reached the destination, headers and duplicates included.
    pub received_bytes: u64,
    /// AODV takes a neighbour for lost when the MAC gives up data of this flow.
    pub breaks_links: bool,
}

impl Flow {
    fn new(setup: &FlowSetup, first_to: NodeId, seed: u64, index: usize) -> Flow {
        let mut split = None;
        let ends = match &setup.transport {
            Transport::Tcp(cfg) => {
                let mut phase = Stream::new(seed, Purpose::ClockPhase, index as u64);
                let mut phase = |cfg: &tcp::Config| Span((phase.uniform() * cfg.rto.tick.0 as f64) as u64);
                let sender = Sender::new(cfg, phase(cfg));
                let mut last = cfg;
                if let Some(s) = &setup.split {
                    let halves = Split::new(cfg, &s.tcp, s.buffer, phase(&s.tcp));
                    split = Some(Box::new(SplitAt { node: s.node, halves, tcp: s.tcp.clone() }));
                    last = &s.tcp;
                }
                Ends::Tcp(Box::new((sender, Receiver::new(last))))
            }
            Transport::Udp => Ends::Udp { sent: 0, sink: Box::default() },
        };
        Flow {
            from: setup.from,
            to: setup.to,
            first_to,
            ends,
            app: setup.app.clone(),
            split,
            transfer: Transfer::new(setup.payload),
            since: Time::ZERO,
            time: FlowTime::default(),
            routes: RouteTime::default(),
            received_bytes: 0,
            breaks_links: setup.breaks_links,
        }
    }
}

impl Flow {
    /// Memory that TCP keeps for outstanding segments \[B\].
    fn memory_of_window(&self) -> usize {
        let split = self.split.as_ref().map_or(0, |s| s.halves.sender().memory());
        match &self.ends {
            Ends::Tcp(ends) => ends.0.memory() + ends.1.memory() + split,
            Ends::Udp { .. } => 0,
        }
    }
}

/// All flows.
#[derive(Clone, Debug)]
pub struct Flows {
    pub list: Vec<Flow>,
    pub generator: Generator,
    /// Flows whose source is known to have no route.
    pub routeless: Vec<u32>,
    /// A sender wants to hear of broken routes.
    pub tells_of_routes: bool,
    /// A sender wants to hear of its packets in its own node.
    pub tells_of_queue: bool,
    /// Actions of the end of a connection that was called last.
    pub actions: Vec<tcp::Out>,
}

impl Flows {
    /// The flows of the scenario, none of which has begun.
    pub fn new(setup: &Setup, wires: &Wires) -> Flows {
        let flow = |(i, f): (usize, &FlowSetup)| Flow::new(f, wires.end_of_radio(f.from, f.to), setup.seed, i);
        Flows {
            list: setup.flows.iter().enumerate().map(flow).collect(),
            generator: Generator::new(setup),
            routeless: Vec::with_capacity(setup.flows.len()),
            tells_of_routes: asks_for_routes(setup),
            tells_of_queue: own_queue::is_wanted(setup),
            actions: Vec::with_capacity(64),
        }
    }

    /// Memory that flows have taken since the run began, about \[B\].
    pub fn memory(&self) -> usize {
        let actions = self.actions.capacity() * size_of::<tcp::Out>();
        self.generator.memory() + actions + self.list.iter().map(Flow::memory_of_window).sum::<usize>()
    }
}

/// Tells if a sender wants to hear of broken routes.
fn asks_for_routes(setup: &Setup) -> bool {
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.elfn.enabled);
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| s.tcp.elfn.enabled))
        || setup.arrivals.iter().any(|a| a.tcp.elfn.enabled)
}
