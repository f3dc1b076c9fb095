//! Reaction of a connection to an acknowledgement.

use super::Connection;
use crate::packet::{AckSegment, Seq};
use crate::tcp::cc::interface::{Ack, AckKind};
use crate::tcp::config::DupAcks;

impl Connection {
    /// Returns true if an acknowledgement concerns outstanding data. It does not if it is older than the last one,
    /// covers segments that were never sent, or arrives before the first segment is sent.
    pub(in crate::tcp) fn is_current(&self, ack: &AckSegment) -> bool {
        ack.next >= self.una && ack.next <= self.max && self.max > 0
    }

    /// Kind of an acknowledgement. Must be determined before the connection processes anything of it but its ECE.
    pub(in crate::tcp) fn kind_of(&self, ack: &AckSegment) -> AckKind {
        let new = ack.next > self.una;
        if !self.is_current(ack) || (!new && (self.is_shut_out() || !self.is_duplicate(ack))) {
            AckKind::Other
        } else if self.awaits_syn() {
            AckKind::Handshake
        } else if new {
            AckKind::NewData
        } else {
            AckKind::Duplicate
        }
    }

    /// Returns true if an acknowledgement of nothing new is a duplicate. Acknowledgements never carry data, a SYN or a
    /// FIN.
    fn is_duplicate(&self, ack: &AckSegment) -> bool {
        match self.cfg.dup_acks {
            DupAcks::Number => true,
            DupAcks::Rfc5681 => {
                // RFC 6675, 2: an acknowledgement with SACK blocks is judged by its blocks, not by its window.
                let repeats = !ack.sack.is_empty() || ack.window.min(self.cfg.receive_window) == self.offered;
                self.una < self.max && !self.awaits_syn() && repeats
            }
        }
    }

    /// Updates the window limit from the length of the path, if used: hops of the acknowledgement and of its segment.
    pub(in crate::tcp) fn take_path(&mut self, ack: &AckSegment, hops: u8) {
        if self.cfg.hop_limit.enabled {
            self.hop_limit = Some(self.cfg.hop_limit.segments(u32::from(ack.hops) + u32::from(hops)));
        }
    }

    /// Passes an acknowledgement to the window rule. Precedes the call of the loss recovery.
    pub(in crate::tcp) fn tell_rule(&mut self, ack: &AckSegment, kind: AckKind, hops: u8, recovering: bool) {
        self.counters.tcp_acks_received += 1;
        let una = if kind == AckKind::Other { self.una } else { ack.next };
        let newly = una - self.una;
        if newly > 0 {
            self.duplicates = 0;
        }
        self.duplicates += u32::from(kind == AckKind::Duplicate);
        self.delivered = self.delivered.max((una + self.duplicates).min(self.max));
        let may_sample = matches!(kind, AckKind::NewData | AckKind::Duplicate);
        let segment_rtt = if newly > 0 && self.send_times.is_on() {
            self.send_times.round_trip(una - 1, self.now, self.first_sent)
        } else {
            None
        };
        self.last_ack = Ack {
            now: self.now,
            kind,
            una,
            nxt: self.nxt.max(una),
            newly,
            delivered: self.delivered,
            in_flight: self.flight_size().saturating_sub(newly),
            recovering,
            rtt: if may_sample { self.take_sample() } else { None },
            srtt: self.rto.srtt(),
            segment_rtt,
            round_trip: self.now.since(ack.echo),
            hops,
            first_sent: self.first_sent,
            ece: self.ecn.echoed,
            used: true,
        };
        self.cc.on_every_ack(&self.last_ack, &mut self.window);
    }

    /// Stores the window that the receiver offers.
    pub(in crate::tcp) fn take_offer(&mut self, ack: &AckSegment) {
        self.offered = ack.window.min(self.cfg.receive_window);
    }

    /// Counts a duplicate acknowledgement. Returns the number of duplicates in a row.
    pub fn count_duplicate(&mut self) -> u32 {
        self.dup_acks += 1;
        self.dup_acks
    }

    /// Sets the number of duplicate acknowledgements in a row.
    pub fn set_dup_acks(&mut self, dup_acks: u32) {
        self.dup_acks = dup_acks;
    }

    /// Processes an acknowledgement of new data outside of a recovery: the window may grow.
    pub fn take_new_data(&mut self, ack: &AckSegment) {
        let first = self.una == 0;
        self.advance(ack);
        self.grow();
        if first && self.syn {
            self.open_initial_window();
        }
    }

    /// Processes a partial acknowledgement, which covers a part of the data outstanding at the start of the recovery.
    pub fn take_partial(&mut self, ack: &AckSegment) {
        self.forget_send_times(ack.next);
        self.una = ack.next;
        self.nxt = self.nxt.max(ack.next);
    }

    /// Processes an acknowledgement that does not end the standby: only the sequence variables change.
    pub(in crate::tcp) fn take_in_standby(&mut self, ack: &AckSegment) {
        self.take_offer(ack);
        if ack.next > self.una {
            self.take_partial(ack);
        }
    }

    /// Processes a new cumulative acknowledgement: measures the round trip, restarts the timer.
    pub fn advance(&mut self, ack: &AckSegment) {
        let next = ack.next;
        self.dup_acks = 0;
        self.limited = 0;
        self.unanswered = 0;
        let syn_timed_out = self.awaits_syn() && self.counters.timeouts > 0;
        self.forget_send_times(next);
        self.una = next;
        self.nxt = self.nxt.max(next);
        if self.cfg.timestamps {
            self.timed = None;
            self.measure(ack.echo);
        } else {
            self.end_measurement();
        }
        if syn_timed_out {
            self.begin_after_lost_syn(ack.echo);
        }
        self.restart_timer_if_needed();
    }

    /// The other end has answered with an acknowledgement of new data.
    pub(in crate::tcp) fn note_answer(&mut self) {
        self.dup_acks = 0;
        self.unanswered = 0;
    }

    fn forget_send_times(&mut self, next: Seq) {
        if self.send_times.is_on() {
            self.send_times.clear(self.una, next);
        }
    }

    /// Allows one more segment, because a duplicate with a loss notification shows that a segment has left the network.
    pub fn credit_one(&mut self) {
        self.credit += 1;
    }

    /// Withdraws the segments allowed by loss notifications.
    pub fn end_credit(&mut self) {
        self.credit = 0;
    }
}
