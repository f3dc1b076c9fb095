//! Use of the window: a window that is not used does not grow (RFC 7661 in a simple form, as Linux has it).

use crate::packet::Seq;

/// Largest use of the window in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp::recovery::rack_tlp) struct Usage {
    limited: bool,
    most: u32,
    /// The round is over when this is acknowledged.
    end: Seq,
}

impl Usage {
    /// Takes the amount outstanding after sending; `limited`: the window did not allow more.
    pub fn take(&mut self, limited: bool, outstanding: u32, una: Seq, nxt: Seq) {
        if una >= self.end || limited || (!self.limited && outstanding > self.most) {
            *self = Usage { limited, most: outstanding, end: nxt };
        }
    }

    /// Returns true if the window did not allow more in the current round trip.
    pub fn is_limited(&self) -> bool {
        self.limited
    }

    /// Returns true if the window may grow: it was used up, or in slow start more than half of it.
    pub fn allows_growth(&self, cwnd: u32, slow_start: bool) -> bool {
        self.limited || (slow_start && cwnd < 2 * self.most)
    }
}
