//! Transmission of segments: lost ones, then new ones.

pub(super) mod pacing;
pub(super) mod usage;

use super::RackTlp;
use super::clock::Kind;
use super::queue::Mark;
use super::state::{Next, State};
use crate::tcp::connection::Connection;

impl RackTlp {
    /// Record of a segment that is sent now.
    pub(super) fn mark(&mut self, seq: u32, conn: &Connection) -> Mark {
        self.pacing.count_sent(conn.now(), conn.payload_of(seq));
        self.rate.mark(conn.now(), self.queue.is_empty(), self.queue.in_flight() + 1, self.lost)
    }

    /// Returns true if the next segment waits for its time.
    fn waits_for_pace(&mut self, conn: &mut Connection) -> bool {
        let at = self.pacing.wait(conn.now());
        if let Some(at) = at {
            conn.wait_until(at);
        }
        at.is_some()
    }

    /// Returns true if there are new segments that the receiver's window allows.
    pub(super) fn has_new(&self, conn: &Connection) -> bool {
        let max = conn.max();
        max < conn.available() && max < self.queue.una().saturating_add(conn.offered())
    }

    /// Sends what an acknowledgement allows.
    pub(super) fn send(&mut self, next: Next, conn: &mut Connection) {
        if next == Next::NewFirst {
            self.push(conn);
            if self.queue.nxt() > self.high {
                return;
            }
            self.frto = false;
        }
        if next != Next::New {
            self.resend_lost(conn);
        }
        self.push(conn);
    }

    /// Sends lost segments again, as far as the window allows.
    pub(super) fn resend_lost(&mut self, conn: &mut Connection) {
        let mut head = false;
        while self.queue.in_flight() < self.w.cwnd && conn.has_room_to_resend() {
            let Some(seq) = self.queue.next_lost().filter(|_| !self.waits_for_pace(conn)) else { break };
            if seq > self.queue.una() && seq - self.queue.una() >= conn.offered() || !self.resend(seq, conn) {
                break;
            }
            head |= seq == self.queue.una();
        }
        if head && self.pending != Kind::Reordering {
            self.set_timeout(conn);
        }
    }

    /// Sends a segment again, unless its last copy has not left the node: it then remains lost, and the attempt counts
    /// for what shows that it was not. Returns true if it was sent.
    pub(super) fn resend(&mut self, seq: u32, conn: &mut Connection) -> bool {
        if conn.holds_copy(seq) {
            let sent = self.queue.get(seq).map_or(conn.now(), |s| s.sent);
            self.undo.count_resent(sent);
            return false;
        }
        conn.send_out_of_turn(seq);
        let mark = self.mark(seq, conn);
        self.queue.resend(seq, conn.now(), mark);
        self.undo.count_resent(conn.now());
        if self.reduces() {
            self.prr.count_sent();
        }
        true
    }

    /// Sends a new segment.
    pub(super) fn send_new(&mut self, conn: &mut Connection) {
        let first = self.queue.is_empty();
        let seq = conn.max();
        let (now, mark) = (conn.now(), self.mark(seq, conn));
        if first {
            self.queue.start_at(seq);
            self.control.on_resume(now, conn.last_sent());
            if self.rate.is_app_limited() {
                let mss = conn.cfg().mss.0;
                if let Some(bbr) = self.control.bbr() {
                    bbr.on_resume(now, mss, &mut self.w, &mut self.pacing);
                } else if let Some(bbr) = self.control.bbr3() {
                    bbr.on_resume(now, self.rate.delivered, mss, &mut self.w, &mut self.pacing);
                }
            }
        }
        conn.send_out_of_turn(seq);
        self.queue.push(now, mark);
        if first || self.pending == Kind::Probe {
            self.rearm_timeout(conn);
        }
    }

    /// Sends new segments, as far as the windows allow.
    pub(super) fn push(&mut self, conn: &mut Connection) {
        let mut sent = 0;
        let mut limited = false;
        while self.has_new(conn) && !self.waits_for_pace(conn) {
            if self.queue.in_flight() >= self.w.cwnd {
                limited = true;
                break;
            }
            if conn.holds_small(conn.max()) || !conn.has_room_at_node() {
                break;
            }
            self.send_new(conn);
            sent += 1;
            if self.reduces() {
                self.prr.count_sent();
            }
        }
        limited |= self.queue.in_flight() >= self.w.cwnd;
        if sent > 0 || limited {
            self.usage.take(limited, self.queue.len(), self.queue.una(), self.queue.nxt());
        }
        if sent > 0 {
            self.schedule_probe(false, conn);
        }
    }

    /// Returns true if tail loss probes are allowed in this state.
    pub(super) fn may_probe(&self, conn: &Connection) -> bool {
        self.cfg.tail_loss_probe
            && self.cfg.sack
            && matches!(self.state, State::Open | State::Reducing)
            && !self.queue.is_empty()
            && conn.gave_up().is_none()
    }
}
