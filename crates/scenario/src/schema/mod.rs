//! File format of a scenario: one group per layer, a list of flows, and the rules of the run.

pub mod events;
pub mod flows;
pub mod live;
pub mod nodes;
pub mod presets;
pub mod quic;

use chappe_core::app::{self, arrivals, bulk, cbr, on_off, requests};
use chappe_core::error_model;
use chappe_core::net::middlebox::{self, eln, snoop};
use chappe_core::net::{self, arp, queue, routing};
use chappe_core::run::{RecordedTable, Stop};
use chappe_core::setting::limit::{HOUR, LONGEST, above, at_most, range};
use chappe_core::setting::{EXPERT, LARGE, LEVEL, Many, Node, Report, Setting, Value, join};
use chappe_core::topology;
use chappe_core::unit::{BitRate, Memory, Position, Span, Speed, Time};
use chappe_core::{mobility, radio, settings, tcp, wlan};
use events::Action;
use flows::FlowEntry;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::OnceLock;

settings! {
    /// Length of the run, and measurement.
    pub struct Run {
        /// End of the run, required: a point in time, or a number of delivered packets.
        pub(everyday) stop: Stop = Stop::At(Time::ZERO),
        /// Time at which the run ends at the latest.
        pub time_limit: Span = Span::secs(200_000) => above(Span::ZERO).at_most(LONGEST),
        /// Number of batches of equal size (in packets or in time) into which the run is divided.
        pub(everyday) batches: u32 = 11 => range(1, 1_000_000_000),
        /// Number of batches discarded at the start as warm-up.
        pub(everyday) warmup_batches: u32 = 1 => at_most(1_000_000_000),
        /// Seed of all random numbers.
        pub(everyday) seed: u64 = 1,
        /// Safety limit: scenarios with more nodes are rejected.
        pub max_nodes: u32 = 20_000 => at_most(1_000_000_000),
        /// Safety limit: scenarios with more flows are rejected.
        pub max_flows: u32 = 20_000 => at_most(1_000_000_000),
        /// Safety limit: runs that need more memory are rejected.
        pub max_memory: Memory = Memory(4_000_000_000),
        /// Sampling interval of windows and queues for the table `samples`; "never": no samples.
        pub(everyday) sample_interval: Option<Span> | "never" = None => above(Span::ZERO).at_most(LONGEST),
        /// Records the airtime and the energy of every node (table `airtime`).
        pub airtime: bool = false,
        /// Tables written during the run: details of every frame, packet, window, queue and route.
        pub(everyday) record: Vec<RecordedTable> = Vec::new(),
    }
}

/// Settings of one flow, link or middlebox that differ from the common ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Overrides<T> {
    written: Option<Node>,
    of: PhantomData<T>,
}

impl<T> Default for Overrides<T> {
    fn default() -> Overrides<T> {
        Overrides { written: None, of: PhantomData }
    }
}

impl<T: Setting + Default + Clone> Overrides<T> {
    /// Returns true if no setting is overridden.
    pub fn is_empty(&self) -> bool {
        self.written.as_ref().is_none_or(|n| matches!(&n.value, Value::Table(t) if t.entries().is_empty()))
    }

    /// Returns true if the setting at this path is overridden.
    pub fn has(&self, path: &str) -> bool {
        self.written.as_ref().is_some_and(|n| n.at(path).is_some())
    }

    /// The common settings with the overrides applied.
    pub fn over(&self, common: &T) -> T {
        let mut merged = common.clone();
        if let Some(node) = &self.written {
            // Mistakes were reported when the overrides were read.
            merged.apply(node, "", &mut Report::default());
        }
        merged
    }
}

impl<T: Setting + Default> Setting for Overrides<T> {
    fn apply(&mut self, node: &Node, path: &str, report: &mut Report) {
        T::default().apply(node, path, report);
        match (self.written.as_mut().map(|w| &mut w.value), &node.value) {
            (Some(Value::Table(written)), Value::Table(over)) => written.merge(over.clone()),
            _ => self.written = Some(node.clone()),
        }
    }

    fn write(&self) -> Json {
        self.written.as_ref().map_or_else(|| json!({}), to_json)
    }

    fn schema(&self) -> Json {
        let mut schema = T::default().schema();
        overlay(&mut schema);
        schema
    }

    fn show(&self, path: &str, to: &mut dyn FnMut(&str, Option<&'static str>)) {
        T::default().show(path, to);
    }
}

/// Overrides have no defaults of their own, and are expert settings.
fn overlay(schema: &mut Json) {
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.values_mut().for_each(overlay);
    } else if let Some(items) = schema.get_mut("items") {
        overlay(items);
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("default");
        schema.entry(LEVEL).and_modify(|level| *level = json!(EXPERT));
    }
}

/// Converts JSON, in which a Python dict arrives, to the node at `path`: `None` is the word of a setting for no value.
pub fn node(json: &Json, path: &str) -> Node {
    let mut node = Node::from_json(json);
    write_words(&mut node, path);
    node
}

/// Writes words for no value in place of absent values.
fn write_words(node: &mut Node, path: &str) {
    match &mut node.value {
        Value::Absent => node.value = Value::Text(word(path).to_owned()),
        Value::Table(table) => table.entries_mut().for_each(|(key, _, inner)| write_words(inner, &join(path, key))),
        Value::List(list) => {
            for (i, inner) in list.iter_mut().enumerate() {
                write_words(inner, &join(path, &i.to_string()));
            }
        }
        _ => {}
    }
}

/// Word of the setting at `path` for no value.
pub fn word(path: &str) -> &'static str {
    static WORDS: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut words = HashMap::new();
        Config::default().show("", &mut |path, word| _ = word.map(|word| words.insert(path.to_owned(), word)));
        words
    });
    let step = |step| if str::parse::<usize>(step).is_ok() { "*" } else { step };
    words.get(&path.split('.').map(step).collect::<Vec<_>>().join(".")).copied().unwrap_or("none")
}

/// Converts a node to JSON.
pub fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Absent => Json::Null,
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Large(digits) => json!({ LARGE: digits }),
        Value::Float(f) if f.is_finite() => json!(f),
        // JSON has no NaN and no infinity; as texts they are rejected wherever a number is expected.
        Value::Float(f) => json!(f.to_string()),
        Value::Text(t) => json!(t),
        Value::List(l) => Json::Array(l.iter().map(to_json).collect()),
        Value::Table(t) => {
            Json::Object(t.entries().iter().map(|(k, _, n)| (k.clone(), to_json(n))).collect::<Map<_, _>>())
        }
    }
}

settings! {
    /// Settings common to all point-to-point links.
    pub struct Wired {
        /// Rate of a link.
        pub rate: BitRate = BitRate::mbps(10) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay of a link.
        pub delay: Span = Span::ms(1) => at_most(HOUR),
        /// Settings of the queue in front of each transmitter that differ from `queue`.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Errors on the link, drawn for each direction separately.
        pub error: error_model::Config = error_model::Config::default(),
        /// Position of the errors.
        pub error_place: error_model::Place = error_model::Place::AfterTransmitter,
    }
}

settings! {
    /// One direction of a link.
    pub struct Direction {
        /// Rate of the transmitter.
        pub rate: BitRate = BitRate::mbps(10) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay.
        pub delay: Span = Span::ms(1) => at_most(HOUR),
        /// Queue in front of the transmitter.
        pub queue: queue::Config = queue::Config::default(),
        /// Errors on the link.
        pub error: error_model::Config = error_model::Config::default(),
        /// Position of the errors.
        pub error_place: error_model::Place = error_model::Place::AfterTransmitter,
    }
}

settings! {
    /// A point-to-point link. Values that are not set are those of `wired`.
    pub struct Link {
        /// Number of the node at one end.
        pub(everyday) src: u32 = 0,
        /// Number of the node at the other end.
        pub(everyday) dst: Option<u32> | "none" = None,
        /// Makes the link bidirectional.
        pub(everyday) duplex: bool = true,
        /// Rate of the link; "inherit": as in `wired`.
        pub(everyday) rate: Option<BitRate> | "inherit" = None => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay of the link; "inherit": as in `wired`.
        pub(everyday) delay: Option<Span> | "inherit" = None => at_most(HOUR),
        /// Queue settings of this link that differ from those of other links.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Error settings of this link that differ from `wired.error`.
        pub error: Overrides<error_model::Config> = Overrides::default(),
        /// Position of the errors; "inherit": as in `wired`.
        pub error_place: Option<error_model::Place> | "inherit" = None,
        /// Settings of the reverse direction, from `dst` to `src`, that differ: rate, delay, queue, error, error_place.
        pub back: Overrides<Direction> = Overrides::default()
            ; used when |c| c.duplex, else "the link goes one way",
    }
}

/// A value of any kind, or none.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Any(pub Option<Node>);

settings! {
    /// A change to the running simulation: one action at one time. The action determines the other settings of the
    /// event.
    pub struct Event {
        /// Time of the event.
        pub(everyday) at: Option<Time> | "none" = None => at_most(Time::ZERO + LONGEST),
        /// Change that the event makes.
        pub(everyday) action: Option<Action> | "none" = None,
        /// Number of the node of `node_down`, `node_up` and `node_move`.
        pub(everyday) node: Option<u32> | "none" = None,
        /// Channel of the radio that `node_down` and `node_up` switch; "all": all radios of the node.
        pub channel: Option<u16> | "all" = None,
        /// Number of the link of `wired_link_down` and `wired_link_up`.
        pub wired_link: Option<u32> | "none" = None,
        /// Position of the node after `node_move`, reached at once.
        pub(everyday) position: Option<Position> | "none" = None,
        /// Destination to which the node of `node_move` walks in a straight line.
        pub(everyday) destination: Option<Position> | "none" = None,
        /// Speed of the walk to the destination.
        pub(everyday) speed: Option<Speed> | "none" = None => above(Speed(0.0)).at_most(mobility::FASTEST),
        /// Number of the flow of `flow_start` and `flow_stop`.
        pub(everyday) flow: Option<u32> | "none" = None,
        /// Name of the setting that `set` changes, such as "flow.0.cbr.interval"; the number is that of the flow.
        pub(everyday) setting: Option<String> | "none" = None,
        /// New value of the setting.
        pub(everyday) value: Any = Any::default(),
    }
}

settings! {
    /// Flows that are drawn at random, or read from a file.
    pub struct Traffic {
        /// Number of flows between randomly drawn nodes.
        pub(everyday) flows: u32 = 0 => at_most(1_000_000_000),
        /// Seed of the draw; "topology": `topology.seed`.
        pub seed: Option<u64> | "topology" = None
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// Smallest number of hops of such a flow on the shortest path.
        pub min_hops: u32 = 1 => range(1, 1_000_000)
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// Largest number of hops of such a flow on the shortest path.
        pub max_hops: Option<u32> | "unlimited" = None => at_most(1_000_000)
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// Draws each node as an end of at most one of these flows.
        pub(everyday) distinct_ends: bool = true
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// A CSV file with the columns src and dst: one flow per line. An optional column started_at_s has the start
        /// times \[s\]; with an empty field the flow waits for an event that starts it.
        pub file: Option<String> | "none" = None,
        /// Application of these flows.
        pub(everyday) app: app::Kind = app::Kind::Bulk,
        /// Start of the first flow.
        pub(everyday) start: Time = Time::ZERO => at_most(Time::ZERO + LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// Stop time of the applications, after which they send nothing new.
        pub stop: Option<Time> | "never" = None => at_most(Time::ZERO + LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// Time between the starts of consecutive flows.
        pub stagger: Span = Span::secs(1) => at_most(LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// Time from the start of each application to its stop, instead of `stop`.
        pub duration: Option<Span> | "unlimited" = None => above(Span::ZERO).at_most(LONGEST)
            ; used when |c| c.app != app::Kind::External, else "the driver of an external flow decides when it sends",
        /// TCP settings of these flows that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default()
            ; used when |c| !matches!(c.app, app::Kind::Cbr | app::Kind::External), else "the flow is not over TCP",
    }
}

settings! {
    /// Flow generator: short TCP flows that arrive at random times, each with a file of a random size.
    pub struct Arrivals {
        /// Number of the source node; "random": drawn anew for each short flow.
        pub src: Option<u32> | "random" = None,
        /// Number of the destination node; "random": drawn anew for each short flow.
        pub dst: Option<u32> | "random" = None,
        /// Mean number of short flows per second: the rate of a Poisson process \[1/s\].
        pub rate: f64 = 1.0 => above(0.0).at_most(1e6),
        /// Start of the arrivals.
        pub start: Time = Time::ZERO => at_most(Time::ZERO + LONGEST),
        /// End of the arrivals.
        pub stop: Option<Time> | "never" = None => at_most(Time::ZERO + LONGEST),
        /// Largest number of short flows.
        pub count: Option<u32> | "unlimited" = None => range(1, 1_000_000_000),
        /// Sizes of the short flows.
        pub size: arrivals::Size = arrivals::Size::default(),
        /// TCP settings of these flows that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default(),
    }
}

settings! {
    /// Split of a connection at a node.
    pub struct Split {
        /// Buffer size of the node \[segments\]; a full buffer closes the window that is offered to the source.
        pub buffer_segments: u32 = 64 => range(1, 1_000_000),
        /// TCP settings of the second half that differ from those of the flow.
        pub tcp: Overrides<tcp::Config> = Overrides::default(),
    }
}

settings! {
    /// A middlebox at a node.
    pub struct Middlebox {
        /// Function of the middlebox.
        pub kind: middlebox::Kind = middlebox::Kind::Snoop,
        /// Number of the node that contains the middlebox.
        pub node: Option<u32> | "none" = None,
        /// Numbers of the flows that the middlebox serves; "all": all TCP flows that pass the node.
        pub flows: Option<Vec<u32>> | "all" = None,
        /// Settings of this middlebox that differ from `snoop`.
        pub snoop: Overrides<snoop::Config> = Overrides::default()
            ; used when |c| c.kind == middlebox::Kind::Snoop, else "the middlebox is not of the kind `snoop`",
        /// Settings of this middlebox that differ from `eln`.
        pub eln: Overrides<eln::Config> = Overrides::default()
            ; used when |c| c.kind == middlebox::Kind::Eln, else "the middlebox is not of the kind `eln`",
        /// Settings of this middlebox that differ from `split`.
        pub split: Overrides<Split> = Overrides::default()
            ; used when |c| c.kind == middlebox::Kind::Split, else "the middlebox is not of the kind `split`",
    }
}

settings! {
    /// A scenario.
    pub struct Config {
        /// Length of the run, and measurement.
        pub run: Run = Run::default(),
        /// Positions of the nodes.
        pub topology: topology::Config = topology::Config::default(),
        /// Motion of the nodes.
        pub mobility: mobility::Config = mobility::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Settings of the radios.
        pub radio: radio::Config = radio::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Settings of the MACs.
        pub wlan: wlan::Config = wlan::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Settings of single nodes.
        pub node: Many<nodes::Own> = Many::default(),
        /// Settings common to all point-to-point links.
        pub wired: Wired = Wired::default(),
        /// Point-to-point links.
        pub wired_link: Many<Link> = Many::default(),
        /// Settings between network layer and MAC.
        pub net: net::Config = net::Config::default(),
        /// Queues in front of MACs and of the transmitters of links.
        pub queue: queue::Config = queue::Config::default(),
        /// Address resolution.
        pub arp: arp::Config = arp::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Settings of routing.
        pub routing: routing::Config = routing::Config::default(),
        /// Settings of TCP.
        pub tcp: tcp::Config = tcp::Config::default(),
        /// File transfers.
        pub bulk: bulk::Config = bulk::Config::default(),
        /// Datagrams at a constant rate.
        pub cbr: cbr::Config = cbr::Config::default(),
        /// Bursts of messages separated by pauses.
        pub on_off: on_off::Config = on_off::Config::default(),
        /// Requests and responses over one TCP connection.
        pub requests: requests::Config = requests::Config::default(),
        /// QUIC over external flows.
        pub quic: quic::Config = quic::Config::default(),
        /// Programs of the machine over the scenario, in real time (`chappe live`).
        pub live: live::Config = live::Config::default(),
        /// Settings of Snoop.
        pub snoop: snoop::Config = snoop::Config::default(),
        /// Explicit loss notification by middleboxes.
        pub eln: eln::Config = eln::Config::default(),
        /// Settings of split connections.
        pub split: Split = Split::default(),
        /// Middleboxes. Data pass those of a node in this order, acknowledgements in the opposite order.
        pub middlebox: Many<Middlebox> = Many::default(),
        /// Flows that are listed.
        pub flow: Many<FlowEntry> = Many::default(),
        /// Flow generators: short flows that arrive at random times.
        pub arrival_process: Many<Arrivals> = Many::default(),
        /// Changes to the running simulation.
        pub event: Many<Event> = Many::default(),
        /// Flows that are drawn at random, or read from a file.
        pub traffic: Traffic = Traffic::default(),
    }
}

impl Config {
    /// Returns true if the scenario has nodes with a radio.
    pub fn has_radios(&self) -> bool {
        self.topology.kind != topology::Kind::None
    }

    /// Seed of all draws before a run: positions, flows and shadowing.
    pub fn topology_seed(&self) -> u64 {
        self.topology.seed.unwrap_or(self.run.seed)
    }
}

/// Dotted names of all settings; `N` is the index of a list entry.
pub fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = vec![];
        Config::default().show("", &mut |path, _| names.push(path.replace('*', "N")));
        names
    })
}

/// Settings with this last word: those outside of lists, or else those of list entries and of random flows.
pub fn named(word: &str) -> Vec<String> {
    let same = |n: &&String| n.rsplit('.').next() == Some(word);
    let (of_lists, others): (Vec<&String>, Vec<_>) =
        names().iter().filter(same).partition(|n| n.contains(".N.") || n.starts_with("traffic."));
    let candidates = if others.is_empty() { of_lists } else { others };
    // Skips overrides such as `split.tcp.variant` if there is `tcp.variant`.
    let first = |n: &&String| !candidates.iter().any(|other| n.ends_with(&format!(".{other}")));
    candidates.iter().copied().filter(first).cloned().collect()
}

/// Registry of interchangeable parts, and the setting that chooses one.
#[derive(Clone, Copy, Debug)]
pub struct Shelf {
    /// Name of the family of parts.
    pub name: &'static str,
    /// Setting that chooses the part.
    pub setting: &'static str,
    /// Keyword and description of every part.
    pub parts: &'static [(&'static str, &'static str)],
}

/// All registries, from the declarations of the layers.
pub const SHELVES: &[Shelf] = &[
    Shelf { name: "Applications", setting: "flow.N.app", parts: app::Kind::WORDS },
    Shelf { name: "Transports of bursts", setting: "on_off.transport", parts: on_off::Transport::WORDS },
    Shelf { name: "Kinds of bursts", setting: "on_off.framing", parts: on_off::Messages::WORDS },
    Shelf { name: "Think times", setting: "requests.think_distribution", parts: app::Times::WORDS },
    Shelf {
        name: "Congestion controls of QUIC",
        setting: "quic.congestion_control",
        parts: quic::CongestionControl::WORDS,
    },
    Shelf { name: "Work of clients of QUIC", setting: "quic.traffic", parts: quic::Traffic::WORDS },
    Shelf { name: "TCP variants", setting: "tcp.variant", parts: tcp::config::variants::Variant::WORDS },
    Shelf { name: "Congestion controls", setting: "tcp.congestion_control", parts: tcp::cc::Rule::WORDS },
    Shelf { name: "Loss recoveries", setting: "tcp.loss_recovery", parts: tcp::config::variants::Method::WORDS },
    Shelf { name: "Acknowledgement policies", setting: "tcp.ack_policy", parts: tcp::ack::Policy::WORDS },
    Shelf { name: "Retransmission timeouts", setting: "tcp.rto.estimator", parts: tcp::sender::rto::Estimator::WORDS },
    Shelf { name: "SACK rules", setting: "tcp.sack.rule", parts: tcp::config::recoveries::SackRule::WORDS },
    Shelf { name: "Routing protocols", setting: "routing.protocol", parts: routing::Protocol::WORDS },
    Shelf { name: "Queue disciplines", setting: "queue.discipline", parts: queue::Discipline::WORDS },
    Shelf {
        name: "Sizes of short flows",
        setting: "arrival_process.N.size.distribution",
        parts: arrivals::Distribution::WORDS,
    },
    Shelf { name: "Error models", setting: "wired.error.model", parts: error_model::Kind::WORDS },
    Shelf { name: "Middleboxes", setting: "middlebox.N.kind", parts: middlebox::Kind::WORDS },
    Shelf { name: "Propagation models", setting: "radio.propagation", parts: radio::Propagation::WORDS },
    Shelf { name: "Topologies", setting: "topology.kind", parts: topology::Kind::WORDS },
    Shelf { name: "Mobility models", setting: "mobility.model", parts: mobility::Kind::WORDS },
    Shelf {
        name: "Initial states of random waypoint mobility",
        setting: "mobility.initial",
        parts: mobility::Start::WORDS,
    },
    Shelf { name: "Recorded tables", setting: "run.record", parts: RecordedTable::WORDS },
    Shelf { name: "Actions of events", setting: "event.N.action", parts: Action::WORDS },
    Shelf { name: "Presets", setting: "extends", parts: presets::WORDS },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_settings_are_those_of_the_schema() {
        fn collect(schema: &Json, path: &str, all: &mut Vec<(String, Option<String>)>) {
            match (schema["properties"].as_object(), schema.get("items")) {
                (Some(fields), _) => fields.iter().for_each(|(name, field)| collect(field, &join(path, name), all)),
                (None, Some(items)) if items.get("properties").is_some() => collect(items, &join(path, "*"), all),
                _ => all.push((path.to_owned(), schema["anyOf"][0]["const"].as_str().map(str::to_owned))),
            }
        }
        let (mut of_schema, mut shown) = (vec![], vec![]);
        collect(&Config::default().schema(), "", &mut of_schema);
        Config::default().show("", &mut |path, word| shown.push((path.to_owned(), word.map(str::to_owned))));
        of_schema.sort();
        shown.sort();
        assert_eq!(shown, of_schema);
    }
}
