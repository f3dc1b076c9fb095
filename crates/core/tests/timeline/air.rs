//! Frames on the air, frame by frame: exchanges, ranges, hidden terminals.

use chappe_core::record::trace::{Line, What};
use chappe_core::sim::Sim;
use chappe_core::unit::{Span, Time};
use chappe_scenario::{NoFiles, Scenario};

/// Runs a scenario built on ns-2.35, ARP and random jitter of routing left out.
pub fn run(text: &str) -> (Sim, Vec<Line>) {
    let text = format!("extends = \"ns2-2.35\"\narp.enabled = false\n{text}");
    let scenario = Scenario::from_toml("test", &text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(None));
    sim.trace();
    sim.run();
    let lines = sim.take_trace().expect("it was asked for").lines;
    (sim, lines)
}

/// Time after an instant [us], node, event, type, receiver address.
fn told(lines: &[Line], from: Time) -> Vec<String> {
    let line = |l: &Line| {
        let what = match l.what {
            What::Sent => "sends",
            What::Received => "receives",
            What::Damaged => "is disturbed by",
        };
        let after = (l.at.since(from).0 as f64 / 1e3 * 1e3).round() / 1e3;
        format!("{after:.3} {} {what} {}", l.radio.0, l.kind.name())
    };
    lines.iter().map(line).collect()
}

/// One datagram from node 0 to node 1, seen from the start of its first frame.
fn exchange(hops: u32, wlan: &str, payload: u32) -> (Vec<Line>, Time, Time) {
    let (_, lines) = run(&format!(
        r#"
        run = {{ stop = "3 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = {hops} }}
        routing = {{ protocol = "shortest_path" }}
        wlan = {{ {wlan} }}
        cbr = {{ payload = "{payload} B", header_size = "0 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "1 s" }}]
        "#
    ));
    let start = lines.iter().find(|l| l.what == What::Sent).expect("something is sent").at;
    (lines, start, Time::ZERO + Span::secs(1))
}

#[test]
fn an_exchange_takes_as_long_as_in_ns2() {
    // As traced in ns-2.35: MPDU of 1494 B at 2 Mbit/s.
    let (lines, start, handed_over) = exchange(1, "rts_threshold = \"always\"", 1460);
    assert_eq!(
        told(&lines, start),
        [
            "0.000 0 sends RTS",
            "352.667 1 receives RTS",
            "362.667 1 sends CTS",
            "667.334 0 receives CTS",
            "677.334 0 sends DATA",
            "6846.001 1 receives DATA",
            "6856.001 1 sends ACK",
            "7160.668 0 receives ACK",
        ]
    );
    let duration = |kind: &str| lines.iter().find(|l| l.kind.name() == kind).expect("sent").duration_us;
    assert_eq!(["RTS", "CTS", "DATA", "ACK"].map(duration), [6806, 6492, 314, 0]);
    // 25 us on the way down, DIFS, whole slots.
    let slots = (start.since(handed_over).0 - 25_000 - 50_000) as f64 / 20_000.0;
    assert!(slots.fract() == 0.0 && slots <= 30.0, "{slots} slots");
}

#[test]
fn durations_and_airtimes_of_a_full_segment() {
    // The table of the same section: RTS, CTS and DATA duration, and from the start of RTS to the end of ACK.
    for (rate, durations, whole) in [("2 Mbit/s", [6966, 6652, 314], 7318.0), ("11 Mbit/s", [1946, 1632, 314], 2297.6)]
    {
        let (lines, start, _) = exchange(1, &format!("rts_threshold = \"always\", data_rate = \"{rate}\""), 1500);
        let duration = |kind: &str| lines.iter().find(|l| l.kind.name() == kind).expect("sent").duration_us;
        assert_eq!(["RTS", "CTS", "DATA"].map(duration), durations, "{rate}");
        let end = lines.last().expect("an ACK").at.since(start).0 as f64 / 1e3;
        assert!((end - whole - 4.0 * 0.667).abs() < 0.05, "{rate}: {end} us");
    }
}

#[test]
fn without_rts_only_data_and_ack_are_sent() {
    let (lines, start, _) = exchange(1, "rts_threshold = \"never\"", 1460);
    assert_eq!(
        told(&lines, start),
        ["0.000 0 sends DATA", "6168.667 1 receives DATA", "6178.667 1 sends ACK", "6483.334 0 receives ACK",]
    );
}

#[test]
fn a_short_preamble_takes_96_us() {
    // IEEE 802.11-2020, 16.2.2.3: the short PLCP takes 96 us and carries 2 Mbit/s and more.
    let (lines, start, _) =
        exchange(1, "rts_threshold = \"always\", basic_rate = \"2 Mbit/s\", preamble = \"short\"", 1460);
    let rts_end = lines[1].at.since(start).0;
    assert_eq!(rts_end, 96_000 + 20 * 8 * 500 + 667);
}

#[test]
fn ranges_on_the_chain_of_200_m() {
    // Decoded at 200 m, sensed at 400 m, silent at 600 m.
    let (lines, _, _) = exchange(4, "rts_threshold = \"never\"", 1460);
    let who = |kind: &str, what: What| -> Vec<u32> {
        let of = lines.iter().filter(|l| l.kind.name() == kind && l.what == what);
        of.map(|l| l.radio.0).collect()
    };
    assert_eq!(who("DATA", What::Received), [1]);
    assert_eq!(who("DATA", What::Damaged), [2]);
    assert_eq!(who("ACK", What::Received), [0]);
    assert_eq!(who("ACK", What::Damaged), [3]);
}

/// Datagrams of two pairs whose senders cannot sense each other: 0 to 1, and 3 to 4. `first` starts 2.9 ms earlier.
fn hidden(first: &str, rts: &str) -> (Sim, Vec<Line>) {
    let (a, b) = if first == "0" { ("1 s", "1.0029 s") } else { ("1.0029 s", "1 s") };
    run(&format!(
        r#"
        run = {{ stop = "3 s", batches = 1, warmup_batches = 0 }}
        topology = {{ hops = 4 }}
        routing = {{ protocol = "shortest_path" }}
        wlan = {{ rts_threshold = "{rts}" }}
        cbr = {{ payload = "1460 B", header_size = "0 B", datagrams = 1 }}
        flow = [{{ src = 0, dst = 1, app = "cbr", start = "{a}" }}, {{ src = 3, dst = 4, app = "cbr", start = "{b}" }}]
        "#
    ))
}

fn sent(lines: &[Line], node: u32, kind: &str) -> Vec<Time> {
    let mine = lines.iter().filter(|l| l.radio.0 == node && l.what == What::Sent && l.kind.name() == kind);
    mine.map(|l| l.at).collect()
}

#[test]
fn frame_survives_a_later_hidden_terminal() {
    let (sim, lines) = hidden("0", "never");
    assert_eq!(sim.recorder().flows().counts("packets_delivered"), Some([1, 1].as_slice()));
    assert_eq!((sent(&lines, 0, "DATA").len(), sent(&lines, 3, "DATA").len()), (1, 1));
    assert_eq!(sim.recorder().nodes().counts("captures").expect("a column")[1], 1);
}

#[test]
fn earlier_hidden_terminal_destroys_the_frame() {
    let (sim, lines) = hidden("3", "never");
    let (zero, three) = (sent(&lines, 0, "DATA"), sent(&lines, 3, "DATA"));
    assert_eq!((zero.len(), three.len()), (2, 1), "node 0 has to repeat its frame, node 3 has not");
    // The collision lasts at node 1 until the later frame has ended.
    let collided = lines.iter().find(|l| l.radio.0 == 1 && l.what == What::Damaged).expect("a collision");
    assert_eq!(collided.at.since(zero[0]).0, 6_168_667);
    // Its ACK is missed DATA + 318 us after the start; then DIFS and a backoff of 0 to 62 slots.
    let wait = zero[1].since(zero[0]).0 as i64 - (6_168_000 + 318_000 + 50_000);
    assert!((0..=62 * 20_000).contains(&wait) && wait % 20_000 == 0, "{wait} ns");
    assert_eq!(sim.recorder().flows().counts("packets_delivered"), Some([1, 1].as_slice()));
}

#[test]
fn an_rts_is_repeated_until_the_hidden_exchange_is_over() {
    let (sim, lines) = hidden("3", "always");
    let rts = sent(&lines, 0, "RTS");
    let over = *sent(&lines, 4, "ACK").last().expect("the hidden exchange succeeds");
    assert!(rts.len() > 1, "the first RTS must fail");
    let answered = sent(&lines, 1, "CTS");
    assert_eq!(answered.len(), 1);
    assert!(answered[0] > over, "no CTS while the other exchange runs");
    assert_eq!(sim.recorder().flows().counts("packets_delivered"), Some([1, 1].as_slice()));
}
