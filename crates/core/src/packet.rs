//! Packets: the values that travel between the rooms, the slab they live in, and the ledger of their fates.
//!
//! Nothing about the bits is simulated; a header is a struct. From its creation to its end a packet stays in the
//! slab and only its [`PacketId`] moves. The slab books every birth and every death, so that a run can show at its end
//! that each packet had exactly one fate.

use crate::unit::Time;

/// A node. Nodes are numbered from 0 in the order of the topology.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// All nodes in range.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);

    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is the broadcast address.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == NodeId::BROADCAST
    }
}

/// A flow, numbered from 0 in the order of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowId(pub u32);

impl FlowId {
    /// Packets of the network itself belong to no flow.
    pub const NONE: FlowId = FlowId(u32::MAX);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A packet in the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(pub u32);

/// Segments are numbered from 0; a cumulative acknowledgement names the next one expected.
pub type Seq = u32;

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport does not understand ECN.
    #[default]
    NotEct,
    /// ECT(0): it does.
    Ect,
    /// CE: congestion was experienced on the way.
    Ce,
}

/// A TCP segment that carries data, or the SYN.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct DataSegment {
    /// Number of the segment.
    pub seq: Seq,
    /// When this copy was sent.
    pub sent: Time,
    /// When the source of the flow sent it; earlier than `sent` where a connection is split.
    pub born: Time,
    /// Whether it had been sent before.
    pub retransmission: bool,
    /// Whether it is the SYN, which carries no data.
    pub syn: bool,
    /// Whether it is sent as ECN-capable.
    pub ect: bool,
    /// ECE; on the SYN it offers ECN, together with CWR.
    pub ece: bool,
    /// CWR: the window has been cut since the last segment.
    pub cwr: bool,
}

/// At most three SACK blocks, the most recent first; each from a segment up to before another (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 3],
    len: u8,
}

impl SackBlocks {
    /// Adds a block at the end; a fourth one is left out.
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(self.len as usize) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks, the most recent first.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.blocks[..self.len as usize].iter().copied()
    }

    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP acknowledgement without data.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AckSegment {
    /// The next segment expected.
    pub next: Seq,
    /// When the segment that caused it had been sent (RFC 7323 timestamp echo).
    pub echo: Time,
    /// Hops that this segment had made.
    pub hops: u8,
    /// Segments from `next` on that the receiver is ready to take.
    pub window: u32,
    /// Explicit loss notification: the segment expected next was lost by a link, not by congestion.
    pub eln: bool,
    /// Selectively acknowledged segments.
    pub sack: SackBlocks,
    /// ECE: a segment has arrived with CE; on the acknowledgement of a SYN: ECN is accepted.
    pub ece: bool,
}

/// A UDP datagram.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Datagram {
    /// Number of the datagram.
    pub seq: Seq,
}

/// An ARP message: request or reply (RFC 826).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// Who sends it.
    pub sender: NodeId,
    /// Who is asked, or who asked.
    pub target: NodeId,
    /// Whether it is a request.
    pub request: bool,
}

/// A notification of Neighborhood RED: the queue that its sender shares with its neighbours is long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Notification {
    /// The probability of a drop for each packet that the receiver has in that queue.
    pub probability: f64,
    /// How long it holds.
    pub lifetime: crate::unit::Span,
}

/// Route request (RFC 3561, section 5.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rreq {
    /// Number of the request, unique with its originator.
    pub id: u32,
    /// Hops from the originator, this one included.
    pub hop_count: u8,
    /// Whether the destination sequence number is unknown.
    pub unknown_seq: bool,
    /// Who asks.
    pub originator: NodeId,
    /// Its sequence number.
    pub originator_seq: u32,
    /// Where to.
    pub destination: NodeId,
    /// The newest sequence number of the destination known on the way.
    pub destination_seq: u32,
    /// When it was first sent.
    pub sent: Time,
}

/// Route reply (RFC 3561, section 5.2); a HELLO is one with TTL 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rrep {
    /// Hops to the destination, this one included.
    pub hop_count: u8,
    /// Whose route it is.
    pub destination: NodeId,
    /// Its sequence number.
    pub destination_seq: u32,
    /// Who asked.
    pub originator: NodeId,
    /// How long the route may be used.
    pub lifetime: crate::unit::Span,
    /// When the request was first sent.
    pub sent: Time,
    /// Whether it is a HELLO.
    pub hello: bool,
}

/// A list of unreachable destinations with their sequence numbers, kept beside the slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListId(u32);

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Body {
    /// TCP data.
    Data(DataSegment),
    /// TCP acknowledgement.
    Ack(AckSegment),
    /// UDP.
    Datagram(Datagram),
    /// AODV route request.
    Rreq(Rreq),
    /// AODV route reply or HELLO.
    Rrep(Rrep),
    /// AODV route error.
    Rerr(ListId),
    /// ARP.
    Arp(Arp),
    /// Neighborhood congestion notification.
    Notification(Notification),
}

/// Kinds of packets that are counted apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// TCP data and UDP.
    Data,
    /// TCP acknowledgements.
    Ack,
    /// Routing messages, and notifications of congestion.
    Routing,
    /// ARP messages.
    Arp,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Data, Kind::Ack, Kind::Routing, Kind::Arp];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        ["data", "ack", "routing", "arp"][self as usize]
    }
}

impl Body {
    /// The kind of a packet with this body.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Body::Data(_) | Body::Datagram(_) => Kind::Data,
            Body::Ack(_) => Kind::Ack,
            Body::Rreq(_) | Body::Rrep(_) | Body::Rerr(_) | Body::Notification(_) => Kind::Routing,
            Body::Arp(_) => Kind::Arp,
        }
    }
}

/// A packet of the network layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// What it carries.
    pub body: Body,
    /// When its source made it.
    pub born: Time,
    /// Size at the network layer \[B\].
    pub bytes: u32,
    /// Where it comes from.
    pub source: NodeId,
    /// The node to which its network layer takes it.
    pub destination: NodeId,
    /// The node that it is for: the destination, or one behind it where nodes with a radio and nodes on wires use
    /// routes of different kinds.
    pub goal: NodeId,
    /// The neighbour it is sent to next.
    pub next_hop: NodeId,
    /// Its flow.
    pub flow: FlowId,
    /// Hops it may still make.
    pub ttl: u8,
    /// Hops it has made.
    pub hops: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Whether it goes to the head of the interface queue of this node.
    pub urgent: bool,
    /// Whether it was made by the node that splits its connection.
    pub halfway: bool,
}

macro_rules! reasons {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal, )*) => {
        /// Why a packet was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Reason { $( $(#[doc = $doc])* $Variant, )* }

        impl Reason {
            /// Every reason with its name in tables and its meaning.
            pub const ALL: &'static [(Reason, &'static str, &'static str)] =
                &[ $( (Reason::$Variant, $word, concat!("", $($doc),*)), )* ];
        }
    };
}

reasons! {
    /// The MAC gave it up after the retry limit.
    RetryLimit = "retry_limit",
    /// It waited in the interface queue for a neighbour that was declared lost.
    RouteFailure = "route_failure",
    /// The interface queue was full.
    QueueFull = "queue_full",
    /// Active queue management dropped it although the queue was not full.
    Aqm = "aqm",
    /// Another packet took its place while the neighbour's address was asked for, or nobody answered.
    ArpFailure = "arp_failure",
    /// A node on the way had no route.
    NoRoute = "no_route",
    /// It waited too long for a route.
    RouteTimeout = "route_timeout",
    /// Too many packets waited for a route.
    RouteBufferFull = "route_buffer_full",
    /// It had made too many hops.
    TtlExpired = "ttl_expired",
    /// It came back to its source.
    RoutingLoop = "routing_loop",
    /// An error model damaged it on a wire, or above the MAC of the receiver.
    LinkError = "link_error",
}

/// How a packet ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It reached whom it was for; a broadcast: it was sent.
    Delivered,
    /// Dropped.
    Dropped(Reason),
    /// This copy is no longer needed: the next hop has acknowledged its own.
    Relayed,
    /// A middlebox took it out of the way: an acknowledgement that it keeps back, a segment of a connection that it
    /// splits.
    Absorbed,
}

const KINDS: usize = Kind::ALL.len();
const REASONS: usize = Reason::ALL.len();

/// Births and deaths of packets, by kind.
///
/// The next hop works on a copy of its own, so a packet on its way is a chain of copies:
/// created + injected + copied = delivered + relayed + absorbed + dropped + still inside, exactly, at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Packets made by a source.
    pub created: [u64; KINDS],
    /// Packets made by a middlebox.
    pub injected: [u64; KINDS],
    /// Copies made because a next hop received the packet.
    pub copied: [u64; KINDS],
    /// Packets that reached whom they were for.
    pub delivered: [u64; KINDS],
    /// Copies whose next hop has taken over.
    pub relayed: [u64; KINDS],
    /// Packets that a middlebox took out of the way.
    pub absorbed: [u64; KINDS],
    /// Packets dropped, by reason.
    pub dropped: [[u64; REASONS]; KINDS],
    /// Copies that are still somewhere.
    pub inside: [u64; KINDS],
}

impl Ledger {
    /// Packets of a kind that were dropped for this reason.
    pub fn dropped_for(&self, kind: Kind, reason: Reason) -> u64 {
        self.dropped[kind as usize][reason as usize]
    }

    /// All packets that were dropped for this reason.
    pub fn dropped_total(&self, reason: Reason) -> u64 {
        Kind::ALL.iter().map(|&k| self.dropped_for(k, reason)).sum()
    }

    /// Whether every packet has exactly one fate.
    pub fn balances(&self) -> bool {
        (0..KINDS).all(|k| {
            let born = self.created[k] + self.injected[k] + self.copied[k];
            let dropped: u64 = self.dropped[k].iter().sum();
            born == self.delivered[k] + self.relayed[k] + self.absorbed[k] + dropped + self.inside[k]
        })
    }
}

/// All packets that are somewhere in the network.
#[derive(Clone, Debug, Default)]
pub struct Slab {
    packets: Vec<Packet>,
    /// How many hold each; 0: a free place.
    holders: Vec<u32>,
    free: Vec<u32>,
    lists: Vec<Vec<(NodeId, u32)>>,
    free_lists: Vec<u32>,
    ledger: Ledger,
}

impl Slab {
    /// An empty slab with room for so many packets and some route errors; it grows when they are more.
    pub fn with_capacity(packets: usize) -> Slab {
        let lists = 16;
        Slab {
            lists: (0..lists).map(|_| Vec::with_capacity(8)).collect(),
            free_lists: (0..lists).collect(),
            packets: Vec::with_capacity(packets),
            holders: Vec::with_capacity(packets),
            free: Vec::with_capacity(packets),
            ..Slab::default()
        }
    }

    /// Memory that the packets take, about \[B\]: each stands in lists of others, too.
    pub fn memory(&self) -> usize {
        self.packets.capacity() * (size_of::<Packet>() + 32)
    }

    /// A new packet.
    pub fn create(&mut self, packet: Packet) -> PacketId {
        let kind = packet.body.kind() as usize;
        self.ledger.created[kind] += 1;
        self.insert(packet)
    }

    /// A packet that a middlebox makes.
    pub fn inject(&mut self, packet: Packet) -> PacketId {
        self.ledger.injected[packet.body.kind() as usize] += 1;
        self.insert(packet)
    }

    /// The next hop's own copy of a packet.
    pub fn copy(&mut self, id: PacketId) -> PacketId {
        let mut packet = self.packets[id.0 as usize];
        let kind = packet.body.kind() as usize;
        if let Body::Rerr(list) = packet.body {
            let fresh = self.new_list();
            let (from, to) = (list.0 as usize, fresh.0 as usize);
            let mut copy = std::mem::take(&mut self.lists[to]);
            copy.extend_from_slice(&self.lists[from]);
            self.lists[to] = copy;
            packet.body = Body::Rerr(fresh);
        }
        self.ledger.copied[kind] += 1;
        self.insert(packet)
    }

    /// One more holds this packet: in the books a copy, in the slab the same place until a holder wants to change its
    /// own and calls [`own`](Self::own). Most who receive a broadcast only look at it.
    pub fn share(&mut self, id: PacketId) {
        let kind = self.packets[id.0 as usize].body.kind() as usize;
        self.ledger.copied[kind] += 1;
        self.ledger.inside[kind] += 1;
        self.holders[id.0 as usize] += 1;
    }

    /// A broadcast was received by one who only looks at it: in the books a copy that has ended.
    pub fn note_delivery(&mut self, id: PacketId) {
        let kind = self.packets[id.0 as usize].body.kind() as usize;
        self.ledger.copied[kind] += 1;
        self.ledger.delivered[kind] += 1;
    }

    /// This holder's own copy, which it may change.
    pub fn own(&mut self, id: PacketId) -> PacketId {
        if self.holders[id.0 as usize] == 1 {
            return id;
        }
        let own = self.copy(id);
        self.holders[id.0 as usize] -= 1;
        // Moved from place to place; nothing for the books.
        let kind = self.packets[own.0 as usize].body.kind() as usize;
        self.ledger.copied[kind] -= 1;
        self.ledger.inside[kind] -= 1;
        own
    }

    fn insert(&mut self, packet: Packet) -> PacketId {
        self.ledger.inside[packet.body.kind() as usize] += 1;
        match self.free.pop() {
            Some(i) => {
                self.packets[i as usize] = packet;
                self.holders[i as usize] = 1;
                PacketId(i)
            }
            None => {
                self.packets.push(packet);
                self.holders.push(1);
                PacketId(self.packets.len() as u32 - 1)
            }
        }
    }

    /// The end of a packet.
    ///
    /// # Panics
    /// If the packet has ended before: a packet has exactly one fate.
    pub fn end(&mut self, id: PacketId, fate: Fate) {
        let i = id.0 as usize;
        assert!(self.holders[i] > 0, "packet {id:?} ends a second time, as {fate:?}");
        self.holders[i] -= 1;
        let kind = self.packets[i].body.kind() as usize;
        if self.holders[i] == 0 {
            self.free.push(id.0);
            if let Body::Rerr(list) = self.packets[i].body {
                self.free_list(list);
            }
        }
        self.ledger.inside[kind] -= 1;
        match fate {
            Fate::Delivered => self.ledger.delivered[kind] += 1,
            Fate::Relayed => self.ledger.relayed[kind] += 1,
            Fate::Absorbed => self.ledger.absorbed[kind] += 1,
            Fate::Dropped(reason) => self.ledger.dropped[kind][reason as usize] += 1,
        }
    }

    /// An empty list of unreachable destinations.
    pub fn new_list(&mut self) -> ListId {
        let i = self.free_lists.pop().unwrap_or_else(|| {
            self.lists.push(Vec::with_capacity(8));
            self.lists.len() as u32 - 1
        });
        ListId(i)
    }

    /// The unreachable destinations of a route error.
    pub fn list(&self, id: ListId) -> &[(NodeId, u32)] {
        &self.lists[id.0 as usize]
    }

    /// The same, to fill it.
    pub fn list_mut(&mut self, id: ListId) -> &mut Vec<(NodeId, u32)> {
        &mut self.lists[id.0 as usize]
    }

    /// Gives a list back that no packet carries.
    pub fn free_list(&mut self, id: ListId) {
        self.lists[id.0 as usize].clear();
        self.free_lists.push(id.0);
    }

    /// The books so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many packets are inside.
    pub fn live(&self) -> u64 {
        self.ledger.inside.iter().sum()
    }
}

impl std::ops::Index<PacketId> for Slab {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id.0 as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(body: Body) -> Packet {
        Packet {
            body,
            born: Time::ZERO,
            bytes: 40,
            source: NodeId(0),
            destination: NodeId(1),
            goal: NodeId(1),
            next_hop: NodeId(1),
            flow: FlowId(0),
            ttl: 30,
            hops: 0,
            ecn: Ecn::NotEct,
            urgent: false,
            halfway: false,
        }
    }

    #[test]
    fn the_books_balance_at_any_time() {
        let mut slab = Slab::default();
        let a = slab.create(packet(Body::Datagram(Datagram { seq: 0 })));
        let b = slab.copy(a);
        assert!(slab.ledger().balances());
        slab.end(a, Fate::Relayed);
        slab.end(b, Fate::Dropped(Reason::QueueFull));
        assert!(slab.ledger().balances());
        assert_eq!(slab.ledger().dropped_for(Kind::Data, Reason::QueueFull), 1);
        assert_eq!(slab.live(), 0);
    }

    #[test]
    #[should_panic(expected = "ends a second time")]
    fn a_packet_has_one_fate() {
        let mut slab = Slab::default();
        let a = slab.create(packet(Body::Datagram(Datagram { seq: 0 })));
        slab.end(a, Fate::Delivered);
        slab.end(a, Fate::Delivered);
    }

    #[test]
    fn a_copied_route_error_has_its_own_list() {
        let mut slab = Slab::default();
        let list = slab.new_list();
        slab.list_mut(list).push((NodeId(3), 5));
        let a = slab.create(packet(Body::Rerr(list)));
        let b = slab.copy(a);
        slab.end(a, Fate::Delivered);
        let Body::Rerr(copied) = slab[b].body else { unreachable!() };
        assert_eq!(slab.list(copied), [(NodeId(3), 5)]);
    }

    #[test]
    fn a_shared_packet_is_copied_by_who_changes_it() {
        let mut slab = Slab::default();
        let a = slab.create(packet(Body::Datagram(Datagram { seq: 0 })));
        slab.share(a);
        slab.share(a);
        let mine = slab.own(a);
        assert_ne!(mine, a);
        slab[mine].ttl = 1;
        assert_eq!(slab[a].ttl, 30);
        slab.end(a, Fate::Delivered);
        assert_eq!(slab.own(a), a, "the last holder has it for itself");
        assert_eq!((slab.live(), slab.ledger().copied[Kind::Data as usize]), (2, 2));
        assert!(slab.ledger().balances());
        slab.end(a, Fate::Delivered);
        slab.end(mine, Fate::Delivered);
        assert_eq!(slab.live(), 0);
        assert!(slab.ledger().balances());
    }

    #[test]
    fn a_packet_fits_two_cache_lines() {
        assert!(std::mem::size_of::<Packet>() <= 96, "{} B", std::mem::size_of::<Packet>());
    }
}
