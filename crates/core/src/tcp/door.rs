//! Detection of out-of-order delivery and response (DOOR; Wang and Zhang, "Improving TCP Performance over Mobile Ad-Hoc
//! Networks with Out-of-Order Detection and Response", MobiHoc 2002): packets that arrive out of order have taken
//! another route. For some time after that, losses do not cut the window, and a cut shortly before is undone.
//!
//! The paper numbers packets and duplicate acknowledgements with options of its own, and names timestamps as another
//! way. Timestamps are modeled: an acknowledgement echoes the time at which the segment that triggered it was
//! sent. An echo older than an earlier one shows that segments, or acknowledgements, were reordered.

use super::cc::interface::Window;
use crate::setting::limit::range;
use crate::settings;
use crate::unit::{Span, Time};

settings! {
    /// Detection of out-of-order delivery and response (DOOR).
    pub struct Config if enabled, else "`tcp.door.enabled` is false" {
        /// Interprets out-of-order delivery as a change of the route, not as congestion.
        pub enabled: bool = false,
        /// T1 of the paper: time after a detection in which losses do not cut the window \[smoothed round-trip times\].
        pub hold_rtts: f64 = 1.0 => range(0.0, 1000.0),
        /// T2 of the paper: time before a detection in which the last cut of the window is undone \[smoothed round-trip
        /// times\].
        pub undo_rtts: f64 = 1.0 => range(0.0, 1000.0),
    }
}

/// State of DOOR at a sender.
#[derive(Clone, Copy, Debug)]
pub struct Door {
    /// Latest time that an acknowledgement has echoed.
    newest: Time,
    /// End of the time without cuts.
    until: Time,
    /// Time of the last cut for a loss, and the window before it.
    before: Option<(Time, Window)>,
    /// Time at which a cut was last undone.
    undone: Time,
}

impl Default for Door {
    fn default() -> Door {
        Door { newest: Time::ZERO, until: Time::ZERO, before: None, undone: Time::NEVER }
    }
}

impl Door {
    /// An acknowledgement that echoes this time has arrived. Returns true if it shows delivery out of order.
    pub fn is_out_of_order(&mut self, echo: Time) -> bool {
        let reordered = echo < self.newest;
        self.newest = self.newest.max(echo);
        reordered
    }

    /// Begins the time without cuts. Returns the window before a cut that is to be undone.
    pub fn respond(&mut self, cfg: &Config, srtt: Span, now: Time) -> Option<Window> {
        self.until = now + times(srtt, cfg.hold_rtts);
        let (at, window) = self.before.take()?;
        let undoes = now.since(at) <= times(srtt, cfg.undo_rtts);
        if undoes {
            self.undone = now;
        }
        undoes.then_some(window)
    }

    /// Returns true if a cut has been undone at this time.
    pub fn has_undone(&self, now: Time) -> bool {
        self.undone == now
    }

    /// Returns true if a loss does not cut the window now.
    pub fn holds(&self, now: Time) -> bool {
        now < self.until
    }

    /// The window is about to be cut for a loss. Of several cuts in the time that can be undone, the first counts.
    pub fn remember(&mut self, window: Window, cfg: &Config, srtt: Span, now: Time) {
        let undone = times(srtt, cfg.undo_rtts);
        if self.before.is_none_or(|(at, _)| now.since(at) > undone) {
            self.before = Some((now, window));
        }
    }

    /// No earlier cut is undone.
    pub fn forget(&mut self) {
        self.before = None;
    }
}

fn times(span: Span, factor: f64) -> Span {
    Span((span.0 as f64 * factor) as u64)
}
