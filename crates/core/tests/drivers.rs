//! Several programs in one run: drivers of external flows, rules, an agent and ordinary TCP, in a defined order.

use crate::external::taken;
use crate::properties::{everything, scenario};
use crate::record::rows;
use chappe_core::packet::{FlowId, NodeId};
use chappe_core::run::external::{Event, Injection};
use chappe_core::run::{Change, Command, RecordedTable, Setup};
use chappe_core::sim::{Halt, Sim};
use chappe_core::tcp::cc::controller::{Controller, Controllers, Decision, View};
use chappe_core::tcp::cc::interface::Signal;
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A program with external flows.
trait Driver {
    /// Sets its first timer.
    fn begin(&mut self, sim: &mut Sim);

    /// Acts on an event of its flows or of its timer.
    fn act(&mut self, sim: &mut Sim, event: &Event);
}

fn send(sim: &mut Sim, flow: u32, tag: u64) {
    let datagram = Injection { bytes: 972, tag, ..Injection::default() };
    sim.inject(FlowId(flow), datagram).unwrap_or_else(|e| panic!("{e}"));
}

/// Asks from node 0 by flow 0 at equal times, and answers from node 3 by flow 1.
struct Asks(Span, u64);

impl Driver for Asks {
    fn begin(&mut self, sim: &mut Sim) {
        sim.wake(NodeId(0), Time::ZERO);
    }

    fn act(&mut self, sim: &mut Sim, event: &Event) {
        match *event {
            Event::Wake { endpoint: NodeId(0) } => {
                self.1 += 1;
                send(sim, 0, self.1);
                sim.wake(NodeId(0), sim.now() + self.0);
            }
            Event::Arrived { flow: FlowId(0), tag, copy: false, .. } => send(sim, 1, tag),
            _ => {}
        }
    }
}

/// Sends from node 1 by flow 2 at equal times.
struct Paces(Span, u64);

impl Driver for Paces {
    fn begin(&mut self, sim: &mut Sim) {
        sim.wake(NodeId(1), Time::ZERO);
    }

    fn act(&mut self, sim: &mut Sim, event: &Event) {
        if let Event::Wake { endpoint: NodeId(1) } = event {
            self.1 += 1;
            send(sim, 2, self.1);
            sim.wake(NodeId(1), sim.now() + self.0);
        }
    }
}

/// Keeps two datagrams of flow 3 in node 2, until it has sent some.
struct Refills(u64, u64);

impl Driver for Refills {
    fn begin(&mut self, sim: &mut Sim) {
        sim.wake(NodeId(2), Time::ZERO);
    }

    fn act(&mut self, sim: &mut Sim, event: &Event) {
        let room = match event {
            Event::Wake { endpoint: NodeId(2) } => 2,
            Event::Left { flow: FlowId(3), .. } => 1,
            _ => 0,
        };
        for _ in 0..room.min(self.1 - self.0) {
            self.0 += 1;
            send(sim, 3, self.0);
        }
    }
}

/// A rule that tells when it was asked.
struct Rule(Arc<Mutex<Vec<(Time, u32)>>>, f64);

impl Rule {
    fn tell(&self, view: &View) {
        self.0.lock().expect("one thread").push((view.now, view.flow.0));
    }
}

impl Controller for Rule {
    fn on_ack(&mut self, view: &View) -> Decision {
        self.tell(view);
        Decision::cwnd((view.window.cwnd + self.1 / view.window.cwnd).min(12.0))
    }

    fn on_congestion(&mut self, view: &View, _: Signal) -> Decision {
        self.tell(view);
        Decision::ssthresh(view.window.cwnd / 2.0)
    }
}

const FLOWS: &str = r#"
    flow = [
        { src = 0, dst = 3, app = "external" }, { src = 3, dst = 0, app = "external" },
        { src = 1, dst = 3, app = "external" }, { src = 2, dst = 0, app = "external" },
        { src = 0, dst = 3, tcp.congestion_control = "my:Slow" }, { src = 3, dst = 0, tcp.congestion_control = "my:Fast" },
        { src = 1, dst = 3, tcp.congestion_control = "external" },
        { src = 2, dst = 0, tcp = { congestion_control = "fixed", loss_recovery = "newreno", fixed.window = 2 } },
        { src = 0, dst = 2 },
    ]
"#;

/// Over radios, and over wires over which a datagram takes 10 ms, so that it often arrives with a timer.
const NETWORKS: [&str; 2] = [
    "extends = \"standard\"\nwlan.data_rate = \"11 Mbit/s\"\ntopology.hops = 3\nrouting.protocol = \"shortest_path\"\nqueue.limit = 20",
    "topology = { kind = \"none\", wired_nodes = 4 }\n\
     wired = { rate = \"80 Mbit/s\", delay = \"9900 us\", queue.limit = 20 }\n\
     wired_link = [{ src = 0, dst = 1 }, { src = 1, dst = 2 }, { src = 2, dst = 3 }]",
];

/// Drawn values of a case: network, times of both timers and of the agent's steps [ms], datagrams of the third driver.
type Case = (usize, [u64; 3], u64, u32);

fn cases() -> impl Strategy<Value = Case> {
    let every = prop::sample::select(vec![20u64, 30, 40, 60]);
    (0..NETWORKS.len(), [every.clone(), every.clone(), every], 0..200u64, any::<u32>())
}

/// Record of a run: events with their times, questions to rules, results; and counts of what occurred, by name.
struct Seen {
    events: Vec<(Time, Event)>,
    asked: Vec<(Time, u32)>,
    results: String,
    had: BTreeMap<&'static str, usize>,
}

/// Does a run whose drivers are created in an order.
fn drive(setup: &Setup, (_, every, most, _): Case, order: &[usize]) -> Result<Seen, TestCaseError> {
    let mut sim = Sim::new(setup);
    let [ask, pace, step] = every.map(Span::ms);
    let create = |which: &usize| -> Box<dyn Driver> {
        match which {
            0 => Box::new(Asks(ask, 0)),
            1 => Box::new(Paces(pace, 0)),
            _ => Box::new(Refills(0, most)),
        }
    };
    let mut drivers: Vec<_> = order.iter().map(create).collect();
    drivers.iter_mut().for_each(|driver| driver.begin(&mut sim));
    let asked = Arc::new(Mutex::new(vec![]));
    let told = asked.clone();
    let rules = Controllers::new(move |_, name: &str| Rule(told.clone(), if name == "my:Slow" { 0.5 } else { 2.0 }));
    let (mut events, mut had, mut at) = (vec![], BTreeMap::new(), Time::ZERO + step);
    let mut note = |what, n: bool| *had.entry(what).or_default() += usize::from(n);
    let end = loop {
        match rules.drive(|| sim.until(at)) {
            Halt::End(end) => break end,
            Halt::Events => {
                let (now, new) = (sim.now(), taken(&mut sim));
                // Timers last, in the order of their nodes, each node once.
                let is_wake = |e: &Event| matches!(e, Event::Wake { .. });
                let first = new.iter().position(is_wake).unwrap_or(new.len());
                let wakes: Vec<_> = new[first..].iter().map(Event::endpoint).collect();
                prop_assert!(new[first..].iter().all(is_wake) && wakes.is_sorted_by(|a, b| a < b), "{new:?}");
                note("timers of several nodes", wakes.len() > 1);
                note("timers behind what has happened", !wakes.is_empty() && first > 0);
                note(
                    "what has happened at several nodes",
                    new[..first].iter().any(|e| e.endpoint() != new[0].endpoint()),
                );
                note("events at the time of a step", now == at);
                for event in new {
                    events.push((now, event));
                    rules.drive(|| drivers.iter_mut().for_each(|driver| driver.act(&mut sim, &event)));
                }
            }
            Halt::Reached => {
                // Whoever acts between two advances comes after all events of the instant.
                prop_assert_eq!((sim.now(), taken(&mut sim).len(), sim.until(at)), (at, 0, Halt::Reached));
                let n = at.0 / step.0;
                rules.drive(|| {
                    assert!(sim.decide(FlowId(6), &Decision::cwnd(1.0 + (n % 7) as f64)));
                    sim.apply(&Command::Set(Change::FixedWindow(FlowId(7), 1 + (n % 5) as u32)));
                });
                at += step;
            }
        }
    };
    prop_assert_eq!(end, chappe_core::run::End::Done);
    let asked = asked.lock().expect("one thread").clone();
    prop_assert!(asked.is_sorted_by_key(|a| a.0));
    let of = |flow| asked.iter().filter(|a| a.1 == flow).count();
    had.extend([("questions to the first rule", of(4)), ("questions to the second rule", of(5))]);
    // Events are in the order in which the table of packets has them.
    let recorded: Vec<_> = sim.tables().map(|(_, kept)| rows(kept)).collect();
    let delivered = recorded[0].iter().filter(|row| row["event"] == "delivered");
    let of_table: Vec<_> = delivered.map(|row| row["flow"].int()).filter(|flow| *flow < 4).collect();
    let arrived = events.iter().filter_map(|(_, e)| match e {
        Event::Arrived { flow, .. } => Some(u64::from(flow.0)),
        _ => None,
    });
    prop_assert!(of_table == arrived.collect::<Vec<_>>());
    let flows = sim.recorder().flows();
    let delivered = flows.counts("packets_delivered").expect("a column");
    had.extend(
        ["external", "of rules", "of the agent", "ordinary"]
            .into_iter()
            .zip([0..4, 4..6, 6..8, 8..9])
            .map(|(what, flows)| (what, delivered[flows].iter().sum::<u64>() as usize)),
    );
    Ok(Seen { events, asked, results: everything(sim.recorder()), had })
}

/// The order in which drivers are created changes nothing: not an event, a question, or a number.
#[test]
fn drivers_act_in_the_order_of_their_events() {
    let had: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let orders = Just(vec![0, 1, 2]).prop_shuffle();
    let both = |(case, order): (Case, Vec<usize>)| {
        let text =
            format!("{}\nrun = {{ stop = \"2 s\", batches = 1, warmup_batches = 0 }}\n{FLOWS}", NETWORKS[case.0]);
        let mut setup = scenario(&text).setup(Some(case.3.into()));
        setup.record = vec![RecordedTable::Packets];
        let [first, other] = [&[0, 1, 2], &order[..]].map(|order| drive(&setup, case, order));
        let (first, other) = (first?, other?);
        prop_assert!(first.events == other.events && first.asked == other.asked);
        prop_assert!(first.results == other.results);
        first.had.into_iter().for_each(|(what, n)| *had.borrow_mut().entry(what).or_default() += n);
        *had.borrow_mut().entry("another order").or_default() += usize::from(order != [0, 1, 2]);
        Ok(())
    };
    let config = ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&(cases(), orders), both).unwrap_or_else(|e| panic!("{e}"));
    let had = had.into_inner();
    assert!(had.len() == 11 && had.values().all(|n| *n >= 5), "{had:#?}");
}
