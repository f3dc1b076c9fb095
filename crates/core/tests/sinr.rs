//! Cumulative interference: links and chains compared with ns-3.37, and invariants.

use chappe_core::radio::error_rate::{Ofdm, ln_success};
use chappe_core::sim::Sim;
use chappe_core::unit::BitRate;
use chappe_scenario::{NoFiles, Scenario};

/// 802.11b over log-distance with this SNR at 10 m [dB]. The bandwidth is that in which ns-3 receives.
fn scenario(snr_db: f64, more: &str) -> String {
    // 290 K, 20 MHz, noise figure 7 dB.
    let noise_dbm = 10.0 * (1.380_649e-23 * 290.0 * 20e6f64).log10() + 30.0 + 7.0;
    format!(
        r#"
        radio.propagation = "log_distance"
        radio.log_distance = {{ exponent = 2.2, distance = "10 m", loss = "100 dB" }}
        radio.transmit_power = "{} dBm"
        radio.reception = "sinr"
        radio.sinr.bandwidth = "20 MHz"
        {more}
        "#,
        100.0 + noise_dbm + snr_db
    )
}

fn run(text: &str, seed: u64) -> Sim {
    let scenario = Scenario::from_toml("test", text, &[], &NoFiles).unwrap_or_else(|e| panic!("{e}"));
    let mut sim = Sim::new(&scenario.setup(Some(seed)));
    sim.run();
    sim
}

/// Payload of all flows together [kbit/s], `payload` bytes a packet.
fn goodput(sim: &Sim, payload: f64) -> f64 {
    sim.recorder().delivered() as f64 * payload * 8.0 / sim.now().as_secs() / 1e3
}

/// One saturated link in ns-3.37 at a fixed rate: rate [Mbit/s], Rayleigh fading, SNR [dB], goodput [kbit/s].
/// Its ratio is that to the noise in 22 MHz, while it receives in 20 MHz; here 0.414 dB more make up for that.
const LINKS: [(&str, bool, f64, f64); 16] = [
    ("1", false, -2.0, 911.2),
    ("1", false, 2.0, 912.8),
    ("2", false, 1.0, 1448.0),
    ("2", false, 3.0, 1723.2),
    ("5.5", false, 4.0, 3772.0),
    ("5.5", false, 7.0, 3984.0),
    ("11", false, 6.0, 2836.8),
    ("11", false, 7.0, 5988.8),
    ("11", false, 12.0, 6364.8),
    ("1", true, 12.0, 879.2),
    ("2", true, 9.0, 1417.6),
    ("5.5", true, 9.0, 2538.4),
    ("5.5", true, 15.0, 3573.6),
    ("11", true, 9.0, 2040.8),
    ("11", true, 12.0, 3829.6),
    ("11", true, 24.0, 6174.4),
];

#[test]
fn a_link_delivers_as_much_as_in_ns3() {
    for (rate, rayleigh, snr, kbps) in LINKS {
        let fading = if rayleigh { "rayleigh" } else { "none" };
        let more = format!(
            r#"
            radio.sinr.preamble_detection = "-20 dB"
            radio.sinr.fading = "{fading}"
            wlan = {{ data_rate = "{rate} Mbit/s", basic_rate = "{rate} Mbit/s", rts_threshold = "never" }}
            topology = {{ hops = 1, spacing = "10 m" }}
            routing = {{ protocol = "fixed", fixed.routes = [{{ node = 0, dst = 1, next_hop = 1 }}] }}
            cbr = {{ payload = "1472 B", header_size = "28 B", interval = "1 ms" }}
            flow = [{{ src = 0, dst = 1, app = "cbr" }}]
            run.stop = "10 s"
            "#
        );
        let found = goodput(&run(&scenario(snr + 0.414, &more), 1), 1500.0);
        let off = found / kbps - 1.0;
        // With fading ns-3's own runs of 15 s scatter.
        let close = if rayleigh { 0.03 } else { 0.02 };
        assert!(off.abs() < close, "{rate} Mbit/s, {fading}, {snr} dB: {found:.0}, not {kbps} kbit/s");
    }
}

/// Hops, long preamble, goodput of TCP in ns-3.37 [kbit/s], means of two seeds: the chain that `chain_scenario`
/// describes.
const CHAINS: [(u32, bool, f64); 5] =
    [(1, true, 5249.9), (1, false, 6070.6), (2, true, 2669.3), (3, true, 1738.6), (5, true, 1085.3)];

fn chain_scenario(hops: u32, preamble: &str, seconds: u32, more: &str) -> String {
    let more = format!(
        r#"
        radio.sinr.preamble_detection = "4 dB"
        radio.sinr.energy_detection = "-89.97 dBm"
        wlan = {{ data_rate = "11 Mbit/s", basic_rate = "2 Mbit/s", preamble = "{preamble}", rts_threshold = "never",
                  short_retry_limit = 11 }}
        topology.hops = {hops}
        topology.spacing = "10 m"
        routing.protocol = "shortest_path"
        queue = {{ discipline = "droptail", limit = 49 }}
        tcp = {{ variant = "sack", mss = "1448 B", header_size = "52 B", ack_size = "52 B", timestamps = true,
                 initial_window = 3, receive_window = 200, ack_policy = "delayed", rto.min = "200 ms" }}
        flow = [{{ src = 0, dst = {hops} }}]
        run.stop = "{seconds} s"
        {more}
        "#
    );
    scenario(12.0, &more)
}

#[test]
fn a_chain_delivers_as_much_as_in_ns3() {
    for (hops, long, kbps) in CHAINS {
        let preamble = if long { "long" } else { "short" };
        let sims = (1..=2).map(|seed| goodput(&run(&chain_scenario(hops, preamble, 20, ""), seed), 1448.0));
        let found = sims.sum::<f64>() / 2.0;
        let off = found / kbps - 1.0;
        assert!(off.abs() < 0.1, "{hops} hops, {preamble}: {found:.0}, not {kbps} kbit/s");
    }
}

#[test]
fn no_eifs_follows_a_collision_in_which_no_preamble_was_detected() {
    // Equal signals that begin in one slot: none is detected (4 dB within 4 us), so that PHY-RXSTART is not indicated
    // and EIFS (10.3.2.3.7) makes no difference, however far apart the senders are.
    let counts = |meters: f64, eifs: &str| {
        let at = |i: u32| format!("[\"{} m\", \"0 m\"]", f64::from(i) * meters);
        let rows = |a: u32| (0..5).filter(move |b| *b != a).map(move |b| format!("{a},{b},-60\\n"));
        let routes = |i: u32| format!("{{ node = {i}, dst = 0, next_hop = 0 }}");
        let flow = |i: u32| format!("{{ src = {i}, dst = 0, app = \"cbr\", dscp = {} }}", if i < 3 { 48 } else { 0 });
        let list = |of: &dyn Fn(u32) -> String, from: u32| (from..5).map(of).collect::<Vec<_>>().join(", ");
        let text = format!(
            r#"
            extends = "802.11n"
            run.stop = "1 s"
            topology = {{ kind = "list", positions = [{}] }}
            radio = {{ propagation = "links", links_table = "src,dst,signal_dbm\n{}", sinr.detection_time = "4 us" }}
            wlan = {{ eifs = "{eifs}", aggregation.max_mpdus = 1, edca.voice.txop_limit = "0 s" }}
            routing = {{ protocol = "fixed", fixed.routes = [{}] }}
            cbr = {{ payload = "1472 B", interval = "200 us" }}
            flow = [{}]
            "#,
            list(&at, 0),
            (0..5).flat_map(rows).collect::<String>(),
            list(&routes, 1),
            list(&flow, 1),
        );
        let delivered = run(&text, 1).recorder().flows().counts("packets_delivered").expect("a column").to_vec();
        assert!(delivered.iter().sum::<u64>() > 2000, "{delivered:?}");
        delivered
    };
    for meters in [0.5, 1.0, 2.0, 7.3] {
        assert_eq!(counts(meters, "instead_of_difs"), counts(meters, "difs"), "{meters} m apart");
    }
}

#[test]
fn observers_change_no_result() {
    // `run` panics unless each packet has exactly one outcome.
    let seen = |more: &str, seed| {
        let sim = run(&chain_scenario(5, "long", 5, more), seed);
        let r = sim.recorder();
        format!("{:?} {:?}", r.nodes().counts("data_frames_sent"), r.flows().counts("packets_delivered"))
    };
    for more in ["", "radio.sinr.fading = \"rayleigh\"", "radio.shadowing = \"3 dB\"", "radio.sinr.relock = \"5 dB\""] {
        let plain = seen(more, 1);
        assert_eq!(plain, seen(&format!("{more}\nrun.airtime = true"), 1), "{more}");
        assert_eq!(plain, seen(&format!("{more}\nrun.record = [\"frames\"]"), 1), "{more}");
        assert_ne!(plain, seen(more, 2), "{more}");
    }
    let other = "topology.seed = 2\nradio.shadowing = \"3 dB\"";
    assert_ne!(seen("radio.shadowing = \"3 dB\"", 1), seen(other, 1), "the layout has its own shadowing");
}

#[test]
fn a_hidden_terminal_hurts_more_at_a_fast_rate() {
    // Node 3 sends to 4 without sensing 0, which sends to 1.
    let lost = |rate: &str| {
        let more = format!(
            r#"
            radio.sinr.preamble_detection = "4 dB"
            wlan = {{ data_rate = "{rate} Mbit/s", basic_rate = "1 Mbit/s", rts_threshold = "never" }}
            topology = {{ hops = 4, spacing = "10 m" }}
            routing.protocol = "shortest_path"
            cbr = {{ payload = "1000 B", header_size = "28 B", interval = "10 ms" }}
            flow = [{{ src = 0, dst = 1, app = "cbr" }}, {{ src = 3, dst = 4, app = "cbr" }}]
            run.stop = "20 s"
            "#
        );
        let nodes = run(&scenario(12.0, &more), 1).recorder().nodes();
        let of = |name: &str| nodes.counts(name).expect("a column")[0] as f64;
        of("data_frames_failed") / of("data_frames_sent")
    };
    let (fast, slow) = (lost("11"), lost("2"));
    assert!(fast > 10.0 * slow && fast > 0.02, "{fast} at 11 Mbit/s, {slow} at 2 Mbit/s");
}

#[test]
fn a_narrow_frame_is_judged_by_its_own_rate() {
    // With a secondary channel that is never idle a network of 40 MHz sends in 20 MHz: as one of 20 MHz at the same
    // ratio of signal to noise, at which some MPDUs are lost.
    let counted = |width: u32, noise_figure: f64, more: &str| {
        let sim = run(
            &format!(
                r#"
                extends = "802.11n"
                run.stop = "400 ms"
                topology.hops = 1
                routing.protocol = "shortest_path"
                flow = [{{ dst = 1 }}, {{ src = 1, dst = 0 }}]
                radio.propagation = "log_distance"
                radio.log_distance = {{ exponent = 2.2, distance = "200 m", loss = "50 dB" }}
                radio.transmit_power = "-20 dBm"
                radio.sinr.bandwidth = "{width} MHz"
                radio.sinr.noise_figure = "{noise_figure} dB"
                wlan.ppdu.channel_width = "{width} MHz"
                {more}
                "#
            ),
            1,
        );
        let nodes = sim.recorder().nodes();
        ["mpdus_sent", "mpdus_failed"].map(|column| nodes.counts(column).expect("a column").iter().sum::<u64>())
    };
    let narrow = counted(20, 7.0, "");
    assert!(narrow[1] > 50 && 2 * narrow[1] < narrow[0], "{narrow:?}");
    // Half the noise figure in twice the bandwidth.
    let half = 7.0 - 10.0 * 2.0f64.log10();
    let never_idle = "wlan.secondary_channel = { gap = \"10 us\", frame_time = \"1 s\" }";
    assert_eq!(counted(40, half, never_idle), narrow);
    assert!(counted(40, half, "")[0] > narrow[0]);
}

#[test]
fn a_table_of_errors_takes_the_place_of_the_bound() {
    // A link by a bound and by this bound as a table loses as many MPDUs; by a table that loses nothing from 20 dB on
    // it loses none at 24 dB, and control frames keep their bound.
    let text = |more: &str| {
        format!(
            r#"
            extends = "802.11n"
            run.stop = "1 s"
            topology.hops = 1
            routing.protocol = "shortest_path"
            flow = [{{ dst = 1, app = "cbr", cbr = {{ interval = "220 us", payload = "1472 B" }} }}]
            radio.propagation = "log_distance"
            radio.log_distance = {{ exponent = 2.2, distance = "200 m", loss = "50 dB" }}
            radio.transmit_power = "-20 dBm"
            {more}
            "#
        )
    };
    let counted = |more: &str| {
        let sim = run(&text(more), 1);
        let nodes = sim.recorder().nodes();
        ["mpdus_sent", "mpdus_failed"].map(|column| nodes.counts(column).expect("a column").iter().sum::<u64>())
    };
    let bound = |ofdm| {
        let snr = |db: f64| 10f64.powf(db / 10.0);
        let row = |tenth: i32| {
            let db = f64::from(tenth) / 10.0;
            let lost = -(8.0 * 1538.0 * ln_success(BitRate(65_000_000), ofdm, snr(db))).exp_m1();
            format!("7,{db},1538,{lost:e}\\n")
        };
        let rows: String = (180..300).map(row).collect();
        format!("radio.sinr.error_rates_table = \"mcs,snr_db,bytes,frame_error_rate\\n{rows}\"")
    };
    let nist = counted("");
    assert!(nist[1] > 50, "{nist:?}");
    let share = |[sent, failed]: [u64; 2]| failed as f64 / sent as f64;
    let table = counted(&bound(Ofdm::Nist));
    let error = |[sent, failed]: [u64; 2]| (failed as f64).sqrt() / sent as f64;
    assert!((share(table) - share(nist)).abs() < 3.0 * error(table).hypot(error(nist)), "{table:?}, {nist:?}");
    assert_eq!(counted(&bound(Ofdm::Yans)), counted("radio.sinr.ofdm = \"yans\""), "it is hardly ever wrong at 24 dB");
    let none = "radio.sinr.error_rates_table = \"mcs,snr_db,bit_error_rate\\n7,19.9,0.1\\n7,20,0\"";
    assert_eq!(counted(none)[1], 0);
    // The neighbor is out of reach by a table, too.
    let all = text(&none.replace("7,20,0", "7,26,0"));
    let refused = Scenario::from_toml("test", &all, &[], &NoFiles).map(|_| ()).expect_err("the link loses everything");
    assert!(refused.to_string().contains("node 1 cannot be reached"), "{refused}");
}
