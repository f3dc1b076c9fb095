//! Loss recoveries: what is sent again, and when.

mod newreno;
mod reno;
mod rfc6675;
mod sack1;
mod tahoe;
mod vegas;

use super::cc::{CongestionControl, Signal};
use super::core::{Core, Cut};
use crate::packet::AckSegment;
use crate::{keywords, settings};

keywords! {
    /// When a partial acknowledgement restarts the retransmission timer (RFC 6582, section 4).
    pub enum PartialAckTimer {
        /// Only the first one does.
        Impatient = "impatient",
        /// Each one does.
        SlowButSteady = "slow_but_steady",
    }
}

settings! {
    /// Fast recovery of Reno and NewReno.
    pub struct Config {
        /// Timer at partial acknowledgements.
        pub partial_ack_timer: PartialAckTimer = PartialAckTimer::Impatient,
        /// Whether a partial acknowledgement deflates the window by what it acknowledges (RFC 6582, 3.2 step 3);
        /// otherwise the inflation starts anew.
        pub partial_window_deflation: bool = true,
        /// Segments that a duplicate or partial acknowledgement may release; "none": no limit.
        pub burst: Option<u32> = None,
        /// Whether the window grows with the acknowledgement that ends recovery (ns-2).
        pub grow_at_end: bool = false,
        /// Whether the window after recovery is at most what is outstanding and one segment (RFC 6582, 3.2 step 3).
        pub limit_at_end: bool = true,
        /// Whether duplicate acknowledgements inflate the window only in recovery, not after a timeout.
        pub inflate_in_recovery_only: bool = true,
        /// Whether the first data segment may be retransmitted fast although the SYN counts as recovery point (ns-2).
        pub first_segment_exception: bool = true,
    }
}

keywords! {
    /// Rules for recovery with SACK.
    pub enum SackRule {
        /// RFC 6675.
        Rfc6675 = "rfc6675",
        /// ns-2's sack1 (Fall and Floyd 1996).
        Sack1 = "sack1",
    }
}

settings! {
    /// Loss recovery with SACK.
    pub struct SackConfig {
        /// Rules.
        pub rule: SackRule = SackRule::Rfc6675,
    }
}

/// Which recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Go back to the hole and slow-start.
    Tahoe,
    /// Fast recovery until the first new acknowledgement.
    Reno,
    /// Fast recovery through partial acknowledgements.
    NewReno,
    /// With selective acknowledgements.
    Sack,
    /// With fine-grained timeouts.
    Vegas,
}

/// The loss recovery of a connection.
#[derive(Clone, Debug)]
pub enum Recovery {
    /// Tahoe.
    Tahoe(tahoe::Tahoe),
    /// Reno.
    Reno(reno::Reno),
    /// NewReno.
    NewReno(newreno::NewReno),
    /// ns-2's sack1.
    Sack1(sack1::Sack1),
    /// RFC 6675.
    Rfc6675(rfc6675::Rfc6675),
    /// Vegas.
    Vegas(vegas::Vegas),
}

impl Recovery {
    /// The recovery with its settings.
    pub fn new(method: Method, cfg: &super::Config) -> Recovery {
        match (method, cfg.sack.rule) {
            (Method::Tahoe, _) => Recovery::Tahoe(tahoe::Tahoe),
            (Method::Reno, _) => Recovery::Reno(reno::Reno),
            (Method::NewReno, _) => Recovery::NewReno(newreno::NewReno::default()),
            (Method::Sack, SackRule::Sack1) => Recovery::Sack1(sack1::Sack1::default()),
            (Method::Sack, SackRule::Rfc6675) => Recovery::Rfc6675(rfc6675::Rfc6675::default()),
            (Method::Vegas, _) => Recovery::Vegas(vegas::Vegas::new(cfg)),
        }
    }

    /// An acknowledgement that is not older than the last one: recovers and sends what it allows.
    pub fn on_ack(&mut self, ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
        match self {
            Recovery::Tahoe(r) => r.on_ack(ack, core, cc),
            Recovery::Reno(r) => r.on_ack(ack, core, cc),
            Recovery::NewReno(r) => r.on_ack(ack, core, cc),
            Recovery::Sack1(r) => r.on_ack(ack, core, cc),
            Recovery::Rfc6675(r) => r.on_ack(ack, core, cc),
            Recovery::Vegas(r) => r.on_ack(ack, core, cc),
        }
    }

    /// Whether losses are being repaired after duplicate acknowledgements.
    pub fn is_going_on(&self, core: &Core) -> bool {
        match self {
            Recovery::Tahoe(_) => false,
            Recovery::Reno(_) | Recovery::NewReno(_) => core.inflation > 0 && core.last_cut == Cut::DupAcks,
            Recovery::Sack1(r) => r.is_going_on(),
            Recovery::Rfc6675(r) => r.is_going_on(),
            Recovery::Vegas(_) => core.dup_acks >= core.cfg.dup_threshold,
        }
    }

    /// The retransmission timer has expired with data outstanding; the sender goes back to the first hole.
    pub fn on_timeout(&mut self, core: &mut Core, cc: &mut CongestionControl) {
        // Tahoe goes on counting duplicate acknowledgements through a timeout.
        if !matches!(self, Recovery::Tahoe(_)) {
            core.dup_acks = 0;
        }
        match self {
            Recovery::Tahoe(_) | Recovery::Reno(_) => {}
            Recovery::NewReno(r) => r.on_timeout(),
            Recovery::Sack1(r) => r.on_timeout(core),
            Recovery::Rfc6675(r) => r.on_timeout(core),
            Recovery::Vegas(r) => r.on_timeout(core, cc),
        }
    }
}

/// Whether duplicate acknowledgements may begin a recovery: the last one must be over (RFC 6582, 3.2 step 2).
fn may_begin(core: &Core) -> bool {
    is_new_loss(core) || core.last_cut == Cut::Ecn
}

fn is_new_loss(core: &Core) -> bool {
    core.last_cut == Cut::Never
        || core.una > core.recover
        || (core.cfg.fast_recovery.first_segment_exception && core.una == 1)
}

/// A new acknowledgement outside of recovery.
fn ordinary_ack(ack: &AckSegment, core: &mut Core, cc: &mut CongestionControl) {
    let first = core.una == 0;
    core.advance(ack.next, ack.echo);
    core.grow(None, cc);
    if first && core.cfg.starts_with_syn() {
        core.open_initial_window(cc);
    }
}

/// A recovery begins: the window is cut, nothing is measured, the timer starts anew.
fn begin(core: &mut Core, cc: &mut CongestionControl) {
    // RFC 3168, 6.1.2: only once for all drops and marks of a window of data.
    let cut_by_mark = core.last_cut == Cut::Ecn && !is_new_loss(core);
    if cut_by_mark {
        core.last_cut = Cut::DupAcks;
    } else {
        core.cut(Signal::FastRetransmit, cc);
    }
    if !(cut_by_mark && core.cfg.ecn.recover_from_cut) {
        core.recover = core.max;
    }
    core.counters.fast_retransmits += 1;
    core.restart_timer();
    core.cancel_measurement();
    if let Some(pacer) = &mut core.pacer {
        // New segments wait for the next acknowledgement.
        pacer.pause();
    }
}

/// Whether duplicate acknowledgements inflate the window now.
fn inflates(core: &Core) -> bool {
    !core.cfg.fast_recovery.inflate_in_recovery_only || core.last_cut == Cut::DupAcks
}
