//! Flows: their applications, the ends of their connections, and short flows of generators.

pub mod generator;
pub mod own_queue;
mod quench;
mod routes;
mod totals;
pub mod transfer;

use crate::app::Application;
use crate::app::sink::Sink;
use crate::packet::{FlowId, NodeId};
use crate::record::flow_time::FlowTime;
use crate::record::route_time::RouteTime;
use crate::rng::{Purpose, Stream};
use crate::run::{FlowSetup, Setup, Transport};
use crate::sim::network::links::Links;
use crate::tcp::{self, Receiver, Sender, Split};
use crate::unit::{Span, Time};
use generator::Generator;
use transfer::Transfer;

/// Node at which a connection is split, with the ends of both halves there.
#[derive(Clone, Debug)]
pub struct SplitAt {
    pub node: NodeId,
    pub halves: Split,
    /// Settings of the second half.
    pub tcp: Box<tcp::Config>,
}

/// The two ends of a TCP connection.
#[derive(Clone, Debug)]
pub struct TcpEnds {
    pub sender: Sender,
    pub receiver: Receiver,
}

/// The two ends of a flow.
#[derive(Clone, Debug)]
pub enum Ends {
    Tcp(Box<TcpEnds>),
    Udp {
        /// Number of datagrams sent by the application.
        sent: u64,
        sink: Box<Sink>,
    },
}

#[derive(Clone, Debug)]
pub struct Flow {
    pub from: NodeId,
    pub to: NodeId,
    /// Node at which packets of the flow leave the radio of the source.
    pub first_to: NodeId,
    pub ends: Ends,
    pub app: Application,
    /// Node that splits the connection, if any.
    pub split: Option<Box<SplitAt>>,
    pub transfer: Transfer,
    /// Start of this use of the entry: older packets belong to an earlier short flow with the same entry.
    pub since: Time,
    pub time: FlowTime,
    pub routes: RouteTime,
    /// Bytes of data packets that reached the destination, headers and duplicates included.
    pub received_bytes: u64,
    /// AODV takes a neighbour for lost when the MAC gives up data of this flow.
    pub breaks_links: bool,
    /// User priority of its packets, which is their TID.
    pub priority: u8,
}

impl Flow {
    fn new(setup: &FlowSetup, first_to: NodeId, seed: u64, index: usize) -> Flow {
        let mut split = None;
        let ends = match &setup.transport {
            Transport::Tcp(cfg) => {
                let mut phase = Stream::new(seed, Purpose::ClockPhase, index as u64);
                let mut phase = |cfg: &tcp::Config| Span((phase.uniform() * cfg.rto.tick.0 as f64) as u64);
                let sender = Sender::at_node(cfg, phase(cfg));
                let mut last = cfg;
                if let Some(s) = &setup.split {
                    let halves = Split::new(cfg, &s.tcp, s.buffer, phase(&s.tcp));
                    split = Some(Box::new(SplitAt { node: s.node, halves, tcp: s.tcp.clone() }));
                    last = &s.tcp;
                }
                Ends::Tcp(Box::new(TcpEnds { sender, receiver: Receiver::new(last) }))
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
            priority: setup.dscp >> 3,
        }
    }
}

impl Flow {
    /// Memory that TCP keeps for outstanding segments \[B\].
    fn memory_of_window(&self) -> usize {
        let split = self.split.as_ref().map_or(0, |s| s.halves.sender().memory());
        match &self.ends {
            Ends::Tcp(ends) => ends.sender.memory() + ends.receiver.memory() + split,
            Ends::Udp { .. } => 0,
        }
    }
}

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
    /// A sender is told of segments that queues mark or drop.
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
            reports_routes: asks_for_routes(setup),
            reports_queue: own_queue::is_wanted(setup),
            hears_quench: quench::is_wanted(setup),
            actions: Vec::with_capacity(64),
        }
    }

    /// User priority of the packets of a flow.
    pub fn priority(&self, flow: FlowId) -> u8 {
        self.list.get(flow.index()).map_or(0, |f| f.priority)
    }

    /// Memory that flows have taken since the run began, about \[B\].
    pub fn memory(&self) -> usize {
        let actions = self.actions.capacity() * size_of::<tcp::Out>();
        self.generator.memory() + actions + self.list.iter().map(Flow::memory_of_window).sum::<usize>()
    }
}

/// Tells if a sender needs notifications of broken routes.
fn asks_for_routes(setup: &Setup) -> bool {
    let of_flow = |t: &Transport| matches!(t, Transport::Tcp(cfg) if cfg.elfn.enabled);
    setup.flows.iter().any(|f| of_flow(&f.transport) || f.split.as_ref().is_some_and(|s| s.tcp.elfn.enabled))
        || setup.arrivals.iter().any(|a| a.tcp.elfn.enabled)
}
