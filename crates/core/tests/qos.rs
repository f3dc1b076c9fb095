//! Properties of stations with EDCA over random scenarios: TXOPs within their limits, and links that do not fall
//! silent.

use crate::properties::{QUEUES, scenario};
use crate::record::record_some;
use chappe_core::run::{RecordedTable, Setup};
use chappe_core::sim::Sim;
use proptest::prelude::*;

/// Algorithms that choose rates for aggregates, and none.
const ALGORITHMS: [&str; 7] = ["fixed", "arf", "aarf", "cara", "ideal", "minstrel_ht", "minstrel_ht_ns3"];

/// Stations of one cell that send datagrams to each other, all categories with one TXOP limit \[us\].
fn cells() -> impl Strategy<Value = (String, u32)> {
    let phy = prop_oneof![
        (Just("802.11n"), prop::sample::select(vec![20, 40]), 0..8u32),
        (Just("802.11ac"), prop::sample::select(vec![20, 40, 80]), 0..9u32),
    ];
    let protection = prop::sample::select(vec![
        "",
        "rts_threshold = \"always\"",
        "rts_threshold = \"4000 B\"",
        "protection = \"11 Mbit/s\"",
        "protection = \"1 Mbit/s\"",
    ]);
    let algorithm = prop::sample::select(ALGORITHMS.to_vec());
    let others = prop::sample::select(vec!["0 s", "700 us"]);
    let flow = (0..3u32, 1..3u32, 0..64u32, 60..900u32, 100..1472u32);
    let flows = prop::collection::vec(flow, 1..4);
    let queues = prop::sample::select(QUEUES.to_vec());
    (phy, protection, algorithm, others, flows, (300..6000u32, 2..30u32, any::<bool>(), 0..3u32, queues)).prop_map(
        |((preset, width, mcs), protection, algorithm, others, flows, (limit, apart, established, amsdu, queues))| {
            let flows = flows.into_iter().map(|(src, to, dscp, interval, payload)| {
                let dst = (src + to) % 3;
                format!(
                    "{{ src = {src}, dst = {dst}, app = \"cbr\", dscp = {dscp}, \
                       cbr = {{ interval = \"{interval} us\", payload = \"{payload} B\" }} }}"
                )
            });
            let categories = ["best_effort", "background", "video", "voice"];
            let limits: Vec<_> = categories.map(|c| format!("{c}.txop_limit = \"{limit} us\"")).into();
            let gap = if width > 20 { others } else { "0 s" };
            let secondary = if gap == "0 s" { "" } else { "secondary_channel.gap = \"700 us\"," };
            let text = format!(
                "extends = \"{preset}\"\nrun = {{ stop = \"100 ms\", batches = 1, warmup_batches = 0 }}\n\
                 topology = {{ hops = 2, spacing = \"{apart} m\" }}\nrouting.protocol = \"shortest_path\"\n\
                 radio.sinr.bandwidth = \"{width} MHz\"\nqueue.limit = 500\n\
                 wlan = {{ {queues}ppdu = {{ channel_width = \"{width} MHz\", mcs = {mcs} }}, {secondary}\n\
                   rate_control.algorithm = \"{algorithm}\", aggregation.amsdu_size = \"{} B\",\n\
                   block_ack.agreement = \"{}\", edca = {{ {} }}, {protection} }}\nflow = [{}]",
                amsdu * 3000,
                if established { "established" } else { "requested" },
                limits.join(", "),
                flows.collect::<Vec<_>>().join(", "),
            );
            (text, limit)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Only a TXOP with a single MPDU may be longer (IEEE 802.11-2020, 10.23.2.9). In a TXOP a frame follows the one
    /// before it after SIFS, in a cell where all hear each other; a new one begins with AIFS.
    #[test]
    fn no_txop_of_several_mpdus_is_longer_than_its_limit((text, limit) in cells(), seed in any::<u32>()) {
        let setup = Setup { record: vec![RecordedTable::Frames], ..scenario(&text).setup(Some(seed.into())) };
        let mut frames: Vec<_> = record_some(setup).tables["frames"]
            .iter()
            .map(|f| (f["time_s"].float() * 1e6, f["airtime_s"].float() * 1e6, f["mpdus"].int()))
            .collect();
        frames.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut began, mut end, mut mpdus, mut collided) = (0.0f64, -1e9f64, 0, false);
        for (at, airtime, count) in frames {
            if at > end + 17.0 {
                (began, mpdus, collided) = (at, 0, false);
            }
            // Those that collide are two TXOPs.
            collided |= at < end;
            (end, mpdus) = (end.max(at + airtime), mpdus + count);
            // Frames take 0.2 us on their way.
            let over = end - began - f64::from(limit);
            prop_assert!(collided || mpdus < 2 || over < 1.0, "{mpdus} MPDUs from {began} us on: {over} us too long\n{text}");
        }
    }
}

/// A link that stays, or a walk away from the access point and back, with datagrams in one direction.
fn links() -> impl Strategy<Value = String> {
    let preset = prop::sample::select(vec!["802.11n", "802.11ac"]);
    let algorithm = prop::sample::select(ALGORITHMS.to_vec());
    let rts = prop::sample::select(vec!["never", "always", "2000 B"]);
    let interval = prop::sample::select(vec![700, 2500, 9000]);
    let place = prop_oneof![
        (1..170u32).prop_map(|m| (m, false, "")),
        (1..40u32).prop_map(|m| (m, true, "")),
        (1..40u32).prop_map(|m| (m, false, "error = { model = \"uniform\", rate = 0.4 },")),
        // Answers come too late.
        Just((1500, false, "")),
    ];
    let queues = prop::sample::select(QUEUES.to_vec());
    let more = (any::<bool>(), any::<bool>(), prop::sample::select(vec![0, 2528]), 0..8u32, 1..12u32, queues);
    (preset, algorithm, rts, interval, place, more).prop_map(
        |(preset, algorithm, rts, interval, (away, walks, losses), (established, never, limit, mcs, attempts, queues))| {
            let is_far = away == 1500;
            // No RTS is answered in time: only frames that need none get through.
            let rts = if is_far { "never" } else { rts };
            let [algorithm, radio] = match is_far {
                true => ["fixed", "propagation = \"range\", range = \"2 km\", sense_range = \"2 km\", \
                         receive_threshold = \"range\", sense_threshold = \"sense_range\", reception = \"pairwise\""],
                false => [algorithm, "propagation = \"log_distance\", log_distance = { exponent = 3, loss = \"47 dB\" }"],
            };
            let walk = match walks {
                true => "event = [{ at = \"0 s\", action = \"node_move\", node = 1, destination = [\"200 m\", \"0 m\"], speed = \"40 m/s\" }, \
                         { at = \"6 s\", action = \"node_move\", node = 1, destination = [\"10 m\", \"0 m\"], speed = \"40 m/s\" }]\n",
                false => "",
            };
            format!(
                "extends = \"{preset}\"\nrun = {{ stop = \"12 s\", batches = 12, warmup_batches = 0 }}\n\
                 topology = {{ hops = 1, spacing = \"{away} m\" }}\n{walk}\
                 routing = {{ protocol = \"fixed\", fixed.routes = [{{ node = 0, dst = 1, next_hop = 1 }}, \
                   {{ node = 1, dst = 0, next_hop = 0 }}] }}\n\
                 radio = {{ {radio} }}\n\
                 wlan = {{ {queues}rts_threshold = \"{rts}\", rate_control.algorithm = \"{algorithm}\", ppdu.mcs = {mcs}, {losses}\n\
                   edca.best_effort.txop_limit = \"{limit} us\", block_ack.request_attempts = {attempts}, \
                   block_ack.agreement = \"{}\", block_ack.release_after = \"{}\" }}\n\
                 cbr = {{ interval = \"{interval} us\", payload = \"1200 B\" }}\nflow = [{{ src = 0, dst = 1, app = \"cbr\" }}]\n",
                if established { "established" } else { "requested" },
                if never { "never" } else { "100 ms" },
            )
        },
    )
}

/// Datagrams that arrive in each second.
fn arrived(text: &str, wlan: &str, seed: u32) -> Vec<u64> {
    let text = text.replace("wlan = { ", &format!("wlan = {{ {wlan}, "));
    let mut sim = Sim::new(&scenario(&text).setup(Some(seed.into())));
    sim.run();
    sim.recorder().flow_batches().counts("packets_delivered").expect("a column").to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Requests for a block acknowledgement spare repetitions. They block nothing: a link that carries single frames
    /// for seconds carries some with requests, whatever is lost.
    #[test]
    fn requests_silence_no_link_that_carries_data(text in links(), seed in any::<u32>()) {
        let asks = arrived(&text, "block_ack.after_missed = \"request\"", seed);
        for others in ["block_ack.after_missed = \"repeat\"", "aggregation.max_mpdus = 1"] {
            let others = arrived(&text, others, seed);
            for (i, three) in others.windows(3).enumerate() {
                let carries = three.iter().all(|&n| n >= 20);
                prop_assert!(!carries || asks[i + 1] > 0, "{asks:?} with requests, {others:?} without\n{text}");
            }
        }
    }
}
