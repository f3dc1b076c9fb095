//! Counters that only QoS stations have.

/// Counters of a QoS station, besides those that every station has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QosCounters {
    /// A-MPDUs transmitted.
    pub aggregates_sent: u64,
    /// MPDUs transmitted in unicast data frames, retries included.
    pub mpdus_sent: u64,
    /// MPDUs whose attempt has failed: no ACK came, or no block acknowledgement lists them.
    pub mpdus_failed: u64,
    /// Block acknowledgement requests transmitted.
    pub block_ack_requests_sent: u64,
    /// Action frames transmitted: ADDBA requests and responses, and DELBA.
    pub action_frames_sent: u64,
    /// CF-End frames transmitted.
    pub cf_ends_sent: u64,
}
