//! The network layer of a node: link-layer delay, ARP, interface queue, Link RED and Neighborhood RED, routing,
//! middleboxes.

pub mod arp;
pub mod link_red;
pub mod middlebox;
pub mod neighborhood_red;
pub mod queue;
pub mod routing;

use crate::setting::limit::{HOUR, at_least, at_most};
use crate::settings;
use crate::unit::{Bytes, Span};

/// Largest packet of a frame with its LLC header, an MSDU (IEEE 802.11-2020, 9.2.4.8).
pub const MSDU: Bytes = Bytes(2304);

settings! {
    /// Settings between network layer and MAC.
    pub struct Config {
        /// Time to live of data packets: the most hops that they may take (RFC 791); 64 is the recommendation of RFC
        /// 1700.
        pub ttl: u8 = 64 => at_least(1),
        /// Processing time of a packet on its way down to the queue, and up from the MAC (ns-2's `LL delay_`).
        pub processing_delay: Span = Span::ZERO => at_most(HOUR),
        /// Largest packet; with the LLC header it is an MSDU, which has at most 2304 B.
        pub mtu: Bytes = Bytes(1500) => at_most(MSDU),
        /// Settings of Link RED.
        pub link_red: link_red::Config = link_red::Config::default(),
        /// Settings of Neighborhood RED.
        pub neighborhood_red: neighborhood_red::Config = neighborhood_red::Config::default(),
    }
}
