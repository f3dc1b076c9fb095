//! Settings of DSR.

use crate::setting::limit::{HOUR, LONGEST, above, at_most, range};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Marks by which replies that nobody has asked for are told apart.
    pub enum GratReplyKey {
        /// The source of the packet, and the node from which it was heard (RFC 4728, section 4.4).
        Sender = "sender",
        /// The whole path of the packet (ns-2).
        Path = "path",
    }
}

settings! {
    /// DSR. Names and values of the constants are those of RFC 4728, section 9, where it has them.
    pub struct Config {
        /// DiscoveryHopLimit: hops of the longest way that is found.
        pub discovery_hop_limit: u8 = 255 => range(1, 255),
        /// Whether the neighbours alone are asked first.
        pub nonpropagating: bool = true,
        /// NonpropRequestTimeout: how long they have for an answer.
        pub nonprop_request_timeout: Span = Span::ms(30) => at_most(HOUR)
            ; used when |c| c.nonpropagating, else "`routing.dsr.nonpropagating` is false",
        /// RequestPeriod: time from the first request for a destination to the next one.
        pub request_period: Span = Span::ms(500) => range(Span::ms(1), HOUR),
        /// Factor by which this time grows with each further request.
        pub request_growth: u32 = 2 => range(1, 100),
        /// MaxRequestPeriod: longest time between two requests.
        pub max_request_period: Span = Span::secs(10) => range(Span::ms(1), HOUR),
        /// MaxRequestRexmt: requests without a reply after which waiting packets are dropped.
        pub max_requests: Option<u32> = Some(16) => range(1, 1000),
        /// BroadcastJitter: requests wait up to so long.
        pub broadcast_jitter: Span = Span::ms(10) => at_most(HOUR),
        /// The reply of the destination itself waits up to so long.
        pub reply_jitter: Span = Span::ZERO => at_most(HOUR),
        /// Whether nodes on the way reply from their caches.
        pub reply_from_cache: bool = true,
        /// Packets that can wait for a route.
        pub send_buffer: u32 = 64 => range(1, 1_000_000),
        /// SendBufferTimeout: how long they wait.
        pub send_buffer_timeout: Span = Span::secs(30) => above(Span::ZERO).at_most(HOUR),
        /// Shortest time from one look at the packets that wait to the next.
        pub check_min: Span = Span::ms(30) => range(Span::ms(1), HOUR),
        /// Longest time from one look to the next; how long is drawn each time.
        pub check_max: Span = Span::ms(60) => range(Span::ms(1), HOUR),
        /// Whether there are looks while nothing waits, too (ns-2).
        pub check_always: bool = false,
        /// Time between the packets that a reply releases. Those that a look finds a route for leave at once.
        pub release_spacing: Span = Span::ZERO => at_most(HOUR),
        /// Ways in the cache that were asked for.
        pub cache_own: u32 = 30 => range(1, 1000),
        /// Ways in the cache that were seen in packets of others.
        pub cache_seen: u32 = 64 => range(1, 1000),
        /// RouteCacheTimeout: how long a way stays in the cache.
        pub cache_timeout: Option<Span> = Some(Span::secs(300)) => above(Span::ZERO).at_most(LONGEST),
        /// Whether nodes learn from frames for others that they can read, and tell of shorter ways.
        pub promiscuous: bool = true,
        /// Learns once from a packet that is heard several times on its way (ns-2).
        pub overhear_once: bool = false
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// GratReplyHoldoff: shortest time between two replies that tell of the same shorter way.
        pub grat_reply_holdoff: Span = Span::secs(1) => at_most(HOUR)
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Marks by which replies are the same in this.
        pub grat_reply_key: GratReplyKey = GratReplyKey::Sender
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Number of replies that are remembered; the oldest makes room. RFC 4728 leaves it open.
        pub grat_reply_entries: u32 = 64 => range(1, 10_000)
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// Writes the time of a reply into the next entry (ns-2): the second reply is not held back by the first, and an
        /// entry has the time of the reply before.
        pub bug_grat_reply_late: bool = false
            ; used when |c| c.promiscuous, else "`routing.dsr.promiscuous` is false",
        /// How often a packet may be sent another way by nodes whose next hop is lost (MAX_SALVAGE_COUNT).
        pub max_salvage: u8 = 15,
        /// Lets a packet to be salvaged wait where no other way is known, as in ns-2: the neighbours are asked, and of
        /// the packets for that destination one is dropped whenever the next request would be due. That does not count as
        /// salvaging.
        pub salvage_waits: bool = false
            ; used when |c| c.max_salvage > 0, else "`routing.dsr.max_salvage` is 0",
        /// Salvages a route error whose next hop is lost like other packets, instead of dropping it (RFC 4728, 8.3.6, makes
        /// no exception).
        pub salvage_errors: bool = true
            ; used when |c| c.max_salvage > 0, else "`routing.dsr.max_salvage` is 0",
        /// MAX_ROUTE_ERRORS: how many route errors a packet carries at most. One whose next hop is lost goes with the new
        /// one that tells of this, and is sent on by who gets that; one with so many is dropped, and nobody is told. RFC 4728,
        /// 8.3.4, lets nodes do so up to MAX_SALVAGE_COUNT.
        pub max_errors: u8 = 15 => range(1, 15),
        /// Takes an overheard route error for this node as received (ns-2), so that errors that it carries for others are
        /// sent on twice.
        pub bug_overheard_errors: bool = false
            ; used when |c| c.promiscuous && c.max_errors > 1, else "nothing is overheard, or errors carry no others",
        /// How long a route error is attached to own requests.
        pub error_hold: Span = Span::secs(1) => at_most(HOUR),
        /// Ends that with the first request that is passed on (RFC 4728, 3.4.4: the next request).
        pub error_told_once: bool = true,
        /// Lets nodes that a request passes learn the way back to its source; its target does so always. RFC 4728, 3.3.1,
        /// allows it, ns-2 does not do it.
        pub learn_from_requests: bool = true,
        /// Lets the destination of a packet learn the way that it has come, as the nodes on the way do. RFC 4728, 3.3.1,
        /// allows it, ns-2 does not do it.
        pub learn_at_destination: bool = true,
        /// Whether nodes on the way remember routes, so that most packets need not carry them.
        pub flow_state: bool = false,
        /// DefaultFlowTimeout: how long they remember a flow without packets.
        pub flow_timeout: Span = Span::secs(60) => above(Span::ZERO).at_most(HOUR)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Packets with which a flow begins and that carry its route all the same.
        pub flow_packets: u32 = 3 => range(1, 1_000_000)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Salvages a packet whose flow a node does not know, as where the next hop is lost (ns-2), instead of dropping it.
        /// Its source is told in either case; RFC 4728 leaves it open what becomes of the packet.
        pub salvage_unknown_flow: bool = false
            ; used when |c| c.flow_state && c.max_salvage > 0, else "flows are off, or nothing is salvaged",
        /// Ends flows of others, as a node's own, when a link of theirs breaks or is heard to be broken. RFC 4728,
        /// 8.6.3, allows it; in ns-2 they go on until their time is over.
        pub passing_flows_end: bool = true
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Lets a source that is told that its default flow is not known on the way tell the route again (RFC 4728,
        /// 8.6.3). ns-2 does so only with other flows.
        pub default_flow_restarts: bool = true
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Size of a route error that tells of an unknown flow.
        pub unknown_flow_bytes: Bytes = Bytes(18) => at_most(Bytes(100))
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// After this time one more carries it.
        pub flow_refresh: Span = Span::secs(5) => at_most(HOUR)
            ; used when |c| c.flow_state, else "`routing.dsr.flow_state` is false",
        /// Size of the IP header of messages.
        pub message_header: Bytes = Bytes(20) => at_most(Bytes(100)),
        /// Bytes that are added to each TCP segment of a node besides its route (ns-2: an IP header, which its TCP has
        /// already counted; that of datagrams is in `cbr.header` and `on_off.header`).
        pub packet_header: Bytes = Bytes(0) => at_most(Bytes(100)),
        /// Whether the header of a request is added once more wherever it is passed on (ns-2).
        pub request_grows_twice: bool = false,
    }
}
