//! Conservative SACK-based loss recovery (RFC 6675).

use super::{begin, may_begin, ordinary_ack};
use crate::packet::{AckSegment, Seq};
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::{Core, Cut};

/// RFC 6675.
#[derive(Clone, Debug, Default)]
pub struct Rfc6675 {
    recovering: bool,
    /// RecoveryPoint: what had been sent when recovery began. An ECE may have cut the window since.
    point: Seq,
    /// RescueRxt has been used in this recovery.
    rescued: bool,
}

impl Rfc6675 {
    pub(super) fn is_going_on(&self) -> bool {
        self.recovering
    }

    pub(super) fn on_timeout(&mut self, core: &mut Core) {
        self.recovering = false;
        core.board.clear();
    }

    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        let threshold = core.cfg.dup_threshold;
        let new = ack.next > core.una;
        let news = core.board.update(ack.next.max(core.una), &ack.sack);
        if self.recovering {
            if ack.next >= self.point {
                self.recovering = false;
                if core.last_cut == Cut::DupAcks {
                    core.last_cut = Cut::Recovered;
                }
                core.advance(ack.next, ack.echo);
                core.board.clear();
                core.send_allowed(core.cfg.max_burst);
                return;
            }
            if new {
                core.una = ack.next;
                core.nxt = core.nxt.max(ack.next);
                core.skip_measurement();
                core.restart_timer();
            }
            self.send(core);
        } else if new {
            ordinary_ack(ack, core, cc);
            core.send_allowed(core.cfg.max_burst);
        } else if news {
            core.dup_acks += 1;
            let lost = core.dup_acks >= threshold || core.board.is_lost(core.una, threshold);
            if lost && may_begin(core) {
                begin(core, cc);
                self.recovering = true;
                self.point = core.recover;
                self.rescued = false;
                core.board.mark_retransmitted(core.una);
                core.send(core.una);
                self.send(core);
            } else if core.dup_acks < threshold {
                core.send_limited();
            }
        }
    }

    /// Section 5, step 4.3 and (C): as long as cwnd - pipe >= 1 SMSS, NextSeg.
    fn send(&mut self, core: &mut Core) {
        let threshold = core.cfg.dup_threshold;
        let window = core.window.cwnd as u32;
        while core.board.pipe(core.una, core.max, threshold) < window {
            let Some(seq) = self.next_segment(core) else { return };
            if seq < core.max {
                core.board.mark_retransmitted(seq);
            }
            core.send(seq);
            core.nxt = core.nxt.max(seq + 1);
        }
    }

    /// NextSeg, section 4.
    fn next_segment(&mut self, core: &Core) -> Option<Seq> {
        let hole = core.board.next_hole(core.una);
        // (1) the lowest missing segment that is lost
        if let Some(seq) = hole.filter(|&s| core.board.is_lost(s, core.cfg.dup_threshold)) {
            return Some(seq);
        }
        // (2) new data
        if core.max < core.available && core.max < core.una + core.offered {
            return Some(core.max);
        }
        // (3) the lowest missing segment
        if hole.is_some() {
            return hole;
        }
        // (4) once per recovery the last segment, when everything outstanding has been sent again
        let last = core.max - 1;
        let rescue = !self.rescued && core.board.retransmitted() > core.una && !core.board.sacked().contains(last);
        self.rescued |= rescue;
        rescue.then_some(last)
    }
}
