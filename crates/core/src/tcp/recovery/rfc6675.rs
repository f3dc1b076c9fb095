//! Conservative SACK-based loss recovery (RFC 6675).

use super::registry::LossRecovery;
use crate::packet::{AckSegment, SackBlocks, Seq};
use crate::tcp::config::Config;
use crate::tcp::connection::Connection;
use crate::tcp::sender::scoreboard::Scoreboard;

/// State of the loss recovery of RFC 6675.
#[derive(Clone, Debug)]
pub struct Rfc6675 {
    board: Scoreboard,
    recovering: bool,
    /// RecoveryPoint: what had been sent when recovery began. An ECE may have cut the window since.
    point: Seq,
    /// RescueRxt has been used in this recovery.
    rescued: bool,
}

impl LossRecovery for Rfc6675 {
    fn memory(&self) -> usize {
        self.board.memory()
    }

    fn is_going_on(&self, _conn: &Connection) -> bool {
        self.recovering
    }

    fn take_blocks(&mut self, blocks: &SackBlocks, conn: &Connection) -> bool {
        self.board.update(conn.una(), conn.max(), blocks)
    }

    fn on_timeout(&mut self, _conn: &Connection) {
        self.recovering = false;
        self.board.clear();
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        let threshold = conn.cfg().dup_threshold;
        let new = ack.next > conn.una();
        let news = self.board.update(ack.next.max(conn.una()), conn.max(), &ack.sack);
        if self.recovering {
            if ack.next >= self.point {
                self.recovering = false;
                conn.end_recovery();
                conn.advance(ack);
                self.board.clear();
                conn.send_allowed();
                return;
            }
            if new {
                conn.take_partial(ack);
                conn.skip_measurement();
                conn.restart_timer();
            }
            self.send(conn);
        } else if new {
            conn.take_new_data(ack);
            conn.send_allowed();
        } else if news {
            let dup_acks = conn.count_duplicate();
            let lost = dup_acks >= threshold || self.board.is_lost(conn.una());
            if lost && conn.may_begin_recovery() {
                conn.begin_recovery();
                self.recovering = true;
                self.point = conn.recover();
                self.rescued = false;
                self.board.mark_retransmitted(conn.una());
                conn.send(conn.una());
                self.send(conn);
            } else if dup_acks < threshold {
                conn.send_limited();
            }
        }
    }

    fn go_on(&mut self, conn: &mut Connection) {
        if self.recovering {
            self.send(conn);
        } else {
            conn.send_allowed();
        }
    }

    /// Tests count how many ranges are looked at.
    #[cfg(test)]
    fn looks(&self) -> u64 {
        self.board.sacked().looks()
    }
}

impl Rfc6675 {
    pub(super) fn new(cfg: &Config) -> Rfc6675 {
        let board = Scoreboard::for_window(cfg.receive_window, cfg.dup_threshold);
        Rfc6675 { board, recovering: false, point: 0, rescued: false }
    }

    /// Section 5, step 4.3 and (C): as long as cwnd - pipe >= 1 SMSS, NextSeg.
    fn send(&mut self, conn: &mut Connection) {
        let window = conn.window().cwnd as u32;
        while self.board.pipe(conn.una(), conn.max()) < window && conn.has_room_at_node() {
            let Some(seq) = self.next_segment(conn) else { return };
            conn.send_out_of_turn(seq);
        }
    }

    /// Next segment to send: NextSeg of section 4.
    fn next_segment(&mut self, conn: &Connection) -> Option<Seq> {
        let hole = self.board.next_hole(conn.una());
        // (1) the lowest missing segment, if it is lost; (2) new data; (3) the lowest missing segment
        let lost = hole.filter(|&s| self.board.is_lost(s));
        let max = conn.max();
        let new =
            (max < conn.available() && max < conn.una() + conn.offered() && !conn.holds_small(max)).then_some(max);
        if let Some(seq) = lost.or(new).or(hole) {
            if seq < max {
                self.board.mark_retransmitted(seq);
            }
            return Some(seq);
        }
        // (4) once per recovery the last segment, when everything known to be missing has been sent again. "HighRxt
        // MUST NOT be updated": what is found to be missing below it is sent again, too.
        let last = max - 1;
        let rescue = !self.rescued && self.board.retransmitted() > conn.una() && !self.board.sacked().contains(last);
        self.rescued |= rescue;
        rescue.then_some(last)
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Ecn;
    use crate::tcp::config::recoveries::{SackConfig, SackRule};
    use crate::tcp::config::variants::Variant;
    use crate::tcp::{Config, InitialWindow, Out, Receiver, Sender};
    use crate::unit::{Span, Time};
    use std::collections::VecDeque;

    /// A window of which every third segment is lost, once, when all of it has arrived.
    fn repaired(rule: SackRule, window: u32) -> Sender {
        let cfg = Config {
            variant: Variant::Sack,
            sack: SackConfig { rule },
            syn: false,
            receive_window: window,
            initial_window: InitialWindow::Segments(window),
            ..Config::default()
        };
        let (mut sender, mut receiver) = (Sender::new(&cfg, Span::ZERO), Receiver::new(&cfg));
        let mut now = Time::ZERO;
        let mut path = VecDeque::new();
        let mut out = vec![];
        sender.write(Some(window), now);
        path.extend(sender.drain());
        while !sender.is_done() {
            match path.pop_front() {
                Some(Out::Segment(s)) if s.retransmission || s.seq % 3 != 0 => {
                    receiver.on_segment(&s, 1, Ecn::NotEct, now, &mut out);
                    path.extend(out.drain(..));
                }
                Some(Out::Ack(ack)) => {
                    now += Span::us(1);
                    sender.on_ack(&ack, 1, now);
                    path.extend(sender.drain());
                }
                Some(_) => {}
                None => panic!("{rule:?}: nothing is on its way, and {} of {window} have arrived", receiver.next()),
            }
        }
        sender
    }

    #[test]
    fn a_window_with_thousands_of_holes_is_not_walked_over() {
        for window in [401, 4001, 40_001] {
            // A binary search looks at log2 of the ranges and one; there are five searches per event at most.
            let search = u64::from((window / 3u32).ilog2() + 2);
            for rule in [SackRule::Rfc6675, SackRule::Sack1] {
                let mut sender = repaired(rule, window);
                let counters = *sender.counters(Time::ZERO);
                let events = counters.tcp_acks_received + counters.packets_sent;
                let looks = sender.recovery().looks();
                assert!(looks <= 5 * search * events, "{rule:?}, {window}: {looks} looks for {events} events");
            }
        }
    }

    #[test]
    fn what_is_missing_below_a_rescue_retransmission_is_sent_again() {
        // The last segment is lost and sent again before its turn; holes below it are reported later.
        let mut sender = repaired(SackRule::Rfc6675, 400);
        assert_eq!((sender.retransmissions(), sender.counters(Time::ZERO).fast_retransmits), (134, 1));
    }
}
