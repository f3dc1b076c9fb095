//! RACK (RFC 8985, section 6): a segment is lost if one sent later was delivered, and enough time has passed.

use super::queue::Queue;
use crate::packet::Seq;
use crate::unit::{Span, Time};

/// Recoveries for which a reordering window that was raised is kept (RFC 8985, 6.2 step 4).
const PERSIST: u32 = 16;

/// State of RACK. Variables have the names of RFC 8985, section 5.3.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment that was delivered.
    newest: (Time, Seq),
    /// RACK.rtt: round-trip time of that segment.
    rtt: Span,
    /// A segment was delivered since losses were last sought.
    pub advanced: bool,
    /// RACK.min_RTT.
    pub min_rtt: Option<Span>,
    /// RACK.reordering_seen.
    pub reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiplier: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// A DSACK has arrived since the window was last adapted.
    pub dsack: bool,
    /// Deliveries at the last adaptation: one per round trip.
    round: u64,
    /// DupThresh, raised with the reordering that was seen \[segments\].
    pub reordering: u32,
    /// Reordering window that was used last.
    pub window: Option<Span>,
}

impl Rack {
    /// RACK without a delivery so far.
    pub fn new(dup_threshold: u32) -> Rack {
        Rack {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            advanced: false,
            min_rtt: None,
            reordering_seen: false,
            multiplier: 1,
            persist: 0,
            dsack: false,
            round: 0,
            reordering: dup_threshold,
            window: None,
        }
    }

    /// Takes the delivery of a segment (6.2, step 2).
    pub fn deliver(&mut self, seq: Seq, sent: Time, resent: bool, now: Time) {
        let rtt = now.since(sent);
        // The original transmission was delivered, not the retransmission.
        if resent && self.min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.newest = self.newest.max((sent, seq));
    }

    /// Takes a round-trip time for RACK.min_RTT.
    pub fn take_rtt(&mut self, rtt: Span) {
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    /// Returns true if a retransmission can not have been delivered yet, so that the original was.
    pub fn is_spurious(&self, sent: Time, resent: bool, now: Time) -> bool {
        resent && self.min_rtt.is_some_and(|min| now.since(sent) < min)
    }

    /// Adapts the reordering window to DSACKs, once per round trip (6.2, step 4).
    pub fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.round {
            self.dsack = false;
        }
        if self.dsack {
            self.multiplier = (self.multiplier + 1).min(255);
            self.dsack = false;
            self.round = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// Counts a recovery for which the reordering window is kept.
    pub fn count_recovery(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Reordering was seen: a segment was delivered this many segments after ones sent later (6.2, step 3).
    pub fn see_reordering(&mut self, distance: u32) {
        self.reordering = self.reordering.max(distance).min(300);
        self.reordering_seen = true;
    }

    /// RACK.reo_wnd (6.2, step 4).
    fn reordering_window(&self, sacked: u32, recovering: bool, srtt: Span) -> Span {
        if !self.reordering_seen && (recovering || sacked >= self.reordering) {
            return Span::ZERO;
        }
        let quarter = self.min_rtt.unwrap_or(Span::ZERO) / 4;
        (quarter * u64::from(self.multiplier)).min(srtt)
    }

    /// Marks lost segments (6.2, step 5). Returns the time after which more may be lost, and the number of segments
    /// marked.
    pub fn detect(&mut self, queue: &mut Queue, recovering: bool, srtt: Span, now: Time) -> (Option<Span>, u32) {
        self.advanced = false;
        let window = self.reordering_window(queue.sacked(), recovering, srtt);
        self.window = Some(window);
        let (mut place, mut wait, mut marked) = (0, None, 0);
        queue.tidy();
        while let Some((sent, seq)) = queue.transmission(&mut place) {
            if (sent, seq) >= self.newest {
                break;
            }
            let (due, age) = (self.rtt + window, now.since(sent));
            if age >= due {
                marked += u32::from(queue.mark_lost(seq));
            } else {
                wait = wait.max(Some(due - age));
            }
            place += 1;
        }
        (wait, marked)
    }

    /// Returns true if a segment sent at this time has not been delivered within RACK.rtt (used after a timeout; 6.3).
    pub fn is_overdue(&self, sent: Time, now: Time) -> bool {
        now.since(sent) >= self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::Mark;
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    /// RACK that has measured a smallest round-trip time of 100 ms.
    fn rack() -> Rack {
        let mut rack = Rack::new(3);
        rack.take_rtt(Span::ms(100));
        rack
    }

    /// Segments sent at these times [us].
    fn queue(sent: &[u64]) -> Queue {
        let mut queue = Queue::default();
        sent.iter().for_each(|us| queue.push(at(*us), Mark::default()));
        queue
    }

    /// RFC 8985, 6.2, step 4: a quarter of min_RTT; none without reordering so far, in recovery, or after DupThresh
    /// reports; each DSACK adds a quarter, up to SRTT.
    #[test]
    fn reordering_window_is_a_quarter_of_min_rtt_and_grows_with_dsacks() {
        let mut rack = rack();
        let window = |rack: &Rack, sacked, recovering| rack.reordering_window(sacked, recovering, Span::ms(120));
        assert_eq!([0, 2].map(|sacked| window(&rack, sacked, false)), [Span::ms(25); 2]);
        assert_eq!([window(&rack, 3, false), window(&rack, 0, true)], [Span::ZERO; 2]);
        rack.see_reordering(2);
        assert_eq!([window(&rack, 3, false), window(&rack, 0, true)], [Span::ms(25); 2]);
        let mut delivered = 10;
        let windows = [0; 5].map(|_| {
            rack.dsack = true;
            rack.adapt(delivered, delivered + 1);
            delivered += 10;
            window(&rack, 3, true)
        });
        assert_eq!(windows, [50, 75, 100, 120, 120].map(Span::ms));
    }

    /// RACK.dsack_round: of the DSACKs of a round trip one counts; the window is kept for 16 recoveries.
    #[test]
    fn dsacks_raise_the_window_once_per_rtt_for_sixteen_recoveries() {
        let mut rack = rack();
        for (prior, delivered, multiplier) in [(10, 20, 2), (12, 22, 2), (19, 29, 2), (20, 30, 3)] {
            rack.dsack = true;
            rack.adapt(prior, delivered);
            assert_eq!(rack.multiplier, multiplier, "{prior} {delivered}");
        }
        for k in 1..=16 {
            assert_eq!(rack.multiplier, 3, "recovery {k}");
            rack.count_recovery();
            rack.adapt(100, 101);
        }
        assert_eq!(rack.multiplier, 1);
    }

    /// RFC 8985, 6.2, step 5: four segments 1 ms apart; the last is reported 100 ms after it was sent. Those before are
    /// lost when RACK.rtt and the reordering window have passed since they were sent, the last of them after 24 ms.
    #[test]
    fn segments_are_lost_when_the_reordering_window_has_passed() {
        let (mut rack, mut queue) = (rack(), queue(&[0, 1000, 2000, 3000]));
        queue.sack(3);
        rack.deliver(3, at(3000), false, at(103_000));
        assert_eq!(rack.detect(&mut queue, false, Span::ms(100), at(103_000)), (Some(Span::ms(24)), 0));
        assert_eq!(rack.detect(&mut queue, false, Span::ms(100), at(125_000)), (Some(Span::ms(2)), 1));
        assert_eq!(rack.detect(&mut queue, false, Span::ms(100), at(127_000)), (None, 2));
        assert_eq!(queue.lost(), 3);
    }

    /// After three reports nothing waits; segments sent later than the one delivered are not lost.
    #[test]
    fn after_three_reports_all_sent_before_are_lost_at_once() {
        let (mut rack, mut queue) = (rack(), queue(&[0; 8]));
        for seq in [2, 4, 5] {
            queue.sack(seq);
            rack.deliver(seq, at(0), false, at(100_000));
        }
        assert_eq!(rack.detect(&mut queue, false, Span::ms(100), at(100_000)), (None, 3));
        let lost: Vec<Seq> = (0..8).filter(|s| queue.get(*s).is_some_and(|s| s.lost)).collect();
        assert_eq!(lost, [0, 1, 3]);
    }

    /// RFC 8985, 6.2, step 2: a retransmission acknowledged sooner than any round trip was in vain and tells nothing; a
    /// retransmission of which a later one was delivered is lost again.
    #[test]
    fn a_retransmission_is_judged_by_its_own_time() {
        let (mut rack, mut queue) = (rack(), queue(&[0, 0, 0, 0, 0]));
        for seq in [2, 3, 4] {
            queue.sack(seq);
            rack.deliver(seq, at(0), false, at(100_000));
        }
        rack.detect(&mut queue, false, Span::ms(100), at(100_000));
        queue.resend(0, at(100_000), Mark::default());
        queue.resend(1, at(101_000), Mark::default());
        rack.advanced = false;
        rack.deliver(1, at(101_000), true, at(150_000));
        assert!(!rack.advanced, "49 ms are less than a round trip");
        queue.sack(1);
        rack.deliver(1, at(101_000), true, at(201_000));
        assert_eq!(rack.detect(&mut queue, true, Span::ms(100), at(201_000)), (None, 1));
        assert_eq!(queue.next_lost(), Some(0));
    }
}
