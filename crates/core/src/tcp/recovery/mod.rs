//! Loss recoveries: what is sent again, and when.

mod e_newreno;
mod newreno;
mod reno;
mod rfc6675;
mod sack1;
pub mod settings;
mod tahoe;
mod vegas;

use super::config::Config;
use super::connection::{Connection, Cut};
use super::send_times::SendTimes;
use super::variants::Method;
use crate::packet::{AckSegment, SackBlocks};
use settings::SackRule;

/// The loss recovery of a connection.
#[derive(Clone, Debug)]
pub enum Recovery {
    /// Tahoe.
    Tahoe(tahoe::Tahoe),
    /// Reno.
    Reno(reno::Reno),
    /// NewReno.
    NewReno(newreno::NewReno),
    /// Enhanced NewReno.
    ENewReno(e_newreno::ENewReno),
    /// ns-2's sack1.
    Sack1(sack1::Sack1),
    /// RFC 6675.
    Rfc6675(rfc6675::Rfc6675),
    /// Vegas.
    Vegas(vegas::Vegas),
}

impl Recovery {
    /// The recovery with its settings.
    pub fn new(method: Method, cfg: &Config) -> Recovery {
        match (method, cfg.sack.rule) {
            (Method::Tahoe, _) => Recovery::Tahoe(tahoe::Tahoe),
            (Method::Reno, _) => Recovery::Reno(reno::Reno),
            (Method::NewReno, _) => Recovery::NewReno(newreno::NewReno::default()),
            (Method::ENewReno, _) => Recovery::ENewReno(e_newreno::ENewReno::default()),
            (Method::Sack, SackRule::Sack1) => Recovery::Sack1(sack1::Sack1::new(cfg)),
            (Method::Sack, SackRule::Rfc6675) => Recovery::Rfc6675(rfc6675::Rfc6675::new(cfg)),
            (Method::Vegas, _) => Recovery::Vegas(vegas::Vegas::new(&cfg.vegas)),
        }
    }

    /// An acknowledgement that is not older than the last one: recovers and sends what it allows.
    pub fn on_ack(&mut self, ack: &AckSegment, conn: &mut Connection) {
        match self {
            Recovery::Tahoe(r) => r.on_ack(ack, conn),
            Recovery::Reno(r) => r.on_ack(ack, conn),
            Recovery::NewReno(r) => r.on_ack(ack, conn),
            Recovery::ENewReno(r) => r.on_ack(ack, conn),
            Recovery::Sack1(r) => r.on_ack(ack, conn),
            Recovery::Rfc6675(r) => r.on_ack(ack, conn),
            Recovery::Vegas(r) => r.on_ack(ack, conn),
        }
    }

    /// The node has room for packets again: goes on with what it is doing.
    pub fn go_on(&mut self, conn: &mut Connection) {
        match self {
            Recovery::Sack1(r) => r.send(conn),
            Recovery::Rfc6675(r) => r.go_on(conn),
            Recovery::Tahoe(_)
            | Recovery::Reno(_)
            | Recovery::NewReno(_)
            | Recovery::ENewReno(_)
            | Recovery::Vegas(_) => conn.send_allowed(),
        }
    }

    /// Whether losses are being repaired after duplicate acknowledgements.
    pub fn is_going_on(&self, conn: &Connection) -> bool {
        match self {
            Recovery::Tahoe(_) => false,
            Recovery::Reno(_) | Recovery::NewReno(_) | Recovery::ENewReno(_) => {
                conn.inflation() > 0 && conn.last_cut() == Cut::DupAcks
            }
            Recovery::Sack1(r) => r.is_going_on(),
            Recovery::Rfc6675(r) => r.is_going_on(),
            Recovery::Vegas(_) => conn.dup_acks() >= conn.cfg().dup_threshold,
        }
    }

    /// The retransmission timer has expired with data outstanding; the sender goes back to the first hole.
    pub fn on_timeout(&mut self, conn: &mut Connection) {
        // Tahoe goes on counting duplicate acknowledgements through a timeout.
        if !matches!(self, Recovery::Tahoe(_)) {
            conn.set_dup_acks(0);
        }
        match self {
            Recovery::Tahoe(_) | Recovery::Reno(_) => {}
            Recovery::ENewReno(r) => r.on_timeout(),
            Recovery::NewReno(r) => r.on_timeout(),
            Recovery::Sack1(r) => r.on_timeout(),
            Recovery::Rfc6675(r) => r.on_timeout(),
            Recovery::Vegas(r) => r.on_timeout(conn),
        }
    }

    /// The retransmission timer has expired with data outstanding. Whether the recovery answers that with a probe, so that
    /// nothing else comes of it.
    pub fn probes_at_timeout(&mut self, conn: &mut Connection) -> bool {
        match self {
            Recovery::ENewReno(r) => r.probes_at_timeout(conn),
            _ => false,
        }
    }

    /// Whether nothing but probes is sent until one is answered.
    pub fn is_probing(&self) -> bool {
        match self {
            Recovery::ENewReno(r) => r.is_probing(),
            _ => false,
        }
    }

    /// SACK blocks of an acknowledgement that the recovery does not hear of.
    pub fn take_blocks(&mut self, blocks: &SackBlocks, conn: &Connection) {
        match self {
            Recovery::Sack1(r) => _ = r.take_blocks(blocks, conn),
            Recovery::Rfc6675(r) => r.take_blocks(blocks, conn),
            Recovery::Tahoe(_)
            | Recovery::Reno(_)
            | Recovery::NewReno(_)
            | Recovery::ENewReno(_)
            | Recovery::Vegas(_) => {}
        }
    }

    /// The table of send times that the recovery needs, for a window of this many segments.
    pub fn send_times(&self, window: u32) -> Option<SendTimes> {
        match self {
            Recovery::Vegas(r) => Some(r.send_times(window)),
            _ => None,
        }
    }

    /// Memory of its scoreboard \[B\].
    pub fn memory(&self) -> usize {
        match self {
            Recovery::Sack1(r) => r.memory(),
            Recovery::Rfc6675(r) => r.memory(),
            Recovery::Tahoe(_)
            | Recovery::Reno(_)
            | Recovery::NewReno(_)
            | Recovery::ENewReno(_)
            | Recovery::Vegas(_) => 0,
        }
    }

    /// Whether the recovery undoes what it has done for each duplicate that it has heard of, so that nobody else may count
    /// one.
    pub fn counts_duplicates_itself(&self) -> bool {
        matches!(self, Recovery::Vegas(_))
    }

    /// Whether an expiration of the retransmission timer is a timeout although nothing is outstanding.
    pub fn times_out_when_idle(&self) -> bool {
        match self {
            Recovery::Vegas(r) => r.times_out_when_idle(),
            _ => false,
        }
    }
}
