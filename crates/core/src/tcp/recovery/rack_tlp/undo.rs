//! Reductions that prove wrong: the segments that seemed lost had only been delayed, as timestamps (Eifel, RFC 3522) or
//! DSACKs (RFC 3708) show.

use crate::packet::Seq;
use crate::unit::Time;

/// State before the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// Segments carry timestamps.
    stamped: bool,
    /// SND.UNA when the recovery began; `None`: there is nothing to undo.
    marker: Option<Seq>,
    cwnd: u32,
    ssthresh: u32,
    /// Retransmissions not yet reported as duplicates; `None`: there was none.
    unreported: Option<u32>,
    /// Time of the first retransmission.
    first_resent: Option<Time>,
    /// Reductions undone since the beginning.
    undone: u64,
}

impl Undo {
    /// The state without a reduction so far; `stamped`: segments carry timestamps.
    pub fn new(stamped: bool) -> Undo {
        Undo { stamped, ..Undo::default() }
    }

    /// A recovery begins, with this many retransmissions outstanding.
    pub fn arm(&mut self, una: Seq, resent: u32) {
        self.marker = Some(una);
        self.unreported = (resent > 0).then_some(resent);
        self.ssthresh = 0;
    }

    /// A reduction begins that cannot prove wrong.
    pub fn disarm(&mut self) {
        self.marker = None;
    }

    /// Returns true if there is a recovery that can be undone.
    pub fn is_armed(&self) -> bool {
        self.marker.is_some()
    }

    /// Keeps the window.
    pub fn keep_cwnd(&mut self, cwnd: u32) {
        self.cwnd = cwnd;
    }

    /// Keeps ssthresh.
    pub fn keep_ssthresh(&mut self, ssthresh: u32) {
        self.ssthresh = ssthresh;
    }

    /// Counts a retransmission.
    pub fn count_resent(&mut self, now: Time) {
        self.first_resent.get_or_insert(now);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// A DSACK reports these segments.
    pub fn take_dsack(&mut self, left: Seq, right: Seq) {
        if self.marker.is_some_and(|marker| right > marker)
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(right - left);
        }
    }

    /// Returns true if an acknowledgement echoes the timestamp of a segment sent before the first retransmission.
    pub fn is_delayed(&self, echo: Time) -> bool {
        self.stamped && self.first_resent.is_some_and(|at| echo.0 / 1_000_000 < at.0 / 1_000_000)
    }

    /// Returns true if DSACKs have reported all retransmissions.
    pub fn by_dsack(&self) -> bool {
        self.is_armed() && self.unreported == Some(0)
    }

    /// Returns true if the reduction proves wrong.
    pub fn may_undo(&self, echo: Time) -> bool {
        self.is_armed() && (self.by_dsack() || self.is_delayed(echo))
    }

    /// No retransmission is outstanding.
    pub fn end_episode(&mut self) {
        self.first_resent = None;
    }

    /// Reductions undone since the beginning.
    pub fn undone(&self) -> u64 {
        self.undone
    }

    /// Undoes the reduction: the window and ssthresh to return to, once.
    pub fn take(&mut self) -> Option<(u32, u32)> {
        self.undone += 1;
        self.marker.take();
        (self.ssthresh > 0).then_some((self.cwnd, self.ssthresh))
    }
}
