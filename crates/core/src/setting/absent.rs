//! Names of parts that are not modeled, each with the nearest modeled part, and names that other programs give to
//! parts and settings. A message names the intended part, so that a similarly spelled word is not suggested instead.

/// Names that tell where an advice fits: a word of the list, or a setting of the group, in which the part would be.
type Place = &'static [&'static str];

const ROUTING: Place = &["dsdv", "protocol"];
const CONTROL: Place = &["cubic", "variant"];
const SENDER: Place = &["cubic", "rack_tlp", "variant"];
const ECN: Place = &["cubic", "variant", "source_quench", "droptail", "discipline"];
const TRANSPORT: Place = &["cbr", "udp", "cubic", "app", "variant"];
const APP: Place = &["cbr", "app"];
const QUEUE: Place = &["droptail", "discipline"];
const PHY: Place = &["standard", "vht", "access"];
const ACCESS: Place = &["edca", "access"];
const QOS: Place = &["standard", "edca", "access"];
const PROPAGATION: Place = &["friis", "propagation"];
const FADING: Place = &["friis", "propagation", "rayleigh", "fading", "gilbert_elliott"];
const MOBILITY: Place = &["random_waypoint", "min_speed"];
const RATE: Place = &["minstrel", "rate_control"];
/// Setting of a scenario that no group and no list of words has: at the top every advice fits.
const TOP: &str = "run";

/// Numbers of modulation and coding schemes of HT: 8 for each number of streams.
const OF_A_STREAM: u32 = 8;

/// Advice on a number that other programs or standards use where Chappe has a different number.
pub fn number(path: &str, value: &str) -> Option<String> {
    if path.rsplit('.').next() != Some("mcs") {
        return None;
    }
    mcs(value.parse().ok()?)
}

/// The MCS of one stream, and the number of streams, that 802.11n counts as one MCS from 8 to 31.
pub fn mcs(number: u32) -> Option<String> {
    let (streams, mcs) = (number / OF_A_STREAM + 1, number % OF_A_STREAM);
    match streams {
        2 => Some(format!("MCS {number} of 802.11n is MCS {mcs} with two streams, `mcs = {mcs}` and `streams = 2`")),
        3 | 4 => Some(format!("MCS {number} of 802.11n is MCS {mcs} with {streams} streams, and here are at most two")),
        _ => None,
    }
}

/// A sentence and the places at which it fits.
type Advice = (&'static str, Place);

const PROACTIVE: Advice = ("the nearest is `routing.protocol = \"dsdv\"`, which is proactive, too", ROUTING);
const REACTIVE: Advice = ("the nearest is `routing.protocol = \"aodv\"`, which discovers routes on demand", ROUTING);
const LOSS_BASED: Advice =
    ("the nearest is `tcp.variant = \"cubic\"`, whose congestion control is loss-based, too", CONTROL);
const DELAY_BASED: Advice =
    ("the nearest is `tcp.variant = \"vegas\"`, whose congestion control is delay-based", CONTROL);
const MARKS: Advice = ("ECN is that of RFC 3168 (`tcp.ecn`, `queue.ecn`)", ECN);
const TRANSPORTS: Advice = ("transports are TCP and UDP (`cbr`, `on_off`)", TRANSPORT);
const BROKEN: Advice =
    ("the nearest are `tcp.elfn`, which tells senders of broken routes, and `tcp.door`, which infers them", SENDER);
const OFDM: Advice = ("the nearest is `extends = \"802.11a\"`: OFDM, one antenna, up to 54 Mbit/s", PHY);
const STREAMS: Advice =
    ("the nearest are `extends = \"802.11n\"` and `\"802.11ac\"`: up to two streams in 80 MHz", PHY);
const MEDIUM: Advice = ("access to the medium is by DCF or EDCA (`wlan.access`)", ACCESS);
const FADES: Advice = ("the only fading model is `radio.sinr.fading = \"rayleigh\"`", FADING);
const WALKS: Advice = (
    "the nearest is `mobility.model = \"random_waypoint\"`; `mobility.file` reads movement files of ns-2 and BonnMotion",
    MOBILITY,
);
const FAIR: Advice = ("the nearest is `queue.discipline = \"fq_codel\"`, which queues each flow separately", QUEUE);
const DELAY_BOUND: Advice = ("the nearest is `queue.discipline = \"codel\"`, which controls the queueing delay", QUEUE);
const BURSTS: Advice =
    ("the nearest are `on_off` (bursts and pauses) and `arrival_process` (short flows that arrive at random)", APP);
const RATES: Advice = (
    "rate control is one of `wlan.rate_control.algorithm = \"minstrel\"`, `\"minstrel_ht\"`, `\"arf\"`, `\"aarf\"`, \
     `\"cara\"` and `\"sample_rate\"`",
    RATE,
);
const LOG: Advice =
    ("the nearest is `radio.propagation = \"log_distance\"`, with any exponent, and `radio.shadowing`", PROPAGATION);

/// Words, the name of the part ("it": the word as it was written), and the nearest modeled part.
type Absent = (&'static [&'static str], &'static str, Advice);

const ABSENT: &[Absent] = &[
    (&["olsrv2", "oonf"], "OLSRv2", ("the nearest is `routing.protocol = \"olsr\"`, version 1", ROUTING)),
    (
        &["batman_v", "batmand"],
        "it",
        ("the nearest is `routing.protocol = \"batman_adv\"`, with the algorithm IV", ROUTING),
    ),
    (&["bmx", "bmx6", "bmx7", "ospf", "ospf_manet", "rip", "fisheye", "fsr", "cgsr", "wrp"], "it", PROACTIVE),
    (&["hwmp", "802.11s", "80211s", "mesh"], "HWMP, the routing of 802.11s,", REACTIVE),
    (&["dymo", "aodvv2", "aomdv", "loadng", "tora", "abr", "saodv"], "it", REACTIVE),
    (&["rpl", "zrp", "zone", "gpsr", "gpcr", "geographic", "greedy", "flooding", "flood", "epidemic"], "it", REACTIVE),
    (&["bic", "htcp", "hstcp", "highspeed", "illinois", "hybla", "compound", "ctcp"], "it", LOSS_BASED),
    (&["bbr2", "bbrv2", "copa", "ledbat", "lp", "yeah", "fast", "nv"], "it", DELAY_BASED),
    (&["dctcp", "prague", "l4s"], "it", MARKS),
    (&["quic", "sctp", "mptcp", "dccp", "rtp"], "it", TRANSPORTS),
    (&["jersey", "atcp", "adtcp", "freeze", "tcp_f", "tcp_dcr", "bus", "atp"], "it", BROKEN),
    (&["fq_pie", "dualpi2", "dualq", "blue", "avq", "choke", "rem"], "it", DELAY_BOUND),
    (&["cake", "sfq", "sfb", "drr", "wfq", "fq", "hhf", "htb", "wrr"], "it", FAIR),
    (&["802.11ax", "80211ax", "802.11be", "80211be"], "this PHY", STREAMS),
    (
        &["802.11p", "80211p", "802.11ah", "80211ah", "802.11ad", "80211ad", "802.15.4", "zigbee", "lora", "lte"],
        "this PHY",
        OFDM,
    ),
    (&["pcf", "hcca"], "it", MEDIUM),
    (&["nakagami", "rician", "rice", "ricean", "weibull", "jakes"], "it", FADES),
    (&["okumura", "hata", "okumura_hata", "cost231", "itu", "longley_rice", "itm", "kun2600"], "it", LOG),
    (
        &["gauss_markov", "rpgm", "manhattan", "random_walk", "random_direction", "levy", "levy_walk", "tlw", "slaw"],
        "it",
        WALKS,
    ),
    (&["onoe", "rraa", "amrr", "rbar", "oar", "iwl", "thompson"], "it", RATES),
    (&["http", "web", "voip", "video", "telnet", "mpeg"], "it", BURSTS),
];

/// Modeled parts that are words of another setting, or switched on by one.
const ELSEWHERE: &[(&[&str], Advice)] = &[
    (
        &["802.11", "80211", "802.11b", "80211b"],
        ("the preset `standard` is 802.11b, with `wlan.data_rate` up to 11 Mbit/s", PHY),
    ),
    (&["tahoe", "newreno", "e_newreno", "sack"], ("it is a word of `tcp.loss_recovery` and `tcp.variant`", SENDER)),
    (
        &["linux_vegas", "few", "scalable", "westwood", "westwood_2001", "linux_westwood_ns2", "cubic", "veno", "ap"],
        ("it is a word of `tcp.congestion_control` and `tcp.variant`", SENDER),
    ),
    (&["rack_tlp"], ("it is a word of `tcp.loss_recovery`", SENDER)),
    (
        &["bbr", "bbr1", "bbrv1", "bbr3", "bbrv3"],
        ("it is a word of `tcp.congestion_control`, with `extends = \"linux\"`", SENDER),
    ),
    (&["door"], ("it is switched on by `tcp.door.enabled`, for any variant", SENDER)),
    (&["rayleigh"], ("it is set by `radio.sinr.fading`, with `radio.reception = \"sinr\"`", FADING)),
    (&["poisson"], ("`arrival_process` is a Poisson process", APP)),
    (
        &["shadowing", "lognormal", "log_normal"],
        ("it is set by `radio.shadowing`, with `radio.propagation = \"log_distance\"`", FADING),
    ),
    (&["802.11e", "80211e", "wmm", "qos"], ("it is set by `wlan.access = \"edca\"`, with the `dscp` of flows", QOS)),
    (
        &["a_mpdu", "ampdu", "a_msdu", "amsdu"],
        ("it is set by `wlan.aggregation`, with `wlan.access = \"edca\"`", ACCESS),
    ),
    (&["mimo"], ("streams are set by `wlan.ppdu.streams`, with `extends = \"802.11n\"` or `\"802.11ac\"`", PHY)),
    (&["ilbc", "udp"], ("datagrams at a constant rate are called `cbr` here", TRANSPORT)),
];

/// Other names of modeled parts, and the word for them here. A list of words may have none of them, or several: what
/// is `static` is `still` as a motion and `fixed` as a protocol.
const ALIASES: &[(&[&str], &str)] = &[
    (&["newreno_sack", "rfc6675", "sack1"], "sack"),
    (&["free_space", "freespace"], "friis"),
    (&["static", "constant", "none_moves"], "still"),
    (&["static", "constant"], "fixed"),
    (&["babeld"], "babel"),
    (&["batman", "batman_iv", "batadv"], "batman_adv"),
    (&["olsrv1", "olsrd"], "olsr"),
    (&["rwp", "waypoint"], "random_waypoint"),
    (&["80211g"], "802.11g"),
    (&["80211n"], "802.11n"),
    (&["80211ac"], "802.11ac"),
];

/// Message that the part of a word is not modeled, or has another name, where these names are known.
pub fn absent(written: &str, known: &[&str]) -> Option<String> {
    let word = written.trim().to_lowercase().replace(['-', ' '], "_");
    let word = word.strip_prefix("tcp_").filter(|rest| !["f", "dcr"].contains(rest)).unwrap_or(&word);
    let is = |words: &[&str]| words.contains(&word);
    let fits = |place: Place| place.iter().chain(&[TOP]).any(|name| known.contains(name));
    if let Some((_, name, nearest)) = ABSENT.iter().find(|a| is(a.0) && fits(a.2.1)) {
        let name = if *name == "it" { written.trim() } else { name };
        return Some(format!("{name} is not modeled: {}", nearest.0));
    }
    let alias = ALIASES.iter().find(|a| is(a.0) && known.contains(&a.1));
    alias
        .map(|a| format!("it is called `{}` here", a.1))
        .or_else(|| ELSEWHERE.iter().find(|e| is(e.0) && fits(e.1.1)).map(|e| e.1.0.to_owned()))
}

/// All words for parts that are known not to be modeled.
pub fn words() -> impl Iterator<Item = &'static str> {
    ABSENT.iter().flat_map(|a| a.0).copied()
}

/// Names of settings in other programs.
const SETTINGS: &[(&[&str], &str)] = &[
    (&["duration", "time", "length", "end", "simulation_time", "sim_time", "simtime", "stop_time"], "run.stop"),
    (&["seeds", "random_seed", "rng_seed", "rngrun"], "run.seed"),
    (&["bandwidth", "bitrate", "phy_rate"], "wlan.data_rate"),
    (&["segment", "segment_size", "segsize"], "tcp.mss"),
    (&["window", "rwnd", "rcvwnd"], "tcp.receive_window"),
    (&["packet_size", "packetsize", "datagram_size"], "cbr.payload"),
    (&["buffer", "buffer_size", "queue_size", "queue_length", "ifqlen", "queuelen"], "queue.limit"),
    (&["distance", "node_distance"], "topology.spacing"),
    (&["tx_power", "txpower"], "radio.transmit_power"),
    (&["path_loss", "pathloss"], "radio.propagation"),
    (&["flavor", "flavour"], "tcp.variant"),
    (&["cc", "cca", "congestion_algorithm"], "tcp.congestion_control"),
    (&["recovery", "recovery_type"], "tcp.loss_recovery"),
    (&["motion", "movement", "mobility"], "mobility.model"),
    (&["rts", "rtsthreshold"], "wlan.rts_threshold"),
];

/// Setting with this name in other programs.
pub fn setting(written: &str) -> Option<&'static str> {
    let word = written.trim().to_lowercase().replace('-', "_");
    SETTINGS.iter().find(|s| s.0.contains(&word.as_str())).map(|s| s.1)
}

/// All names of settings in other programs.
pub fn settings() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|s| s.1)
}
