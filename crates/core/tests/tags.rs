//! Each tag of an external flow ends once, whatever happens to its datagram.

use crate::external::taken;
use crate::observers::all_kinds;
use crate::properties::scenario;
use chappe_core::packet::{FlowId, NodeId, Reason};
use chappe_core::run::external::{Event, Injection, Refused};
use chappe_core::run::{End, Setup};
use chappe_core::sim::{Halt, Sim};
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Ends of each tag: copies arrived, and losses.
#[derive(Default)]
struct Fate {
    sent: Time,
    left: u32,
    first: u32,
    further: u32,
    lost: u32,
    reason: Option<Reason>,
    hops: u8,
}

/// Fates of datagrams, as told to a driver.
struct Told {
    fates: BTreeMap<(u32, u64), Fate>,
    /// Datagrams that were refused because their source was off.
    refused: usize,
}

/// Makes all flows of a scenario external that are over UDP.
fn external(text: &str) -> String {
    text.replace("app = \"cbr\"", "app = \"external\"")
}

/// Drives all external flows of a run with datagrams of `bytes`, `burst` at a time, and checks what it is told.
fn drive(setup: &Setup, bytes: u32, burst: u64, every: Span) -> Result<Told, TestCaseError> {
    let flows: Vec<(u32, NodeId, NodeId)> =
        setup.flows.iter().zip(0..).filter(|(f, _)| f.app.is_external()).map(|(f, i)| (i, f.from, f.to)).collect();
    let mut sim = Sim::new(setup);
    let (mut fates, mut last): (BTreeMap<(u32, u64), Fate>, _) = (BTreeMap::new(), Time::ZERO);
    flows.iter().for_each(|f| sim.wake(f.1, Time::ZERO));
    let (mut tag, mut refusals) = (0, 0);
    while sim.until(Time::NEVER) == Halt::Events {
        prop_assert!(sim.now() >= last);
        last = sim.now();
        for event in taken(&mut sim) {
            match event {
                Event::Wake { endpoint } => {
                    for &(flow, ..) in flows.iter().filter(|f| f.1 == endpoint) {
                        for _ in 0..burst {
                            tag += 1;
                            let datagram = Injection { bytes, tag, ..Injection::default() };
                            match sim.inject(FlowId(flow), datagram) {
                                Ok(()) => _ = fates.insert((flow, tag), Fate { sent: sim.now(), ..Fate::default() }),
                                Err(refused) => {
                                    prop_assert_eq!(refused, Refused::NodeOff(endpoint));
                                    refusals += 1;
                                }
                            }
                        }
                    }
                    let at = sim.now() + every;
                    sim.wake(endpoint, at);
                }
                Event::Arrived { flow, tag, sent, copy, endpoint, hops, .. } => {
                    let fate = fates.get_mut(&(flow.0, tag)).expect("it was sent");
                    prop_assert_eq!((fate.sent, fate.lost, copy), (sent, 0, fate.first > 0));
                    prop_assert_eq!(endpoint, setup.flows[flow.index()].to);
                    fate.hops = hops;
                    if copy { fate.further += 1 } else { fate.first += 1 }
                }
                Event::Left { flow, tag, .. } => fates.get_mut(&(flow.0, tag)).expect("it was sent").left += 1,
                Event::Lost { flow, tag, reason, .. } => {
                    let fate = fates.get_mut(&(flow.0, tag)).expect("it was sent");
                    prop_assert_eq!((fate.first, fate.left), (0, 1));
                    fate.lost += 1;
                    fate.reason = reason;
                }
            }
        }
    }
    let Some(end) = sim.end() else { return Err(TestCaseError::fail("the run has ended")) };
    prop_assert!(end != End::Canceled);
    // Whoever has not ended is still inside.
    let open = fates.values().filter(|f| f.first + f.lost == 0).count() as u64;
    prop_assert!(open <= sim.pool().live(), "{open} have no end, {} are inside", sim.pool().live());
    for (tag, fate) in &fates {
        prop_assert!(fate.first + fate.lost <= 1 && fate.left <= 1, "{tag:?} ends twice");
    }
    // The tables count the same.
    let table = sim.recorder().flows();
    for &(flow, ..) in &flows {
        let of = || fates.iter().filter(|f| f.0.0 == flow).map(|f| f.1);
        let counts = ["packets_sent", "packets_delivered", "duplicates_received"]
            .map(|name| table.counts(name).expect("a column")[flow as usize]);
        let sums =
            [of().count() as u64, of().map(|f| u64::from(f.first)).sum(), of().map(|f| u64::from(f.further)).sum()];
        prop_assert_eq!(counts, sums);
    }
    Ok(Told { fates, refused: refusals })
}

/// The whole run is measured.
fn measured(text: &str, seed: u32) -> Setup {
    Setup { batches: 1, discard: 0, ..scenario(text).setup(Some(seed.into())) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Over all routing protocols, with motion, nodes that are switched off, full queues and route buffers.
    #[test]
    fn every_tag_ends_once(
        text in all_kinds(),
        seed in any::<u32>(),
        bytes in 0..1473u32,
        burst in prop::sample::select(vec![1, 3, 90]),
        every in 3..200u64,
    ) {
        let setup = measured(&external(&text), seed);
        drive(&setup, bytes, burst, Span::ms(every))?;
    }

    /// Over aggregates with block acknowledgement, reordering buffers, and queues of mac80211.
    #[test]
    fn every_tag_of_an_aggregate_ends_once(
        preset in prop::sample::select(vec!["802.11n", "802.11ac", "linux-mesh"]),
        protocol in prop::sample::select(vec!["aodv", "shortest_path"]),
        (hops, off) in (1..4u32, 0..900u32),
        rate in prop::sample::select(vec!["0", "0.1", "0.5"]),
        seed in any::<u32>(),
        bytes in 0..1473u32,
        burst in prop::sample::select(vec![1, 40, 300]),
        every in 3..40u64,
    ) {
        let text = format!(
            r#"
            extends = "{preset}"
            run.stop = "500 ms"
            topology = {{ hops = {hops}, spacing = "10 m" }}
            routing.protocol = "{protocol}"
            wlan.error = {{ model = "uniform", rate = {rate} }}
            flow = [{{ src = 0, dst = {hops}, app = "external" }}, {{ src = {hops}, dst = 0, app = "external" }},
                    {{ src = 0, dst = {hops}, app = "external", dscp = 46 }}, {{ src = 0, dst = {hops} }}]
            event = [{{ at = "{off} ms", action = "node_down", node = {hops} }},
                     {{ at = "{on} ms", action = "node_up", node = {hops} }}]
            "#,
            on = off + 20,
        );
        drive(&measured(&text, seed), bytes, burst, Span::ms(every))?;
    }
}

/// Feature that a scenario adds to AODV, and its effect on the datagrams of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trial {
    Duplicates,
    NodesOff,
    Batteries,
    Motion,
}

/// Trials of a case: one alone, or as many as there are, so that each meets every other.
fn trials() -> impl Strategy<Value = BTreeSet<Trial>> {
    let all = vec![Trial::Duplicates, Trial::NodesOff, Trial::Batteries, Trial::Motion];
    prop_oneof![prop::sample::subsequence(all.clone(), 1), prop::sample::subsequence(all, 0..=4)]
        .prop_map(|chosen| chosen.into_iter().collect())
}

/// A network of five nodes with these trials, and two external flows beside a transfer.
fn tried(trials: &BTreeSet<Trial>, off_ms: u32, seed: u32) -> Setup {
    let with = |trial, text: &str| if trials.contains(&trial) { text.to_owned() } else { String::new() };
    let text = format!(
        r#"
        extends = "standard"
        run = {{ stop = "8 s" }}
        topology = {{ kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["400 m", "0 m"], ["200 m", "150 m"], ["600 m", "0 m"]] }}
        routing.protocol = "aodv"
        queue.limit = 10
        flow = [{{ src = 0, dst = 4, app = "external" }}, {{ src = 4, dst = 1, app = "external" }}, {{ src = 2, dst = 0 }}]
        {duplicates}
        {batteries}
        {motion}
        event = [{off}]
        "#,
        // An ACK that is lost makes a copy, or a route failure.
        duplicates = with(
            Trial::Duplicates,
            "wlan = { short_retry_limit = 4, long_retry_limit = 2, error = { model = \"uniform\", rate = 0.15 } }"
        ),
        batteries = with(Trial::Batteries, "radio.energy.battery = \"5 J\""),
        motion = with(
            Trial::Motion,
            "mobility = { model = \"random_waypoint\", width = \"900 m\", height = \"300 m\", initial = \"topology\", min_speed = \"20 m/s\", max_speed = \"60 m/s\" }"
        ),
        off = with(
            Trial::NodesOff,
            &[(0, 1), (1, 2), (2, 4)]
                .map(|(n, node)| {
                    let at = off_ms + 900 * n;
                    format!(
                        "{{ at = \"{at} ms\", action = \"node_down\", node = {node} }}, \
                         {{ at = \"{} ms\", action = \"node_up\", node = {node} }}",
                        at + 700
                    )
                })
                .join(", ")
        ),
    );
    measured(&text, seed)
}

/// With AODV, duplicates, nodes that are switched off, batteries and motion, alone and together. What each has done is
/// counted over all cases: none of them is there without an effect.
#[test]
fn every_tag_ends_once_whatever_is_tried() {
    let counts: RefCell<BTreeMap<&str, usize>> = RefCell::default();
    let cases = (trials(), 0..1500u32, any::<u32>(), 0..1400u32, 1..6u64, 8..60u64);
    let case = |(trials, off_ms, seed, bytes, burst, every): (BTreeSet<Trial>, u32, u32, u32, u64, u64)| {
        let Told { fates, refused } = drive(&tried(&trials, off_ms, seed), bytes, burst, Span::ms(every))?;
        let lost = |reason| fates.values().filter(|f| f.reason == Some(reason)).count();
        let only = |trial| trials == BTreeSet::from([trial]);
        let mut counts = counts.borrow_mut();
        let mut count = |what, n| *counts.entry(what).or_default() += n;
        count("arrived", fates.values().filter(|f| f.first == 1).count());
        count("no route", lost(Reason::NoRoute) + lost(Reason::RouteTimeout) + lost(Reason::RouteFailure));
        count("retry limit", lost(Reason::RetryLimit));
        count("queue full", lost(Reason::QueueFull));
        if trials.contains(&Trial::Duplicates) {
            count("came again", fates.values().filter(|f| f.further > 0).count());
        }
        if only(Trial::NodesOff) {
            count("lost in a node that was switched off", lost(Reason::NodeOff));
            count("refused by a node that was switched off", refused);
        }
        if only(Trial::Batteries) {
            count("lost in a node with an empty battery", lost(Reason::NodeOff));
            count("refused by a node with an empty battery", refused);
        }
        if only(Trial::Motion) {
            let arrived = fates.iter().filter(|f| f.1.first == 1);
            let paths: BTreeSet<_> = arrived.map(|(of, fate)| (of.0, fate.hops)).collect();
            let flows: BTreeSet<_> = paths.iter().map(|path| path.0).collect();
            count("paths of other lengths", paths.len() - flows.len());
        }
        count("all four together", usize::from(trials.len() == 4));
        Ok(())
    };
    let config = ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&cases, case).unwrap_or_else(|e| panic!("{e}"));
    let counts = counts.into_inner();
    assert!(counts.len() == 11 && counts.values().all(|n| *n >= 5), "{counts:#?}");
}
