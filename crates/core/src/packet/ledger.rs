//! How packets end, and the books of their births and deaths.

use super::Kind;

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
    /// The node that held it was switched off.
    NodeOff = "node_off",
    /// It came for a transfer that was over.
    FlowOver = "flow_over",
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
    /// Packets that reached the node that they were for.
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
