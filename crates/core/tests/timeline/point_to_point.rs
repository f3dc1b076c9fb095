//! Point-to-point links: times of departure and arrival, waiting and lost packets, and their cost.

use chappe_core::packet::{Body, Kind, NodeId, PacketId, Reason};
use chappe_core::point_to_point::{Config, Link};
use chappe_core::record::trace::Arrival;
use chappe_core::sim::Sim;
use chappe_core::unit::{BitRate, Span, Time};
use chappe_scenario::{NoFiles, Scenario};

fn run(text: &str) -> (Sim, Vec<Arrival>) {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.trace();
    sim.run();
    let arrivals = sim.take_trace().expect("it was asked for").arrivals;
    (sim, arrivals)
}

/// Datagrams of 1000 B from node 0 to the last node, all of them at once, over links of 2 Mbit/s and 26 ms that are
/// otherwise as written.
fn burst(datagrams: u32, nodes: u32, links: &str) -> (Sim, Vec<Arrival>) {
    run(&format!(
        r#"
        run = {{ stop = "10 s", batches = 1, warmup_batches = 0 }}
        topology = {{ kind = "none", wired_nodes = {nodes} }}
        wired = {{ rate = "2 Mbit/s", delay = "26 ms" }}
        cbr = {{ payload = "1000 B", header_size = "40 B", interval = "1 ns", datagrams = {datagrams} }}
        flow = [{{ dst = {last}, app = "cbr" }}]
        {links}
        "#,
        last = nodes - 1,
    ))
}

fn times(arrivals: &[Arrival], to: u32) -> Vec<u64> {
    arrivals.iter().filter(|a| a.to == NodeId(to)).map(|a| a.at.0).collect()
}

fn delivered(sim: &Sim) -> u64 {
    sim.recorder().flows().counts("packets_delivered").expect("a column")[0]
}

fn of_link(sim: &Sim, column: &str, direction: usize) -> f64 {
    sim.recorder().wired_links().numbers(column).expect("a column")[direction]
}

#[test]
fn a_packet_arrives_when_its_last_bit_has_been_sent_and_has_traveled() {
    // 1040 B at 2 Mbit/s take 4.16 ms.
    let (_, arrivals) = burst(3, 2, "wired_link = [{ dst = 1 }]");
    assert_eq!(times(&arrivals, 1), [30_160_000, 34_320_000, 38_480_000]);
    // Times on the wire are whole nanoseconds: 8320 / 3 = 2773.33 us, three times.
    let (_, arrivals) = burst(3, 2, "wired_link = [{ dst = 1, rate = \"3 Mbit/s\", delay = \"0 s\" }]");
    assert_eq!(times(&arrivals, 1), [2_773_333, 5_546_666, 8_319_999]);
}

#[test]
fn a_chain_of_wires_stores_and_forwards() {
    let (_, arrivals) =
        burst(2, 3, "wired_link = [{ dst = 1 }, { src = 1, dst = 2, rate = \"1 Mbit/s\", delay = \"1 ms\" }]");
    assert_eq!(times(&arrivals, 1), [30_160_000, 34_320_000]);
    // 8.32 ms each; the second one waits for the first.
    assert_eq!(times(&arrivals, 2), [39_480_000, 47_800_000]);
}

#[test]
fn a_link_keeps_the_order_and_has_one_deadline() {
    let mut link = Link::new(Config { rate: BitRate::mbps(1), delay: Span::ms(10) });
    assert_eq!((link.deadline(), link.is_free()), (Time::NEVER, true));
    link.transmit(PacketId(7), 125, Time::ZERO);
    let ms = |n| Time::ZERO + Span::ms(n);
    assert_eq!(link.deadline(), ms(1), "then the transmitter is free");
    assert!(!link.finish(Time(999_999)) && !link.is_free());
    assert!(link.finish(ms(1)) && link.is_free() && !link.finish(ms(1)));
    assert_eq!(link.deadline(), ms(11));
    link.transmit(PacketId(3), 250, ms(1));
    assert_eq!((link.deadline(), link.len()), (ms(3), 2));
    assert!(link.finish(ms(3)));
    assert_eq!(link.deadline(), ms(11));
    assert_eq!(link.arrived(Time(ms(11).0 - 1)), None);
    assert_eq!(link.arrived(ms(13)), Some(PacketId(7)));
    assert_eq!(link.arrived(ms(13)), Some(PacketId(3)));
    assert_eq!((link.arrived(ms(13)), link.deadline()), (None, Time::NEVER));
    assert_eq!(link.counters(ms(13)).busy_ns, 3_000_000);
    link.transmit(PacketId(1), 500, ms(13));
    assert_eq!(link.counters(ms(15)).busy_ns, 5_000_000, "half of the last one has been sent");
}

#[test]
fn packet_finds_a_transmitter_free_that_is_just_done() {
    // 1040 B take 2.08 ms to the node in the middle and 4.16 ms from it, whose queue has room for one packet. The third
    // one comes at 6.24 ms, when the first has left; the fourth at 8.32 ms finds the queue full; the fifth comes at
    // 10.4 ms, when the second has left. The numbers of the nodes and the order of the links must not matter.
    for [from, middle, to] in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1]] {
        let first = format!("{{ src = {from}, dst = {middle}, rate = \"4 Mbit/s\" }}");
        let last = format!("{{ src = {middle}, dst = {to}, rate = \"2 Mbit/s\", queue.limit = 1 }}");
        for links in [[&first, &last], [&last, &first]] {
            let (_, arrivals) = run(&format!(
                r#"
                run = {{ stop = "1 s", batches = 1, warmup_batches = 0 }}
                topology = {{ kind = "none", wired_nodes = 3 }}
                wired.delay = "0 s"
                cbr = {{ payload = "1000 B", header_size = "40 B", interval = "1 ns", datagrams = 5 }}
                flow = [{{ src = {from}, dst = {to}, app = "cbr" }}]
                wired_link = [{}, {}]
                "#,
                links[0], links[1],
            ));
            assert_eq!(times(&arrivals, to), [6_240_000, 10_400_000, 14_560_000, 18_720_000], "{links:?}");
        }
    }
}

#[test]
#[should_panic(expected = "while another one is")]
fn a_transmitter_sends_one_packet_at_a_time() {
    let mut link = Link::new(Config { rate: BitRate::mbps(1), delay: Span::ZERO });
    link.transmit(PacketId(0), 125, Time::ZERO);
    link.transmit(PacketId(1), 125, Time(1));
}

#[test]
fn ns2_holds_one_packet_fewer() {
    // Checked with ns-2.35: of a burst of 100 packets into a queue with a limit of 50, 50 get through.
    for (as_ns2, through) in [(true, 50), (false, 51)] {
        let queue = format!("queue = {{ limit = 50, limit_includes_arrival = {as_ns2} }}");
        let (sim, arrivals) = burst(100, 2, &format!("wired_link = [{{ dst = 1, {queue} }}]"));
        assert_eq!((delivered(&sim), arrivals.len()), (through, through as usize));
        assert_eq!(sim.pool().ledger().dropped_for(Kind::Data, Reason::QueueFull), 100 - through);
        assert_eq!(of_link(&sim, "dropped_queue_full", 0), (100 - through) as f64);
        assert_eq!(of_link(&sim, "packets_offered", 0), 100.0);
    }
}

#[test]
fn each_direction_has_its_own_settings() {
    let (_, arrivals) = run(r#"
        run = { stop = "1 s", batches = 1, warmup_batches = 0 }
        topology = { kind = "none", wired_nodes = 2 }
        wired = { rate = "2 Mbit/s", delay = "26 ms" }
        wired_link = [{ dst = 1, back = { rate = "1 Mbit/s", delay = "5 ms" } }]
        cbr = { payload = "1000 B", header_size = "40 B", datagrams = 1 }
        flow = [{ src = 1, dst = 0, app = "cbr" }, { src = 0, dst = 1, app = "cbr" }]
        "#);
    assert_eq!((times(&arrivals, 0), times(&arrivals, 1)), (vec![13_320_000], vec![30_160_000]));
}

#[test]
fn losses_before_the_queue_cost_no_time_and_later_ones_do() {
    let place = |place: &str| {
        let error = format!("error = {{ model = \"uniform\", rate = 1 }}, error_place = \"{place}\"");
        burst(10, 2, &format!("wired_link = [{{ dst = 1, {error} }}]")).0
    };
    for (at, sent, busy_s) in [("before_queue", 0.0, 0.0), ("after_transmitter", 10.0, 0.041_6)] {
        let sim = place(at);
        assert_eq!(delivered(&sim), 0);
        assert_eq!(sim.pool().ledger().dropped_for(Kind::Data, Reason::LinkError), 10);
        assert_eq!((of_link(&sim, "packets_sent", 0), of_link(&sim, "dropped_link_error", 0)), (sent, 10.0));
        assert!((of_link(&sim, "utilization", 0) * 10.0 - busy_s).abs() < 1e-12);
    }
}

#[test]
fn segments_that_are_handed_over_at_once_are_lost_together() {
    // Good and bad states alternate from unit to unit. An initial window of 8 segments leaves the sender at once, in GSO
    // packets of two segments, as there is no round-trip time yet; datagrams leave one by one.
    let arrived = |place: &str, unit: &str, flow: &str| -> Vec<u32> {
        let (_, arrivals) = run(&format!(
            r#"
            run = {{ stop = "150 ms", batches = 1, warmup_batches = 0 }}
            topology = {{ kind = "none", wired_nodes = 2 }}
            wired = {{ rate = "2 Mbit/s", delay = "26 ms", error_place = "{place}", error = {{
                model = "gilbert_elliott", unit = "{unit}",
                gilbert_elliott = {{ good_to_bad = 1, bad_to_good = 1, bad_rate = 1 }} }} }}
            wired_link = [{{ dst = 1 }}]
            tcp = {{ syn = false, initial_window = 8, mss = "1000 B" }}
            cbr = {{ payload = "1000 B", interval = "1 ns", datagrams = 8 }}
            flow = [{{ dst = 1{flow} }}]
            "#
        ));
        let numbers = arrivals.iter().filter(|a| a.to == NodeId(1)).filter_map(|a| match a.packet.body {
            Body::Data(segment) if !segment.retransmission => Some(segment.seq),
            Body::Datagram(datagram) => Some(datagram.seq),
            _ => None,
        });
        numbers.take_while(|&seq| seq < 8).collect()
    };
    for place in ["before_queue", "after_transmitter"] {
        let pairs = arrived(place, "gso_packet", "");
        assert!(pairs == [0, 1, 4, 5] || pairs == [2, 3, 6, 7], "{place}: {pairs:?}");
        for (unit, flow) in [("packet", ""), ("gso_packet", ", app = \"cbr\"")] {
            let single = arrived(place, unit, flow);
            assert!(single == [0, 2, 4, 6] || single == [1, 3, 5, 7], "{place}, {unit}: {single:?}");
        }
    }
}

#[test]
fn use_and_queue_of_a_link_under_a_constant_load() {
    // Two flows of 1040 B every 10 ms, at the same instants: the second packet waits for the first, 4.16 ms.
    let (sim, _) = run(r#"
        run = { stop = "100 s", batches = 10, warmup_batches = 5 }
        topology = { kind = "none", wired_nodes = 2 }
        wired = { rate = "2 Mbit/s" }
        wired_link = [{ dst = 1 }]
        cbr = { payload = "1000 B", header_size = "40 B", interval = "10 ms" }
        flow = [{ dst = 1, app = "cbr" }, { dst = 1, app = "cbr" }]
        "#);
    assert!((of_link(&sim, "utilization", 0) - 0.832).abs() < 1e-9);
    assert!((of_link(&sim, "mean_queue_packets", 0) - 0.416).abs() < 1e-9);
    assert!((of_link(&sim, "throughput_bps", 0) - 1_664_000.0).abs() < 1e-6);
    assert_eq!(of_link(&sim, "utilization", 1), 0.0, "nothing goes back");
    let batches = sim.recorder().wired_link_batches();
    let uses = batches.numbers("utilization").expect("a column");
    assert_eq!(uses.len(), 20, "ten batches of two directions");
    assert!(uses.iter().step_by(2).all(|u| (u - 0.832).abs() < 1e-9), "{uses:?}");
}

#[test]
fn arrivals_at_a_bottleneck_are_those_of_ns2() {
    // tests/data/wired_dumbbell.tcl
    let (sim, arrivals) = run(r#"
        extends = "ns2-2.35"
        run = { stop = "3.9 s", batches = 1, warmup_batches = 0 }
        topology = { kind = "none", wired_nodes = 4 }
        wired_link = [{ src = 0, dst = 2, delay = "2 ms" }, { src = 1, dst = 2, delay = "3 ms" },
                { src = 2, dst = 3, rate = "2 Mbit/s", delay = "20 ms", queue = { limit = 10 } }]
        tcp = { variant = "newreno", receive_window = 30, mss = "1000 B" }
        flow = [{ src = 0, dst = 3 }, { src = 1, dst = 3, start = "300 ms" }]
        "#);
    let ours = arrivals.iter().filter(|a| a.to == NodeId(3)).map(|a| {
        let Body::Data(segment) = a.packet.body else { panic!("{a:?} is no segment") };
        (a.at.as_secs(), a.packet.bytes, a.packet.flow.0, segment.seq)
    });
    let ours: Vec<_> = ours.collect();
    let golden = include_str!("../data/wired_dumbbell.txt").lines().map(|line| {
        let w: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| w[i].parse::<u32>().expect("a number");
        (w[0].parse::<f64>().expect("a time"), number(4), number(5), number(6))
    });
    let golden: Vec<_> = golden.collect();
    assert_eq!(ours.len(), golden.len());
    for (i, (a, b)) in ours.iter().zip(&golden).enumerate() {
        // ns-2 prints six digits.
        assert!((a.0 - b.0).abs() < 5.1e-6 && (a.1, a.2, a.3) == (b.1, b.2, b.3), "arrival {i}: {a:?}, in ns-2 {b:?}");
    }
    assert_eq!(sim.pool().ledger().dropped_total(Reason::QueueFull), 43);
}

#[test]
fn the_shares_of_lost_packets_are_those_of_the_error_model() {
    // Mean loss 10 % in bursts of 4: r = 0.25, p = 0.25 * 0.1 / 0.9.
    let ge = "model = \"gilbert_elliott\", gilbert_elliott = { good_to_bad = 0.0277778, bad_to_good = 0.25 }";
    for (model, variance) in [
        ("model = \"uniform\", rate = 0.1", 1.0),
        // 1 - (1 - 1.0535e-4)^1000 = 0.1
        ("model = \"uniform\", unit = \"byte\", rate = 1.0535499e-4", 1.0),
        // (1 + c) / (1 - c) with c = 1 - p - r
        (ge, (2.0 - 0.277_777_8) / 0.277_777_8),
    ] {
        let (sim, _) = run(&format!(
            r#"
            run = {{ stop = "200 s", batches = 1, warmup_batches = 0 }}
            topology = {{ kind = "none", wired_nodes = 2 }}
            wired_link = [{{ dst = 1, error = {{ {model} }} }}]
            cbr = {{ payload = "972 B", interval = "1 ms" }}
            flow = [{{ dst = 1, app = "cbr" }}]
            "#
        ));
        let (lost, of) = (of_link(&sim, "dropped_link_error", 0), of_link(&sim, "packets_sent", 0));
        let sd = (of * 0.1 * 0.9 * variance).sqrt();
        assert!((lost - 0.1 * of).abs() < 4.0 * sd, "{model}: {lost} of {of}, standard deviation {sd}");
    }
}

#[test]
fn losses_of_a_direction_do_not_depend_on_other_links() {
    let losses = |more: &str| {
        let (sim, _) = run(&format!(
            r#"
            run = {{ stop = "10 s", batches = 1, warmup_batches = 0 }}
            topology = {{ kind = "none", wired_nodes = 3 }}
            wired = {{ error = {{ model = "uniform", rate = 0.2 }} }}
            wired_link = [{{ dst = 1 }}{more}]
            cbr = {{ interval = "10 ms" }}
            flow = [{{ dst = 1, app = "cbr" }}, {{ src = 1, dst = 0, app = "cbr" }}]
            "#
        ));
        [of_link(&sim, "dropped_link_error", 0), of_link(&sim, "dropped_link_error", 1)]
    };
    let alone = losses("");
    assert_eq!(alone, losses(", { src = 1, dst = 2 }"));
    assert_ne!(alone[0], alone[1], "the two directions draw for themselves");
}
