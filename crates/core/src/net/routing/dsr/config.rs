//! Settings of DSR.

use crate::setting::limit::{HOUR, LONGEST, above, at_most, range};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Key that identifies gratuitous replies.
    pub enum GratReplyKey {
        /// Source of the packet, and node from which it was overheard (RFC 4728, section 4.4).
        Sender = "sender",
        /// Whole path of the packet (ns-2).
        Path = "path",
    }
}

settings! {
    /// DSR. Names and values of the constants are those of RFC 4728, section 9, where it has them.
    pub struct Config {
        /// DiscoveryHopLimit: longest route that a request can find, in hops.
        pub discovery_hop_limit: u8 = 255 => range(1, 255),
        /// First sends a non-propagating request, which only the neighbors answer.
        pub nonpropagating: bool = true,
        /// NonpropRequestTimeout: time to wait for the replies of neighbors.
        pub nonprop_request_timeout: Span = Span::ms(30) => at_most(HOUR)
            ; used when |c| c.nonpropagating, else "`routing.dsr.nonpropagating` is false",
        /// RequestPeriod: time from the first request for a destination to the next one.
        pub request_period: Span = Span::ms(500) => range(Span::ms(1), HOUR),
        /// Factor by which the time between requests grows with each request.
        pub request_growth: u32 = 2 => range(1, 100),
        /// MaxRequestPeriod: longest time between two requests.
        pub max_request_period: Span = Span::secs(10) => range(Span::ms(1), HOUR),
        /// MaxRequestRexmt: number of requests without a reply after which waiting packets are dropped.
        pub max_requests: Option<u32> | "unlimited" = Some(16) => range(1, 1000),
        /// BroadcastJitter: largest random delay of a request.
        pub broadcast_jitter: Span = Span::ms(10) => at_most(HOUR),
        /// Largest random delay of the destination's own reply.
        pub reply_jitter: Span = Span::ZERO => at_most(HOUR),
        /// Lets intermediate nodes reply from their caches.
        pub reply_from_cache: bool = true,
        /// Largest number of packets that wait for a route.
        pub buffer_packets: u32 = 64 => range(1, 1_000_000),
        /// SendBufferTimeout: longest time that a packet waits for a route.
        pub buffer_timeout: Span = Span::secs(30) => above(Span::ZERO).at_most(HOUR),
        /// Shortest time between two checks of the waiting packets.
        pub min_check_interval: Span = Span::ms(30) => range(Span::ms(1), HOUR),
        /// Longest time between two checks of the waiting packets; the time is random.
        pub max_check_interval: Span = Span::ms(60) => range(Span::ms(1), HOUR),
        /// Time between packets released by a reply. Packets for which a check finds a route are sent at once.
        pub release_spacing: Span = Span::ZERO => at_most(HOUR),
        /// Largest number of cached routes that the node has requested.
        pub own_cache_paths: u32 = 30 => range(1, 1000),
        /// Largest number of cached routes that the node has seen in packets of others.
        pub seen_cache_paths: u32 = 64 => range(1, 1000),
        /// RouteCacheTimeout: lifetime of a cached route.
        pub cache_timeout: Option<Span> | "never" = Some(Span::secs(300)) => above(Span::ZERO).at_most(LONGEST),
        /// Lets nodes learn routes from overheard frames and report shorter ones.
        pub promiscuous: bool = true,
        /// GratReplyHoldoff: shortest time between two replies that report the same shorter route.
        pub grat_reply_holdoff: Span = Span::secs(1) => at_most(HOUR)
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Key that identifies gratuitous replies for `grat_reply_holdoff`.
        pub grat_reply_key: GratReplyKey = GratReplyKey::Sender
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Number of gratuitous replies that are remembered; a new one replaces the oldest. RFC 4728 leaves the number
        /// open.
        pub grat_reply_entries: u32 = 64 => range(1, 10_000)
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// MAX_SALVAGE_COUNT: largest number of times that a packet is salvaged after the loss of its next hop.
        pub max_salvage: u8 = 15,
        /// Also salvages route errors whose next hop is lost; otherwise they are dropped. RFC 4728, 8.3.6, makes no
        /// exception for them.
        pub salvage_errors: bool = true
            ; used when |c| c.max_salvage > 0, else "`routing.dsr.max_salvage` is 0",
        /// MAX_ROUTE_ERRORS: largest number of route errors in a packet. A route error whose next hop is lost travels
        /// with the new error about this link, and the receiver of the new error forwards it; at the limit it is
        /// dropped without notice. RFC 4728, 8.3.4, allows up to MAX_SALVAGE_COUNT.
        pub max_errors: u8 = 15 => range(1, 15),
        /// Time for which a node attaches a route error to its own requests.
        pub error_hold: Span = Span::secs(1) => at_most(HOUR),
        /// Attaches a route error only up to the first propagating request (RFC 4728, 3.4.4: the next request).
        pub error_told_once: bool = true,
        /// Lets nodes on the path of a request learn the route back to its source; the target always learns it. RFC
        /// 4728, 3.3.1, allows it; ns-2 does not do it.
        pub learn_from_requests: bool = true,
        /// Lets the destination of a packet learn the route of the packet, as intermediate nodes do. RFC 4728, 3.3.1,
        /// allows it; ns-2 does not do it.
        pub learn_at_destination: bool = true,
        /// Lets intermediate nodes store routes, so that most packets need not carry them.
        pub flow_state: bool = false,
        /// DefaultFlowTimeout: time after its last packet for which a flow is stored.
        pub flow_timeout: Span = Span::secs(60) => above(Span::ZERO).at_most(HOUR)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Number of packets at the start of a flow that carry its route, to establish it.
        pub flow_packets: u32 = 3 => range(1, 1_000_000)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Ends the flows of other nodes, as well as those of the node itself, when one of their links breaks or is
        /// reported broken. RFC 4728, 8.6.3, allows it; in ns-2 they continue until they expire.
        pub passing_flows_end: bool = true
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Lets a source send the route again when its default flow is reported unknown (RFC 4728, 8.6.3). ns-2 does so
        /// only for other flows.
        pub default_flow_restarts: bool = true
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Size of a route error about an unknown flow.
        pub unknown_flow_size: Bytes = Bytes(18) => at_most(Bytes(100))
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Time after which a packet carries the route of a flow once more.
        pub flow_refresh: Span = Span::secs(5) => at_most(HOUR)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Size of the IP header of messages.
        pub message_header_size: Bytes = Bytes(20) => at_most(Bytes(100)),
        /// Peculiarities of ns-2.
        pub ns2: Ns2 = Ns2::default(),
    }
}

settings! {
    /// DSR of ns-2 where it departs from RFC 4728.
    pub struct Ns2 {
        /// Checks for waiting packets even while there are none.
        pub check_always: bool = false,
        /// Learns only once from a packet that is overheard several times on its route.
        pub overhear_once: bool = false
            ; used within |dsr: &Config| dsr.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Writes the time of a gratuitous reply into the next entry: the first reply does not hold back the second,
        /// and each entry has the time of the previous reply.
        pub grat_reply_late: bool = false
            ; used within |dsr: &Config| dsr.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Makes a packet that must be salvaged wait if no other route is known. The node sends a request to its
        /// neighbors, and drops one of the packets for that destination whenever the next request would be due. This
        /// does not count as salvaging.
        pub salvage_waits: bool = false
            ; used within |dsr: &Config| dsr.max_salvage > 0, else "`routing.dsr.max_salvage` is 0",
        /// Treats an overheard route error for this node as received, so that the errors that it carries for other
        /// nodes are forwarded twice.
        pub overheard_errors: bool = false
            ; used within |dsr: &Config| dsr.promiscuous, else "`routing.dsr.promiscuous` is false"
            ; used within |dsr: &Config| dsr.max_errors > 1, else "`routing.dsr.max_errors` is 1",
        /// Salvages a packet of an unknown flow, as after the loss of the next hop, instead of dropping it. Its source
        /// is notified in either case; RFC 4728 leaves the treatment of the packet open.
        pub salvage_unknown_flow: bool = false
            ; used within |dsr: &Config| dsr.flow_state, else "`routing.dsr.flow_state` is false"
            ; used within |dsr: &Config| dsr.max_salvage > 0, else "`routing.dsr.max_salvage` is 0",
        /// Bytes added to each TCP segment of a node, in addition to its route: an IP header, which TCP has already
        /// counted. For datagrams it is part of `cbr.header_size` and `on_off.header_size`.
        pub packet_header_size: Bytes = Bytes(0) => at_most(Bytes(100)),
        /// Adds the header of a request once more at each node that forwards it.
        pub request_grows_twice: bool = false,
    }
}
