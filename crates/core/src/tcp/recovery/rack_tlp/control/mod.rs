//! Window rules in whole segments, as Linux has them.

mod bbr;
mod cubic;
mod hystart;
mod reno;

use super::super::super::cc::Rule;
use super::super::super::config::Config;
use super::usage::Usage;
use crate::packet::Seq;
use crate::unit::{Span, Time};
pub(super) use bbr::{Bbr, BbrInput};
use cubic::Cubic;
use reno::Reno;

/// Window in whole segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Congestion window \[segments\].
    pub cwnd: u32,
    /// Slow-start threshold \[segments\].
    pub ssthresh: u32,
    /// Segments acknowledged towards the next growth by one segment.
    pub credit: u32,
    /// Largest window \[segments\].
    pub clamp: u32,
}

impl Window {
    /// Tells if the window is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows up to ssthresh by the acknowledged segments; returns those left over.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// Grows by one segment for each `per` acknowledged segments.
    fn grow_one_per(&mut self, per: u32, acked: u32) {
        // Credit collected for slower growth counts once.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        let steps = self.credit / per;
        self.credit -= steps * per;
        self.cwnd = (self.cwnd + steps).min(self.clamp);
    }
}

/// What a window rule learns with an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Time of arrival.
    pub now: Time,
    /// SND.UNA and SND.NXT.
    pub range: (Seq, Seq),
    /// Segments newly acknowledged or reported in SACK blocks.
    pub delivered: u32,
    /// Round-trip time of the last of these that was sent only once.
    pub rtt: Option<Span>,
}

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
