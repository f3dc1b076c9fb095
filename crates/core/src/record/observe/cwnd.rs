//! Windows and timers of TCP senders, at each change.

use super::columns::{Words, table, word_cell, words};
use crate::packet::NodeId;
use crate::record::note::Note;
use crate::tcp::recovery::view::{BbrState, BbrView, RackView, RecoveryState};
use crate::tcp::{Phase, Sender};
use crate::unit::{Span, Time};

word_cell!(
    Phase,
    &[
        "slow_start",
        "congestion_avoidance",
        "recovery",
        "application_limited",
        "receiver_limited",
        "send_buffer_limited"
    ]
);
word_cell!(RecoveryState, &["open", "disorder", "cwr", "by_time", "by_count", "loss_in_doubt", "loss"]);
word_cell!(
    BbrState,
    &[
        "startup",
        "drain",
        "probe_bw",
        "probe_rtt",
        "probe_bw_down",
        "probe_bw_cruise",
        "probe_bw_refill",
        "probe_bw_up"
    ]
);

/// Words of `recovery_state` with their meanings.
pub const RECOVERY_STATES: Words = &[
    ("open", " Nothing is missing."),
    ("disorder", " Segments are missing, none is deemed lost yet."),
    ("cwr", " The window is being reduced without a retransmission: a mark, a drop in the own queue."),
    ("by_time", " Segments that were overdue (RACK) are deemed lost and sent again."),
    (
        "by_count",
        " Segments are deemed lost and sent again after reports of `tcp.dup_threshold` later segments; once reordering \
         was seen, recoveries are `by_time`.",
    ),
    ("loss_in_doubt", " The timer has expired; F-RTO waits for acknowledgements that show if it was wrong."),
    ("loss", " The timer has expired, and segments that are deemed lost are sent again."),
];

/// Words of `bbr_state` with their meanings.
pub const BBR_STATES: Words = &[
    (
        "startup",
        " The rate grows by 2.89 (`bbr3`: 2.77) each round trip, until it grows by less than a quarter in each of three; \
         with `bbr3` losses end it, too.",
    ),
    ("drain", " The queue of `startup` drains, at 0.35 of the rate (`bbr3`: 0.5)."),
    ("probe_bw", " The rate is probed in cycles of eight phases: 1.25, 0.75, and six times 1."),
    (
        "probe_rtt",
        " The window is four segments (`bbr3`: half of rate times smallest round-trip time) for 200 ms, every 10 s \
         (`bbr3`: 5 s), so that the smallest round-trip time shows.",
    ),
    ("probe_bw_down", " `bbr3`: the queue of a probe drains, at 0.9 of the rate."),
    ("probe_bw_cruise", " `bbr3`: the rate is that of the path, or what losses have left of it."),
    ("probe_bw_refill", " `bbr3`: the pipe is filled for a round trip, before the next probe."),
    ("probe_bw_up", " `bbr3`: 1.25 of the rate are tried, until losses or three round trips without growth."),
];

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
        /// A probe was sent, one of `probes_sent` of `flows`.
        Probe = "probe",
        /// A reduction of the window proved wrong and was undone: by F-RTO, timestamps (Eifel) or DSACKs.
        Undo = "undo",
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
        /// Cause of the change: `start`, `ack`, `fast_retransmit`, `timeout`, `ecn`, `probe`, `undo`.
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
        /// Phase: `slow_start`, `congestion_avoidance`, `recovery`, `application_limited`, `receiver_limited` or
        /// `send_buffer_limited`, as in `flows`.
        phase: Phase,
        /// State of loss recovery with `rack_tlp`; null: another loss recovery.
        recovery_state: Option<RecoveryState>,
        /// RACK's reordering window when losses were last sought \[s\]; null before, or without `rack_tlp`.
        reordering_window_s: Option<Span>,
        /// State of BBR: `startup`, `drain`, `probe_bw`, `probe_rtt`; version 3 has `probe_bw_down`, `probe_bw_cruise`,
        /// `probe_bw_refill` and `probe_bw_up` in place of `probe_bw`; null: another congestion control.
        bbr_state: Option<BbrState>,
        /// Gain of BBR's pacing rate: in `probe_bw`, that of the phase; null: another congestion control.
        pacing_gain: Option<f64>,
        /// Rate at which BBR paces payload \[bit/s\]; null before the first round-trip time, or with another congestion
        /// control.
        pacing_rate_bps: Option<u64>,
    }
}

/// Loss recovery of Linux: its state, the reordering window, undone reductions, BBR.
type Repair = (RecoveryState, Option<Span>, u64, Option<BbrView>);

fn repair(seen: RackView) -> Repair {
    (seen.state, seen.reordering_window, seen.undone, seen.bbr)
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
    probes: u64,
    repair: Option<Repair>,
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
            probes: counters.probes_sent,
            repair: sender.rack_view().map(repair),
        }
    }

    /// Cause of the change from a state before.
    fn cause(&self, before: &State) -> Event {
        let undone = |state: &State| state.repair.map_or(0, |r| r.2);
        if self.timeouts > before.timeouts {
            Event::Timeout
        } else if undone(self) > undone(before) {
            Event::Undo
        } else if self.fast_retransmits > before.fast_retransmits {
            Event::FastRetransmit
        } else if self.ecn_cuts > before.ecn_cuts {
            Event::Ecn
        } else if self.probes > before.probes {
            Event::Probe
        } else {
            Event::Ack
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
                state.cause(&before)
            }
        };
        let bbr = state.repair.and_then(|r| r.3);
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
            recovery_state: state.repair.map(|r| r.0),
            reordering_window_s: state.repair.and_then(|r| r.1),
            bbr_state: bbr.map(|b| b.state),
            pacing_gain: bbr.map(|b| b.pacing_gain),
            pacing_rate_bps: bbr.and_then(|b| b.pacing_rate),
        });
    }
}
