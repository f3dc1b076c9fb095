//! State of all stations at an instant, which a driver of a run reads while the run halts.

use super::columns::{table, words};
use crate::packet::NodeId;
use crate::unit::Time;
use crate::wlan::edca::AccessCategory;

words! {
    /// State of a radio.
    pub enum State {
        /// The radio is switched off.
        Off = "off",
        /// The radio transmits.
        Transmitting = "transmitting",
        /// The radio receives a frame that it can decode so far.
        Decoding = "decoding",
        /// The radio senses a signal that it cannot decode.
        Sensing = "sensing",
        /// Frames overlap at the radio, and none of them can be decoded.
        Colliding = "colliding",
        /// The radio senses nothing.
        Idle = "idle",
    }
}

table! {
    /// State of a radio and its station.
    pub struct Row in Kept {
        /// Instant of the state \[s\].
        time_s: Time,
        /// Node of the radio.
        node: NodeId,
        /// Channel of the radio.
        channel: u32,
        /// Position of the node: x \[m\].
        x_m: f64,
        /// Position of the node: y \[m\].
        y_m: f64,
        /// State of the radio.
        state: State,
        /// Sender of the frame that the radio is locked on; null: none.
        src: Option<NodeId>,
        /// Time until the NAV expires, if nothing else is received \[s\]; 0: the NAV is idle.
        nav_time_s: f64,
        /// Slots left of the pending backoff; null: none is pending.
        backoff_slots: Option<u32>,
        /// The backoff counts; false: it is frozen, or there is none.
        counting: bool,
        /// Contention window, CW.
        cw: u32,
        /// The station holds a packet.
        holding: bool,
        /// Failed attempts at short frames for this packet: RTS, and data not longer than the RTS threshold.
        short_retries: u32,
        /// Failed attempts at long frames for this packet.
        long_retries: u32,
        /// Packets that wait in the queue of the radio, or in the queues of mac80211.
        packets: u32,
        /// Neighbor with the smallest airtime deficit; null: no airtime fairness of mac80211, or no packet yet.
        airtime_neighbor: Option<NodeId>,
        /// Access category of this deficit.
        airtime_category: Option<AccessCategory>,
        /// Airtime left to this neighbor before others take their turns, what is in the driver not taken off \[us\].
        airtime_deficit_us: Option<f64>,
        /// Energy left in the battery \[J\]; null: the battery is unlimited.
        remaining_j: f64,
    }
}
