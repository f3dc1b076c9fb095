//! Tahoe: at the third duplicate acknowledgement go back to the hole and slow-start.

use super::registry::LossRecovery;
use crate::packet::AckSegment;
use crate::tcp::connection::Connection;

/// Fast retransmit without fast recovery.
#[derive(Clone, Debug)]
pub struct Tahoe;

impl LossRecovery for Tahoe {
    /// Tahoe does not reset the count of duplicate acknowledgements at a timeout.
    const RESETS_DUP_ACKS: bool = false;

    fn is_going_on(&self, _conn: &Connection) -> bool {
        false
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if ack.next > conn.una() {
            conn.take_new_data(ack);
        } else {
            let dup_acks = conn.count_duplicate();
            if dup_acks == conn.cfg().dup_threshold {
                if conn.may_begin_recovery() {
                    conn.begin_recovery();
                    conn.cut_to(f64::from(conn.cfg().loss_window));
                    conn.go_back();
                }
            } else if dup_acks < conn.cfg().dup_threshold {
                conn.send_limited();
            }
        }
        conn.send_allowed();
    }
}
