//! Settings of OLSR.

use crate::setting::limit::{HOUR, at_most, range};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Metrics of OLSR.
    pub enum Metric {
        /// Number of hops (RFC 3626).
        Hops = "hops",
        /// Expected transmission count of OLSR packets, by the sequence numbers of those received, as olsrd counts them
        /// (`etx_ff`).
        Etx = "etx",
    }
}

settings! {
    /// OLSR. Names and values of the constants are those of RFC 3626, section 18.
    pub struct Config {
        /// Metric by which routes are compared.
        pub metric: Metric = Metric::Hops,
        /// HELLO_INTERVAL: longest time between two HELLOs of a node.
        pub hello_interval: Span = Span::secs(2) => range(Span::ms(100), HOUR),
        /// NEIGHB_HOLD_TIME: time for which the contents of a HELLO are valid.
        pub neighbor_hold_time: Span = Span::secs(6) => range(Span::ms(100), HOUR),
        /// TC_INTERVAL: longest time between two TCs of a node.
        pub tc_interval: Span = Span::secs(5) => range(Span::ms(100), HOUR),
        /// TOP_HOLD_TIME: time for which the contents of a TC are valid.
        pub topology_hold_time: Span = Span::secs(15) => range(Span::ms(100), HOUR),
        /// DUP_HOLD_TIME: time for which a node remembers that it has seen a message.
        pub duplicate_hold_time: Span = Span::secs(30) => range(Span::ms(100), HOUR),
        /// MAXJITTER: largest random time by which a message is early, or is delayed when it is forwarded.
        pub max_jitter: Span = Span::ms(500) => at_most(HOUR),
        /// Willingness of all nodes to relay for others, from 0, never (WILL_NEVER), to 7, always (WILL_ALWAYS), with
        /// which every node forwards every TC.
        pub willingness: u8 = 3 => range(0, 7),
        /// MPR_COVERAGE: number of multipoint relays that cover each node two hops away.
        pub mpr_coverage: u32 = 1 => range(1, 100),
        /// TC_REDUNDANCY: a TC announces the nodes that chose its originator as a relay (0), also the relays of the
        /// originator (1), or all its neighbors (2).
        pub tc_redundancy: u8 = 0 => range(0, 2),
        /// Sends TCs of a node 2, 8, 2, 16, 2, 8, 2 and 255 hops far in turn, as olsrd does.
        pub fisheye: bool = false,
        /// Also declares a neighbor lost when the MAC gives up a packet to it (RFC 3626, section 13).
        pub link_layer_detection: bool = false,
        /// Largest packet with IP header; further messages go into the next one.
        pub max_packet_size: Bytes = Bytes(1500) => range(Bytes(100), Bytes(65_535)),
        /// Link hysteresis.
        pub hysteresis: Hysteresis = Hysteresis::default(),
    }
}

settings! {
    /// Link hysteresis (RFC 3626, section 14).
    pub struct Hysteresis {
        /// Uses a link only while the exponentially weighted share of its packets that arrive is large enough.
        pub enabled: bool = false,
        /// HYST_SCALING: weight of the last packet.
        pub scaling: f64 = 0.5 => range(0.0, 1.0)
            ; used when |c| c.enabled, else "`routing.olsr.hysteresis.enabled` is false",
        /// HYST_THRESHOLD_HIGH: share above which a link is used.
        pub threshold_high: f64 = 0.8 => range(0.0, 1.0)
            ; used when |c| c.enabled, else "`routing.olsr.hysteresis.enabled` is false",
        /// HYST_THRESHOLD_LOW: share below which a link is no longer used.
        pub threshold_low: f64 = 0.3 => range(0.0, 1.0)
            ; used when |c| c.enabled, else "`routing.olsr.hysteresis.enabled` is false",
    }
}

impl Config {
    /// Routes are compared by ETX, and messages carry link qualities.
    pub(super) fn has_quality(&self) -> bool {
        self.metric == Metric::Etx
    }
}
