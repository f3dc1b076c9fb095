//! Congestion control of the program that drives a run: copies of rules of Chappe give their results, to the byte.

use crate::properties::{everything, scenario};
use chappe_core::packet::FlowId;
use chappe_core::sim::Sim;
use chappe_core::tcp::cc::controller::{Controller, Controllers, Decision, View};
use chappe_core::tcp::cc::interface::Signal;
use chappe_core::unit::{Span, Time};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

#[path = "../../scenario/examples/controller.rs"]
#[allow(dead_code, reason = "its main function is that of a program")]
mod example;

#[test]
fn the_example_keeps_its_delay() {
    let report = example::report().expect("it runs");
    let numbers: Vec<f64> = report.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [own_mbps, own_ms, reno_mbps, reno_ms] = numbers[..] else { panic!("{report}") };
    assert!(own_ms < 75.0 && own_ms < 0.8 * reno_ms && own_mbps > 0.8 * reno_mbps, "{report}");
}

/// Reno (RFC 5681), one step per acknowledgement.
#[derive(Clone, Copy, Debug)]
struct RenoCopy;

impl Controller for RenoCopy {
    fn on_ack(&mut self, view: &View) -> Decision {
        let cwnd = view.window.cwnd;
        let step = if cwnd < view.window.ssthresh { 1.0 } else { 1.0 / cwnd };
        if view.used { Decision::cwnd(cwnd + step) } else { Decision::KEEP }
    }

    fn on_congestion(&mut self, view: &View, signal: Signal) -> Decision {
        let half = f64::from(view.in_flight) / 2.0;
        let cwnd = (signal == Signal::Ecn).then(|| half.min(view.window.cwnd));
        Decision { cwnd, ..Decision::ssthresh(half.max(2.0)) }
    }
}

/// Reno in whole segments, as in Linux.
#[derive(Clone, Copy, Debug, Default)]
struct LinuxReno {
    credit: u32,
}

impl Controller for LinuxReno {
    fn on_ack(&mut self, view: &View) -> Decision {
        let (mut cwnd, ssthresh) = (view.window.cwnd as u32, view.window.ssthresh as u32);
        let mut acked = if view.used { view.acked } else { 0 };
        if cwnd < ssthresh {
            let grown = (cwnd + acked).min(ssthresh);
            acked -= grown - cwnd;
            cwnd = grown;
        }
        if acked > 0 {
            if self.credit >= cwnd {
                self.credit = 0;
                cwnd += 1;
            }
            self.credit += acked;
            let per = view.window.cwnd.max(f64::from(cwnd.min(ssthresh))) as u32;
            let steps = self.credit / per;
            self.credit -= steps * per;
            cwnd += steps;
        }
        Decision::cwnd(f64::from(cwnd))
    }

    fn on_congestion(&mut self, view: &View, _: Signal) -> Decision {
        self.credit = 0;
        Decision::ssthresh(f64::from((view.window.cwnd as u32 / 2).max(2)))
    }
}

/// A constant window.
#[derive(Clone, Copy, Debug)]
struct Constant(f64);

impl Controller for Constant {
    fn on_ack(&mut self, _: &View) -> Decision {
        Decision::cwnd(self.0)
    }

    fn on_congestion(&mut self, _: &View, _: Signal) -> Decision {
        Decision { cwnd: Some(self.0), ..Decision::ssthresh(self.0) }
    }
}

/// All results of a run, with `name` for the pair of rule and recovery.
fn results<R: Controller + Send + Clone + 'static>(text: &str, rule: R, names: (&str, &str)) -> String {
    let mut sim = Sim::new(&scenario(text).setup(None));
    Controllers::new(move |_, _| rule.clone()).drive(|| sim.run());
    everything(sim.recorder()).replace(names.0, names.1)
}

/// Two flows over a lossy chain, in both directions.
fn lossy(preset: &str, rate: f64, seed: u64, tcp: &str) -> String {
    format!(
        r#"
        extends = "{preset}"
        run = {{ stop = "20 s", seed = {seed} }}
        topology.hops = 2
        routing.protocol = "shortest_path"
        wlan = {{ long_retry_limit = 2, short_retry_limit = 2, error = {{ model = "uniform", rate = {rate} }} }}
        flow = [{{ src = 0, dst = 2 }}, {{ src = 2, dst = 0, start = "1 s" }}]
        queue = {{ discipline = "red", limit = 12, ecn = true, red = {{ min_threshold = 2, max_threshold = 6, weight = 0.1 }} }}
        tcp = {{ {tcp} }}
        "#
    )
}

proptest! {
    #[test]
    fn a_copy_of_reno_gives_the_results_of_reno(
        recovery in prop::sample::select(vec!["tahoe", "reno", "newreno", "e_newreno", "sack"]),
        growth in prop::sample::select(vec!["always", "used"]),
        (rate, ecn) in (prop::sample::select(vec![0.0, 0.1, 0.3]), any::<bool>()),
        seed in any::<u32>(),
    ) {
        let of = |rule: &str| {
            let tcp = format!(
                "loss_recovery = \"{recovery}\", congestion_control = \"{rule}\", growth_when = \"{growth}\", ecn.enabled = {ecn}"
            );
            lossy("standard", rate, seed.into(), &tcp)
        };
        let name = if recovery == "reno" { "reno".to_owned() } else { recovery.to_owned() };
        let copy = results(&of("external"), RenoCopy, (&format!("external+{recovery}"), &name));
        prop_assert!(copy == results(&of("reno"), RenoCopy, ("", "")));
    }

    #[test]
    fn a_copy_of_the_reno_of_linux_gives_its_results(
        rate in prop::sample::select(vec![0.0, 0.1, 0.3]),
        sack in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let of = |rule: &str| {
            let tcp = format!("loss_recovery = \"rack_tlp\", congestion_control = \"{rule}\", rack_tlp.sack = {sack}");
            lossy("linux", rate, seed.into(), &tcp)
        };
        let copy = results(&of("external"), LinuxReno::default(), ("external+rack_tlp", "reno+rack_tlp"));
        prop_assert!(copy == results(&of("reno"), RenoCopy, ("", "")));
    }

    #[test]
    fn a_constant_window_is_that_of_fixed(
        recovery in prop::sample::select(vec!["reno", "newreno", "sack"]),
        (window, seed) in (1..20u32, any::<u32>()),
        rate in prop::sample::select(vec![0.0, 0.1, 0.3]),
    ) {
        let of = |rule: &str| {
            let tcp = format!(
                "loss_recovery = \"{recovery}\", congestion_control = \"{rule}\", fixed.window = {window}, \
                 initial_window = {window}, initial_ssthresh = {window}, syn = false"
            );
            lossy("standard", rate, seed.into(), &tcp)
        };
        let name = if recovery == "newreno" { "fixed".to_owned() } else { format!("fixed+{recovery}") };
        let own = results(&of("external"), Constant(window.into()), (&format!("external+{recovery}"), &name));
        prop_assert!(own == results(&of("fixed"), RenoCopy, ("", "")));
    }
}

/// A rule with a state: the window grows by the number of the acknowledgement modulo 3.
#[derive(Clone, Copy, Debug, Default)]
struct Counting(u32);

impl Controller for Counting {
    fn on_ack(&mut self, view: &View) -> Decision {
        self.0 += 1;
        Decision::cwnd(view.window.cwnd + f64::from(self.0 % 3) / view.window.cwnd)
    }

    fn on_congestion(&mut self, view: &View, _: Signal) -> Decision {
        Decision::ssthresh(view.window.cwnd / f64::from(2 + self.0 % 3))
    }
}

#[test]
fn a_clone_goes_on_like_its_original() {
    let text = lossy("standard", 0.1, 1, "congestion_control = \"my:Counting\"");
    let whole = results(&text, Counting::default(), ("", ""));
    let mut sim = Sim::new(&scenario(&text).setup(None));
    let rules = Controllers::new(|_, _| Counting::default());
    rules.drive(|| sim.until(Time::ZERO + Span::secs(7)));
    let (mut fork, of_fork) = (sim.clone(), rules.clone());
    for (sim, rules) in [(&mut sim, &rules), (&mut fork, &of_fork)] {
        rules.drive(|| sim.run());
        assert!(everything(sim.recorder()) == whole);
    }
    assert_eq!(format!("{rules:?}"), format!("{of_fork:?}"));
}

/// Tells of what it is asked.
struct Telling(Arc<Mutex<Vec<(String, View)>>>, String);

impl Controller for Telling {
    fn on_ack(&mut self, view: &View) -> Decision {
        self.0.lock().expect("one thread").push((self.1.clone(), *view));
        Decision::cwnd(4.0)
    }

    fn on_congestion(&mut self, view: &View, signal: Signal) -> Decision {
        self.0.lock().expect("one thread").push((format!("{} {signal:?}", self.1), *view));
        Decision::ssthresh(4.0)
    }

    fn on_recovery_end(&mut self, view: &View) -> Decision {
        self.0.lock().expect("one thread").push((format!("{} end", self.1), *view));
        Decision::KEEP
    }
}

fn told(text: &str) -> Vec<(String, View)> {
    let all = Arc::new(Mutex::new(vec![]));
    let mut sim = Sim::new(&scenario(text).setup(None));
    let of_rule = all.clone();
    let rules =
        Controllers::new(move |flow: FlowId, name: &str| Telling(of_rule.clone(), format!("{} {name}", flow.0)));
    rules.drive(|| sim.run());
    drop(rules);
    all.lock().expect("one thread").clone()
}

/// Two flows with rules of their own: each is asked in the order of the events, at their times, in two runs alike.
#[test]
fn rules_of_two_flows_are_asked_in_the_order_of_events() {
    let text = r#"
        run = { stop = "120 s", seed = 3 }
        topology.hops = 2
        wlan = { long_retry_limit = 2, error = { model = "uniform", rate = 0.2 } }
        flow = [{ src = 0, dst = 2, tcp = { congestion_control = "a:A", loss_recovery = "rack_tlp" } },
                { src = 2, dst = 0, tcp.congestion_control = "b:B.C" }]
    "#;
    let events = told(text);
    assert!(events.is_sorted_by_key(|e| e.1.now));
    for name in ["0 a:A", "1 b:B.C"] {
        let of = |what: &str| events.iter().filter(|e| e.0 == format!("{name}{what}")).count();
        let counts = ["", " FastRetransmit", " Timeout", " end"].map(of);
        assert!(counts[0] > 100 && counts[1..].iter().all(|n| *n > 0), "{name}: {counts:?}");
    }
    assert!(told(text) == events);
    for (name, view) in &events {
        assert_eq!(view.flow.0.to_string(), name[..1]);
        assert_eq!(view.mss, 1460);
        assert!(name.starts_with("0 ") || view.delivery_rate_bps.is_none());
    }
    let rates = events.iter().filter(|e| e.0 == "0 a:A" && e.1.delivery_rate_bps.is_some()).count();
    assert!(rates > 50, "{rates}");
    let (rtt, min) = (|v: &View| v.rtt.expect("a round trip"), |v: &View| v.min_rtt.expect("a round trip"));
    let acks = events.iter().filter(|e| !e.0.contains("Timeout")).map(|e| &e.1);
    assert!(acks.clone().all(|v| min(v) <= rtt(v) && min(v) > Span::ms(2)));
}

/// A rule that paces.
struct Paced(f64);

impl Controller for Paced {
    fn on_ack(&mut self, _: &View) -> Decision {
        Decision { pacing_bps: Some(self.0), ..Decision::cwnd(30.0) }
    }

    fn on_congestion(&mut self, _: &View, _: Signal) -> Decision {
        Decision::KEEP
    }
}

/// Segments of 1460 B at 584 kbit/s are 20 ms apart, with every loss recovery; at the smallest rates nothing is sent.
#[test]
fn a_decision_paces() {
    for recovery in ["newreno", "sack", "rack_tlp"] {
        let text = format!(
            r#"
            run = {{ stop = "20 s", batches = 10, warmup_batches = 1 }}
            topology.hops = 1
            tcp = {{ congestion_control = "external", loss_recovery = "{recovery}" }}
            "#
        );
        let goodput = |rate_bps| {
            let mut sim = Sim::new(&scenario(&text).setup(None));
            Controllers::new(move |_, _| Paced(rate_bps)).drive(|| sim.run());
            sim.recorder().flows().numbers("goodput_bps").expect("a column")[0]
        };
        assert!((goodput(584e3) / 584e3 - 1.0).abs() < 0.01, "{recovery}: {}", goodput(584e3));
        for rate_bps in [1.0, 1e-9, 1e-300] {
            assert_eq!(goodput(rate_bps), 0.0, "{recovery} at {rate_bps} bit/s");
        }
    }
}

/// Without a rule the window is the one that the program has decided last; it acts at once.
#[test]
fn a_window_can_be_decided_between_events() {
    for recovery in ["newreno", "rack_tlp"] {
        let text = format!(
            r#"
            run = {{ stop = "20 s" }}
            topology.hops = 1
            tcp = {{ congestion_control = "external", loss_recovery = "{recovery}", initial_window = 2 }}
            flow = [{{ src = 0, dst = 1 }}, {{ src = 0, dst = 1, start = "9 s", tcp.congestion_control = "reno" }}]
            "#
        );
        let mut sim = Sim::new(&scenario(&text).setup(None));
        sim.until(Time::ZERO + Span(1));
        let waiting = sim.pool().live();
        assert!(sim.decide(FlowId(0), &Decision::cwnd(9.0)));
        assert_eq!(sim.pool().live(), waiting, "{recovery}: nothing is sent before the answer to the SYN");
        assert!(sim.decide(FlowId(0), &Decision::cwnd(2.0)));
        sim.until(Time::ZERO + Span::secs(1));
        let before = sim.pool().live();
        assert!(sim.decide(FlowId(0), &Decision::cwnd(9.0)));
        let sent = sim.pool().live() - before;
        assert!((7..=9).contains(&sent), "{recovery}: {sent}");
        sim.until(Time::ZERO + Span::secs(5));
        assert!(sim.pool().live() > before + 5, "{recovery}");
        assert!(!sim.decide(FlowId(1), &Decision::cwnd(9.0)) && !sim.decide(FlowId(2), &Decision::cwnd(9.0)));
    }
}
