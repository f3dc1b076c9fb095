//! The file format of a scenario: one group per room, a list of flows, and the rules of the run.

use super::{nodes, pairs};
use crate::app::{self, arrivals, cbr, ftp, on_off};
use crate::error_model;
use crate::net::middlebox::{self, eln, snoop};
use crate::net::{self, arp, queue, routing};
use crate::place::topology;
use crate::run::{RecordedTable, Stop};
use crate::setting::limit::{HOUR, LONGEST, above, at_most, range};
use crate::setting::{Many, Node, Report, Scalar, Setting, Value, join};
use crate::unit::{BitRate, Bytes, Memory, Position, Quantity, Span, Speed, Time};
use crate::{motion, radio, settings, tcp, wlan};
use serde_json::{Map, Value as Json, json};
use std::marker::PhantomData;
use std::sync::OnceLock;

impl Scalar for Stop {
    fn read(node: &Node) -> Result<Stop, String> {
        let expected =
            || "expected a number of packets such as \"110000 delivered\" or a time such as \"1000 s\"".to_owned();
        let Value::Text(t) = &node.value else { return Err(expected()) };
        if let Some(n) = t.trim().strip_suffix("delivered") {
            return n.trim().replace('_', "").parse().map(Stop::Delivered).map_err(|_| expected());
        }
        let meant = || Time::meant(t).map_or_else(expected, |m| format!("did you mean \"{m}\"? {}", expected()));
        Time::parse(t).map(Stop::At).ok_or_else(meant)
    }

    fn written(&self) -> Json {
        match self {
            Stop::Delivered(n) => json!(format!("{n} delivered")),
            Stop::At(at) => json!(at.to_string()),
        }
    }

    fn describe() -> Json {
        json!({ "type": "string", "description": "such as \"110000 delivered\" or \"1000 s\"" })
    }
}

settings! {
    /// How long to run, and how to measure.
    pub struct Run {
        /// When the run ends.
        pub stop: Stop = Stop::At(Time::ZERO),
        /// When it ends at the latest.
        pub limit: Span = Span::secs(200_000) => above(Span::ZERO).at_most(LONGEST),
        /// Batches of equal size (in packets or in time) into which the run is cut.
        pub batches: u32 = 11 => range(1, 1_000_000_000),
        /// Batches at the start that do not count.
        pub discard: u32 = 1 => at_most(1_000_000_000),
        /// Seed of all random numbers.
        pub seed: u64 = 1,
        /// More nodes than this are taken for a mistake.
        pub max_nodes: u32 = 20_000 => at_most(1_000_000_000),
        /// More flows than this are taken for a mistake.
        pub max_flows: u32 = 20_000 => at_most(1_000_000_000),
        /// A run that needs more memory than this is taken for a mistake.
        pub max_memory: Memory = Memory(4_000_000_000),
        /// How often windows and queues are noted in the table `series`; "none": never.
        pub sample: Option<Span> = None => above(Span::ZERO).at_most(LONGEST),
        /// Whether it is counted what the time of every node is used for, and its energy (table `air_time`).
        pub air_time: bool = false,
        /// Tables that are written while the run goes on: what happens to every frame, every packet, every window, queue
        /// and route.
        pub record: Vec<RecordedTable> = Vec::new(),
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
    /// Whether they change nothing.
    pub fn is_empty(&self) -> bool {
        self.written.as_ref().is_none_or(|n| matches!(&n.value, Value::Table(t) if t.entries().is_empty()))
    }

    /// Whether they have a setting of their own at this path.
    pub fn has(&self, path: &str) -> bool {
        self.written.as_ref().is_some_and(|n| n.at(path).is_some())
    }

    /// The common settings with these laid over them.
    pub fn over(&self, common: &T) -> T {
        let mut own = common.clone();
        if let Some(node) = &self.written {
            // What is wrong was reported when it was read.
            own.apply(node, "", &mut Report::default());
        }
        own
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
        remove_defaults(&mut schema);
        schema
    }
}

/// What is laid over other settings has no defaults of its own.
fn remove_defaults(schema: &mut Json) {
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.values_mut().for_each(remove_defaults);
    } else if let Some(items) = schema.get_mut("items") {
        remove_defaults(items);
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("default");
    }
}

/// A node as JSON.
pub fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Float(f) if f.is_finite() => json!(f),
        // JSON has no such numbers; as a text they are refused wherever a number is expected.
        Value::Float(f) => json!(f.to_string()),
        Value::Text(t) => json!(t),
        Value::List(l) => Json::Array(l.iter().map(to_json).collect()),
        Value::Table(t) => {
            Json::Object(t.entries().iter().map(|(k, _, n)| (k.clone(), to_json(n))).collect::<Map<_, _>>())
        }
    }
}

settings! {
    /// Nodes without a radio, and what is common to all links.
    pub struct Wire {
        /// How many nodes have no radio; they are numbered after those of the topology.
        pub nodes: u32 = 0 => at_most(1_000_000_000),
        /// Rate of a link.
        pub rate: BitRate = BitRate::mbps(10) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay of a link.
        pub delay: Span = Span::ms(1) => at_most(HOUR),
        /// Settings of the queue in front of each transmitter that differ from `queue`.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Errors on the way, in each direction for itself.
        pub error: error_model::Config = error_model::Config::default(),
        /// Where errors happen.
        pub error_place: error_model::Place = error_model::Place::AfterTransmitter,
    }
}

settings! {
    /// One direction of a link.
    pub struct Direction {
        /// Rate.
        pub rate: BitRate = BitRate::mbps(10) => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay.
        pub delay: Span = Span::ms(1) => at_most(HOUR),
        /// The queue in front of the transmitter.
        pub queue: queue::Config = queue::Config::default(),
        /// Errors on the way.
        pub error: error_model::Config = error_model::Config::default(),
        /// Where errors happen.
        pub error_place: error_model::Place = error_model::Place::AfterTransmitter,
    }
}

settings! {
    /// A point-to-point link. What it does not say is as in `wire`.
    pub struct Link {
        /// Number of the node at one end.
        pub from: u32 = 0,
        /// Number of the node at the other end.
        pub to: Option<u32> = None,
        /// Whether it goes both ways.
        pub duplex: bool = true,
        /// Rate; "none": as in `wire`.
        pub rate: Option<BitRate> = None => range(BitRate(1), BitRate(1_000_000_000_000)),
        /// Propagation delay; "none": as in `wire`.
        pub delay: Option<Span> = None => at_most(HOUR),
        /// Settings of its queues that differ from those of other links.
        pub queue: Overrides<queue::Config> = Overrides::default(),
        /// Settings of its errors that differ from `wire.error`.
        pub error: Overrides<error_model::Config> = Overrides::default(),
        /// Where errors happen; "none": as in `wire`.
        pub error_place: Option<error_model::Place> = None,
        /// Settings of the direction from `to` to `from` that differ: rate, delay, queue, error, error_place.
        pub back: Overrides<Direction> = Overrides::default()
            ; used when |c| c.duplex, else "the link goes one way",
    }
}

settings! {
    /// A flow.
    pub struct Flow {
        /// Number of the source node.
        pub from: u32 = 0,
        /// Number of the destination node.
        pub to: Option<u32> = None,
        /// What is sent.
        pub app: app::Kind = app::Kind::Ftp,
        /// When it starts; "none": not before an event begins it.
        pub start: Option<Time> = Some(Time::ZERO) => at_most(Time::ZERO + LONGEST),
        /// When its application stops: from then on it sends nothing new; "none": never.
        pub stop: Option<Time> = None => at_most(Time::ZERO + LONGEST),
        /// TCP settings of this flow that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default()
            ; used when |c| c.app != app::Kind::Cbr, else "the flow is not over TCP",
        /// File-transfer settings of this flow that differ from `ftp`.
        pub ftp: Overrides<ftp::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Ftp, else "the flow is no file transfer",
        /// Settings of this flow's datagrams that differ from `cbr`.
        pub cbr: Overrides<cbr::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::Cbr, else "the flow is not one at a constant rate",
        /// Settings of this flow's bursts that differ from `on_off`.
        pub on_off: Overrides<on_off::Config> = Overrides::default()
            ; used when |c| c.app == app::Kind::OnOff, else "the flow is not one of bursts",
    }
}

impl Flow {
    /// Whether it goes over TCP.
    pub fn is_tcp(&self, cfg: &Config) -> bool {
        match self.app {
            app::Kind::Ftp => true,
            app::Kind::Cbr => false,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).transport == on_off::Transport::Tcp,
        }
    }

    /// What a packet carries: a segment, or the payload of a datagram.
    pub fn payload(&self, cfg: &Config) -> Bytes {
        match self.app {
            _ if self.is_tcp(cfg) => self.tcp.over(&cfg.tcp).segment,
            app::Kind::OnOff => self.on_off.over(&cfg.on_off).payload,
            app::Kind::Ftp | app::Kind::Cbr => self.cbr.over(&cfg.cbr).payload,
        }
    }
}

/// A value of any kind, or none.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Any(pub Option<Node>);

settings! {
    /// Something that is done to a run while it goes on: one thing at one time.
    pub struct Event {
        /// When.
        pub at: Option<Time> = None => at_most(Time::ZERO + LONGEST),
        /// Number of a node that is switched off.
        pub node_down: Option<u32> = None,
        /// Number of a node that is switched on again.
        pub node_up: Option<u32> = None,
        /// Channel of the radio that is meant, of those of the node; "none": the whole node.
        pub channel: Option<u16> = None,
        /// Number of a node that moves, to `position` or `destination`. From then on it stays there, whatever `motion` says.
        pub node_move: Option<u32> = None,
        /// Where it is at once.
        pub position: Option<Position> = None
            ; used when |c| c.node_move.is_some(), else "no node moves",
        /// Where it walks to, in a straight line.
        pub destination: Option<Position> = None
            ; used when |c| c.node_move.is_some(), else "no node moves",
        /// How fast it walks.
        pub speed: Option<Speed> = None => above(Speed(0.0)).at_most(motion::FASTEST)
            ; used when |c| c.node_move.is_some(), else "no node moves",
        /// Number of a flow that begins to send.
        pub flow_begin: Option<u32> = None,
        /// Number of a flow that ends.
        pub flow_end: Option<u32> = None,
        /// Name of a setting that changes, such as "flow.0.cbr.interval".
        pub set: Option<String> = None,
        /// Its new value.
        pub to: Any = Any::default(),
    }
}

settings! {
    /// Flows that are not listed one by one.
    pub struct Traffic {
        /// Flows between nodes that are drawn at random (with `topology.seed`).
        pub flows: u32 = 0 => at_most(1_000_000_000),
        /// Fewest hops that such a flow makes on the shortest path.
        pub min_hops: u32 = 1 => range(1, 1_000_000)
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// Most hops; "none": any number.
        pub max_hops: Option<u32> = None => at_most(1_000_000)
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// Whether a node is an end of at most one of them.
        pub distinct_ends: bool = true
            ; used when |c| c.flows > 0, else "`traffic.flows` is 0",
        /// A CSV file with the columns src and dst: one flow per line. A column start_s says when they start \[s\]; an empty
        /// field: not before an event begins the flow.
        pub file: Option<String> = None,
        /// What these flows carry.
        pub app: app::Kind = app::Kind::Ftp,
        /// When the first one starts.
        pub start: Time = Time::ZERO => at_most(Time::ZERO + LONGEST),
        /// Time from one start to the next.
        pub stagger: Span = Span::secs(1) => at_most(LONGEST),
    }
}

settings! {
    /// Transfers over TCP that come at random times, each a file of a random size.
    pub struct Arrivals {
        /// Number of the source node; "none": drawn anew for each transfer.
        pub from: Option<u32> = None,
        /// Number of the destination node; "none": drawn anew for each transfer.
        pub to: Option<u32> = None,
        /// Transfers per second, on average: the rate of a Poisson process \[1/s\].
        pub rate: f64 = 1.0 => above(0.0).at_most(1e6),
        /// From when on they come.
        pub start: Time = Time::ZERO => at_most(Time::ZERO + LONGEST),
        /// When no more come; "none": they come until the end.
        pub stop: Option<Time> = None => at_most(Time::ZERO + LONGEST),
        /// How many come, at most; "none": any number.
        pub count: Option<u32> = None => range(1, 1_000_000_000),
        /// How large they are.
        pub size: arrivals::Size = arrivals::Size::default(),
        /// TCP settings of these transfers that differ from `tcp`.
        pub tcp: Overrides<tcp::Config> = Overrides::default(),
    }
}

settings! {
    /// A connection that is split at a node.
    pub struct Split {
        /// Segments that the buffer of the node holds; when it is full, the window offered to the source is closed.
        pub buffer: u32 = 64 => range(1, 1_000_000),
        /// TCP settings of the second half that differ from those of the flow.
        pub tcp: Overrides<tcp::Config> = Overrides::default(),
    }
}

settings! {
    /// A middlebox.
    pub struct Middlebox {
        /// What it does.
        pub kind: middlebox::Kind = middlebox::Kind::Snoop,
        /// Number of the node at which it is.
        pub node: Option<u32> = None,
        /// Numbers of the flows that it serves; "none": all TCP flows that pass the node.
        pub flows: Option<Vec<u32>> = None,
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
        /// How long to run, and how to measure.
        pub run: Run = Run::default(),
        /// Where the nodes are.
        pub topology: topology::Config = topology::Config::default(),
        /// How they move.
        pub motion: motion::Config = motion::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// The radio.
        pub radio: radio::Config = radio::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// The MAC.
        pub wlan: wlan::Config = wlan::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Nodes with settings of their own.
        pub node: Many<nodes::Own> = Many::default(),
        /// Errors at receivers.
        pub receiver: error_model::Receiver = error_model::Receiver::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Wires.
        pub wire: Wire = Wire::default(),
        /// The links.
        pub link: Many<Link> = Many::default(),
        /// Between network layer and MAC.
        pub net: net::Config = net::Config::default(),
        /// The queues in front of MACs and wires.
        pub queue: queue::Config = queue::Config::default(),
        /// Address resolution.
        pub arp: arp::Config = arp::Config::default()
            ; used when Config::has_radios, else "no node has a radio",
        /// Routing.
        pub routing: routing::Config = routing::Config::default(),
        /// TCP.
        pub tcp: tcp::Config = tcp::Config::default(),
        /// File transfers.
        pub ftp: ftp::Config = ftp::Config::default(),
        /// Datagrams at a constant rate.
        pub cbr: cbr::Config = cbr::Config::default(),
        /// Bursts of messages with pauses between them.
        pub on_off: on_off::Config = on_off::Config::default(),
        /// Snoop.
        pub snoop: snoop::Config = snoop::Config::default(),
        /// Explicit loss notification by middleboxes.
        pub eln: eln::Config = eln::Config::default(),
        /// Split connections.
        pub split: Split = Split::default(),
        /// The middleboxes. Data pass those of a node in this order, acknowledgements in the opposite one.
        pub middlebox: Many<Middlebox> = Many::default(),
        /// The flows.
        pub flow: Many<Flow> = Many::default(),
        /// Flows between many pairs of nodes; they are numbered after those of `flow`.
        pub pairs: Many<pairs::Pairs> = Many::default(),
        /// Transfers that come at random times.
        pub arrivals: Many<Arrivals> = Many::default(),
        /// What is done to a run while it goes on.
        pub event: Many<Event> = Many::default(),
        /// Flows that are not listed one by one.
        pub traffic: Traffic = Traffic::default(),
    }
}

impl Config {
    /// Whether nodes with a radio are meant.
    pub(super) fn has_radios(&self) -> bool {
        self.topology.kind != topology::Kind::None
    }
}

/// The dotted names of all settings; `N` is the number of an entry of a list.
pub fn names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut found = vec![];
        collect(&Config::default().schema(), "", &mut found);
        found
    })
}

fn collect(schema: &Json, path: &str, found: &mut Vec<String>) {
    match (schema.get("properties").and_then(Json::as_object), schema.get("items")) {
        (Some(fields), _) => fields.iter().for_each(|(name, field)| collect(field, &join(path, name), found)),
        (None, Some(items)) if items.get("properties").is_some() => collect(items, &join(path, "N"), found),
        _ => found.push(path.to_owned()),
    }
}

/// The settings whose last word this is: those that are there once, or else those of entries of lists.
pub fn named(word: &str) -> Vec<String> {
    let same = |n: &&String| n.rsplit('.').next() == Some(word);
    let (of_lists, others): (Vec<&String>, Vec<_>) = names().iter().filter(same).partition(|n| n.contains(".N."));
    let found = if others.is_empty() { of_lists } else { others };
    // Not those that are laid over another, such as `split.tcp.variant` over `tcp.variant`.
    let first = |n: &&String| !found.iter().any(|other| n.ends_with(&format!(".{other}")));
    found.iter().copied().filter(first).cloned().collect()
}

/// A shelf: a family of interchangeable parts, and the setting that chooses one.
#[derive(Clone, Copy, Debug)]
pub struct Shelf {
    /// What it holds.
    pub name: &'static str,
    /// The setting.
    pub setting: &'static str,
    /// Keyword and description of every part.
    pub parts: &'static [(&'static str, &'static str)],
}

/// Every shelf with its parts, from the registries of the rooms.
pub const SHELVES: &[Shelf] = &[
    Shelf { name: "Applications", setting: "flow.N.app", parts: app::Kind::WORDS },
    Shelf { name: "Transports of bursts", setting: "on_off.transport", parts: on_off::Transport::WORDS },
    Shelf { name: "Kinds of bursts", setting: "on_off.messages", parts: on_off::Messages::WORDS },
    Shelf { name: "TCP variants", setting: "tcp.variant", parts: tcp::variants::Variant::WORDS },
    Shelf { name: "Acknowledgement policies", setting: "tcp.ack", parts: tcp::ack::Policy::WORDS },
    Shelf { name: "Retransmission timeouts", setting: "tcp.rto.estimator", parts: tcp::rto::Estimator::WORDS },
    Shelf { name: "SACK rules", setting: "tcp.sack.rule", parts: tcp::recovery::settings::SackRule::WORDS },
    Shelf { name: "Routing protocols", setting: "routing.protocol", parts: routing::Protocol::WORDS },
    Shelf { name: "Queue disciplines", setting: "queue.discipline", parts: queue::Discipline::WORDS },
    Shelf { name: "Sizes of transfers", setting: "arrivals.N.size.distribution", parts: arrivals::Distribution::WORDS },
    Shelf { name: "Error models", setting: "wire.error.model", parts: error_model::Kind::WORDS },
    Shelf { name: "Middleboxes", setting: "middlebox.N.kind", parts: middlebox::Kind::WORDS },
    Shelf { name: "Propagation models", setting: "radio.propagation", parts: radio::Propagation::WORDS },
    Shelf { name: "Topologies", setting: "topology.kind", parts: topology::Kind::WORDS },
    Shelf { name: "Motions", setting: "motion.kind", parts: motion::Kind::WORDS },
    Shelf { name: "Beginnings of random walks", setting: "motion.start", parts: motion::Start::WORDS },
    Shelf { name: "Recorded tables", setting: "run.record", parts: RecordedTable::WORDS },
    Shelf { name: "Presets", setting: "extends", parts: super::presets::WORDS },
];
