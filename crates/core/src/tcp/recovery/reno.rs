//! Reno: fast retransmit, and fast recovery until the first new acknowledgement (RFC 2581, 3.2).

use super::{begin, inflates, may_begin, ordinary_ack};
use crate::packet::AckSegment;
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::{Core, Cut};

/// Reno.
#[derive(Clone, Debug)]
pub struct Reno;

impl Reno {
    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        let threshold = core.cfg.dup_threshold;
        if ack.next > core.una {
            if core.last_cut == Cut::DupAcks {
                core.last_cut = Cut::Recovered;
            }
            core.inflation = 0;
            ordinary_ack(ack, core, cc);
        } else {
            core.dup_acks += 1;
            if core.dup_acks == threshold {
                if may_begin(core) || core.last_cut == Cut::DupAcks {
                    begin(core, cc);
                    core.send(core.una);
                    core.inflation = threshold;
                }
                if !core.cfg.fast_recovery.inflate_in_recovery_only {
                    core.inflation = threshold;
                }
            } else if core.dup_acks > threshold && inflates(core) {
                core.inflation += 1;
            } else if core.dup_acks < threshold {
                core.send_limited();
            }
        }
        if core.dup_acks == 0 || core.dup_acks >= threshold {
            core.send_allowed(core.cfg.max_burst);
        }
    }
}
