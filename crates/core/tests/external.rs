//! External flows: what a driver sends, what it is told, and in which order.

use crate::properties::{everything, scenario};
use crate::record::rows;
use chappe_core::packet::{Ecn, FlowId, NodeId, Reason};
use chappe_core::run::external::{Event, Injection, MOST_UNDER_WAY, Refused};
use chappe_core::run::{Command, End, RecordedTable};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};

#[path = "../../scenario/examples/external.rs"]
#[allow(dead_code, reason = "its main function is that of a program")]
mod example;

#[test]
fn the_example_asks_and_answers() {
    let report = example::report().expect("it runs");
    let numbers: Vec<f64> = report.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [answers, requests, mean_ms] = numbers[..] else { panic!("{report}") };
    // 100 B and 1000 B, each over three hops at 2 Mbit/s, take 13 ms at least.
    assert!((400.0..=requests).contains(&answers) && (13.0..30.0).contains(&mean_ms), "{report}");
}

/// Two wired nodes with a flow in each direction; 1000 B with the header take 1 ms, the delay is 10 ms.
const WIRE: &str = r#"
    run = { stop = "1 s", batches = 1, warmup_batches = 0 }
    topology = { kind = "none", wired_nodes = 2 }
    wired_link = [{ src = 0, dst = 1, rate = "8 Mbit/s", delay = "10 ms", queue = { discipline = "droptail", limit = 2 } }]
    flow = [{ src = 0, dst = 1, app = "external" }, { src = 1, dst = 0, app = "external" }]
"#;

fn sim(text: &str) -> Sim {
    Sim::new(&scenario(text).setup(None))
}

fn ms(at: u64) -> Time {
    Time::ZERO + Span::ms(at)
}

fn datagram(tag: u64) -> Injection {
    Injection { bytes: 972, tag, ..Injection::default() }
}

fn send(sim: &mut Sim, flow: u32, tag: u64) {
    sim.inject(FlowId(flow), datagram(tag)).unwrap_or_else(|e| panic!("{e}"));
}

pub fn taken(sim: &mut Sim) -> Vec<Event> {
    sim.events().collect()
}

/// All events up to the end, with their times, without answers.
fn told(sim: &mut Sim) -> Vec<(Time, Event)> {
    let mut all = vec![];
    while sim.until(Time::NEVER) == Halt::Events {
        let now = sim.now();
        all.extend(sim.events().map(|event| (now, event)));
    }
    all
}

/// The word and the tag of an event.
fn word(event: &Event) -> (&'static str, u64) {
    match *event {
        Event::Arrived { tag, .. } => ("arrived", tag),
        Event::Left { tag, .. } => ("left", tag),
        Event::Lost { tag, .. } => ("lost", tag),
        Event::Wake { endpoint } => ("wake", endpoint.0.into()),
    }
}

#[test]
fn a_datagram_leaves_and_arrives() {
    let mut sim = sim(WIRE);
    sim.inject(FlowId(0), Injection { ecn: Ecn::Ect, ..datagram(7) }).expect("it is accepted at 0 s");
    let left = Event::Left { flow: FlowId(0), endpoint: NodeId(0), tag: 7 };
    assert_eq!((sim.until(Time::NEVER), sim.now(), taken(&mut sim)), (Halt::Events, Time::ZERO, vec![left]));
    let arrived = Event::Arrived {
        flow: FlowId(0),
        endpoint: NodeId(1),
        tag: 7,
        sent: Time::ZERO,
        ecn: Ecn::Ect,
        hops: 0,
        copy: false,
    };
    assert_eq!((sim.until(Time::NEVER), sim.now(), taken(&mut sim)), (Halt::Events, ms(11), vec![arrived]));
    assert_eq!(sim.until(ms(50)), Halt::Reached);
    assert_eq!(sim.until(Time::NEVER), Halt::End(End::Done));
}

#[test]
fn events_of_an_instant_come_in_their_order_and_commands_after_them() {
    let mut sim = sim(WIRE);
    // The queue has room for two behind the one that is transmitted.
    (0..5).for_each(|tag| send(&mut sim, 0, tag));
    send(&mut sim, 1, 9);
    sim.wake(NodeId(1), ms(11));
    sim.wake(NodeId(0), ms(11));
    let mut halts = vec![];
    while sim.until(Time::NEVER) == Halt::Events {
        let events = taken(&mut sim);
        halts.push((sim.now(), events.iter().map(word).collect::<Vec<_>>()));
        if sim.now() == ms(11) && events.iter().any(|e| word(e).0 == "wake") {
            send(&mut sim, 0, 20);
            assert_eq!(sim.now(), ms(11));
        }
    }
    let expected = [
        // Datagrams 3 and 4 find the queue full, and leave their node by that.
        (0, vec![("left", 0), ("left", 3), ("lost", 3), ("left", 4), ("lost", 4), ("left", 9)]),
        (1, vec![("left", 1)]),
        (2, vec![("left", 2)]),
        // In the order of the links; the timers follow, in the order of the nodes.
        (11, vec![("arrived", 0), ("arrived", 9), ("wake", 0), ("wake", 1)]),
        (11, vec![("left", 20)]),
        (12, vec![("arrived", 1)]),
        (13, vec![("arrived", 2)]),
        (22, vec![("arrived", 20)]),
    ];
    assert_eq!(halts, expected.map(|(at, events)| (ms(at), events)));
}

#[test]
fn the_run_waits_until_events_are_taken() {
    let mut sim = sim(WIRE);
    send(&mut sim, 0, 1);
    for _ in 0..3 {
        assert_eq!((sim.until(ms(500)), sim.now()), (Halt::Events, Time::ZERO));
    }
    assert_eq!(taken(&mut sim).len(), 1);
    assert_eq!((sim.until(ms(500)), sim.now()), (Halt::Events, ms(11)));
    // Whoever only advances discards them.
    assert_eq!(sim.run(), End::Done);
    assert_eq!(sim.recorder().flows().counts("packets_delivered").expect("a column"), [1, 0]);
}

#[test]
fn an_endpoint_has_one_timer() {
    let mut sim = sim(WIRE);
    sim.wake(NodeId(0), ms(5));
    sim.wake(NodeId(0), ms(3));
    sim.wake(NodeId(1), ms(4));
    sim.wake(NodeId(1), Time::NEVER);
    let wake = Event::Wake { endpoint: NodeId(0) };
    assert_eq!((sim.until(ms(3)), sim.now(), taken(&mut sim)), (Halt::Events, ms(3), vec![wake]));
    assert_eq!(sim.until(ms(3)), Halt::Reached);
    assert_eq!(sim.until(ms(10)), Halt::Reached);
    // One that has passed expires at once.
    sim.wake(NodeId(0), ms(1));
    assert_eq!((sim.until(ms(20)), sim.now(), taken(&mut sim)), (Halt::Events, ms(10), vec![wake]));
    assert_eq!(sim.until(ms(20)), Halt::Reached);
}

#[test]
fn a_timer_wakes_a_run_that_waits_for_deliveries() {
    let text = WIRE.replace("stop = \"1 s\"", "stop = \"2 delivered\", time_limit = \"1 s\"");
    let mut sim = sim(&text);
    send(&mut sim, 0, 0);
    let mut woken = 0;
    sim.wake(NodeId(0), ms(100));
    let end = loop {
        match sim.until(Time::NEVER) {
            Halt::Events => {
                for event in taken(&mut sim) {
                    if let Event::Wake { endpoint } = event {
                        woken += 1;
                        if woken == 3 {
                            send(&mut sim, 0, 1);
                        } else {
                            let at = sim.now() + Span::ms(100);
                            sim.wake(endpoint, at);
                        }
                    }
                }
            }
            Halt::End(end) => break end,
            Halt::Reached => unreachable!("the run has no horizon"),
        }
    };
    assert_eq!((end, woken, sim.now()), (End::Done, 3, ms(311)));
    // Without a timer and without packets nothing can happen any more.
    let mut idle = self::sim(&text);
    assert_eq!(idle.until(ms(200)), Halt::Reached);
    assert_eq!((idle.until(ms(300)), idle.now()), (Halt::Reached, ms(300)));
    assert_eq!(idle.until(Time::NEVER), Halt::End(End::Idle));
}

#[test]
fn a_datagram_may_be_refused() {
    let mut sim = sim(&WIRE.replace("dst = 0, app = \"external\"", "dst = 0"));
    let mut refused = |flow, datagram| sim.inject(FlowId(flow), datagram).expect_err("it is refused");
    let cases = [
        (refused(1, datagram(0)), "there is no flow 1 with the application `external`"),
        (refused(2, datagram(0)), "there is no flow 2 with the application `external`"),
        (
            refused(0, Injection { bytes: 1473, ..datagram(0) }),
            "a datagram of 1473 + 28 B is larger than `net.mtu`; at most 1472 B fit",
        ),
        (refused(0, Injection { dscp: Some(64), ..datagram(0) }), "64 is no codepoint; the largest is 63"),
    ];
    for (refused, text) in cases {
        assert_eq!(refused.to_string(), text);
    }
    sim.inject(FlowId(0), Injection { bytes: 1472, ..datagram(0) }).expect("the largest");
    sim.apply(&Command::NodeDown(NodeId(0)));
    let lost = |e: &Event| matches!(e, Event::Lost { node: NodeId(0), reason: Some(Reason::NodeOff), .. });
    assert_eq!(taken(&mut sim).iter().filter(|e| lost(e)).count(), 1, "it was being transmitted");
    let refusal = sim.inject(FlowId(0), datagram(1)).expect_err("the node is off");
    assert_eq!((refusal, refusal.to_string()), (Refused::NodeOff(NodeId(0)), "node 0 is off".to_owned()));
    sim.apply(&Command::NodeUp(NodeId(0)));
    sim.inject(FlowId(0), datagram(1)).expect("the node is on again");
    sim.cancel();
    let refusal = sim.inject(FlowId(0), datagram(2)).expect_err("the run is over");
    assert_eq!(refusal.to_string(), "the run is over");
    assert_eq!(sim.recorder().flows().counts("packets_sent").expect("a column")[0], 2);
}

#[test]
fn few_datagrams_are_under_way() {
    let mut sim = sim(&WIRE.replace("limit = 2", "limit = 100000"));
    (0..u64::from(MOST_UNDER_WAY)).for_each(|tag| send(&mut sim, 0, tag));
    let refusal = sim.inject(FlowId(0), datagram(0)).expect_err("there are too many");
    let text = "flow 0 has sent 65472 datagrams since one that is still under way; wait until it ends";
    assert_eq!((refusal, refusal.to_string().as_str()), (Refused::TooMany(FlowId(0)), text));
    while sim.until(ms(11)) == Halt::Events {
        taken(&mut sim);
    }
    sim.inject(FlowId(0), datagram(0)).expect("the first has arrived");
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut sim = sim(WIRE);
    send(&mut sim, 0, 0);
    send(&mut sim, 0, 1);
    taken(&mut sim);
    assert_eq!(sim.until(ms(1)), Halt::Events);
    let mut other = sim.clone();
    assert_eq!(taken(&mut sim), taken(&mut other), "events that wait are cloned, too");
    send(&mut other, 1, 5);
    let [one, two] = [&mut sim, &mut other].map(told);
    assert_eq!(one.iter().map(|(_, e)| word(e)).collect::<Vec<_>>(), [("arrived", 0), ("arrived", 1)]);
    let words = [("left", 5), ("arrived", 0), ("arrived", 1), ("arrived", 5)];
    assert_eq!(two.iter().map(|(_, e)| word(e)).collect::<Vec<_>>(), words);
}

/// Two drivers send in turn, each after the datagram of the other, or again if theirs is lost; a third has a timer. The
/// order of the events determines who acts first.
#[test]
fn several_drivers_act_in_a_defined_order() {
    let text = r#"
        extends = "standard"
        run = { stop = "3 s", batches = 1, warmup_batches = 0 }
        topology.hops = 3
        flow = [{ src = 0, dst = 3, app = "external" }, { src = 3, dst = 0, app = "external" },
                { src = 1, dst = 2, app = "external" }]
    "#;
    let run = || {
        let mut sim = sim(text);
        let (mut acts, mut tag) = (vec![], 0);
        let mut act = |sim: &mut Sim, at: NodeId, flow| {
            tag += 1;
            acts.push((sim.now(), at, tag));
            send(sim, flow, tag);
        };
        act(&mut sim, NodeId(0), 0);
        sim.wake(NodeId(1), ms(1));
        while sim.until(Time::NEVER) == Halt::Events {
            for event in taken(&mut sim) {
                match (event, event.endpoint()) {
                    (Event::Arrived { .. } | Event::Lost { .. }, NodeId(3)) => act(&mut sim, NodeId(3), 1),
                    (Event::Arrived { .. } | Event::Lost { .. }, NodeId(0)) => act(&mut sim, NodeId(0), 0),
                    (Event::Wake { endpoint }, NodeId(1)) => {
                        act(&mut sim, endpoint, 2);
                        let at = sim.now() + Span::ms(10);
                        sim.wake(endpoint, at);
                    }
                    _ => {}
                }
            }
        }
        (acts, everything(sim.recorder()))
    };
    let (acts, results) = run();
    assert_eq!(run(), (acts.clone(), results));
    for node in [0, 1, 3] {
        assert!(acts.iter().filter(|a| a.1 == NodeId(node)).count() > 30, "{node}: {}", acts.len());
    }
}

/// A driver that does what a `cbr` flow does has its results.
#[test]
fn a_driver_that_sends_as_cbr_has_its_results() {
    let text = |app: &str| {
        format!(
            r#"
            extends = "standard"
            run = {{ stop = "9 s", batches = 1, warmup_batches = 0, record = ["packets", "frames", "queue"] }}
            topology.hops = 4
            routing.protocol = "aodv"
            wlan.error = {{ model = "uniform", rate = 0.05 }}
            cbr = {{ interval = "30001 us", payload = "700 B" }}
            flow = [{{ src = 0, dst = 4, {app} }}, {{ src = 3, dst = 0, start = "50 ms" }}]
            "#
        )
    };
    let mut cbr = sim(&text("app = \"cbr\", start = \"30001 us\""));
    cbr.run();
    let mut driven = sim(&text("app = \"external\""));
    driven.wake(NodeId(0), Time::ZERO + Span::us(30_001));
    let (mut tags, mut arrived, mut copies, mut delay, mut hops) = (0, 0, 0, 0.0, 0);
    while driven.until(Time::NEVER) == Halt::Events {
        for event in taken(&mut driven) {
            match event {
                Event::Wake { endpoint } => {
                    driven.inject(FlowId(0), Injection { bytes: 700, tag: tags, ..Injection::default() }).expect("all");
                    tags += 1;
                    let at = driven.now() + Span::us(30_001);
                    driven.wake(endpoint, at);
                }
                Event::Arrived { sent, copy, hops: n, .. } => {
                    arrived += u32::from(!copy);
                    copies += u32::from(copy);
                    hops += u32::from(n);
                    delay += if copy { 0.0 } else { driven.now().since(sent).as_secs() };
                }
                _ => {}
            }
        }
    }
    let both = [&mut cbr, &mut driven].map(|sim| {
        let recorded: Vec<_> = sim.tables().map(|(table, kept)| (table, format!("{:?}", rows(kept)))).collect();
        (everything(sim.recorder()).replace("external", "cbr"), recorded)
    });
    assert!(both[0] == both[1]);
    // What the driver was told is what the tables say.
    let flows = driven.recorder().flows();
    let number = |name: &str| flows.numbers(name).expect("a column")[0];
    assert_eq!([number("packets_delivered"), number("duplicates_received")], [f64::from(arrived), f64::from(copies)]);
    assert!(arrived > 100, "{arrived} {copies} {tags} {}", number("mean_hops"));
    assert!((number("mean_hops") - f64::from(hops) / f64::from(arrived + copies)).abs() < 1e-9);
    assert!((number("mean_delay_s") - delay / f64::from(arrived)).abs() < 1e-9);
}

/// Datagrams of different sizes count with their payload.
#[test]
fn goodput_counts_what_was_sent() {
    let mut sim = sim(&WIRE.replace("limit = 2", "limit = 50"));
    for bytes in [0, 1, 700, 1472] {
        sim.inject(FlowId(0), Injection { bytes, ..Injection::default() }).expect("accepted");
    }
    assert_eq!(sim.run(), End::Done);
    let flows = sim.recorder().flows();
    assert_eq!(flows.counts("bytes_delivered").expect("a column"), [2173, 0]);
    assert_eq!(flows.numbers("goodput_bps").expect("a column"), [2173.0 * 8.0, 0.0]);
    assert_eq!(flows.numbers("throughput_bps").expect("a column"), [(2173.0 + 4.0 * 28.0) * 8.0, 0.0]);
    assert_eq!(flows.counts("packets_sent").expect("a column"), [4, 0]);
    // A driver might send more: a flow is never complete, and one that has sent nothing has not begun.
    assert!(flows.numbers("completion_time_s").expect("a column").iter().all(|s| s.is_nan()));
    let started = flows.numbers("started_at_s").expect("a column");
    assert!(started[0] == 0.0 && started[1].is_nan(), "{started:?}");
}

/// A codepoint of its own takes a datagram past others of its flow.
#[test]
fn a_datagram_may_have_its_own_codepoint() {
    let text = r#"
        extends = "802.11n"
        run = { stop = "1 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 1, spacing = "5 m" }
        routing.protocol = "shortest_path"
        queue.limit = 1000
        flow = [{ src = 0, dst = 1, app = "external" }]
    "#;
    let first_of_voice = |dscp| {
        let mut sim = sim(text);
        for tag in 0..200 {
            sim.inject(FlowId(0), Injection { bytes: 1000, tag, ..Injection::default() }).expect("accepted");
        }
        sim.inject(FlowId(0), Injection { bytes: 100, tag: 1000, dscp, ..Injection::default() }).expect("accepted");
        let all = told(&mut sim);
        let arrived = all.iter().filter(|(_, e)| word(e).0 == "arrived");
        arrived.map(|(_, e)| word(e).1).position(|tag| tag == 1000).expect("it has arrived")
    };
    assert_eq!(first_of_voice(None), 200);
    assert!(first_of_voice(Some(46)) < 100);
}

/// Observers see the same packets as without a driver that halts: every tag ends in the table as it ends for the driver.
#[test]
fn recorded_packets_agree_with_events() {
    let mut setup = scenario(WIRE).setup(None);
    setup.record = vec![RecordedTable::Packets];
    let mut sim = Sim::new(&setup);
    (0..5).for_each(|tag| send(&mut sim, 0, tag));
    let events = told(&mut sim);
    let recorded: Vec<_> = sim.tables().map(|(_, kept)| rows(kept)).collect();
    let ends = |word| recorded[0].iter().filter(|row| row["event"] == word).count();
    let count = |of: &str| events.iter().filter(|(_, e)| word(e).0 == of).count();
    assert_eq!((ends("delivered"), ends("dropped")), (3, 2));
    assert_eq!((count("arrived"), count("lost")), (3, 2));
}
