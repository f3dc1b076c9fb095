//! Finite transfers: amount of data, stop times, completion times.

use crate::record::record;
use chappe_core::record::Table;
use chappe_core::run::End;
use chappe_core::sim::Sim;
use chappe_scenario::{NoFiles, Scenario};

/// A run of two nodes joined by a link: 1 Mbit/s, 10 ms. A segment takes 12 ms, an acknowledgement or SYN 0.32 ms.
const ONE_WIRE: &str = r#"
    run = { batches = 1, warmup_batches = 0, stop = "10 s" }
    topology.kind = "none"
    topology.wired_nodes = 2
    wired = { rate = "1 Mbit/s", delay = "10 ms", queue = { discipline = "droptail", limit = 1000 } }
    wired_link = [{ src = 0, dst = 1 }]
    tcp = { receive_window = 1000, initial_window = 1, ack_policy = "every" }
"#;

fn one_wire(more: &str) -> (End, Table) {
    let text = format!("{ONE_WIRE}\n{more}");
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    let end = sim.run();
    (end, sim.recorder().flows())
}

fn value(table: &Table, column: &str) -> f64 {
    table.numbers(column).expect("a column")[0]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn a_transfer_is_complete_when_its_last_segment_arrives() {
    // The SYN and its acknowledgement: 2 (0.32 + 10) ms. Then rounds of 1, 2, 4 segments; each round begins when the
    // first acknowledgement of the one before is back, (12 + 10) + (0.32 + 10) ms after that began.
    let (handshake, segment, round) = (0.02064, 0.012, 0.03232);
    for (segments, rounds, in_last) in [(1, 0.0, 1.0), (2, 1.0, 1.0), (3, 1.0, 2.0), (4, 2.0, 1.0), (6, 2.0, 3.0)] {
        let (_, flows) =
            one_wire(&format!("bulk.segments = {segments}\nflow = [{{ src = 0, dst = 1, start = \"1 s\" }}]"));
        let expected = handshake + rounds * round + in_last * segment + 0.01;
        let found = value(&flows, "completion_time_s");
        assert!(close(found, expected), "{segments} segments: {found} s instead of {expected} s");
        assert!(close(value(&flows, "started_at_s"), 1.0));
    }
}

#[test]
fn last_segment_of_a_byte_count_is_short() {
    let (_, flows) = one_wire("bulk.bytes = \"4 kB\"\nflow = [{ src = 0, dst = 1 }]");
    assert_eq!(flows.counts("packets_delivered"), Some(&[3][..]));
    assert_eq!(flows.counts("bytes_delivered"), Some(&[4000][..]));
    assert_eq!(flows.counts("packets_acked"), Some(&[3][..]), "the SYN does not count");
    let received = value(&flows, "throughput_bps") * value(&flows, "measured_s") / 8.0;
    assert!(close(received, 4000.0 + 4.0 * 40.0), "{received} B: the SYN is a header, too");
    // 1080 B and 40 B of headers, when the segments before are acknowledged (`tcp.nagle`).
    assert!(close(value(&flows, "completion_time_s"), 0.02064 + 2.0 * 0.03232 + 0.00896 + 0.01));
    assert!(close(value(&flows, "goodput_bps"), 4000.0 * 8.0 / 10.0));
}

#[test]
fn an_endless_transfer_that_stops_delivers_what_it_has_sent() {
    let (_, flows) = one_wire("flow = [{ src = 0, dst = 1, start = \"1 s\", stop = \"3 s\" }]");
    let (sent, delivered) = (value(&flows, "packets_sent"), value(&flows, "packets_delivered"));
    assert_eq!(sent, delivered + 1.0, "the SYN is sent, too");
    // From the third round on the transmitter is never idle. What waits at the stop is delivered after it.
    let took = value(&flows, "completion_time_s");
    assert!(took > 2.0 && close(took, 0.02064 + 2.0 * 0.03232 + (delivered - 3.0) * 0.012 + 0.01), "{took} s");
}

#[test]
fn a_transfer_that_stops_before_anything_arrived_is_not_complete() {
    let (_, flows) = one_wire("flow = [{ src = 0, dst = 1, start = \"1 s\", stop = \"1010 ms\" }]");
    assert_eq!((value(&flows, "packets_sent"), value(&flows, "packets_delivered")), (1.0, 0.0));
    assert!(value(&flows, "completion_time_s").is_nan());
}

#[test]
fn datagrams_stop_at_the_stop() {
    let flow = "app = \"cbr\", cbr = { interval = \"100 ms\" }";
    let (_, flows) = one_wire(&format!("flow = [{{ src = 0, dst = 1, start = \"1 s\", stop = \"2 s\", {flow} }}]"));
    assert_eq!(value(&flows, "packets_sent"), 10.0);
    // The last is sent at 1.9 s and has 1488 B.
    assert!(close(value(&flows, "completion_time_s"), 0.9 + 0.011904 + 0.01));
}

#[test]
fn a_transfer_without_end_is_never_complete() {
    let (end, flows) = one_wire("flow = [{ src = 0, dst = 1 }]");
    assert_eq!(end, End::Done);
    assert!(value(&flows, "completion_time_s").is_nan() && value(&flows, "packets_delivered") > 100.0);
}

#[test]
fn a_reader_sets_the_pace_whatever_the_loss_recovery() {
    for variant in
        ["variant = \"newreno\"", "variant = \"sack\"", "loss_recovery = \"rack_tlp\", congestion_control = \"cubic\""]
    {
        // 100 segments of 1460 B, of which 10,000 B are read every 0.1 s; the link takes 12 ms for a segment.
        let reader = "receive_window = 16, reader = { rate = \"800 kbit/s\", read_size = \"10000 B\" }";
        let flow = format!("flow = [{{ src = 0, dst = 1, bulk.segments = 100, tcp = {{ {variant}, {reader} }} }}]");
        let (_, flows) = one_wire(&flow);
        assert_eq!(value(&flows, "packets_delivered"), 100.0, "{variant}");
        let (took, read) = (value(&flows, "completion_time_s"), 100.0 * 1460.0 * 8.0 / 800e3);
        assert!(read < took && took < read + 0.3, "{variant}: {took} s for {read} s");
        assert_eq!(value(&flows, "retransmissions"), 0.0, "{variant}");
    }
}

#[test]
fn a_transfer_is_complete_when_its_last_byte_is_read() {
    let reader = "tcp.reader = { pause_after = \"10 ms\", pause = \"5 s\" }";
    let (_, flows) = one_wire(&format!("flow = [{{ src = 0, dst = 1, bulk.segments = 9, {reader} }}]"));
    // The SYN arrives after 10.32 ms.
    assert!(close(value(&flows, "completion_time_s"), 0.01032 + 0.01 + 5.0));
}

/// A file of this size over the link, with a FIN at the end.
fn closing(bytes: u32) -> Table {
    one_wire(&format!("bulk.bytes = \"{bytes} B\"\nflow = [{{ src = 0, dst = 1, tcp.fin = true }}]")).1
}

#[test]
fn a_connection_closes_when_its_fin_is_acknowledged() {
    // The SYN and its answer, the data, and a way back of the acknowledgement, at once for the FIN.
    let (handshake, header, way) = (0.02064, 0.00032, 0.01);
    for bytes in [1, 1000, 1460] {
        let flows = closing(bytes);
        let data = f64::from(bytes + 40) * 8e-6;
        assert!(close(value(&flows, "completion_time_s"), handshake + data + way), "{bytes} B");
        // The initial window of one segment lets the FIN wait for the acknowledgement of the data.
        let closed = handshake + data + way + header + way + header + way + header + way;
        let found = value(&flows, "close_time_s");
        assert!(close(found, closed), "{bytes} B: {found} s for {closed} s");
        assert_eq!((value(&flows, "packets_sent"), value(&flows, "packets_delivered")), (3.0, 1.0));
        assert_eq!((value(&flows, "packets_acked"), value(&flows, "bytes_delivered")), (1.0, f64::from(bytes)));
    }
}

#[test]
fn a_fin_goes_with_the_last_segment_if_that_waits() {
    // Two segments, of which the second waits for the window of one.
    let flows = closing(2000);
    let closed = 0.02064 + (0.012 + 0.01 + 0.00032 + 0.01) + (580.0 * 8e-6 + 0.01 + 0.00032 + 0.01);
    assert!(close(value(&flows, "close_time_s"), closed), "{}", value(&flows, "close_time_s"));
    assert_eq!((value(&flows, "packets_sent"), value(&flows, "packets_delivered")), (3.0, 2.0));
}

#[test]
fn the_receiver_closes_its_end_after_the_wait() {
    // Three times there and back, and the wait; the FIN of the receiver comes after the acknowledgement of that of the
    // source.
    let (handshake, header, way) = (0.02064, 0.00032, 0.01);
    for (wait, late) in [("0 s", header), ("300 ms", 0.3)] {
        let tcp = format!("tcp = {{ fin = true, close_wait = \"{wait}\" }}");
        let (_, flows) = one_wire(&format!("flow = [{{ src = 0, dst = 1, bulk.segments = 1, {tcp} }}]"));
        let closed = handshake + 0.012 + way + header + way + header + way + late + header + way;
        let found = value(&flows, "close_time_s");
        assert!(close(found, closed), "{wait}: {found} s for {closed} s");
        // The FIN of the receiver, and the header that acknowledges it: neither counts as a packet of the flow.
        assert_eq!((value(&flows, "packets_sent"), value(&flows, "packets_delivered")), (3.0, 1.0));
        let received = value(&flows, "throughput_bps") * value(&flows, "measured_s") / 8.0;
        assert!(close(received, 1500.0 + 3.0 * 40.0), "{received} B with SYN, FIN and that header");
    }
}

#[test]
fn both_ends_of_short_flows_close_over_a_lossy_link() {
    let text = r#"
        run = { batches = 1, warmup_batches = 0, stop = "4000 s" }
        topology.kind = "none"
        topology.wired_nodes = 3
        wired = { rate = "1 Mbit/s", delay = "10 ms", error = { model = "uniform", rate = 0.1 } }
        wired_link = [{ src = 0, dst = 1 }, { src = 1, dst = 2 }]
        tcp = { fin = true, close_wait = "50 ms" }
        arrival_process = [{ src = 0, dst = 2, rate = 2, count = 60, size = { distribution = "fixed", mean = "2 kB" } }]
        flow = [{ src = 0, dst = 2, bulk.segments = 5 }]
    "#;
    for split in ["", "middlebox = [{ kind = \"split\", node = 1 }]"] {
        let text = format!("{text}{split}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(None));
        sim.run();
        let (flows, short) = (sim.recorder().flows(), sim.recorder().short_flows());
        let closed = [flows.numbers("close_time_s"), short.numbers("close_time_s")].map(|c| c.expect("a column"));
        assert_eq!((closed[0].len(), closed[1].len()), (1, 60));
        assert!(closed.iter().flatten().all(|t| t.is_finite() && *t > 0.05), "{split}: {closed:?}");
    }
}

/// A retransmission has the bytes of the first transmission (RFC 9293, 3.8.1), also after the data have arrived and
/// the acknowledgement was lost: 700 B, or the last 1,460 B and 540 B of 2,000 B, with 40 B of headers.
#[test]
fn short_segments_that_are_sent_again_are_as_short() {
    let text = r#"
        run = { batches = 1, warmup_batches = 0, stop = "300 s" }
        topology.kind = "none"
        topology.wired_nodes = 3
        wired = { rate = "1 Mbit/s", delay = "10 ms", error = { model = "uniform", rate = 0.1 } }
        wired_link = [{ src = 0, dst = 1 }, { src = 1, dst = 2 }]
        requests = { think = "2 s", think_distribution = "fixed", size = { distribution = "fixed", mean = "700 B" } }
        flow = [{ src = 0, dst = 2, app = "requests" }]
        arrival_process = [{ src = 0, dst = 2, rate = 0.5, size = { distribution = "fixed", mean = "2000 B" } }]
    "#;
    for split in ["", "middlebox = [{ kind = \"split\", node = 1, flows = [0] }]"] {
        let text = format!("{text}{split}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let packets = record(scenario.setup(None)).tables.remove("packets").expect("it");
        let mut copies = [0; 2];
        for row in packets.iter().filter(|r| r["packet_type"] == "tcp_data" && r["event"] == "created") {
            let (flow, sequence, bytes) = (row["flow"].int(), row["sequence"].int(), row["bytes"].int());
            let wanted = match (flow, sequence) {
                (_, 0) => 40,
                (0, _) => 740,
                (_, 1) => 1500,
                _ => 580,
            };
            assert_eq!(bytes, wanted, "segment {sequence} of flow {flow}");
            copies[flow.min(1) as usize] += 1;
        }
        assert!(copies.iter().all(|&n| n > 30), "{copies:?}");
    }
}

#[test]
fn without_the_setting_nothing_closes() {
    let (_, flows) = one_wire("bulk.bytes = \"1 kB\"\nflow = [{ src = 0, dst = 1 }]");
    assert!(value(&flows, "close_time_s").is_nan());
    assert_eq!(value(&flows, "packets_sent"), 2.0);
}

/// A transfer of 4,000 B in pieces of 700 B, with this rule for small segments: segments, time until the last arrives.
fn in_pieces(nagle: &str) -> (f64, f64) {
    let bulk = "bulk = { bytes = \"4000 B\", write_size = \"700 B\" }";
    let tcp = format!("tcp = {{ nagle = \"{nagle}\", initial_window = 8 }}");
    let (_, flows) = one_wire(&format!("{bulk}\nflow = [{{ src = 0, dst = 1, {tcp} }}]"));
    assert_eq!(flows.counts("bytes_delivered"), Some(&[4000][..]), "{nagle}");
    (value(&flows, "packets_delivered"), value(&flows, "completion_time_s"))
}

#[test]
fn pieces_are_cut_into_segments_as_the_rule_for_small_segments_says() {
    let (handshake, header, way, bytes) = (0.02064, 320e-6, 0.01, |n: f64| n * 8e-6);
    // Each of the six pieces at once.
    let (segments, took) = in_pieces("off");
    assert!(segments == 6.0 && close(took, handshake + bytes(4000.0) + 6.0 * header + way), "{segments}, {took} s");
    // The first piece, which nothing precedes; two full segments; 380 B when all of that is acknowledged.
    let (segments, took) = in_pieces("rfc9293");
    let round = bytes(3620.0) + 3.0 * header + way + header + way;
    assert!(segments == 4.0 && close(took, handshake + round + bytes(380.0) + header + way), "{segments}, {took} s");
    // 380 B when the first piece is acknowledged, which is before the full segments have left.
    let (segments, took) = in_pieces("minshall");
    let acked = bytes(700.0) + header + way + header + way;
    let sent = acked.max(bytes(3620.0) + 3.0 * header);
    assert!(segments == 4.0 && close(took, handshake + sent + bytes(380.0) + header + way), "{segments}, {took} s");
}

#[test]
fn transfer_in_pieces_closes_after_the_last_write_or_a_stop() {
    let bulk = "bulk = { bytes = \"400 kB\", write_size = \"10 kB\" }";
    let tcp = |more: &str| format!("tcp = {{ send_buffer = \"auto\"{more} }}");
    let (_, flows) = one_wire(&format!("{bulk}\nflow = [{{ src = 0, dst = 1, {} }}]", tcp(", fin = true")));
    assert_eq!(flows.counts("bytes_delivered"), Some(&[400_000][..]));
    assert!(value(&flows, "close_time_s") > value(&flows, "completion_time_s"));
    let (_, flows) = one_wire(&format!("{bulk}\nflow = [{{ src = 0, dst = 1, stop = \"1 s\", {} }}]", tcp("")));
    let (sent, delivered) = (value(&flows, "packets_sent"), value(&flows, "packets_delivered"));
    assert!(sent == delivered + 1.0 && delivered > 50.0 && delivered < 274.0, "{sent} {delivered}");
    assert!(value(&flows, "completion_time_s") > 1.0);
}

/// Time until the last of 2,190 B has arrived, a segment and a half, and the segments, of a flow with this application.
fn of_a_segment_and_a_half(nagle: &str, app: &str) -> (f64, f64) {
    let tcp = format!("tcp = {{ nagle = \"{nagle}\", initial_window = 8 }}");
    let (_, flows) = one_wire(&format!("flow = [{{ src = 0, dst = 1, {app}, {tcp} }}]"));
    assert_eq!(flows.counts("bytes_delivered"), Some(&[2190][..]), "{nagle}, {app}");
    (value(&flows, "completion_time_s"), value(&flows, "packets_delivered"))
}

#[test]
fn small_segment_rule_does_not_depend_on_the_pieces_written() {
    let (handshake, header, way, bytes) = (0.02064, 320e-6, 0.01, |n: f64| n * 8e-6);
    let at_once = handshake + bytes(2190.0) + 2.0 * header + way;
    // The rest when the first segment is acknowledged (RFC 9293, 3.7.4).
    let held = handshake + bytes(2190.0) + 3.0 * header + 3.0 * way;
    let fixed = "{ distribution = \"fixed\", mean = \"2190 B\" }";
    let apps = [
        "bulk = { bytes = \"2190 B\" }".to_owned(),
        "bulk = { bytes = \"2190 B\", write_size = \"2190 B\" }".to_owned(),
        "bulk = { bytes = \"2190 B\", write_size = \"1 MB\" }".to_owned(),
        format!("app = \"requests\", requests = {{ size = {fixed}, count = 1 }}"),
    ];
    for app in &apps {
        for (nagle, expected) in [("off", at_once), ("rfc9293", held), ("minshall", at_once)] {
            let (took, segments) = of_a_segment_and_a_half(nagle, app);
            assert!(segments == 2.0 && close(took, expected), "{nagle}, {app}: {took} s for {expected}");
        }
    }
    // The same as the default, and with short flows; a FIN is not held.
    let process = format!("arrival_process = [{{ src = 0, dst = 1, rate = 1.0, count = 1, size = {fixed} }}]");
    for (tcp, expected) in
        [("", held), (", nagle = \"off\"", at_once), (", nagle = \"minshall\"", at_once), (", fin = true", at_once)]
    {
        let wire = ONE_WIRE.replace("initial_window = 1", &format!("initial_window = 8{tcp}"));
        let text = format!("{wire}\n{process}");
        let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
        let mut sim = Sim::new(&scenario.setup(None));
        sim.run();
        let took = value(&sim.recorder().short_flows(), "completion_time_s");
        assert!(close(took, expected), "short flow, {tcp}: {took} s for {expected}");
    }
}

#[test]
fn the_rest_of_a_burst_waits_while_data_are_outstanding() {
    // Bursts of 2 s of 1 Mbit/s, over a link of 1 Mbit/s: their ends find segments in the queue.
    let app = "app = \"on_off\", on_off = { on = \"2 s\", off = \"300 ms\", rate = \"1 Mbit/s\", payload = \"999 B\" }";
    let delays = ["off", "rfc9293"].map(|nagle| {
        let (_, flows) = one_wire(&format!("flow = [{{ src = 0, dst = 1, {app}, tcp.nagle = \"{nagle}\" }}]"));
        (value(&flows, "packets_sent"), value(&flows, "mean_delay_s"))
    });
    assert_ne!(delays[0], delays[1]);
}
