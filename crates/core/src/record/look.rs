//! Looks of a driver at a run: counters of an interval and states at its end, as rows of numbers.

use super::uses::airtime::Budget;
use crate::tcp::{Counters, Sums};
use crate::unit::{Span, Time};

/// A flow at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowState {
    /// Its counters since the start of the run.
    pub counters: Counters,
    /// Its sums since the start of the run.
    pub sums: Sums,
    /// Packets that were dropped, of those created in the measured part of the run.
    pub packets_dropped: u64,
    /// Packets that wait in the queues of its source.
    pub source_queue: usize,
    /// Its sender, if it goes over TCP.
    pub sender: Option<SenderState>,
}

/// The sender of a flow at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// Congestion window \[segments\].
    pub cwnd: f64,
    /// Segments sent and not acknowledged.
    pub outstanding: u32,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Span>,
    /// Smallest round-trip time since the start of the connection, once there is one.
    pub min_rtt: Option<Span>,
}

/// A radio at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioState {
    /// Number of its node.
    pub node: u32,
    /// Packets that wait in front of it, in its queue or in those of its station.
    pub queue: usize,
    /// Its airtime since the start of the run, if that is accounted.
    pub airtime: Option<Budget>,
}

/// A run at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The instant.
    pub at: Time,
    /// The flows of the scenario.
    pub flows: Vec<FlowState>,
    /// All radios.
    pub radios: Vec<RadioState>,
}

/// Columns of the rows of flows.
pub const FLOW_COLUMNS: [&str; 14] = [
    "goodput_bps",
    "bytes_delivered",
    "packets_delivered",
    "packets_sent",
    "packets_dropped",
    "retransmissions",
    "timeouts",
    "mean_rtt_s",
    "mean_delay_s",
    "srtt_s",
    "min_rtt_s",
    "cwnd_segments",
    "outstanding_segments",
    "source_queue_packets",
];

/// Columns of the rows of radios.
pub const RADIO_COLUMNS: [&str; 4] = ["node", "queue_packets", "sending_share", "sensing_share"];

impl State {
    /// Rows of all flows since an earlier state; NaN stands for what was not measured or does not apply.
    pub fn flow_rows<'a>(&'a self, earlier: &'a State) -> impl Iterator<Item = [f64; FLOW_COLUMNS.len()]> + use<'a> {
        let seconds = self.at.since(earlier.at).as_secs();
        let none = FlowState::default();
        self.flows.iter().enumerate().map(move |(f, now)| now.row(earlier.flows.get(f).unwrap_or(&none), seconds))
    }

    /// Rows of all radios since an earlier state.
    pub fn radio_rows<'a>(&'a self, earlier: &'a State) -> impl Iterator<Item = [f64; RADIO_COLUMNS.len()]> + use<'a> {
        let seconds = self.at.since(earlier.at).as_secs();
        self.radios.iter().enumerate().map(move |(r, now)| {
            let share = |of: fn(&Budget) -> Span| {
                let before = earlier.radios.get(r).and_then(|e| e.airtime).unwrap_or_default();
                now.airtime.map_or(f64::NAN, |airtime| of(&airtime.since(&before)).as_secs() / seconds)
            };
            [f64::from(now.node), now.queue as f64, share(Budget::sending), share(Budget::sensing)]
        })
    }
}

impl FlowState {
    fn row(&self, earlier: &FlowState, seconds: f64) -> [f64; FLOW_COLUMNS.len()] {
        let (c, s) = (self.counters.since(&earlier.counters), self.sums.since(&earlier.sums));
        // Counted anew from the end of the warm-up on.
        let dropped = self.packets_dropped.checked_sub(earlier.packets_dropped).unwrap_or(self.packets_dropped);
        let sender = |of: fn(&SenderState) -> f64| self.sender.as_ref().map_or(f64::NAN, of);
        let of_tcp = |count: u64| self.sender.map_or(f64::NAN, |_| count as f64);
        let span = |span: Option<Span>| span.map_or(f64::NAN, Span::as_secs);
        [
            c.bytes_delivered as f64 * 8.0 / seconds,
            c.bytes_delivered as f64,
            c.packets_delivered as f64,
            c.packets_sent as f64,
            dropped as f64,
            of_tcp(c.retransmissions),
            of_tcp(c.timeouts),
            s.rtt_ns as f64 / s.rtt_samples as f64 / 1e9,
            s.delay_ns as f64 / s.delay_samples as f64 / 1e9,
            self.sender.map_or(f64::NAN, |sender| span(sender.srtt)),
            self.sender.map_or(f64::NAN, |sender| span(sender.min_rtt)),
            sender(|s| s.cwnd),
            sender(|s| f64::from(s.outstanding)),
            self.source_queue as f64,
        ]
    }
}
