//! Properties of stations with EDCA over random scenarios.

use crate::properties::scenario;
use chappe_core::sim::Sim;
use proptest::prelude::*;

/// Algorithms that choose rates for aggregates, and none.
const ALGORITHMS: [&str; 5] = ["fixed", "arf", "aarf", "cara", "ideal"];

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
    let more = (any::<bool>(), any::<bool>(), prop::sample::select(vec![0, 2528]), 0..8u32, 1..12u32);
    (preset, algorithm, rts, interval, place, more).prop_map(
        |(preset, algorithm, rts, interval, (away, walks, losses), (established, never, limit, mcs, attempts))| {
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
                 wlan = {{ rts_threshold = \"{rts}\", rate_control.algorithm = \"{algorithm}\", ppdu.mcs = {mcs}, {losses}\n\
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

    /// Requests for a block acknowledgement spare repetitions. They block nothing: a link that carries single frames for
    /// seconds carries some with requests, whatever is lost.
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
