//! To which node each radio belongs, and over which of its radios a node reaches a neighbour.

use crate::net::queue::{Outlet, Queue};
use crate::packet::{NodeId, RadioId};
use crate::radio::{Channel, Radios};
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::Span;

/// The way from a node to a neighbour: the radio that sends, and the one that receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    from: NodeId,
    to: NodeId,
    out: RadioId,
    peer: RadioId,
}

/// The radios of all nodes.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Nodes with a radio; each has the radio of its own number.
    nodes: usize,
    /// The nodes to which the further radios belong.
    further: Vec<NodeId>,
    /// Ways between neighbours, in order; empty where every node has one radio.
    ways: Vec<Way>,
    /// Radios that are switched off by themselves.
    down: Vec<RadioId>,
    /// The way of a packet has to be looked up: there are further radios, or some that are switched off.
    looks_up: bool,
    /// Channel of each radio in a network whose nodes have several radios and move: any node may become a neighbour, so a way is
    /// looked for when it is needed.
    channels: Vec<u16>,
    /// The interface queue in front of each radio.
    pub queues: Vec<Queue>,
    /// Packets leave it that wait for a lost neighbour.
    purged: Vec<bool>,
}

impl Ports {
    pub fn new(setup: &Setup, channel: &Channel) -> Ports {
        let nodes = setup.positions.len();
        let radios = &setup.interfaces.radios;
        let queue = |(i, profile): (u64, u32)| {
            let profile = &setup.interfaces.profiles[profile as usize];
            let outlet = Outlet { rate: profile.wlan.data_rate, delay: Span::ZERO };
            Queue::new(&profile.queue, outlet, Stream::new(setup.seed, Purpose::Queue, i))
        };
        let further: Vec<NodeId> = radios[nodes..].iter().map(|r| r.node).collect();
        let mut ports = Ports {
            nodes,
            ways: Vec::new(),
            channels: Vec::new(),
            queues: radios.iter().zip(0..).map(|(r, i)| queue((i, r.profile))).collect(),
            looks_up: !further.is_empty(),
            down: Vec::new(),
            purged: radios.iter().map(|r| setup.interfaces.profiles[r.profile as usize].queue.purge).collect(),
            further,
        };
        if ports.has_further() {
            let way = |out: RadioId, peer: RadioId| Way { from: ports.node(out), to: ports.node(peer), out, peer };
            let of_radio = |out: RadioId| channel.neighbours(out).map(move |peer| way(out, peer));
            let mut ways: Vec<Way> = (0..radios.len() as u32).map(RadioId).flat_map(of_radio).collect();
            // Of several ways, the one over the radio that the scenario names first is kept.
            ways.sort_by_key(|w| (w.from, w.to, w.out));
            ways.dedup_by_key(|w| (w.from, w.to));
            ports.ways = ways;
        }
        ports
    }

    /// From now on nodes may move.
    pub fn begin_moving(&mut self, radios: &Radios) {
        if self.has_further() {
            self.channels = radios.sites.iter().map(|s| s.channel).collect();
        }
    }

    /// Tells if packets that wait for a lost neighbour leave the queue of a radio.
    pub fn is_purged(&self, radio: RadioId) -> bool {
        self.purged[radio.index()]
    }

    /// The node to which a radio belongs.
    #[inline]
    pub fn node(&self, radio: RadioId) -> NodeId {
        match radio.index().checked_sub(self.nodes) {
            None => NodeId(radio.0),
            Some(i) => self.further[i],
        }
    }

    /// Tells if there is a node with more than one radio.
    #[inline]
    pub fn has_further(&self) -> bool {
        !self.further.is_empty()
    }

    /// Tells if the way of a packet has to be looked up: there is a node with more than one radio, or a radio that is
    /// switched off by itself.
    #[inline]
    pub fn looks_up(&self) -> bool {
        self.looks_up
    }

    /// Tells if a radio is switched off by itself.
    pub fn is_down(&self, radio: RadioId) -> bool {
        self.down.contains(&radio)
    }

    /// Notes that a radio is switched off by itself, or on again; whether that is new.
    pub fn set_down(&mut self, radio: RadioId, down: bool) -> bool {
        let is_new = self.is_down(radio) != down;
        if is_new && down {
            self.down.push(radio);
        } else {
            self.down.retain(|r| *r != radio || down);
        }
        self.looks_up = self.has_further() || !self.down.is_empty();
        is_new
    }

    /// The radios of a node, in the order of the scenario.
    pub fn of(&self, n: NodeId) -> impl Iterator<Item = RadioId> + use<> {
        let first = (n.index() < self.nodes).then_some(RadioId(n.0));
        let index = |i: usize| (self.nodes + i) as u32;
        // They are listed node by node.
        let from = index(self.further.partition_point(|&f| f < n));
        let to = index(self.further.partition_point(|&f| f <= n));
        first.into_iter().chain((from..to).map(RadioId))
    }

    /// The radio with which a node reaches a neighbour; its first one where it does not.
    pub fn to(&self, n: NodeId, neighbour: NodeId) -> RadioId {
        self.way(n, neighbour).map_or(RadioId(n.0), |w| w.out)
    }

    /// The radio of a neighbour that hears a radio.
    #[inline]
    pub fn peer(&self, radio: RadioId, neighbour: NodeId) -> RadioId {
        if self.further.is_empty() || neighbour.is_broadcast() {
            return RadioId(neighbour.0);
        }
        self.way(self.node(radio), neighbour).map_or(RadioId(neighbour.0), |w| w.peer)
    }

    fn way(&self, n: NodeId, neighbour: NodeId) -> Option<Way> {
        if !self.channels.is_empty() {
            return self.way_of_those_who_move(n, neighbour);
        }
        let i = self.ways.binary_search_by_key(&(n, neighbour), |w| (w.from, w.to)).ok()?;
        Some(self.ways[i])
    }

    /// All radios of a node reach as far, so any two on one channel will do: the first that the scenario names.
    fn way_of_those_who_move(&self, n: NodeId, neighbour: NodeId) -> Option<Way> {
        let channel = |r: RadioId| self.channels[r.index()];
        let way = |out: RadioId| {
            let peer = self.of(neighbour).find(|&peer| channel(peer) == channel(out))?;
            Some(Way { from: n, to: neighbour, out, peer })
        };
        self.of(n).find_map(way)
    }
}
