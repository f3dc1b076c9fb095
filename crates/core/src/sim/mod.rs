//! The corridor: the only place that knows every room. It takes the next slot off the agenda, calls one room, and
//! carries what the room said to the next one. It has no protocol knowledge.
//!
//! One file per border: `air` (radio and stations), `link`, `admission` and `neighborhood` (stations and network
//! layer), `wires` (network layer and wires), `transport` (network layer, TCP, applications), `middlebox` (network
//! layer and middleboxes, split connections). `notes` is for observers.

mod admission;
mod air;
mod batteries;
mod commands;
mod inside;
mod link;
mod middlebox;
mod motion;
mod neighborhood;
mod notes;
mod own_queue;
mod pool;
mod ports;
mod power;
mod receivers;
mod slots;
mod timers;
mod transfer;
mod transit;
mod transport;
mod wires;

use crate::app::Application;
use crate::app::sink::Sink;
use crate::motion::Crowd;
use crate::net::routing::crossing::Crossings;
use crate::net::routing::fixed::Routes;
use crate::net::{self, arp, queue, routing};
use crate::packet::{Ecn, NodeId, PacketId, RadioId, Reason, Slab};
use crate::radio::{Channel, Verdict, sinr};
use crate::record::Recorder;
use crate::record::air_time::AirTime;
use crate::record::flow_time::FlowTime;
use crate::record::loss::{Cause, Losses};
use crate::record::note::Note;
use crate::record::observe::Observers;
use crate::record::observe::columns::Rows;
use crate::record::route_time::RouteTime;
use crate::record::trace::Trace;
use crate::rng::{Purpose, Stream};
use crate::run::graph::Graph;
use crate::run::{ArrivalsSetup, End, FlowSetup, Profile, RadioSetup, RecordedTable, Setup, Stop, Transport};
use crate::tcp::{self, Receiver, Sender, Split};
use crate::unit::{Span, Time};
use crate::wlan::{self, Frame, Station, Timing};
use admission::Admission;
use batteries::Batteries;
pub use commands::Halt;
use commands::Schedule;
use middlebox::{Boxes, SplitAt};
use motion::Stage;
use pool::Pool;
use ports::Ports;
use receivers::Receivers;
use slots::{Clock, Slot, Slots};
use std::sync::Arc;
use timers::Timers;
use transfer::Transfer;
use transit::Transit;
use wires::Wires;

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    frame: Frame,
    /// When its sender began to send it.
    began: Time,
    /// The packet of a broadcast that the sender is done with, while some listeners still have to hear its end.
    over: Option<PacketId>,
    /// Whether all listeners have heard its end.
    ended: bool,
    /// Verdict at its target if given before the second loop, and if nothing but an error model damaged it there.
    at_target: Option<Verdict>,
    by_error: bool,
    /// The target has begun to answer.
    answered: bool,
    /// Why the last frame that needed an answer got none, as far as is known.
    attempt: Cause,
}

impl OnAir {
    /// Nothing has been sent.
    const NONE: OnAir = OnAir {
        frame: Frame::NONE,
        began: Time::ZERO,
        over: None,
        ended: true,
        at_target: None,
        by_error: false,
        answered: false,
        attempt: Cause::Refused,
    };

    /// When its sender stops sending.
    fn end(&self) -> Time {
        self.began + self.frame.airtime
    }
}

/// The rules of the stations of a profile.
#[derive(Debug)]
struct Rules {
    timing: Timing,
    dcf: wlan::Config,
}

/// What the corridor still has to carry out when all stations have heard the end of a frame.
#[derive(Clone, Debug)]
struct Aftermath {
    said: Vec<(RadioId, Time, wlan::Out)>,
    /// Stations that have been called, and whether they listen to all from now on.
    listening: Vec<(RadioId, bool)>,
}

impl Default for Aftermath {
    fn default() -> Aftermath {
        Aftermath { said: Vec::with_capacity(64), listening: Vec::with_capacity(64) }
    }
}

/// The MAC of a radio.
#[derive(Clone, Debug)]
struct Mac {
    station: Station,
    /// Shared by all of the same profile.
    rules: Arc<Rules>,
}

impl Mac {
    fn all(setup: &Setup) -> Vec<Mac> {
        let interfaces = &setup.interfaces;
        let rules = |p: &Profile| Arc::new(Rules { timing: Timing::new(&p.wlan), dcf: p.wlan.clone() });
        let rules: Vec<_> = interfaces.profiles.iter().map(rules).collect();
        let mac = |(i, r): (usize, &RadioSetup)| {
            let (radio, rules) = (RadioId(i as u32), Arc::clone(&rules[r.profile as usize]));
            let rng = Stream::new(setup.seed, Purpose::Backoff, i as u64);
            let reception = &interfaces.profiles[r.profile as usize].radio.sinr;
            let control = wlan::rate::RateControl::new(
                &rules.dcf.rate_control,
                rules.timing.data_mode,
                &rules.timing,
                |rate, errors| sinr::least(reception, rate, errors),
                Stream::new(setup.seed, Purpose::RateControl, i as u64),
            );
            Mac { station: Station::new(radio, &rules.dcf, interfaces.modes(radio), control, rng), rules }
        };
        interfaces.radios.iter().enumerate().map(mac).collect()
    }
}

/// The network layer of a node.
#[derive(Clone, Debug)]
struct Node {
    arp: arp::Table,
    router: routing::Router,
    /// When the router wants to be called: the deadline that is on the agenda.
    router_at: Time,
    /// What became of the last frame of the packet that its MAC gave up last.
    attempt: Cause,
    rng: Stream,
    /// Whether it is switched off.
    off: bool,
    /// Whether a flow that begins here is known to have no route.
    lacks_route: bool,
}

/// The two ends of a flow.
#[derive(Clone, Debug)]
enum Ends {
    Tcp(Box<(Sender, Receiver)>),
    Udp {
        /// Datagrams sent.
        sent: u64,
        sink: Box<Sink>,
    },
}

#[derive(Clone, Debug)]
struct Flow {
    from: NodeId,
    to: NodeId,
    /// The node to which the routing protocol of the source's radio takes its packets.
    first_to: NodeId,
    ends: Ends,
    app: Application,
    /// Where the connection is split, and its halves there.
    split: Option<Box<SplitAt>>,
    transfer: Transfer,
    /// Packets that were born before belong to a flow that had this entry of the list earlier.
    since: Time,
    time: FlowTime,
    routes: RouteTime,
    /// Bytes of data packets that reached the destination, headers and duplicates included.
    received_bytes: u64,
    /// Whether AODV takes a neighbour for lost when the MAC gives up data of this flow.
    breaks_links: bool,
}

/// One run: a plain value.
#[derive(Clone, Debug)]
pub struct Sim {
    now: Time,
    timers: Timers,
    slab: Slab,
    channel: Channel,
    /// One for each radio.
    macs: Vec<Mac>,
    /// The shortest SIFS of all stations.
    shortest_sifs: Span,
    /// The last frame of each radio.
    on_air: Vec<OnAir>,
    ports: Ports,
    nodes: Vec<Node>,
    wires: Wires,
    /// Errors at receivers, if there are any.
    receivers: Option<Box<Receivers>>,
    /// Packets between MAC, router and queue.
    transit: Transit,
    /// When the first of these is due; that changes too often to be on the agenda.
    transit_at: Time,
    net: net::Config,
    /// What drops packets between queue and MAC, if anything does.
    admission: Option<Box<Admission>>,
    arp: arp::Config,
    ttl: u8,
    flows: Vec<Flow>,
    /// Those whose source is known to have no route.
    routeless: Vec<u32>,
    /// Whether a sender wants to hear of broken routes.
    tells_of_routes: bool,
    /// Whether a sender wants to hear of its packets in its own node.
    tells_of_queue: bool,
    /// Whether somebody wants to hear that the MAC has sent a packet: such a sender, or Link RED.
    tells_of_mac: bool,
    boxes: Boxes,
    pool: Pool,
    schedule: Schedule,
    recorder: Recorder,
    /// Packets given up, by cause.
    losses: Losses,
    /// What a station has just said.
    heard: Vec<wlan::Out>,
    /// What follows from the end of a frame.
    aftermath: Aftermath,
    routed: Vec<routing::Out>,
    /// Whether nodes read frames for others, and those who have just read one.
    promiscuous: bool,
    overheard: Vec<RadioId>,
    /// Whether rate control is told with what signal frames arrive.
    knows_signals: bool,
    /// Ends of frames need more than usual: error models, nodes that read frames for others, signals that rate
    /// control is told of.
    closely: bool,
    /// Packets that a queue has just dropped.
    dropped: Vec<(PacketId, Reason)>,
    tcp_said: Vec<tcp::Out>,
    /// Observers, if there are any.
    observers: Option<Box<Observers>>,
    air: Option<Box<AirTime>>,
    /// The batteries of the nodes, if they end.
    batteries: Option<Box<Batteries>>,
    /// Frames are noted, booked or measured, or nodes move: for observers, for air time, for Neighborhood RED, for motion.
    watched: bool,
    /// Each end of a frame is noted or booked, too: for observers of frames, for air time.
    watched_closely: bool,
    sample: Option<Span>,
    /// Where nodes are, if any of them moves or has moved.
    crowd: Option<Box<Crowd>>,
    stage: Arc<Stage>,
}

impl Sim {
    /// A run at its start.
    pub fn new(setup: &Setup) -> Sim {
        let radios = setup.interfaces.radios.len();
        let n = setup.places.len() + setup.wired as usize;
        let mut channel = Channel::new(&setup.interfaces.on_air(&setup.places));
        channel.reseed(setup.seed);
        let ends = setup.links.iter().map(|l| (l.from, l.to));
        let graph = Graph::new(&channel, &setup.interfaces, n, ends);
        let routes = static_routes(setup, &graph);
        let wires = Wires::new(setup, crossings(setup, &graph));
        let shared = routing::Shared::new(&setup.routing);
        let ports = Ports::new(setup, &channel);
        let node = |i: usize| {
            let mut rng = Stream::new(setup.seed, Purpose::Routing, i as u64);
            let router = if i < setup.places.len() || routes.is_some() {
                routing::Router::new(&setup.routing, &shared, routes.as_ref(), &mut rng)
            } else {
                routing::Router::none()
            };
            Node {
                arp: arp::Table::default(),
                router,
                router_at: Time::NEVER,
                attempt: Cause::Refused,
                rng,
                off: false,
                lacks_route: false,
            }
        };
        let split = if setup.flows.iter().any(|f| f.split.is_some()) { setup.flows.len() } else { 0 };
        let optional = [setup.middleboxes.len(), split, setup.arrivals.len()];
        let measures_usage = setup.net.neighborhood_red.enabled;
        let batteries = Batteries::new(setup);
        let clocks = (measures_usage, batteries.is_some());
        let slots = Slots::new(radios, n, setup.links.len(), optional, setup.flows.len(), clocks);
        let flow = |(i, f): (usize, &FlowSetup)| Flow::new(f, wires.end_of_radio(f.from, f.to), setup.seed, i);
        let stop = match setup.stop {
            Stop::At(at) => at.min(setup.limit),
            Stop::Delivered(_) => setup.limit,
        };
        let recorder = Recorder::new(setup);
        let watched_closely = setup.air_time || setup.record.contains(&RecordedTable::Frames);
        let macs = Mac::all(setup);
        let mut sim = Sim {
            now: Time::ZERO,
            timers: Timers::new(slots),
            slab: Slab::with_capacity(256 + 4 * n),
            shortest_sifs: macs.iter().map(|m| m.rules.timing.sifs).min().unwrap_or_default(),
            macs,
            on_air: vec![OnAir::NONE; radios],
            ports,
            nodes: (0..n).map(node).collect(),
            transit: Transit::new(n),
            transit_at: Time::NEVER,
            net: setup.net.clone(),
            admission: Admission::new(setup),
            arp: setup.arp.clone(),
            ttl: setup.routing.ttl,
            tells_of_routes: transport::tells_of_routes(setup),
            tells_of_queue: own_queue::is_wanted(setup),
            tells_of_mac: own_queue::is_wanted(setup) || setup.net.link_red.enabled,
            flows: setup.flows.iter().enumerate().map(flow).collect(),
            routeless: Vec::with_capacity(setup.flows.len()),
            wires,
            receivers: Receivers::new(&setup.receiver, radios, setup.seed),
            boxes: Boxes::new(&setup.middleboxes),
            pool: Pool::new(setup),
            schedule: Schedule::new(&setup.events, recorder.first_boundary().min(stop)),
            recorder,
            losses: Losses::default(),
            heard: Vec::with_capacity(8),
            aftermath: Aftermath::default(),
            routed: Vec::with_capacity(128),
            promiscuous: false,
            closely: false,
            knows_signals: false,
            overheard: Vec::with_capacity(64),
            dropped: Vec::with_capacity(128),
            tcp_said: Vec::with_capacity(64),
            observers: (!setup.record.is_empty()).then(|| Box::new(Observers::new(setup))),
            air: setup.air_time.then(|| Box::new(AirTime::new(radios))),
            watched: watched_closely || measures_usage || batteries.is_some(),
            batteries,
            watched_closely,
            sample: setup.sample,
            channel,
            crowd: None,
            stage: Stage::new(setup),
        };
        if setup.routing.ecn {
            sim.slab.message_ecn = Ecn::Ect;
        }
        for (i, f) in sim.flows.iter().enumerate() {
            sim.timers.set(Slot::App(i), f.app.deadline());
        }
        for (k, at) in sim.pool.deadlines().enumerate() {
            sim.timers.set(Slot::Arrivals(k), at);
        }
        for i in 0..n {
            let node = &mut sim.nodes[i];
            node.router_at = node.router.deadline();
            sim.timers.set(Slot::Router(NodeId(i as u32)), node.router_at);
        }
        sim.promiscuous = sim.nodes.iter().any(|n| n.router.is_promiscuous());
        let knows_signals = |m: &Mac| m.rules.dcf.rate_control.algorithm == wlan::rate::Algorithm::Ideal;
        sim.knows_signals = sim.macs.iter().any(knows_signals);
        sim.closely = sim.receivers.is_some() || sim.promiscuous || sim.knows_signals;
        if setup.air_time {
            sim.channel.tell_all();
        }
        if setup.record.iter().any(|table| matches!(table, RecordedTable::Frames | RecordedTable::Packets)) {
            sim.slab.keep_log();
        }
        for node in 0..n as u32 {
            sim.note_routes(NodeId(node));
        }
        if setup.sample.is_some() {
            sim.timers.set(Slot::Clock(Clock::Sample), Time::ZERO);
        }
        if let Some(neighborhood) = sim.admission.as_ref().and_then(|a| a.neighborhood.as_ref()) {
            sim.timers.set(Slot::Clock(Clock::Usage), neighborhood.deadline());
        }
        if let Some(batteries) = &sim.batteries {
            sim.timers.set(Slot::Clock(Clock::Battery), batteries.deadline());
        }
        if sim.stage.moves() {
            sim.begin_motion();
        }
        sim.note_legs(None);
        sim.begin_events();
        sim
    }

    /// Notes every frame on the air and every packet that comes over a wire from now on.
    pub fn trace(&mut self) {
        self.observers.get_or_insert_default().trace();
        (self.watched, self.watched_closely) = (true, true);
        self.channel.tell_all();
    }

    /// What was noted.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.observers.as_mut()?.take_trace()
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

    /// The tables of `run.record`, with the rows that nobody has taken out. Rows of packets come with the end of
    /// [`advance`](Self::advance).
    pub fn tables(&mut self) -> impl Iterator<Item = (RecordedTable, &mut dyn Rows)> {
        self.observers.iter_mut().flat_map(|o| o.tables())
    }

    /// Memory that the run has taken since it began, about \[B\]: packets, samples with their rows in the tables, rows
    /// that nobody has taken out, routes, what TCP keeps of what is outstanding.
    pub fn grown(&self) -> u64 {
        let routers: usize = self.nodes.iter().map(|n| n.router.memory()).sum();
        let rows = self.observers.as_ref().map_or(0, |o| o.memory());
        let transfers = self.recorder.transfers.memory() + self.pool.memory();
        let said = self.tcp_said.capacity() * size_of::<tcp::Out>();
        let tcp = said + self.flows.iter().map(Flow::memory_of_window).sum::<usize>();
        let motion = self.crowd.as_ref().map_or(0, |c| c.memory() + self.channel.memory_of_audiences());
        (self.slab.memory() + self.recorder.memory_of_samples() + routers + rows + transfers + tcp + motion) as u64
    }

    /// The share of the run that is done.
    pub fn progress(&self) -> f64 {
        self.recorder.progress(self.now)
    }

    /// Lets at most this number of slots come due; `None` while the run has not ended.
    pub fn advance(&mut self, slots: u64) -> Option<End> {
        match self.advance_until(Time::NEVER, slots) {
            Some(Halt::End(end)) => Some(end),
            _ => None,
        }
    }

    /// Runs to the end.
    pub fn run(&mut self) -> End {
        loop {
            if let Some(end) = self.advance(1 << 20) {
                return end;
            }
        }
    }

    #[inline(always)]
    fn step(&mut self) -> Option<Halt> {
        let Some((slot, at)) = self.timers.next_before(self.transit_at) else {
            self.now = self.now.max(self.transit_at);
            self.on_transit();
            return if self.recorder.is_due() { self.on_delivered() } else { None };
        };
        let before = self.now;
        self.now = before.max(at);
        // What seldom comes due is `inline(never)`: the loop of a run has to fit into the cache of instructions.
        match slot {
            // Nothing is delivered by a radio or a station: what was received is on its way to the network layer.
            Slot::Radio(n) => {
                self.on_frame_end(n);
                return None;
            }
            Slot::Mac(n) => {
                self.on_station(n);
                return None;
            }
            Slot::Router(n) => self.on_router(n),
            Slot::Transit => self.on_transit(),
            Slot::Wire(w) => self.on_wire(w),
            Slot::Middlebox(i) => self.on_middlebox(i),
            Slot::Split(f) => self.on_split(f),
            Slot::Sender(f) => self.on_sender(f),
            Slot::Receiver(f) => self.on_receiver(f),
            Slot::App(f) => self.on_application(f),
            Slot::Arrivals(k) => self.on_arrival_of_transfer(k),
            Slot::Clock(clock) => return self.on_clock(clock, before),
        }
        if self.recorder.is_due() { self.on_delivered() } else { None }
    }

    #[inline(never)]
    fn on_clock(&mut self, clock: Clock, before: Time) -> Option<Halt> {
        if self.is_idle() {
            return Some(self.on_idle(before));
        }
        match clock {
            Clock::Usage => self.on_usage_interval(),
            Clock::Battery => self.on_battery(),
            Clock::Sample => self.on_sample(),
            Clock::Stop => return self.on_stop(),
        }
        if self.recorder.is_due() { self.on_delivered() } else { None }
    }

    /// Whether only clocks are left in a run that waits for deliveries.
    fn is_idle(&mut self) -> bool {
        let moves = self.transit_at != Time::NEVER || self.schedule.expects_commands();
        if moves || !self.recorder.waits_for_deliveries() {
            return false;
        }
        self.timers.only_clocks_are_set()
    }

    fn on_sample(&mut self) {
        let next = self.now + self.sample.expect("only then is the slot set");
        self.timers.set(Slot::Clock(Clock::Sample), next);
        self.note_batteries();
        for (i, flow) in self.flows[..self.pool.first].iter().enumerate() {
            if let Ends::Tcp(ends) = &flow.ends {
                let queued = self.queued_at(flow.from);
                self.recorder.sample(self.now, i, &ends.0.view(), queued);
            }
        }
    }

    /// Enough packets have been delivered to end a batch or the run.
    #[inline(never)]
    fn on_delivered(&mut self) -> Option<Halt> {
        self.close_batches();
        self.recorder.is_done().then_some(Halt::End(End::Done))
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
    /// If a packet has none: that is a bug in the simulator, and no result of the run can be trusted.
    fn finish(&mut self, end: End) {
        self.note_end(end);
        let totals = self.totals();
        self.recorder.finish(totals);
        self.book_open_waits();
        self.note_packets();
        self.note(self.now, &Note::End);
        let ledger = self.slab.ledger();
        assert!(ledger.balances(), "at {}: packets are created and lost without a trace: {ledger:?}", self.now);
        let held = self.packets_held();
        assert_eq!(held, self.slab.live(), "at {}: packets are inside that nobody holds", self.now);
    }

    /// Packets that the rooms hold, counted where they are.
    fn packets_held(&self) -> u64 {
        let in_node = |n: &Node| n.arp.held() + n.router.waiting();
        let in_stations = self.macs.iter().filter(|m| m.station.packet().is_some()).count();
        let over = self.on_air.iter().filter(|f| f.over.is_some()).count();
        let in_nodes = self.nodes.iter().map(in_node).sum::<usize>();
        let queued = self.ports.queues.iter().map(queue::Queue::len).sum::<usize>();
        (in_nodes + queued + self.transit.len() + in_stations + over + self.wires.packets_held()) as u64
    }
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
    /// What TCP keeps of what is outstanding \[B\].
    fn memory_of_window(&self) -> usize {
        let split = self.split.as_ref().map_or(0, |s| s.halves.sender().memory());
        match &self.ends {
            Ends::Tcp(ends) => ends.0.memory() + ends.1.memory() + split,
            Ends::Udp { .. } => 0,
        }
    }
}

/// The routes of a protocol that knows them from the start.
fn static_routes(setup: &Setup, graph: &Graph<'_>) -> Option<Routes> {
    match setup.routing.protocol {
        protocol if protocol.learns_routes() => None,
        routing::Protocol::Fixed => Some(Routes::listed(graph.nodes(), &setup.routing.fixed.routes.0)),
        _ => Some(shortest_routes(setup, graph)),
    }
}

fn shortest_routes(setup: &Setup, graph: &Graph<'_>) -> Routes {
    let ends = setup.flows.iter().flat_map(|f| [f.to, f.from]);
    let of_arrivals = |a: &ArrivalsSetup| match (a.from, a.to) {
        (Some(from), Some(to)) => vec![from, to],
        _ => (0..graph.nodes() as u32).map(NodeId).collect(),
    };
    let ends = ends.chain(setup.arrivals.iter().flat_map(of_arrivals));
    let ends = ends.chain(setup.flows.iter().filter_map(|f| f.split.as_ref()).map(|s| s.node));
    Routes::shortest(graph.nodes(), ends, |v| graph.neighbours(v), |v| graph.predecessors(v))
}

/// Where packets change between wires and radio, if there are wires and the routes over the radio are found on demand.
fn crossings(setup: &Setup, graph: &Graph<'_>) -> Option<Crossings> {
    (setup.routing.protocol.learns_routes() && !setup.links.is_empty())
        .then(|| Crossings::new(&shortest_routes(setup, graph), graph.nodes(), |a, b| graph.has_wire(a, b)))
}
