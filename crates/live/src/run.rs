//! The loop of a live run: one thread advances the simulation to the present, and serves the devices.

use crate::address::node_of;
use crate::enclosure::Refusal;
use crate::header::{mark, read};
use crate::kernel::become_real_time;
use crate::lateness::Lateness;
use crate::node::Node;
use crate::programs::{Program, Programs};
use crate::queue::{Queue, Verdict};
use crate::record::{self, Entry};
use chappe_core::packet::{Ecn, FlowId, NodeId};
use chappe_core::run::external::{Event, HEADER, Injection};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::time::Instant;

/// Steps of the simulation between two looks at the devices, and halts among them, at most.
const STEPS: u64 = 256;
const HALTS: u32 = 16;
/// Packets that are read from a device before the others are served, at most.
const PACKETS: u32 = 64;
/// Largest size of an IP packet \[B\].
const LARGEST: usize = 65_535;
/// Space for what the kernel says of a packet in a queue \[B\].
const SPARE: usize = 1024;
/// Longest sleep: programs may end, and the caller wants to know how it goes.
const TICK: Span = Span::ms(20);
/// Start of the main program behind the others, which serve it.
const HEAD_START: Span = Span::secs(1);
/// Time that programs have to end after a signal.
const GRACE: Span = Span::secs(2);

/// Counts of a live run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets that entered the network, and their bytes.
    pub entered: u64,
    /// Bytes of these packets.
    pub entered_bytes: u64,
    /// Packets that were delivered.
    pub delivered: u64,
    /// Bytes of these packets.
    pub delivered_bytes: u64,
    /// Packets that were lost in the network.
    pub lost: u64,
    /// Packets to addresses without a node, which went nowhere.
    pub astray: u64,
    /// Packets that the network did not take: their node was off, or too many were under way.
    pub refused: u64,
    /// Deliveries that were later than the limit.
    pub late: u64,
    /// Largest time by which the simulation was behind when a packet entered.
    pub behind: Span,
}

/// Progress of a live run.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Time since the start.
    pub at: Time,
    /// Counts so far.
    pub counts: Counts,
    /// Lateness that 99 % of the deliveries so far do not exceed.
    pub late_p99: Span,
}

/// Result of a live run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Counts of the whole run.
    pub counts: Counts,
    /// Lateness of all deliveries.
    pub lateness: Lateness,
    /// Exit code of the main program, or the first one that is not 0; `None`: the run has ended the programs.
    pub code: Option<i32>,
    /// A delivery was later than the limit, and that ended the run.
    pub was_too_late: bool,
    /// The thread had real-time priority.
    pub is_real_time: bool,
}

/// Signals that end the programs, each with its time after the one before.
struct Ending {
    signals: &'static [Signal],
    next: Time,
}

/// A live run.
pub struct Live {
    nodes: Vec<Node>,
    numbers: Vec<u32>,
    mtu: usize,
    programs: Vec<Program>,
    flows: HashMap<(u32, u32), FlowId>,
    /// Queues of the nodes with the door NFQUEUE, in the order of the nodes; empty: there are none.
    queues: Vec<Queue>,
    /// Packets in queues of the kernel, by their tags: the place of the queue, and the number there.
    held: HashMap<u64, (usize, u32)>,
    /// Packets in the network by their tags.
    under_way: HashMap<u64, Vec<u8>>,
    next_tag: u64,
    record: Option<Box<dyn io::Write + Send>>,
    /// Lines of the record that were not written.
    lines: String,
    /// A later delivery is late.
    limit: Span,
    /// The first late delivery ends the run.
    ends_late: bool,
    quiet: bool,
    counts: Counts,
    lateness: Lateness,
}

/// Choices of a live run.
pub struct Options {
    /// Size of the largest packet \[B\].
    pub mtu: u32,
    /// Packets stay in queues of the kernel until they have left their node.
    pub holds: bool,
    /// A later delivery is late.
    pub limit: Span,
    /// The first late delivery ends the run.
    pub ends_late: bool,
    /// Output of the programs goes to standard error.
    pub quiet: bool,
    /// Record of the datagrams that enter; `None`: there is none.
    pub record: Option<Box<dyn io::Write + Send>>,
}

/// State of the simulation after some steps.
enum Reach {
    /// It is at the present.
    Present,
    /// It is behind.
    Behind,
    /// It has ended.
    End,
}

impl Live {
    /// Makes the nodes. Flows are external ones, each with source and destination.
    ///
    /// # Errors
    /// The missing right, device or file, with the way out.
    pub fn new(
        nodes: &[u32],
        flows: &[(u32, u32, u32)],
        programs: Vec<Program>,
        options: Options,
    ) -> Result<Live, Refusal> {
        let Options { mtu, holds, limit, ends_late, quiet, record } = options;
        let flows = flows.iter().rev().map(|(flow, from, to)| ((*from, *to), FlowId(*flow)));
        let nodes_made = nodes.iter().map(|&node| Node::new(node, mtu)).collect::<Result<Vec<_>, _>>()?;
        let queued = if holds { &nodes_made[..] } else { &[] };
        Ok(Live {
            queues: queued.iter().map(Queue::new).collect::<Result<_, _>>()?,
            held: HashMap::new(),
            mtu: mtu as usize,
            nodes: nodes_made,
            numbers: nodes.to_vec(),
            programs,
            flows: flows.collect(),
            under_way: HashMap::new(),
            next_tag: 0,
            lines: if record.is_some() { record::begin(nodes) } else { String::new() },
            record,
            limit,
            ends_late,
            quiet,
            counts: Counts::default(),
            lateness: Lateness::default(),
        })
    }

    /// Runs until the programs or the simulation end. `each` is called some times a second; false interrupts the run.
    ///
    /// # Errors
    /// That of `each`, of the record, or of a program that cannot be started.
    pub fn run<E: From<io::Error>>(
        mut self,
        sim: &mut Sim,
        real_time: bool,
        mut each: impl FnMut(&mut Sim, Told) -> Result<bool, E>,
    ) -> Result<Outcome, E> {
        let is_real_time = real_time && become_real_time();
        let _awake = real_time.then(keep_awake);
        rustix::thread::set_current_timer_slack(std::num::NonZero::new(1)).map_err(io::Error::from)?;
        let mut programs = Programs::default();
        let mut waiting: Vec<Program> = self.programs.clone();
        waiting.sort_by_key(|program| program.is_main);
        let main = waiting.iter().position(|program| program.is_main);
        let head_start = if waiting.len() > 1 { HEAD_START } else { Span::ZERO };
        let (mut ending, mut is_over): (Option<Ending>, _) = (None, false);
        let mut buffer = vec![0; LARGEST + SPARE];
        let mut last_tick = Time::ZERO;
        let mut ended_by_run = false;
        let begun = Instant::now();
        let present = || Time(begun.elapsed().as_nanos() as u64);
        while !is_over {
            let reach = self.advance(sim, &present);
            self.read(sim, &present, &mut buffer);
            let now = present();
            while waiting.first().is_some_and(|p| !p.is_main || now >= Time::ZERO + head_start) && ending.is_none() {
                let program = waiting.remove(0);
                let node = self.nodes.iter().find(|node| node.number == program.node).expect("programs are on nodes");
                let started = programs.start(&program, node, &self.numbers, self.quiet);
                let name = program.words[0].to_string_lossy();
                started.map_err(|e| {
                    io::Error::new(e.kind(), format!("cannot run {name} on node {}: {e}", program.node))
                })?;
            }
            if now.since(last_tick) >= TICK || matches!(reach, Reach::End) {
                last_tick = now;
                programs.collect();
                self.write_record()?;
                let told = Told { at: now, counts: self.counts, late_p99: self.lateness.quantile(0.99) };
                let goes_on = each(sim, told)?;
                let is_late = self.ends_late && self.counts.late > 0;
                let main_ended = main.is_some_and(|place| programs.code(place).is_some());
                if ending.is_none() {
                    if !goes_on {
                        ending = Some(Ending { signals: &[Signal::INT, Signal::TERM, Signal::KILL], next: now });
                    } else if matches!(reach, Reach::End) || is_late || main_ended {
                        ended_by_run = !main_ended;
                        ending = Some(Ending { signals: &[Signal::TERM, Signal::KILL], next: now });
                    }
                }
                if let Some(ending) = &mut ending
                    && programs.run()
                    && now >= ending.next
                    && let Some((signal, later)) = ending.signals.split_first()
                {
                    programs.signal(*signal);
                    *ending = Ending { signals: later, next: now + GRACE };
                }
                is_over = !programs.run() && (ending.is_some() || waiting.is_empty() && main.is_none());
            }
            if !matches!(reach, Reach::Behind) {
                self.sleep(sim, present());
            }
        }
        programs.signal(Signal::KILL);
        self.end(sim)?;
        let code = match main.map(|place| programs.code(place)) {
            _ if ended_by_run => None,
            Some(code) => code,
            None => Some(programs.first_failure()),
        };
        let was_too_late = self.ends_late && self.counts.late > 0;
        Ok(Outcome { counts: self.counts, lateness: self.lateness, code, was_too_late, is_real_time })
    }

    /// Advances the simulation to the present, by some steps at most, and hands over what arrives.
    fn advance(&mut self, sim: &mut Sim, present: &impl Fn() -> Time) -> Reach {
        let until = present();
        for _ in 0..HALTS {
            match sim.advance_until(until, STEPS) {
                Some(Halt::Events) => self.deliver(sim, present),
                Some(Halt::Reached) => return Reach::Present,
                Some(Halt::End(_)) => return Reach::End,
                None => break,
            }
        }
        // All that is due at the instant at which packets enter precedes them, as in a repetition of the run.
        match self.complete(sim, present) {
            true => Reach::End,
            false => Reach::Behind,
        }
    }

    /// Completes the present instant of the simulation. Returns true if it has ended.
    fn complete(&mut self, sim: &mut Sim, present: &impl Fn() -> Time) -> bool {
        let at = Time(sim.now().0 + 1);
        loop {
            match sim.advance_until(at, STEPS) {
                Some(Halt::Events) => self.deliver(sim, present),
                Some(Halt::Reached) => return false,
                Some(Halt::End(_)) => return true,
                None => {}
            }
        }
    }

    /// Writes what has arrived into the devices.
    fn deliver(&mut self, sim: &mut Sim, present: &impl Fn() -> Time) {
        let at = sim.now();
        for event in sim.events() {
            match event {
                // A receiver takes a datagram once.
                Event::Arrived { copy: true, .. } | Event::Wake { .. } => {}
                Event::Left { tag, .. } => {
                    if let Some((place, number)) = self.held.remove(&tag) {
                        self.queues[place].decide(number, Verdict::Drop);
                    }
                }
                Event::Arrived { endpoint, tag, ecn, .. } => {
                    let Some(mut packet) = self.under_way.remove(&tag) else { continue };
                    if ecn == Ecn::Ce {
                        mark(&mut packet);
                    }
                    let Some(node) = self.nodes.iter().find(|node| node.number == endpoint.0) else { continue };
                    // A kernel without memory drops it, as a card does.
                    let _ = (&node.device).write(&packet);
                    let lateness = present().since(at);
                    self.lateness.add(lateness);
                    self.counts.late += u64::from(lateness > self.limit);
                    self.counts.delivered += 1;
                    self.counts.delivered_bytes += packet.len() as u64;
                }
                Event::Lost { tag, .. } => {
                    self.counts.lost += u64::from(self.under_way.remove(&tag).is_some());
                }
            }
        }
    }

    /// Reads what the kernel sends, and gives it to the simulation.
    fn read(&mut self, sim: &mut Sim, present: &impl Fn() -> Time, buffer: &mut [u8]) {
        for place in 0..self.nodes.len() {
            let from = self.nodes[place].number;
            for _ in 0..PACKETS {
                let Ok(length) = (&self.nodes[place].device).read(buffer) else { break };
                self.counts.behind = self.counts.behind.max(present().since(sim.now()));
                self.inject(sim, from, &buffer[..length]);
            }
            for _ in 0..PACKETS {
                let Some(Ok(message)) = self.queues.get(place).map(|queue| queue.read(buffer)) else { break };
                let Some((number, packet)) = message else { continue };
                self.counts.behind = self.counts.behind.max(present().since(sim.now()));
                if packet.len() > self.mtu {
                    // The kernel cuts it behind the queue, and hands its pieces to the device.
                    self.queues[place].decide(number, Verdict::Accept);
                    continue;
                }
                match self.inject(sim, from, packet) {
                    Some(tag) => drop(self.held.insert(tag, (place, number))),
                    None => self.queues[place].decide(number, Verdict::Drop),
                }
            }
        }
    }

    /// Gives a packet to the simulation, and returns its tag if the simulation takes it.
    fn inject(&mut self, sim: &mut Sim, from: u32, packet: &[u8]) -> Option<u64> {
        let ends = read(packet).and_then(|header| Some((header, node_of(header.to)?)));
        let flow = ends.and_then(|(header, to)| Some((header, to, *self.flows.get(&(from, to))?)));
        let Some((header, to, flow)) = flow else {
            self.counts.astray += 1;
            return None;
        };
        let tag = self.next_tag;
        let bytes = (packet.len() as u32).saturating_sub(HEADER.0);
        let datagram = Injection { bytes, ecn: header.ecn, dscp: Some(header.dscp), tag };
        if sim.inject(flow, datagram).is_err() {
            self.counts.refused += 1;
            return None;
        }
        self.next_tag += 1;
        self.counts.entered += 1;
        self.counts.entered_bytes += packet.len() as u64;
        self.under_way.insert(tag, packet.to_vec());
        if self.record.is_some() {
            let entry = Entry { at: sim.now(), from: NodeId(from), to: NodeId(to), datagram };
            record::write(&mut self.lines, &entry);
        }
        Some(tag)
    }

    /// Sleeps until the simulation or a device has something to do.
    fn sleep(&self, sim: &mut Sim, now: Time) {
        let next = sim.next_at().unwrap_or(Time::NEVER).min(now + TICK);
        if next <= now {
            return;
        }
        let left = next.since(now).0;
        let timeout = Timespec { tv_sec: 0, tv_nsec: left as i64 };
        let mut devices: Vec<_> = self.nodes.iter().map(|node| PollFd::new(&node.device, PollFlags::IN)).collect();
        devices.extend(self.queues.iter().map(|queue| PollFd::new(queue.descriptor(), PollFlags::IN)));
        // A signal ends the sleep, too.
        let _ = poll(&mut devices, Some(&timeout));
    }

    fn write_record(&mut self) -> io::Result<()> {
        if let Some(record) = &mut self.record {
            record.write_all(self.lines.as_bytes())?;
            self.lines.clear();
        }
        Ok(())
    }

    /// Ends the simulation after all that is due now.
    fn end(&mut self, sim: &mut Sim) -> io::Result<()> {
        let now = sim.now();
        if sim.end().is_none() && !self.complete(sim, &|| now) {
            self.lines += &record::end(sim.now());
            sim.cancel();
        }
        self.write_record()
    }
}

/// Keeps the processors from sleeping, from which they wake late, until the file is closed; `None` where this is not
/// allowed. The kernel takes the number for the latency that is wanted \[us\]
/// (Documentation/power/pm_qos_interface.rst).
fn keep_awake() -> Option<File> {
    let mut file = File::options().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}
