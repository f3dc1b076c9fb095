//! Radios of each node, their queues, and the radio over which a node reaches a neighbor.

use crate::net::queue::{Outlet, Queue};
use crate::packet::{NodeId, RadioId};
use crate::radio::{Channel, Radios};
use crate::rng::{Purpose, Stream};
use crate::run::Setup;
use crate::unit::Span;
use crate::wlan::edca::{AccessCategory, CATEGORIES};

/// Pair of radios over which a node reaches a neighbor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RadioPair {
    from: NodeId,
    to: NodeId,
    /// Sending radio.
    out: RadioId,
    /// Receiving radio.
    peer: RadioId,
}

/// The radios of all nodes.
#[derive(Clone, Debug)]
pub struct Ports {
    /// Number of nodes with a radio. The first radio of a node has the number of the node.
    nodes: usize,
    /// Node of each additional radio.
    additional: Vec<NodeId>,
    /// Radio pairs between neighbors, sorted by nodes; empty if every node has one radio.
    pairs: Vec<RadioPair>,
    /// Radios that are switched off while their node may be on.
    down: Vec<RadioId>,
    /// The radio of a packet has to be looked up: a node has several radios, or a single radio is switched off.
    looks_up: bool,
    /// Channel of each radio, if nodes have several radios and move: any node may become a neighbor, so pairs are
    /// found when needed.
    channels: Vec<u16>,
    /// Interface queue in front of each radio.
    pub queues: Vec<Queue>,
    /// For each QoS station, the queues of the categories besides best effort.
    further: Vec<[Queue; 3]>,
    /// For each queue, true if packets for a lost neighbor are removed.
    purged: Vec<bool>,
}

impl Ports {
    pub fn new(setup: &Setup, channel: &Channel) -> Ports {
        let nodes = setup.positions.len();
        let radios = &setup.interfaces.radios;
        let queue = |(key, profile): (u64, u32)| {
            let profile = &setup.interfaces.profiles[profile as usize];
            let outlet = Outlet { rate: profile.wlan.data_mode().rate(), delay: Span::ZERO };
            Queue::new(&profile.queue, outlet, Stream::new(setup.seed, Purpose::Queue, key))
        };
        let qos = setup.interfaces.profiles.iter().any(|p| !p.wlan.is_dcf());
        let owners: Vec<(u64, u32)> =
            setup.interfaces.keys().into_iter().zip(radios.iter().map(|r| r.profile)).collect();
        let further = |&(key, profile): &(u64, u32)| [1, 2, 3].map(|k: u64| queue((k << 48 | key, profile)));
        let additional: Vec<NodeId> = radios[nodes..].iter().map(|r| r.node).collect();
        let mut ports = Ports {
            nodes,
            pairs: Vec::new(),
            channels: Vec::new(),
            queues: owners.iter().copied().map(queue).collect(),
            looks_up: !additional.is_empty(),
            down: Vec::new(),
            further: if qos { owners.iter().map(further).collect() } else { Vec::new() },
            purged: radios.iter().map(|r| setup.interfaces.profiles[r.profile as usize].queue.purge).collect(),
            additional,
        };
        if ports.has_additional() {
            let pair =
                |out: RadioId, peer: RadioId| RadioPair { from: ports.node(out), to: ports.node(peer), out, peer };
            let of_radio = |out: RadioId| channel.neighbors(out).map(move |peer| pair(out, peer));
            let mut pairs: Vec<RadioPair> = (0..radios.len() as u32).map(RadioId).flat_map(of_radio).collect();
            // Of several pairs between two nodes, the pair with the first radio of the scenario is kept.
            pairs.sort_by_key(|p| (p.from, p.to, p.out));
            pairs.dedup_by_key(|p| (p.from, p.to));
            ports.pairs = pairs;
        }
        ports
    }

    /// Queue of a category in front of a radio.
    #[inline]
    pub fn of_category(&mut self, radio: RadioId, category: AccessCategory) -> &mut Queue {
        let place = match category {
            AccessCategory::BestEffort => return &mut self.queues[radio.index()],
            AccessCategory::Background => 0,
            AccessCategory::Video => 1,
            AccessCategory::Voice => 2,
        };
        &mut self.further[radio.index()][place]
    }

    /// Categories that have a queue in front of a radio.
    pub fn categories(&self) -> impl Iterator<Item = AccessCategory> + use<> {
        let qos = !self.further.is_empty();
        CATEGORIES.into_iter().filter(move |&c| qos || c == AccessCategory::BestEffort)
    }

    /// All queues.
    pub fn all(&self) -> impl Iterator<Item = &Queue> {
        self.queues.iter().chain(self.further.iter().flatten())
    }

    /// All queues in front of a radio.
    pub fn all_of(&self, radio: RadioId) -> impl Iterator<Item = &Queue> {
        let further = self.further.get(radio.index()).into_iter().flatten();
        std::iter::once(&self.queues[radio.index()]).chain(further)
    }

    /// All queues in front of a radio, to be changed.
    pub fn all_of_mut(&mut self, radio: RadioId) -> impl Iterator<Item = &mut Queue> {
        let further = self.further.get_mut(radio.index()).into_iter().flatten();
        std::iter::once(&mut self.queues[radio.index()]).chain(further)
    }

    /// All queues in front of a radio, with their categories if there are several.
    pub fn by_category(&self, radio: RadioId) -> impl Iterator<Item = (Option<AccessCategory>, &Queue)> {
        const ORDER: [AccessCategory; 4] =
            [AccessCategory::BestEffort, AccessCategory::Background, AccessCategory::Video, AccessCategory::Voice];
        let qos = !self.further.is_empty();
        ORDER.into_iter().map(move |category| qos.then_some(category)).zip(self.all_of(radio))
    }

    /// Allows nodes to move from now on.
    pub fn begin_moving(&mut self, radios: &Radios) {
        if self.has_additional() {
            self.channels = radios.sites.iter().map(|s| s.channel).collect();
        }
    }

    /// Returns true if packets for a lost neighbor are removed from the queue of a radio.
    pub fn is_purged(&self, radio: RadioId) -> bool {
        self.purged[radio.index()]
    }

    /// Node of a radio.
    #[inline]
    pub fn node(&self, radio: RadioId) -> NodeId {
        match radio.index().checked_sub(self.nodes) {
            None => NodeId(radio.0),
            Some(i) => self.additional[i],
        }
    }

    /// Returns true if a node has more than one radio.
    #[inline]
    pub fn has_additional(&self) -> bool {
        !self.additional.is_empty()
    }

    /// Returns true if the radio of a packet has to be looked up: a node has more than one radio, or a single radio is
    /// switched off.
    #[inline]
    pub fn looks_up(&self) -> bool {
        self.looks_up
    }

    /// Returns true if a single radio is switched off.
    pub fn is_down(&self, radio: RadioId) -> bool {
        self.down.contains(&radio)
    }

    /// Records that a single radio is switched off or on. Returns false if it was so already.
    pub fn set_down(&mut self, radio: RadioId, down: bool) -> bool {
        let is_new = self.is_down(radio) != down;
        if is_new && down {
            self.down.push(radio);
        } else {
            self.down.retain(|r| *r != radio || down);
        }
        self.looks_up = self.has_additional() || !self.down.is_empty();
        is_new
    }

    /// Radios of a node, in the order of the scenario.
    pub fn of(&self, n: NodeId) -> impl Iterator<Item = RadioId> + use<> {
        let first = (n.index() < self.nodes).then_some(RadioId(n.0));
        let index = |i: usize| (self.nodes + i) as u32;
        // Additional radios are listed node by node.
        let from = index(self.additional.partition_point(|&f| f < n));
        let to = index(self.additional.partition_point(|&f| f <= n));
        first.into_iter().chain((from..to).map(RadioId))
    }

    /// Radio over which a node reaches a neighbor; the first radio of the node if the neighbor is out of range.
    pub fn to(&self, n: NodeId, neighbor: NodeId) -> RadioId {
        self.pair(n, neighbor).map_or(RadioId(n.0), |p| p.out)
    }

    /// Radio of a neighbor that receives frames of a radio.
    #[inline]
    pub fn peer(&self, radio: RadioId, neighbor: NodeId) -> RadioId {
        if self.additional.is_empty() || neighbor.is_broadcast() {
            return RadioId(neighbor.0);
        }
        self.pair(self.node(radio), neighbor).map_or(RadioId(neighbor.0), |p| p.peer)
    }

    fn pair(&self, n: NodeId, neighbor: NodeId) -> Option<RadioPair> {
        if !self.channels.is_empty() {
            return self.pair_by_channel(n, neighbor);
        }
        let i = self.pairs.binary_search_by_key(&(n, neighbor), |p| (p.from, p.to)).ok()?;
        Some(self.pairs[i])
    }

    /// First pair of radios on one channel. All radios of a node have the same range, so any such pair connects two
    /// nodes in range of each other.
    fn pair_by_channel(&self, n: NodeId, neighbor: NodeId) -> Option<RadioPair> {
        let channel = |r: RadioId| self.channels[r.index()];
        let pair = |out: RadioId| {
            let peer = self.of(neighbor).find(|&peer| channel(peer) == channel(out))?;
            Some(RadioPair { from: n, to: neighbor, out, peer })
        };
        self.of(n).find_map(pair)
    }
}
