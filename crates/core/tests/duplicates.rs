//! Duplicate datagrams: the ACK is lost, the MAC gives the datagram up, and routing sends it over another route.

use crate::properties::run;
use chappe_core::packet::Kind;

/// Stations that send as soon as the medium was idle for DIFS, and give up after one attempt:
///
/// 4 --200 m-- 3 --400 m-- 0 --240 m-- 1      2, next to 0 and 1, has sent a packet to 1 before
///
/// At 3 s nodes 0 and 3 begin to send their second datagrams. The datagram of node 3 is long, and the ACK of node 1
/// arrives at node 0 during it; node 1 does not sense node 3.
const TEXT: &str = r#"
    run = { stop = "5 s", batches = 1, warmup_batches = 0 }
    topology = { kind = "list", positions = [
        ["600 m", "0 m"], ["840 m", "0 m"], ["760 m", "150 m"], ["200 m", "0 m"], ["0 m", "0 m"]] }
    wlan = { short_retry_limit = 1, rts_threshold = "never", first_access = "backoff", backoff_range = "exclusive",
             cw_min = 1, cw_max = 1 }
    routing = { protocol = "dsr", dsr = { promiscuous = false, reply_jitter = "100 ms" } }
    cbr = { payload = "100 B", datagrams = 2 }
    flow = [
        { app = "cbr", src = 0, dst = 1, start = "1 s", cbr.interval = "2 s" },
        { app = "cbr", src = 2, dst = 1, start = "0.5 s", cbr.datagrams = 1 },
        { app = "cbr", src = 3, dst = 4, start = "2 s", cbr = { interval = "1 s", payload = "1460 B" } },
    ]
"#;

#[test]
fn datagram_over_two_routes_is_delivered_once() {
    let sim = run(TEXT, 1);
    let flows = sim.recorder().flows();
    let count = |name: &str| flows.counts(name).expect("a column")[0];
    let number = |name: &str| flows.numbers(name).expect("a column")[0];
    assert_eq!(count("packets_sent"), 2);
    assert_eq!(count("packets_delivered"), 2);
    assert_eq!((count("duplicates_received"), count("copies_received")), (1, 3));
    // The first over 2, which has answered before 1, the second over one hop, and once more over 2.
    assert_eq!(number("mean_hops") * 3.0, 2.0 + 1.0 + 2.0);
    assert_eq!(number("goodput_bps"), 2.0 * 800.0 / 5.0);
    assert_eq!(number("throughput_bps"), 3.0 * 1024.0 / 5.0);
    // The delay and the completion are those of what came first: a preamble of 192 us and 172 B at 2 Mbit/s.
    let first = 192e-6 + 172.0 * 8.0 / 2e6;
    assert!((number("completion_time_s") - 2.0 - first).abs() < 2e-6, "{}", number("completion_time_s"));
    assert_eq!(count("delay_samples"), 2);
    let (mean, copies) = (number("mean_delay_s"), number("mean_copy_delay_s"));
    assert!(3.0 * copies > 2.0 * mean + 2.0 * first, "{mean} s, with the duplicate {copies} s");
    // Both copies have reached their destination, and no packet was lost.
    let ledger = sim.pool().ledger();
    let data = Kind::Data as usize;
    assert_eq!((ledger.created[data], ledger.delivered[data]), (5, 6));
    assert_eq!(ledger.dropped[data].iter().sum::<u64>(), 0);
}

#[test]
fn a_run_ends_with_datagrams_and_not_with_duplicates() {
    // The duplicate comes when two have been delivered, and the third that is asked for never does.
    let sim = run(&TEXT.replace("stop = \"5 s\"", "stop = \"6 delivered\", time_limit = \"5 s\""), 1);
    assert_eq!(sim.recorder().delivered(), 5);
    assert_eq!(sim.recorder().flows().counts("duplicates_received").expect("a column")[0], 1);
}
