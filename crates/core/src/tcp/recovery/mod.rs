//! Loss recoveries: they choose the segments to send again, and the times of these retransmissions.

mod e_newreno;
mod newreno;
mod rack_tlp;
mod registry;
mod reno;
mod rfc6675;
mod sack1;
mod tahoe;
mod vegas;
pub mod view;

pub(super) use rack_tlp::clock::Clock;

use super::config::Config;
use super::config::recoveries::SackRule;
use super::config::variants::Method;
use super::connection::Connection;
use super::sender::send_times::SendTimes;
use crate::packet::{AckSegment, SackBlocks};
use e_newreno::ENewReno;
use newreno::NewReno;
use rack_tlp::RackTlp;
use registry::{LossRecovery, recoveries};
use reno::Reno;
use rfc6675::Rfc6675;
use sack1::Sack1;
use tahoe::Tahoe;
use vegas::Vegas;
use view::RackView;

recoveries! { cfg:
    /// Tahoe.
    Tahoe: Tahoe, _ => Tahoe;
    /// Reno.
    Reno: Reno, _ => Reno;
    /// NewReno.
    NewReno: NewReno, _ => NewReno::default();
    /// Enhanced NewReno.
    ENewReno: ENewReno, _ => ENewReno::default();
    /// ns-2's sack1.
    Sack1: Sack, SackRule::Sack1 => Sack1::new(cfg);
    /// RFC 6675.
    Rfc6675: Sack, SackRule::Rfc6675 => Rfc6675::new(cfg);
    /// RACK-TLP.
    RackTlp: RackTlp, _ => RackTlp::new(cfg);
    /// Vegas.
    Vegas: Vegas, _ => Vegas::new(&cfg.vegas);
}
