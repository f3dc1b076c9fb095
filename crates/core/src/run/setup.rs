//! Setup of a run: everything that the engine needs, checked and complete.

use super::{Command, RecordedTable, Stop};
use crate::app::{self, Application, arrivals};
use crate::error_model;
use crate::mobility;
use crate::net::{self, arp, middlebox, queue, routing};
use crate::packet::{NodeId, RadioId};
use crate::point_to_point;
use crate::radio::{self, Propagation};
use crate::rng::keys_of_radios;
use crate::tcp;
use crate::unit::{Bytes, Position, Span, Time};
use crate::wlan::{self, Mode, Modes};
use std::collections::BTreeMap;

/// The transport of a flow.
#[derive(Clone, Debug)]
pub enum Transport {
    /// TCP with these settings.
    Tcp(Box<tcp::Config>),
    /// Datagrams without acknowledgements.
    Udp,
}

/// A flow of a run.
#[derive(Clone, Debug)]
pub struct FlowSetup {
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Name by which measures choose the flow.
    pub name: Option<String>,
    /// Group of flows by which measures choose it.
    pub group: Option<String>,
    /// UDP, or TCP with its settings.
    pub transport: Transport,
    /// Application at the sender.
    pub app: Application,
    /// Kind of the application.
    pub app_kind: app::Kind,
    /// Start; `None`: an event or the driving program starts the flow.
    pub start: Option<Time>,
    /// Payload counted as goodput per delivered packet.
    pub payload: Bytes,
    /// Lets AODV declare a neighbor lost when the MAC gives up data of this flow.
    pub breaks_links: bool,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// Split of the connection.
    pub split: Option<SplitSetup>,
}

/// A flow generator: short flows that arrive at random times.
#[derive(Clone, Debug)]
pub struct ArrivalsSetup {
    /// Source node; `None`: drawn for each short flow.
    pub from: Option<NodeId>,
    /// Destination node; `None`: drawn for each short flow.
    pub to: Option<NodeId>,
    /// Distribution of arrival times.
    pub process: arrivals::Process,
    /// Sizes of the short flows.
    pub size: arrivals::Size,
    /// TCP settings of the short flows.
    pub tcp: Box<tcp::Config>,
}

/// Split of a connection at a node.
#[derive(Clone, Debug)]
pub struct SplitSetup {
    /// Node that splits the connection.
    pub node: NodeId,
    /// Segments that the splitting node may store.
    pub buffer: u32,
    /// TCP settings of the second half.
    pub tcp: Box<tcp::Config>,
}

/// A middlebox of a run.
#[derive(Clone, Debug)]
pub struct MiddleboxSetup {
    /// Node of the middlebox.
    pub node: NodeId,
    /// Kind of middlebox with its settings.
    pub settings: middlebox::Settings,
    /// Flows that it serves.
    pub serves: Vec<bool>,
}

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// Number of the link.
    pub link: u32,
    /// True for the second direction of a duplex link.
    pub back: bool,
    /// Node that sends over the link.
    pub from: NodeId,
    /// Node at the other end of the link.
    pub to: NodeId,
    /// Rate and delay of the link.
    pub point_to_point: point_to_point::Config,
    /// Queue in front of the transmitter.
    pub queue: queue::Config,
    /// Error model of the link.
    pub error: error_model::Config,
    /// Position of the errors.
    pub error_place: error_model::Place,
}

/// Settings that may differ between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Settings of the radio.
    pub radio: radio::Config,
    /// Settings of the DCF.
    pub wlan: wlan::Config,
    /// Settings of the interface queues.
    pub queue: queue::Config,
}

/// A radio of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioSetup {
    /// Node of the radio.
    pub node: NodeId,
    /// Number of the radio channel.
    pub channel: u16,
    /// Index into [`Interfaces::profiles`].
    pub profile: u32,
}

/// The radios of all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Interfaces {
    /// First radio of each node, in the order of the nodes, followed by the additional radios, node by node.
    pub radios: Vec<RadioSetup>,
    /// Distinct settings; the first profile is that of all nodes without settings of their own.
    pub profiles: Vec<Profile>,
    /// Rates of single links, sorted.
    pub link_modes: Vec<(NodeId, NodeId, Mode)>,
    /// Seed of the shadowing, which is the same in all runs.
    pub seed: u64,
}

impl Interfaces {
    /// One radio for each node, all alike.
    pub fn alike(nodes: usize, profile: Profile) -> Interfaces {
        let radio = |i| RadioSetup { node: NodeId(i), channel: profile.radio.channels[0], profile: 0 };
        let radios = (0..nodes as u32).map(radio).collect();
        Interfaces { radios, profiles: vec![profile], link_modes: Vec::new(), seed: 0 }
    }

    /// Radios in the form that the channel needs.
    pub fn on_air(&self, positions: &[Position]) -> radio::Radios {
        let site = |(r, key): (&RadioSetup, u64)| radio::Site {
            position: positions[r.node.index()],
            node: r.node.0,
            key,
            channel: r.channel,
            profile: r.profile,
        };
        radio::Radios {
            profiles: self.profiles.iter().map(|p| p.radio.clone()).collect(),
            sites: self.radios.iter().zip(self.keys()).map(site).collect(),
            rates: wlan::mode::rates(&self.profiles[0].wlan.ppdu).collect(),
            codings: wlan::mode::codings().collect(),
            narrow_rates: wlan::mode::narrow_rates(&self.profiles[0].wlan.ppdu),
            whole: wlan::RATES.len(),
            plcp: wlan::timing::preambles(&self.profiles[0].wlan),
            seed: self.seed,
        }
    }

    /// Keys of the random streams of each radio.
    pub fn keys(&self) -> Vec<u64> {
        keys_of_radios(self.radios.iter().map(|r| r.node.0))
    }

    /// Profile of a radio.
    pub fn profile(&self, radio: RadioId) -> &Profile {
        &self.profiles[self.radios[radio.index()].profile as usize]
    }

    /// Returns true if links are symmetric at any rate and each node has one radio.
    pub fn is_uniform(&self) -> bool {
        let radio = &self.profiles[0].radio;
        let differ = radio.differs_by_rate() || radio.propagation == Propagation::Links;
        let plain = self.profiles.len() == 1 && self.link_modes.is_empty() && !differ;
        plain && self.radios.last().is_none_or(|r| r.node.index() + 1 == self.radios.len())
    }

    /// Rate of data frames from a radio to a node.
    pub fn mode(&self, radio: RadioId, to: NodeId) -> Mode {
        let ends = (self.radios[radio.index()].node, to);
        let link_mode = self.link_modes.binary_search_by_key(&ends, |m| (m.0, m.1)).ok().map(|i| self.link_modes[i].2);
        link_mode.unwrap_or_else(|| self.profile(radio).wlan.data_mode())
    }

    /// Rates of a radio's station for all receivers.
    pub fn modes(&self, radio: RadioId) -> Modes {
        let from = self.radios[radio.index()].node;
        let rows = &self.link_modes[self.link_modes.partition_point(|m| m.0 < from)..];
        let link_modes = rows.iter().take_while(|m| m.0 == from).flat_map(|m| self.of(m.1).map(|r| (r, m.2)));
        Modes::new(self.profile(radio).wlan.data_mode(), link_modes.collect())
    }

    /// The same radios with data frames in this mode on all links.
    #[must_use]
    pub fn at(&self, mode: Mode) -> Interfaces {
        let mut all = Interfaces { link_modes: Vec::new(), ..self.clone() };
        for wlan in all.profiles.iter_mut().map(|p| &mut p.wlan) {
            wlan.rate_control.algorithm = wlan::rate::Algorithm::Fixed;
            match mode.is_ht() {
                true => wlan.ppdu.mcs = mode.mcs().into(),
                false => wlan.data_rate = mode.rate(),
            }
        }
        all
    }

    fn of(&self, node: NodeId) -> impl Iterator<Item = RadioId> + '_ {
        self.radios.iter().zip(0..).filter(move |r| r.0.node == node).map(|r| RadioId(r.1))
    }
}

/// Setup of a run, checked and complete.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Initial positions of the nodes with a radio.
    pub positions: Vec<Position>,
    /// Movement patterns of the nodes.
    pub mobility: mobility::Plan,
    /// Number of nodes without a radio, which are numbered after those with one.
    pub wired: u32,
    /// Names of the nodes that have one.
    pub names: BTreeMap<u32, String>,
    /// Directions of point-to-point links.
    pub links: Vec<LinkSetup>,
    /// Gateways that the scenario gives to nodes.
    pub gateways: BTreeMap<NodeId, NodeId>,
    /// Errors at the receivers of frames.
    pub frame_errors: error_model::FrameErrors,
    /// Radios of the nodes.
    pub interfaces: Interfaces,
    /// Settings between network layer and MAC.
    pub net: net::Config,
    /// Settings of address resolution.
    pub arp: arp::Config,
    /// Routing protocol with its settings.
    pub routing: routing::Config,
    /// Flows of the scenario.
    pub flows: Vec<FlowSetup>,
    /// Generators of short flows.
    pub arrivals: Vec<ArrivalsSetup>,
    /// Middleboxes, in the order of the scenario.
    pub middleboxes: Vec<MiddleboxSetup>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Stop rule of the run.
    pub stop: Stop,
    /// Limit of simulated time.
    pub limit: Time,
    /// Number of batches into which the run is divided.
    pub batches: u32,
    /// Number of batches that are discarded.
    pub discard: u32,
    /// Commands of events, with their times.
    pub events: Vec<(Time, Command)>,
    /// Sampling interval of windows and queues.
    pub sample: Option<Span>,
    /// Accounts for the airtime of every node.
    pub airtime: bool,
    /// Tables written during the run.
    pub record: Vec<RecordedTable>,
    /// Writes a capture of each node.
    pub capture: bool,
}

impl Setup {
    /// Key of the random streams of a node. Nodes without a radio count from 2^31: one more node with a radio moves
    /// their numbers, but not their keys.
    pub fn key(&self, n: NodeId) -> u64 {
        let wireless = self.positions.len() as u64;
        let n = u64::from(n.0);
        n.checked_sub(wireless).map_or(n, |wired| (1 << 31) + wired)
    }

    /// TCP settings of all senders: of flows, of nodes that split connections, and of generators.
    pub fn senders(&self) -> impl Iterator<Item = &tcp::Config> {
        let of_flows = self.flows.iter().filter_map(|f| match &f.transport {
            Transport::Tcp(cfg) => Some(&**cfg),
            Transport::Udp => None,
        });
        let of_splits = self.flows.iter().filter_map(|f| f.split.as_ref()).map(|s| &*s.tcp);
        of_flows.chain(of_splits).chain(self.arrivals.iter().map(|a| &*a.tcp))
    }
}
