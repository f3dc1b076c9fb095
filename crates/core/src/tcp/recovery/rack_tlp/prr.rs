//! Proportional rate reduction (RFC 9937): the window while losses are repaired.

/// State of a reduction. Variables have the names of RFC 9937.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// RecoverFS, with the window in place of the amount in flight.
    prior_cwnd: u32,
    /// Segments delivered since the reduction began.
    prr_delivered: u32,
    /// Segments sent since the reduction began.
    prr_out: u32,
}

impl Prr {
    /// Begins a reduction from this window.
    pub fn begin(cwnd: u32) -> Prr {
        Prr { prior_cwnd: cwnd, ..Prr::default() }
    }

    /// Counts a segment that was sent.
    pub fn count_sent(&mut self) {
        self.prr_out += 1;
    }

    /// The window after an acknowledgement of `delivered` segments; `safe`: it made progress and reported no loss.
    /// `None`: the window stays.
    pub fn cwnd(&mut self, delivered: u32, safe: bool, in_flight: u32, ssthresh: u32) -> Option<u32> {
        if delivered == 0 || self.prior_cwnd == 0 {
            return None;
        }
        self.prr_delivered += delivered;
        let sent = i64::from(self.prr_out);
        let sndcnt = if in_flight > ssthresh {
            let share = u64::from(ssthresh) * u64::from(self.prr_delivered);
            share.div_ceil(u64::from(self.prior_cwnd)) as i64 - sent
        } else {
            let limit = (i64::from(self.prr_delivered) - sent).max(i64::from(delivered)) + i64::from(safe);
            limit.min(i64::from(ssthresh - in_flight))
        };
        // "Force a fast retransmit upon entering recovery".
        let least = i64::from(self.prr_out == 0);
        Some((i64::from(in_flight) + sndcnt.max(least)).max(1) as u32)
    }
}
