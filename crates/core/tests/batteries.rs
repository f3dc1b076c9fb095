//! Batteries: energy of frames, and nodes with an empty battery.

use chappe_core::packet::{FlowId, NodeId};
use chappe_core::record::observe::columns::Values;
use chappe_core::run::RecordedTable;
use chappe_core::run::{Command, Setup};
use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};
use proptest::prelude::*;

fn setup(text: &str) -> Setup {
    Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}\n{text}")).setup(None)
}

fn ran(text: &str) -> Sim {
    let mut sim = Sim::new(&setup(text));
    sim.run();
    sim
}

fn column(sim: &Sim, name: &str) -> Vec<f64> {
    sim.recorder().batteries().numbers(name).expect("a column").to_vec()
}

/// One exchange with RTS and CTS: 0.3 W times 2,680 us at the sender and 0.5 W times 608 us.
const ONE: &str = r#"
    extends = "ns2-2.35"
    run = { stop = "1 s", batches = 1, warmup_batches = 0 }
    topology = { hops = 2 }
    routing.protocol = "shortest_path"
    wlan = { data_rate = "2 Mbit/s", basic_rate = "1 Mbit/s", rts_threshold = "always" }
    arp.enabled = false
    radio.energy = { transmit = "0.3 W", receive = "0.5 W", idle = "0 W", battery = "200 J" }
    flow = [{ src = 0, dst = 1, app = "cbr", start = "100 ms" }]
    cbr = { interval = "10 s", payload = "480 B" }
"#;

#[test]
fn both_ways_of_accounting_agree_for_live_nodes() {
    for accounting in ["continuous", "first_bit"] {
        let text = ONE.replace("battery =", &format!("accounting = \"{accounting}\", battery ="));
        let left = column(&ran(&text), "remaining_j");
        let spent: Vec<f64> = left.iter().map(|l| 200.0 - l).collect();
        let (own, others) = (0.3 * 2680e-6 + 0.5 * 608e-6, 0.3 * 608e-6 + 0.5 * 2680e-6);
        assert!((spent[0] - own).abs() < 1e-9, "{accounting}: {spent:?}, {own}");
        assert!((spent[1] - others).abs() < 1e-9, "{accounting}: {spent:?}, {others}");
        assert!((spent[2] - 0.5 * 3288e-6).abs() < 1e-9, "{accounting}: {spent:?}");
    }
}

/// Node 1 sends datagrams on both of its channels at the same instants.
#[test]
fn simultaneous_frames_of_a_node_are_all_charged() {
    let text = r#"
        run = { stop = "5 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 2 }
        routing.protocol = "shortest_path"
        arp.enabled = false
        radio.energy = { transmit = "2 W", receive = "1.5 W", idle = "0 W", battery = "100 J" }
        node = [{ nodes = 0, radio.channels = [1] }, { nodes = 1, radio.channels = [1, 2] }, { nodes = 2, radio.channels = [2] }]
        cbr.interval = "20 ms"
        flow = [{ src = 1, dst = 0, app = "cbr", stop = "4500 ms" }, { src = 1, dst = 2, app = "cbr", stop = "4500 ms" }]
    "#;
    let spent = |accounting: &str| {
        let left = column(
            &ran(&text.replace("battery =", &format!("accounting = \"{accounting}\", battery ="))),
            "remaining_j",
        );
        left.iter().map(|l| 100.0 - l).collect::<Vec<_>>()
    };
    let (continuous, first_bit) = (spent("continuous"), spent("first_bit"));
    // Nothing collides, so that nothing overlaps at a radio.
    for (n, (a, b)) in continuous.iter().zip(&first_bit).enumerate() {
        assert!((a - b).abs() < 1e-6, "node {n}: {a} J continuously, {b} J at the first bit");
    }
    assert!((continuous[1] - continuous[0] - continuous[2]).abs() > 0.1, "{continuous:?}");
}

/// An empty battery delivers no more energy, whether its node was on or asleep.
#[test]
fn a_node_whose_battery_is_empty_draws_nothing() {
    let text = r#"
        run = { stop = "100 s", batches = 4, warmup_batches = 1, airtime = true }
        topology = { hops = 2 }
        radio.energy = { idle = "1 W", sleep = "0.1 W", battery = "30 J" }
        event = [{ at = "28 s", action = "node_down", node = 1 }, { at = "4 s", action = "node_down", node = 2 }, { at = "99 s", action = "node_up", node = 1 }]
        flow = [{ src = 0, dst = 1, app = "cbr", start = "event" }]
    "#;
    let sim = ran(text);
    let empty = column(&sim, "emptied_at_s");
    assert!(empty[0] == 30.0 && (empty[1] - 48.0).abs() < 1e-6 && empty[2].is_nan(), "{empty:?}");
    // The first of four batches is left out: 25 s.
    let drawn = sim.recorder().airtime().numbers("energy_j").expect("a column");
    let expected = [5.0, 5.0, 7.5];
    assert!(drawn.iter().zip(expected).all(|(d, e)| (d - e).abs() < 1e-6), "{drawn:?}");
    let batches = sim.recorder().batches().numbers("energy_j").expect("a column");
    assert!((batches[1..].iter().sum::<f64>() - drawn.iter().sum::<f64>()).abs() < 1e-6, "{batches:?}");
}

#[test]
fn last_packets_of_a_node_are_recorded() {
    let sim = ran(ONE);
    let (sent, received) = (column(&sim, "last_sent_at_s"), column(&sim, "last_received_at_s"));
    // 534 B at 2 Mbit/s behind a PLCP header of 192 us. RTS, CTS and ACK are no packets.
    assert!((received[1] - sent[0] - 2328e-6).abs() < 2e-6, "{sent:?}, {received:?}");
    assert!(sent[0] > 0.1 && received[0].is_nan() && sent[1].is_nan());
    assert!(sent[2].is_nan() && received[2].is_nan());
    // Node 1 falls silent, and later RTS frames get no answer.
    let short = ONE.replace("stop = \"1 s\"", "stop = \"40 s\"").replace("\"10 s\"", "\"50 ms\"");
    let sim = ran(&format!("{short}\nnode = [{{ nodes = 1, radio.energy.battery = \"0.5 J\" }}]"));
    let empty = column(&sim, "emptied_at_s")[1];
    let (sent, received) = (column(&sim, "last_sent_at_s")[0], column(&sim, "last_received_at_s")[1]);
    assert!(empty < 20.0 && received <= empty && empty - received < 0.06, "{empty}, {received}");
    assert!(sent <= empty && empty - sent < 0.06, "{empty}, {sent}");
}

/// A node that idles, sleeps and idles again.
#[test]
fn a_node_that_is_off_sleeps() {
    let text = r#"
        run = { stop = "10 s", batches = 1, warmup_batches = 0 }
        topology = { hops = 1 }
        radio.energy = { idle = "1 W", sleep = "0.1 W", battery = "100 J" }
        event = [{ at = "2 s", action = "node_down", node = 1 }, { at = "6 s", action = "node_up", node = 1 }]
        flow = [{ src = 0, dst = 1, app = "cbr", start = "event" }]
    "#;
    let sim = ran(text);
    let left = column(&sim, "remaining_j");
    assert!((left[0] - 90.0).abs() < 1e-6 && (left[1] - (100.0 - 6.4)).abs() < 1e-6, "{left:?}");
    assert!(column(&sim, "emptied_at_s").iter().all(|at| at.is_nan()));
}

#[test]
fn a_node_dies_at_the_instant_at_which_its_battery_is_empty() {
    let text = |battery: &str| {
        format!(
            r#"
            run = {{ stop = "10 s", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 2 }}
            radio.energy = {{ transmit = "2 W", receive = "1.5 W", idle = "1 W" }}
            node = [{{ nodes = 1, radio.energy.battery = "{battery}" }}]
            flow = [{{ src = 0, dst = 2 }}]
            "#
        )
    };
    // Nothing is sent before the first instant: it idles.
    let idle = ran(&text("5 J").replace("dst = 2 }", "dst = 2, start = \"8 s\" }"));
    assert_eq!(column(&idle, "emptied_at_s")[1], 5.0);
    assert_eq!(idle.recorder().flows().counts("packets_delivered").expect("a column")[0], 0);
    // In the middle of traffic: the energy drawn so far equals the battery, according to the airtime as well.
    let busy = ran(&text("5 J").replace("warmup_batches = 0", "warmup_batches = 0, airtime = true"));
    let (empty, left) = (column(&busy, "emptied_at_s"), column(&busy, "remaining_j"));
    assert!(empty[1] > 2.5 && empty[1] < 5.0 && left[1] == 0.0, "{empty:?} {left:?}");
    assert!(left[0].is_infinite(), "its battery does not end");
    let drawn = busy.recorder().airtime().numbers("energy_j").expect("a column")[1];
    assert!((drawn - 5.0).abs() < 1e-6, "{drawn} J");
    let delivered = busy.recorder().flows().counts("packets_delivered").expect("a column")[0];
    assert!(delivered > 0, "before it died");
    // The node stays dead, and every packet has had one outcome (checked at the end of each run).
    let mut sim = Sim::new(&setup(&text("5 J")));
    sim.until(Time::ZERO + Span::secs(6));
    let before = sim.recorder().delivered();
    sim.apply(&Command::NodeUp(NodeId(1)));
    sim.run();
    assert_eq!(sim.recorder().delivered(), before);
}

#[test]
fn batteries_that_last_change_nothing() {
    let text = r#"
        run = { stop = "5 s", batches = 2 }
        topology = { hops = 4 }
        flow = [{ src = 0, dst = 4 }, { src = 3, dst = 0, app = "cbr" }]
    "#;
    let plain = ran(text);
    for more in ["", "radio.energy.accounting = \"first_bit\"\n"] {
        let with = ran(&format!("radio.energy.battery = \"1 kJ\"\n{more}{text}"));
        for of in
            [|s: &Sim| s.recorder().flows(), |s: &Sim| s.recorder().nodes(), |s: &Sim| s.recorder().packet_outcomes()]
        {
            assert_eq!(format!("{:?}", of(&with)), format!("{:?}", of(&plain)));
        }
        assert_eq!(with.recorder().batteries().rows(), 5);
        assert_eq!(plain.recorder().batteries().rows(), 0);
    }
}

/// Commands to a run: time, node and flow, and duration.
fn commands() -> impl Strategy<Value = Vec<(u64, Command)>> {
    let one = (0u64..4_000_000_000, 0u32..4, 0u64..50_000_000, any::<bool>());
    prop::collection::vec(one, 0..16).prop_map(|all| {
        let mut commands = vec![];
        for (ns, n, for_ns, is_node) in all {
            let flow = FlowId(n % 3);
            let (first, second) = if is_node {
                (Command::NodeDown(NodeId(n)), Command::NodeUp(NodeId(n)))
            } else {
                (Command::FlowStop(flow), Command::FlowStart(flow))
            };
            commands.extend([(ns, first), (ns + for_ns, second)]);
        }
        commands.sort_by_key(|c| c.0);
        commands
    })
}

/// A chain of four nodes with a spacing of 200 m and saturated flows.
fn chain(energy: &str, channels: &str, run: &str) -> String {
    format!(
        r#"
        run = {{ stop = "5 s", batches = 1, warmup_batches = 0, {run} }}
        topology.hops = 3
        radio = {{ channels = {channels}, range = "250 m", sense_range = "550 m", energy = {{ {energy} }} }}
        cbr = {{ interval = "7 ms", payload = "512 B" }}
        tcp = {{ mss = "512 B", max_timeouts = 1, rto = {{ min = "100 ms", initial = "200 ms", max = "400 ms" }} }}
        on_off = {{ on = "20 ms", off = "30 ms", payload = "50 B" }}
        flow = [{{ dst = 3, app = "cbr", stop = "3 s" }}, {{ src = 2, dst = 1, app = "cbr" }}, {{ dst = 3, app = "on_off" }}]
        "#
    )
}

/// A run with commands; nothing is delivered that was not sent.
fn commanded(text: &str, seed: u32, commands: &[(u64, Command)]) -> Sim {
    let mut sim = Sim::new(&Setup { seed: u64::from(seed), ..setup(text) });
    for (ns, command) in commands {
        sim.until(Time(*ns));
        sim.apply(command);
    }
    sim.run();
    let flows = sim.recorder().flows();
    let counts = |name: &str| flows.counts(name).expect("a column").to_vec();
    for (bytes, packets) in counts("bytes_delivered").iter().zip(counts("packets_delivered")) {
        assert!(*bytes <= 512 * packets, "{bytes} B in {packets} packets");
    }
    sim
}

/// A frame: begin \[s\], sender and channel, and duration \[s\]; sorted by time, then sender.
fn frames(sim: &mut Sim) -> Vec<(f64, usize, usize, f64)> {
    let (table, rows) = sim.tables().next().expect("frames are recorded");
    assert_eq!(table, RecordedTable::Frames);
    let values = rows.values();
    let column = |name: &str| &values[rows.columns().iter().position(|c| c.0 == name).expect("a column")];
    let (Values::Float(at), Values::Int(sender)) = (column("time_s"), column("src")) else { panic!("two columns") };
    let (Values::Int(channel), Values::Float(lasts)) = (column("channel"), column("airtime_s")) else {
        panic!("two columns")
    };
    let mut all: Vec<_> = (0..rows.len()).map(|i| (at[i], sender[i] as usize, channel[i] as usize, lasts[i])).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all
}

/// Energy left in four batteries by the rule of ns-2 when idling costs nothing: a node that begins to send or to sense
/// a frame is charged for the part of it that comes after all earlier frames.
fn left_by_the_rule(frames: &[(f64, usize, usize, f64)], commands: &[(u64, Command)], capacity: f64) -> [f64; 4] {
    let (transmit, receive) = (1.65, 1.4);
    let mut left = [capacity; 4];
    let mut paid_until = [[0.0f64; 3]; 4];
    let is_on = |n: usize, at: f64| {
        let before = commands.iter().take_while(|c| c.0 as f64 <= at * 1e9);
        let last =
            before.filter(|c| [Command::NodeDown(NodeId(n as u32)), Command::NodeUp(NodeId(n as u32))].contains(&c.1));
        last.last().is_none_or(|c| matches!(c.1, Command::NodeUp(_)))
    };
    for &(at, sender, channel, lasts) in frames {
        // The sender is charged last: the charges of this frame to other nodes are also taken at its begin.
        for n in (0..4).filter(|&n| n != sender).chain([sender]) {
            let meters = 200.0 * (n as f64 - sender as f64).abs();
            if meters > 550.0 || left[n] <= 0.0 || !is_on(n, at) {
                continue;
            }
            let from = at + meters / 299_792_458.0;
            let paid = &mut paid_until[n][channel];
            let (begins, ends) = (from.max(*paid), (from + lasts).max(*paid));
            *paid = ends;
            let power = if n == sender { transmit } else { receive };
            left[n] = (left[n] - power * (ends - begins)).max(0.0);
        }
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Energy drawn from batteries equals the energy of all uses of airtime, with nodes switched off and on at any
    /// time, and with or without empty batteries.
    #[test]
    fn energy_closes(
        commands in commands(),
        sleep in prop::sample::select(vec!["0 W", "0.1 W"]),
        capacity in prop::sample::select(vec![1000.0, 9.0, 5.0, 2.0]),
        channels in prop::sample::select(vec!["[1]", "[1, 2]"]),
        seed in any::<u32>(),
    ) {
        let energy = format!("battery = \"{capacity} J\", sleep = \"{sleep}\"");
        let sim = commanded(&chain(&energy, channels, "airtime = true"), seed, &commands);
        let left = column(&sim, "remaining_j");
        prop_assert!(left.iter().all(|l| (0.0..=capacity).contains(l)), "{left:?}");
        let airtime = sim.recorder().airtime();
        let mut cost = vec![0.0; left.len()];
        let radios = airtime.numbers("energy_j").expect("a column");
        for (n, joules) in airtime.counts("node").expect("a column").iter().zip(radios) {
            cost[*n as usize] += joules;
        }
        for (n, (left, cost)) in left.iter().zip(&cost).enumerate() {
            let given = capacity - left;
            prop_assert!((given - cost).abs() < 1e-6, "node {n}: {given} J from its battery, {cost} J");
        }
    }

    /// With accounting at the first bit batteries have given what all frames have cost by the rule.
    #[test]
    fn energy_closes_at_the_first_bit(
        commands in commands(),
        capacity in prop::sample::select(vec![1000.0, 3.0, 1.0]),
        channels in prop::sample::select(vec!["[1]", "[1, 2]"]),
        seed in any::<u32>(),
    ) {
        let energy = format!(
            "battery = \"{capacity} J\", transmit = \"1.65 W\", receive = \"1.4 W\", idle = \"0 W\", sleep = \"0 W\", \
             accounting = \"first_bit\""
        );
        let mut sim = commanded(&chain(&energy, channels, "record = [\"frames\"]"), seed, &commands);
        let left = column(&sim, "remaining_j");
        let expected = left_by_the_rule(&frames(&mut sim), &commands, capacity);
        for (n, (ours, by_rule)) in left.iter().zip(expected).enumerate() {
            prop_assert!((ours - by_rule).abs() < 1e-6, "node {n}: {ours} J left, {by_rule} J by the rule");
        }
    }
}
