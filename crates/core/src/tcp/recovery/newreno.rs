//! NewReno: fast recovery until everything is acknowledged that had been sent when it began (RFC 6582).

use super::registry::LossRecovery;
use super::reno::{is_inflated, on_duplicate};
use crate::packet::AckSegment;
use crate::tcp::config::recoveries::PartialAckTimer;
use crate::tcp::connection::{Connection, Cut};

/// State of NewReno's fast recovery (RFC 6582).
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// A partial acknowledgement has restarted the timer in this recovery.
    restarted: bool,
}

impl LossRecovery for NewReno {
    fn is_going_on(&self, conn: &Connection) -> bool {
        is_inflated(conn)
    }

    fn on_timeout(&mut self, _conn: &Connection) {
        self.restarted = false;
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if ack.next > conn.una() {
            if ack.next >= conn.recover() || conn.last_cut() != Cut::DupAcks {
                self.full_ack(ack, conn);
            } else {
                self.partial_ack(ack, conn);
            }
        } else {
            on_duplicate(conn, false);
        }
        if conn.dup_acks() == 0 {
            conn.send_allowed();
        } else if conn.dup_acks() >= conn.cfg().dup_threshold {
            conn.send_at_most(conn.cfg().fast_recovery.burst);
        }
    }
}

impl NewReno {
    fn full_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        let recovering = matches!(conn.last_cut(), Cut::DupAcks | Cut::Ecn) && conn.inflation() > 0;
        if conn.inflation() > 0 {
            conn.deflate();
            conn.end_recovery();
        }
        self.restarted = false;
        if recovering && conn.cfg().fast_recovery.limit_at_end {
            // RFC 6582, 3.2 step 3: "min (ssthresh, max(FlightSize, SMSS) + SMSS)"
            let flight = f64::from((conn.max() - ack.next).max(1));
            conn.limit_after_recovery(flight + 1.0);
        }
        if recovering && !conn.cfg().fast_recovery.grow_at_end {
            conn.advance(ack);
        } else {
            conn.take_new_data(ack);
        }
    }

    fn partial_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        let fast_recovery = &conn.cfg().fast_recovery;
        let restart = fast_recovery.partial_ack_timer == PartialAckTimer::SlowButSteady || !self.restarted;
        if fast_recovery.partial_window_deflation {
            conn.deflate_by(ack.next - conn.una());
        } else {
            conn.deflate();
        }
        if restart {
            self.restarted = true;
            conn.restart_timer();
        }
        conn.take_partial(ack);
        conn.skip_measurement();
        conn.send(conn.una());
    }
}
