//! Packet accounting: created packets and their outcomes.

use super::Kind;

macro_rules! reasons {
    ($( $(#[doc = $doc:literal])* $Variant:ident = $word:literal, )*) => {
        /// Reason for a packet drop.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Reason { $( $(#[doc = $doc])* $Variant, )* }

        impl Reason {
            /// Every reason with its name in tables and its meaning.
            pub const ALL: &'static [(Reason, &'static str, &'static str)] =
                &[ $( (Reason::$Variant, $word, concat!("", $($doc),*)), )* ];

            /// Its name in tables.
            pub fn word(self) -> &'static str {
                Reason::ALL[self as usize].1
            }
        }
    };
}

reasons! {
    /// The MAC gave it up after the retry limit.
    RetryLimit = "retry_limit",
    /// It waited in the interface queue for a neighbor that was declared lost.
    RouteFailure = "route_failure",
    /// The interface queue was full.
    QueueFull = "queue_full",
    /// Active queue management dropped it although the queue was not full.
    Aqm = "aqm",
    /// The queues of the MAC were full, and its flow held the most.
    MacQueueFull = "mac_queue_full",
    /// CoDel dropped it in a queue of the MAC.
    MacAqm = "mac_aqm",
    /// Another packet took its place while the neighbor's address was asked for, or nobody answered.
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
    /// An error model damaged it on a point-to-point link, or above the MAC of the receiver; or its link was down.
    LinkError = "link_error",
    /// The node that held it was switched off.
    NodeOff = "node_off",
    /// It came for a short flow that was over.
    FlowOver = "flow_over",
}

/// Outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The packet reached its destination; a broadcast was sent.
    Delivered,
    /// The packet was dropped.
    Dropped(Reason),
    /// This copy is no longer needed: the next hop has acknowledged its own.
    Relayed,
    /// A middlebox consumed the packet: a filtered acknowledgement, or a segment of a split connection.
    Absorbed,
}

const KINDS: usize = Kind::ALL.len();
const REASONS: usize = Reason::ALL.len();

/// Counts of created and ended packets, by kind.
///
/// The next hop works on a copy of its own, so a packet in flight is a chain of copies: created + injected + copied =
/// delivered + relayed + absorbed + dropped + inside, exactly, at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Packets created by a source.
    pub created: [u64; KINDS],
    /// Packets created by a middlebox.
    pub injected: [u64; KINDS],
    /// Copies created when a next hop received the packet.
    pub copied: [u64; KINDS],
    /// Packets that reached their destination.
    pub delivered: [u64; KINDS],
    /// Copies handed over to the next hop.
    pub relayed: [u64; KINDS],
    /// Packets consumed by a middlebox.
    pub absorbed: [u64; KINDS],
    /// Packets dropped, by reason.
    pub dropped: [[u64; REASONS]; KINDS],
    /// Copies still in the network.
    pub inside: [u64; KINDS],
}

impl Ledger {
    /// Moves the counts of another ledger into this one.
    pub fn take(&mut self, other: &mut Ledger) {
        let other = std::mem::take(other);
        for k in 0..KINDS {
            self.created[k] += other.created[k];
            self.injected[k] += other.injected[k];
            self.copied[k] += other.copied[k];
            self.delivered[k] += other.delivered[k];
            self.relayed[k] += other.relayed[k];
            self.absorbed[k] += other.absorbed[k];
            self.inside[k] += other.inside[k];
            self.dropped[k].iter_mut().zip(other.dropped[k]).for_each(|(sum, n)| *sum += n);
        }
    }

    /// Returns true if no packet of a kind was counted.
    pub fn is_empty(&self, kind: Kind) -> bool {
        let k = kind as usize;
        self.created[k] + self.injected[k] + self.copied[k] == 0
    }

    /// Number of packets of a kind dropped for this reason.
    pub fn dropped_for(&self, kind: Kind, reason: Reason) -> u64 {
        self.dropped[kind as usize][reason as usize]
    }

    /// Number of packets dropped for this reason.
    pub fn dropped_total(&self, reason: Reason) -> u64 {
        Kind::ALL.iter().map(|&k| self.dropped_for(k, reason)).sum()
    }

    /// Returns true if every packet has exactly one outcome.
    pub fn balances(&self) -> bool {
        (0..KINDS).all(|k| {
            let born = self.created[k] + self.injected[k] + self.copied[k];
            let dropped: u64 = self.dropped[k].iter().sum();
            born == self.delivered[k] + self.relayed[k] + self.absorbed[k] + dropped + self.inside[k]
        })
    }
}

/// Packets created in the warm-up, and packets created in the measured part of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledgers([Ledger; 2]);

impl Ledgers {
    /// Ledger of the packets that were created in the measured part (`true`), or before (`false`).
    #[inline]
    pub fn of(&self, measured: bool) -> &Ledger {
        &self.0[usize::from(measured)]
    }

    /// The same, for writing.
    #[inline]
    pub(super) fn of_mut(&mut self, measured: bool) -> &mut Ledger {
        &mut self.0[usize::from(measured)]
    }

    /// Counts all packets so far as packets of the warm-up.
    pub(super) fn begin_measured(&mut self) {
        let [warmup, measured] = &mut self.0;
        warmup.take(measured);
    }

    /// All packets of the run.
    pub fn total(&self) -> Ledger {
        let mut all = self.clone();
        all.begin_measured();
        let [total, _] = all.0;
        total
    }

    /// Returns true if every packet has exactly one outcome.
    pub fn balance(&self) -> bool {
        self.0.iter().all(Ledger::balances)
    }

    /// Number of packets in the network.
    pub fn live(&self) -> u64 {
        self.0.iter().flat_map(|ledger| ledger.inside).sum()
    }
}
