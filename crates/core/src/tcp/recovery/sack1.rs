//! ns-2's sack1: recovery with an estimate of the segments in the pipe (Fall and Floyd, CCR 26(3), 1996).

use super::registry::LossRecovery;
use crate::packet::{AckSegment, SackBlocks};
use crate::tcp::config::Config;
use crate::tcp::connection::Connection;
use crate::tcp::sender::scoreboard::Scoreboard;

/// ns-2's sack1.
#[derive(Clone, Debug)]
pub struct Sack1 {
    board: Scoreboard,
    recovering: bool,
    /// Segments believed to be in the network.
    pipe: i64,
    /// After a timeout duplicate acknowledgements are not listened to until a new one comes.
    ignores_duplicates: bool,
}

impl LossRecovery for Sack1 {
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
        self.ignores_duplicates = true;
        self.board.clear();
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if self.recovering {
            self.on_ack_in_recovery(ack, conn);
            self.send(conn);
            return;
        }
        if ack.next > conn.una() {
            self.ignores_duplicates = false;
            self.board.clear();
            conn.take_new_data(ack);
        } else if !self.ignores_duplicates && self.take_blocks(&ack.sack, conn) {
            let dup_acks = conn.count_duplicate();
            if dup_acks == conn.cfg().dup_threshold {
                self.on_dup_acks(conn);
            } else if dup_acks < conn.cfg().dup_threshold {
                conn.send_limited();
            }
        }
        if conn.dup_acks() == 0 {
            self.send(conn);
        }
    }

    /// Tests count how many ranges are looked at.
    #[cfg(test)]
    fn looks(&self) -> u64 {
        self.board.sacked().looks()
    }

    fn go_on(&mut self, conn: &mut Connection) {
        self.send(conn);
    }
}

impl Sack1 {
    pub(super) fn new(cfg: &Config) -> Sack1 {
        let board = Scoreboard::for_window(cfg.receive_window, cfg.dup_threshold);
        Sack1 { board, recovering: false, pipe: 0, ignores_duplicates: false }
    }

    fn on_dup_acks(&mut self, conn: &mut Connection) {
        if !conn.may_begin_recovery() {
            return;
        }
        self.pipe = i64::from(conn.outstanding()) - i64::from(conn.cfg().dup_threshold);
        conn.begin_recovery();
        self.recovering = true;
        self.board.mark_retransmitted(conn.una());
        conn.send(conn.una());
    }

    fn on_ack_in_recovery(&mut self, ack: &AckSegment, conn: &mut Connection) {
        self.pipe -= 1;
        if ack.next >= conn.recover() {
            conn.forget_recovery_point();
            self.recovering = false;
            conn.advance(ack);
            self.ignores_duplicates = false;
            self.board.clear();
        } else if ack.next > conn.una() {
            conn.take_partial(ack);
            self.take_blocks(&ack.sack, conn);
            // A retransmission and the segment that was dropped have left the pipe.
            self.pipe -= 1;
            conn.restart_timer();
            conn.end_backoff();
        } else if !self.ignores_duplicates && self.take_blocks(&ack.sack, conn) && conn.dup_acks() > 0 {
            conn.count_duplicate();
        }
    }

    fn send(&mut self, conn: &mut Connection) {
        if !self.recovering {
            conn.send_allowed();
            return;
        }
        let mut left = conn.cfg().max_burst.unwrap_or(u32::MAX);
        while left > 0 && self.pipe < i64::from(conn.window().cwnd as u32) && conn.una() < conn.available() {
            if !conn.has_room_at_node() {
                return;
            }
            let reach = conn.una() + conn.offered();
            let seq = match self.board.next_hole(conn.una()) {
                Some(hole) if hole < reach => {
                    self.board.mark_retransmitted(hole);
                    hole
                }
                Some(_) => return,
                None if conn.holds_small(conn.nxt()) => return,
                None if conn.nxt() < reach && conn.nxt() < conn.available() => conn.nxt(),
                None => return,
            };
            conn.send_out_of_turn(seq);
            self.pipe += 1;
            left -= 1;
        }
    }
}
