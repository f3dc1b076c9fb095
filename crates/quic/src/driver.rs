//! Drives the connections of a run.

use crate::application::{Traffic, streams_of};
use crate::peer::{End, Peer};
use crate::transport;
use chappe_core::packet::{FlowId, NodeId};
use chappe_core::rng::mix;
use chappe_core::run::Setup;
use chappe_core::run::external::{Event, Injection};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use chappe_scenario::Scenario;
use quinn_proto::congestion::Controller;
use quinn_proto::{ConnectError, QlogConfig, TransportConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Reason why there is no connection.
#[derive(Debug)]
pub enum Refusal {
    /// The flow is not external, or a connection has it.
    NoFlow(u32),
    /// There is no free external flow back to the source of the flow.
    NoWayBack(u32),
    /// The library refuses it.
    Library(ConnectError),
    /// The file of a qlog cannot be written.
    NoLog(PathBuf, std::io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoFlow(flow) => write!(f, "flow {flow} is no free flow with `app = \"external\"`"),
            Refusal::NoWayBack(flow) => write!(
                f,
                "there is no free flow with `app = \"external\"` back to the source of flow {flow}; \
                 a connection needs one in each direction"
            ),
            Refusal::NoLog(file, e) => write!(f, "cannot write {}: {e}", file.display()),
            Refusal::Library(e) => write!(f, "{}: {e}", crate::STACK),
        }
    }
}

impl std::error::Error for Refusal {}

/// Progress of a connection.
#[derive(Clone, Debug)]
pub struct Report {
    /// Flows of what client and server send.
    pub flows: [FlowId; 2],
    /// The client.
    pub client: End,
    /// The server.
    pub server: End,
    /// Times from requests to the ends of their answers.
    pub completions: Vec<Span>,
    /// Datagrams that the network did not take, because a node was off or they were too large.
    pub refused: u64,
}

/// An end, its place in the network, and its datagrams under way.
struct Attached {
    peer: Peer,
    node: NodeId,
    /// Flow of what it sends.
    out: FlowId,
    /// Datagrams that it has sent, by their tags.
    sent: BTreeMap<u64, Vec<u8>>,
    next_tag: u64,
    refused: u64,
    /// Bytes that its application had read when the run was told last.
    told: u64,
}

impl Attached {
    fn new(peer: Peer, node: NodeId, out: FlowId) -> Attached {
        Attached { peer, node, out, sent: BTreeMap::new(), next_tag: 0, refused: 0, told: 0 }
    }

    /// Tells the run what the application has read from the flow of the other end.
    fn tell(&mut self, sim: &mut Sim, flow: FlowId) {
        let read = self.peer.application.bytes_read;
        sim.read(flow, read - self.told);
        self.told = read;
    }

    /// Sends what the peer has to send now.
    fn send(&mut self, sim: &mut Sim) {
        while let Some((ecn, data)) = self.peer.transmit(sim.now()) {
            let tag = self.next_tag;
            let datagram = Injection { bytes: data.len() as u32, ecn, dscp: None, tag };
            self.next_tag += 1;
            match sim.inject(self.out, datagram) {
                Ok(()) => drop(self.sent.insert(tag, data)),
                Err(_) => self.refused += 1,
            }
        }
    }
}

/// Drives the connections of a run.
///
/// Connections at one node share its timer, which no other driver may set.
pub struct Driver {
    seed: u64,
    /// Instant of the library at the time 0 of the run: instants cannot be made from numbers.
    base: Instant,
    /// External flows and their ends.
    flows: Vec<Option<(NodeId, NodeId)>>,
    /// Client and server of each connection in turn.
    ends: Vec<Attached>,
    /// For each flow the end that sends over it.
    senders: Vec<Option<usize>>,
    /// Folder of qlogs, if they are written.
    qlog: Option<PathBuf>,
}

impl Driver {
    /// A driver of a run without connections.
    pub fn new(setup: &Setup) -> Driver {
        let flows: Vec<_> = setup.flows.iter().map(|f| f.app.is_external().then_some((f.from, f.to))).collect();
        let senders = vec![None; flows.len()];
        Driver { seed: setup.seed, base: Instant::now(), flows, ends: Vec::new(), senders, qlog: None }
    }

    /// Lets each end of the connections that follow write a qlog into a folder, which exists: `flow-N-client.sqlog` and
    /// `flow-N-server.sqlog`, where N is the flow of the client. Times are those of the run \[ms\]. `None`: no qlog.
    pub fn log_to(&mut self, folder: Option<PathBuf>) {
        self.qlog = folder;
    }

    /// The configuration of an end that writes a qlog, if it does.
    fn logging(&self, mut transport: TransportConfig, flow: u32, role: &str) -> Result<Arc<TransportConfig>, Refusal> {
        if let Some(folder) = &self.qlog {
            let file = folder.join(format!("flow-{flow}-{role}.sqlog"));
            let writer = File::create(&file).map_err(|e| Refusal::NoLog(file, e))?;
            let mut log = QlogConfig::default();
            log.writer(Box::new(BufWriter::new(writer))).start_time(self.base);
            log.title(Some(format!("{role} of flow {flow}"))).description(Some(crate::STACK.into()));
            transport.qlog_stream(log.into_stream());
        }
        Ok(Arc::new(transport))
    }

    /// Ends of a flow that is external and that no connection has.
    fn free_ends(&self, flow: FlowId) -> Option<(NodeId, NodeId)> {
        let ends = self.flows.get(flow.index()).copied().flatten()?;
        self.senders[flow.index()].is_none().then_some(ends)
    }

    /// The first free flow from a node to another.
    fn between(&self, ends: (NodeId, NodeId)) -> Option<FlowId> {
        (0..self.flows.len() as u32).map(FlowId).find(|&flow| self.free_ends(flow) == Some(ends))
    }

    /// Connects the ends of all flows that are QUIC by the settings of the scenario. The flow back of a connection needs
    /// no connection of its own.
    ///
    /// # Errors
    /// The reason why a flow cannot be a connection.
    pub fn connect_all(&mut self, sim: &mut Sim, scenario: &Scenario) -> Result<(), Refusal> {
        for (flow, listed) in (0..).zip(&scenario.layout().flows) {
            let settings = listed.quic(scenario.config());
            if let (Some(settings), true) = (settings, self.free_ends(FlowId(flow)).is_some()) {
                let control = settings.congestion_control.expect("it is QUIC");
                self.connect(sim, flow, Traffic::of(&settings), || transport(control))?;
            }
        }
        Ok(())
    }

    /// Connects the source of an external flow, the client, with its destination, now, and returns the number of the
    /// connection. The configuration holds for both ends, but that they allow the streams of the traffic.
    ///
    /// # Errors
    /// The flow or the flow back is missing, or the library refuses the configuration.
    pub fn connect(
        &mut self,
        sim: &mut Sim,
        flow: u32,
        traffic: Traffic,
        transport: impl Fn() -> TransportConfig,
    ) -> Result<usize, Refusal> {
        let out = FlowId(flow);
        let (from, to) = self.free_ends(out).ok_or(Refusal::NoFlow(flow))?;
        let back = self.between((to, from)).ok_or(Refusal::NoWayBack(flow))?;
        let streams = streams_of(traffic);
        let configured = || {
            let mut transport = transport();
            transport.max_concurrent_uni_streams(streams).max_concurrent_bidi_streams(streams);
            transport
        };
        let of_client = self.logging(configured(), flow, "client")?;
        let of_server = self.logging(configured(), flow, "server")?;
        let key = |flow: FlowId| mix(mix(self.seed) ^ mix(u64::from(flow.0)));
        let client = Peer::client(key(out), of_client, self.base, traffic, sim.now());
        let client = client.map_err(Refusal::Library)?;
        let server = Peer::server(key(back), of_server, self.base);
        let first = self.ends.len();
        self.senders[out.index()] = Some(first);
        self.senders[back.index()] = Some(first + 1);
        self.ends.extend([Attached::new(client, from, out), Attached::new(server, to, back)]);
        self.ends[first].send(sim);
        // Goodput is what the applications read.
        [out, back].into_iter().for_each(|flow| sim.read(flow, 0));
        self.set_timer(sim, from);
        Ok(first / 2)
    }

    /// Sets the timer of a node to the earliest deadline of its ends.
    fn set_timer(&mut self, sim: &mut Sim, node: NodeId) {
        let here = self.ends.iter_mut().filter(|end| end.node == node);
        sim.wake(node, here.map(|end| end.peer.deadline()).min().unwrap_or(Time::NEVER));
    }

    /// Takes the events of a halt, and returns how many belong to the connections.
    ///
    /// An end reads all datagrams that arrive at an instant, such as those of an A-MPDU, before it sends: so does a
    /// program on a host, which reads what its socket has.
    pub fn on_events(&mut self, sim: &mut Sim, events: &[Event]) -> usize {
        let (now, mut own) = (sim.now(), 0);
        // Ends that act, and nodes whose timer has to be set.
        let (mut acting, mut nodes) = (BTreeSet::new(), BTreeSet::new());
        for event in events {
            let end = match *event {
                Event::Wake { endpoint } => {
                    for (place, end) in self.ends.iter_mut().enumerate().filter(|(_, end)| end.node == endpoint) {
                        nodes.insert(endpoint.0);
                        if end.peer.deadline() <= now {
                            end.peer.on_timer(now);
                            acting.insert(place);
                        }
                    }
                    own += usize::from(nodes.contains(&endpoint.0));
                    continue;
                }
                Event::Arrived { flow, .. } | Event::Lost { flow, .. } | Event::Left { flow, .. } => {
                    self.senders[flow.index()]
                }
            };
            let Some(sender) = end else { continue };
            own += 1;
            match *event {
                // Of what the network delivers twice the library takes the first.
                Event::Arrived { tag, ecn, copy: false, .. } => {
                    if let Some(data) = self.ends[sender].sent.remove(&tag) {
                        self.ends[sender ^ 1].peer.on_datagram(ecn, &data, now);
                        acting.insert(sender ^ 1);
                    }
                }
                Event::Lost { tag, .. } => drop(self.ends[sender].sent.remove(&tag)),
                _ => {}
            }
        }
        for place in acting {
            let flow = self.ends[place ^ 1].out;
            self.ends[place].tell(sim, flow);
            self.ends[place].send(sim);
            nodes.insert(self.ends[place].node.0);
        }
        for node in nodes {
            self.set_timer(sim, NodeId(node));
        }
        own
    }

    /// Advances a run that has no other driver to a time, or to its end.
    pub fn until(&mut self, sim: &mut Sim, at: Time) {
        let mut events = Vec::new();
        while sim.until(at) == Halt::Events {
            events.clear();
            events.extend(sim.events());
            self.on_events(sim, &events);
        }
    }

    /// Number of connections.
    pub fn connections(&self) -> usize {
        self.ends.len() / 2
    }

    /// Progress of a connection.
    pub fn report(&self, connection: usize) -> Report {
        let [client, server] = [&self.ends[2 * connection], &self.ends[2 * connection + 1]];
        Report {
            flows: [client.out, server.out],
            client: client.peer.report(),
            server: server.peer.report(),
            completions: client.peer.application.completions.clone(),
            refused: client.refused + server.refused,
        }
    }

    /// Congestion control of the client of a connection.
    pub fn controller(&self, connection: usize) -> Option<&dyn Controller> {
        self.ends[2 * connection].peer.controller()
    }
}
