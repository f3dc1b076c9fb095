//! State of the sender of Linux for observers: loss recovery, pacing, BBR.

use crate::unit::Span;

/// State of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryState {
    /// Nothing is missing.
    Open,
    /// Segments are missing, none is deemed lost yet.
    Disorder,
    /// The window is being reduced without a loss.
    Cwr,
    /// Segments that were overdue are deemed lost and sent again.
    ByTime,
    /// Segments are deemed lost and sent again after reports of DupThresh later segments.
    ByCount,
    /// The timer has expired, and may have been wrong.
    LossInDoubt,
    /// The timer has expired.
    Loss,
}

/// State of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrState {
    /// The rate doubles each round trip.
    Startup,
    /// The queue of startup drains.
    Drain,
    /// The rate is probed in cycles of eight phases (version 1).
    ProbeBw,
    /// The window is small, so that the smallest round-trip time shows.
    ProbeRtt,
    /// ProbeBW_DOWN of version 3: the queue of a probe drains.
    ProbeBwDown,
    /// ProbeBW_CRUISE of version 3: the rate is that of the path.
    ProbeBwCruise,
    /// ProbeBW_REFILL of version 3: the pipe is filled before a probe.
    ProbeBwRefill,
    /// ProbeBW_UP of version 3: a larger rate is probed.
    ProbeBwUp,
}

/// State of BBR, its gain, and the rate that follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrView {
    /// State of BBR.
    pub state: BbrState,
    /// pacing_gain: in `ProbeBw`, that of the phase.
    pub pacing_gain: f64,
    /// Pacing rate of the payload \[bit/s\]; `None` before the first round-trip time.
    pub pacing_rate: Option<u64>,
}

/// State of a sender of Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RackView {
    /// State of loss recovery.
    pub state: RecoveryState,
    /// RACK.reo_wnd when losses were last sought; `None` before.
    pub reordering_window: Option<Span>,
    /// Threshold for duplicates, raised with the reordering that was seen \[segments\].
    pub reordering: u32,
    /// Segments deemed lost and not delivered since.
    pub lost: u32,
    /// Segments reported in SACK blocks.
    pub sacked: u32,
    /// Reductions of the window that proved wrong and were undone.
    pub undone: u64,
    /// BBR, if it is the congestion control.
    pub bbr: Option<BbrView>,
}
