//! Settings of AODV.

use super::table::Entry;
use crate::setting::limit::{HOUR, LARGEST_PACKET, LONGEST, above, at_least, at_most, range};
use crate::unit::{Bytes, Span, Time};
use crate::{keywords, settings};

keywords! {
    /// Wait for a route reply.
    pub enum RequestWait {
        /// RING_TRAVERSAL_TIME, then NET_TRAVERSAL_TIME doubled at each retry (RFC 3561, 6.4).
        RingTraversal = "ring_traversal",
        /// 2 TTL times the measured time per hop, times the number of network-wide requests, as in ns-2.
        PerHop = "per_hop",
    }
}

keywords! {
    /// TTL of the data that a node sends.
    pub enum DataTtl {
        /// `net.ttl`, as under every routing protocol.
        NetTtl = "net_ttl",
        /// NET_DIAMETER, as in ns-2; RFC 3561 has it for requests only.
        NetDiameter = "net_diameter",
    }
}

keywords! {
    /// Reach of the first request for a destination that was never known.
    pub enum FirstRing {
        /// TTL_START hops (RFC 3561).
        TtlStart = "ttl_start",
        /// NET_DIAMETER hops, as in ns-2.
        Network = "network",
    }
}

keywords! {
    /// Rule for a node's own sequence number.
    pub enum SequenceRule {
        /// Incremented before a request; a destination raises it only to match the requested number (RFC 3561, 6.1).
        Rfc3561 = "rfc3561",
        /// Always even, incremented by two before a request, after a lost neighbor and before a reply, as in ns-2.
        Even = "even",
    }
}

keywords! {
    /// Packets that wait for a local repair of their route when the next hop is lost.
    pub enum RepairRule {
        /// Packets whose destination is at most MAX_REPAIR_TTL hops away (RFC 3561, 6.12).
        WithinRepairTtl = "within_repair_ttl",
        /// Packets that have more hops behind them than ahead, as in ns-2.
        CloserToDestination = "closer_to_destination",
        /// No packets.
        Never = "never",
    }
}

keywords! {
    /// Time at which a repair without a route is given up.
    pub enum RepairTimer {
        /// At the end of the wait for the route reply.
        RequestWait = "request_wait",
        /// After a delay equal to the simulated time of that moment: ns-2 mistakes the instant for a delay.
        InstantAsDelay = "instant_as_delay",
    }
}

keywords! {
    /// Unit of the route lifetime in the reply of an intermediate node.
    pub enum ReplyLifetime {
        /// Milliseconds, as the message counts (RFC 3561, 5.2).
        Milliseconds = "milliseconds",
        /// Whole seconds, rounded down, as in ns-2.
        WholeSeconds = "whole_seconds",
    }
}

keywords! {
    /// Sequence number of a route that is invalidated by a route error, if its own number is not higher.
    pub enum ErrorSequence {
        /// Incremented, as after the loss of a link: no route over this node is then fresh enough to answer its
        /// request.
        Raised = "raised",
        /// Copied from the error (RFC 3561, 6.11, and ns-2): nodes that use this node as next hop may answer its
        /// request, which can form loops.
        Copied = "copied",
    }
}

keywords! {
    /// Lifetime of a route after it was used.
    pub enum UseRule {
        /// At least ACTIVE_ROUTE_TIMEOUT (RFC 3561, 6.2).
        AtLeast = "at_least",
        /// Exactly ACTIVE_ROUTE_TIMEOUT, even if the route had longer to live, as in ns-2.
        Exactly = "exactly",
    }
}

settings! {
    /// AODV. Names and values of the constants are those of RFC 3561, section 10.
    pub struct Config {
        /// ACTIVE_ROUTE_TIMEOUT: lifetime of a route after it was used.
        pub active_route_timeout: Span = Span::secs(3) => above(Span::ZERO).at_most(LONGEST),
        /// Lifetime of a route after its use: at least or exactly `active_route_timeout`.
        pub lifetime_of_use: UseRule = UseRule::AtLeast,
        /// MY_ROUTE_TIMEOUT: lifetime of a route to the node itself in its replies.
        pub my_route_timeout: Span = Span::secs(6) => above(Span::ZERO).at_most(LONGEST),
        /// Unit of the route lifetime in the reply of an intermediate node.
        pub reply_lifetime: ReplyLifetime = ReplyLifetime::Milliseconds,
        /// Lifetime of the route back to the originator of a request.
        pub reverse_route_life: Span = Span::ms(5600) => at_most(LONGEST),
        /// PATH_DISCOVERY_TIME: time for which a request is remembered, to ignore its copies.
        pub path_discovery_time: Span = Span::ms(5600) => at_most(HOUR),
        /// Interval at which expired requests are forgotten; "exact": each when it expires.
        pub id_timer: Option<Span> | "exact" = None => range(Span::ms(1), LONGEST),
        /// NODE_TRAVERSAL_TIME: assumed time per hop.
        pub node_traversal_time: Span = Span::ms(40) => range(Span::us(1), HOUR),
        /// NET_DIAMETER: TTL of a network-wide request.
        pub net_diameter: u8 = 35 => range(1, 254),
        /// TTL of the data that a node sends.
        pub data_ttl: DataTtl = DataTtl::NetTtl,
        /// TTL_START: TTL of the first request.
        pub ttl_start: u8 = 1 => at_least(1),
        /// TTL_INCREMENT: growth of the TTL with each request.
        pub ttl_increment: u8 = 2 => at_least(1),
        /// TTL_THRESHOLD: largest TTL before requests become network-wide.
        pub ttl_threshold: u8 = 7,
        /// TIMEOUT_BUFFER: number of hops added to the TTL to compute the wait for a route reply.
        pub timeout_buffer: u8 = 2,
        /// RREQ_RETRIES: number of network-wide requests after the first.
        pub rreq_retries: u32 = 2 => at_most(1000),
        /// RREQ_RATELIMIT: largest number of requests that a node may originate per second.
        pub rreq_ratelimit: Option<u32> | "unlimited" = Some(10) => at_most(1_000_000),
        /// RERR_RATELIMIT: largest number of route errors that a node may send per second.
        pub rerr_ratelimit: Option<u32> | "unlimited" = Some(10) => at_most(1_000_000),
        /// Wait for a route reply.
        pub request_wait: RequestWait = RequestWait::RingTraversal,
        /// Longest wait for a route reply.
        pub max_request_wait: Option<Span> | "unlimited" = None => range(Span::us(1), LONGEST),
        /// Time after a failed route discovery in which no request is sent.
        pub hold_off: Span = Span::ZERO => at_most(LONGEST),
        /// Reach of the first request for a destination that was never known.
        pub first_ring: FirstRing = FirstRing::TtlStart,
        /// Rule for a node's own sequence number.
        pub sequence_numbers: SequenceRule = SequenceRule::Rfc3561,
        /// Lets the use of a route also extend the lifetime of the route back to the source of the packet.
        pub refresh_source: bool = true,
        /// Interval at which routes expire and waiting packets cause requests; "exact": each at its own time.
        pub route_timer: Option<Span> | "exact" = None => range(Span::ms(1), LONGEST),
        /// Packets that wait for a local repair of their route when the next hop is lost.
        pub local_repair: RepairRule = RepairRule::WithinRepairTtl,
        /// MAX_REPAIR_TTL: largest number of hops to a destination for a local repair, 0.3 NET_DIAMETER.
        pub max_repair_ttl: u8 = 10,
        /// LOCAL_ADD_TTL: number of hops added to the TTL of a repair.
        pub local_add_ttl: u8 = 2,
        /// Time at which a repair without a route is given up.
        pub repair_timer: RepairTimer = RepairTimer::RequestWait,
        /// Reports a failed repair with a route error.
        pub repair_error: bool = true,
        /// Sequence number of a route that is invalidated by a route error, if its own number is not higher.
        pub error_sequence: ErrorSequence = ErrorSequence::Raised,
        /// BLACKLIST_TIMEOUT = RREQ_RETRIES NET_TRAVERSAL_TIME: time for which requests of a neighbor are ignored after
        /// a reply could not be sent to it, because the link may be unidirectional (RFC 3561, 6.8); "none": no
        /// blacklist, as in ns-2.
        pub blacklist_timeout: Option<Span> | "none" = Some(Span::ms(5600)) => above(Span::ZERO).at_most(LONGEST),
        /// DELETE_PERIOD: time for which a broken route is remembered.
        pub delete_period: Option<Span> | "never" = Some(Span::secs(15)) => at_most(LONGEST),
        /// Largest number of packets that wait for a route.
        pub buffer_packets: u32 = 64 => range(1, 1_000_000),
        /// Longest time that a packet waits for a route.
        pub buffer_timeout: Span = Span::secs(30) => at_most(HOUR),
        /// Time between the packets that a new route releases.
        pub release_spacing: Span = Span::ZERO => at_most(HOUR),
        /// Largest random delay of forwarded broadcast messages.
        pub broadcast_jitter: Span = Span::ms(10) => at_most(HOUR),
        /// Largest random delay of a request at its originator (RFC 5148, 5.2).
        pub request_jitter: Span = Span::ZERO => at_most(HOUR),
        /// Largest random delay of a repeated request that goes no farther than the one before it. It separates nodes
        /// that sent requests at the same instant and would repeat them at the same instant.
        pub retry_jitter: Span = Span::ms(10) => at_most(HOUR),
        /// Sends HELLO messages.
        pub hello: bool = false,
        /// HELLO_INTERVAL: time between HELLO messages.
        pub hello_interval: Span = Span::secs(1) => range(Span::us(1), HOUR)
            ; used when |c| c.hello, else "`routing.aodv.hello` is false",
        /// ALLOWED_HELLO_LOSS: number of HELLO messages that may be lost.
        pub allowed_hello_loss: u32 = 2 => range(1, 1000)
            ; used when |c| c.hello, else "`routing.aodv.hello` is false",
        /// Size of a route request with IP header.
        pub rreq_size: Bytes = Bytes(52) => at_most(LARGEST_PACKET),
        /// Size of a route reply with IP header.
        pub rrep_size: Bytes = Bytes(48) => at_most(LARGEST_PACKET),
        /// Size of a route error with IP header, without its destinations.
        pub rerr_size: Bytes = Bytes(32) => at_most(LARGEST_PACKET),
        /// Size of each destination in a route error.
        pub rerr_destination_size: Bytes = Bytes(8) => at_most(LARGEST_PACKET),
    }
}

impl Config {
    /// Expiry of a route that is used now and had until `expires`.
    pub(super) fn used(&self, expires: Time, now: Time) -> Time {
        let life = now + self.active_route_timeout;
        if self.lifetime_of_use == UseRule::AtLeast { expires.max(life) } else { life }
    }

    /// Wait for a reply to a request that goes `ttl` hops.
    pub(super) fn wait(&self, ttl: u8, entry: &Entry) -> Span {
        let wait = match self.request_wait {
            RequestWait::PerHop => {
                let per_hop = entry.time_per_hop().unwrap_or(self.node_traversal_time);
                per_hop * 2 * u64::from(ttl) * u64::from(entry.network_wide.max(1))
            }
            RequestWait::RingTraversal if entry.network_wide == 0 => {
                // RING_TRAVERSAL_TIME = 2 NODE_TRAVERSAL_TIME (TTL_VALUE + TIMEOUT_BUFFER)
                self.node_traversal_time * 2 * (u64::from(ttl) + u64::from(self.timeout_buffer))
            }
            // RFC 3561, 6.3: "the waiting time ... is multiplied by 2" at each retry
            RequestWait::RingTraversal => {
                let net_traversal_time = self.node_traversal_time * 2 * u64::from(self.net_diameter);
                net_traversal_time * (1 << (entry.network_wide - 1).min(16))
            }
        };
        self.max_request_wait.map_or(wait, |most| wait.min(most))
    }
}
