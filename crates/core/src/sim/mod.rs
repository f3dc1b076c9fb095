//! The corridor: the only place that knows every room. It takes the next slot off the agenda, calls one room, and
//! carries what the room said to the next one. It has no protocol knowledge.
//!
//! One file per border: [`air`] (radio and stations), [`link`] (stations and network layer), [`transport`] (network
//! layer, TCP, applications).

mod air;
mod golden;
mod link;
mod transit;
mod transport;

use crate::agenda::Agenda;
use crate::app::{self, Application};
use crate::net::routing::fixed::Routes;
use crate::net::{self, arp, queue, routing};
use crate::packet::{NodeId, PacketId, Slab};
use crate::radio::{self, Channel};
use crate::record::Recorder;
use crate::record::flow_time::FlowTime;
use crate::record::loss::{Cause, Losses};
use crate::record::trace::Trace;
use crate::rng::{Purpose, Stream};
use crate::tcp::{self, Receiver, Sender};
use crate::unit::{Bytes, Position, Span, Time};
use crate::wlan::{self, Frame, Station, Timing};
use std::sync::Arc;
use transit::Transit;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When so many packets have been delivered, over all flows.
    Delivered(u64),
    /// At this instant.
    At(Time),
}

/// The transport of a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP with these settings.
    Tcp(Box<tcp::Config>),
    /// UDP.
    Udp,
}

/// A flow of a run.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Transport.
    pub transport: Transport,
    /// The sending application.
    pub app: Application,
    /// Its name.
    pub app_kind: app::Kind,
    /// When it starts.
    pub start: Time,
    /// What a delivered packet counts as goodput.
    pub payload: Bytes,
}

/// Everything a run needs, checked and ready.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Places of the nodes.
    pub places: Vec<Position>,
    /// Radio.
    pub radio: radio::Config,
    /// DCF.
    pub wlan: wlan::Config,
    /// Between network layer and MAC.
    pub net: net::Config,
    /// Interface queues.
    pub queue: queue::Config,
    /// Address resolution.
    pub arp: arp::Config,
    /// Routing.
    pub routing: routing::Config,
    /// Flows.
    pub flows: Vec<FlowSetup>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// When the run ends.
    pub stop: Stop,
    /// When it ends at the latest.
    pub limit: Time,
    /// Batches into which it is cut.
    pub batches: u32,
    /// Batches that do not count.
    pub discard: u32,
    /// How often windows and queues are noted.
    pub sample: Option<Span>,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    frame: Frame,
    end: Time,
    /// A broadcast that its sender has done with, but that the last of those who hear it have not.
    over: Option<PacketId>,
    /// All have heard its end.
    ended: bool,
    /// What became of the last frame that was to be answered, as long as it was not.
    attempt: Cause,
}

/// The network layer of a node.
#[derive(Clone, Debug)]
struct Node {
    queue: queue::Queue,
    arp: arp::Table,
    router: routing::Router,
    /// When the router wants to be called: the deadline that is on the agenda.
    router_at: Time,
    rng: Stream,
}

/// The two ends of a flow.
#[derive(Clone, Debug)]
enum Ends {
    Tcp(Box<(Sender, Receiver)>),
    Udp(UdpBooks),
}

/// What is known of a UDP flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct UdpBooks {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// Sum of their delays [ns].
    pub delay_sum: u64,
}

#[derive(Clone, Debug)]
struct Flow {
    from: NodeId,
    to: NodeId,
    tcp: Option<Box<tcp::Config>>,
    ends: Ends,
    app: Application,
    time: FlowTime,
    /// Bytes of data packets that reached the destination, headers and duplicates included.
    received_bytes: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its stop rule was met.
    Done,
    /// The limit of simulated time came first.
    Limit,
    /// Nothing could happen any more.
    Idle,
}

/// One run: a plain value.
#[derive(Clone, Debug)]
pub struct Sim {
    now: Time,
    agenda: Agenda,
    slots: Slots,
    slab: Slab,
    channel: Channel,
    timing: Timing,
    rules: wlan::Config,
    stations: Vec<Station>,
    /// The last frame of each node.
    on_air: Vec<OnAir>,
    nodes: Vec<Node>,
    /// Packets between MAC, router and queue.
    transit: Transit,
    /// When the first of these is due; it moves too often to be on the agenda.
    transit_at: Time,
    net: net::Config,
    arp: arp::Config,
    ttl: u8,
    flows: Vec<Flow>,
    recorder: Recorder,
    /// Packets given up, by cause.
    losses: Losses,
    /// What stations say, and what the corridor still has to carry.
    heard: Vec<wlan::Out>,
    said: Vec<(NodeId, Time, wlan::Out)>,
    /// Stations that have just been called, and whether they want to hear everything from now on.
    attention: Vec<(NodeId, bool)>,
    routed: Vec<routing::Out>,
    tcp_said: Vec<tcp::Out>,
    trace: Option<Box<Trace>>,
    sample: Option<Span>,
}

/// Which slot of the agenda is whose; at equal times the lower number comes first.
#[derive(Clone, Copy, Debug)]
struct Slots {
    nodes: usize,
    flows: usize,
}

enum Slot {
    Radio(NodeId),
    Mac(NodeId),
    Router(NodeId),
    Transit,
    Sender(usize),
    Receiver(usize),
    App(usize),
    Sample,
    Stop,
}

impl Slots {
    fn count(self) -> usize {
        3 * self.nodes + 3 * self.flows + 3
    }

    #[inline]
    fn radio(self, n: NodeId) -> usize {
        n.index()
    }

    #[inline]
    fn mac(self, n: NodeId) -> usize {
        self.nodes + n.index()
    }

    #[inline]
    fn router(self, n: NodeId) -> usize {
        2 * self.nodes + n.index()
    }

    #[inline]
    fn transit(self) -> usize {
        3 * self.nodes
    }

    fn sender(self, f: usize) -> usize {
        3 * self.nodes + 1 + f
    }

    fn receiver(self, f: usize) -> usize {
        3 * self.nodes + 1 + self.flows + f
    }

    fn app(self, f: usize) -> usize {
        3 * self.nodes + 1 + 2 * self.flows + f
    }

    fn sample(self) -> usize {
        self.count() - 2
    }

    fn stop(self) -> usize {
        self.count() - 1
    }

    #[inline]
    fn whose(self, slot: usize) -> Slot {
        let (n, f) = (self.nodes, self.flows);
        let node = |i: usize| NodeId(i as u32);
        if slot < n {
            Slot::Radio(node(slot))
        } else if slot < 2 * n {
            Slot::Mac(node(slot - n))
        } else if slot < 3 * n {
            Slot::Router(node(slot - 2 * n))
        } else if slot == 3 * n {
            Slot::Transit
        } else {
            match slot - 3 * n - 1 {
                i if i < f => Slot::Sender(i),
                i if i < 2 * f => Slot::Receiver(i - f),
                i if i < 3 * f => Slot::App(i - 2 * f),
                i if i == 3 * f => Slot::Sample,
                _ => Slot::Stop,
            }
        }
    }
}

impl Sim {
    /// A run at its start.
    pub fn new(setup: &Setup) -> Sim {
        let n = setup.places.len();
        let channel = Channel::new(&setup.radio, &setup.places);
        let routes = static_routes(setup, &channel);
        let aodv = Arc::new(setup.routing.aodv.clone());
        let node = |i: usize| Node {
            queue: queue::Queue::new(&setup.queue),
            arp: arp::Table::default(),
            router: routing::Router::new(&setup.routing, &aodv, routes.as_ref()),
            router_at: Time::NEVER,
            rng: Stream::new(setup.seed, Purpose::Routing, i as u64),
        };
        let station =
            |i: usize| Station::new(NodeId(i as u32), &setup.wlan, Stream::new(setup.seed, Purpose::Backoff, i as u64));
        let slots = Slots { nodes: n, flows: setup.flows.len() };
        let mut sim = Sim {
            now: Time::ZERO,
            agenda: Agenda::new(slots.count()),
            slots,
            slab: Slab::with_capacity(256 + 4 * n),
            timing: Timing::new(&setup.wlan),
            rules: setup.wlan.clone(),
            stations: (0..n).map(station).collect(),
            on_air: vec![
                OnAir { frame: Frame::NONE, end: Time::ZERO, over: None, ended: true, attempt: Cause::Refused };
                n
            ],
            nodes: (0..n).map(node).collect(),
            transit: Transit::new(n),
            transit_at: Time::NEVER,
            net: setup.net.clone(),
            arp: setup.arp.clone(),
            ttl: setup.routing.ttl,
            flows: setup.flows.iter().enumerate().map(|(i, f)| Flow::new(f, setup.seed, i)).collect(),
            recorder: Recorder::new(setup),
            losses: Losses::default(),
            heard: Vec::with_capacity(8),
            said: Vec::with_capacity(64),
            attention: Vec::with_capacity(64),
            routed: Vec::with_capacity(128),
            tcp_said: Vec::with_capacity(64),
            trace: None,
            sample: setup.sample,
            channel,
        };
        for (i, f) in sim.flows.iter().enumerate() {
            sim.agenda.set(slots.app(i), f.app.deadline());
        }
        for i in 0..n {
            let node = &mut sim.nodes[i];
            node.router_at = node.router.deadline();
            sim.agenda.set(slots.router(NodeId(i as u32)), node.router_at);
        }
        if setup.sample.is_some() {
            sim.agenda.set(slots.sample(), Time::ZERO);
        }
        let stop = match setup.stop {
            Stop::At(at) => at.min(setup.limit),
            Stop::Delivered(_) => setup.limit,
        };
        sim.agenda.set(slots.stop(), sim.recorder.first_boundary().min(stop));
        sim
    }

    /// Notes every frame on the air and every packet's fate from now on.
    pub fn trace(&mut self) {
        self.trace = Some(Box::default());
        self.channel.tell_all();
    }

    /// What was noted.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.take()
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The recorder of the run.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The recorder of a run that is over.
    pub fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// The packets of the run and their books.
    pub fn slab(&self) -> &Slab {
        &self.slab
    }

    /// The share of the run that is done.
    pub fn progress(&self) -> f64 {
        self.recorder.progress(self.now)
    }

    /// Lets at most so many slots come due; `None` while the run has not ended.
    pub fn advance(&mut self, slots: u64) -> Option<End> {
        for _ in 0..slots {
            if let Some(end) = self.step() {
                self.finish();
                return Some(end);
            }
        }
        None
    }

    /// Runs to the end.
    pub fn run(&mut self) -> End {
        loop {
            if let Some(end) = self.advance(1 << 20) {
                return end;
            }
        }
    }

    #[inline]
    fn step(&mut self) -> Option<End> {
        let Some((slot, at)) = self.agenda.next_before(self.slots.transit(), self.transit_at) else {
            self.now = self.now.max(self.transit_at);
            self.on_transit();
            return if self.recorder.is_due() { self.on_delivered() } else { None };
        };
        let slot = self.slots.whose(slot);
        if matches!(slot, Slot::Stop | Slot::Sample) && self.is_idle() {
            return Some(End::Idle);
        }
        self.now = self.now.max(at);
        match slot {
            Slot::Radio(n) => self.on_frame_end(n),
            Slot::Mac(n) => self.on_station(n),
            Slot::Router(n) => self.on_router(n),
            Slot::Transit => self.on_transit(),
            Slot::Sender(f) => self.on_sender(f),
            Slot::Receiver(f) => self.on_receiver(f),
            Slot::App(f) => self.on_application(f),
            Slot::Sample => self.on_sample(),
            Slot::Stop => return self.on_boundary(),
        }
        if self.recorder.is_due() { self.on_delivered() } else { None }
    }

    /// Whether only clocks are left in a run that waits for deliveries.
    fn is_idle(&mut self) -> bool {
        if !self.recorder.waits_for_deliveries() || self.transit_at != Time::NEVER {
            return false;
        }
        let clocks = [self.slots.sample(), self.slots.stop()];
        let deadlines = clocks.map(|slot| self.agenda.get(slot));
        for slot in clocks {
            self.agenda.set(slot, Time::NEVER);
        }
        let idle = self.agenda.next_before(self.slots.transit(), self.transit_at).is_none();
        for (slot, at) in clocks.into_iter().zip(deadlines) {
            self.agenda.set(slot, at);
        }
        idle
    }

    fn on_sample(&mut self) {
        let next = self.now + self.sample.expect("only then is the slot set");
        self.agenda.set(self.slots.sample(), next);
        for (i, flow) in self.flows.iter().enumerate() {
            if let Ends::Tcp(ends) = &flow.ends {
                let queued = self.nodes[flow.from.index()].queue.len();
                self.recorder.sample(self.now, i, ends.0.core(), queued);
            }
        }
    }

    /// An instant at which a batch or the run ends.
    fn on_boundary(&mut self) -> Option<End> {
        let (end, next) = self.recorder.on_time(self.now);
        self.agenda.set(self.slots.stop(), next);
        self.close_batches();
        end
    }

    /// Enough packets have been delivered to end a batch or the run.
    fn on_delivered(&mut self) -> Option<End> {
        self.close_batches();
        self.recorder.is_done().then_some(End::Done)
    }

    fn close_batches(&mut self) {
        while self.recorder.wants_batch(self.now) {
            let totals = self.totals();
            self.recorder.close_batch(totals);
        }
    }

    /// The end of a run: every packet must have had exactly one fate.
    ///
    /// # Panics
    /// If one has not: that is a bug in the simulator, and no result of the run can be trusted.
    fn finish(&mut self) {
        let totals = self.totals();
        self.recorder.finish(totals);
        let ledger = self.slab.ledger();
        assert!(ledger.balances(), "at {}: packets are created and lost without a trace: {ledger:?}", self.now);
        let held = self.packets_held();
        assert_eq!(held, self.slab.live(), "at {}: packets are inside that nobody holds", self.now);
    }

    /// Packets that the rooms hold, counted where they are.
    fn packets_held(&self) -> u64 {
        let in_node = |n: &Node| n.queue.len() + n.arp.held() + n.router.waiting();
        let in_stations = self.stations.iter().filter(|s| s.packet().is_some()).count();
        let over = self.on_air.iter().filter(|f| f.over.is_some()).count();
        (self.nodes.iter().map(in_node).sum::<usize>() + self.transit.len() + in_stations + over) as u64
    }
}

impl Flow {
    fn new(setup: &FlowSetup, seed: u64, index: usize) -> Flow {
        let (tcp, ends) = match &setup.transport {
            Transport::Tcp(cfg) => {
                let mut phase = Stream::new(seed, Purpose::ClockPhase, index as u64);
                let phase = Span((phase.uniform() * cfg.rto.tick.0 as f64) as u64);
                (Some(cfg.clone()), Ends::Tcp(Box::new((Sender::new(cfg, phase), Receiver::new(cfg)))))
            }
            Transport::Udp => (None, Ends::Udp(UdpBooks::default())),
        };
        Flow {
            from: setup.from,
            to: setup.to,
            tcp,
            ends,
            app: setup.app.clone(),
            time: FlowTime::default(),
            received_bytes: 0,
        }
    }
}

/// The routes of a protocol that knows them from the start.
pub fn static_routes(setup: &Setup, channel: &Channel) -> Option<Routes> {
    let n = setup.places.len();
    match setup.routing.protocol {
        routing::Protocol::Aodv => None,
        routing::Protocol::Fixed => Some(Routes::listed(n, &setup.routing.fixed.routes.0)),
        routing::Protocol::ShortestPath => {
            let ends = setup.flows.iter().flat_map(|f| [f.to, f.from]);
            Some(Routes::shortest(n, ends, |v| channel.neighbours(v)))
        }
    }
}
