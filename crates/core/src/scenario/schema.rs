//! The file format of a scenario: one group per room, a list of flows, and the rules of the run.

use super::nodes;
use crate::app::{self, arrivals, cbr, ftp};
use crate::error_model;
use crate::net::middlebox::{self, eln, snoop};
use crate::net::{self, arp, queue, routing};
use crate::place::topology;
use crate::record::observe;
use crate::setting::{Many, Node, Report, Scalar, Setting, Value};
use crate::sim::Stop;
use crate::unit::{BitRate, Memory, Quantity, Span, Time};
use crate::{radio, settings, tcp, wlan};
use serde_json::{Map, Value as Json, json};

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
        pub limit: Span = Span::secs(200_000),
        /// Batches of equal size (in packets or in time) into which the run is cut.
        pub batches: u32 = 11,
        /// Batches at the start that do not count.
        pub discard: u32 = 1,
        /// Seed of all random numbers.
        pub seed: u64 = 1,
        /// More nodes than this are taken for a mistake.
        pub max_nodes: u32 = 20_000,
        /// More flows than this are taken for a mistake.
        pub max_flows: u32 = 20_000,
        /// A run that needs more memory than this is taken for a mistake.
        pub max_memory: Memory = Memory(4_000_000_000),
        /// How often windows and queues are noted in the table `series`; "none": never.
        pub sample: Option<Span> = None,
        /// Whether it is counted what the time of every node is used for, and its energy (table `air_time`).
        pub air_time: bool = false,
        /// Tables that are written while the run goes on: what happens to every frame, every packet, every window, queue
        /// and route.
        pub record: Vec<observe::Table> = Vec::new(),
    }
}

/// Settings of one flow that differ from the common ones.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Overrides(pub Option<Node>);

impl Overrides {
    /// Whether they change nothing.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|n| matches!(&n.value, Value::Table(t) if t.entries().is_empty()))
    }

    /// The common settings with these laid over them; mistakes are reported under `path`.
    pub fn over<T: Setting + Clone>(&self, common: &T, path: &str, report: &mut Report) -> T {
        let mut own = common.clone();
        if let Some(node) = &self.0 {
            own.apply(node, path, report);
        }
        own
    }
}

impl Setting for Overrides {
    fn apply(&mut self, node: &Node, _: &str, _: &mut Report) {
        self.0 = Some(node.clone());
    }

    fn write(&self) -> Json {
        self.0.as_ref().map_or_else(|| json!({}), to_json)
    }

    fn schema(&self) -> Json {
        json!({ "type": "object" })
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
        pub nodes: u32 = 0,
        /// Rate of a link.
        pub rate: BitRate = BitRate::mbps(10),
        /// Propagation delay of a link.
        pub delay: Span = Span::ms(1),
        /// Settings of the queue in front of each transmitter that differ from `queue`.
        pub queue: Overrides = Overrides::default(),
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
        pub rate: BitRate = BitRate::mbps(10),
        /// Propagation delay.
        pub delay: Span = Span::ms(1),
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
        pub rate: Option<BitRate> = None,
        /// Propagation delay; "none": as in `wire`.
        pub delay: Option<Span> = None,
        /// Settings of its queues that differ from those of other links.
        pub queue: Overrides = Overrides::default(),
        /// Settings of its errors that differ from `wire.error`.
        pub error: Overrides = Overrides::default(),
        /// Where errors happen; "none": as in `wire`.
        pub error_place: Option<error_model::Place> = None,
        /// Settings of the direction from `to` to `from` that differ: rate, delay, queue, error, error_place.
        pub back: Overrides = Overrides::default(),
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
        pub start: Option<Time> = Some(Time::ZERO),
        /// When its application stops: from then on it sends nothing new; "none": never.
        pub stop: Option<Time> = None,
        /// TCP settings of this flow that differ from `tcp`.
        pub tcp: Overrides = Overrides::default(),
        /// File-transfer settings of this flow that differ from `ftp`.
        pub ftp: Overrides = Overrides::default(),
        /// Settings of this flow's datagrams that differ from `cbr`.
        pub cbr: Overrides = Overrides::default(),
    }
}

/// A value of any kind, or none.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Any(pub Option<Node>);

settings! {
    /// Something that is done to a run while it goes on: one thing at one time.
    pub struct Event {
        /// When.
        pub at: Option<Time> = None,
        /// Number of a node that is switched off.
        pub node_down: Option<u32> = None,
        /// Number of a node that is switched on again.
        pub node_up: Option<u32> = None,
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
        pub flows: u32 = 0,
        /// Fewest hops that such a flow makes on the shortest path.
        pub min_hops: u32 = 1,
        /// Most hops; "none": any number.
        pub max_hops: Option<u32> = None,
        /// Whether a node is an end of at most one of them.
        pub distinct_ends: bool = true,
        /// A CSV file with the columns src and dst: one flow per line.
        pub file: Option<String> = None,
        /// What these flows carry.
        pub app: app::Kind = app::Kind::Ftp,
        /// When the first one starts.
        pub start: Time = Time::ZERO,
        /// Time from one start to the next.
        pub stagger: Span = Span::secs(1),
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
        pub rate: f64 = 1.0,
        /// From when on they come.
        pub start: Time = Time::ZERO,
        /// When no more come; "none": they come until the end.
        pub stop: Option<Time> = None,
        /// How many come, at most; "none": any number.
        pub count: Option<u32> = None,
        /// How large they are.
        pub size: arrivals::Size = arrivals::Size::default(),
        /// TCP settings of these transfers that differ from `tcp`.
        pub tcp: Overrides = Overrides::default(),
    }
}

settings! {
    /// A connection that is split at a node.
    pub struct Split {
        /// Segments that the buffer of the node holds; when it is full, the window offered to the source is closed.
        pub buffer: u32 = 64,
        /// TCP settings of the second half that differ from those of the flow.
        pub tcp: Overrides = Overrides::default(),
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
        pub snoop: Overrides = Overrides::default(),
        /// Settings of this middlebox that differ from `eln`.
        pub eln: Overrides = Overrides::default(),
        /// Settings of this middlebox that differ from `split`.
        pub split: Overrides = Overrides::default(),
    }
}

settings! {
    /// A scenario.
    pub struct Config {
        /// How long to run, and how to measure.
        pub run: Run = Run::default(),
        /// Where the nodes are.
        pub topology: topology::Config = topology::Config::default(),
        /// The radio.
        pub radio: radio::Config = radio::Config::default(),
        /// The MAC.
        pub wlan: wlan::Config = wlan::Config::default(),
        /// Nodes with settings of their own.
        pub node: Many<nodes::Own> = Many::default(),
        /// Errors at receivers.
        pub receiver: error_model::Receiver = error_model::Receiver::default(),
        /// Wires.
        pub wire: Wire = Wire::default(),
        /// The links.
        pub link: Many<Link> = Many::default(),
        /// Between network layer and MAC.
        pub net: net::Config = net::Config::default(),
        /// The queues in front of MACs and wires.
        pub queue: queue::Config = queue::Config::default(),
        /// Address resolution.
        pub arp: arp::Config = arp::Config::default(),
        /// Routing.
        pub routing: routing::Config = routing::Config::default(),
        /// TCP.
        pub tcp: tcp::Config = tcp::Config::default(),
        /// File transfers.
        pub ftp: ftp::Config = ftp::Config::default(),
        /// Datagrams at a constant rate.
        pub cbr: cbr::Config = cbr::Config::default(),
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
        /// Transfers that come at random times.
        pub arrivals: Many<Arrivals> = Many::default(),
        /// What is done to a run while it goes on.
        pub event: Many<Event> = Many::default(),
        /// Flows that are not listed one by one.
        pub traffic: Traffic = Traffic::default(),
    }
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
    Shelf { name: "TCP variants", setting: "tcp.variant", parts: tcp::variants::Variant::WORDS },
    Shelf { name: "Acknowledgement policies", setting: "tcp.ack", parts: tcp::ack::interface::Policy::WORDS },
    Shelf { name: "Retransmission timeouts", setting: "tcp.rto.estimator", parts: tcp::rto::Estimator::WORDS },
    Shelf { name: "SACK rules", setting: "tcp.sack.rule", parts: tcp::recovery::settings::SackRule::WORDS },
    Shelf { name: "Routing protocols", setting: "routing.protocol", parts: routing::Protocol::WORDS },
    Shelf { name: "Queue disciplines", setting: "queue.discipline", parts: queue::Discipline::WORDS },
    Shelf { name: "Sizes of transfers", setting: "arrivals.N.size.distribution", parts: arrivals::Distribution::WORDS },
    Shelf { name: "Error models", setting: "wire.error.model", parts: error_model::Kind::WORDS },
    Shelf { name: "Middleboxes", setting: "middlebox.N.kind", parts: middlebox::Kind::WORDS },
    Shelf { name: "Propagation models", setting: "radio.propagation", parts: radio::Propagation::WORDS },
    Shelf { name: "Topologies", setting: "topology.kind", parts: topology::Kind::WORDS },
    Shelf { name: "Recorded tables", setting: "run.record", parts: observe::Table::WORDS },
    Shelf { name: "Presets", setting: "extends", parts: super::presets::WORDS },
];
