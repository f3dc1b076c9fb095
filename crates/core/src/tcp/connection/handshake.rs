//! Repeats of the SYN (`tcp.handshake`).

use super::Connection;
use crate::tcp::config::handshake::LostSyn;
use crate::unit::Time;

impl Connection {
    /// Returns true if the source waits for the answer to its SYN, and a lost SYN does not lower ssthresh.
    pub(super) fn forgives_lost_syn(&self) -> bool {
        self.awaits_syn() && self.cfg.handshake.lost_syn == LostSyn::Linux
    }

    /// The timer has expired before the first acknowledgement: a lost SYN leaves a window of one segment (RFC 5681,
    /// 3.1), with Linux's rule a SYN that is sent a third time.
    pub(super) fn note_lost_first(&mut self) {
        if !self.forgives_lost_syn() || self.counters.timeouts > 1 {
            self.initial_window = 1.0;
        }
    }

    /// Returns true if the timeout of the SYN, which has just expired, is not doubled.
    pub(super) fn repeats_syn_linearly(&self) -> bool {
        self.awaits_syn() && self.counters.timeouts <= u64::from(self.cfg.handshake.linear_repeats)
    }

    /// A SYN that was sent again is answered; the answer echoes this time.
    #[cold]
    pub(super) fn begin_after_lost_syn(&mut self, echo: Time) {
        let linux = self.cfg.handshake.lost_syn == LostSyn::Linux;
        if linux && self.cfg.timestamps && echo == self.first_syn_sent {
            // The first SYN had arrived, so that its repeats were needless (RFC 3522).
            self.initial_window = f64::from(self.cfg.initial_window.segments(self.cfg.mss));
        }
        self.rto.begin_data(linux);
    }
}
