//! EDCA, aggregation and block acknowledgement (IEEE 802.11-2020, 10.12, 10.23.2 and 10.25): the MAC of 802.11n and
//! 802.11ac.
//!
//! A [`QosStation`] takes the place of a [`Station`](super::Station) where `wlan.access` is `edca`. Both are pure state
//! machines with the same inputs and outputs, and share the [NAV](super::nav), the [times](super::timing), frames,
//! modes and rate control. A QoS station holds many packets: those that wait in its four access categories, and those
//! that it has sent and that no block acknowledgement has listed.

mod category;
mod counters;
mod held;
mod psdu;
mod recipient;
pub mod secondary;
mod station;

pub use category::{AccessCategory, CATEGORIES};
pub use counters::QosCounters;
pub use psdu::{Mpdu, Psdu};
pub use secondary::Secondary;
pub use station::{ADDBA_BYTES, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES, Heard, QosStation};

use crate::setting::limit::{above, at_most, range};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Access to the medium.
    pub enum Access {
        /// Distributed coordination function: one queue, one frame per access, an ACK for each.
        Dcf = "dcf",
        /// Enhanced distributed channel access: four categories, with aggregates and block acknowledgement.
        Edca = "edca",
    }
}

keywords! {
    /// Reaction to an A-MPDU to which no block acknowledgement came.
    pub enum MissedBlockAck {
        /// A block acknowledgement request: what arrived is not sent again.
        Request = "request",
        /// The A-MPDU, once more, as from hardware that keeps no such state.
        Repeat = "repeat",
    }
}

keywords! {
    /// Origin of an agreement of block acknowledgement (10.25.2).
    pub enum Agreement {
        /// An ADDBA request and its response are sent as frames, once two packets wait for a receiver.
        Requested = "requested",
        /// It exists from the start.
        Established = "established",
    }
}

settings! {
    /// Parameters of an access category (IEEE 802.11-2020, table 9-155).
    pub struct Parameters {
        /// AIFSN: slots of idle medium, after SIFS, before a backoff counts.
        pub aifsn: u32 = 3 => range(1, 15),
        /// Smallest contention window.
        pub cw_min: u32 = 15 => range(0, 32_767),
        /// Largest contention window.
        pub cw_max: u32 = 1023 => range(0, 32_767),
        /// Time for which a station may hold the medium; zero: one frame exchange.
        pub txop_limit: Span = Span::ZERO => at_most(Span::ms(8)),
    }
}

settings! {
    /// Enhanced distributed channel access.
    pub struct Config {
        /// Category AC_BE: best effort.
        pub best_effort: Parameters = Parameters::default(),
        /// Category AC_BK: background.
        pub background: Parameters = Parameters { aifsn: 7, ..Parameters::default() },
        /// Category AC_VI: video.
        pub video: Parameters =
            Parameters { aifsn: 2, cw_min: 7, cw_max: 15, txop_limit: Span::us(4096) },
        /// Category AC_VO: voice.
        pub voice: Parameters = Parameters { aifsn: 2, cw_min: 3, cw_max: 7, txop_limit: Span::us(2080) },
        /// Ends a TXOP that has time left with a CF-End.
        pub cf_end: bool = true,
        /// After a missing response, continues the TXOP after PIFS if an earlier frame of it succeeded and the medium
        /// is idle; otherwise backs off (ns-3).
        pub pifs_recovery: bool = false,
        /// Packets that a station holds per category, waiting or unacknowledged. Further packets wait in the interface
        /// queue.
        pub held_packets: u32 = 128 => range(1, 1024),
        /// Time on air of the packets that a station holds in each category, at the rates of their receivers; a station
        /// that has more receivers than `receiver_airtime` allows for in this time holds so much for each of them.
        /// Further packets wait in the interface queue.
        pub held_airtime: Option<Span> | "unlimited" = None => above(Span::ZERO).at_most(Span::secs(1)),
        /// Time on air of the packets that a station may hold for each receiver, also beyond `held_airtime`.
        pub receiver_airtime: Span = Span::ms(5) => at_most(Span::secs(1))
            ; used when |c| c.held_airtime.is_some(), else "`held_airtime` is unlimited",
    }
}

settings! {
    /// Aggregation.
    pub struct Aggregation {
        /// Largest number of MPDUs in an A-MPDU; 1: no A-MPDU, and an ACK for each frame.
        pub max_mpdus: u32 = 64 => range(1, 64),
        /// Largest A-MPDU: 65,535 B with HT, up to 1,048,575 B with VHT.
        pub max_size: Bytes = Bytes(65_535) => range(Bytes(1), Bytes(1_048_575))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Longest time on air of a PPDU with several MPDUs (aPPDUMaxTime).
        pub max_airtime: Span = Span::us(5484) => above(Span::ZERO).at_most(Span::ms(10))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Least time between the starts of two MPDUs in an A-MPDU.
        pub min_spacing: Span = Span::ZERO => at_most(Span::us(16))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Largest A-MSDU, with its subframe headers; 0: none.
        pub amsdu_size: Bytes = Bytes(0) => at_most(Bytes(11_398)),
    }
}

settings! {
    /// Block acknowledgement.
    pub struct BlockAck {
        /// Origin of agreements.
        pub agreement: Agreement = Agreement::Requested,
        /// Time for which an originator holds its packets while it waits for the response to an ADDBA request, and then
        /// does without an agreement before it asks again.
        pub response_timeout: Span = Span::secs(1) => above(Span::ZERO).at_most(Span::secs(100))
            ; used when |c| c.agreement == Agreement::Requested, else "`agreement` is `established`",
        /// Window of an agreement: MPDUs for which a recipient has room in its reordering buffer.
        pub buffer_mpdus: u32 = 64 => range(1, 64),
        /// Reaction to an A-MPDU without a block acknowledgement.
        pub after_missed: MissedBlockAck = MissedBlockAck::Request,
        /// Attempts at an MPDU under an agreement.
        pub mpdu_attempts: Option<u32> | "unlimited" = Some(10) => range(1, 255),
        /// Attempts at a block acknowledgement request, after which the transmitted MPDUs are given up; data continue,
        /// and the next request follows the first response to them.
        pub request_attempts: Option<u32> | "unlimited" = Some(7) => range(1, 255),
        /// Time after its first attempt at which an MPDU is given up (dot11MaxTransmitMSDULifetime).
        pub lifetime: Option<Span> | "unlimited" = Some(Span(524_288_000)) => at_most(Span::secs(100)),
        /// Time for which the reordering buffer waits for a missing MPDU; "never": until the originator moves on.
        pub release_after: Option<Span> | "never" = Some(Span::ms(100)) => above(Span::ZERO).at_most(Span::secs(100)),
    }
}
