//! ns-2's sack1: recovery with an estimate of the segments in the pipe (Fall and Floyd, CCR 26(3), 1996).

use super::{begin, may_begin, ordinary_ack};
use crate::packet::AckSegment;
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::Core;

/// ns-2's sack1.
#[derive(Clone, Debug, Default)]
pub struct Sack1 {
    recovering: bool,
    /// Segments believed to be in the network.
    pipe: i64,
    /// After a timeout duplicate acknowledgements are not listened to until a new one comes.
    deaf: bool,
}

impl Sack1 {
    pub(super) fn is_going_on(&self) -> bool {
        self.recovering
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.recovering = false;
        self.deaf = true;
        core.board.clear();
    }

    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        if self.recovering {
            self.on_ack_in_recovery(ack, core);
            self.send(core);
            return;
        }
        if ack.next > core.una {
            self.deaf = false;
            core.board.clear();
            ordinary_ack(ack, core, cc);
        } else if !self.deaf && core.board.update(core.una, core.max, &ack.sack) {
            core.dup_acks += 1;
            if core.dup_acks == core.cfg.dup_threshold {
                self.on_dup_acks(core, cc);
            } else if core.dup_acks < core.cfg.dup_threshold {
                core.send_limited();
            }
        }
        if core.dup_acks == 0 {
            self.send(core);
        }
    }

    fn on_dup_acks(&mut self, core: &mut Core, cc: &mut CongestionControl) {
        if !may_begin(core) {
            return;
        }
        self.pipe = i64::from(core.max - core.una) - i64::from(core.cfg.dup_threshold);
        begin(core, cc);
        self.recovering = true;
        core.board.mark_retransmitted(core.una);
        core.send(core.una);
    }

    fn on_ack_in_recovery(&mut self, ack: &AckSegment, core: &mut Core) {
        self.pipe -= 1;
        if ack.next >= core.recover {
            core.recover = 1;
            self.recovering = false;
            core.advance(ack.next, ack.echo);
            self.deaf = false;
            core.board.clear();
        } else if ack.next > core.una {
            core.una = ack.next;
            core.board.update(core.una, core.max, &ack.sack);
            // A retransmission and the segment that was dropped have left the pipe.
            self.pipe -= 1;
            core.restart_timer();
            core.rto.clear_backoff();
        } else if !self.deaf && core.board.update(core.una, core.max, &ack.sack) && core.dup_acks > 0 {
            core.dup_acks += 1;
        }
    }

    fn send(&mut self, core: &mut Core) {
        let mut left = core.cfg.max_burst.unwrap_or(u32::MAX);
        if !self.recovering {
            core.send_allowed(core.cfg.max_burst);
            return;
        }
        while left > 0 && self.pipe < i64::from(core.window.cwnd as u32) && core.una < core.available {
            let reach = core.una + core.offered;
            let seq = match core.board.next_hole(core.una) {
                Some(hole) if hole < reach => {
                    core.board.mark_retransmitted(hole);
                    hole
                }
                Some(_) => return,
                None if core.nxt < reach && core.nxt < core.available => core.nxt,
                None => return,
            };
            core.send(seq);
            core.nxt = core.nxt.max(seq + 1);
            self.pipe += 1;
            left -= 1;
        }
    }
}
