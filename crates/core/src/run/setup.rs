//! Everything a run needs, checked and ready: what the scenario hands to the corridor.

use super::{Command, RecordedTable};
use crate::app::{self, Application, arrivals};
use crate::error_model;
use crate::motion;
use crate::net::{self, arp, middlebox, queue, routing};
use crate::packet::{NodeId, RadioId};
use crate::radio::{self, Propagation};
use crate::tcp;
use crate::unit::{Bytes, Position, Span, Time};
use crate::wire;
use crate::wlan::{self, Mode, Modes};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// When this number of packets has been delivered, over all flows.
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
    /// Goodput of a delivered packet.
    pub payload: Bytes,
    /// Whether AODV takes a neighbour for lost when the MAC gives up data of this flow.
    pub breaks_links: bool,
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
    /// Settings.
    pub settings: middlebox::Settings,
    /// Which flows it serves.
    pub serves: Vec<bool>,
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

/// Settings that nodes may have for themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Radio.
    pub radio: radio::Config,
    /// DCF.
    pub wlan: wlan::Config,
    /// Interface queues.
    pub queue: queue::Config,
}

/// A radio of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioSetup {
    /// Whose it is.
    pub node: NodeId,
    /// On which channel it is.
    pub channel: u16,
    /// Number of its profile.
    pub profile: u32,
}

/// The radios of all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Interfaces {
    /// The first radio of each node, in the order of the nodes, and after them the further ones, node by node.
    pub radios: Vec<RadioSetup>,
    /// What they are like; the first profile is that of all nodes that have no settings of their own.
    pub profiles: Vec<Profile>,
    /// Rates of single links, in order.
    pub link_modes: Vec<(NodeId, NodeId, Mode)>,
    /// Seed of what is the same in all runs: shadowing.
    pub seed: u64,
}

impl Interfaces {
    /// One radio for each of a number of nodes, all alike.
    pub fn alike(nodes: usize, profile: Profile) -> Interfaces {
        let radio = |i| RadioSetup { node: NodeId(i), channel: profile.radio.channels[0], profile: 0 };
        let radios = (0..nodes as u32).map(radio).collect();
        Interfaces { radios, profiles: vec![profile], link_modes: Vec::new(), seed: 0 }
    }

    /// The radios as the channel takes them.
    pub fn on_air(&self, places: &[Position]) -> radio::Radios {
        let site = |r: &RadioSetup| radio::Site {
            place: places[r.node.index()],
            node: r.node.0,
            channel: r.channel,
            profile: r.profile,
        };
        radio::Radios {
            profiles: self.profiles.iter().map(|p| p.radio.clone()).collect(),
            sites: self.radios.iter().map(site).collect(),
            rates: wlan::RATES.to_vec(),
            plcp: wlan::timing::preambles(&self.profiles[0].wlan),
            seed: self.seed,
        }
    }

    /// The profile of a radio.
    pub fn profile(&self, radio: RadioId) -> &Profile {
        &self.profiles[self.radios[radio.index()].profile as usize]
    }

    /// Whether any two nodes hear each other equally well, at any rate, and each over its only radio.
    pub fn is_uniform(&self) -> bool {
        let radio = &self.profiles[0].radio;
        let differ = radio.differs_by_rate() || radio.propagation == Propagation::Links;
        let plain = self.profiles.len() == 1 && self.link_modes.is_empty() && !differ;
        plain && self.radios.last().is_none_or(|r| r.node.index() + 1 == self.radios.len())
    }

    /// The rate of data frames from a radio to a node.
    pub fn mode(&self, radio: RadioId, to: NodeId) -> Mode {
        let ends = (self.radios[radio.index()].node, to);
        let own = self.link_modes.binary_search_by_key(&ends, |m| (m.0, m.1)).ok().map(|i| self.link_modes[i].2);
        own.unwrap_or_else(|| Mode::checked(self.profile(radio).wlan.data_rate))
    }

    /// The rates at which the station of a radio sends to others.
    pub fn modes(&self, radio: RadioId) -> Modes {
        let from = self.radios[radio.index()].node;
        let rows = &self.link_modes[self.link_modes.partition_point(|m| m.0 < from)..];
        let own = rows.iter().take_while(|m| m.0 == from).flat_map(|m| self.of(m.1).map(|r| (r, m.2)));
        Modes::new(Mode::checked(self.profile(radio).wlan.data_rate), own.collect())
    }

    fn of(&self, node: NodeId) -> impl Iterator<Item = RadioId> + '_ {
        self.radios.iter().zip(0..).filter(move |r| r.0.node == node).map(|r| RadioId(r.1))
    }
}

/// Everything a run needs, checked and ready.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Places of the nodes that have a radio, at the beginning.
    pub places: Vec<Position>,
    /// How they move.
    pub motion: motion::Plan,
    /// How many nodes have none; their numbers come after those of the others.
    pub wired: u32,
    /// Wires, direction by direction.
    pub links: Vec<LinkSetup>,
    /// Errors at the receivers of frames.
    pub receiver: error_model::Receiver,
    /// Radios.
    pub interfaces: Interfaces,
    /// Between network layer and MAC.
    pub net: net::Config,
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
    /// The tables that are written while it goes on.
    pub record: Vec<RecordedTable>,
}
