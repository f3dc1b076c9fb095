//! What people write that is not modelled, and what is nearest to it. It is told by its name, so that nobody takes
//! another part for it; what is modelled under another name is told likewise.

/// Words, how they are called, and what is nearest.
type Absent = (&'static [&'static str], &'static str, &'static str);

const PROACTIVE: &str = "`routing.protocol = \"dsdv\"` keeps routes to all nodes, too";
const REACTIVE: &str = "`routing.protocol = \"aodv\"` looks for a route when it is needed, too";
const LOSS_BASED: &str = "`tcp.variant = \"sack\"` goes by losses, too, as it does itself where paths are short";
const DELAY_BASED: &str = "`tcp.variant = \"vegas\"` goes by delays, too";
const OFDM: &str = "`extends = \"802.11a\"` has OFDM with one antenna, up to 54 Mbit/s";
const FADES: &str = "`radio.sinr.fading = \"rayleigh\"` is the fading that there is";
const WALKS: &str =
    "`motion.kind = \"random_waypoint\"` walks at random, and `motion.file` reads what BonnMotion or SUMO wrote";
const FAIR: &str = "`queue.discipline = \"fq_codel\"` gives each flow a queue of its own";
const DELAY_BOUND: &str = "`queue.discipline = \"codel\"` keeps delays short, too";
const BURSTS: &str = "`on_off` sends bursts with pauses, and `arrivals` transfers at random times";
const RATES: &str =
    "`wlan.rate_control.algorithm = \"minstrel\"`, `\"arf\"`, `\"aarf\"` and `\"sample_rate\"` choose rates";
const LOG: &str =
    "`radio.propagation = \"log_distance\"` falls with any exponent, and `radio.shadowing` is added to it";

const ABSENT: &[Absent] = &[
    (&["olsr", "olsrv1", "olsrv2", "olsrd"], "OLSR", PROACTIVE),
    (&["batman", "batman_adv", "batman_v", "batmand"], "B.A.T.M.A.N.", PROACTIVE),
    (
        &["babel", "babeld", "bmx", "bmx6", "bmx7", "ospf", "ospf_manet", "rip", "fisheye", "fsr", "cgsr", "wrp"],
        "it",
        PROACTIVE,
    ),
    (&["hwmp", "802.11s", "80211s", "mesh"], "HWMP, the routing of 802.11s,", REACTIVE),
    (&["dymo", "aodvv2", "aomdv", "loadng", "tora", "abr", "saodv"], "it", REACTIVE),
    (&["rpl", "zrp", "zone", "gpsr", "gpcr", "geographic", "greedy", "flooding", "flood", "epidemic"], "it", REACTIVE),
    (&["cubic", "bic", "htcp", "hstcp", "highspeed", "illinois", "hybla", "compound", "ctcp"], "it", LOSS_BASED),
    (
        &["bbr", "bbr1", "bbr2", "bbr3", "bbrv1", "bbrv2", "bbrv3", "copa", "ledbat", "lp", "yeah", "fast", "nv"],
        "it",
        DELAY_BASED,
    ),
    (&["dctcp", "prague", "l4s"], "it", "`tcp.ecn` and `queue.ecn` are those of RFC 3168"),
    (&["quic", "sctp", "mptcp", "dccp", "rtp"], "it", "there are TCP and UDP (`cbr`, `on_off`)"),
    (
        &["jersey", "atcp", "adtcp", "freeze", "tcp_f", "tcp_door", "door", "tcp_dcr", "bus", "atp"],
        "it",
        "`tcp.elfn` tells senders of broken routes, too",
    ),
    (&["pie", "fq_pie", "dualpi2", "dualq", "blue", "avq", "choke", "rem"], "it", DELAY_BOUND),
    (&["cake", "sfq", "sfb", "drr", "wfq", "fq", "hhf", "htb", "wrr"], "it", FAIR),
    (
        &[
            "802.11g", "80211g", "802.11n", "80211n", "802.11ac", "80211ac", "802.11ax", "80211ax", "802.11be",
            "80211be",
        ],
        "this PHY",
        OFDM,
    ),
    (
        &["802.11p", "80211p", "802.11ah", "80211ah", "802.11ad", "80211ad", "802.15.4", "zigbee", "lora", "lte"],
        "this PHY",
        OFDM,
    ),
    (
        &["802.11e", "80211e", "edca", "wmm", "pcf", "hcca", "a_mpdu", "ampdu", "amsdu", "mimo"],
        "it",
        "frames have the DCF of 802.11 and no priorities",
    ),
    (&["nakagami", "rician", "rice", "ricean", "weibull", "jakes"], "it", FADES),
    (&["okumura", "hata", "okumura_hata", "cost231", "itu", "longley_rice", "itm", "kun2600"], "it", LOG),
    (
        &["gauss_markov", "rpgm", "manhattan", "random_walk", "random_direction", "levy", "levy_walk", "tlw", "slaw"],
        "it",
        WALKS,
    ),
    (&["minstrel_ht", "onoe", "cara", "rraa", "amrr", "rbar", "oar", "iwl", "thompson"], "it", RATES),
    (&["http", "web", "voip", "video", "telnet", "mpeg"], "it", BURSTS),
];

/// What is modelled and has another name here.
const RENAMED: &[(&[&str], &str)] = &[
    (
        &["802.11", "80211", "802.11b", "80211b"],
        "802.11b is what `standard` has, with `wlan.data_rate` up to 11 Mbit/s",
    ),
    (&["newreno_sack", "rfc6675", "sack1"], "its name is `sack`"),
    (&["free_space", "freespace"], "its name is `friis`"),
    (&["rayleigh"], "it is `radio.sinr.fading`, with `radio.reception = \"sinr\"`"),
    (&["poisson"], "`arrivals` come as a Poisson process"),
    (&["shadowing", "lognormal", "log_normal"], "it is `radio.shadowing`, over `radio.propagation = \"log_distance\"`"),
    (&["static", "constant", "none_moves"], "its name is `still`"),
    (&["rwp", "waypoint"], "its name is `random_waypoint`"),
    (&["ilbc", "udp"], "datagrams at a constant rate are `cbr`"),
];

/// What is said of a word that is not modelled, or has another name.
pub fn absent(written: &str) -> Option<String> {
    let word = written.trim().to_lowercase().replace(['-', ' '], "_");
    let word = word.strip_prefix("tcp_").filter(|rest| !["f", "dcr", "door"].contains(rest)).unwrap_or(&word);
    let is = |words: &[&str]| words.contains(&word);
    if let Some((_, name, nearest)) = ABSENT.iter().find(|a| is(a.0)) {
        let name = if *name == "it" { written.trim() } else { name };
        return Some(format!("{name} is not modelled: {nearest}"));
    }
    RENAMED.iter().find(|r| is(r.0)).map(|r| r.1.to_owned())
}

/// All words of which it is known that they are not modelled.
pub fn words() -> impl Iterator<Item = &'static str> {
    ABSENT.iter().flat_map(|a| a.0).copied()
}

/// Settings that other programs call so.
const SETTINGS: &[(&[&str], &str)] = &[
    (&["duration", "time", "length", "end", "simulation_time", "sim_time", "simtime", "stop_time"], "run.stop"),
    (&["seeds", "random_seed", "rng_seed", "rngrun"], "run.seed"),
    (&["bandwidth", "bitrate", "phy_rate"], "wlan.data_rate"),
    (&["mss", "segment_size", "segsize"], "tcp.segment"),
    (&["packet_size", "packetsize", "datagram_size"], "cbr.payload"),
    (&["buffer", "buffer_size", "queue_size", "queue_length", "ifqlen", "queuelen"], "queue.limit"),
    (&["distance", "node_distance"], "topology.spacing"),
    (&["tx_power", "txpower"], "radio.transmit_power"),
    (&["path_loss", "pathloss"], "radio.propagation"),
    (&["congestion_control", "cc", "flavor", "flavour"], "tcp.variant"),
    (&["mobility"], "motion.kind"),
    (&["rts", "rtsthreshold"], "wlan.rts_threshold"),
];

/// The setting that other programs call so.
pub fn setting(written: &str) -> Option<&'static str> {
    let word = written.trim().to_lowercase().replace('-', "_");
    SETTINGS.iter().find(|s| s.0.contains(&word.as_str())).map(|s| s.1)
}

/// All settings that are told in this way.
pub fn settings() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|s| s.1)
}
