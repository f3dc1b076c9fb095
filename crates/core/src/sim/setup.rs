//! Everything a run needs, checked and ready: what the scenario hands to the corridor.

use super::Command;
use crate::app::{self, Application, arrivals};
use crate::error_model;
use crate::net::middlebox::{eln, snoop};
use crate::net::{self, arp, queue, routing};
use crate::packet::NodeId;
use crate::radio;
use crate::tcp;
use crate::unit::{Bytes, Position, Span, Time};
use crate::wire;
use crate::wlan;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When so many packets have been delivered, over all flows.
    Delivered(u64),
    /// At this instant.
    At(Time),
}

/// The transport of a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP with these settings.
    Tcp(Box<tcp::Config>),
    /// UDP.
    Udp,
}

/// A flow of a run.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Source.
    pub from: NodeId,
    /// Destination.
    pub to: NodeId,
    /// Transport.
    pub transport: Transport,
    /// The sending application.
    pub app: Application,
    /// Its name.
    pub app_kind: app::Kind,
    /// When it starts by itself.
    pub start: Option<Time>,
    /// What a delivered packet counts as goodput.
    pub payload: Bytes,
    /// Where the connection is split.
    pub split: Option<SplitSetup>,
}

/// Transfers that come at random times.
#[derive(Clone, Debug)]
pub struct ArrivalsSetup {
    /// Source; `None`: drawn for each.
    pub from: Option<NodeId>,
    /// Destination; `None`: drawn for each.
    pub to: Option<NodeId>,
    /// When they come.
    pub process: arrivals::Process,
    /// How large they are.
    pub size: arrivals::Size,
    /// Settings of their connections.
    pub tcp: Box<tcp::Config>,
}

/// Where a connection is split.
#[derive(Clone, Debug)]
pub struct SplitSetup {
    /// The node that ends it.
    pub node: NodeId,
    /// Segments that its buffer holds.
    pub buffer: u32,
    /// Settings of the second half.
    pub tcp: Box<tcp::Config>,
}

/// A middlebox of a run.
#[derive(Clone, Debug)]
pub struct MiddleboxSetup {
    /// Where it is.
    pub node: NodeId,
    /// What it does.
    pub part: MiddleboxPart,
    /// Which flows it serves.
    pub serves: Vec<bool>,
}

/// What a middlebox does, with its settings.
#[derive(Clone, Debug)]
pub enum MiddleboxPart {
    /// Snoop.
    Snoop(snoop::Config),
    /// Explicit loss notification.
    Eln(eln::Config),
}

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// Number of the link.
    pub link: u32,
    /// Whether this is the second direction of a duplex link.
    pub back: bool,
    /// Who sends.
    pub from: NodeId,
    /// Who receives.
    pub to: NodeId,
    /// Transmitter and wire.
    pub wire: wire::Config,
    /// The queue in front of the transmitter.
    pub queue: queue::Config,
    /// Errors on the way.
    pub error: error_model::Config,
    /// Where they happen.
    pub error_place: error_model::Place,
}

/// Everything a run needs, checked and ready.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Places of the nodes that have a radio.
    pub places: Vec<Position>,
    /// How many nodes have none; their numbers come after those of the others.
    pub wired: u32,
    /// Wires, direction by direction.
    pub links: Vec<LinkSetup>,
    /// Errors at the receivers of frames.
    pub receiver: error_model::Receiver,
    /// Radio.
    pub radio: radio::Config,
    /// DCF.
    pub wlan: wlan::Config,
    /// Between network layer and MAC.
    pub net: net::Config,
    /// Interface queues.
    pub queue: queue::Config,
    /// Address resolution.
    pub arp: arp::Config,
    /// Routing.
    pub routing: routing::Config,
    /// Flows.
    pub flows: Vec<FlowSetup>,
    /// Transfers that come at random times.
    pub arrivals: Vec<ArrivalsSetup>,
    /// Middleboxes, in the order of the scenario.
    pub middleboxes: Vec<MiddleboxSetup>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// When the run ends.
    pub stop: Stop,
    /// When it ends at the latest.
    pub limit: Time,
    /// Batches into which it is cut.
    pub batches: u32,
    /// Batches that do not count.
    pub discard: u32,
    /// What is done to the run, and when.
    pub events: Vec<(Time, Command)>,
    /// How often windows and queues are noted.
    pub sample: Option<Span>,
    /// Whether it is counted what the time of every node is used for.
    pub air_time: bool,
}
