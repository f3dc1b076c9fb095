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
        /// Time to live of data packets: the largest number of hops (RFC 791). RFC 1700 recommends 64.
        pub ttl: u8 = 64 => at_least(1),
        /// Processing time of a packet on its way down to the queue and on its way up from the MAC (`delay_` of the LL
        /// of ns-2).
        pub processing_delay: Span = Span::ZERO => at_most(HOUR),
        /// Largest packet. A packet with its LLC header is an MSDU, of at most 2304 B.
        pub mtu: Bytes = Bytes(1500) => at_most(MSDU),
        /// Settings of Link RED.
        pub link_red: link_red::Config = link_red::Config::default(),
        /// Settings of Neighborhood RED.
        pub neighborhood_red: neighborhood_red::Config = neighborhood_red::Config::default(),
    }
}
