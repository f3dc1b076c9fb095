//! Estimated memory and time of a run. Both are computed from a few numbers before anything is allocated, so that an
//! excessive size is refused, and a long run is announced before it begins.

use super::super::schema::Config;
use chappe_core::app::sink::Sink;
use chappe_core::app::{bulk, cbr, on_off, requests};
use chappe_core::run::Stop;
use chappe_core::tcp;
use chappe_core::topology;
use chappe_core::unit::{Bytes, Span, Time};

/// Memory of a node and of its row in the tables [B].
const NODE: f64 = 6000.0;
/// Memory of a receiver in range: its entries in the channel's lists of receivers and of waiting receivers [B].
const PAIR_IN_RANGE: f64 = 16.0;
/// Memory of a flow, from its text to its row in the tables, without its window [B].
const FLOW: f64 = 12_000.0;
/// Memory of a direction of a link [B].
const LINK: f64 = 6000.0;
/// Memory of the counters at the end of each batch: per node, airtime of a node, flow, and direction of a link [B].
const NODE_SNAPSHOT: f64 = 400.0;
const AIR_SNAPSHOT: f64 = 100.0;
const FLOW_SNAPSHOT: f64 = 400.0;
const LINK_SNAPSHOT: f64 = 150.0;
/// Memory of both TCP endpoints per outstanding segment [B]. There is room for [`ROOM`] segments from the beginning;
/// growth beyond it is checked during the run.
const SEGMENT: f64 = 48.0;
const ROOM: u32 = 64;
/// Memory of a sample of a flow, with its row in the tables [B].
const SAMPLE: f64 = 512.0;
/// Memory of a completed short flow, with its row in the table [B].
const SHORT_FLOW: f64 = 560.0;
/// Memory of a row with about fifty columns: a Rust vector, a Python list, Python numbers, a data frame [B].
const ROW: f64 = 50.0 * 56.0;
/// Memory of a queue of FQ-CoDel, or of a segment in the cache of a middlebox [B].
const PART: f64 = 128.0;

/// Memory of an event, from its text to the command [B].
const EVENT: f64 = 6000.0;
/// Memory of a course of a movement file, of a row in a table of links, or of a listed position, from text to value
/// [B].
const COURSE: f64 = 1000.0;
const LINK_ROW: f64 = 500.0;
const PLACE: f64 = 1000.0;

/// Frames per packet and hop: four for the data, four for the acknowledgement, and lost ones.
const FRAMES: f64 = 10.0;
/// Computing time per frame, per receiver in range, per packet on a point-to-point link, and per other event [s].
const FRAME_S: f64 = 200e-9;
const RECEPTION_S: f64 = 35e-9;
const WIRE_S: f64 = 350e-9;
const EVENT_S: f64 = 60e-9;
/// Computing time per received entry of a routing table [s].
const ENTRY_S: f64 = 15e-9;
/// Channel time of a data frame and its acknowledgement beyond the data: control frames, backoff [s].
const OVERHEAD_S: f64 = 4.5e-3;
/// Hops of a flow per simultaneous transmission.
const HOPS_AT_ONCE: f64 = 4.0;

/// Duration from which a run is announced as long \[s\].
pub const LONG: f64 = 3600.0;

/// Advice on a run with too much memory.
pub const RAISE: &str = "if you need that much, raise `run.max_memory`";

/// Estimated cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Memory of the run \[B\], approximately.
    pub bytes: f64,
    /// Time on one core \[s\].
    pub seconds: f64,
}

/// Quantities on which the cost depends besides the settings, counted during validation.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of TCP flows.
    pub tcp_flows: u64,
    /// Number of datagram flows.
    pub udp_flows: u64,
    /// Total window of all flows \[segments\].
    pub segments: f64,
    /// Part of it with room from the beginning \[segments\].
    pub room: f64,
    /// Total number of round-trip times that pacing stores.
    pub remembered: f64,
    /// Datagrams, messages and bursts per second of all sources.
    pub datagrams: f64,
    /// Number of pairs of radios in which one senses the other.
    pub pairs_in_range: u64,
    /// Queues of FQ-CoDel in front of point-to-point links.
    pub buckets: u64,
    /// Segments that middleboxes may store.
    pub kept: f64,
    /// Total number of hops of all flows.
    pub hops: u64,
    /// Expected number of short flows.
    pub short_flows: f64,
    /// Time until which flows are active, at most.
    pub active: Span,
    /// Datagrams, messages, bursts and responses of all sources in the whole run, at most.
    pub emitted: f64,
    /// Packets of data that all flows can send, on average; infinite if one of them has no end.
    pub packets: f64,
    /// True if a driver may send at any rate.
    pub is_driven: bool,
}

impl Tally {
    /// Counts TCP flows with these settings.
    pub fn tcp(&mut self, cfg: &tcp::Config, flows: u64) {
        self.tcp_flows += flows;
        self.segments += flows as f64 * f64::from(cfg.receive_window);
        let whole = cfg.has_table_of_window();
        self.room += flows as f64 * f64::from(if whole { cfg.receive_window } else { cfg.receive_window.min(ROOM) });
        self.remembered += flows as f64 * f64::from(cfg.ap.history_samples);
    }

    /// Counts the packets of file transfers with these settings and this MSS.
    pub fn bulk(&mut self, cfg: &bulk::Config, mss: Bytes, flows: u64) {
        let segments = cfg.segments.map(f64::from).or(cfg.bytes.map(|b| segments(b, mss)));
        self.packets += flows as f64 * segments.map_or(f64::INFINITY, |n| n + SIGNALS);
    }

    /// Counts the packets of a number of short flows of a mean size.
    pub fn short(&mut self, mean: Bytes, mss: Bytes, flows: f64) {
        self.short_flows += flows;
        self.packets += flows * (segments(mean, mss) + SIGNALS);
    }

    /// Counts CBR flows with these settings, each of which is active for `time`.
    pub fn cbr(&mut self, cfg: &cbr::Config, flows: u64, time: Span) {
        self.udp_flows += flows;
        let each = time.as_secs() / cfg.interval.as_secs().max(1e-9) + 1.0;
        let each = cfg.datagrams.map_or(each, |most| each.min(f64::from(most)));
        self.emitted += flows as f64 * each;
        self.packets += flows as f64 * each;
        self.datagrams += flows as f64 / cfg.interval.as_secs().max(1e-9);
    }

    /// Counts on/off flows with these settings, and these TCP settings for those over TCP; each is active for `time`.
    pub fn on_off(&mut self, cfg: &on_off::Config, tcp: &tcp::Config, flows: u64, time: Span) {
        match cfg.transport {
            on_off::Transport::Tcp => self.tcp(tcp, flows),
            on_off::Transport::Udp => self.udp_flows += flows,
        }
        // A burst of whole messages has at least one; any other burst has a begin and an end.
        let (burst, pause) = (cfg.on.as_secs(), cfg.off.as_secs());
        let message = cfg.message_time().as_secs();
        let cycle = burst + pause + if cfg.framing == on_off::Messages::Whole { message } else { 0.0 };
        let messages = (burst / message + 1.0) / cycle;
        self.datagrams += flows as f64 * messages;
        let each = match cfg.transport {
            on_off::Transport::Tcp => segments(cfg.payload, tcp.mss),
            on_off::Transport::Udp => 1.0,
        };
        let emitted = time.as_secs() * messages + 1.0;
        self.emitted += flows as f64 * emitted;
        self.packets += flows as f64 * (emitted * each + SIGNALS);
    }

    /// Counts external flows, which may send at any rate.
    pub fn external(&mut self, flows: u64) {
        self.udp_flows += flows;
        self.is_driven |= flows > 0;
        self.has_no_end();
    }

    /// Counts flows of requests with these settings, and these TCP settings; each is active for `time`.
    pub fn requests(&mut self, cfg: &requests::Config, tcp: &tcp::Config, flows: u64, time: Span) {
        self.tcp(tcp, flows);
        // A response takes a round trip, too, which is not known.
        let responses = 1.0 / cfg.think.as_secs().max(1e-3);
        self.datagrams += flows as f64 * responses;
        let by_time = if cfg.think == Span::ZERO { f64::INFINITY } else { time.as_secs() * responses + 1.0 };
        let each = cfg.count.map_or(by_time, |most| by_time.min(f64::from(most)));
        self.emitted += flows as f64 * each;
        self.packets += flows as f64 * (each * segments(cfg.size.mean, tcp.mss) + SIGNALS);
    }

    /// Tells that what flows send at most is not known.
    pub fn has_no_end(&mut self) {
        self.packets = f64::INFINITY;
        self.emitted = f64::INFINITY;
    }

    fn flows(&self) -> f64 {
        (self.tcp_flows + self.udp_flows) as f64
    }
}

/// Packets of a connection without data: SYN, SYN-ACK and FINs.
const SIGNALS: f64 = 4.0;

/// Segments of a number of bytes.
fn segments(bytes: Bytes, mss: Bytes) -> f64 {
    (f64::from(bytes.0) / f64::from(mss.0.max(1))).ceil()
}

/// Setting that determines most nodes: those of the topology or those without a radio.
pub fn setting_of_nodes(cfg: &Config) -> &'static str {
    if u64::from(cfg.topology.wired_nodes) > cfg.topology.nodes() {
        return "topology.wired_nodes";
    }
    match cfg.topology.kind {
        topology::Kind::Chain => "topology.hops",
        topology::Kind::Grid => "topology.rows",
        topology::Kind::Random => "topology.nodes",
        topology::Kind::List => "topology.positions",
        topology::Kind::File => "topology.file",
        topology::Kind::Motion => "mobility.file",
        topology::Kind::None => "topology.wired_nodes",
    }
}

/// Upper bound of the duration, as far as it is known in advance.
pub fn longest(cfg: &Config) -> Span {
    match cfg.run.stop {
        Stop::At(at) => at.since(Time::ZERO).min(cfg.run.time_limit),
        Stop::Delivered(_) => cfg.run.time_limit,
    }
}

/// Memory of a run by the setting that causes it [B].
fn memory(cfg: &Config, tally: &Tally) -> Vec<(&'static str, f64)> {
    let (nodes, radios) = (cfg.nodes() as f64, cfg.topology.nodes() as f64);
    let (flows, links) = (tally.flows(), 2.0 * cfg.wired_link.0.len() as f64);
    let sinks = (tally.udp_flows * size_of::<Sink>() as u64) as f64;
    let batches = f64::from(cfg.run.batches) + 1.0;
    let air = if cfg.run.airtime { radios * AIR_SNAPSHOT } else { 0.0 };
    let snapshot = nodes * NODE_SNAPSHOT + flows * (FLOW_SNAPSHOT + ROW) + links * (LINK_SNAPSHOT + ROW) + air + ROW;
    // A run that ends with a delivery may be short: memory that grows with its length is checked during the run.
    let samples = match (cfg.run.sample_interval, cfg.run.stop) {
        (Some(every), Stop::At(_)) => longest(cfg).as_secs() / every.as_secs() * tally.tcp_flows as f64,
        _ => 0.0,
    };
    let destinations = (2.0 * flows).min(nodes);
    let learned = cfg.routing.protocol.learns_routes() && links == 0.0;
    let neighbors = tally.pairs_in_range as f64 / radios.max(1.0);
    let routes = cfg.routing.learned_bytes(radios, neighbors);
    let buckets = tally.buckets as f64 + cfg.queue.buckets() as f64 * nodes;
    let listed = if u64::from(cfg.traffic.flows) > cfg.listed_flows() { "traffic.flows" } else { "flow" };
    // A batch has a row per flow: blames whichever number is large.
    let repeated =
        if flows > batches && flows * FLOW_SNAPSHOT > nodes * NODE_SNAPSHOT { listed } else { "run.batches" };
    vec![
        (setting_of_nodes(cfg), nodes * NODE + tally.pairs_in_range as f64 * PAIR_IN_RANGE),
        (listed, flows * FLOW + sinks + if learned { 0.0 } else { destinations * nodes * 4.0 }),
        ("routing.protocol", radios * routes),
        ("link", links * LINK),
        ("event", cfg.event.0.len() as f64 * EVENT),
        ("mobility.table", cfg.mobility.table.all().len() as f64 * COURSE),
        ("topology.positions", cfg.topology.positions.len() as f64 * PLACE),
        ("radio.links_table", cfg.radio.links_table.len() as f64 * LINK_ROW),
        ("tcp.receive_window", tally.room * SEGMENT),
        ("tcp.ap.history_samples", tally.remembered * 8.0),
        (repeated, batches * snapshot),
        // Like samples, short flows of a run that ends with a delivery are checked during the run.
        ("arrival_process", if matches!(cfg.run.stop, Stop::At(_)) { tally.short_flows * SHORT_FLOW } else { 0.0 }),
        ("run.sample_interval", samples * SAMPLE),
        ("queue.fq_codel.queues", buckets * PART),
        ("middlebox", tally.kept * PART),
    ]
}

/// Computing time of a run on one core [s].
fn seconds(cfg: &Config, tally: &Tally) -> f64 {
    let (nodes, radios, flows) = (cfg.nodes() as f64, cfg.topology.nodes() as f64, tally.flows());
    let (length, hops) = (longest(cfg).as_secs(), tally.hops as f64);
    let in_range = tally.pairs_in_range as f64 / radios.max(1.0);
    let bits = f64::from(cfg.tcp.mss.0) * 8.0;
    // Upper bound: every flow always has data to send, and nodes out of each other's range all send at once.
    let (most, each) = if radios > 0.0 {
        let at_once = (radios / (in_range + 1.0)).min(flows + hops / HOPS_AT_ONCE).max(1.0);
        (at_once / (OVERHEAD_S + bits / cfg.wlan.data_rate.0 as f64), FRAMES * (FRAME_S + in_range * RECEPTION_S))
    } else {
        let window = tally.segments / (2.0 * cfg.wired.delay.as_secs() + 1e-6);
        (window.min(flows * cfg.wired.rate.0 as f64 / bits) * (hops / flows.max(1.0)), WIRE_S)
    };
    let is_unlimited = tally.tcp_flows > 0 || tally.is_driven;
    let offered = if is_unlimited { f64::INFINITY } else { tally.datagrams * hops / flows.max(1.0) };
    let by_time = length.min(tally.active.as_secs()) * most.min(offered) * each;
    let of_packets = |packets: f64| packets * hops / flows.max(1.0) * each;
    // A run that ends with a delivery takes as long as these deliveries.
    let delivered = match cfg.run.stop {
        Stop::Delivered(packets) => by_time.min(of_packets(packets as f64)),
        Stop::At(_) => by_time,
    };
    let length = if by_time > delivered { length * (delivered / by_time) } else { length };
    // Flows that have sent everything are silent for the rest of the run.
    let sent = tally.packets * most_hops(nodes, tally) * each;
    let carried = if tally.packets.is_finite() { delivered.min(sent) } else { delivered };
    let every = |period: Span| if period == Span::ZERO { 0.0 } else { length / period.as_secs() };
    let mut events = (length * tally.datagrams).min(tally.emitted);
    events += cfg.run.sample_interval.map_or(0.0, every) * tally.tcp_flows as f64;
    if cfg.net.neighborhood_red.enabled {
        events += every(cfg.net.neighborhood_red.interval) * radios;
    }
    events += cfg.routing.periods().into_iter().map(every).sum::<f64>() * radios;
    let tellings = cfg.routing.tells_all_every().map_or(0.0, every);
    let tables = tellings * tally.pairs_in_range as f64 * radios * ENTRY_S;
    carried + tables + events * EVENT_S + nodes * 1e-6
}

/// Hops of a packet: the mean over all flows, or as many as there can be if the ends of short flows are drawn.
fn most_hops(nodes: f64, tally: &Tally) -> f64 {
    let mean = tally.hops as f64 / tally.flows().max(1.0);
    if tally.short_flows > 0.0 { mean.max(nodes - 1.0) } else { mean.max(1.0) }
}

/// Estimates the cost of a run.
pub fn cost(cfg: &Config, tally: &Tally) -> Cost {
    Cost { bytes: memory(cfg, tally).iter().map(|m| m.1).sum(), seconds: seconds(cfg, tally) }
}

/// Setting that causes most of the memory of a run above its limit, with a message.
pub fn too_large(cfg: &Config, tally: &Tally) -> Option<(&'static str, String)> {
    let parts = memory(cfg, tally);
    let all: f64 = parts.iter().map(|p| p.1).sum();
    let (setting, _) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let limit = cfg.run.max_memory;
    let message = || format!("a run needs about {} of memory, and at most {limit} are allowed", in_bytes(all));
    (all > limit.0 as f64).then(|| (setting, message()))
}

/// Readable number of bytes, with two digits.
pub fn in_bytes(bytes: f64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let power = ((libm::log10(bytes.max(1e3)) / 3.0) as usize).clamp(1, units.len());
    let value = bytes / libm::pow(1e3, power as f64);
    let digits = usize::from(value < 9.95);
    if value < 1e6 { format!("{value:.digits$} {}", units[power - 1]) } else { "more than 1000000 EB".into() }
}

/// Readable long duration: "5 h", "3 days".
pub fn in_hours(seconds: f64) -> String {
    let hours = seconds / 3600.0;
    match hours {
        h if h < 48.0 => format!("{h:.0} h"),
        h if h < 2.0 * 8766.0 => format!("{:.0} days", h / 24.0),
        h if h < 1000.0 * 8766.0 => format!("{:.0} years", h / 8766.0),
        _ => "more than 1000 years".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_short() {
        for (bytes, said) in [(0.0, "0.0 kB"), (1.5e3, "1.5 kB"), (64e6, "64 MB"), (4.2e9, "4.2 GB"), (1e40, "more")] {
            assert!(in_bytes(bytes).starts_with(said), "{}", in_bytes(bytes));
        }
        for (s, said) in [(3600.0, "1 h"), (86_400.0, "24 h"), (86_400.0 * 9.0, "9 days"), (1e20, "more")] {
            assert!(in_hours(s).starts_with(said), "{}", in_hours(s));
        }
    }
}
