//! Tahoe: at the third duplicate acknowledgement go back to the hole and slow-start.

use super::{begin, may_begin, ordinary_ack};
use crate::packet::AckSegment;
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::Core;

/// Tahoe.
#[derive(Clone, Debug)]
pub struct Tahoe;

impl Tahoe {
    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        if ack.next > core.una {
            ordinary_ack(ack, core, cc);
        } else {
            core.dup_acks += 1;
            if core.dup_acks == core.cfg.dup_threshold {
                if may_begin(core) {
                    begin(core, cc);
                    core.window.cwnd = f64::from(core.cfg.loss_window);
                    core.ecn.cut = true;
                    core.nxt = core.una;
                }
            } else if core.dup_acks < core.cfg.dup_threshold {
                core.send_limited();
            }
        }
        core.send_allowed(core.cfg.max_burst);
    }
}
