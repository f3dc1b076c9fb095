//! Window rules in whole segments, as Linux has them.

mod bbr;
mod cubic;
mod hystart;
mod interface;
mod reno;

use crate::packet::Seq;
use crate::tcp::cc::Rule;
use crate::tcp::config::Config;
use crate::tcp::recovery::rack_tlp::usage::Usage;
use crate::unit::Time;
pub(super) use bbr::{Bbr, BbrInput};
use cubic::Cubic;
pub(super) use interface::{Input, Window};
use reno::Reno;

/// The window rule of a connection.
#[derive(Clone, Debug)]
pub(super) enum Control {
    /// Reno.
    Reno(Reno),
    /// CUBIC.
    Cubic(Box<Cubic>),
    /// BBR.
    Bbr(Box<Bbr>),
}

impl Control {
    /// The rule of the settings.
    pub fn new(cfg: &Config) -> Control {
        match cfg.rule() {
            Rule::Cubic => Control::Cubic(Box::new(Cubic::new(&cfg.cubic, &cfg.rack_tlp))),
            Rule::Bbr => Control::Bbr(Box::new(Bbr::new())),
            _ => Control::Reno(Reno),
        }
    }

    /// Sees every acknowledgement of new data or with SACK blocks, before losses are sought.
    pub fn on_acked(&mut self, input: &Input, w: &mut Window) {
        if let Control::Cubic(cubic) = self {
            cubic.on_acked(input, w);
        }
    }

    /// Grows the window outside of a reduction.
    pub fn grow(&mut self, input: &Input, usage: &Usage, w: &mut Window) {
        if !usage.allows_growth(w.cwnd, w.in_slow_start()) {
            return;
        }
        let left = if w.in_slow_start() { w.slow_start(input.delivered) } else { input.delivered };
        if left == 0 {
            return;
        }
        match self {
            Control::Reno(_) => w.grow_one_per(w.cwnd, left),
            Control::Cubic(cubic) => cubic.avoid(left, input.now, w),
            Control::Bbr(_) => {}
        }
    }

    /// ssthresh after a loss or a mark.
    pub fn ssthresh(&mut self, w: &Window) -> u32 {
        match self {
            Control::Reno(rule) => rule.ssthresh(w),
            Control::Cubic(cubic) => cubic.ssthresh(w),
            Control::Bbr(bbr) => {
                bbr.save_cwnd(w.cwnd);
                w.ssthresh
            }
        }
    }

    /// A timeout begins.
    pub fn on_timeout(&mut self, now: Time, nxt: Seq) {
        match self {
            Control::Reno(_) => {}
            Control::Cubic(cubic) => cubic.reset(now, nxt),
            Control::Bbr(bbr) => bbr.on_timeout(),
        }
    }

    /// BBR, if it is the rule: it sets rate and window by itself.
    pub fn bbr(&mut self) -> Option<&mut Bbr> {
        match self {
            Control::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// Tells if reductions do not change the window.
    pub fn is_bbr(&self) -> bool {
        matches!(self, Control::Bbr(_))
    }

    /// Sending resumes after an idle time, with nothing outstanding since the last transmission.
    pub fn on_resume(&mut self, now: Time, last_sent: Time) {
        if let Control::Cubic(cubic) = self {
            cubic.on_resume(now, last_sent);
        }
    }
}
