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
    /// Reordering window that was used last, for observers.
    pub window: Span,
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
            window: Span::ZERO,
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

    /// Tells if a retransmission can not have been delivered yet, so that the original was.
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
        self.window = window;
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

    /// Tells if a segment sent at this time has not been delivered within RACK.rtt (used after a timeout; 6.3).
    pub fn is_overdue(&self, sent: Time, now: Time) -> bool {
        now.since(sent) >= self.rtt
    }
}
