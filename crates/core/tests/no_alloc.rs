//! Nothing allocates in steady state, except for a list that reaches a new length; and idle state needs little memory.

use crate::properties::protocols;
use chappe_core::net::queue::Discipline;
use chappe_core::sim::Sim;
use chappe_core::tcp::config::variants::Variant;
use chappe_core::unit::{Span, Time};
use chappe_core::wlan::rate::Algorithm;
use chappe_scenario::{NoFiles, Scenario};

/// Rare peaks of queues and timers double lists now and then, hours into a run: up to this many in half a million timer
/// expiries. An allocation per packet, loss or timeout would occur far more often.
const PEAKS: u64 = 4;

/// Runs until all lists have grown, then counts allocations.
fn allocations(text: &str) -> u64 {
    allocations_over(1_500_000, 500_000, text)
}

/// Counts allocations with these numbers of timer expiries before and during the count.
fn allocations_over(before: u64, steps: u64, text: &str) -> u64 {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).expect("a good scenario");
    let mut sim = Sim::new(&scenario.setup(None));
    assert_eq!(sim.advance(before), None, "the run is too short for this test");
    let delivered = sim.recorder().delivered();
    let counted = allocation_counter::measure(|| {
        assert_eq!(sim.advance(steps), None, "the run is too short for this test");
    });
    assert!(sim.recorder().delivered() > delivered + 1000, "too little happened");
    counted.count_total
}

#[test]
fn a_saturated_chain_allocates_nothing_after_its_start() {
    for preset in ["ns2-2.35", "standard"] {
        for (variant, _) in Variant::WORDS {
            let text = format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
                topology = {{ hops = 7 }}
                wlan = {{ rts_threshold = "always" }}
                tcp = {{ variant = "{variant}", receive_window = 64 }}
                "#
            );
            // Lists of AODV grow at the worst of its rare failures of routes, late.
            let count = allocations_over(2_500_000, 500_000, &text);
            assert!(count <= PEAKS, "{preset}, {variant}: {count}");
        }
    }
}

#[test]
fn local_drop_notification_does_not_allocate_after_the_start() {
    for tcp in ["small_queue = 2", "local_drop = \"cwr\""] {
        let text = format!(
            r#"
            extends = "linux-2.6.16"
            run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 3, wired_nodes = 1 }}
            wired_link = [{{ src = 3, dst = 4, rate = "1 Mbit/s" }}]
            queue.limit = 3
            routing.protocol = "shortest_path"
            tcp = {{ {tcp} }}
            flow = [{{ src = 0, dst = 4 }}, {{ src = 4, dst = 1 }}]
            "#
        );
        let count = allocations(&text);
        assert!(count <= PEAKS, "{tcp}: {count}");
    }
}

#[test]
fn routing_allocates_nothing_after_its_start() {
    for preset in ["ns2-2.35", "standard"] {
        for protocol in protocols() {
            let text = format!(
                r#"
                extends = "{preset}"
                run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
                topology = {{ kind = "grid", rows = 3, columns = 3 }}
                flow = [{{ dst = 8 }}, {{ src = 6, dst = 1 }}, {{ src = 5, dst = 3, app = "cbr" }}]
                routing.protocol = "{protocol}"
                "#
            );
            let count = allocations_over(600_000, 200_000, &text);
            assert!(count <= PEAKS, "{preset}, {protocol}: {count}");
        }
    }
}

#[test]
fn rate_control_and_sinr_do_not_allocate_after_their_start() {
    for algorithm in Algorithm::ALL.iter().filter(|a| a.chooses_rates() && !a.over_aggregates()).map(|a| a.word()) {
        let text = format!(
            r#"
            topology = {{ hops = 5, spacing = "10 m" }}
            wlan = {{ data_rate = "11 Mbit/s", basic_rate = "2 Mbit/s", rts_threshold = "never",
                      rate_control.algorithm = "{algorithm}" }}
            routing.protocol = "shortest_path"
            flow = [{{ src = 0, dst = 5 }}]
            run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
            [radio]
            propagation = "log_distance"
            log_distance = {{ exponent = 2.2, distance = "10 m", loss = "81.6 dB" }}
            transmit_power = "0 dBm"
            reception = "sinr"
            sinr = {{ energy_detection = "-89.6 dBm", fading = "rayleigh", relock = "5 dB" }}
            "#
        );
        let count = allocations_over(2_000_000, 500_000, &text);
        assert!(count <= PEAKS, "{algorithm}: {count}");
    }
}

#[test]
fn motion_allocates_nothing_after_its_start() {
    for motion in [
        "model = \"random_waypoint\", min_speed = \"5 m/s\", max_speed = \"25 m/s\", pause = \"1 s\"",
        "model = \"random_waypoint\", min_speed = \"10 m/s\", max_speed = \"10 m/s\", ns2.neighbor_list_interval = \"1 s\"",
    ] {
        let count = allocations(&format!(
            r#"
            run = {{ stop = "10000000 delivered", batches = 1, warmup_batches = 0 }}
            topology = {{ kind = "random", nodes = 10, width = "200 m", height = "100 m" }}
            mobility = {{ {motion} }}
            routing.protocol = "shortest_path"
            flow = [{{ src = 0, dst = 1 }}, {{ src = 2, dst = 3 }}]
            "#
        ));
        assert!(count <= PEAKS, "{motion}: {count}");
    }
}

#[test]
fn queues_allocate_nothing_after_their_start() {
    for (discipline, _) in Discipline::WORDS {
        let count = allocations(&format!(
            r#"
            run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 3 }}
            routing = {{ protocol = "shortest_path" }}
            queue = {{ discipline = "{discipline}" }}
            tcp = {{ receive_window = 64, ecn = {{ enabled = true }} }}
            "#
        ));
        assert_eq!(count, 0, "{discipline}");
    }
}

#[test]
fn drops_before_the_mac_allocate_nothing_after_their_start() {
    for mechanism in ["link_red", "neighborhood_red"] {
        let count = allocations(&format!(
            r#"
            run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 7 }}
            # Lists of AODV grow at the worst of its failures of routes, which RTS makes rare.
            wlan.rts_threshold = "always"
            net.{mechanism}.enabled = true
            "#
        ));
        assert_eq!(count, 0, "{mechanism}");
    }
}

#[test]
fn crossing_flows_with_airtime_do_not_allocate_after_start() {
    let count = allocations(
        r#"
        run = { stop = "1000000 delivered", batches = 1, warmup_batches = 0, airtime = true }
        topology = { kind = "list", positions = [["0 m", "0 m"], ["200 m", "0 m"], ["400 m", "0 m"], ["200 m", "200 m"],
                                                 ["200 m", "-200 m"]] }
        flow = [{ src = 0, dst = 2 }, { src = 3, dst = 4 }, { src = 2, dst = 3, app = "cbr" }]
        cbr = { interval = "50 ms" }
        "#,
    );
    assert_eq!(count, 0);
}

#[test]
fn wires_allocate_nothing_after_their_start() {
    let count = allocations(
        r#"
        run = { stop = "10000000 delivered", batches = 1, warmup_batches = 0 }
        topology = { hops = 2, wired_nodes = 3 }
        wired = { error = { model = "gilbert_elliott" } }
        wired_link = [{ src = 2, dst = 3, rate = "2 Mbit/s", queue = { limit = 10 } },
                { src = 3, dst = 4, rate = "100 Mbit/s", delay = "30 ms" }, { src = 3, dst = 5 }]
        # Bursts of losses outlast any patience.
        tcp = { receive_window = 20, max_timeouts = "unlimited" }
        flow = [{ src = 0, dst = 4 }, { src = 4, dst = 1 }, { src = 5, dst = 4, tcp = { receive_window = 1000 } }]
        "#,
    );
    assert_eq!(count, 0);
}

#[test]
fn middleboxes_allocate_nothing_after_their_start() {
    for boxes in [
        "middlebox = [{ kind = \"snoop\", node = 2 }, { kind = \"eln\", node = 2 }]",
        "middlebox = [{ kind = \"split\", node = 2 }]",
    ] {
        let count = allocations(&format!(
            r#"
            {boxes}
            run = {{ stop = "1000000 delivered", batches = 1, warmup_batches = 0 }}
            topology = {{ hops = 4 }}
            # Lists of AODV grow at the worst of its rare failures of routes, whenever that comes.
            routing = {{ protocol = "shortest_path" }}
            "#
        ));
        assert_eq!(count, 0, "{boxes}");
    }
}

#[test]
fn recorded_tables_do_not_allocate_while_they_are_drained() {
    let text = r#"
        run = { stop = "1000000 delivered", batches = 1, warmup_batches = 0,
                record = ["frames", "packets", "cwnd", "queue", "routes"] }
        topology = { hops = 3 }
        routing = { protocol = "shortest_path" }
        "#;
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).expect("a good scenario");
    let mut sim = Sim::new(&scenario.setup(None));
    let mut rows = 0;
    let mut advance = |chunks: usize| {
        for _ in 0..chunks {
            assert_eq!(sim.advance(1000), None, "the run is too short for this test");
            for (_, table) in sim.tables() {
                rows += table.len();
                table.clear();
            }
        }
    };
    advance(1000);
    let counted = allocation_counter::measure(|| advance(500));
    assert!(rows > 100_000, "too little happened");
    assert!(counted.count_total <= PEAKS, "{}", counted.count_total);
}

/// Memory of a connection with its counters before its first packet \[B\].
fn bytes_of_idle_connections(window: u32, variant: &str) -> u64 {
    let bytes = |flows: usize| {
        let text = format!(
            r#"
            run = {{ stop = "10 s", batches = 1, warmup_batches = 0 }}
            topology.hops = 1
            tcp = {{ receive_window = {window}, variant = "{variant}" }}
            flow = [{}]
            "#,
            "{ dst = 1, app = \"on_off\", start = \"5 s\" }, ".repeat(flows)
        );
        let setup = Scenario::from_toml("test", &text, &[], &NoFiles).expect("a good scenario").setup(None);
        let mut sim = None;
        let counted = allocation_counter::measure(|| {
            let mut own = Sim::new(&setup);
            own.until(Time::ZERO + Span::secs(4));
            sim = Some(own);
        });
        assert!(sim.is_some_and(|sim| sim.recorder().delivered() == 0), "they are idle");
        counted.bytes_current as u64
    };
    bytes(1001) - bytes(1)
}

#[test]
fn thousand_idle_connections_take_four_mebibytes_at_any_window() {
    for (variant, _) in Variant::WORDS {
        for window in [20, 1_000_000] {
            let bytes = bytes_of_idle_connections(window, variant);
            assert!(bytes < 4 << 20, "{variant}, a window of {window} segments: {bytes} B");
        }
    }
}

#[test]
fn an_allocation_would_be_counted() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![1, 2, 3])));
    assert_eq!(counted.count_total, 1);
}
