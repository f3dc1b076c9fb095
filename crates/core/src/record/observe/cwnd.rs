//! Windows and timers of TCP senders, at each change.

use super::columns::{table, word_cell, words};
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::tcp::{Phase, Sender};
use crate::unit::{Span, Time};

word_cell!(Phase, &["slow_start", "congestion_avoidance", "recovery", "application_limited"]);

words! {
    /// Cause of a change of a window or a timer.
    pub enum Event {
        /// The application has provided its first segments.
        Start = "start",
        /// An acknowledgement has arrived, or there was a cause not listed here.
        Ack = "ack",
        /// Duplicate acknowledgements started a loss recovery.
        FastRetransmit = "fast_retransmit",
        /// The retransmission timer expired with data outstanding.
        Timeout = "timeout",
        /// An ECN echo reduced the window.
        Ecn = "ecn",
    }
}

table! {
    /// State of a sender after a change.
    pub struct Row in Kept {
        /// Time \[s\].
        time_s: Time,
        /// Number of the flow.
        flow: u32,
        /// Node of the sender: the source, or the node that splits the connection.
        node: NodeId,
        /// Cause of the change: `start`, `ack`, `fast_retransmit`, `timeout`, `ecn`.
        event: Event,
        /// Congestion window, cwnd \[segments\].
        cwnd_segments: f64,
        /// Slow-start threshold, ssthresh \[segments\].
        ssthresh_segments: f64,
        /// Segments sent and not acknowledged: SND.MAX - SND.UNA.
        outstanding_segments: u32,
        /// Smoothed round-trip time of the retransmission timer \[s\]; null before the first measurement.
        srtt_s: Option<Span>,
        /// Retransmission timeout, backed off \[s\].
        rto_s: Span,
        /// Phase: `slow_start`, `congestion_avoidance`, `recovery` or `application_limited`, as in `flows`.
        phase: Phase,
    }
}

/// State that is compared between calls.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    window: (f64, f64),
    timer: (Option<Span>, Span),
    phase: Phase,
    timeouts: u64,
    fast_retransmits: u64,
    ecn_cuts: u64,
}

impl State {
    fn of(sender: &Sender) -> State {
        let (view, counters) = (sender.view(), sender.connection().counters());
        State {
            window: (view.cwnd, view.ssthresh),
            timer: (view.srtt, view.rto),
            phase: view.phase,
            timeouts: counters.timeouts,
            fast_retransmits: counters.fast_retransmits,
            ecn_cuts: counters.ecn_cuts,
        }
    }
}

/// Writes a row whenever the window, its threshold, the timer or the phase of a sender has changed.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    /// Last state of each sender, by flow and node.
    known: Vec<(u32, NodeId, State)>,
    pub(super) rows: Kept,
}

impl Windows {
    pub(super) fn on(&mut self, at: Time, note: &Note<'_>) {
        let Note::Sender { flow, node, sender } = *note else { return };
        let state = State::of(sender);
        let event = match self.known.binary_search_by_key(&(flow, node), |k| (k.0, k.1)) {
            Err(place) => {
                self.known.insert(place, (flow, node, state));
                Event::Start
            }
            Ok(place) => {
                let before = std::mem::replace(&mut self.known[place].2, state);
                if before == state {
                    return;
                }
                if state.timeouts > before.timeouts {
                    Event::Timeout
                } else if state.fast_retransmits > before.fast_retransmits {
                    Event::FastRetransmit
                } else if state.ecn_cuts > before.ecn_cuts {
                    Event::Ecn
                } else {
                    Event::Ack
                }
            }
        };
        self.rows.push(Row {
            time_s: at,
            flow,
            node,
            event,
            cwnd_segments: state.window.0,
            ssthresh_segments: state.window.1,
            outstanding_segments: sender.connection().outstanding(),
            srtt_s: state.timer.0,
            rto_s: state.timer.1,
            phase: state.phase,
        });
    }
}
