//! A receiver without SACK: duplicate acknowledgements show how many segments have arrived above the first missing one,
//! but not which. Three of them mean that the first segment is lost, and a partial acknowledgement that the next one is
//! (RFC 6582). The sender stays in recovery until something above the recovery point is acknowledged, so that late
//! duplicates begin no second recovery.

use super::RackTlp;
use super::state::{Facts, State};

impl RackTlp {
    /// Counts the segments that an acknowledgement shows: one of the `acked` segments fills the hole, duplicates have
    /// counted the others before.
    pub(super) fn infer(&mut self, acked: u32, duplicate: bool, facts: &mut Facts) {
        let repeats = self.state == State::Loss && self.queue.nxt() <= self.high;
        if acked > 0 {
            let known = if repeats { 0 } else { self.queue.inferred().min(acked - 1) };
            facts.delivered -= known;
            self.rate.delivered -= u64::from(known);
            self.queue.forget_inferred(if repeats { u32::MAX } else { acked - 1 });
        } else if duplicate && !repeats && self.queue.infer() {
            facts.delivered += 1;
            self.rate.delivered += 1;
        }
    }

    /// Marks the first segment as lost after three duplicates, or in recovery after a partial acknowledgement.
    pub(super) fn mark_first_lost(&mut self, facts: &Facts) {
        let begins =
            !matches!(self.state, State::Recovery | State::Loss) && self.queue.inferred() >= self.dup_threshold;
        let goes_on = self.state == State::Recovery && facts.advances;
        let una = self.queue.una();
        if (begins || goes_on) && self.queue.get(una).is_some_and(|s| !s.lost) {
            self.lost += u64::from(self.queue.mark_lost(una));
        }
    }
}
