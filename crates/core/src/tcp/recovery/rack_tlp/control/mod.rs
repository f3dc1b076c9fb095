//! Window rules in whole segments, as Linux has them.

mod bbr;
mod bbr3;
mod cubic;
mod hystart;
mod hystart_plus_plus;
mod interface;
mod reno;

use super::sending::usage::Usage;
use crate::packet::Seq;
use crate::tcp::cc::Rule;
use crate::tcp::config::Config;
use crate::tcp::config::recoveries::HyStartRule;
use crate::tcp::recovery::view::BbrState;
use crate::unit::Time;
pub(super) use bbr::{Bbr, BbrInput};
pub(super) use bbr3::{Bbr3, Bbr3Input};
use cubic::Cubic;
use hystart_plus_plus::HyStartPlusPlus;
pub(super) use interface::{Input, Window};
use reno::Reno;

/// The window rule of a connection, and the end of its slow start.
#[derive(Clone, Debug)]
pub(super) struct Control {
    law: Law,
    /// HyStart++, if it is set.
    start: Option<Box<HyStartPlusPlus>>,
}

/// The window rule.
#[derive(Clone, Debug)]
enum Law {
    /// Reno.
    Reno(Reno),
    /// CUBIC.
    Cubic(Box<Cubic>),
    /// BBR.
    Bbr(Box<Bbr>),
    /// BBR version 3.
    Bbr3(Box<Bbr3>),
    /// A rule of the program that drives the run; the connection asks it.
    External,
}

impl Control {
    /// The rule of the settings.
    pub fn new(cfg: &Config) -> Control {
        let law = match cfg.rule() {
            Rule::Cubic => Law::Cubic(Box::new(Cubic::new(&cfg.cubic, &cfg.rack_tlp))),
            Rule::Bbr => Law::Bbr(Box::new(Bbr::new())),
            Rule::Bbr3 => Law::Bbr3(Box::new(Bbr3::new())),
            Rule::External => Law::External,
            _ => Law::Reno(Reno),
        };
        let starts = cfg.rack_tlp.hystart == HyStartRule::HyStartPlusPlus;
        Control { law, start: starts.then(|| Box::new(HyStartPlusPlus::new())) }
    }

    /// Sees every acknowledgement of new data or with SACK blocks, before losses are sought.
    pub fn on_acked(&mut self, input: &Input, w: &mut Window) {
        if let Law::Cubic(cubic) = &mut self.law {
            cubic.on_acked(input, w);
        }
    }

    /// Grows the window outside of a reduction.
    pub fn grow(&mut self, input: &Input, usage: &Usage, w: &mut Window) {
        let slow_start = w.in_slow_start();
        let grows = usage.allows_growth(w.cwnd, slow_start);
        let mut acked = if grows { input.delivered } else { 0 };
        if slow_start {
            acked = self.slow_start(acked, input, w);
        }
        if acked == 0 {
            return;
        }
        match &mut self.law {
            Law::Reno(_) => w.grow_one_per(w.cwnd, acked),
            Law::Cubic(cubic) => cubic.avoid(acked, input.now, w),
            Law::Bbr(_) | Law::Bbr3(_) | Law::External => {}
        }
    }

    /// Grows the window in slow start; returns the segments left over.
    fn slow_start(&mut self, acked: u32, input: &Input, w: &mut Window) -> u32 {
        let Some(start) = &mut self.start else { return w.slow_start(acked) };
        let left = w.slow_start(start.growth(acked));
        if start.take(input) {
            w.ssthresh = w.cwnd;
        }
        left
    }

    fn end_start(&mut self) {
        if let Some(start) = &mut self.start {
            start.end();
        }
    }

    /// ssthresh after a loss or a mark.
    pub fn ssthresh(&mut self, w: &Window) -> u32 {
        self.end_start();
        match &mut self.law {
            Law::Reno(rule) => rule.ssthresh(w),
            Law::Cubic(cubic) => cubic.ssthresh(w),
            Law::Bbr(bbr) => {
                bbr.save_cwnd(w.cwnd);
                w.ssthresh
            }
            Law::Bbr3(bbr) => {
                bbr.save_cwnd(w.cwnd);
                w.ssthresh
            }
            Law::External => w.ssthresh,
        }
    }

    /// A timeout begins.
    pub fn on_timeout(&mut self, now: Time, nxt: Seq) {
        self.end_start();
        match &mut self.law {
            Law::Reno(_) | Law::External => {}
            Law::Cubic(cubic) => cubic.reset(now, nxt),
            Law::Bbr(bbr) => bbr.on_timeout(),
            Law::Bbr3(bbr) => bbr.on_timeout(),
        }
    }

    /// BBR version 3, if it is the rule: it sets rate and window by itself.
    pub fn bbr3(&mut self) -> Option<&mut Bbr3> {
        match &mut self.law {
            Law::Bbr3(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// BBR version 1, if it is the rule: it sets rate and window by itself.
    pub fn bbr(&mut self) -> Option<&mut Bbr> {
        match &mut self.law {
            Law::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }

    /// State and pacing gain of BBR, if it is the rule.
    pub fn seen_bbr(&self) -> Option<(BbrState, f64)> {
        match &self.law {
            Law::Bbr(bbr) => Some((bbr.mode, bbr.gain())),
            Law::Bbr3(bbr) => Some((bbr.state, bbr.gain())),
            _ => None,
        }
    }

    /// Returns true if the program that drives the run decides the window.
    pub fn is_external(&self) -> bool {
        matches!(self.law, Law::External)
    }

    /// Returns true if reductions do not change the window.
    pub fn is_bbr(&self) -> bool {
        matches!(self.law, Law::Bbr(_) | Law::Bbr3(_))
    }

    /// Sending resumes after an idle time, with nothing outstanding since the last transmission.
    pub fn on_resume(&mut self, now: Time, last_sent: Time) {
        if let Law::Cubic(cubic) = &mut self.law {
            cubic.on_resume(now, last_sent);
        }
    }
}
