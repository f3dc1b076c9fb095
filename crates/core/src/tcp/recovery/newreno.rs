//! NewReno: fast recovery until everything is acknowledged that had been sent when it began (RFC 6582).

use super::{PartialAckTimer, begin, inflates, may_begin, ordinary_ack};
use crate::packet::AckSegment;
use crate::tcp::cc::CongestionControl;
use crate::tcp::core::{Core, Cut};

/// NewReno.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// A partial acknowledgement has restarted the timer in this recovery.
    restarted: bool,
}

impl NewReno {
    pub(super) fn on_timeout(&mut self) {
        self.restarted = false;
    }

    pub(super) fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        let threshold = core.cfg.dup_threshold;
        if ack.next > core.una {
            if ack.next >= core.recover || core.last_cut != Cut::DupAcks {
                self.full_ack(ack, core, cc);
            } else {
                self.partial_ack(ack, core);
            }
        } else {
            core.dup_acks += 1;
            if core.dup_acks == threshold {
                if may_begin(core) {
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
        if core.dup_acks == 0 {
            core.send_allowed(core.cfg.max_burst);
        } else if core.dup_acks >= threshold {
            core.send_allowed(core.cfg.fast_recovery.burst);
        }
    }

    fn full_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        let recovering = matches!(core.last_cut, Cut::DupAcks | Cut::Ecn) && core.inflation > 0;
        if core.inflation > 0 {
            core.inflation = 0;
            if core.last_cut == Cut::DupAcks {
                core.last_cut = Cut::Recovered;
            }
        }
        self.restarted = false;
        if recovering && core.cfg.fast_recovery.limit_at_end {
            // RFC 6582, 3.2 step 3: "min (ssthresh, max(FlightSize, SMSS) + SMSS)"
            let flight = f64::from((core.max - ack.next).max(1));
            core.window.cwnd = core.window.ssthresh.min(flight + 1.0);
        }
        if recovering && !core.cfg.fast_recovery.grow_at_end {
            core.advance(ack.next, ack.echo);
        } else {
            ordinary_ack(ack, core, cc);
        }
    }

    fn partial_ack(&mut self, ack: &AckSegment, core: &mut Core) {
        let fast_recovery = &core.cfg.fast_recovery;
        let restart = fast_recovery.partial_ack_timer == PartialAckTimer::SlowButSteady || !self.restarted;
        if fast_recovery.partial_window_deflation {
            let acked = ack.next - core.una;
            if core.inflation > acked {
                core.inflation -= acked - 1;
            } else {
                core.window.cwnd = (core.window.cwnd - f64::from(acked - core.inflation)).max(1.0);
                core.inflation = 1;
            }
        } else {
            core.inflation = 0;
        }
        if restart {
            self.restarted = true;
            core.restart_timer();
        }
        core.una = ack.next;
        core.nxt = core.nxt.max(ack.next);
        core.skip_measurement();
        core.send(core.una);
    }
}
