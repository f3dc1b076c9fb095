//! The engine: the only module that knows every layer. It takes the next timer from the scheduler, calls one layer, and
//! dispatches the actions of the layer to the next layer. It has no protocol knowledge.
//!
//! Five owners keep the state of a run: `Air` (channel, stations, frames on the air), `Network` (routers, address
//! resolution, queues, links, middleboxes), `Flows` (applications, ends of connections), `World` (motion, batteries)
//! and `Watch` (recorder, observers). A change of one owner is a method of that owner. Actions that pass from one owner
//! to another are dispatched in `interfaces`, in one file for each: `frames` (air and stations), `link` (stations and
//! network layer), `point_to_point` (network layer and point-to-point links), `transport` (network layer, TCP,
//! applications), `external` (network layer, the driver of external flows), `middlebox` (network layer, middleboxes, split
//! connections), `power` and `commands` (all of them).

mod air;
mod external;
mod flows;
mod interfaces;
mod look;
mod network;
mod rare_features;
mod schedule;
mod stations;
mod timer_numbers;
mod timers;
mod watch;
mod world;

use crate::net::queue::Queue;
use crate::packet::{Ecn, NodeId, PacketPool, RadioId};
use crate::radio::Channel;
use crate::record::Recorder;
use crate::record::capture::Captures;
use crate::record::note::Note;
use crate::record::observe::columns::Rows;
use crate::record::rates::Rates;
use crate::record::totals::{NodeTotals, RadioTotals, Totals};
use crate::record::trace::Trace;
use crate::run::{End, RecordedTable, Setup, Stop};
use crate::tcp;
use crate::unit::Time;
use crate::wlan::edca::QosCounters;
use air::Air;
use flows::{Ends, Flows};
use network::Network;
pub use schedule::Halt;
use schedule::Schedule;
use timer_numbers::{Clock, Timer, TimerNumbers};
use timers::Timers;
use watch::Watch;
use world::World;

/// State of a run: a plain value, which can be cloned at any instant.
#[derive(Clone, Debug)]
pub struct Sim {
    now: Time,
    timers: Timers,
    pool: PacketPool,
    schedule: Schedule,
    air: Air,
    net: Network,
    flows: Flows,
    world: World,
    watch: Watch,
}

impl Sim {
    /// Creates a run at time 0.
    pub fn new(setup: &Setup) -> Sim {
        let mut channel = Channel::new(&setup.interfaces.on_air(&setup.positions));
        channel.reseed(setup.seed);
        let net = Network::new(setup, &channel, setup.senders().any(tcp::Config::watches_own_queue));
        let reads_others = net.nodes.iter().any(|n| n.router.is_promiscuous());
        let air = Air::new(setup, channel, reads_others);
        let (world, watch) = (World::new(setup), Watch::new(setup));
        let n = net.nodes.len();
        let split = if setup.flows.iter().any(|f| f.split.is_some()) { setup.flows.len() } else { 0 };
        let optional = [setup.middleboxes.len(), split, setup.arrivals.len()];
        let clocks = (setup.net.neighborhood_red.enabled, world.batteries.is_some());
        let numbers = TimerNumbers::new(air.macs.len(), n, setup.links.len(), optional, setup.flows.len(), clocks);
        let stop = match setup.stop {
            Stop::At(at) => at.min(setup.limit),
            Stop::Delivered(_) => setup.limit,
        };
        let mut sim = Sim {
            now: Time::ZERO,
            timers: Timers::new(numbers),
            pool: PacketPool::with_capacity(256 + 4 * n),
            schedule: Schedule::new(&setup.events, watch.recorder.first_boundary().min(stop)),
            air,
            flows: Flows::new(setup, &net.links),
            net,
            world,
            watch,
        };
        if Watch::follows_frames(setup) || clocks.0 || clocks.1 {
            sim.air.watch(Watch::follows_frames(setup));
        }
        sim.find_rare_features();
        if setup.routing.ecn {
            sim.pool.message_ecn = Ecn::Ect;
        }
        for (i, f) in sim.flows.list.iter().enumerate() {
            sim.timers.set(Timer::App(i), f.app.deadline());
        }
        for (k, at) in sim.flows.generator.deadlines().enumerate() {
            sim.timers.set(Timer::Arrivals(k), at);
        }
        for (node, i) in sim.net.nodes.iter().zip(0..) {
            sim.timers.set(Timer::Router(NodeId(i)), node.router_at);
        }
        if Watch::needs_every_end(setup) || sim.air.qos.is_some() {
            sim.air.channel.need_every_end();
        }
        let numbers_packets = |table: &RecordedTable| {
            matches!(table, RecordedTable::Frames | RecordedTable::Mpdus | RecordedTable::Packets)
        };
        if setup.capture || setup.record.iter().any(numbers_packets) || sim.watch.external.is_some() {
            sim.pool.keep_log();
        }
        for (node, i) in sim.net.nodes.iter().zip(0..) {
            sim.watch.note_routes(sim.now, NodeId(i), &node.router);
        }
        if setup.sample.is_some() {
            sim.timers.set(Timer::Clock(Clock::Sample), Time::ZERO);
        }
        if let Some(neighborhood) = sim.net.admission.as_ref().and_then(|a| a.neighborhood.as_ref()) {
            sim.timers.set(Timer::Clock(Clock::Usage), neighborhood.deadline());
        }
        if let Some(batteries) = &sim.world.batteries {
            sim.timers.set(Timer::Clock(Clock::Battery), batteries.deadline());
        }
        if sim.world.moves() {
            sim.begin_motion();
        }
        sim.world.note_movements(sim.now, None, &mut sim.watch);
        sim.find_gateways();
        sim.begin_events();
        sim
    }

    /// Starts a trace of every frame on the air and of every packet that arrives over a point-to-point link.
    pub fn trace(&mut self) {
        self.watch.observers.get_or_insert_default().trace();
        self.air.watch(true);
        self.find_rare_features();
        self.air.channel.need_every_end();
    }

    /// Removes and returns the trace, if one was started.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.watch.observers.as_mut()?.take_trace()
    }

    /// Current simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The recorder of the run.
    pub fn recorder(&self) -> &Recorder {
        &self.watch.recorder
    }

    /// The recorder of a run that is over.
    pub fn into_recorder(self) -> Recorder {
        self.watch.recorder
    }

    /// Packets of the run, with the ledger of their outcomes.
    pub fn pool(&self) -> &PacketPool {
        &self.pool
    }

    /// Tables of `run.record`, with the rows that have not been taken out. Rows of packets are added at the end of
    /// [`advance`](Self::advance).
    pub fn tables(&mut self) -> impl Iterator<Item = (RecordedTable, &mut dyn Rows)> {
        self.watch.observers.iter_mut().flat_map(|o| o.tables())
    }

    /// Captures of [`Setup::capture`], up to now.
    pub fn captures(&mut self) -> Option<&mut Captures> {
        let captures = self.watch.captures()?;
        captures.settle(self.now);
        Some(captures)
    }

    /// Approximate memory that the run has taken since its start \[B\]: packets, samples with their rows, rows that
    /// have not been taken out, routes, outstanding segments of TCP, datagrams of external flows.
    pub fn grown(&self) -> u64 {
        let routers: usize = self.net.nodes.iter().map(|n| n.router.memory()).sum();
        let rows = self.watch.observers.as_ref().map_or(0, |o| o.memory());
        let external = self.watch.external.as_ref().map_or(0, |e| e.memory());
        let flows = self.watch.recorder.short_flows.memory() + self.flows.memory() + external;
        let motion = self
            .world
            .mobile_nodes
            .as_ref()
            .map_or(0, |c| c.memory() + self.air.channel.memory_of_receivers_in_range());
        (self.pool.memory() + self.watch.recorder.memory_of_samples() + routers + rows + flows + motion) as u64
    }

    /// Fraction of the run that is complete, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.watch.recorder.progress(self.now)
    }

    /// Advances the run by at most this number of steps, in each of which one timer expires; `None` while the run has
    /// not ended. Events of external flows are discarded.
    pub fn advance(&mut self, steps: u64) -> Option<End> {
        match self.advance_until(Time::NEVER, steps) {
            Some(Halt::End(end)) => Some(end),
            Some(Halt::Events) => {
                self.events().for_each(drop);
                None
            }
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
        let (timer, at) = self.timers.next();
        let before = self.now;
        self.now = before.max(at);
        // Handlers of rare timers are `inline(never)`: the main loop has to fit into the instruction cache.
        match timer {
            // These timers deliver no packet at once: a received packet is in transit to the network layer.
            Timer::Radio(n) => {
                self.on_frame_end(n);
                return None;
            }
            Timer::Mac(n) => {
                self.on_station(n);
                return None;
            }
            Timer::Router(n) => self.on_router(n),
            Timer::Transit => self.on_transit(),
            Timer::Link(w) => self.on_link(w),
            Timer::Middlebox(i) => self.on_middlebox(i),
            Timer::Split(f) => self.on_split(f),
            Timer::Sender(f) => self.on_sender(f),
            Timer::Receiver(f) => self.on_receiver(f),
            Timer::App(f) => self.on_application(f),
            Timer::Arrivals(k) => self.on_arrival_of_transfer(k),
            Timer::Clock(clock) => return self.on_clock(clock, before),
        }
        if self.watch.recorder.is_due() { self.on_delivered() } else { None }
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
        if self.watch.recorder.is_due() { self.on_delivered() } else { None }
    }

    /// Returns true if a run that waits for deliveries has no timer left but clocks.
    fn is_idle(&mut self) -> bool {
        let moves = self.timers.transit_at != Time::NEVER || self.schedule.expects_commands();
        if moves || !self.watch.recorder.waits_for_deliveries() {
            return false;
        }
        self.timers.only_clocks_are_set()
    }

    fn on_sample(&mut self) {
        let next = self.now + self.watch.sample.expect("the timer is set only then");
        self.timers.set(Timer::Clock(Clock::Sample), next);
        self.world.note_batteries(self.now, &mut self.watch);
        for (i, flow) in self.flows.list[..self.flows.generator.first].iter().enumerate() {
            if let Ends::Tcp(ends) = &flow.ends {
                let queued = self.net.queued_at(flow.from, self.now);
                let delivered = ends.receiver.counters().packets_delivered;
                self.watch.recorder.sample(self.now, i, &ends.sender.view(), queued, delivered);
            }
        }
    }

    /// Enough packets have been delivered to end a batch or the run.
    #[inline(never)]
    fn on_delivered(&mut self) -> Option<Halt> {
        self.close_batches();
        self.watch.recorder.is_done().then_some(Halt::End(End::Done))
    }

    fn close_batches(&mut self) {
        while self.watch.recorder.wants_batch(self.now) {
            let totals = self.totals();
            self.watch.recorder.close_batch(totals);
            if self.watch.recorder.is_warmup_border() {
                self.pool.begin_measured();
                self.watch.losses.begin_measured();
                self.watch.drops.begin_measured();
            }
        }
    }

    /// Ends the run and checks that every packet has exactly one outcome.
    ///
    /// # Panics
    /// If a packet has none: a bug in the simulator, after which no result of the run can be trusted.
    fn finish(&mut self, end: End) {
        self.note_end(end);
        let totals = self.totals();
        self.watch.recorder.finish(totals);
        self.book_open_waits();
        self.watch.note_packets(&mut self.pool);
        self.watch.note(self.now, &Note::End);
        let ledgers = self.pool.ledgers();
        assert!(ledgers.balance(), "at {}: packets are created and lost without a trace: {ledgers:?}", self.now);
        let held = (self.air.packets_held() + self.net.packets_held()) as u64;
        assert_eq!(held, self.pool.live(), "at {}: packets are inside that nobody holds", self.now);
    }

    /// Current values of all counters.
    fn totals(&mut self) -> Totals {
        let now = self.now;
        let flows = (0..self.flows.generator.first).map(|f| self.flows.totals_of(f, now, &self.net.boxes)).collect();
        let short_flows = self.flows.short_flow_totals(now, &self.net.boxes, &mut self.watch.recorder);
        let mut nodes: Vec<NodeTotals> = self
            .net
            .nodes
            .iter()
            .map(|node| NodeTotals { routing: node.router.counted(), ..NodeTotals::default() })
            .collect();
        for (mac, r) in self.air.macs.iter().zip((0..).map(RadioId)) {
            let radio = self.air.channel.counters(r);
            let at_radio = RadioTotals::new(
                mac.counters(),
                &mac.qos.as_ref().map_or_else(QosCounters::default, |qos| *qos.qos_counters()),
                radio,
                self.net.ports.all_of(r).map(Queue::marks).sum::<u64>() + mac.marks(),
                self.air.channel.neighbor_changes(r),
            );
            nodes[self.net.ports.node(r).index()].radio.add(&at_radio);
        }
        self.net.links.add_marks(&mut nodes);
        if let Some(admission) = &self.net.admission {
            admission.add_marks(&mut nodes, &self.net.ports);
        }
        let links = self.net.links.totals(now);
        let contention = self.air.macs.iter().map(|m| (m.contention(), m.rules.timing.eifs));
        let air = self.watch.airtime.as_mut().map_or_else(Vec::new, |air| air.up_to(now, contention));
        let batteries = self.world.batteries.as_ref().map_or_else(Vec::new, |b| b.totals(now));
        let gateways = self.net.links.gateways().map_or_else(Vec::new, |gateways| gateways.uses().to_vec());
        let stations = self.air.macs.iter().zip((0..).map(RadioId));
        let rates = stations.flat_map(|(m, r)| m.tallies().map(move |(to, mode, kind, n)| (r, to, kind, mode, n)));
        let rates = Rates::new(rates);
        let ledgers = self.pool.ledgers().clone();
        let drops = self.watch.drops.clone();
        Totals {
            at: now,
            flows,
            short_flows,
            nodes,
            air,
            batteries,
            gateways,
            links,
            rates,
            ledgers,
            losses: self.watch.losses,
            drops,
        }
    }

    /// At the end of a run, books the time since the last event of each flow that waits for its retransmission timer as
    /// such a wait.
    fn book_open_waits(&mut self) {
        let inside = self.pool.flows_inside(self.flows.generator.first);
        for (f, inside) in inside.into_iter().enumerate() {
            if !inside && self.net.boxes.are_quiet() && self.flows.waits_for_timeout(f) {
                let rebooking = self.flows.list[f].time.waits();
                self.watch.recorder.rebook(f, &rebooking);
            }
        }
    }
}

/// Access to the state of a run, for tests that replay traces of ns-2 and examine the state after every event.
#[cfg(test)]
impl Sim {
    /// The packets, to keep and take their log.
    pub(crate) fn pool_mut(&mut self) -> &mut PacketPool {
        &mut self.pool
    }

    /// The channel, to switch radios off and on.
    pub(crate) fn channel_mut(&mut self) -> &mut Channel {
        &mut self.air.channel
    }

    /// Energy left in the battery of each node \[J\].
    pub(crate) fn energy_left(&self) -> Vec<f64> {
        let batteries = self.world.batteries.as_ref().expect("the nodes have batteries");
        batteries.totals(self.now).iter().map(|b| b.left).collect()
    }

    /// Time from the network layer of a node to its MAC.
    pub(crate) fn link_delay(&self) -> crate::unit::Span {
        self.net.cfg.processing_delay
    }

    /// Routing table of a node.
    pub(crate) fn routes_at(&self, node: NodeId) -> Vec<crate::net::routing::KnownRoute> {
        let mut routes = vec![];
        self.net.nodes[node.index()].router.routes(node, self.now, &mut routes);
        routes
    }
}
