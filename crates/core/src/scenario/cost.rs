//! What a run costs, about: memory and time. Both are worked out from a few numbers before anything is made, so that a
//! size that nobody meant is refused, and a long run is told before it begins.

use super::schema::Config;
use crate::app::sink::Sink;
use crate::app::{cbr, on_off};
use crate::net::queue::Queue;
use crate::place::topology;
use crate::run::Stop;
use crate::tcp;
use crate::unit::{Span, Time};

/// Memory of a node and of its row in the tables [B].
const NODE: f64 = 6000.0;
/// One who hears a node: an entry in the list of the channel, and in the list of those who wait for the end of a frame.
const LISTENER: f64 = 16.0;
/// Memory of a flow, from its text to its row in the tables, without its window [B].
const FLOW: f64 = 12_000.0;
/// Memory of a direction of a link [B].
const LINK: f64 = 6000.0;
/// Counters at the end of each batch: of a node, of what its time was used for, of a flow, of a direction of a link
/// [B].
const NODE_SNAPSHOT: f64 = 400.0;
const AIR_SNAPSHOT: f64 = 100.0;
const FLOW_SNAPSHOT: f64 = 400.0;
const LINK_SNAPSHOT: f64 = 150.0;
/// What TCP's two ends keep for each segment that may be outstanding [B]. There is room for [`ROOM`] from the beginning;
/// whether more come is seen while the run is made.
const SEGMENT: f64 = 48.0;
const ROOM: u32 = 64;
/// A sample of a flow, and its row in the tables [B].
const SAMPLE: f64 = 512.0;
/// What is kept of a transfer that has come, and its row in the table [B].
const TRANSFER: f64 = 560.0;
/// A row of a table with about fifty columns: a list of Rust, one of Python, numbers of Python, a data frame [B].
const ROW: f64 = 50.0 * 56.0;
/// What a queue of FQ-CoDel is, and a segment in the cache of a middlebox [B].
const PART: f64 = 128.0;

/// An event, from its text to the command, with what is read of it on the way [B].
const EVENT: f64 = 6000.0;
/// A course of a file of motion, likewise; a row of a table of links; a place of a list [B].
const COURSE: f64 = 1000.0;
const LINK_ROW: f64 = 500.0;
const PLACE: f64 = 1000.0;

/// Frames for each packet and hop: four for the data, four for the acknowledgement, and those that are lost.
const FRAMES: f64 = 10.0;
/// Work for a frame, for each who hears it, for a packet on a wire, for anything else that happens [s].
const FRAME_S: f64 = 200e-9;
const HEARING_S: f64 = 35e-9;
const WIRE_S: f64 = 350e-9;
const EVENT_S: f64 = 60e-9;
/// Work for an entry of a routing table that is heard [s].
const ENTRY_S: f64 = 15e-9;
/// What a data frame and its acknowledgement take beside the data themselves: control frames, back-off [s].
const OVERHEAD_S: f64 = 4.5e-3;
/// Hops of a flow for each of its nodes that sends at the same time.
const HOPS_AT_ONCE: f64 = 4.0;

/// A run of which is said that it takes long \[s\].
pub const LONG: f64 = 3600.0;

/// What to do about too much memory.
pub const RAISE: &str = "if that much is meant, raise `run.max_memory`";

/// What a run costs, about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Memory \[B\].
    pub bytes: f64,
    /// Time on one core \[s\].
    pub seconds: f64,
}

/// What costs depend on, beside the settings: counted while a scenario is checked.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Flows over TCP.
    pub tcp_flows: u64,
    /// Flows of datagrams.
    pub udp_flows: u64,
    /// Segments of all windows together.
    pub segments: f64,
    /// Those for which there is room from the beginning.
    pub room: f64,
    /// Round-trip times that pacing remembers, of all flows together.
    pub remembered: f64,
    /// Datagrams and messages that all sources send in a second, and bursts.
    pub datagrams: f64,
    /// Pairs of nodes of which one hears the other.
    pub listeners: u64,
    /// Queues of FQ-CoDel in front of wires.
    pub buckets: u64,
    /// Segments that middleboxes may keep.
    pub kept: f64,
    /// Hops of all flows together.
    pub hops: u64,
    /// Transfers that are expected to come.
    pub transfers: f64,
}

impl Tally {
    /// Counts a number of flows over TCP with these settings.
    pub fn tcp(&mut self, cfg: &tcp::Config, flows: u64) {
        self.tcp_flows += flows;
        self.segments += flows as f64 * f64::from(cfg.window);
        let whole = cfg.has_table_of_window();
        self.room += flows as f64 * f64::from(if whole { cfg.window } else { cfg.window.min(ROOM) });
        self.remembered += flows as f64 * f64::from(cfg.ap.history);
    }

    /// Counts a number of flows of datagrams with these settings.
    pub fn cbr(&mut self, cfg: &cbr::Config, flows: u64) {
        self.udp_flows += flows;
        self.datagrams += flows as f64 / cfg.interval.as_secs().max(1e-9);
    }

    /// Counts a number of flows of bursts with these settings; those over TCP have these.
    pub fn on_off(&mut self, cfg: &on_off::Config, tcp: &tcp::Config, flows: u64) {
        match cfg.transport {
            on_off::Transport::Tcp => self.tcp(tcp, flows),
            on_off::Transport::Udp => self.udp_flows += flows,
        }
        // A burst has at least one message if it has whole ones, and else begins and ends.
        let (burst, pause) = (cfg.on.as_secs(), cfg.off.as_secs());
        let message = cfg.message_time().as_secs();
        let cycle = burst + pause + if cfg.messages == on_off::Messages::Whole { message } else { 0.0 };
        self.datagrams += flows as f64 * (burst / message + 1.0) / cycle;
    }

    fn flows(&self) -> f64 {
        (self.tcp_flows + self.udp_flows) as f64
    }
}

/// The setting from which most nodes come: those of the topology or those without a radio.
pub fn setting_of_nodes(cfg: &Config) -> &'static str {
    if u64::from(cfg.wire.nodes) > cfg.topology.nodes() {
        return "wire.nodes";
    }
    match cfg.topology.kind {
        topology::Kind::Chain => "topology.hops",
        topology::Kind::Grid => "topology.rows",
        topology::Kind::Random => "topology.nodes",
        topology::Kind::List => "topology.positions",
        topology::Kind::File => "topology.file",
        topology::Kind::Motion => "motion.file",
        topology::Kind::None => "wire.nodes",
    }
}

/// When the run ends at the latest, as far as it is known beforehand.
fn longest(cfg: &Config) -> Span {
    match cfg.run.stop {
        Stop::At(at) => at.since(Time::ZERO).min(cfg.run.limit),
        Stop::Delivered(_) => cfg.run.limit,
    }
}

/// The memory of a run by the settings that cause it [B].
fn memory(cfg: &Config, tally: &Tally) -> Vec<(&'static str, f64)> {
    let (nodes, radios) = (cfg.nodes() as f64, cfg.topology.nodes() as f64);
    let (flows, links) = (tally.flows(), 2.0 * cfg.link.0.len() as f64);
    let sinks = (tally.udp_flows * size_of::<Sink>() as u64) as f64;
    let batches = f64::from(cfg.run.batches) + 1.0;
    let air = if cfg.run.air_time { radios * AIR_SNAPSHOT } else { 0.0 };
    let snapshot = nodes * NODE_SNAPSHOT + flows * (FLOW_SNAPSHOT + ROW) + links * (LINK_SNAPSHOT + ROW) + air + ROW;
    // A run that ends with a delivery may be short: what grows with its length is watched while it is made.
    let samples = match (cfg.run.sample, cfg.run.stop) {
        (Some(every), Stop::At(_)) => longest(cfg).as_secs() / every.as_secs() * tally.tcp_flows as f64,
        _ => 0.0,
    };
    let destinations = (2.0 * flows).min(nodes);
    let learnt = cfg.routing.protocol.learns_routes() && links == 0.0;
    let routes = cfg.routing.learnt_bytes(radios);
    let buckets = tally.buckets as f64 + Queue::buckets(&cfg.queue) as f64 * nodes;
    let of_pairs = cfg.pairs.0.iter().map(|p| p.count() as f64).sum::<f64>();
    let listed = match f64::from(cfg.traffic.flows) {
        drawn if drawn > 0.0 && drawn >= of_pairs => "traffic.flows",
        _ if of_pairs > cfg.flow.0.len() as f64 => "pairs",
        _ => "flow",
    };
    // A batch has a row for each flow: whichever of both are many is meant.
    let repeated =
        if flows > batches && flows * FLOW_SNAPSHOT > nodes * NODE_SNAPSHOT { listed } else { "run.batches" };
    vec![
        (setting_of_nodes(cfg), nodes * NODE + tally.listeners as f64 * LISTENER),
        (listed, flows * FLOW + sinks + if learnt { 0.0 } else { destinations * nodes * 4.0 }),
        ("routing.protocol", radios * routes),
        ("link", links * LINK),
        ("event", cfg.event.0.len() as f64 * EVENT),
        ("motion.courses", cfg.motion.courses.all().len() as f64 * COURSE),
        ("topology.positions", cfg.topology.positions.len() as f64 * PLACE),
        ("radio.links", cfg.radio.links.len() as f64 * LINK_ROW),
        ("tcp.window", tally.room * SEGMENT),
        ("tcp.ap.history", tally.remembered * 8.0),
        (repeated, batches * snapshot),
        // As with samples, those of a run that ends with a delivery are watched while it is made.
        ("arrivals", if matches!(cfg.run.stop, Stop::At(_)) { tally.transfers * TRANSFER } else { 0.0 }),
        ("run.sample", samples * SAMPLE),
        ("queue.fq_codel.queues", buckets * PART),
        ("middlebox", tally.kept * PART),
    ]
}

/// How long a run takes on one core [s].
fn seconds(cfg: &Config, tally: &Tally) -> f64 {
    let (nodes, radios, flows) = (cfg.nodes() as f64, cfg.topology.nodes() as f64, tally.flows());
    let (length, hops) = (longest(cfg).as_secs(), tally.hops as f64);
    let heard = tally.listeners as f64 / radios.max(1.0);
    let bits = f64::from(cfg.tcp.segment.0) * 8.0;
    // At most: every flow always has something to send, and as many nodes send at once as do not hear each other.
    let (most, each) = if radios > 0.0 {
        let at_once = (radios / (heard + 1.0)).min(flows + hops / HOPS_AT_ONCE).max(1.0);
        (at_once / (OVERHEAD_S + bits / cfg.wlan.data_rate.0 as f64), FRAMES * (FRAME_S + heard * HEARING_S))
    } else {
        let window = tally.segments / (2.0 * cfg.wire.delay.as_secs() + 1e-6);
        (window.min(flows * cfg.wire.rate.0 as f64 / bits) * (hops / flows.max(1.0)), WIRE_S)
    };
    let offered = if tally.tcp_flows > 0 { f64::INFINITY } else { tally.datagrams * hops / flows.max(1.0) };
    let by_time = length * most.min(offered) * each;
    let carried = match cfg.run.stop {
        Stop::Delivered(packets) => by_time.min(packets as f64 * hops / flows.max(1.0) * each),
        Stop::At(_) => by_time,
    };
    // A run that ends with a delivery is as long as these take.
    let length = if by_time > 0.0 { length * (carried / by_time) } else { length };
    let every = |period: Span| if period == Span::ZERO { 0.0 } else { length / period.as_secs() };
    let mut events = length * tally.datagrams;
    events += cfg.run.sample.map_or(0.0, every) * tally.tcp_flows as f64;
    if cfg.net.neighborhood_red.enabled {
        events += every(cfg.net.neighborhood_red.interval) * radios;
    }
    events += cfg.routing.periods().into_iter().map(every).sum::<f64>() * radios;
    let tellings = cfg.routing.tells_all_every().map_or(0.0, every);
    let tables = tellings * tally.listeners as f64 * radios * ENTRY_S;
    carried + tables + events * EVENT_S + nodes * 1e-6
}

/// What a run with these settings costs.
pub fn cost(cfg: &Config, tally: &Tally) -> Cost {
    Cost { bytes: memory(cfg, tally).iter().map(|m| m.1).sum(), seconds: seconds(cfg, tally) }
}

/// The setting that causes most of it and what to say, when a run needs more memory than it may.
pub fn too_large(cfg: &Config, tally: &Tally) -> Option<(&'static str, String)> {
    let parts = memory(cfg, tally);
    let all: f64 = parts.iter().map(|p| p.1).sum();
    let (setting, _) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let limit = cfg.run.max_memory;
    let message = || format!("a run needs about {} of memory, and at most {limit} are allowed", in_bytes(all));
    (all > limit.0 as f64).then(|| (setting, message()))
}

/// A number of bytes for people, with two digits.
pub fn in_bytes(bytes: f64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let power = ((libm::log10(bytes.max(1e3)) / 3.0) as usize).clamp(1, units.len());
    let value = bytes / libm::pow(1e3, power as f64);
    let digits = usize::from(value < 9.95);
    if value < 1e6 { format!("{value:.digits$} {}", units[power - 1]) } else { "more than 1000000 EB".into() }
}

/// A long time for people: "5 h", "3 days".
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
