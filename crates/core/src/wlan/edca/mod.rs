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
pub mod mac80211;
mod psdu;
mod recipient;
pub mod secondary;
mod station;

pub use category::{AccessCategory, CATEGORIES, UserPriorities};
pub use counters::QosCounters;
pub use psdu::{Mpdu, Psdu};
pub use secondary::Secondary;
pub use station::{ADDBA_BYTES, BLOCK_ACK_BYTES, BLOCK_ACK_REQUEST_BYTES, Heard, QosStation};

use crate::setting::limit::{above, at_most, range};
use crate::unit::{Bytes, Span};
use crate::{keywords, settings};

keywords! {
    /// Method of medium access.
    pub enum Access {
        /// Distributed coordination function: one queue, one frame per access, an ACK for each.
        Dcf = "dcf",
        /// Enhanced distributed channel access: four categories, with aggregates and block acknowledgement.
        Edca = "edca",
    }
}

keywords! {
    /// Queues of a station.
    pub enum Queues {
        /// A first-in, first-out queue for each access category, from which aggregates are made when they are sent
        /// (ns-3).
        Fifo = "fifo",
        /// A queue for each station and TID, with a queue for each flow in it, and airtime fairness between stations
        /// (mac80211 of Linux).
        Mac80211 = "mac80211",
    }
}

keywords! {
    /// Reaction to an A-MPDU without a block acknowledgement.
    pub enum MissedBlockAck {
        /// Sends a block acknowledgement request; MPDUs that arrived are not sent again.
        Request = "request",
        /// Sends the whole A-MPDU again, like hardware that keeps no such state.
        Repeat = "repeat",
    }
}

keywords! {
    /// Setup of agreements on block acknowledgement (IEEE 802.11-2020, 10.25.2).
    pub enum Agreement {
        /// By an ADDBA request and its response, once two packets wait for a receiver.
        Requested = "requested",
        /// None: agreements exist from the start.
        Established = "established",
    }
}

settings! {
    /// Parameters of an access category (IEEE 802.11-2020, table 9-155).
    pub struct Parameters {
        /// AIFSN: idle slots after SIFS before a backoff is counted down.
        pub aifsn: u32 = 3 => range(1, 15),
        /// Smallest contention window.
        pub cw_min: u32 = 15 => range(0, 32_767),
        /// Largest contention window.
        pub cw_max: u32 = 1023 => range(0, 32_767),
        /// TXOP limit: longest time for which a station may hold the medium; 0 s: one frame exchange.
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
        /// Rule that maps the `dscp` of a flow to the user priority, which is the TID, of its packets.
        pub user_priorities: UserPriorities = UserPriorities::Precedence,
        /// Sends a CF-End to end a TXOP that has time left.
        pub cf_end: bool = true,
        /// After a missing response, continues the TXOP after PIFS if an earlier frame of it succeeded and the medium
        /// is idle; otherwise backs off (ns-3).
        pub pifs_recovery: bool = false,
        /// Largest number of packets that a station holds in each access category, waiting or unacknowledged. Further
        /// packets wait in the interface queue.
        pub held_packets: u32 = 128 => range(1, 1024)
            ; used within |wlan: &super::Config| wlan.queues == Queues::Fifo, else "`wlan.queues` is `mac80211`",
        /// Largest airtime of the packets that a station holds in each access category, at the rates of their
        /// receivers; with many receivers, the sum of their `receiver_airtime` if that is larger. Further packets wait
        /// in the interface queue.
        pub held_airtime: Option<Span> | "unlimited" = None => above(Span::ZERO).at_most(Span::secs(1))
            ; used within |wlan: &super::Config| wlan.queues == Queues::Fifo, else "`wlan.queues` is `mac80211`",
        /// Airtime of held packets per receiver: the limit is the sum over all receivers if it exceeds `held_airtime`.
        pub receiver_airtime: Span = Span::ms(5) => at_most(Span::secs(1))
            ; used when |c| c.held_airtime.is_some(), else "`held_airtime` is unlimited"
            ; used within |wlan: &super::Config| wlan.queues == Queues::Fifo, else "`wlan.queues` is `mac80211`",
    }
}

settings! {
    /// Aggregation of packets in A-MPDUs and A-MSDUs.
    pub struct Aggregation {
        /// Largest number of MPDUs in an A-MPDU; 1: no A-MPDUs, one ACK per frame.
        pub max_mpdus: u32 = 64 => range(1, 64),
        /// Largest size of an A-MPDU: 65,535 B with HT, up to 1,048,575 B with VHT.
        pub max_size: Bytes = Bytes(65_535) => range(Bytes(1), Bytes(1_048_575))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Longest time on air of a PPDU with several MPDUs (aPPDUMaxTime).
        pub max_airtime: Span = Span::us(5484) => above(Span::ZERO).at_most(Span::ms(10))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Shortest time between the starts of two MPDUs in an A-MPDU.
        pub min_spacing: Span = Span::ZERO => at_most(Span::us(16))
            ; used when |c| c.max_mpdus > 1, else "`wlan.aggregation.max_mpdus` is 1",
        /// Largest size of an A-MSDU with its subframe headers; 0 B: no A-MSDUs.
        pub amsdu_size: Bytes = Bytes(0) => at_most(Bytes(11_398)),
    }
}

settings! {
    /// Block acknowledgement.
    pub struct BlockAck {
        /// Setup of agreements on block acknowledgement (IEEE 802.11-2020, 10.25.2).
        pub agreement: Agreement = Agreement::Requested,
        /// Time for which an originator waits for an ADDBA response and holds its packets. Without a response it then
        /// sends without an agreement for the same time, and asks again.
        pub response_timeout: Span = Span::secs(1) => above(Span::ZERO).at_most(Span::secs(100))
            ; used when |c| c.agreement == Agreement::Requested, else "`agreement` is `established`",
        /// Window of an agreement: size of the reordering buffer of the recipient \[MPDUs\].
        pub buffer_mpdus: u32 = 64 => range(1, 64),
        /// Reaction to an A-MPDU without a block acknowledgement.
        pub after_missed: MissedBlockAck = MissedBlockAck::Request,
        /// Largest number of attempts to send an MPDU under an agreement.
        pub mpdu_attempts: Option<u32> | "unlimited" = Some(10) => range(1, 255),
        /// Largest number of attempts to send a block acknowledgement request. After the last one the transmitted MPDUs
        /// are given up; data continue, and the first response to them is followed by the next request.
        pub request_attempts: Option<u32> | "unlimited" = Some(7) => range(1, 255),
        /// Time after the first attempt at which an MPDU is given up (dot11MaxTransmitMSDULifetime).
        pub lifetime: Option<Span> | "unlimited" = Some(Span(524_288_000)) => at_most(Span::secs(100)),
        /// Time for which the reordering buffer waits for a missing MPDU; "never": until the originator moves on.
        pub release_after: Option<Span> | "never" = Some(Span::ms(100)) => above(Span::ZERO).at_most(Span::secs(100)),
    }
}
