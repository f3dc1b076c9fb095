//! Reno: fast retransmit, and fast recovery until the first new acknowledgement (RFC 2581, 3.2).

use super::registry::LossRecovery;
use crate::packet::AckSegment;
use crate::tcp::connection::{Connection, Cut};

/// Fast recovery that ends at the first new acknowledgement (RFC 2581).
#[derive(Clone, Debug)]
pub struct Reno;

/// Fast recovery of Reno and its descendants is going on.
pub(super) fn is_inflated(conn: &Connection) -> bool {
    conn.inflation() > 0 && conn.last_cut() == Cut::DupAcks
}

/// Processes a duplicate acknowledgement: one of them begins a recovery, with `anew` also while another is going on, and
/// those after it inflate the window.
pub(super) fn on_duplicate(conn: &mut Connection, anew: bool) {
    let threshold = conn.cfg().dup_threshold;
    let dup_acks = conn.count_duplicate();
    if dup_acks == threshold {
        if conn.may_begin_recovery() || (anew && conn.last_cut() == Cut::DupAcks) {
            conn.begin_recovery();
            conn.send(conn.una());
            conn.inflate_to(threshold);
        }
        if !conn.cfg().fast_recovery.inflate_in_recovery_only {
            conn.inflate_to(threshold);
        }
    } else if dup_acks > threshold && conn.may_inflate() {
        conn.inflate();
    } else if dup_acks < threshold {
        conn.send_limited();
    }
}

impl LossRecovery for Reno {
    fn is_going_on(&self, conn: &Connection) -> bool {
        is_inflated(conn)
    }

    fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        if ack.next > conn.una() {
            conn.end_recovery();
            conn.deflate();
            conn.take_new_data(ack);
        } else {
            on_duplicate(conn, true);
        }
        if conn.dup_acks() == 0 || conn.dup_acks() >= conn.cfg().dup_threshold {
            conn.send_allowed();
        }
    }
}
