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

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments in the network after each acknowledgement of one segment, and sent for it, from the third one on: two were
    /// sent before (limited transmit), and `lost` of 20 are lost, of which one is sent again at first.
    fn recovery(lost: u32, safe: bool, acks: usize) -> Vec<(u32, u32)> {
        let (mut prr, mut in_flight) = (Prr::begin(20), 22 - 3 - lost);
        let mut rows = vec![];
        for k in 0..acks {
            in_flight -= u32::from(k > 0);
            let cwnd = prr.cwnd(1, safe, in_flight, 10).expect("a window");
            let sent = cwnd - in_flight;
            (0..sent).for_each(|_| prr.count_sent());
            rows.push((in_flight, sent));
            in_flight += sent;
        }
        rows
    }

    /// The first example of RFC 6937, 3.1 (RFC 9937 has the same formulas): segment 0 of 20 is lost. One segment for every
    /// second acknowledgement: ceil(prr_delivered 10 / 20) - prr_out. In the chart of the RFC the last two differ, with a
    /// pipe that is larger by one from the fifth acknowledgement on; this table follows its formulas.
    #[test]
    fn a_single_loss_halves_the_window_over_a_round_trip() {
        let rows = recovery(1, false, 17);
        let sent: Vec<u32> = rows.iter().map(|r| r.1).collect();
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]);
        let pipe: Vec<u32> = rows.iter().map(|r| r.0).collect();
        assert_eq!(pipe, [18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10]);
    }

    /// The second example: 15 of 20 segments are lost. PRR-CRB sends one segment for each one delivered and keeps the pipe
    /// at 4; PRR-SSRB, after progress without a further loss (RFC 9937, SafeACK), two.
    #[test]
    fn after_a_burst_of_losses_the_bound_decides() {
        assert_eq!(recovery(15, false, 3), [(4, 1), (4, 1), (4, 1)]);
        assert_eq!(recovery(15, true, 3), [(4, 2), (5, 2), (6, 2)]);
    }

    /// A pipe below ssthresh is filled up to it and no further.
    #[test]
    fn the_window_does_not_exceed_ssthresh() {
        let rows = recovery(9, true, 6);
        assert_eq!(rows, [(10, 1), (10, 0), (9, 1), (9, 1), (9, 1), (9, 1)]);
        let mut idle = Prr::begin(20);
        assert_eq!(idle.cwnd(0, true, 10, 10), None, "nothing was delivered");
        // Nothing has been sent for eight deliveries: all of it may be sent at once.
        assert_eq!(idle.cwnd(8, false, 2, 10), Some(10));
    }

    /// Numbers of a unit test of ns-3, in bytes.
    #[test]
    fn c57_the_share_of_what_is_delivered_is_rounded_up() {
        let mut prr = Prr::begin(200_000);
        prr.cwnd(1000, false, 200_000, 100_000);
        assert_eq!(prr.cwnd(50_000, false, 200_000, 100_000), Some(225_500));
    }

    /// Numbers of a unit test of ns-3, with 50,000 bytes in flight and sent.
    #[test]
    fn c58_below_ssthresh_what_is_delivered_is_sent() {
        let mut prr = Prr { prior_cwnd: 200_000, prr_delivered: 1000, prr_out: 50_000 };
        assert_eq!(prr.cwnd(1000, false, 50_000, 100_000), Some(51_000));
    }
}
